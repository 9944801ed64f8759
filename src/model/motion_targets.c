#include "model/motion_targets.h"

#include "math/rotation.h"

#include <math.h>
#include <string.h>

NoliStatus noli_motion_path_create(NoliContext* context, int32_t n_node, NoliMotionPath* path) {
  NoliStatus status = NOLI_OK;
  *path = (NoliMotionPath){0};
  NOLI_NEW(context, path->x_t0, 3 * (int64_t)n_node);
  NOLI_NEW(context, path->x_t1, 3 * (int64_t)n_node);
  NOLI_NEW(context, path->inner, 3 * (int64_t)n_node);
done:
  if (status != NOLI_OK) {
    noli_motion_path_free(context, path);
  }
  return status;
}

void noli_motion_path_free(NoliContext* context, NoliMotionPath* path) {
  noli_free(context, path->x_t0);
  noli_free(context, path->x_t1);
  noli_free(context, path->inner);
  *path = (NoliMotionPath){0};
}

static double begin_of(const NoliMotion* motion) {
  return fmax(motion->def.t_begin, 0.0);
}

int32_t noli_motion_find(const NoliMotion* motion, int32_t node) {
  if (node < motion->n_node && motion->node[node] == node) {
    return node;
  }
  for (int32_t i = 0; i < motion->n_node; i++) {
    if (motion->node[i] == node) {
      return i;
    }
  }
  return NOLI_NULL_INDEX;
}

static bool is_changed(const NoliMotion* motion) {
  const double *w = motion->def.velocity, *spin = motion->def.spin;
  return motion->def.change != 0.0 || w[0] != 0.0 || w[1] != 0.0 || w[2] != 0.0 || spin[0] != 0.0 ||
         spin[1] != 0.0 || spin[2] != 0.0;
}

bool noli_motion_moves(const NoliMotion* motion) {
  return motion->def.target != NULL || is_changed(motion);
}

NoliMotionFrame noli_motion_frame(const NoliMotion* motion, double t) {
  double elapsed = t - begin_of(motion);
  NoliVec3 angle = noli_scale3(elapsed, noli_load3(motion->def.spin));
  return (NoliMotionFrame){.elapsed = elapsed,
                           .pivot = noli_mul_add3(noli_load3(motion->def.pivot), elapsed,
                                                  noli_load3(motion->def.velocity)),
                           .turn = noli_rotation33(angle),
                           .by_spin = noli_scale33(elapsed, noli_rotation_derivative33(angle))};
}

void noli_motion_call(const NoliMotion* motion, double t0, double t1, const double* X,
                      const double* y0, double* y) {
  memcpy(y, y0, 3 * sizeof *y * (size_t)motion->n_node);
  if (motion->def.target != NULL) {
    noli_host_called(motion->calls, 1);
    motion->def.target(motion->def.user, t0, t1, motion->n_node, motion->node, X, y0, y);
    noli_host_called(motion->calls, -1);
  }
}

void noli_motion_set_inner(const NoliMotion* motion, const NoliMotionFrame* frame, const double* x,
                           double* y0) {
  NoliVec3 pivot = noli_load3(motion->def.pivot);
  double f = 1.0 + motion->def.change;
  for (int64_t i = 0; i < motion->n_node; i++) {
    NoliVec3 arm = noli_sub3(noli_load3(x + 3 * i), frame->pivot);
    noli_store3(y0 + 3 * i, noli_add3(pivot, noli_transpose_mul33_vec(&frame->turn, arm)));
    for (int64_t j = 3 * i; j < 3 * i + 3; j++) {
      y0[j] = motion->X[j] + (y0[j] - motion->X[j]) / f;
    }
  }
}

void noli_motion_targets(const NoliMotion* motion, double t0, double t1,
                         const NoliMotionPath* path) {
  double* x_t1 = path->x_t1;
  if (!is_changed(motion)) {
    noli_motion_call(motion, t0, t1, motion->X, path->x_t0, x_t1);
    return;
  }
  NoliMotionFrame start = noli_motion_frame(motion, t0), end = noli_motion_frame(motion, t1);
  NoliVec3 pivot = noli_load3(motion->def.pivot);
  noli_motion_set_inner(motion, &start, path->x_t0, path->inner);
  noli_motion_call(motion, t0, t1, motion->X, path->inner, x_t1);
  for (int64_t i = 0; i < motion->n_node; i++) {
    NoliVec3 X = noli_load3(motion->X + 3 * i);
    NoliVec3 moved = noli_sub3(noli_load3(x_t1 + 3 * i), X);
    NoliVec3 arm = noli_sub3(noli_mul_add3(X, 1.0 + motion->def.change, moved), pivot);
    noli_store3(x_t1 + 3 * i, noli_add3(end.pivot, noli_mul33_vec(&end.turn, arm)));
  }
}
