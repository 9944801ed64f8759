// The types of block of rods: segments that resist stretching, and the turns between them that
// resist bending (fem/thin/rod.h), or bending and twist (fem/thin/twist.h), with lumped mass.
// Nothing of a rod can invert.
#include "fem/block.h"
#include "fem/thin/rod.h"
#include "fem/thin/twist.h"
#include "material/stress.h"
#include "math/vec3.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

// A strain of rounding.
#define ZERO 1e-13

typedef struct Rods {
  NoliSegments segments; // all of them, scale 1; borrows the arrays
  double* length;        // (n_element) m, at rest
  double* area;          // (n_element) m^2, of the cross section
  double* stretching;    // (n_element) E A, N
  double* bending;       // (n_element) E I, N m^2
  NoliRodDef* def;       // (n_element)
  NoliTurns turns;
  double* turn_damping; // (turns) s
  int8_t* joined;       // (n_element) ends at which other segments follow
  NoliTwists twists;
  double* rest_frame; // (n_frame) of rods with twist
} Rods;

static const Rods* rods_of(const NoliBlock* block) {
  return block->self;
}

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
  Rods* self = NULL;
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
  Rods* self = block->self;
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

// Half of the width along the second axis.
static double second_radius(const NoliRodDef* def) {
  return def->second_radius > 0.0 ? def->second_radius : def->radius;
}

static double young_of(const NoliBlock* block, int32_t s) {
  double mu = block->lame_mu[s], lambda = block->lame_lambda[s];
  return mu * (3.0 * lambda + 2.0 * mu) / (lambda + mu);
}

