// Scenes of thin bodies for generated.c: cloth of [Zheng2025] fig. 22 and 23 with its table 2, and
// scenes that programs for cloth are compared by. Each writes the JSON of a scene.
#pragma once

#include <stdio.h>

void generated_layers(FILE* file, const int number[]);       // LAYERS CELLS
void generated_stiff_layers(FILE* file, const int number[]); // LAYERS CELLS
void generated_twist(FILE* file, const int number[]);        // CELLS SECONDS
void generated_tube(FILE* file, const int number[]);         // ALONG AROUND
void generated_funnel(FILE* file, const int number[]);       // CELLS
void generated_shuffle(FILE* file, const int number[]);      // CARDS
void generated_noodles(FILE* file, const int number[]);      // ROWS SEGMENTS
void generated_knot(FILE* file, const int number[]);         // ACROSS
void generated_dress(FILE* file, const int number[]);        // AROUND
void generated_tyre(FILE* file, const int number[]);         // ACROSS AROUND
