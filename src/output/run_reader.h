// A run as its directory holds it: the scene, a simulation made from it, and the list of frames.
#pragma once

#include "noli/scene.h"
#include "output/frames/frame.h"
#include "output/frames/frame_list.h"
#include "step/simulation.h"

typedef struct NoliRunReader {
  NoliContext* context;
  const char* directory; // borrowed
  NoliScene* scene;
  NoliSim* sim; // of the scene, in its first state
  NoliFrameLayout layout;
  NoliFrameList frames; // none before noli_run_reader_list
} NoliRunReader;

// Loads the scene of the run and makes the simulation. Fails with NOLI_ERROR_FORMAT where the
// directory is no result of Noli. `reader` has context and directory, everything else zero.
NOLI_WARN_UNUSED NoliStatus noli_run_reader_open(NoliRunReader* reader);
void noli_run_reader_close(NoliRunReader* reader);

// The path of the list of frames, owned by the caller.
NOLI_WARN_UNUSED NoliStatus noli_run_reader_list_path(const NoliRunReader* reader, char** path);

// Reads the list of frames. Fails with NOLI_ERROR_IO where it is not there, and unless
// `may_be_empty` with NOLI_ERROR_FORMAT where it names none.
NOLI_WARN_UNUSED NoliStatus noli_run_reader_list(NoliRunReader* reader, bool may_be_empty);

// The path of the frame of a step, owned by the caller.
NOLI_WARN_UNUSED NoliStatus noli_run_reader_frame_path(const NoliRunReader* reader, int64_t step,
                                                       char** path);

// Reads the frame of a step, at least the arrays that are `wanted` (noli_frame_wants), `Points`
// among them. Fails as the format of frames does, and with NOLI_ERROR_FORMAT where
// vertices or cells are not those of the scene.
NOLI_WARN_UNUSED NoliStatus noli_run_reader_frame(const NoliRunReader* reader, int64_t step,
                                                  const char* const* wanted, NoliReadFrame* frame);
