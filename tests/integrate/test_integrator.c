// The stage form against the methods that it represents: stability functions, orders, y' of a
// stage.
#include "support.h"

#include "integrate/integrator.h"

#include <complex.h>

// The linear oscillator x' = v, v' = -omega^2 x - 2 delta v + load, of mass 2.
typedef struct Oscillator {
  double omega_sqr;
  double delta;
  double load;
} Oscillator;

#define MASS 2.0
enum { N = 3 }; // one node, three components with data of their own

// History of one node, as the simulator keeps it.
typedef struct Run {
  const NoliIntegrator* integrator;
  Oscillator oscillator;
  double h;
  bool past;
  double x[N], v[N], force[N], x_before[N], v_before[N];
} Run;

static double force_at(const Oscillator* oscillator, double x, double v) {
  return MASS * (oscillator->load - oscillator->omega_sqr * x - 2.0 * oscillator->delta * v);
}

// Solves MASS (x - x_tilde) = h_e^2 f(x, (x - x_hat) / h_v) in closed form.
static void solve_stage(const Oscillator* oscillator, const NoliStageTime* time, double* x) {
  double e_sqr = time->h_e * time->h_e, damp = 2.0 * oscillator->delta / time->h_v;
  for (int i = 0; i < N; i++) {
    x[i] = (time->x_tilde[i] + e_sqr * (oscillator->load + damp * time->x_hat[i])) /
           (1.0 + e_sqr * (oscillator->omega_sqr + damp));
  }
}

static void step(Run* run) {
  const NoliIntegrator* rule = run->integrator;
  double mass = MASS, x_tilde[N], x_hat[N], x_first[N], v_first[N], x[N], v[N];

  // without a past the starter takes the step
  if (!run->past && rule->starter != NULL) {
    rule = rule->starter;
  }
  for (int i = 0; i < N && !run->past; i++) {
    run->force[i] = force_at(&run->oscillator, run->x[i], run->v[i]);
  }

  // the stages
  NoliStepStart start = {.n_vert = 1,
                         .h = run->h,
                         .mass = &mass,
                         .x = run->x,
                         .v = run->v,
                         .force = run->force,
                         .x_before = run->x_before,
                         .v_before = run->v_before,
                         .x_first = x_first,
                         .v_first = v_first};
  NoliStageTime time = {.x_tilde = x_tilde, .x_hat = x_hat};
  for (int32_t s = 0; s < rule->n_stages; s++) {
    noli_integrator_predict(rule, s, &start, &time);
    assert_true(time.inertia);
    solve_stage(&run->oscillator, &time, x);
    noli_integrator_velocity(&time, 1, x, v);
    if (s == 0) {
      memcpy(x_first, x, sizeof x);
      memcpy(v_first, v, sizeof v);
    }
  }

  // the force that the solution implies is the force there
  double implied[N];
  noli_integrator_force(&time, 1, &mass, x, implied);
  for (int i = 0; i < N; i++) {
    double want = force_at(&run->oscillator, x[i], v[i]);
    ASSERT_NEAR(implied[i], want, 1e-9 * (1.0 + fabs(want)));
  }

  // the end becomes the start of the next step
  memcpy(run->x_before, run->x, sizeof x);
  memcpy(run->v_before, run->v, sizeof v);
  memcpy(run->force, implied, sizeof implied);
  memcpy(run->x, x, sizeof x);
  memcpy(run->v, v, sizeof v);
  run->past = true;
}

// ---- stability functions ------------------------------------------------------------------------

typedef double complex Factor(double complex z);

static double complex factor_backward_euler(double complex z) {
  return 1.0 / (1.0 - z);
}
static double complex factor_trapezoidal(double complex z) {
  return (1.0 + 0.5 * z) / (1.0 - 0.5 * z);
}
// SDIRK2 and TR-BDF2 have the same function: L-stable, of order 2, with one double pole.
static double complex factor_two_stages(double complex z) {
  double gamma = 1.0 - sqrt(0.5);
  return (1.0 + (1.0 - 2.0 * gamma) * z) / ((1.0 - gamma * z) * (1.0 - gamma * z));
}

// Eigenvalues of the oscillator's matrix; x = Re(c e^(lambda t)) with x(0) = 1, v(0) = Re(c
// lambda).
static double complex eigenvalue(const Oscillator* oscillator) {
  return -oscillator->delta + csqrt(oscillator->delta * oscillator->delta - oscillator->omega_sqr);
}

