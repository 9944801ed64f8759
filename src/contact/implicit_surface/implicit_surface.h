// The smooth implicit surface of [Larionov2024] section III-B over some triangles of a mesh, a
// patch:
//
//   d(p) = sum_t w_t A_t . (p - c_t) / sum_t w_t |A_t|,   w_t = (1 - |p - c_t|^2 / R^2)^3,
//
// with the centroids c_t and the vector areas A_t (normal times area) of the triangles whose
// centroid is closer to p than R. This is Shepard's interpolation of the planes of the triangles,
// weighted by area: a triangle without area has no influence and needs no normal. The weights have
// two continuous derivatives, and so does d if at least one triangle is in range.
//
// If the triangles lie in one plane, d is the distance from it. For a sphere of radius r, the
// radius of the level set d = 0 differs by about R^2 / (10 r): second order in the length of edges.
// d is a function of p and of the vertices of the triangles, invariant under rigid motions of both:
// forces on p have reactions on the surface, and momentum and angular momentum are conserved.
#pragma once

#include "math/mat3.h"

#include <stdbool.h>
#include <stdint.h>

// A vertex and the triangles in its range. Nodes of the patch: 0 is the vertex, 1 .. n_node - 1 are
// the vertices of the triangles.
typedef struct NoliPatch {
  const double* x; // positions of all vertices
  int32_t point;   // the vertex p
  double radius;   // R, m
  int32_t n_triangle;
  const int32_t* triangle; // (n_triangle) rows of `tri`
  const int32_t* tri;      // (all x 3) vertices
  const int32_t* corner;   // (n_triangle x 3) nodes of the patch; not read by functions of p alone
} NoliPatch;

typedef struct NoliPatchValue {
  double d;
  double sum;        // of w |A|, m^2; 0: no triangle is in range, d is undefined
  NoliVec3 gradient; // of d by p
  NoliVec3 by_sum;   // gradient of the sum by p
} NoliPatchValue;

// (1 - r^2 / R^2)^3 for r^2 = `r_sqr` < R^2, 0 beyond; 0 at NaN.
double noli_patch_weight(double r_sqr, double radius);

NoliPatchValue noli_patch_value(const NoliPatch* patch);

// Second derivatives of d by p.
NoliMat3 noli_patch_hessian_point(const NoliPatch* patch, const NoliPatchValue* value);

// Overwrites `gradient` (n_node x 3) with `scale` times the derivative of d by all nodes.
void noli_patch_gradient(const NoliPatch* patch, const NoliPatchValue* value, double scale,
                         int32_t n_node, double* gradient);

// Weights of the nodes in the velocity of p relative to the surface: 1 for p and, for the others,
// minus their contribution to the average velocity of the triangles, each with its weight in d.
// They sum to 0, so that forces that act with these weights conserve momentum.
void noli_patch_weights(const NoliPatch* patch, const NoliPatchValue* value, int32_t n_node,
                        double* weight);

// The average of x - x_hat over the triangles, each with its weight in d: the reference
// of the sliding of p. x_hat is indexed as patch->x.
NoliVec3 noli_patch_average(const NoliPatch* patch, const NoliPatchValue* value,
                            const double* x_hat);

// Data of a node for the derivatives of friction: the row of p in the Hessian of d, and the
// derivatives of the averaged motion by the weights.
typedef struct NoliPatchNode {
  double weight;        // of noli_patch_weights
  NoliVec3 by_d;        // gradient of d by the node
  NoliVec3 by_sum;      // gradient of the sum by the node
  NoliMat3 by_gradient; // derivative of the gradient of d by p; columns belong to the node
  NoliMat3 by_moved;    // derivative of the sum of weight times `moved` at constant `moved`
} NoliPatchNode;

// Fills `node` (n_node); `moved` of a vertex is x - x_hat.
void noli_patch_nodes(const NoliPatch* patch, const NoliPatchValue* value, const double* x_hat,
                      int32_t n_node, NoliPatchNode* node);

// The gradient of w |A| / 3 of triangle t of the patch by p and by its three vertices: the
// contribution of the triangle to the gradient of the weight of each vertex, times minus the sum,
// at a constant sum. Zeros if the triangle is out of range.
void noli_patch_share_gradient(const NoliPatch* patch, int32_t t, NoliVec3 gradient[4]);

// Blocks (noli_stencil_block of n_node nodes) of the Hessian of b(d) with b' = `first` and
// b'' = `second`: exact, or positive semi-definite. The latter is not the projection by
// eigenvalues, which would be of size 3 n_node: it is
//   b'' grad d grad d^T + (w w^T) (x) P
// with the weights w above and P the projection of b' times the second derivatives by p. For
// motions of p and rigid translations of the surface it equals the exact projection.
void noli_patch_hessian(const NoliPatch* patch, const NoliPatchValue* value, double first,
                        double second, bool projected, int32_t n_node, double* blocks);

// Cubic penalty kappa (delta - d)^3 / delta for d < delta, else 0, with two derivatives.
typedef struct NoliPenalty {
  double value;
  double first;
  double second;
} NoliPenalty;

NoliPenalty noli_penalty(double d, double delta, double kappa);
