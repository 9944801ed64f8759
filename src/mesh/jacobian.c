#include "mesh/jacobian.h"

#include "math/vec3.h"
#include "mesh/curve.h"

#include <math.h>
#include <string.h>

enum {
  Q_MAX = 3 * (NOLI_ORDER_MAX - 1),
  N_Q_MAX = (Q_MAX + 1) * (Q_MAX + 2) * (Q_MAX + 3) / 6,
  DEPTH_MAX = 42,   // bisections; six halve all edges
  BOXES_MAX = 1000, // of one element
};

// Relative to the greatest coefficient, values below this are rounding.
#define ROUNDING 1e-12

// ---- polynomials of the barycentric coordinates, homogeneous of an order

// The position of the coefficient with exponents (order - i - j - k, i, j, k): after those of lower
// i, which are all but those of a tetrahedron of order - i, and then those of lower j, in the same
// way for a triangle.
static int32_t jacobian_place(int32_t order, const int32_t exponent[4]) {
  int32_t rest = order - exponent[1], last = rest - exponent[2];
  return noli_tet_nodes(order) - noli_tet_nodes(rest) + noli_tri_nodes(rest) -
         noli_tri_nodes(last) + exponent[3];
}

// All exponents, in the order of their places; returns their number.
static int32_t list_exponents(int32_t order, int32_t exponent[][4]) {
  int32_t n = 0;
  for (int32_t i = 0; i <= order; i++) {
    for (int32_t j = 0; i + j <= order; j++) {
      for (int32_t k = 0; i + j + k <= order; k++, n++) {
        exponent[n][0] = order - i - j - k;
        exponent[n][1] = i;
        exponent[n][2] = j;
        exponent[n][3] = k;
      }
    }
  }
  return n;
}

static double factorial(int32_t n) {
  static const double value[Q_MAX + 1] = {1, 1, 2, 6, 24, 120, 720, 5040, 40320, 362880};
  return value[n];
}

// How many times the monomial occurs in (sum of coordinates)^order.
static double multinomial(int32_t order, const int32_t exponent[4]) {
  return factorial(order) / (factorial(exponent[0]) * factorial(exponent[1]) *
                             factorial(exponent[2]) * factorial(exponent[3]));
}

// ---- nodes to coefficients

// Inverts A (n x n) by elimination with pivots; `inverse` begins as the unit matrix.
static void invert(int32_t n, double* A, double* inverse) {
  for (int32_t c = 0; c < n; c++) {
    int32_t pivot = c;
    for (int32_t r = c + 1; r < n; r++) {
      pivot = fabs(A[r * n + c]) > fabs(A[pivot * n + c]) ? r : pivot;
    }
    for (int32_t k = 0; k < n; k++) {
      double kept = A[c * n + k], own = inverse[c * n + k];
      A[c * n + k] = A[pivot * n + k];
      A[pivot * n + k] = kept;
      inverse[c * n + k] = inverse[pivot * n + k];
      inverse[pivot * n + k] = own;
    }
    double scale = 1.0 / A[c * n + c];
    for (int32_t k = 0; k < n; k++) {
      A[c * n + k] *= scale;
      inverse[c * n + k] *= scale;
    }
    for (int32_t r = 0; r < n; r++) {
      double factor = r != c ? A[r * n + c] : 0.0;
      for (int32_t k = 0; k < n; k++) {
        A[r * n + k] -= factor * A[c * n + k];
        inverse[r * n + k] -= factor * inverse[c * n + k];
      }
    }
  }
}

void noli_shape_basis(int32_t order, NoliShapeBasis* basis) {
  int32_t exponent[NOLI_TET_NODES_MAX][4], lattice[NOLI_TET_NODES_MAX][4];
  double value[NOLI_TET_NODES_MAX * NOLI_TET_NODES_MAX];
  int32_t n = list_exponents(order, exponent);
  noli_tet_lattice(order, lattice);
  memset(basis, 0, sizeof *basis);
  basis->order = order;
  for (int32_t a = 0; a < n; a++) {
    for (int32_t b = 0; b < n; b++) {
      double product = multinomial(order, exponent[b]);
      for (int k = 0; k < 4; k++) {
        product *= pow((double)lattice[a][k] / order, exponent[b][k]);
      }
      value[a * n + b] = product;
    }
    basis->from_nodes[a * n + a] = 1.0;
  }
  invert(n, value, basis->from_nodes);
}

