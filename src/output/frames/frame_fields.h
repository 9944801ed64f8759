// Fields of frames that a scene asks for with `output.fields`. A field is a line of the table in
// frame_fields.c.
#pragma once

#include "noli/live.h"
#include "noli/sim.h"

// Results from which several fields are made, computed once for each frame.
typedef struct NoliFieldResults {
  NoliStress* element; // (n_tet); NULL: not yet
  NoliStress* vertex;  // (n_vert); NULL: not yet
  double* pressure;    // (n_vert); NULL: not yet
  double* gap;         // (n_vert)
  double* slid;        // (n_vert); NULL: not yet
  int32_t* sticking;   // (n_vert)
  double* vector;      // (n_vert x 3) scratch
} NoliFieldResults;

typedef struct NoliFrameField {
  const char* name;
  const char* description; // unit first
  bool of_cells;           // of elements, otherwise of vertices
  int32_t n_components;
  // Writes (n_tet or n_vert x n_components).
  NoliStatus (*fill)(NoliSim* sim, NoliFieldResults* results, float* values);
} NoliFrameField;

// The `index`-th field, NULL past the last. The field of this name, or NULL.
const NoliFrameField* noli_frame_field_at(int32_t index);
const NoliFrameField* noli_frame_field_find(const char* name);

void noli_field_results_free(NoliContext* context, NoliFieldResults* results);
