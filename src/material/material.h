// Hyperelastic laws: isotropic energy densities Psi(F), chosen by name from a table.
//
// Laws are written in principal stretches. With F = U diag(sigma) V^T (rotation variant, sigma[2]
// signed) the stress is P = U diag(dPsi/dsigma) V^T, and dP/dF is block diagonal in the frames U,
// V: a 3x3 block (second derivatives) that couples the diagonal entries of U^T dF V, and for each
// plane (i, j) one eigenvalue for the symmetric and one for the skew part of the entries ij, ji.
// So clamping the eigenvalues of the 3x3 block and the six numbers projects dP/dF exactly.
//
// No law lets an element invert: unless det F > 0 the energy is +INFINITY and the derivatives are
// NaN. Laws whose published energy is finite there get a barrier on J = det F below c = 0.1,
//   B(J) = -k (J - c)^2 ln(J / c) for J < c,   k = (lambda + 2 mu) / c,
// twice continuously differentiable and 0 above. Bounding steps alone is not sufficient: if the
// energy does not increase towards J = 0, Newton's method stagnates at the bound.
#pragma once

#include "math/mat3.h"
#include "noli/types.h"

// Lame parameters, Pa, further parameters of the law (NOLI_LAW_PARAMETERS), and fibres
// (NOLI_FIBRE_VALUES, material/fibre.h), which are not part of the law; NULL: none. Internal
// variables of a law with history; NULL: those at rest.
typedef struct NoliLame {
  double mu;
  double lambda;
  const double* parameter;
  const double* fibre;
  const double* internal;
} NoliLame;

// The parameters of element t, from arrays; `parameter` and `fibre` may be NULL.
static inline NoliLame noli_lame_at(const double* mu, const double* lambda, const double* parameter,
                                    const double* fibre, int64_t t) {
  return (NoliLame){mu[t], lambda[t],
                    parameter != NULL ? parameter + NOLI_LAW_PARAMETERS * t : NULL,
                    fibre != NULL ? fibre + NOLI_FIBRE_VALUES * t : NULL, NULL};
}

// Derivatives of the energy density with respect to the stretches. Entry k of `flip` and `twist`
// belongs to the plane (i, j) of the two other axes.
typedef struct NoliStretchDerivatives {
  double first[3];     // dPsi_i
  double second[3][3]; // symmetric
  double flip[3];      // (dPsi_i - dPsi_j) / (sigma_i - sigma_j): symmetric part of the plane
  double twist[3];     // (dPsi_i + dPsi_j) / (sigma_i + sigma_j): skew part of the plane
} NoliStretchDerivatives;

// How these change with the stretches, entry l of each: third derivatives of the energy density.
typedef struct NoliStretchThird {
  double second[3][3][3]; // of second[i][j] by stretch l: [l][i][j]
  double flip[3][3];      // [k][l]
  double twist[3][3];
} NoliStretchThird;

// The numbers that the flow of a step depends on besides the strain.
typedef enum NoliFlowNumber {
  NOLI_FLOW_INTERNAL,   // the internal variable before it
  NOLI_FLOW_MU,         // Pa
  NOLI_FLOW_PARAMETERS, // those of the law
  NOLI_FLOW_NUMBERS = NOLI_FLOW_PARAMETERS + NOLI_LAW_PARAMETERS
} NoliFlowNumber;

// The flow of a step, and its derivatives on that side of the switch on which it is.
typedef struct NoliFlowDerivatives {
  double factor;           // of the deviator e of the logarithmic strain
  double factor_by_strain; // its derivative by |e|, over |e|
  double growth_by_strain; // derivative of the growth of the internal variable by |e|, over |e|
  double factor_by[NOLI_FLOW_NUMBERS];
  double growth_by[NOLI_FLOW_NUMBERS];
  double excess; // by which the stress exceeds that at which flow begins, relative to it
} NoliFlowDerivatives;

