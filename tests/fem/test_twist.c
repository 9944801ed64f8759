// Rods with twist: derivatives at random and degenerate states, frames transported in time,
// energies of twisted and bent rods against closed forms.
#include "slivers.h"

#include "fem/thin/twist.h"
#include "math/eigen.h"
#include "math/larger.h"
#include "math/vec3.h"

#define PI 3.14159265358979323846

enum { N_MAX = 40 };

// A chain of n segments; nodes of angles follow those of the rod.
typedef struct Chain {
  int32_t n;
  int32_t node[2 * N_MAX], angle_node[N_MAX];
  double length[N_MAX], bending[N_MAX];
  NoliRodSection section[N_MAX];
  double frame[7 * N_MAX];
  NoliTurns turns;
  NoliTwists twists;
} Chain;

static NoliRodSegments segments_of(const Chain* chain, int32_t n) {
  return (NoliRodSegments){.n = n,
                           .node = chain->node,
                           .angle_node = chain->angle_node,
                           .length = chain->length,
                           .section = chain->section};
}

static void make_chain(NoliContext* context, int32_t n, const double* X, NoliRodSection section,
                       Chain* chain) {
  *chain = (Chain){.n = n};
  for (int32_t s = 0; s < n; s++) {
    // directions do not matter
    chain->node[2 * s + s % 2] = s;
    chain->node[2 * s + 1 - s % 2] = s + 1;
    chain->angle_node[s] = n + 1 + s;
    chain->section[s] = section;
    chain->bending[s] = 1.0;
    NoliVec3 edge = noli_sub3(noli_load3(X + 3 * chain->node[2 * s + 1]),
                              noli_load3(X + 3 * chain->node[2 * s]));
    NoliVec3 any = {0.3, -0.8, 0.5 + 0.01 * s};
    chain->length[s] = noli_norm3(edge);
    NoliVec3 t = noli_scale3(1.0 / chain->length[s], edge);
    NoliVec3 d = noli_mul_add3(any, -noli_dot3(any, t), t);
    noli_store3(chain->frame + 6 * s, t);
    noli_store3(chain->frame + 6 * s + 3, noli_scale3(1.0 / noli_norm3(d), d));
  }
  ASSERT_OK(
      noli_turns_add(context, 0, n, chain->node, X, chain->length, chain->bending, &chain->turns));
  const NoliRodSegments segments = segments_of(chain, n);
  ASSERT_OK(noli_twists_create(context, &chain->turns, &segments, X, chain->frame, &chain->twists));
}

static void free_chain(NoliContext* context, Chain* chain) {
  noli_twists_destroy(context, &chain->twists);
  noli_turns_destroy(context, &chain->turns);
}

static double energy_of(const Chain* chain, const double* x) {
  double energy[N_MAX], sum = 0.0;
  NoliTwisting twisting = {&chain->twists, chain->frame, 1.0};
  noli_twisting_evaluate(&twisting, x, 0, chain->turns.n, NOLI_EVAL_ENERGY,
                         &(NoliLocal){.energy = energy});
  for (int32_t i = 0; i < chain->turns.n; i++) {
    sum += energy[i];
  }
  return sum;
}

// ---- derivatives --------------------------------------------------------------------------------

static void full_matrix(const int32_t node[5], const double* blocks, double H[225]) {
  for (int a = 0; a < 5; a++) {
    for (int b = a; b < 5; b++) {
      const double* block = blocks + 9 * noli_stencil_block(5, a, b);
      for (int k = 0; k < 9; k++) {
        int row = 3 * node[a] + k / 3, column = 3 * node[b] + k % 3;
        H[15 * row + column] = H[15 * column + row] = block[k];
      }
    }
  }
}

static double turn_energy(void* user, const double* x, double* gradient, double* hessian) {
  const NoliTwisting* twisting = user;
  const int32_t* node = twisting->twists->node;
  double energy, local[15], blocks[135];
  NoliLocal out = {.energy = &energy, .gradient = local, .hessian = blocks};
  noli_twisting_evaluate(twisting, x, 0, 1,
                         NOLI_EVAL_ENERGY | NOLI_EVAL_GRADIENT | NOLI_EVAL_HESSIAN, &out);
  for (int i = 0; gradient != NULL && i < 15; i++) {
    gradient[3 * node[i / 3] + i % 3] = local[i];
  }
  if (hessian != NULL) {
    full_matrix(node, blocks, hessian);
  }
  return energy;
}

