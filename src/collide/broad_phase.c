#include "collide/broad_phase.h"

#include "base/parallel.h"
#include "base/profile.h"
#include "base/ranks.h"
#include "base/sort.h"
#include "base/validate.h"
#include "base/wide.h"
#include "collide/body_tree.h"
#include "collide/facets.h"

#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum {
  CHUNK = 512,        // keys a worker claims at a time
  N_TASK = 512,       // about this many tasks are traversed in parallel
  TASK_BLOCK = 4,     // tasks handed out together
  SHARED_KEYS = 4096, // from which threads pay for sorting
  ITEM_BLOCK = 2048,  // boxes handed out together
  STACK_SIZE = 256,   // both trees have at most 30 levels, each leaves at most 3 pairs behind
  N_KIND = 2,
};

enum { POINT_TRIANGLE, EDGE_EDGE };

// Coordinates beyond this are refused: products of floats must not overflow.
static const double largest_coordinate = 1e15;

// Boxes grow by this many units of rounding of the largest coordinate.
static const double slack_ulps = 64.0;

// The trees are rebuilt when their nodes have grown by this factor relative to their facets.
static const double poor_tree = 2.0;

// Boxes that are compared with another box at once: coordinate by coordinate, so that they fill
// registers. Unused ones meet nothing.
enum { GROUP = NOLI_LEAF_SIZE };
_Static_assert(GROUP == 8, "a register or two have a row of a group");

typedef struct Group {
  float lo[3][GROUP];
  float hi[3][GROUP];
} Group;

// A tree of facets in the order of their places, so that a leaf reads consecutive memory.
typedef struct Places {
  int32_t* tri;         // (n_facet) or NOLI_NULL_INDEX
  int32_t* corner;      // (n_facet x 3) points
  NoliBox* box;         // (n_facet)
  int32_t* point_first; // (n_facet + 1)
  int32_t* point;       // (n_point)
  NoliBox* point_box;   // (n_point)
  int32_t* edge_first;  // (n_facet + 1)
  int32_t* edge;        // (n_edge)
  int32_t* edge_point;  // (n_edge x 2)
  NoliBox* edge_box;    // (n_edge)
  int32_t* group_first; // (n_node) of a leaf: the boxes of its triangles, then of its edges
  Group* group;
} Places;

// Mean motion of a body.
typedef struct BodyMotion {
  double mean[3];
} BodyMotion;

// Two nodes to compare, or one with itself (a == b): of one body, or `a` of the body with the lower
// number. The boxes of `a` move by `d`.
typedef struct Task {
  int32_t a;
  int32_t b;
  bool self; // of one body, which does not move in its own frame
  bool moving;
  double d[3];
} Task;

// Keys found. All workers share the pool; each claims chunks for itself.
typedef struct Pool {
  NOLI_ARRAY(uint64_t) key;
  NOLI_ARRAY(uint64_t) scratch;
  _Atomic int64_t claimed;
  int64_t n_found;
  int32_t low_bits; // bits of the second index
  int32_t n_bits;
} Pool;

typedef struct Worker {
  uint64_t* next[N_KIND];
  int64_t room[N_KIND];
  int64_t n_chunk[N_KIND];
  uint64_t overflow[CHUNK]; // receives keys beyond the capacity; the search is then repeated
} Worker;

struct NoliBroadPhase {
  NoliContext* context;
  const NoliSurface* surface;
  NoliFacets facets;
  NoliForest forest;
  NoliBodyTree bodies;
  NoliBox* body_box; // (n_body)
  Places places;
  NoliBox* point_box; // (n_point)
  float* centre;      // (n_facet x 3)
  BodyMotion* motion; // (n_body)
  double origin[3];
  double pad;   // added to boxes on each side, with the offset of the body
  double still; // relative motion below this is covered by the slack
  int64_t n_build;
  double cost; // of the trees when they were made
  NOLI_ARRAY(Task) task;
  int64_t first_task;
  Pool pool[N_KIND];
  int32_t n_worker;
  Worker* worker;
  uint64_t* gathered; // keys of all ranks
  int64_t gathered_capacity;
};

// --- making and releasing ---

static NoliStatus create_places(NoliContext* context, const NoliSurface* surface, int32_t n_facet,
                                const NoliForest* forest, Places* places) {
  NoliStatus status = NOLI_OK;
  // of each leaf the triangles and a group of edges that is not full; leaves are at most half of
  // the nodes and one of each tree
  int64_t n_leaf = ((int64_t)forest->n_node + forest->n_tree) / 2;
  NOLI_NEW(context, places->tri, n_facet);
  NOLI_NEW(context, places->corner, 3 * (int64_t)n_facet);
  NOLI_NEW(context, places->box, n_facet);
  NOLI_NEW(context, places->point_first, (int64_t)n_facet + 1);
  NOLI_NEW(context, places->point, surface->n_point);
  NOLI_NEW(context, places->point_box, surface->n_point);
  NOLI_NEW(context, places->edge_first, (int64_t)n_facet + 1);
  NOLI_NEW(context, places->edge, surface->n_edge);
  NOLI_NEW(context, places->edge_point, 2 * (int64_t)surface->n_edge);
  NOLI_NEW(context, places->edge_box, surface->n_edge);
  NOLI_NEW(context, places->group_first, forest->n_node);
  NOLI_NEW(context, places->group, 2 * n_leaf + surface->n_edge / GROUP);
done:
  return status;
}

