#include "fem/thin/rod.h"

#include "base/sort.h"
#include "math/eigen.h"
#include "math/mat3.h"
#include "math/vec3.h"

#include <math.h>
#include <string.h>

// kappa^2 below this counts as this: where a bent rod is straight, its turn has no direction.
#define KAPPA_SQR_MIN 1e-24
// A rest turn with 1 + cos(theta) below this is a fold.
#define FOLD 1e-12
// Edges whose angle has a smaller sine lie in no plane but that of their rounding.
#define STRAIGHT 1e-13

static NoliVec3 rod_vertex(const double* x, int32_t node) {
  return noli_load3(x + 3 * (int64_t)node);
}

static NoliMat3 identity_less(NoliVec3 t) {
  return noli_sub33(noli_diagonal33((double[3]){1.0, 1.0, 1.0}), noli_outer33(t, t));
}

// ---- stretching ---------------------------------------------------------------------------------

double noli_segment_strain(const NoliSegments* segments, const double* x, int64_t s) {
  const int32_t* node = segments->node + 2 * s;
  double length = noli_norm3(noli_sub3(rod_vertex(x, node[1]), rod_vertex(x, node[0])));
  return (length - segments->length[s]) / segments->length[s];
}

static void write_segment(const NoliMat3* H, double* hessian) {
  NoliMat3 negative = noli_scale33(-1.0, *H);
  noli_store33(hessian, H);
  noli_store33(hessian + 9, &negative);
  noli_store33(hessian + 18, H);
}

void noli_segments_evaluate(const void* data, const double* x, int64_t begin, int64_t end,
                            unsigned what, const NoliLocal* out) {
  const NoliSegments* segments = data;
  for (int64_t s = begin; s < end; s++) {
    const int32_t* node = segments->node + 2 * s;
    NoliVec3 edge = noli_sub3(rod_vertex(x, node[1]), rod_vertex(x, node[0]));
    double rest = segments->length[s], length = noli_norm3(edge);
    double strain = (length - rest) / rest, k = segments->scale * segments->stiffness[s];

    // a segment without length has no direction: NaN derivatives
    NoliVec3 t = noli_scale3(1.0 / length, edge);
    if (what & NOLI_EVAL_ENERGY) {
      out->energy[s - begin] = length > 0.0 ? 0.5 * k * rest * strain * strain : (double)INFINITY;
    }
    if (what & NOLI_EVAL_GRADIENT) {
      noli_store3(out->gradient + 6 * (s - begin), noli_scale3(-k * strain, t));
      noli_store3(out->gradient + 6 * (s - begin) + 3, noli_scale3(k * strain, t));
    }
    if (what & (NOLI_EVAL_HESSIAN | NOLI_EVAL_PROJECTED)) {
      double across = k * strain / length;
      across = (what & NOLI_EVAL_PROJECTED) && across < 0.0 ? 0.0 : across;
      NoliMat3 H = noli_add33(noli_scale33(k / rest, noli_outer33(t, t)),
                              noli_scale33(across, identity_less(t)));
      write_segment(&H, out->hessian + 27 * (s - begin));
    }
  }
}

// ---- bending ------------------------------------------------------------------------------------

// Two edges that meet, and the cosine c of the angle between them.
typedef struct Turn {
  NoliVec3 t0, t1;
  double l0, l1;
  double less, more; // 1 - c and 1 + c, without cancellation
  double c;
  NoliVec3 c0, c1; // derivatives of c by the edges
} Turn;

