#include "contact/implicit_surface/implicit_surface.h"

#include "linalg/energy_term.h"
#include "math/eigen.h"

#include <string.h>

// Triangles with areas below this times R^2 are ignored: their normal is rounding noise.
#define NO_AREA 1e-14

// One triangle (a, b, c) seen from p. Nodes: 0 is p, 1 .. 3 are a, b, c.
typedef struct Piece {
  double w;
  double first;      // dw = first r, by r = p - centroid
  double second;     // d2w = second r r^T + first I
  NoliVec3 r;        // p - centroid
  NoliVec3 u, v, s;  // b - a, c - a, p - a
  double f;          // A . r
  double area;       // |A|
  NoliVec3 vector;   // A
  NoliVec3 n;        // A / |A|
  NoliVec3 df[4];    // of f by the nodes
  NoliVec3 darea[4]; // of |A|; that by p is 0
} Piece;

// Derivatives of r by the nodes.
static const double share[4] = {1.0, -1.0 / 3.0, -1.0 / 3.0, -1.0 / 3.0};

double noli_patch_weight(double r_sqr, double radius) {
  double rest = 1.0 - r_sqr / (radius * radius);
  return rest > 0.0 ? rest * rest * rest : 0.0;
}

// With q = r^2 / R^2, w = (1 - q)^3: dw/dr = -6 (1 - q)^2 r / R^2.
static void implicit_surface_set_weight(Piece* piece, double radius) {
  double scale = 1.0 / (radius * radius), rest = 1.0 - noli_norm_sqr3(piece->r) * scale;
  rest = rest > 0.0 ? rest : 0.0;
  piece->w = rest * rest * rest;
  piece->first = -6.0 * rest * rest * scale;
  piece->second = 24.0 * rest * scale * scale;
}

// Value and weight of a triangle; false if it has no weight or no area.
static bool set_piece(const NoliPatch* patch, int32_t t, Piece* piece) {
  const int32_t* vertex = &patch->tri[3 * (int64_t)patch->triangle[t]];
  NoliVec3 p = noli_load3(&patch->x[3 * (int64_t)patch->point]);
  NoliVec3 a = noli_load3(&patch->x[3 * (int64_t)vertex[0]]);
  piece->u = noli_sub3(noli_load3(&patch->x[3 * (int64_t)vertex[1]]), a);
  piece->v = noli_sub3(noli_load3(&patch->x[3 * (int64_t)vertex[2]]), a);
  piece->s = noli_sub3(p, a);
  piece->r = noli_mul_add3(piece->s, -1.0 / 3.0, noli_add3(piece->u, piece->v));
  implicit_surface_set_weight(piece, patch->radius);
  piece->vector = noli_scale3(0.5, noli_cross3(piece->u, piece->v));
  piece->area = noli_norm3(piece->vector);
  if (piece->w == 0.0 || !(piece->area > NO_AREA * patch->radius * patch->radius)) {
    return false;
  }
  piece->n = noli_scale3(1.0 / piece->area, piece->vector);
  piece->f = noli_dot3(piece->vector, piece->s);
  return true;
}

// First derivatives: f = det(u, v, s) / 2 and |A| = |u x v| / 2.
static void implicit_surface_set_derivatives(Piece* piece) {
  piece->df[0] = piece->vector;
  piece->df[2] = noli_scale3(0.5, noli_cross3(piece->v, piece->s));
  piece->df[3] = noli_scale3(0.5, noli_cross3(piece->s, piece->u));
  piece->df[1] = noli_scale3(-1.0, noli_add3(piece->df[0], noli_add3(piece->df[2], piece->df[3])));
  piece->darea[0] = noli_vec3(0.0, 0.0, 0.0);
  piece->darea[2] = noli_scale3(0.5, noli_cross3(piece->v, piece->n));
  piece->darea[3] = noli_scale3(0.5, noli_cross3(piece->n, piece->u));
  piece->darea[1] = noli_scale3(-1.0, noli_add3(piece->darea[2], piece->darea[3]));
}

