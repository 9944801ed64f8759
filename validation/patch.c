// The contact patch test of El-Abbasi and Bathe: two blocks with meshes that do not match under a
// uniform pressure. Exact: a uniform stress, and each block becomes shorter by p / E of its height.
#include "cases.h"
#include "run.h"

#include <math.h>
#include <stdlib.h>

#define PRESSURE 1e5 // of validation/scenes/patch.json, Pa
#define WAY 0.05     // m, by which both blocks together become shorter
#define TOP 1.50005  // m, height of the centre of the upper block
#define FAR 0.5      // m: elements are far from the contact if their centres are

enum { UPPER, LOWER };

typedef struct Result {
  double way;       // m, by which the blocks become shorter
  double rms, most; // error of the vertical stress over the pressure: all elements
  double away;      // the largest FAR from the contact
} Result;

// Mean height of the nodes of a body at rest height X.
static double height_of(const NoliSim* sim, int32_t body, double X) {
  int32_t first, n, count;
  double sum = 0.0;
  noli_sim_body_range(sim, body, &first, &n);
  int32_t* node = run_nodes(sim, body, 1, X, 1e-6, &count);
  for (int32_t k = 0; node != NULL && k < count; k++) {
    sum += noli_sim_positions(sim)[3 * (int64_t)(first + node[k]) + 1] / count;
  }
  free(node);
  return sum;
}

static bool measure(Run* run, int cells, Result* result) {
  const NoliSim* sim = run->sim;
  int32_t n = noli_sim_tet_count(sim);
  NoliStress* stress = malloc(sizeof *stress * (size_t)n);
  bool good = stress != NULL && noli_sim_stresses(run->sim, stress) == NOLI_OK;
  *result = (Result){0};
  int32_t upper = 6 * cells * cells * cells;
  for (int32_t t = 0; good && t < n; t++) {
    const int32_t* tet = noli_sim_tets(sim) + 4 * (int64_t)t;
    double error = stress[t].first_piola[4] / -PRESSURE - 1.0, y = 0.0;
    for (int i = 0; i < 4; i++) {
      y += 0.25 * noli_sim_rest_positions(sim)[3 * (int64_t)tet[i] + 1];
    }
    // tetrahedra of a block have equal volumes
    result->rms += 0.5 * error * error / (t < upper ? upper : n - upper);
    result->most = report_worse(result->most, fabs(error));
    if (fabs(y - 1.0) > FAR) {
      result->away = report_worse(result->away, fabs(error));
    }
  }
  result->rms = sqrt(result->rms);
  free(stress);
  double length = height_of(sim, UPPER, TOP + 0.5) - height_of(sim, UPPER, TOP - 0.5) +
                  height_of(sim, LOWER, 1.0) - height_of(sim, LOWER, 0.0);
  result->way = 2.0 - length;
  return good;
}

static bool press(const char* model, double distance, int order, int cells, Result* result) {
  Run run;
  Settings settings = {0};
  set(&settings, "contact.model", "%s", model[0] == 'c' ? "ipc" : model);
  set(&settings, "contact.convergent", "%s", model[0] == 'c' ? "true" : "false");
  set(&settings, "contact.distance", "%g", distance);
  if (model[0] == 'g') {
    // the blocks start in contact, where this potential would have no force
    set(&settings, "contact.act_at_rest", "true");
  }
  for (int body = UPPER; body <= LOWER; body++) {
    char key[64];
    int n = cells + body;
    snprintf(key, sizeof key, "bodies[%d].mesh.box.cells", body);
    set(&settings, key, "[%d, %d, %d]", n, n, n);
    snprintf(key, sizeof key, "bodies[%d].order", body);
    set(&settings, key, "%d", order);
    if (order > 1) {
      snprintf(key, sizeof key, "bodies[%d].proxy", body);
      set(&settings, key, "{\"subdivision\": 4}");
    }
  }
  bool good = run_start(&run, "patch", &settings) && run_step(&run) && run_step(&run) &&
              measure(&run, cells, result);
  run_end(&run);
  return good;
}

static const struct {
  const char* model;
  double distance; // of contact, m
  int order, cells;
  double bound[2]; // of displacement and stress, relative
  bool quick;
} cases[] = {
    {"ipc", 1e-4, 1, 2, {1e-4, 2e-3}, true},
    {"ipc", 1e-4, 1, 4, {1e-4, 4e-3}, true},
    {"ipc", 1e-4, 1, 8, {1e-4, 5e-3}, false},
    {"ipc", 1e-3, 1, 2, {1e-4, 0.02}, true},
    {"ipc", 1e-3, 1, 4, {1e-4, 0.02}, false},
    {"ipc", 1e-3, 1, 8, {1e-4, 0.02}, false},
    {"ipc", 1e-4, 2, 2, {5e-4, 5e-3}, false},
    {"ipc", 1e-4, 2, 4, {2e-4, 5e-3}, false},
    {"convergent", 1e-4, 1, 2, {1e-4, 5e-3}, true},
    {"convergent", 1e-4, 1, 4, {1e-4, 0.015}, true},
    {"convergent", 1e-4, 1, 8, {1e-4, 0.02}, false},
    {"convergent", 1e-3, 1, 2, {1e-4, 0.03}, true},
    {"convergent", 1e-3, 1, 4, {1e-4, 0.03}, false},
    {"convergent", 1e-3, 1, 8, {1e-4, 0.03}, false},
    {"convergent", 1e-4, 2, 2, {5e-4, 8e-3}, false},
    {"convergent", 1e-4, 2, 4, {2e-4, 5e-3}, false},
    {"gcp", 1e-4, 1, 2, {1e-4, 2e-3}, true},
    {"gcp", 1e-4, 1, 4, {1e-4, 4e-3}, true},
    {"gcp", 1e-4, 1, 8, {1e-4, 5e-3}, false},
    {"gcp", 1e-4, 2, 2, {1e-3, 8e-3}, false},
    {"gcp", 1e-4, 2, 4, {5e-4, 8e-3}, false},
};

bool validate_patch(Report* report) {
  report_table(report, "Two blocks of 1 m under a uniform pressure, shorter by 0.05 m in theory",
               "contact | distance, m | order | cells along an edge | displacement, m | error | "
               "error of the stress, rms | largest | largest half a block away");
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    const char* model = cases[k].model;
    double distance = cases[k].distance;
    int order = cases[k].order, cells = cases[k].cells;
    Result got;
    if (report->quick && !cases[k].quick) {
      continue;
    }
    if (!press(model, distance, order, cells, &got)) {
      return false;
    }
    double error = got.way / WAY - 1.0;
    report_row(report, "%s | %g | %d | %d and %d | %.6f | %+.3f %% | %.5f | %.5f | %.5f", model,
               distance, order, cells, cells + 1, got.way, 100.0 * error, got.rms, got.most,
               got.away);
    report_check(report, fabs(error), cases[k].bound[0],
                 "displacement, %s, %g m, order %d, %d cells, relative", model, distance, order,
                 cells);
    report_check(report, got.most, cases[k].bound[1],
                 "stress, %s, %g m, order %d, %d cells, relative", model, distance, order, cells);
  }
  return true;
}