static void release_places(NoliContext* context, Places* places) {
  noli_free(context, places->tri);
  noli_free(context, places->corner);
  noli_free(context, places->box);
  noli_free(context, places->point_first);
  noli_free(context, places->point);
  noli_free(context, places->point_box);
  noli_free(context, places->edge_first);
  noli_free(context, places->edge);
  noli_free(context, places->edge_point);
  noli_free(context, places->edge_box);
  noli_free(context, places->group_first);
  noli_free(context, places->group);
}

// Keys are (first index, second index).
static void set_key_bits(const NoliSurface* surface, Pool pool[N_KIND]) {
  pool[POINT_TRIANGLE].low_bits = noli_bits_of(surface->n_tri);
  pool[POINT_TRIANGLE].n_bits = pool[POINT_TRIANGLE].low_bits + noli_bits_of(surface->n_point);
  pool[EDGE_EDGE].low_bits = noli_bits_of(surface->n_edge);
  pool[EDGE_EDGE].n_bits = 2 * pool[EDGE_EDGE].low_bits;
}

NoliStatus noli_broad_phase_create(NoliContext* context, const NoliSurface* surface,
                                   NoliBroadPhase** broad_phase) {
  NoliStatus status = NOLI_OK;
  NoliBroadPhase* made = NULL;
  *broad_phase = NULL;
  NOLI_NEW_ZERO(context, made, 1);
  made->context = context;
  made->surface = surface;
  made->n_worker = noli_context_threads(context);
  NOLI_TRY(noli_facets_create(context, surface, &made->facets));
  NOLI_TRY(noli_forest_create(context, surface->n_body, made->facets.facet_first, &made->forest));
  NOLI_TRY(noli_body_tree_create(context, surface->n_body, &made->bodies));
  NOLI_NEW(context, made->body_box, surface->n_body);
  NOLI_TRY(create_places(context, surface, made->facets.n_facet, &made->forest, &made->places));
  NOLI_NEW(context, made->point_box, surface->n_point);
  NOLI_NEW(context, made->centre, 3 * (int64_t)made->facets.n_facet);
  NOLI_NEW(context, made->motion, surface->n_body);
  NOLI_NEW(context, made->worker, made->n_worker);
  set_key_bits(surface, made->pool);
done:
  if (status != NOLI_OK) {
    noli_broad_phase_destroy(&made);
  }
  *broad_phase = made;
  return status;
}

void noli_broad_phase_destroy(NoliBroadPhase** broad_phase) {
  if (broad_phase == NULL || *broad_phase == NULL) {
    return;
  }
  NoliBroadPhase* bp = *broad_phase;
  NoliContext* context = bp->context;
  noli_facets_release(context, &bp->facets);
  noli_forest_release(context, &bp->forest);
  noli_body_tree_release(context, &bp->bodies);
  noli_free(context, bp->body_box);
  release_places(context, &bp->places);
  noli_free(context, bp->point_box);
  noli_free(context, bp->centre);
  noli_free(context, bp->motion);
  noli_free(context, bp->worker);
  noli_free(context, bp->gathered);
  noli_array_free(context, &bp->task);
  for (int kind = 0; kind < N_KIND; kind++) {
    noli_array_free(context, &bp->pool[kind].key);
    noli_array_free(context, &bp->pool[kind].scratch);
  }
  noli_free(context, bp);
  *broad_phase = NULL;
}

// --- boxes ---

// Mean displacement of each body, the common origin, and the largest coordinate.
static double measure_motion(NoliBroadPhase* bp, const double* x_t0, const double* x_t1) {
  const NoliSurface* surface = bp->surface;
  double largest = 0.0, total[3] = {0.0, 0.0, 0.0};
  for (int32_t b = 0; b < surface->n_body; b++) {
    double moved[3] = {0.0, 0.0, 0.0};
    for (int32_t p = surface->point_first[b]; p < surface->point_first[b + 1]; p++) {
      int64_t i = 3 * (int64_t)surface->point[p];
      for (int k = 0; k < 3; k++) {
        double from = x_t0[i + k], to = x_t1[i + k];
        if (!isfinite(from) || !isfinite(to)) {
          return (double)INFINITY;
        }
        largest = fmax(largest, fmax(fabs(from), fabs(to)));
        moved[k] += to - from;
        total[k] += from;
      }
    }
    int32_t n = surface->point_first[b + 1] - surface->point_first[b];
    for (int k = 0; k < 3; k++) {
      bp->motion[b].mean[k] = n > 0 ? moved[k] / (double)n : 0.0;
    }
  }

  for (int k = 0; k < 3; k++) {
    bp->origin[k] = surface->n_point > 0 ? total[k] / (double)surface->n_point : 0.0;
  }
  return largest;
}

// The next floats below and above: one part in 2^23 is more than the rounding to float.
static float round_down(double value) {
  return (float)(value - fabs(value) * 0x1p-23 - (double)FLT_MIN);
}

static float round_up(double value) {
  return (float)(value + fabs(value) * 0x1p-23 + (double)FLT_MIN);
}

// Input of the parallel loops over boxes.
typedef struct BoxLoop {
  NoliBroadPhase* bp;
  const double* x_t0;
  const double* x_t1;
} BoxLoop;

