#include "load.h"

#include "noli/import.h"

#include <string.h>

#define INPUT_NAME "<stdin>"
// The same limit as for scene files.
enum { MAX_BYTES = 1 << 28, PIECE = 1 << 16 };

NoliStatus load_text(NoliContext* context, FILE* file, const char* name, char** text,
                     size_t* size) {
  NoliStatus status = NOLI_OK;
  void* data = NULL;
  int64_t count = 0, capacity = 0;
  for (size_t got = 1; got > 0;) {
    NOLI_CHECK(context, count < MAX_BYTES, NOLI_ERROR_TOO_LARGE, "%s: a scene of more than %d MiB",
               name, MAX_BYTES >> 20);
    NOLI_TRY(noli_grow(context, &data, &capacity, count + PIECE + 1, 1));
    got = fread((char*)data + count, 1, PIECE, file);
    count += (int64_t)got;
  }
  NOLI_CHECK(context, ferror(file) == 0, NOLI_ERROR_IO, "%s: cannot be read", name);
  ((char*)data)[count] = '\0';
  *text = data;
  *size = (size_t)count;
  data = NULL;
done:
  noli_free(context, data);
  return status;
}

NoliStatus load_scene(NoliContext* context, const char* path, const Overrides* overrides,
                      NoliScene** scene) {
  NoliStatus status = NOLI_OK;
  char* text = NULL;
  size_t size = 0;
  if (strcmp(path, "-") != 0) {
    return noli_import_load(context, path, overrides->list, overrides->n, scene);
  }
  NOLI_TRY(load_text(context, stdin, INPUT_NAME, &text, &size));
  NOLI_TRY(noli_import_parse(context, text, size, INPUT_NAME, NULL, overrides->list, overrides->n,
                             scene));
done:
  noli_free(context, text);
  return status;
}
