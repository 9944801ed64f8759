#include "step/energy_check.h"

#include "math/vec3.h"
#include "solve/prescribed.h"
#include "step/fallback.h"
#include "step/integration.h"
#include "step/joints.h"

#include <math.h>
#include <string.h>

// The energy at the end of a step may exceed all energy that it had or received by at most this
// fraction: all parts of a divided step together, or each would add to the excess.
#define MARGIN 0.25
// The same if the integrator carries forces or changes of velocity over from step to step, so that
// contact excites it: BDF2 adds half of a jump again over the following steps. And with
// constraints, which settle to 1 % of the motion in a step, not of its energy: 1 in 10 impacts of
// stiff bodies in long steps gained 6 to 20 %.
#define SMALL_MARGIN 0.05

// Kinetic energy, J, at the speed that solvers do not resolve.
static double unresolved_energy(const NoliSim* sim) {
  const NoliProblem* problem = &sim->model->problem;
  double mass = 0.0;
  for (int32_t i = 0; i < problem->inertia.n_vert; i++) {
    mass += problem->inertia.weight[problem->inertia.vert[i]];
  }
  return 0.5 * mass * sim->stage->step.tolerance * sim->stage->step.tolerance;
}

// Deformation energy at the current point of the stage, J, and the sum of its magnitudes: that of a
// region may be negative. `known`: of every stencil.
static NoliStatus deformation_energy(NoliSim* sim, bool known, double* energy, double* magnitude) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = sim->stage;
  double scale = stage->time.h_e * stage->time.h_e;
  unsigned roles = NOLI_ROLE_ELASTIC | NOLI_ROLE_VOLUME | NOLI_ROLE_ADHESION;
  if (known) {
    NOLI_TRY(noli_stage_sum_energy(stage, roles));
  } else {
    NOLI_TRY(noli_stage_role_energy(stage, roles));
  }
  NoliEnergySum sum = noli_stage_energy_sum(stage, roles);
  *energy = sum.energy / scale;
  *magnitude = sum.magnitude / scale;
done:
  return status;
}

// Work of the loads, including gravity, at the end of the step, over its motion, J.
static double work_of_loads(const NoliSim* sim) {
  const NoliProblem* problem = &sim->model->problem;
  const NoliStage* stage = sim->stage;
  double work = 0.0;
  for (int32_t i = 0; i < problem->inertia.n_vert; i++) {
    int64_t node = problem->inertia.vert[i];
    NoliVec3 dx =
        noli_sub3(noli_load3(stage->here->x + 3 * node), noli_load3(sim->state.x + 3 * node));
    work += noli_dot3(noli_load3(stage->loads.force + 3 * node), dx);
  }
  // pressures have a potential
  NoliPressure pressure = {.faces = &problem->pressed.flat,
                           .value = stage->loads.pressure,
                           .origin = stage->loads.pressure_origin};
  work -= noli_pressure_energy(&pressure, stage->here->x) -
          noli_pressure_energy(&pressure, sim->state.x);
  for (int32_t k = 0; k < problem->pressed.n_curved; k++) {
    NoliCurvedPressure curved = noli_stage_curved_pressure(stage, k);
    work -= noli_curved_pressure_energy(&curved, stage->here->x) -
            noli_curved_pressure_energy(&curved, sim->state.x);
  }
  return work;
}

// Work of prescribed motion, including obstacles: its force is the imbalance of all other forces at
// the end of the step.
static NoliStatus work_of_motion(NoliSim* sim, double* work) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = sim->stage;
  const NoliPrescribed* prescribed = &stage->prescribed;
  double* force = stage->search.trial_gradient;
  *work = 0.0;
  memset(force, 0, noli_sim_vector_bytes(sim));
  NOLI_TRY(noli_stage_contact_forces(stage, force));
  NOLI_TRY(noli_stage_add_forces(stage, NOLI_ROLE_ALL & ~NOLI_ROLE_CONTACT, force));
  for (int32_t i = 0; i < prescribed->n; i++) {
    for (int32_t k = 0; k < 3; k++) {
      int64_t j = 3 * (int64_t)prescribed->node[i] + k;
      if (noli_prescribes(prescribed, i, k)) {
        *work -= force[j] * (stage->here->x[j] - sim->state.x[j]);
      }
    }
  }
done:
  return status;
}

// Energy of the barrier at the current point, J.
static NoliStatus barrier_energy(NoliStage* stage, double* energy) {
  NoliStatus status = NOLI_OK;
  *energy = 0.0;
  NOLI_TRY(noli_stage_role_energy(stage, NOLI_ROLE_CONTACT));
  *energy = noli_stage_energy_sum(stage, NOLI_ROLE_CONTACT).magnitude /
            (stage->time.h_e * stage->time.h_e);
done:
  return status;
}

