// Springs and dampers between bodies and to the ground, against closed forms.
#include "step/world.h"

#include "fem/loads/spring.h"
#include "noli/live.h"

#define PI 3.14159265358979323846
#define GRAVITY 9.80665

enum { SPRINGS_MAX = 4 };

typedef struct Sprung {
  World world;
  NoliSpringDef spring[SPRINGS_MAX];
} Sprung;

static const NoliSprings* springs_of(const World* world) {
  return world->sim->model->problem.connection[NOLI_CONNECTION_SPRING].data;
}

static const double origin[3] = {0, 0, 0};

static Sprung sprung_new(const char* integrator, double h) {
  Sprung s = {.world = world_new(1)};
  s.world.def.integrator = integrator;
  s.world.def.time_step = h;
  s.world.def.gravity[1] = 0.0;
  s.world.def.contact_distance = (NoliScaled){1e-3, false}; // single points have no size
  s.world.def.tolerance = (NoliScaled){1e-8, false};
  return s;
}

static NoliSpringDef* add_spring(Sprung* s, int32_t body, double stiffness) {
  NoliSpringDef* spring = &s->spring[s->world.def.n_springs++];
  *spring = noli_default_spring_def();
  spring->body = body;
  spring->stiffness = stiffness;
  return spring;
}

static void start(Sprung* s) {
  s->world.def.springs = s->spring;
  world_start(&s->world);
}

// A body of one point with this mass.
static int32_t add_mass(Sprung* s, double mass, const double at[3]) {
  World* world = &s->world;
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_create(world->context, 1, 0, 0, 0, 1, false, &mesh));
  memset(mesh->x, 0, 3 * sizeof *mesh->x);
  mesh->point[0] = 0;
  int32_t body = world_add(world, mesh, at);
  world->body[body].point.radius = 0.01;
  world->body[body].material.density = mass / (4.0 / 3.0 * PI * 1e-6);
  return body;
}

static int32_t add_box(Sprung* s, const double size[3], int32_t cells, const double at[3]) {
  NoliMesh* mesh = NULL;
  const int32_t n[3] = {cells, cells, cells};
  ASSERT_OK(noli_mesh_make_box(s->world.context, size, n, false, &mesh));
  return world_add(&s->world, mesh, at);
}

// The vertices of a body that are lowest (or highest) at rest.
static int32_t select_end(const World* world, int32_t body, double sign, int32_t* node) {
  const NoliMesh* mesh = world->mesh[body];
  double end = -INFINITY;
  int32_t n = 0;
  for (int32_t i = 0; i < mesh->n_vert; i++) {
    end = noli_larger(end, sign * mesh->x[3 * i + 1]);
  }
  for (int32_t i = 0; i < mesh->n_vert; i++) {
    if (sign * mesh->x[3 * i + 1] > end - 1e-9) {
      node[n++] = i;
    }
  }
  return n;
}

static double y_of(const World* world, int32_t vertex) {
  return noli_sim_positions(world->sim)[3 * vertex + 1];
}

static NoliSpringForce force_of(const World* world, int32_t spring) {
  const NoliSpringForce* springs = NULL;
  int32_t n_springs = 0;
  ASSERT_OK(noli_sim_springs(world->sim, &springs, &n_springs));
  assert_int_equal(noli_sim_spring_count(world->sim), n_springs);
  assert_in_range(spring, 0, n_springs - 1);
  return springs[spring];
}

// ---- motion -------------------------------------------------------------------------------------

