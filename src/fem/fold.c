#include "fem/fold.h"

#include "math/dual.h"
#include "math/eigen.h"
#include "math/vec3.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

// Eigenvalues below this share of the largest count as it: where the hinges around an edge cannot
// tell curvatures apart.
#define LEAST_SHARE 1e-4

enum { NODES = NOLI_FOLD_NODES, HINGES = NOLI_FOLD_HINGES, BLOCKS = NODES * (NODES + 1) / 2 };

// ---- energy -------------------------------------------------------------------------------------

static void hinge_positions(const int32_t* node, const int8_t* local, const double* x,
                            double at[12]) {
  for (int a = 0; a < 4; a++) {
    memcpy(at + 3 * a, x + 3 * (int64_t)node[local[a]], 3 * sizeof *at);
  }
}

void noli_folds_turns(const NoliFolds* folds, int64_t f, const double* x, double turn[HINGES]) {
  for (int i = 0; i < HINGES; i++) {
    const int8_t* local = folds->hinge + 4 * (HINGES * f + i);
    turn[i] = 0.0;
    if (local[0] >= 0) {
      double at[12];
      hinge_positions(folds->node + NODES * f, local, x, at);
      turn[i] = remainder(noli_hinge_angle(at) - folds->rest[HINGES * f + i], 2.0 * PI);
    }
  }
}

void noli_folds_gradients(const NoliFolds* folds, int64_t f, const double* x,
                          double gradient[HINGES][3 * NODES]) {
  memset(gradient, 0, HINGES * sizeof *gradient);
  for (int i = 0; i < HINGES; i++) {
    const int8_t* local = folds->hinge + 4 * (HINGES * f + i);
    double at[12], own[12];
    if (local[0] < 0) {
      continue;
    }
    hinge_positions(folds->node + NODES * f, local, x, at);
    noli_hinge_derivatives(at, own, NULL);
    for (int k = 0; k < 12; k++) {
      gradient[i][3 * local[k / 3] + k % 3] = own[k];
    }
  }
}

static void add_curved(const int8_t* local, double moment, const double hessian[144],
                       double* blocks) {
  for (int p = 0; p < 4; p++) {
    for (int q = 0; q < 4; q++) {
      if (local[p] > local[q]) {
        continue;
      }
      double* block = blocks + 9 * noli_stencil_block(NODES, local[p], local[q]);
      for (int k = 0; k < 9; k++) {
        block[k] += moment * hessian[12 * (3 * p + k / 3) + 3 * q + k % 3];
      }
    }
  }
}

// scale J^T J by blocks.
static void write_products(double J[3][3 * NODES], double scale, double* blocks) {
  for (int a = 0; a < NODES; a++) {
    for (int b = a; b < NODES; b++, blocks += 9) {
      for (int k = 0; k < 9; k++) {
        int row = 3 * a + k / 3, column = 3 * b + k % 3;
        blocks[k] = scale * (J[0][row] * J[0][column] + J[1][row] * J[1][column] +
                             J[2][row] * J[2][column]);
      }
    }
  }
}

// Gradient and Hessian of a fold with root turn = `strain`.
static void write_derivatives(const NoliFoldBending* bending, int64_t f, const double* x,
                              const double strain[3], unsigned what, const NoliLocal* out) {
  const NoliFolds* folds = bending->folds;
  const double* root = folds->root + 3 * HINGES * f;
  double J[3][3 * NODES] = {{0}}, scale = bending->scale, curved[9 * BLOCKS];
  bool plain = (what & NOLI_EVAL_HESSIAN) != 0;
  memset(curved, 0, plain ? sizeof curved : 0);
  for (int i = 0; i < HINGES; i++) {
    const int8_t* local = folds->hinge + 4 * (HINGES * f + i);
    double moment = 0.0, size = 0.0, at[12], gradient[12], hessian[144];
    for (int r = 0; r < 3; r++) {
      moment += root[HINGES * r + i] * strain[r];
      size += fabs(root[HINGES * r + i]);
    }
    if (size == 0.0) {
      continue;
    }
    hinge_positions(folds->node + NODES * f, local, x, at);
    noli_hinge_derivatives(at, gradient, plain ? hessian : NULL);
    for (int k = 0; k < 12; k++) {
      for (int r = 0; r < 3; r++) {
        J[r][3 * local[k / 3] + k % 3] += root[HINGES * r + i] * gradient[k];
      }
    }
    if (plain) {
      add_curved(local, scale * moment, hessian, curved);
    }
  }

  if (what & NOLI_EVAL_GRADIENT) {
    for (int k = 0; k < 3 * NODES; k++) {
      out->gradient[3 * NODES * f + k] =
          scale * (strain[0] * J[0][k] + strain[1] * J[1][k] + strain[2] * J[2][k]);
    }
  }
  if (what & (NOLI_EVAL_HESSIAN | NOLI_EVAL_PROJECTED)) {
    double* blocks = out->hessian + 9 * BLOCKS * f;
    write_products(J, scale, blocks);
    for (int k = 0; k < 9 * BLOCKS && plain; k++) {
      blocks[k] += curved[k];
    }
  }
}