static Turn rod_turn_at(const double* x, const int32_t* node) {
  Turn turn;
  NoliVec3 e0 = noli_sub3(rod_vertex(x, node[1]), rod_vertex(x, node[0]));
  NoliVec3 e1 = noli_sub3(rod_vertex(x, node[2]), rod_vertex(x, node[1]));
  turn.l0 = noli_norm3(e0);
  turn.l1 = noli_norm3(e1);
  turn.t0 = noli_scale3(1.0 / turn.l0, e0);
  turn.t1 = noli_scale3(1.0 / turn.l1, e1);
  NoliVec3 apart = noli_sub3(turn.t1, turn.t0), sum = noli_add3(turn.t0, turn.t1);
  turn.less = 0.5 * noli_norm_sqr3(apart);
  turn.more = 0.5 * noli_norm_sqr3(sum);
  turn.c = turn.less < 1.0 ? 1.0 - turn.less : turn.more - 1.0;

  // t1 - c t0 from the small one of the difference and the sum of the directions
  bool straight = turn.less < 1.0;
  NoliVec3 a0 =
      straight ? noli_mul_add3(apart, turn.less, turn.t0) : noli_mul_add3(sum, -turn.more, turn.t0);
  NoliVec3 a1 = straight ? noli_mul_add3(noli_scale3(-1.0, apart), turn.less, turn.t1)
                         : noli_mul_add3(sum, -turn.more, turn.t1);
  turn.c0 = noli_scale3(1.0 / turn.l0, a0);
  turn.c1 = noli_scale3(1.0 / turn.l1, a1);
  return turn;
}

static double kappa_of(const Turn* turn) {
  return 2.0 * sqrt(turn->less / turn->more);
}

// The second derivative of c by one edge: -(a t^T + t a^T) / l - c (1 - t t^T) / l^2, where a is
// the first one.
static NoliMat3 second_by_edge(NoliVec3 t, double l, double c, NoliVec3 a) {
  NoliMat3 outer = noli_outer33(a, t), transposed = noli_transpose33(outer);
  NoliMat3 mixed = noli_scale33(-1.0 / l, noli_add33(outer, transposed));
  return noli_sub33(mixed, noli_scale33(c / (l * l), identity_less(t)));
}

// E(c): first and second derivative, per k.
static void derivatives_by_cosine(const Turn* turn, double rest, double* first, double* second) {
  double more = turn->more, square = fmax(4.0 * turn->less / more, KAPPA_SQR_MIN);
  double f1 = -8.0 / (more * more), f2 = 16.0 / (more * more * more), kappa = sqrt(square);
  double by_square = 0.5 * (1.0 - rest / kappa), by_square_2 = 0.25 * rest / (square * kappa);
  *first = by_square * f1;
  *second = by_square_2 * f1 * f1 + by_square * f2;
}

// The Hessian by the two edges, 6 x 6.
static void hessian_by_edges(const Turn* turn, double first, double second, double H[36]) {
  NoliMat3 block[2][2];
  block[0][0] = second_by_edge(turn->t0, turn->l0, turn->c, turn->c0);
  block[1][1] = second_by_edge(turn->t1, turn->l1, turn->c, turn->c1);
  NoliMat3 p0 = identity_less(turn->t0), p1 = identity_less(turn->t1);
  block[0][1] = noli_scale33(1.0 / (turn->l0 * turn->l1), noli_mul33(p0, p1));
  block[1][0] = noli_transpose33(block[0][1]);
  double g[6];
  noli_store3(g, turn->c0);
  noli_store3(g + 3, turn->c1);
  for (int i = 0; i < 6; i++) {
    for (int j = 0; j < 6; j++) {
      H[6 * i + j] = first * block[i / 3][j / 3].m[i % 3][j % 3] + second * g[i] * g[j];
    }
  }
  for (int i = 0; i < 6; i++) {
    for (int j = 0; j < i; j++) {
      H[6 * i + j] = H[6 * j + i] = 0.5 * (H[6 * i + j] + H[6 * j + i]);
    }
  }
}

// The plane of two edges: n of each is t turned by a right angle towards the inside of the turn,
// and b is normal to the plane. Where they are straight, any plane.
typedef struct TurnPlane {
  double sine;
  NoliVec3 t[2], n[2], b;
} TurnPlane;

