#define _POSIX_C_SOURCE 200809L
#include "commands.h"
#include "console.h"
#include "design_picture.h"
#include "directory.h"
#include "load.h"
#include "overrides.h"

#include "noli/extend.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DESIGN_OUTPUT, DESIGN_RESUME, DESIGN_CHECK, DESIGN_THREADS, DESIGN_SET, N_DESIGN_OPTIONS };

static const Option design_options[] = {
    [DESIGN_OUTPUT] = {"output", 'o', OPTION_TEXT, "DIR",
                       "directory for the history and the best scene (default: NAME_design)", 0, 0},
    [DESIGN_RESUME] = {"resume", 0, OPTION_FLAG, NULL,
                       "go on with the search whose history is in the directory", 0, 0},
    [DESIGN_CHECK] = {"check", 0, OPTION_FLAG, NULL,
                      "compare the gradient at the start with differences, and end", 0, 0},
    [DESIGN_THREADS] = {"threads", 0, OPTION_INTEGER, "N", "use N threads (default 0: all cores)",
                        0, 1024},
    [DESIGN_SET] = OVERRIDES_OPTION,
};

enum { PATH_SIZE = 4096, NAME_SIZE = 160 };

// Columns of history.csv before those of functions and variables.
#define FIXED_COLUMNS "evaluation,status,best,violation,slope,residual_error,at_yield"
enum { N_FIXED = 7 };

typedef struct Search {
  NoliContext* context; // without a log
  const NoliScene* scene;
  NoliDesign* design;
  const char* directory;
  int32_t n;     // variables
  int32_t m;     // functions
  FILE* history; // open while the search runs
  FILE* gradients;
  double* best;       // (n)
  SearchPoint* point; // (n_runs) of max_evaluations
  int32_t n_runs;
  int64_t at_yield;  // largest of all gradients
  NoliStatus status; // of files
} Search;

// Prints on the first rank.
static void say(const char* format, ...) NOLI_PRINTF(1, 2);
static void say(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char text[4096];
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (console_is_first()) {
    print("%s", text);
  }
}

static void path_in(const Search* search, const char* file, char path[PATH_SIZE]) {
  snprintf(path, PATH_SIZE, "%s/%s", search->directory, file);
}

// ---- tables -------------------------------------------------------------------------------------

// A column: quotation marks and commas are left out.
static void print_column(FILE* file, const char* name) {
  fputc(',', file);
  for (const char* c = name; *c != '\0'; c++) {
    fputc(*c == ',' || *c == '"' || *c == '\n' ? '_' : *c, file);
  }
}

static void print_variables(const Search* search, FILE* file) {
  char name[NAME_SIZE];
  for (int32_t i = 0; i < search->n; i++) {
    noli_design_variable_name(search->design, i, name, sizeof name);
    print_column(file, name);
  }
  fputc('\n', file);
}

static void print_heads(const Search* search) {
  fputs(FIXED_COLUMNS, search->history);
  for (int32_t k = 0; k < search->m; k++) {
    print_column(search->history, noli_design_function_name(search->design, k));
  }
  print_variables(search, search->history);
  fprintf(search->gradients, "evaluation,function");
  print_variables(search, search->gradients);
}

static void print_numbers(FILE* file, const double* number, int32_t n) {
  for (int32_t i = 0; i < n; i++) {
    if (number != NULL) {
      fprintf(file, ",%.17g", number[i]);
    } else {
      fputc(',', file);
    }
  }
}

static void print_run(const Search* search, const NoliDesignRun* run) {
  fprintf(search->history, "%d,%d,%d", (int)run->evaluation, (int)run->status, run->best ? 1 : 0);
  const double rest[] = {run->violation, run->slope, run->residual_error, (double)run->at_yield};
  print_numbers(search->history, run->value != NULL ? rest : NULL, N_FIXED - 3);
  print_numbers(search->history, run->value, search->m);
  print_numbers(search->history, run->variable, search->n);
  fputc('\n', search->history);
  for (int32_t k = 0; k < search->m && run->gradient != NULL; k++) {
    fprintf(search->gradients, "%d,%d", (int)run->evaluation, (int)k);
    print_numbers(search->gradients, run->gradient + (int64_t)k * search->n, search->n);
    fputc('\n', search->gradients);
  }
}