// The trapezoidal rule turns the phase of a linear oscillator by 2 atan(omega h / 2) in each step
// and keeps its energy: the period is 2 pi / omega up to the order h^2 that this says.
static void masses_swing_with_their_period(void** state) {
  (void)state;
  const double mass = 0.2, k = 50.0, h = 0.01, omega = sqrt(k / mass), speed = 0.3;
  double phase = 2.0 * atan(0.5 * omega * h);
  ASSERT_NEAR(phase / h, omega, 0.0021 * omega);
  Sprung s = sprung_new("trapezoidal", h);
  int32_t body = add_mass(&s, mass, (double[3]){0.1, 0.2, 0.3});
  s.world.body[body].velocity[1] = speed;
  add_spring(&s, body, k);
  start(&s);
  for (int n = 1; n <= 100; n++) {
    world_step(&s.world);
    ASSERT_NEAR(y_of(&s.world, 0) - 0.2, speed / omega * sin(n * phase), 1e-9);
    ASSERT_NEAR(s.world.report.elastic + s.world.report.kinetic, 0.5 * mass * speed * speed, 1e-9);
    ASSERT_NEAR(force_of(&s.world, 0).energy, s.world.report.elastic, 1e-12);
  }
  double frequency[3];
  ASSERT_OK(noli_sim_modes(s.world.sim, 3, frequency, NULL));
  for (int i = 0; i < 3; i++) {
    ASSERT_NEAR(frequency[i], omega / (2.0 * PI), 1e-9);
  }
  world_done(&s.world);
}

// Two masses on a spring with a length vibrate against each other with the reduced mass; their
// momentum stays, in every integrator that keeps it.
static void pairs_vibrate_with_the_reduced_mass(void** state) {
  (void)state;
  const double m[2] = {0.1, 0.3}, k = 40.0, h = 0.005, v[2] = {0.3, -0.1};
  const double omega = sqrt(k * (1.0 / m[0] + 1.0 / m[1])), phase = 2.0 * atan(0.5 * omega * h);
  const char* const solvers[] = {"projected_newton", "implicit_newton", "augmented_lagrangian"};
  for (int solver = 0; solver < 3; solver++) {
    Sprung s = sprung_new("trapezoidal", h);
    s.world.def.solver = solvers[solver];
    add_mass(&s, m[0], origin);
    add_mass(&s, m[1], (double[3]){0.3, 0.4, 0.0});
    for (int b = 0; b < 2; b++) {
      s.world.body[b].velocity[0] = 0.6 * v[b];
      s.world.body[b].velocity[1] = 0.8 * v[b];
    }
    add_spring(&s, 0, k)->to = 1;
    start(&s);
    for (int n = 1; n <= 60; n++) {
      world_step(&s.world);
      double length = 0.5 - (v[0] - v[1]) / omega * sin(n * phase);
      ASSERT_NEAR(force_of(&s.world, 0).length, length, 1e-8);
      ASSERT_NEAR(s.world.report.momentum[0], 0.0, 1e-10);
      ASSERT_NEAR(s.world.report.momentum[1], 0.0, 1e-10);
    }
    world_done(&s.world);
  }
}

// Backward Euler of m v' = -k x - c v, step by step; what the damper takes is the damping loss.
static void dampers_slow_down(void** state) {
  (void)state;
  const double mass = 0.2, k = 50.0, c = 1.5, h = 0.01;
  for (int straight = 0; straight < 2; straight++) {
    Sprung s = sprung_new("backward_euler", h);
    int32_t body = add_mass(&s, mass, origin);
    s.world.body[body].velocity[1] = 0.3;
    NoliSpringDef* spring = add_spring(&s, body, k);
    spring->damping = c;
    if (straight) {
      spring->at_point = true;
      spring->point[1] = 2.0;
    }
    start(&s);
    double x = 0.0, v = 0.3;
    for (int n = 1; n <= 50; n++) {
      world_step(&s.world);
      v = (mass * v - h * k * x) / (mass + h * c + h * h * k);
      x += h * v;
      ASSERT_NEAR(y_of(&s.world, 0), x, 1e-10);
      ASSERT_NEAR(s.world.report.damping_loss, h * c * v * v, 1e-10);
      ASSERT_NEAR(force_of(&s.world, 0).force[1], -k * x - c * v, 1e-8);
    }
    world_done(&s.world);
  }
}

// ---- equilibrium --------------------------------------------------------------------------------

