#include "fem/history_slopes.h"

#include "fem/element_slopes.h"
#include "fem/elements.h"
#include "material/history_slopes.h"
#include "math/vec3.h"

#include <string.h>

// Point q of an element, and the place of its history in the block.
typedef struct Point {
  NoliMaterialPoint material;
  int64_t place;
  const int32_t* node;
  NoliVec3 gradient[NOLI_TET_NODES_MAX]; // of the shape functions
  NoliVec3 vertex[4];                    // of the linear functions of the vertices
} Point;

static void set_point(const NoliBlock* block, int32_t element, int32_t q, Point* point) {
  NoliLame lame =
      noli_lame_at(block->lame_mu, block->lame_lambda, block->parameter, block->fibre, element);
  point->material = noli_material_point(block->law[element], lame, &block->laws, element, q);
  point->place = block->laws.first[element] + q * (int64_t)noli_history_size(&point->material);
  point->node = block->node + block->n_local * (int64_t)element;
  block->type->shape_gradients(block, element, q, point->gradient);
}

static bool has_history(const NoliBlock* block, int32_t element) {
  return block->laws.first[element + 1] > block->laws.first[element];
}

// ---- forces -------------------------------------------------------------------------------------

// The force V P B_a of one term of the series.
static void set_slope(const NoliBlock* block, const Point* point, const double slope[81],
                      double factor, double* out) {
  for (int32_t a = 0; a < block->n_local; a++) {
    double by[3];
    noli_store3(by, point->gradient[a]);
    for (int k = 0; k < 81; k++) {
      out[9 * (3 * a + k / 27) + k % 9] += factor * slope[k] * by[k / 9 % 3];
    }
  }
}

static int64_t count_terms(const NoliBlock* block) {
  int64_t n = 0;
  for (int32_t e = 0; e < block->n_element; e++) {
    n += has_history(block, e) ? block->laws.prony[e]->n * block->type->point_count(block) : 0;
  }
  return n;
}

static NoliStatus slopes_by_frame(NoliMixedList* list, const NoliBlock* block, double scale,
                                  int64_t first, const double* x) {
  NoliStatus status = NOLI_OK;
  NoliMixedBlocks* blocks;
  NoliBlockStencils stencils = noli_block_stencils(block, NOLI_PART_BENDING);
  NOLI_TRY(noli_mixed_list_add(list, NOLI_INPUT_HISTORY, stencils.n, stencils.size, 12, &blocks));
  memcpy(blocks->node, stencils.node,
         sizeof *stencils.node * (size_t)stencils.size * (size_t)stencils.n);
  for (int64_t s = 0; s < stencils.n; s++) {
    int64_t* place = blocks->input + 12 * s;
    block->type->bending_by_frame(block, s, x, scale, place, noli_mixed_block(blocks, s));
    for (int k = 0; k < 12; k++) {
      place[k] += first;
    }
  }
done:
  return status;
}

NoliStatus noli_block_slopes_by_history(NoliMixedList* list, const NoliBlock* block, double scale,
                                        int64_t first, const double* x) {
  NoliStatus status = NOLI_OK;
  NoliMixedBlocks* blocks;
  int64_t s = 0;
  if (noli_block_has_frames(block)) {
    return slopes_by_frame(list, block, scale, first, x);
  }
  NOLI_TRY(noli_mixed_list_add(list, NOLI_INPUT_HISTORY, count_terms(block), block->n_local,
                               NOLI_BRANCH_VALUES, &blocks));
  for (int32_t e = 0; e < block->n_element; e++) {
    NoliMat3 F[NOLI_ELEMENT_POINTS_MAX];
    block->type->deformation(block, e, x, F);
    for (int32_t q = 0; has_history(block, e) && q < block->type->point_count(block); q++) {
      Point point;
      set_point(block, e, q, &point);
      double factor = scale * block->type->point_volume(block, e, q);
      for (int32_t k = 0; k < point.material.prony->n; k++, s++) {
        double slope[81];
        noli_history_stress_slope(&point.material, k, &F[q], slope);
        for (int32_t a = 0; a < block->n_local; a++) {
          blocks->node[s * block->n_local + a] = point.node[a];
        }
        for (int c = 0; c < NOLI_BRANCH_VALUES; c++) {
          blocks->input[NOLI_BRANCH_VALUES * s + c] =
              first + point.place + noli_history_place(&point.material, k) + c;
        }
        set_slope(block, &point, slope, factor, noli_mixed_block(blocks, s));
      }
    }
  }
done:
  return status;
}