// A turn by `angle`, with angles of the segments.
static void bend(double angle, double l1, const double theta[2], double x[15]) {
  const double at[15] = {-1.0,
                         0.0,
                         0.0,
                         0.0,
                         0.0,
                         0.0,
                         l1 * cos(angle),
                         l1 * sin(angle),
                         0.0,
                         0.1 * theta[0],
                         0.0,
                         0.0,
                         0.1 * theta[1],
                         0.0,
                         0.0};
  memcpy(x, at, sizeof at);
}

// States of a trial: the rest shape, and positions that are straight, bent, or folded to 179
// degrees, with angles up to many turns.
static void make_trial(NoliContext* context, TestRandom* random, int trial, Chain* chain,
                       double x[15]) {
  const double degrees[] = {0.0, 1e-5, 30.0, 90.0, 150.0, 179.0}, none[2] = {0.0, 0.0};
  const double turns[] = {0.3, 2.0, 25.0};
  double X[15], theta[2];
  bend(trial / 6 % 2 == 0 ? 0.0 : 0.8, 0.7, none, X);
  make_chain(context, 2, X, (NoliRodSection){.bending = {1.7, 0.6}, .twisting = 1.1, .radius = 0.1},
             chain);
  for (int e = 0; e < 2; e++) {
    theta[e] = turns[trial % 3] * test_random(random, -1.0, 1.0);
  }

  // a step before, from which directors are transported
  bend(0.5 * degrees[trial % 6] * PI / 180.0, 0.7, none, x);
  for (int i = 0; i < 9; i++) {
    x[i] += 0.2 * test_random(random, -1.0, 1.0);
  }
  noli_twists_transport(&chain->twists, chain->node, x, chain->frame);
  chain->frame[12] += trial % 3 == 2 ? 6.0 * PI : 0.0;

  bend(degrees[trial % 6] * PI / 180.0, trial % 4 == 0 ? 0.2 : 1.4, theta, x);
  double noise = trial < 12 ? 0.0 : trial % 6 == 5 ? 0.002 : 0.02;
  for (int i = 0; i < 9; i++) {
    x[i] += noise * test_random(random, -1.0, 1.0);
  }
}

static void derivatives_of_turns(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  TestRandom random = {3};
  for (int trial = 0; trial < 72; trial++) {
    Chain chain;
    double x[15];
    make_trial(context, &random, trial, &chain, x);
    NoliTwisting twisting = {&chain.twists, chain.frame, 1.3};
    test_derivatives(turn_energy, &twisting, 15, x, trial % 6 == 5 ? 5e-5 : 2e-4, 1e-6, 1e-4);
    free_chain(context, &chain);
  }
  test_context_done(&context);
}

// A segment up to 1e5 times shorter than the one before, straight, bent, folded to 170 degrees.
static void derivatives_of_short_segments(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  TestRandom random = {19};
  const double degrees[] = {0.0, 30.0, 90.0, 150.0, 170.0}, width[] = {1e-1, 1e-3, 1e-5};
  for (int trial = 0; trial < 30; trial++) {
    Chain chain;
    double w = width[trial % 3], X[15], y[15], scale = trial % 5 == 4 ? 0.02 : 0.1;
    double theta[2] = {test_random(&random, -2.0, 2.0), test_random(&random, -2.0, 2.0)};
    bend(trial % 2 == 0 ? 0.0 : 0.8, w, (double[2]){0.0, 0.0}, X);
    make_chain(context, 2, X,
               (NoliRodSection){.bending = {1.7, 0.6}, .twisting = 1.1, .radius = 0.1}, &chain);
    bend(degrees[trial % 5] * PI / 180.0, 1.0, theta, y);
    y[9] = theta[0];
    y[12] = theta[1];
    for (int i = 0; i < 9; i++) {
      y[i] += 0.1 * scale * test_random(&random, -1.0, 1.0);
    }
    NoliTwisting twisting = {&chain.twists, chain.frame, 1.3};
    Sliver sliver = {.f = turn_energy,
                     .user = &twisting,
                     .n_node = 5,
                     .node = {{{0}, {1, 1, 1}},
                              {{0}, {1, 1, 1}},
                              {{0.0, 1.0}, {w, w, w}},
                              {{0}, {0.1, 1, 1}},
                              {{0}, {0.1, 1, 1}}}};
    sliver_derivatives(&sliver, y, w, scale);
    free_chain(context, &chain);
  }
  test_context_done(&context);
}

// ---- derivatives by frames ----------------------------------------------------------------------

