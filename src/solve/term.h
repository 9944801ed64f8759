// The terms of a stage: objects of several types. A type has a role and lists the stencils of the
// term at a point for the assembler (linalg/energy_term.h). The rest of the solver is independent
// of the types and selects terms by role.
#pragma once

#include "linalg/energy_term.h"
#include "solve/point.h"

typedef struct NoliStage NoliStage; // solve/stage.h

// Flags, so that several can be selected together, in the order of terms.
typedef enum NoliTermRole {
  NOLI_ROLE_INERTIA = 1 << 0,
  NOLI_ROLE_ELASTIC = 1 << 1,
  NOLI_ROLE_DAMPING = 1 << 2, // proportional to stiffness
  NOLI_ROLE_VOLUME = 1 << 3,
  NOLI_ROLE_DRAG = 1 << 4, // damping proportional to mass, dampers and friction of joints
  NOLI_ROLE_LOAD = 1 << 5,
  NOLI_ROLE_TARGET_SPRINGS = 1 << 6, // of prescribed nodes that contact has stopped
  NOLI_ROLE_ADHESION = 1 << 7,
  NOLI_ROLE_FRICTION = 1 << 8,
  NOLI_ROLE_CONTACT = 1 << 9,
  NOLI_ROLE_IMPLICIT_FRICTION = 1 << 10, // a force without energy
  NOLI_ROLE_ALL = (1 << 11) - 1
} NoliTermRole;

typedef struct NoliTermType {
  const char* name;
  NoliTermRole role;
  bool on_vertices; // stencils may contain followers
  bool in_joints;   // what acts in coordinates of joints
  size_t size;      // of a term's own data

  // The number of terms of this type in a problem. NULL: one.
  int32_t (*count)(const NoliProblem* problem);

  // Initializes the term's own data, zero before; `index` counts the terms of this type. `destroy`
  // also cleans up after a failure. May be NULL.
  NoliStatus (*create)(NoliStage* stage, void* self, int32_t index);
  void (*destroy)(NoliContext* context, void* self);

  // Lists the stencils at a point with their data; to be called after any of its inputs have
  // changed. NULL: the contact model lists them (solve/contact_model.h).
  NoliEnergyTerm (*list)(const NoliStage* stage, void* self, const NoliPoint* at);

  // Magnitude to which rounding errors of the energy are relative. NULL: that of the energy.
  double (*magnitude)(const void* self);

  // The rank-one terms, s g g^T, that the stencils of its Hessian lack: their number; s of one of
  // them, with g added to `vector` (n_vert x 3), at the last evaluation of the energy. NULL: none.
  int32_t (*rank)(const void* self);
  double (*add_rank_one)(const void* self, int32_t index, const double* x, double* vector);

  // Whether other ranks have other stencils, and energies, losses and forces are sums over ranks.
  // NULL: all ranks have the same.
  bool (*divided)(const void* self);

  // Damping: the energy that it dissipates in a step of length h between x0 and x1, times h. NULL
  // for other terms.
  double (*loss)(const void* self, const double* x0, const double* x1, int32_t n_threads);
  // Stiffness damping only: computes the stiffness of a step at x; adds the force at velocities v.
  void (*set_stiffness)(void* self, const double* x, int32_t n_threads);
  void (*add_force)(const void* self, const double* v, double* force);
} NoliTermType;

typedef struct NoliTerm {
  const NoliTermType* type;
  void* self;
} NoliTerm;

// All types, in the order in which their terms are assembled, those of contact models last; X(name)
// is noli_term_NAME.
#define NOLI_TERM_TYPES(X)                                                                         \
  X(inertia)                                                                                       \
  X(block_inertia)                                                                                 \
  X(elasticity)                                                                                    \
  X(bending)                                                                                       \
  X(connections)                                                                                   \
  X(damping)                                                                                       \
  X(bending_damping)                                                                               \
  X(dampers)                                                                                       \
  X(volume)                                                                                        \
  X(drag)                                                                                          \
  X(block_drag)                                                                                    \
  X(load)                                                                                          \
  X(pressure)                                                                                      \
  X(curved_pressure)                                                                               \
  X(target_springs)                                                                                \
  X(joint_couplings)                                                                               \
  X(joint_springs)                                                                                 \
  X(joint_motors)                                                                                  \
  X(joint_friction)                                                                                \
  X(joint_dampers)                                                                                 \
  X(joint_armatures)                                                                               \
  X(adhesion)                                                                                      \
  X(friction)                                                                                      \
  X(contact)                                                                                       \
  X(implicit_friction)

#define NOLI_TERM_DECLARATION(name) extern const NoliTermType noli_term_##name;
NOLI_TERM_TYPES(NOLI_TERM_DECLARATION)
#undef NOLI_TERM_DECLARATION

// Whether joints exert the forces of a term.
bool noli_term_is_in_joints(const NoliTerm* term);

// The list as an array of n.
const NoliTermType* const* noli_term_types(int32_t* n);
