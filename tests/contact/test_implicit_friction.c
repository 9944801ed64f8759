#include "contact_cases.h"

#include "contact/friction/friction.h"
#include "contact/friction/implicit_friction.h"

#define DHAT 0.1
#define KAPPA 2e3
#define EPS 1e-3 // m, with h_v = 0.5 s

// Entities: two bodies and a half-space. Between the bodies the static coefficient is higher.
static const NoliFrictionLaw coulomb = {0.4, 0.4, 0.02, 0.0};
static const NoliFrictionLaw stribeck = {0.3, 0.8, 0.02, 0.7};

typedef struct Setup {
  Case made;
  double x_hat[12];
  NoliFrictionLaw law;
  NoliContactPairs pairs;
  NoliBarrier barrier;
  NoliImplicitFriction friction;
  NoliForceTerm term;
} Setup;

static void use_law(Setup* setup, const NoliFrictionLaw* law) {
  setup->law = *law;
  setup->pairs = (NoliContactPairs){.n_body = 2, .law = &setup->law};
  setup->friction = (NoliImplicitFriction){.barrier = &setup->barrier,
                                           .pairs = &setup->pairs,
                                           .x_hat = setup->x_hat,
                                           .eps_v = EPS / 0.5,
                                           .h_v = 0.5,
                                           .basis_derivatives = true};
}

// A contact at distance d whose nodes have come from x_hat: the first side has slid by `slide`
// along a tangent, and all nodes have moved at random by `wander`.
static void set_up(Setup* setup, int which, TestRandom* random, const NoliFrictionLaw* law,
                   double d, double slide, double wander) {
  Case* made = &setup->made;
  case_make(which, random, d, which == CASE_EDGE_EDGE ? test_random(random, 0.1, 1.4) : 0.012,
            made);
  case_set(made);
  setup->barrier = (NoliBarrier){&made->set, NULL, DHAT * DHAT, KAPPA};
  use_law(setup, law);
  double mollifier;
  NoliClosest closest = noli_contact_closest(&made->contact, made->x, &mollifier);
  NoliVec3 n = noli_normalize3(closest.r);
  NoliVec3 t = noli_normalize3(noli_cross3(n, case_random3(random, 1.0)));
  for (int i = 0; i < 4; i++) {
    NoliVec3 moved = case_random3(random, wander);
    moved = i < noli_contact_first_side(&made->contact) ? noli_mul_add3(moved, slide, t) : moved;
    noli_store3(setup->x_hat + 3 * i, noli_sub3(noli_load3(made->x + 3 * i), moved));
  }
  setup->term = noli_implicit_friction_term(&setup->friction);
}

// Largest error of the Jacobian against central differences over the largest entry, for the best
// difference step.
static double jacobian_error(const NoliForceTerm* term, const double* x, double scale,
                             double* largest) {
  int32_t n = 3 * term->size;
  double jacobian[144], best = (double)INFINITY;
  term->evaluate(term->data, x, 0, NULL, jacobian);
  *largest = 0.0;
  for (int k = 0; k < n * n; k++) {
    *largest = noli_larger(*largest, fabs(jacobian[k]));
  }
  for (double h = scale * 1e-2; h > scale * 1e-8; h *= 0.2) {
    double error = 0.0;
    for (int j = 0; j < n; j++) {
      double y[12], plus[12], minus[12];
      memcpy(y, x, sizeof(double) * (size_t)n);
      y[j] = x[j] + h;
      term->evaluate(term->data, y, 0, plus, NULL);
      y[j] = x[j] - h;
      term->evaluate(term->data, y, 0, minus, NULL);
      for (int i = 0; i < n; i++) {
        double got = jacobian[9 * (i / 3 * term->size + j / 3) + 3 * (i % 3) + j % 3];
        double off = fabs((plus[i] - minus[i]) / (2.0 * h) - got);
        error = !(off <= error) ? off : error;
      }
    }
    best = fmin(best, error);
  }
  return best / *largest;
}

