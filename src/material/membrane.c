#include "material/membrane.h"

#include "linalg/energy_term.h"
#include "math/vec3.h"

#include <math.h>
#include <string.h>

// ---- in the plane of principal stretches --------------------------------------------------------

// (s1^2 - 1) and (s2^2 - 1) without the cancellation near rest.
static double green(double s) {
  double e = s - 1.0;
  return e * (2.0 + e);
}

static double stvk_energy(const NoliMembraneParameters* parameters, const double s[2]) {
  NoliLame lame = parameters->lame;
  double a = green(s[0]), b = green(s[1]);
  return 0.125 * lame.lambda * (a + b) * (a + b) + 0.25 * lame.mu * (a * a + b * b);
}

static void stvk_derivatives(const NoliMembraneParameters* parameters, const double s[2],
                             NoliPlaneDerivatives* d) {
  NoliLame lame = parameters->lame;
  double a = green(s[0]), b = green(s[1]), volume = 0.5 * lame.lambda * (a + b);
  d->normal[0] = volume + lame.mu * a;
  d->normal[1] = volume + lame.mu * b;
  d->first[0] = s[0] * d->normal[0];
  d->first[1] = s[1] * d->normal[1];
  d->second[0] = d->normal[0] + (lame.lambda + 2.0 * lame.mu) * s[0] * s[0];
  d->second[1] = lame.lambda * s[0] * s[1];
  d->second[2] = d->normal[1] + (lame.lambda + 2.0 * lame.mu) * s[1] * s[1];
  d->flip = volume + lame.mu * (a + s[1] * (s[0] + s[1]));
  d->twist = volume + lame.mu * (a + s[1] * (s[1] - s[0]));
}

static void stvk_third(const NoliMembraneParameters* parameters, const double s[2],
                       NoliPlaneThird* third) {
  double mu = parameters->lame.mu, lambda = parameters->lame.lambda, along = lambda + 2.0 * mu;
  *third =
      (NoliPlaneThird){.second = {{3.0 * along * s[0], lambda * s[1]},
                                  {lambda * s[1], lambda * s[0]},
                                  {lambda * s[0], 3.0 * along * s[1]}},
                       .flip = {along * s[0] + mu * s[1], along * s[1] + mu * s[0]},
                       .twist = {along * s[0] - mu * s[1], along * s[1] - mu * s[0]},
                       .normal = {{along * s[0], lambda * s[1]}, {lambda * s[0], along * s[1]}}};
}

// J - 1 of a sheet.
static double area_change(const double s[2]) {
  double e = s[0] - 1.0, f = s[1] - 1.0;
  return e + f + e * f;
}

static double neo_hookean_energy(const NoliMembraneParameters* parameters, const double s[2]) {
  NoliLame lame = parameters->lame;
  double j = area_change(s), difference = s[0] - s[1];
  if (!(j > -1.0)) {
    return isnan(j) ? j : (double)INFINITY;
  }
  double logarithm = log1p(j);
  return 0.5 * lame.mu * (difference * difference + 2.0 * noli_minus_log1p(j)) +
         0.5 * lame.lambda * logarithm * logarithm;
}

static void neo_hookean_derivatives(const NoliMembraneParameters* parameters, const double s[2],
                                    NoliPlaneDerivatives* d) {
  NoliLame lame = parameters->lame;
  double j = area_change(s), J = s[0] * s[1];
  double volume = j > -1.0 ? lame.lambda * log1p(j) : (double)NAN;
  for (int i = 0; i < 2; i++) {
    double stretch = s[i], inverse_sqr = 1.0 / (stretch * stretch);
    d->normal[i] = (lame.mu * green(stretch) + volume) * inverse_sqr;
    d->first[i] = stretch * d->normal[i];
    d->second[2 * i] = lame.mu + (lame.mu + lame.lambda - volume) * inverse_sqr;
  }
  d->second[1] = lame.lambda / J;
  d->flip = lame.mu + (lame.mu - volume) / J;
  d->twist = lame.mu - (lame.mu - volume) / J;
}

