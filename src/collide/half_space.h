// Half-spaces as obstacles.
#pragma once

#include "math/vec3.h"

// The side that `normal` points to is free.
typedef struct NoliPlane {
  NoliVec3 origin;
  NoliVec3 normal; // unit length
} NoliPlane;