// ---- the determinant

// A polynomial whose values are vectors, without the multinomial factors, so that products are
// sums over pairs of coefficients.
typedef struct VectorPolynomial {
  int32_t order;
  int32_t n;
  int32_t exponent[N_Q_MAX][4];
  NoliVec3 value[N_Q_MAX];
} VectorPolynomial;

// The derivative of the shape along reference axis k.
static void jacobian_differentiate(int32_t order, const NoliVec3* control, int k,
                                   VectorPolynomial* derivative) {
  derivative->order = order - 1;
  derivative->n = list_exponents(order - 1, derivative->exponent);
  for (int32_t a = 0; a < derivative->n; a++) {
    int32_t up[4], down[4];
    memcpy(up, derivative->exponent[a], sizeof up);
    memcpy(down, derivative->exponent[a], sizeof down);
    up[k + 1]++;
    down[0]++;
    NoliVec3 step =
        noli_sub3(control[jacobian_place(order, up)], control[jacobian_place(order, down)]);
    derivative->value[a] =
        noli_scale3(order * multinomial(order - 1, derivative->exponent[a]), step);
  }
}

static void jacobian_multiply(const VectorPolynomial* a, const VectorPolynomial* b,
                              VectorPolynomial* cross) {
  cross->order = a->order + b->order;
  cross->n = list_exponents(cross->order, cross->exponent);
  memset(cross->value, 0, sizeof cross->value);
  for (int32_t i = 0; i < a->n; i++) {
    for (int32_t j = 0; j < b->n; j++) {
      int32_t sum[4];
      for (int k = 0; k < 4; k++) {
        sum[k] = a->exponent[i][k] + b->exponent[j][k];
      }
      NoliVec3* value = &cross->value[jacobian_place(cross->order, sum)];
      *value = noli_add3(*value, noli_cross3(a->value[i], b->value[j]));
    }
  }
}

// Bernstein coefficients of the determinant; returns their order.
static int32_t find_determinant(const NoliShapeBasis* basis, const double* X, double* det) {
  int32_t n = noli_tet_nodes(basis->order);
  NoliVec3 control[NOLI_TET_NODES_MAX], first = noli_load3(X);
  VectorPolynomial derivative[3], cross;
  for (int32_t a = 0; a < n; a++) {
    control[a] = (NoliVec3){0};
    for (int32_t b = 0; b < n; b++) {
      control[a] = noli_mul_add3(control[a], basis->from_nodes[a * n + b],
                                 noli_sub3(noli_load3(X + 3 * b), first));
    }
  }

  for (int k = 0; k < 3; k++) {
    jacobian_differentiate(basis->order, control, k, &derivative[k]);
  }
  jacobian_multiply(&derivative[1], &derivative[2], &cross);
  int32_t order = derivative[0].order + cross.order, exponent[N_Q_MAX][4];
  int32_t n_det = list_exponents(order, exponent);
  memset(det, 0, (size_t)n_det * sizeof *det);
  for (int32_t i = 0; i < derivative[0].n; i++) {
    for (int32_t j = 0; j < cross.n; j++) {
      int32_t sum[4];
      for (int k = 0; k < 4; k++) {
        sum[k] = derivative[0].exponent[i][k] + cross.exponent[j][k];
      }
      det[jacobian_place(order, sum)] += noli_dot3(derivative[0].value[i], cross.value[j]);
    }
  }

  for (int32_t a = 0; a < n_det; a++) {
    det[a] /= multinomial(order, exponent[a]);
  }
  return order;
}

// ---- bisection

// A part of the reference element, and the coefficients of the determinant in it.
typedef struct Box {
  double corner[4][4]; // barycentric
  double det[N_Q_MAX];
} Box;

