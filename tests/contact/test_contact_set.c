#include "collide/pair_tables.h"
#include "contact/barrier.h"
#include "contact/ipc.h"
#include "contact/mollifier.h"

// Grids of triangles, one above the other, with parallel edges, shared corners and noise.
typedef struct Scene {
  int32_t n_body, n_vert;
  double* X;
  double* x;
  int32_t vert_first[4];
  int32_t tri[3][512 * 3];
  NoliSurface* surface;
  NoliCandidates candidates;
  NoliHalfSpace plane[2];
} Scene;

static void make_grid(Scene* scene, int32_t body, int32_t n, double height, double noise,
                      TestRandom* random) {
  int32_t first = scene->vert_first[body];
  for (int32_t i = 0; i <= n; i++) {
    for (int32_t j = 0; j <= n; j++) {
      double* x = scene->x + 3 * (first + i * (n + 1) + j);
      double* X = scene->X + 3 * (first + i * (n + 1) + j);
      X[0] = x[0] = 0.1 * i;
      X[1] = x[1] = height;
      X[2] = x[2] = 0.1 * j;
      for (int k = 0; k < 3; k++) {
        x[k] += test_random(random, -noise, noise);
      }
    }
  }
  for (int32_t i = 0; i < n; i++) {
    for (int32_t j = 0; j < n; j++) {
      int32_t a = i * (n + 1) + j, b = a + 1, c = a + n + 1, d = c + 1;
      int32_t t[6] = {a, b, c, b, d, c};
      memcpy(scene->tri[body] + 6 * (i * n + j), t, sizeof t);
    }
  }
}

static bool share(const int32_t* a, int n_a, const int32_t* b, int n_b) {
  for (int i = 0; i < n_a; i++) {
    for (int j = 0; j < n_b; j++) {
      if (a[i] == b[j]) {
        return true;
      }
    }
  }
  return false;
}

// All pairs without a common vertex.
static NoliStatus all_candidates(NoliContext* context, Scene* scene) {
  NoliStatus status = NOLI_OK;
  const NoliSurface* s = scene->surface;
  for (int32_t i = 0; i < s->n_point; i++) {
    for (int32_t t = 0; t < s->n_tri; t++) {
      if (!share(s->point + i, 1, s->tri + 3 * t, 3)) {
        NOLI_PUSH(context, &scene->candidates.point_triangle,
                  ((NoliPrimitivePair){s->point[i], t}));
      }
    }
  }
  for (int32_t a = 0; a < s->n_edge; a++) {
    for (int32_t b = a + 1; b < s->n_edge; b++) {
      if (!share(s->edge + 2 * a, 2, s->edge + 2 * b, 2)) {
        NOLI_PUSH(context, &scene->candidates.edge_edge, ((NoliPrimitivePair){a, b}));
      }
    }
  }
done:
  return status;
}

static void make_scene(NoliContext* context, Scene* scene, int32_t n, double gap, double noise,
                       uint64_t seed) {
  TestRandom random = {seed};
  *scene = (Scene){.n_body = 2};
  int32_t n_grid = (n + 1) * (n + 1);
  scene->n_vert = 2 * n_grid;
  scene->vert_first[1] = n_grid;
  scene->vert_first[2] = 2 * n_grid;
  scene->X = malloc(sizeof(double) * 3 * (size_t)scene->n_vert);
  scene->x = malloc(sizeof(double) * 3 * (size_t)scene->n_vert);
  make_grid(scene, 0, n, 0.0, noise, &random);
  make_grid(scene, 1, n, gap, noise, &random);
  NoliSurfaceParts parts[2] = {{.n_tri = 2 * n * n, .tri = scene->tri[0]},
                               {.n_tri = 2 * n * n, .tri = scene->tri[1]}};
  ASSERT_OK(noli_surface_create(context, 2, scene->vert_first, parts, &scene->surface));
  ASSERT_OK(all_candidates(context, scene));
  scene->plane[0] = (NoliHalfSpace){{0.0, -0.03, 0.0}, {0.0, 1.0, 0.0}};
  scene->plane[1] = (NoliHalfSpace){{-0.03, 0.0, 0.0}, {0.8, 0.6, 0.0}};
}

