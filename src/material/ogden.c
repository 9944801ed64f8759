// Ogden solid [Ogden1972] with a volumetric energy:
//   Psi = sum_k 2 mu_k / a_k^2 (sum_i mbar_i^a_k - 3) + K/4 (J^2 - 1 - 2 ln J),
// mbar_i = J^(-1/3) sigma_i, K = lambda + 2 mu / 3. Up to three terms (mu_k, a_k), with the shear
// modulus mu = sum_k mu_k; without any, one with the exponent 2, an isochoric neo-Hookean solid.
// The Mooney-Rivlin solid c10 (I1bar - 3) + c01 (I2bar - 3) has the terms (2 c10, 2), (2 c01, -2),
// because I2bar is the sum of mbar_i^-2. The energy goes to infinity as J goes to 0.
//
// With m_i = a ln mbar_i, whose sum is 0, sum_i mbar_i^a - 3 is the sum of exp(m_i) - 1 - m_i: no
// digits are lost near rest.
#include "material/hencky.h"

#include <math.h>

enum { MAX_TERMS = NOLI_LAW_PARAMETERS / 2 };

typedef struct Terms {
  int32_t n;
  double mu[MAX_TERMS];
  double a[MAX_TERMS];
} Terms;

// exp(m) - 1 - m; near 0 as m^2/2 (1 + m/3 (1 + m/4 (...))).
static double exp_minus_1m(double m) {
  if (fabs(m) > 0.5) {
    return expm1(m) - m;
  }
  double sum = 1.0;
  for (int n = 16; n > 2; n--) {
    sum = 1.0 + m / n * sum;
  }
  return 0.5 * m * m * sum;
}

// (b^x - a^x) / (b - a) for a, b > 0.
static double power_quotient(double a, double b, double x) {
  double d = (b - a) / a;
  if (fabs(d) < 1e-8) {
    return x * pow(a, x - 1.0) * (1.0 + 0.5 * (x - 1.0) * d);
  }
  return pow(a, x - 1.0) * expm1(x * log1p(d)) / d;
}

// Its derivative by a, (quotient - x a^(x - 1)) / (b - a): near a = b by the binomial series.
static double power_quotient_derivative(double a, double b, double x) {
  double d = (b - a) / a, sum = 0.0, coefficient = x;
  if (fabs(d) > 0.1) {
    return pow(a, x - 2.0) * (expm1(x * log1p(d)) / d - x) / d;
  }
  for (int n = 2; n < 20; n++) {
    coefficient *= (x - n + 1.0) / n;
    sum += coefficient * pow(d, n - 2);
  }
  return pow(a, x - 2.0) * sum;
}

static double ogden_energy_of(const Terms* terms, NoliLame lame, const double sigma[3]) {
  if (!(sigma[2] > 0.0)) {
    return isnan(sigma[2]) ? NAN : INFINITY;
  }
  double log_bar[3], log_J = noli_log_stretches(sigma, log_bar), sum = 0.0;
  for (int32_t k = 0; k < terms->n; k++) {
    double a = terms->a[k];
    for (int i = 0; i < 3; i++) {
      sum += 2.0 * terms->mu[k] / (a * a) * exp_minus_1m(a * log_bar[i]);
    }
  }
  double bulk = lame.lambda + 2.0 / 3.0 * lame.mu;
  return sum + 0.25 * bulk * exp_minus_1m(2.0 * log_J);
}

// Adds a term with w_i = mbar_i^a, W their sum and c = 2 mu / a:
//   dPsi_j = c (w_j - W/3) / sigma_j,
//   dPsi_jl = c (a (w_j delta_jl - (w_j + w_l)/3 + W/9) - delta_jl (w_j - W/3)) / (sigma_j
//   sigma_l).
// Between two stretches dPsi_j is g(sigma_j) - h / sigma_j with g(s) = c J^(-a/3) s^(a-1), h = c
// W/3.
static void add_term(double mu, double a, const double sigma[3], const double log_bar[3],
                     double log_J, NoliStretchDerivatives* derivatives) {
  double c = 2.0 * mu / a, growth[3], mean = 0.0;
  for (int i = 0; i < 3; i++) {
    growth[i] = expm1(a * log_bar[i]);
    mean += growth[i] / 3.0;
  }
  for (int j = 0; j < 3; j++) {
    int k = (j + 1) % 3, l = (j + 2) % 3;
    derivatives->first[j] += c * (growth[j] - mean) / sigma[j];
    derivatives->second[j][j] +=
        c / (sigma[j] * sigma[j]) *
        (a * (1.0 + growth[j] - 2.0 / 3.0 * (1.0 + growth[j]) + (1.0 + mean) / 3.0) -
         (growth[j] - mean));
    double coupling =
        c * a / (sigma[k] * sigma[l]) * ((1.0 + mean) / 3.0 - (2.0 + growth[k] + growth[l]) / 3.0);
    derivatives->second[k][l] += coupling;
    derivatives->second[l][k] += coupling;
    double product = sigma[k] * sigma[l];
    derivatives->flip[j] +=
        c * (exp(-a / 3.0 * log_J) * power_quotient(sigma[k], sigma[l], a - 1.0) +
             (1.0 + mean) / product);
  }
}

