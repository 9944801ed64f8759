// The pairs of the geometric contact potential that act at a configuration, with their stencils.
//
// Each pair is found once: a vertex and a face from their candidate; a vertex and an edge from the
// vertex and the face that runs along the edge; two vertices from the lower one and the first face
// of the other. Each of these candidates is at most as far apart as the pair, so no pair is missed.
// In a plane a vertex and an edge come from a pair of edges (collide/point_edge.h), two vertices
// from the lower one and the edge that leaves the other. Pairs within one face are left out because
// they never act: the vector between them lies in the face, where the distance decreases.
//
// The order depends on x alone: pairs follow their candidates, which are sorted by elements;
// surplus candidates of the broad phase change nothing.
#pragma once

#include "collide/candidates.h"
#include "collide/point_edge.h"
#include "contact/gcp/gcp_pair.h"
#include "linalg/energy_term.h"

#include <stdatomic.h>

// Memory of one worker.
typedef struct NoliGcpScratch {
  double* memory;
  int64_t capacity;
  atomic_flag used;
} NoliGcpScratch;

typedef struct NoliGcpSet {
  NOLI_ARRAY(NoliGcpPair) pair;
  NOLI_ARRAY(double) d;            // (pair.count) distance, m
  NOLI_ARRAY(int64_t) first;       // (pair.count + 1) into node
  NOLI_ARRAY(int64_t) first_block; // (pair.count + 1) blocks of the stencils before
  NOLI_ARRAY(int64_t) first_slot;  // (pair.count + 1) into slot
  NOLI_ARRAY(int32_t) node;        // stencils
  NOLI_ARRAY(int32_t) slot;        // ends of slots, as places in the stencil
  int64_t count[NOLI_GCP_KINDS];   // pairs of each kind
  double min_distance;             // INFINITY when empty
  int64_t scratch_size;            // of the largest stencil
  NoliGcpScratch* scratch;         // (n_scratch)
  int32_t n_scratch;
  NOLI_ARRAY(uint8_t) mask;   // active pairs of each candidate
  NoliPointEdges point_edges; // of the candidates, in a plane
} NoliGcpSet;

void noli_gcp_set_init(NoliGcpSet* set);
void noli_gcp_set_free(NoliContext* context, NoliGcpSet* set);

// Replaces the set by all pairs with a positive value at x (n_vert x 3). The candidates must
// contain every vertex and face and every two edges closer than model->max_eps; those of bodies
// that are not closed are skipped. Allocates only if the set exceeds all previous sizes.
NOLI_WARN_UNUSED NoliStatus noli_gcp_set_build(NoliGcpSet* set, NoliContext* context,
                                               const NoliGcpModel* model,
                                               const NoliCandidates* candidates, const double* x,
                                               int32_t n_threads);

// Validator of a set over n_vert vertices (base/validate.h).
const char* noli_gcp_set_defect(const NoliGcpSet* set, int32_t n_vert);

// The stencil of pair i.
NoliGcpStencil noli_gcp_set_stencil(const NoliGcpSet* set, int64_t i);

// Memory for the derivatives of any pair of the set, and three more doubles per node. No other
// thread uses it until it is released.
NoliGcpScratch* noli_gcp_set_claim(const NoliGcpSet* set);
void noli_gcp_set_release(NoliGcpScratch* scratch);

// The support of a pair: the smallest one of the vertices of its elements.
double noli_gcp_pair_support(const NoliGcpModel* model, NoliGcpPair pair);

// Results of pairs [begin, end) at x, in the layout of energy terms: energy[i], gradients at
// 3 first[i], Hessians at 9 first_block[i]. `what` as in linalg/energy_term.h. May be called from
// as many threads at a time as the set was built for.
typedef struct NoliGcp {
  const NoliGcpModel* model;
  const NoliGcpSet* set;
  double scale; // multiplies everything
} NoliGcp;
void noli_gcp_evaluate(const void* gcp, const double* x, int64_t begin, int64_t end, unsigned what,
                       const NoliLocal* out);

// The set as a term; `gcp` is borrowed.
NoliEnergyTerm noli_gcp_term(const NoliGcp* gcp);

// Sum of the values at x, with the same bits for any number of threads.
double noli_gcp_energy(const NoliGcp* gcp, const double* x, int32_t n_threads);

// Splits candidates into those that the geometric potential handles (both bodies are closed) and
// the others, which are left to the barrier of [Li2020]. Overwrites both; the order is kept.
NOLI_WARN_UNUSED NoliStatus noli_gcp_split_candidates(NoliContext* context,
                                                      const NoliSurface* surface,
                                                      const NoliRings* rings,
                                                      const NoliCandidates* candidates,
                                                      NoliCandidates* closed, NoliCandidates* open);

// Copies to `inside` the candidates whose primitives belong to the same `marked` (n_body) body.
// Overwrites `inside`; the order is kept.
NOLI_WARN_UNUSED NoliStatus noli_gcp_inner_candidates(NoliContext* context,
                                                      const NoliSurface* surface,
                                                      const uint8_t* marked,
                                                      const NoliCandidates* candidates,
                                                      NoliCandidates* inside);
