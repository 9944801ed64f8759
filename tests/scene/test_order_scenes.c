// The scenes of examples/high_order, after [Ferguson2023], on coarser meshes and shortened: every
// step is audited exactly on the colliding surfaces, no element is inverted at its quadrature
// points, and the effect that each scene shows is asserted.
#include "linking.h"
#include "scene_support.h"

#include "fem/elements.h"
#include "noli/noli.h"

#define PI 3.14159265358979323846

enum { BODIES_MAX = 2 };

typedef struct Run {
  NoliContext* context;
  NoliScene* scene;
  NoliSim* sim;
  const NoliSimDef* def;
  NoliStepReport report;
  NoliSpace space[BODIES_MAX];
  NoliElements elements[BODIES_MAX];
  int64_t newton, contacts_max;
} Run;

// `change` (n_change) are pairs of path and value.
static Run start(const char* name, int32_t n_change, const char* const (*change)[2]) {
  Run run = {.context = test_context(1)};
  char path[128];
  snprintf(path, sizeof path, "examples/high_order/%s.json", name);
  load_example(run.context, path, n_change, change, &run.scene, &run.sim);
  run.def = noli_scene_sim_def(run.scene);
  assert_true(run.def->audit);
  for (int32_t b = 0; b < run.def->n_bodies && !run.def->bodies[b].obstacle; b++) {
    const NoliBodyDef* body = &run.def->bodies[b];
    assert_in_range(b, 0, BODIES_MAX - 1);
    ASSERT_OK(noli_space_create(run.context, body->mesh, body->order, &run.space[b]));
  }
  return run;
}

#define START(name, ...)                                                                           \
  start(name, (int32_t)(sizeof((const char* const[][2]){__VA_ARGS__}) / sizeof(const char* [2])),  \
        (const char* const[][2]){__VA_ARGS__})

// Elements are created here, after the run has its final address.
static void assert_not_inverted(Run* run) {
  for (int32_t b = 0; b < BODIES_MAX && run->space[b].node != NULL; b++) {
    int32_t first, count;
    noli_sim_body_range(run->sim, b, &first, &count);
    assert_int_equal(count, run->space[b].n_node);
    if (run->elements[b].weight == NULL) {
      ASSERT_OK(noli_elements_create(run->context, &run->space[b], -1, &run->elements[b]));
    }
    const double* x = noli_sim_positions(run->sim) + 3 * (int64_t)first;
    assert_int_equal(noli_elements_first_inverted(&run->elements[b], x, 1), NOLI_NULL_INDEX);
  }
}

// A step in which surfaces intersect fails: the audit is on.
static void step(Run* run, int32_t n) {
  for (int32_t i = 0; i < n; i++) {
    NoliStatus status = noli_sim_step(run->sim, &run->report);
    if (status != NOLI_OK) {
      print_error("step %lld: %s\n", (long long)noli_sim_step_count(run->sim) + 1,
                  noli_context_message(run->context));
    }
    assert_int_equal(status, NOLI_OK);
    assert_string_equal(run->report.blocked_by, "");
    assert_not_inverted(run);
    run->newton += run->report.newton_iterations;
    run->contacts_max =
        run->report.contacts_max > run->contacts_max ? run->report.contacts_max : run->contacts_max;
  }
}

static void finish(Run* run, const char* name) {
  int64_t n = noli_sim_step_count(run->sim);
  print_message("%s: %d nodes, %d triangles, %lld steps, %.2f Newton iterations a step, at most "
                "%lld contacts\n",
                name, noli_sim_node_count(run->sim), noli_sim_surface_triangle_count(run->sim),
                (long long)n, (double)run->newton / (double)n, (long long)run->contacts_max);
  noli_sim_destroy(&run->sim);
  noli_scene_destroy(&run->scene);
  for (int32_t b = 0; b < BODIES_MAX; b++) {
    noli_elements_destroy(run->context, &run->elements[b]);
    noli_space_destroy(run->context, &run->space[b]);
  }
  test_context_done(&run->context);
}

