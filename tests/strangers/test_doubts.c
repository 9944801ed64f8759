// Warnings about discretizations that are wrong by factors, and none about those that are fine.
#include "step/world.h"

enum { MAX_SAID = 4000 };

static const double here[3] = {0, 0, 0};

static void keep(void* user, NoliLogLevel level, const char* message) {
  char* said = user;
  if (level == NOLI_LOG_WARNING) {
    size_t used = strlen(said);
    snprintf(said + used, MAX_SAID - used, "%s\n", message);
  }
}

// The same for what is no warning.
static void keep_notes(void* user, NoliLogLevel level, const char* message) {
  keep(user, level == NOLI_LOG_INFO ? NOLI_LOG_WARNING : NOLI_LOG_INFO, message);
}

static World listening_world(char said[MAX_SAID]) {
  World world = world_new(1);
  NoliContextDef def = noli_default_context_def();
  def.log = keep;
  def.log_user = said;
  said[0] = '\0';
  test_context_done(&world.context);
  ASSERT_OK(noli_context_create(&def, &world.context));
  return world;
}

// Starts the world and ends it; `part` NULL: nothing may be said.
static void expect(World* world, const char* said, const char* part) {
  world_start(world);
  bool as_wanted = part == NULL ? said[0] == '\0' : strstr(said, part) != NULL;
  if (!as_wanted) {
    print_error("wanted: %s\ngot: %s\n", part != NULL ? part : "nothing", said);
  }
  assert_true(as_wanted);
  world_done(world);
}

// ---- locking ----

typedef struct Ratio {
  double body, part, field; // 0: as the body
  int32_t order;
  bool warns;
} Ratio;

static void nearly_incompressible_linear_elements_are_named(void** state) {
  (void)state;
  static const Ratio of[] = {{0.45, 0, 0, 1, false},  {0.46, 0, 0, 1, true},
                             {0.4999, 0, 0, 1, true}, {0.4999, 0, 0, 2, false},
                             {0.3, 0.49, 0, 1, true}, {0.3, 0, 0.49, 1, true},
                             {0.49, 0, 0.3, 1, false}};
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    char said[MAX_SAID];
    World world = listening_world(said);
    int32_t element = 3;
    double field[48];
    NoliPartDef part = {
        .element = &element, .n_element = 1, .material = noli_default_body_def().material};
    world_add(&world, make_box(&world, 0.1, 0.1, 0.1, 2), here);
    NoliBodyDef* body = &world.body[0];
    body->material.poisson = of[i].body;
    body->order = of[i].order;
    for (int t = 0; t < 48; t++) {
      field[t] = t == 7 ? of[i].field : 0.3;
    }
    body->fields.poisson = of[i].field > 0.0 ? field : NULL;
    part.material.poisson = of[i].part;
    body->parts = &part;
    body->n_parts = of[i].part > 0.0 ? 1 : 0;
    expect(&world, said, of[i].warns ? "linear elements lock with a Poisson's ratio of 0.4" : NULL);
  }

  // in plane strain, where elements have no order; a shell is in plane stress, a rod has no ratio
  for (int k = 0; k < 3; k++) {
    char said[MAX_SAID];
    World world = listening_world(said);
    NoliMesh* mesh = NULL;
    ASSERT_OK(k < 2 ? noli_mesh_make_rectangle(world.context, 0.1, 0.1, 3, 3, &mesh)
                    : noli_mesh_make_line(world.context, 0.1, 3, &mesh));
    world_add(&world, mesh, here);
    world.body[0].material.poisson = 0.49;
    world.body[0].plane_strain = k == 0 ? 1.0 : 0.0;
    world.body[0].shell.thickness = k == 1 ? 1e-3 : 0.0;
    world.body[0].rod.radius = k == 2 ? 1e-3 : 0.0;
    expect(&world, said, k == 0 ? "a ratio of 0.45 or less, or a slab" : NULL);
  }
}

// ---- single layers ----

typedef enum Shape { BOX, BOWL, HOLLOW_BALL, BALL, RING } Shape;

typedef struct Layer {
  Shape shape;
  double size[3];
  int32_t cells[3];
  int32_t order;
  const char* thickness; // that is named; NULL: nothing
} Layer;

