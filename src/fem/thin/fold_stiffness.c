#include "fem/thin/fold_stiffness.h"

#include "math/dual.h"
#include "math/eigen.h"

#include <math.h>
#include <string.h>

// Eigenvalues below this share of the largest count as it: where the hinges around an edge cannot
// tell curvatures apart.
#define LEAST_SHARE 1e-4

enum { NODES = NOLI_FOLD_NODES, HINGES = NOLI_FOLD_HINGES };

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
  NoliDual part;      // height of its first triangle over that of both
  NoliDual stiffness; // length over that of both
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
static Point fold_stiffness_lay_out(Point a, Point b, NoliDual3 at_a, NoliDual3 at_b,
                                    NoliDual3 third) {
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
  NoliDual both = noli_dual_add(h1, h2);
  Response out = {.exists = true,
                  .length = length,
                  .part = noli_dual_div(h1, both),
                  .stiffness = noli_dual_div(length, both)};
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

// ---- weights ------------------------------------------------------------------------------------

static NoliDual fold_stiffness_dot(const NoliDual a[3], const NoliDual b[3]) {
  return noli_dual_add(noli_dual_products(a[0], b[0], a[1], b[1]), noli_dual_mul(a[2], b[2]));
}

typedef struct Eigen {
  double values[3], vectors[9];
} Eigen;

// The derivative of V f(values) V^T target by that of the matrix, in its eigenvectors V; f is the
// inverse, but for eigenvalues below `least`, which count as it. A quotient of differences is that
// of the formula of Daleckii and Krein.
static void add_matrix_derivative(const Eigen* eigen, const NoliDual matrix[9],
                                  const NoliDual target[3], NoliDual solution[3]) {
  const double *values = eigen->values, *vectors = eigen->vectors, least = LEAST_SHARE * values[2];
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
    of[k % 3] += vectors[k] * target[k / 3].v;
  }

  for (int r = 0; r < 3; r++) {
    NoliVec3 sum = {0.0, 0.0, 0.0};
    for (int c = 0; c < 3; c++) {
      double one = fmax(values[r], least), two = fmax(values[c], least);
      double span = values[r] - values[c];
      double rate = values[r] < least ? 0.0 : 1.0;
      rate = span != 0.0 ? (one - two) / span : rate;
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
static void fold_stiffness_solve(const Eigen* eigen, const NoliDual matrix[9],
                                 const NoliDual target[3], NoliDual solution[3]) {
  const double *values = eigen->values, *vectors = eigen->vectors, least = LEAST_SHARE * values[2];
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
  add_matrix_derivative(eigen, matrix, target, solution);
}

// The hinge at edge i, and the four others of its two triangles.
static void set_around(int i, int around[5]) {
  const int all[5] = {i, (i + 1) % 3, (i + 2) % 3, 3 + 2 * i, 4 + 2 * i};
  memcpy(around, all, sizeof all);
}

// How the angle of a triangle with the sheet at its edge i depends on its hinges: `weight`. Finds
// the eigenvectors first, or takes those that it found for the same values.
static void fold_stiffness_divide(int i, const Response response[HINGES], bool first, Eigen* eigen,
                                  NoliDual weight[HINGES]) {
  static const int row[6] = {0, 0, 0, 1, 1, 2}, column[6] = {0, 1, 2, 1, 2, 2};
  int around[5];
  double plain[9];
  NoliDual target[3], matrix[9] = {{0}}, solution[3] = {{0}};
  set_around(i, around);
  for (int k = 0; k < 3; k++) {
    NoliDual part = noli_dual_mul(response[i].part, response[i].angle[k]);
    target[k] = noli_dual_sub(response[i].share[k], part);
  }
  for (int j = 0; j < 5; j++) {
    const Response* other = &response[around[j]];
    for (int k = 0; k < 6 && other->exists; k++) {
      NoliDual* to = &matrix[3 * row[k] + column[k]];
      NoliDual product = noli_dual_mul(other->angle[row[k]], other->angle[column[k]]);
      *to = noli_dual_add(*to, noli_dual_mul(other->stiffness, product));
    }
  }

  matrix[3] = matrix[1], matrix[6] = matrix[2], matrix[7] = matrix[5];
  for (int k = 0; k < 9; k++) {
    plain[k] = matrix[k].v;
  }
  if (first) {
    noli_eigen_symmetric(3, plain, eigen->values, eigen->vectors);
  }
  fold_stiffness_solve(eigen, matrix, target, solution);
  memset(weight, 0, HINGES * sizeof *weight);
  for (int j = 0; j < 5; j++) {
    const Response* other = &response[around[j]];
    NoliDual more = noli_dual_mul(other->stiffness, fold_stiffness_dot(other->angle, solution));
    weight[around[j]] = noli_dual_add(weight[around[j]], other->exists ? more : noli_dual(0.0));
  }
  weight[i] = noli_dual_add(weight[i], response[i].part);
}

// ---- around a triangle --------------------------------------------------------------------------

// A fold at rest, of which a node moves (-1: none), with which the axis turns.
typedef struct Place {
  const int32_t* node; // (NODES)
  const int8_t* hinge; // (HINGES x 4)
  const NoliFoldRest* rest;
  int moved;
  NoliVec3 turn;
} Place;

// The quantities that its stiffness depends on, with derivatives by the place of that node.
typedef struct Plan {
  NoliDual area;
  Response response[HINGES];
  Point third[HINGES]; // of the second triangle of each hinge
  Eigen eigen[3];      // of what divides angles at the edges
  NoliDual weight[3][HINGES];
} Plan;

static Place fold_stiffness_place_of(const NoliFolds* folds, int64_t f, const NoliFoldRest* rest) {
  return (Place){.node = folds->node + NODES * f,
                 .hinge = folds->hinge + 4 * HINGES * f,
                 .rest = rest,
                 .moved = -1};
}

static NoliDual3 node_at(const Place* place, int local) {
  NoliVec3 at = noli_load3(place->rest->X + 3 * (int64_t)place->node[local]);
  double by = local == place->moved ? 1.0 : 0.0;
  return (NoliDual3){{at.x, {by, 0.0, 0.0}}, {at.y, {0.0, by, 0.0}}, {at.z, {0.0, 0.0, by}}};
}

static bool is_turned(const Place* place) {
  return noli_norm_sqr3(place->turn) > 0.0;
}

static bool has_hinge(const Place* place, int i) {
  return place->hinge[4 * i] >= 0;
}

// Whether hinge i changes. Where another corner of the triangle moves, it is shifted and tilted.
static bool follows(const Place* place, int i) {
  const int8_t* local = place->hinge + 4 * i;
  bool part = false;
  for (int a = 0; a < 4; a++) {
    part = part || local[a] == place->moved;
  }
  return has_hinge(place, i) && (part || is_turned(place));
}

// The corners of the triangle in the frame that its axis begins, which turns in its plane: where it
// tilts with them, that changes nothing.
static void set_corners(const Place* place, NoliDual* area, Point z[3]) {
  NoliDual3 from[3], origin = node_at(place, 0);
  for (int i = 0; i < 3; i++) {
    from[i] = noli_dual_sub3(node_at(place, i), origin);
  }
  NoliDual3 cross = noli_dual_cross3(from[1], from[2]);
  NoliVec3 first = noli_load3(place->rest->axis);
  NoliVec3 second = noli_cross3(noli_normalize3(noli_dual_value3(cross)), first);
  const NoliDual3 one = noli_dual_vec3(first), two = noli_dual_vec3(second);
  *area = noli_dual_scale(0.5, noli_dual_norm3(cross));
  for (int i = 0; i < 3; i++) {
    NoliDual x = noli_dual_dot3(from[i], one), y = noli_dual_dot3(from[i], two);
    z[i] = (Point){{x.v, noli_mul_add3(x.d, y.v, place->turn)},
                   {y.v, noli_mul_add3(y.d, -x.v, place->turn)}};
  }
}

// Hinge i, between a triangle whose third node is at at[2] and one that is laid out at the edge
// at[0] to at[1].
static void put_hinge(const Place* place, int i, const Point at[3], Plan* plan) {
  const int8_t* local = place->hinge + 4 * i;
  plan->third[i] = fold_stiffness_lay_out(at[0], at[1], node_at(place, local[0]),
                                          node_at(place, local[1]), node_at(place, local[3]));
  plan->response[i] = respond(at[0], at[1], at[2], plan->third[i]);
}

// The hinges that change: those of the triangle, and those of its neighbours, in their orientation.
static void put_hinges(const Place* place, bool all, const Point z[3], Plan* plan) {
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    if (!has_hinge(place, i)) {
      plan->response[i] = respond(z[j], z[k], z[i], z[i]); // for the normal
      plan->response[i].exists = false;
      continue;
    }
    if (all || follows(place, i)) {
      put_hinge(place, i, (const Point[3]){z[j], z[k], z[i]}, plan);
    }
    const Point around[2][3] = {{z[j], plan->third[i], z[k]}, {plan->third[i], z[k], z[j]}};
    for (int side = 0; side < 2; side++) {
      int other = 3 + 2 * i + side;
      if (has_hinge(place, other) && (all || follows(place, other))) {
        put_hinge(place, other, around[side], plan);
      }
    }
  }
}

// `still` is the plan where nothing moves; NULL: all is new.
static Plan plan_of(const Place* place, const Plan* still) {
  Plan plan = still != NULL ? *still : (Plan){.area = noli_dual(0.0)};
  Point z[3];
  bool all = still == NULL;
  set_corners(place, &plan.area, z);
  put_hinges(place, all, z, &plan);
  for (int i = 0; i < 3; i++) {
    bool changes = all;
    int around[5];
    set_around(i, around);
    for (int j = 0; j < 5; j++) {
      changes = changes || follows(place, around[j]);
    }
    if (changes && plan.response[i].exists) {
      fold_stiffness_divide(i, plan.response, all, &plan.eigen[i], plan.weight[i]);
    }
  }
  return plan;
}

// ---- the root of the energy ---------------------------------------------------------------------

// The stiffness of a triangle of which no moment acts across the edges with `free` normals,
// with the derivatives of the plate (3; NULL: none).
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
    NoliDual moment[3] = {fold_stiffness_dot(D, n), fold_stiffness_dot(D + 3, n),
                          fold_stiffness_dot(D + 6, n)},
             work = fold_stiffness_dot(moment, n);
    bool stiff = work.v > 1e-9 * (plate->first + plate->second);
    for (int k = 0; k < 9 && !response[i].exists && stiff; k++) {
      NoliDual part = noli_dual_div(noli_dual_mul(moment[k / 3], moment[k % 3]), work);
      D[k] = noli_dual_sub(D[k], part);
    }
  }
}

