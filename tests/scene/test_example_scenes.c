// Example scenes after figures of [Larionov2024], and the effects that each of them shows.
#include "scene_run.h"

#include "math/vec3.h"

static double mass_of(const Run* run, int32_t body) {
  int32_t first, count;
  noli_sim_body_range(run->sim, body, &first, &count);
  double mass = 0.0;
  for (int32_t v = first; v < first + count; v++) {
    mass += noli_sim_masses(run->sim)[v];
  }
  return mass;
}

// The mean of a field (positions, velocities) over the mass of a body.
static NoliVec3 mean_of(const Run* run, int32_t body, const double* field) {
  int32_t first, count;
  noli_sim_body_range(run->sim, body, &first, &count);
  NoliVec3 sum = noli_vec3(0.0, 0.0, 0.0);
  for (int32_t v = first; v < first + count; v++) {
    sum = noli_mul_add3(sum, noli_sim_masses(run->sim)[v], noli_load3(field + 3 * (int64_t)v));
  }
  return noli_scale3(1.0 / mass_of(run, body), sum);
}

static double height_of(const Run* run, int32_t body) {
  return mean_of(run, body, noli_sim_positions(run->sim)).y;
}

// ---- fig. 1 and 5 -------------------------------------------------------------------------------

// The forces of all pads on the bowl along y: at rest they balance its weight. No friction force
// exceeds the limit set by its coefficient.
static double lift_of_pads(const Run* run, double coefficient) {
  const NoliPairForce* pair = NULL;
  int32_t n_pairs = 0;
  double lift = 0.0;
  ASSERT_OK(noli_sim_pair_forces(run->sim, &pair, &n_pairs));
  for (int32_t i = 0; i < n_pairs; i++) {
    double normal = noli_norm3(noli_load3(pair[i].normal));
    double friction = noli_norm3(noli_load3(pair[i].friction));
    ASSERT_AT_MOST(friction, 1.01 * coefficient * normal + 1e-3);
    // the bowl is the first body of every pair
    assert_int_equal(pair[i].a, 0);
    lift += pair[i].normal[1] + pair[i].friction[1];
  }
  return lift;
}

static void pads_lift_the_bowl_by_friction(void** state) {
  (void)state;
  Run run = start("examples/grasp.json", 0, NULL);
  double before = height_of(&run, 0), weight = 9.80665 * mass_of(&run, 0), lift = 0.0;
  while (noli_sim_step_count(run.sim) < 150) {
    step(&run);
    lift = lift_of_pads(&run, 0.65);
  }
  double risen = height_of(&run, 0) - before;
  print_message("the pads rise by 60 mm, the bowl by %.2f mm; it is held with %.3f of %.3f N\n",
                1e3 * risen, lift, weight);
  ASSERT_NEAR(risen, 0.06, 1e-3);
  ASSERT_NEAR(lift, weight, 0.02 * weight);
  finish(&run);
}

// ---- fig. 6 -------------------------------------------------------------------------------------

// The trapezoidal rule with full contact forces is stable: the ball spins and bounces within the
// box and never regains the energy that friction and damping have dissipated.
static void spinning_ball_bounces_in_a_box(void** state) {
  (void)state;
  enum { BOX = 0, BALL = 1, STEPS = 200 };
  Run run = start("examples/ball_in_box.json", 0, NULL);
  double start_energy = 0.0, largest = 0.0, energy = 0.0, out = 0.0;
  int32_t bounces = 0;
  NoliVec3 last = mean_of(&run, BALL, noli_sim_velocities(run.sim));
  for (int s = 1; s <= STEPS; s++) {
    step(&run);
    energy = run.report.kinetic + run.report.elastic + run.report.contact_energy;
    start_energy = s == 1 ? energy : start_energy;
    largest = noli_larger(largest, energy);
    NoliVec3 at = mean_of(&run, BALL, noli_sim_positions(run.sim));
    NoliVec3 now = mean_of(&run, BALL, noli_sim_velocities(run.sim));
    out = noli_larger(out, noli_larger(fabs(at.x), noli_larger(fabs(at.y), fabs(at.z))));
    bounces += now.x * last.x < 0.0 || now.y * last.y < 0.0;
    last = now;
  }
  print_message(
      "%d bounces; energy %.2f J at first, at most %.2f J, %.2f J after 2 s; the middle of "
      "the ball at most %.3f m out\n",
      bounces, start_energy, largest, energy, out);
  assert_true(bounces >= 4);
  ASSERT_AT_MOST(largest, 1.05 * start_energy);
  ASSERT_AT_MOST(energy, 0.5 * start_energy);
  // a ball of 0.1 m between walls at 0.2 m, both soft
  ASSERT_AT_MOST(out, 0.15);
  finish(&run);
}

// ---- fig. 8 -------------------------------------------------------------------------------------