static const Oscillator oscillators[] = {
    {1.0, 0.0, 0.0}, {1.0, 0.1, 0.0}, {400.0, 0.0, 0.0}, {400.0, 3.0, 0.0}, {1e6, 20.0, 0.0}};

// Steps of h = 0.1 from x = (1, 0, 0.3), v = (0, 1, -2).
static Run start_run(const char* name, const Oscillator* oscillator) {
  Run run = {.integrator = noli_integrator_find(name), .oscillator = *oscillator, .h = 0.1};
  assert_non_null(run.integrator);
  run.x[0] = 1.0, run.v[0] = 0.0;
  run.x[1] = 0.0, run.v[1] = 1.0;
  run.x[2] = 0.3, run.v[2] = -2.0;
  return run;
}

// c of x = Re(c), v = Re(c lambda) for a pair of complex conjugate eigenvalues.
static double complex amplitude(double complex lambda, double x, double v) {
  return x + (double complex)I * ((x * creal(lambda) - v) / cimag(lambda));
}

static void one_step_methods_have_their_stability_functions(void** state) {
  (void)state;
  const struct {
    const char* name;
    Factor* factor;
  } cases[] = {{"backward_euler", factor_backward_euler},
               {"trapezoidal", factor_trapezoidal},
               {"trapezoidal_decoupled", factor_trapezoidal},
               {"sdirk2", factor_two_stages},
               {"tr_bdf2", factor_two_stages}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    for (size_t o = 0; o < sizeof oscillators / sizeof *oscillators; o++) {
      double complex lambda = eigenvalue(&oscillators[o]), c[N];
      Run run = start_run(cases[k].name, &oscillators[o]);
      for (int i = 0; i < N; i++) {
        c[i] = amplitude(lambda, run.x[i], run.v[i]);
      }
      for (int n = 0; n < 20; n++) {
        step(&run);
        for (int i = 0; i < N; i++) {
          c[i] *= cases[k].factor(run.h * lambda);
          double scale = cabs(c[i]) + 1e-6;
          ASSERT_NEAR(run.x[i], creal(c[i]), 2e-12 * scale);
          ASSERT_NEAR(run.v[i], creal(lambda * c[i]), 2e-12 * (cabs(lambda) + 1.0) * scale);
        }
      }
    }
  }
}

// The first step is that of SDIRK2, all others y_{n+1} = (4/3 y_n - 1/3 y_{n-1}) / (1 - 2/3 z).
static void bdf2_has_its_recurrence(void** state) {
  (void)state;
  for (size_t o = 0; o < sizeof oscillators / sizeof *oscillators; o++) {
    double complex lambda = eigenvalue(&oscillators[o]), c[N], before[N];
    Run run = start_run("bdf2", &oscillators[o]);
    double complex z = run.h * lambda;
    for (int i = 0; i < N; i++) {
      before[i] = amplitude(lambda, run.x[i], run.v[i]);
      c[i] = before[i] * factor_two_stages(z);
    }
    step(&run);
    for (int n = 0; n < 20; n++) {
      step(&run);
      for (int i = 0; i < N; i++) {
        double complex next = (4.0 * c[i] - before[i]) / (3.0 - 2.0 * z);
        before[i] = c[i];
        c[i] = next;
        double scale = cabs(before[i]) + cabs(c[i]) + 1e-6;
        ASSERT_NEAR(run.x[i], creal(c[i]), 2e-12 * scale);
        ASSERT_NEAR(run.v[i], creal(lambda * c[i]), 2e-12 * (cabs(lambda) + 1.0) * scale);
      }
    }
  }
}

// ---- consequences ------------------------------------------------------------------------------

static void constant_forces_are_integrated_exactly(void** state) {
  (void)state;
  for (int32_t k = 0; k < noli_integrator_count(); k++) {
    const NoliIntegrator* integrator = noli_integrator_at(k);
    if (integrator->order != 2) {
      continue;
    }
    Oscillator falling = {0.0, 0.0, -9.81};
    Run run = start_run(integrator->name, &falling);
    for (int n = 1; n <= 20; n++) {
      step(&run);
      double t = n * run.h;
      ASSERT_NEAR(run.x[2], 0.3 - 2.0 * t - 0.5 * 9.81 * t * t, 1e-12);
      ASSERT_NEAR(run.v[2], -2.0 - 9.81 * t, 1e-12);
    }
  }
}