// The first rank writes them, others into nothing.
static NoliStatus open_tables(Search* search) {
  char path[PATH_SIZE];
  struct {
    const char* name;
    FILE** file;
  } tables[] = {{"history.csv", &search->history}, {"gradients.csv", &search->gradients}};
  for (size_t k = 0; k < 2; k++) {
    path_in(search, tables[k].name, path);
    if (!console_is_first()) {
      snprintf(path, sizeof path, "/dev/null");
    }
    *tables[k].file = fopen(path, "w");
    if (*tables[k].file == NULL) {
      return noli_fail(search->context, NOLI_ERROR_IO, "%s: %s", path, strerror(errno));
    }
  }
  print_heads(search);
  return NOLI_OK;
}

static NoliStatus close_tables(Search* search) {
  bool failed = false;
  FILE* files[2] = {search->history, search->gradients};
  for (size_t k = 0; k < 2; k++) {
    failed = failed || (files[k] != NULL && ferror(files[k]) != 0);
    failed = (files[k] != NULL && fclose(files[k]) != 0) || failed;
  }
  search->history = search->gradients = NULL;
  return failed ? noli_fail(search->context, NOLI_ERROR_IO, "%s: a table cannot be written",
                            search->directory)
                : NOLI_OK;
}

// ---- resume -------------------------------------------------------------------------------------

// The numbers of a row behind `skip` fields, (n); false: there are fewer.
static bool read_row(const char* line, int32_t skip, int32_t n, double* number) {
  const char* at = line;
  for (int32_t i = 0; i < skip; i++) {
    at = strchr(at, ',');
    if (at == NULL) {
      return false;
    }
    at++;
  }
  for (int32_t i = 0; i < n; i++) {
    char* end = NULL;
    number[i] = strtod(at, &end);
    if (end == at || (*end != (i + 1 < n ? ',' : '\n') && *end != '\0' && *end != '\r')) {
      return false;
    }
    at = end + 1;
  }
  return true;
}

// Takes the gradients of an evaluation, (m x n), from the lines at `*at`; false: they are not all
// there.
static bool read_gradient(const Search* search, char** at, int32_t evaluation, double* gradient) {
  for (int32_t k = 0; k < search->m; k++) {
    char* next = *at != NULL ? strchr(*at, '\n') : NULL;
    if (next == NULL || strtol(*at, NULL, 10) != evaluation ||
        !read_row(*at, 2, search->n, gradient + (int64_t)k * search->n)) {
      return false;
    }
    *at = next + 1;
  }
  return true;
}

// Reads the tables as text.
static NoliStatus read_table(const Search* search, const char* name, char** text) {
  NoliStatus status = NOLI_OK;
  char path[PATH_SIZE];
  size_t size = 0;
  path_in(search, name, path);
  FILE* file = fopen(path, "r");
  NOLI_CHECK(search->context, file != NULL, NOLI_ERROR_IO, "%s: %s: there is no search to resume",
             path, strerror(errno));
  NOLI_TRY(load_text(search->context, file, path, text, &size));
done:
  if (file != NULL) {
    fclose(file);
  }
  return status;
}

