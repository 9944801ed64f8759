// Scenes that friction holds: a nut on a bolt, a knot.
#include "scene_run.h"

#define PI 3.14159265358979323846

// ---- a nut --------------------------------------------------------------------------------------

// Angle by which a body has turned about y, in degrees.
static double turned(const Run* run, int32_t body) {
  int32_t first, n;
  noli_sim_body_range(run->sim, body, &first, &n);
  const double *x = noli_sim_positions(run->sim), *X = noli_sim_rest_positions(run->sim);
  double sine = 0.0, cosine = 0.0;
  for (int64_t v = first; v < first + n; v++) {
    cosine += X[3 * v] * x[3 * v] + X[3 * v + 2] * x[3 * v + 2];
    sine += X[3 * v + 2] * x[3 * v] - X[3 * v] * x[3 * v + 2];
  }
  return atan2(sine, cosine) * 180.0 / PI;
}

// How far the nut unwinds from one time to another, in degrees.
static double unwinds(const char* key, const char* value, double from, double to) {
  Run run = start("examples/screw.json", 1, (const char* const[][2]){{key, value}});
  run_until(&run, from);
  double then = turned(&run, 0);
  run_until(&run, to);
  double angle = turned(&run, 0) - then;
  finish(&run);
  return fabs(angle);
}

// The nut slides along the thread, whose lead has the tangent p / (2 pi r), if its weight along it
// exceeds friction. Flanks of the slope a = pi d / p press with more than the weight:
// tan(lead) > mu sqrt(1 + cos^2(lead) / a^2).
static void nuts_do_not_unwind(void** state) {
  (void)state;
  const double pitch = 0.02, radius = 0.02, depth = 0.008, flank = PI * depth / pitch;
  double lead = pitch / (2.0 * PI * radius);
  double limit = lead / sqrt(1.0 + 1.0 / ((1.0 + lead * lead) * flank * flank));
  ASSERT_NEAR(limit, 0.1251, 1e-4);
  double holds = unwinds("friction.coefficient", "0.13", 1.0, 5.0);
  double creeps = unwinds("friction.law", "velocity", 1.0, 2.0);
  double runs = unwinds("friction.coefficient", "0.11", 0.0, 0.4);
  print_message("limit %.4f: with 0.13 the nut turns by %.2g degrees in 4 s, with \"velocity\" by "
                "%.2g in 1 s; with 0.11 by %.3g in 0.4 s\n",
                limit, holds, creeps, runs);
  ASSERT_AT_MOST(holds, 1e-6);
  ASSERT_AT_LEAST(creeps, 0.02);
  ASSERT_AT_LEAST(runs, 5.0);
}

// ---- a knot -------------------------------------------------------------------------------------

// Distance of the loaded ends, the first vertices of both ropes.
static double span_of(const Run* run) {
  int32_t first[2], n;
  noli_sim_body_range(run->sim, 0, &first[0], &n);
  noli_sim_body_range(run->sim, 1, &first[1], &n);
  const double* x = noli_sim_positions(run->sim);
  return noli_norm3(
      noli_sub3(noli_load3(x + 3 * (int64_t)first[0]), noli_load3(x + 3 * (int64_t)first[1])));
}

static double span_at(const char* key, const char* value, double from, double to, double* change) {
  Run run = start("examples/loaded_knot.json", 1, (const char* const[][2]){{key, value}});
  run_until(&run, from);
  double then = span_of(&run);
  run_until(&run, to);
  double now = span_of(&run);
  *change = now - then;
  finish(&run);
  return now;
}

// A constant load does not move the ends of a knot; without friction it comes undone.
static void knots_hold_their_load(void** state) {
  (void)state;
  double holds, creeps, slips;
  double span = span_at("friction.law", "stick", 8.0, 10.0, &holds);
  span_at("friction.law", "velocity", 4.0, 6.0, &creeps);
  double undone = span_at("friction.coefficient", "0", 1.0, 1.6, &slips);
  print_message(
      "from 8 to 10 s the ends of the ropes, %.3f m apart, part by %.2g m, with "
      "\"velocity\" by %.2g m from 4 to 6 s; without friction they are %.2f m apart at 1.6 s\n",
      span, holds, creeps, undone);
  ASSERT_NEAR(holds, 0.0, 1e-7);
  ASSERT_AT_LEAST(creeps, 1e-4);
  ASSERT_AT_LEAST(undone, span + 0.5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nuts_do_not_unwind),
      cmocka_unit_test(knots_hold_their_load),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
