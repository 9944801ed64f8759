#include "model/patch.h"

#include "math/larger.h"

// Rounding errors, relative to coordinates, and of squared stretches relative to their mean.
#define ROUNDING 1e-9
#define STRETCH_ROUNDING 1e-7
// Determinant of the moments relative to their trace: below it the patch is a line.
#define LINE 1e-9

static const double third_turn = 2.09439510239319549;

typedef struct Corners {
  NoliVec3 rest[NOLI_PATCH_SIZE];
  NoliVec3 now[NOLI_PATCH_SIZE];
} Corners;

static NoliVec3 mean_of(const NoliVec3* p, int32_t n) {
  NoliVec3 sum = {0.0, 0.0, 0.0};
  for (int32_t i = 0; i < n; i++) {
    sum = noli_add3(sum, p[i]);
  }
  return noli_scale3(1.0 / n, sum);
}

// The unit normal of triangles.
static NoliVec3 normal_of(const NoliVec3* p, int32_t n) {
  NoliVec3 sum = {0.0, 0.0, 0.0};
  for (int32_t i = 0; i + 2 < n; i += 3) {
    sum = noli_add3(sum, noli_cross3(noli_sub3(p[i + 1], p[i]), noli_sub3(p[i + 2], p[i])));
  }
  double size = noli_norm3(sum);
  return size > 0.0 ? noli_scale3(1.0 / size, sum) : sum;
}

// The gradient that fits the corners best, and the normal, which flat patches do not determine.
static NoliMat3 fit(const NoliPatch* patch, const Corners* corner, int32_t n) {
  NoliMat3 moment = {0}, product = {0};
  for (int32_t i = 0; i < n; i++) {
    NoliVec3 r = noli_sub3(corner->rest[i], patch->rest);
    moment = noli_add33(moment, noli_outer33(r, r));
    product = noli_add33(product, noli_outer33(noli_sub3(corner->now[i], patch->now), r));
  }
  double size = noli_trace33(&moment);
  NoliVec3 rest = normal_of(corner->rest, n), now = normal_of(corner->now, n);
  moment = noli_add33(moment, noli_scale33(size, noli_outer33(rest, rest)));
  product = noli_add33(product, noli_scale33(size, noli_outer33(now, rest)));
  if (!(noli_det33(&moment) > LINE * size * size * size)) {
    return noli_identity3();
  }
  return noli_mul33(product, noli_inverse33(&moment));
}

static double error_at(const NoliPatch* patch, NoliVec3 rest, NoliVec3 now) {
  NoliVec3 mapped = noli_mul33_vec(&patch->gradient, noli_sub3(rest, patch->rest));
  return noli_norm3(noli_sub3(noli_sub3(now, patch->now), mapped));
}

// Rounding of differences of places that are as large as this one.
static double rounding_at(NoliVec3 a, NoliVec3 b) {
  return ROUNDING * (noli_norm3(a) + noli_norm3(b));
}

NoliPatch noli_patch_between(const double* X, const double* x, const int32_t* vertex, int32_t n) {
  Corners corner;
  NoliPatch patch = {0};
  for (int32_t i = 0; i < n; i++) {
    corner.rest[i] = noli_load3(&X[3 * (int64_t)vertex[i]]);
    corner.now[i] = noli_load3(&x[3 * (int64_t)vertex[i]]);
  }
  patch.rest = mean_of(corner.rest, n);
  patch.now = mean_of(corner.now, n);
  patch.gradient = fit(&patch, &corner, n);
  for (int32_t i = 0; i < n; i++) {
    NoliVec3 r = noli_sub3(corner.rest[i], patch.rest);
    patch.radius = noli_larger(patch.radius, noli_norm3(r));
    patch.error = noli_larger(patch.error, error_at(&patch, corner.rest[i], corner.now[i]));
  }
  double rounding = rounding_at(patch.rest, patch.now);
  patch.radius += rounding;
  patch.error += rounding;
  return patch;
}

NoliPatch noli_patch_union(const NoliPatch* a, const NoliPatch* b) {
  NoliPatch patch = {.rest = noli_scale3(0.5, noli_add3(a->rest, b->rest)),
                     .now = noli_scale3(0.5, noli_add3(a->now, b->now)),
                     .gradient = noli_scale33(0.5, noli_add33(a->gradient, b->gradient))};
  patch.radius = noli_larger(noli_norm3(noli_sub3(a->rest, patch.rest)) + a->radius,
                             noli_norm3(noli_sub3(b->rest, patch.rest)) + b->radius);
  patch.error = noli_larger(noli_patch_error_of(&patch, a), noli_patch_error_of(&patch, b)) +
                rounding_at(patch.rest, patch.now);
  return patch;
}

// The smallest singular value, from the smallest eigenvalue of G'G in closed form.
double noli_patch_least_stretch(const NoliPatch* patch) {
  NoliMat3 c = noli_transpose_mul33(patch->gradient, patch->gradient);
  double mean = noli_trace33(&c) / 3.0;
  for (int k = 0; k < 3; k++) {
    c.m[k][k] -= mean;
  }
  double size = sqrt(noli_norm_sqr33(&c) / 6.0);
  double third = size > 0.0 ? 0.5 * noli_det33(&c) / (size * size * size) : 0.0;
  double angle = acos(fmax(-1.0, fmin(1.0, third))) / 3.0;
  double least = mean + 2.0 * size * cos(angle + third_turn) - STRETCH_ROUNDING * mean;
  return least > 0.0 ? sqrt(least) : 0.0;
}

double noli_patch_vertex_error(const NoliPatch* patch, const double* X, const double* x,
                               int32_t i) {
  NoliVec3 rest = noli_load3(&X[3 * (int64_t)i]), now = noli_load3(&x[3 * (int64_t)i]);
  return error_at(patch, rest, now) + rounding_at(rest, now);
}

double noli_patch_error_of(const NoliPatch* patch, const NoliPatch* other) {
  NoliMat3 turn = noli_sub33(other->gradient, patch->gradient);
  return error_at(patch, other->rest, other->now) + sqrt(noli_norm_sqr33(&turn)) * other->radius +
         other->error;
}
