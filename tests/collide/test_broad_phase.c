#include "support.h"

#include "collide/broad_phase.h"
#include "collide/brute_force.h"
#include "collide/closest_reference.h"
#include "collide/pair_tables.h"
#include "math/vec3.h"
#include "noli/broad_phase.h"
#include "noli/intersection.h"

enum { MOST_BODIES = 12 };

// Bodies of random cells. Every body has its own vertices; cells of a sheet share vertices, cells
// of a soup do not.
typedef struct Scene {
  NoliContext* context;
  NoliSurface* surface;
  int32_t n_body;
  int32_t n_vert;
  int32_t vert_first[MOST_BODIES + 1];
  NoliSurfaceParts parts[MOST_BODIES];
  int32_t* cells[MOST_BODIES];
  double* x_t0;
  double* x_t1;
} Scene;

static void add_soup(Scene* scene, int32_t n_tri, int32_t n_edge, int32_t n_point) {
  int32_t b = scene->n_body++;
  int32_t n = 3 * n_tri + 2 * n_edge + n_point;
  int32_t* cells = malloc(sizeof(int32_t) * (size_t)(n + 1));
  for (int32_t i = 0; i < n; i++) {
    cells[i] = i;
  }
  scene->cells[b] = cells;
  scene->parts[b] = (NoliSurfaceParts){.n_tri = n_tri,
                                       .n_edge = n_edge,
                                       .n_point = n_point,
                                       .tri = cells,
                                       .edge = cells + 3 * n_tri,
                                       .point = cells + 3 * n_tri + 2 * n_edge};
  scene->vert_first[b + 1] = scene->vert_first[b] + n;
}

static void add_sheet(Scene* scene, int32_t n) {
  int32_t b = scene->n_body++;
  int32_t* cells = malloc(sizeof(int32_t) * (size_t)(6 * n * n));
  int32_t* next = cells;
  for (int32_t i = 0; i < n; i++) {
    for (int32_t j = 0; j < n; j++) {
      int32_t v = i * (n + 1) + j;
      const int32_t two[6] = {v, v + 1, v + n + 1, v + 1, v + n + 2, v + n + 1};
      memcpy(next, two, sizeof two);
      next += 6;
    }
  }
  scene->cells[b] = cells;
  scene->parts[b] = (NoliSurfaceParts){.n_tri = 2 * n * n, .tri = cells};
  scene->vert_first[b + 1] = scene->vert_first[b] + (n + 1) * (n + 1);
}

static void finish_scene(Scene* scene, int32_t n_threads) {
  scene->context = test_context(n_threads);
  scene->n_vert = scene->vert_first[scene->n_body];
  size_t size = 3 * sizeof(double) * (size_t)(scene->n_vert + 1);
  scene->x_t0 = calloc(1, size);
  scene->x_t1 = calloc(1, size);
  ASSERT_OK(noli_surface_create(scene->context, scene->n_body, scene->vert_first, scene->parts,
                                &scene->surface));
}

static void release_scene(Scene* scene) {
  noli_surface_destroy(scene->context, &scene->surface);
  for (int32_t b = 0; b < scene->n_body; b++) {
    free(scene->cells[b]);
  }
  free(scene->x_t0);
  free(scene->x_t1);
  test_context_done(&scene->context);
}

// Cells of about `size` at random places of the unit cube.
static void place_cells(Scene* scene, TestRandom* random, double size) {
  for (int32_t b = 0; b < scene->n_body; b++) {
    const NoliSurfaceParts* part = &scene->parts[b];
    int32_t n = scene->vert_first[b + 1] - scene->vert_first[b];
    double centre[3] = {0.0, 0.0, 0.0};
    for (int32_t i = 0; i < n; i++) {
      bool starts = i < 3 * part->n_tri ? i % 3 == 0 : true;
      for (int k = 0; k < 3; k++) {
        centre[k] = starts ? test_random(random, 0.0, 1.0) : centre[k];
        scene->x_t0[3 * (scene->vert_first[b] + i) + k] =
            centre[k] + test_random(random, -size, size);
      }
    }
  }
}

// A wavy sheet above the last.
static void place_sheet(Scene* scene, int32_t body, int32_t n, double height, TestRandom* random) {
  for (int32_t i = 0; i <= n; i++) {
    for (int32_t j = 0; j <= n; j++) {
      double* x = &scene->x_t0[3 * (scene->vert_first[body] + i * (n + 1) + j)];
      x[0] = (double)i / n + test_random(random, -0.2, 0.2) / n;
      x[1] = height + 0.05 * sin(7.0 * x[0]) + test_random(random, -0.02, 0.02);
      x[2] = (double)j / n + test_random(random, -0.2, 0.2) / n;
    }
  }
}

