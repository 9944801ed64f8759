#include "material/history.h"

#include "material/hencky.h"
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

// G after the deviator of the logarithmic strain of F G has become `factor` times as large.
static void relax(const NoliMat3* F, double factor, const double* before, double* after) {
  NoliMat3 G = noli_load33(before), elastic = noli_mul33(*F, G), U, V;
  double sigma[3], e[3];
  noli_svd3(&elastic, &U, sigma, &V);
  (void)noli_log_stretches(sigma, e);
  for (int i = 0; i < 3; i++) {
    e[i] = exp((factor - 1.0) * e[i]);
  }
  NoliMat3 change = noli_mul_transpose33(noli_mul33(V, noli_diagonal33(e)), V);
  G = noli_mul33(G, change);
  noli_store33(after, &G);
}

// ---- histories ----------------------------------------------------------------------------------

static int32_t term_count(const NoliProny* prony) {
  return prony != NULL ? prony->n : 0;
}

int32_t noli_history_size(const NoliProny* prony) {
  return NOLI_BRANCH_VALUES * term_count(prony);
}

void noli_history_start(const NoliProny* prony, double* history) {
  const NoliMat3 identity = noli_identity3();
  for (int32_t k = 0; k < term_count(prony); k++) {
    noli_store33(history + NOLI_BRANCH_VALUES * k, &identity);
  }
}

void noli_history_begin(const NoliMaterialPoint* point, const NoliMat3* F, const double* before,
                        double* history) {
  for (int32_t k = 0; k < term_count(point->prony); k++) {
    double factor = share_of_start(point->elapsed / point->prony->time[k]);
    relax(F, factor, before + NOLI_BRANCH_VALUES * k, history + NOLI_BRANCH_VALUES * k);
  }
}

void noli_history_end(const NoliMaterialPoint* point, const NoliMat3* F, double* after) {
  for (int32_t k = 0; k < term_count(point->prony); k++) {
    double factor = share_of_growth(point->elapsed / point->prony->time[k]);
    relax(F, factor, point->history + NOLI_BRANCH_VALUES * k, after + NOLI_BRANCH_VALUES * k);
  }
}

// ---- branches -----------------------------------------------------------------------------------

static double sum_shares(const NoliProny* prony) {
  double sum = 0.0;
  for (int32_t k = 0; k < term_count(prony); k++) {
    sum += prony->share[k];
  }
  return sum;
}

double noli_prony_ratio(const NoliProny* prony) {
  return 1.0 / (1.0 - sum_shares(prony));
}

NoliBranch noli_branch_at(const NoliMaterialPoint* point, int32_t k) {
  if (k == 0) {
    return (NoliBranch){.law = point->law, .lame = point->lame};
  }
  const NoliProny* prony = point->prony;
  double share = prony->share[k - 1] * noli_prony_ratio(prony);
  double growth = share_of_growth(point->elapsed / prony->time[k - 1]);
  return (NoliBranch){.law = &viscous_branch,
                      .lame = {.mu = share * growth * point->lame.mu},
                      .inverse = point->history + NOLI_BRANCH_VALUES * (k - 1)};
}
