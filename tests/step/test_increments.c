// Load steps in increments of adaptive length: how they grow and shrink, what they reach, failures,
// and that they continue with the same bits.
#include "world.h"

#include "noli/live.h"

static const double origin[3] = {0, 0, 0};

enum { NODES_MAX = 100 };

typedef struct Pressed {
  World world;
  int32_t low[NODES_MAX], high[NODES_MAX];
  double speed; // m/s, downward
} Pressed;

static void press(void* user, double t0, double t1, int32_t n, const int32_t* node, const double* X,
                  const double* x_t0, double* x_t1) {
  (void)t0, (void)node, (void)x_t0;
  const Pressed* pressed = user;
  for (int32_t i = 0; i < n; i++) {
    x_t1[3 * i] = X[3 * i];
    x_t1[3 * i + 1] = X[3 * i + 1] - pressed->speed * t1;
    x_t1[3 * i + 2] = X[3 * i + 2];
  }
}

static int32_t select_side(const NoliMesh* mesh, double y, int32_t* node) {
  int32_t n = 0;
  for (int32_t i = 0; i < mesh->n_vert; i++) {
    if (fabs(mesh->x[3 * i + 1] - y) < 1e-9) {
      node[n++] = i;
    }
  }
  return n;
}

// A cube whose upper side moves down; steps of 1 s.
static void pressed_make(Pressed* p, double speed) {
  NoliMesh* mesh = NULL;
  *p = (Pressed){.world = world_new(1), .speed = speed};
  World* world = &p->world;
  ASSERT_OK(noli_mesh_make_box(world->context, (double[3]){1, 1, 1}, (int32_t[3]){3, 3, 3}, false,
                               &mesh));
  int32_t body = world_add(world, mesh, origin);
  NoliMotionDef* held = world_add_motion(world, body, NULL, NULL);
  held->node = p->low;
  held->n_node = select_side(mesh, -0.5, p->low);
  NoliMotionDef* moved = world_add_motion(world, body, press, p);
  moved->node = p->high;
  moved->n_node = select_side(mesh, 0.5, p->high);
  world->def.integrator = "quasi_static";
  world->def.time_step = 1.0;
  world->def.gravity[1] = 0.0;
  world->def.tolerance = (NoliScaled){1e-8, false};
}

static void step_in(Pressed* p, int32_t increments, double shortest) {
  world_step(&p->world);
  assert_int_equal(p->world.report.substeps, increments);
  ASSERT_NEAR(p->world.report.increment, shortest, 1e-12);
  // steps end at their times, whatever the increments
  double end = (double)noli_sim_step_count(p->world.sim);
  assert_true(noli_sim_time(p->world.sim) == end && p->world.report.time == end);
}

// Increments of 1, 1.5, 2.25, ... sixteenths, the last of a step as long as the rest of it. What is
// cut so does not shorten the next one.
static void easy_increments_grow(void** state) {
  (void)state;
  Pressed p;
  pressed_make(&p, 1e-3);
  p.world.def.increments.initial = 1.0 / 16.0;
  world_start(&p.world);
  step_in(&p, 6, 1.0 / 16.0);
  double third = pow(1.5, 5) / 16.0, fourth = 1.5 * (1.0 - third);
  step_in(&p, 2, third);
  step_in(&p, 2, 1.0 - fourth);
  step_in(&p, 1, 1.0);
  step_in(&p, 1, 1.0);
  world_done(&p.world);
}

// Where two iterations are many, each increment has half the length of the one before it, down to
// the smallest: 1/2, 1/4, 1/8, 1/8.
static void hard_increments_shrink(void** state) {
  (void)state;
  Pressed p;
  pressed_make(&p, 0.2);
  p.world.def.increments = (NoliIncrementDef){
      .initial = 0.5, .smallest = 0.125, .easy_iterations = 1, .hard_iterations = 2};
  world_start(&p.world);
  step_in(&p, 4, 0.125);
  assert_int_equal(p.world.report.retries, 0);
  step_in(&p, 8, 0.125);
  world_done(&p.world);
}

