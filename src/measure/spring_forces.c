// Lengths, energies and forces of the springs of a run. noli/sim.h
#include "step/simulation.h"

#include "math/vec3.h"

#include <string.h>

// Force of spring and damper on the first end.
static NoliVec3 force_on_first(const NoliSim* sim, int64_t s, const double* axis) {
  const NoliSprings* springs = &sim->model->problem.springs;
  return noli_add3(noli_spring_force(springs, s, sim->state.x),
                   noli_spring_damping_force(springs, s, axis, sim->state.v));
}

static NoliStatus current_axes(const NoliSim* sim, double** axis) {
  NoliStatus status = NOLI_OK;
  const NoliSprings* springs = &sim->model->problem.springs;
  NOLI_NEW(sim->context, *axis, 3 * (int64_t)springs->n);
  noli_springs_axes(springs, sim->state.x, *axis);
done:
  return status;
}

NoliStatus noli_sim_springs(NoliSim* sim, const NoliSpringForce** springs, int32_t* n_springs) {
  NOLI_REQUIRE_READABLE(sim, sim != NULL && springs != NULL && n_springs != NULL);
  NoliStatus status = NOLI_OK;
  const NoliModel* model = sim->model;
  const NoliSprings* all = &model->problem.springs;
  double* axis = NULL;
  NOLI_TRY(current_axes(sim, &axis));
  for (int32_t i = 0; i < model->n_spring; i++) {
    const NoliSpringDef* def = &sim->definition.def->springs[i];
    NoliSpringForce sum = {.body = def->body, .to = def->to};
    NoliVec3 force = {0};
    for (int64_t s = model->spring_first[i]; s < model->spring_first[i + 1]; s++) {
      force = noli_add3(force, force_on_first(sim, s, axis));
      sum.length += noli_norm3(noli_spring_vector(all, s, sim->state.x));
      sum.energy += noli_spring_energy(all, s, sim->state.x);
      sum.n++;
    }
    noli_store3(sum.force, force);
    sum.length /= sum.n;
    sim->results.springs[i] = sum;
  }

  *springs = sim->results.springs;
  *n_springs = model->n_spring;
done:
  noli_free(sim->context, axis);
  return status;
}

NoliStatus noli_sim_spring_forces(NoliSim* sim, double* force) {
  NOLI_REQUIRE_READABLE(sim, sim != NULL && force != NULL);
  NoliStatus status = NOLI_OK;
  const NoliSprings* all = &sim->model->problem.springs;
  double* axis = NULL;
  NOLI_TRY(current_axes(sim, &axis));
  memset(force, 0, noli_sim_vector_bytes(sim));
  for (int64_t s = 0; s < all->n; s++) {
    noli_spring_add(all, s, force_on_first(sim, s, axis), force);
  }
done:
  noli_free(sim->context, axis);
  return status;
}
