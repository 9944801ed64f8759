#include "commands.h"
#include "console.h"
#include "directory.h"
#include "load.h"
#include "overrides.h"

#include "noli/extend.h"
#include "noli/live.h"

#include <math.h>

enum { MODES_COUNT, MODES_OUTPUT, MODES_CHECKPOINT, MODES_THREADS, MODES_SET, N_MODES_OPTIONS };

enum { DEFAULT_COUNT = 10, MOST = 10000, ROW = 160 };

static const Option modes_options[] = {
    [MODES_COUNT] = {"count", 'n', OPTION_INTEGER, "N", "number of modes (default 10)", 1, MOST},
    [MODES_OUTPUT] = {"output", 'o', OPTION_TEXT, "DIR",
                      "directory for modes.csv and a frame of each mode (default: none)", 0, 0},
    [MODES_CHECKPOINT] = {"checkpoint", 0, OPTION_TEXT, "FILE",
                          "about the state of a checkpoint, not the start of the scene", 0, 0},
    [MODES_THREADS] = {"threads", 0, OPTION_INTEGER, "N", "use N threads (default 0: all cores)", 0,
                       1024},
    [MODES_SET] = OVERRIDES_OPTION,
};

// The modes of a simulation.
typedef struct Modes {
  NoliSim* sim;
  int32_t n;
  double* frequency; // (n)
  double* shape;     // (n x nodes x 3)
} Modes;

static double* shape_of(const Modes* modes, int32_t mode) {
  return modes->shape + mode * 3 * (int64_t)noli_sim_node_count(modes->sim);
}

// kg that move in direction `axis` with a mode: its share in the response to a shaking support.
static double effective_mass(const Modes* modes, int32_t mode, int axis) {
  const double *mass = noli_sim_masses(modes->sim), *shape = shape_of(modes, mode);
  double momentum = 0.0;
  for (int64_t i = 0; i < noli_sim_node_count(modes->sim); i++) {
    momentum += mass[i] * shape[3 * i + axis];
  }
  return momentum * momentum;
}

static void print_modes(const Modes* modes, const char* scene) {
  int32_t n_rigid = 0, n_unstable = 0;
  print("scene \"%s\": modes about the state at t = %g s, without contact, friction and "
        "damping\n\nmode  frequency, Hz\n",
        scene, noli_sim_time(modes->sim));
  for (int32_t i = 0; i < modes->n; i++) {
    double f = modes->frequency[i];
    n_rigid += f == 0.0 ? 1 : 0;
    n_unstable += f < 0.0 ? 1 : 0;
    print("%4d  %-13.7g%s\n", (int)i + 1, f,
          f == 0.0  ? "  no stiffness"
          : f < 0.0 ? "  unstable"
                    : "");
  }
  print("\n");
  if (n_rigid > 0) {
    print("%d without stiffness: rigid motions of free bodies, or mechanisms\n", (int)n_rigid);
  }
  if (n_unstable > 0) {
    print("%d unstable: without contact, this state is not a stable equilibrium\n",
          (int)n_unstable);
  }
}

static NoliStatus write_table(NoliContext* context, const Modes* modes, const char* directory) {
  NoliStatus status = NOLI_OK;
  char path[4096 + 32];
  char* text = NULL;
  size_t size = (size_t)(modes->n + 1) * ROW, length;
  NOLI_NEW(context, text, (int64_t)size);
  length = (size_t)snprintf(text, size,
                            "mode,frequency,effective_mass_x,effective_mass_y,"
                            "effective_mass_z\n");
  for (int32_t i = 0; i < modes->n; i++) {
    length += (size_t)snprintf(text + length, size - length, "%d,%.17g,%.9g,%.9g,%.9g\n",
                               (int)i + 1, modes->frequency[i], effective_mass(modes, i, 0),
                               effective_mass(modes, i, 1), effective_mass(modes, i, 2));
  }
  snprintf(path, sizeof path, "%s/modes.csv", directory);
  NOLI_TRY(noli_output_write_text(context, path, text));
done:
  noli_free(context, text);
  return status;
}