void noli_folds_evaluate(const void* data, const double* x, int64_t begin, int64_t end,
                         unsigned what, const NoliLocal* out) {
  const NoliFoldBending* bending = data;
  for (int64_t f = begin; f < end; f++) {
    const double* root = bending->folds->root + 3 * HINGES * f;
    double turn[HINGES], strain[3] = {0};
    noli_folds_turns(bending->folds, f, x, turn);
    for (int k = 0; k < 3 * HINGES; k++) {
      strain[k / HINGES] += root[k] * turn[k % HINGES];
    }
    if (what & NOLI_EVAL_ENERGY) {
      out->energy[f] = 0.5 * bending->scale *
                       (strain[0] * strain[0] + strain[1] * strain[1] + strain[2] * strain[2]);
    }
    if (what & ~(unsigned)NOLI_EVAL_ENERGY) {
      write_derivatives(bending, f, x, strain, what, out);
    }
  }
}

// With the rows J_r = sum_i root_ri g_i of gradients of angles, the product is sum_r (J_r . w) J_r.
// It changes with the Hessians H_i of angles by
//   sum_i (sum_r root_ri J_r . w) H_i + sum_r J_r (sum_i root_ri H_i w)^T.
void noli_folds_damping(const NoliFolds* folds, int64_t f, const double* y, const double* w,
                        double* force, double* by_y) {
  enum { SIZE = 3 * NODES };
  const double* root = folds->root + 3 * HINGES * f;
  double J[3][SIZE] = {{0}}, turned[3][SIZE] = {{0}}, along[3] = {0};
  double hessian[HINGES][144];
  for (int i = 0; i < HINGES; i++) {
    const int8_t* local = folds->hinge + 4 * (HINGES * f + i);
    double at[12], gradient[12];
    if (local[0] < 0) {
      continue;
    }
    hinge_positions(folds->node + NODES * f, local, y, at);
    noli_hinge_derivatives(at, gradient, hessian[i]);
    for (int k = 0; k < 12; k++) {
      int own = 3 * local[k / 3] + k % 3;
      double sum = 0.0;
      for (int l = 0; l < 12; l++) {
        sum += hessian[i][12 * k + l] * w[3 * local[l / 3] + l % 3];
      }
      for (int r = 0; r < 3; r++) {
        J[r][own] += root[HINGES * r + i] * gradient[k];
        turned[r][own] += root[HINGES * r + i] * sum;
      }
    }
  }
  for (int k = 0; k < 3 * SIZE; k++) {
    along[k / SIZE] += J[k / SIZE][k % SIZE] * w[k % SIZE];
  }
  for (int k = 0; k < SIZE * SIZE; k++) {
    for (int r = 0; r < 3; r++) {
      by_y[k] += J[r][k / SIZE] * turned[r][k % SIZE];
    }
  }
  for (int k = 0; k < SIZE; k++) {
    force[k] = along[0] * J[0][k] + along[1] * J[1][k] + along[2] * J[2][k];
  }
  for (int i = 0; i < HINGES; i++) {
    const int8_t* local = folds->hinge + 4 * (HINGES * f + i);
    double moment = 0.0;
    for (int r = 0; r < 3; r++) {
      moment += root[HINGES * r + i] * along[r];
    }
    for (int k = 0; k < 144 && local[0] >= 0; k++) {
      int row = 3 * local[k / 36] + k / 12 % 3, column = 3 * local[k % 12 / 3] + k % 3;
      by_y[SIZE * row + column] += moment * hessian[i][k];
    }
  }
}

