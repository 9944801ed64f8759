// Hencky's law, quadratic in the logarithmic strain eps, and J2 plasticity with isotropic hardening
// [Simo1998] in its variational form [Ortiz1999]:
//   Psi = mu |dev eps|^2 + K/2 (tr eps)^2,   K = lambda + 2 mu / 3.
// The material yields where Mises' equivalent q = sqrt(3/2) |dev tau| of Kirchhoff's stress tau
// exceeds
//   y(a) = y0 + H a + Q (1 - exp(-d a)),
// with a the equivalent plastic strain. With eps and q of F G, G the history, a step minimizes over
// the growth w >= 0 of a
//   mu |dev eps|^2 (1 - 3 mu w / q)^2 + K/2 (tr eps)^2 + integral of y from a to a + w,
// which flows along dev eps: w = 0, or the solution of q - 3 mu w = y(a + w). The minimum is the
// potential of the step; its derivatives are stress and consistent tangent. Plastic work is not
// stored: the energy of a state is elastic.
#include "material/hencky.h"
#include "material/history.h"

#include <float.h>
#include <math.h>

// q may exceed y by this fraction: rounding errors of a state that has just flowed do not make it
// flow again, so that its tangent is elastic.
#define ROUNDING 1e-10

enum { YIELD, HARDENING, SATURATION, SATURATION_RATE, N_PARAMETERS };

// y, its derivative, and its integral from 0.
typedef struct Yield {
  double stress;
  double derivative;
  double work;
} Yield;

static Yield yield_at(const double* parameter, double a) {
  double H = parameter[HARDENING], Q = parameter[SATURATION], d = parameter[SATURATION_RATE];
  double saturation = d > 0.0 ? -expm1(-d * a) : 0.0;
  return (Yield){.stress = parameter[YIELD] + H * a + Q * saturation,
                 .derivative = H + Q * d * (1.0 - saturation),
                 .work = a * (parameter[YIELD] + 0.5 * H * a) +
                         (d > 0.0 ? Q * (a - saturation / d) : 0.0)};
}

// The state of a point after the flow of a step.
typedef struct Flow {
  double e[3];       // dev eps before it
  double log_J;      // tr eps
  double factor;     // of e
  double growth;     // w
  double q;          // before the flow, Pa
  double derivative; // of y after it, Pa
  double work;       // of the flow, Pa
} Flow;

// The residual q - 3 mu w - y(a + w) falls and is convex, so that Newton's iterates from w = 0
// rise to its root.
static Flow flow_of(NoliLame lame, const double sigma[3]) {
  enum { MAX_ITERATIONS = 60 };
  Flow flow = {.factor = 1.0};
  flow.log_J = noli_log_stretches(sigma, flow.e);
  double norm_sqr = flow.e[0] * flow.e[0] + flow.e[1] * flow.e[1] + flow.e[2] * flow.e[2];
  flow.q = sqrt(6.0 * norm_sqr) * lame.mu;
  if (lame.parameter == NULL || lame.parameter[YIELD] == 0.0) {
    return flow;
  }
  double a = lame.internal != NULL ? lame.internal[0] : 0.0, w = 0.0;
  Yield begin = yield_at(lame.parameter, a), end = begin;
  if (flow.q <= begin.stress * (1.0 + ROUNDING)) {
    return flow;
  }
  for (int i = 0; i < MAX_ITERATIONS; i++) {
    double residual = flow.q - 3.0 * lame.mu * w - end.stress;
    if (!(residual > 4.0 * DBL_EPSILON * flow.q)) {
      break;
    }
    w += residual / (3.0 * lame.mu + end.derivative);
    end = yield_at(lame.parameter, a + w);
  }

  flow.growth = w;
  flow.factor = 1.0 - 3.0 * lame.mu * w / flow.q;
  flow.derivative = end.derivative;
  flow.work = end.work - begin.work;
  return flow;
}

static double bulk_of(NoliLame lame) {
  return lame.lambda + 2.0 / 3.0 * lame.mu;
}

static double plasticity_energy_of(NoliLame lame, const double sigma[3]) {
  if (!(sigma[2] > 0.0)) {
    return isnan(sigma[2]) ? NAN : INFINITY;
  }
  Flow flow = flow_of(lame, sigma);
  double q = flow.factor * flow.q;
  return q * q / (6.0 * lame.mu) + 0.5 * bulk_of(lame) * flow.log_J * flow.log_J + flow.work;
}