// Presses a hollow ball, filled or empty, and returns the fraction of its volume that is lost.
static double squish(const char* compression, double kappa) {
  Run run = start("examples/ball_squish.json", 3,
                  (const char* const[][2]){{"bodies[0].mesh.sphere.cells", "6"},
                                           {"bodies[0].volume.compression", compression},
                                           {"time.step", "0.02"}});
  while (noli_sim_time(run.sim) < 0.999) {
    step(&run);
  }
  const NoliRegionVolume* region = NULL;
  int32_t n_regions = 0;
  ASSERT_OK(noli_sim_volumes(run.sim, &region, &n_regions));
  assert_int_equal(n_regions, 1);
  double loss = 1.0 - region[0].volume / region[0].rest_volume;
  // the law: the pressure of the gas grows with the loss
  ASSERT_NEAR(region[0].pressure, loss / kappa, 1e-6 * loss / kappa);
  // between the plates, which leave 84 mm
  double low = (double)INFINITY, high = -(double)INFINITY;
  int32_t first, count;
  noli_sim_body_range(run.sim, 0, &first, &count);
  for (int32_t v = first; v < first + count; v++) {
    low = noli_smaller(low, noli_sim_positions(run.sim)[3 * v + 1]);
    high = noli_larger(high, noli_sim_positions(run.sim)[3 * v + 1]);
  }
  ASSERT_AT_MOST(high - low, 0.084);
  ASSERT_AT_LEAST(high - low, 0.083);
  print_message("compression %s /Pa: %.4f of the volume lost, %.0f Pa\n", compression, loss,
                region[0].pressure);
  finish(&run);
  return loss;
}

static void squished_balls_keep_their_volume_by_what_fills_them(void** state) {
  (void)state;
  // the compressibility of air, a hundredth of it, and almost no resistance
  double air = squish("9.869e-6", 9.869e-6), liquid = squish("9.869e-8", 9.869e-8);
  double empty = squish("9.869e-3", 9.869e-3);
  ASSERT_AT_MOST(air, 0.4 * empty);
  ASSERT_AT_MOST(liquid, 0.02 * air);
  ASSERT_AT_LEAST(empty, 0.2);
}

// ---- fig. 10 ------------------------------------------------------------------------------------

// The height to which a tennis ball would rise, from the speed of its middle after the bounce.
static double bounce(const char* integrator) {
  Run run = start("examples/ball_bounce.json", 1,
                  (const char* const[][2]){{"time.integrator", integrator}});
  double deepest = (double)INFINITY;
  while (noli_sim_step_count(run.sim) < 60) {
    step(&run);
    deepest = noli_smaller(deepest, height_of(&run, 0));
  }
  double speed = mean_of(&run, 0, noli_sim_velocities(run.sim)).y;
  double height = speed * fabs(speed) / (2.0 * 9.80665);
  print_message("%s: middle at %.1f mm at the deepest, bounces to %.2f m\n", integrator,
                1e3 * deepest, height);
  // it was flattened, not let through
  ASSERT_AT_LEAST(deepest, 0.01);
  ASSERT_AT_MOST(deepest, 0.032);
  finish(&run);
  return height;
}

static void tennis_balls_bounce_higher_with_less_damping(void** state) {
  (void)state;
  double fall = 7.0 * 7.0 / (2.0 * 9.80665), sdirk2 = bounce("\"sdirk2\"");
  double euler = bounce("\"backward_euler\"");
  // the material dissipates a part, backward Euler most of it
  ASSERT_AT_MOST(sdirk2, 0.95 * fall);
  ASSERT_AT_LEAST(sdirk2, 0.7 * fall);
  ASSERT_AT_MOST(euler, 0.4 * sdirk2);
  ASSERT_AT_LEAST(euler, 0.0);
}

// ---- rubber -------------------------------------------------------------------------------------

// Both blocks reach three times their length; the forces are those of incompressible solids with
// the parameters of the scene, times the area at rest.
static void rubber_is_stretched(void** state) {
  (void)state;
  Run run = start("examples/rubber.json", 0, NULL);
  for (int i = 0; i < 10; i++) {
    step(&run);
  }
  static const double terms[2][3][2] = {{{3.2e5, 2.0}, {8e4, -2.0}, {0.0, 1.0}},
                                        {{4.095e5, 1.3}, {3e3, 5.0}, {1e4, -2.0}}};
  const char* const names[] = {"pull_mooney", "pull_ogden"};
  for (int b = 0; b < 2; b++) {
    double want = 0.0, stretch = 3.0;
    for (int k = 0; k < 3; k++) {
      double a = terms[b][k][1];
      want += 2.0 * terms[b][k][0] / a * (pow(stretch, a - 1.0) - pow(stretch, -0.5 * a - 1.0));
    }
    NoliReaction reaction;
    int32_t motion = noli_sim_find_motion(run.sim, names[b]);
    assert_true(motion != NOLI_NULL_INDEX);
    ASSERT_OK(noli_sim_reaction(run.sim, motion, NULL, &reaction));
    print_message("%s: %.3f N, closed form %.3f N\n", names[b], reaction.force[0], want * 4e-4);
    ASSERT_NEAR(reaction.force[0], want * 4e-4, 2e-3 * want * 4e-4);
  }
  finish(&run);
}

