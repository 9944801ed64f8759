// Formats of frames. A format is one file with a NoliFrameFormat and a line in the table of
// frame_format.c; its name is a value of `output.format` in scenes. Runs write, list, resume and
// remove frames through this table, and the audit reads them back through it.
#pragma once

#include "noli/run.h"
#include "output/frames/frame_arrays.h"

enum { NOLI_FRAME_NAME_SIZE = 40, NOLI_FRAME_ENTRY_SIZE = 160 };

// How the list of frames of a run looks: a beginning, one entry per frame, an end.
typedef struct NoliFrameListFormat {
  const char* name; // of the file: "frames.pvd"
  const char* begin;
  const char* separator; // between entries
  const char* end;
  // Prints the entry of a frame, whose file has this name; returns its length.
  int (*print)(NoliRunFrame frame, const char* file, char entry[NOLI_FRAME_ENTRY_SIZE]);
  // Reads an entry at the beginning of a line; false for lines of other origin.
  bool (*scan)(const char* line, NoliRunFrame* frame);
} NoliFrameListFormat;

typedef struct NoliFrameFormat {
  const char* name;   // value of `output.format`
  const char* suffix; // of frames: ".vtu"
  bool has_cells;     // its frames hold all cells and their data, else the surface
  bool caches;        // once it has written one, the next need no lists of cells
  NoliFrameListFormat list;
  // The name of a part of a frame, beside it; NULL: a frame is one file.
  void (*part_name)(const char* frame, int32_t part, char name[NOLI_FRAME_NAME_SIZE]);
  // Writes a frame; an older file at `path` is untouched when that fails.
  NoliStatus (*write)(NoliContext* context, const char* path, const NoliFrame* frame);
  // Reads what `write` wrote, and nothing else; it may leave out arrays that are not `wanted`
  // (noli_frame_wants). Fails with NOLI_ERROR_IO, NOLI_ERROR_FORMAT (the message has the path) or
  // NOLI_ERROR_MEMORY; the frame is empty then.
  NoliStatus (*read)(NoliContext* context, const char* path, const char* const* wanted,
                     NoliReadFrame* frame);
} NoliFrameFormat;

extern const NoliFrameFormat noli_frame_format_vtu;
extern const NoliFrameFormat noli_frame_format_ply;
extern const NoliFrameFormat noli_frame_format_pvtu;

// The `index`-th format, NULL past the last; the first one is the default.
const NoliFrameFormat* noli_frame_format_at(int32_t index);

// The format of this name (NULL: the default); NULL if there is none.
const NoliFrameFormat* noli_frame_format_find(const char* name);

// Whether this rank writes a frame, or a part of it.
bool noli_frame_is_written(const NoliContext* context, const NoliFrameFormat* format);

// The name of a frame: "frame_000123.vtu".
void noli_frame_name(const NoliFrameFormat* format, int64_t step, char name[NOLI_FRAME_NAME_SIZE]);

// The step of a frame with this name; -1 if the name is not that of a frame of this format.
int64_t noli_frame_step(const NoliFrameFormat* format, const char* name);

// Whether the name is that of a part of a frame of this format.
bool noli_frame_is_part(const NoliFrameFormat* format, const char* name);
