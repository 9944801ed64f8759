// One decomposition F = U diag(sigma) V^T serves gradient and Hessian of a tet. With the gradients
// of the shape functions in the frame V, g'_a = V^T grad N_a, block (a, b) of the Hessian in the
// frame U has the entries
//   K(i, i) = sum_j M_ij g'_aj g'_bj,                       M_ii = A_ii, M_ij = (flip + twist)/2
//   K(i, k) = A_ik g'_ai g'_bk + B_ik g'_ak g'_bi, i != k,  B_ik = (flip - twist)/2
// with A the second derivatives in the stretches: 21 products instead of a 9 x 9 tangent (compare
// [Zheng2025] eq. 19). Blocks of node 0 follow from the others, because the energy is
// invariant to translation. The general loop (fem/element_elasticity.c), against which the tests
// compare this one, takes five times as long for linear elements.
//
// Fibres (material/fibre.h) add S n_a n_b to block (a, b) with n_a = a . grad N_a and the symmetric
// matrix S of their response.
#include "fem/elasticity.h"

#include "base/wide.h"
#include "material/response.h"
#include "material/stress.h"

enum { TETS_PER_BLOCK = 256, BLOCKS = 10, BLOCK_VALUES = 9 * BLOCKS };

// Data that all blocks of one tet share.
typedef struct Principal {
  const NoliMat3* U;
  NoliMat3 g;        // row a - 1: g'_a of node a = 1, 2, 3
  NoliMat3 diagonal; // M
  NoliMat3 stretch;  // A, off the diagonal
  NoliMat3 cross;    // B, off the diagonal
  bool fibred;
  NoliMat3 fibre;  // S
  double along[3]; // n_a of node a = 1, 2, 3
} Principal;

// Multiplies everything by `weight`.
static inline void principal_set(Principal* principal, const NoliStretchDerivatives* derivatives,
                                 double weight) {
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    double flip = 0.5 * weight * derivatives->flip[i];
    double twist = 0.5 * weight * derivatives->twist[i];
    principal->diagonal.m[i][i] = weight * derivatives->second[i][i];
    principal->diagonal.m[j][k] = principal->diagonal.m[k][j] = flip + twist;
    principal->cross.m[j][k] = principal->cross.m[k][j] = flip - twist;
    principal->stretch.m[j][k] = principal->stretch.m[k][j] = weight * derivatives->second[j][k];
  }
}

// The part of fibres, times `weight`.
static inline void principal_set_fibre(Principal* principal, const NoliFibreResponse* fibre,
                                       const NoliMat3* rest_inverse, double weight) {
  principal->fibred = fibre->first != 0.0;
  if (principal->fibred) {
    principal->fibre = noli_scale33(weight, noli_fibre_tangent(fibre));
    noli_store3(principal->along, noli_mul33_vec(rest_inverse, fibre->rest));
  }
}

// Block (a, b) in the frame U, a and b counted from node 1.
NOLI_INLINE NoliMat3 principal_block(const Principal* p, int a, int b) {
  NoliMat3 t = noli_outer33(noli_row33(&p->g, a), noli_row33(&p->g, b));
  NoliMat3 K;
  NOLI_UNROLL
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    K.m[i][i] = p->diagonal.m[i][0] * t.m[0][0] + p->diagonal.m[i][1] * t.m[1][1] +
                p->diagonal.m[i][2] * t.m[2][2];
    K.m[j][k] = p->stretch.m[j][k] * t.m[j][k] + p->cross.m[j][k] * t.m[k][j];
    K.m[k][j] = p->stretch.m[j][k] * t.m[k][j] + p->cross.m[j][k] * t.m[j][k];
  }
  return K;
}

// Copies the upper triangle to the lower one: exactly symmetric.
NOLI_INLINE void mirror(NoliMat3* a) {
  a->m[1][0] = a->m[0][1];
  a->m[2][0] = a->m[0][2];
  a->m[2][1] = a->m[1][2];
}

// U K U^T, exactly symmetric for a diagonal block.
NOLI_INLINE NoliMat3 rotated_block(const Principal* principal, const NoliMat3* U, int a, int b) {
  NoliMat3 K = principal_block(principal, a, b);
  K = noli_mul_transpose33(noli_mul33(*U, K), *U);
  if (a == b) {
    mirror(&K);
  }
  return K;
}

