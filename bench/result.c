#include "result.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(Result) < 4096, "a result must fit into a pipe at once");

static const char* const state_name[RESULT_STATES] = {"running", "done",   "budget", "absent",
                                                      "refused", "failed", "killed"};

Result result_new(const char* scene) {
  Result result = {
      .min_distance = INFINITY, .shape_error = NAN, .memory_mb = NAN, .max_speed = NAN, .way = NAN};
  snprintf(result.scene, sizeof result.scene, "%s", scene);
  return result;
}

const char* result_state_name(ResultState state) {
  return state_name[state];
}

bool result_was_run(const Result* result) {
  return result->steps > 0;
}

bool result_is_bad(const Result* result) {
  return result->state == RESULT_FAILED || result->state == RESULT_KILLED;
}

double ratio(double a, double b) {
  return b > 0.0 ? a / b : (double)NAN;
}

double result_seconds_per_step(const Result* result) {
  return ratio(result->wall, (double)result->steps);
}

double result_cpu_per_step(const Result* result) {
  return ratio(result->cpu, (double)result->steps);
}

double result_newton_per_step(const Result* result) {
  return ratio((double)result->newton, (double)result->steps);
}

double result_friction_iterations_per_step(const Result* result) {
  return ratio((double)result->friction_iterations, (double)result->steps);
}

double result_contacts_average(const Result* result) {
  return ratio(result->contacts, (double)result->newton);
}

double result_linear_per_newton(const Result* result) {
  return ratio((double)result->linear, (double)result->newton);
}

double result_alpha_average(const Result* result) {
  return ratio(result->alpha, (double)result->advances);
}

double result_condition_average(const Result* result) {
  return ratio(result->condition, (double)result->conditions);
}

// ---- JSON ---------------------------------------------------------------------------------------

typedef struct Field {
  const char* name;
  enum { TEXT, COUNT, NUMBER } kind;
  size_t offset;
  size_t size;
} Field;

#define FIELD(name, kind, member)                                                                  \
  { name, kind, offsetof(Result, member), sizeof(((Result*)0)->member) }

static const Field fields[] = {
    FIELD("scene", TEXT, scene),
    FIELD("message", TEXT, message),
    FIELD("note", TEXT, note),
    FIELD("bodies", COUNT, bodies),
    FIELD("nodes", COUNT, nodes),
    FIELD("tets", COUNT, tets),
    FIELD("surface_triangles", COUNT, triangles),
    FIELD("threads", COUNT, threads),
    FIELD("steps", COUNT, steps),
    FIELD("steps_wanted", COUNT, steps_wanted),
    FIELD("steps_scene", COUNT, steps_scene),
    FIELD("time_step", NUMBER, time_step),
    FIELD("contact_distance", NUMBER, dhat),
    FIELD("tolerance", NUMBER, tolerance),
    FIELD("setup_seconds", NUMBER, setup),
    FIELD("setup_seconds_cpu", NUMBER, setup_cpu),
    FIELD("seconds", NUMBER, wall),
    FIELD("seconds_cpu", NUMBER, cpu),
    FIELD("seconds_max", NUMBER, wall_max),
    FIELD("newton", COUNT, newton),
    FIELD("newton_max", COUNT, newton_max),
    FIELD("linear_iterations", COUNT, linear),
    FIELD("contacts_sum", NUMBER, contacts),
    FIELD("contacts_max", COUNT, contacts_max),
    FIELD("min_distance", NUMBER, min_distance),
    FIELD("memory_mb", NUMBER, memory_mb),
    FIELD("steps_blocked", COUNT, steps_blocked),
    FIELD("steps_audited", COUNT, audited),
    FIELD("max_speed", NUMBER, max_speed),
    FIELD("way", NUMBER, way),
    FIELD("shape_error", NUMBER, shape_error),
    FIELD("advances", COUNT, advances),
    FIELD("advances_stalled", COUNT, stalled),
    FIELD("alpha_sum", NUMBER, alpha),
    FIELD("listed_max", COUNT, listed_max),
    FIELD("constraints_added", NUMBER, added),
    FIELD("penetration", NUMBER, penetration),
    FIELD("condition_sum", NUMBER, condition),
    FIELD("condition_max", NUMBER, condition_max),
    FIELD("conditions", COUNT, conditions),
    FIELD("friction_iterations", COUNT, friction_iterations),
    FIELD("friction_error_max", NUMBER, friction_error),
    FIELD("steps_friction_off", COUNT, friction_off),
    FIELD("imbalance_max", NUMBER, imbalance),
    FIELD("steps_unbalanced", COUNT, unbalanced),
};

static const Field stages[] = {
    FIELD("assemble", NUMBER, timing.assemble),
    FIELD("linear", NUMBER, timing.linear),
    FIELD("ccd", NUMBER, timing.ccd),
    FIELD("contacts", NUMBER, timing.contacts),
    FIELD("line_search", NUMBER, timing.line_search),
    FIELD("other", NUMBER, timing.other),
};

enum {
  N_FIELDS = (int)(sizeof fields / sizeof *fields),
  N_STAGES = (int)(sizeof stages / sizeof *stages)
};

void set_number(json_t* object, const char* key, double value) {
  json_object_set_new(object, key, isfinite(value) ? json_real(value) : json_null());
}

