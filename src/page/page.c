// The page and the report of a run: files that a browser opens without server or network. Their
// sources are in page/; what they find in the file is written here: a description in JSON, the
// surface, frames in groups, histories and other files as text, each compressed.
#include "noli/audit.h"
#include "noli/output.h"
#include "noli/live.h"
#include "noli/version.h"
#include "output/histories.h"
#include "page/page_file.h"
#include "page/page_frames.h"
#include "scene/origins.h"

#include <math.h>
#include <string.h>

// Files of a run that a page shows besides its histories.
static const char* const texts[] = {"scene.json", "summary.json", "log.txt"};
enum { N_TEXTS = sizeof texts / sizeof *texts };

// Pictures of a report.
enum { PICTURES = 6 };

typedef struct PageWriter {
  NoliContext* context;
  NoliPageOptions options;
  NoliRunReader run;
  NoliPageSurface surface;
  NoliProximity* proximity;
  NoliPageFieldList fields; // of frames; empty: none was read
  NoliPageGroup group;
  NoliPageFile file;
  json_t* groups; // descriptions of those written
  json_t* frames;
  json_t* histories;
} PageWriter;

// ---- frames -------------------------------------------------------------------------------------

static NoliStatus write_group(PageWriter* writer) {
  NoliStatus status = NOLI_OK;
  if (writer->group.n > 0) {
    NOLI_TRY(noli_page_file_group(&writer->file, writer->surface.n_vert, &writer->group,
                                  writer->groups));
  }
  writer->group.n = 0;
done:
  return status;
}

static NoliStatus page_add_frame(PageWriter* writer, NoliRunFrame listed) {
  NoliStatus status = NOLI_OK;
  NoliReadFrame frame = {0};
  NOLI_TRY(noli_run_reader_frame(&writer->run, listed.step, noli_page_arrays, &frame));
  if (writer->fields.n == 0) {
    writer->fields = noli_page_fields_of(&writer->run.layout, &frame);
  }
  NOLI_TRY(noli_page_group_add(writer->context, &writer->run.layout, &writer->surface,
                               writer->proximity, &frame, &writer->fields, &writer->group));
  NOLI_TRY(noli_json_append(
      writer->context, writer->frames,
      json_pack("{s:I, s:f}", "step", (json_int_t)listed.step, "time", listed.time)));
  if (writer->group.n == NOLI_PAGE_GROUP) {
    NOLI_TRY(write_group(writer));
  }
done:
  noli_read_frame_free(writer->context, &frame);
  return status;
}

// The frames that are nearest to equal intervals of the run, at most `most` (0: all), ascending.
static NoliStatus write_frames(PageWriter* writer, int64_t most) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_run_reader_list(&writer->run, false));
  int64_t n = writer->run.frames.frames.count;
  int64_t n_shown = most == 0 || most > n ? n : most;
  for (int64_t k = 0; k < n_shown; k++) {
    int64_t i = n_shown > 1 ? (k * (n - 1) + (n_shown - 1) / 2) / (n_shown - 1) : 0;
    NOLI_TRY(page_add_frame(writer, writer->run.frames.frames.data[i]));
    if (writer->options.progress != NULL) {
      writer->options.progress(writer->options.user, k + 1, n_shown);
    }
  }
  NOLI_TRY(write_group(writer));
done:
  return status;
}

// ---- what stays the same ------------------------------------------------------------------------

static void renumber(const NoliPageSurface* surface, const int32_t* from, int64_t n, int32_t** to) {
  for (int64_t i = 0; i < n; i++) {
    *(*to)++ = surface->number.data[from[i]];
  }
}

