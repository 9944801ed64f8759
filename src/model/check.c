// Validity of a configuration: the exact audit, and distances for surfaces that just touch.
#include "model/audit.h"

#include "collide/broad_phase.h"
#include "collide/impacts.h"
#include "contact/implicit_surface/implicit_surface_contact.h"
#include "define/definition.h"
#include "math/vec3.h"

#include <float.h>
#include <math.h>

// Gaps below the rounding of their coordinates count as contact: no step can distinguish the two.
static double rounding(const double* x, int64_t n) {
  double largest = 0.0;
  for (int64_t i = 0; i < n; i++) {
    largest = fabs(x[i]) > largest ? fabs(x[i]) : largest;
  }
  return 8.0 * DBL_EPSILON * largest;
}

// Whether a gap is sought: without a reach those that rounding may close, with one those above.
static bool is_sought(double gap, double touching, double reach) {
  return reach > 0.0 ? gap > touching && gap <= reach : gap <= touching;
}

// On or below a half-space up to rounding, or with a reach above it.
static NoliStatus add_near_planes(const NoliModel* model, const double* x, double reach,
                                  NoliDefects* defects) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = &model->problem;
  const NoliBodyPairs* pairs = &problem->contact.body_pairs;

  for (int32_t i = 0; i < problem->surface->n_point; i++) {
    int32_t vertex = problem->surface->point[i];
    int32_t body = problem->surface->body[vertex];
    for (int32_t p = 0; p < problem->contact.n_half_spaces; p++) {
      NoliVec3 at = noli_load3(&x[3 * (int64_t)vertex]);
      double d =
          noli_half_space_distance(&problem->contact.half_spaces[p], &x[3 * (int64_t)vertex]) -
          noli_surface_offset_of(problem->surface, body);
      double touching = rounding(&x[3 * (int64_t)vertex], 3) +
                        rounding((double[]){problem->contact.half_spaces[p].origin.x,
                                            problem->contact.half_spaces[p].origin.y,
                                            problem->contact.half_spaces[p].origin.z},
                                 3);
      int32_t plane = model->n_body + p;
      if (!is_sought(d, touching, reach * noli_body_pairs_range(pairs, body, plane)) ||
          !noli_body_pairs_get(pairs, body, plane)) {
        continue;
      }
      NoliDefect defect = {.kind = NOLI_DEFECT_HALF_SPACE, .distance = d};
      noli_defect_set(model, &defect, 0, &vertex, 1);
      defect.entity[1] = plane;
      noli_store3(defect.position, at);
      NOLI_PUSH(model->context, defects, defect);
    }
  }
done:
  return status;
}

// Pairs that touch up to rounding although the audit may find a gap, offsets included; or with a
// reach those that are apart.
static NoliStatus add_gaps(const NoliModel* model, const double* x, double reach,
                           NoliDefects* defects) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = model->context;
  const NoliSurface* surface = model->problem.surface;
  NoliBroadPhase* broad_phase = NULL;
  NoliCandidates candidates = {0};
  NOLI_TRY(noli_broad_phase_create(context, surface, &broad_phase));
  double touching = rounding(x, 3 * (int64_t)model->problem.n_vert);
  const NoliBodyPairs pairs = noli_problem_kept_apart(&model->problem);
  double farthest = fmax(touching, reach * noli_body_pairs_largest_range(&pairs));
  NOLI_TRY(noli_broad_phase_find(broad_phase, x, x, farthest, &pairs, &candidates));

  // measure the pairs that may touch
  for (int64_t i = 0; i < noli_candidates_count(&candidates); i++) {
    int32_t vertex[4];
    NoliVec3 at[4];
    bool is_edge = noli_candidates_vertices(&candidates, surface, i, vertex);
    for (int32_t k = 0; k < 4; k++) {
      at[k] = noli_load3(&x[3 * (int64_t)vertex[k]]);
    }
    double d_sqr = is_edge ? noli_distance_sqr_edge_edge(at) : noli_distance_sqr_point_triangle(at);
    int32_t one = surface->body[vertex[0]], other = surface->body[vertex[3]];
    double gap = sqrt(d_sqr) - noli_surface_offset(surface, one, other);
    if (!is_sought(gap, touching, reach * noli_body_pairs_range(&pairs, one, other))) {
      continue;
    }

    // report the pair
    NoliDefect defect = {.kind = NOLI_DEFECT_ZERO_GAP, .distance = gap};
    const int32_t* b = &vertex[is_edge ? 2 : 1];
    noli_defect_set(model, &defect, 0, vertex, is_edge ? noli_surface_edge_size(vertex) : 1);
    noli_defect_set(model, &defect, 1, b, is_edge ? noli_surface_edge_size(b) : 3);
    noli_store3(defect.position, is_edge ? noli_defect_place(at) : at[0]);
    NOLI_PUSH(context, defects, defect);
  }
