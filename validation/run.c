#include "run.h"

#include "report.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void set(Settings* settings, const char* path, const char* format, ...) {
  int32_t k = settings->count++;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(settings->value[k], SETTING_LENGTH, format, arguments);
  va_end(arguments);
  snprintf(settings->path[k], SETTING_LENGTH, "%s", path);
}

static bool fail(const Run* run, const char* what) {
  fprintf(stderr, "noli_validate: %s: %s\n", what, noli_context_message(run->context));
  return false;
}

bool run_context(Run* run) {
  // small scenes: synchronizing threads would cost more than they gain
  NoliContextDef def = noli_default_context_def();
  def.n_threads = 1;
  *run = (Run){0};
  return noli_context_create(&def, &run->context) == NOLI_OK;
}

bool run_start_def(Run* run, const NoliSimDef* def) {
  return noli_sim_create(run->context, def, &run->sim) == NOLI_OK || fail(run, "create");
}

bool run_start(Run* run, const char* name, const Settings* settings) {
  NoliSceneOverride override[SETTINGS_MAX + 1] = {{"debug.audit", "true"}};
  char path[1024];
  int32_t n = settings != NULL ? settings->count : 0;
  for (int32_t k = 0; k < n; k++) {
    override[k + 1] = (NoliSceneOverride){settings->path[k], settings->value[k]};
  }
  bool example = strncmp(name, "examples/", 9) == 0;
  snprintf(path, sizeof path, "%s/%s%s.json", VALIDATION_SOURCE,
           example ? "" : "validation/scenes/", name);
  if (!run_context(run)) {
    return false;
  }
  return (noli_scene_load(run->context, path, override, n + 1, &run->scene) == NOLI_OK ||
          fail(run, path)) &&
         run_start_def(run, noli_scene_sim_def(run->scene));
}

bool run_step(Run* run) {
  if (noli_sim_step(run->sim, &run->report) != NOLI_OK) {
    char what[64];
    snprintf(what, sizeof what, "step %lld", (long long)noli_sim_step_count(run->sim) + 1);
    return fail(run, what);
  }
  run->newton += run->report.newton_iterations;
  return true;
}

void run_end(Run* run) {
  noli_sim_destroy(&run->sim);
  noli_scene_destroy(&run->scene);
  (void)noli_context_destroy(&run->context);
}

// Mean of a field of the vertices of a body, weighted by mass.
static void mean_of(const Run* run, int32_t body, const double* field, double mean[3]) {
  int32_t first, count;
  double total = 0.0;
  noli_sim_body_range(run->sim, body, &first, &count);
  mean[0] = mean[1] = mean[2] = 0.0;
  for (int32_t i = first; i < first + count; i++) {
    double mass = noli_sim_masses(run->sim)[i];
    total += mass;
    for (int k = 0; k < 3; k++) {
      mean[k] += mass * field[3 * (int64_t)i + k];
    }
  }
  for (int k = 0; k < 3; k++) {
    mean[k] /= total;
  }
}

void run_centre(const Run* run, int32_t body, double centre[3]) {
  mean_of(run, body, noli_sim_positions(run->sim), centre);
}

void run_velocity(const Run* run, int32_t body, double velocity[3]) {
  mean_of(run, body, noli_sim_velocities(run->sim), velocity);
}

double run_energy(const Run* run) {
  const NoliStepReport* report = &run->report;
  return report->kinetic + report->elastic + report->gravity + report->contact_energy;
}

NoliPairForce run_pair(Run* run, int32_t a, int32_t b) {
  const NoliPairForce* pair = NULL;
  NoliPairForce found = {.a = a, .b = b, .min_distance = (double)INFINITY};
  int32_t n = 0;
  if (noli_sim_pair_forces(run->sim, &pair, &n) != NOLI_OK) {
    return found;
  }
  for (int32_t p = 0; p < n; p++) {
    bool same = pair[p].a == a && pair[p].b == b;
    if (same || (pair[p].a == b && pair[p].b == a)) {
      found = pair[p];
      for (int k = 0; k < 3 && !same; k++) {
        found.normal[k] = -found.normal[k];
        found.friction[k] = -found.friction[k];
      }
    }
  }
  return found;
}

double order_of(double h, double error, double finer_h, double finer_error) {
  return log(error / finer_error) / log(h / finer_h);
}

int32_t* run_nodes(const NoliSim* sim, int32_t body, int axis, double value, double tolerance,
                   int32_t* count) {
  int32_t first, n;
  noli_sim_body_range(sim, body, &first, &n);
  const double* X = noli_sim_rest_positions(sim) + 3 * (int64_t)first;
  int32_t* node = malloc(sizeof *node * (size_t)n);
  *count = 0;
  for (int32_t i = 0; node != NULL && i < n; i++) {
    if (fabs(X[3 * i + axis] - value) < tolerance) {
      node[(*count)++] = i;
    }
  }
  return node;
}

bool run_hold(const NoliSim* sim, int32_t body, int axis, double value, bool clamped,
              NoliMotionDef* motion) {
  *motion = noli_default_motion_def();
  motion->body = body;
  motion->node = run_nodes(sim, body, axis, value, 1e-9, &motion->n_node);
  for (int k = 0; k < 3; k++) {
    motion->free_axis[k] = !clamped && k != axis;
  }
  return motion->node != NULL;
}

bool run_keep(NoliContext* context, NoliMesh* mesh, bool (*inside)(const double p[3])) {
  int32_t kept = 0;
  for (int32_t t = 0; t < mesh->n_tet; t++) {
    const int32_t* tet = mesh->tet + 4 * (int64_t)t;
    bool keep = true;
    for (int i = 0; i < 4; i++) {
      keep = keep && inside(mesh->x + 3 * (int64_t)tet[i]);
    }
    if (keep) {
      memmove(mesh->tet + 4 * (int64_t)kept, tet, 4 * sizeof *tet);
      kept++;
    }
  }
  mesh->n_tet = kept;
  return noli_mesh_remove_unused(context, mesh) == NOLI_OK;
}

void run_map(NoliMesh* mesh, void (*map)(int32_t which, double p[3]), int32_t which) {
  for (int32_t i = 0; i < mesh->n_vert; i++) {
    map(which, mesh->x + 3 * (int64_t)i);
  }
  for (int32_t i = 0; i < mesh->n_curve; i++) {
    map(which, mesh->curve_x + 3 * (int64_t)i);
  }
}

void run_disk(double* x, double* y) {
  double s = fmax(fabs(*x), fabs(*y)), quarter = 0.25 * PI / fmax(s, 1e-300);
  double side[2] = {tan(quarter * *x), tan(quarter * *y)};
  double scale = s > 0.0 ? s / hypot(side[0], side[1]) : 0.0;
  *x = scale * side[0];
  *y = scale * side[1];
}

bool run_mean_stress(Run* run, double* stress) {
  int32_t n = noli_sim_tet_count(run->sim);
  NoliStress* all = malloc(sizeof *all * (size_t)n);
  bool good = all != NULL && noli_sim_stresses(run->sim, all) == NOLI_OK;
  *stress = 0.0;
  for (int32_t t = 0; good && t < n; t++) {
    *stress += all[t].first_piola[0] / n;
  }
  free(all);
  return good;
}
