// Text scenes of the IPC program. Figures were computed independently from the meshes and the rules
// of the original.
#define _XOPEN_SOURCE 700
#include "scene/scene_support.h"

#include "noli/import.h"
#include "noli/mesh.h"
#include "import/import.h"

#include <dirent.h>
#include <jansson.h>
#include <sys/stat.h>

// ---- small scenes -------------------------------------------------------------------------------

#define CUBE "ipc_cube.msh 0 0 0  0 0 0  1 1 1"
#define HEAD "shapes input 1\n" CUBE "\n"

// The corners of a cube of side 1 around the origin, as a body, and a surface.
static void make_meshes(void) {
  static const double size[3] = {1, 1, 1};
  static const int32_t cells[3] = {1, 1, 1};
  NoliContext* context = test_context(1);
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_box(context, size, cells, false, &mesh));
  ASSERT_OK(noli_mesh_write(context, "ipc_cube.msh", mesh));
  noli_mesh_destroy(context, &mesh);
  ASSERT_OK(noli_mesh_make_box(context, size, cells, true, &mesh));
  ASSERT_OK(noli_mesh_write(context, "ipc_cube.obj", mesh));
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

static NoliStatus import(NoliContext* context, const char* text, json_t** root) {
  return noli_import_ipc(
      &(NoliSceneSource){
          .context = context, .name = "scene.txt", .text = text, .size = strlen(text)},
      root);
}

// The tree of a good scene, which must also be one that can be built.
static json_t* tree(const char* text) {
  NoliContext* context = test_context(1);
  json_t* root = NULL;
  NoliScene* scene = NULL;
  if (import(context, text, &root) != NOLI_OK ||
      noli_import_parse(context, text, strlen(text), "scene.txt", NULL, NULL, 0, &scene) !=
          NOLI_OK) {
    print_error("%s\n%s\n", text, noli_context_message(context));
    fail();
  }
  noli_scene_destroy(&scene);
  test_context_done(&context);
  return root;
}

// The value at a path such as "bodies.0.scale".
static const json_t* at(const json_t* value, const char* path) {
  char copy[200];
  snprintf(copy, sizeof copy, "%s", path);
  char* rest = NULL;
  for (char* key = strtok_r(copy, ".", &rest); key != NULL; key = strtok_r(NULL, ".", &rest)) {
    value = json_is_array(value) ? json_array_get(value, (size_t)atoi(key))
                                 : json_object_get(value, key);
  }
  return value;
}

// The value at the path is this JSON, numbers to 1e-12 relative.
static bool same(const json_t* a, const json_t* b) {
  if (json_is_number(a) && json_is_number(b)) {
    double x = json_number_value(a), y = json_number_value(b);
    return fabs(x - y) <= 1e-12 * fmax(1.0, fabs(y));
  }
  if (json_is_array(a) && json_is_array(b)) {
    bool equal = json_array_size(a) == json_array_size(b);
    for (size_t i = 0; equal && i < json_array_size(b); i++) {
      equal = same(json_array_get(a, i), json_array_get(b, i));
    }
    return equal;
  }
  if (json_is_object(a) && json_is_object(b)) {
    bool equal = json_object_size(a) == json_object_size(b);
    const char* key;
    json_t* value;
    json_object_foreach((json_t*)b, key, value) {
      equal = equal && same(json_object_get(a, key), value);
    }
    return equal;
  }
  return json_equal((json_t*)a, (json_t*)b) != 0;
}

static void expect(const json_t* root, const char* path, const char* want) {
  char buffer[SCENE_TEXT];
  json_error_t error;
  json_t* wanted = json_loads(quoted(want, buffer), JSON_DECODE_ANY, &error);
  assert_non_null(wanted);
  const json_t* got = at(root, path);
  if (got == NULL || !same(got, wanted)) {
    char* text = got != NULL ? json_dumps(got, JSON_ENCODE_ANY) : NULL;
    print_error("%s: got %s, want %s\n", path, text != NULL ? text : "nothing", want);
    free(text);
    fail();
  }
  json_decref(wanted);
}

// ---- errors and messages ------------------------------------------------------------------------

