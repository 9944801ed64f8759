// Every format: a written file reads back to the same bits; small files of every variant are read
// correctly; truncating any of them at any byte does no harm.
#include "mesh_support.h"

// ---- files written by hand: one tetrahedron with tags on it and on a face, nodes out of order

static const double points[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1.5}};
static const uint64_t node_tags[4] = {70, 3, 12, 5};

static TestBytes msh22(bool binary, bool swap) {
  TestBytes b = {.swap = swap};
  put_string(&b, binary ? "$MeshFormat\n2.2 1 8\n" : "$MeshFormat\n2.2 0 8\n");
  if (binary) {
    put_i32(&b, 1);
    put_string(&b, "\n");
  }

  // nodes
  put_string(&b, "$EndMeshFormat\n$Comments\nmade by $hand\n$EndComments\n$Nodes\n4\n");
  for (int v = 0; v < 4; v++) {
    if (binary) {
      put_i32(&b, (int32_t)node_tags[v]);
      for (int i = 0; i < 3; i++) {
        put_f64(&b, points[v][i]);
      }
    } else {
      char line[100];
      snprintf(line, sizeof line, "%d %g %g %g\n", (int)node_tags[v], points[v][0], points[v][1],
               points[v][2]);
      put_string(&b, line);
    }
  }

  // elements
  put_string(&b, "$EndNodes\n$Elements\n4\n");
  if (binary) {
    // two triangles in one run, a tetrahedron, and a segment that is one of its edges
    const int32_t words[] = {2, 2, 2, 1,  11, 1,  70, 12, 3, 2, 12, 1, 70, 3,  5, 4,
                             1, 2, 3, 21, 1,  70, 3,  12, 5, 1, 1,  0, 4,  70, 3};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
      put_i32(&b, words[i]);
    }
    put_string(&b, "\n");
  } else {
    put_string(&b, "1 2 2 11 1 70 12 3\n2 2 2 12 1 70 3 5\n3 4 2 21 1 70 3 12 5\n4 1 0 70 3\n");
  }
  put_string(&b, "$EndElements\n");
  return b;
}

static void put_entity(TestBytes* b, int dimension, int32_t tag, int32_t physical) {
  put_i32(b, tag);
  for (int i = 0; i < (dimension == 0 ? 3 : 6); i++) {
    put_f64(b, i);
  }
  put_u64(b, 2);
  put_i32(b, physical);
  put_i32(b, physical + 100);
  if (dimension > 0) {
    put_u64(b, 1);
    put_i32(b, -1);
  }
}

static TestBytes msh41_binary(bool swap) {
  TestBytes b = {.swap = swap};
  put_string(&b, "$MeshFormat\n4.1 1 8\n");
  put_i32(&b, 1);
  put_string(&b, "\n$EndMeshFormat\n$Entities\n");

  // entities
  const uint64_t n_entity[4] = {1, 0, 2, 1};
  for (int d = 0; d < 4; d++) {
    put_u64(&b, n_entity[d]);
  }
  put_entity(&b, 0, 1, 9);
  put_entity(&b, 2, 8, 12);
  put_entity(&b, 2, 7, 11);
  put_entity(&b, 3, 1, 21);
  put_string(&b, "\n$EndEntities\n$Nodes\n");

  // a parametric block of one node on a surface, then the others
  const uint64_t node_head[4] = {2, 4, 3, 70};
  for (int i = 0; i < 4; i++) {
    put_u64(&b, node_head[i]);
  }
  for (int block = 0; block < 2; block++) {
    int first = block, n = block == 0 ? 1 : 3;
    put_i32(&b, block == 0 ? 2 : 3);
    put_i32(&b, block == 0 ? 7 : 1);
    put_i32(&b, block == 0);
    put_u64(&b, (uint64_t)n);
    for (int v = first; v < first + n; v++) {
      put_u64(&b, node_tags[v]);
    }
    for (int v = first; v < first + n; v++) {
      for (int i = 0; i < (block == 0 ? 5 : 3); i++) {
        put_f64(&b, i < 3 ? points[v][i] : 0.25);
      }
    }
  }

  // elements
  put_string(&b, "\n$EndNodes\n$Elements\n");
  const uint64_t element_head[4] = {4, 4, 1, 4};
  for (int i = 0; i < 4; i++) {
    put_u64(&b, element_head[i]);
  }
  static const struct {
    int32_t dimension, tag, type, width;
    uint64_t node[4];
  } blocks[4] = {{2, 7, 2, 3, {70, 12, 3}},
                 {2, 8, 2, 3, {70, 3, 5}},
                 {3, 1, 4, 4, {70, 3, 12, 5}},
                 {0, 1, 15, 1, {12}}};
  for (int k = 0; k < 4; k++) {
    put_i32(&b, blocks[k].dimension);
    put_i32(&b, blocks[k].tag);
    put_i32(&b, blocks[k].type);
    put_u64(&b, 1);
    put_u64(&b, (uint64_t)k + 1);
    for (int i = 0; i < blocks[k].width; i++) {
      put_u64(&b, blocks[k].node[i]);
    }
  }
  put_string(&b, "\n$EndElements\n");
  return b;
}

