// Iterations, time and error of solvers beside each other: every variant takes the same steps from
// the same states, and its results are compared with those of the converged step.
//
//   noli_error_study [OPTIONS] SCENE...
//
// The states are those of the converged solution: the barrier with termination "residual" at a
// tolerance of 1e-8 l/s, and friction repeated until it converges, unless --reference changes some
// of that. A variant keeps between steps
// what its solver remembers (the constraints of the augmented Lagrangian); everything else comes
// from the reference. Contact models with another gap than the barrier's, as constraints, differ
// from it by up to the contact distance even when they converge.
#define _POSIX_C_SOURCE 200809L
#include "cpu_time.h"
#include "generated.h"
#include "load.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OVERRIDES = 8, USER_OVERRIDES = 32, VARIANTS = 16, PARTS = 16, STEPS = 3 };

typedef struct Variant {
  char name[128];
  NoliSceneOverride override[OVERRIDES]; // ends before the first without a path
} Variant;

static const Variant reference = {.name = "converged",
                                  .override = {
                                      {"solver.method", "projected_newton"},
                                      {"solver.termination", "residual"},
                                      {"solver.linear", "cholmod"},
                                      {"solver.tolerance", "\"1e-8 l\""},
                                      {"friction.iterations", "\"until_convergence\""},
                                  }};

#define SOLVER(method, termination, linear)                                                        \
  {                                                                                                \
    .name = method ", " termination ", " linear, .override = {                                     \
      {"solver.method", method},                                                                   \
      {"solver.termination", termination},                                                         \
      {"solver.linear", linear}                                                                    \
    }                                                                                              \
  }
static const Variant usual[] = {
    SOLVER("projected_newton", "residual", "cholmod"),
    SOLVER("projected_newton", "residual", "auto"),
    SOLVER("projected_newton", "toi", "cholmod"),
    SOLVER("projected_newton", "toi", "auto"),
    SOLVER("augmented_lagrangian", "toi", "cholmod"),
    SOLVER("augmented_lagrangian", "toi", "auto"),
};
enum { N_USUAL = sizeof usual / sizeof *usual };

typedef struct Study {
  Variant reference;
  Variant variant[VARIANTS];
  int32_t n_variants;
  NoliSceneOverride override[USER_OVERRIDES]; // of every variant
  int32_t n_overrides;
  int32_t from, steps; // steps before, and compared; negative: what the scene of a suite says
  int32_t n_threads;
  const Suite* suite;          // or NULL
  const char* part[PARTS + 1]; // (n_parts) of names of its scenes; none: all
  int32_t n_parts;
  FILE* csv; // or NULL
} Study;

// ---- simulations --------------------------------------------------------------------------------

// The data that a variant keeps between steps.
typedef struct Constraints {
  int64_t count;
  int64_t* key;       // (count)
  double* multiplier; // (count x 2)
} Constraints;

// Sums over the steps; errors as absolute values.
typedef struct Errors {
  double square, square_of; // kg m^2, of positions and of the motion in the step
  double most, most_of;     // m, largest
  double energy, energy_of; // J; the first with its sign
  double momentum, momentum_of;
  double friction, friction_of; // J, work of friction
  double contact, contact_of;   // N, forces of contact on nodes
} Errors;

typedef struct Run {
  const Variant* variant;
  NoliContext* context;
  NoliScene* scene;
  NoliSim* sim;
  NoliStepReport report; // of the last step
  Constraints kept;
  int64_t steps, newton;
  double seconds; // CPU
  Errors errors;
  char message[256]; // why it ended; "" if it did not
} Run;

static bool fail(Run* run, const char* where) {
  snprintf(run->message, sizeof run->message, "%s: %s", where, noli_context_message(run->context));
  return false;
}

