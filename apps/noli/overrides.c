#include "overrides.h"

#include <stdlib.h>
#include <string.h>

int overrides_read(Console* console, const OptionValue* set, Overrides* overrides) {
  size_t size = 1;
  for (int32_t i = 0; i < set->n_list; i++) {
    size += strlen(set->list[i]) + 1;
  }
  overrides->list = calloc((size_t)set->n_list + 1, sizeof *overrides->list);
  overrides->text = malloc(size);
  if (overrides->list == NULL || overrides->text == NULL) {
    return console_out_of_memory(console);
  }
  char* next = overrides->text;

  for (; overrides->n < set->n_list; overrides->n++) {
    const char* word = set->list[overrides->n];
    size_t length = strlen(word) + 1;
    memcpy(next, word, length);
    char* equals = strchr(next, '=');
    if (equals == NULL || equals == next) {
      console_say(console, NOLI_LOG_ERROR, "--set needs PATH=VALUE, got \"%s\"", word);
      return EXIT_USAGE;
    }
    *equals = '\0';
    overrides->list[overrides->n] = (NoliSceneOverride){next, equals + 1};
    next += length;
  }
  return EXIT_DONE;
}

void overrides_free(Overrides* overrides) {
  free(overrides->list);
  free(overrides->text);
  *overrides = (Overrides){0};
}
