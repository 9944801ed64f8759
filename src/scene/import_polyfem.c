#include "scene/import.h"

NoliStatus noli_scene_import_polyfem(const NoliSceneSource* source, json_t* parsed, json_t** root) {
  (void)parsed;
  (void)root;
  return noli_fail(source->context, NOLI_ERROR_FORMAT, "%.300s: PolyFEM scenes cannot be read yet",
                   source->name);
}
