// How the forces of shells change with rest shapes and moduli.
#include "fem/blocks/block_shells.h"
#include "fem/derivatives/block_derivatives.h"
#include "fem/derivatives/element_derivatives.h"
#include "fem/thin/fold_stiffness.h"

#include "math/vec3.h"

#include <math.h>
#include <string.h>

enum { FOLD_SIZE = 3 * NOLI_FOLD_NODES, FOLD_HINGES = NOLI_FOLD_HINGES };

// ---- hinges and folds ---------------------------------------------------------------------------

static bool is_fold(const NoliBlock* block, int64_t stencil) {
  const NoliFolds* folds = &noli_shells_of(block)->folds;
  return folds->n_fold > 0 && folds->tri[2 * stencil] == folds->tri[2 * stencil + 1];
}

// A stencil that is no fold, as the only hinge; its stiffness into `stiffness`.
static NoliHinges hinge_of(const NoliBlock* block, int64_t stencil, double* stiffness) {
  const NoliHinges* hinges = &noli_shells_of(block)->hinges;
  const NoliFolds* folds = &noli_shells_of(block)->folds;
  if (folds->n_fold == 0) {
    *stiffness = hinges->stiffness[stencil];
    return (NoliHinges){.n_hinge = 1,
                        .node = hinges->node + 4 * stencil,
                        .tri = hinges->tri + 2 * stencil,
                        .rest = hinges->rest + stencil,
                        .stiffness = stiffness};
  }
  double root = folds->root[3 * FOLD_HINGES * stencil];
  *stiffness = root * root;
  return (NoliHinges){.n_hinge = 1,
                      .node = folds->node + NOLI_FOLD_NODES * stencil,
                      .tri = folds->tri + 2 * stencil,
                      .rest = folds->rest + FOLD_HINGES * stencil,
                      .stiffness = stiffness};
}

// Derivatives of a hinge (12 x 12) as those of its stencil.
static void shells_derivatives_spread(const NoliBlock* block, const double own[144], double* out) {
  int32_t n = 3 * noli_block_stencils(block, NOLI_PART_BENDING).size;
  for (int i = 0; i < 144; i++) {
    out[n * (i / 12) + i % 12] = own[i];
  }
}

// The force sum_i gradient_i (S turn)_i of a fold with the stiffness S of its hinges.
typedef struct FoldForce {
  double gradient[FOLD_HINGES][FOLD_SIZE]; // of their angles
  double turn[FOLD_HINGES];
} FoldForce;

static FoldForce bent_fold(const NoliBlock* block, int64_t f, const double* x) {
  FoldForce force;
  noli_folds_turns(&noli_shells_of(block)->folds, f, x, force.turn);
  noli_folds_gradients(&noli_shells_of(block)->folds, f, x, force.gradient);
  return force;
}

// The force of the damping of a fold at y, with w (FOLD_SIZE).
static FoldForce damped_fold(const NoliBlock* block, int64_t f, const double* y, const double* w) {
  FoldForce force = {.turn = {0.0}};
  noli_folds_gradients(&noli_shells_of(block)->folds, f, y, force.gradient);
  for (int k = 0; k < FOLD_HINGES * FOLD_SIZE; k++) {
    force.turn[k / FOLD_SIZE] += force.gradient[k / FOLD_SIZE][k % FOLD_SIZE] * w[k % FOLD_SIZE];
  }
  return force;
}

static NoliFoldRest fold_at_rest(const NoliBlock* block, int64_t f, const double* X) {
  const NoliShells* self = noli_shells_of(block);
  int64_t t = self->folds.tri[2 * f];
  return (NoliFoldRest){.X = X, .axis = self->triangles.axis + 3 * t, .plate = &self->plate[t]};
}

// ---- rest positions -----------------------------------------------------------------------------

// The rest frame of a triangle: axis a, across b, normal n, and its nodes.
typedef struct Frame {
  NoliVec3 a, b, n;
  NoliVec3 corner[3];
  NoliVec3 gradient[3]; // of the linear functions of its nodes
} Frame;

