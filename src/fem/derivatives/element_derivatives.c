#include "fem/derivatives/element_derivatives.h"

#include "fem/elements.h"
#include "fem/derivatives/history_derivatives.h"
#include "material/law_history_derivatives.h"
#include "material/tangent.h"
#include "math/vec3.h"

#include <string.h>

static bool is_damped(const NoliBlock* block, int32_t element) {
  return block->damping_time[element] > 0.0;
}

// ---- points of quadrature -----------------------------------------------------------------------

// One point of an element: gradients of the shape functions of its nodes, and of the linear ones of
// its vertices, which determine its rest shape.
typedef struct Point {
  int32_t n;
  NoliVec3 node[NOLI_TET_NODES_MAX];
  NoliVec3 vertex[4];
  NoliMat3 F;
  double volume;
} Point;

static NoliVec3 zero3(void) {
  return (NoliVec3){0.0, 0.0, 0.0};
}

// Gradients of a triangle or segment in space, within itself; the gradients of a point are 0.
static void thin_gradients(const NoliBlock* block, int32_t element, const double* X,
                           NoliVec3 gradient[4], double* volume) {
  const int32_t* node = block->node + block->n_local * (int64_t)element;
  NoliVec3 corner[3];
  for (int k = 0; k < 4; k++) {
    gradient[k] = zero3();
  }
  for (int32_t k = 0; k < block->n_local; k++) {
    corner[k] = noli_load3(X + 3 * (int64_t)node[k]);
  }
  *volume = noli_block_rest_volume(block, element, element + 1);
  if (block->n_local == 2) {
    NoliVec3 edge = noli_sub3(corner[1], corner[0]);
    gradient[1] = noli_scale3(1.0 / noli_norm_sqr3(edge), edge);
    gradient[0] = noli_scale3(-1.0, gradient[1]);
  }
  for (int k = 0; block->n_local == 3 && k < 3; k++) {
    NoliVec3 side = noli_sub3(corner[(k + 2) % 3], corner[(k + 1) % 3]);
    NoliVec3 arm = noli_sub3(corner[(k + 1) % 3], corner[k]);
    NoliVec3 normal = noli_cross3(arm, noli_sub3(corner[(k + 2) % 3], corner[k]));
    gradient[k] = noli_scale3(1.0 / noli_norm_sqr3(normal), noli_cross3(normal, side));
  }
}

void noli_element_rest_gradients(const NoliBlock* block, int32_t element, const double* X,
                                 NoliVec3 gradient[4], double* volume) {
  if (!block->type->solid) {
    thin_gradients(block, element, X, gradient, volume);
    return;
  }
  const int32_t* node = block->node + block->n_local * (int64_t)element;
  NoliVec3 origin = noli_load3(X + 3 * (int64_t)node[0]), edge[3];
  edge[0] = edge[1] = zero3();
  edge[2] = (NoliVec3){0.0, 0.0, 1.0};
  for (int k = 1; k < 4 && node[k] != NOLI_NULL_INDEX; k++) {
    edge[k - 1] = noli_sub3(noli_load3(X + 3 * (int64_t)node[k]), origin);
  }
  NoliMat3 columns = noli_columns33(edge[0], edge[1], edge[2]);
  NoliMat3 inverse = noli_inverse33(&columns);
  gradient[0] = zero3();
  for (int k = 1; k < 4; k++) {
    bool exists = node[k] != NOLI_NULL_INDEX;
    gradient[k] = exists ? noli_row33(&inverse, k - 1) : zero3();
    gradient[0] = noli_sub3(gradient[0], gradient[k]);
  }
  *volume = 0.0;
  for (int32_t q = 0; q < block->type->point_count(block); q++) {
    *volume += block->type->point_volume(block, element, q);
  }
}

void noli_element_vertex_gradients(const NoliBlock* block, int32_t element, int32_t q,
                                   const double* X, NoliVec3 gradient[4]) {
  double volume;
  if (noli_derivatives_of(block)->vertex_gradients != NULL && block->space->geometry_order > 1) {
    noli_derivatives_of(block)->vertex_gradients(block, element, q, gradient);
  } else {
    noli_element_rest_gradients(block, element, X, gradient, &volume);
  }
}

void noli_element_volume_derivative(const NoliBlock* block, int32_t element, const double* X,
                                    NoliVec3 derivative[4]) {
  double volume;
  if (noli_derivatives_of(block)->volume != NULL) {
    noli_derivatives_of(block)->volume(block, element, derivative);
    return;
  }
  noli_element_rest_gradients(block, element, X, derivative, &volume);
  for (int k = 0; k < 4; k++) {
    derivative[k] = noli_scale3(volume, derivative[k]);
  }
}

