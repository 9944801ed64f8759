// In the frames of F = U diag(sigma) V^T, nine orthonormal modes of a matrix decouple dP/dF: the
// diagonal entries E_ii, and for each plane (j, k) of the two axes other than i the symmetric mode
// s_i = (E_jk + E_kj) / sqrt 2 and the skew one t_i = (E_jk - E_kj) / sqrt 2, with the eigenvalues
// `flip` and `twist`. The third derivative is a symmetric trilinear form of modes. Mirror images
// leave the energy alone, so that of its entries only these are not 0:
//   E_i E_j E_k         third derivatives by stretches,
//   s_i s_i E_l         d flip_i / dsigma_l,
//   t_i t_i E_l         d twist_i / dsigma_l,
//   s_i s_j s_k         (flip_j - flip_k) / (sqrt 2 (sigma_k - sigma_j)),
//   s_i t_j t_k         (twist_k - twist_j) / (sqrt 2 (sigma_k - sigma_j)),  (i, j, k) cyclic.
// The last two follow from the turn of the frames: a change s_i turns both by 1 / (sqrt 2 (sigma_k
// - sigma_j)) about axis i, which mixes s_j with s_k, and t_j with t_k. Both quotients are finite
// where two stretches meet.
#include "material/tangent.h"

#include "material/response.h"
#include "math/eigen.h"

#include <math.h>
#include <string.h>

enum { MODES = 9 };

// Stretches closer than this, relative to their size, take the limit of a quotient: its error is
// of second order.
#define CLOSE 1e-5

// An eigenvalue of rounding, relative to the largest.
#define ZERO 1e-13

#define HALF_ROOT 0.70710678118654752440 // 1 / sqrt 2

// Column m of `frame`: mode m in the frames U, V.
static void set_modes(const NoliMat3* U, const NoliMat3* V, double frame[81]) {
  for (int r = 0; r < 9; r++) {
    int a = r / 3, b = r % 3;
    for (int i = 0; i < 3; i++) {
      int j = (i + 1) % 3, k = (i + 2) % 3;
      double jk = U->m[a][j] * V->m[b][k], kj = U->m[a][k] * V->m[b][j];
      frame[MODES * r + i] = U->m[a][i] * V->m[b][i];
      frame[MODES * r + 3 + i] = HALF_ROOT * (jk + kj);
      frame[MODES * r + 6 + i] = HALF_ROOT * (jk - kj);
    }
  }
}

// c = a b, or a b^T, of 9 x 9 matrices.
static void tangent_multiply(const double* a, const double* b, bool transposed, double* c) {
  for (int i = 0; i < MODES; i++) {
    for (int j = 0; j < MODES; j++) {
      double sum = 0.0;
      for (int k = 0; k < MODES; k++) {
        sum += a[MODES * i + k] * b[transposed ? MODES * j + k : MODES * k + j];
      }
      c[MODES * i + j] = sum;
    }
  }
}

// to = frame a frame^T
static void to_space(const double* frame, const double* a, double* to) {
  double half[81];
  tangent_multiply(frame, a, false, half);
  tangent_multiply(half, frame, true, to);
}

static void set_tangent(const NoliStretchDerivatives* d, double A[81]) {
  memset(A, 0, 81 * sizeof *A);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      A[MODES * i + j] = d->second[i][j];
    }
    A[MODES * (3 + i) + 3 + i] = d->flip[i];
    A[MODES * (6 + i) + 6 + i] = d->twist[i];
  }
}

// Adds the matrix that takes dF to (S dF a) a^T.
static void add_fibre(const NoliFibreResponse* fibre, const NoliMat3* S, double A[81]) {
  double rest[3];
  noli_store3(rest, fibre->rest);
  for (int r = 0; r < 81; r++) {
    A[r] += S->m[r / 27][r % 9 / 3] * rest[r / 9 % 3] * rest[r % 3];
  }
}