static void neo_hookean_third(const NoliMembraneParameters* parameters, const double s[2],
                              NoliPlaneThird* third) {
  double mu = parameters->lame.mu, lambda = parameters->lame.lambda, J = s[0] * s[1];
  double rest = lambda + mu - lambda * log1p(area_change(s));
  for (int i = 0; i < 2; i++) {
    int j = 1 - i;
    double cube = 1.0 / (s[i] * s[i] * s[i]), mixed = lambda / (s[i] * J);
    third->second[2 * i][i] = -(lambda + 2.0 * rest) * cube;
    third->second[2 * i][j] = -mixed;
    third->second[1][i] = -mixed;
    third->flip[i] = -rest / (s[i] * J);
    third->twist[i] = -third->flip[i];
    third->normal[i][i] = (2.0 * rest - lambda) * cube;
    third->normal[i][j] = mixed;
  }
}

// ---- the strain limit ---------------------------------------------------------------------------

// k t^3 / (1 - t) with t = (s - a) / (b - a) for s > a, with its derivatives: twice continuously
// differentiable at a, infinite at b. A logarithm would hold 30 k at most before the distance to b
// is rounding: too little for a soft sheet that hits something.
static void limit(const NoliMembraneParameters* parameters, double s, double value[4]) {
  double a = parameters->limit_from, width = parameters->limit - a;
  memset(value, 0, 4 * sizeof *value);
  if (!(s > a)) {
    return;
  }
  if (!(s < parameters->limit)) {
    value[0] = (double)INFINITY;
    value[1] = value[2] = value[3] = (double)NAN;
    return;
  }
  double k = parameters->limit_stiffness, t = (s - a) / width,
         left = (parameters->limit - s) / width;
  double ratio = t / left;
  value[0] = k * t * t * ratio;
  value[1] = k / width * ratio * ratio * (3.0 - 2.0 * t);
  value[2] = k / (width * width) * (ratio / left) * (6.0 - 6.0 * t + 2.0 * t * t) / left;
  value[3] = 6.0 * k / (width * width * width) / (left * left * left * left);
}

// Three points between two stretches.
static const double node[3] = {-0.77459666924148338, 0.0, 0.77459666924148338};
static const double weight[3] = {5.0 / 18.0, 8.0 / 18.0, 5.0 / 18.0};

// (f(s1) - f(s2)) / (s1 - s2) of the first derivative f: from three points of the second one where
// the stretches are close.
static double limit_quotient(const NoliMembraneParameters* parameters, const double s[2],
                             double difference) {
  double centre = 0.5 * (s[0] + s[1]), half = 0.5 * (s[0] - s[1]);
  if (half > 1e-3 * (parameters->limit - s[0])) {
    return difference / (s[0] - s[1]);
  }
  double sum = 0.0, value[4];
  for (int i = 0; i < 3; i++) {
    limit(parameters, centre + node[i] * half, value);
    sum += weight[i] * value[2];
  }
  return sum;
}

static double limit_energy(const NoliMembraneParameters* parameters, const double s[2]) {
  double one[4], two[4];
  limit(parameters, s[0], one);
  limit(parameters, s[1], two);
  return one[0] + two[0];
}

static void limit_derivatives(const NoliMembraneParameters* parameters, const double s[2],
                              NoliPlaneDerivatives* d) {
  double one[4], two[4];
  limit(parameters, s[0], one);
  limit(parameters, s[1], two);
  *d = (NoliPlaneDerivatives){.first = {one[1], two[1]},
                              .second = {one[2], 0.0, two[2]},
                              .flip = limit_quotient(parameters, s, one[1] - two[1]),
                              .twist = (one[1] + two[1]) / (s[0] + s[1]),
                              .normal = {one[1] / s[0], s[1] > 0.0 ? two[1] / s[1] : 0.0}};
}

// How the quotient changes with both stretches.
static void limit_quotient_third(const NoliMembraneParameters* parameters, const double s[2],
                                 double by[2]) {
  double centre = 0.5 * (s[0] + s[1]), half = 0.5 * (s[0] - s[1]), value[4], one[4], two[4];
  by[0] = by[1] = 0.0;
  if (half > 1e-3 * (parameters->limit - s[0])) {
    limit(parameters, s[0], one);
    limit(parameters, s[1], two);
    double quotient = (one[1] - two[1]) / (s[0] - s[1]);
    by[0] = (one[2] - quotient) / (s[0] - s[1]);
    by[1] = (quotient - two[2]) / (s[0] - s[1]);
    return;
  }
  for (int i = 0; i < 3; i++) {
    limit(parameters, centre + node[i] * half, value);
    by[0] += weight[i] * value[3] * 0.5 * (1.0 + node[i]);
    by[1] += weight[i] * value[3] * 0.5 * (1.0 - node[i]);
  }
}

