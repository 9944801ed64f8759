// PolyFEM scenes become native ones: public scenes, figures of small ones, and located refusals.
#define FOLDER "polyfem_scenes"
#include "polyfem_support.h"

#include "import/import.h"

enum { TEXT = 4096 };

// ---- public scenes ------------------------------------------------------------------------------

#define EXAMPLES "polyfem/contact/examples/3D/"
#define FLAT "polyfem/contact/examples/2D/"

// `reason` is part of the message; NULL: the scene is read.
static const struct {
  const char *file, *reason;
} public_scenes[] = {
    {EXAMPLES "codimensional/mat-knives.json", NULL},
    {EXAMPLES "codimensional/pin-cushion-ball.json", NULL},
    {EXAMPLES "friction/arch.json", NULL},
    {EXAMPLES "friction/armadillo-roller.json", NULL},
    {EXAMPLES "friction/ball-rollers.json", NULL},
    {EXAMPLES "friction/high-school-physics-slopetest-mu=0.49.json", NULL},
    {EXAMPLES "friction/high-school-physics-slopetest-mu=0.50.json", NULL},
    {EXAMPLES "large-ratios/large-mass-ratio.json", NULL},
    {EXAMPLES "large-ratios/large-stiffness-ratio.json", NULL},
    {EXAMPLES "large-ratios/sphere-mat.json", NULL},
    {EXAMPLES "stress-tests/dolphin-funnel.json", NULL},
    {EXAMPLES "stress-tests/dolphin-funnel-Linf.json", NULL},
    {EXAMPLES "stress-tests/mat-twist.json", NULL},
    {EXAMPLES "stress-tests/mat-twist-Linf.json", NULL},
    {EXAMPLES "stress-tests/rod-twist.json", NULL},
    {EXAMPLES "stress-tests/squeeze-out.json", NULL},
    {EXAMPLES "stress-tests/spheres_collide-P1.json",
     "spheres_collide-common.json:59: materials[0].type: law \"MaterialSum\" is not there"},
    {EXAMPLES "stress-tests/spheres_collide-P2.json", "law \"MaterialSum\" is not there"},
    {EXAMPLES "stress-tests/spheres_collide-P3.json", "law \"MaterialSum\" is not there"},
    {EXAMPLES "static/two-cubes.json", "static problems are not there yet"},
    {EXAMPLES "higher-order/golf-ball-P1.json", NULL},
    {EXAMPLES "higher-order/golf-ball-P2.json", NULL},
    {EXAMPLES "higher-order/microstructure.json", NULL},
    {EXAMPLES "higher-order/ball-bounce/P1.json", NULL},
    {EXAMPLES "higher-order/ball-bounce/P2.json", NULL},
    {EXAMPLES "higher-order/ball-bounce/P4-dt=0.01.json", NULL},
    {"polyfem/gcp-contact/parallel-edge/run.json", NULL},
    {"polyfem/gcp-contact/cube-on-floor/run.json", NULL},
    {FLAT "golf-ball.json", NULL},
    {FLAT "friction/arch.json", NULL},
    {FLAT "friction/circle-rollers.json", NULL},
    {FLAT "friction/high-school-physics-slopetest-mu=0.49.json", NULL},
    {FLAT "friction/moving-ground.json", NULL},
    {FLAT "friction/rotating-slope.json", NULL},
    {FLAT "large-ratios/circle-mat.json", NULL},
    {FLAT "unit-tests/5-squares.json", NULL},
    {FLAT "unit-tests/vertex-edge.json", NULL},
    {FLAT "codimensional/pin-cushion-ball.json", NULL},
    {FLAT "codimensional/disk-codim-points.json", NULL},
    {FLAT "convergence/sliding-spike.json", "another contact model"},
    {FLAT "initial_angular_velocity.json", "velocity[0].value[0]: must be a number"},
};

