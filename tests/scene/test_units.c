// Units do not matter: scenes take the same iterations in metres and kilograms, in millimetres and
// tonnes (N, MPa) and in inches and pounds, and give the same bits in units that are powers of two.
// The units of keys come from the tables of the scene format, so this test covers new keys
// automatically.
#include "scene_support.h"

#include "noli/noli.h"
#include "scene/format.h"

#include <jansson.h>

typedef struct Units {
  double length;   // number of new units in a metre
  double mass;     // and in a kilogram
  char number[32]; // that of the length, for expressions
} Units;

// The number of new units in a unit; seconds are unchanged.
static double factor_of(const char* unit, const Units* new) {
  static const struct {
    const char* unit;
    int length, mass; // powers
  } units[] = {{"m", 1, 0},     {"m/s", 1, 0},     {"m/s^2", 1, 0}, {"N", 1, 1},
               {"Pa", -1, 1},   {"1/Pa", 1, -1},   {"Pa/m", -2, 1}, {"N/m", 0, 1},
               {"N s/m", 0, 1}, {"kg/m^3", -3, 1}, {"s/m", -1, 0},  {"s", 0, 0},
               {"deg", 0, 0},   {"rad/s", 0, 0},   {"deg/s", 0, 0}, {"1/s", 0, 0},
               {"MB", 0, 0}};
  for (size_t k = 0; unit != NULL && k < sizeof units / sizeof *units; k++) {
    if (strcmp(unit, units[k].unit) == 0) {
      return pow(new->length, units[k].length) * pow(new->mass, units[k].mass);
    }
  }
  if (unit != NULL) {
    fail_msg("the unit \"%s\" of the scene format is not known here", unit);
  }
  return 1.0;
}

static bool is_choice(const NoliSceneType* type, const char* text) {
  for (int32_t k = 0; noli_scene_choice(type, k) != NULL; k++) {
    if (strcmp(noli_scene_choice(type, k), text) == 0) {
      return true;
    }
  }
  return false;
}

// The alternative of a kind, or NULL.
static const NoliSceneType* of_kind(const NoliSceneType* type, NoliSceneKind kind) {
  const NoliSceneType* found = type->kind == kind ? type : NULL;
  for (int32_t k = 0; type->kind == NOLI_SCENE_EITHER && type->alternatives[k] != NULL; k++) {
    found = found == NULL ? of_kind(type->alternatives[k], kind) : found;
  }
  return found;
}

// An expression in t, X, Y, Z of a quantity, times the factor.
static json_t* convert_expression(const char* text, double factor, const Units* units) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789.";
  char out[SCENE_TEXT];
  int length = snprintf(out, sizeof out, "%.17g * (", factor);
  while (*text != '\0') {
    size_t n = strspn(text, letters);
    bool variable = n == 1 && *text >= 'X' && *text <= 'Z';
    n = n > 0 ? n : 1;
    length += snprintf(out + length, sizeof out - (size_t)length, variable ? "(%.*s/%s)" : "%.*s",
                       (int)n, text, units->number);
    text += n;
  }
  snprintf(out + length, sizeof out - (size_t)length, ")");
  return json_string(out);
}

static json_t* convert(const json_t* value, const NoliSceneType* type, double factor,
                       const Units* units);

static json_t* convert_object(const json_t* object, const NoliSceneType* type, const Units* units) {
  json_t* made = json_object();
  const NoliSceneType* fields = of_kind(type, NOLI_SCENE_OBJECT);
  assert_non_null(fields);
  for (int32_t k = 0; k < fields->n_fields; k++) {
    const NoliSceneField* field = &fields->fields[k];
    const json_t* value = json_object_get(object, field->key);
    if (value != NULL) {
      json_object_set_new(made, field->key,
                          convert(value, field->type, factor_of(field->unit, units), units));
    }
  }
  assert_int_equal(json_object_size(made), json_object_size(object));
  // a mesh from a file has the unit of the file
  if (json_is_string(json_object_get(object, "mesh"))) {
    json_t* scale = json_object_get(object, "scale");
    const NoliSceneType length = {.kind = NOLI_SCENE_NUMBER};
    const NoliSceneType lengths = {.kind = NOLI_SCENE_LIST, .item = &length};
    json_object_set_new(
        made, "scale",
        convert(scale, json_is_array(scale) ? &lengths : &length, units->length, units));
  }
  return made;
}

