// Friction that depends on a direction of one body.
#include "world.h"

#define G 9.80665
#define H 0.01

// How a block lies on a floor.
typedef struct Way {
  const char* solver;
  const char* model;
  const char* law;
  bool board;       // the floor is a body; else a half-space
  bool floor_first; // which has the direction
} Way;

static const Way plain = {NULL, "ipc", "stick", false, false};

// Coefficients along and across a direction at an angle from x in the plane of the floor.
typedef struct Law {
  double along;
  double across;
  double angle;
} Law;

static void set_pair(World* world, NoliPairDef* pair, Way way, Law law) {
  *pair = noli_default_pair_def();
  pair->a = way.floor_first ? 1 : 0;
  pair->b = way.floor_first ? 0 : 1;
  pair->friction = law.along;
  pair->friction_across = law.across;
  pair->direction[0] = 3.0 * cos(law.angle);
  pair->direction[2] = 3.0 * sin(law.angle);
  world->def.pairs = pair;
  world->def.n_pairs = 1;
}

static World flat_block(Way way, Law law, NoliPairDef* pair) {
  World world = world_new(1);
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_box(world.context, (double[]){0.2, 0.02, 0.2}, (int32_t[]){3, 1, 3},
                               false, &mesh));
  world_add(&world, mesh, (double[]){0.0, 0.01006, 0.0});
  if (way.board) {
    ASSERT_OK(noli_mesh_make_box(world.context, (double[]){2.0, 0.1, 2.0}, (int32_t[]){9, 1, 9},
                                 false, &mesh));
    world_add_obstacle(&world, mesh, (double[]){0.01, -0.05, 0.013});
  } else {
    world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  }
  world.body[0].material.young = 1e7;
  world.body[0].material.poisson = 0.3;
  world.def.time_step = H;
  world.def.contact_distance = (NoliScaled){1e-4, NOLI_ABSOLUTE};
  world.def.tolerance = (NoliScaled){1e-7, NOLI_ABSOLUTE};
  world.def.friction_law = way.law;
  world.def.solver = way.solver;
  world.def.contact_model = way.model;
  set_pair(&world, pair, way, law);
  return world;
}

static void velocity_of(const World* world, double v[3]) {
  double mass = 0.2 * 0.02 * 0.2 * world->body[0].material.density;
  for (int k = 0; k < 3; k++) {
    v[k] = world->report.momentum[k] / mass;
  }
}

// The share of the limit that a load along x takes: the ellipse.
static double share_of_limit(Law law, double over_normal) {
  return over_normal * hypot(cos(law.angle) / law.along, sin(law.angle) / law.across);
}

// The force of Coulomb's law over the normal force at a velocity, with components along x and z.
static void coulomb_force(Law law, const double v[2], double force[2]) {
  double c = cos(law.angle), s = sin(law.angle);
  double along = law.along * (c * v[0] + s * v[1]), across = law.across * (c * v[1] - s * v[0]);
  double y = hypot(along, across);
  double f1 = law.along * along / y, f2 = law.across * across / y;
  force[0] = -(c * f1 - s * f2);
  force[1] = -(s * f1 + c * f2);
}

// The direction in which a load along x accelerates a block from rest: friction turns it away.
static double find_course(Law law, double load, double* acceleration) {
  double low = -1.5, high = 1.5, force[2], angle = 0.0;
  for (int i = 0; i < 60; i++) {
    angle = 0.5 * (low + high);
    double v[2] = {cos(angle), sin(angle)};
    coulomb_force(law, v, force);
    double a[2] = {load + force[0], force[1]};
    *(v[0] * a[1] - v[1] * a[0] > 0.0 ? &low : &high) = angle;
    *acceleration = hypot(a[0], a[1]);
  }
  return angle;
}

