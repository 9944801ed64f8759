#include "model/clearance.h"

#include "collide/nested.h"
#include "math/vec3.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

// The default relative to d, and relative to a smaller gap at rest.
#define DEFAULT_SHARE 1e-3
#define SHARE_OF_GAP 0.5
// Bodies placed at exactly the contact distance count as beyond it, despite rounding.
#define ROUNDING 1e-6

// ---- the smallest gap ----

bool noli_clearance_acts_at_rest(const NoliModel* model) {
  const NoliContactModel* contact = model->problem.contact.model;
  return contact->keeps_apart && contact != &noli_contact_gcp;
}

// Gaps below the rounding of coordinates count as zero.
static double clearance_rounding_of(const double* x, int64_t n) {
  double largest = 0.0;
  for (int64_t i = 0; i < n; i++) {
    largest = fmax(largest, fabs(x[i]));
  }
  return 8.0 * DBL_EPSILON * largest;
}

static double clearance_range_of(const NoliGap* gap) {
  return gap->range > 0.0 ? gap->range : 1.0;
}

// Keeps a pair of primitives if its gap, offsets deducted, over its range in `ranges` (NULL: 1) is
// smaller than the smallest one so far.
static void take_if_closer(const NoliSurface* surface, const double* x, NoliPrimitivePair pair,
                           bool is_edge, double touching, const NoliBodyPairs* ranges,
                           NoliGap* gap) {
  NoliGap found = {.n_vert = {is_edge ? 2 : 1, is_edge ? 2 : 3}, .edges = is_edge};
  const int32_t* b =
      is_edge ? &surface->edge[2 * (int64_t)pair.b] : &surface->tri[3 * (int64_t)pair.b];
  const int32_t* a = is_edge ? &surface->edge[2 * (int64_t)pair.a] : &pair.a;
  NoliVec3 at[4];
  for (int32_t i = 0; i < 4; i++) {
    int32_t side = i < found.n_vert[0] ? 0 : 1, k = side == 0 ? i : i - found.n_vert[0];
    found.vertex[side][k] = side == 0 ? a[k] : b[k];
    at[i] = noli_load3(&x[3 * (int64_t)found.vertex[side][k]]);
  }
  found.entity[0] = surface->body[a[0]];
  found.entity[1] = surface->body[b[0]];
  found.distance =
      sqrt(is_edge ? noli_distance_sqr_edge_edge(at) : noli_distance_sqr_point_triangle(at)) -
      noli_surface_offset(surface, found.entity[0], found.entity[1]);
  found.range = noli_body_pairs_range(ranges, found.entity[0], found.entity[1]);
  if (found.distance * clearance_range_of(gap) < gap->distance * found.range &&
      found.distance > touching) {
    *gap = found;
    gap->n_vert[0] = is_edge ? noli_surface_edge_size(a) : 1;
    gap->n_vert[1] = is_edge ? noli_surface_edge_size(b) : 3;
  }
}

// The closest pair of primitives without a common vertex that is closer than *gap, of those that
// are farther apart than `touching`; with `ranges`, both over their ranges.
static NoliStatus find_closest(const NoliModel* model, NoliBroadPhase* broad_phase, const double* x,
                               const NoliBodyPairs* pairs, double touching,
                               const NoliBodyPairs* ranges, NoliGap* gap) {
  NoliStatus status = NOLI_OK;
  const NoliSurface* surface = model->problem.surface;
  NoliCandidates candidates = {0};
  double largest = noli_body_pairs_largest_range(ranges);
  NOLI_TRY(noli_broad_phase_find(broad_phase, x, x, gap->distance * largest, pairs, &candidates));
  for (int64_t i = 0; i < candidates.point_triangle.count; i++) {
    take_if_closer(surface, x, candidates.point_triangle.data[i], false, touching, ranges, gap);
  }
  for (int64_t i = 0; i < candidates.edge_edge.count; i++) {
    take_if_closer(surface, x, candidates.edge_edge.data[i], true, touching, ranges, gap);
  }
done:
  noli_candidates_free(model->context, &candidates);
  return status;
}

