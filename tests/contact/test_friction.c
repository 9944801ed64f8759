#include "contact_cases.h"

#include "contact/friction.h"

#define DHAT 0.1
#define KAPPA 2e3
#define MU 0.4

static const double friction_table[9] = {0.0, MU, MU, MU, 0.0, 0.0, MU, 0.0, 0.0};
static const NoliContactPairs friction_pairs = {
    .n_entity = 3, .n_body = 2, .friction = friction_table};

static double evaluate(void* user, const double* x, double* gradient, double* hessian) {
  const NoliEnergyTerm* term = user;
  double energy, blocks[90];
  NoliLocal local = {.energy = &energy, .gradient = gradient, .hessian = blocks};
  unsigned what = NOLI_EVAL_ENERGY | (gradient != NULL ? NOLI_EVAL_GRADIENT : 0u) |
                  (hessian != NULL ? NOLI_EVAL_PROJECTED : 0u);
  term->evaluate(term->data, x, 0, 1, what, &local);
  if (hessian != NULL) {
    case_full(blocks, hessian);
  }
  return energy;
}

static void case_friction(NoliContext* context, int which, TestRandom* random, Case* made,
                          NoliFrictionSet* set) {
  case_make(which, random, 0.4 * DHAT, which == CASE_EDGE_EDGE ? 0.5 : 0.012, made);
  case_set(made);
  noli_friction_set_init(set);
  ASSERT_OK(noli_friction_set_build(set, context, &made->set, NULL, &friction_pairs, made->x, KAPPA,
                                    DHAT));
  assert_int_equal(set->contact.count, 1);
}

// Moves the first primitive by `slide` (in the basis t) and `off` along the normal.
static void displace(const Case* made, const NoliFrictionContact* contact, const double slide[2],
                     double off, double x[12]) {
  NoliVec3 n = noli_cross3(contact->t[0], contact->t[1]);
  NoliVec3 move = noli_add3(noli_scale3(off, n), noli_add3(noli_scale3(slide[0], contact->t[0]),
                                                           noli_scale3(slide[1], contact->t[1])));
  memcpy(x, made->x, sizeof made->x);
  for (int i = 0; i < contact->n_first; i++) {
    noli_store3(x + 3 * i, noli_add3(noli_load3(x + 3 * i), move));
  }
}

static void curves_fit_together(void** state) {
  (void)state;
  double eps = 1e-3;
  ASSERT_NEAR(noli_friction_f0(eps, eps), eps, 1e-18);
  ASSERT_NEAR(noli_friction_f0(eps * (1.0 - 1e-9), eps), eps * (1.0 - 1e-9), 1e-18);
  ASSERT_NEAR(noli_friction_f1_over_y(0.0, eps), 2.0 / eps, 0.0);
  ASSERT_NEAR(noli_friction_f1_over_y(eps, eps) * eps, 1.0, 1e-15);
  ASSERT_NEAR(noli_friction_f1_slope(0.0, eps), 2.0 / eps, 0.0);
  for (double y = 1e-5; y < 3e-3; y *= 1.3) {
    double h = 1e-4 * y;
    double slope = (noli_friction_f0(y + h, eps) - noli_friction_f0(y - h, eps)) / (2.0 * h);
    ASSERT_NEAR(slope, noli_friction_f1_over_y(y, eps) * y, 1e-6);
    assert_true(noli_friction_f1_over_y(y, eps) * y <= 1.0 + 1e-15);
  }
}

