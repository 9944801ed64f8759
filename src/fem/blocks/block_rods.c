// The types of block of rods: segments that resist stretching, and the turns between them that
// resist bending (fem/thin/rod.h), or bending and twist (fem/thin/twist.h), with lumped mass.
// Nothing of a rod can invert.
#include "fem/blocks/block_rods.h"
#include "fem/derivatives/block_derivatives.h"
#include "material/stress.h"

#include <string.h>

#define PI 3.14159265358979323846

// ---- making -------------------------------------------------------------------------------------

static bool rods_serves(const NoliBlockBody* body) {
  return body->rod.radius > 0.0;
}

static bool serves_twisted(const NoliBlockBody* body) {
  return body->rod.radius > 0.0 && body->rod.twist > 0.0;
}

// Stencil blocks of a segment and half of its turns, one with each segment that it meets.
static int32_t rods_work(const NoliBlockBody* body, int32_t others) {
  (void)body;
  return noli_stencil_blocks(2) + others * noli_stencil_blocks(3) / 2;
}

static int32_t work_twisted(const NoliBlockBody* body, int32_t others) {
  (void)body;
  return noli_stencil_blocks(2) + others * noli_stencil_blocks(5) / 2;
}

static NoliStatus rods_allocate(NoliBlock* block) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = block->context;
  NoliRods* self = NULL;
  NOLI_NEW_ZERO(context, self, 1);
  block->self = self;
  block->n_local = 2;
  NOLI_NEW(context, block->node, 2 * (int64_t)block->n_element);
  NOLI_NEW(context, self->length, block->n_element);
  NOLI_NEW(context, self->area, block->n_element);
  NOLI_NEW(context, self->stretching, block->n_element);
  NOLI_NEW(context, self->bending, block->n_element);
  NOLI_NEW(context, self->def, block->n_element);
  self->segments = (NoliSegments){.n = block->n_element,
                                  .node = block->node,
                                  .length = self->length,
                                  .stiffness = self->stretching,
                                  .scale = 1.0};
done:
  return status;
}

static NoliStatus rods_add(NoliBlock* block, int32_t begin, const NoliBlockBody* body) {
  NoliStatus status = NOLI_OK;
  if (block->self == NULL) {
    NOLI_TRY(rods_allocate(block));
  }
  NoliRods* self = block->self;
  for (int64_t s = 0; s < body->n_element; s++) {
    memcpy(block->node + 2 * (begin + s), body->corner + 4 * s, 2 * sizeof *body->corner);
    self->def[begin + s] = body->rod;
  }
done:
  return status;
}

// Angles of the segments are numbered after the vertices of the body.
static NoliStatus add_twisted(NoliBlock* block, int32_t begin, const NoliBlockBody* body) {
  block->first_angle = body->first_node + body->mesh->n_vert;
  block->n_angle = body->n_element;
  block->angle_radius = body->rod.radius;
  block->elliptic = body->rod.second_radius > 0.0;
  return rods_add(block, begin, body);
}

static NoliStatus rods_set_rest(NoliBlock* block, int32_t begin, int32_t end, int32_t first,
                                const double* X, double thickness) {
  NoliStatus status = NOLI_OK;
  (void)thickness;
  NoliRods* self = block->self;
  for (int32_t s = begin; s < end; s++) {
    const int32_t* node = block->node + 2 * (int64_t)s;
    NoliVec3 from = noli_load3(X + 3 * (int64_t)node[0]);
    double length = noli_norm3(noli_sub3(noli_load3(X + 3 * (int64_t)node[1]), from));
    NOLI_CHECK(block->context, length > 0.0, NOLI_ERROR_ARGUMENT,
               "segment %d at (%g, %g, %g) has no length", s - first, from.x, from.y, from.z);
    double radius = self->def[s].radius, young = noli_rod_young(block, s);
    self->length[s] = length;
    self->area[s] = PI * radius * noli_second_radius(&self->def[s]);
    self->stretching[s] = young * self->area[s];
    self->bending[s] = self->def[s].bending * young * 0.25 * self->area[s] * radius * radius;
  }
  if (begin < end) {
    NOLI_TRY(noli_turns_add(block->context, begin, end, block->node, X, self->length, self->bending,
                            &self->turns));
  }
done:
  return status;
}

// The stiffness of an elliptic section, from its second moments of area and that of torsion.
static NoliRodSection section_of(const NoliBlock* block, int32_t s) {
  const NoliRodDef* def = &noli_rods_of(block)->def[s];
  double a = def->radius, b = noli_second_radius(def);
  double bending = def->bending * noli_rod_young(block, s) * 0.25 * PI * a * b;
  double torsion = PI * (a * b) * (a * b) * (a * b) / (a * a + b * b);
  return (NoliRodSection){.bending = {bending * b * b, bending * a * a},
                          .twisting = def->twist * block->lame_mu[s] * torsion,
                          .radius = a};
}

