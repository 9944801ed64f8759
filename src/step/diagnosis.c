// The diagnosis of the last step: where Newton steps were cut, where contact stopped a prescribed
// motion, and where surfaces are closest.
#include "collide/closest.h"
#include "model/clearance.h"
#include "model/rank_cells.h"
#include "solve/prescribed.h"
#include "step/simulation.h"

#include <math.h>

// The closest pair is found again within the distance that contact reports, and its rounding.
#define ROUNDING 1e-6

static const char* const names[] = {
    [NOLI_DIAGNOSIS_CONTACT] = "contact",         [NOLI_DIAGNOSIS_INVERSION] = "inversion",
    [NOLI_DIAGNOSIS_LINE_SEARCH] = "line_search", [NOLI_DIAGNOSIS_MOTION] = "motion",
    [NOLI_DIAGNOSIS_CLOSEST] = "closest",
};

const char* noli_diagnosis_name(NoliDiagnosisKind kind) {
  return kind >= 0 && (size_t)kind < sizeof names / sizeof *names ? names[kind] : NULL;
}

// ---- places ----

static NoliDiagnosis without_place(NoliDiagnosisKind kind) {
  return (NoliDiagnosis){.kind = kind,
                         .entity = {NOLI_NULL_INDEX, NOLI_NULL_INDEX},
                         .distance = INFINITY,
                         .position = {NAN, NAN, NAN}};
}

static void set_primitive(const NoliSim* sim, NoliDiagnosis* found, int32_t side,
                          const int32_t* vertex, int32_t n) {
  const NoliModel* model = sim->model;
  found->entity[side] = model->problem.surface->body[vertex[0]];
  found->n_vert[side] = n;
  for (int32_t k = 0; k < n; k++) {
    found->vertex[side][k] = noli_model_local(model, vertex[k]);
  }
}

// A vertex and a half-space.
static void place_at_plane(const NoliSim* sim, int32_t vertex, int32_t plane,
                           NoliDiagnosis* found) {
  const NoliModel* model = sim->model;
  const NoliHalfSpace* half_space = &model->problem.contact.half_spaces[plane];
  const double* x = sim->state.x + 3 * (int64_t)vertex;
  double d = noli_half_space_distance(half_space, x);
  set_primitive(sim, found, 0, &vertex, 1);
  found->entity[1] = model->n_body + plane;
  found->distance = d - noli_surface_offset_of(model->problem.surface, found->entity[0]);
  noli_store3(found->position, noli_mul_add3(noli_load3(x), -0.5 * d, half_space->normal));
}

// A vertex and a triangle, or two edges (n[0] 2): in the middle between their closest points.
static void place_at_pair(const NoliSim* sim, const int32_t* a, const int32_t* b, bool edges,
                          NoliDiagnosis* found) {
  const NoliSurface* surface = sim->model->problem.surface;
  int32_t n = edges ? 2 : 1;
  NoliVec3 at[4], x[4], on_a = {0};
  for (int32_t i = 0; i < 4; i++) {
    at[i] = noli_load3(sim->state.x + 3 * (int64_t)(i < n ? a[i] : b[i - n]));
  }
  NoliFeature feature = edges ? noli_feature_edge_edge(at) : noli_feature_point_triangle(at);
  for (int32_t k = 0; k < noli_pair_size[feature.kind]; k++) {
    x[k] = at[feature.vertex[k]];
  }
  NoliClosest closest = noli_closest(feature.kind, x);
  for (int32_t k = 0; k < noli_pair_size[feature.kind]; k++) {
    if (feature.vertex[k] < n) {
      on_a = noli_mul_add3(on_a, closest.weight[k], x[k]);
    }
  }
  // r leads from b to a
  noli_store3(found->position, noli_mul_add3(on_a, -0.5, closest.r));
  set_primitive(sim, found, 0, a, edges ? noli_surface_edge_size(a) : 1);
  set_primitive(sim, found, 1, b, edges ? noli_surface_edge_size(b) : 3);
  found->distance =
      noli_norm3(closest.r) - noli_surface_offset(surface, found->entity[0], found->entity[1]);
}

static void place_at_element(const NoliSim* sim, NoliBlockingElement element,
                             NoliDiagnosis* found) {
  const NoliModel* model = sim->model;
  int32_t body = 0;
  int64_t tet = noli_model_element(model, element, &body);
  if (tet == NOLI_NULL_INDEX) {
    return;
  }
  NoliVec3 sum = {0};
  int32_t n = 0;
  const int32_t* corner = noli_model_corners(model, tet);
  found->entity[0] = body;
  if (corner == NULL) {
    return; // the first rank says where
  }
  for (; n < 4 && corner[n] != NOLI_NULL_INDEX; n++) {
    int32_t vertex = corner[n];
    found->vertex[0][n] = vertex - model->vert_first[body];
    sum = noli_add3(sum, noli_load3(sim->state.x + 3 * (int64_t)vertex));
  }
  found->n_vert[0] = n;
  noli_store3(found->position, noli_scale3(1.0 / n, sum));
}

