// Membranes: energy densities of a thin sheet in its plane, psi(F) per rest volume, with the 3 x 2
// deformation gradient F of its mid-surface. Chosen by name from a table.
//
// Isotropic laws are written in the principal stretches of F = U diag(s1, s2) V^T, with
// U = [u1 u2 n] and n the normal. dP/dF falls apart there as it does for solids (material.h): a 2x2
// block of second derivatives, one eigenvalue each for the symmetric and the skew part in the
// plane, and one for each column that turns out of the plane, psi_i / s_i: the geometric stiffness
// of tension. Clamping them projects dP/dF exactly. The Lame parameters are those of plane stress.
//
// The law of woven cloth has directions instead: column 1 of F is warp, column 2 is weft.
//
// A sheet has no inside, so nothing can invert; where a law is infinite at zero area, its energy is
// +INFINITY and its derivatives are NaN there.
#pragma once

#include "material/material.h"

typedef struct NoliMembraneParameters {
  NoliLame lame; // Pa: mu and the lambda of plane stress, of isotropic laws
  double warp;   // Pa, stiffness of cloth along warp and weft, and to shear between them
  double weft;
  double shear;
  double limit;           // largest principal stretch, > 1; INFINITY: none
  double limit_from;      // stretch from which the barrier acts, in [1, limit)
  double limit_stiffness; // Pa
} NoliMembraneParameters;

// In a plane: as NoliStretchDerivatives, with one plane and two columns that turn out of it.
typedef struct NoliPlaneDerivatives {
  double first[2];
  double second[3]; // 11, 12, 22
  double flip;
  double twist;
  double normal[2]; // psi_i / s_i
} NoliPlaneDerivatives;

// How these change with both stretches: third derivatives of the energy density.
typedef struct NoliPlaneThird {
  double second[3][2]; // of 11, 12, 22 by s1, s2, like all that follow
  double flip[2];
  double twist[2];
  double normal[2][2];
} NoliPlaneThird;

// F by columns.
typedef struct NoliSheet {
  NoliVec3 f[2];
} NoliSheet;

// psi, P = dpsi/dF by columns, and dP_p/dF_q for the pairs (p, q) = 11, 12, 22 of columns.
typedef struct NoliSheetResponse {
  double energy;
  NoliVec3 P[2];
  NoliMat3 H[3];
} NoliSheetResponse;

typedef struct NoliMembraneLaw {
  const char* name;
  // in stretches, or NULL
  double (*stretch_energy)(const NoliMembraneParameters* parameters, const double s[2]);
  void (*stretch_derivatives)(const NoliMembraneParameters* parameters, const double s[2],
                              NoliPlaneDerivatives* derivatives);
  void (*stretch_third)(const NoliMembraneParameters* parameters, const double s[2],
                        NoliPlaneThird* third);
  // else in F; adds to the response what it is asked for
  void (*respond)(const NoliMembraneParameters* parameters, const NoliSheet* F, unsigned what,
                  NoliSheetResponse* response);
} NoliMembraneLaw;

extern const NoliMembraneLaw noli_membrane_neo_hookean;
extern const NoliMembraneLaw noli_membrane_stvk;
extern const NoliMembraneLaw noli_membrane_cloth; // [Baraff1998]
extern const NoliMembraneLaw noli_membrane_limit; // the barrier of the strain limit, of any law

// NULL where there is none of that name, or none of that index.
const NoliMembraneLaw* noli_membrane_find(const char* name);
const NoliMembraneLaw* noli_membrane_at(int32_t index);

// Plane stress: lambda = E nu / (1 - nu^2).
NoliLame noli_membrane_lame(double young, double poisson);

// The response of the law and of the barrier of the strain limit to F; `what` as in NoliTermFn.
void noli_membrane_respond(const NoliMembraneLaw* law, const NoliMembraneParameters* parameters,
                           const NoliSheet* F, unsigned what, NoliSheetResponse* response);

// F = U diag(s) V^T with s[0] >= s[1] >= 0, a rotation U = [u1 u2 n] and V = [v1 v2], a rotation of
// the plane: row-major V[2][2].
void noli_sheet_decompose(const NoliSheet* F, NoliMat3* U, double s[2], double V[2][2]);

// The larger principal stretch.
double noli_sheet_stretch(const NoliSheet* F);
