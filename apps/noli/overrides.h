// Values of a scene that the command line replaces.
#pragma once

#include "console.h"
#include "options.h"

// A row of a command's table of options.
#define OVERRIDES_OPTION                                                                           \
  {                                                                                                \
    "set", 0, OPTION_LIST, "PATH=VALUE",                                                           \
        "replace a value of the scene, such as "                                                   \
        "time.step=0.005; may be repeated",                                                        \
        0, 0                                                                                       \
  }

typedef struct Overrides {
  NoliSceneOverride* list; // (n)
  int32_t n;
  char* text; // of all paths and values
} Overrides;

// Splits every PATH=VALUE of the option. Returns EXIT_DONE, or the exit status when a message has
// been printed; free in any case.
int overrides_read(Console* console, const OptionValue* set, Overrides* overrides);
void overrides_free(Overrides* overrides);
