#include "fem/derivatives/history_derivatives.h"

#include "fem/derivatives/element_derivatives.h"
#include "fem/elements.h"
#include "material/law_history_derivatives.h"
#include "math/vec3.h"

#include <string.h>

// Distance from the switch to flow, relative to the yield stress, that counts as none.
#define ROUNDING 1e-8

// Point q of an element, and the place of its history in the block.
typedef struct Point {
  NoliMaterialPoint material;
  int64_t place;
  const int32_t* node;
  NoliVec3 gradient[NOLI_TET_NODES_MAX]; // of the shape functions
  NoliVec3 vertex[4];                    // of the linear functions of the vertices
} Point;

NoliMaterialPoint noli_block_material(const NoliBlock* block, int32_t element, int32_t q,
                                      int64_t* place) {
  NoliLame lame =
      noli_lame_at(block->lame_mu, block->lame_lambda, block->parameter, block->fibre, element);
  NoliMaterialPoint point =
      noli_material_point(block->law[element], lame, noli_block_histories(block), element, q);
  *place = point.history != NULL
               ? block->laws.first[element] + q * (int64_t)noli_history_size(&point)
               : 0;
  return point;
}

static void history_derivatives_set_point(const NoliBlock* block, int32_t element, int32_t q,
                                          Point* point) {
  point->material = noli_block_material(block, element, q, &point->place);
  point->node = block->node + block->n_local * (int64_t)element;
  noli_derivatives_of(block)->shape_gradients(block, element, q, point->gradient);
}

static bool has_history(const NoliBlock* block, int32_t element) {
  return block->laws.first[element + 1] > block->laws.first[element];
}

// ---- forces -------------------------------------------------------------------------------------

// The force V P B_a of one term of the series.
static void set_derivative(const NoliBlock* block, const Point* point, const double derivative[81],
                           double factor, double* out) {
  for (int32_t a = 0; a < block->n_local; a++) {
    double by[3];
    noli_store3(by, point->gradient[a]);
    for (int k = 0; k < 81; k++) {
      out[9 * (3 * a + k / 27) + k % 9] += factor * derivative[k] * by[k / 9 % 3];
    }
  }
}

// Branches with a G: that of the law, if it flows, and terms of the series.
static int32_t first_branch(const NoliMaterialPoint* point) {
  return noli_flow_size(point) > 0 ? 0 : 1;
}

static int64_t count_branches(const NoliBlock* block, bool flowing) {
  int64_t n = 0;
  for (int32_t e = 0; e < block->n_element; e++) {
    if (has_history(block, e)) {
      Point point;
      history_derivatives_set_point(block, e, 0, &point);
      int32_t of_point = noli_branch_count(&point.material) - first_branch(&point.material);
      of_point = flowing ? 1 - first_branch(&point.material) : of_point;
      n += of_point * (int64_t)block->type->point_count(block);
    }
  }
  return n;
}

// The G of a branch as inputs.
static void set_branch(const NoliBlock* block, const Point* point, int32_t k, const NoliMat3* F,
                       double factor, int64_t first, int64_t s, NoliMixedBlocks* blocks) {
  double derivative[81];
  int32_t place = k == 0 ? 0 : noli_history_place(&point->material, k - 1);
  noli_history_stress_derivative(&point->material, k, F, derivative);
  for (int32_t a = 0; a < block->n_local; a++) {
    blocks->node[s * block->n_local + a] = point->node[a];
  }
  for (int c = 0; c < NOLI_BRANCH_VALUES; c++) {
    blocks->input[NOLI_BRANCH_VALUES * s + c] = first + point->place + place + c;
  }
  set_derivative(block, point, derivative, factor, noli_mixed_block(blocks, s));
}

// The force of a stress.
static void history_derivatives_add_force(const NoliBlock* block, const Point* point,
                                          const NoliMat3* P, double factor, int32_t stride,
                                          double* out) {
  for (int32_t a = 0; a < block->n_local; a++) {
    double force[3];
    noli_store3(force, noli_mul33_vec(P, point->gradient[a]));
    for (int k = 0; k < 3; k++) {
      out[(int64_t)stride * (3 * a + k)] += factor * force[k];
    }
  }
}