// Tangents and directors at rest.
static NoliStatus set_directors(NoliBlock* block, const double* X) {
  NoliStatus status = NOLI_OK;
  NoliRods* self = block->self;
  for (int32_t s = 0; s < block->n_element; s++) {
    const int32_t* node = block->node + 2 * (int64_t)s;
    NoliVec3 from = noli_load3(X + 3 * (int64_t)node[0]);
    NoliVec3 edge = noli_sub3(noli_load3(X + 3 * (int64_t)node[1]), from);
    NoliVec3 t = noli_scale3(1.0 / self->length[s], edge);
    NoliVec3 normal = noli_rod_normal(&self->def[s], t);
    NoliVec3 d = noli_mul_add3(normal, -noli_dot3(normal, t), t);
    NOLI_CHECK(block->context, noli_norm3(d) > 1e-6 * noli_norm3(normal), NOLI_ERROR_ARGUMENT,
               "segment %d at (%g, %g, %g) runs along the normal of its section", s, from.x, from.y,
               from.z);
    noli_store3(self->rest_frame + 6 * (int64_t)s, t);
    noli_store3(self->rest_frame + 6 * (int64_t)s + 3, noli_scale3(1.0 / noli_norm3(d), d));
  }
done:
  return status;
}

// The block has one body.
static NoliStatus set_twisted_rest(NoliBlock* block, int32_t begin, int32_t end, int32_t first,
                                   const double* X, double thickness) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = block->context;
  NoliRods* self = block->self;
  NoliRodSection* section = NULL;
  int32_t* angle = NULL;
  NOLI_NEW(context, section, block->n_element);
  NOLI_NEW(context, angle, block->n_element);
  NOLI_TRY(rods_set_rest(block, begin, end, first, X, thickness));
  for (int32_t s = 0; s < block->n_element; s++) {
    section[s] = section_of(block, s);
    angle[s] = block->first_angle + s;
  }
  block->n_history = noli_frame_size(block->n_element, self->turns.n);
  NOLI_NEW(context, self->rest_frame, block->n_history);
  NOLI_TRY(set_directors(block, X));
  const NoliRodSegments segments = {.n = block->n_element,
                                    .node = block->node,
                                    .angle_node = angle,
                                    .length = self->length,
                                    .section = section};
  NOLI_TRY(
      noli_twists_create(context, &self->turns, &segments, X, self->rest_frame, &self->twists));
  block->history = self->rest_frame;
done:
  noli_free(context, section);
  noli_free(context, angle);
  return status;
}

static NoliStatus count_joined(NoliBlock* block) {
  NoliStatus status = NOLI_OK;
  NoliRods* self = block->self;
  NOLI_NEW_ZERO(block->context, self->joined, block->n_element);
  for (int32_t pass = 0; pass < 2; pass++) {
    int8_t bit = (int8_t)(1 << pass); // of an end of each segment
    for (int64_t i = 0; i < 2 * (int64_t)self->turns.n; i++) {
      int32_t s = self->turns.segment[i];
      bool here = block->node[2 * (int64_t)s + pass] == self->turns.node[3 * (i / 2) + 1];
      self->joined[s] = (int8_t)(self->joined[s] | (here ? bit : 0));
    }
  }
  for (int32_t s = 0; s < block->n_element; s++) {
    self->joined[s] = (int8_t)((self->joined[s] & 1) + (self->joined[s] >> 1));
  }
done:
  return status;
}

static NoliStatus rods_finish(NoliBlock* block) {
  NoliStatus status = NOLI_OK;
  NoliRods* self = block->self;
  NOLI_NEW(block->context, self->turn_damping, self->turns.n);
  for (int64_t i = 0; i < self->turns.n; i++) {
    const int32_t* segment = self->turns.segment + 2 * i;
    self->turn_damping[i] =
        0.5 * (block->damping_time[segment[0]] + block->damping_time[segment[1]]);
  }
  NOLI_TRY(count_joined(block));
done:
  return status;
}

static void rods_destroy(NoliBlock* block) {
  NoliContext* context = block->context;
  NoliRods* self = block->self;
  noli_twists_destroy(context, &self->twists);
  noli_turns_destroy(context, &self->turns);
  noli_free(context, self->rest_frame);
  noli_free(context, self->length);
  noli_free(context, self->area);
  noli_free(context, self->stretching);
  noli_free(context, self->bending);
  noli_free(context, self->def);
  noli_free(context, self->turn_damping);
  noli_free(context, self->joined);
}

// ---- mass and measures --------------------------------------------------------------------------

static double rods_volume_of(const NoliBlock* block, int32_t s) {
  return noli_rods_of(block)->area[s] * noli_rods_of(block)->length[s];
}

