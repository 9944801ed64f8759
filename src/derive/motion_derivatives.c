// How targets change (model/motion_targets.h has the formula): with dy = A dy_0 + B dX and
// A' = R_1 A R_0^T,
//   dx_1 = A' dx_0 + R_1 (1 - f + A (f - 1) + f B) dX + ((t_1 - b) - A' (t_0 - b)) dw
//          + R_1 ((y - X) - A (y_0 - X)) df + ...
// and a change of the spin turns both frames. Where y is affine, A and B are the same for all
// vertices, and differences of the function are exact. Elsewhere each vertex has its own, from
// differences extrapolated to a step of 0: of all vertices at once, because the target of each
// follows only its own place, which is tried.
#include "derive/motion_derivatives.h"

#include "math/difference.h"
#include "math/larger.h"

#include <math.h>
#include <string.h>

// Error of an affine function's difference, relative to its change.
#define AFFINE 1e-7

// The largest step of differences where it is not affine, and what counts as the same target; of
// the diagonal.
#define STEP 0.01
#define SAME 1e-9

// The function around one point, with another one for changes.
typedef struct Trial {
  const NoliMotion* motion;
  double t0, t1, size;
  const double* x; // (vertices of the body x 3) at t0
  double* X;       // (n_node x 3) each
  double* y0;
  double* y;
  double* from; // X or y0 without its change
  double* end;
  double* by; // X or y0, of which component `axis` changes
  int axis;
} Trial;

// At the point itself.
static void motion_derivatives_set_point(Trial* trial) {
  const NoliMotion* motion = trial->motion;
  NoliMotionFrame frame = noli_motion_frame(motion, trial->t0);
  for (int64_t j = 0; j < 3 * (int64_t)motion->n_node; j++) {
    trial->from[j] = trial->x[3 * (int64_t)motion->node[j / 3] + j % 3];
    trial->X[j] = motion->X[j];
  }
  noli_motion_set_inner(motion, &frame, trial->from, trial->y0);
  noli_motion_call(motion, trial->t0, trial->t1, trial->X, trial->y0, trial->y);
}

// Column k of the derivative by X or y0, from a change of all vertices along an axis.
static void set_column(Trial* trial, double* by, int k, NoliMat3* matrix) {
  int32_t n = trial->motion->n_node;
  memcpy(trial->from, by, 3 * sizeof *by * (size_t)n);
  for (int32_t i = 0; i < n; i++) {
    by[3 * (int64_t)i + k] += trial->size;
  }
  noli_motion_call(trial->motion, trial->t0, trial->t1, trial->X, trial->y0, trial->end);
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
  noli_motion_call(trial->motion, trial->t0, trial->t1, trial->X, trial->y0, trial->end);
  for (int64_t i = 0; i < n; i++) {
    NoliVec3 by_start = {0.0, 0.0, 0.0}, by_rest = by_start;
    for (int64_t j = 3 * i; j < 3 * i + 3; j++) {
      double start = trial->size * shift[j % 3] * (double)(1 + j % 5);
      double rest = -trial->size * shift[(j + 1) % 3] * (double)(1 + j % 7);
      by_start = noli_mul_add3(by_start, start, noli_column33(A, (int)(j % 3)));
      by_rest = noli_mul_add3(by_rest, rest, noli_column33(B, (int)(j % 3)));
    }
    NoliVec3 moved = noli_sub3(noli_load3(trial->end + 3 * i), noli_load3(trial->y + 3 * i));
    off = noli_larger(off, noli_norm3(noli_sub3(moved, noli_add3(by_start, by_rest))));
  }
  return off <= AFFINE * trial->size;
}

// ---- targets that are not affine ----------------------------------------------------------------

// The NoliShiftFn of a motion.
static void shift(void* user, double by, double* value) {
  Trial* trial = user;
  int64_t n = trial->motion->n_node;
  memcpy(trial->from, trial->by, 3 * sizeof *value * (size_t)n);
  for (int64_t i = 0; i < n; i++) {
    trial->by[3 * i + trial->axis] += by;
  }
  noli_motion_call(trial->motion, trial->t0, trial->t1, trial->X, trial->y0, value);
  memcpy(trial->by, trial->from, 3 * sizeof *value * (size_t)n);
}

// Moves vertices that are marked; all of them: mark 0.
static void move_some(Trial* trial, unsigned mark, double size) {
  const double along[3] = {0.37, -0.51, 0.83};
  for (uint32_t i = 0; i < (uint32_t)trial->motion->n_node; i++) {
    bool moves = mark == 0 || (i * 2654435761u >> mark & 1u) != 0;
    for (int64_t k = 0; moves && k < 3; k++) {
      trial->y0[3 * (int64_t)i + k] += size * along[k] * (1.0 + i % 3);
      trial->X[3 * (int64_t)i + k] -= size * along[(k + 1) % 3] * (1.0 + i % 4);
    }
  }
}

