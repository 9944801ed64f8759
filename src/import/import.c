#include "import/import.h"

#include "noli/import.h"
#include "text/cursor.h"
#include "text/json.h"

#include <string.h>

// The suffix decides, for text of any kind is a text scene with errors.
static bool is_ipc(const NoliSceneSource* source) {
  const char* dot = strrchr(source->name, '.');
  return dot != NULL && (strcmp(dot, ".txt") == 0 || strcmp(dot, ".ipc") == 0);
}

static bool is_polyfem(const json_t* root) {
  return json_object_get(root, "bodies") == NULL &&
         (json_object_get(root, "geometry") != NULL || json_object_get(root, "common") != NULL);
}

// The native scene that a foreign one means; `*root` stays NULL where the scene is native, or JSON
// that cannot be read.
static NoliStatus convert(const NoliSceneSource* source, json_t** root) {
  NoliStatus status = NOLI_OK;
  json_t* parsed = NULL;
  json_error_t error;
  NOLI_TRY(noli_scene_require_text(source->context, source->name, source->text, source->size));
  if (is_ipc(source)) {
    return noli_import_ipc(source, root);
  }
  NOLI_TRY(noli_scene_read_json(source->context, source->text, source->size,
                                JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &parsed, &error));
  if (is_polyfem(parsed)) {
    NOLI_TRY(noli_import_polyfem(source, parsed, root));
  }
done:
  json_decref(parsed);
  return status;
}

NoliStatus noli_import_parse(NoliContext* context, const char* text, size_t size, const char* name,
                             const char* directory, const NoliSceneOverride* overrides,
                             int32_t n_overrides, NoliScene** scene) {
  NOLI_REQUIRE(context, context != NULL && text != NULL && name != NULL && scene != NULL);
  NoliStatus status = NOLI_OK;
  size_t skipped = (size_t)noli_mark_size(text, (int64_t)size);
  const NoliSceneSource source = {.context = context,
                                  .name = name,
                                  .text = text + skipped,
                                  .size = size - skipped,
                                  .directory = directory};
  json_t* root = NULL;
  NoliSceneText native = {0};
  *scene = NULL;

  // every scene is read from native text; that of a foreign one is written here
  NOLI_TRY(convert(&source, &root));
  if (root != NULL) {
    NOLI_TRY(noli_scene_append_json(context, &native, root, 0));
    NOLI_TRY(noli_scene_parse_converted(context, native.data, name, directory, overrides,
                                        n_overrides, scene));
  } else {
    NOLI_TRY(noli_array_reserve(context, &native, (int64_t)source.size + 1));
    memcpy(native.data, source.text, source.size);
    native.data[source.size] = '\0';
    NOLI_TRY(
        noli_scene_parse(context, native.data, name, directory, overrides, n_overrides, scene));
  }
done:
  json_decref(root);
  noli_array_free(context, &native);
  return status;
}

NoliStatus noli_import_load(NoliContext* context, const char* path,
                            const NoliSceneOverride* overrides, int32_t n_overrides,
                            NoliScene** scene) {
  NOLI_REQUIRE(context, context != NULL && path != NULL && scene != NULL);
  NoliStatus status = NOLI_OK;
  NoliSceneText text = {0};
  char* directory = NULL;
  *scene = NULL;
  NOLI_TRY(noli_scene_read_file(context, path, &text));
  NOLI_TRY(noli_scene_directory(context, path, &directory));
  NOLI_TRY(noli_import_parse(context, text.data, (size_t)text.count, path, directory, overrides,
                             n_overrides, scene));
done:
  noli_array_free(context, &text);
  noli_free(context, directory);
  return status;
}
