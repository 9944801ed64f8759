#include "sim/sheets.h"

#include "collide/exact.h"
#include "collide/nested.h"
#include "collide/rings.h"

#include <string.h>

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
               model->name[b], model->problem.contact->name);
  }
done:
  return status;
}

// "(the edge of vertices 1 and 2, .., belongs to one triangle only: ..)".
static void describe_opening(const NoliModel* model, const NoliFlaw* flaw,
                             char text[NOLI_FLAW_TEXT]) {
  int32_t called[2];
  for (int k = 0; k < 2; k++) {
    called[k] = flaw->vertex[k] == NOLI_NULL_INDEX ? NOLI_NULL_INDEX
                                                   : noli_model_local(model, flaw->vertex[k]);
  }
  noli_flaw_describe(flaw, called, model->problem.X, text);
}

// Open sheets have no inside, so they cannot push each other out.
static NoliStatus refuse_meetings(const NoliModel* model, const NoliRings* rings) {
  NoliStatus status = NOLI_OK;
  const NoliBodyPairs* pairs = &model->problem.body_pairs;
  char where[NOLI_FLAW_TEXT];
  for (int32_t a = 0; a < model->n_body; a++) {
    if (!model->sheet[a]) {
      continue;
    }
    describe_opening(model, &rings->flaw[a], where);
    NOLI_CHECK(
        model->context, !noli_body_pairs_get(pairs, a, a), NOLI_ERROR_ARGUMENT,
        "the shell \"%s\" is an open sheet, without an inside (%s): with the contact model "
        "\"implicit_surface\" it can touch closed surfaces and half-spaces, not itself; give "
        "it \"self_contact\": false, or use \"ipc\"",
        model->name[a], where);
    for (int32_t b = a + 1; b < model->n_body; b++) {
      NOLI_CHECK(model->context, !model->sheet[b] || !noli_body_pairs_get(pairs, a, b),
                 NOLI_ERROR_ARGUMENT,
                 "the shells \"%s\" and \"%s\" are open sheets, without an inside (\"%s\": %s): "
                 "with the contact model \"implicit_surface\" they can touch closed surfaces and "
                 "half-spaces, not each other; switch the contact of this pair off, or use \"ipc\"",
                 model->name[a], model->name[b], model->name[a], where);
    }
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
                             &model->problem.body_pairs, &nested, &n));
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

NoliStatus noli_sheets_find(NoliModel* model, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = model->context;
  NoliRings* rings = NULL;
  bool any = false;
  NOLI_NEW_ZERO(context, model->sheet, model->n_body);
  model->problem.sheet = model->sheet;
  for (int32_t b = 0; b < model->n_body; b++) {
    any = any || is_shell(model, def, b);
  }
  if (!any) {
    goto done;
  }

  // closed shells are solid to others
  NOLI_TRY(noli_rings_create(context, model->problem.surface, &rings));
  for (int32_t b = 0; b < model->n_body; b++) {
    model->sheet[b] = is_shell(model, def, b) && rings->flaw[b].kind != NOLI_FLAW_NONE;
  }
  NOLI_TRY(noli_sheets_require_outward(model, def, model->sheet));
  NOLI_TRY(refuse_meetings(model, rings));
  NOLI_TRY(refuse_contents(model, def));
done:
  noli_rings_destroy(context, &rings);
  return status;
}
