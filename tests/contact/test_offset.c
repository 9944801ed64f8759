// Contact of bodies with offsets: energies, forces, friction and constraints act on the gap, the
// distance less the offsets of both bodies.
#include "contact_cases.h"

#include "contact/active_set_pair.h"
#include "contact/barrier.h"
#include "contact/friction/friction.h"
#include "math/eigen.h"

#define DHAT 0.1

static const double offsets[] = {0.01 * DHAT, DHAT, 20.0 * DHAT};
enum { N_OFFSETS = 3 };

// As case_make, at a gap.
static void make_at(int which, TestRandom* random, double gap, double offset, double angle,
                    Case* made) {
  case_make(which, random, gap + offset, angle, made);
  made->contact.offset = offset;
  made->contact.gap_sqr = gap * gap;
  case_set(made);
}

static void derivatives_agree_with_differences(void** state) {
  (void)state;
  TestRandom random = {411};
  const double share[] = {1e-2, 0.1, 0.5, 0.9, 0.999};
  for (int which = 0; which < CASES; which++) {
    for (int i = 0; i < 5 * N_OFFSETS; i++) {
      for (int n = 0; n < 5; n++) {
        Case made;
        // outside the zone of the mollifier (sin^2 >= 1e-3), just outside, and inside it
        double angle = which == CASE_EDGE_EDGE ? (n == 0 ? 0.0317 : 0.2 + 0.3 * n) : 0.012;
        double gap = share[i % 5] * DHAT;
        make_at(which, &random, gap, offsets[i / 5], angle, &made);
        NoliBarrier barrier = {&made.set, NULL, DHAT * DHAT, 1e3};
        NoliEnergyTerm term = noli_barrier_term(&barrier);
        test_derivatives(case_evaluate, &term, 12, made.x, fmin(gap, DHAT - gap), 1e-5, 1e-4);
      }
    }
  }
}

// Points at the corner of a triangle and at the end of an edge, parallel edges: exactly degenerate.
static void degenerate_places_agree_with_differences(void** state) {
  (void)state;
  const double xi = 2.0 * DHAT, d = xi + 0.3 * DHAT;
  const struct {
    NoliPairKind kind;
    bool mollified;
    double x[12];
  } at[] = {
      {NOLI_PAIR_POINT_TRIANGLE, false, {0, d, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}},
      {NOLI_PAIR_POINT_EDGE, false, {0, d, 0, 0, 0, 0, 1, 0, 0}},
      {NOLI_PAIR_EDGE_EDGE, true, {-1, d, 0, 1, d, 0, -1, 0, 0, 1, 0, 0}},
      {NOLI_PAIR_EDGE_EDGE, true, {-1, d, 0, 0, d, 0, 0, 0, 0, 1, 0, 0}},
  };
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
    Case made = {.contact = {.kind = at[i].kind,
                             .mollified = at[i].mollified,
                             .eps_x = at[i].mollified ? 1e-3 : 0.0,
                             .weight = 1.0,
                             .range = 1.0,
                             .offset = xi}};
    memcpy(made.x, at[i].x, sizeof made.x);
    for (int k = 0; k < 4; k++) {
      made.contact.node[k] = made.node[k] = k < noli_pair_size[at[i].kind] ? k : NOLI_NULL_INDEX;
    }
    case_set(&made);
    NoliBarrier barrier = {&made.set, NULL, DHAT * DHAT, 1e3};
    NoliEnergyTerm term = noli_barrier_term(&barrier);
    double gradient[12], hessian[144], energy = case_evaluate(&term, made.x, gradient, hessian);
    assert_true(isfinite(energy));
    if (!at[i].mollified) {
      assert_true(energy > 0.0);
      test_derivatives(case_evaluate, &term, 12, made.x, 0.1 * DHAT, 1e-5, 1e-4);
      continue;
    }
    // if edges are parallel, the mollified energy and its gradient are 0
    ASSERT_NEAR(energy, 0.0, 0.0);
    for (int k = 0; k < 12; k++) {
      ASSERT_NEAR(gradient[k], 0.0, 0.0);
    }
    for (int k = 0; k < 144; k++) {
      assert_true(isfinite(hessian[k]));
    }
  }
}

