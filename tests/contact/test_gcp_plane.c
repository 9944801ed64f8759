// The geometric contact potential of closed curves in a plane.
#include "support.h"

#include "math/vec3.h"
#include "noli/gcp.h"

enum { MOST = 2000 };

// Closed curves, each running counterclockwise around a body, or clockwise around a hole.
typedef struct Curves {
  int32_t n_vert;
  double x[3 * MOST];
  int32_t edge[2 * MOST];
} Curves;

static void add_curve(Curves* curves, const double* x, const double* y, int32_t n) {
  assert_true(curves->n_vert + n <= MOST);
  for (int32_t i = 0; i < n; i++) {
    int32_t v = curves->n_vert + i;
    memcpy(curves->x + 3 * v, (double[]){x[i], y[i], 0.0}, 3 * sizeof(double));
    curves->edge[2 * v] = v;
    curves->edge[2 * v + 1] = curves->n_vert + (i + 1) % n;
  }
  curves->n_vert += n;
}

// A ring of n vertices with random displacements of up to `shake`.
static void add_ring(Curves* curves, TestRandom* random, double at_x, double at_y, double radius,
                     int32_t n, double shake) {
  double x[MOST], y[MOST];
  for (int32_t i = 0; i < n; i++) {
    double angle = 6.283185307179586 * i / n, r = radius;
    r += shake > 0.0 ? test_random(random, -shake, shake) : 0.0;
    x[i] = at_x + r * cos(angle);
    y[i] = at_y + r * sin(angle);
  }
  add_curve(curves, x, y, n);
}

// A polygon whose sides are cut into pieces of about `edge`.
static void add_polygon(Curves* curves, const double* corner, int32_t n_corner, double edge) {
  double x[MOST], y[MOST];
  int32_t n = 0;
  for (int32_t i = 0; i < n_corner; i++) {
    const double *a = corner + 2 * i, *b = corner + 2 * ((i + 1) % n_corner);
    int32_t pieces = (int32_t)ceil(hypot(b[0] - a[0], b[1] - a[1]) / edge - 1e-9);
    for (int32_t k = 0; k < pieces; k++, n++) {
      assert_true(n < MOST);
      x[n] = a[0] + (b[0] - a[0]) * k / pieces;
      y[n] = a[1] + (b[1] - a[1]) * k / pieces;
    }
  }
  add_curve(curves, x, y, n);
}

static NoliGcpPotential* potential_of(NoliContext* context, const Curves* rest, double eps,
                                      double alpha, const double* half_space) {
  NoliGcpDef def = noli_default_gcp_def();
  NoliGcpPotential* potential = NULL;
  def.eps_target = eps;
  def.alpha = alpha;
  def.half_spaces = half_space;
  def.n_half_spaces = half_space != NULL ? 1 : 0;
  ASSERT_OK(noli_gcp_potential_create_plane(context, &def, rest->x, rest->n_vert, rest->edge,
                                            rest->n_vert, &potential));
  return potential;
}

static void move(Curves* curves, int32_t first, double dx, double dy) {
  for (int32_t v = first; v < curves->n_vert; v++) {
    curves->x[3 * v] += dx;
    curves->x[3 * v + 1] += dy;
  }
}

// ---- derivatives --------------------------------------------------------------------------------

enum { N_RING = 24, DOF = 6 * N_RING };

// The Hessian (DOF x DOF), and its largest number. The projected one is semi-definite, and not
// below it, in a random direction.
static double compare_with_projected(NoliGcpPotential* potential, TestRandom* random,
                                     double* hessian) {
  double form[2] = {0.0, 0.0}, way[DOF], largest = 0.0;
  int64_t n;
  for (int i = 0; i < DOF; i++) {
    way[i] = i % 3 < 2 ? test_random(random, -1.0, 1.0) : 0.0;
  }
  for (int projected = 1; projected >= 0; projected--) {
    const NoliTriplet* triplets;
    ASSERT_OK(noli_gcp_potential_hessian(potential, projected == 1, &triplets, &n));
    memset(hessian, 0, DOF * DOF * sizeof *hessian);
    for (int64_t i = 0; i < n; i++) {
      hessian[DOF * triplets[i].row + triplets[i].column] += triplets[i].value;
      form[projected] += way[triplets[i].row] * triplets[i].value * way[triplets[i].column];
    }
  }
  assert_true(form[1] > 0.0);
  ASSERT_AT_LEAST(form[1], form[0]);
  for (int i = 0; i < DOF * DOF; i++) {
    largest = noli_larger(largest, fabs(hessian[i]));
  }
  return largest;
}

