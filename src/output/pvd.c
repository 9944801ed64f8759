#include "output/pvd.h"

#include "output/file.h"

#include <stdio.h>
#include <string.h>

void noli_pvd_frame_name(int64_t step, char name[NOLI_PVD_NAME_SIZE]) {
  snprintf(name, NOLI_PVD_NAME_SIZE, "frame_%06lld.vtu", (long long)step);
}

NoliStatus noli_pvd_add(NoliContext* context, NoliPvd* pvd, int64_t step, double time) {
  NoliStatus status = NOLI_OK;
  NOLI_PUSH(context, &pvd->frames, ((NoliPvdFrame){step, time}));
done:
  return status;
}

static NoliStatus write_frames(NoliFile* file, const NoliPvd* pvd) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_file_print(file, "<?xml version=\"1.0\"?>\n"
                                 "<VTKFile type=\"Collection\" version=\"0.1\">\n<Collection>\n"));
  for (int64_t i = 0; i < pvd->frames.count; i++) {
    char name[NOLI_PVD_NAME_SIZE];
    noli_pvd_frame_name(pvd->frames.data[i].step, name);
    NOLI_TRY(noli_file_print(file,
                             "<DataSet timestep=\"%.17g\" group=\"\" part=\"0\" file=\"%s\"/>\n",
                             pvd->frames.data[i].time, name));
  }
  NOLI_TRY(noli_file_print(file, "</Collection>\n</VTKFile>\n"));
done:
  return status;
}

NoliStatus noli_pvd_write(NoliContext* context, const NoliPvd* pvd, const char* path) {
  NoliStatus status = NOLI_OK;
  NoliFile file;
  NOLI_TRY(noli_file_create(context, path, &file));
  NOLI_TRY(write_frames(&file, pvd));
  NOLI_TRY(noli_file_commit(&file, false));
done:
  noli_file_abandon(&file);
  return status;
}

NoliStatus noli_pvd_read(NoliContext* context, const char* path, NoliPvd* pvd) {
  NoliStatus status = NOLI_OK;
  char* text = NULL;
  size_t size;
  *pvd = (NoliPvd){0};
  NOLI_TRY(noli_file_read(context, path, &text, &size));
  NOLI_CHECK(context, strstr(text, "</Collection>") != NULL, NOLI_ERROR_FORMAT,
             "%s: damaged: it is no list of frames; without it a run goes on with a new one", path);
  for (const char* line = text; line != NULL; line = strchr(line, '\n')) {
    line += *line == '\n';
    double time;
    long long step;
    if (sscanf(line, "<DataSet timestep=\"%lf\" group=\"\" part=\"0\" file=\"frame_%lld.vtu\"/>",
               &time, &step) == 2) {
      NOLI_TRY(noli_pvd_add(context, pvd, step, time));
    }
  }
done:
  noli_free(context, text);
  return status;
}

void noli_pvd_free(NoliContext* context, NoliPvd* pvd) {
  noli_array_free(context, &pvd->frames);
}
