#include "contact/gcp/gcp_set.h"

#include "base/parallel.h"
#include "base/validate.h"
#include "collide/separation.h"

#include <string.h>

enum { MASK_BLOCK = 256, ENERGY_BLOCK = 64 };

void noli_gcp_set_init(NoliGcpSet* set) {
  *set = (NoliGcpSet){.min_distance = (double)INFINITY};
}

static void free_scratch(NoliContext* context, NoliGcpSet* set) {
  for (int32_t i = 0; i < set->n_scratch; i++) {
    noli_free(context, set->scratch[i].memory);
  }
  noli_free(context, set->scratch);
  set->scratch = NULL;
  set->n_scratch = 0;
}

void noli_gcp_set_free(NoliContext* context, NoliGcpSet* set) {
  noli_array_free(context, &set->pair);
  noli_array_free(context, &set->d);
  noli_array_free(context, &set->first);
  noli_array_free(context, &set->first_block);
  noli_array_free(context, &set->first_slot);
  noli_array_free(context, &set->node);
  noli_array_free(context, &set->slot);
  noli_array_free(context, &set->mask);
  noli_point_edges_free(context, &set->point_edges);
  free_scratch(context, set);
}

// -- active pairs

// A candidate of a vertex and a face represents seven pairs: with the face, its edges, its
// vertices.
enum { N_OF_FACE = 7 };

// Pair k of candidate (v, t). Returns false if another candidate provides this pair.
static bool pair_of_face(const NoliGcpModel* model, int32_t v, int32_t t, int k,
                         NoliGcpPair* pair) {
  const NoliRings* rings = model->rings;
  if (k == 0) {
    *pair = (NoliGcpPair){NOLI_GCP_VERTEX_FACE, {v, t}};
    return true;
  }
  if (k <= 3) {
    int32_t e = rings->tri_edge[3 * (int64_t)t + k - 1];
    const int32_t* opposite = rings->edge_opposite + 2 * (int64_t)e;
    *pair = (NoliGcpPair){NOLI_GCP_VERTEX_EDGE, {v, e}};
    return rings->edge_tri[e] == t && opposite[0] != v && opposite[1] != v;
  }
  int32_t w = model->surface->tri[3 * (int64_t)t + k - 4];
  if (!(v < w && rings->vert_tri[w] == t)) {
    return false;
  }
  *pair = (NoliGcpPair){NOLI_GCP_VERTEX_VERTEX, {v, w}};
  for (int32_t i = rings->ring_first[v]; i < rings->ring_first[v + 1]; i++) {
    if (rings->ring[i] == w) {
      return false;
    }
  }
  return true;
}

static bool shares_vertex(const int32_t* a, int na, const int32_t* b, int nb) {
  for (int i = 0; i < na; i++) {
    for (int j = 0; j < nb; j++) {
      if (a[i] == b[j]) {
        return true;
      }
    }
  }
  return false;
}

// A pair with a NaN value also acts, so that a later check detects it.
static bool gcp_set_acts(const NoliGcpModel* model, NoliGcpPair pair, const double* x) {
  double d;
  return !(noli_gcp_pair_value(model, pair, x, &d) <= 0.0);
}

// All candidates in one sequence: vertices and faces, edges, vertices and edges in a plane,
// vertices and half-spaces.
typedef struct Items {
  const NoliCandidates* candidates;
  const NoliPointEdges* point_edges;
  int64_t edge_first, flat_first, plane_first, n;
} Items;

typedef struct MaskJob {
  const NoliGcpModel* model;
  const Items* items;
  const double* x;
  double largest; // coordinate
  uint8_t* mask;
} MaskJob;

static uint8_t mask_of_face(const MaskJob* job, NoliPrimitivePair candidate) {
  const NoliGcpModel* model = job->model;
  const double* x = job->x;
  const int32_t* t = model->surface->tri + 3 * (int64_t)candidate.b;
  NoliVec3 y[4] = {noli_load3(x + 3 * (int64_t)candidate.a)};
  for (int i = 0; i < 3; i++) {
    y[i + 1] = noli_load3(x + 3 * (int64_t)t[i]);
  }
  if (noli_centers_are_far(1, y, model->max_eps, job->largest) ||
      noli_distance_sqr_point_triangle(y) >= model->max_eps * model->max_eps ||
      shares_vertex(&candidate.a, 1, t, 3)) {
    return 0;
  }
  uint8_t mask = 0;
  for (int k = 0; k < N_OF_FACE; k++) {
    NoliGcpPair pair;
    if (pair_of_face(model, candidate.a, candidate.b, k, &pair) && gcp_set_acts(model, pair, x)) {
      mask = (uint8_t)(mask | 1u << k);
    }
  }
  return mask;
}

