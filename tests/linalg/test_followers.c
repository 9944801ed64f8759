// Tied nodes (linalg/followers.h): rows through other tied nodes and through vertices of proxies,
// positions, forces, and ties that cannot be resolved.
#include "support.h"

#include "linalg/followers.h"

// Nodes 0 .. 5, of which 4 and 5 may be tied, and vertex 6 that follows nodes 0 and 1 halfway.
static NoliFollowers with_proxy(NoliContext* context) {
  NoliFollowers followers = {0};
  ASSERT_OK(noli_followers_begin(context, 6, 1, 2, &followers));
  followers.row[1] = 2;
  followers.node[0] = 0;
  followers.node[1] = 1;
  followers.weight[0] = followers.weight[1] = 0.5;
  ASSERT_OK(noli_followers_finish(context, &followers));
  return followers;
}

static const double X[21] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 9, 9, 9, 9, 9, 9, 0.5, 0.25, 0};

// Node 4 is half of vertex 6 and half of node 5, which is a quarter of node 2 and the rest node 3.
static const int32_t tied_node[2] = {4, 5};
static const int64_t tied_row[3] = {0, 2, 4};
static const int32_t tied_vertex[4] = {6, 5, 2, 3};
static const double tied_weight[4] = {0.5, 0.5, 0.25, 0.75};

static void rows_are_resolved(void** state) {
  (void)state;
  NoliContext* context = test_context(2);
  NoliFollowers followers = with_proxy(context);
  int32_t failed = 0;
  const NoliTiedNodes tied = {2, tied_node, tied_row, tied_vertex, tied_weight, NULL};
  ASSERT_OK(noli_followers_tie(context, &tied, X, &followers, &failed));
  assert_int_equal(failed, NOLI_NULL_INDEX);
  assert_null(noli_followers_defect(&followers));
  assert_int_equal(followers.n, 3);
  assert_int_equal(followers.n_tied, 2);
  for (int32_t f = 0; f < 3; f++) {
    assert_int_equal(noli_followers_find(&followers, 4 + f), f);
    assert_int_equal(noli_followers_vertex(&followers, f), 4 + f);
    assert_int_equal(noli_followers_find(&followers, f), NOLI_NULL_INDEX);
  }
  static const double row[4] = {0.25, 0.25, 0.125, 0.375};
  assert_int_equal(followers.row[1], 4);
  for (int32_t k = 0; k < 4; k++) {
    assert_int_equal(followers.node[k], k);
    ASSERT_NEAR(followers.weight[k], row[k], 1e-16);
  }

  // positions: vertex 6 is at rest 0.25 above its nodes
  double x[21], force[21] = {0};
  for (int32_t i = 0; i < 21; i++) {
    x[i] = X[i] + (i < 12 ? 0.1 * i : 100.0);
  }
  noli_followers_move(&followers, X, 2, x);
  for (int32_t k = 0; k < 3; k++) {
    double five = 0.25 * x[6 + k] + 0.75 * x[9 + k];
    double six = 0.5 * (x[k] + x[3 + k]) + (k == 1 ? 0.25 : 0.0);
    ASSERT_NEAR(x[15 + k], five, 1e-15);
    ASSERT_NEAR(x[18 + k], six, 1e-15);
    ASSERT_NEAR(x[12 + k], 0.5 * (five + six), 1e-15);
  }

  // the forces moved to nodes do the same work
  double u[21] = {0}, work = 0.0, reduced = 0.0;
  for (int32_t i = 0; i < 21; i++) {
    force[i] = sin(1.0 + i);
    u[i] = i < 12 ? cos(2.0 * i) : 0.0;
  }
  noli_followers_move_vectors(&followers, 1, u);
  for (int32_t i = 0; i < 21; i++) {
    work += force[i] * u[i];
  }
  noli_followers_add_forces(&followers, 2, force);
  for (int32_t i = 0; i < 12; i++) {
    reduced += force[i] * u[i];
  }
  ASSERT_NEAR(reduced, work, 1e-14);
  noli_followers_destroy(context, &followers);
  test_context_done(&context);
}

static void circles_and_crowds_are_refused(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliFollowers followers = with_proxy(context);
  int32_t failed = 0;
  static const int32_t circle[4] = {6, 5, 4, 3};
  NoliTiedNodes tied = {2, tied_node, tied_row, circle, tied_weight, NULL};
  assert_int_equal(noli_followers_tie(context, &tied, X, &followers, &failed), NOLI_ERROR_ARGUMENT);
  assert_true(failed == 4 || failed == 5);
  assert_null(noli_followers_defect(&followers));
  assert_int_equal(followers.n_tied, 0);
  noli_followers_destroy(context, &followers);

  // more nodes than an element has
  enum { N = NOLI_FOLLOWED_ROW_MAX + 1 };
  int32_t vertex[N];
  double weight[N], rest[3 * (N + 1)] = {0};
  for (int32_t i = 0; i < N; i++) {
    vertex[i] = i;
    weight[i] = 1.0 / N;
  }
  const int32_t last = N;
  const int64_t row[2] = {0, N};
  ASSERT_OK(noli_followers_begin(context, N + 1, 0, 0, &followers));
  ASSERT_OK(noli_followers_finish(context, &followers));
  tied = (NoliTiedNodes){1, &last, row, vertex, weight, NULL};
  assert_int_equal(noli_followers_tie(context, &tied, rest, &followers, &failed),
                   NOLI_ERROR_TOO_LARGE);
  assert_int_equal(failed, N);
  noli_followers_destroy(context, &followers);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_are_resolved),
      cmocka_unit_test(circles_and_crowds_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