static void errors_are_located(void** state) {
  (void)state;
  static const struct {
    const char *text, *message;
  } bad[] = {
      {HEAD "\ntime 5\n", "scene.txt:4: time: needs 2 numbers, got 1"},
      {HEAD "time 5 x\n", "scene.txt:3: time: argument 2 must be a finite number, got 'x'"},
      {HEAD "time 5 0.1view\n", "scene.txt:3: time: argument 2 must be a finite number"},
      {HEAD "time nan 1\n", "scene.txt:3: time: argument 1 must be a finite number"},
      {HEAD "time 5 0\n", "time: duration and step must be > 0, got 5 0"},
      {HEAD "densitty 5\n", "scene.txt:3: unknown keyword 'densitty'; did you mean \"density\"?"},
      {HEAD "xyzzyx 5\n", "scene.txt:3: unknown keyword 'xyzzyx'"},
      {HEAD "energy NHH\n", "scene.txt:3: energy: must be \"NH\" or \"FCR\", got 'NHH'"},
      {HEAD "timeIntegration NM 0.3 0.6\n", "scene.txt:3: timeIntegration: of Newmark's rules"},
      {HEAD "constraintSolver LCP\n", "scene.txt:3: constraintSolver: must be"},
      {HEAD "restart a\n", "scene.txt:3: restart: a state of the original"},
      {HEAD "tol 2\n1e-2\n1e-3\n", "scene.txt:5: tol: a tolerance that changes"},
      {HEAD "tol 2\n1e-2\nview perspective\n", "scene.txt:5: tol: argument 1 must be a finite"},
      {HEAD "tuning 3\n0\n1e-3 0\n", "scene.txt:3: tuning: dHat and eps_v must be > 0, got 0"},
      {HEAD "tuning 7\n", "scene.txt:3: tuning: takes at most 6 values, got 7"},
      {HEAD "script dance\n", "scene.txt:3: script: 'dance' is not supported"},
      {HEAD "script twsit\n", "did you mean \"twist\"?; known: null, "},
      {HEAD "script DCOSquash6\n", "scene.txt:3: script: needs at least 6 shapes, got 1"},
      {HEAD "script meshSeqFromFile\n", "scene.txt:3: script: the folder is missing"},
      {HEAD "handleRatio 0.7\n", "handleRatio: must be in (0, 0.5), got 0.7"},
      {HEAD "meshCO nowhere.obj 0 0 0 1 0 0\n", "scene.txt:3: meshCO: nowhere.obj: there is no"},
      {"time 1 1\n", "scene.txt:1: there are no shapes"},
      {"shapes input 2\n" CUBE "\n\n", "scene.txt:2: shapes: the text ends after 1 of 2 shapes"},
      {"shapes input 1.5\n", "scene.txt:1: shapes: must be an integer in"},
      {"shapes input 1\nnowhere.msh 0 0 0 0 0 0 1 1 1\n", "scene.txt:2: nowhere.msh: there is no"},
      {"shapes input 1\nipc_cube.ply 0 0 0 0 0 0 1 1 1\n",
       "scene.txt:2: ipc_cube.ply: shapes must"},
      {"shapes input 1\nipc_cube.msh 0 0 0 0 0 0 1 1\n", "scene.txt:2: shapes: needs 3 numbers"},
      {"shapes input 1\n" CUBE " materal 1 1 1\n",
       "scene.txt:2: shapes: unknown keyword 'materal'; "
       "did you mean \"material\"?"},
      {"shapes input 1\n" CUBE " \\\n DBC 0 0 0\n", "scene.txt:3: DBC: needs 12 numbers, got 3"},
      {"shapes input 1\n" CUBE " linearVelocity 0 0 0 DBC 0 0 0 1 1 1 0 0 0 0 0 0\n",
       "scene.txt:2: DBC: cannot be combined"},
      {"shapes input 1\n" CUBE " DBC 0 0 0 1 1 1 1 0 0 0 0 0 DBC 0 0 0 1 1 1 0 1 0 0 0 0\n",
       "scene.txt:2: DBC: two motions of the same vertices"},
      {"shapes input 1\n" CUBE " meshSeq nowhere\n", "scene.txt:2: meshSeq: nowhere/0.msh"},
      {"shapes input 1\nipc_cube.obj 0 0 0 0 0 0 1 1 1\n", "no shape has tetrahedra"},
      {"shapeMatrix input 2 0 1\n", "scene.txt:1: shapeMatrix: must be an integer in [1, "},
  };

  // every text fails with its message
  NoliContext* context = test_context(1);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    json_t* root = NULL;
    NoliStatus status = import(context, bad[i].text, &root);
    if (status == NOLI_OK || strstr(noli_context_message(context), bad[i].message) == NULL) {
      print_error("%s\ngot \"%s\"\nwant \"%s\"\n", bad[i].text,
                  status == NOLI_OK ? "no failure" : noli_context_message(context), bad[i].message);
      fail();
    }
    assert_null(root);
  }
  test_context_done(&context);
}

static void later_failures_name_the_conversion(void** state) {
  (void)state;
  static const char text[] = HEAD "stiffness 1e5 0.7\n";
  NoliContext* context = test_context(1);
  NoliScene* scene = NULL;
  ASSERT_STATUS(noli_import_parse(context, text, strlen(text), "scene.txt", NULL, NULL, 0, &scene),
                NOLI_ERROR_FORMAT);
  assert_non_null(strstr(noli_context_message(context),
                         "scene.txt: converted bodies[0].material.poisson: must be in"));
  test_context_done(&context);
}