NoliPatchValue noli_patch_value(const NoliPatch* patch) {
  NoliPatchValue value = {0};
  NoliVec3 top = {0.0, 0.0, 0.0};
  double numerator = 0.0;
  for (int32_t t = 0; t < patch->n_triangle; t++) {
    Piece piece;
    if (!set_piece(patch, t, &piece)) {
      continue;
    }
    numerator += piece.w * piece.f;
    value.sum += piece.w * piece.area;
    top = noli_mul_add3(top, piece.f * piece.first, piece.r);
    top = noli_mul_add3(top, piece.w, piece.vector);
    value.by_sum = noli_mul_add3(value.by_sum, piece.area * piece.first, piece.r);
  }
  if (value.sum > 0.0) {
    value.d = numerator / value.sum;
    value.gradient = noli_scale3(1.0 / value.sum, noli_mul_add3(top, -value.d, value.by_sum));
  }
  return value;
}

NoliMat3 noli_patch_hessian_point(const NoliPatch* patch, const NoliPatchValue* value) {
  // (d2N - d d2S - grad d (x) grad S - grad S (x) grad d) / S with N the numerator, S the sum
  NoliMat3 both = noli_outer33(value->gradient, value->by_sum);
  NoliMat3 sum = noli_scale33(-1.0, noli_add33(both, noli_transpose33(both)));
  for (int32_t t = 0; t < patch->n_triangle; t++) {
    Piece piece;
    if (!set_piece(patch, t, &piece)) {
      continue;
    }
    double off = piece.f - value->d * piece.area;
    NoliMat3 mixed = noli_outer33(noli_scale3(piece.first, piece.r), piece.vector);
    sum = noli_add33(sum, noli_add33(mixed, noli_transpose33(mixed)));
    sum = noli_add33(sum, noli_scale33(off * piece.second, noli_outer33(piece.r, piece.r)));
    sum = noli_add33(sum, noli_scale33(off * piece.first, noli_identity3()));
  }
  return noli_scale33(1.0 / value->sum, sum);
}

// Node i of a triangle, as a node of the patch.
static int32_t node_of(const NoliPatch* patch, int32_t t, int32_t i) {
  return i == 0 ? 0 : patch->corner[3 * (int64_t)t + i - 1];
}

// Derivative of N - d S by node i of a triangle at fixed d, without the part through r.
static NoliVec3 by_shape(const Piece* piece, double d, int32_t i) {
  return noli_mul_add3(piece->df[i], -d, piece->darea[i]);
}

// Derivative of w |A| by node i of a triangle.
static NoliVec3 by_share(const Piece* piece, int32_t i) {
  NoliVec3 through_w = noli_scale3(piece->area * piece->first * share[i], piece->r);
  return noli_mul_add3(through_w, piece->w, piece->darea[i]);
}

// Derivative of N - d S at fixed d, which is S times that of d.
static NoliVec3 by_node(const Piece* piece, double d, int32_t i) {
  double off = piece->f - d * piece->area;
  return noli_mul_add3(noli_scale3(off * piece->first * share[i], piece->r), piece->w,
                       by_shape(piece, d, i));
}

static void implicit_surface_add_to(double* to, double scale, NoliVec3 a) {
  to[0] += scale * a.x;
  to[1] += scale * a.y;
  to[2] += scale * a.z;
}

void noli_patch_gradient(const NoliPatch* patch, const NoliPatchValue* value, double scale,
                         int32_t n_node, double* gradient) {
  memset(gradient, 0, 3 * sizeof(double) * (size_t)n_node);
  for (int32_t t = 0; t < patch->n_triangle; t++) {
    Piece piece;
    if (!set_piece(patch, t, &piece)) {
      continue;
    }
    implicit_surface_set_derivatives(&piece);
    for (int32_t i = 0; i < 4; i++) {
      implicit_surface_add_to(gradient + 3 * (int64_t)node_of(patch, t, i), scale / value->sum,
                              by_node(&piece, value->d, i));
    }
  }
}

void noli_patch_weights(const NoliPatch* patch, const NoliPatchValue* value, int32_t n_node,
                        double* weight) {
  memset(weight, 0, sizeof(double) * (size_t)n_node);
  weight[0] = 1.0;
  for (int32_t t = 0; t < patch->n_triangle; t++) {
    Piece piece;
    bool in_range = set_piece(patch, t, &piece);
    for (int32_t i = 1; i < 4 && in_range; i++) {
      weight[node_of(patch, t, i)] -= piece.w * piece.area / (3.0 * value->sum);
    }
  }
}

