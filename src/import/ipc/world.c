#include "import/ipc/world.h"

#include "math/rotation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_DEPTH = 32, PATH_SIZE = 4096 };

static const double PI = 3.14159265358979323846;

// ---- files --------------------------------------------------------------------------------------

static NoliStatus file_exists(const NoliSceneSource* source, const char* name, bool* exists) {
  NoliStatus status = NOLI_OK;
  char* path = NULL;
  NOLI_TRY(noli_scene_file_path(source, name, &path));
  FILE* file = fopen(path, "rb");
  *exists = file != NULL;
  if (file != NULL) {
    fclose(file);
  }
done:
  noli_free(source->context, path);
  return status;
}

NoliStatus noli_ipc_find_file(const NoliSceneSource* source, NoliSpan path, const char* suffix,
                              char** name) {
  NoliStatus status = NOLI_OK;
  char candidate[PATH_SIZE];
  size_t used = 0;
  bool exists = false;
  *name = NULL;

  // up from the folder of the scene, "../" by "../"
  for (int depth = 0; depth < MAX_DEPTH && !exists; depth++) {
    int n =
        snprintf(candidate + used, sizeof candidate - used, "%.*s%s", (int)path.n, path.at, suffix);
    if (n < 0 || (size_t)n >= sizeof candidate - used - 3) {
      break;
    }
    NOLI_TRY(file_exists(source, candidate, &exists));
    if (!exists) {
      memcpy(candidate + used, "../", 4);
      used += 3;
    }
    if (path.at[0] == '/') {
      break;
    }
  }

  if (exists) {
    *name = noli_strdup(source->context, candidate);
    NOLI_CHECK(source->context, *name != NULL, NOLI_ERROR_MEMORY, "out of memory");
  }
done:
  return status;
}

NoliStatus noli_ipc_read_mesh(const NoliSceneSource* source, int32_t line, const char* name,
                              NoliMesh** mesh) {
  NoliStatus status = NOLI_OK;
  char* path = NULL;
  NOLI_TRY(noli_scene_file_path(source, name, &path));
  status = noli_mesh_read(source->context, path, mesh);
  if (status != NOLI_OK && status != NOLI_ERROR_MEMORY) {
    char reason[1000];
    snprintf(reason, sizeof reason, "%s", noli_context_message(source->context));
    (void)noli_ipc_fail(source, line, "%s", reason);
  }
done:
  noli_free(source->context, path);
  return status;
}

static bool has_suffix(NoliSpan path, const char* suffix) {
  int64_t n = (int64_t)strlen(suffix);
  return path.n >= n && memcmp(path.at + path.n - n, suffix, (size_t)n) == 0;
}

// The file of a shape. Segments and points that are not there are taken from the triangles of an
// .obj file beside them.
static NoliStatus find_shape_file(const NoliSceneSource* source, const NoliIpcShape* shape,
                                  NoliIpcFile* file) {
  NoliStatus status = NOLI_OK;
  NoliSpan path = shape->path;
  bool segments = has_suffix(path, ".seg"), points = has_suffix(path, ".pt");
  NOLI_IPC_CHECK(source, shape->line,
                 segments || points || has_suffix(path, ".msh") || has_suffix(path, ".obj"),
                 "%.*s: shapes must be .msh, .obj, .seg or .pt", (int)path.n, path.at);
  file->path = path;
  NOLI_TRY(noli_ipc_find_file(source, path, "", &file->name));
  if (file->name == NULL && (segments || points)) {
    NoliSpan stem = {path.at, path.n - (segments ? 4 : 3)};
    NOLI_TRY(noli_ipc_find_file(source, stem, ".obj", &file->name));
    file->as = segments ? "edges" : "points";
  }
  NOLI_IPC_CHECK(source, shape->line, file->name != NULL,
                 "%.*s: there is no such file in the folder of the scene or in one above it",
                 (int)path.n, path.at);
done:
  return status;
}

static void mark(bool* marked, const int32_t* vertex, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    marked[vertex[i]] = true;
  }
}

