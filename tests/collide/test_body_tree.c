// The tree over bodies against all pairs of boxes, and the broad phase of many bodies against
// searches of two.
#include "collide/pair_tables.h"

#include "collide/body_tree.h"
#include "collide/broad_phase.h"
#include "collide/brute_force.h"

enum { MOST = 300 };

// ---- boxes

static int compare_pairs(const void* a, const void* b) {
  const NoliBodyPair *p = a, *q = b;
  return p->a != q->a ? (p->a > q->a) - (p->a < q->a) : (p->b > q->b) - (p->b < q->b);
}

// Rows of all pairs, some of them listed twice.
static void check_rows(NoliContext* context, NoliBodyTree* tree, int32_t n, const NoliBox* box) {
  NoliStatus status = NOLI_OK;
  for (int64_t i = tree->pair.count - 1; i >= 0; i -= 3) {
    NoliBodyPair pair = tree->pair.data[i];
    NOLI_PUSH(context, &tree->pair, pair);
  }
  ASSERT_OK(noli_body_tree_rows(context, tree));
  for (int32_t a = 0; a < n; a++) {
    int64_t next = tree->first[a];
    for (int32_t b = 0; b < n; b++) {
      if (a != b && noli_boxes_meet(&box[a], &box[b])) {
        assert_true(next < tree->end[a]);
        assert_int_equal(tree->other.data[next++], b);
      }
    }
    assert_int_equal(tree->end[a], next);
  }
done:
  ASSERT_OK(status);
}

// Finds pairs by the tree, and compares with all pairs. Returns their number.
static int64_t check(int32_t n, const NoliBox* box) {
  NoliContext* context = test_context(1);
  NoliBodyTree tree;
  ASSERT_OK(noli_body_tree_create(context, n, &tree));
  // a second search starts from the tree of the first one
  for (int pass = 0; pass < 2; pass++) {
    ASSERT_OK(noli_body_tree_find(context, &tree, box));
  }
  if (tree.pair.count > 0) {
    qsort(tree.pair.data, (size_t)tree.pair.count, sizeof *tree.pair.data, compare_pairs);
  }
  int64_t count = 0;
  for (int32_t a = 0; a < n; a++) {
    for (int32_t b = a + 1; b < n; b++) {
      if (noli_boxes_meet(&box[a], &box[b])) {
        assert_true(count < tree.pair.count);
        assert_int_equal(tree.pair.data[count].a, a);
        assert_int_equal(tree.pair.data[count].b, b);
        count++;
      }
    }
  }
  assert_int_equal(tree.pair.count, count);
  check_rows(context, &tree, n, box);
  noli_body_tree_release(context, &tree);
  test_context_done(&context);
  return count;
}

// Boxes about as large as `size`, flat on some axes; some are empty.
static void random_boxes(TestRandom* random, int32_t n, double size, double empty, NoliBox* box) {
  for (int32_t i = 0; i < n; i++) {
    uint64_t flat = test_random_bits(random);
    for (int k = 0; k < 3; k++) {
      double middle = test_random(random, -1.0, 1.0), half = test_random(random, 0.0, size);
      half = (flat >> k & 3) == 0 ? 0.0 : half;
      box[i].lo[k] = (float)(middle - half);
      box[i].hi[k] = (float)(middle + half);
    }
    if (test_random(random, 0.0, 1.0) < empty) {
      box[i] = noli_box_empty();
    }
  }
}

static void random_boxes_agree_with_all_pairs(void** state) {
  (void)state;
  TestRandom random = {1};
  static NoliBox box[MOST];
  int64_t n_found = 0;
  for (int trial = 0; trial < 200; trial++) {
    int32_t n = (int32_t)(test_random_bits(&random) % (MOST + 1));
    random_boxes(&random, n, pow(10.0, test_random(&random, -3.0, 0.3)), 0.1 * (trial % 4), box);
    n_found += check(n, box);
  }
  assert_true(n_found > 10000);
}

static void degenerate_boxes_agree_with_all_pairs(void** state) {
  (void)state;
  static NoliBox box[MOST];
  const NoliBox unit = {{0.0f, 0.0f, 0.0f}, {1.0f, 1.0f, 1.0f}};
  // none, and one
  assert_int_equal(check(0, box), 0);
  box[0] = unit;
  assert_int_equal(check(1, box), 0);
  // all in one place
  for (int i = 0; i < MOST; i++) {
    box[i] = unit;
  }
  assert_int_equal(check(MOST, box), MOST * (MOST - 1) / 2);
  // all empty, then all but two
  for (int i = 0; i < MOST; i++) {
    box[i] = noli_box_empty();
  }
  assert_int_equal(check(MOST, box), 0);
  box[3] = box[MOST - 1] = unit;
  assert_int_equal(check(MOST, box), 1);
  // points, flat boxes and closed neighbours in a row
  for (int i = 0; i < MOST; i++) {
    box[i] = (NoliBox){{(float)i, 0.0f, 0.0f}, {(float)i, 0.0f, 0.0f}};
  }
  assert_int_equal(check(MOST, box), 0);
  for (int i = 0; i < MOST; i++) {
    box[i] = (NoliBox){{(float)i, 0.0f, 0.0f}, {(float)(i + 1), 1.0f, 0.0f}};
  }
  assert_int_equal(check(MOST, box), MOST - 1);
  // one that contains all others
  box[MOST / 2] = (NoliBox){{-9.0f, -9.0f, -9.0f}, {999.0f, 9.0f, 9.0f}};
  assert_int_equal(check(MOST, box), MOST - 3 + MOST - 1);
}

