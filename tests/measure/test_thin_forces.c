// Forces and moments inside shells and rods, and reactions to clamped angles, against closed forms.
#include "step/world.h"

#include "noli/live.h"

#define PI 3.14159265358979323846
#define GRAVITY 9.80665

static const double origin[3] = {0, 0, 0};

// Vertices for which sign * x[axis] is at most `most`.
static int32_t select_nodes(const NoliMesh* mesh, int axis, double sign, double most,
                            int32_t* node) {
  int32_t n = 0;
  for (int32_t i = 0; i < mesh->n_vert; i++) {
    if (sign * mesh->x[3 * i + axis] <= most) {
      node[n++] = i;
    }
  }
  return n;
}

static void hold(World* world, int32_t body, const int32_t* node, int32_t n_node) {
  NoliMotionDef* motion = world_add_motion(world, body, NULL, NULL);
  motion->node = node;
  motion->n_node = n_node;
}

static void constant_force(void* user, double t, const double X[3], double value[3]) {
  (void)t, (void)X;
  memcpy(value, user, 3 * sizeof *value);
}

static void centre_of_cell(const World* world, int32_t cell, int32_t size, double centre[3]) {
  const double* X = noli_sim_rest_positions(world->sim);
  for (int k = 0; k < 3; k++) {
    centre[k] = 0.0;
    for (int32_t a = 0; a < size; a++) {
      centre[k] += X[3 * noli_sim_tets(world->sim)[4 * cell + a] + k] / size;
    }
  }
}

// ---- shells -------------------------------------------------------------------------------------

// Moves its vertices by (stretch - 1) X along x, in one second.
static void stretch(void* user, double t0, double t1, int32_t n, const int32_t* node,
                    const double* X, const double* x_t0, double* x_t1) {
  (void)node, (void)t0, (void)x_t0;
  const double* strain = user;
  for (int32_t i = 0; i < n; i++) {
    x_t1[3 * i] = X[3 * i] * (1.0 + strain[0] * t1);
    x_t1[3 * i + 1] = X[3 * i + 1] * (1.0 + strain[1] * t1);
    x_t1[3 * i + 2] = X[3 * i + 2];
  }
}

// A sheet that is stretched along x and held across has N_xx = E t eps / (1 - nu^2), N_yy = nu
// N_xx, for any triangles and any plane.
static void stretched_sheets_have_their_tension(void** state) {
  (void)state;
  static double strain[2] = {1e-4, 0.0};
  World world = world_new(1);
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_rectangle(world.context, 1.0, 0.4, 7, 3, &mesh));
  int32_t sheet = world_add(&world, mesh, origin);
  double young = 1e6, poisson = 0.3, thickness = 1e-3;
  world.body[sheet].shell.thickness = thickness;
  world.body[sheet].material.law = "stvk";
  world.body[sheet].material.young = young;
  world.body[sheet].material.poisson = poisson;
  (void)world_add_motion(&world, sheet, stretch, strain);
  world.def.gravity[1] = 0.0;
  world.def.integrator = "quasi_static";
  world.def.time_step = 1.0;
  world_start(&world);
  world_step(&world);
  NoliSheetForces forces[42];
  assert_int_equal(noli_sim_tet_count(world.sim), 42);
  ASSERT_OK(noli_sim_sheet_forces(world.sim, forces));
  double tension = young * thickness * strain[0] / (1.0 - poisson * poisson);
  for (int t = 0; t < 42; t++) {
    ASSERT_NEAR(forces[t].membrane[0] / tension, 1.0, 1e-3);
    ASSERT_NEAR(forces[t].membrane[1] / tension, poisson, 1e-3);
    for (int k = 2; k < 6; k++) {
      ASSERT_NEAR(forces[t].membrane[k] / tension, 0.0, 1e-3);
    }
    for (int k = 0; k < 6; k++) {
      ASSERT_NEAR(forces[t].bending[k] / (tension * thickness), 0.0, 1e-6);
    }
  }
  // rods have none
  NoliRodForces rods[42];
  ASSERT_OK(noli_sim_rod_forces(world.sim, rods));
  assert_true(rods[17].tension == 0.0);
  world_done(&world);
}

