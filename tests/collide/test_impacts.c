// All impacts between two states, against one pair after the other.
#include "closest_reference.h"

#include "collide/broad_phase.h"
#include "collide/impacts.h"
#include "collide/pair_tables.h"

// A cloud of triangles, body 0, and one of points, body 1.
enum { N_TRI = 40, N_POINT = 60, N_VERT = 3 * N_TRI + N_POINT, N_PLANE = 2 };

typedef struct Scene {
  NoliContext* context;
  NoliSurface* surface;
  NoliCandidates all; // every pair of primitives without a common vertex
  double x_t0[3 * N_VERT], x_t1[3 * N_VERT];
} Scene;

// The first plane lies below everything at the start, the second one is oblique and cuts it.
static const NoliHalfSpace plane[N_PLANE] = {{{0.0, -1.2, 0.0}, {0.0, 1.0, 0.0}},
                                             {{0.0, -0.9, 0.0}, {0.0, 0.6, 0.8}}};

static void collect_pairs(Scene* scene) {
  const NoliSurface* surface = scene->surface;
  NoliStatus status = NOLI_OK;
  for (int32_t i = 0; i < surface->n_point; i++) {
    int32_t p = surface->point[i];
    for (int32_t t = 0; t < surface->n_tri; t++) {
      const int32_t* tri = surface->tri + 3 * t;
      if (p != tri[0] && p != tri[1] && p != tri[2]) {
        NoliPrimitivePair pair = {p, t};
        NOLI_PUSH(scene->context, &scene->all.point_triangle, pair);
      }
    }
  }
  for (int32_t a = 0; a < surface->n_edge; a++) {
    for (int32_t b = a + 1; b < surface->n_edge; b++) {
      const int32_t *e = surface->edge + 2 * a, *f = surface->edge + 2 * b;
      if (e[0] != f[0] && e[0] != f[1] && e[1] != f[0] && e[1] != f[1]) {
        NoliPrimitivePair pair = {a, b};
        NOLI_PUSH(scene->context, &scene->all.edge_edge, pair);
      }
    }
  }
done:
  assert_int_equal(status, NOLI_OK);
}

static Scene* create_scene(uint64_t seed, double speed) {
  static int32_t tri[3 * N_TRI], point[N_POINT];
  static const int32_t vert_first[3] = {0, 3 * N_TRI, N_VERT};
  Scene* scene = calloc(1, sizeof *scene);
  assert_non_null(scene);
  for (int32_t i = 0; i < 3 * N_TRI; i++) {
    tri[i] = i;
  }
  for (int32_t i = 0; i < N_POINT; i++) {
    point[i] = i;
  }
  const NoliSurfaceParts parts[2] = {{.n_tri = N_TRI, .tri = tri},
                                     {.n_point = N_POINT, .point = point}};
  scene->context = test_context(4);
  ASSERT_OK(noli_surface_create(scene->context, 2, vert_first, parts, &scene->surface));
  TestRandom random = {seed};
  for (int32_t i = 0; i < N_VERT; i++) {
    // a triangle's vertices lie near each other
    int32_t base = i < 3 * N_TRI ? i - i % 3 : i;
    for (int32_t c = 0; c < 3; c++) {
      double low = i == base ? -1.0 : scene->x_t0[3 * base + c] - 0.3;
      double high = i == base ? 1.0 : scene->x_t0[3 * base + c] + 0.3;
      scene->x_t0[3 * i + c] = test_random(&random, low, high);
      scene->x_t1[3 * i + c] = scene->x_t0[3 * i + c] + test_random(&random, -speed, speed);
    }
  }
  collect_pairs(scene);
  return scene;
}

static void free_scene(Scene* scene) {
  noli_candidates_free(scene->context, &scene->all);
  noli_surface_destroy(scene->context, &scene->surface);
  test_context_done(&scene->context);
  free(scene);
}

// ---- one pair after the other -------------------------------------------------------------------

typedef struct SlowList {
  NoliImpact* impact;
  int64_t n;
} SlowList;

static NoliVec3 vertex(const double* x, int32_t i) {
  return noli_load3(&x[3 * (int64_t)i]);
}

