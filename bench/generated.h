// Scenes generated from a few numbers, without data: their paths are recipes such as
// "generated: pile 4 2 2 4".
#pragma once

#include <stdbool.h>
#include <stdio.h>

bool generated_is(const char* path);
// JSON of the scene, released with free; NULL, with the reason on stderr, if there is no such
// recipe, or out of memory.
char* generated_text(const char* path);
// Lists the recipes.
void generated_help(FILE* file);
