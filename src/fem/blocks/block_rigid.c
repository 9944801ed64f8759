// The block type of rigid bodies: affine bodies of four nodes with equal masses [Lan2022].
//
// With x = c + A (X - C) the energy of an element is k |A^T A - I|^2. Its first derivative by A is
// P = 4 k A D with D = A^T A - I, the force on node a is P g_a with the gradient g_a of its shape
// function, and
//   d2E / dx_a dx_b = 4 k (g_a . D g_b I + A g_b (A g_a)^T + g_a . g_b A A^T).
// The last two are semi-definite together, the first one is made so by dropping the negative
// eigenvalues of D.
#include "fem/blocks/block_rigid.h"

#include "fem/tets.h"
#include "math/eigen.h"
#include "math/rotation.h"
#include "math/svd3.h"

#include <math.h>
#include <string.h>

typedef struct Rigid {
  NoliTets tets;
  double* mass;       // (n_element) kg
  double* borne;      // (n_element) kg, the largest mass that hangs on it, or its own
  double* volume;     // (n_element) m^3, inside the surface
  double* stiffness;  // (n_element) J
  double* radius_sqr; // (n_element) m^2, largest second moment of the mass over the mass
  double* arm;        // (n_element x 4 x 3) nodes from their centre at rest
  bool* joined;       // (n_element) takes straight steps
} Rigid;

static const Rigid* rigid_of(const NoliBlock* block) {
  return block->self;
}

// ---- making -------------------------------------------------------------------------------------

static bool rigid_serves(const NoliBlockBody* body) {
  return body->rigid.rigid;
}

static int32_t rigid_work(const NoliBlockBody* body, int32_t others) {
  (void)body, (void)others;
  return noli_stencil_blocks(4);
}

static NoliStatus rigid_add(NoliBlock* block, int32_t begin, const NoliBlockBody* body) {
  NoliStatus status = NOLI_OK;
  Rigid* self = block->self;
  if (self == NULL) {
    NOLI_NEW_ZERO(block->context, self, 1);
    block->self = self;
    block->n_local = 4;
    NOLI_NEW(block->context, block->node, 4 * (int64_t)block->n_element);
    NOLI_NEW(block->context, self->mass, block->n_element);
    NOLI_NEW(block->context, self->borne, block->n_element);
    NOLI_NEW(block->context, self->volume, block->n_element);
    NOLI_NEW_ZERO(block->context, self->stiffness, block->n_element);
    NOLI_NEW_ZERO(block->context, self->radius_sqr, block->n_element);
    NOLI_NEW_ZERO(block->context, self->arm, 12 * (int64_t)block->n_element);
    NOLI_NEW_ZERO(block->context, self->joined, block->n_element);
    NOLI_TRY(noli_tets_allocate(block->context, block->n_element, block->node, &self->tets));
  }
  memcpy(block->node + 4 * (int64_t)begin, body->corner, 4 * sizeof *body->corner);
  self->mass[begin] = self->borne[begin] = body->rigid.mass;
  self->volume[begin] = body->rigid.volume;
done:
  return status;
}

static void set_arms(const NoliBlock* block, Rigid* self, int32_t e, const double* X) {
  const int32_t* node = block->node + 4 * (int64_t)e;
  NoliVec3 centre = {0};
  NoliMat3 second = {0};
  double a[9], value[3], vector[9];
  for (int k = 0; k < 4; k++) {
    centre = noli_mul_add3(centre, 0.25, noli_load3(X + 3 * (int64_t)node[k]));
  }
  for (int k = 0; k < 4; k++) {
    NoliVec3 arm = noli_sub3(noli_load3(X + 3 * (int64_t)node[k]), centre);
    second = noli_add33(second, noli_scale33(0.25, noli_outer33(arm, arm)));
    noli_store3(self->arm + 12 * (int64_t)e + 3 * k, arm);
  }
  noli_store33(a, &second);
  noli_eigen_symmetric(3, a, value, vector);
  self->radius_sqr[e] = value[2];
}

static NoliStatus rigid_set_rest(NoliBlock* block, int32_t begin, int32_t end, int32_t first,
                                 const double* X, double thickness) {
  (void)thickness;
  Rigid* self = block->self;
  for (int32_t e = begin; e < end; e++) {
    set_arms(block, self, e, X);
  }
  return noli_tets_set_rest(block->context, &self->tets, begin, end, block->number, first, X);
}

