// Reading the lines of a text scene: words, numbers, lists, and where they are.
#pragma once

#include "import/ipc/script.h"

typedef struct NoliIpcReader {
  const NoliSceneSource* source;
  NoliIpcScript* script;
  NoliCursor cursor;
  const char* counted; // `line` is that of this place
  int32_t line;
  const char* keyword; // what is being read, for messages
} NoliIpcReader;

// Brings `line` to where the cursor is.
void noli_ipc_count_lines(NoliIpcReader* reader);

// The next word of the line; empty at its end and where a comment begins.
NoliSpan noli_ipc_next_word(NoliIpcReader* reader);
NoliSpan noli_ipc_peek_word(const NoliIpcReader* reader);

bool noli_ipc_starts_number(NoliSpan word);

// Reads finite numbers (n) from the present line. `what` names them in messages.
NOLI_WARN_UNUSED NoliStatus noli_ipc_read_numbers(NoliIpcReader* reader, const char* what, int n,
                                                  double* values);

// Reads an integer >= low.
NOLI_WARN_UNUSED NoliStatus noli_ipc_read_count(NoliIpcReader* reader, const char* what,
                                                int64_t low, int64_t* count);

NOLI_WARN_UNUSED NoliStatus noli_ipc_read_word(NoliIpcReader* reader, const char* what,
                                               NoliSpan* word);

// Reads a count and as many values, which may span several lines.
NOLI_WARN_UNUSED NoliStatus noli_ipc_read_list(NoliIpcReader* reader, double* values,
                                               int64_t capacity, int64_t* count);

// Moves to the next line and logs the rest of this one, which the user may have meant.
void noli_ipc_finish_line(NoliIpcReader* reader);

// The most that can be counted.
enum { NOLI_IPC_MAX_COUNT = 1000000 };

// `shape input PATH`, `shapes input N` with N lines, `shapeMatrix input N N N [X Y Z]` with one.
NOLI_WARN_UNUSED NoliStatus noli_ipc_read_one_path(NoliIpcReader* reader);
NOLI_WARN_UNUSED NoliStatus noli_ipc_read_shapes(NoliIpcReader* reader);
NOLI_WARN_UNUSED NoliStatus noli_ipc_read_shape_matrix(NoliIpcReader* reader);
