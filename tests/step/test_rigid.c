// Rigid bodies: masses, free motion against closed forms, contact with all others, what is refused.
#include "world.h"

#include "fem/blocks/block_rigid.h"
#include "math/eigen.h"
#include "math/rotation.h"
#include "math/vec3.h"

static const char* const integrators[] = {"backward_euler", "bdf2", "sdirk2", "tr_bdf2",
                                          "trapezoidal"};
enum { N_INTEGRATORS = sizeof integrators / sizeof *integrators };

// Bodies are as rigid as this, |A^T A - I|.
#define STRETCH 1e-6

static int32_t add_rigid(World* world, NoliMesh* mesh, const double position[3]) {
  int32_t body = world_add(world, mesh, position);
  world->body[body].rigid.rigid = true;
  return body;
}

static NoliBodyState state_of(const World* world, int32_t body) {
  NoliBodyState state;
  ASSERT_OK(noli_sim_body_state(world->sim, body, &state));
  return state;
}

// A step after which all rigid bodies still are.
static void rigid_step(World* world) {
  world_step(world);
  ASSERT_AT_MOST(world->report.rigid_stretch, STRETCH);
}

// ---- masses -------------------------------------------------------------------------------------

// The mass of an L of three cubes of edge a, which is not symmetric, by its cubes.
static void masses_are_those_of_the_volume(void** state) {
  (void)state;
  for (int form = 0; form < 2; form++) {
    World world = world_new(1);
    NoliMesh* mesh = NULL;
    const bool filled[4] = {true, true, true, false};
    const double a = 0.1, size[3] = {2.0 * a, 2.0 * a, a};
    const int32_t cells[3] = {2, 2, 1};
    ASSERT_OK(noli_mesh_make_voxels(world.context, size, cells, filled, form == 1, &mesh));
    int32_t body = add_rigid(&world, mesh, (double[]){3.0, -2.0, 1.0});
    world.body[body].material.density = 700.0;
    double low[3], high[3];
    noli_mesh_bounds(mesh->n_vert, mesh->x, low, high);
    world_start(&world);

    // three cubes
    double m = 700.0 * a * a * a, centre[3] = {0}, inertia[9] = {0};
    const double at[3][3] = {
        {0.5 * a, 0.5 * a, 0.5 * a}, {1.5 * a, 0.5 * a, 0.5 * a}, {0.5 * a, 1.5 * a, 0.5 * a}};
    for (int c = 0; c < 3; c++) {
      for (int k = 0; k < 3; k++) {
        centre[k] += (low[k] + at[c][k]) / 3.0;
      }
    }
    for (int c = 0; c < 3; c++) {
      double d[3], square = 0.0;
      for (int k = 0; k < 3; k++) {
        d[k] = low[k] + at[c][k] - centre[k];
        square += d[k] * d[k];
      }
      for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
          inertia[3 * i + k] += m * ((i == k ? square + a * a / 6.0 : 0.0) - d[i] * d[k]);
        }
      }
    }
    NoliBodyState found = state_of(&world, body);
    ASSERT_NEAR(found.mass, 3.0 * m, 1e-14 * m);
    ASSERT_NEAR(found.rest_volume, 3.0 * a * a * a, 1e-14 * a);
    for (int k = 0; k < 3; k++) {
      ASSERT_NEAR(found.centre[k], centre[k], 1e-14);
    }
    for (int k = 0; k < 9; k++) {
      ASSERT_NEAR(found.inertia[k], inertia[k], 1e-13 * m * a * a);
    }
    assert_int_equal(noli_sim_node_count(world.sim), 4);
    world_done(&world);
  }
}