static bool bodies_are_closed(const NoliSurface* surface, const NoliRings* rings, int32_t a,
                              int32_t b) {
  return rings->flaw[surface->body[a]].kind == NOLI_FLAW_NONE &&
         rings->flaw[surface->body[b]].kind == NOLI_FLAW_NONE;
}

// A candidate of a vertex and an edge in a plane represents three pairs: with the edge, its
// vertices.
enum { N_OF_EDGE = 3 };

// As pair_of_face.
static bool pair_of_edge(const NoliGcpModel* model, int32_t v, int32_t e, int k,
                         NoliGcpPair* pair) {
  const NoliRings* rings = model->rings;
  if (k == 0) {
    *pair = (NoliGcpPair){NOLI_GCP_VERTEX_EDGE, {v, e}};
    return true;
  }
  int32_t w = model->surface->edge[2 * (int64_t)e + k - 1];
  const int32_t* side = rings->curve + 2 * (int64_t)w;
  *pair = (NoliGcpPair){NOLI_GCP_VERTEX_VERTEX, {v, w}};
  return v < w && rings->curve_edge[w] == e && side[0] != v && side[1] != v;
}

static uint8_t mask_of_edge(const NoliGcpModel* model, NoliPrimitivePair candidate,
                            const double* x) {
  const int32_t* edge = model->surface->edge + 2 * (int64_t)candidate.b;
  uint8_t mask = 0;
  if (shares_vertex(&candidate.a, 1, edge, 2) ||
      !bodies_are_closed(model->surface, model->rings, candidate.a, edge[0])) {
    return 0;
  }
  for (int k = 0; k < N_OF_EDGE; k++) {
    NoliGcpPair pair;
    if (pair_of_edge(model, candidate.a, candidate.b, k, &pair) && gcp_set_acts(model, pair, x)) {
      mask = (uint8_t)(mask | 1u << k);
    }
  }
  return mask;
}

static uint8_t mask_of_edges(const MaskJob* job, NoliPrimitivePair candidate) {
  const NoliGcpModel* model = job->model;
  const double* x = job->x;
  if (model->space == 2) {
    return 0; // candidates of vertices and edges represent them
  }
  const int32_t* a = model->surface->edge + 2 * (int64_t)candidate.a;
  const int32_t* b = model->surface->edge + 2 * (int64_t)candidate.b;
  const NoliGcpPair pair = {NOLI_GCP_EDGE_EDGE, {candidate.a, candidate.b}};
  NoliVec3 y[4];
  for (int i = 0; i < 2; i++) {
    y[i] = noli_load3(x + 3 * (int64_t)a[i]);
    y[i + 2] = noli_load3(x + 3 * (int64_t)b[i]);
  }
  return !noli_centers_are_far(2, y, model->max_eps, job->largest) && !shares_vertex(a, 2, b, 2) &&
         gcp_set_acts(model, pair, x);
}

static Items items_of(const NoliGcpModel* model, const NoliCandidates* candidates,
                      const NoliPointEdges* point_edges) {
  Items items = {.candidates = candidates, .point_edges = point_edges};
  items.edge_first = candidates->point_triangle.count;
  items.flat_first = items.edge_first + candidates->edge_edge.count;
  items.plane_first = items.flat_first + point_edges->pair.count;
  items.n = items.plane_first + (int64_t)model->surface->n_point * model->n_half_spaces;
  return items;
}

static NoliGcpPair plane_pair(const NoliGcpModel* model, int64_t i) {
  const NoliSurface* s = model->surface;
  return (NoliGcpPair){NOLI_GCP_VERTEX_PLANE,
                       {s->point[i % s->n_point], (int32_t)(i / s->n_point)}};
}

static bool plane_allowed(const NoliGcpModel* model, NoliGcpPair pair) {
  const NoliSurface* surface = model->surface;
  return noli_body_pairs_get(model->pairs, surface->body[pair.element[0]],
                             surface->n_body + pair.element[1]);
}

