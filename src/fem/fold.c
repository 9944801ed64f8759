#include "fem/fold.h"

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

// The angles of a fold over those at rest; 0 where there is no hinge.
static void set_turns(const NoliFolds* folds, int64_t f, const double* x, double turn[HINGES]) {
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
    set_turns(bending->folds, f, x, turn);
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
  double x, y;
} Point;

// Curvatures are (k11, k22, sqrt(2) k12) here, so that their product is that of tensors.
typedef struct Response {
  bool exists;
  double angle[3];  // of the hinge
  double share[3];  // that of its first triangle, with the sheet at the middle of the edge
  double normal[3]; // n n^T
  double length;
} Response;

// The symmetric part of a b^T.
static void tensor(Point a, Point b, double out[3]) {
  out[0] = a.x * b.x;
  out[1] = a.y * b.y;
  out[2] = (a.x * b.y + a.y * b.x) * sqrt(0.5);
}

// Position of the third node of a triangle on the right of the edge a to b; `at` are positions of
// the ends and of the third node in space.
static Point lay_out(Point a, Point b, NoliVec3 at_a, NoliVec3 at_b, NoliVec3 third) {
  NoliVec3 edge = noli_sub3(at_b, at_a), side = noli_sub3(third, at_a);
  double length_sqr = noli_norm_sqr3(edge), along = noli_dot3(edge, side) / length_sqr;
  double height = noli_norm3(noli_cross3(edge, side)) / length_sqr;
  Point d = {b.x - a.x, b.y - a.y};
  return (Point){a.x + along * d.x + height * d.y, a.y + along * d.y - height * d.x};
}

// The hinge at the edge a to b, between a triangle on its left and one on its right.
static Response respond(Point a, Point b, Point left, Point right) {
  double dx = b.x - a.x, dy = b.y - a.y, length = sqrt(dx * dx + dy * dy);
  Point t = {dx / length, dy / length}, n = {t.y, -t.x};
  double s1 = (left.x - a.x) * t.x + (left.y - a.y) * t.y;
  double h1 = -(left.x - a.x) * n.x - (left.y - a.y) * n.y;
  double s2 = (right.x - a.x) * t.x + (right.y - a.y) * t.y;
  double h2 = (right.x - a.x) * n.x + (right.y - a.y) * n.y;
  double along[3], mixed[3];
  Response out = {.exists = true, .length = length};
  tensor(t, t, along);
  tensor(t, n, mixed);
  tensor(n, n, out.normal);
  for (int k = 0; k < 3; k++) {
    double first = 0.5 * along[k] * s1 * (s1 - length) / h1 + 0.5 * h1 * out.normal[k];
    double second = 0.5 * along[k] * s2 * (s2 - length) / h2 + 0.5 * h2 * out.normal[k];
    out.angle[k] = first + second + mixed[k] * (s2 - s1);
    out.share[k] = first + mixed[k] * (0.5 * length - s1);
  }
  return out;
}

// ---- the root of the energy ---------------------------------------------------------------------

static double dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// How the angle of a triangle with the sheet at its edge i depends on its hinges: `weight`.
static void divide(int i, const Response response[HINGES], double weight[HINGES]) {
  const int around[5] = {i, (i + 1) % 3, (i + 2) % 3, 3 + 2 * i, 4 + 2 * i};
  double target[3], matrix[9] = {0}, values[3], vectors[9], solution[3] = {0};
  for (int k = 0; k < 3; k++) {
    target[k] = response[i].share[k] - 0.5 * response[i].angle[k];
  }
  for (int j = 0; j < 5; j++) {
    const Response* other = &response[around[j]];
    for (int k = 0; k < 9 && other->exists; k++) {
      matrix[k] += other->angle[k / 3] * other->angle[k % 3];
    }
  }
  noli_eigen_symmetric(3, matrix, values, vectors);
  for (int k = 0; k < 3; k++) {
    double sum = 0.0;
    for (int c = 0; c < 3; c++) {
      sum += vectors[3 * c + k] * target[c];
    }
    for (int c = 0; c < 3; c++) {
      solution[c] += vectors[3 * c + k] * sum / fmax(values[k], LEAST_SHARE * values[2]);
    }
  }
  for (int j = 0; j < 5; j++) {
    const Response* other = &response[around[j]];
    weight[around[j]] += other->exists ? dot(other->angle, solution) : 0.0;
  }
  weight[i] += 0.5;
}

