// Properties of a material that are expressions of the place, in bodies of all kinds.
#include "scene_support.h"

#include "noli/noli.h"

#define STEPS(n, integrator)                                                                       \
  "'time': {'step': 0.1, 'steps': " #n ", 'integrator': '" integrator "'}"
#define ALONE "'gravity': [0, 0, 0], 'contact': {'enabled': false}"
#define HELD "'prescribed': [{'body': 'bar', 'select': {'side': '-x'}, 'motion': {'hold': true}}]"
// Stretched by a load, and kept straight: thin bodies turn freely about what holds them.
#define STRETCHED(body, load)                                                                      \
  "{" STEPS(                                                                                       \
      1, "quasi_static") "," ALONE ", 'solver': {'tolerance': 1e-12},"                             \
                         "'bodies': [{'name': 'bar', " body "}],"                                  \
                         "'prescribed': ["                                                         \
                         "{'body': 'bar', 'motion': {'displacement': ['free', 0, 0]}},"            \
                         "{'body': 'bar', 'select': {'side': '-x'}, 'motion': {'hold': true}}],"   \
                         "'forces': [{'body': 'bar', 'select': {'side': '+x'}, " load "}]}"

#define BOX "'mesh': {'box': {'size': [2, 0.5, 0.5], 'cells': [8, 2, 2]}}"
#define FLAT "'mesh': {'rectangle': {'size': [2, 0.5], 'cells': [8, 2]}}"
#define SECTION (3.14159265358979323846 * 0.02 * 0.02)
#define LINE "'mesh': {'line': {'length': 2, 'segments': 8}}"

typedef struct Run {
  NoliContext* context;
  NoliScene* scene;
  NoliSim* sim;
} Run;

static Run begin(const char* text) {
  Run run = {.context = test_context(1)};
  ASSERT_OK(parse_quoted(run.context, text, &run.scene));
  ASSERT_OK(noli_sim_create(run.context, noli_scene_sim_def(run.scene), &run.sim));
  return run;
}

static void end(Run* run) {
  noli_sim_destroy(&run->sim);
  noli_scene_destroy(&run->scene);
  test_context_done(&run->context);
}

static double largest_x(const NoliSim* sim, const double* x) {
  double largest = -(double)INFINITY;
  for (int32_t v = 0; v < noli_sim_vertex_count(sim); v++) {
    largest = noli_larger(largest, x[3 * (int64_t)v]);
  }
  return largest;
}

static double extension(const char* text) {
  Run run = begin(text);
  ASSERT_OK(noli_sim_step(run.sim, NULL));
  double longer = largest_x(run.sim, noli_sim_positions(run.sim)) -
                  largest_x(run.sim, noli_sim_rest_positions(run.sim));
  end(&run);
  return longer;
}

// Eight columns of cells, or segments, from x = -1 to 1 are springs in series.
static void columns_are_springs_in_series(void** state) {
  (void)state;
  // E at the middle of each of them; poisson 0: no transverse strain at the held end
  static const char young[] = "'material': {'young': '1e9*(1 + (floor(4*(X+1)) + 0.5)/8)', "
                              "'poisson': 0}";
  static const struct {
    const char* body;
    double area;
    const char* load;
  } bars[] = {{BOX, 0.25, "'traction': [4, 0, 0]"},
              {BOX ", 'order': 2", 0.25, "'traction': [4, 0, 0]"},
              {FLAT ", 'plane_strain': 0.3", 0.15, "'nodal': ['0.25 + 0.25*(abs(Y) < 0.1)', 0, 0]"},
              {FLAT ", 'shell': {'thickness': 0.01}", 0.005,
               "'nodal': ['0.25 + 0.25*(abs(Y) < 0.1)', 0, 0]"},
              {LINE ", 'rod': {'radius': 0.02}", SECTION, "'nodal': [1, 0, 0]"}};
  for (size_t i = 0; i < sizeof bars / sizeof *bars; i++) {
    char text[SCENE_TEXT];
    double want = 0.0;
    snprintf(text, sizeof text, STRETCHED("%s, %s", "%s"), bars[i].body, young, bars[i].load);
    for (int cell = 0; cell < 8; cell++) {
      want += 0.25 / (bars[i].area * 1e9 * (1.0 + (cell + 0.5) / 8.0));
    }
    double found = extension(text);
    print_message("bar %d: longer by %.9g m, springs %.9g m\n", (int)i, found, want);
    ASSERT_NEAR(found, want, 1e-5 * want);
  }
}

