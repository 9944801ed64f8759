// Bodies, selections, motions and fields of small PolyFEM scenes in the native ones.
#define FOLDER "polyfem_scene_parts"
#include "polyfem_support.h"

enum { TEXT = 4096 };

// The position in the mesh of entity `body` of the vertex next to `rest`, a point of the mesh file:
// the vertices keep their order, so all 27 vertices of the box are compared.
static void assert_placed(const NoliScene* scene, int32_t body, NoliContext* context,
                          const double A[3][3], const double b[3]) {
  NoliMesh* file = NULL;
  ASSERT_OK(noli_mesh_read(context, FOLDER "/box.msh", &file));
  const NoliMesh* mesh = noli_scene_sim_def(scene)->bodies[body].mesh;
  assert_int_equal(mesh->n_vert, file->n_vert);
  for (int32_t v = 0; v < mesh->n_vert; v++) {
    for (int i = 0; i < 3; i++) {
      double want = b[i];
      for (int k = 0; k < 3; k++) {
        want += A[i][k] * file->x[3 * v + k];
      }
      ASSERT_NEAR(mesh->x[3 * v + i], want, 1e-12);
    }
  }
  noli_mesh_destroy(context, &file);
}

static void place(NoliContext* context, const char* transformation, const double A[3][3],
                  const double b[3]) {
  char text[TEXT];
  snprintf(text, sizeof text, "{" HEAD "'geometry': [{'mesh': 'box.msh', 'transformation': %s}]}",
           transformation);
  json_t* tree;
  NoliScene* scene = load(context, text, &tree);
  assert_placed(scene, 0, context, A, b);
  json_decref(tree);
  noli_scene_destroy(&scene);
}

static void meshes_are_placed_as_there(void** state) {
  (void)state;

  // angles and their sines
  NoliContext* context = test_context(1);
  make_meshes(context);
  const double none[3] = {0};
  const double c = cos(0.4), s = sin(0.4), g = 0.4 * 180 / 3.14159265358979323846;
  char text[TEXT];
  place(context, "{'scale': 2, 'translation': [1, 2, 3]}",
        (const double[3][3]){{2, 0, 0}, {0, 2, 0}, {0, 0, 2}}, (double[3]){1, 2, 3});
  place(context, "{'dimensions': [3, 3, 3]}",
        (const double[3][3]){{3, 0, 0}, {0, 1.5, 0}, {0, 0, 0.75}}, none);

  // scale first; about x first, then z
  snprintf(text, sizeof text, "{'scale': [1, 2, 3], 'rotation': [90, 0, %.17g]}", g);
  place(context, text, (const double[3][3]){{c, 0, 3 * s}, {s, 0, -3 * c}, {0, 2, 0}}, none);

  // about z first, then x
  snprintf(text, sizeof text, "{'rotation': [90, 0, %.17g], 'rotation_mode': 'zyx'}", g);
  place(context, text, (const double[3][3]){{c, -s, 0}, {0, 0, -1}, {s, c, 0}}, none);
  snprintf(text, sizeof text, "{'rotation': %.17g, 'rotation_mode': 'y'}", g);
  place(context, text, (const double[3][3]){{c, 0, s}, {0, 1, 0}, {-s, 0, c}}, none);
  snprintf(text, sizeof text, "{'rotation': [%.17g, 0, 2, 0], 'rotation_mode': 'axis_angle'}", g);
  place(context, text, (const double[3][3]){{c, 0, s}, {0, 1, 0}, {-s, 0, c}}, none);
  snprintf(text, sizeof text, "{'rotation': [0, %.17g, 0], 'rotation_mode': 'rotation_vector'}", g);
  place(context, text, (const double[3][3]){{c, 0, s}, {0, 1, 0}, {-s, 0, c}}, none);
  snprintf(text, sizeof text, "{'rotation': [0, %.17g, 0, %.17g], 'rotation_mode': 'quaternion'}",
           3 * sin(0.2), 3 * cos(0.2));
  place(context, text, (const double[3][3]){{c, 0, s}, {0, 1, 0}, {-s, 0, c}}, none);

  // a third of a turn about the diagonal
  place(context, "{'rotation': [120, 1, 1, 1], 'rotation_mode': 'axis_angle'}",
        (const double[3][3]){{0, 0, 1}, {1, 0, 0}, {0, 1, 0}}, none);

  // Rz(50) Ry(40) Rx(30)
  const double r = acos(-1) / 180;
  const double c1 = cos(30 * r), s1 = sin(30 * r), c2 = cos(40 * r), s2 = sin(40 * r);
  const double c3 = cos(50 * r), s3 = sin(50 * r);
  place(context, "{'rotation': [30, 40, 50], 'rotation_mode': 'xyz'}",
        (const double[3][3]){{c3 * c2, c3 * s2 * s1 - s3 * c1, c3 * s2 * c1 + s3 * s1},
                             {s3 * c2, s3 * s2 * s1 + c3 * c1, s3 * s2 * c1 - c3 * s1},
                             {-s2, c2 * s1, c2 * c1}},
        none);
  test_context_done(&context);
}