static void derivatives_of(const Terms* terms, NoliLame lame, const double sigma[3],
                           NoliStretchDerivatives* derivatives) {
  *derivatives = (NoliStretchDerivatives){0};
  if (!(sigma[2] > 0.0)) {
    noli_stretch_infeasible(derivatives);
    return;
  }
  double log_bar[3], log_J = noli_log_stretches(sigma, log_bar);
  for (int32_t k = 0; k < terms->n; k++) {
    add_term(terms->mu[k], terms->a[k], sigma, log_bar, log_J, derivatives);
  }

  // the volume: J U' = K/2 (J^2 - 1), and J (J U')' = K J^2
  double bulk = lame.lambda + 2.0 / 3.0 * lame.mu;
  double pressure = 0.5 * bulk * expm1(2.0 * log_J), stiffness = bulk * exp(2.0 * log_J);
  for (int j = 0; j < 3; j++) {
    int k = (j + 1) % 3, l = (j + 2) % 3;
    derivatives->first[j] += pressure / sigma[j];
    derivatives->second[j][j] += (stiffness - pressure) / (sigma[j] * sigma[j]);
    derivatives->second[k][l] += stiffness / (sigma[k] * sigma[l]);
    derivatives->second[l][k] += stiffness / (sigma[k] * sigma[l]);
    derivatives->flip[j] -= pressure / (sigma[k] * sigma[l]);
  }
  for (int j = 0; j < 3; j++) {
    int k = (j + 1) % 3, l = (j + 2) % 3;
    derivatives->twist[j] = (derivatives->first[k] + derivatives->first[l]) / (sigma[k] + sigma[l]);
  }
}

// d/dx (b^x - a^x) / (b - a).
static double power_quotient_by_exponent(double a, double b, double x) {
  double d = (b - a) / a;
  double growth = fabs(d) < 1e-8 ? 1.0 + (x - 0.5) * d : log1p(d) * exp(x * log1p(d)) / d;
  return log(a) * power_quotient(a, b, x) + pow(a, x - 1.0) * growth;
}

// Adds the derivative of a term by its exponent; a c is constant.
static void add_term_by_exponent(double mu, double a, const double sigma[3],
                                 const double log_bar[3], double log_J,
                                 NoliStretchDerivatives* by) {
  double c = 2.0 * mu / a, growth[3], derivative[3], mean = 0.0, mean_derivative = 0.0;
  double scale = exp(-a / 3.0 * log_J);
  for (int i = 0; i < 3; i++) {
    growth[i] = expm1(a * log_bar[i]);
    derivative[i] = log_bar[i] * (1.0 + growth[i]);
    mean += growth[i] / 3.0;
    mean_derivative += derivative[i] / 3.0;
  }

  for (int j = 0; j < 3; j++) {
    int k = (j + 1) % 3, l = (j + 2) % 3;
    double first = c * (derivative[j] - mean_derivative) - c / a * (growth[j] - mean);
    by->first[j] += first / sigma[j];
    by->second[j][j] +=
        (c * a * (derivative[j] + mean_derivative) / 3.0 - first) / (sigma[j] * sigma[j]);
    double coupling =
        c * a / 3.0 * (mean_derivative - derivative[k] - derivative[l]) / (sigma[k] * sigma[l]);
    by->second[k][l] += coupling;
    by->second[l][k] += coupling;
    double product = sigma[k] * sigma[l];
    double quotient = scale * power_quotient(sigma[k], sigma[l], a - 1.0);
    by->flip[j] -= c / a * (quotient + (1.0 + mean) / product);
    by->flip[j] += c * (mean_derivative / product - log_J / 3.0 * quotient +
                        scale * power_quotient_by_exponent(sigma[k], sigma[l], a - 1.0));
  }
}