static const Layer layers[] = {
    {BOX, {1, 0.02, 0.3}, {20, 1, 6}, 1, "0.02 m"},
    {BOX, {1, 0.02, 0.3}, {20, 2, 6}, 1, NULL},
    {BOX, {1, 0.02, 0.3}, {20, 1, 6}, 2, NULL},
    {BOX, {0.02, 1, 0.02}, {1, 30, 1}, 1, "0.028 m"}, // along the diagonal of the section
    {BOX, {1, 0.1, 0.1}, {4, 1, 1}, 1, "0.14 m"},
    {BOX, {1, 0.1, 0.2}, {8, 1, 2}, 1, "0.1"},
    {BOX, {1, 1, 1}, {1, 1, 1}, 1, NULL},
    {BOX, {1, 1, 1}, {4, 4, 4}, 1, NULL},
    {BOX, {0.2, 0.02, 0.2}, {2, 1, 2}, 1, NULL}, // meant to be rigid
    {BOX, {0.3, 0.1, 0.3}, {6, 1, 6}, 1, NULL},  // a block
    {BOWL, {0.5, 0.02, 0}, {12, 1, 0}, 1, "0.0"},
    {BOWL, {0.5, 0.02, 0}, {12, 2, 0}, 1, NULL},
    {HOLLOW_BALL, {0.5, 0.45, 0}, {8, 1, 0}, 1, "0.0"},
    {HOLLOW_BALL, {0.5, 0.45, 0}, {8, 3, 0}, 1, NULL},
    {BALL, {0.5, 0, 0}, {4, 0, 0}, 1, NULL},
    {RING, {0.5, 0.05, 0}, {24, 2, 0}, 1, NULL},
};

static NoliMesh* make_layer(NoliContext* context, const Layer* layer) {
  NoliMesh* mesh = NULL;
  const double* size = layer->size;
  const int32_t* cells = layer->cells;
  switch (layer->shape) {
  case BOX:
    ASSERT_OK(noli_mesh_make_box(context, size, cells, false, &mesh));
    break;
  case BOWL:
    ASSERT_OK(noli_mesh_make_bowl(context, size[0], size[1], 90, cells[0], cells[1], false, &mesh));
    break;
  case HOLLOW_BALL:
    ASSERT_OK(
        noli_mesh_make_hollow_sphere(context, size[0], size[1], cells[0], cells[1], false, &mesh));
    break;
  case BALL:
    ASSERT_OK(noli_mesh_make_sphere(context, size[0], cells[0], false, &mesh));
    break;
  case RING:
    ASSERT_OK(noli_mesh_make_torus(context, size[0], size[1], cells[0], cells[1], false, &mesh));
    break;
  }
  return mesh;
}

static void single_layers_are_named(void** state) {
  (void)state;
  static const double one[3] = {1, 1, 1}, turn[3] = {20, 30, 40};
  for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
    for (int turned = 0; turned < 2; turned++) {
      char said[MAX_SAID], wanted[100];
      World world = listening_world(said);
      NoliMesh* mesh = make_layer(world.context, &layers[i]);
      if (turned == 1) {
        noli_mesh_transform(mesh, one, turn, here);
      }
      world_add(&world, mesh, here);
      world.body[0].order = layers[i].order;
      snprintf(wanted, sizeof wanted, "single linear elements span the thickness, %s",
               layers[i].thickness != NULL ? layers[i].thickness : "");
      print_message("layer %d\n", (int)i);
      expect(&world, said, layers[i].thickness != NULL ? wanted : NULL);
    }
  }

  // several bodies are one warning
  char said[MAX_SAID];
  World world = listening_world(said);
  for (int b = 0; b < 3; b++) {
    world_add(&world, make_layer(world.context, &layers[0]), (double[]){0, b, 0});
  }
  expect(&world, said, " and 2 more bodies: single linear elements");
}

// ---- contact distances ----

static void distances_beyond_features_are_named(void** state) {
  (void)state;
  static const struct {
    double distance; // 0: the default
    bool self, pair;
    const char* wanted;
  } of[] = {{0.0, true, false, NULL},
            {0.0, false, false, NULL},
            {0.004, false, false, NULL},
            {0.006, false, false, "larger than the thickness, about 0.00476 m"},
            {0.006, true, false, "larger than a gap between parts of the body at rest"},
            {0.006, false, true, "larger than the thickness, about 0.00476 m"}};
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    char said[MAX_SAID];
    World world = listening_world(said);
    NoliMesh* plate = NULL;
    ASSERT_OK(noli_mesh_make_mat(world.context, 0.2, 0.2, 0.005, 3, 3, false, &plate));
    world_add(&world, plate, here);
    world_add(&world, make_box(&world, 0.3, 0.3, 0.3, 1), (double[]){0, 1, 0});
    NoliPairDef pair = noli_default_pair_def();
    pair.a = 0;
    pair.b = 1;
    pair.distance = (NoliScaled){of[i].distance, false};
    world.body[0].self_contact = of[i].self;
    world.def.pairs = &pair;
    world.def.n_pairs = of[i].pair ? 1 : 0;
    world.def.contact_distance = (NoliScaled){of[i].pair ? 0.001 : of[i].distance, false};
    expect(&world, said, of[i].wanted);
  }

  // an obstacle of fine triangles, alone among obstacles and with a body that touches it
  for (int k = 0; k < 3; k++) {
    char said[MAX_SAID];
    World world = listening_world(said);
    NoliMesh* floor = NULL;
    ASSERT_OK(noli_mesh_make_plane(world.context, 1, 1, 50, 50, &floor));
    world_add(&world, make_box(&world, 0.3, 0.3, 0.3, 1), (double[]){0, 1, 0});
    world_add_obstacle(&world, floor, here);
    world.body[0].self_contact = false;
    world.def.contact_distance = (NoliScaled){k == 0 ? 0.01 : 0.04, false};
    NoliPairDef none = noli_default_pair_def();
    none.a = 0;
    none.b = 1;
    none.contact = false;
    world.def.pairs = &none;
    world.def.n_pairs = k == 2 ? 1 : 0;
    expect(&world, said, k == 1 ? "larger than most edges of the surface, 0.0227 m" : NULL);
  }
}

