// Data of legacy VTK files: tags are found under their usual names and types, before and after
// every other attribute, in text and binary; values may begin on the line of their header; and what
// is not used is logged.
#include "mesh/mesh_support.h"

#include "base/byte_order.h"

// Two tetrahedra, in text or binary (big-endian).
static void put_grid(TestBytes* file, bool binary) {
  const double x[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1};
  const int32_t cell[] = {4, 0, 1, 2, 3, 4, 2, 1, 4, 3};
  if (!binary) {
    put_string(file, "POINTS 5 double\n0 0 0 1 0 0 0 1 0 0 0 1 1 1 1\n"
                     "CELLS 2 10\n4 0 1 2 3 4 2 1 4 3\nCELL_TYPES 2\n10 10\n");
    return;
  }
  put_string(file, "POINTS 5 double\n");
  for (int i = 0; i < 15; i++) {
    put_f64(file, x[i]);
  }
  put_string(file, "\nCELLS 2 10\n");
  for (int i = 0; i < 10; i++) {
    put_i32(file, cell[i]);
  }
  put_string(file, "\nCELL_TYPES 2\n");
  put_i32(file, 10);
  put_i32(file, 10);
  put_string(file, "\n");
}

static void put_head(TestBytes* file, bool binary) {
  *file = (TestBytes){.swap = noli_is_little_endian()};
  put_string(file, "# vtk DataFile Version 3.0\nt\n");
  put_string(file, binary ? "BINARY\n" : "ASCII\n");
  put_string(file, "DATASET UNSTRUCTURED_GRID\n");
}

// An attribute of two cells: its header, its values as text, and the bytes of binary ones.
typedef struct Attribute {
  const char* header;
  const char* values;
  int n_byte;
  const char* bytes; // NULL: zeros
} Attribute;

static const Attribute attributes[] = {
    {"SCALARS q float 1\nLOOKUP_TABLE mine\n", "0.5 nan(ind)", 8, NULL},
    {"LOOKUP_TABLE mine 3\n", "0 0 1 1\n1 0 0 1\n-1.#IND 1 1 1", 12, NULL},
    {"SCALARS q4 double 4\nLOOKUP_TABLE default\n", "1 2 3 4 5 6 7 -nan", 64, NULL},
    {"SCALARS mask bit\nLOOKUP_TABLE default\n", "1 0", 1, NULL},
    {"COLOR_SCALARS rgb 3\n", "0.1 0.2 0.3\n1 1 1", 6, NULL},
    {"VECTORS v float\n", "1 2 3\n4 5 inf", 24, NULL},
    {"NORMALS n double\n", "0 0 1\n-nan(ind) -nan(ind) 1.#QNAN", 48, NULL},
    {"TENSORS s float\n", "1 2 3\n4 5 6\n7 8 9\n\n1 2 3\n4 5 6\n7 8 9", 72, NULL},
    {"TENSORS6 s6 float\n", "1 2 3 4 5 6 1 2 3 4 5 6", 48, NULL},
    {"TEXTURE_COORDINATES uv 2 float\n", "0 1\n1 0", 16, NULL},
    {"GLOBAL_IDS gid vtkIdType\n", "7 8", 8, NULL},
    {"PEDIGREE_IDS pid1 vtktypeint64\n", "7 8", 16, NULL},
    {"FIELD f 1\nnames 1 2 string\n", "one word\n\n", 10, "\xc3one\xc5woman"},
    {"FIELD f 1\nnames 1 2 utf8_string\n", "SCALARS\nmaterial", 11, "\x80\x03one\xc5woman"},
    {"FIELD f 2\nids 1 2 vtkIdType\n", "1 2\nflags 3 3 bit\n1 0 1 0 1 1 0 0 1", 25,
     "\0\0\0\1\0\0\0\2\nflags 3 3 bit\n\xaa\x80"},
    {"FIELD f 1\nnothing 0 0 int\n", "", 0, ""},
    {"METADATA\nCOMPONENT_NAMES\nX%20axis\nSCALARS\nINFORMATION 0\n", "", 1, "\n"},
};

enum { N_ATTRIBUTE = sizeof attributes / sizeof *attributes };