static TurnPlane plane_of(const Turn* turn) {
  TurnPlane plane = {.t = {turn->t0, turn->t1}};
  // c0 is t1 - c t0 over l0, without cancellation but for rounding along t0
  NoliVec3 towards = noli_scale3(turn->l0, turn->c0);
  towards = noli_mul_add3(towards, -noli_dot3(towards, turn->t0), turn->t0);
  plane.sine = noli_norm3(towards);
  plane.n[0] = noli_normalize3(plane.sine > STRAIGHT ? towards : noli_orthogonal3(turn->t0));
  plane.b = noli_cross3(turn->t0, plane.n[0]);
  plane.n[1] = noli_cross3(plane.b, turn->t1);
  return plane;
}

// The projection of the same Hessian. The energy depends on the angle of the edges alone, so that
// motions in their plane, (t, n) of each edge, and along its normal do not couple: with s and c of
// the angle, f = dE/dc, g = d2E/dc2 and q = g s^2 - f c,
//   in the plane  [0, -f s / l0^2; ., q / l0^2], [0, f s / l1^2; ., q / l1^2], between n0 and n1
//   -q / (l0 l1); along the normal  -f c / l0^2, -f c / l1^2, between both f / (l0 l1).
static void projected_by_edges(const Turn* turn, double first, double second, double H[36]) {
  TurnPlane plane = plane_of(turn);
  double l0 = turn->l0, l1 = turn->l1, s = plane.sine, c = turn->c;
  double q = second * s * s - first * c, aside = first * s, both = 1.0 / (l0 * l1);
  double in[16] = {0.0,
                   -aside / (l0 * l0),
                   0.0,
                   0.0, //
                   -aside / (l0 * l0),
                   q / (l0 * l0),
                   0.0,
                   -q * both, //
                   0.0,
                   0.0,
                   0.0,
                   aside / (l1 * l1), //
                   0.0,
                   -q * both,
                   aside / (l1 * l1),
                   q / (l1 * l1)};
  double along[4] = {-first * c / (l0 * l0), first * both, first * both, -first * c / (l1 * l1)};
  noli_project_psd(4, in);
  noli_project_psd(2, along);
  for (int e = 0; e < 2; e++) {
    for (int f = e; f < 2; f++) {
      NoliVec3 by_t = noli_add3(noli_scale3(in[8 * e + 2 * f], plane.t[f]),
                                noli_scale3(in[8 * e + 2 * f + 1], plane.n[f]));
      NoliVec3 by_n = noli_add3(noli_scale3(in[8 * e + 4 + 2 * f], plane.t[f]),
                                noli_scale3(in[8 * e + 4 + 2 * f + 1], plane.n[f]));
      NoliMat3 block = noli_add33(noli_outer33(plane.t[e], by_t), noli_outer33(plane.n[e], by_n));
      block = noli_add33(block, noli_scale33(along[2 * e + f], noli_outer33(plane.b, plane.b)));
      for (int k = 0; k < 9; k++) {
        H[6 * (3 * e + k / 3) + 3 * f + k % 3] = block.m[k / 3][k % 3];
        H[6 * (3 * f + k % 3) + 3 * e + k / 3] = block.m[k / 3][k % 3];
      }
    }
  }
}

// Derivatives of the edges by the nodes: e0 = x1 - x0, e1 = x2 - x1.
static const double share[2][3] = {{-1.0, 1.0, 0.0}, {0.0, -1.0, 1.0}};

static void write_turn(const double H[36], double* hessian) {
  for (int a = 0; a < 3; a++) {
    for (int b = a; b < 3; b++) {
      double* block = hessian + 9 * noli_stencil_block(3, a, b);
      for (int k = 0; k < 9; k++) {
        block[k] = 0.0;
        for (int pq = 0; pq < 4; pq++) {
          int p = pq / 2, q = pq % 2;
          block[k] += share[p][a] * share[q][b] * H[6 * (3 * p + k / 3) + 3 * q + k % 3];
        }
      }
    }
  }
}

