// Energy that friction dissipates when a block slides down a slope of tangent 0.5, and the account
// of all energies over runs.
#include "grip.h"

#define TANGENT 0.5

static const double gravity = 9.81;

// Gravity tilts from vertical to the slope's angle within a second.
static void tilt(void* user, double t, const double X[3], double value[3]) {
  (void)user;
  (void)X;
  double angle = atan(TANGENT) * fmin(t, 1.0);
  value[0] = gravity * sin(angle);
  value[1] = -gravity * cos(angle);
  value[2] = 0.0;
}

static World block_on_slope(double mu, const char* friction_method) {
  World world = world_new(1);
  // a stiff block just above the plane
  int32_t block = world_add(&world, make_box(&world, 1.0, 0.5, 1.0, 2), (double[]){0, 0.2505, 0});
  world.body[block].material.young = 1e9;
  world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  world.def.gravity[1] = 0.0;
  static const NoliForceDef slope = {.size = sizeof(NoliForceDef),
                                     .kind = "acceleration",
                                     .t_begin = 0.0,
                                     .t_end = (double)INFINITY,
                                     .value = tilt};
  world.def.forces = &slope;
  world.def.n_forces = 1;
  world.def.friction = mu;
  world.def.friction_method = friction_method;
  world.def.friction_speed = (NoliScaled){1e-5, false};
  world.def.friction_iterations = strcmp(friction_method, "lagged") == 0 ? 0 : 1;
  world.def.tolerance = (NoliScaled){1e-7, false};
  world.def.time_step = 0.02;
  world_start(&world);
  return world;
}

// Position along the slope after `steps` steps.
static double slide(World* world, int steps) {
  double centre[3];
  for (int i = 0; i < steps; i++) {
    world_step(world);
  }
  world_centre(world, 0, centre);
  return centre[0];
}

// Friction takes mu m g cos(slope) times the distance covered from a sliding block, with or without
// an energy.
static void friction_takes_force_times_way(void** state) {
  (void)state;
  static const char* const methods[] = {"lagged", "implicit"};
  for (int m = 0; m < 2; m++) {
    World world = block_on_slope(0.2, methods[m]);
    double start = slide(&world, 60), lost = 0.0, mass = 0.0;
    for (int i = 0; i < 20; i++) {
      world_step(&world);
      lost += world.report.friction_loss;
    }
    double way = slide(&world, 0) - start;
    for (int32_t i = 0; i < noli_sim_vertex_count(world.sim); i++) {
      mass += noli_sim_masses(world.sim)[i];
    }
    double want = 0.2 * mass * gravity / sqrt(1.0 + TANGENT * TANGENT) * way;
    print_message(
        "%s friction: dissipated %.6g J, mu m g cos times distance %.6g J, energy %.3g J\n",
        methods[m], lost, want, world.report.friction_energy);
    ASSERT_NEAR(lost, want, 1e-3 * want);
    world_done(&world);
  }
}

// ---- the account of a run ----------------------------------------------------------------------

// Energies at the end of a step, J.
static double energy_of(const NoliStepReport* report) {
  return report->kinetic + report->elastic + report->gravity + report->contact_energy +
         report->friction_stored;
}

// What backward Euler takes from motion, exactly: m |v1 - v0|^2 / 2 of each vertex of the first
// body.
static double damped(const World* world, double* v0) {
  const double *v = noli_sim_velocities(world->sim), *mass = noli_sim_masses(world->sim);
  double sum = 0.0;
  for (int64_t i = 0; i < 3 * (int64_t)world->mesh[0]->n_vert; i++) {
    sum += 0.5 * mass[i / 3] * (v[i] - v0[i]) * (v[i] - v0[i]);
    v0[i] = v[i];
  }
  return sum;
}

// Sums over a run, J.
typedef struct Account {
  double start, end; // energies
  double work;       // of motions
  double lost;       // to friction
  double damped;     // by the integrator
  double stored;     // the most in slips
} Account;

static double open_of(const Account* account) {
  return account->end - account->start - account->work + account->lost + account->damped;
}

// A block slides over a floor to a stop.
static Account stop(const char* law, const char* method, double* way) {
  World world = world_new(1);
  int32_t block = world_add(&world, make_box(&world, 1.0, 0.5, 1.0, 2), (double[]){0, 0.2505, 0});
  double from[3], to[3], mass = 0.0, speed = 1.0;
  world.body[block].material.young = 1e7;
  world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  world.def.friction = 0.3;
  world.def.friction_method = method;
  world.def.friction_law = law;
  world.def.stick_length = (NoliScaled){5e-3, NOLI_ABSOLUTE}; // stores 2 % of the energy
  world.def.contact_distance = (NoliScaled){1e-3, NOLI_ABSOLUTE};
  world.def.barrier_stiffness = 1e12; // one that adapts changes the energy of contact
  world.def.tolerance = (NoliScaled){1e-8, NOLI_ABSOLUTE};
  world.def.time_step = 0.005;
  world_start(&world);
  (void)slide(&world, 100);

  // it gets a speed
  int32_t n = noli_sim_vertex_count(world.sim);
  double* v = calloc(3 * (size_t)n, sizeof *v);
  for (int32_t i = 0; i < n; i++) {
    v[3 * i] = speed;
    mass += noli_sim_masses(world.sim)[i];
  }
  ASSERT_OK(noli_sim_set_state(world.sim, noli_sim_positions(world.sim), v));
  Account account = {.start = energy_of(&world.report) - world.report.kinetic -
                              world.report.friction_stored + 0.5 * mass * speed * speed};
  world_centre(&world, 0, from);
  for (int i = 0; i < 100; i++) {
    world_step(&world);
    account.lost += world.report.friction_loss;
    account.damped += damped(&world, v);
    account.stored = fmax(account.stored, world.report.friction_stored);
  }
  account.end = energy_of(&world.report);
  world_centre(&world, 0, to);
  *way = to[0] - from[0];
  ASSERT_NEAR(world.report.max_speed, 0.0, 0.1); // of 1 m/s; springs of 5 mm still swing
  free(v);
  world_done(&world);
  return account;
}