// Numbers of a material: Lame's, the parameters of the law, k1 and k2 of fibres, and shares and
// times of a Prony series.
typedef enum NoliMaterialNumber {
  NOLI_NUMBER_MU,
  NOLI_NUMBER_LAMBDA,
  NOLI_NUMBER_PARAMETERS,
  NOLI_NUMBER_FIBRE = NOLI_NUMBER_PARAMETERS + NOLI_LAW_PARAMETERS,
  NOLI_NUMBER_SHARES = NOLI_NUMBER_FIBRE + 2,
  NOLI_NUMBER_TIMES = NOLI_NUMBER_SHARES + NOLI_PRONY_TERMS,
  NOLI_MATERIAL_NUMBERS = NOLI_NUMBER_TIMES + NOLI_PRONY_TERMS
} NoliMaterialNumber;

// The number of these of an elastic solid, which has no series.
enum { NOLI_ELASTIC_NUMBERS = NOLI_NUMBER_SHARES };

typedef struct NoliMaterial {
  const char* name;
  const char* description;
  int32_t n_parameter;            // that it has beyond Lame's
  double (*shear)(NoliLame lame); // the shear modulus that they determine; NULL: they do not
  double (*stretch_energy)(NoliLame lame, const double sigma[3]);
  // Quotients with removable singularities are finite.
  void (*stretch_derivatives)(NoliLame lame, const double sigma[3],
                              NoliStretchDerivatives* derivatives);
  // Third derivatives, of the elastic law.
  void (*stretch_third)(NoliLame lame, const double sigma[3], NoliStretchThird* third);
  // Derivatives of the energy, and of its derivatives, by one of the parameters that determine the
  // shear modulus; NULL: there are none.
  double (*energy_by_parameter)(NoliLame lame, const double sigma[3], int32_t which);
  void (*stretch_by_parameter)(NoliLame lame, const double sigma[3], int32_t which,
                               NoliStretchDerivatives* by);
  // Without a decomposition of F; NULL if the law has no such form.
  double (*energy)(NoliLame lame, const NoliMat3* F);
  NoliMat3 (*stress)(NoliLame lame, const NoliMat3* F);
  // Laws that flow (material/history.h), whose F is F G; NULL: they do not. Doubles of the history
  // of a point: G, then internal variables; 0: with these parameters the law is elastic.
  int32_t (*history_size)(const double* parameter);
  // The flow of a step: sets the internal variables, from lame.internal, and returns the factor by
  // which the deviator of the logarithmic strain changes.
  double (*flow)(NoliLame lame, const double sigma[3], double* internal);
  void (*flow_derivatives)(NoliLame lame, const double sigma[3], NoliFlowDerivatives* derivatives);
} NoliMaterial;

extern const NoliMaterial noli_neo_hookean;
extern const NoliMaterial noli_fixed_corotated;
extern const NoliMaterial noli_stable_neo_hookean;
extern const NoliMaterial noli_corotated_linear;
extern const NoliMaterial noli_stvk;
extern const NoliMaterial noli_ogden;
extern const NoliMaterial noli_mooney_rivlin;
extern const NoliMaterial noli_hencky;

// The law of that name, or with that index from 0; NULL where there is none.
const NoliMaterial* noli_material_find(const char* name);
const NoliMaterial* noli_material_at(int32_t index);
int32_t noli_material_count(void);

// Borrows the parameters, if there are any.
NoliLame noli_material_lame(const NoliMaterialDef* def);

// Whether a definition has parameters of its law.
bool noli_material_has_parameters(const NoliMaterialDef* def);
// Whether they determine the shear modulus, in place of Young's modulus.
bool noli_material_has_shear(const NoliMaterialDef* def);
// Whether it is one of those that flow.
bool noli_material_flows(const NoliMaterialDef* def);

// How far a deformation of constant volume is stable: strains that grow need stress that grows.
typedef struct NoliStability {
  const char* way; // the first deformation that becomes unstable; NULL: none up to a stretch of 10
  double stretch;  // its largest stretch there
} NoliStability;

// The stability of a law at constant volume in tension, compression and pure shear.
NoliStability noli_material_stability(const NoliMaterial* law, NoliLame lame);

// J - 1 from e = sigma - 1, without the cancellation near rest.
static inline double noli_volume_change(const double e[3]) {
  return e[0] + e[1] + e[2] + e[0] * e[1] + e[1] * e[2] + e[2] * e[0] + e[0] * e[1] * e[2];
}

// Sets all derivatives to NaN: those of an inverted element.
void noli_stretch_infeasible(NoliStretchDerivatives* derivatives);

