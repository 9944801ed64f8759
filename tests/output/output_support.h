// A small simulation with results to write, a folder for files, and a disk that fills up.
#pragma once

#define _DEFAULT_SOURCE

#include "support.h"

#include "noli/noli.h"
#include "output/file.h"

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct TestSim {
  NoliMesh* mesh;
  NoliBodyDef body;
  NoliHalfSpaceDef floor;
  NoliSimDef def;
  NoliSim* sim;
} TestSim;

// A box of side 1 m, tags on its cells, that falls 1 cm onto a floor.
static inline void test_sim_create(NoliContext* context, int32_t cells, TestSim* test) {
  *test = (TestSim){0};
  const double size[3] = {1.0, 1.0, 1.0};
  const int32_t n_cells[3] = {cells, cells, cells};
  ASSERT_OK(noli_mesh_make_box(context, size, n_cells, false, &test->mesh));
  test->body = noli_default_body_def();
  test->body.name = "box, \"soft\"";
  test->body.mesh = test->mesh;
  test->body.velocity[1] = -1.0;
  test->floor = noli_default_half_space_def();
  test->floor.name = "floor";
  test->floor.origin[1] = -0.51;
  test->def = noli_default_sim_def();
  test->def.bodies = &test->body;
  test->def.n_bodies = 1;
  test->def.half_spaces = &test->floor;
  test->def.n_half_spaces = 1;
  ASSERT_OK(noli_sim_create(context, &test->def, &test->sim));
}

static inline void test_sim_destroy(NoliContext* context, TestSim* test) {
  noli_sim_destroy(&test->sim);
  noli_mesh_destroy(context, &test->mesh);
}

// An empty directory below the working directory, named after the test.
static inline void test_empty_directory(const char* name) {
  char path[1024];
  DIR* directory = opendir(name);
  if (directory == NULL) {
    assert_int_equal(mkdir(name, 0777), 0);
    return;
  }
  for (struct dirent* entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
    if (entry->d_name[0] != '.') {
      snprintf(path, sizeof path, "%s/%s", name, entry->d_name);
      assert_int_equal(unlink(path), 0);
    }
  }
  closedir(directory);
}

static inline int test_count_files(const char* name) {
  int count = 0;
  DIR* directory = opendir(name);
  assert_non_null(directory);
  for (struct dirent* entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
    count += entry->d_name[0] != '.' ? 1 : 0;
  }
  closedir(directory);
  return count;
}

// The content of a file; fails when it cannot be read. The caller frees it.
static inline char* test_read_file(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) {
    print_error("%s cannot be read\n", path);
    fail();
    return NULL;
  }
  assert_int_equal(fseek(file, 0, SEEK_END), 0);
  long length = ftell(file);
  rewind(file);
  char* text = malloc((size_t)length + 1);
  assert_non_null(text);
  assert_int_equal(fread(text, 1, (size_t)length, file), (size_t)length);
  fclose(file);
  text[length] = '\0';
  if (size != NULL) {
    *size = (size_t)length;
  }
  return text;
}

static inline void test_write_file(const char* path, const void* data, size_t size) {
  FILE* file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(data, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

static inline void test_same_file(const char* one, const char* other) {
  size_t n_one = 0, n_other = 0;
  char* a = test_read_file(one, &n_one);
  char* b = test_read_file(other, &n_other);
  assert_int_equal(n_one, n_other);
  assert_memory_equal(a, b, n_one);
  free(a);
  free(b);
}

// From now on no file grows beyond `bytes`: to a writer this looks like a full disk.
static inline void test_limit_files(rlim_t bytes) {
  struct rlimit limit;
  signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
  limit.rlim_cur = bytes;
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static inline void test_unlimit_files(void) {
  struct rlimit limit;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
  limit.rlim_cur = limit.rlim_max;
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}
