#include "support.h"

#include "collide/rings.h"
#include "noli/mesh.h"

static NoliSurface* surface_of(NoliContext* context, int32_t n_vert,
                               const NoliSurfaceParts* parts) {
  NoliSurface* surface = NULL;
  const int32_t vert_first[2] = {0, n_vert};
  ASSERT_OK(noli_surface_create(context, 1, vert_first, parts, &surface));
  return surface;
}

// On closed surfaces, rings close, and every triangle is found from its edges and vertices.
static void rings_of_a_torus_are_closed(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_torus(context, 1.0, 0.3, 20, 5, true, &mesh));
  NoliSurface* s = surface_of(context, mesh->n_vert,
                              &(NoliSurfaceParts){.n_tri = mesh->n_tri, .tri = mesh->tri});
  NoliRings* rings = NULL;
  ASSERT_OK(noli_rings_create(context, s, &rings));
  ASSERT_OK(noli_rings_require_closed(context, rings, 0, mesh->x));
  assert_int_equal(rings->ring_first[s->n_vert], 3 * s->n_tri);

  // rings of vertices close
  for (int32_t v = 0; v < s->n_vert; v++) {
    int32_t first = rings->ring_first[v], n = rings->ring_first[v + 1] - first;
    assert_true(n >= 3);
    int32_t at = 0, steps = 0;
    do {
      at = rings->ring_next[first + at];
      assert_in_range(at, 0, n - 1);
      steps++;
    } while (at != 0);
    assert_int_equal(steps, n);
  }

  // edges run along a triangle
  for (int32_t e = 0; e < s->n_edge; e++) {
    const int32_t* v = s->tri + 3 * rings->edge_tri[e];
    const int32_t* edge = s->edge + 2 * e;
    bool along = false;
    for (int k = 0; k < 3; k++) {
      along = along || (v[k] == edge[0] && v[(k + 1) % 3] == edge[1] &&
                        v[(k + 2) % 3] == rings->edge_opposite[2 * e]);
    }
    assert_true(along);
    assert_true(rings->edge_opposite[2 * e + 1] >= 0);
  }
  noli_rings_destroy(context, &rings);
  noli_surface_destroy(context, &s);
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

static const double corners[18] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0,
                                   0.0, 0.0, 1.0, 2.0, 0.0, 0.0, 2.0, 1.0, 0.0};

static void expect_flaw(const NoliSurfaceParts* parts, NoliFlawKind kind, int32_t v0, int32_t v1,
                        const char* text) {
  NoliContext* context = test_context(1);
  NoliSurface* surface = surface_of(context, 6, parts);
  NoliRings* rings = NULL;
  ASSERT_OK(noli_rings_create(context, surface, &rings));
  assert_int_equal(rings->flaw[0].kind, kind);
  assert_int_equal(rings->flaw[0].vertex[0], v0);
  assert_int_equal(rings->flaw[0].vertex[1], v1);
  ASSERT_STATUS(noli_rings_require_closed(context, rings, 0, corners), NOLI_ERROR_ARGUMENT);
  if (strstr(noli_context_message(context), text) == NULL) {
    print_error("%s\n", noli_context_message(context));
    fail();
  }
  noli_rings_destroy(context, &rings);
  noli_surface_destroy(context, &surface);
  test_context_done(&context);
}

static void flaws_are_located(void** state) {
  (void)state;
  const int32_t tet[12] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3};
  const int32_t open[9] = {0, 2, 1, 0, 1, 3, 1, 2, 3};
  const int32_t flipped[12] = {0, 2, 1, 0, 3, 1, 1, 2, 3, 2, 0, 3};
  const int32_t branch[15] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3, 1, 2, 4};
  const int32_t segment[2] = {4, 5}, point[1] = {5};
  expect_flaw(&(NoliSurfaceParts){.n_tri = 3, .tri = open}, NOLI_FLAW_OPEN, 0, 2,
              "vertices 0 and 2, (0, 0, 0) to (0, 1, 0), belongs to one triangle only");
  expect_flaw(&(NoliSurfaceParts){.n_tri = 4, .tri = flipped}, NOLI_FLAW_ORIENTATION, 0, 1,
              "opposite sides");
  expect_flaw(&(NoliSurfaceParts){.n_tri = 5, .tri = branch}, NOLI_FLAW_BRANCH, 1, 2,
              "more than two");
  expect_flaw(&(NoliSurfaceParts){.n_tri = 4, .tri = tet, .n_edge = 1, .edge = segment},
              NOLI_FLAW_SEGMENT, 4, 5, "no triangle");
  expect_flaw(&(NoliSurfaceParts){.n_tri = 4, .tri = tet, .n_point = 1, .point = point},
              NOLI_FLAW_POINT, 5, NOLI_NULL_INDEX, "point 5 at (2, 1, 0)");
}

static void memory_that_gives_out_is_reported(void** state) {
  (void)state;
  const int32_t tet[12] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3};
  TestMemory memory;
  NoliContext* context = test_context_on(&memory, 1);
  NoliSurface* surface = surface_of(context, 4, &(NoliSurfaceParts){.n_tri = 4, .tri = tet});
  for (int64_t k = 1;; k++) {
    NoliRings* rings = NULL;
    test_refuse(&memory, k);
    NoliStatus status = noli_rings_create(context, surface, &rings);
    noli_rings_destroy(context, &rings);
    if (status == NOLI_OK) {
      assert_true(k > 5);
      break;
    }
    assert_int_equal(status, NOLI_ERROR_MEMORY);
  }
  noli_surface_destroy(context, &surface);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rings_of_a_torus_are_closed),
      cmocka_unit_test(flaws_are_located),
      cmocka_unit_test(memory_that_gives_out_is_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