static void free_scene(NoliContext* context, Scene* scene) {
  noli_array_free(context, &scene->candidates.point_triangle);
  noli_array_free(context, &scene->candidates.edge_edge);
  noli_surface_destroy(context, &scene->surface);
  free(scene->X);
  free(scene->x);
}

static void load4(const double* x, const int32_t node[4], NoliVec3 y[4]) {
  for (int i = 0; i < 4; i++) {
    y[i] = noli_load3(x + 3 * node[i]);
  }
}

typedef struct Naive {
  double energy, min_d_sqr;
  int64_t pairs, mollified;
} Naive;

// [Li2020] eq. 5 as it is written: a sum over pairs of primitives, without any reduction.
static Naive naive_sum(const Scene* scene, const NoliBodyPairs* pairs, double dhat) {
  Naive naive = {.min_d_sqr = (double)INFINITY};
  const NoliSurface* s = scene->surface;
  double dhat_sqr = dhat * dhat;

  // pairs of primitives
  for (int kind = 0; kind < 2; kind++) {
    int64_t n =
        kind == 0 ? scene->candidates.point_triangle.count : scene->candidates.edge_edge.count;
    for (int64_t i = 0; i < n; i++) {
      NoliPrimitivePair p = kind == 0 ? scene->candidates.point_triangle.data[i]
                                      : scene->candidates.edge_edge.data[i];
      int32_t node[4] = {p.a};
      if (kind == 0) {
        memcpy(node + 1, s->tri + 3 * p.b, 3 * sizeof *node);
      } else {
        memcpy(node, s->edge + 2 * p.a, 2 * sizeof *node);
        memcpy(node + 2, s->edge + 2 * p.b, 2 * sizeof *node);
      }
      if (pairs != NULL && !noli_body_pairs_get(pairs, s->body[node[0]], s->body[node[3]])) {
        continue;
      }
      NoliVec3 y[4], Y[4];
      load4(scene->x, node, y);
      load4(scene->X, node, Y);
      double d_sqr =
          kind == 0 ? noli_distance_sqr_point_triangle(y) : noli_distance_sqr_edge_edge(y);
      if (s->offset != NULL) {
        double gap = sqrt(d_sqr) - s->offset[s->body[node[0]]] - s->offset[s->body[node[3]]];
        assert_true(gap > 0.0);
        d_sqr = gap * gap;
      }
      if (d_sqr < dhat_sqr) {
        double e = kind == 0 ? 1.0 : noli_mollifier_value(y, noli_mollifier_eps_x(Y));
        naive.energy += e * noli_barrier(d_sqr, dhat_sqr);
        naive.pairs++;
        naive.mollified += e < 1.0;
        naive.min_d_sqr = noli_smaller(naive.min_d_sqr, d_sqr);
      }
    }
  }

  // half-spaces
  for (int32_t p = 0; p < 2; p++) {
    for (int32_t i = 0; i < s->n_point; i++) {
      NoliVec3 x = noli_load3(scene->x + 3 * s->point[i]);
      double d = noli_dot3(scene->plane[p].normal, noli_sub3(x, scene->plane[p].origin));
      d -= s->offset != NULL ? s->offset[s->body[s->point[i]]] : 0.0;
      if (d < dhat && noli_body_pairs_get(pairs, s->body[s->point[i]], 2 + p)) {
        naive.energy += noli_barrier(d * d, dhat_sqr);
        naive.pairs++;
        naive.min_d_sqr = noli_smaller(naive.min_d_sqr, d * d);
      }
    }
  }
  return naive;
}

