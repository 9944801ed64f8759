// Meshes of shells and rods in scenes: every format of triangles and of lines read and moved alike,
// polygons and cells of other kinds, built-in shapes, which also fall onto a ball, and defects of
// rest shapes and starts with their places.
#include "scene_support.h"

#include "noli/noli.h"

static const char* const bodies = "{'time': {'steps': 2}, 'bodies': [{'name': 'cloth', 'mesh': %s, "
                                  "'material': {'law': 'stvk', 'young': 1e6}, "
                                  "'shell': {'thickness': 0.001}}]}";

static NoliStatus parse_cloth(NoliContext* context, const char* mesh, NoliScene** scene) {
  char text[2000];
  snprintf(text, sizeof text, bodies, mesh);
  return parse_quoted(context, text, scene);
}

// ---- formats ------------------------------------------------------------------------------------

// The same sheet in every format gives the same two steps.
static void every_format(void** state) {
  (void)state;
  static const char* const ends[] = {"obj", "ply", "stl", "vtk", "msh"};
  NoliContext* context = test_context(1);
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_sheet(context, 1.0, 0.5, 7, 5, "unstructured", &mesh));
  // coordinates that binary STL keeps
  for (int32_t i = 0; i < 3 * mesh->n_vert; i++) {
    mesh->x[i] = (double)(float)mesh->x[i];
  }
  double energy = 0.0;
  for (int k = 0; k < 5; k++) {
    char path[64], quoted_path[80];
    snprintf(path, sizeof path, "thin_sheet.%s", ends[k]);
    snprintf(quoted_path, sizeof quoted_path, "'%s'", path);
    ASSERT_OK(noli_mesh_write(context, path, mesh));
    NoliScene* scene = NULL;
    NoliSim* sim = NULL;
    NoliStepReport report;
    ASSERT_OK(parse_cloth(context, quoted_path, &scene));
    const NoliMesh* read = noli_scene_sim_def(scene)->bodies[0].mesh;
    assert_int_equal(read->n_vert, mesh->n_vert);
    assert_int_equal(read->n_tri, mesh->n_tri);
    assert_int_equal(read->n_tet, 0);
    ASSERT_OK(noli_sim_create(context, noli_scene_sim_def(scene), &sim));
    ASSERT_OK(noli_sim_step(sim, &report));
    ASSERT_OK(noli_sim_step(sim, &report));
    energy = k == 0 ? report.kinetic : energy;
    assert_true(energy > 0.0);
    ASSERT_NEAR(report.kinetic, energy, 1e-9 * energy);
    noli_sim_destroy(&sim);
    noli_scene_destroy(&scene);
    remove(path);
  }
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

// The same line in every format that has lines: a bent rod with the length of its segments, whose
// two steps are the same.
static void every_format_of_lines(void** state) {
  (void)state;
  static const struct {
    const char *path, *text;
  } files[] = {
      {"thin.seg", "v 0 0 0\nv 1 0 0\nv 2 0.5 0\nv 3 0.5 1\ns 1 2\ns 3 2\ns 3 4\n"},
      {"thin.obj", "v 0 0 0\nv 1 0 0\nv 2 0.5 0\nv 3 0.5 1\nl 1 2 3\nl 4 3\n"},
      {"thin.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 2 0.5 0\n"
                   "4 3 0.5 1\n$EndNodes\n$Elements\n3\n1 1 2 0 0 1 2\n2 1 2 0 0 2 3\n3 1 2 0 0 3 "
                   "4\n$EndElements\n"},
  };
  NoliContext* context = test_context(1);
  double kinetic = 0.0;
  for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
    char text[500];
    NoliScene* scene = NULL;
    NoliSim* sim = NULL;
    NoliStepReport report;
    NoliSimMeasures measures;
    write_file(files[k].path, files[k].text);
    snprintf(text, sizeof text,
             "{'time': {'steps': 2}, 'bodies': [{'name': 'wire', 'mesh': '%s', 'material': "
             "{'young': 1e6}, 'rod': {'radius': 0.01, 'twist': 1}}], 'prescribed': [{'body': "
             "'wire', 'select': {'vertices': [0]}, 'motion': {'hold': true}}]}",
             files[k].path);
    ASSERT_OK(parse_quoted(context, text, &scene));
    const NoliSimDef* def = noli_scene_sim_def(scene);
    assert_int_equal(def->bodies[0].mesh->n_edge, 3);
    ASSERT_OK(noli_sim_measure(context, def, &measures));
    double length = 1.0 + sqrt(1.25) + sqrt(2.0);
    ASSERT_NEAR(measures.volume[0], acos(-1.0) * 1e-4 * length, 1e-12);
    noli_sim_measures_free(context, &measures);
    ASSERT_OK(noli_sim_create(context, def, &sim));
    ASSERT_OK(noli_sim_step(sim, &report));
    ASSERT_OK(noli_sim_step(sim, &report));
    kinetic = k == 0 ? report.kinetic : kinetic;
    assert_true(kinetic > 0.0);
    ASSERT_NEAR(report.kinetic, kinetic, 1e-9 * kinetic);
    noli_sim_destroy(&sim);
    noli_scene_destroy(&scene);
    remove(files[k].path);
  }
  test_context_done(&context);
}