static void jacobian_agrees_with_differences(void** state) {
  (void)state;
  TestRandom random = {171};
  // the law bends at 0 and at EPS: next to both the differences must stay on one side
  const double share[] = {0.0, 1e-3, 0.1, 0.5, 0.9, 1.1, 3.0, 30.0};
  double worst = 0.0;
  for (int which = 0; which < CASES; which++) {
    for (int i = 0; i < 8; i++) {
      for (int n = 0; n < 12; n++) {
        Setup setup;
        double d = DHAT * (n % 3 == 0 ? 1e-3 : test_random(&random, 0.1, 0.9));
        double wander = n % 2 == 0 ? 0.0 : 0.02 * share[i] * EPS;
        // bodies with offsets, too: the barrier acts on the gap, the basis is that of the distance
        double offset = n % 5 == 4 ? 0.7 * DHAT : 0.0;
        set_up(&setup, which, &random, n % 4 < 2 ? &coulomb : &stribeck, d + offset, share[i] * EPS,
               wander);
        setup.made.contact.offset = offset;
        double largest, scale = fmin(d, fmax(share[i], 0.05) * EPS);
        // at rest the force is only differentiable once: differences have first order errors
        double tol = share[i] < 1e-2 ? 2e-3 : 2e-5;
        double error = jacobian_error(&setup.term, setup.made.x, scale, &largest);
        ASSERT_AT_LEAST(largest, 1e-3);
        ASSERT_AT_MOST(error, tol);
        worst = share[i] < 1e-2 ? worst : noli_larger(worst, error);
      }
    }
  }
  print_message("Jacobians against differences: largest relative error %.2g\n", worst);
}

// Nodes that have moved far and along different paths: the derivatives of weights and normal then
// matter.
static void basis_derivatives_matter_and_are_right(void** state) {
  (void)state;
  TestRandom random = {172};
  for (int which = 0; which < CASES; which++) {
    double with = 0.0, without = 0.0;
    for (int n = 0; n < 30; n++) {
      Setup setup;
      double largest, d = DHAT * test_random(&random, 0.2, 0.8);
      set_up(&setup, which, &random, n % 2 == 0 ? &coulomb : &stribeck, d, 5.0 * EPS, 0.5 * d);
      with = noli_larger(with, jacobian_error(&setup.term, setup.made.x, EPS, &largest));
      setup.friction.basis_derivatives = false;
      without = noli_larger(without, jacobian_error(&setup.term, setup.made.x, EPS, &largest));
    }
    print_message("case %d: error %.2g with the basis term, %.2g without\n", which, with, without);
    ASSERT_AT_MOST(with, 1e-4);
    ASSERT_AT_LEAST(without, 1e-2);
  }
}

// The closest point next to a corner or an edge of its triangle or edge, and edges that are nearly
// parallel outside the mollifier's zone.
static void degenerate_contacts(void** state) {
  (void)state;
  TestRandom random = {173};
  for (int n = 0; n < 60; n++) {
    NoliVec3 f[3], y[4];
    Setup setup;
    bool edges = n % 2 == 1;
    double d = 0.3 * DHAT, near = pow(10.0, test_random(&random, -9.0, -3.0)), largest;
    set_up(&setup, edges ? CASE_EDGE_EDGE : CASE_POINT_TRIANGLE, &random, &stribeck, d, 0.0, 0.0);
    case_frame(&random, f);
    if (edges) {
      double a = 0.033;
      y[0] = case_at(f, -near, 0.0, d), y[1] = case_at(f, 1.0, 0.0, d);
      y[2] = case_at(f, -0.5 * cos(a), -0.5 * sin(a), 0.0);
      y[3] = case_at(f, 0.5 * cos(a), 0.5 * sin(a), 0.0);
    } else {
      y[0] = case_at(f, near, 0.3 * near, d), y[1] = case_at(f, 0.0, 0.0, 0.0);
      y[2] = case_at(f, 1.0, 0.0, 0.0), y[3] = case_at(f, 0.2, n % 4 == 0 ? 0.8 : 1e-3, 0.0);
    }
    for (int i = 0; i < 4; i++) {
      noli_store3(setup.made.x + 3 * i, y[i]);
      noli_store3(setup.x_hat + 3 * i, noli_add3(y[i], case_random3(&random, 2.0 * EPS)));
    }
    double scale = n % 4 == 0 ? EPS : 1e-3 * EPS;
    ASSERT_AT_MOST(jacobian_error(&setup.term, setup.made.x, scale, &largest), 2e-4);
    assert_true(isfinite(largest) && largest > 0.0);
  }
}

