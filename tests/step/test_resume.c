// A resumed run has the bits of a run without interruption: every solver with every integrator,
// contact model and friction that it supports, with friction that slides, contacts that open and
// close, a motion that ends, a region, damping. Smooth surfaces have their own test.
#include "world.h"

#include "noli/output.h"

enum { N_STEPS = 5, N_BEFORE = 3 };

static const char* const solvers[] = {"projected_newton", "augmented_lagrangian",
                                      "implicit_newton"};
static const char* const integrators[] = {
    "backward_euler", "bdf2",         "trapezoidal",          "sdirk2",
    "tr_bdf2",        "quasi_static", "trapezoidal_decoupled"};
static const struct {
  const char* name;
  const char* method;
  double coefficient;
  int32_t iterations;
} frictions[] = {{"none", "lagged", 0.0, 1},
                 {"lagged", "lagged", 0.4, NOLI_FRICTION_AUTOMATIC},
                 {"lagged three times", "lagged", 0.4, 3},
                 {"implicit", "implicit", 0.4, 1}};
static const char* const models[] = {"ipc", "gcp"};
#define COUNT(table) (int)(sizeof(table) / sizeof *(table))

typedef struct Choice {
  int solver, integrator, model, friction;
  int32_t order; // of the elements; 0: 1
} Choice;

static void shove(void* user, double t0, double t1, int32_t n, const int32_t* node, const double* X,
                  const double* x_t0, double* x_t1) {
  (void)user, (void)t0, (void)node, (void)x_t0;
  for (int32_t i = 0; i < n; i++) {
    x_t1[3 * i] = X[3 * i] + 0.5 * t1;
    x_t1[3 * i + 1] = X[3 * i + 1];
    x_t1[3 * i + 2] = X[3 * i + 2];
  }
}

// Two boxes on each other on the ground, and a plate that pushes the lower one until its motion
// ends.
static World shoved_boxes(const Choice* choice, int32_t n_threads) {

  // two boxes and a plate
  World world = world_new(n_threads);
  world_add(&world, make_box(&world, 0.2, 0.2, 0.2, 1), (double[]){0.0, 0.1015, 0.0});
  world_add(&world, make_box(&world, 0.2, 0.2, 0.2, 1), (double[]){0.02, 0.3030, 0.01});
  world_add_obstacle(&world, make_box(&world, 0.1, 0.1, 0.1, 1), (double[]){-0.155, 0.1, 0.0});
  world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  NoliMotionDef* motion = world_add_motion(&world, 2, shove, NULL);
  motion->ends_beyond = true;
  motion->end_origin[0] = -0.205 + 0.022;
  motion->end_normal[0] = 1.0;

  // without inertia each box needs a support
  static const int32_t held[] = {0, 1, 2};
  bool still = strcmp(integrators[choice->integrator], "quasi_static") == 0;
  for (int32_t body = 0; still && body < 2; body++) {
    NoliMotionDef* hold = world_add_motion(&world, body, NULL, NULL);
    hold->node = held;
    hold->n_node = 3;
  }
  world.body[1].velocity[0] = still ? 0.0 : 1.0;
  world.body[1].velocity[1] = still ? 0.0 : -0.5;

  // order and volume
  if (choice->order > 1) {
    world.body[0].order = world.body[1].order = choice->order;
  } else {
    world.body[0].material.damping = 0.002;
  }
  static const NoliVolumeDef full = {.size = sizeof(NoliVolumeDef),
                                     .region = "outside",
                                     .model = "quadratic",
                                     .compression = 1e-5};
  world.def.volumes = &full;
  world.def.n_volumes = choice->order > 1 ? 0 : 1;

  // contact, solver and friction
  world.def.contact_distance = (NoliScaled){2e-3, false};
  world.def.solver = solvers[choice->solver];
  world.def.integrator = integrators[choice->integrator];
  world.def.contact_model = models[choice->model];
  world.def.friction = frictions[choice->friction].coefficient;
  world.def.friction_method = frictions[choice->friction].method;
  world.def.friction_iterations = frictions[choice->friction].iterations;
  world.def.max_iterations = 200;
  return world;
}

static void expect_same(const World* one, const World* other, const Choice* choice) {
  const char* field = noli_sim_state_difference(one->sim, other->sim);
  if (field != NULL) {
    print_error("%s, %s, %s, friction %s: \"%s\" differs after step %lld\n",
                solvers[choice->solver], integrators[choice->integrator], models[choice->model],
                frictions[choice->friction].name, field, (long long)noli_sim_step_count(one->sim));
    fail();
  }
}