static bool start(Run* run, const Study* study, const Scene* entry, const Variant* variant) {
  NoliSceneOverride override[OVERRIDES + USER_OVERRIDES];
  int32_t n = study->n_overrides;
  *run = (Run){.variant = variant};
  memcpy(override, study->override, (size_t)n * sizeof *override);
  for (int32_t i = 0; i < OVERRIDES && variant->override[i].path != NULL; i++) {
    override[n++] = variant->override[i];
  }
  NoliContextDef def = noli_default_context_def();
  def.n_threads = study->n_threads;
  if (noli_context_create(&def, &run->context) != NOLI_OK) {
    snprintf(run->message, sizeof run->message, "no context");
    return false;
  }
  if (load_scene(run->context, entry, entry->path, override, n, &run->scene) != NOLI_OK ||
      noli_sim_create(run->context, noli_scene_sim_def(run->scene), &run->sim) != NOLI_OK) {
    return fail(run, variant->name);
  }
  return true;
}

static void finish(Run* run) {
  free(run->kept.key);
  free(run->kept.multiplier);
  noli_sim_destroy(&run->sim);
  noli_scene_destroy(&run->scene);
  if (run->context != NULL) {
    noli_context_destroy(&run->context);
  }
}

static bool take_step(Run* run) {
  double before = cpu_seconds();
  if (noli_sim_step(run->sim, &run->report) != NOLI_OK) {
    return fail(run, "step");
  }
  run->seconds += cpu_seconds() - before;
  run->newton += run->report.newton_iterations;
  run->steps++;
  return true;
}

static void* field_of(const Run* run, const char* name) {
  NoliStateField field;
  for (int32_t i = 0; noli_sim_state_field(run->sim, i, &field); i++) {
    if (strcmp(field.name, name) == 0) {
      return field.data;
    }
  }
  return NULL;
}

// Keeps the constraints that the last step left.
static bool keep_constraints(Run* run) {
  Constraints* kept = &run->kept;
  int64_t n = noli_sim_constraint_count(run->sim);
  free(kept->key);
  free(kept->multiplier);
  *kept = (Constraints){.count = n,
                        .key = malloc((size_t)n * sizeof(int64_t) + 1),
                        .multiplier = malloc(2 * (size_t)n * sizeof(double) + 1)};
  if (kept->key == NULL || kept->multiplier == NULL) {
    return false;
  }
  if (n > 0) {
    memcpy(kept->key, field_of(run, "constraint"), (size_t)n * sizeof(int64_t));
    memcpy(kept->multiplier, field_of(run, "multiplier"), 2 * (size_t)n * sizeof(double));
  }
  return true;
}

// The state of `from`, with the constraints that `run` had.
static bool take_state(Run* run, const Run* from) {
  if (!keep_constraints(run) || noli_sim_copy_state(run->sim, from->sim) != NOLI_OK ||
      noli_sim_set_constraint_count(run->sim, run->kept.count) != NOLI_OK) {
    return fail(run, "state");
  }
  if (run->kept.count > 0) {
    size_t n = (size_t)run->kept.count;
    memcpy(field_of(run, "constraint"), run->kept.key, n * sizeof(int64_t));
    memcpy(field_of(run, "multiplier"), run->kept.multiplier, 2 * n * sizeof(double));
  }
  return true;
}

// ---- errors -------------------------------------------------------------------------------------

static double energy(const NoliStepReport* report) {
  return report->kinetic + report->elastic + report->gravity + report->contact_energy +
         report->volume_energy;
}

static double motion_energy(const NoliStepReport* report) {
  return report->kinetic + report->elastic;
}

// Adds the differences of the forces of contact on nodes; false if there is no memory for them.
static bool add_contact_errors(Run* run, const Run* converged) {
  int64_t n = 3 * (int64_t)noli_sim_vertex_count(run->sim);
  double *mine = calloc((size_t)n, sizeof *mine), *right = calloc((size_t)n, sizeof *right);
  bool good = mine != NULL && right != NULL;
  good = good && noli_sim_contact_forces(run->sim, mine) == NOLI_OK &&
         noli_sim_contact_forces(converged->sim, right) == NOLI_OK;
  for (int64_t i = 0; good && i < n; i += 3) {
    double off = 0.0, force = 0.0;
    for (int64_t k = i; k < i + 3; k++) {
      off += (mine[k] - right[k]) * (mine[k] - right[k]);
      force += right[k] * right[k];
    }
    run->errors.contact += sqrt(off);
    run->errors.contact_of += sqrt(force);
  }
  free(mine);
  free(right);
  return good;
}

