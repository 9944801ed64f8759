// Rectangles, disks and polygons for plane strain: area, orientation, boundary, errors.
#include "support.h"

#include "math/vec3.h"
#include "noli/mesh.h"

// Twice the area of a triangle, positive if it faces +z.
static double area2(const NoliMesh* mesh, int32_t t) {
  const int32_t* v = mesh->tri + 3 * t;
  const double *a = mesh->x + 3 * v[0], *b = mesh->x + 3 * v[1], *c = mesh->x + 3 * v[2];
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

// Sum of areas, all of which are positive; the length of the boundary, along which the body lies on
// the left: its area by the edges is the same.
static void measure(NoliContext* context, const NoliMesh* mesh, double* area, double* length) {
  int32_t *edge = NULL, n_edge = 0;
  double by_edges = 0.0;
  *area = *length = 0.0;
  for (int32_t t = 0; t < mesh->n_tri; t++) {
    assert_true(area2(mesh, t) > 0.0);
    *area += 0.5 * area2(mesh, t);
  }
  ASSERT_OK(noli_mesh_outline(context, mesh, &edge, &n_edge));
  for (int32_t e = 0; e < n_edge; e++) {
    const double *a = mesh->x + 3 * edge[2 * e], *b = mesh->x + 3 * edge[2 * e + 1];
    *length += hypot(b[0] - a[0], b[1] - a[1]);
    by_edges += 0.5 * (a[0] * b[1] - a[1] * b[0]);
    assert_true(a[2] == 0.0);
  }
  ASSERT_NEAR(by_edges, *area, 1e-12 * *area);
  noli_mesh_free_array(context, &edge);
}

static void shapes_have_their_sizes(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  const double pi = 3.14159265358979323846;
  NoliMesh* mesh = NULL;
  double area, length;

  // a rectangle
  ASSERT_OK(noli_mesh_make_rectangle(context, 3.0, 0.5, 7, 2, &mesh));
  assert_int_equal(mesh->n_tri, 28);
  measure(context, mesh, &area, &length);
  ASSERT_NEAR(area, 1.5, 1e-14);
  ASSERT_NEAR(length, 7.0, 1e-14);
  noli_mesh_destroy(context, &mesh);

  // a disk
  ASSERT_OK(noli_mesh_make_disk(context, 2.0, 40, &mesh));
  measure(context, mesh, &area, &length);
  ASSERT_NEAR(area, 4.0 * pi, 2e-3 * area);
  ASSERT_NEAR(length, 4.0 * pi, 1e-3 * length);
  noli_mesh_destroy(context, &mesh);

  // an L, cells of 1 to 4
  const double corner[12] = {0, 0, 2, 0, 2, 1, 1, 1, 1, 3, 0, 3};
  for (int32_t cells = 1; cells <= 4; cells++) {
    ASSERT_OK(noli_mesh_make_polygon(context, corner, 6, cells, &mesh));
    measure(context, mesh, &area, &length);
    ASSERT_NEAR(area, 4.0, 1e-13);
    ASSERT_NEAR(length, 10.0, 1e-13);
    // one piece without cracks: Euler's formula for triangles
    assert_int_equal(mesh->n_tri, 4 * cells * cells);
    assert_int_equal(2 * mesh->n_vert - mesh->n_tri - 6 * cells, 2);
    noli_mesh_destroy(context, &mesh);
  }
  test_context_done(&context);
}

// The outline goes around all triangles, whichever way they face; a triangle of others is refused.
static void outlines_and_boxes(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh* mesh = NULL;
  int32_t *edge = NULL, n_edge = 0;
  double low[3], high[3];
  ASSERT_OK(noli_mesh_create(context, 4, 0, 2, 0, 0, false, &mesh));
  memcpy(mesh->x, (double[]){0, 0, 5, 1, 0, 5, 1, 1, 5, 0, 2, 5}, 12 * sizeof *mesh->x);
  memcpy(mesh->tri, (int32_t[]){0, 1, 2, 0, 3, 2}, 6 * sizeof *mesh->tri); // the second looks down
  ASSERT_OK(noli_mesh_outline(context, mesh, &edge, &n_edge));
  assert_int_equal(n_edge, 4);
  const int32_t wanted[8] = {0, 1, 1, 2, 3, 0, 2, 3};
  assert_memory_equal(edge, wanted, sizeof wanted);
  noli_mesh_free_array(context, &edge);
  noli_mesh_bounds(mesh->n_vert, mesh->x, low, high);
  assert_memory_equal(low, ((double[]){0, 0, 5}), sizeof low);
  assert_memory_equal(high, ((double[]){1, 2, 5}), sizeof high);
  noli_mesh_bounds(0, NULL, low, high);
  assert_true(low[0] == (double)INFINITY && high[2] == -(double)INFINITY);
  mesh->tri[5] = 4;
  ASSERT_STATUS(noli_mesh_outline(context, mesh, &edge, &n_edge), NOLI_ERROR_ARGUMENT);
  assert_true(edge == NULL && n_edge == 0);
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

static void bad_shapes_are_refused(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh* mesh = NULL;
  const double clockwise[6] = {0, 0, 0, 1, 1, 0}, crossed[8] = {0, 0, 1, 1, 1, 0, 0, 1};
  const double endless[6] = {0, 0, (double)INFINITY, 0, 0, 1};
  ASSERT_STATUS(noli_mesh_make_polygon(context, clockwise, 3, 1, &mesh), NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_mesh_make_polygon(context, crossed, 4, 1, &mesh), NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_mesh_make_polygon(context, endless, 3, 1, &mesh), NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_mesh_make_polygon(context, crossed, 2, 1, &mesh), NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_mesh_make_polygon(context, (double[]){0, 0, 1, 0, 0, 1}, 3, 100000, &mesh),
                NOLI_ERROR_TOO_LARGE);
  ASSERT_STATUS(noli_mesh_make_rectangle(context, 1.0, -1.0, 1, 1, &mesh), NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_mesh_make_rectangle(context, 1.0, 1.0, 0, 1, &mesh), NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_mesh_make_disk(context, (double)NAN, 4, &mesh), NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_mesh_make_disk(context, 1.0, 1, &mesh), NOLI_ERROR_ARGUMENT);
  assert_null(mesh);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shapes_have_their_sizes),
      cmocka_unit_test(outlines_and_boxes),
      cmocka_unit_test(bad_shapes_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
