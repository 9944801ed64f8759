// Polygons of meshes become triangles that lie in them, whatever their form, the vertex that comes
// first, their direction in space and the format: areas agree with those of the polygons, no
// triangle is flat, and neighbours do not overlap.
#include "mesh/mesh_support.h"

enum { N_MOST = 64 };

typedef struct Form {
  const char* name;
  int n;
  double point[N_MOST][2];
} Form;

static const Form forms[] = {
    {"L", 6, {{0, 0}, {2, 0}, {2, 1}, {1, 1}, {1, 2}, {0, 2}}},
    {"U", 8, {{0, 0}, {3, 0}, {3, 3}, {2, 3}, {2, 1}, {1, 1}, {1, 3}, {0, 3}}},
    {"dart", 4, {{0, 0}, {5, 1}, {0, 4}, {1, 1}}},
    {"middle of a side", 4, {{0, 0}, {1, 0}, {2, 0}, {1, 3}}},
    {"middles of all sides", 6, {{0, 0}, {1, 0}, {2, 0}, {1.5, 1.5}, {1, 3}, {0.5, 1.5}}},
    {"in line", 7, {{0, 0}, {0.1, 0}, {0.2, 0}, {0.7, 0}, {1, 0}, {1, 1}, {0, 1}}},
    {"star",
     10,
     {{0, 3},
      {-0.7, 1},
      {-3, 1},
      {-1.1, -0.4},
      {-2, -3},
      {0, -1.4},
      {2, -3},
      {1.1, -0.4},
      {3, 1},
      {0.7, 1}}},
    {"comb",
     14,
     {{0, 0},
      {7, 0},
      {7, 4},
      {6, 4},
      {6, 1},
      {5, 1},
      {5, 4},
      {4, 4},
      {4, 1},
      {3, 1},
      {3, 4},
      {2, 4},
      {2, 1},
      {0, 1}}},
    {"frame with a bridge",
     10,
     {{0, 0}, {3, 0}, {3, 3}, {0, 3}, {0, 0}, {1, 1}, {1, 2}, {2, 2}, {2, 1}, {1, 1}}},
    {"thin", 6, {{0, 0}, {1, 0}, {1, 1e-4}, {0.5, 1e-4}, {0.5, 2e-4}, {0, 2e-4}}},
};

enum { N_FORM = sizeof forms / sizeof *forms };

// A comb of many teeth, of which every other one has a vertex in its flank.
static Form long_comb(void) {
  Form form = {.name = "long comb", .n = 0};
  double* p = form.point[0];
  for (int tooth = 0; tooth < 12; tooth++) {
    const double teeth[5][2] = {{1, 0}, {1, 5}, {1, 9}, {0.5, 9}, {0.4, 0.5}};
    for (int i = 0; i < 5; i++, p += 2, form.n++) {
      p[0] = -(tooth + 1 - teeth[i][0]);
      p[1] = teeth[i][1];
    }
  }
  p[0] = -12.0;
  p[1] = -1.0;
  p[2] = 1.0;
  p[3] = -1.0;
  form.n += 2;
  return form;
}

static double area_of(const Form* form) {
  double sum = 0.0;
  for (int i = 0; i < form->n; i++) {
    const double *a = form->point[i], *b = form->point[(i + 1) % form->n];
    sum += 0.5 * (a[0] * b[1] - a[1] * b[0]);
  }
  return fabs(sum);
}

// Places a polygon in space, starting with vertex `first`; with `digits` after the point.
static void place(const Form* form, int first, int turn, int digits, double x[N_MOST][3]) {
  const double axis[3][2][3] = {
      {{1, 0, 0}, {0, 1, 0}}, {{0, 0.6, 0.8}, {1, 0, 0}}, {{0.36, 0.48, -0.8}, {-0.8, 0.6, 0}}};
  for (int i = 0; i < form->n; i++) {
    const double* p = form->point[(i + first) % form->n];
    for (int k = 0; k < 3; k++) {
      char text[40];
      double value = 3.0 * k + p[0] * axis[turn][0][k] + p[1] * axis[turn][1][k];
      snprintf(text, sizeof text, "%.*f", digits, value);
      x[i][k] = strtod(text, NULL);
    }
  }
}

typedef enum Kind { OBJ, PLY, PLY_FACES_FIRST, VTK, VTK_GRID, N_KIND } Kind;

