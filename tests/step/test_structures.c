// Structures that only contact and friction hold together: a chain, a funnel, a masonry arch.
#include "structures.h"

#include "math/vec3.h"
#include "noli/import.h"
#include "noli/scene.h"

static const double origin[3] = {0, 0, 0};

static void chain_of_five_links_holds(void** state) {
  (void)state;
  World world = world_new(1);
  add_chain(&world, 5);
  world.def.time_step = 0.04;
  world_start(&world);
  double first[3], centre[3];
  for (int i = 0; i < 75; i++) {
    world_step(&world);
  }
  // still interlocked: each link hangs from the one above, about one inner diameter below
  world_centre(&world, 0, first);
  for (int32_t i = 1; i < 5; i++) {
    world_centre(&world, i, centre);
    double drop = first[1] - centre[1];
    print_message("link %d hangs %.3f m below the first\n", i, drop);
    ASSERT_NEAR(drop, 0.52 * i, 0.25 * i);
  }
  assert_true(world.report.contacts > 0);
  world_done(&world);
}

// ---- funnel -------------------------------------------------------------------------------------

static void pull_right(void* user, double t0, double t1, int32_t n, const int32_t* node,
                       const double* X, const double* x_t0, double* x_t1) {
  (void)node;
  (void)X;
  const double* speed = user;
  for (int32_t i = 0; i < n; i++) {
    x_t1[3 * i] = x_t0[3 * i] + *speed * (t1 - t0);
    x_t1[3 * i + 1] = x_t0[3 * i + 1];
    x_t1[3 * i + 2] = x_t0[3 * i + 2];
  }
}

// A tube along x, radius falling from `wide` at x = 0 to `narrow` at x = 0.5, straight until 1.
static NoliMesh* make_funnel(World* world, double wide, double narrow) {
  enum { AROUND = 24, RINGS = 9 };
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_create(world->context, AROUND * RINGS, 0, 2 * AROUND * (RINGS - 1), 0, 0,
                             false, &mesh));
  int32_t n = 0;
  for (int r = 0; r < RINGS; r++) {
    double s = (double)r / (RINGS - 1);
    double radius = s < 0.5 ? wide + (narrow - wide) * 2.0 * s : narrow;
    for (int a = 0; a < AROUND; a++) {
      double angle = 2.0 * 3.14159265358979323846 * a / AROUND;
      noli_store3(&mesh->x[3 * (r * AROUND + a)],
                  noli_vec3(s, radius * cos(angle), radius * sin(angle)));
      if (r + 1 < RINGS) {
        int32_t i = r * AROUND + a, j = r * AROUND + (a + 1) % AROUND;
        int32_t cells[6] = {i, j, i + AROUND, j, j + AROUND, i + AROUND};
        memcpy(&mesh->tri[3 * n], cells, sizeof cells);
        n += 2;
      }
    }
  }
  return mesh;
}

static void body_is_pulled_through_a_funnel_and_recovers(void** state) {
  (void)state;

  // a ball in front of a funnel
  World world = world_new(1);
  NoliMesh* rest = make_sphere(&world, 0.3, 6);

  // the front of the ball is pulled
  static int32_t front[200];
  int32_t n_front = 0;
  for (int32_t i = 0; i < rest->n_vert; i++) {
    if (rest->x[3 * i] > 0.26) {
      front[n_front++] = i;
    }
  }

  // pull it through
  int32_t ball = world_add(&world, rest, (double[]){-0.35, 0, 0});
  world_add_obstacle(&world, make_funnel(&world, 0.4, 0.2), origin);
  static double speed = 1.0;
  NoliMotionDef* pull = world_add_motion(&world, ball, pull_right, &speed);
  pull->node = front;
  pull->n_node = n_front;
  pull->t_end = 1.8;
  world.body[ball].material.young = 1e4;
  world.def.gravity[1] = 0.0;
  world.def.time_step = 0.02;
  world_start(&world);

  // the smallest diameter along the way
  double thinnest = INFINITY;
  for (int i = 0; i < 200; i++) {
    world_step(&world);
    double radius = 0.0;
    const double* x = noli_sim_positions(world.sim);
    for (int32_t v = 0; v < rest->n_vert; v++) {
      radius = noli_larger(radius, hypot(x[3 * v + 1], x[3 * v + 2]));
    }
    thinnest = noli_smaller(thinnest, radius);
  }

  // through, and back to the rest shape: distances between vertices within 1 %
  double centre[3], worst = 0.0;
  world_centre(&world, ball, centre);
  const double *x = noli_sim_positions(world.sim), *X = noli_sim_rest_positions(world.sim);
  for (int32_t a = 0; a < rest->n_vert; a += 7) {
    for (int32_t b = 0; b < a; b += 5) {
      double now = noli_norm3(noli_sub3(noli_load3(&x[3 * a]), noli_load3(&x[3 * b])));
      double then = noli_norm3(noli_sub3(noli_load3(&X[3 * a]), noli_load3(&X[3 * b])));
      worst = noli_larger(worst, fabs(now - then) / 0.6);
    }
  }
  print_message(
      "funnel: centre at x = %.3f m, thinnest radius %.3f m of 0.3, shape within %.3f %%\n",
      centre[0], thinnest, 100.0 * worst);
  ASSERT_AT_LEAST(centre[0], 1.3);
  ASSERT_AT_MOST(thinnest, 0.25);
  ASSERT_AT_MOST(worst, 0.01);
  world_done(&world);
}

