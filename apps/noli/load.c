#include "load.h"

#include "noli/import.h"
#include "text/json.h"

#include <string.h>

#define INPUT_NAME "<stdin>"
// As for files: a pipe may never end.
enum { MAX_BYTES = 1 << 28, PIECE = 1 << 16 };

static NoliStatus read_input(NoliContext* context, NoliSceneText* text) {
  NoliStatus status = NOLI_OK;
  for (size_t got = 1; got > 0;) {
    NOLI_CHECK(context, text->count < MAX_BYTES, NOLI_ERROR_TOO_LARGE,
               INPUT_NAME ": a scene of more than %d MiB", MAX_BYTES >> 20);
    NOLI_TRY(noli_array_reserve(context, text, text->count + PIECE + 1));
    got = fread(text->data + text->count, 1, PIECE, stdin);
    text->count += (int64_t)got;
  }
  NOLI_CHECK(context, ferror(stdin) == 0, NOLI_ERROR_IO, INPUT_NAME ": cannot be read");
  text->data[text->count] = '\0';
  NOLI_TRY(noli_scene_require_text(context, INPUT_NAME, text->data, (size_t)text->count));
done:
  return status;
}

NoliStatus load_scene(NoliContext* context, const char* path, const Overrides* overrides,
                      NoliScene** scene) {
  NoliStatus status = NOLI_OK;
  NoliSceneText text = {0};
  if (strcmp(path, "-") != 0) {
    return noli_import_load(context, path, overrides->list, overrides->n, scene);
  }
  NOLI_TRY(read_input(context, &text));
  NOLI_TRY(noli_import_parse(context, text.data, (size_t)text.count, INPUT_NAME, NULL,
                             overrides->list, overrides->n, scene));
done:
  noli_array_free(context, &text);
  return status;
}