static TestBytes text(const char* content) {
  TestBytes b = {.n = 0};
  put_string(&b, content);
  return b;
}

static TestBytes msh41_text(void) {
  return text("$MeshFormat\r\n4.1 0 8\r\n$EndMeshFormat\r\n$Entities\n1 0 2 1\n1 0 1 2 1 9\n"
              "8 0 1 2 3 4 5 2 12 99 1 -1\n7 0 1 2 3 4 5 1 11 0\n1 0 1 2 3 4 5 1 21 2 7 -8\n"
              "$EndEntities\n$Nodes\n2 4 3 70\n2 7 1 1\n70\n0 0 0 .5 .5\n3 1 0 3\n3\n12\n5\n"
              "1 0 0\n0 1 0\n0 0 1.5\n$EndNodes\n$Elements\n4 4 1 4\n2 7 2 1\n1 70 12 3\n"
              "2 8 2 1\n2 70 3 5\n3 1 4 1\n3 70 3 12 5\n0 1 15 1\n4 12\n$EndElements\n"
              "$Surface\n1\n1 2 3\n$EndSurface\n");
}

static TestBytes vtk_text(void) {
  return text("# vtk DataFile Version 2.0\ntitle\nASCII\nDATASET UNSTRUCTURED_GRID\n"
              "POINTS 4 float\n0 0 0 1 0 0\n0 1 0 0 0 1.5\nCELLS 5 18\n3 0 2 1\n4 0 1 2 3\n"
              "3 0 1 3\n2 1 0\n1 2\nCELL_TYPES 5\n5 10 5 3 1\nPOINT_DATA 4\n"
              "VECTORS v float\n0 0 0 0 0 0 0 0 0 0 0 0\nCELL_DATA 5\n"
              "SCALARS other float\nLOOKUP_TABLE default\n1 2 3 4 5\n"
              "SCALARS material int 1\nLOOKUP_TABLE default\n11 21 12 0 0\n");
}

static void put_words(TestBytes* b, const int32_t* words, size_t n) {
  for (size_t i = 0; i < n; i++) {
    put_i32(b, words[i]);
  }
}

#define PUT_WORDS(b, ...)                                                                          \
  put_words((b), (const int32_t[]){__VA_ARGS__},                                                   \
            sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t))