// The stiffness of a triangle of which no moment acts across the edges with `free` normals.
static void set_stiffness(const NoliPlate* plate, const Response response[HINGES], double D[9]) {
  const double full[9] = {
      plate->first, plate->coupled,    0.0, plate->coupled, plate->second, 0.0, 0.0,
      0.0,          2.0 * plate->twist};
  memcpy(D, full, sizeof full);
  for (int i = 0; i < 3; i++) {
    const double* n = response[i].normal;
    double moment[3] = {dot(D, n), dot(D + 3, n), dot(D + 6, n)}, work = dot(moment, n);
    bool stiff = work > 1e-9 * (plate->first + plate->second);
    for (int k = 0; k < 9 && !response[i].exists && stiff; k++) {
      D[k] -= moment[k / 3] * moment[k % 3] / work;
    }
  }
}

static void set_root(const NoliPlate* plate, const Response response[HINGES], double area,
                     double* root) {
  double D[9], values[3], vectors[9];
  set_stiffness(plate, response, D);
  noli_eigen_symmetric(3, D, values, vectors);
  for (int i = 0; i < 3; i++) {
    if (!response[i].exists) {
      continue;
    }
    double weight[HINGES] = {0};
    divide(i, response, weight);
    for (int r = 0; r < 3; r++) {
      double part = 0.0;
      for (int k = 0; k < 3; k++) {
        part += vectors[3 * k + r] * response[i].normal[k] * response[i].length / area;
      }
      // the part removed by free edges is 0 up to rounding
      part *= values[r] > 1e-9 * plate->first ? sqrt(area * values[r]) : 0.0;
      for (int j = 0; j < HINGES; j++) {
        root[HINGES * r + j] += part * weight[j];
      }
    }
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
  const double* X;
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

static NoliVec3 rest_of(const Sheet* sheet, int32_t node) {
  return noli_load3(sheet->X + 3 * (int64_t)node);
}

// The hinge of the last fold at the edge a to b between a triangle with the third node `third` and
// its neighbour with `other`.
static Response put_hinge(const Sheet* sheet, NoliFolds* folds, int i, const int32_t node[4],
                          const Point at[3], Point* other) {
  set_hinge(folds, i, node);
  *other = lay_out(at[0], at[1], rest_of(sheet, node[0]), rest_of(sheet, node[1]),
                   rest_of(sheet, node[3]));
  return respond(at[0], at[1], at[2], *other);
}

// The hinges around triangle t as those of the last fold.
static void surround(const Sheet* sheet, int32_t t, const double* axis, NoliFolds* folds,
                     Response response[HINGES]) {
  const int32_t* v = sheet->tri + 3 * (int64_t)t;
  NoliVec3 first = noli_load3(axis), origin = rest_of(sheet, v[0]);
  NoliVec3 normal = noli_normalize3(noli_cross3(noli_sub3(rest_of(sheet, v[1]), origin),
                                                noli_sub3(rest_of(sheet, v[2]), origin)));
  NoliVec3 second = noli_cross3(normal, first);
  Point z[3];
  for (int i = 0; i < 3; i++) {
    NoliVec3 from = noli_sub3(rest_of(sheet, v[i]), origin);
    z[i] = (Point){noli_dot3(from, first), noli_dot3(from, second)};
  }

  // its own, and those of its neighbours, in their orientation
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    int32_t a = v[j], b = v[k], next, beyond;
    int32_t o = look_across(sheet, t, v[i], a, b, &next);
    Point at, far;
    response[i] = respond(z[j], z[k], z[i], z[i]); // for the normal
    response[i].exists = false;
    if (o == NOLI_NULL_INDEX) {
      continue;
    }
    response[i] = put_hinge(sheet, folds, i, (const int32_t[4]){a, b, v[i], o},
                            (const Point[3]){z[j], z[k], z[i]}, &at);
    int32_t p = look_across(sheet, next, b, a, o, &beyond);
    if (p != NOLI_NULL_INDEX) {
      response[3 + 2 * i] = put_hinge(sheet, folds, 3 + 2 * i, (const int32_t[4]){a, o, b, p},
                                      (const Point[3]){z[j], at, z[k]}, &far);
    }
    int32_t q = look_across(sheet, next, a, o, b, &beyond);
    if (q != NOLI_NULL_INDEX) {
      response[4 + 2 * i] = put_hinge(sheet, folds, 4 + 2 * i, (const int32_t[4]){o, b, a, q},
                                      (const Point[3]){at, z[k], z[j]}, &far);
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
  Sheet sheet = {.begin = begin, .tri = tri, .X = X};
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
    Response response[HINGES] = {{0}};
    surround(&sheet, t, axis + 3 * (int64_t)t, folds, response);

    // angles at rest: those over an angle of 0
    set_turns(folds, f, X, folds->rest + HINGES * f);
    NoliVec3 origin = rest_of(&sheet, v[0]);
    double area = 0.5 * noli_norm3(noli_cross3(noli_sub3(rest_of(&sheet, v[1]), origin),
                                               noli_sub3(rest_of(&sheet, v[2]), origin)));
    set_root(&plate[t - begin], response, area, folds->root + 3 * HINGES * f);
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
