#include "material/history.h"

#include "material/hencky.h"
#include "math/eigen.h"
#include "math/svd3.h"

#include <math.h>
#include <string.h>

// ---- the law of viscous branches ----------------------------------------------------------------

// mu |dev eps|^2.
static double viscous_energy(NoliLame lame, const double sigma[3]) {
  if (!(sigma[2] > 0.0)) {
    return isnan(sigma[2]) ? NAN : INFINITY;
  }
  double e[3];
  (void)noli_log_stretches(sigma, e);
  return lame.mu * (e[0] * e[0] + e[1] * e[1] + e[2] * e[2]);
}

static void viscous_derivatives(NoliLame lame, const double sigma[3],
                                NoliStretchDerivatives* derivatives) {
  if (!(sigma[2] > 0.0)) {
    noli_stretch_infeasible(derivatives);
    return;
  }
  NoliMat3 C;
  double tau[3], secant = 2.0 * lame.mu;
  (void)noli_log_stretches(sigma, tau);
  for (int i = 0; i < 3; i++) {
    tau[i] *= secant;
    for (int j = 0; j < 3; j++) {
      C.m[i][j] = secant * ((i == j ? 1.0 : 0.0) - 1.0 / 3.0);
    }
  }
  noli_hencky_derivatives(sigma, tau, &C, secant, derivatives);
}

static const NoliMaterial viscous_branch = {.name = "viscous branch",
                                            .description = "A term of a Prony series.",
                                            .stretch_energy = viscous_energy,
                                            .stretch_derivatives = viscous_derivatives};

// ---- relaxation ---------------------------------------------------------------------------------

// b.
static double share_of_growth(double x) {
  return x > 0.0 ? -expm1(-x) / x : 1.0;
}

// a / b.
static double share_of_start(double x) {
  return x > 0.0 ? x / expm1(x) : 1.0;
}

// Their derivatives, near 0 by their series.
static double growth_derivative(double x) {
  double sum = 0.0, term = -1.0;
  if (x > 0.1) {
    return (x * exp(-x) + expm1(-x)) / (x * x);
  }
  for (int n = 1; n < 12; n++) { // term = (-1)^n x^(n - 1) / n!
    sum += term * n / (n + 1.0);
    term *= -x / (n + 1.0);
  }
  return sum;
}

static double start_derivative(double x) {
  if (x > 0.1) {
    double e = expm1(x);
    return (1.0 / e) * (1.0 - x * (1.0 + 1.0 / e));
  }
  double s = x * x;
  return -0.5 + x * (1.0 / 6.0 + s * (-1.0 / 180.0 + s * (1.0 / 5040.0 - s / 151200.0)));
}

// G, and the elastic part of F that it leaves.
typedef struct Elastic {
  NoliMat3 G, V;
  double sigma[3];
} Elastic;

static Elastic elastic_of(const NoliMat3* F, const double* G) {
  Elastic elastic = {.G = noli_load33(G)};
  NoliMat3 FG = noli_mul33(*F, elastic.G), U;
  noli_svd3(&FG, &U, elastic.sigma, &elastic.V);
  return elastic;
}

// G after the deviator of the logarithmic strain of F G has become `factor` times as large.
static void history_relax(const Elastic* elastic, double factor, double* after) {
  double e[3];
  (void)noli_log_stretches(elastic->sigma, e);
  for (int i = 0; i < 3; i++) {
    e[i] = exp((factor - 1.0) * e[i]);
  }
  NoliMat3 change = noli_mul_transpose33(noli_mul33(elastic->V, noli_diagonal33(e)), elastic->V);
  NoliMat3 G = noli_mul33(elastic->G, change);
  noli_store33(after, &G);
}

// ---- histories ----------------------------------------------------------------------------------

static int32_t history_term_count(const NoliProny* prony) {
  return prony != NULL ? prony->n : 0;
}

int32_t noli_history_place(const NoliMaterialPoint* point, int32_t k) {
  return noli_flow_size(point) + NOLI_BRANCH_VALUES * k;
}

double noli_history_factor(const NoliMaterialPoint* point, int32_t k, bool ends) {
  double x = point->elapsed / point->prony->time[k];
  return ends ? share_of_growth(x) : share_of_start(x);
}

double noli_history_factor_derivative(const NoliMaterialPoint* point, int32_t k, bool ends) {
  double x = point->elapsed / point->prony->time[k];
  return (ends ? growth_derivative(x) : start_derivative(x)) * -x / point->prony->time[k];
}

