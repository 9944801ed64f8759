// What the program says, and how it ends.
#pragma once

#include "noli/noli.h"
#include "noli/scene.h"

#include "output/run_writer.h"

#include <stdio.h>

// Exit statuses; scripts rely on them.
enum {
  EXIT_DONE = 0,
  EXIT_USAGE = 1,
  EXIT_BAD_INPUT = 2,
  EXIT_SOLVER = 3,
  EXIT_SYSTEM = 4,
};

// Where messages go: to standard error, and to the log of the run once there is one.
typedef struct Console {
  NoliRun* run;
  bool quiet;
  int32_t n_warnings;
  bool line_is_open; // a progress line stands on the terminal
} Console;

// Once, before any file is opened: keeps standard streams and signals of the system from harm.
void console_begin(void);

// A context whose warnings and errors go to the console; NULL (and a message) without memory.
NoliContext* console_context(Console* console, int32_t n_threads);

// Says something on standard error and in the log. Information is not shown when quiet.
void console_say(Console* console, NoliLogLevel level, const char* format, ...) NOLI_PRINTF(3, 4);

// Takes a progress line off the terminal.
void console_clear_line(Console* console);

// Says what failed (the message of the context, else the text of the status); returns the exit
// status for a failure before the first step.
int console_fail(Console* console, const NoliContext* context, NoliStatus status);

// The exit status for a failure before the first step.
int console_exit_status(NoliStatus status);