void noli_material_tangent(const NoliMaterial* law, NoliLame lame, const NoliMat3* F, NoliMat3* P,
                           double A[81]) {
  NoliResponse response;
  double frame[81], modes[81];
  noli_respond(law, lame, F, NOLI_EVAL_GRADIENT | NOLI_EVAL_HESSIAN, &response);
  *P = noli_mul_transpose33(noli_mul33(response.U, noli_diagonal33(response.derivatives.first)),
                            response.V);
  set_modes(&response.U, &response.V, frame);
  set_tangent(&response.derivatives, modes);
  to_space(frame, modes, A);
  if (response.fibre.first != 0.0) {
    NoliMat3 S = noli_fibre_tangent(&response.fibre);
    *P = noli_add33(*P, noli_fibre_stress(&response.fibre));
    add_fibre(&response.fibre, &S, A);
  }
}

// ---- third derivatives --------------------------------------------------------------------------

// (h_j - h_k) / (sigma_k - sigma_j), where h_j becomes h_k as the two stretches change places;
// `by` are the derivatives of all h.
static double quotient(const double sigma[3], const double h[3], double by[3][3], int j, int k) {
  double apart = sigma[k] - sigma[j];
  if (fabs(apart) > CLOSE * (fabs(sigma[j]) + fabs(sigma[k]))) {
    return (h[j] - h[k]) / apart;
  }
  return -0.5 * (by[j][j] - by[j][k] + by[k][k] - by[k][j]);
}

static void set_symmetric(double T[MODES][81], int a, int b, int c, double value) {
  T[a][MODES * b + c] = T[a][MODES * c + b] = value;
  T[b][MODES * c + a] = T[b][MODES * a + c] = value;
  T[c][MODES * a + b] = T[c][MODES * b + a] = value;
}

// T[m]: how A, in modes, changes with mode m of F.
static void set_third(const double sigma[3], const NoliStretchDerivatives* d,
                      NoliStretchThird* third, double T[MODES][81]) {
  memset(T, 0, MODES * sizeof T[0]);
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    for (int l = 0; l < 3; l++) {
      for (int n = 0; n < 3; n++) {
        T[i][MODES * l + n] = third->second[i][l][n];
      }
      set_symmetric(T, l, 3 + i, 3 + i, third->flip[i][l]);
      set_symmetric(T, l, 6 + i, 6 + i, third->twist[i][l]);
    }
    set_symmetric(T, 3 + i, 6 + j, 6 + k,
                  -HALF_ROOT * quotient(sigma, d->twist, third->twist, j, k));
  }
  set_symmetric(T, 3, 4, 5, HALF_ROOT * quotient(sigma, d->flip, third->flip, 1, 2));
}

// Eigenvalues of A and its eigenvectors, in modes, as columns.
static void decompose(const NoliStretchDerivatives* d, double value[MODES], double vector[81]) {
  double second[9], axis[9];
  memcpy(second, d->second, sizeof second);
  noli_eigen_symmetric(3, second, value, axis);
  memset(vector, 0, 81 * sizeof *vector);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      vector[MODES * i + j] = axis[3 * i + j];
    }
    value[3 + i] = d->flip[i];
    value[6 + i] = d->twist[i];
    vector[MODES * (3 + i) + 3 + i] = vector[MODES * (6 + i) + 6 + i] = 1.0;
  }
}

// to = a w, of a 9 x 9 matrix.
static void tangent_apply(const double* a, const double w[MODES], double to[MODES]) {
  for (int i = 0; i < MODES; i++) {
    to[i] = 0.0;
    for (int j = 0; j < MODES; j++) {
      to[i] += a[MODES * i + j] * w[j];
    }
  }
}

static NoliMat3 matrix_of(const double* frame, const double modes[MODES]) {
  double lab[9];
  tangent_apply(frame, modes, lab);
  return noli_load33(lab);
}

// The tangent of a law and what its projection needs.
typedef struct Spectrum {
  NoliStretchDerivatives derivatives;
  double value[MODES];
  double vector[81];
  bool definite;
} Spectrum;

// From its derivatives.
static void set_spectrum(Spectrum* spectrum) {
  decompose(&spectrum->derivatives, spectrum->value, spectrum->vector);
  double largest = 0.0;
  for (int m = 0; m < MODES; m++) {
    largest = fmax(largest, spectrum->value[m]);
  }
  spectrum->definite = true;
  for (int m = 0; m < MODES; m++) {
    spectrum->definite = spectrum->definite && spectrum->value[m] > ZERO * largest;
  }
}

