#include "output/frames/frame_arrays.h"

#include <stdio.h>
#include <string.h>

int64_t noli_frame_type_size(NoliFrameType type) {
  static const int64_t sizes[] = {
      [NOLI_FRAME_FLOAT64] = 8, [NOLI_FRAME_FLOAT32] = 4, [NOLI_FRAME_INT64] = 8,
      [NOLI_FRAME_INT32] = 4,   [NOLI_FRAME_UINT8] = 1,
  };
  return sizes[type];
}

bool noli_frame_wants(const char* const* wanted, const char* name) {
  bool found = wanted == NULL;
  for (const char* const* one = wanted; !found && *one != NULL; one++) {
    found = strcmp(*one, name) == 0;
  }
  return found;
}

NoliStatus noli_read_frame_add(NoliContext* context, NoliReadFrame* frame, const char* section,
                               const char* name, NoliFrameType type, int32_t n_components,
                               int64_t n_tuples, NoliReadArray** array) {
  NoliStatus status = NOLI_OK;
  NoliReadArray made = {.type = type, .n_components = n_components, .n_tuples = n_tuples};
  snprintf(made.section, sizeof made.section, "%s", section);
  snprintf(made.name, sizeof made.name, "%s", name);
  NOLI_TRY(noli_array_reserve(context, &frame->arrays, frame->arrays.count + 1));
  made.data = noli_alloc(context, n_tuples * n_components, (size_t)noli_frame_type_size(type));
  if (made.data == NULL) {
    status = NOLI_ERROR_MEMORY;
    goto done;
  }
  frame->arrays.data[frame->arrays.count++] = made;
  *array = &frame->arrays.data[frame->arrays.count - 1];
done:
  return status;
}

const NoliReadArray* noli_read_frame_find(const NoliReadFrame* frame, const char* section,
                                          const char* name, NoliFrameType type,
                                          int32_t n_components, int64_t n_tuples) {
  for (int64_t i = 0; i < frame->arrays.count; i++) {
    const NoliReadArray* array = &frame->arrays.data[i];
    if (strcmp(array->section, section) == 0 && strcmp(array->name, name) == 0) {
      bool fits = array->type == type && array->n_components == n_components &&
                  (n_tuples < 0 || array->n_tuples == n_tuples);
      return fits ? array : NULL;
    }
  }
  return NULL;
}

void noli_read_frame_free(NoliContext* context, NoliReadFrame* frame) {
  for (int64_t i = 0; i < frame->arrays.count; i++) {
    noli_free(context, frame->arrays.data[i].data);
  }
  noli_array_free(context, &frame->arrays);
  *frame = (NoliReadFrame){0};
}