static NoliVec3 centre_of_mass(const Run* run, int32_t body) {
  int32_t first, count;
  noli_sim_body_range(run->sim, body, &first, &count);
  const double* x = noli_sim_positions(run->sim);
  double sum = 0.0;
  NoliVec3 centre = noli_vec3(0.0, 0.0, 0.0);
  for (int32_t v = first; v < first + count; v++) {
    double mass = noli_sim_masses(run->sim)[v];
    centre = noli_mul_add3(centre, mass, noli_load3(x + 3 * (int64_t)v));
    sum += mass;
  }
  return noli_scale3(1.0 / sum, centre);
}

// ---- fig. 3 -------------------------------------------------------------------------------------

static double beam_deflection(const char* order, const char* mesh) {
  Run run = START("bending_beam", {"bodies[0].order", order}, {"bodies[0].mesh", mesh});
  double sum = 0.0;
  int32_t n = 0;
  step(&run, 1);
  for (int32_t v = 0; v < noli_sim_node_count(run.sim); v++) {
    const double* X = noli_sim_rest_positions(run.sim) + 3 * (int64_t)v;
    if (fabs(X[0] - 0.5) < 1e-9 && fabs(fabs(X[1]) - 0.0625) < 1e-9 &&
        fabs(fabs(X[2]) - 0.0625) < 1e-9) {
      sum += X[1] - noli_sim_positions(run.sim)[3 * v + 1];
      n++;
    }
  }
  assert_int_equal(n, 4);
  finish(&run, "beam");
  return sum / n;
}

static void coarse_beam_of_high_order_bends_as_a_fine_one(void** state) {
  (void)state;
  const char* coarse = "{\"rod\": {\"length\": 1, \"width\": 0.125, \"cells_along\": 8, "
                       "\"cells_across\": 1}}";
  const char* fine = "{\"rod\": {\"length\": 1, \"width\": 0.125, \"cells_along\": 16, "
                     "\"cells_across\": 2}}";
  double reference = beam_deflection("3", fine), last = 0.0;
  const char* order[4] = {"1", "2", "3", "4"};
  for (int k = 0; k < 4; k++) {
    double found = beam_deflection(order[k], coarse);
    print_message("order %s: %.5f m, %.2f %% of the reference\n", order[k], found,
                  100.0 * found / reference);
    ASSERT_AT_LEAST(found, last);
    last = found;
  }
  ASSERT_NEAR(last, reference, 0.01 * reference);
}

// ---- fig. 4 -------------------------------------------------------------------------------------

enum { BOUNCE_STEPS = 150 };

static void bounce(const char* name, const char* order, const char* mesh, const char* proxy,
                   NoliVec3* path) {
  Run run = START("bouncing_ball", {"bodies[0].order", order}, {"bodies[0].mesh", mesh},
                  {"bodies[0].proxy", proxy});
  for (int s = 0; s < BOUNCE_STEPS; s++) {
    step(&run, 1);
    path[s] = centre_of_mass(&run, 0);
  }
  assert_true(run.contacts_max > 0);
  finish(&run, name);
}

static double deviation(const NoliVec3* path, const NoliVec3* reference) {
  double sum = 0.0;
  for (int s = 0; s < BOUNCE_STEPS; s++) {
    sum += noli_norm_sqr3(noli_sub3(path[s], reference[s]));
  }
  return sqrt(sum / BOUNCE_STEPS);
}

static void curved_ball_bounces_as_a_fine_one(void** state) {
  (void)state;
  const char* fine = "{\"sphere\": {\"radius\": 0.1, \"cells\": 6}}";
  const char* coarse = "{\"sphere\": {\"radius\": 0.1, \"cells\": 2}}";
  const char* curved = "{\"sphere\": {\"radius\": 0.1, \"cells\": 2, \"geometry_order\": 4}}";
  static NoliVec3 reference[BOUNCE_STEPS], path[BOUNCE_STEPS];
  bounce("P1, fine", "1", fine, "{\"subdivision\": 1}", reference);
  bounce("P1, coarse", "1", coarse, "{\"subdivision\": 1}", path);
  double linear = deviation(path, reference);
  bounce("P2, curved", "2", curved, "{\"subdivision\": 3}", path);
  double high = deviation(path, reference);
  print_message("centre of mass off by %.2f mm with P1, %.2f mm with P2 and curved\n", 1e3 * linear,
                1e3 * high);
  ASSERT_AT_MOST(high, 0.6 * linear);
}