// The blocks of node 0: columns add up to zero.
NOLI_INLINE void find_node_0(NoliMat3 block[3][3], NoliMat3 row[4]) {
  NoliMat3 corner = {0};
  NOLI_UNROLL
  for (int b = 0; b < 3; b++) {
    NoliMat3 sum = noli_add33(noli_add33(block[0][b], block[1][b]), block[2][b]);
    corner = noli_add33(corner, sum);
    row[b + 1] = noli_scale33(-1.0, sum);
  }
  mirror(&corner);
  row[0] = corner;
}

static inline void write_node_0(NoliMat3 block[3][3], double* hessian) {
  NoliMat3 row[4];
  find_node_0(block, row);
  for (int b = 0; b < 4; b++) {
    noli_store33(hessian + 9 * noli_stencil_block(4, 0, b), &row[b]);
  }
}

static inline void elasticity_write_hessian(const Principal* principal, double* hessian) {
  // blocks of nodes 1, 2, 3
  NoliMat3 block[3][3];
  for (int a = 0; a < 3; a++) {
    for (int b = a; b < 3; b++) {
      block[a][b] = rotated_block(principal, principal->U, a, b);
      if (principal->fibred) {
        double both = principal->along[a] * principal->along[b];
        block[a][b] = noli_add33(block[a][b], noli_scale33(both, principal->fibre));
      }
      if (a != b) {
        block[b][a] = noli_transpose33(block[a][b]);
      }
      noli_store33(hessian + 9 * noli_stencil_block(4, a + 1, b + 1), &block[a][b]);
    }
  }
  write_node_0(block, hessian);
}

// Projects the Hessian of a sum of branches, by the blocks of nodes 1, 2, 3.
static void project_sum(const NoliMat3* rest_inverse, double* hessian) {
  double K[81];
  NoliMat3 block[3][3];
  for (int r = 0; r < 9; r++) {
    for (int c = 0; c < 9; c++) {
      int a = r % 3, b = c % 3, i = r / 3, j = c / 3;
      const double* upper =
          hessian + 9 * noli_stencil_block(4, 1 + (a < b ? a : b), 1 + (a < b ? b : a));
      K[9 * r + c] = upper[a <= b ? 3 * i + j : 3 * j + i];
    }
  }
  noli_branches_project(rest_inverse, K);
  for (int r = 0; r < 9; r++) {
    for (int c = 0; c < 9; c++) {
      block[r % 3][c % 3].m[r / 3][c / 3] = K[9 * r + c];
    }
  }
  for (int a = 0; a < 3; a++) {
    for (int b = a; b < 3; b++) {
      noli_store33(hessian + 9 * noli_stencil_block(4, a + 1, b + 1), &block[a][b]);
    }
  }
  write_node_0(block, hessian);
}

// The force of node 0 balances the others: f_a holds columns of the gradient for a = 1, 2, 3.
static inline void write_gradient(const NoliVec3 f[3], double* gradient) {
  NoliVec3 sum = noli_add3(noli_add3(f[0], f[1]), f[2]);
  noli_store3(gradient, noli_scale3(-1.0, sum));
  for (int a = 0; a < 3; a++) {
    noli_store3(gradient + 3 * (a + 1), f[a]);
  }
}

// P grad N_a = U diag(dPsi) g'_a, with dPsi times the weight.
NOLI_INLINE NoliVec3 frame_force(const NoliMat3* U, NoliVec3 first, NoliVec3 g) {
  return noli_mul33_vec(U, noli_vec3(first.x * g.x, first.y * g.y, first.z * g.z));
}

static inline void evaluate_gradient(const NoliResponse* response, const NoliMat3* rest_inverse,
                                     const NoliMat3* g, double weight, double* gradient) {
  NoliVec3 f[3];
  if (response->direct) {
    NoliMat3 P = noli_scale33(weight, response->P);
    for (int a = 0; a < 3; a++) {
      f[a] = noli_mul33_vec(&P, noli_row33(rest_inverse, a));
    }
  } else {
    NoliVec3 first = noli_scale3(weight, noli_load3(response->derivatives.first));
    for (int a = 0; a < 3; a++) {
      f[a] = frame_force(&response->U, first, noli_row33(g, a));
    }
  }
  if (response->fibre.first != 0.0) {
    NoliMat3 P = noli_scale33(weight, noli_fibre_stress(&response->fibre));
    for (int a = 0; a < 3; a++) {
      f[a] = noli_add3(f[a], noli_mul33_vec(&P, noli_row33(rest_inverse, a)));
    }
  }
  write_gradient(f, gradient);
}