// Makes dP/dF positive semi-definite by clamping its eigenvalues.
void noli_stretch_project(NoliStretchDerivatives* derivatives);

// q - log1p(q) without cancellation: with r = q / (2 + q), log1p(q) = 2 artanh(r) and q - 2r = q r.
static inline double noli_minus_log1p(double q) {
  if (!(fabs(q) < 0.1)) {
    return q - log1p(q);
  }
  double r = q / (2.0 + q);
  double s = r * r;
  double tail =
      1.0 / 3.0 + s * (1.0 / 5.0 + s * (1.0 / 7.0 + s * (1.0 / 9.0 + s * (1.0 / 11.0 + s / 13.0))));
  return q * r - 2.0 * r * s * tail;
}

// G = F^T F - I, twice Green's strain, as xx yy zz xy yz zx; without cancellation if F is near the
// identity.
static inline void noli_green_strain33(const NoliMat3* F, double g[6]) {
  const double(*f)[3] = F->m;
  double x = f[0][0] - 1.0, y = f[1][1] - 1.0, z = f[2][2] - 1.0;
  g[0] = x * (2.0 + x) + f[1][0] * f[1][0] + f[2][0] * f[2][0];
  g[1] = y * (2.0 + y) + f[0][1] * f[0][1] + f[2][1] * f[2][1];
  g[2] = z * (2.0 + z) + f[0][2] * f[0][2] + f[1][2] * f[1][2];
  g[3] = f[0][0] * f[0][1] + f[1][0] * f[1][1] + f[2][0] * f[2][1];
  g[4] = f[0][1] * f[0][2] + f[1][1] * f[1][2] + f[2][1] * f[2][2];
  g[5] = f[0][2] * f[0][0] + f[1][2] * f[1][0] + f[2][2] * f[2][0];
}

// |G|^2, and the second and third invariant of a symmetric matrix xx yy zz xy yz zx.
static inline double noli_symmetric_norm_sqr(const double g[6]) {
  return g[0] * g[0] + g[1] * g[1] + g[2] * g[2] + 2.0 * (g[3] * g[3] + g[4] * g[4] + g[5] * g[5]);
}
static inline double noli_symmetric_second(const double g[6]) {
  return g[0] * g[1] - g[3] * g[3] + g[1] * g[2] - g[4] * g[4] + g[2] * g[0] - g[5] * g[5];
}
static inline double noli_symmetric_third(const double g[6]) {
  return g[0] * (g[1] * g[2] - g[4] * g[4]) - g[3] * (g[3] * g[2] - g[4] * g[5]) +
         g[5] * (g[3] * g[4] - g[1] * g[5]);
}

// J below which the barrier acts.
#define NOLI_CRUSHED 0.1

// B and its derivatives by J.
typedef struct NoliCrushing {
  double energy;
  double first;
  double second;
  double third;
} NoliCrushing;

static inline NoliCrushing noli_crushing(NoliLame lame, double J) {
  if (J >= NOLI_CRUSHED) {
    return (NoliCrushing){0};
  }
  if (!(J > 0.0)) {
    NoliCrushing infeasible = {INFINITY, NAN, NAN, NAN};
    infeasible.energy = isnan(J) ? J : infeasible.energy;
    return infeasible;
  }
  double k = (lame.lambda + 2.0 * lame.mu) / NOLI_CRUSHED;
  double gap = J - NOLI_CRUSHED, logarithm = log(J / NOLI_CRUSHED), ratio = gap / J;
  return (NoliCrushing){
      .energy = -k * gap * gap * logarithm,
      .first = -k * gap * (2.0 * logarithm + ratio),
      .second = -k * (2.0 * logarithm + ratio * (4.0 - ratio)),
      .third = -k * (2.0 + (4.0 - 2.0 * ratio) * (NOLI_CRUSHED / J)) / J,
  };
}

// Adds the third derivatives of an energy of the volume alone, whose derivatives by J are `first`,
// `second` and `third`; those of B.
void noli_volume_third(const double sigma[3], double first, double second, double third,
                       NoliStretchThird* out);
void noli_crushing_third(NoliLame lame, const double sigma[3], NoliStretchThird* third);

// Adds the derivatives of B.
void noli_crushing_derivatives(NoliLame lame, const double sigma[3],
                               NoliStretchDerivatives* derivatives);
