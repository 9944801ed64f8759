// Scenes of thin bodies after figures of [Larionov2024] and [Zheng2025], smaller than there.
#include "scene_run.h"

#include "noli/live.h"

#include "math/vec3.h"

// ---- [Larionov2024] fig. 7: a sleeve on an arm that bends ---------------------------------------

typedef struct Sleeve {
  double slip; // m, mean sliding of the cloth along the skin
  double loss; // J, by friction
  int32_t iterations;
  double closest; // m
} Sleeve;

// The vertex of the arm that is closest to each vertex of the sleeve.
static void pair_vertices(const double* x, const int32_t arm[2], const int32_t sleeve[2],
                          int32_t* under) {
  for (int32_t i = 0; i < sleeve[1]; i++) {
    double least = (double)INFINITY;
    for (int32_t k = arm[0]; k < arm[0] + arm[1]; k++) {
      double d = noli_norm3(
          noli_sub3(noli_load3(x + 3 * (sleeve[0] + i)), noli_load3(x + 3 * (int64_t)k)));
      under[i] = d < least ? k : under[i];
      least = noli_smaller(least, d);
    }
  }
}

static int64_t contacts_within(const Run* run, int32_t body) {
  const NoliPairForce* pairs;
  int32_t n;
  int64_t contacts = 0;
  ASSERT_OK(noli_sim_pair_forces(run->sim, &pairs, &n));
  for (int32_t i = 0; i < n; i++) {
    contacts += pairs[i].a == body && pairs[i].b == body ? pairs[i].contacts : 0;
  }
  return contacts;
}

typedef struct Bend {
  const char *friction, *iterations; // iterations of lagged friction
  const char *h, *mu;
} Bend;

// A coarser sleeve than that of the example, until 0.4 s. Every state is audited.
static Sleeve bend_arm(Bend of) {
  bool implicit = strcmp(of.friction, "implicit") == 0;
  const char* const change[][2] = {
      {"friction.method", of.friction},
      {"friction.coefficient", of.mu},
      {"time.step", of.h},
      {"bodies.sleeve.mesh.tube.cells_around", "14"},
      {"bodies.sleeve.mesh.tube.cells_along", "10"},
      {"bodies.arm.mesh.cylinder.cells_along", "8"},
      {"solver.method", implicit ? "implicit_newton" : "projected_newton"},
      {"friction.iterations", of.iterations}};
  Run run = start("examples/thin/sleeve.json", implicit ? 7 : 8, change);
  int32_t arm[2], sleeve[2], under[256];
  noli_sim_body_range(run.sim, 0, &arm[0], &arm[1]);
  noli_sim_body_range(run.sim, 1, &sleeve[0], &sleeve[1]);
  assert_in_range(sleeve[1], 1, 256);
  double* start_x = malloc(3 * sizeof(double) * (size_t)(sleeve[0] + sleeve[1]));
  memcpy(start_x, noli_sim_positions(run.sim),
         3 * sizeof(double) * (size_t)(sleeve[0] + sleeve[1]));
  pair_vertices(start_x, arm, sleeve, under);

  Sleeve result = {.closest = (double)INFINITY};
  while (noli_sim_time(run.sim) < 0.4 - 1e-9) {
    step(&run);
    result.iterations += run.report.newton_iterations;
    result.loss += run.report.friction_loss;
    result.closest = noli_smaller(result.closest, run.report.min_distance);
  }
  const double* x = noli_sim_positions(run.sim);
  for (int32_t i = 0; i < sleeve[1]; i++) {
    const double *p = start_x + 3 * (sleeve[0] + i), *q = start_x + 3 * (int64_t)under[i];
    double before = noli_norm3(noli_sub3(noli_load3(p), noli_load3(q)));
    double after = noli_norm3(
        noli_sub3(noli_load3(x + 3 * (sleeve[0] + i)), noli_load3(x + 3 * (int64_t)under[i])));
    result.slip += fabs(after - before) / sleeve[1];
  }
  print_message("%s (%s), h %s s, mu %s: slip %.3f mm, friction %.4g J, %d iterations, %.2g mm\n",
                of.friction, of.iterations, of.h, of.mu, 1e3 * result.slip, result.loss,
                result.iterations, 1e3 * result.closest);
  free(start_x);
  finish(&run);
  return result;
}

