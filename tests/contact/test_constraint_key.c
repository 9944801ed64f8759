// Constraints follow the closest features of their primitives: keys against the closest triangle of
// all, ends of parallel edges, lone segments, multipliers that meet.
#include "support.h"

#include "contact/constraints/active_set.h"
#include "collide/closest.h"

enum { CELLS = 6, SIDE = CELLS + 1, SHEET = SIDE * SIDE, N_VERT = SHEET + 3 + 4 };
enum { LOW = SHEET, LONE = SHEET + 3 };

// Body 0: a wavy sheet. Body 1: a triangle. Body 2: two segments that stand alone.
typedef struct Scene {
  NoliContext* context;
  NoliSurface* surface;
  NoliTriangleStars stars;
  double x[3 * N_VERT];
  double wave; // m, height of the sheet's waves
} Scene;

static double height_of(const Scene* scene, double x, double z) {
  return scene->wave * (sin(7.0 * x) * cos(5.0 * z) + 0.3 * sin(11.0 * z));
}

static void scene_create(Scene* scene, double wave) {
  static const int32_t first[4] = {0, SHEET, LONE, N_VERT}, triangle[3] = {0, 1, 2},
                       segment[4] = {0, 1, 2, 3};
  int32_t tri[6 * CELLS * CELLS], n = 0;
  for (int32_t i = 0; i < CELLS; i++) {
    for (int32_t j = 0; j < CELLS; j++) {
      int32_t v = SIDE * i + j;
      const int32_t cell[6] = {v, v + 1, v + SIDE, v + 1, v + SIDE + 1, v + SIDE};
      memcpy(tri + 3 * n, cell, sizeof cell);
      n += 2;
    }
  }
  const NoliSurfaceParts parts[3] = {
      {.n_tri = n, .tri = tri}, {.n_tri = 1, .tri = triangle}, {.n_edge = 2, .edge = segment}};
  *scene = (Scene){.context = test_context(1), .wave = wave};
  ASSERT_OK(noli_surface_create(scene->context, 3, first, parts, &scene->surface));
  ASSERT_OK(noli_triangle_stars_create(scene->context, scene->surface, &scene->stars));
  for (int32_t v = 0; v < SHEET; v++) {
    double x = (double)(v / SIDE) / CELLS, z = (double)(v % SIDE) / CELLS;
    noli_store3(scene->x + 3 * v, (NoliVec3){x, height_of(scene, x, z), z});
  }
}

static void scene_done(Scene* scene) {
  noli_triangle_stars_free(scene->context, &scene->stars);
  noli_surface_destroy(scene->context, &scene->surface);
  test_context_done(&scene->context);
}

static void put(Scene* scene, int32_t vertex, double x, double y, double z) {
  noli_store3(scene->x + 3 * vertex, (NoliVec3){x, y, z});
}

static NoliConstraintKey follow(const Scene* scene, NoliPrimitives kind, int32_t a, int32_t b) {
  return noli_constraint_key_follow((NoliConstraintKey){kind, a, b}, scene->surface, &scene->stars,
                                    scene->x);
}

static double distance_of(const Scene* scene, int32_t vertex, int32_t t) {
  NoliVec3 x[4] = {noli_load3(scene->x + 3 * vertex)};
  for (int k = 0; k < 3; k++) {
    x[k + 1] = noli_load3(scene->x + 3 * scene->surface->tri[3 * t + k]);
  }
  return sqrt(noli_distance_sqr_point_triangle(x));
}

static int32_t edge_of(const NoliSurface* surface, int32_t p, int32_t q) {
  for (int32_t e = 0; e < surface->n_edge; e++) {
    const int32_t* edge = surface->edge + 2 * e;
    if ((edge[0] == p && edge[1] == q) || (edge[0] == q && edge[1] == p)) {
      return e;
    }
  }
  fail();
  return NOLI_NULL_INDEX;
}