// Whether the target of each vertex follows only its own place: those of vertices that move are the
// same whether others move or not, and so are those of vertices that stay.
static bool is_local(Trial* trial) {
  int64_t n = 3 * (int64_t)trial->motion->n_node;
  double size = STEP * trial->size, off = 0.0, *moved = trial->from;
  static const unsigned marks[2] = {16, 21};
  move_some(trial, 0, size);
  noli_motion_call(trial->motion, trial->t0, trial->t1, trial->X, trial->y0, moved);
  move_some(trial, 0, -size);
  for (int k = 0; k < 2; k++) {
    move_some(trial, marks[k], size);
    noli_motion_call(trial->motion, trial->t0, trial->t1, trial->X, trial->y0, trial->end);
    move_some(trial, marks[k], -size);
    for (int64_t j = 0; j < n; j++) {
      bool moves = ((uint32_t)(j / 3) * 2654435761u >> marks[k] & 1u) != 0;
      off = noli_larger(off, fabs(trial->end[j] - (moves ? moved[j] : trial->y[j])));
    }
  }
  return off <= SAME * trial->size;
}

static NoliStatus require_smooth(const NoliModel* model, int32_t index, const Trial* trial,
                                 const NoliDifference* table) {
  NoliStatus status = NOLI_OK;
  const NoliMotion* motion = trial->motion;
  for (int64_t j = 0; j < 3 * (int64_t)motion->n_node; j++) {
    NOLI_CHECK(model->context, noli_difference_is_smooth(&table[j], 1.0), NOLI_ERROR_ARGUMENT,
               "derivatives: motion %d, of body \"%s\": the target of vertex %d at t = %g s jumps "
               "with the place of the vertex: positions and motions have derivatives where targets "
               "are smooth; replace the jump by a ramp",
               (int)index, model->name[motion->def.body], (int)motion->node[j / 3], trial->t1);
  }
done:
  return status;
}

// A and B of each vertex, in `own`.
static NoliStatus set_own(const NoliModel* model, int32_t index, Trial* trial, NoliMat3* own) {
  NoliStatus status = NOLI_OK;
  int64_t n = 3 * (int64_t)trial->motion->n_node;
  NoliDifference* table = NULL;
  NOLI_NEW(model->context, table, n);
  for (int which = 0; which < 2; which++) {
    trial->by = which == 0 ? trial->y0 : trial->X;
    for (trial->axis = 0; trial->axis < 3; trial->axis++) {
      NOLI_TRY(noli_differences(model->context, n, shift, trial, STEP * trial->size, table));
      NOLI_TRY(require_smooth(model, index, trial, table));
      for (int64_t j = 0; j < n; j++) {
        own[2 * (j / 3) + which].m[j % 3][trial->axis] = table[j].derivative;
      }
    }
  }
done:
  noli_free(model->context, table);
  return status;
}

// ---- derivatives --------------------------------------------------------------------------------

static NoliMotionDerivative motion_derivatives_derivative_of(const NoliMotion* motion, double t0,
                                                             double t1, const NoliMat3* A,
                                                             const NoliMat3* B) {
  double f = 1.0 + motion->def.change;
  NoliMat3 one = noli_identity3(), by_rest;
  NoliMotionDerivative derivative = {
      .change = f, .start = noli_motion_frame(motion, t0), .end = noli_motion_frame(motion, t1)};
  derivative.by_start =
      noli_mul_transpose33(noli_mul33(derivative.end.turn, *A), derivative.start.turn);
  by_rest = noli_add33(noli_scale33(1.0 - f, one), noli_scale33(f - 1.0, *A));
  derivative.by_rest = noli_mul33(derivative.end.turn, noli_add33(by_rest, noli_scale33(f, *B)));
  return derivative;
}

NoliMotionDerivative noli_motion_derivative_at(const NoliMotionDerivatives* derivatives,
                                               int32_t i) {
  NoliMotionDerivative derivative = derivatives->all;
  if (derivatives->own != NULL) {
    derivative.by_start = derivatives->own[2 * (int64_t)i];
    derivative.by_rest = derivatives->own[2 * (int64_t)i + 1];
  }
  return derivative;
}

NoliMat3 noli_motion_by_velocity(const NoliMotionDerivative* derivative) {
  return noli_sub33(noli_scale33(derivative->end.elapsed, noli_identity3()),
                    noli_scale33(derivative->start.elapsed, derivative->by_start));
}

void noli_motion_derivatives_free(NoliContext* context, NoliMotionDerivatives* derivatives) {
  noli_free(context, derivatives->own);
  derivatives->own = NULL;
}

NoliMotionDerivatives noli_motion_derivatives_to(double share) {
  NoliMotionDerivative derivative = {.change = 1.0,
                                     .by_start = noli_scale33(1.0 - share, noli_identity3()),
                                     .start = {.turn = noli_identity3()},
                                     .end = {.turn = noli_identity3()}};
  return (NoliMotionDerivatives){.all = derivative};
}