static double slow_time(const Scene* scene, NoliPrimitives kind, NoliPrimitivePair pair,
                        const NoliCcdOptions* options) {
  const NoliSurface* surface = scene->surface;
  int32_t node[4] = {pair.a, 0, 0, 0};
  if (kind == NOLI_PRIMITIVES_HALF_SPACE) {
    return noli_ccd_half_space(vertex(scene->x_t0, pair.a), vertex(scene->x_t1, pair.a),
                               plane[pair.b].origin, plane[pair.b].normal, options, 1.0);
  }
  if (kind == NOLI_PRIMITIVES_POINT_TRIANGLE) {
    memcpy(&node[1], &surface->tri[3 * pair.b], 3 * sizeof *node);
  } else {
    memcpy(&node[0], &surface->edge[2 * pair.a], 2 * sizeof *node);
    memcpy(&node[2], &surface->edge[2 * pair.b], 2 * sizeof *node);
  }
  NoliVec3 x_t0[4], x_t1[4];
  for (int k = 0; k < 4; k++) {
    x_t0[k] = vertex(scene->x_t0, node[k]);
    x_t1[k] = vertex(scene->x_t1, node[k]);
  }
  double toi = 1.0;
  bool hit = kind == NOLI_PRIMITIVES_POINT_TRIANGLE
                 ? noli_ccd_point_triangle(x_t0, x_t1, options, 1.0, &toi)
                 : noli_ccd_edge_edge(x_t0, x_t1, options, 1.0, &toi);
  assert_int_equal(hit, toi < 1.0);
  return toi;
}

static void slow_add(const Scene* scene, NoliPrimitives kind, NoliPrimitivePair pair,
                     const NoliCcdOptions* options, SlowList* list) {
  double toi = slow_time(scene, kind, pair, options);
  if (toi < 1.0) {
    list->impact[list->n++] = (NoliImpact){kind, pair.a, pair.b, toi};
  }
}

static SlowList slow_impacts(const Scene* scene, const uint8_t* allowed,
                             const NoliCcdOptions* options) {
  int64_t most = scene->all.point_triangle.count + scene->all.edge_edge.count + N_PLANE * N_VERT;
  SlowList list = {malloc((size_t)most * sizeof *list.impact), 0};
  assert_non_null(list.impact);
  for (int64_t i = 0; i < scene->all.point_triangle.count; i++) {
    slow_add(scene, NOLI_PRIMITIVES_POINT_TRIANGLE, scene->all.point_triangle.data[i], options,
             &list);
  }
  for (int64_t i = 0; i < scene->all.edge_edge.count; i++) {
    slow_add(scene, NOLI_PRIMITIVES_EDGE_EDGE, scene->all.edge_edge.data[i], options, &list);
  }
  for (int32_t i = 0; i < N_PLANE * N_VERT; i++) {
    NoliPrimitivePair pair = {i / N_PLANE, i % N_PLANE};
    int32_t body = pair.a < 3 * N_TRI ? 0 : 1;
    if (allowed == NULL || allowed[N_PLANE * body + pair.b] != 0) {
      slow_add(scene, NOLI_PRIMITIVES_HALF_SPACE, pair, options, &list);
    }
  }
  return list;
}

static bool ascends(const NoliImpact* first, const NoliImpact* second) {
  if (first->kind != second->kind) {
    return first->kind < second->kind;
  }
  return first->a != second->a ? first->a < second->a : first->b < second->b;
}

// The same impacts with the same bits, in order; returns how many of them each kind has.
static void assert_same_impacts(const NoliImpacts* got, const SlowList* want, int64_t count[3]) {
  assert_int_equal(got->impact.count, want->n);
  const NoliImpact* earliest = NULL;
  for (int64_t i = 0; i < want->n; i++) {
    const NoliImpact *mine = &got->impact.data[i], *theirs = &want->impact[i];
    assert_int_equal(mine->kind, theirs->kind);
    assert_int_equal(mine->a, theirs->a);
    assert_int_equal(mine->b, theirs->b);
    ASSERT_NEAR(mine->toi, theirs->toi, 0.0);
    assert_true(mine->toi >= 0.0 && mine->toi < 1.0);
    assert_true(i == 0 || ascends(mine - 1, mine));
    earliest = earliest == NULL || mine->toi < earliest->toi ? mine : earliest;
    count[theirs->kind]++;
  }
  assert_ptr_equal(noli_impacts_earliest(got), earliest);
}