// Vertices of an STL file without a common vertex are merged, polygons become triangles, and
// tetrahedra their boundary; other cells are refused.
static void cells_of_other_kinds(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliScene* scene = NULL;
  static const struct {
    const char *path, *text;
    int32_t n_vert, n_tri;
  } files[] = {
      {"thin.stl",
       "solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 "
       "0\nendloop\n"
       "endfacet\nfacet normal 0 0 1\nouter loop\nvertex 1 0 0\nvertex 1 1 0\nvertex 0 1 "
       "0\nendloop\n"
       "endfacet\nendsolid s\n",
       4, 2},
      {"thin.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0.5 2 0\nf 1 2 3 5 4\n", 5, 3},
      {"thin.ply",
       "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty "
       "float "
       "z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n1 1 "
       "0\n0 1 0\n4 0 1 2 3\n",
       4, 2},
      {"thin.vtk",
       "# vtk DataFile Version 3.0\ns\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 double\n0 0 0 1 "
       "0 "
       "0 1 1 0 0 1 0\nCELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n9\n",
       4, 2},
      {"thin.msh",
       "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n"
       "$EndNodes\n$Elements\n1\n1 4 2 0 0 1 2 3 4\n$EndElements\n",
       4, 4},
  };
  for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
    char quoted_path[80];
    write_file(files[k].path, files[k].text);
    snprintf(quoted_path, sizeof quoted_path, "'%s'", files[k].path);
    ASSERT_OK(parse_cloth(context, quoted_path, &scene));
    const NoliMesh* mesh = noli_scene_sim_def(scene)->bodies[0].mesh;
    assert_int_equal(mesh->n_vert, files[k].n_vert);
    assert_int_equal(mesh->n_tri, files[k].n_tri);
    assert_int_equal(mesh->n_tet, 0);
    noli_scene_destroy(&scene);
    remove(files[k].path);
  }

  // hexahedra
  write_file("thin.vtk",
             "# vtk DataFile Version 3.0\ns\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 8 "
             "double\n0 0 0 1 0 0 1 1 0 0 1 0 0 0 1 1 0 1 1 1 1 0 1 1\nCELLS 1 9\n8 0 1 "
             "2 3 4 5 6 7\nCELL_TYPES 1\n12\n");
  ASSERT_STATUS(parse_cloth(context, "'thin.vtk'", &scene), NOLI_ERROR_FORMAT);
  assert_non_null(strstr(noli_context_message(context), "hexahedr"));
  remove("thin.vtk");

  // lines alone
  write_file("thin.obj", "v 0 0 0\nv 1 0 0\nl 1 2\n");
  ASSERT_STATUS(parse_cloth(context, "'thin.obj'", &scene), NOLI_ERROR_FORMAT);
  assert_non_null(strstr(noli_context_message(context), "no triangles, which \"shell\" needs"));
  remove("thin.obj");
  test_context_done(&context);
}

// ---- built-in shapes ----------------------------------------------------------------------------