static void what_has_no_meaning_is_logged(void** state) {
  (void)state;
  TestLog log;
  NoliContext* context = test_context_log(&log);
  json_t* root = NULL;
  ASSERT_OK(import(context,
                   HEAD "zoom 0.5\nwarmStart 0\nground 0 -1 50\nconstraintSolver SQP\n"
                        "section SQP QP\ntime 1 1e-9\nnonsense\nsection end\nview orthographic\n"
                        "section IP\nsize 3\nsection end\nsection QP\n",
                   &root));
  assert_non_null(strstr(log.text, "scene.txt:3: \"zoom\" has no meaning here\n"));
  assert_non_null(strstr(log.text, "scene.txt:4: \"warmStart\" has no meaning here\n"));
  assert_non_null(strstr(log.text, "scene.txt:5: ground: '50'"));
  assert_non_null(strstr(log.text, "scene.txt:6: constraintSolver: 'SQP' is not supported"));
  assert_non_null(strstr(log.text, "scene.txt:7: section: skipped"));
  assert_non_null(strstr(log.text, "scene.txt:11: \"view\""));
  assert_non_null(strstr(log.text, "section: the text ends before"));
  expect(root, "time", "{'step': 0.025, 'duration': 5}");
  // the side of the cube was 1
  expect(root, "bodies.0.scale", "3");
  expect(root, "bodies.0.translate", "[1.5, 1.5, 1.5]");
  json_decref(root);
  test_context_done(&context);
}

// ---- settings -----------------------------------------------------------------------------------

static void settings(void** state) {
  (void)state;

  // carriage returns, comments, values over several lines, no line end at the end
  json_t* root = tree("shapes input 1\r\n# a comment\r\n\r\n" CUBE "  material 2 3 0.1 # 1\r\n"
                      "time 2 0.5 # s\r\nenergy FCR\r\ntimeIntegration NM\r\nturnOffGravity\r\n"
                      "tuning 6\r\n2 1e-2\r\n1e-2 1e-9 3e-2\r\n3e-2 tol 1 1e-1 fricIterAmt -1\r\n"
                      "selfFric 0.2\r\ndampingRatio 0.1\r\nkappaMinMultiplier 3");
  expect(root, "time", "{'step': 0.5, 'duration': 2, 'integrator': 'trapezoidal'}");
  expect(root, "gravity", "[0, 0, 0]");

  // beta = 3/4 ratio h^3 / (h^2 / 4)
  expect(root, "bodies.0.material",
         "{'law': 'fixed_corotated', 'young': 3, 'poisson': 0.1, 'density': 2, 'damping': 0.15}");

  // relative to the diagonal sqrt(3); the stiffness is one of the incremental potential
  expect(root, "contact", "{'distance': 0.017320508075688773, 'stiffness': 32}");
  expect(root, "friction",
         "{'coefficient': 0.2, 'speed': 0.051961524227066319, 'law': 'velocity', "
         "'iterations': 'until_convergence'}");
  expect(root, "solver", "{'tolerance': 0.17320508075688773}");
  assert_null(json_object_get(root, "pairs"));
  json_decref(root);

  // absolute parameters
  root = tree(HEAD "useAbsParameters\ndHat 0.01\nepsv 0.02\ntol 2 1e-3 1e-3\nfricIterAmt 3\n"
                   "dampingStiff 1e-6\n");
  expect(root, "contact.distance", "0.01");
  expect(root, "friction", "{'coefficient': 0, 'speed': 0.02, 'law': 'velocity', 'iterations': 3}");
  expect(root, "solver.tolerance", "0.04");
  expect(root, "bodies.0.material.damping", "0.0016");
  json_decref(root);

  // one solve requested by the scene is not the default
  root = tree(HEAD "useAbsParameters\nselfFric 0.2\nepsv 0.02\nfricIterAmt 1\n");
  expect(root, "friction",
         "{'coefficient': 0.2, 'speed': 0.02, 'law': 'velocity', 'iterations': 1}");
  json_decref(root);
  root = tree(HEAD "useAbsParameters\nselfFric 0.2\nepsv 0.02\n");
  expect(root, "friction", "{'coefficient': 0.2, 'speed': 0.02, 'law': 'velocity'}");
  json_decref(root);
}

// The original lowers dHat and eps_v within each step, halving their squares, and ends with the
// targets; each solve lags friction, so four squares down from 4 to 1 make five iterations.
static void values_that_fall_within_a_step(void** state) {
  (void)state;
  TestLog log;
  NoliContext* context = test_context_log(&log);
  json_t* root = NULL;
  ASSERT_OK(import(context,
                   HEAD "useAbsParameters\nselfFric 0.1\ntuning 6 0 1e-2 1e-3 1e-9 4e-5 1e-5\n",
                   &root));
  assert_non_null(strstr(log.text, "scene.txt:5: tuning: within each step, dHat falls from 0.01 to "
                                   "0.001; Noli solves with 0.001\n"));
  assert_non_null(strstr(log.text, "eps_v falls from 4e-05 to 1e-05;"));
  expect(root, "contact.distance", "0.001");
  expect(root, "friction",
         "{'coefficient': 0.1, 'speed': 1e-05, 'law': 'velocity', 'iterations': 5}");
  json_decref(root);
  // values below their target stay; the last scene of cards has 1.000001e-5 and 1e-5
  root = tree(HEAD "useAbsParameters\ntuning 6 0 1e-3 1e-2 1e-9 1.000001e-5 1e-5\nfricIterAmt 4\n");
  expect(root, "contact.distance", "0.001");
  expect(root, "friction",
         "{'coefficient': 0, 'speed': 1e-05, 'law': 'velocity', 'iterations': 4}");
  json_decref(root);
  root = tree(HEAD "tuning 6 0 1e-3 1e-3 1e-9 1e-4 1e-5\nfricIterAmt -1\n");
  expect(root, "friction.iterations", "'until_convergence'");
  json_decref(root);
  test_context_done(&context);
}

