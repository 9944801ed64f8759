// The block type of linear tetrahedra and triangles in plane strain, with lumped mass.
#include "fem/blocks/block_tets.h"
#include "fem/derivatives/block_derivatives.h"
#include "mesh/curve.h"

#include <string.h>

// ---- making -------------------------------------------------------------------------------------

static bool tets_serves(const NoliBlockBody* body) {
  bool thin = body->shell.thickness > 0.0 || body->rod.radius > 0.0 || body->point.radius > 0.0;
  return !thin && body->order <= 1 && noli_mesh_order(body->mesh) <= 1;
}

static int32_t tets_work(const NoliBlockBody* body, int32_t others) {
  (void)body, (void)others;
  return noli_stencil_blocks(4);
}

// Allocates all elements, with the first body.
static NoliStatus tets_allocate(NoliBlock* block) {
  NoliStatus status = NOLI_OK;
  NoliTetsBlock* self = NULL;
  NOLI_NEW_ZERO(block->context, self, 1);
  block->self = self;
  block->n_local = 4;
  NOLI_NEW(block->context, block->node, 4 * (int64_t)block->n_element);
  NOLI_TRY(noli_tets_allocate(block->context, block->n_element, block->node, &self->tets));
  self->elasticity = (NoliElasticity){.tets = &self->tets,
                                      .law = block->law,
                                      .lame_mu = block->lame_mu,
                                      .lame_lambda = block->lame_lambda,
                                      .parameter = block->parameter,
                                      .fibre = block->fibre,
                                      .scale = 1.0};
done:
  return status;
}

static NoliStatus tets_add(NoliBlock* block, int32_t begin, const NoliBlockBody* body) {
  NoliStatus status = NOLI_OK;
  if (block->self == NULL) {
    NOLI_TRY(tets_allocate(block));
  }
  if (body->n_element > 0) {
    memcpy(block->node + 4 * (int64_t)begin, body->corner,
           4 * (size_t)body->n_element * sizeof *body->corner);
  }
done:
  return status;
}

static NoliStatus tets_set_rest(NoliBlock* block, int32_t begin, int32_t end, int32_t first,
                                const double* X, double thickness) {
  NoliTetsBlock* self = block->self;
  NoliStatus status =
      noli_tets_set_rest(block->context, &self->tets, begin, end, block->number, first, X);
  if (status == NOLI_OK) {
    noli_tets_thicken(&self->tets, begin, end, thickness);
  }
  return status;
}

static NoliStatus tets_finish(NoliBlock* block) {
  NoliStatus status = NOLI_OK;
  NoliTetsBlock* self = block->self;
  NOLI_TRY(noli_damped_tets_create(block->context, &self->elasticity, block->damping_time,
                                   &self->damped));
  NOLI_TRY(noli_block_create_histories(block));
done:
  return status;
}

static void tets_destroy(NoliBlock* block) {
  NoliTetsBlock* self = block->self;
  noli_damped_tets_destroy(&self->damped);
  noli_tets_destroy(block->context, &self->tets);
}

// ---- orientation --------------------------------------------------------------------------------

static bool tets_is_inverted(const NoliBlock* block, const double* x, int32_t element) {
  NoliTets one = {.n_tet = 1, .tet = block->node + 4 * (int64_t)element};
  return noli_tets_first_inverted(&one, x, 1) != NOLI_NULL_INDEX;
}

static double inversion_bound(const NoliBlock* block, const double* x, const double* p, double keep,
                              bool valid_end, int32_t n_threads, int32_t* blocking) {
  return noli_tets_inversion_bound(&noli_tets_block_of(block)->tets, x, p, keep, valid_end,
                                   n_threads, blocking);
}

// ---- points -------------------------------------------------------------------------------------

static int32_t point_count(const NoliBlock* block) {
  (void)block;
  return 1;
}

static double tets_point_volume(const NoliBlock* block, int32_t element, int32_t q) {
  (void)q;
  return noli_tets_block_of(block)->tets.volume[element];
}

static void deformation(const NoliBlock* block, int32_t element, const double* x, NoliMat3* F) {
  *F = noli_tets_deformation(&noli_tets_block_of(block)->tets, element, x);
}

// ---- mass and measures --------------------------------------------------------------------------