// Energy of contact at the start, J. Constraints store no energy, and a barrier that takes over
// from them has no energy to release.
static NoliStatus energy_check_contact_energy(NoliSim* sim, double* energy) {
  *energy = 0.0;
  if (noli_stage_constraints(sim->stage) != NULL || noli_sim_is_new_to_barrier(sim)) {
    return NOLI_OK;
  }
  return barrier_energy(sim->stage, energy);
}

bool noli_sim_stands(const NoliSim* sim) {
  const NoliStage* stage = sim->stage;
  // volume laws may change with time, histories have moved
  return sim->energy.end.stage == stage && stage->problem->volumes.n_region == 0 &&
         !noli_problem_has_histories(stage->problem) &&
         memcmp(stage->here->x, sim->state.x, noli_sim_vector_bytes(sim)) == 0;
}

NoliStatus noli_sim_begin_energy_check(NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  NoliEnergyCheck* start = &sim->energy.start;
  if (!sim->stage->time.inertia) {
    return NOLI_OK;
  }
  // prescribed nodes as the integrator starts them
  double kinetic = noli_problem_kinetic_energy(&sim->model->problem, sim->vectors.v_start,
                                               sim->stage->n_threads) +
                   noli_sim_armature_energy(sim, false);
  start->kappa = sim->stage->contact.kappa;
  if (sim->energy.stands && sim->energy.end.h_e == sim->stage->time.h_e) {
    start->energy = sim->energy.end.energy;
    start->magnitude = sim->energy.end.magnitude;
  } else {
    NOLI_TRY(deformation_energy(sim, false, &start->energy, &start->magnitude));
  }
  sim->energy.end.stage = NULL;
  NOLI_TRY(energy_check_contact_energy(sim, &start->contact));
  start->contact += noli_sim_stored_in_slips(sim, false) + noli_sim_stored_in_joints(sim, false);
  start->energy += kinetic;
  start->magnitude += kinetic;
done:
  return status;
}

// The work of prescribed motion is accurate to first order only; with velocities that are carried
// over the large margin applies.
static double margin_of(const NoliSim* sim) {
  const NoliPrescribed* prescribed = &sim->stage->prescribed;
  bool loose =
      noli_integrator_needs_before(sim->attempt.rule) || noli_stage_constraints(sim->stage) != NULL;
  return noli_integrator_needs_force(sim->attempt.rule) ||
                 (loose && !noli_prescribed_moves(prescribed))
             ? SMALL_MARGIN
             : MARGIN;
}

NoliStatus noli_sim_may_begin_with_barrier(NoliSim* sim, bool* may) {
  NoliStatus status = NOLI_OK;
  *may = true;
  if (sim->stage->time.inertia) {
    double stored;
    NOLI_TRY(barrier_energy(sim->stage, &stored));
    *may = stored <= unresolved_energy(sim) + margin_of(sim) * sim->energy.start.magnitude;
  }
done:
  return status;
}

NoliStatus noli_sim_check_energy(NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = sim->stage;
  NoliEnergyCheck* start = &sim->energy.start;
  start->gain = 0.0;
  if (!stage->time.inertia) {
    return NOLI_OK;
  }
  double end, motion = 0.0, loads = work_of_loads(sim) + noli_sim_work_of_motors(sim);
  NOLI_TRY(deformation_energy(sim, stage->problem->solver.method->knows_energy,
                              &sim->energy.end.energy, &sim->energy.end.magnitude));
  sim->energy.end.h_e = stage->time.h_e;
  sim->energy.end.stage = stage;
  end = sim->energy.end.energy;
  end += noli_problem_kinetic_energy(&sim->model->problem, sim->vectors.v_next,
                                     sim->stage->n_threads) +
         noli_sim_armature_energy(sim, true);

  // a barrier that has become stiffer stores more
  double stiffer = start->kappa > 0.0 ? fmax(stage->contact.kappa / start->kappa, 1.0) : 1.0;
  double margin = margin_of(sim);
  double began = start->energy + stiffer * start->contact;
  double allowed =
      unresolved_energy(sim) + margin * (start->magnitude + stiffer * start->contact + fabs(loads));
  start->gain = fmax(sim->energy.gained + end - began - loads, 0.0);
  bool matters = start->gain > (sim->attempt.n_parts > 1 ? 0.0 : allowed);
  if (matters && stage->prescribed.n > 0) {
    NOLI_TRY(work_of_motion(sim, &motion));
    start->gain = fmax(start->gain - fmax(motion, 0.0), 0.0);
    allowed += margin * fabs(motion);
  }

  sim->attempt.gains = start->gain > allowed;
  NOLI_CHECK(sim->context, !sim->attempt.gains, NOLI_NOT_CONVERGED,
             "the step would end with %.3g J of motion and deformation: it began with %.3g J and "
             "received %.3g J",
             end, began, loads + motion);
done:
  return status;
}