// ---- fig. 7 -------------------------------------------------------------------------------------

// The distance that a ball rolls along the slope; `mesh` NULL: the box of the example.
static double roll(const char* name, const char* mesh, double* mass, double* ideal) {
  const char* box = "{\"box\": {\"size\": [0.1265, 0.1265, 0.1265], \"cells\": [2, 2, 2]}}";
  const char* facets = "{\"sphere\": {\"radius\": 0.1, \"cells\": 6}}";
  Run run = START("rolling_ball", {"bodies[0].material.young", "1e8"},
                  {"bodies[0].mesh", mesh != NULL ? mesh : box}, {"bodies[0].proxy.mesh", facets},
                  {"time.step", "0.01"});
  enum { N = 30 };
  step(&run, N);
  double h = run.def->time_step, t = N * h;
  *ideal = 0.5 * (5.0 / 7.0) * 3.354 * t * (t + h);
  *mass = 0.0;
  for (int32_t v = 0; v < noli_sim_node_count(run.sim); v++) {
    *mass += noli_sim_masses(run.sim)[v];
  }
  double x = centre_of_mass(&run, 0).x;
  assert_true(run.contacts_max > 0);
  finish(&run, name);
  return x;
}

// Both have the same facets, which make rolling bumpy and both slower than an ideal ball. That has
// 5/7 of the acceleration a along the slope, with which backward Euler covers a t (t + h) / 2.
static void ball_in_a_box_rolls(void** state) {
  (void)state;
  double mass[2], ideal;
  double box = roll("box in a ball", NULL, &mass[0], &ideal);
  double ball = roll("ball", "{\"sphere\": {\"radius\": 0.1, \"cells\": 6}}", &mass[1], &ideal);
  print_message("rolled %.4f m, a ball mesh %.4f m, an ideal ball %.4f m; %.4f and %.4f kg\n", box,
                ball, ideal, mass[0], mass[1]);
  ASSERT_NEAR(box, ball, 0.05 * ball);
  ASSERT_AT_MOST(box, ideal);
  ASSERT_AT_LEAST(box, 0.7 * ideal);
  ASSERT_NEAR(mass[0], mass[1], 1e-9 * mass[1]);
}

// ---- fig. 8 -------------------------------------------------------------------------------------

// The angle by which the nodes of a body have turned around y, counted from x towards z.
static double turned(const Run* run, int32_t body) {
  int32_t first, count;
  noli_sim_body_range(run->sim, body, &first, &count);
  const double* x = noli_sim_positions(run->sim);
  const double* X = noli_sim_rest_positions(run->sim);
  double sine = 0.0, cosine = 0.0;
  for (int64_t v = first; v < first + count; v++) {
    cosine += X[3 * v] * x[3 * v] + X[3 * v + 2] * x[3 * v + 2];
    sine += X[3 * v] * x[3 * v + 2] - X[3 * v + 2] * x[3 * v];
  }
  return atan2(sine, cosine);
}

static void nut_runs_down_its_bolt(void** state) {
  (void)state;
  // 100 times the gravity saves steps
  Run run = START("nut_and_bolt", {"gravity", "[0, -981, 0]"}, {"time.step", "0.005"});
  double before = centre_of_mass(&run, 0).y;
  step(&run, 12);
  double sunk = before - centre_of_mass(&run, 0).y, angle = turned(&run, 0);
  print_message("the nut sank by %.4f m and turned by %.1f degrees: %.4f m of thread\n", sunk,
                angle * 180.0 / PI, -angle * 0.02 / (2.0 * PI));
  // play along the axis: the clearance over the steepness of the thread
  double play = 0.0015 / (PI * 0.005 / 0.02);
  ASSERT_AT_LEAST(sunk, 2.0 * play);
  ASSERT_NEAR(sunk, -angle * 0.02 / (2.0 * PI), 2.0 * play);
  assert_true(run.contacts_max > 0);
  finish(&run, "nut");
}

// ---- fig. 5 -------------------------------------------------------------------------------------