// The product with w of the change of the projected tangent that one of the tangent causes.
static NoliMat3 product_of_change(const Spectrum* spectrum, const double* frame,
                                  const double w[MODES], double change[81]) {
  double product[MODES];
  if (!spectrum->definite) {
    noli_project_change(MODES, spectrum->value, spectrum->vector, change);
  }
  tangent_apply(change, w, product);
  return matrix_of(frame, product);
}

// The tangent is affine in a modulus: its derivative is that of a unit, less that of none.
static NoliMat3 derivative_by_modulus(const NoliMaterial* law, NoliLame unit, const double sigma[3],
                                      const Spectrum* spectrum, const double* frame,
                                      const double w[MODES]) {
  NoliStretchDerivatives derivatives;
  double change[81], none[81];
  law->stretch_derivatives(unit, sigma, &derivatives);
  set_tangent(&derivatives, change);
  if (law->n_parameter > 0) {
    law->stretch_derivatives((NoliLame){.parameter = unit.parameter}, sigma, &derivatives);
    set_tangent(&derivatives, none);
    for (int r = 0; r < 81; r++) {
      change[r] -= none[r];
    }
  }
  return product_of_change(spectrum, frame, w, change);
}

// D, from the changes T of A with each mode of F.
static void set_derivative(const Spectrum* spectrum, double T[MODES][81], const double* frame,
                           const double w[MODES], double D[81]) {
  double derivative[81];
  for (int m = 0; m < MODES; m++) {
    double product[MODES];
    if (!spectrum->definite) {
      noli_project_change(MODES, spectrum->value, spectrum->vector, T[m]);
    }
    tangent_apply(T[m], w, product);
    for (int a = 0; a < MODES; a++) {
      derivative[MODES * a + m] = product[a];
    }
  }
  to_space(frame, derivative, D);
}

// Fibres need no projection.
static void add_fibre_product(const double* fibre, const NoliMat3* F, const NoliMat3* W,
                              NoliTangentProduct* product) {
  NoliFibreResponse response = noli_fibre_respond(fibre, F);
  if (response.third == 0.0 && response.second == 0.0) {
    return;
  }
  NoliVec3 w = noli_mul33_vec(W, response.rest);
  NoliMat3 S = noli_fibre_tangent(&response),
           derivative = noli_fibre_tangent_derivative(&response, w);
  add_fibre(&response, &S, product->A);
  add_fibre(&response, &derivative, product->D);
  product->Q = noli_add33(product->Q, noli_outer33(noli_mul33_vec(&S, w), response.rest));
  for (int k = 0; k < 2; k++) {
    NoliFibreResponse by = noli_fibre_respond_derivative(fibre, F, k);
    S = noli_fibre_tangent(&by);
    product->by[NOLI_NUMBER_FIBRE + k] = noli_outer33(noli_mul33_vec(&S, w), by.rest);
  }
}

// W in modes.
static void to_modes(const double* frame, const NoliMat3* W, double w[MODES]) {
  for (int m = 0; m < MODES; m++) {
    w[m] = 0.0;
    for (int r = 0; r < 9; r++) {
      w[m] += frame[MODES * r + m] * W->m[r / 3][r % 3];
    }
  }
}

// All but the derivatives by moduli.
static void set_product(Spectrum* spectrum, const double sigma[3], NoliStretchThird* third,
                        const double* frame, const double w[MODES], NoliTangentProduct* product) {
  double modes[81], T[MODES][81], q[MODES];
  set_third(sigma, &spectrum->derivatives, third, T);
  set_derivative(spectrum, T, frame, w, product->D);
  noli_stretch_project(&spectrum->derivatives);
  set_tangent(&spectrum->derivatives, modes);
  to_space(frame, modes, product->A);
  tangent_apply(modes, w, q);
  product->Q = matrix_of(frame, q);
}

