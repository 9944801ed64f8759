// Entries of tables that users choose from by name.
#pragma once

#include "noli/base.h"

#include <stdint.h>
#include <string.h>

typedef struct NoliNamed {
  const char* name;        // NULL: there is no such entry
  const char* description; // one sentence
} NoliNamed;

// The entry of a table of `n`, without a name past its ends.
static inline NoliNamed noli_named_at(const NoliNamed* table, int32_t n, int32_t index) {
  return index >= 0 && index < n ? table[index] : (NoliNamed){0};
}

// The index of a name, -1 where there is none.
static inline int32_t noli_named_find(const NoliNamed* table, int32_t n, const char* name) {
  for (int32_t i = 0; name != NULL && i < n; i++) {
    if (strcmp(table[i].name, name) == 0) {
      return i;
    }
  }
  return -1;
}

// All names of a kind: a table of `n`, or what `at` gives until its name is NULL.
typedef struct NoliNames {
  const char* words;              // for the kind in messages, such as "contact model"
  NoliNamed (*at)(int32_t index); // NULL: a plain table
  const NoliNamed* table;
  int32_t n;
} NoliNames;

// The entry, without a name past the ends.
NoliNamed noli_names_at(const NoliNames* names, int32_t index);
int32_t noli_names_count(const NoliNames* names);

// The index of a name; NOLI_NULL_INDEX where it is NULL or there is no such name.
int32_t noli_names_find(const NoliNames* names, const char* name);
// The index of a name that was checked; NULL counts as the first name.
int32_t noli_names_index(const NoliNames* names, const char* name);

// Fails with NOLI_ERROR_ARGUMENT, with a message that starts with `where` and lists the known
// names, unless `name` is one of the kind, or NULL: the default.
NOLI_WARN_UNUSED NoliStatus noli_names_require(NoliContext* context, const char* where,
                                               const NoliNames* names, const char* name);
