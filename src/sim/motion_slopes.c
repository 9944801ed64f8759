// With the factor f of displacements from the rest shape, and the velocity w and the spin that are
// added to a motion, which begins at b, its targets are
//   x_1 = F_1(X + f (y(X, y_0) - X)),   y_0 = X + (F_0^-1(x_0) - X) / f,
// with the targets y of its function and frames F(z) = c + R (z - c) + w (t - b) at the times t_0
// and t_1, where R turns by spin (t - b) about the pivot c: those of a motion whose displacements
// are f times as large, seen in a frame that moves, whether the function continues from x_0 or
// starts from X. Where y is affine, y = A y_0 + B X + c, and with A' = R_1 A R_0^T,
//   dx_1 = A' dx_0 + R_1 (1 - f + A (f - 1) + f B) dX + ((t_1 - b) - A' (t_0 - b)) dw
//          + R_1 ((y - X) - A (y_0 - X)) df + ...
// and a change of the spin turns both frames. A and B are differences of the function, which are
// exact.
#include "sim/motion_slopes.h"

#include "math/rotation.h"

#include <math.h>
#include <string.h>

// Error of an affine function's difference, relative to its change.
#define AFFINE 1e-7

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

static NoliMotionFrame frame_at(const NoliMotion* motion, double t) {
  double elapsed = t - begin_of(motion);
  NoliVec3 angle = noli_scale3(elapsed, noli_load3(motion->def.spin));
  return (NoliMotionFrame){.elapsed = elapsed,
                           .pivot = noli_mul_add3(noli_load3(motion->def.pivot), elapsed,
                                                  noli_load3(motion->def.velocity)),
                           .turn = noli_rotation33(angle),
                           .by_spin = noli_scale33(elapsed, noli_rotation_slope33(angle))};
}

// y, of any X and y_0.
static void call(const NoliMotion* motion, double t0, double t1, const double* X, const double* y0,
                 double* y) {
  memcpy(y, y0, 3 * sizeof *y * (size_t)motion->n_node);
  if (motion->def.target != NULL) {
    motion->def.target(motion->def.user, t0, t1, motion->n_node, motion->node, X, y0, y);
  }
}

