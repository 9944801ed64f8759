// How contacts and their friction change with the range and the stiffness of the barrier, with
// offsets and with rest positions, against differences: contacts of all kinds, nearly touching, in
// the middle of the range and at its end; edges nearly parallel and at the end of the mollifier's
// zone.
#include "contact_cases.h"

#include "contact/derivatives/friction_derivatives.h"

#include <math.h>

#define DHAT 0.1

// dhat, a factor of kappa, two offsets, rest positions
enum { ENTITY = 2, REST = 4, INPUTS = 16 };

static NoliFrictionLaw coulomb = {0.4, 0.4, 0.02, 0.0};

typedef struct Setup {
  Case made;
  double x_hat[12];
  double input[INPUTS];
  bool friction;
} Setup;

// The contact with other inputs.
typedef struct Changed {
  Case made;
  NoliContactPairs pairs;
  NoliBarrier barrier;
  NoliImplicitFriction friction;
} Changed;

static void change(const Setup* setup, const double* input, Changed* to) {
  to->made = setup->made;
  case_set(&to->made);
  NoliContact* contact = &to->made.contact;
  NoliVec3 X[4];
  for (int i = 0; i < 4; i++) {
    X[i] = noli_load3(input + REST + 3 * i);
  }
  contact->offset = input[ENTITY] + input[ENTITY + 1];
  // a distance of its own does not follow that of the scene
  contact->range *= contact->range == 1.0 ? 1.0 : DHAT / input[0];
  contact->eps_x = contact->mollified ? noli_mollifier_eps_x(X) : 0.0;
  to->pairs = (NoliContactPairs){.n_body = 2, .law = &coulomb};
  to->barrier =
      (NoliBarrier){.set = &to->made.set, .dhat_sqr = input[0] * input[0], .kappa = 2e3 * input[1]};
  to->friction = (NoliImplicitFriction){.barrier = &to->barrier,
                                        .pairs = &to->pairs,
                                        .x_hat = setup->x_hat,
                                        .eps_v = 2e-3,
                                        .h_v = 0.5,
                                        .basis_derivatives = true};
}

static void evaluate(const Setup* setup, const double* input, double out[12]) {
  Changed at;
  change(setup, input, &at);
  if (setup->friction) {
    NoliForceTerm term = noli_implicit_friction_term(&at.friction);
    term.evaluate(term.data, at.made.x, 0, out, NULL);
  } else {
    NoliEnergyTerm term = noli_barrier_term(&at.barrier);
    (void)case_evaluate(&term, at.made.x, out, NULL);
  }
}

static int32_t no_class(const void* user, int32_t a, int32_t b) {
  (void)user;
  (void)a;
  (void)b;
  return NOLI_NULL_INDEX;
}

// The blocks of the list.
static void list_input_derivatives(const Setup* setup, NoliMixedList* list) {
  Changed at;
  change(setup, setup->input, &at);
  const NoliBarrierInputs inputs = {.X = setup->input + REST,
                                    .distance = NOLI_CONTACT_DISTANCE,
                                    .stiffness = {NOLI_CONTACT_STIFFNESS, NOLI_NULL_INDEX},
                                    .classes = {no_class, NULL}};
  ASSERT_OK(setup->friction
                ? noli_implicit_friction_derivatives(list, &at.friction, at.made.x, &inputs)
                : noli_barrier_derivatives(list, &at.barrier, &inputs, at.made.x));
}

// The derivative by input j.
static void derivative_by(const NoliMixedList* list, int j, double derivative[12]) {
  NoliInput kind = j < ENTITY ? NOLI_INPUT_CONTACT : j < REST ? NOLI_INPUT_OFFSET : NOLI_INPUT_REST;
  double by[12] = {0.0};
  by[j - (j < ENTITY ? 0 : j < REST ? ENTITY : REST)] = 1.0;
  memset(derivative, 0, 12 * sizeof *derivative);
  for (int64_t b = 0; b < list->blocks.count; b++) {
    if (list->blocks.data[b].kind == (int32_t)kind) {
      noli_mixed_multiply(&list->blocks.data[b], by, derivative);
    }
  }
}

