// Histories of Prony series at one point: relaxation and ramps against closed forms, any motion
// against a fine integration, derivatives against differences, objectivity, and energy.
#include "material/reference.h"
#include "support.h"

#include "material/hencky.h"
#include "material/history.h"
#include "material/law_history_derivatives.h"
#include "math/eigen.h"

static const NoliProny prony = {.n = 3, .share = {0.3, 0.2, 0.1}, .time = {0.07, 1.0, 30.0}};
enum { SIZE = 3 * NOLI_BRANCH_VALUES };
static const NoliLame lame = {.mu = 1.3, .lambda = 2.1};

static NoliMat3 random_near(TestRandom* random, double size) {
  NoliMat3 F = noli_identity3();
  do {
    for (int i = 0; i < 9; i++) {
      F.m[i / 3][i % 3] = (i % 4 == 0 ? 1.0 : 0.0) + test_random(random, -size, size);
    }
  } while (!(noli_det33(&F) > 0.2));
  return F;
}

static NoliMat3 rotation(double x, double y, double angle) {
  NoliVec3 a = noli_normalize3(noli_vec3(x, y, 1.0));
  NoliMat3 K = noli_cross33(a), K2 = noli_mul33(K, K);
  return noli_add33(noli_identity3(),
                    noli_add33(noli_scale33(sin(angle), K), noli_scale33(1.0 - cos(angle), K2)));
}

static NoliMaterialPoint point_at(const double* history, double elapsed) {
  return (NoliMaterialPoint){.law = &noli_neo_hookean,
                             .lame = lame,
                             .prony = &prony,
                             .history = history,
                             .elapsed = elapsed};
}

static void start_history(double* history) {
  NoliMaterialPoint point = point_at(NULL, 0.0);
  noli_history_start(&point, history);
}

// One step from F0 to F1; the history changes.
static void step(double h, const NoliMat3* F0, const NoliMat3* F1, double* history) {
  double begun[SIZE] = {0};
  NoliMaterialPoint point = point_at(begun, h);
  noli_history_begin(&point, F0, history, begun);
  noli_history_end(&point, F1, history);
}

// Energy and P of all branches but the first.
static double viscous(const NoliMaterialPoint* point, const NoliMat3* F, NoliMat3* P) {
  double energy = 0.0;
  *P = (NoliMat3){0};
  for (int32_t k = 1; k < noli_branch_count(point); k++) {
    NoliBranch branch = noli_branch_at(point, k);
    NoliMat3 G = noli_load33(branch.inverse), FG = noli_mul33(*F, G);
    NoliMat3 own = material_stress(branch.law, branch.lame, &FG);
    energy += material_energy(branch.law, branch.lame, &FG);
    *P = noli_add33(*P, noli_mul_transpose33(own, G));
  }
  return energy;
}

// The largest entry of P - Q.
static double difference(const NoliMat3* P, const NoliMat3* Q) {
  double largest = 0.0;
  for (int i = 0; i < 9; i++) {
    largest = noli_larger(largest, fabs(P->m[i / 3][i % 3] - Q->m[i / 3][i % 3]));
  }
  return largest;
}

// Modulus of a term.
static double modulus(int k) {
  return lame.mu * prony.share[k] / 0.4;
}

// ---- closed forms -------------------------------------------------------------------------------

// The stress after any deformation at once decays exactly, in steps of any lengths.
static void relaxation_is_exact(void** state) {
  (void)state;
  TestRandom random = {3};
  const double lengths[] = {1e-3, 0.5, 0.02, 7.0, 0.1};
  for (int n = 0; n < 50; n++) {
    NoliMat3 F = random_near(&random, 0.5), U, V, P;
    double history[SIZE], sigma[3], e[3], t = 0.0;
    start_history(history);
    noli_svd3(&F, &U, sigma, &V);
    (void)noli_log_stretches(sigma, e);
    for (int i = 0; i < 5; i++) {
      step(lengths[i], &F, &F, history);
      t += lengths[i];
      double first[3];
      for (int j = 0; j < 3; j++) {
        first[j] = 0.0;
        for (int k = 0; k < prony.n; k++) {
          first[j] += 2.0 * modulus(k) * exp(-t / prony.time[k]) * e[j] / sigma[j];
        }
      }
      NoliMat3 want = noli_mul_transpose33(noli_mul33(U, noli_diagonal33(first)), V);
      NoliMaterialPoint point = point_at(history, 0.0);
      (void)viscous(&point, &F, &P);
      ASSERT_AT_MOST(difference(&P, &want), 1e-13);
    }
  }
}

