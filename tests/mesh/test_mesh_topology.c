// Boundaries, edges, orientation, transforms, extraction, and the errors noli_mesh_check finds.
#include "mesh_support.h"

#include "mesh/topology.h"

static NoliMesh* make_mesh(NoliContext* context, int32_t n_vert, const double* x, int32_t n_tet,
                           const int32_t* tet, int32_t n_tri, const int32_t* tri) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_create(context, n_vert, n_tet, n_tri, 0, 0, false, &mesh));
  memcpy(mesh->x, x, sizeof(double) * 3 * (size_t)n_vert);
  if (n_tet > 0) {
    memcpy(mesh->tet, tet, sizeof(int32_t) * 4 * (size_t)n_tet);
  }
  if (n_tri > 0) {
    memcpy(mesh->tri, tri, sizeof(int32_t) * 3 * (size_t)n_tri);
  }
  return mesh;
}

static const double corners[5][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}};

static void create_refuses_negative_sizes_and_destroy_is_safe(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh* mesh = NULL;
  ASSERT_STATUS(noli_mesh_create(context, -1, 0, 0, 0, 0, false, &mesh), NOLI_ERROR_ARGUMENT);
  assert_null(mesh);
  noli_mesh_destroy(context, &mesh);
  noli_mesh_destroy(context, NULL);
  ASSERT_OK(noli_mesh_create(context, 4, 1, 2, 3, 4, true, &mesh));
  assert_non_null(mesh->tet_tag);
  assert_non_null(mesh->tri_tag);
  noli_mesh_destroy(context, &mesh);
  assert_null(mesh);
  test_context_done(&context);
}

static void tuples_are_sorted_like_qsort(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  TestRandom random = {7};
  enum { N = 3000 };
  int32_t* tuple = calloc(4 * N, sizeof *tuple);
  int32_t* order = calloc(N, sizeof *order);
  for (int32_t width = 1; width <= 4; width++) {
    for (int spread = 0; spread < 3; spread++) {
      static const double high[] = {3.0, 5000.0, 2147483647.0};
      for (int i = 0; i < width * N; i++) {
        tuple[i] = (int32_t)test_random(&random, 0.0, high[spread]);
      }
      ASSERT_OK(noli_sort_tuples(context, tuple, width, N, order));
      for (int i = 1; i < N; i++) {
        int c = noli_compare_tuples(tuple + order[i - 1] * width, tuple + order[i] * width, width);
        assert_true(c < 0 || (c == 0 && order[i - 1] < order[i]));
      }
    }
  }
  free(tuple);
  free(order);
  test_context_done(&context);
}

// The boundary against the slow way: compare every face with every other.
static void boundary_agrees_with_brute_force(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_sphere(context, 1.0, 4, false, &mesh));

  // remove some cells to make a ragged body
  for (int32_t t = 0; t < mesh->n_tet; t += 7) {
    memcpy(mesh->tet + 4 * t, mesh->tet + 4 * --mesh->n_tet, 4 * sizeof(int32_t));
  }

  // all faces
  int32_t n_face = 4 * mesh->n_tet, n_tri = 0, n_slow = 0;
  int32_t *face = calloc((size_t)n_face * 3, sizeof *face), *tri = NULL;
  for (int32_t k = 0; k < n_face; k++) {
    for (int i = 0; i < 3; i++) {
      face[3 * k + i] = mesh->tet[4 * (k / 4) + noli_tet_face[k % 4][i]];
    }
  }

  // compare
  ASSERT_OK(noli_mesh_boundary(context, mesh, &tri, &n_tri));
  for (int32_t k = 0; k < n_face; k++) {
    int32_t a[3], b[3], n_same = 0;
    noli_ascending_tuples(face + 3 * k, 3, 1, a);
    for (int32_t j = 0; j < n_face; j++) {
      noli_ascending_tuples(face + 3 * j, 3, 1, b);
      n_same += noli_compare_tuples(a, b, 3) == 0;
    }
    if (n_same == 1) {
      assert_true(n_slow < n_tri);
      assert_memory_equal(face + 3 * k, tri + 3 * n_slow, 3 * sizeof(int32_t));
      n_slow++;
    }
  }
  assert_int_equal(n_slow, n_tri);
  assert_true(n_tri > 300);
  free(face);
  noli_mesh_free_array(context, &tri);
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