// ---- masonry arch -------------------------------------------------------------------------------

static double run_arch(double mu, int steps) {
  World world = world_new(1);
  enum { BLOCKS = 11 };
  double dhat = 1e-5;
  add_arch(&world, BLOCKS, 0.5 * dhat);
  world_add_plane(&world, origin, (double[]){0, 1, 0});
  world.def.friction = mu;
  world.def.contact_distance = (NoliScaled){dhat, false};
  world.def.friction_speed = (NoliScaled){1e-5, false};
  world.def.friction_iterations = NOLI_FRICTION_UNTIL_CONVERGENCE;
  world.def.tolerance = (NoliScaled){1e-4, true};
  world.def.time_step = 0.01;
  world_start(&world);
  double before[3], after[3];
  world_centre(&world, BLOCKS / 2, before);
  int64_t newton = 0;
  for (int i = 0; i < steps; i++) {
    world_step(&world);
    newton += world.report.newton_iterations;
  }
  world_centre(&world, BLOCKS / 2, after);
  print_message("arch with mu %.1f: keystone sinks %.3g m in %.1f s, %.1f Newton iterations/step\n",
                mu, before[1] - after[1], steps * 0.01, (double)newton / steps);
  world_done(&world);
  return before[1] - after[1];
}

static void arch_stands_with_friction_and_falls_without(void** state) {
  (void)state;
  ASSERT_AT_MOST(fabs(run_arch(0.5, 200)), 1e-3);
  ASSERT_AT_LEAST(run_arch(0.1, 100), 0.05);
}

// The arch of stiff stones that all land in one step, with alternating contacts: repeated solves
// would change friction by 6 to 50 % indefinitely, and end when they make no progress.
static void repeated_solves_of_an_arch_end(void** state) {
  (void)state;
  char path[1000];
  if (test_data("ipc/input/paperExamples/7_masonryArch.txt", path, sizeof path) == NULL) {
    skip();
  }
  NoliContext* context = test_context(1);
  NoliScene* scene = NULL;
  NoliSim* sim = NULL;
  NoliStepReport report;
  ASSERT_OK(noli_import_load(context, path, NULL, 0, &scene));
  assert_int_equal(noli_scene_sim_def(scene)->friction_iterations, NOLI_FRICTION_UNTIL_CONVERGENCE);
  ASSERT_OK(noli_sim_create(context, noli_scene_sim_def(scene), &sim));
  int64_t most = 0;
  int32_t solves = 0;
  for (int n = 0; n < 10; n++) {
    ASSERT_OK(noli_sim_step(sim, &report));
    most = report.newton_iterations > most ? report.newton_iterations : most;
    solves = report.friction_iterations > solves ? report.friction_iterations : solves;
    ASSERT_AT_MOST(report.friction_error, 0.05);
  }
  print_message("falling arch: at most %d solves and %lld iterations in a step\n", solves,
                (long long)most);
  assert_in_range(solves, 2, 50);
  noli_sim_destroy(&sim);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(chain_of_five_links_holds),
      cmocka_unit_test(body_is_pulled_through_a_funnel_and_recovers),
      cmocka_unit_test(arch_stands_with_friction_and_falls_without),
      cmocka_unit_test(repeated_solves_of_an_arch_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