static void put_attribute(TestBytes* file, const Attribute* attribute, bool binary) {
  put_string(file, attribute->header);
  if (!binary) {
    put_string(file, attribute->values);
  } else if (attribute->n_byte > 0) {
    for (int i = 0; i < attribute->n_byte; i++) {
      put_u8(file, attribute->bytes != NULL ? (uint8_t)attribute->bytes[i] : 0);
    }
  }
  put_string(file, "\n");
}

static void put_tags(TestBytes* file, const char* header, bool binary) {
  put_string(file, header);
  if (binary) {
    put_i32(file, 11);
    put_i32(file, 22);
  } else {
    put_string(file, "11\n22");
  }
  put_string(file, "\n");
}

static void assert_tags(const NoliMesh* mesh) {
  assert_int_equal(mesh->n_tet, 2);
  assert_non_null(mesh->tet_tag);
  assert_int_equal(mesh->tet_tag[0], 11);
  assert_int_equal(mesh->tet_tag[1], 22);
}

// Every attribute before and after the tags, of cells and of points.
static void tags_beside_every_attribute(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  for (int a = 0; a < N_ATTRIBUTE; a++) {
    for (int binary = 0; binary < 2; binary++) {
      TestBytes file;
      put_head(&file, binary == 1);
      put_grid(&file, binary == 1);
      // two items, too, so that the same values serve
      put_string(&file, "POINT_DATA 2\n");
      put_attribute(&file, &attributes[a], binary == 1);
      put_string(&file, "CELL_DATA 2\n");
      put_attribute(&file, &attributes[a], binary == 1);
      put_tags(&file, "SCALARS material int 1\nLOOKUP_TABLE default\n", binary == 1);
      put_attribute(&file, &attributes[a], binary == 1);
      put_string(&file, "POINT_DATA 2\n");
      put_attribute(&file, &attributes[a], binary == 1);
      NoliMesh* mesh = must_read(context, "beside.vtk", file.data, file.n);
      assert_tags(mesh);
      noli_mesh_destroy(context, &mesh);
    }
  }
  test_context_done(&context);
}

// All in one file, with the tags at the end.
static void tags_after_all_attributes(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  for (int binary = 0; binary < 2; binary++) {
    TestBytes file;
    put_head(&file, binary == 1);
    put_grid(&file, binary == 1);
    put_string(&file, "CELL_DATA 2\n");
    for (int a = 0; a < N_ATTRIBUTE; a++) {
      put_attribute(&file, &attributes[a], binary == 1);
    }
    put_tags(&file, "FIELD FieldData 1\nMaterialIds 1 2 int\n", binary == 1);
    NoliMesh* mesh = must_read(context, "all.vtk", file.data, file.n);
    assert_tags(mesh);
    noli_mesh_destroy(context, &mesh);
  }
  test_context_done(&context);
}

// A FIELD of the file, before POINTS, with strings and the like.
static void fields_before_the_points(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  for (int a = 0; a < N_ATTRIBUTE; a++) {
    for (int binary = 0; binary < 2 && attributes[a].header[0] == 'F'; binary++) {
      TestBytes file;
      put_head(&file, binary == 1);
      put_attribute(&file, &attributes[a], binary == 1);
      put_grid(&file, binary == 1);
      put_string(&file, "CELL_DATA 2\n");
      put_tags(&file, "SCALARS tag int\nLOOKUP_TABLE default\n", binary == 1);
      NoliMesh* mesh = must_read(context, "before.vtk", file.data, file.n);
      assert_tags(mesh);
      noli_mesh_destroy(context, &mesh);
    }
  }
  test_context_done(&context);
}

// ---- names and types

static void names_of_tags(void** state) {
  (void)state;
  static const char* const names[] = {
      "tag",          "material",         "MaterialIds",    "Material_ID",   "material%20id",
      "matID",        "medit:ref",        "gmsh:physical",  "CellEntityIds", "RegionId",
      "region",       "attribute",        "cell_markers",   "Label",         "PhysicalGroup",
      "subdomain_id", "gmsh:geometrical", "ElementBlockIds"};
  static const char* const types[] = {"int", "float", "double", "vtktypeint64", "unsigned_char"};
  NoliContext* context = test_context(1);
  for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
      for (int is_field = 0; is_field < 2; is_field++) {
        TestBytes file;
        char head[200];
        put_head(&file, false);
        put_grid(&file, false);
        snprintf(head, sizeof head,
                 is_field == 1 ? "CELL_DATA 2\nFIELD F 1\n%s 1 2 %s\n"
                               : "CELL_DATA 2\nSCALARS %s %s\n",
                 names[n], types[t]);
        put_tags(&file, head, false);
        NoliMesh* mesh = must_read(context, "named.vtk", file.data, file.n);
        assert_tags(mesh);
        noli_mesh_destroy(context, &mesh);
      }
    }
  }
  test_context_done(&context);
}