void noli_folds_set_root(NoliFolds* folds, int64_t f, const NoliFoldRest* rest) {
  const Place place = fold_stiffness_place_of(folds, f, rest);
  const Plan plan = plan_of(&place, NULL);
  const Response* response = plan.response;
  double plain[9], values[3], vectors[9], area = plan.area.v, *root = folds->root + 3 * HINGES * f;
  NoliDual D[9];
  set_stiffness(rest->plate, NULL, response, D);
  for (int k = 0; k < 9; k++) {
    plain[k] = D[k].v;
  }
  noli_eigen_symmetric(3, plain, values, vectors);
  for (int i = 0; i < 3; i++) {
    for (int r = 0; r < 3 && response[i].exists; r++) {
      double part = 0.0;
      for (int k = 0; k < 3; k++) {
        part += vectors[3 * k + r] * response[i].normal[k].v * response[i].length.v / area;
      }
      // the part removed by free edges is 0 up to rounding
      part *= values[r] > 1e-9 * rest->plate->first ? sqrt(area * values[r]) : 0.0;
      for (int j = 0; j < HINGES; j++) {
        root[HINGES * r + j] += part * plan.weight[i][j].v;
      }
    }
  }
}

// ---- how the stiffness changes ------------------------------------------------------------------

// With the angles alpha_i = sum_j weight_ij turn_j of the triangle and L_i = l_i / A n_i n_i^T, the
// curvature is sum_i alpha_i L_i, and the moment of hinge j is sum_i weight_ij A L_i . D kappa.
static void derivatives_of_moments(const Plan* plan, const NoliDual D[9],
                                   const NoliDual turn[HINGES], NoliVec3 derivative[HINGES]) {
  NoliDual L[3][3], curvature[3] = {{0}}, bent[3];
  for (int i = 0; i < 3; i++) {
    const Response* own = &plan->response[i];
    NoliDual alpha = noli_dual(0.0);
    for (int j = 0; j < HINGES && own->exists; j++) {
      alpha = noli_dual_add(alpha, noli_dual_mul(plan->weight[i][j], turn[j]));
    }
    for (int k = 0; k < 3 && own->exists; k++) {
      L[i][k] = noli_dual_div(noli_dual_mul(own->normal[k], own->length), plan->area);
      curvature[k] = noli_dual_add(curvature[k], noli_dual_mul(alpha, L[i][k]));
    }
  }

  for (int k = 0; k < 3; k++) {
    bent[k] = noli_dual_mul(plan->area, fold_stiffness_dot(D + 3 * k, curvature));
  }
  memset(derivative, 0, HINGES * sizeof *derivative);
  for (int i = 0; i < 3; i++) {
    if (!plan->response[i].exists) {
      continue;
    }
    NoliDual moment = fold_stiffness_dot(L[i], bent);
    for (int j = 0; j < HINGES; j++) {
      derivative[j] = noli_add3(derivative[j], noli_dual_mul(plan->weight[i][j], moment).d);
    }
  }
}

