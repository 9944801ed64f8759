// The block type of tetrahedra of order 1 to 4, straight or curved: one body per block. Its nodes
// are contiguous in the vectors of the scene. The mass is consistent. Springs and penalties need a
// positive mass at every node: `measure` distributes the mass in proportion to the diagonal of the
// mass matrix.
#include "base/parallel.h"
#include "fem/blocks/block_order_n.h"
#include "fem/derivatives/block_derivatives.h"
#include "fem/element_elasticity.h"
#include "mesh/curve.h"

#include <string.h>

enum { NODES_PER_BLOCK = 256 };

// Relative residual of conjugate gradients: rounding errors of the product.
#define RESIDUAL 1e-15
enum { MAX_ITERATIONS = 500 };

// ---- making -------------------------------------------------------------------------------------

static bool order_n_serves(const NoliBlockBody* body) {
  return body->order > 1 || noli_mesh_order(body->mesh) > 1;
}

// Elasticity and a consistent mass.
static int32_t order_n_work(const NoliBlockBody* body, int32_t others) {
  (void)others;
  int32_t p = body->order > 1 ? body->order : 1;
  return 2 * noli_stencil_blocks((p + 1) * (p + 2) * (p + 3) / 6);
}

// Mass matrix, its row sums, and the measure of every node. Nodes without elements have no mass.
static NoliStatus order_n_finish(NoliBlock* block) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = block->context;
  NoliOrderN* self = block->self;
  const NoliSpace* space = &self->space;
  NOLI_TRY(noli_mass_create(context, space, block->density, &self->mass));
  NOLI_TRY(noli_element_mass_create(context, space, block->density, &self->element_mass));
  NOLI_NEW(context, self->row_sum, space->n_node);
  NOLI_NEW_ZERO(context, self->measure, space->n_node);
  noli_mass_row_sums(&self->mass, self->row_sum);
  double diagonal = 0.0;
  for (int32_t v = 0; v < space->n_node; v++) {
    self->total_mass += self->row_sum[v];
    for (int64_t k = self->mass.row[v]; k < self->mass.row[v + 1]; k++) {
      if (self->mass.column[k] == v) {
        self->measure[v] = self->mass.value[k];
        diagonal += self->mass.value[k];
      }
    }
  }

  self->stretch = self->total_mass / diagonal;
  for (int32_t v = 0; v < space->n_node; v++) {
    self->measure[v] *= self->stretch;
  }
  NOLI_TRY(noli_block_create_histories(block));
done:
  return status;
}

static double order_n_volume_of(const NoliOrderN* self, int32_t begin, int32_t end) {
  double volume = 0.0;
  for (int32_t t = begin; t < end; t++) {
    volume += self->volume[t];
  }
  return volume;
}

// The rule of elasticity is exact only where the shape has the order of the nodes.
static NoliStatus measure_volumes(NoliContext* context, NoliOrderN* self) {
  NoliStatus status = NOLI_OK;
  double* moment = NULL;
  NOLI_NEW(context, self->volume, self->space.n_tet);
  NOLI_NEW(context, moment, 3 * (int64_t)self->space.n_tet);
  NOLI_NEW(context, self->volume_derivative, 12 * (int64_t)self->space.n_tet);
  NOLI_TRY(noli_space_moments(context, &self->space, self->volume, moment));
  NOLI_TRY(noli_space_volume_derivatives(context, &self->space, self->volume_derivative));
  self->total_volume = order_n_volume_of(self, 0, self->space.n_tet);
done:
  noli_free(context, moment);
  return status;
}

static NoliStatus order_n_add(NoliBlock* block, int32_t begin, const NoliBlockBody* body) {
  (void)begin;
  NoliStatus status = NOLI_OK;
  NoliContext* context = block->context;
  NoliOrderN* self = NULL;
  NOLI_NEW_ZERO(context, self, 1);
  block->self = self;
  NOLI_TRY(noli_space_create(context, body->mesh, body->order, &self->space));
  NOLI_TRY(noli_elements_create(context, &self->space, -1, &self->elements));
  int64_t n = (int64_t)self->space.n_tet * self->space.n_local;
  NOLI_NEW(context, block->node, n);
  for (int64_t i = 0; i < n; i++) {
    block->node[i] = body->first_node + self->space.node[i];
  }
  block->space = &self->space;
  block->n_local = self->space.n_local;
  block->first_node = body->first_node;
  block->n_consistent = self->space.n_node;
  block->mass_damping = body->mass_damping;
  NOLI_NEW(context, self->scratch, 15 * (int64_t)self->space.n_node);
  NOLI_TRY(measure_volumes(context, self));
done:
  return status;
}