void noli_material_tangent_product(const NoliMaterial* law, NoliLame lame, const NoliMat3* F,
                                   const NoliMat3* W, NoliTangentProduct* product) {
  NoliMat3 U, V;
  NoliStretchThird third;
  Spectrum spectrum;
  double sigma[3], frame[81], w[MODES];

  noli_svd3(F, &U, sigma, &V);
  law->stretch_derivatives(lame, sigma, &spectrum.derivatives);
  set_spectrum(&spectrum);
  law->stretch_third(lame, sigma, &third);
  set_modes(&U, &V, frame);
  to_modes(frame, W, w);
  NoliLame mu = {.mu = 1.0, .parameter = lame.parameter};
  NoliLame lambda = {.lambda = 1.0, .parameter = lame.parameter};
  memset(product->by, 0, sizeof product->by);
  product->by[NOLI_NUMBER_MU] = derivative_by_modulus(law, mu, sigma, &spectrum, frame, w);
  product->by[NOLI_NUMBER_LAMBDA] = derivative_by_modulus(law, lambda, sigma, &spectrum, frame, w);

  for (int k = 0;
       law->stretch_by_parameter != NULL && lame.parameter != NULL && k < law->n_parameter; k++) {
    NoliStretchDerivatives by;
    double change[81];
    law->stretch_by_parameter(lame, sigma, k, &by);
    set_tangent(&by, change);
    product->by[NOLI_NUMBER_PARAMETERS + k] = product_of_change(&spectrum, frame, w, change);
  }

  set_product(&spectrum, sigma, &third, frame, w, product);
  add_fibre_product(lame.fibre, F, W, product);
}

// ---- membranes ----------------------------------------------------------------------------------

// A membrane is a law whose third stretch is 0 and costs nothing: a column that turns out of the
// plane is half of the sum and of the difference of two modes with the eigenvalue psi_i / s_i.
static NoliStretchDerivatives sheet_derivatives(const NoliMembraneLaw* law,
                                                const NoliMembraneParameters* parameters,
                                                const double s[2]) {
  NoliPlaneDerivatives d;
  law->stretch_derivatives(parameters, s, &d);
  return (NoliStretchDerivatives){
      .first = {d.first[0], d.first[1], 0.0},
      .second = {{d.second[0], d.second[1], 0.0}, {d.second[1], d.second[2], 0.0}},
      .flip = {d.normal[1], d.normal[0], d.flip},
      .twist = {d.normal[1], d.normal[0], d.twist}};
}

// Nothing changes the third stretch: what follows it is left out.
static NoliStretchThird sheet_third(const NoliMembraneLaw* law,
                                    const NoliMembraneParameters* parameters, const double s[2]) {
  NoliPlaneThird plane;
  NoliStretchThird third = {0};
  law->stretch_third(parameters, s, &plane);
  for (int l = 0; l < 2; l++) {
    for (int k = 0; k < 4; k++) {
      third.second[l][k / 2][k % 2] = plane.second[k / 2 + k % 2][l];
    }
    third.flip[0][l] = third.twist[0][l] = plane.normal[1][l];
    third.flip[1][l] = third.twist[1][l] = plane.normal[0][l];
    third.flip[2][l] = plane.flip[l];
    third.twist[2][l] = plane.twist[l];
  }
  return third;
}

// Adds the product of a law in stretches.
static void add_stretch_product(const NoliMembraneLaw* law,
                                const NoliMembraneParameters* parameters,
                                const NoliMembraneParameters change[2], const NoliMat3* rest,
                                const NoliMat3* F, const NoliMat3* W, NoliTangentProduct* to) {
  NoliSheet sheet = {
      {noli_mul33_vec(F, noli_column33(rest, 0)), noli_mul33_vec(F, noli_column33(rest, 1))}};
  NoliMat3 U;
  NoliTangentProduct product;
  double sigma[3] = {0.0}, V[2][2], frame[81], w[MODES], derivative[81];
  noli_sheet_decompose(&sheet, &U, sigma, V);
  const NoliMat3 turn = {{{V[0][0], V[0][1], 0.0}, {V[1][0], V[1][1], 0.0}, {0.0, 0.0, 1.0}}};
  NoliMat3 in_space = noli_mul33(*rest, turn);
  Spectrum spectrum = {.derivatives = sheet_derivatives(law, parameters, sigma)};
  NoliStretchThird third = sheet_third(law, parameters, sigma);
  set_spectrum(&spectrum);
  set_modes(&U, &in_space, frame);
  to_modes(frame, W, w);
  for (int k = 0; k < 2; k++) {
    NoliStretchDerivatives derivatives = sheet_derivatives(law, &change[k], sigma);
    set_tangent(&derivatives, derivative);
    to->by[NOLI_NUMBER_MU + k] =
        noli_add33(to->by[NOLI_NUMBER_MU + k], product_of_change(&spectrum, frame, w, derivative));
  }

  set_product(&spectrum, sigma, &third, frame, w, &product);
  to->Q = noli_add33(to->Q, product.Q);
  for (int k = 0; k < 81; k++) {
    to->A[k] += product.A[k];
    to->D[k] += product.D[k];
  }
}