// The equilibrium of an elastic body does not depend on the increments that led to it; reactions
// neither.
static void increments_reach_the_same_equilibrium(void** state) {
  (void)state;
  double *x = NULL, force[2] = {0};
  for (int adaptive = 0; adaptive < 2; adaptive++) {
    Pressed p;
    pressed_make(&p, adaptive ? 0.4 : 0.1);
    p.world.def.increments.initial = adaptive ? 0.1 : 0.0;
    world_start(&p.world);
    for (int n = 0; n < (adaptive ? 1 : 4); n++) {
      world_step(&p.world);
    }
    assert_true((p.world.report.substeps > 1) == (adaptive == 1));
    NoliReaction reaction;
    ASSERT_OK(noli_sim_reaction(p.world.sim, 1, NULL, &reaction));
    force[adaptive] = reaction.force[1];
    int32_t n_vert = noli_sim_vertex_count(p.world.sim);
    const double* now = noli_sim_positions(p.world.sim);
    if (!adaptive) {
      x = malloc(sizeof *x * 3 * (size_t)n_vert);
      assert_non_null(x);
      memcpy(x, now, sizeof *x * 3 * (size_t)n_vert);
    }
    for (int32_t i = 0; i < 3 * n_vert; i++) {
      ASSERT_NEAR(now[i], x[i], 1e-8);
    }
    world_done(&p.world);
  }
  assert_true(force[0] < -1e4);
  ASSERT_NEAR(force[1], force[0], 1e-5 * fabs(force[0]));
  free(x);
}

// With few iterations allowed, long increments fail and are repeated with half the length, only
// they; without increments the step fails. Where the smallest fail, the state is that before.
static void failed_increments_are_repeated(void** state) {
  (void)state;
  for (int kind = 0; kind < 3; kind++) {
    Pressed p;
    pressed_make(&p, 0.5);
    p.world.def.max_iterations = 10;
    p.world.def.tolerance.value = 1e-4;
    p.world.def.max_substeps = 1;
    p.world.def.increments.initial = kind == 0 ? 0.0 : 1.0;
    p.world.def.increments.smallest = kind == 2 ? 0.9 : 0.0;
    p.world.def.increments.easy_iterations = 7;
    p.world.def.increments.hard_iterations = 9;
    world_start(&p.world);
    uint64_t hash = noli_sim_state_hash(p.world.sim);
    NoliStatus status = noli_sim_step(p.world.sim, &p.world.report);
    if (kind == 1) {
      assert_int_equal(status, NOLI_OK);
      print_message("%d increments, the shortest %g s, %d retries\n", p.world.report.substeps,
                    p.world.report.increment, p.world.report.retries);
      assert_in_range(p.world.report.retries, 1, 20);
      assert_in_range(p.world.report.substeps, 2, 40);
      assert_true(noli_sim_time(p.world.sim) == 1.0);
    } else {
      assert_true(status > NOLI_OK);
      assert_true(noli_sim_state_hash(p.world.sim) == hash);
      // the shortest increment is not tried again
      assert_int_equal(p.world.report.retries, kind == 2 ? 1 : 0);
      const char* said = noli_context_message(p.world.context);
      assert_true((strstr(said, "with increments of 0.9 s: ") != NULL) == (kind == 2));
    }
    world_done(&p.world);
  }
}

// A plate that contact with an obstacle stops: the rest of the step holds it.
static void stopped_motions_are_held(void** state) {
  (void)state;
  Pressed p;
  NoliMesh* mesh = NULL;
  pressed_make(&p, 0.6);
  ASSERT_OK(noli_mesh_make_box(p.world.context, (double[3]){0.4, 0.4, 0.4}, (int32_t[3]){1, 1, 1},
                               false, &mesh));
  (void)world_add_obstacle(&p.world, mesh, (double[3]){0.0, 0.9, 0.0});
  p.speed = -0.6; // upward, against it
  p.world.def.increments.initial = 0.25;
  world_start(&p.world);
  world_step(&p.world);
  assert_true(p.world.report.motion_done < 1.0);
  assert_true(p.world.report.blocked_by[0] != '\0');
  assert_true(noli_sim_time(p.world.sim) == 1.0);
  world_done(&p.world);
}

