// The data of contact by the geometric potential (contact_gcp.c).
#pragma once

#include "contact/friction/implicit_friction.h"
#include "contact/gcp/gcp_implicit_friction.h"
#include "contact/gcp/gcp_stiffness.h"
#include "contact/ipc.h"
#include "contact/stiffness.h"
#include "linalg/force_term.h"
#include "solve/stage.h"

typedef struct NoliGcpStage {
  NoliStiffness stiffness; // bounds of kappa
  double open_ratio;       // kappa of the barrier with open obstacles relative to the potential
  double inner_ratio;      // kappa of the inner barrier relative to the potential
  NoliCandidates closed;   // scratch: of the potential, of the barrier with open obstacles, and of
  NoliCandidates open;     // the inner barrier
  NoliCandidates inside;
} NoliGcpStage;

// At a point: contacts of the potential, of the barrier with open obstacles, and of the inner
// barrier, empty if no body has one; and the data of the terms.
typedef struct NoliGcpMemory {
  NoliGcpSet closed;
  NoliContactSet open;
  NoliContactSet inside;
  NoliGcp potential;
  NoliBarrier barrier;
  NoliBarrier inner;
  NoliGcpFriction closed_friction;
  NoliImplicitFriction open_friction;
  NoliForceTerm open_force;
} NoliGcpMemory;

static inline NoliGcpFriction noli_gcp_closed_friction(const NoliStage* stage,
                                                       const NoliGcpMemory* memory) {
  const NoliProblem* problem = stage->problem;
  return (NoliGcpFriction){.gcp = &memory->potential,
                           .pairs = &problem->contact.pairs,
                           .x_hat = stage->time.x_hat,
                           .eps_v = problem->friction.speed,
                           .h_v = stage->time.h_v,
                           .basis_derivatives = stage->friction.basis_derivatives,
                           .stick = noli_stage_stick(stage)};
}