static void tets_add_mass(const NoliBlock* block, double* mass) {
  noli_tets_add_lumped_mass(&noli_tets_block_of(block)->tets, block->density, mass);
}

static NoliElementSize tets_size(const NoliBlock* block, int32_t t) {
  const NoliTets* tets = &noli_tets_block_of(block)->tets;
  return (NoliElementSize){.volume = tets->volume[t],
                           .length_sqr = noli_tets_size_sqr(tets, t),
                           .modulus = noli_block_modulus(block, t)};
}

static void tets_add_stress(const NoliBlock* block, int32_t element, const double* x,
                            NoliStress* sum) {
  NoliElasticity elasticity = noli_tets_block_of(block)->elasticity;
  elasticity.histories = noli_block_histories(block);
  noli_elasticity_add_stress(&elasticity, element, x, sum);
}

// ---- energies -----------------------------------------------------------------------------------

static void tets_elasticity(const void* data, const double* x, int64_t begin, int64_t end,
                            unsigned what, const NoliLocal* out) {
  const NoliBlockEnergy* energy = data;
  NoliElasticity scaled = noli_tets_block_of(energy->block)->elasticity;
  scaled.scale = energy->scale;
  scaled.histories = noli_block_histories(energy->block);
  noli_elasticity_evaluate(&scaled, x, begin, end, what, out);
}

static int64_t damping_size(const NoliBlock* block, NoliBlockPart part) {
  (void)part; // there is no bending
  return 90 * (int64_t)noli_damping_count(noli_tets_block_of(block)->damped);
}

static void tets_set_damping(const NoliBlock* block, NoliBlockPart part, const double* x,
                             int32_t n_threads, double* stiffness) {
  (void)part;
  noli_damping_stiffness(noli_tets_block_of(block)->damped, x, n_threads, stiffness);
}

static void add_damping_force(const NoliBlock* block, NoliBlockPart part, const double* stiffness,
                              const double* v, double* force) {
  (void)part;
  noli_damping_add_force(noli_tets_block_of(block)->damped, stiffness, v, force);
}

static double damping_loss(const NoliBlock* block, NoliBlockPart part, const double* stiffness,
                           const double* x0, const double* x1, int32_t n_threads) {
  (void)part;
  return noli_damping_loss(noli_tets_block_of(block)->damped, stiffness, x0, x1, n_threads);
}

static NoliDamping damping_of(const NoliBlockEnergy* energy) {
  return (NoliDamping){.damped = noli_tets_block_of(energy->block)->damped,
                       .stiffness = energy->stiffness,
                       .x_hat = energy->reference,
                       .scale = energy->scale};
}

static void evaluate_damping(const void* data, const double* x, int64_t begin, int64_t end,
                             unsigned what, const NoliLocal* out) {
  NoliDamping damping = damping_of(data);
  noli_damping_evaluate(&damping, x, begin, end, what, out);
}

static NoliEnergyTerm damping_term(const NoliBlockEnergy* energy) {
  NoliDamping damping = damping_of(energy);
  NoliEnergyTerm term = noli_damping_term(&damping);
  term.divided = energy->block->divided;
  term.data = energy;
  term.evaluate = evaluate_damping;
  return term;
}

// For the damped elements only.
static const NoliBlockDamping damping = {.size = damping_size,
                                         .set = tets_set_damping,
                                         .add_force = add_damping_force,
                                         .loss = damping_loss,
                                         .term = damping_term,
                                         .of_damped = true};

const NoliBlockType noli_block_tets = {.name = "tets",
                                       .shared = true,
                                       .solid = true,
                                       .divisible = true,
                                       .affine = true,
                                       .serves = tets_serves,
                                       .work = tets_work,
                                       .add = tets_add,
                                       .set_rest = tets_set_rest,
                                       .finish = tets_finish,
                                       .destroy = tets_destroy,
                                       .is_inverted = tets_is_inverted,
                                       .inversion_bound = inversion_bound,
                                       .point_count = point_count,
                                       .point_volume = tets_point_volume,
                                       .deformation = deformation,
                                       .add_mass = tets_add_mass,
                                       .size = tets_size,
                                       .add_stress = tets_add_stress,
                                       .elasticity = tets_elasticity,
                                       .damping = &damping,
                                       .derivatives = NOLI_DERIVATIVES_OF(noli_tets_derivatives)};
