// Units do not matter: all scenes of examples/ and validation/ take the same iterations in metres
// and kilograms, in millimetres and tonnes (N, MPa) and in inches and pounds, and give the same
// bits in units that are powers of two. The list of scenes comes from the folders, and the units of
// keys from the tables of the scene format, so that this test covers new ones automatically.
#define _POSIX_C_SOURCE 200809L

#include "scene_support.h"

#include "noli/noli.h"
#include "scene/format.h"

#include <dirent.h>
#include <jansson.h>
#include <sys/stat.h>

typedef struct Units {
  double length;   // number of new units in a metre
  double mass;     // and in a kilogram
  char number[32]; // that of the length, for expressions
  bool planar;     // bodies are in plane strain
  bool travels;    // coordinates of joints are lengths
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
               {"MB", 0, 0},    {"J/m^2", 0, 1},   {"kg", 0, 1},    {"kg m^2", 2, 1},
               {"N m", 2, 1},   {"N m/rad", 2, 1}, {"rad", 0, 0},   {"N m s/rad", 2, 1}};
  // of coordinates of joints: of turns or of travels
  const char* other = unit != NULL ? strstr(unit, " or ") : NULL;
  char first[32] = "";
  if (other != NULL) {
    snprintf(first, sizeof first, "%.*s", (int)(other - unit), unit);
    unit = new->travels ? other + strlen(" or ") : first;
  }
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
  // a letter becomes a quotient
  size_t room = (strlen(text) + 2) * (sizeof units->number + 4), length = 0;
  char* out = malloc(room);
  length += (size_t)snprintf(out, room, "%.17g * (", factor);
  while (*text != '\0') {
    size_t n = strspn(text, letters);
    bool variable = n == 1 && *text >= 'X' && *text <= 'Z';
    n = n > 0 ? n : 1;
    length += (size_t)snprintf(out + length, room - length, variable ? "(%.*s/%s)" : "%.*s", (int)n,
                               text, units->number);
    text += n;
  }
  snprintf(out + length, room - length, ")");
  json_t* made = json_string(out);
  free(out);
  return made;
}

static json_t* convert(const json_t* value, const NoliSceneType* type, double factor,
                       const Units* units);

// Unless the scene sets it, a gas is compressed by the pressure outside, which is in pascals.
static void add_compression(const json_t* object, json_t* made, const Units* units) {
  const char* model = json_string_value(json_object_get(object, "model"));
  bool gas = model != NULL && strcmp(model, "ideal_gas") == 0;
  if (gas && json_object_get(object, "compression") == NULL) {
    double pressure = json_number_value(json_object_get(object, "pressure"));
    double compression = 1.0 / (NOLI_ATMOSPHERE + pressure);
    json_object_set_new(made, "compression", json_real(compression * factor_of("1/Pa", units)));
  }
}

// The unit of a field. That of the stiffness of contact depends on the model, and on the dimension.
static const char* unit_of(const json_t* object, const NoliSceneField* field, const Units* units) {
  const char* model = json_string_value(json_object_get(object, "model"));
  if (strcmp(field->key, "stiffness") == 0 && json_is_true(json_object_get(object, "convergent"))) {
    return "Pa";
  }
  if (strcmp(field->key, "stiffness") != 0 || model == NULL || strcmp(model, "ipc") == 0) {
    return field->unit;
  }
  return strcmp(model, "gcp") == 0 && units->planar ? "N" : "N/m";
}

// The shear moduli of the law "ogden", whose exponents have no unit.
static json_t* convert_ogden(const json_t* terms, const Units* units) {
  json_t* made = json_deep_copy(terms);
  for (size_t k = 0; k < json_array_size(made); k++) {
    json_t* term = json_array_get(made, k);
    double modulus = json_number_value(json_array_get(term, 0));
    json_array_set_new(term, 0, json_real(modulus * factor_of("Pa", units)));
  }
  return made;
}

// Whether a value is the default of a key that the law of the material does not use.
static bool is_unused(const json_t* object, const NoliSceneField* field) {
  static const char* const replaces[] = {"c10", "ogden"};
  bool replaced = false;
  for (size_t k = 0; k < sizeof replaces / sizeof *replaces; k++) {
    replaced = replaced || json_object_get(object, replaces[k]) != NULL;
  }
  return replaced && strcmp(field->key, "young") == 0;
}

