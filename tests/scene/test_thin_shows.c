// Scenes of ropes, nets and cloth: every state is audited, and each ends as the scene is about.
#include "scene_run.h"

// Runs an example with the exact audit after each step.
static Run start_audited(const char* path) {
  const char* const change[][2] = {{"debug.audit", "true"}};
  return start(path, 1, change);
}

static void steps(Run* run, int32_t n) {
  int32_t iterations = 0;
  for (int32_t i = 0; i < n; i++) {
    step(run);
    iterations += run->report.newton_iterations;
  }
  print_message("%d steps, %d iterations, %lld contacts\n", n, iterations,
                (long long)run->report.contacts);
}

// The bights, 0.2 m long at first, shrink around the legs of the other rope and hold: both ropes
// pull at each other with the same force.
static void reef_knots_hold(void** state) {
  (void)state;
  Run run = start_audited("examples/thin/reef_knot.json");
  steps(&run, 120);
  double bight = extent_of(&run, 0).high.x - extent_of(&run, 1).low.x;
  NoliReaction left, right;
  ASSERT_OK(noli_sim_reaction(run.sim, 0, NULL, &left));
  ASSERT_OK(noli_sim_reaction(run.sim, 1, NULL, &right));
  print_message("bights overlap by %.1f mm, pulled with %.2f N and %.2f N\n", 1e3 * bight,
                left.force[0], right.force[0]);
  ASSERT_AT_LEAST(bight, 0.016);
  ASSERT_AT_MOST(bight, 0.1);
  ASSERT_AT_LEAST(right.force[0], 10.0);
  ASSERT_NEAR(left.force[0] / right.force[0], -1.0, 0.05);
  finish(&run);
}

// The ball leaves the ring, which is narrower and has its size again afterwards.
static void ropes_pull_balls_through_rings(void** state) {
  (void)state;
  Run run = start_audited("examples/thin/rope_and_ring.json");
  double width = extent_of(&run, 2).high.x - extent_of(&run, 2).low.x, widest = 0.0;
  for (int32_t i = 0; i < 120; i++) {
    step(&run);
    widest = noli_larger(widest, extent_of(&run, 2).high.x - extent_of(&run, 2).low.x);
  }
  Extent ball = extent_of(&run, 0), ring = extent_of(&run, 2);
  print_message("the ball is %.3f m above the ring, which was %.3f m wide, %.3f m at most, %.3f m "
                "now\n",
                ball.low.y - ring.high.y, width, widest, ring.high.x - ring.low.x);
  ASSERT_AT_LEAST(ball.low.y, ring.high.y);
  ASSERT_AT_LEAST(widest, 0.24);
  ASSERT_NEAR((ring.high.x - ring.low.x) / width, 1.0, 0.03);
  finish(&run);
}

// Balls at 50 m/s stay on their side of the net, which gives way by less than its half width, and
// fly back slower.
static void nets_stop_fast_balls(void** state) {
  (void)state;
  Run run = start_audited("examples/thin/net.json");
  double deepest = 0.0;
  for (int32_t i = 0; i < 80; i++) {
    step(&run);
    deepest = noli_smaller(deepest, extent_of(&run, 0).low.z);
    for (int32_t b = 1; b < 4; b++) {
      ASSERT_AT_LEAST(extent_of(&run, b).mean.z, extent_of(&run, 0).low.z);
    }
  }
  for (int32_t b = 1; b < 4; b++) {
    Extent ball = extent_of(&run, b);
    print_message("ball %d at %.2f m, %.1f m/s; the net gave way by %.2f m\n", b, ball.mean.z,
                  ball.velocity.z, -deepest);
    ASSERT_AT_LEAST(ball.velocity.z, 0.0);
    ASSERT_AT_MOST(ball.velocity.z, 50.0);
  }
  ASSERT_AT_LEAST(deepest, -1.0);
  finish(&run);
}

// All noodles are within the bowl, and above its bottom.
static void noodles_stay_in_the_bowl(void** state) {
  (void)state;
  Run run = start_audited("examples/thin/noodles.json");
  steps(&run, 100);
  for (int32_t b = 0; b < 12; b++) {
    Extent noodle = extent_of(&run, b);
    ASSERT_AT_LEAST(noodle.low.y, 0.02);
    ASSERT_AT_MOST(noodle.high.y, 0.35);
    ASSERT_AT_MOST(hypot(noodle.mean.x, noodle.mean.z), 0.28);
  }
  finish(&run);
}

// The dress hangs: its waist stays above the hips, and its hem at the height where it began, while
// the body turns by 60 degrees to either side.
static void dresses_stay_on(void** state) {
  (void)state;
  Run run = start_audited("examples/thin/dress.json");
  steps(&run, 100);
  Extent bodice = extent_of(&run, 0), skirt = extent_of(&run, 1);
  print_message("bodice from %.2f m to %.2f m, hem at %.2f m\n", bodice.low.y, bodice.high.y,
                skirt.low.y);
  ASSERT_AT_LEAST(bodice.low.y, 0.9);
  ASSERT_AT_MOST(bodice.low.y, 1.1);
  ASSERT_NEAR(skirt.low.y, 0.65, 0.1);
  finish(&run);
}

static void assert_layers_in_order(const Run* run, int32_t count) {
  for (int32_t b = 1; b < count; b++) {
    ASSERT_AT_LEAST(extent_of(run, b).mean.y, extent_of(run, b - 1).mean.y);
  }
}

// A hundred layers keep their order.
static void layers_keep_their_order(void** state) {
  (void)state;
  Run run = start_audited("examples/thin/layers.json");
  steps(&run, 8);
  assert_layers_in_order(&run, 100);
  assert_true(run.report.contacts > 1000);
  finish(&run);
}

// Twenty layers drape on the ball: they rest on its top, and their rims hang lower.
static void layers_drape(void** state) {
  (void)state;
  const char* const change[][2] = {{"debug.audit", "true"}, {"bodies.cloth.copies.count", "20"}};
  Run run = start("examples/thin/layers.json", 2, change);
  steps(&run, 40);
  assert_layers_in_order(&run, 20);
  for (int32_t b = 0; b < 20; b++) {
    Extent layer = extent_of(&run, b);
    ASSERT_AT_LEAST(layer.high.y, 0.25);
    ASSERT_AT_MOST(layer.low.y, layer.high.y - 0.05);
  }
  finish(&run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reef_knots_hold),      cmocka_unit_test(ropes_pull_balls_through_rings),
      cmocka_unit_test(nets_stop_fast_balls), cmocka_unit_test(noodles_stay_in_the_bowl),
      cmocka_unit_test(dresses_stay_on),      cmocka_unit_test(layers_keep_their_order),
      cmocka_unit_test(layers_drape),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