static void element_derivatives_set_point(const NoliBlock* block, int32_t element, int32_t q,
                                          const double* X, const NoliMat3* F, Point* point) {
  point->n = block->n_local;
  point->F = F[q];
  point->volume = block->type->point_volume(block, element, q);
  noli_derivatives_of(block)->shape_gradients(block, element, q, point->node);
  noli_element_vertex_gradients(block, element, q, X, point->vertex);
}

// The gradient of a vector field at the nodes of an element, as F is that of x.
static NoliMat3 gradient_of(const NoliBlock* block, int32_t element, const Point* point,
                            const double* u, const double* reference) {
  NoliMat3 sum = {0};
  for (int32_t a = 0; a < point->n; a++) {
    int64_t node = block->node[(int64_t)block->n_local * element + a];
    if (node != NOLI_NULL_INDEX) {
      NoliVec3 value = noli_sub3(noli_load3(u + 3 * node), noli_load3(reference + 3 * node));
      sum = noli_add33(sum, noli_outer33(value, point->node[a]));
    }
  }
  return sum;
}

// A change dX_b of a vertex at rest changes each gradient G of a field by -G dX_b b_b^T, that of a
// shape function B_a by -(B_a . dX_b) b_b, and the volume by V b_b . dX_b, with the gradient b_b of
// the linear function of the vertex. The force V Q B_a then changes by
//   V ((b_b . dX_b) Q B_a + dQ B_a - (B_a . dX_b) Q b_b),  dQ = -sum_i M_i : (G_i dX_b b_b^T),
// where Q depends on the gradients G_i with dQ/dG_i = M_i.
static void add_rest(const Point* point, const NoliMat3* Q, int32_t n, const double* const M[],
                     const NoliMat3* const G[], double factor, double* out) {
  // sum_i M_i : (G_i e_c y^T) for any y
  double T[3][9][3] = {{{0}}};
  for (int k = 0; k < 81 * n; k++) {
    int r = k % 81 / 9, i = k % 9 / 3, j = k % 3;
    for (int c = 0; c < 3; c++) {
      T[c][r][j] += M[k / 81][k % 81] * G[k / 81]->m[i][c];
    }
  }

  for (int b = 0; b < 4; b++) {
    double by[3];
    noli_store3(by, point->vertex[b]);
    NoliVec3 along = noli_mul33_vec(Q, point->vertex[b]);
    for (int c = 0; c < 3; c++) {
      NoliMat3 dQ = noli_scale33(by[c], *Q);
      for (int r = 0; r < 9; r++) {
        const double* by_y = T[c][r];
        dQ.m[r / 3][r % 3] -= by_y[0] * by[0] + by_y[1] * by[1] + by_y[2] * by[2];
      }
      for (int32_t a = 0; a < point->n; a++) {
        double own[3], change[3];
        noli_store3(own, point->node[a]);
        NoliVec3 sum = noli_mul_add3(noli_mul33_vec(&dQ, point->node[a]), -own[c], along);
        noli_store3(change, sum);
        for (int r = 0; r < 3; r++) {
          out[12 * (3 * a + r) + 3 * b + c] += factor * point->volume * change[r];
        }
      }
    }
  }
}

// Names the nodes of an element, and its vertices or nodes as inputs.
static void set_nodes(const NoliBlock* block, int64_t element, int32_t n_input,
                      NoliMixedBlocks* blocks) {
  const int32_t* node = block->node + block->n_local * element;
  for (int32_t k = 0; k < block->n_local; k++) {
    blocks->node[block->n_local * element + k] = node[k];
    for (int c = 0; c < 3 && node[k] != NOLI_NULL_INDEX && k < n_input; c++) {
      blocks->input[3 * n_input * element + 3 * k + c] = 3 * (int64_t)node[k] + c;
    }
  }
}

static void set_element(const NoliBlock* block, int64_t element, int64_t first,
                        NoliMixedBlocks* blocks) {
  int32_t n = blocks->n_input;
  set_nodes(block, element, 0, blocks);
  for (int32_t k = 0; k < n; k++) {
    blocks->input[n * element + k] = n * (first + element) + k;
  }
}

// ---- rest positions -----------------------------------------------------------------------------

static NoliLame lame_of(const NoliBlock* block, int32_t element) {
  return noli_lame_at(block->lame_mu, block->lame_lambda, block->parameter, block->fibre, element);
}

// ---- thin bodies --------------------------------------------------------------------------------