static void stars_have_the_triangles_of_each_vertex(void** state) {
  (void)state;
  Scene scene;
  scene_create(&scene, 0.0);
  const NoliSurface* surface = scene.surface;
  int32_t n = 0;
  for (int32_t v = 0; v < N_VERT; v++) {
    for (int32_t k = scene.stars.first[v]; k < scene.stars.first[v + 1]; k++) {
      const int32_t* tri = surface->tri + 3 * scene.stars.tri[k];
      assert_true(tri[0] == v || tri[1] == v || tri[2] == v);
      assert_true(k == scene.stars.first[v] || scene.stars.tri[k - 1] < scene.stars.tri[k]);
      n++;
    }
  }
  assert_int_equal(n, 3 * surface->n_tri);
  assert_int_equal(scene.stars.first[LONE], n);
  scene_done(&scene);
}

// From any triangle near a vertex the walk leads to the closest one of all, on a flat sheet and on
// one whose triangles meet at up to 3 degrees.
static void vertices_reach_the_closest_triangle(void** state) {
  (void)state;
  static const double wave[2] = {0.0, 0.005};
  for (int w = 0; w < 2; w++) {
    Scene scene;
    scene_create(&scene, wave[w]);
    const NoliSurface* surface = scene.surface;
    TestRandom random = {31 + (uint64_t)w};
    int moved = 0;
    for (int trial = 0; trial < 400; trial++) {
      double x = test_random(&random, -0.05, 1.05), z = test_random(&random, -0.05, 1.05);
      put(&scene, LOW, x, height_of(&scene, x, z) + test_random(&random, 1e-4, 1e-2), z);
      double least = (double)INFINITY;
      for (int32_t t = 0; t < surface->tri_first[1]; t++) {
        least = noli_smaller(least, distance_of(&scene, LOW, t));
      }
      int32_t from = 0;
      for (int32_t t = 0; t < surface->tri_first[1]; t++) {
        // a triangle two or three rows away, at random
        from = distance_of(&scene, LOW, t) < 0.4 && test_random(&random, 0.0, 1.0) < 0.2 ? t : from;
      }
      NoliConstraintKey key = follow(&scene, NOLI_PRIMITIVES_POINT_TRIANGLE, LOW, from);
      assert_int_equal(key.kind, NOLI_PRIMITIVES_POINT_TRIANGLE);
      assert_int_equal(key.a, LOW);
      double reached = distance_of(&scene, LOW, key.b);
      assert_true(reached <= distance_of(&scene, LOW, from) && reached < 1.2 * least + 0.01);
      if (w == 0) {
        ASSERT_NEAR(reached, least, 1e-9 * least);
      }
      moved += key.b != from;

      // it stays there
      NoliConstraintKey again = follow(&scene, key.kind, key.a, key.b);
      assert_int_equal(noli_constraint_key_compare(key, again), 0);
    }
    assert_true(moved > 200);
    scene_done(&scene);
  }
}

// Exactly above a vertex or an edge of the sheet, all its triangles are equally close: the first.
static void equal_triangles_are_one(void** state) {
  (void)state;
  Scene scene;
  scene_create(&scene, 0.0);
  int32_t v = SIDE * 2 + 3;
  put(&scene, LOW, scene.x[3 * v], 1e-3, scene.x[3 * v + 2]);
  const int32_t* tri = scene.stars.tri + scene.stars.first[v];
  int32_t n = scene.stars.first[v + 1] - scene.stars.first[v];
  assert_int_equal(n, 6);
  for (int32_t k = 0; k < n; k++) {
    NoliConstraintKey key = follow(&scene, NOLI_PRIMITIVES_POINT_TRIANGLE, LOW, tri[k]);
    assert_int_equal(key.b, tri[0]);
  }
  scene_done(&scene);
}

// A vertex of the sheet itself, folded onto it, never gets a triangle of its own.
static void own_triangles_are_left_out(void** state) {
  (void)state;
  Scene scene;
  scene_create(&scene, 0.0);
  int32_t v = SIDE * 3 + 3;
  scene.x[3 * v + 1] = 1e-3;
  for (int32_t t = 0; t < scene.surface->tri_first[1]; t++) {
    const int32_t* tri = scene.surface->tri + 3 * t;
    if (tri[0] != v && tri[1] != v && tri[2] != v) {
      NoliConstraintKey key = follow(&scene, NOLI_PRIMITIVES_POINT_TRIANGLE, v, t);
      tri = scene.surface->tri + 3 * key.b;
      assert_true(tri[0] != v && tri[1] != v && tri[2] != v);
      assert_true(distance_of(&scene, v, key.b) <= distance_of(&scene, v, t));
    }
  }
  scene_done(&scene);
}