static NoliStatus remember_rows(const Search* search, char* history, char* gradients,
                                double* number, int32_t* n_runs) {
  NoliStatus status = NOLI_OK;
  int32_t n = search->n, m = search->m;
  char* line = strchr(history, '\n');
  char* gradient_line = strchr(gradients, '\n');
  gradient_line = gradient_line != NULL ? gradient_line + 1 : NULL;

  // a line that was cut off ends the history
  for (line = line != NULL ? line + 1 : NULL; line != NULL && strchr(line, '\n') != NULL;
       line = strchr(line, '\n') + 1) {
    NoliDesignRun run = {.evaluation = (int32_t)strtol(line, NULL, 10), .variable = number};
    const char* comma = strchr(line, ',');
    run.status = comma != NULL ? (NoliStatus)strtol(comma + 1, NULL, 10) : NOLI_ERROR_FORMAT;
    bool whole = read_row(line, N_FIXED + m, n, number);
    if (whole && run.status == NOLI_OK) {
      double *quality = number + n, *value = quality + 2, *gradient = value + m;
      whole = read_row(line, N_FIXED - 2, 2 + m + n, quality) &&
              read_gradient(search, &gradient_line, run.evaluation, gradient);
      run.residual_error = quality[0];
      run.at_yield = (int64_t)quality[1];
      run.value = value;
      run.gradient = gradient;
    }
    if (!whole) {
      break;
    }
    NOLI_TRY(noli_design_remember(search->design, &run));
    ++*n_runs;
  }
done:
  return status;
}

static NoliStatus remember(const Search* search) {
  NoliStatus status = NOLI_OK;
  char *history = NULL, *gradients = NULL;
  double* number = NULL;
  int32_t n_runs = 0;
  int64_t n = search->n, m = search->m;
  NOLI_TRY(read_table(search, "history.csv", &history));
  NOLI_TRY(read_table(search, "gradients.csv", &gradients));
  NOLI_CHECK(search->context, strncmp(history, FIXED_COLUMNS ",", strlen(FIXED_COLUMNS ",")) == 0,
             NOLI_ERROR_FORMAT,
             "%s/history.csv: not a history of this version of noli, whose first columns are "
             "%s: search again without --resume",
             search->directory, FIXED_COLUMNS);
  NOLI_NEW(search->context, number, n + 2 + m + (m + 1) * n);
  NOLI_TRY(remember_rows(search, history, gradients, number, &n_runs));
  say("resumed: %d evaluations are known\n", (int)n_runs);
done:
  noli_free(search->context, history);
  noli_free(search->context, gradients);
  noli_free(search->context, number);
  return status;
}

// The text of all that must not change between a search and its continuation: all but the limits of
// the search. Released with free; NULL: no JSON, or no memory.
static char* essence(const char* text) {
  json_t* root = json_loads(text, 0, NULL);
  json_t* design = json_object_get(root, "design");
  static const char* const limits[] = {"evaluations", "tolerance", "enough"};
  for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
    (void)json_object_del(design, limits[k]);
  }
  (void)json_object_del(root, "output");
  char* made = json_dumps(root, 0);
  json_decref(root);
  return made;
}

// The scene must be the one beside the tables.
static NoliStatus compare_scene(const Search* search, const char* text) {
  NoliStatus status = NOLI_OK;
  char *old = NULL, *now = NULL, *before = NULL;
  bool same = false;
  NOLI_TRY(read_table(search, "scene.json", &old));
  now = essence(text);
  before = essence(old);
  if (now != NULL && before != NULL) {
    NOLI_TRY(noli_scene_is_same(search->context, now, before, &same));
  }
  NOLI_CHECK(search->context, same, NOLI_ERROR_ARGUMENT,
             "%s/scene.json: another scene than this one: a search can be resumed only with other "
             "evaluations, tolerance or enough",
             search->directory);
done:
  free(now);
  free(before);
  noli_free(search->context, old);
  return status;
}

// Makes the directory and keeps the scene there; where a search is resumed, all ranks have read
// what it left before the first one writes.
static NoliStatus take_directory(const Search* search, bool resume) {
  NoliStatus status = NOLI_OK;
  char path[PATH_SIZE];
  char* text = NULL;
  NOLI_TRY(make_directory(search->context, search->directory));
  NOLI_TRY(noli_scene_json_in(search->scene, search->directory, &text));
  if (resume) {
    NOLI_TRY(compare_scene(search, text));
    NOLI_TRY(remember(search));
  }
done:
  status = noli_ranks_agree(search->context, status);
  if (status == NOLI_OK && console_is_first()) {
    path_in(search, "scene.json", path);
    status = noli_output_write_text(search->context, path, text);
  }
  noli_scene_free_text(search->context, &text);
  return status;
}