int64_t noli_thin_number(const NoliBlock* block, NoliBlockPart part) {
  bool by_radius =
      part == NOLI_PART_BENDING && noli_derivatives_of(block)->bending_by_radius != NULL;
  return by_radius ? NOLI_THIN_RADIUS : (int64_t)part;
}

NoliStatus noli_element_derivatives_by_parts(NoliMixedList* list, const NoliBlock* block,
                                             const NoliBlockEnergy* energy, const int32_t* body,
                                             const double* x) {
  NoliStatus status = NOLI_OK;
  NoliBlockStencils stencils = noli_block_stencils(block, energy->part);
  NoliMixedBlocks* blocks;
  if (stencils.n == 0) {
    return NOLI_OK;
  }
  NOLI_TRY(noli_mixed_list_add(list, NOLI_INPUT_PART, stencils.n, stencils.size, 1, &blocks));
  memcpy(blocks->node, stencils.node,
         sizeof *stencils.node * (size_t)stencils.size * (size_t)stencils.n);
  int64_t number = noli_thin_number(block, energy->part);

  for (int64_t s = 0; s < stencils.n; s++) {
    NoliLocal out = {.gradient = noli_mixed_block(blocks, s)};
    if (number == NOLI_THIN_RADIUS) {
      noli_derivatives_of(block)->bending_by_radius(block, s, x, energy->scale,
                                                    noli_mixed_block(blocks, s));
    } else {
      stencils.evaluate(energy, x, s, s + 1, NOLI_EVAL_GRADIENT, &out);
    }
    int64_t of = body[stencils.node[s * stencils.size]];
    blocks->input[s] = NOLI_THIN_NUMBERS * of + number;
  }
done:
  return status;
}

NoliStatus noli_element_derivatives_by_thin_moduli(NoliMixedList* list, const NoliBlock* block,
                                                   const NoliBlockEnergy* energy,
                                                   int64_t first_element, const double* X,
                                                   const double* x) {
  NoliStatus status = NOLI_OK;
  NoliBlockStencils stencils = noli_block_stencils(block, energy->part);
  NoliMixedBlocks* added;
  int32_t size = stencils.size, first = (int32_t)list->blocks.count;
  if (stencils.n == 0) {
    return NOLI_OK;
  }
  NOLI_TRY(noli_mixed_list_add(list, NOLI_INPUT_MU, stencils.n, size, 2, &added));
  NOLI_TRY(noli_mixed_list_add(list, NOLI_INPUT_LAMBDA, stencils.n, size, 2, &added));
  NoliMixedBlocks *by_mu = &list->blocks.data[first], *by_lambda = by_mu + 1;
  memcpy(by_mu->node, stencils.node, sizeof *by_mu->node * (size_t)size * (size_t)stencils.n);
  memcpy(by_lambda->node, stencils.node, sizeof *by_mu->node * (size_t)size * (size_t)stencils.n);
  for (int64_t s = 0; s < stencils.n; s++) {
    NoliModuliDerivatives to = {.element = {NOLI_NULL_INDEX, NOLI_NULL_INDEX},
                                .by_mu = noli_mixed_block(by_mu, s),
                                .by_lambda = noli_mixed_block(by_lambda, s)};
    noli_derivatives_of(block)->by_moduli(block, energy->part, s, X, x, energy->scale, &to);
    for (int e = 0; e < 2 && to.element[e] != NOLI_NULL_INDEX; e++) {
      by_mu->input[2 * s + e] = by_lambda->input[2 * s + e] = first_element + to.element[e];
    }
  }
done:
  return status;
}

// F is constant in an element, and its energy does not depend on the frame: the force V P b_a
// changes with a vertex at rest by g_a b_b^T - K_ab F - g_b b_a^T.
static void add_thin_rest(const NoliBlock* block, int32_t element, const double* X, const double* x,
                          const double* g, const double* hessian, double* out) {
  int32_t n = block->n_local;
  const int32_t* node = block->node + (int64_t)n * element;
  NoliVec3 B[4];
  double volume;
  NoliMat3 F = {0};
  noli_element_rest_gradients(block, element, X, B, &volume);
  for (int32_t a = 0; a < n; a++) {
    F = noli_add33(F, noli_outer33(noli_load3(x + 3 * (int64_t)node[a]), B[a]));
  }
  for (int32_t k = 0; k < n * n; k++) {
    int32_t a = k / n, b = k % n;
    NoliMat3 K = noli_load33(hessian + 9 * noli_stencil_block(n, a < b ? a : b, a < b ? b : a));
    K = a <= b ? K : noli_transpose33(K);
    NoliMat3 derivative = noli_outer33(noli_load3(g + 3 * a), B[b]);
    derivative = noli_sub33(derivative, noli_mul33(K, F));
    derivative = noli_sub33(derivative, noli_outer33(noli_load3(g + 3 * b), B[a]));
    for (int r = 0; r < 9; r++) {
      out[3 * n * (3 * a + r / 3) + 3 * b + r % 3] += derivative.m[r / 3][r % 3];
    }
  }
}

