// J2 plasticity at one point: the potential against a search for its minimum and against
// differences, paths with reversals against closed forms, objectivity, volume and energy.
#include "material/reference.h"
#include "support.h"

#include "material/hencky.h"
#include "material/history.h"
#include "material/law_history_derivatives.h"

enum { SIZE = NOLI_BRANCH_VALUES + 1 };

// Perfectly plastic, with linear hardening, with saturation, with both.
static const double parameters[][NOLI_LAW_PARAMETERS] = {
    {0.3}, {0.3, 0.2}, {0.3, 0.0, 0.4, 5.0}, {0.3, 0.1, 0.2, 30.0}};
enum { N_LAWS = sizeof parameters / sizeof *parameters };

static NoliMaterialPoint point_of(int law, const double* history) {
  return (NoliMaterialPoint){.law = &noli_hencky,
                             .lame = {.mu = 1.3, .lambda = 2.1, .parameter = parameters[law]},
                             .history = history};
}

static NoliMat3 random_near(TestRandom* random, double size) {
  NoliMat3 F;
  do {
    for (int i = 0; i < 9; i++) {
      F.m[i / 3][i % 3] = (i % 4 == 0 ? 1.0 : 0.0) + test_random(random, -size, size);
    }
  } while (!(noli_det33(&F) > 0.3));
  return F;
}

static double energy_of(const NoliMaterialPoint* point, const NoliMat3* F) {
  NoliBranch branch = noli_branch_at(point, 0);
  NoliMat3 FG = noli_branch_times(&branch, F);
  return material_energy(branch.law, branch.lame, &FG);
}

static NoliMat3 stress_of(const NoliMaterialPoint* point, const NoliMat3* F) {
  NoliBranch branch = noli_branch_at(point, 0);
  NoliMat3 FG = noli_branch_times(&branch, F);
  NoliMat3 P = material_stress(branch.law, branch.lame, &FG);
  return noli_branch_adjoint(&branch, &P);
}

static void step(int law, const NoliMat3* F, double* history) {
  double begun[SIZE];
  NoliMaterialPoint point = point_of(law, begun);
  noli_history_begin(&point, F, history, begun);
  noli_history_end(&point, F, history);
}

static void start(int law, double* history) {
  NoliMaterialPoint point = point_of(law, NULL);
  assert_int_equal(noli_history_size(&point), SIZE);
  noli_history_start(&point, history);
}

// The yield stress and its integral from 0, as they are defined.
static double yield(int law, double a) {
  const double* p = parameters[law];
  return p[0] + p[1] * a + p[2] * (1.0 - exp(-p[3] * a));
}
static double work(int law, double a) {
  const double* p = parameters[law];
  return p[0] * a + 0.5 * p[1] * a * a +
         (p[3] > 0.0 ? p[2] * (a - (1.0 - exp(-p[3] * a)) / p[3]) : 0.0);
}

// ---- the potential ------------------------------------------------------------------------------

static void potential_is_a_minimum(void** state) {
  (void)state;
  int n_plastic = 0;
  for (int law = 0; law < N_LAWS; law++) {
    for (int k = 0; k < 40; k++) {
      double a = 0.1 * (k % 4), e = 0.02 * k, s = 0.01 * (k % 5), internal[1] = {a}, mu = 1.3;
      const double sigma[3] = {exp(e + s), exp(-0.3 * e + s), exp(-0.7 * e + s)};
      NoliLame lame = {.mu = mu, .lambda = 2.1, .parameter = parameters[law], .internal = internal};
      double norm = e * sqrt(1.0 + 0.09 + 0.49), q = sqrt(6.0) * mu * norm;
      double bulk = 2.1 + 2.0 / 3.0 * mu, best = (double)INFINITY, w_best = 0.0;
      for (int i = 0; i <= 200000; i++) {
        double w = i * 2e-5 * q / (3.0 * mu) / 4.0, left = q - 3.0 * mu * w;
        double energy = left * left / (6.0 * mu) + work(law, a + w) - work(law, a);
        if (energy < best) {
          best = energy;
          w_best = w;
        }
      }
      double got = noli_hencky.stretch_energy(lame, sigma);
      ASSERT_NEAR(got, best + 0.5 * bulk * 9.0 * s * s, 1e-9);
      double after[1];
      double factor = noli_hencky.flow(lame, sigma, after);
      ASSERT_NEAR(after[0] - a, w_best, 1e-4);
      bool flows = q > yield(law, a);
      n_plastic += flows ? 1 : 0;
      ASSERT_NEAR(factor * q, flows ? yield(law, after[0]) : q, 1e-13);
    }
  }
  assert_in_range(n_plastic, 60, 150);
}

