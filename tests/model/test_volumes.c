// Regions that resist a change of their volume, in simulations.
#include "step/world.h"

#include "math/vec3.h"

static NoliVolumeDef volume_def;

// A hollow ball without gravity whose cavity follows a law.
static World hollow_world(double inner, int32_t cells, int32_t layers, NoliVolumeDef volume) {
  World world = world_new(1);
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_hollow_sphere(world.context, 0.1, inner, cells, layers, false, &mesh));
  world_add(&world, mesh, (double[]){0.0, 0.0, 0.0});
  memset(world.def.gravity, 0, sizeof world.def.gravity);
  volume_def = volume;
  world.def.volumes = &volume_def;
  world.def.n_volumes = 1;
  return world;
}

static NoliRegionVolume region_of(const World* world) {
  const NoliRegionVolume* volumes = NULL;
  int32_t n = 0;
  ASSERT_OK(noli_sim_volumes(world->sim, &volumes, &n));
  assert_int_equal(n, 1);
  return volumes[0];
}

// Mean radius of the outermost vertices.
static double outer_radius(const World* world, double at_rest) {
  int32_t n = noli_sim_vertex_count(world->sim), counted = 0;
  const double* X = noli_sim_rest_positions(world->sim);
  const double* x = noli_sim_positions(world->sim);
  double sum = 0.0;
  for (int32_t i = 0; i < n; i++) {
    if (fabs(noli_norm3(noli_load3(X + 3 * i)) - at_rest) < 1e-9) {
      sum += noli_norm3(noli_load3(x + 3 * i));
      counted++;
    }
  }
  return sum / counted;
}

// Lame: a thick sphere of radii a < b under the inner pressure p,
//   u(r) = p a^3 / (b^3 - a^3) ((1 - 2 nu) r / E + (1 + nu) b^3 / (2 E r^2)).
static double lame(double p, double r, double a, double b, double young, double poisson) {
  double share = a * a * a / (b * b * b - a * a * a);
  return p * share / young *
         ((1.0 - 2.0 * poisson) * r + (1.0 + poisson) * b * b * b / (2.0 * r * r));
}

static void thick_sphere_follows_lame(void** state) {
  (void)state;

  // two sizes of cells
  const int32_t cells[] = {6, 12};
  double error[2];
  for (int i = 0; i < 2; i++) {
    double pressure = 1e3;
    // very compressible: the pressure is almost constant
    NoliVolumeDef volume = noli_default_volume_def();
    volume.model = "quadratic";
    volume.pressure = pressure;
    volume.compression = 1.0;
    World world = hollow_world(0.07, cells[i], cells[i] / 3, volume);
    world.body[0].material.young = 1e6;
    world.body[0].material.poisson = 0.3;
    world.def.time_step = 1.0; // backward Euler damps it out immediately
    world.def.tolerance = (NoliScaled){1e-7, false};
    world_start(&world);
    for (int k = 0; k < 6; k++) {
      world_step(&world);
    }
    double outer = outer_radius(&world, 0.1) - 0.1, inner = outer_radius(&world, 0.07) - 0.07;
    double want_outer = lame(pressure, 0.1, 0.07, 0.1, 1e6, 0.3);
    double want_inner = lame(pressure, 0.07, 0.07, 0.1, 1e6, 0.3);
    error[i] = noli_larger(fabs(outer / want_outer - 1.0), fabs(inner / want_inner - 1.0));
    print_message("%d cells: u(b) = %.4e (Lame %.4e), u(a) = %.4e (%.4e), off by %.2f %%\n",
                  cells[i], outer, want_outer, inner, want_inner, 100.0 * error[i]);
    ASSERT_NEAR(region_of(&world).pressure, pressure, 0.01 * pressure);
    world_done(&world);
  }

  // of second order in the size of the cells
  ASSERT_AT_MOST(error[0], 0.08);
  ASSERT_AT_MOST(error[1], 0.35 * error[0]);
}

