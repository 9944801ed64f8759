// A position in a file in memory, and functions that read from there.
//
// Readers never count lines: a failure counts them from the beginning when it makes its message. A
// zero follows the text; no function treats it as white space, so that scanning needs no end test
// for each character.
#pragma once

#include "base/byte_order.h"
#include "noli/extend.h"

#include <string.h>

typedef struct NoliCursor {
  NoliContext* context;
  const char* path;  // for messages
  const char* begin; // of the file
  const char* at;
  const char* end; // one past the last byte; *end is 0
  char* text;      // the same as `begin`, of a file that was read
  bool swap;       // binary numbers are in the other byte order
} NoliCursor;

// A piece of the text.
typedef struct NoliSpan {
  const char* at;
  int64_t n;
} NoliSpan;

// The size of a byte order mark at the beginning of a text: 3 bytes or none. Editors write them.
int64_t noli_mark_size(const char* text, int64_t size);

// Gives a text whose lines end with a carriage return only the usual ends. Binary data, which has
// zeros, stays as it is.
void noli_end_lines(char* text, int64_t size);

// Reads a file; the cursor begins after a byte order mark. The caller owns the memory:
// noli_free(context, cursor.text).
NOLI_WARN_UNUSED NoliStatus noli_cursor_open(NoliContext* context, const char* path,
                                             NoliCursor* cursor);

// Fails with `path:line: message` for the given place.
NoliStatus noli_cursor_fail(const NoliCursor* cursor, const char* place, const char* format, ...)
    NOLI_PRINTF(3, 4);

// Fails with `path: byte N: message` for the given place.
NoliStatus noli_cursor_fail_byte(const NoliCursor* cursor, const char* place, const char* format,
                                 ...) NOLI_PRINTF(3, 4);

static inline int64_t noli_cursor_left(const NoliCursor* cursor) {
  return cursor->end - cursor->at;
}

static inline bool noli_is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static inline bool noli_is_space(char c) {
  return noli_is_blank(c) || c == '\n';
}

static inline bool noli_is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Skips blanks within the line.
static inline void noli_skip_blank(NoliCursor* cursor) {
  while (noli_is_blank(*cursor->at)) {
    cursor->at++;
  }
}

// Skips blanks and line ends.
static inline void noli_skip_space(NoliCursor* cursor) {
  while (noli_is_space(*cursor->at)) {
    cursor->at++;
  }
}

// Moves past the next line end, or to the end of the file.
void noli_skip_line(NoliCursor* cursor);

// Number of lines from here on whose first word is this letter.
int64_t noli_count_statements(const NoliCursor* cursor, char letter);

// The next word within the line (empty at its end); the cursor moves past it.
NoliSpan noli_next_word(NoliCursor* cursor);

// The next word, on whichever line; empty at the end of the file.
NoliSpan noli_next_word_anywhere(NoliCursor* cursor);

bool noli_span_is(NoliSpan span, const char* text);

// As noli_span_is, with ASCII letters of either case.
bool noli_span_is_any_case(NoliSpan span, const char* text);

// A short printable copy of a span for messages: at most 40 characters.
typedef struct NoliShown {
  char text[48];
} NoliShown;
NoliShown noli_show(NoliSpan span);

// The printable word at the cursor, or "the end of the line" and the like.
NoliShown noli_show_next(const NoliCursor* cursor);

// Reads a number that starts at the cursor, after white space. `what` names it in messages, for
// example "a coordinate". Accepts nan and inf; fails if a number exceeds the range of a double.
NOLI_WARN_UNUSED NoliStatus noli_read_number(NoliCursor* cursor, const char* what, double* value);

// Reads an integer in [low, high], after white space.
NOLI_WARN_UNUSED NoliStatus noli_read_integer(NoliCursor* cursor, const char* what, int64_t low,
                                              int64_t high, int64_t* value);

// Read a number or an integer on this line: they fail if the line ends before the value.
NOLI_WARN_UNUSED NoliStatus noli_read_number_here(NoliCursor* cursor, const char* what,
                                                  double* value);
