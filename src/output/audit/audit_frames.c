#define _POSIX_C_SOURCE 200809L

#include "output/audit/audit_frames.h"

#include "output/audit/audit_totals.h"
#include "output/audit/audit_histories.h"
#include "output/file.h"

#include <dirent.h>
#include <errno.h>
#include <float.h>
#include <stdio.h>
#include <string.h>

static const char* list_name(const NoliAuditor* auditor) {
  return auditor->run.frames.format->list.name;
}

// ---- one frame ----

// Whether an array of the frame is there and equal to what the scene says.
static bool is_equal(const NoliReadFrame* frame, const char* section, const char* name,
                     NoliFrameType type, int32_t n_components, int64_t n, const void* want) {
  const NoliReadArray* array = noli_read_frame_find(frame, section, name, type, n_components, n);
  size_t size = (size_t)(n * n_components * noli_frame_type_size(type));
  return array != NULL && (n == 0 || memcmp(array->data, want, size) == 0);
}

// Whether the frame has all fields of its vertices.
static bool has_fields(const NoliReadFrame* frame) {
  static const char* const vectors[] = {"displacement", "velocity", "contact_force",
                                        "friction_force"};
  bool all = noli_read_frame_find(frame, "Points", "Points", NOLI_FRAME_FLOAT64, 3, -1) != NULL;
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
    all = all &&
          noli_read_frame_find(frame, "PointData", vectors[i], NOLI_FRAME_FLOAT32, 3, -1) != NULL;
  }
  return all;
}

// Whether cells, their bodies and tags are those of the scene, and stress is there.
static bool has_cells(const NoliFrameLayout* layout, const NoliReadFrame* frame) {
  int64_t n_cells = layout->n_cells;
  int64_t n_connectivity = n_cells > 0 ? layout->offsets[n_cells - 1] : 0;
  return frame->n_cells == n_cells &&
         is_equal(frame, "Cells", "connectivity", NOLI_FRAME_INT32, 1, n_connectivity,
                  layout->connectivity) &&
         is_equal(frame, "Cells", "offsets", NOLI_FRAME_INT64, 1, n_cells, layout->offsets) &&
         is_equal(frame, "Cells", "types", NOLI_FRAME_UINT8, 1, n_cells, layout->types) &&
         is_equal(frame, "CellData", "body", NOLI_FRAME_INT32, 1, n_cells, layout->cell_body) &&
         is_equal(frame, "CellData", "tag", NOLI_FRAME_INT32, 1, n_cells, layout->cell_tag) &&
         noli_read_frame_find(frame, "CellData", "von_mises", NOLI_FRAME_FLOAT32, 1, -1) != NULL;
}

// Whether the triangles and segments of the surface are those of the scene.
static bool has_surface(const NoliAuditor* auditor, const NoliReadFrame* frame) {
  const NoliFrameLayout* layout = &auditor->run.layout;
  return is_equal(frame, "Surface", "triangles", NOLI_FRAME_INT32, 3, layout->n_triangles,
                  layout->triangles) &&
         is_equal(frame, "Surface", "segments", NOLI_FRAME_INT32, 2, layout->n_segments,
                  layout->segments);
}

// Vertices, bodies, and cells or surface must be those of the scene. `*good` is false when they are
// not.
static NoliStatus check_topology(NoliAuditor* auditor, const char* file, int64_t step,
                                 const NoliReadFrame* frame, bool* good) {
  const NoliFrameLayout* layout = &auditor->run.layout;
  *good = frame->n_vert == layout->n_vert &&
          (auditor->run.frames.format->has_cells ? has_cells(layout, frame)
                                                 : has_surface(auditor, frame)) &&
          is_equal(frame, "PointData", "body", NOLI_FRAME_INT32, 1, layout->n_vert,
                   layout->vertex_body) &&
          has_fields(frame);
  return *good ? NOLI_OK
               : noli_auditor_find(
                     auditor, NOLI_FINDING_FILE, file, step,
                     "%s: its vertices, cells, bodies, tags or fields are not those of the "
                     "scene",
                     file);
}