// Stretches that grow at constant logarithmic rates, turned in space: with D the deviator of the
// rate, eps = T D (1 - exp(-t / T)), for steps far longer than the shortest time, too.
static void ramps_are_exact(void** state) {
  (void)state;
  const double rate[3] = {0.9, -0.2, -0.1}, mean = 0.2, h = 0.4;
  NoliMat3 Q = rotation(0.3, -0.5, 1.1), F0 = noli_identity3(), P;
  double history[SIZE];
  start_history(history);
  for (int n = 1; n <= 5; n++) {
    double stretch[3], first[3], t = n * h;
    for (int i = 0; i < 3; i++) {
      stretch[i] = exp(rate[i] * t);
      first[i] = 0.0;
      for (int k = 0; k < prony.n; k++) {
        double T = prony.time[k];
        first[i] += 2.0 * modulus(k) * T * (rate[i] - mean) * (1.0 - exp(-t / T)) / stretch[i];
      }
    }
    NoliMat3 F1 = noli_mul_transpose33(noli_mul33(Q, noli_diagonal33(stretch)), Q);
    step(h, &F0, &F1, history);
    F0 = F1;
    NoliMat3 want = noli_mul_transpose33(noli_mul33(Q, noli_diagonal33(first)), Q);
    NoliMaterialPoint point = point_at(history, 0.0);
    (void)viscous(&point, &F0, &P);
    ASSERT_AT_MOST(difference(&P, &want), 1e-13);
  }
}

// ---- any motion ---------------------------------------------------------------------------------

// A shear that grows and turns.
static NoliMat3 motion(double t) {
  NoliMat3 F = noli_identity3(), Q = rotation(0.2, 0.7, 1.3 * t);
  F.m[0][1] = sin(2.0 * t);
  F.m[2][0] = 0.4 * t * t;
  F.m[1][1] = 1.0 + 0.3 * t;
  return noli_mul33(Q, F);
}

static NoliMat3 stress_after(int n) {
  double history[SIZE], h = 1.0 / n;
  NoliMat3 P;
  start_history(history);
  for (int i = 0; i < n; i++) {
    NoliMat3 F0 = motion(i * h), F1 = motion((i + 1) * h);
    step(h, &F0, &F1, history);
  }
  NoliMaterialPoint point = point_at(history, 0.0);
  NoliMat3 F = motion(1.0);
  (void)viscous(&point, &F, &P);
  return P;
}

static void steps_converge_with_second_order(void** state) {
  (void)state;
  NoliMat3 best = stress_after(4096), coarse = stress_after(64), fine = stress_after(128);
  double ratio = difference(&coarse, &best) / difference(&fine, &best);
  assert_true(difference(&coarse, &best) > 1e-6);
  ASSERT_NEAR(ratio, 4.0, 0.4);
}

// The branches obey G = F^-1 V, dG/dt = -1 / T G dev(ln of the stretch of F G): the rate of a
// Maxwell element, by small steps of Euler's method.
static void small_steps_are_the_rate_equation(void** state) {
  (void)state;
  enum { N = 20000 };
  double h = 1.0 / N;
  NoliMat3 G[3], fine = stress_after(512), sum = {0};
  for (int k = 0; k < prony.n; k++) {
    G[k] = noli_identity3();
    for (int i = 0; i < N; i++) {
      NoliMat3 F = motion((i + 0.5) * h), FG = noli_mul33(F, G[k]), U, V;
      double sigma[3], e[3];
      noli_svd3(&FG, &U, sigma, &V);
      (void)noli_log_stretches(sigma, e);
      NoliMat3 rate = noli_mul_transpose33(noli_mul33(V, noli_diagonal33(e)), V);
      rate = noli_mul33(G[k], rate);
      G[k] = noli_sub33(G[k], noli_scale33(h / prony.time[k], rate));
    }
    NoliMat3 F = motion(1.0), FG = noli_mul33(F, G[k]), U, V;
    double sigma[3], e[3];
    noli_svd3(&FG, &U, sigma, &V);
    (void)noli_log_stretches(sigma, e);
    for (int j = 0; j < 3; j++) {
      e[j] *= 2.0 * modulus(k) / sigma[j];
    }
    NoliMat3 own = noli_mul_transpose33(noli_mul33(U, noli_diagonal33(e)), V);
    sum = noli_add33(sum, noli_mul_transpose33(own, G[k]));
  }
  assert_true(noli_norm_sqr33(&sum) > 1e-2);
  ASSERT_AT_MOST(difference(&fine, &sum), 2e-4);
}