static void pinch(void* user, double t0, double t1, int32_t n, const int32_t* node, const double* X,
                  const double* x_t0, double* x_t1) {
  (void)t0;
  (void)node;
  (void)x_t0;
  const double* depth = user;
  for (int32_t i = 0; i < n; i++) {
    memcpy(x_t1 + 3 * i, X + 3 * i, 3 * sizeof(double));
    x_t1[3 * i + 1] = X[3 * i + 1] * (1.0 - *depth * fmin(t1 / 0.04, 1.0));
  }
}

// A hollow ball that is compressed at its poles.
static World pinched_ball(NoliVolumeDef volume, const char* solver, const char* linear) {
  World world = hollow_world(0.085, 4, 1, volume);
  static int32_t poles[512];
  static double depth = 0.35;
  int32_t n_poles = 0;
  world.def.solver = solver;
  world.def.termination = "residual";
  world.def.tolerance = (NoliScaled){1e-4, true};
  world.def.linear_solver = linear;
  world.body[0].material.young = 1e5;
  world.body[0].material.poisson = 0.4;
  for (int32_t i = 0; i < world.mesh[0]->n_vert; i++) {
    if (fabs(world.mesh[0]->x[3 * i + 1]) > 0.07) {
      poles[n_poles++] = i;
    }
  }
  assert_in_range(n_poles, 10, 512);
  NoliMotionDef* motion = world_add_motion(&world, 0, pinch, &depth);
  motion->node = poles;
  motion->n_node = n_poles;
  // only the height: the others stay unknown, held components are masked
  motion->free_axis[0] = motion->free_axis[2] = true;
  world_start(&world);
  return world;
}

enum { PINCH_STEPS = 5 };

// Returns the loss of volume.
static double squeeze(NoliVolumeDef volume, const char* solver, const char* linear,
                      double* iterations) {
  World world = pinched_ball(volume, solver, linear);
  *iterations = 0.0;
  for (int k = 0; k < PINCH_STEPS; k++) {
    world_step(&world);
    *iterations += (double)world.report.newton_iterations / PINCH_STEPS;
  }
  NoliRegionVolume region = region_of(&world);
  if (strcmp(volume.model, "ideal_gas") == 0) {
    ASSERT_NEAR((region.pressure + NOLI_ATMOSPHERE) * region.volume,
                (NOLI_ATMOSPHERE + volume.pressure) * region.rest_volume,
                1e-9 * NOLI_ATMOSPHERE * region.volume);
  }
  // the report has the region's energy, at the last Newton iterate
  ASSERT_NEAR(world.report.volume_energy, region.energy, 1e-9 * fabs(region.energy) + 1e-12);
  world_done(&world);
  return 1.0 - region.volume / region.rest_volume;
}

// The less compressible the region, the smaller the loss of volume; both solvers and all linear
// solvers agree.
static void volume_is_kept(void** state) {
  (void)state;
  NoliVolumeDef volume = noli_default_volume_def();
  volume.model = "quadratic";
  double loss[4];
  const double kappa[4] = {1e3, 1.0, 0.01, 4.6e-5}; // 1/atm: nothing, air, the paper's, water
  const char* others[3][2] = {{"projected_newton", "dense"},
                              {"projected_newton", "pcg"},
                              {"augmented_lagrangian", "cholmod"}};
  for (int i = 0; i < 4; i++) {
    double iterations;
    volume.compression = kappa[i] / NOLI_ATMOSPHERE;
    loss[i] = squeeze(volume, "projected_newton", "cholmod", &iterations);
    print_message("kappa = %.1e / atm: loses %.4e of its volume, %.1f iterations a step\n",
                  kappa[i], loss[i], iterations);
    ASSERT_AT_MOST(iterations, 30.0);
    for (int k = i == 2 ? 0 : 1; i != 1 && k < 3; k++) {
      double other = squeeze(volume, others[k][0], others[k][1], &iterations);
      print_message("  %s, %s: %.4e, %.1f iterations a step\n", others[k][0], others[k][1], other,
                    iterations);
      ASSERT_NEAR(other, loss[i], 1e-4 * fabs(loss[i]) + 1e-9);
    }
  }
  ASSERT_AT_LEAST(loss[0], 0.07);
  ASSERT_AT_MOST(loss[1], 0.5 * loss[0]);
  ASSERT_AT_MOST(loss[2], 0.05 * loss[0]);
  ASSERT_AT_MOST(loss[3], 2e-4 * loss[0]);
}