// A mass on a spring on a mass that is held: the extension is m g / k, the reaction both weights.
static void hanging_masses_extend_springs(void** state) {
  (void)state;
  Sprung s = sprung_new("quasi_static", 1.0);
  World* world = &s.world;
  world->def.gravity[1] = -GRAVITY;
  add_mass(&s, 0.5, origin);
  add_mass(&s, 0.2, (double[3]){0.0, -0.3, 0.0});
  (void)world_add_motion(world, 0, NULL, NULL);
  NoliMotionDef* guide = world_add_motion(world, 1, NULL, NULL);
  guide->free_axis[1] = true;
  add_spring(&s, 1, 100.0)->to = 0;
  start(&s);
  world_step(world);
  double extension = 0.2 * GRAVITY / 100.0;
  ASSERT_NEAR(y_of(world, 1), -0.3 - extension, 1e-9);
  NoliSpringForce force = force_of(world, 0);
  assert_int_equal(force.body, 1);
  assert_int_equal(force.to, 0);
  assert_int_equal(force.n, 1);
  ASSERT_NEAR(force.force[1], 0.2 * GRAVITY, 1e-7);
  ASSERT_NEAR(force.length, 0.3 + extension, 1e-9);
  ASSERT_NEAR(force.energy, 0.5 * 100.0 * extension * extension, 1e-9);
  NoliReaction reaction;
  ASSERT_OK(noli_sim_reaction(world->sim, 0, NULL, &reaction));
  ASSERT_NEAR(reaction.force[1], 0.7 * GRAVITY, 1e-7);
  double vertex[6];
  ASSERT_OK(noli_sim_spring_forces(world->sim, vertex));
  ASSERT_NEAR(vertex[1], -0.2 * GRAVITY, 1e-7);
  ASSERT_NEAR(vertex[4], 0.2 * GRAVITY, 1e-7);
  world_done(world);
}

// A soft block on an elastic foundation sinks by its weight over the stiffness, in the mean; the
// mesh does not matter, because the stiffness is that of all springs together.
static void foundations_carry_blocks(void** state) {
  (void)state;
  for (int32_t cells = 1; cells <= 3; cells++) {
    Sprung s = sprung_new("quasi_static", 1.0);
    World* world = &s.world;
    int32_t node[100];
    world->def.gravity[1] = -GRAVITY;
    add_box(&s, (double[3]){0.2, 0.1, 0.2}, cells, origin);
    NoliSpringDef* spring = add_spring(&s, 0, 2000.0);
    spring->node = node;
    spring->n_node = select_end(world, 0, -1.0, node);
    assert_int_equal(spring->n_node, (cells + 1) * (cells + 1));
    start(&s);
    world_step(world);
    double sum = 0.0, weight = 1000.0 * 0.004 * GRAVITY;
    for (int32_t i = 0; i < spring->n_node; i++) {
      sum += y_of(world, node[i]) + 0.05;
    }
    ASSERT_NEAR(sum / spring->n_node, -weight / 2000.0, 1e-9);
    ASSERT_NEAR(force_of(world, 0).force[1], weight, 1e-6);
    world_done(world);
  }
}

// A spring presses a block on the floor: contact carries its weight and the spring's force.
static void springs_press_blocks_on_floors(void** state) {
  (void)state;
  const char* const solvers[] = {"projected_newton", "implicit_newton", "augmented_lagrangian"};
  for (int solver = 0; solver < 3; solver++) {
    Sprung s = sprung_new("backward_euler", 0.02);
    World* world = &s.world;
    int32_t node[100];
    world->def.solver = solvers[solver];
    world->def.gravity[1] = -GRAVITY;
    add_box(&s, (double[3]){0.1, 0.1, 0.1}, 2, (double[3]){0.0, 0.051, 0.0});
    world_add_plane(world, origin, (double[3]){0, 1, 0});
    NoliSpringDef* spring = add_spring(&s, 0, 200.0);
    spring->node = node;
    spring->n_node = select_end(world, 0, 1.0, node);
    spring->damping = 20.0;
    spring->at_point = true;
    spring->point[1] = 0.3;
    spring->length = 0.4; // it pushes down
    start(&s);
    for (int n = 0; n < 100; n++) {
      world_step(world);
    }
    const NoliPairForce* pair = NULL;
    int32_t n_pairs = 0;
    ASSERT_OK(noli_sim_pair_forces(world->sim, &pair, &n_pairs));
    assert_int_equal(n_pairs, 1);
    double pressed = -force_of(world, 0).force[1], weight = GRAVITY;
    assert_in_range((int)pressed, 30, 60);
    ASSERT_NEAR(pair[0].normal[1], weight + pressed, 0.01 * weight);
    world_done(world);
  }
}

