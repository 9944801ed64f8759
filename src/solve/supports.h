// The supports that hold or push bodies from outside: each set of held nodes, each obstacle and
// half-space in contact. The balance of a body tells nothing of a support that carries much less
// than the others.
#pragma once

#include "solve/stage.h"

typedef struct NoliSupport {
  int32_t body;
  int32_t by;     // an obstacle or half-space; -1 - i: set i of held nodes
  NoliVec3 force; // N, on the body
  double change; // N, of the force since the supports were found before; INFINITY: it was not there
} NoliSupport;

typedef NOLI_ARRAY(NoliSupport) NoliSupportList;

typedef struct NoliSupports {
  NoliSupportList now;
  NoliSupportList before;
  NoliPairForces pairs; // scratch
} NoliSupports;

void noli_supports_free(NoliContext* context, NoliSupports* supports);

// Forgets what was found.
void noli_supports_clear(NoliSupports* supports);

// Finds the supports at stage->here->x, in `now`. Overwrites stage->search.trial_gradient.
NOLI_WARN_UNUSED NoliStatus noli_supports_find(NoliStage* stage, NoliSupports* supports);