static TestBytes vtk_binary(void) {
  TestBytes b = {.swap = true};
  put_string(&b, "# vtk DataFile Version 3.0\ntitle\nBINARY\nDATASET UNSTRUCTURED_GRID\n"
                 "POINTS 4 double\n");
  for (int i = 0; i < 12; i++) {
    put_f64(&b, points[i / 3][i % 3]);
  }
  put_string(&b, "\nCELLS 3 13\n");
  PUT_WORDS(&b, 3, 0, 2, 1, 4, 0, 1, 2, 3, 3, 0, 1, 3);
  put_string(&b, "\nCELL_TYPES 3\n");
  PUT_WORDS(&b, 5, 10, 5);
  put_string(&b, "\nCELL_DATA 3\nFIELD FieldData 2\nnoise 2 3 float\n");
  for (int i = 0; i < 6; i++) {
    put_f32(&b, 1.0f);
  }
  put_string(&b, "\nMETADATA\nINFORMATION 0\n\ntag 1 3 vtktypeint32\n");
  PUT_WORDS(&b, 11, 21, 12);
  put_string(&b, "\n");
  return b;
}

// The layout of version 5 with offsets.
static TestBytes vtk_offsets(void) {
  TestBytes b = {.swap = true};
  put_string(&b, "# vtk DataFile Version 5.1\ntitle\nBINARY\nDATASET UNSTRUCTURED_GRID\n"
                 "POINTS 4 double\n");
  for (int i = 0; i < 12; i++) {
    put_f64(&b, points[i / 3][i % 3]);
  }
  put_string(&b, "\nMETADATA\nINFORMATION 0\n\nCELLS 4 10\nOFFSETS vtktypeint64\n");
  const uint64_t offsets[4] = {0, 3, 7, 10}, list[10] = {0, 2, 1, 0, 1, 2, 3, 0, 1, 3};
  for (int i = 0; i < 4; i++) {
    put_u64(&b, offsets[i]);
  }
  put_string(&b, "\nCONNECTIVITY vtktypeint64\n");
  for (int i = 0; i < 10; i++) {
    put_u64(&b, list[i]);
  }
  put_string(&b, "\nCELL_TYPES 3\n");
  PUT_WORDS(&b, 5, 10, 5);
  put_string(&b, "\nCELL_DATA 3\nSCALARS tag int 1\nLOOKUP_TABLE default\n");
  PUT_WORDS(&b, 11, 21, 12);
  return b;
}

static TestBytes vtk_polygons(void) {
  return text("# vtk DataFile Version 3.0\n\nASCII\nDATASET POLYDATA\nPOINTS 6 double\n"
              "0 0 0  1 0 0  1 1 0  0 1 0  5 5 5  6 6 6\nLINES 1 3\n2 4 5\n"
              "POLYGONS 1 5\n4 0 1 2 3\n");
}

static TestBytes ply(int format) {
  static const char* const names[] = {"ascii", "binary_little_endian", "binary_big_endian"};
  const uint32_t one = 1;
  bool little = *(const char*)&one == 1;
  TestBytes b = {.swap = (format == 2) == little};
  put_string(&b, "ply\nformat ");
  put_string(&b, names[format]);
  put_string(&b, " 1.0\ncomment by hand\nelement vertex 4\nproperty float x\nproperty uchar red\n"
                 "property double y\nproperty short z\nelement face 1\n"
                 "property list uchar float weights\nproperty list uchar uint vertex_indices\n"
                 "element edge 1\nproperty int vertex1\nproperty int vertex2\nend_header\n");
  if (format == 0) {
    put_string(&b, "0 255 0 0\n1 255 0 0\n0 255 1 0\n0 255 0.5 7\n1 0.5 3 0 1 2\n0 3\n");
    return b;
  }
  const double x[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0.5, 7}};
  for (int v = 0; v < 4; v++) {
    int16_t z = (int16_t)x[v][2];
    put_f32(&b, (float)x[v][0]);
    put_u8(&b, 255);
    put_f64(&b, x[v][1]);
    put_bytes(&b, &z, 2);
  }
  put_u8(&b, 1);
  put_f32(&b, 0.5f);
  put_u8(&b, 3);
  PUT_WORDS(&b, 0, 1, 2, 0, 3);
  return b;
}

static TestBytes stl_text(void) {
  return text("solid two words\n facet normal 0 0 1\n outer loop\n vertex 0 0 0\n vertex 1 0 0\n"
              " vertex 0 1 0\n endloop\n endfacet\nFACET NORMAL 0 0 1\n outer loop\n"
              " vertex 1 0 0\n vertex 1 1 0\n vertex -0 1 0\n endloop\n endfacet\nendsolid\n");
}