// F L ln 2 / (A E0) with E = E0 (1 + (X + 1) / 2); a segment has the value of its middle.
static void modulus_may_grow_along_a_bar(void** state) {
  (void)state;
  double error[3];
  for (int k = 0; k < 3; k++) {
    char text[SCENE_TEXT];
    snprintf(text, sizeof text,
             STRETCHED("'mesh': {'line': {'length': 2, 'segments': %d}}, 'rod': {'radius': 0.02}, "
                       "'material': {'young': '1e9*(1 + (X+1)/2)'}",
                       "'nodal': [1, 0, 0]"),
             2 << k);
    error[k] = extension(text) / (2.0 * log(2.0) / (SECTION * 1e9)) - 1.0;
  }
  print_message("relative errors with 2, 4, 8 segments: %g, %g, %g\n", error[0], error[1],
                error[2]);
  // of the midpoint rule, h^2 / 24 (f'(1) - f'(-1)) / (2 ln 2)
  ASSERT_NEAR(error[2], -1.0 / 64.0 / 24.0 * (1.0 - 0.25) / log(2.0), 2e-5);
  assert_true(error[1] / error[2] > 3.8 && error[0] / error[1] > 3.8);
}

static double mass_of(const char* body) {
  char text[SCENE_TEXT];
  snprintf(text, sizeof text,
           "{'time': {'steps': 1}, 'bodies': [{%s, 'translate': [1, 0, 0], 'material': {'density': "
           "'1000*X'}}]}",
           body);
  NoliContext* context = test_context(1);
  NoliScene* scene = NULL;
  NoliSimMeasures measures;
  ASSERT_OK(parse_quoted(context, text, &scene));
  ASSERT_OK(noli_sim_measure(context, noli_scene_sim_def(scene), &measures));
  double mass = measures.mass[0];
  noli_sim_measures_free(context, &measures);
  noli_scene_destroy(&scene);
  test_context_done(&context);
  return mass;
}

// Bodies from x = 0 to 2 with the density 1000 x, exact where the centre is that of mass.
static void mass_is_the_integral_of_the_density(void** state) {
  (void)state;
  ASSERT_NEAR(mass_of(BOX), 500.0, 1e-9);
  ASSERT_NEAR(mass_of(BOX ", 'order': 2"), 500.0, 1e-9);
  ASSERT_NEAR(mass_of(FLAT ", 'plane_strain': 0.3"), 300.0, 1e-9);
  ASSERT_NEAR(mass_of(FLAT ", 'shell': {'thickness': 0.01}"), 10.0, 1e-9);
  ASSERT_NEAR(mass_of(LINE ", 'rod': {'radius': 0.02}"), 2000.0 * SECTION, 1e-9);
  ASSERT_NEAR(mass_of("'mesh': {'arrays': {'positions': [[0, 0, 0], [1, 0, 0]], 'points': [0, 1]}},"
                      "'point': {'radius': 0.3}"),
              3000.0 * 4.0 / 3.0 * acos(-1.0) * 0.027, 1e-9);
}

#define SWINGING(body, young, poisson, density)                                                    \
  "{" STEPS(3, "trapezoidal") "," ALONE ", 'bodies': [{'name': 'bar', " body ","                   \
                              "'angular_velocity': [0, 0, 1], 'material': {'young': " young        \
                              ", 'poisson': " poisson ", 'density': " density                      \
                              ", 'damping': 0.01, 'mass_damping': 0.1}}]," HELD "}"

