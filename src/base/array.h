// A growable array of plain values: zero-initialize it, push, and release it with noli_array_free.
#pragma once

#include "noli/extend.h"

#define NOLI_ARRAY(Type)                                                                           \
  struct {                                                                                         \
    Type* data;                                                                                    \
    int64_t count;                                                                                 \
    int64_t capacity;                                                                              \
  }

// Makes room for `need` items in total. Returns a status.
#define noli_array_reserve(context, array, need)                                                   \
  noli_grow((context), (void**)&(array)->data, &(array)->capacity, (need), sizeof *(array)->data)

// Appends one item; leaves through `done` when memory is exhausted.
#define NOLI_PUSH(context, array, item)                                                            \
  do {                                                                                             \
    if ((array)->count == (array)->capacity) {                                                     \
      NOLI_TRY(noli_array_reserve((context), (array), (array)->count + 1));                        \
    }                                                                                              \
    (array)->data[(array)->count++] = (item);                                                      \
  } while (0)

#define noli_array_free(context, array)                                                            \
  do {                                                                                             \
    noli_free((context), (array)->data);                                                           \
    (array)->data = NULL;                                                                          \
    (array)->count = 0;                                                                            \
    (array)->capacity = 0;                                                                         \
  } while (0)
