// noli_bench: public scenes of the original IPC program, a few steps of each, measured.

#include "report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCENES_MAX = 64 };

typedef struct Options {
  MeasureOptions measure;
  const Scene* scene[SCENES_MAX];
  int32_t n_scene;
  const char* json;
  const char* compare;
  bool list;
  bool help;
} Options;

static void print_help(void) {
  puts(
      "noli_bench [OPTIONS]   measures public contact scenes\n"
      "  --scene NAME     only this one (may be repeated); a part of the name will do\n"
      "  --steps N        steps of each scene (default: as many as the reference figures cover)\n"
      "  --seconds S      seconds of stepping after which a scene is stopped (default 60)\n"
      "  --threads N      default: one for each core\n"
      "  --full           every step of the scene, without a limit unless --seconds is given\n"
      "  --json FILE      also writes the measurements there\n"
      "  --compare FILE   prints the ratios to an older such file\n"
      "  --data DIR       folder of the public data (default: $NOLI_DATA, else the one known when\n"
      "                   the program was built)\n"
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
    return wrong(option, "needs a whole number");
  }
  *count = (int32_t)number;
  return true;
}

// All scenes whose names contain the text; only one if it is a whole name.
static bool select_scenes(Options* options, const char* text) {
  const Scene* exact = scene_find(text);
  int32_t before = options->n_scene;
  for (int32_t i = 0; i < scene_count() && options->n_scene < SCENES_MAX; i++) {
    const Scene* scene = scene_at(i);
    if (exact != NULL ? scene == exact : strstr(scene->name, text) != NULL) {
      options->scene[options->n_scene++] = scene;
    }
  }
  return options->n_scene > before ? true : wrong(text, "is in no scene's name (see --list)");
}

static bool read_valued(Options* options, const char* option, const char* value) {
  if (strcmp(option, "--scene") == 0) {
    return select_scenes(options, value);
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
  const char** text = strcmp(option, "--json") == 0      ? &options->json
                      : strcmp(option, "--compare") == 0 ? &options->compare
                      : strcmp(option, "--data") == 0    ? &options->measure.data
                                                         : NULL;
  if (text == NULL) {
    return wrong(option, "is not an option (see --help)");
  }
  *text = value;
  return true;
}

static bool read_options(int argc, char** argv, Options* options) {
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--full") == 0) {
      options->measure.full = true;
    } else if (strcmp(argv[i], "--list") == 0) {
      options->list = true;
    } else if (strcmp(argv[i], "--help") == 0) {
      options->help = true;
    } else if (i + 1 == argc) {
      return wrong(argv[i], "is not an option, or lacks its value (see --help)");
    } else if (!read_valued(options, argv[i], argv[i + 1])) {
      return false;
    } else {
      i++;
    }
  }
  // without a choice, all
  for (int32_t i = 0; options->n_scene == 0 && i < scene_count(); i++) {
    options->scene[i] = scene_at(i);
  }
  options->n_scene = options->n_scene == 0 ? scene_count() : options->n_scene;
  if (!(options->measure.seconds > 0.0)) {
    options->measure.seconds = options->measure.full ? (double)INFINITY : 60.0;
  }
  return true;
}

static bool measure_all(const Options* options) {
  static Measure measures[SCENES_MAX];
  bool good = true;
  printf("Noli %s, public data in %s\n", noli_version(), options->measure.data);
  report_header();
  for (int32_t i = 0; i < options->n_scene; i++) {
    if (!measure_scene(options->scene[i], &options->measure, &measures[i])) {
      fprintf(stderr, "noli_bench: no process could be made\n");
      return false;
    }
    report_row(options->scene[i], &measures[i]);
    good = good && measures[i].state != MEASURE_FAILED && measures[i].state != MEASURE_KILLED;
  }
  report_reference(options->scene, measures, options->n_scene);
  if (options->compare != NULL) {
    good = report_compare(options->compare, options->scene, measures, options->n_scene) && good;
  }
  if (options->json != NULL) {
    good = report_write(options->json, options->scene, measures, options->n_scene) && good;
  }
  return good;
}

int main(int argc, char** argv) {
  const char* data = getenv("NOLI_DATA");
  Options options = {.measure = {.data = data != NULL ? data : BENCH_DATA}};
  if (!read_options(argc, argv, &options)) {
    return 2;
  }
  if (options.help) {
    print_help();
    return 0;
  }
  for (int32_t i = 0; options.list && i < options.n_scene; i++) {
    printf("%-36s %s\n", options.scene[i]->name, options.scene[i]->what);
  }
  if (options.list) {
    return 0;
  }
  // the first rows appear while the others run
  setvbuf(stdout, NULL, _IOLBF, 4096);
  return measure_all(&options) ? 0 : 1;
}