static void contact_pairs(void** state) {
  (void)state;
  json_t* root = tree(HEAD "selfFric 0.3\nground 0.3 -2\nground 0.5 -3\n"
                           "halfSpace 0 -4 0 0 2 0 50 0\nmeshCO ipc_cube.obj 0 5 0 2 50 0.7\n");
  expect(root, "friction.coefficient", "0.3");
  expect(root, "half_spaces.0", "{'name': 'ground', 'origin': [0, -2, 0], 'normal': [0, 1, 0]}");
  expect(root, "half_spaces.2.normal", "[0, 2, 0]");
  expect(root, "pairs",
         "[{'a': '*', 'b': 'ground_1', 'friction': 0.5},"
         " {'a': '*', 'b': 'half_space_2', 'friction': 0},"
         " {'a': '*', 'b': 'meshCO', 'friction': 0.7}]");
  expect(root, "obstacles.0",
         "{'name': 'meshCO', 'mesh': 'ipc_cube.obj', 'scale': 2, 'translate': [0, 5, 0]}");
  json_decref(root);
  root = tree(HEAD "selfCollisionOff\nground 0.1 -2\n");
  expect(root, "contact.self", "false");
  expect(root, "pairs",
         "[{'a': '*', 'b': '*', 'contact': false},"
         " {'a': '*', 'b': 'ground', 'friction': 0.1}]");
  json_decref(root);
  root = tree(HEAD "selfCollisionOff\n");
  expect(root, "contact.enabled", "false");
  json_decref(root);
}

// ---- shapes -------------------------------------------------------------------------------------

static void placement(void** state) {
  (void)state;
  json_t* root = tree("shapes input 2\nipc_cube.msh 1 2 3  10 20 30  1 2 3\n"
                      "ipc_cube.msh 9 2 3  0 0 0  1 1 1\nshape input ipc_cube.obj\n");
  expect(root, "bodies.0.name", "'ipc_cube_0'");
  expect(root, "bodies.0.scale", "[1, 2, 3]");
  expect(root, "bodies.0.rotate", "[10, 20, 30]");
  expect(root, "bodies.0.translate", "[1, 2, 3]");
  expect(root, "obstacles.0", "{'name': 'ipc_cube_2', 'mesh': 'ipc_cube.obj'}");
  json_decref(root);
  // about half of the extent, (0.5, 0.5, 0.5): (-0.5, -0.5) goes to where (1.5, -0.5) was
  root = tree(HEAD "rotateModel 0 0 2 90\n");
  expect(root, "bodies.0.rotate", "[0, 0, 90]");
  expect(root, "bodies.0.translate", "[1, 0, 0]");
  json_decref(root);
  root = tree("shapes input 1\nipc_cube.msh 0 0 0 0 90 0 1 1 1\nrotateModel 1 0 0 90\nsize 2\n");
  expect(root, "bodies.0.scale", "2");
  expect(root, "bodies.0.translate", "[1, 1, 1]");
  // Rx Ry = Ry Rz at 90 degrees
  expect(root, "bodies.0.rotate", "[0, 90, 90]");
  json_decref(root);
  root = tree(HEAD "script fall\n");
  expect(root, "bodies.0.translate", "[0, 0.86602540378443865, 0]");
  json_decref(root);
}

static void matrices_of_shapes(void** state) {
  (void)state;
  json_t* root = tree(HEAD "shapeMatrix input 2 1 3 -9 0 5\nipc_cube.obj 2 3 4  0 0 0  1 1 1\n"
                           "script DCOFix\n");
  assert_int_equal(json_array_size(at(root, "obstacles")), 2);
  expect(root, "obstacles.1",
         "{'name': 'ipc_cube_4', 'mesh': 'ipc_cube.obj', 'translate': [-7, 0, 5],"
         " 'copies': {'count': 3, 'translate': [0, 0, 4]}}");
  json_decref(root);
  root = tree("shapeMatrix input 1 1 2 9 0 5\nipc_cube.msh 2 3 4  0 0 0  1 1 1 "
              "initVel 1 0 0 0 0 0\n");
  expect(root, "bodies.0.velocity", "[1, 0, 0]");
  expect(root, "bodies.0.copies.count", "2");
  json_decref(root);
}

