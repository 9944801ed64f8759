#include "model/proximity.h"

#include "base/parallel.h"
#include "collide/surface_items.h"
#include "math/larger.h"
#include "model/patch.h"

// The distance that counts as far, relative to d, and at least in contact distances.
#define REACH 0.05
#define REACH_CONTACT 4.0
// Vertices at smaller gaps are drawn apart, relative to d.
#define APART 1e-3
// Within one body: gaps are looked for up to this many contact distances, where the distance is at
// most this fraction of that at rest.
#define SELF_REACH 4.0
#define SELF_SHARE (1.0 / 3.0)

// A depth-first search keeps one sibling per level: enough for any tree built by halving. Vertices
// that are near each other search their own body together, GROUP of them; trees are arranged again
// after PATIENCE measurements, since bodies move little from frame to frame.
enum { STACK = 128, BLOCK = 32, GROUP = 16, PATIENCE = 16, ITEMS = 1024 };

_Static_assert(NOLI_PATCH_SIZE == 3 * NOLI_LEAF_SIZE, "a leaf is a patch");

// Below this share of the squared size of a triangle, its squared area is lost in rounding.
#define SLIVER 1e-8
// Rounding errors of squared distances.
#define ROUNDING 1e-6

// Balls around items by place, in single precision: radii include the rounding of the centres.
// There are NOLI_LEAF_SIZE more than items, so that loops over a leaf have a fixed length.
typedef struct Balls {
  float* centre[3];
  float* radius;
} Balls;

struct NoliProximity {
  const NoliModel* model;
  double reach;
  int32_t n_item;
  int32_t* vertex; // (n_item x 3) by body
  NoliForest forest;
  int32_t patience;
  int32_t* corner; // (n_item x 3) vertices by place
  NoliBox* box;    // (n_item) by place
  Balls now;
  Balls rest;
  int32_t* leaf_at; // (n_item) by place: its node
  NoliPatch* patch; // (n_node) how the items of a node moved
  float* clearance; // (n_vert) distance from the other items of the own body at rest, m
  float* centre;    // (n_item x 3)
  int64_t* first;   // (n_body + 1) of the neighbours of each body
  NOLI_ARRAY(int32_t) near;
  int32_t* order; // (n_vert) vertices, those of items by place
  int32_t* group; // (n_group + 1) where groups begin in `order`
  int32_t* leaf;  // (n_vert) of an item of the vertex, or NOLI_NULL_INDEX
  int32_t n_group;
  int32_t* asked;   // (n_vert) where its distance is to be written, or NOLI_NULL_INDEX
  int32_t* nearest; // (n_vert) what was nearest before besides the own body (Search.item)
  int32_t* found;   // (n_vert) what is nearest (Search.item)
  float* push;      // (n_vert x 3) sum of directions
  int32_t* pushes;  // (n_vert) their number
  float* gap;       // (n_vert) least distance of what is pushed apart
};

static void measure_rest(NoliProximity* proximity);

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

static NoliStatus new_balls(NoliContext* context, int32_t n, Balls* balls) {
  NoliStatus status = NOLI_OK;
  for (int k = 0; k < 3; k++) {
    NOLI_NEW_ZERO(context, balls->centre[k], (int64_t)n + NOLI_LEAF_SIZE);
  }
  NOLI_NEW_ZERO(context, balls->radius, (int64_t)n + NOLI_LEAF_SIZE);
done:
  return status;
}

static void free_balls(NoliContext* context, Balls* balls) {
  for (int k = 0; k < 3; k++) {
    noli_free(context, balls->centre[k]);
  }
  noli_free(context, balls->radius);
}

static void list_leaves(NoliProximity* proximity) {
  const NoliForest* forest = &proximity->forest;
  for (int32_t node = 0; node < forest->n_node; node++) {
    bool is_leaf = noli_forest_is_leaf(forest, node);
    for (int32_t p = forest->node[node].begin; is_leaf && p < forest->node[node].end; p++) {
      proximity->leaf_at[p] = node;
    }
  }
}

