#define _POSIX_C_SOURCE 200809L
#include "text/cursor.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

// ---- the file

// Fails unless `path` is a regular file.
static NoliStatus regular_file_size(NoliContext* context, const char* path, FILE* file,
                                    int64_t* size) {
  struct stat info;
  if (fstat(fileno(file), &info) != 0) {
    return noli_fail(context, NOLI_ERROR_IO, "%s: cannot be read: %s", path, strerror(errno));
  }
  if (S_ISDIR(info.st_mode)) {
    return noli_fail(context, NOLI_ERROR_IO, "%s: is a directory, not a mesh file", path);
  }
  if (!S_ISREG(info.st_mode)) {
    return noli_fail(context, NOLI_ERROR_IO, "%s: is not a regular file", path);
  }
  *size = (int64_t)info.st_size;
  return NOLI_OK;
}

int64_t noli_mark_size(const char* text, int64_t size) {
  static const char mark[3] = {'\xef', '\xbb', '\xbf'};
  return size >= 3 && memcmp(text, mark, sizeof mark) == 0 ? 3 : 0;
}

void noli_end_lines(char* text, int64_t size) {
  // editors add the last one
  while (size > 0 && text[size - 1] == '\n') {
    size--;
  }
  if (memchr(text, '\n', (size_t)size) != NULL || memchr(text, '\0', (size_t)size) != NULL) {
    return;
  }
  for (char* at = text; (at = memchr(at, '\r', (size_t)(text + size - at))) != NULL; at++) {
    *at = '\n';
  }
}

NoliStatus noli_cursor_open(NoliContext* context, const char* path, NoliCursor* cursor) {
  NoliStatus status = NOLI_OK;
  char* text = NULL;
  FILE* file = fopen(path, "rb");

  NOLI_CHECK(context, file != NULL, NOLI_ERROR_IO, "%s: cannot be opened: %s", path,
             strerror(errno));
  int64_t size = 0;
  NOLI_TRY(regular_file_size(context, path, file, &size));
  NOLI_CHECK(context, size > 0, NOLI_ERROR_FORMAT, "%s: the file is empty", path);

  NOLI_NEW(context, text, size + 1);
  size_t got = fread(text, 1, (size_t)size, file);
  NOLI_CHECK(context, got == (size_t)size, NOLI_ERROR_IO, "%s: only %zu of %lld bytes were read",
             path, got, (long long)size);

  text[size] = '\0';
  noli_end_lines(text, size);
  *cursor = (NoliCursor){.context = context,
                         .path = path,
                         .begin = text,
                         .at = text + noli_mark_size(text, size),
                         .end = text + size,
                         .text = text};
  text = NULL;
done:
  if (file != NULL) {
    fclose(file);
  }
  noli_free(context, text);
  return status;
}

// ---- messages