// The error against central differences by input j, of the best step, relative to the largest
// derivative; INFINITY without any.
static double error_by(const Setup* setup, const NoliMixedList* list, int j, double step,
                       double* largest) {
  double derivative[12], best = INFINITY;
  derivative_by(list, j, derivative);
  *largest = 0.0;
  for (int k = 0; k < 12; k++) {
    *largest = noli_larger(*largest, fabs(derivative[k]));
  }
  for (double h = step; h > 1e-6 * step; h *= 0.2) {
    double input[INPUTS], plus[12], minus[12], error = 0.0;
    memcpy(input, setup->input, sizeof input);
    input[j] = setup->input[j] + h;
    evaluate(setup, input, plus);
    input[j] = setup->input[j] - h;
    evaluate(setup, input, minus);
    for (int k = 0; k < 12; k++) {
      double off = fabs((plus[k] - minus[k]) / (2.0 * h) - derivative[k]);
      error = !(off <= error) ? off : error;
    }
    best = fmin(best, error);
  }
  return best / *largest;
}

static void make(Setup* setup, int which, TestRandom* random, int n, bool friction) {
  const double share[3] = {1e-3, 0.4, 1.0 - 1e-4}, angle[3] = {1e-5, 0.012, 0.0345};
  // also of pairs with a contact distance of their own
  double range = n % 5 == 4 ? 1.7 : 1.0;
  double gap = range * DHAT * share[n % 3], offset = (n % 2 == 0 ? 0.02 : 0.3) * DHAT;
  *setup = (Setup){.friction = friction, .input = {DHAT, 1.0, 0.4 * offset, 0.6 * offset}};
  case_make(which, random, gap + offset,
            which == CASE_EDGE_EDGE ? test_random(random, 0.1, 1.4) : angle[n / 3 % 3],
            &setup->made);
  setup->made.contact.range = range;
  for (int i = 0; i < 12; i++) {
    setup->input[REST + i] = 1.1 * setup->made.x[i];
    setup->x_hat[i] = setup->made.x[i] - test_random(random, -2e-3, 2e-3);
  }
}

static void derivatives_agree_with_differences(void** state) {
  (void)state;
  TestRandom random = {173};
  NoliContext* context = test_context(1);
  double worst = 0.0;
  for (int i = 0; i < CASES * 2 * 36; i++) {
    int which = i % CASES, n = i / (2 * CASES);
    Setup setup;
    NoliMixedList list = {.context = context,
                          .wanted = 1u << NOLI_INPUT_REST | 1u << NOLI_INPUT_CONTACT |
                                    1u << NOLI_INPUT_OFFSET};
    make(&setup, which, &random, n, i / CASES % 2 == 1);
    list_input_derivatives(&setup, &list);

    // differences must stay within the range and the zone
    double gap = sqrt(setup.made.contact.gap_sqr) - setup.input[2] - setup.input[3], largest;
    double range = setup.made.contact.range;
    double room = fmin(1e-3 * DHAT, 0.1 * fmin(gap, range * DHAT - gap));
    const double step[REST] = {room, 1e-2, room, room};
    for (int j = 0; j < REST; j++) {
      double error = error_by(&setup, &list, j, step[j], &largest);
      assert_true(largest > 0.0);
      ASSERT_AT_MOST(error, 1e-6);
      worst = noli_larger(worst, error);
    }
    bool moves = false;
    for (int j = REST; j < INPUTS; j++) {
      double error = error_by(&setup, &list, j, 1e-4, &largest);
      moves = moves || largest > 0.0;
      if (largest > 0.0) {
        ASSERT_AT_MOST(error, 1e-5);
      }
    }
    assert_true(setup.made.contact.mollified ? moves || n / 3 % 3 == 2 : !moves);
    noli_mixed_list_clear(&list);
    noli_array_free(context, &list.blocks);
  }
  print_message("largest relative error %.2g\n", worst);
  noli_context_destroy(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(derivatives_agree_with_differences)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