// ---- hinges under constant curvature ------------------------------------------------------------

// In the plane of a triangle, where its neighbours are laid out.
typedef struct Point {
  NoliDual x, y;
} Point;

// Curvatures are (k11, k22, sqrt(2) k12) here, so that their product is that of tensors.
typedef struct Response {
  bool exists;
  NoliDual angle[3];  // of the hinge
  NoliDual share[3];  // that of its first triangle, with the sheet at the middle of the edge
  NoliDual normal[3]; // n n^T
  NoliDual length;
} Response;

static Point apart(Point a, Point b) {
  return (Point){noli_dual_sub(a.x, b.x), noli_dual_sub(a.y, b.y)};
}

// The symmetric part of a b^T.
static void tensor(Point a, Point b, NoliDual out[3]) {
  out[0] = noli_dual_mul(a.x, b.x);
  out[1] = noli_dual_mul(a.y, b.y);
  out[2] = noli_dual_products(a.x, b.y, a.y, b.x);
  out[2] = noli_dual_scale(sqrt(0.5), out[2]);
}

// Position of the third node of a triangle on the right of the edge a to b; `at` are positions of
// the ends and of the third node in space.
static Point lay_out(Point a, Point b, NoliDual3 at_a, NoliDual3 at_b, NoliDual3 third) {
  NoliDual3 edge = noli_dual_sub3(at_b, at_a), side = noli_dual_sub3(third, at_a);
  NoliDual length_sqr = noli_dual_dot3(edge, edge);
  NoliDual along = noli_dual_div(noli_dual_dot3(edge, side), length_sqr);
  NoliDual height = noli_dual_div(noli_dual_norm3(noli_dual_cross3(edge, side)), length_sqr);
  Point d = apart(b, a);
  NoliDual x = noli_dual_add(a.x, noli_dual_mul(along, d.x));
  NoliDual y = noli_dual_add(a.y, noli_dual_mul(along, d.y));
  return (Point){noli_dual_add(x, noli_dual_mul(height, d.y)),
                 noli_dual_sub(y, noli_dual_mul(height, d.x))};
}

// The angle of a triangle with the sheet per curvature along an edge and across it: its third node
// has the place s along the edge and the height h.
static NoliDual half_angle(NoliDual along, NoliDual s, NoliDual length, NoliDual h,
                           NoliDual across) {
  NoliDual one = noli_dual_mul(noli_dual_scale(0.5, along), s);
  one = noli_dual_div(noli_dual_mul(one, noli_dual_sub(s, length)), h);
  return noli_dual_add(one, noli_dual_mul(noli_dual_scale(0.5, h), across));
}

// The hinge at the edge a to b, between a triangle on its left and one on its right.
static Response respond(Point a, Point b, Point left, Point right) {
  Point edge = apart(b, a), one = apart(left, a), two = apart(right, a);
  NoliDual length = noli_dual_sqrt(noli_dual_products(edge.x, edge.x, edge.y, edge.y));
  Point t = {noli_dual_div(edge.x, length), noli_dual_div(edge.y, length)};
  Point n = {t.y, noli_dual_scale(-1.0, t.x)};
  NoliDual s1 = noli_dual_products(one.x, t.x, one.y, t.y);
  NoliDual h1 = noli_dual_scale(-1.0, noli_dual_products(one.x, n.x, one.y, n.y));
  NoliDual s2 = noli_dual_products(two.x, t.x, two.y, t.y);
  NoliDual h2 = noli_dual_products(two.x, n.x, two.y, n.y);
  NoliDual along[3], mixed[3];
  Response out = {.exists = true, .length = length};
  tensor(t, t, along);
  tensor(t, n, mixed);
  tensor(n, n, out.normal);
  for (int k = 0; k < 3; k++) {
    NoliDual first = half_angle(along[k], s1, length, h1, out.normal[k]);
    NoliDual second = half_angle(along[k], s2, length, h2, out.normal[k]);
    NoliDual middle = noli_dual_sub(noli_dual_scale(0.5, length), s1);
    out.angle[k] =
        noli_dual_add(noli_dual_add(first, second), noli_dual_mul(mixed[k], noli_dual_sub(s2, s1)));
    out.share[k] = noli_dual_add(first, noli_dual_mul(mixed[k], middle));
  }
  return out;
}

