#include "commands.h"
#include "console.h"
#include "describe.h"
#include "directory.h"
#include "load.h"
#include "overrides.h"

#include <inttypes.h>
#include <string.h>

enum {
  CHECK_OUTPUT,
  CHECK_DEFECTS,
  CHECK_VIEW,
  CHECK_REPAIR,
  CHECK_SETTLE,
  CHECK_ALL,
  CHECK_THREADS,
  CHECK_SET,
  N_CHECK_OPTIONS
};

static const Option check_options[] = {
    [CHECK_OUTPUT] = {"output", 'o', OPTION_TEXT, "FILE",
                      "file that shows the defects; with --view the page (default check.html); "
                      "with --repair or --settle the scene that is written",
                      0, 0},
    [CHECK_DEFECTS] = {"defects", 0, OPTION_FLAG, NULL,
                       "show the defects in out/NAME/defects.vtu, beside the results of the scene",
                       0, 0},
    [CHECK_VIEW] = {"view", 0, OPTION_FLAG, NULL, "write a page that shows the scene in a browser",
                    0, 0},
    [CHECK_REPAIR] = {"repair", 0, OPTION_FLAG, NULL,
                      "move bodies apart and write a scene that runs", 0, 0},
    [CHECK_SETTLE] =
        {"settle", 0, OPTION_FLAG, NULL,
         "move bodies apart until all gaps reach the contact distance, and write a scene", 0, 0},
    [CHECK_ALL] = {"all", 0, OPTION_FLAG, NULL, "list all defects, not the first 20", 0, 0},
    [CHECK_THREADS] = {"threads", 0, OPTION_INTEGER, "N", "use N threads (default 0: all cores)", 0,
                       1024},
    [CHECK_SET] = OVERRIDES_OPTION,
};

// The construction of the simulation rejects errors that the search for defects does not cover.
static int try_to_create(Console* console, NoliContext* context, const NoliSimDef* def) {
  NoliSim* sim = NULL;
  NoliStatus status = noli_sim_create(context, def, &sim);
  noli_sim_destroy(&sim);
  return status == NOLI_OK ? EXIT_DONE : console_fail(console, context, status);
}

// Defects that are listed without --all.
enum { LISTED = 20 };

// `path`: of the picture of the defects; NULL: there is none. `shown` says what shows them.
static int check_scene(Console* console, NoliContext* context, const NoliScene* scene, bool all,
                       const char* path, const char* shown) {
  const NoliSimDef* def = noli_scene_sim_def(scene);
  NoliStatus status = NOLI_OK;
  print("scene \"%s\": %" PRId64 " steps, %g s\n", noli_scene_name(scene),
        noli_scene_step_count(scene), noli_scene_duration(scene));
  describe_definition(def);

  // keeps lines of both streams in order
  fflush(stdout);
  describe_doubts(console, def);
  int64_t n = describe_defects(console, context, def, all ? INT64_MAX : LISTED, path, &status);
  if (n < 0) {
    return console_exit_status(status);
  }
  if (n > 0) {
    print("%" PRId64 " initial defects%s; %s\n", n,
          n > LISTED && !all ? ", of which the first 20 are listed (--all lists all)" : "", shown);
    return EXIT_BAD_INPUT;
  }

  status = noli_sim_check_conditions(context, def, noli_scene_step_count(scene));
  if (status != NOLI_OK) {
    return console_fail(console, context, status);
  }
  int exit_status = try_to_create(console, context, def);
  if (exit_status == EXIT_DONE && strcmp(def->contact_model, "implicit_surface") == 0) {
    print("ready to run: no inverted elements, %d warnings; contact with implicit surfaces does "
          "not guarantee that bodies stay apart\n",
          (int)console->n_warnings);
  } else if (exit_status == EXIT_DONE) {
    print("ready to run: no intersections, no inverted elements, %d warnings\n",
          (int)console->n_warnings);
  }
  return exit_status;
}

// Writes the page; messages about the scene have been printed, so a context of its own is quiet.
// Returns the status of the check, or that of the page if it cannot be written.
static int show_scene(Console* console, const NoliScene* scene, const OptionValue* option,
                      int checked) {
  NoliContext* quiet = NULL;
  const char* path = option[CHECK_OUTPUT].given ? option[CHECK_OUTPUT].text : "check.html";
  NoliStatus status = noli_context_create(NULL, &quiet);
  if (status == NOLI_OK) {
    status = noli_output_write_scene_page(quiet, scene, path);
  }
  if (status == NOLI_OK) {
    print("page: %s (open it in a browser)\n", path);
  } else {
    checked = console_fail(console, quiet, status);
  }
  noli_context_destroy(&quiet);
  return checked;
}

// Checks, and shows what was found in the files that the options ask for.
static int check_and_show(Console* console, NoliContext* context, const NoliScene* scene,
                          const OptionValue* option) {
  bool view = option[CHECK_VIEW].given;
  char directory[1024], beside[1100], shown[1200];
  const char* path = option[CHECK_OUTPUT].given && !view ? option[CHECK_OUTPUT].text : NULL;
  if (path == NULL && option[CHECK_DEFECTS].given) {
    result_directory(scene, directory, sizeof directory);
    snprintf(beside, sizeof beside, "%s/defects.vtu", directory);
    path = beside;
  }
  if (path != NULL) {
    snprintf(shown, sizeof shown, "%.1100s shows them", path);
  } else {
    snprintf(shown, sizeof shown, "%s",
             view ? "the page shows them" : "--view shows them in a page, --defects in a file");
  }
  int exit_status = check_scene(console, context, scene, option[CHECK_ALL].given, path, shown);
  return view ? show_scene(console, scene, option, exit_status) : exit_status;
}

