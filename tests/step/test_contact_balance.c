// Contact forces of a barrier of given stiffness are correct with default settings.
#include "world.h"

typedef struct Warnings {
  int n;
  char last[512];
} Warnings;

static void listen(void* user, NoliLogLevel level, const char* text) {
  Warnings* warnings = user;
  if (level == NOLI_LOG_WARNING && strstr(text, "contact.stiffness") != NULL) {
    warnings->n++;
    snprintf(warnings->last, sizeof warnings->last, "%s", text);
  }
}

static void sink(void* user, double t0, double t1, int32_t n, const int32_t* node, const double* X,
                 const double* x_t0, double* x_t1) {
  (void)node;
  (void)X;
  const double* speed = user;
  for (int32_t i = 0; i < 3 * n; i++) {
    x_t1[i] = x_t0[i] - (i % 3 == 1 ? *speed * (t1 - t0) : 0.0);
  }
}

// Moves the nodes of a body at height y.
static void move_face(World* world, int32_t body, const NoliMesh* mesh, double y, int32_t* list,
                      double* speed) {
  int32_t n = 0;
  for (int32_t i = 0; i < mesh->n_vert; i++) {
    if (fabs(mesh->x[3 * i + 1] - y) < 1e-9) {
      list[n++] = i;
    }
  }
  NoliMotionDef* motion = world_add_motion(world, body, sink, speed);
  motion->node = list;
  motion->n_node = n;
}

// The force between two blocks of 1 MPa that are pressed together by 2.3 mm.
static double press(double stiffness, double tolerance, const char* integrator,
                    Warnings* warnings) {
  static double down = 0.05, hold = 0.0;
  *warnings = (Warnings){0};
  World world = world_new(1);
  test_context_done(&world.context);
  NoliContextDef def = noli_default_context_def();
  def.log = listen;
  def.log_user = warnings;
  ASSERT_OK(noli_context_create(&def, &world.context));
  int32_t nodes[2][64];
  for (int b = 0; b < 2; b++) {
    NoliMesh* mesh = make_box(&world, 0.2, 0.1, 0.2, 2);
    int32_t body = world_add(&world, mesh, (double[]){0.01 * b, 0.1002 * b, 0});
    world.body[body].material.young = 1e6;
    move_face(&world, body, mesh, b == 0 ? -0.05 : 0.1502, nodes[b], b == 0 ? &hold : &down);
  }
  memset(world.def.gravity, 0, sizeof world.def.gravity);
  world.def.integrator = integrator;
  world.def.time_step = 0.01;
  world.def.contact_distance = (NoliScaled){1e-4, false};
  world.def.barrier_stiffness = stiffness;
  world.def.tolerance = (NoliScaled){tolerance, true};
  world_start(&world);
  for (int n = 0; n < 5; n++) {
    world_step(&world);
  }
  const NoliPairForce* pairs = NULL;
  int32_t n_pairs = 0;
  ASSERT_OK(noli_sim_pair_forces(world.sim, &pairs, &n_pairs));
  assert_int_equal(n_pairs, 1);
  double force = fabs(pairs[0].normal[1]);
  world_done(&world);
  return force;
}

// The Newton step is short long before the forces of a barrier of 1e20 Pa/m are accurate; they were
// off by 50 % with the default tolerance. Steps end only when they balance.
static void forces_are_right(void** state) {
  (void)state;
  static const char* const integrators[] = {"backward_euler", "quasi_static"};
  for (int i = 0; i < 2; i++) {
    Warnings warnings;
    double want = press(1e20, 1e-6, integrators[i], &warnings);
    assert_int_equal(warnings.n, 0);
    double adaptive = press(0.0, 1e-2, integrators[i], &warnings);
    assert_int_equal(warnings.n, 0);
    double force = press(1e20, 1e-2, integrators[i], &warnings);
    print_message("%s: %.4g N, adaptive %.4g N; at 1e20 Pa/m %.4g N\n", integrators[i], want,
                  adaptive, force);
    // half the contact distance is 2 % of the way
    ASSERT_NEAR(adaptive, want, 0.05 * want);
    ASSERT_NEAR(force, want, 0.02 * want);
    assert_int_equal(warnings.n, 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(forces_are_right),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