// A body that turns in addition, in any way, has the same history and the turned stress.
static void rotations_change_no_history(void** state) {
  (void)state;
  double plain[SIZE], turned[SIZE];
  start_history(plain);
  start_history(turned);
  for (int i = 0; i < 100; i++) {
    NoliMat3 F0 = motion(0.01 * i), F1 = motion(0.01 * (i + 1));
    NoliMat3 Q0 = rotation(0.1 * i, 1.0, 0.3 * i * i),
             Q1 = rotation(0.1 * (i + 1), 1.0, 0.3 * (i + 1) * (i + 1));
    step(0.01, &F0, &F1, plain);
    F0 = noli_mul33(Q0, F0);
    F1 = noli_mul33(Q1, F1);
    step(0.01, &F0, &F1, turned);
  }
  for (int i = 0; i < SIZE; i++) {
    ASSERT_NEAR(turned[i], plain[i], 1e-12);
  }
}

// ---- the potential of a step --------------------------------------------------------------------

static double potential(void* user, const double* x, double* gradient, double* hessian) {
  const NoliMaterialPoint* point = user;
  NoliMat3 F = noli_load33(x), P;
  double energy = viscous(point, &F, &P);
  P.m[0][1] += 0.01;
  noli_store33(gradient, &P);
  for (int i = 0; hessian != NULL && i < 81; i++) {
    hessian[i] = 0.0;
  }
  for (int32_t k = 1; hessian != NULL && k < noli_branch_count(point); k++) {
    // dP = (A : dF G) G^T
    NoliBranch branch = noli_branch_at(point, k);
    NoliMat3 G = noli_load33(branch.inverse), FG = noli_mul33(F, G);
    double A[81];
    material_tangent(branch.law, branch.lame, &FG, false, A);
    for (int r = 0; r < 81 * 9; r++) {
      int i = r / 81 / 3, j = r / 81 % 3, l = r / 9 % 9 / 3, m = r / 9 % 3, a = r % 9 / 3,
          b = r % 3;
      hessian[9 * (3 * i + j) + 3 * l + m] +=
          A[9 * (3 * i + a) + 3 * l + b] * G.m[j][a] * G.m[m][b];
    }
  }
  return energy + 0.01 * x[1];
}

static void derivatives_match_differences(void** state) {
  (void)state;
  TestRandom random = {7};
  const double lengths[] = {1e-4, 0.1, 50.0};
  for (int n = 0; n < 60; n++) {
    double history[SIZE], x[9];
    NoliMat3 F = random_near(&random, 0.4);
    start_history(history);
    for (int i = 0; n % 2 == 1 && i < 3; i++) {
      NoliMat3 next = random_near(&random, 0.4);
      step(0.1, &F, &next, history);
      F = next;
    }
    // every third one where all stretches are equal
    F = n % 3 == 0 && n % 2 == 0 ? noli_identity3() : F;
    NoliMaterialPoint point = point_at(history, lengths[n % 3]);
    noli_store33(x, &F);
    test_derivatives(potential, &point, 9, x, 0.2, 1e-6, 1e-6);
  }
}

