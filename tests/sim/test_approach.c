// Fast collisions are solved along a path of wide barriers: fewer iterations than with the barrier
// of the scene alone, which a limit of iterations below that of solve/approach.h asks for, and a
// potential that is no higher.
#include "world.h"

typedef struct Impact {
  const char* law;
  double speed; // m/s, of each ball
  double h;     // s
  double friction;
  int steps;
} Impact;

typedef struct Result {
  int64_t iterations;
  double potential; // J, after the first step
  double momentum;  // kg m/s, largest change
} Result;

// The incremental potential of a step from rest shapes without gravity, but for the barrier: the
// elastic energy and that of the distances from the predicted places.
static double potential_of(const World* world, const double* x, const double* v, double h) {
  const NoliSim* sim = world->sim;
  double inertia = 0.0;
  for (int32_t i = 0; i < noli_sim_vertex_count(sim); i++) {
    for (int32_t k = 0; k < 3; k++) {
      double off = noli_sim_positions(sim)[3 * i + k] - (x[3 * i + k] + h * v[3 * i + k]);
      inertia += 0.5 * noli_sim_masses(sim)[i] * off * off / (h * h);
    }
  }
  return inertia + world->report.elastic;
}

// Three balls meet in a step that would take them through each other.
static Result collide(Impact impact, bool wide) {
  World world = world_new(1);
  static const double place[3][3] = {{0, 0, 0}, {0.11, 0.02, 0.01}, {0.05, 0.11, -0.02}};
  static const double to[3][3] = {{1, 0.3, 0}, {-1, 0, 0}, {0, -1, 0.2}};
  for (int32_t b = 0; b < 3; b++) {
    world_add(&world, make_sphere(&world, 0.05, 4), place[b]);
    world.body[b].material.law = impact.law;
    world.body[b].material.young = 1e5;
    world.body[b].material.density = 1000.0;
    for (int32_t k = 0; k < 3; k++) {
      world.body[b].velocity[k] = impact.speed * to[b][k];
    }
  }
  memset(world.def.gravity, 0, sizeof world.def.gravity);
  world.def.friction = impact.friction;
  world.def.time_step = impact.h;
  world.def.contact_distance = (NoliScaled){2e-4, false};
  world.def.barrier_stiffness = 1e9;
  if (!wide) {
    world.def.max_iterations = 399;
  }
  world_start(&world);
  int32_t n = 3 * noli_sim_vertex_count(world.sim);
  double *x = calloc((size_t)n, sizeof *x), *v = calloc((size_t)n, sizeof *v);
  assert_true(x != NULL && v != NULL);
  memcpy(x, noli_sim_positions(world.sim), (size_t)n * sizeof *x);
  memcpy(v, noli_sim_velocities(world.sim), (size_t)n * sizeof *v);
  Result result = {0};
  double before[3] = {0};
  for (int32_t i = 0; i < n; i++) {
    before[i % 3] += noli_sim_masses(world.sim)[i / 3] * v[i];
  }
  for (int i = 0; i < impact.steps; i++) {
    world_step(&world);
    result.iterations += world.report.newton_iterations;
    assert_int_equal(world.report.substeps, 1);
    if (i == 0) {
      result.potential = potential_of(&world, x, v, impact.h);
    }
  }
  for (int32_t k = 0; k < 3; k++) {
    result.momentum = fmax(result.momentum, fabs(world.report.momentum[k] - before[k]));
  }
  free(x);
  free(v);
  world_done(&world);
  return result;
}

static void wide_barriers_shorten_collisions(void** state) {
  (void)state;
  static const Impact impact[] = {{"neo_hookean", 5.0, 0.01, 0.0, 3},
                                  {"neo_hookean", 3.0, 0.01, 0.3, 2},
                                  {"fixed_corotated", 5.0, 0.01, 0.0, 2},
                                  {"neo_hookean", 10.0, 0.005, 0.0, 3}};
  enum { N = sizeof impact / sizeof *impact };
  double ratio = 0.0;
  for (int i = 0; i < N; i++) {
    Result with = collide(impact[i], true), without = collide(impact[i], false);
    print_message("%s, %g m/s, friction %g: %lld iterations instead of %lld, potential %.6g "
                  "instead of %.6g J\n",
                  impact[i].law, impact[i].speed, impact[i].friction, (long long)with.iterations,
                  (long long)without.iterations, with.potential, without.potential);
    assert_true(with.iterations < without.iterations);
    ASSERT_AT_MOST(with.potential, 1.001 * without.potential);
    ASSERT_AT_MOST(with.momentum, 1e-6);
    ratio += log((double)with.iterations / (double)without.iterations) / N;
  }
  print_message("iterations by %.2f\n", exp(ratio));
  ASSERT_AT_MOST(exp(ratio), 0.75);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(wide_barriers_shorten_collisions)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