// An open sheet with given masses has these, and triangles that look inward enclose as much.
static void masses_are_those_given(void** state) {
  (void)state;
  World world = world_new(1);
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_plane(world.context, 0.4, 0.2, 3, 2, &mesh));
  int32_t sheet = add_rigid(&world, mesh, (double[]){0, 0, 0});
  NoliRigidDef* rigid = &world.body[sheet].rigid;
  const double inertia[6] = {0.02, 0.05, 0.04, 0.001, -0.002, 0.003};
  rigid->mass = 1.5;
  rigid->at_centre = true;
  memcpy(rigid->centre, (double[]){0.01, 0.02, 0.03}, sizeof rigid->centre);
  memcpy(rigid->inertia, inertia, sizeof inertia);
  ASSERT_OK(noli_mesh_make_icosphere(world.context, 0.1, 2, &mesh));
  for (int64_t t = 0; t < mesh->n_tri; t++) {
    int32_t second = mesh->tri[3 * t + 1];
    mesh->tri[3 * t + 1] = mesh->tri[3 * t + 2];
    mesh->tri[3 * t + 2] = second;
  }
  int32_t ball = add_rigid(&world, mesh, (double[]){0, 1, 0});
  world.body[ball].rigid.mass = 2.0;
  world_start(&world);
  NoliBodyState found = state_of(&world, sheet);
  static const int place[6] = {0, 4, 8, 1, 5, 2};
  ASSERT_NEAR(found.mass, 1.5, 1e-14);
  for (int k = 0; k < 6; k++) {
    ASSERT_NEAR(found.inertia[place[k]], inertia[k], 1e-14);
    ASSERT_NEAR(found.centre[k % 3], 0.01 * (k % 3 + 1), 1e-15);
  }
  found = state_of(&world, ball);
  ASSERT_NEAR(found.mass, 2.0, 1e-14);
  ASSERT_NEAR(found.inertia[0], 0.4 * 2.0 * 0.01, 0.1 * 0.4 * 2.0 * 0.01);
  assert_true(found.rest_volume > 0.0);
  world_done(&world);
}

// ---- free motion --------------------------------------------------------------------------------

static void they_fall(void** state) {
  (void)state;
  for (int i = 0; i < N_INTEGRATORS; i += N_INTEGRATORS - 1) {
    World world = world_new(1);
    int32_t box = add_rigid(&world, make_box(&world, 0.2, 0.3, 0.4, 2), (double[]){0.1, 2.0, -0.3});
    double start[3], v0[3] = {1.5, -0.5, 0.25};
    memcpy(world.body[box].velocity, v0, sizeof v0);
    world.def.integrator = integrators[i];
    world.def.time_step = 0.02;
    world_start(&world);
    world_centre(&world, box, start);
    for (int n = 1; n <= 50; n++) {
      rigid_step(&world);
      world_expect_flight(&world, box, n, start, v0);
    }
    world_done(&world);
  }
}

// The legs of a U are closer than the contact distance, and do not push each other.
static void it_does_not_collide_with_itself(void** state) {
  (void)state;
  World world = world_new(1);
  NoliMesh* mesh = NULL;
  const bool filled[6] = {true, true, true, false, true, true};
  ASSERT_OK(noli_mesh_make_voxels(world.context, (double[]){3e-3, 2e-3, 1e-3}, (int32_t[]){3, 2, 1},
                                  filled, false, &mesh));
  int32_t body = add_rigid(&world, mesh, (double[]){0, 0, 0});
  world.body[body].angular_velocity[0] = 3.0;
  world.def.contact_distance = (NoliScaled){2e-3, NOLI_ABSOLUTE};
  world_start(&world);
  for (int n = 0; n < 3; n++) {
    rigid_step(&world);
    assert_int_equal(world.report.contacts, 0);
  }
  world_done(&world);
}

// sn, cn, dn of modulus k: by the arithmetic-geometric mean.
static void jacobi(double u, double k, double value[3]) {
  double a[12] = {1.0}, c[12] = {k}, b = sqrt(1.0 - k * k);
  int n = 0;
  for (; n < 11 && c[n] > 1e-16; n++) {
    a[n + 1] = 0.5 * (a[n] + b);
    c[n + 1] = 0.5 * (a[n] - b);
    b = sqrt(a[n] * b);
  }
  double phi = ldexp(a[n] * u, n), before = phi;
  for (; n > 0; n--) {
    before = phi;
    phi = 0.5 * (phi + asin(c[n] / a[n] * sin(phi)));
  }
  value[0] = sin(phi);
  value[1] = cos(phi);
  value[2] = cos(phi) / cos(before - phi);
}

