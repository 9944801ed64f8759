// The derivatives of rods, without and with twist.
#include "fem/blocks/block_rods.h"
#include "fem/derivatives/block_derivatives.h"

#include <string.h>

// A strain of rounding.
#define ZERO 1e-13

static void bending_by_rest(const NoliBlock* block, int64_t stencil, const double* X,
                            const double* x, double scale, double* derivative) {
  const NoliRods* self = noli_rods_of(block);
  NoliTurning scaled = {.turns = &self->turns, .bending = self->bending, .scale = scale};
  noli_turning_by_rest(&scaled, stencil, X, x, derivative);
}

static void frame_tangent(const NoliBlock* block, const double* before, const double* x,
                          const double* dx, const double* d_before, double* d_after) {
  noli_twists_transport_tangent(&noli_rods_of(block)->twists, block->node, before, x, dx, d_before,
                                d_after);
}

static void frame_adjoint(const NoliBlock* block, const double* before, const double* x,
                          const double* by_after, double* by_x, double* by_before) {
  noli_twists_transport_adjoint(&noli_rods_of(block)->twists, block->node, before, x, by_after,
                                by_x, by_before);
}

// The places of the frames of both segments of a turn in that of the block.
static void set_places(const NoliRods* self, int64_t turn, int64_t place[12]) {
  for (int k = 0; k < 12; k++) {
    place[k] = 6 * (int64_t)self->turns.segment[2 * turn + k / 6] + k % 6;
  }
}

static void bending_by_frame(const NoliBlock* block, int64_t stencil, const double* x, double scale,
                             int64_t place[12], double* derivative) {
  const NoliRods* self = noli_rods_of(block);
  NoliTwisting scaled = {.twists = &self->twists, .frame = block->history, .scale = scale};
  set_places(self, stencil, place);
  noli_twisting_by_frame(&scaled, stencil, x, derivative);
}

static NoliVec3 edge_of(const NoliBlock* block, const double* x, int64_t s) {
  const int32_t* node = block->node + 2 * s;
  return noli_sub3(noli_load3(x + 3 * (int64_t)node[1]), noli_load3(x + 3 * (int64_t)node[0]));
}

// Sets the normal of segment s, from its tangent at rest.
static void set_normal(const NoliRods* self, int64_t s, double normal[3]) {
  noli_store3(normal, noli_rod_normal(&self->def[s], noli_load3(self->rest_frame + 6 * s)));
}

static void rest_frame_tangent(const NoliBlock* block, const double* X, const double* dX,
                               double* d_frame) {
  const NoliRods* self = noli_rods_of(block);
  memset(d_frame, 0, sizeof *d_frame * (size_t)block->n_history);
  for (int64_t s = 0; s < block->n_element; s++) {
    double normal[3];
    set_normal(self, s, normal);
    noli_segment_rest_tangent(self->rest_frame, s, edge_of(block, X, s), normal,
                              edge_of(block, dX, s), d_frame);
  }
}

static void rest_frame_adjoint(const NoliBlock* block, const double* X, const double* by_frame,
                               double* by_X) {
  const NoliRods* self = noli_rods_of(block);
  for (int64_t s = 0; s < block->n_element; s++) {
    const int32_t* node = block->node + 2 * s;
    double normal[3], by[3];
    set_normal(self, s, normal);
    noli_store3(
        by, noli_segment_rest_adjoint(self->rest_frame, s, edge_of(block, X, s), normal, by_frame));
    for (int k = 0; k < 3; k++) {
      by_X[3 * (int64_t)node[1] + k] += by[k];
      by_X[3 * (int64_t)node[0] + k] -= by[k];
    }
  }
}

static NoliTurnRest turn_rest(const NoliBlock* block, int64_t stencil, const double* X) {
  const NoliRods* self = noli_rods_of(block);
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
                             const double* x, double scale, double* derivative) {
  const NoliRods* self = noli_rods_of(block);
  const NoliTwisting scaled = {.twists = &self->twists, .frame = block->history, .scale = scale};
  NoliTurnRest rest = turn_rest(block, stencil, X);
  noli_twisting_by_rest(&scaled, stencil, x, &rest, derivative);
}

// ---- by moduli ----------------------------------------------------------------------------------