NoliStatus noli_cursor_fail(const NoliCursor* cursor, const char* place, const char* format, ...) {
  int64_t line = 1;
  for (const char* at = cursor->begin; (at = memchr(at, '\n', (size_t)(place - at))) != NULL;
       at++) {
    line++;
  }
  char message[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  return noli_fail(cursor->context, NOLI_ERROR_FORMAT, "%s:%lld: %s", cursor->path, (long long)line,
                   message);
}

NoliStatus noli_cursor_fail_byte(const NoliCursor* cursor, const char* place, const char* format,
                                 ...) {
  char message[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  return noli_fail(cursor->context, NOLI_ERROR_FORMAT, "%s: byte %lld: %s", cursor->path,
                   (long long)(place - cursor->begin), message);
}

NoliShown noli_show(NoliSpan span) {
  NoliShown shown;
  int64_t n = span.n < 40 ? span.n : 40;
  int64_t at = 0;
  shown.text[at++] = '\'';
  for (int64_t i = 0; i < n; i++) {
    char c = span.at[i];
    shown.text[at++] = c >= ' ' && c <= '~' ? c : '?';
  }
  for (int i = 0; i < 3 && span.n > n; i++) {
    shown.text[at++] = '.';
  }
  shown.text[at++] = '\'';
  shown.text[at] = '\0';
  return shown;
}

NoliShown noli_show_next(const NoliCursor* cursor) {
  NoliCursor ahead = *cursor;
  noli_skip_blank(&ahead);
  NoliShown shown = {"the end of the line"};
  if (ahead.at >= ahead.end) {
    shown = (NoliShown){"the end of the file"};
  } else if (*ahead.at != '\n') {
    shown = noli_show(noli_next_word(&ahead));
  }
  return shown;
}

// ---- words

void noli_skip_line(NoliCursor* cursor) {
  const char* line_end = memchr(cursor->at, '\n', (size_t)noli_cursor_left(cursor));
  cursor->at = line_end != NULL ? line_end + 1 : cursor->end;
}

int64_t noli_count_statements(const NoliCursor* cursor, char letter) {
  int64_t count = 0;
  for (NoliCursor ahead = *cursor; ahead.at < ahead.end; noli_skip_line(&ahead)) {
    noli_skip_blank(&ahead);
    count += ahead.at[0] == letter && noli_is_blank(ahead.at[1]);
  }
  return count;
}

NoliSpan noli_next_word(NoliCursor* cursor) {
  noli_skip_blank(cursor);
  NoliSpan word = {cursor->at, 0};
  while (cursor->at < cursor->end && !noli_is_space(*cursor->at)) {
    cursor->at++;
  }
  word.n = cursor->at - word.at;
  return word;
}

NoliSpan noli_next_word_anywhere(NoliCursor* cursor) {
  noli_skip_space(cursor);
  return noli_next_word(cursor);
}

bool noli_span_is(NoliSpan span, const char* text) {
  return (size_t)span.n == strlen(text) && memcmp(span.at, text, (size_t)span.n) == 0;
}

static char lower(char c) {
  return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool noli_span_is_any_case(NoliSpan span, const char* text) {
  if ((size_t)span.n != strlen(text)) {
    return false;
  }
  for (int64_t i = 0; i < span.n; i++) {
    if (lower(span.at[i]) != lower(text[i])) {
      return false;
    }
  }
  return true;
}

// ---- numbers in text

// The parts of a decimal number as they are scanned.
typedef struct Decimal {
  uint64_t mantissa; // the first 19 significant digits
  int64_t exponent;  // of ten
  bool negative;
  bool exact; // the mantissa holds every digit
} Decimal;

// Scans digits into the mantissa; returns their number. `scale` is -1 after the decimal point.
static int64_t scan_digits(const char** at, Decimal* number, int64_t scale) {
  const char* first = *at;
  for (; noli_is_digit(**at); (*at)++) {
    if (number->mantissa < UINT64_C(1000000000000000000)) {
      number->mantissa = 10 * number->mantissa + (uint64_t)(**at - '0');
      number->exponent += scale;
    } else {
      number->exact = number->exact && **at == '0';
      number->exponent += 1 + scale;
    }
  }
  return *at - first;
}

// Scans [+-] digits [. digits] [e [+-] digits]; false if there is no number. Accepts Fortran's d
// for e.
static bool scan_decimal(const char** at, Decimal* number) {
  *number = (Decimal){.exact = true};

  // sign and digits
  const char* p = *at;
  number->negative = *p == '-';
  p += *p == '-' || *p == '+';
  int64_t n_digits = scan_digits(&p, number, 0);
  if (*p == '.') {
    p++;
    n_digits += scan_digits(&p, number, -1);
  }
  if (n_digits == 0) {
    return false;
  }

  // exponent
  if (lower(*p) == 'e' || lower(*p) == 'd') {
    const char* q = p + 1;
    bool negative = *q == '-';
    q += *q == '-' || *q == '+';
    if (noli_is_digit(*q)) {
      int32_t exponent = 0;
      for (; noli_is_digit(*q); q++) {
        exponent = exponent < 100000 ? 10 * exponent + (*q - '0') : exponent;
      }
      number->exponent += negative ? -exponent : exponent;
      p = q;
    }
  }
  *at = p;
  return true;
}

// The slow path for all other numbers. strtod depends on the locale of the process, so that it gets
// digits and an exponent but no decimal point. A text too long for the buffer loses digits far
// below rounding.
static double slow_decimal(const char* first, const char* last) {
  enum { MAX_DIGITS = 790 };
  char text[MAX_DIGITS + 40];
  int64_t n = 0, exponent = 0;
  bool behind_point = false, significant = false;
  const char* p = first;

  // sign and significant digits
  if (*p == '-' || *p == '+') {
    text[n++] = *p++;
  }
  for (; p < last && lower(*p) != 'e' && lower(*p) != 'd'; p++) {
    if (*p == '.') {
      behind_point = true;
      continue;
    }
    significant = significant || *p != '0';
    bool kept = significant && n < MAX_DIGITS;
    if (kept) {
      text[n++] = *p;
    }
    exponent += (significant && !kept) - behind_point;
  }
  if (!significant) {
    text[n++] = '0';
  }

  // beyond the limit the value is 0 or infinite for any number of digits that a file can contain
  const int64_t limit = INT64_C(1000000000000000);
  int64_t written = p < last ? strtoll(p + 1, NULL, 10) : 0;
  written = written > limit ? limit : written < -limit ? -limit : written;
  snprintf(text + n, sizeof text - (size_t)n, "e%lld", (long long)(written + exponent));
  return strtod(text, NULL);
}

static double decimal_value(const Decimal* number, const char* first, const char* last) {
  static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                 1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  // both factors are exact, so that a single rounding yields the nearest double
  if (number->exact && number->mantissa <= (UINT64_C(1) << 53) && number->exponent >= -22 &&
      number->exponent <= 22) {
    double value = (double)number->mantissa;
    value =
        number->exponent < 0 ? value / power[-number->exponent] : value * power[number->exponent];
    return number->negative ? -value : value;
  }
  return slow_decimal(first, last);
}

// nan, inf, infinity with a sign, in any case.
static bool special_value(NoliSpan word, double* value) {
  bool negative = word.n > 0 && word.at[0] == '-';
  if (word.n > 0 && (word.at[0] == '-' || word.at[0] == '+')) {
    word.at++;
    word.n--;
  }
  if (noli_span_is_any_case(word, "nan")) {
    *value = (double)NAN;
    return true;
  }
  if (noli_span_is_any_case(word, "inf") || noli_span_is_any_case(word, "infinity")) {
    *value = negative ? -(double)INFINITY : (double)INFINITY;
    return true;
  }
  return false;
}

NoliStatus noli_read_number(NoliCursor* cursor, const char* what, double* value) {
  noli_skip_space(cursor);
  const char* first = cursor->at;
  const char* last = first;
  Decimal number;
  if (scan_decimal(&last, &number) && (noli_is_space(*last) || last == cursor->end)) {
    cursor->at = last;
    *value = decimal_value(&number, first, last);
    if (isinf(*value)) {
      return noli_cursor_fail(cursor, first, "%s exceeds the range of numbers: %s", what,
                              noli_show((NoliSpan){first, last - first}).text);
    }
    return NOLI_OK;
  }
  if (special_value(noli_next_word(cursor), value)) {
    return NOLI_OK;
  }
  cursor->at = first;
  return noli_cursor_fail(cursor, first, "expected %s, got %s", what, noli_show_next(cursor).text);
}

NoliStatus noli_read_integer(NoliCursor* cursor, const char* what, int64_t low, int64_t high,
                             int64_t* value) {
  noli_skip_space(cursor);
  const char* first = cursor->at;
  const char* p = first;
  bool negative = *p == '-';
  p += *p == '-' || *p == '+';
  uint64_t sum = 0;
  bool overflow = false;
  const char* digits = p;
  for (; noli_is_digit(*p); p++) {
    uint64_t digit = (uint64_t)(*p - '0');
    overflow = overflow || sum > (INT64_MAX - digit) / 10;
    sum = overflow ? 0 : 10 * sum + digit;
  }

  if (p == digits || !(noli_is_space(*p) || p == cursor->end)) {
    return noli_cursor_fail(cursor, first, "expected %s, got %s", what,
                            noli_show_next(cursor).text);
  }
  int64_t got = negative ? -(int64_t)sum : (int64_t)sum;
  if (overflow || got < low || got > high) {
    return noli_cursor_fail(cursor, first, "%s must be in %lld to %lld, got %s", what,
                            (long long)low, (long long)high,
                            noli_show((NoliSpan){first, p - first}).text);
  }

  cursor->at = p;
  *value = got;
  return NOLI_OK;
}

// Fails if the line has no more words.
static NoliStatus expect_here(NoliCursor* cursor, const char* what) {
  noli_skip_blank(cursor);
  if (*cursor->at == '\n' || cursor->at == cursor->end) {
    return noli_cursor_fail(cursor, cursor->at, "expected %s, got %s", what,
                            noli_show_next(cursor).text);
  }
  return NOLI_OK;
}

NoliStatus noli_read_number_here(NoliCursor* cursor, const char* what, double* value) {
  NoliStatus status = expect_here(cursor, what);
  return status == NOLI_OK ? noli_read_number(cursor, what, value) : status;
}

NoliStatus noli_read_integer_here(NoliCursor* cursor, const char* what, int64_t low, int64_t high,
                                  int64_t* value) {
  NoliStatus status = expect_here(cursor, what);
  return status == NOLI_OK ? noli_read_integer(cursor, what, low, high, value) : status;
}

NoliStatus noli_read_position_here(NoliCursor* cursor, double x[3]) {
  NoliStatus status = NOLI_OK;
  for (int i = 0; i < 3 && status == NOLI_OK; i++) {
    status = noli_read_number_here(cursor, "a coordinate", &x[i]);
  }
  return status;
}

// ---- bytes

NoliStatus noli_expect_items(const NoliCursor* cursor, const char* what, int64_t count,
                             int64_t size, bool binary) {
  int64_t left = noli_cursor_left(cursor);
  // the last item of a text needs no separator
  if (count >= 0 && count <= (binary ? left : left + 1) / size) {
    return NOLI_OK;
  }
  if (binary) {
    return noli_cursor_fail_byte(cursor, cursor->at,
                                 "%lld %s do not fit in the %lld bytes that are left",
                                 (long long)count, what, (long long)left);
  }
  return noli_cursor_fail(cursor, cursor->at, "%lld %s do not fit in the %lld bytes that are left",
                          (long long)count, what, (long long)left);
}

NoliStatus noli_take_bytes(NoliCursor* cursor, const char* what, int64_t size, const char** bytes) {
  if (size < 0 || size > noli_cursor_left(cursor)) {
    return noli_cursor_fail_byte(cursor, cursor->at,
                                 "%s needs %lld bytes, but the file ends after %lld", what,
                                 (long long)size, (long long)noli_cursor_left(cursor));
  }
  *bytes = cursor->at;
  cursor->at += size;
  return NOLI_OK;
}

int32_t noli_scalar_size(NoliScalar type) {
  static const int32_t size[] = {0, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
  return size[type];
}

// Loads an integer of any type; u64 beyond INT64_MAX becomes INT64_MAX, which no count or index
// accepts.
static int64_t load_integer(const char* bytes, NoliScalar type, bool swap) {
  uint16_t half;
  uint64_t whole;
  int64_t value = 0;

  // up to 16 bits
  switch (type) {
  case NOLI_SCALAR_I8:
    return (int8_t)bytes[0];
  case NOLI_SCALAR_U8:
    return (uint8_t)bytes[0];
  case NOLI_SCALAR_I16:
  case NOLI_SCALAR_U16:
    memcpy(&half, bytes, 2);
    half = swap ? (uint16_t)((half >> 8) | (half << 8)) : half;
    return type == NOLI_SCALAR_I16 ? (int16_t)half : half;

  // 32 and 64 bits
  case NOLI_SCALAR_I32:
    return noli_load_i32(bytes, swap);
  case NOLI_SCALAR_U32:
    return noli_load_u32(bytes, swap);
  case NOLI_SCALAR_I64:
    whole = noli_load_u64(bytes, swap);
    memcpy(&value, &whole, 8);
    return value;
  case NOLI_SCALAR_U64:
    whole = noli_load_u64(bytes, swap);
    return whole > INT64_MAX ? INT64_MAX : (int64_t)whole;

  // not integers
  case NOLI_SCALAR_NONE:
  case NOLI_SCALAR_F32:
  case NOLI_SCALAR_F64:
    break;
  }
  return 0;
}

double noli_load_number(const char* bytes, NoliScalar type, bool swap) {
  if (type == NOLI_SCALAR_F64) {
    return noli_load_f64(bytes, swap);
  }
  if (type == NOLI_SCALAR_F32) {
    uint32_t u = noli_load_u32(bytes, swap);
    float f;
    memcpy(&f, &u, 4);
    return (double)f;
  }
  return (double)load_integer(bytes, type, swap);
}

NoliStatus noli_next_integer(NoliCursor* cursor, bool binary, NoliScalar type, const char* what,
                             int64_t low, int64_t high, int64_t* value) {
  if (!binary) {
    return noli_read_integer(cursor, what, low, high, value);
  }
  const char* bytes = NULL;
  NoliStatus status = noli_take_bytes(cursor, what, noli_scalar_size(type), &bytes);
  if (status == NOLI_OK) {
    *value = load_integer(bytes, type, cursor->swap);
    if (*value < low || *value > high) {
      status = noli_cursor_fail_byte(cursor, bytes, "%s must be in %lld to %lld, got %lld", what,
                                     (long long)low, (long long)high, (long long)*value);
    }
  }
  return status;
}

NoliStatus noli_next_number(NoliCursor* cursor, bool binary, NoliScalar type, const char* what,
                            double* value) {
  if (!binary) {
    return noli_read_number(cursor, what, value);
  }
  const char* bytes = NULL;
  NoliStatus status = noli_take_bytes(cursor, what, noli_scalar_size(type), &bytes);
  if (status == NOLI_OK) {
    *value = noli_load_number(bytes, type, cursor->swap);
  }
  return status;
}

NoliStatus noli_skip_value(NoliCursor* cursor, bool binary, NoliScalar type, const char* what) {
  const char* bytes = NULL;
  if (binary) {
    return noli_take_bytes(cursor, what, noli_scalar_size(type), &bytes);
  }
  if (noli_next_word_anywhere(cursor).n > 0) {
    return NOLI_OK;
  }
  return noli_cursor_fail(cursor, cursor->at, "expected %s, got %s", what,
                          noli_show_next(cursor).text);
}