static void public_scenes_are_read_or_refused_with_reason(void** state) {
  (void)state;
  int n_read = 0, n_refused = 0, n_missing = 0;

  // import each scene of the public data
  for (size_t i = 0; i < sizeof public_scenes / sizeof *public_scenes; i++) {
    char path[500];
    if (test_data(public_scenes[i].file, path, sizeof path) == NULL) {
      n_missing++;
      continue;
    }
    NoliContext* context = test_context(1);
    NoliScene* scene = NULL;
    NoliStatus status = noli_import_load(context, path, NULL, 0, &scene);
    const char* message = noli_context_message(context);

    // some meshes are not public
    if (public_scenes[i].reason == NULL && status == NOLI_ERROR_FORMAT &&
        strstr(message, "cannot be opened: No such file") != NULL) {
      print_message("SKIPPED: %s\n", message);
      n_missing++;
    } else if (public_scenes[i].reason == NULL) {
      if (status != NOLI_OK) {
        print_error("%s\n", message);
      }
      ASSERT_OK(status);
      n_read++;

      // others are refused with the expected reason
    } else {
      ASSERT_STATUS(status, NOLI_ERROR_FORMAT);
      if (strstr(message, public_scenes[i].reason) == NULL) {
        print_error("%s: got \"%s\"\n", public_scenes[i].file, message);
        fail();
      }
      n_refused++;
    }
    noli_scene_destroy(&scene);
    test_context_done(&context);
  }

  // without data there is no result
  print_message("%d read, %d refused, %d missing\n", n_read, n_refused, n_missing);
  if (n_read + n_refused == 0) {
    skip();
  }
}

// A block in a plane on a slope of tan 0.5, public scenes: at mu 0.49 it slides with g (sin - mu
// cos), at 0.50 it is slower than the limit of sticking.
static void flat_slopes_slide_and_hold(void** state) {
  (void)state;
  static const char* const names[] = {FLAT "friction/high-school-physics-slopetest-mu=0.49.json",
                                      FLAT "friction/high-school-physics-slopetest-mu=0.50.json"};
  const double sine = 1.0 / sqrt(5.0), cosine = 2.0 / sqrt(5.0);
  for (int i = 0; i < 2; i++) {
    char path[500];
    if (test_data(names[i], path, sizeof path) == NULL) {
      skip();
    }
    NoliContext* context = test_context(1);
    NoliScene* scene = NULL;
    NoliSim* sim = NULL;
    NoliStepReport report = {0};
    const NoliSceneOverride change[] = {{"solver.tolerance", "1e-7"}, {"debug.audit", "true"}};
    ASSERT_OK(noli_import_load(context, path, change, 2, &scene));
    ASSERT_OK(noli_sim_create(context, noli_scene_sim_def(scene), &sim));
    for (int64_t s = 0; s < noli_scene_step_count(scene); s++) {
      ASSERT_OK(noli_sim_step(sim, &report));
    }
    double want = i == 0 ? 9.81 * (sine - 0.49 * cosine) * report.time : 0.0;
    print_message("%s: %.6f m/s after %g s, want %.6f\n", names[i], report.max_speed, report.time,
                  want);
    ASSERT_NEAR(report.max_speed, want, i == 0 ? 1e-3 * want : 1e-5);
    noli_sim_destroy(&sim);
    noli_scene_destroy(&scene);
    test_context_done(&context);
  }
}

// ---- small scenes -------------------------------------------------------------------------------

// Where the mesh of entity `body` has its vertex next to `rest`, a point of the mesh file: the
// vertices keep their order, so the box of file 27 vertices is compared as a whole.
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

static void everything_has_its_place_in_the_native_scene(void** state) {
  (void)state;

  // a scene with most of the keys
  SceneLog log;
  NoliContext* context = logging_context(&log);
  make_meshes(context);
  json_t* tree;
  NoliScene* scene = load(
      context,
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
      "'output': {'json': 'x.json', 'paraview': {'skip_frame': 5}}, 'tests': {'err_l2': 1}}",
      &tree);

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
  SceneLog log;
  NoliContext* context = logging_context(&log);
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

static void integrators_have_counterparts(void** state) {
  (void)state;
  static const char* const pairs[][2] = {
      {"'ImplicitEuler'", "backward_euler"},
      {"'BDF1'", "backward_euler"},
      {"{'type': 'BDF', 'steps': 1}", "backward_euler"},
      {"{'type': 'BDF', 'steps': 2}", "bdf2"},
      {"'BDF2'", "bdf2"},
      {"{'type': 'ImplicitEuler'}", "backward_euler"},
      {"{'type': 'BDF'}", "backward_euler"},
      {"{'type': 'ImplicitNewmark'}", "trapezoidal"},
      {"{'type': 'ImplicitNewmark', 'beta': 0.25, 'gamma': 0.5}", "trapezoidal"},
  };
  NoliContext* context = test_context(1);
  make_meshes(context);
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    char text[SCENE_TEXT];
    snprintf(text, sizeof text,
             "{'time': {'tend': 1, 'dt': 0.1, 'integrator': %s}, 'geometry': [{'mesh': 'box.msh'}],"
             "'materials': {'type': 'NeoHookean', 'E': 1e5, 'nu': 0.3},"
             "'contact': {'enabled': true, 'dhat': 0.01}}",
             pairs[i][0]);
    json_t* tree = NULL;
    NoliScene* scene = load(context, text, &tree);
    assert_string_equal(noli_scene_sim_def(scene)->integrator, pairs[i][1]);
    json_decref(tree);
    noli_scene_destroy(&scene);
  }
  test_context_done(&context);
}

