// noli_bench: measures public contact scenes and other scene files.

#include "generated.h"
#include "options.h"
#include "tables.h"
#include "work.h"

#include <stdio.h>
#include <stdlib.h>

// The selected scenes. Returns false if there are none.
static bool collect(const Options* options, SceneList* scenes) {
  if (options->suite != NULL && !suite_collect(options->suite, options->data, scenes)) {
    return false;
  }
  if (!scenes_filter(scenes, options->part, options->n_parts)) {
    return false;
  }
  for (int32_t i = 0; i < options->n_files; i++) {
    if (!scenes_add_file(scenes, options->file[i])) {
      return false;
    }
  }
  if (scenes->count == 0) {
    fprintf(stderr, "noli_bench: no scenes in %s\n", options->data);
  }
  return scenes->count > 0;
}

// Whether this result affects the exit status.
static bool is_bad(const Scene* scene, const Result* result) {
  return (result_is_bad(result) && !scene->may_fail) ||
         (scene->must_run && !result_was_run(result));
}

static void say_remarks(const Result* result) {
  char text[1024];
  if (result_was_run(result) && result_remarks(result, text, sizeof text)) {
    printf("    %s\n", text);
  }
}

static bool measure_all(const Options* options, const SceneList* scenes, ResultList* results) {
  bool good = true;
  printf("Noli %s, suite %s, public data in %s\n", noli_version(),
         results->suite[0] != '\0' ? results->suite : "none", options->data);
  table_header(TABLE_MEASURED, false);
  for (int32_t i = 0; i < scenes->count; i++) {
    Result* result = &results->data[i];
    if (!measure_scene(&scenes->data[i], &options->measure, result)) {
      fprintf(stderr, "noli_bench: cannot create a process\n");
      return false;
    }
    results->count = i + 1;
    table_row(TABLE_MEASURED, false, result, NULL);
    say_remarks(result);
    good = good && !is_bad(&scenes->data[i], result);
    // terminated long runs keep their measurements
    if (options->json != NULL && !tables_write_json(options->json, results)) {
      return false;
    }
  }
  return good;
}

// The results before the run, because both may be the same file.
static bool run(const Options* options, const SceneList* scenes) {
  ResultList before = {0};
  ResultList results = {.data = calloc((size_t)scenes->count, sizeof *results.data)};
  if (results.data == NULL) {
    fprintf(stderr, "noli_bench: out of memory\n");
    return false;
  }
  if (options->suite != NULL) {
    snprintf(results.suite, sizeof results.suite, "%s", options->suite->name);
  }
  bool good = options->compare == NULL || result_read_list(options->compare, &before);
  if (good) {
    good = measure_all(options, scenes, &results);
    tables_beside(&results);
    if (options->compare != NULL) {
      good = tables_compare(&results, &before, options->compare) && good;
    }
  }
  result_free_list(&before);
  result_free_list(&results);
  return good;
}

static bool print_markdown(const Options* options) {
  ResultList list = {0}, other = {0};
  bool good = result_read_list(options->markdown, &list) &&
              (options->compare == NULL || result_read_list(options->compare, &other));
  if (good && options->compare != NULL) {
    tables_markdown_beside(&list, &other);
  } else if (good) {
    tables_markdown(&list);
  }
  result_free_list(&list);
  result_free_list(&other);
  return good;
}

static bool print_work(const Options* options) {
  ResultList list = {0};
  bool good = result_read_list(options->work, &list) && work_print(&list);
  result_free_list(&list);
  return good;
}

// The JSON of each scene, which must be generated: others have a file.
static bool print_scenes(const SceneList* scenes) {
  for (int32_t i = 0; i < scenes->count; i++) {
    const char* path = scenes->data[i].path;
    char* text = generated_is(path) ? generated_text(path) : NULL;
    if (!generated_is(path)) {
      fprintf(stderr, "noli_bench: %s is not generated\n", path);
    }
    if (text == NULL) {
      return false;
    }
    printf("%s\n", text);
    free(text);
  }
  return true;
}

static void print_list(const SceneList* scenes) {
  for (int32_t i = 0; i < scenes->count; i++) {
    const char* path = scenes->data[i].path;
    FILE* file = fopen(path, "rb");
    bool there = file != NULL || generated_is(path);
    printf("%-56s %s%s\n", scenes->data[i].name, path, there ? "" : " (not there)");
    if (file != NULL) {
      fclose(file);
    }
  }
}

int main(int argc, char** argv) {
  const char* data = getenv("NOLI_DATA");
  static Options options;
  options.data = data != NULL ? data : BENCH_DATA;
  if (!options_read(argc, argv, &options)) {
    return 2;
  }
  if (options.help) {
    options_help();
    return 0;
  }
  if (options.markdown != NULL) {
    return print_markdown(&options) ? 0 : 2;
  }
  if (options.work != NULL) {
    return print_work(&options) ? 0 : 2;
  }
  SceneList scenes = {0};
  if (!collect(&options, &scenes)) {
    scenes_free(&scenes);
    return 2;
  }
  bool good = true;
  if (options.print) {
    good = print_scenes(&scenes);
  } else if (options.list) {
    print_list(&scenes);
  } else {
    // the first rows appear while the others run
    setvbuf(stdout, NULL, _IOLBF, 4096);
    good = run(&options, &scenes);
  }
  scenes_free(&scenes);
  return good ? 0 : 1;
}