// Energy, gradient and Hessian of one branch of a material.
static inline void evaluate_branch(const NoliMaterial* law, NoliLame lame, const NoliMat3* F,
                                   const NoliMat3* rest_inverse, double weight, unsigned what,
                                   const NoliLocal* out) {
  NoliResponse response;
  Principal principal;
  principal.U = &response.U;
  noli_respond(law, lame, F, what, &response);
  if (!response.direct) {
    principal.g = noli_mul33(*rest_inverse, response.V);
  }
  if (what & NOLI_EVAL_ENERGY) {
    *out->energy = weight * response.energy;
  }
  if (what & NOLI_EVAL_GRADIENT) {
    evaluate_gradient(&response, rest_inverse, &principal.g, weight, out->gradient);
  }
  if (what & (NOLI_EVAL_HESSIAN | NOLI_EVAL_PROJECTED)) {
    principal_set(&principal, &response.derivatives, weight);
    principal_set_fibre(&principal, &response.fibre, rest_inverse, weight);
    elasticity_write_hessian(&principal, out->hessian);
  }
}

// The sum over all branches: F G and rest_inverse G take the place of F and rest_inverse.
static void evaluate_branches(const NoliMaterialPoint* point, const NoliMat3* F,
                              const NoliMat3* rest_inverse, double weight, unsigned what,
                              const NoliLocal* out) {
  double energy, gradient[12], hessian[BLOCK_VALUES];
  const NoliLocal one = {.energy = &energy, .gradient = gradient, .hessian = hessian};
  bool needs_hessian = (what & (NOLI_EVAL_HESSIAN | NOLI_EVAL_PROJECTED)) != 0;
  unsigned of_branch = noli_branch_what(point, what);
  for (int32_t k = 0; k < noli_branch_count(point); k++) {
    NoliBranch branch = noli_branch_at(point, k);
    NoliMat3 F_branch = noli_branch_times(&branch, F);
    NoliMat3 inverse = noli_branch_times(&branch, rest_inverse);
    if (k == 0) {
      evaluate_branch(branch.law, branch.lame, &F_branch, &inverse, weight, of_branch, out);
      continue;
    }
    evaluate_branch(branch.law, branch.lame, &F_branch, &inverse, weight, of_branch, &one);
    if (what & NOLI_EVAL_ENERGY) {
      *out->energy += energy;
    }
    for (int i = 0; (what & NOLI_EVAL_GRADIENT) && i < 12; i++) {
      out->gradient[i] += gradient[i];
    }
    for (int i = 0; needs_hessian && i < BLOCK_VALUES; i++) {
      out->hessian[i] += hessian[i];
    }
  }

  if (of_branch != what) {
    project_sum(rest_inverse, out->hessian);
  }
}

static void evaluate_tet(const NoliElasticity* elasticity, const double* x, int64_t t,
                         unsigned what, const NoliLocal* out) {
  const NoliTets* tets = elasticity->tets;
  const NoliMaterial* law = elasticity->law[t];
  NoliLame lame = noli_lame_at(elasticity->lame_mu, elasticity->lame_lambda, elasticity->parameter,
                               elasticity->fibre, t);
  double weight = elasticity->scale * tets->volume[t];
  NoliMat3 F = noli_tets_deformation(tets, t, x);
  NoliMat3 rest_inverse = noli_load33(tets->rest_inverse + 9 * t);
  if (elasticity->histories == NULL) {
    evaluate_branch(law, lame, &F, &rest_inverse, weight, what, out);
  } else {
    NoliMaterialPoint point = noli_material_point(law, lame, elasticity->histories, t, 0);
    evaluate_branches(&point, &F, &rest_inverse, weight, what, out);
  }
}

// ---- several tets at once -----------------------------------------------------------------------

// The same operations in the same order as above, on NOLI_LANES tets at a time.
typedef struct Batch {
  NoliLanes33 F, U, V;
  NoliLanes3 sigma;
  NoliLanes33 rest_inverse;
  NoliLanes33 g, diagonal, stretch, cross; // of Principal
  NoliLanes3 first;                        // dPsi times the weight
  NoliLanes33 block[BLOCKS];
  NoliLanes3 force[4];
} Batch;