// The longest edge in the reference element.
static void longest_edge(const Box* box, int edge[2]) {
  double longest = -1.0;
  for (int a = 0; a < 4; a++) {
    for (int b = a + 1; b < 4; b++) {
      double sum = 0.0;
      for (int k = 0; k < 4; k++) {
        double step = box->corner[b][k] - box->corner[a][k];
        sum += step * step;
      }
      if (sum > longest * (1.0 + 1e-9)) {
        longest = sum;
        edge[0] = a;
        edge[1] = b;
      }
    }
  }
}

// The half of a box with corner `kept` of an edge, whose other end moves to the middle: coefficient
// (.., i, j, ..) becomes the mean of (.., i + j - s, s, ..) with weights binomial(j, s) / 2^j.
static void halve(int32_t order, const Box* box, int kept, int moved, Box* half) {
  int32_t exponent[N_Q_MAX][4], n = list_exponents(order, exponent);
  memcpy(half->corner, box->corner, sizeof half->corner);
  for (int k = 0; k < 4; k++) {
    half->corner[moved][k] = 0.5 * (box->corner[kept][k] + box->corner[moved][k]);
  }
  for (int32_t a = 0; a < n; a++) {
    int32_t of[4], j = exponent[a][moved];
    memcpy(of, exponent[a], sizeof of);
    double sum = 0.0, weight = 1.0;
    for (int32_t s = 0; s <= j; s++) {
      of[moved] = s;
      of[kept] = exponent[a][kept] + j - s;
      sum += weight * box->det[jacobian_place(order, of)];
      weight *= (double)(j - s) / (s + 1);
    }
    half->det[a] = sum / (double)(1 << j);
  }
}

// The corner of a box with the least determinant.
static int least_corner(int32_t order, const Box* box, double* least) {
  int best = 0;
  for (int c = 0; c < 4; c++) {
    int32_t exponent[4] = {0};
    exponent[c] = order;
    double det = box->det[jacobian_place(order, exponent)];
    if (c == 0 || det < *least) {
      *least = det;
      best = c;
    }
  }
  return best;
}

static double least_of(const double* value, int32_t n) {
  double least = value[0];
  for (int32_t a = 1; a < n; a++) {
    least = value[a] < least ? value[a] : least;
  }
  return least;
}

// Whether the determinant is above `bound` everywhere; if not, `test` has a place. Boxes wait in
// place of recursion: at most one for each depth.
static bool is_above(int32_t order, const double* det, int32_t n, double bound,
                     NoliShapeTest* test) {
  Box waiting[DEPTH_MAX + 1];
  int depth[DEPTH_MAX + 1], n_waiting = 1, n_box = 0;
  memset(waiting[0].corner, 0, sizeof waiting[0].corner);
  for (int c = 0; c < 4; c++) {
    waiting[0].corner[c][c] = 1.0;
  }
  memcpy(waiting[0].det, det, (size_t)n * sizeof *det);
  depth[0] = 0;

  while (n_waiting > 0) {
    Box box = waiting[--n_waiting];
    int own_depth = depth[n_waiting], edge[2] = {0, 1};
    double least = 0.0;
    int corner = least_corner(order, &box, &least);
    if (least_of(box.det, n) > bound) {
      continue;
    }
    if (!(least > bound)) {
      test->det = least;
      memcpy(test->xi, &box.corner[corner][1], sizeof test->xi);
      return false;
    }
    if (own_depth == DEPTH_MAX || ++n_box > BOXES_MAX) {
      continue;
    }
    longest_edge(&box, edge);
    for (int side = 0; side < 2; side++) {
      depth[n_waiting] = own_depth + 1;
      halve(order, &box, edge[side], edge[1 - side], &waiting[n_waiting++]);
    }
  }
  return true;
}