// A stencil of a thin body has its first nodes as inputs.
static void set_own_nodes(const NoliBlockStencils* stencils, int64_t s, int32_t n_input,
                          NoliMixedBlocks* blocks) {
  int32_t n = stencils->size;
  for (int32_t k = 0; k < n; k++) {
    int32_t node = stencils->node[n * s + k];
    blocks->node[n * s + k] = node;
    for (int c = 0; c < 3 && node != NOLI_NULL_INDEX && k < n_input; c++) {
      blocks->input[3 * (n_input * s + k) + c] = 3 * (int64_t)node + c;
    }
  }
}

static NoliStatus thin_by_rest(NoliMixedList* list, const NoliBlock* block,
                               const NoliBlockEnergy* energy, const double* X, const double* x) {
  NoliStatus status = NOLI_OK;
  NoliBlockStencils stencils = noli_block_stencils(block, energy->part);
  NoliMixedBlocks* blocks;
  int32_t n = stencils.size;
  if (stencils.n == 0) {
    return NOLI_OK;
  }
  NOLI_TRY(noli_mixed_list_add(list, NOLI_INPUT_REST, stencils.n, n, 3 * (n - stencils.n_angle),
                               &blocks));

  for (int64_t s = 0; s < stencils.n; s++) {
    set_own_nodes(&stencils, s, n - stencils.n_angle, blocks);
    double* derivative = noli_mixed_block(blocks, s);
    if (energy->part == NOLI_PART_BENDING) {
      noli_derivatives_of(block)->bending_by_rest(block, s, X, x, energy->scale, derivative);
      continue;
    }
    double gradient[9], hessian[54];
    NoliLocal out = {.gradient = gradient, .hessian = hessian};
    stencils.evaluate(energy, x, s, s + 1, NOLI_EVAL_GRADIENT | NOLI_EVAL_HESSIAN, &out);
    add_thin_rest(block, (int32_t)s, X, x, gradient, hessian, derivative);
    if (noli_derivatives_of(block)->add_axis != NULL) {
      noli_derivatives_of(block)->add_axis(block, s, X, x, gradient, hessian, derivative);
    }
  }
done:
  return status;
}

// P and dP/dF at a point, with what relaxes.
static void tangent_at(const NoliBlock* block, int32_t e, int32_t q, const NoliMat3* F, NoliMat3* P,
                       double A[81]) {
  NoliLame lame = lame_of(block, e);
  NoliMaterialPoint point =
      noli_material_point(block->law[e], lame, noli_block_histories(block), e, q);
  if (point.history != NULL) {
    noli_history_tangent(&point, F, P, A);
  } else {
    noli_material_tangent(point.law, lame, F, P, A);
  }
}

NoliStatus noli_element_derivatives_by_rest(NoliMixedList* list, const NoliBlock* block,
                                            const NoliBlockEnergy* energy, const double* X,
                                            const double* x) {
  NoliStatus status = NOLI_OK;
  NoliMixedBlocks* blocks;
  if (!block->type->solid) {
    return thin_by_rest(list, block, energy, X, x);
  }
  NOLI_TRY(
      noli_mixed_list_add(list, NOLI_INPUT_REST, block->n_element, block->n_local, 12, &blocks));
  for (int32_t e = 0; e < block->n_element; e++) {
    NoliMat3 F[NOLI_ELEMENT_POINTS_MAX];
    block->type->deformation(block, e, x, F);
    set_nodes(block, e, 4, blocks);
    for (int32_t q = 0; q < block->type->point_count(block); q++) {
      Point point;
      NoliMat3 P;
      double A[81];
      element_derivatives_set_point(block, e, q, X, F, &point);
      tangent_at(block, e, q, &point.F, &P, A);
      add_rest(&point, &P, 1, (const double* const[]){A}, (const NoliMat3* const[]){&point.F},
               energy->scale, noli_mixed_block(blocks, e));
    }
  }
done:
  return status;
}

// ---- consistent masses --------------------------------------------------------------------------