// The start of a step takes energy, and so does its end: a solver that decreases the potential
// never creates any.
static void no_step_creates_energy(void** state) {
  (void)state;
  TestRandom random = {11};
  for (int n = 0; n < 300; n++) {
    double history[SIZE], begun[SIZE], h = pow(10.0, test_random(&random, -4.0, 3.0));
    NoliMat3 F0 = noli_identity3(), P;
    start_history(history);
    for (int i = 0; i < 4; i++) {
      NoliMat3 F1 = random_near(&random, 0.5);
      NoliMaterialPoint here = point_at(history, 0.0), stage = point_at(begun, h);
      double stored = viscous(&here, &F0, &P);
      noli_history_begin(&stage, &F0, history, begun);
      double start = viscous(&stage, &F0, &P), end = viscous(&stage, &F1, &P);
      ASSERT_AT_MOST(start, stored * (1.0 + 1e-12) + 1e-15);
      NoliMat3 P_stage = P;
      noli_history_end(&stage, &F1, history);
      ASSERT_AT_MOST(viscous(&here, &F1, &P), end * (1.0 + 1e-12) + 1e-15);
      // the state has the stress of the step
      ASSERT_AT_MOST(difference(&P, &P_stage), 1e-12);
      F0 = F1;
    }
  }
}

// Long steps are those of a fluid: stress = 2 mu T rate; short ones those of a spring.
static void limits_are_a_spring_and_a_dashpot(void** state) {
  (void)state;
  NoliMat3 F0 = noli_identity3(), F1 = F0, P;
  const double e = 1e-3;
  F1.m[0][1] = F1.m[1][0] = e;
  for (int k = 0; k < 2; k++) {
    double history[SIZE], h = k == 0 ? 1e-9 : 1e5, want = 0.0;
    start_history(history);
    step(h, &F0, &F1, history);
    NoliMaterialPoint point = point_at(history, 0.0);
    (void)viscous(&point, &F1, &P);
    for (int i = 0; i < prony.n; i++) {
      want += 2.0 * modulus(i) * e * (k == 0 ? 1.0 : prony.time[i] / h);
    }
    ASSERT_NEAR(P.m[0][1], want, 1e-5 * want);
  }
}

// (I x M) A (I x M)^T, and its magnitude.
static double transform(const NoliMat3* M, const double A[81], double K[81]) {
  double most = 0.0;
  for (int r = 0; r < 9; r++) {
    for (int c = 0; c < 9; c++) {
      double sum = 0.0;
      for (int k = 0; k < 3; k++) {
        for (int l = 0; l < 3; l++) {
          sum += M->m[r % 3][k] * A[9 * (r - r % 3 + k) + c - c % 3 + l] * M->m[c % 3][l];
        }
      }
      K[9 * r + c] = sum;
      most = noli_larger(most, fabs(sum));
    }
  }
  return most;
}

// The projection of a sum is that of dP/dF, with the four nodes of a tetrahedron and with the three
// that plane strain has.
static void projections_of_sums_clamp_eigenvalues(void** state) {
  (void)state;
  TestRandom random = {31};
  for (int trial = 0; trial < 40; trial++) {
    const bool plane = trial % 2 == 1;
    const int axes = plane ? 2 : 3;
    double A[81], K[81], want[81];
    NoliMat3 M = random_near(&random, 0.6);
    memset(A, 0, sizeof A);
    for (int r = 0; r < 9; r++) {
      for (int c = 0; c <= r; c++) {
        bool moves = r % 3 < axes && c % 3 < axes;
        A[9 * r + c] = A[9 * c + r] = moves ? test_random(&random, -1.0, 1.0) : 0.0;
      }
    }
    if (plane) {
      M.m[0][2] = M.m[1][2] = M.m[2][0] = M.m[2][1] = M.m[2][2] = 0.0;
    }
    double size = transform(&M, A, K), change = 0.0;
    noli_project_psd(9, A);
    transform(&M, A, want);
    for (int i = 0; i < 81; i++) {
      change = noli_larger(change, fabs(K[i] - want[i]));
    }
    assert_true(change > 0.01 * size);
    noli_branches_project(&M, K);
    for (int i = 0; i < 81; i++) {
      ASSERT_NEAR(K[i], want[i], 1e-11 * size);
    }
  }
}

// An inverted element has an infinite energy and no derivatives.
static void inversion_is_infeasible(void** state) {
  (void)state;
  double history[SIZE];
  start_history(history);
  NoliMaterialPoint point = point_at(history, 0.1);
  NoliBranch branch = noli_branch_at(&point, 1);
  const double flat[3] = {1.0, 1.0, 0.0}, inverted[3] = {1.0, 0.9, -0.2};
  NoliStretchDerivatives d;
  assert_true(branch.law->stretch_energy(branch.lame, flat) == (double)INFINITY);
  assert_true(branch.law->stretch_energy(branch.lame, inverted) == (double)INFINITY);
  branch.law->stretch_derivatives(branch.lame, inverted, &d);
  assert_true(isnan(d.first[0]) && isnan(d.second[1][2]) && isnan(d.flip[0]) && isnan(d.twist[2]));
}

