#include "options.h"

#include "noli/extend.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGE_SIZE = 512 };

static OptionsResult unknown_option(const Command* command, const char* word, size_t length,
                                    char message[MESSAGE_SIZE]) {
  const char* known[OPTIONS_MAX + 1];
  char name[64] = "";
  for (int32_t i = 0; i < command->n_options; i++) {
    known[i] = command->options[i].name;
  }
  known[command->n_options] = "help";
  if (length < sizeof name) {
    memcpy(name, word, length);
    name[length] = '\0';
  }
  const char* nearest = noli_nearest(name, known, command->n_options + 1);
  if (nearest != NULL) {
    snprintf(message, MESSAGE_SIZE, "unknown option --%.*s; did you mean --%s?", (int)length, word,
             nearest);
  } else {
    snprintf(message, MESSAGE_SIZE, "unknown option --%.*s", (int)length, word);
  }
  return OPTIONS_WRONG;
}

static OptionsResult store_integer(const Option* option, const char* text, OptionValue* value,
                                   char message[MESSAGE_SIZE]) {
  char* end = NULL;
  errno = 0;
  long long number = strtoll(text, &end, 10);
  if (end == text || *end != '\0' || errno != 0 || number < option->minimum) {
    snprintf(message, MESSAGE_SIZE, "--%s needs an integer of at least %lld, got \"%s\"",
             option->name, (long long)option->minimum, text);
    return OPTIONS_WRONG;
  }
  if (option->maximum > 0 && number > option->maximum) {
    snprintf(message, MESSAGE_SIZE, "--%s takes at most %lld, got %lld", option->name,
             (long long)option->maximum, number);
    return OPTIONS_WRONG;
  }
  value->integer = number;
  return OPTIONS_OK;
}

static OptionsResult store(const Option* option, const char* text, int n_words, OptionValue* value,
                           char message[MESSAGE_SIZE]) {
  value->given = true;
  value->text = text;
  if (option->kind == OPTION_INTEGER) {
    return store_integer(option, text, value, message);
  }
  if (option->kind == OPTION_TEXT && text[0] == '\0') {
    snprintf(message, MESSAGE_SIZE, "--%s is empty: it needs %s", option->name, option->value);
    return OPTIONS_WRONG;
  }
  if (option->kind == OPTION_LIST) {
    // there cannot be more items than words
    if (value->list == NULL) {
      value->list = calloc((size_t)n_words, sizeof *value->list);
    }
    if (value->list == NULL) {
      snprintf(message, MESSAGE_SIZE, "out of memory");
      return OPTIONS_WRONG;
    }
    value->list[value->n_list++] = text;
  }
  return OPTIONS_OK;
}

// The option named by a word: "--name", "--name=value", "-n" or "-nvalue". `*text` is the value
// within the word, or NULL.
static const Option* find_option(const Command* command, const char* word, const char** text) {
  *text = NULL;
  for (int32_t i = 0; i < command->n_options; i++) {
    const Option* option = &command->options[i];
    size_t length = strlen(option->name);
    if (word[1] == '-') {
      const char* end = word + 2 + length;
      if (strncmp(word + 2, option->name, length) == 0 && (*end == '\0' || *end == '=')) {
        *text = *end == '=' ? end + 1 : NULL;
        return option;
      }
    } else if (option->letter != 0 && word[1] == option->letter) {
      *text = word[2] != '\0' ? word + 2 : NULL;
      return option;
    }
  }
  return NULL;
}

// Handles the option at words[*i] and moves on to its last word.
static OptionsResult parse_option(const Command* command, int n_words, char** words, int* i,
                                  Arguments* arguments, char message[MESSAGE_SIZE]) {
  const char* word = words[*i];
  const char* text = NULL;
  if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
    return OPTIONS_HELP;
  }
  const Option* option = find_option(command, word, &text);
  if (option == NULL && word[1] != '-') {
    snprintf(message, MESSAGE_SIZE, "unknown option %s", word);
    return OPTIONS_WRONG;
  }
  if (option == NULL) {
    return unknown_option(command, word + 2, strcspn(word + 2, "="), message);
  }
  OptionValue* value = &arguments->option[option - command->options];
  if (option->kind == OPTION_FLAG) {
    value->given = true;
    if (text != NULL) {
      snprintf(message, MESSAGE_SIZE, "--%s takes no value", option->name);
      return OPTIONS_WRONG;
    }
    return OPTIONS_OK;
  }

  if (text == NULL && *i + 1 >= n_words) {
    snprintf(message, MESSAGE_SIZE, "--%s needs a value: %s", option->name, option->value);
    return OPTIONS_WRONG;
  }
  if (text == NULL) {
    text = words[++*i];
  }
  return store(option, text, n_words, value, message);
}

OptionsResult options_parse(const Command* command, int n_words, char** words, Arguments* arguments,
                            char message[MESSAGE_SIZE]) {
  *arguments = (Arguments){{NULL}, {{0}}};
  int32_t n = 0;
  bool only_arguments = false;

  // sort words into options and arguments
  for (int i = 0; i < n_words; i++) {
    // a lone "-" is an argument
    if (!only_arguments && words[i][0] == '-' && words[i][1] != '\0') {
      if (strcmp(words[i], "--") == 0) {
        only_arguments = true;
        continue;
      }
      OptionsResult result = parse_option(command, n_words, words, &i, arguments, message);
      if (result != OPTIONS_OK) {
        return result;
      }
    } else if (words[i][0] == '\0') {
      snprintf(message, MESSAGE_SIZE, "an argument is empty; usage: noli %s %s", command->name,
               command->usage);
      return OPTIONS_WRONG;
    } else if (n < command->n_arguments) {
      arguments->argument[n++] = words[i];
    } else {
      snprintf(message, MESSAGE_SIZE, "unexpected argument \"%s\"", words[i]);
      return OPTIONS_WRONG;
    }
  }

  // all arguments must be there
  if (n < command->n_arguments) {
    snprintf(message, MESSAGE_SIZE, "missing argument; usage: noli %s %s", command->name,
             command->usage);
    return OPTIONS_WRONG;
  }
  return OPTIONS_OK;
}

void options_free(Arguments* arguments) {
  for (int32_t i = 0; i < OPTIONS_MAX; i++) {
    free((void*)arguments->option[i].list);
    arguments->option[i].list = NULL;
  }
}

void options_help(const Command* command) {
  printf("usage: noli %s %s%s\n\n%s\n", command->name, command->usage,
         command->n_options > 0 ? " [options]" : "", command->summary);
  if (command->details[0] != '\0') {
    printf("\n%s\n", command->details);
  }
  printf("\noptions:\n");
  for (int32_t i = 0; i < command->n_options; i++) {
    const Option* option = &command->options[i];
    char left[64];
    snprintf(left, sizeof left, "%c%c%s --%s%s%s", option->letter != 0 ? '-' : ' ',
             option->letter != 0 ? option->letter : ' ', option->letter != 0 ? "," : " ",
             option->name, option->kind != OPTION_FLAG ? " " : "",
             option->kind != OPTION_FLAG ? option->value : "");
    printf("  %-26s %s\n", left, option->help);
  }
  printf("  %-26s %s\n", "-h, --help", "this text");
}