static void build(NoliContactSet* set, NoliContext* context, const Scene* scene,
                  const NoliBodyPairs* pairs, double dhat, int32_t n_threads) {
  const NoliColliders colliders = {
      .surface = scene->surface, .half_spaces = scene->plane, .n_half_spaces = 2, .pairs = pairs};
  ASSERT_OK(noli_contact_set_build(set, context, &colliders, scene->X, &scene->candidates, scene->x,
                                   dhat, n_threads));
}

static bool same_contact(const NoliContact* a, const NoliContact* b) {
  return a->mollified == b->mollified && a->kind == b->kind &&
         memcmp(a->node, b->node, sizeof a->node) == 0;
}

static void check_against_naive(NoliContext* context, const Scene* scene,
                                const NoliBodyPairs* pairs, double dhat) {
  NoliContactSet set;
  noli_contact_set_init(&set);
  build(&set, context, scene, pairs, dhat, 1);
  Naive naive = naive_sum(scene, pairs, dhat);
  assert_true(naive.pairs > 20);
  assert_int_equal(set.n_primitive_pairs, naive.pairs);
  assert_int_equal(set.node.count, 4 * set.contact.count);

  // merged weights count primitive pairs, no stencil occurs twice, and the order is by key
  double weights = 0.0;
  for (int64_t i = 0; i < set.contact.count; i++) {
    const NoliContact* contact = &set.contact.data[i];
    weights += contact->weight;
    assert_memory_equal(contact->node, set.node.data + 4 * i, sizeof contact->node);
    assert_int_equal(contact->entity[0], scene->surface->body[contact->node[0]]);
    assert_true(contact->gap_sqr < dhat * dhat);
    for (int64_t j = 0; j < i; j++) {
      assert_false(same_contact(contact, &set.contact.data[j]));
    }
  }
  assert_true(weights == (double)(naive.pairs - set.plane.count));
  assert_int_equal(set.class_first[5] - set.class_first[4], naive.mollified);
  assert_int_equal(set.class_first[5], set.contact.count);

  // same energy, same smallest distance
  NoliBarrier barrier = {&set, scene->plane, dhat * dhat, 1.0};
  ASSERT_NEAR(noli_barrier_energy(&barrier, scene->x, 1), naive.energy, 1e-11 * naive.energy);
  ASSERT_NEAR(set.min_gap_sqr, naive.min_d_sqr, 1e-12 * naive.min_d_sqr);
  double d = sqrt(naive.min_d_sqr);
  ASSERT_NEAR(noli_contact_set_min_distance(&set), d, 1e-12 * d);
  noli_contact_set_free(context, &set);
}

static void set_equals_the_sum_over_all_pairs(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  Scene scene;
  // noise 0: every edge pair parallel, features at vertices and edges, many merged
  const double noise[] = {0.0, 1e-3, 1e-2};
  for (int i = 0; i < 3; i++) {
    make_scene(context, &scene, 4, 0.03, noise[i], 21 + (uint64_t)i);
    check_against_naive(context, &scene, NULL, 0.05);
    check_against_naive(context, &scene, NULL, 0.2);
    free_scene(context, &scene);
  }
  test_context_done(&context);
}

// Gaps instead of distances if bodies, or one of them, have offsets.
static void offsets_count_in_every_pair(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  const double noise[] = {0.0, 1e-3, 1e-2}, offset[3][2] = {{0.02, 0.03}, {0.0, 0.02}, {0.01, 0.0}};
  for (int i = 0; i < 3; i++) {
    Scene scene;
    make_scene(context, &scene, 4, 0.09, noise[i], 25 + (uint64_t)i);
    ASSERT_OK(noli_surface_set_offsets(context, scene.surface, offset[i]));
    scene.plane[0].origin.y = scene.plane[1].origin.x = -0.07;
    check_against_naive(context, &scene, NULL, 0.08);
    check_against_naive(context, &scene, NULL, 0.2);
    free_scene(context, &scene);
  }
  test_context_done(&context);
}