void noli_folds_moments_by_rest(const NoliFolds* folds, int64_t f, const NoliFoldRest* rest,
                                const double axis[9], const double turn[HINGES],
                                double by_rest[HINGES][3 * NODES],
                                double derivative[HINGES][3 * NODES]) {
  Place place = fold_stiffness_place_of(folds, f, rest);
  const Plan still = plan_of(&place, NULL);
  memset(derivative, 0, HINGES * sizeof *derivative);
  for (int a = 0; a < NODES && place.node[a] != NOLI_NULL_INDEX; a++) {
    NoliVec3 by[HINGES];
    NoliDual turned[HINGES], D[9];
    place.moved = a;
    place.turn = a < 3 ? noli_load3(axis + 3 * a) : noli_vec3(0.0, 0.0, 0.0);
    const Plan plan = plan_of(&place, &still);
    set_stiffness(rest->plate, NULL, plan.response, D);
    for (int j = 0; j < HINGES; j++) {
      turned[j] = (NoliDual){turn[j], noli_load3(by_rest[j] + 3 * a)};
    }
    derivatives_of_moments(&plan, D, turned, by);
    for (int j = 0; j < HINGES; j++) {
      noli_store3(derivative[j] + 3 * a, by[j]);
    }
  }
}

void noli_folds_moments_by_plate(const NoliFolds* folds, int64_t f, const NoliFoldRest* rest,
                                 const NoliPlate by[3], const double turn[HINGES],
                                 NoliVec3 derivative[HINGES]) {
  const Place place = fold_stiffness_place_of(folds, f, rest);
  const Plan plan = plan_of(&place, NULL);
  NoliDual turned[HINGES], D[9];
  set_stiffness(rest->plate, by, plan.response, D);
  for (int j = 0; j < HINGES; j++) {
    turned[j] = noli_dual(turn[j]);
  }
  derivatives_of_moments(&plan, D, turned, derivative);
}
