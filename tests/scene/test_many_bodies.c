// A thousand cubes fall onto each other: the guarantees for two bodies hold for all, and listed
// pairs are exceptions among half a million.
#include "scene_support.h"

#include "noli/sim.h"

#include <stdlib.h>

enum { ACROSS = 25, DEEP = 10, LAYERS = 4, CUBES = ACROSS * DEEP * LAYERS, BODY_TEXT = 320 };

// One more cube stands in the way of this one, at the edge of the lowest layer.
enum { CROSSED = 7 };

static const double tolerance = 2e-3; // m/s

static void add_cube(char* text, const char* name, int turn, double x, double y, double z) {
  size_t used = strlen(text);
  snprintf(text + used, BODY_TEXT,
           "{\"name\": \"%s\", \"mesh\": {\"box\": {\"size\": [0.1, 0.1, 0.1], \"cells\": [1, 1, "
           "1]}}, \"rotate\": [0, %d, 0], \"translate\": [%g, %g, %g], \"velocity\": [0, -0.5, 0], "
           "\"material\": {\"young\": 1e5}}, ",
           name, turn, x, y, z);
}

// Layers of cubes, each turned a little and set off from those below. `contact`: whether the last
// cube collides with the one that it crosses.
static char* make_text(bool contact) {
  const double spacing = 0.112, layer = 0.1015;
  char* text = calloc(CUBES + 8, BODY_TEXT);
  assert_non_null(text);
  strcpy(text, "{\"bodies\": [");
  char* at = text;
  for (int c = 0; c < CUBES; c++) {
    int j = c / (ACROSS * DEEP), i = c / DEEP % ACROSS, k = c % DEEP;
    double offset = 0.5 * spacing * (j % 2);
    char name[32];
    snprintf(name, sizeof name, "cube %d", c);
    at += strlen(at);
    add_cube(at, name, 7 * c % 11 - 5, spacing * i + offset, layer * (j + 0.5),
             spacing * k + offset);
  }
  add_cube(at, "ghost", 0, -0.06, layer * 0.5, spacing * CROSSED);
  at += strlen(at) - 2;
  snprintf(at, 4 * BODY_TEXT,
           "], \"pairs\": [{\"a\": \"ghost\", \"b\": \"cube %d\", \"contact\": %s}], "
           "\"time\": {\"step\": 0.005, \"steps\": 2}, \"half_spaces\": [{\"name\": \"floor\"}], "
           "\"contact\": {\"distance\": 5e-4}, \"friction\": {\"coefficient\": 0.3, "
           "\"iterations\": 1}, \"solver\": {\"tolerance\": %g, \"linear\": \"pcg\"}, "
           "\"debug\": {\"audit\": true}}",
           CROSSED, contact ? "true" : "false", tolerance);
  return text;
}

static NoliStatus create(NoliContext* context, bool contact, NoliScene** scene, NoliSim** sim) {
  char* text = make_text(contact);
  NoliStatus status = noli_scene_parse(context, text, "scene.json", NULL, NULL, 0, scene);
  free(text);
  if (status == NOLI_OK) {
    status = noli_sim_create(context, noli_scene_sim_def(*scene), sim);
  }
  return status;
}