static Frame frame_of(const NoliBlock* block, int64_t t, const double* X) {
  Frame frame = {.a = noli_load3(noli_shells_of(block)->triangles.axis + 3 * t)};
  double volume;
  NoliVec3 gradient[4];
  noli_element_rest_gradients(block, (int32_t)t, X, gradient, &volume);
  memcpy(frame.gradient, gradient, sizeof frame.gradient);
  for (int k = 0; k < 3; k++) {
    frame.corner[k] = noli_load3(X + 3 * (int64_t)block->node[3 * t + k]);
  }
  frame.n = noli_normalize3(noli_cross3(noli_sub3(frame.corner[1], frame.corner[0]),
                                        noli_sub3(frame.corner[2], frame.corner[0])));
  frame.b = noli_cross3(frame.n, frame.a);
  return frame;
}

// The turn of the axis within the plane of the triangle, by rest positions of its nodes. The warp
// is projected: where the triangle tilts out of it, the projection turns. Without a projection the
// axis follows the first edge.
static void turn_of_axis(const NoliBlock* block, int64_t t, const Frame* frame, double by[9]) {
  NoliVec3 warp = noli_load3(noli_shells_of(block)->def[t].warp);
  double out = noli_dot3(frame->n, warp), along = noli_dot3(frame->a, warp);
  NoliVec3 edge = noli_sub3(frame->corner[1], frame->corner[0]);
  NoliVec3 in_plane = noli_mul_add3(warp, -out, frame->n);
  bool projected = noli_norm3(in_plane) > NOLI_WARP_VANISHES * noli_norm3(warp);
  for (int c = 0; c < 3; c++) {
    NoliVec3 derivative =
        noli_scale3(out * noli_dot3(frame->b, frame->gradient[c]) / along, frame->n);
    if (!projected) {
      double sign = c == 0 ? -1.0 : c == 1 ? 1.0 : 0.0;
      derivative = noli_scale3(sign / noli_norm3(edge), frame->b);
    }
    noli_store3(by + 3 * c, derivative);
  }
}

// A turn of the axis by d changes F by d (F_1, -F_0): that of displacements d (F_1 X_0 - F_0 X_1).
static void moved_by_turn(const NoliBlock* block, int64_t t, const Frame* frame, const double* x,
                          NoliVec3 moved[3]) {
  NoliSheet F = noli_triangles_deformation(&noli_shells_of(block)->triangles, t, x);
  for (int c = 0; c < 3; c++) {
    NoliVec3 from = noli_sub3(frame->corner[c], frame->corner[0]);
    moved[c] = noli_scale3(noli_dot3(from, frame->a), F.f[1]);
    moved[c] = noli_mul_add3(moved[c], -noli_dot3(from, frame->b), F.f[0]);
  }
}

// It changes the gradient (B_0, B_1) of a shape function by d (B_1, -B_0), too.
static void add_axis(const NoliBlock* block, int64_t element, const double* X, const double* x,
                     const double* gradient, const double* hessian, double* derivative) {
  const NoliShells* self = noli_shells_of(block);
  if (!self->def[element].woven) {
    return;
  }
  Frame frame = frame_of(block, element, X);
  NoliVec3 force[2] = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}}, moved[3]; // V P by columns
  double by[9];
  turn_of_axis(block, element, &frame, by);
  moved_by_turn(block, element, &frame, x, moved);
  for (int c = 0; c < 3; c++) {
    NoliVec3 from = noli_sub3(frame.corner[c], frame.corner[0]);
    double along = noli_dot3(from, frame.a), across = noli_dot3(from, frame.b);
    force[0] = noli_mul_add3(force[0], along, noli_load3(gradient + 3 * c));
    force[1] = noli_mul_add3(force[1], across, noli_load3(gradient + 3 * c));
  }

  for (int a = 0; a < 3; a++) {
    NoliVec3 sum = noli_scale3(noli_dot3(frame.gradient[a], frame.b), force[0]);
    sum = noli_mul_add3(sum, -noli_dot3(frame.gradient[a], frame.a), force[1]);
    for (int c = 0; c < 3; c++) {
      int low = a < c ? a : c, high = a < c ? c : a;
      NoliMat3 K = noli_load33(hessian + 9 * noli_stencil_block(3, low, high));
      sum = noli_add3(sum, a <= c ? noli_mul33_vec(&K, moved[c])
                                  : noli_transpose_mul33_vec(&K, moved[c]));
    }
    double out[3];
    noli_store3(out, sum);
    for (int k = 0; k < 27; k++) {
      derivative[9 * (3 * a + k / 9) + k % 9] += out[k / 9] * by[k % 9];
    }
  }
}