// Triangles, segments and points with the numbers of the page; bodies of the vertices, and their
// numbers within these.
static NoliStatus write_surface(PageWriter* writer) {
  NoliStatus status = NOLI_OK;
  const NoliFrameLayout* layout = &writer->run.layout;
  const NoliPageSurface* surface = &writer->surface;
  int64_t size = 3 * (int64_t)layout->n_triangles + 2 * (int64_t)layout->n_segments +
                 layout->n_points + 2 * (int64_t)surface->n_vert;
  int32_t* numbers = NULL;
  NOLI_NEW(writer->context, numbers, size + 1);
  int32_t* to = numbers;
  renumber(surface, layout->triangles, 3 * (int64_t)layout->n_triangles, &to);
  renumber(surface, layout->segments, 2 * (int64_t)layout->n_segments, &to);
  renumber(surface, layout->points, layout->n_points, &to);
  for (int32_t i = 0; i < surface->n_vert; i++) {
    *to++ = layout->vertex_body[surface->vertex.data[i]];
  }
  for (int32_t i = 0; i < surface->n_vert; i++) {
    *to++ = noli_model_local(writer->run.sim->model, surface->vertex.data[i]);
  }
  NOLI_TRY(
      noli_page_file_compressed(&writer->file, "mesh", numbers, size * (int64_t)sizeof *numbers));
done:
  noli_free(writer->context, numbers);
  return status;
}

// Rounds numbers with many digits to seven, in place: more than a plot or a panel shows. Names in
// quotation marks, and texts that are no numbers, stay.
static size_t round_numbers(char* text) {
  enum { MANY = 12, ROOM = 32 };
  char *to = text, rounded[ROOM];
  for (const char* from = text; *from != '\0';) {
    size_t n = strcspn(from, ",\n");
    char* end = NULL;
    double value = n >= MANY ? strtod(from, &end) : 0.0;
    size_t n_rounded =
        end == from + n && n >= MANY ? (size_t)snprintf(rounded, sizeof rounded, "%.7g", value) : n;
    memmove(to, n_rounded < n ? rounded : from, n_rounded);
    to += n_rounded;
    from += n;
    if (*from != '\0') {
      *to++ = *from++;
    }
  }
  *to = '\0';
  return (size_t)(to - text);
}

// A file of the run, if it has it.
static NoliStatus write_text(PageWriter* writer, const char* name, bool history, bool* there) {
  NoliStatus status = NOLI_OK;
  char *path = NULL, *text = NULL, id[64];
  size_t size = 0;
  NOLI_TRY(noli_file_join(writer->context, writer->run.directory, name, &path));
  *there = noli_file_exists(path);
  if (*there) {
    NOLI_TRY(noli_file_read(writer->context, path, &text, &size));
    size = history ? round_numbers(text) : size;
    snprintf(id, sizeof id, "file-%s", name);
    NOLI_TRY(noli_page_file_compressed(&writer->file, id, text, (int64_t)size));
  }
done:
  noli_free(writer->context, path);
  noli_free(writer->context, text);
  return status;
}

static NoliStatus write_texts(PageWriter* writer) {
  NoliStatus status = NOLI_OK;
  bool there;
  for (int32_t k = 0; k < N_TEXTS; k++) {
    NOLI_TRY(write_text(writer, texts[k], false, &there));
  }
  for (int32_t k = 0; k < NOLI_N_HISTORIES; k++) {
    NOLI_TRY(write_text(writer, noli_histories[k].file, true, &there));
    if (there) {
      NOLI_TRY(noli_json_append(writer->context, writer->histories,
                                json_string(noli_histories[k].file)));
    }
  }
done:
  return status;
}

// ---- the description ----------------------------------------------------------------------------

// `radius`, m: of rods and points; 0 for others. `second`, m: the other one of an elliptic section.
static json_t* bodies_of(const NoliModel* model, const NoliSimDef* def) {
  json_t* bodies = json_array();
  for (int32_t b = 0; b < model->n_body; b++) {
    double radius = fmax(def->bodies[b].rod.radius, def->bodies[b].point.radius);
    double second = def->bodies[b].rod.second_radius;
    json_array_append_new(bodies, json_pack("{s:s, s:b, s:f, s:f}", "name", model->name[b],
                                            "obstacle", (int)model->obstacle[b], "radius", radius,
                                            "second", second > 0.0 ? second : radius));
  }
  return bodies;
}

