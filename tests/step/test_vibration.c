// Stiffness damping: decay of a vibrating bar against closed forms, conservation, energy balance.
#include "world.h"

static const double origin[3] = {0, 0, 0};
#define PI 3.14159265358979323846

// A free bar along x with nu = 0, displaced by its first axial mode, and the quantities measured.
typedef struct Bar {
  World world;
  double* x0;
  double amplitude;
  double omega; // rad/s
  double rate;  // 1/s: the amplitude falls like exp(-rate t)
} Bar;

static double mode(double X) {
  return sin(PI * X);
}

static void bar_begin(Bar* bar, const char* integrator, double damping, double h) {
  *bar = (Bar){.world = world_new(1), .amplitude = 1e-4};
  World* world = &bar->world;
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_box(world->context, (double[]){1, 0.1, 0.1}, (int32_t[]){12, 1, 1},
                               false, &mesh));
  int32_t body = world_add(world, mesh, origin);
  bar->x0 = malloc((size_t)mesh->n_vert * 3 * sizeof *bar->x0);
  for (int32_t i = 0; i < 3 * mesh->n_vert; i++) {
    bar->x0[i] = mesh->x[i] + (i % 3 == 0 ? bar->amplitude * mode(mesh->x[i]) : 0.0);
  }
  world->body[body].x0 = bar->x0;
  world->body[body].material.poisson = 0.0;
  world->body[body].material.damping = damping;
  world->def.gravity[1] = 0.0;
  world->def.contact = false;
  world->def.audit = "off";
  world->def.integrator = integrator;
  world->def.time_step = h;
  world->def.tolerance = (NoliScaled){1e-8, false};
  world_start(world);
}

static void bar_end(Bar* bar) {
  free(bar->x0);
  world_done(&bar->world);
}

static double modal_amplitude(const Bar* bar) {
  const NoliSim* sim = bar->world.sim;
  const double *x = noli_sim_positions(sim), *X = noli_sim_rest_positions(sim);
  const double* mass = noli_sim_masses(sim);
  double q = 0.0, norm = 0.0;
  for (int32_t i = 0; i < noli_sim_vertex_count(sim); i++) {
    double phi = mode(X[3 * i]);
    q += mass[i] * phi * (x[3 * i] - X[3 * i]);
    norm += mass[i] * phi * phi;
  }
  return q / norm;
}

// Frequency from zero crossings, rate of decay from a line through the logarithms of the peaks.
static void bar_measure(Bar* bar, int n_steps) {
  double h = bar->world.def.time_step, before = modal_amplitude(bar), older = before;
  double first_zero = 0.0, last_zero = 0.0, n = 0, st = 0, sy = 0, stt = 0, sty = 0;
  int n_zero = 0;
  for (int i = 1; i <= n_steps; i++) {
    world_step(&bar->world);
    double q = modal_amplitude(bar);
    if (q * before < 0.0) {
      last_zero = h * (i - 1 + before / (before - q));
      first_zero = n_zero++ == 0 ? last_zero : first_zero;
    }
    if (fabs(before) > fabs(older) && fabs(before) >= fabs(q) && i > 1) {
      // parabola through three points
      double slope = 0.5 * (q - older), curvature = q - 2.0 * before + older;
      double t = h * (i - 1 - slope / curvature);
      double y = log(fabs(before - 0.5 * slope * slope / curvature));
      n += 1.0, st += t, sy += y, stt += t * t, sty += t * y;
    }
    older = before;
    before = q;
  }
  bar->omega = PI * (n_zero - 1) / (last_zero - first_zero);
  bar->rate = -(n * sty - st * sy) / (n * stt - st * st);
}