// Needles, and far from the origin: the quick rejection must not lose a pair.
static void thin_triangles_lose_nothing(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  Scene scene;
  const double stretch[] = {1e-3, 30.0, 1e4};
  for (int i = 0; i < 3; i++) {
    make_scene(context, &scene, 4, 0.03, 1e-2, 71 + (uint64_t)i);
    for (int32_t v = 0; v < scene.n_vert; v++) {
      scene.x[3 * v] *= stretch[i];
      scene.X[3 * v] *= stretch[i];
      scene.x[3 * v + 2] += 100.0;
    }
    scene.plane[1].origin.x -= 0.01 * stretch[i];
    check_against_naive(context, &scene, NULL, 0.05);
    free_scene(context, &scene);
  }
  test_context_done(&context);
}

// Any failed allocation: a status, no leak, and the next build works.
static void refused_memory_is_a_status(void** state) {
  (void)state;
  NoliContext* plain = test_context(1);
  Scene scene;
  make_scene(plain, &scene, 4, 0.03, 1e-2, 81);
  bool done = false;
  for (int64_t k = 1; !done; k++) {
    assert_true(k < 100);
    TestMemory memory;
    NoliContext* context = test_context_on(&memory, 0);
    NoliContactSet set;
    noli_contact_set_init(&set);
    const NoliColliders colliders = {
        .surface = scene.surface, .half_spaces = scene.plane, .n_half_spaces = 2};
    test_refuse(&memory, k);
    NoliStatus status = noli_contact_set_build(&set, context, &colliders, scene.X,
                                               &scene.candidates, scene.x, 0.05, 1);
    done = memory.asked < k;
    assert_int_equal(status, done ? NOLI_OK : NOLI_ERROR_MEMORY);
    assert_true(done || set.contact.count == 0);
    test_refuse(&memory, 0);
    build(&set, context, &scene, NULL, 0.05, 1);
    assert_true(set.contact.count > 0);
    noli_contact_set_free(context, &set);
    test_context_done(&context);
  }
  free_scene(plain, &scene);
  test_context_done(&plain);
}

static void forbidden_pairs_are_left_out(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  Scene scene;
  make_scene(context, &scene, 4, 0.03, 1e-2, 31);
  // no self-contact of body 0, body 1 passes through half-space 0
  const uint8_t bodies[4] = {0, 1, 1, 1}, half_spaces[4] = {1, 1, 0, 1};
  NoliBodyPairs touch = pairs_of_tables(context, 2, bodies, 2, half_spaces);
  check_against_naive(context, &scene, &touch, 0.2);
  NoliContactSet set;
  noli_contact_set_init(&set);
  build(&set, context, &scene, &touch, 0.2, 1);
  for (int64_t i = 0; i < set.contact.count; i++) {
    const int32_t* e = set.contact.data[i].entity;
    assert_true(bodies[2 * e[0] + e[1]] == 1);
  }
  pairs_done(context, &touch);
  noli_contact_set_free(context, &set);
  free_scene(context, &scene);
  test_context_done(&context);
}

static void assert_same_sets(const NoliContactSet* a, const NoliContactSet* b) {
  assert_int_equal(a->contact.count, b->contact.count);
  assert_int_equal(a->plane.count, b->plane.count);
  assert_memory_equal(a->node.data, b->node.data, sizeof(int32_t) * (size_t)a->node.count);
  for (int64_t i = 0; i < a->contact.count; i++) {
    const NoliContact *p = &a->contact.data[i], *q = &b->contact.data[i];
    assert_true(same_contact(p, q) && p->gap_sqr == q->gap_sqr && p->weight == q->weight &&
                p->eps_x == q->eps_x);
  }
  for (int64_t i = 0; i < a->plane.count; i++) {
    assert_true(a->plane.data[i].node == b->plane.data[i].node &&
                a->plane.data[i].plane == b->plane.data[i].plane &&
                a->plane.data[i].gap == b->plane.data[i].gap);
  }
}

