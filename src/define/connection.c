#include "define/connection.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define INIT(list, type, item_, ITEM)                                                              \
  static void init_##item_(void* item) {                                                           \
    noli_##item_##_def_init(item, sizeof(type));                                                   \
  }
NOLI_CONNECTION_LISTS(INIT)

#define LIST(list, type_, item, ITEM)                                                              \
  [NOLI_CONNECTION_##ITEM] = {.name = #list,                                                       \
                              .noun = #item,                                                       \
                              .size = sizeof(type_),                                               \
                              .items = offsetof(NoliSimDef, list),                                 \
                              .n_items = offsetof(NoliSimDef, n_##list),                           \
                              .numbers = NOLI_NUMBERS_##ITEM,                                      \
                              .init = init_##item,                                                 \
                              .type = &noli_connection_##item},
static const NoliConnectionList lists[NOLI_CONNECTION_KINDS] = {NOLI_CONNECTION_LISTS(LIST)};

const NoliConnectionList* noli_connection_list(int32_t kind) {
  return &lists[kind];
}

int32_t noli_connection_count(int32_t kind, const NoliSimDef* def) {
  int32_t n;
  memcpy(&n, (const char*)def + lists[kind].n_items, sizeof n);
  return n;
}

const void* noli_connection_item(int32_t kind, const NoliSimDef* def, int32_t index) {
  const char* items;
  memcpy(&items, (const char*)def + lists[kind].items, sizeof items);
  return items + (size_t)index * lists[kind].size;
}

NoliConnectionEnds noli_connection_ends(int32_t kind, const void* item) {
  NoliConnectionEnds ends = {.to = NOLI_NULL_INDEX};
  const NoliConnectionType* type = lists[kind].type;
#define GET(end)                                                                                   \
  if (type->at.end > 0) {                                                                          \
    memcpy(&ends.end, (const char*)item + type->at.end, sizeof ends.end);                          \
  }
  NOLI_CONNECTION_ENDS(GET)
#undef GET
  return ends;
}

void noli_connection_set_ends(int32_t kind, const NoliConnectionEnds* ends, void* item) {
  const NoliConnectionType* type = lists[kind].type;
#define SET(end)                                                                                   \
  if (type->at.end > 0) {                                                                          \
    memcpy((char*)item + type->at.end, &ends->end, sizeof ends->end);                              \
  }
  NOLI_CONNECTION_ENDS(SET)
#undef SET
}

NoliConnectionPrefix noli_connection_prefix(int32_t kind, const NoliSimDef* def, int32_t index) {
  NoliConnectionPrefix prefix;
  const char* where = noli_connection_ends(kind, noli_connection_item(kind, def, index)).where;
  snprintf(prefix.text, sizeof prefix.text, "%.350s%s%s %d", where != NULL ? where : "",
           where != NULL ? ": " : "", lists[kind].noun, (int)index);
  return prefix;
}
