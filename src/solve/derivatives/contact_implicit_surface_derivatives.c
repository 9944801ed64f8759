// The derivatives of contact with smooth surfaces.
#include "contact/derivatives/friction_derivatives.h"
#include "contact/derivatives/implicit_surface_derivatives.h"
#include "solve/contact_implicit_surface.h"

#include <math.h>

// The inputs of the barrier between sheets.
static NoliBarrierInputs sheet_inputs(const NoliStage* stage, NoliPairClasses classes) {
  return (NoliBarrierInputs){.X = stage->problem->X,
                             .distance = NOLI_CONTACT_GAP,
                             .stiffness = {NOLI_CONTACT_STIFFNESS, NOLI_CONTACT_OPEN},
                             .classes = classes};
}

static NoliStatus implicit_surface_lagged_friction(const NoliStage* stage, const double* x,
                                                   NoliPairClasses classes, NoliMixedList* list) {
  NoliStatus status = NOLI_OK;
  const NoliImplicitSurfaceMemory* here = stage->here->contact;
  NoliImplicitSurfaceFriction friction = noli_implicit_surface_friction_of(stage, here);
  NOLI_TRY(noli_implicit_surface_lagged_friction_derivatives(list, &friction, stage->here->x, x,
                                                             stage->problem->n_vert, classes));
  if (here->sheets.contact.count > 0) {
    NoliImplicitFriction sheets = noli_stage_implicit_friction(stage, &here->barrier);
    NoliBarrierInputs inputs = sheet_inputs(stage, classes);
    NOLI_TRY(noli_lagged_friction_derivatives(list, &sheets, stage->here->x, x, &inputs));
  }
done:
  return status;
}

static NoliStatus implicit_surface_implicit_friction(const NoliStage* stage,
                                                     NoliPairClasses classes, NoliMixedList* list) {
  NoliStatus status = NOLI_OK;
  const NoliImplicitSurfaceMemory* here = stage->here->contact;
  NoliImplicitSurfaceFriction friction = noli_implicit_surface_friction_of(stage, here);
  NOLI_TRY(noli_implicit_surface_implicit_friction_derivatives(list, &friction, stage->here->x,
                                                               classes));
  if (here->sheets.contact.count > 0) {
    NoliImplicitFriction sheets = noli_stage_implicit_friction(stage, &here->barrier);
    NoliBarrierInputs inputs = sheet_inputs(stage, classes);
    NOLI_TRY(noli_implicit_friction_derivatives(list, &sheets, stage->here->x, &inputs));
  }
done:
  return status;
}

static NoliStatus implicit_surface_gradient(const NoliStage* stage, NoliMixedList* list) {
  NoliStatus status = NOLI_OK;
  const NoliImplicitSurfaceMemory* here = stage->here->contact;
  NOLI_TRY(noli_implicit_surface_derivatives(list, &here->penalty, stage->here->x));
  if (here->sheets.contact.count > 0) {
    NoliBarrierInputs inputs = sheet_inputs(stage, (NoliPairClasses){0});
    NOLI_TRY(noli_barrier_derivatives(list, &here->barrier, &inputs, stage->here->x));
  }
done:
  return status;
}

// The least stiffness of the barrier between sheets follows masses, and its range their distance at
// rest where that is short.
static const char* sheets_defect(const NoliStage* stage, unsigned wanted) {
  const NoliImplicitSurfaceStage* self = stage->contact.data;
  unsigned by_mass = 1u << NOLI_INPUT_MASS | 1u << NOLI_INPUT_REST | 1u << NOLI_INPUT_CONTACT;
  if (stage->contact.kappa * self->barrier_ratio <= self->barrier_kappa &&
      (wanted & by_mass) != 0) {
    return "open sheets touch, and contact.stiffness is so small that the barrier between them is "
           "as stiff as their masses ask: choose a larger one";
  }
  return stage->problem->sheets.gap_at_rest && (wanted >> NOLI_INPUT_REST & 1u) != 0
             ? "open sheets touch, and are so close at rest that the range of the barrier between "
               "them follows the rest shapes: choose a shorter contact.distance"
             : NULL;
}

static const char* implicit_surface_defect(const NoliStage* stage, unsigned wanted) {
  const NoliImplicitSurfaceStage* self = stage->contact.data;
  const NoliImplicitSurfaceMemory* here = stage->here->contact;
  const char* sheets = here->sheets.contact.count > 0 ? sheets_defect(stage, wanted) : NULL;
  if (sheets != NULL) {
    return sheets;
  }
  double given = stage->problem->contact.fixed_stiffness * stage->time.h_e * stage->time.h_e;
  if (noli_implicit_surface_count(stage) > 0 &&
      fabs(stage->contact.kappa - given) > 1e-12 * given) {
    return "the penalty has become stiffer than contact.stiffness, where a vertex penetrates or "
           "the stages of the integrator differ: choose a larger one, or \"backward_euler\"";
  }
  return self->keeps_triangles ? "a vertex has passed an edge or the middle of a thin part, where "
                                 "its distance from the surface jumps: choose a smaller time step"
                               : NULL;
}

const NoliContactDerivatives noli_contact_implicit_surface_derivatives = {
    .lagged_friction = implicit_surface_lagged_friction,
    .implicit_friction = implicit_surface_implicit_friction,
    .gradient = implicit_surface_gradient,
    .inputs = 1u << NOLI_INPUT_REST | 1u << NOLI_INPUT_CONTACT,
    .defect = implicit_surface_defect};