static void rods_add_mass(const NoliBlock* block, double* mass) {
  for (int32_t s = 0; s < block->n_element; s++) {
    for (int a = 0; a < 2; a++) {
      mass[block->node[2 * (int64_t)s + a]] += 0.5 * block->density[s] * rods_volume_of(block, s);
    }
  }
}

// An angle has the inertia of its segment about itself, over the square of the radius.
static void add_twisted_mass(const NoliBlock* block, double* mass) {
  rods_add_mass(block, mass);
  for (int32_t s = 0; s < block->n_element; s++) {
    const NoliRodDef* def = &noli_rods_of(block)->def[s];
    double ratio = noli_second_radius(def) / def->radius;
    mass[block->first_angle + s] +=
        0.25 * (1.0 + ratio * ratio) * block->density[s] * rods_volume_of(block, s);
  }
}

// The modulus is that of stretching, or of bending if segments are shorter than thick.
static NoliElementSize rods_size(const NoliBlock* block, int32_t s) {
  const NoliRods* self = noli_rods_of(block);
  double length_sqr = self->length[s] * self->length[s];
  return (NoliElementSize){.volume = rods_volume_of(block, s),
                           .length_sqr = length_sqr,
                           .modulus = (self->stretching[s] + 4.0 * self->bending[s] / length_sqr) /
                                      self->area[s]};
}

// Tension or pressure along the rod, over its area at rest.
static void rods_add_stress(const NoliBlock* block, int32_t element, const double* x,
                            NoliStress* sum) {
  const int32_t* node = block->node + block->n_local * (int64_t)element;
  NoliVec3 along = noli_normalize3(
      noli_sub3(noli_load3(x + 3 * (int64_t)node[1]), noli_load3(x + 3 * (int64_t)node[0])));
  double strain = noli_segment_strain(&noli_rods_of(block)->segments, x, element);
  NoliMat3 sigma =
      noli_scale33(noli_rod_young(block, element) * strain, noli_outer33(along, along));
  NoliStress here = {.von_mises = fabs(noli_rod_young(block, element) * strain)};
  noli_stress_pack(&sigma, here.cauchy);
  noli_stress_add_scaled(sum, rods_volume_of(block, element), &here);
}

// ---- energies -----------------------------------------------------------------------------------

static void rods_elasticity(const void* data, const double* x, int64_t begin, int64_t end,
                            unsigned what, const NoliLocal* out) {
  const NoliBlockEnergy* energy = data;
  NoliSegments scaled = noli_rods_of(energy->block)->segments;
  scaled.scale = energy->scale;
  noli_segments_evaluate(&scaled, x, begin, end, what, out);
}

static void evaluate_turning(const void* data, const double* x, int64_t begin, int64_t end,
                             unsigned what, const NoliLocal* out) {
  const NoliBlockEnergy* energy = data;
  NoliTurning scaled = {.turns = &noli_rods_of(energy->block)->turns, .scale = energy->scale};
  noli_turning_evaluate(&scaled, x, begin, end, what, out);
}

static NoliBlockStencils bending(const NoliBlock* block) {
  const NoliRods* self = noli_rods_of(block);
  return (NoliBlockStencils){.n = self->turns.n,
                             .size = 3,
                             .node = self->turns.node,
                             .element = self->turns.segment,
                             .damping_time = self->turn_damping,
                             .evaluate = evaluate_turning};
}

// ---- twist --------------------------------------------------------------------------------------

static void evaluate_twisting(const void* data, const double* x, int64_t begin, int64_t end,
                              unsigned what, const NoliLocal* out) {
  const NoliBlockEnergy* energy = data;
  NoliTwisting scaled = {.twists = &noli_rods_of(energy->block)->twists,
                         .frame = energy->block->history,
                         .scale = energy->scale};
  noli_twisting_evaluate(&scaled, x, begin, end, what, out);
}

static NoliBlockStencils twisting(const NoliBlock* block) {
  const NoliRods* self = noli_rods_of(block);
  return (NoliBlockStencils){.n = self->turns.n,
                             .size = 5,
                             .node = self->twists.node,
                             .n_angle = 2,
                             .element = self->turns.segment,
                             .damping_time = self->turn_damping,
                             .evaluate = evaluate_twisting};
}

static void move_history(const NoliBlock* block, const double* x, double* frame) {
  noli_twists_transport(&noli_rods_of(block)->twists, block->node, x, frame);
}

static NoliVec3 axis_at_rest(const NoliBlock* block, int32_t element) {
  return noli_load3(noli_rods_of(block)->rest_frame + 6 * (int64_t)element + 3);
}

static void start_history(const NoliBlock* block, const double* x, double* frame) {
  memcpy(frame, noli_rods_of(block)->rest_frame, sizeof *frame * (size_t)block->n_history);
  move_history(block, x, frame);
}

