// Bending of thin sheets by folds: the curvature of each triangle, from the hinges around it.
//
// With the angle alpha_i that a triangle makes with the sheet at the middle of edge i, n_i the
// normals of its edges in its plane and l_i their lengths, its curvature is that of Morley's plate,
//   kappa = sum_i alpha_i l_i / A  n_i n_i^T,   energy A/2 kappa . D kappa.
// Morley has one more unknown per edge, which divides the angle theta of a hinge between its two
// triangles. Here it is theta h / (h + h') + sum_j c_j theta_j for the one and theta h' / (h + h')
// - sum_j c_j theta_j for the other, with their heights h and h' over the edge, the hinge and the
// four others of its two triangles: the c of the least sum of c_j^2 / k_j, where k_j is the length
// of a hinge over the heights of its triangles, such that all constant curvatures are divided
// correctly. So a constant curvature has the energy of the plate on any mesh, and is in
// equilibrium, because both triangles have the same sheet direction at their common edge. Of a
// narrow triangle beside a wide one, heights and k leave the angles of the wide one alone; halves
// and the least sum of c_j^2 would bend the narrow one by them, so that clamped plates locked. An
// edge without a neighbour is free: no moment acts across it.
//
// Angles are those of fem/thin/hinge.h. A fold may also be a lone hinge, with any stiffness.
#pragma once

#include "fem/thin/hinge.h"

enum { NOLI_FOLD_NODES = 12, NOLI_FOLD_HINGES = 9 };

// Owns everything. Of a triangle, nodes 0 to 2 are its own and hinge i lies at the edge opposite
// to node i; hinges 3 + 2 i and 4 + 2 i are those of its neighbour there.
typedef struct NoliFolds {
  int32_t n_fold;
  int32_t* node; // (n_fold x 12) each once; NOLI_NULL_INDEX pads those that have fewer
  int8_t* hinge; // (n_fold x 9 x 4) which of the 12 are the nodes of each hinge, in the order of
                 // NoliHinges; -1: no hinge
  int32_t* tri;  // (n_fold x 2) the triangle twice, or those of a lone hinge
  double* rest;  // (n_fold x 9) rad
  double* root;  // (n_fold x 3 x 9) sqrt(J): energy 1/2 |root turn|^2
  int64_t capacity[5];
} NoliFolds;

// The stiffness of a plate, N m, in the rest frame of a triangle; moments are D (k11, k22, 2 k12).
typedef struct NoliPlate {
  double first;   // D11
  double second;  // D22
  double coupled; // D12, D12^2 < D11 D22
  double twist;   // D66
} NoliPlate;

// Appends a fold for every triangle in [begin, end), with the stiffness `plate` (end - begin) in
// the frames that `axis` (n_tri x 3) begins, and sets the stiffness of the hinges that it takes to
// 0: those from `first_hinge` on, as noli_hinges_add has appended them for the same triangles, on
// edges of two triangles. Others keep theirs, and their edges are free for folds. Fails with
// NOLI_ERROR_MEMORY; the folds must be destroyed then, too.
NOLI_WARN_UNUSED NoliStatus noli_folds_add(NoliContext* context, int32_t begin, int32_t end,
                                           const int32_t* tri, const double* X, const double* axis,
                                           const NoliPlate* plate, NoliHinges* hinges,
                                           int32_t first_hinge, NoliFolds* folds);

// Appends the hinges that have a stiffness. Errors as above.
NOLI_WARN_UNUSED NoliStatus noli_folds_add_hinges(NoliContext* context, const NoliHinges* hinges,
                                                  NoliFolds* folds);
void noli_folds_destroy(NoliContext* context, NoliFolds* folds);

typedef struct NoliFoldBending {
  const NoliFolds* folds;
  double scale; // h_e^2: energy, gradient and Hessian are multiplied by it
} NoliFoldBending;

// The NoliTermFn. The projected Hessian is that of Gauss and Newton: without the second derivatives
// of angles.
void noli_folds_evaluate(const void* data, const double* x, int64_t begin, int64_t end,
                         unsigned what, const NoliLocal* out);

// The product of the projected Hessian of fold f at y, scale 1, with w (3 NOLI_FOLD_NODES), and how
// it changes with y, (3 NOLI_FOLD_NODES)^2, which is 0 before.
void noli_folds_damping(const NoliFolds* folds, int64_t f, const double* y, const double* w,
                        double* force, double* by_y);

// The angles of a fold over those at rest, and the gradients of its angles at x; 0 where there is
// no hinge.
void noli_folds_turns(const NoliFolds* folds, int64_t f, const double* x,
                      double turn[NOLI_FOLD_HINGES]);
void noli_folds_gradients(const NoliFolds* folds, int64_t f, const double* x,
                          double gradient[NOLI_FOLD_HINGES][3 * NOLI_FOLD_NODES]);