static void extras_of_shapes(void** state) {
  (void)state;
  // the side x = -1/2 of the cube has the vertices of even number
  json_t* root = tree("time 1 0.1\nshapes input 1\n" CUBE " initVel 0 0 0 0 180 0 \\\n"
                      "DBC -0.1 -1 -1 0.1 2 2  1 0 0 0 0 90  0.15 0.3 \\ # comment\n"
                      " DBC -0.1 -1 -1 0.1 2 2  0 0 0 0 0 0  # more \\\n"
                      "NBC 0.9 0.9 0.9 1 1 1 0 7 0 0.3\n"
                      "DBCTimeRange 0.2 9\nNBCTimeRange 0 0.5\n");
  expect(root, "bodies.0.angular_velocity", "[0, 3.1415926535897931, 0]");
  expect(root, "prescribed.0.motion", "{'hold': true, 'from': 0.15, 'to': 8.95}");
  expect(root, "prescribed.1.motion",
         "{'velocity': [1, 0, 0], 'rotation': {'axis': [0, 0, 1], 'speed': 90, 'origin': 'box'},"
         " 'from': 0.15, 'to': 0.25}");
  assert_int_equal(json_array_size(at(root, "prescribed.1.select.vertices")), 4);
  expect(root, "forces.0.acceleration", "[0, 7, 0]");
  expect(root, "forces.0.from", "0.35");
  expect(root, "forces.0.to", "0.55");
  assert_int_equal(json_array_size(at(root, "forces.0.select.vertices")), 1);
  json_decref(root);
  // a shape that moves rigidly is an obstacle; each step turns by Rx Ry Rz of its angles
  root = tree("time 1 0.5\nshapes input 2\n" CUBE "\n"
              "ipc_cube.msh 5 0 0 0 0 0 1 1 1 linearVelocity 0 1 0 angularVelocity 180 180 0\n");
  expect(root, "obstacles.0.motion.velocity", "[0, 1, 0]");
  expect(root, "obstacles.0.motion.rotation.speed", "240");
  expect(root, "obstacles.0.motion.rotation.axis",
         "[0.57735026918962584, 0.57735026918962584, 0.57735026918962584]");
  json_decref(root);
}

static void sequences(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh* mesh = NULL;

  // three frames of a moving cube
  ASSERT_OK(noli_mesh_read(context, "ipc_cube.obj", &mesh));
  mkdir("ipc_frames", 0777);
  for (int k = 0; k < 3; k++) {
    char name[40];
    snprintf(name, sizeof name, "ipc_frames/%d.obj", k);
    for (int32_t v = 0; v < mesh->n_vert; v++) {
      mesh->x[3 * v] += k == 0 ? 5.0 : 0.1;
    }
    ASSERT_OK(noli_mesh_write(context, name, mesh));
  }
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);

  // the first step ends at frame 0
  json_t* root = tree("time 1 0.25\nshapes input 2\n" CUBE "\n"
                      "ipc_cube.obj 5 0 0 0 0 0 1 1 1 meshSeq ipc_frames\n");
  expect(root, "obstacles.0.motion",
         "{'sequence': {'fps': 4, 'files': ['ipc_frames/0.obj', 'ipc_frames/0.obj',"
         " 'ipc_frames/1.obj', 'ipc_frames/2.obj']}}");
  expect(root, "obstacles.0.mesh", "'ipc_frames/0.obj'");
  assert_null(at(root, "obstacles.0.translate"));
  json_decref(root);

  // the named motion ends it at frame 1
  root = tree("time 1 0.25\nscript meshSeqFromFile ipc_frames\nshapes input 2\n" CUBE "\n"
              "ipc_cube.obj 5 0 0 0 0 0 1 1 1\n");
  expect(root, "obstacles.0.motion.sequence.files",
         "['ipc_frames/0.obj', 'ipc_frames/1.obj', 'ipc_frames/2.obj']");
  json_decref(root);

  // a shape elsewhere
  context = test_context(1);
  ASSERT_STATUS(import(context,
                       "shapes input 2\n" CUBE "\n"
                       "ipc_cube.obj 6 0 0 0 0 0 1 1 1 meshSeq ipc_frames\n",
                       &root),
                NOLI_ERROR_FORMAT);
  assert_non_null(strstr(noli_context_message(context), "does not start where the shape is"));
  test_context_done(&context);
}

// ---- named motions ------------------------------------------------------------------------------

