// The files of a sequence of meshes.
#define _POSIX_C_SOURCE 200809L

#include "import/polyfem/polyfem.h"

#include <ctype.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// ---- natural order ------------------------------------------------------------------------------

static const char* skip_zeros(const char* digits) {
  while (digits[0] == '0' && isdigit((unsigned char)digits[1])) {
    digits++;
  }
  return digits;
}

// Compares two numbers of any length and moves behind both.
static int compare_numbers(const char** a, const char** b) {
  const char *first = skip_zeros(*a), *second = skip_zeros(*b);
  size_t n_first = strspn(first, "0123456789"), n_second = strspn(second, "0123456789");
  *a = first + n_first;
  *b = second + n_second;
  return n_first != n_second ? (n_first < n_second ? -1 : 1) : strncmp(first, second, n_first);
}

// "frame_9" comes before "frame_10"; names that differ only in zeros keep the order of characters.
static int compare_names(const void* left, const void* right) {
  const char *a = *(const char*const*)left, *b = *(const char*const*)right;
  const char *from = a, *to = b;
  while (*a != '\0' && *b != '\0') {
    int order;
    if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
      order = compare_numbers(&a, &b);
    } else {
      order = (unsigned char)*a++ - (unsigned char)*b++;
    }
    if (order != 0) {
      return order;
    }
  }
  return *a != *b ? (unsigned char)*a - (unsigned char)*b : strcmp(from, to);
}

// ---- folders and patterns -----------------------------------------------------------------------

static bool is_folder(const char* path) {
  struct stat about;
  return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

static bool is_file(const char* path) {
  struct stat about;
  return stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

// "folder/*", with the characters of the folder taken as they are.
static NoliStatus pattern_of_folder(NoliContext* context, const char* folder, char** pattern) {
  NoliStatus status = NOLI_OK;
  size_t n = strlen(folder), at = 0;
  NOLI_NEW(context, *pattern, 2 * (int64_t)n + 3);
  for (size_t i = 0; i < n; i++) {
    if (strchr("*?[]\\", folder[i]) != NULL) {
      (*pattern)[at++] = '\\';
    }
    (*pattern)[at++] = folder[i];
  }
  memcpy(*pattern + at, "/*", 3);
done:
  return status;
}

// The path as the scene would have to give it: without the directory of the scene.
static const char* as_written(const NoliPolyfem* import, const char* path) {
  const char* directory = import->source.directory;
  size_t n = directory != NULL ? strlen(directory) : 0;
  bool inside = n > 0 && strncmp(path, directory, n) == 0 && path[n] == '/';
  return inside ? path + n + 1 : path;
}

static NoliStatus list_matches(NoliPolyfem* import, const NoliSceneNode* node, glob_t* found,
                               json_t* names) {
  NoliStatus status = NOLI_OK;
  if (found->gl_pathc > 0) {
    qsort(found->gl_pathv, found->gl_pathc, sizeof *found->gl_pathv, compare_names);
  }
  for (size_t i = 0; i < found->gl_pathc; i++) {
    if (is_file(found->gl_pathv[i])) {
      NOLI_TRY(
          noli_polyfem_push(import, names, json_string(as_written(import, found->gl_pathv[i]))));
    }
  }
  NOLI_POLYFEM_CHECK(import, node, json_array_size(names) > 0, "\"%.140s\" names no files",
                     noli_scene_string(node));
done:
  return status;
}

static NoliStatus find_files(NoliPolyfem* import, const NoliSceneNode* node, json_t* names) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = import->source.context;
  const char* text = noli_scene_string(node);
  char *path = NULL, *pattern = NULL;
  glob_t found = {0};
  NOLI_POLYFEM_CHECK(import, node, strstr(text, "**") == NULL,
                     "\"**\" is not read: name one folder, or a pattern with \"*\"");
  NOLI_TRY(noli_scene_file_path(&import->source, text, &path));
  if (is_folder(path)) {
    NOLI_TRY(pattern_of_folder(context, path, &pattern));
  }
  int result = glob(pattern != NULL ? pattern : path, GLOB_NOSORT, NULL, &found);
  NOLI_CHECK(context, result != GLOB_NOSPACE, NOLI_ERROR_MEMORY, "out of memory");
  NOLI_TRY(list_matches(import, node, &found, names));
done:
  globfree(&found);
  noli_free(context, path);
  noli_free(context, pattern);
  return status;
}

NoliStatus noli_polyfem_sequence_files(NoliPolyfem* import, const NoliSceneNode* node,
                                       json_t** names) {
  NoliStatus status = NOLI_OK;
  json_t* made = NULL;
  NOLI_POLYFEM_CHECK(import, node, json_is_string(node->value) || noli_scene_size(node) > 0,
                     "must be a folder, a pattern, or a list of files");
  made = json_array();
  NOLI_CHECK(import->source.context, made != NULL, NOLI_ERROR_MEMORY, "out of memory");
  if (json_is_string(node->value)) {
    NOLI_TRY(find_files(import, node, made));
  }
  for (size_t i = 0; i < noli_scene_size(node); i++) {
    NoliSceneNode item = noli_scene_item(node, i);
    NOLI_POLYFEM_CHECK(import, &item, json_is_string(item.value), "must be a file name");
    NOLI_TRY(noli_polyfem_push(import, made, json_incref(item.value)));
  }
  *names = made;
  made = NULL;
done:
  json_decref(made);
  return status;
}