// ---- ends ---------------------------------------------------------------------------------------

// Each vertex goes to the closest of the other end, or to that of its pair.
static void springs_join_closest_vertices(void** state) {
  (void)state;
  for (int pairwise = 0; pairwise < 2; pairwise++) {
    Sprung s = sprung_new("backward_euler", 0.01);
    int32_t low[100], high[100];
    add_box(&s, (double[3]){0.2, 0.1, 0.2}, 4, (double[3]){0.0, 0.06, 0.0});
    add_box(&s, (double[3]){0.2, 0.1, 0.2}, 4, (double[3]){0.01, -0.06, 0.0});
    NoliSpringDef* spring = add_spring(&s, 0, 75.0);
    spring->to = 1;
    spring->node = low;
    spring->n_node = select_end(&s.world, 0, -1.0, low);
    if (pairwise) {
      spring->pairwise = true;
      spring->to_node = high;
      spring->n_to_node = select_end(&s.world, 1, 1.0, high);
      int32_t first = high[0];
      high[0] = high[1];
      high[1] = first;
    }
    start(&s);
    const NoliSprings* springs = springs_of(&s.world);
    assert_int_equal(springs->n, 25);
    double length = hypot(0.01, 0.02), crossed = 0.0;
    for (int32_t i = 0; i < 25; i++) {
      ASSERT_NEAR(springs->stiffness[i], 3.0, 1e-14);
      crossed += !(fabs(springs->length[i] - length) <= 1e-12) ? 1.0 : 0.0;
      if (pairwise) {
        int32_t first = s.world.sim->model->vert_first[1];
        assert_int_equal(springs->node[2 * i + 1], first + high[i]);
      }
    }
    ASSERT_NEAR(crossed, pairwise ? 2.0 : 0.0, 0.0);
    world_done(&s.world);
  }
}

// The search along an axis finds what comparing all finds.
static void closest_vertices_are_those_of_all(void** state) {
  (void)state;
  TestRandom random = {5};
  Sprung s = sprung_new("backward_euler", 0.01);
  int32_t sizes[2] = {60, 150};
  s.world.def.contact = false;
  s.world.def.audit = "off";
  for (int b = 0; b < 2; b++) {
    NoliMesh* mesh = NULL;
    ASSERT_OK(noli_mesh_create(s.world.context, sizes[b], 0, 0, 0, sizes[b], false, &mesh));
    for (int32_t i = 0; i < sizes[b]; i++) {
      mesh->point[i] = i;
      for (int k = 0; k < 3; k++) {
        mesh->x[3 * i + k] = 0.25 * floor(test_random(&random, -4.0, 4.0)) + 0.1 * b;
      }
    }
    world_add(&s.world, mesh, origin);
    s.world.body[b].point.radius = 0.01;
  }
  add_spring(&s, 0, 1.0)->to = 1;
  start(&s);
  const NoliSprings* springs = springs_of(&s.world);
  const double *X = s.world.mesh[0]->x, *Y = s.world.mesh[1]->x;
  for (int32_t i = 0; i < sizes[0]; i++) {
    int32_t best = 0;
    double least = INFINITY;
    for (int32_t j = 0; j < sizes[1]; j++) {
      double square = noli_norm_sqr3(noli_sub3(noli_load3(Y + 3 * j), noli_load3(X + 3 * i)));
      best = square < least ? j : best;
      least = noli_smaller(least, square);
    }
    assert_int_equal(springs->node[2 * i + 1], sizes[0] + best);
  }
  world_done(&s.world);
}

