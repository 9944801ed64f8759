// Everything that can collide: the surface of all bodies, half-spaces, and which of them meet.
#pragma once

#include "collide/body_pairs.h"
#include "collide/half_space.h"
#include "collide/surface.h"

// Borrows everything.
typedef struct NoliColliders {
  const NoliSurface* surface;
  const NoliHalfSpace* half_spaces; // (n_half_spaces)
  int32_t n_half_spaces;
  const NoliBodyPairs* pairs; // NULL: all entities meet
  // weights of pairs, contact/convergent.h; NULL: each counts once
  const struct NoliConvergent* convergent;
} NoliColliders;
