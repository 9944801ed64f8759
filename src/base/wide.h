// NOLI_WIDE before a function with hot loops over contiguous tables compiles it, if the compiler
// supports that, a second time for processors with registers of four doubles; the loader selects
// one. Without fused operations and without reordering the bits are the same.
#pragma once

// for __GLIBC__
#include <stdint.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define NOLI_SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define NOLI_SANITIZED
#endif

// sanitizers are not ready yet when the loader selects
#if defined(__x86_64__) && defined(__linux__) && defined(__GLIBC__) && !defined(NOLI_SANITIZED)
#define NOLI_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define NOLI_WIDE
#endif