// The place of a node of a fold at rest, and its slopes if it is the one that moves.
static NoliDual3 place_of(const NoliFolds* folds, int64_t f, int local, const double* X,
                          int moved) {
  NoliVec3 at = noli_load3(X + 3 * (int64_t)folds->node[NODES * f + local]);
  double by = local == moved ? 1.0 : 0.0;
  return (NoliDual3){{at.x, {by, 0.0, 0.0}}, {at.y, {0.0, by, 0.0}}, {at.z, {0.0, 0.0, by}}};
}

// Hinge i of a fold between a triangle whose third node is at at[2] and one that is laid out at the
// edge at[0] to at[1], with its third node into `other`.
static Response put_hinge(const NoliFolds* folds, int64_t f, int i, const double* X, int moved,
                          const Point at[3], Point* other) {
  const int8_t* local = folds->hinge + 4 * (HINGES * f + i);
  *other = lay_out(at[0], at[1], place_of(folds, f, local[0], X, moved),
                   place_of(folds, f, local[1], X, moved), place_of(folds, f, local[3], X, moved));
  return respond(at[0], at[1], at[2], *other);
}

// What determines the stiffness of a fold: the hinges around its triangle, and the area of this.
typedef struct Plan {
  Response response[HINGES];
  NoliDual area;
} Plan;

// The corners of the triangle in the frame that `axis` begins, which turns in its plane: where it
// tilts with them, that changes nothing.
static void set_corners(const NoliDual3 corner[3], const double* axis, NoliVec3 turn, Plan* plan,
                        Point z[3]) {
  NoliDual3 from[3], cross;
  for (int i = 0; i < 3; i++) {
    from[i] = noli_dual_sub3(corner[i], corner[0]);
  }
  cross = noli_dual_cross3(from[1], from[2]);
  plan->area = noli_dual_scale(0.5, noli_dual_norm3(cross));
  NoliVec3 first = noli_load3(axis);
  NoliVec3 second = noli_cross3(noli_normalize3(noli_dual_value3(cross)), first);
  const NoliDual3 one = noli_dual_vec3(first), two = noli_dual_vec3(second);
  for (int i = 0; i < 3; i++) {
    NoliDual x = noli_dual_dot3(from[i], one), y = noli_dual_dot3(from[i], two);
    z[i] = (Point){{x.v, noli_mul_add3(x.d, y.v, turn)}, {y.v, noli_mul_add3(y.d, -x.v, turn)}};
  }
}

// At rest, with slopes by the place of a node (-1: none), with which the axis turns.
static Plan plan_of(const NoliFolds* folds, int64_t f, const double* X, const double* axis,
                    int moved, NoliVec3 turn) {
  Plan plan = {.response = {{0}}};
  const NoliDual3 corner[3] = {place_of(folds, f, 0, X, moved), place_of(folds, f, 1, X, moved),
                               place_of(folds, f, 2, X, moved)};
  Point z[3];
  set_corners(corner, axis, turn, &plan, z);

  // its own, and those of its neighbours, in their orientation
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    Response* response = plan.response;
    Point at, far;
    if (folds->hinge[4 * (HINGES * f + i)] < 0) {
      response[i] = respond(z[j], z[k], z[i], z[i]); // for the normal
      response[i].exists = false;
      continue;
    }
    response[i] = put_hinge(folds, f, i, X, moved, (const Point[3]){z[j], z[k], z[i]}, &at);
    const Point around[2][3] = {{z[j], at, z[k]}, {at, z[k], z[j]}};
    for (int side = 0; side < 2; side++) {
      int other = 3 + 2 * i + side;
      if (folds->hinge[4 * (HINGES * f + other)] >= 0) {
        response[other] = put_hinge(folds, f, other, X, moved, around[side], &far);
      }
    }
  }
  return plan;
}

// ---- the root of the energy ---------------------------------------------------------------------

static NoliDual dot(const NoliDual a[3], const NoliDual b[3]) {
  return noli_dual_add(noli_dual_products(a[0], b[0], a[1], b[1]), noli_dual_mul(a[2], b[2]));
}

