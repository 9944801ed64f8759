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

// In place of `static inline` for functions that loops of such functions call: a call that remains
// keeps a loop from becoming one over registers.
#define NOLI_INLINE static inline __attribute__((always_inline))

// Hints before loops; other compilers find out by themselves, or do not. NOLI_INDEPENDENT:
// iterations do not depend on each other. NOLI_UNROLL: few iterations, so that without a loop the
// function can become part of one over registers.
#if defined(__GNUC__) && !defined(__clang__)
#define NOLI_UNROLL _Pragma("GCC unroll 9")
#ifdef _OPENMP
#define NOLI_INDEPENDENT _Pragma("omp simd")
#else
#define NOLI_INDEPENDENT _Pragma("GCC ivdep")
#endif
#else
#define NOLI_UNROLL
#define NOLI_INDEPENDENT
#endif
