// Valid scenes: the resulting definition, overrides, and the scene as run.
#include "scene_support.h"

#define TIME "'time': {'steps': 1}"
#define CUBE "{'name': 'cube', 'mesh': {'box': {'cells': [1, 1, 1]}}}"

static void assert_vector(const double* got, double x, double y, double z, double tol) {
  ASSERT_NEAR(got[0], x, tol);
  ASSERT_NEAR(got[1], y, tol);
  ASSERT_NEAR(got[2], z, tol);
}

static void bounds_of(const NoliMesh* mesh, double low[3], double high[3]) {
  for (int i = 0; i < 3; i++) {
    low[i] = high[i] = mesh->x[i];
    for (int32_t v = 0; v < mesh->n_vert; v++) {
      low[i] = noli_smaller(low[i], mesh->x[3 * v + i]);
      high[i] = noli_larger(high[i], mesh->x[3 * v + i]);
    }
  }
}

static void audits_are_named_or_switched(void** state) {
  (void)state;
  static const struct {
    const char* text;
    const char* want;
  } cases[] = {{"true", "every_step"},
               {"false", "off"},
               {"'every_step'", "every_step"},
               {"'every_iteration'", "every_iteration"}};
  NoliContext* context = test_context(1);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[256];
    NoliScene* scene = NULL;
    snprintf(text, sizeof text,
             "{'time': {'duration': 1}, 'bodies': [{'mesh': {'box': {}}}], 'debug': {'audit': %s}}",
             cases[i].text);
    ASSERT_OK(parse_quoted(context, text, &scene));
    assert_string_equal(noli_scene_sim_def(scene)->audit, cases[i].want);
    noli_scene_destroy(&scene);
  }
  test_context_done(&context);
}

