// Digests of bytes (FNV-1a, 64 bits): they detect accidental changes, not deliberate forgeries.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define NOLI_DIGEST_BEGIN UINT64_C(14695981039346656037)

// Extends a digest by `size` bytes.
static inline uint64_t noli_digest(uint64_t digest, const void* data, size_t size) {
  const unsigned char* bytes = data;
  for (size_t i = 0; i < size; i++) {
    digest = (digest ^ bytes[i]) * UINT64_C(1099511628211);
  }
  return digest;
}