NoliStatus noli_proximity_create(const NoliModel* model, NoliProximity** out) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = model->context;
  const NoliProblem* problem = &model->problem;
  NoliProximity* proximity = NULL;
  int32_t* first = NULL;

  NOLI_NEW_ZERO(context, proximity, 1);
  proximity->model = model;
  proximity->reach = fmax(REACH * problem->size.d, REACH_CONTACT * problem->contact.dhat);
  NOLI_TRY(noli_surface_items(context, problem->surface, &proximity->vertex, &proximity->n_item));
  NOLI_NEW(context, first, model->n_body + 1);
  NOLI_TRY(sort_items(proximity, first));
  NOLI_TRY(noli_forest_create(context, model->n_body, first, &proximity->forest));
  NOLI_NEW(context, proximity->corner, 3 * (int64_t)proximity->n_item);
  NOLI_NEW(context, proximity->box, proximity->n_item);
  NOLI_TRY(new_balls(context, proximity->n_item, &proximity->now));
  NOLI_TRY(new_balls(context, proximity->n_item, &proximity->rest));
  NOLI_NEW(context, proximity->centre, 3 * (int64_t)proximity->n_item);
  NOLI_NEW(context, proximity->first, model->n_body + 1);
  NOLI_NEW(context, proximity->leaf_at, proximity->n_item);
  NOLI_NEW(context, proximity->patch, proximity->forest.n_node);
  NOLI_NEW(context, proximity->clearance, problem->n_vert);
  NOLI_NEW(context, proximity->leaf, problem->n_vert);
  NOLI_NEW(context, proximity->order, problem->n_vert);
  NOLI_NEW(context, proximity->group, (int64_t)problem->n_vert + 1);
  NOLI_NEW(context, proximity->asked, problem->n_vert);
  NOLI_NEW(context, proximity->nearest, problem->n_vert);
  NOLI_NEW(context, proximity->found, problem->n_vert);
  NOLI_NEW(context, proximity->push, 3 * (int64_t)problem->n_vert);
  NOLI_NEW(context, proximity->pushes, problem->n_vert);
  NOLI_NEW(context, proximity->gap, problem->n_vert);
  for (int64_t i = 0; i < problem->n_vert; i++) {
    proximity->nearest[i] = NOLI_NULL_INDEX;
  }
  list_leaves(proximity);
  measure_rest(proximity);
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
    noli_free(context, proximity->corner);
    noli_free(context, proximity->box);
    free_balls(context, &proximity->now);
    free_balls(context, &proximity->rest);
    noli_free(context, proximity->centre);
    noli_free(context, proximity->first);
    noli_free(context, proximity->leaf_at);
    noli_free(context, proximity->patch);
    noli_free(context, proximity->clearance);
    noli_free(context, proximity->leaf);
    noli_free(context, proximity->order);
    noli_free(context, proximity->group);
    noli_free(context, proximity->asked);
    noli_free(context, proximity->nearest);
    noli_free(context, proximity->found);
    noli_free(context, proximity->push);
    noli_free(context, proximity->pushes);
    noli_free(context, proximity->gap);
    noli_array_free(context, &proximity->near);
    noli_free(context, proximity);
  }
  *owner = NULL;
}

double noli_proximity_reach(const NoliProximity* proximity) {
  return proximity->reach;
}

// ---- a frame ----

static const int32_t* item_at(const NoliProximity* proximity, int32_t place) {
  return &proximity->corner[3 * (int64_t)place];
}

static int32_t item_size(const int32_t item[3]) {
  return item[2] != NOLI_NULL_INDEX ? 3 : item[1] != NOLI_NULL_INDEX ? 2 : 1;
}

static void set_ball(Balls* balls, int32_t place, const double* x, const int32_t item[3]) {
  int32_t n = item_size(item);
  double most = 0.0, size = 0.0;
  NoliVec3 centre = {0.0, 0.0, 0.0};
  for (int32_t i = 0; i < n; i++) {
    centre = noli_mul_add3(centre, 1.0 / n, noli_load3(&x[3 * (int64_t)item[i]]));
  }
  for (int32_t i = 0; i < n; i++) {
    NoliVec3 r = noli_sub3(noli_load3(&x[3 * (int64_t)item[i]]), centre);
    most = noli_larger(most, noli_dot3(r, r));
  }
  const double at[3] = {centre.x, centre.y, centre.z};
  for (int k = 0; k < 3; k++) {
    balls->centre[k][place] = (float)at[k];
    size += fabs(at[k]);
  }
  balls->radius[place] = noli_box_above(sqrt(most) + ROUNDING * size);
}

