#include "step/face_forces.h"

#include "math/vec3.h"

#include <string.h>

// The pressure of each face, the mean of its corners, and the origin of its potential: the mean of
// the corners of all faces at the start of the step.
static void set_pressure(const NoliSim* sim, const NoliForce* force, const double* value) {
  NoliStage* stage = sim->stage;
  NoliVec3 origin = {0};
  int64_t n = 0;
  for (int64_t i = 0; i < 3 * (int64_t)force->faces.n; i++) {
    if (force->faces.tri[i] != NOLI_NULL_INDEX) {
      origin = noli_add3(origin, noli_load3(sim->state.x + 3 * (int64_t)force->faces.tri[i]));
      n++;
    }
  }
  origin = noli_scale3(1.0 / (double)n, origin);
  for (int64_t i = 0; i < force->faces.n; i++) {
    const int32_t* tri = &force->faces.tri[3 * i];
    double sum = 0.0;
    int32_t size = tri[2] == NOLI_NULL_INDEX ? 2 : 3;
    for (int32_t k = 0; k < size; k++) {
      sum += value[3 * (int64_t)tri[k]];
    }
    stage->loads.pressure[force->pressed_first + i] = sum / size;
    noli_store3(&stage->loads.pressure_origin[3 * (force->pressed_first + i)], origin);
  }
}

// The same for curved faces, with the pressure at each node.
static void set_curved_pressure(const NoliSim* sim, const NoliForce* force, const double* value) {
  const NoliCurvedFaces* faces = &force->curved;
  NoliCurvedLoad* load = &sim->stage->loads.curved[force->pressed_first];
  NoliVec3 origin = {0};
  int64_t n = (int64_t)faces->n * faces->n_node;
  for (int64_t i = 0; i < n; i++) {
    int64_t node = faces->node[i];
    load->value[i] = value[3 * node];
    origin = noli_mul_add3(origin, 1.0 / (double)n, noli_load3(sim->state.x + 3 * node));
  }
  noli_store3(load->origin, origin);
}

// Adds the forces of a traction to `load`, or sets the pressure and adds the forces that its
// potential lacks.
static void collect_flat(NoliSim* sim, const NoliForce* force, const double* value, double* load) {
  const NoliModel* model = sim->model;
  NoliStage* stage = sim->stage;
  if (force->kind == NOLI_FORCE_TRACTION) {
    noli_faces_add_traction(&force->faces, model->problem.X, value, load);
    return;
  }
  set_pressure(sim, force, value);
  NoliPressure pressure = {.faces = &model->problem.pressed.flat,
                           .value = stage->loads.pressure,
                           .origin = stage->loads.pressure_origin};
  noli_pressure_add_mantle(&pressure, force->pressed_first, force->pressed_first + force->faces.n,
                           sim->state.x, load);
}

static void collect_curved(NoliSim* sim, const NoliForce* force, const double* value,
                           double* load) {
  if (force->kind == NOLI_FORCE_TRACTION) {
    noli_curved_faces_add_traction(&force->curved, value, load);
    return;
  }
  set_curved_pressure(sim, force, value);
  NoliCurvedPressure pressure = noli_stage_curved_pressure(sim->stage, force->pressed_first);
  noli_curved_pressure_add_mantle(&pressure, sim->state.x, load);
}

void noli_face_forces_collect(NoliSim* sim, const NoliForce* force, double* value,
                              double* scratch) {
  const NoliModel* model = sim->model;
  NoliStage* stage = sim->stage;
  for (int64_t i = 0; i < 3 * (int64_t)model->problem.n_vert; i++) {
    value[i] *= force->thickness;
  }
  memset(scratch, 0, noli_sim_vector_bytes(sim));
  if (force->curved.n > 0) {
    collect_curved(sim, force, value, scratch);
  } else {
    collect_flat(sim, force, value, scratch);
  }
  noli_stage_act_on_nodes(stage, scratch);
  for (int64_t i = 0; i < 3 * (int64_t)model->problem.n_vert; i++) {
    stage->loads.force[i] += scratch[i];
  }
}