// The slope of V f(values) V^T target by that of the matrix, in its eigenvectors V; f is the
// inverse, but for eigenvalues below `least`, which count as it. A quotient of differences is that
// of the formula of Daleckii and Krein.
static void add_matrix_slope(const double values[3], const double vectors[9], double least,
                             const NoliDual matrix[9], const double target[3],
                             NoliDual solution[3]) {
  NoliVec3 half[3][3] = {{{0.0, 0.0, 0.0}}}, by[3][3] = {{{0.0, 0.0, 0.0}}}; // dA V, V^T dA V
  double of[3] = {0.0};
  for (int k = 0; k < 27; k++) {
    int i = k / 9, j = k / 3 % 3, c = k % 3;
    half[i][c] = noli_mul_add3(half[i][c], vectors[3 * j + c], matrix[3 * i + j].d);
  }
  for (int k = 0; k < 27; k++) {
    int i = k / 9, r = k / 3 % 3, c = k % 3;
    by[r][c] = noli_mul_add3(by[r][c], vectors[3 * i + r], half[i][c]);
  }
  for (int k = 0; k < 9; k++) {
    of[k % 3] += vectors[k] * target[k / 3];
  }
  for (int r = 0; r < 3; r++) {
    NoliVec3 sum = {0.0, 0.0, 0.0};
    for (int c = 0; c < 3; c++) {
      double one = fmax(values[r], least), two = fmax(values[c], least);
      double span = values[r] - values[c];
      double rate = span != 0.0 ? (one - two) / span : values[r] < least ? 0.0 : 1.0;
      sum = noli_mul_add3(sum, -rate / (one * two) * of[c], by[r][c]);
    }
    if (values[r] < least) {
      sum = noli_mul_add3(sum, -LEAST_SHARE / (least * least) * of[r], by[2][2]);
    }
    for (int c = 0; c < 3; c++) {
      solution[c].d = noli_mul_add3(solution[c].d, vectors[3 * c + r], sum);
    }
  }
}

// The solution of matrix . solution = target.
static void solve(const NoliDual matrix[9], const NoliDual target[3], NoliDual solution[3]) {
  double plain[9], values[3], vectors[9], at[3] = {target[0].v, target[1].v, target[2].v};
  for (int k = 0; k < 9; k++) {
    plain[k] = matrix[k].v;
  }
  noli_eigen_symmetric(3, plain, values, vectors);
  double least = LEAST_SHARE * values[2];
  for (int k = 0; k < 3; k++) {
    NoliDual sum = noli_dual(0.0);
    for (int c = 0; c < 3; c++) {
      sum = noli_dual_add(sum, noli_dual_scale(vectors[3 * c + k], target[c]));
    }
    for (int c = 0; c < 3; c++) {
      NoliDual part = noli_dual_scale(vectors[3 * c + k], sum);
      part = noli_dual_div(part, noli_dual(fmax(values[k], least)));
      solution[c] = noli_dual_add(solution[c], part);
    }
  }
  add_matrix_slope(values, vectors, least, matrix, at, solution);
}

// How the angle of a triangle with the sheet at its edge i depends on its hinges: `weight`.
static void divide(int i, const Response response[HINGES], NoliDual weight[HINGES]) {
  const int around[5] = {i, (i + 1) % 3, (i + 2) % 3, 3 + 2 * i, 4 + 2 * i};
  NoliDual target[3], matrix[9] = {{0}}, solution[3] = {{0}};
  for (int k = 0; k < 3; k++) {
    target[k] = noli_dual_sub(response[i].share[k], noli_dual_scale(0.5, response[i].angle[k]));
  }
  for (int j = 0; j < 5; j++) {
    const Response* other = &response[around[j]];
    for (int k = 0; k < 9 && other->exists; k++) {
      matrix[k] = noli_dual_add(matrix[k], noli_dual_mul(other->angle[k / 3], other->angle[k % 3]));
    }
  }
  solve(matrix, target, solution);
  for (int j = 0; j < 5; j++) {
    const Response* other = &response[around[j]];
    weight[around[j]] = noli_dual_add(weight[around[j]],
                                      other->exists ? dot(other->angle, solution) : noli_dual(0.0));
  }
  weight[i].v += 0.5;
}

