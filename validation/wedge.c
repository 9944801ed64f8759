// NAFEMS CGS-4: a wedge under a vertical load G is pulled by F up an elastic slope. With tan(alpha)
// the slope and mu the friction, in equilibrium
//   F / G = (tan(alpha) + mu) / (1 - mu tan(alpha)).
#include "cases.h"
#include "run.h"

#include <math.h>

#define TANGENT 0.1 // of validation/scenes/wedge.json
#define LOAD 3e4    // N

static const double friction[] = {0.0, 0.1, 0.2, 0.3};
enum { N_FRICTION = sizeof friction / sizeof *friction };

static const struct {
  const char *title, *solver, *method, *model;
  double bound; // relative
} methods[] = {
    {"projected_newton", "projected_newton", "lagged", "ipc", 1e-5},
    {"projected_newton, gcp", "projected_newton", "lagged", "gcp", 1e-5},
    {"implicit_newton, implicit friction", "implicit_newton", "implicit", "ipc", 1e-5},
    {"augmented_lagrangian", "augmented_lagrangian", "lagged", "ipc", 1e-3},
};
enum { N_METHODS = sizeof methods / sizeof *methods };

// Pulls the wedge; the force at the end over the load.
static bool pull(int method, int cells, double mu, double* ratio) {
  Run run;
  Settings settings = {0};
  NoliReaction reaction = {0};
  set(&settings, "solver.method", "%s", methods[method].solver);
  set(&settings, "friction.method", "%s", methods[method].method);
  set(&settings, "friction.coefficient", "%g", mu);
  set(&settings, "contact.model", "%s", methods[method].model);
  set(&settings, "bodies[0].mesh.polygon.cells", "%d", cells);
  set(&settings, "bodies[1].mesh.polygon.cells", "%d", cells + cells / 2);
  bool good = run_start(&run, "wedge", &settings);
  for (int n = 0; n < 50 && good; n++) {
    good = run_step(&run);
  }
  good = good && noli_sim_reaction(run.sim, 1, NULL, &reaction) == NOLI_OK;
  *ratio = reaction.force[0] / LOAD;
  run_end(&run);
  return good;
}

static bool rows_of(Report* report, int method, int cells) {
  double worst = 0.0;
  for (int k = 0; k < N_FRICTION; k++) {
    double mu = friction[k], want = (TANGENT + mu) / (1.0 - mu * TANGENT), got;
    if (!pull(method, cells, mu, &got)) {
      return false;
    }
    double error = got / want - 1.0;
    report_row(report, "%s | %d | %g | %.6f | %.6f | %+.4f %%", methods[method].title, cells, mu,
               got, want, 100.0 * error);
    worst = report_worse(worst, fabs(error));
  }
  report_check(report, worst, methods[method].bound, "F / G, %s, %d cells, relative",
               methods[method].title, cells);
  return true;
}

bool validate_wedge(Report* report) {
  report_table(report, "Force that pulls the wedge up the slope, over the load",
               "solver | cells along an edge | mu | F / G | closed form | error");
  for (int m = 0; m < N_METHODS; m++) {
    for (int cells = 4; cells <= (report->quick ? 4 : 16); cells *= 4) {
      if (!rows_of(report, m, cells)) {
        return false;
      }
    }
  }
  return true;
}