static void smallest_scene_equals_the_defaults(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliScene* scene = NULL;
  ASSERT_OK(parse_quoted(context, "{'time': {'duration': 1}, 'bodies': [{'mesh': {'box': {}}}]}",
                         &scene));

  // the definition equals the default one
  const NoliSimDef* def = noli_scene_sim_def(scene);
  NoliSimDef want = noli_default_sim_def();
  NoliBodyDef body = noli_default_body_def();
  assert_int_equal(def->size, want.size);
  assert_int_equal(def->n_bodies, 1);
  assert_int_equal(def->n_half_spaces + def->n_motions + def->n_forces + def->n_pairs, 0);
  assert_memory_equal(def->gravity, want.gravity, sizeof want.gravity);
  ASSERT_NEAR(def->time_step, want.time_step, 0.0);
  assert_string_equal(def->integrator, want.integrator);
  assert_int_equal(def->contact, want.contact);
  ASSERT_NEAR(def->contact_distance.value, want.contact_distance.value, 0.0);
  assert_int_equal(def->contact_distance.relative, want.contact_distance.relative);
  ASSERT_NEAR(def->barrier_stiffness, want.barrier_stiffness, 0.0);
  ASSERT_NEAR(def->friction, want.friction, 0.0);
  ASSERT_NEAR(def->friction_speed.value, want.friction_speed.value, 0.0);
  assert_int_equal(def->friction_speed.relative, want.friction_speed.relative);
  assert_int_equal(def->friction_iterations, want.friction_iterations);
  ASSERT_NEAR(def->tolerance.value, want.tolerance.value, 0.0);
  assert_int_equal(def->tolerance.relative, want.tolerance.relative);
  assert_int_equal(def->max_iterations, want.max_iterations);
  assert_string_equal(def->linear_solver, want.linear_solver);
  assert_string_equal(def->audit, want.audit);

  // so does the body
  assert_string_equal(def->bodies[0].name, "body_0");
  assert_string_equal(def->bodies[0].material.law, body.material.law);
  ASSERT_NEAR(def->bodies[0].material.young, body.material.young, 0.0);
  ASSERT_NEAR(def->bodies[0].material.poisson, body.material.poisson, 0.0);
  ASSERT_NEAR(def->bodies[0].material.density, body.material.density, 0.0);
  ASSERT_NEAR(def->bodies[0].material.damping, body.material.damping, 0.0);
  assert_int_equal(def->bodies[0].self_contact, body.self_contact);
  assert_false(def->bodies[0].obstacle);

  // times and output
  assert_string_equal(noli_scene_name(scene), "scene");
  assert_int_equal(noli_scene_step_count(scene), 100);
  ASSERT_NEAR(noli_scene_duration(scene), 1.0, 1e-12);
  assert_int_equal(noli_scene_output(scene).frame_interval, 1);
  noli_scene_destroy(&scene);
  assert_null(scene);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

static const char full_scene[] =
    "{'$schema': 'x', 'name': 'full', 'description': 'all of it',\n"
    " 'time': {'step': 0.02, 'duration': 0.1, 'integrator': 'trapezoidal'},\n"
    " 'gravity': [1, 2, 3],\n"
    " 'bodies': [\n"
    "  {'name': 'a', 'mesh': {'box': {'size': [1, 2, 3], 'cells': [1, 2, 3]}},\n"
    "   'scale': 2, 'translate': [10, 0, 0],\n"
    "   'material': {'law': 'fixed_corotated', 'young': 2e6, 'poisson': 0.3, 'density': 500,\n"
    "                'damping': 0.002},\n"
    "   'velocity': [1, 0, 0], 'angular_velocity': [0, 0, 2], 'self_contact': false,\n"
    "   'contact_offset': 0.003},\n"
    "  {'name': 'b', 'mesh': {'sphere': {'radius': 1, 'cells': 4}}, 'fit': 0.5,\n"
    "   'copies': {'count': 3, 'translate': [0, 1, 0]}}],\n"
    " 'obstacles': [\n"
    "  {'name': 'net', 'mesh': {'plane': {'size': [2, 2], 'cells': [2, 2]}}, 'as': 'edges',\n"
    "   'contact_offset': 0.002, 'translate': [0, -1, 0]},\n"
    "  {'name': 'dots', 'mesh': {'box': {'cells': [2, 2, 2]}}, 'as': 'points'},\n"
    "  {'name': 'shell', 'mesh': {'box': {'cells': [2, 2, 2]}}, 'translate': [0, 9, 0],\n"
    "   'motion': {'velocity': [0, '-t', 0], 'to': 2}}],\n"
    " 'half_spaces': [{'name': 'floor', 'origin': [0, -5, 0], 'normal': [0, 2, 0],\n"
    "   'contact_offset': 0.001}],\n"
    " 'prescribed': [{'body': 'a', 'select': {'side': '-x'}, 'motion': [\n"
    "   {'hold': true, 'to': 1}, {'velocity': [1, 0, 0], 'from': 1}]}],\n"
    " 'forces': [{'body': 'b', 'acceleration': [0, 'Y', 1], 'from': 0.5, 'to': 0.75},\n"
    "            {'body': 'b[1]', 'total': [5, 0, 0]}],\n"
    " 'contact': {'enabled': true, 'distance': 0.002, 'stiffness': 1e8, 'self': false},\n"
    " 'friction': {'coefficient': 0.4, 'speed': '1e-4 l', 'iterations': 'until_convergence',\n"
    "   'static_coefficient': 0.6, 'stribeck_speed': '3e-3 l', 'viscosity': 0.125},\n"
    " 'pairs': [{'a': 'a', 'b': 'b', 'friction': 0.9}, {'a': 'floor', 'b': '*', 'contact': "
    "false},\n"
    "           {'a': 'b[0]', 'b': 'b[0]'}, {'a': 'a', 'b': 'a', 'static_friction': 0.7,\n"
    "            'stribeck_speed': 0.5, 'viscosity': 2, 'distance': '5e-4 l'}],\n"
    " 'solver': {'tolerance': 0.01, 'max_iterations': 50, 'linear': 'pcg'},\n"
    " 'output': {'interval': 0.041, 'checkpoint_seconds': -1},\n"
    " 'debug': {'audit': true}}";

static void check_full_bodies(const NoliSimDef* def) {
  assert_int_equal(def->n_bodies, 7);
  const NoliBodyDef* a = &def->bodies[0];
  double low[3], high[3];
  bounds_of(a->mesh, low, high);
  assert_vector(low, 9, -2, -3, 1e-12);
  assert_vector(high, 11, 2, 3, 1e-12);
  assert_string_equal(a->material.law, "fixed_corotated");
  ASSERT_NEAR(a->material.young, 2e6, 0.0);
  ASSERT_NEAR(a->material.poisson, 0.3, 0.0);
  ASSERT_NEAR(a->material.density, 500, 0.0);
  ASSERT_NEAR(a->material.damping, 0.002, 0.0);
  assert_vector(a->velocity, 1, 0, 0, 0.0);
  assert_vector(a->angular_velocity, 0, 0, 2, 0.0);
  assert_false(a->self_contact);
  ASSERT_NEAR(a->contact_offset, 0.003, 0.0);
  ASSERT_NEAR(def->bodies[1].contact_offset, 0.0, 0.0);
  ASSERT_NEAR(def->bodies[4].contact_offset, 0.002, 0.0);
  ASSERT_NEAR(def->half_spaces[0].contact_offset, 0.001, 0.0);
  for (int32_t i = 1; i < 4; i++) {
    char name[8];
    snprintf(name, sizeof name, "b[%d]", (int)i - 1);
    assert_string_equal(def->bodies[i].name, name);
    bounds_of(def->bodies[i].mesh, low, high);
    ASSERT_NEAR(high[1] - low[1], 0.5, 1e-12);
    ASSERT_NEAR(0.5 * (high[1] + low[1]), (double)(i - 1), 1e-12);
    // the default comes from "contact"
    assert_false(def->bodies[i].self_contact);
  }
}

static void check_full_obstacles(const NoliSimDef* def) {
  const NoliBodyDef* net = &def->bodies[4];
  assert_true(net->obstacle);
  assert_int_equal(net->mesh->n_vert, 9);
  assert_int_equal(net->mesh->n_tri, 0);
  assert_int_equal(net->mesh->n_edge, 12 + 4);
  ASSERT_NEAR(net->mesh->x[1], -1.0, 0.0);
  const NoliBodyDef* dots = &def->bodies[5];
  // the vertex in the middle of the box is not on its surface
  assert_int_equal(dots->mesh->n_point, 26);
  assert_int_equal(dots->mesh->n_vert, 26);
  assert_int_equal(dots->mesh->n_tet + dots->mesh->n_tri + dots->mesh->n_edge, 0);
  const NoliBodyDef* shell = &def->bodies[6];
  assert_int_equal(shell->mesh->n_tri, 48);
  assert_int_equal(shell->mesh->n_tet, 0);
  assert_int_equal(def->n_half_spaces, 1);
  assert_string_equal(def->half_spaces[0].name, "floor");
  assert_vector(def->half_spaces[0].origin, 0, -5, 0, 0.0);
}

static void check_full_motions(const NoliSimDef* def) {
  assert_int_equal(def->n_motions, 3);
  assert_int_equal(def->motions[0].body, 6);
  assert_null(def->motions[0].node);
  ASSERT_NEAR(def->motions[0].t_end, 2.0, 0.0);
  assert_int_equal(def->motions[1].body, 0);
  assert_int_equal(def->motions[1].n_node, 12);
  assert_non_null(def->motions[1].node);
  assert_null(def->motions[1].target);
  ASSERT_NEAR(def->motions[1].t_end, 1.0, 0.0);
  assert_non_null(def->motions[2].target);
  ASSERT_NEAR(def->motions[2].t_begin, 1.0, 0.0);
  assert_true(isinf(def->motions[2].t_end));
  for (int32_t k = 0; k < 12; k++) {
    ASSERT_NEAR(def->bodies[0].mesh->x[3 * def->motions[1].node[k]], 9.0, 1e-12);
  }
  assert_int_equal(def->n_forces, 4);
  const NoliForceDef* force = &def->forces[1];
  assert_int_equal(force->body, 2);
  assert_string_equal(force->kind, "acceleration");
  ASSERT_NEAR(force->t_begin, 0.5, 0.0);
  ASSERT_NEAR(force->t_end, 0.75, 0.0);
  double value[3], X[3] = {1, 7, 2};
  force->value(force->user, 0.0, X, value);
  assert_vector(value, 0, 7, 1, 0.0);
  assert_int_equal(def->forces[3].body, 2);
  assert_string_equal(def->forces[3].kind, "total");
}

static void check_full_settings(const NoliScene* scene) {
  const NoliSimDef* def = noli_scene_sim_def(scene);

  // time and contact
  ASSERT_NEAR(def->time_step, 0.02, 0.0);
  assert_string_equal(def->integrator, "trapezoidal");
  assert_vector(def->gravity, 1, 2, 3, 0.0);
  assert_true(def->contact);
  assert_false(def->contact_distance.relative);
  ASSERT_NEAR(def->contact_distance.value, 0.002, 0.0);
  ASSERT_NEAR(def->barrier_stiffness, 1e8, 0.0);

  // friction and solver
  ASSERT_NEAR(def->friction, 0.4, 0.0);
  assert_true(def->friction_speed.relative);
  ASSERT_NEAR(def->friction_speed.value, 1e-4, 0.0);
  assert_int_equal(def->friction_iterations, NOLI_FRICTION_UNTIL_CONVERGENCE);
  ASSERT_NEAR(def->tolerance.value, 0.01, 0.0);
  assert_false(def->tolerance.relative);
  assert_int_equal(def->max_iterations, 50);
  assert_string_equal(def->linear_solver, "pcg");
  assert_string_equal(def->audit, "every_step");

  // a x 3 copies of b, floor x 7 bodies (not floor x floor), b[0] x b[0]
  assert_int_equal(def->n_pairs, 3 + 7 + 1 + 1);
  assert_int_equal(def->pairs[2].a, 0);
  assert_int_equal(def->pairs[2].b, 3);
  ASSERT_NEAR(def->pairs[2].friction, 0.9, 0.0);
  assert_int_equal(def->pairs[3].a, 7);
  assert_false(def->pairs[3].contact);
  assert_int_equal(def->pairs[10].a, 1);
  assert_int_equal(def->pairs[10].b, 1);
  ASSERT_NEAR(def->pairs[10].friction, 0.4, 0.0);

  // a coefficient set alone has no static counterpart; if neither is set, both come from the scene
  ASSERT_NEAR(def->static_friction, 0.6, 0.0);
  ASSERT_NEAR(def->stribeck_speed.value, 3e-3, 0.0);
  assert_true(def->stribeck_speed.relative);
  ASSERT_NEAR(def->viscosity, 0.125, 0.0);
  ASSERT_NEAR(def->pairs[2].static_friction, 0.9, 0.0);
  ASSERT_NEAR(def->pairs[2].viscosity, 0.125, 0.0);
  ASSERT_NEAR(def->pairs[10].static_friction, 0.6, 0.0);
  ASSERT_NEAR(def->pairs[10].stribeck_speed.value, 0.0, 0.0);
  ASSERT_NEAR(def->pairs[11].friction, 0.4, 0.0);
  ASSERT_NEAR(def->pairs[11].static_friction, 0.7, 0.0);
  ASSERT_NEAR(def->pairs[11].stribeck_speed.value, 0.5, 0.0);
  assert_false(def->pairs[11].stribeck_speed.relative);
  ASSERT_NEAR(def->pairs[11].viscosity, 2.0, 0.0);
  ASSERT_NEAR(def->pairs[10].distance.value, 0.0, 0.0);
  ASSERT_NEAR(def->pairs[11].distance.value, 5e-4, 0.0);
  assert_true(def->pairs[11].distance.relative);
  ASSERT_NEAR(def->pairs[10].distance.value, 0.0, 0.0);
  ASSERT_NEAR(def->pairs[11].distance.value, 5e-4, 0.0);
  assert_true(def->pairs[11].distance.relative);

  // times and output
  assert_string_equal(noli_scene_name(scene), "full");
  assert_int_equal(noli_scene_step_count(scene), 5);
  assert_int_equal(noli_scene_output(scene).frame_interval, 2);
  ASSERT_NEAR(noli_scene_output(scene).checkpoint_seconds, -1.0, 0.0);
}

static void every_key_reaches_the_definition(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliScene* scene = NULL;
  ASSERT_OK(parse_quoted(context, full_scene, &scene));
  const NoliSimDef* def = noli_scene_sim_def(scene);
  check_full_bodies(def);
  check_full_obstacles(def);
  check_full_motions(def);
  check_full_settings(scene);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

static void assert_same_mesh(const NoliMesh* a, const NoliMesh* b) {
  assert_int_equal(a->n_vert, b->n_vert);
  assert_int_equal(a->n_tet, b->n_tet);
  assert_int_equal(a->n_tri, b->n_tri);
  assert_int_equal(a->n_edge, b->n_edge);
  assert_int_equal(a->n_point, b->n_point);
  assert_memory_equal(a->x, b->x, 3 * sizeof(double) * (size_t)a->n_vert);
}

static void assert_same_def(const NoliSimDef* a, const NoliSimDef* b) {

  // bodies
  assert_int_equal(a->n_bodies, b->n_bodies);
  for (int32_t i = 0; i < a->n_bodies; i++) {
    assert_string_equal(a->bodies[i].name, b->bodies[i].name);
    assert_same_mesh(a->bodies[i].mesh, b->bodies[i].mesh);
    assert_string_equal(a->bodies[i].material.law, b->bodies[i].material.law);
    assert_memory_equal(&a->bodies[i].material.young, &b->bodies[i].material.young,
                        4 * sizeof(double));
    assert_memory_equal(a->bodies[i].velocity, b->bodies[i].velocity, 6 * sizeof(double));
    assert_int_equal(a->bodies[i].self_contact, b->bodies[i].self_contact);
    assert_int_equal(a->bodies[i].obstacle, b->bodies[i].obstacle);
  }

  // motions, forces and pairs
  assert_int_equal(a->n_motions, b->n_motions);
  for (int32_t i = 0; i < a->n_motions; i++) {
    assert_int_equal(a->motions[i].body, b->motions[i].body);
    assert_int_equal(a->motions[i].n_node, b->motions[i].n_node);
    assert_memory_equal(&a->motions[i].t_begin, &b->motions[i].t_begin, 2 * sizeof(double));
  }
  assert_int_equal(a->n_forces, b->n_forces);
  assert_int_equal(a->n_pairs, b->n_pairs);
  assert_memory_equal(a->gravity, b->gravity, sizeof a->gravity);
  for (int32_t i = 0; i < a->n_pairs; i++) {
    assert_int_equal(a->pairs[i].contact, b->pairs[i].contact);
    ASSERT_NEAR(a->pairs[i].friction, b->pairs[i].friction, 0.0);
    ASSERT_NEAR(a->pairs[i].static_friction, b->pairs[i].static_friction, 0.0);
    ASSERT_NEAR(a->pairs[i].stribeck_speed.value, b->pairs[i].stribeck_speed.value, 0.0);
    ASSERT_NEAR(a->pairs[i].viscosity, b->pairs[i].viscosity, 0.0);
  }

  // friction
  ASSERT_NEAR(a->static_friction, b->static_friction, 0.0);
  ASSERT_NEAR(a->stribeck_speed.value, b->stribeck_speed.value, 0.0);
  ASSERT_NEAR(a->viscosity, b->viscosity, 0.0);

  // time, contact and solver
  ASSERT_NEAR(a->time_step, b->time_step, 0.0);
  ASSERT_NEAR(a->contact_distance.value, b->contact_distance.value, 0.0);
  ASSERT_NEAR(a->barrier_stiffness, b->barrier_stiffness, 0.0);
  ASSERT_NEAR(a->friction_speed.value, b->friction_speed.value, 0.0);
  assert_int_equal(a->friction_iterations, b->friction_iterations);
  ASSERT_NEAR(a->tolerance.value, b->tolerance.value, 0.0);
}

// Writes the scene as run, reads that file and writes it again: same text, same definition.
static void check_round_trip(NoliContext* context, const NoliScene* scene) {
  NoliScene* again = NULL;
  char *json = NULL, *json_again = NULL;
  ASSERT_OK(noli_scene_json(scene, &json));
  ASSERT_OK(noli_scene_parse(context, json, "elsewhere.json", "/", NULL, 0, &again));
  assert_same_def(noli_scene_sim_def(scene), noli_scene_sim_def(again));
  assert_string_equal(noli_scene_name(scene), noli_scene_name(again));
  assert_int_equal(noli_scene_step_count(scene), noli_scene_step_count(again));
  ASSERT_OK(noli_scene_json(again, &json_again));
  assert_string_equal(json, json_again);
  noli_scene_free_text(context, &json);
  noli_scene_free_text(context, &json_again);
  assert_null(json);
  noli_scene_destroy(&again);
}

// Flat shapes with a thickness; the side of a disk is its boundary.
static void flat_bodies_reach_the_definition(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliScene* scene = NULL;
  ASSERT_OK(parse_quoted(
      context,
      "{" TIME ", 'bodies': [{'name': 'a', 'mesh': {'disk': {'radius': 0.3, 'cells': 6}}, "
      "'plane_strain': 0.2}, {'mesh': {'rectangle': {'size': [2, 1], 'cells': [3, 2]}}, "
      "'plane_strain': 1, 'rotate': [0, 0, 30], 'translate': [3, 0, 0]}], 'obstacles': [{'mesh': "
      "{'polygon': {'corners': [[0, -2], [1, -2], [0, -1]], 'cells': 2}}, 'plane_strain': 1}], "
      "'prescribed': [{'body': 'a', 'select': {'sphere': {'center': [0, 0, 0], 'radius': 1}, "
      "'surface_only': true}, 'motion': {'hold': true}}]}",
      &scene));
  const NoliSimDef* def = noli_scene_sim_def(scene);
  ASSERT_NEAR(def->bodies[0].plane_strain, 0.2, 0.0);
  assert_int_equal(def->bodies[0].mesh->n_tri, 72);
  assert_int_equal(def->bodies[1].mesh->n_tri, 12);
  assert_int_equal(def->bodies[2].mesh->n_tri, 4);
  assert_true(def->bodies[2].obstacle && def->bodies[2].plane_strain == 1.0);
  assert_int_equal(def->motions[0].n_node, 24);
  NoliSim* sim = NULL;
  ASSERT_OK(noli_sim_create(context, def, &sim));
  assert_int_equal(noli_sim_tet_count(sim), 84);
  assert_int_equal(noli_sim_tets(sim)[3], NOLI_NULL_INDEX);
  noli_sim_destroy(&sim);
  check_round_trip(context, scene);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

static void scene_as_run_gives_the_same_definition(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliScene* scene = NULL;
  ASSERT_OK(parse_quoted(context, "{" TIME ", 'bodies': [{'mesh': {'box': {}}}]}", &scene));
  check_round_trip(context, scene);
  char* json = NULL;
  ASSERT_OK(noli_scene_json(scene, &json));
  // defaults are there, short, and the name comes first
  assert_int_equal(strncmp(json, "{\n  \"name\": \"scene\",\n  \"time\": {", 32), 0);
  assert_non_null(strstr(json, "\"gravity\": [0, -9.80665, 0]"));
  assert_non_null(strstr(json, "\"poisson\": 0.4,"));
  assert_non_null(strstr(json, "\"self_contact\": true"));
  assert_non_null(strstr(json, "\"speed\": \"1e-3 d\""));
  noli_scene_free_text(context, &json);
  noli_scene_destroy(&scene);
  ASSERT_OK(parse_quoted(context, full_scene, &scene));
  check_round_trip(context, scene);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

static void files_are_relative_to_the_scene(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  const double size[3] = {1, 1, 1};
  const int32_t cells[3] = {1, 1, 1};
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_box(context, size, cells, false, &mesh));
  ASSERT_OK(noli_mesh_write(context, "scene_cube.vtk", mesh));
  noli_mesh_destroy(context, &mesh);
  char text[SCENE_TEXT];
  write_file("scene_file.json",
             quoted("{" TIME ", 'bodies': [{'mesh': './scene_cube.vtk'}]}", text));
  NoliScene* scene = NULL;
  ASSERT_OK(noli_scene_load(context, "./scene_file.json", NULL, 0, &scene));
  assert_string_equal(noli_scene_name(scene), "scene_file");
  char* json = NULL;
  ASSERT_OK(noli_scene_json(scene, &json));
  assert_non_null(strstr(json, "\"mesh\": \"/"));
  noli_scene_free_text(context, &json);
  // read from another folder it finds the same file
  check_round_trip(context, scene);
  noli_scene_destroy(&scene);
  ASSERT_OK(noli_scene_load(context, "scene_file.json", NULL, 0, &scene));
  noli_scene_destroy(&scene);
  remove("scene_file.json");
  remove("scene_cube.vtk");
  test_context_done(&context);
}

static void overrides_replace_values(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  char text[SCENE_TEXT];
  quoted("{" TIME ", 'bodies': [" CUBE "]}", text);
  const NoliSceneOverride good[] = {
      {"time.step", "0.005"},
      {"bodies[0].material.young", "1e6"},
      {"bodies[0].name", "block"},
      {"contact.distance", "2e-3 l"},
      {"gravity", "[0, 0, -1]"},
      {"gravity[1]", "5"},
      {"[\"friction\"].coefficient", "0.25"},
  };
  NoliScene* scene = NULL;
  ASSERT_OK(noli_scene_parse(context, text, "s.json", NULL, good, 7, &scene));
  const NoliSimDef* def = noli_scene_sim_def(scene);
  ASSERT_NEAR(def->time_step, 0.005, 0.0);
  ASSERT_NEAR(def->bodies[0].material.young, 1e6, 0.0);
  assert_string_equal(def->bodies[0].name, "block");
  ASSERT_NEAR(def->contact_distance.value, 2e-3, 0.0);
  assert_true(def->contact_distance.relative);
  assert_vector(def->gravity, 0, 5, -1, 0.0);
  ASSERT_NEAR(def->friction, 0.25, 0.0);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

static void invalid_overrides_are_refused(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  char text[SCENE_TEXT];
  quoted("{" TIME ", 'bodies': [" CUBE "]}", text);
  NoliScene* scene = NULL;
  const struct {
    NoliSceneOverride override;
    NoliStatus status;
    const char* message;
  } bad[] = {
      {{"bodies[0].material.poisson", "0.7"},
       NOLI_ERROR_FORMAT,
       "override bodies[0].material.poisson=0.7: bodies[0].material.poisson: must be in (-1, 0.5), "
       "got 0.7"},
      {{"bodies[0].material", "{\"poison\": 0}"},
       NOLI_ERROR_FORMAT,
       "bodies[0].material.poison: unknown key; did you mean \"poisson\"?"},
      {{"bodies[1].name", "x"}, NOLI_ERROR_ARGUMENT, "there is no bodies[1]: the list has 1 items"},
      {{"bodies.name", "x"}, NOLI_ERROR_ARGUMENT, "there is no bodies.name: an item of a list has"},
      {{"bodies.cub.material.young", "1"},
       NOLI_ERROR_ARGUMENT,
       "there is no bodies.cub; did you mean \"cube\"?"},
      {{"bodies.cube.material.young", "-1"},
       NOLI_ERROR_FORMAT,
       "override bodies.cube.material.young=-1: bodies[0].material.young: must be in (0, "
       "1e+40], got -1"},
      {{"bodies.cube", "5"},
       NOLI_ERROR_FORMAT,
       "override bodies.cube=5: bodies[0]: must be an object, got a number"},
      {{"time.steps.x", "1"}, NOLI_ERROR_ARGUMENT, "there is no time.steps.x"},
      {{"gravity[0]", "1"}, NOLI_ERROR_ARGUMENT, "its parent is not a list"},
      {{"", "1"}, NOLI_ERROR_ARGUMENT, "the path is not valid"},
      {{"a..b", "1"}, NOLI_ERROR_ARGUMENT, "the path is not valid near \".b\""},
      {{"bodies[x]", "1"}, NOLI_ERROR_ARGUMENT, "the path is not valid"},
      {{"bodies[0", "1"}, NOLI_ERROR_ARGUMENT, "the path is not valid"},
      {{"tim.step", "1"}, NOLI_ERROR_FORMAT, "override tim.step=1: tim"},
      {{"name", "\xff"}, NOLI_ERROR_ARGUMENT, "not valid UTF-8"},
      {{NULL, "1"}, NOLI_ERROR_ARGUMENT, "no path"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    ASSERT_STATUS(noli_scene_parse(context, text, "s.json", NULL, &bad[i].override, 1, &scene),
                  bad[i].status);
    if (strstr(noli_context_message(context), bad[i].message) == NULL) {
      print_error("got %s, want %s\n", noli_context_message(context), bad[i].message);
      fail();
    }
  }
  test_context_done(&context);
}

// Counts the vertices that a selection finds in a box of 2 x 2 x 2 cells around the origin.
static int32_t selected(NoliContext* context, const char* selection) {
  char text[2000];
  snprintf(text, sizeof text,
           "{" TIME ", 'bodies': [{'name': 'cube', 'mesh': {'box': {'cells': [2, 2, 2]}}}],"
           "'prescribed': [{'body': 'cube', 'select': %s, 'motion': {'hold': true}}]}",
           selection);
  NoliScene* scene = NULL;
  ASSERT_OK(parse_quoted(context, text, &scene));
  int32_t n = noli_scene_sim_def(scene)->motions[0].n_node;
  noli_scene_destroy(&scene);
  return n;
}

static void selections_find_their_vertices(void** state) {
  (void)state;
  NoliContext* context = test_context(1);

  // selections and the number of their vertices
  static const struct {
    const char* selection;
    int32_t want;
  } cases[] = {
      {"'all'", 27},
      {"{'side': '-x'}", 9},
      {"{'side': '+y', 'depth': 0.5}", 18},
      {"{'side': '+z', 'depth': 0}", 9},
      {"{'side': '-x', 'depth': 1, 'surface_only': true}", 26},
      {"{'box': {'min': [-1, -1, -1], 'max': [1, 1, 0]}}", 18},
      {"{'box': {'min': [0, 0, 0], 'max': [0.5, 1, 1], 'relative': true}}", 18},
      {"{'box': {'min': [-0.5, -0.5, -0.5], 'max': [-0.5, -0.5, -0.5]}}", 1},
      {"{'sphere': {'center': [0, 0, 0], 'radius': 0.1}}", 1},
      {"{'sphere': {'center': [0, 0, 0], 'radius': 0.5}}", 7},
      {"{'half_space': {'origin': [0, 0.4, 0], 'normal': [0, 3, 0]}}", 9},
      {"{'half_space': {'origin': [0, 0.4, 0], 'normal': [0, -3, 0]}}", 18},
      {"{'vertices': [0, 5, 5, 26]}", 3},
      {"[{'side': '-x'}, {'side': '+x'}]", 18},
      {"[{'side': '-x'}, {'side': '-y'}]", 15},
      {"[{'vertices': [0]}, 'all']", 27},
  };

  // compare
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    int32_t got = selected(context, cases[i].selection);
    if (got != cases[i].want) {
      print_error("%s: got %d, want %d\n", cases[i].selection, (int)got, (int)cases[i].want);
      fail();
    }
  }
  test_context_done(&context);
}

static void tags_come_from_the_file(void** state) {
  (void)state;
  NoliContext* context = test_context(1);

  // two tetrahedra with one common face, tags 3 and 8; vertex 0 belongs to none
  static const int32_t tets[8] = {1, 2, 3, 4, 5, 3, 2, 4};
  static const double x[18] = {9, 9, 9, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1};
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_create(context, 6, 2, 0, 0, 0, true, &mesh));
  memcpy(mesh->x, x, sizeof x);
  memcpy(mesh->tet, tets, sizeof tets);
  (void)noli_mesh_orient(mesh);
  mesh->tet_tag[0] = 3;
  mesh->tet_tag[1] = 8;
  ASSERT_OK(noli_mesh_write(context, "tagged.vtk", mesh));
  noli_mesh_destroy(context, &mesh);

  // a scene that selects tags
  NoliScene* scene = NULL;
  ASSERT_OK(
      parse_quoted(context,
                   "{" TIME ", 'bodies': [{'name': 'a', 'mesh': 'tagged.vtk'}],"
                   "'prescribed': [{'body': 'a', 'select': {'tag': 8}, 'motion': {'hold': true}},"
                   "{'body': 'a', 'select': {'vertices': [1]}, 'motion': {'hold': true}}]}",
                   &scene));
  const NoliSimDef* def = noli_scene_sim_def(scene);
  assert_int_equal(def->bodies[0].mesh->n_vert, 5);
  assert_non_null(def->bodies[0].mesh->tet_tag);
  assert_int_equal(def->bodies[0].mesh->tet_tag[1], 8);
  assert_int_equal(def->motions[0].n_node, 4);
  for (int32_t k = 0; k < 4; k++) {
    assert_int_equal(def->motions[0].node[k], k + 1);
  }

  // numbers of vertices are those of the file
  assert_int_equal(def->motions[1].n_node, 1);
  assert_int_equal(def->motions[1].node[0], 0);
  noli_scene_destroy(&scene);
  remove("tagged.vtk");
  test_context_done(&context);
}

static void placement_mirrors_turns_and_fits(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliScene* scene = NULL;
  ASSERT_OK(
      parse_quoted(context,
                   "{" TIME ", 'bodies': [{'mesh': {'box': {'size': [4, 2, 1]}},"
                   "'scale': [-1, 1, 1], 'fit': 2, 'rotate': [0, 0, 90], 'translate': [0, 7, 0],"
                   "'copies': {'count': 2, 'translate': [10, 0, 0], 'rotate': [90, 0, 0]}}]}",
                   &scene));
  const NoliSimDef* def = noli_scene_sim_def(scene);
  double low[3], high[3];
  bounds_of(def->bodies[0].mesh, low, high);
  assert_vector(low, -0.5, 6, -0.25, 1e-12);
  assert_vector(high, 0.5, 8, 0.25, 1e-12);
  bounds_of(def->bodies[1].mesh, low, high);
  assert_vector(low, 9.5, 6.75, -1, 1e-12);
  assert_vector(high, 10.5, 7.25, 1, 1e-12);
  NoliMeshCheck found;
  ASSERT_OK(noli_mesh_check(context, def->bodies[0].mesh, &found));
  assert_int_equal(found.n_inverted, 0);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

static void every_shape_can_be_made(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  static const char* const shapes[] = {"box", "sphere", "cylinder", "rod", "mat", "torus", "bowl"};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    char text[1000];
    snprintf(text, sizeof text,
             "{" TIME ", 'bodies': [{'mesh': {'%s': {}}}], 'obstacles': [{'mesh': {'%s': {}}}]}",
             shapes[i], shapes[i]);
    NoliScene* scene = NULL;
    ASSERT_OK(parse_quoted(context, text, &scene));
    const NoliSimDef* def = noli_scene_sim_def(scene);
    assert_true(def->bodies[0].mesh->n_tet > 0);
    assert_true(def->bodies[1].mesh->n_tri > 0);
    assert_int_equal(def->bodies[1].mesh->n_tet, 0);
    noli_scene_destroy(&scene);
  }
  test_context_done(&context);
}

// Meshes in the scene itself, with tags that selections name.
static void meshes_are_given_as_arrays(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliScene* scene = NULL;
  static const char* const positions =
      "'positions': [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]]";
  char text[2000];
  snprintf(text, sizeof text,
           "{" TIME ", 'bodies': [{'name': 'a', 'mesh': {'arrays': {%s, 'tet_tags': [4, 7],"
           "'tets': [[0, 1, 2, 3], [1, 2, 3, 4]]}}}, {'mesh': {'arrays': {%s, 'triangles':"
           "[[0, 1, 2]]}}, 'translate': [9, 0, 0], 'shell': {'thickness': 0.1}}],"
           "'obstacles': [{'mesh': {'arrays': {%s, 'segments': [[0, 1]], 'points': [3]}},"
           "'translate': [0, 9, 0]}],"
           "'prescribed': [{'body': 'a', 'select': {'tag': 7}, 'motion': {'hold': true}}]}",
           positions, positions, positions);
  ASSERT_OK(parse_quoted(context, text, &scene));
  const NoliSimDef* def = noli_scene_sim_def(scene);
  const NoliMesh *solid = def->bodies[0].mesh, *obstacle = def->bodies[2].mesh;
  assert_int_equal(solid->n_vert, 5);
  assert_int_equal(solid->n_tet, 2);
  assert_int_equal(solid->tet_tag[1], 7);
  assert_int_equal(def->bodies[1].mesh->n_tri, 1);
  assert_int_equal(def->bodies[1].mesh->n_vert, 3);
  assert_int_equal(obstacle->n_edge, 1);
  assert_int_equal(obstacle->n_point, 1);
  ASSERT_NEAR(obstacle->x[1], 9.0, 0.0);
  assert_int_equal(def->motions[0].n_node, 4);
  noli_scene_destroy(&scene);

  // contradictions are located
  static const struct {
    const char* mesh;
    const char* message;
  } wrong[] = {
      {"'positions': [[0, 0]]", "bodies[0].mesh.arrays.positions[0]: "},
      {"'positions': [[0, 0, 0]], 'tets': [[0, 1, 2, 3]]", "names a vertex that does not exist"},
      {"'positions': [[0, 0, 0]], 'tets': [[0, 1, 2]]", "bodies[0].mesh.arrays.tets[0]: "},
      {"'positions': [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], 'tets': [[0, 1, 2, 3]],"
       "'tet_tags': [1, 2]",
       "bodies[0].mesh.arrays.tet_tags: has 2 tags for 1 cells"},
      {"'tets': [[0, 1, 2, 3]]", "positions"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    snprintf(text, sizeof text, "{" TIME ", 'bodies': [{'mesh': {'arrays': {%s}}}]}",
             wrong[i].mesh);
    ASSERT_STATUS(parse_quoted(context, text, &scene), NOLI_ERROR_FORMAT);
    assert_non_null(strstr(noli_context_message(context), wrong[i].message));
  }
  test_context_done(&context);
}

// Text without a name comes from a program: messages have only the path.
static void texts_without_a_name_have_paths_only(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliScene* scene = NULL;
  char text[SCENE_TEXT];
  quoted("{" TIME ", 'bodies': [{'mesh': {'box': {}}, 'material': {'poisson': 2}}]}", text);
  ASSERT_STATUS(noli_scene_parse(context, text, NULL, NULL, NULL, 0, &scene), NOLI_ERROR_FORMAT);
  assert_string_equal(noli_context_message(context),
                      "bodies[0].material.poisson: must be in (-1, 0.5), got 2");
  quoted("{" TIME ", 'bodies': [{'mesh': {'box': {}}}]}", text);
  ASSERT_OK(noli_scene_parse(context, text, NULL, NULL, NULL, 0, &scene));
  assert_string_equal(noli_scene_name(scene), "scene");
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

// Curved shapes keep their nodes when they are placed, and can be simulated.
static void curved_shapes(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliScene* scene = NULL;
  NoliSim* sim = NULL;
  ASSERT_OK(parse_quoted(context,
                         "{'time': {'duration': 1}, 'bodies': ["
                         "{'name': 'ball', 'mesh': {'sphere': {'cells': 2, 'geometry_order': 3}},"
                         " 'scale': 2, 'translate': [10, 0, 0]},"
                         "{'mesh': {'cylinder': {'cells_across': 2, 'cells_along': 2}}}]}",
                         &scene));
  const NoliSimDef* def = noli_scene_sim_def(scene);
  const NoliMesh* mesh = def->bodies[0].mesh;
  assert_int_equal(mesh->order, 3);
  assert_true(def->bodies[1].mesh->order <= 1);
  assert_true(mesh->n_curve > mesh->n_vert);
  double farthest = 0.0;
  for (int64_t v = 0; v < mesh->n_curve; v++) {
    const double* x = mesh->curve_x + 3 * v;
    farthest = noli_larger(farthest, hypot(hypot(x[0] - 10.0, x[1]), x[2]));
  }
  ASSERT_NEAR(farthest, 1.0, 1e-14);
  ASSERT_OK(noli_sim_create(context, def, &sim));
  assert_true(noli_sim_vertex_count(sim) > noli_sim_node_count(sim));
  noli_sim_destroy(&sim);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

static void volumes_reach_the_definition(void** state) {
  (void)state;

  // regions of two copies of a body, and of another body
  NoliContext* context = test_context(1);
  NoliScene* scene = NULL;
  ASSERT_OK(parse_quoted(
      context,
      "{" TIME ", 'bodies': [" CUBE ",\n"
      " {'mesh': {'sphere': {'radius': 2, 'inner_radius': 1.5, 'cells': 3, 'layers': 2}},\n"
      "  'copies': {'count': 2, 'translate': [5, 0, 0]},\n"
      "  'volume': [{'region': 'cavity', 'pressure': 5e4},\n"
      "             {'component': 1, 'model': 'nearly_incompressible', 'compression': 4.5e-10},\n"
      "             {'tag': -7, 'model': 'quadratic', 'compression': 1e-5}]},\n"
      " {'mesh': {'box': {}}, 'volume': {'region': 'body', 'compression': 2e-5}}]}",
      &scene));

  // compare
  const NoliSimDef* def = noli_scene_sim_def(scene);
  assert_int_equal(def->bodies[1].mesh->n_tet, 36 * 9 * 2);
  assert_int_equal(def->n_volumes, 7);

  // the copies
  for (int copy = 0; copy < 2; copy++) {
    const NoliVolumeDef* volume = def->volumes + 3 * copy;
    for (int k = 0; k < 3; k++) {
      assert_int_equal(volume[k].body, 1 + copy);
    }
    assert_string_equal(volume[0].region, "cavity");
    assert_string_equal(volume[0].model, "ideal_gas");
    ASSERT_NEAR(volume[0].compression, 0.0, 0.0);
    ASSERT_NEAR(volume[0].pressure, 5e4, 0.0);
    assert_string_equal(volume[1].region, "component");
    assert_int_equal(volume[1].index, 1);
    assert_string_equal(volume[1].model, "nearly_incompressible");
    ASSERT_NEAR(volume[1].compression, 4.5e-10, 0.0);
    assert_string_equal(volume[2].region, "tag");
    assert_int_equal(volume[2].index, -7);
    assert_string_equal(volume[2].model, "quadratic");
  }

  // the other body
  assert_int_equal(def->volumes[6].body, 3);
  assert_string_equal(def->volumes[6].region, "body");
  ASSERT_NEAR(def->volumes[6].compression, 2e-5, 0.0);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

static void shapes_follow_expressions_and_profiles(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliScene* scene = NULL;
  ASSERT_OK(parse_quoted(
      context,
      "{" TIME ", 'bodies': [{'mesh': {'voxels': {'size': [4, 2, 3], 'cells': [4, 2, 3], "
      "'inside': 'X > 0 && abs(Z) < 1'}}}], 'obstacles': [{'mesh': {'revolution': "
      "{'profile': [[0, 5], [1, 6]], 'cells_around': 7}}}]}",
      &scene));
  const NoliSimDef* def = noli_scene_sim_def(scene);
  // two cells along x, two along y, the middle one along z
  double low[3], high[3];
  assert_int_equal(def->bodies[0].mesh->n_tet, 6 * 4);
  bounds_of(def->bodies[0].mesh, low, high);
  assert_vector(low, 0, -1, -0.5, 1e-15);
  assert_vector(high, 2, 1, 0.5, 1e-15);
  assert_int_equal(def->bodies[1].mesh->n_tri, 7);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

static void steps_round_up(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  static const struct {
    const char* time;
    int64_t steps;
  } cases[] = {
      {"{'duration': 1, 'step': 0.1}", 10},    {"{'duration': 0.3, 'step': 0.1}", 3},
      {"{'duration': 1, 'step': 0.3}", 4},     {"{'duration': 1e-9, 'step': 1}", 1},
      {"{'duration': 5, 'step': 0.025}", 200}, {"{'steps': 7}", 7},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[500];
    snprintf(text, sizeof text, "{'time': %s, 'bodies': [" CUBE "]}", cases[i].time);
    NoliScene* scene = NULL;
    ASSERT_OK(parse_quoted(context, text, &scene));
    assert_int_equal(noli_scene_step_count(scene), cases[i].steps);
    noli_scene_destroy(&scene);
  }
  test_context_done(&context);
}

static void byte_order_mark_is_skipped(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliScene* scene = NULL;
  ASSERT_OK(parse_quoted(context, "\xef\xbb\xbf{" TIME ", 'bodies': [" CUBE "]}", &scene));
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(smallest_scene_equals_the_defaults),
      cmocka_unit_test(audits_are_named_or_switched),
      cmocka_unit_test(every_key_reaches_the_definition),
      cmocka_unit_test(scene_as_run_gives_the_same_definition),
      cmocka_unit_test(files_are_relative_to_the_scene),
      cmocka_unit_test(overrides_replace_values),
      cmocka_unit_test(invalid_overrides_are_refused),
      cmocka_unit_test(selections_find_their_vertices),
      cmocka_unit_test(tags_come_from_the_file),
      cmocka_unit_test(placement_mirrors_turns_and_fits),
      cmocka_unit_test(every_shape_can_be_made),
      cmocka_unit_test(meshes_are_given_as_arrays),
      cmocka_unit_test(texts_without_a_name_have_paths_only),
      cmocka_unit_test(curved_shapes),
      cmocka_unit_test(shapes_follow_expressions_and_profiles),
      cmocka_unit_test(volumes_reach_the_definition),
      cmocka_unit_test(flat_bodies_reach_the_definition),
      cmocka_unit_test(steps_round_up),
      cmocka_unit_test(byte_order_mark_is_skipped),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