static void order_n_destroy(NoliBlock* block) {
  NoliContext* context = block->context;
  NoliOrderN* self = block->self;
  noli_element_mass_destroy(context, &self->element_mass);
  noli_mass_destroy(context, &self->mass);
  noli_elements_destroy(context, &self->elements);
  noli_space_destroy(context, &self->space);
  noli_free(context, self->volume);
  noli_free(context, self->volume_derivative);
  noli_free(context, self->row_sum);
  noli_free(context, self->measure);
  noli_free(context, self->scratch);
}

// ---- orientation, at the points of quadrature ---------------------------------------------------

static bool order_n_is_inverted(const NoliBlock* block, const double* x, int32_t element) {
  const NoliElements* elements = &noli_order_n_of(block)->elements;
  NoliMat3 F[NOLI_ELEMENT_POINTS_MAX];
  noli_elements_deformation(elements, element, x + noli_order_n_first(block), false, F);
  for (int32_t q = 0; q < elements->n_point; q++) {
    if (!(noli_det33(&F[q]) > 0.0)) {
      return true;
    }
  }
  return false;
}

static double inversion_bound(const NoliBlock* block, const double* x, const double* p, double keep,
                              bool valid_end, int32_t n_threads, int32_t* blocking) {
  int64_t first = noli_order_n_first(block);
  return noli_elements_inversion_bound(&noli_order_n_of(block)->elements, x + first, p + first,
                                       keep, valid_end, n_threads, blocking);
}

// ---- points -------------------------------------------------------------------------------------

static int32_t point_count(const NoliBlock* block) {
  return noli_order_n_of(block)->elements.n_point;
}

static double order_n_point_volume(const NoliBlock* block, int32_t element, int32_t q) {
  return noli_elements_volume(&noli_order_n_of(block)->elements, element, q);
}

static void deformation(const NoliBlock* block, int32_t element, const double* x, NoliMat3* F) {
  noli_elements_deformation(&noli_order_n_of(block)->elements, element,
                            x + noli_order_n_first(block), false, F);
}

// ---- mass ---------------------------------------------------------------------------------------

static void order_n_add_mass(const NoliBlock* block, double* mass) {
  for (int32_t v = 0; v < block->n_consistent; v++) {
    mass[block->first_node + v] += noli_order_n_of(block)->measure[v];
  }
}

static void order_n_set_weight(const NoliBlock* block, double* weight) {
  const double* row_sum = noli_order_n_of(block)->row_sum;
  memcpy(weight + block->first_node, row_sum, (size_t)block->n_consistent * sizeof *row_sum);
}

static void order_n_multiply_mass(const NoliBlock* block, const double* x, int32_t n_threads,
                                  double* y) {
  int64_t first = noli_order_n_first(block);
  noli_mass_multiply(&noli_order_n_of(block)->mass, x + first, n_threads, y + first);
}

typedef struct DotLoop {
  const double* a;
  const double* b;
} DotLoop;

static double dot_range(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const DotLoop* loop = user;
  double sum = 0.0;
  for (int64_t i = 3 * begin; i < 3 * end; i++) {
    sum += loop->a[i] * loop->b[i];
  }
  return sum;
}

static double order_n_dot(const NoliOrderN* self, const double* a, const double* b,
                          int32_t n_threads) {
  DotLoop loop = {a, b};
  return noli_parallel_sum(n_threads, self->space.n_node, NODES_PER_BLOCK, dot_range, &loop);
}

static double mass_norm_sqr(const NoliBlock* block, const double* a, const double* b,
                            int32_t n_threads) {
  const NoliOrderN* self = block->self;
  int64_t n = 3 * (int64_t)block->n_consistent, first = noli_order_n_first(block);
  double *d = self->scratch, *Md = d + n;
  for (int64_t j = 0; j < n; j++) {
    d[j] = b != NULL ? a[first + j] - b[first + j] : a[first + j];
  }
  noli_mass_multiply(&self->mass, d, n_threads, Md);
  return order_n_dot(self, d, Md, n_threads);
}

// z = r / `measure`, which is proportional to the diagonal; 0 at nodes without mass.
static void precondition(const NoliOrderN* self, const double* r, double* z) {
  for (int64_t i = 0; i < 3 * (int64_t)self->space.n_node; i++) {
    double m = self->measure[i / 3];
    z[i] = m > 0.0 ? r[i] / m : 0.0;
  }
}

// x = M^-1 y to rounding, by conjugate gradients: the same bits for any number of threads.
static void divide_by_mass(const NoliBlock* block, const double* y, int32_t n_threads, double* x) {
  const NoliOrderN* self = block->self;
  int64_t n = 3 * (int64_t)self->space.n_node;
  double *r = self->scratch, *z = r + n, *p = z + n, *q = p + n, *solution = q + n;
  memcpy(r, y + noli_order_n_first(block), (size_t)n * sizeof *r);
  memset(solution, 0, (size_t)n * sizeof *solution);
  precondition(self, r, z);
  memcpy(p, z, (size_t)n * sizeof *p);
  double rz = order_n_dot(self, r, z, n_threads), least = RESIDUAL * RESIDUAL * rz;
  for (int32_t k = 0; k < MAX_ITERATIONS && rz > least; k++) {
    noli_mass_multiply(&self->mass, p, n_threads, q);
    double alpha = rz / order_n_dot(self, p, q, n_threads);
    for (int64_t i = 0; i < n; i++) {
      solution[i] += alpha * p[i];
      r[i] -= alpha * q[i];
    }
    precondition(self, r, z);
    double rz_before = rz;
    rz = order_n_dot(self, r, z, n_threads);
    for (int64_t i = 0; i < n; i++) {
      p[i] = z[i] + rz / rz_before * p[i];
    }
  }
  memcpy(x + noli_order_n_first(block), solution, (size_t)n * sizeof *x);
}

