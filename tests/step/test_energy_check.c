// No step creates energy, with any solver and integrator: impacts of stiff bodies in steps far too
// long to resolve them.
#include "noli/scene.h"
#include "step/energy_check.h"
#include "world.h"

static const char* const integrators[] = {"backward_euler", "bdf2", "sdirk2", "tr_bdf2",
                                          "trapezoidal"};
enum { N_INTEGRATORS = sizeof integrators / sizeof integrators[0] };

// Over a run: the largest gain of total energy in a step, relative to the kinetic and elastic
// energy at its start, and the largest elastic energy, relative to the kinetic energy.
typedef struct Balance {
  double gain;
  double elastic;
  int64_t contacts;
  int64_t iterations;
} Balance;

static Balance measure(World* world, double start, int steps) {
  Balance balance = {.gain = -(double)INFINITY};
  double before = start, moving = start;
  for (int i = 0; i < steps; i++) {
    world_step(world);
    const NoliStepReport* report = &world->report;
    double now = report->kinetic + report->elastic + report->gravity;
    balance.gain = noli_larger(balance.gain, (now - before) / moving);
    balance.elastic = noli_larger(balance.elastic, report->elastic / report->kinetic);
    balance.contacts += report->contacts_max;
    balance.iterations += report->newton_iterations;
    before = now;
    moving = report->kinetic + report->elastic;
  }
  return balance;
}

// Two bodies of a quarter of a millimetre, as stiff as bone and steel, rotate towards each other by
// four times their size in a step. `speed`: of the ball.
static Balance collide(const char* solver, const char* integrator, double speed) {
  World world = world_new(1);
  const double size = 2.4e-4;
  int32_t ball = world_add(&world, make_sphere(&world, size, 3), (double[]){0, 0, 0});
  int32_t box = world_add(&world, make_box(&world, 2 * size, 2 * size, 2 * size, 2),
                          (double[]){1.4e-3, 1e-4, -5e-5});
  for (int32_t b = 0; b < 2; b++) {
    world.body[b].material.young = b == ball ? 2e10 : 4e9;
    world.body[b].material.density = b == ball ? 7000.0 : 1500.0;
    world.body[b].material.law = b == ball ? "corotated_linear" : "stable_neo_hookean";
  }
  world.body[ball].velocity[0] = speed;
  world.body[box].velocity[0] = -0.03;
  world.body[box].angular_velocity[1] = 20.0;
  memset(world.def.gravity, 0, sizeof world.def.gravity);
  world.def.solver = solver;
  world.def.integrator = integrator;
  world.def.time_step = 0.02;
  world.def.contact_distance = (NoliScaled){1e-4, true};
  world_start(&world);
  double start = 0.0;
  for (int32_t i = 0; i < noli_sim_vertex_count(world.sim); i++) {
    const double* v = &noli_sim_velocities(world.sim)[3 * i];
    start += 0.5 * noli_sim_masses(world.sim)[i] * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  }
  Balance balance = measure(&world, start, 6);
  world_done(&world);
  return balance;
}

static void stiff_impacts_gain_nothing(void** state) {
  (void)state;
  enum { N_SPEEDS = 5 };
  static const char* const solvers[] = {"augmented_lagrangian", "projected_newton"};
  static const double speed[N_SPEEDS] = {0.05, 0.0485, 0.0491, 0.0509, 0.0515};
  for (int s = 0; s < 2; s++) {
    for (int i = 0; i < N_INTEGRATORS; i++) {
      double gain = -(double)INFINITY, elastic = 0.0;
      int64_t iterations = 0;
      for (int k = 0; k < N_SPEEDS; k++) {
        Balance balance = collide(solvers[s], integrators[i], speed[k]);
        assert_true(balance.contacts > 0);
        gain = noli_larger(gain, balance.gain);
        elastic = noli_larger(elastic, balance.elastic);
        iterations += balance.iterations;
      }
      print_message("%s, %s: gains %.2g of the energy at most, deformation %.2g of motion, "
                    "%lld iterations in %d steps\n",
                    solvers[s], integrators[i], gain, elastic, (long long)iterations, 6 * N_SPEEDS);
      ASSERT_AT_MOST(gain, 0.06);
      ASSERT_AT_MOST(elastic, 0.05);
    }
  }
}

