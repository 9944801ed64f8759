// The scenes of the benchmark suite `thin` at a small size, from start to end: every state is
// audited, and each ends as the scene is about.
#include "scene_run.h"

#include "generated.h"
#include "math/larger.h"

static Run start_made(const char* recipe) {
  Run run = {.context = test_context(1)};
  const NoliSceneOverride audited = {"debug.audit", "true"};
  char* text = generated_text(recipe);
  assert_non_null(text);
  ASSERT_OK(noli_scene_parse(run.context, text, recipe, NULL, &audited, 1, &run.scene));
  ASSERT_OK(noli_sim_create(run.context, noli_scene_sim_def(run.scene), &run.sim));
  free(text);
  return run;
}

// Returns the largest number of contacts.
static int64_t steps(Run* run, int32_t n) {
  int32_t iterations = 0;
  int64_t contacts = 0;
  for (int32_t i = 0; i < n; i++) {
    step(run);
    iterations += run->report.newton_iterations;
    contacts = run->report.contacts > contacts ? run->report.contacts : contacts;
  }
  print_message("%d steps, %d iterations, at most %lld contacts\n", n, iterations,
                (long long)contacts);
  return contacts;
}

// Largest distance of a node from where it started, m.
static double largest_way(const Run* run, const double* start_x, int32_t n) {
  const double* x = noli_sim_positions(run->sim);
  double largest = 0.0;
  for (int64_t i = 0; i < n; i++) {
    double way = noli_norm3(noli_sub3(noli_load3(x + 3 * i), noli_load3(start_x + 3 * i)));
    largest = noli_larger(largest, way);
  }
  return largest;
}

// The ends of a cloth turn by 172 degrees each, so that it touches itself, and back, then the other
// way: between and after it is the sheet that it was.
static void cloths_twist_and_untwist(void** state) {
  (void)state;
  Run run = start_made("generated: twist 12 6");
  int32_t first, n;
  noli_sim_body_range(run.sim, 0, &first, &n);
  assert_int_equal(first, 0);
  double* start_x = malloc(sizeof *start_x * 3 * (size_t)n);
  memcpy(start_x, noli_sim_positions(run.sim), sizeof *start_x * 3 * (size_t)n);
  for (int turn = 0; turn < 2; turn++) {
    ASSERT_AT_LEAST((double)steps(&run, 90), 100.0);
    double twisted = largest_way(&run, start_x, n);
    (void)steps(&run, 90);
    double back = largest_way(&run, start_x, n);
    print_message("nodes are up to %.3f m from their start when twisted, %.4f m after\n", twisted,
                  back);
    ASSERT_AT_LEAST(twisted, 0.9);
    ASSERT_AT_MOST(back, 0.03);
  }
  free(start_x);
  finish(&run);
}

// The ends of a tube turn by more than half a turn each: it collapses onto itself in the middle,
// and its ends are where their motion takes them.
static void tubes_collapse(void** state) {
  (void)state;
  Run run = start_made("generated: tube 12 16");
  int32_t n_steps = 75;
  ASSERT_AT_LEAST((double)steps(&run, n_steps), 50.0);
  const double* x = noli_sim_positions(run.sim);
  double angle = 72.0 * 0.04 * n_steps, middle = 0.0, ends = 0.0;
  int32_t first, n;
  noli_sim_body_range(run.sim, 0, &first, &n);
  for (int64_t i = 0; i < n; i++) {
    double radius = hypot(x[3 * i + 1], x[3 * i + 2]), from_end = 0.5 - fabs(x[3 * i]);
    middle = fabs(x[3 * i]) < 0.1 ? noli_larger(middle, radius) : middle;
    ends = from_end < 0.02 ? noli_larger(ends, fabs(radius - 0.25)) : ends;
  }
  print_message("after %.0f degrees at each end, the middle is within %.3f m of the axis\n", angle,
                middle);
  ASSERT_AT_MOST(middle, 0.15);
  ASSERT_AT_MOST(ends, 1e-6);
  finish(&run);
}

// The cards of two decks come to rest one above the other, alternately from both decks.
static void cards_interleave(void** state) {
  (void)state;
  Run run = start_made("generated: shuffle 6");
  ASSERT_AT_LEAST((double)steps(&run, 60), 1000.0);
  for (int32_t c = 0; c < 6; c++) {
    Extent card = extent_of(&run, c);
    print_message("card %d at %.2f mm, %.1f mm aside, %.2f mm high\n", c, 1e3 * card.mean.y,
                  1e3 * card.mean.x, 1e3 * (card.high.y - card.low.y));
    ASSERT_AT_MOST(card.high.y - card.low.y, 3e-3);
    ASSERT_NEAR(card.mean.x, c % 2 == 0 ? 0.025 : -0.025, 0.01);
    ASSERT_AT_LEAST(card.mean.y, c == 0 ? 0.0 : extent_of(&run, c - 1).mean.y);
  }
  ASSERT_AT_MOST(run.report.max_speed, 0.01);
  finish(&run);
}

