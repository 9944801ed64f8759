// Values of the connections of a run. noli/sim.h
#include "measure/connections.h"

#include "fem/loads/spring.h"
#include "measure/joints.h"

#include <string.h>

// The lagged numbers of the dampers of a type at the present state; empty without dampers.
static NoliStatus lag_now(const NoliSim* sim, const NoliConnections* connections, double** lagged) {
  NoliStatus status = NOLI_OK;
  const NoliConnectionDampers* dampers =
      connections->forces != NULL ? connections->forces->dampers : NULL;
  if (dampers != NULL) {
    NOLI_NEW(sim->context, *lagged, dampers->n_lagged * connections->n);
    dampers->lag(connections->data, sim->state.x, *lagged);
  }
done:
  return status;
}

// Those of joints follow from the balance of all bodies.
static NoliStatus joint_values(NoliSim* sim, double* value) {
  NoliStatus status = NOLI_OK;
  const NoliJointState* joints;
  int32_t n;
  NOLI_TRY(noli_sim_joints(sim, &joints, &n));
  for (int32_t i = 0; i < n; i++) {
    noli_joint_values(&joints[i], value + i * (int64_t)NOLI_JOINT_VALUES);
  }
done:
  return status;
}

NoliStatus noli_sim_connection_values(NoliSim* sim, int32_t kind, double** value) {
  NoliStatus status = NOLI_OK;
  const NoliConnectionType* type = noli_connection_list(kind)->type;
  int32_t n = noli_connection_count(kind, sim->definition.def);
  double* lagged = NULL;
  *value = NULL;
  NOLI_TRY(lag_now(sim, &sim->model->problem.connection[kind], &lagged));
  NOLI_NEW(sim->context, *value, n * (int64_t)type->n_value);
  if (kind == NOLI_CONNECTION_JOINT) {
    return joint_values(sim, *value);
  }
  for (int32_t i = 0; i < n; i++) {
    type->report(sim->model, i, lagged, sim->state.x, sim->state.v,
                 *value + i * (int64_t)type->n_value);
  }
done:
  noli_free(sim->context, lagged);
  return status;
}

// ---- springs ------------------------------------------------------------------------------------

NoliStatus noli_sim_springs(NoliSim* sim, const NoliSpringForce** springs, int32_t* n_springs) {
  NOLI_REQUIRE_READABLE(sim, sim != NULL && springs != NULL && n_springs != NULL);
  NoliStatus status = NOLI_OK;
  const NoliConnections* all = &sim->model->problem.connection[NOLI_CONNECTION_SPRING];
  double* values = NULL;
  NOLI_TRY(noli_sim_connection_values(sim, NOLI_CONNECTION_SPRING, &values));
  for (int32_t i = 0; i < sim->definition.def->n_springs; i++) {
    const NoliSpringDef* def = &sim->definition.def->springs[i];
    const double* value = values + 5 * (int64_t)i;
    sim->results.springs[i] = (NoliSpringForce){.body = def->body,
                                                .to = def->to,
                                                .n = (int32_t)(all->first[i + 1] - all->first[i]),
                                                .force = {value[0], value[1], value[2]},
                                                .length = value[3],
                                                .energy = value[4]};
  }
  *springs = sim->results.springs;
  *n_springs = sim->definition.def->n_springs;
done:
  noli_free(sim->context, values);
  return status;
}

NoliStatus noli_sim_spring_forces(NoliSim* sim, double* force) {
  NOLI_REQUIRE_READABLE(sim, sim != NULL && force != NULL);
  NoliStatus status = NOLI_OK;
  const NoliConnections* all = &sim->model->problem.connection[NOLI_CONNECTION_SPRING];
  double* axis = NULL;
  NOLI_TRY(lag_now(sim, all, &axis));
  memset(force, 0, noli_sim_vector_bytes(sim));
  for (int64_t s = 0; s < all->n; s++) {
    noli_spring_add(all->data, s,
                    noli_spring_force_on_first(all->data, s, axis, sim->state.x, sim->state.v),
                    force);
  }
done:
  noli_free(sim->context, axis);
  return status;
}