NoliShapeTest noli_shape_test(const NoliShapeBasis* basis, const double* X) {
  NoliShapeTest test = {.sign = NOLI_SHAPE_MIXED};
  double det[N_Q_MAX], sum = 0.0, most = 0.0;
  int32_t order = find_determinant(basis, X, det), n = (order + 1) * (order + 2) * (order + 3) / 6;
  for (int32_t a = 0; a < n; a++) {
    sum += det[a];
    most = fabs(det[a]) > most ? fabs(det[a]) : most;
  }
  // all Bernstein polynomials have the same integral
  test.volume = sum / (6.0 * n);
  double turn = sum < 0.0 ? -1.0 : 1.0;
  for (int32_t a = 0; a < n; a++) {
    det[a] *= turn;
  }
  // coordinates that are not finite are no shape
  if (isfinite(sum) && is_above(order, det, n, ROUNDING * most, &test)) {
    test.sign = sum < 0.0 ? NOLI_SHAPE_NEGATIVE : NOLI_SHAPE_POSITIVE;
  }
  test.det *= turn;
  return test;
}

// ---- straightening

// Blends the nodes between the vertices: share (n_curve) of the curve, 1 of the straight element.
static void blend_nodes(NoliMesh* mesh, const double* curved, const double* share) {
  int32_t order = mesh->order, n = noli_tet_nodes(order) - 4, lattice[NOLI_TET_NODES_MAX][4];
  noli_tet_lattice(order, lattice);
  for (int64_t k = 0; k < (int64_t)n * mesh->n_tet; k++) {
    int64_t node = mesh->curve[k];
    NoliVec3 straight = {0}, curve = noli_load3(curved + 3 * node);
    for (int c = 0; c < 4; c++) {
      straight = noli_mul_add3(straight, (double)lattice[4 + k % n][c] / order,
                               noli_load3(mesh->x + 3 * (int64_t)mesh->tet[4 * (k / n) + c]));
    }
    // where nothing is blended, the curve keeps its bits
    NoliVec3 way = noli_sub3(curve, straight);
    noli_store3(mesh->curve_x + 3 * node,
                share[node] < 1.0 ? noli_mul_add3(straight, share[node], way) : curve);
  }
}

// Adds a halving to the nodes of elements that are not positive; false if there are none.
static bool jacobian_mark_nodes(const NoliMesh* mesh, const NoliShapeBasis* basis, int round,
                                uint8_t* halvings) {
  int32_t n = noli_tet_nodes(mesh->order) - 4;
  bool any = false;
  for (int64_t t = 0; t < mesh->n_tet; t++) {
    double X[3 * NOLI_TET_NODES_MAX];
    noli_mesh_shape_nodes(mesh, t, X);
    bool positive = noli_shape_test(basis, X).sign == NOLI_SHAPE_POSITIVE;
    for (int32_t a = 0; !positive && a < n; a++) {
      halvings[mesh->curve[t * n + a]] = (uint8_t)(round + 1);
    }
    any = any || !positive;
  }
  return any;
}

NoliStatus noli_mesh_straighten(NoliContext* context, NoliMesh* mesh) {
  enum { ROUNDS = 12, STRAIGHT = 10 };
  NoliStatus status = NOLI_OK;
  NoliShapeBasis basis;
  double *curved = NULL, *share = NULL;
  uint8_t* halvings = NULL; // of each node, as many as rounds until its elements were positive
  if (mesh->order <= 1) {
    return NOLI_OK;
  }
  NOLI_NEW(context, curved, 3 * (int64_t)mesh->n_curve);
  NOLI_NEW(context, share, mesh->n_curve);
  NOLI_NEW_ZERO(context, halvings, mesh->n_curve);
  memcpy(curved, mesh->curve_x, 3 * (size_t)mesh->n_curve * sizeof *curved);
  noli_shape_basis(mesh->order, &basis);

  for (int round = 0; round < ROUNDS && jacobian_mark_nodes(mesh, &basis, round, halvings);
       round++) {
    for (int32_t v = 0; v < mesh->n_curve; v++) {
      share[v] = halvings[v] > STRAIGHT ? 0.0 : ldexp(1.0, -halvings[v]);
    }
    blend_nodes(mesh, curved, share);
  }
done:
  noli_free(context, curved);
  noli_free(context, share);
  noli_free(context, halvings);
  return status;
}