static void half_space_jacobian_agrees(void** state) {
  (void)state;
  TestRandom random = {174};
  for (int n = 0; n < 80; n++) {

    // a vertex above a random half-space
    NoliVec3 f[3];
    case_frame(&random, f);
    NoliHalfSpace plane = {case_random3(&random, 1.0), f[2]};
    NoliHalfSpaceContact contact = {.node = 0, .plane = 0, .entity = {0, 2}, .range = 1.0};
    NoliContactSet set;
    noli_contact_set_init(&set);
    int32_t node = 0;
    set.plane.data = &contact, set.plane.count = 1, set.plane_node.data = &node;
    Setup setup;
    setup.barrier = (NoliBarrier){&set, &plane, DHAT * DHAT, KAPPA};
    use_law(&setup, n % 2 == 0 ? &coulomb : &stribeck);

    // its distance and its displacement
    const double share[] = {0.0, 0.3, 0.9, 2.0, 40.0};
    double d = DHAT * test_random(&random, 0.01, 0.9), slide = share[n % 5] * EPS, largest;
    double angle = test_random(&random, 0.0, 6.0), x[3];
    NoliVec3 p = noli_add3(plane.origin, case_at(f, 0.3, -0.4, d));
    noli_store3(x, p);
    // displacement along the normal does not count
    noli_store3(setup.x_hat,
                noli_sub3(p, case_at(f, slide * cos(angle), slide * sin(angle), 0.3 * d)));

    // Jacobian
    NoliForceTerm term = noli_implicit_plane_friction_term(&setup.friction);
    double error = jacobian_error(&term, x, fmin(d, fmax(0.05 * EPS, slide)), &largest);
    ASSERT_AT_MOST(error, n % 5 == 0 ? 2e-3 : 2e-5);

    // the force opposes sliding with the magnitude of the law
    double force[3] = {0.0};
    noli_implicit_friction_forces(&setup.friction, x, 2.0, force);
    double lambda = noli_contact_normal_force(&setup.barrier, 1.0, 1.0, d * d);
    NoliSlidingLaw law = noli_sliding_law(&setup.law, EPS / 0.5, 0.5);
    double want = noli_sliding_over_y(&law, slide, lambda) * slide / 2.0;
    ASSERT_NEAR(noli_norm3(noli_load3(force)), want, 1e-9 * lambda);
    NoliVec3 along = case_at(f, cos(angle), sin(angle), 0.0);
    ASSERT_NEAR(noli_dot3(noli_load3(force), along), -want, 1e-9 * lambda);
  }
}

