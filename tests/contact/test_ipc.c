#include "contact_cases.h"

#include "contact/barrier.h"
#include "contact/stencil_hessian.h"
#include "math/eigen.h"

#define DHAT 0.1

static void derivatives_agree_with_differences(void** state) {
  (void)state;
  TestRandom random = {11};
  const double share[] = {1e-2, 0.1, 0.5, 0.9, 0.999};
  for (int which = 0; which < CASES; which++) {
    for (int i = 0; i < 5; i++) {
      for (int n = 0; n < 5; n++) {
        Case made;
        // outside the zone (sin^2 >= 1e-3) and inside it
        double angle = which == CASE_EDGE_EDGE ? (n == 0 ? 0.0317 : 0.2 + 0.3 * n) : 0.012;
        // also of pairs with a contact distance of their own
        double range = n < 3 ? 1.0 : n == 3 ? 0.4 : 1.7, dhat = range * DHAT;
        case_make(which, &random, share[i] * dhat, angle, &made);
        made.contact.range = range;
        case_set(&made);
        NoliBarrier barrier = {&made.set, NULL, DHAT * DHAT, 1e3};
        NoliEnergyTerm term = noli_barrier_term(&barrier);
        double scale = fmin(share[i] * dhat, (1.0 - share[i]) * dhat);
        test_derivatives(case_evaluate, &term, 12, made.x, scale, 1e-5, 1e-4);
      }
    }
  }
}

// The mollified cases are as named: the distance depends on 2, 3 and 4 nodes.
static void mollified_cases_have_their_feature(void** state) {
  (void)state;
  TestRandom random = {20};
  for (int n = 0; n < 50; n++) {
    for (int which = CASE_PARALLEL_POINT_POINT; which < CASES; which++) {
      Case made;
      case_make(which, &random, 0.3 * DHAT, 0.012, &made);
      double mollifier;
      NoliClosest closest = noli_contact_closest(&made.contact, made.x, &mollifier);
      int used = 0;
      for (int i = 0; i < 4; i++) {
        used += closest.weight[i] != 0.0;
      }
      assert_int_equal(used, which - CASE_PARALLEL_POINT_POINT + 2);
      assert_true(mollifier > 0.0 && mollifier < 1.0);
      ASSERT_NEAR(sqrt(closest.d_sqr), 0.3 * DHAT, 1e-5 * DHAT);
    }
  }
}

// The formula of collide/closest.h as written: the slow reference of the small matrix.
static void plain_hessian_by_formula(const NoliClosest* c, const NoliVec3 y[4], int32_t size,
                                     double first, double second, double full[144]) {
  double r[3] = {c->r.x, c->r.y, c->r.z}, s[2][3] = {{0.0}}, B[2][12];
  for (int k = 0; k < c->n_dir; k++) {
    for (int32_t i = 0; i < size; i++) {
      const double p[3] = {y[i].x, y[i].y, y[i].z};
      for (int a = 0; a < 3; a++) {
        s[k][a] += c->dir[k][i] * p[a];
      }
    }
  }
  double C[2][2], I[2][2] = {{0.0}};
  for (int k = 0; k < 2; k++) {
    for (int l = 0; l < 2; l++) {
      C[k][l] = s[k][0] * s[l][0] + s[k][1] * s[l][1] + s[k][2] * s[l][2];
    }
    for (int a = 0; a < 12; a++) {
      B[k][a] = a < 3 * size ? c->dir[k][a / 3] * r[a % 3] + c->weight[a / 3] * s[k][a % 3] : 0.0;
    }
  }
  if (c->n_dir == 1) {
    I[0][0] = 1.0 / C[0][0];
  } else if (c->n_dir == 2) {
    double det = C[0][0] * C[1][1] - C[0][1] * C[1][0];
    I[0][0] = C[1][1] / det, I[1][1] = C[0][0] / det, I[0][1] = I[1][0] = -C[0][1] / det;
  }
  for (int a = 0; a < 12; a++) {
    for (int b = 0; b < 12; b++) {
      double wa = a < 3 * size ? c->weight[a / 3] : 0.0, wb = b < 3 * size ? c->weight[b / 3] : 0.0;
      double h = 4.0 * second * wa * r[a % 3] * wb * r[b % 3];
      h += a % 3 == b % 3 ? 2.0 * first * wa * wb : 0.0;
      for (int k = 0; k < 2; k++) {
        for (int l = 0; l < 2; l++) {
          h -= 2.0 * first * B[k][a] * I[k][l] * B[l][b];
        }
      }
      full[12 * a + b] = h;
    }
  }
}