// ---- cloth --------------------------------------------------------------------------------------

enum { PAIR = 6 }; // two columns of F

// The response of cloth to two columns u of F, and two of W: q, its derivatives by w and u, and by
// the stiffness.
typedef struct Woven {
  double q[PAIR], A[PAIR * PAIR], D[PAIR * PAIR], by[2][PAIR];
} Woven;

// 1/2 k (|u| - 1)^2 of a column: S = k (b + (1 - b) t t^T), b = (|u| - 1) / |u| where it is > 0.
static void tangent_add_column(double k, const double change[2], int column, const double u[PAIR],
                               const double w[PAIR], Woven* to) {
  NoliVec3 at = noli_load3(u + 3 * column), along = noli_load3(w + 3 * column);
  double length = noli_norm3(at), tension = (length - 1.0) / length;
  double side = fabs(tension) <= ZERO ? 0.5 : tension > 0.0 ? 1.0 : 0.0, b = fmax(tension, 0.0);
  NoliVec3 t = noli_scale3(1.0 / length, at);
  NoliMat3 across = noli_sub33(noli_identity3(), noli_outer33(t, t));
  NoliVec3 out = noli_mul33_vec(&across, along);
  NoliMat3 S = noli_add33(noli_outer33(t, t), noli_scale33(b, across));
  NoliMat3 D = noli_add33(noli_outer33(t, out), noli_scale33(noli_dot3(t, along), across));
  D = noli_scale33((1.0 - b) / length, D);
  D = noli_add33(D, noli_scale33(side / (length * length), noli_outer33(out, t)));
  double q[3];
  noli_store3(q, noli_mul33_vec(&S, along));
  for (int r = 0; r < 9; r++) {
    int place = PAIR * (3 * column + r / 3) + 3 * column + r % 3;
    to->A[place] += k * S.m[r / 3][r % 3];
    to->D[place] += k * D.m[r / 3][r % 3];
  }
  for (int r = 0; r < 3; r++) {
    to->q[3 * column + r] += k * q[r];
    to->by[0][3 * column + r] += change[0] * q[r];
    to->by[1][3 * column + r] += change[1] * q[r];
  }
}

// to += factor a w
static void add_times(const double a[PAIR * PAIR], double factor, const double w[PAIR],
                      double to[PAIR]) {
  for (int r = 0; r < PAIR * PAIR; r++) {
    to[r / PAIR] += factor * a[r] * w[r % PAIR];
  }
}

// 1/2 k f^2, f = u_1 . u_2, with the gradient g of f: H = k (f K + g g^T), where K changes the two
// columns. It is projected by its eigenvalues.
static void add_shear(double k, const double change[2], const double u[PAIR], const double w[PAIR],
                      Woven* to) {
  double g[PAIR], H[PAIR * PAIR], f = 0.0, copy[PAIR * PAIR], value[PAIR], vector[PAIR * PAIR];
  for (int r = 0; r < PAIR; r++) {
    g[r] = u[(r + 3) % PAIR];
    f += 0.5 * u[r] * g[r];
  }
  for (int r = 0; r < PAIR * PAIR; r++) {
    H[r] = g[r / PAIR] * g[r % PAIR] + ((r / PAIR + 3) % PAIR == r % PAIR ? f : 0.0);
  }
  memcpy(copy, H, sizeof H);
  noli_eigen_symmetric(PAIR, copy, value, vector);
  for (int c = 0; c < PAIR; c++) {
    double derivative[PAIR * PAIR] = {0.0}, product[PAIR] = {0.0};
    int partner = (c + 3) % PAIR;
    for (int r = 0; r < PAIR; r++) {
      derivative[PAIR * r + (r + 3) % PAIR] += g[c];
      derivative[PAIR * partner + r] += g[r];
      derivative[PAIR * r + partner] += g[r];
    }
    noli_project_change(PAIR, value, vector, derivative);
    add_times(derivative, k, w, product);
    for (int r = 0; r < PAIR; r++) {
      to->D[PAIR * r + c] += product[r];
    }
  }

  noli_project_change(PAIR, value, vector, H); // of first degree: itself
  add_times(H, k, w, to->q);
  add_times(H, change[0], w, to->by[0]);
  add_times(H, change[1], w, to->by[1]);
  for (int r = 0; r < PAIR * PAIR; r++) {
    to->A[r] += k * H[r];
  }
}