static void bad_indices_are_located(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  const int32_t tet[2][4] = {{0, 1, 2, 3}, {1, 2, 3, 7}};
  NoliMesh* mesh = make_mesh(context, 5, corners[0], 2, tet[0], 0, NULL);
  int32_t* tri = NULL;
  int32_t n_tri = 0;
  ASSERT_STATUS(noli_mesh_boundary(context, mesh, &tri, &n_tri), NOLI_ERROR_ARGUMENT);
  assert_string_equal(noli_context_message(context),
                      "tetrahedron 1 names vertex 7, but the mesh has 5 vertices");
  ASSERT_STATUS(noli_mesh_remove_unused(context, mesh), NOLI_ERROR_ARGUMENT);
  NoliMesh* out = NULL;
  ASSERT_STATUS(noli_mesh_extract(context, mesh, "surface", &out), NOLI_ERROR_ARGUMENT);
  assert_null(out);
  const int32_t bad[3] = {0, -2, 1};
  ASSERT_STATUS(noli_mesh_edges(context, bad, 1, &tri, &n_tri), NOLI_ERROR_ARGUMENT);
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

static void edges_are_unique_and_sorted(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  const int32_t tri[4][3] = {{5, 2, 9}, {9, 2, 1}, {2, 5, 9}, {1, 3, 9}};
  const int32_t want[7][2] = {{1, 2}, {1, 3}, {1, 9}, {2, 5}, {2, 9}, {3, 9}, {5, 9}};
  int32_t* edge = NULL;
  int32_t n_edge = 0;
  ASSERT_OK(noli_mesh_edges(context, tri[0], 4, &edge, &n_edge));
  assert_int_equal(n_edge, 7);
  assert_memory_equal(edge, want, sizeof want);
  noli_mesh_free_array(context, &edge);
  ASSERT_OK(noli_mesh_edges(context, NULL, 0, &edge, &n_edge));
  assert_int_equal(n_edge, 0);
  noli_mesh_free_array(context, &edge);
  assert_null(edge);
  test_context_done(&context);
}

static void orient_turns_negative_tetrahedra_only(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_box(context, (double[]){1, 1, 1}, (int32_t[]){3, 3, 3}, false, &mesh));
  assert_int_equal(noli_mesh_orient(mesh), 0);
  int32_t n_turned = 0;
  for (int32_t t = 0; t < mesh->n_tet; t += 5, n_turned++) {
    int32_t kept = mesh->tet[4 * t];
    mesh->tet[4 * t] = mesh->tet[4 * t + 1];
    mesh->tet[4 * t + 1] = kept;
  }
  assert_int_equal(noli_mesh_orient(mesh), n_turned);
  for (int32_t t = 0; t < mesh->n_tet; t++) {
    assert_true(tet_volume(mesh, t) > 0.0);
  }
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

static void transform_scales_turns_and_moves_in_this_order(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  const int32_t tet[4] = {0, 1, 2, 3}, tri[3] = {0, 1, 2};

  // scale, rotate, translate
  NoliMesh* mesh = make_mesh(context, 5, corners[0], 1, tet, 1, tri);
  // quarter turns are exact: y -> z (Rx), applied last; x -> y (Rz), applied first
  noli_mesh_transform(mesh, (double[]){2, 3, 4}, (double[]){90, 0, 90}, (double[]){10, 20, 30});
  const double want[4][3] = {{10, 20, 30}, {10, 20, 32}, {7, 20, 30}, {10, 16, 30}};
  for (int v = 0; v < 4; v++) {
    for (int i = 0; i < 3; i++) {
      assert_true(mesh->x[3 * v + i] == want[v][i]);
    }
  }
  noli_mesh_destroy(context, &mesh);

  // any angles: R = Rx Ry Rz, entry by entry through products of single turns
  mesh = make_mesh(context, 5, corners[0], 1, tet, 1, tri);
  NoliMesh* other = make_mesh(context, 5, corners[0], 1, tet, 1, tri);
  const double one[3] = {1, 1, 1}, none[3] = {0, 0, 0};
  noli_mesh_transform(mesh, one, (double[]){25, -130, 333}, none);
  noli_mesh_transform(other, one, (double[]){0, 0, 333}, none);
  noli_mesh_transform(other, one, (double[]){0, -130, 0}, none);
  noli_mesh_transform(other, one, (double[]){25, 0, 0}, none);
  for (int i = 0; i < 15; i++) {
    ASSERT_NEAR(mesh->x[i], other->x[i], 4e-16);
  }
  ASSERT_NEAR(tet_volume(mesh, 0), 1.0 / 6.0, 1e-15);

  // a single turn about z follows the right hand
  noli_mesh_destroy(context, &other);
  other = make_mesh(context, 5, corners[0], 1, tet, 1, tri);
  noli_mesh_transform(other, one, (double[]){0, 0, 30}, none);
  ASSERT_NEAR(other->x[3], cos(0.52359877559829882), 1e-16);
  ASSERT_NEAR(other->x[4], 0.5, 1e-15);

  // a mirror keeps volumes positive
  noli_mesh_transform(other, (double[]){1, -1, 1}, none, none);
  assert_true(tet_volume(other, 0) > 0.0);
  assert_int_equal(other->tri[1], 2);
  assert_int_equal(other->tri[2], 1);
  noli_mesh_destroy(context, &mesh);
  noli_mesh_destroy(context, &other);
  test_context_done(&context);
}

static void unused_vertices_go(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  const int32_t tri[3] = {1, 4, 3};
  NoliMesh* mesh = make_mesh(context, 5, corners[0], 0, NULL, 1, tri);
  ASSERT_OK(noli_mesh_remove_unused(context, mesh));
  assert_int_equal(mesh->n_vert, 3);
  const int32_t want[3] = {0, 2, 1};
  assert_memory_equal(mesh->tri, want, sizeof want);
  assert_memory_equal(mesh->x, corners[1], 24);
  assert_memory_equal(mesh->x + 3, corners[3], 24);
  assert_memory_equal(mesh->x + 6, corners[4], 24);
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

static void extraction_gives_surface_edges_and_points(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh *box = NULL, *part = NULL;
  ASSERT_OK(noli_mesh_make_box(context, (double[]){1, 1, 1}, (int32_t[]){3, 3, 3}, false, &box));
  ASSERT_OK(noli_mesh_extract(context, box, "surface", &part));
  assert_int_equal(part->n_tri, 6 * 9 * 2);
  assert_int_equal(part->n_vert, 56);
  assert_int_equal(part->n_tet + part->n_edge + part->n_point, 0);
  ASSERT_NEAR(enclosed_volume(part->x, part->tri, part->n_tri), 1.0, 1e-14);
  noli_mesh_destroy(context, &part);
  ASSERT_OK(noli_mesh_extract(context, box, "edges", &part));
  assert_int_equal(part->n_tri, 0);
  assert_int_equal(part->n_edge, 3 * 54);
  assert_int_equal(part->n_vert, 56);
  noli_mesh_destroy(context, &part);
  ASSERT_OK(noli_mesh_extract(context, box, "points", &part));
  assert_int_equal(part->n_point, 56);
  assert_int_equal(part->n_vert, 56);
  assert_int_equal(part->n_edge + part->n_tri, 0);
  noli_mesh_destroy(context, &part);
  ASSERT_STATUS(noli_mesh_extract(context, box, "inside", &part), NOLI_ERROR_ARGUMENT);
  noli_mesh_destroy(context, &box);
  test_context_done(&context);
}

// Triangles that bound tetrahedra give their tag; others stay; segments and points come along.
static void extraction_keeps_tags_and_lone_cells(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh *mesh = NULL, *part = NULL;

  // a tetrahedron, two triangles, a segment and a point
  ASSERT_OK(noli_mesh_create(context, 9, 1, 2, 1, 1, true, &mesh));
  memset(mesh->x, 0, 27 * sizeof(double));
  memcpy(mesh->x, corners, sizeof corners);
  const int32_t tet[4] = {0, 1, 2, 3}, tri[6] = {2, 1, 0, 5, 6, 7}, tags[2] = {8, 9};
  memcpy(mesh->tet, tet, sizeof tet);
  memcpy(mesh->tri, tri, sizeof tri);
  memcpy(mesh->tri_tag, tags, sizeof tags);
  mesh->tet_tag[0] = 4;
  mesh->edge[0] = 3, mesh->edge[1] = 4;
  mesh->point[0] = 8;

  // the surface
  ASSERT_OK(noli_mesh_extract(context, mesh, "surface", &part));
  assert_int_equal(part->n_tri, 5);
  assert_int_equal(part->n_edge, 1);
  assert_int_equal(part->n_point, 1);
  assert_int_equal(part->n_vert, 9);
  const int32_t want[5] = {0, 0, 0, 8, 9};
  assert_memory_equal(part->tri_tag, want, sizeof want);
  noli_mesh_destroy(context, &part);

  // its edges
  ASSERT_OK(noli_mesh_extract(context, mesh, "edges", &part));
  assert_int_equal(part->n_edge, 6 + 3 + 1);
  assert_int_equal(part->n_point, 1);
  assert_null(part->tri_tag);
  noli_mesh_destroy(context, &part);
  noli_mesh_destroy(context, &mesh);

  // vertices without any cells are points
  mesh = make_mesh(context, 5, corners[0], 0, NULL, 0, NULL);
  ASSERT_OK(noli_mesh_extract(context, mesh, "surface", &part));
  assert_int_equal(part->n_point, 5);
  noli_mesh_destroy(context, &part);
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

static void check_finds_every_planted_defect(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh *box = NULL, *mesh = NULL;

  // a box with more cells
  ASSERT_OK(noli_mesh_make_box(context, (double[]){1, 1, 1}, (int32_t[]){3, 3, 3}, false, &box));
  ASSERT_OK(noli_mesh_create(context, box->n_vert + 3, box->n_tet + 3, 3, 2, 1, false, &mesh));
  memset(mesh->x, 0, sizeof(double) * 3 * (size_t)mesh->n_vert);
  memcpy(mesh->x, box->x, sizeof(double) * 3 * (size_t)box->n_vert);
  memcpy(mesh->tet, box->tet, sizeof(int32_t) * 4 * (size_t)box->n_tet);
  int32_t nv = box->n_vert, nt = box->n_tet;

  // tetrahedra: one inverted, a copy of cell 2 in other order, a bad index, a repeated vertex
  int32_t kept = mesh->tet[4 * 11];
  mesh->tet[4 * 11] = mesh->tet[4 * 11 + 1];
  mesh->tet[4 * 11 + 1] = kept;
  int32_t* t2 = mesh->tet + 8;
  const int32_t extra[12] = {t2[1], t2[2], t2[0], t2[3], 0, 1, 2, -5, 0, 1, 2, 0};
  memcpy(mesh->tet + 4 * nt, extra, sizeof extra);

  // a vertex that is not finite, and two that coincide
  mesh->x[3 * nv] = (double)NAN;
  const int32_t tri[9] = {0, 1, nv, 0, nv + 1, nv + 2, 0, 1, nv + 9};
  memcpy(mesh->tri, tri, sizeof tri);
  const int32_t edge[4] = {nv + 1, nv + 2, 4, 4};
  memcpy(mesh->edge, edge, sizeof edge);
  mesh->point[0] = 3;

  // the findings
  NoliMeshCheck check;
  ASSERT_OK(noli_mesh_check(context, mesh, &check));
  assert_int_equal(check.n_bad_coordinates, 1);
  assert_int_equal(check.first_bad_vertex, nv);
  assert_int_equal(check.n_bad_indices, 4);
  assert_int_equal(check.first_bad_cell, nt + 1);
  assert_int_equal(check.n_inverted, 1);
  assert_int_equal(check.first_inverted, 11);
  assert_int_equal(check.n_flat, 0);
  assert_int_equal(check.n_duplicate_cells, 1);
  assert_int_equal(check.first_duplicate, nt);
  assert_int_equal(check.n_degenerate, 2);
  assert_int_equal(check.first_degenerate, nt + 3 + 1);
  assert_int_equal(check.n_unused_vertices, 0);
  noli_mesh_destroy(context, &mesh);
  noli_mesh_destroy(context, &box);
  test_context_done(&context);
}

static void check_finds_flat_unused_and_non_manifold(void** state) {
  (void)state;
  NoliContext* context = test_context(1);

  // an almost flat tetrahedron is flat relative to its size, a thin one is not
  const double x[6][3] = {
      {0, 0, 0}, {1e-9, 0, 0}, {0, 1e-9, 0}, {3e-10, 3e-10, 1e-24}, {3e-10, 3e-10, 1e-20},
      {7, 7, 7}};
  const int32_t tet[2][4] = {{0, 1, 2, 3}, {0, 1, 2, 4}};
  NoliMesh* mesh = make_mesh(context, 6, x[0], 2, tet[0], 0, NULL);
  NoliMeshCheck check;
  ASSERT_OK(noli_mesh_check(context, mesh, &check));
  assert_int_equal(check.n_flat, 1);
  assert_int_equal(check.first_flat, 0);
  assert_int_equal(check.n_inverted, 0);
  assert_int_equal(check.n_unused_vertices, 1);
  assert_int_equal(check.first_unused_vertex, 5);
  noli_mesh_destroy(context, &mesh);

  // three triangles at one edge, and one with three vertices on a line
  const double y[6][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, -1, 0}, {2, 0, 0}};
  const int32_t tri[4][3] = {{0, 1, 2}, {0, 1, 3}, {1, 0, 4}, {0, 1, 5}};
  mesh = make_mesh(context, 6, y[0], 0, NULL, 3, tri[0]);
  ASSERT_OK(noli_mesh_check(context, mesh, &check));
  assert_int_equal(check.n_non_manifold_edges, 1);
  assert_int_equal(check.first_non_manifold_edge[0], 0);
  assert_int_equal(check.first_non_manifold_edge[1], 1);
  assert_int_equal(check.n_degenerate, 0);
  noli_mesh_destroy(context, &mesh);
  mesh = make_mesh(context, 6, y[0], 0, NULL, 4, tri[0]);
  ASSERT_OK(noli_mesh_check(context, mesh, &check));
  assert_int_equal(check.n_degenerate, 1);
  assert_int_equal(check.first_degenerate, 3);
  noli_mesh_destroy(context, &mesh);

  // an empty mesh
  ASSERT_OK(noli_mesh_create(context, 0, 0, 0, 0, 0, false, &mesh));
  ASSERT_OK(noli_mesh_check(context, mesh, &check));
  assert_int_equal(check.first_bad_cell, NOLI_NULL_INDEX);
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

// Fails every allocation in turn: nothing leaks and the mesh survives.
static void failed_allocations_leak_nothing(void** state) {
  (void)state;
  NoliStatus status = NOLI_ERROR_MEMORY;
  for (int64_t k = 1; status != NOLI_OK; k++) {
    assert_true(k < 200);
    TestMemory memory;
    NoliContext* context = test_context_on(&memory, 1);
    test_refuse(&memory, k);
    NoliMesh *mesh = NULL, *part = NULL, *back = NULL;
    NoliMeshCheck check;
    status = noli_mesh_make_torus(context, 1.0, 0.3, 8, 2, false, &mesh);
    status = status != NOLI_OK ? status : noli_mesh_check(context, mesh, &check);
    status = status != NOLI_OK ? status : noli_mesh_extract(context, mesh, "edges", &part);
    status = status != NOLI_OK ? status : noli_mesh_write(context, "refused_topology.msh", mesh);
    status = status != NOLI_OK ? status : noli_mesh_read(context, "refused_topology.msh", &back);
    assert_int_equal(status, memory.asked < k ? NOLI_OK : NOLI_ERROR_MEMORY);
    noli_mesh_destroy(context, &mesh);
    noli_mesh_destroy(context, &part);
    noli_mesh_destroy(context, &back);
    test_context_done(&context);
  }
  remove("refused_topology.msh");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(create_refuses_negative_sizes_and_destroy_is_safe),
      cmocka_unit_test(tuples_are_sorted_like_qsort),
      cmocka_unit_test(boundary_agrees_with_brute_force),
      cmocka_unit_test(bad_indices_are_located),
      cmocka_unit_test(edges_are_unique_and_sorted),
      cmocka_unit_test(orient_turns_negative_tetrahedra_only),
      cmocka_unit_test(transform_scales_turns_and_moves_in_this_order),
      cmocka_unit_test(unused_vertices_go),
      cmocka_unit_test(extraction_gives_surface_edges_and_points),
      cmocka_unit_test(extraction_keeps_tags_and_lone_cells),
      cmocka_unit_test(check_finds_every_planted_defect),
      cmocka_unit_test(check_finds_flat_unused_and_non_manifold),
      cmocka_unit_test(failed_allocations_leak_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