// Differences of the value and of the gradient; errors are relative to the largest force and to the
// stiffness.
static void compare_with_differences(NoliGcpPotential* potential, Curves* curves,
                                     const double* gradient, const double* hessian,
                                     double stiffness) {
  static double plus[DOF], minus[DOF];
  double force = 0.0;
  for (int i = 0; i < DOF; i++) {
    force = noli_larger(force, fabs(gradient[i]));
  }
  for (int j = 0; j < DOF; j++) {
    double h = 1e-6, before = curves->x[j];
    if (j % 3 == 2) {
      assert_true(fabs(gradient[j]) == 0.0);
      continue;
    }
    curves->x[j] = before + h;
    ASSERT_OK(noli_gcp_potential_update(potential, curves->x));
    double above = noli_gcp_potential_value(potential);
    ASSERT_OK(noli_gcp_potential_gradient(potential, plus));
    curves->x[j] = before - h;
    ASSERT_OK(noli_gcp_potential_update(potential, curves->x));
    double below = noli_gcp_potential_value(potential);
    ASSERT_OK(noli_gcp_potential_gradient(potential, minus));
    curves->x[j] = before;
    ASSERT_NEAR((above - below) / (2.0 * h), gradient[j], 1e-6 * force);
    for (int i = 0; i < DOF; i++) {
      double want = i % 3 < 2 ? (plus[i] - minus[i]) / (2.0 * h) : 0.0;
      ASSERT_NEAR(want, hessian[DOF * i + j], 2e-4 * stiffness);
    }
  }
}

// Gradient and Hessian in the plane against differences, over pairs of every kind; projected
// Hessians are semi-definite and not below the plain ones.
static void derivatives_agree_with_differences(void** state) {
  (void)state;
  static const double alphas[4] = {0.1, 0.5, 0.8, 1.0}, half_space[6] = {0, -1.35, 0, 0, 1, 0};
  NoliContext* context = test_context(1);
  TestRandom random = {36};
  int64_t count[5] = {0};
  for (int k = 0; k < 16; k++) {

    // two rough rings next to each other, apart at rest
    static Curves curves, rest;
    static double hessian[DOF * DOF], gradient[DOF];
    memset(&curves, 0, sizeof curves);
    add_ring(&curves, &random, 0.0, 0.0, 1.0, N_RING, 0.1);
    add_ring(&curves, &random, 2.05 + test_random(&random, 0.2, 0.4), 0.1, 1.0, N_RING, 0.1);
    rest = curves;
    move(&rest, 0, 0.0, 3.0);
    move(&rest, N_RING, 5.0, 0.0);
    NoliGcpPotential* potential = potential_of(context, &rest, 0.9, alphas[k % 4], half_space);
    ASSERT_OK(noli_gcp_potential_update(potential, curves.x));

    // count the pairs
    int64_t n_pairs;
    const NoliGcpContact* pair = noli_gcp_potential_pairs(potential, &n_pairs);
    for (int64_t i = 0; i < n_pairs; i++) {
      count[pair[i].kind]++;
    }
    ASSERT_OK(noli_gcp_potential_gradient(potential, gradient));
    double largest = compare_with_projected(potential, &random, hessian);
    compare_with_differences(potential, &curves, gradient, hessian, largest);
    noli_gcp_potential_destroy(&potential);
  }

  // enough of every kind
  print_message("pairs: %lld of vertices, %lld of vertices and edges, %lld with the half-space\n",
                (long long)count[NOLI_GCP_PAIR_VERTEX_VERTEX],
                (long long)count[NOLI_GCP_PAIR_VERTEX_EDGE],
                (long long)count[NOLI_GCP_PAIR_HALF_SPACE]);
  assert_true(count[NOLI_GCP_PAIR_VERTEX_VERTEX] > 10 && count[NOLI_GCP_PAIR_VERTEX_EDGE] > 10 &&
              count[NOLI_GCP_PAIR_HALF_SPACE] > 10);
  test_context_done(&context);
}

// ---- rest ---------------------------------------------------------------------------------------