// P V of a gas is constant in any motion, below atmospheric pressure too (in `squeeze`); the models
// agree for small changes.
static void gas_obeys_boyle(void** state) {
  (void)state;
  const double pressure[3] = {-500.0, 0.0, 1000.0};
  double iterations, loss[3];
  NoliVolumeDef volume = noli_default_volume_def();
  for (int i = 0; i < 3; i++) {
    volume.pressure = pressure[i];
    loss[i] = squeeze(volume, "projected_newton", "cholmod", &iterations);
  }
  ASSERT_AT_LEAST(loss[0], loss[1] + 1e-4);
  ASSERT_AT_LEAST(loss[1], loss[2] + 1e-4);
  volume = (NoliVolumeDef){
      .size = sizeof(NoliVolumeDef), .region = "cavity", .compression = 0.01 / NOLI_ATMOSPHERE};
  for (int m = 1; m < 3; m++) {
    volume.model = noli_choice_name(NOLI_CHOICE_VOLUME_MODEL, m);
    loss[m] = squeeze(volume, "projected_newton", "cholmod", &iterations);
  }
  ASSERT_NEAR(loss[1], loss[2], 1e-3 * loss[2]);
}

// The same bits for any number of threads, and after a resume from the fields of the state.
static void bits_do_not_depend_on_threads_or_resuming(void** state) {
  (void)state;
  NoliVolumeDef volume = noli_default_volume_def();
  volume.pressure = 1000.0;
  uint64_t want = 0;
  for (int32_t threads = 1; threads <= 3; threads++) {
    World world = pinched_ball(volume, "projected_newton", "pcg");
    noli_sim_destroy(&world.sim);
    world.context->def.n_threads = threads;
    world_start(&world);
    for (int k = 0; k < 4; k++) {
      world_step(&world);
    }
    want = threads == 1 ? noli_sim_state_hash(world.sim) : want;
    assert_true(noli_sim_state_hash(world.sim) == want);
    world_done(&world);
  }
  World half = pinched_ball(volume, "projected_newton", "pcg");
  World rest = pinched_ball(volume, "projected_newton", "pcg");
  world_step(&half);
  world_step(&half);
  ASSERT_OK(noli_sim_copy_state(rest.sim, half.sim));
  world_step(&rest);
  world_step(&rest);
  assert_true(noli_sim_state_hash(rest.sim) == want);
  world_done(&half);
  world_done(&rest);
}

// A pressurized ball that flies and spins: pressure exerts no net force, and the trapezoidal rule
// conserves the energy of its pulsation.
static void pressure_has_no_resultant(void** state) {
  (void)state;

  // a hollow ball that moves and turns
  NoliVolumeDef volume = noli_default_volume_def();
  volume.pressure = 2e3;
  World world = hollow_world(0.08, 4, 1, volume);
  world.def.integrator = "trapezoidal";
  world.def.time_step = 5e-4;
  world.def.tolerance = (NoliScaled){1e-6, false};
  world.body[0].velocity[0] = 1.0;
  world.body[0].angular_velocity[2] = 5.0;
  world_start(&world);

  // energy
  double first = 0.0, most = 0.0, breath = 0.0;
  for (int k = 0; k < 60; k++) {
    world_step(&world);
    double energy = world.report.kinetic + world.report.elastic + world.report.volume_energy;
    first = k == 0 ? energy : first;
    most = noli_larger(most, fabs(energy - first));
    breath = noli_larger(breath, fabs(world.report.volume_energy));
  }

  // momentum
  double centre[3], mass = 0.0;
  world_centre(&world, 0, centre);
  for (int32_t i = 0; i < noli_sim_vertex_count(world.sim); i++) {
    mass += noli_sim_masses(world.sim)[i];
  }
  ASSERT_NEAR(centre[0], 0.03, 1e-7);
  ASSERT_NEAR(world.report.momentum[0], mass, 1e-5 * mass);
  ASSERT_NEAR(world.report.momentum[1], 0.0, 1e-5 * mass);
  print_message("pulsation: energy off by %.2e of the %.2e J exchanged with the gas\n", most,
                breath);
  ASSERT_AT_MOST(most, 0.02 * breath);
  world_done(&world);
}