static void assert_same_matrix(const double* got, const double* want, double tol) {
  double largest = 0.0, error = 0.0;
  for (int i = 0; i < 144; i++) {
    largest = noli_larger(largest, fabs(want[i]));
    error = !(fabs(got[i] - want[i]) <= error) ? fabs(got[i] - want[i]) : error;
  }
  assert_true(largest > 0.0);
  ASSERT_AT_MOST(error, tol * largest);
}

static void plain_hessian_equals_the_formula(void** state) {
  (void)state;
  TestRandom random = {12};
  for (int which = 0; which <= CASE_EDGE_EDGE; which++) {
    for (int n = 0; n < 200; n++) {
      Case made;
      case_make(which, &random, DHAT * pow(10.0, test_random(&random, -4.0, -0.01)), 0.4, &made);
      NoliVec3 y[4];
      int32_t size = noli_pair_size[made.contact.kind];
      for (int i = 0; i < size; i++) {
        y[i] = noli_load3(made.x + 3 * i);
      }
      NoliClosest closest = noli_closest(made.contact.kind, y);
      double first = noli_barrier_first(closest.d_sqr, DHAT * DHAT);
      double second = noli_barrier_second(closest.d_sqr, DHAT * DHAT);
      double blocks[90], got[144], want[144];
      noli_stencil_hessian(&closest, size, y, first, second, false, blocks);
      case_full(blocks, got);
      plain_hessian_by_formula(&closest, y, size, first, second, want);
      assert_same_matrix(got, want, 1e-10);
    }
  }
}

// The claim of stencil_hessian.h: clamping the small matrix is clamping all twelve eigenvalues.
static void projection_equals_that_of_the_full_matrix(void** state) {
  (void)state;
  TestRandom random = {13};
  double worst = 0.0;
  for (int which = 0; which < CASES; which++) {
    for (int n = 0; n < 300; n++) {

      // a random contact
      Case made;
      double angle = which == CASE_EDGE_EDGE ? test_random(&random, 0.032, 1.5)
                                             : test_random(&random, 1e-4, 0.03);
      double d = DHAT * (n % 3 == 0   ? pow(10.0, test_random(&random, -5.0, 0.0))
                         : n % 3 == 1 ? test_random(&random, 0.1, 1.0)
                                      : 1.0 - pow(10.0, test_random(&random, -6.0, -1.0)));
      case_make(which, &random, d, angle, &made);
      case_set(&made);
      NoliBarrier barrier = {&made.set, NULL, DHAT * DHAT, 7.0};
      NoliEnergyTerm term = noli_barrier_term(&barrier);

      // projected by 12 eigenvalues and by the small matrix
      double blocks[90], got[144], want[144], value[12], vector[144];
      NoliLocal local = {.hessian = blocks};
      term.evaluate(&barrier, made.x, 0, 1, NOLI_EVAL_HESSIAN, &local);
      case_full(blocks, want);
      noli_project_psd(12, want);
      term.evaluate(&barrier, made.x, 0, 1, NOLI_EVAL_PROJECTED, &local);
      case_full(blocks, got);

      // compare
      double largest = 0.0;
      for (int i = 0; i < 144; i++) {
        largest = noli_larger(largest, fabs(want[i]));
      }
      for (int i = 0; i < 144; i++) {
        worst = noli_larger(worst, fabs(got[i] - want[i]) / largest);
      }
      assert_same_matrix(got, want, 1e-9);
      noli_eigen_symmetric(12, got, value, vector);
      ASSERT_AT_LEAST(value[0], -1e-13 * largest * 12.0);
    }
  }
  print_message("projected against all twelve eigenvalues: largest relative error %.2g\n", worst);
}

