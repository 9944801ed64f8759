// The list of the frames of a run with their times, as its format has it.
#pragma once

#include "output/frames/frame_format.h"

typedef struct NoliFrameList {
  const NoliFrameFormat* format;
  NOLI_ARRAY(NoliRunFrame) frames;
  NOLI_ARRAY(char) text; // of the file without the end of the list; empty: not made yet
} NoliFrameList;

// Adds a frame to the list and to the file at `path`. Readers find the list before or after this,
// whenever they look or the process is killed.
NOLI_WARN_UNUSED NoliStatus noli_frame_list_append(NoliContext* context, NoliFrameList* list,
                                                   int64_t step, double time, const char* path);

// Replaces the file by the list, of which members may have been taken.
NOLI_WARN_UNUSED NoliStatus noli_frame_list_write(NoliContext* context, NoliFrameList* list,
                                                  const char* path);

// Reads what these functions wrote with this format; lines of other origin are ignored.
NOLI_WARN_UNUSED NoliStatus noli_frame_list_read(NoliContext* context,
                                                 const NoliFrameFormat* format, const char* path,
                                                 NoliFrameList* list);

// Releases the frames; the format stays.
void noli_frame_list_free(NoliContext* context, NoliFrameList* list);

// Validator of a list that a run writes (base/validate.h).
const char* noli_frame_list_defect(const NoliFrameList* list);