// A load below the ellipse is held in every direction; above it the block slides where it is to.
static void loads_are_held_up_to_an_ellipse(void** state) {
  (void)state;
  static const Way ways[] = {{NULL, "ipc", "stick", false, false},
                             {NULL, "ipc", "stick", true, true},
                             {NULL, "gcp", "stick", true, false},
                             {"augmented_lagrangian", "ipc", "stick", false, true},
                             {"implicit_newton", "ipc", "stick", true, false},
                             {NULL, "implicit_surface", "stick", true, true}};
  for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
    for (int k = 0; k < 4; k++) {
      // the load takes this share of what friction can hold
      double share = 0.995, over = 0.3;
      Law law = {.along = 1.0, .across = 2.5, .angle = 0.5 * k};
      double factor = share_of_limit(law, over) / share;
      law.along *= factor;
      law.across *= factor;
      for (int beyond = 0; beyond < 2; beyond++) {
        NoliPairDef pair;
        double load = (beyond == 0 ? over : 1.4 * over) * G, a = 0.0, then[3], now[3];
        World world = flat_block(ways[w], law, &pair);
        world.def.audit = strcmp(ways[w].model, "implicit_surface") == 0 ? "off" : "every_step";
        world.def.gravity[0] = load;
        world.def.gravity[1] = -G;
        world_start(&world);
        for (int i = 0; i < 30; i++) {
          world_step(&world);
        }
        velocity_of(&world, then);
        for (int i = 0; i < 20; i++) {
          world_step(&world);
        }
        velocity_of(&world, now);
        double course = find_course(law, load / G, &a);
        double want[2] = {beyond ? G * a * cos(course) : 0.0, beyond ? G * a * sin(course) : 0.0};
        for (int d = 0; d < 2; d++) {
          double got = (now[2 * d] - then[2 * d]) / (20.0 * H);
          double allowed = beyond ? 5e-3 * G * a : 1e-6;
          if (!(fabs(got - want[d]) <= allowed)) {
            print_error("way %zu, angle %d, beyond %d: component %d is %.6g for %.6g\n", w, k,
                        beyond, d, got, want[d]);
          }
          ASSERT_NEAR(got, want[d], allowed);
        }
        world_done(&world);
      }
    }
  }
}

// A block that slides freely: v2 / v2(0) = (v1 / v1(0))^(mu2^2 / mu1^2), its course bends towards
// the direction of less friction.
static void courses_bend(void** state) {
  (void)state;
  const char* laws[] = {"stick", "velocity"};
  for (int k = 0; k < 2; k++) {
    Law law = {.along = 0.2, .across = 0.3, .angle = 0.4};
    Way way = plain;
    way.law = laws[k];
    NoliPairDef pair;
    World world = flat_block(way, law, &pair);
    double c = cos(law.angle), s = sin(law.angle), v[3];
    world.def.time_step = 2e-3;
    world.body[0].velocity[0] = c - s; // 1 m/s along and across
    world.body[0].velocity[2] = s + c;
    world.def.gravity[1] = -G;
    world.def.gravity[0] = 0.0;
    world_start(&world);
    for (int i = 0; i < 120; i++) {
      world_step(&world);
    }
    velocity_of(&world, v);
    double v1 = c * v[0] + s * v[2], v2 = c * v[2] - s * v[0];
    double power = law.across * law.across / (law.along * law.along);
    assert_true(v1 > 0.5 && v1 < 0.75);
    ASSERT_NEAR(v2, pow(v1, power), 2e-3);
    world_done(&world);
  }
}

// A skate: no friction along its direction, which holds it on its course against a load across.
static void skates_slide_along_their_direction_alone(void** state) {
  (void)state;
  Law law = {.along = 0.0, .across = 0.5, .angle = 0.7};
  NoliPairDef pair;
  Way way = {NULL, "ipc", "stick", false, true};
  World world = flat_block(way, law, &pair);
  double c = cos(law.angle), s = sin(law.angle), v[3], before[3], after[3];
  world.body[0].velocity[0] = c;
  world.body[0].velocity[2] = s;
  world.def.gravity[0] = 0.3 * G * -s;
  world.def.gravity[1] = -G;
  world.def.gravity[2] = 0.3 * G * c;
  world_start(&world);
  for (int i = 0; i < 20; i++) {
    world_step(&world);
  }
  world_centre(&world, 0, before);
  for (int i = 0; i < 50; i++) {
    world_step(&world);
  }
  world_centre(&world, 0, after);
  velocity_of(&world, v);
  ASSERT_NEAR(c * v[0] + s * v[2], 1.0, 1e-4);
  ASSERT_NEAR(c * v[2] - s * v[0], 0.0, 1e-6);
  ASSERT_NEAR(c * (after[2] - before[2]) - s * (after[0] - before[0]), 0.0, 1e-7);
  assert_true(world.report.contacts_sliding > 0);
  world_done(&world);
}

