// Which runs have derivatives, and why others have none.
#include "derive/solves/sensitivity_solve.h"
#include "fem/derivatives/block_derivatives.h"

#include <math.h>

// Ranges above this, relative to the scene, give the barrier and the geometric potential
// stiffnesses whose ratio does not depend on the scene (contact/stiffness.c).
#define SHORT_RANGE 1e-4

// Whether a pair has a distance of its own that is that of the scene, and would not follow it.
static bool has_equal_distances(const NoliModel* model, const NoliSimDef* def) {
  bool has = false;
  for (int32_t i = 0; i < def->n_pairs; i++) {
    double own = noli_resolve(def->pairs[i].distance, &model->problem.size);
    has = has || own / model->problem.contact.dhat == 1.0;
  }
  return has;
}

// Models of contact, and types of elements and connections, may have no derivatives.
static NoliStatus require_tables(const NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = &sim->model->problem;
  NOLI_CHECK(sim->context, problem->contact.model->derivatives != NULL, NOLI_ERROR_ARGUMENT,
             "derivatives: the contact model \"%s\" has none", problem->contact.model->name);
  for (int32_t b = 0; b < problem->n_block; b++) {
    const NoliBlock* block = &problem->block[b];
    NOLI_CHECK(sim->context, noli_derivatives_of(block) != NULL, NOLI_ERROR_ARGUMENT,
               "derivatives: elements of the type \"%s\" have none", block->type->name);
  }
  for (int32_t kind = 0; kind < NOLI_CONNECTION_FORCES; kind++) {
    const NoliConnectionForces* forces = problem->connection[kind].forces;
    NOLI_CHECK(sim->context, forces == NULL || forces->derivatives != NULL, NOLI_ERROR_ARGUMENT,
               "derivatives: %s have none", forces->name);
  }
done:
  return status;
}

static const char* defect_of(const NoliSim* sim, unsigned wanted) {
  const NoliModel* model = sim->model;
  const NoliProblem* problem = &model->problem;
  unsigned by_gcp = 1u << NOLI_INPUT_WEIGHT | 1u << NOLI_INPUT_SUPPORT;
  unsigned by_contact = wanted & (by_gcp | 1u << NOLI_INPUT_REST | 1u << NOLI_INPUT_CONTACT |
                                  1u << NOLI_INPUT_OFFSET);
  if ((by_contact & ~problem->contact.model->derivatives->inputs) != 0) {
    return "rest shapes and numbers of contact are not differentiated with this contact model";
  }
  if ((wanted >> NOLI_INPUT_CONTACT & 1u) != 0 && has_equal_distances(model, sim->definition.def)) {
    return "a pair has a contact distance of its own that equals that of the scene: leave its "
           "distance out";
  }
  double range = fmin(problem->contact.dhat, problem->contact.gcp.model.parameters.eps_target);
  if ((wanted & by_gcp) != 0 && problem->contact.gcp.has_open &&
      range < SHORT_RANGE * problem->size.d) {
    return "the stiffness of \"gcp\" at open obstacles follows the size of the scene where "
           "contact.distance or contact.eps_target is below 1e-4 of it: choose longer ones, or "
           "closed obstacles";
  }
  if (problem->friction.sticks && problem->friction.acts &&
      !problem->contact.model->derivatives->sticks) {
    return "the slips of friction.law \"stick\" are not differentiated with this contact model: "
           "choose \"ipc\" or \"gcp\", or friction.law \"velocity\"";
  }
  if (problem->contact.pairs.adhesion != NULL) {
    return "adhesion is not differentiated: leave it out";
  }
  if (problem->contact.pairs.grain != NULL) {
    return "friction that depends on a direction is not differentiated: leave the directions of "
           "pairs out";
  }
  if (model->integrator->decoupled) {
    return "\"trapezoidal_decoupled\" is not differentiated: choose \"trapezoidal\"";
  }
  if (model->increments.initial > 0.0) {
    return "the lengths of adaptive increments jump: leave time.increments out";
  }
  if (model->n_ends > 0) {
    return "motions that end by position end at whole steps, which jumps: give them an end in time";
  }
  return NULL;
}

NoliStatus noli_sensitivity_require(const NoliSim* sim, unsigned wanted) {
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(
      sim->context, noli_stage_constraints(sim->own_stage) == NULL, NOLI_ERROR_ARGUMENT,
      "derivatives: the solver \"augmented_lagrangian\" is no differentiable function of its "
      "start: choose solver.method \"projected_newton\"");
  NOLI_TRY(require_tables(sim));
  const char* defect = defect_of(sim, wanted);
  NOLI_CHECK(sim->context, defect == NULL, NOLI_ERROR_ARGUMENT, "derivatives: %s", defect);
done:
  return status;
}
