// Rays and closest points over the surfaces of all bodies at the current state. noli/live.h
#include "step/simulation.h"

// A depth-first search keeps one sibling per level: enough for any tree built by halving.
enum { STACK = 128 };

// ---- tests of boxes and items -------------------------------------------------------------------

typedef struct Query {
  const NoliSim* sim;
  NoliVec3 origin;
  NoliVec3 direction; // unit; of rays
  double nearest;     // m: ignores objects farther away
  NoliSurfacePoint* best;
  // Lower bound of the distance to the content of a box; INFINITY: no hit.
  double (*bound)(const struct Query* query, const NoliBox* box);
  // Replaces `best` if the item (3 vertices) is nearer.
  void (*test)(struct Query* query, const int32_t vertex[3]);
} Query;

static double ray_bound(const Query* query, const NoliBox* box) {
  const double from[] = {query->origin.x, query->origin.y, query->origin.z};
  const double d[] = {query->direction.x, query->direction.y, query->direction.z};
  double enter = 0.0, leave = query->nearest;
  for (int k = 0; k < 3; k++) {
    if (d[k] == 0.0) {
      if (from[k] < (double)box->lo[k] || from[k] > (double)box->hi[k]) {
        return INFINITY;
      }
      continue;
    }
    double a = ((double)box->lo[k] - from[k]) / d[k], b = ((double)box->hi[k] - from[k]) / d[k];
    enter = fmax(enter, fmin(a, b));
    leave = fmin(leave, fmax(a, b));
  }
  return enter <= leave * (1.0 + 1e-12) ? enter : (double)INFINITY;
}

static double closest_bound(const Query* query, const NoliBox* box) {
  const double from[] = {query->origin.x, query->origin.y, query->origin.z};
  double sum = 0.0;
  for (int k = 0; k < 3; k++) {
    double outside = fmax((double)box->lo[k] - from[k], from[k] - (double)box->hi[k]);
    sum += outside > 0.0 ? outside * outside : 0.0;
  }
  return sqrt(sum);
}

static NoliVec3 vertex_at(const Query* query, int32_t vertex) {
  return noli_load3(&query->sim->state.x[3 * (int64_t)vertex]);
}

static NoliVec3 unit_or_zero(NoliVec3 v) {
  double length = noli_norm3(v);
  return length > 0.0 ? noli_scale3(1.0 / length, v) : (NoliVec3){0};
}

static NoliVec3 triangle_normal(const Query* query, const int32_t vertex[3]) {
  NoliVec3 a = vertex_at(query, vertex[0]);
  NoliVec3 e = noli_sub3(vertex_at(query, vertex[1]), a);
  NoliVec3 f = noli_sub3(vertex_at(query, vertex[2]), a);
  return unit_or_zero(noli_cross3(e, f));
}

static void queries_take(Query* query, const int32_t vertex[3], const double weight[3],
                         double distance) {
  NoliSurfacePoint* best = query->best;
  NoliVec3 position = {0};
  *best = (NoliSurfacePoint){.entity = query->sim->model->problem.surface->body[vertex[0]],
                             .vertex = {NOLI_NULL_INDEX, NOLI_NULL_INDEX, NOLI_NULL_INDEX},
                             .distance = distance};
  for (int i = 0; i < 3 && vertex[i] != NOLI_NULL_INDEX; i++) {
    best->vertex[i] = vertex[i];
    best->weight[i] = weight[i];
    best->n_vert++;
    position = noli_mul_add3(position, weight[i], vertex_at(query, vertex[i]));
  }
  noli_store3(best->position, position);
  if (best->n_vert == 3) {
    noli_store3(best->normal, triangle_normal(query, vertex));
  }
  query->nearest = distance;
}

// The three signed volumes of the ray and the edges agree in sign if it hits the triangle; a shared
// edge has the same volume, up to its sign, in both of its triangles, so that no ray passes between
// them.
static void test_ray(Query* query, const int32_t vertex[3]) {
  if (vertex[2] == NOLI_NULL_INDEX) {
    return;
  }
  NoliVec3 p[3];
  for (int i = 0; i < 3; i++) {
    p[i] = noli_sub3(vertex_at(query, vertex[i]), query->origin);
  }
  double volume[3], sum = 0.0;
  bool positive = false, negative = false;
  for (int i = 0; i < 3; i++) {
    int32_t a = (i + 1) % 3, b = (i + 2) % 3;
    // the same order of the two vertices for both triangles
    double sign = vertex[a] < vertex[b] ? 1.0 : -1.0;
    NoliVec3 low = sign > 0.0 ? p[a] : p[b], high = sign > 0.0 ? p[b] : p[a];
    volume[i] = sign * noli_dot3(query->direction, noli_cross3(low, high));
    positive = positive || volume[i] > 0.0;
    negative = negative || volume[i] < 0.0;
    sum += volume[i];
  }

  if ((positive && negative) || sum == 0.0) {
    return;
  }
  double weight[3], distance = 0.0;
  for (int i = 0; i < 3; i++) {
    weight[i] = volume[i] / sum;
    distance += weight[i] * noli_dot3(query->direction, p[i]);
  }
  if (distance >= 0.0 && distance < query->nearest) {
    queries_take(query, vertex, weight, distance);
  }
}

