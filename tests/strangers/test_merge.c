// Meshes of scans are mended where it is asked for, and only there: vertices are merged, cells
// without size and those that occur twice are dropped, and what was done is listed.
#include "mesh/mesh_support.h"

#include "noli/scene.h"

// ---- the function

// A grid of triangles in space, each with vertices of its own that are off by less than `noise`.
static NoliMesh* soup(NoliContext* context, double noise) {
  enum { N = 8 };
  TestRandom random = {7};
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_create(context, 6 * N * N, 0, 2 * N * N, 0, 0, true, &mesh));
  static const int corner[6][2] = {{0, 0}, {1, 0}, {0, 1}, {1, 0}, {1, 1}, {0, 1}};
  for (int32_t v = 0; v < mesh->n_vert; v++) {
    int cell = v / 6;
    double i = cell % N + corner[v % 6][0], j = cell / N + corner[v % 6][1];
    const double x[3] = {0.1 * i - 0.37, 0.3 * j, 0.02 * i * j};
    for (int k = 0; k < 3; k++) {
      mesh->x[3 * v + k] = x[k] + test_random(&random, -noise, noise);
    }
    mesh->tri[v] = v;
    mesh->tri_tag[v / 3] = v / 3;
  }
  return mesh;
}

static void merges_within_the_tolerance(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  static const double noises[] = {0.0, 1e-9, 1e-4};
  for (int k = 0; k < 3; k++) {
    NoliMeshCleaned cleaned;
    NoliMesh* mesh = soup(context, noises[k]);
    NoliMesh* before = soup(context, noises[k]);
    // 2 sqrt(3) noise apart at most
    double tolerance = 4.0 * noises[k];
    ASSERT_OK(noli_mesh_clean(context, mesh, tolerance, &cleaned));
    assert_int_equal(mesh->n_vert, 81);
    assert_int_equal(mesh->n_tri, 128);
    assert_int_equal(cleaned.n_vert, 384);
    assert_int_equal(cleaned.n_merged, 384 - 81);
    assert_int_equal(cleaned.n_degenerate + cleaned.n_duplicate, 0);
    ASSERT_AT_MOST(cleaned.largest_move, tolerance);
    // every corner is near its place before, and tags go with their triangles
    for (int32_t i = 0; i < 384; i++) {
      assert_int_equal(mesh->tri[i], cleaned.new_index[i]);
      for (int c = 0; c < 3; c++) {
        ASSERT_NEAR(mesh->x[3 * mesh->tri[i] + c], before->x[3 * i + c], tolerance);
      }
      assert_int_equal(mesh->tri_tag[i / 3], i / 3);
    }
    noli_mesh_cleaned_free(context, &cleaned);
    // once more: nothing is left to do
    ASSERT_OK(noli_mesh_clean(context, mesh, tolerance, &cleaned));
    assert_int_equal(cleaned.n_merged, 0);
    noli_mesh_cleaned_free(context, &cleaned);
    noli_mesh_destroy(context, &mesh);
    noli_mesh_destroy(context, &before);
  }
  test_context_done(&context);
}