// Vertices of the boundary; of what has no triangles all.
static NoliStatus find_surface(NoliContext* context, NoliIpcFile* file) {
  NoliStatus status = NOLI_OK;
  const NoliMesh* mesh = file->mesh;
  int32_t* tri = NULL;
  int32_t n_tri = 0;
  NOLI_NEW_ZERO(context, file->surface, mesh->n_vert);
  if (mesh->n_tet > 0) {
    NOLI_TRY(noli_mesh_boundary(context, mesh, &tri, &n_tri));
    mark(file->surface, tri, 3 * (int64_t)n_tri);
  } else if (mesh->n_tri > 0 && file->as == NULL) {
    mark(file->surface, mesh->tri, 3 * (int64_t)mesh->n_tri);
  } else {
    memset(file->surface, 1, (size_t)mesh->n_vert * sizeof *file->surface);
  }
done:
  noli_mesh_free_array(context, &tri);
  return status;
}

// The index of the file of a shape, which is read if it is new.
static NoliStatus add_file(NoliIpcWorld* world, const NoliIpcShape* shape, int32_t* index) {
  NoliStatus status = NOLI_OK;
  const NoliSceneSource* source = world->source;
  for (int32_t i = 0; i < world->files.count; i++) {
    NoliSpan known = world->files.data[i].path;
    if (known.n == shape->path.n && memcmp(known.at, shape->path.at, (size_t)known.n) == 0) {
      *index = i;
      return NOLI_OK;
    }
  }
  *index = (int32_t)world->files.count;
  NOLI_PUSH(source->context, &world->files, (NoliIpcFile){0});
  NoliIpcFile* file = &world->files.data[*index];
  NOLI_TRY(find_shape_file(source, shape, file));
  NOLI_TRY(noli_ipc_read_mesh(source, shape->line, file->name, &file->mesh));
  NOLI_IPC_CHECK(source, shape->line,
                 file->mesh->n_vert > 0 &&
                     (file->mesh->n_tet > 0 || !has_suffix(file->path, ".msh")),
                 "%s: has no tetrahedra", file->name);
  NOLI_TRY(find_surface(source->context, file));
done:
  return status;
}

// ---- placement ----------------------------------------------------------------------------------

