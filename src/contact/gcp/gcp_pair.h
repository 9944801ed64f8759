// One pair of the geometric contact potential: value, gradient and Hessian over its stencil, which
// consists of the vertices of both elements and of the rings that enter their direction terms.
//
// The potential P = w M(x) G(r, rings) p(|r|) is differentiated through its logarithm,
//   grad P = P grad log P,  Hess P = P (grad log P grad log P^T + Hess log P),
// a sum over factors. The factors are differentiated with respect to slots: r and the vectors that
// leave the first vertex of each element. Then r, a function of at most four vertices, is expanded:
// with the family
// r + sum_k c_k s_k of collide/closest.h, S^T r = 0 and S^T S = I, projector Q = I - S S^T,
//   dr = Q dr0 - sum_k s_k (r . ds_k),                        r0 = sum_i weight_i x_i,
//   g . d2r = 2 sum_k [(Q g . ds_k) dc_k - (g . s_k) (ds_k . dr)],  dc_k = -(ds_k . r + s_k . dr0).
#pragma once

#include "collide/closest.h"
#include "contact/gcp/gcp_model.h"

// Elements of a pair, the one with fewer vertices first. The second element of
// NOLI_GCP_VERTEX_PLANE is a half-space.
typedef enum NoliGcpKind {
  NOLI_GCP_VERTEX_VERTEX,
  NOLI_GCP_VERTEX_EDGE,
  NOLI_GCP_VERTEX_FACE,
  NOLI_GCP_EDGE_EDGE,
  NOLI_GCP_VERTEX_PLANE,
} NoliGcpKind;
enum { NOLI_GCP_KINDS = 5 };

// The closest-point formula of each kind; half-spaces do not use it.
static const NoliPairKind noli_gcp_closest_kind[NOLI_GCP_KINDS] = {
    NOLI_PAIR_POINT_POINT, NOLI_PAIR_POINT_EDGE, NOLI_PAIR_POINT_TRIANGLE, NOLI_PAIR_EDGE_EDGE,
    NOLI_PAIR_POINT_POINT};

typedef struct NoliGcpPair {
  NoliGcpKind kind;
  int32_t element[2];
} NoliGcpPair;

// Value at x, in m^2; 0 if the pair does not act, +INFINITY if it touches. `d` receives the
// distance if the value is not 0.
double noli_gcp_pair_value(const NoliGcpModel* model, NoliGcpPair pair, const double* x, double* d);

// M g_G g_H of a pair, 0 if it does not act: its weight as a contact.
double noli_gcp_pair_factor(const NoliGcpModel* model, NoliGcpPair pair, const double* x);

// The weights of both elements, and where they are among the inputs (linalg/input.h): a half-space
// has that of the vertex that meets it.
void noli_gcp_pair_weights(const NoliGcpModel* model, NoliGcpPair pair, double weight[2],
                           int64_t input[2]);

// The vertex with the smallest support, which is that of the pair.
int32_t noli_gcp_pair_least_vertex(const NoliGcpModel* model, NoliGcpPair pair);

// Vertices of the elements themselves, those of the first element first. Returns their number.
int32_t noli_gcp_pair_vertices(const NoliGcpModel* model, NoliGcpPair pair, int32_t vertex[4]);

// The vertices at the ends of the slots of both elements, those of the first element first. A
// vertex has its ring, an edge its second vertex and the third vertices of its faces. In a plane a
// vertex has the previous and the next one of its curve, an edge has none. `vertex` and `n_first`,
// which receives the number of slots of the first element, may be NULL. Returns the number of
// slots.
int32_t noli_gcp_pair_slots(const NoliGcpModel* model, NoliGcpPair pair, int32_t* vertex,
                            int32_t* n_first);

// The stencil of a pair: distinct vertices, those of the elements first.
typedef struct NoliGcpStencil {
  int32_t n_node;
  int32_t n_slot;
  const int32_t* node; // (n_node) global vertices
  const int32_t* slot; // (n_slot) index in `node` of the end of each slot
} NoliGcpStencil;

// Doubles that noli_gcp_pair_derivatives needs for a stencil of this size.
int64_t noli_gcp_scratch_size(int32_t n_node, int32_t n_slot);

// Receives the derivatives; NULL for those that are not wanted.
typedef struct NoliGcpResult {
  double* gradient; // (3 n_node)
  double* hessian;  // blocks (a, b), a <= b, of noli_stencil_block(n_node, a, b), each 3x3
  bool projected;   // to the positive semi-definite cone
} NoliGcpResult;

// Derivatives at x. Zero if the pair does not act, NaN if it touches. `memory` has
// noli_gcp_scratch_size doubles.
void noli_gcp_pair_derivatives(const NoliGcpModel* model, NoliGcpPair pair,
                               const NoliGcpStencil* stencil, const double* x, double* memory,
                               const NoliGcpResult* result);
