// The scenes of examples/stress, after the stress tests of [Zheng2025], on coarser meshes and
// shortened: every step is audited exactly, elements stay positive, and the effect that each scene
// shows is asserted. Impacts, rods and rings; scenes that squeeze bodies are in
// test_stress_squeezed.c.
#include "linking.h"
#include "stress_run.h"

#define PI 3.14159265358979323846

// ---- fig. 12 ------------------------------------------------------------------------------------

static double body_mass(const Run* run, int32_t body) {
  int32_t first, count;
  noli_sim_body_range(run->sim, body, &first, &count);
  double mass = 0.0;
  for (int32_t i = first; i < first + count; i++) {
    mass += noli_sim_masses(run->sim)[i];
  }
  return mass;
}

// Angular velocity of a body about z, as if it were rigid.
static double spin(const Run* run, int32_t body) {
  int32_t first, count;
  noli_sim_body_range(run->sim, body, &first, &count);
  const double* x = noli_sim_positions(run->sim) + 3 * first;
  const double* v = noli_sim_velocities(run->sim) + 3 * first;
  const double* mass = noli_sim_masses(run->sim) + first;
  NoliVec3 c = centre(run, body), u = mean_of(v, count);
  double momentum = 0.0, inertia = 0.0;
  for (int32_t i = 0; i < count; i++) {
    NoliVec3 r = noli_sub3(noli_load3(x + 3 * i), c), w = noli_sub3(noli_load3(v + 3 * i), u);
    momentum += mass[i] * (r.x * w.y - r.y * w.x);
    inertia += mass[i] * (r.x * r.x + r.y * r.y);
  }
  return momentum / inertia;
}

static void near_rigid_bodies_collide_and_stay_rigid(void** state) {
  (void)state;
  Run run = START("near_rigid", {"bodies[0].mesh.sphere.cells", "4"});
  const double mu = 0.1, g = 9.80665, radius = 0.2;

  // Friction slows the sliding ball, at mu g while it is carried (a coarse polyhedron hops), and
  // sets it rolling: I omega = -r m (change of speed), I = 2/5 m r^2.
  step_until(&run, 0.08);
  double slowed = 5.0 - run.report.momentum[0] / body_mass(&run, 0), most = mu * g * 0.08;
  print_message("friction slows the ball by %.3f m/s, %.3f at most, and it turns with %.3f rad/s\n",
                slowed, most, spin(&run, 0));
  ASSERT_AT_MOST(slowed, 1.01 * most);
  ASSERT_AT_LEAST(slowed, 0.4 * most);
  // normal forces on a polyhedron are eccentric, and also turn it
  ASSERT_NEAR(spin(&run, 0), -2.5 * slowed / radius, 0.25 * 2.5 * slowed / radius);

  // energy, shapes and speed during the impact
  double before = energy(&run);
  while (run.steps < 30) {
    step_until(&run, noli_sim_time(run.sim) + run.def->time_step);
    // impacts and friction dissipate energy (a step may end slightly above its initial energy, see
    // ENERGY_SLACK in the solver)
    ASSERT_AT_MOST(energy(&run), 1.3 * before);
    ASSERT_AT_MOST(worst_shape_error(&run), 0.05);
    ASSERT_AT_MOST(run.report.max_speed, 12.0);
  }

  // after the impact
  NoliVec3 ball = centre(&run, 0);
  print_message("after the impact: ball at %.3f m, energy %.0f of %.0f J, shapes within %.2g\n",
                ball.x, energy(&run), before, worst_shape_error(&run));
  // the pile has taken momentum: it has moved on
  ASSERT_AT_LEAST(centre(&run, 2).x, 0.01);
  ASSERT_AT_MOST(worst_shape_error(&run), 0.001);
  finish(&run, "near_rigid");
}

// ---- fig. 13 ------------------------------------------------------------------------------------

static void body_bounces_off_a_thin_plate_at_100_m_per_s(void** state) {
  (void)state;
  Run run = START("plate_impact", {"bodies[0].mesh.sphere.cells", "5"});
  const double size = 2.0 * 2.0, speed = 100.0;
  double thinnest = size, last = 0.5 * body_mass(&run, 0) * speed * speed;
  while (run.steps < 300) {
    step_until(&run, noli_sim_time(run.sim) + run.def->time_step);
    // not through the plate, which has no thickness
    ASSERT_AT_LEAST(extreme(&run, 0, 1, false), 0.0);
    thinnest = noli_smaller(thinnest, extreme(&run, 0, 1, true) - extreme(&run, 0, 1, false));
    ASSERT_AT_MOST(energy(&run), 1.001 * last);
    last = energy(&run);
  }
  double rebound = run.report.momentum[1] / body_mass(&run, 0);
  print_message("flattened to %.3f of its size, rebounds at %.1f m/s, shape within %.3f\n",
                thinnest / size, rebound, shape_error(&run, 0));
  ASSERT_AT_MOST(thinnest, 0.15 * size);
  ASSERT_AT_LEAST(rebound, 1.0);
  ASSERT_AT_MOST(shape_error(&run, 0), 0.05);
  finish(&run, "plate_impact");
}

// ---- fig. 6 -------------------------------------------------------------------------------------