NoliMat3 noli_ipc_rotation(const double degrees[3]) {
  static const double one[3] = {1, 1, 1}, zero[3] = {0, 0, 0};
  double x[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  NoliMesh axes = {.n_vert = 3, .x = x};
  noli_mesh_transform(&axes, one, degrees, zero);
  NoliMat3 rows = noli_load33(x);
  return noli_transpose33(rows);
}

static double snap(double degrees) {
  double whole = round(degrees);
  return fabs(degrees - whole) < 1e-10 ? whole : degrees;
}

// Angles of Rx Ry Rz = R.
static void angles_of(const NoliMat3* R, double degrees[3]) {
  double lean = hypot(R->m[0][0], R->m[0][1]);
  double angle[3] = {0, atan2(R->m[0][2], lean), 0};
  if (lean > 1e-12) {
    angle[0] = atan2(-R->m[1][2], R->m[2][2]);
    angle[2] = atan2(-R->m[0][1], R->m[0][0]);
  } else {
    // x and z turn about one axis
    angle[2] = atan2(R->m[1][0], R->m[1][1]);
  }
  for (int i = 0; i < 3; i++) {
    degrees[i] = snap(angle[i] * (180.0 / PI));
  }
}

static NoliMat3 turn_about(NoliVec3 axis, double degrees) {
  double turn[3] = {degrees, 0, 0};
  NoliMat3 about_x = noli_ipc_rotation(turn);
  return noli_turn33(axis, about_x.m[1][1], about_x.m[2][1]);
}

int32_t noli_ipc_n_vert(const NoliIpcWorld* world, const NoliIpcPart* part) {
  return world->files.data[part->file].mesh->n_vert;
}

static void grow_box(const double* x, int32_t n_vert, double low[3], double high[3]) {
  for (int64_t i = 0; i < 3 * (int64_t)n_vert; i++) {
    low[i % 3] = fmin(low[i % 3], x[i]);
    high[i % 3] = fmax(high[i % 3], x[i]);
  }
}

static void empty_box(double low[3], double high[3]) {
  for (int k = 0; k < 3; k++) {
    low[k] = (double)INFINITY;
    high[k] = -(double)INFINITY;
  }
}

void noli_ipc_world_box(const NoliIpcWorld* world, bool material, double low[3], double high[3]) {
  empty_box(low, high);
  for (int64_t i = 0; i < world->parts.count; i++) {
    const NoliIpcPart* part = &world->parts.data[i];
    grow_box(material ? part->X : part->x, noli_ipc_n_vert(world, part), low, high);
  }
}

void noli_ipc_part_box(const NoliIpcWorld* world, const NoliIpcPart* part, double low[3],
                       double high[3]) {
  empty_box(low, high);
  grow_box(part->x, noli_ipc_n_vert(world, part), low, high);
}

// x <- R (scale p) + translate for the vertices p of the file.
static void ipc_world_put(const NoliIpcWorld* world, const NoliIpcPart* part, double* x) {
  const NoliMesh* file = world->files.data[part->file].mesh;
  memcpy(x, file->x, 3 * (size_t)file->n_vert * sizeof *x);
  NoliMesh points = {.n_vert = file->n_vert, .x = x};
  noli_mesh_transform(&points, part->scale, part->rotate, part->translate);
}

// Copy number `copy` of a matrix, z fastest.
static NoliStatus add_part(NoliIpcWorld* world, const NoliIpcShape* shape, int32_t file,
                           int32_t copy) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = world->source->context;
  const NoliMesh* mesh = world->files.data[file].mesh;
  const int32_t* count = shape->count;
  const int32_t at[3] = {copy / (count[1] * count[2]), copy / count[2] % count[1], copy % count[2]};
  NOLI_PUSH(context, &world->parts,
            ((NoliIpcPart){.shape = shape, .file = file, .copy = copy, .solid = mesh->n_tet > 0}));
  NoliIpcPart* part = &world->parts.data[world->parts.count - 1];
  for (int k = 0; k < 3; k++) {
    part->scale[k] = shape->scale[k];
    part->rotate[k] = shape->rotate[k];
    part->translate[k] = shape->translate[k] + shape->step[k] * at[k];
  }
  NOLI_NEW(context, part->X, 3 * (int64_t)mesh->n_vert);
  NOLI_NEW(context, part->x, 3 * (int64_t)mesh->n_vert);
  ipc_world_put(world, part, part->X);
  memcpy(part->x, part->X, 3 * (size_t)mesh->n_vert * sizeof *part->x);
done:
  return status;
}

// `rotateModel` turns all parts as one about a point that lies half the extents from the origin;
// what is in stress-free shape stays so, because the materials are isotropic.
static void turn_model(NoliIpcWorld* world) {
  const double* given = world->script->rotate_model;
  NoliVec3 axis = noli_normalize3(noli_load3(given));
  NoliMat3 turn = turn_about(axis, given[3]);
  double low[3], high[3];
  noli_ipc_world_box(world, false, low, high);
  NoliVec3 centre = noli_scale3(0.5, noli_sub3(noli_load3(high), noli_load3(low)));
  for (int64_t i = 0; i < world->parts.count; i++) {
    NoliIpcPart* part = &world->parts.data[i];
    NoliMat3 own = noli_ipc_rotation(part->rotate);
    NoliMat3 both = noli_mul33(turn, own);
    NoliVec3 arm = noli_sub3(noli_load3(part->translate), centre);
    angles_of(&both, part->rotate);
    noli_store3(part->translate, noli_add3(centre, noli_mul33_vec(&turn, arm)));
    ipc_world_put(world, part, part->x);
  }
}