// 0.75 * ratio * h^3, or as given; entries add up.
static void damping_of_elasticity_belongs_to_the_materials(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  make_meshes(context);
  char text[SCENE_TEXT];
  quoted("{" HEAD "'geometry': [{'mesh': 'box.msh'}], 'solver': {'rayleigh_damping': ["
         "{'form': 'elasticity', 'stiffness_ratio': 0.4, 'lagging_iterations': 1},"
         "{'form': 'elasticity', 'stiffness': 0.01}]}}",
         text);
  json_error_t error;
  json_t *parsed = json_loads(text, 0, &error), *native = NULL;
  NoliSceneSource source = {.context = context,
                            .name = "scene.json",
                            .text = text,
                            .size = strlen(text),
                            .directory = FOLDER};
  ASSERT_OK(noli_import_polyfem(&source, parsed, &native));
  json_t* material = json_object_get(at(native, "bodies", 0), "material");
  ASSERT_NEAR(number(material, "damping"), 0.75 * 0.4 * 1e-3 + 0.01, 1e-16);
  json_decref(parsed);
  json_decref(native);
  test_context_done(&context);
}

// Without "dhat" it is 1e-3, unless edges are shorter.
static void the_contact_distance_follows_the_shortest_edge(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  make_meshes(context);
  for (int i = 0; i < 2; i++) {
    char text[TEXT];
    double scale = i == 0 ? 1.0 : 1e-3;
    snprintf(text, sizeof text,
             "{'time': {'tend': 1, 'dt': 0.1}, 'materials': {'type': 'NeoHookean', 'E': 1, 'nu': "
             "0}, 'contact': {'enabled': true}, 'geometry': [{'mesh': 'box.msh', "
             "'transformation': {'scale': %g}}]}",
             scale);
    json_t* tree;
    NoliScene* scene = load(context, text, &tree);
    ASSERT_NEAR(noli_scene_sim_def(scene)->contact_distance.value, i == 0 ? 1e-3 : 0.8 * 0.5e-3,
                1e-16);
    json_decref(tree);
    noli_scene_destroy(&scene);
  }
  test_context_done(&context);
}

// ---- files --------------------------------------------------------------------------------------

