#include "output/frames/frame_format.h"

#include "base/ranks.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const NoliFrameFormat* const formats[] = {
    &noli_frame_format_vtu,
    &noli_frame_format_ply,
    &noli_frame_format_pvtu,
};
enum { N_FORMATS = sizeof formats / sizeof *formats };

const NoliFrameFormat* noli_frame_format_at(int32_t index) {
  return index >= 0 && index < N_FORMATS ? formats[index] : NULL;
}

const NoliFrameFormat* noli_frame_format_find(const char* name) {
  for (int32_t i = 0; i < N_FORMATS; i++) {
    if (name == NULL || strcmp(formats[i]->name, name) == 0) {
      return formats[i];
    }
  }
  return NULL;
}

const char* noli_run_frame_format(int32_t index) {
  const NoliFrameFormat* format = noli_frame_format_at(index);
  return format != NULL ? format->name : NULL;
}

const char* noli_run_frame_list(int32_t index) {
  const NoliFrameFormat* format = noli_frame_format_at(index);
  return format != NULL ? format->list.name : NULL;
}

bool noli_frame_is_written(const NoliContext* context, const NoliFrameFormat* format) {
  return noli_rank_writes(context) || format->part_name != NULL;
}

void noli_frame_name(const NoliFrameFormat* format, int64_t step, char name[NOLI_FRAME_NAME_SIZE]) {
  snprintf(name, NOLI_FRAME_NAME_SIZE, "frame_%06lld%s", (long long)step, format->suffix);
}

int64_t noli_frame_step(const NoliFrameFormat* format, const char* name) {
  char same[NOLI_FRAME_NAME_SIZE];
  if (strncmp(name, "frame_", 6) != 0) {
    return -1;
  }
  long long step = strtoll(name + 6, NULL, 10);
  noli_frame_name(format, step, same);
  return step >= 0 && strcmp(name, same) == 0 ? step : -1;
}

bool noli_frame_is_part(const NoliFrameFormat* format, const char* name) {
  char frame[NOLI_FRAME_NAME_SIZE], same[NOLI_FRAME_NAME_SIZE];
  char* end = NULL;
  if (format->part_name == NULL || strncmp(name, "frame_", 6) != 0) {
    return false;
  }
  long long step = strtoll(name + 6, &end, 10);
  long part = *end == '_' ? strtol(end + 1, NULL, 10) : -1;
  if (step < 0 || part < 0 || part > INT32_MAX) {
    return false;
  }
  noli_frame_name(format, step, frame);
  format->part_name(frame, (int32_t)part, same);
  return strcmp(name, same) == 0;
}