// Adds the differences of a step from the converged one, which began at `x` (n_node x 3).
static void add_errors(Run* run, const Run* converged, const double* x) {
  Errors* errors = &run->errors;
  const NoliStepReport *mine = &run->report, *right = &converged->report;
  const double *xa = noli_sim_positions(run->sim), *xb = noli_sim_positions(converged->sim);
  const double *v = noli_sim_velocities(converged->sim), *mass = noli_sim_masses(converged->sim);
  for (int32_t i = 0; i < noli_sim_node_count(run->sim); i++) {
    double off = 0.0, motion = 0.0, speed = 0.0;
    for (int32_t k = 3 * i; k < 3 * i + 3; k++) {
      off += (xa[k] - xb[k]) * (xa[k] - xb[k]);
      motion += (xb[k] - x[k]) * (xb[k] - x[k]);
      speed += v[k] * v[k];
    }
    errors->square += mass[i] * off;
    errors->square_of += mass[i] * motion;
    errors->most = fmax(errors->most, sqrt(off));
    errors->most_of = fmax(errors->most_of, sqrt(motion));
    errors->momentum_of += mass[i] * sqrt(speed);
  }

  double momentum = 0.0;
  for (int32_t k = 0; k < 3; k++) {
    momentum += (mine->momentum[k] - right->momentum[k]) * (mine->momentum[k] - right->momentum[k]);
  }
  errors->momentum += sqrt(momentum);
  errors->energy += energy(mine) - energy(right);
  errors->energy_of += motion_energy(right);
  errors->friction += fabs(mine->friction_loss - right->friction_loss);
  errors->friction_of += right->friction_loss;
  if (!add_contact_errors(run, converged)) {
    fail(run, "forces of contact");
  }
}

static double percent(double error, double of) {
  return of > 0.0 ? 100.0 * error / of : 0.0;
}

static const char header[] =
    "| solver | iterations a step | CPU s a step | position, mean | position, largest | energy | "
    "momentum | friction work | contact forces |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|\n";

// A text of a table and a comma; quotation marks in it are doubled.
static void print_quoted(FILE* file, const char* text) {
  putc('"', file);
  for (; *text != '\0'; text++) {
    *text == '"' ? fputs("\"\"", file) : putc(*text, file);
  }
  fputs("\",", file);
}

static void print_row(const Study* study, const Scene* entry, const Run* run) {
  const Errors* errors = &run->errors;
  double n = (double)run->steps;
  const double error[] = {
      percent(sqrt(errors->square), sqrt(errors->square_of)),
      percent(errors->most, errors->most_of),
      percent(errors->energy, errors->energy_of),
      percent(errors->momentum, errors->momentum_of),
      percent(errors->friction, errors->friction_of),
      percent(errors->contact, errors->contact_of),
  };
  if (run->message[0] != '\0') {
    printf("| %s | step %lld: %s | | | | | | | |\n", run->variant->name, (long long)run->steps + 1,
           run->message);
  } else {
    printf("| %s | %.1f | %.3g |", run->variant->name, (double)run->newton / n, run->seconds / n);
    for (size_t k = 0; k < sizeof error / sizeof *error; k++) {
      printf(" %.3g %% |", error[k]);
    }
    printf("\n");
  }
  if (study->csv != NULL && run->message[0] == '\0') {
    print_quoted(study->csv, entry->name);
    print_quoted(study->csv, run->variant->name);
    fprintf(study->csv, "%.17g,%.17g", (double)run->newton / n, run->seconds / n);
    for (size_t k = 0; k < sizeof error / sizeof *error; k++) {
      fprintf(study->csv, ",%.6g", error[k]);
    }
    fprintf(study->csv, "\n");
  }
}

// ---- studies ------------------------------------------------------------------------------------

// The state after the first steps, as the settings of the scene make it.
static bool lead_in(const Study* study, const Scene* entry, int32_t from, Run* converged) {
  static const Variant own = {.name = "lead-in"};
  Run run;
  bool good = start(&run, study, entry, &own);
  for (int32_t i = 0; good && i < from; i++) {
    good = take_step(&run);
  }
  good = good && take_state(converged, &run);
  if (run.message[0] != '\0') {
    memcpy(converged->message, run.message, sizeof run.message);
  }
  finish(&run);
  return good;
}