// Derivatives of a term by its factor mu, times `factor`, or by its exponent.
static void term_by(double mu, double a, bool exponent, double factor, const double sigma[3],
                    NoliStretchDerivatives* by) {
  double log_bar[3], log_J = noli_log_stretches(sigma, log_bar);
  *by = (NoliStretchDerivatives){0};
  if (exponent) {
    add_term_by_exponent(mu, a, sigma, log_bar, log_J, by);
  } else {
    add_term(factor, a, sigma, log_bar, log_J, by);
  }
  for (int j = 0; j < 3; j++) {
    int k = (j + 1) % 3, l = (j + 2) % 3;
    by->twist[j] = (by->first[k] + by->first[l]) / (sigma[k] + sigma[l]);
  }
}

static double energy_by(double mu, double a, bool exponent, double factor, const double sigma[3]) {
  double log_bar[3], sum = 0.0;
  (void)noli_log_stretches(sigma, log_bar);
  for (int i = 0; i < 3; i++) {
    double own = 2.0 / (a * a) * exp_minus_1m(a * log_bar[i]);
    double by_exponent = 2.0 / (a * a) * log_bar[i] * expm1(a * log_bar[i]) - 2.0 / a * own;
    sum += exponent ? mu * by_exponent : factor * own;
  }
  return sum;
}

// Adds a term of D (material/hencky.h), c a^2 sum_i w_i p_ij p_il p_im with p = delta - 1/3, and of
// the derivatives of flip.
static void add_term_third(double mu, double a, const double sigma[3], const double log_bar[3],
                           double log_J, double D[3][3][3], NoliStretchThird* third) {
  double c = 2.0 * mu / a, w[3], mean = 0.0, scale = exp(-a / 3.0 * log_J);
  for (int i = 0; i < 3; i++) {
    w[i] = exp(a * log_bar[i]);
    mean += w[i] / 3.0;
  }
  for (int n = 0; n < 81; n++) {
    int i = n / 27, j = n / 9 % 3, l = n / 3 % 3, m = n % 3;
    double share = 1.0;
    share *= (i == j ? 2.0 : -1.0) / 3.0;
    share *= (i == l ? 2.0 : -1.0) / 3.0;
    share *= (i == m ? 2.0 : -1.0) / 3.0;
    D[j][l][m] += c * a * a * w[i] * share;
  }

  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    double product = sigma[j] * sigma[k], quotient = power_quotient(sigma[j], sigma[k], a - 1.0);
    for (int l = 0; l < 3; l++) {
      double derivative = -a / 3.0 * scale * quotient + a * (w[l] - mean) / (3.0 * product);
      derivative -= l == i ? 0.0 : mean / product;
      derivative /= sigma[l];
      if (l != i) {
        derivative += scale * power_quotient_derivative(sigma[l], sigma[l == j ? k : j], a - 1.0);
      }
      third->flip[i][l] += c * derivative;
    }
  }
}

static void ogden_third_of(const Terms* terms, NoliLame lame, const double sigma[3],
                           NoliStretchThird* third) {
  NoliStretchDerivatives derivatives;
  double log_bar[3], log_J = noli_log_stretches(sigma, log_bar), D[3][3][3] = {{{0.0}}};
  *third = (NoliStretchThird){0};
  derivatives_of(terms, lame, sigma, &derivatives);
  for (int32_t k = 0; k < terms->n; k++) {
    add_term_third(terms->mu[k], terms->a[k], sigma, log_bar, log_J, D, third);
  }

  // the volume: (J d/dJ)^3 U = 2 K J^2
  double bulk = lame.lambda + 2.0 / 3.0 * lame.mu;
  double pressure = 0.5 * bulk * expm1(2.0 * log_J), stiffness = bulk * exp(2.0 * log_J);
  for (int n = 0; n < 27; n++) {
    D[n / 9][n / 3 % 3][n % 3] += 2.0 * stiffness;
  }
  noli_log_third(sigma, &derivatives, D, third);
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    for (int l = 0; l < 3; l++) {
      third->flip[i][l] -=
          (stiffness - (l == i ? 0.0 : pressure)) / (sigma[j] * sigma[k] * sigma[l]);
    }
  }
}

// ---- laws ---------------------------------------------------------------------------------------

// The terms for parameters mu_1, a_1, mu_2, a_2, ...
static Terms ogden_terms(NoliLame lame) {
  Terms terms = {0};
  for (int32_t k = 0; lame.parameter != NULL && k < MAX_TERMS; k++) {
    if (lame.parameter[2 * k] != 0.0) {
      terms.mu[terms.n] = lame.parameter[2 * k];
      terms.a[terms.n++] = lame.parameter[2 * k + 1];
    }
  }
  return terms.n > 0 ? terms : (Terms){.n = 1, .mu = {lame.mu}, .a = {2.0}};
}