static void place_at_bound(const NoliSim* sim, const NoliStepBound* bound, NoliDiagnosis* found) {
  const NoliSurface* surface = sim->model->problem.surface;
  if (bound->half_space != NOLI_NULL_INDEX) {
    place_at_plane(sim, bound->a, bound->half_space, found);
  } else if (bound->a != NOLI_NULL_INDEX && bound->edge_edge) {
    place_at_pair(sim, surface->edge + 2 * (int64_t)bound->a, surface->edge + 2 * (int64_t)bound->b,
                  true, found);
  } else if (bound->a != NOLI_NULL_INDEX) {
    place_at_pair(sim, &bound->a, surface->tri + 3 * (int64_t)bound->b, false, found);
  }
}

// ---- entries ----

static void add_limit(NoliSim* sim, NoliDiagnosisKind kind, NoliFilter filter) {
  const NoliStepLimit* limit = &sim->stage->record.limit[filter];
  if (limit->iterations == 0) {
    return;
  }
  NoliDiagnosis found = without_place(kind);
  found.iterations = limit->iterations;
  found.alpha = limit->alpha;
  if (filter == NOLI_FILTER_CCD) {
    place_at_bound(sim, &limit->pair, &found);
  } else if (filter == NOLI_FILTER_INVERSION) {
    place_at_element(sim, limit->element, &found);
  }
  sim->outcome.diagnosis[sim->outcome.n_diagnosis++] = found;
}

static void add_motion(NoliSim* sim) {
  const NoliPrescribed* prescribed = &sim->stage->prescribed;
  if (prescribed->done >= NOLI_MOTION_DONE) {
    return;
  }
  NoliDiagnosis found = without_place(NOLI_DIAGNOSIS_MOTION);
  found.alpha = noli_prescribed_share(prescribed);
  place_at_bound(sim, &prescribed->blocker, &found);
  if (found.entity[0] == NOLI_NULL_INDEX) {
    place_at_element(sim, prescribed->blocking, &found);
  }
  sim->outcome.diagnosis[sim->outcome.n_diagnosis++] = found;
}

static NoliStatus add_closest(NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = sim->model;
  double distance = sim->outcome.report.min_distance;
  if (!model->problem.contact.model->keeps_apart || !(distance > 0.0) || !isfinite(distance)) {
    return NOLI_OK;
  }
  NoliGap gap = {.distance = (1.0 + ROUNDING) * distance};
  // its trees are there, and what it finds does not depend on them
  NOLI_TRY(noli_clearance_closest(model, sim->stage->contact.broad_phase, sim->state.x, &gap));
  if (gap.entity[0] != NOLI_NULL_INDEX) {
    NoliDiagnosis* found = &sim->outcome.diagnosis[sim->outcome.n_diagnosis++];
    *found = without_place(NOLI_DIAGNOSIS_CLOSEST);
    if (gap.n_vert[1] == 0) {
      place_at_plane(sim, gap.vertex[0][0], gap.entity[1] - model->n_body, found);
    } else {
      place_at_pair(sim, gap.vertex[0], gap.vertex[1], gap.edges, found);
    }
  }
done:
  return status;
}

NoliStatus noli_sim_diagnosis(NoliSim* sim, const NoliDiagnosis** diagnosis, int32_t* n) {
  NOLI_REQUIRE_READABLE(sim, sim != NULL && diagnosis != NULL && n != NULL);
  NoliStatus status = NOLI_OK;
  sim->outcome.n_diagnosis = 0;
  if (sim->outcome.failed || noli_sim_last_report(sim) != NULL) {
    add_limit(sim, NOLI_DIAGNOSIS_CONTACT, NOLI_FILTER_CCD);
    add_limit(sim, NOLI_DIAGNOSIS_INVERSION, NOLI_FILTER_INVERSION);
    add_limit(sim, NOLI_DIAGNOSIS_LINE_SEARCH, NOLI_FILTER_LINE_SEARCH);
    add_motion(sim);
  }
  if (noli_sim_last_report(sim) != NULL) {
    NOLI_TRY(add_closest(sim));
  }
done:
  *diagnosis = sim->outcome.diagnosis;
  *n = sim->outcome.n_diagnosis;
  return status;
}
