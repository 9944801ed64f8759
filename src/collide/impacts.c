#include "collide/impacts.h"

#include "base/parallel.h"
#include "base/sort.h"
#include "mesh/topology.h"
#include "collide/clear_motion.h"

enum { BLOCK = 128 };

void noli_impacts_free(NoliContext* context, NoliImpacts* impacts) {
  noli_array_free(context, &impacts->impact);
  noli_array_free(context, &impacts->toi);
  noli_point_edges_free(context, &impacts->point_edges);
}

int32_t noli_primitives_vertices(const NoliSurface* surface, NoliPrimitives kind, int32_t a,
                                 int32_t b, int32_t vertex[4]) {
  vertex[0] = a;
  switch (kind) {
  case NOLI_PRIMITIVES_POINT_TRIANGLE:
    for (int32_t k = 0; k < 3; k++) {
      vertex[k + 1] = surface->tri[3 * (int64_t)b + k];
    }
    return 4;
  case NOLI_PRIMITIVES_EDGE_EDGE:
    for (int32_t k = 0; k < 2; k++) {
      vertex[k] = surface->edge[2 * (int64_t)a + k];
      vertex[k + 2] = surface->edge[2 * (int64_t)b + k];
    }
    return 4;
  case NOLI_PRIMITIVES_POINT_EDGE:
    vertex[1] = surface->edge[2 * (int64_t)b];
    vertex[2] = surface->edge[2 * (int64_t)b + 1];
    vertex[3] = NOLI_NULL_INDEX;
    return 3;
  case NOLI_PRIMITIVES_HALF_SPACE:
    break;
  }
  vertex[1] = vertex[2] = vertex[3] = NOLI_NULL_INDEX;
  return 1;
}

int64_t noli_candidates_count(const NoliCandidates* candidates) {
  return candidates->point_triangle.count + candidates->edge_edge.count;
}

bool noli_candidates_vertices(const NoliCandidates* candidates, const NoliSurface* surface,
                              int64_t i, int32_t vertex[4]) {
  int64_t n = candidates->point_triangle.count;
  bool is_edge = i >= n;
  NoliPrimitivePair pair =
      is_edge ? candidates->edge_edge.data[i - n] : candidates->point_triangle.data[i];
  noli_primitives_vertices(surface,
                           is_edge ? NOLI_PRIMITIVES_EDGE_EDGE : NOLI_PRIMITIVES_POINT_TRIANGLE,
                           pair.a, pair.b, vertex);
  return is_edge;
}

// One pass over the pairs of one kind.
typedef struct Pass {
  const NoliSurface* surface;
  const double* x_t0;
  const double* x_t1;
  NoliCcdOptions options;
  NoliClearMotion clear;
  NoliPrimitives kind;
  const NoliPrimitivePair* pair; // NULL: all surface vertices with all planes
  const NoliHalfSpace* half_spaces;
  int32_t n_half_spaces;
  const NoliBodyPairs* body_pairs;
  double* toi; // per pair; 1: no impact
} Pass;

static NoliPrimitivePair pair_at(const Pass* pass, int64_t item) {
  return pass->pair != NULL
             ? pass->pair[item]
             : (NoliPrimitivePair){.a = pass->surface->point[item / pass->n_half_spaces],
                                   .b = (int32_t)(item % pass->n_half_spaces)};
}

// Whether two segments meet in a plane, where only their ends can touch.
static bool is_planar(const NoliSurface* surface, const int32_t vertex[4]) {
  return noli_surface_is_planar(surface, surface->body[vertex[0]], surface->body[vertex[2]]);
}

// The options of a pair with the vertices `vertex` (n) or, if n is 1, half-space `plane`: in `own`
// where its bodies have offsets, or a contact distance that is not that of the scene.
static const NoliCcdOptions* options_of(const Pass* pass, const int32_t* vertex, int32_t n,
                                        int32_t plane, NoliCcdOptions* own) {
  const NoliSurface* surface = pass->surface;
  int32_t a = surface->body[vertex[0]];
  int32_t b = n == 1 ? surface->n_body + plane : surface->body[vertex[n - 1]];
  double range = noli_body_pairs_range(pass->body_pairs, a, b);
  if (surface->offset == NULL && range == 1.0) {
    return &pass->options;
  }
  *own = pass->options;
  if (surface->offset != NULL) {
    own->min_separation += n == 1 ? surface->offset[a] : noli_surface_offset(surface, a, b);
  }
  own->gap_cap *= range;
  own->small_gap *= range;
  return own;
}

