// A relaxation makes G S of G, where S = (det C)^(-q / 6) C^(q / 2) with E = F G, C = E^T E and q =
// factor - 1. In the frame V of C = V diag(sigma^2) V^T, S has the entries s_i = exp(q e_i), with
// the deviator e of ln sigma. A change dC, with h = V^T dC V, changes S by
//   V (w o h) V^T - q / 6 tr(C^-1 dC) S,
//   w_ij = sqrt(s_i s_j) / (sigma_i sigma_j) sinh(q t / 2) / sinh(t),  t = e_i - e_j,
// the formula of Daleckii and Krein, whose quotient is q / 2 where stretches meet. In reverse, the
// first part is the same map, and S and C^-1 change places in the second one.
#include "material/history_slopes.h"

#include "material/hencky.h"
#include "material/tangent.h"
#include "math/svd3.h"

#include <math.h>
#include <string.h>

// ---- relaxation ---------------------------------------------------------------------------------

typedef struct Relaxed {
  NoliMat3 F, G, E, V, S;
  NoliMat3 inverse; // of C
  NoliMat3 weight;  // w
  double q;
} Relaxed;

static double divided(double q, double t) {
  return t == 0.0 ? 0.5 * q : sinh(0.5 * q * t) / sinh(t);
}

// V diag(d) V^T
static NoliMat3 in_frame(const NoliMat3* V, const double d[3]) {
  return noli_mul_transpose33(noli_mul33(*V, noli_diagonal33(d)), *V);
}

static Relaxed relaxed_at(const NoliMat3* F, const double* G, double factor) {
  Relaxed r = {.F = *F, .G = noli_load33(G), .q = factor - 1.0};
  NoliMat3 U;
  double sigma[3], e[3], s[3], inverse[3];
  r.E = noli_mul33(r.F, r.G);
  noli_svd3(&r.E, &U, sigma, &r.V);
  (void)noli_log_stretches(sigma, e);
  for (int i = 0; i < 3; i++) {
    s[i] = exp(r.q * e[i]);
    inverse[i] = 1.0 / (sigma[i] * sigma[i]);
    for (int j = 0; j < 3; j++) {
      r.weight.m[i][j] =
          exp(0.5 * r.q * (e[i] + e[j])) / (sigma[i] * sigma[j]) * divided(r.q, e[i] - e[j]);
    }
  }
  r.S = in_frame(&r.V, s);
  r.inverse = in_frame(&r.V, inverse);
  return r;
}

// V (w o (V^T M V)) V^T of a symmetric M.
static NoliMat3 weighted(const Relaxed* r, const NoliMat3* M) {
  NoliMat3 h = noli_transpose_mul33(r->V, noli_mul33(*M, r->V));
  for (int i = 0; i < 9; i++) {
    h.m[i / 3][i % 3] *= r->weight.m[i / 3][i % 3];
  }
  return noli_mul_transpose33(noli_mul33(r->V, h), r->V);
}

static double inner(const NoliMat3* a, const NoliMat3* b) {
  double sum = 0.0;
  for (int i = 0; i < 9; i++) {
    sum += a->m[i / 3][i % 3] * b->m[i / 3][i % 3];
  }
  return sum;
}

static NoliMat3 push(const Relaxed* r, const NoliMat3* dF, const NoliMat3* dG) {
  NoliMat3 dE = noli_add33(noli_mul33(*dF, r->G), noli_mul33(r->F, *dG));
  NoliMat3 half = noli_transpose_mul33(r->E, dE);
  NoliMat3 dC = noli_add33(half, noli_transpose33(half)), dS = weighted(r, &dC);
  dS = noli_sub33(dS, noli_scale33(r->q / 6.0 * inner(&r->inverse, &dC), r->S));
  return noli_add33(noli_mul33(*dG, r->S), noli_mul33(r->G, dS));
}

static void pull(const Relaxed* r, const NoliMat3* by_after, NoliMat3* by_F, NoliMat3* by_G) {
  NoliMat3 half = noli_transpose_mul33(r->G, *by_after);
  NoliMat3 by_S = noli_scale33(0.5, noli_add33(half, noli_transpose33(half)));
  NoliMat3 by_C = weighted(r, &by_S);
  by_C = noli_sub33(by_C, noli_scale33(r->q / 6.0 * inner(&r->S, &by_S), r->inverse));
  NoliMat3 by_E = noli_scale33(2.0, noli_mul33(r->E, by_C));
  *by_F = noli_mul_transpose33(by_E, r->G);
  *by_G = noli_add33(noli_mul33(*by_after, r->S), noli_transpose_mul33(r->F, by_E));
}

