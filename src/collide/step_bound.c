#include "collide/step_bound.h"

#include "base/parallel.h"
#include "collide/clear_motion.h"

// Pairs of a block, blocks of a batch. A batch gives every thread work and its minimum prunes the
// next ones; minima of its blocks live on the stack.
enum { BLOCK = 128, BATCH_BLOCKS = 64, BATCH = BLOCK * BATCH_BLOCKS };

// One pass over a list of items, each of which may lower the bound.
typedef struct Pass {
  const NoliSurface* surface;
  const double* x_t0;
  const double* x_t1;
  NoliCcdOptions options;
  NoliClearMotion clear;
  const NoliPrimitivePair* pair; // candidates of one kind
  bool edge_edge;
  const NoliHalfSpace* half_spaces; // half-spaces; items are pairs of surface vertex and plane
  int32_t n_half_spaces;
  const NoliBodyPairs* body_pairs;
  int64_t first;        // of the batch
  NoliStepBound before; // bound of the batches before this one
  NoliStepBound minimum[BATCH_BLOCKS];
} Pass;

static void load_vertices(const Pass* pass, const int32_t vertex[4], NoliVec3 x_t0[4],
                          NoliVec3 x_t1[4]) {
  for (int32_t i = 0; i < 4; i++) {
    x_t0[i] = noli_load3(&pass->x_t0[3 * (int64_t)vertex[i]]);
    x_t1[i] = noli_load3(&pass->x_t1[3 * (int64_t)vertex[i]]);
  }
}

// The options with the offsets of two bodies in `own`, or those of the pass where there are none.
static const NoliCcdOptions* options_of(const Pass* pass, double offset, NoliCcdOptions* own) {
  if (offset == 0.0) {
    return &pass->options;
  }
  *own = pass->options;
  own->min_separation += offset;
  return own;
}

static double offset_of(const Pass* pass, int32_t p, int32_t q) {
  const NoliSurface* surface = pass->surface;
  return surface->offset == NULL ? 0.0
                                 : noli_surface_offset(surface, surface->body[p], surface->body[q]);
}

// A pair that is free up to the running minimum cannot lower it, and the time of another one does
// not depend on it: the bound is that of any order of pairs.
static void bound_pair(const Pass* pass, int64_t item, NoliStepBound* bound) {
  NoliPrimitivePair pair = pass->pair[item];
  NoliVec3 x_t0[4], x_t1[4];
  NoliCcdOptions own;
  double toi, t_max = bound->alpha;
  bool hit;
  if (pass->edge_edge) {
    const int32_t* a = &pass->surface->edge[2 * (int64_t)pair.a];
    const int32_t* b = &pass->surface->edge[2 * (int64_t)pair.b];
    load_vertices(pass, (const int32_t[4]){a[0], a[1], b[0], b[1]}, x_t0, x_t1);
    const NoliCcdOptions* options = options_of(pass, offset_of(pass, a[0], b[0]), &own);
    hit = !noli_is_clear_edge_edge(&pass->clear, x_t0, x_t1, options, t_max) &&
          noli_ccd_edge_edge(x_t0, x_t1, options, t_max, &toi);
  } else {
    const int32_t* t = &pass->surface->tri[3 * (int64_t)pair.b];
    load_vertices(pass, (const int32_t[4]){pair.a, t[0], t[1], t[2]}, x_t0, x_t1);
    const NoliCcdOptions* options = options_of(pass, offset_of(pass, pair.a, t[0]), &own);
    hit = !noli_is_clear_point_triangle(&pass->clear, x_t0, x_t1, options, t_max) &&
          noli_ccd_point_triangle(x_t0, x_t1, options, t_max, &toi);
  }
  if (hit && toi < bound->alpha) {
    *bound = (NoliStepBound){toi, pair.a, pair.b, pass->edge_edge, NOLI_NULL_INDEX};
  }
}