// Second derivatives of a function by (u, v, s): the blocks above the diagonal, and those of u and
// v on it. That of s is zero.
typedef struct ByDifferences {
  NoliMat3 uu, uv, us, vv, vs;
} ByDifferences;

// Second derivatives of f - d |A|. With U = d A / d u = -[v]x/2, V = [u]x/2 and Q = I - n n^T,
//   d2 |A| = (1 / |A|) (U, V)^T Q (U, V) + n . d2 A.
static ByDifferences shape_hessian(const Piece* piece, double d) {
  NoliMat3 U = noli_scale33(-0.5, noli_cross33(piece->v));
  NoliMat3 V = noli_scale33(0.5, noli_cross33(piece->u));
  NoliMat3 Q = noli_sub33(noli_identity3(), noli_outer33(piece->n, piece->n));
  double scale = -d / piece->area;
  return (ByDifferences){
      .uu = noli_scale33(scale, noli_transpose_mul33(U, noli_mul33(Q, U))),
      .uv = noli_add33(noli_scale33(scale, noli_transpose_mul33(U, noli_mul33(Q, V))),
                       noli_scale33(-0.5, noli_cross33(noli_mul_add3(piece->s, -d, piece->n)))),
      .us = noli_scale33(0.5, noli_cross33(piece->v)),
      .vv = noli_scale33(scale, noli_transpose_mul33(V, noli_mul33(Q, V))),
      .vs = noli_scale33(-0.5, noli_cross33(piece->u)),
  };
}

// Converts to the 4 x 4 blocks of the nodes p, a, b, c: u, v, s are b - a, c - a, p - a.
static void to_nodes(const ByDifferences* h, NoliMat3 block[4][4]) {
  NoliMat3 row[3][3] = {{h->uu, h->uv, h->us},
                        {noli_transpose33(h->uv), h->vv, h->vs},
                        {noli_transpose33(h->us), noli_transpose33(h->vs), {{{0.0}}}}};
  static const int32_t node[3] = {2, 3, 0};
  for (int32_t i = 0; i < 3; i++) {
    NoliMat3 sum = {{{0.0}}};
    for (int32_t j = 0; j < 3; j++) {
      block[node[i]][node[j]] = row[i][j];
      sum = noli_sub33(sum, row[i][j]);
    }
    block[node[i]][1] = sum;
    block[1][node[i]] = noli_transpose33(sum);
  }
  block[1][1] = noli_scale33(-1.0, noli_add33(block[1][0], noli_add33(block[1][2], block[1][3])));
}

static double* block_at(double* blocks, int32_t n_node, int32_t a, int32_t b) {
  return blocks + 9 * (int64_t)noli_stencil_block(n_node, a, b);
}

static void implicit_surface_add_block(double* to, double scale, const NoliMat3* a,
                                       bool transposed) {
  for (int32_t r = 0; r < 3; r++) {
    for (int32_t c = 0; c < 3; c++) {
      to[3 * r + c] += scale * (transposed ? a->m[c][r] : a->m[r][c]);
    }
  }
}

// Second derivatives of N - d S of one triangle at fixed d, by nodes i and j.
typedef struct PieceHessian {
  NoliMat3 by_r; // through the weight of p - centroid
  NoliMat3 shape[4][4];
} PieceHessian;

static PieceHessian piece_hessian(const Piece* piece, double d) {
  PieceHessian hessian;
  ByDifferences shape = shape_hessian(piece, d);
  double off = piece->f - d * piece->area;
  to_nodes(&shape, hessian.shape);
  hessian.by_r = noli_add33(noli_scale33(off * piece->second, noli_outer33(piece->r, piece->r)),
                            noli_scale33(off * piece->first, noli_identity3()));
  return hessian;
}

static NoliMat3 piece_block(const Piece* piece, const PieceHessian* hessian, double d, int32_t i,
                            int32_t j) {
  NoliVec3 w_i = noli_scale3(piece->first * share[i], piece->r);
  NoliVec3 w_j = noli_scale3(piece->first * share[j], piece->r);
  NoliMat3 sum = noli_scale33(share[i] * share[j], hessian->by_r);
  sum = noli_add33(sum, noli_scale33(piece->w, hessian->shape[i][j]));
  sum = noli_add33(sum, noli_outer33(w_i, by_shape(piece, d, j)));
  return noli_add33(sum, noli_outer33(by_shape(piece, d, i), w_j));
}

