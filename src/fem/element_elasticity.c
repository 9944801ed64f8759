// With dF = sum_a dx_a (x) grad N_a and P = dPsi/dF at point q, of volume w:
//   gradient  f_a  = sum_q w P grad N_a,
//   Hessian   K_ab = sum_q w A(grad N_a, grad N_b),  A = dP/dF.
// Both are pulled back to the reference element, where the derivatives of the shape functions are
// tables that all elements share: with G = dxi/dX, grad N_a = G^T dN_a, so that
//   f_a = sum_q (w P G^T) dN_a,  and A becomes a symmetric 9 x 9 matrix in (i, k).
// F = U diag(sigma) V^T gives A as a sum over the pairs (m, n) of E_mn = u_m (x) G v_n
// (fem/elasticity.c). For each pair of components i <= j the blocks are then a product of two
// tables, K_ij[a][b] = sum_{q,k} dN_a,k (sum_l A_ik,jl dN_b,l), done for POINTS points at a time so
// that the data stay in the cache, and in squares of TILE nodes, so that sums stay in registers.
// fem/elasticity.c is the faster version for linear tetrahedra.
#include "fem/element_elasticity.h"

#include "base/wide.h"
#include "material/response.h"
#include "material/stress.h"

#include <string.h>

enum {
  POINTS = 8,
  TETS_PER_BLOCK = 16,
  TILE = NOLI_ELEMENT_TILE,
  NODES = NOLI_TET_NODES_MAX + TILE - 1 // maximum, rounded up to full squares
};

// The pairs of components i <= j, and their indices.
enum { PAIRS = 6 };
static const int pair_of[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};

// Adds s times (b as a column) times (y as a row) to a 9 x 9 matrix.
static inline void add_outer(double* A, const double b[9], const double y[9]) {
  for (int r = 0; r < 9; r++) {
    for (int c = 0; c < 9; c++) {
      A[9 * r + c] += b[r] * y[c];
    }
  }
}

// Adds dP/dF times `weight` in the reference element to A: row 3 i + k, column 3 j + l.
NOLI_WIDE static void add_reference_tangent(const NoliStretchDerivatives* d, double weight,
                                            const NoliMat3* U, const NoliMat3* GV, double A[81]) {
  double E[3][3][9], Y[9];
  for (int m = 0; m < 3; m++) {
    for (int n = 0; n < 3; n++) {
      for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
          E[m][n][3 * i + k] = U->m[i][m] * GV->m[k][n];
        }
      }
    }
  }

  for (int m = 0; m < 3; m++) {
    // coupled stretches
    for (int r = 0; r < 9; r++) {
      Y[r] = weight * (d->second[m][0] * E[0][0][r] + d->second[m][1] * E[1][1][r] +
                       d->second[m][2] * E[2][2][r]);
    }
    add_outer(A, E[m][m], Y);
    // the two off-diagonal entries in the plane of the other axes
    int j = (m + 1) % 3, k = (m + 2) % 3;
    double own = 0.5 * weight * (d->flip[m] + d->twist[m]);
    double cross = 0.5 * weight * (d->flip[m] - d->twist[m]);
    for (int r = 0; r < 9; r++) {
      Y[r] = own * E[j][k][r] + cross * E[k][j][r];
    }
    add_outer(A, E[j][k], Y);
    for (int r = 0; r < 9; r++) {
      Y[r] = own * E[k][j][r] + cross * E[j][k][r];
    }
    add_outer(A, E[k][j], Y);
  }
}

// Adds that of fibres: A_ik,jl = S_ij m_k m_l with m = G a.
static void add_fibre_tangent(const NoliFibreResponse* fibre, double weight, const double* inverse,
                              double A[81]) {
  NoliMat3 G = noli_load33(inverse), S = noli_fibre_tangent(fibre);
  double m[3];
  noli_store3(m, noli_mul33_vec(&G, fibre->rest));
  for (int r = 0; r < 9; r++) {
    for (int c = 0; c < 9; c++) {
      A[9 * r + c] += weight * S.m[r / 3][c / 3] * m[r % 3] * m[c % 3];
    }
  }
}

// Scratch memory of the evaluation of one element.
typedef struct Scratch {
  NoliMat3 F[NOLI_ELEMENT_POINTS_MAX];
  double B[3][3 * NOLI_ELEMENT_POINTS_MAX]; // w P G^T: component i, then 3 q + k
  double A[POINTS][81];
  double T[3 * POINTS * NODES]; // sum_l A dN_b,l for one pair of components: 3 q + k, b
  double K[PAIRS][NODES * NODES];
} Scratch;

// Adds sum_r s_r,a t_r,b for TILE nodes a and b each to a square of K.
static inline void add_tile(int32_t n_row, int32_t stride, const double* restrict s,
                            const double* restrict t, double* restrict K) {
  double sum[TILE][TILE];
  for (int a = 0; a < TILE; a++) {
    for (int b = 0; b < TILE; b++) {
      sum[a][b] = K[a * stride + b];
    }
  }
  for (int32_t r = 0; r < n_row; r++, s += stride, t += stride) {
    for (int a = 0; a < TILE; a++) {
      for (int b = 0; b < TILE; b++) {
        sum[a][b] += s[a] * t[b];
      }
    }
  }
  for (int a = 0; a < TILE; a++) {
    for (int b = 0; b < TILE; b++) {
      K[a * stride + b] = sum[a][b];
    }
  }
}

