#define _DEFAULT_SOURCE

#include "output/summary.h"

#include "text/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <jansson.h>

double noli_summary_peak_rss_mb(void) {
  struct rusage usage;
  if (getrusage(RUSAGE_SELF, &usage) != 0) {
    return 0.0;
  }
#ifdef __APPLE__
  return (double)usage.ru_maxrss * 1e-6;
#else
  return (double)usage.ru_maxrss * 1024.0 * 1e-6;
#endif
}

NoliSummary noli_summary_begin(const NoliContext* context, const NoliSim* sim, const char* scene) {
  return (NoliSummary){
      .scene = scene,
      .nodes = noli_sim_vertex_count(sim),
      .tets = noli_sim_tet_count(sim),
      .surface_triangles = noli_sim_surface_triangle_count(sim),
      .threads = noli_context_threads(context),
      .steps = noli_sim_step_count(sim),
      .time = noli_sim_time(sim),
      .min_distance = INFINITY,
  };
}

void noli_summary_add_step(NoliSummary* summary, const NoliStepReport* report) {
  summary->steps = report->step;
  summary->time = report->time;
  summary->solve += report->wall;
  summary->newton_total += report->newton_iterations;
  if (report->newton_iterations > summary->newton_max) {
    summary->newton_max = report->newton_iterations;
  }
  if (report->contacts_max > summary->contacts_max) {
    summary->contacts_max = report->contacts_max;
  }

  summary->retries += report->retries;
  summary->linear_fallbacks += report->linear_fallbacks;
  summary->solver_fallbacks += report->solver_fallbacks;
  summary->divided_steps += report->substeps > 1 ? 1 : 0;
  summary->min_distance = fmin(summary->min_distance, report->min_distance);
  summary->friction_ratio = fmax(summary->friction_ratio, report->friction_ratio);
  summary->friction_error = fmax(summary->friction_error, report->friction_error);
  summary->imbalance = fmax(summary->imbalance, report->imbalance);

  const char* blocked_by = report->blocked_by != NULL ? report->blocked_by : "";
  summary->blocked_steps += blocked_by[0] != '\0' ? 1 : 0;
  summary->motion_error = report->motion_error;
  summary->motion_error_max = fmax(summary->motion_error_max, report->motion_error);
  snprintf(summary->blocked_by, sizeof summary->blocked_by, "%s", blocked_by);

  summary->timing.assemble += report->timing.assemble;
  summary->timing.linear += report->timing.linear;
  summary->timing.ccd += report->timing.ccd;
  summary->timing.contacts += report->timing.contacts;
  summary->timing.line_search += report->timing.line_search;
  summary->timing.other += report->timing.other;
}

// JSON knows no infinity: null stands for "no such number".
static json_t* summary_number(double value) {
  return isfinite(value) ? json_real(value) : json_null();
}

static json_t* integer(int64_t value) {
  return json_integer((json_int_t)value);
}

static json_t* text_or_null(const char* text) {
  return text != NULL ? json_string(text) : json_null();
}

static json_t* timing_to_json(const NoliStepTiming* timing) {
  return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "assemble", summary_number(timing->assemble),
                   "linear", summary_number(timing->linear), "ccd", summary_number(timing->ccd),
                   "contacts", summary_number(timing->contacts), "line_search",
                   summary_number(timing->line_search), "other", summary_number(timing->other));
}

