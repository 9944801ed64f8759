// Parameters of shapes and of the start: positions of vertices at rest, at the start, and
// velocities.
#include "derive/parameters/parameter_type.h"

#include "define/body_proxy.h"
#include "derive/motion_derivatives.h"
#include "fem/derivatives/element_derivatives.h"
#include "math/vec3.h"
#include "mesh/curve.h"

#include <math.h>
#include <string.h>

// ---- what has derivatives -----------------------------------------------------------------------

// The motions of a body whose positions vary must be functions of them.
static NoliStatus require_smooth_motions(const NoliModel* model, const NoliParameter* def) {
  NoliStatus status = NOLI_OK;
  NoliMotionDerivatives derivatives = {0};
  for (int32_t m = 0; m < model->n_motion; m++) {
    double t0 = fmax(model->motion[m].def.t_begin, 0.0);
    if (model->motion[m].def.body == def->of) {
      NOLI_TRY(noli_motion_derivatives_set(model, m, t0, t0 + model->h, model->x0, &derivatives));
    }
  }
done:
  noli_motion_derivatives_free(model->context, &derivatives);
  return status;
}

static const char* rest_defect(const NoliSim* sim, const NoliParameter* def) {
  const NoliModel* model = sim->model;
  const NoliBodyDef* body = &sim->definition.def->bodies[def->of];
  if (noli_parameter_has_smooth_surfaces(model) && !(model->problem.contact.surface_radius > 0.0)) {
    return "has a smooth surface whose radius follows rest edges: set contact.radius";
  }
  if (noli_problem_is_convergent(&model->problem)) {
    return "has areas at rest that weight contact.convergent: its derivatives by shapes are not "
           "implemented, without \"convergent\" they are";
  }
  return body->proxy.balance ? "has densities that are fitted to its shape" : NULL;
}

static const char* shape_defect(const NoliSim* sim, const NoliParameter* def) {
  const NoliModel* model = sim->model;
  const NoliBlock* block = noli_problem_block(&model->problem, def->of);
  bool rest = def->kind == NOLI_PARAMETER_REST_POSITION;
  const char* shared = rest && block != NULL ? noli_parameter_share_defect(model, def->of) : NULL;
  if (shared != NULL) {
    return shared;
  }
  if (!rest && noli_parameter_has_potential(model) && model->problem.followers.n > 0 &&
      model->problem.contact.gcp.model.limit.count > 0) {
    return "is in a scene with ties or proxies, whose positions at the start limit the range of "
           "\"gcp\": use contact.act_at_rest, or a smaller contact.eps_target";
  }
  return rest ? rest_defect(sim, def) : NULL;
}

static NoliStatus prepare_shape(const NoliSim* sim, NoliParameter* def) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(require_smooth_motions(sim->model, def));
  NOLI_TRY(noli_rest_map_create(sim->model, def->of,
                                sim->definition.def->bodies[def->of].mesh->n_vert, &def->map));
done:
  return status;
}

static int32_t count_mesh_vertices(const NoliSim* sim, const NoliParameter* def) {
  return sim->definition.def->bodies[def->of].mesh->n_vert;
}

static int32_t count_vertices(const NoliSim* sim, const NoliParameter* def) {
  return sim->model->vert_first[def->of + 1] - sim->model->vert_first[def->of];
}

// ---- how inputs follow --------------------------------------------------------------------------

// Masses of the elements that have a vertex, by one component of its rest position.
static NoliStatus map_shape_masses(NoliParameters* self, const NoliModel* model,
                                   const NoliBlock* block, NoliBlockRange range, int32_t vertex,
                                   int32_t component) {
  NoliStatus status = NOLI_OK;
  for (int32_t e = range.begin; e < range.end; e++) {
    const int32_t* node = block->node + block->n_local * (int64_t)e;
    int32_t n = noli_parameter_element_nodes(block, e);
    for (int32_t k = 0; k < n; k++) {
      if (node[k] != vertex) {
        continue;
      }
      NoliVec3 gradient[4];
      double volume, derivative[3];
      noli_element_rest_gradients(block, e, model->problem.X, gradient, &volume);
      noli_store3(derivative, gradient[k]);
      if (block->n_angle > 0) {
        int32_t angle = block->first_angle + e;
        double change = model->problem.inertia.mass[angle] * derivative[component];
        NOLI_TRY(noli_parameter_add_mass(self, model, angle, change));
      }
      for (int32_t a = 0; a < n; a++) {
        NOLI_TRY(noli_parameter_add_mass(self, model, node[a],
                                         block->density[e] * volume / n * derivative[component]));
      }
    }
  }
done:
  return status;
}