// Positions less displacements are the rest positions: mass is where it was.
static NoliStatus check_rest(NoliAuditor* auditor, const char* file, int64_t step,
                             const NoliReadFrame* frame, const double* x) {
  const NoliModel* model = auditor->run.sim->model;
  const int32_t* node = auditor->run.layout.node;
  const NoliReadArray* array = noli_read_frame_find(frame, "PointData", "displacement",
                                                    NOLI_FRAME_FLOAT32, 3, frame->n_vert);
  const float* u = array != NULL ? array->data : NULL;
  for (int64_t i = 0; u != NULL && i < 3 * frame->n_vert; i++) {
    int32_t vertex = node[i / 3];
    double X = model->problem.X[3 * (int64_t)vertex + i % 3];
    double moved = x[3 * (int64_t)vertex + i % 3] - X;
    double allowed = (double)FLT_EPSILON * fabs(moved) + (double)FLT_MIN;
    if (!(fabs(moved - (double)u[i]) <= allowed)) {
      int32_t body = model->problem.surface->body[vertex];
      return noli_auditor_find(
          auditor, NOLI_FINDING_BALANCE, file, step,
          "%s: vertex %d of \"%s\" is %.9g m from where it rests along axis %d, "
          "its displacement is %.9g m",
          file, (int)noli_model_local(model, vertex), model->name[body], moved, (int)(i % 3),
          (double)u[i]);
    }
  }
  return NOLI_OK;
}

static NoliStatus check_frame_time(NoliAuditor* auditor, const char* file, NoliRunFrame listed,
                                   double time) {
  NoliStatus status = NOLI_OK;
  if (time != listed.time) {
    NOLI_TRY(noli_auditor_find(auditor, NOLI_FINDING_TIME, file, listed.step,
                               "%s: its time is %.17g s, in %s %.17g s", file, time,
                               list_name(auditor), listed.time));
  }

  if (listed.step > auditor->n_rows) {
    // rows that are wrong were found before
    if (auditor->n_rows == auditor->audit->n_rows) {
      NOLI_TRY(noli_auditor_find(auditor, NOLI_FINDING_TIME, file, listed.step,
                                 "%s: step %lld is not in steps.csv, which ends with %lld", file,
                                 (long long)listed.step, (long long)auditor->n_rows));
    }
    goto done;
  }

  double want = listed.step > 0 ? noli_auditor_value(auditor, listed.step, NOLI_AUDIT_time) : 0.0;
  if (time != want) {
    NOLI_TRY(noli_auditor_find(auditor, NOLI_FINDING_TIME, file, listed.step,
                               "%s: its time is %.17g s, that of step %lld is %.17g s", file, time,
                               (long long)listed.step, want));
  }
done:
  return status;
}

static NoliStatus verify_frame(NoliAuditor* auditor, const char* file, NoliRunFrame listed,
                               const NoliReadFrame* frame) {
  NoliStatus status = NOLI_OK;
  const NoliFrameLayout* layout = &auditor->run.layout;
  double *x = NULL, *v = NULL;
  bool good, has_rates;
  NOLI_TRY(check_frame_time(auditor, file, listed, frame->time));
  NOLI_TRY(check_topology(auditor, file, listed.step, frame, &good));
  if (!good) {
    goto done;
  }
  NOLI_NEW(auditor->context, x, 3 * (int64_t)layout->n_node);
  NOLI_NEW(auditor->context, v, 3 * (int64_t)layout->n_node);
  noli_frame_layout_expand(layout, auditor->run.sim->model, frame, x, v, &has_rates);
  NOLI_TRY(noli_auditor_check_positions(auditor, file, listed.step, x));
  NOLI_TRY(check_rest(auditor, file, listed.step, frame, x));
  NOLI_TRY(
      noli_auditor_check_motion(auditor, file, listed.step, x, v, has_rates, (double)FLT_EPSILON));
  NOLI_TRY(noli_auditor_check_forces(auditor, file, listed.step, frame));
  auditor->audit->n_frames++;
done:
  noli_free(auditor->context, x);
  noli_free(auditor->context, v);
  return status;
}

static NoliStatus read_frame(NoliAuditor* auditor, NoliRunFrame listed) {
  NoliStatus status = NOLI_OK;
  char name[NOLI_FRAME_NAME_SIZE];
  char* path = NULL;
  NoliReadFrame frame = {0};
  noli_frame_name(auditor->run.frames.format, listed.step, name);
  NOLI_TRY(noli_run_reader_frame_path(&auditor->run, listed.step, &path));
  if (!noli_file_exists(path)) {
    NOLI_TRY(noli_auditor_find(auditor, NOLI_FINDING_FILE, name, listed.step,
                               "%s: missing, although %s names it", name, list_name(auditor)));
    goto done;
  }
  status = auditor->run.frames.format->read(auditor->context, path, NULL, &frame);
  if (status != NOLI_OK) {
    status = noli_auditor_excuse(auditor, status, name, listed.step);
    goto done;
  }
  NOLI_TRY(verify_frame(auditor, name, listed, &frame));
done:
  noli_read_frame_free(auditor->context, &frame);
  noli_free(auditor->context, path);
  return status;
}

