#include "fem/space.h"

#include "base/validate.h"
#include "base/parallel.h"
#include "mesh/curve.h"
#include "mesh/lattice.h"
#include "mesh/topology.h"

#include <string.h>

// ---- the space

// Rest positions of the nodes on the shapes. Vertices are copied exactly.
static void place_nodes(const NoliMesh* mesh, const NoliSpace* space) {
  int32_t local[NOLI_TET_NODES_MAX][4];
  noli_tet_lattice(space->order, local);
  memcpy(space->X, mesh->x, 3 * (size_t)mesh->n_vert * sizeof *mesh->x);
  for (int64_t t = 0; t < space->n_tet; t++) {
    for (int32_t a = 4; a < space->n_local; a++) {
      double xi[3];
      for (int k = 0; k < 3; k++) {
        xi[k] = (double)local[a][k + 1] / space->order;
      }
      noli_store3(space->X + 3 * (int64_t)space->node[t * space->n_local + a],
                  noli_space_position(space, t, xi));
    }
  }
}

NoliStatus noli_space_create(NoliContext* context, const NoliMesh* mesh, int32_t order,
                             NoliSpace* space) {
  NoliStatus status = NOLI_OK;
  NoliLattice lattice = {0};
  *space = (NoliSpace){.order = order, .geometry_order = noli_mesh_order(mesh)};
  NOLI_TRY(noli_mesh_validate(context, mesh));
  NOLI_TRY(noli_lattice_create(context, mesh->n_vert, mesh->n_tet, mesh->tet, order, &lattice));
  space->n_tet = mesh->n_tet;
  space->n_vert = mesh->n_vert;
  space->n_node = lattice.n_node;
  space->n_local = lattice.n_local;
  space->n_shape = noli_tet_nodes(space->geometry_order);
  space->node = lattice.node;
  lattice.node = NULL;
  NOLI_NEW(context, space->X, 3 * (int64_t)space->n_node);
  NOLI_NEW(context, space->shape_X, 3 * (int64_t)space->n_tet * space->n_shape);
  for (int64_t t = 0; t < mesh->n_tet; t++) {
    noli_mesh_shape_nodes(mesh, t, space->shape_X + 3 * t * space->n_shape);
  }
  place_nodes(mesh, space);
  NOLI_VALIDATE(context, noli_space_defect(space));
done:
  noli_lattice_destroy(context, &lattice);
  if (status != NOLI_OK) {
    noli_space_destroy(context, space);
  }
  return status;
}

void noli_space_destroy(NoliContext* context, NoliSpace* space) {
  noli_free(context, space->node);
  noli_free(context, space->X);
  noli_free(context, space->shape_X);
  *space = (NoliSpace){0};
}

NoliVec3 noli_space_position(const NoliSpace* space, int64_t tet, const double xi[3]) {
  double value[NOLI_TET_NODES_MAX];
  const double* X = space->shape_X + 3 * tet * space->n_shape;
  NoliVec3 x = noli_vec3(0.0, 0.0, 0.0);
  noli_tet_shape(space->geometry_order, xi, value, NULL);
  for (int32_t b = 0; b < space->n_shape; b++) {
    x = noli_mul_add3(x, value[b], noli_load3(X + 3 * b));
  }
  return x;
}

// sum_a (x_a - x_0) (x) grad N_a: gradients add up to zero, so x_0 can be subtracted, which reduces
// rounding errors far from the origin.
static NoliMat3 derivative(int32_t n, const double* x, const double* gradient) {
  NoliMat3 sum = {0};
  for (int32_t a = 1; a < n; a++) {
    for (int i = 0; i < 3; i++) {
      double side = x[3 * a + i] - x[i];
      for (int k = 0; k < 3; k++) {
        sum.m[i][k] += side * gradient[3 * a + k];
      }
    }
  }
  return sum;
}

NoliMat3 noli_space_dxdxi(const NoliSpace* space, int64_t tet, const double xi[3]) {
  double value[NOLI_TET_NODES_MAX], gradient[3 * NOLI_TET_NODES_MAX];
  noli_tet_shape(space->geometry_order, xi, value, gradient);
  return derivative(space->n_shape, space->shape_X + 3 * tet * space->n_shape, gradient);
}

int32_t noli_space_elastic_degree(const NoliSpace* space) {
  int32_t degree = 2 * (space->order - 1) + space->geometry_order - 1;
  return degree > 1 ? degree : 1;
}

int32_t noli_space_mass_degree(const NoliSpace* space) {
  return 2 * space->order + 3 * (space->geometry_order - 1);
}

// ---- orientation