void noli_turning_evaluate(const void* data, const double* x, int64_t begin, int64_t end,
                           unsigned what, const NoliLocal* out) {
  const NoliTurning* turning = data;
  const NoliTurns* turns = turning->turns;
  for (int64_t i = begin; i < end; i++) {
    Turn turn = rod_turn_at(x, turns->node + 3 * i);
    double k = turning->scale * turns->stiffness[i], rest = turns->rest[i], first, second;
    if (what & NOLI_EVAL_ENERGY) {
      double excess = kappa_of(&turn) - rest, energy = 0.5 * k * excess * excess;
      out->energy[i - begin] = k == 0.0 ? 0.0 : isfinite(energy) ? energy : (double)INFINITY;
    }
    derivatives_by_cosine(&turn, rest, &first, &second);
    if (what & NOLI_EVAL_GRADIENT) {
      for (int a = 0; a < 3; a++) {
        NoliVec3 g =
            noli_add3(noli_scale3(share[0][a], turn.c0), noli_scale3(share[1][a], turn.c1));
        noli_store3(out->gradient + 9 * (i - begin) + 3 * a, noli_scale3(k * first, g));
      }
    }
    if (what & (NOLI_EVAL_HESSIAN | NOLI_EVAL_PROJECTED)) {
      double H[36];
      if (what & NOLI_EVAL_PROJECTED) {
        projected_by_edges(&turn, k * first, k * second, H);
      } else {
        hessian_by_edges(&turn, k * first, k * second, H);
      }
      write_turn(H, out->hessian + 54 * (i - begin));
    }
  }
}

// ---- from segments ------------------------------------------------------------------------------

// An end of a segment.
typedef struct End {
  int32_t node, other, segment;
} End;

static int compare_ends(const void* one, const void* two) {
  const End *a = one, *b = two;
  int order = noli_order(a->node, b->node);
  return order != 0 ? order : noli_order(a->segment, b->segment);
}

static NoliStatus add_turn(NoliContext* context, const End* one, const End* two, int32_t begin,
                           const double* X, const double* length, const double* bending,
                           NoliTurns* turns) {
  NoliStatus status = NOLI_OK;
  int64_t i = turns->n, *capacity = turns->capacity;
  NOLI_TRY(noli_grow(context, (void**)&turns->node, &capacity[0], 3 * (i + 1), sizeof(int32_t)));
  NOLI_TRY(noli_grow(context, (void**)&turns->segment, &capacity[1], 2 * (i + 1), sizeof(int32_t)));
  NOLI_TRY(noli_grow(context, (void**)&turns->rest, &capacity[2], i + 1, sizeof(double)));
  NOLI_TRY(noli_grow(context, (void**)&turns->stiffness, &capacity[3], i + 1, sizeof(double)));
  const int32_t node[3] = {one->other, one->node, two->other};
  Turn turn = rod_turn_at(X, node);
  NoliVec3 at = rod_vertex(X, one->node);
  NOLI_CHECK(context, turn.more > FOLD, NOLI_ERROR_ARGUMENT,
             "segments %d and %d at (%g, %g, %g) are folded onto each other", one->segment - begin,
             two->segment - begin, at.x, at.y, at.z);

  // both segments bend over half their length, one after the other
  double l0 = length[one->segment], l1 = length[two->segment];
  double b0 = bending[one->segment], b1 = bending[two->segment];
  memcpy(turns->node + 3 * i, node, sizeof node);
  turns->segment[2 * i] = one->segment;
  turns->segment[2 * i + 1] = two->segment;
  turns->rest[i] = kappa_of(&turn);
  turns->stiffness[i] = b0 > 0.0 && b1 > 0.0 ? 2.0 / (l0 / b0 + l1 / b1) : 0.0;
  turns->n++;
done:
  return status;
}

NoliStatus noli_turns_add(NoliContext* context, int32_t begin, int32_t end, const int32_t* node,
                          const double* X, const double* length, const double* bending,
                          NoliTurns* turns) {
  NoliStatus status = NOLI_OK;
  End* ends = NULL;
  int64_t n = 2 * (int64_t)(end - begin);
  NOLI_NEW(context, ends, n);
  for (int64_t i = 0; i < n; i++) {
    const int32_t* own = node + 2 * (begin + i / 2);
    ends[i] = (End){own[i % 2], own[1 - i % 2], begin + (int32_t)(i / 2)};
  }
  noli_sort(ends, n, sizeof *ends, compare_ends);
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = i + 1; j < n && ends[j].node == ends[i].node; j++) {
      NOLI_TRY(add_turn(context, &ends[i], &ends[j], begin, X, length, bending, turns));
    }
  }