// An expression with the same value everywhere gives the same bits as the number.
static void uniform_fields_are_numbers(void** state) {
  (void)state;
  static const char* const bodies[] = {
      BOX,
      BOX ", 'order': 2",
      FLAT ", 'plane_strain': 0.3",
      FLAT ", 'shell': {'thickness': 0.01, 'bending_law': 'plate'}",
      FLAT ", 'shell': {'thickness': 0.01, 'woven': true}",
      LINE ", 'rod': {'radius': 0.02, 'twist': 1}",
  };
  for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
    Run run[2];
    char text[SCENE_TEXT];
    snprintf(text, sizeof text, SWINGING("%s", "2e5", "0.25", "1500"), bodies[i]);
    run[0] = begin(text);
    snprintf(text, sizeof text, SWINGING("%s", "'2e5 + 0*X'", "'0.25 + 0*Y'", "'1500 + 0*Z'"),
             bodies[i]);
    run[1] = begin(text);
    const NoliBodyDef* body = &noli_scene_sim_def(run[1].scene)->bodies[0];
    assert_true(body->fields.young != NULL && body->fields.density[7] == 1500.0);
    for (int step = 0; step < 3; step++) {
      ASSERT_OK(noli_sim_step(run[0].sim, NULL));
      ASSERT_OK(noli_sim_step(run[1].sim, NULL));
    }
    size_t n = (size_t)noli_sim_vertex_count(run[0].sim);
    assert_memory_equal(noli_sim_positions(run[0].sim), noli_sim_positions(run[1].sim),
                        3 * n * sizeof(double));
    end(&run[0]);
    end(&run[1]);
  }
}

#define BAR(material, part)                                                                        \
  "{" STEPS(1, "backward_euler") "," ALONE ", 'bodies': [{'name': 'bar', " BOX ","                 \
                                 "'material': {" material                                          \
                                 "}, 'parts': [{'select': {'elements': [5, 150]}, "                \
                                 "'material': {" part "}}]}]," HELD "}"

// A list has the bits of the numbers, and those of a part are its own.
static void lists_are_fields(void** state) {
  (void)state;
  Run run[2] = {begin("{" STEPS(
      3,
      "backward_euler") "," ALONE ", 'bodies': [{'name': 'bar', " LINE
                        ", 'rod': {'radius': 0.02}, 'material': {'young': '1e6*(3+X)', 'density': "
                        "1500}}]," HELD "}")};
  const NoliBodyDef* body = &noli_scene_sim_def(run[0].scene)->bodies[0];
  char text[SCENE_TEXT], list[SCENE_TEXT / 2] = "";
  int32_t n = body->mesh->n_edge;
  for (int32_t e = 0; e < n; e++) {
    snprintf(list + strlen(list), sizeof list - strlen(list), "%s%.17g", e > 0 ? ", " : "",
             body->fields.young[e]);
  }
  snprintf(text, sizeof text,
           "{" STEPS(3, "backward_euler") "," ALONE ", 'bodies': [{'name': 'bar', " LINE
                                          ", 'rod': {'radius': 0.02}, 'material': {'young': [%s], "
                                          "'density': 1500}}]," HELD "}",
           list);
  run[1] = begin(text);
  for (int step = 0; step < 3; step++) {
    ASSERT_OK(noli_sim_step(run[0].sim, NULL));
    ASSERT_OK(noli_sim_step(run[1].sim, NULL));
  }
  size_t bytes = 3 * sizeof(double) * (size_t)noli_sim_vertex_count(run[0].sim);
  assert_memory_equal(noli_sim_positions(run[0].sim), noli_sim_positions(run[1].sim), bytes);
  end(&run[0]);
  end(&run[1]);

  run[0] = begin(BAR("'young': '1e6*(3+X)'", "'young': [7e6, 8e6], 'poisson': [0.1, 0.2]"));
  const NoliPartDef* part = &noli_scene_sim_def(run[0].scene)->bodies[0].parts[0];
  assert_true(part->fields.young[0] == 7e6 && part->fields.young[1] == 8e6);
  assert_true(part->fields.poisson[1] == 0.2);
  end(&run[0]);
}

