/// @file base.h
/// Status values, contexts, memory and logging: the basis of all other headers.
///
/// NULL pointers: functions that return a status return NOLI_ERROR_ARGUMENT and change nothing
/// where a context, an object (simulation, scene, mesh, potential), an array or the address of a
/// result is NULL and their comment does not allow it; other functions return 0, NULL, false or ""
/// for a NULL object, write nothing where there is no place for a result, and functions that
/// destroy or free do nothing. The distance of a point that is NULL is NaN, and collision detection
/// reports a hit of it at the start.
#pragma once

#include "noli/version.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__) || defined(__clang__)
#define NOLI_API __attribute__((visibility("default")))
#define NOLI_WARN_UNUSED __attribute__((warn_unused_result))
#define NOLI_PRINTF(format_index, first_index)                                                     \
  __attribute__((format(printf, format_index, first_index)))
#else
#define NOLI_API
#define NOLI_WARN_UNUSED
#define NOLI_PRINTF(format_index, first_index)
#endif

/// An index that refers to nothing.
#define NOLI_NULL_INDEX (-1)

/// Every status with its text: `X(name, value, text)`.
/// Zero is success. Positive: recoverable, the caller's data is unchanged and the call may be
/// repeated with other parameters. Negative: an error.
#define NOLI_STATUS_LIST(X)                                                                        \
  X(NOLI_OK, 0, "success")                                                                         \
  X(NOLI_NOT_CONVERGED, 1, "the iteration did not converge")                                       \
  X(NOLI_NOT_POSITIVE_DEFINITE, 2, "the matrix is not positive definite")                          \
  X(NOLI_LINE_SEARCH_FAILED, 3, "the line search found no decrease")                               \
  X(NOLI_STEP_BLOCKED, 4, "no positive step keeps the surfaces apart")                             \
  X(NOLI_INVERTED_ELEMENT, 5, "an element is inverted")                                            \
  X(NOLI_NOT_FINITE, 6, "a value is not finite")                                                   \
  X(NOLI_CANCELLED, 7, "cancelled by the caller")                                                  \
  X(NOLI_ERROR_ARGUMENT, -1, "invalid argument")                                                   \
  X(NOLI_ERROR_MEMORY, -2, "out of memory")                                                        \
  X(NOLI_ERROR_IO, -3, "a file could not be read or written")                                      \
  X(NOLI_ERROR_FORMAT, -4, "the content of a file is not valid")                                   \
  X(NOLI_ERROR_BACKEND, -5, "an external library failed")                                          \
  X(NOLI_ERROR_INTERSECTION, -6, "the surfaces intersect or touch")                                \
  X(NOLI_ERROR_TOO_LARGE, -7, "the problem exceeds an index range")                                \
  X(NOLI_ERROR_INTERNAL, -8, "internal error")                                                     \
  X(NOLI_ERROR_AUDIT, -9, "the audit found a defect")

typedef enum NoliStatus {
#define NOLI_STATUS_ENUM(name, value, text) name = (value),
  NOLI_STATUS_LIST(NOLI_STATUS_ENUM)
#undef NOLI_STATUS_ENUM
} NoliStatus;

/// The fixed text of a status. Never NULL.
NOLI_API const char* noli_status_text(NoliStatus status);

/// The version of the library at run time, "MAJOR.MINOR.PATCH". It may be newer than NOLI_VERSION,
/// the version of the headers that the program was compiled with.
NOLI_API const char* noli_version(void);
/// The version of the library at run time as a number, to be compared with NOLI_VERSION_NUMBER or
/// NOLI_MAKE_VERSION.
NOLI_API int32_t noli_version_number(void);

/// Levels of log messages, in increasing order.
typedef enum NoliLogLevel {
  NOLI_LOG_DEBUG,
  NOLI_LOG_INFO,
  NOLI_LOG_WARNING,
  NOLI_LOG_ERROR,
} NoliLogLevel;

/// Receives one complete message without a trailing newline. Called from the thread that called
/// into Noli, never from a worker thread, in the middle of its call: a log function may not change,
/// step or destroy what belongs to the context.
typedef void NoliLogFn(void* user, NoliLogLevel level, const char* message);

/// Allocates `size` bytes, any alignment that malloc gives. Returns NULL when memory is exhausted.
typedef void* NoliAllocateFn(void* user, size_t size);

/// Releases memory of the allocate function. `size` is the size that was requested.
typedef void NoliReleaseFn(void* user, void* memory, size_t size);

/// Processes that simulate together (noli/ranks.h).
typedef struct NoliRanks NoliRanks;

/// Memory, log and threads of a context.
typedef struct NoliContextDef {
  uint32_t size;            ///< set by noli_default_context_def
  NoliAllocateFn* allocate; ///< default: malloc
  NoliReleaseFn* release;   ///< default: free
  void* allocator_user;     ///< passed to both
  NoliLogFn* log;           ///< default NULL: messages are dropped
  void* log_user;           ///< passed to `log`
  NoliLogLevel log_level;   ///< messages below this level are dropped; default NOLI_LOG_INFO
  int32_t n_threads;        ///< 0 (default): as many as the machine has cores; with
                            ///< several ranks one
  NoliRanks* ranks; ///< of noli_ranks_start, which must outlive the context; default NULL: alone
} NoliContextDef;

/// Writes the defaults of a definition of `size` bytes; called by noli_default_context_def.
NOLI_API void noli_context_def_init(NoliContextDef* def, size_t size);

/// The defaults named above. No other way makes a valid definition.
static inline NoliContextDef noli_default_context_def(void) {
  NoliContextDef def;
  noli_context_def_init(&def, sizeof def);
  return def;
}

/// Owns memory accounting, the last error message and the log of everything made with it.
/// A context serves one thread at a time; different contexts are independent: any number of threads
/// may use the library at once, each with its own context, with the same bits as a single thread.
typedef struct NoliContext NoliContext;

/// Creates a context. `def` may be NULL for the defaults.
/// Fails with NOLI_ERROR_ARGUMENT for a definition that noli_default_context_def did not make,
/// NOLI_ERROR_MEMORY.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_context_create(const NoliContextDef* def,
                                                         NoliContext** context);

/// Destroys the context and sets the pointer to NULL. Everything made with it must have been
/// destroyed before. Returns the number of bytes still allocated, which is 0 unless there is a
/// leak.
NOLI_API int64_t noli_context_destroy(NoliContext** context);

/// The message of the last failure, located where possible; "" if there was none.
/// Valid until the next failing call with this context.
NOLI_API const char* noli_context_message(const NoliContext* context);

/// Threads used by parallel loops.
NOLI_API int32_t noli_context_threads(const NoliContext* context);

/// Number of bytes that are allocated.
NOLI_API int64_t noli_context_bytes(const NoliContext* context);
/// Maximum of noli_context_bytes since the context was created.
NOLI_API int64_t noli_context_peak_bytes(const NoliContext* context);

#ifdef __cplusplus
}
#endif
