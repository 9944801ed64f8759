#include "scene/import.h"

NoliStatus noli_scene_import_ipc(const NoliSceneSource* source, json_t** root) {
  (void)root;
  return noli_fail(source->context, NOLI_ERROR_FORMAT, "%.300s: text scenes cannot be read yet",
                   source->name);
}