static TestBytes stl_binary(void) {
  TestBytes b = {.n = 0};
  char header[80] = "solid in name only";
  put_bytes(&b, header, 80);
  put_i32(&b, 2);
  const float x[18] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0};
  for (int t = 0; t < 2; t++) {
    for (int i = 0; i < 12; i++) {
      put_f32(&b, i < 3 ? 0.0f : x[9 * t + i - 3]);
    }
    put_u8(&b, 0);
    put_u8(&b, 0);
  }
  return b;
}

static TestBytes obj(void) {
  return text(
      "# a comment\nmtllib x.mtl\no thing\nv 0 0 0 1.0\nv 1 0 0\n\tv 1 1 0 # here\nv 0 1 0\n"
      "vt 0 0\nvn 0 0 1\ns off\nf 1/1 2/1/1 3//1 \\\n4\nv 2 2 2\nv 3 3 3\nv 4 4 4\n"
      "f -7 -6 -5\nl 5 6 7\np -1 1\nv 9 9 9\np 8\n");
}

static TestBytes seg(void) {
  return text("# lines\nv 0 0 0\nv 1e0 0 -.5\n\ns 1 2\ns 2 3\nv 2. +0 0 # late\n");
}

// Sections in any order after the vertices, with comments; an edge of the tetrahedron.
static TestBytes medit(void) {
  return text("# made by hand\nMeshVersionFormatted 2\nDimension\n3\n\nVertices # four\n4\n"
              "0 0 0 1\n1 0 0 1\n0 1 0 1 # here\n0 0 1.5 2\nCorners 2\n1 2\nTriangles\n2\n"
              "1 3 2 11\n1 2 4 12\nNormals 1\n0 0 1\nNormalAtVertices 1\n1 1\n"
              "Edges 1\n1 2 9\nTetrahedra\n1\n1 2 3 4 21\nEnd\nno more\n");
}

// Element sets are numbered from 1 on: three of 21 have elements.
static TestBytes inp(void) {
  TestBytes b =
      text("** made by hand\n*Heading\n a title\n* node , nset=all\n 70, 0., 0, 0\n3, 1.d0\n\n"
           "** between\n12, ,1.\n5, 0, 0, 1.5\n*ELEMENT, TYPE=CPS3\n1, 70, 12, 3\n9000000000, 70,"
           "\n 3,\n 5,\n*element, type = c3d4\n3, 70, 3, 12, 5\n*Element, type=T3D2\n4, 70, 3\n");
  for (int k = 1; k <= 21; k++) {
    char line[60];
    snprintf(line, sizeof line, "*ELSET, ELSET=E%d%s\n%s", k, k == 21 ? ", GENERATE" : "",
             k == 11   ? "1,\n"
             : k == 12 ? "9000000000\n"
             : k == 21 ? "3, 9, 6\n"
                       : "");
    put_string(&b, line);
  }
  put_string(&b, "*Elset, elset=union\ne11, E12, E21, 4\n*STEP\n*END STEP\n");
  return b;
}

typedef struct Variant {
  const char* name;
  const char* path;
  TestBytes (*make)(void);
  int32_t n_vert, n_tet, n_tri, n_edge, n_point;
  bool tagged;
} Variant;

static TestBytes msh22_text(void) {
  return msh22(false, false);
}
static TestBytes msh22_binary(void) {
  return msh22(true, false);
}
static TestBytes msh22_swapped(void) {
  return msh22(true, true);
}
static TestBytes msh41_plain(void) {
  return msh41_binary(false);
}
static TestBytes msh41_swapped(void) {
  return msh41_binary(true);
}
static TestBytes ply_text(void) {
  return ply(0);
}
static TestBytes ply_little(void) {
  return ply(1);
}
static TestBytes ply_big(void) {
  return ply(2);
}
static TestBytes pt(void) {
  return text("v 1 2 3\nv 4 5 6\n");
}