static void the_account_of_a_stop_closes(void** state) {
  (void)state;
  static const char* const methods[] = {"lagged", "implicit"};
  for (int m = 0; m < 2; m++) {
    double way, kinetic = 0.5 * 500.0 * 1.0, open[2];
    for (int k = 0; k < 2; k++) {
      Account account = stop(k == 0 ? "velocity" : "stick", methods[m], &way);
      open[k] = open_of(&account) / kinetic;
      print_message("%s, %s: %.6g J lost to friction, %.4g J damped, %.3g J in slips, %.3g of the "
                    "energy is open, after %.5g m\n",
                    methods[m], k == 0 ? "velocity" : "stick", account.lost, account.damped,
                    account.stored, open[k], way);
      assert_true(k == 0 || account.stored > 0.015 * kinetic);
    }
    ASSERT_NEAR(open[0], 0.0, 1e-3);
    ASSERT_NEAR(open[1], 0.0, 1e-3);
  }
}

// Pads that press on a bar, and then shake it along them.
#define PRESSED 0.1 // s
#define SHAKES 31.415926535897931

typedef struct Pad {
  double in;    // m/s
  double shake; // m
} Pad;

static NoliVec3 pad_at(const Pad* pad, double t) {
  double since = fmax(t - 2.0 * PRESSED, 0.0);
  return noli_vec3(pad->in * fmin(t, PRESSED), pad->shake * sin(SHAKES * since), 0.0);
}

static void move_pad(void* user, double t0, double t1, int32_t n, const int32_t* node,
                     const double* X, const double* x_t0, double* x_t1) {
  NoliVec3 at = pad_at(user, t1);
  (void)t0, (void)node, (void)x_t0;
  for (int32_t i = 0; i < n; i++) {
    noli_store3(x_t1 + 3 * i, noli_add3(noli_load3(X + 3 * i), at));
  }
}

static Account shake(const char* law, double amplitude, NoliStepReport* last) {
  World world = world_new(1);
  Pad pads[2] = {{1.8e-3, amplitude}, {-1.8e-3, amplitude}};
  world_add_grip(&world, move_pad, &pads[0], &pads[1]);
  world.def.friction_law = law;
  world.def.stick_length = (NoliScaled){1e-4, NOLI_ABSOLUTE};
  world.def.contact_distance = (NoliScaled){1e-4, NOLI_ABSOLUTE};
  world.def.barrier_stiffness = 1e12;
  world.def.tolerance = (NoliScaled){1e-8, NOLI_ABSOLUTE};
  world.def.time_step = 0.001;
  world_start(&world);
  (void)slide(&world, 200);
  Account account = {.start = energy_of(&world.report)};
  double* v = calloc(3 * (size_t)noli_sim_vertex_count(world.sim), sizeof *v);
  memcpy(v, noli_sim_velocities(world.sim),
         3 * (size_t)noli_sim_vertex_count(world.sim) * sizeof *v);
  for (int i = 0; i < 200; i++) {
    double t = noli_sim_time(world.sim);
    world_step(&world);
    for (int k = 0; k < 2; k++) {
      NoliReaction reaction;
      NoliVec3 moved = noli_sub3(pad_at(&pads[k], noli_sim_time(world.sim)), pad_at(&pads[k], t));
      ASSERT_OK(noli_sim_reaction(world.sim, k, NULL, &reaction));
      account.work += noli_dot3(moved, noli_load3(reaction.force));
    }
    account.lost += world.report.friction_loss;
    account.damped += damped(&world, v);
    account.stored = fmax(account.stored, world.report.friction_stored);
  }
  account.end = energy_of(&world.report);
  *last = world.report;
  free(v);
  world_done(&world);
  return account;
}

// The pads shake the bar by less than it holds, and by more. What is open is what backward Euler
// takes from elastic energy, with both laws alike; the energy in slips is of the size of the work.
static void the_account_of_a_shaken_grip_closes(void** state) {
  (void)state;
  for (int a = 0; a < 2; a++) {
    double open[2], lost[2], amplitude = a == 0 ? 2e-3 : 4e-2;
    for (int k = 0; k < 2; k++) {
      NoliStepReport last;
      Account account = shake(k == 0 ? "velocity" : "stick", amplitude, &last);
      open[k] = open_of(&account) / account.work;
      lost[k] = account.lost;
      print_message("shaken by %g m, %s: work %.5g J, %.5g J lost to friction, %.5g J damped, "
                    "%.4g J in slips at most, %.3g of the work is open, slid %.3g m\n",
                    amplitude, k == 0 ? "velocity" : "stick", account.work, account.lost,
                    account.damped, account.stored, open[k], last.slid);
      assert_true(k == 0 || account.stored > 0.02 * account.work);
      assert_true(k == 0 || (last.slid > 0.0) == (a == 1));
    }
    ASSERT_NEAR(open[0], 0.0, 0.06);
    ASSERT_NEAR(open[1], 0.0, 0.06);
    ASSERT_NEAR(open[1], open[0], 0.01);

    // what holds does not creep, and loses nothing but what damps its springs
    assert_true(a == 1 || lost[1] < 0.1 * lost[0]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(friction_takes_force_times_way),
      cmocka_unit_test(the_account_of_a_stop_closes),
      cmocka_unit_test(the_account_of_a_shaken_grip_closes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