static const char most_keys[] =
    "{'geometry': ["
    "{'mesh': 'box.msh', 'volume_selection': 3, 'unit': 'cm'},"
    "{'mesh': 'box.msh', 'volume_selection': 4, 'transformation': {'translation': [5, 0, 0]}},"
    "{'mesh': 'box.msh', 'enabled': false, 'n_refs': 0},"
    "{'mesh': 'plane.obj', 'is_obstacle': true, 'surface_selection': 9, 'transformation':"
    " {'dimensions': [8, 0, 8], 'translation': [0, -9, 0]}},"
    "{'mesh': 'plane.obj', 'type': 'mesh_array', 'is_obstacle': true, 'extract': 'points',"
    " 'array': {'offset': 2, 'size': [2, 1, 3], 'relative': true},"
    " 'transformation': {'translation': [0, -20, 0]}},"
    "{'type': 'ground', 'height': -30, 'is_obstacle': true}],"
    "'materials': [{'id': [3, 5], 'type': 'NeoHookean', 'E': {'value': 2, 'unit': 'MPa'},"
    " 'nu': 0.3, 'rho': 500}, {'id': 4, 'type': 'FixedCorotational', 'lambda': 1e5, 'mu': 2e5}],"
    "'time': {'tend': 3, 'time_steps': 120, 't0': 1, 'integrator': 'ImplicitNewmark'},"
    "'contact': {'enabled': true, 'dhat': {'value': 2, 'unit': 'mm'}, 'epsv': 0.004,"
    " 'friction_coefficient': 0.5},"
    "'solver': {'contact': {'friction_iterations': -1, 'barrier_stiffness': 1e7},"
    " 'nonlinear': {'max_iterations': 50}, 'advanced': {'lump_mass_matrix': false}},"
    "'initial_conditions': {'velocity': [{'id': 4, 'value': [1, -2, 0]}]},"
    "'boundary_conditions': {'rhs': [0, 9.81, 0], 'obstacle_displacements': "
    "[{'id': 9, 'value': [0, 't', 0]}]},"
    "'output': {'json': 'x.json', 'paraview': {'skip_frame': 5}}, 'tests': {'err_l2': 1}}";

