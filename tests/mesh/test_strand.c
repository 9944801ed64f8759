// Meshes of segments: lengths, places, closed rings, errors.
#include "support.h"

#include "math/vec3.h"
#include "noli/noli.h"

static double length_of(const NoliMesh* mesh) {
  double sum = 0.0;
  for (int64_t i = 0; i < mesh->n_edge; i++) {
    NoliVec3 a = noli_load3(mesh->x + 3 * (int64_t)mesh->edge[2 * i]);
    NoliVec3 b = noli_load3(mesh->x + 3 * (int64_t)mesh->edge[2 * i + 1]);
    sum += noli_norm3(noli_sub3(b, a));
  }
  return sum;
}

static void lines_and_helices_have_their_length(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  const double pi = 3.14159265358979323846;
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_line(context, 2.5, 7, &mesh));
  assert_int_equal(mesh->n_vert, 8);
  ASSERT_NEAR(length_of(mesh), 2.5, 1e-14);
  ASSERT_NEAR(mesh->x[0], -1.25, 1e-15);
  noli_mesh_destroy(context, &mesh);

  // a helix: turns sqrt((2 pi r)^2 + pitch^2), from -height / 2 to height / 2
  ASSERT_OK(noli_mesh_make_helix(context, 0.2, 0.3, 2.5, 1000, &mesh));
  ASSERT_NEAR(length_of(mesh), 2.5 * hypot(2.0 * pi * 0.2, 0.3), 1e-4);
  ASSERT_NEAR(mesh->x[1], -0.375, 1e-15);
  ASSERT_NEAR(mesh->x[3 * 1000 + 1], 0.375, 1e-15);
  noli_mesh_destroy(context, &mesh);

  // a ring is closed: every vertex has two segments
  ASSERT_OK(noli_mesh_make_helix(context, 0.2, 0.0, 1.0, 300, &mesh));
  assert_int_equal(mesh->n_vert, 300);
  assert_int_equal(mesh->n_edge, 300);
  ASSERT_NEAR(length_of(mesh), 2.0 * pi * 0.2, 1e-4);
  int32_t ends[300] = {0};
  for (int32_t i = 0; i < 600; i++) {
    ends[mesh->edge[i]]++;
  }
  for (int32_t v = 0; v < 300; v++) {
    assert_int_equal(ends[v], 2);
  }
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

// A circle given by points at unequal distances, and a broken line.
static void curves_have_equal_segments(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  const double pi = 3.14159265358979323846;
  enum { N = 2000 };
  double circle[3 * N];
  for (int i = 0; i < N; i++) {
    double share = (double)i / (N - 1), angle = 2.0 * pi * share * share;
    circle[3 * i] = 0.3 * cos(angle);
    circle[3 * i + 1] = 0.1;
    circle[3 * i + 2] = 0.3 * sin(angle);
  }
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_curve(context, circle, N, 60, &mesh));
  assert_int_equal(mesh->n_vert, 60);
  assert_int_equal(mesh->n_edge, 60);
  assert_int_equal(mesh->edge[119], 0);
  for (int32_t i = 0; i < 60; i++) {
    const double *a = mesh->x + 3 * mesh->edge[2 * i], *b = mesh->x + 3 * mesh->edge[2 * i + 1];
    ASSERT_NEAR(hypot(b[0] - a[0], b[2] - a[2]), 0.6 * sin(pi / 60.0), 1e-5);
  }
  noli_mesh_destroy(context, &mesh);

  // an open line round a corner: both of its ends, and points at a quarter of it
  const double corner[9] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0};
  ASSERT_OK(noli_mesh_make_curve(context, corner, 3, 4, &mesh));
  const double expected[15] = {0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 1.0, 0.0,
                               0.0, 1.0, 0.5, 0.0, 1.0, 1.0, 0.0};
  assert_int_equal(mesh->n_vert, 5);
  for (int i = 0; i < 15; i++) {
    ASSERT_NEAR(mesh->x[i], expected[i], 1e-15);
  }
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

static void impossible_numbers_are_refused(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh* mesh = NULL;
  ASSERT_STATUS(noli_mesh_make_line(context, 0.0, 3, &mesh), NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_mesh_make_line(context, 1.0, 0, &mesh), NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_mesh_make_helix(context, 1.0, 0.0, 2.0, 90, &mesh), NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_mesh_make_helix(context, 1.0, 0.1, 2.0, 5, &mesh), NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_mesh_make_helix(context, 1.0, 0.1, NAN, 5, &mesh), NOLI_ERROR_ARGUMENT);
  const double same[6] = {1.0, 2.0, 3.0, 1.0, 2.0, 3.0}, far[6] = {0.0, 0.0, 0.0, 1.0, NAN, 0.0};
  const double there_and_back[9] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0};
  ASSERT_STATUS(noli_mesh_make_curve(context, same, 2, 5, &mesh), NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_mesh_make_curve(context, far, 2, 5, &mesh), NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_mesh_make_curve(context, far, 1, 5, &mesh), NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_mesh_make_curve(context, there_and_back, 3, 2, &mesh), NOLI_ERROR_ARGUMENT);
  assert_null(mesh);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lines_and_helices_have_their_length),
      cmocka_unit_test(curves_have_equal_segments),
      cmocka_unit_test(impossible_numbers_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