static void built_in_shapes(void** state) {
  (void)state;
  static const struct {
    const char* mesh;
    int32_t n_tri;
    double area;
  } shapes[] = {
      {"{'plane': {'cells': [4, 5], 'pattern': 'alternating'}}", 40, 1.0},
      {"{'plane': {'cells': [4, 5], 'pattern': 'diagonal'}}", 40, 1.0},
      {"{'plane': {'cells': [4, 5], 'pattern': 'equilateral'}}", 45, 1.0},
      {"{'rectangle': {'cells': [4, 5], 'pattern': 'unstructured'}}", 45, 1.0},
      {"{'disk': {'rings': 6}}", 216, 0.775},
      {"{'tube': {'cells_around': 12, 'cells_along': 4}}", 96, 3.08},
      {"{'icosphere': {'subdivision': 3}}", 180, 2.97},
      {"{'torus_shell': {}}", 512, 2.37},
      {"{'moebius': {}}", 384, 0.79},
  };
  NoliContext* context = test_context(1);
  for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
    NoliScene* scene = NULL;
    NoliSim* sim = NULL;
    NoliStepReport report;
    NoliSimMeasures measures;
    ASSERT_OK(parse_cloth(context, shapes[k].mesh, &scene));
    const NoliSimDef* def = noli_scene_sim_def(scene);
    assert_int_equal(def->bodies[0].mesh->n_tri, shapes[k].n_tri);
    ASSERT_OK(noli_sim_measure(context, def, &measures));
    ASSERT_NEAR(measures.volume[0] / 0.001, shapes[k].area, 0.03 * shapes[k].area);
    noli_sim_measures_free(context, &measures);
    ASSERT_OK(noli_sim_create(context, def, &sim));
    ASSERT_OK(noli_sim_step(sim, &report));
    // free flight: the rest shape is at rest
    ASSERT_AT_MOST(report.elastic, 1e-9);
    noli_sim_destroy(&sim);
    noli_scene_destroy(&scene);
  }
  test_context_done(&context);
}