// ---- derivatives of histories -------------------------------------------------------------------

static void add_to(const double* d, double factor, int32_t n, double* to) {
  for (int32_t i = 0; i < n; i++) {
    to[i] += factor * d[i];
  }
}

static NoliMat3 moved(const NoliMat3* F, double factor, const NoliMat3* dF) {
  return noli_add33(*F, noli_scale33(factor, *dF));
}

static void change_history(const NoliProny* series, bool ends, double elapsed, const NoliMat3* F,
                           const double* before, double* after) {
  NoliMaterialPoint point = point_at(before, elapsed);
  point.prony = series;
  if (ends) {
    noli_history_end(&point, F, after);
  } else {
    noli_history_begin(&point, F, before, after);
  }
}

// Forward against differences, in reverse against forward; `before` may be that of the rest shape.
static void require_derivatives(TestRandom* random, bool ends, double elapsed, const NoliMat3* F,
                                const double* before) {
  const double step = 1e-5;
  double d_before[SIZE], d_after[SIZE], by_after[SIZE], by_before[SIZE] = {0.0}, end[2][SIZE];
  double d_numbers[NOLI_MATERIAL_NUMBERS] = {0.0}, by_numbers[NOLI_MATERIAL_NUMBERS];
  NoliMat3 dF, by_F;
  for (int32_t k = 0; k < prony.n; k++) {
    d_numbers[NOLI_NUMBER_TIMES + k] = test_random(random, -1.0, 1.0) * prony.time[k];
    d_numbers[NOLI_NUMBER_SHARES + k] = test_random(random, -1.0, 1.0);
  }
  for (int i = 0; i < 9; i++) {
    dF.m[i / 3][i % 3] = test_random(random, -1.0, 1.0);
  }
  for (int32_t i = 0; i < SIZE; i++) {
    d_before[i] = test_random(random, -1.0, 1.0);
    by_after[i] = test_random(random, -1.0, 1.0);
  }
  NoliMaterialPoint point = point_at(before, elapsed);
  NoliRelaxation at = {.ends = ends, .F = *F, .before = before};
  noli_history_change_tangent(&point, &at, &dF, d_before, d_numbers, d_after);
  for (int side = 0; side < 2; side++) {
    double h = side == 0 ? -step : step, varied[SIZE];
    NoliMat3 G = moved(F, h, &dF);
    memcpy(varied, before, sizeof varied);
    NoliProny series = prony;
    add_to(d_before, h, SIZE, varied);
    add_to(d_numbers + NOLI_NUMBER_TIMES, h, prony.n, series.time);
    change_history(&series, ends, elapsed, &G, varied, end[side]);
  }
  double forward = 0.0, reverse = 0.0;
  noli_history_change_adjoint(&point, &at, by_after, &by_F, by_before, by_numbers);
  for (int k = 0; k < NOLI_MATERIAL_NUMBERS; k++) {
    reverse += by_numbers[k] * d_numbers[k];
  }
  for (int32_t i = 0; i < SIZE; i++) {
    ASSERT_NEAR(d_after[i], (end[1][i] - end[0][i]) / (2.0 * step), 1e-7);
    forward += by_after[i] * d_after[i];
    reverse += by_before[i] * d_before[i];
  }
  for (int i = 0; i < 9; i++) {
    reverse += by_F.m[i / 3][i % 3] * dF.m[i / 3][i % 3];
  }
  ASSERT_NEAR(reverse, forward, 1e-12);
}

static void derivatives_of_histories_match_differences(void** state) {
  (void)state;
  TestRandom random = {67};
  for (int i = 0; i < 100; i++) {
    double history[SIZE], elapsed = (double[]){1e-4, 0.1, 3.0}[i % 3];
    NoliMat3 F0 = random_near(&random, 0.4), F1 = random_near(&random, 0.4);
    start_history(history);
    if (i % 4 == 1) {
      F0 = F1 = rotation(0.3, -0.2, 0.7); // at rest, all stretches are 1
    } else if (i % 4 == 2) {
      F1 = noli_diagonal33((double[]){1.2, 1.2, 0.9}); // two of them meet
    } else {
      step(0.5, &F0, &F1, history);
    }
    require_derivatives(&random, false, elapsed, &F1, history);
    require_derivatives(&random, true, elapsed, &F1, history);
  }
}