// Stiff and fast components decay within a few steps, except with the trapezoidal rule.
static void stiff_components_are_damped(void** state) {
  (void)state;
  for (int32_t k = 0; k < noli_integrator_count(); k++) {
    const NoliIntegrator* integrator = noli_integrator_at(k);
    if (integrator->quasi_static) {
      continue;
    }
    Oscillator stiff = {1e8, 0.0, 0.0};
    Run run = start_run(integrator->name, &stiff);
    for (int n = 0; n < 30; n++) {
      step(&run);
    }
    bool keeps = strncmp(integrator->name, "trapezoidal", 11) == 0;
    ASSERT_AT_LEAST(keeps ? 1.0 : 0.0, fabs(run.x[0]) - 1e-9);
    ASSERT_AT_MOST(keeps ? 0.99 : fabs(run.x[0]), keeps ? fabs(run.x[0]) : 1e-9);
  }
}

static void orders_of_the_oscillator(void** state) {
  (void)state;
  const Oscillator oscillator = {4.0, 0.2, 0.5};
  for (int32_t k = 0; k < noli_integrator_count(); k++) {
    const NoliIntegrator* integrator = noli_integrator_at(k);
    if (integrator->quasi_static) {
      continue;
    }
    double error[2];
    double complex lambda = eigenvalue(&oscillator);
    double rest = oscillator.load / oscillator.omega_sqr;
    for (int half = 0; half < 2; half++) {
      Run run = start_run(integrator->name, &oscillator);
      int steps = half == 0 ? 400 : 800;
      run.h = 4.0 / steps;
      double complex c = amplitude(lambda, run.x[0] - rest, run.v[0]);
      for (int n = 0; n < steps; n++) {
        step(&run);
      }
      error[half] = fabs(run.x[0] - rest - creal(c * cexp(4.0 * lambda)));
    }
    double order = log2(error[0] / error[1]);
    print_message("%s: order %.3f\n", integrator->name, order);
    ASSERT_NEAR(order, integrator->order, 0.05);
  }
}

// ---- tables -------------------------------------------------------------------------------------

static void tables_are_consistent(void** state) {
  (void)state;
  for (int32_t k = 0; k < noli_integrator_count(); k++) {
    const NoliIntegrator* integrator = noli_integrator_at(k);
    assert_ptr_equal(noli_integrator_find(integrator->name), integrator);
    assert_in_range(integrator->n_stages, 1, NOLI_MAX_STAGES);
    assert_true(integrator->stage[integrator->n_stages - 1].end == 1.0);
    assert_true(integrator->stage[0].first == 0.0);
    for (int32_t s = 0; s < integrator->n_stages; s++) {
      assert_true(integrator->stage[s].end > (s > 0 ? integrator->stage[s - 1].end : 0.0));
    }
    if (integrator->starter != NULL) {
      assert_false(noli_integrator_needs_past(integrator->starter));
    }
  }
  assert_null(noli_integrator_find("leapfrog"));
}

static void statics_have_no_velocity(void** state) {
  (void)state;
  const NoliIntegrator* integrator = noli_integrator_find("quasi_static");
  double mass = 1.0, x[3] = {1, 2, 3}, v[3] = {4, 5, 6}, x_tilde[3], x_hat[3], after[3];
  NoliStepStart start = {.n_vert = 1, .h = 0.5, .h_static = 1e-3, .mass = &mass, .x = x, .v = v};
  NoliStageTime time = {.x_tilde = x_tilde, .x_hat = x_hat};
  noli_integrator_predict(integrator, 0, &start, &time);
  assert_false(time.inertia);
  assert_true(time.h_e == 1e-3 && time.h_v == 0.5 && time.duration == 0.5);
  assert_memory_equal(x_hat, x, sizeof x);
  noli_integrator_velocity(&time, 1, v, after);
  assert_true(after[0] == 0.0 && after[1] == 0.0 && after[2] == 0.0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_step_methods_have_their_stability_functions),
      cmocka_unit_test(bdf2_has_its_recurrence),
      cmocka_unit_test(constant_forces_are_integrated_exactly),
      cmocka_unit_test(stiff_components_are_damped),
      cmocka_unit_test(orders_of_the_oscillator),
      cmocka_unit_test(tables_are_consistent),
      cmocka_unit_test(statics_have_no_velocity),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