// ---- bodies

enum { BODIES = 70, VERTS = 4, ALL = BODIES * VERTS };

typedef struct Bodies {
  NoliContext* context;
  NoliSurface* surface;
  double x_t0[3 * ALL];
  double x_t1[3 * ALL];
} Bodies;

// Tetrahedral surfaces at random places; each `gap`-th one is missing.
static Bodies* make_bodies(TestRandom* random, double size, int32_t gap) {
  static const int32_t tri[12] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3};
  Bodies* bodies = calloc(1, sizeof *bodies);
  NoliSurfaceParts parts[BODIES] = {{0}};
  int32_t first[BODIES + 1] = {0};
  bodies->context = test_context(2);
  for (int32_t b = 0; b < BODIES; b++) {
    parts[b] = gap > 0 && b % gap == 0 ? (NoliSurfaceParts){0}
                                       : (NoliSurfaceParts){.n_tri = 4, .tri = tri};
    first[b + 1] = first[b] + VERTS;
    double centre[3];
    for (int k = 0; k < 3; k++) {
      centre[k] = test_random(random, 0.0, 1.0);
    }
    for (int32_t i = 0; i < 3 * VERTS; i++) {
      bodies->x_t0[3 * VERTS * b + i] = centre[i % 3] + test_random(random, -size, size);
    }
  }
  ASSERT_OK(noli_surface_create(bodies->context, BODIES, first, parts, &bodies->surface));
  return bodies;
}

static void free_bodies(Bodies* bodies) {
  noli_surface_destroy(bodies->context, &bodies->surface);
  test_context_done(&bodies->context);
  free(bodies);
}

// Each body moves by a speed of its own and a common one.
static void move_bodies(Bodies* bodies, TestRandom* random, double common, double own) {
  for (int32_t b = 0; b < BODIES; b++) {
    double way[3];
    for (int k = 0; k < 3; k++) {
      way[k] = (k == 0 ? common : 0.0) + test_random(random, -own, own);
    }
    for (int32_t i = 3 * VERTS * b; i < 3 * VERTS * (b + 1); i++) {
      bodies->x_t1[i] = bodies->x_t0[i] + way[i % 3];
    }
  }
}

static bool lists(const NoliPrimitivePair* pair, int64_t n, NoliPrimitivePair wanted) {
  int64_t low = 0, high = n;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    bool before =
        pair[middle].a < wanted.a || (pair[middle].a == wanted.a && pair[middle].b < wanted.b);
    *(before ? &low : &high) = before ? middle + 1 : middle;
  }
  return low < n && pair[low].a == wanted.a && pair[low].b == wanted.b;
}

// The tree over all bodies finds the same as searches of two bodies at a time, which need no tree
// over bodies.
static void check_by_twos(Bodies* bodies, const NoliBodyPairs* pairs, int64_t* n_found) {
  NoliContext* context = bodies->context;
  const NoliSurface* surface = bodies->surface;
  NoliBroadPhase* broad_phase = NULL;
  NoliCandidates found = {0}, two = {0};
  ASSERT_OK(noli_broad_phase_create(context, surface, &broad_phase));
  ASSERT_OK(noli_broad_phase_find(broad_phase, bodies->x_t0, bodies->x_t1, 0.01, pairs, &found));
  int64_t n[2] = {0, 0};
  for (int32_t a = 0; a < BODIES; a++) {
    for (int32_t b = a + 1; b < BODIES; b++) {
      if (!noli_body_pairs_get(pairs, a, b)) {
        continue;
      }
      const NoliPairNumber only = {a, b, 1};
      NoliBodyPairs one = {.n_body = BODIES};
      ASSERT_OK(noli_pair_table_build(context, BODIES, 0, 1, &only, &one.others));
      ASSERT_OK(noli_broad_phase_find(broad_phase, bodies->x_t0, bodies->x_t1, 0.01, &one, &two));
      noli_pair_table_free(context, &one.others);
      for (int64_t i = 0; i < two.point_triangle.count; i++) {
        assert_true(lists(found.point_triangle.data, found.point_triangle.count,
                          two.point_triangle.data[i]));
      }
      for (int64_t i = 0; i < two.edge_edge.count; i++) {
        assert_true(lists(found.edge_edge.data, found.edge_edge.count, two.edge_edge.data[i]));
      }
      n[0] += two.point_triangle.count;
      n[1] += two.edge_edge.count;
    }
  }
  assert_int_equal(found.point_triangle.count, n[0]);
  assert_int_equal(found.edge_edge.count, n[1]);
  *n_found += n[0] + n[1];
  noli_candidates_free(context, &found);
  noli_candidates_free(context, &two);
  noli_broad_phase_destroy(&broad_phase);
}

