// Derivatives of runs with loads and motions that are functions of place: both modes against each
// other and against central differences of runs.
#include "gradient_runs.h"

static void set_material(NoliBodyDef* body) {
  body->material.young = 2e4;
  body->material.poisson = 0.3;
  body->material.density = 900;
  body->material.mass_damping = 2.0;
}

// A box, held on its left.
static void add_beam(World* world, int32_t order) {
  int32_t body = add_plain_box(world, 1.0);
  set_material(&world->body[body]);
  world->body[body].order = order;
  hold_left(world, body, 4);
}

// ---- loads --------------------------------------------------------------------------------------

// Varies by about its own size over the bodies, and grows.
static void field(void* user, double t, const double X[3], double value[3]) {
  double size = *(const double*)user * (1.0 + 20.0 * t), x = X[0], y = X[1] - 1.0, z = X[2];
  value[0] = size * (1.0 + sin(9.0 * x + 5.0 * y) + 3.0 * x * z);
  value[1] = size * (0.4 + 8.0 * x * x - cos(12.0 * z));
  value[2] = size * (exp(4.0 * y) - 0.8 + 2.0 * x * y);
}

static NoliForceDef forces[2];

static void add_field(World* world, const char* kind, const double* size) {
  forces[0] = noli_default_force_def();
  forces[0].kind = kind;
  forces[0].value = field;
  forces[0].user = (void*)(uintptr_t)size;
  forces[0].change = 0.2;
  world->def.forces = forces;
  world->def.n_forces = 1;
}

static const double one = 1.0, ten = 10.0, hundred = 100.0;

static void accelerated(World* world) {
  add_beam(world, 1);
  add_field(world, "acceleration", &ten);
}

static void accelerated_quadratic(World* world) {
  add_beam(world, 2);
  add_field(world, "acceleration", &ten);
}

// Some nodes only.
static void accelerated_cubic(World* world) {
  static const int32_t some[] = {4, 6, 9, 11, 13, 20, 21, 30};
  add_beam(world, 3);
  add_field(world, "acceleration", &hundred);
  forces[0].node = some;
  forces[0].n_node = 8;
}

static void nodal(World* world) {
  static const int32_t some[] = {4, 5, 6, 9, 10};
  add_beam(world, 1);
  add_field(world, "nodal", &one);
  forces[0].node = some;
  forces[0].n_node = 5;
}

static void nodal_quadratic(World* world) {
  static const int32_t some[] = {4, 5, 14, 19, 23};
  add_beam(world, 2);
  add_field(world, "nodal", &one);
  forces[0].node = some;
  forces[0].n_node = 5;
}

static void total(World* world) {
  add_beam(world, 1);
  add_field(world, "total", &ten);
}

static void traction(World* world) {
  add_beam(world, 1);
  add_field(world, "traction", &hundred);
}

static void traction_quadratic(World* world) {
  add_beam(world, 2);
  add_field(world, "traction", &hundred);
}

// On one side only: the mantle of the cones matters, also between faces.
static void pressure(World* world) {
  static const int32_t some[] = {4, 5, 6, 7, 8, 9, 10, 11};
  add_beam(world, 1);
  add_field(world, "pressure", &hundred);
  forces[0].node = some;
  forces[0].n_node = 8;
}

static void pressure_quadratic(World* world) {
  add_beam(world, 2);
  add_field(world, "pressure", &hundred);
}

static void pressure_quartic(World* world) {
  add_beam(world, 4);
  add_field(world, "pressure", &hundred);
}

// A ball of curved tetrahedra, held at some vertices.
static void add_ball(World* world, const char* kind, const double* size) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_curved_sphere(world->context, 0.06, 1, 2, &mesh));
  int32_t body = world_add(world, mesh, (double[]){0.01, 1.0, 0.02});
  set_material(&world->body[body]);
  world->body[body].order = 2;
  hold_left(world, body, 4);
  add_field(world, kind, size);
}

static void curved_acceleration(World* world) {
  add_ball(world, "acceleration", &ten);
}

static void curved_traction(World* world) {
  add_ball(world, "traction", &hundred);
}

static void curved_pressure(World* world) {
  add_ball(world, "pressure", &hundred);
}

