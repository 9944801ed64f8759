// Lines, fields and keywords of Abaqus and CalculiX files: fields are separated by commas, keywords
// begin with an asterisk and comments with two, and names have no case.
#pragma once

#include "base/array.h"
#include "text/cursor.h"

typedef struct NoliInpParameter {
  NoliSpan name;
  NoliSpan value; // empty if there is none
} NoliInpParameter;

// A file that is being read, and the last keyword.
typedef struct NoliInpText {
  NoliCursor* cursor;
  NoliSpan keyword; // with its asterisk
  NOLI_ARRAY(NoliInpParameter) parameter;
} NoliInpText;

// Whether names are equal.
bool noli_inp_same_names(NoliSpan a, NoliSpan b);

// A hash of a name.
uint32_t noli_inp_hash(NoliSpan name);

// Whether a keyword or parameter is `name` (in capitals), blanks ignored.
bool noli_inp_is_word(NoliSpan word, const char* name);

// Takes the next line of data. False at a keyword and at the end of the file, where the cursor
// stays. Skips comments and empty lines.
bool noli_inp_next_line(const NoliInpText* text, NoliSpan* line);

// Takes the next field of a line, without blanks around it. False after the last one; a comma at
// the end of the line is not followed by a field, and sets `goes_on`.
bool noli_inp_next_field(NoliSpan* line, NoliSpan* field, bool* goes_on);

// Fails because there is something else than `what` at `place`.
NoliStatus noli_inp_expected(const NoliInpText* text, const char* place, const char* what);

// The value of a field. An empty field is the number 0, and no integer. Integers are in [1,
// INT64_MAX - 1].
NOLI_WARN_UNUSED NoliStatus noli_inp_integer(const NoliInpText* text, NoliSpan field,
                                             const char* what, int64_t* value);
NOLI_WARN_UNUSED NoliStatus noli_inp_number(const NoliInpText* text, NoliSpan field,
                                            const char* what, double* value);

// Reads up to `most` numbers of a line into `values`, whose others become 0; up to `n_unused` more
// fields may follow.
NOLI_WARN_UNUSED NoliStatus noli_inp_numbers(const NoliInpText* text, NoliSpan line,
                                             const char* what, int most, int n_unused,
                                             double* values);

// Reads the keyword at the cursor and its parameters, which go on in the next line after a comma.
NOLI_WARN_UNUSED NoliStatus noli_inp_read_keyword(NoliInpText* text);

// A parameter of the keyword; NULL if it does not have it.
const NoliInpParameter* noli_inp_find_parameter(const NoliInpText* text, const char* name);

// Fails for a parameter that is not among `known`, which ends with NULL.
NOLI_WARN_UNUSED NoliStatus noli_inp_check_parameters(const NoliInpText* text,
                                                      const char* const* known);