// Points in a row, each within the tolerance of the next: kept ones do not move, so that none
// moves by more.
static void chains_do_not_run_away(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh* mesh = NULL;
  NoliMeshCleaned cleaned;
  ASSERT_OK(noli_mesh_create(context, 100, 0, 0, 0, 100, false, &mesh));
  for (int32_t v = 0; v < 100; v++) {
    mesh->x[3 * v] = 0.01 * v;
    mesh->x[3 * v + 1] = mesh->x[3 * v + 2] = 0.0;
    mesh->point[v] = v;
  }
  ASSERT_OK(noli_mesh_clean(context, mesh, 0.025, &cleaned));
  ASSERT_AT_MOST(cleaned.largest_move, 0.025);
  assert_int_equal(mesh->n_vert, 34);
  // points that became one point occur twice
  assert_int_equal(mesh->n_point, 34);
  assert_int_equal(cleaned.n_duplicate, 66);
  noli_mesh_cleaned_free(context, &cleaned);
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

static void drops_and_lists_cells(void** state) {
  (void)state;
  static const char text[] =
      "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 2 0 0\nv 1 0 0\nv 9 9 9\nv 9 9 9\n"
      "f 1 3 2\nf 1 2 4\nf 1 2 5\nf 1 6 4\nf 2 6 3\nf 2 4 1\nf 1 4 3\nl 7 8\nl 7 1\nl 1 7\n";
  NoliContext* context = test_context(1);
  NoliMeshCleaned cleaned;
  NoliMeshCheck check;
  NoliMesh* mesh = must_read(context, "cells.obj", text, sizeof text - 1);
  ASSERT_OK(noli_mesh_clean(context, mesh, 0.0, &cleaned));
  // 2: without area; 4: a vertex twice; 7: the segment from a vertex to itself
  const int32_t degenerate[] = {2, 4, 7}, duplicate[] = {3, 5, 9};
  assert_int_equal(cleaned.n_degenerate, 3);
  assert_memory_equal(cleaned.degenerate, degenerate, sizeof degenerate);
  assert_int_equal(cleaned.n_duplicate, 3);
  assert_memory_equal(cleaned.duplicate, duplicate, sizeof duplicate);
  assert_int_equal(cleaned.n_merged, 2);
  assert_int_equal(cleaned.new_index[5], 1);
  assert_int_equal(cleaned.new_index[6], 5);
  assert_int_equal(mesh->n_tri, 3);
  assert_int_equal(mesh->n_edge, 1);
  assert_int_equal(mesh->n_vert, 6);
  ASSERT_OK(noli_mesh_check(context, mesh, &check));
  assert_int_equal(check.n_bad_indices + check.n_degenerate + check.n_duplicate_cells, 0);
  noli_mesh_cleaned_free(context, &cleaned);
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

static void wrong_use_and_lack_of_memory(void** state) {
  (void)state;
  TestMemory memory;
  NoliContext* context = test_context_on(&memory, 1);
  NoliMeshCleaned cleaned;
  NoliMesh *mesh = soup(context, 0.0), *before = soup(context, 0.0);
  ASSERT_STATUS(noli_mesh_clean(context, mesh, -1.0, &cleaned), NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_mesh_clean(context, mesh, (double)NAN, &cleaned), NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_mesh_clean(context, mesh, (double)INFINITY, &cleaned), NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_mesh_clean(context, NULL, 0.0, &cleaned), NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_mesh_clean(context, mesh, 0.0, NULL), NOLI_ERROR_ARGUMENT);
  mesh->tri[5] = 10000;
  ASSERT_STATUS(noli_mesh_clean(context, mesh, 0.0, &cleaned), NOLI_ERROR_ARGUMENT);
  mesh->tri[5] = 5;
  NoliStatus status = NOLI_ERROR_MEMORY;
  for (int64_t k = 1; status == NOLI_ERROR_MEMORY; k++) {
    test_refuse(&memory, k);
    status = noli_mesh_clean(context, mesh, 0.0, &cleaned);
    if (status != NOLI_OK) {
      assert_same_mesh(mesh, before);
    }
  }
  ASSERT_STATUS(status, NOLI_OK);
  test_refuse(&memory, 0);
  noli_mesh_cleaned_free(context, &cleaned);
  noli_mesh_cleaned_free(context, NULL);
  noli_mesh_destroy(context, &mesh);
  noli_mesh_destroy(context, &before);
  ASSERT_OK(noli_mesh_make_curved_sphere(context, 1.0, 2, 2, &mesh));
  ASSERT_STATUS(noli_mesh_clean(context, mesh, 0.0, &cleaned), NOLI_ERROR_ARGUMENT);
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

// ---- scenes

#define FACET(a, b, c)                                                                             \
  "facet normal 0 0 0\nouter loop\nvertex " a "\nvertex " b "\nvertex " c "\nendloop\nendfacet\n"
#define SCAN                                                                                       \
  FACET("0 0 0", "0 1 0", "1 0 0")                                                                 \
  FACET("0 0 0", "1 0 0", "0 0 1")                                                                 \
  FACET("0 0 0", "0 0 1", "0 1 0")                                                                 \
  FACET("1 0 0", "0 1 0", "0 0 1")

static NoliStatus load(NoliContext* context, const char* entry, NoliScene** scene) {
  char text[1000];
  snprintf(text, sizeof text,
           "{\"time\": {\"step\": 0.1, \"duration\": 1}, \"bodies\": [{\"mesh\": {\"box\": {}}}], "
           "\"obstacles\": [%s]}",
           entry);
  return noli_scene_parse(context, text, "merge.json", ".", NULL, 0, scene);
}

static void scenes_mend_on_request(void** state) {
  (void)state;
  static const char scan[] = "solid s\n" SCAN FACET("0 0 0", "0 0 0", "1 0 0")
      FACET("0 0 0", "1 0 0", "0.5 0 0") FACET("1 0 0", "0 1 0", "0 0 1") "endsolid s\n";
  TestLog log;
  NoliContext* context = test_context_log(&log);
  NoliScene* scene = NULL;
  write_file("scan.stl", scan, sizeof scan - 1);

  // refused by default, with the key in the message
  ASSERT_STATUS(load(context, "{\"mesh\": \"scan.stl\"}", &scene), NOLI_ERROR_FORMAT);
  assert_non_null(strstr(noli_context_message(context), "\"merge\": 0 drops cells without size"));

  // mended on request, and logged
  ASSERT_OK(load(context, "{\"mesh\": \"scan.stl\", \"merge\": 1e-6}", &scene));
  const NoliBodyDef* obstacle = &noli_scene_sim_def(scene)->bodies[1];
  assert_int_equal(obstacle->mesh->n_tri, 4);
  assert_int_equal(obstacle->mesh->n_vert, 4);
  assert_non_null(strstr(log.text, "merged 0 of 5 vertices, by at most 0; dropped cells without "
                                   "size (2): 4, 5; dropped cells that occurred before (1): 6"));
  noli_scene_destroy(&scene);

  // wrong values, and a misspelt key
  ASSERT_STATUS(load(context, "{\"mesh\": \"scan.stl\", \"merge\": -1}", &scene),
                NOLI_ERROR_FORMAT);
  ASSERT_STATUS(load(context, "{\"mesh\": \"scan.stl\", \"mrege\": 0}", &scene), NOLI_ERROR_FORMAT);
  assert_non_null(strstr(noli_context_message(context), "\"merge\""));
  remove("scan.stl");
  test_context_done(&context);
}

// Sets of the file name its vertices, of which some are gone; so do files of a sequence.
static void sets_and_sequences_follow(void** state) {
  (void)state;
  static const char part[] =
      "*NODE\n1, 0, 0, 0\n2, 1, 0, 0\n3, 0, 1, 0\n4, 0, 0, 1\n5, 1, 0, 0\n6, 0, 1, 0\n"
      "7, 0, 0, 1\n8, 1, 1, 1\n*ELEMENT, TYPE=C3D4\n1, 1, 2, 3, 4\n2, 5, 8, 6, 7\n"
      "*NSET, NSET=end\n8\n*NSET, NSET=joint\n5, 6, 7\n";
  static const char frames[2][120] = {"v 0 0 0\nv 1 0 0\nv 0 0 1\nv 1 0 0\nv 1 0 1\nv 0 0 1\n",
                                      "v 0 2 0\nv 1 2 0\nv 0 2 1\nv 1 2 0\nv 1 3 1\nv 0 2 1\n"};
  TestBytes first = {.n = 0};
  NoliContext* context = test_context(1);
  NoliScene* scene = NULL;
  put_string(&first, frames[0]);
  put_string(&first, "f 1 3 2\nf 4 6 5\n");
  write_file("part.inp", part, sizeof part - 1);
  write_file("cloth_0.obj", first.data, first.n);
  write_file("cloth_1.obj", frames[1], strlen(frames[1]));
  NoliStatus status = noli_scene_parse(
      context,
      "{\"time\": {\"step\": 0.1, \"duration\": 1}, \"bodies\": [{\"name\": \"b\", \"mesh\": "
      "\"part.inp\", \"merge\": 0}], \"obstacles\": [{\"mesh\": \"cloth_0.obj\", \"merge\": 0, "
      "\"motion\": {\"sequence\": {\"files\": \"cloth_%d.obj\", \"fps\": 1}}}], \"prescribed\": "
      "[{\"body\": \"b\", \"select\": {\"set\": \"joint\"}, \"motion\": {\"displacement\": [0, 0, "
      "0]}}], \"forces\": [{\"body\": \"b\", "
      "\"select\": {\"set\": \"end\"}, \"total\": [1, 0, 0]}]}",
      "sets.json", ".", NULL, 0, &scene);
  if (status != NOLI_OK) {
    print_error("%s\n", noli_context_message(context));
  }
  assert_int_equal(status, NOLI_OK);
  const NoliSimDef* def = noli_scene_sim_def(scene);
  assert_int_equal(def->bodies[0].mesh->n_vert, 5);
  assert_int_equal(def->forces[0].n_node, 1);
  assert_int_equal(def->forces[0].node[0], 4);
  assert_int_equal(def->motions[1].n_node, 3);
  assert_int_equal(def->motions[1].node[0], 1);
  assert_int_equal(def->bodies[1].mesh->n_vert, 4);
  noli_scene_destroy(&scene);
  remove("part.inp");
  remove("cloth_0.obj");
  remove("cloth_1.obj");
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(merges_within_the_tolerance), cmocka_unit_test(chains_do_not_run_away),
      cmocka_unit_test(drops_and_lists_cells),       cmocka_unit_test(wrong_use_and_lack_of_memory),
      cmocka_unit_test(scenes_mend_on_request),      cmocka_unit_test(sets_and_sequences_follow),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
