// Convergent contact in simulations: stiffness in Pa whatever the mesh, floors without edges,
// friction, bodies of all kinds, and what it is not for. Every step of a world is audited.
#include "step/world.h"

#include "noli/barrier.h"

#define YOUNG 1e5
#define DHAT 1e-3

// The gap at which a pressure is kappa (-db/dd), with b the barrier over dhat^3.
static double gap_of(double pressure, double kappa) {
  double low = 0.0, high = DHAT;
  for (int i = 0; i < 200; i++) {
    double g = 0.5 * (low + high);
    double force = -noli_barrier_first(g * g, DHAT * DHAT) * 2.0 * g / (DHAT * DHAT * DHAT);
    *(kappa * force > pressure ? &low : &high) = g;
  }
  return low;
}

static void run(World* world, int n) {
  for (int i = 0; i < n; i++) {
    world_step(world);
  }
}

// ---- the law of pressure ------------------------------------------------------------------------

typedef enum Below { HALF_SPACE, TRIANGLES, BODY } Below;

// Mean height of the vertices of a body at a rest height, inside the body's outline or all.
static double height_of(const World* world, int32_t body, double X) {
  int32_t first, count, n = 0;
  double sum = 0.0;
  noli_sim_body_range(world->sim, body, &first, &count);
  const double *x = noli_sim_positions(world->sim), *rest = noli_sim_rest_positions(world->sim);
  for (int32_t i = first; i < first + count; i++) {
    if (fabs(rest[3 * i + 1] - X) < 1e-9) {
      sum += x[3 * i + 1];
      n++;
    }
  }
  return sum / n;
}

// A motion that presses a side down.
static void press(void* user, double t0, double t1, int32_t n, const int32_t* node, const double* X,
                  const double* x_t0, double* x_t1) {
  (void)t0, (void)node, (void)x_t0;
  for (int32_t i = 0; i < n; i++) {
    x_t1[3 * i] = X[3 * i];
    x_t1[3 * i + 1] = X[3 * i + 1] - *(const double*)user * t1;
    x_t1[3 * i + 2] = X[3 * i + 2];
  }
}

// A block without lateral strain, pressed on what lies below: the mean gap over that of the
// pressure which the forces on the top show.
static double pressed_gap(Below below, bool flat, int32_t cells) {
  World world = world_new(1);
  double way = 0.02;
  NoliMesh* mesh = NULL;
  if (flat) {
    ASSERT_OK(noli_mesh_make_rectangle(world.context, 1.0, 1.0, cells, cells, &mesh));
  } else {
    mesh = make_box(&world, 1.0, 1.0, 1.0, cells);
  }
  int32_t block = world_add(&world, mesh, (double[]){0, 0.5 + DHAT, 0});
  world.body[block].plane_strain = flat ? 0.7 : 0.0;
  if (below == HALF_SPACE) {
    world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  } else if (below == TRIANGLES) {
    ASSERT_OK(noli_mesh_make_plane(world.context, 3.0, 3.0, 7, 7, &mesh));
    (void)world_add_obstacle(&world, mesh, (double[]){0.1, 0, 0.03});
  } else {
    // a half finer mesh, so that cells do not match
    mesh = NULL;
    int32_t finer = cells + cells / 2 + 1;
    if (flat) {
      ASSERT_OK(noli_mesh_make_rectangle(world.context, 1.0, 1.0, finer, finer, &mesh));
    } else {
      mesh = make_box(&world, 1.0, 1.0, 1.0, finer);
    }
    int32_t other = world_add(&world, mesh, (double[]){0, -0.5, 0});
    world.body[other].plane_strain = flat ? 0.7 : 0.0;
    world.body[other].material.young = 50.0 * YOUNG;
  }
  for (int32_t b = 0; b < world.def.n_bodies; b++) {
    world.body[b].material.poisson = 0.0;
    world.body[b].self_contact = false;
    world.body[b].material.law = "corotated_linear";
  }
  world.body[block].material.young = YOUNG;
  world.def.contact_convergent = true;
  world.def.integrator = "quasi_static";
  world.def.gravity[1] = 0.0;
  world.def.time_step = 0.5;
  world.def.contact_distance = (NoliScaled){DHAT, false};
  world.def.tolerance = (NoliScaled){1e-7, true};

  // hold the far sides
  int32_t* node[2] = {NULL, NULL};
  world_start(&world);
  for (int32_t b = 0; b < (below == BODY ? 2 : 1); b++) {
    int32_t first, count, n = 0;
    noli_sim_body_range(world.sim, b, &first, &count);
    node[b] = malloc(sizeof **node * (size_t)count);
    for (int32_t i = 0; i < count; i++) {
      double y = noli_sim_rest_positions(world.sim)[3 * (first + i) + 1];
      if (fabs(y - (b == 0 ? 1.0 + DHAT : -1.0)) < 1e-9) {
        node[b][n++] = i;
      }
    }
    static double still = 0.0;
    NoliMotionDef* motion = world_add_motion(&world, b, press, b == 0 ? &way : &still);
    motion->node = node[b];
    motion->n_node = n;
  }
  noli_sim_destroy(&world.sim);
  world_start(&world);
  run(&world, 2);

  // strain of the soft block over its height, and the gap
  double strain = 1.0 - (height_of(&world, block, 1.0 + DHAT) - height_of(&world, block, DHAT));
  double under = below == BODY ? height_of(&world, 1, 0.0) : 0.0;
  double gap = height_of(&world, block, DHAT) - under;
  double want = gap_of(YOUNG * strain, 0.1 * YOUNG);
  world_done(&world);
  free(node[0]);
  free(node[1]);
  return gap / want;
}