static NoliMesh* read_data(NoliContext* context, const char* data) {
  TestBytes file;
  put_head(&file, false);
  put_grid(&file, false);
  put_string(&file, data);
  return must_read(context, "data.vtk", file.data, file.n);
}

// The name that says most counts, whichever comes first; what is not used is logged.
static void other_arrays_are_logged(void** state) {
  (void)state;
  TestLog log;
  NoliContext* context = test_context_log(&log);
  NoliMesh* mesh = read_data(context, "POINT_DATA 5\nSCALARS tag int\nLOOKUP_TABLE default\n"
                                      "1 2 3 4 5\nCELL_DATA 2\nFIELD F 3\n"
                                      "gmsh:geometrical 1 2 int\n1 2\ngmsh:physical 1 2 int\n"
                                      "11 22\nquality 1 2 float\n0 nan\n");
  assert_tags(mesh);
  noli_mesh_destroy(context, &mesh);
  assert_string_equal(log.text, "data.vtk: not used: point array 'tag', cell array "
                                "'gmsh:geometrical', cell array 'quality'\n");

  // not integers
  log.text[0] = '\0';
  mesh = read_data(context, "CELL_DATA 2\nSCALARS material float\nLOOKUP_TABLE default\n1.5 2\n");
  assert_null(mesh->tet_tag);
  noli_mesh_destroy(context, &mesh);
  assert_non_null(
      strstr(log.text, "the array 'material' of cells has values that are not integers"));

  // what is not known
  log.text[0] = '\0';
  mesh = read_data(context, "CELL_DATA 2\nHYPER_TREES 3\n1 2 3\nSCALARS tag int\n1 2\n");
  noli_mesh_destroy(context, &mesh);
  assert_non_null(strstr(log.text, "reading ends at 'HYPER_TREES'"));
  test_context_done(&context);
}

// ---- values on the line of the header

static void values_on_the_line_of_the_header(void** state) {
  (void)state;
  static const char* const breaks[] = {"\n", " ", "\r\n", "\n\n  "};
  NoliContext* context = test_context(1);
  for (int b = 0; b < 4; b++) {
    for (int version = 3; version < 6; version += 2) {
      char text[1000];
      const char* br = breaks[b];
      bool new_layout = version == 5;
      snprintf(text, sizeof text,
               "# vtk DataFile Version %d.0\nt\nASCII\nDATASET POLYDATA\nPOINTS 4 float%s0 0 0 1 0 "
               "0 1 1 0%s0 1 0\nLINES %s%s%s0%s1 2 3\nPOLYGONS %s%s%s0 1 2%s%s0 2 3\nCELL_DATA 3\n"
               "SCALARS tag int 1%sLOOKUP_TABLE default%s5 6%s7\n",
               version, br, br, new_layout ? "2 4 OFFSETS vtktypeint64" : "1 5", br,
               new_layout ? "0 4 CONNECTIVITY vtktypeint64 " : "4 ", br,
               new_layout ? "3 6 OFFSETS vtktypeint64" : "2 8", br,
               new_layout ? "0 3 6 CONNECTIVITY vtktypeint64 " : "3 ", br, new_layout ? "" : "3 ",
               br, br, br);
      NoliMesh* mesh = must_read(context, "line.vtk", text, strlen(text));
      assert_int_equal(mesh->n_vert, 4);
      assert_int_equal(mesh->n_tri, 2);
      assert_int_equal(mesh->tri_tag[0], 6);
      assert_int_equal(mesh->tri_tag[1], 7);
      // two of the three segments are edges of triangles
      assert_int_equal(mesh->n_edge, 0);
      noli_mesh_destroy(context, &mesh);
    }
  }
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tags_beside_every_attribute),
      cmocka_unit_test(tags_after_all_attributes),
      cmocka_unit_test(fields_before_the_points),
      cmocka_unit_test(names_of_tags),
      cmocka_unit_test(other_arrays_are_logged),
      cmocka_unit_test(values_on_the_line_of_the_header),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
