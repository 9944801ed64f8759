// How contacts of nearly parallel edges change with rest positions, against differences.
#include "support.h"

#include "contact/ipc.h"
#include "contact/mollifier.h"

#include <math.h>
#include <string.h>

static void gradient_at(NoliBarrier* barrier, NoliContact* contact, const double* X,
                        const double* x, double gradient[12]) {
  NoliVec3 y[4];
  for (int i = 0; i < 4; i++) {
    y[i] = noli_load3(X + 3 * i);
  }
  contact->eps_x = noli_mollifier_eps_x(y);
  NoliLocal out = {.gradient = gradient};
  NoliEnergyTerm term = noli_barrier_term(barrier);
  term.evaluate(term.data, x, 0, 1, NOLI_EVAL_GRADIENT, &out);
}

static void mollified_contacts_follow_rest_edges(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  double X[12] = {0, 0, 0, 1, 0, 0.1, 0.1, 0.2, 0, 1.2, 0.1, 0.02};
  const double x[12] = {0, 0, 0, 1, 0, 0, 0.1, 0.05, 0, 1.1, 0.06, 0.012};
  NoliContact contact = {
      .node = {0, 1, 2, 3}, .kind = NOLI_PAIR_EDGE_EDGE, .mollified = true, .weight = 1.0};
  NoliContactSet set = {0};
  set.contact.data = &contact;
  set.contact.count = 1;
  set.node.data = contact.node;
  set.node.count = 4;
  NoliBarrier barrier = {.set = &set, .dhat_sqr = 0.01, .kappa = 3.0};
  double gradient[12], end[2][12];
  gradient_at(&barrier, &contact, X, x, gradient);
  assert_true(noli_mollifier_cross_sqr((NoliVec3[4]){noli_load3(x), noli_load3(x + 3),
                                                     noli_load3(x + 6), noli_load3(x + 9)}) <
              contact.eps_x);
  NoliMixedList list = {.context = context};
  ASSERT_OK(noli_barrier_rest_slopes(&list, &barrier, X, x));
  const double* block = noli_mixed_block(&list.blocks.data[0], 0);
  double largest = 0.0;
  for (int k = 0; k < 144; k++) {
    largest = fmax(largest, fabs(block[k]));
  }
  assert_true(largest > 0.0);
  for (int j = 0; j < 12; j++) {
    const double at = X[j], h = 1e-6;
    for (int side = 0; side < 2; side++) {
      X[j] = at + (side == 0 ? -h : h);
      gradient_at(&barrier, &contact, X, x, end[side]);
    }
    X[j] = at;
    for (int k = 0; k < 12; k++) {
      ASSERT_NEAR(block[12 * k + j], (end[1][k] - end[0][k]) / (2.0 * h), 1e-7 * largest);
    }
  }
  noli_mixed_list_clear(&list);
  noli_array_free(context, &list.blocks);
  noli_context_destroy(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(mollified_contacts_follow_rest_edges)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
