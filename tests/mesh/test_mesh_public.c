// Public meshes are read with their known counts.
#include "mesh_support.h"

typedef struct Known {
  const char* name;
  int32_t n_vert;
  int32_t n_tet;
  int32_t n_tri;
} Known;

static const Known tet_meshes[] = {
    {"cube", 8, 6, 0},
    {"tet", 4, 1, 0},
    {"tet-perp-edges", 4, 1, 0},
    {"tet-pyramid", 4, 1, 0},
    {"pyramid", 6, 3, 0},
    {"erleben/spike", 5, 2, 0},
    {"erleben/wedge", 6, 3, 0},
    {"bar-6", 8, 6, 0},
    {"bar-186", 86, 186, 0},
    {"bar-651", 292, 651, 0},
    {"bar-2523", 886, 2523, 0},
    {"bar-14114", 3842, 14114, 0},
    {"ANSYS1e-3Corner_coarse", 285, 812, 0},
    {"torus", 200, 491, 0},
    {"rod", 630, 1722, 0},
    {"rod300x33", 13333, 50511, 0},
    {"mat20x20", 800, 2166, 0},
    {"mat40x40", 3200, 9126, 0},
    {"mat100x100t40", 20000, 58806, 0},
    {"plate1", 3362, 9600, 0},
    {"sphere1K", 1760, 6851, 0},
    {"sphere5K", 7034, 27792, 0},
    {"cow_head", 1328, 5029, 0},
    {"bunny", 4670, 19379, 0},
    {"32770_octocat", 6133, 21426, 0},
    {"dolphin5K", 8111, 36304, 0},
    {"alien", 12531, 48643, 0},
    {"monkey8K", 12448, 52864, 0},
    {"hollowCat7.5K", 12827, 57636, 0},
    {"hammer", 2705, 9683, 0},
    {"Armadillo13K", 13230, 54985, 0},
};

static void public_tet_meshes_have_known_counts(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  for (size_t k = 0; k < sizeof tet_meshes / sizeof tet_meshes[0]; k++) {
    char name[128], path[512];
    snprintf(name, sizeof name, "ipc/input/tetMeshes/%s.msh", tet_meshes[k].name);
    if (test_data(name, path, sizeof path) == NULL) {
      continue;
    }

    // counts
    NoliMesh* mesh = NULL;
    ASSERT_OK(noli_mesh_read(context, path, &mesh));
    assert_int_equal(mesh->n_vert, tet_meshes[k].n_vert);
    assert_int_equal(mesh->n_tet, tet_meshes[k].n_tet);
    assert_int_equal(mesh->n_tri, 0);
    assert_null(mesh->tet_tag);

    // no defects
    NoliMeshCheck check;
    ASSERT_OK(noli_mesh_check(context, mesh, &check));
    assert_int_equal(check.n_bad_indices + check.n_bad_coordinates, 0);
    assert_int_equal(check.n_flat, 0);

    // the boundary encloses the volume of the tetrahedra
    noli_mesh_orient(mesh);
    int32_t *tri = NULL, n_tri = 0;
    ASSERT_OK(noli_mesh_boundary(context, mesh, &tri, &n_tri));
    double volume = 0.0;
    for (int32_t t = 0; t < mesh->n_tet; t++) {
      volume += tet_volume(mesh, t);
    }
    ASSERT_NEAR(enclosed_volume(mesh->x, tri, n_tri), volume, 1e-9 * volume);
    noli_mesh_free_array(context, &tri);
    noli_mesh_destroy(context, &mesh);
  }

  test_context_done(&context);
}

static void public_arch_blocks_are_bodies(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  for (int k = 1; k <= 25; k++) {
    char name[128], path[512];
    snprintf(name, sizeof name, "ipc/input/tetMeshes/arch/largeArch.%02d.msh", k);
    if (test_data(name, path, sizeof path) == NULL) {
      break;
    }
    NoliMesh* mesh = NULL;
    ASSERT_OK(noli_mesh_read(context, path, &mesh));
    assert_true(mesh->n_vert >= 8 && mesh->n_tet >= 5);
    noli_mesh_destroy(context, &mesh);
  }
  test_context_done(&context);
}

