// Broken files are refused with a message that names the place and the cause.
#include "mesh_support.h"

#define MSH22 "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
#define MSH41 "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"
#define NODES22 "$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n"
#define MEDIT "MeshVersionFormatted 2\nDimension 2\nVertices\n3\n0 0 1 1 0 1\n0 1 1\n"
#define VTK "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\n"
#define VTK_POINTS "POINTS 4 double\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n"
#define PLY "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n"

#define INP_NODES "*NODE\n10, 0, 0, 0\n20, 1, 0, 0\n30, 0, 1, 0\n40, 0, 0, 1\n"
#define INP INP_NODES "*ELEMENT, TYPE=C3D4, ELSET=Body\n7, 10, 20, 30, 40\n"
#define INP_PART "*PART, NAME=P\n" INP "*END PART\n*ASSEMBLY\n*INSTANCE, NAME=I, PART=P\n"

static const struct {
  const char* path;
  const char* content;
  const char* message; // complete
} broken[] = {
    {"b.msh", "", "b.msh: the file is empty"},
    {"b.obj", "# nothing\n", "b.obj: the file has no vertices"},
    {"b.msh", "$Nodes\n", "b.msh:1: expected $MeshFormat, got '$Nodes'"},
    {"b.msh", "hello world\n", "b.msh:1: expected a section such as $Nodes, got 'hello'"},
    {"b.msh", "$MeshFormat\n4 0 8\n$EndMeshFormat\n",
     "b.msh:2: version 4 of the format is not supported: save as 4.1 or 2.2"},
    {"b.msh", "$MeshFormat\n4.1 1 4\n\1\n$EndMeshFormat\n",
     "b.msh:2: binary data of size 8 are supported, got 4"},
    {"b.msh", "$MeshFormat\n4.1 1 8\nabcd\n$EndMeshFormat\n",
     "b.msh: byte 20: expected a 1 that defines the byte order"},
    {"b.msh", MSH22, "b.msh:4: the file has no section $Nodes"},
    {"b.msh", MSH22 "$Elements\n0\n$EndElements\n",
     "b.msh:5: the section $Elements comes before $Nodes"},
    {"b.msh", MSH22 "$Nodes\n4\n1 0 0 0\n2 1 zero 0\n",
     "b.msh:6: 4 nodes do not fit in the 19 bytes that are left"},
    {"b.msh", MSH22 "$Nodes\n2\n1 0 0 0\n2 1 zero 0\n$EndNodes\n",
     "b.msh:7: expected a coordinate, got 'zero'"},
    {"b.msh", MSH22 "$Nodes\n2\n1 0 0 0\n2 1 1e999 0\n$EndNodes\n",
     "b.msh:7: a coordinate exceeds the range of numbers: '1e999'"},
    {"b.msh", MSH22 "$Nodes\n2000000000\n1 0 0 0\n",
     "b.msh:6: 2000000000 nodes do not fit in the 8 bytes that are left"},
    {"b.msh", MSH22 "$Nodes\n99999999999999999999\n1 0 0 0\n",
     "b.msh:5: the number of nodes must be in 0 to 2147483647, got '99999999999999999999'"},
    {"b.msh", MSH22 "$Nodes\n2\n1 0 0 0\n1 1 0 0\n$EndNodes\n",
     "b.msh:5: node 1 occurs twice in this section"},
    {"b.msh", MSH22 "$Nodes\n1\n1 0 0 0\n2 1 0 0\n$EndNodes\n",
     "b.msh:7: expected $EndNodes, got '2'"},
    {"b.msh", MSH22 NODES22 "$Elements\n1\n1 4 0 1 2 3 9\n$EndElements\n",
     "b.msh:13: the element names node 9, which does not exist"},
    {"b.msh",
     MSH22 NODES22 "$Elements\n2\n1 4 0 1 2 3 4 2 11 0 1 2 3 4 1 2 3 4 1 2\n$EndElements\n",
     "b.msh:13: 10-node tetrahedron (type 11): all tetrahedra must have the same order, "
     "previous ones have order 1"},
    {"b.msh", MSH22 NODES22 "$Elements\n1\n1 12 0 1 2 3 4 1 2 3 4 1 2\n$EndElements\n",
     "b.msh:13: 27-node hexahedron (type 12): second-order elements of this kind are not "
     "supported"},
    {"b.msh", MSH22 NODES22 "$Elements\n1\n1 9 0 1 2 3 4 1 2\n$EndElements\n",
     "b.msh: a curved triangle or segment bounds no curved tetrahedron"},
    {"b.msh", MSH22 NODES22 "$Elements\n1\n1 7 0 1 2 3 4 1\n$EndElements\n",
     "b.msh:13: 5-node pyramid (type 7): only tetrahedra, triangles, quadrangles, segments and "
     "points are supported"},
    {"b.msh", MSH22 NODES22 "$Elements\n1\n1 444 0 1 2 3 4\n$EndElements\n",
     "b.msh:13: elements of type 444 are not supported"},
    {"b.msh", MSH22 NODES22 "$Elements\n1\n1 4 0 1 2 3",
     "b.msh:13: expected a node of the element, got the end of the file"},
    {"b.msh", MSH22 NODES22 "$Surface\n1 2 3\n", "b.msh:11: the section '$Surface' does not end"},
    {"b.msh", MSH41 "$Nodes\n1 2 1 2\n3 1 0 1\n1\n0 0 0\n$EndNodes\n",
     "b.msh:5: 2 nodes are announced, but the blocks contain 1"},
    {"b.msh", MSH41 "$Nodes\n1 1 1 1\n3 1 0 -1\n1\n0 0 0\n$EndNodes\n",
     "b.msh:6: the number of nodes of a block must be in 0 to 2147483647, got '-1'"},
    {"b.vtk", "vtk file\n", "b.vtk:1: expected '# vtk DataFile Version ', got 'vtk'"},
    {"b.vtk", "# vtk DataFile Version 3.0\nt\nASCII\nDATASET STRUCTURED_GRID\n",
     "b.vtk:4: expected DATASET UNSTRUCTURED_GRID or POLYDATA, got 'STRUCTURED_GRID'"},
    {"b.vtk", VTK VTK_POINTS "CELLS 1 5\n4 0 1 2 4\nCELL_TYPES 1\n10\n",
     "b.vtk:11: a vertex of the cell must be in 0 to 3, got '4'"},
    {"b.vtk", VTK VTK_POINTS "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n12\n",
     "b.vtk:13: cell 0 is a hexahedron (type 12), which is not supported: only tetrahedra, "
     "polygons, lines and vertices are"},
    {"b.vtk", VTK VTK_POINTS "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n5\n",
     "b.vtk:12: cell 0, a triangle, has 4 vertices"},
    {"b.vtk", VTK VTK_POINTS "CELLS 1 5\n4 0 1 2 3\n",
     "b.vtk:12: the file has CELLS but no CELL_TYPES"},
    {"b.vtk", VTK "POINTS 4 quad\n", "b.vtk:5: expected a type such as double, got 'quad'"},
    {"b.mesh", "Vertices 3\n", "b.mesh:1: expected MeshVersionFormatted, got 'Vertices'"},
    {"b.mesh", MEDIT "Hexahedra\n1\n",
     "b.mesh:7: 'Hexahedra' is not supported: only Vertices, "
     "Edges, Triangles, Quadrilaterals and Tetrahedra are read"},
    {"b.mesh", MEDIT "Triangles\n1\n1 2 4 7\n",
     "b.mesh:9: a vertex of the cell must be in 1 to 3, got '4'"},
    {"b.mesh", MEDIT "Triangles\n2000000000\n1 2 3 7\n",
     "b.mesh:8: 2000000000 triangles do not fit in the 9 bytes that are left"},
    {"b.mesh", MEDIT "Triangles\n1\n1 2 3 ",
     "b.mesh:9: expected the reference of the cell, got the end of the file"},
    {"b.mesh", "MeshVersionFormatted 2\nDimension 3\nTriangles\n1\n1 1 1 1\n",
     "b.mesh:3: 'Triangles' before Vertices"},
    {"b.mesh", "MeshVersionFormatted 2\nVertices\n0\n", "b.mesh:2: Vertices before Dimension"},
    {"b.mesh", "MeshVersionFormatted 2\nDimension 4\n",
     "b.mesh:2: the dimension must be in 2 to 3, got '4'"},
    {"b.inp", "** nothing\n", "b.inp:2: the file has no elements"},
    {"b.inp", "\nNODE\n1, 0, 0, 0\n", "b.inp:2: expected a keyword such as *NODE, got 'NODE'"},
    {"b.inp", INP_NODES, "b.inp:6: the file has no elements"},
    {"b.inp", INP "*NODE\n50, zero, 0, 0\n", "b.inp:9: expected a coordinate, got 'zero'"},
    {"b.inp", INP "*NODE\n50, 1 2, 0\n", "b.inp:9: expected a coordinate, got '1 2'"},
    {"b.inp", INP "*NODE\n50, 1e999, 0\n",
     "b.inp:9: a coordinate exceeds the range of numbers: '1e999'"},
    {"b.inp", INP "*NODE\n50, 0, 0, 0, 0, 0, 1, 2\n",
     "b.inp:9: expected the end of the line, got '2'"},
    {"b.inp", INP "*NODE\nfifty, 0, 0, 0\n", "b.inp:9: expected the label of a node, got 'fifty'"},
    {"b.inp", INP "*NODE\n0, 0, 0, 0\n",
     "b.inp:9: the label of a node must be in 1 to 9223372036854775806, got '0'"},
    {"b.inp", INP "*NODE\n99999999999999999999, 0\n",
     "b.inp:9: the label of a node must be in 1 to 9223372036854775806, got "
     "'99999999999999999999'"},
    {"b.inp", INP "*NODE\n50, 0, 0, 0\n20, 0, 0, 0\n", "b.inp:10: node 20 occurs twice"},
    {"b.inp", INP "*NODE, SYSTEM=C\n50, 0, 0, 0\n",
     "b.inp:8: coordinates other than rectangular ones are not supported"},
    {"b.inp", INP "*NODE, INPUT=nodes.txt\n",
     "b.inp:8: the parameter 'INPUT' of '*NODE' is not supported"},
    {"b.inp", INP "*NODE, NSET=\n50, 0, 0, 0\n", "b.inp:8: 'NSET' needs a name"},
    {"b.inp", INP "*ELEMENT, TYPE=C3D4\n7, 10, 20, 40, 30\n", "b.inp:9: element 7 occurs twice"},
    {"b.inp", INP "*ELEMENT, TYPE=S3\n8, 10, 20, 30\n\n9, 10, 20, 31\n",
     "b.inp:11: the element names node 31, which does not exist"},
    {"b.inp", INP "*ELEMENT, TYPE=S3\n8, 10, 20\n9, 10, 20, 30\n",
     "b.inp:9: expected a node of the element, got the end of the line"},
    {"b.inp", INP "*ELEMENT, TYPE=S3\n8, 10, 20,\n*STEP\n",
     "b.inp:10: expected a node of the element, got '*STEP'"},
    {"b.inp", INP "*ELEMENT, TYPE=S3\n8, 10, 20,",
     "b.inp:9: expected a node of the element, got the end of the file"},
    {"b.inp", INP "*ELEMENT, TYPE=S3\n8, 10, , 30\n",
     "b.inp:9: expected a node of the element, got ','"},
    {"b.inp", INP "*ELEMENT, TYPE=S3\n8, 10, 20, 30, 40\n",
     "b.inp:9: expected the end of the line, got '40'"},
    {"b.inp", INP "*ELEMENT, TYPE=S3\n8, 10, 20, x\n",
     "b.inp:9: expected a node of the element, got 'x'"},
    {"b.inp", INP "*ELEMENT\n8, 10, 20, 30\n", "b.inp:8: '*ELEMENT' needs the parameter TYPE"},
    {"b.inp", INP "*ELEMENT, ELSET=E,\nTYPE=C3D8\n8, 10, 20\n",
     "b.inp:9: elements of type 'C3D8' are not supported: only tetrahedra (C3D4, C3D10), triangles "
     "(S3, STRI3, M3D3, CPS3, CPE3), quadrilaterals (S4, M3D4, CPS4, CPE4, R3D4) and segments "
     "(B31, T3D2) are"},
    {"b.inp", INP "*ELEMENT, TYPE=C3D10\n",
     "b.inp:8: C3D10: all tetrahedra must have the same order, previous ones have order 1"},
    {"b.inp",
     INP "*ELEMENT, TYPE=S6\n8, 10, 20, 30, 40, 40, 40\n*ELEMENT, TYPE=B32\n9, 10, 20, 30\n",
     "b.inp:8: quadratic triangles and segments are only supported as sides and edges of C3D10"},
    {"b.inp", INP "*NSET\n10\n", "b.inp:8: '*NSET' needs the parameter NSET"},
    {"b.inp", INP "*NSET, NSET=N\n10, 20,\n30, x0\n", "b.inp:10: there is no node set 'x0' before"},
    {"b.inp", INP "*ELSET, ELSET=E\n7\n8\n",
     "b.inp:10: the set 'E' names element 8, which does not exist"},
    {"b.inp", INP "*ELSET, ELSET=E\n-7\n",
     "b.inp:9: an element must be in 1 to 9223372036854775806, got '-7'"},
    {"b.inp", INP "*ELSET, ELSET=E\n7, , 7\n", "b.inp:9: expected an element, got ','"},
    {"b.inp", INP "*NSET, NSET=N\nBody\n", "b.inp:9: there is no node set 'Body' before"},
    {"b.inp", INP "*ELSET, ELSET=E\nLater\n*ELSET, ELSET=Later\n7\n",
     "b.inp:9: there is no element set 'Later' before"},
    {"b.inp", INP "*NSET, NSET=N, GENERATE\n10\n",
     "b.inp:9: GENERATE needs the first and the last label, got 1"},
    {"b.inp", INP "*NSET, NSET=N, GENERATE\n10, 20, 0\n",
     "b.inp:9: the increment must be in 1 to 9223372036854775806, got '0'"},
    {"b.inp", INP "*NSET, NSET=N, GENERATE\n20, 10\n",
     "b.inp:9: the last label 10 is below the first, 20"},
    {"b.inp", INP "*NSET, NSET=N, GENERATE\n10, 20, 5, 6\n",
     "b.inp:9: expected the end of the line, got '6'"},
    {"b.inp", INP "*NSET, NSET=N, ELSET=Body\n",
     "b.inp:8: the parameter 'ELSET' of '*NSET' is not supported"},
    {"b.inp", INP "* Include, INPUT=more.inp\n",
     "b.inp:8: '* Include' is not supported: the file must contain all nodes and elements in "
     "rectangular coordinates"},
    {"b.inp", INP "*NGEN\n10, 20\n",
     "b.inp:8: '*NGEN' is not supported: the file must contain all nodes and elements in "
     "rectangular coordinates"},
    {"b.inp", INP_PART "*END INSTANCE\n*INSTANCE, NAME=J, PART=P\n",
     "b.inp:13: a second instance: only files of one instance are supported"},
    {"b.inp", INP_PART "0, 0, 1, 2\n", "b.inp:12: expected the end of the line, got '2'"},
    {"b.inp", INP_PART "0, up, 1\n", "b.inp:12: expected a translation, got 'up'"},
    {"b.inp", INP_PART "0,\n1, 2, 3, 1, 2, 3, 90\n",
     "b.inp:13: the axis of the rotation has no length"},
    {"b.inp", INP_PART "0,\n0, 0, 0, 0, 0, 1, 90\n1\n",
     "b.inp:14: expected a keyword such as *NODE, got '1'"},
    {"b.inp", INP_PART "*END INSTANCE\n*ELEMENT, TYPE=S3\n8, 10, 20, 30\n",
     "b.inp:13: elements of the assembly itself are not supported"},
    {"b.inp", INP_PART "*END INSTANCE\n*ELSET, ELSET=E\n7\n",
     "b.inp:14: the assembly has no element 7"},
    {"b.inp", "*PART, NAME=P\n*END PART\n*PART, NAME=Q\n",
     "b.inp:3: a second part: only files of one part are supported"},
    {"b.obj", "v 0 0 0\nv 1 0\nf 1 2 3\n",
     "b.obj:2: expected a coordinate, got the end of the line"},
    {"b.obj", "v 0 0\nv 1 0 2\nl 1 2\n",
     "b.obj:2: expected two coordinates as in the previous lines, got also '2'"},
    {"b.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n\nf 1 2 4\n",
     "b.obj:5: vertex '4' does not exist: there are 3"},
    {"b.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 -4 2\n",
     "b.obj:4: vertex '-4' does not exist: there are 3"},
    {"b.obj", "v 0 0 0\nv 1 0 0\nf 1 0 2\n", "b.obj:3: vertex '0' does not exist: there are 2"},
    {"b.obj", "v 0 0 0\nv 1 0 0\nf 1 2\n", "b.obj:3: f needs at least 3 vertices, got 2"},
    {"b.obj", "v 0 0 0\nv 1 0 0\nf 1 2 x\n", "b.obj:3: expected a vertex of the cell, got 'x'"},
    {"b.ply", "plx\n", "b.ply:1: expected 'ply', got 'plx'"},
    {"b.ply", "ply\nformat ascii 1.0\nelement vertex 3\n",
     "b.ply:4: expected 'end_header', got the end of the file"},
    {"b.ply", PLY "end_header\n0 0 0 0 0 0\n", "b.ply:1: the vertices need properties x, y and z"},
    {"b.ply", PLY "property float z\nend_header\n0 0 0\n1 0 0\n0 x 0\n",
     "b.ply:10: expected a coordinate, got 'x'"},
    {"b.ply",
     PLY "property float z\nelement face 1\nproperty list uchar int vertex_index\n"
         "end_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n",
     "b.ply:13: a vertex of the face must be in 0 to 2, got '3'"},
    {"b.ply",
     "ply\nformat binary_little_endian 1.0\nelement vertex 9\nproperty double x\n"
     "property double y\nproperty double z\nend_header\n01234567",
     "b.ply: byte 118: 9 elements do not fit in the 8 bytes that are left"},
    {"b.stl", "solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0\nvertex 1 0 0\n",
     "b.stl:5: expected a coordinate, got 'vertex'"},
    {"b.stl", "solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nendloop\n",
     "b.stl:6: expected 'vertex', got 'endloop'"},
    {"b.stl", "solid s\n", "b.stl:2: expected 'facet' or 'endsolid', got the end of the file"},
    {"b.stl", "short",
     "b.stl: byte 0: the header of a binary STL file needs 84 bytes, but the file ends after 5"},
    {"b.seg", "v 0 0 0\nv 1 1 1\ns 1 3\n",
     "b.seg:3: a vertex of the segment must be in 1 to 2, got '3'"},
    {"b.seg", "v 0 0 0 9\n", "b.seg:1: expected the end of the line, got '9'"},
    {"b.seg", "q 0 0 0\n", "b.seg:1: expected v or s, got 'q'"},
    {"b.pt", "v 0 0 0\ns 1 1\n", "b.pt:2: expected v, got 's'"},
    {"b.pt", "v 0 0 0x10\n", "b.pt:1: expected a coordinate, got '0x10'"},
};