// ---- measures -----------------------------------------------------------------------------------

static double order_n_rest_volume(const NoliBlock* block, int32_t begin, int32_t end) {
  return order_n_volume_of(noli_order_n_of(block), begin, end);
}

// Squared distance of nodes, which are closer to each other than vertices if the order is high.
static double size_sqr(const NoliBlock* block) {
  const NoliOrderN* self = block->self;
  double size = cbrt(6.0 * (self->total_volume / block->n_element)) / self->space.order;
  return size * size;
}

// The largest P-wave modulus, Pa.
static double modulus(const NoliBlock* block) {
  double largest = 0.0;
  for (int32_t t = 0; t < block->n_element; t++) {
    largest = fmax(largest, noli_block_modulus(block, t));
  }
  return largest;
}

static double order_n_wave_time_sqr(const NoliBlock* block) {
  return noli_order_n_of(block)->total_mass * size_sqr(block) / modulus(block);
}

static double order_n_frequency_sqr(const NoliBlock* block, int32_t begin, int32_t end,
                                    const double* mass) {
  (void)begin, (void)end, (void)mass;
  const NoliOrderN* self = block->self;
  return modulus(block) * self->total_volume / (self->total_mass * size_sqr(block));
}

static NoliElementElasticity elasticity_of(const NoliBlock* block, double scale) {
  return (NoliElementElasticity){.elements = &noli_order_n_of(block)->elements,
                                 .law = block->law,
                                 .lame_mu = block->lame_mu,
                                 .lame_lambda = block->lame_lambda,
                                 .parameter = block->parameter,
                                 .fibre = block->fibre,
                                 .histories = noli_block_histories(block),
                                 .scale = scale,
                                 .first_node = block->first_node,
                                 .node = block->node};
}

static void order_n_add_stress(const NoliBlock* block, int32_t element, const double* x,
                               NoliStress* sum) {
  const NoliElementElasticity elasticity = elasticity_of(block, 1.0);
  noli_element_elasticity_add_stress(&elasticity, element, x, sum);
}

// ---- energies -----------------------------------------------------------------------------------

static void order_n_elasticity(const void* data, const double* x, int64_t begin, int64_t end,
                               unsigned what, const NoliLocal* out) {
  const NoliBlockEnergy* energy = data;
  NoliElementElasticity scaled = elasticity_of(energy->block, energy->scale);
  noli_element_elasticity_evaluate(&scaled, x, begin, end, what, out);
}

static void inertia(const void* data, const double* x, int64_t begin, int64_t end, unsigned what,
                    const NoliLocal* out) {
  const NoliBlockEnergy* energy = data;
  NoliElementInertia scaled = {.mass = &noli_order_n_of(energy->block)->element_mass,
                               .x_tilde = energy->reference,
                               .scale = energy->scale,
                               .first_node = energy->block->first_node,
                               .node = energy->block->node};
  noli_element_inertia_evaluate(&scaled, x, begin, end, what, out);
}

const NoliBlockType noli_block_order_n = {.name = "order n",
                                          .solid = true,
                                          .serves = order_n_serves,
                                          .work = order_n_work,
                                          .add = order_n_add,
                                          .finish = order_n_finish,
                                          .destroy = order_n_destroy,
                                          .is_inverted = order_n_is_inverted,
                                          .inversion_bound = inversion_bound,
                                          .point_count = point_count,
                                          .point_volume = order_n_point_volume,
                                          .deformation = deformation,
                                          .add_mass = order_n_add_mass,
                                          .set_weight = order_n_set_weight,
                                          .multiply_mass = order_n_multiply_mass,
                                          .divide_by_mass = divide_by_mass,
                                          .mass_norm_sqr = mass_norm_sqr,
                                          .rest_volume = order_n_rest_volume,
                                          .wave_time_sqr = order_n_wave_time_sqr,
                                          .frequency_sqr = order_n_frequency_sqr,
                                          .add_stress = order_n_add_stress,
                                          .elasticity = order_n_elasticity,
                                          .inertia = inertia,
                                          .damping = &noli_block_damping,
                                          .derivatives =
                                              NOLI_DERIVATIVES_OF(noli_order_n_derivatives)};