// Expressions without X, Y, Z are numbers; a part has the expressions of the body, or its own.
static void parts_override_fields(void** state) {
  (void)state;
  Run run = begin(BAR("'young': '1e6*(3+X)', 'poisson': 'pi/10', 'density': '1000+Y'",
                      "'young': 7e6, 'poisson': '0.2+0.1*Z'"));
  const NoliBodyDef* body = &noli_scene_sim_def(run.scene)->bodies[0];
  const NoliPartDef* part = &body->parts[0];
  assert_true(body->fields.poisson == NULL && body->fields.young != NULL);
  ASSERT_NEAR(body->material.poisson, acos(-1.0) / 10.0, 1e-15);
  assert_true(part->fields.young == NULL && part->material.young == 7e6);
  assert_int_equal(part->n_element, 2);
  for (int32_t i = 0; i < 2; i++) {
    const int32_t* tet = body->mesh->tet + 4 * (int64_t)part->element[i];
    double z = 0.0;
    for (int k = 0; k < 4; k++) {
      z += 0.25 * body->mesh->x[3 * (int64_t)tet[k] + 2];
    }
    ASSERT_NEAR(part->fields.poisson[i], 0.2 + 0.1 * z, 1e-15);
    ASSERT_NEAR(part->fields.density[i], body->fields.density[part->element[i]], 0.0);
  }
  end(&run);

  // what replaces a property of the body replaces its field
  run = begin(BAR("'young': '1e6*(3+X)', 'poisson': '0.3+0.1*X'",
                  "'law': 'mooney_rivlin', 'c10': 1e5, 'c01': 1e4, 'bulk': 1e7"));
  part = &noli_scene_sim_def(run.scene)->bodies[0].parts[0];
  assert_true(part->fields.young == NULL && part->fields.poisson == NULL);
  end(&run);
}

static void expect(const char* material, const char* part, const char* place, const char* message) {
  NoliContext* context = test_context(1);
  NoliScene* scene = NULL;
  char text[SCENE_TEXT];
  snprintf(text, sizeof text, BAR("%s", "%s"), material, part);
  ASSERT_STATUS(parse_quoted(context, text, &scene), NOLI_ERROR_FORMAT);
  if (strstr(noli_context_message(context), place) == NULL ||
      strstr(noli_context_message(context), message) == NULL) {
    fail_msg("\"%s\", \"%s\" are not in: %s", place, message, noli_context_message(context));
  }
  assert_null(scene);
  test_context_done(&context);
}

static void mistakes_are_located(void** state) {
  (void)state;
  expect("'young': '1e6*X'", "", "bodies[0].material.young",
         "must be in (0, 1e+40], got -937500 at (-0.9375, -0.125, -0.0625), the centre of "
         "element 0");
  expect("'poisson': '0.4 + 0.2*X'", "", "bodies[0].material.poisson",
         "must be in (-1, 0.5), got ");
  expect("'density': '1000/(1 + 0*X) - 1000'", "", "bodies[0].material.density",
         "must be in (0, 1e+40], got 0 at");
  expect("'young': 'sqrt(X)'", "", "bodies[0].material.young", "has no finite value at (-0.9375");
  expect("'young': '-1'", "", "bodies[0].material.young", "must be in (0, 1e+40], got -1");
  expect("'young': [1e6, 2e6]", "", "bodies[0].material.young", "must have a number for each of ");
  expect("", "'density': [1e3]", "bodies[0].parts[0].material.density",
         "must have a number for each of 2 elements, has 1");
  expect("", "'poisson': [0.3, 0.5]", "bodies[0].parts[0].material.poisson[1]",
         "must be in (-1, 0.5)");
  expect("", "'young': [1e6, '1e6*X']", "bodies[0].parts[0].material.young[1]", "must be a number");
  expect("'young': '1e6 + t'", "", "bodies[0].material.young",
         "may depend on X, Y, Z only, not on t");
  expect("'young': '1e6*(X'", "", "bodies[0].material.young", "a parenthesis is missing");
  expect("'young': 0", "", "bodies[0].material.young", "must be in (0, 1e+40], got 0");
  expect("'damping': '0.1*X'", "", "bodies[0].material.damping", "must be a number");
  expect("", "'density': '1e3*(X - 1)'", "bodies[0].parts[0].material.density", "element 5");
  expect("'law': 'mooney_rivlin', 'c10': 1e5, 'c01': 1e4, 'young': '1e6*(3+X)'", "",
         "bodies[0].material.young", "is not used with the parameters of the law");
  expect("'law': 'mooney_rivlin', 'c10': 1e5, 'bulk': 1e7, 'c01': 1e4, 'poisson': '0.4+X/100'", "",
         "bodies[0].material.poisson", "is not used with \"bulk\"");
}