// The angle that the line from rod a to rod b turns through from one end to the other, degrees.
static double winding(const Run* run, int32_t a, int32_t b, int32_t cells, int32_t section) {
  int32_t first[2], count;
  noli_sim_body_range(run->sim, a, &first[0], &count);
  noli_sim_body_range(run->sim, b, &first[1], &count);
  const double* x = noli_sim_positions(run->sim);
  double sum = 0.0, last = 0.0;
  for (int32_t i = 0; i <= cells; i++) {
    NoliVec3 p = mean_of(x + 3 * (first[0] + i * section), section);
    NoliVec3 q = mean_of(x + 3 * (first[1] + i * section), section);
    double angle = atan2(q.z - p.z, q.y - p.y);
    sum += i == 0 ? 0.0 : remainder(angle - last, 2.0 * PI);
    last = angle;
  }
  return sum * 180.0 / PI;
}

static void rods_wind_round_each_other_as_often_as_their_ends_turn(void** state) {
  (void)state;
  enum { CELLS = 30, SECTION = 4 };
  Run run =
      START("twisting_rods", {"bodies[0].mesh.rod.cells_along", "30"},
            {"bodies[0].mesh.rod.cells_across", "1"}, {"bodies[1].mesh.rod.cells_along", "30"},
            {"bodies[1].mesh.rod.cells_across", "1"});
  for (int turn = 1; turn <= 4; turn++) {
    // every half second each end turns by 90 degrees
    step_until(&run, 0.5 * turn);
    ASSERT_AT_LEAST(run.report.motion_done, 0.999);
    ASSERT_AT_MOST(run.report.max_speed, 5.0);
    for (int32_t a = 0; a < 4; a++) {
      for (int32_t b = 0; b < a; b++) {
        ASSERT_NEAR(winding(&run, a, b, CELLS, SECTION), 180.0 * turn, 2.0);
      }
    }
  }
  finish(&run, "twisting_rods");
}

// ---- fig. 3 -------------------------------------------------------------------------------------

static void assert_linked(const Run* run) {
  enum { AROUND = 24, LAYER = 2, ROW = 2 };
  static const double want[3][3] = {{0, 1, 0}, {1, 0, 1}, {0, 1, 0}};
  NoliVec3 loop[3][AROUND + 1];
  for (int32_t b = 0; b < 3; b++) {
    int32_t first, count;
    noli_sim_body_range(run->sim, b, &first, &count);
    assert_int_equal(count, AROUND * LAYER * ROW);
    // grid vertices run along the tube in steps of one row
    for (int32_t i = 0; i <= AROUND; i++) {
      loop[b][i] = noli_load3(noli_sim_positions(run->sim) + 3 * (first + ROW * (i % AROUND)));
    }
    for (int32_t a = 0; a < b; a++) {
      double linked = gauss_integral(AROUND + 1, loop[a], AROUND + 1, loop[b]);
      ASSERT_NEAR(fabs(linked), want[a][b], 1e-6);
    }
  }
}

static void nested_rings_stay_nested_in_1_185th_of_the_space(void** state) {
  (void)state;
  Run run = START("nested_rings", {"bodies[0].mesh.torus.cells_across", "1"});
  double smallest = 1.0;
  for (int i = 0; i < 20; i++) {
    step_until(&run, 0.1 * (i + 1));
    assert_linked(&run);
    ASSERT_AT_LEAST(run.report.motion_done, 0.999);
    double volume = 1.0;
    for (int axis = 0; axis < 3; axis++) {
      double low = 1.0, high = -1.0;
      for (int32_t b = 0; b < 3; b++) {
        low = noli_smaller(low, extreme(&run, b, axis, false));
        high = noli_larger(high, extreme(&run, b, axis, true));
      }
      volume *= high - low;
    }
    smallest = noli_smaller(smallest, volume);
  }
  print_message("rings in %.0f cm^3 at the end of the motion, shapes within %.3f after it\n",
                1e6 * smallest, worst_shape_error(&run));
  ASSERT_AT_MOST(smallest, 0.0522 / 185.0 * 1.01);
  ASSERT_AT_MOST(worst_shape_error(&run), 0.1);
  finish(&run, "nested_rings");
}

// ---- fig. 4 -------------------------------------------------------------------------------------

static void bodies_that_outrun_their_size_stay_in_the_well(void** state) {
  (void)state;
  enum { ROWS = 18 };
  char path[ROWS][40];
  const char* change[ROWS][2] = {0};
  for (int i = 0; i < ROWS; i++) {
    snprintf(path[i], sizeof path[i], "bodies[%d].copies.count", i);
    change[i][0] = path[i];
    change[i][1] = i % 3 == 1 ? "2" : "1";
  }
  Run run = start("well", ROWS, (const char* const(*)[2])change);
  while (run.steps < 50) {
    step_until(&run, noli_sim_time(run.sim) + run.def->time_step);
    assert_contained(&run, 0.32);
    ASSERT_AT_MOST(energy(&run), 1.001 * run.start_energy);
    ASSERT_AT_MOST(run.report.max_speed, 40.0);
  }
  print_message("%d bodies, energy %.0f of %.0f J, highest at %.2f m, shapes within %.3f\n",
                body_count(&run), energy(&run), run.start_energy, highest(&run),
                worst_shape_error(&run));
  // toys still move, but none is crushed or torn in the heap
  ASSERT_AT_MOST(worst_shape_error(&run), 0.3);
  finish(&run, "well");
}

int main(int argc, char** argv) {
  cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(near_rigid_bodies_collide_and_stay_rigid),
      cmocka_unit_test(body_bounces_off_a_thin_plate_at_100_m_per_s),
      cmocka_unit_test(rods_wind_round_each_other_as_often_as_their_ends_turn),
      cmocka_unit_test(nested_rings_stay_nested_in_1_185th_of_the_space),
      cmocka_unit_test(bodies_that_outrun_their_size_stay_in_the_well),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