// No vertex of the cloth penetrates the skin; more friction keeps it in place; both kinds of
// friction and both steps agree on the slip. The pressure grows with the bend: with the normal
// forces of the start of a large step, lagged friction takes less energy than implicit friction,
// which takes less than with a smaller step.
static void sleeves_slide_on_a_bending_arm(void** state) {
  (void)state;
  Sleeve fine = bend_arm((Bend){"implicit", "", "0.02", "0.2"});
  Sleeve implicit = bend_arm((Bend){"implicit", "", "0.04", "0.2"});
  Sleeve lagged = bend_arm((Bend){"lagged", "\"automatic\"", "0.04", "0.2"});
  Sleeve once = bend_arm((Bend){"lagged", "1", "0.04", "0.2"});
  Sleeve rough = bend_arm((Bend){"implicit", "", "0.04", "0.8"});
  assert_true(fine.closest > 0.0 && implicit.closest > 0.0 && lagged.closest > 0.0 &&
              rough.closest > 0.0);
  ASSERT_NEAR(implicit.slip / fine.slip, 1.0, 0.02);
  ASSERT_NEAR(lagged.slip / fine.slip, 1.0, 0.02);
  ASSERT_AT_MOST(rough.slip, 0.85 * implicit.slip);
  ASSERT_NEAR(implicit.loss / fine.loss, 1.0, 0.08);
  ASSERT_AT_MOST(lagged.loss, 0.97 * implicit.loss);
  ASSERT_AT_MOST(once.loss, 0.97 * lagged.loss);
}

// A loose sleeve of thinner cloth folds in the bend and touches itself. Every state is audited.
static void sleeves_fold_in_the_bend(void** state) {
  (void)state;
  static const char* const change[][2] = {
      {"friction.method", "lagged"},
      {"solver.method", "projected_newton"},
      {"time.step", "0.04"},
      {"bodies.sleeve.mesh.tube.radius", "0.055"},
      {"bodies.sleeve.mesh.tube.cells_around", "12"},
      {"bodies.sleeve.mesh.tube.cells_along", "16"},
      {"bodies.sleeve.shell.thickness", "3e-4"},
      {"bodies.arm.mesh.cylinder.cells_along", "8"},
      {"prescribed[0].motion.rotation.speed", "180*smoothstep(0, 0.1, t)"},
      {"prescribed[1].motion.rotation.speed", "-180*smoothstep(0, 0.1, t)"}};
  Run run = start("examples/thin/sleeve.json", sizeof change / sizeof *change, change);
  double closest = (double)INFINITY;
  int32_t iterations = 0;
  while (noli_sim_time(run.sim) < 0.48 - 1e-9) {
    step(&run);
    closest = noli_smaller(closest, run.report.min_distance);
    iterations += run.report.newton_iterations;
  }
  int64_t folded = contacts_within(&run, 1);
  print_message("%lld contacts of the cloth with itself, %.2g mm, %d iterations\n",
                (long long)folded, 1e3 * closest, iterations);
  assert_true(folded > 20 && closest > 0.0);
  finish(&run);
}

// ---- [Larionov2024] fig. 11: a tyre that is pressed to the ground and spins up ------------------