static void common_files_are_merged_and_patched(void** state) {
  (void)state;

  // the outermost file wins over the middle one, which patches the base
  NoliContext* context = test_context(1);
  make_meshes(context);
  write_quoted(FOLDER "/inner/base.json",
               "{'geometry': [{'mesh': 'box.msh'}, {'mesh': 'plane.obj', 'is_obstacle': true,"
               " 'transformation': {'translation': [0, -3, 0]}}], 'contact': {'enabled': true,"
               " 'dhat': 0.5, 'friction_coefficient': 0.7},\n"
               "'materials': {'type': 'NeoHookean', 'E': 1, 'nu': 0.3},\n"
               "'time': {'tend': 1, 'dt': 0.1}}");
  write_quoted(FOLDER "/inner/middle.json",
               "{'common': 'base.json', 'contact': {'dhat': 0.25}, 'patch': [\n"
               "{'op': 'replace', 'path': '/materials/E', 'value': 77},\n"
               "{'op': 'remove', 'path': '/geometry/1'},\n"
               "{'op': 'add', 'path': '/geometry/0/transformation', 'value': {'scale': 2}},\n"
               "{'op': 'test', 'path': '/time/dt', 'value': 0.1}]}");
  json_t* tree;
  NoliScene* scene = load(context,
                          "{'common': 'inner/middle.json', 'time': {'dt': 0.05},"
                          "'contact': {'friction_coefficient': null}}",
                          &tree);

  // the result of all three
  const NoliSimDef* def = noli_scene_sim_def(scene);
  ASSERT_NEAR(def->time_step, 0.05, 0);
  ASSERT_NEAR(def->contact_distance.value, 0.25, 0);
  ASSERT_NEAR(def->bodies[0].material.young, 77, 0);
  ASSERT_NEAR(def->friction, 0, 0);
  assert_int_equal(def->n_bodies, 1);
  ASSERT_NEAR(number(at(tree, "bodies", 0), "scale"), 2, 0);
  json_decref(tree);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

// dhat^(n-1) / 1.5 converts the stiffness of the geometric contact potential, n the dimension.
static void the_geometric_potential_keeps_its_parameters(void** state) {
  (void)state;
  static const char* const bodies[] = {
      "'geometry': [{'mesh': 'sheet.obj'}], 'boundary_conditions': {'rhs': [0, 9.81]}",
      "'geometry': [{'mesh': 'box.msh'}]"};
  NoliContext* context = test_context(1);
  make_meshes(context);
  for (int i = 0; i < 2; i++) {
    char text[TEXT];
    snprintf(text, sizeof text,
             "{'time': {'tend': 1, 'dt': 0.1}, 'materials': {'type': 'NeoHookean', 'E': 1, 'nu': "
             "0}, 'contact': {'enabled': true, 'dhat': 0.02, 'use_gcp_formulation': true, "
             "'alpha_t': 0.3, 'alpha_n': 0.2, 'use_adaptive_dhat': %s, 'min_distance_ratio': "
             "0.5}, 'solver': {'contact': {'barrier_stiffness': 600}}, %s}",
             i == 0 ? "true" : "false", bodies[i]);
    json_t* tree;
    NoliScene* scene = load(context, text, &tree);
    const NoliSimDef* def = noli_scene_sim_def(scene);
    assert_string_equal(def->contact_model, "gcp");
    ASSERT_NEAR(def->gcp.eps_target.value, 0.02, 0);
    ASSERT_NEAR(def->gcp.alpha, 0.3, 0);
    ASSERT_NEAR(def->gcp.beta, 0.2, 0);
    assert_true(def->gcp.act_at_rest == (i == 1));
    ASSERT_NEAR(def->barrier_stiffness, i == 0 ? 8.0 : 0.16, 1e-15);
    json_decref(tree);
    noli_scene_destroy(&scene);
  }
  test_context_done(&context);
}

// The moduli in space whose lambda and mu are those of PolyFEM in a plane: E nu / (1 - nu^2), E / 2
// (1 + nu).
static void assert_plane_moduli(const NoliMaterialDef* material, double young, double poisson) {
  double mu = material->young / (2.0 * (1.0 + material->poisson));
  double lambda = 2.0 * mu * material->poisson / (1.0 - 2.0 * material->poisson);
  ASSERT_NEAR(mu, young / (2.0 * (1.0 + poisson)), 1e-12 * young);
  ASSERT_NEAR(lambda, young * poisson / (1.0 - poisson * poisson), 1e-12 * young);
}

static void scenes_in_a_plane_become_plane_strain(void** state) {
  (void)state;

  // a scene in a plane with most of the keys
  NoliContext* context = test_context(1);
  make_meshes(context);
  json_t* tree;
  NoliScene* scene = load(
      context,
      "{'time': {'tend': 1, 'dt': 0.1}, 'contact': {'enabled': true}, 'geometry': [{'mesh': "
      "'sheet.obj', 'volume_selection': 1, 'surface_selection': {'threshold': 1e-3}, "
      "'transformation': {'scale': [0.5, 2], 'rotation': 90, 'translation': [7, 1]}}, {'mesh': "
      "'sheet.obj', 'volume_selection': 2, 'transformation': {'translation': [0, 20], "
      "'dimensions': [1, 1]}}, {'mesh': 'sheet.obj', 'is_obstacle': true, 'type': 'mesh_array', "
      "'array': {'size': [1, 3], 'offset': 2, 'relative': true}, 'transformation': "
      "{'translation': [20, 0]}}, {'type': 'plane', 'point': [0, -9], 'normal': [0, 1], "
      "'is_obstacle': true}], 'materials': [{'id': 1, 'type': 'NeoHookean', 'E': 5, 'nu': 0.4}, "
      "{'id': 2, 'type': 'NeoHookean', 'lambda': 3, 'mu': 2}], 'boundary_conditions': {'rhs': [1, "
      "2], 'dirichlet_boundary': [{'id': 2, 'value': [0, 't']}, {'id': 4, 'value': [0, 0], "
      "'dimension': [true, false]}]}, 'initial_conditions': {'velocity': [{'id': 2, 'value': [3, "
      "4]}]}}",
      &tree);
  const NoliSimDef* def = noli_scene_sim_def(scene);

  // two bodies and three copies of the obstacle
  assert_int_equal(def->n_bodies, 5);
  for (int i = 0; i < 5; i++) {
    ASSERT_NEAR(def->bodies[i].plane_strain, 1.0, 0);
  }

  // materials, velocities and gravity
  assert_plane_moduli(&def->bodies[0].material, 5.0, 0.4);
  ASSERT_NEAR(def->bodies[1].material.poisson, 3.0 / (2.0 * 5.0), 1e-15);
  ASSERT_NEAR(def->bodies[1].velocity[1], 4.0, 0);
  ASSERT_NEAR(def->gravity[0], -1.0, 0);
  ASSERT_NEAR(def->gravity[1], -2.0, 0);
  ASSERT_NEAR(def->gravity[2], 0.0, 0);

  // the corner (-1, -2) of 2 x 4, made 1 x 8, turned and moved
  ASSERT_NEAR(def->bodies[0].mesh->x[0], 7.0 + 4.0, 1e-12);
  ASSERT_NEAR(def->bodies[0].mesh->x[1], 1.0 - 0.5, 1e-12);
  ASSERT_NEAR(def->half_spaces[0].origin[1], -9.0, 0);

  // the lower side moves up; the upper side keeps x; bottom first, as the vertices come
  json_t* motion = json_object_get(at(tree, "prescribed", 0), "motion");
  json_t* up = json_object_get(motion, "displacement");
  ASSERT_NEAR(json_number_value(json_array_get(up, 0)), 0.0, 0);
  assert_string_equal(json_string_value(json_array_get(up, 1)), "t");
  json_t* side =
      json_object_get(json_object_get(at(tree, "prescribed", 1), "motion"), "displacement");
  assert_string_equal(json_string_value(json_array_get(side, 1)), "free");
  json_t* list = json_object_get(json_object_get(at(tree, "prescribed", 1), "select"), "vertices");
  assert_int_equal(json_array_size(list), 3);
  json_decref(tree);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

static void refusals_name_file_line_and_path(void** state) {
  (void)state;

  // the geometric contact potential
  NoliContext* context = test_context(1);
  make_meshes(context);
  static const char* const geometric[][2] = {
      {"'alpha_t': 0", ":2: contact.alpha_t: Noli takes numbers in (0, 1], got 0"},
      {"'alpha_n': -0.5", ":2: contact.alpha_n: Noli takes numbers in (0, 1], got -0.5"},
      {"'beta_t': 0.1", ":2: contact.beta_t: Noli has no offset of the smooth step"},
      {"'use_adaptive_dhat': true, 'min_distance_ratio': 0.3",
       ":2: contact.min_distance_ratio: Noli reaches half the distance at rest"}};
  for (size_t i = 0; i < sizeof geometric / sizeof *geometric; i++) {
    char text[TEXT];
    snprintf(text, sizeof text,
             "{'geometry': [{'mesh': 'box.msh'}], 'time': {'tend': 1, 'dt': 0.1}, 'materials': "
             "{'type': 'NeoHookean', 'E': 1, 'nu': 0.3}, 'contact': {'enabled': true, "
             "'use_gcp_formulation': true,\n%s}}",
             geometric[i][0]);
    assert_refused(context, text, geometric[i][1]);
  }

  // failures in a file that the scene includes
  write_quoted(FOLDER "/inner/wrong.json",
               "{'geometry': [{'mesh': 'box.msh'}],\n"
               "'contact': {'enabled': true,\n 'use_convergent_formulation': true},\n"
               "'time': {'tend': 1, 'dt': 0.1},\n"
               "'materials': {'type': 'Neo', 'E': 1}}");
  assert_refused(context, "{'common': 'inner/wrong.json'}",
                 FOLDER "/inner/wrong.json:3: contact.use_convergent_formulation: another contact");
  assert_refused(
      context,
      "{'common': 'inner/wrong.json',\n'contact': {'use_convergent_formulation': "
      "false}}",
      "inner/wrong.json:5: materials.type: law \"Neo\" is not there; Noli has NeoHookean");
  assert_refused(context,
                 "{'common': 'inner/wrong.json',\n'contact': {'use_convergent_formulation': "
                 "false},\n'patch': [\n{'op': 'replace', 'path': '/materials',\n 'value': {'type': "
                 "'NeoHookean', 'E': 1,\n 'nuu': 3}}]}",
                 "scene.json:6: materials.nuu: unknown key; did you mean \"nu\"?");
  assert_refused(context, "{\n'common': 'inner/gone.json'}",
                 "scene.json:2: common: " FOLDER "/inner/gone.json: No such file");
  assert_refused(context,
                 "{'common': 'inner/wrong.json',\n'patch': [{'op': 'remove',\n"
                 "'path': '/geometry/4'}]}",
                 "scene.json:2: patch[0]: does not fit");
  assert_refused(context, "{'common': 'scene.json'}", "do they name each other?");

  // failures in the scene itself
  static const struct {
    const char *rest, *message;
  } cases[] = {
      {"'geometry': [{'mesh': 'box.msh',\n'surface_selektion': 1}]",
       ":2: geometry[0].surface_selektion: unknown key; did you mean \"surface_selection\"?"},
      {"'geometry': [{'mesh': 'box.msh',\n'surface_selection': [{'id': 1, 'boxx': []}]}]",
       ":2: geometry[0].surface_selection[0].boxx: unknown key; did you mean \"box\"?"},
      {"'geometry': [{'mesh':\n'gone.msh'}]", ":1: geometry[0].mesh: "},
      {"'geometry': [{'mesh': 'plane.obj'}]", "\"plane.obj\" has no tetrahedra"},
      {"'geometry': [{'mesh': 'box.msh'}],\n'boundary_conditions': {'rhs': [0, 1]}",
       "\"box.msh\" has no triangles of order 1, which a scene in a plane needs"},
      {"'geometry': [{'mesh': 'sheet.obj', 'transformation': {'translation': [1, 2]}}],\n"
       "'boundary_conditions': {'rhs': [0, 1, 2]}",
       ":2: boundary_conditions.rhs: must be 2 components"},
      {"'geometry': [{'mesh': 'plane.obj', 'is_obstacle': true}]", "geometry: nothing deforms"},
      {"'geometry': {'mesh': 'box.msh'},\n'space': {'discr_order': 5}",
       ":2: space.discr_order: elements have order 1 to 4 here, got 5"},
      {"'geometry': {'mesh': 'box.msh'},\n'boundary_conditions': {'neumann_boundary': [{'id': 1}]}",
       ":2: boundary_conditions.neumann_boundary: tractions are not there yet"},
      {"'geometry': {'mesh': 'box.msh', 'surface_selection': 1},\n'boundary_conditions': "
       "{'dirichlet_boundary': [{'id': 1, 'value': [0,\n'sine(t)', 0]}]}",
       ":3: boundary_conditions.dirichlet_boundary[0].value[1]: \"sine(t)\": unknown name at "
       "character 1"},
      {"'geometry': {'mesh': 'box.msh', 'surface_selection': 1}, 'boundary_conditions': "
       "{'dirichlet_boundary': [{'id': 1, 'value': [0, 1, 0],\n'interpolation': [{'type': "
       "'piecewise_cubic'}]}]}",
       "interpolation[0].type: interpolation \"piecewise_cubic\" is not there"},
      {"'geometry': {'mesh': 'box.msh'},\n'initial_conditions': {'solution': [{'id': 0, 'value': "
       "[0, 1, 0]}]}",
       ":2: initial_conditions.solution[0].value[1]: initial conditions other"},
      {"'geometry': {'mesh': 'box.msh'},\n'units': {'length': 'mm'}", ":2: units.length: scenes"},
      {"'geometry': {'mesh': 'box.msh'},\n'solver': {'rayleigh_damping': [{'form': 'contact', "
       "'stiffness': 1}]}",
       ":2: solver.rayleigh_damping[0].form: only damping of \"elasticity\""},
      {"'geometry': {'mesh': 'box.msh', 'transformation': {'rotation': [1, 2, 3],\n"
       "'rotation_mode': 'abc'}}",
       ":2: geometry.transformation.rotation_mode: rotation mode \"abc\" is not known"},
      {"'geometry': {'mesh': 'box.msh', 'transformation': {'dimensions':\n[1, 0, 1]}}",
       "an extent of 0 would flatten the mesh"},
  };

  // every text fails with its message
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[TEXT];
    snprintf(text, sizeof text, "{" HEAD "%s}", cases[i].rest);
    assert_refused(context, text, cases[i].message);
  }
  assert_refused(context, "{'geometry': [{'mesh': 'box.msh'}]}", "static problems are not there");
  test_context_done(&context);
}

// The converted scene is a native scene of its own with the same definition.
static void the_native_scene_stands_alone(void** state) {
  (void)state;

  // convert
  NoliContext* context = test_context(1);
  make_meshes(context);
  json_t *tree, *again;
  NoliScene* scene =
      load(context,
           "{" HEAD "'geometry': [{'mesh': 'box.msh', 'surface_selection': 1, 'transformation': "
           "{'rotation': [10, 20, 30], 'scale': 0.1}}],"
           "'boundary_conditions': {'dirichlet_boundary': [{'id': 1, 'value': ['0.1*t', 0, "
           "'x*sin(t)']}], 'rhs': [0, 9.81, 0]}}",
           &tree);

  // read the result
  char* json = NULL;
  ASSERT_OK(noli_scene_json(scene, &json));
  write_file(FOLDER "/native.json", json);
  NoliScene* native = NULL;
  ASSERT_OK(noli_scene_load(context, FOLDER "/native.json", NULL, 0, &native));
  char* json_again = NULL;
  ASSERT_OK(noli_scene_json(native, &json_again));
  assert_string_equal(json, json_again);

  // compare
  const NoliMesh* a = noli_scene_sim_def(scene)->bodies[0].mesh;
  const NoliMesh* b = noli_scene_sim_def(native)->bodies[0].mesh;
  assert_memory_equal(a->x, b->x, 3 * (size_t)a->n_vert * sizeof *a->x);
  assert_int_equal(noli_scene_sim_def(native)->motions[0].n_node, 26);
  json_error_t error;
  again = json_loads(json_again, 0, &error);
  assert_true(json_equal(tree, again));
  json_decref(tree);
  json_decref(again);
  noli_scene_free_text(context, &json);
  noli_scene_free_text(context, &json_again);
  noli_scene_destroy(&scene);
  noli_scene_destroy(&native);
  test_context_done(&context);
}

// Replaces or removes one value somewhere below.
static void spoil(json_t* value, TestRandom* random) {
  static const char* const others[] = {"null",        "true",  "-1",  "2",     "1e300",
                                       "'x'",         "[]",    "{}",  "[[1]]", "[1,2]",
                                       "[1,2,3,4,5]", "'all'", "'t'", "''"};
  size_t n = json_is_object(value) ? json_object_size(value) : json_array_size(value);
  if (n == 0) {
    return;
  }
  size_t index = test_random_bits(random) % n;
  void* iterator = json_object_iter(value);
  for (size_t i = 0; iterator != NULL && i < index; i++) {
    iterator = json_object_iter_next(value, iterator);
  }
  json_t* inner =
      iterator != NULL ? json_object_iter_value(iterator) : json_array_get(value, index);
  bool plain = !json_is_object(inner) && !json_is_array(inner);
  if (!plain && test_random_bits(random) % 4 != 0) {
    spoil(inner, random);
    return;
  }
  char buffer[SCENE_TEXT];
  json_error_t error;
  const char* other = others[test_random_bits(random) % (sizeof others / sizeof *others)];
  json_t* spoilt = json_loads(quoted(other, buffer), JSON_DECODE_ANY, &error);
  if (iterator != NULL) {
    json_object_iter_set_new(value, iterator, spoilt);
  } else {
    json_array_set_new(value, index, spoilt);
  }
}

static void spoilt_scenes_never_crash(void** state) {
  (void)state;

  // a scene with most of the keys
  NoliContext* context = test_context(1);
  TestRandom random = {19};
  make_meshes(context);
  char buffer[SCENE_TEXT];
  json_error_t error;
  int n_read = 0;
  json_t* whole = json_loads(
      quoted("{" HEAD "'geometry': [{'mesh': 'box.msh', 'volume_selection': [{'id': 1, 'box': "
             "[[0, 0, 0], [9, 9, 9]]}], 'surface_selection': [{'id': 1, 'axis': 1, 'position': "
             "0.9}, {'id': 2, 'center': [0, 0, 0], 'radius': 1}, {'id': 3, 'point': [0, 1, 0], "
             "'normal': [1, 2, 3]}], 'point_selection': {'threshold': 0.1, 'id_offset': 4},"
             "'transformation': {'rotation': [10, 20, 30], 'scale': [1, 2, 3], 'translation': "
             "[1, 2, 3]}}, {'mesh': 'plane.obj', 'type': 'mesh_array', 'is_obstacle': true, "
             "'array': {'offset': 3, 'size': [2, 1, 2]}, 'surface_selection': 7,"
             "'transformation': {'translation': [0, -50, 0], 'dimensions': [2, 0, 2]}}],"
             "'boundary_conditions': {'rhs': [0, 'y', 9], 'dirichlet_boundary': [{'id': [1, 7], "
             "'value': ['t', 0, 'x'], 'dimension': [true, false, true], 'interpolation': "
             "[{'type': 'piecewise_linear', 'points': [0, 1], 'values': [1, 2]}]}]},"
             "'initial_conditions': {'velocity': [{'id': 1, 'value': [1, 2, 3]}]},"
             "'solver': {'contact': {'friction_iterations': 2}}}",
             buffer),
      0, &error);
  assert_non_null(whole);

  // damage it in up to three places
  for (int i = 0; i < 1500; i++) {
    json_t* spoilt = json_deep_copy(whole);
    for (uint64_t k = test_random_bits(&random) % 3; k < 3; k++) {
      spoil(spoilt, &random);
    }
    char* text = json_dumps(spoilt, 0);
    NoliScene* scene = NULL;
    NoliStatus status =
        noli_import_parse(context, text, strlen(text), "scene.json", FOLDER, NULL, 0, &scene);
    // a mesh of a kind that is not known is a wrong argument
    if (status != NOLI_OK && status != NOLI_ERROR_FORMAT && status != NOLI_ERROR_ARGUMENT) {
      print_error("%s\n%s\n", noli_context_message(context), text);
      fail();
    }
    assert_true(status == NOLI_OK || strstr(noli_context_message(context), "scene.json:") != NULL);
    n_read += status == NOLI_OK;
    noli_scene_destroy(&scene);
    free(text);
    json_decref(spoilt);
  }
  assert_true(n_read > 10);
  json_decref(whole);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(public_scenes_are_read_or_refused_with_reason),
      cmocka_unit_test(flat_slopes_slide_and_hold),
      cmocka_unit_test(meshes_are_placed_as_there),
      cmocka_unit_test(everything_has_its_place_in_the_native_scene),
      cmocka_unit_test(selections_take_faces_by_their_barycentres),
      cmocka_unit_test(conditions_become_motions),
      cmocka_unit_test(conditions_without_vertices_are_told),
      cmocka_unit_test(body_forces_in_time_become_a_field),
      cmocka_unit_test(integrators_have_counterparts),
      cmocka_unit_test(damping_of_elasticity_belongs_to_the_materials),
      cmocka_unit_test(the_contact_distance_follows_the_shortest_edge),
      cmocka_unit_test(common_files_are_merged_and_patched),
      cmocka_unit_test(the_geometric_potential_keeps_its_parameters),
      cmocka_unit_test(scenes_in_a_plane_become_plane_strain),
      cmocka_unit_test(refusals_name_file_line_and_path),
      cmocka_unit_test(the_native_scene_stands_alone),
      cmocka_unit_test(spoilt_scenes_never_crash),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