// The force M z of an element is in proportion to its density and, where it is straight, to its
// volume.
NoliStatus noli_element_derivatives_of_mass(NoliMixedList* list, const NoliBlock* block,
                                            unsigned wanted, int64_t first_element, const double* X,
                                            const double* z, const double* zero) {
  NoliStatus status = NOLI_OK;
  NoliMixedBlocks *by_density = NULL, *by_rest = NULL;
  NoliBlockEnergy energy = {.block = block, .scale = 1.0, .reference = zero};
  int32_t n = 3 * block->n_local;
  if ((wanted >> NOLI_INPUT_DENSITY & 1u) != 0) {
    NOLI_TRY(noli_mixed_list_add(list, NOLI_INPUT_DENSITY, block->n_element, block->n_local, 1,
                                 &by_density));
  }
  for (int32_t e = 0; by_density != NULL && e < block->n_element; e++) {
    double force[3 * NOLI_TET_NODES_MAX];
    NoliLocal out = {.gradient = force};
    block->type->inertia(&energy, z, e, e + 1, NOLI_EVAL_GRADIENT, &out);
    set_element(block, e, first_element, by_density);
    for (int32_t k = 0; k < n; k++) {
      noli_mixed_block(by_density, e)[k] = force[k] / block->density[e];
    }
  }

  if ((wanted >> NOLI_INPUT_REST & 1u) != 0) {
    NOLI_TRY(
        noli_mixed_list_add(list, NOLI_INPUT_REST, block->n_element, block->n_local, 12, &by_rest));
  }
  if (by_rest != NULL && block->space != NULL && block->space->geometry_order > 1) {
    for (int32_t e = 0; e < block->n_element; e++) {
      set_nodes(block, e, 4, by_rest);
    }
    NOLI_TRY(noli_derivatives_of(block)->inertia_by_rest(block, z, by_rest->value));
    goto done;
  }

  for (int32_t e = 0; by_rest != NULL && e < block->n_element; e++) {
    double force[3 * NOLI_TET_NODES_MAX], derivative[12], volume;
    NoliVec3 gradient[4];
    NoliLocal out = {.gradient = force};
    block->type->inertia(&energy, z, e, e + 1, NOLI_EVAL_GRADIENT, &out);
    noli_element_rest_gradients(block, e, X, gradient, &volume);
    set_nodes(block, e, 4, by_rest);
    for (int32_t k = 0; k < 4; k++) {
      noli_store3(derivative + 3 * k, gradient[k]);
    }
    for (int32_t k = 0; k < 12 * n; k++) {
      noli_mixed_block(by_rest, e)[k] = force[k / 12] * derivative[k % 12];
    }
  }
done:
  return status;
}

// ---- forces that nodes share --------------------------------------------------------------------

NoliStatus noli_element_derivatives_of_shares(NoliMixedList* list, const NoliBlock* block,
                                              unsigned wanted, int64_t first_element,
                                              const double* force) {
  NoliStatus status = NOLI_OK;
  int32_t n = block->n_local, size[2] = {1, 12};
  NoliInput inputs[2] = {NOLI_INPUT_DENSITY, NOLI_INPUT_REST};
  int64_t n_share = (int64_t)block->n_element * n;
  double *share = NULL, *derivative = NULL;
  NOLI_NEW(list->context, share, n_share);
  if ((wanted >> NOLI_INPUT_REST & 1u) != 0) {
    NOLI_NEW(list->context, derivative, 12 * n_share);
  }
  NOLI_TRY(noli_derivatives_of(block)->measure_shares(block, share, derivative));
  for (int64_t k = 0; k < n_share; k++) {
    share[k] /= block->density[k / n];
  }

  for (int i = 0; i < 2; i++) {
    NoliMixedBlocks* blocks;
    const double* by = i == 0 ? share : derivative;
    if ((wanted >> inputs[i] & 1u) == 0) {
      continue;
    }
    NOLI_TRY(noli_mixed_list_add(list, inputs[i], block->n_element, n, size[i], &blocks));
    for (int64_t e = 0; e < block->n_element; e++) {
      if (inputs[i] == NOLI_INPUT_DENSITY) {
        set_element(block, e, first_element, blocks);
      } else {
        set_nodes(block, e, 4, blocks);
      }
    }
    for (int64_t k = 0; k < 3 * n_share * size[i]; k++) {
      int64_t row = k / size[i];
      blocks->value[k] =
          force[3 * (int64_t)block->node[row / 3] + row % 3] * by[row / 3 * size[i] + k % size[i]];
    }
  }
done:
  noli_free(list->context, share);
  noli_free(list->context, derivative);
  return status;
}