static const Variant variants[] = {
    {"msh 2.2 text", "variant.msh", msh22_text, 4, 1, 2, 0, 0, true},
    {"msh 2.2 binary", "variant.msh", msh22_binary, 4, 1, 2, 0, 0, true},
    {"msh 2.2 swapped", "variant.msh", msh22_swapped, 4, 1, 2, 0, 0, true},
    {"msh 4.1 text", "variant.msh", msh41_text, 4, 1, 2, 0, 0, true},
    {"msh 4.1 binary", "variant.msh", msh41_plain, 4, 1, 2, 0, 0, true},
    {"msh 4.1 swapped", "variant.msh", msh41_swapped, 4, 1, 2, 0, 0, true},
    {"vtk text", "variant.vtk", vtk_text, 4, 1, 2, 0, 0, true},
    {"vtk binary", "variant.vtk", vtk_binary, 4, 1, 2, 0, 0, true},
    {"vtk offsets", "variant.vtk", vtk_offsets, 4, 1, 2, 0, 0, true},
    {"vtk polygons", "variant.vtk", vtk_polygons, 6, 0, 2, 1, 0, false},
    {"ply text", "variant.ply", ply_text, 4, 0, 1, 1, 0, false},
    {"ply little", "variant.ply", ply_little, 4, 0, 1, 1, 0, false},
    {"ply big", "variant.PLY", ply_big, 4, 0, 1, 1, 0, false},
    {"stl text", "variant.stl", stl_text, 4, 0, 2, 0, 0, false},
    {"stl binary", "variant.stl", stl_binary, 4, 0, 2, 0, 0, false},
    {"medit", "variant.mesh", medit, 4, 1, 2, 0, 0, true},
    {"inp", "variant.inp", inp, 4, 1, 2, 0, 0, true},
    {"obj", "variant.obj", obj, 8, 0, 3, 2, 1, false},
    {"seg", "variant.seg", seg, 3, 0, 0, 2, 0, false},
    {"pt", "variant.pt", pt, 2, 0, 0, 0, 2, false},
};

enum { N_VARIANTS = sizeof variants / sizeof variants[0] };

static void every_variant_reads(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  for (size_t k = 0; k < N_VARIANTS; k++) {
    const Variant* v = &variants[k];
    print_message("%s\n", v->name);
    TestBytes bytes = v->make();
    NoliMesh* mesh = must_read(context, v->path, bytes.data, bytes.n);
    assert_int_equal(mesh->n_vert, v->n_vert);
    assert_int_equal(mesh->n_tet, v->n_tet);
    assert_int_equal(mesh->n_tri, v->n_tri);
    assert_int_equal(mesh->n_edge, v->n_edge);
    assert_int_equal(mesh->n_point, v->n_point);
    assert_int_equal(mesh->tri_tag != NULL, v->tagged);
    if (v->tagged) {
      const int32_t tet[4] = {0, 1, 2, 3}, tri[6] = {0, 2, 1, 0, 1, 3};
      assert_memory_equal(mesh->x, points, sizeof points);
      assert_memory_equal(mesh->tet, tet, sizeof tet);
      assert_memory_equal(mesh->tri, tri, sizeof tri);
      assert_int_equal(mesh->tet_tag[0], 21);
      assert_int_equal(mesh->tri_tag[0], 11);
      assert_int_equal(mesh->tri_tag[1], 12);
    }
    noli_mesh_destroy(context, &mesh);
  }
  test_context_done(&context);
}