// ---- tests --------------------------------------------------------------------------------------

static void all_impacts_are_found_for_any_thread_count(void** state) {
  (void)state;
  int64_t count[3] = {0};
  for (int k = 0; k < 6; k++) {
    Scene* scene = create_scene((uint64_t)(301 + k), 0.15 * k);
    NoliCcdOptions options = noli_default_ccd_options();
    options.safety = 0.7;
    SlowList want = slow_impacts(scene, NULL, &options);
    for (int32_t threads = 1; threads <= 4; threads++) {
      NoliImpacts impacts = {0};
      ASSERT_OK(noli_impacts_find(&impacts, scene->context,
                                  &(NoliColliders){scene->surface, plane, N_PLANE, NULL, NULL},
                                  &scene->all, scene->x_t0, scene->x_t1, &options, threads));
      assert_same_impacts(&impacts, &want, count);
      // once more: the list is replaced, without any allocation
      int64_t before = scene->context->n_allocations;
      ASSERT_OK(noli_impacts_find(&impacts, scene->context,
                                  &(NoliColliders){scene->surface, plane, N_PLANE, NULL, NULL},
                                  &scene->all, scene->x_t0, scene->x_t1, &options, threads));
      assert_int_equal(impacts.impact.count, want.n);
      assert_int_equal(scene->context->n_allocations, before);
      noli_impacts_free(scene->context, &impacts);
    }
    free(want.impact);
    free_scene(scene);
  }
  print_message("impacts: %lld point-triangle, %lld edge-edge, %lld half-space\n",
                (long long)count[0], (long long)count[1], (long long)count[2]);
  assert_true(count[0] > 100 && count[1] > 100 && count[2] > 100);
}

static void half_spaces_stop_only_the_bodies_they_hold(void** state) {
  (void)state;
  static const uint8_t table[4][4] = {{0, 0, 0, 0}, {1, 0, 0, 0}, {0, 1, 1, 0}, {0, 0, 1, 1}};
  int64_t count[3] = {0};
  Scene* scene = create_scene(311, 0.5);
  NoliCcdOptions options = noli_default_ccd_options();
  for (int k = 0; k < 4; k++) {
    SlowList want = slow_impacts(scene, table[k], &options);
    NoliImpacts impacts = {0};
    NoliBodyPairs pairs = pairs_of_tables(scene->context, 2, NULL, N_PLANE, table[k]);
    count[2] = 0;
    ASSERT_OK(noli_impacts_find(&impacts, scene->context,
                                &(NoliColliders){scene->surface, plane, N_PLANE, &pairs, NULL},
                                &scene->all, scene->x_t0, scene->x_t1, &options, 2));
    assert_same_impacts(&impacts, &want, count);
    assert_int_equal(count[2] > 0, k > 0);
    pairs_done(scene->context, &pairs);
    noli_impacts_free(scene->context, &impacts);
    free(want.impact);
  }
  free_scene(scene);
}

// Minimum distance of a pair along its path, by sampling: an upper bound.
static double sampled_distance(const Scene* scene, const NoliImpact* impact) {
  int32_t node[4];
  NoliVec3 x_t0[4], x_t1[4];
  assert_int_equal(
      noli_primitives_vertices(scene->surface, impact->kind, impact->a, impact->b, node), 4);
  for (int k = 0; k < 4; k++) {
    x_t0[k] = vertex(scene->x_t0, node[k]);
    x_t1[k] = vertex(scene->x_t1, node[k]);
  }
  double least = (double)INFINITY;
  for (int k = 0; k <= 500; k++) {
    ReferenceDistance* distance =
        impact->kind == NOLI_PRIMITIVES_EDGE_EDGE ? reference_edge_edge : reference_point_triangle;
    least = noli_smaller(least, (double)reference_at(distance, x_t0, x_t1, k / 500.0));
  }
  return least;
}

// Drops the pairs that the broad phase skipped, all of which must be false alarms.
static int64_t drop_false_alarms(const Scene* scene, const NoliImpacts* got, double enough,
                                 SlowList* want) {
  int64_t at = 0, n = 0, n_dropped = 0;
  for (int64_t i = 0; i < want->n; i++) {
    const NoliImpact* mine = at < got->impact.count ? &got->impact.data[at] : NULL;
    const NoliImpact* theirs = &want->impact[i];
    if (mine != NULL && mine->kind == theirs->kind && mine->a == theirs->a &&
        mine->b == theirs->b) {
      want->impact[n++] = *theirs;
      at++;
    } else {
      ASSERT_AT_LEAST(sampled_distance(scene, theirs), enough);
      n_dropped++;
    }
  }
  want->n = n;
  return n_dropped;
}