static int32_t term_count(const NoliMaterialPoint* point) {
  return point->prony != NULL ? point->prony->n : 0;
}

void noli_history_push(const NoliMaterialPoint* point, const NoliRelaxation* at, const NoliMat3* dF,
                       const double* d_before, double* d_after) {
  for (int32_t k = 0; k < term_count(point); k++) {
    int32_t place = noli_history_place(point, k);
    Relaxed r = relaxed_at(&at->F, at->before + place, noli_history_factor(point, k, at->ends));
    NoliMat3 dG = noli_load33(d_before + place), d = push(&r, dF, &dG);
    noli_store33(d_after + place, &d);
  }
}

void noli_history_pull(const NoliMaterialPoint* point, const NoliRelaxation* at,
                       const double* by_after, NoliMat3* by_F, double* by_before) {
  *by_F = (NoliMat3){0};
  for (int32_t k = 0; k < term_count(point); k++) {
    int32_t place = noli_history_place(point, k);
    Relaxed r = relaxed_at(&at->F, at->before + place, noli_history_factor(point, k, at->ends));
    NoliMat3 by = noli_load33(by_after + place), by_own, by_G;
    pull(&r, &by, &by_own, &by_G);
    *by_F = noli_add33(*by_F, by_own);
    by_G = noli_add33(by_G, noli_load33(by_before + place));
    noli_store33(by_before + place, &by_G);
  }
}

// ---- stress -------------------------------------------------------------------------------------

// P of the law of a branch and A at F G.
static void branch_tangent(const NoliBranch* branch, const NoliMat3* F, NoliMat3* P, double A[81]) {
  NoliMat3 E = noli_branch_times(branch, F);
  noli_material_tangent(branch->law, branch->lame, &E, P, A);
}

// A : M
static NoliMat3 contract(const double A[81], const NoliMat3* M) {
  NoliMat3 to = {0};
  for (int k = 0; k < 81; k++) {
    to.m[k / 27][k / 9 % 3] += A[k] * M->m[k % 9 / 3][k % 3];
  }
  return to;
}

// The unit matrix of one entry.
static NoliMat3 unit(int k) {
  NoliMat3 one = {0};
  one.m[k / 3][k % 3] = 1.0;
  return one;
}

static void set_column(double* slope, int c, const NoliMat3* column) {
  for (int r = 0; r < 9; r++) {
    slope[9 * r + c] += column->m[r / 3][r % 3];
  }
}

void noli_history_tangent(const NoliMaterialPoint* point, const NoliMat3* F, NoliMat3* P,
                          double A[81]) {
  *P = (NoliMat3){0};
  memset(A, 0, 81 * sizeof *A);
  for (int32_t k = 0; k < noli_branch_count(point); k++) {
    NoliBranch branch = noli_branch_at(point, k);
    NoliMat3 own;
    double slope[81];
    branch_tangent(&branch, F, &own, slope);
    *P = noli_add33(*P, noli_branch_pull(&branch, &own));
    for (int c = 0; c < 9; c++) {
      NoliMat3 dF = unit(c), dE = noli_branch_times(&branch, &dF), dP = contract(slope, &dE);
      dP = noli_branch_pull(&branch, &dP);
      set_column(A, c, &dP);
    }
  }
}

// The stress is P G^T with P at F G.
void noli_history_stress_slope(const NoliMaterialPoint* point, int32_t k, const NoliMat3* F,
                               double slope[81]) {
  NoliBranch branch = noli_branch_at(point, k + 1);
  NoliMat3 P;
  double A[81];
  branch_tangent(&branch, F, &P, A);
  memset(slope, 0, 81 * sizeof *slope);
  for (int c = 0; c < 9; c++) {
    NoliMat3 dG = unit(c), dE = noli_mul33(*F, dG), dP = contract(A, &dE);
    dP = noli_add33(noli_branch_pull(&branch, &dP), noli_mul_transpose33(P, dG));
    set_column(slope, c, &dP);
  }
}