// A plate that flies at 5 m/s sweeps along a stiff ball at rest, which must not gain more energy
// than from an elastic impact. Prescribed motion does work, but is no exception.
static void prescribed_motion_exempts_nothing(void** state) {
  (void)state;

  // a ball that a moving plate hits
  for (int i = 0; i < 3; i++) {
    World world = world_new(1);
    static double speed = 5.0;
    int32_t ball = world_add(&world, make_sphere(&world, 0.05, 3), (double[]){0, 0.01, 0.005});
    world.body[ball].material.young = 2e10;
    world.body[ball].material.law = "corotated_linear";
    NoliMesh* plate = NULL;
    const double size[3] = {0.02, 0.3, 0.3};
    const int32_t cells[3] = {1, 3, 3};
    ASSERT_OK(noli_mesh_make_box(world.context, size, cells, false, &plate));
    int32_t ram = world_add_obstacle(&world, plate, (double[]){-0.12, 0, 0});
    world_add_motion(&world, ram, move_along_x, &speed);
    memset(world.def.gravity, 0, sizeof world.def.gravity);
    world.def.solver = "augmented_lagrangian";
    world.def.integrator = integrators[i];
    world.def.time_step = 0.02;
    world_start(&world);
    double mass = 0.0, kinetic = 0.0, elastic = 0.0;
    int32_t first, count;
    noli_sim_body_range(world.sim, ball, &first, &count);
    for (int32_t k = first; k < first + count; k++) {
      mass += noli_sim_masses(world.sim)[k];
    }
    double most = 0.5 * mass * 4.0 * speed * speed;
    for (int n = 0; n < 5; n++) {
      world_step(&world);
      kinetic = noli_larger(kinetic, world.report.kinetic);
      elastic = noli_larger(elastic, world.report.elastic);
    }
    print_message("%s: ball swept along has %.3g of the energy of an elastic impact, deformation "
                  "%.2g\n",
                  integrators[i], kinetic / most, elastic / most);
    ASSERT_AT_LEAST(kinetic, 0.2 * most);
    ASSERT_AT_MOST(kinetic, 1.1 * most);
    ASSERT_AT_MOST(elastic, 0.05 * most);
    world_done(&world);
  }
}

// A barrier that pushes from the first step on: the trapezoidal rule would carry its force over.
// Backward Euler takes over, and the run reports it.
typedef struct Heard {
  int taken_over;
} Heard;

static void listen(void* user, NoliLogLevel level, const char* text) {
  (void)level;
  Heard* heard = user;
  heard->taken_over += strstr(text, "backward_euler takes over") != NULL;
}

static void backward_euler_takes_over_and_says_so(void** state) {
  (void)state;
  Heard heard = {0};
  World world = world_new(1);
  test_context_done(&world.context);
  NoliContextDef def = noli_default_context_def();
  def.log = listen;
  def.log_user = &heard;
  ASSERT_OK(noli_context_create(&def, &world.context));
  for (int b = 0; b < 2; b++) {
    world_add(&world, make_box(&world, 0.3, 0.2, 0.3, 1), (double[]){0, 0.2001 * b, 0});
  }
  world.def.contact_distance = (NoliScaled){1e-3, false};
  world.def.integrator = "trapezoidal";
  world.def.time_step = 0.005;
  memset(world.def.gravity, 0, sizeof world.def.gravity);
  world_start(&world);
  double most = 0.0;
  for (int i = 0; i < 10; i++) {
    world_step(&world);
    most = noli_larger(most, world.report.kinetic + world.report.elastic);
  }
  print_message("blocks that touch at the start: %.3g J, backward Euler in %d steps\n", most,
                heard.taken_over);
  assert_true(heard.taken_over > 0);
  ASSERT_AT_MOST(most, 1.0);
  world_done(&world);
}