// With kappa = 0.1 E of the softer body the gap is that of the pressure, up to the gap times the
// ratio of E to the pressure at rims, whose vertices also have the areas of the sides.
static void gaps_are_those_of_the_pressure(void** state) {
  (void)state;
  static const char* const name[] = {"half-space", "triangles", "body"};
  for (int flat = 0; flat < 2; flat++) {
    for (Below below = HALF_SPACE; below <= BODY; below++) {
      if (flat == 1 && below == TRIANGLES) {
        continue; // bodies in plane strain do not meet triangles
      }
      for (int32_t cells = 4; cells <= (flat == 1 ? 16 : 8); cells *= 2) {
        double ratio = pressed_gap(below, flat == 1, cells);
        print_message("%s, %s, %d cells: gap %.4f of that of the pressure\n",
                      flat == 1 ? "plane" : "space", name[below], (int)cells, ratio);
        ASSERT_NEAR(ratio, 1.0, below == BODY && flat == 0 ? 0.1 : 0.05);
      }
    }
  }
}

// ---- floors -------------------------------------------------------------------------------------

// The largest speed along a floor of two triangles, over that of the impact, of a ball that lands
// on their diagonal or beside it.
static double sideways(double x, double z, const char* solver) {
  World world = world_new(1);
  int32_t ball = world_add(&world, make_sphere(&world, 0.05, 4), (double[]){x, 0.1, z});
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_plane(world.context, 1.0, 1.0, 1, 1, &mesh));
  (void)world_add_obstacle(&world, mesh, (double[]){0, 0, 0});
  world.body[ball].material.young = 1e6;
  world.body[ball].material.poisson = 0.3;
  world.def.contact_convergent = true;
  world.def.solver = solver;
  world.def.time_step = 0.002;
  world.def.tolerance = (NoliScaled){1e-6, true};
  world.def.contact_distance = (NoliScaled){1.4e-3, false};
  world_start(&world);
  double impact = 0.0, up = 0.0, side = 0.0;
  for (int i = 0; i < 80; i++) {
    world_step(&world);
    int32_t first, count;
    noli_sim_body_range(world.sim, ball, &first, &count);
    const double *v = noli_sim_velocities(world.sim), *mass = noli_sim_masses(world.sim);
    double total = 0.0, mean[3] = {0.0, 0.0, 0.0};
    for (int32_t k = first; k < first + count; k++) {
      total += mass[k];
      for (int c = 0; c < 3; c++) {
        mean[c] += mass[k] * v[3 * k + c];
      }
    }
    impact = noli_larger(impact, -mean[1] / total);
    up = noli_larger(up, mean[1] / total);
    side = noli_larger(side, hypot(mean[0], mean[2]) / total);
  }
  ASSERT_AT_LEAST(up, 0.3 * impact);
  world_done(&world);
  return side / impact;
}