// The area around the vertices that the ground pushes.
static double patch_area(const Run* run) {
  const double* x = noli_sim_positions(run->sim);
  double area = 0.0;
  double* force = calloc(3 * (size_t)noli_sim_vertex_count(run->sim), sizeof(double));
  ASSERT_OK(noli_sim_contact_forces(run->sim, force));
  for (int32_t t = 0; t < noli_sim_surface_triangle_count(run->sim); t++) {
    const int32_t* v = noli_sim_surface_triangles(run->sim) + 3 * (int64_t)t;
    NoliVec3 a = noli_load3(x + 3 * v[0]), b = noli_load3(x + 3 * v[1]),
             c = noli_load3(x + 3 * v[2]);
    double size = 0.5 * noli_norm3(noli_cross3(noli_sub3(b, a), noli_sub3(c, a)));
    for (int k = 0; k < 3; k++) {
      area += force[3 * v[k] + 1] > 0.0 ? size / 3.0 : 0.0;
    }
  }
  free(force);
  return area;
}

typedef struct Tyre {
  double load;    // N
  double carried; // pressure times area of the patch, N
  double drag;    // friction along the ground, N
} Tyre;

static Run start_tyre(const char* model) {
  const char* const change[][2] = {{"contact.model", model}, {"time.step", "0.02"}};
  return start("examples/thin/tyre.json", 2, change);
}

static Tyre tyre_at(Run* run, double until) {
  int32_t iterations = 0;
  while (noli_sim_time(run->sim) < until - 1e-9) {
    step(run);
    iterations += run->report.newton_iterations;
  }
  const NoliRegionVolume* regions;
  const NoliPairForce* pairs;
  int32_t n_regions, n_pairs;
  ASSERT_OK(noli_sim_volumes(run->sim, &regions, &n_regions));
  ASSERT_OK(noli_sim_pair_forces(run->sim, &pairs, &n_pairs));
  assert_true(n_regions == 1 && n_pairs == 1);
  double area = patch_area(run);
  Tyre tyre = {pairs[0].normal[1], regions[0].pressure * area, pairs[0].friction[0]};
  print_message("%s, %.1f s: load %.0f N, pressure %.0f Pa on %.1f cm^2: %.0f N, drag %.0f N, "
                "%d iterations\n",
                noli_scene_sim_def(run->scene)->contact_model, until, tyre.load,
                regions[0].pressure, 1e4 * area, tyre.carried, tyre.drag, iterations);
  return tyre;
}

// The patch carries the load at the pressure of the tyre, which is soft otherwise; both models
// agree. When it spins up, the friction of the ground has at most the static and at least half of
// the dynamic coefficient.
static void tyres_carry_their_load_on_the_patch(void** state) {
  (void)state;
  Run smooth_run = start_tyre("implicit_surface"), barrier_run = start_tyre("ipc");
  Tyre smooth = tyre_at(&smooth_run, 0.24), barrier = tyre_at(&barrier_run, 0.24);
  ASSERT_NEAR(smooth.carried / smooth.load, 1.0, 0.25);
  ASSERT_NEAR(smooth.load / barrier.load, 1.0, 0.1);
  Tyre spins = tyre_at(&smooth_run, 0.6);
  ASSERT_NEAR(spins.carried / spins.load, 1.0, 0.25);
  ASSERT_NEAR(spins.drag / spins.load, 0.5, 0.02);
  finish(&barrier_run);
  finish(&smooth_run);
}

// ---- layers -------------------------------------------------------------------------------------