// Every vertex moves by a common velocity of its body and a random part.
static void move(Scene* scene, TestRandom* random, double (*common)[3], double own) {
  for (int32_t b = 0; b < scene->n_body; b++) {
    for (int32_t v = scene->vert_first[b]; v < scene->vert_first[b + 1]; v++) {
      for (int k = 0; k < 3; k++) {
        double c = common != NULL ? common[b][k] : 0.0;
        scene->x_t1[3 * v + k] = scene->x_t0[3 * v + k] + c + test_random(random, -own, own);
      }
    }
  }
}

static void free_candidates(NoliContext* context, NoliCandidates* candidates) {
  noli_array_free(context, &candidates->point_triangle);
  noli_array_free(context, &candidates->edge_edge);
}

static void assert_same(const NoliCandidates* got, const NoliCandidates* want) {
  assert_int_equal(got->point_triangle.count, want->point_triangle.count);
  assert_int_equal(got->edge_edge.count, want->edge_edge.count);
  for (int64_t i = 0; i < got->point_triangle.count; i++) {
    assert_int_equal(got->point_triangle.data[i].a, want->point_triangle.data[i].a);
    assert_int_equal(got->point_triangle.data[i].b, want->point_triangle.data[i].b);
  }
  for (int64_t i = 0; i < got->edge_edge.count; i++) {
    assert_int_equal(got->edge_edge.data[i].a, want->edge_edge.data[i].a);
    assert_int_equal(got->edge_edge.data[i].b, want->edge_edge.data[i].b);
  }
}

// --- distances that prove that pairs stay separated ---

// The smallest distance of a pair along its path. From distance d, nothing can come closer than
// `bound` before (d - bound) / speed: the steps are as long as that (and at least 1e-4, so that
// grazing pairs end).
static double smallest_distance(const Scene* scene, bool is_point_triangle, NoliPrimitivePair pair,
                                double bound) {
  const NoliSurface* surface = scene->surface;
  int32_t vert[4] = {pair.a};
  int n_first = is_point_triangle ? 1 : 2;
  if (is_point_triangle) {
    memcpy(vert + 1, &surface->tri[3 * pair.b], 3 * sizeof(int32_t));
  } else {
    memcpy(vert, &surface->edge[2 * pair.a], 2 * sizeof(int32_t));
    memcpy(vert + 2, &surface->edge[2 * pair.b], 2 * sizeof(int32_t));
  }
  NoliVec3 from[4], moved[4];
  double speed[2] = {0.0, 0.0};
  for (int k = 0; k < 4; k++) {
    from[k] = noli_load3(&scene->x_t0[3 * vert[k]]);
    moved[k] = noli_sub3(noli_load3(&scene->x_t1[3 * vert[k]]), from[k]);
    double relative = noli_norm3(noli_sub3(moved[k], moved[0]));
    speed[k >= n_first] = noli_larger(speed[k >= n_first], relative);
  }
  double best = INFINITY, t = 0.0;
  while (best > bound && t <= 1.0) {
    NoliVec3 x[4];
    for (int k = 0; k < 4; k++) {
      x[k] = noli_mul_add3(from[k], t, moved[k]);
    }
    double d =
        reference_distance(is_point_triangle ? reference_point_triangle : reference_edge_edge, x);
    best = fmin(best, d);
    t += fmax(0.99 * (d - bound) / (speed[0] + speed[1] + 1e-30), 1e-4);
  }
  return best;
}

// Pairs of `all` that are not in `found` must stay separated. Returns their number.
static int64_t check_omitted(const Scene* scene, bool is_point_triangle,
                             const NoliPrimitivePair* all, int64_t n_all,
                             const NoliPrimitivePair* found, int64_t n_found, double inflation) {
  int64_t n_omitted = 0, j = 0;
  for (int64_t i = 0; i < n_all; i++) {
    while (j < n_found &&
           (found[j].a < all[i].a || (found[j].a == all[i].a && found[j].b < all[i].b))) {
      j++;
    }
    if (j == n_found || found[j].a != all[i].a || found[j].b != all[i].b) {
      // the first vertex of an edge, and of the triangle or the other edge
      const NoliSurface* s = scene->surface;
      int32_t p = is_point_triangle ? all[i].a : s->edge[2 * all[i].a];
      int32_t q = is_point_triangle ? s->tri[3 * all[i].b] : s->edge[2 * all[i].b];
      double bound = inflation + noli_surface_offset(s, s->body[p], s->body[q]);
      double d = smallest_distance(scene, is_point_triangle, all[i], bound);
      if (!(d > bound)) {
        print_error("missed %s (%d, %d) at distance %g\n",
                    is_point_triangle ? "point-triangle" : "edge-edge", all[i].a, all[i].b, d);
        fail();
      }
      n_omitted++;
    }
  }
  return n_omitted;
}

