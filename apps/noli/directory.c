#define _POSIX_C_SOURCE 200809L
#include "directory.h"

#include "noli/extend.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

NoliStatus make_directory(NoliContext* context, const char* directory) {
  char part[4096];
  size_t n = strlen(directory);
  if (n >= sizeof part) {
    return noli_fail(context, NOLI_ERROR_IO, "%.64s...: the name is too long", directory);
  }
  for (size_t i = 1; i <= n; i++) {
    if (directory[i] != '/' && directory[i] != '\0') {
      continue;
    }
    memcpy(part, directory, i);
    part[i] = '\0';
    struct stat about;
    if (mkdir(part, 0777) != 0 && !(stat(part, &about) == 0 && S_ISDIR(about.st_mode))) {
      return noli_fail(context, NOLI_ERROR_IO, "%s: cannot create the directory: %s", part,
                       strerror(errno));
    }
  }
  return NOLI_OK;
}

NoliStatus make_directory_of(NoliContext* context, const char* path) {
  char directory[4096];
  const char* slash = strrchr(path, '/');
  size_t n = slash != NULL ? (size_t)(slash - path) : 0;
  if (n == 0) {
    return NOLI_OK;
  }
  snprintf(directory, sizeof directory, "%.*s", (int)(n < sizeof directory ? n : 0), path);
  return make_directory(context, n < sizeof directory ? directory : path);
}

void result_directory(const NoliScene* scene, char* directory, size_t size) {
  snprintf(directory, size, "out/%s", noli_scene_name(scene));
  for (char* c = directory + 4; *c != '\0'; c++) {
    bool bad =
        *c == '/' || (unsigned char)*c < ' ' || *c == 127 || (c == directory + 4 && *c == '.');
    *c = bad ? '_' : *c;
  }
}