// At rest only the boxes decide, so brute force gives the same list.
static void check_at_rest(Bodies* bodies, const NoliBodyPairs* pairs) {
  NoliContext* context = bodies->context;
  NoliBroadPhase* broad_phase = NULL;
  NoliCandidates found = {0}, want = {0};
  ASSERT_OK(noli_broad_phase_create(context, bodies->surface, &broad_phase));
  ASSERT_OK(noli_broad_phase_find(broad_phase, bodies->x_t0, bodies->x_t0, 0.01, pairs, &found));
  ASSERT_OK(
      brute_force_find(context, bodies->surface, bodies->x_t0, bodies->x_t0, 0.01, pairs, &want));
  assert_int_equal(found.point_triangle.count, want.point_triangle.count);
  assert_int_equal(found.edge_edge.count, want.edge_edge.count);
  size_t n = (size_t)found.point_triangle.count, m = (size_t)found.edge_edge.count;
  assert_memory_equal(found.point_triangle.data, want.point_triangle.data,
                      n * sizeof(NoliPrimitivePair));
  assert_memory_equal(found.edge_edge.data, want.edge_edge.data, m * sizeof(NoliPrimitivePair));
  assert_true(n > 0 && m > 0);
  noli_candidates_free(context, &found);
  noli_candidates_free(context, &want);
  noli_broad_phase_destroy(&broad_phase);
}

static void many_bodies_are_found_as_two_are(void** state) {
  (void)state;
  TestRandom random = {3};
  int64_t n_found = 0;
  static const double motion[4][2] = {{0.0, 0.0}, {0.0, 0.3}, {50.0, 0.02}, {0.5, 3.0}};
  for (int trial = 0; trial < 4; trial++) {
    Bodies* bodies = make_bodies(&random, 0.08, trial == 1 ? 7 : 0);
    move_bodies(bodies, &random, motion[trial][0], motion[trial][1]);
    // a body that meets no other, and some exceptions; half of the bodies meet themselves
    NoliPairNumber exception[BODIES];
    uint8_t self[BODIES];
    for (int32_t b = 0; b < BODIES; b++) {
      exception[b] = (NoliPairNumber){b, b % 2 == 0 ? 5 : (7 * b + 3) % BODIES, b == 5};
      self[b] = (uint8_t)(b % 2);
    }
    NoliBodyPairs pairs = {.n_body = BODIES, .self = self};
    ASSERT_OK(noli_pair_table_build(bodies->context, BODIES, 1, BODIES, exception, &pairs.others));
    NoliBodyPairs between = noli_body_pairs_between(&pairs);
    check_by_twos(bodies, &between, &n_found);
    check_at_rest(bodies, &pairs);
    check_at_rest(bodies, NULL);
    noli_pair_table_free(bodies->context, &pairs.others);
    free_bodies(bodies);
  }
  assert_true(n_found > 1000);
}

// ---- pairs

// Immobile bodies do not collide with each other, and neither do half-spaces.
static void still_bodies_meet_moving_ones_only(void** state) {
  (void)state;
  const bool still[3] = {false, true, true};
  uint8_t self[3] = {1, 1, 0};
  const NoliBodyPairs pairs = {
      .n_body = 3, .self = self, .still = still, .others = {.n = 5, .most = 1}};
  static const uint8_t want[5][5] = {
      {1, 1, 1, 1, 1}, {1, 1, 0, 0, 0}, {1, 0, 0, 0, 0}, {1, 0, 0, 0, 0}, {1, 0, 0, 0, 0}};
  NoliBodyPairs within = noli_body_pairs_within(&pairs), between = noli_body_pairs_between(&pairs);
  for (int32_t a = 0; a < 5; a++) {
    for (int32_t b = 0; b < 5; b++) {
      assert_int_equal(noli_body_pairs_get(&pairs, a, b), want[a][b]);
      assert_int_equal(noli_body_pairs_get(&within, a, b), a == b && want[a][b]);
      assert_int_equal(noli_body_pairs_get(&between, a, b), a != b && want[a][b]);
      assert_true(noli_body_pairs_get(NULL, a, b));
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_boxes_agree_with_all_pairs),
      cmocka_unit_test(degenerate_boxes_agree_with_all_pairs),
      cmocka_unit_test(many_bodies_are_found_as_two_are),
      cmocka_unit_test(still_bodies_meet_moving_ones_only),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