// The stiffness of a triangle of which no moment acts across the edges with `free` normals; it
// has the slopes of `by`, or none.
static void set_stiffness(const NoliPlate* plate, const NoliPlate* by,
                          const Response response[HINGES], NoliDual D[9]) {
  static const NoliPlate none[3] = {{0.0, 0.0, 0.0, 0.0}};
  by = by != NULL ? by : none;
  const NoliDual zero = noli_dual(0.0);
  const NoliDual coupled = {plate->coupled, {by[0].coupled, by[1].coupled, by[2].coupled}};
  const NoliDual full[9] = {
      {plate->first, {by[0].first, by[1].first, by[2].first}},
      coupled,
      zero,
      coupled,
      {plate->second, {by[0].second, by[1].second, by[2].second}},
      zero,
      zero,
      zero,
      {2.0 * plate->twist, {2.0 * by[0].twist, 2.0 * by[1].twist, 2.0 * by[2].twist}}};
  memcpy(D, full, sizeof full);
  for (int i = 0; i < 3; i++) {
    const NoliDual* n = response[i].normal;
    NoliDual moment[3] = {dot(D, n), dot(D + 3, n), dot(D + 6, n)}, work = dot(moment, n);
    bool stiff = work.v > 1e-9 * (plate->first + plate->second);
    for (int k = 0; k < 9 && !response[i].exists && stiff; k++) {
      NoliDual part = noli_dual_div(noli_dual_mul(moment[k / 3], moment[k % 3]), work);
      D[k] = noli_dual_sub(D[k], part);
    }
  }
}

static void set_root(const NoliPlate* plate, const Plan* plan, double* root) {
  const Response* response = plan->response;
  double plain[9], values[3], vectors[9], area = plan->area.v;
  NoliDual D[9];
  set_stiffness(plate, NULL, response, D);
  for (int k = 0; k < 9; k++) {
    plain[k] = D[k].v;
  }
  noli_eigen_symmetric(3, plain, values, vectors);
  for (int i = 0; i < 3; i++) {
    if (!response[i].exists) {
      continue;
    }
    NoliDual weight[HINGES] = {{0}};
    divide(i, response, weight);
    for (int r = 0; r < 3; r++) {
      double part = 0.0;
      for (int k = 0; k < 3; k++) {
        part += vectors[3 * k + r] * response[i].normal[k].v * response[i].length.v / area;
      }
      // the part removed by free edges is 0 up to rounding
      part *= values[r] > 1e-9 * plate->first ? sqrt(area * values[r]) : 0.0;
      for (int j = 0; j < HINGES; j++) {
        root[HINGES * r + j] += part * weight[j].v;
      }
    }
  }
}

// ---- how the stiffness changes ------------------------------------------------------------------

// The curvature is sum_j C_j turn_j with C_j = sum_i weight_ij l_i / A n_i n_i^T.
static void set_curvatures(const Plan* plan, NoliDual C[HINGES][3]) {
  memset(C, 0, HINGES * sizeof *C);
  for (int i = 0; i < 3; i++) {
    const Response* own = &plan->response[i];
    NoliDual weight[HINGES] = {{0}}, part[3];
    if (!own->exists) {
      continue;
    }
    divide(i, plan->response, weight);
    for (int k = 0; k < 3; k++) {
      part[k] = noli_dual_div(noli_dual_mul(own->normal[k], own->length), plan->area);
    }
    for (int k = 0; k < 3 * HINGES; k++) {
      C[k / 3][k % 3] = noli_dual_add(C[k / 3][k % 3], noli_dual_mul(part[k % 3], weight[k / 3]));
    }
  }
}

void noli_folds_moments(const NoliFolds* folds, int64_t f, const double* X, const double* axis,
                        const NoliPlate* plate, const NoliFoldChange* change,
                        const NoliDual turn[HINGES], NoliDual moment[HINGES]) {
  Plan plan = plan_of(folds, f, X, axis, change->node, change->turn);
  NoliDual D[9], C[HINGES][3], curvature[3] = {{0}}, sheet[3];
  set_stiffness(plate, change->plate, plan.response, D);
  set_curvatures(&plan, C);
  for (int k = 0; k < 3 * HINGES; k++) {
    curvature[k % 3] = noli_dual_add(curvature[k % 3], noli_dual_mul(C[k / 3][k % 3], turn[k / 3]));
  }
  for (int k = 0; k < 3; k++) {
    sheet[k] = noli_dual_mul(plan.area, dot(D + 3 * k, curvature));
  }
  for (int j = 0; j < HINGES; j++) {
    moment[j] = dot(C[j], sheet);
  }
}

