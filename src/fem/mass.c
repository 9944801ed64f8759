#include "fem/mass.h"

#include "base/parallel.h"
#include "base/sort.h"

#include <string.h>

enum { NODES_PER_BLOCK = 256 };

// ---- element matrices

// Shape functions of the space and derivatives of those of the shape at the points of a rule.
typedef struct Table {
  NoliQuadrature rule;
  double* value;    // (n x n_local)
  double* shape;    // (n x n_shape)
  double* gradient; // (n x n_shape x 3)
} Table;

static NoliStatus table_create(NoliContext* context, const NoliSpace* space, int32_t degree,
                               Table* table) {
  NoliStatus status = NOLI_OK;
  *table = (Table){0};
  NOLI_TRY(noli_quadrature_tet(context, degree, &table->rule));
  int64_t n = table->rule.n;
  NOLI_NEW(context, table->value, n * space->n_local);
  NOLI_NEW(context, table->shape, n * space->n_shape);
  NOLI_NEW(context, table->gradient, 3 * n * space->n_shape);
  for (int64_t q = 0; q < n; q++) {
    noli_tet_shape(space->order, table->rule.xi + 3 * q, table->value + q * space->n_local, NULL);
    noli_tet_shape(space->geometry_order, table->rule.xi + 3 * q, table->shape + q * space->n_shape,
                   table->gradient + 3 * q * space->n_shape);
  }
done:
  return status;
}

static void table_destroy(NoliContext* context, Table* table) {
  noli_quadrature_free(context, &table->rule);
  noli_free(context, table->value);
  noli_free(context, table->shape);
  noli_free(context, table->gradient);
}

static NoliMat3 dxdxi_at(const NoliSpace* space, const Table* table, int64_t t, int64_t q) {
  const double* X = space->shape_X + 3 * t * space->n_shape;
  const double* gradient = table->gradient + 3 * q * space->n_shape;
  NoliMat3 dxdxi = {0};
  for (int32_t b = 1; b < space->n_shape; b++) {
    for (int i = 0; i < 3; i++) {
      for (int k = 0; k < 3; k++) {
        dxdxi.m[i][k] += (X[3 * b + i] - X[i]) * gradient[3 * b + k];
      }
    }
  }
  return dxdxi;
}

// Volume of quadrature point q of a tetrahedron.
static double mass_point_volume(const NoliSpace* space, const Table* table, int64_t t, int64_t q) {
  NoliMat3 dxdxi = dxdxi_at(space, table, t, q);
  return table->rule.weight[q] * noli_det33(&dxdxi);
}

// The matrix of a tetrahedron, (n_local x n_local), upper triangle.
static void element_mass(const NoliSpace* space, const Table* table, int64_t t, double density,
                         double* matrix) {
  int32_t n = space->n_local;
  memset(matrix, 0, (size_t)n * (size_t)n * sizeof *matrix);
  for (int64_t q = 0; q < table->rule.n; q++) {
    const double* N = table->value + q * n;
    double weight = density * mass_point_volume(space, table, t, q);
    for (int32_t a = 0; a < n; a++) {
      double factor = weight * N[a];
      for (int32_t b = a; b < n; b++) {
        matrix[a * n + b] += factor * N[b];
      }
    }
  }
}

// ---- rows

// Sorts the distinct columns of every row, with pairs (row, column) as keys.
static NoliStatus make_pattern(NoliContext* context, const NoliSpace* space, NoliMass* mass) {
  NoliStatus status = NOLI_OK;
  uint64_t *key = NULL, *scratch = NULL;
  int32_t n = space->n_local, bits = noli_bits_of(space->n_node);
  int64_t n_key = (int64_t)space->n_tet * n * n, count = 0;
  NOLI_NEW(context, key, n_key);
  NOLI_NEW(context, scratch, n_key);

  // keys of all entries, row before column
  for (int64_t k = 0; k < n_key; k++) {
    const int32_t* node = space->node + k / ((int64_t)n * n) * n;
    uint64_t row = (uint64_t)node[k / n % n], column = (uint64_t)node[k % n];
    key[k] = row << bits | column;
  }
  noli_sort_keys(key, scratch, n_key, 2 * bits);
  for (int64_t k = 0; k < n_key; k++) {
    if (k == 0 || key[k] != key[k - 1]) {
      scratch[count++] = key[k];
    }
  }

  // rows and columns of distinct keys
  mass->n_entry = count;
  NOLI_NEW_ZERO(context, mass->row, (int64_t)mass->n_node + 1);
  NOLI_NEW(context, mass->column, count);
  NOLI_NEW_ZERO(context, mass->value, count);
  for (int64_t k = 0; k < count; k++) {
    mass->row[(scratch[k] >> bits) + 1]++;
    mass->column[k] = (int32_t)(scratch[k] & (((uint64_t)1 << bits) - 1));
  }
  for (int64_t v = 0; v < mass->n_node; v++) {
    mass->row[v + 1] += mass->row[v];
  }
done:
  noli_free(context, key);
  noli_free(context, scratch);
  return status;
}