// The barrier with open obstacles is as stiff as the potential between elements of the mean weight
// (solve/contact_gcp.c): in proportion to w^2 eps^(1 - n) in a space of dimension n.
static NoliStatus add_open_weight(NoliParameters* self, const NoliModel* model,
                                  const NoliGcpShapeDerivative* derivative, double by) {
  NoliStatus status = NOLI_OK;
  const NoliGcpProblem* gcp = &model->problem.contact.gcp;
  const NoliSurface* surface = model->problem.surface;
  if (gcp->has_open && derivative->input == NOLI_INPUT_WEIGHT &&
      derivative->index < surface->n_vert && !model->obstacle[surface->body[derivative->index]]) {
    NOLI_TRY(noli_parameter_add(self, NOLI_INPUT_CONTACT, NOLI_CONTACT_OPEN,
                                2.0 / (gcp->weight * (double)self->n_weighted) * by));
  }
done:
  return status;
}

static NoliStatus map_rest_volumes(NoliParameters* self, const NoliModel* model, int64_t at,
                                   double weight) {
  NoliStatus status = NOLI_OK;
  int64_t n = 3 * (int64_t)model->problem.n_vert;
  for (int64_t r = 0; r < model->problem.volumes.n_region; r++) {
    double derivative = self->volume_derivative[n * r + at];
    if (derivative != 0.0) {
      NOLI_TRY(noli_parameter_add(self, NOLI_INPUT_REGION,
                                  NOLI_REGION_NUMBERS * r + NOLI_REGION_REST, weight * derivative));
    }
  }
done:
  return status;
}

// The geometric contact potential, where a vertex moves at rest or at the start.
static NoliStatus map_potential(NoliParameters* self, const NoliModel* model, int32_t vertex,
                                int32_t component, bool rest, bool start, double weight) {
  NoliStatus status = NOLI_OK;
  const NoliGcpShape* shape = &self->shape;
  for (int64_t i = shape->first != NULL ? shape->first[vertex] : 0;
       shape->first != NULL && i < shape->first[vertex + 1]; i++) {
    const NoliGcpShapeDerivative* derivative = &shape->derivative[i];
    if (derivative->at_start ? start : rest) {
      NOLI_TRY(noli_parameter_add(self, derivative->input, derivative->index,
                                  weight * derivative->derivative[component]));
      NOLI_TRY(
          add_open_weight(self, model, derivative, weight * derivative->derivative[component]));
    }
  }
done:
  return status;
}

// The ties of a vertex that moves before the run.
static NoliStatus map_ties(NoliParameters* self, int32_t vertex, int32_t component, double weight) {
  NoliStatus status = NOLI_OK;
  const NoliTieDerivatives* ties = &self->ties;
  for (int64_t i = ties->n > 0 ? ties->first[vertex] : 0;
       ties->n > 0 && i < ties->first[vertex + 1]; i++) {
    double by[3];
    noli_store3(by, noli_tie_derivative_by(&ties->tie[ties->of[i]], vertex, component));
    for (int k = 0; k < 3; k++) {
      NOLI_TRY(
          noli_parameter_add(self, NOLI_INPUT_TIE, 3 * (int64_t)ties->of[i] + k, weight * by[k]));
    }
  }
done:
  return status;
}

// One component of the position of a vertex of the mesh, with all that moves with it.
static NoliStatus map_vertex(NoliParameters* self, const NoliSim* sim, const NoliParameter* def,
                             int32_t vertex, int32_t component) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = sim->model;
  const NoliBlock* block = noli_problem_block(&model->problem, def->of);
  const NoliRestMap* map = &def->map;
  bool rest = def->kind == NOLI_PARAMETER_REST_POSITION;
  bool starts = !rest || sim->definition.def->bodies[def->of].x0 == NULL;
  for (int64_t k = map->first[vertex]; k < map->first[vertex + 1]; k++) {
    int64_t at = 3 * (int64_t)map->point[k] + component;
    if (starts && map->point[k] < model->problem.n_node) {
      NOLI_TRY(noli_parameter_add(self, NOLI_INPUT_START, at, map->weight[k]));
    }
    if (starts) {
      NOLI_TRY(map_ties(self, map->point[k], component, map->weight[k]));
    }
    if (rest) {
      NOLI_TRY(noli_parameter_add(self, NOLI_INPUT_REST, at, map->weight[k]));
      NOLI_TRY(map_rest_volumes(self, model, at, map->weight[k]));
    }
    NOLI_TRY(map_potential(self, model, map->point[k], component, rest, starts, map->weight[k]));
  }

  if (rest) {
    NOLI_TRY(
        noli_parameter_add_share_shape(self, model->vert_first[def->of] + vertex, component, 1.0));
  }
  if (rest && block != NULL && block->n_consistent == 0 && def->scope == NOLI_SCOPE_VERTICES) {
    NOLI_TRY(map_shape_masses(self, model, block, model->problem.range[def->of],
                              model->vert_first[def->of] + vertex, component));
  }
