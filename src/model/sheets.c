#include "model/sheets.h"

#include "collide/exact.h"
#include "collide/nested.h"
#include "collide/rings.h"
#include "model/clearance.h"

// The gap at which the barrier between sheets begins, relative to the contact distance and to a
// smaller gap within a sheet at rest.
#define SHEET_GAP 0.25
#define SHARE_OF_REST_GAP 0.5

static bool is_shell(const NoliModel* model, const NoliSimDef* def, int32_t body) {
  return def->bodies[body].shell.thickness > 0.0 && !model->obstacle[body];
}

NoliStatus noli_sheets_require_outward(const NoliModel* model, const NoliSimDef* def,
                                       const bool* sheet) {
  NoliStatus status = NOLI_OK;
  const NoliSurface* surface = model->problem.surface;
  for (int32_t b = 0; b < model->n_body; b++) {
    if (!is_shell(model, def, b) || (sheet != NULL && sheet[b])) {
      continue;
    }
    int32_t first = surface->tri_first[b];
    int sign = noli_exact_enclosed_sign(model->x0, surface->tri + 3 * (int64_t)first,
                                        surface->tri_first[b + 1] - first, 3);
    NOLI_CHECK(model->context, sign > 0, NOLI_ERROR_ARGUMENT,
               "the triangles of the closed shell \"%s\" face inward: the contact model \"%s\" "
               "pushes other bodies to the side that they face; reverse them",
               model->name[b], model->problem.contact.model->name);
  }
done:
  return status;
}

static void find_bounds(const NoliModel* model, int32_t body, double low[3], double high[3]) {
  const NoliSurface* surface = model->problem.surface;
  for (int k = 0; k < 3; k++) {
    low[k] = (double)INFINITY;
    high[k] = -(double)INFINITY;
  }
  for (int32_t i = surface->point_first[body]; i < surface->point_first[body + 1]; i++) {
    const double* at = &model->x0[3 * (int64_t)surface->point[i]];
    for (int k = 0; k < 3; k++) {
      low[k] = fmin(low[k], at[k]);
      high[k] = fmax(high[k], at[k]);
    }
  }
}

// Whether the box of one body lies in that of another. A body that only penetrates another one may
// also have its first vertex inside.
static bool lies_in_box(const NoliModel* model, int32_t body, int32_t container) {
  double low[3], high[3], outer_low[3], outer_high[3];
  find_bounds(model, body, low, high);
  find_bounds(model, container, outer_low, outer_high);
  bool inside = true;
  for (int k = 0; k < 3; k++) {
    inside = inside && low[k] > outer_low[k] && high[k] < outer_high[k];
  }
  return inside;
}

// The contact model pushes out bodies behind a surface: no body can stay inside a balloon.
static NoliStatus refuse_contents(const NoliModel* model, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  NoliNested* nested = NULL;
  int64_t n = 0;
  NOLI_TRY(noli_audit_nested(model->context, model->problem.surface, model->x0,
                             &model->problem.contact.body_pairs, &nested, &n));
  for (int64_t i = 0; i < n; i++) {
    int32_t body = model->problem.surface->body[nested[i].vertex], container = nested[i].container;
    const double* at = &model->x0[3 * (int64_t)nested[i].vertex];
    bool stays = is_shell(model, def, container) && body != container;
    NOLI_CHECK(model->context, !stays || !lies_in_box(model, body, container), NOLI_ERROR_ARGUMENT,
               "\"%s\" starts inside the closed shell \"%s\", at vertex %d, (%g, %g, %g): the "
               "contact model \"implicit_surface\" pushes out bodies behind a surface; use \"ipc\"",
               model->name[body], model->name[container], noli_model_local(model, nested[i].vertex),
               at[0], at[1], at[2]);
  }
done:
  noli_free(model->context, nested);
  return status;
}

// Whether an open sheet meets itself or another one.
static bool sheets_meet(const NoliModel* model) {
  const NoliBodyPairs pairs = noli_problem_kept_apart(&model->problem);
  for (int32_t a = 0; a < model->n_body; a++) {
    for (int32_t b = a; model->sheet[a] && b < model->n_body; b++) {
      if (noli_body_pairs_get(&pairs, a, b)) {
        return true;
      }
    }
  }
  return false;
}

// Sheets carry no contact force at rest.
static NoliStatus find_gap(NoliModel* model) {
  NoliStatus status = NOLI_OK;
  NoliProblem* problem = &model->problem;
  const NoliBodyPairs pairs = noli_problem_kept_apart(problem);
  NoliGap rest = {.distance = (double)INFINITY};
  double gap = SHEET_GAP * problem->contact.dhat;
  NOLI_TRY(noli_clearance_rest_gap(model, &pairs, gap / SHARE_OF_REST_GAP, &rest));
  problem->sheets.gap_at_rest = SHARE_OF_REST_GAP * rest.distance < gap;
  problem->sheets.gap = fmin(gap, SHARE_OF_REST_GAP * rest.distance);
done:
  return status;
}

// Only sheets are kept apart, so that an audit has nothing to search without them.
static NoliStatus check_audit(const NoliModel* model) {
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(model->context, model->audit == NOLI_AUDIT_OFF || model->problem.sheets.gap > 0.0,
             NOLI_ERROR_ARGUMENT,
             "an audit searches for intersecting triangles, which the contact model "
             "\"implicit_surface\" allows, except between open sheets; the report of each step has "
             "the depth of vertices, or use \"ipc\"");
done:
  return status;
}

NoliStatus noli_sheets_find(NoliModel* model, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = model->context;
  NoliRings* rings = NULL;
  bool any = false;
  NOLI_NEW_ZERO(context, model->sheet, model->n_body);
  model->problem.sheets.is_sheet = model->sheet;
  for (int32_t b = 0; b < model->n_body; b++) {
    any = any || is_shell(model, def, b);
  }
  if (!any) {
    NOLI_TRY(check_audit(model));
    goto done;
  }

  // closed shells are solid to others
  NOLI_TRY(noli_rings_create(context, model->problem.surface, &rings));
  for (int32_t b = 0; b < model->n_body; b++) {
    model->sheet[b] = is_shell(model, def, b) && rings->flaw[b].kind != NOLI_FLAW_NONE;
  }
  NOLI_TRY(noli_sheets_require_outward(model, def, model->sheet));
  NOLI_TRY(refuse_contents(model, def));

  // open ones are kept apart
  NOLI_TRY(sheets_meet(model) ? find_gap(model) : NOLI_OK);
  NOLI_TRY(check_audit(model));
done:
  noli_rings_destroy(context, &rings);
  return status;
}
