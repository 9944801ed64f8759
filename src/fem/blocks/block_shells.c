// The type of block of thin bodies: triangles in space, each a membrane (fem/thin/sheet.h), and
// bending terms (fem/thin/hinge.h, fem/thin/fold.h), with lumped mass.
//
// A sheet has no volume that could invert. Instead the stretch limits of elements, if any, bound
// the steps.
#include "fem/blocks/block_shells.h"
#include "fem/derivatives/block_derivatives.h"
#include "material/stress.h"
#include "math/vec3.h"

#include <math.h>
#include <string.h>

// Share of the way to the limit from where its barrier acts.
#define LIMIT_FROM 0.5

// ---- making -------------------------------------------------------------------------------------

static bool shells_serves(const NoliBlockBody* body) {
  return body->shell.thickness > 0.0;
}

static NoliStatus shells_allocate(NoliBlock* block) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = block->context;
  NoliShells* self = NULL;
  NOLI_NEW_ZERO(context, self, 1);
  block->self = self;
  block->n_local = 3;
  NOLI_NEW(context, block->node, 3 * (int64_t)block->n_element);
  NOLI_NEW(context, self->law, block->n_element);
  NOLI_NEW(context, self->parameters, block->n_element);
  NOLI_NEW(context, self->thickness, block->n_element);
  NOLI_NEW(context, self->along, 2 * (int64_t)block->n_element);
  NOLI_NEW(context, self->plate, block->n_element);
  NOLI_NEW(context, self->def, block->n_element);
  NOLI_TRY(noli_triangles_allocate(context, block->n_element, block->node, &self->triangles));
  self->membrane = (NoliMembrane){.triangles = &self->triangles,
                                  .law = self->law,
                                  .parameters = self->parameters,
                                  .thickness = self->thickness,
                                  .scale = 1.0};
done:
  return status;
}

static NoliStatus shells_add(NoliBlock* block, int32_t begin, const NoliBlockBody* body) {
  NoliStatus status = NOLI_OK;
  if (block->self == NULL) {
    NOLI_TRY(shells_allocate(block));
  }
  NoliShells* self = block->self;
  for (int64_t t = 0; t < body->n_element; t++) {
    memcpy(block->node + 3 * (begin + t), body->corner + 4 * t, 3 * sizeof *body->corner);
    self->def[begin + t] = body->shell;
  }
done:
  return status;
}

static bool bends_as_plate(const NoliShellDef* def) {
  bool plate = def->bending_law != NULL && strcmp(def->bending_law, "plate") == 0;
  return plate && def->bending > 0.0;
}

// Stencil blocks of a triangle, and a fold or half of its three hinges.
static int32_t shells_work(const NoliBlockBody* body, int32_t others) {
  (void)others;
  return noli_stencil_blocks(3) + (bends_as_plate(&body->shell)
                                       ? noli_stencil_blocks(NOLI_FOLD_NODES)
                                       : 3 * noli_stencil_blocks(4) / 2);
}

// Data of an element, from its material and the shell definition of its body.
static void set_parameters(NoliBlock* block, int32_t t) {
  NoliShells* self = block->self;
  const NoliShellDef* def = &self->def[t];
  double mu = block->lame_mu[t], lambda = block->lame_lambda[t];
  double young = mu * (3.0 * lambda + 2.0 * mu) / (lambda + mu);
  double poisson = 0.5 * lambda / (lambda + mu);
  double thickness = self->thickness[t] = def->thickness;

  // in the plane
  const NoliMembraneLaw* law =
      def->woven ? &noli_membrane_cloth : noli_membrane_find(block->law[t]->name);
  self->law[t] = law;
  self->parameters[t] = (NoliMembraneParameters){.lame = noli_membrane_lame(young, poisson),
                                                 .warp = young,
                                                 .weft = def->weft * young,
                                                 .shear = def->shear > 0.0 ? def->shear : mu,
                                                 .limit = (double)INFINITY};
  if (def->limit > 0.0) {
    double range = def->limit - 1.0;
    self->parameters[t].limit = def->limit;
    self->parameters[t].limit_from = 1.0 + LIMIT_FROM * range;
    self->parameters[t].limit_stiffness = young * range * range;
    self->limited = true;
  }

  // out of it
  double cube = thickness * thickness * thickness / 12.0;
  double plate = def->bending * young * cube / (1.0 - poisson * poisson);
  double weft = def->woven ? def->weft : 1.0;
  self->along[2 * (int64_t)t] = plate;
  self->along[2 * (int64_t)t + 1] = weft * plate;
  double shear = def->woven && def->shear > 0.0 ? def->shear : mu;
  self->plate[t] = (NoliPlate){.first = plate,
                               .second = weft * plate,
                               .coupled = poisson * sqrt(weft) * plate,
                               .twist = def->bending * shear * cube};
}

