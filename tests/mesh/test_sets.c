// Named sets of vertices: node and element sets of .inp files, physical groups of .msh files.
#include "mesh_support.h"

static NoliMeshSets read_sets(NoliContext* context, const char* path, const char* content,
                              NoliMesh** mesh) {
  NoliMeshSets sets;
  write_file(path, content, strlen(content));
  NoliStatus status = noli_mesh_read_sets(context, path, mesh, &sets);
  if (status != NOLI_OK) {
    print_error("%s\n", noli_context_message(context));
  }
  assert_int_equal(status, NOLI_OK);
  return sets;
}

static void assert_set(const NoliMeshSets* sets, int32_t index, const char* name, int32_t n,
                       const int32_t* vertex) {
  assert_in_range(index, 0, sets->n - 1);
  assert_string_equal(sets->name[index], name);
  assert_int_equal(sets->first[index + 1] - sets->first[index], n);
  for (int32_t i = 0; i < n; i++) {
    assert_int_equal(sets->vertex[sets->first[index] + i], vertex[i]);
  }
}

static void release(NoliContext** context, NoliMesh** mesh, NoliMeshSets* sets) {
  noli_mesh_destroy(*context, mesh);
  noli_mesh_sets_free(*context, sets);
  test_context_done(context);
}

#define NODES "1, 0, 0, 0\n2, 1, 0, 0\n3, 0, 1, 0\n4, 0, 0, 1\n9, 1, 1, 1\n"

// By *NSET (also of sets, in ranges, in several blocks), by NSET= of *NODE, and by elements. A name
// counts once, whatever its case, sets for internal use do not, and nodes that do not exist are
// left out.
static void sets_of_inp_files(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh* mesh = NULL;
  NoliMeshSets sets = read_sets(context, "sets.inp",
                                "*NODE, NSET=All\n" NODES
                                "*NSET, NSET=Top\n4, 9,\n*NSET, NSET=low, GENERATE\n1, 3, 1\n"
                                "*NSET, NSET=TOP\n3, 77, 4\n*NSET, NSET=Both\nlow, top\n"
                                "*NSET, NSET=_own, INTERNAL\n1\n*NSET, NSET=none\n55\n"
                                "*ELEMENT, TYPE=C3D4, ELSET=First\n1, 1, 2, 3, 4\n"
                                "*ELEMENT, TYPE=C3D4, ELSET=Low\n2, 2, 3, 4, 9\n",
                                &mesh);
  assert_int_equal(sets.n, 6);
  assert_set(&sets, 0, "All", 5, (int32_t[]){0, 1, 2, 3, 4});
  assert_set(&sets, 1, "Top", 3, (int32_t[]){2, 3, 4});
  assert_set(&sets, 2, "low", 3, (int32_t[]){0, 1, 2});
  assert_set(&sets, 3, "Both", 5, (int32_t[]){0, 1, 2, 3, 4});
  assert_set(&sets, 4, "none", 0, NULL);
  assert_set(&sets, 5, "First", 4, (int32_t[]){0, 1, 2, 3});
  // the same mesh and tags as without sets
  NoliMesh* same = NULL;
  ASSERT_OK(noli_mesh_read(context, "sets.inp", &same));
  assert_memory_equal(same->tet, mesh->tet, 8 * sizeof *mesh->tet);
  assert_memory_equal(same->tet_tag, mesh->tet_tag, 2 * sizeof *mesh->tet_tag);
  noli_mesh_destroy(context, &same);
  release(&context, &mesh, &sets);
}

// Sets of the assembly hide those of the part; its own nodes, reference points, are not those of
// the part.
static void sets_of_assemblies(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh* mesh = NULL;
  NoliMeshSets sets = read_sets(
      context, "assembly.inp",
      "*PART, NAME=P\n*NODE\n" NODES "*ELEMENT, TYPE=C3D4\n1, 1, 2, 3, 4\n2, 2, 3, 4, 9\n"
      "*NSET, NSET=End\n1\n*END PART\n*ASSEMBLY, NAME=A\n*INSTANCE, NAME=I, PART=P\n"
      "*END INSTANCE\n*NODE\n1, 5, 5, 5\n*NSET, NSET=Point\n1\n*NSET, NSET=End, INSTANCE=I\n9\n"
      "*NSET, NSET=Dotted\nI.2, I.End\n*END ASSEMBLY\n",
      &mesh);
  assert_int_equal(sets.n, 3);
  assert_set(&sets, 0, "Point", 0, NULL);
  assert_set(&sets, 1, "End", 1, (int32_t[]){4});
  assert_set(&sets, 2, "Dotted", 2, (int32_t[]){0, 1});
  release(&context, &mesh, &sets);
}