// A box that turns without torque, about axes near the middle one: the largest error of its angular
// velocity in its own axes over a second, relative, against Euler's equations.
static double tumble(const char* integrator, int32_t n_steps, double energy[2], double* momentum) {
  World world = world_new(1);
  const double a[3] = {0.2, 0.3, 0.4}, omega[3] = {3.0, 1e-300, 4.0};
  int32_t box = add_rigid(&world, make_box(&world, a[0], a[1], a[2], 1), (double[]){0, 0, 0});
  memset(world.def.gravity, 0, sizeof world.def.gravity);
  // axes of ascending moments of inertia: z, -y, x of the world
  double* spin = world.body[box].angular_velocity;
  spin[2] = omega[0];
  spin[0] = omega[2];
  world.body[box].velocity[1] = 0.7;
  world.def.integrator = integrator;
  world.def.time_step = 1.0 / n_steps;
  world.def.tolerance = (NoliScaled){1e-9, NOLI_ABSOLUTE};
  world_start(&world);
  NoliBodyState start = state_of(&world, box), now;
  double I[3] = {start.inertia[8], start.inertia[4], start.inertia[0]};
  double E2 = 0.0, L2 = 0.0;
  for (int k = 0; k < 3; k++) {
    E2 += I[k] * omega[k] * omega[k];
    L2 += I[k] * I[k] * omega[k] * omega[k];
  }
  assert_true(L2 > E2 * I[1]);
  double rate = sqrt((I[2] - I[1]) * (L2 - E2 * I[0]) / (I[0] * I[1] * I[2]));
  double modulus = sqrt((I[1] - I[0]) * (E2 * I[2] - L2) / ((I[2] - I[1]) * (L2 - E2 * I[0])));
  double middle = sqrt((E2 * I[2] - L2) / (I[1] * (I[2] - I[1])));

  double worst = 0.0;
  energy[0] = 0.5 * E2;
  for (int n = 1; n <= n_steps; n++) {
    rigid_step(&world);
    now = state_of(&world, box);
    // columns of A: edges of the box, which its surface has as vertices 0 and those next to it
    const double* x = noli_sim_positions(world.sim) + 12;
    const double* X = noli_sim_rest_positions(world.sim) + 12;
    double body[3] = {0.0, 0.0, 0.0}, function[3];
    for (int v = 1; v < 8; v++) {
      for (int k = 0; k < 3; k++) {
        bool along = fabs(fabs(X[3 * v + k] - X[k]) - a[k]) < 1e-12;
        for (int i = 0; i < 3; i++) {
          along = along && (i == k || fabs(X[3 * v + i] - X[i]) < 1e-12);
        }
        for (int i = 0; along && i < 3; i++) {
          body[k] += now.angular_velocity[i] * (x[3 * v + i] - x[i]) / (X[3 * v + k] - X[k]);
        }
      }
    }
    jacobi(rate * (double)n / n_steps, modulus, function);
    double exact[3] = {omega[0] * function[1], middle * function[0], omega[2] * function[2]};
    double own[3] = {body[2], -body[1], body[0]};
    for (int k = 0; k < 3; k++) {
      worst = noli_larger(worst, fabs(own[k] - exact[k]) / 5.0);
    }
    for (int k = 0; k < 3; k++) {
      ASSERT_NEAR(now.momentum[k], start.momentum[k], 1e-11 * start.mass);
    }
  }
  energy[1] = world.report.kinetic - 0.5 * start.mass * 0.49;
  *momentum = 0.0;
  for (int k = 0; k < 3; k++) {
    *momentum = noli_larger(*momentum, fabs(now.angular_momentum[k] - start.angular_momentum[k]));
  }
  *momentum /= sqrt(L2);
  world_done(&world);
  return worst;
}

static void they_tumble_as_euler_says(void** state) {
  (void)state;
  static const double order[N_INTEGRATORS] = {1, 2, 1, 2, 2};
  for (int i = 0; i < N_INTEGRATORS; i++) {
    double error[2], energy[2], momentum;
    for (int k = 0; k < 2; k++) {
      error[k] = tumble(integrators[i], k == 0 ? 200 : 400, energy, &momentum);
    }
    double found = log2(error[0] / error[1]);
    print_message("%s: error %.2e and %.2e, order %.2f; energy %+.2e, angular momentum %.2e\n",
                  integrators[i], error[0], error[1], found, energy[1] / energy[0] - 1.0, momentum);
    ASSERT_NEAR(found, order[i], 0.15);
  }
}

// ---- the energy ---------------------------------------------------------------------------------

typedef struct Element {
  const NoliBlock* block;
  unsigned what; // the Hessian
} Element;

