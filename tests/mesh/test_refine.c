// Uniform refinement keeps volume, surface, orientation, tags and the quality of tetrahedra.
#include "mesh_support.h"

#include "math/vec3.h"

static NoliVec3 vertex(const NoliMesh* mesh, int32_t v) {
  return noli_load3(mesh->x + 3 * (int64_t)v);
}

// 1 for a regular tetrahedron, 0 for a flat one.
static double tet_quality(const NoliMesh* mesh, int32_t t) {
  const int32_t* tet = mesh->tet + 4 * (int64_t)t;
  double sum = 0.0;
  for (int i = 0; i < 4; i++) {
    for (int j = 0; j < i; j++) {
      sum += noli_norm_sqr3(noli_sub3(vertex(mesh, tet[i]), vertex(mesh, tet[j])));
    }
  }
  return 12.0 * pow(3.0 * tet_volume(mesh, t), 2.0 / 3.0) / sum;
}

// The largest factor by which the worst tetrahedron may become worse.
#define SHARE 0.75

// The properties of a mesh that refinement must preserve.
typedef struct Look {
  double volume, worst; // of the tetrahedra
  double area;          // of their boundary
  double tri_area;      // of the triangles
  double length;        // of the segments
  int32_t n_boundary;
} Look;

static double tri_area(const NoliMesh* mesh, const int32_t* tri) {
  NoliVec3 x0 = vertex(mesh, tri[0]);
  return 0.5 * noli_norm3(noli_cross3(noli_sub3(vertex(mesh, tri[1]), x0),
                                      noli_sub3(vertex(mesh, tri[2]), x0)));
}

static Look look_at(NoliContext* context, const NoliMesh* mesh) {
  Look look = {.worst = 1.0};
  int32_t* tri = NULL;
  for (int32_t t = 0; t < mesh->n_tet; t++) {
    double volume = tet_volume(mesh, t);
    assert_true(volume > 0.0);
    look.volume += volume;
    look.worst = noli_smaller(look.worst, tet_quality(mesh, t));
  }
  ASSERT_OK(noli_mesh_boundary(context, mesh, &tri, &look.n_boundary));
  for (int64_t t = 0; t < look.n_boundary; t++) {
    look.area += tri_area(mesh, tri + 3 * t);
  }
  noli_mesh_free_array(context, &tri);
  for (int64_t t = 0; t < mesh->n_tri; t++) {
    look.tri_area += tri_area(mesh, mesh->tri + 3 * t);
  }
  for (int64_t t = 0; t < mesh->n_edge; t++) {
    look.length +=
        noli_norm3(noli_sub3(vertex(mesh, mesh->edge[2 * t]), vertex(mesh, mesh->edge[2 * t + 1])));
  }
  return look;
}

static void expect_refined(NoliContext* context, NoliMesh** mesh) {
  Look before = look_at(context, *mesh);
  int32_t n_tet = (*mesh)->n_tet;
  for (int k = 1; k <= 3; k++) {
    Look last = look_at(context, *mesh);
    ASSERT_OK(noli_mesh_refine(context, *mesh, 1));
    Look now = look_at(context, *mesh);
    n_tet *= 8;
    assert_int_equal((*mesh)->n_tet, n_tet);
    // no face is open inside
    assert_int_equal(now.n_boundary, 4 * last.n_boundary);
    ASSERT_NEAR(now.volume, before.volume, 1e-12 * before.volume);
    ASSERT_NEAR(now.area, before.area, 1e-12 * before.area);
    ASSERT_AT_LEAST(now.worst, SHARE * before.worst);
  }
  noli_mesh_destroy(context, mesh);
}

static void shapes_are_kept(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_sphere(context, 0.5, 3, false, &mesh));
  expect_refined(context, &mesh);
  ASSERT_OK(noli_mesh_make_box(context, (double[]){1, 2, 0.5}, (int32_t[]){2, 1, 2}, false, &mesh));
  expect_refined(context, &mesh);
  test_context_done(&context);
}