// Volume of a body, by quadrature over its elements, over that at rest.
static double volume_ratio(Run* run, int32_t body) {
  int32_t first, count;
  noli_sim_body_range(run->sim, body, &first, &count);
  const NoliElements* elements = &run->elements[body];
  NoliMat3 F[NOLI_ELEMENT_POINTS_MAX];
  double now = 0.0, rest = 0.0;
  for (int64_t tet = 0; tet < run->space[body].n_tet; tet++) {
    noli_elements_deformation(elements, tet, noli_sim_positions(run->sim) + 3 * (int64_t)first,
                              false, F);
    for (int32_t q = 0; q < elements->n_point; q++) {
      double volume = noli_elements_volume(elements, tet, q);
      rest += volume;
      now += volume * noli_det33(&F[q]);
    }
  }
  return now / rest;
}

// The line along the edge of the mat at z = `side`, on the finer surface that collides, and far on
// along x from both ends.
enum { SECTIONS = 12, EDGE = SECTIONS + 3 };

static void edge_line(const Run* run, double side, NoliVec3 line[EDGE]) {
  for (int32_t i = 0; i <= SECTIONS; i++) {
    double x = -0.5 + (double)i / SECTIONS;
    int32_t found = 0;
    for (int64_t v = 0; v < noli_sim_vertex_count(run->sim); v++) {
      const double* X = noli_sim_rest_positions(run->sim) + 3 * v;
      if (fabs(X[0] - x) < 1e-9 && fabs(X[1] - 0.02) < 1e-9 && fabs(X[2] - side) < 1e-9) {
        line[i + 1] = noli_load3(noli_sim_positions(run->sim) + 3 * v);
        found++;
      }
    }
    assert_true(found > 0);
  }
  line[0] = noli_sub3(line[1], noli_vec3(1e4, 0.0, 0.0));
  line[EDGE - 1] = noli_add3(line[EDGE - 2], noli_vec3(1e4, 0.0, 0.0));
}

// The angle by which the edges of the mat wind around each other, degrees: as twist or, if the mat
// has formed loops, as writhe. It could change only if the mat passed through itself.
static double winding(const Run* run) {
  NoliVec3 line[2][EDGE];
  edge_line(run, -0.5, line[0]);
  edge_line(run, 0.5, line[1]);
  return 360.0 * gauss_integral(EDGE, line[0], EDGE, line[1]);
}

static void mats_of_high_order_twist(void** state) {
  (void)state;
  const char* order[2] = {"2", "3"};
  for (int k = 0; k < 2; k++) {
    Run run = START(
        "mat_twist", {"bodies[0].order", order[k]},
        {"bodies[0].mesh", "{\"mat\": {\"size\": [1, 1], \"thickness\": 0.04, \"cells\": [4, 4]}}"},
        {"bodies[0].proxy", "{\"subdivision\": 3}"}, {"time.step", "0.1"}, {"time.duration", "4"});
    step(&run, 36);
    // each end turns by 72 degrees a second
    double angle = winding(&run), want = 2.0 * 72.0 * noli_sim_time(run.sim);
    double volume = volume_ratio(&run, 0);
    print_message("order %s: wound by %.2f of %.2f degrees, volume %.4f of that at rest\n",
                  order[k], angle, want, volume);
    ASSERT_NEAR(fabs(angle), want, 0.1);
    // of the strains that stretch the mat, (1 - 2 nu) = 0.2 at most goes into volume
    ASSERT_NEAR(volume, 1.0, 0.1);
    assert_true(run.contacts_max > 0);
    finish(&run, "mat");
  }
}

// ---- fig. 10 ------------------------------------------------------------------------------------

enum { TRUSS = 0, PRESS = 1, FLOOR = 2 };

// The force of a body on the truss along y, N.
static double force_on_truss(const Run* run, int32_t by) {
  const NoliPairForce* pair = NULL;
  int32_t n_pairs = 0;
  ASSERT_OK(noli_sim_pair_forces(run->sim, &pair, &n_pairs));
  for (int32_t i = 0; i < n_pairs; i++) {
    if (pair[i].a == TRUSS && pair[i].b == by) {
      return pair[i].normal[1];
    }
  }
  return 0.0;
}