// How the stiffness of a hinge between woven triangles changes with its nodes (12), by the
// directions of their axes.
static void add_direction_derivative(const NoliBlock* block, const NoliHinges* hinge, int k,
                                     const double* X, double by[12]) {
  const NoliShells* self = noli_shells_of(block);
  const int32_t* node = hinge->node;
  int64_t t = hinge->tri[k];
  Frame frame = frame_of(block, t, X);
  NoliVec3 at[4];
  double turn[9];
  turn_of_axis(block, t, &frame, turn);
  for (int a = 0; a < 4; a++) {
    at[a] = noli_load3(X + 3 * (int64_t)node[a]);
  }
  NoliVec3 edge = noli_sub3(at[1], at[0]);
  double area = 0.5 * (noli_norm3(noli_cross3(edge, noli_sub3(at[2], at[0]))) +
                       noli_norm3(noli_cross3(edge, noli_sub3(at[3], at[0]))));
  double sqr = noli_norm_sqr3(edge), along = noli_dot3(edge, frame.a);
  double factor =
      0.5 * sqr / area * (self->along[2 * t] - self->along[2 * t + 1]) * -2.0 * along / sqr;
  NoliVec3 by_edge = noli_mul_add3(frame.a, -along / sqr, edge);

  for (int a = 0; a < 4; a++) {
    NoliVec3 sum = noli_scale3(a == 0 ? -1.0 : a == 1 ? 1.0 : 0.0, by_edge);
    for (int c = 0; c < 3; c++) {
      bool same = block->node[3 * t + c] == node[a];
      sum = noli_mul_add3(sum, same ? noli_dot3(edge, frame.b) : 0.0, noli_load3(turn + 3 * c));
    }
    noli_store3(by + 3 * a, noli_mul_add3(noli_load3(by + 3 * a), factor, sum));
  }
}

// Adds the part of the directions to derivatives of `n` values in proportion to the stiffness.
static void add_woven(const NoliBlock* block, const NoliHinges* hinge, const double* X, int n,
                      const double* value, double* derivative) {
  double by[12] = {0.0}, stiffness = hinge->stiffness[0];
  if (!noli_shells_of(block)->def[hinge->tri[0]].woven || !(stiffness > 0.0)) {
    return;
  }
  for (int k = 0; k < 2; k++) {
    add_direction_derivative(block, hinge, k, X, by);
  }
  for (int i = 0; i < 12 * n; i++) {
    derivative[i] += value[i / 12] / stiffness * by[i % 12];
  }
}

// Derivatives of the moments of a fold with these turns by rest positions of its nodes; `follow`
// times the change of the angles at rest is taken off the turns.
static void moments_by_rest(const NoliBlock* block, int64_t f, const double* X,
                            const double angle[FOLD_HINGES], double follow,
                            double moment[FOLD_HINGES][FOLD_SIZE]) {
  const NoliShells* self = noli_shells_of(block);
  int64_t t = self->folds.tri[2 * f];
  const NoliFoldRest rest = fold_at_rest(block, f, X);
  double turn[FOLD_HINGES][FOLD_SIZE] = {{0.0}}, axis[9] = {0.0};
  if (self->def[t].woven) {
    Frame frame = frame_of(block, t, X);
    turn_of_axis(block, t, &frame, axis);
  }
  if (follow > 0.0) {
    noli_folds_gradients(&self->folds, f, X, turn);
  }
  for (int k = 0; k < FOLD_HINGES * FOLD_SIZE; k++) {
    turn[k / FOLD_SIZE][k % FOLD_SIZE] *= -follow;
  }
  noli_folds_moments_by_rest(&self->folds, f, &rest, axis, angle, turn, moment);
}