int32_t noli_history_size(const NoliMaterialPoint* point) {
  return noli_history_place(point, history_term_count(point->prony));
}

void noli_history_start(const NoliMaterialPoint* point, double* history) {
  const NoliMat3 identity = noli_identity3();
  int32_t size = noli_flow_size(point);
  if (size > 0) {
    memset(history, 0, (size_t)size * sizeof *history);
    noli_store33(history, &identity);
  }
  for (int32_t k = 0; k < history_term_count(point->prony); k++) {
    noli_store33(history + noli_history_place(point, k), &identity);
  }
}

void noli_history_begin(const NoliMaterialPoint* point, const NoliMat3* F, const double* before,
                        double* history) {
  memcpy(history, before, (size_t)noli_flow_size(point) * sizeof *history);
  for (int32_t k = 0; k < history_term_count(point->prony); k++) {
    Elastic elastic = elastic_of(F, before + noli_history_place(point, k));
    history_relax(&elastic, noli_history_factor(point, k, false),
                  history + noli_history_place(point, k));
  }
}

void noli_history_end(const NoliMaterialPoint* point, const NoliMat3* F, double* after) {
  if (noli_flow_size(point) > 0) {
    Elastic elastic = elastic_of(F, point->history);
    NoliLame lame = noli_branch_at(point, 0).lame;
    history_relax(&elastic, point->law->flow(lame, elastic.sigma, after + NOLI_BRANCH_VALUES),
                  after);
  }
  for (int32_t k = 0; k < history_term_count(point->prony); k++) {
    Elastic elastic = elastic_of(F, point->history + noli_history_place(point, k));
    history_relax(&elastic, noli_history_factor(point, k, true),
                  after + noli_history_place(point, k));
  }
}

// ---- branches -----------------------------------------------------------------------------------

static double sum_shares(const NoliProny* prony) {
  double sum = 0.0;
  for (int32_t k = 0; k < history_term_count(prony); k++) {
    sum += prony->share[k];
  }
  return sum;
}

double noli_prony_ratio(const NoliProny* prony) {
  return 1.0 / (1.0 - sum_shares(prony));
}

// (I x M) A (I x M)^T.
static void transform(const NoliMat3* M, const double A[81], double K[81]) {
  double half[81];
  for (int r = 0; r < 9; r++) {
    for (int c = 0; c < 9; c++) {
      const double *column = A + 27 * (r / 3) + c, *m = M->m[r % 3];
      half[9 * r + c] = m[0] * column[0] + m[1] * column[9] + m[2] * column[18];
    }
  }
  for (int r = 0; r < 9; r++) {
    for (int c = r; c < 9; c++) {
      const double *row = half + 9 * r + c / 3 * 3, *m = M->m[c % 3];
      K[9 * r + c] = K[9 * c + r] = row[0] * m[0] + row[1] * m[1] + row[2] * m[2];
    }
  }
}

// In plane strain the last row of M, and what belongs to it in K, is zero: any other row gives the
// same projection.
static NoliMat3 complete(const NoliMat3* M) {
  const double* last = M->m[2];
  NoliMat3 full = *M;
  full.m[2][2] = last[0] == 0.0 && last[1] == 0.0 && last[2] == 0.0 ? 1.0 : last[2];
  return full;
}

void noli_branches_project(const NoliMat3* M, double K[81]) {
  NoliMat3 full = complete(M), inverse = noli_inverse33(&full);
  double A[81], before[81];
  transform(&inverse, K, A);
  memcpy(before, A, sizeof A);
  noli_project_psd(9, A);
  if (memcmp(before, A, sizeof A) != 0) {
    transform(M, A, K);
  }
}

NoliBranch noli_branch_at(const NoliMaterialPoint* point, int32_t k) {
  if (k == 0) {
    NoliBranch branch = {.law = point->law, .lame = point->lame};
    if (noli_flow_size(point) > 0) {
      branch.inverse = point->history;
      branch.lame.internal = point->history + NOLI_BRANCH_VALUES;
    }
    return branch;
  }
  const NoliProny* prony = point->prony;
  double share = prony->share[k - 1] * noli_prony_ratio(prony);
  double growth = noli_history_factor(point, k - 1, true);
  return (NoliBranch){.law = &viscous_branch,
                      .lame = {.mu = share * growth * point->lame.mu},
                      .inverse = point->history + noli_history_place(point, k - 1)};
}
