// Messages and exit statuses of the program.
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

// Size of the buffer for messages before a log exists, bytes.
enum { CONSOLE_EARLY = 16384 };

// Destination of messages: standard error and the log of the run, including earlier messages.
typedef struct Console {
  NoliRun* run;
  char early[CONSOLE_EARLY]; // one after the other: a byte for the level, the text, a zero
  size_t n_early;            // bytes
  bool quiet;
  bool line_is_open; // the terminal shows a progress line
  int64_t n_warnings;
} Console;

// Starts the ranks of a command that runs on several; of others it refuses to. False, and a
// message, if that fails.
bool console_start_ranks(bool on_several);
void console_end_ranks(void);
// For contexts; NULL: the process is alone.
NoliRanks* console_ranks(void);
// Whether this is the rank that talks and writes.
bool console_is_first(void);

// Call once, before any file is opened: protects standard streams and signals.
void console_begin(void);

// Says that there is no memory, where there is no context to say so; ends all ranks, which one
// alone cannot tell. Returns the exit status.
int console_out_of_memory(Console* console);

// A context whose warnings and errors go to the console; NULL (and a message) without memory.
NoliContext* console_context(Console* console, int32_t n_threads);

// Writes a message to standard error and to the log. Information is hidden when quiet.
void console_say(Console* console, NoliLogLevel level, const char* format, ...) NOLI_PRINTF(3, 4);

// Writes a result to standard output.
void print(const char* format, ...) NOLI_PRINTF(1, 2);

// Sends all messages to a run, including earlier ones; NULL: stops.
void console_log_to(Console* console, NoliRun* run);

// Clears the progress line.
void console_clear_line(Console* console);

// Prints the error (the message of the context, or the text of the status); returns the exit
// status for a failure before the first step.
int console_fail(Console* console, const NoliContext* context, NoliStatus status);

// The exit status for a failure before the first step.
int console_exit_status(NoliStatus status);
