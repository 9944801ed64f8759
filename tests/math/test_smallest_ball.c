// The smallest ball around points: closed forms, brute force over all sets of four, any order, any
// place, degenerate points.
#include "support.h"

#include "math/rotation.h"
#include "math/smallest_ball.h"

enum { MOST = 64 };

static double diameter(int64_t n, const double* x) {
  NoliBall ball = noli_ball_empty();
  while (noli_ball_include(&ball, n, x)) {
  }
  for (int64_t i = 0; i < n; i++) {
    double arm = noli_norm3(noli_sub3(noli_load3(x + 3 * i), ball.centre));
    ASSERT_AT_MOST(arm, ball.radius * (1.0 + 1e-12));
  }
  return 2.0 * ball.radius;
}

static void known_shapes(void** state) {
  (void)state;
  double box[24], line[30], circle[36];
  for (int i = 0; i < 8; i++) {
    box[3 * i] = 3.0 * (i & 1), box[3 * i + 1] = 4.0 * (i >> 1 & 1),
            box[3 * i + 2] = 12.0 * (i >> 2);
  }
  for (int i = 0; i < 10; i++) {
    line[3 * i] = 2.0 * i, line[3 * i + 1] = -i, line[3 * i + 2] = 2.0 * i + 5.0;
  }
  for (int i = 0; i < 12; i++) {
    double angle = 0.5235987755982988 * i;
    circle[3 * i] = 2.0 * cos(angle) + 7.0, circle[3 * i + 1] = 2.0 * sin(angle);
    circle[3 * i + 2] = 1.0;
  }
  ASSERT_NEAR(diameter(8, box), 13.0, 1e-13);
  ASSERT_NEAR(diameter(10, line), 27.0, 1e-13);
  ASSERT_NEAR(diameter(12, circle), 4.0, 1e-13);
  // a regular tetrahedron of edge sqrt(8)
  const double corner[] = {1, 1, 1, 1, -1, -1, -1, 1, -1, -1, -1, 1};
  ASSERT_NEAR(diameter(4, corner), 2.0 * sqrt(3.0), 1e-14);
  // one point, the same point often, none
  ASSERT_NEAR(diameter(1, corner), 0.0, 0.0);
  const double same[] = {1, 2, 3, 1, 2, 3, 1, 2, 3};
  ASSERT_NEAR(diameter(3, same), 0.0, 0.0);
  NoliBall none = noli_ball_empty();
  assert_false(noli_ball_include(&none, 0, corner));
  ASSERT_AT_MOST(none.radius, -1.0);
}

// The smallest ball of all points is the largest of those of subsets: a smaller one leaves some
// point outside.
static double largest_of_subsets(int n, const double* x) {
  double most = 0.0;
  for (int a = 0; a < n; a++) {
    for (int b = a; b < n; b++) {
      for (int c = b; c < n; c++) {
        for (int d = c; d < n; d++) {
          const int index[4] = {a, b, c, d};
          double four[12];
          for (int k = 0; k < 4; k++) {
            memcpy(four + 3 * k, x + 3 * index[k], sizeof(double[3]));
          }
          most = fmax(most, diameter(4, four));
        }
      }
    }
  }
  return most;
}

static void random_points(void** state) {
  (void)state;
  TestRandom random = {.state = 7};
  double least = INFINITY;
  for (int trial = 0; trial < 200; trial++) {
    int n = 2 + trial % 9;
    double x[3 * MOST], turned[3 * MOST];
    for (int i = 0; i < 3 * n; i++) {
      x[i] = test_random(&random, -1.0, 1.0) * (i % 3 == 2 && trial % 4 == 0 ? 1e-9 : 1.0);
    }
    double d = diameter(n, x);
    ASSERT_NEAR(d, largest_of_subsets(n, x), 1e-12);

    // in reverse, turned, moved and four times as large
    NoliMat3 R = noli_rotation33(noli_vec3(0.3, -2.0, 1.1));
    for (int i = 0; i < n; i++) {
      NoliVec3 to = noli_mul33_vec(&R, noli_scale3(4.0, noli_load3(x + 3 * i)));
      noli_store3(turned + 3 * (n - 1 - i), noli_add3(to, noli_vec3(10.0, -5.0, 3.0)));
    }
    ASSERT_NEAR(diameter(n, turned), 4.0 * d, 1e-12);
    least = fmin(least, d);
  }
  ASSERT_AT_LEAST(least, 1e-3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(known_shapes),
      cmocka_unit_test(random_points),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
