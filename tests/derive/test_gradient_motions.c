// Derivatives of runs by prescribed motions, and of bodies that they move: both modes against each
// other and against central differences of runs.
#include "gradient_bodies.h"

// Turns about (0.1, 1.05, 0) at a speed that grows, and drifts, from where vertices are.
static void turn(void* user, double t0, double t1, int32_t n, const int32_t* node, const double* X,
                 const double* x_t0, double* x_t1) {
  (void)user, (void)node, (void)X;
  double angle = 4.0 * (t1 - t0) + 30.0 * (t1 * t1 - t0 * t0), c = cos(angle), s = sin(angle);
  for (int64_t i = 0; i < n; i++) {
    double dx = x_t0[3 * i] - 0.1, dy = x_t0[3 * i + 1] - 1.05;
    x_t1[3 * i] = 0.1 + c * dx - s * dy + 0.2 * (t1 - t0);
    x_t1[3 * i + 1] = 1.05 + s * dx + c * dy;
    x_t1[3 * i + 2] = x_t0[3 * i + 2];
  }
}

// Shakes from the rest shape, and turns it.
static void shake(void* user, double t0, double t1, int32_t n, const int32_t* node, const double* X,
                  const double* x_t0, double* x_t1) {
  (void)user, (void)node, (void)t0, (void)x_t0;
  double angle = 30.0 * t1 * t1, c = cos(angle), s = sin(angle);
  for (int64_t i = 0; i < n; i++) {
    double dx = X[3 * i] - 0.1, dy = X[3 * i + 1] - 1.05;
    x_t1[3 * i] = 0.1 + c * dx - s * dy + 0.02 * (1.0 - cos(40.0 * t1));
    x_t1[3 * i + 1] = 1.05 + s * dx + c * dy;
    x_t1[3 * i + 2] = X[3 * i + 2] + 3.0 * t1 * t1;
  }
}

static void moved_beam(World* world, NoliMotionFn* target, bool free) {
  add_box(world, 1.0, true);
  world->motion[0].target = target;
  world->motion[0].free_axis[2] = free;
  world->motion[0].name = "drive";
}

static void turned_beam(World* world) {
  moved_beam(world, turn, false);
}

static void changed_beam(World* world) {
  moved_beam(world, turn, false);
  world->motion[0].change = 0.3;
  world->motion[0].velocity[1] = 0.4;
}

static void shaken_beam(World* world) {
  moved_beam(world, shake, true);
}

static void changed_shaken_beam(World* world) {
  moved_beam(world, shake, false);
  world->motion[0].change = -0.2;
  world->motion[0].velocity[0] = 0.4;
}

// Spins while it turns, drifts and shakes; about a place aside, too, for a while only.
static void spun_beam(World* world) {
  changed_beam(world);
  memcpy(world->motion[0].spin, (double[]){3.0, -2.0, 5.0}, sizeof world->motion[0].spin);
  memcpy(world->motion[0].pivot, (double[]){0.1, 1.0, 0.3}, sizeof world->motion[0].pivot);
  world->motion[0].t_begin = 0.02;
}

static void spun_shaken_beam(World* world) {
  changed_shaken_beam(world);
  memcpy(world->motion[0].spin, (double[]){0.0, 1.0, -2.0}, sizeof world->motion[0].spin);
}

// Held by a clamp that may turn.
static void held_beam(World* world) {
  moved_beam(world, NULL, false);
  world->motion[0].pivot[1] = 1.0;
}

// It falls and sags before it is clamped and turns.
static void late_beam(World* world) {
  static double x0[3 * 64];
  moved_beam(world, turn, false);
  world->motion[0].t_begin = 0.025;
  for (int64_t i = 0; i < 3 * (int64_t)world->mesh[0]->n_vert; i++) {
    assert_true(i < 3 * 64);
    x0[i] = world->mesh[0]->x[i] + 0.004 * sin(5.0 * (double)i);
  }
  world->body[0].x0 = x0;
}