// A scene in JSON: ten sheets of two laws, some with a limit of stretch, fall at 2 m/s onto a ball
// that moves and turns. Lengths are in units of 1 / `unit` m.
static void write_layers(FILE* file, double unit, const char* solver, double h) {
  fprintf(
      file,
      "{\"time\": {\"step\": %g, \"steps\": 40}, \"gravity\": [0, %g, 0], \"contact\": "
      "{\"distance\": %g}, \"friction\": {\"coefficient\": 0.2}, \"debug\": {\"audit\": true}, "
      "\"solver\": {\"method\": \"%s\"}, \"obstacles\": [{\"mesh\": {\"sphere\": {\"radius\": %g, "
      "\"cells\": 3}}, \"motion\": {\"displacement\": [\"%g*sin(6*t)\", 0, 0], \"rotation\": "
      "{\"axis\": [0, 1, 0], \"speed\": \"180\"}}}], \"bodies\": [",
      h, -9.80665 * unit, 0.002 * unit, solver, 0.25 * unit, 0.1 * unit);
  for (int i = 0; i < 10; i++) {
    fprintf(file,
            "%s{\"mesh\": {\"plane\": {\"size\": [%g, %g], \"cells\": [6, 6]}}, \"rotate\": [0, "
            "%d, 0], "
            "\"translate\": [0, %g, 0], \"velocity\": [0, %g, 0], \"material\": {\"law\": \"%s\", "
            "\"young\": %g, \"poisson\": 0.3, \"density\": %g}, \"shell\": {\"thickness\": %g%s}}",
            i > 0 ? ", " : "", unit, unit, 37 * i % 90, (0.26 + 0.006 * i) * unit, -2.0 * unit,
            i % 2 == 0 ? "stvk" : "neo_hookean", 1e5 / unit, 300.0 / (unit * unit * unit),
            1e-3 * unit, i % 3 == 0 ? ", \"limit\": 1.1" : "");
  }
  fprintf(file, "]}");
}

// Metres and millimetres, small and large steps, both solvers: every state is audited.
static void layers_fall_onto_a_moving_ball(void** state) {
  (void)state;
  const struct {
    double unit;
    const char* solver;
    double h;
    int32_t steps;
  } cases[] = {{1.0, "projected_newton", 0.01, 10},
               {1.0, "augmented_lagrangian", 0.01, 10},
               {1.0, "augmented_lagrangian", 0.1, 2},
               {1000.0, "projected_newton", 0.01, 6}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    const char* path = "thin_layers.json";
    FILE* file = fopen(path, "w");
    assert_non_null(file);
    write_layers(file, cases[k].unit, cases[k].solver, cases[k].h);
    assert_int_equal(fclose(file), 0);
    Run run = {.context = test_context(1)};
    ASSERT_OK(noli_scene_load(run.context, path, NULL, 0, &run.scene));
    ASSERT_OK(noli_sim_create(run.context, noli_scene_sim_def(run.scene), &run.sim));
    int32_t iterations = 0;
    for (int32_t i = 0; i < cases[k].steps; i++) {
      step(&run);
      iterations += run.report.newton_iterations;
    }
    print_message("%s, h %g s, unit 1/%g m: %lld contacts, gap %.2g, %d iterations\n",
                  cases[k].solver, cases[k].h, cases[k].unit, (long long)run.report.contacts,
                  run.report.min_distance, iterations);
    assert_true(run.report.contacts > 20 && run.report.min_distance > 0.0);
    finish(&run);
    remove(path);
  }
}

// ---- a tape that is peeled ----------------------------------------------------------------------

// Where the end stands upright, the force is the work of adhesion times the width; friction adds
// less than 1 %.
static void a_tape_is_peeled_with_the_work_of_adhesion(void** state) {
  (void)state;
  Run run = start("examples/thin/tape.json", 0, NULL);
  double sum = 0.0;
  int n = 0;
  while (noli_sim_time(run.sim) < 35.9) {
    NoliReaction reaction;
    step(&run);
    if (noli_sim_time(run.sim) > 24.0) {
      ASSERT_OK(noli_sim_reaction(run.sim, 0, NULL, &reaction));
      sum += reaction.force[1];
      n++;
    }
  }
  ASSERT_NEAR(sum / n, 1.0 * 0.005, 0.015 * 0.005);
  finish(&run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sleeves_slide_on_a_bending_arm),
      cmocka_unit_test(sleeves_fold_in_the_bend),
      cmocka_unit_test(layers_fall_onto_a_moving_ball),
      cmocka_unit_test(tyres_carry_their_load_on_the_patch),
      cmocka_unit_test(a_tape_is_peeled_with_the_work_of_adhesion),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