// ---- damping in proportion to stiffness ---------------------------------------------------------

// The force V Q B_a with Q = A+(F) : W, where F is that of the point at which the stiffness is
// taken, and W the gradient of x - x_hat.
static void add_lagged(const Point* point, const double D[81], double factor, double* out) {
  int32_t n = 3 * point->n;
  for (int32_t b = 0; b < point->n; b++) {
    double by[3];
    noli_store3(by, point->node[b]);
    for (int c = 0; c < 3; c++) {
      NoliMat3 dQ = {0};
      for (int r = 0; r < 9; r++) {
        for (int k = 0; k < 3; k++) {
          dQ.m[r / 3][r % 3] += D[9 * r + 3 * c + k] * by[k];
        }
      }
      for (int32_t a = 0; a < point->n; a++) {
        double force[3];
        noli_store3(force, noli_mul33_vec(&dQ, point->node[a]));
        for (int r = 0; r < 3; r++) {
          out[n * (3 * a + r) + 3 * b + c] += factor * point->volume * force[r];
        }
      }
    }
  }
}

static void element_derivatives_add_force(const Point* point, const NoliMat3* Q, double factor,
                                          int32_t stride, double* out) {
  for (int32_t a = 0; a < point->n; a++) {
    double force[3];
    noli_store3(force, noli_mul33_vec(Q, point->node[a]));
    for (int r = 0; r < 3; r++) {
      out[(int64_t)stride * (3 * a + r)] += factor * point->volume * force[r];
    }
  }
}

// The blocks that damping has, by input; NULL: not wanted.
typedef struct DampingBlocks {
  NoliMixedBlocks* lagged;
  NoliMixedBlocks* rest;
  NoliMixedBlocks* number[NOLI_NUMBER_INPUTS];
  NoliMixedBlocks* part;
  NoliMixedBlocks* frame;
} DampingBlocks;

// Numbers of a material without a Prony series, which excludes damping.
static int32_t number_count(int which) {
  bool elastic = noli_number_inputs[which].first < NOLI_ELASTIC_NUMBERS;
  return elastic ? noli_number_inputs[which].n : 0;
}

// Stencils that are damped.
typedef struct DampedStencils {
  int64_t n;
  int32_t size;    // nodes
  int32_t n_rest;  // components of rest positions that it depends on
  int32_t n_owner; // elements whose numbers it depends on
  bool thin;       // depends on the moduli of these and the number of the part, or else on all
  bool framed;     // depends on frames
} DampedStencils;

// Adds the blocks that are wanted of damped stencils.
static NoliStatus add_damping_blocks(NoliMixedList* list, unsigned wanted,
                                     const DampedStencils* stencils, DampingBlocks* to) {
  NoliStatus status = NOLI_OK;
  int64_t n = stencils->n;
  int32_t size = stencils->size;
  *to = (DampingBlocks){0};

  // all of them, so that none moves
  NOLI_TRY(noli_array_reserve(list->context, &list->blocks,
                              list->blocks.count + 4 + NOLI_NUMBER_INPUTS));
  NOLI_TRY(noli_mixed_list_add(list, NOLI_INPUT_DAMPED, n, size, 3 * size, &to->lagged));
  if ((wanted >> NOLI_INPUT_REST & 1u) != 0) {
    NOLI_TRY(noli_mixed_list_add(list, NOLI_INPUT_REST, n, size, stencils->n_rest, &to->rest));
  }
  for (int i = 0; i < NOLI_NUMBER_INPUTS; i++) {
    NoliInput input = noli_number_inputs[i].input;
    int32_t count = stencils->n_owner * number_count(i);
    bool moduli = input == NOLI_INPUT_MU || input == NOLI_INPUT_LAMBDA;
    if ((wanted >> input & 1u) != 0 && count > 0 && (moduli || !stencils->thin)) {
      NOLI_TRY(noli_mixed_list_add(list, input, n, size, count, &to->number[i]));
    }
  }

  if (stencils->thin && (wanted >> NOLI_INPUT_PART & 1u) != 0) {
    NOLI_TRY(noli_mixed_list_add(list, NOLI_INPUT_PART, n, size, 1, &to->part));
  }
  if (stencils->framed) {
    NOLI_TRY(noli_mixed_list_add(list, NOLI_INPUT_HISTORY, n, size, 12, &to->frame));
  }
done:
  return status;
}