// Swept boxes of points in the frames of their bodies.
static void fill_point_boxes(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const BoxLoop* loop = user;
  const NoliBroadPhase* bp = loop->bp;
  for (int64_t p = begin; p < end; p++) {
    int32_t v = bp->surface->point[p];
    const double* mean = bp->motion[bp->surface->body[v]].mean;
    double offset = noli_surface_offset_of(bp->surface, bp->surface->body[v]);
    double pad = bp->pad + offset * (1.0 + 4.0 * DBL_EPSILON);
    NoliBox box = {{0.0f}, {0.0f}};
    for (int k = 0; k < 3; k++) {
      double from = loop->x_t0[3 * (int64_t)v + k] - bp->origin[k];
      double to = (loop->x_t1[3 * (int64_t)v + k] - mean[k]) - bp->origin[k];
      box.lo[k] = round_down((from < to ? from : to) - pad);
      box.hi[k] = round_up((from < to ? to : from) + pad);
    }
    bp->point_box[p] = box;
  }
}

// Boxes of facets and of the points and edges that they own, by place.
static void fill_place_boxes(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const NoliBroadPhase* bp = ((const BoxLoop*)user)->bp;
  const Places* places = &bp->places;
  const NoliBox* point_box = bp->point_box;
  for (int64_t p = begin; p < end; p++) {
    const int32_t* corner = &places->corner[3 * p];
    NoliBox box = point_box[corner[0]];
    for (int k = 1; k < 3 && corner[k] != NOLI_NULL_INDEX; k++) {
      box = noli_box_union(&box, &point_box[corner[k]]);
    }
    places->box[p] = box;
    for (int32_t i = places->point_first[p]; i < places->point_first[p + 1]; i++) {
      places->point_box[i] = point_box[places->point[i]];
    }
    for (int32_t i = places->edge_first[p]; i < places->edge_first[p + 1]; i++) {
      const int32_t* ends = &places->edge_point[2 * (int64_t)i];
      places->edge_box[i] = noli_box_union(&point_box[ends[0]], &point_box[ends[1]]);
    }
  }
}

static void set_box(Group* group, int32_t at, const NoliBox* box) {
  for (int k = 0; k < 3; k++) {
    group->lo[k][at] = box->lo[k];
    group->hi[k][at] = box->hi[k];
  }
}

// Groups of the boxes of leaves.
static void fill_groups(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const NoliBroadPhase* bp = ((const BoxLoop*)user)->bp;
  const Places* places = &bp->places;
  const NoliBox empty = noli_box_empty();

  for (int64_t n = begin; n < end; n++) {
    const NoliNode* node = &bp->forest.node[n];
    if (node->child != NOLI_NULL_INDEX) {
      continue;
    }
    Group* group = &places->group[places->group_first[n]];
    for (int32_t i = 0; i < GROUP; i++) {
      int32_t p = node->begin + i;
      bool used = p < node->end && places->tri[p] != NOLI_NULL_INDEX;
      set_box(group, i, used ? &places->box[p] : &empty);
    }
    int32_t first = places->edge_first[node->begin];
    int32_t n_edge = places->edge_first[node->end] - first;
    for (int32_t begun = 0; begun < n_edge; begun += GROUP) {
      group++;
      for (int32_t i = 0; i < GROUP; i++) {
        bool used = begun + i < n_edge;
        set_box(group, i, used ? &places->edge_box[first + begun + i] : &empty);
      }
    }
  }
}

static void refit(BoxLoop* loop) {
  NoliBroadPhase* bp = loop->bp;
  noli_parallel_for(bp->n_worker, bp->facets.n_facet, ITEM_BLOCK, fill_place_boxes, loop);
  noli_forest_refit(&bp->forest, bp->places.box);
  noli_parallel_for(bp->n_worker, bp->forest.n_node, ITEM_BLOCK, fill_groups, loop);
}

// Copies the facets to their places.
static void fill_places(NoliBroadPhase* bp) {
  const NoliFacets* facets = &bp->facets;
  Places* places = &bp->places;
  int32_t n_point = 0, n_edge = 0;
  for (int32_t p = 0; p < facets->n_facet; p++) {
    int32_t f = bp->forest.item[p];
    places->tri[p] = facets->tri[f];
    memcpy(&places->corner[3 * (int64_t)p], &facets->corner[3 * (int64_t)f], 3 * sizeof(int32_t));
    places->point_first[p] = n_point;
    for (int32_t i = facets->point_first[f]; i < facets->point_first[f + 1]; i++) {
      places->point[n_point++] = facets->own_point[i];
    }
    places->edge_first[p] = n_edge;
    for (int32_t i = facets->edge_first[f]; i < facets->edge_first[f + 1]; i++, n_edge++) {
      int32_t e = facets->own_edge[i];
      places->edge[n_edge] = e;
      places->edge_point[2 * (int64_t)n_edge] = facets->edge_point[2 * (int64_t)e];
      places->edge_point[2 * (int64_t)n_edge + 1] = facets->edge_point[2 * (int64_t)e + 1];
    }
  }

  places->point_first[facets->n_facet] = n_point;
  places->edge_first[facets->n_facet] = n_edge;
  int32_t n_group = 0;
  for (int32_t n = 0; n < bp->forest.n_node; n++) {
    const NoliNode* node = &bp->forest.node[n];
    int32_t n_own = places->edge_first[node->end] - places->edge_first[node->begin];
    places->group_first[n] = n_group;
    n_group += node->child == NOLI_NULL_INDEX ? 1 + (n_own + GROUP - 1) / GROUP : 0;
  }
}