// Derivatives of the force of a fold by rest positions of its nodes, with which its angles at rest
// change if they are part of `turn`.
static void fold_by_rest(const NoliBlock* block, int64_t f, const double* X, const FoldForce* force,
                         bool over_rest, double scale, double* derivative) {
  double moment[FOLD_HINGES][FOLD_SIZE];
  moments_by_rest(block, f, X, force->turn, over_rest ? 1.0 : 0.0, moment);
  for (int k = 0; k < FOLD_HINGES * FOLD_SIZE; k++) {
    double along = scale * force->gradient[k / FOLD_SIZE][k % FOLD_SIZE];
    double* row = derivative + FOLD_SIZE * (k % FOLD_SIZE);
    for (int c = 0; c < FOLD_SIZE && along != 0.0; c++) {
      row[c] += along * moment[k / FOLD_SIZE][c];
    }
  }
}

static void bending_by_rest(const NoliBlock* block, int64_t stencil, const double* X,
                            const double* x, double scale, double* derivative) {
  if (is_fold(block, stencil)) {
    FoldForce force = bent_fold(block, stencil, x);
    fold_by_rest(block, stencil, X, &force, true, scale, derivative);
    return;
  }
  double stiffness, own[144], gradient[12];
  NoliHinges hinge = hinge_of(block, stencil, &stiffness);
  NoliBending bending = {.hinges = &hinge, .scale = scale};
  const NoliLocal out = {.gradient = gradient};
  noli_bending_by_rest(&bending, 0, X, x, own);
  noli_bending_evaluate(&bending, x, 0, 1, NOLI_EVAL_GRADIENT, &out);
  add_woven(block, &hinge, X, 12, gradient, own);
  shells_derivatives_spread(block, own, derivative);
}

// ---- moduli -------------------------------------------------------------------------------------

// Derivatives of what an element is made of, by mu or lambda.
typedef struct Derivative {
  NoliMembraneParameters parameters; // in which forces are linear, but for the limits
  NoliPlate plate;
} Derivative;

static Derivative shells_derivatives_derivative_of(const NoliBlock* block, int32_t t, bool by_mu) {
  const NoliShells* self = noli_shells_of(block);
  const NoliShellDef* def = &self->def[t];
  double mu = block->lame_mu[t], lambda = block->lame_lambda[t], sum = lambda + mu;
  double young = mu * (3.0 * lambda + 2.0 * mu) / sum, poisson = 0.5 * lambda / sum;
  double d_young =
      by_mu ? (3.0 * lambda + 2.0 * mu) / sum - mu * lambda / (sum * sum) : mu * mu / (sum * sum);
  double d_poisson = (by_mu ? -0.5 * lambda : 0.5 * mu) / (sum * sum);
  double plane = lambda + 2.0 * mu, side = by_mu ? lambda : mu;
  Derivative derivative = {.parameters = self->parameters[t]};
  NoliMembraneParameters* own = &derivative.parameters;

  own->lame.mu = by_mu ? 1.0 : 0.0;
  own->lame.lambda = (by_mu ? 2.0 : 4.0) * side * side / (plane * plane);
  own->warp = d_young;
  own->weft = def->weft * d_young;
  own->shear = def->shear > 0.0 || !by_mu ? 0.0 : 1.0;
  own->limit_stiffness *= d_young / young;
  double cube = self->thickness[t] * self->thickness[t] * self->thickness[t] / 12.0;
  double less = 1.0 - poisson * poisson;
  double first = def->bending * cube / less * (d_young + 2.0 * young * poisson * d_poisson / less);
  double weft = def->woven ? def->weft : 1.0;
  double shear = by_mu && !(def->woven && def->shear > 0.0) ? 1.0 : 0.0;
  derivative.plate =
      (NoliPlate){.first = first,
                  .second = weft * first,
                  .coupled = sqrt(weft) * (poisson * first + d_poisson * self->plate[t].first),
                  .twist = def->bending * shear * cube};
  return derivative;
}