static void refuse(NoliContext* context, const NoliBodyDef* body, const char* message) {
  NoliSimDef def = noli_default_sim_def();
  NoliSim* sim = NULL;
  def.bodies = body;
  def.n_bodies = 1;
  ASSERT_STATUS(noli_sim_create(context, &def, &sim), NOLI_ERROR_ARGUMENT);
  if (strstr(noli_context_message(context), message) == NULL) {
    fail_msg("\"%s\" is not in: %s", message, noli_context_message(context));
  }
}

static void definitions_are_checked(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_box(context, (double[]){1, 1, 1}, (int32_t[]){1, 1, 1}, false, &mesh));
  double value[6] = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0};
  const int32_t element[] = {4, 2};
  assert_int_equal(mesh->n_tet, 6);
  const double* x = mesh->x;
  const int32_t* tet = mesh->tet + 4 * 3;
  double y = 0.25 * (x[3 * tet[0] + 1] + x[3 * tet[1] + 1] + x[3 * tet[2] + 1] + x[3 * tet[3] + 1]);
  char place[80];
  snprintf(place, sizeof place, ", %g, ", y);
  NoliBodyDef body = noli_default_body_def();
  body.name = "cube";
  body.mesh = mesh;

  // values of the body
  body.fields.young = value;
  value[3] = 0.0;
  refuse(context, &body, "body \"cube\", element 3 at (");
  refuse(context, &body, place);
  refuse(context, &body, "Young's modulus must be in (0, 1e+40], got 0");
  value[3] = (double)INFINITY;
  refuse(context, &body, "got inf");
  body.fields = (NoliMaterialFields){.poisson = value};
  value[3] = 0.5;
  value[0] = value[1] = value[2] = -0.999;
  refuse(context, &body, "element 3 at (");
  refuse(context, &body, "Poisson's ratio must be in (-1, 0.5), got 0.5");
  body.fields = (NoliMaterialFields){.density = value};
  value[0] = (double)NAN;
  refuse(context, &body, "density must be in (0, 1e+40], got ");

  // of a part
  NoliPartDef part = {.element = element, .n_element = 2, .material = body.material};
  part.fields.density = value;
  value[0] = 1.0;
  value[1] = -1.0;
  body.fields = (NoliMaterialFields){.young = NULL};
  body.parts = &part;
  body.n_parts = 1;
  refuse(context, &body, "element 2 at (");
  body.parts = NULL;
  body.n_parts = 0;

  // members of a later library
  body.fields.reserved[0] = value;
  refuse(context, &body, "sets fields that Noli " NOLI_VERSION " does not have");
  body.fields.reserved[0] = NULL;

  // what has none
  body.fields.young = value;
  body.material.law = "mooney_rivlin";
  body.material.parameter[0] = 1e5;
  refuse(context, &body, "is not used with the parameters of the law \"mooney_rivlin\"");
  body.obstacle = true;
  refuse(context, &body, "has fields of a material");
  body.obstacle = false;
  body.fields = (NoliMaterialFields){.density = value};
  body.proxy.kind = "subdivision";
  body.proxy.subdivision = 2;
  body.proxy.balance = true;
  refuse(context, &body, "cannot be balanced");
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