static void put_vertices(TestBytes* file, int n, double x[N_MOST][3], const char* head) {
  for (int i = 0; i < n; i++) {
    char line[120];
    snprintf(line, sizeof line, "%s%.17g %.17g %.17g\n", head, x[i][0], x[i][1], x[i][2]);
    put_string(file, line);
  }
}

static void put_face(TestBytes* file, int n, const char* head, int base) {
  char text[40];
  put_string(file, head);
  for (int i = 0; i < n; i++) {
    snprintf(text, sizeof text, " %d", i + base);
    put_string(file, text);
  }
  put_string(file, "\n");
}

static NoliMesh* read_polygon(NoliContext* context, Kind kind, int n, double x[N_MOST][3]) {
  TestBytes file = {.n = 0};
  char head[400], count[20];
  snprintf(count, sizeof count, "%d", n);
  switch (kind) {
  case OBJ:
    put_face(&file, n, "f", 1);
    put_vertices(&file, n, x, "v ");
    return must_read(context, "polygon.obj", file.data, file.n);
  case PLY:
  case PLY_FACES_FIRST:
    snprintf(head, sizeof head,
             "ply\nformat ascii 1.0\n%selement vertex %d\nproperty double x\nproperty double y\n"
             "property double z\n%send_header\n",
             kind == PLY ? "" : "element face 1\nproperty list uchar int vertex_indices\n", n,
             kind == PLY ? "element face 1\nproperty list uchar int vertex_indices\n" : "");
    put_string(&file, head);
    if (kind == PLY) {
      put_vertices(&file, n, x, "");
    }
    put_face(&file, n, count, 0);
    if (kind != PLY) {
      put_vertices(&file, n, x, "");
    }
    return must_read(context, "polygon.ply", file.data, file.n);
  case VTK:
  case VTK_GRID:
  case N_KIND:
    break;
  }
  snprintf(head, sizeof head,
           "# vtk DataFile Version 3.0\nt\nASCII\nDATASET %s\nPOINTS %d double\n",
           kind == VTK ? "POLYDATA" : "UNSTRUCTURED_GRID", n);
  put_string(&file, head);
  put_vertices(&file, n, x, "");
  snprintf(head, sizeof head, "%s 1 %d\n", kind == VTK ? "POLYGONS" : "CELLS", n + 1);
  put_string(&file, head);
  put_face(&file, n, count, 0);
  put_string(&file, kind == VTK ? "" : "CELL_TYPES 1\n7\n");
  return must_read(context, "polygon.vtk", file.data, file.n);
}

// The sum of the areas of all triangles, and the least of twice an area over a squared perimeter.
static double area_and_shape(const NoliMesh* mesh, double* least) {
  double sum = 0.0;
  *least = 1.0;
  for (int32_t t = 0; t < mesh->n_tri; t++) {
    double e[3][3], n[3], sides = 0.0;
    for (int i = 0; i < 3; i++) {
      subtract(mesh->x + 3 * mesh->tri[3 * t + (i + 1) % 3], mesh->x + 3 * mesh->tri[3 * t + i],
               e[i]);
      sides += sqrt(dot(e[i], e[i]));
    }
    cross(e[0], e[1], n);
    sum += 0.5 * sqrt(dot(n, n));
    *least = noli_smaller(*least, sqrt(dot(n, n)) / (sides * sides));
  }
  return sum;
}

static void test_form(NoliContext* context, const Form* form, double flat) {
  double x[N_MOST][3], least = 0.0;
  for (int kind = 0; kind < N_KIND; kind++) {
    for (int first = 0; first < form->n; first++) {
      for (int turn = 0; turn < 3; turn++) {
        for (int digits = 6; digits <= 15; digits += 9) {
          place(form, first, turn, digits, x);
          NoliMesh* mesh = read_polygon(context, (Kind)kind, form->n, x);
          assert_int_equal(mesh->n_tri, form->n - 2);
          double area = area_and_shape(mesh, &least);
          double tolerance = digits == 6 ? 4e-5 : 1e-12;
          ASSERT_NEAR(area / area_of(form), 1.0, flat < 1e-4 ? 0.02 : tolerance);
          ASSERT_AT_LEAST(least, flat);
          noli_mesh_destroy(context, &mesh);
        }
      }
    }
  }
}

static void polygons_keep_their_area(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  for (int f = 0; f < N_FORM; f++) {
    print_message("%s\n", forms[f].name);
    test_form(context, &forms[f], strcmp(forms[f].name, "thin") == 0 ? 1e-5 : 2e-3);
  }
  Form comb = long_comb();
  test_form(context, &comb, 1e-3);
  test_context_done(&context);
}