// Adds `scale` times the second derivative of N - d S of one triangle at fixed d.
static void add_piece(const NoliPatch* patch, int32_t t, const Piece* piece, double d, double scale,
                      int32_t n_node, double* blocks) {
  PieceHessian hessian = piece_hessian(piece, d);
  for (int32_t i = 0; i < 4; i++) {
    for (int32_t j = 0; j < 4; j++) {
      int32_t a = node_of(patch, t, i), b = node_of(patch, t, j);
      // each pair of nodes once
      if (a > b || (a == b && i != j)) {
        continue;
      }
      NoliMat3 sum = piece_block(piece, &hessian, d, i, j);
      implicit_surface_add_block(block_at(blocks, n_node, a, b), scale, &sum, false);
    }
  }
}

void noli_patch_share_gradient(const NoliPatch* patch, int32_t t, NoliVec3 gradient[4]) {
  Piece piece;
  bool in_range = set_piece(patch, t, &piece);
  if (in_range) {
    implicit_surface_set_derivatives(&piece);
  }
  for (int32_t i = 0; i < 4; i++) {
    gradient[i] = in_range ? noli_scale3(1.0 / 3.0, by_share(&piece, i)) : noli_vec3(0, 0, 0);
  }
}

// The mean x - x_hat of the vertices of a triangle.
static NoliVec3 mean_motion(const NoliPatch* patch, int32_t t, const double* x_hat) {
  NoliVec3 sum = {0.0, 0.0, 0.0};
  for (int32_t k = 0; k < 3; k++) {
    int64_t at = 3 * (int64_t)patch->tri[3 * (int64_t)patch->triangle[t] + k];
    sum =
        noli_mul_add3(sum, 1.0 / 3.0, noli_sub3(noli_load3(patch->x + at), noli_load3(x_hat + at)));
  }
  return sum;
}

NoliVec3 noli_patch_average(const NoliPatch* patch, const NoliPatchValue* value,
                            const double* x_hat) {
  NoliVec3 sum = {0.0, 0.0, 0.0};
  for (int32_t t = 0; t < patch->n_triangle; t++) {
    Piece piece;
    if (set_piece(patch, t, &piece)) {
      sum = noli_mul_add3(sum, piece.w * piece.area / value->sum, mean_motion(patch, t, x_hat));
    }
  }
  return sum;
}

// Adds the contribution of a triangle to the sums over triangles.
static void add_to_nodes(const NoliPatch* patch, const NoliPatchValue* value, const double* x_hat,
                         int32_t t, const Piece* piece, NoliPatchNode* node) {
  PieceHessian hessian = piece_hessian(piece, value->d);
  NoliVec3 moved = mean_motion(patch, t, x_hat);
  for (int32_t j = 0; j < 4; j++) {
    NoliPatchNode* to = &node[node_of(patch, t, j)];
    NoliVec3 by_sum = by_share(piece, j);
    NoliMat3 row = piece_block(piece, &hessian, value->d, 0, j);
    to->weight -= j > 0 ? piece->w * piece->area / (3.0 * value->sum) : 0.0;
    to->by_d = noli_mul_add3(to->by_d, 1.0 / value->sum, by_node(piece, value->d, j));
    to->by_sum = noli_add3(to->by_sum, by_sum);
    to->by_gradient = noli_add33(to->by_gradient, row);
    to->by_moved = noli_sub33(to->by_moved, noli_outer33(moved, by_sum));
  }
}

void noli_patch_nodes(const NoliPatch* patch, const NoliPatchValue* value, const double* x_hat,
                      int32_t n_node, NoliPatchNode* node) {
  memset(node, 0, (size_t)n_node * sizeof *node);
  node[0].weight = 1.0;
  for (int32_t t = 0; t < patch->n_triangle; t++) {
    Piece piece;
    if (set_piece(patch, t, &piece)) {
      implicit_surface_set_derivatives(&piece);
      add_to_nodes(patch, value, x_hat, t, &piece, node);
    }
  }

  // quotients: of d by S, and of the weighted motion by S
  NoliVec3 surface = noli_patch_average(patch, value, x_hat);
  double over = 1.0 / value->sum;
  for (int32_t j = 0; j < n_node; j++) {
    NoliMat3 both = noli_add33(noli_outer33(value->gradient, node[j].by_sum),
                               noli_outer33(value->by_sum, node[j].by_d));
    node[j].by_gradient = noli_scale33(over, noli_sub33(node[j].by_gradient, both));
    node[j].by_moved =
        noli_scale33(over, noli_add33(node[j].by_moved, noli_outer33(surface, node[j].by_sum)));
  }
}

