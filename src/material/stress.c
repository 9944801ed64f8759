#include "material/stress.h"

#include "material/fibre.h"
#include "math/eigen.h"
#include "math/sums.h"
#include "math/svd3.h"

#include <math.h>

void noli_stress_pack(const NoliMat3* m, double tensor[6]) {
  static const int axes[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {1, 2}, {0, 2}};
  for (int i = 0; i < 6; i++) {
    int a = axes[i][0], b = axes[i][1];
    tensor[i] = 0.5 * (m->m[a][b] + m->m[b][a]);
  }
}

void noli_stress_add_scaled(NoliStress* sum, double factor, const NoliStress* other) {
  noli_add_scaled(6, factor, other->cauchy, sum->cauchy);
  noli_add_scaled(9, factor, other->first_piola, sum->first_piola);
  noli_add_scaled(6, factor, other->green_strain, sum->green_strain);
  sum->von_mises += factor * other->von_mises;
}

// P of fibres and of all branches but the first; false: there are none.
static bool further_stress(const NoliMaterialPoint* point, const NoliMat3* F, NoliMat3* P) {
  NoliFibreResponse fibre = noli_fibre_respond(point->lame.fibre, F);
  *P = (NoliMat3){0};
  if (fibre.first != 0.0) {
    *P = noli_fibre_stress(&fibre);
  }
  for (int32_t k = 1; k < noli_branch_count(point); k++) {
    NoliBranch branch = noli_branch_at(point, k);
    NoliMat3 U, V, of_branch = noli_branch_times(&branch, F);
    double sigma[3];
    NoliStretchDerivatives derivatives;
    noli_svd3(&of_branch, &U, sigma, &V);
    branch.law->stretch_derivatives(branch.lame, sigma, &derivatives);
    NoliMat3 own = noli_mul_transpose33(noli_mul33(U, noli_diagonal33(derivatives.first)), V);
    *P = noli_add33(*P, noli_branch_adjoint(&branch, &own));
  }
  return fibre.first != 0.0 || noli_branch_count(point) > 1;
}

void noli_stress_add(NoliStress* sum, double volume, const NoliMaterialPoint* point,
                     const NoliMat3* F) {
  // P F^T / J = U diag(dPsi_i sigma_i / J) U^T
  NoliMat3 U, V, more;
  double sigma[3], principal[3];
  NoliStretchDerivatives derivatives;
  NoliBranch law = noli_branch_at(point, 0);
  NoliMat3 of_law = noli_branch_times(&law, F);
  noli_svd3(&of_law, &U, sigma, &V);
  law.law->stretch_derivatives(law.lame, sigma, &derivatives);
  for (int i = 0; i < 3; i++) {
    principal[i] = derivatives.first[i] / (sigma[(i + 1) % 3] * sigma[(i + 2) % 3]);
  }
  NoliMat3 cauchy = noli_mul_transpose33(noli_mul33(U, noli_diagonal33(principal)), U);
  NoliMat3 P = noli_mul_transpose33(noli_mul33(U, noli_diagonal33(derivatives.first)), V);
  P = noli_branch_adjoint(&law, &P);
  NoliMat3 C = noli_mul33(noli_transpose33(*F), *F);
  bool is_sum = further_stress(point, F, &more);
  if (is_sum) {
    P = noli_add33(P, more);
    more = noli_mul_transpose33(more, *F);
    cauchy = noli_add33(cauchy, noli_scale33(1.0 / noli_det33(F), more));
  }

  NoliStress here = {0};
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      here.first_piola[3 * i + j] = P.m[i][j];
      C.m[i][j] = 0.5 * (C.m[i][j] - (i == j ? 1.0 : 0.0));
    }
  }
  noli_stress_pack(&cauchy, here.cauchy);
  noli_stress_pack(&C, here.green_strain);
  double a = principal[0] - principal[1], b = principal[1] - principal[2],
         c = principal[2] - principal[0];
  here.von_mises =
      is_sum ? noli_stress_equivalent(here.cauchy) : sqrt(0.5 * (a * a + b * b + c * c));
  noli_stress_add_scaled(sum, volume, &here);
}

double noli_stress_equivalent(const double cauchy[6]) {
  const double* s = cauchy;
  double a = s[0] - s[1], b = s[1] - s[2], c = s[2] - s[0];
  double shear = s[3] * s[3] + s[4] * s[4] + s[5] * s[5];
  return sqrt(0.5 * (a * a + b * b + c * c) + 3.0 * shear);
}

void noli_stress_finish(NoliStress* stress, double volume) {
  NoliStress sum = *stress;
  *stress = (NoliStress){0};
  noli_stress_add_scaled(stress, volume > 0.0 ? 1.0 / volume : 0.0, &sum);
  const double* s = stress->cauchy;
  double matrix[9] = {s[0], s[3], s[5], s[3], s[1], s[4], s[5], s[4], s[2]}, value[3], vector[9];
  noli_eigen_symmetric(3, matrix, value, vector);
  for (int i = 0; i < 3; i++) {
    stress->principal[i] = value[2 - i];
  }
}
