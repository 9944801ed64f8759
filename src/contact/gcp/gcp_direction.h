// Direction terms of [Huang2025] section 5.2.1 and appendix D: g^m tests whether the distance
// between two close points is nearly a local minimum, g^e whether the vector between them comes
// from outside.
//
// Let r be the vector between the closest points, and v = sign r / |r| the unit vector from the
// other point to this one. For an element that contains this point:
//   face     g^m = 1, g^e = 1 on the outer side, 0 on the inner one: v is parallel to the normal;
//   edge     t_i unit vectors in its two faces, orthogonal to the edge:
//            g^m = H^alpha(t_1 . v) H^alpha(t_2 . v);
//   vertex   over its faces i, spanned by the edges e_i and e_i+1 with bisector b_i:
//            g^m = prod_i H^alpha(e_i . v) H^alpha(e_i+1 . v) H^alpha(b_i . v);
//   both     with the outward normals n_i of their faces
//            g^e = H^1(-1 + sum_i H^beta(-n_i . v))                                  (eq. 17).
// For edges the paper has g^e = H^beta(Phi), Phi = ((v - t_1) x (v - t_2)) . edge (eq. 9), which is
// positive only if v points into the solid. At an edge sharper than a right angle the closest point
// need not lie in that direction: the pair would vanish on its way into contact. With eq. 17 it
// does not: if -v is rotated towards the solid, the first face that it meets, from outside, has
// -n_i . v > 0. In directions along an edge or a face the closest point is always a minimum
// (section 5.3.3).
//
// Derivatives are those of log g with respect to r and the vectors that leave the element's first
// vertex: products become sums, and factors equal to 1 contribute nothing.
#pragma once

#include "contact/gcp/gcp_jet.h"

#include <stdbool.h>

typedef struct NoliGcpSharpness {
  double alpha; // of g^m
  double beta;  // of g^e
} NoliGcpSharpness;

// Gradient and Hessian over r (slot 0) and any number of other vectors.
typedef struct NoliGcpSlots {
  int32_t n;        // slots, r included
  double* gradient; // (3 n)
  double* hessian;  // (3 n x 3 n), or NULL
  bool* touched;    // (n) whether anything was added
} NoliGcpSlots;

// Adds c1 grad s and c1 Hess s + c2 grad s grad s^T; vector k of the jet is slot[k], or constant if
// that is negative.
void noli_gcp_slots_add(const NoliGcpSlots* slots, const int32_t* slot, const NoliJet* jet,
                        double c1, double c2);

// g of an edge. u: r, the edge from its first vertex to its second, and its wings, from its first
// vertex to the third one of the face that runs along the edge and to that of the other face. r is
// orthogonal to the edge.
double noli_gcp_edge_direction(const NoliVec3 u[4], double sign, NoliGcpSharpness sharpness);

// Adds the derivatives of the logarithm, if the value is positive; u[k] is slot[k]. A vertex of a
// curve in a plane is treated as a constant edge normal to the plane, whose wings lead to the
// previous and the next vertex.
void noli_gcp_edge_direction_log(const NoliVec3 u[4], double sign, NoliGcpSharpness sharpness,
                                 const NoliGcpSlots* slots, const int32_t slot[4]);

// A vertex with its ring, as in collide/rings.h.
typedef struct NoliGcpFan {
  const double* x; // (n_vert x 3)
  int32_t center;
  int32_t n;
  const int32_t* ring; // (n)
  const int32_t* next; // (n)
} NoliGcpFan;

double noli_gcp_vertex_direction(const NoliGcpFan* fan, NoliVec3 r, double sign,
                                 NoliGcpSharpness sharpness);

// As noli_gcp_edge_direction_log; neighbour j is slot first + j. `scratch` has (3 slots->n).
void noli_gcp_vertex_direction_log(const NoliGcpFan* fan, NoliVec3 r, double sign,
                                   NoliGcpSharpness sharpness, const NoliGcpSlots* slots,
                                   int32_t first, double* scratch);