// ---- from triangles -----------------------------------------------------------------------------

// Room for one more, without nodes and hinges.
static NoliStatus append(NoliContext* context, NoliFolds* folds) {
  NoliStatus status = NOLI_OK;
  int64_t f = folds->n_fold, n = f + 1, *capacity = folds->capacity;
  NOLI_TRY(noli_grow(context, (void**)&folds->node, &capacity[0], NODES * n, sizeof(int32_t)));
  NOLI_TRY(noli_grow(context, (void**)&folds->hinge, &capacity[1], 4 * HINGES * n, sizeof(int8_t)));
  NOLI_TRY(noli_grow(context, (void**)&folds->tri, &capacity[2], 2 * n, sizeof(int32_t)));
  NOLI_TRY(noli_grow(context, (void**)&folds->rest, &capacity[3], HINGES * n, sizeof(double)));
  NOLI_TRY(noli_grow(context, (void**)&folds->root, &capacity[4], 3 * HINGES * n, sizeof(double)));
  for (int k = 0; k < NODES; k++) {
    folds->node[NODES * f + k] = NOLI_NULL_INDEX;
  }
  memset(folds->hinge + 4 * HINGES * f, -1, 4 * HINGES);
  memset(folds->rest + HINGES * f, 0, HINGES * sizeof *folds->rest);
  memset(folds->root + 3 * HINGES * f, 0, 3 * HINGES * sizeof *folds->root);
  folds->n_fold++;
done:
  return status;
}

// Sets hinge i of the last fold, with its nodes in the order of NoliHinges.
static void set_hinge(NoliFolds* folds, int i, const int32_t nodes[4]) {
  int64_t f = folds->n_fold - 1;
  int32_t* own = folds->node + NODES * f;
  for (int a = 0; a < 4; a++) {
    int8_t k = 0;
    while (own[k] != nodes[a] && own[k] != NOLI_NULL_INDEX) {
      k++;
    }
    own[k] = nodes[a];
    folds->hinge[4 * (HINGES * f + i) + a] = k;
  }
}

// Triangles around which folds are made.
typedef struct Sheet {
  int32_t begin;
  const int32_t* tri;
  int32_t* neighbour; // (triangles from begin x 3) across the edge opposite to each node, or
                      // NOLI_NULL_INDEX
} Sheet;

static int index_of(const int32_t node[3], int32_t wanted) {
  return node[0] == wanted ? 0 : node[1] == wanted ? 1 : 2;
}

// The third node of the neighbour of triangle t across the edge opposite to `node`, whose ends are
// a and b; that neighbour into `next`. NOLI_NULL_INDEX: there is none.
static int32_t look_across(const Sheet* sheet, int32_t t, int32_t node, int32_t a, int32_t b,
                           int32_t* next) {
  const int32_t* own = sheet->tri + 3 * (int64_t)t;
  *next = sheet->neighbour[3 * (int64_t)(t - sheet->begin) + index_of(own, node)];
  if (*next == NOLI_NULL_INDEX) {
    return NOLI_NULL_INDEX;
  }
  const int32_t* far = sheet->tri + 3 * (int64_t)*next;
  return far[0] != a && far[0] != b ? far[0] : far[1] != a && far[1] != b ? far[1] : far[2];
}