static void trapezoidal_bar_decays_like_the_closed_form(void** state) {
  (void)state;
  Bar bar;
  // c = sqrt(E / rho) = 10 m/s: the free bar has omega = pi c / l
  double omega = PI * 10.0, h = 0.2 / 80;
  bar_begin(&bar, "trapezoidal", 0.0, h);
  bar_measure(&bar, 400);
  print_message("trapezoidal, undamped: omega %.4f of %.4f rad/s, rate %.2g /s\n", bar.omega, omega,
                bar.rate);
  ASSERT_NEAR(bar.omega, omega, 0.01 * omega);
  ASSERT_NEAR(bar.rate, 0.0, 1e-3);
  bar_end(&bar);
  double ratio[] = {0.005, 0.02, 0.05};
  for (int k = 0; k < 3; k++) {
    double beta = 2.0 * ratio[k] / omega;
    bar_begin(&bar, "trapezoidal", beta, h);
    bar_measure(&bar, 400);
    // q'' + beta omega^2 q' + omega^2 q = 0
    double want = 0.5 * beta * bar.omega * bar.omega;
    print_message("trapezoidal, damping ratio %.3f: rate %.5f of %.5f /s\n", ratio[k], bar.rate,
                  want);
    ASSERT_NEAR(bar.rate, want, 0.02 * want);
    bar_end(&bar);
  }
}

// (1 + a + b) q_{n+1} - (2 + b) q_n + q_{n-1} = 0 with a = h^2 omega^2, b = beta h omega^2 has
// roots of absolute value (1 + a + b)^-1/2: damping adds to the dissipation of backward Euler.
static void backward_euler_bar_decays_like_the_recurrence(void** state) {
  (void)state;
  double omega = PI * 10.0, h = 0.2 / 400, rate[2];
  for (int k = 0; k < 2; k++) {
    Bar bar;
    double beta = k == 0 ? 0.0 : 2.0 * 0.02 / omega;
    bar_begin(&bar, "backward_euler", beta, h);
    bar_measure(&bar, 1200);
    double a = h * h * bar.omega * bar.omega, b = beta * h * bar.omega * bar.omega;
    double want = log1p(a + b) / (2.0 * h);
    rate[k] = bar.rate;
    print_message("backward Euler, damping ratio %.2f: rate %.5f of %.5f /s\n", 0.02 * k, bar.rate,
                  want);
    ASSERT_NEAR(bar.rate, want, 0.02 * want);
    bar_end(&bar);
  }
  ASSERT_NEAR(rate[1] - rate[0], 0.02 * omega, 0.04 * 0.02 * omega);
}

// A box that is strongly deformed at the start and flies.
static void box_begin(World* world, double* x0, const char* integrator, double damping, double h,
                      int32_t threads) {
  *world = world_new(threads);
  int32_t body = world_add(world, make_box(world, 1, 1, 1, 4), origin);
  for (int32_t i = 0; i < world->mesh[body]->n_vert; i++) {
    const double* X = &world->mesh[body]->x[3 * i];
    x0[3 * i] = 1.3 * X[0] + 0.1 * X[1] * X[2];
    x0[3 * i + 1] = 0.8 * X[1] + 0.2 * X[0];
    x0[3 * i + 2] = X[2] - 0.15 * X[0] * X[0];
  }
  world->body[body].x0 = x0;
  world->body[body].velocity[0] = 1.0;
  world->body[body].velocity[2] = -2.0;
  world->body[body].material.damping = damping;
  world->def.gravity[1] = 0.0;
  world->def.contact = false;
  world->def.integrator = integrator;
  world->def.time_step = h;
  world->def.tolerance = (NoliScaled){1e-8, true};
  world_start(world);
}

static const char* const integrators[] = {"backward_euler", "trapezoidal"};

static void momentum_is_conserved(void** state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    World world;
    double x0[3 * 125];
    box_begin(&world, x0, integrators[k], 5e-3, 0.01, 1);
    for (int i = 0; i < 40; i++) {
      world_step(&world);
      ASSERT_NEAR(world.report.momentum[0], 1000.0, 1e-5);
      ASSERT_NEAR(world.report.momentum[1], 0.0, 1e-5);
      ASSERT_NEAR(world.report.momentum[2], -2000.0, 1e-5);
    }
    world_done(&world);
  }
}

