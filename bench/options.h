// The command line of noli_bench.
#pragma once

#include "measure.h"

enum { OPTION_ITEMS = 64 };

typedef struct Options {
  MeasureOptions measure;
  NoliSceneOverride override[USER_OVERRIDES];
  const Suite* suite;             // NULL: only files
  const char* part[OPTION_ITEMS]; // of names of scenes
  const char* file[OPTION_ITEMS]; // scenes
  int32_t n_parts, n_files;
  const char* data;
  const char* json;
  const char* compare;
  const char* markdown;
  const char* work;
  bool print;
  bool list;
  bool help;
} Options;

void options_help(void);
// Returns false after a message on stderr if an option is invalid. Texts of overrides are owned by
// argv, which is changed.
bool options_read(int argc, char** argv, Options* options);