typedef struct At {
  NoliMaterialPoint point;
} At;

static double function(void* user, const double* x, double* gradient, double* hessian) {
  const At* at = user;
  NoliMat3 F = noli_load33(x), P = stress_of(&at->point, &F);
  P.m[0][1] += 0.01;
  noli_store33(gradient, &P);
  if (hessian != NULL) {
    NoliBranch branch = noli_branch_at(&at->point, 0);
    NoliMat3 G = noli_load33(branch.inverse), FG = noli_mul33(F, G);
    double A[81];
    material_tangent(branch.law, branch.lame, &FG, false, A);
    for (int r = 0; r < 9; r++) {
      for (int c = 0; c < 9; c++) {
        double sum = 0.0;
        for (int k = 0; k < 9; k++) {
          sum += A[9 * (r / 3 * 3 + k / 3) + c / 3 * 3 + k % 3] * G.m[r % 3][k / 3] *
                 G.m[c % 3][k % 3];
        }
        hessian[9 * r + c] = sum;
      }
    }
  }
  return energy_of(&at->point, &F) + 0.01 * x[1];
}

// At random, far in the plastic range, after several steps, and where stretches coincide.
static void derivatives_match_differences(void** state) {
  (void)state;
  TestRandom random = {5};
  int n_plastic = 0;
  for (int n = 0; n < 120; n++) {
    int law = n % N_LAWS;
    double history[SIZE], x[9], sigma[3], e[3];
    start(law, history);
    for (int i = 0; i < n % 3; i++) {
      NoliMat3 F = random_near(&random, 0.4);
      step(law, &F, history);
    }
    NoliMat3 F = random_near(&random, n % 5 == 0 ? 0.05 : 0.5), U, V;
    if (n % 7 == 0 && n % 3 == 0) {
      F = noli_diagonal33((double[3]){1.4, 0.8, 0.8});
    }
    At at = {point_of(law, history)};
    NoliMat3 FG = noli_mul33(F, noli_load33(history));
    noli_svd3(&FG, &U, sigma, &V);
    (void)noli_log_stretches(sigma, e);
    double q = 1.3 * sqrt(6.0 * (e[0] * e[0] + e[1] * e[1] + e[2] * e[2]));
    double y = yield(law, history[NOLI_BRANCH_VALUES]);
    if (fabs(q / y - 1.0) < 0.02) {
      continue; // the tangent has a jump there
    }
    n_plastic += q > y ? 1 : 0;
    noli_store33(x, &F);
    test_derivatives(function, &at, 9, x, 0.05, 1e-6, 1e-6);
  }
  assert_in_range(n_plastic, 60, 115);
}

// Energy and stress on either side of the onset of yield.
static void onset_is_smooth(void** state) {
  (void)state;
  for (int law = 0; law < N_LAWS; law++) {
    double history[SIZE], onset = 0.3 / (3.0 * 1.3), energy[2];
    NoliMat3 P[2];
    start(law, history);
    NoliMaterialPoint point = point_of(law, history);
    for (int k = 0; k < 2; k++) {
      double e = onset + (k == 0 ? -1e-9 : 1e-9);
      NoliMat3 F = noli_diagonal33((double[3]){exp(e), exp(-0.5 * e), exp(-0.5 * e)});
      energy[k] = energy_of(&point, &F);
      P[k] = stress_of(&point, &F);
    }
    ASSERT_NEAR(energy[1], energy[0], 1e-8);
    for (int i = 0; i < 9; i++) {
      ASSERT_NEAR(P[1].m[i / 3][i % 3], P[0].m[i / 3][i % 3], 1e-7);
    }
  }
}