static void landings_on_a_diagonal_keep_their_direction(void** state) {
  (void)state;
  static const char* const solver[] = {"projected_newton", "implicit_newton"};
  for (int k = 0; k < 2; k++) {
    double on = sideways(0.0, 0.0, solver[k]), beside = sideways(0.003, -0.001, solver[k]);
    print_message("%s: sideways %.2g on the diagonal, %.2g beside it\n", solver[k], on, beside);
    ASSERT_AT_MOST(on, 1e-6);
    ASSERT_AT_MOST(beside, 1e-6);
  }
}

// ---- friction -----------------------------------------------------------------------------------

// A block slides on a tilted floor as Coulomb's law says, and holds below the limit.
static void blocks_slide_and_hold_as_coulomb_says(void** state) {
  (void)state;
  static const struct {
    const char *law, *method;
    Below below;
  } cases[] = {{"stick", "lagged", HALF_SPACE},  {"velocity", "lagged", TRIANGLES},
               {"stick", "implicit", TRIANGLES}, {"velocity", "implicit", HALF_SPACE},
               {"stick", "lagged", BODY},        {"velocity", "lagged", BODY},
               {"stick", "implicit", BODY}};
  const double mu = 0.3, slope = 0.5;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    for (int holds = 0; holds < 2; holds++) {
      World world = world_new(1);
      int32_t block =
          world_add(&world, make_box(&world, 0.2, 0.1, 0.2, 3), (double[]){0.1, 0.0505, 0.1});
      NoliMesh* mesh = NULL;
      if (cases[k].below == HALF_SPACE) {
        world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
      } else if (cases[k].below == TRIANGLES) {
        ASSERT_OK(noli_mesh_make_plane(world.context, 4.0, 4.0, 9, 9, &mesh));
        (void)world_add_obstacle(&world, mesh, (double[]){0, 0, 0});
      } else {
        int32_t floor =
            world_add(&world, make_box(&world, 2.0, 0.2, 2.0, 4), (double[]){0, -0.1, 0});
        world.body[floor].material.young = 1e7;
        static double still = 0.0;
        (void)world_add_motion(&world, floor, press, &still);
      }
      world.body[block].material.young = 1e6;
      world.def.contact_convergent = true;
      double tangent = holds == 1 ? 0.25 : slope, g = 9.81;
      world.def.gravity[0] = g * tangent / sqrt(1.0 + tangent * tangent);
      world.def.gravity[1] = -g / sqrt(1.0 + tangent * tangent);
      world.def.friction = mu;
      world.def.friction_law = cases[k].law;
      world.def.friction_iterations = NOLI_FRICTION_UNTIL_CONVERGENCE;
      world.def.contact_distance = (NoliScaled){1e-3, false};
      world_use_friction(&world, cases[k].method);
      world.def.time_step = 0.01;
      double before[3], after[3], want = world.def.gravity[0] + mu * world.def.gravity[1];
      world_start(&world);
      run(&world, 10);
      world_centre(&world, block, before);
      double v0 = noli_sim_velocities(world.sim)[0];
      run(&world, 15);
      world_centre(&world, block, after);
      double gained = (noli_sim_velocities(world.sim)[0] - v0) / 0.15;
      if (holds == 1) {
        // with a law of the velocity contacts creep by a part of eps_v, 1e-3 d per second
        bool creeps = strcmp(cases[k].law, "velocity") == 0;
        ASSERT_NEAR(after[0], before[0], creeps ? 0.15 * 2.5e-3 : 1e-6);
      } else {
        print_message("%s, %s, floor %d: acceleration %.4f, Coulomb's %.4f\n", cases[k].law,
                      cases[k].method, (int)cases[k].below, gained, want);
        ASSERT_NEAR(gained, want, 0.05 * want);
      }
      world_done(&world);
    }
  }
}