// y_0 (n_node x 3) of vertices at x.
static void set_inner(const NoliMotion* motion, const NoliMotionFrame* frame, const double* x,
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

void noli_motion_targets(const NoliMotion* motion, double t0, double t1, const double* x_t0,
                         double* x_t1) {
  if (!is_changed(motion)) {
    call(motion, t0, t1, motion->X, x_t0, x_t1);
    return;
  }
  NoliMotionFrame start = frame_at(motion, t0), end = frame_at(motion, t1);
  NoliVec3 pivot = noli_load3(motion->def.pivot);
  set_inner(motion, &start, x_t0, motion->inner);
  call(motion, t0, t1, motion->X, motion->inner, x_t1);
  for (int64_t i = 0; i < motion->n_node; i++) {
    NoliVec3 X = noli_load3(motion->X + 3 * i);
    NoliVec3 moved = noli_sub3(noli_load3(x_t1 + 3 * i), X);
    NoliVec3 arm = noli_sub3(noli_mul_add3(X, 1.0 + motion->def.change, moved), pivot);
    noli_store3(x_t1 + 3 * i, noli_add3(end.pivot, noli_mul33_vec(&end.turn, arm)));
  }
}

// The function around one point, with another one for changes.
typedef struct Trial {
  const NoliMotion* motion;
  double t0, t1, size;
  double* X; // (n_node x 3) each
  double* y0;
  double* y;
  double* from; // X or y0 without its change
  double* end;
} Trial;

// Column k of the derivative by X or y0, from a change of all vertices along an axis.
static void set_column(Trial* trial, double* by, int k, NoliMat3* matrix) {
  int32_t n = trial->motion->n_node;
  memcpy(trial->from, by, 3 * sizeof *by * (size_t)n);
  for (int32_t i = 0; i < n; i++) {
    by[3 * (int64_t)i + k] += trial->size;
  }
  call(trial->motion, trial->t0, trial->t1, trial->X, trial->y0, trial->end);
  for (int r = 0; r < 3; r++) {
    matrix->m[r][k] = (trial->end[r] - trial->y[r]) / trial->size;
  }
  memcpy(by, trial->from, 3 * sizeof *by * (size_t)n);
}

// Whether the derivatives say where vertices go that change place differently.
static bool is_affine(Trial* trial, const NoliMat3* A, const NoliMat3* B) {
  const double shift[3] = {0.037, -0.051, 0.083};
  int32_t n = trial->motion->n_node;
  double off = 0.0;
  for (int64_t j = 0; j < 3 * (int64_t)n; j++) {
    trial->y0[j] += trial->size * shift[j % 3] * (double)(1 + j % 5);
    trial->X[j] -= trial->size * shift[(j + 1) % 3] * (double)(1 + j % 7);
  }
  call(trial->motion, trial->t0, trial->t1, trial->X, trial->y0, trial->end);
  for (int64_t i = 0; i < n; i++) {
    NoliVec3 by_start = {0.0, 0.0, 0.0}, by_rest = by_start;
    for (int64_t j = 3 * i; j < 3 * i + 3; j++) {
      double start = trial->size * shift[j % 3] * (double)(1 + j % 5);
      double rest = -trial->size * shift[(j + 1) % 3] * (double)(1 + j % 7);
      by_start = noli_mul_add3(by_start, start, noli_column33(A, (int)(j % 3)));
      by_rest = noli_mul_add3(by_rest, rest, noli_column33(B, (int)(j % 3)));
    }
    NoliVec3 moved = noli_sub3(noli_load3(trial->end + 3 * i), noli_load3(trial->y + 3 * i));
    off = fmax(off, noli_norm3(noli_sub3(moved, noli_add3(by_start, by_rest))));
  }
  return off <= AFFINE * trial->size;
}

static void set_slope(const NoliMotion* motion, double t0, double t1, const NoliMat3* A,
                      const NoliMat3* B, NoliMotionSlope* slope) {
  double f = 1.0 + motion->def.change;
  NoliMat3 one = noli_identity3(), by_rest;
  slope->change = f;
  slope->start = frame_at(motion, t0);
  slope->end = frame_at(motion, t1);
  slope->by_start = noli_mul_transpose33(noli_mul33(slope->end.turn, *A), slope->start.turn);
  by_rest = noli_add33(noli_scale33(1.0 - f, one), noli_scale33(f - 1.0, *A));
  slope->by_rest = noli_mul33(slope->end.turn, noli_add33(by_rest, noli_scale33(f, *B)));
  slope->by_velocity = noli_sub33(noli_scale33(slope->end.elapsed, one),
                                  noli_scale33(slope->start.elapsed, slope->by_start));
}

NoliStatus noli_motion_slope(const NoliModel* model, int32_t index, double t0, double t1,
                             const double* x, NoliMotionSlope* slope) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = model->context;
  const NoliMotion* motion = &model->motion[index];
  int64_t n = 3 * (int64_t)motion->n_node, first = model->vert_first[motion->def.body];
  Trial trial = {.motion = motion, .t0 = t0, .t1 = t1, .size = model->problem.diagonal};
  double** vectors[] = {&trial.X, &trial.y0, &trial.y, &trial.from, &trial.end};
  NoliMat3 A = noli_identity3(), B = {0};
  for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++) {
    NOLI_NEW_ZERO(context, *vectors[k], n);
  }
  for (int64_t j = 0; j < n; j++) {
    trial.from[j] = x[3 * (first + motion->node[j / 3]) + j % 3];
    trial.X[j] = motion->X[j];
  }
  NoliMotionFrame frame = frame_at(motion, t0);
  set_inner(motion, &frame, trial.from, trial.y0);
  call(motion, t0, t1, trial.X, trial.y0, trial.y);
  for (int k = 0; n > 0 && k < 3; k++) {
    set_column(&trial, trial.y0, k, &A);
    set_column(&trial, trial.X, k, &B);
  }
  NOLI_CHECK(context, !motion->def.controlled && (n == 0 || is_affine(&trial, &A, &B)),
             NOLI_ERROR_ARGUMENT,
             "derivatives: motion %d, of body \"%s\", has targets that are no affine functions of "
             "the place of each vertex, or are set from outside: those of rigid motions are",
             (int)index, model->name[motion->def.body]);
  set_slope(motion, t0, t1, &A, &B, slope);
done:
  for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++) {
    noli_free(context, *vectors[k]);
  }
  return status;
}

NoliMotionByNumbers noli_motion_arm_by_numbers(const NoliMotionSlope* slope, NoliVec3 rest,
                                               NoliVec3 start, NoliVec3 end) {
  // displacements from the rest shape, seen from outside
  NoliVec3 start_moved = noli_sub3(start, noli_mul33_vec(&slope->start.turn, rest));
  NoliVec3 end_moved = noli_sub3(end, noli_mul33_vec(&slope->end.turn, rest));
  NoliVec3 by = noli_sub3(end_moved, noli_mul33_vec(&slope->by_start, start_moved));

  // turns of both arms
  NoliMat3 start_turn = noli_mul33(noli_cross33(start), slope->start.by_spin);
  NoliMat3 end_turn = noli_mul33(noli_cross33(end), slope->end.by_spin);
  return (NoliMotionByNumbers){.change = noli_scale3(1.0 / slope->change, by),
                               .spin =
                                   noli_sub33(noli_mul33(slope->by_start, start_turn), end_turn)};
}

NoliMotionByNumbers noli_motion_by_numbers(const NoliModel* model, int32_t index,
                                           const NoliMotionSlope* slope, int32_t i, const double* x,
                                           const double* target) {
  const NoliMotion* motion = &model->motion[index];
  int64_t node = model->vert_first[motion->def.body] + motion->node[i];
  NoliVec3 rest = noli_sub3(noli_load3(motion->X + 3 * (int64_t)i), noli_load3(motion->def.pivot));
  return noli_motion_arm_by_numbers(slope, rest,
                                    noli_sub3(noli_load3(x + 3 * node), slope->start.pivot),
                                    noli_sub3(noli_load3(target + 3 * node), slope->end.pivot));
}