static void broken_files_say_where_and_what(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  int n_wrong = 0;
  for (size_t k = 0; k < sizeof broken / sizeof broken[0]; k++) {
    NoliMesh* mesh = NULL;
    NoliStatus status =
        read_content(context, broken[k].path, broken[k].content, strlen(broken[k].content), &mesh);
    if (status != NOLI_ERROR_FORMAT ||
        strcmp(noli_context_message(context), broken[k].message) != 0) {
      print_error("case %d: status %d\n  got  %s\n  want %s\n", (int)k, (int)status,
                  noli_context_message(context), broken[k].message);
      n_wrong++;
    }
    assert_null(mesh);
  }
  assert_int_equal(n_wrong, 0);
  test_context_done(&context);
}

static void missing_files_and_folders_are_io_errors(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh* mesh = NULL;
  ASSERT_STATUS(noli_mesh_read(context, "not_there.msh", &mesh), NOLI_ERROR_IO);
  assert_string_equal(noli_context_message(context),
                      "not_there.msh: cannot be opened: No such file or directory");
  ASSERT_STATUS(noli_mesh_read(context, "mesh.step", &mesh), NOLI_ERROR_ARGUMENT);
  assert_non_null(strstr(noli_context_message(context), "mesh.step: meshes are read from .msh"));
  ASSERT_STATUS(noli_mesh_read(context, "msh", &mesh), NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_mesh_read(context, "", &mesh), NOLI_ERROR_ARGUMENT);
  // a folder with the name of a mesh
  if (system("mkdir -p folder.msh") == 0) {
    ASSERT_STATUS(noli_mesh_read(context, "folder.msh", &mesh), NOLI_ERROR_IO);
    assert_string_equal(noli_context_message(context),
                        "folder.msh: is a directory, not a mesh file");
    NoliMesh* box = NULL;
    ASSERT_OK(noli_mesh_make_box(context, (double[]){1, 1, 1}, (int32_t[]){1, 1, 1}, false, &box));
    ASSERT_STATUS(noli_mesh_write(context, "folder.msh", box), NOLI_ERROR_IO);
    noli_mesh_destroy(context, &box);
    // nothing half-written remains
    assert_int_not_equal(system("ls folder.msh.*.partial >/dev/null 2>&1"), 0);
    remove("folder.msh");
  }
  ASSERT_STATUS(noli_mesh_read(context, "/dev/null.msh", &mesh), NOLI_ERROR_IO);
  assert_null(mesh);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(broken_files_say_where_and_what),
      cmocka_unit_test(missing_files_and_folders_are_io_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