// ---- paths --------------------------------------------------------------------------------------

// An isochoric stretch (e, -e/2, -e/2) up, back through zero and up again, in steps of different
// numbers, against the scalar model q = 3 mu (e - p) with |q| <= y, turned in space.
static void reversals_follow_the_scalar_model(void** state) {
  (void)state;
  const double path[] = {0.0, 0.4, -0.3, 0.05, 0.6}, mu = 1.3;
  for (int law = 0; law < N_LAWS; law++) {
    for (int n = 1; n <= 50; n += 49) {
      NoliMat3 Q = noli_identity3();
      Q.m[0][0] = Q.m[1][1] = cos(0.7);
      Q.m[0][1] = -(Q.m[1][0] = sin(0.7));
      double history[SIZE], p = 0.0, a = 0.0;
      start(law, history);
      for (int leg = 1; leg < 5; leg++) {
        for (int i = 1; i <= n; i++) {
          double e = path[leg - 1] + (path[leg] - path[leg - 1]) * i / n;
          NoliMat3 F = noli_diagonal33((double[3]){exp(e), exp(-0.5 * e), exp(-0.5 * e)});
          F = noli_mul_transpose33(noli_mul33(Q, F), Q);
          step(law, &F, history);

          // the scalar model, by bisection
          double trial = 3.0 * mu * (e - p), sign = trial > 0.0 ? 1.0 : -1.0;
          double low = 0.0, high = fabs(trial) / (3.0 * mu);
          for (int b = 0; b < 200 && fabs(trial) > yield(law, a); b++) {
            double w = 0.5 * (low + high);
            bool more = fabs(trial) - 3.0 * mu * w > yield(law, a + w);
            low = more ? w : low;
            high = more ? high : w;
          }
          double w = fabs(trial) > yield(law, a) ? low : 0.0;
          p += sign * w;
          a += w;
          NoliMaterialPoint point = point_of(law, history);
          NoliMat3 P = stress_of(&point, &F);
          NoliMat3 tau = noli_mul33(noli_transpose33(Q), noli_mul_transpose33(P, F));
          tau = noli_mul33(tau, Q);
          ASSERT_NEAR(tau.m[0][0] - tau.m[1][1], 3.0 * mu * (e - p), 1e-11);
          ASSERT_NEAR(history[NOLI_BRANCH_VALUES], a, 1e-12);
        }
      }
      assert_true(a > 0.5);
    }
  }
}

// Any path: rotations of the body change no history, flow keeps the volume, the energy of the state
// is at most the potential, and the potential at the start is that energy.
static void any_path_is_objective_and_dissipates(void** state) {
  (void)state;
  TestRandom random = {19};
  for (int n = 0; n < 100; n++) {
    int law = n % N_LAWS;
    double one[SIZE], other[SIZE], a = 0.0;
    start(law, one);
    start(law, other);
    NoliMat3 F0 = noli_identity3();
    for (int i = 0; i < 20; i++) {
      NoliMat3 F = random_near(&random, 0.4), R = random_near(&random, 0.9), U, V;
      double sigma[3];
      noli_svd3(&R, &U, sigma, &V);
      NoliMat3 turned = noli_mul33(noli_mul_transpose33(U, V), F);
      NoliMaterialPoint point = point_of(law, one);
      double stored = energy_of(&point, &F0), potential = energy_of(&point, &F);
      NoliMat3 P = stress_of(&point, &F);
      assert_true(stored >= 0.0);
      step(law, &F, one);
      step(law, &turned, other);
      ASSERT_AT_MOST(energy_of(&point, &F), potential + 1e-14);
      // the state has the stress of the step
      NoliMat3 P_state = stress_of(&point, &F);
      for (int k = 0; k < 9; k++) {
        ASSERT_NEAR(P_state.m[k / 3][k % 3], P.m[k / 3][k % 3], 1e-12);
      }
      NoliMat3 G = noli_load33(one);
      ASSERT_NEAR(noli_det33(&G), 1.0, 1e-12);
      assert_true(one[NOLI_BRANCH_VALUES] >= a);
      a = one[NOLI_BRANCH_VALUES];
      F0 = F;
    }
    for (int i = 0; i < SIZE; i++) {
      ASSERT_NEAR(other[i], one[i], 1e-10);
    }
    assert_true(a > 1.0);
  }
}