static double time_of_impact(const Pass* pass, NoliPrimitivePair pair) {
  int32_t vertex[4];
  NoliVec3 x_t0[4], x_t1[4];
  int32_t n = noli_primitives_vertices(pass->surface, pass->kind, pair.a, pair.b, vertex);
  for (int32_t k = 0; k < n; k++) {
    x_t0[k] = noli_load3(&pass->x_t0[3 * (int64_t)vertex[k]]);
    x_t1[k] = noli_load3(&pass->x_t1[3 * (int64_t)vertex[k]]);
  }
  double toi = 1.0;
  NoliCcdOptions own;
  const NoliCcdOptions* options = options_of(pass, vertex, n, pair.b, &own);

  switch (pass->kind) {
  case NOLI_PRIMITIVES_POINT_TRIANGLE:
    if (!noli_is_clear_point_triangle(&pass->clear, x_t0, x_t1, options, 1.0)) {
      noli_ccd_point_triangle(x_t0, x_t1, options, 1.0, &toi);
    }
    break;
  case NOLI_PRIMITIVES_EDGE_EDGE:
    if (!is_planar(pass->surface, vertex) &&
        !noli_is_clear_edge_edge(&pass->clear, x_t0, x_t1, options, 1.0)) {
      noli_ccd_edge_edge(x_t0, x_t1, options, 1.0, &toi);
    }
    break;
  case NOLI_PRIMITIVES_POINT_EDGE:
    noli_ccd_point_edge(x_t0, x_t1, options, 1.0, &toi);
    break;
  case NOLI_PRIMITIVES_HALF_SPACE:
    if (noli_body_pairs_get(pass->body_pairs, pass->surface->body[pair.a],
                            pass->surface->n_body + pair.b)) {
      const NoliHalfSpace* plane = &pass->half_spaces[pair.b];
      toi = noli_ccd_half_space(x_t0[0], x_t1[0], plane->origin, plane->normal, options, 1.0);
    }
    break;
  }
  return toi;
}

static void time_block(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const Pass* pass = user;
  for (int64_t i = begin; i < end; i++) {
    pass->toi[i] = time_of_impact(pass, pair_at(pass, i));
  }
}

// Times in parallel, then the impacts in the order of the pairs.
static NoliStatus run_pass(NoliImpacts* impacts, NoliContext* context, Pass* pass, int64_t n,
                           int32_t n_threads) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_array_reserve(context, &impacts->toi, n));
  pass->toi = impacts->toi.data;
  noli_parallel_for(n_threads, n, BLOCK, time_block, pass);
  for (int64_t i = 0; i < n; i++) {
    if (pass->toi[i] < 1.0) {
      NoliPrimitivePair pair = pair_at(pass, i);
      NoliImpact impact = {pass->kind, pair.a, pair.b, pass->toi[i]};
      NOLI_PUSH(context, &impacts->impact, impact);
    }
  }
done:
  return status;
}

static int compare_impacts(const void* one, const void* other) {
  const NoliImpact *p = one, *q = other;
  const int32_t key_p[3] = {(int32_t)p->kind, p->a, p->b};
  const int32_t key_q[3] = {(int32_t)q->kind, q->a, q->b};
  return noli_compare_tuples(key_p, key_q, 3);
}

// Pairs come in the order of the surface's points. Vertices of proxies have numbers behind all
// nodes, so that those of a body are above the nodes of the next one.
static void sort_impacts(NoliImpacts* impacts) {
  const NoliImpact* impact = impacts->impact.data;
  for (int64_t i = 1; i < impacts->impact.count; i++) {
    if (compare_impacts(&impact[i - 1], &impact[i]) > 0) {
      noli_sort(impacts->impact.data, impacts->impact.count, sizeof *impact, compare_impacts);
      return;
    }
  }
}

NoliStatus noli_impacts_find(NoliImpacts* impacts, NoliContext* context,
                             const NoliColliders* colliders, const NoliCandidates* candidates,
                             const double* x_t0, const double* x_t1, const NoliCcdOptions* options,
                             int32_t n_threads) {
  NoliStatus status = NOLI_OK;
  const NoliSurface* surface = colliders->surface;
  Pass pass = {.surface = surface,
               .x_t0 = x_t0,
               .x_t1 = x_t1,
               .options = options != NULL ? *options : noli_default_ccd_options(),
               .half_spaces = colliders->half_spaces,
               .n_half_spaces = colliders->n_half_spaces,
               .body_pairs = colliders->pairs};
  pass.clear = noli_clear_motion(surface, x_t0, x_t1, &pass.options, 1.0);
  impacts->impact.count = 0;
  pass.kind = NOLI_PRIMITIVES_POINT_TRIANGLE;
  pass.pair = candidates->point_triangle.data;
  NOLI_TRY(run_pass(impacts, context, &pass, candidates->point_triangle.count, n_threads));
  pass.kind = NOLI_PRIMITIVES_EDGE_EDGE;
  pass.pair = candidates->edge_edge.data;
  NOLI_TRY(run_pass(impacts, context, &pass, candidates->edge_edge.count, n_threads));
  pass.kind = NOLI_PRIMITIVES_HALF_SPACE;
  pass.pair = NULL;
  NOLI_TRY(run_pass(impacts, context, &pass, (int64_t)surface->n_point * colliders->n_half_spaces,
                    n_threads));
  NOLI_TRY(noli_point_edges_find(&impacts->point_edges, context, surface,
                                 NOLI_POINT_EDGES_IN_PLANES, candidates));
  pass.kind = NOLI_PRIMITIVES_POINT_EDGE;
  pass.pair = impacts->point_edges.pair.data;
  NOLI_TRY(run_pass(impacts, context, &pass, impacts->point_edges.pair.count, n_threads));
  sort_impacts(impacts);
done:
  return status;
}

const NoliImpact* noli_impacts_earliest(const NoliImpacts* impacts) {
  const NoliImpact* earliest = NULL;
  for (int64_t i = 0; i < impacts->impact.count; i++) {
    const NoliImpact* impact = &impacts->impact.data[i];
    if (earliest == NULL || impact->toi < earliest->toi) {
      earliest = impact;
    }
  }
  return earliest;
}