// What does not stretch has no damping.
static NoliStatus rigid_finish(NoliBlock* block) {
  for (int32_t e = 0; e < block->n_element; e++) {
    block->damping_time[e] = 0.0;
  }
  return NOLI_OK;
}

static void rigid_destroy(NoliBlock* block) {
  Rigid* self = block->self;
  noli_tets_destroy(block->context, &self->tets);
  noli_free(block->context, self->mass);
  noli_free(block->context, self->borne);
  noli_free(block->context, self->volume);
  noli_free(block->context, self->stiffness);
  noli_free(block->context, self->radius_sqr);
  noli_free(block->context, self->arm);
  noli_free(block->context, self->joined);
}

void noli_rigid_set_stiffness(NoliBlock* block, int32_t element, double stiffness) {
  ((Rigid*)block->self)->stiffness[element] = stiffness;
}

void noli_rigid_join(NoliBlock* block, int32_t element) {
  ((Rigid*)block->self)->joined[element] = true;
}

bool noli_rigid_has_joined(const NoliBlock* block) {
  bool any = false;
  for (int32_t e = 0; e < block->n_element; e++) {
    any = any || rigid_of(block)->joined[e];
  }
  return any;
}

// ---- orientation --------------------------------------------------------------------------------

static bool rigid_is_inverted(const NoliBlock* block, const double* x, int32_t element) {
  NoliTets one = {.n_tet = 1, .tet = block->node + 4 * (int64_t)element};
  return noli_tets_first_inverted(&one, x, 1) != NOLI_NULL_INDEX;
}

static double rigid_inversion_bound(const NoliBlock* block, const double* x, const double* p,
                                    double keep, bool valid_end, int32_t n_threads,
                                    int32_t* blocking) {
  return noli_tets_inversion_bound(&rigid_of(block)->tets, x, p, keep, valid_end, n_threads,
                                   blocking);
}

// ---- measures -----------------------------------------------------------------------------------

// D = A^T A - I.
static NoliMat3 stretch_of(const NoliMat3* A) {
  NoliMat3 D = noli_transpose_mul33(*A, *A);
  for (int k = 0; k < 3; k++) {
    D.m[k][k] -= 1.0;
  }
  return D;
}

double noli_rigid_stretch(const NoliBlock* block, int32_t element, const double* x) {
  NoliMat3 A = noli_tets_deformation(&rigid_of(block)->tets, element, x);
  NoliMat3 D = stretch_of(&A);
  return sqrt(noli_norm_sqr33(&D));
}

double noli_rigid_excess(const NoliBlock* block, const double* p, bool joined) {
  const Rigid* self = rigid_of(block);
  double largest = 0.0;
  for (int32_t e = 0; e < block->n_element; e++) {
    NoliMat3 dA = noli_tets_deformation(&self->tets, e, p);
    NoliMat3 square = noli_transpose_mul33(dA, dA);
    double ratio = self->stiffness[e] / (self->mass[e] * self->radius_sqr[e]);
    ratio = self->joined[e] == joined ? ratio : 0.0;
    largest = fmax(largest, ratio * sqrt(noli_norm_sqr33(&square)));
  }
  return largest;
}

// The rotation R that minimizes the sum of |R (X - C) - (x - c)|^2 over the nodes, of equal masses,
// with their centre c: that of U S V^T for the sum of (x - c) (X - C)^T = A J, J the moments of the
// nodes at rest.
static NoliMat3 rotation_of(const double* arm, const NoliVec3 at[4], NoliVec3* centre) {
  NoliMat3 sum = {0}, U, V;
  double sigma[3];
  *centre = (NoliVec3){0};
  for (int a = 0; a < 4; a++) {
    *centre = noli_mul_add3(*centre, 0.25, at[a]);
  }
  for (int a = 0; a < 4; a++) {
    sum = noli_add33(sum, noli_outer33(noli_sub3(at[a], *centre), noli_load3(arm + 3 * a)));
  }
  noli_svd3(&sum, &U, sigma, &V);
  return noli_mul_transpose33(U, V);
}