done:
  noli_free(context, ends);
  return status;
}

void noli_turns_destroy(NoliContext* context, NoliTurns* turns) {
  noli_free(context, turns->node);
  noli_free(context, turns->segment);
  noli_free(context, turns->rest);
  noli_free(context, turns->stiffness);
  *turns = (NoliTurns){0};
}

// ---- rest positions -----------------------------------------------------------------------------

// Derivatives of the cosine by the nodes.
static void cosine_gradient(const Turn* turn, double gradient[9]) {
  for (int a = 0; a < 3; a++) {
    noli_store3(gradient + 3 * a,
                noli_add3(noli_scale3(share[0][a], turn->c0), noli_scale3(share[1][a], turn->c1)));
  }
}

// dkappa/dc; 0 where the turn is straight.
static double kappa_by_cosine(const Turn* turn) {
  double square = 4.0 * turn->less / turn->more;
  return square > KAPPA_SQR_MIN ? -4.0 / (turn->more * turn->more * sqrt(square)) : 0.0;
}

// How the logarithm of the stiffness k = 2 / (l0 / b0 + l1 / b1) of a turn changes with its nodes.
static void stiffness_gradient(const Turn* rest, double k, const double* bending,
                               const int32_t* segment, double gradient[9]) {
  for (int a = 0; a < 3; a++) {
    NoliVec3 by = noli_scale3(share[0][a] / bending[segment[0]], rest->t0);
    by = noli_mul_add3(by, share[1][a] / bending[segment[1]], rest->t1);
    noli_store3(gradient + 3 * a, noli_scale3(-0.5 * k, by));
  }
}

void noli_turning_by_rest(const NoliTurning* turning, int64_t i, const double* X, const double* x,
                          double derivative[81]) {
  const NoliTurns* turns = turning->turns;
  const int32_t *node = turns->node + 3 * i, *segment = turns->segment + 2 * i;
  Turn now = rod_turn_at(x, node), rest = rod_turn_at(X, node);
  double by_now[9], by_rest[9], by_stiffness[9], first, second, k = turns->stiffness[i];
  cosine_gradient(&now, by_now);
  cosine_gradient(&rest, by_rest);
  derivatives_by_cosine(&now, turns->rest[i], &first, &second);
  stiffness_gradient(&rest, k, turning->bending, segment, by_stiffness);
  double turned = kappa_by_cosine(&now) * kappa_by_cosine(&rest);
  for (int j = 0; j < 81; j++) {
    derivative[j] = k > 0.0 ? turning->scale * k * by_now[j / 9] *
                                  (first * by_stiffness[j % 9] - turned * by_rest[j % 9])
                            : 0.0;
  }
}

void noli_turning_energy_by_rest(const NoliTurning* turning, int64_t i, const double* X,
                                 const double* x, double derivative[9]) {
  const NoliTurns* turns = turning->turns;
  const int32_t *node = turns->node + 3 * i, *segment = turns->segment + 2 * i;
  Turn now = rod_turn_at(x, node), rest = rod_turn_at(X, node);
  double by_rest[9], by_stiffness[9], k = turns->stiffness[i];
  double excess = kappa_of(&now) - turns->rest[i], turned = kappa_by_cosine(&rest);
  cosine_gradient(&rest, by_rest);
  stiffness_gradient(&rest, k, turning->bending, segment, by_stiffness);
  for (int j = 0; j < 9; j++) {
    derivative[j] = k > 0.0 ? turning->scale * k * excess *
                                  (0.5 * excess * by_stiffness[j] - turned * by_rest[j])
                            : 0.0;
  }
}

// ---- damping ------------------------------------------------------------------------------------