// A matrix of two columns, from those along the directions of the plane.
static NoliMat3 from_columns(const NoliMat3* rest, const double q[PAIR]) {
  return noli_add33(noli_outer33(noli_load3(q), noli_column33(rest, 0)),
                    noli_outer33(noli_load3(q + 3), noli_column33(rest, 1)));
}

static void to_columns(const NoliMat3* rest, const NoliMat3* F, double u[PAIR]) {
  noli_store3(u, noli_mul33_vec(F, noli_column33(rest, 0)));
  noli_store3(u + 3, noli_mul33_vec(F, noli_column33(rest, 1)));
}

static void add_woven_product(const NoliMembraneParameters* parameters,
                              const NoliMembraneParameters change[2], const NoliMat3* rest,
                              const NoliMat3* F, const NoliMat3* W, NoliTangentProduct* to) {
  Woven woven = {.q = {0.0}};
  double u[PAIR], w[PAIR];
  to_columns(rest, F, u);
  to_columns(rest, W, w);
  tangent_add_column(parameters->warp, (const double[]){change[0].warp, change[1].warp}, 0, u, w,
                     &woven);
  tangent_add_column(parameters->weft, (const double[]){change[0].weft, change[1].weft}, 1, u, w,
                     &woven);
  add_shear(parameters->shear, (const double[]){change[0].shear, change[1].shear}, u, w, &woven);
  to->Q = noli_add33(to->Q, from_columns(rest, woven.q));
  for (int k = 0; k < 2; k++) {
    to->by[NOLI_NUMBER_MU + k] =
        noli_add33(to->by[NOLI_NUMBER_MU + k], from_columns(rest, woven.by[k]));
  }
  for (int r = 0; r < PAIR * PAIR * 9; r++) {
    int row = r / 9 / PAIR, column = r / 9 % PAIR, i = r % 9 / 3, j = r % 3;
    double share = rest->m[i][row / 3] * rest->m[j][column / 3];
    int place = MODES * (3 * (row % 3) + i) + 3 * (column % 3) + j;
    to->A[place] += woven.A[PAIR * row + column] * share;
    to->D[place] += woven.D[PAIR * row + column] * share;
  }
}

// ---- both, with the limit -----------------------------------------------------------------------

void noli_membrane_tangent_product(const NoliMembraneLaw* law,
                                   const NoliMembraneParameters* parameters,
                                   const NoliMembraneParameters change[2], const NoliMat3* rest,
                                   const NoliMat3* F, const NoliMat3* W,
                                   NoliTangentProduct* product) {
  memset(product, 0, sizeof *product);
  if (law->stretch_third != NULL) {
    add_stretch_product(law, parameters, change, rest, F, W, product);
  } else {
    add_woven_product(parameters, change, rest, F, W, product);
  }
  if (isfinite(parameters->limit)) {
    add_stretch_product(&noli_membrane_limit, parameters, change, rest, F, W, product);
  }
}

// With q_p = Q e_p, a turn takes e_1 to e_1 + d e_2 and e_2 to e_2 - d e_1.
NoliMat3 noli_membrane_product_by_turn(const NoliTangentProduct* product, const NoliMat3* rest,
                                       const NoliMat3* F, const NoliMat3* W) {
  NoliMat3 turn = noli_outer33(noli_column33(rest, 1), noli_column33(rest, 0));
  turn = noli_sub33(turn, noli_outer33(noli_column33(rest, 0), noli_column33(rest, 1)));
  NoliMat3 dF = noli_mul33(*F, turn), dW = noli_mul33(*W, turn);
  NoliMat3 sum = noli_scale33(-1.0, noli_mul33(product->Q, turn));
  for (int k = 0; k < 81; k++) {
    sum.m[k / 27][k / 9 % 3] += product->D[k] * dF.m[k % 9 / 3][k % 3];
    sum.m[k / 27][k / 9 % 3] += product->A[k] * dW.m[k % 9 / 3][k % 3];
  }
  return sum;
}