static void everything_has_its_place_in_the_native_scene(void** state) {
  (void)state;
  TestLog log;
  NoliContext* context = test_context_log(&log);
  make_meshes(context);
  json_t* tree;
  NoliScene* scene = load(context, most_keys, &tree);

  // bodies and half-spaces
  const NoliSimDef* def = noli_scene_sim_def(scene);
  assert_int_equal(def->n_bodies, 2 + 1 + 6);
  assert_int_equal(def->n_half_spaces, 1);
  ASSERT_NEAR(def->half_spaces[0].origin[1], -30, 0);
  ASSERT_NEAR(def->gravity[1], -9.81, 0);

  // time
  ASSERT_NEAR(def->time_step, 2.0 / 120, 0);
  assert_int_equal(noli_scene_step_count(scene), 120);
  assert_string_equal(def->integrator, "trapezoidal");

  // materials and velocities
  ASSERT_NEAR(def->bodies[0].material.young, 2e6, 0);
  ASSERT_NEAR(def->bodies[0].material.density, 500, 0);
  ASSERT_NEAR(def->bodies[1].material.density, 1, 0);
  ASSERT_NEAR(def->bodies[1].material.young, 2e5 * 7e5 / 3e5, 1e-6);
  ASSERT_NEAR(def->bodies[1].material.poisson, 1.0 / 6, 1e-15);
  ASSERT_NEAR(def->bodies[1].velocity[1], -2, 0);

  // contact and solver
  ASSERT_NEAR(def->contact_distance.value, 2e-3, 0);
  ASSERT_NEAR(def->friction, 0.5, 0);
  ASSERT_NEAR(def->friction_speed.value, 0.004, 0);
  assert_int_equal(def->friction_iterations, NOLI_FRICTION_UNTIL_CONVERGENCE);
  ASSERT_NEAR(def->barrier_stiffness, 1e7, 0);
  assert_int_equal(def->max_iterations, 50);

  // output and names
  assert_int_equal(noli_scene_output(scene).frame_interval, 5);
  ASSERT_NEAR(number(at(tree, "bodies", 0), "scale"), 0.01, 0);
  assert_string_equal(json_string_value(json_object_get(at(tree, "bodies", 1), "name")), "box_2");

  // a flat mesh keeps its thickness of 0
  ASSERT_NEAR(component(at(tree, "obstacles", 0), "scale", 0), 4, 0);
  ASSERT_NEAR(component(at(tree, "obstacles", 0), "scale", 1), 1, 0);
  ASSERT_NEAR(component(at(tree, "obstacles", 0), "scale", 2), 8.0 / 3, 1e-15);

  // the obstacle moves by t, which starts at 1
  double X[3] = {0}, out[3];
  int32_t node = 0;
  def->motions[0].target(def->motions[0].user, 0, 0.5, 1, &node, X, X, out);
  ASSERT_NEAR(out[1], 1.5, 1e-15);

  // rows of three, each 6 further in z, two of them 4 apart in x
  const NoliMesh *first = def->bodies[3].mesh, *last = def->bodies[8].mesh;
  ASSERT_NEAR(last->x[0] - first->x[0], 4, 1e-14);
  ASSERT_NEAR(last->x[2] - first->x[2], 12, 1e-14);
  assert_int_equal(first->n_tri, 0);
  assert_int_equal(first->n_point, 4);

  // the log
  assert_non_null(strstr(log.text, "lumps the mass of linear elements"));
  assert_non_null(strstr(log.text, "output/json"));
  assert_null(strstr(log.text, "tests"));
  json_decref(tree);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

// The vertices of box.msh that a selection gives to condition 1; -1: no condition is made.
static int64_t count_selected(NoliContext* context, const char* selections, bool* all) {
  char text[TEXT];
  snprintf(text, sizeof text,
           "{" HEAD "'geometry': [{'mesh': 'box.msh', %s}], 'boundary_conditions': "
           "{'dirichlet_boundary': [{'id': 1, 'value': [0, 0, 0]}]}}",
           selections);
  json_t* tree;
  NoliScene* scene = load(context, text, &tree);
  const json_t* prescribed = json_object_get(tree, "prescribed");
  int64_t n = -1;
  *all = false;
  if (json_array_size(prescribed) > 0) {
    const json_t* select = json_object_get(json_array_get(prescribed, 0), "select");
    *all = json_is_string(select);
    n = (int64_t)json_array_size(json_object_get(select, "vertices"));
  }
  json_decref(tree);
  noli_scene_destroy(&scene);
  return n;
}

static void selections_take_faces_by_their_barycentres(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  make_meshes(context);

  // 2 x 2 x 2 cells of 0.5 x 1 x 2 from (0, 0, 0) to (1, 2, 4); each side has 9 vertices
  static const struct {
    const char* selections;
    int64_t n;
  } cases[] = {
      {"'surface_selection': 1", 26},
      {"'surface_selection': 2", -1},
      {"'surface_selection': [{'id': 1, 'axis': 2, 'position': 1.999}]", 9},
      {"'surface_selection': [{'id': 1, 'axis': '-x', 'position': 0.001}]", 9},
      {"'surface_selection': [{'id': 1, 'axis': 'x', 'position': 0.999, 'relative': true}]", 9},
      // barycentres of the upper sides lie at 1.33 and above: 18 vertices of y >= 1, the middle
      // free
      {"'surface_selection': [{'id': 1, 'axis': 'y', 'position': 1}]", 17},
      {"'surface_selection': [{'id': 1, 'box': [[-1, -1, 3.9], [2, 3, 5]]}]", 9},
      {"'surface_selection': [{'id': 1, 'box': [[0, 0, 0.99], [1, 1, 1]], 'relative': true}]", 9},
      {"'surface_selection': [{'id': 1, 'center': [0.5, 1, 0], 'radius': 0.8}]", 9},
      {"'surface_selection': [{'id': 1, 'p1': [0.5, 1, -1], 'p2': [0.5, 1, 0.1], 'radius': 2}]", 9},
      {"'surface_selection': [{'id': 1, 'point': [0, 0, 3.99], 'normal': [0, 0, 5]}]", 9},
      {"'surface_selection': [{'id': 1, 'normal': [0, 0, 1], 'offset': 3.99}]", 9},
      // the first that holds a face counts
      {"'surface_selection': [{'id': 7, 'axis': 3, 'position': 3.999}, {'id': 1}]", 25},
      {"'surface_selection': {'threshold': 1e-3}", 9},
      {"'surface_selection': {'threshold': 1e-3, 'id_offset': -5}", 9},
      {"'surface_selection': {'threshold': 1e-3, 'id_offset': 5}", -1},
      {"'point_selection': [{'id': 1, 'center': [0, 0, 0], 'radius': 0.1}]", 1},
      {"'point_selection': [{'id': 1, 'center': [0.5, 1, 2], 'radius': 0.1}]", -1},
      {"'point_selection': [{'id': 1, 'center': [0.5, 1, 2], 'radius': 0.1, 'boundary_only': false}"
       "]",
       1},
      {"'surface_selection': [{'id': 1, 'axis': 3, 'position': 3.999}], "
       "'point_selection': [{'id': 1, 'axis': 3, 'position': 1}]",
       17},
  };

  // count the vertices of each
  bool all;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    int64_t n = count_selected(context, cases[i].selections, &all);
    if (n != cases[i].n || all) {
      print_error("%s: %lld vertices, want %lld\n", cases[i].selections, (long long)n,
                  (long long)cases[i].n);
      fail();
    }
  }

  // the complete selection
  (void)count_selected(context, "'point_selection': [{'id': 1, 'boundary_only': false}]", &all);
  assert_false(all && count_selected(context, "'point_selection': 1", &all) != 26);
  test_context_done(&context);
}