// ---- search -------------------------------------------------------------------------------------

static NoliStatus write_best(const Search* search) {
  char path[PATH_SIZE];
  if (!console_is_first()) {
    return NOLI_OK;
  }
  path_in(search, "best.json", path);
  return noli_output_write_design(search->context, search->scene, search->design, search->best,
                                  path);
}

static NoliStatus draw_history(const Search* search) {
  char path[PATH_SIZE], title[256];
  if (!console_is_first()) {
    return NOLI_OK;
  }
  path_in(search, "history.svg", path);
  snprintf(title, sizeof title, "%.120s: objective of %d runs", noli_scene_name(search->scene),
           (int)search->n_runs);
  return draw_search(search->context, path, title, search->point, search->n_runs);
}

static bool watch(void* user, const NoliDesignRun* run) {
  Search* search = user;
  print_run(search, run);
  fflush(search->history);
  fflush(search->gradients);
  if (run->status != NOLI_OK) {
    say("%5d  failed: %s\n", (int)run->evaluation,
        run->remembered ? noli_status_text(run->status) : noli_context_message(search->context));
  } else {
    say("%5d  %-14.8g  %-10.3g  %-10.3g  %-7.1e%s%s\n", (int)run->evaluation, run->value[0],
        run->violation, run->slope, run->residual_error, run->best ? "  best" : "",
        run->remembered ? "  known" : "");
    search->at_yield = run->at_yield > search->at_yield ? run->at_yield : search->at_yield;
  }

  fflush(stdout);
  if (search->n_runs < noli_scene_design(search->scene)->max_evaluations) {
    search->point[search->n_runs++] =
        (SearchPoint){.objective = run->value != NULL ? run->value[0] : (double)NAN,
                      .best = run->best,
                      .feasible = run->feasible};
  }

  if (run->best) {
    memcpy(search->best, run->variable, sizeof(double) * (size_t)search->n);
    search->status = write_best(search);
    if (search->status == NOLI_OK) {
      search->status = draw_history(search);
    }
  }

  search->status = noli_ranks_agree(search->context, search->status);
  return search->status == NOLI_OK;
}

static void print_yield(int64_t at_yield) {
  if (at_yield > 0) {
    say("up to %" PRId64 " points at yield, where derivatives are those of one side\n", at_yield);
  }
}

static void print_result(const Search* search, const NoliDesignResult* result) {
  char name[NAME_SIZE];
  say("\n%s after %d evaluations, %d of them failed: objective %.9g", result->reason,
      (int)result->evaluations, (int)result->failures, result->objective);
  if (search->m > 1) {
    say(", violation %.3g", result->violation);
  }
  say("\n");
  print_yield(search->at_yield);
  for (int32_t i = 0; i < search->n && i < 12; i++) {
    noli_design_variable_name(search->design, i, name, sizeof name);
    say("  %-32s %.9g\n", name, search->best[i]);
  }
  if (search->n > 12) {
    say("  and %d more in history.csv\n", (int)search->n - 12);
  }
  say("best scene: %s/best.json\n", search->directory);
}

static NoliStatus run_search(Search* search, bool resume) {
  NoliStatus status = NOLI_OK;
  NoliDesignResult result = {0};
  NOLI_TRY(take_directory(search, resume));
  NOLI_TRY(noli_ranks_agree(search->context, open_tables(search)));
  say("%d variables, %d constraints\n\n", (int)search->n, (int)search->m - 1);
  say(" eval  objective       violation   slope       error\n");
  NOLI_TRY(noli_design_search(search->design, watch, search, search->best, &result));
  NOLI_TRY(search->status);
  NOLI_TRY(close_tables(search));
  NOLI_TRY(write_best(search));
  NOLI_TRY(draw_history(search));
  print_result(search, &result);
done:
  (void)close_tables(search);
  return status;
}