// A box is held in the air until a plate below, which moves, touches it.
static void lifted_box(World* world) {
  NoliMesh* mesh = NULL;
  add_box(world, 1.5e-3, false);
  ASSERT_OK(noli_mesh_make_box(world->context, (double[]){0.4, 0.1, 0.4}, (int32_t[]){2, 1, 2},
                               false, &mesh));
  int32_t plate = world_add_obstacle(world, mesh, (double[]){0, -0.05, 0});
  world_add_motion(world, plate, NULL, NULL)->name = "drive";
  world->motion[0].velocity[1] = 0.3;
  world->motion[0].velocity[0] = 0.5;
  world->def.friction = 0.3;
}

static void quadratic_turned_beam(World* world) {
  changed_beam(world);
  world->body[0].order = 2;
}

static void damped_turned_beam(World* world) {
  turned_beam(world);
  world->body[0].material.damping = 0.01;
}

// A box that rests on a plate which moves aside from the start.
static void dragged_box(World* world) {
  lifted_box(world);
  world->body[0].velocity[1] = 0.0;
  world->body[0].material.damping = 0.002;
  world->motion[0].velocity[1] = 0.05;
}

static void viscous_shaken_beam(World* world) {
  shaken_beam(world);
  world->body[0].material.prony = &prony;
}

// It sags before it goes back to where it began.
static void outside_beam(World* world) {
  late_beam(world);
  world->motion[0].target = NULL;
  world->motion[0].controlled = true;
}

static void free_outside_beam(World* world) {
  outside_beam(world);
  world->motion[0].free_axis[2] = true;
}

// Turns about the centre of all vertices.
static void turn_about_centre(void* user, double t0, double t1, int32_t n, const int32_t* node,
                              const double* X, const double* x_t0, double* x_t1) {
  (void)user, (void)node, (void)X;
  double angle = 20.0 * (t1 - t0), c = cos(angle), s = sin(angle), centre[2] = {0.0, 0.0};
  for (int64_t i = 0; i < n; i++) {
    centre[0] += x_t0[3 * i] / n;
    centre[1] += x_t0[3 * i + 1] / n;
  }
  for (int64_t i = 0; i < n; i++) {
    double dx = x_t0[3 * i] - centre[0], dy = x_t0[3 * i + 1] - centre[1];
    x_t1[3 * i] = centre[0] + c * dx - s * dy;
    x_t1[3 * i + 1] = centre[1] + s * dx + c * dy;
    x_t1[3 * i + 2] = x_t0[3 * i + 2];
  }
}

static void centred_beam(World* world) {
  moved_beam(world, turn_about_centre, false);
}

static void free_centred_beam(World* world) {
  moved_beam(world, turn_about_centre, true);
}

static void late_centred_beam(World* world) {
  late_beam(world);
  world->motion[0].target = turn_about_centre;
}