// One step of all; false if the reference failed.
static bool compare_step(const Study* study, Run* converged, Run* runs) {
  size_t bytes = 3 * (size_t)noli_sim_node_count(converged->sim) * sizeof(double);
  double* x = malloc(bytes);
  bool good = x != NULL;
  for (int32_t i = 0; good && i < study->n_variants; i++) {
    Run* run = &runs[i];
    if (run->message[0] == '\0' && take_state(run, converged)) {
      take_step(run);
    }
  }
  if (good) {
    memcpy(x, noli_sim_positions(converged->sim), bytes);
    good = take_step(converged);
  }
  for (int32_t i = 0; good && i < study->n_variants; i++) {
    if (runs[i].message[0] == '\0') {
      add_errors(&runs[i], converged, x);
    }
  }
  free(x);
  return good;
}

static bool study_scene(const Study* study, const Scene* entry) {
  int32_t from = study->from >= 0 ? study->from : entry->from;
  int32_t steps = study->steps > 0 ? study->steps : entry->steps > 0 ? entry->steps : STEPS;
  Run converged, runs[VARIANTS];
  bool good = start(&converged, study, entry, &study->reference);
  int32_t n = 0;
  for (; good && n < study->n_variants; n++) {
    start(&runs[n], study, entry, &study->variant[n]);
  }
  good = good && lead_in(study, entry, from, &converged);
  for (int32_t s = 0; good && s < steps; s++) {
    good = compare_step(study, &converged, runs);
  }

  printf("%s, steps %d to %d\n\n%s", entry->name, from + 1, from + steps, header);
  print_row(study, entry, &converged);
  for (int32_t i = 0; i < n; i++) {
    if (good) {
      print_row(study, entry, &runs[i]);
    }
    finish(&runs[i]);
  }
  printf("\n");
  finish(&converged);
  return good;
}

// ---- options ------------------------------------------------------------------------------------

static void help(void) {
  puts("noli_error_study [OPTIONS] SCENE...   error of solvers beside their time\n"
       "  SCENE                     scene file, or a generated scene as in noli_bench\n"
       "  --suite NAME              scenes of a suite of noli_bench, without its variants\n"
       "  --scene PART              only these scenes of the suite (may be repeated)\n"
       "  --from N                  first simulates N steps with the settings of the scene\n"
       "                            (default: as the suite, otherwise 0)\n"
       "  --steps N                 compares N steps (default: as the suite, otherwise 3)\n"
       "  --set PATH=VALUE          replaces a value of the scene for all variants\n"
       "  --variant PATH=VALUE,...  a variant, in place of the usual ones (may be repeated)\n"
       "  --reference PATH=VALUE,.. replaces values of the reference\n"
       "  --threads N               default: 1\n"
       "  --csv FILE                also writes the rows to FILE");
}

static bool wrong(const char* option, const char* what) {
  fprintf(stderr, "noli_error_study: %s %s\n", option, what);
  return false;
}

// Splits PATH=VALUE in place.
static bool read_override(char* text, NoliSceneOverride* override) {
  char* equals = strchr(text, '=');
  if (equals == NULL || equals == text) {
    return wrong(text, "is not of the form PATH=VALUE");
  }
  *equals = '\0';
  *override = (NoliSceneOverride){.path = text, .value = equals + 1};
  return true;
}

// Adds PATH=VALUE,.. to a variant; a value of a path that it has is replaced.
static bool read_overrides(char* text, Variant* variant) {
  for (char* next = text; next != NULL;) {
    char* part = next;
    next = strchr(part, ',');
    if (next != NULL) {
      *next++ = '\0';
    }
    NoliSceneOverride override;
    if (!read_override(part, &override)) {
      return false;
    }
    int32_t n = 0;
    while (n < OVERRIDES && variant->override[n].path != NULL &&
           strcmp(variant->override[n].path, override.path) != 0) {
      n++;
    }
    if (n == OVERRIDES) {
      return wrong("--variant, --reference", "have room for 8 values");
    }
    variant->override[n] = override;
  }
  return true;
}