// With a gap cap, pairs that stay farther apart are no impacts: a broad phase with that margin
// finds all relevant ones. (CCD alone may report pairs that end just above it.)
static void broad_phase_with_the_margin_of_enough_misses_none(void** state) {
  (void)state;
  int64_t count[3] = {0}, whole = 0, n_dropped = 0;
  for (int k = 0; k < 8; k++) {
    Scene* scene = create_scene((uint64_t)(321 + k), 0.3);
    NoliBroadPhase* broad_phase = NULL;
    ASSERT_OK(noli_broad_phase_create(scene->context, scene->surface, &broad_phase));
    NoliCcdOptions options = noli_default_ccd_options();

    // slow lists with and without the cap
    SlowList without = slow_impacts(scene, NULL, &options);
    options.gap_cap = 1e-2 / (1 + k);
    options.small_gap = 0.5 * options.gap_cap;
    SlowList want = slow_impacts(scene, NULL, &options);
    assert_true(want.n < without.n);
    whole += scene->all.point_triangle.count + scene->all.edge_edge.count;

    // the broad phase searches only within the cap
    NoliCandidates near = {0};
    NoliImpacts impacts = {0};
    ASSERT_OK(
        noli_broad_phase_find(broad_phase, scene->x_t0, scene->x_t1, options.gap_cap, NULL, &near));
    assert_true(near.point_triangle.count < scene->all.point_triangle.count);
    ASSERT_OK(noli_impacts_find(&impacts, scene->context,
                                &(NoliColliders){scene->surface, plane, N_PLANE, NULL, NULL}, &near,
                                scene->x_t0, scene->x_t1, &options, 2));
    n_dropped += drop_false_alarms(scene, &impacts, options.gap_cap, &want);
    assert_same_impacts(&impacts, &want, count);
    noli_impacts_free(scene->context, &impacts);
    noli_candidates_free(scene->context, &near);
    noli_broad_phase_destroy(&broad_phase);
    free(want.impact);
    free(without.impact);
    free_scene(scene);
  }

  // enough of every kind
  print_message("impacts with enough: %lld of %lld pairs, false alarms left out: %lld\n",
                (long long)(count[0] + count[1]), (long long)whole, (long long)n_dropped);
  assert_true(count[0] > 20 && count[1] > 20 && count[2] > 20);
  assert_true(10 * n_dropped < count[0] + count[1]);
}

// A point that falls on a large triangle, and one on a plane: the remaining gaps in closed form.
static void options_say_how_much_of_a_gap_is_left(void** state) {
  (void)state;
  const NoliHalfSpace floor = {{0.0, 0.0, 0.0}, {0.0, 1.0, 0.0}};
  const NoliVec3 t[3] = {{-9.0, 0.0, -9.0}, {0.0, 0.0, 9.0}, {9.0, 0.0, -9.0}};
  const double gap = 0.4;
  // safety, gap_cap, small_gap and the remaining gap
  const double table[5][4] = {{0.9, (double)INFINITY, 0.0, 0.04},
                              {0.5, (double)INFINITY, 0.0, 0.2},
                              {0.5, 1e-3, 0.0, 1e-3},
                              {0.9, 1.0, 1.0, 0.36},
                              {0.9, 1.0, 0.3, 0.3}};
  for (int k = 0; k < 5; k++) {
    NoliCcdOptions options = noli_default_ccd_options();
    options.safety = table[k][0];
    options.gap_cap = table[k][1];
    options.small_gap = table[k][2];
    NoliVec3 x_t0[4] = {{0.0, gap, 0.0}, t[0], t[1], t[2]};
    NoliVec3 x_t1[4] = {{0.0, -1.0, 0.0}, t[0], t[1], t[2]};
    double toi, left;
    assert_true(noli_ccd_point_triangle(x_t0, x_t1, &options, 1.0, &toi));
    left = gap - toi * (1.0 + gap);
    ASSERT_AT_LEAST(left, table[k][3]);
    ASSERT_AT_MOST(left, 1.02 * table[k][3]);
    toi = noli_ccd_half_space(x_t0[0], x_t1[0], floor.origin, floor.normal, &options, 1.0);
    left = gap - toi * (1.0 + gap);
    ASSERT_AT_LEAST(left, table[k][3] * (1.0 - 1e-12));
    ASSERT_AT_MOST(left, 1.02 * table[k][3]);
  }
}