// Adds the products of n_point points from `first` on to the pair (i, j). If the components are
// equal, only squares on and above the diagonal; the rest is symmetric.
NOLI_WIDE static void add_products(const NoliElements* elements, int32_t first, int32_t n_point,
                                   int i, int j, Scratch* scratch) {
  int32_t n = elements->stride;
  const double* table = elements->by_point + 3 * (int64_t)first * n;
  double* restrict T = scratch->T;
  for (int32_t q = 0; q < n_point; q++) {
    const double *d0 = table + 3 * q * n, *d1 = d0 + n, *d2 = d1 + n;
    for (int k = 0; k < 3; k++) {
      const double* entry = scratch->A[q] + 9 * (3 * i + k) + 3 * j;
      double* row = T + (3 * q + k) * n;
      double e0 = entry[0], e1 = entry[1], e2 = entry[2];
      for (int32_t b = 0; b < n; b++) {
        row[b] = e0 * d0[b] + e1 * d1[b] + e2 * d2[b];
      }
    }
  }
  double* K = scratch->K[pair_of[i][j]];
  for (int32_t a = 0; a < n; a += TILE) {
    for (int32_t b = i == j ? a : 0; b < n; b += TILE) {
      add_tile(3 * n_point, n, table + a, T + b, K + a * n + b);
    }
  }
}

static void element_elasticity_write_hessian(int32_t n, int32_t stride, const Scratch* scratch,
                                             double* hessian) {
  for (int32_t a = 0; a < n; a++) {
    for (int32_t b = a; b < n; b++, hessian += 9) {
      for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
          // K_ji[a][b] = K_ij[b][a]
          int32_t at = i <= j ? a * stride + b : b * stride + a;
          hessian[3 * i + j] = scratch->K[pair_of[i][j]][at];
        }
      }
    }
  }
}

// f_a = sum over points and axes; node 0 balances the others.
NOLI_WIDE static void write_gradient(const NoliElements* elements, const Scratch* scratch,
                                     double* gradient) {
  int32_t n = elements->space->n_local;
  for (int i = 0; i < 3; i++) {
    double f[NODES] = {0.0}, sum = 0.0;
    for (int32_t r = 0; r < 3 * elements->n_point; r++) {
      double s = scratch->B[i][r];
      const double* table = elements->by_point + (int64_t)r * elements->stride;
      for (int32_t a = 0; a < n; a++) {
        f[a] += s * table[a];
      }
    }
    for (int32_t a = 1; a < n; a++) {
      sum += f[a];
      gradient[3 * a + i] = f[a];
    }
    gradient[i] = -sum;
  }
}

// B = w P G^T of one point.
static void set_force(Scratch* scratch, int32_t q, const NoliMat3* P, double weight,
                      const double* inverse) {
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 3; k++) {
      scratch->B[i][3 * q + k] =
          weight * (P->m[i][0] * inverse[3 * k] + P->m[i][1] * inverse[3 * k + 1] +
                    P->m[i][2] * inverse[3 * k + 2]);
    }
  }
}

// The element under evaluation.
typedef struct Element {
  const NoliElementElasticity* data;
  int64_t t;
  const NoliMaterial* law;
  NoliLame lame;
  unsigned what;
} Element;

// Energy of one branch of the material of a point; its stress, and its tangent into A. A branch has
// F G in place of F, and a reference element mapped by `inverse` G.
static double evaluate_branch(const NoliBranch* branch, const NoliMat3* F, unsigned what,
                              double weight, const double* inverse, NoliMat3* P, double A[81]) {
  NoliResponse response;
  NoliMat3 of_branch = noli_branch_times(branch, F);
  noli_respond(branch->law, branch->lame, &of_branch, what, &response);
  if (what & NOLI_EVAL_GRADIENT) {
    *P = response.direct
             ? response.P
             : noli_mul_transpose33(
                   noli_mul33(response.U, noli_diagonal33(response.derivatives.first)), response.V);
    if (response.fibre.first != 0.0) {
      *P = noli_add33(*P, noli_fibre_stress(&response.fibre));
    }
  }
  if (what & (NOLI_EVAL_HESSIAN | NOLI_EVAL_PROJECTED)) {
    NoliMat3 G = noli_load33(inverse);
    NoliMat3 GV = noli_mul33(noli_branch_times(branch, &G), response.V);
    add_reference_tangent(&response.derivatives, weight, &response.U, &GV, A);
    if (response.fibre.first != 0.0) {
      add_fibre_tangent(&response.fibre, weight, inverse, A);
    }
  }
  return (what & NOLI_EVAL_ENERGY) ? weight * response.energy : 0.0;
}