// ---- relaxation ---------------------------------------------------------------------------------

// A change dX_b of a vertex at rest changes F by -F dX_b b_b^T.
static NoliMat3 change_of(const NoliBlock* block, const Point* point, const NoliMat3* F,
                          const double* dx, const double* dX) {
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

static void add_to(double* to, double sign, NoliVec3 by) {
  noli_store3(to, noli_mul_add3(noli_load3(to), sign, by));
}

static void add_change(const NoliBlock* block, const Point* point, const NoliMat3* F,
                       const NoliMat3* by_F, double* by_x, double* by_X) {
  for (int32_t a = 0; a < block->n_local; a++) {
    if (point->node[a] != NOLI_NULL_INDEX) {
      add_to(by_x + 3 * (int64_t)point->node[a], 1.0, noli_mul33_vec(by_F, point->gradient[a]));
    }
  }
  for (int b = 0; by_X != NULL && b < 4; b++) {
    if (point->node[b] != NOLI_NULL_INDEX) {
      NoliVec3 by = noli_mul33_vec(by_F, point->vertex[b]);
      add_to(by_X + 3 * (int64_t)point->node[b], -1.0, noli_transpose_mul33_vec(F, by));
    }
  }
}

// All points of an element, forward or in reverse.
typedef struct Vectors {
  const double *dx, *dX, *d_before, *by_after;
  double *d_after, *by_x, *by_X, *by_before;
} Vectors;

static void relax_point(const NoliBlock* block, const NoliBlockRelaxation* at, const NoliMat3* F,
                        const Point* point, const Vectors* to) {
  int64_t i = point->place;
  NoliRelaxation relaxation = {.ends = at->ends, .F = *F, .before = at->before + i};
  if (to->by_after != NULL) {
    NoliMat3 by_F;
    noli_history_pull(&point->material, &relaxation, to->by_after + i, &by_F, to->by_before + i);
    add_change(block, point, F, &by_F, to->by_x, to->by_X);
    return;
  }
  NoliMat3 dF = change_of(block, point, F, to->dx, to->dX);
  noli_history_push(&point->material, &relaxation, &dF, to->d_before + i, to->d_after + i);
}

static void relax(const NoliBlock* block, const NoliBlockRelaxation* at, const Vectors* to) {
  for (int32_t e = 0; block->laws.first != NULL && e < block->n_element; e++) {
    NoliMat3 F[NOLI_ELEMENT_POINTS_MAX];
    if (!has_history(block, e)) {
      continue;
    }
    block->type->deformation(block, e, at->x, F);
    for (int32_t q = 0; q < block->type->point_count(block); q++) {
      Point point;
      set_point(block, e, q, &point);
      noli_element_vertex_gradients(block, e, q, at->X, point.vertex);
      point.material.elapsed = at->elapsed;
      relax_point(block, at, &F[q], &point, to);
    }
  }
}

void noli_block_push_relaxation(const NoliBlock* block, const NoliBlockRelaxation* at,
                                const double* dx, const double* dX, const double* d_before,
                                double* d_after) {
  if (noli_block_has_frames(block)) {
    if (at->ends) {
      block->type->push_frame(block, at->before, at->x, dx, d_before, d_after);
    } else {
      memcpy(d_after, d_before, sizeof *d_after * (size_t)block->n_history);
    }
    return;
  }
  Vectors vectors = {.dx = dx, .dX = dX, .d_before = d_before, .d_after = d_after};
  relax(block, at, &vectors);
}

void noli_block_pull_relaxation(const NoliBlock* block, const NoliBlockRelaxation* at,
                                const double* by_after, double* by_x, double* by_X,
                                double* by_before) {
  if (noli_block_has_frames(block)) {
    if (at->ends) {
      block->type->pull_frame(block, at->before, at->x, by_after, by_x, by_before);
    }
    for (int64_t i = 0; i < block->n_history && !at->ends; i++) {
      by_before[i] += by_after[i];
    }
    return;
  }
  Vectors vectors = {.by_after = by_after, .by_x = by_x, .by_X = by_X, .by_before = by_before};
  relax(block, at, &vectors);
}