done:
  return status;
}

static NoliStatus map_shape(NoliParameters* self, const NoliSim* sim, const NoliParameter* def,
                            int32_t point, int32_t component) {
  NoliStatus status = NOLI_OK;
  bool all = def->scope == NOLI_SCOPE_BODY;
  int32_t begin = all ? 0 : def->point[point], end = all ? def->map.n_vert : begin + 1;
  for (int32_t i = begin; i < end; i++) {
    NOLI_TRY(map_vertex(self, sim, def, i, component));
  }
done:
  return status;
}

static NoliStatus map_velocity(NoliParameters* self, const NoliSim* sim, const NoliParameter* def,
                               int32_t point, int32_t component) {
  NoliStatus status = NOLI_OK;
  bool all = def->scope == NOLI_SCOPE_BODY;
  int32_t first = sim->model->vert_first[def->of];
  int32_t begin = all ? 0 : def->point[point], end = all ? count_vertices(sim, def) : begin + 1;
  for (int32_t i = begin; i < end; i++) {
    NOLI_TRY(
        noli_parameter_add(self, NOLI_INPUT_VELOCITY, 3 * (int64_t)(first + i) + component, 1.0));
  }
done:
  return status;
}

// ---- other values -------------------------------------------------------------------------------

void noli_parameter_displace(const int32_t* point, int64_t n_point, bool each, const double* value,
                             double* x) {
  for (int64_t i = 0; i < n_point; i++) {
    for (int32_t k = 0; k < 3; k++) {
      x[3 * (point != NULL ? point[i] : i) + k] += value[each ? 3 * i + k : k];
    }
  }
}

// Adds the values to an array (n_vert x 3) of the body.
static void displace(const NoliParameter* def, const double* value, int32_t n_vert, double* x) {
  bool each = def->scope != NOLI_SCOPE_BODY;
  noli_parameter_displace(def->point, each ? def->n_point : n_vert, each, value, x);
}

void noli_parameter_add_velocity(const NoliParameter* def, const double* value, NoliSim* sim) {
  double* v = sim->own_model->v0 + 3 * (int64_t)sim->model->vert_first[def->of];
  displace(def, value, count_vertices(sim, def), v);
}

static NoliStatus apply_positions(NoliContext* context, const NoliParameter* def,
                                  const double* value, NoliOwnedDefinition* definition) {
  NoliStatus status = NOLI_OK;
  NoliBodyDef* body = noli_parameter_body(def, definition);
  NoliMesh* mesh = noli_owned_data(body->mesh);
  double* moved = NULL;
  if (def->kind == NOLI_PARAMETER_REST_POSITION) {
    NOLI_NEW_ZERO(context, moved, 3 * (int64_t)mesh->n_vert);
    displace(def, value, mesh->n_vert, moved);
    displace(def, value, mesh->n_vert, mesh->x);
    NOLI_TRY(noli_curve_follow(context, mesh, moved));
    noli_body_proxy_follow(body, moved);
    goto done;
  }
  NOLI_TRY(noli_array_reserve(context, &definition->memory, definition->memory.count + 1));
  double* x0 = noli_alloc(context, 3 * (int64_t)mesh->n_vert, sizeof *x0);
  NOLI_CHECK(context, x0 != NULL, NOLI_ERROR_MEMORY, "out of memory");
  definition->memory.data[definition->memory.count++] = x0;
  memcpy(x0, body->x0 != NULL ? body->x0 : mesh->x, 3 * sizeof *x0 * (size_t)mesh->n_vert);
  displace(def, value, mesh->n_vert, x0);
  body->x0 = x0;
done:
  noli_free(context, moved);
  return status;
}

const NoliParameterType noli_parameter_shape = {.of = NOLI_OF_BODY,
                                                .n_component = 3,
                                                .scope = NOLI_SCOPE_VERTICES,
                                                .free = true,
                                                .count = count_mesh_vertices,
                                                .defect = shape_defect,
                                                .prepare = prepare_shape,
                                                .map = map_shape,
                                                .apply = apply_positions};
const NoliParameterType noli_parameter_velocity = {.of = NOLI_OF_BODY,
                                                   .n_component = 3,
                                                   .scope = NOLI_SCOPE_VERTICES,
                                                   .free = true,
                                                   .count = count_vertices,
                                                   .map = map_velocity};
