#include "contact_cases.h"

#include "contact/friction/friction.h"
#include "contact/friction/friction_residual.h"

#define DHAT 0.1
#define KAPPA 2e3
#define MU 0.4

#define NONE                                                                                       \
  { 0.0, 0.0, 1.0, 0.0 }
#define COULOMB                                                                                    \
  { MU, MU, 1.0, 0.0 }
// body 0 has friction with body 1 and with the half-space
static int64_t rubbing_first[4] = {0, 2, 3, 4};
static int32_t rubbing_other[4] = {1, 2, 0, 0}, rubbing_number[4] = {1, 1, 1, 1};
#define RUBBING_PAIRS(law_)                                                                        \
  {                                                                                                \
    .n_body = 2, .law = (law_), .number = { 3, 0, rubbing_first, rubbing_other, rubbing_number }   \
  }
static NoliFrictionLaw friction_laws[2] = {NONE, COULOMB};
static const NoliContactPairs friction_pairs = RUBBING_PAIRS(friction_laws);

#define STRIBECK                                                                                   \
  { 0.3, 0.7, 4e-3, 2.0 }
static NoliFrictionLaw stribeck_laws[2] = {NONE, STRIBECK};
static const NoliContactPairs stribeck_pairs = RUBBING_PAIRS(stribeck_laws);

typedef struct Evaluation {
  NoliEnergyTerm term;
  unsigned hessian; // which
} Evaluation;

static double evaluate(void* user, const double* x, double* gradient, double* hessian) {
  const Evaluation* evaluation = user;
  const NoliEnergyTerm* term = &evaluation->term;
  double energy, blocks[90];
  NoliLocal local = {.energy = &energy, .gradient = gradient, .hessian = blocks};
  unsigned what = NOLI_EVAL_ENERGY | (gradient != NULL ? NOLI_EVAL_GRADIENT : 0u) |
                  (hessian != NULL ? evaluation->hessian : 0u);
  term->evaluate(term->data, x, 0, 1, what, &local);
  if (hessian != NULL) {
    case_full(blocks, hessian);
  }
  return energy;
}

static void case_friction(NoliContext* context, const NoliContactPairs* pairs, int which,
                          TestRandom* random, Case* made, NoliFrictionSet* set) {
  case_make(which, random, 0.4 * DHAT, which == CASE_EDGE_EDGE ? 0.5 : 0.012, made);
  case_set(made);
  noli_friction_set_init(set);
  ASSERT_OK(noli_friction_set_build(set, context, &made->set, NULL, pairs, made->x, KAPPA, DHAT));
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
      case_friction(context, &friction_pairs, which, &random, &made, &set);

      // slide by a fraction of eps
      double angle = test_random(&random, 0.0, 6.0), x[12], x_hat[12];
      double slide[2] = {share[i] * eps * cos(angle), share[i] * eps * sin(angle)};
      memcpy(x_hat, made.x, sizeof x_hat);
      displace(&made, &set.contact.data[0], slide, 0.3 * eps, x);
      NoliFriction friction = {&set, x_hat, eps, 1.0, NULL};
      Evaluation term = {noli_friction_term(&friction), NOLI_EVAL_PROJECTED};

      // the third derivative jumps at u = 0 and at eps: errors of first order in the step there
      double scale = fmax(share[i] * eps, 1e-2 * eps);
      if (share[i] > 0.5 && share[i] < 2.0) {
        scale = 1e-2 * eps;
      }

      // next to u = 0 the gradient vanishes: it is small, but the Hessian can be checked
      bool still = share[i] < 1e-3;
      if (still) {
        double gradient[12];
        evaluate(&term, x, gradient, NULL);
        ASSERT_AT_MOST(fabs(gradient[0]), 3.0 * share[i] * MU * set.contact.data[0].lambda + 1e-12);
      }
      test_derivatives(evaluate, &term, 12, x, scale, still ? 1e9 : 1e-4, 2e-3);
      noli_friction_set_free(context, &set);
    }
  }
  test_context_done(&context);
}

// A case with Stribeck's law that slides by `share` eps; the energy term at x.
static void stribeck_case(NoliContext* context, TestRandom* random, double share, double eps,
                          Case* made, NoliFrictionSet* set, double x[12]) {
  int which = (int)(test_random_bits(random) % CASES);
  case_friction(context, &stribeck_pairs, which, random, made, set);
  double angle = test_random(random, 0.0, 6.0);
  double slide[2] = {share * eps * cos(angle), share * eps * sin(angle)};
  displace(made, &set->contact.data[0], slide, 0.3 * eps, x);
}