// Two forces on one body, one of them without places, one that ends.
static void two_forces(World* world) {
  traction(world);
  forces[1] = forces[0];
  forces[1].kind = "acceleration";
  forces[1].user = (void*)(uintptr_t)&ten;
  forces[1].t_begin = 0.015;
  forces[1].t_end = 0.045;
  world->def.n_forces = 2;
}

static void flat(World* world, const char* kind) {
  int32_t body = add_flat_landing(world);
  set_material(&world->body[body]);
  world->body[body].material.mass_damping = 0.0;
  add_field(world, kind, &hundred);
  forces[0].node = left;
  forces[0].n_node = 3;
}

static void flat_pressure(World* world) {
  flat(world, "pressure");
}

static void flat_traction(World* world) {
  flat(world, "traction");
}

// A bent sheet, held at two corners.
static void add_sheet(World* world, const char* kind, const double* size) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_rectangle(world->context, 0.2, 0.1, 4, 2, &mesh));
  for (int32_t i = 0; i < mesh->n_vert; i++) {
    double x = mesh->x[3 * i];
    mesh->x[3 * i + 2] = 2.0 * x * x + 0.3 * x * mesh->x[3 * i + 1];
  }
  int32_t body = world_add(world, mesh, (double[]){0, 1.0, 0});
  set_material(&world->body[body]);
  world->body[body].material.young = 1e6;
  world->body[body].shell.thickness = 2e-3;
  hold_left(world, body, 2);
  add_field(world, kind, size);
}

static void wind(World* world) {
  add_sheet(world, "pressure", &ten);
}

static void drag(World* world) {
  add_sheet(world, "traction", &ten);
}

static void twisted_rod(World* world) {
  NoliMesh* mesh = NULL;
  enum { N = 7 };
  ASSERT_OK(noli_mesh_create(world->context, N, 0, 0, N - 1, 0, false, &mesh));
  for (int32_t i = 0; i < N; i++) {
    double t = 0.5 * i;
    memcpy(mesh->x + 3 * i, (double[]){0.05 * cos(t), 0.05 * sin(t), 0.01 * t}, 3 * sizeof(double));
    if (i + 1 < N) {
      mesh->edge[2 * i] = i;
      mesh->edge[2 * i + 1] = i + 1;
    }
  }
  int32_t body = world_add(world, mesh, (double[]){0, 1.0, 0});
  set_material(&world->body[body]);
  world->body[body].material.young = 1e7;
  world->body[body].rod.radius = 2e-3;
  world->body[body].rod.twist = 1.0;
  hold_left(world, body, 2);
  add_field(world, "acceleration", &ten);
}