// Springs keep the length of the rest shape when bodies are added, removed and changed, and clones
// continue with the same bits.
static void springs_survive_changes(void** state) {
  (void)state;
  Sprung s = sprung_new("backward_euler", 0.01);
  World* world = &s.world;
  add_mass(&s, 0.1, (double[3]){5.0, 5.0, 5.0});
  add_mass(&s, 0.1, origin);
  add_mass(&s, 0.1, (double[3]){0.0, 0.3, 0.0});
  world->body[2].velocity[1] = 1.0;
  NoliSpringDef* removed = add_spring(&s, 0, 5.0);
  removed->to = 1;
  NoliSpringDef* kept = add_spring(&s, 1, 100.0);
  kept->to = 2;
  kept->name = "kept";
  start(&s);
  assert_string_equal(noli_sim_spring_name(world->sim, 0), "spring 0");
  assert_int_equal(noli_sim_find_spring(world->sim, "kept"), 1);
  for (int n = 0; n < 3; n++) {
    world_step(world);
  }
  ASSERT_OK(noli_sim_remove_body(world->sim, 0));
  assert_int_equal(noli_sim_spring_count(world->sim), 1);
  assert_int_equal(noli_sim_find_spring(world->sim, "kept"), 0);
  assert_int_equal(noli_sim_find_spring(world->sim, "none"), NOLI_NULL_INDEX);
  ASSERT_NEAR(springs_of(world)->length[0], 0.3, 1e-15);
  NoliSpringForce force = force_of(world, 0);
  ASSERT_NEAR(noli_norm3(noli_load3(force.force)), 100.0 * (force.length - 0.3), 1e-12);
  assert_true(force.length > 0.31);
  NoliSim* clone = NULL;
  ASSERT_OK(noli_sim_clone(world->sim, world->context, &clone));
  for (int n = 0; n < 3; n++) {
    ASSERT_OK(noli_sim_step(world->sim, NULL));
    ASSERT_OK(noli_sim_step(clone, NULL));
    assert_true(noli_sim_state_hash(world->sim) == noli_sim_state_hash(clone));
  }
  noli_sim_destroy(&clone);
  world_done(world);
}

// ---- errors -------------------------------------------------------------------------------------

static Sprung two_masses(void) {
  Sprung s = sprung_new("backward_euler", 0.01);
  add_mass(&s, 0.1, origin);
  add_mass(&s, 0.1, (double[3]){0.3, 0.0, 0.0});
  add_spring(&s, 0, 10.0)->to = 1;
  return s;
}

static void expect_refusal(Sprung* s, const char* part) {
  s->world.def.springs = s->spring;
  world_expect_refusal(&s->world, part);
}

static void refusals(void** state) {
  (void)state;
  Sprung s = two_masses();
  s.spring[0].to = 7;
  expect_refusal(&s, "spring 0: body 7 does not exist");
  s = two_masses();
  s.spring[0].to = 7;
  s.spring[0].where = "scene.json:12: springs[0]";
  expect_refusal(&s, "scene.json:12: springs[0]: spring 0: body 7 does not exist");
  s = two_masses();
  s.spring[0].stiffness = 0.0;
  expect_refusal(&s, "spring 0 has neither stiffness nor damping");
  s = two_masses();
  s.spring[0].stiffness = -1.0;
  expect_refusal(&s, "the stiffness must be in [0, ");
  s = two_masses();
  s.spring[0].length = -2.0;
  expect_refusal(&s, "the length must be in [0, ");
  s = two_masses();
  s.spring[0].damping = NAN;
  expect_refusal(&s, "the damping must be in [0, ");
  s = two_masses();
  s.spring[0].at_point = true;
  expect_refusal(&s, "only one is possible");
  s = two_masses();
  s.spring[0].pairwise = true;
  expect_refusal(&s, "pairs need as many vertices");
  s = two_masses();
  s.spring[0].to = 0;
  s.spring[0].where = "scene.json:12: springs[0]";
  expect_refusal(&s, "scene.json:12: springs[0]: spring 0 joins vertex 0 of \"body0\" to itself");
  s = two_masses();
  s.spring[0].to = NOLI_NULL_INDEX;
  s.spring[0].length = 0.1;
  expect_refusal(&s, "spring 0: its length is 0.1 m, but at rest both ends");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(masses_swing_with_their_period),
      cmocka_unit_test(pairs_vibrate_with_the_reduced_mass),
      cmocka_unit_test(dampers_slow_down),
      cmocka_unit_test(hanging_masses_extend_springs),
      cmocka_unit_test(foundations_carry_blocks),
      cmocka_unit_test(springs_press_blocks_on_floors),
      cmocka_unit_test(springs_join_closest_vertices),
      cmocka_unit_test(closest_vertices_are_those_of_all),
      cmocka_unit_test(springs_survive_changes),
      cmocka_unit_test(refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