static void assert_sorted(const NoliPrimitivePair* pair, int64_t n) {
  for (int64_t i = 1; i < n; i++) {
    assert_true(pair[i - 1].a < pair[i].a ||
                (pair[i - 1].a == pair[i].a && pair[i - 1].b < pair[i].b));
  }
}

// Searches with the trees and by brute force, and compares the results. Returns the fraction found.
static double compare_moving(const Scene* scene, NoliBroadPhase* broad_phase, double inflation,
                             const NoliBodyPairs* pairs) {
  NoliCandidates got = {0}, all = {0};
  ASSERT_OK(noli_broad_phase_find(broad_phase, scene->x_t0, scene->x_t1, inflation, pairs, &got));
  ASSERT_OK(brute_force_find(scene->context, scene->surface, scene->x_t0, scene->x_t1, inflation,
                             pairs, &all));
  assert_sorted(got.point_triangle.data, got.point_triangle.count);
  assert_sorted(got.edge_edge.data, got.edge_edge.count);
  check_omitted(scene, true, all.point_triangle.data, all.point_triangle.count,
                got.point_triangle.data, got.point_triangle.count, inflation);
  check_omitted(scene, false, all.edge_edge.data, all.edge_edge.count, got.edge_edge.data,
                got.edge_edge.count, inflation);
  double share = (double)(got.point_triangle.count + got.edge_edge.count) /
                 (double)(all.point_triangle.count + all.edge_edge.count);
  free_candidates(scene->context, &got);
  free_candidates(scene->context, &all);
  return share;
}

static void compare_resting(const Scene* scene, NoliBroadPhase* broad_phase, double inflation,
                            const NoliBodyPairs* pairs) {
  NoliCandidates got = {0}, want = {0};
  ASSERT_OK(noli_broad_phase_find(broad_phase, scene->x_t0, scene->x_t0, inflation, pairs, &got));
  ASSERT_OK(brute_force_find(scene->context, scene->surface, scene->x_t0, scene->x_t0, inflation,
                             pairs, &want));
  assert_same(&got, &want);
  free_candidates(scene->context, &got);
  free_candidates(scene->context, &want);
}

// Offsets of the bodies, some of them 0, if `any`.
static void set_offsets(Scene* scene, TestRandom* random, bool any) {
  double offset[MOST_BODIES];
  for (int32_t b = 0; any && b < scene->n_body; b++) {
    offset[b] = b % 3 == 2 ? 0.0 : test_random(random, 0.0, 0.05);
  }
  if (any) {
    ASSERT_OK(noli_surface_set_offsets(scene->context, scene->surface, offset));
  }
}

// --- tests ---

static void random_soups_agree_with_brute_force(void** state) {
  (void)state;
  TestRandom random = {1};
  for (int trial = 0; trial < 40; trial++) {
    Scene scene = {0};
    int32_t n = (int32_t)test_random(&random, 0.0, 60.0);
    add_soup(&scene, n, n / 3, n / 4);
    add_soup(&scene, trial % 4, trial % 3, trial % 2);
    add_soup(&scene, 0, n / 2, 0);
    add_soup(&scene, n / 2, 0, 3);
    finish_scene(&scene, 2);
    place_cells(&scene, &random, test_random(&random, 0.02, 0.3));
    set_offsets(&scene, &random, trial % 3 == 0);
    NoliBroadPhase* broad_phase = NULL;
    ASSERT_OK(noli_broad_phase_create(scene.context, scene.surface, &broad_phase));
    uint8_t allowed[16];
    for (int a = 0; a < 4; a++) {
      for (int b = a; b < 4; b++) {
        allowed[4 * a + b] = allowed[4 * b + a] = test_random(&random, 0.0, 1.0) < 0.6;
      }
    }
    compare_resting(&scene, broad_phase, 0.0, NULL);
    compare_resting(&scene, broad_phase, 0.03, NULL);
    NoliBodyPairs pairs = pairs_of_tables(scene.context, 4, allowed, 0, NULL);
    compare_resting(&scene, broad_phase, 0.01, &pairs);
    pairs_done(scene.context, &pairs);
    noli_broad_phase_destroy(&broad_phase);
    release_scene(&scene);
  }
}