static void threads_change_nothing_and_warm_builds_allocate_nothing(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  Scene scene;
  make_scene(context, &scene, 8, 0.03, 5e-3, 41);
  NoliContactSet first, other;
  noli_contact_set_init(&first);
  noli_contact_set_init(&other);
  build(&first, context, &scene, NULL, 0.15, 1);
  assert_true(first.contact.count > 500 && first.n_primitive_pairs > first.contact.count);
  NoliBarrier barrier = {&first, scene.plane, 0.15 * 0.15, 1.0};
  double energy = noli_barrier_energy(&barrier, scene.x, 1);
  const int32_t threads[] = {2, 3, 8};
  for (int i = 0; i < 3; i++) {
    build(&other, context, &scene, NULL, 0.15, threads[i]);
    assert_same_sets(&first, &other);
    assert_true(noli_barrier_energy(&barrier, scene.x, threads[i]) == energy);
  }
  int64_t before = context->n_allocations;
  build(&other, context, &scene, NULL, 0.05, 2);
  build(&other, context, &scene, NULL, 0.15, 2);
  assert_int_equal(context->n_allocations, before);
  assert_same_sets(&first, &other);
  noli_contact_set_free(context, &first);
  noli_contact_set_free(context, &other);
  free_scene(context, &scene);
  test_context_done(&context);
}

// The order of candidates and pairs that are far apart do not matter.
static void only_positions_decide(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  Scene scene;
  make_scene(context, &scene, 4, 0.03, 5e-3, 51);
  NoliContactSet first, other;
  noli_contact_set_init(&first);
  noli_contact_set_init(&other);
  build(&first, context, &scene, NULL, 0.06, 1);
  TestRandom random = {52};
  for (int64_t n = scene.candidates.edge_edge.count; n > 1; n--) {
    int64_t k = (int64_t)(test_random_bits(&random) % (uint64_t)n);
    NoliPrimitivePair pair = scene.candidates.edge_edge.data[k];
    scene.candidates.edge_edge.data[k] = scene.candidates.edge_edge.data[n - 1];
    scene.candidates.edge_edge.data[n - 1] = pair;
  }
  build(&other, context, &scene, NULL, 0.06, 1);
  assert_same_sets(&first, &other);
  noli_contact_set_free(context, &first);
  noli_contact_set_free(context, &other);
  free_scene(context, &scene);
  test_context_done(&context);
}

static void bad_input_is_refused_or_seen(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  Scene scene;
  make_scene(context, &scene, 2, 0.03, 1e-3, 61);
  NoliContactSet set;
  noli_contact_set_init(&set);
  assert_true(isinf(noli_contact_set_min_distance(&set)));
  ASSERT_STATUS(noli_contact_set_build(&set, context, &(NoliColliders){.surface = scene.surface},
                                       scene.X, &scene.candidates, scene.x, 0.0, 1),
                NOLI_ERROR_ARGUMENT);
  // a position that is not a number makes the energy not a number
  scene.x[4] = (double)NAN;
  build(&set, context, &scene, NULL, 0.1, 1);
  NoliBarrier barrier = {&set, scene.plane, 0.01, 1.0};
  assert_true(isnan(noli_barrier_energy(&barrier, scene.x, 1)));
  assert_true(isnan(noli_contact_set_min_distance(&set)));
  noli_contact_set_free(context, &set);
  free_scene(context, &scene);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(set_equals_the_sum_over_all_pairs),
      cmocka_unit_test(offsets_count_in_every_pair),
      cmocka_unit_test(thin_triangles_lose_nothing),
      cmocka_unit_test(refused_memory_is_a_status),
      cmocka_unit_test(forbidden_pairs_are_left_out),
      cmocka_unit_test(threads_change_nothing_and_warm_builds_allocate_nothing),
      cmocka_unit_test(only_positions_decide),
      cmocka_unit_test(bad_input_is_refused_or_seen),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