// The prescribed motion of a scene with one cube, or with a cube and two surfaces.
static void named_motions(void** state) {
  (void)state;
  static const struct {
    const char *motion, *path, *want;
  } cases[] = {
      {"twist", "prescribed.0.motion",
       "{'rotation': {'axis': [1, 0, 0], 'speed': -72, 'origin': [0, 0, 0]}}"},
      {"twist", "prescribed.1.motion.rotation.speed", "72"},
      {"stretch", "prescribed.1.motion", "{'velocity': [0.1, 0, 0]}"},
      {"bend", "prescribed.1.motion.rotation.speed", "-9"},
      {"hangLeft", "prescribed.0.motion", "{'hold': true}"},
      {"fixLowerHalf", "prescribed.0.motion", "{'hold': true}"},
      {"pushRightMost1", "prescribed.0.motion", "{'velocity': [-0.15, 0, 0]}"},
      {"utopiaComparison", "forces.0.acceleration", "[0, -1.5, 0]"},
      {"utopiaComparison", "prescribed.0.motion", "{'hold': true}"},
      // down by 0.5 m at 1 m/s, then held
      {"push", "prescribed.1.motion",
       "[{'velocity': [0, -1, 0], 'to': 0.525}, {'hold': true, 'from': 0.525}]"},
      // 0.8 m to the left, which six steps of 0.135 m make, then to and fro
      {"stretchnsquash", "prescribed.0.motion.0", "{'velocity': [-0.9, 0, 0], 'to': 0.825}"},
      {"stretchnsquash", "prescribed.0.motion.1.velocity", "[0.9, 0, 0]"},
      {"stretchnsquash", "prescribed.1.motion.1.velocity", "[-0.9, 0, 0]"},
      {"toggleTop", "prescribed.0.motion", "{'velocity': [-0.5, 0, 0], 'to': 0.225}"},
      {"DCOBallHitWall 1 5", "bodies.0.velocity", "[5, 0, 0]"},
      {"drop", "bodies.0.velocity", "[0, -1, 0]"},
  };

  // each motion
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[300];
    snprintf(text, sizeof text, HEAD "time 2 0.15\nscript %s\n", cases[i].motion);
    json_t* root = tree(text);
    expect(root, cases[i].path, cases[i].want);
    json_decref(root);
  }
}

static void driven_shapes(void** state) {
  (void)state;
  // faces 1.05 m apart move towards each other: 0.2 m a step, so less than 0.1 m after five
  json_t* root = tree("time 2 0.1\nshapes input 3\nipc_cube.obj 0 0 0 0 0 0 1 1 1\n"
                      "ipc_cube.obj 2.05 0 0 0 0 0 1 1 1\nipc_cube.msh 0 9 0 0 0 0 1 1 1\n"
                      "script DCOSquash\n");
  expect(root, "obstacles.0.motion",
         "[{'velocity': [1, 0, 0], 'to': 0.45}, {'velocity': [-1, 0, 0], 'from': 0.45}]");
  expect(root, "obstacles.1.motion.1.velocity", "[1, 0, 0]");
  json_decref(root);
  // the top one, 1.05 m above the lower, comes down by 0.1 m a step to within 0.1 m
  root = tree("time 2 0.1\nshapes input 3\nipc_cube.msh 0 0 0 0 0 0 1 1 1\n"
              "ipc_cube.obj 5 0 0 0 0 0 1 1 1\nipc_cube.obj 5 2.05 0 0 0 0 1 1 1\n"
              "script DCOSegBedSquash\n");
  assert_null(at(root, "obstacles.0.motion"));
  expect(root, "obstacles.1.motion", "{'velocity': [0, -1, 0], 'to': 0.95}");
  json_decref(root);
}

static void let_go_behind_a_mesh(void** state) {
  (void)state;
  json_t* root = tree(HEAD "script dragright\nmeshCO ipc_cube.obj 3 0 0 2 0 0\n");
  expect(root, "prescribed.0.motion",
         "{'velocity': [0.5, 0, 0], 'until': {'beyond': {'origin': [4, 0, 0],"
         " 'normal': [1, 0, 0]}}}");
  assert_int_equal(json_array_size(at(root, "prescribed.0.select.vertices")), 4);
  json_decref(root);
  root = tree(HEAD "script dragright\n");
  assert_null(json_object_get(root, "prescribed"));
  json_decref(root);
}

// ---- public scenes ------------------------------------------------------------------------------

typedef struct Tally {
  int n_good, n_missing;
} Tally;

static void load_public(NoliContext* context, const char* path, Tally* tally) {
  NoliScene* scene = NULL;
  NoliStatus status = noli_import_load(context, path, NULL, 0, &scene);
  const char* message = noli_context_message(context);
  if (status == NOLI_OK) {
    tally->n_good++;
  } else if (strstr(message, "there is no such file in the folder") != NULL) {
    print_message("%s\n", message);
    tally->n_missing++;
  } else {
    print_error("%s: %s\n", path, message);
    fail();
  }
  noli_scene_destroy(&scene);
}

static void load_folder(NoliContext* context, const char* folder, Tally* tally) {
  DIR* directory = opendir(folder);
  assert_non_null(directory);
  for (struct dirent* entry; (entry = readdir(directory)) != NULL;) {
    char path[1200];
    struct stat about;
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    const char* dot = strrchr(entry->d_name, '.');
    if (entry->d_name[0] == '.' || stat(path, &about) != 0) {
      continue;
    }
    if (S_ISDIR(about.st_mode)) {
      load_folder(context, path, tally);
    } else if (dot != NULL && strcmp(dot, ".txt") == 0) {
      load_public(context, path, tally);
    }
  }
  closedir(directory);
}

