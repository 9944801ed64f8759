#define _POSIX_C_SOURCE 200809L
#include "load.h"

#include "generated.h"
#include "noli/import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The text of a file, or NULL.
static char* file_text(const char* path) {
  char* text = NULL;
  size_t size = 0;
  FILE* from = fopen(path, "rb");
  FILE* to = from != NULL ? open_memstream(&text, &size) : NULL;
  for (int c = to != NULL ? getc(from) : EOF; c != EOF; c = getc(from)) {
    putc(c, to);
  }
  if (to != NULL) {
    fclose(to);
  }
  if (from != NULL) {
    fclose(from);
  }
  return text;
}

NoliStatus load_scene(NoliContext* context, const Scene* entry, const char* path,
                      const NoliSceneOverride* override, int32_t n, NoliScene** scene) {
  bool made = generated_is(path);
  if (!made && entry->directory == NULL) {
    return noli_import_load(context, path, override, n, scene);
  }
  char* text = made ? generated_text(path) : file_text(path);
  NoliStatus status = text != NULL ? noli_import_parse(context, text, strlen(text), entry->name,
                                                       entry->directory, override, n, scene)
                                   : NOLI_ERROR_ARGUMENT;
  free(text);
  return status;
}