// Mass times change of velocity of each body (n + 1: of the floor), less gravity and the contact
// forces of its pairs, over mass: m/s. Returns the largest.
static double largest_imbalance(const NoliSim* sim, const double* v_t0, const NoliPairForce* pair,
                                int32_t n_pairs, double h) {
  static double left[CUBES + 2][3], mass[CUBES + 2];
  memset(left, 0, sizeof left);
  memset(mass, 0, sizeof mass);
  const double *v_t1 = noli_sim_velocities(sim), *m = noli_sim_masses(sim);
  for (int32_t b = 0; b <= CUBES; b++) {
    int32_t first, count;
    noli_sim_body_range(sim, b, &first, &count);
    for (int32_t i = first; i < first + count; i++) {
      mass[b] += m[i];
      for (int k = 0; k < 3; k++) {
        left[b][k] += m[i] * (v_t1[3 * i + k] - v_t0[3 * i + k] + (k == 1 ? 9.81 * h : 0.0));
      }
    }
  }
  for (int32_t p = 0; p < n_pairs; p++) {
    for (int k = 0; k < 3; k++) {
      double impulse = h * (pair[p].normal[k] + pair[p].friction[k]);
      left[pair[p].a][k] -= impulse;
      left[pair[p].b][k] += impulse;
    }
  }
  double largest = 0.0;
  for (int32_t b = 0; b <= CUBES; b++) {
    ASSERT_NEAR(mass[b], 1.0, 1e-12);
    for (int k = 0; k < 3; k++) {
      largest = noli_larger(largest, fabs(left[b][k]) / mass[b]);
    }
  }
  return largest;
}

// Every step ends with the exact audit: no surfaces intersect, no element is inverted.
static void a_thousand_cubes_fall_onto_each_other(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliScene* scene = NULL;
  NoliSim* sim = NULL;
  ASSERT_OK(create(context, false, &scene, &sim));
  int32_t n_vert = noli_sim_vertex_count(sim);
  assert_int_equal(n_vert, 8 * (CUBES + 1));
  double* v_t0 = malloc(3 * sizeof *v_t0 * (size_t)n_vert);
  NoliStepReport report;
  for (int step = 0; step < 2; step++) {
    memcpy(v_t0, noli_sim_velocities(sim), 3 * sizeof *v_t0 * (size_t)n_vert);
    ASSERT_OK(noli_sim_step(sim, &report));
    const NoliPairForce* pair = NULL;
    int32_t n_pairs = 0;
    ASSERT_OK(noli_sim_pair_forces(sim, &pair, &n_pairs));

    // each pair once, in order; together they have all contacts
    int64_t n_contacts = 0, n_floor = 0;
    for (int32_t p = 0; p < n_pairs; p++) {
      assert_true(p == 0 || pair[p - 1].a < pair[p].a ||
                  (pair[p - 1].a == pair[p].a && pair[p - 1].b < pair[p].b));
      assert_false(pair[p].a == CROSSED && pair[p].b == CUBES);
      ASSERT_AT_LEAST(pair[p].min_distance, 1e-6);
      n_contacts += pair[p].contacts;
      n_floor += pair[p].b == CUBES + 1;
    }
    assert_int_equal(n_contacts, report.contacts);

    // only gravity, neighbours and the floor exert forces
    double imbalance = largest_imbalance(sim, v_t0, pair, n_pairs, 0.005);
    print_message("step %d: %d Newton iterations, %d pairs, %d on the floor, %lld contacts, "
                  "imbalance %.2g m/s\n",
                  step + 1, (int)report.newton_iterations, (int)n_pairs, (int)n_floor,
                  (long long)report.contacts, imbalance);
    ASSERT_AT_MOST(imbalance, tolerance);
    assert_true(step == 0 || (n_floor == ACROSS * DEEP + 1 && n_pairs >= CUBES));
  }
  free(v_t0);
  noli_sim_destroy(&sim);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

// The same scene without the exception.
static void without_the_exception_bodies_intersect(void** state) {
  (void)state;
  TestLog log;
  NoliContext* context = test_context_log(&log);
  NoliScene* scene = NULL;
  NoliSim* sim = NULL;
  ASSERT_STATUS(create(context, true, &scene, &sim), NOLI_ERROR_INTERSECTION);
  const char* message = noli_context_message(context);
  assert_non_null(strstr(message, "\"ghost\""));
  assert_non_null(strstr(message, "\"cube 7\""));
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_thousand_cubes_fall_onto_each_other),
      cmocka_unit_test(without_the_exception_bodies_intersect),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