NOLI_WARN_UNUSED NoliStatus noli_read_integer_here(NoliCursor* cursor, const char* what,
                                                   int64_t low, int64_t high, int64_t* value);

// Reads the three coordinates of a vertex on one line.
NOLI_WARN_UNUSED NoliStatus noli_read_position_here(NoliCursor* cursor, double x[3]);

// Fails unless the file has at least `count` items of `size` bytes left. `what` is plural.
NOLI_WARN_UNUSED NoliStatus noli_expect_items(const NoliCursor* cursor, const char* what,
                                              int64_t count, int64_t size, bool binary);

// Reads `size` bytes; fails if the file ends earlier.
NOLI_WARN_UNUSED NoliStatus noli_take_bytes(NoliCursor* cursor, const char* what, int64_t size,
                                            const char** bytes);

// Binary numbers at any address, in file order.
static inline uint32_t noli_load_u32(const char* bytes, bool swap) {
  uint32_t u;
  memcpy(&u, bytes, 4);
  return swap ? (u >> 24) | ((u >> 8) & 0xff00u) | ((u << 8) & 0xff0000u) | (u << 24) : u;
}

static inline uint64_t noli_load_u64(const char* bytes, bool swap) {
  uint64_t u;
  memcpy(&u, bytes, 8);
  if (swap) {
    uint64_t low = noli_load_u32(bytes, true), high = noli_load_u32(bytes + 4, true);
    // on a little-endian machine the first half in memory becomes the high half
    uint64_t one = 1;
    char first;
    memcpy(&first, &one, 1);
    u = first ? (low << 32) | high : (high << 32) | low;
  }
  return u;
}

static inline int32_t noli_load_i32(const char* bytes, bool swap) {
  uint32_t u = noli_load_u32(bytes, swap);
  int32_t i;
  memcpy(&i, &u, 4);
  return i;
}

static inline double noli_load_f64(const char* bytes, bool swap) {
  uint64_t u = noli_load_u64(bytes, swap);
  double d;
  memcpy(&d, &u, 8);
  return d;
}

// A scalar type of the binary and text formats.
typedef enum NoliScalar {
  NOLI_SCALAR_NONE,
  NOLI_SCALAR_I8,
  NOLI_SCALAR_U8,
  NOLI_SCALAR_I16,
  NOLI_SCALAR_U16,
  NOLI_SCALAR_I32,
  NOLI_SCALAR_U32,
  NOLI_SCALAR_I64,
  NOLI_SCALAR_U64,
  NOLI_SCALAR_F32,
  NOLI_SCALAR_F64,
} NoliScalar;

// Bytes of a scalar; 0 for NONE.
int32_t noli_scalar_size(NoliScalar type);

static inline bool noli_scalar_is_integer(NoliScalar type) {
  return type != NOLI_SCALAR_F32 && type != NOLI_SCALAR_F64 && type != NOLI_SCALAR_NONE;
}

// Loads a scalar of any type as a double.
double noli_load_number(const char* bytes, NoliScalar type, bool swap);

// Reads the next of a sequence of values, either text or binary of the given type. Failures name
// the line or the byte.
NOLI_WARN_UNUSED NoliStatus noli_next_integer(NoliCursor* cursor, bool binary, NoliScalar type,
                                              const char* what, int64_t low, int64_t high,
                                              int64_t* value);
NOLI_WARN_UNUSED NoliStatus noli_next_number(NoliCursor* cursor, bool binary, NoliScalar type,
                                             const char* what, double* value);

// Moves past a value that nobody uses. In text it may be any word: programs write -nan(ind) and the
// like where they have no number.
NOLI_WARN_UNUSED NoliStatus noli_skip_value(NoliCursor* cursor, bool binary, NoliScalar type,
                                            const char* what);

// Fails with the line (text) or byte (binary) of `place`.
#define noli_cursor_fail_at(cursor, binary, place, ...)                                            \
  ((binary) ? noli_cursor_fail_byte((cursor), (place), __VA_ARGS__)                                \
            : noli_cursor_fail((cursor), (place), __VA_ARGS__))