// A small gap remains after any number of retries of a path: each one uses up a tenth.
static void scarce_gaps_last(void** state) {
  (void)state;
  NoliCcdOptions options = noli_default_ccd_options();
  options.gap_cap = 1e-4;
  options.small_gap = 5e-5;
  NoliVec3 x_t0[4] = {{0, 1e-3, 0}, {-9, 0, -9}, {0, 0, 9}, {9, 0, -9}}, x_t1[4];
  memcpy(x_t1, x_t0, sizeof x_t0);
  x_t1[0].y = -1.0;
  double least = 1e-3;
  for (int k = 0; k < 20; k++) {
    double toi;
    assert_true(noli_ccd_point_triangle(x_t0, x_t1, &options, 1.0, &toi));
    x_t0[0].y += toi * (x_t1[0].y - x_t0[0].y);
    // never below a tenth of the gap, and a small gap keeps nine tenths
    double bound = fmin(0.1 * least, 1e-4);
    bound = noli_larger(bound, fmin(0.9 * least, 5e-5));
    ASSERT_AT_LEAST(x_t0[0].y, bound * (1.0 - 1e-9));
    least = x_t0[0].y;
  }
  print_message("a gap of 1 mm after 20 paths through it: %.3g m\n", least);
  ASSERT_AT_LEAST(least, 5e-5 * pow(0.9, 19.0));
}

static void impacts_without_pairs_are_none(void** state) {
  (void)state;
  NoliContext* context = test_context(2);
  NoliSurface surface = {0};
  NoliCandidates candidates = {0};
  NoliImpacts impacts = {0};
  NoliCcdOptions options = noli_default_ccd_options();
  ASSERT_OK(noli_impacts_find(&impacts, context, &(NoliColliders){.surface = &surface}, &candidates,
                              NULL, NULL, &options, 2));
  assert_int_equal(impacts.impact.count, 0);
  assert_null(noli_impacts_earliest(&impacts));
  noli_impacts_free(context, &impacts);
  test_context_done(&context);
}

static void pairs_know_their_vertices(void** state) {
  (void)state;
  Scene* scene = create_scene(331, 0.1);
  int32_t v[4];
  assert_int_equal(
      noli_primitives_vertices(scene->surface, NOLI_PRIMITIVES_POINT_TRIANGLE, 130, 7, v), 4);
  assert_int_equal(v[0], 130);
  assert_memory_equal(&v[1], &scene->surface->tri[21], 3 * sizeof *v);
  assert_int_equal(noli_primitives_vertices(scene->surface, NOLI_PRIMITIVES_EDGE_EDGE, 3, 50, v),
                   4);
  assert_memory_equal(&v[0], &scene->surface->edge[6], 2 * sizeof *v);
  assert_memory_equal(&v[2], &scene->surface->edge[100], 2 * sizeof *v);
  assert_int_equal(noli_primitives_vertices(scene->surface, NOLI_PRIMITIVES_HALF_SPACE, 5, 1, v),
                   1);
  assert_int_equal(v[0], 5);
  assert_true(v[1] == NOLI_NULL_INDEX && v[2] == NOLI_NULL_INDEX && v[3] == NOLI_NULL_INDEX);
  free_scene(scene);
}