static void mask_range(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const MaskJob* job = user;
  const NoliGcpModel* model = job->model;
  const Items* items = job->items;
  for (int64_t i = begin; i < end; i++) {
    if (i < items->edge_first) {
      NoliPrimitivePair c = items->candidates->point_triangle.data[i];
      int32_t t0 = model->surface->tri[3 * (int64_t)c.b];
      job->mask[i] =
          bodies_are_closed(model->surface, model->rings, c.a, t0) ? mask_of_face(job, c) : 0;
    } else if (i < items->flat_first) {
      NoliPrimitivePair c = items->candidates->edge_edge.data[i - items->edge_first];
      job->mask[i] = mask_of_edges(job, c);
    } else if (i < items->plane_first) {
      NoliPrimitivePair c = items->point_edges->pair.data[i - items->flat_first];
      job->mask[i] = mask_of_edge(model, c, job->x);
    } else {
      NoliGcpPair pair = plane_pair(model, i - items->plane_first);
      job->mask[i] = plane_allowed(model, pair) && gcp_set_acts(model, pair, job->x);
    }
  }
}

// -- stencils

// Appends the stencil of the last pair.
static NoliStatus push_stencil(NoliGcpSet* set, NoliContext* context, const NoliGcpModel* model,
                               NoliGcpPair pair) {
  NoliStatus status = NOLI_OK;
  int32_t vertex[4], n_vertex = noli_gcp_pair_vertices(model, pair, vertex);
  int32_t n_slot = noli_gcp_pair_slots(model, pair, NULL, NULL);
  NOLI_TRY(noli_array_reserve(context, &set->node, set->node.count + n_vertex + n_slot));
  NOLI_TRY(noli_array_reserve(context, &set->slot, set->slot.count + n_slot));

  // the vertices of the elements, then the ends of slots, each vertex once
  int32_t* node = set->node.data + set->node.count;
  int32_t* slot = set->slot.data + set->slot.count;
  int32_t n_node = n_vertex;
  memcpy(node, vertex, (size_t)n_vertex * sizeof *node);
  noli_gcp_pair_slots(model, pair, slot, NULL);
  for (int32_t s = 0; s < n_slot; s++) {
    int32_t at = 0;
    while (at < n_node && node[at] != slot[s]) {
      at++;
    }
    if (at == n_node) {
      node[n_node++] = slot[s];
    }
    slot[s] = at;
  }
  set->node.count += n_node;
  set->slot.count += n_slot;

  // offsets of the next stencil
  int64_t n_block = noli_stencil_blocks(n_node);
  NOLI_PUSH(context, &set->first, set->node.count);
  NOLI_PUSH(context, &set->first_slot, set->slot.count);
  n_block += set->first_block.data[set->first_block.count - 1];
  NOLI_PUSH(context, &set->first_block, n_block);
  int64_t size = noli_gcp_scratch_size(n_node, n_slot) + 3 * n_node;
  set->scratch_size = size > set->scratch_size ? size : set->scratch_size;
done:
  return status;
}

static NoliStatus push_pair(NoliGcpSet* set, NoliContext* context, const NoliGcpModel* model,
                            NoliGcpPair pair, const double* x) {
  NoliStatus status = NOLI_OK;
  double d = (double)NAN;
  noli_gcp_pair_value(model, pair, x, &d);
  NOLI_PUSH(context, &set->pair, pair);
  NOLI_PUSH(context, &set->d, d);
  set->count[pair.kind]++;
  set->min_distance = d < set->min_distance ? d : set->min_distance;
  NOLI_TRY(push_stencil(set, context, model, pair));
done:
  return status;
}

// The pairs of a candidate that act.
static NoliStatus push_candidate(NoliGcpSet* set, NoliContext* context, const NoliGcpModel* model,
                                 const Items* items, const double* x, int64_t i) {
  NoliStatus status = NOLI_OK;
  NoliGcpPair pair;
  bool face = i < items->edge_first;

  // a vertex with a face or an edge: every pair of its mask
  if (face || (i >= items->flat_first && i < items->plane_first)) {
    NoliPrimitivePair c = face ? items->candidates->point_triangle.data[i]
                               : items->point_edges->pair.data[i - items->flat_first];
    for (int k = 0; k < (face ? N_OF_FACE : N_OF_EDGE); k++) {
      if ((set->mask.data[i] >> k & 1) != 0 &&
          (face ? pair_of_face : pair_of_edge)(model, c.a, c.b, k, &pair)) {
        NOLI_TRY(push_pair(set, context, model, pair, x));
      }
    }
    goto done;
  }

  // two edges, or a vertex with a half-space: a single pair
  if (i < items->flat_first) {
    NoliPrimitivePair c = items->candidates->edge_edge.data[i - items->edge_first];
    pair = (NoliGcpPair){NOLI_GCP_EDGE_EDGE, {c.a, c.b}};
  } else {
    pair = plane_pair(model, i - items->plane_first);
  }
  NOLI_TRY(push_pair(set, context, model, pair, x));
done:
  return status;
}