NoliStatus noli_summary_text(NoliContext* context, const NoliSummary* summary, char** text) {
  NoliStatus status = NOLI_OK;
  char* dumped = NULL;
  const NoliSummary* s = summary;
  json_t* root = json_object();
  const struct {
    const char* key;
    json_t* value;
  } entries[] = {
      {"noli", json_string(noli_version())},
      {"scene", text_or_null(s->scene)},
      {"nodes", integer(s->nodes)},
      {"tets", integer(s->tets)},
      {"surface_triangles", integer(s->surface_triangles)},
      {"threads", integer(s->threads)},
      {"steps", integer(s->steps)},
      {"time", summary_number(s->time)},
      {"finished", json_boolean(s->finished)},
      {"wall_s", summary_number(s->wall)},
      {"solve_s", summary_number(s->solve)},
      {"newton_total", integer(s->newton_total)},
      {"newton_max", integer(s->newton_max)},
      {"contacts_max", integer(s->contacts_max)},
      {"min_distance", summary_number(s->min_distance)},
      {"peak_rss_mb", summary_number(s->peak_rss_mb)},
      {"timing", timing_to_json(&s->timing)},
      {"frames", integer(s->n_frames)},
      {"failure", text_or_null(s->failure)},
      {"divided_steps", integer(s->divided_steps)},
      {"retries", integer(s->retries)},
      {"friction_ratio_max", summary_number(s->friction_ratio)},
      {"friction_error_max", summary_number(s->friction_error)},
      {"linear_fallbacks", integer(s->linear_fallbacks)},
      {"solver_fallbacks", integer(s->solver_fallbacks)},
      {"imbalance_max", summary_number(s->imbalance)},
      {"blocked_steps", integer(s->blocked_steps)},
      {"motion_error", summary_number(s->motion_error)},
      {"motion_error_max", summary_number(s->motion_error_max)},
      {"blocked_by", text_or_null(s->blocked_by[0] != '\0' ? s->blocked_by : NULL)},
  };

  // setting a value releases it also when that fails, and refuses one that could not be made
  bool complete = true;
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
    complete &= json_object_set_new(root, entries[i].key, entries[i].value) == 0;
  }

  // to text
  dumped = complete ? json_dumps(root, JSON_INDENT(2)) : NULL;
  NOLI_CHECK(context, dumped != NULL, NOLI_ERROR_MEMORY,
             "the summary could not be made: out of memory, or a name is not UTF-8");
  *text = noli_strdup(context, dumped);
  status = *text != NULL ? NOLI_OK : NOLI_ERROR_MEMORY;
done:
  free(dumped);
  json_decref(root);
  return status;
}

static double get_number(const json_t* object, const char* key, double otherwise) {
  const json_t* value = json_object_get(object, key);
  return json_is_number(value) ? json_number_value(value) : otherwise;
}

static int64_t get_integer(const json_t* object, const char* key) {
  return (int64_t)json_integer_value(json_object_get(object, key));
}

bool noli_summary_is_finished(NoliContext* context, const char* text) {
  json_error_t error;
  json_t* root = NULL;
  bool read = noli_scene_read_json(context, text, strlen(text), 0, &root, &error) == NOLI_OK;
  bool finished = read && json_is_true(json_object_get(root, "finished"));
  json_decref(root);
  return finished;
}

NoliStatus noli_summary_restore(NoliContext* context, const char* text, NoliSummary* summary) {
  NoliStatus status = NOLI_OK;
  json_error_t error;
  json_t* root = NULL;
  NOLI_TRY(noli_scene_read_json(context, text, strlen(text), 0, &root, &error));
  NOLI_CHECK(context, json_is_object(root), NOLI_ERROR_FORMAT,
             "the summary of the run cannot be read: line %d: %s", root == NULL ? error.line : 1,
             root == NULL ? error.text : "no object");

  // totals
  summary->wall = get_number(root, "wall_s", 0.0);
  summary->solve = get_number(root, "solve_s", 0.0);
  summary->newton_total = get_integer(root, "newton_total");
  summary->newton_max = (int32_t)get_integer(root, "newton_max");
  summary->contacts_max = get_integer(root, "contacts_max");
  summary->min_distance = get_number(root, "min_distance", INFINITY);
  summary->peak_rss_mb = get_number(root, "peak_rss_mb", 0.0);
  summary->divided_steps = get_integer(root, "divided_steps");
  summary->retries = get_integer(root, "retries");
  summary->friction_ratio = get_number(root, "friction_ratio_max", 0.0);
  if (json_is_null(json_object_get(root, "friction_ratio_max"))) {
    summary->friction_ratio = INFINITY;
  }
  summary->friction_error = get_number(root, "friction_error_max", 0.0);
  summary->imbalance = get_number(root, "imbalance_max", 0.0);
  summary->linear_fallbacks = get_integer(root, "linear_fallbacks");
  summary->solver_fallbacks = get_integer(root, "solver_fallbacks");
  summary->blocked_steps = get_integer(root, "blocked_steps");
  summary->motion_error = get_number(root, "motion_error", 0.0);
  summary->motion_error_max = get_number(root, "motion_error_max", 0.0);
  const char* blocked_by = json_string_value(json_object_get(root, "blocked_by"));
  snprintf(summary->blocked_by, sizeof summary->blocked_by, "%s",
           blocked_by != NULL ? blocked_by : "");

  // times
  const json_t* timing = json_object_get(root, "timing");
  summary->timing = (NoliStepTiming){
      .assemble = get_number(timing, "assemble", 0.0),
      .linear = get_number(timing, "linear", 0.0),
      .ccd = get_number(timing, "ccd", 0.0),
      .contacts = get_number(timing, "contacts", 0.0),
      .line_search = get_number(timing, "line_search", 0.0),
      .other = get_number(timing, "other", 0.0),
  };
done:
  json_decref(root);
  return status;
}
