// Loaded before a program (LD_PRELOAD): refuses memory to the program and all the libraries that it
// uses.
//
// NOLI_MEMORY_LIMIT=BYTES refuses any request that would raise the memory in use above BYTES.
// NOLI_REFUSE=K refuses only request number K, counted from 1. Requests of objects that
// NOLI_REFUSE_SPARES names (parts of the names, separated by spaces) do not count; where
// NOLI_REFUSE_MEETS names some, only theirs count.
// NOLI_MEMORY_LOG=FILE gets a line: at the first refusal, the caller and the size of the request;
// if there was none, at the end, the number of requests and the peak of the memory in use.
#define _GNU_SOURCE

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The allocator of the C library, under the names reserved for replacements.
extern void* __libc_malloc(size_t size);
extern void* __libc_calloc(size_t count, size_t size);
extern void* __libc_realloc(void* block, size_t size);
extern void* __libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void* block);

static struct {
  bool ready;
  long refused;
  long limit;
  const char* spares;
  const char* meets;
  const char* log;
  atomic_long asked;
  atomic_long used;
  atomic_long most;
  atomic_bool told;
} memory;

static long number(const char* name) {
  const char* text = getenv(name);
  return text != NULL ? atol(text) : 0;
}

__attribute__((constructor)) static void begin(void) {
  memory.refused = number("NOLI_REFUSE");
  memory.limit = number("NOLI_MEMORY_LIMIT");
  memory.spares = getenv("NOLI_REFUSE_SPARES");
  memory.meets = getenv("NOLI_REFUSE_MEETS");
  memory.log = getenv("NOLI_MEMORY_LOG");
  memory.ready = true;
}

static void say(const char* format, long first, const char* word, long second) {
  char line[512];
  int file = memory.log != NULL ? open(memory.log, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
  if (file >= 0) {
    int length = snprintf(line, sizeof line, format, first, word, second);
    if (length <= 0 || write(file, line, (size_t)length) != length) {
      _exit(99);
    }
    close(file);
  }
}

__attribute__((destructor)) static void end(void) {
  if (!memory.told) {
    say("%ld requests, %s%ld bytes at most\n", memory.asked, "", memory.most);
  }
}

// Whether one of the words of a list is part of the name.
static bool has_word(const char* name, const char* list) {
  const char* word = list != NULL ? list : "";
  while (*word != '\0') {
    size_t length = strcspn(word, " ");
    for (const char* at = name; length > 0 && *at != '\0'; at++) {
      if (strncmp(at, word, length) == 0) {
        return true;
      }
    }
    word += length + (word[length] != '\0' ? 1 : 0);
  }
  return false;
}

static bool counts(const char* name) {
  return !has_word(name, memory.spares) && (memory.meets == NULL || has_word(name, memory.meets));
}

static bool refuses(const void* caller, size_t size) {
  Dl_info about = {.dli_fname = NULL};
  if (!memory.ready) {
    return false;
  }
  const char* name = dladdr(caller, &about) != 0 && about.dli_fname != NULL ? about.dli_fname : "?";
  bool refused = memory.limit > 0 && memory.used + (long)size > memory.limit;
  if (memory.refused >= 0 && counts(name)) {
    refused = ++memory.asked == memory.refused || refused;
  }
  if (refused && !atomic_exchange(&memory.told, true)) {
    say("request %ld refused to %s: %ld bytes\n", memory.asked, name, (long)size);
  }
  errno = refused ? ENOMEM : errno;
  return refused;
}

static void* counted(void* block) {
  long size = (long)malloc_usable_size(block);
  long used = atomic_fetch_add(&memory.used, size) + size;
  if (used > memory.most) {
    memory.most = used;
  }
  return block;
}

void* malloc(size_t size) {
  return refuses(__builtin_return_address(0), size) ? NULL : counted(__libc_malloc(size));
}

void* calloc(size_t count, size_t size) {
  return refuses(__builtin_return_address(0), count * size) ? NULL
                                                            : counted(__libc_calloc(count, size));
}

void* realloc(void* block, size_t size) {
  size_t before = malloc_usable_size(block);
  if (size > before && refuses(__builtin_return_address(0), size)) {
    return NULL;
  }
  void* moved = __libc_realloc(block, size);
  if (moved != NULL || size == 0) {
    memory.used -= (long)before;
    counted(moved);
  }
  return moved;
}

void free(void* block) {
  int error = errno;
  memory.used -= (long)malloc_usable_size(block);
  __libc_free(block);
  errno = error;
}

void* memalign(size_t alignment, size_t size) {
  return refuses(__builtin_return_address(0), size) ? NULL
                                                    : counted(__libc_memalign(alignment, size));
}

void* aligned_alloc(size_t alignment, size_t size) {
  return refuses(__builtin_return_address(0), size) ? NULL
                                                    : counted(__libc_memalign(alignment, size));
}

// The function of the C library would be counted as a request of that library.
char* strdup(const char* text) {
  size_t size = strlen(text) + 1;
  char* copy = refuses(__builtin_return_address(0), size) ? NULL : counted(__libc_malloc(size));
  return copy != NULL ? memcpy(copy, text, size) : NULL;
}

int posix_memalign(void** block, size_t alignment, size_t size) {
  void* made =
      refuses(__builtin_return_address(0), size) ? NULL : counted(__libc_memalign(alignment, size));
  if (made != NULL) {
    *block = made;
  }
  return made != NULL ? 0 : ENOMEM;
}
