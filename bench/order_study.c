// Tables of docs/background/high-order.md: the beam of [Ferguson2023] fig. 3 and the ball of its
// fig. 4, with elements of several orders, meshes and proxies.
//
//   noli_order_study beam examples/high_order/bending_beam.json
//   noli_order_study ball examples/high_order/bouncing_ball.json
#define _POSIX_C_SOURCE 200809L
#include "cpu_time.h"

#include <noli/noli.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OVERRIDES = 4, STEPS_MAX = 4000 };

typedef struct Variant {
  const char* name;
  NoliSceneOverride override[OVERRIDES]; // ends before the first without a path
} Variant;

typedef struct Run {
  NoliContext* context;
  NoliScene* scene;
  NoliSim* sim;
  int64_t newton;
  double seconds;    // of all steps, of this process
  int32_t n_steps;   // of the path
  double (*path)[3]; // (n_steps) centre of mass of the body after every step
} Run;

static void centre_of_mass(const Run* run, double centre[3]) {
  int32_t first, count;
  noli_sim_body_range(run->sim, 0, &first, &count);
  const double* x = noli_sim_positions(run->sim) + 3 * (int64_t)first;
  const double* mass = noli_sim_masses(run->sim) + first;
  double sum = 0.0;
  centre[0] = centre[1] = centre[2] = 0.0;
  for (int32_t v = 0; v < count; v++) {
    sum += mass[v];
    for (int i = 0; i < 3; i++) {
      centre[i] += mass[v] * x[3 * v + i];
    }
  }
  for (int i = 0; i < 3; i++) {
    centre[i] /= sum;
  }
}

static bool run_steps(Run* run) {
  int64_t n = noli_scene_step_count(run->scene);
  double start = cpu_seconds();
  run->path = malloc((size_t)n * sizeof *run->path);
  for (int64_t s = 0; s < n && run->path != NULL; s++) {
    NoliStepReport report;
    if (noli_sim_step(run->sim, &report) != NOLI_OK) {
      return false;
    }
    run->newton += report.newton_iterations;
    centre_of_mass(run, run->path[s]);
    run->n_steps++;
  }
  run->seconds = cpu_seconds() - start;
  return run->path != NULL;
}

// Runs a variant of a scene file; false, with a message, on failure.
static bool run_variant(Run* run, const char* path, const Variant* variant) {
  int32_t n = 0;
  *run = (Run){0};
  while (n < OVERRIDES && variant->override[n].path != NULL) {
    n++;
  }
  NoliContextDef def = noli_default_context_def();
  def.n_threads = 1;
  bool good = noli_context_create(&def, &run->context) == NOLI_OK &&
              noli_scene_load(run->context, path, variant->override, n, &run->scene) == NOLI_OK &&
              noli_sim_create(run->context, noli_scene_sim_def(run->scene), &run->sim) == NOLI_OK &&
              run_steps(run);
  if (!good) {
    fprintf(stderr, "%s: %s\n", variant->name, noli_context_message(run->context));
  }
  return good;
}

static void run_end(Run* run) {
  free(run->path);
  noli_sim_destroy(&run->sim);
  noli_scene_destroy(&run->scene);
  noli_context_destroy(&run->context);
}

static void print_sizes(const Run* run, const char* name) {
  printf("| %s | %d | %d | %d | ", name, noli_sim_tet_count(run->sim),
         noli_sim_node_count(run->sim), noli_sim_surface_triangle_count(run->sim));
}

// ---- the beam -----------------------------------------------------------------------------------

// Deflection of the middle of the free end, which is a node of every mesh with an even number of
// cells across, otherwise of the mean of its corners.
static double deflection(const Run* run) {
  const double* X = noli_sim_rest_positions(run->sim);
  const double* x = noli_sim_positions(run->sim);
  double length = 0.0, width = 0.0, sum = 0.0;
  int32_t count = 0, n = noli_sim_node_count(run->sim);
  for (int32_t v = 0; v < n; v++) {
    length = fmax(length, X[3 * v]);
    width = fmax(width, X[3 * v + 1]);
  }
  for (int32_t v = 0; v < n; v++) {
    double corner = fmin(fabs(X[3 * v + 1]), fabs(X[3 * v + 2])) - width;
    if (fabs(X[3 * v] - length) < 1e-9 && fabs(corner) < 1e-9) {
      sum += X[3 * v + 1] - x[3 * v + 1];
      count++;
    }
  }
  return sum / count;
}

#define MESH(along, across)                                                                        \
  "{\"rod\": {\"length\": 1, \"width\": 0.125, \"cells_along\": " along                            \
  ", \"cells_across\": " across "}}"
#define BEAM(name_, order_, along, across)                                                         \
  {                                                                                                \
    .name = name_, .override = {                                                                   \
      {"bodies[0].order", order_},                                                                 \
      {"bodies[0].mesh", MESH(along, across)}                                                      \
    }                                                                                              \
  }