// Lists all vertices, those of items as their places follow each other, and divides the list into
// groups of one body each. Vertices of no item are alone.
static void list_groups(NoliProximity* proximity) {
  int32_t n_vert = (int32_t)proximity->model->problem.n_vert, n = 0, n_of_items;
  const int32_t* body = proximity->model->problem.surface->body;
  int32_t* leaf = proximity->leaf;
  for (int32_t i = 0; i < n_vert; i++) {
    leaf[i] = NOLI_NULL_INDEX;
  }
  for (int32_t p = 0; p < proximity->n_item; p++) {
    const int32_t* item = item_at(proximity, p);
    for (int32_t i = 0; i < item_size(item); i++) {
      if (leaf[item[i]] == NOLI_NULL_INDEX) {
        leaf[item[i]] = proximity->leaf_at[p];
        proximity->order[n++] = item[i];
      }
    }
  }

  n_of_items = n;
  for (int32_t i = 0; i < n_vert; i++) {
    if (leaf[i] == NOLI_NULL_INDEX) {
      proximity->order[n++] = i;
    }
  }

  proximity->n_group = 0;
  for (int32_t i = 0, begin = 0; i < n; i++) {
    if (i == 0 || i >= n_of_items || i - begin == GROUP ||
        body[proximity->order[i]] != body[proximity->order[begin]]) {
      proximity->group[proximity->n_group++] = begin = i;
    }
  }
  proximity->group[proximity->n_group] = n;
}

// Arranges trees and groups by where items are.
static void proximity_arrange(NoliProximity* proximity, const double* x) {
  for (int32_t p = 0; p < proximity->n_item; p++) {
    int64_t i = proximity->forest.item[p];
    NoliBox box = noli_surface_item_box(x, &proximity->vertex[3 * i]);
    for (int k = 0; k < 3; k++) {
      proximity->centre[3 * i + k] = 0.5f * box.lo[k] + 0.5f * box.hi[k];
    }
  }
  noli_forest_arrange(&proximity->forest, proximity->centre);
  for (int32_t p = 0; p < proximity->n_item; p++) {
    const int32_t* item = &proximity->vertex[3 * (int64_t)proximity->forest.item[p]];
    memcpy(&proximity->corner[3 * (int64_t)p], item, 3 * sizeof *item);
    set_ball(&proximity->rest, p, proximity->model->problem.X, item_at(proximity, p));
  }
  list_groups(proximity);
}

// The items of a leaf, one after the other in memory, and how they moved together.
static void update_leaf(NoliProximity* proximity, const double* x, int32_t node) {
  const NoliNode* leaf = &proximity->forest.node[node];
  int32_t vertex[NOLI_PATCH_SIZE], n = 0;
  for (int32_t p = leaf->begin; p < leaf->end; p++) {
    const int32_t* item = item_at(proximity, p);
    proximity->box[p] = noli_surface_item_box(x, item);
    set_ball(&proximity->now, p, x, item);
    for (int32_t i = 0; i < 3; i++) {
      vertex[n++] = item[item[i] != NOLI_NULL_INDEX ? i : 0];
    }
  }
  proximity->patch[node] = noli_patch_between(proximity->model->problem.X, x, vertex, n);
}

typedef struct Update {
  NoliProximity* proximity;
  const double* x;
} Update;

static void update_leaves(void* user, int64_t begin, int64_t end, int32_t worker) {
  const Update* work = user;
  (void)worker;
  for (int32_t node = (int32_t)begin; node < (int32_t)end; node++) {
    if (noli_forest_is_leaf(&work->proximity->forest, node)) {
      update_leaf(work->proximity, work->x, node);
    }
  }
}

// Patches of nodes above leaves; children follow their parents.
static void join_patches(NoliProximity* proximity) {
  const NoliForest* forest = &proximity->forest;
  for (int32_t node = forest->n_node - 1; node >= 0; node--) {
    int32_t child = forest->node[node].child;
    if (child != NOLI_NULL_INDEX) {
      proximity->patch[node] =
          noli_patch_union(&proximity->patch[child], &proximity->patch[child + 1]);
    }
  }
}