// `audit`: what is said of it, taken over; NULL: nothing.
static json_t* about_of(const PageWriter* writer, json_t* audit) {
  const NoliRunReader* run = &writer->run;
  const NoliSimDef* def = noli_scene_sim_def(run->scene);
  const double* g = def->gravity;
  return json_pack(
      "{s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:[f,f,f], s:f, s:f, s:o, s:o, s:o, s:o, s:O, s:O, s:O, "
      "s:o*}",
      "name", noli_scene_name(run->scene), "version", noli_version(), "n_nodes",
      (int)run->layout.n_vert, "n_vert", (int)writer->surface.n_vert, "n_triangles",
      (int)run->layout.n_triangles, "n_segments", (int)run->layout.n_segments, "n_points",
      (int)run->layout.n_points, "gravity", g[0], g[1], g[2], "reach",
      noli_proximity_reach(writer->proximity), "contact_distance",
      def->contact ? run->sim->model->problem.contact.dhat : 0.0, "bodies",
      bodies_of(run->sim->model, def), "floors", noli_page_floors(def), "colours",
      noli_page_colours(), "fields", noli_page_fields_json(&writer->fields), "frames",
      writer->frames, "groups", writer->groups, "histories", writer->histories, "audit", audit);
}

// The findings of the audit of the run, or the reason why there is none.
static json_t* audit_of(NoliContext* context, const char* directory) {
  NoliRunAudit audit = {0};
  if (noli_run_audit(context, directory, &audit) != NOLI_OK) {
    return json_pack("{s:s}", "error", noli_context_message(context));
  }
  json_t* messages = json_array();
  for (int64_t i = 0; i < audit.n_findings; i++) {
    json_array_append_new(messages, json_string(audit.findings[i].message));
  }
  json_t* made =
      json_pack("{s:I, s:I, s:I, s:I, s:o}", "frames", (json_int_t)audit.n_frames, "checkpoints",
                (json_int_t)audit.n_checkpoints, "steps", (json_int_t)audit.n_rows, "found",
                (json_int_t)audit.n_found, "messages", messages);
  noli_run_audit_free(context, &audit);
  return made;
}

// -------------------------------------------------------------------------------------------------

// Writes a page by a template with at most `most_frames` frames (0: all).
static NoliStatus write_page(NoliContext* context, const char* directory, const char* path,
                             const NoliPageTemplate* page, const NoliPageOptions* options,
                             int64_t most_frames, bool audited) {
  NoliStatus status = NOLI_OK;
  PageWriter writer = {.context = context,
                       .options = options != NULL ? *options : (NoliPageOptions){0},
                       .run = {.context = context, .directory = directory},
                       .groups = json_array(),
                       .frames = json_array(),
                       .histories = json_array()};

  NOLI_TRY(noli_run_reader_open(&writer.run));
  NOLI_TRY(noli_scene_require_files(writer.run.scene));
  NOLI_TRY(noli_page_surface_make(context, &writer.run.layout, &writer.surface));
  NOLI_TRY(noli_proximity_create(writer.run.sim->model, &writer.proximity));
  NOLI_TRY(noli_page_file_begin(context, path, page, &writer.file));
  NOLI_TRY(write_surface(&writer));
  NOLI_TRY(write_frames(&writer, most_frames));
  NOLI_TRY(write_texts(&writer));
  NOLI_TRY(noli_page_file_end(&writer.file,
                              about_of(&writer, audited ? audit_of(context, directory) : NULL)));
done:
  noli_page_file_abandon(&writer.file);
  noli_page_surface_free(context, &writer.surface);
  noli_page_group_free(context, &writer.group);
  noli_proximity_destroy(&writer.proximity);
  noli_run_reader_close(&writer.run);
  json_decref(writer.groups);
  json_decref(writer.frames);
  json_decref(writer.histories);
  return status;
}

NoliStatus noli_output_write_page(NoliContext* context, const char* directory, const char* path) {
  NOLI_REQUIRE(context, context != NULL && directory != NULL && path != NULL);
  return noli_output_write_page_with(context, directory, path, NULL);
}

NoliStatus noli_output_write_page_with(NoliContext* context, const char* directory,
                                       const char* path, const NoliPageOptions* options) {
  NOLI_REQUIRE(context, context != NULL && directory != NULL && path != NULL);
  return write_page(context, directory, path, &noli_page_template, options, 0, false);
}

NoliStatus noli_output_write_report(NoliContext* context, const char* directory, const char* path) {
  NOLI_REQUIRE(context, context != NULL && directory != NULL && path != NULL);
  return write_page(context, directory, path, &noli_report_template, NULL, PICTURES, true);
}
