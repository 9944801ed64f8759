// frames.pvd: the list of frames with their times, which ParaView opens as an animation.
#pragma once

#include "base/array.h"

typedef struct NoliPvdFrame {
  int64_t step;
  double time;
} NoliPvdFrame;

typedef struct NoliPvd {
  NOLI_ARRAY(NoliPvdFrame) frames;
} NoliPvd;

enum { NOLI_PVD_NAME_SIZE = 40 };

// "frame_000123.vtu"
void noli_pvd_frame_name(int64_t step, char name[NOLI_PVD_NAME_SIZE]);

NOLI_WARN_UNUSED NoliStatus noli_pvd_add(NoliContext* context, NoliPvd* pvd, int64_t step,
                                         double time);
NOLI_WARN_UNUSED NoliStatus noli_pvd_write(NoliContext* context, const NoliPvd* pvd,
                                           const char* path);

// Reads what noli_pvd_write wrote; lines of other origin are passed over.
NOLI_WARN_UNUSED NoliStatus noli_pvd_read(NoliContext* context, const char* path, NoliPvd* pvd);

void noli_pvd_free(NoliContext* context, NoliPvd* pvd);