// Rods and free points: points are edges of zero length; they pair with segments, each other and
// triangles, but not with edges of triangles. Ties remove pairs.
static void thin_bodies_agree_with_brute_force(void** state) {
  (void)state;
  TestRandom random = {7};
  int64_t n_point_edges = 0, n_point_points = 0;
  for (int trial = 0; trial < 30; trial++) {
    Scene scene = {0};
    add_soup(&scene, 0, 20, 0);
    add_soup(&scene, 0, 0, 30);
    add_soup(&scene, trial % 2 == 0 ? 25 : 0, 0, 5);
    for (int32_t b = 0; b < scene.n_body; b++) {
      scene.parts[b].points_are_edges = true;
    }
    finish_scene(&scene, 2);
    place_cells(&scene, &random, 0.1);
    set_offsets(&scene, &random, trial % 3 == 0);
    if (trial % 4 == 0) {
      // the first segments to the first points
      int32_t tied[10];
      for (int32_t i = 0; i < 5; i++) {
        tied[2 * i] = 2 * i;
        tied[2 * i + 1] = scene.vert_first[1] + i;
      }
      ASSERT_OK(noli_surface_attach(scene.context, scene.surface, 5, tied));
    }
    NoliBroadPhase* broad_phase = NULL;
    NoliCandidates found = {0};
    ASSERT_OK(noli_broad_phase_create(scene.context, scene.surface, &broad_phase));
    compare_resting(&scene, broad_phase, 0.0, NULL);
    compare_resting(&scene, broad_phase, 0.1, NULL);
    ASSERT_OK(noli_broad_phase_find(broad_phase, scene.x_t0, scene.x_t0, 0.1, NULL, &found));
    for (int64_t i = 0; i < found.edge_edge.count; i++) {
      int32_t a = noli_surface_edge_size(&scene.surface->edge[2 * found.edge_edge.data[i].a]);
      int32_t b = noli_surface_edge_size(&scene.surface->edge[2 * found.edge_edge.data[i].b]);
      n_point_edges += a + b == 3 ? 1 : 0;
      n_point_points += a + b == 2 ? 1 : 0;
    }
    free_candidates(scene.context, &found);
    noli_broad_phase_destroy(&broad_phase);
    release_scene(&scene);
  }
  assert_true(n_point_edges > 100 && n_point_points > 100);
}

static void moving_soups_miss_nothing_close(void** state) {
  (void)state;
  TestRandom random = {2};
  for (int trial = 0; trial < 12; trial++) {
    Scene scene = {0};
    for (int b = 0; b < 5; b++) {
      add_soup(&scene, 25, 5, 4);
    }
    finish_scene(&scene, 2);
    place_cells(&scene, &random, 0.05);
    set_offsets(&scene, &random, trial % 2 == 1);
    // from resting to fast, with and without motion of the primitive itself
    double common[5][3];
    double speed = trial % 4 == 0 ? 0.0 : pow(10.0, trial % 4 - 2);
    for (int b = 0; b < 5; b++) {
      for (int k = 0; k < 3; k++) {
        common[b][k] = (k == trial % 3 && trial > 6) ? 0.0 : test_random(&random, -speed, speed);
      }
    }
    move(&scene, &random, common, trial % 2 == 0 ? 0.0 : 0.1);
    NoliBroadPhase* broad_phase = NULL;
    ASSERT_OK(noli_broad_phase_create(scene.context, scene.surface, &broad_phase));
    compare_moving(&scene, broad_phase, 0.0, NULL);
    compare_moving(&scene, broad_phase, 0.01, NULL);
    noli_broad_phase_destroy(&broad_phase);
    release_scene(&scene);
  }
}

static void sheets_agree_with_brute_force_after_many_refits(void** state) {
  (void)state;
  enum { N = 9 };
  TestRandom random = {3};
  Scene scene = {0};
  add_sheet(&scene, N);
  add_sheet(&scene, N);
  finish_scene(&scene, 2);
  NoliBroadPhase* broad_phase = NULL;
  ASSERT_OK(noli_broad_phase_create(scene.context, scene.surface, &broad_phase));
  for (int step = 0; step < 30; step++) {
    place_sheet(&scene, 0, N, 0.0, &random);
    place_sheet(&scene, 1, N, 0.02, &random);
    // at times crumpled beyond recognition
    double own = step % 10 == 7 ? 3.0 : 0.02;
    move(&scene, &random, NULL, own);
    if (step % 5 != 4) {
      memcpy(scene.x_t0, scene.x_t1, 3 * sizeof(double) * (size_t)scene.n_vert);
      compare_resting(&scene, broad_phase, 0.01, NULL);
    } else {
      compare_moving(&scene, broad_phase, 0.01, NULL);
    }
  }
  noli_broad_phase_destroy(&broad_phase);
  release_scene(&scene);
}