// Rebuilds the trees from the boxes of the points.
static void rebuild(BoxLoop* loop) {
  NoliBroadPhase* bp = loop->bp;
  const NoliFacets* facets = &bp->facets;
  for (int32_t f = 0; f < facets->n_facet; f++) {
    const int32_t* corner = &facets->corner[3 * (int64_t)f];
    NoliBox box = bp->point_box[corner[0]];
    for (int k = 1; k < 3 && corner[k] != NOLI_NULL_INDEX; k++) {
      box = noli_box_union(&box, &bp->point_box[corner[k]]);
    }
    for (int k = 0; k < 3; k++) {
      bp->centre[3 * (int64_t)f + k] = 0.5f * box.lo[k] + 0.5f * box.hi[k];
    }
  }
  noli_forest_arrange(&bp->forest, bp->centre);
  fill_places(bp);
  refit(loop);
  bp->cost = noli_forest_cost(&bp->forest, bp->places.box);
  bp->n_build++;
}

static NoliStatus update_boxes(NoliBroadPhase* bp, const double* x_t0, const double* x_t1,
                               double inflation) {
  NoliStatus status = NOLI_OK;
  BoxLoop loop = {bp, x_t0, x_t1};
  double largest = measure_motion(bp, x_t0, x_t1);
  NOLI_CHECK(bp->context, largest <= largest_coordinate, NOLI_NOT_FINITE,
             "broad phase: a surface position is not finite, or beyond %g m", largest_coordinate);
  // coordinates, displacements and the origin are sums of at most three such numbers
  bp->still = slack_ulps * DBL_EPSILON * largest;
  bp->pad = 0.5 * inflation * (1.0 + 4.0 * DBL_EPSILON) + 2.0 * bp->still;
  noli_parallel_for(bp->n_worker, bp->surface->n_point, ITEM_BLOCK, fill_point_boxes, &loop);
  if (bp->n_build > 0) {
    refit(&loop);
  }
  if (bp->n_build == 0 || noli_forest_cost(&bp->forest, bp->places.box) > poor_tree * bp->cost) {
    rebuild(&loop);
  }
done:
  return status;
}

// --- traversal ---

static inline bool meet(const NoliBox* a, const NoliBox* b, const double* d) {
  return d == NULL ? noli_boxes_meet(a, b) : noli_moving_boxes_meet(a, b, d);
}

// Boxes of the paths of all bodies, in the frame that moves with the mean of their motions: bodies
// that fly together have the boxes of bodies at rest.
static void fill_body_boxes(NoliBroadPhase* bp) {
  int32_t n_body = bp->surface->n_body;
  double common[3] = {0.0, 0.0, 0.0};
  for (int32_t b = 0; b < n_body; b++) {
    for (int k = 0; k < 3; k++) {
      common[k] += bp->motion[b].mean[k] / (double)n_body;
    }
  }

  for (int32_t b = 0; b < n_body; b++) {
    int32_t root = bp->forest.root[b];
    NoliBox box = noli_box_empty();
    for (int k = 0; k < 3 && root != NOLI_NULL_INDEX; k++) {
      double lo = (double)bp->forest.box[root].lo[k], hi = (double)bp->forest.box[root].hi[k];
      double d = bp->motion[b].mean[k] - common[k];
      // motion below `still` counts as rest; rounding of these sums is below it, too
      box.lo[k] = round_down(lo + (d < 0.0 ? d : 0.0) - bp->still);
      box.hi[k] = round_up(hi + (d > 0.0 ? d : 0.0) + bp->still);
    }
    bp->body_box[b] = box;
  }
}

// Adds a task for the bodies a <= b, if both have surfaces and their boxes meet on the way.
static NoliStatus start_task(NoliBroadPhase* bp, int32_t a, int32_t b) {
  NoliStatus status = NOLI_OK;
  Task task = {.a = bp->forest.root[a], .b = bp->forest.root[b], .self = a == b};
  if (task.a == NOLI_NULL_INDEX || task.b == NOLI_NULL_INDEX) {
    return NOLI_OK;
  }
  for (int k = 0; k < 3; k++) {
    task.d[k] = bp->motion[a].mean[k] - bp->motion[b].mean[k];
    task.moving = task.moving || fabs(task.d[k]) > bp->still;
  }
  const NoliBox *box_a = &bp->forest.box[task.a], *box_b = &bp->forest.box[task.b];
  if (a == b || meet(box_a, box_b, task.moving ? task.d : NULL)) {
    NOLI_PUSH(bp->context, &bp->task, task);
  }
done:
  return status;
}

