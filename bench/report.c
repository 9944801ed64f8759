#include "report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double ratio(double a, double b) {
  return b > 0.0 ? a / b : (double)NAN;
}

static double ms_per_step(const Measure* m) {
  return 1e3 * ratio(m->wall, m->steps);
}

static double ms_per_newton(const Measure* m) {
  return 1e3 * ratio(m->wall, (double)m->newton);
}

static double newton_per_step(const Measure* m) {
  return ratio((double)m->newton, m->steps);
}

static double contacts_average(const Measure* m) {
  return ratio(m->contacts, (double)m->newton);
}

// ---- the table ----------------------------------------------------------------------------------

void report_header(void) {
  printf("%-36s %6s %6s %6s %6s %9s %9s %17s %9s %11s %6s %6s %6s %6s %6s %6s %9s %6s %3s\n",
         "scene", "nodes", "tets", "tris", "h", "steps", "ms/step", "Newton tot/avg/max",
         "ms/Newton", "contacts", "asm s", "lin s", "ccd s", "con s", "ls s", "oth s", "min d",
         "MB", "thr");
}

static void print_remarks(const Measure* m) {
  if (m->steps_blocked > 0) {
    printf("    contact cut prescribed motion short in %d steps\n", m->steps_blocked);
  }
  if (m->step_released >= 0) {
    printf("    released after step %d\n", m->step_released);
  }
  if (!isnan(m->shape_error)) {
    printf(
        "    largest change of a distance between two vertices: %.3f %%, largest speed %.2g m/s\n",
        100.0 * m->shape_error, m->max_speed);
  }
  if (m->state == MEASURE_BUDGET) {
    printf("    stopped: the seconds were used up\n");
  }
  if (m->state == MEASURE_FAILED || m->state == MEASURE_KILLED) {
    printf("    FAILED %s\n", m->message);
  }
}

void report_row(const Scene* scene, const Measure* m) {
  if (m->state == MEASURE_ABSENT) {
    printf("%-36s skipped: %s\n", scene->name, m->message);
    return;
  }
  const NoliStepTiming* t = &m->timing;
  printf("%-36s %6d %6d %6d %6g %4d/%-4d %9.2f %6lld %6.2f %4d %9.3f %5.0f %5lld %6.2f %6.2f %6.2f "
         "%6.2f %6.2f %6.2f %9.2e %6.0f %3d\n",
         scene->name, m->n_vert, m->n_tet, m->n_tri, scene->time_step, m->steps, m->steps_wanted,
         ms_per_step(m), (long long)m->newton, newton_per_step(m), m->newton_max, ms_per_newton(m),
         contacts_average(m), (long long)m->contacts_max, t->assemble, t->linear, t->ccd,
         t->contacts, t->line_search, t->other, m->min_distance, m->memory_mb, m->n_threads);
  print_remarks(m);
}

// ---- beside other figures -----------------------------------------------------------------------

// Two figures and how many times less the first is: larger is better. Figures over different steps
// have no ratio.
static void print_two(int width, int digits, const double figure[2], bool comparable) {
  printf(" %*.*f %*.*f", width, digits, figure[0], width, digits, figure[1]);
  if (comparable) {
    printf(" %6.2fx", ratio(figure[1], figure[0]));
  } else {
    printf(" %7s", "-");
  }
}

static void print_beside(const char* name, int32_t steps, int32_t other_steps, const double step[2],
                         const double newton[2], const double per_step[2], const double memory[2]) {
  bool comparable = steps == other_steps;
  printf("%-36s %4d/%-4d", name, steps, other_steps);
  print_two(10, 2, step, comparable);
  print_two(9, 3, newton, comparable);
  print_two(6, 2, per_step, comparable);
  print_two(6, 0, memory, comparable);
  printf("\n");
}

static void print_beside_header(const char* other) {
  printf("%-36s %-9s %10s %10s %7s %9s %9s %7s %6s %6s %7s %6s %6s %7s\n", "scene", "steps",
         "ms/step", other, "ratio", "ms/Newton", other, "ratio", "N/step", other, "ratio", "MB",
         other, "ratio");
}

void report_reference(const Scene* const* scenes, const Measure* measures, int32_t n) {
  printf("\nBeside the original program, MEASURED ELSEWHERE, once, with 2 threads on 2 cores. "
         "Ratio: how many times less (- if over other steps).\n");
  print_beside_header("orig.");
  for (int32_t i = 0; i < n; i++) {
    const SceneReference* r = &scenes[i]->reference;
    const Measure* m = &measures[i];
    if (m->steps > 0) {
      print_beside(scenes[i]->name, m->steps, r->steps, (double[2]){ms_per_step(m), r->ms_per_step},
                   (double[2]){ms_per_newton(m), r->ms_per_newton},
                   (double[2]){newton_per_step(m), r->newton_per_step},
                   (double[2]){m->memory_mb, r->memory_mb});
    }
  }
}