// BDF2 adds half of a jump of velocity again, over some steps: a light block that a heavy one hits
// at its corner and turns would gain 19 % of all energy in the step after, and more in the next.
static void jumps_are_not_carried_on(void** state) {
  (void)state;
  World world = world_new(1);
  const double size[2][2] = {{0.06, 0.035}, {0.06, 0.032}};
  const double at[2][2] = {{0.0098, 0.0448}, {0.0826, 0.0611}};
  const double velocity[2][2] = {{9.8, 7.2}, {-15.1, -11.2}};
  for (int b = 0; b < 2; b++) {
    NoliMesh* mesh = NULL;
    ASSERT_OK(
        noli_mesh_make_rectangle(world.context, size[b][0], size[b][1], 4, b == 0 ? 1 : 3, &mesh));
    int32_t body = world_add(&world, mesh, (double[]){at[b][0], at[b][1], 0.0});
    world.body[body].plane_strain = b == 0 ? 0.1 : 0.2;
    world.body[body].material.young = b == 0 ? 1.4e9 : 5e8;
    world.body[body].material.density = b == 0 ? 130.0 : 1100.0;
    memcpy(world.body[body].velocity, velocity[b], sizeof velocity[b]);
  }
  memset(world.def.gravity, 0, sizeof world.def.gravity);
  world.def.solver = "augmented_lagrangian";
  world.def.integrator = "bdf2";
  world.def.time_step = 0.00124;
  world_start(&world);
  double first = 0.0, most = 0.0;
  for (int n = 0; n < 6; n++) {
    world_step(&world);
    double now = world.report.kinetic + world.report.elastic;
    first = n == 0 ? now : first;
    most = noli_larger(most, now / first);
  }
  print_message("block hit at its corner: at most %.4g times the energy after the impact\n", most);
  ASSERT_AT_MOST(most, 1.05);
  world_done(&world);
}

// Parts of a divided step share one margin: three gains of a tenth of the energy each exceed it.
static void parts_share_the_margin(void** state) {
  (void)state;
  World world = world_new(1);
  int32_t ball = world_add(&world, make_sphere(&world, 0.05, 2), (double[]){0, 0, 0});
  world.body[ball].velocity[0] = 1.0;
  memset(world.def.gravity, 0, sizeof world.def.gravity);
  world_start(&world);
  world_step(&world);
  NoliSim* sim = world.sim;
  double kinetic = world.report.kinetic, began = kinetic / 1.1;
  sim->energy.gained = 0.0;
  for (int part = 1; part <= 3; part++) {
    sim->energy.start = (NoliEnergyCheck){.energy = began, .magnitude = began};
    ASSERT_STATUS(noli_sim_check_energy(sim), part < 3 ? NOLI_OK : NOLI_NOT_CONVERGED);
    ASSERT_NEAR(sim->energy.start.gain, part * (kinetic - began), 1e-9 * kinetic);
    sim->energy.gained = sim->energy.start.gain;
  }
  world_done(&world);
}

// ---- scenes prone to large energy gains ---------------------------------------------------------

static void public_scenes_gain_nothing(void** state) {
  (void)state;

  // scenes of the public data
  static const char* const files[] = {"strangers/t089.json", "strangers/t177.json"};
  for (int i = 0; i < 2; i++) {
    char path[1024];
    if (test_data(files[i], path, sizeof path) == NULL) {
      skip();
    }
    NoliContext* context = test_context(1);
    NoliScene* scene = NULL;
    NoliSim* sim = NULL;
    ASSERT_OK(noli_scene_load(context, path, NULL, 0, &scene));
    ASSERT_OK(noli_sim_create(context, noli_scene_sim_def(scene), &sim));
    World world = {.context = context, .sim = sim};
    double first = 0.0, gain = -(double)INFINITY, elastic = 0.0, before = 0.0;
    for (int n = 0; n < 10; n++) {
      ASSERT_OK(noli_sim_step(sim, &world.report));
      double now = world.report.kinetic + world.report.elastic + world.report.gravity;
      first = n == 0 ? world.report.kinetic + world.report.elastic : first;
      gain = n == 0 ? gain : noli_larger(gain, (now - before) / first);
      elastic = noli_larger(elastic, world.report.elastic / world.report.kinetic);
      before = now;
    }
    print_message("%s: gains %.2g of its energy at most in a step, deformation %.2g of motion\n",
                  files[i], gain, elastic);
    ASSERT_AT_MOST(gain, 0.01);
    ASSERT_AT_MOST(elastic, i == 0 ? 0.01 : 0.3);
    noli_sim_destroy(&sim);
    noli_scene_destroy(&scene);
    test_context_done(&context);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stiff_impacts_gain_nothing),
      cmocka_unit_test(prescribed_motion_exempts_nothing),
      cmocka_unit_test(backward_euler_takes_over_and_says_so),
      cmocka_unit_test(jumps_are_not_carried_on),
      cmocka_unit_test(parts_share_the_margin),
      cmocka_unit_test(public_scenes_gain_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