static void public_scenes(void** state) {
  (void)state;
  static const char* const folders[] = {"paperExamples", "otherExamples", "tutorialExamples"};
  char path[1000];
  if (test_data("ipc/input/tutorialExamples/2cubesFall.txt", path, sizeof path) == NULL) {
    skip();
  }
  NoliContext* context = test_context(1);
  Tally tally = {0};
  for (int i = 0; i < 3; i++) {
    char folder[1000];
    snprintf(folder, sizeof folder, "%s/ipc/input/%s", getenv("NOLI_DATA"), folders[i]);
    load_folder(context, folder, &tally);
  }
  print_message("%d public scenes can be read, of %d meshes are missing\n", tally.n_good,
                tally.n_missing);
  assert_int_equal(tally.n_good + tally.n_missing, 88);
  assert_true(tally.n_good >= 76);
  test_context_done(&context);
}

static NoliScene* load(NoliContext* context, const char* name) {
  char path[1000], full[300];
  NoliScene* scene = NULL;
  snprintf(full, sizeof full, "ipc/input/%s", name);
  if (test_data(full, path, sizeof path) == NULL) {
    test_context_done(&context);
    skip();
  }
  ASSERT_OK(noli_import_load(context, path, NULL, 0, &scene));
  return scene;
}

static void expect_box(const NoliSimDef* def, int32_t body, const double want[6]) {
  const NoliMesh* mesh = def->bodies[body].mesh;
  for (int k = 0; k < 3; k++) {
    double low = (double)INFINITY, high = -(double)INFINITY;
    for (int32_t v = 0; v < mesh->n_vert; v++) {
      low = noli_smaller(low, mesh->x[3 * v + k]);
      high = noli_larger(high, mesh->x[3 * v + k]);
    }
    ASSERT_NEAR(low, want[k], 1e-11);
    ASSERT_NEAR(high, want[3 + k], 1e-11);
  }
}