void noli_rigid_turn_step(const NoliBlock* block, const double* x, double* p) {
  for (int32_t e = 0; e < block->n_element; e++) {
    NoliVec3 end[4], centre;
    for (int a = 0; a < 4; a++) {
      int64_t at = 3 * (int64_t)block->node[4 * (int64_t)e + a];
      end[a] = noli_add3(noli_load3(x + at), noli_load3(p + at));
    }
    const double* arm = rigid_of(block)->arm + 12 * (int64_t)e;
    NoliMat3 R = rotation_of(arm, end, &centre);
    for (int a = 0; a < 4; a++) {
      int64_t at = 3 * (int64_t)block->node[4 * (int64_t)e + a];
      NoliVec3 to = noli_add3(centre, noli_mul33_vec(&R, noli_load3(arm + 3 * a)));
      noli_store3(p + at, noli_sub3(to, noli_load3(x + at)));
    }
  }
}

// Adds what is missing to R (S + E + W), the end of the straight step:
//   R ((exp(W) - 1 - W) (S + E) + W (S + E - 1)),
// so that rounding is that of a small correction.
static void bend_step(const NoliBlock* block, int32_t e, const double* x, double* p) {
  const Rigid* self = rigid_of(block);
  const double* arm = self->arm + 12 * (int64_t)e;
  NoliVec3 from[4], centre;
  for (int a = 0; a < 4; a++) {
    from[a] = noli_load3(x + 3 * (int64_t)block->node[4 * (int64_t)e + a]);
  }
  NoliMat3 R = rotation_of(arm, from, &centre);
  NoliMat3 A = noli_tets_deformation(&self->tets, e, x);
  NoliMat3 dA = noli_tets_deformation(&self->tets, e, p);
  NoliMat3 S = noli_transpose_mul33(R, A), D = noli_transpose_mul33(R, dA);
  NoliVec3 w = noli_vec3(0.5 * (D.m[2][1] - D.m[1][2]), 0.5 * (D.m[0][2] - D.m[2][0]),
                         0.5 * (D.m[1][0] - D.m[0][1]));
  NoliMat3 end = noli_add33(S, noli_scale33(0.5, noli_add33(D, noli_transpose33(D))));
  NoliMat3 stretch = noli_add33(end, noli_scale33(-1.0, noli_identity3()));
  NoliMat3 second = noli_rotation_second33(w), W = noli_cross33(w);
  NoliMat3 missing = noli_add33(noli_mul33(second, end), noli_mul33(W, stretch));
  missing = noli_mul33(R, missing);
  for (int a = 0; a < 4; a++) {
    double* own = p + 3 * (int64_t)block->node[4 * (int64_t)e + a];
    noli_store3(own, noli_add3(noli_load3(own), noli_mul33_vec(&missing, noli_load3(arm + 3 * a))));
  }
}

void noli_rigid_bend_step(const NoliBlock* block, const double* x, double* p) {
  for (int32_t e = 0; e < block->n_element; e++) {
    if (!rigid_of(block)->joined[e]) {
      bend_step(block, e, x, p);
    }
  }
}

double noli_rigid_radius_sqr(const NoliBlock* block, int32_t element) {
  return rigid_of(block)->radius_sqr[element];
}

double noli_rigid_mass(const NoliBlock* block, int32_t element) {
  return rigid_of(block)->mass[element];
}

void noli_rigid_bear(NoliBlock* block, int32_t element, double mass) {
  ((Rigid*)block->self)->borne[element] = mass;
}

double noli_rigid_borne(const NoliBlock* block, int32_t element) {
  return rigid_of(block)->borne[element];
}

static void rigid_add_mass(const NoliBlock* block, double* mass) {
  for (int32_t e = 0; e < block->n_element; e++) {
    for (int k = 0; k < 4; k++) {
      mass[block->node[4 * (int64_t)e + k]] += 0.25 * rigid_of(block)->mass[e];
    }
  }
}

static NoliElementSize rigid_size(const NoliBlock* block, int32_t e) {
  double stiffness = rigid_of(block)->stiffness[e], volume = rigid_of(block)->tets.volume[e];
  return (NoliElementSize){.volume = rigid_of(block)->volume[e],
                           .length_sqr = noli_tets_size_sqr(&rigid_of(block)->tets, e),
                           .modulus = 8.0 * stiffness / volume};
}