// ---- check --------------------------------------------------------------------------------------

// The best of central differences with several steps, for function 0 by variable i.
static NoliStatus difference(const Search* search, double* z, int32_t i, double range, double want,
                             double* value, double* best) {
  NoliStatus status = NOLI_OK;
  double keep = z[i];
  *best = INFINITY;
  for (double step = 1e-3; step > 1e-7; step *= 0.1) {
    double h = step * range, side[2];
    for (int s = 0; s < 2; s++) {
      z[i] = keep + (s == 0 ? h : -h);
      NOLI_TRY(noli_design_evaluate(search->design, z, value, NULL));
      side[s] = value[0];
    }
    double slope = (side[0] - side[1]) / (2.0 * h);
    *best = fabs(slope - want) < fabs(*best - want) ? slope : *best;
  }
done:
  z[i] = keep;
  return status;
}

// Differences have no backward run.
static void print_cost(const NoliGradientReport* report) {
  if (report->forward > 0.0) {
    say("run %.3g s, derivatives %.3g s: %.2f of it; %.3g MB of states, %" PRId64
        " steps computed again\n",
        report->forward, report->backward, report->backward / report->forward,
        1e-6 * (double)report->bytes, report->recomputed);
  }
}

static NoliStatus check_gradient(const Search* search) {
  NoliStatus status = NOLI_OK;
  int32_t n = search->n;
  double *z = NULL, *low = NULL, *high = NULL, *value = NULL, *gradient = NULL;
  char name[NAME_SIZE];
  NOLI_NEW(search->context, z, n);
  NOLI_NEW(search->context, low, n);
  NOLI_NEW(search->context, high, n);
  NOLI_NEW(search->context, value, search->m);
  NOLI_NEW(search->context, gradient, search->m * (int64_t)n);
  noli_design_range(search->design, z, low, high);
  NOLI_TRY(noli_design_evaluate(search->design, z, value, gradient));
  NoliGradientReport report = noli_design_report(search->design);
  say("objective %.12g, residual error %.1e\n", value[0], report.residual_error);
  print_cost(&report);
  print_yield(report.at_yield);
  say("\n%-32s  %-16s  %-16s  relative error\n", "variable", "derivative", "difference");

  for (int32_t i = 0; i < n; i++) {
    double want = gradient[i], got = 0.0;
    NOLI_TRY(difference(search, z, i, high[i] - low[i], want, value, &got));
    noli_design_variable_name(search->design, i, name, sizeof name);
    say("%-32s  %-16.9g  %-16.9g  %.1e\n", name, want, got,
        fabs(got - want) / fmax(fabs(want), 1e-300));
  }
done:
  noli_free(search->context, z);
  noli_free(search->context, low);
  noli_free(search->context, high);
  noli_free(search->context, value);
  noli_free(search->context, gradient);
  return status;
}

// ---- the command --------------------------------------------------------------------------------

// A context without a log: every run would repeat the messages of the first one.
static NoliContext* quiet_context(const OptionValue* option) {
  NoliContext* context = NULL;
  NoliContextDef def = noli_default_context_def();
  def.n_threads = (int32_t)option[DESIGN_THREADS].integer;
  def.ranks = console_ranks();
  return noli_context_create(&def, &context) == NOLI_OK ? context : NULL;
}

// Says what there is to say about the start of the scene.
static NoliStatus try_start(NoliContext* context, const NoliScene* scene) {
  NoliSim* sim = NULL;
  NoliStatus status = noli_sim_create(context, noli_scene_sim_def(scene), &sim);
  noli_sim_destroy(&sim);
  return status;
}