// The internal variable of a point as an input.
static void set_internal(const NoliBlock* block, const Point* point, const NoliMat3* F,
                         double factor, int64_t first, int64_t s, NoliMixedBlocks* blocks) {
  NoliMat3 P = noli_history_stress_by_internal(&point->material, F);
  for (int32_t a = 0; a < block->n_local; a++) {
    blocks->node[s * block->n_local + a] = point->node[a];
  }
  blocks->input[s] = first + point->place + NOLI_BRANCH_VALUES;
  history_derivatives_add_force(block, point, &P, factor, 1, noli_mixed_block(blocks, s));
}

static NoliStatus derivatives_by_frame(NoliMixedList* list, const NoliBlock* block, double scale,
                                       int64_t first, const double* x) {
  NoliStatus status = NOLI_OK;
  NoliMixedBlocks* blocks;
  NoliBlockStencils stencils = noli_block_stencils(block, NOLI_PART_BENDING);
  NOLI_TRY(noli_mixed_list_add(list, NOLI_INPUT_HISTORY, stencils.n, stencils.size, 12, &blocks));
  memcpy(blocks->node, stencils.node,
         sizeof *stencils.node * (size_t)stencils.size * (size_t)stencils.n);
  for (int64_t s = 0; s < stencils.n; s++) {
    int64_t* place = blocks->input + 12 * s;
    noli_derivatives_of(block)->bending_by_frame(block, s, x, scale, place,
                                                 noli_mixed_block(blocks, s));
    for (int k = 0; k < 12; k++) {
      place[k] += first;
    }
  }
done:
  return status;
}

NoliStatus noli_block_derivatives_by_history(NoliMixedList* list, const NoliBlock* block,
                                             double scale, int64_t first, const double* x) {
  NoliStatus status = NOLI_OK;
  if (noli_block_has_frames(block)) {
    return derivatives_by_frame(list, block, scale, first, x);
  }
  NoliMixedBlocks* added;
  int64_t s = 0, flowing = 0, at = list->blocks.count;
  NOLI_TRY(noli_mixed_list_add(list, NOLI_INPUT_HISTORY, count_branches(block, false),
                               block->n_local, NOLI_BRANCH_VALUES, &added));
  NOLI_TRY(noli_mixed_list_add(list, NOLI_INPUT_HISTORY, count_branches(block, true),
                               block->n_local, 1, &added));
  NoliMixedBlocks *by_G = &list->blocks.data[at], *by_internal = by_G + 1;

  for (int32_t e = 0; e < block->n_element; e++) {
    NoliMat3 F[NOLI_ELEMENT_POINTS_MAX];
    block->type->deformation(block, e, x, F);
    for (int32_t q = 0; has_history(block, e) && q < block->type->point_count(block); q++) {
      Point point;
      history_derivatives_set_point(block, e, q, &point);
      double factor = scale * block->type->point_volume(block, e, q);
      for (int32_t k = first_branch(&point.material); k < noli_branch_count(&point.material); k++) {
        set_branch(block, &point, k, &F[q], factor, first, s++, by_G);
      }
      if (noli_flow_size(&point.material) > 0) {
        set_internal(block, &point, &F[q], factor, first, flowing++, by_internal);
      }
    }
  }
done:
  return status;
}

// ---- numbers of materials -----------------------------------------------------------------------

const NoliNumberInput noli_number_inputs[NOLI_NUMBER_INPUTS] = {
    {NOLI_INPUT_MU, NOLI_NUMBER_MU, 1},
    {NOLI_INPUT_LAMBDA, NOLI_NUMBER_LAMBDA, 1},
    {NOLI_INPUT_LAW, NOLI_NUMBER_PARAMETERS, NOLI_LAW_PARAMETERS},
    {NOLI_INPUT_FIBRE, NOLI_NUMBER_FIBRE, 2},
    {NOLI_INPUT_SERIES, NOLI_NUMBER_SHARES, 2 * NOLI_PRONY_TERMS}};

static void set_numbers(const NoliBlock* block, int32_t e, const NoliMat3* F, double scale,
                        int64_t first, int which, NoliMixedBlocks* blocks) {
  int32_t n = noli_number_inputs[which].n;
  for (int32_t a = 0; a < block->n_local; a++) {
    blocks->node[(int64_t)block->n_local * e + a] = block->node[(int64_t)block->n_local * e + a];
  }
  for (int32_t k = 0; k < n; k++) {
    blocks->input[(int64_t)n * e + k] = n * (first + e) + k;
  }
  for (int32_t q = 0; q < block->type->point_count(block); q++) {
    Point point;
    NoliMat3 by[NOLI_MATERIAL_NUMBERS];
    history_derivatives_set_point(block, e, q, &point);
    noli_history_stress_by_numbers(&point.material, &F[q], by);
    for (int32_t k = 0; k < n; k++) {
      history_derivatives_add_force(block, &point, &by[noli_number_inputs[which].first + k],
                                    scale * block->type->point_volume(block, e, q), n,
                                    noli_mixed_block(blocks, e) + k);
    }
  }
}