// A hollow ball and a lump with a tag inside it, in one body.
static NoliMesh* ball_around_box(NoliContext* context, NoliMesh** shell, NoliMesh** core) {
  NoliMesh* both = NULL;
  ASSERT_OK(noli_mesh_make_hollow_sphere(context, 0.1, 0.08, 4, 1, false, shell));
  ASSERT_OK(
      noli_mesh_make_box(context, (double[]){0.05, 0.05, 0.05}, (int32_t[]){2, 2, 2}, false, core));
  ASSERT_OK(noli_mesh_create(context, (*shell)->n_vert + (*core)->n_vert,
                             (*shell)->n_tet + (*core)->n_tet, 0, 0, 0, true, &both));
  memcpy(both->x, (*shell)->x, 3 * sizeof(double) * (size_t)(*shell)->n_vert);
  memcpy(both->x + 3 * (*shell)->n_vert, (*core)->x, 3 * sizeof(double) * (size_t)(*core)->n_vert);
  memcpy(both->tet, (*shell)->tet, 4 * sizeof(int32_t) * (size_t)(*shell)->n_tet);
  for (int32_t i = 0; i < 4 * (*core)->n_tet; i++) {
    both->tet[4 * (*shell)->n_tet + i] = (*core)->tet[i] + (*shell)->n_vert;
  }
  for (int32_t t = 0; t < both->n_tet; t++) {
    both->tet_tag[t] = t < (*shell)->n_tet ? 3 : 8;
  }
  return both;
}

// Regions of each kind.
static void name_regions(NoliVolumeDef volumes[7], const int32_t* tri, int32_t n_tri) {
  for (int i = 0; i < 7; i++) {
    volumes[i] = noli_default_volume_def();
  }
  volumes[0].region = "body";
  volumes[1].region = "component"; // the inner surface comes first in the mesh
  volumes[2].region = "component";
  volumes[2].index = 1;
  volumes[3].region = "tag";
  volumes[3].index = 3;
  volumes[4].region = "tag";
  volumes[4].index = 8;
  volumes[5].region = "triangles";
  volumes[5].tri = tri;
  volumes[5].n_tri = n_tri;
  volumes[6].region = "cavity";
}

