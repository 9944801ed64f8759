// Whether this machine stores the low byte of a number first.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline bool noli_is_little_endian(void) {
  const uint16_t one = 1;
  unsigned char first;
  memcpy(&first, &one, 1);
  return first == 1;
}