static double energy_of(void* user, const double* x, double* gradient, double* hessian) {
  const Element* element = user;
  const NoliBlockEnergy energy = {.block = element->block, .scale = 1e-6};
  const NoliEnergyTerm term = noli_block_elasticity_term(&energy);
  double value, blocks[90];
  const NoliLocal local = {&value, gradient, blocks};
  term.evaluate(&energy, x, 0, 1, NOLI_EVAL_ENERGY | NOLI_EVAL_GRADIENT | element->what, &local);
  for (int i = 0; hessian != NULL && i < 144; i++) {
    int a = i / 36, b = i % 12 / 3, row = i / 12 % 3, column = i % 3;
    const double* block = blocks + 9 * noli_stencil_block(4, a < b ? a : b, a < b ? b : a);
    hessian[i] = a <= b ? block[3 * row + column] : block[3 * column + row];
  }
  return value;
}

// Its derivatives are those of differences where it is stretched; the projected Hessian has no
// negative eigenvalue, and is the plain one where the body is only stretched.
static void its_energy_has_derivatives(void** state) {
  (void)state;
  World world = world_new(1);
  add_rigid(&world, make_box(&world, 0.2, 0.3, 0.4, 1), (double[]){0.3, 0.2, 0.1});
  world_start(&world);
  Element element = {&world.sim->model->problem.block[0], NOLI_EVAL_HESSIAN};
  TestRandom random = {3};
  double x[12], full[144], projected[144], gradient[12], value[12], vector[144];
  for (int i = 0; i < 12; i++) {
    x[i] = noli_sim_positions(world.sim)[i] + test_random(&random, -0.05, 0.05);
  }
  test_derivatives(energy_of, &element, 12, x, 1.0, 1e-7, 1e-7);
  element.what = NOLI_EVAL_PROJECTED;
  energy_of(&element, x, gradient, projected);
  noli_eigen_symmetric(12, projected, value, vector);
  assert_true(value[11] > 0.0 && value[0] >= -1e-12 * value[11]);

  // larger in all directions
  for (int i = 0; i < 12; i++) {
    x[i] = 1.1 * noli_sim_rest_positions(world.sim)[i];
  }
  energy_of(&element, x, gradient, projected);
  element.what = NOLI_EVAL_HESSIAN;
  energy_of(&element, x, gradient, full);
  for (int i = 0; i < 144; i++) {
    ASSERT_NEAR(projected[i], full[i], 1e-12 * fabs(full[0]));
  }
  world_done(&world);
}

// A time step that changes between steps changes the stiffness with it, in clones as well.
static void its_stiffness_follows_the_time_step(void** state) {
  (void)state;
  World world = world_new(1);
  int32_t box = add_rigid(&world, make_box(&world, 0.2, 0.3, 0.4, 1), (double[]){0, 0, 0});
  world.body[box].angular_velocity[0] = 20.0;
  world.body[box].angular_velocity[1] = 1.0;
  world_start(&world);
  rigid_step(&world);
  ASSERT_OK(noli_sim_set_time_step(world.sim, 1e-3));
  NoliSim* clone = NULL;
  ASSERT_OK(noli_sim_clone(world.sim, world.context, &clone));
  for (int n = 0; n < 5; n++) {
    rigid_step(&world);
    ASSERT_AT_MOST(world.report.rigid_stretch, 1e-8);
    ASSERT_OK(noli_sim_step(clone, NULL));
    assert_null(noli_sim_state_difference(world.sim, clone));
  }
  noli_sim_destroy(&clone);
  world_done(&world);
}

// ---- loads and connections ----------------------------------------------------------------------

static void force_at(void* user, double t, const double X[3], double value[3]) {
  (void)t, (void)X;
  memcpy(value, user, 3 * sizeof *value);
}