// The same for vertices and half-spaces.
static void find_closest_to_planes(const NoliModel* model, const double* x,
                                   const NoliBodyPairs* ranges, NoliGap* gap) {
  const NoliProblem* problem = &model->problem;
  const NoliSurface* surface = problem->surface;
  for (int32_t i = 0; i < surface->n_point; i++) {
    int32_t v = surface->point[i], body = surface->body[v];
    for (int32_t p = 0; p < problem->contact.n_half_spaces; p++) {
      double d = noli_half_space_distance(&problem->contact.half_spaces[p], &x[3 * (int64_t)v]) -
                 noli_surface_offset_of(surface, body);
      double range = noli_body_pairs_range(ranges, body, model->n_body + p);
      if (d * clearance_range_of(gap) < gap->distance * range &&
          noli_body_pairs_get(&problem->contact.body_pairs, body, model->n_body + p)) {
        *gap = (NoliGap){.distance = d,
                         .entity = {body, model->n_body + p},
                         .n_vert = {1, 0},
                         .vertex = {{v}},
                         .range = range};
      }
    }
  }
}

NoliStatus noli_clearance_closest(const NoliModel* model, NoliBroadPhase* broad_phase,
                                  const double* x, NoliGap* gap) {
  gap->entity[0] = gap->entity[1] = NOLI_NULL_INDEX;
  NoliStatus status = find_closest(model, broad_phase, x, &model->problem.contact.body_pairs,
                                   -(double)INFINITY, NULL, gap);
  find_closest_to_planes(model, x, NULL, gap);
  return status;
}

// For bodies with self-contact.
static double shortest_edge(const NoliModel* model, const double* x) {
  const NoliSurface* surface = model->problem.surface;
  double shortest = INFINITY;
  for (int32_t e = 0; e < surface->n_edge; e++) {
    const int32_t* edge = &surface->edge[2 * (int64_t)e];
    int32_t body = surface->body[edge[0]];
    if (noli_body_pairs_get(&model->problem.contact.body_pairs, body, body)) {
      NoliVec3 a = noli_load3(&x[3 * (int64_t)edge[0]]), b = noli_load3(&x[3 * (int64_t)edge[1]]);
      double length = noli_norm3(noli_sub3(b, a));
      shortest = length > 0.0 ? fmin(shortest, length) : shortest; // points have no length
    }
  }
  return shortest;
}

// "vertex 3 and triangle 1 2 4", by the numbers within the bodies.
static void describe_places(const NoliModel* model, const NoliGap* gap, char text[128]) {
  static const char* const names[] = {"", "vertex", "edge", "triangle"};
  int length = 0;
  for (int32_t side = 0; side < 2 && gap->n_vert[side] > 0; side++) {
    length += snprintf(text + length, (size_t)(128 - length), "%s%s", side > 0 ? " and " : "",
                       names[gap->n_vert[side]]);
    for (int32_t k = 0; k < gap->n_vert[side]; k++) {
      length += snprintf(text + length, (size_t)(128 - length), " %d",
                         (int)noli_model_local(model, gap->vertex[side][k]));
    }
  }
}

static double rest_rounding(const NoliModel* model) {
  return clearance_rounding_of(model->problem.X, 3 * (int64_t)model->problem.n_vert);
}

// In a body whose elements are smaller than its offset, neighbours overlap: it is invalid.
static NoliStatus require_rest_offsets(const NoliModel* model) {
  NoliStatus status = NOLI_OK;
  const NoliSurface* surface = model->problem.surface;
  NoliBroadPhase* broad_phase = NULL;
  const NoliBodyPairs self = noli_body_pairs_within(&model->problem.contact.body_pairs);
  NoliGap gap = {.distance = rest_rounding(model), .entity = {NOLI_NULL_INDEX}};
  char places[128];
  if (surface->offset == NULL) {
    return NOLI_OK;
  }
  NOLI_TRY(noli_broad_phase_create(model->context, surface, &broad_phase));
  NOLI_TRY(find_closest(model, broad_phase, model->problem.X, &self, -INFINITY, NULL, &gap));
  if (gap.entity[0] != NOLI_NULL_INDEX && surface->offset[gap.entity[0]] > 0.0) {
    double offset = surface->offset[gap.entity[0]], d = gap.distance + 2.0 * offset;
    describe_places(model, &gap, places);
    NOLI_TRY(noli_fail(model->context, NOLI_ERROR_ARGUMENT,
                       "body \"%.80s\": at rest %s are %.3g m apart, less than twice its contact "
                       "offset, %.3g m: use larger elements, a contact_offset below %.3g m, or no "
                       "self-contact",
                       model->name[gap.entity[0]], places, d, offset, 0.5 * d));
  }
done:
  noli_broad_phase_destroy(&broad_phase);
  return status;
}