// Three cloths lie in a funnel, until a plunger that descends at 0.3 m/s pushes them through: the
// lower one around the upper ones, all of it below the exit at the end. Friction and the method of
// integration take energy, and nothing adds any but the plunger and the choice of another barrier
// stiffness for a step, which scales the energy of the contacts that there are.
static void cloths_pass_a_funnel(void** state) {
  (void)state;
  Run run = start_made("generated: funnel 8");
  double work = 0.0, before = INFINITY, contact = 0.0, stiffness = 1.0, exit_y = -0.1;
  int32_t iterations = 0;
  int64_t contacts = 0;
  for (int32_t i = 0; i < 90; i++) {
    step(&run);
    NoliReaction plunger;
    ASSERT_OK(noli_sim_reaction(run.sim, 0, NULL, &plunger));
    work += plunger.force[1] * -0.3 * 0.04;
    const NoliStepReport* report = &run.report;
    double energy = report->kinetic + report->elastic + report->gravity + report->contact_energy +
                    report->friction_stored;
    double stiffened = contact > 0.0 ? contact * (report->kappa / stiffness - 1.0) : 0.0;
    ASSERT_AT_MOST(energy - work, before + stiffened + 1e-6);
    before = energy - work;
    contact = report->contact_energy;
    stiffness = report->kappa;
    iterations += report->newton_iterations;
    contacts = report->contacts > contacts ? report->contacts : contacts;
    for (int32_t b = 0; i == 44 && b < 3; b++) {
      Extent cloth = extent_of(&run, b);
      print_message("cloth %d lies from %.3f m to %.3f m\n", b, cloth.low.y, cloth.high.y);
      ASSERT_AT_LEAST(cloth.low.y, b == 0 ? exit_y - 0.05 : extent_of(&run, b - 1).low.y);
      ASSERT_AT_MOST(report->max_speed, 0.01);
    }
  }
  print_message("90 steps, %d iterations, at most %lld contacts, work of the plunger %.2f J\n",
                iterations, (long long)contacts, work);
  ASSERT_AT_LEAST(work, 0.5);
  for (int32_t b = 0; b < 3; b++) {
    Extent cloth = extent_of(&run, b);
    print_message("cloth %d falls from %.3f m to %.3f m\n", b, cloth.low.y, cloth.high.y);
    ASSERT_AT_MOST(cloth.high.y, exit_y);
    ASSERT_AT_LEAST(cloth.mean.y, b == 0 ? -2.0 : extent_of(&run, b - 1).mean.y);
    ASSERT_AT_MOST(cloth.velocity.y, -1.0);
  }
  finish(&run);
}

// Two ribbons in a reef knot are pulled tight and hold: at both ends of one and of the other.
static void ribbons_hold_in_a_knot(void** state) {
  (void)state;
  Run run = start_made("generated: knot 2");
  ASSERT_AT_LEAST((double)steps(&run, 100), 60.0);
  NoliVec3 pull[2] = {{0}};
  for (int32_t k = 0; k < 4; k++) {
    NoliReaction reaction;
    ASSERT_OK(noli_sim_reaction(run.sim, k, NULL, &reaction));
    pull[k / 2] = noli_add3(pull[k / 2], noli_load3(reaction.force));
  }
  Extent left = extent_of(&run, 0), right = extent_of(&run, 1);
  print_message("ribbons pull with %.2f N and %.2f N and overlap by %.0f mm\n", pull[0].x,
                pull[1].x, 1e3 * (left.high.x - right.low.x));
  ASSERT_AT_LEAST(pull[1].x, 0.5);
  ASSERT_NEAR(pull[0].x / pull[1].x, -1.0, 0.1);
  ASSERT_AT_LEAST(left.high.x - right.low.x, 0.005);
  ASSERT_AT_MOST(left.high.x - right.low.x, 0.08);
  finish(&run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cloths_twist_and_untwist), cmocka_unit_test(tubes_collapse),
      cmocka_unit_test(cards_interleave),         cmocka_unit_test(cloths_pass_a_funnel),
      cmocka_unit_test(ribbons_hold_in_a_knot),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