// d3E/dc3, per k.
static double third_by_cosine(const Turn* turn, double rest) {
  double more = turn->more, square = fmax(4.0 * turn->less / more, KAPPA_SQR_MIN);
  double kappa = sqrt(square), cube = more * more * more;
  double f1 = -8.0 / (more * more), f2 = 16.0 / cube, f3 = -48.0 / (cube * more);
  double g1 = 0.5 * (1.0 - rest / kappa), g2 = 0.25 * rest / (square * kappa);
  return -1.5 * g2 / square * f1 * f1 * f1 + 3.0 * g2 * f1 * f2 + g1 * f3;
}

static NoliMat3 symmetric(NoliVec3 a, NoliVec3 b) {
  NoliMat3 outer = noli_outer33(a, b);
  return noli_add33(outer, noli_transpose33(outer));
}

// How second_by_edge changes.
static NoliMat3 second_change(NoliVec3 t, double l, double c, NoliVec3 a, NoliVec3 dt, double dl,
                              double dc, NoliVec3 da) {
  NoliMat3 sum = noli_scale33(-1.0 / l, noli_add33(symmetric(da, t), symmetric(a, dt)));
  sum = noli_add33(sum, noli_scale33(dl / (l * l), symmetric(a, t)));
  sum = noli_add33(sum, noli_scale33((2.0 * c * dl / l - dc) / (l * l), identity_less(t)));
  return noli_add33(sum, noli_scale33(c / (l * l), symmetric(dt, t)));
}

// How the Hessian by the edges changes with a change (6) of both.
static void hessian_change(const Turn* turn, const double by_c[3], const double d[6],
                           double change[36]) {
  NoliVec3 d0 = noli_load3(d), d1 = noli_load3(d + 3);
  NoliMat3 p0 = identity_less(turn->t0), p1 = identity_less(turn->t1), second[2][2], third[2][2];
  double l0 = turn->l0, l1 = turn->l1, dl0 = noli_dot3(turn->t0, d0), dl1 = noli_dot3(turn->t1, d1);
  second[0][0] = second_by_edge(turn->t0, l0, turn->c, turn->c0);
  second[1][1] = second_by_edge(turn->t1, l1, turn->c, turn->c1);
  second[0][1] = noli_scale33(1.0 / (l0 * l1), noli_mul33(p0, p1));
  second[1][0] = noli_transpose33(second[0][1]);
  NoliVec3 dt0 = noli_scale3(1.0 / l0, noli_mul33_vec(&p0, d0));
  NoliVec3 dt1 = noli_scale3(1.0 / l1, noli_mul33_vec(&p1, d1));
  NoliVec3 da0 = noli_add3(noli_mul33_vec(&second[0][0], d0), noli_mul33_vec(&second[0][1], d1));
  NoliVec3 da1 = noli_add3(noli_mul33_vec(&second[1][0], d0), noli_mul33_vec(&second[1][1], d1));
  double dc = noli_dot3(turn->c0, d0) + noli_dot3(turn->c1, d1), g[6], dg[6];
  third[0][0] = second_change(turn->t0, l0, turn->c, turn->c0, dt0, dl0, dc, da0);
  third[1][1] = second_change(turn->t1, l1, turn->c, turn->c1, dt1, dl1, dc, da1);
  NoliMat3 turned = noli_add33(noli_mul33(symmetric(dt0, turn->t0), p1),
                               noli_mul33(p0, symmetric(dt1, turn->t1)));
  third[0][1] = noli_sub33(noli_scale33(-1.0 / (l0 * l1), turned),
                           noli_scale33(dl0 / l0 + dl1 / l1, second[0][1]));
  third[1][0] = noli_transpose33(third[0][1]);
  noli_store3(g, turn->c0);
  noli_store3(g + 3, turn->c1);
  noli_store3(dg, da0);
  noli_store3(dg + 3, da1);

  for (int k = 0; k < 36; k++) {
    int i = k / 6, j = k % 6;
    change[k] =
        by_c[0] * third[i / 3][j / 3].m[i % 3][j % 3] +
        by_c[1] * (dc * second[i / 3][j / 3].m[i % 3][j % 3] + g[i] * dg[j] + dg[i] * g[j]) +
        by_c[2] * dc * g[i] * g[j];
  }
}

