#include "output/history.h"

#include "output/file.h"

#include <stdlib.h>
#include <string.h>

// Takes the field at `*next` off a line and moves on behind it; false at the end of the line. The
// field is made a string in place.
static bool take_field(char** next, char** field) {
  char *from = *next, *to = *next;
  if (from == NULL) {
    return false;
  }
  *field = to;
  bool quoted = *from == '"';
  from += quoted;
  while (*from != '\0' && (quoted || *from != ',')) {
    if (quoted && *from == '"') {
      // two are one that belongs to the text
      quoted = from[1] == '"';
      from += quoted ? 1 : 0;
      if (!quoted) {
        from++;
        continue;
      }
    }
    *to++ = *from++;
  }
  *next = *from == ',' ? from + 1 : NULL;
  *to = '\0';
  return true;
}

static int64_t count_lines(const char* text) {
  int64_t n = 0;
  for (const char* c = strchr(text, '\n'); c != NULL; c = strchr(c + 1, '\n')) {
    n++;
  }
  return n;
}

static NoliStatus history_read_header(NoliContext* context, const char* path, char* line,
                                      NoliHistory* history) {
  NoliStatus status = NOLI_OK;
  int64_t n = 1;
  for (const char* c = line; *c != '\0'; c++) {
    n += *c == ',';
  }
  NOLI_CHECK(context, n <= 1000, NOLI_ERROR_FORMAT, "%s:1: too many columns", path);
  NOLI_NEW(context, history->name, n);
  for (char *next = line, *field; take_field(&next, &field);) {
    history->name[history->n_columns++] = field;
  }
done:
  return status;
}

NoliStatus noli_history_read(NoliContext* context, const char* path, NoliHistory* history) {
  NoliStatus status = NOLI_OK;
  size_t size;
  *history = (NoliHistory){0};

  // read the text
  NOLI_TRY(noli_file_read(context, path, &history->text, &size));
  NOLI_CHECK(context, strlen(history->text) == size, NOLI_ERROR_FORMAT,
             "%s: a zero byte within the text", path);
  int64_t n_lines = count_lines(history->text);
  NOLI_CHECK(context, n_lines > 0, NOLI_ERROR_FORMAT, "%s: the header is missing", path);
  history->torn = size > 0 && history->text[size - 1] != '\n';

  // split it into rows of fields
  char* line = history->text;
  for (int64_t i = 0; i < n_lines; i++) {
    char* end = strchr(line, '\n');
    *end = '\0';
    if (i == 0) {
      NOLI_TRY(history_read_header(context, path, line, history));
      NOLI_NEW(context, history->field, n_lines * history->n_columns);
    } else {
      int32_t n = 0;
      char* field;
      for (char* next = line; take_field(&next, &field); n++) {
        if (n < history->n_columns) {
          history->field[history->n_rows * history->n_columns + n] = field;
        }
      }
      NOLI_CHECK(context, n == history->n_columns, NOLI_ERROR_FORMAT,
                 "%s:%lld: %d fields under %d names", path, (long long)i + 1, (int)n,
                 (int)history->n_columns);
      history->n_rows++;
    }
    line = end + 1;
  }
done:
  if (status != NOLI_OK) {
    noli_history_free(context, history);
  }
  return status;
}

void noli_history_free(NoliContext* context, NoliHistory* history) {
  noli_free(context, history->text);
  noli_free(context, history->name);
  noli_free(context, history->field);
  *history = (NoliHistory){0};
}

int32_t noli_history_column(const NoliHistory* history, const char* name) {
  for (int32_t i = 0; i < history->n_columns; i++) {
    if (strcmp(history->name[i], name) == 0) {
      return i;
    }
  }
  return NOLI_NULL_INDEX;
}

const char* noli_history_text(const NoliHistory* history, int64_t row, int32_t column) {
  return history->field[row * history->n_columns + column];
}

bool noli_history_number(const NoliHistory* history, int64_t row, int32_t column, double* value) {
  const char* text = noli_history_text(history, row, column);
  char* end = NULL;
  *value = strtod(text, &end);
  return end != text && *end == '\0';
}
