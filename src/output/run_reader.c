#include "output/run_reader.h"

#include "output/file.h"
#include "step/simulation.h"

NoliStatus noli_run_reader_open(NoliRunReader* reader) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = reader->context;
  char* path = NULL;
  NOLI_TRY(noli_file_join(context, reader->directory, "scene.json", &path));
  NOLI_CHECK(context, noli_file_exists(path), NOLI_ERROR_FORMAT,
             "%s: not a result of Noli: it has no scene.json", reader->directory);
  NOLI_TRY(noli_scene_load(context, path, NULL, 0, &reader->scene));
  const NoliSimDef* def = noli_scene_sim_def(reader->scene);
  NOLI_TRY(noli_sim_create_for_reading(context, def, &reader->sim));
  NOLI_TRY(noli_frame_layout_create(context, reader->sim, def, &reader->layout));
  reader->frames.format = noli_frame_format_find(noli_scene_output(reader->scene).frame_format);
done:
  noli_free(context, path);
  return status;
}

void noli_run_reader_close(NoliRunReader* reader) {
  noli_frame_list_free(reader->context, &reader->frames);
  noli_frame_layout_free(reader->context, &reader->layout);
  noli_sim_release(&reader->sim);
  noli_scene_destroy(&reader->scene);
}

NoliStatus noli_run_reader_list_path(const NoliRunReader* reader, char** path) {
  return noli_file_join(reader->context, reader->directory, reader->frames.format->list.name, path);
}

NoliStatus noli_run_reader_list(NoliRunReader* reader, bool may_be_empty) {
  NoliStatus status = NOLI_OK;
  char* path = NULL;
  NOLI_TRY(noli_run_reader_list_path(reader, &path));
  NOLI_TRY(noli_frame_list_read(reader->context, reader->frames.format, path, &reader->frames));
  NOLI_CHECK(reader->context, may_be_empty || reader->frames.frames.count > 0, NOLI_ERROR_FORMAT,
             "%s: there are no frames", path);
done:
  noli_free(reader->context, path);
  return status;
}

NoliStatus noli_run_reader_frame_path(const NoliRunReader* reader, int64_t step, char** path) {
  char name[NOLI_FRAME_NAME_SIZE];
  noli_frame_name(reader->frames.format, step, name);
  return noli_file_join(reader->context, reader->directory, name, path);
}

NoliStatus noli_run_reader_frame(const NoliRunReader* reader, int64_t step,
                                 const char* const* wanted, NoliReadFrame* frame) {
  NoliStatus status = NOLI_OK;
  const NoliFrameFormat* format = reader->frames.format;
  char* path = NULL;
  NOLI_TRY(noli_run_reader_frame_path(reader, step, &path));
  NOLI_TRY(format->read(reader->context, path, wanted, frame));
  bool fits = frame->n_vert == reader->layout.n_vert &&
              (!format->has_cells || frame->n_cells == reader->layout.n_cells) &&
              noli_read_frame_find(frame, "Points", "Points", NOLI_FRAME_FLOAT64, 3, frame->n_vert);
  NOLI_CHECK(reader->context, fits, NOLI_ERROR_FORMAT,
             "%s: its vertices or cells are not those of the scene", path);
done:
  noli_free(reader->context, path);
  return status;
}