// Laws without fibres and history, where they need a decomposition of F.
static bool suits_batch(const NoliElasticity* elasticity, int64_t t, bool needs_hessian) {
  const NoliMaterial* law = elasticity->law[t];
  const NoliHistories* histories = elasticity->histories;
  bool direct = law->energy != NULL && law->stress != NULL;
  const double* fibre = elasticity->fibre;
  bool fibred = fibre != NULL && noli_fibre_is_there(fibre + NOLI_FIBRE_VALUES * t);
  bool remembers = histories != NULL && histories->first[t + 1] > histories->first[t];
  return (needs_hessian || !direct) && !fibred && !remembers;
}

static inline void set_off_diagonal_lane(NoliLanes33* to, int l, const NoliMat3* symmetric) {
  to->m[0][1][l] = to->m[1][0][l] = symmetric->m[0][1];
  to->m[0][2][l] = to->m[2][0][l] = symmetric->m[0][2];
  to->m[1][2][l] = to->m[2][1][l] = symmetric->m[1][2];
}

// The law of tet t, which is lane l.
static inline void respond_lane(const NoliElasticity* elasticity, int64_t t, int l, unsigned what,
                                Batch* batch, const NoliLocal* out) {
  const NoliMaterial* law = elasticity->law[t];
  NoliLame lame =
      noli_lame_at(elasticity->lame_mu, elasticity->lame_lambda, elasticity->parameter, NULL, t);
  double weight = elasticity->scale * elasticity->tets->volume[t], sigma[3];
  noli_store3(sigma, noli_lane3(&batch->sigma, l));
  if (what & NOLI_EVAL_ENERGY) {
    NoliMat3 F = noli_lane33(&batch->F, l);
    out->energy[l] =
        weight * (law->energy != NULL ? law->energy(lame, &F) : law->stretch_energy(lame, sigma));
  }
  if (what & ~(unsigned)NOLI_EVAL_ENERGY) {
    NoliStretchDerivatives derivatives;
    law->stretch_derivatives(lame, sigma, &derivatives);
    if (what & NOLI_EVAL_PROJECTED) {
      noli_stretch_project(&derivatives);
    }
    Principal principal;
    principal_set(&principal, &derivatives, weight);
    noli_set_lane33(&batch->diagonal, l, principal.diagonal);
    set_off_diagonal_lane(&batch->stretch, l, &principal.stretch);
    set_off_diagonal_lane(&batch->cross, l, &principal.cross);
    noli_set_lane3(&batch->first, l, noli_scale3(weight, noli_load3(derivatives.first)));
  }
}

NOLI_INLINE void set_frame_lane(Batch* batch, int l) {
  noli_set_lane33(&batch->g, l,
                  noli_mul33(noli_lane33(&batch->rest_inverse, l), noli_lane33(&batch->V, l)));
}

NOLI_INLINE void set_force_lane(Batch* batch, int l) {
  NoliMat3 U = noli_lane33(&batch->U, l), g = noli_lane33(&batch->g, l);
  NoliVec3 f[3], first = noli_lane3(&batch->first, l);
  NOLI_UNROLL
  for (int a = 0; a < 3; a++) {
    f[a] = frame_force(&U, first, noli_row33(&g, a));
    noli_set_lane3(&batch->force[a + 1], l, f[a]);
  }
  NoliVec3 sum = noli_add3(noli_add3(f[0], f[1]), f[2]);
  noli_set_lane3(&batch->force[0], l, noli_scale3(-1.0, sum));
}

NOLI_INLINE void set_block_lane(Batch* batch, int a, int b, int l) {
  Principal principal;
  principal.g = noli_lane33(&batch->g, l);
  principal.diagonal = noli_lane33(&batch->diagonal, l);
  principal.stretch = noli_lane33(&batch->stretch, l);
  principal.cross = noli_lane33(&batch->cross, l);
  NoliMat3 U = noli_lane33(&batch->U, l);
  noli_set_lane33(&batch->block[noli_stencil_block(4, a + 1, b + 1)], l,
                  rotated_block(&principal, &U, a, b));
}

NOLI_INLINE void set_node_0_lane(Batch* batch, int l) {
  NoliMat3 block[3][3], row[4];
  NOLI_UNROLL
  for (int a = 0; a < 3; a++) {
    NOLI_UNROLL
    for (int b = a; b < 3; b++) {
      block[a][b] = noli_lane33(&batch->block[noli_stencil_block(4, a + 1, b + 1)], l);
      block[b][a] = a == b ? block[a][b] : noli_transpose33(block[a][b]);
    }
  }
  find_node_0(block, row);
  NOLI_UNROLL
  for (int b = 0; b < 4; b++) {
    noli_set_lane33(&batch->block[b], l, row[b]);
  }
}