// dE/dmu and dE/dlambda over E.
static void young_derivatives(const NoliBlock* block, int32_t s, double* by_mu, double* by_lambda) {
  double mu = block->lame_mu[s], lambda = block->lame_lambda[s], sum = lambda + mu;
  double young = noli_rod_young(block, s);
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
  const NoliRods* self = noli_rods_of(block);
  const int32_t* segment = self->turns.segment + 2 * turn;
  TurnModuli moduli = {.segment = segment[e]};
  double bent[2], twisted[2], mu, lambda;
  for (int k = 0; k < 2; k++) {
    bent[k] = self->length[segment[k]] / self->bending[segment[k]];
    twisted[k] = self->length[segment[k]] / block->lame_mu[segment[k]];
  }
  double share = self->turns.stiffness[turn] > 0.0 ? bent[e] / (bent[0] + bent[1]) : 0.0;
  young_derivatives(block, segment[e], &mu, &lambda);
  moduli.bending_by_mu = share * mu;
  moduli.bending_by_lambda = share * lambda;
  moduli.twist_by_mu = twisted[e] / (twisted[0] + twisted[1]) / block->lame_mu[segment[e]];
  return moduli;
}

static void stretching_by_moduli(const NoliBlock* block, int64_t s, const double* x, double scale,
                                 NoliModuliDerivatives* to) {
  const NoliBlockEnergy energy = {.block = block, .part = NOLI_PART_ELEMENTS, .scale = scale};
  double gradient[6], mu, lambda;
  const NoliLocal out = {.gradient = gradient};
  block->type->elasticity(&energy, x, s, s + 1, NOLI_EVAL_GRADIENT, &out);
  young_derivatives(block, (int32_t)s, &mu, &lambda);
  for (int i = 0; i < 6; i++) {
    to->by_mu[2 * i] = mu * gradient[i];
    to->by_lambda[2 * i] = lambda * gradient[i];
  }
}