// A box with a finer proxy falls on the floor.
static void proxy(World* world) {
  world_add_plane(world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  world->def.friction = 0.3;
  int32_t body = add_plain_box(world, 1.5e-3);
  set_material(&world->body[body]);
  world->body[body].material.mass_damping = 0.0;
  world->body[body].proxy.subdivision = 2;
  world->body[body].velocity[1] = -0.2;
  add_field(world, "acceleration", &ten);
}

static void loads_by_place(void** state) {
  (void)state;
  static const GradientCase cases[] = {
      {"acceleration, shape", accelerated, NULL, 0.01, 5, SHAPE("body0"), 1e-6, 1e-6},
      {"acceleration, place", accelerated, "bdf2", 0.01, 5, OF("rest_position", "body0"), 1e-6,
       1e-6},
      {"acceleration tr_bdf2, shape", accelerated, "tr_bdf2", 0.01, 4, SHAPE("body0"), 1e-6, 1e-6},
      {"order 2, acceleration, shape", accelerated_quadratic, "bdf2", 0.01, 3, SHAPE("body0"), 1e-6,
       1e-6},
      {"order 2, acceleration, place", accelerated_quadratic, NULL, 0.01, 3,
       OF("rest_position", "body0"), 1e-6, 1e-6},
      {"order 2, acceleration, start", accelerated_quadratic, NULL, 0.01, 3,
       VERTICES("initial_position", "body0"), 1e-6, 1e-6},
      {"order 3, acceleration, shape", accelerated_cubic, NULL, 0.01, 2, SHAPE("body0"), 1e-6,
       1e-6},
      {"nodal, shape", nodal, NULL, 0.01, 5, SHAPE("body0"), 1e-6, 1e-6},
      {"order 2, nodal, shape", nodal_quadratic, "sdirk2", 0.01, 3, SHAPE("body0"), 1e-6, 1e-6},
      {"total, shape", total, "bdf2", 0.01, 5, SHAPE("body0"), 1e-6, 1e-6},
      {"traction, shape", traction, NULL, 0.01, 5, SHAPE("body0"), 1e-6, 1e-6},
      {"traction, place", traction, "bdf2", 0.01, 5, OF("rest_position", "body0"), 1e-6, 1e-6},
      {"traction, factor", traction, NULL, 0.01, 5, OF("force", "force 0"), 1e-2, 1e-6},
      {"order 2, traction, shape", traction_quadratic, "bdf2", 0.01, 3, SHAPE("body0"), 1e-6, 1e-6},
      {"pressure, shape", pressure, NULL, 0.01, 5, SHAPE("body0"), 1e-6, 1e-6},
      {"pressure, place", pressure, "bdf2", 0.01, 5, OF("rest_position", "body0"), 1e-6, 1e-6},
      {"order 2, pressure, shape", pressure_quadratic, "bdf2", 0.01, 3, SHAPE("body0"), 1e-6, 1e-6},
      {"order 4, pressure, place", pressure_quartic, NULL, 0.01, 2, OF("rest_position", "body0"),
       1e-6, 1e-6},
      {"curved acceleration, shape", curved_acceleration, NULL, 0.01, 3, SHAPE("body0"), 1e-6,
       1e-6},
      {"curved traction, shape", curved_traction, "bdf2", 0.01, 3, SHAPE("body0"), 1e-6, 1e-6},
      {"curved pressure, shape", curved_pressure, NULL, 0.01, 3, SHAPE("body0"), 1e-6, 1e-6},
      {"two forces, shape", two_forces, NULL, 0.01, 6, SHAPE("body0"), 1e-6, 1e-6},
      {"flat pressure, shape", flat_pressure, NULL, 0.005, 5, SHAPE("body0"), 1e-7, 1e-5},
      {"flat traction, shape", flat_traction, "bdf2", 0.005, 5, SHAPE("body0"), 1e-7, 1e-5},
      {"pressure on a sheet, shape", wind, NULL, 0.005, 5, SHAPE("body0"), 1e-7, 1e-6},
      {"traction on a sheet, place", drag, "bdf2", 0.005, 5, OF("rest_position", "body0"), 1e-7,
       1e-6},
      {"rod with twist, shape", twisted_rod, NULL, 0.005, 4, SHAPE("body0"), 1e-7, 1e-6},
      {"proxy, shape", proxy, NULL, 0.005, 5, SHAPE("body0"), 1e-7, 1e-5},
  };
  COMPARE(cases);
}

// Jumps at x = 0.01 + 0.1 + 0.0, in the middle of the beam.
static void jump(void* user, double t, const double X[3], double value[3]) {
  (void)user, (void)t;
  value[0] = 0.0;
  value[1] = X[0] >= 0.01 ? 5.0 : 1.0;
  value[2] = X[1];
}

static void jumping(World* world) {
  accelerated(world);
  forces[0].value = jump;
  forces[0].where = "scene.json:7: forces[0]";
}

static World jumping_world(const char* kind) {
  const GradientCase c = {.name = kind, .build = jumping, .h = 0.01};
  return built_world(&c);
}

static void jumps_are_refused(void** state) {
  (void)state;
  World world = jumping_world("shape");
  expect_refusal(&world, 2, &(NoliParameterDef)SHAPE("body0"),
                 "scene.json:7: forces[0]: derivatives: the values of force 0 on body \"body0\" "
                 "jump at the rest position of vertex");

  // other parameters do not need them
  World other = jumping_world("young");
  const GradientRun run = {.name = "jump, young",
                           .n_steps = 3,
                           .parameter = OF("young", "body0"),
                           .step = 5,
                           .error = 1e-6};
  compare_run(&other, &run);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(loads_by_place),
                                     cmocka_unit_test(jumps_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