// A cantilever of a sheet with a force at its end: the moment per width, the mean over each pair of
// columns, is F (L - x) / width, by both laws of bending; pushed towards the normals of its
// triangles, their side is shortened.
static void bent_sheets_have_their_moment(void** state) {
  (void)state;
  enum { COLUMNS = 20, ROWS = 2 };
  const char* const laws[] = {"hinges", "plate"};
  static double force[3] = {0.0, 0.0, 1e-6};
  for (int k = 0; k < 2; k++) {
    World world = world_new(1);
    NoliMesh* mesh = NULL;
    int32_t held[8], pulled[8];
    ASSERT_OK(noli_mesh_make_rectangle(world.context, 1.0, 0.1, COLUMNS, ROWS, &mesh));
    int32_t sheet = world_add(&world, mesh, origin);
    world.body[sheet].shell.thickness = 1e-3;
    world.body[sheet].shell.bending_law = laws[k];
    world.body[sheet].material.law = "stvk";
    world.body[sheet].material.young = 1e6;
    world.body[sheet].material.poisson = 0.0;
    hold(&world, sheet, held, select_nodes(mesh, 0, 1.0, -0.45 + 1e-9, held));
    NoliForceDef load = noli_default_force_def();
    load.body = sheet;
    load.node = pulled;
    load.n_node = select_nodes(mesh, 0, -1.0, -0.5 + 1e-9, pulled);
    load.kind = "total";
    load.value = constant_force;
    load.user = force;
    world.def.tolerance = (NoliScaled){1e-9, false};
    world.def.forces = &load;
    world.def.n_forces = 1;
    world.def.gravity[1] = 0.0;
    world.def.integrator = "quasi_static";
    world.def.time_step = 1.0;
    world_start(&world);
    world_step(&world);
    NoliSheetForces forces[2 * COLUMNS * ROWS];
    double mean[COLUMNS] = {0};
    ASSERT_OK(noli_sim_sheet_forces(world.sim, forces));
    for (int32_t t = 0; t < 2 * COLUMNS * ROWS; t++) {
      double centre[3];
      centre_of_cell(&world, t, 3, centre);
      mean[(int)((centre[0] + 0.5) * COLUMNS)] += forces[t].bending[0] / (2 * ROWS);
    }
    for (int c = 2; c < COLUMNS; c++) {
      double want = force[2] * (1.0 - (c + 0.5) / COLUMNS) / 0.1;
      // triangles have the moments at their hinges, and those at the end of a plate only one
      ASSERT_NEAR(mean[c] / want, 1.0, 0.025);
    }
    world_done(&world);
  }
}

// ---- rods ---------------------------------------------------------------------------------------

// A straight rod along `axis` from 0, segments of length h that run either way.
static NoliMesh* make_line(const World* world, int32_t n, int axis, double h) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_create(world->context, n + 1, 0, 0, n, 0, false, &mesh));
  memset(mesh->x, 0, sizeof *mesh->x * 3 * (size_t)(n + 1));
  for (int32_t i = 0; i <= n; i++) {
    mesh->x[3 * i + axis] = h * i;
  }
  for (int32_t i = 0; i < n; i++) {
    mesh->edge[2 * i] = i + i % 2;
    mesh->edge[2 * i + 1] = i + 1 - i % 2;
  }
  return mesh;
}

static int32_t make_rod(World* world, NoliMesh* mesh, double twist) {
  int32_t body = world_add(world, mesh, origin);
  world->body[body].rod.radius = 0.01;
  world->body[body].rod.twist = twist;
  world->body[body].material.young = 1e7;
  world->body[body].material.poisson = 0.3;
  world->def.gravity[1] = 0.0;
  world->def.contact = false;
  world->def.integrator = "quasi_static";
  world->def.time_step = 1.0;
  return body;
}

// A rod that hangs carries rho A g z at the height z above its end.
static void hanging_rods_carry_their_weight(void** state) {
  (void)state;
  enum { N = 20 };
  static const int32_t held[2] = {N - 1, N};
  for (int k = 0; k < 2; k++) {
    World world = world_new(1);
    int32_t rod = make_rod(&world, make_line(&world, N, 1, 0.05), k == 0 ? 0.0 : 1.0);
    hold(&world, rod, held, 2);
    world.def.gravity[1] = -GRAVITY;
    world_start(&world);
    world_step(&world);
    NoliRodForces forces[N];
    ASSERT_OK(noli_sim_rod_forces(world.sim, forces));
    double weight = 1000.0 * GRAVITY * PI * 1e-4 * 0.05;
    for (int s = 0; s < N - 1; s++) {
      ASSERT_NEAR(forces[s].tension / (weight * (s + 0.5)), 1.0, 1e-6);
    }
    world_done(&world);
  }
}

