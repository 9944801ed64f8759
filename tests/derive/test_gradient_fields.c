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

// One node is named twice, here and below, and has twice the force.
static void nodal(World* world) {
  static const int32_t some[] = {4, 5, 6, 9, 10, 9};
  add_beam(world, 1);
  add_field(world, "nodal", &one);
  forces[0].node = some;
  forces[0].n_node = 6;
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
  static const int32_t some[] = {0, 1, 2, 1};
  forces[0].node = some;
  forces[0].n_node = 4;
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

// ---- motions ------------------------------------------------------------------------------------

// Bends the rest shape into a parabola, and more and more.
static void bend(void* user, double t0, double t1, int32_t n, const int32_t* node, const double* X,
                 const double* x_t0, double* x_t1) {
  (void)user, (void)node, (void)t0, (void)x_t0;
  for (int64_t i = 0; i < n; i++) {
    double x = X[3 * i] - 0.1, y = X[3 * i + 1] - 1.0, z = X[3 * i + 2];
    x_t1[3 * i] = X[3 * i] - 8.0 * t1 * x * y;
    x_t1[3 * i + 1] = X[3 * i + 1] + 4.0 * t1 * x * x + 3.0 * t1 * t1 * sin(20.0 * z);
    x_t1[3 * i + 2] = X[3 * i + 2] + 0.5 * t1 * x;
  }
}

// Flows on from where vertices are, past a vortex.
static void flow(void* user, double t0, double t1, int32_t n, const int32_t* node, const double* X,
                 const double* x_t0, double* x_t1) {
  (void)user, (void)node;
  double share = t1 - t0 + 5.0 * (t1 * t1 - t0 * t0);
  for (int64_t i = 0; i < n; i++) {
    double x = x_t0[3 * i] - 0.1, y = x_t0[3 * i + 1] - 1.3, z = x_t0[3 * i + 2];
    double whirl = 0.1 / (0.1 + x * x + y * y);
    x_t1[3 * i] = x_t0[3 * i] - share * whirl * y;
    x_t1[3 * i + 1] = x_t0[3 * i + 1] + share * whirl * x;
    x_t1[3 * i + 2] = z + share * (0.2 * z * z + X[3 * i] * X[3 * i]);
  }
}

static void add_moved_beam(World* world, NoliMotionFn* target, int32_t order) {
  static const int32_t nodes[] = {0, 1, 2, 3, 5, 7};
  add_beam(world, order);
  world->motion[0].node = nodes;
  world->motion[0].n_node = 6;
  world->motion[0].target = target;
  world->motion[0].name = "drive";
}

static void bent(World* world) {
  add_moved_beam(world, bend, 1);
}

static void flowing(World* world) {
  add_moved_beam(world, flow, 1);
}

// Its positions at the start are not those at rest.
static void start_elsewhere(World* world) {
  static double x0[3 * 64];
  for (int64_t i = 0; i < 3 * (int64_t)world->mesh[0]->n_vert; i++) {
    assert_true(i < 3 * 64);
    x0[i] = world->mesh[0]->x[i] + 0.004 * sin(5.0 * (double)i);
  }
  world->body[0].x0 = x0;
}

// All that changes a motion.
static void change(World* world) {
  world->motion[0].change = 0.3;
  world->motion[0].velocity[1] = 0.4;
  memcpy(world->motion[0].spin, (double[]){3.0, -2.0, 5.0}, sizeof world->motion[0].spin);
  memcpy(world->motion[0].pivot, (double[]){0.1, 1.0, 0.3}, sizeof world->motion[0].pivot);
}

static void changed_bent(World* world) {
  bent(world);
  change(world);
}

static void changed_flowing(World* world) {
  flowing(world);
  change(world);
  start_elsewhere(world);
}

static void freely_flowing(World* world) {
  flowing(world);
  world->motion[0].free_axis[2] = true;
}

// It falls and sags before it flows.
static void flowing_late(World* world) {
  flowing(world);
  start_elsewhere(world);
  world->motion[0].t_begin = 0.025;
}

static void quadratic_bent(World* world) {
  add_moved_beam(world, bend, 2);
}

static void quadratic_flowing(World* world) {
  add_moved_beam(world, flow, 2);
  change(world);
}

// A box falls on a plate that bends.
static void swell(void* user, double t0, double t1, int32_t n, const int32_t* node, const double* X,
                  const double* x_t0, double* x_t1) {
  (void)user, (void)node, (void)t0, (void)x_t0;
  for (int64_t i = 0; i < n; i++) {
    memcpy(x_t1 + 3 * i, X + 3 * i, 3 * sizeof *X);
    x_t1[3 * i + 1] += 3.0 * t1 * (0.05 - X[3 * i] * X[3 * i]);
  }
}

static void swelling_plate(World* world) {
  NoliMesh* mesh = NULL;
  int32_t body = add_plain_box(world, 1.5e-3);
  set_material(&world->body[body]);
  world->body[body].material.mass_damping = 0.0;
  ASSERT_OK(noli_mesh_make_box(world->context, (double[]){0.4, 0.1, 0.4}, (int32_t[]){4, 1, 4},
                               false, &mesh));
  int32_t plate = world_add_obstacle(world, mesh, (double[]){0, -0.05, 0});
  world_add_motion(world, plate, swell, NULL)->name = "drive";
  world->def.friction = 0.3;
}

static void bent_sheet(World* world) {
  static const int32_t nodes[] = {0, 1, 2, 5, 6};
  add_sheet(world, "traction", &ten);
  world->motion[0].node = nodes;
  world->motion[0].n_node = 5;
  world->motion[0].target = bend;
  world->motion[0].name = "drive";
}

// Moves one end of a rod with twist: no section has both of its vertices in it.
static void bent_rod(World* world) {
  twisted_rod(world);
  world->def.n_forces = 0;
  world->motion[0].n_node = 1;
  world->motion[0].target = bend;
  world->motion[0].name = "drive";
}

static void motions_by_place(void** state) {
  (void)state;
  static const GradientCase cases[] = {
      {"bent, shape", bent, NULL, 0.01, 5, SHAPE("body0"), 1e-6, 1e-6},
      {"bent bdf2, place", bent, "bdf2", 0.01, 5, OF("rest_position", "body0"), 1e-6, 1e-6},
      {"bent, start", bent, NULL, 0.01, 5, VERTICES("initial_position", "body0"), 1e-6, 1e-6},
      {"bent, factor", bent, "bdf2", 0.01, 5, OF("motion", "drive"), 1e-4, 1e-6},
      {"bent, velocity", bent, NULL, 0.01, 5, OF("motion_velocity", "drive"), 1e-4, 1e-6},
      {"bent tr_bdf2, spin", bent, "tr_bdf2", 0.01, 4, OF("motion_spin", "drive"), 1e-4, 1e-6},
      {"bent, young", bent, NULL, 0.01, 5, OF("young", "body0"), 100, 1e-6},
      {"flowing, shape", flowing, NULL, 0.01, 5, SHAPE("body0"), 1e-6, 1e-6},
      {"flowing bdf2, start", flowing, "bdf2", 0.01, 5, VERTICES("initial_position", "body0"), 1e-6,
       1e-6},
      {"flowing sdirk2, factor", flowing, "sdirk2", 0.01, 4, OF("motion", "drive"), 1e-4, 1e-6},
      {"flowing, velocity", flowing, NULL, 0.01, 5, OF("motion_velocity", "drive"), 1e-4, 1e-6},
      {"flowing freely, shape", freely_flowing, "bdf2", 0.01, 5, SHAPE("body0"), 1e-6, 1e-6},
      {"changed and bent, shape", changed_bent, "bdf2", 0.01, 5, SHAPE("body0"), 1e-6, 1e-6},
      {"changed and bent, factor", changed_bent, NULL, 0.01, 5, OF("motion", "drive"), 1e-4, 1e-6},
      {"changed and flowing, shape", changed_flowing, NULL, 0.01, 5, SHAPE("body0"), 1e-6, 1e-6},
      {"changed and flowing, start", changed_flowing, "bdf2", 0.01, 5,
       VERTICES("initial_position", "body0"), 1e-6, 1e-6},
      {"changed and flowing, factor", changed_flowing, "bdf2", 0.01, 5, OF("motion", "drive"), 1e-4,
       1e-6},
      {"changed and flowing, velocity", changed_flowing, NULL, 0.01, 5,
       OF("motion_velocity", "drive"), 1e-4, 1e-6},
      {"changed and flowing, spin", changed_flowing, "bdf2", 0.01, 5, OF("motion_spin", "drive"),
       1e-4, 1e-6},
      {"flowing late, young", flowing_late, NULL, 0.01, 6, OF("young", "body0"), 100, 1e-6},
      {"flowing late bdf2, shape", flowing_late, "bdf2", 0.01, 6, SHAPE("body0"), 1e-6, 1e-6},
      {"flowing late, start", flowing_late, NULL, 0.01, 6, VERTICES("initial_position", "body0"),
       1e-6, 1e-6},
      {"order 2 bent, shape", quadratic_bent, NULL, 0.01, 3, SHAPE("body0"), 1e-6, 1e-6},
      {"order 2 flowing bdf2, shape", quadratic_flowing, "bdf2", 0.01, 3, SHAPE("body0"), 1e-6,
       1e-6},
      {"swelling plate, velocity", swelling_plate, NULL, 0.004, 5, OF("motion_velocity", "drive"),
       1e-6, 1e-5},
      {"swelling plate, shape", swelling_plate, NULL, 0.004, 5, SHAPE("body1"), 1e-6, 1e-5},
      {"bent sheet, shape", bent_sheet, NULL, 0.005, 5, SHAPE("body0"), 1e-7, 1e-6},
      {"bent rod, start", bent_rod, "bdf2", 0.005, 4, VERTICES("initial_position", "body0"), 1e-7,
       1e-6},
  };
  COMPARE(cases);
}

// ---- what is refused ----------------------------------------------------------------------------

// Jumps in the middle of the beam, where vertices are.
static void jump(void* user, double t, const double X[3], double value[3]) {
  (void)user, (void)t;
  value[0] = 0.0;
  value[1] = X[0] >= 0.01 ? 5.0 : 1.0;
  value[2] = X[1];
}

static void tear(void* user, double t0, double t1, int32_t n, const int32_t* node, const double* X,
                 const double* x_t0, double* x_t1) {
  (void)user, (void)node, (void)t0, (void)x_t0;
  for (int64_t i = 0; i < n; i++) {
    memcpy(x_t1 + 3 * i, X + 3 * i, 3 * sizeof *X);
    x_t1[3 * i + 1] += X[3 * i] >= 0.01 ? t1 : 0.0;
  }
}

// Stretches about the mean of all vertices.
static void stretch(void* user, double t0, double t1, int32_t n, const int32_t* node,
                    const double* X, const double* x_t0, double* x_t1) {
  (void)user, (void)node, (void)X;
  double mean = 0.0;
  for (int64_t i = 0; i < n; i++) {
    mean += x_t0[3 * i] / n;
  }
  memcpy(x_t1, x_t0, 3 * sizeof *x_t0 * (size_t)n);
  for (int64_t i = 0; i < n; i++) {
    x_t1[3 * i] += (t1 - t0) * (x_t0[3 * i] - mean);
  }
}

static void torn(World* world) {
  add_moved_beam(world, tear, 1);
}

static void stretched(World* world) {
  add_moved_beam(world, stretch, 1);
}

static void bent_section(World* world) {
  bent_rod(world);
  world->motion[0].n_node = 2;
}

// Two ends of a segment, which the caller moves.
static void outside_section(World* world) {
  bent_section(world);
  world->motion[0].target = NULL;
  world->motion[0].controlled = true;
}

static void jumping(World* world) {
  accelerated(world);
  forces[0].value = jump;
  forces[0].where = "scene.json:7: forces[0]";
}

static World world_of(void (*build)(World*)) {
  const GradientCase c = {.build = build, .h = 0.01};
  return built_world(&c);
}

static void jumps_and_others_are_refused(void** state) {
  (void)state;
  static const struct {
    void (*build)(World* world);
    NoliParameterDef parameter;
    const char* words;
  } cases[] = {
      {jumping, SHAPE("body0"),
       "scene.json:7: forces[0]: derivatives: the values of force 0 on body \"body0\" jump at the "
       "rest position of vertex 4, at t = 0.02 s"},
      {torn, SHAPE("body0"), "motion 0, of body \"body0\": the target of vertex 5 at t = 0.01 s "},
      {stretched, OF("motion", "drive"), "follow the places of other vertices than their own"},
      {bent_section, VERTICES("initial_position", "body0"), "turns sections of a rod with twist"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    World world = world_of(cases[i].build);
    expect_refusal(&world, 2, &cases[i].parameter, cases[i].words);
  }

  // other parameters do not need derivatives by place
  World other = world_of(jumping);
  const GradientRun run = {.name = "jump, young",
                           .n_steps = 3,
                           .parameter = OF("young", "body0"),
                           .step = 5,
                           .error = 1e-6};
  compare_run(&other, &run);
}

// Poses turn sections, which follow the angles that they have; targets without a pose do not.
static void sections_turned_from_outside(void** state) {
  (void)state;
  const NoliParameterDef young = OF("young", "body0");
  const GradientRun run = {
      .name = "section from outside", .n_steps = 3, .parameter = young, .step = 1e3, .error = 1e-6};
  const NoliPose pose = {.quaternion = {1.0, 0.1, 0.0, 0.0}};
  World world = world_of(outside_section);
  compare_run(&world, &run);
  world = world_of(outside_section);
  world_start(&world);
  ASSERT_OK(noli_sim_set_pose(world.sim, 0, &pose));
  expect_run_refusal(&world, 2, &young, "to a pose that is set from outside");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(loads_by_place),
                                     cmocka_unit_test(motions_by_place),
                                     cmocka_unit_test(jumps_and_others_are_refused),
                                     cmocka_unit_test(sections_turned_from_outside)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