// The derivative of the membrane of triangle t by one of its moduli.
static void evaluate_by_modulus(const NoliBlock* block, int64_t t, bool by_mu, const double* x,
                                double scale, unsigned what, const NoliLocal* out) {
  const NoliShells* self = noli_shells_of(block);
  const NoliTriangles one = {.n_tri = 1,
                             .tri = self->triangles.tri + 3 * t,
                             .rest_inverse = self->triangles.rest_inverse + 4 * t,
                             .axis = self->triangles.axis + 3 * t,
                             .area = self->triangles.area + t};
  Derivative derivative = shells_derivatives_derivative_of(block, (int32_t)t, by_mu);
  const NoliMembrane membrane = {.triangles = &one,
                                 .law = self->law + t,
                                 .parameters = &derivative.parameters,
                                 .thickness = self->thickness + t,
                                 .scale = scale};
  noli_membrane_evaluate(&membrane, x, 0, 1, what, out);
}

static void membrane_by_moduli(const NoliBlock* block, int64_t t, const double* x, double scale,
                               double* by_mu, double* by_lambda) {
  for (int which = 0; which < 2; which++) {
    double gradient[9], *to = which == 0 ? by_mu : by_lambda;
    const NoliLocal out = {.gradient = gradient};
    evaluate_by_modulus(block, t, which == 0, x, scale, NOLI_EVAL_GRADIENT, &out);
    for (int i = 0; i < 9; i++) {
      to[2 * i] = gradient[i];
    }
  }
}

// How the stiffness of a hinge with these nodes and triangles changes with a modulus of triangle k.
static double stiffness_derivative(const NoliBlock* block, const int32_t* node, const int32_t* tri,
                                   int k, bool by_mu, const double* X) {
  const NoliShells* self = noli_shells_of(block);
  NoliPlate derivative = shells_derivatives_derivative_of(block, tri[k], by_mu).plate;
  const double none[2] = {0.0, 0.0}, along[2] = {derivative.first, derivative.second};
  const double* const axis[2] = {self->triangles.axis + 3 * (int64_t)tri[0],
                                 self->triangles.axis + 3 * (int64_t)tri[1]};
  const double* const plate[2] = {k == 0 ? along : none, k == 1 ? along : none};
  return noli_hinge_stiffness(node, X, axis, plate);
}

// Derivatives of `n` values in proportion to the stiffness of a hinge, by the moduli of both
// triangles.
static void hinge_by_moduli(const NoliBlock* block, const NoliHinges* hinge, const double* X, int n,
                            const double* value, double* by_mu, double* by_lambda) {
  double stiffness = hinge->stiffness[0];
  for (int k = 0; k < 2 && stiffness > 0.0; k++) {
    double mu = stiffness_derivative(block, hinge->node, hinge->tri, k, true, X) / stiffness;
    double lambda = stiffness_derivative(block, hinge->node, hinge->tri, k, false, X) / stiffness;
    for (int i = 0; i < n; i++) {
      by_mu[2 * i + k] = mu * value[i];
      by_lambda[2 * i + k] = lambda * value[i];
    }
  }
}

// Derivatives of the moments of a fold with these turns, by the moduli of its triangle: x and y.
static void moments_by_moduli(const NoliBlock* block, int64_t f, const double* X,
                              const double turn[FOLD_HINGES], NoliVec3 moment[FOLD_HINGES]) {
  int32_t t = noli_shells_of(block)->folds.tri[2 * f];
  const NoliFoldRest rest = fold_at_rest(block, f, X);
  const NoliPlate plate[3] = {shells_derivatives_derivative_of(block, t, true).plate,
                              shells_derivatives_derivative_of(block, t, false).plate};
  noli_folds_moments_by_plate(&noli_shells_of(block)->folds, f, &rest, plate, turn, moment);
}