// ---- forces and moments -------------------------------------------------------------------------

// The moment of turn i: what the segment behind it exerts on the one before it. It is the
// derivative of the energy by a rotation of the segment behind, which takes its edge along and
// turns its angle.
static NoliVec3 moment_of(const NoliBlock* block, const NoliBlockStencils* stencils, int64_t i,
                          const double* x) {
  const NoliRods* self = noli_rods_of(block);
  const NoliBlockEnergy energy = {.block = block, .part = NOLI_PART_BENDING, .scale = 1.0};
  double gradient[15] = {0};
  const NoliLocal local = {.gradient = gradient};
  stencils->evaluate(&energy, x, i, i + 1, NOLI_EVAL_GRADIENT, &local);
  const int32_t* node = self->turns.node + 3 * i;
  NoliVec3 edge =
      noli_sub3(noli_load3(x + 3 * (int64_t)node[2]), noli_load3(x + 3 * (int64_t)node[1]));
  NoliVec3 moment = noli_cross3(edge, noli_load3(gradient + 6));
  if (stencils->n_angle > 0) {
    double twist = self->twists.sign[2 * i + 1] * self->twists.radius[2 * i + 1] * gradient[12];
    moment = noli_mul_add3(moment, twist, noli_normalize3(edge));
  }
  return moment;
}

// Adds the moment of a turn to that of one of its segments, divided along the segment and across.
static void add_moment(const NoliBlock* block, const double* x, int32_t s, NoliVec3 moment,
                       NoliRodForces* forces) {
  const int32_t* node = block->node + 2 * (int64_t)s;
  NoliVec3 t = noli_normalize3(
      noli_sub3(noli_load3(x + 3 * (int64_t)node[1]), noli_load3(x + 3 * (int64_t)node[0])));
  double twist = noli_dot3(moment, t);
  NoliVec3 bending = noli_mul_add3(moment, -twist, t);
  noli_store3(forces[s].bending, noli_mul_add3(noli_load3(forces[s].bending), 0.5, bending));
  forces[s].twist += twist;
}

// Bending is the mean of both ends of a segment, with 0 at free ends; twist that of the ends where
// a segment follows.
static void rod_forces(const NoliBlock* block, const double* x, NoliRodForces* forces) {
  const NoliRods* self = noli_rods_of(block);
  const NoliBlockStencils stencils = noli_block_stencils(block, NOLI_PART_BENDING);
  for (int32_t s = 0; s < block->n_element; s++) {
    double strain = noli_segment_strain(&self->segments, x, s);
    forces[s] = (NoliRodForces){.tension = self->stretching[s] * strain};
  }
  for (int64_t i = 0; i < stencils.n; i++) {
    NoliVec3 moment = moment_of(block, &stencils, i, x);
    const int32_t *node = self->turns.node + 3 * i, *segment = self->turns.segment + 2 * i;
    for (int e = 0; e < 2; e++) {
      bool along = block->node[2 * (int64_t)segment[e]] == node[e];
      add_moment(block, x, segment[e], noli_scale3(along ? 1.0 : -1.0, moment), forces);
    }
  }
  for (int32_t s = 0; s < block->n_element; s++) {
    forces[s].twist /= self->joined[s] > 0 ? self->joined[s] : 1;
  }
}

const NoliBlockType noli_block_rods = {.name = "rods",
                                       .shared = true,
                                       .serves = rods_serves,
                                       .work = rods_work,
                                       .add = rods_add,
                                       .set_rest = rods_set_rest,
                                       .finish = rods_finish,
                                       .destroy = rods_destroy,
                                       .add_mass = rods_add_mass,
                                       .size = rods_size,
                                       .add_stress = rods_add_stress,
                                       .rod_forces = rod_forces,
                                       .elasticity = rods_elasticity,
                                       .bending = bending,
                                       .damping = &noli_block_damping,
                                       .derivatives = NOLI_DERIVATIVES_OF(noli_rods_derivatives)};

const NoliBlockType noli_block_twisted = {.name = "twisted rods",
                                          .shared = false,
                                          .serves = serves_twisted,
                                          .work = work_twisted,
                                          .add = add_twisted,
                                          .set_rest = set_twisted_rest,
                                          .finish = rods_finish,
                                          .destroy = rods_destroy,
                                          .axis_at_rest = axis_at_rest,
                                          .start_history = start_history,
                                          .move_history = move_history,
                                          .add_mass = add_twisted_mass,
                                          .size = rods_size,
                                          .add_stress = rods_add_stress,
                                          .rod_forces = rod_forces,
                                          .elasticity = rods_elasticity,
                                          .bending = twisting,
                                          .damping = &noli_block_damping,
                                          .derivatives =
                                              NOLI_DERIVATIVES_OF(noli_twisted_derivatives)};