static const json_t* find_row(const json_t* rows, const char* name) {
  for (size_t i = 0; i < json_array_size(rows); i++) {
    const json_t* row = json_array_get(rows, i);
    const char* found = json_string_value(json_object_get(row, "scene"));
    if (found != NULL && strcmp(found, name) == 0) {
      return row;
    }
  }
  return NULL;
}

static double number(const json_t* row, const char* key) {
  const json_t* value = json_object_get(row, key);
  return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

bool report_compare(const char* path, const Scene* const* scenes, const Measure* measures,
                    int32_t n) {
  json_error_t error;
  json_t* root = json_load_file(path, 0, &error);
  if (root == NULL) {
    fprintf(stderr, "noli_bench: %s:%d: %s\n", path, error.line, error.text);
    return false;
  }
  printf("\nBeside %s. Ratio: how many times less (- if over other steps).\n", path);
  print_beside_header("before");
  for (int32_t i = 0; i < n; i++) {
    const Measure* m = &measures[i];
    const json_t* row = find_row(json_object_get(root, "scenes"), scenes[i]->name);
    if (row != NULL && m->steps > 0) {
      print_beside(scenes[i]->name, m->steps, (int32_t)number(row, "steps"),
                   (double[2]){ms_per_step(m), number(row, "ms_per_step")},
                   (double[2]){ms_per_newton(m), number(row, "ms_per_newton")},
                   (double[2]){newton_per_step(m), number(row, "newton_per_step")},
                   (double[2]){m->memory_mb, number(row, "memory_mb")});
    }
  }
  json_decref(root);
  return true;
}

// ---- JSON ---------------------------------------------------------------------------------------

// JSON has no infinity and no NaN: null stands for both.
static void set(json_t* object, const char* key, double value) {
  json_object_set_new(object, key, isfinite(value) ? json_real(value) : json_null());
}

static void set_integer(json_t* object, const char* key, int64_t value) {
  json_object_set_new(object, key, json_integer(value));
}

static json_t* timing_object(const NoliStepTiming* t) {
  json_t* object = json_object();
  set(object, "assemble", t->assemble);
  set(object, "linear", t->linear);
  set(object, "ccd", t->ccd);
  set(object, "contacts", t->contacts);
  set(object, "line_search", t->line_search);
  set(object, "other", t->other);
  return object;
}

static json_t* row_object(const Scene* scene, const Measure* m) {
  json_t* row = json_object();
  json_object_set_new(row, "scene", json_string(scene->name));
  json_object_set_new(row, "state", json_string(measure_state_name(m->state)));
  json_object_set_new(row, "message", json_string(m->message));
  set_integer(row, "nodes", m->n_vert);
  set_integer(row, "tets", m->n_tet);
  set_integer(row, "surface_triangles", m->n_tri);
  set_integer(row, "threads", m->n_threads);
  set(row, "time_step", scene->time_step);
  set(row, "contact_distance", m->dhat);
  set(row, "tolerance", m->tolerance);
  set_integer(row, "steps", m->steps);
  set_integer(row, "steps_wanted", m->steps_wanted);
  set(row, "setup_seconds", m->setup);
  set(row, "seconds", m->wall);
  set(row, "ms_per_step", ms_per_step(m));
  set(row, "ms_per_newton", ms_per_newton(m));
  set_integer(row, "newton", m->newton);
  set(row, "newton_per_step", newton_per_step(m));
  set_integer(row, "newton_max", m->newton_max);
  set(row, "contacts_average", contacts_average(m));
  set_integer(row, "contacts_max", m->contacts_max);
  json_object_set_new(row, "stages", timing_object(&m->timing));
  set(row, "min_distance", m->min_distance);
  set(row, "memory_mb", m->memory_mb);
  set_integer(row, "steps_blocked", m->steps_blocked);
  set_integer(row, "step_released", m->step_released);
  set(row, "max_speed", m->max_speed);
  set(row, "shape_error", m->shape_error);
  return row;
}

static void set_environment(json_t* object, const char* name) {
  const char* value = getenv(name);
  json_object_set_new(object, name, value != NULL ? json_string(value) : json_null());
}

bool report_write(const char* path, const Scene* const* scenes, const Measure* measures,
                  int32_t n) {
  json_t* root = json_object();
  json_t* rows = json_array();
  json_object_set_new(root, "noli", json_string(noli_version()));
  // what decides how threads wait, for runs that differ in it cannot be compared
  set_environment(root, "OMP_WAIT_POLICY");
  set_environment(root, "OPENBLAS_NUM_THREADS");
  json_object_set_new(root, "scenes", rows);
  for (int32_t i = 0; i < n; i++) {
    json_array_append_new(rows, row_object(scenes[i], &measures[i]));
  }
  bool written = json_dump_file(root, path, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) == 0;
  json_decref(root);
  if (!written) {
    fprintf(stderr, "noli_bench: cannot write %s\n", path);
  }
  return written;
}