// A force on one corner of a box, without gravity: momentum and angular momentum grow by its
// impulse and its moment about the centre, as long as the box has hardly turned.
static void a_force_turns_it(void** state) {
  (void)state;
  World world = world_new(1);
  double force[3] = {3.0, -1.0, 2.0};
  int32_t box = add_rigid(&world, make_box(&world, 0.2, 0.3, 0.4, 1), (double[]){0, 0, 0});
  const int32_t corner = 5;
  NoliForceDef push = noli_default_force_def();
  push.body = box;
  push.node = &corner;
  push.n_node = 1;
  push.kind = "nodal";
  push.value = force_at;
  push.user = force;
  world.def.forces = &push;
  world.def.n_forces = 1;
  memset(world.def.gravity, 0, sizeof world.def.gravity);
  world.def.time_step = 1e-4;
  world_start(&world);
  double at[3], moment[3];
  memcpy(at, noli_sim_rest_positions(world.sim) + 3 * (4 + corner), sizeof at);
  for (int k = 0; k < 3; k++) {
    ASSERT_NEAR(fabs(at[k]), 0.05 * (k + 2), 1e-15);
    moment[k] = at[(k + 1) % 3] * force[(k + 2) % 3] - at[(k + 2) % 3] * force[(k + 1) % 3];
  }
  for (int n = 0; n < 10; n++) {
    rigid_step(&world);
  }
  NoliBodyState found = state_of(&world, box);
  for (int k = 0; k < 3; k++) {
    ASSERT_NEAR(found.momentum[k], 1e-3 * force[k], 1e-11);
    ASSERT_NEAR(found.angular_momentum[k], 1e-3 * moment[k], 1e-8);
  }
  world_done(&world);
}

// A plate that is told to move along z alone rises with what lies on it; a part of it cannot be
// told.
static void a_plate_moves_as_told(void** state) {
  (void)state;
  static const double speed = -0.1;
  for (int part = 0; part < 2; part++) {
    World world = world_new(1);
    int32_t plate = add_rigid(&world, make_box(&world, 0.4, 0.05, 0.4, 1), (double[]){0, 0, 0});
    int32_t ball = add_rigid(&world, make_box(&world, 0.1, 0.1, 0.1, 1), (double[]){0, 0.0755, 0});
    NoliMotionDef* motion = world_add_motion(&world, plate, move_down, (void*)(uintptr_t)&speed);
    static const int32_t some[] = {0, 1};
    motion->node = part == 1 ? some : NULL;
    motion->n_node = part == 1 ? 2 : 0;
    if (part == 1) {
      world_expect_refusal(&world,
                           "\"body0\" is rigid: a motion prescribes all of it, not 2 of its 8");
      continue;
    }
    world_start(&world);
    for (int n = 0; n < 40; n++) {
      rigid_step(&world);
    }
    ASSERT_NEAR(state_of(&world, plate).centre[1], 0.04, 1e-6);
    ASSERT_NEAR(state_of(&world, ball).velocity[1], 0.1, 1e-4);
    world_done(&world);
  }
}

// A sheet that is tied to a rigid bar at one side falls with it.
static void soft_bodies_are_tied_to_it(void** state) {
  (void)state;
  World world = world_new(1);
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_plane(world.context, 0.2, 0.2, 4, 4, &mesh));
  double low[3], high[3];
  int32_t sheet = world_add(&world, mesh, (double[]){0, 0, 0});
  noli_mesh_bounds(mesh->n_vert, mesh->x, low, high);
  world.body[sheet].shell.thickness = 1e-3;
  int32_t bar = add_rigid(&world, make_box(&world, 0.05, 0.05, 0.3, 1),
                          (double[]){high[0] + 0.025, high[1], 0.5 * (low[2] + high[2])});
  int32_t tied[8], n = 0;
  for (int32_t v = 0; v < mesh->n_vert; v++) {
    if (mesh->x[3 * v] > high[0] - 1e-9) {
      tied[n++] = v;
    }
  }
  assert_int_equal(n, 5);
  NoliTieDef tie = noli_default_tie_def();
  tie.body = sheet;
  tie.to = bar;
  tie.node = tied;
  tie.n_node = n;
  world.def.ties = &tie;
  world.def.n_ties = 1;
  world.body[bar].angular_velocity[1] = 3.0;
  memset(world.def.gravity, 0, sizeof world.def.gravity);
  world_start(&world);
  NoliVec3 before[2], after[2];
  const double* x = noli_sim_positions(world.sim);
  int32_t first = mesh->n_vert + 4; // of the vertices of the bar
  before[0] = noli_load3(x + 3 * tied[0]);
  before[1] = noli_load3(x + 3 * first);
  for (int k = 0; k < 20; k++) {
    rigid_step(&world);
  }
  x = noli_sim_positions(world.sim);
  after[0] = noli_load3(x + 3 * tied[0]);
  after[1] = noli_load3(x + 3 * first);
  ASSERT_NEAR(noli_norm3(noli_sub3(after[0], after[1])),
              noli_norm3(noli_sub3(before[0], before[1])), 1e-7);
  assert_true(noli_norm3(noli_sub3(after[0], before[0])) > 0.01);
  NoliBodyState turns = state_of(&world, bar);
  assert_true(turns.angular_velocity[1] > 0.5 && turns.angular_velocity[1] < 3.0);
  world_done(&world);
}

