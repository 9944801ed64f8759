// Derivatives of runs with ties, whose weights depend on where bodies are before the run: both
// modes against each other and against central differences of runs.
#include "gradient_runs.h"

typedef struct Tied {
  NoliTieDef tie[2];
  int32_t node[2][64];
} Tied;

static Tied made; // of the world that runs

// Ties the vertices of a body whose coordinate is within 1e-9 of its smallest.
static void tie(World* world, int32_t body, int axis, int32_t to, double distance) {
  int32_t k = world->def.n_ties++;
  const NoliMesh* mesh = world->mesh[body];
  double least = INFINITY;
  made.tie[k] = noli_default_tie_def();
  made.tie[k].body = body;
  made.tie[k].to = to;
  made.tie[k].distance = (NoliScaled){distance, false};
  made.tie[k].node = made.node[k];
  for (int32_t i = 0; i < mesh->n_vert; i++) {
    least = noli_smaller(least, mesh->x[3 * i + axis]);
  }
  for (int32_t i = 0; i < mesh->n_vert; i++) {
    if (mesh->x[3 * i + axis] < least + 1e-9) {
      made.node[k][made.tie[k].n_node++] = i;
    }
  }
  world->def.ties = made.tie;
}

static void set_material(World* world, int32_t body, double young) {
  world->body[body].material.young = young;
  world->body[body].material.poisson = 0.3;
  world->body[body].material.density = 900;
}

static int32_t add_box(World* world, const double size[3], const double position[3]) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_box(world->context, size, (int32_t[]){1, 1, 1}, false, &mesh));
  int32_t body = world_add(world, mesh, position);
  set_material(world, body, 2e4);
  return body;
}

// A held box with a smaller one on its right, `gap` away; no vertex meets an edge.
static void pair_of(World* world, double gap) {
  int32_t body = add_plain_box(world, 1.0);
  set_material(world, body, 2e4);
  hold_left(world, body, 4);
  add_box(world, (double[]){0.1, 0.05, 0.06}, (double[]){0.16 + gap, 1.054, 0.0073});
  tie(world, 1, 0, 0, 2e-3);
}

static void apart(World* world) {
  pair_of(world, 1e-3);
}

static void touching(World* world) {
  pair_of(world, 0.0);
}

static void within(World* world) {
  pair_of(world, -1.3e-2);
}

static void damped(World* world) {
  pair_of(world, 1e-3);
  world->body[0].material.damping = 0.01;
  world->body[1].material.damping = 0.02;
  world->body[1].material.mass_damping = 2.0;
}

// Tied to the second box, at its own tied vertices.
static void chain(World* world) {
  pair_of(world, 1e-3);
  int32_t body = add_box(world, (double[]){0.02, 0.03, 0.04}, (double[]){0.1225, 1.094, 0.0061});
  tie(world, body, 1, 1, 2e-3);
}

// The target has elements of order 2, whose surface it is bound to.
static void quadratic(World* world) {
  pair_of(world, 1e-3);
  world->body[0].order = 2;
}

static void proxy(World* world) {
  pair_of(world, 1e-3);
  world->body[0].proxy.subdivision = 2;
}

// Both land, and slide.
static void landing(World* world) {
  pair_of(world, 1e-3);
  world->def.n_motions = 0;
  world_add_plane(world, (double[]){0, 0.999, 0}, (double[]){0, 1, 0});
  world->def.friction = 0.3;
  for (int32_t b = 0; b < 2; b++) {
    world->body[b].velocity[0] = 0.5;
    world->body[b].velocity[1] = -0.2;
  }
}

static int32_t add_sheet(World* world, const double position[3]) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_rectangle(world->context, 0.2, 0.1, 2, 2, &mesh));
  int32_t body = world_add(world, mesh, position);
  world->body[body].shell.thickness = 2e-3;
  set_material(world, body, 1e5);
  return body;
}

// A box on a sheet that is held at its left corners; a vertex beside the edge of the sheet.
static void on_sheet(World* world) {
  int32_t sheet = add_sheet(world, (double[]){0.0, 1.0, 0.0});
  hold_left(world, sheet, 4);
  int32_t box = add_box(world, (double[]){0.04, 0.03, 0.05}, (double[]){0.083, 1.0134, 0.0255});
  tie(world, box, 2, sheet, 4e-3);
}