// Frames of the state, with the shape of a mode, scaled to a largest length of 1, as velocity.
static NoliStatus write_frames(NoliContext* context, const Modes* modes, const NoliSimDef* def,
                               const char* directory) {
  NoliStatus status = NOLI_OK;
  char path[4096 + 32];
  for (int32_t i = 0; i < modes->n; i++) {
    double *shape = shape_of(modes, i), largest = 0.0;
    int64_t n = noli_sim_node_count(modes->sim);
    for (int64_t k = 0; k < n; k++) {
      largest = fmax(largest, hypot(hypot(shape[3 * k], shape[3 * k + 1]), shape[3 * k + 2]));
    }
    for (int64_t k = 0; k < 3 * n; k++) {
      shape[k] /= largest;
    }
    NOLI_TRY(noli_sim_set_state(modes->sim, noli_sim_positions(modes->sim), shape));
    snprintf(path, sizeof path, "%s/mode_%06d.vtu", directory, (int)i + 1);
    NOLI_TRY(noli_output_write_vtu(context, modes->sim, def, path));
  }
done:
  return status;
}

static NoliStatus write_modes(NoliContext* context, const Modes* modes, const NoliSimDef* def,
                              const char* directory) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(make_directory(context, directory));
  NOLI_TRY(write_table(context, modes, directory));
  NOLI_TRY(write_frames(context, modes, def, directory));
done:
  return status;
}

static NoliStatus find_modes(NoliContext* context, const NoliScene* scene,
                             const OptionValue* option) {
  NoliStatus status = NOLI_OK;
  const NoliSimDef* def = noli_scene_sim_def(scene);
  Modes modes = {.n = option[MODES_COUNT].given ? (int32_t)option[MODES_COUNT].integer
                                                : DEFAULT_COUNT};
  NOLI_TRY(noli_sim_create(context, def, &modes.sim));
  if (option[MODES_CHECKPOINT].given) {
    NOLI_TRY(noli_checkpoint_load(context, modes.sim, option[MODES_CHECKPOINT].text));
  }
  NOLI_NEW(context, modes.frequency, modes.n);
  NOLI_NEW(context, modes.shape, modes.n * 3 * (int64_t)noli_sim_node_count(modes.sim));
  NOLI_TRY(noli_sim_modes(modes.sim, modes.n, modes.frequency, modes.shape));
  print_modes(&modes, noli_scene_name(scene));
  if (option[MODES_OUTPUT].given) {
    NOLI_TRY(write_modes(context, &modes, def, option[MODES_OUTPUT].text));
  }
done:
  noli_sim_destroy(&modes.sim);
  noli_free(context, modes.frequency);
  noli_free(context, modes.shape);
  return status;
}

static int load_and_find(Console* console, const OptionValue* option, const char* path,
                         const Overrides* overrides) {
  NoliScene* scene = NULL;
  NoliContext* context = console_context(console, (int32_t)option[MODES_THREADS].integer);
  if (context == NULL) {
    return EXIT_SYSTEM;
  }
  NoliStatus status = load_scene(context, path, overrides, &scene);
  if (status == NOLI_OK) {
    status = find_modes(context, scene, option);
  }
  int exit_status = status == NOLI_OK ? EXIT_DONE : console_fail(console, context, status);
  noli_scene_destroy(&scene);
  noli_context_destroy(&context);
  return exit_status;
}

static int modes(const Arguments* arguments) {
  Console console = {0};
  Overrides overrides = {0};
  int exit_status = overrides_read(&console, &arguments->option[MODES_SET], &overrides);
  if (exit_status == EXIT_DONE) {
    exit_status = load_and_find(&console, arguments->option, arguments->argument[0], &overrides);
  }
  overrides_free(&overrides);
  return exit_status;
}

const Command command_modes = {
    .name = "modes",
    .usage = "SCENE",
    .summary = "Find natural frequencies and shapes of vibration.",
    .details =
        "Prints the lowest frequencies about the start of the scene, or about the state of a\n"
        "checkpoint: 0 for rigid motions of free bodies, negative where the state is unstable.\n"
        "Prescribed vertices are held; contact, friction and damping are left out. With -o, each\n"
        "mode_NNNNNN.vtu has the shape of a mode, of length 1 at most, as its velocity.",
    .n_arguments = 1,
    .options = modes_options,
    .n_options = N_MODES_OPTIONS,
    .run = modes,
};
