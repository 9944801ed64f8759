// Motions and loads of scenes against closed forms.
#define _POSIX_C_SOURCE 200809L // pthread_create
#include "scene_support.h"

#include "noli/live.h"

#include <pthread.h>

#define H 0.1

// A scene whose obstacle, a square in the xz plane, follows a prescribed motion.
static NoliScene* moving(NoliContext* context, const char* motion) {
  char text[2000];
  snprintf(text, sizeof text,
           "{'time': {'steps': 1, 'step': 0.1}, 'bodies': [{'mesh': {'box': {}}}],"
           "'obstacles': [{'mesh': {'plane': {}}, 'translate': [2, 0, 0], 'motion': %s}]}",
           motion);
  NoliScene* scene = NULL;
  NoliStatus status = parse_quoted(context, text, &scene);
  if (status != NOLI_OK) {
    print_error("%s\n", noli_context_message(context));
  }
  assert_int_equal(status, NOLI_OK);
  return scene;
}

// The position of vertex `v` after `n_steps` steps from t0.
static void run_motion(const NoliScene* scene, double t0, int32_t n_steps, int32_t v,
                       double out[3]) {
  const NoliSimDef* def = noli_scene_sim_def(scene);
  const NoliMotionDef* motion = &def->motions[0];
  const NoliMesh* mesh = def->bodies[1].mesh;
  double x[12], next[12];
  int32_t node[4] = {0, 1, 2, 3};
  assert_int_equal(mesh->n_vert, 4);
  memcpy(x, mesh->x, sizeof x);
  for (int32_t i = 0; i < n_steps; i++) {
    motion->target(motion->user, t0 + H * i, t0 + H * (i + 1), 4, node, mesh->x, x, next);
    memcpy(x, next, sizeof x);
  }
  memcpy(out, x + 3 * v, 3 * sizeof *out);
}

typedef struct Motion {
  const char* motion;
  double t0;
  int32_t n_steps;
  double want[3]; // of the vertex that starts at (1.5, 0, -0.5)
} Motion;

static const Motion closed_forms[] = {
    {"{'displacement': ['t', 't^2', 'X*t']}", 0, 10, {2.5, 1, 1}},
    {"{'displacement': [1, 'sin(pi*t)', 0]}", 0, 5, {2.5, 1, -0.5}},
    {"{'displacement': [1, 'smoothstep(0, 2, t)', 'clamp(t, 0, 0.5)']}", 0, 10, {2.5, 0.5, 0}},
    {"{'velocity': [1, -2, 0]}", 0, 10, {2.5, -2, -0.5}},
    {"{'velocity': [0, 'cos(t)', '3*t^2']}", 0, 10, {1.5, 0.8414709848078965, 0.5}},
    {"{'velocity': ['Z', 0, 'X']}", 0, 10, {1.0, 0, 1.0}},
    // a velocity that jumps between steps
    {"{'velocity': ['t < 0.5 ? 1 : -1', 0, 0]}", 0, 8, {1.7, 0, -0.5}},
    // a quarter turn about y through the centre (2, 0, 0)
    {"{'rotation': {'axis': [0, 2, 0], 'speed': 90}}", 0, 10, {1.5, 0, 0.5}},
    {"{'rotation': {'axis': [0, 1, 0], 'angle': '90*t'}}", 0, 10, {1.5, 0, 0.5}},
    {"{'rotation': {'axis': [0, 1, 0], 'speed': '180*t'}}", 0, 10, {1.5, 0, 0.5}},
    {"{'rotation': {'axis': [0, -1, 0], 'angle': 90}}", 0, 1, {2.5, 0, -0.5}},
    {"{'rotation': {'axis': [0, 0, 1], 'origin': [0, 0, 0], 'speed': 90}}", 0, 10, {0, 1.5, -0.5}},
    {"{'rotation': {'axis': [0, 0, 1], 'origin': [0, 0, 7], 'angle': '90*t'}}",
     0,
     10,
     {0, 1.5, -0.5}},
    {"{'rotation': {'axis': [0, 1, 0], 'origin': 'box', 'speed': 90}}", 0, 10, {1.5, 0, 0.5}},
    // rolling: the centre goes along
    {"{'velocity': [0, 1, 0], 'rotation': {'axis': [0, 1, 0], 'origin': 'box', 'speed': 90}}",
     0,
     10,
     {1.5, 1, 0.5}},
    {"{'velocity': [0, 1, 0], 'rotation': {'axis': [0, 1, 0], 'speed': 90}}", 0, 10, {1.5, 1, 0.5}},
    {"{'velocity': [1, 0, 0], 'rotation': {'axis': [0, 1, 0], 'speed': 180}}",
     0,
     10,
     {3.5, 0, 0.5}},
    {"{'velocity': ['2*t', 0, 0], 'rotation': {'axis': [0, 1, 0], 'angle': '180*t'}}",
     0,
     10,
     {3.5, 0, 0.5}},
    {"{'displacement': ['t', 0, 0], 'rotation': {'axis': [0, 1, 0], 'speed': 180}}",
     0,
     10,
     {3.5, 0, 0.5}},
    // a motion that starts later: the integral of the speed starts there
    {"{'displacement': [0, 0, 0], 'from': 1, 'rotation': {'axis': [0, 1, 0], 'speed': 180}}",
     1,
     10,
     {2.5, 0, 0.5}},
    {"{'velocity': [1, 0, 0], 'from': 1, 'rotation': {'axis': [0, 1, 0], 'speed': "
     "'180*(t-0.5)'}}",
     1,
     10,
     {3.5, 0, 0.5}},
};

