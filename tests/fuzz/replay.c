// Feeds seeds and damaged copies of them to a harness, always the same copies: for compilers
// without libFuzzer, and for every test run.
//
//   fuzz_KIND COPIES SEED...
//
// After a crash, the input is in the file that the harness wrote.
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROOM = 1 << 16, PATIENCE = 60 };

// xorshift64*
static uint64_t next(uint64_t* state) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return *state * UINT64_C(2685821657736338717);
}

static size_t below(uint64_t* state, size_t n) {
  return n > 0 ? (size_t)(next(state) >> 33) % n : 0;
}

// Numbers at the limits of readers.
static const char* const number[] = {"0",       "-1",         "1",   "2147483647", "2147483648",
                                     "-5",      "4294967296", "nan", "inf",        "1e308",
                                     "1e-320",  "99999999",   "1.5", "0x10",       "1e999",
                                     "4000000", "",           " ",   "\n",         "{}"};

// Replaces `gone` bytes by `n` bytes; returns the new size.
static size_t replace(char* text, size_t size, size_t at, size_t gone, const char* by, size_t n) {
  gone = at + gone > size ? size - at : gone;
  if (size - gone + n > ROOM) {
    return size;
  }
  memmove(text + at + n, text + at + gone, size - at - gone);
  memcpy(text + at, by, n);
  return size - gone + n;
}

static size_t damage(uint64_t* state, char* text, size_t size) {
  size_t at = below(state, size), length = below(state, 12) + 1;

  // one of seven kinds of damage
  switch (below(state, 7)) {
  case 0: { // a bit
    char flipped = (char)(text[at] ^ (1 << below(state, 8)));
    return replace(text, size, at, 1, &flipped, 1);
  }
  case 1: { // a byte
    char any = (char)below(state, 256);
    return replace(text, size, at, 1, &any, 1);
  }
  case 2: // a piece is lost
    return replace(text, size, at, length, "", 0);
  case 3: { // a piece is doubled
    char piece[16];
    length = at + length > size ? size - at : length;
    memcpy(piece, text + at, length);
    return replace(text, size, at, 0, piece, length);
  }
  case 4: // the end is lost
    return at;
  case 5: { // a piece comes from elsewhere
    char piece[16];
    size_t from = below(state, size);
    length = from + length > size ? size - from : length;
    memcpy(piece, text + from, length);
    return replace(text, size, at, length, piece, length);
  }
  default: { // another number
    const char* by = number[below(state, sizeof number / sizeof *number)];
    size_t digits = 0;
    while (at + digits < size && strchr("+-.eE0123456789", text[at + digits]) != NULL &&
           text[at + digits] != '\0') {
      digits++;
    }
    return replace(text, size, at, digits, by, strlen(by));
  }
  }
}

static size_t load(const char* path, char* text) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) {
    fprintf(stderr, "%s cannot be read\n", path);
    exit(1);
  }
  size_t size = fread(text, 1, ROOM, file);
  fclose(file);
  return size;
}

int main(int argc, char** argv) {
  static char seed[ROOM], text[ROOM];
  long copies = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
  LLVMFuzzerInitialize(&argc, &argv);
  for (int i = 2; i < argc; i++) {
    uint64_t state = UINT64_C(88172645463325252) + (uint64_t)i;
    size_t n = load(argv[i], seed);
    LLVMFuzzerTestOneInput((const uint8_t*)seed, n);
    for (long k = 0; k < copies; k++) {
      size_t size = n;
      memcpy(text, seed, n);
      for (size_t times = below(&state, 4) + 1; times > 0 && size > 0; times--) {
        size = damage(&state, text, size);
      }
      // a reader that hangs is ended by the signal
      alarm(PATIENCE);
      LLVMFuzzerTestOneInput((const uint8_t*)text, size);
      alarm(0);
    }
  }
  printf("%d seeds, %ld damaged copies of each\n", argc - 2, copies);
  return 0;
}
