// How the forces of shells change with rest shapes and moduli.
#include "fem/block_shells.h"
#include "fem/element_slopes.h"

#include "math/vec3.h"

#include <math.h>
#include <string.h>

// ---- rest positions -----------------------------------------------------------------------------

const char* noli_shells_rest_defect(const NoliBlock* block) {
  const NoliShells* self = noli_shells_of(block);
  if (self->folds.n_fold > 0) {
    return "the bending law \"plate\" is not differentiated by rest positions: use \"hinges\"";
  }
  return NULL;
}

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
    NoliVec3 slope = noli_scale3(out * noli_dot3(frame->b, frame->gradient[c]) / along, frame->n);
    if (!projected) {
      double sign = c == 0 ? -1.0 : c == 1 ? 1.0 : 0.0;
      slope = noli_scale3(sign / noli_norm3(edge), frame->b);
    }
    noli_store3(by + 3 * c, slope);
  }
}

// A turn of the axis by d changes F by d (F_1, -F_0) and the gradient (B_0, B_1) of a shape
// function by d (B_1, -B_0): the first is that of displacements d (F_1 X_0 - F_0 X_1).
void noli_shells_add_axis_slope(const NoliBlock* block, int64_t element, const double* X,
                                const double* x, const double* gradient, const double* hessian,
                                double* slope) {
  const NoliShells* self = noli_shells_of(block);
  if (!self->def[element].woven) {
    return;
  }
  Frame frame = frame_of(block, element, X);
  NoliSheet F = noli_triangles_deformation(&self->triangles, element, x);
  NoliVec3 force[2] = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}}, moved[3]; // V P by columns
  double by[9];
  turn_of_axis(block, element, &frame, by);
  for (int c = 0; c < 3; c++) {
    NoliVec3 from = noli_sub3(frame.corner[c], frame.corner[0]);
    double along = noli_dot3(from, frame.a), across = noli_dot3(from, frame.b);
    force[0] = noli_mul_add3(force[0], along, noli_load3(gradient + 3 * c));
    force[1] = noli_mul_add3(force[1], across, noli_load3(gradient + 3 * c));
    moved[c] = noli_sub3(noli_scale3(along, F.f[1]), noli_scale3(across, F.f[0]));
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
      slope[9 * (3 * a + k / 9) + k % 9] += out[k / 9] * by[k % 9];
    }
  }
}