static void limit_third(const NoliMembraneParameters* parameters, const double s[2],
                        NoliPlaneThird* third) {
  double one[4], two[4], sum = s[0] + s[1];
  limit(parameters, s[0], one);
  limit(parameters, s[1], two);
  double twist = (one[1] + two[1]) / sum;
  *third = (NoliPlaneThird){.second = {{one[3], 0.0}, {0.0, 0.0}, {0.0, two[3]}},
                            .twist = {(one[2] - twist) / sum, (two[2] - twist) / sum},
                            .normal = {{(one[2] - one[1] / s[0]) / s[0], 0.0}, {0.0, 0.0}}};
  if (s[1] > 0.0) {
    third->normal[1][1] = (two[2] - two[1] / s[1]) / s[1];
  }
  limit_quotient_third(parameters, s, third->flip);
}

// ---- from stretches to F ------------------------------------------------------------------------

void noli_sheet_decompose(const NoliSheet* F, NoliMat3* U, double s[2], double V[2][2]) {
  // rotate the columns until they are orthogonal (one-sided Jacobi); the first one is the longer
  NoliVec3 a = F->f[0], b = F->f[1];
  double c = 1.0, t = 0.0; // columns of V: (c, t), (-t, c)
  for (int sweep = 0; sweep < 2; sweep++) {
    double angle = 0.5 * atan2(2.0 * noli_dot3(a, b), noli_norm_sqr3(a) - noli_norm_sqr3(b));
    double cosine = cos(angle), sine = sin(angle), before = c;
    NoliVec3 a_before = a;
    a = noli_mul_add3(noli_scale3(cosine, a), sine, b);
    b = noli_mul_add3(noli_scale3(cosine, b), -sine, a_before);
    c = cosine * c - sine * t;
    t = cosine * t + sine * before;
  }
  V[0][0] = c;
  V[1][0] = t;
  V[0][1] = -t;
  V[1][1] = c;

  // any frame where columns vanish
  s[0] = noli_norm3(a);
  s[1] = noli_norm3(b);
  NoliVec3 u = s[0] > 0.0 ? noli_scale3(1.0 / s[0], a) : noli_vec3(1.0, 0.0, 0.0);
  NoliVec3 axis = fabs(u.x) < 0.6 ? noli_vec3(1.0, 0.0, 0.0) : noli_vec3(0.0, 1.0, 0.0);
  NoliVec3 w = s[1] > 1e-14 * s[0] ? b : noli_cross3(u, axis);
  NoliVec3 n = noli_normalize3(noli_cross3(u, w));
  *U = noli_columns33(u, noli_cross3(n, u), n);
}

double noli_sheet_stretch(const NoliSheet* F) {
  double s[2], V[2][2];
  NoliMat3 U;
  noli_sheet_decompose(F, &U, s, V);
  return s[0];
}

// The symmetric matrix [a b; b c] without its negative eigenvalues.
static void project_2x2(double* a, double* b, double* c) {
  double mean = 0.5 * (*a + *c), half = 0.5 * (*a - *c), radius = hypot(half, *b);
  double low = mean - radius, high = mean + radius;
  if (low >= 0.0) {
    return;
  }
  if (high <= 0.0) {
    *a = *b = *c = 0.0;
    return;
  }
  // high times the projector on its direction
  double scale = 0.5 * high / radius;
  *a = scale * (radius + half);
  *c = scale * (radius - half);
  *b = scale * *b;
}

static void project(NoliPlaneDerivatives* d) {
  project_2x2(&d->second[0], &d->second[1], &d->second[2]);
  d->flip = fmax(d->flip, 0.0);
  d->twist = fmax(d->twist, 0.0);
  d->normal[0] = fmax(d->normal[0], 0.0);
  d->normal[1] = fmax(d->normal[1], 0.0);
}