// Nodes of curves are no vertices.
static void sets_of_curved_files(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh* mesh = NULL;
  NoliMeshSets sets =
      read_sets(context, "curved.inp",
                "*NODE\n1, 0, 0, 0\n5, .5, 0, 0\n2, 1, 0, 0\n3, 0, 1, 0\n4, 0, 0, 1\n6, .5, .5, "
                "0\n7, 0, .5, 0\n8, 0, 0, .5\n9, .5, 0, .5\n10, 0, .5, .5\n"
                "*ELEMENT, TYPE=C3D10\n1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10\n*NSET, NSET=Edge\n1, 2, "
                "5\n*NSET, NSET=Middle\n5\n",
                &mesh);
  assert_int_equal(mesh->n_vert, 4);
  assert_set(&sets, 0, "Edge", 2, (int32_t[]){0, 1});
  assert_set(&sets, 1, "Middle", 0, NULL);
  release(&context, &mesh, &sets);
}

// Groups of all dimensions, in the text of 2.2 and 4.1; cells of several groups count in each.
static void groups_of_msh_files(void** state) {
  (void)state;
  static const char* const files[] = {
      "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n4\n0 7 \"tip\"\n1 7 \"an edge\"\n"
      "2 1 \"base\"\n3 2 \"solid\"\n$EndPhysicalNames\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n"
      "4 0 0 1\n$EndNodes\n$Elements\n4\n1 15 2 7 1 4\n2 1 2 7 1 1 4\n3 2 2 1 1 1 3 2\n"
      "4 4 2 2 1 1 2 3 4\n$EndElements\n",
      "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$PhysicalNames\n5\n0 7 \"tip\"\n1 7 \"an edge\"\n"
      "2 1 \"base\"\n3 2 \"solid\"\n2 9 \"also base\"\n$EndPhysicalNames\n"
      "$Entities\n1 1 1 1\n1 0 0 1 1 7\n1 0 0 0 0 0 1 1 7 0\n1 0 0 0 1 1 0 2 1 9 0\n"
      "1 0 0 0 1 1 1 1 2 0\n$EndEntities\n$Nodes\n1 4 1 4\n3 1 0 4\n1\n2\n3\n4\n0 0 0\n1 0 0\n"
      "0 1 0\n0 0 1\n$EndNodes\n$Elements\n4 4 1 4\n0 1 15 1\n1 4\n1 1 1 1\n2 1 4\n2 1 2 1\n"
      "3 1 3 2\n3 1 4 1\n4 1 2 3 4\n$EndElements\n"};
  for (int k = 0; k < 2; k++) {
    NoliContext* context = test_context(1);
    NoliMesh* mesh = NULL;
    NoliMeshSets sets = read_sets(context, "groups.msh", files[k], &mesh);
    assert_int_equal(sets.n, 4 + k);
    assert_set(&sets, 0, "tip", 1, (int32_t[]){3});
    assert_set(&sets, 1, "an edge", 2, (int32_t[]){0, 3});
    assert_set(&sets, 2, "base", 3, (int32_t[]){0, 1, 2});
    assert_set(&sets, 3, "solid", 4, (int32_t[]){0, 1, 2, 3});
    if (k == 1) {
      assert_set(&sets, 4, "also base", 3, (int32_t[]){0, 1, 2});
    }
    release(&context, &mesh, &sets);
  }
}

// Other formats have none, and broken names are located.
static void files_without_sets(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh* mesh = NULL;
  NoliMeshSets sets =
      read_sets(context, "plain.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", &mesh);
  assert_int_equal(sets.n, 0);
  noli_mesh_sets_free(context, &sets);
  noli_mesh_destroy(context, &mesh);
  static const char broken[] = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n2 1 base\n"
                               "$EndPhysicalNames\n";
  write_file("broken.msh", broken, strlen(broken));
  ASSERT_STATUS(noli_mesh_read_sets(context, "broken.msh", &mesh, &sets), NOLI_ERROR_FORMAT);
  assert_non_null(
      strstr(noli_context_message(context), "broken.msh:6: expected a name in quotation"));
  assert_null(mesh);
  assert_int_equal(sets.n, 0);
  noli_mesh_sets_free(context, &sets);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sets_of_inp_files),    cmocka_unit_test(sets_of_assemblies),
      cmocka_unit_test(sets_of_curved_files), cmocka_unit_test(groups_of_msh_files),
      cmocka_unit_test(files_without_sets),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