static void motions_match_closed_forms(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  for (size_t i = 0; i < sizeof closed_forms / sizeof *closed_forms; i++) {
    NoliScene* scene = moving(context, closed_forms[i].motion);
    double got[3];
    run_motion(scene, closed_forms[i].t0, closed_forms[i].n_steps, 0, got);
    double off = noli_larger(fabs(got[0] - closed_forms[i].want[0]),
                             noli_larger(fabs(got[1] - closed_forms[i].want[1]),
                                         fabs(got[2] - closed_forms[i].want[2])));
    if (!(off < 1e-9)) {
      print_error("%s: got %g %g %g, want %g %g %g\n", closed_forms[i].motion, got[0], got[1],
                  got[2], closed_forms[i].want[0], closed_forms[i].want[1],
                  closed_forms[i].want[2]);
      fail();
    }
    noli_scene_destroy(&scene);
  }
  test_context_done(&context);
}

// A motion about the box depends only on the current vertices: it starts at a place and with a
// shape other than those of the mesh, and rotates about the centre of its box there.
static void rotation_about_the_box_follows_the_vertices(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliScene* scene = moving(context, "{'velocity': [3, 0, '2*t'], 'rotation': {'axis': [0, 0, 2], "
                                     "'origin': 'box', 'speed': '90*t'}}");
  const NoliMotionDef* motion = &noli_scene_sim_def(scene)->motions[0];
  const double x[12] = {5, 1, 1, 9, 2, 1, 6, -3, 4, 7, 0, 2};
  const double centre[3] = {7, -0.5, 2.5};
  const int32_t node[4] = {3, 1, 0, 2};
  double got[12];
  motion->target(motion->user, 1.0, 1.2, 4, node, x, x, got);
  // 90 (t1^2 - t0^2) / 2 degrees
  double angle = 90.0 * 0.22 * 3.14159265358979323846 / 180.0;
  for (int v = 0; v < 4; v++) {
    double a = x[3 * v] - centre[0], b = x[3 * v + 1] - centre[1];
    ASSERT_NEAR(got[3 * v], centre[0] + 0.6 + cos(angle) * a - sin(angle) * b, 1e-12);
    ASSERT_NEAR(got[3 * v + 1], centre[1] + sin(angle) * a + cos(angle) * b, 1e-12);
    ASSERT_NEAR(got[3 * v + 2], x[3 * v + 2] + 0.44, 1e-12);
  }
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

static void ends_by_position_are_read(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliScene* scene = moving(context, "[{'hold': true}, {'hold': true, 'until': {'beyond': {"
                                     "'origin': [1, 2, 3], 'normal': [0, -2, 0]}}}]");
  const NoliMotionDef* motion = noli_scene_sim_def(scene)->motions;
  assert_false(motion[0].ends_beyond);
  assert_true(motion[1].ends_beyond);
  for (int i = 0; i < 3; i++) {
    ASSERT_NEAR(motion[1].end_origin[i], i + 1, 0.0);
    ASSERT_NEAR(motion[1].end_normal[i], i == 1 ? -2.0 : 0.0, 0.0);
  }
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

static void free_components_are_read(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliScene* scene = NULL;
  ASSERT_OK(parse_quoted(context,
                         "{'time': {'steps': 1}, 'bodies': [{'name': 'a', 'mesh': {'box': {}}}],"
                         "'prescribed': [{'body': 'a', 'motion': ["
                         "{'velocity': [0.5, 'free', 'X']},"
                         "{'displacement': ['sin(t)', 0, 'free']}, {'hold': true}]}]}",
                         &scene));
  static const bool want[3][3] = {{false, true, false}, {false, false, true}, {0}};
  const NoliMotionDef* motion = noli_scene_sim_def(scene)->motions;
  for (int m = 0; m < 3; m++) {
    for (int i = 0; i < 3; i++) {
      assert_int_equal(motion[m].free_axis[i], want[m][i]);
    }
  }
  const double X[3] = {2, 3, 4}, x[3] = {5, 6, 7};
  const int32_t node = 0;
  double got[3];
  motion[0].target(motion[0].user, 1.0, 1.5, 1, &node, X, x, got);
  ASSERT_NEAR(got[0], 5.25, 1e-14);
  ASSERT_NEAR(got[2], 8.0, 1e-14);
  motion[1].target(motion[1].user, 1.0, 1.5, 1, &node, X, x, got);
  ASSERT_NEAR(got[0], 2.0 + sin(1.5), 1e-14);
  ASSERT_NEAR(got[1], 3.0, 1e-14);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

static void controlled_motions_and_forces_are_read(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliScene* scene = NULL;
  ASSERT_OK(parse_quoted(
      context,
      "{'time': {'steps': 1}, 'bodies': [{'name': 'a', 'mesh': {'box': {}}, 'copies': {'count': 2,"
      "'translate': [3, 0, 0]}}], 'obstacles': [{'name': 'plate', 'mesh': {'plane': {}},"
      "'translate': [0, 9, 0], 'motion': {'controlled': true}}], 'prescribed': [{'body': 'a',"
      "'motion': {'controlled': true, 'name': 'hand', 'to': 3}}, {'body': 'a[0]', 'motion':"
      "{'hold': true}}], 'forces': [{'body': 'a[1]', 'name': 'push', 'total': 'controlled'},"
      "{'body': 'a', 'nodal': [1, 2, 3]}]}",
      &scene));
  const NoliSimDef* def = noli_scene_sim_def(scene);
  static const char* const names[] = {"plate", "hand_a[0]", "hand_a[1]", NULL};
  assert_int_equal(def->n_motions, 4);
  for (int m = 0; m < 4; m++) {
    assert_true(def->motions[m].controlled == (m < 3));
    assert_null(def->motions[m].target);
    assert_true(m == 3 ? def->motions[m].name == NULL
                       : strcmp(def->motions[m].name, names[m]) == 0);
  }
  ASSERT_NEAR(def->motions[1].t_end, 3.0, 0.0);
  assert_int_equal(def->n_forces, 3);
  assert_true(def->forces[0].controlled && def->forces[0].value == NULL);
  assert_string_equal(def->forces[0].name, "push");
  assert_string_equal(def->forces[0].kind, "total");
  assert_true(!def->forces[1].controlled && def->forces[1].value != NULL);

  // and a simulation takes them
  NoliSim* sim = NULL;
  ASSERT_OK(noli_sim_create(context, def, &sim));
  int32_t n_node = 0;
  assert_non_null(noli_sim_motion_targets(sim, noli_sim_find_motion(sim, "hand_a[1]"), &n_node));
  assert_int_equal(n_node, 125);
  noli_sim_destroy(&sim);
  noli_scene_destroy(&scene);
  ASSERT_STATUS(parse_quoted(context,
                             "{'time': {'steps': 1}, 'bodies': [{'mesh': {'box': {}}}],"
                             "'prescribed': [{'body': 'body_0', 'motion': {'controlled': true,"
                             "'hold': true}}]}",
                             &scene),
                NOLI_ERROR_FORMAT);
  test_context_done(&context);
}

// The evaluation of one of several threads.
typedef struct Evaluation {
  const NoliMotionDef* motion;
  const NoliForceDef* force;
  double t;
  int wrong;
} Evaluation;

static void* evaluate(void* user) {
  Evaluation* e = user;
  for (int k = 0; k < 2000; k++) {
    const double X[6] = {e->t, k, 2, 3, -k, e->t};
    double x[6], f[3];
    e->motion->target(e->motion->user, 0.0, e->t, 2, NULL, X, X, x);
    e->force->value(e->force->user, e->t, X, f);
    e->wrong += x[0] != 2.0 * e->t || x[4] != 0.0 || f[2] != e->t + e->t + k;
  }
  return NULL;
}

static void threads_take_turns(void** state) {
  (void)state;
  enum { N_THREADS = 4 };
  NoliContext* context = test_context(1);
  NoliScene* scene = NULL;
  ASSERT_OK(
      parse_quoted(context,
                   "{'time': {'steps': 1}, 'bodies': [{'name': 'a', 'mesh': {'box': {}}}],"
                   "'prescribed': [{'body': 'a', 'motion': {'displacement': ['t', '-Y', 0]}}],"
                   "'forces': [{'body': 'a', 'nodal': [0, 0, 't + X + Y']}]}",
                   &scene));
  const NoliSimDef* def = noli_scene_sim_def(scene);
  Evaluation evaluation[N_THREADS];
  pthread_t thread[N_THREADS];
  for (int i = 0; i < N_THREADS; i++) {
    evaluation[i] = (Evaluation){def->motions, def->forces, i + 1.0, 0};
    assert_int_equal(pthread_create(&thread[i], NULL, evaluate, &evaluation[i]), 0);
  }
  for (int i = 0; i < N_THREADS; i++) {
    assert_int_equal(pthread_join(thread[i], NULL), 0);
    assert_int_equal(evaluation[i].wrong, 0);
  }
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

static void motions_are_pure(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliScene* scene = moving(context, "{'velocity': ['sin(9*t)', 'X*t', 0]}");
  double first[3], other[3], second[3];
  run_motion(scene, 0.3, 1, 1, first);
  run_motion(scene, 0.7, 3, 2, other);
  run_motion(scene, 0.3, 1, 1, second);
  assert_memory_equal(first, second, sizeof first);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

static void rotation_keeps_the_shape(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliScene* scene = moving(
      context, "{'velocity': ['sin(t)', 1, 0], 'rotation': {'axis': [1, 2, 3], 'speed': '50+t'}}");
  double a[3], b[3], c[3];
  run_motion(scene, 0, 200, 0, a);
  run_motion(scene, 0, 200, 3, b);
  run_motion(scene, 0, 200, 1, c);
  double diagonal = 0.0, side = 0.0, centre[3];
  for (int i = 0; i < 3; i++) {
    diagonal += (a[i] - b[i]) * (a[i] - b[i]);
    side += (a[i] - c[i]) * (a[i] - c[i]);
    centre[i] = 0.5 * (a[i] + b[i]);
  }
  ASSERT_NEAR(sqrt(diagonal), sqrt(2.0), 1e-12);
  ASSERT_NEAR(sqrt(side), 1.0, 1e-12);
  // the centre moves by the integral of the velocity
  ASSERT_NEAR(centre[0], 2.0 + 1.0 - cos(20.0), 1e-9);
  ASSERT_NEAR(centre[1], 20.0, 1e-9);
  ASSERT_NEAR(centre[2], 0.0, 1e-9);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

// Writes a square at height `y`, preceded by a vertex that belongs to no triangle.
static void write_square(const char* path, double y) {
  FILE* file = fopen(path, "wb");
  assert_non_null(file);
  fprintf(file, "v 9 9 9\nv 0 %g 0\nv 1 %g 0\nv 0 %g 1\nv 1 %g 1\nf 2 4 3\nf 3 4 5\n", y, y, y, y);
  assert_int_equal(fclose(file), 0);
}

static void sequences_are_linear_between_frames(void** state) {
  (void)state;

  // three frames
  NoliContext* context = test_context(1);
  write_square("square_007.obj", 0);
  write_square("square_008.obj", 1);
  write_square("square_009.obj", 3);

  // as a pattern and as a list
  static const char* const files[] = {"'square_%03d.obj', 'first': 7",
                                      "['square_007.obj', 'square_008.obj', 'square_009.obj']"};
  for (size_t k = 0; k < 2; k++) {
    char text[1000];
    snprintf(text, sizeof text,
             "{'time': {'steps': 1}, 'bodies': [{'mesh': {'box': {}}}], 'obstacles': [{"
             "'mesh': 'square_007.obj', 'scale': 2, 'translate': [0, 10, 0],"
             "'motion': {'sequence': {'files': %s, 'fps': 2}, 'from': 1}}]}",
             files[k]);
    NoliScene* scene = NULL;
    ASSERT_OK(parse_quoted(context, text, &scene));
    const NoliSimDef* def = noli_scene_sim_def(scene);
    const NoliMesh* mesh = def->bodies[1].mesh;
    assert_int_equal(mesh->n_vert, 4);
    static const double times[6][2] = {{1, 10},    {1.25, 11}, {1.5, 12},
                                       {1.75, 14}, {2, 16},    {9, 16}};
    for (int i = 0; i < 6; i++) {
      double x_t1[12];
      def->motions[0].target(def->motions[0].user, times[i][0] - H, times[i][0], 4, NULL, mesh->x,
                             mesh->x, x_t1);
      for (int v = 0; v < 4; v++) {
        ASSERT_NEAR(x_t1[3 * v + 1], times[i][1], 1e-12);
        ASSERT_NEAR(x_t1[3 * v], mesh->x[3 * v], 1e-12);
      }
    }
    noli_scene_destroy(&scene);
  }

  // a frame with another mesh
  write_file("square_008.obj", "v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 2 3\n");
  NoliScene* scene = NULL;
  ASSERT_STATUS(
      parse_quoted(context,
                   "{'time': {'steps': 1}, 'bodies': [{'mesh': {'box': {}}}], 'obstacles': [{"
                   "'mesh': 'square_007.obj',\n'motion': {'sequence': {'files': "
                   "['square_008.obj'], 'fps': 2}}}]}",
                   &scene),
      NOLI_ERROR_FORMAT);
  assert_non_null(
      strstr(noli_context_message(context),
             "scene.json:2: obstacles[0].motion.sequence.files[0]: \"square_008.obj\" has "
             "3 vertices, the mesh that moves has 5"));
  remove("square_007.obj");
  remove("square_008.obj");
  remove("square_009.obj");
  test_context_done(&context);
}

static void expressions_know_their_functions(void** state) {
  (void)state;
  NoliContext* context = test_context(1);

  // expressions and their values
  static const struct {
    const char* expression;
    double want; // at t = 2, X = (3, 4, 5)
  } cases[] = {
      {"3.5", 3.5},
      {"'t'", 2},
      {"'X + 10*Y + 100*Z'", 543},
      {"'min(X, Y, t) + max(1, t)'", 4},
      {"'clamp(X, 0, 1) + clamp(-X, 0, 1) + clamp(0.5, 0, 1)'", 1.5},
      {"'smoothstep(0, 4, t)'", 0.5},
      {"'smoothstep(2, 2, t) + smoothstep(3, 3, t)'", 1},
      {"'cos(pi) + ln(e)'", 0},
      {"'t > 1 && X < 4 ? 7 : 8'", 7},
      {"'t == 2 ? 1 : 0'", 1},
      {"'-2^2'", -4},
      {"'sqrt(abs(-16)) * 1e-1'", 0.4},
  };

  // compare
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[1000];
    snprintf(text, sizeof text,
             "{'time': {'steps': 1}, 'bodies': [{'name': 'a', 'mesh': {'box': {}}}],"
             "'forces': [{'body': '*', 'nodal': [%s, 0, 0]}]}",
             cases[i].expression);
    NoliScene* scene = NULL;
    ASSERT_OK(parse_quoted(context, text, &scene));
    const NoliForceDef* force = &noli_scene_sim_def(scene)->forces[0];
    double value[3];
    const double X[3] = {3, 4, 5};
    force->value(force->user, 2.0, X, value);
    ASSERT_NEAR(value[0], cases[i].want, 1e-14);
    ASSERT_NEAR(value[1], 0.0, 0.0);
    noli_scene_destroy(&scene);
  }
  test_context_done(&context);
}

// A pressure is one number or expression, or controlled; a traction is a vector.
static void loads_on_faces_are_read(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliScene* scene = NULL;
  ASSERT_OK(parse_quoted(context,
                         "{'time': {'steps': 1}, 'bodies': [{'name': 'a', 'mesh': {'box': {}}}],"
                         "'forces': [{'body': 'a', 'pressure': '2*t + X'},"
                         "{'body': 'a', 'pressure': 'controlled'}, {'body': 'a', 'pressure': 7},"
                         "{'body': 'a', 'traction': [0, 't', 3]}]}",
                         &scene));
  const NoliForceDef* force = noli_scene_sim_def(scene)->forces;
  const char* const kinds[] = {"pressure", "pressure", "pressure", "traction"};
  const double want[4][3] = {{9.0, 0, 0}, {0}, {7.0, 0, 0}, {0, 3.0, 3.0}}, X[3] = {3, 4, 5};
  for (int i = 0; i < 4; i++) {
    double value[3] = {0};
    assert_string_equal(force[i].kind, kinds[i]);
    assert_true(force[i].controlled == (i == 1) && force[i].where != NULL);
    if (!force[i].controlled) {
      force[i].value(force[i].user, 3.0, X, value);
    }
    for (int k = 0; k < 3; k++) {
      ASSERT_NEAR(value[k], want[i][k], 1e-14);
    }
  }
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(motions_match_closed_forms),
      cmocka_unit_test(rotation_about_the_box_follows_the_vertices),
      cmocka_unit_test(ends_by_position_are_read),
      cmocka_unit_test(free_components_are_read),
      cmocka_unit_test(controlled_motions_and_forces_are_read),
      cmocka_unit_test(threads_take_turns),
      cmocka_unit_test(motions_are_pure),
      cmocka_unit_test(rotation_keeps_the_shape),
      cmocka_unit_test(sequences_are_linear_between_frames),
      cmocka_unit_test(expressions_know_their_functions),
      cmocka_unit_test(loads_on_faces_are_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
