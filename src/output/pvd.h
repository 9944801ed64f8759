// frames.pvd: the list of frames with their times, which ParaView opens as an animation.
#pragma once

#include "base/array.h"
#include "noli/run.h"

typedef struct NoliPvd {
  NOLI_ARRAY(NoliRunFrame) frames;
  NOLI_ARRAY(char) text; // of the file without the end of the list; empty: not made yet
} NoliPvd;

enum { NOLI_PVD_NAME_SIZE = 40 };

// "frame_000123.vtu"
void noli_pvd_frame_name(int64_t step, char name[NOLI_PVD_NAME_SIZE]);

// Adds a frame to the list and to the file at `path`. Readers find the list before or after this,
// at whatever moment they look or the process is killed.
NOLI_WARN_UNUSED NoliStatus noli_pvd_append(NoliContext* context, NoliPvd* pvd, int64_t step,
                                            double time, const char* path);

// Replaces the file by the list, of which members may have been taken.
NOLI_WARN_UNUSED NoliStatus noli_pvd_write(NoliContext* context, NoliPvd* pvd, const char* path);

// Reads what these functions wrote; lines of other origin are passed over.
NOLI_WARN_UNUSED NoliStatus noli_pvd_read(NoliContext* context, const char* path, NoliPvd* pvd);

void noli_pvd_free(NoliContext* context, NoliPvd* pvd);