static NoliStatus reserve_scratch(NoliGcpSet* set, NoliContext* context, int32_t n_threads) {
  NoliStatus status = NOLI_OK;
  if (n_threads > set->n_scratch) {
    free_scratch(context, set);
    NOLI_NEW_ZERO(context, set->scratch, n_threads);
    set->n_scratch = n_threads;
    for (int32_t i = 0; i < n_threads; i++) {
      atomic_flag_clear(&set->scratch[i].used);
    }
  }
  for (int32_t i = 0; i < set->n_scratch; i++) {
    NOLI_TRY(noli_grow(context, (void**)&set->scratch[i].memory, &set->scratch[i].capacity,
                       set->scratch_size, sizeof(double)));
  }
done:
  return status;
}

NoliStatus noli_gcp_set_build(NoliGcpSet* set, NoliContext* context, const NoliGcpModel* model,
                              const NoliCandidates* candidates, const double* x,
                              int32_t n_threads) {
  NoliStatus status = NOLI_OK;

  // start with an empty set
  set->pair.count = set->d.count = set->node.count = set->slot.count = 0;
  set->first.count = set->first_block.count = set->first_slot.count = 0;
  set->min_distance = (double)INFINITY;
  memset(set->count, 0, sizeof set->count);
  NOLI_PUSH(context, &set->first, 0);
  NOLI_PUSH(context, &set->first_block, 0);
  NOLI_PUSH(context, &set->first_slot, 0);

  // find the pairs that act, in parallel
  NOLI_TRY(noli_point_edges_find(&set->point_edges, context, model->surface,
                                 NOLI_POINT_EDGES_IN_PLANES, candidates));
  const Items items = items_of(model, candidates, &set->point_edges);
  NOLI_TRY(noli_array_reserve(context, &set->mask, items.n));
  MaskJob job = {.model = model,
                 .items = &items,
                 .x = x,
                 .largest = noli_surface_largest_coordinate(model->surface, x),
                 .mask = set->mask.data};
  noli_parallel_for(n_threads, items.n, MASK_BLOCK, mask_range, &job);

  // list them in the order of candidates
  for (int64_t i = 0; i < items.n; i++) {
    if (set->mask.data[i] != 0) {
      NOLI_TRY(push_candidate(set, context, model, &items, x, i));
    }
  }
  NOLI_TRY(reserve_scratch(set, context, n_threads < 1 ? 1 : n_threads));
  NOLI_VALIDATE(context, noli_gcp_set_defect(set, model->surface->n_vert));
done:
  return status;
}

// -- evaluation

// There is one scratch for each thread, so one is always free.
NoliGcpScratch* noli_gcp_set_claim(const NoliGcpSet* set) {
  for (int32_t i = 0;; i = i + 1 < set->n_scratch ? i + 1 : 0) {
    if (!atomic_flag_test_and_set_explicit(&set->scratch[i].used, memory_order_acquire)) {
      return &set->scratch[i];
    }
  }
}

void noli_gcp_set_release(NoliGcpScratch* scratch) {
  atomic_flag_clear_explicit(&scratch->used, memory_order_release);
}

NoliGcpStencil noli_gcp_set_stencil(const NoliGcpSet* set, int64_t i) {
  int64_t node = set->first.data[i], slot = set->first_slot.data[i];
  return (NoliGcpStencil){.n_node = (int32_t)(set->first.data[i + 1] - node),
                          .n_slot = (int32_t)(set->first_slot.data[i + 1] - slot),
                          .node = set->node.data + node,
                          .slot = set->slot.data + slot};
}

static void scale_values(double* value, int64_t n, double scale) {
  for (int64_t i = 0; i < n; i++) {
    value[i] *= scale;
  }
}