static void update_items(NoliProximity* proximity, const double* x) {
  Update work = {proximity, x};
  int32_t n_threads = noli_context_threads(proximity->model->context);
  if (proximity->patience == 0) {
    proximity_arrange(proximity, x);
    proximity->patience = PATIENCE;
  }
  proximity->patience--;
  noli_parallel_for(n_threads, proximity->forest.n_node, ITEMS, update_leaves, &work);
  join_patches(proximity);
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
          noli_body_pairs_get(&problem->contact.body_pairs, a, b)) {
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
  NoliVec3 rest;
  bool self;      // within the body of the vertex
  double offset;  // of both bodies
  double nearest; // m, less the offsets
  int32_t item;   // that is nearest; half-space p: -2 - p; NOLI_NULL_INDEX: nothing
  float rounding; // m, of positions in single precision
} Search;

static bool is_far_at_rest(const Search* search, const int32_t item[3], const double weight[3],
                           double distance) {
  const double* X = search->proximity->model->problem.X;
  NoliVec3 rest = search->rest;
  for (int32_t i = 0; i < item_size(item); i++) {
    rest = noli_mul_add3(rest, -weight[i], noli_load3(&X[3 * (int64_t)item[i]]));
  }
  return distance < SELF_SHARE * noli_norm3(rest); // false of its own triangles, 0 < 0
}

// The largest square of a distance between a vertex and those of an item, at rest.
static double farthest_at_rest_sqr(const Search* search, const int32_t item[3]) {
  const double* X = search->proximity->model->problem.X;
  double most = 0.0;
  for (int32_t i = 0; i < item_size(item); i++) {
    NoliVec3 r = noli_sub3(search->rest, noli_load3(&X[3 * (int64_t)item[i]]));
    double size = noli_dot3(r, r);
    most = size > most ? size : most;
  }
  return most;
}

// p from the segment that begins at the origin.
static double segment_sqr(NoliVec3 p, NoliVec3 edge, double share) {
  NoliVec3 r = noli_mul_add3(p, -share, edge);
  return noli_dot3(r, r);
}

// The squared distance of a point from a triangle by regions ([Ericson2005] 5.1.5), faster than
// noli_surface_item_distance and good to ROUNDING; negative where that is not certain.
static double plain_distance_sqr(NoliVec3 p, const double* x, const int32_t item[3]) {
  if (item[2] == NOLI_NULL_INDEX) {
    return -1.0;
  }
  NoliVec3 a = noli_load3(&x[3 * (int64_t)item[0]]);
  NoliVec3 ab = noli_sub3(noli_load3(&x[3 * (int64_t)item[1]]), a);
  NoliVec3 ac = noli_sub3(noli_load3(&x[3 * (int64_t)item[2]]), a);
  NoliVec3 ap = noli_sub3(p, a), bp = noli_sub3(ap, ab), cp = noli_sub3(ap, ac);
  NoliVec3 normal = noli_cross3(ab, ac);
  double area = noli_dot3(normal, normal);
  if (!(area > SLIVER * noli_dot3(ab, ab) * noli_dot3(ac, ac))) {
    return -1.0;
  }
  double d1 = noli_dot3(ab, ap), d2 = noli_dot3(ac, ap), d3 = noli_dot3(ab, bp);
  double d4 = noli_dot3(ac, bp), d5 = noli_dot3(ab, cp), d6 = noli_dot3(ac, cp);
  if (d1 <= 0.0 && d2 <= 0.0) {
    return noli_dot3(ap, ap);
  }
  if (d3 >= 0.0 && d4 <= d3) {
    return noli_dot3(bp, bp);
  }
  if (d6 >= 0.0 && d5 <= d6) {
    return noli_dot3(cp, cp);
  }
  if (d1 * d4 - d3 * d2 <= 0.0 && d1 >= 0.0 && d3 <= 0.0) {
    return segment_sqr(ap, ab, d1 / (d1 - d3));
  }
  if (d5 * d2 - d1 * d6 <= 0.0 && d2 >= 0.0 && d6 <= 0.0) {
    return segment_sqr(ap, ac, d2 / (d2 - d6));
  }
  if (d3 * d6 - d5 * d4 <= 0.0 && d4 >= d3 && d5 >= d6) {
    return segment_sqr(bp, noli_sub3(ac, ab), (d4 - d3) / ((d4 - d3) + (d5 - d6)));
  }
  double height = noli_dot3(normal, ap);
  return height * height / area;
}