// The length of the next increment is part of the state.
static void states_continue_with_the_same_bits(void** state) {
  (void)state;
  Pressed p, q;
  pressed_make(&p, 0.02);
  pressed_make(&q, 0.02);
  p.world.def.increments.initial = q.world.def.increments.initial = 1.0 / 16.0;
  world_start(&p.world);
  world_start(&q.world);
  world_step(&p.world);
  size_t size = noli_sim_state_bytes(p.world.sim);
  void* saved = malloc(size);
  assert_non_null(saved);
  ASSERT_OK(noli_sim_save_state(p.world.sim, saved, size));
  ASSERT_OK(noli_sim_load_state(q.world.sim, saved, size));
  free(saved);
  NoliSim* clone = NULL;
  ASSERT_OK(noli_sim_clone(p.world.sim, p.world.context, &clone));
  for (int n = 0; n < 3; n++) {
    NoliStepReport report;
    world_step(&p.world);
    world_step(&q.world);
    ASSERT_OK(noli_sim_step(clone, &report));
    assert_int_equal(p.world.report.substeps, q.world.report.substeps);
    assert_int_equal(p.world.report.substeps, report.substeps);
    assert_true(noli_sim_state_hash(p.world.sim) == noli_sim_state_hash(q.world.sim));
    assert_true(noli_sim_state_hash(p.world.sim) == noli_sim_state_hash(clone));
  }
  noli_sim_destroy(&clone);
  world_done(&q.world);
  world_done(&p.world);
}

// Steps that become shorter than the first increment are solved in one, also by a simulation that
// is made again.
static void steps_may_become_shorter(void** state) {
  (void)state;
  Pressed p;
  NoliMaterialDef material;
  pressed_make(&p, 1e-3);
  p.world.def.increments = (NoliIncrementDef){
      .initial = 0.5, .smallest = 0.25, .easy_iterations = 10, .hard_iterations = 30};
  world_start(&p.world);
  world_step(&p.world);
  ASSERT_OK(noli_sim_set_time_step(p.world.sim, 0.125));
  for (int n = 1; n <= 2; n++) {
    world_step(&p.world);
    assert_int_equal(p.world.report.substeps, 1);
    assert_true(noli_sim_time(p.world.sim) == 1.0 + 0.125 * n);
    ASSERT_OK(noli_sim_material(p.world.sim, 0, NOLI_NULL_INDEX, &material));
    material.young *= 2.0;
    ASSERT_OK(noli_sim_set_material(p.world.sim, 0, NOLI_NULL_INDEX, &material));
  }
  world_done(&p.world);
}

static void refusals(void** state) {
  (void)state;
  static const struct {
    NoliIncrementDef rule;
    const char* integrator;
    const char* message;
  } wrong[] = {
      {{.initial = 2.0}, "quasi_static", "the first increment must be at most a time step, 1 s"},
      {{.initial = -1.0}, "quasi_static", "the first increment must be"},
      {{.initial = 0.1}, "bdf2", "need the integrator \"quasi_static\""},
      {{.initial = 0.1, .smallest = 0.2}, "quasi_static", "the smallest increment must be"},
      {{.initial = 0.1}, "quasi_static", "an easy increment takes at least one iteration"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    Pressed p;
    pressed_make(&p, 0.1);
    p.world.def.increments = wrong[i].rule;
    p.world.def.integrator = wrong[i].integrator;
    world_expect_refusal(&p.world, wrong[i].message);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(easy_increments_grow),
      cmocka_unit_test(hard_increments_shrink),
      cmocka_unit_test(increments_reach_the_same_equilibrium),
      cmocka_unit_test(failed_increments_are_repeated),
      cmocka_unit_test(stopped_motions_are_held),
      cmocka_unit_test(states_continue_with_the_same_bits),
      cmocka_unit_test(steps_may_become_shorter),
      cmocka_unit_test(refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