// After a step the tangent is that of unloading: the same law at the same elastic strain without a
// yield stress.
static void states_unload_elastically(void** state) {
  (void)state;
  TestRandom random = {23};
  for (int n = 0; n < 200; n++) {
    int law = n % N_LAWS;
    double history[SIZE], tangent[81], elastic[81];
    start(law, history);
    // also a metal: strains of 1e-4
    NoliMat3 F = random_near(&random, n % 2 == 0 ? 0.4 : 1e-3);
    NoliMaterialPoint point = point_of(law, history);
    point.lame.mu = n % 2 == 0 ? 1.3 : 1e3;
    point.lame.lambda = 2.1 * point.lame.mu;
    for (int i = 0; i < 3; i++) {
      double begun[SIZE];
      NoliMaterialPoint stage = point;
      stage.history = begun;
      noli_history_begin(&stage, &F, history, begun);
      noli_history_end(&stage, &F, history);
    }
    assert_true(history[NOLI_BRANCH_VALUES] > 0.0);
    NoliBranch branch = noli_branch_at(&point, 0);
    NoliMat3 FG = noli_branch_times(&branch, &F);
    material_tangent(branch.law, branch.lame, &FG, false, tangent);
    branch.lame.parameter = NULL;
    material_tangent(branch.law, branch.lame, &FG, false, elastic);
    assert_memory_equal(tangent, elastic, sizeof tangent);
  }
}

// ---- derivatives --------------------------------------------------------------------------------

// A point with moduli and parameters that vary, and terms that relax in addition.
enum { N_TERMS = 2, ALL = SIZE + N_TERMS * NOLI_BRANCH_VALUES };
static const NoliProny prony = {.n = N_TERMS, .share = {0.3, 0.2}, .time = {0.1, 2.0}};

typedef struct Point {
  double number[NOLI_MATERIAL_NUMBERS];
  double history[ALL];
  NoliMat3 F;
} Point;

static NoliMaterialPoint material_of(const Point* p) {
  return (NoliMaterialPoint){.law = &noli_hencky,
                             .lame = {.mu = p->number[NOLI_NUMBER_MU],
                                      .lambda = p->number[NOLI_NUMBER_LAMBDA],
                                      .parameter = p->number + NOLI_NUMBER_PARAMETERS},
                             .prony = &prony,
                             .history = p->history,
                             .elapsed = 0.2};
}

// Some point of a path, far from the switch; `flows`: it flows in the next step.
static Point random_point(TestRandom* random, int i, bool* flows) {
  Point p = {.number = {1.3, 2.1}};
  memcpy(p.number + NOLI_NUMBER_PARAMETERS, parameters[i % N_LAWS], sizeof parameters[0]);
  double excess;
  do {
    NoliMaterialPoint material = material_of(&p);
    noli_history_start(&material, p.history);
    for (int k = 0; k < i % 3; k++) {
      double begun[ALL];
      NoliMat3 F = random_near(random, 0.4);
      material.history = begun;
      noli_history_begin(&material, &F, p.history, begun);
      noli_history_end(&material, &F, p.history);
    }
    p.F = random_near(random, i % 2 == 0 ? 0.4 : 0.03);
    if (i % 2 == 1) { // unloaded
      NoliMat3 G = noli_load33(p.history);
      p.F = noli_mul33(p.F, noli_inverse33(&G));
    }
    if (i % 5 == 4) {
      p.F = noli_diagonal33((double[]){1.3, 1.3, 0.8}); // two stretches meet
    }
    material.history = p.history;
    excess = noli_history_switch(&material, &p.F);
  } while (excess < 1e-2);
  NoliMaterialPoint material = material_of(&p);
  NoliBranch branch = noli_branch_at(&material, 0);
  NoliMat3 FG = noli_branch_times(&branch, &p.F), U, V;
  double sigma[3], internal[1];
  noli_svd3(&FG, &U, sigma, &V);
  *flows = branch.law->flow(branch.lame, sigma, internal) < 1.0;
  return p;
}