static void by_moduli(const NoliBlock* block, NoliBlockPart part, int64_t stencil, const double* X,
                      const double* x, double scale, NoliModuliDerivatives* to) {
  const NoliBlockEnergy energy = {.block = block, .part = part, .scale = scale};
  double gradient[9];
  (void)X;
  to->element[0] = (int32_t)stencil;
  if (part == NOLI_PART_ELEMENTS) {
    stretching_by_moduli(block, stencil, x, scale, to);
    return;
  }
  const NoliLocal out = {.gradient = gradient};
  const NoliBlockStencils turns = noli_block_stencils(block, part);
  turns.evaluate(&energy, x, stencil, stencil + 1, NOLI_EVAL_GRADIENT, &out);
  for (int e = 0; e < 2; e++) {
    TurnModuli moduli = turn_moduli(block, stencil, e);
    to->element[e] = moduli.segment;
    for (int i = 0; i < 9; i++) {
      to->by_mu[2 * i + e] = moduli.bending_by_mu * gradient[i];
      to->by_lambda[2 * i + e] = moduli.bending_by_lambda * gradient[i];
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
  double stretch = noli_norm3(f), young = noli_rod_young(block, element), tension = stretch - 1.0,
         mu, lambda, rest[3];
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
  young_derivatives(block, element, &mu, &lambda);
  product->Q = noli_outer33(noli_mul33_vec(&S, w), T);
  product->by[NOLI_NUMBER_MU] = noli_scale33(mu, product->Q);
  product->by[NOLI_NUMBER_LAMBDA] = noli_scale33(lambda, product->Q);
}

static void turn_damping(const NoliBlock* block, int64_t stencil, const double* X, const double* y,
                         const double* w, NoliBendingDamping* damping) {
  const NoliRods* self = noli_rods_of(block);
  const NoliTurning turning = {.turns = &self->turns, .bending = self->bending, .scale = 1.0};
  noli_turning_damping(&turning, stencil, X, y, w, damping->force, damping->by_y, damping->by_rest);
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
                              const double* X, const double* x, double scale,
                              NoliModuliDerivatives* to) {
  const NoliRods* self = noli_rods_of(block);
  if (part == NOLI_PART_ELEMENTS) {
    by_moduli(block, part, stencil, X, x, scale, to);
    return;
  }
  const NoliTwisting scaled = {.twists = &self->twists, .frame = block->history, .scale = scale};
  const double* k = self->twists.stiffness + 5 * stencil;
  double derivative[75];
  noli_twisting_by_stiffness(&scaled, stencil, x, derivative);
  for (int e = 0; e < 2; e++) {
    TurnModuli moduli = turn_moduli(block, stencil, e);
    to->element[e] = moduli.segment;
    for (int i = 0; i < 15; i++) {
      double bending = 0.0;
      for (int q = 0; q < 4; q++) {
        bending += k[q] * derivative[5 * i + q];
      }
      to->by_mu[2 * i + e] =
          moduli.bending_by_mu * bending + moduli.twist_by_mu * k[4] * derivative[5 * i + 4];
      to->by_lambda[2 * i + e] = moduli.bending_by_lambda * bending;
    }
  }
}

// Exponents of the stiffness of the terms of a turn with twist as powers of the first radius.
static void radius_powers(const NoliBlock* block, double power[5]) {
  const NoliRodDef* def = noli_rods_of(block)->def;
  double a = def->radius * def->radius, b = def->second_radius * def->second_radius;
  bool round = def->second_radius == 0.0;
  for (int q = 0; q < 4; q++) {
    power[q] = round ? 4.0 : q % 2 == 0 ? 1.0 : 3.0;
  }
  power[4] = round ? 4.0 : 3.0 - 2.0 * a / (a + b);
}

static void twisting_by_radius(const NoliBlock* block, int64_t stencil, const double* x,
                               double scale, double* derivative) {
  const NoliRods* self = noli_rods_of(block);
  const NoliTwisting scaled = {.twists = &self->twists, .frame = block->history, .scale = scale};
  double power[5];
  radius_powers(block, power);
  noli_twisting_by_radius(&scaled, stencil, x, power, derivative);
}

static void twist_damping(const NoliBlock* block, int64_t stencil, const double* X, const double* y,
                          const double* w, NoliBendingDamping* damping) {
  const NoliRods* self = noli_rods_of(block);
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

static void rods_energy(const NoliBlock* block, NoliBlockPart part, int64_t stencil,
                        const double* X, const double* x, NoliEnergyDerivatives* to) {
  const NoliRods* self = noli_rods_of(block);
  const NoliTurning turning = {.turns = &self->turns, .bending = self->bending, .scale = 1.0};
  if (part == NOLI_PART_ELEMENTS) {
    double mu, lambda;
    young_derivatives(block, (int32_t)stencil, &mu, &lambda);
    to->by_mu[0] += mu * to->value;
    to->by_lambda[0] += lambda * to->value;
    return;
  }
  noli_turning_energy_by_rest(&turning, stencil, X, x, to->by_rest);
  for (int e = 0; e < 2; e++) {
    TurnModuli moduli = turn_moduli(block, stencil, e);
    to->by_mu[e] += moduli.bending_by_mu * to->value;
    to->by_lambda[e] += moduli.bending_by_lambda * to->value;
  }
}

static void twisted_energy(const NoliBlock* block, NoliBlockPart part, int64_t stencil,
                           const double* X, const double* x, NoliEnergyDerivatives* to) {
  const NoliRods* self = noli_rods_of(block);
  const NoliTwisting twisting = {.twists = &self->twists, .frame = block->history, .scale = 1.0};
  NoliTwistingEnergy own;
  double power[5];
  if (part == NOLI_PART_ELEMENTS) {
    rods_energy(block, part, stencil, X, x, to);
    return;
  }
  NoliTurnRest rest = turn_rest(block, stencil, X);
  radius_powers(block, power);
  noli_twisting_energy_derivatives(&twisting, stencil, x, &rest, power, &own);
  memcpy(to->by_rest, own.by_rest, sizeof own.by_rest);
  memcpy(to->by_frame, own.by_frame, sizeof own.by_frame);
  to->by_radius = own.by_radius;
  set_places(self, stencil, to->place);
  for (int e = 0; e < 2; e++) {
    TurnModuli moduli = turn_moduli(block, stencil, e);
    to->by_mu[e] += moduli.bending_by_mu * own.by_stiffness[0];
    to->by_mu[e] += moduli.twist_by_mu * own.by_stiffness[1];
    to->by_lambda[e] += moduli.bending_by_lambda * own.by_stiffness[0];
  }
}

const NoliBlockDerivatives noli_rods_derivatives = {.by_moduli = by_moduli,
                                                    .energy = rods_energy,
                                                    .tangent_product = tangent_product,
                                                    .bending_by_rest = bending_by_rest,
                                                    .bending_damping = turn_damping};

const NoliBlockDerivatives noli_twisted_derivatives = {.frame_tangent = frame_tangent,
                                                       .frame_adjoint = frame_adjoint,
                                                       .rest_frame_tangent = rest_frame_tangent,
                                                       .rest_frame_adjoint = rest_frame_adjoint,
                                                       .by_moduli = twisted_by_moduli,
                                                       .energy = twisted_energy,
                                                       .tangent_product = tangent_product,
                                                       .bending_by_rest = twisting_by_rest,
                                                       .bending_by_radius = twisting_by_radius,
                                                       .bending_by_frame = bending_by_frame,
                                                       .bending_damping = twist_damping};