static void turns_and_changes(void** state) {
  (void)state;
  static const GradientCase cases[] = {
      {"turned, factor", turned_beam, NULL, 0.01, 6, OF("motion", "drive"), 1e-4, 1e-6},
      {"turned bdf2, factor", turned_beam, "bdf2", 0.01, 6, OF("motion", "drive"), 1e-4, 1e-6},
      {"turned, velocity", turned_beam, "sdirk2", 0.01, 6, OF("motion_velocity", "drive"), 1e-4,
       1e-6},
      {"turned, shape", turned_beam, NULL, 0.01, 6, SHAPE("body0"), 1e-6, 1e-6},
      {"turned bdf2, positions", turned_beam, "bdf2", 0.01, 6,
       VERTICES("initial_position", "body0"), 1e-6, 1e-6},
      {"turned tr_bdf2, velocity", turned_beam, "tr_bdf2", 0.01, 6, OF("motion_velocity", "drive"),
       1e-4, 1e-6},
      {"changed, factor", changed_beam, NULL, 0.01, 6, OF("motion", "drive"), 1e-4, 1e-6},
      {"changed, velocity", changed_beam, "sdirk2", 0.01, 6, OF("motion_velocity", "drive"), 1e-4,
       1e-6},
      {"changed, shape", changed_beam, "sdirk2", 0.01, 6, SHAPE("body0"), 1e-6, 1e-6},
      {"order 2 turned bdf2, factor", quadratic_turned_beam, "bdf2", 0.01, 4, OF("motion", "drive"),
       1e-4, 1e-6},
      {"order 2 turned sdirk2, velocity", quadratic_turned_beam, "sdirk2", 0.01, 4,
       OF("motion_velocity", "drive"), 1e-4, 1e-6},
      {"order 2 turned tr_bdf2, spin", quadratic_turned_beam, "tr_bdf2", 0.01, 4,
       OF("motion_spin", "drive"), 1e-4, 1e-6},
      {"order 2 turned bdf2, shape", quadratic_turned_beam, "bdf2", 0.01, 4, SHAPE("body0"), 1e-6,
       1e-6},
      {"order 2 turned bdf2, densities", quadratic_turned_beam, "bdf2", 0.01, 4,
       ELEMENTS("density", "body0"), 0.3, 1e-6},
      {"turned, spin", turned_beam, NULL, 0.01, 6, OF("motion_spin", "drive"), 1e-4, 1e-6},
      {"held tr_bdf2, spin", held_beam, "tr_bdf2", 0.01, 6, OF("motion_spin", "drive"), 1e-4, 1e-6},
      {"spun, spin", spun_beam, NULL, 0.01, 6, OF("motion_spin", "drive"), 1e-4, 1e-6},
      {"spun sdirk2, factor", spun_beam, "sdirk2", 0.01, 6, OF("motion", "drive"), 1e-4, 1e-6},
      {"spun bdf2, velocity", spun_beam, "bdf2", 0.01, 6, OF("motion_velocity", "drive"), 1e-4,
       1e-6},
      {"spun, shape", spun_beam, NULL, 0.01, 6, SHAPE("body0"), 1e-6, 1e-6},
      {"damped and turned tr_bdf2, factor", damped_turned_beam, "tr_bdf2", 0.01, 6,
       OF("motion", "drive"), 1e-4, 1e-6},
      {"damped and turned trapezoidal, velocity", damped_turned_beam, "trapezoidal", 0.01, 6,
       OF("motion_velocity", "drive"), 1e-4, 1e-6},
  };
  COMPARE(cases);
}

static void shakes(void** state) {
  (void)state;
  static const GradientCase cases[] = {
      {"shaken, factor", shaken_beam, "bdf2", 0.01, 6, OF("motion", "drive"), 1e-4, 1e-6},
      {"shaken, shape", shaken_beam, NULL, 0.01, 6, SHAPE("body0"), 1e-6, 1e-6},
      {"shaken bdf2, positions", shaken_beam, "bdf2", 0.01, 6,
       VERTICES("initial_position", "body0"), 1e-6, 1e-6},
      {"changed shaken, factor", changed_shaken_beam, NULL, 0.01, 6, OF("motion", "drive"), 1e-4,
       1e-6},
      {"changed shaken bdf2, shape", changed_shaken_beam, "bdf2", 0.01, 6, SHAPE("body0"), 1e-6,
       1e-6},
      {"spun shaken, spin", spun_shaken_beam, "bdf2", 0.01, 6, OF("motion_spin", "drive"), 1e-4,
       1e-6},
      {"spun shaken, positions", spun_shaken_beam, NULL, 0.01, 6,
       VERTICES("initial_position", "body0"), 1e-6, 1e-6},
      {"viscous shaken, factor", viscous_shaken_beam, NULL, 0.01, 6, OF("motion", "drive"), 1e-4,
       1e-6},
      {"viscous shaken bdf2, velocity", viscous_shaken_beam, "bdf2", 0.01, 6,
       OF("motion_velocity", "drive"), 1e-4, 1e-6},
      {"viscous shaken, shape", viscous_shaken_beam, NULL, 0.01, 6, SHAPE("body0"), 1e-6, 1e-6},
  };
  COMPARE(cases);
}