// ---- bodies of all kinds ------------------------------------------------------------------------

// Sheets, rods, particles, rigid bodies and solids of order 2 fall on each other, and on obstacles
// of triangles, segments and points: nothing crosses, and everything stops.
static void all_kinds_stay_apart(void** state) {
  (void)state;
  World world = world_new(1);
  NoliContext* context = world.context;
  NoliMesh* mesh[5] = {NULL};
  ASSERT_OK(noli_mesh_make_sheet(context, 0.3, 0.3, 5, 5, "unstructured", &mesh[0]));
  ASSERT_OK(noli_mesh_make_line(context, 0.3, 8, &mesh[1]));
  ASSERT_OK(noli_mesh_make_box(context, (double[]){0.1, 0.1, 0.1}, (int32_t[]){1, 1, 1}, false,
                               &mesh[2]));
  ASSERT_OK(noli_mesh_make_box(context, (double[]){0.1, 0.1, 0.1}, (int32_t[]){1, 1, 1}, false,
                               &mesh[3]));
  ASSERT_OK(noli_mesh_make_plane(context, 0.5, 0.5, 2, 2, &mesh[4]));
  int32_t sheet = world_add(&world, mesh[0], (double[]){0, 0.01, 0});
  noli_mesh_transform(mesh[0], (double[]){1, 1, 1}, (double[]){90, 0, 0}, (double[]){0, 0, 0});
  int32_t rod = world_add(&world, mesh[1], (double[]){0.02, 0.05, 0.03});
  int32_t rigid = world_add(&world, mesh[2], (double[]){0.03, 0.12, 0.01});
  int32_t curved = world_add(&world, mesh[3], (double[]){0.05, 0.25, 0.0});
  (void)world_add_obstacle(&world, mesh[4], (double[]){0, -0.2, 0});
  world.body[sheet].shell.thickness = 2e-3;
  world.body[sheet].material.law = "stvk";
  world.body[rod].rod.radius = 4e-3;
  world.body[rigid].rigid.rigid = true;
  world.body[curved].order = 2;
  for (int32_t b = 0; b < 4; b++) {
    world.body[b].material.young = 1e5;
    world.body[b].material.mass_damping = 1.0;
  }
  world_add_plane(&world, (double[]){0, -0.3, 0}, (double[]){0, 1, 0});
  world.def.contact_convergent = true;
  world.def.friction = 0.3;
  world.def.contact_distance = (NoliScaled){1e-3, false};
  world.def.time_step = 0.01;
  world_start(&world);
  run(&world, 60);
  ASSERT_AT_LEAST((double)world.report.contacts, 8.0);
  ASSERT_AT_LEAST(world.report.min_distance, 1e-7);
  ASSERT_AT_MOST(fabs(world.report.kinetic), 5.0);
  world_done(&world);
}

// ---- refusals -----------------------------------------------------------------------------------

static void other_contact_is_refused(void** state) {
  (void)state;
  static const struct {
    const char *model, *solver, *message;
  } cases[] = {
      {"gcp", NULL, "convergent contact is a form of the contact model \"ipc\", got \"gcp\""},
      {"implicit_surface", NULL, "got \"implicit_surface\""},
      {"ipc", "augmented_lagrangian",
       "convergent contact is a potential, but the solver \"augmented_lagrangian\""},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    World world = world_new(1);
    (void)world_add(&world, make_box(&world, 1, 1, 1, 1), (double[]){0, 1, 0});
    world.def.contact_convergent = true;
    world.def.contact_model = cases[k].model;
    world.def.solver = cases[k].solver;
    world_expect_refusal(&world, cases[k].message);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gaps_are_those_of_the_pressure),
      cmocka_unit_test(landings_on_a_diagonal_keep_their_direction),
      cmocka_unit_test(blocks_slide_and_hold_as_coulomb_says),
      cmocka_unit_test(all_kinds_stay_apart),
      cmocka_unit_test(other_contact_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