static void derivatives_agree_with_differences(void** state) {
  (void)state;
  TestRandom random = {71};
  NoliContext* context = test_context(1);
  const double share[] = {0.0, 1e-6, 0.1, 0.9, 0.999, 1.01, 30.0};
  double eps = 1e-3;
  for (int which = 0; which < CASES; which++) {
    for (int i = 0; i < 7; i++) {
      Case made;
      NoliFrictionSet set;
      case_friction(context, which, &random, &made, &set);
      double angle = test_random(&random, 0.0, 6.0), x[12], x_hat[12];
      double slide[2] = {share[i] * eps * cos(angle), share[i] * eps * sin(angle)};
      memcpy(x_hat, made.x, sizeof x_hat);
      displace(&made, &set.contact.data[0], slide, 0.3 * eps, x);
      NoliFriction friction = {&set, x_hat, eps, false};
      NoliEnergyTerm term = noli_friction_term(&friction);
      // the third derivative jumps at u = 0 and at eps: errors of first order in the step there
      double scale = fmax(share[i] * eps, 1e-2 * eps);
      if (share[i] > 0.5 && share[i] < 2.0) {
        scale = 1e-2 * eps;
      }
      // next to u = 0 the gradient vanishes: it is small, and the Hessian is what can be checked
      bool still = share[i] < 1e-3;
      if (still) {
        double gradient[12];
        evaluate(&term, x, gradient, NULL);
        ASSERT_AT_MOST(fabs(gradient[0]), 3.0 * share[i] * set.contact.data[0].mu_lambda + 1e-12);
      }
      test_derivatives(evaluate, &term, 12, x, scale, still ? 1e9 : 1e-4, 2e-3);
      noli_friction_set_free(context, &set);
    }
  }
  test_context_done(&context);
}

// Coulomb: the force opposes sliding, is at most mu lambda, and is mu lambda beyond eps.
static void force_obeys_coulomb(void** state) {
  (void)state;
  TestRandom random = {72};
  NoliContext* context = test_context(1);
  double eps = 1e-3;
  for (int which = 0; which < CASES; which++) {
    for (int n = 0; n < 40; n++) {
      Case made;
      NoliFrictionSet set;
      case_friction(context, which, &random, &made, &set);
      const NoliFrictionContact* contact = &set.contact.data[0];
      NoliBarrier barrier = {&made.set, NULL, DHAT * DHAT, KAPPA};
      double lambda;
      noli_contact_normal_forces(&barrier, made.x, 1.0, &lambda, NULL);
      ASSERT_NEAR(contact->mu_lambda, MU * lambda, 1e-12 * lambda);

      double size = eps * pow(10.0, test_random(&random, -4.0, 2.0));
      double angle = test_random(&random, 0.0, 6.0), x[12], force[12] = {0.0};
      double slide[2] = {size * cos(angle), size * sin(angle)};
      displace(&made, contact, slide, 0.0, x);
      NoliFriction friction = {&set, made.x, eps, false};
      noli_friction_forces(&friction, x, 1.0, force);
      NoliPairForces pairs = {0};
      ASSERT_OK(noli_friction_pair_forces(&friction, context, x, 1.0, &pairs));
      assert_int_equal(pairs.pair.count, 1);
      NoliVec3 on_first = noli_load3(pairs.pair.data[0].friction);
      double share = 0.0;
      NoliVec3 sum = {0.0, 0.0, 0.0}, first = {0.0, 0.0, 0.0};
      for (int i = 0; i < 4; i++) {
        sum = noli_add3(sum, noli_load3(force + 3 * i));
        if (i < contact->n_first) {
          first = noli_add3(first, noli_load3(force + 3 * i));
          share += contact->weight[i];
        }
      }
      ASSERT_NEAR(fabs(share), 1.0, 1e-12);
      ASSERT_AT_MOST(noli_norm3(sum), 1e-12 * contact->mu_lambda);
      ASSERT_AT_MOST(noli_norm3(noli_sub3(first, on_first)), 1e-12 * contact->mu_lambda);
      double magnitude = noli_norm3(on_first);
      ASSERT_AT_MOST(magnitude, contact->mu_lambda * (1.0 + 1e-12));
      if (size > eps) {
        ASSERT_NEAR(magnitude, contact->mu_lambda, 1e-10 * contact->mu_lambda);
      }
      NoliVec3 moved =
          noli_add3(noli_scale3(slide[0], contact->t[0]), noli_scale3(slide[1], contact->t[1]));
      ASSERT_NEAR(noli_dot3(moved, on_first), -size * magnitude, 1e-8 * size * magnitude);
      noli_pair_forces_free(context, &pairs);
      noli_friction_set_free(context, &set);
    }
  }
  test_context_done(&context);
}