// The point of a thin element, whose nodes are its vertices.
static void set_thin_point(const NoliBlock* block, int32_t e, const double* X, const double* x,
                           Point* point) {
  noli_element_rest_gradients(block, e, X, point->vertex, &point->volume);
  memcpy(point->node, point->vertex, sizeof point->vertex);
  point->n = block->n_local;
  point->F = (NoliMat3){0};
  for (int32_t a = 0; a < point->n; a++) {
    NoliVec3 at = noli_load3(x + 3 * (int64_t)block->node[(int64_t)point->n * e + a]);
    point->F = noli_add33(point->F, noli_outer33(at, point->node[a]));
  }
}

// Adds the part of the directions of an element, which turn with its vertices, to derivatives by
// rest.
static void add_turn(const NoliBlock* block, int32_t e, const Point* point, const NoliMat3* W,
                     const NoliDampingDerivatives* at, const NoliTangentProduct* product,
                     double factor, double* out) {
  NoliMat3 by_turn;
  double turn[9], force[9] = {0.0};
  if (noli_derivatives_of(block)->product_by_turn == NULL ||
      !noli_derivatives_of(block)->product_by_turn(block, e, at->X, point->vertex, &point->F, W,
                                                   product, &by_turn, turn)) {
    return;
  }
  element_derivatives_add_force(point, &by_turn, factor, 1, force);
  for (int k = 0; k < 81; k++) {
    out[12 * (k / 9) + k % 9] += force[k / 9] * turn[k % 9];
  }
}

static void add_damping(const NoliBlock* block, int32_t e, const Point* point,
                        const NoliDampingDerivatives* at, const DampingBlocks* to) {
  double factor = at->scale * block->damping_time[e];
  NoliTangentProduct product;
  NoliMat3 W = gradient_of(block, e, point, at->x, at->x_hat);
  if (block->type->solid) {
    noli_material_tangent_product(block->law[e], lame_of(block, e), &point->F, &W, &product);
  } else {
    noli_derivatives_of(block)->tangent_product(block, e, point->vertex, &point->F, &W, &product);
  }

  add_lagged(point, product.D, factor, noli_mixed_block(to->lagged, e));
  if (to->rest != NULL) {
    add_rest(point, &product.Q, 2, (const double* const[]){product.D, product.A},
             (const NoliMat3* const[]){&point->F, &W}, factor, noli_mixed_block(to->rest, e));
    add_turn(block, e, point, &W, at, &product, factor, noli_mixed_block(to->rest, e));
  }

  for (int i = 0; i < NOLI_NUMBER_INPUTS; i++) {
    int32_t n = number_count(i);
    for (int32_t k = 0; to->number[i] != NULL && k < n; k++) {
      element_derivatives_add_force(point, &product.by[noli_number_inputs[i].first + k], factor, n,
                                    noli_mixed_block(to->number[i], e) + k);
    }
  }

  if (to->part != NULL) {
    element_derivatives_add_force(point, &product.Q, factor, 1, noli_mixed_block(to->part, e));
  }
}

static void element_derivatives_set_damping(const NoliBlock* block, int32_t e,
                                            const NoliDampingDerivatives* at,
                                            const DampingBlocks* to) {
  NoliMat3 F[NOLI_ELEMENT_POINTS_MAX];
  Point point;
  if (!block->type->solid) {
    set_thin_point(block, e, at->X, at->lagged, &point);
    add_damping(block, e, &point, at, to);
    return;
  }
  block->type->deformation(block, e, at->lagged, F);
  for (int32_t q = 0; q < block->type->point_count(block); q++) {
    element_derivatives_set_point(block, e, q, at->X, F, &point);
    add_damping(block, e, &point, at, to);
  }
}

// Names the nodes of stencil s, and the number of its thin body.
static void set_part(const NoliBlockStencils* stencils, int64_t s, int64_t number,
                     const int32_t* body, NoliMixedBlocks* blocks) {
  set_own_nodes(stencils, s, 0, blocks);
  blocks->input[s] = NOLI_THIN_NUMBERS * (int64_t)body[stencils->node[stencils->size * s]] + number;
}

// Takes over the values of stencil s, times a factor.
static void set_values(int64_t s, double factor, const double* value, NoliMixedBlocks* blocks) {
  double* block = noli_mixed_block(blocks, s);
  for (int64_t i = 0; i < 3 * (int64_t)blocks->size * blocks->n_input; i++) {
    block[i] = factor * value[i];
  }
}

