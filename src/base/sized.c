#include "base/sized.h"

#include <stdio.h>
#include <string.h>

// Sizes that cannot be: of definitions that nobody made.
enum { LEAST = 16, MOST = 1 << 16 };

static size_t lesser(size_t a, size_t b) {
  return a < b ? a : b;
}

static uint32_t sized_size_of(const void* def) {
  uint32_t size = 0;
  memcpy(&size, def, sizeof size);
  return size;
}

void noli_sized_give(void* given, size_t size, const void* own, size_t own_size) {
  size_t shared = lesser(size, own_size);
  if (given == NULL) {
    return;
  }
  memcpy(given, own, shared);
  memset((char*)given + shared, 0, size - shared);
}

void noli_sized_default(void* def, size_t size, const void* defaults, size_t own_size) {
  uint32_t written = (uint32_t)size;
  noli_sized_give(def, size, defaults, own_size);
  if (def != NULL && size >= sizeof written) {
    memcpy(def, &written, sizeof written);
  }
}

NoliStatus noli_sized_take(NoliContext* context, const char* what, const char* maker,
                           const void* given, void* own, size_t own_size) {
  NoliStatus status = NOLI_OK;
  uint32_t size = sized_size_of(given), written = (uint32_t)own_size;
  NOLI_CHECK(context, size >= LEAST && size <= MOST && size % sizeof(void*) == 0,
             NOLI_ERROR_ARGUMENT, "%s was not made by %s", what, maker);
  for (size_t i = own_size; i < size; i++) {
    NOLI_CHECK(context, ((const char*)given)[i] == 0, NOLI_ERROR_ARGUMENT,
               "%s sets what Noli %s does not have: the program was compiled with the headers of a "
               "newer version",
               what, NOLI_VERSION);
  }
  memcpy(own, given, lesser(size, own_size));
  memcpy(own, &written, sizeof written);
done:
  return status;
}

NoliStatus noli_sized_take_list(NoliContext* context, const char* what, const char* maker,
                                const void* given, int32_t n, const void* defaults, size_t own_size,
                                void** own) {
  NoliStatus status = NOLI_OK;
  char* made = NULL;
  char name[80];
  *own = NULL;
  NOLI_CHECK(context, n >= 0 && (n == 0 || given != NULL), NOLI_ERROR_ARGUMENT,
             "there are %d %s, but no array of them", n, what);
  if (n == 0) {
    return NOLI_OK;
  }
  NOLI_CHECK(context, (made = noli_alloc(context, n, own_size)) != NULL, NOLI_ERROR_MEMORY,
             "out of memory");

  // the first one says how far the next one is
  uint32_t stride = sized_size_of(given);
  for (int32_t i = 0; i < n; i++) {
    const char* def = (const char*)given + (size_t)i * stride;
    char* to = made + (size_t)i * own_size;
    snprintf(name, sizeof name, "%s[%d]", what, i);
    NOLI_CHECK(context, sized_size_of(def) == stride, NOLI_ERROR_ARGUMENT, "%s was not made by %s",
               name, maker);
    memcpy(to, defaults, own_size);
    NOLI_TRY(noli_sized_take(context, name, maker, def, to, own_size));
  }

  *own = made;
  made = NULL;
done:
  noli_free(context, made);
  return status;
}

NoliStatus noli_sized_give_list(NoliContext* context, const void* own, int32_t n, size_t own_size,
                                size_t size, void** given) {
  NoliStatus status = NOLI_OK;
  *given = NULL;
  if (n == 0) {
    return NOLI_OK;
  }
  // of items that the program does not know, it passes on what it gets
  size = size == 0 ? own_size : size;
  char* made = noli_alloc(context, n, size);
  NOLI_CHECK(context, made != NULL, NOLI_ERROR_MEMORY, "out of memory");
  for (int32_t i = 0; i < n; i++) {
    noli_sized_default(made + (size_t)i * size, size, (const char*)own + (size_t)i * own_size,
                       own_size);
  }
  *given = made;
done:
  return status;
}