// The same for all vertices, or of each.
static NoliStatus motion_derivatives_set_derivatives(const NoliModel* model, int32_t index,
                                                     Trial* trial,
                                                     NoliMotionDerivatives* derivatives) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = model->context;
  const NoliMotion* motion = trial->motion;
  int64_t n = motion->n_node;
  NoliMat3 A = noli_identity3(), B = {0};
  motion_derivatives_set_point(trial);
  for (int k = 0; n > 0 && k < 3; k++) {
    set_column(trial, trial->y0, k, &A);
    set_column(trial, trial->X, k, &B);
  }
  derivatives->all = motion_derivatives_derivative_of(motion, trial->t0, trial->t1, &A, &B);
  if (n == 0 || is_affine(trial, &A, &B)) {
    goto done;
  }
  motion_derivatives_set_point(trial);
  NOLI_CHECK(context, is_local(trial), NOLI_ERROR_ARGUMENT,
             "derivatives: motion %d, of body \"%s\", has targets that follow the places of other "
             "vertices than their own, or are not finite: let each follow only its own, a rotation "
             "a fixed origin",
             (int)index, model->name[motion->def.body]);
  motion_derivatives_set_point(trial);
  NOLI_NEW_ZERO(context, derivatives->own, 2 * n);
  NOLI_TRY(set_own(model, index, trial, derivatives->own));

  for (int64_t i = 0; i < n; i++) {
    NoliMat3* own = &derivatives->own[2 * i];
    NoliMotionDerivative derivative =
        motion_derivatives_derivative_of(motion, trial->t0, trial->t1, &own[0], &own[1]);
    own[0] = derivative.by_start;
    own[1] = derivative.by_rest;
  }
done:
  return status;
}

NoliStatus noli_motion_derivatives_set(const NoliModel* model, int32_t index, double t0, double t1,
                                       const double* x, NoliMotionDerivatives* derivatives) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = model->context;
  const NoliMotion* motion = &model->motion[index];
  int64_t n = 3 * (int64_t)motion->n_node;
  Trial trial = {.motion = motion,
                 .t0 = t0,
                 .t1 = t1,
                 .size = model->problem.size.d,
                 .x = x + 3 * (int64_t)model->vert_first[motion->def.body]};
  double** vectors[] = {&trial.X, &trial.y0, &trial.y, &trial.from, &trial.end};

  noli_motion_derivatives_free(context, derivatives);
  for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++) {
    NOLI_NEW_ZERO(context, *vectors[k], n);
  }
  NOLI_CHECK(context, !motion->def.controlled, NOLI_ERROR_ARGUMENT,
             "derivatives: motion %d, of body \"%s\", is set from outside, and is no function of "
             "where its vertices are: give it a target",
             (int)index, model->name[motion->def.body]);
  NOLI_TRY(motion_derivatives_set_derivatives(model, index, &trial, derivatives));
done:
  for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++) {
    noli_free(context, *vectors[k]);
  }
  return status;
}

NoliMotionByNumbers noli_motion_arm_by_numbers(const NoliMotionDerivative* derivative,
                                               NoliVec3 rest, NoliVec3 start, NoliVec3 end) {
  // displacements from the rest shape, seen from outside
  NoliVec3 start_moved = noli_sub3(start, noli_mul33_vec(&derivative->start.turn, rest));
  NoliVec3 end_moved = noli_sub3(end, noli_mul33_vec(&derivative->end.turn, rest));
  NoliVec3 by = noli_sub3(end_moved, noli_mul33_vec(&derivative->by_start, start_moved));

  // turns of both arms
  NoliMat3 start_turn = noli_mul33(noli_cross33(start), derivative->start.by_spin);
  NoliMat3 end_turn = noli_mul33(noli_cross33(end), derivative->end.by_spin);
  return (NoliMotionByNumbers){
      .change = noli_scale3(1.0 / derivative->change, by),
      .spin = noli_sub33(noli_mul33(derivative->by_start, start_turn), end_turn)};
}

NoliMotionByNumbers noli_motion_by_numbers(const NoliModel* model, int32_t index,
                                           const NoliMotionDerivative* derivative, int32_t i,
                                           const double* x, const double* target) {
  const NoliMotion* motion = &model->motion[index];
  int64_t node = model->vert_first[motion->def.body] + motion->node[i];
  NoliVec3 rest = noli_sub3(noli_load3(motion->X + 3 * (int64_t)i), noli_load3(motion->def.pivot));
  return noli_motion_arm_by_numbers(
      derivative, rest, noli_sub3(noli_load3(x + 3 * node), derivative->start.pivot),
      noli_sub3(noli_load3(target + 3 * node), derivative->end.pivot));
}
