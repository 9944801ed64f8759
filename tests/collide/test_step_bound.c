#include "support.h"

#include "collide/pair_tables.h"
#include "collide/step_bound.h"

// Points above a cloud of triangles, edges above edges: enough pairs for several batches.
enum { N_TRI = 150, N_POINT = 150, N_VERT = 3 * N_TRI + N_POINT, N_PAIR = N_TRI * N_POINT };
enum { N_EDGE = 3 * N_TRI, N_EDGE_PAIR = 20000 };

typedef struct Scene {
  NoliSurface surface;
  NoliCandidates candidates;
  int32_t tri[3 * N_TRI], edge[2 * N_EDGE], point[N_VERT], body[N_VERT];
  NoliPrimitivePair point_triangle[N_PAIR], edge_edge[N_EDGE_PAIR];
  double x_t0[3 * N_VERT], x_t1[3 * N_VERT];
} Scene;

static void fill_topology(Scene* scene) {
  for (int32_t t = 0; t < N_TRI; t++) {
    for (int32_t k = 0; k < 3; k++) {
      scene->tri[3 * t + k] = 3 * t + k;
      scene->edge[2 * (3 * t + k)] = 3 * t + k;
      scene->edge[2 * (3 * t + k) + 1] = 3 * t + (k + 1) % 3;
    }
  }
  for (int32_t i = 0; i < N_VERT; i++) {
    scene->point[i] = i;
    scene->body[i] = i < 3 * N_TRI ? 0 : 1;
  }
  for (int32_t k = 0; k < N_PAIR; k++) {
    scene->point_triangle[k] = (NoliPrimitivePair){3 * N_TRI + k / N_TRI, k % N_TRI};
  }
  scene->surface = (NoliSurface){.n_body = 2,
                                 .n_vert = N_VERT,
                                 .n_tri = N_TRI,
                                 .n_edge = N_EDGE,
                                 .n_point = N_VERT,
                                 .tri = scene->tri,
                                 .edge = scene->edge,
                                 .point = scene->point,
                                 .body = scene->body};
  scene->candidates.point_triangle.data = scene->point_triangle;
  scene->candidates.point_triangle.count = N_PAIR;
  scene->candidates.edge_edge.data = scene->edge_edge;
}

static Scene* create_scene(uint64_t seed, double speed) {
  Scene* scene = calloc(1, sizeof *scene);
  assert_non_null(scene);
  TestRandom random = {seed};
  fill_topology(scene);
  for (int32_t i = 0; i < N_VERT; i++) {
    // a triangle's vertices lie near each other
    int32_t base = i < 3 * N_TRI ? i - i % 3 : i;
    for (int32_t c = 0; c < 3; c++) {
      double low = i == base ? -1.0 : scene->x_t0[3 * base + c] - 0.1;
      double high = i == base ? 1.0 : scene->x_t0[3 * base + c] + 0.1;
      scene->x_t0[3 * i + c] = test_random(&random, low, high);
      scene->x_t1[3 * i + c] = scene->x_t0[3 * i + c] + test_random(&random, -speed, speed);
    }
  }
  // pairs of edges of different triangles that do not touch
  int64_t n = 0;
  for (int32_t a = 0; a < N_EDGE; a++) {
    for (int32_t b = 3 * (a / 3) + 3; b < N_EDGE && n < N_EDGE_PAIR; b += 5) {
      scene->edge_edge[n++] = (NoliPrimitivePair){a, b};
    }
  }
  scene->candidates.edge_edge.count = n;
  return scene;
}

static NoliVec3 vertex(const double* x, int32_t i) {
  return noli_load3(&x[3 * i]);
}

// One pair after the other, without pruning.
static NoliStepBound slow_bound(const Scene* scene, const NoliCcdOptions* options) {
  NoliStepBound bound = {1.0, NOLI_NULL_INDEX, NOLI_NULL_INDEX, false, NOLI_NULL_INDEX};
  for (int64_t k = 0; k < N_PAIR + scene->candidates.edge_edge.count; k++) {
    bool edges = k >= N_PAIR;
    NoliPrimitivePair pair = edges ? scene->edge_edge[k - N_PAIR] : scene->point_triangle[k];
    const int32_t* tri = scene->surface.tri + 3 * (edges ? 0 : pair.b);
    const int32_t* a = scene->surface.edge + 2 * (edges ? pair.a : 0);
    const int32_t* b = scene->surface.edge + 2 * (edges ? pair.b : 0);
    int32_t index[4] = {edges ? a[0] : pair.a, edges ? a[1] : tri[0], edges ? b[0] : tri[1],
                        edges ? b[1] : tri[2]};
    NoliVec3 x_t0[4], x_t1[4];
    for (int i = 0; i < 4; i++) {
      x_t0[i] = vertex(scene->x_t0, index[i]);
      x_t1[i] = vertex(scene->x_t1, index[i]);
    }
    double toi;
    bool hit = edges ? noli_ccd_edge_edge(x_t0, x_t1, options, 1.0, &toi)
                     : noli_ccd_point_triangle(x_t0, x_t1, options, 1.0, &toi);
    if (hit && toi < bound.alpha) {
      bound = (NoliStepBound){toi, pair.a, pair.b, edges, NOLI_NULL_INDEX};
    }
  }
  return bound;
}