static NoliStatus shells_set_rest(NoliBlock* block, int32_t begin, int32_t end,
                                  int32_t first_number, const double* X, double thickness) {
  NoliStatus status = NOLI_OK;
  (void)first_number, (void)thickness; // `begin` is the first one of its body
  NoliShells* self = block->self;
  if (begin == end) {
    return NOLI_OK;
  }
  NOLI_TRY(noli_triangles_set_rest(block->context, &self->triangles, begin, end, X,
                                   self->def[begin].warp));
  for (int32_t t = begin; t < end; t++) {
    set_parameters(block, t);
  }
  int32_t first = self->hinges.n_hinge;
  NOLI_TRY(noli_hinges_add(block->context, begin, end, block->node, X, &self->hinges));
  noli_hinges_set_stiffness(&self->hinges, first, X, self->triangles.axis, self->along);
  if (bends_as_plate(&self->def[begin])) {
    NOLI_TRY(noli_folds_add(block->context, begin, end, block->node, X, self->triangles.axis,
                            self->plate + begin, &self->hinges, first, &self->folds));
  }
done:
  return status;
}

static NoliStatus shells_finish(NoliBlock* block) {
  NoliStatus status = NOLI_OK;
  NoliShells* self = block->self;
  if (self->folds.n_fold > 0) {
    NOLI_TRY(noli_folds_add_hinges(block->context, &self->hinges, &self->folds));
  }
  bool folds = self->folds.n_fold > 0;
  int32_t n = folds ? self->folds.n_fold : self->hinges.n_hinge;
  const int32_t* both = folds ? self->folds.tri : self->hinges.tri;
  NOLI_NEW(block->context, self->bending_damping, n);
  for (int64_t i = 0; i < n; i++) {
    const int32_t* tri = both + 2 * i;
    self->bending_damping[i] = 0.5 * (block->damping_time[tri[0]] + block->damping_time[tri[1]]);
  }
done:
  return status;
}

static void shells_destroy(NoliBlock* block) {
  NoliContext* context = block->context;
  NoliShells* self = block->self;
  noli_triangles_destroy(context, &self->triangles);
  noli_hinges_destroy(context, &self->hinges);
  noli_folds_destroy(context, &self->folds);
  noli_free(context, self->law);
  noli_free(context, self->parameters);
  noli_free(context, self->thickness);
  noli_free(context, self->along);
  noli_free(context, self->plate);
  noli_free(context, self->def);
  noli_free(context, self->bending_damping);
}

// ---- limits of stretch --------------------------------------------------------------------------

static bool is_beyond(const NoliBlock* block, const double* x, int32_t element) {
  const NoliShells* self = noli_shells_of(block);
  NoliSheet F = noli_triangles_deformation(&self->triangles, element, x);
  return !(noli_sheet_stretch(&F) < self->parameters[element].limit);
}

static double limit_bound(const NoliBlock* block, const double* x, const double* p, double keep,
                          bool valid_end, int32_t n_threads, int32_t* blocking) {
  (void)valid_end;
  int32_t none;
  blocking = blocking != NULL ? blocking : &none;
  *blocking = NOLI_NULL_INDEX;
  return noli_shells_of(block)->limited
             ? noli_membrane_limit_bound(&noli_shells_of(block)->membrane, x, p, keep, n_threads,
                                         blocking)
             : 1.0;
}

// ---- mass and measures --------------------------------------------------------------------------

static double shells_volume_of(const NoliBlock* block, int32_t t) {
  return noli_shells_of(block)->triangles.area[t] * noli_shells_of(block)->thickness[t];
}