static void late_clamps_lifts_and_drags(void** state) {
  (void)state;
  static const GradientCase cases[] = {
      {"clamped late, young", late_beam, NULL, 0.01, 6, OF("young", "body0"), 100, 1e-6},
      {"clamped late, density", late_beam, "bdf2", 0.01, 6, OF("density", "body0"), 0.1, 1e-6},
      {"lifted, spin", lifted_box, NULL, 0.004, 8, OF("motion_spin", "drive"), 1e-5, 1e-5},
      {"lifted, velocity", lifted_box, NULL, 0.004, 8, OF("motion_velocity", "drive"), 1e-6, 1e-5},
      {"lifted sdirk2, velocity", lifted_box, "sdirk2", 0.004, 8, OF("motion_velocity", "drive"),
       1e-6, 1e-5},
      {"dragged tr_bdf2, velocity", dragged_box, "tr_bdf2", 0.004, 4,
       OF("motion_velocity", "drive"), 1e-6, 1e-5},
      {"dragged trapezoidal, density", dragged_box, "trapezoidal", 0.004, 4, OF("density", "body0"),
       0.1, 1e-5},
  };
  COMPARE(cases);
}

// Targets that no parameter changes need no derivatives.
static void targets_that_do_not_vary(void** state) {
  (void)state;
  static const GradientCase cases[] = {
      {"from outside, young", outside_beam, NULL, 0.01, 6, OF("young", "body0"), 10, 1e-6},
      {"from outside bdf2, density", outside_beam, "bdf2", 0.01, 6, OF("density", "body0"), 0.1,
       1e-6},
      {"from outside sdirk2, young", outside_beam, "sdirk2", 0.01, 6, OF("young", "body0"), 10,
       1e-6},
      {"from outside tr_bdf2, velocity", outside_beam, "tr_bdf2", 0.01, 6,
       OF("initial_velocity", "body0"), 1e-4, 1e-6},
      {"from outside trapezoidal, young", outside_beam, "trapezoidal", 0.01, 6,
       OF("young", "body0"), 10, 1e-6},
      {"from outside and free, young", free_outside_beam, "sdirk2", 0.01, 6, OF("young", "body0"),
       10, 1e-6},
      {"about the centre, young", centred_beam, NULL, 0.01, 6, OF("young", "body0"), 100, 1e-6},
      {"about the centre tr_bdf2, density", centred_beam, "tr_bdf2", 0.01, 6,
       OF("density", "body0"), 0.1, 1e-6},
  };
  COMPARE(cases);
}

static void targets_that_vary_without_derivatives(void** state) {
  (void)state;
  static const struct {
    void (*build)(World* world);
    NoliParameterDef parameter;
    const char* words;
  } cases[] = {
      {outside_beam, SHAPE("body0"), "motion 0, of body \"body0\", is set from outside"},
      {outside_beam, OF("motion", "drive"), "motion \"drive\" is set from outside"},
      {outside_beam, OF("motion_spin", "drive"), "motion \"drive\" is set from outside"},
      {centred_beam, OF("motion_spin", "drive"), "follow the places of other vertices"},
      {centred_beam, OF("initial_position", "body0"), "follow the places of other vertices"},
      {free_centred_beam, OF("young", "body0"), "follow the places of other vertices"},
      {late_centred_beam, OF("young", "body0"), "follow the places of other vertices"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const GradientCase c = {.build = cases[i].build, .h = 0.01};
    World world = built_world(&c);
    expect_refusal(&world, 6, &cases[i].parameter, cases[i].words);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(turns_and_changes), cmocka_unit_test(shakes),
                                     cmocka_unit_test(late_clamps_lifts_and_drags),
                                     cmocka_unit_test(targets_that_do_not_vary),
                                     cmocka_unit_test(targets_that_vary_without_derivatives)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