// The displacement that the first motion gives at time t, at X.
static void assert_motion(NoliContext* context, const char* condition, double t,
                          const double want[3]) {
  char text[TEXT];
  snprintf(text, sizeof text,
           "{" HEAD "'geometry': [{'mesh': 'box.msh', 'surface_selection': 1}],"
           "'boundary_conditions': {'dirichlet_boundary': {'id': 1, %s}}}",
           condition);
  json_t* tree;
  NoliScene* scene = load(context, text, &tree);
  const NoliMotionDef* motion = &noli_scene_sim_def(scene)->motions[0];
  double X[3] = {0.25, -0.5, 2}, out[3];
  int32_t node = 0;
  motion->target(motion->user, t - 0.1, t, 1, &node, X, X, out);
  for (int i = 0; i < 3; i++) {
    if (motion->free_axis[i] || isnan(want[i])) {
      assert_true(motion->free_axis[i] && isnan(want[i]));
    } else {
      ASSERT_NEAR(out[i] - X[i], want[i], 1e-13);
    }
  }
  json_decref(tree);
  noli_scene_destroy(&scene);
}

static void conditions_become_motions(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  make_meshes(context);
  double t = 0.7, x = 0.25, y = -0.5;
  assert_motion(context, "'value': [0, 'max(-8.9 / 7 * t, -8.9)', 2]", t, (double[3]){0, -0.89, 2});
  assert_motion(context, "'value': ['min(0.5*t, 10)', 0, 0], 'dimension': [true, false, false]", t,
                (double[3]){0.35, NAN, NAN});
  assert_motion(context,
                "'value': ['rotate_2D_x(x, y + 1, t * pi / 2) - x', '-y^2', {'value': 3, 'unit': "
                "'mm'}]",
                t, (double[3]){x * cos(t * acos(0)) - (y + 1) * sin(t * acos(0)) - x, y * y, 3e-3});
  assert_motion(context, "'value': [1, 'x', 0], 'interpolation': [{'type': 'linear'}]", t,
                (double[3]){t, x * t, 0});
  assert_motion(context,
                "'value': [1, '1 + x', 2], 'interpolation': [{'type': 'linear_ramp', 'from': 0.5, "
                "'to': 1}, {'type': 'none'}, {'type': 'piecewise_linear', 'points': [0, 0.5, 1], "
                "'values': [0, 1, -1]}]",
                t, (double[3]){0.2, 1 + x, 2 * (1 - 4 * 0.2)});
  assert_motion(context,
                "'value': [1, 1, 1], 'interpolation': [{'type': 'piecewise_constant', 'points': "
                "[0, 0.5, 1], 'values': [3, -1, 4]}, {'type': 'piecewise_linear', 'points': [0, "
                "0.5], 'values': [1, 2], 'extend': 'extrapolate'}, {'type': 'piecewise_linear', "
                "'points': [1, 2], 'values': [-1, 2], 'extend': 'extrapolate'}]",
                t, (double[3]){-1, 1 + 2 * t, -1 + 3 * (t - 1)});
  test_context_done(&context);
}