// Waves cross a rigid body at once.
static double rigid_wave_time_sqr(const NoliBlock* block) {
  (void)block;
  return 0.0;
}

static void rigid_add_stress(const NoliBlock* block, int32_t element, const double* x,
                             NoliStress* sum) {
  (void)block, (void)element, (void)x, (void)sum;
}

// ---- energy -------------------------------------------------------------------------------------

// Without the part that belongs to negative eigenvalues.
static NoliMat3 positive_part(const NoliMat3* D) {
  double a[9];
  noli_store33(a, D);
  noli_project_psd(3, a);
  return noli_load33(a);
}

static void set_hessian(const NoliMat3* A, const NoliMat3* D, const NoliVec3 g[4], double k,
                        double* hessian) {
  NoliMat3 AAt = noli_mul_transpose33(*A, *A);
  NoliVec3 Ag[4];
  for (int a = 0; a < 4; a++) {
    Ag[a] = noli_mul33_vec(A, g[a]);
  }
  for (int a = 0; a < 4; a++) {
    for (int b = a; b < 4; b++) {
      NoliMat3 block =
          noli_add33(noli_outer33(Ag[b], Ag[a]), noli_scale33(noli_dot3(g[a], g[b]), AAt));
      double turn = noli_dot3(g[a], noli_mul33_vec(D, g[b]));
      for (int i = 0; i < 3; i++) {
        block.m[i][i] += turn;
      }
      block = noli_scale33(4.0 * k, block);
      noli_store33(hessian + 9 * (int64_t)noli_stencil_block(4, a, b), &block);
    }
  }
}

static void rigid_elasticity(const void* data, const double* x, int64_t begin, int64_t end,
                             unsigned what, const NoliLocal* out) {
  const NoliBlockEnergy* energy = data;
  const Rigid* self = rigid_of(energy->block);
  for (int64_t e = begin; e < end; e++) {
    NoliLocal own = noli_local_at(out, 4, e - begin);
    double share = energy->share != NULL && self->joined[e] ? *energy->share : 1.0;
    double k = share * energy->scale * self->stiffness[e];
    NoliMat3 rows = noli_load33(self->tets.rest_inverse + 9 * e);
    NoliVec3 g[4] = {{0}, noli_row33(&rows, 0), noli_row33(&rows, 1), noli_row33(&rows, 2)};
    g[0] = noli_scale3(-1.0, noli_add3(g[1], noli_add3(g[2], g[3])));
    NoliMat3 A = noli_tets_deformation(&self->tets, e, x), D = stretch_of(&A);
    if ((what & NOLI_EVAL_ENERGY) != 0) {
      *own.energy = k * noli_norm_sqr33(&D);
    }
    if ((what & NOLI_EVAL_GRADIENT) != 0) {
      NoliMat3 P = noli_scale33(4.0 * k, noli_mul33(A, D));
      for (int a = 0; a < 4; a++) {
        noli_store3(own.gradient + 3 * a, noli_mul33_vec(&P, g[a]));
      }
    }
    if ((what & NOLI_EVAL_PROJECTED) != 0) {
      D = positive_part(&D);
    }
    if ((what & (NOLI_EVAL_HESSIAN | NOLI_EVAL_PROJECTED)) != 0) {
      set_hessian(&A, &D, g, k, own.hessian);
    }
  }
}

const NoliBlockType noli_block_rigid = {.name = "rigid",
                                        .shared = true,
                                        .solid = true,
                                        .affine = true,
                                        .eases = true,
                                        .serves = rigid_serves,
                                        .work = rigid_work,
                                        .add = rigid_add,
                                        .set_rest = rigid_set_rest,
                                        .finish = rigid_finish,
                                        .destroy = rigid_destroy,
                                        .is_inverted = rigid_is_inverted,
                                        .inversion_bound = rigid_inversion_bound,
                                        .add_mass = rigid_add_mass,
                                        .size = rigid_size,
                                        .wave_time_sqr = rigid_wave_time_sqr,
                                        .add_stress = rigid_add_stress,
                                        .elasticity = rigid_elasticity,
                                        .damping = &noli_block_damping};
