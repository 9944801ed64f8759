// Context internals. The functions that code calls on a context (memory, failures, log) are in
// noli/extend.h.
#pragma once

#include "noli/extend.h"

// Simulates disk failures in tests: called before every request that changes the disk ("create",
// "write", "sync", "rename", ..) with the path; a nonzero result is the errno with which the
// request fails.
typedef int NoliDiskFaultFn(void* user, const char* request, const char* path);

struct NoliContext {
  NoliContextDef def;
  int64_t bytes;
  int64_t peak_bytes;
  int64_t n_allocations; // since creation; tests assert that Newton iterations do not change it
  NoliDiskFaultFn* disk_fault; // NULL outside tests
  void* disk_fault_user;
  int32_t n_logging; // calls of the log function that run
  char message[2048];
};

// Whether a request may go to the disk; sets errno if not. To be called before every change of
// files.
bool noli_disk_allows(NoliContext* context, const char* request, const char* path);

// Puts `where` (NULL: nothing) before the message of a failure, unless it begins so. Returns
// `status`.
NoliStatus noli_fail_at(NoliContext* context, const char* where, NoliStatus status);
// Gives a number to a caller who may not want it.
static inline void noli_give_count(int32_t* to, int32_t n) {
  if (to != NULL) {
    *to = n;
  }
}

// Programmer errors; active in builds without NDEBUG.
#ifdef NDEBUG
#define NOLI_ASSERT(condition) ((void)0)
#else
#include <assert.h>
#define NOLI_ASSERT(condition) assert(condition)
#endif
