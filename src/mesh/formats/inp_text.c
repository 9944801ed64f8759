#include "mesh/formats/inp_text.h"

static char upper(char c) {
  return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

static NoliSpan trim(NoliSpan span) {
  for (; span.n > 0 && noli_is_space(span.at[0]); span.n--) {
    span.at++;
  }
  while (span.n > 0 && noli_is_space(span.at[span.n - 1])) {
    span.n--;
  }
  return span;
}

// ---- names

bool noli_inp_same_names(NoliSpan a, NoliSpan b) {
  bool same = a.n == b.n;
  for (int64_t i = 0; same && i < a.n; i++) {
    same = upper(a.at[i]) == upper(b.at[i]);
  }
  return same;
}

uint32_t noli_inp_hash(NoliSpan name) {
  uint32_t hash = UINT32_C(2166136261);
  for (int64_t i = 0; i < name.n; i++) {
    hash = (hash ^ (unsigned char)upper(name.at[i])) * UINT32_C(16777619);
  }
  return hash ^ hash >> 16;
}

bool noli_inp_is_word(NoliSpan word, const char* name) {
  for (int64_t i = 0; i < word.n; i++) {
    if (noli_is_blank(word.at[i])) {
      continue;
    }
    // a file may contain zeros
    if (*name == '\0' || upper(word.at[i]) != *name) {
      return false;
    }
    name++;
  }
  return *name == '\0';
}

// ---- lines and fields

bool noli_inp_next_line(const NoliInpText* text, NoliSpan* line) {
  NoliCursor* cursor = text->cursor;
  for (;;) {
    noli_skip_space(cursor);
    bool is_comment = cursor->at[0] == '*' && cursor->at[1] == '*';
    if (cursor->at == cursor->end || (cursor->at[0] == '*' && !is_comment)) {
      return false;
    }
    line->at = cursor->at;
    noli_skip_line(cursor);
    if (!is_comment) {
      *line = trim((NoliSpan){line->at, cursor->at - line->at});
      return true;
    }
  }
}

bool noli_inp_next_field(NoliSpan* line, NoliSpan* field, bool* goes_on) {
  NoliSpan rest = trim(*line);
  if (rest.n == 0) {
    return false;
  }
  const char* comma = memchr(rest.at, ',', (size_t)rest.n);
  const char* end = rest.at + rest.n;
  *goes_on = comma != NULL;
  *field = trim((NoliSpan){rest.at, comma != NULL ? comma - rest.at : rest.n});
  line->at = comma != NULL ? comma + 1 : end;
  line->n = end - line->at;
  return true;
}

NoliStatus noli_inp_expected(const NoliInpText* text, const char* place, const char* what) {
  NoliCursor here = *text->cursor;
  here.at = place;
  return noli_cursor_fail(text->cursor, place, "expected %s, got %s", what,
                          noli_show_next(&here).text);
}

// ---- values

// A cursor that ends with the field.
static NoliCursor field_cursor(const NoliInpText* text, NoliSpan field) {
  NoliCursor cursor = *text->cursor;
  cursor.at = field.at;
  cursor.end = field.at + field.n;
  return cursor;
}

// Fails unless the cursor of a field has come to its end.
static NoliStatus expect_end(const NoliCursor* cursor, NoliSpan field, const char* what) {
  return cursor->at == cursor->end ? NOLI_OK
                                   : noli_cursor_fail(cursor, field.at, "expected %s, got %s", what,
                                                      noli_show(field).text);
}

NoliStatus noli_inp_integer(const NoliInpText* text, NoliSpan field, const char* what,
                            int64_t* value) {
  NoliStatus status = NOLI_OK;
  NoliCursor cursor = field_cursor(text, field);
  NOLI_TRY(field.n == 0 ? noli_inp_expected(text, field.at, what)
                        : noli_read_integer(&cursor, what, 1, INT64_MAX - 1, value));
  NOLI_TRY(expect_end(&cursor, field, what));
done:
  return status;
}

NoliStatus noli_inp_number(const NoliInpText* text, NoliSpan field, const char* what,
                           double* value) {
  NoliStatus status = NOLI_OK;
  NoliCursor cursor = field_cursor(text, field);
  *value = 0.0;
  if (field.n > 0) {
    NOLI_TRY(noli_read_number(&cursor, what, value));
    NOLI_TRY(expect_end(&cursor, field, what));
  }
done:
  return status;
}

NoliStatus noli_inp_numbers(const NoliInpText* text, NoliSpan line, const char* what, int most,
                            int n_unused, double* values) {
  NoliStatus status = NOLI_OK;
  NoliSpan field;
  int n = 0;
  for (int i = 0; i < most; i++) {
    values[i] = 0.0;
  }
  for (bool goes_on; noli_inp_next_field(&line, &field, &goes_on); n++) {
    if (n < most) {
      NOLI_TRY(noli_inp_number(text, field, what, &values[n]));
    } else if (n >= most + n_unused) {
      status = noli_inp_expected(text, field.at, "the end of the line");
      goto done;
    }
  }
done:
  return status;
}

// ---- keywords

static NoliStatus add_parameter(NoliInpText* text, NoliSpan field) {
  NoliStatus status = NOLI_OK;
  const char* equals = field.n > 0 ? memchr(field.at, '=', (size_t)field.n) : NULL;
  NoliInpParameter parameter = {.name = field};
  if (equals != NULL) {
    parameter.name = trim((NoliSpan){field.at, equals - field.at});
    parameter.value = trim((NoliSpan){equals + 1, field.at + field.n - equals - 1});
  }
  NoliSpan* value = &parameter.value;
  if (value->n >= 2 && value->at[0] == '"' && value->at[value->n - 1] == '"') {
    *value = (NoliSpan){value->at + 1, value->n - 2};
  }
  NOLI_PUSH(text->cursor->context, &text->parameter, parameter);
done:
  return status;
}

NoliStatus noli_inp_read_keyword(NoliInpText* text) {
  NoliStatus status = NOLI_OK;
  NoliSpan line = {text->cursor->at, 0}, field;
  bool goes_on = false;
  noli_skip_line(text->cursor);
  line.n = text->cursor->at - line.at;
  text->parameter.count = 0;
  noli_inp_next_field(&line, &text->keyword, &goes_on);
  do {
    while (noli_inp_next_field(&line, &field, &goes_on)) {
      NOLI_TRY(add_parameter(text, field));
    }
  } while (goes_on && noli_inp_next_line(text, &line));
done:
  return status;
}

const NoliInpParameter* noli_inp_find_parameter(const NoliInpText* text, const char* name) {
  for (int64_t i = 0; i < text->parameter.count; i++) {
    if (noli_inp_is_word(text->parameter.data[i].name, name)) {
      return &text->parameter.data[i];
    }
  }
  return NULL;
}

NoliStatus noli_inp_check_parameters(const NoliInpText* text, const char* const* known) {
  for (int64_t i = 0; i < text->parameter.count; i++) {
    NoliSpan name = text->parameter.data[i].name;
    const char* const* match = known;
    while (*match != NULL && !noli_inp_is_word(name, *match)) {
      match++;
    }
    if (*match == NULL) {
      return noli_cursor_fail(text->cursor, name.at, "the parameter %s of %s is not supported",
                              noli_show(name).text, noli_show(text->keyword).text);
    }
  }
  return NOLI_OK;
}