// Upon an obstacle that moves; on one that is held a sheet hangs, whose vertices it takes along.
static void swing(void* user, double t0, double t1, int32_t n, const int32_t* node, const double* X,
                  const double* x_t0, double* x_t1) {
  (void)user, (void)t0, (void)node, (void)X;
  for (int32_t i = 0; i < n; i++) {
    x_t1[3 * i] = X[3 * i] + 0.5 * t1 * t1;
    x_t1[3 * i + 1] = x_t0[3 * i + 1];
    x_t1[3 * i + 2] = x_t0[3 * i + 2];
  }
}

static void on_obstacle(World* world) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_box(world->context, (double[]){0.2, 0.1, 0.12}, (int32_t[]){2, 1, 1},
                               false, &mesh));
  int32_t body = world_add_obstacle(world, mesh, (double[]){0.01, 1.05, 0.0});
  world_add_motion(world, body, swing, NULL);
  add_box(world, (double[]){0.1, 0.05, 0.06}, (double[]){0.161, 1.054, 0.0073});
  tie(world, 1, 0, 0, 2e-3);
}

// A turning obstacle takes the box along, by a motion that may be changed.
static void swing_around(void* user, double t0, double t1, int32_t n, const int32_t* node,
                         const double* X, const double* x_t0, double* x_t1) {
  (void)user, (void)node, (void)X;
  double angle = 3.0 * (t1 - t0) + 20.0 * (t1 * t1 - t0 * t0), c = cos(angle), s = sin(angle);
  for (int32_t i = 0; i < n; i++) {
    double dx = x_t0[3 * i], dy = x_t0[3 * i + 1] - 1.0;
    x_t1[3 * i] = c * dx - s * dy;
    x_t1[3 * i + 1] = 1.0 + s * dx + c * dy;
    x_t1[3 * i + 2] = x_t0[3 * i + 2];
  }
}

static void on_turning(World* world) {
  on_obstacle(world);
  world->motion[0].target = swing_around;
  world->motion[0].name = "drive";
  world->motion[0].velocity[1] = 0.3;
}

// Its left side turns, a force pulls at the tied box from the second step on, at tied vertices,
// too, and a spring holds it. Both begin deformed: at rest, damping has a kink.
static void pull(void* user, double t, const double X[3], double value[3]) {
  (void)user, (void)X;
  value[0] = 0.3;
  value[1] = 4.0 * t;
  value[2] = -0.2;
}

static void driven_of(World* world, int32_t order, double damping) {
  static const int32_t some[3] = {1, 2, 4}, end[1] = {6};
  static NoliForceDef force;
  static NoliSpringDef spring;
  static double x0[2][3 * 12];
  pair_of(world, 1e-3);
  world->motion[0].target = swing_around;
  world->motion[0].name = "drive";
  world->motion[0].velocity[1] = 0.3;
  force = noli_default_force_def();
  force.body = 1;
  force.node = some;
  force.n_node = 3;
  force.value = pull;
  force.t_begin = 0.015;
  world->def.forces = &force;
  world->def.n_forces = 1;
  spring = noli_default_spring_def();
  spring.body = 1;
  spring.node = end;
  spring.n_node = 1;
  spring.stiffness = 50.0;
  spring.damping = damping > 0.0 ? 0.5 : 0.0;
  world->def.springs = &spring;
  world->def.n_springs = 1;
  for (int32_t b = 0; b < 2; b++) {
    world->body[b].material.damping = damping;
    world->body[b].material.mass_damping = 100.0 * damping;
    world->body[b].velocity[2] = 0.4 * b;
    const NoliMesh* mesh = world->mesh[b];
    assert_true(mesh->n_vert <= 12);
    for (int32_t i = 0; i < 3 * mesh->n_vert; i++) {
      x0[b][i] = mesh->x[i] + 2e-4 * sin(5.0 * i + b);
    }
    world->body[b].x0 = x0[b];
  }
  world->body[0].order = order;
}

static void driven(World* world) {
  driven_of(world, 1, 0.0);
}

static void driven_damped(World* world) {
  driven_of(world, 1, 0.01);
}

static void driven_quadratic(World* world) {
  driven_of(world, 2, 0.0);
}

static void driven_damped_quadratic(World* world) {
  driven_of(world, 2, 0.02);
}

#define START(of_) VERTICES("initial_position", of_)