// The plain Hessian is that of the energy, falling force included; the projected one differs from
// it only there, and is semi-definite.
static void stribeck_derivatives_agree_with_differences(void** state) {
  (void)state;
  TestRandom random = {74};
  NoliContext* context = test_context(1);
  const double share[] = {0.1, 0.5, 1.5, 2.0, 3.0, 30.0};
  double eps = 1e-3;
  int falling = 0;
  for (int i = 0; i < 60; i++) {
    Case made;
    NoliFrictionSet set;

    // plain derivatives
    double x[12], plain[144], projected[144], y[12];
    stribeck_case(context, &random, share[i % 6], eps, &made, &set, x);
    NoliFriction friction = {&set, made.x, eps, 1.0, NULL};
    Evaluation evaluation = {noli_friction_term(&friction), NOLI_EVAL_HESSIAN};
    test_derivatives(evaluate, &evaluation, 12, x, 0.05 * eps, 1e-4, 2e-3);

    // the projected Hessian differs where the force decreases
    double gradient[12];
    evaluate(&evaluation, x, gradient, plain);
    evaluation.hessian = NOLI_EVAL_PROJECTED;
    evaluate(&evaluation, x, gradient, projected);
    bool same = memcmp(plain, projected, sizeof plain) == 0;
    assert_int_equal(same, !(share[i % 6] > 1.0 && share[i % 6] < 4.0));
    falling += same ? 0 : 1;

    // and is semi-definite
    for (int n = 0; n < 20; n++) {
      double bent = 0.0, size = 0.0;
      for (int k = 0; k < 12; k++) {
        y[k] = test_random(&random, -1.0, 1.0);
      }
      for (int k = 0; k < 144; k++) {
        bent += y[k / 12] * projected[k] * y[k % 12];
        size += fabs(projected[k]);
      }
      ASSERT_AT_LEAST(bent, -1e-13 * size);
    }
    noli_friction_set_free(context, &set);
  }
  assert_int_equal(falling, 30);
  test_context_done(&context);
}

// The quadratic of majorized friction touches the energy and is nowhere below it.
static void majorizer_lies_above_stribeck(void** state) {
  (void)state;
  TestRandom random = {75};
  NoliContext* context = test_context(1);
  double eps = 1e-3, tightest = (double)INFINITY;
  for (int i = 0; i < 300; i++) {
    Case made;
    NoliFrictionSet set;

    // the quadratic at a random point
    double x[12], gradient[12], hessian[144];
    stribeck_case(context, &random, pow(10.0, test_random(&random, -2.0, 2.0)), eps, &made, &set,
                  x);
    NoliFriction friction = {&set, made.x, eps, 1.0, NULL};
    set.contact.data[0].majorized = true;
    Evaluation evaluation = {noli_friction_term(&friction), NOLI_EVAL_PROJECTED};
    double here = evaluate(&evaluation, x, gradient, hessian);

    // random steps from there
    for (int n = 0; n < 50; n++) {
      double size = eps * pow(10.0, test_random(&random, -2.0, 2.0)), y[12], quadratic = here;
      for (int k = 0; k < 12; k++) {
        y[k] = size * test_random(&random, -1.0, 1.0);
      }
      for (int k = 0; k < 144; k++) {
        quadratic += 0.5 * y[k / 12] * hessian[k] * y[k % 12];
      }
      for (int k = 0; k < 12; k++) {
        quadratic += gradient[k] * y[k];
        y[k] += x[k];
      }
      double energy = evaluate(&evaluation, y, NULL, NULL);
      ASSERT_AT_LEAST(quadratic - energy, -1e-12 * (fabs(quadratic) + energy));
      tightest = noli_smaller(tightest, (quadratic - energy) / energy);
    }
    noli_friction_set_free(context, &set);
  }
  ASSERT_AT_MOST(tightest, 1e-3);
  test_context_done(&context);
}

