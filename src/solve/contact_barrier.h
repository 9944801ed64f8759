// The data of contact by the barrier (contact_barrier.c).
#pragma once

#include "contact/friction/implicit_friction.h"
#include "contact/ipc.h"
#include "linalg/force_term.h"

// At a point: its contacts and the data of the terms.
typedef struct NoliBarrierMemory {
  NoliContactSet contacts;
  NoliBarrier barrier;
  NoliImplicitFriction friction;
  NoliForceTerm force[2];
} NoliBarrierMemory;