// Derivatives of the force of a fold by the moduli of its triangle.
static void fold_by_moduli(const NoliBlock* block, int64_t f, const double* X,
                           const FoldForce* force, double scale, double* by_mu, double* by_lambda) {
  NoliVec3 moment[FOLD_HINGES];
  moments_by_moduli(block, f, X, force->turn, moment);
  for (int k = 0; k < FOLD_HINGES * FOLD_SIZE; k++) {
    int i = k / FOLD_SIZE, own = k % FOLD_SIZE;
    by_mu[2 * own] += scale * force->gradient[i][own] * moment[i].x;
    by_lambda[2 * own] += scale * force->gradient[i][own] * moment[i].y;
  }
}

static void by_moduli(const NoliBlock* block, NoliBlockPart part, int64_t stencil, const double* X,
                      const double* x, double scale, NoliModuliDerivatives* to) {
  if (part == NOLI_PART_ELEMENTS) {
    to->element[0] = (int32_t)stencil;
    membrane_by_moduli(block, stencil, x, scale, to->by_mu, to->by_lambda);
    return;
  }
  if (is_fold(block, stencil)) {
    FoldForce force = bent_fold(block, stencil, x);
    to->element[0] = noli_shells_of(block)->folds.tri[2 * stencil];
    fold_by_moduli(block, stencil, X, &force, scale, to->by_mu, to->by_lambda);
    return;
  }
  double stiffness, gradient[12];
  NoliHinges hinge = hinge_of(block, stencil, &stiffness);
  NoliBending bending = {.hinges = &hinge, .scale = scale};
  const NoliLocal out = {.gradient = gradient};
  noli_bending_evaluate(&bending, x, 0, 1, NOLI_EVAL_GRADIENT, &out);
  memcpy(to->element, hinge.tri, sizeof to->element);
  hinge_by_moduli(block, &hinge, X, 12, gradient, to->by_mu, to->by_lambda);
}

// ---- damping ------------------------------------------------------------------------------------

// The directions of an element at rest, and its normal.
static NoliMat3 directions_of(const NoliBlock* block, int32_t element, const NoliVec3 gradient[4]) {
  NoliVec3 along = noli_normalize3(gradient[1]);
  NoliVec3 normal = noli_normalize3(noli_cross3(gradient[1], gradient[2]));
  if (noli_shells_of(block)->def[element].woven) {
    along = noli_load3(noli_shells_of(block)->triangles.axis + 3 * (int64_t)element);
  }
  return noli_columns33(along, noli_cross3(normal, along), normal);
}

static void tangent_product(const NoliBlock* block, int32_t element, const NoliVec3 gradient[4],
                            const NoliMat3* F, const NoliMat3* W, NoliTangentProduct* product) {
  const NoliShells* self = noli_shells_of(block);
  NoliMat3 rest = directions_of(block, element, gradient);
  const NoliMembraneParameters change[2] = {
      shells_derivatives_derivative_of(block, element, true).parameters,
      shells_derivatives_derivative_of(block, element, false).parameters};
  noli_membrane_tangent_product(self->law[element], &self->parameters[element], change, &rest, F, W,
                                product);
}

static bool product_by_turn(const NoliBlock* block, int32_t element, const double* X,
                            const NoliVec3 gradient[4], const NoliMat3* F, const NoliMat3* W,
                            const NoliTangentProduct* product, NoliMat3* by_turn, double turn[9]) {
  if (!noli_shells_of(block)->def[element].woven) {
    return false;
  }
  NoliMat3 rest = directions_of(block, element, gradient);
  Frame frame = frame_of(block, element, X);
  turn_of_axis(block, element, &frame, turn);
  *by_turn = noli_membrane_product_by_turn(product, &rest, F, W);
  return true;
}

static void shells_bending_damping(const NoliBlock* block, int64_t stencil, const double* X,
                                   const double* y, const double* w, NoliBendingDamping* damping) {
  if (is_fold(block, stencil)) {
    FoldForce force = damped_fold(block, stencil, y, w);
    noli_folds_damping(&noli_shells_of(block)->folds, stencil, y, w, damping->force, damping->by_y);
    fold_by_rest(block, stencil, X, &force, false, 1.0, damping->by_rest);
    damping->element[0] = noli_shells_of(block)->folds.tri[2 * stencil];
    fold_by_moduli(block, stencil, X, &force, 1.0, damping->by_mu, damping->by_lambda);
    return;
  }
  double stiffness, by_y[144], by_rest[144];
  NoliHinges hinge = hinge_of(block, stencil, &stiffness);
  NoliBending bending = {.hinges = &hinge, .scale = 1.0};
  noli_bending_damping(&bending, 0, X, y, w, damping->force, by_y, by_rest);
  add_woven(block, &hinge, X, 12, damping->force, by_rest);
  shells_derivatives_spread(block, by_y, damping->by_y);
  shells_derivatives_spread(block, by_rest, damping->by_rest);
  memcpy(damping->element, hinge.tri, sizeof damping->element);
  hinge_by_moduli(block, &hinge, X, 12, damping->force, damping->by_mu, damping->by_lambda);
}