// A step that reverses the sliding overshoots, and is majorized if it was too long; a step that
// changes the sliding little makes the Hessian exact again.
static void friction_is_majorized_where_steps_overshoot(void** state) {
  (void)state;
  TestRandom random = {76};
  NoliContext* context = test_context(1);
  double eps = 1e-3;
  const double ends[] = {-0.9, 0.8, -0.9, -0.8,
                         1.0}; // sliding at the end of each step, in mm / 100
  const double starts[] = {1.0, 1.0, 1.0, -0.1, 0.9};
  const bool long_step[] = {false, true, true, false, false};
  const int64_t majorized[] = {0, 0, 1, 1, 0};
  for (int which = 0; which < CASES; which++) {
    Case made;
    NoliFrictionSet set;
    case_friction(context, &friction_pairs, which, &random, &made, &set);
    NoliFriction friction = {&set, made.x, eps, 1.0, NULL};
    for (int i = 0; i < 5; i++) {
      double x[12], x_end[12];
      displace(&made, &set.contact.data[0], (double[]){100.0 * eps * starts[i], 0.0}, 0.0, x);
      displace(&made, &set.contact.data[0], (double[]){100.0 * eps * ends[i], 0.0}, 0.0, x_end);
      ASSERT_OK(noli_friction_majorize(&set, context, &friction, x, x_end, long_step[i]));
      assert_int_equal(set.n_majorized, majorized[i]);
      assert_int_equal(set.contact.data[0].majorized, majorized[i]);
    }

    // all exact
    set.contact.data[0].majorized = true;
    set.n_majorized = 1;
    noli_friction_set_exact(&set);
    assert_false(set.contact.data[0].majorized);
    assert_int_equal(set.n_majorized, 0);
    noli_friction_set_free(context, &set);
  }
  test_context_done(&context);
}

static NoliVec3 force_on_first(NoliContext* context, const NoliFriction* friction,
                               const double* x) {
  NoliPairForces pairs = {0};
  ASSERT_OK(noli_friction_pair_forces(friction, context, x, 1.0, &pairs));
  assert_int_equal(pairs.pair.count, 1);
  NoliVec3 force = noli_load3(pairs.pair.data[0].friction);
  noli_pair_forces_free(context, &pairs);
  return force;
}

// The change of friction over a step is the difference of the forces at its ends, for any x between
// them.
static void change_is_that_of_a_whole_step(void** state) {
  (void)state;
  TestRandom random = {74};
  NoliContext* context = test_context(1);
  double eps = 1e-3;
  for (int which = 0; which < CASES; which++) {
    for (int n = 0; n < 20; n++) {
      Case made;
      NoliFrictionSet set;
      case_friction(context, &friction_pairs, which, &random, &made, &set);
      NoliFriction friction = {&set, made.x, eps, 1.0, NULL};
      const NoliFrictionContact* contact = &set.contact.data[0];

      // from one sliding to another, seen from a point between them
      double ends[2][12], x[12], step[12], alpha = test_random(&random, 0.0, 1.0);
      for (int end = 0; end < 2; end++) {
        double slide[2] = {test_random(&random, -2.0, 2.0) * eps,
                           test_random(&random, -2.0, 2.0) * eps};
        displace(&made, contact, slide, 0.0, ends[end]);
      }
      for (int k = 0; k < 12; k++) {
        step[k] = ends[1][k] - ends[0][k];
        x[k] = ends[0][k] + alpha * step[k];
      }
      NoliFrictionSums sums[2] = {0};
      noli_friction_add_change(&friction, x, step, alpha, 2, sums);

      NoliVec3 before = force_on_first(context, &friction, ends[0]);
      NoliVec3 after = force_on_first(context, &friction, ends[1]);
      double most = MU * contact->lambda;
      ASSERT_NEAR(sums[0].force, noli_norm3(noli_sub3(after, before)), 1e-9 * most);
      ASSERT_AT_MOST(1e-3 * most, sums[0].force);
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
      case_friction(context, &friction_pairs, which, &random, &made, &set);

      // its normal force
      const NoliFrictionContact* contact = &set.contact.data[0];
      NoliBarrier barrier = {&made.set, NULL, DHAT * DHAT, KAPPA};
      double lambda = case_normal_force(&barrier, made.x);
      ASSERT_NEAR(MU * contact->lambda, MU * lambda, 1e-12 * lambda);

      double size = eps * pow(10.0, test_random(&random, -4.0, 2.0));
      double angle = test_random(&random, 0.0, 6.0), x[12], force[12] = {0.0};
      double slide[2] = {size * cos(angle), size * sin(angle)};
      displace(&made, contact, slide, 0.0, x);
      NoliFriction friction = {&set, made.x, eps, 1.0, NULL};
      noli_friction_forces(&friction, x, 1.0, force);
      NoliPairForces pairs = {0};
      ASSERT_OK(noli_friction_pair_forces(&friction, context, x, 1.0, &pairs));
      assert_int_equal(pairs.pair.count, 1);
      NoliVec3 on_first = noli_load3(pairs.pair.data[0].friction);
      double share = 0.0;
      NoliVec3 sum = {0.0, 0.0, 0.0}, first = {0.0, 0.0, 0.0};

      // forces on vertices and on the first body
      for (int i = 0; i < 4; i++) {
        sum = noli_add3(sum, noli_load3(force + 3 * i));
        if (i < contact->n_first) {
          first = noli_add3(first, noli_load3(force + 3 * i));
          share += contact->weight[i];
        }
      }

      // resultants
      ASSERT_NEAR(fabs(share), 1.0, 1e-12);
      ASSERT_AT_MOST(noli_norm3(sum), 1e-12 * MU * contact->lambda);
      ASSERT_AT_MOST(noli_norm3(noli_sub3(first, on_first)), 1e-12 * MU * contact->lambda);
      double magnitude = noli_norm3(on_first);
      ASSERT_AT_MOST(magnitude, MU * contact->lambda * (1.0 + 1e-12));
      if (size > eps) {
        ASSERT_NEAR(magnitude, MU * contact->lambda, 1e-10 * MU * contact->lambda);
      }

      // against the motion, by the law
      NoliVec3 moved =
          noli_add3(noli_scale3(slide[0], contact->t[0]), noli_scale3(slide[1], contact->t[1]));
      ASSERT_NEAR(noli_dot3(moved, on_first), -size * magnitude, 1e-8 * size * magnitude);
      noli_pair_forces_free(context, &pairs);
      noli_friction_set_free(context, &set);
    }
  }
  test_context_done(&context);
}