// `size`: the largest extent of where everything starts becomes this, its lowest corner the origin.
static NoliStatus resize(NoliIpcWorld* world) {
  NoliStatus status = NOLI_OK;
  double low[3], high[3];
  noli_ipc_world_box(world, false, low, high);
  double extent = fmax(high[0] - low[0], fmax(high[1] - low[1], high[2] - low[2]));
  NOLI_IPC_CHECK(world->source, 1, extent > 0.0 && isfinite(extent),
                 "size: the shapes have an extent of %g", extent);
  double factor = world->script->size / extent;
  for (int64_t i = 0; i < world->parts.count; i++) {
    NoliIpcPart* part = &world->parts.data[i];
    for (int k = 0; k < 3; k++) {
      part->scale[k] *= factor;
      part->translate[k] = factor * (part->translate[k] - low[k]);
    }
    for (int64_t j = 0; j < 3 * (int64_t)noli_ipc_n_vert(world, part); j++) {
      part->X[j] = factor * (part->X[j] - low[j % 3]);
    }
    ipc_world_put(world, part, part->x);
  }
done:
  return status;
}

void noli_ipc_world_lift(NoliIpcWorld* world, double height) {
  for (int64_t i = 0; i < world->parts.count; i++) {
    NoliIpcPart* part = &world->parts.data[i];
    part->translate[1] += height;
    ipc_world_put(world, part, part->x);
  }
}

// The mean of the vertices goes to the origin of the mesh, its largest extent becomes its size.
static NoliStatus place_still(NoliIpcWorld* world, const NoliIpcStill* still,
                              NoliIpcPlaced* placed) {
  NoliStatus status = NOLI_OK;
  const NoliSceneSource* source = world->source;
  NoliMesh* mesh = NULL;
  double low[3], high[3], mean[3] = {0, 0, 0};

  empty_box(low, high);
  NOLI_TRY(noli_ipc_find_file(source, still->path, "", &placed->file));
  NOLI_IPC_CHECK(
      source, still->line, placed->file != NULL,
      "meshCO: %.*s: there is no such file in the folder of the scene or in one above it",
      (int)still->path.n, still->path.at);
  NOLI_TRY(noli_ipc_read_mesh(source, still->line, placed->file, &mesh));
  grow_box(mesh->x, mesh->n_vert, low, high);
  for (int64_t i = 0; i < 3 * (int64_t)mesh->n_vert; i++) {
    mean[i % 3] += mesh->x[i] / mesh->n_vert;
  }
  double extent = fmax(high[0] - low[0], fmax(high[1] - low[1], high[2] - low[2]));
  NOLI_IPC_CHECK(source, still->line, extent > 0.0 && isfinite(extent),
                 "meshCO: %s has an extent of %g", placed->file, extent);
  placed->scale = still->size / extent;
  NoliMat3 R = noli_ipc_rotation(still->rotate);
  NoliVec3 shift = noli_scale3(-placed->scale, noli_mul33_vec(&R, noli_load3(mean)));
  noli_store3(placed->translate, noli_add3(noli_load3(still->origin), shift));
  const double scale[3] = {placed->scale, placed->scale, placed->scale};
  noli_mesh_transform(mesh, scale, still->rotate, placed->translate);
  empty_box(low, high);
  grow_box(mesh->x, mesh->n_vert, low, high);
  placed->right = high[0];
done:
  noli_mesh_destroy(source->context, &mesh);
  return status;
}

static NoliStatus place_stills(NoliIpcWorld* world) {
  NoliStatus status = NOLI_OK;
  for (int64_t i = 0; i < world->script->stills.count; i++) {
    NOLI_PUSH(world->source->context, &world->stills, (NoliIpcPlaced){0});
    NOLI_TRY(place_still(world, &world->script->stills.data[i], &world->stills.data[i]));
  }
done:
  return status;
}

double noli_ipc_right_end(const NoliIpcWorld* world) {
  double x = -(double)INFINITY;
  for (int64_t i = 0; i < world->stills.count; i++) {
    x = fmax(x, world->stills.data[i].right);
  }
  return x;
}

