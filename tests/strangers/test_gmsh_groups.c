// Groups of Gmsh files: a partitioned file has the tags and sets of the one before, and elements
// that 2.2 lists once for each of their groups are one cell in several sets.
#include "mesh/mesh_support.h"

static NoliMeshSets read_sets(NoliContext* context, const char* path, const TestBytes* file,
                              NoliMesh** mesh) {
  NoliMeshSets sets;
  write_file(path, file->data, file->n);
  NoliStatus status = noli_mesh_read_sets(context, path, mesh, &sets);
  remove(path);
  if (status != NOLI_OK) {
    print_error("%s\n", noli_context_message(context));
  }
  assert_int_equal(status, NOLI_OK);
  return sets;
}

static void assert_set(const NoliMeshSets* sets, const char* name, int32_t n,
                       const int32_t* vertex) {
  for (int32_t s = 0; s < sets->n; s++) {
    if (strcmp(sets->name[s], name) == 0) {
      assert_int_equal(sets->first[s + 1] - sets->first[s], n);
      assert_memory_equal(sets->vertex + sets->first[s], vertex, (size_t)n * sizeof *vertex);
      return;
    }
  }
  fail_msg("there is no set %s", name);
}

// ---- 4.1

static void put_n(TestBytes* file, bool binary, uint64_t value) {
  if (binary) {
    put_u64(file, value);
  } else {
    put_i(file, false, (int32_t)value);
  }
}

static void put_x(TestBytes* file, bool binary, int n, const double* x) {
  for (int i = 0; i < n; i++) {
    char text[20];
    snprintf(text, sizeof text, "%g ", x[i]);
    if (binary) {
      put_f64(file, x[i]);
    } else {
      put_string(file, text);
    }
  }
}

static void put_groups(TestBytes* file, bool binary, const int32_t* group) {
  int n = 0;
  while (group[n] != 0) {
    n++;
  }
  put_n(file, binary, (uint64_t)n);
  for (int i = 0; i < n; i++) {
    put_i(file, binary, group[i]);
  }
}

static const double box[6] = {0, 0, 0, 1, 1, 1};

static void put_entity(TestBytes* file, bool binary, int32_t tag, const int32_t* group) {
  put_i(file, binary, tag);
  put_x(file, binary, 6, box);
  put_groups(file, binary, group);
  put_n(file, binary, 0);
}

static void put_part(TestBytes* file, bool binary, int32_t tag, int32_t parent_dimension,
                     int32_t parent, int n_part, const int32_t* group) {
  put_i(file, binary, tag);
  put_i(file, binary, parent_dimension);
  put_i(file, binary, parent);
  put_n(file, binary, (uint64_t)n_part);
  for (int i = 0; i < n_part; i++) {
    put_i(file, binary, i + 1);
  }
  put_x(file, binary, 6, box);
  put_groups(file, binary, group);
  put_n(file, binary, 0);
}

static void put_counts(TestBytes* file, bool binary, int n_surface, int n_volume) {
  put_n(file, binary, 0);
  put_n(file, binary, 0);
  put_n(file, binary, (uint64_t)n_surface);
  put_n(file, binary, (uint64_t)n_volume);
}

static void put_block(TestBytes* file, bool binary, int32_t dimension, int32_t tag, int32_t type,
                      int first, int n_node, const int* node) {
  put_i(file, binary, dimension);
  put_i(file, binary, tag);
  put_i(file, binary, type);
  put_n(file, binary, 1);
  put_n(file, binary, (uint64_t)first);
  for (int i = 0; i < n_node; i++) {
    put_n(file, binary, (uint64_t)node[i]);
  }
}