NOLI_WIDE static void set_frames(Batch* restrict batch) {
  NOLI_FOR_LANES(l) {
    set_frame_lane(batch, l);
  }
}

NOLI_WIDE static void set_forces(Batch* restrict batch) {
  NOLI_FOR_LANES(l) {
    set_force_lane(batch, l);
  }
}

NOLI_WIDE static void set_blocks(Batch* restrict batch) {
  NOLI_UNROLL
  for (int a = 0; a < 3; a++) {
    NOLI_UNROLL
    for (int b = a; b < 3; b++) {
      NOLI_FOR_LANES(l) {
        set_block_lane(batch, a, b, l);
      }
    }
  }
  NOLI_FOR_LANES(l) {
    set_node_0_lane(batch, l);
  }
}

// Writes n values of every lane, lane by lane.
static inline void scatter(const double* values, int n, double* to) {
  for (int l = 0; l < NOLI_LANES; l++) {
    NOLI_UNROLL
    for (int k = 0; k < n; k++) {
      to[n * l + k] = values[NOLI_LANES * k + l];
    }
  }
}

static void evaluate_batch(const NoliElasticity* elasticity, const double* x, int64_t begin,
                           unsigned what, const NoliLocal* out) {
  const NoliTets* tets = elasticity->tets;
  Batch batch;
  for (int l = 0; l < NOLI_LANES; l++) {
    noli_set_lane33(&batch.F, l, noli_tets_deformation(tets, begin + l, x));
    noli_set_lane33(&batch.rest_inverse, l, noli_load33(tets->rest_inverse + 9 * (begin + l)));
  }
  noli_svd3_lanes(&batch.F, &batch.U, &batch.sigma, &batch.V);
  for (int l = 0; l < NOLI_LANES; l++) {
    respond_lane(elasticity, begin + l, l, what, &batch, out);
  }
  set_frames(&batch);
  if (what & NOLI_EVAL_GRADIENT) {
    set_forces(&batch);
    scatter(batch.force[0].v[0], 12, out->gradient);
  }
  if (what & (NOLI_EVAL_HESSIAN | NOLI_EVAL_PROJECTED)) {
    set_blocks(&batch);
    scatter(batch.block[0].m[0][0], BLOCK_VALUES, out->hessian);
  }
}

void noli_elasticity_evaluate(const void* data, const double* x, int64_t begin, int64_t end,
                              unsigned what, const NoliLocal* out) {
  const NoliElasticity* elasticity = data;
  bool needs_hessian = (what & (NOLI_EVAL_HESSIAN | NOLI_EVAL_PROJECTED)) != 0;
  int64_t t = begin;
  while (t < end) {
    // as many in a row as a batch takes
    int64_t n = 0;
    while (n < NOLI_LANES && t + n < end && suits_batch(elasticity, t + n, needs_hessian)) {
      n++;
    }
    NoliLocal here = noli_local_at(out, 4, t - begin);
    if (n == NOLI_LANES) {
      evaluate_batch(elasticity, x, t, what, &here);
      t += n;
    } else {
      for (int64_t last = t + n; t <= last && t < end; t++) {
        here = noli_local_at(out, 4, t - begin);
        evaluate_tet(elasticity, x, t, what, &here);
      }
    }
  }
}

NoliEnergyTerm noli_elasticity_term(const NoliElasticity* data) {
  return (NoliEnergyTerm){.name = "elasticity",
                          .data = data,
                          .evaluate = noli_elasticity_evaluate,
                          .size = 4,
                          .n_stencil = data->tets->n_tet,
                          .node = data->tets->tet,
                          .fixed = true};
}

void noli_elasticity_add_stress(const NoliElasticity* data, int64_t t, const double* x,
                                NoliStress* sum) {
  NoliLame lame = noli_lame_at(data->lame_mu, data->lame_lambda, data->parameter, data->fibre, t);
  NoliMat3 F = noli_tets_deformation(data->tets, t, x);
  NoliMaterialPoint point = noli_material_point(data->law[t], lame, data->histories, t, 0);
  noli_stress_add(sum, data->tets->volume[t], &point, &F);
}
