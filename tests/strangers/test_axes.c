// With default settings, results do not depend on the axes: a scene that is turned and moved takes
// the same way, turned and moved, to the rounding of what the solver decides.
#include "step/structures.h"

#include "math/rotation.h"

// A place of the whole scene.
typedef struct Place {
  NoliMat3 turn;
  NoliVec3 at;
} Place;

static Place place_of(double degrees, NoliVec3 axis, NoliVec3 at) {
  double angle = degrees * 3.14159265358979 / 180.0 / noli_norm3(axis);
  return (Place){noli_rotation33(noli_scale3(angle, axis)), at};
}

static void put(const Place* place, double x[3], bool moves) {
  NoliVec3 to = noli_mul33_vec(&place->turn, noli_load3(x));
  noli_store3(x, moves ? noli_add3(to, place->at) : to);
}

enum { STEPS = 20 };

// A ball and a brick fly at a board that is held at one end, through contact and friction. `x` has
// the positions at the end, (n x 3), turned and moved back, `n` their number; the caller frees x.
static double* fly(const Place* place, const char* solver, const char* integrator, int32_t* n,
                   double* size) {
  World world = world_new(1);
  world.def.solver = solver;
  world.def.integrator = integrator;
  world.def.friction = 0.3;
  int32_t board = world_add(&world, make_box(&world, 0.12, 0.01, 0.06, 4), (double[]){0, 0, 0});
  int32_t ball = world_add(&world, make_sphere(&world, 0.015, 1), (double[]){0.02, 0.0215, 0.01});
  int32_t brick =
      world_add(&world, make_box(&world, 0.02, 0.01, 0.015, 1), (double[]){-0.02, 0.0115, -0.01});
  memcpy(world.body[ball].velocity, (double[]){0.3, -1.0, 0.1}, sizeof(double[3]));
  memcpy(world.body[brick].velocity, (double[]){0.2, -0.5, 0.0}, sizeof(double[3]));
  memcpy(world.body[brick].angular_velocity, (double[]){1.0, 3.0, -2.0}, sizeof(double[3]));
  int32_t held[64], n_held = 0;
  for (int32_t i = 0; i < world.mesh[board]->n_vert; i++) {
    if (world.mesh[board]->x[3 * i] < -0.0599) {
      held[n_held++] = i;
    }
  }
  NoliMotionDef* motion = world_add_motion(&world, board, NULL, NULL);
  motion->node = held;
  motion->n_node = n_held;

  TestRandom random = {.state = 5};
  put(place, world.def.gravity, false);
  for (int32_t b = 0; b < world.def.n_bodies; b++) {
    world.body[b].material.young = 2e5;
    put(place, world.body[b].velocity, false);
    put(place, world.body[b].angular_velocity, false);
    for (int32_t i = 0; i < 3 * world.mesh[b]->n_vert; i++) {
      // no vertex exactly above an edge: rounding would decide which triangle it belongs to
      world.mesh[b]->x[i] += test_random(&random, -1e-5, 1e-5);
    }
    for (int32_t i = 0; i < world.mesh[b]->n_vert; i++) {
      put(place, &world.mesh[b]->x[3 * i], true);
    }
  }

  world_start(&world);
  int64_t contacts = 0;
  for (int32_t i = 0; i < STEPS; i++) {
    world_step(&world);
    contacts += world.report.contacts;
  }
  assert_true(contacts > STEPS);
  *size = world.sim->model->problem.size.d;
  *n = noli_sim_vertex_count(world.sim);
  double* x = malloc(sizeof(double[3]) * (size_t)*n);
  for (int32_t i = 0; i < *n; i++) {
    NoliVec3 arm = noli_sub3(noli_load3(noli_sim_positions(world.sim) + 3 * (int64_t)i), place->at);
    noli_store3(&x[3 * i], noli_transpose_mul33_vec(&place->turn, arm));
  }
  world_done(&world);
  return x;
}

// Largest distance between the ways of a turned scene and of the same scene as drawn.
static double farthest(const char* solver, const char* integrator) {
  const Place places[] = {
      place_of(0.0, noli_vec3(0, 1, 0), noli_vec3(0, 0, 0)),
      place_of(30.0, noli_vec3(0, 1, 0), noli_vec3(0, 0, 0)),
      place_of(77.0, noli_vec3(1, 2, -3), noli_vec3(0.3, -0.1, 0.2)),
      place_of(0.0, noli_vec3(0, 1, 0), noli_vec3(-0.2, 0.4, 0.1)),
  };
  double most = 0.0, drawn = 0.0;
  double* as_drawn = NULL;
  for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
    int32_t n;
    double size, here = 0.0;
    double* x = fly(&places[k], solver, integrator, &n, &size);
    drawn = k == 0 ? size : drawn;
    ASSERT_NEAR(size, drawn, 1e-14);
    for (int32_t i = 0; i < n && k > 0; i++) {
      here = fmax(here, noli_norm3(noli_sub3(noli_load3(&x[3 * i]), noli_load3(&as_drawn[3 * i]))));
    }
    most = fmax(most, here);
    if (k == 0) {
      as_drawn = x;
    } else {
      free(x);
    }
  }
  free(as_drawn);
  print_message("%s, %s: off by %.3g m of %.3g m\n", solver, integrator, most, drawn);
  return most;
}

static void turned_scenes_go_the_same_way(void** state) {
  (void)state;
  const char* solvers[] = {"projected_newton", "implicit_newton", "augmented_lagrangian"};
  for (int s = 0; s < 3; s++) {
    // constraints are chosen on the way, and rounding decides which of two is found first
    ASSERT_AT_MOST(farthest(solvers[s], "backward_euler"), s < 2 ? 1e-9 : 1e-5);
    if (s < 2) {
      // a brick that tumbles: differences grow, and stay below the tolerance, 1.4e-5 m a step
      ASSERT_AT_MOST(farthest(solvers[s], "bdf2"), 1e-5);
    }
  }
}

// "l" is the diagonal of a box that does not turn, "d" the diameter of a ball.
static void sizes_are_those_that_they_say(void** state) {
  (void)state;
  const double corner = 0.1 * sqrt(3.0);
  for (int turned = 0; turned < 2; turned++) {
    const NoliScaled given[] = {
        {1e-3, NOLI_ABSOLUTE}, {1e-3, NOLI_OF_BOX}, {1e-3, NOLI_OF_BALL}, {1e-3, 3}};
    // a cube that stands on its edge
    double box = turned ? 0.1 * sqrt(1.0 + 2.0 + 2.0) : corner;
    const double want[] = {1e-3, 1e-3 * box, 1e-3 * corner};
    Place place = place_of(turned ? 45.0 : 0.0, noli_vec3(0, 0, 1), noli_vec3(5, -3, 1));
    for (int k = 0; k < 4; k++) {
      World world = world_new(1);
      world_add(&world, make_box(&world, 0.1, 0.1, 0.1, 3), (double[]){0, 0, 0});
      for (int32_t i = 0; i < world.mesh[0]->n_vert; i++) {
        put(&place, &world.mesh[0]->x[3 * i], true);
      }
      world.def.contact_distance = given[k];
      if (k == 3) {
        world_expect_refusal(&world, "the contact distance must be absolute (0) or relative to l");
        continue;
      }
      world_start(&world);
      ASSERT_NEAR(noli_sim_contact_distance(world.sim), want[k], 1e-15);
      world_done(&world);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(turned_scenes_go_the_same_way),
      cmocka_unit_test(sizes_are_those_that_they_say),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
