// What keeps surfaces apart in a stage: one row of functions for each model of contact. The stage
// and the solvers know no more of contact than this table. What a model keeps for all steps and
// what it remembers at a point is its own: stage->contact and point->contact, of sizes that the row
// says.
#pragma once

#include "contact/active_set.h"
#include "contact/friction.h"
#include "contact/pair_forces.h"
#include "linalg/energy_term.h"

typedef struct NoliStage NoliStage; // solve/stage.h
typedef struct NoliPoint NoliPoint; // solve/point.h

// Energy terms that a model may have at most: between bodies, of bodies with half-spaces or by a
// second law, and of bodies with themselves.
enum { NOLI_CONTACT_TERMS = 3 };

typedef struct NoliContactModel {
  const char* name; // in definitions; NULL: a solver brings it
  const char* description;
  const char* advice; // what may help where collision detection blocks; NULL unless keeps_apart
  bool keeps_apart;   // surfaces that do not intersect never will: steps are bounded
  bool has_targets;   // x may penetrate: the solver's safe state follows it
  bool same_at_trial; // contacts at the trial point are those here, stencil by stencil

  bool searches;      // contacts are among the pairs that the broad phase finds within `reach`
  size_t size;        // of stage->contact
  size_t memory_size; // of point->contact

  // stage->contact, of zeros before; `destroy` cleans up where it failed, too. NULL: nothing to do.
  NoliStatus (*create)(NoliStage* stage);
  void (*destroy)(NoliContext* context, void* contact);
  // What it remembers at a point, of zeros before; empty at first. NULL: nothing to do.
  void (*init_memory)(void* memory);
  void (*free_memory)(NoliContext* context, void* memory);

  // Contacts at a point, out of its candidates.
  NoliStatus (*update)(NoliStage* stage, NoliPoint* at);
  // After an iteration: where the potential `jumps` in the way of the line search, the rest of the
  // time step is solved with one that does not. `joined` is set where contacts have been added to
  // that. NULL: the potential never jumps.
  NoliStatus (*smooth)(NoliStage* stage, bool jumps, bool* joined);

  // The terms at a point, with the present kappa, and what they read there; to be called after
  // contacts or kappa have changed. Terms that are not set stay empty.
  void (*list_terms)(const NoliStage* stage, const NoliPoint* at,
                     NoliEnergyTerm terms[NOLI_CONTACT_TERMS]);

  // Contacts at x: pairs of closest features, or constraints that push; and those that may become
  // some before the step ends.
  int64_t (*count)(const NoliStage* stage);
  int64_t (*count_near)(const NoliStage* stage);
  // m; INFINITY without any.
  double (*min_distance)(const NoliStage* stage);

  // Adds contact forces over `scale` to `force` (n_vert x 3), and resultants to `pairs`.
  NoliStatus (*forces)(const NoliStage* stage, double scale, double* force);
  NoliStatus (*pair_forces)(const NoliStage* stage, double scale, NoliPairForces* pairs);
  // Replaces `set` by friction with the normal forces at x.
  NoliStatus (*lag_friction)(const NoliStage* stage, NoliFrictionSet* set);

  // Implicit friction: its terms at a point, those that are not set stay empty; its forces at x
  // over `scale`; its resultants. All NULL: the model knows lagged friction only.
  void (*list_friction)(const NoliStage* stage, const NoliPoint* at,
                        NoliEnergyTerm terms[NOLI_CONTACT_TERMS]);
  void (*friction_forces)(const NoliStage* stage, double scale, double* force);
  NoliStatus (*friction_pair_forces)(const NoliStage* stage, double scale, NoliPairForces* pairs);

  // How far from each other what the candidates miss is at least, m.
  double (*reach)(const NoliStage* stage);

  // The stiffness kappa: at the start of a stage, after an iteration, where CCD may have cut the
  // step to less than half (`blocked`), and where the solver has converged. NULL: there is nothing
  // to do.
  NoliStatus (*begin_stiffness)(NoliStage* stage);
  double (*adapt_stiffness)(const NoliStage* stage, bool blocked);
  NoliStatus (*stiffen)(NoliStage* stage, bool* stiffer);
} NoliContactModel;

// The barrier of [Li2020].
extern const NoliContactModel noli_contact_barrier;
// Constraints with multipliers of [Zheng2025], of the solver that moves them.
extern const NoliContactModel noli_contact_constraints;
// A penalty on smooth surfaces of [Larionov2024].
extern const NoliContactModel noli_contact_implicit_surface;
// The geometric contact potential of [Huang2025], beside the barrier for what is not closed.
extern const NoliContactModel noli_contact_gcp;

// The model of this name, or with this index from 0, of those that have names; NULL where there is
// none.
const NoliContactModel* noli_contact_model_find(const char* name);
const NoliContactModel* noli_contact_model_at(int32_t index);

// The active set of that solver; NULL where contact is of another model.
NoliActiveSet* noli_stage_constraints(const NoliStage* stage);

// Linearizes the constraints of the active set at a safe state x (n_vert x 3).
NOLI_WARN_UNUSED NoliStatus noli_constraints_linearize(NoliStage* stage, const double* x);