NoliStatus noli_block_derivatives_by_numbers(NoliMixedList* list, const NoliBlock* block,
                                             unsigned wanted, double scale, int64_t first,
                                             const double* x) {
  NoliStatus status = NOLI_OK;
  for (int which = 0; which < NOLI_NUMBER_INPUTS; which++) {
    NoliMixedBlocks* blocks;
    if ((wanted >> noli_number_inputs[which].input & 1u) == 0) {
      continue;
    }
    NOLI_TRY(noli_mixed_list_add(list, noli_number_inputs[which].input, block->n_element,
                                 block->n_local, noli_number_inputs[which].n, &blocks));
    for (int32_t e = 0; e < block->n_element; e++) {
      NoliMat3 F[NOLI_ELEMENT_POINTS_MAX];
      block->type->deformation(block, e, x, F);
      set_numbers(block, e, F, scale, first, which, blocks);
    }
  }
done:
  return status;
}

// ---- relaxation ---------------------------------------------------------------------------------

// A change dX_b of a vertex at rest changes F by -F dX_b b_b^T.
static NoliMat3 history_derivatives_change_of(const NoliBlock* block, const Point* point,
                                              const NoliMat3* F, const double* dx,
                                              const double* dX) {
  NoliMat3 sum = {0};
  for (int32_t a = 0; a < block->n_local; a++) {
    if (point->node[a] != NOLI_NULL_INDEX) {
      NoliVec3 by = noli_load3(dx + 3 * (int64_t)point->node[a]);
      sum = noli_add33(sum, noli_outer33(by, point->gradient[a]));
    }
  }
  for (int b = 0; dX != NULL && b < 4; b++) {
    if (point->node[b] != NOLI_NULL_INDEX) {
      NoliVec3 by = noli_mul33_vec(F, noli_load3(dX + 3 * (int64_t)point->node[b]));
      sum = noli_sub33(sum, noli_outer33(by, point->vertex[b]));
    }
  }
  return sum;
}

static void history_derivatives_add_to(double* to, double sign, NoliVec3 by) {
  noli_store3(to, noli_mul_add3(noli_load3(to), sign, by));
}

static void add_change(const NoliBlock* block, const Point* point, const NoliMat3* F,
                       const NoliMat3* by_F, double* by_x, double* by_X) {
  for (int32_t a = 0; by_x != NULL && a < block->n_local; a++) {
    if (point->node[a] != NOLI_NULL_INDEX) {
      history_derivatives_add_to(by_x + 3 * (int64_t)point->node[a], 1.0,
                                 noli_mul33_vec(by_F, point->gradient[a]));
    }
  }
  for (int b = 0; by_X != NULL && b < 4; b++) {
    if (point->node[b] != NOLI_NULL_INDEX) {
      NoliVec3 by = noli_mul33_vec(by_F, point->vertex[b]);
      history_derivatives_add_to(by_X + 3 * (int64_t)point->node[b], -1.0,
                                 noli_transpose_mul33_vec(F, by));
    }
  }
}

void noli_block_deformation_adjoint(const NoliBlock* block, int32_t element, int32_t q,
                                    const double* X, const NoliMat3* F, const NoliMat3* by_F,
                                    double* by_x, double* by_X) {
  Point point;
  history_derivatives_set_point(block, element, q, &point);
  noli_element_vertex_gradients(block, element, q, X, point.vertex);
  add_change(block, &point, F, by_F, by_x, by_X);
}

// Forward, or in reverse.
typedef struct Vectors {
  const NoliBlockHistoryInputs* change; // forward
  double* d_after;
  const NoliBlockHistoryInputs* by; // in reverse
  const double* by_after;
} Vectors;

// The numbers of an element: from changes of inputs, or added to derivatives by them.
static void get_numbers(const NoliBlockHistoryInputs* from, int32_t element,
                        double numbers[NOLI_MATERIAL_NUMBERS]) {
  memset(numbers, 0, NOLI_MATERIAL_NUMBERS * sizeof *numbers);
  for (int i = 0; i < NOLI_NUMBER_INPUTS; i++) {
    int32_t n = noli_number_inputs[i].n;
    for (int32_t k = 0; from->number[i] != NULL && k < n; k++) {
      numbers[noli_number_inputs[i].first + k] = from->number[i][n * (int64_t)element + k];
    }
  }
}

