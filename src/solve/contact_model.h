// The contact models that a stage can use: one row of functions for each. The stage and the solvers
// access contact only through this table. A model stores its own data between steps in
// stage->contact.data and at a point in point->contact; the row gives the sizes.
#pragma once

#include "base/derivatives.h"
#include "contact/constraints/active_set.h"
#include "contact/friction/friction.h"
#include "contact/pair_forces.h"
#include "linalg/energy_term.h"
#include "linalg/input.h"

typedef struct NoliStage NoliStage; // solve/stage.h
typedef struct NoliPoint NoliPoint; // solve/point.h

// Maximum number of energy terms of a model: between bodies, with half-spaces or of a second law,
// and within bodies.
enum { NOLI_CONTACT_TERMS = 3 };

// How a model changes with numbers besides positions; each adds to the list what it wants. The
// table of a model lies in solve/derivatives/contact_NAME_derivatives.c.
typedef struct NoliContactDerivatives {
  // Lagged friction at x (n_vert x 3): with the positions at which it was lagged, those here, and
  // with coefficients.
  NoliStatus (*lagged_friction)(const NoliStage* stage, const double* x, NoliPairClasses classes,
                                NoliMixedList* list);
  // Implicit friction here: with x_hat and with coefficients.
  NoliStatus (*implicit_friction)(const NoliStage* stage, NoliPairClasses classes,
                                  NoliMixedList* list);
  // The gradient here, with the inputs whose bits are set in `inputs`.
  NoliStatus (*gradient)(const NoliStage* stage, NoliMixedList* list);
  unsigned inputs;
  bool sticks; // both list what contacts that stick need, too
               // (contact/derivatives/stick_derivatives.h)
  // Why the potential here is not that of its positions and of problem->fixed_stiffness, or does
  // not follow the inputs whose bits are set in `wanted`; NULL where it is. The function is NULL
  // where it always is.
  const char* (*defect)(const NoliStage* stage, unsigned wanted);
} NoliContactDerivatives;

typedef struct NoliContactModel {
  const char* name; // in definitions; NULL: a solver selects it
  const char* description;
  const char* advice;     // remedy if collision detection blocks a step; NULL unless keeps_apart
  bool ranges;            // pairs may have contact distances of their own
  bool keeps_apart;       // keeps surfaces free of intersections: steps are bounded
  bool has_targets;       // x may penetrate: the solver's safe state follows it
  bool same_at_trial;     // contacts at the trial point have the same stencils as here
  bool no_implicit_slips; // implicit friction cannot stick (contact/friction/stick.h)
  bool divides;           // contacts may be divided among ranks (problem->ranks.home)

  bool searches;      // contacts are among the pairs that the broad phase finds within `reach`
  size_t size;        // of stage->contact.data
  size_t memory_size; // of point->contact

  // Initializes stage->contact.data, zero before; `destroy` also cleans up after a failure. May be
  // NULL.
  NoliStatus (*create)(NoliStage* stage);
  void (*destroy)(NoliContext* context, void* contact);
  // Initializes the data at a point, zero before. May be NULL.
  void (*init_memory)(void* memory);
  void (*free_memory)(NoliContext* context, void* memory);

  // Finds the contacts at a point from its candidates.
  NoliStatus (*update)(NoliStage* stage, NoliPoint* at);
  // After an iteration: if the potential `jumps` within the line search, replaces it by one without
  // jumps for the rest of the time step. Sets `joined` if that has added contacts. NULL: the
  // potential never jumps.
  NoliStatus (*smooth)(NoliStage* stage, bool jumps, bool* joined);

  // Lists the terms at a point, with the current kappa, and sets their data; to be called after
  // contacts or kappa have changed. Terms that are not set stay empty.
  void (*list_terms)(const NoliStage* stage, const NoliPoint* at,
                     NoliEnergyTerm terms[NOLI_CONTACT_TERMS]);

  // Number of contacts at x: pairs of closest features, or constraints that push; and of those that
  // may become active before the step ends.
  int64_t (*count)(const NoliStage* stage);
  int64_t (*count_near)(const NoliStage* stage);
  // Smallest distance, m; INFINITY without contacts.
  double (*min_distance)(const NoliStage* stage);

  // Adds contact forces divided by `scale` to `force` (n_vert x 3), and resultants to `pairs`:
  // those of this rank where contacts are divided, otherwise all.
  NoliStatus (*forces)(const NoliStage* stage, double scale, double* force);
  NoliStatus (*pair_forces)(const NoliStage* stage, double scale, NoliPairForces* pairs);
  // Replaces `set` by friction with the normal forces at x.
  NoliStatus (*lag_friction)(const NoliStage* stage, NoliFrictionSet* set);

  // Implicit friction: its terms at a point, where terms that are not set stay empty; its forces at
  // x divided by `scale` and its resultants, of this rank where contacts are divided. All NULL: the
  // model supports lagged friction only.
  void (*list_friction)(const NoliStage* stage, const NoliPoint* at,
                        NoliEnergyTerm terms[NOLI_CONTACT_TERMS]);
  void (*friction_forces)(const NoliStage* stage, double scale, double* force);
  NoliStatus (*friction_pair_forces)(const NoliStage* stage, double scale, NoliPairForces* pairs);

  // Lower bound of the distance of pairs that are not candidates, m.
  double (*reach)(const NoliStage* stage);

  // The stiffness kappa: at the start of a stage; after an iteration, where `alpha` is the part of
  // the step that was taken if CCD has cut it to less than half, otherwise 1; and when the solver
  // has converged. May be NULL.
  NoliStatus (*begin_stiffness)(NoliStage* stage);
  NoliStatus (*adapt_stiffness)(const NoliStage* stage, double alpha, double* kappa);
  NoliStatus (*stiffen)(NoliStage* stage, bool* stiffer);

  const NoliContactDerivatives* derivatives; // NULL: runs with this model have none
} NoliContactModel;

// The barrier of [Li2020].
extern const NoliContactModel noli_contact_barrier;
// Constraints with multipliers of [Zheng2025], for the solver that updates them.
extern const NoliContactModel noli_contact_constraints;
// A penalty on smooth surfaces of [Larionov2024].
extern const NoliContactModel noli_contact_implicit_surface;
// The geometric contact potential of [Huang2025], with the barrier for open surfaces.
extern const NoliContactModel noli_contact_gcp;

// The named model with this name, or with this index from 0; NULL if there is none.
const NoliContactModel* noli_contact_model_find(const char* name);
const NoliContactModel* noli_contact_model_at(int32_t index);

// The active set of the augmented Lagrangian; NULL with other contact models.
NoliActiveSet* noli_stage_constraints(const NoliStage* stage);

// Linearizes the constraints of the active set at a safe state x (n_vert x 3).
NOLI_WARN_UNUSED NoliStatus noli_constraints_linearize(NoliStage* stage, const double* x);

extern const NoliContactDerivatives noli_contact_barrier_derivatives;
extern const NoliContactDerivatives noli_contact_implicit_surface_derivatives;
extern const NoliContactDerivatives noli_contact_gcp_derivatives;
