// The geometric contact potential [Huang2025] of a rest configuration: parameters, weights and
// supports of all elements.
//
// The discrete potential is the sum (eq. 13)
//   Psi = sum over pairs (G, H) of w_G w_H M g_G g_H p_eps(z),  z the distance of the pair,
// over pairs of vertices and faces, edges and edges, vertices and edges, and vertices and vertices
// that are not parts of one face. For bodies in a plane, edges take the role of faces and vertices
// that of edges: pairs consist of vertices and edges, or of two vertices. w = L^(2-m) A for an
// element of dimension m with rest measure A; M is the mollifier, g = g^m g^e is the direction
// term, eps = min(eps_G, eps_H).
#pragma once

#include "base/array.h"
#include "collide/half_space.h"
#include "collide/body_pairs.h"
#include "collide/rings.h"
#include "contact/gcp/gcp_direction.h"

typedef struct NoliGcpParameters {
  NoliGcpSharpness sharpness;
  double eps_target; // largest support, m
  double length;     // L of sharp edges and corners, m; 0: as for others, the length of each
                     // edge and the mean length of the edges of a vertex
  double ramp;       // c of the mollifier
} NoliGcpParameters;

// The limit of supports: half the distance of a pair that would act at rest.
typedef struct NoliGcpLimit {
  int32_t n;
  int32_t vertex[4];
  NoliVec3 derivative[4]; // of half the distance, by these vertices
  bool within;            // a body: rest positions count, else those at the start
} NoliGcpLimit;

typedef struct NoliGcpModel {
  NoliGcpParameters parameters;
  const NoliSurface* surface; // borrowed, like all const members
  const NoliRings* rings;
  const NoliHalfSpace* half_spaces;
  int32_t n_half_spaces;
  const NoliBodyPairs* pairs; // the bodies and half-spaces that may touch; NULL: all may
  double* vert_weight;        // (n_vert) m^2; 0 where the potential does not act
  double* edge_weight;        // (n_edge)
  double* tri_weight;         // (n_tri)
  double* vert_eps;           // (n_vert) support, m
  double* edge_eps;           // (n_edge) smallest of its vertices
  double* tri_eps;            // (n_tri)
  double max_eps;             // of all vertices
  NOLI_ARRAY(NoliGcpLimit) limit;
  int32_t* vert_limit; // (n_vert) the one of its support; NOLI_NULL_INDEX: it is eps_target
  int32_t space;       // 3, or 2 for bodies in a plane, with vertices and edges
} NoliGcpModel;

// Computes weights from the rest positions X (n_vert x 3); the support is eps_target everywhere.
// Elements of bodies that are not closed oriented surfaces get no weight: another contact model
// handles them.
NOLI_WARN_UNUSED NoliStatus noli_gcp_model_init(NoliContext* context, NoliGcpModel* model,
                                                const NoliGcpParameters* parameters,
                                                const NoliSurface* surface, const NoliRings* rings,
                                                const NoliHalfSpace* half_spaces,
                                                int32_t n_half_spaces, const double* X);
void noli_gcp_model_free(NoliContext* context, NoliGcpModel* model);

// Calls `give` with how each weight, by its place among the inputs (linalg/input.h), changes with a
// vertex at the positions X of noli_gcp_model_init. Which edges and vertices are features does not
// change. Fails as `give` does, and with NOLI_ERROR_MEMORY.
typedef NoliStatus NoliGcpWeightDerivativeFn(void* user, int64_t weight, int32_t vertex,
                                             NoliVec3 derivative);
NOLI_WARN_UNUSED NoliStatus noli_gcp_model_weight_derivatives(NoliContext* context,
                                                              const NoliGcpModel* model,
                                                              const double* X,
                                                              NoliGcpWeightDerivativeFn* give,
                                                              void* user);

// Derives the supports of edges and faces, and max_eps, from those of vertices.
void noli_gcp_model_spread_eps(NoliGcpModel* model);