// A simulation has copies of the values: it is rebuilt and cloned after they are gone.
static void simulations_keep_their_fields(void** state) {
  (void)state;
  Run run = begin(BAR("'young': '1e6*(3+X)', 'density': '1000*(2+X)'", "'young': '1e6*(5+Y)'"));
  NoliMaterialDef material;
  NoliSim* clone = NULL;
  noli_scene_destroy(&run.scene);
  ASSERT_OK(noli_sim_material(run.sim, 0, NOLI_NULL_INDEX, &material));
  assert_true(material.young == 1e5 && material.poisson == 0.4 && material.density == 1000.0);

  // numbers that have no effect are refused
  material.young = 2e5;
  ASSERT_STATUS(noli_sim_set_material(run.sim, 0, NOLI_NULL_INDEX, &material), NOLI_ERROR_ARGUMENT);
  assert_non_null(strstr(noli_context_message(run.context), "gives the Young's modulus"));
  ASSERT_STATUS(noli_sim_set_material(run.sim, 0, 0, &material), NOLI_ERROR_ARGUMENT);
  material.young = 1e5;
  material.damping = 1e-3;
  ASSERT_OK(noli_sim_set_material(run.sim, 0, NOLI_NULL_INDEX, &material));

  // the same motion
  ASSERT_OK(noli_sim_clone(run.sim, run.context, &clone));
  double(*v)[3] = calloc((size_t)noli_sim_vertex_count(clone), sizeof *v);
  assert_non_null(v);
  for (int32_t i = 0; i < noli_sim_vertex_count(clone); i++) {
    v[i][1] = 0.1 * noli_sim_rest_positions(clone)[3 * (int64_t)i];
  }
  ASSERT_OK(noli_sim_set_state(run.sim, noli_sim_positions(run.sim), v[0]));
  ASSERT_OK(noli_sim_set_state(clone, noli_sim_positions(clone), v[0]));
  ASSERT_OK(noli_sim_step(run.sim, NULL));
  ASSERT_OK(noli_sim_step(clone, NULL));
  assert_memory_equal(noli_sim_positions(run.sim), noli_sim_positions(clone),
                      3 * sizeof(double) * (size_t)noli_sim_vertex_count(clone));
  free(v);
  noli_sim_destroy(&clone);
  end(&run);
}

// Fields may be changed as numbers may, not which elements are those of a part.
static void checkpoints_do_not_compare_fields(void** state) {
  (void)state;
#define WHOLE(young)                                                                               \
  "{" STEPS(1, "backward_euler") "," ALONE ", 'bodies': [{'name': 'bar', " BOX ","                 \
                                 "'material': {'young': " young "}}]," HELD "}"
  static const struct {
    const char* saved;
    const char* loaded;
    NoliStatus status;
  } cases[] = {
      {WHOLE("1e6"), WHOLE("'1e6*(3+X)'"), NOLI_OK},
      {WHOLE("'1e6*(3+X)'"), WHOLE("'X < 0 ? 1e6 : 2e6'"), NOLI_OK},
      {WHOLE("'1e6*(3+X)'"), WHOLE("2e6"), NOLI_OK},
      {BAR("'young': '1e6*(3+X)'", "'young': 1e6"), BAR("'young': '2e6*(3+Y)'", "'density': 900"),
       NOLI_OK},
      {BAR("'young': '1e6*(3+X)'", ""), WHOLE("'1e6*(3+X)'"), NOLI_ERROR_FORMAT},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    Run run = begin(cases[i].saved);
    ASSERT_OK(noli_sim_step(run.sim, NULL));
    ASSERT_OK(noli_checkpoint_save(run.context, run.sim, NULL, "material_fields.h5"));
    end(&run);
    run = begin(cases[i].loaded);
    ASSERT_STATUS(noli_checkpoint_load(run.context, run.sim, "material_fields.h5"),
                  cases[i].status);
    assert_true(cases[i].status == NOLI_OK ||
                strstr(noli_context_message(run.context), "other parts") != NULL);
    end(&run);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(columns_are_springs_in_series),
      cmocka_unit_test(modulus_may_grow_along_a_bar),
      cmocka_unit_test(mass_is_the_integral_of_the_density),
      cmocka_unit_test(uniform_fields_are_numbers),
      cmocka_unit_test(lists_are_fields),
      cmocka_unit_test(parts_override_fields),
      cmocka_unit_test(mistakes_are_located),
      cmocka_unit_test(definitions_are_checked),
      cmocka_unit_test(simulations_keep_their_fields),
      cmocka_unit_test(checkpoints_do_not_compare_fields),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