static void truss_is_compressed(void** state) {
  (void)state;
  Run run =
      START("truss_compression", {"time.step", "0.04"}, {"solver.tolerance", "1e-5"},
            {"bodies[0].mesh",
             "{\"truss\": {\"joints\": [1, 2, 1], \"spacing\": 0.02, \"joint_radius\": 0.006, "
             "\"strut_radius\": 0.003, \"cells_across\": 2, \"cells_along\": 2, "
             "\"geometry_order\": 3}}"});

  // compress
  double mass = 0.0, h = run.def->time_step, work = 0.0, last = 0.0, peak = 0.0, force = 0.0;
  for (int32_t v = 0; v < noli_sim_node_count(run.sim); v++) {
    mass += noli_sim_masses(run.sim)[v];
  }
  for (int s = 0; s < 11; s++) {
    step(&run, 1);
    // nearly at rest: the floor carries the press, the weight, and at first what sets the truss in
    // motion (0.056 N with a tolerance of 1e-7 l, too)
    force = -force_on_truss(&run, PRESS);
    ASSERT_NEAR(force_on_truss(&run, FLOOR), force + 9.80665 * mass, 0.05 * force + 0.025);
    // until it buckles, all work of the press is stored
    work += 0.5 * (force + last) * 0.02 * h;
    if (s == 5) {
      ASSERT_NEAR(run.report.elastic, work, 0.1 * work);
    }
    peak = noli_larger(peak, force);
    last = force;
  }

  // as high as the press leaves it, to the reach of contact (its nodes do not collide)
  double highest = 0.0, lowest = 1.0, plate = 0.0322 - 0.02 * noli_sim_time(run.sim);
  for (int64_t v = 0; v < noli_sim_node_count(run.sim); v++) {
    highest = noli_larger(highest, noli_sim_positions(run.sim)[3 * v + 1]);
    lowest = noli_smaller(lowest, noli_sim_positions(run.sim)[3 * v + 1]);
  }
  double volume = volume_ratio(&run, 0);
  print_message("between %.5f and %.5f m, the plate at %.5f m; force %.2f N of %.2f N at most, "
                "volume %.4f of that at rest\n",
                lowest, highest, plate, force, peak, volume);
  ASSERT_NEAR(lowest, 0.0, 1e-4);
  ASSERT_NEAR(highest, plate, 1e-4);

  // buckled: less force than before, at nearly its volume, for its Poisson's ratio is 0.48
  ASSERT_AT_MOST(force, 0.8 * peak);
  ASSERT_NEAR(volume, 1.0, 0.02);
  finish(&run, "truss");
}

// ---- fig. 11 ------------------------------------------------------------------------------------

static void rollers_draw_the_screw_in(void** state) {
  (void)state;
  Run run = START("rollers", {"time.step", "0.05"},
                  {"bodies[0].proxy.mesh",
                   "{\"bolt\": {\"radius\": 0.1, \"length\": 0.5, \"pitch\": 0.125, \"depth\": "
                   "0.03, \"cells_across\": 4, \"cells_along\": 24}}"});
  double before = centre_of_mass(&run, 0).y;
  step(&run, 12);
  double gripped = centre_of_mass(&run, 0).y;
  step(&run, 8);
  double drawn = gripped - centre_of_mass(&run, 0).y;
  // friction of 0.5 is enough not to slip: it moves as the surfaces of the rollers do
  double surface = 0.15 * 120.0 * PI / 180.0 * 8.0 * run.def->time_step;
  print_message("the screw came down by %.3f m until it was gripped, then by %.4f m while the "
                "rollers turned by %.4f m\n",
                before - gripped, drawn, surface);
  ASSERT_NEAR(drawn, surface, 0.05 * surface);
  assert_true(run.contacts_max > 0);
  finish(&run, "rollers");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(coarse_beam_of_high_order_bends_as_a_fine_one),
      cmocka_unit_test(curved_ball_bounces_as_a_fine_one),
      cmocka_unit_test(ball_in_a_box_rolls),
      cmocka_unit_test(nut_runs_down_its_bolt),
      cmocka_unit_test(mats_of_high_order_twist),
      cmocka_unit_test(truss_is_compressed),
      cmocka_unit_test(rollers_draw_the_screw_in),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