static NoliStatus set_rest(NoliBlock* block, int32_t begin, int32_t end, int32_t first,
                           const double* X, double thickness) {
  NoliStatus status = NOLI_OK;
  (void)thickness;
  Rods* self = block->self;
  for (int32_t s = begin; s < end; s++) {
    const int32_t* node = block->node + 2 * (int64_t)s;
    NoliVec3 from = noli_load3(X + 3 * (int64_t)node[0]);
    double length = noli_norm3(noli_sub3(noli_load3(X + 3 * (int64_t)node[1]), from));
    NOLI_CHECK(block->context, length > 0.0, NOLI_ERROR_ARGUMENT,
               "segment %d at (%g, %g, %g) has no length", s - first, from.x, from.y, from.z);
    double radius = self->def[s].radius, young = young_of(block, s);
    self->length[s] = length;
    self->area[s] = PI * radius * second_radius(&self->def[s]);
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
  const NoliRodDef* def = &rods_of(block)->def[s];
  double a = def->radius, b = second_radius(def);
  double bending = def->bending * young_of(block, s) * 0.25 * PI * a * b;
  double torsion = PI * (a * b) * (a * b) * (a * b) / (a * a + b * b);
  return (NoliRodSection){.bending = {bending * b * b, bending * a * a},
                          .twisting = def->twist * block->lame_mu[s] * torsion,
                          .radius = a};
}

// The vector that a director at rest is the projection of: those of round rods lie anywhere across.
static NoliVec3 normal_of(const NoliRodDef* def, NoliVec3 t) {
  NoliVec3 any = fabs(t.x) < 0.6 ? (NoliVec3){1.0, 0.0, 0.0} : (NoliVec3){0.0, 1.0, 0.0};
  return def->second_radius == 0.0 ? any : noli_load3(def->normal);
}

// Tangents and directors at rest.
static NoliStatus set_directors(NoliBlock* block, const double* X) {
  NoliStatus status = NOLI_OK;
  Rods* self = block->self;
  for (int32_t s = 0; s < block->n_element; s++) {
    const int32_t* node = block->node + 2 * (int64_t)s;
    NoliVec3 from = noli_load3(X + 3 * (int64_t)node[0]);
    NoliVec3 edge = noli_sub3(noli_load3(X + 3 * (int64_t)node[1]), from);
    NoliVec3 t = noli_scale3(1.0 / self->length[s], edge);
    NoliVec3 normal = normal_of(&self->def[s], t);
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
  Rods* self = block->self;
  NoliRodSection* section = NULL;
  int32_t* angle = NULL;
  NOLI_NEW(context, section, block->n_element);
  NOLI_NEW(context, angle, block->n_element);
  NOLI_TRY(set_rest(block, begin, end, first, X, thickness));
  for (int32_t s = 0; s < block->n_element; s++) {
    section[s] = section_of(block, s);
    angle[s] = block->first_angle + s;
  }
  block->n_history = noli_frame_size(block->n_element, self->turns.n);
  NOLI_NEW(context, self->rest_frame, block->n_history);
  NOLI_TRY(set_directors(block, X));
  NOLI_TRY(noli_twists_create(context, &self->turns, block->n_element, block->node, angle,
                              self->length, section, X, self->rest_frame, &self->twists));
  block->history = self->rest_frame;
done:
  noli_free(context, section);
  noli_free(context, angle);
  return status;
}

static NoliStatus count_joined(NoliBlock* block) {
  NoliStatus status = NOLI_OK;
  Rods* self = block->self;
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
  Rods* self = block->self;
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
  Rods* self = block->self;
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
  return rods_of(block)->area[s] * rods_of(block)->length[s];
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
    const NoliRodDef* def = &rods_of(block)->def[s];
    double ratio = second_radius(def) / def->radius;
    mass[block->first_angle + s] +=
        0.25 * (1.0 + ratio * ratio) * block->density[s] * rods_volume_of(block, s);
  }
}

static double rods_rest_volume(const NoliBlock* block, int32_t begin, int32_t end) {
  double volume = 0.0;
  for (int32_t s = begin; s < end; s++) {
    volume += rods_volume_of(block, s);
  }
  return volume;
}

static double size_sqr(const NoliBlock* block, int32_t s) {
  return rods_of(block)->length[s] * rods_of(block)->length[s];
}

// Wave modulus, Pa: of stretching, or of bending if segments are shorter than thick.
static double modulus(const NoliBlock* block, int32_t s) {
  const Rods* self = rods_of(block);
  return (self->stretching[s] + 4.0 * self->bending[s] / size_sqr(block, s)) / self->area[s];
}

static double rods_wave_time_sqr(const NoliBlock* block) {
  double sum = 0.0;
  for (int32_t s = 0; s < block->n_element; s++) {
    sum += rods_volume_of(block, s) * block->density[s] * size_sqr(block, s) / modulus(block, s);
  }
  return sum;
}

static double rods_frequency_sqr(const NoliBlock* block, int32_t begin, int32_t end,
                                 const double* mass) {
  double largest = 0.0;
  for (int32_t s = begin; s < end; s++) {
    double stiffness = modulus(block, s) * rods_volume_of(block, s) / size_sqr(block, s);
    largest = fmax(largest, stiffness / mass[block->node[2 * (int64_t)s]]);
  }
  return largest;
}

// Tension or pressure along the rod, over its area at rest.
static void rods_add_stress(const NoliBlock* block, int32_t element, const double* x,
                            NoliStress* sum) {
  const int32_t* node = block->node + block->n_local * (int64_t)element;
  NoliVec3 along = noli_normalize3(
      noli_sub3(noli_load3(x + 3 * (int64_t)node[1]), noli_load3(x + 3 * (int64_t)node[0])));
  double strain = noli_segment_strain(&rods_of(block)->segments, x, element);
  NoliMat3 sigma = noli_scale33(young_of(block, element) * strain, noli_outer33(along, along));
  NoliStress here = {.von_mises = fabs(young_of(block, element) * strain)};
  noli_stress_pack(&sigma, here.cauchy);
  noli_stress_add_scaled(sum, rods_volume_of(block, element), &here);
}

// ---- energies -----------------------------------------------------------------------------------

static void elasticity(const void* data, const double* x, int64_t begin, int64_t end, unsigned what,
                       const NoliLocal* out) {
  const NoliBlockEnergy* energy = data;
  NoliSegments scaled = rods_of(energy->block)->segments;
  scaled.scale = energy->scale;
  noli_segments_evaluate(&scaled, x, begin, end, what, out);
}

static void evaluate_turning(const void* data, const double* x, int64_t begin, int64_t end,
                             unsigned what, const NoliLocal* out) {
  const NoliBlockEnergy* energy = data;
  NoliTurning scaled = {.turns = &rods_of(energy->block)->turns, .scale = energy->scale};
  noli_turning_evaluate(&scaled, x, begin, end, what, out);
}

static void bending_by_rest(const NoliBlock* block, int64_t stencil, const double* X,
                            const double* x, double scale, double* slope) {
  const Rods* self = rods_of(block);
  NoliTurning scaled = {.turns = &self->turns, .scale = scale};
  noli_turning_by_rest(&scaled, stencil, X, x, self->bending, slope);
}

static NoliBlockStencils bending(const NoliBlock* block) {
  const Rods* self = rods_of(block);
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
  NoliTwisting scaled = {.twists = &rods_of(energy->block)->twists,
                         .frame = energy->block->history,
                         .scale = energy->scale};
  noli_twisting_evaluate(&scaled, x, begin, end, what, out);
}

static NoliBlockStencils twisting(const NoliBlock* block) {
  const Rods* self = rods_of(block);
  return (NoliBlockStencils){.n = self->turns.n,
                             .size = 5,
                             .node = self->twists.node,
                             .n_angle = 2,
                             .element = self->turns.segment,
                             .damping_time = self->turn_damping,
                             .evaluate = evaluate_twisting};
}

static void move_history(const NoliBlock* block, const double* x, double* frame) {
  noli_twists_transport(&rods_of(block)->twists, block->node, x, frame);
}

static void push_frame(const NoliBlock* block, const double* before, const double* x,
                       const double* dx, const double* d_before, double* d_after) {
  noli_twists_push_transport(&rods_of(block)->twists, block->node, before, x, dx, d_before,
                             d_after);
}

static void pull_frame(const NoliBlock* block, const double* before, const double* x,
                       const double* by_after, double* by_x, double* by_before) {
  noli_twists_pull_transport(&rods_of(block)->twists, block->node, before, x, by_after, by_x,
                             by_before);
}

// The places of the frames of both segments of a turn in that of the block.
static void set_places(const Rods* self, int64_t turn, int64_t place[12]) {
  for (int k = 0; k < 12; k++) {
    place[k] = 6 * (int64_t)self->turns.segment[2 * turn + k / 6] + k % 6;
  }
}

static void bending_by_frame(const NoliBlock* block, int64_t stencil, const double* x, double scale,
                             int64_t place[12], double* slope) {
  const Rods* self = rods_of(block);
  NoliTwisting scaled = {.twists = &self->twists, .frame = block->history, .scale = scale};
  set_places(self, stencil, place);
  noli_twisting_by_frame(&scaled, stencil, x, slope);
}

static NoliVec3 edge_of(const NoliBlock* block, const double* x, int64_t s) {
  const int32_t* node = block->node + 2 * s;
  return noli_sub3(noli_load3(x + 3 * (int64_t)node[1]), noli_load3(x + 3 * (int64_t)node[0]));
}

// That of segment s, from its tangent at rest.
static void set_normal(const Rods* self, int64_t s, double normal[3]) {
  noli_store3(normal, normal_of(&self->def[s], noli_load3(self->rest_frame + 6 * s)));
}

static void push_rest_frame(const NoliBlock* block, const double* X, const double* dX,
                            double* d_frame) {
  const Rods* self = rods_of(block);
  memset(d_frame, 0, sizeof *d_frame * (size_t)block->n_history);
  for (int64_t s = 0; s < block->n_element; s++) {
    double normal[3];
    set_normal(self, s, normal);
    noli_segment_push_rest(self->rest_frame, s, edge_of(block, X, s), normal, edge_of(block, dX, s),
                           d_frame);
  }
}

static void pull_rest_frame(const NoliBlock* block, const double* X, const double* by_frame,
                            double* by_X) {
  const Rods* self = rods_of(block);
  for (int64_t s = 0; s < block->n_element; s++) {
    const int32_t* node = block->node + 2 * s;
    double normal[3], by[3];
    set_normal(self, s, normal);
    noli_store3(
        by, noli_segment_pull_rest(self->rest_frame, s, edge_of(block, X, s), normal, by_frame));
    for (int k = 0; k < 3; k++) {
      by_X[3 * (int64_t)node[1] + k] += by[k];
      by_X[3 * (int64_t)node[0] + k] -= by[k];
    }
  }
}

static NoliTurnRest turn_rest(const NoliBlock* block, int64_t stencil, const double* X) {
  const Rods* self = rods_of(block);
  const int32_t* segment = self->turns.segment + 2 * stencil;
  NoliTurnRest rest = {.X = X, .frame = self->rest_frame};
  double series[2] = {0.0, 0.0}; // l0 / b0 + l1 / b1
  for (int k = 0; k < 4; k++) {
    int32_t s = segment[k % 2];
    double stiffness = k < 2 ? self->bending[s] : block->lame_mu[s];
    rest.rate[k / 2][k % 2] = stiffness > 0.0 ? 1.0 / stiffness : 0.0;
    series[k / 2] += rest.rate[k / 2][k % 2] * self->length[s];
  }
  for (int k = 0; k < 4; k++) {
    rest.rate[k / 2][k % 2] /= series[k / 2] > 0.0 ? series[k / 2] : 1.0;
    set_normal(self, segment[k % 2], rest.normal[k % 2]);
  }
  return rest;
}

static void twisting_by_rest(const NoliBlock* block, int64_t stencil, const double* X,
                             const double* x, double scale, double* slope) {
  const Rods* self = rods_of(block);
  const NoliTwisting scaled = {.twists = &self->twists, .frame = block->history, .scale = scale};
  NoliTurnRest rest = turn_rest(block, stencil, X);
  noli_twisting_by_rest(&scaled, stencil, x, &rest, slope);
}

static NoliVec3 axis_at_rest(const NoliBlock* block, int32_t element) {
  return noli_load3(rods_of(block)->rest_frame + 6 * (int64_t)element + 3);
}

static void start_history(const NoliBlock* block, const double* x, double* frame) {
  memcpy(frame, rods_of(block)->rest_frame, sizeof *frame * (size_t)block->n_history);
  move_history(block, x, frame);
}

// ---- by moduli ----------------------------------------------------------------------------------

// dE/dmu and dE/dlambda over E.
static void young_slopes(const NoliBlock* block, int32_t s, double* by_mu, double* by_lambda) {
  double mu = block->lame_mu[s], lambda = block->lame_lambda[s], sum = lambda + mu;
  double young = young_of(block, s);
  *by_mu = ((3.0 * lambda + 2.0 * mu) / sum - mu * lambda / (sum * sum)) / young;
  *by_lambda = mu * mu / (sum * sum) / young;
}

// How the logarithms of the stiffness of a turn, k = 2 / (l0 / b0 + l1 / b1), change with Lame's
// parameters of one of its segments: b follows Young's modulus in bending, mu in twist. All
// sections are alike.
typedef struct TurnModuli {
  int32_t segment;
  double bending_by_mu, bending_by_lambda, twist_by_mu;
} TurnModuli;

static TurnModuli turn_moduli(const NoliBlock* block, int64_t turn, int e) {
  const Rods* self = rods_of(block);
  const int32_t* segment = self->turns.segment + 2 * turn;
  TurnModuli moduli = {.segment = segment[e]};
  double bent[2], twisted[2], mu, lambda;
  for (int k = 0; k < 2; k++) {
    bent[k] = self->length[segment[k]] / self->bending[segment[k]];
    twisted[k] = self->length[segment[k]] / block->lame_mu[segment[k]];
  }
  double share = self->turns.stiffness[turn] > 0.0 ? bent[e] / (bent[0] + bent[1]) : 0.0;
  young_slopes(block, segment[e], &mu, &lambda);
  moduli.bending_by_mu = share * mu;
  moduli.bending_by_lambda = share * lambda;
  moduli.twist_by_mu = twisted[e] / (twisted[0] + twisted[1]) / block->lame_mu[segment[e]];
  return moduli;
}

static void stretching_by_moduli(const NoliBlock* block, int64_t s, const double* x, double scale,
                                 double* by_mu, double* by_lambda) {
  const NoliBlockEnergy energy = {.block = block, .part = NOLI_PART_ELEMENTS, .scale = scale};
  double gradient[6], mu, lambda;
  const NoliLocal out = {.gradient = noli_local_from(gradient, 6 * s)};
  elasticity(&energy, x, s, s + 1, NOLI_EVAL_GRADIENT, &out);
  young_slopes(block, (int32_t)s, &mu, &lambda);
  for (int i = 0; i < 6; i++) {
    by_mu[2 * i] = mu * gradient[i];
    by_lambda[2 * i] = lambda * gradient[i];
  }
}

static void by_moduli(const NoliBlock* block, NoliBlockPart part, int64_t stencil, const double* X,
                      const double* x, double scale, int32_t element[2], double* by_mu,
                      double* by_lambda) {
  const NoliBlockEnergy energy = {.block = block, .part = part, .scale = scale};
  double gradient[9];
  (void)X;
  element[0] = (int32_t)stencil;
  if (part == NOLI_PART_ELEMENTS) {
    stretching_by_moduli(block, stencil, x, scale, by_mu, by_lambda);
    return;
  }
  const NoliLocal out = {.gradient = noli_local_from(gradient, 9 * stencil)};
  evaluate_turning(&energy, x, stencil, stencil + 1, NOLI_EVAL_GRADIENT, &out);
  for (int e = 0; e < 2; e++) {
    TurnModuli moduli = turn_moduli(block, stencil, e);
    element[e] = moduli.segment;
    for (int i = 0; i < 9; i++) {
      by_mu[2 * i + e] = moduli.bending_by_mu * gradient[i];
      by_lambda[2 * i + e] = moduli.bending_by_lambda * gradient[i];
    }
  }
}

// ---- damping ------------------------------------------------------------------------------------

// With S = a t t^T + b (1 - t t^T), of F = f T^T with the direction T at rest, t = f / |f|:
// the tangent of a segment takes W = w T^T to (S w) T^T, where a is Young's modulus E and b is that
// of a tension, E (1 - 1 / |f|), or 0.
static void tangent_product(const NoliBlock* block, int32_t element, const NoliVec3 gradient[4],
                            const NoliMat3* F, const NoliMat3* W, NoliTangentProduct* product) {
  NoliVec3 T = noli_normalize3(gradient[1]), f = noli_mul33_vec(F, T), w = noli_mul33_vec(W, T);
  double stretch = noli_norm3(f), young = young_of(block, element), tension = stretch - 1.0, mu,
         lambda, rest[3];
  NoliVec3 t = noli_scale3(1.0 / stretch, f);
  double along = noli_dot3(t, w), b = young * fmax(tension, 0.0) / stretch;
  // the mean of both sides at rest
  double side = fabs(tension) <= ZERO ? 0.5 : tension > 0.0 ? 1.0 : 0.0;
  NoliMat3 across = noli_sub33(noli_identity3(), noli_outer33(t, t));
  NoliVec3 w_across = noli_mul33_vec(&across, w);
  NoliMat3 S = noli_add33(noli_scale33(young, noli_outer33(t, t)), noli_scale33(b, across));
  NoliMat3 D = noli_add33(noli_outer33(t, w_across), noli_scale33(along, across));
  D = noli_scale33((young - b) / stretch, D);
  D = noli_add33(D, noli_scale33(side * young / (stretch * stretch), noli_outer33(w_across, t)));
  noli_store3(rest, T);
  for (int k = 0; k < 81; k++) {
    double share = rest[k / 9 % 3] * rest[k % 3];
    product->A[k] = S.m[k / 27][k % 9 / 3] * share;
    product->D[k] = D.m[k / 27][k % 9 / 3] * share;
  }
  young_slopes(block, element, &mu, &lambda);
  product->Q = noli_outer33(noli_mul33_vec(&S, w), T);
  product->by[NOLI_NUMBER_MU] = noli_scale33(mu, product->Q);
  product->by[NOLI_NUMBER_LAMBDA] = noli_scale33(lambda, product->Q);
}

static void turn_damping(const NoliBlock* block, int64_t stencil, const double* X, const double* y,
                         const double* w, NoliBendingDamping* damping) {
  const Rods* self = rods_of(block);
  const NoliTurning turning = {.turns = &self->turns, .scale = 1.0};
  noli_turning_damping(&turning, stencil, X, y, self->bending, w, damping->force, damping->by_y,
                       damping->by_rest);
  for (int e = 0; e < 2; e++) {
    TurnModuli moduli = turn_moduli(block, stencil, e);
    damping->element[e] = moduli.segment;
    for (int i = 0; i < 9; i++) {
      damping->by_mu[2 * i + e] = moduli.bending_by_mu * damping->force[i];
      damping->by_lambda[2 * i + e] = moduli.bending_by_lambda * damping->force[i];
    }
  }
}

// ---- by moduli, with twist ----------------------------------------------------------------------

static void twisted_by_moduli(const NoliBlock* block, NoliBlockPart part, int64_t stencil,
                              const double* X, const double* x, double scale, int32_t element[2],
                              double* by_mu, double* by_lambda) {
  const Rods* self = rods_of(block);
  if (part == NOLI_PART_ELEMENTS) {
    by_moduli(block, part, stencil, X, x, scale, element, by_mu, by_lambda);
    return;
  }
  const NoliTwisting scaled = {.twists = &self->twists, .frame = block->history, .scale = scale};
  const double* k = self->twists.stiffness + 5 * stencil;
  double slope[75];
  noli_twisting_by_stiffness(&scaled, stencil, x, slope);
  for (int e = 0; e < 2; e++) {
    TurnModuli moduli = turn_moduli(block, stencil, e);
    element[e] = moduli.segment;
    for (int i = 0; i < 15; i++) {
      double bending = 0.0;
      for (int q = 0; q < 4; q++) {
        bending += k[q] * slope[5 * i + q];
      }
      by_mu[2 * i + e] =
          moduli.bending_by_mu * bending + moduli.twist_by_mu * k[4] * slope[5 * i + 4];
      by_lambda[2 * i + e] = moduli.bending_by_lambda * bending;
    }
  }
}

// Exponents of the stiffness of the terms of a turn with twist as powers of the first radius.
static void radius_powers(const NoliBlock* block, double power[5]) {
  const NoliRodDef* def = rods_of(block)->def;
  double a = def->radius * def->radius, b = def->second_radius * def->second_radius;
  bool round = def->second_radius == 0.0;
  for (int q = 0; q < 4; q++) {
    power[q] = round ? 4.0 : q % 2 == 0 ? 1.0 : 3.0;
  }
  power[4] = round ? 4.0 : 3.0 - 2.0 * a / (a + b);
}

static void twisting_by_radius(const NoliBlock* block, int64_t stencil, const double* x,
                               double scale, double* slope) {
  const Rods* self = rods_of(block);
  const NoliTwisting scaled = {.twists = &self->twists, .frame = block->history, .scale = scale};
  double power[5];
  radius_powers(block, power);
  noli_twisting_by_radius(&scaled, stencil, x, power, slope);
}

static void twist_damping(const NoliBlock* block, int64_t stencil, const double* X, const double* y,
                          const double* w, NoliBendingDamping* damping) {
  const Rods* self = rods_of(block);
  const NoliTwisting scaled = {.twists = &self->twists, .frame = block->history, .scale = 1.0};
  NoliTurnRest rest = turn_rest(block, stencil, X);
  NoliTwistingDamping own;
  double power[5];
  radius_powers(block, power);
  noli_twisting_damping(&scaled, stencil, y, w, &rest, power, &own);
  memcpy(damping->by_radius, own.by_radius, sizeof own.by_radius);
  memcpy(damping->force, own.force, sizeof own.force);
  memcpy(damping->by_y, own.by_x, sizeof own.by_x);
  memcpy(damping->by_rest, own.by_rest, sizeof own.by_rest);
  memcpy(damping->by_frame, own.by_frame, sizeof own.by_frame);
  set_places(self, stencil, damping->place);
  for (int e = 0; e < 2; e++) {
    TurnModuli moduli = turn_moduli(block, stencil, e);
    damping->element[e] = moduli.segment;
    for (int i = 0; i < 15; i++) {
      const double* by = own.by_stiffness + 2 * i;
      damping->by_mu[2 * i + e] = moduli.bending_by_mu * by[0] + moduli.twist_by_mu * by[1];
      damping->by_lambda[2 * i + e] = moduli.bending_by_lambda * by[0];
    }
  }
}

// ---- derivatives of energies --------------------------------------------------------------------

static void energy_slopes(const NoliBlock* block, NoliBlockPart part, int64_t stencil,
                          const double* X, const double* x, NoliEnergySlopes* slopes) {
  const Rods* self = rods_of(block);
  const NoliTurning turning = {.turns = &self->turns, .scale = 1.0};
  if (part == NOLI_PART_ELEMENTS) {
    double mu, lambda;
    young_slopes(block, (int32_t)stencil, &mu, &lambda);
    slopes->by_mu[0] += mu * slopes->value;
    slopes->by_lambda[0] += lambda * slopes->value;
    return;
  }
  noli_turning_energy_by_rest(&turning, stencil, X, x, self->bending, slopes->by_rest);
  for (int e = 0; e < 2; e++) {
    TurnModuli moduli = turn_moduli(block, stencil, e);
    slopes->by_mu[e] += moduli.bending_by_mu * slopes->value;
    slopes->by_lambda[e] += moduli.bending_by_lambda * slopes->value;
  }
}

static void twisted_energy_slopes(const NoliBlock* block, NoliBlockPart part, int64_t stencil,
                                  const double* X, const double* x, NoliEnergySlopes* slopes) {
  const Rods* self = rods_of(block);
  const NoliTwisting twisting = {.twists = &self->twists, .frame = block->history, .scale = 1.0};
  NoliTwistingEnergy own;
  double power[5];
  if (part == NOLI_PART_ELEMENTS) {
    energy_slopes(block, part, stencil, X, x, slopes);
    return;
  }
  NoliTurnRest rest = turn_rest(block, stencil, X);
  radius_powers(block, power);
  noli_twisting_energy_slopes(&twisting, stencil, x, &rest, power, &own);
  memcpy(slopes->by_rest, own.by_rest, sizeof own.by_rest);
  memcpy(slopes->by_frame, own.by_frame, sizeof own.by_frame);
  slopes->by_radius = own.by_radius;
  set_places(self, stencil, slopes->place);
  for (int e = 0; e < 2; e++) {
    TurnModuli moduli = turn_moduli(block, stencil, e);
    slopes->by_mu[e] += moduli.bending_by_mu * own.by_stiffness[0];
    slopes->by_mu[e] += moduli.twist_by_mu * own.by_stiffness[1];
    slopes->by_lambda[e] += moduli.bending_by_lambda * own.by_stiffness[0];
  }
}

// ---- forces and moments -------------------------------------------------------------------------

// The moment of turn i: what the segment behind it exerts on the one before it. It is the
// derivative of the energy by a rotation of the segment behind, which takes its edge along and
// turns its angle.
static NoliVec3 moment_of(const NoliBlock* block, const NoliBlockStencils* stencils, int64_t i,
                          const double* x) {
  const Rods* self = rods_of(block);
  const NoliBlockEnergy energy = {.block = block, .part = NOLI_PART_BENDING, .scale = 1.0};
  double gradient[15] = {0};
  const NoliLocal local = {.gradient = noli_local_from(gradient, 3 * stencils->size * i)};
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
  const Rods* self = rods_of(block);
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
                                       .set_rest = set_rest,
                                       .finish = rods_finish,
                                       .destroy = rods_destroy,
                                       .add_mass = rods_add_mass,
                                       .rest_volume = rods_rest_volume,
                                       .wave_time_sqr = rods_wave_time_sqr,
                                       .frequency_sqr = rods_frequency_sqr,
                                       .add_stress = rods_add_stress,
                                       .rod_forces = rod_forces,
                                       .elasticity = elasticity,
                                       .bending_by_rest = bending_by_rest,
                                       .by_moduli = by_moduli,
                                       .energy_slopes = energy_slopes,
                                       .tangent_product = tangent_product,
                                       .bending_damping = turn_damping,
                                       .bending = bending,
                                       .damping = &noli_block_damping};

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
                                          .push_frame = push_frame,
                                          .pull_frame = pull_frame,
                                          .push_rest_frame = push_rest_frame,
                                          .pull_rest_frame = pull_rest_frame,
                                          .bending_by_rest = twisting_by_rest,
                                          .bending_by_frame = bending_by_frame,
                                          .bending_by_radius = twisting_by_radius,
                                          .add_mass = add_twisted_mass,
                                          .rest_volume = rods_rest_volume,
                                          .wave_time_sqr = rods_wave_time_sqr,
                                          .frequency_sqr = rods_frequency_sqr,
                                          .add_stress = rods_add_stress,
                                          .rod_forces = rod_forces,
                                          .elasticity = elasticity,
                                          .bending = twisting,
                                          .by_moduli = twisted_by_moduli,
                                          .energy_slopes = twisted_energy_slopes,
                                          .tangent_product = tangent_product,
                                          .bending_damping = twist_damping,
                                          .damping = &noli_block_damping};