// Derivatives of the damping of stencil s of bending.
static void set_bending_damping(const NoliBlock* block, const NoliBlockStencils* stencils,
                                int64_t s, const NoliDampingDerivatives* at,
                                const DampingBlocks* to) {
  const int32_t* node = stencils->node + stencils->size * s;
  int32_t n = 3 * stencils->size;
  double w[NOLI_BENDING_SIZE] = {0.0}, factor = at->scale * stencils->damping_time[s];
  NoliBendingDamping damping = {.element = {NOLI_NULL_INDEX, NOLI_NULL_INDEX}};
  for (int32_t i = 0; i < n; i++) {
    int64_t k = 3 * (int64_t)node[i / 3] + i % 3;
    w[i] = node[i / 3] != NOLI_NULL_INDEX ? at->x[k] - at->x_hat[k] : 0.0;
  }
  noli_derivatives_of(block)->bending_damping(block, s, at->X, at->lagged, w, &damping);
  set_own_nodes(stencils, s, stencils->size, to->lagged);
  set_values(s, factor, damping.by_y, to->lagged);
  if (to->rest != NULL) {
    set_own_nodes(stencils, s, stencils->size - stencils->n_angle, to->rest);
    set_values(s, factor, damping.by_rest, to->rest);
  }
  if (to->frame != NULL) {
    set_own_nodes(stencils, s, 0, to->frame);
    set_values(s, factor, damping.by_frame, to->frame);
    for (int32_t i = 0; i < 12; i++) {
      to->frame->input[12 * s + i] = at->first_history + damping.place[i];
    }
  }

  if (to->part != NULL) {
    int64_t number = noli_thin_number(block, NOLI_PART_BENDING);
    set_part(stencils, s, number, at->body, to->part);
    set_values(s, factor, number == NOLI_THIN_RADIUS ? damping.by_radius : damping.force, to->part);
  }

  for (int k = 0; k < 2; k++) { // mu and lambda, the first two inputs
    if (to->number[k] == NULL) {
      continue;
    }
    set_own_nodes(stencils, s, 0, to->number[k]);
    set_values(s, factor, k == 0 ? damping.by_mu : damping.by_lambda, to->number[k]);
    for (int32_t e = 0; e < 2; e++) {
      to->number[k]->input[2 * s + e] = damping.element[e] != NOLI_NULL_INDEX
                                            ? at->first_element + damping.element[e]
                                            : NOLI_NULL_INDEX;
    }
  }
}

static NoliStatus derivatives_of_bending_damping(NoliMixedList* list, const NoliBlock* block,
                                                 unsigned wanted,
                                                 const NoliDampingDerivatives* at) {
  NoliStatus status = NOLI_OK;
  NoliBlockStencils stencils = noli_block_stencils(block, NOLI_PART_BENDING);
  const DampedStencils damped = {.n = stencils.n,
                                 .size = stencils.size,
                                 .n_rest = 3 * (stencils.size - stencils.n_angle),
                                 .n_owner = 2,
                                 .thin = true,
                                 .framed = noli_block_has_frames(block)};
  DampingBlocks to;
  if (stencils.n == 0) {
    return NOLI_OK;
  }
  NOLI_TRY(add_damping_blocks(list, wanted, &damped, &to));
  for (int64_t s = 0; s < stencils.n; s++) {
    if (stencils.damping_time[s] > 0.0) {
      set_bending_damping(block, &stencils, s, at, &to);
    }
  }
done:
  return status;
}

NoliStatus noli_element_derivatives_of_damping(NoliMixedList* list, const NoliBlock* block,
                                               unsigned wanted, const NoliDampingDerivatives* at) {
  NoliStatus status = NOLI_OK;
  NoliBlockStencils stencils = noli_block_stencils(block, NOLI_PART_ELEMENTS);
  const DampedStencils damped = {.n = block->n_element,
                                 .size = block->n_local,
                                 .n_rest = 12,
                                 .n_owner = 1,
                                 .thin = !block->type->solid};
  DampingBlocks to;
  NOLI_TRY(add_damping_blocks(list, wanted, &damped, &to));
  for (int32_t e = 0; e < block->n_element; e++) {
    if (!is_damped(block, e)) {
      continue;
    }
    set_nodes(block, e, block->n_local, to.lagged);
    if (to.rest != NULL) {
      set_nodes(block, e, 4, to.rest);
    }
    for (int i = 0; i < NOLI_NUMBER_INPUTS; i++) {
      if (to.number[i] != NULL) {
        set_element(block, e, at->first_element, to.number[i]);
      }
    }
    if (to.part != NULL) {
      set_part(&stencils, e, NOLI_PART_ELEMENTS, at->body, to.part);
    }
    element_derivatives_set_damping(block, e, at, &to);
  }

  if (!block->type->solid) {
    NOLI_TRY(derivatives_of_bending_damping(list, block, wanted, at));
  }
done:
  return status;
}