// ---- fibres -------------------------------------------------------------------------------------

// The mean angle about its axis, in degrees, of the end of a bar; the axis is at z = z0.
static double twist_of_end(const Run* run, int32_t body, double z0) {
  int32_t first, count;
  noli_sim_body_range(run->sim, body, &first, &count);
  const double *X = noli_sim_rest_positions(run->sim), *x = noli_sim_positions(run->sim);
  double sine = 0.0, cosine = 0.0;
  for (int64_t v = first; v < first + count; v++) {
    const double *a = X + 3 * v, *b = x + 3 * v;
    if (a[0] > 0.04 - 1e-6) {
      sine += a[1] * (b[2] - z0) - (a[2] - z0) * b[1];
      cosine += a[1] * b[1] + (a[2] - z0) * (b[2] - z0);
    }
  }
  return atan2(sine, cosine) * 180.0 / 3.14159265358979323846;
}

// Fibres that wind around a bar untwist it when it is stretched; straight ones do not.
static void helical_fibres_twist_the_bar(void** state) {
  (void)state;
  Run run = start("examples/fibres.json", 0, NULL);
  for (int i = 0; i < 10; i++) {
    step(&run);
  }
  double straight = twist_of_end(&run, 0, 0.0), helical = twist_of_end(&run, 1, 0.04);
  print_message("straight %.3f, helical %.3f degrees\n", straight, helical);
  ASSERT_NEAR(straight, 0.0, 0.1);
  ASSERT_AT_LEAST(fabs(helical), 5.0);
  finish(&run);
}

// ---- viscoelasticity ----------------------------------------------------------------------------

// Balls of the same slow stiffness rebound the less the more of their fast stiffness relaxes.
static void viscous_balls_rebound_less(void** state) {
  (void)state;
  Run run = start("examples/viscous_balls.json", 0, NULL);
  double highest[3] = {0.0, 0.0, 0.0};
  for (int i = 0; i < 150; i++) {
    step(&run);
    for (int32_t b = 0; b < 3 && i > 80; b++) {
      highest[b] = noli_larger(highest[b], height_of(&run, b));
    }
  }
  print_message("rebound to %.3f, %.3f and %.3f m\n", highest[0], highest[1], highest[2]);
  ASSERT_AT_LEAST(highest[0], highest[1] + 0.04);
  ASSERT_AT_LEAST(highest[1], highest[2] + 0.04);
  finish(&run);
}

// ---- plasticity ---------------------------------------------------------------------------------

// The lowest point of the end of a bar, less the half of its height: 0 at rest.
static double sag_of(const Run* run, int32_t body) {
  int32_t first, count;
  noli_sim_body_range(run->sim, body, &first, &count);
  const double *X = noli_sim_rest_positions(run->sim), *x = noli_sim_positions(run->sim);
  double sag = 0.0;
  for (int64_t v = first; v < first + count; v++) {
    sag = noli_smaller(sag, x[3 * v + 1] - X[3 * v + 1]);
  }
  return sag;
}

// A roller bends both bars; when it is gone, the elastic one is straight and the metal stays bent.
static void only_the_metal_stays_bent(void** state) {
  (void)state;
  Run run = start("examples/bent_bars.json", 0, NULL);
  while (noli_sim_step_count(run.sim) < 20) {
    step(&run);
  }
  double bent[2] = {sag_of(&run, 0), sag_of(&run, 1)};
  while (noli_sim_step_count(run.sim) < 40) {
    step(&run);
  }
  double left[2] = {sag_of(&run, 0), sag_of(&run, 1)};
  print_message("bent by %.3f and %.3f m, left %.2g and %.3f m\n", bent[0], bent[1], left[0],
                left[1]);
  ASSERT_AT_MOST(noli_larger(bent[0], bent[1]), -0.1);
  ASSERT_AT_LEAST(left[0], -1e-4);
  ASSERT_AT_MOST(left[1], -0.02);
  finish(&run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pads_lift_the_bowl_by_friction),
      cmocka_unit_test(spinning_ball_bounces_in_a_box),
      cmocka_unit_test(squished_balls_keep_their_volume_by_what_fills_them),
      cmocka_unit_test(tennis_balls_bounce_higher_with_less_damping),
      cmocka_unit_test(rubber_is_stretched),
      cmocka_unit_test(helical_fibres_twist_the_bar),
      cmocka_unit_test(viscous_balls_rebound_less),
      cmocka_unit_test(only_the_metal_stays_bent),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