// How the stiffness of a hinge between woven triangles changes with its nodes (12), by the
// directions of their axes.
static void add_direction_slope(const NoliBlock* block, int64_t hinge, int k, const double* X,
                                double by[12]) {
  const NoliShells* self = noli_shells_of(block);
  const int32_t* node = self->hinges.node + 4 * hinge;
  int64_t t = self->hinges.tri[2 * hinge + k];
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

// Adds the part of the directions.
static void add_woven(const NoliBlock* block, int64_t hinge, const double* X, const double* x,
                      double scale, double* slope) {
  const NoliHinges* hinges = &noli_shells_of(block)->hinges;
  NoliBending bending = {.hinges = hinges, .scale = scale};
  double gradient[12], by[12] = {0.0}, stiffness = hinges->stiffness[hinge];
  const NoliLocal out = {.gradient = noli_local_from(gradient, 12 * hinge)};
  noli_bending_evaluate(&bending, x, hinge, hinge + 1, NOLI_EVAL_GRADIENT, &out);
  for (int k = 0; k < 2; k++) {
    add_direction_slope(block, hinge, k, X, by);
  }
  for (int i = 0; i < 144 && stiffness > 0.0; i++) {
    slope[i] += gradient[i / 12] / stiffness * by[i % 12];
  }
}

void noli_shells_bending_by_rest(const NoliBlock* block, int64_t stencil, const double* X,
                                 const double* x, double scale, double* slope) {
  NoliBending scaled = {.hinges = &noli_shells_of(block)->hinges, .scale = scale};
  noli_bending_by_rest(&scaled, stencil, X, x, slope);
  if (noli_shells_of(block)->def[scaled.hinges->tri[2 * stencil]].woven) {
    add_woven(block, stencil, X, x, scale, slope);
  }
}

// ---- moduli -------------------------------------------------------------------------------------

// Derivatives of what an element is made of, by mu or lambda.
typedef struct Slope {
  NoliMembraneParameters parameters; // in which forces are linear, but for the limits
  double along[2];                   // N m, of its plate
} Slope;

static Slope slope_of(const NoliBlock* block, int32_t t, bool by_mu) {
  const NoliShells* self = noli_shells_of(block);
  const NoliShellDef* def = &self->def[t];
  double mu = block->lame_mu[t], lambda = block->lame_lambda[t], sum = lambda + mu;
  double young = mu * (3.0 * lambda + 2.0 * mu) / sum, poisson = 0.5 * lambda / sum;
  double d_young =
      by_mu ? (3.0 * lambda + 2.0 * mu) / sum - mu * lambda / (sum * sum) : mu * mu / (sum * sum);
  double d_poisson = (by_mu ? -0.5 * lambda : 0.5 * mu) / (sum * sum);
  double plane = lambda + 2.0 * mu, side = by_mu ? lambda : mu;
  Slope slope = {.parameters = self->parameters[t]};
  NoliMembraneParameters* own = &slope.parameters;
  own->lame.mu = by_mu ? 1.0 : 0.0;
  own->lame.lambda = (by_mu ? 2.0 : 4.0) * side * side / (plane * plane);
  own->warp = d_young;
  own->weft = def->weft * d_young;
  own->shear = def->shear > 0.0 || !by_mu ? 0.0 : 1.0;
  own->limit_stiffness *= d_young / young;
  double cube = self->thickness[t] * self->thickness[t] * self->thickness[t] / 12.0;
  double less = 1.0 - poisson * poisson;
  slope.along[0] =
      def->bending * cube / less * (d_young + 2.0 * young * poisson * d_poisson / less);
  slope.along[1] = (def->woven ? def->weft : 1.0) * slope.along[0];
  return slope;
}

static void membrane_by_moduli(const NoliBlock* block, int64_t t, const double* x, double scale,
                               double* by_mu, double* by_lambda) {
  const NoliShells* self = noli_shells_of(block);
  const NoliTriangles one = {.n_tri = 1,
                             .tri = self->triangles.tri + 3 * t,
                             .rest_inverse = self->triangles.rest_inverse + 4 * t,
                             .axis = self->triangles.axis + 3 * t,
                             .area = self->triangles.area + t};
  for (int which = 0; which < 2; which++) {
    Slope slope = slope_of(block, (int32_t)t, which == 0);
    double gradient[9], *to = which == 0 ? by_mu : by_lambda;
    const NoliMembrane membrane = {.triangles = &one,
                                   .law = self->law + t,
                                   .parameters = &slope.parameters,
                                   .thickness = self->thickness + t,
                                   .scale = scale};
    const NoliLocal out = {.gradient = gradient};
    noli_membrane_evaluate(&membrane, x, 0, 1, NOLI_EVAL_GRADIENT, &out);
    for (int i = 0; i < 9; i++) {
      to[2 * i] = gradient[i];
    }
  }
}

// How the stiffness of a hinge with these nodes and triangles changes with a modulus of triangle k.
static double stiffness_slope(const NoliBlock* block, const int32_t* node, const int32_t* tri,
                              int k, bool by_mu, const double* X) {
  const NoliShells* self = noli_shells_of(block);
  const double none[2] = {0.0, 0.0};
  Slope slope = slope_of(block, tri[k], by_mu);
  const double* const axis[2] = {self->triangles.axis + 3 * (int64_t)tri[0],
                                 self->triangles.axis + 3 * (int64_t)tri[1]};
  const double* const plate[2] = {k == 0 ? slope.along : none, k == 1 ? slope.along : none};
  return noli_hinge_stiffness(node, X, axis, plate);
}

// Of the logarithm of the stiffness, by the moduli of both triangles.
static void hinge_moduli(const NoliBlock* block, const int32_t* node, const int32_t* tri,
                         double stiffness, const double* X, double mu[2], double lambda[2]) {
  for (int k = 0; k < 2; k++) {
    bool any = stiffness > 0.0;
    mu[k] = any ? stiffness_slope(block, node, tri, k, true, X) / stiffness : 0.0;
    lambda[k] = any ? stiffness_slope(block, node, tri, k, false, X) / stiffness : 0.0;
  }
}

static void add_moduli(const double mu[2], const double lambda[2], const double* gradient, int n,
                       double* by_mu, double* by_lambda) {
  for (int i = 0; i < 2 * n; i++) {
    by_mu[i] = mu[i % 2] * gradient[i / 2];
    by_lambda[i] = lambda[i % 2] * gradient[i / 2];
  }
}

// Of a fold that is a lone hinge.
static void lone_hinge_moduli(const NoliBlock* block, int64_t f, const double* X, double mu[2],
                              double lambda[2]) {
  const NoliFolds* folds = &noli_shells_of(block)->folds;
  const int8_t* local = folds->hinge + 4 * NOLI_FOLD_HINGES * f;
  double root = folds->root[3 * NOLI_FOLD_HINGES * f];
  int32_t node[4];
  for (int a = 0; a < 4; a++) {
    node[a] = folds->node[NOLI_FOLD_NODES * f + local[a]];
  }
  hinge_moduli(block, node, folds->tri + 2 * f, root * root, X, mu, lambda);
}

// Of a fold: with Poisson's ratio as it is, in proportion to the moduli of its triangle.
static void fold_by_moduli(const NoliBlock* block, int64_t f, const double* X,
                           const double* gradient, double* by_mu, double* by_lambda) {
  const int32_t* tri = noli_shells_of(block)->folds.tri + 2 * f;
  double mu[2] = {1.0 / block->lame_mu[tri[0]], 0.0}, lambda[2] = {0.0, 0.0};
  if (tri[0] != tri[1]) {
    lone_hinge_moduli(block, f, X, mu, lambda);
  }
  add_moduli(mu, lambda, gradient, 3 * NOLI_FOLD_NODES, by_mu, by_lambda);
}

void noli_shells_by_moduli(const NoliBlock* block, NoliBlockPart part, int64_t stencil,
                           const double* X, const double* x, double scale, int32_t element[2],
                           double* by_mu, double* by_lambda) {
  const NoliShells* self = noli_shells_of(block);
  if (part == NOLI_PART_ELEMENTS) {
    element[0] = (int32_t)stencil;
    membrane_by_moduli(block, stencil, x, scale, by_mu, by_lambda);
    return;
  }
  NoliBlockStencils stencils = noli_block_stencils(block, part);
  NoliBlockEnergy energy = {.block = block, .part = part, .scale = scale};
  bool folds = self->folds.n_fold > 0;
  const int32_t* tri = (folds ? self->folds.tri : self->hinges.tri) + 2 * stencil;
  double gradient[3 * NOLI_FOLD_NODES];
  const NoliLocal out = {.gradient = noli_local_from(gradient, 3 * stencils.size * stencil)};
  stencils.evaluate(&energy, x, stencil, stencil + 1, NOLI_EVAL_GRADIENT, &out);
  element[0] = tri[0];
  element[1] = tri[1] != tri[0] ? tri[1] : NOLI_NULL_INDEX;
  if (folds) {
    fold_by_moduli(block, stencil, X, gradient, by_mu, by_lambda);
  } else {
    double mu[2], lambda[2];
    hinge_moduli(block, self->hinges.node + 4 * stencil, tri, self->hinges.stiffness[stencil], X,
                 mu, lambda);
    add_moduli(mu, lambda, gradient, 12, by_mu, by_lambda);
  }
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

void noli_shells_tangent_product(const NoliBlock* block, int32_t element,
                                 const NoliVec3 gradient[4], const NoliMat3* F, const NoliMat3* W,
                                 NoliTangentProduct* product) {
  const NoliShells* self = noli_shells_of(block);
  NoliMat3 rest = directions_of(block, element, gradient);
  const NoliMembraneParameters change[2] = {slope_of(block, element, true).parameters,
                                            slope_of(block, element, false).parameters};
  noli_membrane_tangent_product(self->law[element], &self->parameters[element], change, &rest, F, W,
                                product);
}

bool noli_shells_product_by_turn(const NoliBlock* block, int32_t element, const double* X,
                                 const NoliVec3 gradient[4], const NoliMat3* F, const NoliMat3* W,
                                 const NoliTangentProduct* product, NoliMat3* by_turn,
                                 double turn[9]) {
  if (!noli_shells_of(block)->def[element].woven) {
    return false;
  }
  NoliMat3 rest = directions_of(block, element, gradient);
  Frame frame = frame_of(block, element, X);
  turn_of_axis(block, element, &frame, turn);
  *by_turn = noli_membrane_product_by_turn(product, &rest, F, W);
  return true;
}

static void fold_damping(const NoliBlock* block, int64_t f, const double* X, const double* y,
                         const double* w, NoliBendingDamping* damping) {
  const NoliFolds* folds = &noli_shells_of(block)->folds;
  const int32_t* tri = folds->tri + 2 * f;
  noli_folds_damping(folds, f, y, w, damping->force, damping->by_y);
  damping->element[0] = tri[0];
  damping->element[1] = tri[0] != tri[1] ? tri[1] : NOLI_NULL_INDEX;
  fold_by_moduli(block, f, X, damping->force, damping->by_mu, damping->by_lambda);
}

void noli_shells_bending_damping(const NoliBlock* block, int64_t stencil, const double* X,
                                 const double* y, const double* w, NoliBendingDamping* damping) {
  if (noli_shells_of(block)->folds.n_fold > 0) {
    fold_damping(block, stencil, X, y, w, damping);
    return;
  }
  const NoliHinges* hinges = &noli_shells_of(block)->hinges;
  const NoliBending bending = {.hinges = hinges, .scale = 1.0};
  const int32_t* tri = hinges->tri + 2 * stencil;
  noli_bending_damping(&bending, stencil, X, y, w, damping->force, damping->by_y, damping->by_rest);
  memcpy(damping->element, tri, sizeof damping->element);
  double by[12] = {0.0}, stiffness = hinges->stiffness[stencil], mu[2], lambda[2];
  hinge_moduli(block, hinges->node + 4 * stencil, tri, stiffness, X, mu, lambda);
  add_moduli(mu, lambda, damping->force, 12, damping->by_mu, damping->by_lambda);
  for (int k = 0; noli_shells_of(block)->def[tri[0]].woven && k < 2; k++) {
    add_direction_slope(block, stencil, k, X, by);
  }
  for (int i = 0; i < 144 && stiffness > 0.0; i++) {
    damping->by_rest[i] += damping->force[i / 12] / stiffness * by[i % 12];
  }
}
