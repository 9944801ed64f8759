#include "import/ipc/reader.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MESSAGE_SIZE = 1500 };

// ---- messages -----------------------------------------------------------------------------------

NoliStatus noli_ipc_fail(const NoliSceneSource* source, int32_t line, const char* format, ...) {
  char message[MESSAGE_SIZE];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  return noli_fail(source->context, NOLI_ERROR_FORMAT, "%.300s:%d: %s", source->name, (int)line,
                   message);
}

void noli_ipc_log(const NoliSceneSource* source, int32_t line, NoliLogLevel level,
                  const char* format, ...) {
  char message[MESSAGE_SIZE];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  noli_log(source->context, level, "%.300s:%d: %s", source->name, (int)line, message);
}

// ---- words and numbers --------------------------------------------------------------------------

void noli_ipc_count_lines(NoliIpcReader* reader) {
  for (; reader->counted < reader->cursor.at; reader->counted++) {
    reader->line += *reader->counted == '\n';
  }
}

NoliSpan noli_ipc_next_word(NoliIpcReader* reader) {
  NoliSpan word = noli_next_word(&reader->cursor);
  if (word.n > 0 && word.at[0] == '#') {
    word.n = 0;
  }
  return word;
}

NoliSpan noli_ipc_peek_word(const NoliIpcReader* reader) {
  NoliIpcReader ahead = *reader;
  return noli_ipc_next_word(&ahead);
}

bool noli_ipc_starts_number(NoliSpan word) {
  return word.n > 0 && (noli_is_digit(word.at[0]) || strchr("+-.", word.at[0]) != NULL);
}

NoliStatus noli_ipc_read_numbers(NoliIpcReader* reader, const char* what, int n, double* values) {
  NoliStatus status = NOLI_OK;
  for (int i = 0; i < n; i++) {
    NoliSpan word = noli_ipc_peek_word(reader);
    NOLI_IPC_CHECK(reader->source, reader->line, word.n > 0, "%s: needs %d number%s, got %d", what,
                   n, n == 1 ? "" : "s", i);
    if (noli_read_number(&reader->cursor, what, &values[i]) != NOLI_OK || !isfinite(values[i])) {
      NOLI_TRY(noli_ipc_fail(reader->source, reader->line,
                             "%s: argument %d must be a finite number, got %s", what, i + 1,
                             noli_show(word).text));
    }
  }
done:
  return status;
}

NoliStatus noli_ipc_read_count(NoliIpcReader* reader, const char* what, int64_t low,
                               int64_t* count) {
  NoliStatus status = NOLI_OK;
  double value = 0.0;
  NOLI_TRY(noli_ipc_read_numbers(reader, what, 1, &value));
  NOLI_IPC_CHECK(reader->source, reader->line,
                 value == floor(value) && value >= (double)low && value <= NOLI_IPC_MAX_COUNT,
                 "%s: must be an integer in [%d, %d], got %g", what, (int)low, NOLI_IPC_MAX_COUNT,
                 value);
  *count = (int64_t)value;
done:
  return status;
}

NoliStatus noli_ipc_read_word(NoliIpcReader* reader, const char* what, NoliSpan* word) {
  NoliStatus status = NOLI_OK;
  *word = noli_ipc_next_word(reader);
  NOLI_IPC_CHECK(reader->source, reader->line, word->n > 0, "%s: %s is missing", reader->keyword,
                 what);
done:
  return status;
}

void noli_ipc_finish_line(NoliIpcReader* reader) {
  NoliSpan word = noli_ipc_next_word(reader);
  if (word.n > 0) {
    noli_ipc_log(reader->source, reader->line, NOLI_LOG_INFO,
                 "%s: %s and what follows on the line is not read", reader->keyword,
                 noli_show(word).text);
  }
  noli_skip_line(&reader->cursor);
}

NoliStatus noli_ipc_read_list(NoliIpcReader* reader, double* values, int64_t capacity,
                              int64_t* count) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_ipc_read_count(reader, reader->keyword, 0, count));
  NOLI_IPC_CHECK(reader->source, reader->line, *count <= capacity,
                 "%s: takes at most %d values, got %d", reader->keyword, (int)capacity,
                 (int)*count);
  for (int64_t i = 0; i < *count; i++) {
    noli_skip_space(&reader->cursor);
    noli_ipc_count_lines(reader);
    NOLI_TRY(noli_ipc_read_numbers(reader, reader->keyword, 1, &values[i]));
  }
done:
  return status;
}