// Rigid motion of the whole, and motion along the normal, are free.
static void only_relative_sliding_counts(void** state) {
  (void)state;
  TestRandom random = {73};
  NoliContext* context = test_context(1);
  double eps = 1e-3;
  for (int which = 0; which < CASES; which++) {
    Case made;
    NoliFrictionSet set;
    case_friction(context, which, &random, &made, &set);
    NoliFriction friction = {&set, made.x, eps, false};
    double x[12], still[2] = {0.0, 0.0};
    double rest = noli_friction_energy(&friction, made.x, 1);
    displace(&made, &set.contact.data[0], still, 0.05, x);
    NoliVec3 shift = case_random3(&random, 1.0);
    for (int i = 0; i < 4; i++) {
      noli_store3(x + 3 * i, noli_add3(noli_load3(x + 3 * i), shift));
    }
    ASSERT_NEAR(noli_friction_energy(&friction, x, 1), rest, 1e-9 * rest);
    // the basis is orthonormal and orthogonal to the normal
    const NoliFrictionContact* contact = &set.contact.data[0];
    double mollifier;
    NoliClosest closest = noli_contact_closest(&made.contact, made.x, &mollifier);
    for (int k = 0; k < 2; k++) {
      ASSERT_NEAR(noli_norm3(contact->t[k]), 1.0, 1e-15);
      ASSERT_NEAR(noli_dot3(contact->t[k], closest.r), 0.0, 1e-15);
    }
    ASSERT_NEAR(noli_dot3(contact->t[0], contact->t[1]), 0.0, 1e-15);
    noli_friction_set_free(context, &set);
  }
  test_context_done(&context);
}

static void half_spaces_rub_and_frictionless_pairs_are_dropped(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  double x[6] = {0.0, 0.5 * DHAT, 0.0, 1.0, 0.5 * DHAT, 0.0};
  NoliPlane plane = {{0.0, 0.0, 0.0}, {0.0, 1.0, 0.0}};
  // body 0 rubs, body 1 does not (entity 2 is the half-space)
  NoliPlaneContact contact[2] = {{.node = 0, .entity = {0, 2}}, {.node = 1, .entity = {1, 2}}};
  NoliContactSet contacts;
  noli_contact_set_init(&contacts);
  contacts.plane.data = contact;
  contacts.plane.count = 2;
  NoliFrictionSet set;
  noli_friction_set_init(&set);
  ASSERT_OK(
      noli_friction_set_build(&set, context, &contacts, &plane, &friction_pairs, x, KAPPA, DHAT));
  assert_int_equal(set.contact.count, 1);
  assert_int_equal(set.node.data[0], 0);
  assert_int_equal(set.node.data[1], NOLI_NULL_INDEX);
  // slide far along x: the force on the vertex is -mu lambda e_x
  double moved[6], force[6] = {0.0};
  memcpy(moved, x, sizeof x);
  moved[0] += 0.3;
  NoliFriction friction = {&set, x, 1e-4, false};
  noli_friction_forces(&friction, moved, 1.0, force);
  ASSERT_NEAR(force[0], -set.contact.data[0].mu_lambda, 1e-12 * set.contact.data[0].mu_lambda);
  ASSERT_NEAR(force[1], 0.0, 1e-15);
  // without a table nothing rubs; rebuilding allocates nothing
  int64_t before = context->n_allocations;
  ASSERT_OK(noli_friction_set_build(&set, context, &contacts, &plane, NULL, x, KAPPA, DHAT));
  assert_int_equal(set.contact.count, 0);
  ASSERT_OK(
      noli_friction_set_build(&set, context, &contacts, &plane, &friction_pairs, x, KAPPA, DHAT));
  assert_int_equal(context->n_allocations, before);
  // below the plane there is no force to rub with
  x[1] = -0.1 * DHAT;
  ASSERT_STATUS(
      noli_friction_set_build(&set, context, &contacts, &plane, &friction_pairs, x, KAPPA, DHAT),
      NOLI_NOT_FINITE);
  noli_friction_set_free(context, &set);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(curves_fit_together),
      cmocka_unit_test(derivatives_agree_with_differences),
      cmocka_unit_test(force_obeys_coulomb),
      cmocka_unit_test(only_relative_sliding_counts),
      cmocka_unit_test(half_spaces_rub_and_frictionless_pairs_are_dropped),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