static void projection_equals_that_of_the_full_matrix(void** state) {
  (void)state;
  TestRandom random = {412};
  for (int which = 0; which < CASES; which++) {
    for (int n = 0; n < 150; n++) {
      Case made;
      double angle = which == CASE_EDGE_EDGE ? test_random(&random, 0.032, 1.5)
                                             : test_random(&random, 1e-4, 0.03);
      double gap = DHAT * pow(10.0, test_random(&random, -5.0, 0.0));
      make_at(which, &random, gap, offsets[n % N_OFFSETS], angle, &made);
      NoliBarrier barrier = {&made.set, NULL, DHAT * DHAT, 7.0};
      NoliEnergyTerm term = noli_barrier_term(&barrier);
      double blocks[90], got[144], want[144], largest = 0.0;
      NoliLocal local = {.hessian = blocks};
      term.evaluate(&barrier, made.x, 0, 1, NOLI_EVAL_HESSIAN, &local);
      case_full(blocks, want);
      noli_project_psd(12, want);
      term.evaluate(&barrier, made.x, 0, 1, NOLI_EVAL_PROJECTED, &local);
      case_full(blocks, got);
      for (int i = 0; i < 144; i++) {
        largest = noli_larger(largest, fabs(want[i]));
      }
      assert_true(largest > 0.0);
      for (int i = 0; i < 144; i++) {
        ASSERT_NEAR(got[i], want[i], 1e-9 * largest);
      }
    }
  }
}

// The force at a gap is that of bodies without offsets, so stiffness has the same meaning.
static void forces_depend_on_the_gap_alone(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  for (int which = 0; which < CASES; which++) {
    for (int n = 0; n < N_OFFSETS; n++) {
      double lambda[2], gap = 0.3 * DHAT, factor[2];
      for (int with = 0; with < 2; with++) {
        TestRandom random = {413};
        Case made;
        make_at(which, &random, gap, with == 0 ? 0.0 : offsets[n],
                which == CASE_EDGE_EDGE ? 0.7 : 0.012, &made);
        NoliBarrier barrier = {&made.set, NULL, DHAT * DHAT, 1e4};
        lambda[with] = case_normal_force(&barrier, made.x);
        (void)noli_contact_closest(&made.contact, made.x, &factor[with]);
        NoliPairForces pairs = {0};
        ASSERT_OK(noli_contact_pair_forces(&barrier, context, made.x, 1.0, &pairs));
        ASSERT_NEAR(pairs.pair.data[0].min_distance, gap, 1e-5 * DHAT);
        double force = noli_norm3(noli_load3(pairs.pair.data[0].normal));
        ASSERT_NEAR(force, lambda[with], 1e-8 * lambda[with]);
        noli_pair_forces_free(context, &pairs);

        // and the lagged normal force of friction
        NoliFrictionLaw law = {0.5, 0.5, 1.0, 0.0};
        const NoliContactPairs rub = {.n_body = 2, .law = &law};
        NoliFrictionSet set;
        noli_friction_set_init(&set);
        ASSERT_OK(noli_friction_set_build(&set, context, &made.set, NULL, &rub, made.x, 1e4, DHAT));
        assert_int_equal(set.contact.count, 1);
        ASSERT_NEAR(set.contact.data[0].lambda, lambda[with], 1e-12 * lambda[with]);
        noli_friction_set_free(context, &set);
      }
      // the mollified cases are at slightly other gaps
      double tolerance = which > CASE_EDGE_EDGE ? 1e-3 : 1e-10;
      ASSERT_NEAR(lambda[1] / factor[1], lambda[0] / factor[0], tolerance * lambda[0] / factor[0]);
    }
  }
  test_context_done(&context);
}