// The terms for parameters c10, c01.
static Terms mooney_rivlin_terms(NoliLame lame) {
  const double* c = lame.parameter;
  if (c == NULL || (c[0] == 0.0 && c[1] == 0.0)) {
    return (Terms){.n = 1, .mu = {lame.mu}, .a = {2.0}};
  }
  return (Terms){.n = 2, .mu = {2.0 * c[0], 2.0 * c[1]}, .a = {2.0, -2.0}};
}

static double ogden_energy(NoliLame lame, const double sigma[3]) {
  Terms terms = ogden_terms(lame);
  return ogden_energy_of(&terms, lame, sigma);
}

static void ogden_derivatives(NoliLame lame, const double sigma[3],
                              NoliStretchDerivatives* derivatives) {
  Terms terms = ogden_terms(lame);
  derivatives_of(&terms, lame, sigma, derivatives);
}

static void ogden_third(NoliLame lame, const double sigma[3], NoliStretchThird* third) {
  Terms terms = ogden_terms(lame);
  ogden_third_of(&terms, lame, sigma, third);
}

static double mooney_rivlin_energy(NoliLame lame, const double sigma[3]) {
  Terms terms = mooney_rivlin_terms(lame);
  return ogden_energy_of(&terms, lame, sigma);
}

static void mooney_rivlin_derivatives(NoliLame lame, const double sigma[3],
                                      NoliStretchDerivatives* derivatives) {
  Terms terms = mooney_rivlin_terms(lame);
  derivatives_of(&terms, lame, sigma, derivatives);
}

static void mooney_rivlin_third(NoliLame lame, const double sigma[3], NoliStretchThird* third) {
  Terms terms = mooney_rivlin_terms(lame);
  ogden_third_of(&terms, lame, sigma, third);
}

// Terms that are not given are zero, and nothing depends on them.
static bool is_given(const double* term) {
  return term[0] != 0.0 || term[1] != 0.0;
}

static double ogden_energy_by(NoliLame lame, const double sigma[3], int32_t which) {
  const double* term = lame.parameter + which / 2 * 2;
  return !is_given(term) ? 0.0 : energy_by(term[0], term[1], which % 2 == 1, 1.0, sigma);
}

static void ogden_by(NoliLame lame, const double sigma[3], int32_t which,
                     NoliStretchDerivatives* by) {
  const double* term = lame.parameter + which / 2 * 2;
  *by = (NoliStretchDerivatives){0};
  if (is_given(term)) {
    term_by(term[0], term[1], which % 2 == 1, 1.0, sigma, by);
  }
}

static double mooney_rivlin_energy_by(NoliLame lame, const double sigma[3], int32_t which) {
  (void)lame;
  return energy_by(0.0, which == 0 ? 2.0 : -2.0, false, 2.0, sigma);
}

static void mooney_rivlin_by(NoliLame lame, const double sigma[3], int32_t which,
                             NoliStretchDerivatives* by) {
  (void)lame;
  term_by(0.0, which == 0 ? 2.0 : -2.0, false, 2.0, sigma, by);
}

static double sum_shear(const Terms* terms) {
  double sum = 0.0;
  for (int32_t k = 0; k < terms->n; k++) {
    sum += terms->mu[k];
  }
  return sum;
}

static double ogden_shear(NoliLame lame) {
  Terms terms = ogden_terms(lame);
  return sum_shear(&terms);
}

static double mooney_rivlin_shear(NoliLame lame) {
  Terms terms = mooney_rivlin_terms(lame);
  return sum_shear(&terms);
}

const NoliMaterial noli_ogden = {
    .name = "ogden",
    .description = "Rubber: up to three powers of the stretches, and a bulk modulus.",
    .n_parameter = NOLI_LAW_PARAMETERS,
    .shear = ogden_shear,
    .stretch_energy = ogden_energy,
    .stretch_derivatives = ogden_derivatives,
    .stretch_third = ogden_third,
    .energy_by_parameter = ogden_energy_by,
    .stretch_by_parameter = ogden_by};
const NoliMaterial noli_mooney_rivlin = {
    .name = "mooney_rivlin",
    .description = "Rubber: linear in both invariants of the isochoric strain, and a bulk modulus.",
    .n_parameter = 2,
    .shear = mooney_rivlin_shear,
    .stretch_energy = mooney_rivlin_energy,
    .stretch_derivatives = mooney_rivlin_derivatives,
    .stretch_third = mooney_rivlin_third,
    .energy_by_parameter = mooney_rivlin_energy_by,
    .stretch_by_parameter = mooney_rivlin_by};
