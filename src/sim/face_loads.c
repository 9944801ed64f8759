#include "sim/face_loads.h"

#include "math/vec3.h"

#include <string.h>

// ---- faces --------------------------------------------------------------------------------------

// Lists the marked faces of a body into tri (NULL: only counts).
static int32_t list_faces(const NoliModel* model, int32_t body, const uint8_t* marked,
                          int32_t* tri) {
  const NoliSurface* surface = model->problem.surface;
  bool planar = surface->planar[body];
  const int32_t* first = planar ? surface->edge_first : surface->tri_first;
  int32_t n = 0;
  for (int64_t i = first[body]; i < first[body + 1]; i++) {
    int32_t face[3] = {0, 0, NOLI_NULL_INDEX};
    if (planar) {
      face[0] = surface->edge[2 * i + (surface->reversed[i] ? 1 : 0)];
      face[1] = surface->edge[2 * i + (surface->reversed[i] ? 0 : 1)];
    } else {
      memcpy(face, &surface->tri[3 * i], sizeof face);
    }
    if (marked[face[0]] != 0 && marked[face[1]] != 0 && (planar || marked[face[2]] != 0)) {
      if (tri != NULL) {
        memcpy(&tri[3 * (int64_t)n], face, sizeof face);
      }
      n++;
    }
  }
  return n;
}

// Adds the faces of a force to those with a pressure.
static NoliStatus add_pressed(NoliModel* model, NoliForce* force) {
  NoliStatus status = NOLI_OK;
  NoliFaces* pressed = &model->problem.pressed;
  int32_t* all = NULL;
  force->pressed_first = pressed->n;
  NOLI_NEW(model->context, all, 3 * ((int64_t)pressed->n + force->faces.n));
  if (pressed->n > 0) {
    memcpy(all, pressed->tri, 3 * sizeof *all * (size_t)pressed->n);
  }
  memcpy(all + 3 * (int64_t)pressed->n, force->faces.tri, 3 * sizeof *all * (size_t)force->faces.n);
  noli_free(model->context, pressed->tri);
  pressed->tri = all;
  pressed->n += force->faces.n;
done:
  return status;
}

NoliStatus noli_face_loads_build(NoliModel* model, const NoliSimDef* sim_def, int32_t index) {
  NoliStatus status = NOLI_OK;
  const NoliForceDef* def = &sim_def->forces[index];
  NoliForce* force = &model->force[index];
  int32_t body = def->body;
  uint8_t* marked = NULL;
  const char *place = def->where != NULL ? def->where : "", *colon = def->where != NULL ? ": " : "";
  const NoliBlock* block = noli_problem_block(&model->problem, body);
  NOLI_CHECK(model->context, block == NULL || block->space == NULL, NOLI_ERROR_ARGUMENT,
             "%s%sforce %d, a %s: the elements of body \"%s\" are curved or of high order, and "
             "loads on their faces are not computed: use linear elements, or another kind of force",
             place, colon, (int)index, def->kind, model->name[body]);
  NOLI_NEW_ZERO(model->context, marked, model->problem.n_vert);
  for (int32_t i = 0; i < force->n_node; i++) {
    marked[force->node[i]] = 1;
  }
  force->thickness =
      model->problem.surface->planar[body] ? sim_def->bodies[body].plane_strain : 1.0;
  force->faces.n = list_faces(model, body, marked, NULL);
  NOLI_CHECK(model->context, force->faces.n > 0, NOLI_ERROR_ARGUMENT,
             "%s%sforce %d, a %s: body \"%s\" has no face with all its vertices among those given",
             place, colon, (int)index, def->kind, model->name[body]);
  NOLI_NEW(model->context, force->faces.tri, 3 * (int64_t)force->faces.n);
  (void)list_faces(model, body, marked, force->faces.tri);
  if (force->kind == NOLI_FORCE_PRESSURE) {
    NOLI_TRY(add_pressed(model, force));
  }
done:
  noli_free(model->context, marked);
  return status;
}

// ---- values -------------------------------------------------------------------------------------

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
    stage->pressure[force->pressed_first + i] = sum / size;
    noli_store3(&stage->pressure_origin[3 * (force->pressed_first + i)], origin);
  }
}

void noli_face_loads_collect(NoliSim* sim, const NoliForce* force, double* value, double* scratch) {
  const NoliModel* model = sim->model;
  NoliStage* stage = sim->stage;
  for (int64_t i = 0; i < force->n_node; i++) {
    double* own = value + 3 * (int64_t)force->node[i];
    noli_store3(own, noli_scale3(force->thickness, noli_load3(own)));
  }
  memset(scratch, 0, noli_sim_vector_bytes(sim));
  if (force->kind == NOLI_FORCE_TRACTION) {
    noli_faces_add_traction(&force->faces, model->problem.X, value, scratch);
  } else {
    set_pressure(sim, force, value);
    NoliPressure pressure = {.faces = &model->problem.pressed,
                             .value = stage->pressure,
                             .origin = stage->pressure_origin};
    noli_pressure_add_mantle(&pressure, force->pressed_first, force->pressed_first + force->faces.n,
                             sim->state.x, scratch);
  }
  noli_stage_act_on_nodes(stage, scratch);
  for (int64_t i = 0; i < 3 * (int64_t)model->problem.n_vert; i++) {
    stage->load[i] += scratch[i];
  }
}