// Energy of one point; its force and its tangent into the scratch.
static double evaluate_point(const Element* element, int32_t q, double weight,
                             const double* inverse, Scratch* scratch) {
  NoliMaterialPoint point =
      noli_material_point(element->law, element->lame, element->data->histories, element->t, q);
  double energy = 0.0, *A = scratch->A[q % POINTS];
  unsigned of_branch = noli_branch_what(&point, element->what);
  NoliMat3 sum;
  if (element->what & (NOLI_EVAL_HESSIAN | NOLI_EVAL_PROJECTED)) {
    memset(A, 0, sizeof scratch->A[0]);
  }
  for (int32_t k = 0; k < noli_branch_count(&point); k++) {
    NoliBranch branch = noli_branch_at(&point, k);
    NoliMat3 P;
    energy += evaluate_branch(&branch, &scratch->F[q], of_branch, weight, inverse, &P, A);
    if (element->what & NOLI_EVAL_GRADIENT) {
      P = noli_branch_adjoint(&branch, &P);
      sum = k == 0 ? P : noli_add33(sum, P);
    }
  }

  if (of_branch != element->what) {
    NoliMat3 G = noli_load33(inverse);
    noli_branches_project(&G, A);
  }
  if (element->what & NOLI_EVAL_GRADIENT) {
    set_force(scratch, q, &sum, weight, inverse);
  }
  return energy;
}

static void evaluate_element(const Element* element, const double* x, const NoliLocal* out,
                             Scratch* scratch) {
  const NoliElements* elements = element->data->elements;
  int32_t n = elements->space->n_local, n_point = elements->n_point;
  bool needs_hessian = (element->what & (NOLI_EVAL_HESSIAN | NOLI_EVAL_PROJECTED)) != 0;
  double energy = 0.0;
  noli_elements_deformation(elements, element->t, x, false, scratch->F);
  if (needs_hessian) {
    for (int pair = 0; pair < PAIRS; pair++) {
      memset(scratch->K[pair], 0,
             (size_t)elements->stride * (size_t)elements->stride * sizeof(double));
    }
  }

  for (int32_t q = 0; q < n_point; q++) {
    int64_t at = noli_elements_at(elements, element->t, q);
    double weight = element->data->scale * noli_elements_volume(elements, element->t, q);
    energy += evaluate_point(element, q, weight, elements->inverse + 9 * at, scratch);
    // a full batch of tangents, or the last one
    if (needs_hessian && (q % POINTS == POINTS - 1 || q == n_point - 1)) {
      int32_t first = q / POINTS * POINTS;
      for (int i = 0; i < 3; i++) {
        for (int j = i; j < 3; j++) {
          add_products(elements, first, q + 1 - first, i, j, scratch);
        }
      }
    }
  }

  if (element->what & NOLI_EVAL_ENERGY) {
    *out->energy = energy;
  }
  if (element->what & NOLI_EVAL_GRADIENT) {
    write_gradient(elements, scratch, out->gradient);
  }
  if (needs_hessian) {
    element_elasticity_write_hessian(n, elements->stride, scratch, out->hessian);
  }
}

void noli_element_elasticity_evaluate(const void* data, const double* x, int64_t begin, int64_t end,
                                      unsigned what, const NoliLocal* out) {
  const NoliElementElasticity* elasticity = data;
  Scratch scratch;
  for (int64_t t = begin; t < end; t++) {
    Element element = {.data = elasticity,
                       .t = t,
                       .law = elasticity->law[t],
                       .lame = noli_lame_at(elasticity->lame_mu, elasticity->lame_lambda,
                                            elasticity->parameter, elasticity->fibre, t),
                       .what = what};
    NoliLocal here = noli_local_at(out, elasticity->elements->space->n_local, t - begin);
    evaluate_element(&element, x + 3 * (int64_t)elasticity->first_node, &here, &scratch);
  }
}

NoliEnergyTerm noli_element_elasticity_term(const NoliElementElasticity* data) {
  const NoliSpace* space = data->elements->space;
  return (NoliEnergyTerm){.name = "elasticity of elements",
                          .data = data,
                          .evaluate = noli_element_elasticity_evaluate,
                          .size = space->n_local,
                          .n_stencil = space->n_tet,
                          .node = data->node != NULL ? data->node : space->node,
                          .fixed = true};
}

void noli_element_elasticity_add_stress(const NoliElementElasticity* data, int64_t t,
                                        const double* x, NoliStress* sum) {
  const NoliElements* elements = data->elements;
  NoliLame lame = noli_lame_at(data->lame_mu, data->lame_lambda, data->parameter, data->fibre, t);
  NoliMat3 F[NOLI_ELEMENT_POINTS_MAX];
  noli_elements_deformation(elements, t, x + 3 * (int64_t)data->first_node, false, F);
  for (int32_t q = 0; q < elements->n_point; q++) {
    NoliMaterialPoint point = noli_material_point(data->law[t], lame, data->histories, t, q);
    noli_stress_add(sum, noli_elements_volume(elements, t, q), &point, &F[q]);
  }
}