// Distances depend on relative positions only: no resultant force and no torque.
static void momentum_is_conserved(void** state) {
  (void)state;
  TestRandom random = {14};
  for (int which = 0; which < CASES; which++) {
    for (int n = 0; n < 20; n++) {
      Case made;
      case_make(which, &random, DHAT * test_random(&random, 0.05, 0.9),
                which == CASE_EDGE_EDGE ? 0.5 : 0.012, &made);
      case_set(&made);
      NoliBarrier barrier = {&made.set, NULL, DHAT * DHAT, 1e4};
      NoliEnergyTerm term = noli_barrier_term(&barrier);
      double gradient[12];
      case_evaluate(&term, made.x, gradient, NULL);
      NoliVec3 sum = {0.0, 0.0, 0.0}, torque = {0.0, 0.0, 0.0};
      double largest = 0.0;
      for (int i = 0; i < 4; i++) {
        NoliVec3 g = noli_load3(gradient + 3 * i);
        sum = noli_add3(sum, g);
        torque = noli_add3(torque, noli_cross3(noli_load3(made.x + 3 * i), g));
        largest = noli_larger(largest, noli_norm3(g));
      }
      assert_true(largest > 0.0);
      ASSERT_AT_MOST(noli_norm3(sum), 1e-12 * largest);
      ASSERT_AT_MOST(noli_norm3(torque), 1e-10 * largest);
    }
  }
}

static void forces_are_minus_the_gradient_and_lambda_their_size(void** state) {
  (void)state;
  TestRandom random = {15};
  NoliContext* context = test_context(1);
  for (int which = 0; which < CASES; which++) {

    // energy, forces and resultants
    Case made;
    case_make(which, &random, 0.4 * DHAT, which == CASE_EDGE_EDGE ? 0.5 : 0.012, &made);
    case_set(&made);
    NoliBarrier barrier = {&made.set, NULL, DHAT * DHAT, 1e4};
    NoliEnergyTerm term = noli_barrier_term(&barrier);
    double scale = 0.25, gradient[12], force[12] = {0.0};
    case_evaluate(&term, made.x, gradient, NULL);
    noli_contact_forces(&barrier, made.x, scale, force);
    NoliPairForces pairs = {0};
    ASSERT_OK(noli_contact_pair_forces(&barrier, context, made.x, scale, &pairs));
    double lambda = case_normal_force(&barrier, made.x) / scale;

    // on vertices
    double largest = 0.0;
    for (int i = 0; i < 12; i++) {
      ASSERT_NEAR(force[i], -gradient[i] / scale, 1e-12 * fabs(gradient[i]));
      largest = noli_larger(largest, fabs(force[i]));
    }

    // the mollifier's own part is a couple on each edge: the resultant is lambda along the normal
    assert_int_equal(pairs.pair.count, 1);
    const NoliPairForce* pair = &pairs.pair.data[0];
    assert_int_equal(pair->contacts, 1);
    ASSERT_NEAR(pair->min_distance, 0.4 * DHAT, 1e-6);
    ASSERT_NEAR(noli_norm3(noli_load3(pair->normal)), lambda, 1e-9 * largest);
    assert_true(lambda > 0.0);

    // it pushes the first side away from the second
    double mollifier;
    NoliClosest closest = noli_contact_closest(&made.contact, made.x, &mollifier);
    double side =
        closest.weight[0] + (made.contact.kind == NOLI_PAIR_EDGE_EDGE ? closest.weight[1] : 0.0);
    assert_true(side * noli_dot3(closest.r, noli_load3(pair->normal)) > 0.0);
    noli_pair_forces_free(context, &pairs);
  }
  test_context_done(&context);
}

static void touching_is_infinite_and_never_hidden(void** state) {
  (void)state;
  TestRandom random = {16};
  Case made;
  case_make(CASE_POINT_POINT, &random, 0.5 * DHAT, 0.0, &made);
  case_set(&made);
  memcpy(made.x + 3, made.x, 3 * sizeof(double));
  NoliBarrier barrier = {&made.set, NULL, DHAT * DHAT, 1.0};
  NoliEnergyTerm term = noli_barrier_term(&barrier);
  double gradient[12], hessian[144];
  assert_true(isinf(case_evaluate(&term, made.x, gradient, hessian)));
  assert_true(isnan(gradient[0]) && isnan(hessian[0]));
  // parallel edges that cross: the mollifier is 0 there, but the energy is infinite
  case_make(CASE_PARALLEL_POINT_EDGE, &random, 0.5 * DHAT, 0.0, &made);
  case_set(&made);
  memcpy(made.x + 6, made.x, 6 * sizeof(double));
  term = noli_barrier_term(&barrier);
  assert_true(isinf(case_evaluate(&term, made.x, gradient, hessian)));
  assert_true(isnan(gradient[0]) && isnan(hessian[0]));
}