// Edges that cross stay; of nearly parallel ones an end and a triangle remain, at the same
// distance.
static void edges_become_ends_and_triangles(void** state) {
  (void)state;
  Scene scene;
  scene_create(&scene, 0.0);
  int32_t row = edge_of(scene.surface, SIDE * 2 + 3, SIDE * 3 + 3);
  int32_t edge = edge_of(scene.surface, LOW, LOW + 1);
  put(&scene, LOW + 2, 0.5, 0.5, 0.9);
  double z = 3.0 / CELLS;

  // across
  put(&scene, LOW, 2.5 / CELLS, 1e-3, z - 0.1);
  put(&scene, LOW + 1, 2.5 / CELLS, 1e-3, z + 0.1);
  NoliConstraintKey key = follow(&scene, NOLI_PRIMITIVES_EDGE_EDGE, row, edge);
  assert_int_equal(
      noli_constraint_key_compare(key, (NoliConstraintKey){NOLI_PRIMITIVES_EDGE_EDGE, row, edge}),
      0);

  // along it, one end lower by a little
  for (int lower = 0; lower < 2; lower++) {
    put(&scene, LOW, 2.2 / CELLS, 1e-3 + (lower == 0 ? -1e-7 : 1e-7), z + 1e-6);
    put(&scene, LOW + 1, 2.8 / CELLS, 1e-3, z - 1e-6);
    key = follow(&scene, NOLI_PRIMITIVES_EDGE_EDGE, row, edge);
    assert_int_equal(key.kind, NOLI_PRIMITIVES_POINT_TRIANGLE);
    assert_int_equal(key.a, LOW + lower);
    ASSERT_NEAR(distance_of(&scene, key.a, key.b), lower == 0 ? 1e-3 - 1e-7 : 1e-3, 1e-14);
  }
  scene_done(&scene);
}

// At a ridge, a vertex keeps its triangle and a parallel edge the edge of the ridge, whose two
// sides are equally close; where the sides meet at less than 6 degrees, both go on.
static void bends_keep_their_constraints(void** state) {
  (void)state;
  Scene scene;
  scene_create(&scene, 0.0);
  const int32_t low = SIDE * 3 + 2, high = SIDE * 3 + 3;
  int32_t ridge = edge_of(scene.surface, low, high), edge = edge_of(scene.surface, LOW, LOW + 1);
  put(&scene, LOW + 2, 0.5, 0.9, 0.5);
  static const double bend[3] = {4.0, 9.0, 60.0}; // degrees
  for (int k = 0; k < 3; k++) {
    double derivative = tan(0.5 * bend[k] / 180.0 * 3.141592653589793);
    for (int32_t v = 0; v < SHEET; v++) {
      scene.x[3 * v + 1] = -derivative * fabs(scene.x[3 * v] - 0.5);
    }

    // edges, one end lower
    put(&scene, LOW, 0.5, 1e-3, 2.2 / CELLS);
    put(&scene, LOW + 1, 0.5, 1e-3 + 1e-6, 2.8 / CELLS);
    NoliConstraintKey key = follow(&scene, NOLI_PRIMITIVES_EDGE_EDGE, ridge, edge);
    assert_int_equal(key.kind, k == 0 ? NOLI_PRIMITIVES_POINT_TRIANGLE : NOLI_PRIMITIVES_EDGE_EDGE);

    // a vertex on the other side of the ridge than its triangle
    int32_t side[2] = {NOLI_NULL_INDEX, NOLI_NULL_INDEX};
    for (int32_t i = scene.stars.first[low]; i < scene.stars.first[low + 1]; i++) {
      const int32_t* tri = scene.surface->tri + 3 * scene.stars.tri[i];
      double middle = 0.0;
      bool at_ridge = tri[0] == high || tri[1] == high || tri[2] == high;
      for (int a = 0; a < 3; a++) {
        middle += scene.x[3 * tri[a]] / 3.0;
      }
      if (at_ridge) {
        side[middle > 0.5] = scene.stars.tri[i];
      }
    }
    assert_true(side[0] != NOLI_NULL_INDEX && side[1] != NOLI_NULL_INDEX);
    put(&scene, LOW, 0.52, 1e-3, 2.5 / CELLS);
    key = follow(&scene, NOLI_PRIMITIVES_POINT_TRIANGLE, LOW, side[0]);
    assert_int_equal(key.b, side[k == 0]);
  }
  scene_done(&scene);
}