static double shells_turn(const NoliBlock* block, const double* p) {
  const NoliShells* self = noli_shells_of(block);
  double most_sqr = 0.0;
  for (int32_t t = 0; t < block->n_element; t++) {
    NoliSheet G = noli_triangles_deformation(&self->triangles, t, p);
    most_sqr = fmax(most_sqr, noli_norm_sqr3(G.f[0]) + noli_norm_sqr3(G.f[1]));
  }
  return sqrt(most_sqr);
}

static void shells_add_mass(const NoliBlock* block, double* mass) {
  for (int32_t t = 0; t < block->n_element; t++) {
    for (int a = 0; a < 3; a++) {
      mass[block->node[3 * (int64_t)t + a]] += block->density[t] * shells_volume_of(block, t) / 3.0;
    }
  }
}

// The modulus is that of stretching. Bending waves are slower unless a sheet is thicker than wide.
static NoliElementSize shells_size(const NoliBlock* block, int32_t t) {
  const NoliMembraneParameters* parameters = &noli_shells_of(block)->parameters[t];
  double isotropic = 2.0 * parameters->lame.mu + parameters->lame.lambda;
  return (NoliElementSize){.volume = shells_volume_of(block, t),
                           .length_sqr = 2.0 * noli_shells_of(block)->triangles.area[t],
                           .modulus = fmax(isotropic, parameters->weft)};
}

// Cauchy stress P F^T / J, with the rest thickness.
static NoliMat3 stress_of(const NoliBlock* block, int32_t t, const double* x) {
  const NoliShells* self = noli_shells_of(block);
  NoliSheet F = noli_triangles_deformation(&self->triangles, t, x);
  NoliSheetResponse response;
  noli_membrane_respond(self->law[t], &self->parameters[t], &F, NOLI_EVAL_GRADIENT, &response);
  NoliMat3 sigma =
      noli_add33(noli_outer33(response.P[0], F.f[0]), noli_outer33(response.P[1], F.f[1]));
  return noli_scale33(1.0 / noli_norm3(noli_cross3(F.f[0], F.f[1])), sigma);
}

static void shells_add_stress(const NoliBlock* block, int32_t element, const double* x,
                              NoliStress* sum) {
  NoliMat3 sigma = stress_of(block, element, x);
  NoliStress here = {0};
  noli_stress_pack(&sigma, here.cauchy);
  here.von_mises = noli_stress_equivalent(here.cauchy);
  noli_stress_add_scaled(sum, shells_volume_of(block, element), &here);
}

// ---- forces and moments -------------------------------------------------------------------------

// A vector area: the normal of a triangle times twice its area.
static NoliVec3 twice_area(const NoliBlock* block, const double* x, int32_t t) {
  return noli_twice_area3(x, block->node + 3 * (int64_t)t);
}

// Adds the contribution of a stencil of bending to the moment of a triangle: the work of its forces
// g on the displacement 1/2 r . kappa r along the normal of the triangle is moment . kappa times
// the area. Forces of a stencil have neither a sum nor a moment, so that r may begin anywhere in
// the plane.
static void add_moment(const double* x, int32_t size, const int32_t* node, const double* gradient,
                       NoliVec3 normal, double area, double moment[6]) {
  NoliVec3 from = noli_load3(x + 3 * (int64_t)node[0]);
  for (int32_t a = 0; a < size; a++) {
    if (node[a] == NOLI_NULL_INDEX) {
      continue;
    }
    NoliVec3 r = noli_sub3(noli_load3(x + 3 * (int64_t)node[a]), from);
    r = noli_mul_add3(r, -noli_dot3(r, normal), normal);
    double along = noli_dot3(noli_load3(gradient + 3 * a), normal);
    NoliMat3 part = noli_scale33(0.5 * along / area, noli_outer33(r, r));
    double packed[6];
    noli_stress_pack(&part, packed);
    for (int i = 0; i < 6; i++) {
      moment[i] += packed[i];
    }
  }
}