// Starts with a task for each body that meets itself and for each pair of near bodies that meet.
static NoliStatus start_tasks(NoliBroadPhase* bp, const NoliBodyPairs* pairs) {
  NoliStatus status = NOLI_OK;
  bp->task.count = 0;
  for (int32_t b = 0; b < bp->surface->n_body; b++) {
    if (noli_body_pairs_get(pairs, b, b)) {
      NOLI_TRY(start_task(bp, b, b));
    }
  }
  fill_body_boxes(bp);
  NOLI_TRY(noli_body_tree_find(bp->context, &bp->bodies, bp->body_box));
  for (int64_t i = 0; i < bp->bodies.pair.count; i++) {
    NoliBodyPair pair = bp->bodies.pair.data[i];
    if (noli_body_pairs_get(pairs, pair.a, pair.b)) {
      NOLI_TRY(start_task(bp, pair.a, pair.b));
    }
  }
done:
  return status;
}

// Splits tasks until there are N_TASK of them; the result is the same for any number of workers.
static NoliStatus split_tasks(NoliBroadPhase* bp) {
  NoliStatus status = NOLI_OK;
  bp->first_task = 0;
  int64_t n_leaf = 0;

  while (bp->task.count - bp->first_task < N_TASK && bp->first_task < bp->task.count) {
    Task task = bp->task.data[bp->first_task++];
    if (noli_forest_is_leaf(&bp->forest, task.a) && noli_forest_is_leaf(&bp->forest, task.b)) {
      // two leaves cannot be split and go to the end; the loop ends when only leaves are left
      NOLI_PUSH(bp->context, &bp->task, task);
      if (++n_leaf >= bp->task.count - bp->first_task) {
        break;
      }
      continue;
    }
    n_leaf = 0;
    int32_t pair[8];
    int32_t n =
        noli_forest_split_pair(&bp->forest, task.moving ? task.d : NULL, task.a, task.b, pair);
    for (int32_t i = 0; i < n; i++) {
      task.a = pair[2 * i];
      task.b = pair[2 * i + 1];
      NOLI_PUSH(bp->context, &bp->task, task);
    }
  }
done:
  return status;
}

// Gives a worker the next chunk for its keys.
static void claim_chunk(NoliBroadPhase* bp, Worker* worker, int kind) {
  Pool* pool = &bp->pool[kind];
  int64_t first = atomic_fetch_add_explicit(&pool->claimed, CHUNK, memory_order_relaxed);
  bool fits = first + CHUNK <= pool->key.capacity;
  worker->next[kind] = fits ? pool->key.data + first : worker->overflow;
  worker->room[kind] = CHUNK;
  worker->n_chunk[kind]++;
}

// Keeps a key if it is a hit. Hits are hard to predict, so there is no branch on `hit`.
static inline void broad_phase_keep(NoliBroadPhase* bp, Worker* worker, int kind, bool hit,
                                    int32_t high, int32_t low) {
  *worker->next[kind] = (uint64_t)high << bp->pool[kind].low_bits | (uint64_t)low;
  worker->next[kind] += hit;
  worker->room[kind] -= hit;
  if (worker->room[kind] == 0) {
    claim_chunk(bp, worker, kind);
  }
}

// The boxes of a group that meet a box: bit i of the result for the i-th.
static inline uint32_t meet_group(const Group* group, const NoliBox* box) {
  uint32_t bits = 0;
#ifdef __GNUC__
  typedef float Row __attribute__((vector_size(16)));
  typedef int32_t Mask __attribute__((vector_size(16)));
  typedef uint64_t Half __attribute__((vector_size(16)));

  for (int i = 0; i < GROUP; i += 4) {
    Mask apart = {0, 0, 0, 0}, bit = {1, 2, 4, 8};
    for (int k = 0; k < 3; k++) {
      Row lo, hi;
      memcpy(&lo, &group->lo[k][i], sizeof lo);
      memcpy(&hi, &group->hi[k][i], sizeof hi);
      apart |= (lo > box->hi[k]) | (box->lo[k] > hi);
    }
    Half half = (Half)(~apart & bit);
    uint64_t both = half[0] | half[1];
    bits |= (uint32_t)(both | both >> 32) << i;
  }
#else

  for (int i = 0; i < GROUP; i++) {
    bool met = true;
    for (int k = 0; k < 3; k++) {
      met = met & (group->lo[k][i] <= box->hi[k]) & (box->lo[k] <= group->hi[k][i]);
    }
    bits |= (uint32_t)met << i;
  }
#endif
  return bits;
}

// The lowest bit that is set.
static inline int32_t lowest_bit(uint32_t bits) {
#ifdef __GNUC__
  return __builtin_ctz(bits);
#else
  int32_t i = 0;
  while ((bits >> i & 1u) == 0) {
    i++;
  }
  return i;
#endif
}

// A box around `box` on its way by `sign` d (NULL: it is at rest).
static inline NoliBox swept_box(const NoliBox* box, const double* d, double sign) {
  NoliBox swept = *box;
  for (int k = 0; k < 3 && d != NULL; k++) {
    double way = sign * d[k];
    swept.lo[k] = round_down((double)box->lo[k] + (way < 0.0 ? way : 0.0));
    swept.hi[k] = round_up((double)box->hi[k] + (way > 0.0 ? way : 0.0));
  }
  return swept;
}