// Segments that stand alone: an end and the other segment; points are left as they are.
static void lone_segments_become_ends_and_segments(void** state) {
  (void)state;
  Scene scene;
  scene_create(&scene, 0.0);
  int32_t a = edge_of(scene.surface, LONE, LONE + 1),
          b = edge_of(scene.surface, LONE + 2, LONE + 3);
  put(&scene, LONE, 0, 5, 0);
  put(&scene, LONE + 1, 1, 5, 0);
  put(&scene, LONE + 2, 0.2, 5.1, 0.01);
  put(&scene, LONE + 3, 0.9, 5.2, 0.02);
  NoliConstraintKey key = follow(&scene, NOLI_PRIMITIVES_EDGE_EDGE, a, b);
  assert_int_equal(key.kind, NOLI_PRIMITIVES_POINT_EDGE);
  assert_true(key.a == LONE + 2 && key.b == a);

  // crossing ones, and half-spaces
  put(&scene, LONE + 3, 0.9, 5.1, -0.02);
  key = follow(&scene, NOLI_PRIMITIVES_EDGE_EDGE, a, b);
  assert_true(key.kind == NOLI_PRIMITIVES_EDGE_EDGE && key.a == a && key.b == b);
  key = follow(&scene, NOLI_PRIMITIVES_HALF_SPACE, LONE, 0);
  assert_true(key.kind == NOLI_PRIMITIVES_HALF_SPACE && key.a == LONE && key.b == 0);
  scene_done(&scene);
}

// Constraints of all triangles around a vertex become one that carries their multipliers.
static void constraints_that_meet_add_their_multipliers(void** state) {
  (void)state;
  Scene scene;
  scene_create(&scene, 0.0);
  int32_t v = SIDE * 2 + 3;
  put(&scene, LOW, scene.x[3 * v], 1e-3, scene.x[3 * v + 2]);
  put(&scene, LOW + 1, 0.6, 2e-3, 0.6);
  put(&scene, LOW + 2, 0.5, 0.5, 0.5);
  NoliActiveSet set = {.ratio = 1.0, .delta = 1e-2};
  for (int32_t k = scene.stars.first[v]; k < scene.stars.first[v + 1]; k++) {
    const NoliConstraint constraint = {
        .key = {NOLI_PRIMITIVES_POINT_TRIANGLE, LOW, scene.stars.tri[k]},
        .lambda = 1.0 + k - scene.stars.first[v],
        .gamma = 0.5};
    NoliStatus status = NOLI_OK;
    NOLI_PUSH(scene.context, &set.constraint, constraint);
  done:
    ASSERT_OK(status);
  }
  ASSERT_OK(noli_active_set_follow(&set, scene.context, scene.surface, scene.x, 1));
  assert_int_equal(set.constraint.count, 1);
  ASSERT_NEAR(set.constraint.data[0].lambda, 21.0, 1e-15);
  ASSERT_NEAR(set.constraint.data[0].gamma, 0.5, 0.0);
  assert_null(noli_active_set_defect(&set));
  noli_active_set_free(scene.context, &set);
  scene_done(&scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stars_have_the_triangles_of_each_vertex),
      cmocka_unit_test(vertices_reach_the_closest_triangle),
      cmocka_unit_test(equal_triangles_are_one),
      cmocka_unit_test(own_triangles_are_left_out),
      cmocka_unit_test(edges_become_ends_and_triangles),
      cmocka_unit_test(bends_keep_their_constraints),
      cmocka_unit_test(lone_segments_become_ends_and_segments),
      cmocka_unit_test(constraints_that_meet_add_their_multipliers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
