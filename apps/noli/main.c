// noli: simulates and checks scenes, and describes files.
#define _POSIX_C_SOURCE 200809L
#include "commands.h"
#include "console.h"

#include "noli/extend.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const Command* const commands[] = {
    &command_run,     &command_check,  &command_resume,  &command_info,
    &command_convert, &command_audit,  &command_modes,
#ifndef NOLI_NO_DERIVATIVES
    &command_design,
#endif
    &command_view,    &command_report, &command_picture, &command_mesh,
};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static void print_usage(FILE* file) {
  fprintf(file, "usage: noli COMMAND ...\n\ncommands:\n");
  for (int32_t i = 0; i < N_COMMANDS; i++) {
    char left[64];
    snprintf(left, sizeof left, "%s %s", commands[i]->name, commands[i]->usage);
    fprintf(file, "  %-20s %s\n", left, commands[i]->summary);
  }
  fprintf(file, "\noptions:\n"
                "  -h, --help           this text; `noli COMMAND --help` describes a command\n"
                "  --version            the version\n\n"
                "exit status: 0 success, 1 wrong usage, 2 bad input, 3 the solver failed or the\n"
                "audit found a defect, 4 file or system error, 128 + N terminated by signal N\n");
}

static const Command* find_command(const char* name) {
  for (int32_t i = 0; i < N_COMMANDS; i++) {
    if (strcmp(commands[i]->name, name) == 0) {
      return commands[i];
    }
  }
  return NULL;
}

static int unknown_command(const char* word) {
  const char* names[N_COMMANDS];
  for (int32_t i = 0; i < N_COMMANDS; i++) {
    names[i] = commands[i]->name;
  }
  const char* nearest = noli_nearest(word, names, N_COMMANDS);
  fprintf(stderr, "noli: unknown command \"%s\"", word);
  if (nearest != NULL) {
    fprintf(stderr, "; did you mean \"%s\"?", nearest);
  }
  fprintf(stderr, "\ncommands:");
  for (int32_t i = 0; i < N_COMMANDS; i++) {
    fprintf(stderr, " %s", names[i]);
  }
  fprintf(stderr, "\n");
  return EXIT_USAGE;
}

static int run_command(const Command* command, int n_words, char** words) {
  Arguments arguments;
  char message[512];
  int exit_status = EXIT_USAGE;
  console_begin();
  switch (options_parse(command, n_words, words, &arguments, message)) {
  case OPTIONS_OK:
    if (console_start_ranks(command->on_ranks)) {
      exit_status = command->run(&arguments);
      console_end_ranks();
    }
    break;
  case OPTIONS_HELP:
    options_help(command);
    exit_status = EXIT_DONE;
    break;
  case OPTIONS_WRONG:
    fprintf(stderr, "noli %s: %s\nfor help: noli %s --help\n", command->name, message,
            command->name);
    break;
  }
  options_free(&arguments);
  return exit_status;
}

// Output that cannot be written is a failure.
static int flush_output(int exit_status) {
  if ((fflush(stdout) != 0 || ferror(stdout) != 0) && exit_status == EXIT_DONE) {
    fprintf(stderr, "noli: error: standard output cannot be written\n");
    return EXIT_SYSTEM;
  }
  return exit_status;
}

// OpenMP threads that wait by spinning take processor time from the threads they wait for as soon
// as other programs run: this made a complete simulation three times slower. BLAS threads do the
// same, and only UMFPACK uses them. Both read the environment before main, so the program restarts
// itself with sleeping threads and a serial BLAS, unless the user has set these variables. If that
// fails, it runs unchanged.
static void let_waiting_threads_sleep(char** words) {
  if (getenv("OMP_WAIT_POLICY") == NULL && setenv("OMP_WAIT_POLICY", "passive", 1) == 0 &&
      setenv("OPENBLAS_NUM_THREADS", "1", 0) == 0) {
    execv("/proc/self/exe", words);
  }
}

int main(int n_words, char** words) {
  let_waiting_threads_sleep(words);
  if (n_words < 2) {
    print_usage(stderr);
    return EXIT_USAGE;
  }
  const char* word = words[1];
  if (strcmp(word, "--version") == 0) {
    printf("noli %s\n", noli_version());
    return flush_output(EXIT_DONE);
  }

  // accepts "help COMMAND" too
  bool help = strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0;
  if (help && n_words == 2) {
    print_usage(stdout);
    return flush_output(EXIT_DONE);
  }
  const Command* command = find_command(help ? words[2] : word);
  if (command == NULL) {
    return unknown_command(help ? words[2] : word);
  }
  if (help) {
    options_help(command);
    return flush_output(EXIT_DONE);
  }
  return flush_output(run_command(command, n_words - 2, words + 2));
}