static void details_of_variants_are_right(void** state) {
  (void)state;
  NoliContext* context = test_context(1);

  // OBJ
  TestBytes b = obj();
  NoliMesh* mesh = must_read(context, "detail.obj", b.data, b.n);
  const int32_t tri[9] = {0, 1, 2, 0, 2, 3, 0, 1, 2}, edge[4] = {4, 5, 5, 6};
  assert_memory_equal(mesh->tri, tri, sizeof tri);
  assert_memory_equal(mesh->edge, edge, sizeof edge);
  // points on other cells are not lone points
  assert_int_equal(mesh->point[0], 7);
  noli_mesh_destroy(context, &mesh);

  // STL
  b = stl_text();
  mesh = must_read(context, "detail.stl", b.data, b.n);
  const int32_t merged[6] = {0, 1, 2, 1, 3, 2};
  assert_memory_equal(mesh->tri, merged, sizeof merged);
  noli_mesh_destroy(context, &mesh);

  // PLY
  b = ply(2);
  mesh = must_read(context, "detail.ply", b.data, b.n);
  const double last[3] = {0, 0.5, 7};
  const int32_t side[2] = {0, 3};
  assert_memory_equal(mesh->x + 9, last, sizeof last);
  assert_memory_equal(mesh->edge, side, sizeof side);
  noli_mesh_destroy(context, &mesh);

  // SEG
  b = seg();
  mesh = must_read(context, "detail.seg", b.data, b.n);
  const double x[9] = {0, 0, 0, 1, 0, -0.5, 2, 0, 0};
  assert_memory_equal(mesh->x, x, sizeof x);
  noli_mesh_destroy(context, &mesh);

  // widely spaced node tags are looked up by sorting
  b = text("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n2000000000 0 0 0\n7 1 0 0\n"
           "1000000000 0 1 0\n1 0 0 1.5\n$EndNodes\n$Elements\n1\n1 4 0 2000000000 7 1000000000 1\n"
           "$EndElements\n");
  mesh = must_read(context, "detail.msh", b.data, b.n);
  const int32_t tet[4] = {0, 1, 2, 3};
  assert_memory_equal(mesh->tet, tet, sizeof tet);
  assert_null(mesh->tet_tag);
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

// Numbers in text give the nearest double in any notation.
static void numbers_are_read_exactly(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  static const char* const numbers[] = {
      "0",
      "-0",
      "1",
      "+1.5",
      ".25",
      "5.",
      "1e22",
      "1e23",
      "1e-22",
      "9007199254740993",
      "0.1",
      "123456789012345678901234567890",
      "2.2250738585072011e-308",
      "4.9e-324",
      "1e-400",
      "1.7976931348623157e308",
      "3.14159265358979323846264338327950288",
      "-1.0E+05",
      "1d3",
      "0.000000000000000000000000000000000000000000001234567890123456789",
      "100000000000000000000000",
      "8.41e21",
      "1.2345678901234567e-5",
      "179769313486231570000000000000000000000e270",
  };
  for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
    char content[256], plain[128];
    snprintf(content, sizeof content, "v %s 0 0\n", numbers[k]);
    snprintf(plain, sizeof plain, "%s", numbers[k]);
    char* d = strchr(plain, 'd');
    if (d != NULL) {
      *d = 'e';
    }
    NoliMesh* mesh = must_read(context, "number.pt", content, strlen(content));
    double want = strtod(plain, NULL);
    assert_memory_equal(mesh->x, &want, sizeof want);
    noli_mesh_destroy(context, &mesh);
  }
  test_context_done(&context);
}

// Random bits, printed in several forms.
static void random_numbers_are_read_exactly(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  TestRandom random = {99};
  for (int k = 0; k < 2000; k++) {
    uint64_t bits = test_random_bits(&random);
    double want;
    memcpy(&want, &bits, sizeof want);
    char content[2000];
    static const char* const formats[] = {"v %.17g %.5f 1\n", "v %.20e 0 1\n", "v %.16g 1 1\n"};
    if (!isfinite(want) || fabs(want) > 1e300) {
      continue;
    }
    snprintf(content, sizeof content, formats[k % 3], want, want);
    NoliMesh* mesh = must_read(context, "number.pt", content, strlen(content));
    double same = strtod(content + 2, NULL);
    assert_memory_equal(mesh->x, &same, sizeof same);
    noli_mesh_destroy(context, &mesh);
  }
  test_context_done(&context);
}