NoliStatus noli_space_check(NoliContext* context, const NoliSpace* space,
                            const NoliQuadrature* rule) {
  NoliStatus status = NOLI_OK;
  for (int64_t t = 0; t < space->n_tet; t++) {
    for (int32_t q = 0; q < rule->n; q++) {
      const double* xi = rule->xi + 3 * (int64_t)q;
      NoliMat3 dxdxi = noli_space_dxdxi(space, t, xi);
      double det = noli_det33(&dxdxi);
      if (!(det > 0.0) || !isfinite(det)) {
        const int32_t* node = space->node + t * space->n_local;
        NoliVec3 x = noli_space_position(space, t, xi);
        status = noli_fail(context, NOLI_INVERTED_ELEMENT,
                           "tetrahedron %lld (nodes %d %d %d %d) of order %d is inverted at rest: "
                           "its determinant at (%g, %g, %g) is %g",
                           (long long)t, node[0], node[1], node[2], node[3], space->geometry_order,
                           x.x, x.y, x.z, det);
        goto done;
      }
    }
  }
done:
  return status;
}

// Data of the determinants of an order: derivatives of the shape functions at the lattice points of
// the determinant's degree, and the matrix from values there to Bernstein coefficients.
typedef struct Bernstein {
  int32_t order;
  int32_t n_local;
  int32_t n;        // coefficients
  double* gradient; // (n x n_local x 3)
  double* convert;  // (n x n)
} Bernstein;

static double factorial(int32_t n) {
  return n < 2 ? 1.0 : n * factorial(n - 1);
}

static double power(double base, int32_t exponent) {
  double result = 1.0;
  for (int32_t i = 0; i < exponent; i++) {
    result *= base;
  }
  return result;
}

// All 4-tuples of nonnegative integers with sum `degree`: (n x 4).
static void list_exponents(int32_t degree, int32_t* exponent) {
  for (int32_t i = 0; i <= degree; i++) {
    for (int32_t j = 0; j <= degree - i; j++) {
      for (int32_t k = 0; k <= degree - i - j; k++, exponent += 4) {
        exponent[0] = i;
        exponent[1] = j;
        exponent[2] = k;
        exponent[3] = degree - i - j - k;
      }
    }
  }
}

// Inverts a (n x n, destroyed) into b by elimination with row exchanges.
static void invert(int32_t n, double* a, double* b) {
  for (int64_t i = 0; i < (int64_t)n * n; i++) {
    b[i] = i / n == i % n ? 1.0 : 0.0;
  }

  // eliminate column by column, with the largest pivot
  for (int32_t c = 0; c < n; c++) {
    int32_t pivot = c;
    for (int32_t r = c + 1; r < n; r++) {
      pivot = fabs(a[(int64_t)r * n + c]) > fabs(a[(int64_t)pivot * n + c]) ? r : pivot;
    }
    for (int32_t k = 0; k < n; k++) {
      double kept = a[(int64_t)c * n + k];
      a[(int64_t)c * n + k] = a[(int64_t)pivot * n + k];
      a[(int64_t)pivot * n + k] = kept;
      kept = b[(int64_t)c * n + k];
      b[(int64_t)c * n + k] = b[(int64_t)pivot * n + k];
      b[(int64_t)pivot * n + k] = kept;
    }
    double scale = 1.0 / a[(int64_t)c * n + c];
    for (int32_t k = 0; k < n; k++) {
      a[(int64_t)c * n + k] *= scale;
      b[(int64_t)c * n + k] *= scale;
    }
    for (int32_t r = 0; r < n; r++) {
      double factor = a[(int64_t)r * n + c];
      if (r != c && (factor > 0.0 || factor < 0.0)) {
        for (int32_t k = 0; k < n; k++) {
          a[(int64_t)r * n + k] -= factor * a[(int64_t)c * n + k];
          b[(int64_t)r * n + k] -= factor * b[(int64_t)c * n + k];
        }
      }
    }
  }
}

static NoliStatus bernstein_create(NoliContext* context, int32_t order, Bernstein* bernstein) {
  NoliStatus status = NOLI_OK;
  double* matrix = NULL;
  int32_t* exponent = NULL;
  int32_t degree = 3 * (order - 1), n = noli_tet_nodes(degree), n_local = noli_tet_nodes(order);
  *bernstein = (Bernstein){.order = order, .n_local = n_local, .n = n};
  NOLI_NEW(context, bernstein->gradient, 3 * (int64_t)n * n_local);
  NOLI_NEW(context, bernstein->convert, (int64_t)n * n);
  NOLI_NEW(context, matrix, (int64_t)n * n);
  NOLI_NEW(context, exponent, 4 * (int64_t)n);
  list_exponents(degree, exponent);

  // gradients and Bernstein polynomials at the points of the lattice
  for (int64_t r = 0; r < n; r++) {
    double lambda[4], value[NOLI_TET_NODES_MAX];
    for (int k = 0; k < 4; k++) {
      lambda[k] = degree > 0 ? (double)exponent[4 * r + k] / degree : 0.25;
    }
    noli_tet_shape(order, lambda + 1, value, bernstein->gradient + 3 * r * n_local);
    // B_i(lambda) = degree! prod_k lambda_k^i_k / i_k!
    for (int64_t c = 0; c < n; c++) {
      double entry = factorial(degree);
      for (int k = 0; k < 4; k++) {
        int32_t i = exponent[4 * c + k];
        entry *= power(lambda[k], i) / factorial(i);
      }
      matrix[r * n + c] = entry;
    }
  }
  invert(n, matrix, bernstein->convert);
done:
  noli_free(context, matrix);
  noli_free(context, exponent);
  return status;
}