// dev tau = 2 mu f e with f = 1 - 3 mu w / q, and with n = e / |e|
//   d(dev tau) = 2 mu f de - 6 mu^2 (1 / (3 mu + y') - w / q) (n . de) n.
static void derivatives_of(NoliLame lame, const double sigma[3],
                           NoliStretchDerivatives* derivatives) {
  if (!(sigma[2] > 0.0)) {
    noli_stretch_infeasible(derivatives);
    return;
  }
  Flow flow = flow_of(lame, sigma);
  double mu = lame.mu, bulk = bulk_of(lame), secant = 2.0 * mu * flow.factor, tau[3], drop = 0.0;
  NoliMat3 C;
  if (flow.growth > 0.0) {
    // over |e|^2 = q^2 / (6 mu^2)
    double along = 6.0 * mu * mu / flow.q;
    drop = along * along * (1.0 / (3.0 * mu + flow.derivative) - flow.growth / flow.q);
  }
  for (int i = 0; i < 3; i++) {
    tau[i] = bulk * flow.log_J + secant * flow.e[i];
    for (int j = 0; j < 3; j++) {
      C.m[i][j] = bulk + secant * ((i == j ? 1.0 : 0.0) - 1.0 / 3.0) - drop * flow.e[i] * flow.e[j];
    }
  }
  noli_hencky_derivatives(sigma, tau, &C, secant, derivatives);
}

// Third derivatives of the elastic law: materials that yield have no damping, which alone needs
// these.
static void plasticity_third_of(NoliLame lame, const double sigma[3], NoliStretchThird* third) {
  double e[3], log_J = noli_log_stretches(sigma, e), bulk = bulk_of(lame), tau[3];
  NoliMat3 C;
  for (int i = 0; i < 3; i++) {
    tau[i] = bulk * log_J + 2.0 * lame.mu * e[i];
    for (int j = 0; j < 3; j++) {
      C.m[i][j] = lame.lambda + (i == j ? 2.0 * lame.mu : 0.0);
    }
  }
  noli_hencky_third(sigma, tau, &C, 2.0 * lame.mu, third);
}

// G, and a.
static int32_t history_size(const double* parameter) {
  return parameter != NULL && parameter[YIELD] > 0.0 ? NOLI_BRANCH_VALUES + 1 : 0;
}

static double flow(NoliLame lame, const double sigma[3], double* internal) {
  Flow end = flow_of(lame, sigma);
  internal[0] = lame.internal[0] + end.growth;
  return end.factor;
}

// With r = |e|, q = sqrt(6) mu r and f = 1 - 3 w / (sqrt(6) r), the residual q - 3 mu w - y(a + w)
// = 0 gives the growth w as a function of r, a, mu and the parameters of y.
static void flow_derivatives(NoliLame lame, const double sigma[3],
                             NoliFlowDerivatives* derivatives) {
  Flow flow = flow_of(lame, sigma);
  const double* p = lame.parameter;
  double begin = yield_at(p, lame.internal[0]).stress;
  *derivatives = (NoliFlowDerivatives){.factor = flow.factor, .excess = (flow.q - begin) / begin};
  if (flow.growth == 0.0) {
    return;
  }
  double root = sqrt(6.0), mu = lame.mu, r = flow.q / (root * mu), w = flow.growth;
  double a = lame.internal[0] + w, rest = exp(-p[SATURATION_RATE] * a);
  double stiffness = 3.0 * mu + flow.derivative, by[NOLI_FLOW_NUMBERS] = {0.0};
  by[NOLI_FLOW_INTERNAL] = -flow.derivative;
  by[NOLI_FLOW_MU] = root * r - 3.0 * w;
  by[NOLI_FLOW_PARAMETERS + YIELD] = -1.0;
  by[NOLI_FLOW_PARAMETERS + HARDENING] = -a;
  by[NOLI_FLOW_PARAMETERS + SATURATION] = p[SATURATION_RATE] > 0.0 ? rest - 1.0 : 0.0;
  by[NOLI_FLOW_PARAMETERS + SATURATION_RATE] = -p[SATURATION] * a * rest;
  for (int k = 0; k < NOLI_FLOW_NUMBERS; k++) {
    derivatives->growth_by[k] = by[k] / stiffness;
    derivatives->factor_by[k] = -3.0 * derivatives->growth_by[k] / (root * r);
  }
  derivatives->growth_by_strain = root * mu / (stiffness * r);
  derivatives->factor_by_strain = 3.0 / (root * r) * (w / (r * r) - derivatives->growth_by_strain);
}

const NoliMaterial noli_hencky = {
    .name = "hencky",
    .description =
        "Quadratic in the logarithmic strain; with a yield stress, metals: J2 plasticity.",
    .n_parameter = N_PARAMETERS,
    .stretch_energy = plasticity_energy_of,
    .stretch_derivatives = derivatives_of,
    .stretch_third = plasticity_third_of,
    .history_size = history_size,
    .flow = flow,
    .flow_derivatives = flow_derivatives};