void noli_gcp_evaluate(const void* gcp, const double* x, int64_t begin, int64_t end, unsigned what,
                       const NoliLocal* out) {
  const NoliGcp* of = gcp;
  const NoliGcpSet* set = of->set;
  bool gradient = (what & NOLI_EVAL_GRADIENT) != 0;
  bool hessian = (what & (NOLI_EVAL_HESSIAN | NOLI_EVAL_PROJECTED)) != 0;
  NoliGcpScratch* scratch = gradient || hessian ? noli_gcp_set_claim(set) : NULL;
  for (int64_t i = begin; i < end; i++) {
    NoliGcpPair pair = set->pair.data[i];
    if ((what & NOLI_EVAL_ENERGY) != 0) {
      double d;
      out->energy[i - begin] = of->scale * noli_gcp_pair_value(of->model, pair, x, &d);
    }
    if (!gradient && !hessian) {
      continue;
    }

    // derivatives are written directly to the output
    int64_t node = set->first.data[i] - set->first.data[begin];
    int64_t block = set->first_block.data[i] - set->first_block.data[begin];
    const NoliGcpStencil stencil = noli_gcp_set_stencil(set, i);
    const NoliGcpResult result = {.gradient = gradient ? out->gradient + 3 * node : NULL,
                                  .hessian = hessian ? out->hessian + 9 * block : NULL,
                                  .projected = (what & NOLI_EVAL_PROJECTED) != 0};
    noli_gcp_pair_derivatives(of->model, pair, &stencil, x, scratch->memory, &result);

    // the scale of the potential
    if (gradient) {
      scale_values(result.gradient, 3 * (int64_t)stencil.n_node, of->scale);
    }
    if (hessian) {
      scale_values(result.hessian, 9 * (int64_t)noli_stencil_blocks(stencil.n_node), of->scale);
    }
  }

  // only derivatives need memory
  if (scratch != NULL) {
    noli_gcp_set_release(scratch);
  }
}

double noli_gcp_pair_support(const NoliGcpModel* model, NoliGcpPair pair) {
  int32_t vertex[4], n = noli_gcp_pair_vertices(model, pair, vertex);
  double eps = model->vert_eps[vertex[0]];
  for (int32_t k = 1; k < n; k++) {
    eps = fmin(eps, model->vert_eps[vertex[k]]);
  }
  return eps;
}

NoliEnergyTerm noli_gcp_term(const NoliGcp* gcp) {
  const NoliGcpSet* set = gcp->set;
  return (NoliEnergyTerm){.name = "geometric contact potential",
                          .data = gcp,
                          .evaluate = noli_gcp_evaluate,
                          .n_stencil = set->pair.count,
                          .node = set->node.data,
                          .first = set->first.data,
                          .first_block = set->first_block.data};
}

typedef struct EnergyJob {
  const NoliGcp* gcp;
  const double* x;
} EnergyJob;

static double energy_range(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const EnergyJob* job = user;
  double sum = 0.0, d;
  for (int64_t i = begin; i < end; i++) {
    sum += noli_gcp_pair_value(job->gcp->model, job->gcp->set->pair.data[i], job->x, &d);
  }
  return sum;
}

double noli_gcp_energy(const NoliGcp* gcp, const double* x, int32_t n_threads) {
  EnergyJob job = {gcp, x};
  return gcp->scale *
         noli_parallel_sum(n_threads, gcp->set->pair.count, ENERGY_BLOCK, energy_range, &job);
}

// -- scenes with other contact models

NoliStatus noli_gcp_split_candidates(NoliContext* context, const NoliSurface* surface,
                                     const NoliRings* rings, const NoliCandidates* candidates,
                                     NoliCandidates* closed, NoliCandidates* open) {
  NoliStatus status = NOLI_OK;
  closed->point_triangle.count = open->point_triangle.count = 0;
  closed->edge_edge.count = open->edge_edge.count = 0;
  for (int64_t i = 0; i < candidates->point_triangle.count; i++) {
    NoliPrimitivePair c = candidates->point_triangle.data[i];
    bool both = bodies_are_closed(surface, rings, c.a, surface->tri[3 * (int64_t)c.b]);
    NOLI_PUSH(context, both ? &closed->point_triangle : &open->point_triangle, c);
  }
  for (int64_t i = 0; i < candidates->edge_edge.count; i++) {
    NoliPrimitivePair c = candidates->edge_edge.data[i];
    bool both = bodies_are_closed(surface, rings, surface->edge[2 * (int64_t)c.a],
                                  surface->edge[2 * (int64_t)c.b]);
    NOLI_PUSH(context, both ? &closed->edge_edge : &open->edge_edge, c);
  }
done:
  return status;
}