static void shapes(void** state) {
  (void)state;
  static const GradientCase cases[] = {
      {"apart, young", apart, NULL, 0.01, 4, OF("young", "body1"), 5, 1e-6},
      {"apart, density", apart, "bdf2", 0.01, 4, OF("density", "body1"), 0.1, 1e-6},
      {"apart, shape of the target", apart, NULL, 0.01, 4, SHAPE("body0"), 1e-6, 1e-6},
      {"apart, shape of the tied", apart, NULL, 0.01, 4, SHAPE("body1"), 1e-6, 1e-6},
      {"apart, both at the start", apart, "sdirk2", 0.01, 3, START("body0"), 1e-6, 1e-6},
      {"apart, tied at the start", apart, "bdf2", 0.01, 3, START("body1"), 1e-6, 1e-6},
      {"apart, place of the target", apart, NULL, 0.01, 4, OF("rest_position", "body0"), 1e-6,
       1e-6},
      {"apart, velocities", apart, NULL, 0.01, 4, VERTICES("initial_velocity", "body0"), 1e-3,
       1e-6},
      {"at rest, shape of the tied", apart, "quasi_static", 0.01, 2, SHAPE("body1"), 1e-6, 1e-6},
      {"at rest, shape of the target", apart, "quasi_static", 0.01, 2, SHAPE("body0"), 1e-6, 1e-6},
      {"touching, shape of the target", touching, NULL, 0.01, 4, SHAPE("body0"), 1e-6, 1e-6},
      {"touching, shape of the tied", touching, NULL, 0.01, 4, SHAPE("body1"), 1e-6, 1e-6},
      {"within, shape of the target", within, NULL, 0.01, 4, SHAPE("body0"), 1e-6, 1e-6},
      {"within, shape of the tied", within, NULL, 0.01, 4, SHAPE("body1"), 1e-6, 1e-6},
      {"damped, shape of the target", damped, NULL, 0.01, 4, SHAPE("body0"), 1e-6, 1e-6},
      {"damped, shape of the tied", damped, "bdf2", 0.01, 4, SHAPE("body1"), 1e-6, 1e-6},
      {"chain, shape of the first", chain, NULL, 0.01, 3, SHAPE("body0"), 1e-6, 1e-6},
      {"chain, shape of the second", chain, NULL, 0.01, 3, SHAPE("body1"), 1e-6, 1e-6},
      {"chain, shape of the third", chain, "bdf2", 0.01, 3, SHAPE("body2"), 1e-6, 1e-6},
      {"order 2, shape of the target", quadratic, NULL, 0.01, 3, SHAPE("body0"), 1e-6, 1e-6},
      {"order 2, shape of the tied", quadratic, NULL, 0.01, 3, SHAPE("body1"), 1e-6, 1e-6},
      {"proxy, shape of the target", proxy, NULL, 0.01, 3, SHAPE("body0"), 1e-6, 1e-6},
      {"proxy, tied at the start", proxy, NULL, 0.01, 3, START("body1"), 1e-6, 1e-6},
      {"landing, shape of the target", landing, NULL, 0.005, 6, SHAPE("body0"), 1e-7, 1e-5},
      {"landing, shape of the tied", landing, NULL, 0.005, 6, SHAPE("body1"), 1e-7, 1e-5},
      {"landing, tied at the start", landing, NULL, 0.005, 6, START("body1"), 1e-7, 1e-5},
      {"sheet, shape of the target", on_sheet, NULL, 0.005, 4, SHAPE("body0"), 1e-6, 1e-6},
      {"sheet, shape of the tied", on_sheet, NULL, 0.005, 4, SHAPE("body1"), 1e-6, 1e-6},
      {"obstacle, shape of the target", on_obstacle, NULL, 0.01, 4, SHAPE("body0"), 1e-6, 1e-6},
      {"obstacle, shape of the tied", on_obstacle, NULL, 0.01, 4, SHAPE("body1"), 1e-6, 1e-6},
      {"obstacle, at the start", on_obstacle, NULL, 0.01, 4, START("body1"), 1e-6, 1e-6},
  };
  COMPARE(cases);
}