static void quarter_turn(void* user, double t0, double t1, int32_t n, const int32_t* node,
                         const double* X, const double* x_t0, double* x_t1) {
  (void)user, (void)t0, (void)node, (void)x_t0;
  double angle = fmin(t1, 0.5) * 2.0 * 1.5707963267948966;
  for (int32_t i = 0; i < n; i++) {
    x_t1[3 * i] = cos(angle) * X[3 * i] - sin(angle) * X[3 * i + 2];
    x_t1[3 * i + 1] = X[3 * i + 1];
    x_t1[3 * i + 2] = sin(angle) * X[3 * i] + cos(angle) * X[3 * i + 2];
  }
}

// The floor turns below the block by a quarter turn, and its direction with it: what held the load
// along it no longer does, or the other way round.
static void directions_turn_with_their_body(void** state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    Way way = {NULL, "ipc", "stick", true, true};
    Law law = {k == 0 ? 0.1 : 0.5, k == 0 ? 0.5 : 0.1, 0.0};
    NoliPairDef pair;
    World world = flat_block(way, law, &pair);
    double v[3];
    world_add_motion(&world, 1, quarter_turn, NULL);
    world.def.gravity[0] = 0.25 * G; // x is across the direction after the turn
    world.def.gravity[1] = -G;
    world_start(&world);
    double then = 0.0;
    for (int i = 0; i < 80; i++) {
      world_step(&world);
      if (i == 59) {
        velocity_of(&world, v);
        then = v[0];
      }
    }
    velocity_of(&world, v);
    double got = (v[0] - then) / (20.0 * H);
    if (k == 0) {
      assert_true(got < 1e-6);
    } else {
      ASSERT_NEAR(got, (0.25 - 0.1) * G, 0.02 * G);
    }
    world_done(&world);
  }
}

// What has no meaning is refused, with its place.
static void what_has_no_meaning_is_refused(void** state) {
  (void)state;
  static const struct {
    double across, viscosity, along, static_friction;
    const char* method;
    bool direction;
    const char* says;
  } cases[] = {
      {0.5, 0.0, 0.3, 0.0, "lagged", false, "pair 0: friction across a direction, 0.5, needs"},
      {0.5, 0.1, 0.3, 0.0, "lagged", true, "pair 0: friction with a direction has no viscosity"},
      {0.5, 0.0, 0.3, 0.0, "implicit", true, "pair 0: implicit friction has no direction"},
      {0.5, 0.0, 0.0, 0.2, "lagged", true, "pair 0: static friction is in proportion"},
      {-1.0, 0.0, 0.3, 0.0, "lagged", true, "friction across its direction"}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    NoliPairDef pair;
    World world = flat_block(plain, (Law){cases[k].along, cases[k].across, 0.3}, &pair);
    pair.viscosity = cases[k].viscosity;
    pair.static_friction = cases[k].static_friction;
    if (!cases[k].direction) {
      memset(pair.direction, 0, sizeof pair.direction);
    }
    world_use_friction(&world, cases[k].method);
    world_expect_refusal(&world, cases[k].says);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(loads_are_held_up_to_an_ellipse),
      cmocka_unit_test(courses_bend),
      cmocka_unit_test(skates_slide_along_their_direction_alone),
      cmocka_unit_test(directions_turn_with_their_body),
      cmocka_unit_test(what_has_no_meaning_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