// Tetrahedra of any shape, flat and long ones too.
static void random_tetrahedra_stay_as_good(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  TestRandom random = {5};
  for (int i = 0; i < 200; i++) {
    NoliMesh* mesh = NULL;
    ASSERT_OK(noli_mesh_create(context, 4, 1, 0, 0, 0, false, &mesh));
    for (int k = 0; k < 12; k++) {
      mesh->x[k] = test_random(&random, -1.0, 1.0) * (k % 3 == i % 3 ? 1.0 : 0.1);
    }
    memcpy(mesh->tet, (int32_t[]){0, 1, 2, 3}, sizeof(int32_t[4]));
    (void)noli_mesh_orient(mesh);
    expect_refined(context, &mesh);
  }
  test_context_done(&context);
}

static const char mixed[] = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n6\n"
                            "1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 3 0 0\n6 5 0 0\n$EndNodes\n"
                            "$Elements\n4\n1 4 2 7 1 1 2 3 4\n2 2 2 3 1 1 3 2\n3 1 2 9 1 5 6\n"
                            "4 2 2 4 1 2 3 5\n$EndElements\n";

// New vertices halve the edges in the order (0 1) (0 2) (0 3) (1 2) (1 3) (1 4) (2 3) (2 4) (4 5).
static void kinds_of_cells(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh* mesh = must_read(context, "refine_mixed.msh", mixed, sizeof mixed - 1);
  Look before = look_at(context, mesh);
  ASSERT_OK(noli_mesh_refine(context, mesh, 1));
  Look now = look_at(context, mesh);
  assert_int_equal(mesh->n_vert, 15);
  assert_int_equal(mesh->n_tet, 8);
  assert_int_equal(mesh->n_tri, 8);
  assert_int_equal(mesh->n_edge, 2);
  ASSERT_NEAR(now.tri_area, before.tri_area, 1e-15);
  ASSERT_NEAR(now.length, 2.0, 0.0);
  for (int t = 0; t < 8; t++) {
    assert_int_equal(mesh->tet_tag[t], 7);
    assert_int_equal(mesh->tri_tag[t], t < 4 ? 3 : 4);
  }
  const double middle[9][3] = {{0.5, 0, 0},   {0, 0.5, 0},   {0, 0, 0.5},
                               {0.5, 0.5, 0}, {0.5, 0, 0.5}, {2, 0, 0},
                               {0, 0.5, 0.5}, {1.5, 0.5, 0}, {4, 0, 0}};
  assert_memory_equal(mesh->x + 18, middle, sizeof middle);
  const int32_t cut[6] = {0, 7, 6, 7, 2, 9};
  assert_memory_equal(mesh->tri, cut, sizeof cut);
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

static void bad_requests_change_nothing(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh* mesh = must_read(context, "refine_mixed.msh", mixed, sizeof mixed - 1);
  ASSERT_OK(noli_mesh_refine(context, mesh, 0));
  ASSERT_STATUS(noli_mesh_refine(context, mesh, -1), NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_mesh_refine(context, mesh, 10), NOLI_ERROR_TOO_LARGE);
  ASSERT_OK(noli_mesh_set_order(context, mesh, 2));
  ASSERT_STATUS(noli_mesh_refine(context, mesh, 1), NOLI_ERROR_ARGUMENT);
  assert_non_null(strstr(noli_context_message(context), "curved meshes cannot be refined"));
  ASSERT_OK(noli_mesh_set_order(context, mesh, 1));
  mesh->tet[2] = 6;
  ASSERT_STATUS(noli_mesh_refine(context, mesh, 1), NOLI_ERROR_ARGUMENT);
  assert_int_equal(mesh->n_tet, 1);
  assert_int_equal(mesh->n_vert, 6);
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shapes_are_kept),
      cmocka_unit_test(random_tetrahedra_stay_as_good),
      cmocka_unit_test(kinds_of_cells),
      cmocka_unit_test(bad_requests_change_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