static void conditions_without_vertices_are_told(void** state) {
  (void)state;
  TestLog log;
  NoliContext* context = test_context_log(&log);
  make_meshes(context);
  json_t* tree;
  NoliScene* scene = load(context,
                          "{" HEAD "'geometry': [{'mesh': 'box.msh', 'surface_selection': 1}],\n"
                          "'boundary_conditions': {'dirichlet_boundary': [{'id': 1, 'value': "
                          "[0, 0, 0]},\n{'id': 2, 'value': [0, 0, 0]}]}}",
                          &tree);
  assert_int_equal(noli_scene_sim_def(scene)->n_motions, 1);
  assert_non_null(strstr(log.text, "scene.json:3: boundary_conditions.dirichlet_boundary[1]: "
                                   "holds nothing"));
  assert_null(strstr(log.text, "dirichlet_boundary[0]"));
  json_decref(tree);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

static void body_forces_in_time_become_a_field(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  make_meshes(context);
  json_t* tree;
  NoliScene* scene = load(context,
                          "{" HEAD "'geometry': [{'mesh': 'box.msh'}],"
                          "'boundary_conditions': {'rhs': ['1 - t', 9.81, 'x*t']}}",
                          &tree);
  const NoliSimDef* def = noli_scene_sim_def(scene);
  assert_int_equal(def->n_forces, 1);
  ASSERT_NEAR(def->gravity[1], 0, 0);
  double X[3] = {3, 0, 0}, value[3];
  def->forces[0].value(def->forces[0].user, 0.25, X, value);
  ASSERT_NEAR(value[0], -0.75, 0);
  ASSERT_NEAR(value[1], -9.81, 0);
  ASSERT_NEAR(value[2], -0.75, 0);
  json_decref(tree);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(meshes_are_placed_as_there),
      cmocka_unit_test(everything_has_its_place_in_the_native_scene),
      cmocka_unit_test(selections_take_faces_by_their_barycentres),
      cmocka_unit_test(conditions_become_motions),
      cmocka_unit_test(conditions_without_vertices_are_told),
      cmocka_unit_test(body_forces_in_time_become_a_field),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
