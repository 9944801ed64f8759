// Stick and slip: a soft rod that is pressed on the floor and dragged along by its upper side, the
// scene of examples/stick_slip.json.
#include "world.h"

#define SPEED 0.03
#define MU_D 0.2

static void drag(void* user, double t0, double t1, int32_t n, const int32_t* node, const double* X,
                 const double* x_t0, double* x_t1) {
  (void)user, (void)t0, (void)node, (void)x_t0;
  double share = fmin(t1 / 0.02, 1.0);
  for (int32_t i = 0; i < n; i++) {
    x_t1[3 * i] = X[3 * i] + SPEED * t1;
    x_t1[3 * i + 1] = X[3 * i + 1] - 0.0016 * share * share * (3.0 - 2.0 * share);
    x_t1[3 * i + 2] = X[3 * i + 2];
  }
}

static World dragged_rod(double static_friction, const char* solver) {

  // a rod on a plane
  World world = world_new(1);
  NoliMesh* mesh = NULL;
  static int32_t top[64];
  int32_t n_top = 0;
  ASSERT_OK(noli_mesh_make_box(world.context, (double[]){0.1, 0.05, 0.05}, (int32_t[]){4, 2, 2},
                               false, &mesh));
  world_add(&world, mesh, (double[]){0.0, 0.0251, 0.0});
  world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  world.body[0].material.young = 5e4;
  world.body[0].material.poisson = 0.3;
  world.body[0].material.damping = 4e-3;

  // its upper side is dragged
  for (int32_t i = 0; i < mesh->n_vert; i++) {
    if (mesh->x[3 * i + 1] > 0.05) {
      top[n_top++] = i;
    }
  }
  NoliMotionDef* motion = world_add_motion(&world, 0, drag, NULL);
  motion->node = top;
  motion->n_node = n_top;

  // friction and solver
  world.def.time_step = 1e-3;
  world.def.friction = MU_D;
  world.def.static_friction = static_friction;
  world.def.friction_speed = (NoliScaled){5e-4, false};
  // well below the smallest speed that friction resolves
  world.def.tolerance = (NoliScaled){1e-4, false};
  world.def.solver = solver;
  world.def.termination = "residual";
  world.def.audit = "off";
  world_start(&world);
  return world;
}

// Friction over normal force in the last step.
static double ratio_now(World* world) {
  const NoliPairForce* pairs = NULL;
  int32_t n = 0;
  ASSERT_OK(noli_sim_pair_forces(world->sim, &pairs, &n));
  return n == 0 ? 0.0 : fabs(pairs[0].friction[0] / pairs[0].normal[1]);
}

typedef struct Slips {
  int n;
  double period;    // s, mean
  double scatter;   // s, longest minus shortest
  double amplitude; // highest minus lowest ratio of friction and normal force
  double low, high; // those two
} Slips;

enum { STEPS = 700, SETTLED = 200 };

// Counts how often the force falls from near its peak through the middle.
static Slips count_slips(const double* ratio) {
  Slips slips = {.low = 10.0};
  double first = 0.0, last = 0.0, shortest = 1e9, longest = 0.0;
  for (int k = SETTLED; k < STEPS; k++) {
    slips.low = noli_smaller(slips.low, ratio[k]);
    slips.high = noli_larger(slips.high, ratio[k]);
  }
  slips.amplitude = slips.high - slips.low;
  bool loaded = false;
  for (int k = SETTLED; k < STEPS; k++) {
    loaded = loaded || ratio[k] > slips.high - 0.25 * slips.amplitude;
    if (loaded && ratio[k] < slips.low + 0.5 * slips.amplitude) {
      loaded = false;
      double now = 1e-3 * k;
      if (slips.n++ > 0) {
        shortest = noli_smaller(shortest, now - last);
        longest = noli_larger(longest, now - last);
      } else {
        first = now;
      }
      last = now;
    }
  }
  slips.period = slips.n > 1 ? (last - first) / (slips.n - 1) : 0.0;
  slips.scatter = slips.n > 1 ? longest - shortest : 0.0;
  return slips;
}

static Slips slips_of(double static_friction, const char* solver) {
  World world = dragged_rod(static_friction, solver);
  static double ratio[STEPS];
  int64_t newton = 0;
  for (int k = 0; k < STEPS; k++) {
    world_step(&world);
    ratio[k] = ratio_now(&world);
    newton += world.report.newton_iterations;
  }
  world_done(&world);
  Slips slips = count_slips(ratio);
  print_message("mu_s = %.1f, %s: %d slips, period %.1f ms (+-%.1f), friction %.3f .. %.3f of the "
                "normal force, %.1f iterations a step\n",
                static_friction, solver, slips.n, 1e3 * slips.period, 5e2 * slips.scatter,
                slips.low, slips.high, (double)newton / STEPS);
  return slips;
}

// The rod sticks and slips regularly, more with a higher static coefficient, and not at all with
// mu_s = mu_d.
static void static_friction_makes_it_stick_and_slip(void** state) {
  (void)state;
  Slips none = slips_of(0.2, "projected_newton"), some = slips_of(0.4, "projected_newton"),
        more = slips_of(0.6, "projected_newton");
  ASSERT_AT_MOST(none.amplitude, 2e-3);
  ASSERT_NEAR(none.low, MU_D, 2e-3);
  assert_int_equal(none.n, 0);
  ASSERT_AT_LEAST(some.amplitude, 0.08);
  ASSERT_AT_LEAST(more.amplitude, 1.8 * some.amplitude);
  ASSERT_AT_MOST(more.high, 0.6);
  assert_true(more.n >= 4);
  ASSERT_AT_MOST(more.scatter, 0.1 * more.period);
}

// The other solver uses the same law of friction.
static void solvers_agree(void** state) {
  (void)state;
  Slips barrier = slips_of(0.6, "projected_newton"), set = slips_of(0.6, "augmented_lagrangian");
  ASSERT_NEAR(set.period, barrier.period, 0.05 * barrier.period);
  ASSERT_NEAR(set.amplitude, barrier.amplitude, 0.15 * barrier.amplitude);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(static_friction_makes_it_stick_and_slip),
      cmocka_unit_test(solvers_agree),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