// Beyond dhat energy and forces are zero.
static void far_contacts_are_exactly_zero(void** state) {
  (void)state;
  TestRandom random = {17};
  for (int which = 0; which < CASES; which++) {
    Case made;
    case_make(which, &random, 1.01 * DHAT, which == CASE_EDGE_EDGE ? 0.5 : 0.01, &made);
    case_set(&made);
    NoliBarrier barrier = {&made.set, NULL, DHAT * DHAT, 1.0};
    NoliEnergyTerm term = noli_barrier_term(&barrier);
    double gradient[12], hessian[144];
    assert_true(case_evaluate(&term, made.x, gradient, hessian) == 0.0);
    for (int i = 0; i < 144; i++) {
      assert_true(hessian[i] == 0.0 && gradient[i % 12] == 0.0);
    }
  }
}

static void half_space_derivatives_and_limits(void** state) {
  (void)state;
  TestRandom random = {18};
  for (int n = 0; n < 50; n++) {

    // a vertex above a random half-space
    NoliVec3 f[3];
    case_frame(&random, f);
    NoliHalfSpace plane = {case_random3(&random, 1.0), f[2]};
    double share = n % 5 == 0 ? 1e-3 : test_random(&random, 0.1, 0.9), d = share * DHAT;
    double x[3];
    noli_store3(x, noli_add3(plane.origin, case_at(f, 0.3, -0.2, d)));
    NoliHalfSpaceContact contact = {
        .node = 0, .plane = 0, .entity = {0, 1}, .range = 1.0, .gap = d};
    NoliContactSet set;
    noli_contact_set_init(&set);
    int32_t node = 0;
    set.plane.data = &contact;
    set.plane.count = 1;
    set.plane_node.data = &node;

    // derivatives
    NoliBarrier barrier = {&set, &plane, DHAT * DHAT, 1e3};
    NoliEnergyTerm term = noli_half_space_barrier_term(&barrier);
    test_derivatives(case_evaluate_plane, &term, 3, x, fmin(d, DHAT - d), 1e-5, 1e-5);
    ASSERT_NEAR(noli_barrier_energy(&barrier, x, 1), case_evaluate_plane(&term, x, NULL, NULL),
                0.0);

    // the force is lambda n
    double force[3] = {0.0};
    noli_contact_forces(&barrier, x, 2.0, force);
    double gap = noli_dot3(noli_sub3(noli_load3(x), plane.origin), plane.normal);
    double lambda = noli_contact_normal_force(&barrier, 1.0, 1.0, gap * gap) / 2.0;
    ASSERT_NEAR(noli_dot3(noli_load3(force), plane.normal), lambda, 1e-12 * lambda);

    // on and below the plane
    noli_store3(x, noli_add3(plane.origin, case_at(f, 0.0, 0.0, -0.5 * DHAT)));
    double gradient[3], hessian[9];
    assert_true(isinf(case_evaluate_plane(&term, x, gradient, hessian)));
    assert_true(isnan(gradient[0]) && isnan(hessian[0]));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_agree_with_differences),
      cmocka_unit_test(mollified_cases_have_their_feature),
      cmocka_unit_test(plain_hessian_equals_the_formula),
      cmocka_unit_test(projection_equals_that_of_the_full_matrix),
      cmocka_unit_test(momentum_is_conserved),
      cmocka_unit_test(forces_are_minus_the_gradient_and_lambda_their_size),
      cmocka_unit_test(touching_is_infinite_and_never_hidden),
      cmocka_unit_test(far_contacts_are_exactly_zero),
      cmocka_unit_test(half_space_derivatives_and_limits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
