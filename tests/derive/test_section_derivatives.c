// How the turns of sections of held segments change, against central differences: random frames,
// edges that turn by up to 170 degrees, motions that are rigid, that stretch, and that follow rest
// positions or nothing.
#include "derive/section_derivatives.h"

#include "fem/thin/twist.h"
#include "math/rotation.h"
#include "math/vec3.h"
#include "support.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

// The inputs of a turn, as a rotation of the frame, an angle, an edge, a director at rest, a factor
// and a spin.
enum { FRAME = 0, ANGLE = 3, EDGE = 4, REST = 7, CHANGE = 10, SPIN = 11, INPUTS = 14 };

// A motion that begins at 0, from t = 0.3 to 0.5: y = A y_0 + B X.
typedef struct Trial {
  NoliSection section;
  NoliMat3 A, B;
  NoliVec3 spin;
  double change;
} Trial;

static NoliVec3 random3(TestRandom* random) {
  double x = test_random(random, -1.0, 1.0), y = test_random(random, -1.0, 1.0);
  return (NoliVec3){x, y, test_random(random, -1.0, 1.0)};
}

static NoliMotionDerivative derivative_of(const Trial* trial) {
  const double time[2] = {0.3, 0.5};
  NoliMotionFrame frame[2];
  double f = trial->change;
  for (int k = 0; k < 2; k++) {
    NoliVec3 angle = noli_scale3(time[k], trial->spin);
    frame[k] =
        (NoliMotionFrame){.elapsed = time[k],
                          .turn = noli_rotation33(angle),
                          .by_spin = noli_scale33(time[k], noli_rotation_derivative33(angle))};
  }
  NoliMotionDerivative derivative = {.change = f, .start = frame[0], .end = frame[1]};
  NoliMat3 rest =
      noli_add33(noli_scale33(1.0 - f, noli_identity3()),
                 noli_add33(noli_scale33(f - 1.0, trial->A), noli_scale33(f, trial->B)));
  derivative.by_start = noli_mul_transpose33(noli_mul33(frame[1].turn, trial->A), frame[0].turn);
  derivative.by_rest = noli_mul33(frame[1].turn, rest);
  return derivative;
}

static Trial make_trial(TestRandom* random, int index) {
  Trial trial = {.spin = random3(random), .change = index % 2 == 0 ? 1.0 : 1.3};
  NoliSection* section = &trial.section;
  section->tangent = noli_normalize3(random3(random));
  section->director = noli_normalize3(noli_cross3(section->tangent, random3(random)));
  section->angle = test_random(random, -9.0, 9.0);
  NoliVec3 across = noli_normalize3(noli_cross3(section->tangent, random3(random)));
  const double turns[] = {0.0, 1e-6, 0.5, 2.0, 170.0 * PI / 180.0};
  double turn = turns[index % 5];
  section->edge =
      noli_scale3(test_random(random, 0.2, 2.0),
                  noli_mul_add3(noli_scale3(cos(turn), section->tangent), sin(turn), across));
  section->rest = noli_normalize3(random3(random));
  NoliMat3 any = noli_outer33(random3(random), random3(random));
  trial.A = noli_rotation33(random3(random));
  trial.B = (NoliMat3){{{0}}};
  if (index % 4 == 1) {
    trial.A = noli_add33(trial.A, noli_scale33(0.3, any));
  } else if (index % 4 == 2) {
    trial.B = trial.A;
    trial.A = (NoliMat3){{{0}}};
  } else if (index % 4 == 3) {
    trial.B = noli_scale33(0.3, any);
  }
  return trial;
}

static Trial moved(const Trial* trial, const double change[INPUTS], double h) {
  Trial to = *trial;
  NoliMat3 turn = noli_rotation33(noli_scale3(h, noli_load3(change + FRAME)));
  to.section.tangent = noli_mul33_vec(&turn, to.section.tangent);
  to.section.director = noli_mul33_vec(&turn, to.section.director);
  to.section.angle += h * change[ANGLE];
  to.section.edge = noli_mul_add3(to.section.edge, h, noli_load3(change + EDGE));
  to.section.rest = noli_mul_add3(to.section.rest, h, noli_load3(change + REST));
  to.change += h * change[CHANGE];
  to.spin = noli_mul_add3(to.spin, h, noli_load3(change + SPIN));
  return to;
}

// As a run does, by points.
static double turn_of(const Trial* trial) {
  NoliMotionDerivative derivative = derivative_of(trial);
  double frame[6];
  noli_store3(frame, trial->section.tangent);
  noli_store3(frame + 3, trial->section.director);
  NoliVec3 axis = noli_segment_axis(frame, 0, trial->section.angle);
  NoliVec3 end = noli_add3(noli_mul33_vec(&derivative.by_start, axis),
                           noli_mul33_vec(&derivative.by_rest, trial->section.rest));
  return noli_segment_turn(frame, 0, axis, noli_normalize3(trial->section.edge), end);
}

static double product(const Trial* trial, const NoliSectionDerivative* derivative,
                      const double change[INPUTS]) {
  NoliVec3 w = noli_load3(change + FRAME);
  return noli_dot3(derivative->by_tangent, noli_cross3(w, trial->section.tangent)) +
         noli_dot3(derivative->by_director, noli_cross3(w, trial->section.director)) +
         derivative->by_angle * change[ANGLE] +
         noli_dot3(derivative->by_edge, noli_load3(change + EDGE)) +
         noli_dot3(derivative->by_rest, noli_load3(change + REST)) +
         derivative->by_change * change[CHANGE] +
         noli_dot3(derivative->by_spin, noli_load3(change + SPIN));
}

static void turns_follow_all_inputs(void** state) {
  (void)state;
  TestRandom random = {17};
  for (int index = 0; index < 200; index++) {
    Trial trial = make_trial(&random, index);
    double change[INPUTS], off = INFINITY;
    for (int k = 0; k < INPUTS; k++) {
      change[k] = test_random(&random, -1.0, 1.0);
    }
    NoliMotionDerivative motion = derivative_of(&trial);
    NoliSectionDerivative derivative = noli_section_derivative(&trial.section, &motion);
    double by = product(&trial, &derivative, change), size = fmax(1.0, fabs(by));
    ASSERT_NEAR(derivative.turn, turn_of(&trial), 1e-12);
    for (double h = 1e-4; h > 1e-8; h *= 0.2) {
      Trial low = moved(&trial, change, -h), high = moved(&trial, change, h);
      double apart = remainder(turn_of(&high) - turn_of(&low), 2.0 * PI);
      off = fmin(off, fabs(apart / (2.0 * h) - by));
    }
    ASSERT_AT_MOST(off, 1e-7 * size);
  }
}

// Places of each vertex do not say how its section turns; nor does a point on the axis.
static void what_does_not_turn_has_no_derivative(void** state) {
  (void)state;
  TestRandom random = {18};
  Trial trial = make_trial(&random, 0);
  trial.A = (NoliMat3){{{0}}};
  NoliMotionDerivative motion = derivative_of(&trial);
  NoliSectionDerivative derivative = noli_section_derivative(&trial.section, &motion), none = {0};
  assert_memory_equal(&derivative, &none, sizeof none);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(turns_follow_all_inputs),
                                     cmocka_unit_test(what_does_not_turn_has_no_derivative)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
