#include "commands.h"
#include "console.h"
#include "describe.h"
#include "directory.h"
#include "load.h"
#include "overrides.h"
#include "simulate.h"

enum {
  RUN_OUTPUT,
  RUN_STEPS,
  RUN_THREADS,
  RUN_SET,
  RUN_PETSC,
  RUN_FORCE,
  RUN_QUIET,
  RUN_VIEW,
  N_RUN_OPTIONS
};

static const Option run_options[] = {
    [RUN_OUTPUT] = {"output", 'o', OPTION_TEXT, "DIR",
                    "result directory (default out/NAME of the "
                    "scene)",
                    0, 0},
    [RUN_STEPS] = {"steps", 0, OPTION_INTEGER, "N", "do N steps instead of those of the scene", 1,
                   1000000000},
    [RUN_THREADS] = {"threads", 0, OPTION_INTEGER, "N", "use N threads (default 0: all cores)", 0,
                     1024},
    [RUN_SET] = OVERRIDES_OPTION,
    [RUN_PETSC] = {"petsc", 0, OPTION_TEXT, "OPTIONS",
                   "options of PETSc, for its linear solvers: \"-ksp_type gmres\"", 0, 0},
    [RUN_FORCE] = {"force", 'f', OPTION_FLAG, "", "replace an unfinished run in DIR", 0, 0},
    [RUN_QUIET] = {"quiet", 'q', OPTION_FLAG, "", "show only warnings and errors", 0, 0},
    [RUN_VIEW] = {"view", 0, OPTION_FLAG, "",
                  "write view.html in DIR, a page for the browser, while the run goes on", 0, 0},
};

// A start that is not possible is explained, place by place.
static void explain_start(Console* console, NoliContext* context, const NoliSimDef* def) {
  NoliStatus search;
  // lists the defects, or reports why it cannot search
  int64_t n = describe_defects(console, context, def, 10, NULL, &search);
  if (n >= 0) {
    console_say(console, NOLI_LOG_ERROR,
                "the scene cannot start: %lld initial defects; `noli check` has their list and "
                "shows them (--view), and moves bodies apart (--repair)",
                (long long)n);
  }
}

static NoliStatus run_scene(Console* console, NoliContext* context, const Arguments* arguments,
                            NoliScene* scene, int* exit_status) {
  const OptionValue* option = arguments->option;
  NoliSim* sim = NULL;
  NoliRun* run = NULL;
  char* json = NULL;
  char directory[1024];
  result_directory(scene, directory, sizeof directory);
  NoliStatus status = create_simulation(context, scene, &sim);
  if (status == NOLI_ERROR_INTERSECTION || status == NOLI_INVERTED_ELEMENT) {
    *exit_status = console_exit_status(status);
    explain_start(console, context, noli_scene_sim_def(scene));
    return NOLI_OK;
  }
  if (status != NOLI_OK) {
    goto done;
  }
  NOLI_TRY(noli_ranks_agree(context, noli_scene_json(scene, &json)));
  NoliRunDef run_def =
      run_definition(scene, json, option[RUN_OUTPUT].given ? option[RUN_OUTPUT].text : directory);
  run_def.replace_unfinished = option[RUN_FORCE].given;
  NOLI_TRY(noli_run_open(context, &run_def, sim, &run));
  int64_t n_steps =
      option[RUN_STEPS].given ? option[RUN_STEPS].integer : noli_scene_step_count(scene);
  *exit_status = simulate(console, context, scene, sim, run, n_steps, option[RUN_VIEW].given);
done:
  noli_run_close(&run);
  noli_scene_free_text(context, &json);
  noli_sim_destroy(&sim);
  return status;
}

static NoliStatus load_and_run(Console* console, NoliContext* context, const Arguments* arguments,
                               const Overrides* overrides, int* exit_status) {
  NoliStatus status = NOLI_OK;
  NoliScene* scene = NULL;
  NOLI_TRY(
      noli_ranks_agree(context, load_scene(context, arguments->argument[0], overrides, &scene)));
  NOLI_TRY(run_scene(console, context, arguments, scene, exit_status));
done:
  noli_scene_destroy(&scene);
  return status;
}

static int run(const Arguments* arguments) {
  const OptionValue* option = arguments->option;
  Console console = {.quiet = option[RUN_QUIET].given};
  Overrides overrides = {0};
  int exit_status = overrides_read(&console, &option[RUN_SET], &overrides);
  if (exit_status == EXIT_DONE && option[RUN_PETSC].given) {
    overrides.list[overrides.n++] = (NoliSceneOverride){"solver.petsc", option[RUN_PETSC].text};
  }
  if (exit_status == EXIT_DONE) {
    NoliContext* context = console_context(&console, (int32_t)option[RUN_THREADS].integer);
    NoliStatus status = NOLI_OK;
    exit_status = EXIT_SYSTEM;
    if (context != NULL) {
      status = load_and_run(&console, context, arguments, &overrides, &exit_status);
    }
    if (status != NOLI_OK) {
      exit_status = console_fail(&console, context, status);
    }
    noli_context_destroy(&context);
  }
  overrides_free(&overrides);
  return exit_status;
}

const Command command_run = {
    .name = "run",
    .usage = "SCENE",
    .summary = "Simulate a scene.",
    .details =
        "Writes frames.pvd (open it in ParaView), one row per step to steps.csv, forces\n"
        "between bodies to forces.csv, those of prescribed motions to reactions.csv, totals\n"
        "to summary.json, and checkpoint.h5, which `noli resume DIR` continues from.\n"
        "Replaces a finished run in DIR; replaces an unfinished one only with --force. SCENE\n"
        "`-` is standard input. Ctrl-C stops after the current step; a second Ctrl-C stops\n"
        "immediately.",
    .n_arguments = 1,
    .options = run_options,
    .n_options = N_RUN_OPTIONS,
    .run = run,
    .on_ranks = true,
};