static void planes_face_up(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliScene* scene = NULL;
  ASSERT_OK(parse_cloth(context, "{'plane': {'pattern': 'equilateral', 'size': [2, 3]}}", &scene));
  double low[3], high[3];
  const NoliMesh* mesh = noli_scene_sim_def(scene)->bodies[0].mesh;
  noli_mesh_bounds(mesh->n_vert, mesh->x, low, high);
  ASSERT_NEAR(high[0] - low[0], 2.0, 1e-15);
  ASSERT_NEAR(high[1] - low[1], 0.0, 1e-15);
  ASSERT_NEAR(high[2] - low[2], 3.0, 1e-15);
  const double *a = mesh->x + 3 * mesh->tri[0], *b = mesh->x + 3 * mesh->tri[1];
  const double* c = mesh->x + 3 * mesh->tri[2];
  assert_true((b[2] - a[2]) * (c[0] - a[0]) - (b[0] - a[0]) * (c[2] - a[2]) > 0.0);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

// Its rings are segments, or solid.
static void chain_mail(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliScene* scene = NULL;
  ASSERT_OK(parse_quoted(
      context,
      "{'time': {'steps': 1}, 'bodies': [{'name': 'mail', 'mesh': {'chain_mail': {'rings': [2, 2], "
      "'tube_radius': 0.005}}}], 'obstacles': [{'name': 'net', 'translate': [0, 1, 0], 'mesh': "
      "{'chain_mail': {}}}]}",
      &scene));
  const NoliSimDef* def = noli_scene_sim_def(scene);
  assert_int_equal(def->bodies[1].mesh->n_edge, 256);
  assert_int_equal(def->bodies[0].mesh->n_tet, 4 * 16 * 4 * 6);
  NoliDefect* defects = NULL;
  int64_t n = 0;
  ASSERT_OK(noli_sim_check(context, def, &defects, &n));
  assert_int_equal(n, 0);
  noli_sim_check_free(context, &defects);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

static void shapes_that_cannot_be_are_refused(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliScene* scene = NULL;
  ASSERT_STATUS(parse_cloth(context, "{'moebius': {'radius': 0.1}}", &scene), NOLI_ERROR_FORMAT);
  assert_non_null(strstr(noli_context_message(context), "smaller than the diameter"));
  ASSERT_STATUS(parse_cloth(context, "{'plane': {'pattern': 'wavy'}}", &scene), NOLI_ERROR_FORMAT);
  test_context_done(&context);
}

#define CLOTH                                                                                      \
  "'material': {'law': 'stvk', 'young': 1e6, 'density': 300}, 'shell': {'thickness': 0.001}"
#define WIRE "'material': {'young': 1e7, 'poisson': 0.3}, 'rod': {'radius': 0.004, 'twist': 1}"

// Every shape, from as close above a ball and a floor as it fits, with the exact audit of each
// step: it has met one of them within a tenth of a second, and keeps the speed of its fall at most.
static void shapes_fall_onto_a_ball(void** state) {
  (void)state;
  static const struct {
    const char *mesh, *kind;
    double height;
  } shapes[] = {
      {"{'plane': {'cells': [6, 6], 'pattern': 'symmetric'}}", CLOTH, 0.255},
      {"{'plane': {'cells': [6, 6], 'pattern': 'diagonal'}}", CLOTH, 0.255},
      {"{'plane': {'cells': [6, 6], 'pattern': 'alternating'}}", CLOTH, 0.255},
      {"{'plane': {'cells': [6, 6], 'pattern': 'equilateral'}}", CLOTH, 0.255},
      {"{'plane': {'cells': [6, 6], 'pattern': 'unstructured'}}", CLOTH, 0.255},
      {"{'disk': {'rings': 4}}", CLOTH, 0.755},
      {"{'tube': {'cells_around': 12, 'cells_along': 4}}", CLOTH, 0.205},
      {"{'icosphere': {'subdivision': 3}}", CLOTH, 0.755},
      {"{'torus_shell': {'cells_around': 16, 'cells_across': 6}}", CLOTH, -0.15},
      {"{'moebius': {'radius': 0.4, 'width': 0.1}}", CLOTH, -0.2},
      {"{'line': {'length': 1, 'segments': 16}}", WIRE, 0.26},
      {"{'ring': {'radius': 0.2, 'segments': 24}}", WIRE, 0.26},
      {"{'helix': {'radius': 0.1, 'pitch': 0.05, 'turns': 3, 'segments': 60}}", WIRE, 0.33},
      {"{'curve': {'position': ['t - 0.5', '0.1*t*t', '0'], 'segments': 16}}", WIRE, 0.25},
      {"{'chain_mail': {'rings': [3, 3]}}",
       "'material': {'young': 1e9}, 'rod': {'radius': 0.0005}, 'contact_offset': 'thickness'",
       0.27},
      {"{'chain_mail': {'rings': [2, 2], 'tube_radius': 0.004}}", "'material': {'young': 1e7}",
       0.28},
  };
  NoliContext* context = test_context(1);
  for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
    char text[2000];
    snprintf(text, sizeof text,
             "{'time': {'step': 0.01, 'steps': 10}, 'contact': {'distance': 0.001}, 'friction': "
             "{'coefficient': 0.3}, 'debug': {'audit': true}, 'bodies': [{'name': 'shape', 'mesh': "
             "%s, %s, 'translate': [0.01, %g, 0.02], 'velocity': [0, -1, 0]}], 'obstacles': "
             "[{'name': 'ball', 'mesh': {'sphere': {'radius': 0.25, 'cells': 3}}}], 'half_spaces': "
             "[{'name': 'floor', 'origin': [0, -0.3, 0]}]}",
             shapes[k].mesh, shapes[k].kind, shapes[k].height);
    NoliScene* scene = NULL;
    NoliSim* sim = NULL;
    NoliStepReport report = {0};
    int64_t contacts = 0;
    int32_t iterations = 0;
    ASSERT_OK(parse_quoted(context, text, &scene));
    ASSERT_OK(noli_sim_create(context, noli_scene_sim_def(scene), &sim));
    for (int step = 0; step < 10; step++) {
      ASSERT_OK(noli_sim_step(sim, &report));
      contacts += report.contacts;
      iterations += report.newton_iterations;
    }
    print_message("%s: %lld contacts, %d iterations\n", shapes[k].mesh, (long long)contacts,
                  (int)iterations);
    assert_true(contacts > 0 && report.min_distance > 0.0);
    const NoliSimDef* def = noli_scene_sim_def(scene);
    NoliSimMeasures measures;
    ASSERT_OK(noli_sim_measure(context, def, &measures));
    double fall = 1.0 + 0.1 * 9.80665;
    ASSERT_AT_MOST(report.kinetic, 0.5 * measures.mass[0] * fall * fall);
    noli_sim_measures_free(context, &measures);
    noli_sim_destroy(&sim);
    noli_scene_destroy(&scene);
  }
  test_context_done(&context);
}

// ---- defects ------------------------------------------------------------------------------------

// Messages when a file of triangles is loaded.
static void expect_message(const char* obj, const char* part) {
  NoliContext* context = test_context(1);
  NoliScene* scene = NULL;
  write_file("thin.obj", obj);
  ASSERT_STATUS(parse_cloth(context, "'thin.obj'", &scene), NOLI_ERROR_FORMAT);
  if (strstr(noli_context_message(context), part) == NULL) {
    print_error("\"%s\" is not in: %s\n", part, noli_context_message(context));
    fail();
  }
  remove("thin.obj");
  test_context_done(&context);
}

// Defects found by the search for intersections: their number, and the first one.
static void expect_defect(const char* obj, int64_t n_expected, NoliDefectKind kind,
                          const double position[3]) {
  NoliContext* context = test_context(1);
  NoliScene* scene = NULL;
  NoliDefect* defects = NULL;
  int64_t n = 0;
  write_file("thin.obj", obj);
  ASSERT_OK(parse_cloth(context, "'thin.obj'", &scene));
  ASSERT_OK(noli_sim_check(context, noli_scene_sim_def(scene), &defects, &n));
  assert_int_equal(n, n_expected);
  assert_int_equal(defects[0].kind, kind);
  assert_int_equal(defects[0].entity[0], 0);
  assert_int_equal(defects[0].entity[1], 0);
  for (int k = 0; k < 3; k++) {
    ASSERT_NEAR(defects[0].position[k], position[k], 1e-12);
  }
  noli_sim_check_free(context, &defects);
  noli_scene_destroy(&scene);
  remove("thin.obj");
  test_context_done(&context);
}

static void defects_have_places(void** state) {
  (void)state;
  expect_message("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 2 0 0\nf 1 2 3\nf 1 2 4\n",
                 "triangle 1 (vertices 0, 1, 3) at (0, 0, 0) has no area (1 such triangles)");
  expect_message("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 2 4 3\nf 3 1 2\n",
                 "occurs twice (1 such triangles)");
  expect_message("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 1 1 2\n",
                 "cell 1 names a vertex that does not exist, or one twice");

  // segments
  NoliContext* context = test_context(1);
  NoliScene* scene = NULL;
  write_file("thin.seg", "v 0 0 0\nv 1 2 3\nv 1 2 3\ns 1 2\ns 2 3\n");
  ASSERT_STATUS(parse_quoted(context,
                             "{'time': {'steps': 1}, 'bodies': [{'mesh': 'thin.seg', 'rod': "
                             "{'radius': 0.01}}]}",
                             &scene),
                NOLI_ERROR_FORMAT);
  assert_non_null(strstr(noli_context_message(context), "cell 1 at (1, 2, 3) has no size"));
  remove("thin.seg");
  test_context_done(&context);

  // folded onto itself, touching itself, crossing itself
  expect_defect("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0.2 0.7 0\nf 1 2 3\nf 2 1 4\n", 1,
                NOLI_DEFECT_ZERO_GAP, (double[]){0.2, 0.7, 0});
  expect_defect("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0.2 0.2 0\nv 0.3 0.2 0.5\nv 0.2 0.3 0.5\nf 1 2 3\n"
                "f 4 5 6\n",
                3, NOLI_DEFECT_INTERSECTION, (double[]){0.2, 0.2, 0});
  expect_defect("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0.2 0.2 -0.5\nv 0.3 0.2 0.5\nv 0.2 0.3 0.5\nf 1 2 3\n"
                "f 4 5 6\n",
                2, NOLI_DEFECT_INTERSECTION, (double[]){0.25, 0.2, 0});
}

// Two edges that touch in their middles: all defects are there, not at vertices.
static void edges_touch_between_vertices(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliScene* scene = NULL;
  NoliDefect* defects = NULL;
  int64_t n = 0;
  write_file(
      "thin.obj",
      "v 0 0 0\nv 1 0 0\nv 0.5 1 0\nv 0.5 0 0.5\nv 0.5 0 -0.5\nv 0.5 -1 0\nf 1 2 3\nf 4 5 6\n");
  ASSERT_OK(parse_cloth(context, "'thin.obj'", &scene));
  ASSERT_OK(noli_sim_check(context, noli_scene_sim_def(scene), &defects, &n));
  assert_int_equal(n, 3);
  assert_int_equal(defects[2].kind, NOLI_DEFECT_ZERO_GAP);
  for (int k = 0; k < 9; k++) {
    ASSERT_NEAR(defects[k / 3].position[k % 3], k % 3 == 0 ? 0.5 : 0.0, 1e-12);
  }
  noli_sim_check_free(context, &defects);
  noli_scene_destroy(&scene);
  remove("thin.obj");
  test_context_done(&context);
}

// A seam of duplicate vertices is reported before the triangles that touch.
static void seams_are_named(void** state) {
  (void)state;
  TestLog log;
  NoliContext* context = test_context_log(&log);
  NoliScene* scene = NULL;
  write_file("thin.obj",
             "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 0\nv 1 0 0\nv 0 -1 0\nf 1 2 3\nf 4 6 5\n");
  ASSERT_OK(parse_cloth(context, "'thin.obj'", &scene));
  assert_non_null(strstr(log.text, "vertices 0 and 3 are both at (0, 0, 0)"));
  assert_non_null(strstr(log.text, "(2 such vertices)"));
  noli_scene_destroy(&scene);

  // ties join it: no defect is left to report
  ASSERT_OK(parse_quoted(
      context,
      "{'time': {'steps': 2}, 'bodies': [{'name': 'cloth', 'mesh': 'thin.obj', 'material': {'law': "
      "'stvk'}, 'shell': {'thickness': 0.001}}], 'ties': [{'body': 'cloth', 'to': 'cloth', "
      "'select': {'vertices': [3, 4]}}]}",
      &scene));
  NoliDefect* defects = NULL;
  int64_t n = 0;
  ASSERT_OK(noli_sim_check(context, noli_scene_sim_def(scene), &defects, &n));
  assert_int_equal(n, 0);
  noli_sim_check_free(context, &defects);
  noli_scene_destroy(&scene);
  remove("thin.obj");
  test_context_done(&context);
}

// Errors of ties have the place of their entry.
static void ties_in_scenes(void** state) {
  (void)state;
  static const char* const scene_text =
      "{'time': {'steps': 1}, 'bodies': [{'name': 'block', 'mesh': {'box': {'cells': [2, 2, 2]}}}, "
      "{'name': 'cloth', 'mesh': {'rectangle': {'cells': [3, 3]}}, 'translate': [0, -1, 0], "
      "'copies': {'count': 2, 'translate': [0, 0, 0.25]}, 'material': {'law': 'stvk'}, 'shell': "
      "{'thickness': 0.001}}], 'obstacles': [{'name': 'rim', 'mesh': {'icosphere': {'radius': "
      "0.1}}, 'translate': [0, 3, 0]}], 'ties': [%s]}";
  static const struct {
    const char *tie, *part;
  } wrong[] = {
      {"{'body': 'cloth', 'to': 'nothing'}", "nothing"},
      {"{'body': 'rim', 'to': 'block'}", "only vertices of bodies can be bound"},
      {"{'body': 'block', 'to': 'cloth'}", "\"cloth\" are 2 bodies, but \"block\" are 1"},
      {"{'body': 'cloth', 'to': 'block', 'distance': 0}", "distance"},
      {"{'body': 'cloth'}", "to"},
  };
  NoliContext* context = test_context(1);
  NoliScene* scene = NULL;
  NoliSim* sim = NULL;
  char text[2000];
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    snprintf(text, sizeof text, scene_text, wrong[k].tie);
    ASSERT_STATUS(parse_quoted(context, text, &scene), NOLI_ERROR_FORMAT);
    assert_non_null(strstr(noli_context_message(context), "ties[0]"));
    assert_non_null(strstr(noli_context_message(context), wrong[k].part));
  }

  // found later, by the simulation
  snprintf(text, sizeof text, scene_text, "{'body': 'cloth', 'to': 'block'}");
  ASSERT_OK(parse_quoted(context, text, &scene));
  assert_int_equal(noli_scene_sim_def(scene)->n_ties, 2);
  ASSERT_STATUS(noli_sim_create(context, noli_scene_sim_def(scene), &sim), NOLI_ERROR_ARGUMENT);
  assert_non_null(strstr(noli_context_message(context), "ties[0]: vertex 0 of \"cloth[0]\""));
  noli_scene_destroy(&scene);

  // all copies
  snprintf(text, sizeof text, scene_text,
           "{'body': 'cloth', 'select': {'side': '+y'}, 'to': 'block', 'distance': '1e-6 l'}");
  ASSERT_OK(parse_quoted(context, text, &scene));
  ASSERT_OK(noli_sim_create(context, noli_scene_sim_def(scene), &sim));
  ASSERT_OK(noli_sim_step(sim, NULL));
  noli_sim_destroy(&sim);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_format),
      cmocka_unit_test(cells_of_other_kinds),
      cmocka_unit_test(every_format_of_lines),
      cmocka_unit_test(built_in_shapes),
      cmocka_unit_test(planes_face_up),
      cmocka_unit_test(chain_mail),
      cmocka_unit_test(shapes_that_cannot_be_are_refused),
      cmocka_unit_test(shapes_fall_onto_a_ball),
      cmocka_unit_test(defects_have_places),
      cmocka_unit_test(edges_touch_between_vertices),
      cmocka_unit_test(seams_are_named),
      cmocka_unit_test(ties_in_scenes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