static void require_stress(const double* got, int c, const NoliMat3 P[2], double step) {
  for (int r = 0; r < 9; r++) {
    double want = (P[1].m[r / 3][r % 3] - P[0].m[r / 3][r % 3]) / (2.0 * step);
    ASSERT_NEAR(got[9 * r + c], want, 1e-7);
  }
}

static void derivatives_of_stress_match_differences(void** state) {
  (void)state;
  const double change = 1e-5;
  TestRandom random = {71};
  for (int i = 0; i < 50; i++) {
    double history[SIZE], derivative[81], A[81];
    NoliMat3 F0 = random_near(&random, 0.3), F = random_near(&random, 0.3), total, P[2];
    start_history(history);
    step(0.5, &F0, &F, history);
    NoliMaterialPoint point = point_at(history, 0.1);
    noli_history_tangent(&point, &F, &total, A);
    for (int32_t k = 0; k < prony.n; k++) {
      noli_history_stress_derivative(&point, k + 1, &F, derivative);
      for (int c = 0; c < 9; c++) {
        double* G = history + noli_history_place(&point, k) + c;
        double at = *G;
        for (int side = 0; side < 2; side++) {
          *G = at + (side == 0 ? -change : change);
          (void)viscous(&point, &F, &P[side]);
        }
        *G = at;
        require_stress(derivative, c, P, change);
      }
    }
    for (int c = 0; c < 9; c++) {
      for (int side = 0; side < 2; side++) {
        NoliMat3 at = F, own;
        at.m[c / 3][c % 3] += side == 0 ? -change : change;
        (void)viscous(&point, &at, &P[side]);
        own = material_stress(point.law, point.lame, &at);
        P[side] = noli_add33(P[side], own);
      }
      require_stress(A, c, P, change);
    }
    (void)viscous(&point, &F, &P[0]);
    NoliMat3 own = material_stress(point.law, point.lame, &F);
    P[0] = noli_add33(P[0], own);
    assert_true(difference(&P[0], &total) < 1e-12);
  }
}

// ---- derivatives by numbers of materials --------------------------------------------------------

static const double fibre_given[] = {0.6, 0.0, 0.8, 2.0, 1.5};

// A material, with all of its numbers in one place.
typedef struct Numbers {
  NoliLame lame;
  double parameter[NOLI_LAW_PARAMETERS];
  double fibre[NOLI_FIBRE_VALUES];
  NoliProny prony;
} Numbers;

static double* number_at(Numbers* of, int k) {
  return k == NOLI_NUMBER_MU       ? &of->lame.mu
         : k == NOLI_NUMBER_LAMBDA ? &of->lame.lambda
         : k < NOLI_NUMBER_FIBRE   ? &of->parameter[k - NOLI_NUMBER_PARAMETERS]
         : k < NOLI_NUMBER_SHARES  ? &of->fibre[3 + k - NOLI_NUMBER_FIBRE]
         : k < NOLI_NUMBER_TIMES   ? &of->prony.share[k - NOLI_NUMBER_SHARES]
                                   : &of->prony.time[k - NOLI_NUMBER_TIMES];
}

static NoliMaterialPoint material_of(Numbers* of, const NoliMaterial* law, const double* history,
                                     double elapsed) {
  NoliMaterialPoint point = {.law = law,
                             .lame = of->lame,
                             .prony = of->prony.n > 0 ? &of->prony : NULL,
                             .history = history,
                             .elapsed = elapsed};
  point.lame.parameter = law->n_parameter > 0 ? of->parameter : NULL;
  point.lame.fibre = of->fibre;
  return point;
}

// Stress and energy, of fibres, too.
static double respond(const NoliMaterialPoint* point, const NoliMat3* F, NoliMat3* P) {
  double A[81];
  noli_history_tangent(point, F, P, A);
  return noli_history_energy(point, F);
}