static void poor_trees_are_made_anew(void** state) {
  (void)state;
  TestRandom random = {8};
  Scene scene = {0};
  add_soup(&scene, 400, 20, 20);
  finish_scene(&scene, 1);
  place_cells(&scene, &random, 0.02);
  NoliBroadPhase* broad_phase = NULL;
  ASSERT_OK(noli_broad_phase_create(scene.context, scene.surface, &broad_phase));
  compare_resting(&scene, broad_phase, 0.01, NULL);

  // a tree is kept if its primitives move little or together
  const int64_t n = 3 * (int64_t)scene.n_vert;
  for (int64_t i = 0; i < n; i++) {
    scene.x_t0[i] += 5.0 + test_random(&random, -0.01, 0.01);
  }
  compare_resting(&scene, broad_phase, 0.01, NULL);
  assert_int_equal(noli_broad_phase_builds(broad_phase), 1);

  // primitives that are scattered again get a new tree, without any allocation
  place_cells(&scene, &random, 0.02);
  int64_t n_allocations = scene.context->n_allocations;
  NoliCandidates found = {0};
  ASSERT_OK(noli_array_reserve(scene.context, &found.point_triangle, 10000));
  ASSERT_OK(noli_array_reserve(scene.context, &found.edge_edge, 10000));
  ASSERT_OK(noli_broad_phase_find(broad_phase, scene.x_t0, scene.x_t0, 0.005, NULL, &found));
  assert_int_equal(noli_broad_phase_builds(broad_phase), 2);
  assert_int_equal(scene.context->n_allocations, n_allocations + 2);
  compare_resting(&scene, broad_phase, 0.01, NULL);
  assert_int_equal(noli_broad_phase_builds(broad_phase), 2);
  free_candidates(scene.context, &found);
  noli_broad_phase_destroy(&broad_phase);
  release_scene(&scene);
}

