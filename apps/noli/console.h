// What the program says, and how it ends.
#pragma once

#include "noli/noli.h"

#include <stdio.h>

// Exit statuses; scripts rely on them.
enum {
  EXIT_DONE = 0,
  EXIT_USAGE = 1,
  EXIT_BAD_INPUT = 2,
  EXIT_SOLVER = 3,
  EXIT_SYSTEM = 4,
};

// What was said before there was a log, in this many bytes at most.
enum { CONSOLE_EARLY = 16384 };

// Where messages go: to standard error, and to the log of the run, with those from before there was
// one.
typedef struct Console {
  NoliRun* run;
  char early[CONSOLE_EARLY]; // one after the other: a byte for the level, the text, a zero
  size_t n_early;            // bytes
  bool quiet;
  bool line_is_open; // a progress line stands on the terminal
  int64_t n_warnings;
} Console;

// Once, before any file is opened: keeps standard streams and signals of the system from harm.
void console_begin(void);

// A context whose warnings and errors go to the console; NULL (and a message) without memory.
NoliContext* console_context(Console* console, int32_t n_threads);

// Says something on standard error and in the log. Information is not shown when quiet.
void console_say(Console* console, NoliLogLevel level, const char* format, ...) NOLI_PRINTF(3, 4);

// Lets a run have all messages, also those from before; NULL: no longer.
void console_log_to(Console* console, NoliRun* run);

// Takes a progress line off the terminal.
void console_clear_line(Console* console);

// Says what failed (the message of the context, else the text of the status); returns the exit
// status for a failure before the first step.
int console_fail(Console* console, const NoliContext* context, NoliStatus status);

// The exit status for a failure before the first step.
int console_exit_status(NoliStatus status);
