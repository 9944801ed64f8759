#include "scene/import.h"

#include "scene/text.h"

#include <string.h>

// A comment is what people try first in a file of settings; the parser sees an invalid token.
static NoliStatus fail_json(const NoliSceneSource* source, const json_error_t* error) {
  const char* comment = noli_scene_find_comment(source->text, source->size);
  int line = 1, column = 1;
  for (const char* at = source->text; comment != NULL && at < comment; at++) {
    column = *at == '\n' ? 1 : column + 1;
    line += *at == '\n';
  }
  // what the parser could not read is the comment itself
  if (comment != NULL && line == error->line && error->column >= column &&
      error->column <= column + 2) {
    return noli_fail(source->context, NOLI_ERROR_FORMAT,
                     "%.300s:%d:%d: a comment; JSON has none: take it away", source->name, line,
                     column);
  }
  return noli_fail(source->context, NOLI_ERROR_FORMAT, "%.300s:%d:%d: %s", source->name,
                   error->line, error->column, error->text);
}

static NoliStatus parse_json(const NoliSceneSource* source, json_t** root) {
  NoliStatus status = NOLI_OK;
  json_error_t error;
  NOLI_TRY(noli_scene_read_json(source->context, source->text, source->size,
                                JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, root, &error));
  if (*root == NULL) {
    status = fail_json(source, &error);
  }
done:
  return status;
}

// The suffix decides, for text of any kind is a text scene with errors.
static bool is_ipc(const NoliSceneSource* source) {
  const char* dot = strrchr(source->name, '.');
  return dot != NULL && (strcmp(dot, ".txt") == 0 || strcmp(dot, ".ipc") == 0);
}

static bool is_polyfem(const json_t* root) {
  return json_object_get(root, "bodies") == NULL &&
         (json_object_get(root, "geometry") != NULL || json_object_get(root, "common") != NULL);
}

NoliStatus noli_scene_read_tree(NoliSceneSource* source, json_t** root) {
  NoliStatus status = NOLI_OK;
  json_t* parsed = NULL;
  if (is_ipc(source)) {
    source->imported = true;
    return noli_scene_import_ipc(source, root);
  }
  NOLI_TRY(parse_json(source, &parsed));
  if (is_polyfem(parsed)) {
    source->imported = true;
    NOLI_TRY(noli_scene_import_polyfem(source, parsed, root));
  } else {
    *root = json_incref(parsed);
  }
done:
  json_decref(parsed);
  return status;
}