// The frame turned by `size` times a rotation w of each segment, and the change dframe of it.
static void turn_frame(const Chain* chain, const double* w, double size, double* frame,
                       double* change) {
  memcpy(frame, chain->frame, sizeof chain->frame);
  for (int k = 0; k < 2 * chain->n; k++) { // tangents and directors
    NoliVec3 axis = noli_load3(w + 3 * (k / 2)), u = noli_load3(chain->frame + 3 * k);
    double angle = size * noli_norm3(axis);
    NoliVec3 n = noli_normalize3(axis), across = noli_cross3(n, u);
    noli_store3(change + 3 * k, noli_cross3(axis, u));
    NoliVec3 turned = noli_mul_add3(noli_scale3(cos(angle), u), sin(angle), across);
    noli_store3(frame + 3 * k, noli_mul_add3(turned, (1.0 - cos(angle)) * noli_dot3(n, u), n));
  }
  memset(change + 6 * chain->n, 0, sizeof *change * (size_t)chain->turns.n);
}

static void turn_gradient(const Chain* chain, const double* frame, const double* x, double* local) {
  NoliTwisting twisting = {&chain->twists, frame, 1.3};
  noli_twisting_evaluate(&twisting, x, 0, 1, NOLI_EVAL_GRADIENT, &(NoliLocal){.gradient = local});
}

static void gradients_follow_frames(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  TestRandom random = {11};
  double h = 1e-5;
  for (int trial = 0; trial < 72; trial++) {
    Chain chain;
    double x[15], w[6], derivative[180], change[13], turned[13], by[15] = {0}, side[2][15];
    make_trial(context, &random, trial, &chain, x);
    for (int k = 0; k < 6; k++) {
      w[k] = test_random(&random, -1.0, 1.0);
    }
    NoliTwisting twisting = {&chain.twists, chain.frame, 1.3};
    noli_twisting_by_frame(&twisting, 0, x, derivative);
    for (int k = 0; k < 2; k++) {
      double frame[7 * N_MAX];
      turn_frame(&chain, w, k == 0 ? -h : h, frame, change);
      turn_gradient(&chain, frame, x, side[k]);
    }
    for (int e = 0; e < 2; e++) {
      memcpy(turned + 6 * e, change + 6 * chain.turns.segment[e], 6 * sizeof *turned);
    }
    double most = 0.0, off = 0.0;
    for (int r = 0; r < 15; r++) {
      for (int c = 0; c < 12; c++) {
        by[r] += derivative[12 * r + c] * turned[c];
      }
      most = noli_larger(most, fabs(by[r]));
      off = noli_larger(off, fabs((side[1][r] - side[0][r]) / (2.0 * h) - by[r]));
    }
    ASSERT_AT_MOST(off, 1e-6 * fmax(most, 1.0));
    free_chain(context, &chain);
  }
  test_context_done(&context);
}

static void energies_follow_frames(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  TestRandom random = {14};
  double h = 1e-3, worst = 0.0;
  for (int trial = 0; trial < 72; trial++) {
    Chain chain;
    double x[15], w[6], change[13], frame[7 * N_MAX], end[4], by = 0.0;
    make_trial(context, &random, trial, &chain, x);
    for (int k = 0; k < 6; k++) {
      w[k] = test_random(&random, -1.0, 1.0);
    }
    const NoliTwisting twisting = {&chain.twists, chain.frame, 1.3};
    const NoliTurnRest rest = {
        .X = x, .frame = chain.frame, .normal = {{0.3, -0.8, 0.5}, {0.3, -0.8, 0.51}}};
    NoliTwistingEnergy derivatives;
    noli_twisting_energy_derivatives(&twisting, 0, x, &rest, (double[5]){4, 4, 4, 4, 4},
                                     &derivatives);
    for (int k = 0; k < 4; k++) {
      turn_frame(&chain, w, (k % 2 == 0 ? -h : h) * (1 + k / 2), frame, change);
      const NoliTwisting turned = {&chain.twists, frame, 1.3};
      noli_twisting_evaluate(&turned, x, 0, 1, NOLI_EVAL_ENERGY, &(NoliLocal){.energy = &end[k]});
    }
    for (int c = 0; c < 12; c++) {
      by += derivatives.by_frame[c] * change[6 * chain.turns.segment[c / 6] + c % 6];
    }
    double difference = (8.0 * (end[1] - end[0]) - (end[3] - end[2])) / (12.0 * h);
    worst = noli_larger(worst, fabs(difference - by) / fmax(fabs(by), 1.0));
    free_chain(context, &chain);
  }
  print_message("energies by frames: differences by %.1e\n", worst);
  ASSERT_AT_MOST(worst, 1e-8);
  test_context_done(&context);
}