// The factors of the outer products of a block, for each of its nodes: grad d, and either grad S or
// the node's weight.
typedef struct NodeParts {
  NoliVec3 gradient;
  NoliVec3 by_sum;
  double weight;
} NodeParts;

// The blocks are the only memory: those of row 0 hold the parts of their column until they are
// overwritten.
static NodeParts parts_at(double* blocks, int32_t n_node, int32_t b) {
  const double* kept = block_at(blocks, n_node, 0, b);
  return (NodeParts){noli_load3(kept), noli_load3(kept + 3), kept[6]};
}

static void keep_parts(const NoliPatch* patch, const NoliPatchValue* value, int32_t n_node,
                       double* blocks) {
  memset(blocks, 0, 9 * sizeof(double) * (size_t)n_node);
  block_at(blocks, n_node, 0, 0)[6] = 1.0;
  for (int32_t t = 0; t < patch->n_triangle; t++) {
    Piece piece;
    if (!set_piece(patch, t, &piece)) {
      continue;
    }
    implicit_surface_set_derivatives(&piece);
    for (int32_t i = 0; i < 4; i++) {
      double* kept = block_at(blocks, n_node, 0, node_of(patch, t, i));
      implicit_surface_add_to(kept, 1.0 / value->sum, by_node(&piece, value->d, i));
      implicit_surface_add_to(kept + 3, 1.0, by_share(&piece, i));
      kept[6] -= i > 0 ? piece.w * piece.area / (3.0 * value->sum) : 0.0;
    }
  }
}

// b'' grad d grad d^T, and b' times the outer products of the exact Hessian, or the weights.
static void outer_block(const NodeParts* a, const NodeParts* b, double first_over_sum,
                        double second, const NoliMat3* projection, double* to) {
  NoliMat3 sum = noli_scale33(second, noli_outer33(a->gradient, b->gradient));
  if (projection != NULL) {
    sum = noli_add33(sum, noli_scale33(a->weight * b->weight, *projection));
  } else {
    NoliMat3 mixed =
        noli_add33(noli_outer33(a->gradient, b->by_sum), noli_outer33(a->by_sum, b->gradient));
    sum = noli_sub33(sum, noli_scale33(first_over_sum, mixed));
  }
  noli_store33(to, &sum);
}

void noli_patch_hessian(const NoliPatch* patch, const NoliPatchValue* value, double first,
                        double second, bool projected, int32_t n_node, double* blocks) {
  NoliMat3 projection = noli_scale33(first, noli_patch_hessian_point(patch, value));
  if (projected) {
    noli_project_psd(3, &projection.m[0][0]);
  }
  const NoliMat3* given = projected ? &projection : NULL;

  // outer products, row 0 last because it holds the parts
  keep_parts(patch, value, n_node, blocks);
  for (int32_t a = n_node - 1; a >= 0; a--) {
    NodeParts of_a = parts_at(blocks, n_node, a);
    for (int32_t b = n_node - 1; b >= a; b--) {
      NodeParts of_b = parts_at(blocks, n_node, b);
      outer_block(&of_a, &of_b, first / value->sum, second, given, block_at(blocks, n_node, a, b));
    }
  }

  // the exact Hessian adds the second derivatives of each triangle
  for (int32_t t = 0; !projected && t < patch->n_triangle; t++) {
    Piece piece;
    if (set_piece(patch, t, &piece)) {
      implicit_surface_set_derivatives(&piece);
      add_piece(patch, t, &piece, value->d, first / value->sum, n_node, blocks);
    }
  }
}

NoliPenalty noli_penalty(double d, double delta, double kappa) {
  double deep = delta - d;
  if (!(deep > 0.0)) {
    // zero beyond delta; NaN stays NaN
    return isnan(d) ? (NoliPenalty){d, d, d} : (NoliPenalty){0.0, 0.0, 0.0};
  }
  double scale = kappa / delta;
  return (NoliPenalty){scale * deep * deep * deep, -3.0 * scale * deep * deep, 6.0 * scale * deep};
}