// ---- which frames there must be ----

static bool audit_frames_is_listed(const NoliFrameList* list, int64_t step) {
  for (int64_t i = 0; i < list->frames.count; i++) {
    if (list->frames.data[i].step == step) {
      return true;
    }
  }
  return false;
}

// A frame at the beginning, one every `output.every` steps, one at the end.
static NoliStatus check_list(NoliAuditor* auditor) {
  NoliStatus status = NOLI_OK;
  const NoliFrameList* list = &auditor->run.frames;
  const char* name = list_name(auditor);
  int64_t every = noli_scene_output(auditor->run.scene).frame_interval;
  int64_t last = auditor->audit->n_rows, next = 0;

  // steps ascend
  for (int64_t i = 1; i < list->frames.count; i++) {
    if (list->frames.data[i].step <= list->frames.data[i - 1].step) {
      NOLI_TRY(noli_auditor_find(
          auditor, NOLI_FINDING_TIME, name, -1, "%s: step %lld follows step %lld", name,
          (long long)list->frames.data[i].step, (long long)list->frames.data[i - 1].step));
    }
  }

  // no frame is missing
  for (int64_t step = 0; step <= last; step += step % every == 0 ? every - step % every : 1) {
    // of a run that was killed between a row and its frame
    bool may_lack = !auditor->audit->ended && step == last && last > 0;
    while (next < list->frames.count && list->frames.data[next].step < step) {
      next++;
    }
    bool found = next < list->frames.count && list->frames.data[next].step == step;
    if (!found && !may_lack) {
      NOLI_TRY(noli_auditor_find(auditor, NOLI_FINDING_FILE, name, step,
                                 "%s: the frame of step %lld is missing", name, (long long)step));
    }
  }

  // nor the last one
  if (auditor->audit->ended && last % every != 0 && !audit_frames_is_listed(list, last)) {
    NOLI_TRY(noli_auditor_find(auditor, NOLI_FINDING_FILE, name, last,
                               "%s: the frame of the last step, %lld, is missing", name,
                               (long long)last));
  }
done:
  return status;
}

// Frames on the disk that the list does not name: a list that lost lines, or files of another run.
static NoliStatus check_strays(NoliAuditor* auditor) {
  NoliStatus status = NOLI_OK;
  DIR* directory = opendir(auditor->run.directory);
  if (directory == NULL) {
    return noli_file_fail(auditor->context, auditor->run.directory, "cannot open the directory",
                          errno);
  }
  for (const struct dirent* entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
    const char* name = entry->d_name;
    int64_t step = noli_frame_step(auditor->run.frames.format, name);
    if (step < 0) {
      continue;
    }
    // a frame is on the disk before the list names it
    bool newest = !auditor->audit->ended && step >= auditor->audit->n_rows;
    if (!audit_frames_is_listed(&auditor->run.frames, step) && !newest) {
      NOLI_TRY(noli_auditor_find(auditor, NOLI_FINDING_FILE, name, step, "%s: not named in %s",
                                 name, list_name(auditor)));
    }
  }
done:
  closedir(directory);
  return status;
}

NoliStatus noli_auditor_check_frames(NoliAuditor* auditor) {
  NoliStatus status = NOLI_OK;
  const char* name = list_name(auditor);
  char* path = NULL;
  NOLI_TRY(noli_run_reader_list_path(&auditor->run, &path));
  if (!noli_file_exists(path)) {
    NOLI_TRY(noli_auditor_find(auditor, NOLI_FINDING_FILE, name, -1, "%s: missing", name));
    goto done;
  }
  NOLI_TRY(noli_run_reader_list(&auditor->run, true));
  NOLI_TRY(check_list(auditor));
  NOLI_TRY(check_strays(auditor));
  for (int64_t i = 0; i < auditor->run.frames.frames.count; i++) {
    NOLI_TRY(read_frame(auditor, auditor->run.frames.frames.data[i]));
  }
done:
  noli_free(auditor->context, path);
  return status;
}