// A gap of 1e-8 of the offset has the rounding of the distance: six digits of the force remain.
static void small_gaps_keep_six_digits(void** state) {
  (void)state;
  TestRandom random = {417};
  double worst = 0.0;
  for (int n = 0; n < 1000; n++) {
    Case made;
    double offset = 20.0 * DHAT, gap = offset * pow(10.0, test_random(&random, -8.0, -3.0));
    make_at(n % (CASE_EDGE_EDGE + 1), &random, gap, offset, 0.7, &made);
    Long3 y[4];
    for (int i = 0; i < 4; i++) {
      y[i] = long_vec(noli_load3(made.x + 3 * i));
    }
    NoliPairKind kind = made.contact.kind;
    long double d = kind == NOLI_PAIR_POINT_POINT      ? long_norm(long_sub(y[0], y[1]))
                    : kind == NOLI_PAIR_POINT_EDGE     ? reference_point_edge(y[0], y[1], y[2])
                    : kind == NOLI_PAIR_POINT_TRIANGLE ? reference_point_triangle(y)
                                                       : reference_edge_edge(y);
    double g = (double)(d - offset);
    NoliBarrier barrier = {&made.set, NULL, DHAT * DHAT, 1.0};
    double lambda = case_normal_force(&barrier, made.x);
    double want = -made.contact.weight * noli_barrier_first(g * g, DHAT * DHAT) * 2.0 * g;
    worst = noli_larger(worst, fabs(lambda / want - 1.0));
    ASSERT_NEAR(lambda / want, 1.0, 1e-14 * offset / g);
  }
  print_message("forces at gaps down to 1e-8 of the offset: largest relative error %.2g\n", worst);
  ASSERT_AT_MOST(worst, 1e-6);
}

// If offset surfaces meet, although primitives do not, energies are infinite and derivatives NaN.
static void surfaces_that_meet_are_infinite(void** state) {
  (void)state;
  TestRandom random = {414};
  for (int which = 0; which < CASES; which++) {
    for (int n = 0; n < 2; n++) {
      Case made;
      double xi = 0.5 * DHAT;
      case_make(which, &random, n == 0 ? 0.9 * xi : 1.01 * (xi + DHAT),
                which == CASE_EDGE_EDGE ? 0.7 : 0.012, &made);
      made.contact.offset = xi;
      case_set(&made);
      NoliBarrier barrier = {&made.set, NULL, DHAT * DHAT, 1.0};
      NoliEnergyTerm term = noli_barrier_term(&barrier);
      double gradient[12], hessian[144], energy = case_evaluate(&term, made.x, gradient, hessian);
      if (n == 0) {
        assert_true(isinf(energy) && isnan(gradient[0]) && isnan(hessian[0]));
      } else {
        assert_true(energy == 0.0 && gradient[1] == 0.0 && hessian[0] == 0.0);
      }
    }
  }
}

static void half_spaces_keep_the_offset(void** state) {
  (void)state;
  TestRandom random = {415};
  for (int n = 0; n < 60; n++) {
    NoliVec3 f[3];
    case_frame(&random, f);
    NoliHalfSpace plane = {case_random3(&random, 1.0), f[2]};
    double gap = DHAT * test_random(&random, 0.01, 0.95), offset = offsets[n % N_OFFSETS], x[3];
    noli_store3(x, noli_add3(plane.origin, case_at(f, 0.3, -0.2, gap + offset)));
    NoliHalfSpaceContact contact = {.entity = {0, 1}, .offset = offset, .range = 1.0, .gap = gap};
    NoliContactSet set;
    noli_contact_set_init(&set);
    int32_t node = 0;
    set.plane.data = &contact;
    set.plane.count = 1;
    set.plane_node.data = &node;
    NoliBarrier barrier = {&set, &plane, DHAT * DHAT, 1e3};
    NoliEnergyTerm term = noli_half_space_barrier_term(&barrier);
    test_derivatives(case_evaluate_plane, &term, 3, x, fmin(gap, DHAT - gap), 1e-5, 1e-5);
    double want = 1e3 * noli_barrier(gap * gap, DHAT * DHAT);
    ASSERT_NEAR(noli_barrier_energy(&barrier, x, 1), want, 1e-9 * want);

    // the vertex is above the plane, its offset surface is not
    noli_store3(x, noli_add3(plane.origin, case_at(f, 0.0, 0.0, 0.99 * offset)));
    double gradient[3], hessian[9];
    assert_true(isinf(case_evaluate_plane(&term, x, gradient, hessian)) && isnan(gradient[0]));
  }
}