static Point random_change(TestRandom* random) {
  Point d = {.number = {0.0}};
  for (int i = 0; i < NOLI_NUMBER_PARAMETERS + 4; i++) {
    d.number[i] = test_random(random, -0.3, 0.3);
  }
  for (int i = 0; i < ALL; i++) {
    d.history[i] = test_random(random, -0.3, 0.3);
  }
  for (int i = 0; i < 9; i++) {
    d.F.m[i / 3][i % 3] = test_random(random, -0.3, 0.3);
  }
  return d;
}

static Point moved(const Point* p, double h, const Point* d) {
  Point q = *p;
  for (int i = 0; i < NOLI_MATERIAL_NUMBERS; i++) {
    q.number[i] += h * d->number[i];
  }
  q.number[NOLI_NUMBER_PARAMETERS + 3] =
      p->number[NOLI_NUMBER_PARAMETERS + 3] > 0.0 ? q.number[NOLI_NUMBER_PARAMETERS + 3] : 0.0;
  for (int i = 0; i < ALL; i++) {
    q.history[i] += h * d->history[i];
  }
  q.F = noli_add33(p->F, noli_scale33(h, d->F));
  return q;
}

// Forward against differences, in reverse against forward.
static void check_relaxation(TestRandom* random, const Point* p, bool ends) {
  const double h = 1e-6;
  Point d = random_change(random);
  double end[2][ALL], d_after[ALL], by_after[ALL], by_before[ALL] = {0.0}, forward = 0.0,
                                                   reverse = 0.0;
  double by_numbers[NOLI_MATERIAL_NUMBERS];
  NoliMat3 by_F;
  for (int side = 0; side < 2; side++) {
    Point q = moved(p, side == 0 ? -h : h, &d);
    NoliMaterialPoint material = material_of(&q);
    if (ends) {
      noli_history_end(&material, &q.F, end[side]);
    } else {
      noli_history_begin(&material, &q.F, q.history, end[side]);
    }
  }
  NoliMaterialPoint material = material_of(p);
  NoliRelaxation at = {.ends = ends, .F = p->F, .before = p->history};
  d.number[NOLI_NUMBER_PARAMETERS + 3] *= p->number[NOLI_NUMBER_PARAMETERS + 3] > 0.0 ? 1.0 : 0.0;
  noli_history_change_tangent(&material, &at, &d.F, d.history, d.number, d_after);
  for (int i = 0; i < ALL; i++) {
    ASSERT_NEAR(d_after[i], (end[1][i] - end[0][i]) / (2.0 * h), 1e-7);
    by_after[i] = test_random(random, -1.0, 1.0);
    forward += by_after[i] * d_after[i];
  }
  noli_history_change_adjoint(&material, &at, by_after, &by_F, by_before, by_numbers);
  for (int i = 0; i < NOLI_MATERIAL_NUMBERS; i++) {
    reverse += by_numbers[i] * d.number[i];
  }
  for (int i = 0; i < ALL; i++) {
    reverse += by_before[i] * d.history[i];
  }
  for (int i = 0; i < 9; i++) {
    reverse += by_F.m[i / 3][i % 3] * d.F.m[i / 3][i % 3];
  }
  ASSERT_NEAR(reverse, forward, 1e-12);
}

static NoliMat3 total_stress(const Point* p) {
  NoliMaterialPoint material = material_of(p);
  NoliMat3 P;
  double A[81];
  noli_history_tangent(&material, &p->F, &P, A);
  return P;
}