static NoliStatus ipc_world_measure(NoliIpcWorld* world) {
  NoliStatus status = NOLI_OK;
  double low[3], high[3];
  empty_box(low, high);
  for (int64_t i = 0; i < world->parts.count; i++) {
    const NoliIpcPart* part = &world->parts.data[i];
    if (part->solid) {
      grow_box(part->X, noli_ipc_n_vert(world, part), low, high);
    }
  }
  world->diagonal = noli_norm3(noli_sub3(noli_load3(high), noli_load3(low)));
  NOLI_IPC_CHECK(world->source, 1, isfinite(world->diagonal) && world->diagonal > 0.0,
                 "no shape has tetrahedra");
done:
  return status;
}

// ---- names --------------------------------------------------------------------------------------

// The file without folder and suffix, and a number where several parts would have that name.
static NoliStatus name_part(NoliIpcWorld* world, int64_t index) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = world->source->context;
  NoliIpcPart* part = &world->parts.data[index];
  NoliSpan path = world->files.data[part->file].path;
  int64_t begin = path.n, end = path.n;

  while (begin > 0 && path.at[begin - 1] != '/') {
    begin--;
  }
  for (int64_t i = begin + 1; i < path.n; i++) {
    end = path.at[i] == '.' ? i : end;
  }
  bool alone = world->parts.count == 1;
  char name[80];
  int n = snprintf(name, sizeof name, "%.*s", (int)(end - begin < 40 ? end - begin : 40),
                   path.at + begin);
  for (char* c = name; *c != '\0'; c++) {
    bool plain = *c > ' ' && *c < 127 && strchr("*[]\"\\", *c) == NULL;
    *c = plain ? *c : '_';
  }
  if (!alone) {
    snprintf(name + n, sizeof name - (size_t)n, "_%lld", (long long)index);
  }
  part->name = noli_strdup(context, name);
  NOLI_CHECK(context, part->name != NULL, NOLI_ERROR_MEMORY, "out of memory");
done:
  return status;
}

// ---- all together ------------------------------------------------------------------------------

NoliStatus noli_ipc_world_make(const NoliSceneSource* source, const NoliIpcScript* script,
                               NoliIpcWorld* world) {
  NoliStatus status = NOLI_OK;
  *world =
      (NoliIpcWorld){.source = source,
                     .script = script,
                     .time_step = script->time[1],
                     .n_steps = (int64_t)ceil(script->time[0] / script->time[1] * (1.0 - 1e-12))};
  for (int64_t i = 0; i < script->shapes.count; i++) {
    const NoliIpcShape* shape = &script->shapes.data[i];
    int32_t file;
    NOLI_TRY(add_file(world, shape, &file));
    for (int32_t copy = 0; copy < shape->count[0] * shape->count[1] * shape->count[2]; copy++) {
      NOLI_TRY(add_part(world, shape, file, copy));
    }
  }

  for (int64_t i = 0; i < world->parts.count; i++) {
    NOLI_TRY(name_part(world, i));
  }
  if (script->rotate_model[3] != 0.0) {
    NOLI_IPC_CHECK(source, 1, noli_norm3(noli_load3(script->rotate_model)) > 0.0,
                   "rotateModel: the axis must not be 0");
    turn_model(world);
  }

  if (script->size > 0.0) {
    NOLI_TRY(resize(world));
  }
  NOLI_TRY(ipc_world_measure(world));
  NOLI_TRY(place_stills(world));
done:
  return status;
}

void noli_ipc_world_release(NoliIpcWorld* world) {
  NoliContext* context = world->source->context;
  for (int64_t i = 0; i < world->files.count; i++) {
    noli_free(context, world->files.data[i].name);
    noli_free(context, world->files.data[i].surface);
    noli_mesh_destroy(context, &world->files.data[i].mesh);
  }
  for (int64_t i = 0; i < world->parts.count; i++) {
    NoliIpcPart* part = &world->parts.data[i];
    noli_free(context, part->name);
    noli_free(context, part->X);
    noli_free(context, part->x);
    json_decref(part->moves);
    json_decref(part->forces);
  }
  for (int64_t i = 0; i < world->stills.count; i++) {
    noli_free(context, world->stills.data[i].file);
  }
  noli_array_free(context, &world->stills);
  noli_array_free(context, &world->files);
  noli_array_free(context, &world->parts);
}
