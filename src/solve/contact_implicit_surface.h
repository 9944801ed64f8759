// The data of contact with smooth surfaces (contact_implicit_surface.c).
#pragma once

#include "contact/friction/implicit_friction.h"
#include "contact/implicit_surface/implicit_surface_friction.h"
#include "contact/ipc.h"
#include "linalg/force_term.h"
#include "solve/stage.h"

typedef struct NoliImplicitSurfaceStage {
  NoliImplicitSurfaceSearch* search;
  bool keeps_triangles; // contacts keep the triangles that they had when the potential jumped
  double barrier_kappa; // of the barrier between sheets, at least
  double barrier_ratio; // over that of the penalty, at least
} NoliImplicitSurfaceStage;

// At a point: its contacts and the data of their terms; those of the barrier are empty unless
// sheets meet.
typedef struct NoliImplicitSurfaceMemory {
  NoliImplicitSurfaceContactSet contacts;
  NoliContactSet sheets;
  NoliImplicitSurfacePenalty penalty;
  NoliBarrier barrier;
  NoliImplicitSurfaceFriction friction;
  NoliImplicitFriction sheet_friction;
  NoliForceTerm sheet_force;
} NoliImplicitSurfaceMemory;

static inline NoliImplicitSurfaceFriction
noli_implicit_surface_friction_of(const NoliStage* stage, const NoliImplicitSurfaceMemory* memory) {
  const NoliProblem* problem = stage->problem;
  return (NoliImplicitSurfaceFriction){.penalty = &memory->penalty,
                                       .pairs = &problem->contact.pairs,
                                       .x_hat = stage->time.x_hat,
                                       .eps_v = problem->friction.speed,
                                       .h_v = stage->time.h_v,
                                       .basis_derivatives = stage->friction.basis_derivatives};
}

static inline int64_t noli_implicit_surface_count(const NoliStage* stage) {
  const NoliImplicitSurfaceMemory* here = stage->here->contact;
  return here->contacts.contact.count + here->sheets.contact.count;
}