static const Variant beam[] = {
    BEAM("P1, 48 tets", "1", "8", "1"),          BEAM("P2, 48 tets", "2", "8", "1"),
    BEAM("P3, 48 tets", "3", "8", "1"),          BEAM("P4, 48 tets", "4", "8", "1"),
    BEAM("P1, time-budgeted", "1", "24", "3"),   BEAM("P1, 16 x 2 x 2", "1", "16", "2"),
    BEAM("P1, 32 x 4 x 4", "1", "32", "4"),      BEAM("P1, 64 x 8 x 8, dense", "1", "64", "8"),
    BEAM("P1, 128 x 16 x 16", "1", "128", "16"), BEAM("P4, 16 x 2 x 2", "4", "16", "2"),
};
enum { N_BEAM = (int)(sizeof beam / sizeof *beam) };

static int study_beam(const char* path) {
  printf("| beam | tetrahedra | nodes | triangles | deflection m | Newton iterations | seconds |\n"
         "|---|---:|---:|---:|---:|---:|---:|\n");
  for (int i = 0; i < N_BEAM; i++) {
    Run run;
    bool good = run_variant(&run, path, &beam[i]);
    if (good) {
      print_sizes(&run, beam[i].name);
      printf("%.5f | %lld | %.2f |\n", deflection(&run), (long long)run.newton, run.seconds);
    }
    run_end(&run);
    if (!good) {
      return 1;
    }
  }
  return 0;
}

// ---- the ball -----------------------------------------------------------------------------------

#define SPHERE(cells, order)                                                                       \
  "{\"sphere\": {\"radius\": 0.1, \"cells\": " cells ", \"geometry_order\": " order "}}"

// The others are compared with the first.
static const Variant ball[] = {
    {"P1, dense",
     {{"bodies[0].order", "1"},
      {"bodies[0].mesh", SPHERE("8", "1")},
      {"bodies[0].proxy", "{\"subdivision\": 1}"}}},
    {"P1, coarse",
     {{"bodies[0].order", "1"},
      {"bodies[0].mesh", SPHERE("2", "1")},
      {"bodies[0].proxy", "{\"subdivision\": 1}"}}},
    {"P1, coarse, fine proxy",
     {{"bodies[0].order", "1"},
      {"bodies[0].mesh", SPHERE("2", "1")},
      {"bodies[0].proxy", "{\"mesh\": " SPHERE("8", "1") "}"}}},
    {"P2, coarse and curved", {{"bodies[0].order", "2"}}},
    {"P3, coarse and curved", {{"bodies[0].order", "3"}}},
};
enum { N_BALL = (int)(sizeof ball / sizeof *ball) };

// Prints the deviation of the path from the reference.
static void print_deviation(const Run* run, const Run* reference) {
  double largest = 0.0, square = 0.0, across = 0.0;
  for (int32_t s = 0; s < run->n_steps; s++) {
    double sum = 0.0;
    for (int i = 0; i < 3; i++) {
      double off = run->path[s][i] - reference->path[s][i];
      sum += off * off;
    }
    square += sum;
    largest = fmax(largest, sqrt(sum));
    across = fmax(across, hypot(run->path[s][0], run->path[s][2]));
  }
  printf("%.1f | %.1f | %.1f | %lld | %.2f |\n", 1e3 * sqrt(square / run->n_steps), 1e3 * largest,
         1e3 * across, (long long)run->newton, run->seconds);
}

// Heights of all variants, for plots: a column each.
static void print_paths(const Run* run) {
  printf("\ntime");
  for (int i = 0; i < N_BALL; i++) {
    printf(",%s", ball[i].name);
  }
  printf("\n");
  double h = noli_scene_sim_def(run[0].scene)->time_step;
  for (int32_t s = 9; s < run[0].n_steps; s += 10) {
    printf("%.4g", h * (s + 1));
    for (int i = 0; i < N_BALL; i++) {
      printf(",%.5f", run[i].path[s][1]);
    }
    printf("\n");
  }
}

static int study_ball(const char* path) {
  Run run[N_BALL] = {{0}};
  bool good = true;
  printf("| ball | tetrahedra | nodes | triangles | deviation of the centre, rms mm | largest mm | "
         "largest way across mm | Newton iterations | seconds |\n"
         "|---|---:|---:|---:|---:|---:|---:|---:|---:|\n");
  for (int i = 0; i < N_BALL && good; i++) {
    good = run_variant(&run[i], path, &ball[i]);
    if (good) {
      print_sizes(&run[i], ball[i].name);
      print_deviation(&run[i], &run[0]);
    }
  }
  if (good) {
    print_paths(run);
  }
  for (int i = 0; i < N_BALL; i++) {
    run_end(&run[i]);
  }
  return good ? 0 : 1;
}

int main(int argc, char** argv) {
  setvbuf(stdout, NULL, _IOLBF, 4096);
  if (argc == 3 && strcmp(argv[1], "beam") == 0) {
    return study_beam(argv[2]);
  }
  if (argc == 3 && strcmp(argv[1], "ball") == 0) {
    return study_ball(argv[2]);
  }
  fprintf(stderr, "usage: noli_order_study beam|ball SCENE\n");
  return 2;
}