// ---- starts and refusals ------------------------------------------------------------------------

// Positions at the start may turn the mesh, not deform it.
static void it_starts_turned(void** state) {
  (void)state;
  for (int form = 0; form < 2; form++) {
    World world = world_new(1);
    NoliMesh *mesh = make_box(&world, 0.2, 0.3, 0.4, 1),
             *turned = make_box(&world, 0.2, 0.3, 0.4, 1);
    double one[3] = {1.0, form == 1 ? 1.001 : 1.0, 1.0}, x0[24];
    noli_mesh_transform(turned, one, (double[]){20, 30, 40}, (double[]){1, 2, 3});
    assert_int_equal(turned->n_vert, 8);
    memcpy(x0, turned->x, sizeof x0);
    noli_mesh_destroy(world.context, &turned);
    int32_t box = add_rigid(&world, mesh, (double[]){0, 0, 0});
    world.body[box].x0 = x0;
    if (form == 1) {
      world_expect_refusal(&world, "positions at the start deform it by");
      continue;
    }
    world_start(&world);
    for (int32_t i = 0; i < 24; i++) {
      ASSERT_NEAR(noli_sim_positions(world.sim)[12 + i], x0[i], 1e-14);
    }
    rigid_step(&world);
    world_done(&world);
  }
}

static void bad_bodies_are_refused(void** state) {
  (void)state;
  static const struct {
    const char* message;
    int which;
  } cases[] = {{"is rigid and an obstacle", 0},
               {"it collides with the flat triangles of its mesh", 1},
               {"its surface is open at the edge of vertices", 2},
               {"its mass must be > 0", 3},
               {"are those of no body with a thickness", 4},
               {"the mass of a rigid body must be", 5},
               {"is a shell; it cannot be rigid as well", 6},
               {"it has one density", 7},
               {"an acceleration acts on all of it", 8},
               {"surfaces of the contact model \"implicit_surface\" may overlap", 9},
               {"whose nodes cannot be tied", 10},
               {"encloses no volume", 11}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    World world = world_new(1);
    NoliMesh* mesh = NULL;
    NoliForceDef push = noli_default_force_def();
    NoliTieDef tie = noli_default_tie_def();
    static const int32_t some[] = {0, 1};
    static double zero[3];
    double densities[200];
    int which = cases[c].which;
    if (which == 2 || which == 11) {
      ASSERT_OK(noli_mesh_make_plane(world.context, 0.4, 0.2, 3, 2, &mesh));
    } else {
      mesh = make_box(&world, 0.2, 0.3, 0.4, 1);
    }
    if (which == 11) {
      // both sides of a sheet
      NoliMesh* both = NULL;
      ASSERT_OK(
          noli_mesh_create(world.context, mesh->n_vert, 0, 2 * mesh->n_tri, 0, 0, false, &both));
      memcpy(both->x, mesh->x, 3 * (size_t)mesh->n_vert * sizeof(double));
      for (int64_t i = 0; i < 3 * (int64_t)mesh->n_tri; i++) {
        both->tri[i] = mesh->tri[i];
        both->tri[3 * (int64_t)mesh->n_tri + i] = mesh->tri[i - i % 3 + (3 - i % 3) % 3];
      }
      noli_mesh_destroy(world.context, &mesh);
      mesh = both;
    }
    int32_t body = add_rigid(&world, mesh, (double[]){0, 0, 0});
    NoliBodyDef* def = &world.body[body];
    switch (which) {
    case 0:
      def->obstacle = true;
      break;
    case 1:
      def->order = 2;
      break;
    case 3:
      def->material.density = 0.0;
      break;
    case 4:
      memcpy(def->rigid.inertia, (double[]){1, 1, 2, 0, 0, 0}, sizeof def->rigid.inertia);
      break;
    case 5:
      def->rigid.mass = -1.0;
      break;
    case 6:
      def->shell.thickness = 1e-3;
      break;
    case 7:
      for (int i = 0; i < 200; i++) {
        densities[i] = 1000.0;
      }
      def->fields.density = densities;
      break;
    case 8:
      push.node = some;
      push.n_node = 2;
      push.value = force_at;
      push.user = zero;
      world.def.forces = &push;
      world.def.n_forces = 1;
      break;
    case 9:
      world.def.contact_model = "implicit_surface";
      world.def.audit = "off";
      break;
    case 10:
      world_add(&world, make_box(&world, 0.2, 0.2, 0.2, 1), (double[]){0, 1, 0});
      tie.body = body;
      tie.to = 1;
      world.def.ties = &tie;
      world.def.n_ties = 1;
      break;
    default:
      break;
    }
    world_expect_refusal(&world, cases[c].message);
  }
}