static double* find_entry(const NoliMass* mass, int32_t row, int32_t column) {
  int64_t low = mass->row[row], high = mass->row[row + 1];
  while (high - low > 1) {
    int64_t middle = low + (high - low) / 2;
    if (mass->column[middle] <= column) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return &mass->value[low];
}

NoliStatus noli_mass_create(NoliContext* context, const NoliSpace* space, const double* density,
                            NoliMass* mass) {
  NoliStatus status = NOLI_OK;
  Table table = {0};
  double* matrix = NULL;
  int32_t n = space->n_local;
  *mass = (NoliMass){.n_node = space->n_node};
  NOLI_TRY(table_create(context, space, noli_space_mass_degree(space), &table));
  NOLI_NEW(context, matrix, (int64_t)n * n);
  NOLI_TRY(make_pattern(context, space, mass));

  for (int64_t t = 0; t < space->n_tet; t++) {
    const int32_t* node = space->node + t * n;
    element_mass(space, &table, t, density[t], matrix);
    for (int32_t a = 0; a < n; a++) {
      for (int32_t b = a; b < n; b++) {
        *find_entry(mass, node[a], node[b]) += matrix[a * n + b];
        if (a != b) {
          *find_entry(mass, node[b], node[a]) += matrix[a * n + b];
        }
      }
    }
  }
done:
  table_destroy(context, &table);
  noli_free(context, matrix);
  if (status != NOLI_OK) {
    noli_mass_destroy(context, mass);
  }
  return status;
}

void noli_mass_destroy(NoliContext* context, NoliMass* mass) {
  noli_free(context, mass->row);
  noli_free(context, mass->column);
  noli_free(context, mass->value);
  *mass = (NoliMass){0};
}

typedef struct MultiplyLoop {
  const NoliMass* mass;
  const double* x;
  double* y;
} MultiplyLoop;

static void multiply_range(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const MultiplyLoop* loop = user;
  const NoliMass* mass = loop->mass;
  for (int64_t v = begin; v < end; v++) {
    NoliVec3 sum = noli_vec3(0.0, 0.0, 0.0);
    for (int64_t k = mass->row[v]; k < mass->row[v + 1]; k++) {
      sum = noli_mul_add3(sum, mass->value[k], noli_load3(loop->x + 3 * (int64_t)mass->column[k]));
    }
    noli_store3(loop->y + 3 * v, sum);
  }
}

void noli_mass_multiply(const NoliMass* mass, const double* x, int32_t n_threads, double* y) {
  MultiplyLoop loop = {mass, x, y};
  noli_parallel_for(n_threads, mass->n_node, NODES_PER_BLOCK, multiply_range, &loop);
}

void noli_mass_row_sums(const NoliMass* mass, double* sums) {
  for (int64_t v = 0; v < mass->n_node; v++) {
    sums[v] = 0.0;
    for (int64_t k = mass->row[v]; k < mass->row[v + 1]; k++) {
      sums[v] += mass->value[k];
    }
  }
}

NoliStatus noli_element_mass_create(NoliContext* context, const NoliSpace* space,
                                    const double* density, NoliElementMass* mass) {
  NoliStatus status = NOLI_OK;
  Table table = {0};
  int32_t n = space->n_local;
  bool curved = space->geometry_order > 1;
  *mass = (NoliElementMass){.space = space};
  NOLI_TRY(table_create(context, space, noli_space_mass_degree(space), &table));
  NOLI_NEW(context, mass->factor, space->n_tet);
  NOLI_NEW(context, mass->matrix, (int64_t)n * n * (curved ? space->n_tet : 1));

  for (int64_t t = 0; t < space->n_tet; t++) {
    // on straight shapes all matrices are multiples of the matrix for volume 1
    double volume = mass_point_volume(space, &table, t, 0) / table.rule.weight[0] / 6.0;
    mass->factor[t] = curved ? density[t] : density[t] * volume;
    if (curved || t == 0) {
      double* matrix = mass->matrix + (curved ? t * n * n : 0);
      element_mass(space, &table, t, curved ? 1.0 : 1.0 / volume, matrix);
      for (int32_t a = 0; a < n; a++) {
        for (int32_t b = 0; b < a; b++) {
          matrix[a * n + b] = matrix[b * n + a];
        }
      }
    }
  }
done:
  table_destroy(context, &table);
  if (status != NOLI_OK) {
    noli_element_mass_destroy(context, mass);
  }
  return status;
}

void noli_element_mass_destroy(NoliContext* context, NoliElementMass* mass) {
  noli_free(context, mass->matrix);
  noli_free(context, mass->factor);
  *mass = (NoliElementMass){0};
}

// ---- rest positions

// How the volume V of a point changes with the vertices: V b, with the gradients b of their linear
// functions.
static void volume_derivative(const NoliSpace* space, const Table* table, int64_t t, int64_t q,
                              double derivative[12]) {
  NoliMat3 dxdxi = dxdxi_at(space, table, t, q), inverse = noli_inverse33(&dxdxi);
  double volume = table->rule.weight[q] * noli_det33(&dxdxi);
  NoliVec3 first = noli_vec3(0.0, 0.0, 0.0);
  for (int k = 1; k < 4; k++) {
    NoliVec3 own = noli_scale3(volume, noli_row33(&inverse, k - 1));
    noli_store3(derivative + 3 * k, own);
    first = noli_sub3(first, own);
  }
  noli_store3(derivative, first);
}

// One point adds rho N_a z dV.
static void add_rest_derivative(const NoliSpace* space, const Table* table, int64_t t, int64_t q,
                                double density, const double* z, double* derivative) {
  double of_volume[12], value[3];
  const double* N = table->value + q * space->n_local;
  NoliVec3 sum = noli_vec3(0.0, 0.0, 0.0);
  volume_derivative(space, table, t, q, of_volume);
  for (int32_t a = 0; a < space->n_local; a++) {
    int64_t node = space->node[t * space->n_local + a];
    sum = noli_mul_add3(sum, N[a], noli_load3(z + 3 * node));
  }
  noli_store3(value, noli_scale3(density, sum));
  for (int32_t k = 0; k < 36 * space->n_local; k++) {
    derivative[k] += N[k / 36] * value[k / 12 % 3] * of_volume[k % 12];
  }
}

NoliStatus noli_mass_rest_derivatives(NoliContext* context, const NoliSpace* space,
                                      const double* density, const double* z, double* derivative) {
  NoliStatus status = NOLI_OK;
  Table table = {0};
  int64_t size = 36 * (int64_t)space->n_local;
  NOLI_TRY(table_create(context, space, noli_space_mass_degree(space), &table));
  memset(derivative, 0, sizeof *derivative * (size_t)(size * space->n_tet));
  for (int64_t t = 0; t < space->n_tet; t++) {
    for (int64_t q = 0; q < table.rule.n; q++) {
      add_rest_derivative(space, &table, t, q, density[t], z, derivative + size * t);
    }
  }
done:
  table_destroy(context, &table);
  return status;
}

NoliStatus noli_mass_diagonal_derivatives(NoliContext* context, const NoliSpace* space,
                                          const double* density, double* derivative) {
  NoliStatus status = NOLI_OK;
  Table table = {0};
  int64_t size = 12 * (int64_t)space->n_local;
  NOLI_TRY(table_create(context, space, noli_space_mass_degree(space), &table));
  memset(derivative, 0, sizeof *derivative * (size_t)(size * space->n_tet));
  for (int64_t i = 0; i < table.rule.n * (int64_t)space->n_tet; i++) {
    int64_t t = i / table.rule.n, q = i % table.rule.n;
    double of_volume[12];
    const double* N = table.value + q * space->n_local;
    volume_derivative(space, &table, t, q, of_volume);
    for (int32_t k = 0; k < size; k++) {
      derivative[size * t + k] += density[t] * N[k / 12] * N[k / 12] * of_volume[k % 12];
    }
  }
done:
  table_destroy(context, &table);
  return status;
}

NoliStatus noli_space_volume_derivatives(NoliContext* context, const NoliSpace* space,
                                         double* derivative) {
  NoliStatus status = NOLI_OK;
  Table table = {0};
  NOLI_TRY(table_create(context, space, 3 * (space->geometry_order - 1), &table));
  memset(derivative, 0, 12 * sizeof *derivative * (size_t)space->n_tet);
  for (int64_t i = 0; i < table.rule.n * (int64_t)space->n_tet; i++) {
    int64_t t = i / table.rule.n;
    double own[12];
    volume_derivative(space, &table, t, i % table.rule.n, own);
    for (int k = 0; k < 12; k++) {
      derivative[12 * t + k] += own[k];
    }
  }
done:
  table_destroy(context, &table);
  return status;
}

// Energy and gradient of one element; its Hessian is the matrix.
static void evaluate_inertia(const NoliElementInertia* inertia, int64_t t, const double* x,
                             unsigned what, const NoliLocal* out) {
  const NoliSpace* space = inertia->mass->space;
  int32_t n = space->n_local;
  const int32_t* node = space->node + t * n;
  const double* matrix =
      inertia->mass->matrix + (space->geometry_order > 1 ? t * n * n : (int64_t)0);
  double d[3 * NOLI_TET_NODES_MAX], f[3 * NOLI_TET_NODES_MAX], energy = 0.0;
  double factor = inertia->scale * inertia->mass->factor[t];
  const double* x_tilde = inertia->x_tilde + 3 * (int64_t)inertia->first_node;
  x += 3 * (int64_t)inertia->first_node;
  for (int32_t a = 0; a < n; a++) {
    for (int i = 0; i < 3; i++) {
      d[3 * a + i] = x[3 * (int64_t)node[a] + i] - x_tilde[3 * (int64_t)node[a] + i];
    }
  }

  for (int32_t a = 0; a < n; a++) {
    NoliVec3 sum = noli_vec3(0.0, 0.0, 0.0);
    for (int32_t b = 0; b < n; b++) {
      sum = noli_mul_add3(sum, matrix[a * n + b], noli_load3(d + 3 * b));
    }
    noli_store3(f + 3 * a, noli_scale3(factor, sum));
    energy += noli_dot3(noli_load3(f + 3 * a), noli_load3(d + 3 * a));
  }

  if (what & NOLI_EVAL_ENERGY) {
    *out->energy = 0.5 * energy;
  }
  if (what & NOLI_EVAL_GRADIENT) {
    memcpy(out->gradient, f, 3 * (size_t)n * sizeof *f);
  }
  if (what & (NOLI_EVAL_HESSIAN | NOLI_EVAL_PROJECTED)) {
    double* block = out->hessian;
    for (int32_t a = 0; a < n; a++) {
      for (int32_t b = a; b < n; b++, block += 9) {
        double m = factor * matrix[a * n + b];
        NoliMat3 diagonal = noli_diagonal33((double[3]){m, m, m});
        noli_store33(block, &diagonal);
      }
    }
  }
}

void noli_element_inertia_evaluate(const void* data, const double* x, int64_t begin, int64_t end,
                                   unsigned what, const NoliLocal* out) {
  const NoliElementInertia* inertia = data;
  for (int64_t t = begin; t < end; t++) {
    NoliLocal here = noli_local_at(out, inertia->mass->space->n_local, t - begin);
    evaluate_inertia(inertia, t, x, what, &here);
  }
}

NoliStatus noli_space_moments(NoliContext* context, const NoliSpace* space, double* volume,
                              double* first_moment) {
  NoliStatus status = NOLI_OK;
  Table table = {0};
  // exact for position times determinant
  NOLI_TRY(table_create(context, space, 4 * space->geometry_order - 3, &table));
  for (int64_t t = 0; t < space->n_tet; t++) {
    const double* X = space->shape_X + 3 * t * space->n_shape;
    NoliVec3 moment = noli_vec3(0.0, 0.0, 0.0);
    volume[t] = 0.0;
    for (int64_t q = 0; q < table.rule.n; q++) {
      double weight = mass_point_volume(space, &table, t, q);
      volume[t] += weight;
      for (int32_t b = 0; b < space->n_shape; b++) {
        double share = weight * table.shape[q * space->n_shape + b];
        moment = noli_mul_add3(moment, share, noli_load3(X + 3 * b));
      }
    }
    noli_store3(first_moment + 3 * t, moment);
  }
done:
  table_destroy(context, &table);
  return status;
}