static void public_files_of_other_kinds_read(void** state) {
  (void)state;

  // meshes of several formats
  static const struct {
    const char* name;
    int32_t n_vert, n_tet, n_tri, n_edge;
  } files[] = {
      {"polyfem/contact/meshes/3D/simple/cube-denser.msh", -1, -1, -1, 0},
      {"polyfem/contact/meshes/3D/simple/bar/bar-6.msh", 8, 6, 0, 0},
      {"polyfem/contact/meshes/3D/simple/mat/mat100x100t40.msh", 20000, 58806, 0, 0},
      {"polyfem/contact/meshes/2D/creatures/dolphin/dolfin_coarse.msh", 255, 0, 379, 0},
      {"polyfem/contact/meshes/2D/obstacles/line.obj", -1, 0, 0, -1},
      {"polyfem/contact/meshes/3D/codimensional/seg-plane.obj", -1, 0, 0, -1},
      {"ipc/input/segMeshes/segPlane.seg", -1, 0, 0, -1},
      {"ipc/input/segMeshes/edge.seg", 2, 0, 0, 1},
  };
  NoliContext* context = test_context(1);
  for (size_t k = 0; k < sizeof files / sizeof files[0]; k++) {
    char path[512];
    if (test_data(files[k].name, path, sizeof path) == NULL) {
      continue;
    }

    // counts, where they are known
    NoliMesh* mesh = NULL;
    NoliStatus status = noli_mesh_read(context, path, &mesh);
    if (status != NOLI_OK) {
      print_error("%s\n", noli_context_message(context));
    }
    ASSERT_OK(status);
    print_message("%s: %d vertices, %d tetrahedra, %d triangles, %d segments\n", files[k].name,
                  mesh->n_vert, mesh->n_tet, mesh->n_tri, mesh->n_edge);
    assert_true(files[k].n_vert < 0 || mesh->n_vert == files[k].n_vert);
    assert_true(files[k].n_tet < 0 || mesh->n_tet == files[k].n_tet);
    assert_true(files[k].n_tri < 0 || mesh->n_tri == files[k].n_tri);
    assert_true(files[k].n_edge < 0 ? mesh->n_edge > 0 : mesh->n_edge == files[k].n_edge);

    // no bad cells
    NoliMeshCheck check;
    ASSERT_OK(noli_mesh_check(context, mesh, &check));
    assert_int_equal(check.n_bad_indices + check.n_bad_coordinates, 0);
    noli_mesh_destroy(context, &mesh);
  }
  test_context_done(&context);
}

static void public_physical_groups_become_tags(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  char path[512];
  if (test_data("polyfem/contact/meshes/3D/simple/cube-denser.msh", path, sizeof path) != NULL) {
    NoliMesh* mesh = NULL;
    ASSERT_OK(noli_mesh_read(context, path, &mesh));
    // groups 13 and 14 of surfaces, 15 of the volume
    assert_non_null(mesh->tet_tag);
    assert_non_null(mesh->tri_tag);
    for (int32_t t = 0; t < mesh->n_tet; t++) {
      assert_int_equal(mesh->tet_tag[t], 15);
    }
    int32_t count[2] = {0};
    for (int32_t t = 0; t < mesh->n_tri; t++) {
      assert_true(mesh->tri_tag[t] == 13 || mesh->tri_tag[t] == 14);
      count[mesh->tri_tag[t] == 14]++;
    }
    assert_true(count[0] > 0 && count[1] > 0);
    noli_mesh_destroy(context, &mesh);
  }
  test_context_done(&context);
}

static void public_hexahedral_meshes_are_refused(void** state) {
  (void)state;
  static const struct {
    const char* name;
    const char* message;
  } files[] = {
      {"polyfem/contact/meshes/3D/simple/cube-hex.msh", "8-node hexahedron (type 5)"},
  };
  NoliContext* context = test_context(1);
  for (size_t k = 0; k < sizeof files / sizeof files[0]; k++) {
    char path[512];
    if (test_data(files[k].name, path, sizeof path) == NULL) {
      continue;
    }
    NoliMesh* mesh = NULL;
    ASSERT_STATUS(noli_mesh_read(context, path, &mesh), NOLI_ERROR_FORMAT);
    print_message("%s\n", noli_context_message(context) + strlen(path) - strlen(files[k].name));
    assert_non_null(strstr(noli_context_message(context), files[k].message));
  }
  test_context_done(&context);
}

int main(void) {
  char path[512];
  if (test_data("ipc/input/tetMeshes/cube.msh", path, sizeof path) == NULL) {
    return TEST_SKIPPED;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(public_tet_meshes_have_known_counts),
      cmocka_unit_test(public_arch_blocks_are_bodies),
      cmocka_unit_test(public_files_of_other_kinds_read),
      cmocka_unit_test(public_physical_groups_become_tags),
      cmocka_unit_test(public_hexahedral_meshes_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