static void motions(void** state) {
  (void)state;
  static const GradientCase cases[] = {
      {"obstacle bdf2, shape of the tied", on_obstacle, "bdf2", 0.01, 4, SHAPE("body1"), 1e-6,
       1e-6},
      {"turning, velocity", on_turning, NULL, 0.01, 4, OF("motion_velocity", "drive"), 1e-4, 1e-6},
      {"turning bdf2, velocity", on_turning, "bdf2", 0.01, 5, OF("motion_velocity", "drive"), 1e-4,
       1e-6},
      {"turning sdirk2, factor", on_turning, "sdirk2", 0.01, 4, OF("motion", "drive"), 1e-4, 1e-6},
      {"turning bdf2, spin", on_turning, "bdf2", 0.01, 4, OF("motion_spin", "drive"), 1e-4, 1e-6},
      {"turning sdirk2, at the start", on_turning, "sdirk2", 0.01, 4, START("body0"), 1e-6, 1e-6},
      {"turning bdf2, shape of the tied", on_turning, "bdf2", 0.01, 4, SHAPE("body1"), 1e-6, 1e-6},
  };
  COMPARE(cases);
}

// By everything that the accelerations of tied bodies follow from.
static void compare_shares(void (*build)(World* world), const char* integrator, const char* name) {
  const struct {
    NoliParameterDef parameter;
    double step;
  } by[] = {{START("body0"), 1e-6},
            {START("body1"), 1e-6},
            {VERTICES("initial_velocity", "body0"), 1e-3},
            {ELEMENTS("density", "body0"), 1.0},
            {OF("density", "body1"), 1.0},
            {OF("young", "body1"), 5.0},
            {SHAPE("body0"), 1e-6},
            {SHAPE("body1"), 1e-6},
            {OF("rest_position", "body1"), 1e-6},
            {OF("force", "force 0"), 1e-2},
            {OF("motion_velocity", "drive"), 1e-4},
            {OF("motion", "drive"), 1e-4}};
  for (size_t i = 0; i < sizeof by / sizeof *by; i++) {
    char text[96];
    const NoliParameterDef* def = &by[i].parameter;
    const char* scope = def->scope != NULL ? def->scope : "";
    snprintf(text, sizeof text, "%s %s, %s %s %s", name, integrator, def->kind, def->of, scope);
    const GradientCase c = {text, build, integrator, 0.01, 4, by[i].parameter, by[i].step, 5e-7};
    compare_case(&c, NULL);
  }
}

static void shares(void** state) {
  (void)state;
  compare_shares(driven, "trapezoidal", "driven");
  compare_shares(driven_damped, "tr_bdf2", "damped");
  compare_shares(driven_quadratic, "tr_bdf2", "order 2");
  compare_shares(driven_damped_quadratic, "trapezoidal", "damped order 2");
}

static void starts_from_forces(void** state) {
  (void)state;
  static const GradientCase cases[] = {
      {"within trapezoidal, shape of the target", within, "trapezoidal", 0.01, 4, SHAPE("body0"),
       1e-6, 1e-6},
      {"chain trapezoidal, shape of the first", chain, "trapezoidal", 0.01, 3, SHAPE("body0"), 1e-6,
       1e-6},
      {"chain tr_bdf2, shape of the second", chain, "tr_bdf2", 0.01, 3, SHAPE("body1"), 1e-6, 1e-6},
      {"chain trapezoidal, shape of the third", chain, "trapezoidal", 0.01, 3, SHAPE("body2"), 1e-6,
       1e-6},
      {"proxy trapezoidal, shape of the target", proxy, "trapezoidal", 0.01, 4, SHAPE("body0"),
       1e-6, 1e-6},
      {"proxy tr_bdf2, shape of the tied", proxy, "tr_bdf2", 0.01, 4, SHAPE("body1"), 1e-6, 1e-6},
      {"landing trapezoidal, shape of the tied", landing, "trapezoidal", 0.001, 6, SHAPE("body1"),
       1e-7, 1e-5},
      {"landing tr_bdf2, shape of the target", landing, "tr_bdf2", 0.005, 6, SHAPE("body0"), 1e-7,
       1e-5},
      {"sheet trapezoidal, shape of the target", on_sheet, "trapezoidal", 0.005, 4, SHAPE("body0"),
       1e-6, 1e-6},
      {"turning trapezoidal, spin", on_turning, "trapezoidal", 0.01, 4, OF("motion_spin", "drive"),
       1e-4, 1e-6},
      {"turning tr_bdf2, shape of the tied", on_turning, "tr_bdf2", 0.01, 4, SHAPE("body1"), 1e-6,
       1e-6},
      {"turning tr_bdf2, at the start", on_turning, "tr_bdf2", 0.01, 4, START("body0"), 1e-6, 1e-6},
  };
  COMPARE(cases);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(shapes), cmocka_unit_test(motions),
                                     cmocka_unit_test(shares),
                                     cmocka_unit_test(starts_from_forces)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