// Adds the derivatives, seen from the frames, to the response.
static void add_in_frames(NoliPlaneDerivatives* d, const NoliMat3* U, double V[2][2], unsigned what,
                          NoliSheetResponse* response) {
  NoliVec3 u[2] = {noli_column33(U, 0), noli_column33(U, 1)};
  for (int p = 0; p < 2 && (what & NOLI_EVAL_GRADIENT); p++) {
    for (int i = 0; i < 2; i++) {
      response->P[p] = noli_mul_add3(response->P[p], d->first[i] * V[p][i], u[i]);
    }
  }
  if (!(what & (NOLI_EVAL_HESSIAN | NOLI_EVAL_PROJECTED))) {
    return;
  }

  if (what & NOLI_EVAL_PROJECTED) {
    project(d);
  }

  // block (p, q) is U K U^T, with the columns p and q of F as sums over the principal ones
  double m = 0.5 * (d->flip + d->twist), c = 0.5 * (d->flip - d->twist);
  static const int pair[3][2] = {{0, 0}, {0, 1}, {1, 1}};
  for (int k = 0; k < 3; k++) {
    const double *vp = V[pair[k][0]], *vq = V[pair[k][1]];
    double t[2][2] = {{vp[0] * vq[0], vp[0] * vq[1]}, {vp[1] * vq[0], vp[1] * vq[1]}};
    NoliMat3 K = {
        {{d->second[0] * t[0][0] + m * t[1][1], d->second[1] * t[0][1] + c * t[1][0], 0.0},
         {d->second[1] * t[1][0] + c * t[0][1], m * t[0][0] + d->second[2] * t[1][1], 0.0},
         {0.0, 0.0, d->normal[0] * t[0][0] + d->normal[1] * t[1][1]}}};
    response->H[k] = noli_add33(response->H[k], noli_mul_transpose33(noli_mul33(*U, K), *U));
  }
}

// ---- cloth --------------------------------------------------------------------------------------

// 1/2 k (|w| - 1)^2 of a column: -> its energy, P, and the block.
static void respond_stretch(double k, NoliVec3 w, int column, unsigned what,
                            NoliSheetResponse* response) {
  double length = noli_norm3(w), over = length - 1.0;
  NoliVec3 along = length > 0.0 ? noli_scale3(1.0 / length, w) : noli_vec3(0.0, 0.0, 0.0);
  response->energy += 0.5 * k * over * over;
  response->P[column] = noli_mul_add3(response->P[column], k * over, along);
  if (!(what & (NOLI_EVAL_HESSIAN | NOLI_EVAL_PROJECTED))) {
    return;
  }
  double across = length > 0.0 ? over / length : 0.0;
  across = (what & NOLI_EVAL_PROJECTED) ? fmax(across, 0.0) : across;
  double diagonal[3] = {k * across, k * across, k * across};
  NoliMat3 H = noli_add33(noli_diagonal33(diagonal),
                          noli_scale33(k * (1.0 - across), noli_outer33(along, along)));
  response->H[2 * column] = noli_add33(response->H[2 * column], H);
}

// 1/2 k (a . b)^2 with the sum and the difference of the columns, c = (a + b) / 2 and
// d = (b - a) / 2: the Hessian k (f K + g g^T), f = a . b, is f on (p, p) for p across c, -f on
// (p, -p) for p across d, and a 2 x 2 matrix of c and d.
static void respond_shear(double k, const NoliSheet* F, unsigned what,
                          NoliSheetResponse* response) {
  NoliVec3 a = F->f[0], b = F->f[1];
  double f = noli_dot3(a, b);
  response->energy += 0.5 * k * f * f;
  response->P[0] = noli_mul_add3(response->P[0], k * f, b);
  response->P[1] = noli_mul_add3(response->P[1], k * f, a);
  if (!(what & (NOLI_EVAL_HESSIAN | NOLI_EVAL_PROJECTED))) {
    return;
  }

  NoliVec3 c = noli_scale3(0.5, noli_add3(a, b)), d = noli_scale3(0.5, noli_sub3(b, a));
  double c_length = noli_norm3(c), d_length = noli_norm3(d);
  NoliVec3 zero = noli_vec3(0.0, 0.0, 0.0);
  NoliVec3 c_hat = c_length > 0.0 ? noli_scale3(1.0 / c_length, c) : zero;
  NoliVec3 d_hat = d_length > 0.0 ? noli_scale3(1.0 / d_length, d) : zero;
  double plus = f, minus = -f;
  double cc = f + 2.0 * c_length * c_length, cd = 2.0 * c_length * d_length,
         dd = -f + 2.0 * d_length * d_length;
  if (what & NOLI_EVAL_PROJECTED) {
    plus = fmax(plus, 0.0);
    minus = fmax(minus, 0.0);
    project_2x2(&cc, &cd, &dd);
  }

  // (p, p) / sqrt 2 and (p, -p) / sqrt 2 in columns
  NoliMat3 one = noli_identity3();
  NoliMat3 in_c = noli_outer33(c_hat, c_hat), in_d = noli_outer33(d_hat, d_hat);
  NoliMat3 sum = noli_add33(noli_scale33(plus, noli_sub33(one, in_c)), noli_scale33(cc, in_c));
  NoliMat3 difference =
      noli_add33(noli_scale33(minus, noli_sub33(one, in_d)), noli_scale33(dd, in_d));
  NoliMat3 mixed = noli_scale33(cd, noli_outer33(c_hat, d_hat)), back = noli_transpose33(mixed);
  NoliMat3 even = noli_add33(sum, difference), odd = noli_sub33(sum, difference);
  NoliMat3 symmetric = noli_add33(mixed, back), skew = noli_sub33(mixed, back);
  double half = 0.5 * k;
  response->H[0] = noli_add33(response->H[0], noli_scale33(half, noli_add33(even, symmetric)));
  response->H[1] = noli_add33(response->H[1], noli_scale33(half, noli_sub33(odd, skew)));
  response->H[2] = noli_add33(response->H[2], noli_scale33(half, noli_sub33(even, symmetric)));
}

