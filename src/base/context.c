#include "base/numbers.h"
#include "base/context.h"

#include "base/parallel.h"
#include "base/ranks.h"
#include "base/sized.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT ((size_t)64)

// Precedes every block, in the 64 bytes before it, for noli_free.
typedef struct BlockHeader {
  void* memory; // returned by the allocator
  size_t size;  // requested from the allocator
} BlockHeader;

_Static_assert(sizeof(BlockHeader) <= 64, "the header must fit before the aligned block");

const char* noli_status_text(NoliStatus status) {
  switch (status) {
#define NOLI_STATUS_CASE(name, value, text)                                                        \
  case name:                                                                                       \
    return text;
    NOLI_STATUS_LIST(NOLI_STATUS_CASE)
#undef NOLI_STATUS_CASE
  }
  return "unknown status";
}

const char* noli_version(void) {
  return NOLI_VERSION;
}

int32_t noli_version_number(void) {
  return NOLI_VERSION_NUMBER;
}

static void* default_allocate(void* user, size_t size) {
  (void)user;
  return malloc(size);
}

static void default_release(void* user, void* memory, size_t size) {
  (void)user;
  (void)size;
  free(memory);
}

void noli_context_def_init(NoliContextDef* def, size_t size) {
  NoliContextDef own = {
      .allocate = default_allocate,
      .release = default_release,
      .log_level = NOLI_LOG_INFO,
  };
  noli_sized_default(def, size, &own, sizeof own);
}

NoliStatus noli_context_create(const NoliContextDef* def, NoliContext** context) {
  NOLI_REQUIRE(NULL, context != NULL);
  *context = NULL;
  NoliContextDef used = noli_default_context_def();
  NoliStatus status = def != NULL
                          ? noli_sized_take(NULL, "the context definition",
                                            "noli_default_context_def", def, &used, sizeof used)
                          : NOLI_OK;
  if (status != NOLI_OK || used.allocate == NULL || used.release == NULL ||
      noli_numbers_check(NULL, "", NOLI_NUMBERS_CONTEXT, &used) != NOLI_OK) {
    return NOLI_ERROR_ARGUMENT;
  }
  if (used.n_threads == 0) {
    used.n_threads = noli_ranks_size(used.ranks) > 1 ? 1 : noli_hardware_threads();
  }
  NoliContext* made = used.allocate(used.allocator_user, sizeof *made);
  if (made == NULL) {
    return NOLI_ERROR_MEMORY;
  }
  *made = (NoliContext){.def = used};
  *context = made;
  return NOLI_OK;
}

int64_t noli_context_destroy(NoliContext** context) {
  if (context == NULL || *context == NULL) {
    return 0;
  }
  int64_t leaked = (*context)->bytes;
  if ((*context)->n_logging > 0) {
    return leaked;
  }
  NoliContextDef def = (*context)->def;
  def.release(def.allocator_user, *context, sizeof **context);
  *context = NULL;
  return leaked;
}

const char* noli_context_message(const NoliContext* context) {
  return context != NULL ? context->message : "";
}

int32_t noli_context_threads(const NoliContext* context) {
  if (context == NULL) {
    return 0;
  }
  return context->def.n_threads;
}

int64_t noli_context_bytes(const NoliContext* context) {
  if (context == NULL) {
    return 0;
  }
  return context->bytes;
}

int64_t noli_context_peak_bytes(const NoliContext* context) {
  if (context == NULL) {
    return 0;
  }
  return context->peak_bytes;
}

// Zeros come from the allocator of the process where it is used: pages of them that nothing is
// written to take no memory.
static void* request(NoliContext* context, size_t total, bool zero) {
  if (zero && context->def.allocate == default_allocate) {
    return calloc(1, total);
  }
  void* memory = context->def.allocate(context->def.allocator_user, total);
  if (zero && memory != NULL) {
    memset(memory, 0, total);
  }
  return memory;
}

static void* context_allocate(NoliContext* context, int64_t count, size_t size, bool zero) {
  NOLI_ASSERT(count >= 0 && size > 0);
  if (context == NULL) {
    return NULL;
  }
  size_t limit = (size_t)PTRDIFF_MAX - 2 * ALIGNMENT;
  if (count < 0 || (count > 0 && (size_t)count > limit / size)) {
    noli_fail(context, NOLI_ERROR_MEMORY, "out of memory: %lld items of %zu bytes",
              (long long)count, size);
    return NULL;
  }

  // one alignment unit for the header, one to align the block to 64 bytes
  size_t total = (size_t)count * size + 2 * ALIGNMENT;
  char* memory = request(context, total, zero);
  if (memory == NULL) {
    noli_fail(context, NOLI_ERROR_MEMORY, "out of memory: %zu bytes refused, %lld in use", total,
              (long long)context->bytes);
    return NULL;
  }

  // the header precedes the aligned block
  uintptr_t first = (uintptr_t)memory + ALIGNMENT;
  char* block = memory + ALIGNMENT + (ALIGNMENT - first % ALIGNMENT) % ALIGNMENT;
  BlockHeader* header = (BlockHeader*)(void*)(block - ALIGNMENT);
  header->memory = memory;
  header->size = total;

  // counters
  context->n_allocations++;
  context->bytes += (int64_t)total;
  if (context->bytes > context->peak_bytes) {
    context->peak_bytes = context->bytes;
  }
  return block;
}