static void dolphin_and_funnel(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliScene* scene = load(context, "paperExamples/13_dolphinFunnel.txt");
  const NoliSimDef* def = noli_scene_sim_def(scene);
  expect_box(def, 0, (double[6]){0.0, 0.630677310606, 0.0, 1.0, 1.091829832833, 0.6151047323});
  expect_box(def, 1,
             (double[6]){1.0099999994687505, 0.6799999929631568, 0.23999999377274414,
                         2.5099999994687505, 1.0400000055631575, 0.6000000063727449});
  assert_int_equal(def->motions[0].n_node, 84);
  // the diagonal at rest, before the model is turned
  ASSERT_NEAR(def->contact_distance.value, 1.3037169651037837e-3, 1e-12);
  ASSERT_NEAR(def->tolerance.value, 1.3037169651037837e-2, 1e-12);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

static void rollers(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliScene* scene = load(context, "paperExamples/8_rollerBall.txt");
  const NoliSimDef* def = noli_scene_sim_def(scene);
  expect_box(def, 0, (double[6]){0.2503069, 0.9500743, 0.250307, 1.2496931, 1.9498834, 1.249693});
  expect_box(def, 1, (double[6]){0.0, 0.5, 0.3, 2.0, 0.9, 0.7});
  expect_box(def, 4, (double[6]){0.8, 0.0, 0.0, 1.2, 0.4, 2.0});
  ASSERT_NEAR(def->contact_distance.value, 1.7312317551931775e-3, 1e-12);
  ASSERT_NEAR(def->friction, 0.5, 0.0);
  assert_int_equal(def->n_motions, 4);
  // a quarter turn about z in a second, about the middle (1, y, z)
  int32_t node = 0;
  const double x[3] = {1.2, 0.2, 0.5};
  double moved[3];
  const NoliMotionDef* motion = &def->motions[3];
  motion->target(motion->user, 0.0, 1.0, 1, &node, x, x, moved);
  ASSERT_NEAR(moved[0], 1.0, 1e-11);
  ASSERT_NEAR(moved[1], 0.4, 1e-11);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

static void twisted_rods(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliScene* scene = load(context, "paperExamples/4_rodsTwist.txt");
  const NoliSimDef* def = noli_scene_sim_def(scene);
  ASSERT_NEAR(def->contact_distance.value, 1.0559994415150826e-3, 1e-12);
  assert_int_equal(def->n_motions, 8);
  int32_t n_left = 0, n_right = 0;
  for (int32_t i = 0; i < 8; i++) {
    n_left += def->motions[i].n_node == 164;
    n_right += def->motions[i].n_node == 165;
  }
  assert_int_equal(n_left, 4);
  assert_int_equal(n_right, 4);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

static void trash_compactor(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliScene* scene = load(context, "paperExamples/15_trashComp_shapes.txt");
  const NoliSimDef* def = noli_scene_sim_def(scene);
  expect_box(def, 1, (double[6]){0.512, 1.0 / 3, 1.0 / 3, 0.514666666666667, 2.0 / 3, 2.0 / 3});
  // turned back before step 29 of 0.01 s
  assert_int_equal(def->n_motions, 12);
  ASSERT_NEAR(def->motions[0].t_end, 0.285, 1e-12);
  ASSERT_NEAR(def->motions[1].t_begin, 0.285, 1e-12);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

// ---- equivalent scenes in both forms ------------------------------------------------------------

static uint64_t hash_after_ten_steps(NoliContext* context, const NoliScene* scene) {
  NoliSim* sim = NULL;
  ASSERT_OK(noli_sim_create(context, noli_scene_sim_def(scene), &sim));
  for (int i = 0; i < 10; i++) {
    ASSERT_OK(noli_sim_step(sim, NULL));
  }
  uint64_t hash = noli_sim_state_hash(sim);
  noli_sim_destroy(&sim);
  return hash;
}

static void converted_scenes_run_to_the_same_bits(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliScene *direct = NULL, *converted = NULL;
  char* json = NULL;
  static const char text[] = "time 1 0.025\nshapes input 2\n"
                             "ipc_cube.msh 0.1 1.623456789 0 0 0 33.3 1 1 1 initVel 0 -3 0 0 9 1\n"
                             "ipc_cube.msh 0 -0.3 0 10 20 30 1 1 1 DBC -1 -1 -1 0.2 2 2 0.3 0 0 7 "
                             "8 9\nsize 1.7\nground 0.2 -0.01\nselfFric 0.1\n";
  ASSERT_OK(noli_import_parse(context, text, strlen(text), "scene.txt", NULL, NULL, 0, &direct));
  ASSERT_OK(noli_scene_json(direct, &json));
  ASSERT_OK(noli_scene_parse(context, json, "scene.json", NULL, NULL, 0, &converted));
  assert_string_equal(noli_scene_name(direct), noli_scene_name(converted));
  assert_true(hash_after_ten_steps(context, direct) == hash_after_ten_steps(context, converted));
  noli_scene_free_text(context, &json);
  noli_scene_destroy(&direct);
  noli_scene_destroy(&converted);
  test_context_done(&context);
}

// ---- memory and broken text ---------------------------------------------------------------------

static const char thorough[] =
    "time 1 0.1\nshapes input 2\n" CUBE " initVel 0 0 0 0 1 0 NBC 0 0 0 1 1 1 0 1 0\n"
    "ipc_cube.msh 5 0 0 0 0 0 1 1 1 \\\n DBC 0 0 0 1 1 1 1 0 0 0 0 90 0.1 0.3\n"
    "shapeMatrix input 1 1 2 9 9 9\nipc_cube.obj 2 2 2 0 0 0 1 1 1\nsize 2\n"
    "rotateModel 0 0 1 30\nmeshCO ipc_cube.obj 0 9 0 2 0 0.5 rotate 1 2 3\nground 0.1 -1\n"
    "tol 1 1e-2\ntuning 1\n0\nscript null 1 2\n";

static void missing_memory_is_survived(void** state) {
  (void)state;
  TestMemory memory;
  NoliContext* context = test_context_on(&memory, 1);
  NoliStatus status = NOLI_ERROR_MEMORY;
  for (int64_t k = 1; k < 10000 && status != NOLI_OK; k++) {
    json_t* root = NULL;
    test_refuse(&memory, k);
    status = import(context, thorough, &root);
    assert_true(status == NOLI_OK || (status == NOLI_ERROR_MEMORY && root == NULL));
    json_decref(root);
  }
  ASSERT_OK(status);
  test_context_done(&context);
}

// Reading any truncated or changed file ends with a tree or a message.
static void broken_text_is_survived(void** state) {
  (void)state;
  TestRandom random = {7};
  NoliContext* context = test_context(1);
  for (int i = 0; i < 3000; i++) {
    char text[sizeof thorough];
    memcpy(text, thorough, sizeof text);
    for (int k = 0; k < 1 + i % 3; k++) {
      size_t place = (size_t)test_random(&random, 0.0, (double)sizeof thorough - 1.0);
      static const char letters[] = "0-.e \n\\#xN";
      text[place] = i % 5 == 0 ? '\0' : letters[test_random_bits(&random) % (sizeof letters - 1)];
    }
    json_t* root = NULL;
    NoliStatus status = import(context, text, &root);
    assert_true((status == NOLI_OK) == (root != NULL));
    json_decref(root);
  }
  test_context_done(&context);
}

int main(void) {
  make_meshes();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(errors_are_located),
      cmocka_unit_test(later_failures_name_the_conversion),
      cmocka_unit_test(what_has_no_meaning_is_logged),
      cmocka_unit_test(settings),
      cmocka_unit_test(values_that_fall_within_a_step),
      cmocka_unit_test(contact_pairs),
      cmocka_unit_test(placement),
      cmocka_unit_test(matrices_of_shapes),
      cmocka_unit_test(extras_of_shapes),
      cmocka_unit_test(sequences),
      cmocka_unit_test(named_motions),
      cmocka_unit_test(driven_shapes),
      cmocka_unit_test(let_go_behind_a_mesh),
      cmocka_unit_test(public_scenes),
      cmocka_unit_test(dolphin_and_funnel),
      cmocka_unit_test(rollers),
      cmocka_unit_test(twisted_rods),
      cmocka_unit_test(trash_compactor),
      cmocka_unit_test(converted_scenes_run_to_the_same_bits),
      cmocka_unit_test(missing_memory_is_survived),
      cmocka_unit_test(broken_text_is_survived),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