// The stress and energy of a rubber with fibres and a series, by every number.
static void require_numbers(TestRandom* random, const NoliMaterial* law, const double* parameter,
                            int32_t n_parameter, const NoliMat3* F) {
  Numbers at = {.lame = lame, .prony = prony};
  NoliMat3 by[NOLI_MATERIAL_NUMBERS], P[2];
  double history[SIZE], by_history[SIZE], by_energy[NOLI_MATERIAL_NUMBERS], energy[2];
  NoliMat3 F0 = random_near(random, 0.3), F1 = random_near(random, 0.3);
  for (int32_t i = 0; i < n_parameter; i++) {
    at.parameter[i] = parameter[i];
  }
  memcpy(at.fibre, fibre_given, sizeof at.fibre);
  start_history(history);
  step(0.5, &F0, &F1, history);
  NoliMaterialPoint point = material_of(&at, law, history, 0.1);
  noli_history_stress_by_numbers(&point, F, by);
  noli_history_energy_derivatives(&point, F, by_history, by_energy);
  for (int k = 0; k < NOLI_MATERIAL_NUMBERS; k++) {
    bool has = k < NOLI_NUMBER_PARAMETERS + n_parameter || k >= NOLI_NUMBER_FIBRE;
    has = has && (k < NOLI_NUMBER_SHARES || (k - NOLI_NUMBER_SHARES) % NOLI_PRONY_TERMS < prony.n);
    double change = 1e-5 * (1.0 + fabs(*number_at(&at, k)));
    for (int side = 0; side < 2; side++) {
      Numbers varied = at;
      *number_at(&varied, k) += side == 0 ? -change : change;
      NoliMaterialPoint moved_point = material_of(&varied, law, history, 0.1);
      energy[side] = has ? respond(&moved_point, F, &P[side]) : 0.0;
    }
    for (int r = 0; has && r < 9; r++) {
      double want = (P[1].m[r / 3][r % 3] - P[0].m[r / 3][r % 3]) / (2.0 * change);
      double rounding = 1e-14 * fabs(P[0].m[r / 3][r % 3]) / change;
      ASSERT_NEAR(by[k].m[r / 3][r % 3], want, 1e-7 * (1.0 + fabs(want)) + rounding);
    }
    double want = (energy[1] - energy[0]) / (2.0 * change);
    double rounding = 1e-14 * fabs(energy[0]) / change;
    ASSERT_NEAR(by_energy[k], want, 1e-7 * (1.0 + fabs(want)) + rounding);
  }
}

static void derivatives_by_numbers_match_differences(void** state) {
  (void)state;
  static const double rubber[] = {1.1, 1.7, -0.3, -2.4, 0.5, 4.0}, mooney[] = {0.5, 0.2};
  static const double stretches[][3] = {{1.0, 1.0, 1.0},           {1.3, 1.3, 0.8},
                                        {1.0, 1 - 1e-9, 1 - 2e-9}, {1.2, 1.2 - 1e-7, 0.7},
                                        {1.6, 1.2, 0.2},           {3.0, 0.9, 0.6}};
  TestRandom random = {73};
  for (int i = 0; i < 40; i++) {
    NoliMat3 F = i % 2 == 0 ? random_near(&random, 0.4) : noli_diagonal33(stretches[i / 2 % 6]);
    require_numbers(&random, &noli_ogden, rubber, 6, &F);
    require_numbers(&random, &noli_mooney_rivlin, mooney, 2, &F);
    require_numbers(&random, &noli_neo_hookean, NULL, 0, &F);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(relaxation_is_exact),
      cmocka_unit_test(ramps_are_exact),
      cmocka_unit_test(steps_converge_with_second_order),
      cmocka_unit_test(small_steps_are_the_rate_equation),
      cmocka_unit_test(rotations_change_no_history),
      cmocka_unit_test(derivatives_match_differences),
      cmocka_unit_test(derivatives_of_histories_match_differences),
      cmocka_unit_test(derivatives_of_stress_match_differences),
      cmocka_unit_test(derivatives_by_numbers_match_differences),
      cmocka_unit_test(no_step_creates_energy),
      cmocka_unit_test(limits_are_a_spring_and_a_dashpot),
      cmocka_unit_test(projections_of_sums_clamp_eigenvalues),
      cmocka_unit_test(inversion_is_infeasible),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
