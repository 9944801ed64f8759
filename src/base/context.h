// Context internals. What code on a context calls (memory, failures, log) is in noli/extend.h.
#pragma once

#include "noli/extend.h"

// Tests make the disk fail: called before every request to change it ("create", "write", "sync",
// "rename", ..) with the path; a number that is not 0 is the errno with which the request fails.
typedef int NoliDiskFaultFn(void* user, const char* request, const char* path);

struct NoliContext {
  NoliContextDef def;
  int64_t bytes;
  int64_t peak_bytes;
  int64_t n_allocations; // since creation; tests assert that it stands still inside Newton loops
  NoliDiskFaultFn* disk_fault; // NULL outside of tests
  void* disk_fault_user;
  char message[2048];
};

// Whether a request may go to the disk; sets errno where it may not. Whoever changes files asks.
bool noli_disk_allows(NoliContext* context, const char* request, const char* path);

// Programmer errors: on in builds without NDEBUG.
#ifdef NDEBUG
#define NOLI_ASSERT(condition) ((void)0)
#else
#include <assert.h>
#define NOLI_ASSERT(condition) assert(condition)
#endif