// The moments of stencils belong to their triangles by area.
static void add_moments(const NoliBlock* block, const double* x, NoliSheetForces* forces) {
  const NoliBlockEnergy energy = {.block = block, .part = NOLI_PART_BENDING, .scale = 1.0};
  const NoliBlockStencils stencils = noli_block_stencils(block, NOLI_PART_BENDING);
  for (int64_t i = 0; i < stencils.n; i++) {
    double gradient[3 * NOLI_FOLD_NODES];
    const NoliLocal local = {.gradient = gradient};
    stencils.evaluate(&energy, x, i, i + 1, NOLI_EVAL_GRADIENT, &local);
    const int32_t* tri = stencils.element + 2 * i;
    int n_tri = tri[0] == tri[1] ? 1 : 2;
    NoliVec3 area[2] = {twice_area(block, x, tri[0]), twice_area(block, x, tri[1])};
    double sum = 0.5 * (noli_norm3(area[0]) + (n_tri == 2 ? noli_norm3(area[1]) : 0.0));
    for (int k = 0; k < n_tri; k++) {
      add_moment(x, stencils.size, stencils.node + stencils.size * i, gradient,
                 noli_normalize3(area[k]), sum, forces[tri[k]].bending);
    }
  }
}

static void sheet_forces(const NoliBlock* block, const double* x, NoliSheetForces* forces) {
  const NoliShells* self = noli_shells_of(block);
  for (int32_t t = 0; t < block->n_element; t++) {
    forces[t] = (NoliSheetForces){0};
    NoliMat3 sigma = stress_of(block, t, x);
    sigma = noli_scale33(self->thickness[t], sigma);
    noli_stress_pack(&sigma, forces[t].membrane);
  }
  add_moments(block, x, forces);
}

// ---- energies -----------------------------------------------------------------------------------

static void shells_elasticity(const void* data, const double* x, int64_t begin, int64_t end,
                              unsigned what, const NoliLocal* out) {
  const NoliBlockEnergy* energy = data;
  NoliMembrane scaled = noli_shells_of(energy->block)->membrane;
  scaled.scale = energy->scale;
  scaled.last = energy->last;
  noli_membrane_evaluate(&scaled, x, begin, end, what, out);
}

static void evaluate_bending(const void* data, const double* x, int64_t begin, int64_t end,
                             unsigned what, const NoliLocal* out) {
  const NoliBlockEnergy* energy = data;
  NoliBending scaled = {.hinges = &noli_shells_of(energy->block)->hinges, .scale = energy->scale};
  noli_bending_evaluate(&scaled, x, begin, end, what, out);
}

static void evaluate_folds(const void* data, const double* x, int64_t begin, int64_t end,
                           unsigned what, const NoliLocal* out) {
  const NoliBlockEnergy* energy = data;
  NoliFoldBending scaled = {.folds = &noli_shells_of(energy->block)->folds, .scale = energy->scale};
  noli_folds_evaluate(&scaled, x, begin, end, what, out);
}

static NoliBlockStencils bending(const NoliBlock* block) {
  const NoliShells* self = noli_shells_of(block);
  if (self->folds.n_fold > 0) {
    return (NoliBlockStencils){.n = self->folds.n_fold,
                               .size = NOLI_FOLD_NODES,
                               .node = self->folds.node,
                               .element = self->folds.tri,
                               .damping_time = self->bending_damping,
                               .evaluate = evaluate_folds};
  }
  return (NoliBlockStencils){.n = self->hinges.n_hinge,
                             .size = 4,
                             .node = self->hinges.node,
                             .element = self->hinges.tri,
                             .damping_time = self->bending_damping,
                             .evaluate = evaluate_bending};
}

const NoliBlockType noli_block_shells = {.name = "shells",
                                         .shared = true,
                                         .serves = shells_serves,
                                         .work = shells_work,
                                         .add = shells_add,
                                         .set_rest = shells_set_rest,
                                         .finish = shells_finish,
                                         .destroy = shells_destroy,
                                         .is_inverted = is_beyond,
                                         .inversion_bound = limit_bound,
                                         .turn = shells_turn,
                                         .add_mass = shells_add_mass,
                                         .size = shells_size,
                                         .add_stress = shells_add_stress,
                                         .sheet_forces = sheet_forces,
                                         .elasticity = shells_elasticity,
                                         .bending = bending,
                                         .damping = &noli_block_damping,
                                         .derivatives =
                                             NOLI_DERIVATIVES_OF(noli_shells_derivatives)};
