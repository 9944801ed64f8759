// Parses command lines with tables of options. A word that is not in the table is a usage error
// that suggests the nearest known word.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { OPTIONS_MAX = 8, ARGUMENTS_MAX = 2 };

typedef enum OptionKind {
  OPTION_FLAG,
  OPTION_TEXT,
  OPTION_INTEGER,
  OPTION_LIST, // may be given many times
} OptionKind;

typedef struct Option {
  const char* name; // without the leading "--"
  char letter;      // 0: none
  OptionKind kind;
  const char* value; // name of the value in the help
  const char* help;
  int64_t minimum; // of an integer
  int64_t maximum; // of an integer; 0: none
} Option;

typedef struct OptionValue {
  bool given;
  const char* text;
  int64_t integer;
  const char** list; // (n_list), released by options_free
  int32_t n_list;
} OptionValue;

// Arguments of a command; values are in the order of its options.
typedef struct Arguments {
  const char* argument[ARGUMENTS_MAX];
  OptionValue option[OPTIONS_MAX];
} Arguments;

typedef struct Command {
  const char* name;
  const char* usage;   // names of the arguments
  const char* summary; // one line
  const char* details; // for the help of the command
  int32_t n_arguments;
  const Option* options;
  int32_t n_options;
  int (*run)(const Arguments* arguments); // returns the exit status
  bool on_ranks;                          // runs on several ranks of MPI
} Command;

typedef enum OptionsResult {
  OPTIONS_OK,
  OPTIONS_HELP,  // help was asked for
  OPTIONS_WRONG, // `message` describes the error
} OptionsResult;

OptionsResult options_parse(const Command* command, int n_words, char** words, Arguments* arguments,
                            char message[512]);
void options_free(Arguments* arguments);

// Prints the help of a command.
void options_help(const Command* command);
