// The derivatives of contact by the geometric potential.
#include "contact/derivatives/friction_derivatives.h"
#include "contact/derivatives/gcp_derivatives.h"
#include "solve/contact_gcp.h"

// The ranges of both barriers are no inputs. `other`: the number that scales one of them.
static NoliBarrierInputs barrier_inputs(const NoliStage* stage, int32_t other,
                                        NoliPairClasses classes) {
  return (NoliBarrierInputs){.X = stage->problem->X,
                             .distance = NOLI_NULL_INDEX,
                             .stiffness = {NOLI_CONTACT_STIFFNESS, other},
                             .classes = classes};
}

static NoliStatus gcp_lagged_friction(const NoliStage* stage, const double* x,
                                      NoliPairClasses classes, NoliMixedList* list) {
  NoliStatus status = NOLI_OK;
  const NoliGcpMemory* here = stage->here->contact;
  NoliGcpFriction closed = noli_gcp_closed_friction(stage, here);
  NoliImplicitFriction open = noli_stage_implicit_friction(stage, &here->barrier);
  NoliBarrierInputs inputs = barrier_inputs(stage, NOLI_CONTACT_OPEN, classes);
  NOLI_TRY(noli_lagged_friction_derivatives(list, &open, stage->here->x, x, &inputs));
  NOLI_TRY(noli_gcp_lagged_friction_derivatives(list, &closed, stage->here->x, x, classes));
done:
  return status;
}

static NoliStatus gcp_implicit_friction(const NoliStage* stage, NoliPairClasses classes,
                                        NoliMixedList* list) {
  NoliStatus status = NOLI_OK;
  const NoliGcpMemory* here = stage->here->contact;
  NoliGcpFriction closed = noli_gcp_closed_friction(stage, here);
  NoliImplicitFriction open = noli_stage_implicit_friction(stage, &here->barrier);
  NoliBarrierInputs inputs = barrier_inputs(stage, NOLI_CONTACT_OPEN, classes);
  NOLI_TRY(noli_implicit_friction_derivatives(list, &open, stage->here->x, &inputs));
  NOLI_TRY(noli_gcp_implicit_friction_derivatives(list, &closed, stage->here->x, classes));
done:
  return status;
}

// The range and the stiffness of the inner barrier follow the shape, too, with the scale of the
// scene: where it acts, nothing is differentiated by shapes.
static NoliStatus gcp_gradient(const NoliStage* stage, NoliMixedList* list) {
  NoliStatus status = NOLI_OK;
  const NoliGcpMemory* here = stage->here->contact;
  const double* x = stage->here->x;
  NoliPairClasses none = {NULL, NULL};
  NoliBarrierInputs open = barrier_inputs(stage, NOLI_CONTACT_OPEN, none);
  NoliBarrierInputs inner = barrier_inputs(stage, NOLI_NULL_INDEX, none);
  bool by_shape = noli_mixed_list_wants(list, NOLI_INPUT_WEIGHT) ||
                  noli_mixed_list_wants(list, NOLI_INPUT_SUPPORT);
  NOLI_CHECK(stage->context, !by_shape || here->inside.contact.count == 0, NOLI_ERROR_ARGUMENT,
             "derivatives: a body is crushed until its surface meets itself from inside, where "
             "\"gcp\" is not differentiated by shapes and ranges: choose a stiffer material or a "
             "smaller force");
  NOLI_TRY(noli_barrier_derivatives(list, &here->barrier, &open, x));
  NOLI_TRY(noli_barrier_derivatives(list, &here->inner, &inner, x));
  NOLI_TRY(noli_gcp_derivatives(list, &here->potential, x));
done:
  return status;
}

const NoliContactDerivatives noli_contact_gcp_derivatives = {
    .lagged_friction = gcp_lagged_friction,
    .implicit_friction = gcp_implicit_friction,
    .gradient = gcp_gradient,
    .sticks = true,
    .inputs = 1u << NOLI_INPUT_REST | 1u << NOLI_INPUT_CONTACT | 1u << NOLI_INPUT_WEIGHT |
              1u << NOLI_INPUT_SUPPORT | 1u << NOLI_INPUT_OFFSET};
