#include "support.h"

#include "collide/bvh.h"

enum { N = 1000 };

static NoliBox random_box(TestRandom* random, double size) {
  NoliBox box = {{0.0f}, {0.0f}};
  for (int k = 0; k < 3; k++) {
    double middle = test_random(random, 0.0, 1.0), half = test_random(random, 0.0, size);
    box.lo[k] = (float)(middle - half);
    box.hi[k] = (float)(middle + half);
  }
  return box;
}

static bool contains(const NoliBox* outer, const NoliBox* inner) {
  bool inside = true;
  for (int k = 0; k < 3; k++) {
    inside = inside && outer->lo[k] <= inner->lo[k] && inner->hi[k] <= outer->hi[k];
  }
  return inside;
}

static void trees_enclose_their_items_and_arranging_makes_them_tight(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  TestRandom random = {1};

  // an empty tree, a large one, one of a single item
  const int32_t first[4] = {0, 0, N - 1, N};
  NoliForest forest;
  ASSERT_OK(noli_forest_create(context, 3, first, &forest));
  assert_int_equal(forest.root[0], NOLI_NULL_INDEX);

  // refit with the items as they come
  NoliBox item_box[N], place_box[N];
  float centre[3 * N];
  for (int i = 0; i < N; i++) {
    item_box[i] = random_box(&random, 0.02);
    for (int k = 0; k < 3; k++) {
      centre[3 * i + k] = 0.5f * (item_box[i].lo[k] + item_box[i].hi[k]);
    }
  }
  noli_forest_refit(&forest, item_box);
  double cost = noli_forest_cost(&forest, item_box);
  int64_t n_allocations = context->n_allocations;

  // rearrange
  noli_forest_arrange(&forest, centre);
  bool seen[N] = {false};
  for (int p = 0; p < N; p++) {
    assert_false(seen[forest.item[p]]);
    seen[forest.item[p]] = true;
    place_box[p] = item_box[forest.item[p]];
  }
  assert_int_equal(forest.item[N - 1], N - 1);
  noli_forest_refit(&forest, place_box);
  ASSERT_AT_MOST(noli_forest_cost(&forest, place_box), 0.4 * cost);
  assert_int_equal(context->n_allocations, n_allocations);

  // each node encloses its items, and its children share them
  for (int32_t n = 0; n < forest.n_node; n++) {
    const NoliNode* node = &forest.node[n];
    for (int32_t p = node->begin; p < node->end; p++) {
      assert_true(contains(&forest.box[n], &place_box[p]));
    }
    if (node->child != NOLI_NULL_INDEX) {
      assert_true(node->child > n);
      assert_int_equal(forest.node[node->child].begin, node->begin);
      assert_int_equal(forest.node[node->child].end, forest.node[node->child + 1].begin);
      assert_int_equal(forest.node[node->child + 1].end, node->end);
    } else {
      assert_in_range(node->end - node->begin, 1, NOLI_LEAF_SIZE);
    }
  }
  noli_forest_release(context, &forest);
  test_context_done(&context);
}

static void equal_centres_are_split_all_the_same(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  const int32_t first[2] = {0, N};
  NoliForest forest;
  ASSERT_OK(noli_forest_create(context, 1, first, &forest));
  float centre[3 * N] = {0.0f};
  noli_forest_arrange(&forest, centre);
  int64_t sum = 0;
  for (int p = 0; p < N; p++) {
    sum += forest.item[p];
  }
  assert_int_equal(sum, N * (N - 1) / 2);
  noli_forest_release(context, &forest);
  test_context_done(&context);
}

// Moves the box in many small steps; `grown` is the distance by which a step may miss.
static bool meet_on_the_way(const NoliBox* a, const NoliBox* b, const double d[3], double grown) {
  enum { STEPS = 2000 };
  for (int i = 0; i <= STEPS; i++) {
    bool meet = true;
    for (int k = 0; k < 3; k++) {
      double moved = d[k] * i / STEPS;
      meet = meet && (double)a->lo[k] + moved <= (double)b->hi[k] + grown &&
             (double)b->lo[k] <= (double)a->hi[k] + moved + grown;
    }
    if (meet) {
      return true;
    }
  }
  return false;
}

static void moving_boxes_meet_exactly_when_they_do_on_the_way(void** state) {
  (void)state;
  TestRandom random = {2};
  int n_meet = 0, n_corridor = 0;
  for (int trial = 0; trial < 8000; trial++) {
    NoliBox a = random_box(&random, 0.2), b = random_box(&random, 0.2);
    double d[3];
    for (int k = 0; k < 3; k++) {
      d[k] = trial % 4 == k ? 0.0 : test_random(&random, -2.0, 2.0);
    }
    bool got = noli_moving_boxes_meet(&a, &b, d);
    n_meet += got;
    // the steps are at most 1e-3 long
    assert_true(got || !meet_on_the_way(&a, &b, d, 0.0));
    assert_true(!got || meet_on_the_way(&a, &b, d, 1.1e-3));
    // the box around the full path is less precise
    NoliBox swept = a;
    for (int k = 0; k < 3; k++) {
      swept.lo[k] = (float)fmin((double)a.lo[k], (double)a.lo[k] + d[k]);
      swept.hi[k] = (float)fmax((double)a.hi[k], (double)a.hi[k] + d[k]);
    }
    n_corridor += !got && noli_boxes_meet(&swept, &b);
  }
  assert_true(n_meet > 200 && n_corridor > 200);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(trees_enclose_their_items_and_arranging_makes_them_tight),
      cmocka_unit_test(equal_centres_are_split_all_the_same),
      cmocka_unit_test(moving_boxes_meet_exactly_when_they_do_on_the_way),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