// If weights, normal and force belong to the same x, lagged friction gives the same force.
static void force_is_that_of_lagged_friction_at_the_same_x(void** state) {
  (void)state;
  TestRandom random = {175};
  NoliContext* context = test_context(1);
  for (int which = 0; which < CASES; which++) {
    for (int n = 0; n < 20; n++) {
      Setup setup;
      set_up(&setup, which, &random, n % 2 == 0 ? &coulomb : &stribeck,
             DHAT * test_random(&random, 0.1, 0.9), EPS * test_random(&random, 0.0, 3.0),
             0.1 * EPS);

      // lagged friction of the same positions
      NoliFrictionSet set;
      noli_friction_set_init(&set);
      ASSERT_OK(noli_friction_set_build(&set, context, &setup.made.set, NULL, &setup.pairs,
                                        setup.made.x, KAPPA, DHAT));
      NoliFriction lagged = {&set, setup.x_hat, EPS / 0.5, 0.5, NULL};
      double want[12] = {0.0}, got[12] = {0.0}, size = 0.0;
      noli_friction_forces(&lagged, setup.made.x, 0.3, want);
      noli_implicit_friction_forces(&setup.friction, setup.made.x, 0.3, got);

      // forces on vertices
      for (int i = 0; i < 12; i++) {
        size = noli_larger(size, fabs(want[i]));
      }
      ASSERT_AT_LEAST(size, 1e-6);
      for (int i = 0; i < 12; i++) {
        ASSERT_NEAR(got[i], want[i], 1e-11 * size);
      }

      // resultants
      NoliPairForces by_lagged = {0}, implicit = {0};
      ASSERT_OK(noli_friction_pair_forces(&lagged, context, setup.made.x, 0.3, &by_lagged));
      ASSERT_OK(noli_implicit_friction_pair_forces(&setup.friction, context, setup.made.x, 0.3,
                                                   &implicit));
      assert_int_equal(implicit.pair.count, 1);
      for (int i = 0; i < 3; i++) {
        ASSERT_NEAR(implicit.pair.data[0].friction[i], by_lagged.pair.data[0].friction[i],
                    1e-11 * size);
      }
      noli_pair_forces_free(context, &by_lagged);
      noli_pair_forces_free(context, &implicit);
      noli_friction_set_free(context, &set);
    }
  }
  test_context_done(&context);
}

// Action and reaction: no resultant force, no work done on rigid translations.
static void momentum_is_conserved(void** state) {
  (void)state;
  TestRandom random = {176};
  for (int which = 0; which < CASES; which++) {
    for (int n = 0; n < 30; n++) {
      Setup setup;
      set_up(&setup, which, &random, &stribeck, DHAT * test_random(&random, 0.05, 0.9),
             EPS * test_random(&random, 0.0, 3.0), 0.1 * EPS);

      // evaluate
      double residual[12], jacobian[144], largest = 0.0, entry = 0.0;
      setup.term.evaluate(setup.term.data, setup.made.x, 0, residual, jacobian);
      for (int i = 0; i < 144; i++) {
        entry = noli_larger(entry, fabs(jacobian[i]));
        largest = noli_larger(largest, fabs(residual[i % 12]));
      }

      // sums over nodes
      for (int c = 0; c < 3; c++) {
        ASSERT_NEAR(residual[c] + residual[3 + c] + residual[6 + c] + residual[9 + c], 0.0,
                    1e-12 * largest);
        // columns: every column of the Jacobian sums to zero over the nodes on which the force acts
        for (int j = 0; j < 4; j++) {
          for (int k = 0; k < 3; k++) {
            double sum = 0.0;
            for (int i = 0; i < 4; i++) {
              sum += jacobian[9 * (4 * i + j) + 3 * c + k];
            }
            ASSERT_NEAR(sum, 0.0, 1e-11 * entry);
          }
        }
      }
    }
  }
}

static void pairs_without_friction_feel_nothing(void** state) {
  (void)state;
  TestRandom random = {177};
  const NoliFrictionLaw none = {0.0, 0.0, 0.02, 0.0};
  Setup setup;
  set_up(&setup, CASE_POINT_TRIANGLE, &random, &none, 0.3 * DHAT, 3.0 * EPS, 0.0);
  double residual[12], jacobian[144];
  setup.term.evaluate(setup.term.data, setup.made.x, 0, residual, jacobian);
  for (int i = 0; i < 144; i++) {
    assert_true(jacobian[i] == 0.0 && residual[i % 12] == 0.0);
  }
  setup.friction.pairs = NULL;
  setup.term.evaluate(setup.term.data, setup.made.x, 0, residual, jacobian);
  assert_true(residual[0] == 0.0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(jacobian_agrees_with_differences),
      cmocka_unit_test(basis_derivatives_matter_and_are_right),
      cmocka_unit_test(degenerate_contacts),
      cmocka_unit_test(half_space_jacobian_agrees),
      cmocka_unit_test(force_is_that_of_lagged_friction_at_the_same_x),
      cmocka_unit_test(momentum_is_conserved),
      cmocka_unit_test(pairs_without_friction_feel_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