// No gap is larger than an edge, so the shortest edge suffices as range; fine meshes have too many
// pairs beyond it.
NoliStatus noli_clearance_rest_gap(const NoliModel* model, const NoliBodyPairs* pairs, double reach,
                                   NoliGap* smallest) {
  NoliStatus status = NOLI_OK;
  NoliBroadPhase* broad_phase = NULL;
  const NoliBodyPairs self = noli_body_pairs_within(pairs);
  const double* X = model->problem.X;
  double edge = shortest_edge(model, X), touching = rest_rounding(model);
  if (!isfinite(edge)) {
    goto done;
  }
  NOLI_TRY(noli_broad_phase_create(model->context, model->problem.surface, &broad_phase));
  NoliGap gap = {.distance = fmin(reach, (1.0 + ROUNDING) * edge), .entity = {NOLI_NULL_INDEX}};
  NOLI_TRY(find_closest(model, broad_phase, X, &self, touching, NULL, &gap));
  if (gap.entity[0] == NOLI_NULL_INDEX && gap.distance < reach) {
    gap.distance = reach;
    NOLI_TRY(find_closest(model, broad_phase, X, &self, touching, NULL, &gap));
  }
  if (gap.entity[0] != NOLI_NULL_INDEX) {
    *smallest = gap;
  }
done:
  noli_broad_phase_destroy(&broad_phase);
  return status;
}

NoliStatus noli_clearance_set_distance(NoliModel* model, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  NoliProblem* problem = &model->problem;
  bool given = def->contact_distance.value > 0.0;
  problem->contact.dhat =
      given ? noli_resolve(def->contact_distance, &problem->size) : DEFAULT_SHARE * problem->size.d;
  model->rest_gap = (NoliGap){.distance = INFINITY, .entity = {NOLI_NULL_INDEX, NOLI_NULL_INDEX}};
  model->follows_rest_gap = false;

  // the square of the distance must be representable
  NOLI_CHECK(model->context,
             problem->contact.dhat < 1e15 &&
                 (problem->contact.dhat > 1e-100 || problem->inertia.n_vert == 0),
             NOLI_ERROR_ARGUMENT, "the contact distance must be in (1e-100, 1e15) m, got %g m",
             problem->contact.dhat);
  if (!noli_clearance_acts_at_rest(model) || !def->contact) {
    goto done;
  }
  NOLI_TRY(require_rest_offsets(model));
  NOLI_TRY(noli_clearance_rest_gap(model, &problem->contact.body_pairs,
                                   (1.0 - ROUNDING) * problem->contact.dhat, &model->rest_gap));
  if (!given && model->rest_gap.distance < problem->contact.dhat) {
    problem->contact.dhat = SHARE_OF_GAP * model->rest_gap.distance;
    model->follows_rest_gap = true;
  }
done:
  return status;
}

// ---- messages to the user ----

static void report_rest_gap(const NoliModel* model) {
  const NoliGap* gap = &model->rest_gap;
  double dhat = model->problem.contact.dhat;
  char places[128];
  if (gap->entity[0] == NOLI_NULL_INDEX) {
    return;
  }
  const char* name = model->name[gap->entity[0]];
  describe_places(model, gap, places);
  if (model->follows_rest_gap) {
    noli_log(model->context, NOLI_LOG_INFO,
             "contact distance %.3g m: half the smallest gap between parts of one body at rest, of "
             "\"%.80s\" (%s); 1e-3 d would be %.3g m",
             dhat, name, places, DEFAULT_SHARE * model->problem.size.d);
  } else {
    noli_log(model->context, NOLI_LOG_WARNING,
             "\"%.80s\": the contact distance, %.3g m, is larger than a gap between parts of the "
             "body at rest, %.3g m (%s): contact makes it swell and puts it under stress; set "
             "contact.distance below %.3g m, or leave it out",
             name, dhat, gap->distance, places, gap->distance);
  }
}

