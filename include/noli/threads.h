/// @file threads.h
/// Threads of the host: programs with a pool of their own lend it to the library, which then starts
/// no threads. docs/reference/library.md
#pragma once

#include "noli/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// One of the parts that run at the same time.
typedef void NoliPartFn(void* part_user, int32_t index);

/// Calls part(part_user, index) for index 0 to n - 1, each on a different thread and all at the
/// same time, because parts wait for each other; one of them may be the calling thread. Returns
/// when all have returned.
typedef void NoliRunPartsFn(void* user, int32_t n, NoliPartFn* part, void* part_user);

/// Threads of the host. Never changes its size.
typedef struct NoliHostThreads {
  NoliRunPartsFn* run;
  void* user;        ///< passed to `run`
  int32_t n_threads; ///< most parts that `run` accepts, the calling thread included, >= 1
  int32_t reserved;  ///< 0
} NoliHostThreads;

/// From now on, parallel loops of calls that the calling thread makes run on these threads instead
/// of those of OpenMP, whatever the context: as many as it has (`n_threads` of its definition), at
/// most host->n_threads. Results have the same bits. `host` is borrowed until the calling thread
/// lends other threads or, with NULL, none, and in a child that the calling thread forks: the
/// threads of the host are not there. Loops within a part run on its thread alone.
/// Fails with NOLI_ERROR_ARGUMENT, then nothing changes: without `run`, with fewer than one thread,
/// or where the calling thread runs a part.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_lend_threads(const NoliHostThreads* host);

#ifdef __cplusplus
}
#endif
