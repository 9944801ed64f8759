// The smallest ball around points, a size that neither depends on axes nor on how a mesh is
// divided.
#pragma once

#include "math/vec3.h"

typedef struct NoliBall {
  NoliVec3 centre;
  double radius;       // < 0: no points yet
  NoliVec3 support[4]; // (n) points on the ball that determine it
  int32_t n;
} NoliBall;

NoliBall noli_ball_empty(void);

// Grows the ball around points x (n x 3) and those that determine it; false if it held them all.
// To find the smallest ball around several lists, repeat for all of them until none makes it grow.
bool noli_ball_include(NoliBall* ball, int64_t n, const double* x);