// ---- energies -----------------------------------------------------------------------------------

static void membrane_energy(const NoliBlock* block, int64_t t, const double* X, const double* x,
                            NoliEnergyDerivatives* to) {
  const NoliLocal by_mu = {.energy = to->by_mu}, by_lambda = {.energy = to->by_lambda};
  evaluate_by_modulus(block, t, true, x, 1.0, NOLI_EVAL_ENERGY, &by_mu);
  evaluate_by_modulus(block, t, false, x, 1.0, NOLI_EVAL_ENERGY, &by_lambda);
  if (!noli_shells_of(block)->def[t].woven) {
    return;
  }
  Frame frame = frame_of(block, t, X);
  NoliVec3 moved[3];
  double turn[9], by_turn = 0.0;
  turn_of_axis(block, t, &frame, turn);
  moved_by_turn(block, t, &frame, x, moved);
  for (int c = 0; c < 3; c++) {
    by_turn += noli_dot3(noli_load3(to->by_x + 3 * c), moved[c]);
  }
  for (int k = 0; k < 9; k++) {
    to->by_rest[k] += by_turn * turn[k];
  }
}

// The energy 1/2 turn . S turn changes by 1/2 turn . (dS turn + 2 S dturn).
static void fold_energy(const NoliBlock* block, int64_t f, const double* X, const double* x,
                        NoliEnergyDerivatives* to) {
  double turn[FOLD_HINGES], by_rest[FOLD_HINGES][FOLD_SIZE];
  NoliVec3 by_moduli[FOLD_HINGES];
  noli_folds_turns(&noli_shells_of(block)->folds, f, x, turn);
  moments_by_rest(block, f, X, turn, 2.0, by_rest);
  moments_by_moduli(block, f, X, turn, by_moduli);
  for (int i = 0; i < FOLD_HINGES; i++) {
    to->by_mu[0] += 0.5 * turn[i] * by_moduli[i].x;
    to->by_lambda[0] += 0.5 * turn[i] * by_moduli[i].y;
    for (int k = 0; k < FOLD_SIZE; k++) {
      to->by_rest[k] += 0.5 * turn[i] * by_rest[i][k];
    }
  }
}

static void shells_energy(const NoliBlock* block, NoliBlockPart part, int64_t stencil,
                          const double* X, const double* x, NoliEnergyDerivatives* to) {
  if (part == NOLI_PART_ELEMENTS) {
    membrane_energy(block, stencil, X, x, to);
    return;
  }
  if (is_fold(block, stencil)) {
    fold_energy(block, stencil, X, x, to);
    return;
  }
  double stiffness;
  NoliHinges hinge = hinge_of(block, stencil, &stiffness);
  const NoliBending bending = {.hinges = &hinge, .scale = 1.0};
  noli_bending_energy_by_rest(&bending, 0, X, x, to->by_rest);
  add_woven(block, &hinge, X, 1, &to->value, to->by_rest);
  hinge_by_moduli(block, &hinge, X, 1, &to->value, to->by_mu, to->by_lambda);
}

const NoliBlockDerivatives noli_shells_derivatives = {.by_moduli = by_moduli,
                                                      .energy = shells_energy,
                                                      .add_axis = add_axis,
                                                      .tangent_product = tangent_product,
                                                      .product_by_turn = product_by_turn,
                                                      .bending_by_rest = bending_by_rest,
                                                      .bending_damping = shells_bending_damping};