// Returns whether the combination is supported: others are refused with a message.
static bool resume(const Choice* choice) {

  // combinations that are not supported
  World whole = shoved_boxes(choice, 1);
  NoliStatus status = world_create(&whole);
  if (status != NOLI_OK) {
    assert_int_equal(status, NOLI_ERROR_ARGUMENT);
    assert_true(strlen(noli_context_message(whole.context)) > 20);
    world_done(&whole);
    return false;
  }

  // a new one, with other threads, and one in another state
  World fresh = shoved_boxes(choice, 2), used = shoved_boxes(choice, 1);
  int64_t n_contacts = 0;
  world_start(&fresh);
  world_start(&used);

  // continue in all of them
  for (int step = 0; step < N_STEPS; step++) {
    if (step == N_BEFORE) {
      ASSERT_OK(noli_checkpoint_save(whole.context, whole.sim, NULL, "checkpoint_resume.h5"));
      ASSERT_OK(noli_checkpoint_load(fresh.context, fresh.sim, "checkpoint_resume.h5"));
      world_step(&used);
      ASSERT_OK(noli_checkpoint_load(used.context, used.sim, "checkpoint_resume.h5"));
      expect_same(&whole, &fresh, choice);
    }
    world_step(&whole);
    n_contacts += whole.report.contacts;
    if (step >= N_BEFORE) {
      world_step(&fresh);
      world_step(&used);
      expect_same(&whole, &fresh, choice);
      expect_same(&whole, &used, choice);
    }
  }
  assert_true(n_contacts > 0);
  world_done(&whole);
  world_done(&fresh);
  world_done(&used);
  return true;
}

static void every_combination_resumes_to_the_same_bits(void** state) {
  (void)state;
  int n_resumed = 0, n_refused = 0;
  Choice choice = {.order = 1};
  for (choice.solver = 0; choice.solver < COUNT(solvers); choice.solver++) {
    for (choice.integrator = 0; choice.integrator < COUNT(integrators); choice.integrator++) {
      for (choice.model = 0; choice.model < COUNT(models); choice.model++) {
        for (choice.friction = 0; choice.friction < COUNT(frictions); choice.friction++) {
          bool resumed = resume(&choice);
          n_resumed += resumed ? 1 : 0;
          n_refused += resumed ? 0 : 1;
        }
      }
    }
  }
  print_message("%d combinations resumed, %d refused\n", n_resumed, n_refused);
  assert_true(n_resumed > 40);
}

static void elements_of_higher_order_resume(void** state) {
  (void)state;
  for (Choice choice = {.friction = 1, .order = 2}; choice.solver < COUNT(solvers);
       choice.solver++) {
    assert_true(resume(&choice));
  }
}

// Constraints of vertices that follow nodes, of body 0, and of nodes of body 1, whose numbers are
// lower: they are saved in the order that loading requires.
static World landed_ball_and_box(int32_t n_threads) {
  World world = world_new(n_threads);
  NoliMesh* ball = NULL;
  ASSERT_OK(noli_mesh_make_curved_sphere(world.context, 0.1, 2, 2, &ball));
  world_add(&world, ball, (double[]){0.0, 0.1005, 0.0});
  world_add(&world, make_box(&world, 0.2, 0.2, 0.2, 1), (double[]){0.3, 0.1005, 0.0});
  world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  world.body[0].proxy.kind = "subdivision";
  world.body[0].proxy.subdivision = 4;
  for (int32_t b = 0; b < 2; b++) {
    world.body[b].material.young = 1e5;
    world.body[b].velocity[1] = -1.0;
  }
  world.def.contact_distance = (NoliScaled){1e-3, false};
  world.def.solver = "augmented_lagrangian";
  world_start(&world);
  return world;
}

static void constraints_of_followers_resume(void** state) {
  (void)state;
  World whole = landed_ball_and_box(1), other = landed_ball_and_box(2);
  int64_t n_contacts = 0;
  for (int step = 0; step < N_STEPS; step++) {
    world_step(&whole);
    n_contacts += whole.report.contacts;
    if (step >= N_BEFORE) {
      world_step(&other);
      assert_null(noli_sim_state_difference(whole.sim, other.sim));
    } else if (step + 1 == N_BEFORE) {
      ASSERT_OK(noli_sim_copy_state(other.sim, whole.sim));
    }
  }
  assert_true(n_contacts > 8);
  world_done(&whole);
  world_done(&other);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_combination_resumes_to_the_same_bits),
      cmocka_unit_test(elements_of_higher_order_resume),
      cmocka_unit_test(constraints_of_followers_resume),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
