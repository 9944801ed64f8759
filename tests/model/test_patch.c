// Bounds of how patches move: points of patches, mapped and disturbed at random, are never farther
// off than the bounds say, and these are close where the motion is affine.
#include "support.h"

#include "model/patch.h"

enum { N = 60, TRIANGLES = 8, ROUNDS = 400 };

typedef struct Cloud {
  double X[3 * N];
  double x[3 * N];
} Cloud;

static NoliMat3 random_gradient(TestRandom* random, double size) {
  NoliMat3 gradient = noli_identity3();
  for (int k = 0; k < 9; k++) {
    gradient.m[k / 3][k % 3] += test_random(random, -size, size);
  }
  return gradient;
}

// Points at rest, thin in one direction in every second round, and moved by a map and by noise.
static void fill(TestRandom* random, int32_t round, double noise, NoliMat3* gradient,
                 Cloud* cloud) {
  *gradient = random_gradient(random, 0.9);
  for (int32_t i = 0; i < N; i++) {
    double* X = &cloud->X[3 * i];
    for (int k = 0; k < 3; k++) {
      X[k] = test_random(random, -1.0, 1.0) * (k == 1 && round % 2 == 0 ? 0.0 : 1.0);
    }
    NoliVec3 at = noli_mul33_vec(gradient, noli_load3(X));
    noli_store3(&cloud->x[3 * i], noli_add3(at, noli_vec3(3.0, 2.0, 1.0)));
    for (int k = 0; k < 3; k++) {
      cloud->x[3 * i + k] += test_random(random, -noise, noise);
    }
  }
}

static NoliPatch patch_of(TestRandom* random, const Cloud* cloud, int32_t vertex[3 * TRIANGLES]) {
  for (int32_t i = 0; i < 3 * TRIANGLES; i++) {
    vertex[i] = (int32_t)test_random(random, 0.0, N);
  }
  return noli_patch_between(cloud->X, cloud->x, vertex, 3 * TRIANGLES);
}

static double error_at(const NoliPatch* patch, const Cloud* cloud, int32_t i) {
  NoliVec3 r = noli_sub3(noli_load3(&cloud->X[3 * i]), patch->rest);
  NoliVec3 moved = noli_sub3(noli_load3(&cloud->x[3 * i]), patch->now);
  return noli_norm3(noli_sub3(moved, noli_mul33_vec(&patch->gradient, r)));
}

static void errors_are_bounded(void** state) {
  (void)state;
  TestRandom random = {1};
  NoliMat3 gradient;
  Cloud cloud;
  for (int32_t round = 0; round < ROUNDS; round++) {
    double noise = round % 3 == 0 ? 0.0 : 0.2;
    int32_t a[3 * TRIANGLES], b[3 * TRIANGLES];
    fill(&random, round, noise, &gradient, &cloud);
    NoliPatch first = patch_of(&random, &cloud, a), second = patch_of(&random, &cloud, b);
    NoliPatch both = noli_patch_union(&first, &second);
    double other = noli_patch_error_of(&first, &second), single = 0.0;
    for (int32_t i = 0; i < 3 * TRIANGLES; i++) {
      single = fmax(single, noli_patch_vertex_error(&first, cloud.X, cloud.x, b[i]));
      assert_true(error_at(&first, &cloud, a[i]) <= first.error);
      assert_true(error_at(&first, &cloud, b[i]) <= other);
      assert_true(error_at(&both, &cloud, a[i]) <= both.error);
      assert_true(error_at(&both, &cloud, b[i]) <= both.error);
    }
    assert_true(single <= other + 1e-8);

    // affine motions of flat patches are known exactly
    if (noise == 0.0 && round % 2 == 0) {
      assert_true(other < 1e-6 && both.error < 1e-6);
    } else if (noise > 0.0) {
      assert_true(other > 0.01);
    }
  }
}

static void stretches_are_bounded(void** state) {
  (void)state;
  TestRandom random = {2};
  for (int32_t round = 0; round < ROUNDS; round++) {
    NoliPatch patch = {.gradient = random_gradient(&random, round % 2 == 0 ? 0.01 : 0.9)};
    double least = noli_patch_least_stretch(&patch), most = INFINITY;
    NoliMat3 inverse = noli_inverse33(&patch.gradient);
    NoliVec3 direction = noli_normalize3(noli_vec3(1.0, 0.3, -0.2));

    // towards the direction of the least stretch by inverse iteration
    for (int32_t i = 0; i < 1000; i++) {
      direction =
          noli_normalize3(noli_mul33_vec(&inverse, noli_transpose_mul33_vec(&inverse, direction)));
      most = noli_norm3(noli_mul33_vec(&patch.gradient, direction));
      assert_true(least <= most);
    }
    assert_true(least > most - 2e-3);
  }
}

// Lines and points have no map of their own: they are moved, and what they turn is an error.
static void thin_patches_are_moved(void** state) {
  (void)state;
  const double X[] = {0, 0, 0, 1, 0, 0, 2, 0, 0};
  const double x[] = {0, 5, 0, 0, 6, 0, 0, 7, 0};
  NoliPatch line = noli_patch_between(X, x, (int32_t[]){0, 1, 2}, 3);
  NoliPatch point = noli_patch_between(X, x, (int32_t[]){1, 1, 1}, 3);
  ASSERT_NEAR(line.error, sqrt(2.0), 1e-7);
  ASSERT_NEAR(point.error, 0.0, 1e-7);
  ASSERT_NEAR(noli_patch_least_stretch(&line), 1.0, 1e-6);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(errors_are_bounded),
      cmocka_unit_test(stretches_are_bounded),
      cmocka_unit_test(thin_patches_are_moved),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
