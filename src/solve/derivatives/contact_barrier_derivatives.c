// The derivatives of contact by the barrier.
#include "contact/derivatives/friction_derivatives.h"
#include "solve/contact_barrier.h"
#include "solve/stage.h"

static NoliBarrierInputs inputs_of(const NoliStage* stage, NoliPairClasses classes) {
  return (NoliBarrierInputs){.X = stage->problem->X,
                             .distance = NOLI_CONTACT_DISTANCE,
                             .stiffness = {NOLI_CONTACT_STIFFNESS, NOLI_NULL_INDEX},
                             .classes = classes};
}

static NoliStatus barrier_lagged_friction(const NoliStage* stage, const double* x,
                                          NoliPairClasses classes, NoliMixedList* list) {
  const NoliBarrierMemory* here = stage->here->contact;
  NoliImplicitFriction friction = noli_stage_implicit_friction(stage, &here->barrier);
  NoliBarrierInputs inputs = inputs_of(stage, classes);
  return noli_lagged_friction_derivatives(list, &friction, stage->here->x, x, &inputs);
}

static NoliStatus barrier_implicit_friction(const NoliStage* stage, NoliPairClasses classes,
                                            NoliMixedList* list) {
  const NoliBarrierMemory* here = stage->here->contact;
  NoliImplicitFriction friction = noli_stage_implicit_friction(stage, &here->barrier);
  NoliBarrierInputs inputs = inputs_of(stage, classes);
  return noli_implicit_friction_derivatives(list, &friction, stage->here->x, &inputs);
}

static NoliStatus barrier_gradient(const NoliStage* stage, NoliMixedList* list) {
  const NoliBarrierMemory* here = stage->here->contact;
  NoliBarrierInputs inputs = inputs_of(stage, (NoliPairClasses){0});
  return noli_barrier_derivatives(list, &here->barrier, &inputs, stage->here->x);
}

const NoliContactDerivatives noli_contact_barrier_derivatives = {
    .lagged_friction = barrier_lagged_friction,
    .implicit_friction = barrier_implicit_friction,
    .gradient = barrier_gradient,
    .sticks = true,
    .inputs = 1u << NOLI_INPUT_REST | 1u << NOLI_INPUT_CONTACT | 1u << NOLI_INPUT_OFFSET};