static void common_motion_costs_nothing(void** state) {
  (void)state;
  enum { N = 16 };
  TestRandom random = {4};
  Scene scene = {0};
  add_sheet(&scene, N);
  add_sheet(&scene, N);
  add_soup(&scene, 20, 5, 5);
  finish_scene(&scene, 1);
  place_cells(&scene, &random, 0.05);
  place_sheet(&scene, 0, N, 0.4, &random);
  place_sheet(&scene, 1, N, 0.41, &random);
  NoliBroadPhase* broad_phase = NULL;
  NoliCandidates rest = {0}, fall = {0}, brute = {0};
  ASSERT_OK(noli_broad_phase_create(scene.context, scene.surface, &broad_phase));

  // compare a moving scene with one at rest
  ASSERT_OK(noli_broad_phase_find(broad_phase, scene.x_t0, scene.x_t0, 0.002, NULL, &rest));
  // everything moves by the same vector, which is as long as the scene
  double common[3][3] = {{0.3, -1.7, 0.9}, {0.3, -1.7, 0.9}, {0.3, -1.7, 0.9}};
  move(&scene, &random, common, 0.0);
  ASSERT_OK(noli_broad_phase_find(broad_phase, scene.x_t0, scene.x_t1, 0.002, NULL, &fall));
  ASSERT_OK(
      brute_force_find(scene.context, scene.surface, scene.x_t0, scene.x_t1, 0.002, NULL, &brute));
  assert_true(rest.point_triangle.count > 100);
  assert_same(&fall, &rest);
  assert_true(brute.edge_edge.count > 10 * fall.edge_edge.count);

  // two sheets side by side, one flies past: a corridor, not a block
  double past[3][3] = {{5.0, 5.0, 5.0}, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
  move(&scene, &random, past, 0.0);
  double share = compare_moving(&scene, broad_phase, 0.002, NULL);
  ASSERT_AT_MOST(share, 0.5);

  // release
  free_candidates(scene.context, &rest);
  free_candidates(scene.context, &fall);
  free_candidates(scene.context, &brute);
  noli_broad_phase_destroy(&broad_phase);
  release_scene(&scene);
}

static void far_from_the_origin_nothing_is_missed(void** state) {
  (void)state;
  TestRandom random = {5};
  Scene scene = {0};
  add_soup(&scene, 60, 10, 10);
  add_soup(&scene, 60, 10, 10);
  finish_scene(&scene, 1);
  place_cells(&scene, &random, 0.05);
  for (int32_t i = 0; i < 3 * scene.n_vert; i++) {
    scene.x_t0[i] += 1e6;
  }
  double common[2][3] = {{100.0, -7.0, 30.0}, {100.0, -7.3, 30.2}};
  move(&scene, &random, common, 0.01);
  NoliBroadPhase* broad_phase = NULL;
  ASSERT_OK(noli_broad_phase_create(scene.context, scene.surface, &broad_phase));
  compare_resting(&scene, broad_phase, 0.02, NULL);
  double share = compare_moving(&scene, broad_phase, 0.02, NULL);
  ASSERT_AT_MOST(share, 0.5);
  noli_broad_phase_destroy(&broad_phase);
  release_scene(&scene);
}

static void touching_boxes_count_without_inflation(void** state) {
  (void)state;
  Scene scene = {0};
  add_soup(&scene, 1, 0, 0);
  add_soup(&scene, 0, 0, 1);
  finish_scene(&scene, 1);
  const double x[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0.25, 0.25, 0};
  memcpy(scene.x_t0, x, sizeof x);
  NoliBroadPhase* broad_phase = NULL;
  NoliCandidates found = {0};
  ASSERT_OK(noli_broad_phase_create(scene.context, scene.surface, &broad_phase));
  ASSERT_OK(noli_broad_phase_find(broad_phase, scene.x_t0, scene.x_t0, 0.0, NULL, &found));
  assert_int_equal(found.point_triangle.count, 1);
  assert_int_equal(found.point_triangle.data[0].a, 3);
  assert_int_equal(found.point_triangle.data[0].b, 0);
  // apart by twice the inflation; then passing through within the step
  scene.x_t0[11] = 0.02;
  ASSERT_OK(noli_broad_phase_find(broad_phase, scene.x_t0, scene.x_t0, 0.01, NULL, &found));
  assert_int_equal(found.point_triangle.count, 0);
  memcpy(scene.x_t1, scene.x_t0, sizeof x);
  scene.x_t1[11] = -1000.0;
  ASSERT_OK(noli_broad_phase_find(broad_phase, scene.x_t0, scene.x_t1, 0.01, NULL, &found));
  assert_int_equal(found.point_triangle.count, 1);
  free_candidates(scene.context, &found);
  noli_broad_phase_destroy(&broad_phase);
  release_scene(&scene);
}

static void empty_scenes_have_no_candidates(void** state) {
  (void)state;
  for (int n_body = 0; n_body < 4; n_body++) {
    Scene scene = {0};
    for (int b = 0; b < n_body; b++) {
      add_soup(&scene, 0, 0, b == 2 ? 1 : 0);
    }
    finish_scene(&scene, 2);
    NoliBroadPhase* broad_phase = NULL;
    NoliCandidates found = {0};
    ASSERT_OK(noli_broad_phase_create(scene.context, scene.surface, &broad_phase));
    ASSERT_OK(noli_broad_phase_find(broad_phase, scene.x_t0, scene.x_t1, 0.1, NULL, &found));
    assert_int_equal(found.point_triangle.count, 0);
    assert_int_equal(found.edge_edge.count, 0);
    free_candidates(scene.context, &found);
    noli_broad_phase_destroy(&broad_phase);
    release_scene(&scene);
  }
}

static void candidates_do_not_depend_on_threads(void** state) {
  (void)state;
  enum { N = 24 };

  // the same scene on each number of threads
  const int32_t threads[] = {1, 2, 3, 8};
  NoliCandidates first = {0};
  Scene kept = {0};
  for (int run = 0; run < 4; run++) {
    TestRandom random = {6};
    Scene scene = {0};
    add_sheet(&scene, N);
    add_sheet(&scene, N);
    add_soup(&scene, 100, 20, 20);
    finish_scene(&scene, threads[run]);
    place_cells(&scene, &random, 0.05);
    place_sheet(&scene, 0, N, 0.4, &random);
    place_sheet(&scene, 1, N, 0.42, &random);
    double common[3][3] = {{0.1, -0.2, 0.0}, {0.0, 0.1, 0.0}, {0.0, 0.0, 0.0}};
    move(&scene, &random, common, 0.01);

    // repeated searches give the same pairs
    NoliBroadPhase* broad_phase = NULL;
    NoliCandidates found = {0};
    ASSERT_OK(noli_broad_phase_create(scene.context, scene.surface, &broad_phase));
    for (int repeat = 0; repeat < 3; repeat++) {
      ASSERT_OK(noli_broad_phase_find(broad_phase, scene.x_t0, scene.x_t1, 0.01, NULL, &found));
      if (run == 0 && repeat == 0) {
        ASSERT_OK(noli_broad_phase_find(broad_phase, scene.x_t0, scene.x_t1, 0.01, NULL, &first));
        assert_true(first.edge_edge.count > 10000);
      }
      assert_int_equal(found.edge_edge.count, first.edge_edge.count);
      assert_memory_equal(found.edge_edge.data, first.edge_edge.data,
                          (size_t)first.edge_edge.count * sizeof(NoliPrimitivePair));
      assert_int_equal(found.point_triangle.count, first.point_triangle.count);
      assert_memory_equal(found.point_triangle.data, first.point_triangle.data,
                          (size_t)first.point_triangle.count * sizeof(NoliPrimitivePair));
    }

    // the first scene outlives the others
    noli_broad_phase_destroy(&broad_phase);
    free_candidates(scene.context, &found);
    if (run == 0) {
      kept = scene;
    } else {
      release_scene(&scene);
    }
  }
  free_candidates(kept.context, &first);
  release_scene(&kept);
}

static void nothing_is_allocated_after_warm_up(void** state) {
  (void)state;
  enum { N = 12 };
  TestRandom random = {7};
  Scene scene = {0};
  add_sheet(&scene, N);
  add_sheet(&scene, N);
  finish_scene(&scene, 3);
  NoliBroadPhase* broad_phase = NULL;
  NoliCandidates found = {0};
  ASSERT_OK(noli_broad_phase_create(scene.context, scene.surface, &broad_phase));
  place_sheet(&scene, 0, N, 0.0, &random);
  place_sheet(&scene, 1, N, 0.02, &random);
  move(&scene, &random, NULL, 0.05);
  ASSERT_OK(noli_broad_phase_find(broad_phase, scene.x_t0, scene.x_t1, 0.02, NULL, &found));
  int64_t n_allocations = scene.context->n_allocations;
  for (int step = 0; step < 20; step++) {
    place_sheet(&scene, 0, N, 0.0, &random);
    place_sheet(&scene, 1, N, 0.02, &random);
    move(&scene, &random, NULL, 0.04);
    ASSERT_OK(noli_broad_phase_find(broad_phase, scene.x_t0, scene.x_t1, 0.01, NULL, &found));
  }
  assert_int_equal(scene.context->n_allocations, n_allocations);
  free_candidates(scene.context, &found);
  noli_broad_phase_destroy(&broad_phase);
  release_scene(&scene);
}

static void bad_input_is_refused(void** state) {
  (void)state;
  Scene scene = {0};
  add_soup(&scene, 2, 0, 0);
  finish_scene(&scene, 1);
  NoliBroadPhase* broad_phase = NULL;
  NoliCandidates found = {0};
  ASSERT_OK(noli_broad_phase_create(scene.context, scene.surface, &broad_phase));
  double *x0 = scene.x_t0, *x1 = scene.x_t1;
  ASSERT_STATUS(noli_broad_phase_find(broad_phase, x0, x1, -1.0, NULL, &found),
                NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_broad_phase_find(broad_phase, x0, x1, NAN, NULL, &found), NOLI_ERROR_ARGUMENT);
  x1[7] = NAN;
  ASSERT_STATUS(noli_broad_phase_find(broad_phase, x0, x1, 0.0, NULL, &found), NOLI_NOT_FINITE);
  x1[7] = 1e300;
  ASSERT_STATUS(noli_broad_phase_find(broad_phase, x0, x1, 0.0, NULL, &found), NOLI_NOT_FINITE);
  assert_non_null(strstr(noli_context_message(scene.context), "not finite"));
  free_candidates(scene.context, &found);
  noli_broad_phase_destroy(&broad_phase);
  release_scene(&scene);
}

static void exhausted_memory_is_reported_and_nothing_leaks(void** state) {
  (void)state;
  enum { N = 60 };
  TestRandom random = {9};

  // random triangles
  double x[9 * N];
  int32_t tri[3 * N];
  for (int32_t i = 0; i < 3 * N; i++) {
    tri[i] = i;
    for (int k = 0; k < 3; k++) {
      x[3 * i + k] = test_random(&random, 0.0, 1.0);
    }
  }

  // refuse one allocation after the other
  NoliStatus status = NOLI_ERROR_MEMORY;
  int64_t n_refused = 0;
  for (; status == NOLI_ERROR_MEMORY && n_refused < 1000; n_refused++) {
    TestMemory memory;
    NoliContext* context = test_context_on(&memory, 2);
    NoliCandidatePairs* pairs = NULL;
    NoliMeshIntersection* list = NULL;
    int64_t n_list = 0;
    test_refuse(&memory, n_refused + 1);
    status = noli_candidates_find(context, 3 * N, x, NULL, N, tri, 0, NULL, 0.1, &pairs);
    assert_true((status == NOLI_OK) == (pairs != NULL));
    if (status == NOLI_OK) {
      status = noli_mesh_intersections(context, 3 * N, x, N, tri, &list, &n_list);
      assert_true((status == NOLI_OK) == (list != NULL));
    }
    noli_candidates_destroy(context, &pairs);
    noli_mesh_intersections_free(context, &list);
    test_context_done(&context);
  }
  ASSERT_OK(status);
  assert_true(n_refused > 40);
}

static void surface_lists_each_edge_and_vertex_once(void** state) {
  (void)state;
  NoliContext* context = test_context(1);

  // two triangles with a common edge, a segment on one of their edges, a separate segment, two
  // points
  const int32_t tri[6] = {2, 1, 0, 1, 2, 3}, edge[4] = {3, 1, 5, 4}, point[2] = {6, 6};
  const int32_t first[4] = {0, 2, 10, 12};
  const NoliSurfaceParts parts[3] = {
      {0},
      {.n_tri = 2, .n_edge = 2, .n_point = 2, .tri = tri, .edge = edge, .point = point},
      {0},
  };
  NoliSurface* surface = NULL;
  ASSERT_OK(noli_surface_create(context, 3, first, parts, &surface));

  // edges and vertices in ascending order
  const int32_t want_edge[12] = {2, 3, 2, 4, 3, 4, 3, 5, 4, 5, 6, 7};
  const int32_t want_point[7] = {2, 3, 4, 5, 6, 7, 8};
  const int32_t want_tri[6] = {4, 3, 2, 3, 4, 5};
  assert_int_equal(surface->n_edge, 6);
  assert_int_equal(surface->n_point, 7);
  assert_int_equal(surface->n_tri, 2);
  assert_memory_equal(surface->edge, want_edge, sizeof want_edge);
  assert_memory_equal(surface->point, want_point, sizeof want_point);
  assert_memory_equal(surface->tri, want_tri, sizeof want_tri);
  assert_int_equal(surface->tri_first[1], 0);
  assert_int_equal(surface->tri_first[2], 2);
  assert_int_equal(surface->edge_first[3], 6);
  assert_int_equal(surface->body[1], 0);
  assert_int_equal(surface->body[11], 2);
  noli_surface_destroy(context, &surface);

  // mistakes that a user can make
  const int32_t bad[3] = {0, 1, 8}, twice[3] = {0, 1, 0};
  NoliSurfaceParts wrong[3] = {{0}, {.n_tri = 1, .tri = bad}, {0}};
  ASSERT_STATUS(noli_surface_create(context, 3, first, wrong, &surface), NOLI_ERROR_ARGUMENT);
  assert_non_null(strstr(noli_context_message(context), "body 1: triangle 0 names vertex 8"));
  wrong[1].tri = twice;
  ASSERT_STATUS(noli_surface_create(context, 3, first, wrong, &surface), NOLI_ERROR_ARGUMENT);
  assert_null(surface);
  test_context_done(&context);
}

static void toolkit_finds_pairs_of_one_mesh(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  const double x[24] = {0, 0,   0, 1, 0,   0, 0, 0, 1, 0, 0.1, 0,
                        1, 0.1, 0, 0, 0.1, 1, 0, 9, 0, 1, 9,   0};
  const int32_t tri[6] = {0, 1, 2, 3, 4, 5}, segment[2] = {6, 7};
  NoliCandidatePairs* pairs = NULL;
  ASSERT_OK(noli_candidates_find(context, 8, x, NULL, 2, tri, 1, segment, 0.2, &pairs));
  assert_int_equal(pairs->n_edge, 7);
  assert_int_equal(pairs->n_point_triangle, 6);
  assert_int_equal(pairs->n_edge_edge, 9);
  assert_int_equal(pairs->point_triangle[0], 0);
  assert_int_equal(pairs->point_triangle[1], 1);
  noli_candidates_destroy(context, &pairs);
  assert_null(pairs);
  ASSERT_OK(noli_candidates_find(context, 8, x, NULL, 2, tri, 1, segment, 0.05, &pairs));
  assert_int_equal(pairs->n_point_triangle + pairs->n_edge_edge, 0);
  noli_candidates_destroy(context, &pairs);
  ASSERT_STATUS(noli_candidates_find(context, 5, x, NULL, 2, tri, 0, NULL, 0.2, &pairs),
                NOLI_ERROR_ARGUMENT);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(surface_lists_each_edge_and_vertex_once),
      cmocka_unit_test(random_soups_agree_with_brute_force),
      cmocka_unit_test(thin_bodies_agree_with_brute_force),
      cmocka_unit_test(moving_soups_miss_nothing_close),
      cmocka_unit_test(sheets_agree_with_brute_force_after_many_refits),
      cmocka_unit_test(poor_trees_are_made_anew),
      cmocka_unit_test(common_motion_costs_nothing),
      cmocka_unit_test(far_from_the_origin_nothing_is_missed),
      cmocka_unit_test(touching_boxes_count_without_inflation),
      cmocka_unit_test(empty_scenes_have_no_candidates),
      cmocka_unit_test(candidates_do_not_depend_on_threads),
      cmocka_unit_test(nothing_is_allocated_after_warm_up),
      cmocka_unit_test(bad_input_is_refused),
      cmocka_unit_test(toolkit_finds_pairs_of_one_mesh),
      cmocka_unit_test(exhausted_memory_is_reported_and_nothing_leaks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