// The end of a step along an arc is that of the straight step to first order, and has the stretch
// that the straight one has to first order, however far the body turns.
static void steps_bend(void** state) {
  (void)state;
  World world = world_new(1);
  int32_t body = world_add(&world, make_box(&world, 0.2, 0.3, 0.4, 1), (double[]){1, 2, 3});
  world.body[body].rigid.rigid = true;
  world_start(&world);
  const NoliProblem* problem = &world.sim->model->problem;
  const NoliBlock* block = &problem->block[problem->range[body].block];
  const int32_t* node = block->node;
  double x[3 * 64], p[3 * 64], straight[3 * 64], error[2];
  assert_in_range(problem->n_vert, 4, 64);
  TestRandom random = {5};
  NoliMat3 turn = noli_rotation33(noli_vec3(0.3, -0.8, 0.5));
  for (int a = 0; a < 4; a++) {
    NoliVec3 X = noli_load3(problem->X + 3 * node[a]);
    noli_store3(x + 3 * node[a], noli_mul33_vec(&turn, X));
  }
  NoliVec3 spin = noli_vec3(0.2, 0.5, -0.4), move = noli_vec3(0.1, -0.3, 0.7);
  for (int r = 0; r < 2; r++) {
    double scale = r == 0 ? 1.0 : 0.1;
    for (int a = 0; a < 4; a++) {
      NoliVec3 at = noli_load3(x + 3 * node[a]);
      NoliVec3 step = noli_add3(move, noli_cross3(spin, at));
      noli_store3(straight + 3 * node[a], noli_scale3(scale, step));
    }
    memcpy(p, straight, sizeof p);
    noli_rigid_bend_step(block, x, p);
    error[r] = 0.0;
    double end[3 * 64];
    for (int a = 0; a < 4; a++) {
      for (int j = 3 * node[a]; j < 3 * node[a] + 3; j++) {
        error[r] = noli_larger(error[r], fabs(p[j] - straight[j]));
        end[j] = x[j] + p[j];
      }
    }
    ASSERT_AT_MOST(noli_rigid_stretch(block, 0, end), 1e-14);
  }
  ASSERT_NEAR(error[0] / error[1], 100.0, 15.0);

  // a stretch of the step stays, and what turns it is not added to it
  for (int a = 0; a < 4; a++) {
    for (int j = 3 * node[a]; j < 3 * node[a] + 3; j++) {
      p[j] = straight[j] = test_random(&random, -1e-9, 1e-9);
    }
  }
  noli_rigid_bend_step(block, x, p);
  for (int a = 0; a < 4; a++) {
    for (int j = 3 * node[a]; j < 3 * node[a] + 3; j++) {
      ASSERT_NEAR(p[j], straight[j], 1e-15);
    }
  }
  world_done(&world);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(masses_are_those_of_the_volume),
                                     cmocka_unit_test(masses_are_those_given),
                                     cmocka_unit_test(they_fall),
                                     cmocka_unit_test(it_does_not_collide_with_itself),
                                     cmocka_unit_test(they_tumble_as_euler_says),
                                     cmocka_unit_test(its_energy_has_derivatives),
                                     cmocka_unit_test(its_stiffness_follows_the_time_step),
                                     cmocka_unit_test(a_force_turns_it),
                                     cmocka_unit_test(a_plate_moves_as_told),
                                     cmocka_unit_test(soft_bodies_are_tied_to_it),
                                     cmocka_unit_test(it_starts_turned),
                                     cmocka_unit_test(bad_bodies_are_refused),
                                     cmocka_unit_test(steps_bend)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