void* noli_alloc(NoliContext* context, int64_t count, size_t size) {
  return context_allocate(context, count, size, false);
}

NoliStatus noli_require_memory(NoliContext* context, int64_t bytes) {
  NOLI_REQUIRE(context, context != NULL);
  const NoliContextDef* def = &context->def;
  size_t size = bytes > 0 ? (size_t)bytes : 1;
  void* memory = def->allocate(def->allocator_user, size);
  if (memory == NULL) {
    return noli_fail(context, NOLI_ERROR_MEMORY, "out of memory: %zu bytes refused, %lld in use",
                     size, (long long)context->bytes);
  }
  def->release(def->allocator_user, memory, size);
  return NOLI_OK;
}

void* noli_calloc(NoliContext* context, int64_t count, size_t size) {
  return context_allocate(context, count, size, true);
}

void noli_free(NoliContext* context, void* memory) {
  if (context == NULL || memory == NULL) {
    return;
  }
  BlockHeader header = *(BlockHeader*)(void*)((char*)memory - ALIGNMENT);
  context->bytes -= (int64_t)header.size;
  context->def.release(context->def.allocator_user, header.memory, header.size);
}

char* noli_strdup(NoliContext* context, const char* text) {
  if (context == NULL || text == NULL) {
    return NULL;
  }
  size_t size = strlen(text) + 1;
  char* copy = noli_alloc(context, (int64_t)size, 1);
  if (copy != NULL) {
    memcpy(copy, text, size);
  }
  return copy;
}

NoliStatus noli_grow(NoliContext* context, void** data, int64_t* capacity, int64_t need,
                     size_t size) {
  NOLI_REQUIRE(context, context != NULL && data != NULL && capacity != NULL);
  if (need <= *capacity && *data != NULL) {
    return NOLI_OK;
  }
  int64_t wanted = need;
  if (*capacity < INT64_MAX / 2 && wanted < *capacity + *capacity / 2) {
    wanted = *capacity + *capacity / 2;
  }
  if (wanted < 16) {
    wanted = 16;
  }
  void* grown = noli_alloc(context, wanted, size);
  if (grown == NULL) {
    return NOLI_ERROR_MEMORY;
  }
  if (*data != NULL) {
    memcpy(grown, *data, (size_t)*capacity * size);
    noli_free(context, *data);
  }
  *data = grown;
  *capacity = wanted;
  return NOLI_OK;
}

bool noli_disk_allows(NoliContext* context, const char* request, const char* path) {
  int error = context->disk_fault != NULL
                  ? context->disk_fault(context->disk_fault_user, request, path)
                  : 0;
  if (error != 0) {
    errno = error;
  }
  return error == 0;
}

NoliStatus noli_fail(NoliContext* context, NoliStatus status, const char* format, ...) {
  if (context == NULL || format == NULL) {
    return status;
  }
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(context->message, sizeof context->message, format, arguments);
  va_end(arguments);
  noli_make_printable(context->message);
  return status;
}

NoliStatus noli_fail_at(NoliContext* context, const char* where, NoliStatus status) {
  if (status == NOLI_OK || status == NOLI_ERROR_MEMORY || where == NULL ||
      strncmp(context->message, where, strlen(where)) == 0) {
    return status;
  }
  char message[sizeof context->message];
  memcpy(message, context->message, sizeof message);
  return noli_fail(context, status, "%s: %s", where, message);
}

NoliStatus noli_refuse_null(NoliContext* context, const char* function, const char* condition) {
  if (context != NULL && function != NULL && condition != NULL) {
    // callers know an inline function that adds the size of a struct
    const char* suffix = strstr(function, "_sized");
    int length = (int)(suffix != NULL ? (size_t)(suffix - function) : strlen(function));
    noli_fail(context, NOLI_ERROR_ARGUMENT, "%.*s: needs %s", length, function, condition);
  }
  return NOLI_ERROR_ARGUMENT;
}

void noli_log(NoliContext* context, NoliLogLevel level, const char* format, ...) {
  if (context == NULL || format == NULL || context->def.log == NULL ||
      level < context->def.log_level) {
    return;
  }
  char message[2048];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  noli_make_printable(message);
  context->n_logging++;
  context->def.log(context->def.log_user, level, message);
  context->n_logging--;
}