// [Huang2025] figures 17 and 20: a block with a slit, a rounded block with edges of 0.01 m and 0.2
// m, two blocks closer than eps, a ring with a hole.
static void make_rest(int which, Curves* curves) {
  static const double slit[16] = {0,     0,   1,     0,   1,     1, 0.505, 1,
                                  0.505, 0.3, 0.495, 0.3, 0.495, 1, 0,     1};
  static const double one[8] = {0, 0, 1, 0, 1, 1, 0, 1},
                      two[8] = {0.2, 1.01, 1.2, 1.01, 1.2, 2, 0.2, 2};
  memset(curves, 0, sizeof *curves);

  // a slit
  if (which == 0) {
    add_polygon(curves, slit, 8, 0.1);
  } else if (which == 1) {
    double x[120], y[120];
    for (int i = 0; i < 112; i++) {
      // 25 short pieces around each corner, then 3 long ones
      int corner = i / 28, k = i % 28;
      double turn = 1.5707963267948966 * corner,
             angle = 1.5707963267948966 * (k < 25 ? k : 25) / 25;
      double px = 0.3 + 0.2 * cos(angle), py = 0.3 + 0.2 * sin(angle);
      px -= k > 25 ? 0.6 * (k - 25) / 3 : 0.0;
      x[i] = cos(turn) * px - sin(turn) * py;
      y[i] = sin(turn) * px + cos(turn) * py;
    }
    add_curve(curves, x, y, 112);
  } else if (which == 2) {

    // two blocks
    add_polygon(curves, one, 4, 0.25);
    add_polygon(curves, two, 4, 0.2);
  } else {

    // a ring with a hole
    double x[40], y[40];
    add_ring(curves, NULL, 0.0, 0.0, 1.0, 60, 0.0);
    for (int i = 0; i < 40; i++) {
      x[i] = 0.8 * cos(6.283185307179586 * i / 40);
      y[i] = -0.8 * sin(6.283185307179586 * i / 40);
    }
    add_curve(curves, x, y, 40);
  }
}

static void nothing_acts_at_rest(void** state) {
  (void)state;
  static const double eps[3] = {0.01, 0.1, 1.0}, alpha[3] = {0.1, 0.5, 1.0};
  static double gradient[3 * MOST];
  static Curves rest;
  NoliContext* context = test_context(1);
  for (int which = 0; which < 4; which++) {
    for (int k = 0; k < 9; k++) {
      make_rest(which, &rest);
      NoliGcpPotential* potential = potential_of(context, &rest, eps[k / 3], alpha[k % 3], NULL);
      int64_t n_pairs;
      noli_gcp_potential_pairs(potential, &n_pairs);
      ASSERT_OK(noli_gcp_potential_gradient(potential, gradient));
      assert_int_equal(n_pairs, 0);
      assert_true(noli_gcp_potential_value(potential) == 0.0);
      for (int32_t i = 0; i < 3 * rest.n_vert; i++) {
        assert_true(gradient[i] == 0.0);
      }
      if (k % 3 == 1) {
        NoliGcpSupport support = noli_gcp_potential_support(potential);
        print_message("shape %d, eps %.2f: %lld vertices reduced, smallest %.3f m\n", which,
                      eps[k / 3], (long long)support.n_reduced, support.min_eps);
      }
      noli_gcp_potential_destroy(&potential);
    }
  }
  test_context_done(&context);
}

// ---- barrier ------------------------------------------------------------------------------------

// The smallest gap of two sets of vertices and edges, by brute force.
static double gap_of(const Curves* curves, int32_t n_first) {
  double least = (double)INFINITY;
  for (int32_t v = 0; v < curves->n_vert; v++) {
    for (int32_t e = 0; e < curves->n_vert; e++) {
      if ((v < n_first) == (curves->edge[2 * e] < n_first)) {
        continue;
      }
      NoliVec3 a = noli_load3(curves->x + 3 * curves->edge[2 * e]);
      NoliVec3 along = noli_sub3(noli_load3(curves->x + 3 * curves->edge[2 * e + 1]), a);
      NoliVec3 r = noli_sub3(noli_load3(curves->x + 3 * v), a);
      double t = fmin(fmax(noli_dot3(r, along) / noli_norm_sqr3(along), 0.0), 1.0);
      least = noli_smaller(least, noli_norm3(noli_mul_add3(r, -t, along)));
    }
  }
  return least;
}

// Spikes, blunt and sharp corners and rough rings come near each other, turned at random and off
// each other's middle, down to a gap of 1e-9: value times gap stays above a bound.
static void the_value_grows_without_bound(void** state) {
  (void)state;
  static Curves curves, rest;
  NoliContext* context = test_context(1);
  TestRandom random = {99};
  double least = (double)INFINITY;
  int n_contacts = 0;
  for (int k = 0; k < 400; k++) {
    static const double alphas[4] = {0.1, 0.5, 0.8, 1.0};

    // two random polygons
    memset(&curves, 0, sizeof curves);
    int32_t n_first = 0;
    for (int b = 0; b < 2; b++) {
      double turn = test_random(&random, 0.0, 6.28), x[16], y[16];
      int32_t n = 3 + (int32_t)test_random(&random, 0.0, 8.0);
      for (int32_t i = 0; i < n; i++) {
        double angle = turn + 6.283185307179586 * i / n, r = test_random(&random, 0.3, 1.0);
        x[i] = r * cos(angle) + 3.0 * b;
        y[i] = r * sin(angle);
      }
      add_curve(&curves, x, y, n);
      n_first = b == 0 ? n : n_first;
    }
    move(&curves, n_first, 0.0, test_random(&random, -0.5, 0.5));
    rest = curves;
    NoliGcpPotential* potential = potential_of(context, &rest, 0.3, alphas[k % 4], NULL);

    // the second body moves towards the first, never by more than the gap leaves
    double moved = 0.0, value = 0.0, gap = gap_of(&curves, n_first);
    for (double want = 1e-2; want > 5e-10 && moved < 3.0; want *= 0.1) {
      while (gap > 1.5 * want && moved < 3.0) {
        moved += gap - want;
        curves = rest;
        move(&curves, n_first, -moved, 0.0);
        gap = gap_of(&curves, n_first);
      }
      if (moved < 3.0) {
        ASSERT_OK(noli_gcp_potential_update(potential, curves.x));
        value = noli_gcp_potential_value(potential);
        assert_true(value > 0.0);
      }
    }
    n_contacts += gap < 2e-9;
    if (gap < 2e-9) {
      least = noli_smaller(least, value * gap);
    }
    noli_gcp_potential_destroy(&potential);

    // enough approaches
  }
  print_message("%d approaches, value times gap at the last gap: at least %.2e\n", n_contacts,
                least);
  assert_true(n_contacts > 200 && least > 1e-4);
  test_context_done(&context);
}