static void cloth_respond(const NoliMembraneParameters* parameters, const NoliSheet* F,
                          unsigned what, NoliSheetResponse* response) {
  respond_stretch(parameters->warp, F->f[0], 0, what, response);
  respond_stretch(parameters->weft, F->f[1], 1, what, response);
  respond_shear(parameters->shear, F, what, response);
}

// ---- table --------------------------------------------------------------------------------------

const NoliMembraneLaw noli_membrane_neo_hookean = {.name = "neo_hookean",
                                                   .stretch_energy = neo_hookean_energy,
                                                   .stretch_derivatives = neo_hookean_derivatives,
                                                   .stretch_third = neo_hookean_third};
const NoliMembraneLaw noli_membrane_stvk = {.name = "stvk",
                                            .stretch_energy = stvk_energy,
                                            .stretch_derivatives = stvk_derivatives,
                                            .stretch_third = stvk_third};
const NoliMembraneLaw noli_membrane_cloth = {.name = "cloth", .respond = cloth_respond};

const NoliMembraneLaw noli_membrane_limit = {.name = "limit",
                                             .stretch_energy = limit_energy,
                                             .stretch_derivatives = limit_derivatives,
                                             .stretch_third = limit_third};

static const NoliMembraneLaw* const laws[] = {&noli_membrane_neo_hookean, &noli_membrane_stvk,
                                              &noli_membrane_cloth};

const NoliMembraneLaw* noli_membrane_at(int32_t index) {
  return index >= 0 && (size_t)index < sizeof laws / sizeof *laws ? laws[index] : NULL;
}

const NoliMembraneLaw* noli_membrane_find(const char* name) {
  for (int32_t i = 0; noli_membrane_at(i) != NULL; i++) {
    if (strcmp(laws[i]->name, name) == 0) {
      return laws[i];
    }
  }
  return NULL;
}

NoliLame noli_membrane_lame(double young, double poisson) {
  return (NoliLame){.mu = 0.5 * young / (1.0 + poisson),
                    .lambda = young * poisson / (1.0 - poisson * poisson)};
}

void noli_membrane_respond(const NoliMembraneLaw* law, const NoliMembraneParameters* parameters,
                           const NoliSheet* F, unsigned what, NoliSheetResponse* response) {
  *response = (NoliSheetResponse){0};
  bool limited = isfinite(parameters->limit), in_stretches = law->stretch_energy != NULL;
  if (law->respond != NULL) {
    law->respond(parameters, F, what, response);
  }
  if (!limited && !in_stretches) {
    return;
  }

  // what is written in stretches
  double s[2], V[2][2];
  NoliMat3 U;
  NoliPlaneDerivatives derivatives;
  bool any = (what & ~(unsigned)NOLI_EVAL_ENERGY) != 0;
  noli_sheet_decompose(F, &U, s, V);
  if (in_stretches) {
    response->energy += law->stretch_energy(parameters, s);
  }
  if (limited) {
    response->energy += limit_energy(parameters, s);
  }
  if (any && in_stretches) {
    law->stretch_derivatives(parameters, s, &derivatives);
    add_in_frames(&derivatives, &U, V, what, response);
  }
  if (any && limited) {
    limit_derivatives(parameters, s, &derivatives);
    add_in_frames(&derivatives, &U, V, what, response);
  }
}