// Two tetrahedra, in volumes 1 and 2 or in parts 3 and 4 of them, and in the partitioned file the
// triangle between the parts. Volume 1 is in two groups.
static TestBytes two_volumes(bool binary, bool parts, const int32_t* own) {
  const double x[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1};
  TestBytes file = {.n = 0};
  put_string(&file, binary ? "$MeshFormat\n4.1 1 8\n" : "$MeshFormat\n4.1 0 8\n");
  if (binary) {
    put_i32(&file, 1);
  }
  put_string(&file, "$EndMeshFormat\n$PhysicalNames\n4\n3 11 \"soft\"\n3 22 \"hard\"\n"
                    "3 33 \"all\"\n3 44 \"_part{1}\"\n$EndPhysicalNames\n$Entities\n");
  put_counts(&file, binary, 0, 2);
  put_entity(&file, binary, 1, (int32_t[]){11, 33, 0});
  put_entity(&file, binary, 2, (int32_t[]){22, 0});
  put_string(&file, "\n$EndEntities\n");
  if (parts) {
    put_string(&file, "$PartitionedEntities\n");
    put_n(&file, binary, 2);
    put_n(&file, binary, 1);
    put_i(&file, binary, 9);
    put_i(&file, binary, 1);
    put_counts(&file, binary, 1, 2);
    put_part(&file, binary, 7, 3, 1, 2, (int32_t[]){0});
    put_part(&file, binary, 3, 3, 1, 1, own);
    put_part(&file, binary, 4, 3, 2, 1, (int32_t[]){0});
    put_string(&file, "\n$EndPartitionedEntities\n");
  }
  put_string(&file, "$Nodes\n");
  for (int i = 0; i < 4; i++) {
    put_n(&file, binary, (uint64_t)(int[]){1, 5, 1, 5}[i]);
  }
  put_i(&file, binary, 3);
  put_i(&file, binary, parts ? 3 : 1);
  put_i(&file, binary, 0);
  put_n(&file, binary, 5);
  for (int i = 1; i <= 5; i++) {
    put_n(&file, binary, (uint64_t)i);
  }
  put_x(&file, binary, 15, x);
  put_string(&file, "\n$EndNodes\n$Elements\n");
  for (int i = 0; i < 4; i++) {
    put_n(&file, binary, (uint64_t)(int[]){parts ? 3 : 2, parts ? 3 : 2, 1, 3}[i]);
  }
  if (parts) {
    put_block(&file, binary, 2, 7, 2, 3, 3, (int[]){2, 3, 4});
  }
  put_block(&file, binary, 3, parts ? 3 : 1, 4, 1, 4, (int[]){1, 2, 3, 4});
  put_block(&file, binary, 3, parts ? 4 : 2, 4, 2, 4, (int[]){2, 4, 3, 5});
  put_string(&file, "\n$EndElements\n");
  return file;
}

static void parts_are_as_the_whole(void** state) {
  (void)state;
  // groups that a part has itself: none, those of its parent, or one that Gmsh makes for the part
  static const int32_t own[3][3] = {{0}, {11, 33, 0}, {44, 0}};
  NoliContext* context = test_context(1);
  for (int binary = 0; binary < 2; binary++) {
    NoliMesh *whole = NULL, *mesh = NULL;
    TestBytes file = two_volumes(binary == 1, false, own[0]);
    NoliMeshSets sets = read_sets(context, "whole.msh", &file, &whole);
    assert_set(&sets, "all", 4, (int32_t[]){0, 1, 2, 3});
    noli_mesh_sets_free(context, &sets);
    for (int k = 0; k < 3; k++) {
      file = two_volumes(binary == 1, true, own[k]);
      sets = read_sets(context, "parts.msh", &file, &mesh);
      assert_same_mesh(mesh, whole);
      assert_int_equal(mesh->tet_tag[0], 11);
      assert_int_equal(mesh->tet_tag[1], 22);
      assert_set(&sets, "soft", 4, (int32_t[]){0, 1, 2, 3});
      assert_set(&sets, "all", 4, (int32_t[]){0, 1, 2, 3});
      assert_set(&sets, "hard", 4, (int32_t[]){1, 2, 3, 4});
      assert_set(&sets, "_part{1}", k == 2 ? 4 : 0, (int32_t[]){0, 1, 2, 3});
      noli_mesh_destroy(context, &mesh);
      noli_mesh_sets_free(context, &sets);
    }
    noli_mesh_destroy(context, &whole);
  }
  test_context_done(&context);
}

// ---- 2.2

#define HEAD22                                                                                     \
  "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n5\n3 11 \"soft\"\n3 22 \"hard\"\n"        \
  "3 33 \"all\"\n2 5 \"skin\"\n2 6 \"top\"\n$EndPhysicalNames\n$Nodes\n5\n1 0 0 0\n2 1 0 0\n"      \
  "3 0 1 0\n4 0 0 1\n5 1 1 1\n$EndNodes\n$Elements\n"