static void bound_half_space(const Pass* pass, int64_t item, NoliStepBound* bound) {
  int32_t vertex = pass->surface->point[item / pass->n_half_spaces];
  int32_t plane = (int32_t)(item % pass->n_half_spaces);
  int32_t body = pass->surface->body[vertex];
  if (!noli_body_pairs_get(pass->body_pairs, body, pass->surface->n_body + plane)) {
    return;
  }
  NoliVec3 x_t0 = noli_load3(&pass->x_t0[3 * (int64_t)vertex]);
  NoliVec3 x_t1 = noli_load3(&pass->x_t1[3 * (int64_t)vertex]);
  NoliCcdOptions own;
  const NoliCcdOptions* options =
      options_of(pass, noli_surface_offset_of(pass->surface, body), &own);
  double toi = noli_ccd_half_space(x_t0, x_t1, pass->half_spaces[plane].origin,
                                   pass->half_spaces[plane].normal, options, bound->alpha);
  if (toi < bound->alpha) {
    *bound = (NoliStepBound){toi, vertex, NOLI_NULL_INDEX, false, plane};
  }
}

static void bound_block(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  Pass* pass = user;
  NoliStepBound bound = pass->before;
  for (int64_t i = begin; i < end; i++) {
    if (pass->pair != NULL) {
      bound_pair(pass, pass->first + i, &bound);
    } else {
      bound_half_space(pass, pass->first + i, &bound);
    }
  }
  pass->minimum[begin / BLOCK] = bound;
}

// Lowers `bound` by the items of a pass: blocks in any order, their minima in block order.
static void run_pass(Pass* pass, int64_t n_items, int32_t n_threads, NoliStepBound* bound) {
  for (pass->first = 0; pass->first < n_items; pass->first += BATCH) {
    int64_t n = n_items - pass->first < BATCH ? n_items - pass->first : BATCH;
    pass->before = *bound;
    noli_parallel_for(n_threads, n, BLOCK, bound_block, pass);
    for (int64_t k = 0; k * BLOCK < n; k++) {
      *bound = noli_step_bound_min(*bound, pass->minimum[k]);
    }
  }
}

static NoliStepBound free_bound(double alpha_max) {
  return (NoliStepBound){alpha_max, NOLI_NULL_INDEX, NOLI_NULL_INDEX, false, NOLI_NULL_INDEX};
}

void noli_step_bound_candidates(const NoliSurface* surface, const NoliCandidates* candidates,
                                const double* x_t0, const double* x_t1,
                                const NoliCcdOptions* options, int32_t n_threads, double alpha_max,
                                NoliStepBound* bound) {
  Pass pass = {.surface = surface, .x_t0 = x_t0, .x_t1 = x_t1};
  pass.options = options != NULL ? *options : noli_default_ccd_options();
  pass.clear = noli_clear_motion(surface, x_t0, x_t1, &pass.options, alpha_max);
  *bound = free_bound(alpha_max);
  pass.pair = candidates->point_triangle.data;
  run_pass(&pass, candidates->point_triangle.count, n_threads, bound);
  pass.pair = candidates->edge_edge.data;
  pass.edge_edge = true;
  run_pass(&pass, candidates->edge_edge.count, n_threads, bound);
}

void noli_step_bound_half_spaces(const NoliColliders* colliders, const double* x_t0,
                                 const double* x_t1, double safety, int32_t n_threads,
                                 double alpha_max, NoliStepBound* bound) {
  Pass pass = {.surface = colliders->surface, .x_t0 = x_t0, .x_t1 = x_t1};
  pass.options = noli_default_ccd_options();
  pass.options.safety = safety;
  pass.half_spaces = colliders->half_spaces;
  pass.n_half_spaces = colliders->n_half_spaces;
  pass.body_pairs = colliders->pairs;
  *bound = free_bound(alpha_max);
  run_pass(&pass, (int64_t)colliders->surface->n_point * colliders->n_half_spaces, n_threads,
           bound);
}
