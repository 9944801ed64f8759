#define _POSIX_C_SOURCE 200809L

#include "console.h"

#include <fcntl.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif
#include <signal.h>
#include <stdarg.h>
#include <string.h>

void console_begin(void) {
  // a file that must not grow is a failed write and does not end the program
  signal(SIGXFSZ, SIG_IGN);
  // where the caller closed a standard stream, a result file would get its number, and messages
  for (int descriptor = 0; descriptor <= 2; descriptor++) {
    if (fcntl(descriptor, F_GETFD) < 0 && open("/dev/null", O_RDWR) != descriptor) {
      // without the null device nothing can be done
      return;
    }
  }
}

// The ranks of this process; NULL: it is alone.
static NoliRanks* ranks;

// How long a rank that fails alone inside of PETSc waits for others, s.
#define PATIENCE 10.0

// The other ranks can neither be reached nor go on: they end as they do when a rank is killed.
static void end_all(void* user, NoliStatus status, const char* message) {
  (void)user;
  fprintf(stderr, "noli: error: rank %d: %s\n", (int)noli_ranks_rank(ranks), message);
  fprintf(stderr,
          "noli: error: the other ranks wait inside of PETSc: all end; steps after the last "
          "checkpoint are lost, `noli resume` goes on from it\n");
  noli_ranks_abort(ranks, console_exit_status(status));
}

// Libraries beneath MPI tell the allocator of the process never to give memory back (mallopt with
// M_MMAP_MAX 0 and M_TRIM_THRESHOLD -1), so that what is freed after set-up or a frame counts to
// the end. Large arrays come and go as mappings again; smaller ones stay as fast as they are.
static void let_memory_go(void) {
#if defined(__GLIBC__)
  enum { MAPPINGS = 65536, LARGE = 1 << 20 };
  (void)mallopt(M_MMAP_MAX, MAPPINGS);
  (void)mallopt(M_MMAP_THRESHOLD, LARGE);
  (void)mallopt(M_TRIM_THRESHOLD, LARGE);
#endif
}

bool console_start_ranks(bool on_several) {
  NoliStatus status = noli_ranks_start(&ranks);
  if (ranks != NULL) {
    let_memory_go();
  }
  noli_ranks_on_loss(ranks, PATIENCE, end_all, NULL);
  bool first = noli_ranks_rank(ranks) == 0;
  if (status != NOLI_OK) {
    fprintf(stderr, "noli: error: MPI cannot start\n");
    return false;
  }
  if (!on_several && noli_ranks_size(ranks) > 1) {
    if (first) {
      fprintf(stderr,
              "noli: error: this command runs on one rank; `noli run`, `noli resume` and `noli "
              "design` run on several\n");
    }
    noli_ranks_end(&ranks);
    return false;
  }
  return true;
}

void console_end_ranks(void) {
  noli_ranks_end(&ranks);
}

NoliRanks* console_ranks(void) {
  return ranks;
}

bool console_is_first(void) {
  return noli_ranks_rank(ranks) == 0;
}

static void log_to_console(void* user, NoliLogLevel level, const char* message) {
  console_say(user, level, "%s", message);
}

int console_out_of_memory(Console* console) {
  if (noli_ranks_size(ranks) > 1) {
    fprintf(stderr, "noli: error: rank %d: out of memory\n", (int)noli_ranks_rank(ranks));
    noli_ranks_abort(ranks, EXIT_SYSTEM);
  }
  console_say(console, NOLI_LOG_ERROR, "out of memory");
  return EXIT_SYSTEM;
}

NoliContext* console_context(Console* console, int32_t n_threads) {
  NoliContextDef def = noli_default_context_def();
  def.log = log_to_console;
  def.log_user = console;
  def.n_threads = n_threads;
  def.ranks = ranks;
  console->quiet = console->quiet || !console_is_first();
  NoliContext* context = NULL;
  if (noli_context_create(&def, &context) != NOLI_OK) {
    console_out_of_memory(console);
  }
  return context;
}

void console_clear_line(Console* console) {
  if (console->line_is_open) {
    fputs("\r\033[K", stderr);
    console->line_is_open = false;
  }
}

static void keep_early(Console* console, NoliLogLevel level, const char* message) {
  size_t size = strlen(message) + 2;
  if (size <= CONSOLE_EARLY - console->n_early) {
    console->early[console->n_early] = (char)level;
    memcpy(console->early + console->n_early + 1, message, size - 1);
    console->n_early += size;
  }
}

void console_log_to(Console* console, NoliRun* run) {
  console->run = run;
  for (size_t i = 0; run != NULL && i < console->n_early;) {
    const char* message = console->early + i + 1;
    noli_run_log(run, (NoliLogLevel)console->early[i], message);
    i += strlen(message) + 2;
  }
  console->n_early = 0;
}

void print(const char* format, ...) {
  char text[8192];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  noli_make_printable(text);
  fputs(text, stdout);
}

void console_say(Console* console, NoliLogLevel level, const char* format, ...) {
  char message[2300];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  noli_make_printable(message);
  if (console->run != NULL) {
    noli_run_log(console->run, level, message);
  } else {
    keep_early(console, level, message);
  }
  console->n_warnings += level == NOLI_LOG_WARNING;
  if (level < NOLI_LOG_WARNING && (console->quiet || level < NOLI_LOG_INFO)) {
    return;
  }
  if (!console_is_first()) {
    return;
  }
  console_clear_line(console);
  const char* prefix = level == NOLI_LOG_ERROR     ? "noli: error: "
                       : level == NOLI_LOG_WARNING ? "noli: warning: "
                                                   : "";
  fprintf(stderr, "%s%s\n", prefix, message);
}

int console_exit_status(NoliStatus status) {
  switch (status) {
  case NOLI_OK:
    return EXIT_DONE;
  case NOLI_ERROR_ARGUMENT:
  case NOLI_ERROR_FORMAT:
  case NOLI_ERROR_INTERSECTION:
  case NOLI_ERROR_TOO_LARGE:
  case NOLI_INVERTED_ELEMENT:
  case NOLI_NOT_FINITE:
    return EXIT_BAD_INPUT;
  case NOLI_ERROR_IO:
  case NOLI_ERROR_MEMORY:
  case NOLI_ERROR_BACKEND:
  case NOLI_ERROR_INTERNAL:
    return EXIT_SYSTEM;
  case NOLI_NOT_CONVERGED:
  case NOLI_NOT_POSITIVE_DEFINITE:
  case NOLI_LINE_SEARCH_FAILED:
  case NOLI_STEP_BLOCKED:
  case NOLI_CANCELLED:
  case NOLI_ERROR_AUDIT:
    return EXIT_SOLVER;
  }
  return EXIT_SYSTEM;
}

int console_fail(Console* console, const NoliContext* context, NoliStatus status) {
  const char* message = noli_context_message(context);
  console_say(console, NOLI_LOG_ERROR, "%s",
              message[0] != '\0' ? message : noli_status_text(status));
  return console_exit_status(status);
}