// The prism of an L: area 14, volume 3. Convex polygons stay fans of their first vertex.
static void solids_of_polygons(void** state) {
  (void)state;
  static const char prism[] =
      "v 0 0 0\nv 2 0 0\nv 2 1 0\nv 1 1 0\nv 1 2 0\nv 0 2 0\nv 0 0 1\nv 2 0 1\nv 2 1 1\nv 1 1 1\n"
      "v 1 2 1\nv 0 2 1\nf 1 6 5 4 3 2\nf 8 9 10 11 12 7\nf 1 2 8 7\nf 2 3 9 8\nf 3 4 10 9\n"
      "f 4 5 11 10\nf 5 6 12 11\nf 6 1 7 12\n";
  NoliContext* context = test_context(1);
  NoliMesh* mesh = must_read(context, "prism.obj", prism, sizeof prism - 1);
  double least = 0.0;
  ASSERT_NEAR(area_and_shape(mesh, &least), 14.0, 1e-13);
  ASSERT_NEAR(enclosed_volume(mesh->x, mesh->tri, mesh->n_tri), 3.0, 1e-13);
  // f 1 2 8 7 follows the two bottoms of four triangles
  const int32_t fan[] = {0, 1, 7, 0, 7, 6};
  assert_memory_equal(mesh->tri + 24, fan, sizeof fan);
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

static void repeated_vertices_count_once(void** state) {
  (void)state;
  static const char text[] = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 3\nf 1 3 4 4 1\n";
  NoliContext* context = test_context(1);
  NoliMesh* mesh = must_read(context, "repeated.obj", text, sizeof text - 1);
  const int32_t tri[] = {0, 1, 2, 2, 3, 0};
  assert_int_equal(mesh->n_tri, 2);
  assert_memory_equal(mesh->tri, tri, sizeof tri);
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

// ---- what is not planar, or crosses itself

static void bent_polygons_are_named(void** state) {
  (void)state;
  static const char bent[] = "v 0 0 0\nv 1 0 0\nv 1 1 0.2\nv 0 1 0\nv 5 5 0\nv 6 5 0\nv 6 6 0\n"
                             "v 5 6 0\nf 1 2 3 4\nf 5 6 7 8\n";
  static const char crossed[] = "v 0 0 0\nv 1 1 0\nv 1 0 0\nv 0 1 0\nf 1 2 3 4\n";
  static const char flat[] = "v 0 0 0\nv 1 0 0\nv 1 1 0.0001\nv 0 1 0\nf 1 2 3 4\n";
  TestLog log;
  NoliContext* context = test_context_log(&log);
  NoliMesh* mesh = must_read(context, "bent.obj", bent, sizeof bent - 1);
  assert_non_null(strstr(log.text, "bent.obj: 1 of 2 polygons are not planar, the worst by 0.0"));
  assert_int_equal(mesh->n_tri, 4);
  noli_mesh_destroy(context, &mesh);
  mesh = must_read(context, "crossed.obj", crossed, sizeof crossed - 1);
  assert_non_null(strstr(log.text, "crossed.obj: 1 of 1 polygons cross themselves"));
  noli_mesh_destroy(context, &mesh);
  log.text[0] = '\0';
  mesh = must_read(context, "flat.obj", flat, sizeof flat - 1);
  assert_string_equal(log.text, "");
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

static void memory_may_fail(void** state) {
  (void)state;
  static const char text[] = "v 0 0 0\nv 2 0 0\nv 2 1 0\nv 1 1 0\nv 1 2 0\nv 0 2 0\n"
                             "f 1 2 3 4 5 6\n";
  TestMemory memory;
  NoliContext* context = test_context_on(&memory, 1);
  NoliStatus status = NOLI_ERROR_MEMORY;
  for (int64_t k = 1; status == NOLI_ERROR_MEMORY; k++) {
    NoliMesh* mesh = NULL;
    test_refuse(&memory, k);
    status = read_content(context, "memory.obj", text, sizeof text - 1, &mesh);
    assert_true(status == NOLI_OK || mesh == NULL);
    noli_mesh_destroy(context, &mesh);
  }
  ASSERT_STATUS(status, NOLI_OK);
  test_refuse(&memory, 0);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(polygons_keep_their_area),
      cmocka_unit_test(solids_of_polygons),
      cmocka_unit_test(repeated_vertices_count_once),
      cmocka_unit_test(bent_polygons_are_named),
      cmocka_unit_test(memory_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