// The hinges around triangle t as those of the last fold: its own, and those of its neighbours, in
// their orientation.
static void surround(const Sheet* sheet, int32_t t, NoliFolds* folds) {
  const int32_t* v = sheet->tri + 3 * (int64_t)t;
  for (int i = 0; i < 3; i++) {
    int32_t a = v[(i + 1) % 3], b = v[(i + 2) % 3], next, beyond;
    int32_t o = look_across(sheet, t, v[i], a, b, &next);
    if (o == NOLI_NULL_INDEX) {
      continue;
    }
    set_hinge(folds, i, (const int32_t[4]){a, b, v[i], o});
    int32_t p = look_across(sheet, next, b, a, o, &beyond);
    if (p != NOLI_NULL_INDEX) {
      set_hinge(folds, 3 + 2 * i, (const int32_t[4]){a, o, b, p});
    }
    int32_t q = look_across(sheet, next, a, o, b, &beyond);
    if (q != NOLI_NULL_INDEX) {
      set_hinge(folds, 4 + 2 * i, (const int32_t[4]){o, b, a, q});
    }
  }
}

static bool same_edge(const NoliHinges* hinges, int64_t one, int64_t two) {
  return hinges->node[4 * one] == hinges->node[4 * two] &&
         hinges->node[4 * one + 1] == hinges->node[4 * two + 1];
}

// Neighbours where an edge has two triangles; hinges there are taken.
static void connect(NoliHinges* hinges, int32_t first, Sheet* sheet) {
  for (int64_t h = first; h < hinges->n_hinge; h++) {
    bool pair = !(h > first && same_edge(hinges, h, h - 1)) &&
                !(h + 1 < hinges->n_hinge && same_edge(hinges, h, h + 1));
    for (int k = 0; k < 2 && pair; k++) {
      int64_t t = hinges->tri[2 * h + k];
      int i = index_of(sheet->tri + 3 * t, hinges->node[4 * h + 2 + k]);
      sheet->neighbour[3 * (t - sheet->begin) + i] = hinges->tri[2 * h + 1 - k];
    }
    if (pair) {
      hinges->stiffness[h] = 0.0;
    }
  }
}

NoliStatus noli_folds_add(NoliContext* context, int32_t begin, int32_t end, const int32_t* tri,
                          const double* X, const double* axis, const NoliPlate* plate,
                          NoliHinges* hinges, int32_t first_hinge, NoliFolds* folds) {
  NoliStatus status = NOLI_OK;
  Sheet sheet = {.begin = begin, .tri = tri};
  NOLI_NEW(context, sheet.neighbour, 3 * (int64_t)(end - begin));
  for (int64_t k = 0; k < 3 * (int64_t)(end - begin); k++) {
    sheet.neighbour[k] = NOLI_NULL_INDEX;
  }
  connect(hinges, first_hinge, &sheet);

  for (int32_t t = begin; t < end; t++) {
    NOLI_TRY(append(context, folds));
    int64_t f = folds->n_fold - 1;
    const int32_t* v = tri + 3 * (int64_t)t;
    memcpy(folds->node + NODES * f, v, 3 * sizeof *v);
    folds->tri[2 * f] = folds->tri[2 * f + 1] = t;
    surround(&sheet, t, folds);

    // angles at rest: those over an angle of 0
    noli_folds_turns(folds, f, X, folds->rest + HINGES * f);
    Plan plan = plan_of(folds, f, X, axis + 3 * (int64_t)t, -1, noli_vec3(0.0, 0.0, 0.0));
    set_root(&plate[t - begin], &plan, folds->root + 3 * HINGES * f);
  }
done:
  noli_free(context, sheet.neighbour);
  return status;
}

NoliStatus noli_folds_add_hinges(NoliContext* context, const NoliHinges* hinges, NoliFolds* folds) {
  NoliStatus status = NOLI_OK;
  for (int64_t h = 0; h < hinges->n_hinge; h++) {
    if (hinges->stiffness[h] == 0.0) {
      continue;
    }
    NOLI_TRY(append(context, folds));
    int64_t f = folds->n_fold - 1;
    set_hinge(folds, 0, hinges->node + 4 * h);
    memcpy(folds->tri + 2 * f, hinges->tri + 2 * h, 2 * sizeof *hinges->tri);
    folds->rest[HINGES * f] = hinges->rest[h];
    folds->root[3 * HINGES * f] = sqrt(hinges->stiffness[h]);
  }
done:
  return status;
}

void noli_folds_destroy(NoliContext* context, NoliFolds* folds) {
  noli_free(context, folds->node);
  noli_free(context, folds->hinge);
  noli_free(context, folds->tri);
  noli_free(context, folds->rest);
  noli_free(context, folds->root);
  *folds = (NoliFolds){0};
}
