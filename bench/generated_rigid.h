// Scenes of rigid bodies for generated.c. Each writes the JSON of a scene.
#pragma once

#include <stdio.h>

void generated_heap(FILE* file, const int number[]);    // NX NZ NY
void generated_pebbles(FILE* file, const int number[]); // NX NZ NY PIECES
void generated_net(FILE* file, const int number[]);     // SQUARES
void generated_gears(FILE* file, const int number[]);   // WHEELS
void generated_flight(FILE* file, const int number[]);  // PIECES