static void add_numbers(const double numbers[NOLI_MATERIAL_NUMBERS], int32_t element,
                        const NoliBlockHistoryInputs* to) {
  for (int i = 0; i < NOLI_NUMBER_INPUTS; i++) {
    int32_t n = noli_number_inputs[i].n;
    for (int32_t k = 0; to->number[i] != NULL && k < n; k++) {
      to->number[i][n * (int64_t)element + k] += numbers[noli_number_inputs[i].first + k];
    }
  }
}

static void relax_point(const NoliBlock* block, int32_t element, const NoliBlockRelaxation* at,
                        const NoliMat3* F, const Point* point, const Vectors* to) {
  int64_t i = point->place;
  NoliRelaxation relaxation = {.ends = at->ends, .F = *F, .before = at->before + i};
  double numbers[NOLI_MATERIAL_NUMBERS];
  if (to->by != NULL) {
    NoliMat3 by_F;
    noli_history_change_adjoint(&point->material, &relaxation, to->by_after + i, &by_F,
                                to->by->before + i, numbers);
    add_change(block, point, F, &by_F, to->by->x, to->by->X);
    add_numbers(numbers, element, to->by);
    return;
  }
  NoliMat3 dF = history_derivatives_change_of(block, point, F, to->change->x, to->change->X);
  get_numbers(to->change, element, numbers);
  noli_history_change_tangent(&point->material, &relaxation, &dF, to->change->before + i, numbers,
                              to->d_after + i);
}

static void history_derivatives_relax(const NoliBlock* block, const NoliBlockRelaxation* at,
                                      const Vectors* to) {
  for (int32_t e = 0; block->laws.first != NULL && e < block->n_element; e++) {
    NoliMat3 F[NOLI_ELEMENT_POINTS_MAX];
    if (!has_history(block, e)) {
      continue;
    }
    block->type->deformation(block, e, at->x, F);
    for (int32_t q = 0; q < block->type->point_count(block); q++) {
      Point point;
      history_derivatives_set_point(block, e, q, &point);
      noli_element_vertex_gradients(block, e, q, at->X, point.vertex);
      point.material.elapsed = at->elapsed;
      relax_point(block, e, at, &F[q], &point, to);
    }
  }
}

void noli_block_relaxation_tangent(const NoliBlock* block, const NoliBlockRelaxation* at,
                                   const NoliBlockHistoryInputs* change, double* d_after) {
  if (noli_block_has_frames(block)) {
    if (at->ends) {
      noli_derivatives_of(block)->frame_tangent(block, at->before, at->x, change->x, change->before,
                                                d_after);
    } else {
      memcpy(d_after, change->before, sizeof *d_after * (size_t)block->n_history);
    }
    return;
  }
  Vectors vectors = {.change = change, .d_after = d_after};
  history_derivatives_relax(block, at, &vectors);
}

void noli_block_relaxation_adjoint(const NoliBlock* block, const NoliBlockRelaxation* at,
                                   const double* by_after, const NoliBlockHistoryInputs* by) {
  if (noli_block_has_frames(block)) {
    if (at->ends) {
      noli_derivatives_of(block)->frame_adjoint(block, at->before, at->x, by_after, by->x,
                                                by->before);
    }
    for (int64_t i = 0; i < block->n_history && !at->ends; i++) {
      by->before[i] += by_after[i];
    }
    return;
  }
  Vectors vectors = {.by = by, .by_after = by_after};
  history_derivatives_relax(block, at, &vectors);
}

int64_t noli_block_count_switches(const NoliBlock* block, const double* x) {
  int64_t n = 0;
  for (int32_t e = 0; block->laws.first != NULL && e < block->n_element; e++) {
    NoliMat3 F[NOLI_ELEMENT_POINTS_MAX];
    if (!has_history(block, e)) {
      continue;
    }
    block->type->deformation(block, e, x, F);
    for (int32_t q = 0; q < block->type->point_count(block); q++) {
      Point point;
      history_derivatives_set_point(block, e, q, &point);
      n += noli_history_switch(&point.material, &F[q]) < ROUNDING ? 1 : 0;
    }
  }
  return n;
}
