#include "fem/thin/fold.h"

#include "fem/thin/fold_stiffness.h"
#include "math/vec3.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

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
      out->gradient[k] = scale * (strain[0] * J[0][k] + strain[1] * J[1][k] + strain[2] * J[2][k]);
    }
  }
  if (what & (NOLI_EVAL_HESSIAN | NOLI_EVAL_PROJECTED)) {
    double* blocks = out->hessian;
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
      out->energy[f - begin] =
          0.5 * bending->scale *
          (strain[0] * strain[0] + strain[1] * strain[1] + strain[2] * strain[2]);
    }
    if (what & ~(unsigned)NOLI_EVAL_ENERGY) {
      NoliLocal here = noli_local_at(out, NODES, f - begin);
      write_derivatives(bending, f, x, strain, what, &here);
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

// ---- from triangles -----------------------------------------------------------------------------

// Room for one more, without nodes and hinges.
static NoliStatus fold_append(NoliContext* context, NoliFolds* folds) {
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
  int32_t k = 0;
  while (k < 2 && (far[k] == a || far[k] == b)) {
    k++;
  }
  return far[k];
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
    NOLI_TRY(fold_append(context, folds));
    int64_t f = folds->n_fold - 1;
    const int32_t* v = tri + 3 * (int64_t)t;
    memcpy(folds->node + NODES * f, v, 3 * sizeof *v);
    folds->tri[2 * f] = folds->tri[2 * f + 1] = t;
    surround(&sheet, t, folds);

    // angles at rest: those over an angle of 0
    noli_folds_turns(folds, f, X, folds->rest + HINGES * f);
    const NoliFoldRest rest = {.X = X, .axis = axis + 3 * (int64_t)t, .plate = &plate[t - begin]};
    noli_folds_set_root(folds, f, &rest);
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
    NOLI_TRY(fold_append(context, folds));
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