// Rigid motion of all nodes, and motion along the normal, have no friction.
static void only_relative_sliding_counts(void** state) {
  (void)state;
  TestRandom random = {73};
  NoliContext* context = test_context(1);
  double eps = 1e-3;
  for (int which = 0; which < CASES; which++) {
    Case made;
    NoliFrictionSet set;
    case_friction(context, &friction_pairs, which, &random, &made, &set);
    NoliFriction friction = {&set, made.x, eps, 1.0, NULL};

    // rigid translation and motion along the normal
    double x[12], still[2] = {0.0, 0.0};
    NoliEnergyTerm term = noli_friction_term(&friction);
    double rest, moved;
    term.evaluate(term.data, made.x, 0, 1, NOLI_EVAL_ENERGY, &(NoliLocal){.energy = &rest});
    displace(&made, &set.contact.data[0], still, 0.05, x);
    NoliVec3 shift = case_random3(&random, 1.0);
    for (int i = 0; i < 4; i++) {
      noli_store3(x + 3 * i, noli_add3(noli_load3(x + 3 * i), shift));
    }
    term.evaluate(term.data, x, 0, 1, NOLI_EVAL_ENERGY, &(NoliLocal){.energy = &moved});
    ASSERT_NEAR(moved, rest, 1e-9 * rest);

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
  NoliHalfSpace plane = {{0.0, 0.0, 0.0}, {0.0, 1.0, 0.0}};

  // body 0 has friction, body 1 does not (entity 2 is the half-space)
  NoliHalfSpaceContact contact[2] = {{.node = 0, .entity = {0, 2}, .range = 1.0},
                                     {.node = 1, .entity = {1, 2}, .range = 1.0}};
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
  NoliFriction friction = {&set, x, 1e-4, 1.0, NULL};
  noli_friction_forces(&friction, moved, 1.0, force);
  ASSERT_NEAR(force[0], -MU * set.contact.data[0].lambda, 1e-12 * MU * set.contact.data[0].lambda);
  ASSERT_NEAR(force[1], 0.0, 1e-15);

  // without a table there is no friction; rebuilding allocates nothing
  int64_t before = context->n_allocations;
  ASSERT_OK(noli_friction_set_build(&set, context, &contacts, &plane, NULL, x, KAPPA, DHAT));
  assert_int_equal(set.contact.count, 0);
  ASSERT_OK(
      noli_friction_set_build(&set, context, &contacts, &plane, &friction_pairs, x, KAPPA, DHAT));
  assert_int_equal(context->n_allocations, before);

  // below the plane there is no contact force, and so no friction
  x[1] = -0.1 * DHAT;
  ASSERT_STATUS(
      noli_friction_set_build(&set, context, &contacts, &plane, &friction_pairs, x, KAPPA, DHAT),
      NOLI_NOT_FINITE);
  noli_friction_set_free(context, &set);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_agree_with_differences),
      cmocka_unit_test(stribeck_derivatives_agree_with_differences),
      cmocka_unit_test(majorizer_lies_above_stribeck),
      cmocka_unit_test(friction_is_majorized_where_steps_overshoot),
      cmocka_unit_test(force_obeys_coulomb),
      cmocka_unit_test(change_is_that_of_a_whole_step),
      cmocka_unit_test(only_relative_sliding_counts),
      cmocka_unit_test(half_spaces_rub_and_frictionless_pairs_are_dropped),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