static void test_closest(Query* query, const int32_t vertex[3]) {
  double weight[3];
  double distance = noli_surface_item_distance(query->origin, query->sim->state.x, vertex, weight);
  if (distance < query->nearest) {
    queries_take(query, vertex, weight, distance);
  }
}

// Visits boxes that may be nearer than the best hit, the nearer child first.
static void search_tree(Query* query, const NoliSurfaceTree* tree) {
  const NoliForest* forest = &tree->forest;
  int32_t stack[STACK], n = 0;
  if (forest->root[0] != NOLI_NULL_INDEX) {
    stack[n++] = forest->root[0];
  }
  while (n > 0) {
    int32_t node = stack[--n];
    if (!(query->bound(query, &forest->box[node]) < query->nearest)) {
      continue;
    }
    if (noli_forest_is_leaf(forest, node)) {
      for (int32_t p = forest->node[node].begin; p < forest->node[node].end; p++) {
        query->test(query, &tree->vertex[3 * (int64_t)forest->item[p]]);
      }
      continue;
    }
    int32_t child = forest->node[node].child;
    bool second =
        query->bound(query, &forest->box[child + 1]) < query->bound(query, &forest->box[child]);
    stack[n++] = second ? child : child + 1;
    stack[n++] = second ? child + 1 : child;
  }
}

static void take_half_space(Query* query, int32_t index, double distance, NoliVec3 position) {
  const NoliModel* model = query->sim->model;
  *query->best = (NoliSurfacePoint){.entity = model->n_body + index,
                                    .vertex = {NOLI_NULL_INDEX, NOLI_NULL_INDEX, NOLI_NULL_INDEX},
                                    .distance = distance};
  noli_store3(query->best->position, position);
  noli_store3(query->best->normal, model->problem.contact.half_spaces[index].normal);
  query->nearest = distance;
}

// Half-spaces, which have no boxes.
static void search_half_spaces(Query* query, bool ray) {
  const NoliProblem* problem = &query->sim->model->problem;
  for (int32_t i = 0; i < problem->contact.n_half_spaces; i++) {
    const NoliHalfSpace* half_space = &problem->contact.half_spaces[i];
    double from[3];
    noli_store3(from, query->origin);
    double height = noli_half_space_distance(half_space, from);
    NoliVec3 way = ray ? query->direction : noli_scale3(-1.0, half_space->normal);
    double derivative = noli_dot3(way, half_space->normal);
    double along = derivative != 0.0 ? -height / derivative : (double)INFINITY;
    double distance = ray ? along : fabs(along);
    if (distance >= 0.0 && distance < query->nearest) {
      take_half_space(query, i, distance, noli_mul_add3(query->origin, along, way));
    }
  }
}

static NoliStatus queries_search(NoliSim* sim, Query* query, bool ray) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_surface_tree_update(sim->context, sim->model->problem.surface, sim->state.x,
                                    &sim->results.tree));
  *query->best = (NoliSurfacePoint){.entity = NOLI_NULL_INDEX, .distance = (double)INFINITY};
  search_tree(query, sim->results.tree);
  search_half_spaces(query, ray);
done:
  return status;
}

NoliStatus noli_sim_cast_ray(NoliSim* sim, const double origin[3], const double direction[3],
                             double length, NoliSurfacePoint* hit) {
  NOLI_REQUIRE_READABLE(sim, sim != NULL && origin != NULL && direction != NULL && hit != NULL);
  NoliStatus status = NOLI_OK;
  NoliVec3 from = noli_load3(origin), along = noli_load3(direction);
  double norm = noli_norm3(along);
  NOLI_CHECK(sim->context, noli_is_finite3(from) && isfinite(norm) && norm > 0.0 && length >= 0.0,
             NOLI_ERROR_ARGUMENT,
             "a ray needs a finite origin, a finite direction that is not zero, and a length >= 0");
  Query query = {.sim = sim,
                 .origin = from,
                 .direction = noli_scale3(1.0 / norm, along),
                 .nearest = length,
                 .best = hit,
                 .bound = ray_bound,
                 .test = test_ray};
  NOLI_TRY(queries_search(sim, &query, true));
done:
  return status;
}

NoliStatus noli_sim_closest_point(NoliSim* sim, const double position[3], double max_distance,
                                  NoliSurfacePoint* closest) {
  NOLI_REQUIRE_READABLE(sim, sim != NULL && position != NULL && closest != NULL);
  NoliStatus status = NOLI_OK;
  NoliVec3 from = noli_load3(position);
  NOLI_CHECK(sim->context, noli_is_finite3(from) && max_distance >= 0.0, NOLI_ERROR_ARGUMENT,
             "a closest point needs a finite position and a distance >= 0");
  Query query = {.sim = sim,
                 .origin = from,
                 .nearest = max_distance,
                 .best = closest,
                 .bound = closest_bound,
                 .test = test_closest};
  NOLI_TRY(queries_search(sim, &query, false));
done:
  return status;
}
