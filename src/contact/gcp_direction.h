// Direction terms of [Huang2025] section 5.2.1 and appendix D: whether the vector between two close
// points is nearly a local minimum of distance (g^m), and comes from outside (g^e).
//
// Let r be the vector between the closest points, and v = sign r / |r| the unit vector from the
// other point to this one. On an element that contains this point:
//   face     g^m = 1, g^e = 1 on the outer side, 0 on the inner one: v is parallel to the normal;
//   edge     t_i unit vectors in its two faces, orthogonal to the edge:
//            g^m = H^alpha(t_1 . v) H^alpha(t_2 . v);
//   vertex   over its faces i, spanned by the edges e_i and e_i+1 with bisector b_i:
//            g^m = prod_i H^alpha(e_i . v) H^alpha(e_i+1 . v) H^alpha(b_i . v);
//   both     with the outward normals n_i of their faces
//            g^e = H^1(-1 + sum_i H^beta(-n_i . v))                                  (eq. 17).
// For edges the paper has g^e = H^beta(Phi), Phi = ((v - t_1) x (v - t_2)) . edge (eq. 9), which is
// positive only where v points into the solid. Where an edge is sharper than a right angle, what is
// closest to it need not lie that way: the pair would vanish on its way into contact. Eq. 17
// cannot: turn -v towards the solid; the face that is met first, from outside, has -n_i . v > 0.
// Along an edge, and on a face, the closest point is a minimum anyway (section 5.3.3).
//
// Derivatives are those of log g, with respect to r and the vectors that leave the element's first
// vertex: products become sums, and factors that are 1 cost nothing.
#pragma once

#include "contact/gcp_jet.h"

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

// Adds c1 grad s and c1 Hess s + c2 grad s grad s^T; vector k of the jet is slot[k], a constant where
// that is negative.
void noli_gcp_slots_add(const NoliGcpSlots* slots, const int32_t* slot, const NoliJet* jet,
                        double c1, double c2);

// An edge in the middle of its two faces: r, the edge from its first vertex to its second, and from
// its first vertex to the third one of the face that runs along it, and of the other face. r is
// orthogonal to the edge.
double noli_gcp_edge_direction(const NoliVec3 u[4], double sign, NoliGcpSharpness sharpness);

// Adds the derivatives of the logarithm where the value is positive; u[k] is slot[k]. A vertex of a
// curve in a plane is an edge upright to it: the edge is constant then, its wings are the edges to
// the vertex before and to the one behind.
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