// Vertices of body 0 that follow others have numbers above those of body 1, and come before them in
// the list of points: impacts ascend nevertheless.
static void impacts_of_followers_ascend(void** state) {
  (void)state;
  static const int32_t vert_first[3] = {0, 2, 5}, follower_first[3] = {5, 6, 6};
  static const int32_t tri[3] = {0, 1, 2}, want[6] = {0, 1, 2, 3, 4, 5};
  const NoliSurfaceParts parts[2] = {{.n_tri = 1, .tri = tri}, {.n_tri = 1, .tri = tri}};
  const NoliHalfSpace floor = {{0.0, 0.0, 0.0}, {0.0, 1.0, 0.0}};
  NoliCcdOptions options = noli_default_ccd_options();
  NoliContext* context = test_context(1);
  NoliSurface* surface = NULL;
  ASSERT_OK(
      noli_surface_create_with_followers(context, 2, vert_first, follower_first, parts, &surface));
  assert_int_equal(surface->point[2], 5);
  double x_t0[18], x_t1[18];
  for (int i = 0; i < 18; i++) {
    x_t0[i] = i % 3 == 1 ? 0.5 : 3.0 * (i / 3) + (i % 3 == 0) * (i / 3 % 2);
    x_t1[i] = x_t0[i] - (i % 3 == 1 ? 1.0 : 0.0);
  }
  NoliCandidates none = {0};
  NoliImpacts impacts = {0};
  ASSERT_OK(noli_impacts_find(&impacts, context, &(NoliColliders){surface, &floor, 1, NULL, NULL},
                              &none, x_t0, x_t1, &options, 1));
  assert_int_equal(impacts.impact.count, 6);
  for (int i = 0; i < 6; i++) {
    assert_int_equal(impacts.impact.data[i].a, want[i]);
  }
  noli_impacts_free(context, &impacts);
  noli_surface_destroy(context, &surface);
  test_context_done(&context);
}

// Two parallel segments of equal length in a plane touch at both ends: each end with the other
// segment, and no pair of segments, which has a single closest point.
static void segments_in_a_plane_touch_at_their_ends(void** state) {
  (void)state;

  // two parallel segments, of which one falls through the other
  static const int32_t vert_first[3] = {0, 2, 4}, edge[2] = {0, 1};
  static const int32_t want[4][2] = {{0, 1}, {1, 1}, {2, 0}, {3, 0}};
  const NoliSurfaceParts parts[2] = {{.n_edge = 1, .edge = edge, .planar = true},
                                     {.n_edge = 1, .edge = edge, .planar = true}};
  const double x_t0[12] = {0, 0, 0, 1, 0, 0, 0, 0.5, 0, 1, 0.5, 0};
  const double x_t1[12] = {0, 0, 0, 1, 0, 0, 0, -0.5, 0, 1, -0.5, 0};
  NoliCcdOptions options = noli_default_ccd_options();
  NoliContext* context = test_context(1);
  NoliSurface* surface = NULL;
  ASSERT_OK(noli_surface_create(context, 2, vert_first, parts, &surface));
  NoliPrimitivePair pair = {0, 1};
  NoliCandidates one = {.edge_edge = {.data = &pair, .count = 1, .capacity = 1}};

  // every end meets the other segment
  NoliImpacts impacts = {0};
  ASSERT_OK(noli_impacts_find(&impacts, context, &(NoliColliders){.surface = surface}, &one, x_t0,
                              x_t1, &options, 1));
  assert_int_equal(impacts.impact.count, 4);
  for (int i = 0; i < 4; i++) {
    const NoliImpact* impact = &impacts.impact.data[i];
    int32_t node[4];
    assert_int_equal(impact->kind, NOLI_PRIMITIVES_POINT_EDGE);
    assert_int_equal(impact->a, want[i][0]);
    assert_int_equal(impact->b, want[i][1]);
    ASSERT_AT_MOST(impact->toi, 0.5);
    ASSERT_AT_LEAST(impact->toi, 0.3);
    assert_int_equal(noli_primitives_vertices(surface, impact->kind, impact->a, impact->b, node),
                     3);
    assert_int_equal(node[3], NOLI_NULL_INDEX);
  }
  noli_impacts_free(context, &impacts);
  noli_surface_destroy(context, &surface);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_impacts_are_found_for_any_thread_count),
      cmocka_unit_test(impacts_of_followers_ascend),
      cmocka_unit_test(segments_in_a_plane_touch_at_their_ends),
      cmocka_unit_test(half_spaces_stop_only_the_bodies_they_hold),
      cmocka_unit_test(broad_phase_with_the_margin_of_enough_misses_none),
      cmocka_unit_test(options_say_how_much_of_a_gap_is_left),
      cmocka_unit_test(scarce_gaps_last),
      cmocka_unit_test(impacts_without_pairs_are_none),
      cmocka_unit_test(pairs_know_their_vertices),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
