#define _POSIX_C_SOURCE 200809L
#include "stand_in.h"

#include "noli/noli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
  const char* file;
  int32_t n_side;
} mats[] = {{"mat150x150t40.msh", 150}, {"mat225x225t40.msh", 225}};

// A mat of n x n x 2 vertices, 1 m x 1/120 m x 1 m, like the available mats.
static NoliStatus make_mat(NoliContext* context, int32_t n_side, NoliMesh** mesh) {
  return noli_mesh_make_mat(context, 1.0, 1.0, 1.0 / 120.0, n_side - 1, n_side - 1, false, mesh);
}

static bool write_mat(int32_t n_side, const char* path) {
  NoliContext* context = NULL;
  NoliContextDef def = noli_default_context_def();
  // threads started in this process would not exist in the process that runs the scene
  def.n_threads = 1;
  NoliMesh* mesh = NULL;
  if (noli_context_create(&def, &context) != NOLI_OK) {
    return false;
  }
  bool good = make_mat(context, n_side, &mesh) == NOLI_OK &&
              noli_mesh_write(context, path, mesh) == NOLI_OK;
  if (!good) {
    fprintf(stderr, "noli_bench: %s\n", noli_context_message(context));
  }
  noli_mesh_destroy(context, &mesh);
  noli_context_destroy(&context);
  return good;
}

static bool copy_file(const char* from, const char* to) {
  FILE* in = fopen(from, "rb");
  FILE* out = in != NULL ? fopen(to, "wb") : NULL;
  bool good = out != NULL;
  char buffer[4096];
  for (size_t got = 1; good && got > 0;) {
    got = fread(buffer, 1, sizeof buffer, in);
    good = fwrite(buffer, 1, got, out) == got;
  }
  good = good && ferror(in) == 0;
  if (in != NULL) {
    fclose(in);
  }
  return out != NULL ? fclose(out) == 0 && good : false;
}

static bool make_folders(StandIn* made) {
  char path[FOLDER_SIZE + 32];
  const char* place = getenv("TMPDIR");
  int n = snprintf(made->folder, sizeof made->folder, "%s/noli_bench_XXXXXX",
                   place != NULL && place[0] != '\0' ? place : "/tmp");
  if (n >= (int)sizeof made->folder || mkdtemp(made->folder) == NULL) {
    made->folder[0] = '\0';
    return false;
  }
  snprintf(path, sizeof path, "%s/input", made->folder);
  if (mkdir(path, 0700) != 0) {
    return false;
  }
  snprintf(path, sizeof path, "%s/input/tetMeshes", made->folder);
  return mkdir(path, 0700) == 0;
}

bool stand_in_make(const char* scene, const char* message, StandIn* made) {
  *made = (StandIn){{0}, {0}, {0}, {0}};
  size_t i = 0, n = sizeof mats / sizeof *mats;
  while (i < n && strstr(message, mats[i].file) == NULL) {
    i++;
  }
  if (i == n) {
    return false;
  }
  const char* slash = strrchr(scene, '/');
  const char* name = slash != NULL ? slash + 1 : scene;
  bool good = make_folders(made);
  snprintf(made->scene, sizeof made->scene, "%s/%.120s", made->folder, name);
  snprintf(made->mesh, sizeof made->mesh, "%s/input/tetMeshes/%s", made->folder, mats[i].file);
  snprintf(made->note, sizeof made->note, "%s is missing; a mat of that size was generated",
           mats[i].file);
  good = good && copy_file(scene, made->scene) && write_mat(mats[i].n_side, made->mesh);
  if (!good) {
    stand_in_remove(made);
  }
  return good;
}

void stand_in_remove(StandIn* made) {
  char path[FOLDER_SIZE + 32];
  if (made->folder[0] == '\0') {
    return;
  }
  remove(made->scene);
  remove(made->mesh);
  snprintf(path, sizeof path, "%s/input/tetMeshes", made->folder);
  rmdir(path);
  snprintf(path, sizeof path, "%s/input", made->folder);
  rmdir(path);
  rmdir(made->folder);
  made->folder[0] = '\0';
}
