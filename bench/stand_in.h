// Replacements for simple meshes missing from the public data: the flat mats of two
// layers of vertices used by the mat-twist scenes, mat150x150t40.msh and mat225x225t40.msh.
#pragma once

#include <stdbool.h>

enum { FOLDER_SIZE = 256 };

typedef struct StandIn {
  char folder[FOLDER_SIZE];      // temporary; "" if there is none
  char scene[FOLDER_SIZE + 128]; // the copy of the scene in it
  char mesh[FOLDER_SIZE + 128];  // what was made
  char note[160];                // says so
} StandIn;

// If `message`, the reason why a scene cannot be read, names a mesh that can be generated: copies
// the scene into a temporary directory with the mesh. Returns false if not, or if it fails.
bool stand_in_make(const char* scene, const char* message, StandIn* made);
// Removes the directory.
void stand_in_remove(StandIn* made);