done:
  noli_candidates_free(context, &candidates);
  noli_broad_phase_destroy(&broad_phase);
  return status;
}

// Vertices behind smooth surfaces.
static NoliStatus add_penetrations(const NoliModel* model, const double* x, NoliDefects* defects) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = model->context;
  const NoliProblem* problem = &model->problem;
  const NoliColliders colliders = noli_problem_colliders(problem);
  NoliImplicitSurfaceSearch* search = NULL;
  NoliImplicitSurfaceContactSet set = {0};
  NOLI_TRY(noli_implicit_surface_search_create(
      context, &colliders, problem->X, problem->contact.still, problem->sheets.is_sheet,
      problem->contact.surface_radius, problem->contact.dhat, &search));
  NOLI_TRY(noli_implicit_surface_contacts_build(&set, search, x, problem->contact.dhat, false,
                                                noli_context_threads(context)));

  for (int64_t c = 0; c < set.contact.count; c++) {
    const NoliImplicitSurfaceContact* contact = &set.contact.data[c];
    if (contact->d >= 0.0) {
      continue;
    }
    NoliDefect defect = {.kind = NOLI_DEFECT_PENETRATION, .distance = contact->d};
    noli_defect_set(model, &defect, 0, &contact->point, 1);
    defect.entity[1] = contact->entity[1];
    noli_store3(defect.position, noli_load3(&x[3 * (int64_t)contact->point]));
    NOLI_PUSH(context, defects, defect);
  }
done:
  noli_implicit_surface_contacts_free(context, &set);
  noli_implicit_surface_search_destroy(&search);
  return status;
}

NoliStatus noli_sim_find_defects(const NoliModel* model, const double* x, NoliDefects* defects) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_audit_add_inverted(model, x, defects));
  if (!noli_problem_keeps_apart(&model->problem)) {
    goto done;
  }
  if (model->problem.contact.model->keeps_apart) {
    NOLI_TRY(add_near_planes(model, x, 0.0, defects));
  }
  NOLI_TRY(noli_audit_add_crossings(model, x, defects));
  if (model->problem.contact.model->keeps_apart) {
    NOLI_TRY(noli_audit_add_nested(model, x, defects));
  }
  NOLI_TRY(add_gaps(model, x, 0.0, defects));
done:
  return status;
}

NoliStatus noli_sim_find_gaps(const NoliModel* model, const double* x, double reach,
                              NoliDefects* gaps) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(add_near_planes(model, x, reach, gaps));
  NOLI_TRY(add_gaps(model, x, reach, gaps));
done:
  return status;
}

NoliStatus noli_sim_require_valid(const NoliModel* model, const double* x) {
  int32_t body;
  return noli_sim_require_valid_start(model, x, &body);
}

NoliStatus noli_sim_require_valid_start(const NoliModel* model, const double* x, int32_t* body) {
  NoliDefects defects = {0};
  NoliStatus status = noli_sim_find_defects(model, x, &defects);
  *body = NOLI_NULL_INDEX;
  if (status == NOLI_OK && defects.count > 0) {
    char text[NOLI_DEFECT_TEXT];
    *body = defects.data[0].entity[0];
    bool inverted = defects.data[0].kind == NOLI_DEFECT_INVERTED;
    noli_defect_describe(model, &defects.data[0], text);
    status = noli_fail(model->context, inverted ? NOLI_INVERTED_ELEMENT : NOLI_ERROR_INTERSECTION,
                       "%lld defects; the first: %s", (long long)defects.count, text);
  }
  noli_array_free(model->context, &defects);
  return status;
}

NoliStatus noli_sim_check(NoliContext* context, const NoliSimDef* given, NoliDefect** out,
                          int64_t* n_defects) {
  NOLI_REQUIRE(context, context != NULL && given != NULL && out != NULL && n_defects != NULL);
  NoliStatus status = NOLI_OK;
  NoliModel* model = NULL;
  NoliSimDef* def = NULL;
  NoliDefects defects = {0};
  *out = NULL;
  *n_defects = 0;
  NOLI_TRY(noli_definition_take(context, given, &def));
  NOLI_TRY(noli_model_create(context, def, NULL, false, NULL, &model));
  NOLI_TRY(noli_sim_find_defects(model, model->x0, &defects));
  if (!model->problem.contact.model->keeps_apart) {
    NOLI_TRY(add_penetrations(model, model->x0, &defects));
  }
done:
  status = noli_ranks_agree(context, status);
  if (status == NOLI_OK) {
    *out = defects.data;
    *n_defects = defects.count;
  } else {
    noli_array_free(context, &defects);
  }

  noli_definition_free(context, &def);
  noli_model_destroy(&model);
  return status;
}

void noli_sim_check_free(NoliContext* context, NoliDefect** defects) {
  if (defects != NULL) {
    noli_free(context, *defects);
    *defects = NULL;
  }
}