// ---- integrators ----

// Where something may bounce, and only there.
static void trapezoidal_bounces_are_noted(void** state) {
  (void)state;
  static const char* const integrators[] = {"trapezoidal", "trapezoidal_decoupled", "sdirk2",
                                            "backward_euler"};
  for (int k = 0; k < 8; k++) {
    char said[MAX_SAID] = "";
    World world = world_new(1);
    NoliContextDef def = noli_default_context_def();
    def.log = keep_notes;
    def.log_user = said;
    test_context_done(&world.context);
    ASSERT_OK(noli_context_create(&def, &world.context));
    world_add(&world, make_box(&world, 0.1, 0.1, 0.1, 2), (double[]){0, 1, 0});
    world_add_plane(&world, here, (double[]){0, 1, 0});
    world.def.integrator = integrators[k % 4];
    world.def.contact = k < 4;
    world_start(&world);
    bool noted = strstr(said, "up to 5 % of their energy") != NULL;
    assert_true(noted == (k < 2));
    world_done(&world);
  }
}

// ---- stick lengths beyond meshes ----

typedef struct Slip {
  double length;    // m, 0: the default
  double time_step; // s
  const char* law;
  double friction;
  double distance;    // m
  const char* warned; // NULL: nothing is
} Slip;

// A cube of 0.1 m with edges of 0.05 m and diagonals beside a half-space: 1/100 of the mean edge is
// 0.58 mm.
static void long_stick_lengths_are_named(void** state) {
  (void)state;
  static const Slip of[] = {
      {5e-4, 0.01, "stick", 0.5, 1e-3, NULL},
      {7e-4, 0.01, "stick", 0.5, 1e-3, "1/100 of the mean edge of the surface, 0.000569 m"},
      {7e-4, 0.01, "stick", 0.5, 1e-3, "set friction.stick_length to 0.00057 or less"},
      {7e-4, 0.01, "velocity", 0.5, 1e-3, NULL},
      {7e-4, 0.01, "stick", 0.0, 1e-3, NULL},
      {1.1e-4, 0.01, "stick", 0.5, 1e-4, "the contact distance, 0.0001 m"},
      {0.9e-4, 0.01, "stick", 0.5, 1e-4, NULL},
      {0.0, 0.01, "stick", 0.5, 1e-3, NULL},
      {0.0, 1.0, "stick", 0.5, 1e-4,
       "the default for friction.speed, 0.000173 m/s, and 1 s (time.step)"},
  };
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    char said[MAX_SAID];
    World world = listening_world(said);
    world_add(&world, make_box(&world, 0.1, 0.1, 0.1, 2), (double[]){0, 0.06, 0});
    world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
    world.def.friction = of[i].friction;
    world.def.friction_law = of[i].law;
    world.def.stick_length = (NoliScaled){of[i].length, NOLI_ABSOLUTE};
    world.def.contact_distance = (NoliScaled){of[i].distance, NOLI_ABSOLUTE};
    world.def.time_step = of[i].time_step;
    expect(&world, said, of[i].warned);
  }
}

// ---- adhesion that meshes do not resolve ----

// The same cube, of 0.1 MPa: the strength of 1 J/m^2 over 1 mm is 1778 Pa, and acts along 0.032 m
// of a front; that of 0.5 J/m^2 along 0.063 m.
static void adhesion_beyond_the_mesh_is_named(void** state) {
  (void)state;
  static const struct {
    double work, range;
    const char* warned;
  } of[] = {{1.0, 1e-3, "it pulls along 0.032 m, less than the mean edge of the surface, 0.057 m"},
            {1.0, 1e-3, "set adhesion_range to 0.0013 or more"},
            {0.5, 1e-3, NULL},
            {1.0, 1.4e-3, NULL}};
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    char said[MAX_SAID];
    World world = listening_world(said);
    world_add(&world, make_box(&world, 0.1, 0.1, 0.1, 2), (double[]){0, 0.06, 0});
    world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
    world.body[0].material.young = 1e5;
    world.def.adhesion = of[i].work;
    world.def.adhesion_range = (NoliScaled){of[i].range, NOLI_ABSOLUTE};
    expect(&world, said, of[i].warned);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(trapezoidal_bounces_are_noted),
      cmocka_unit_test(nearly_incompressible_linear_elements_are_named),
      cmocka_unit_test(single_layers_are_named),
      cmocka_unit_test(distances_beyond_features_are_named),
      cmocka_unit_test(long_stick_lengths_are_named),
      cmocka_unit_test(adhesion_beyond_the_mesh_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