static void write_field(json_t* object, const Field* field, const Result* result) {
  const char* at = (const char*)result + field->offset;
  if (field->kind == TEXT) {
    // a path need not be UTF-8
    json_t* text = json_string(at);
    json_object_set_new(object, field->name, text != NULL ? text : json_string("?"));
  } else if (field->kind == COUNT) {
    int64_t count;
    memcpy(&count, at, sizeof count);
    json_object_set_new(object, field->name, json_integer(count));
  } else {
    double number;
    memcpy(&number, at, sizeof number);
    set_number(object, field->name, number);
  }
}

static json_t* profile_object(const NoliProfile* profile) {
  json_t* object = json_object();
  for (int32_t k = 0; k < NOLI_WORKS; k++) {
    const NoliWorkCost* cost = &profile->work[k];
    if (cost->wall > 0.0) {
      json_t* part = json_object();
      set_number(part, "seconds", cost->wall);
      set_number(part, "seconds_cpu", cost->cpu);
      set_number(part, "seconds_parallel", cost->parallel);
      set_number(part, "seconds_helpers", cost->helpers);
      json_object_set_new(object, noli_work_name(k), part);
    }
  }
  return object;
}

static void read_profile(const json_t* object, NoliProfile* profile) {
  for (int32_t k = 0; k < NOLI_WORKS; k++) {
    const json_t* part = json_object_get(object, noli_work_name(k));
    NoliWorkCost* cost = &profile->work[k];
    cost->wall = json_number_value(json_object_get(part, "seconds"));
    cost->cpu = json_number_value(json_object_get(part, "seconds_cpu"));
    cost->parallel = json_number_value(json_object_get(part, "seconds_parallel"));
    cost->helpers = json_number_value(json_object_get(part, "seconds_helpers"));
  }
}

json_t* result_object(const Result* result) {
  json_t* object = json_object();
  json_t* timing = json_object();
  for (int i = 0; i < N_FIELDS; i++) {
    write_field(object, &fields[i], result);
  }
  json_object_set_new(object, "state", json_string(result_state_name(result->state)));
  for (int i = 0; i < N_STAGES; i++) {
    write_field(timing, &stages[i], result);
  }
  json_object_set_new(object, "stages", timing);
  json_t* profile = profile_object(&result->profile);
  if (json_object_size(profile) > 0) {
    json_object_set(object, "work", profile);
  }
  json_decref(profile);
  // derived values for convenience
  set_number(object, "seconds_per_step", result_seconds_per_step(result));
  set_number(object, "newton_per_step", result_newton_per_step(result));
  set_number(object, "contacts_average", result_contacts_average(result));
  return object;
}

static void read_field(const json_t* object, const Field* field, Result* result) {
  char* at = (char*)result + field->offset;
  const json_t* value = json_object_get(object, field->name);
  if (field->kind == TEXT) {
    const char* text = json_string_value(value);
    snprintf(at, field->size, "%s", text != NULL ? text : "");
  } else if (field->kind == COUNT) {
    int64_t count = (int64_t)json_integer_value(value);
    memcpy(at, &count, sizeof count);
  } else {
    double number = json_is_number(value) ? json_number_value(value) : (double)NAN;
    memcpy(at, &number, sizeof number);
  }
}

static Result read_object(const json_t* object) {
  Result result = result_new("");
  const char* state = json_string_value(json_object_get(object, "state"));
  for (int i = 0; i < N_FIELDS; i++) {
    read_field(object, &fields[i], &result);
  }
  for (int i = 0; i < N_STAGES; i++) {
    read_field(json_object_get(object, "stages"), &stages[i], &result);
  }
  read_profile(json_object_get(object, "work"), &result.profile);
  for (int i = 0; i < RESULT_STATES; i++) {
    result.state =
        state != NULL && strcmp(state, state_name[i]) == 0 ? (ResultState)i : result.state;
  }
  return result;
}

bool result_read_list(const char* path, ResultList* list) {
  json_error_t error;
  *list = (ResultList){0};
  json_t* root = json_load_file(path, 0, &error);
  if (root == NULL) {
    fprintf(stderr, "noli_bench: %s:%d: %s\n", path, error.line, error.text);
    return false;
  }
  const json_t* rows = json_object_get(root, "scenes");
  const char* suite = json_string_value(json_object_get(root, "suite"));
  snprintf(list->suite, sizeof list->suite, "%s", suite != NULL ? suite : "");
  list->data = calloc(json_array_size(rows) + 1, sizeof *list->data);
  if (list->data == NULL || !json_is_array(rows)) {
    fprintf(stderr, "noli_bench: %s: %s\n", path,
            list->data == NULL ? "out of memory" : "has no list \"scenes\"");
    result_free_list(list);
    json_decref(root);
    return false;
  }
  for (size_t i = 0; i < json_array_size(rows); i++) {
    list->data[list->count++] = read_object(json_array_get(rows, i));
  }
  json_decref(root);
  return true;
}

void result_free_list(ResultList* list) {
  free(list->data);
  *list = (ResultList){0};
}

const Result* result_find(const ResultList* list, const char* scene) {
  for (int32_t i = 0; i < list->count; i++) {
    if (strcmp(list->data[i].scene, scene) == 0) {
      return &list->data[i];
    }
  }
  return NULL;
}
