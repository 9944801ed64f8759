// The terms of a stage: objects with a type each. A type says what the term is for (its role), and
// lists its stencils at a point as the assembler reads them (linalg/energy_term.h). Nothing else in
// the solver knows which terms there are: what it wants of them it asks for by role.
#pragma once

#include "linalg/energy_term.h"
#include "solve/point.h"

typedef struct NoliStage NoliStage; // solve/stage.h

// Flags, to ask for several at once. Terms stand in this order.
typedef enum NoliTermRole {
  NOLI_ROLE_INERTIA = 1 << 0,
  NOLI_ROLE_ELASTIC = 1 << 1,
  NOLI_ROLE_DAMPING = 1 << 2, // in proportion to stiffness
  NOLI_ROLE_VOLUME = 1 << 3,
  NOLI_ROLE_DRAG = 1 << 4, // damping in proportion to mass
  NOLI_ROLE_LOAD = 1 << 5,
  NOLI_ROLE_SPRINGS = 1 << 6, // of prescribed nodes that contact has stopped
  NOLI_ROLE_FRICTION = 1 << 7,
  NOLI_ROLE_CONTACT = 1 << 8,
  NOLI_ROLE_IMPLICIT_FRICTION = 1 << 9, // a force without energy
  NOLI_ROLE_ALL = (1 << 10) - 1
} NoliTermRole;

typedef struct NoliTermType {
  const char* name;
  NoliTermRole role;
  bool on_vertices; // stencils may name vertices that follow nodes
  size_t size;      // of what a term owns

  // How many terms of this type a problem has. NULL: one.
  int32_t (*count)(const NoliProblem* problem);

  // What it owns is zero before; `index` counts the terms of this type. `destroy` cleans up where
  // it failed, too. NULL: nothing to do.
  NoliStatus (*create)(NoliStage* stage, void* self, int32_t index);
  void (*destroy)(NoliContext* context, void* self);

  // The stencils at a point, and what they read there; to be called after anything has changed
  // that it reads. NULL: the contact model lists it (solve/contact_model.h).
  NoliEnergyTerm (*list)(const NoliStage* stage, void* self, const NoliPoint* at);

  // What rounding of the energy is relative to, where that is more than the energy. NULL: it is
  // not.
  double (*magnitude)(const void* self);

  // The parts of rank one, s g g^T, that the stencils of its Hessian lack: how many; s of one of
  // them, with g added to `vector` (n_vert x 3), where the energy was evaluated last. NULL: none.
  int32_t (*rank)(const void* self);
  double (*add_rank_one)(const void* self, int32_t index, const double* x, double* vector);

  // Damping: the energy that it takes from a step of length h between x0 and x1, times h. NULL
  // elsewhere.
  double (*loss)(const void* self, const double* x0, const double* x1, int32_t n_threads);
  // Stiffness damping alone: takes the stiffness of a step from x; adds the force at velocities v.
  void (*set_stiffness)(void* self, const double* x, int32_t n_threads);
  void (*add_force)(const void* self, const double* v, double* force);
} NoliTermType;

typedef struct NoliTerm {
  const NoliTermType* type;
  void* self;
} NoliTerm;

// All types, in the order in which their terms are assembled, those of contact models last: X(name)
// stands for noli_term_NAME.
#define NOLI_TERM_TYPES(X)                                                                         \
  X(inertia)                                                                                       \
  X(block_inertia)                                                                                 \
  X(elasticity)                                                                                    \
  X(bending)                                                                                       \
  X(damping)                                                                                       \
  X(bending_damping)                                                                               \
  X(volume)                                                                                        \
  X(drag)                                                                                          \
  X(block_drag)                                                                                    \
  X(load)                                                                                          \
  X(springs)                                                                                       \
  X(friction)                                                                                      \
  X(contact)                                                                                       \
  X(implicit_friction)

#define NOLI_TERM_DECLARATION(name) extern const NoliTermType noli_term_##name;
NOLI_TERM_TYPES(NOLI_TERM_DECLARATION)
#undef NOLI_TERM_DECLARATION

// The list as an array of n.
const NoliTermType* const* noli_term_types(int32_t* n);