// ---- the augmented Lagrangian -------------------------------------------------------------------

// The linearized constraint is that of the distance, less the offsets, with the same gradient.
static void constraints_keep_the_offsets(void** state) {
  (void)state;
  Pair pair;
  pair_create(&pair);
  TestRandom random = {416};
  const double offset[2] = {2e-3, 3e-3};
  for (int c = 0; c < N_FEATURE_CASES; c++) {
    NoliConstraint* constraint = place_case(&pair, &feature_case[c], &random);
    ASSERT_OK(noli_surface_set_offsets(pair.context, pair.surface, (double[]){0.0, 0.0}));
    assert_null(pair.surface->offset);
    ASSERT_OK(noli_active_set_linearize(&pair.set, pair.context, pair.surface, &ground, pair.x, 1));
    NoliConstraint plain = *constraint;
    ASSERT_OK(noli_surface_set_offsets(pair.context, pair.surface, offset));
    constraint->gap = 0.0;
    ASSERT_OK(noli_active_set_linearize(&pair.set, pair.context, pair.surface, &ground, pair.x, 1));
    ASSERT_NEAR(constraint->distance, plain.distance - 5e-3, 1e-15);
    assert_memory_equal(constraint->weight, plain.weight, sizeof plain.weight);
    assert_memory_equal(&constraint->normal, &plain.normal, sizeof plain.normal);
    ASSERT_NEAR(constraint_at(&pair.set, 0, pair.x), constraint->distance - constraint->gap, 1e-13);
  }

  // a half-space
  for (int32_t i = 0; i < 18; i++) {
    pair.x[i] = test_random(&random, -1.0, 1.0);
  }
  NoliConstraint* constraint = pair_constrain(&pair, NOLI_PRIMITIVES_HALF_SPACE, 4, 0);
  ASSERT_OK(noli_active_set_linearize(&pair.set, pair.context, pair.surface, &ground, pair.x, 1));
  double height = noli_half_space_distance(&ground, pair.x + 12);
  ASSERT_NEAR(constraint->distance, height - offset[1], 1e-14);
  ASSERT_NEAR(constraint_at(&pair.set, 0, pair.x), height - offset[1] - constraint->gap, 1e-13);

  // surfaces that meet are refused
  const double wide[2] = {10.0, 10.0};
  ASSERT_OK(noli_surface_set_offsets(pair.context, pair.surface, wide));
  ASSERT_STATUS(
      noli_active_set_linearize(&pair.set, pair.context, pair.surface, &ground, pair.x, 1),
      NOLI_NOT_FINITE);
  pair_done(&pair);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_agree_with_differences),
      cmocka_unit_test(degenerate_places_agree_with_differences),
      cmocka_unit_test(projection_equals_that_of_the_full_matrix),
      cmocka_unit_test(forces_depend_on_the_gap_alone),
      cmocka_unit_test(small_gaps_keep_six_digits),
      cmocka_unit_test(surfaces_that_meet_are_infinite),
      cmocka_unit_test(half_spaces_keep_the_offset),
      cmocka_unit_test(constraints_keep_the_offsets),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