static NoliStatus report_start_gap(const NoliModel* model) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = &model->problem;
  NoliBroadPhase* broad_phase = NULL;
  NoliBodyPairs pairs = noli_body_pairs_between(&problem->contact.body_pairs);
  uint8_t* self = NULL;
  NoliGap gap = {.distance = (1.0 - ROUNDING) * problem->contact.dhat, .entity = {NOLI_NULL_INDEX}};
  // skip gaps of the rest shape, which are already reported; report those of other start positions
  size_t bytes = 3 * (size_t)problem->n_vert * sizeof *problem->X;
  bool at_rest = memcmp(problem->X, model->x0, bytes) == 0;
  if (!at_rest) {
    NOLI_NEW(model->context, self, model->n_body);
    for (int32_t b = 0; b < model->n_body; b++) {
      self[b] = b != model->rest_gap.entity[0] && problem->contact.body_pairs.self[b] != 0;
    }
    pairs.self = self;
  }

  // measure and report the smallest gap
  double touching = clearance_rounding_of(model->x0, 3 * (int64_t)problem->n_vert);
  NOLI_TRY(noli_broad_phase_create(model->context, problem->surface, &broad_phase));
  NOLI_TRY(find_closest(model, broad_phase, model->x0, &pairs, touching,
                        &problem->contact.body_pairs, &gap));
  find_closest_to_planes(model, model->x0, &problem->contact.body_pairs, &gap);
  if (gap.entity[0] != NOLI_NULL_INDEX) {
    char places[128];
    describe_places(model, &gap, places);
    noli_log(model->context, NOLI_LOG_WARNING,
             "\"%.80s\" and \"%.80s\" start %.3g m apart%s (%s), closer than the contact distance, "
             "%.3g m: contact pushes them apart from the first step on; to avoid that, set "
             "%s below %.3g m or start further apart",
             model->name[gap.entity[0]], model->name[gap.entity[1]], gap.distance,
             problem->surface->offset != NULL ? ", contact offsets deducted" : "", places,
             problem->contact.dhat * clearance_range_of(&gap),
             clearance_range_of(&gap) != 1.0 ? "the distance of this pair" : "contact.distance",
             gap.distance);
  }
done:
  noli_broad_phase_destroy(&broad_phase);
  noli_free(model->context, self);
  return status;
}

// A body inside a closed obstacle may be in a room, or was placed there by mistake.
static NoliStatus report_rooms(const NoliModel* model) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = &model->problem;
  NoliNested* nested = NULL;
  const NoliNested* first = NULL;
  int64_t n = 0, n_inside = 0;
  NOLI_TRY(noli_audit_nested(model->context, problem->surface, model->x0,
                             &problem->contact.body_pairs, &nested, &n));
  for (int64_t i = 0; i < n; i++) {
    n_inside += model->obstacle[nested[i].container];
    first = n_inside == 1 && first == NULL ? &nested[i] : first;
  }

  if (first != NULL) {
    char more[64] = "";
    if (n_inside > 1) {
      snprintf(more, sizeof more, " (and %lld more such parts)", (long long)n_inside - 1);
    }
    noli_log(
        model->context, NOLI_LOG_INFO,
        "\"%.80s\" starts inside the obstacle \"%.80s\"%s: obstacles are surfaces, so it stays "
        "inside",
        model->name[problem->surface->body[first->vertex]], model->name[first->container], more);
  }
done:
  noli_free(model->context, nested);
  return status;
}

NoliStatus noli_clearance_report(const NoliModel* model) {
  NoliStatus status = NOLI_OK;
  if (model->problem.contact.model->keeps_apart) {
    NOLI_TRY(report_rooms(model));
  }
  if (noli_clearance_acts_at_rest(model)) {
    report_rest_gap(model);
    NOLI_TRY(report_start_gap(model));
  }
done:
  return status;
}