// The projected Hessian of the first turn times w, in a frame.
static void turn_product(const Chain* chain, const double* frame, const double* x,
                         const double w[15], double to[15]) {
  const int32_t* node = chain->twists.node;
  double blocks[135], H[225] = {0};
  NoliTwisting twisting = {&chain->twists, frame, 1.3};
  noli_twisting_evaluate(&twisting, x, 0, 1, NOLI_EVAL_PROJECTED, &(NoliLocal){.hessian = blocks});
  full_matrix(node, blocks, H);
  for (int i = 0; i < 15; i++) {
    to[i] = 0.0;
    for (int j = 0; j < 15; j++) {
      int row = 3 * node[i / 3] + i % 3, column = 3 * node[j / 3] + j % 3;
      to[i] += H[15 * row + column] * w[j];
    }
  }
}

static void products_follow_frames(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  TestRandom random = {13};
  for (int trial = 0; trial < 72; trial++) {
    Chain chain;
    double x[15], w[15], turn[6], change[13], turned[13], by[15] = {0}, most = 1.0, off = INFINITY;
    make_trial(context, &random, trial, &chain, x);
    for (int k = 0; k < 15; k++) {
      turn[k % 6] = test_random(&random, -1.0, 1.0);
      w[k] = test_random(&random, -1.0, 1.0) * (k < 9 ? 1.0 : 0.1);
    }
    NoliTwisting twisting = {&chain.twists, chain.frame, 1.3};
    double rest_frame[7 * N_MAX];
    memcpy(rest_frame, chain.frame, sizeof rest_frame);
    const NoliTurnRest rest = {
        .X = x, .frame = rest_frame, .normal = {{0.3, -0.8, 0.5}, {0.3, -0.8, 0.51}}};
    NoliTwistingDamping damping;
    noli_twisting_damping(&twisting, 0, x, w, &rest, (double[5]){4, 4, 4, 4, 4}, &damping);
    turn_frame(&chain, turn, 0.0, rest_frame, change);
    for (int e = 0; e < 2; e++) {
      memcpy(turned + 6 * e, change + 6 * chain.turns.segment[e], 6 * sizeof *turned);
    }
    for (int r = 0; r < 15; r++) {
      for (int c = 0; c < 12; c++) {
        by[r] += damping.by_frame[12 * r + c] * turned[c];
      }
      most = noli_larger(most, fabs(by[r]));
    }
    for (double h = 1e-4; h > 1e-8; h *= 0.2) { // those of h, h / 2 and h / 4, extrapolated
      double end[6][15], frame[7 * N_MAX], apart = 0.0;
      for (int k = 0; k < 6; k++) {
        turn_frame(&chain, turn, (k % 2 == 0 ? -h : h) / (1 << k / 2), frame, change);
        turn_product(&chain, frame, x, w, end[k]);
      }
      for (int r = 0; r < 15; r++) {
        double sum =
            end[1][r] - end[0][r] - 12.0 * (end[3][r] - end[2][r]) + 32.0 * (end[5][r] - end[4][r]);
        apart = noli_larger(apart, fabs(sum / (6.0 * h) - by[r]));
      }
      off = fmin(off, apart);
    }
    ASSERT_AT_MOST(off, 1e-7 * most);
    free_chain(context, &chain);
  }
  test_context_done(&context);
}