// Whether the item is too far to count, or its own, which most are, without its exact distance.
static bool is_out(const Search* search, const int32_t item[3]) {
  if (item[0] == search->vertex || item[1] == search->vertex || item[2] == search->vertex) {
    return true;
  }
  double plain = plain_distance_sqr(search->at, search->x, item) * (1.0 - ROUNDING);
  double limit = search->nearest + search->offset;
  return plain >= 0.0 &&
         (plain >= limit * limit ||
          (search->self && plain >= SELF_SHARE * SELF_SHARE * farthest_at_rest_sqr(search, item)));
}

static void test_item(Search* search, int32_t number, const int32_t item[3]) {
  double weight[3];
  if (is_out(search, item)) {
    return;
  }
  double distance = noli_surface_item_distance(search->at, search->x, item, weight);
  double gap = distance - search->offset;
  if (gap < search->nearest && (!search->self || is_far_at_rest(search, item, weight, distance))) {
    search->nearest = gap;
    search->item = number;
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
        test_item(search, forest->item[p], item_at(search->proximity, p));
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

// Half-spaces and other bodies, what was nearest before first: it bounds the search.
static void search_others(Search* search) {
  NoliProximity const* proximity = search->proximity;
  const NoliModel* model = proximity->model;
  const NoliProblem* problem = &model->problem;
  int32_t body = problem->surface->body[search->vertex];
  for (int32_t p = 0; p < problem->contact.n_half_spaces; p++) {
    if (noli_body_pairs_get(&problem->contact.body_pairs, body, model->n_body + p)) {
      double height = noli_dot3(problem->contact.half_spaces[p].normal,
                                noli_sub3(search->at, problem->contact.half_spaces[p].origin));
      double gap = height - noli_surface_offset_of(problem->surface, body);
      search->item = gap < search->nearest ? -2 - p : search->item;
      search->nearest = fmin(search->nearest, gap);
    }
  }

  int32_t before = proximity->nearest[search->vertex];
  if (before >= 0) {
    int32_t other = problem->surface->body[proximity->vertex[3 * (int64_t)before]];
    search->offset = noli_surface_offset(problem->surface, body, other);
    test_item(search, before, &proximity->vertex[3 * (int64_t)before]);
  }

  for (int64_t k = proximity->first[body]; k < proximity->first[body + 1]; k++) {
    search->offset = noli_surface_offset(problem->surface, body, proximity->near.data[k]);
    search_body(search, proximity->near.data[k]);
  }
  proximity->nearest[search->vertex] = search->item;
}

// ---- vertices of one body that are near each other ----

// Items of a leaf of their own body. Distances d now and D at rest of the vertex from the centre of
// an item with radii r and R bound what can count: d - r < (D + R) / 3, and no two squares a^2 +
// b^2 are less than half of (a + b)^2.
static void search_leaf(Search* search, int32_t begin, int32_t end) {
  const Balls *now = &search->proximity->now, *rest = &search->proximity->rest;
  const float share = (float)SELF_SHARE, wide = 1.0f + (float)ROUNDING;
  float x = (float)search->at.x, y = (float)search->at.y, z = (float)search->at.z;
  float X = (float)search->rest.x, Y = (float)search->rest.y, Z = (float)search->rest.z;
  float nearest = (float)(search->nearest + search->offset) + search->rounding;
  int32_t may_count[NOLI_LEAF_SIZE];
  for (int32_t k = 0; k < NOLI_LEAF_SIZE; k++) {
    int32_t p = begin + k;
    float a = now->centre[0][p] - x, b = now->centre[1][p] - y, c = now->centre[2][p] - z;
    float A = rest->centre[0][p] - X, B = rest->centre[1][p] - Y, C = rest->centre[2][p] - Z;
    float radius = now->radius[p] + search->rounding;
    float size = share * (rest->radius[p] + search->rounding) + radius, limit = nearest + radius;
    float apart = a * a + b * b + c * c, before = share * share * (A * A + B * B + C * C);
    may_count[k] = (apart < wide * limit * limit) & (apart < 2.0f * wide * (before + size * size));
  }
  for (int32_t k = 0; k < end - begin; k++) {
    if (may_count[k]) {
      int32_t p = begin + k;
      test_item(search, search->proximity->forest.item[p], item_at(search->proximity, p));
    }
  }
}

// Vertices of a group in single precision, and how far each of them looks.
typedef struct Points {
  float x[3][GROUP];
  float reach_sqr[GROUP];
} Points;

static float reach_sqr(const Search* search) {
  float reach = (float)(search->nearest + search->offset) + search->rounding;
  return reach * reach * (1.0f + (float)ROUNDING);
}

// Without a vertex: it looks nowhere.
static void set_points(const Search* search, int32_t n, Points* points, NoliBox* box) {
  *points = (Points){0};
  *box = noli_box_empty();
  for (int32_t i = 0; i < n; i++) {
    const double at[3] = {search[i].at.x, search[i].at.y, search[i].at.z};
    for (int k = 0; k < 3; k++) {
      float value = points->x[k][i] = (float)at[k];
      box->lo[k] = value < box->lo[k] ? value : box->lo[k];
      box->hi[k] = value > box->hi[k] ? value : box->hi[k];
    }
    points->reach_sqr[i] = reach_sqr(&search[i]);
  }
}

// How far a number is outside of an interval.
static float outside(float low, float high, float value) {
  float below = low - value, above = value - high, out = below > above ? below : above;
  return out > 0.0f ? out : 0.0f;
}

static void find_near_box(const NoliBox* box, const Points* points, int32_t near[GROUP]) {
  for (int32_t i = 0; i < GROUP; i++) {
    float a = outside(box->lo[0], box->hi[0], points->x[0][i]);
    float b = outside(box->lo[1], box->hi[1], points->x[1][i]);
    float c = outside(box->lo[2], box->hi[2], points->x[2][i]);
    near[i] = a * a + b * b + c * c < points->reach_sqr[i];
  }
}

static bool is_near_box(const NoliBox* a, const NoliBox* b, float limit_sqr) {
  float sum = 0.0f;
  for (int k = 0; k < 3; k++) {
    float below = b->lo[k] - a->hi[k], above = a->lo[k] - b->hi[k];
    float out = below > above ? below : above;
    sum += out > 0.0f ? out * out : 0.0f;
  }
  return sum < limit_sqr;
}

// How far items may be from where the patch of the group has them without coming near one of its
// vertices: a distance of at least D at rest is still at least its least stretch times D, less the
// errors of both ends. Negative: nothing is known.
static double error_limit(const NoliProximity* proximity, const Search* search, int32_t n,
                          const NoliPatch* home) {
  double share = noli_patch_least_stretch(home) - SELF_SHARE * (1.0 + ROUNDING);
  double clearance = proximity->reach, error = 0.0;
  for (int32_t i = 0; i < n; i++) {
    clearance = noli_smaller(clearance, (double)proximity->clearance[search[i].vertex]);
    error = noli_larger(error, noli_patch_vertex_error(home, proximity->model->problem.X, search->x,
                                                       search[i].vertex));
  }
  return share * clearance - error;
}

// Gaps of the vertices from their own body.
static void search_self(const NoliProximity* proximity, Search* search, int32_t n, int32_t body) {
  const NoliForest* forest = &proximity->forest;
  Points points;
  NoliBox box;
  int32_t stack[STACK], n_stack = 0, near[GROUP];
  float most = 0.0f;
  int32_t leaf = proximity->leaf[search->vertex];
  const NoliPatch* home = leaf != NOLI_NULL_INDEX ? &proximity->patch[leaf] : NULL;
  double limit = home != NULL ? error_limit(proximity, search, n, home) : -1.0;
  set_points(search, n, &points, &box);
  for (int32_t i = 0; i < n; i++) {
    most = points.reach_sqr[i] > most ? points.reach_sqr[i] : most;
  }
  if (forest->root[body] != NOLI_NULL_INDEX) {
    stack[n_stack++] = forest->root[body];
  }

  while (n_stack > 0) {
    int32_t node = stack[--n_stack];
    const NoliPatch* patch = &proximity->patch[node];
    if (!is_near_box(&box, &forest->box[node], most) ||
        (patch->error <= limit && noli_patch_error_of(home, patch) <= limit)) {
      continue;
    }
    if (!noli_forest_is_leaf(forest, node)) {
      stack[n_stack++] = forest->node[node].child;
      stack[n_stack++] = forest->node[node].child + 1;
      continue;
    }
    find_near_box(&forest->box[node], &points, near);
    for (int32_t i = 0; i < n; i++) {
      if (near[i]) {
        search_leaf(&search[i], forest->node[node].begin, forest->node[node].end);
        points.reach_sqr[i] = reach_sqr(&search[i]);
      }
    }
  }
}

typedef struct Measure {
  const NoliProximity* proximity;
  const double* x;
  float* distance;
} Measure;

static void measure_group(const Measure* work, const int32_t* vertex, int32_t n) {
  const NoliProximity* proximity = work->proximity;
  const NoliProblem* problem = &proximity->model->problem;
  Search search[GROUP];
  double others[GROUP];
  int32_t body = problem->surface->body[vertex[0]];
  double offset = noli_surface_offset(problem->surface, body, body);
  for (int32_t i = 0; i < n; i++) {
    int64_t at = 3 * (int64_t)vertex[i];
    search[i] = (Search){.proximity = proximity,
                         .x = work->x,
                         .vertex = vertex[i],
                         .at = noli_load3(&work->x[at]),
                         .rest = noli_load3(&problem->X[at]),
                         .nearest = proximity->reach,
                         .item = NOLI_NULL_INDEX};
    double size = noli_norm3(search[i].at) + noli_norm3(search[i].rest);
    search[i].rounding = (float)(ROUNDING * size);
    search_others(&search[i]);

    // then within the body, nearer than that
    others[i] = search[i].nearest;
    search[i].self = true;
    search[i].offset = offset;
    search[i].nearest = fmin(others[i], SELF_REACH * problem->contact.dhat);
    search[i].item = NOLI_NULL_INDEX;
  }
  if (noli_body_pairs_get(&problem->contact.body_pairs, body, body)) {
    search_self(proximity, search, n, body);
  }
  for (int32_t i = 0; i < n; i++) {
    bool self = search[i].item != NOLI_NULL_INDEX;
    double nearest = self ? search[i].nearest : others[i];
    proximity->found[vertex[i]] = self ? search[i].item : proximity->nearest[vertex[i]];
    work->distance[proximity->asked[vertex[i]]] = (float)fmax(nearest, 0.0);
  }
}

static void proximity_measure(void* user, int64_t begin, int64_t end, int32_t worker) {
  const Measure* work = user;
  const NoliProximity* proximity = work->proximity;
  (void)worker;
  for (int64_t g = begin; g < end; g++) {
    int32_t vertex[GROUP], n = 0;
    for (int32_t i = proximity->group[g]; i < proximity->group[g + 1]; i++) {
      if (proximity->asked[proximity->order[i]] != NOLI_NULL_INDEX) {
        vertex[n++] = proximity->order[i];
      }
    }
    if (n > 0) {
      measure_group(work, vertex, n);
    }
  }
}

// ---- directions ----

static void add_push(NoliProximity* proximity, int32_t vertex, NoliVec3 direction, double sign,
                     float gap) {
  float* push = &proximity->push[3 * (int64_t)vertex];
  push[0] += (float)(sign * direction.x);
  push[1] += (float)(sign * direction.y);
  push[2] += (float)(sign * direction.z);
  proximity->pushes[vertex]++;
  proximity->gap[vertex] = gap < proximity->gap[vertex] ? gap : proximity->gap[vertex];
}

// A vertex and what is nearest to it.
static void push_apart(NoliProximity* proximity, const double* x, int32_t vertex, float gap) {
  const NoliProblem* problem = &proximity->model->problem;
  int32_t found = proximity->found[vertex];
  if (found < 0) {
    add_push(proximity, vertex, problem->contact.half_spaces[-2 - found].normal, 1.0, gap);
    return;
  }
  const int32_t* item = &proximity->vertex[3 * (int64_t)found];
  double weight[3];
  NoliVec3 r = noli_load3(&x[3 * (int64_t)vertex]);
  double size = noli_surface_item_distance(r, x, item, weight);
  for (int32_t i = 0; i < item_size(item); i++) {
    r = noli_mul_add3(r, -weight[i], noli_load3(&x[3 * (int64_t)item[i]]));
  }
  if (size > 0.0) {
    r = noli_scale3(1.0 / size, r);
    add_push(proximity, vertex, r, 1.0, gap);
    for (int32_t i = 0; i < item_size(item); i++) {
      if (weight[i] > 0.0) {
        add_push(proximity, item[i], r, -1.0, gap);
      }
    }
  }
}

static void measure_directions(NoliProximity* proximity, const double* x, const int32_t* vertex,
                               int32_t n, const float* distance, float* away, float* gap) {
  const NoliProblem* problem = &proximity->model->problem;
  float near = (float)(APART * problem->size.d);
  memset(proximity->push, 0, 3 * (size_t)problem->n_vert * sizeof *proximity->push);
  memset(proximity->pushes, 0, (size_t)problem->n_vert * sizeof *proximity->pushes);
  for (int64_t i = 0; i < problem->n_vert; i++) {
    proximity->gap[i] = INFINITY;
  }
  for (int32_t i = 0; i < n; i++) {
    if (distance[i] < near && proximity->found[vertex[i]] != NOLI_NULL_INDEX) {
      push_apart(proximity, x, vertex[i], distance[i]);
    }
  }
  for (int32_t i = 0; i < n; i++) {
    int32_t pushes = proximity->pushes[vertex[i]];
    gap[i] = proximity->gap[vertex[i]];
    for (int32_t c = 0; c < 3; c++) {
      float push = proximity->push[3 * (int64_t)vertex[i] + c];
      away[3 * (int64_t)i + c] = pushes > 0 ? push / (float)pushes : 0.0f;
    }
  }
}

// ---- at rest ----

static void measure_clearance(void* user, int64_t begin, int64_t end, int32_t worker) {
  const Measure* work = user;
  const NoliProximity* proximity = work->proximity;
  const NoliProblem* problem = &proximity->model->problem;
  (void)worker;
  for (int64_t k = begin; k < end; k++) {
    int32_t vertex = proximity->order[k], body = problem->surface->body[vertex];
    Search search = {.proximity = proximity,
                     .x = work->x,
                     .vertex = vertex,
                     .at = noli_load3(&work->x[3 * (int64_t)vertex]),
                     .nearest = proximity->reach};
    if (noli_body_pairs_get(&problem->contact.body_pairs, body, body)) {
      search_body(&search, body);
    }
    proximity->clearance[vertex] = (float)((1.0 - ROUNDING) * search.nearest);
  }
}

// Arranges all for the rest shape, and measures there what stays the same.
static void measure_rest(NoliProximity* proximity) {
  const NoliModel* model = proximity->model;
  Measure work = {proximity, model->problem.X, NULL};
  proximity_arrange(proximity, work.x);
  for (int32_t p = 0; p < proximity->n_item; p++) {
    proximity->box[p] = noli_surface_item_box(work.x, item_at(proximity, p));
  }
  noli_forest_refit(&proximity->forest, proximity->box);
  noli_parallel_for(noli_context_threads(model->context), model->problem.n_vert, ITEMS,
                    measure_clearance, &work);
}

NoliStatus noli_proximity_measure(NoliProximity* proximity, const double* x, const int32_t* vertex,
                                  int32_t n, float* distance, float* away, float* gap) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = proximity->model;
  Measure work = {proximity, x, distance};
  update_items(proximity, x);
  NOLI_TRY(list_neighbours(proximity));
  for (int64_t i = 0; i < model->problem.n_vert; i++) {
    proximity->asked[i] = NOLI_NULL_INDEX;
  }
  for (int32_t i = 0; i < n; i++) {
    proximity->asked[vertex[i]] = i;
  }
  noli_parallel_for(noli_context_threads(model->context), proximity->n_group, BLOCK,
                    proximity_measure, &work);
  if (away != NULL) {
    measure_directions(proximity, x, vertex, n, distance, away, gap);
  }
done:
  return status;
}