// A cantilever has the moment r x F, with r from the section to the end where the force acts, and
// the sign that belongs to the direction of its segment; with and without twist, also where it
// bends far.
static void bent_rods_have_their_moment(void** state) {
  (void)state;
  enum { N = 30 };
  static const int32_t held[2] = {0, 1}, end[1] = {N};
  const double loads[] = {1e-4, 0.5};
  for (int k = 0; k < 4; k++) {
    static double force[3];
    force[2] = loads[k / 2];
    World world = world_new(1);
    int32_t rod = make_rod(&world, make_line(&world, N, 0, 0.03), k % 2 == 0 ? 0.0 : 1.0);
    hold(&world, rod, held, 2);
    NoliForceDef load = noli_default_force_def();
    load.body = rod;
    load.node = end;
    load.n_node = 1;
    load.kind = "total";
    load.value = constant_force;
    load.user = force;
    world.def.tolerance = (NoliScaled){1e-9, false};
    world.def.forces = &load;
    world.def.n_forces = 1;
    world_start(&world);
    world_step(&world);
    NoliRodForces forces[N];
    ASSERT_OK(noli_sim_rod_forces(world.sim, forces));
    const double* x = noli_sim_positions(world.sim);
    assert_true(k < 2 || x[3 * N + 2] > 0.2);
    for (int s = 1; s < N; s++) {
      double sign = s % 2 == 0 ? 1.0 : -1.0, want[3] = {0, 0, 0};
      want[1] = -sign * force[2] * (x[3 * N] - 0.5 * (x[3 * s] + x[3 * s + 3]));
      for (int c = 0; c < 3; c++) {
        ASSERT_NEAR(forces[s].bending[c] / force[2], want[c] / force[2], 1e-5);
      }
      ASSERT_NEAR(forces[s].twist / force[2], 0.0, 1e-5);
    }
    world_done(&world);
  }
}

// Turns everything about x, 1 rad/s.
static void turn(void* user, double t0, double t1, int32_t n, const int32_t* node, const double* X,
                 const double* x_t0, double* x_t1) {
  (void)node, (void)X, (void)user;
  double c = cos(t1 - t0), s = sin(t1 - t0);
  for (int32_t i = 0; i < n; i++) {
    x_t1[3 * i] = x_t0[3 * i];
    x_t1[3 * i + 1] = c * x_t0[3 * i + 1] - s * x_t0[3 * i + 2];
    x_t1[3 * i + 2] = s * x_t0[3 * i + 1] + c * x_t0[3 * i + 2];
  }
}

// A rod turned at one end and held at the other one: G J angle / L in every segment, which is also
// the reaction of both motions.
static void twisted_rods_have_their_torque(void** state) {
  (void)state;
  enum { N = 21 };
  static const int32_t held[2] = {0, 1}, turned[2] = {N - 1, N};
  World world = world_new(1);
  int32_t rod = make_rod(&world, make_line(&world, N, 0, 0.05), 1.0);
  hold(&world, rod, held, 2);
  NoliMotionDef* motion = world_add_motion(&world, rod, turn, NULL);
  motion->node = turned;
  motion->n_node = 2;
  world.def.time_step = 0.5;
  world_start(&world);
  double torque = 1e7 / 2.6 * 0.5 * PI * 1e-8 / (0.05 * (N - 1));
  for (int step = 1; step <= 10; step++) {
    world_step(&world);
    double want = torque * 0.5 * step;
    NoliRodForces forces[N];
    ASSERT_OK(noli_sim_rod_forces(world.sim, forces));
    for (int s = 0; s < N; s++) {
      ASSERT_NEAR(forces[s].twist / want, 1.0, 1e-5);
    }
    NoliReaction reaction[2];
    for (int m = 0; m < 2; m++) {
      ASSERT_OK(noli_sim_reaction(world.sim, m, origin, &reaction[m]));
      ASSERT_NEAR(reaction[m].moment[0] / want, m == 0 ? -1.0 : 1.0, 1e-5);
      for (int c = 0; c < 3; c++) {
        ASSERT_NEAR(reaction[m].force[c] * 0.05 / want, 0.0, 1e-5);
        ASSERT_NEAR(c > 0 ? reaction[m].moment[c] / want : 0.0, 0.0, 1e-5);
      }
    }
  }
  world_done(&world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stretched_sheets_have_their_tension),
      cmocka_unit_test(bent_sheets_have_their_moment),
      cmocka_unit_test(hanging_rods_carry_their_weight),
      cmocka_unit_test(bent_rods_have_their_moment),
      cmocka_unit_test(twisted_rods_have_their_torque),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