static void assert_same_bound(NoliStepBound got, NoliStepBound want) {
  ASSERT_NEAR(got.alpha, want.alpha, 0.0);
  assert_int_equal(got.a, want.a);
  assert_int_equal(got.b, want.b);
  assert_int_equal(got.edge_edge, want.edge_edge);
  assert_int_equal(got.half_space, want.half_space);
}

static void bound_is_the_minimum_for_any_thread_count(void** state) {
  (void)state;
  int n_edge_edge = 0, n_point_triangle = 0;
  for (int k = 0; k < 8; k++) {
    Scene* scene = create_scene((uint64_t)(41 + k), 0.05 * k);
    NoliCcdOptions options = noli_default_ccd_options();
    NoliStepBound want = slow_bound(scene, &options);
    n_edge_edge += want.edge_edge;
    n_point_triangle += want.a != NOLI_NULL_INDEX && !want.edge_edge;
    assert_int_equal(want.alpha < 1.0, want.a != NOLI_NULL_INDEX);
    for (int32_t threads = 1; threads <= 4; threads++) {
      NoliStepBound got;
      noli_step_bound_candidates(&scene->surface, &scene->candidates, scene->x_t0, scene->x_t1,
                                 &options, threads, 1.0, &got);
      assert_same_bound(got, want);
      // a shorter limit than the first hit is free
      noli_step_bound_candidates(&scene->surface, &scene->candidates, scene->x_t0, scene->x_t1,
                                 &options, threads, 0.5 * want.alpha, &got);
      ASSERT_NEAR(got.alpha, 0.5 * want.alpha, 0.0);
      assert_int_equal(got.a == NOLI_NULL_INDEX, want.alpha > 0.0);
    }
    free(scene);
  }
  assert_true(n_edge_edge > 0 && n_point_triangle > 0);
}

static void no_candidates_block_nothing(void** state) {
  (void)state;
  NoliSurface surface = {0};
  NoliCandidates candidates = {0};
  NoliStepBound bound;
  noli_step_bound_candidates(&surface, &candidates, NULL, NULL, NULL, 2, 0.7, &bound);
  ASSERT_NEAR(bound.alpha, 0.7, 0.0);
  assert_int_equal(bound.a, NOLI_NULL_INDEX);
  noli_step_bound_half_spaces(&(NoliColliders){.surface = &surface}, NULL, NULL, 0.9, 2, 0.7,
                              &bound);
  ASSERT_NEAR(bound.alpha, 0.7, 0.0);
  assert_int_equal(bound.half_space, NOLI_NULL_INDEX);
}

static void half_spaces_bound_the_bodies_they_hold(void** state) {
  (void)state;
  Scene* scene = create_scene(60, 1.0);
  const NoliHalfSpace half_spaces[2] = {{{0.0, -1.2, 0.0}, {0.0, 1.0, 0.0}},
                                        {{0.0, 1.2, 0.0}, {0.0, -0.6, 0.8}}};
  const uint8_t allowed[4] = {1, 0, 0, 0};
  NoliCcdOptions options = noli_default_ccd_options();
  options.safety = 0.8;
  NoliContext* context = test_context(1);
  NoliBodyPairs pairs = pairs_of_tables(context, 2, NULL, 2, allowed);
  // the second half-space cuts the cloud: every body on it is stuck
  for (int use = 0; use < 2; use++) {
    NoliStepBound want = {1.0, NOLI_NULL_INDEX, NOLI_NULL_INDEX, false, NOLI_NULL_INDEX};
    for (int32_t k = 0; k < 2 * N_VERT; k++) {
      int32_t i = k / 2, plane = k % 2;
      if (use == 0 && !allowed[2 * scene->body[i] + plane]) {
        continue;
      }
      double toi =
          noli_ccd_half_space(vertex(scene->x_t0, i), vertex(scene->x_t1, i),
                              half_spaces[plane].origin, half_spaces[plane].normal, &options, 1.0);
      if (toi < want.alpha) {
        want = (NoliStepBound){toi, i, NOLI_NULL_INDEX, false, plane};
      }
    }
    assert_true(want.alpha < 1.0 && (use == 1) == (want.alpha == 0.0));

    // any number of threads
    const NoliColliders colliders = {.surface = &scene->surface,
                                     .half_spaces = half_spaces,
                                     .n_half_spaces = 2,
                                     .pairs = use == 0 ? &pairs : NULL};
    for (int32_t threads = 1; threads <= 3; threads++) {
      NoliStepBound got;
      noli_step_bound_half_spaces(&colliders, scene->x_t0, scene->x_t1, 0.8, threads, 1.0, &got);
      assert_same_bound(got, want);
    }
  }
  pairs_done(context, &pairs);
  test_context_done(&context);
  free(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bound_is_the_minimum_for_any_thread_count),
      cmocka_unit_test(no_candidates_block_nothing),
      cmocka_unit_test(half_spaces_bound_the_bodies_they_hold),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