// Points owned by leaf a against the triangles of leaf b. `flip`: b is the one that moves by d.
// `self`: both are of one body, and may have common vertices.
NOLI_INLINE void pair_points(NoliBroadPhase* bp, Worker* worker, const double* d, bool flip,
                             bool self, int32_t a, int32_t b) {
  const Places* places = &bp->places;
  const NoliNode *node_a = &bp->forest.node[a], *node_b = &bp->forest.node[b];
  const Group* group = &places->group[places->group_first[b]];
  int32_t end = places->point_first[node_a->end];
  for (int32_t i = places->point_first[node_a->begin]; i < end; i++) {
    const NoliBox* box = &places->point_box[i];
    NoliBox swept = swept_box(box, d, flip ? -1.0 : 1.0);
    if (!noli_boxes_meet(&swept, &bp->forest.box[b])) {
      continue;
    }
    int32_t point = places->point[i];
    for (uint32_t bits = meet_group(group, &swept); bits != 0; bits &= bits - 1) {
      int32_t q = node_b->begin + lowest_bit(bits);
      const int32_t* corner = &places->corner[3 * (int64_t)q];
      const NoliBox* other = &places->box[q];
      bool hit = d == NULL || noli_moving_boxes_meet(flip ? other : box, flip ? box : other, d);
      hit = hit & (!self || ((point != corner[0]) & (point != corner[1]) & (point != corner[2])));
      broad_phase_keep(bp, worker, POINT_TRIANGLE, hit, point, places->tri[q]);
    }
  }
}

// Edges owned by leaf a against edges owned by leaf b, each pair once if the leaves are the same.
NOLI_INLINE void pair_edges(NoliBroadPhase* bp, Worker* worker, const double* d, bool self,
                            int32_t a, int32_t b) {
  const Places* places = &bp->places;
  const NoliNode *node_a = &bp->forest.node[a], *node_b = &bp->forest.node[b];
  const Group* group = &places->group[places->group_first[b]] + 1;
  int32_t first = places->edge_first[node_a->begin], end = places->edge_first[node_a->end];
  int32_t first_b = places->edge_first[node_b->begin];
  uint32_t n_b = (uint32_t)(places->edge_first[node_b->end] - first_b);

  for (int32_t i = first; i < end; i++) {
    const int32_t* u = &places->edge_point[2 * (int64_t)i];
    const NoliBox* box = &places->edge_box[i];
    NoliBox swept = swept_box(box, d, 1.0);
    if (!noli_boxes_meet(&swept, &bp->forest.box[b])) {
      continue;
    }
    int32_t e = places->edge[i];
    uint32_t begin = self && a == b ? (uint32_t)(i + 1 - first) : 0;
    for (uint32_t at = begin; at < n_b; at += GROUP - at % GROUP) {
      uint32_t bits = meet_group(&group[at / GROUP], &swept) >> at % GROUP;
      for (; bits != 0; bits &= bits - 1) {
        int32_t j = first_b + (int32_t)at + lowest_bit(bits), f = places->edge[j];
        const int32_t* v = &places->edge_point[2 * (int64_t)j];
        bool hit = d == NULL || noli_moving_boxes_meet(box, &places->edge_box[j], d);
        hit = hit & (!self || ((u[0] != v[0]) & (u[0] != v[1]) & (u[1] != v[0]) & (u[1] != v[1])));
        broad_phase_keep(bp, worker, EDGE_EDGE, hit, self && f < e ? f : e, self && f < e ? e : f);
      }
    }
  }
}

// All facets of leaf a against all facets of leaf b.
NOLI_INLINE void pair_leaves(NoliBroadPhase* bp, Worker* worker, const double* d, bool self,
                             int32_t a, int32_t b) {
  pair_points(bp, worker, d, false, self, a, b);
  if (a != b) {
    pair_points(bp, worker, d, true, self, b, a);
  }
  pair_edges(bp, worker, d, self, a, b);
}

// Compares all facets below two nodes, the first of which moves by d (NULL: neither does).
NOLI_INLINE void traverse(NoliBroadPhase* bp, Worker* worker, const double* d, bool self, int32_t a,
                          int32_t b) {
  int32_t stack[STACK_SIZE];
  int32_t n = 0;
  stack[n++] = a;
  stack[n++] = b;
  while (n > 0) {
    b = stack[--n];
    a = stack[--n];
    if (noli_forest_is_leaf(&bp->forest, a) && noli_forest_is_leaf(&bp->forest, b)) {
      pair_leaves(bp, worker, d, self, a, b);
    } else {
      n += 2 * noli_forest_split_pair(&bp->forest, d, a, b, stack + n);
    }
  }
}

// Tasks of a kind each have their own loops.
static void run_self(NoliBroadPhase* bp, Worker* worker, const Task* task) {
  traverse(bp, worker, NULL, true, task->a, task->b);
}

static void run_resting(NoliBroadPhase* bp, Worker* worker, const Task* task) {
  traverse(bp, worker, NULL, false, task->a, task->b);
}

static void run_moving(NoliBroadPhase* bp, Worker* worker, const Task* task) {
  traverse(bp, worker, task->d, false, task->a, task->b);
}

static void run_tasks(void* user, int64_t begin, int64_t end, int32_t worker) {
  NoliBroadPhase* bp = user;
  int32_t rank = noli_rank(bp->context), size = noli_rank_count(bp->context);
  for (int64_t i = begin; i < end; i++) {
    if (size > 1 && i % size != rank) {
      continue; // of another rank; neighbouring tasks have much to do at the same place
    }
    const Task* task = &bp->task.data[bp->first_task + i];
    (task->self     ? run_self
     : task->moving ? run_moving
                    : run_resting)(bp, &bp->worker[worker], task);
  }
}