// ---- refinement ---------------------------------------------------------------------------------

// [Huang2025] figure 36: at a fixed eps the value converges as edges shrink.
static void the_value_converges(void** state) {
  (void)state;
  static Curves curves, rest;
  static const double box[8] = {-1, -2, 1, -2, 1, -1, -1, -1};
  static const double diamond[8] = {0, -0.7, 0.8, 0.1, 0, 0.9, -0.8, 0.1};
  NoliContext* context = test_context(1);
  for (int which = 0; which < 2; which++) {
    double value[6], change[6] = {0.0};

    // a disk or a corner on a box, apart at rest
    for (int level = 0; level < 6; level++) {
      double edge = 0.2 / (1 << level);
      memset(&curves, 0, sizeof curves);
      add_polygon(&curves, box, 4, edge);
      int32_t n_first = curves.n_vert;
      if (which == 0) {
        add_ring(&curves, NULL, 0.05, 0.3, 1.0, (int32_t)(6.2831853 / edge), 0.0);
      } else {
        add_polygon(&curves, diamond, 4, edge);
      }
      rest = curves;
      move(&rest, n_first, 0.0, 5.0);

      // the value
      NoliGcpDef def = noli_default_gcp_def();
      NoliGcpPotential* potential = NULL;
      def.eps_target = 1.0;
      def.alpha = 0.8;
      def.length = 0.25; // of corners
      ASSERT_OK(noli_gcp_potential_create_plane(context, &def, rest.x, rest.n_vert, rest.edge,
                                                rest.n_vert, &potential));
      ASSERT_OK(noli_gcp_potential_update(potential, curves.x));
      value[level] = noli_gcp_potential_value(potential);
      change[level] = level > 0 ? fabs(value[level] - value[level - 1]) : 0.0;
      print_message("%s, edges of %.4f m: %.5e\n", which == 0 ? "disk on box" : "corner on box",
                    edge, value[level]);
      noli_gcp_potential_destroy(&potential);
    }

    // changes decrease
    assert_true(value[5] > 0.0);
    assert_true(change[5] < 0.7 * change[4] && change[4] < 0.7 * change[3]);
    ASSERT_AT_MOST(change[5], 0.05 * value[5]);
  }
  test_context_done(&context);
}

// ---- input --------------------------------------------------------------------------------------

static void curves_must_be_closed(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliGcpDef def = noli_default_gcp_def();
  def.eps_target = 0.1;

  // open, reversed, branching, not planar
  for (int k = 0; k < 4; k++) {
    Curves* curves = calloc(1, sizeof *curves);
    NoliGcpPotential* potential = NULL;
    add_ring(curves, NULL, 0.0, 0.0, 1.0, 8, 0.0);
    int32_t n_edge = 8;
    const char* text = "no part of one closed curve";
    if (k == 0) {
      n_edge = 7;
    } else if (k == 1) {
      curves->edge[6] = 4;
      curves->edge[7] = 3;
    } else if (k == 2) {
      curves->edge[2 * 8] = 0;
      curves->edge[2 * 8 + 1] = 4;
      n_edge = 9;
    } else {
      curves->x[5] = 1e-9;
      text = "beside the plane";
    }

    // all are refused
    ASSERT_STATUS(noli_gcp_potential_create_plane(context, &def, curves->x, 8, curves->edge, n_edge,
                                                  &potential),
                  NOLI_ERROR_ARGUMENT);
    assert_non_null(strstr(noli_context_message(context), text));
    assert_null(potential);
    free(curves);
  }
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_agree_with_differences),
      cmocka_unit_test(nothing_acts_at_rest),
      cmocka_unit_test(the_value_grows_without_bound),
      cmocka_unit_test(the_value_converges),
      cmocka_unit_test(curves_must_be_closed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