NoliStatus noli_gcp_inner_candidates(NoliContext* context, const NoliSurface* surface,
                                     const uint8_t* marked, const NoliCandidates* candidates,
                                     NoliCandidates* inside) {
  NoliStatus status = NOLI_OK;
  inside->point_triangle.count = inside->edge_edge.count = 0;
  for (int64_t i = 0; i < candidates->point_triangle.count; i++) {
    NoliPrimitivePair c = candidates->point_triangle.data[i];
    int32_t body = surface->body[c.a];
    if (marked[body] && surface->body[surface->tri[3 * (int64_t)c.b]] == body) {
      NOLI_PUSH(context, &inside->point_triangle, c);
    }
  }
  for (int64_t i = 0; i < candidates->edge_edge.count; i++) {
    NoliPrimitivePair c = candidates->edge_edge.data[i];
    int32_t body = surface->body[surface->edge[2 * (int64_t)c.a]];
    if (marked[body] && surface->body[surface->edge[2 * (int64_t)c.b]] == body) {
      NOLI_PUSH(context, &inside->edge_edge, c);
    }
  }
done:
  return status;
}

// -- validation

// Candidates are sorted by their first element, so a duplicate pair is among the neighbours with
// the same first element.
static bool is_repeated(const NoliGcpSet* set, int64_t i) {
  const NoliGcpPair* pair = &set->pair.data[i];
  for (int64_t j = i - 1; j >= 0 && set->pair.data[j].element[0] == pair->element[0]; j--) {
    if (set->pair.data[j].kind == pair->kind && set->pair.data[j].element[1] == pair->element[1]) {
      return true;
    }
  }
  return false;
}

static const char* stencil_defect(const NoliGcpSet* set, int64_t i, int32_t n_vert) {
  const NoliGcpStencil stencil = noli_gcp_set_stencil(set, i);
  NOLI_RULE(stencil.n_node > 0 && stencil.n_slot >= 0, "geometric pairs: stencils do not ascend");
  NOLI_RULE(set->first_block.data[i + 1] ==
                set->first_block.data[i] + noli_stencil_blocks(stencil.n_node),
            "geometric pairs: blocks do not follow each other");
  for (int32_t a = 0; a < stencil.n_node; a++) {
    NOLI_RULE(stencil.node[a] >= 0 && stencil.node[a] < n_vert,
              "geometric pairs: a vertex is out of range");
    for (int32_t b = 0; b < a; b++) {
      NOLI_RULE(stencil.node[b] != stencil.node[a],
                "geometric pairs: a vertex occurs twice in a stencil");
    }
  }
  for (int32_t s = 0; s < stencil.n_slot; s++) {
    NOLI_RULE(stencil.slot[s] >= 0 && stencil.slot[s] < stencil.n_node,
              "geometric pairs: a slot ends at no vertex of its stencil");
  }
  int64_t size = noli_gcp_scratch_size(stencil.n_node, stencil.n_slot) + 3 * stencil.n_node;
  NOLI_RULE(size <= set->scratch_size, "geometric pairs: the scratch is too small");
  return NULL;
}

static const char* scratch_defect(const NoliGcpSet* set) {
  for (int32_t i = 0; i < set->n_scratch; i++) {
    NOLI_RULE(set->scratch[i].capacity >= set->scratch_size,
              "geometric pairs: the scratch is too small");
  }
  return NULL;
}

const char* noli_gcp_set_defect(const NoliGcpSet* set, int32_t n_vert) {
  int64_t n = set->pair.count, count[NOLI_GCP_KINDS] = {0};
  NOLI_RULE(set->d.count == n && set->first.count == n + 1 && set->first_block.count == n + 1 &&
                set->first_slot.count == n + 1 && set->first.data[n] == set->node.count &&
                set->first_slot.data[n] == set->slot.count,
            "geometric pairs: the lists do not hold all of them");
  for (int64_t i = 0; i < n; i++) {
    const NoliGcpPair* pair = &set->pair.data[i];
    NOLI_RULE((unsigned)pair->kind < NOLI_GCP_KINDS, "geometric pairs: a pair has no kind");
    NOLI_RULE(!is_repeated(set, i), "geometric pairs: a pair occurs twice");
    NOLI_RULE(!(set->d.data[i] < set->min_distance),
              "geometric pairs: a pair is closer than the minimum");
    const char* defect = stencil_defect(set, i, n_vert);
    NOLI_RULE(defect == NULL, defect);
    count[pair->kind]++;
  }
  NOLI_RULE(memcmp(count, set->count, sizeof count) == 0,
            "geometric pairs: the numbers of kinds do not add up");
  return scratch_defect(set);
}
