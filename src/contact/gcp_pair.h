// One pair of the geometric contact potential: value, gradient and Hessian over its stencil, the
// vertices of both elements and the rings that enter their direction terms.
//
// The potential P = w M(x) G(r, rings) p(|r|) is differentiated through its logarithm,
//   grad P = P grad log P,  Hess P = P (grad log P grad log P^T + Hess log P),
// which is a sum over factors, first over slots: r and the vectors that leave the first vertex of
// each element. Then r, a function of at most four vertices, is expanded: with the family
// r + sum_k c_k s_k of collide/closest.h, S^T r = 0 and S^T S = I, projector Q = I - S S^T,
//   dr = Q dr0 - sum_k s_k (r . ds_k),                        r0 = sum_i weight_i x_i,
//   g . d2r = 2 sum_k [(Q g . ds_k) dc_k - (g . s_k) (ds_k . dr)],  dc_k = -(ds_k . r + s_k . dr0).
#pragma once

#include "collide/closest.h"
#include "contact/gcp_model.h"

// Elements of a pair, the first with fewer vertices. Kinds name those of collide/closest.h; a
// half-space stands for the second element of NOLI_GCP_VERTEX_PLANE.
typedef enum NoliGcpKind {
  NOLI_GCP_VERTEX_VERTEX,
  NOLI_GCP_VERTEX_EDGE,
  NOLI_GCP_VERTEX_FACE,
  NOLI_GCP_EDGE_EDGE,
  NOLI_GCP_VERTEX_PLANE,
} NoliGcpKind;
enum { NOLI_GCP_KINDS = 5 };

typedef struct NoliGcpPair {
  NoliGcpKind kind;
  int32_t element[2];
} NoliGcpPair;

// Value at x, in m^2; 0 where the pair does not act, +INFINITY where it touches. `d` receives the
// distance if the value is not 0.
double noli_gcp_pair_value(const NoliGcpModel* model, NoliGcpPair pair, const double* x, double* d);

// M g_G g_H of a pair, 0 where it does not act: how much it counts as contact.
double noli_gcp_pair_factor(const NoliGcpModel* model, NoliGcpPair pair, const double* x);

// Vertices of the elements themselves, those of the first element first. Returns their number.
int32_t noli_gcp_pair_vertices(const NoliGcpModel* model, NoliGcpPair pair, int32_t vertex[4]);

// The vertices at the ends of the slots of both elements, those of the first element first; NULL
// counts only. A vertex has its ring, an edge its second vertex and the third ones of its faces. In
// a plane a vertex has the one before and the one behind, an edge has none.
// `n_first` receives the slots of the first element. Returns the number of slots.
int32_t noli_gcp_pair_slots(const NoliGcpModel* model, NoliGcpPair pair, int32_t* vertex,
                            int32_t* n_first);

// The stencil of a pair: distinct vertices, those of the elements first.
typedef struct NoliGcpStencil {
  int32_t n_node;
  int32_t n_slot;
  const int32_t* node; // (n_node) global vertices
  const int32_t* slot; // (n_slot) where in `node` the end of each slot stands
} NoliGcpStencil;

// Doubles that noli_gcp_pair_derivatives needs for a stencil of this size.
int64_t noli_gcp_scratch_size(int32_t n_node, int32_t n_slot);

// Where results go; NULL where they are not wanted.
typedef struct NoliGcpResult {
  double* gradient; // (3 n_node)
  double* hessian;  // blocks (a, b), a <= b, of noli_stencil_block(n_node, a, b), each 3x3
  bool projected;   // to the positive semi-definite cone
} NoliGcpResult;

// Derivatives at x. Zero where the pair does not act, NaN where it touches. `memory` has
// noli_gcp_scratch_size doubles.
void noli_gcp_pair_derivatives(const NoliGcpModel* model, NoliGcpPair pair,
                               const NoliGcpStencil* stencil, const double* x, double* memory,
                               const NoliGcpResult* result);