// Every kind of region, with its volume.
static void regions_enclose_what_they_say(void** state) {
  (void)state;
  World world = world_new(1);
  NoliMesh *shell = NULL, *core = NULL;
  NoliMesh* both = ball_around_box(world.context, &shell, &core);

  // each kind of region
  world_add(&world, both, (double[]){5.0, 0.0, 0.0});
  int32_t* tri = NULL;
  int32_t n_tri = 0;
  NoliMesh lump = {.n_vert = both->n_vert,
                   .n_tet = core->n_tet,
                   .x = both->x,
                   .tet = both->tet + 4 * shell->n_tet};
  ASSERT_OK(noli_mesh_boundary(world.context, &lump, &tri, &n_tri));
  NoliVolumeDef volumes[7];
  name_regions(volumes, tri, n_tri);
  world.def.volumes = volumes;
  world.def.n_volumes = 7;

  // volumes
  world_start(&world);
  const NoliRegionVolume* got = NULL;
  int32_t n = 0;
  ASSERT_OK(noli_sim_volumes(world.sim, &got, &n));
  assert_int_equal(n, 7);

  // compare
  double box = 1.25e-4, inner = got[6].volume, outer = noli_larger(got[1].volume, got[2].volume);
  ASSERT_NEAR(noli_smaller(got[1].volume, got[2].volume), inner, 1e-15);
  ASSERT_NEAR(inner / outer, 0.512, 1e-12);
  ASSERT_NEAR(got[0].volume, outer - inner + box, 1e-15);
  ASSERT_NEAR(got[3].volume, outer - inner, 1e-15);
  ASSERT_NEAR(got[4].volume, box, 1e-15);
  ASSERT_NEAR(got[5].volume, box, 1e-15);

  // at rest
  for (int i = 0; i < 7; i++) {
    ASSERT_NEAR(got[i].volume, got[i].rest_volume, 1e-15);
    ASSERT_NEAR(got[i].energy, 0.0, 1e-12);
    ASSERT_NEAR(got[i].pressure, 0.0, 1e-7);
  }
  noli_mesh_free_array(world.context, &tri);
  noli_mesh_destroy(world.context, &shell);
  noli_mesh_destroy(world.context, &core);
  world_done(&world);
}

typedef struct BadVolume {
  NoliVolumeDef volume;
  const char* word;
} BadVolume;

static void bad_regions_are_refused(void** state) {
  (void)state;

  // regions and messages
  static const int32_t open[3] = {0, 1, 2}, missing[3] = {0, 1, 9999};
  const BadVolume bad[] = {
      {{.body = 2}, "body 2 does not exist"},
      {{.body = 1}, "obstacle \"body1\" does not deform"},
      {{.region = "cavity"}, "the boundary has 0 inner surfaces of 1"},
      {{.region = "component", .index = 1}, "1 connected surfaces; there is no number 1"},
      {{.region = "tag", .index = 4}, "no tetrahedron has the tag 4; the mesh has no tags"},
      {{.region = "triangles"}, "there are no triangles"},
      {{.region = "triangles", .tri = open, .n_tri = 1}, "the surface is not closed"},
      {{.region = "triangles", .tri = missing, .n_tri = 1}, "names vertex 9999"},
      {{.model = "quadratic"}, "compression must be > 0, got 0"},
      {{.model = "foam", .compression = 1.0}, "there is no model of volumes \"foam\""},
      {{.region = "hole"}, "there is no region \"hole\""},
      {{.pressure = -2e5}, "there is no gas at -200000 Pa above the atmosphere"},
  };

  // compare
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    World world = world_new(1);
    world_add(&world, make_box(&world, 0.2, 0.2, 0.2, 2), (double[]){0, 0, 0});
    world_add_obstacle(&world, make_box(&world, 0.2, 0.2, 0.2, 1), (double[]){1, 0, 0});
    NoliVolumeDef volume = bad[i].volume;
    volume.size = sizeof volume;
    world.def.volumes = &volume;
    world.def.n_volumes = 1;
    ASSERT_STATUS(world_create(&world), NOLI_ERROR_ARGUMENT);
    const char* message = noli_context_message(world.context);
    if (strstr(message, bad[i].word) == NULL || strncmp(message, "volume 0", 8) != 0) {
      print_error("\"%s\" without \"%s\"\n", message, bad[i].word);
      fail();
    }
    world_done(&world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(thick_sphere_follows_lame),
      cmocka_unit_test(volume_is_kept),
      cmocka_unit_test(gas_obeys_boyle),
      cmocka_unit_test(bits_do_not_depend_on_threads_or_resuming),
      cmocka_unit_test(pressure_has_no_resultant),
      cmocka_unit_test(regions_enclose_what_they_say),
      cmocka_unit_test(bad_regions_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