// A value of a quantity in the new units.
static json_t* convert(const json_t* value, const NoliSceneType* type, double factor,
                       const Units* units) {
  if (json_is_object(value)) {
    return convert_object(value, type, units);
  }
  if (json_is_array(value)) {
    const NoliSceneType* list = of_kind(type, NOLI_SCENE_LIST);
    assert_non_null(list);
    json_t* made = json_array();
    for (size_t k = 0; k < json_array_size(value); k++) {
      json_array_append_new(made, convert(json_array_get(value, k), list->item, factor, units));
    }
    return made;
  }
  if (json_is_number(value) && factor != 1.0) {
    return json_real(json_number_value(value) * factor);
  }
  const NoliSceneType* choice = of_kind(type, NOLI_SCENE_CHOICE);
  if (json_is_string(value) && of_kind(type, NOLI_SCENE_EXPRESSION) != NULL &&
      (choice == NULL || !is_choice(choice, json_string_value(value)))) {
    return convert_expression(json_string_value(value), factor, units);
  }
  return json_deep_copy(value);
}

enum { MOST_STEPS = 16 };

typedef struct Course {
  int32_t n_vert;
  double* x;        // at the end, in metres
  double last_step; // m, largest motion of the last Newton step: tolerance of the speed times time
                    // step
  int32_t newton[MOST_STEPS];
  int64_t contacts;
} Course;

// The diagonal of the bounding box of all bodies, as used by the default tolerance.
static double extent(const NoliSim* sim) {
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
  for (int32_t k = 0; k < 3 * noli_sim_vertex_count(sim); k++) {
    low[k % 3] = noli_smaller(low[k % 3], noli_sim_positions(sim)[k]);
    high[k % 3] = noli_larger(high[k % 3], noli_sim_positions(sim)[k]);
  }
  return hypot(hypot(high[0] - low[0], high[1] - low[1]), high[2] - low[2]);
}

// Runs the first steps of a scene in some units.
static Course run(NoliContext* context, const NoliScene* scene, int n_steps, double length,
                  double mass) {

  // convert the scene to the units
  Units units = {.length = length, .mass = mass};
  snprintf(units.number, sizeof units.number, "%.17g", length);
  char* text = NULL;
  ASSERT_OK(noli_scene_json(scene, &text));
  json_t* root = json_loads(text, 0, NULL);
  assert_non_null(root);
  json_t* converted = convert(root, &noli_scene_format, 1.0, &units);
  char* dumped = json_dumps(converted, JSON_REAL_PRECISION(17));
  NoliScene* made = NULL;
  if (noli_scene_parse(context, dumped, "converted", NULL, NULL, 0, &made) != NOLI_OK) {
    fail_msg("%s", noli_context_message(context));
  }

  // simulate
  Course course = {0};
  NoliSim* sim = NULL;
  ASSERT_OK(noli_sim_create(context, noli_scene_sim_def(made), &sim));
  for (int step = 0; step < n_steps; step++) {
    NoliStepReport report;
    if (noli_sim_step(sim, &report) != NOLI_OK) {
      fail_msg("%s", noli_context_message(context));
    }
    course.newton[step] = report.newton_iterations;
    course.contacts += report.contacts;
  }

  // positions in metres
  course.n_vert = noli_sim_vertex_count(sim);
  course.last_step = 1e-2 * extent(sim) * noli_scene_sim_def(made)->time_step / length;
  course.x = malloc(sizeof *course.x * 3 * (size_t)course.n_vert);
  for (int32_t k = 0; k < 3 * course.n_vert; k++) {
    course.x[k] = noli_sim_positions(sim)[k] / length;
  }
  noli_sim_destroy(&sim);
  noli_scene_destroy(&made);
  json_decref(root);
  json_decref(converted);
  free(dumped);
  noli_scene_free_text(context, &text);
  return course;
}

// Largest difference of positions, m.
static double difference(const Course* a, const Course* b) {
  double largest = 0.0;
  assert_int_equal(a->n_vert, b->n_vert);
  for (int32_t k = 0; k < 3 * a->n_vert; k++) {
    double d = fabs(a->x[k] - b->x[k]);
    largest = !(d <= largest) ? d : largest;
  }
  return largest;
}

static void print_course(const char* name, const Course* course, int n_steps) {
  print_message("%s:", name);
  for (int step = 0; step < n_steps; step++) {
    print_message(" %d", course->newton[step]);
  }
  print_message(" iterations, %lld contacts\n", (long long)course->contacts);
}

typedef struct Example {
  const char* file;
  int n_steps;
  NoliSceneOverride set; // values with an implicit unit
  bool aligned;     // contacts at equal gaps: rounding decides which of them count, without force
  bool chaotic;     // rounding is enough to change it: only equal bits are a valid requirement
  double last_bits; // m, by which positions in a unit that is a power of two may differ
} Example;

