// Feeds one input to one reader. Built once for each kind of file; FUZZ_FILE is the name of the
// input, and its suffix selects the reader. For every input the reader must not crash or leak, must
// stay within a memory budget, must return a status that fits its result, and must give a message
// with each failure.
//
// With clang and NOLI_FUZZ this is a target of libFuzzer; otherwise replay.c supplies the inputs.
#include "harness.h"

#include "noli/import.h"
#include "noli/scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A failed expectation has to end the program, because fuzzers look for crashes.
#define EXPECT(condition)                                                                          \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);               \
      abort();                                                                                     \
    }                                                                                              \
  } while (0)

enum { MEMORY = 64 << 20, MOST_SIMULATED = 2000 };

// ---- memory

static void* allocate(void* user, size_t size) {
  size_t* bytes = user;
  if (size > MEMORY || *bytes + size > MEMORY) {
    return NULL;
  }
  *bytes += size;
  return malloc(size);
}

static void release(void* user, void* memory, size_t size) {
  size_t* bytes = user;
  *bytes -= size;
  free(memory);
}

static NoliContext* make_context(size_t* bytes) {
  NoliContextDef def = noli_default_context_def();
  def.n_threads = 1;
  def.allocate = allocate;
  def.release = release;
  def.allocator_user = bytes;
  NoliContext* context = NULL;
  EXPECT(noli_context_create(&def, &context) == NOLI_OK);
  return context;
}

static void expect_told(NoliContext* context, NoliStatus status) {
  EXPECT(status == NOLI_OK || noli_context_message(context)[0] != '\0');
}

// ---- readers

static void meet_mesh(NoliContext* context, const char* path) {
  NoliMesh* mesh = NULL;
  NoliMeshSets sets;
  NoliMeshSides sides;
  NoliMeshCleaned cleaned;
  NoliStatus status = noli_mesh_read_sides(context, path, &mesh, &sets, &sides);
  expect_told(context, status);
  EXPECT((status == NOLI_OK) == (mesh != NULL));
  if (status == NOLI_OK) {
    NoliMeshCheck found;
    expect_told(context, noli_mesh_check(context, mesh, &found));
    for (int64_t i = 0; i < sets.first[sets.n]; i++) {
      EXPECT(sets.vertex[i] >= 0 && sets.vertex[i] < mesh->n_vert);
    }
    for (int64_t i = 0; i < 3 * sides.first[sides.n]; i++) {
      EXPECT(sides.tri[i] >= 0 && sides.tri[i] < mesh->n_vert);
    }
    expect_told(context, noli_mesh_clean(context, mesh, 0.1, &cleaned));
    noli_mesh_cleaned_free(context, &cleaned);
  }
  noli_mesh_sides_free(context, &sides);
  noli_mesh_sets_free(context, &sets);
  noli_mesh_destroy(context, &mesh);
}

static int64_t count_vertices(const NoliSimDef* def) {
  int64_t n = 0;
  for (int32_t b = 0; b < def->n_bodies; b++) {
    n += def->bodies[b].mesh->n_vert;
  }
  return n;
}

// Does the same as `noli check`, and the text part of `noli convert`.
static void meet_scene(NoliContext* context, const char* path) {
  NoliScene* scene = NULL;
  NoliStatus status = noli_import_load(context, path, NULL, 0, &scene);
  expect_told(context, status);
  EXPECT((status == NOLI_OK) == (scene != NULL));
  if (status == NOLI_OK && count_vertices(noli_scene_sim_def(scene)) <= MOST_SIMULATED) {
    NoliDefect* defects = NULL;
    int64_t n = 0;
    NoliSim* sim = NULL;
    char* json = NULL;
    expect_told(context, noli_sim_check(context, noli_scene_sim_def(scene), &defects, &n));
    expect_told(context, noli_sim_create(context, noli_scene_sim_def(scene), &sim));
    expect_told(context, noli_scene_json(scene, &json));
    noli_sim_check_free(context, &defects);
    noli_sim_destroy(&sim);
    noli_scene_free_text(context, &json);
  }
  noli_scene_destroy(&scene);
}

// ---- inputs

// Scenes may name this mesh.
static void write_box(const char* path) {
  size_t bytes = 0;
  NoliContext* context = make_context(&bytes);
  NoliMesh* mesh = NULL;
  const double size[3] = {1.0, 1.0, 1.0};
  const int32_t cells[3] = {1, 1, 1};
  EXPECT(noli_mesh_make_box(context, size, cells, false, &mesh) == NOLI_OK);
  EXPECT(noli_mesh_write(context, path, mesh) == NOLI_OK);
  noli_mesh_destroy(context, &mesh);
  EXPECT(noli_context_destroy(&context) == 0);
}

int LLVMFuzzerInitialize(int* argc, char*** argv) {
  (void)argc, (void)argv;
  write_box("box.msh");
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  FILE* file = fopen(FUZZ_FILE, "wb");
  EXPECT(file != NULL);
  EXPECT(fwrite(data, 1, size, file) == size);
  EXPECT(fclose(file) == 0);
  size_t bytes = 0;
  NoliContext* context = make_context(&bytes);
  const char* suffix = strrchr(FUZZ_FILE, '.');
  bool is_scene = strcmp(suffix, ".json") == 0 || strcmp(suffix, ".txt") == 0;
  (is_scene ? meet_scene : meet_mesh)(context, FUZZ_FILE);
  EXPECT(noli_context_destroy(&context) == 0);
  return 0;
}