static json_t* convert_object(const json_t* object, const NoliSceneType* type, const Units* units) {
  json_t* made = json_object();
  size_t n_unused = 0;
  const NoliSceneType* fields = of_kind(type, NOLI_SCENE_OBJECT);
  assert_non_null(fields);
  Units own = *units;
  if (fields->name != NULL && strcmp(fields->name, "joint") == 0) {
    own.travels = strcmp(json_string_value(json_object_get(object, "type")), "slider") == 0;
  }
  own.travels = own.travels || (fields->name != NULL && strcmp(fields->name, "travel") == 0);
  units = &own;
  for (int32_t k = 0; k < fields->n_fields; k++) {
    const NoliSceneField* field = &fields->fields[k];
    const json_t* value = json_object_get(object, field->key);
    if (value != NULL && is_unused(object, field)) {
      n_unused++;
    } else if (value != NULL && strcmp(field->key, "ogden") == 0) {
      json_object_set_new(made, field->key, convert_ogden(value, units));
    } else if (value != NULL) {
      double factor = factor_of(unit_of(object, field, units), units);
      json_object_set_new(made, field->key, convert(value, field->type, factor, units));
    }
  }
  assert_int_equal(json_object_size(made) + n_unused, json_object_size(object));
  add_compression(object, made, units);
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
  const json_t* body = json_array_get(json_object_get(root, "bodies"), 0);
  units.planar = json_object_get(body, "plane_strain") != NULL;
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
  double largest = a->n_vert == b->n_vert ? 0.0 : (double)INFINITY;
  for (int32_t k = 0; isfinite(largest) && k < 3 * a->n_vert; k++) {
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

// ---- scenes -------------------------------------------------------------------------------------

// Settings that a scene needs, or the reason why less is required of it.
typedef struct Special {
  const char* file;
  int n_steps;           // 0: STEPS
  NoliSceneOverride set; // a scene that needs settings
  const char* counted;   // why rounding decides how many contacts without force count
  const char* varies;    // why rounding changes iterations
  double off;            // then, of positions, relative to the tolerance; 0: OFF
  double last_bits;      // m, by which positions in a unit that is a power of two may differ
} Special;

// Rounding amplified by contact, relative to the largest motion of the last Newton step.
#define OFF 0.02
// Steps of up to four times the Newton step, with its last bits.
#define LAST_BITS 4e-15
// Projected Hessians of twist are those of edges and angles in radians, whose eigenvalues depend on
// the unit of length: so do Newton steps, and the last of them.
#define TWIST_BITS 1e-8

enum { STEPS = 3, MOST_SCENES = 400 };

static const Special specials[] = {
    // the validation puts the bar above the ground
    {.file = "validation/scenes/bar.json", .set = {"bodies[0].translate", "[0, 0.5001, 0]"}},
    // contact of many bodies amplifies rounding in the third step, and in the second one
    {.file = "examples/design/young.json", .n_steps = 2},
    {.file = "examples/stress/well.json", .n_steps = 1},
    {.file = "examples/thin/sleeve.json", .n_steps = 1},
    {.file = "validation/scenes/press_cube.json",
     .counted = "vertices that bulge sideways keep the gap at which contact begins"},
    {.file = "validation/scenes/patch.json",
     .varies = "vertices of one block above edges of the other, without lateral force",
     .last_bits = LAST_BITS},
    {.file = "validation/scenes/pinch.json",
     .varies = "pads press on both sides of a sheet with the same force, and touch it at once"},
    {.file = "validation/scenes/stack.json",
     .varies = "gaps at the start are the contact distance; friction keeps what follows",
     .off = 1.0},
    {.file = "examples/high_order/truss_compression.json",
     .n_steps = 1,
     .varies = "bars buckle to the side that rounding chooses",
     .off = 1.0},
    {.file = "examples/thin/layers.json",
     .n_steps = 1,
     .varies = "vertices exactly above each other, and steps end by the time of impact",
     .off = 10.0},
    {.file = "examples/stress/near_rigid.json",
     .varies = "an impact on stiff cubes: constraints come and go for forty iterations"},
    {.file = "examples/stress/plate_impact.json",
     .n_steps = 1,
     .varies = "an impact in which all is crushed",
     .off = (double)INFINITY},
    {.file = "examples/high_order/bending_beam.json", .last_bits = LAST_BITS},
    {.file = "examples/loaded_knot.json", .last_bits = TWIST_BITS},
    {.file = "examples/rubber.json", .last_bits = LAST_BITS},
    {.file = "validation/scenes/beam.json", .last_bits = LAST_BITS},
    {.file = "validation/scenes/plastic.json", .last_bits = LAST_BITS},
    {.file = "validation/scenes/rubber_biaxial.json", .last_bits = LAST_BITS},
    {.file = "validation/scenes/rubber_shear.json", .last_bits = LAST_BITS},
    {.file = "validation/scenes/rubber_uniaxial.json", .last_bits = LAST_BITS},
    {.file = "validation/scenes/snap_fit.json", .last_bits = LAST_BITS},
};
enum { N_SPECIALS = sizeof specials / sizeof *specials };

static const Special* special_of(const char* file) {
  static const Special usual = {0};
  for (size_t k = 0; k < N_SPECIALS; k++) {
    if (strcmp(file, specials[k].file) == 0) {
      return &specials[k];
    }
  }
  return &usual;
}

typedef struct Scenes {
  char* file[MOST_SCENES]; // relative to the repository
  int n;
} Scenes;

static int by_name(const void* a, const void* b) {
  return strcmp(*(char* const*)a, *(char* const*)b);
}

// All scenes in a folder and those in it.
static void list_scenes(const char* root, const char* folder, Scenes* scenes) {
  char path[1024];
  snprintf(path, sizeof path, "%s%s", root, folder);
  DIR* directory = opendir(path);
  assert_non_null(directory);
  for (struct dirent* entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
    char file[512];
    struct stat about;
    snprintf(file, sizeof file, "%s/%s", folder, entry->d_name);
    snprintf(path, sizeof path, "%s%s", root, file);
    assert_int_equal(stat(path, &about), 0);
    size_t length = strlen(file);
    if (S_ISDIR(about.st_mode) && entry->d_name[0] != '.') {
      list_scenes(root, file, scenes);
    } else if (length > 5 && strcmp(file + length - 5, ".json") == 0) {
      assert_true(scenes->n < MOST_SCENES);
      scenes->file[scenes->n++] = strdup(file);
    }
  }
  closedir(directory);
}

// How scenes fare in one system of units.
typedef struct System {
  const char* name;
  double length, mass;
  bool exact;
  int n_same, n_other; // scenes with the same iterations, and with others
} System;

static System systems[] = {
    {.name = "powers of two", .length = 1024.0, .mass = 1.0 / 1024.0, .exact = true},
    {.name = "millimetres and tonnes", .length = 1000.0, .mass = 1e-3},
    {.name = "inches and pounds", .length = 1.0 / 0.0254, .mass = 1.0 / 175.126835},
};
enum { N_SYSTEMS = sizeof systems / sizeof *systems };

// Whether the course in other units is that in metres, as far as the scene allows.
static bool is_same(const Special* special, const Course* metres, const Course* other,
                    System* system) {
  bool same = memcmp(metres->newton, other->newton, sizeof other->newton) == 0;
  bool counted = metres->contacts == other->contacts, may_vary = special->varies != NULL;
  double off = difference(metres, other);
  system->n_same += same ? 1 : 0;
  system->n_other += same ? 0 : 1;
  if (system->exact) {
    return same && counted && off <= special->last_bits;
  }
  double allowed = special->off > 0.0 ? special->off : OFF;
  return (same || may_vary) && (counted || may_vary || special->counted != NULL) &&
         off <= allowed * metres->last_step;
}

static int expect_same(NoliContext* context, const char* root, const char* file) {
  const Special* special = special_of(file);
  int n_steps = special->n_steps > 0 ? special->n_steps : STEPS, n_failed = 0;
  char path[1024];
  snprintf(path, sizeof path, "%s%s", root, file);
  NoliScene* scene = NULL;
  if (noli_scene_load(context, path, &special->set, special->set.path != NULL ? 1 : 0, &scene) !=
      NOLI_OK) {
    fail_msg("%s", noli_context_message(context));
  }
  Course metres = run(context, scene, n_steps, 1.0, 1.0);
  for (int u = 0; u < N_SYSTEMS; u++) {
    Course other = run(context, scene, n_steps, systems[u].length, systems[u].mass);
    bool same = is_same(special, &metres, &other, &systems[u]);
    n_failed += same ? 0 : 1;
    if (!same || memcmp(metres.newton, other.newton, sizeof other.newton) != 0) {
      print_course(file, &metres, n_steps);
      print_course(systems[u].name, &other, n_steps);
      print_message("  off by %.2g m, %.2g of the tolerance; %s\n", difference(&metres, &other),
                    difference(&metres, &other) / metres.last_step,
                    same ? special->varies : "FAILED");
    }
    free(other.x);
  }
  free(metres.x);
  noli_scene_destroy(&scene);
  return n_failed;
}

static void scenes_do_not_depend_on_units(void** state) {
  (void)state;
  char root[512];
  Scenes scenes = {.n = 0};
  int n_failed = 0, n_special = 0;
  repository(__FILE__, root, sizeof root);
  list_scenes(root, "examples", &scenes);
  list_scenes(root, "validation/scenes", &scenes);
  qsort(scenes.file, (size_t)scenes.n, sizeof *scenes.file, by_name);
  assert_true(scenes.n > 80);
  NoliContext* context = test_context(1);
  for (int k = 0; k < scenes.n; k++) {
    n_special += special_of(scenes.file[k])->file != NULL ? 1 : 0;
    n_failed += expect_same(context, root, scenes.file[k]);
    free(scenes.file[k]);
  }
  test_context_done(&context);
  for (int u = 0; u < N_SYSTEMS; u++) {
    print_message("%s: %d scenes take the same iterations, %d others\n", systems[u].name,
                  systems[u].n_same, systems[u].n_other);
  }
  // no entry about a scene that is gone
  assert_int_equal(n_special, N_SPECIALS);
  assert_int_equal(n_failed, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(scenes_do_not_depend_on_units),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