static NoliMesh* read_old(NoliContext* context, const char* elements, NoliMeshSets* sets) {
  NoliMesh* mesh = NULL;
  TestBytes file = {.n = 0};
  put_string(&file, HEAD22);
  put_string(&file, elements);
  put_string(&file, "$EndElements\n");
  *sets = read_sets(context, "old.msh", &file, &mesh);
  return mesh;
}

static void elements_in_several_groups(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMeshSets sets;
  // the second time in another order, a third group, and triangles, segments and points twice
  NoliMesh* mesh = read_old(context,
                            "12\n1 4 2 11 1 1 2 3 4\n2 4 2 33 1 1 2 3 4\n3 4 2 22 2 3 2 5 4\n"
                            "4 4 2 33 2 2 3 4 5\n5 4 2 44 2 3 2 5 4\n6 2 2 5 3 1 2 3\n"
                            "7 2 2 6 3 1 3 2\n8 2 2 6 3 1 2 4\n9 1 2 7 1 1 5\n10 1 2 8 1 5 1\n"
                            "11 15 2 7 1 5\n12 15 2 8 1 5\n",
                            &sets);
  NoliMeshCheck check;
  assert_int_equal(mesh->n_tet, 2);
  assert_int_equal(mesh->n_tri, 2);
  assert_int_equal(mesh->n_edge, 1);
  assert_int_equal(mesh->tet_tag[0], 11);
  assert_int_equal(mesh->tet_tag[1], 22);
  assert_int_equal(mesh->tri_tag[0], 5);
  assert_int_equal(mesh->tri_tag[1], 6);
  ASSERT_OK(noli_mesh_check(context, mesh, &check));
  assert_int_equal(check.n_duplicate_cells, 0);
  assert_set(&sets, "all", 5, (int32_t[]){0, 1, 2, 3, 4});
  assert_set(&sets, "soft", 4, (int32_t[]){0, 1, 2, 3});
  assert_set(&sets, "skin", 3, (int32_t[]){0, 1, 2});
  assert_set(&sets, "top", 4, (int32_t[]){0, 1, 2, 3});
  noli_mesh_destroy(context, &mesh);
  noli_mesh_sets_free(context, &sets);

  // without a group first
  mesh = read_old(context, "2\n1 4 2 0 1 1 2 3 4\n2 4 2 22 1 1 2 3 4\n", &sets);
  assert_int_equal(mesh->n_tet, 1);
  assert_int_equal(mesh->tet_tag[0], 22);
  noli_mesh_destroy(context, &mesh);
  noli_mesh_sets_free(context, &sets);
  test_context_done(&context);
}

// An element that is twice in one group is twice in the mesh, which is a defect.
static void true_duplicates_remain(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMeshSets sets;
  NoliMeshCheck check;
  NoliMesh* mesh = read_old(context, "2\n1 4 2 11 1 1 2 3 4\n2 4 2 11 1 1 2 3 4\n", &sets);
  ASSERT_OK(noli_mesh_check(context, mesh, &check));
  assert_int_equal(check.n_duplicate_cells, 1);
  noli_mesh_destroy(context, &mesh);
  noli_mesh_sets_free(context, &sets);
  test_context_done(&context);
}

// Curved elements in two groups keep their nodes once.
static void curved_elements_in_two_groups(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  TestBytes file = {.n = 0};
  NoliMesh* mesh = NULL;
  put_string(&file,
             "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n3 2 \"b\"\n"
             "$EndPhysicalNames\n$Nodes\n10\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 .5 0 0\n"
             "6 .5 .5 0\n7 0 .5 0\n8 0 0 .5\n9 0 .5 .5\n10 .5 0 .5\n$EndNodes\n$Elements\n2\n"
             "1 11 2 1 1 1 2 3 4 5 6 7 8 9 10\n2 11 2 2 1 1 2 3 4 5 6 7 8 9 10\n"
             "$EndElements\n");
  NoliMeshSets sets = read_sets(context, "curved.msh", &file, &mesh);
  assert_int_equal(mesh->n_tet, 1);
  assert_int_equal(mesh->n_curve, 6);
  assert_int_equal(mesh->tet_tag[0], 1);
  assert_set(&sets, "b", 4, (int32_t[]){0, 1, 2, 3});
  noli_mesh_destroy(context, &mesh);
  noli_mesh_sets_free(context, &sets);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parts_are_as_the_whole),
      cmocka_unit_test(elements_in_several_groups),
      cmocka_unit_test(true_duplicates_remain),
      cmocka_unit_test(curved_elements_in_two_groups),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