// By all that it depends on, in one direction.
static void check_stress(TestRandom* random, const Point* p) {
  const double h = 1e-6;
  Point d = random_change(random);
  NoliMaterialPoint material = material_of(p);
  NoliMat3 P, by[NOLI_MATERIAL_NUMBERS], change = {0};
  double A[81], derivative[81];
  d.number[NOLI_NUMBER_PARAMETERS + 3] *= p->number[NOLI_NUMBER_PARAMETERS + 3] > 0.0 ? 1.0 : 0.0;
  noli_history_tangent(&material, &p->F, &P, A);
  for (int r = 0; r < 81; r++) {
    change.m[r / 27][r / 9 % 3] += A[r] * d.F.m[r % 9 / 3][r % 3];
  }
  for (int32_t k = 0; k < noli_branch_count(&material); k++) {
    noli_history_stress_derivative(&material, k, &p->F, derivative);
    const double* dG = d.history + (k == 0 ? 0 : noli_history_place(&material, k - 1));
    for (int r = 0; r < 81; r++) {
      change.m[r / 27][r / 9 % 3] += derivative[r] * dG[r % 9];
    }
  }
  NoliMat3 internal = noli_history_stress_by_internal(&material, &p->F);
  change = noli_add33(change, noli_scale33(d.history[NOLI_BRANCH_VALUES], internal));
  noli_history_stress_by_numbers(&material, &p->F, by);
  for (int k = 0; k < NOLI_MATERIAL_NUMBERS; k++) {
    change = noli_add33(change, noli_scale33(d.number[k], by[k]));
  }
  Point plus = moved(p, h, &d), minus = moved(p, -h, &d);
  NoliMat3 up = total_stress(&plus), down = total_stress(&minus);
  for (int i = 0; i < 9; i++) {
    double want = (up.m[i / 3][i % 3] - down.m[i / 3][i % 3]) / (2.0 * h);
    ASSERT_NEAR(change.m[i / 3][i % 3], want, 1e-7);
  }
}

// Outside of stages nothing flows.
static void check_energy(TestRandom* random, const Point* p) {
  const double h = 1e-6;
  Point d = random_change(random);
  NoliMaterialPoint material = material_of(p);
  double by_history[ALL], by_moduli[NOLI_MATERIAL_NUMBERS];
  NoliMat3 P = total_stress(p);
  noli_history_energy_derivatives(&material, &p->F, by_history, by_moduli);
  double change = by_moduli[0] * d.number[0] + by_moduli[1] * d.number[1];
  for (int i = 0; i < ALL; i++) {
    change += by_history[i] * d.history[i];
  }
  for (int i = 0; i < 9; i++) {
    change += P.m[i / 3][i % 3] * d.F.m[i / 3][i % 3];
  }
  Point plus = moved(p, h, &d), minus = moved(p, -h, &d);
  NoliMaterialPoint up = material_of(&plus), down = material_of(&minus);
  double want = noli_history_energy(&up, &plus.F) - noli_history_energy(&down, &minus.F);
  ASSERT_NEAR(change, want / (2.0 * h), 1e-7);
}

static void flow_derivatives_match_differences(void** state) {
  (void)state;
  TestRandom random = {97};
  int n_flow = 0, n_elastic = 0;
  for (int i = 0; i < 120; i++) {
    bool flows;
    Point p = random_point(&random, i, &flows);
    check_relaxation(&random, &p, true);
    check_relaxation(&random, &p, false);
    check_stress(&random, &p);
    if (!flows) {
      check_energy(&random, &p);
    }
    n_flow += flows ? 1 : 0;
    n_elastic += flows ? 0 : 1;
  }
  print_message("%d flow, %d do not\n", n_flow, n_elastic);
  assert_true(n_flow > 30 && n_elastic > 30);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(flow_derivatives_match_differences),
      cmocka_unit_test(potential_is_a_minimum),
      cmocka_unit_test(derivatives_match_differences),
      cmocka_unit_test(onset_is_smooth),
      cmocka_unit_test(reversals_follow_the_scalar_model),
      cmocka_unit_test(any_path_is_objective_and_dissipates),
      cmocka_unit_test(states_unload_elastically),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