static void expect_same(const Example* example) {
  static const struct {
    const char* name;
    double length, mass;
    bool exact;
  } units[] = {{"powers of two", 1024.0, 1.0 / 1024.0, true},
               {"millimetres", 1000.0, 1.0, false},
               {"millimetres and tonnes (N, MPa)", 1000.0, 1e-3, false},
               {"inches and pounds of force", 1.0 / 0.0254, 1.0 / 175.126835, false}};

  // the scene in metres
  char root[512], path[1024];
  snprintf(path, sizeof path, "%s%s", repository(__FILE__, root, sizeof root), example->file);
  NoliContext* context = test_context(1);
  NoliScene* scene = NULL;
  if (noli_scene_load(context, path, &example->set, example->set.path != NULL ? 1 : 0, &scene) !=
      NOLI_OK) {
    fail_msg("%s", noli_context_message(context));
  }
  int n_steps = example->n_steps;
  Course metres = run(context, scene, n_steps, 1.0, 1.0);
  print_course(example->file, &metres, n_steps);

  // other units
  for (int u = 0; u < (example->chaotic ? 1 : 4); u++) {
    Course other = run(context, scene, n_steps, units[u].length, units[u].mass);
    double off = difference(&metres, &other);
    bool same = memcmp(metres.newton, other.newton, sizeof other.newton) == 0;
    if (!same) {
      print_course(units[u].name, &other, n_steps);
    }
    print_message("  %s: off by %.2g m\n", units[u].name, off);
    assert_true(same && (example->aligned || metres.contacts == other.contacts));
    // rounding amplified by contact, far below the tolerance of the last Newton step
    ASSERT_AT_MOST(off, units[u].exact ? example->last_bits : 0.02 * metres.last_step);
    free(other.x);
  }

  // release
  free(metres.x);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

static void expect_all(const Example* example, size_t n) {
  for (size_t k = 0; k < n; k++) {
    expect_same(&example[k]);
  }
}

static void examples_do_not_depend_on_units(void** state) {
  (void)state;
  static const Example examples[] = {
      // unless the scene sets it, a gas is compressed by the ambient pressure of 101325 Pa
      {.file = "examples/ball_bounce.json",
       .n_steps = 3,
       .set = {"bodies[0].volume.compression", "4.9e-6"}},
      {.file = "examples/ball_in_box.json", .n_steps = 3},
      {.file = "examples/ball_squish.json", .n_steps = 3},
      {.file = "examples/block_slide.json", .n_steps = 5},
      {.file = "examples/chain.json", .n_steps = 3},
      {.file = "examples/curved_ball.json", .n_steps = 3},
      {.file = "examples/demo.json", .n_steps = 3},
      {.file = "examples/falling_blocks.json", .n_steps = 5},
      {.file = "examples/grasp.json", .n_steps = 3},
      {.file = "examples/guide/first.json", .n_steps = 5},
      {.file = "examples/guide/press.json", .n_steps = 5},
      // if two ways of cutting a polygon are equally good, rounding chooses
      {.file = "examples/plane_strain.json", .n_steps = 5, .chaotic = true},
      {.file = "examples/pressed_ball.json", .n_steps = 3},
      {.file = "examples/rods.json", .n_steps = 3},
      {.file = "examples/slit_block.json", .n_steps = 3},
      {.file = "examples/smooth_contact.json", .n_steps = 3},
      {.file = "examples/stick_slip.json", .n_steps = 3},
      {.file = "examples/suspension.json", .n_steps = 5},
      {.file = "examples/twisting_rod.json", .n_steps = 3},
  };
  expect_all(examples, sizeof examples / sizeof *examples);
}

static void large_examples_do_not_depend_on_units(void** state) {
  (void)state;
  static const Example examples[] = {
      {.file = "examples/geometric/compactor.json", .n_steps = 1, .aligned = true},
      // steps of up to four times the Newton step, with its last bits
      {.file = "examples/high_order/bending_beam.json", .n_steps = 1, .last_bits = 4e-15},
      // bars that buckle to a side that rounding chooses
      {.file = "examples/high_order/truss_compression.json", .n_steps = 1, .chaotic = true},
      // impacts of stiff cubes: a unit of 1.1 m and rounding lead to 20 iterations instead of 14
      {.file = "examples/stress/near_rigid.json", .n_steps = 1, .chaotic = true},
      // one step of an impact in which all is crushed
      {.file = "examples/stress/plate_impact.json", .n_steps = 1, .chaotic = true},
      {.file = "examples/stress/twisting_rods.json", .n_steps = 1},
  };
  expect_all(examples, sizeof examples / sizeof *examples);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(examples_do_not_depend_on_units),
      cmocka_unit_test(large_examples_do_not_depend_on_units),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
