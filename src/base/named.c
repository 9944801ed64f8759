#include "base/named.h"

#include "base/context.h"
#include "noli/extend.h"

#include <stdio.h>

NoliNamed noli_names_at(const NoliNames* names, int32_t index) {
  return names->at != NULL ? names->at(index) : noli_named_at(names->table, names->n, index);
}

int32_t noli_names_count(const NoliNames* names) {
  int32_t n = 0;
  while (noli_names_at(names, n).name != NULL) {
    n++;
  }
  return n;
}

int32_t noli_names_find(const NoliNames* names, const char* name) {
  for (int32_t i = 0; name != NULL && noli_names_at(names, i).name != NULL; i++) {
    if (strcmp(noli_names_at(names, i).name, name) == 0) {
      return i;
    }
  }
  return NOLI_NULL_INDEX;
}

int32_t noli_names_index(const NoliNames* names, const char* name) {
  int32_t index = noli_names_find(names, name);
  return index != NOLI_NULL_INDEX ? index : 0;
}

NoliStatus noli_names_require(NoliContext* context, const char* where, const NoliNames* names,
                              const char* name) {
  enum { MOST = 32, SIZE = 1000 };
  const char* known[MOST];
  char list[SIZE] = "";
  size_t used = 0;
  int32_t n = noli_names_count(names);
  if (name == NULL || noli_names_find(names, name) != NOLI_NULL_INDEX) {
    return NOLI_OK;
  }
  for (int32_t i = 0; i < n && i < MOST; i++) {
    known[i] = noli_names_at(names, i).name;
    used += used < SIZE ? (size_t)snprintf(list + used, SIZE - used, "%s\"%s\"", i > 0 ? ", " : "",
                                           known[i])
                        : 0;
  }
  const char* nearest = noli_nearest(name, known, n < MOST ? n : MOST);
  return noli_fail(context, NOLI_ERROR_ARGUMENT, "%sthere is no %s \"%.80s\"%s%s%s; known: %s",
                   where, names->words, name, nearest != NULL ? "; did you mean \"" : "",
                   nearest != NULL ? nearest : "", nearest != NULL ? "\"?" : "", list);
}
