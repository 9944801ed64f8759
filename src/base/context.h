// Context internals: allocation, failure messages, logging.
//
// Every fallible function has one exit: it declares `NoliStatus status = NOLI_OK;`, uses NOLI_TRY
// and NOLI_CHECK, and releases what it holds behind the label `done:`.
#pragma once

#include "noli/base.h"

// Tests make the disk fail: called before every request to change it ("create", "write", "sync",
// "rename", ..) with the path; a number that is not 0 is the errno with which the request fails.
typedef int NoliDiskFaultFn(void* user, const char* request, const char* path);

struct NoliContext {
  NoliContextDef def;
  int64_t bytes;
  int64_t peak_bytes;
  int64_t n_allocations; // since creation; tests assert that it stands still inside Newton loops
  NoliDiskFaultFn* disk_fault; // NULL as a rule
  void* disk_fault_user;
  char message[2048];
};

// 64-byte aligned memory for `count` items of `size` bytes; zero items give a valid pointer.
// On overflow or exhaustion sets the message and returns NULL: callers return NOLI_ERROR_MEMORY.
void* noli_alloc(NoliContext* context, int64_t count, size_t size);
void* noli_calloc(NoliContext* context, int64_t count, size_t size);
// NULL is allowed.
void noli_free(NoliContext* context, void* memory);

// Whether `bytes` more can be had: asks for them and gives them back. Libraries that end the
// process or go on with less where memory is refused to them are asked for nothing before this.
NOLI_WARN_UNUSED NoliStatus noli_require_memory(NoliContext* context, int64_t bytes);

// A zero-terminated copy owned by the caller; NULL when memory is exhausted.
char* noli_strdup(NoliContext* context, const char* text);

// Grows `*data` so that it holds at least `need` items; keeps the first `*capacity` items.
NOLI_WARN_UNUSED NoliStatus noli_grow(NoliContext* context, void** data, int64_t* capacity,
                                      int64_t need, size_t size);

// Whether a request may go to the disk; sets errno where it may not. Whoever changes files asks.
bool noli_disk_allows(NoliContext* context, const char* request, const char* path);

// Records the message of a failure and returns `status`.
NoliStatus noli_fail(NoliContext* context, NoliStatus status, const char* format, ...)
    NOLI_PRINTF(3, 4);

void noli_log(NoliContext* context, NoliLogLevel level, const char* format, ...) NOLI_PRINTF(3, 4);

#define NOLI_TRY(call)                                                                             \
  do {                                                                                             \
    status = (call);                                                                               \
    if (status != NOLI_OK) {                                                                       \
      goto done;                                                                                   \
    }                                                                                              \
  } while (0)

// Leaves a public function with NOLI_ERROR_ARGUMENT where a pointer that it needs is NULL;
// `context` may be NULL itself. First statement of the function.
#define NOLI_REQUIRE(context, condition)                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      return noli_refuse_null((context), __func__, #condition);                                    \
    }                                                                                              \
  } while (0)

// Records "FUNCTION: needs CONDITION" where there is a context; returns NOLI_ERROR_ARGUMENT.
NoliStatus noli_refuse_null(NoliContext* context, const char* function, const char* condition);

// Always on: checks what a user can get wrong. Needs `context`, `status` and the label `done`.
#define NOLI_CHECK(context, condition, failure, ...)                                               \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      status = noli_fail((context), (failure), __VA_ARGS__);                                       \
      goto done;                                                                                   \
    }                                                                                              \
  } while (0)

// Allocates into `pointer` or leaves through `done`.
#define NOLI_NEW(context, pointer, count)                                                          \
  do {                                                                                             \
    (pointer) = noli_alloc((context), (count), sizeof *(pointer));                                 \
    if ((pointer) == NULL) {                                                                       \
      status = NOLI_ERROR_MEMORY;                                                                  \
      goto done;                                                                                   \
    }                                                                                              \
  } while (0)

// As NOLI_NEW, with every byte zero.
#define NOLI_NEW_ZERO(context, pointer, count)                                                     \
  do {                                                                                             \
    (pointer) = noli_calloc((context), (count), sizeof *(pointer));                                \
    if ((pointer) == NULL) {                                                                       \
      status = NOLI_ERROR_MEMORY;                                                                  \
      goto done;                                                                                   \
    }                                                                                              \
  } while (0)

// Programmer errors: on in builds without NDEBUG.
#ifdef NDEBUG
#define NOLI_ASSERT(condition) ((void)0)
#else
#include <assert.h>
#define NOLI_ASSERT(condition) assert(condition)
#endif