static NoliStatus find_design(Search* search, const OptionValue* option) {
  NoliStatus status = NOLI_OK;
  NoliSim* sim = NULL;
  const NoliDesignDef* def = noli_scene_design(search->scene);
  NoliSimDef whole = *noli_scene_sim_def(search->scene);
  whole.whole_elements = true;
  NOLI_TRY(noli_sim_create(search->context, &whole, &sim));
  NOLI_TRY(noli_design_create(sim, def, &search->design));
  search->n = noli_design_count(search->design);
  search->m = noli_design_function_count(search->design);
  NOLI_NEW_ZERO(search->context, search->best, search->n);
  NOLI_NEW(search->context, search->point, def->max_evaluations);
  NOLI_TRY(option[DESIGN_CHECK].given ? check_gradient(search)
                                      : run_search(search, option[DESIGN_RESUME].given));
done:
  noli_free(search->context, search->best);
  noli_free(search->context, search->point);
  noli_design_destroy(&search->design);
  noli_sim_destroy(&sim);
  return status;
}

static int search_scene(Console* console, NoliContext* context, const NoliScene* scene,
                        const OptionValue* option) {
  char own[PATH_SIZE];
  if (noli_scene_design(scene) == NULL) {
    return console_fail(
        console, context,
        noli_fail(context, NOLI_ERROR_ARGUMENT,
                  "the scene \"%s\" has no design: a key \"design\" says what varies and what is "
                  "wanted",
                  noli_scene_name(scene)));
  }

  NoliStatus status = try_start(context, scene);
  if (status != NOLI_OK) {
    return console_fail(console, context, status);
  }
  NoliContext* quiet = quiet_context(option);
  if (quiet == NULL) {
    return EXIT_SYSTEM;
  }
  snprintf(own, sizeof own, "%.4000s_design", noli_scene_name(scene));
  Search search = {.context = quiet,
                   .scene = scene,
                   .directory = option[DESIGN_OUTPUT].given ? option[DESIGN_OUTPUT].text : own};
  status = noli_ranks_agree(quiet, find_design(&search, option));
  int exit_status = status == NOLI_OK ? EXIT_DONE : console_fail(console, quiet, status);
  noli_context_destroy(&quiet);
  return exit_status;
}

static int load_and_search(Console* console, const OptionValue* option, const char* path,
                           const Overrides* overrides) {
  NoliScene* scene = NULL;
  NoliContext* context = console_context(console, (int32_t)option[DESIGN_THREADS].integer);
  if (context == NULL) {
    return EXIT_SYSTEM;
  }
  NoliStatus status = noli_ranks_agree(context, load_scene(context, path, overrides, &scene));
  int exit_status = status == NOLI_OK ? search_scene(console, context, scene, option)
                                      : console_fail(console, context, status);
  noli_scene_destroy(&scene);
  noli_context_destroy(&context);
  return exit_status;
}

static int design(const Arguments* arguments) {
  Console console = {0};
  Overrides overrides = {0};
  int exit_status = overrides_read(&console, &arguments->option[DESIGN_SET], &overrides);
  if (exit_status == EXIT_DONE) {
    exit_status = load_and_search(&console, arguments->option, arguments->argument[0], &overrides);
  }
  overrides_free(&overrides);
  return exit_status;
}

const Command command_design = {
    .name = "design",
    .usage = "SCENE",
    .summary = "Search for the parameters that a scene's design asks for.",
    .details =
        "Simulates the scene with other parameters until its objective is smallest, and writes to\n"
        "the directory history.csv (a row for each run), its picture history.svg,\n"
        "gradients.csv, scene.json, and best.json, the scene with the best parameters:\n"
        "`noli run DIR/best.json` shows it. A search that was interrupted goes on with --resume\n"
        "and takes the same way as one that was not.\n"
        "docs/howto/design_problems.md describes the key \"design\".",
    .n_arguments = 1,
    .options = design_options,
    .n_options = N_DESIGN_OPTIONS,
    .on_ranks = true,
    .run = design,
};