// Forward against differences, in reverse against forward.
static void transports_follow_frames_and_positions(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  TestRandom random = {12};
  double h = 1e-6;
  for (int trial = 0; trial < 72; trial++) {
    Chain chain;
    double x[15], dx[15], w[6], change[7 * N_MAX], after[7 * N_MAX], end[2][7 * N_MAX];
    double by_after[13], by_x[15] = {0}, by_before[13] = {0}, one = 0.0, two = 0.0;
    make_trial(context, &random, trial, &chain, x);
    for (int k = 0; k < 15; k++) {
      dx[k] = test_random(&random, -1.0, 1.0);
      w[k % 6] = test_random(&random, -1.0, 1.0);
    }
    for (int k = 0; k < 2; k++) {
      double moved[15];
      for (int j = 0; j < 15; j++) {
        moved[j] = x[j] + (k == 0 ? -h : h) * dx[j];
      }
      turn_frame(&chain, w, k == 0 ? -h : h, end[k], change);
      noli_twists_transport(&chain.twists, chain.node, moved, end[k]);
    }
    noli_twists_transport_tangent(&chain.twists, chain.node, chain.frame, x, dx, change, after);
    for (int k = 0; k < 12; k++) {
      ASSERT_NEAR((end[1][k] - end[0][k]) / (2.0 * h), after[k], 1e-6 * (1.0 + fabs(after[k])));
      by_after[k] = test_random(&random, -1.0, 1.0);
      one += by_after[k] * after[k];
    }
    ASSERT_NEAR(after[12], 0.0, 0.0);
    by_after[12] = 1.0;
    noli_twists_transport_adjoint(&chain.twists, chain.node, chain.frame, x, by_after, by_x,
                                  by_before);
    for (int k = 0; k < 13; k++) {
      two += by_before[k] * change[k];
    }
    for (int k = 0; k < 15; k++) {
      two += by_x[k] * dx[k];
    }
    ASSERT_NEAR(one, two, 1e-12 * (1.0 + fabs(one)));
    free_chain(context, &chain);
  }
  test_context_done(&context);
}

static void projections_are_semi_definite(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  TestRandom random = {8};
  int n_changed = 0;
  for (int trial = 0; trial < 72; trial++) {
    Chain chain;
    double x[15], plain[135], projected[135], H[225] = {0}, small[121], values[11], scratch[121];
    double largest = 0.0;
    make_trial(context, &random, trial, &chain, x);
    NoliTwisting twisting = {&chain.twists, chain.frame, 1.0};
    noli_twisting_evaluate(&twisting, x, 0, 1, NOLI_EVAL_HESSIAN, &(NoliLocal){.hessian = plain});
    noli_twisting_evaluate(&twisting, x, 0, 1, NOLI_EVAL_PROJECTED,
                           &(NoliLocal){.hessian = projected});
    n_changed += memcmp(plain, projected, sizeof plain) != 0;
    full_matrix(chain.twists.node, projected, H);
    for (int i = 0; i < 121; i++) {
      int row = i / 11 < 10 ? i / 11 : 12, column = i % 11 < 10 ? i % 11 : 12;
      small[i] = H[15 * row + column]; // without what is no angle of the nodes of angles
    }
    noli_eigen_symmetric(11, small, values, scratch);
    for (int i = 0; i < 11; i++) {
      largest = noli_larger(largest, values[i]);
    }
    for (int i = 0; i < 11; i++) {
      assert_true(values[i] >= -1e-11 * largest);
    }
    free_chain(context, &chain);
  }
  assert_true(n_changed > 40);
  test_context_done(&context);
}

// ---- closed forms -------------------------------------------------------------------------------

// A straight rod that is twisted evenly has the energy G J / 2 (angle / length)^2 per length.
static void energy_of_uniform_twist(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  enum { N = 20 };
  Chain chain;
  double X[3 * (2 * N + 1)] = {0}, h = 0.05, rate = 40.0, gj = 0.3;
  for (int i = 0; i <= N; i++) {
    X[3 * i] = h * i;
  }
  make_chain(context, N, X, (NoliRodSection){.bending = {1, 2}, .twisting = gj, .radius = 0.01},
             &chain);
  ASSERT_NEAR(energy_of(&chain, X), 0.0, 1e-20);
  for (int s = 0; s < N; s++) {
    // an angle counts about the direction of its segment: every other one runs backwards
    X[3 * chain.angle_node[s]] = 0.01 * rate * h * s * (s % 2 == 0 ? 1.0 : -1.0);
  }
  double expected = 0.5 * gj * rate * rate * h * (N - 1);
  ASSERT_NEAR(energy_of(&chain, X), expected, 1e-12 * expected);
  ASSERT_NEAR(noli_twist_excess(&chain.twists, chain.frame, X, 3), rate * h, 1e-12);
  free_chain(context, &chain);
  test_context_done(&context);
}

