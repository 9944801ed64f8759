// Entries of tables that users choose from by name.
#pragma once

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
