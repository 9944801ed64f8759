/// @file extend.h
/// For C code that extends Noli (readers of other formats, programs): memory, failure messages and
/// log of a context, as the library itself uses them.
///
/// Every fallible function has one exit: it declares `NoliStatus status = NOLI_OK;`, uses NOLI_TRY
/// and NOLI_CHECK, and releases what it holds behind the label `done:`.
#pragma once

#include "noli/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// 64-byte aligned memory for `count` items of `size` bytes, counted by the context and released
/// with noli_free; zero items give a valid pointer. On overflow or exhaustion records the message
/// and returns NULL: callers return NOLI_ERROR_MEMORY.
NOLI_API void* noli_alloc(NoliContext* context, int64_t count, size_t size);

/// As noli_alloc, with every byte zero.
NOLI_API void* noli_calloc(NoliContext* context, int64_t count, size_t size);

/// A zero-terminated copy of `text`, owned by the caller and released with noli_free; NULL when
/// memory is exhausted.
NOLI_API char* noli_strdup(NoliContext* context, const char* text);

/// Releases memory of the functions above, with the context that gave it. NULL is allowed.
NOLI_API void noli_free(NoliContext* context, void* memory);

/// Grows `*data`, which noli_alloc returned or which is NULL, so that it holds at least `need`
/// items of `size` bytes; keeps the first `*capacity` items and updates the capacity. Fails with
/// NOLI_ERROR_MEMORY; `*data` is then as it was.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_grow(NoliContext* context, void** data, int64_t* capacity,
                                               int64_t need, size_t size);

/// Tests whether `bytes` more can be had: allocates and releases them. Call it before a library
/// that ends the process or drops data where memory is refused to it. Fails with NOLI_ERROR_MEMORY.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_require_memory(NoliContext* context, int64_t bytes);

/// Records the message of a failure (2047 bytes at most), which noli_context_message returns from
/// now on, and returns `status`.
NOLI_API NoliStatus noli_fail(NoliContext* context, NoliStatus status, const char* format, ...)
    NOLI_PRINTF(3, 4);

/// Records "FUNCTION: needs CONDITION", if there is a context, and returns NOLI_ERROR_ARGUMENT: the
/// failure of NOLI_REQUIRE.
NOLI_API NoliStatus noli_refuse_null(NoliContext* context, const char* function,
                                     const char* condition);

/// Sends a message (2047 bytes at most) to the log of the context, unless its level is too low.
NOLI_API void noli_log(NoliContext* context, NoliLogLevel level, const char* format, ...)
    NOLI_PRINTF(3, 4);

/// Replaces what a terminal would obey, control characters other than line breaks and tabs, and
/// bytes that are not UTF-8, by question marks. Messages and logs of Noli have passed it; programs
/// that print names of scenes should pass theirs. NULL is harmless.
NOLI_API void noli_make_printable(char* text);

/// The word of `words` (n_words) nearest to `word`, for messages such as `did you mean "cholmod"?`:
/// the first with the smallest edit distance; one that `word` begins counts as one edit away. NULL
/// when nothing is near or `word` is NULL or empty.
NOLI_API const char* noli_nearest(const char* word, const char* const* words, int32_t n_words);

/// Calls a function and leaves through `done` where its status is not NOLI_OK.
#define NOLI_TRY(call)                                                                             \
  do {                                                                                             \
    status = (call);                                                                               \
    if (status != NOLI_OK) {                                                                       \
      goto done;                                                                                   \
    }                                                                                              \
  } while (0)

/// Leaves a public function with NOLI_ERROR_ARGUMENT where a pointer that it needs is NULL;
/// `context` may be NULL itself. First statement of the function.
#define NOLI_REQUIRE(context, condition)                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      return noli_refuse_null((context), __func__, #condition);                                    \
    }                                                                                              \
  } while (0)

/// Checks what a user can get wrong. Needs `status` and the label `done`.
#define NOLI_CHECK(context, condition, failure, ...)                                               \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      status = noli_fail((context), (failure), __VA_ARGS__);                                       \
      goto done;                                                                                   \
    }                                                                                              \
  } while (0)

/// Allocates `count` items into `pointer` or leaves through `done`.
#define NOLI_NEW(context, pointer, count)                                                          \
  do {                                                                                             \
    (pointer) = noli_alloc((context), (count), sizeof *(pointer));                                 \
    if ((pointer) == NULL) {                                                                       \
      status = NOLI_ERROR_MEMORY;                                                                  \
      goto done;                                                                                   \
    }                                                                                              \
  } while (0)

/// As NOLI_NEW, with every byte zero.
#define NOLI_NEW_ZERO(context, pointer, count)                                                     \
  do {                                                                                             \
    (pointer) = noli_calloc((context), (count), sizeof *(pointer));                                \
    if ((pointer) == NULL) {                                                                       \
      status = NOLI_ERROR_MEMORY;                                                                  \
      goto done;                                                                                   \
    }                                                                                              \
  } while (0)

#ifdef __cplusplus
}
#endif
