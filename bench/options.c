#include "options.h"

#include "generated.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void options_help(void) {
  puts("noli_bench [OPTIONS] [SCENE]...   measures contact scenes\n"
       "  SCENE            scene file: .txt .ipc (IPC), .json (PolyFEM, Noli); or generated:");
  generated_help(stdout);
  puts("  --suite NAME     public scenes (default, without files: paper); one of:");
  for (int32_t i = 0; suite_at(i) != NULL; i++) {
    printf("                     %-9s %s\n", suite_at(i)->name, suite_at(i)->what);
  }
  puts("  --scene PART     only these scenes of the suite (may be repeated); part of a name "
       "suffices\n"
       "  --set PATH=VALUE replaces a value of every scene, for example friction.coefficient=0.2\n"
       "  --steps N        steps of each scene (default: paper as many as the reference values\n"
       "                   cover, timestep all, public 50)\n"
       "  --seconds S      time limit for the steps of a scene (default: paper 60,\n"
       "                   timestep no limit, public 900, files no limit)\n"
       "  --threads N      default: one for each core\n"
       "  --full           every step of the scenes, without a limit unless --seconds is given\n"
       "  --json FILE      also writes the measurements to FILE after each scene\n"
       "  --compare FILE   prints the ratios to an older such file\n"
       "  --profile        also measures what each kind of work costs and how much of it threads\n"
       "                   share, for --work; wakes the clock often, so compare no times\n"
       "  --work FILE      runs nothing: prints such costs of a file of --json as Markdown\n"
       "  --markdown FILE  runs nothing: prints the tables of such a file as Markdown; with\n"
       "                   --compare a short table with ratios\n"
       "  --data DIR       directory of the public data (default: $NOLI_DATA, otherwise the one\n"
       "                   configured at build time)\n"
       "  --print          runs nothing: prints a generated scene, for `noli run`, which keeps "
       "frames\n"
       "  --list           lists the scenes");
}

static bool wrong(const char* option, const char* what) {
  fprintf(stderr, "noli_bench: %s %s\n", option, what);
  return false;
}

static bool read_number(const char* option, const char* text, double* number) {
  char* end = NULL;
  errno = 0;
  *number = strtod(text, &end);
  if (end == text || *end != '\0' || errno != 0 || !(*number > 0.0)) {
    return wrong(option, "needs a positive number");
  }
  return true;
}

static bool read_count(const char* option, const char* text, int32_t* count) {
  double number = 0.0;
  if (!read_number(option, text, &number)) {
    return false;
  }
  if (number > 1e9 || number != floor(number)) {
    return wrong(option, "needs an integer");
  }
  *count = (int32_t)number;
  return true;
}

static bool add_text(const char* what, const char* text, const char** list, int32_t* n) {
  if (*n == OPTION_ITEMS) {
    return wrong(what, "was given too often");
  }
  list[(*n)++] = text;
  return true;
}

static bool add_override(Options* options, char* text) {
  char* equals = strchr(text, '=');
  if (equals == NULL || equals == text) {
    return wrong("--set", "needs PATH=VALUE");
  }
  if (options->measure.n_overrides == USER_OVERRIDES) {
    return wrong("--set", "was given too often");
  }
  *equals = '\0';
  options->override[options->measure.n_overrides++] =
      (NoliSceneOverride){.path = text, .value = equals + 1};
  return true;
}

static bool read_suite(Options* options, const char* name) {
  options->suite = suite_find(name);
  return options->suite != NULL ? true : wrong(name, "is not a suite (see --help)");
}

static bool read_valued(Options* options, const char* option, char* value) {
  if (strcmp(option, "--suite") == 0) {
    return read_suite(options, value);
  }
  if (strcmp(option, "--scene") == 0) {
    return add_text(option, value, options->part, &options->n_parts);
  }
  if (strcmp(option, "--set") == 0) {
    return add_override(options, value);
  }
  if (strcmp(option, "--steps") == 0) {
    return read_count(option, value, &options->measure.steps);
  }
  if (strcmp(option, "--threads") == 0) {
    return read_count(option, value, &options->measure.n_threads);
  }
  if (strcmp(option, "--seconds") == 0) {
    return read_number(option, value, &options->measure.seconds);
  }
  const char** text = strcmp(option, "--json") == 0       ? &options->json
                      : strcmp(option, "--compare") == 0  ? &options->compare
                      : strcmp(option, "--markdown") == 0 ? &options->markdown
                      : strcmp(option, "--work") == 0     ? &options->work
                      : strcmp(option, "--data") == 0     ? &options->data
                                                          : NULL;
  if (text == NULL) {
    return wrong(option, "is not an option (see --help)");
  }
  *text = value;
  return true;
}

static bool* find_flag(Options* options, const char* word) {
  return strcmp(word, "--full") == 0      ? &options->measure.full
         : strcmp(word, "--profile") == 0 ? &options->measure.profile
         : strcmp(word, "--print") == 0   ? &options->print
         : strcmp(word, "--list") == 0    ? &options->list
         : strcmp(word, "--help") == 0    ? &options->help
                                          : NULL;
}

// Settings that follow from the options.
static void complete(Options* options) {
  options->measure.overrides = options->override;
  if (options->n_files == 0 && options->suite == NULL) {
    options->suite = suite_find("paper");
  }
  if (!(options->measure.seconds > 0.0)) {
    bool limited = options->suite != NULL && !options->measure.full;
    options->measure.seconds = limited ? options->suite->seconds : (double)INFINITY;
  }
}

bool options_read(int argc, char** argv, Options* options) {
  for (int i = 1; i < argc; i++) {
    bool* flag = find_flag(options, argv[i]);
    if (flag != NULL) {
      *flag = true;
    } else if (argv[i][0] != '-') {
      if (!add_text(argv[i], argv[i], options->file, &options->n_files)) {
        return false;
      }
    } else if (i + 1 == argc) {
      return wrong(argv[i], "is not an option, or lacks its value (see --help)");
    } else if (!read_valued(options, argv[i], argv[i + 1])) {
      return false;
    } else {
      i++;
    }
  }
  complete(options);
  return true;
}