// They are passed on to the check.
static void values_that_are_no_numbers(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  const char* special = "v nan -inf Infinity\n";
  NoliMesh* mesh = must_read(context, "number.pt", special, strlen(special));
  assert_true(isnan(mesh->x[0]) && mesh->x[1] == -HUGE_VAL && mesh->x[2] == HUGE_VAL);
  NoliMeshCheck check;
  ASSERT_OK(noli_mesh_check(context, mesh, &check));
  assert_int_equal(check.n_bad_coordinates, 1);
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

// ---- writing

// A mesh with cells of every kind, with coordinates that need all digits.
static NoliMesh* full_mesh(NoliContext* context) {
  NoliMesh *ball = NULL, *mesh = NULL;
  ASSERT_OK(noli_mesh_make_sphere(context, 1.0 / 3.0, 3, false, &ball));
  ASSERT_OK(noli_mesh_create(context, ball->n_vert + 8, ball->n_tet, 2, 2, 2, true, &mesh));
  TestRandom random = {5};
  memcpy(mesh->x, ball->x, sizeof(double) * 3 * (size_t)ball->n_vert);
  for (int32_t i = 3 * ball->n_vert; i < 3 * mesh->n_vert; i++) {
    mesh->x[i] = test_random(&random, -1.0, 1.0) * pow(10.0, test_random(&random, -300.0, 300.0));
  }
  memcpy(mesh->tet, ball->tet, sizeof(int32_t) * 4 * (size_t)ball->n_tet);
  int32_t n = ball->n_vert;
  const int32_t tri[6] = {0, 1, n, 2, n + 1, n}, edge[4] = {n + 2, n + 3, n + 4, n + 5};
  const int32_t point[2] = {n + 6, n + 7};
  memcpy(mesh->tri, tri, sizeof tri);
  memcpy(mesh->edge, edge, sizeof edge);
  memcpy(mesh->point, point, sizeof point);
  for (int32_t t = 0; t < mesh->n_tet; t++) {
    mesh->tet_tag[t] = t % 5 - 1;
  }
  mesh->tri_tag[0] = 0;
  mesh->tri_tag[1] = INT32_MAX;
  noli_mesh_destroy(context, &ball);
  return mesh;
}

static void written_meshes_read_back_to_the_same_bits(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh *mesh = full_mesh(context), *back = NULL;

  // formats that keep all properties of their cells
  static const char* const paths[] = {"round.msh", "round.vtk", "round.obj", "round.ply"};
  for (int k = 0; k < 4; k++) {
    // obj has no tetrahedra and no tags, ply no points either
    if (k >= 2) {
      noli_mesh_free_array(context, &mesh->tet);
      noli_mesh_free_array(context, &mesh->tet_tag);
      noli_mesh_free_array(context, &mesh->tri_tag);
      mesh->n_tet = 0;
    }
    if (k == 3) {
      noli_mesh_free_array(context, &mesh->point);
      mesh->n_point = 0;
    }
    ASSERT_OK(noli_mesh_write(context, paths[k], mesh));
    ASSERT_OK(noli_mesh_read(context, paths[k], &back));
    assert_same_mesh(mesh, back);
    noli_mesh_destroy(context, &back);
    remove(paths[k]);
  }
  noli_mesh_destroy(context, &mesh);

  // stl keeps positions and triangles, and numbers vertices by their first use
  ASSERT_OK(noli_mesh_make_sphere(context, 1.0 / 3.0, 4, true, &mesh));
  ASSERT_OK(noli_mesh_write(context, "round.stl", mesh));
  ASSERT_OK(noli_mesh_read(context, "round.stl", &back));
  assert_int_equal(back->n_vert, mesh->n_vert);
  assert_int_equal(back->n_tri, mesh->n_tri);
  for (int32_t k = 0; k < 3 * mesh->n_tri; k++) {
    assert_memory_equal(mesh->x + 3 * mesh->tri[k], back->x + 3 * back->tri[k], 24);
  }
  noli_mesh_destroy(context, &mesh);
  noli_mesh_destroy(context, &back);
  remove("round.stl");
  test_context_done(&context);
}

static bool exists(const char* path) {
  FILE* file = fopen(path, "rb");
  if (file != NULL) {
    fclose(file);
  }
  return file != NULL;
}

static void writing_refuses_and_leaves_nothing_behind(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_box(context, (double[]){1, 1, 1}, (int32_t[]){1, 1, 1}, false, &mesh));
  ASSERT_STATUS(noli_mesh_write(context, "refused.obj", mesh), NOLI_ERROR_ARGUMENT);
  assert_non_null(strstr(noli_context_message(context), "cannot hold the 6 tetrahedron cells"));
  ASSERT_STATUS(noli_mesh_write(context, "refused.seg", mesh), NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_mesh_write(context, "refused", mesh), NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_mesh_write(context, "no/such/folder/refused.msh", mesh), NOLI_ERROR_IO);
  assert_non_null(strstr(noli_context_message(context), "no/such/folder/refused.msh: "));
  mesh->tet[3] = 99;
  ASSERT_STATUS(noli_mesh_write(context, "refused.msh", mesh), NOLI_ERROR_ARGUMENT);
  assert_false(exists("refused.obj") || exists("refused.seg") || exists("refused.msh"));
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

// ---- cutting short

static void truncated_files_do_no_harm(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  int n_failed = 0, n_read = 0;
  for (size_t k = 0; k < N_VARIANTS; k++) {
    TestBytes bytes = variants[k].make();
    for (size_t n = 0; n < bytes.n; n++) {
      NoliMesh* mesh = NULL;
      NoliStatus status = read_content(context, variants[k].path, bytes.data, n, &mesh);
      if (status == NOLI_OK) {
        // a truncated file that can be read is a valid, smaller mesh
        NoliMeshCheck check;
        ASSERT_OK(noli_mesh_check(context, mesh, &check));
        assert_int_equal(check.n_bad_indices, 0);
        n_read++;
      } else {
        assert_int_equal(status, NOLI_ERROR_FORMAT);
        assert_null(mesh);
        assert_int_equal(
            strncmp(noli_context_message(context), variants[k].path, strlen(variants[k].path)), 0);
        n_failed++;
      }
      noli_mesh_destroy(context, &mesh);
    }
  }
  print_message("%d cuts refused, %d still valid meshes\n", n_failed, n_read);
  test_context_done(&context);
}

// Files with random changes are read or refused without harm.
static void damaged_files_do_no_harm(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  TestRandom random = {123};
  for (size_t k = 0; k < N_VARIANTS; k++) {
    for (int round = 0; round < 300; round++) {
      TestBytes bytes = variants[k].make();
      int n_change = 1 + (int)(test_random_bits(&random) % 4);
      for (int c = 0; c < n_change; c++) {
        size_t at = (size_t)(test_random_bits(&random) % bytes.n);
        static const char likely[] = "0129-.eE \n$\xff";
        bytes.data[at] = test_random_bits(&random) % 2 == 0
                             ? (char)(test_random_bits(&random) & 0xff)
                             : likely[test_random_bits(&random) % (sizeof likely - 1)];
      }
      NoliMesh* mesh = NULL;
      NoliStatus status = read_content(context, variants[k].path, bytes.data, bytes.n, &mesh);
      if (status == NOLI_OK) {
        NoliMeshCheck check;
        ASSERT_OK(noli_mesh_check(context, mesh, &check));
      }
      noli_mesh_destroy(context, &mesh);
    }
  }
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_variant_reads),
      cmocka_unit_test(details_of_variants_are_right),
      cmocka_unit_test(numbers_are_read_exactly),
      cmocka_unit_test(random_numbers_are_read_exactly),
      cmocka_unit_test(values_that_are_no_numbers),
      cmocka_unit_test(written_meshes_read_back_to_the_same_bits),
      cmocka_unit_test(writing_refuses_and_leaves_nothing_behind),
      cmocka_unit_test(truncated_files_do_no_harm),
      cmocka_unit_test(damaged_files_do_no_harm),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