static void rod_multiply(const double H[36], const double w[6], double to[6]) {
  for (int i = 0; i < 6; i++) {
    to[i] = 0.0;
    for (int j = 0; j < 6; j++) {
      to[i] += H[6 * i + j] * w[j];
    }
  }
}

// Takes derivatives by both edges to those by the nodes: component k of node a.
static double at_node(const double edges[6], int a, int k) {
  return share[0][a] * edges[k] + share[1][a] * edges[3 + k];
}

// How the product of the projected Hessian by the edges with w changes with the rest turn.
static void product_by_rest_turn(const Turn* now, double k, const double value[6],
                                 const double vector[36], const double w[6], double by[6]) {
  double more = now->more, square = fmax(4.0 * now->less / more, KAPPA_SQR_MIN);
  double kappa = sqrt(square), f1 = -8.0 / (more * more), f2 = 16.0 / (more * more * more), H[36];
  double first = -0.5 / kappa * f1, second = 0.25 / (square * kappa) * f1 * f1 - 0.5 / kappa * f2;
  hessian_by_edges(now, k * first, k * second, H);
  noli_project_change(6, value, vector, H);
  rod_multiply(H, w, by);
}

void noli_turning_damping(const NoliTurning* turning, int64_t i, const double* X, const double* x,
                          const double w[9], double force[9], double by_x[81], double by_rest[81]) {
  const NoliTurns* turns = turning->turns;
  const int32_t *node = turns->node + 3 * i, *segment = turns->segment + 2 * i;
  Turn now = rod_turn_at(x, node), rest = rod_turn_at(X, node);
  double k = turning->scale * turns->stiffness[i], by_c[3], H[36], projected[36], value[6],
         vector[36], edge[6], product[6], by_edge[6][6], by_turn[6], by_stiffness[9], turned[9];
  if (!(k > 0.0)) {
    return;
  }

  // a rest turn of rounding would be one of any direction
  double rest_turn = turns->rest[i] * turns->rest[i] > KAPPA_SQR_MIN ? turns->rest[i] : 0.0;
  derivatives_by_cosine(&now, rest_turn, &by_c[0], &by_c[1]);
  by_c[2] = k * third_by_cosine(&now, rest_turn);
  by_c[0] *= k;
  by_c[1] *= k;
  for (int r = 0; r < 6; r++) {
    edge[r] = w[3 * (r / 3 + 1) + r % 3] - w[3 * (r / 3) + r % 3];
  }
  hessian_by_edges(&now, by_c[0], by_c[1], H);
  memcpy(projected, H, sizeof H);
  noli_project_psd(6, projected);
  rod_multiply(projected, edge, product);
  noli_eigen_symmetric(6, H, value, vector);
  for (int column = 0; column < 6; column++) {
    double unit[6] = {0.0};
    unit[column] = 1.0;
    hessian_change(&now, by_c, unit, H);
    noli_project_change(6, value, vector, H);
    rod_multiply(H, edge, by_edge[column]);
  }

  product_by_rest_turn(&now, k, value, vector, edge, by_turn);
  stiffness_gradient(&rest, turns->stiffness[i], turning->bending, segment, by_stiffness);
  cosine_gradient(&rest, turned);
  double by_cosine = kappa_by_cosine(&now) != 0.0 ? kappa_by_cosine(&rest) : 0.0;
  for (int r = 0; r < 9; r++) {
    force[r] = at_node(product, r / 3, r % 3);
    for (int s = 0; s < 9; s++) {
      by_x[9 * r + s] = share[0][s / 3] * at_node(by_edge[s % 3], r / 3, r % 3) +
                        share[1][s / 3] * at_node(by_edge[3 + s % 3], r / 3, r % 3);
      by_rest[9 * r + s] = at_node(product, r / 3, r % 3) * by_stiffness[s] +
                           at_node(by_turn, r / 3, r % 3) * by_cosine * turned[s];
    }
  }
}
