#include "sim/proximity.h"

#include "base/parallel.h"
#include "collide/surface_items.h"

// What counts as far, relative to l, and at least in contact distances.
#define REACH 0.05
#define REACH_CONTACT 4.0
// Within one body: gaps are looked for up to this many contact distances, where the distance is at
// most this fraction of that at rest.
#define SELF_REACH 4.0
#define SELF_SHARE (1.0 / 3.0)

// A depth-first search keeps one sibling per level: enough for any tree built by halving.
enum { STACK = 128, BLOCK = 256 };

struct NoliProximity {
  const NoliModel* model;
  double reach;
  int32_t n_item;
  int32_t* vertex; // (n_item x 3) by body
  NoliForest forest;
  NoliBox* box;   // (n_item) by place
  float* centre;  // (n_item x 3)
  int64_t* first; // (n_body + 1) of the neighbours of each body
  NOLI_ARRAY(int32_t) near;
};

// ---- creation ----

// Items of each body together: `first` (n_body + 1) receives where they begin.
static NoliStatus sort_items(NoliProximity* proximity, int32_t* first) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = proximity->model;
  const int32_t* body = model->problem.surface->body;
  int32_t *sorted = NULL, *place = NULL;
  NOLI_NEW(model->context, sorted, 3 * (int64_t)proximity->n_item + 1);
  NOLI_NEW_ZERO(model->context, place, model->n_body + 1);
  for (int64_t i = 0; i < proximity->n_item; i++) {
    place[body[proximity->vertex[3 * i]] + 1]++;
  }
  for (int32_t b = 0; b < model->n_body; b++) {
    place[b + 1] += place[b];
  }
  memcpy(first, place, ((size_t)model->n_body + 1) * sizeof *first);
  for (int64_t i = 0; i < proximity->n_item; i++) {
    const int32_t* item = &proximity->vertex[3 * i];
    memcpy(&sorted[3 * (int64_t)place[body[item[0]]]++], item, 3 * sizeof *item);
  }
  noli_free(model->context, proximity->vertex);
  proximity->vertex = sorted;
  sorted = NULL;
done:
  noli_free(model->context, sorted);
  noli_free(model->context, place);
  return status;
}

NoliStatus noli_proximity_create(const NoliModel* model, NoliProximity** out) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = model->context;
  const NoliProblem* problem = &model->problem;
  NoliProximity* proximity = NULL;
  int32_t* first = NULL;
  NOLI_NEW_ZERO(context, proximity, 1);
  proximity->model = model;
  proximity->reach = fmax(REACH * problem->diagonal, REACH_CONTACT * problem->dhat);
  NOLI_TRY(noli_surface_items(context, problem->surface, &proximity->vertex, &proximity->n_item));
  NOLI_NEW(context, first, model->n_body + 1);
  NOLI_TRY(sort_items(proximity, first));
  NOLI_TRY(noli_forest_create(context, model->n_body, first, &proximity->forest));
  NOLI_NEW(context, proximity->box, proximity->n_item);
  NOLI_NEW(context, proximity->centre, 3 * (int64_t)proximity->n_item);
  NOLI_NEW(context, proximity->first, model->n_body + 1);
done:
  noli_free(context, first);
  if (status != NOLI_OK) {
    noli_proximity_destroy(&proximity);
  }
  *out = proximity;
  return status;
}

void noli_proximity_destroy(NoliProximity** owner) {
  NoliProximity* proximity = *owner;
  if (proximity != NULL) {
    NoliContext* context = proximity->model->context;
    noli_forest_release(context, &proximity->forest);
    noli_free(context, proximity->vertex);
    noli_free(context, proximity->box);
    noli_free(context, proximity->centre);
    noli_free(context, proximity->first);
    noli_array_free(context, &proximity->near);
    noli_free(context, proximity);
  }
  *owner = NULL;
}

double noli_proximity_reach(const NoliProximity* proximity) {
  return proximity->reach;
}

// ---- a frame ----

static void update_boxes(NoliProximity* proximity, const double* x) {
  for (int64_t i = 0; i < proximity->n_item; i++) {
    NoliBox box = noli_surface_item_box(x, &proximity->vertex[3 * i]);
    for (int k = 0; k < 3; k++) {
      proximity->centre[3 * i + k] = 0.5f * box.lo[k] + 0.5f * box.hi[k];
    }
  }
  noli_forest_arrange(&proximity->forest, proximity->centre);
  for (int32_t p = 0; p < proximity->n_item; p++) {
    proximity->box[p] =
        noli_surface_item_box(x, &proximity->vertex[3 * (int64_t)proximity->forest.item[p]]);
  }
  noli_forest_refit(&proximity->forest, proximity->box);
}