// --- results ---

// Runs all tasks and counts the keys found.
static void broad_phase_search(NoliBroadPhase* bp) {
  for (int kind = 0; kind < N_KIND; kind++) {
    atomic_store_explicit(&bp->pool[kind].claimed, 0, memory_order_relaxed);
    bp->pool[kind].n_found = 0;
    for (int32_t w = 0; w < bp->n_worker; w++) {
      bp->worker[w].next[kind] = NULL;
      bp->worker[w].room[kind] = 0;
      bp->worker[w].n_chunk[kind] = 0;
      claim_chunk(bp, &bp->worker[w], kind);
    }
  }
  noli_parallel_for(bp->n_worker, bp->task.count - bp->first_task, TASK_BLOCK, run_tasks, bp);
  for (int kind = 0; kind < N_KIND; kind++) {
    for (int32_t w = 0; w < bp->n_worker; w++) {
      bp->pool[kind].n_found += bp->worker[w].n_chunk[kind] * CHUNK - bp->worker[w].room[kind];
    }
  }
}

// Reserves room for the keys found and one partly filled chunk per worker, so that the same search
// fits however the keys are distributed over workers. `*enough`: there was room before.
static NoliStatus broad_phase_make_room(NoliBroadPhase* bp, bool* enough) {
  NoliStatus status = NOLI_OK;
  *enough = true;
  for (int kind = 0; kind < N_KIND; kind++) {
    Pool* pool = &bp->pool[kind];
    int64_t need = pool->n_found + (int64_t)bp->n_worker * CHUNK;
    *enough = *enough && need <= pool->key.capacity;
    NOLI_TRY(noli_array_reserve(bp->context, &pool->key, need));
    NOLI_TRY(noli_array_reserve(bp->context, &pool->scratch, pool->key.capacity));
  }
done:
  return status;
}

// Moves keys from the end of the pool to the unused rooms of the last chunks of workers, so that
// all keys found come first. Keys are not sorted yet.
static void close_gaps(NoliBroadPhase* bp, int kind) {
  uint64_t* end = bp->pool[kind].key.data + atomic_load(&bp->pool[kind].claimed);
  for (int32_t n_open = bp->n_worker; n_open > 0; n_open--) {
    // behind the last gap there are only keys
    Worker* last = NULL;
    for (int32_t w = 0; w < bp->n_worker; w++) {
      Worker* worker = &bp->worker[w];
      bool open = worker->room[kind] > 0;
      last = open && (last == NULL || worker->next[kind] > last->next[kind]) ? worker : last;
    }
    int64_t room = last->room[kind], behind = end - (last->next[kind] + room);
    int64_t n = behind < room ? behind : room;
    memcpy(last->next[kind], end - n, (size_t)n * sizeof *end);
    end -= room;
    last->room[kind] = 0;
  }
}

// Gives all ranks the keys that each has found.
static NoliStatus gather_keys(NoliBroadPhase* bp) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = bp->context;
  for (int kind = 0; noli_rank_count(context) > 1 && kind < N_KIND; kind++) {
    Pool* pool = &bp->pool[kind];
    int64_t n_all = 0;
    noli_sort_keys(pool->key.data, pool->scratch.data, pool->n_found, pool->n_bits);
    NOLI_TRY(noli_ranks_gather(context, sizeof(uint64_t), pool->key.data, pool->n_found,
                               (void**)&bp->gathered, &bp->gathered_capacity, &n_all));
    NoliStatus own = noli_array_reserve(context, &pool->key, n_all + 1);
    own = own == NOLI_OK ? noli_array_reserve(context, &pool->scratch, n_all + 1) : own;
    NOLI_TRY(noli_ranks_join(context, own));
    memcpy(pool->key.data, bp->gathered, (size_t)n_all * sizeof(uint64_t));
    pool->n_found = n_all;
  }
done:
  return status;
}

// Sorts the keys of one kind.
static void sort_pools(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  NoliBroadPhase* bp = user;
  for (int64_t kind = begin; kind < end; kind++) {
    Pool* pool = &bp->pool[kind];
    noli_sort_keys(pool->key.data, pool->scratch.data, pool->n_found, pool->n_bits);
  }
}

// One thread for each kind, where there are enough keys.
static void sort_results(NoliBroadPhase* bp) {
  int64_t n = 0;
  for (int kind = 0; kind < N_KIND; kind++) {
    n += bp->pool[kind].n_found;
  }
  if (n >= SHARED_KEYS) {
    noli_parallel_tasks(bp->n_worker, N_KIND, sort_pools, bp);
  } else {
    sort_pools(bp, 0, N_KIND, 0);
  }
}

// Input and output of the parallel loop over results.
typedef struct WriteLoop {
  const Pool* pool;
  const int32_t* name; // of the first index; NULL: itself
  NoliPrimitivePair* pair;
} WriteLoop;

static void write_pairs(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const WriteLoop* loop = user;
  uint64_t mask = ((uint64_t)1 << loop->pool->low_bits) - 1;
  for (int64_t i = begin; i < end; i++) {
    uint64_t key = loop->pool->key.data[i];
    int32_t a = (int32_t)(key >> loop->pool->low_bits);
    loop->pair[i].a = loop->name != NULL ? loop->name[a] : a;
    loop->pair[i].b = (int32_t)(key & mask);
  }
}