// ---- repair ----

static void say_moves(const NoliSimDef* def, const NoliRepair* repair) {
  for (int32_t b = 0; b < repair->n_bodies; b++) {
    const NoliRepairMove* move = &repair->move[b];
    if (move->distance <= 0.0) {
      continue;
    }
    print("body \"%s\": moved %.4g m (%.3g l)", def->bodies[b].name, move->distance,
          move->distance / repair->length);
    if (move->deformation > 0.0) {
      print(", deformed by %.4g m (%.3g l)\n", move->deformation,
            move->deformation / repair->length);
    } else {
      print(" by (%.4g, %.4g, %.4g)\n", move->translation[0], move->translation[1],
            move->translation[2]);
    }
  }
}

static int repair_scene(Console* console, NoliContext* context, const NoliScene* scene, bool settle,
                        const char* path) {
  const NoliSimDef* def = noli_scene_sim_def(scene);
  NoliRepairDef repair_def = noli_default_repair_def();
  repair_def.settle = settle;
  NoliRepair repair = {0};
  int exit_status = EXIT_DONE;
  NoliStatus status = noli_sim_repair(context, def, &repair_def, &repair);
  if (status == NOLI_OK) {
    status = noli_output_write_repaired(context, scene, &repair, path);
  }
  if (status == NOLI_OK) {
    say_moves(def, &repair);
    if (repair.n_refused > 0) {
      print("%" PRId64 " ways through thin bodies refused: all stay on their sides\n",
            repair.n_refused);
    }
    print("%s: %" PRId64 " initial defects repaired, %d of %d bodies and obstacles moved%s; ready "
          "to run\n",
          path, repair.n_defects, (int)repair.n_moved, (int)repair.n_bodies,
          settle ? ", all gaps reach the contact distance" : "");
  } else {
    exit_status = console_fail(console, context, status);
  }

  noli_repair_free(context, &repair);
  return exit_status;
}

static int load_and_check(Console* console, const OptionValue* option, const char* path,
                          const Overrides* overrides) {
  NoliScene* scene = NULL;
  int exit_status;
  NoliContext* context = console_context(console, (int32_t)option[CHECK_THREADS].integer);
  if (context == NULL) {
    return EXIT_SYSTEM;
  }
  NoliStatus status = load_scene(context, path, overrides, &scene);
  bool repairs = option[CHECK_REPAIR].given || option[CHECK_SETTLE].given;
  if (status == NOLI_OK && repairs) {
    exit_status = repair_scene(console, context, scene, option[CHECK_SETTLE].given,
                               option[CHECK_OUTPUT].text);
  } else if (status == NOLI_OK) {
    exit_status = check_and_show(console, context, scene, option);
  } else {
    exit_status = console_fail(console, context, status);
  }
  noli_scene_destroy(&scene);
  noli_context_destroy(&context);
  return exit_status;
}

static int check(const Arguments* arguments) {
  Console console = {0};
  Overrides overrides = {0};
  const OptionValue* option = arguments->option;
  if ((option[CHECK_REPAIR].given || option[CHECK_SETTLE].given) && !option[CHECK_OUTPUT].given) {
    console_say(&console, NOLI_LOG_ERROR, "--repair and --settle need -o FILE, the scene to write");
    return EXIT_USAGE;
  }
  if ((option[CHECK_REPAIR].given || option[CHECK_SETTLE].given) && option[CHECK_VIEW].given) {
    console_say(
        &console, NOLI_LOG_ERROR,
        "--view is of a scene as it is: leave out --repair and --settle, and view what they write");
    return EXIT_USAGE;
  }
  int exit_status = overrides_read(&console, &option[CHECK_SET], &overrides);
  if (exit_status == EXIT_DONE) {
    exit_status = load_and_check(&console, option, arguments->argument[0], &overrides);
  }
  overrides_free(&overrides);
  return exit_status;
}

const Command command_check = {
    .name = "check",
    .usage = "SCENE",
    .summary = "Find all errors and defects in a scene.",
    .details =
        "Reads the scene and its meshes, warns about implausible units, and lists the places\n"
        "where surfaces intersect or touch, a body lies inside another one, or an element is\n"
        "inverted, with bodies, vertices, coordinates and distance: the first 20, and how many\n"
        "more there are of which bodies; all with --all. Exits with status 2 if it finds an error\n"
        "or defect. Writes files only if asked to: --defects or -o FILE shows all defects.\n"
        "\n"
        "With --view, writes a page: bodies and obstacles where they start, what is prescribed,\n"
        "loaded and probed, where motions lead, defects and gaps below the contact distance.\n"
        "\n"
        "With --repair -o NEW.json, bodies that intersect, touch or lie inside each other are\n"
        "moved apart by the smallest motion that is found, first as a whole, then by deforming;\n"
        "with --settle also those closer than the contact distance. Lists what moved, and exits\n"
        "with status 2 and the reason if it finds no way.",
    .n_arguments = 1,
    .options = check_options,
    .n_options = N_CHECK_OPTIONS,
    .run = check,
};