static bool read_variant(char* text, Study* study) {
  if (study->n_variants == VARIANTS) {
    return wrong("--variant", "was given too often");
  }
  Variant* variant = &study->variant[study->n_variants++];
  *variant = (Variant){0};
  snprintf(variant->name, sizeof variant->name, "%s", text);
  return read_overrides(text, variant);
}

static bool read_count(const char* option, const char* text, int32_t least, int32_t* count) {
  char* end = NULL;
  long number = strtol(text, &end, 10);
  if (end == text || *end != '\0' || number < least || number > 1000000) {
    return wrong(option, "needs an integer, not too small or large");
  }
  *count = (int32_t)number;
  return true;
}

static bool read_valued(Study* study, const char* option, char* value) {
  if (strcmp(option, "--suite") == 0) {
    study->suite = suite_find(value);
    return study->suite != NULL ? true : wrong(value, "is not a suite of noli_bench");
  }
  if (strcmp(option, "--scene") == 0) {
    bool room = study->n_parts < PARTS;
    study->part[study->n_parts] = value;
    study->n_parts += room ? 1 : 0;
    return room ? true : wrong(option, "was given too often");
  }
  if (strcmp(option, "--from") == 0) {
    return read_count(option, value, 0, &study->from);
  }
  if (strcmp(option, "--steps") == 0) {
    return read_count(option, value, 1, &study->steps);
  }
  if (strcmp(option, "--threads") == 0) {
    return read_count(option, value, 1, &study->n_threads);
  }
  if (strcmp(option, "--variant") == 0) {
    return read_variant(value, study);
  }
  if (strcmp(option, "--reference") == 0) {
    return read_overrides(value, &study->reference);
  }
  if (strcmp(option, "--set") == 0) {
    return study->n_overrides == USER_OVERRIDES
               ? wrong(option, "was given too often")
               : read_override(value, &study->override[study->n_overrides++]);
  }
  if (strcmp(option, "--csv") == 0) {
    study->csv = fopen(value, "w");
    return study->csv != NULL ? true : wrong(value, "cannot be written");
  }
  return wrong(option, "is not an option (see --help)");
}

static bool read_options(int argc, char** argv, Study* study, SceneList* scenes) {
  for (int i = 1; i < argc; i++) {
    if (argv[i][0] != '-') {
      if (!scenes_add_file(scenes, argv[i])) {
        return false;
      }
    } else if (i + 1 == argc) {
      return wrong(argv[i], "is not an option, or lacks its value (see --help)");
    } else if (!read_valued(study, argv[i], argv[i + 1])) {
      return false;
    } else {
      i++;
    }
  }
  const char* data = getenv("NOLI_DATA");
  if (study->suite != NULL &&
      (!suite_collect(study->suite, data != NULL ? data : BENCH_DATA, scenes) ||
       !scenes_filter(scenes, study->part, study->n_parts))) {
    return false;
  }
  if (study->n_variants == 0) {
    memcpy(study->variant, usual, sizeof usual);
    study->n_variants = N_USUAL;
  }
  return scenes->count > 0 ? true : wrong("no scene", "given (see --help)");
}

int main(int argc, char** argv) {
  Study study = {.from = -1, .n_threads = 1, .reference = reference};
  SceneList scenes = {0};
  if (argc == 2 && strcmp(argv[1], "--help") == 0) {
    help();
    return 0;
  }
  bool good = read_options(argc, argv, &study, &scenes);
  int failure = good ? 1 : 2;
  if (good && study.csv != NULL) {
    fprintf(study.csv, "scene,variant,iterations,seconds,position,largest,energy,momentum,"
                       "friction,contact\n");
  }
  // finished scenes are printed while others run
  setvbuf(stdout, NULL, _IOLBF, 4096);
  for (int32_t i = 0; good && i < scenes.count; i++) {
    good = study_scene(&study, &scenes.data[i]);
  }
  if (study.csv != NULL) {
    good = fclose(study.csv) == 0 && good;
  }
  scenes_free(&scenes);
  return good ? 0 : failure;
}