static NoliStatus write_candidates(NoliBroadPhase* bp, NoliCandidates* out) {
  NoliStatus status = NOLI_OK;
  const Pool* pool = bp->pool;
  NOLI_TRY(noli_array_reserve(bp->context, &out->point_triangle, pool[POINT_TRIANGLE].n_found));
  NOLI_TRY(noli_array_reserve(bp->context, &out->edge_edge, pool[EDGE_EDGE].n_found));
  out->point_triangle.count = pool[POINT_TRIANGLE].n_found;
  out->edge_edge.count = pool[EDGE_EDGE].n_found;
  WriteLoop points = {&pool[POINT_TRIANGLE], bp->surface->point, out->point_triangle.data};
  WriteLoop edges = {&pool[EDGE_EDGE], NULL, out->edge_edge.data};
  noli_parallel_for(bp->n_worker, out->point_triangle.count, 8 * ITEM_BLOCK, write_pairs, &points);
  noli_parallel_for(bp->n_worker, out->edge_edge.count, 8 * ITEM_BLOCK, write_pairs, &edges);
done:
  return status;
}

// Whether two edges are a pair: not where a tie holds them together, nor where one of them is a
// point and the other one belongs to a triangle, which has a pair with the point.
static bool are_pair(const NoliSurface* surface, NoliPrimitivePair pair) {
  const int32_t* a = &surface->edge[2 * (int64_t)pair.a];
  const int32_t* b = &surface->edge[2 * (int64_t)pair.b];
  bool with_point = surface->covered != NULL && (a[0] == a[1] || b[0] == b[1]);
  bool covered = with_point && (surface->covered[pair.a] || surface->covered[pair.b]);
  return !covered && !noli_surface_are_attached(surface, 2, a, 2, b);
}

// Drops candidates that are no pairs; the others keep their order.
static void drop_others(const NoliSurface* surface, NoliCandidates* out) {
  int64_t n = 0;
  for (int64_t i = 0; i < out->point_triangle.count; i++) {
    NoliPrimitivePair pair = out->point_triangle.data[i];
    out->point_triangle.data[n] = pair;
    n += noli_surface_are_attached(surface, 1, &pair.a, 3, &surface->tri[3 * (int64_t)pair.b]) ? 0
                                                                                               : 1;
  }
  out->point_triangle.count = n;
  n = 0;
  for (int64_t i = 0; i < out->edge_edge.count; i++) {
    NoliPrimitivePair pair = out->edge_edge.data[i];
    out->edge_edge.data[n] = pair;
    n += are_pair(surface, pair) ? 1 : 0;
  }
  out->edge_edge.count = n;
}

static NoliStatus find(NoliBroadPhase* bp, const double* x_t0, const double* x_t1, double inflation,
                       const NoliBodyPairs* pairs, NoliCandidates* out) {
  NoliStatus status = NOLI_OK;
  NoliWork before = noli_work(NOLI_WORK_BROAD_PHASE);
  out->point_triangle.count = 0;
  out->edge_edge.count = 0;
  NOLI_CHECK(bp->context, inflation >= 0.0 && inflation <= largest_coordinate, NOLI_ERROR_ARGUMENT,
             "broad phase: the inflation is %g", inflation);
  NOLI_TRY(update_boxes(bp, x_t0, x_t1, inflation));
  NOLI_TRY(start_tasks(bp, pairs));
  NOLI_TRY(split_tasks(bp));

  // search, and repeat the search if the pools were too small
  bool enough = false;
  while (!enough) {
    broad_phase_search(bp);
    NOLI_TRY(broad_phase_make_room(bp, &enough));
  }
  for (int kind = 0; kind < N_KIND; kind++) {
    close_gaps(bp, kind);
  }
  if (out->home == NULL) {
    NOLI_TRY(gather_keys(bp));
  }
  sort_results(bp);
  NOLI_TRY(write_candidates(bp, out));
  if (bp->surface->attached_first != NULL || bp->surface->covered != NULL) {
    drop_others(bp->surface, out);
  }
  NOLI_VALIDATE(bp->context, noli_forest_box_defect(&bp->forest, bp->places.box));
  NOLI_VALIDATE(bp->context, noli_candidates_defect(out, bp->surface));
done:
  noli_work(before);
  return status;
}

NoliStatus noli_broad_phase_find(NoliBroadPhase* broad_phase, const double* x_t0,
                                 const double* x_t1, double inflation, const NoliBodyPairs* pairs,
                                 NoliCandidates* out) {
  out->home = NULL;
  return find(broad_phase, x_t0, x_t1, inflation, pairs, out);
}

NoliStatus noli_broad_phase_find_own(NoliBroadPhase* broad_phase, const double* x_t0,
                                     const double* x_t1, double inflation,
                                     const NoliBodyPairs* pairs, const int32_t* home,
                                     NoliCandidates* out) {
  out->home = home;
  return find(broad_phase, x_t0, x_t1, inflation, pairs, out);
}

int64_t noli_broad_phase_builds(const NoliBroadPhase* broad_phase) {
  return broad_phase->n_build;
}