static void bernstein_destroy(NoliContext* context, Bernstein* bernstein) {
  noli_free(context, bernstein->gradient);
  noli_free(context, bernstein->convert);
}

enum { COEFFICIENTS_MAX = 220 };

// The least coefficient of the determinant of nodes x (n_local x 3), less a bound of the rounding
// error of the conversion.
static double least_coefficient(const Bernstein* bernstein, const double* x) {
  double det[COEFFICIENTS_MAX], least = (double)INFINITY, slack = 0.0;
  for (int32_t r = 0; r < bernstein->n; r++) {
    NoliMat3 dxdxi = derivative(bernstein->n_local, x,
                                bernstein->gradient + 3 * (int64_t)r * bernstein->n_local);
    det[r] = noli_det33(&dxdxi);
    slack = fmax(slack, noli_norm_sqr33(&dxdxi) * sqrt(noli_norm_sqr33(&dxdxi)));
  }
  for (int32_t r = 0; r < bernstein->n; r++) {
    double coefficient = 0.0, weight = 0.0;
    for (int32_t c = 0; c < bernstein->n; c++) {
      double entry = bernstein->convert[(int64_t)r * bernstein->n + c];
      coefficient += entry * det[c];
      weight += fabs(entry);
    }
    coefficient -= 1e-14 * weight * slack;
    // written so that NaN propagates
    least = coefficient >= least ? least : coefficient;
  }
  return least;
}

typedef struct LeastLoop {
  const Bernstein* bernstein;
  const NoliSpace* space;
  const double* x; // NULL: at rest
  double* least;
} LeastLoop;

static void least_range(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const LeastLoop* loop = user;
  const NoliSpace* space = loop->space;
  double local[3 * NOLI_TET_NODES_MAX];
  for (int64_t t = begin; t < end; t++) {
    const double* x = space->shape_X + 3 * t * space->n_shape;
    if (loop->x != NULL) {
      for (int32_t a = 0; a < space->n_local; a++) {
        int64_t node = space->node[t * space->n_local + a];
        memcpy(local + 3 * a, loop->x + 3 * node, 3 * sizeof *local);
      }
      x = local;
    }
    loop->least[t] = least_coefficient(loop->bernstein, x);
  }
}

static NoliStatus least_det(NoliContext* context, const NoliSpace* space, int32_t order,
                            const double* x, double* least) {
  NoliStatus status = NOLI_OK;
  Bernstein bernstein = {0};
  NOLI_TRY(bernstein_create(context, order, &bernstein));
  LeastLoop loop = {&bernstein, space, x, least};
  noli_parallel_for(noli_context_threads(context), space->n_tet, 16, least_range, &loop);
done:
  bernstein_destroy(context, &bernstein);
  return status;
}

NoliStatus noli_space_min_det(NoliContext* context, const NoliSpace* space, double* least) {
  return least_det(context, space, space->geometry_order, NULL, least);
}

NoliStatus noli_space_min_moved_det(NoliContext* context, const NoliSpace* space, const double* x,
                                    double* least) {
  if (space->order < space->geometry_order) {
    return noli_fail(context, NOLI_ERROR_ARGUMENT,
                     "elements of order %d cannot represent a shape of order %d", space->order,
                     space->geometry_order);
  }
  return least_det(context, space, space->order, x, least);
}

const char* noli_space_defect(const NoliSpace* space) {
  NOLI_RULE(space->n_node >= space->n_vert && space->n_local == noli_tet_nodes(space->order),
            "space: numbers of nodes contradict its order");
  for (int64_t t = 0; t < space->n_tet; t++) {
    const int32_t* node = space->node + t * space->n_local;
    for (int32_t a = 0; a < space->n_local; a++) {
      NOLI_RULE(node[a] >= 0 && node[a] < space->n_node, "space: a node is out of range");
      for (int32_t b = 0; b < a; b++) {
        NOLI_RULE(node[a] != node[b], "space: an element has the same node twice");
      }
    }
  }
  return NULL;
}
