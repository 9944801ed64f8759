// The table of docs/background/friction.md: the bowl of [Larionov2024] fig. 5, with lagged and
// implicit friction over time steps, with both laws. (The block of its fig. 4:
// validation/stopping.c.)
//
//   noli_friction_study grasp examples/grasp.json [STEP]...
#include <noli/noli.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Method {
  const char* name;
  const char* method;
  const char* iterations;
} Method;

static const Method methods[] = {
    {"lagged once", "lagged", "1"},
    {"lagged until convergence", "lagged", "\"until_convergence\""},
    {"implicit", "implicit", "1"},
};
enum { N_METHODS = 3 };

typedef struct Run {
  NoliContext* context;
  NoliScene* scene;
  NoliSim* sim;
  NoliStepReport report;
  int64_t newton;
} Run;

static int fail(Run* run, const char* where) {
  fprintf(stderr, "%s: %s\n", where, noli_context_message(run->context));
  return 0;
}

static const char* const laws[] = {"stick", "velocity"};

// Simulates a scene file with other friction and step.
static int start(Run* run, const char* path, const Method* method, const char* law, double step) {
  char text[32];
  snprintf(text, sizeof text, "%.17g", step);
  const NoliSceneOverride overrides[] = {{"friction.method", method->method},
                                         {"friction.iterations", method->iterations},
                                         {"friction.law", law},
                                         {"time.step", text}};
  *run = (Run){0};
  NoliContextDef def = noli_default_context_def();
  def.n_threads = 1;
  if (noli_context_create(&def, &run->context) != NOLI_OK) {
    return 0;
  }
  if (noli_scene_load(run->context, path, overrides, 4, &run->scene) != NOLI_OK ||
      noli_sim_create(run->context, noli_scene_sim_def(run->scene), &run->sim) != NOLI_OK) {
    return fail(run, path);
  }
  return 1;
}

static int step_once(Run* run) {
  if (noli_sim_step(run->sim, &run->report) != NOLI_OK) {
    return fail(run, "step");
  }
  run->newton += run->report.newton_iterations;
  return 1;
}

static void finish(Run* run) {
  noli_sim_destroy(&run->sim);
  noli_scene_destroy(&run->scene);
  (void)noli_context_destroy(&run->context);
}

// Centre of mass of a body.
static void centre_of(const NoliSim* sim, int32_t body, double centre[3]) {
  int32_t first, count;
  double total = 0.0;
  noli_sim_body_range(sim, body, &first, &count);
  centre[0] = centre[1] = centre[2] = 0.0;
  for (int32_t i = first; i < first + count; i++) {
    double mass = noli_sim_masses(sim)[i];
    total += mass;
    for (int k = 0; k < 3; k++) {
      centre[k] += mass * noli_sim_positions(sim)[3 * (int64_t)i + k];
    }
  }
  for (int k = 0; k < 3; k++) {
    centre[k] /= total;
  }
}

// ---- the bowl -----------------------------------------------------------------------------------

enum { COLUMNS = 10 };

// Height of the bowl, body 0, after each tenth of the time, mm.
static int lift(const char* path, const Method* method, const char* law, double step,
                double height[COLUMNS], double* newton) {
  Run run;
  int good = start(&run, path, method, law, step);
  double begin[3] = {0.0}, now[3] = {0.0};
  int64_t n = good ? noli_scene_step_count(run.scene) : 0;
  if (good) {
    centre_of(run.sim, 0, begin);
  }
  for (int64_t i = 1; good && i <= n; i++) {
    good = step_once(&run);
    centre_of(run.sim, 0, now);
    // the last step of a tenth
    int64_t tenth = i * COLUMNS / n;
    if (tenth > (i - 1) * COLUMNS / n) {
      height[tenth - 1] = 1e3 * (now[1] - begin[1]);
    }
  }
  *newton = good ? (double)run.newton / (double)n : 0.0;
  finish(&run);
  return good;
}

static void grasp_row(const char* path, const Method* method, const char* law, const char* step) {
  double height[COLUMNS], newton;
  printf("| %s | %s | %s |", method->name, law, step);
  fflush(stdout);
  int good = lift(path, method, law, strtod(step, NULL), height, &newton);
  for (int c = 0; c < COLUMNS; c++) {
    printf(good ? " %.2f |" : " failed |", height[c]);
  }
  printf(" %.1f |\n", newton);
  fflush(stdout);
}

static int study_grasp(const char* path, int n_steps, char** steps) {
  static char* usual[] = {"0.005", "0.0025", "0.00125"};
  printf("| friction | law | h, s | height in mm after 10 %% | 20 %% | 30 %% | 40 %% | 50 %% | 60 "
         "%% | 70 %% | 80 %% | 90 %% | 100 %% | Newton a step |\n"
         "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (int k = 0; k < (n_steps > 0 ? n_steps : 3); k++) {
    for (int m = 0; m < N_METHODS; m += 2) {
      for (int l = 0; l < 2; l++) {
        grasp_row(path, &methods[m], laws[l], n_steps > 0 ? steps[k] : usual[k]);
      }
    }
  }
  return 0;
}

int main(int argc, char** argv) {
  if (argc >= 3 && strcmp(argv[1], "grasp") == 0) {
    return study_grasp(argv[2], argc - 3, argv + 3);
  }
  fprintf(stderr, "usage: noli_friction_study grasp SCENE [STEP]...\n");
  return 1;
}