// For each body the others that it may touch and whose boxes are within the reach.
static NoliStatus list_neighbours(NoliProximity* proximity) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = proximity->model;
  const NoliProblem* problem = &model->problem;
  const NoliForest* forest = &proximity->forest;
  proximity->near.count = 0;
  for (int32_t a = 0; a < model->n_body; a++) {
    proximity->first[a] = proximity->near.count;
    for (int32_t b = 0; b < model->n_body && forest->root[a] != NOLI_NULL_INDEX; b++) {
      if (b == a || forest->root[b] == NOLI_NULL_INDEX) {
        continue;
      }
      NoliBox box = forest->box[forest->root[a]];
      double reach = proximity->reach + noli_surface_offset(problem->surface, a, b);
      for (int k = 0; k < 3; k++) {
        box.lo[k] = noli_box_below((double)box.lo[k] - reach);
        box.hi[k] = noli_box_above((double)box.hi[k] + reach);
      }
      if (noli_boxes_meet(&box, &forest->box[forest->root[b]]) &&
          noli_body_pairs_get(&problem->body_pairs, a, b)) {
        NOLI_PUSH(model->context, &proximity->near, b);
      }
    }
  }
  proximity->first[model->n_body] = proximity->near.count;
done:
  return status;
}

// ---- a vertex ----

typedef struct Search {
  const NoliProximity* proximity;
  const double* x;
  int32_t vertex;
  NoliVec3 at;
  bool self;      // within the body of the vertex
  double offset;  // of both bodies
  double nearest; // m, less the offsets
} Search;

static bool is_far_at_rest(const Search* search, const int32_t item[3], const double weight[3],
                           double distance) {
  const double* X = search->proximity->model->problem.X;
  NoliVec3 rest = noli_load3(&X[3 * (int64_t)search->vertex]);
  for (int32_t i = 0; i < 3 && item[i] != NOLI_NULL_INDEX; i++) {
    rest = noli_mul_add3(rest, -weight[i], noli_load3(&X[3 * (int64_t)item[i]]));
  }
  return distance < SELF_SHARE * noli_norm3(rest); // false of its own triangles, 0 < 0
}

static void test_item(Search* search, const int32_t item[3]) {
  double weight[3];
  double distance = noli_surface_item_distance(search->at, search->x, item, weight);
  double gap = distance - search->offset;
  if (gap < search->nearest && (!search->self || is_far_at_rest(search, item, weight, distance))) {
    search->nearest = gap;
  }
}

static void search_body(Search* search, int32_t body) {
  const NoliForest* forest = &search->proximity->forest;
  int32_t stack[STACK], n = 0;
  if (forest->root[body] != NOLI_NULL_INDEX) {
    stack[n++] = forest->root[body];
  }
  while (n > 0) {
    int32_t node = stack[--n];
    double bound = noli_box_distance(&forest->box[node], search->at) - search->offset;
    if (!(bound < search->nearest)) {
      continue;
    }
    if (noli_forest_is_leaf(forest, node)) {
      for (int32_t p = forest->node[node].begin; p < forest->node[node].end; p++) {
        test_item(search, &search->proximity->vertex[3 * (int64_t)forest->item[p]]);
      }
      continue;
    }
    int32_t child = forest->node[node].child;
    bool second = noli_box_distance(&forest->box[child + 1], search->at) <
                  noli_box_distance(&forest->box[child], search->at);
    stack[n++] = second ? child : child + 1;
    stack[n++] = second ? child + 1 : child;
  }
}

static double distance_of(const NoliProximity* proximity, const double* x, int32_t vertex) {
  const NoliModel* model = proximity->model;
  const NoliProblem* problem = &model->problem;
  int32_t body = problem->surface->body[vertex];
  Search search = {.proximity = proximity,
                   .x = x,
                   .vertex = vertex,
                   .at = noli_load3(&x[3 * (int64_t)vertex]),
                   .nearest = proximity->reach};
  for (int32_t p = 0; p < problem->n_half_spaces; p++) {
    if (noli_body_pairs_get(&problem->body_pairs, body, model->n_body + p)) {
      double height = noli_half_space_distance(&problem->half_spaces[p], &x[3 * (int64_t)vertex]);
      search.nearest =
          fmin(search.nearest, height - noli_surface_offset_of(problem->surface, body));
    }
  }
  for (int64_t k = proximity->first[body]; k < proximity->first[body + 1]; k++) {
    search.offset = noli_surface_offset(problem->surface, body, proximity->near.data[k]);
    search_body(&search, proximity->near.data[k]);
  }
  double limit = SELF_REACH * problem->dhat, others = search.nearest;
  if (noli_body_pairs_get(&problem->body_pairs, body, body)) {
    search.self = true;
    search.offset = noli_surface_offset(problem->surface, body, body);
    search.nearest = fmin(others, limit);
    search_body(&search, body);
    search.nearest = search.nearest < fmin(others, limit) ? search.nearest : others;
  }
  return fmax(search.nearest, 0.0);
}

typedef struct Measure {
  const NoliProximity* proximity;
  const double* x;
  const int32_t* vertex;
  float* distance;
} Measure;

static void measure(void* user, int64_t begin, int64_t end, int32_t worker) {
  const Measure* work = user;
  (void)worker;
  for (int64_t i = begin; i < end; i++) {
    work->distance[i] = (float)distance_of(work->proximity, work->x, work->vertex[i]);
  }
}

NoliStatus noli_proximity_measure(NoliProximity* proximity, const double* x, const int32_t* vertex,
                                  int32_t n, float* distance) {
  NoliStatus status = NOLI_OK;
  Measure work = {proximity, x, vertex, distance};
  update_boxes(proximity, x);
  NOLI_TRY(list_neighbours(proximity));
  noli_parallel_for(noli_context_threads(proximity->model->context), n, BLOCK, measure, &work);
done:
  return status;
}