// The sum of kinetic energy, elastic energy and all dissipated energy keeps its initial value.
static void energy_that_is_lost_is_reported(void** state) {
  (void)state;
  double drift[2];
  for (int k = 0; k < 2; k++) {
    World world;
    double x0[3 * 125], first = 0.0, lost = 0.0, worst = 0.0;
    double h = k == 0 ? 2e-3 : 1e-3;
    box_begin(&world, x0, "trapezoidal", 5e-3, h, 1);
    for (int i = 0; i < (int)(0.2 / h + 0.5); i++) {
      world_step(&world);
      const NoliStepReport* report = &world.report;
      ASSERT_AT_LEAST(report->damping_loss, 0.0);
      lost += i > 0 ? report->damping_loss : 0.0;
      double energy = report->kinetic + report->elastic + lost;
      first = i == 0 ? energy : first;
      worst = noli_larger(worst, fabs(energy - first));
    }
    print_message("h = %g s: damping dissipated %.1f J, balance within %.3g J\n", h, lost, worst);
    ASSERT_AT_LEAST(lost, 1000.0);
    drift[k] = worst / lost;
    world_done(&world);
  }
  ASSERT_AT_MOST(drift[0], 5e-3);
  ASSERT_AT_MOST(drift[1], 0.6 * drift[0]);
}

static void steps_never_gain_energy(void** state) {
  (void)state;
  World world;
  double x0[3 * 125];
  box_begin(&world, x0, "backward_euler", 0.02, 0.01, 1);
  world_step(&world);
  double before = world.report.kinetic + world.report.elastic;
  for (int i = 0; i < 30; i++) {
    world_step(&world);
    double now = world.report.kinetic + world.report.elastic;
    ASSERT_AT_MOST(now, before - world.report.damping_loss + 1e-8 * before);
    before = now;
  }
  world_done(&world);
}

static void translation_is_not_damped(void** state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    World world = world_new(1);
    int32_t ball = world_add(&world, make_sphere(&world, 0.3, 3), origin);
    world.body[ball].velocity[0] = 3.0;
    world.body[ball].material.damping = 100.0;
    world.def.gravity[1] = -10.0;
    world.def.integrator = integrators[k];
    world_start(&world);
    double centre[3];
    for (int n = 1; n <= 20; n++) {
      world_step(&world);
      ASSERT_AT_MOST(world.report.damping_loss, 1e-12);
      world_centre(&world, ball, centre);
      ASSERT_NEAR(centre[0], 0.03 * n, 1e-10);
      ASSERT_NEAR(centre[1], k == 0 ? -5e-4 * n * (n + 1) : -5e-4 * n * n, 1e-10);
    }
    world_done(&world);
  }
}

static void threads_do_not_change_bits(void** state) {
  (void)state;
  uint64_t hash[2];
  for (int k = 0; k < 2; k++) {
    World world;
    double x0[3 * 125];
    box_begin(&world, x0, "trapezoidal", 5e-3, 0.01, k + 1);
    for (int i = 0; i < 5; i++) {
      world_step(&world);
    }
    hash[k] = noli_sim_state_hash(world.sim);
    world_done(&world);
  }
  assert_true(hash[0] == hash[1]);
}

static void bad_damping_is_refused(void** state) {
  (void)state;
  double bad[] = {-1e-9, NAN, INFINITY};
  for (int k = 0; k < 3; k++) {
    World world = world_new(1);
    world_add(&world, make_box(&world, 1, 1, 1, 1), origin);
    world.body[0].material.damping = bad[k];
    assert_int_equal(world_create(&world), NOLI_ERROR_ARGUMENT);
    assert_non_null(strstr(noli_context_message(world.context), "damping must be >= 0"));
    world_done(&world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(trapezoidal_bar_decays_like_the_closed_form),
      cmocka_unit_test(backward_euler_bar_decays_like_the_recurrence),
      cmocka_unit_test(momentum_is_conserved),
      cmocka_unit_test(energy_that_is_lost_is_reported),
      cmocka_unit_test(steps_never_gain_energy),
      cmocka_unit_test(translation_is_not_damped),
      cmocka_unit_test(threads_do_not_change_bits),
      cmocka_unit_test(bad_damping_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