// Bent to an arc in the plane of its second axis, a rod has E I_1 / 2 / radius^2 per length: a rod
// of different axes distinguishes the two. Turned by 90 degrees about its own axis it has E I_2.
static void energy_of_arcs(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  enum { N = 40 };
  Chain chain;
  double X[3 * (2 * N + 1)] = {0}, x[3 * (2 * N + 1)] = {0}, h = 0.01, radius = 0.7;
  double angle = 2.0 * asin(0.5 * h / radius);
  NoliRodSection section = {.bending = {3.0, 5.0}, .twisting = 1.0, .radius = 0.01};
  for (int i = 0; i <= N; i++) {
    X[3 * i] = h * i;
    noli_store3(x + 3 * i, (NoliVec3){radius * sin(angle * i), radius * cos(angle * i), 0.0});
  }
  make_chain(context, N, X, section, &chain);
  for (int s = 0; s < N; s++) {
    noli_store3(chain.frame + 6 * s + 3, (NoliVec3){0.0, 0.0, 1.0});
  }
  noli_twists_destroy(context, &chain.twists);
  const NoliRodSegments segments = segments_of(&chain, N);
  ASSERT_OK(noli_twists_create(context, &chain.turns, &segments, X, chain.frame, &chain.twists));
  double per_bending = 0.5 / (radius * radius) * (N - 1) * h;
  ASSERT_NEAR(energy_of(&chain, x), 3.0 * per_bending, 1e-3 * per_bending);
  for (int s = 0; s < N; s++) {
    x[3 * chain.angle_node[s]] = 0.01 * 0.5 * PI * (s % 2 == 0 ? 1.0 : -1.0);
  }
  ASSERT_NEAR(energy_of(&chain, x), 5.0 * per_bending, 1e-3 * per_bending);
  free_chain(context, &chain);
  test_context_done(&context);
}

// A rod that turns rigidly, in steps, about any axis and more than once, keeps its energy once its
// angles follow; about an axis perpendicular to the rod they do not change.
static void turning_as_a_whole_costs_nothing(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  enum { N = 12 };
  Chain chain;
  double X[3 * (2 * N + 1)] = {0}, x[3 * (2 * N + 1)] = {0};
  for (int i = 0; i <= N; i++) {
    X[3 * i] = 0.1 * i;
  }
  make_chain(context, N, X, (NoliRodSection){.bending = {3, 5}, .twisting = 1, .radius = 0.01},
             &chain);
  for (int step = 1; step <= 50; step++) {
    double angle = 0.4 * step;
    for (int i = 0; i <= N; i++) {
      noli_store3(x + 3 * i, (NoliVec3){cos(angle) * X[3 * i], 0.0, -sin(angle) * X[3 * i]});
    }
    ASSERT_NEAR(energy_of(&chain, x), 0.0, 1e-20);
    noli_twists_transport(&chain.twists, chain.node, x, chain.frame);
    ASSERT_NEAR(energy_of(&chain, x), 0.0, 1e-20);
  }
  free_chain(context, &chain);
  test_context_done(&context);
}

// The end tangent of a rod traces a cone: its director returns turned by the solid angle, 2 pi (1 -
// cos of the half angle). The reference twist follows over full turns.
static void reference_twist_is_the_solid_angle(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  Chain chain;
  const double X[15] = {0, 0, 0, 1, 0, 0, 2, 0, 0};
  double x[15], half = 1.2;
  enum { STEPS = 400, ROUNDS = 3 };
  make_chain(context, 2, X, (NoliRodSection){.bending = {1, 1}, .twisting = 1, .radius = 0.01},
             &chain);
  memcpy(x, X, sizeof x);
  double before = 0.0;
  for (int step = 0; step <= ROUNDS * STEPS; step++) {
    double angle = 2.0 * PI * step / STEPS;
    noli_store3(x + 6, (NoliVec3){1.0 + cos(half), sin(half) * cos(angle), sin(half) * sin(angle)});
    noli_twists_transport(&chain.twists, chain.node, x, chain.frame);
    before = step == 0 ? noli_twist_excess(&chain.twists, chain.frame, x, 0) : before;
  }
  double turned = noli_twist_excess(&chain.twists, chain.frame, x, 0) - before;
  double expected = 2.0 * PI * (1.0 - cos(half)) * ROUNDS;
  ASSERT_NEAR(fabs(turned), expected, 1e-3 * expected);
  free_chain(context, &chain);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_of_turns),
      cmocka_unit_test(derivatives_of_short_segments),
      cmocka_unit_test(gradients_follow_frames),
      cmocka_unit_test(energies_follow_frames),
      cmocka_unit_test(products_follow_frames),
      cmocka_unit_test(transports_follow_frames_and_positions),
      cmocka_unit_test(projections_are_semi_definite),
      cmocka_unit_test(energy_of_uniform_twist),
      cmocka_unit_test(energy_of_arcs),
      cmocka_unit_test(turning_as_a_whole_costs_nothing),
      cmocka_unit_test(reference_twist_is_the_solid_angle),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
