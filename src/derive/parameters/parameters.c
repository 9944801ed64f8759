#include "derive/parameters/parameters.h"

#include "noli/extend.h"

#include "base/numbers.h"
#include "base/sort.h"
#include "define/choices.h"
#include "define/definition.h"
#include "derive/parameters/parameter_type.h"
#include "fem/derivatives/block_derivatives.h"
#include "step/rebuild.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const NoliNamed noli_parameter_kinds[NOLI_PARAMETER_KINDS] = {
    [NOLI_PARAMETER_YOUNG] = {"young", "Pa, Young's modulus of a body or of its elements."},
    [NOLI_PARAMETER_POISSON] = {"poisson", "Poisson's ratio of a body or of its elements."},
    [NOLI_PARAMETER_DENSITY] = {"density", "kg/m^3, of a body or of its elements."},
    [NOLI_PARAMETER_FRICTION] = {"friction", "Coefficient of a pair of entities."},
    [NOLI_PARAMETER_GRAVITY] = {"gravity", "m/s^2, three components."},
    [NOLI_PARAMETER_INITIAL_POSITION] = {"initial_position",
                                         "m, added to the positions at the start."},
    [NOLI_PARAMETER_INITIAL_VELOCITY] = {"initial_velocity",
                                         "m/s, added to the velocities at the start."},
    [NOLI_PARAMETER_REST_POSITION] = {"rest_position", "m, added to the rest shape."},
    [NOLI_PARAMETER_THICKNESS] = {"thickness", "m, of a shell."},
    [NOLI_PARAMETER_RADIUS] = {"radius", "m, of a rod."},
    [NOLI_PARAMETER_MOTION] = {"motion", "Factor of the displacements of a motion."},
    [NOLI_PARAMETER_MOTION_VELOCITY] = {"motion_velocity", "m/s, added to a motion."},
    [NOLI_PARAMETER_MOTION_SPIN] = {"motion_spin", "rad/s, turns a motion about its pivot."},
    [NOLI_PARAMETER_FORCE] = {"force", "Factor of a force."},
    [NOLI_PARAMETER_SPRING_STIFFNESS] = {"spring_stiffness", "N/m, of a spring."},
    [NOLI_PARAMETER_SPRING_LENGTH] = {"spring_length", "m, at which a spring has no force."},
    [NOLI_PARAMETER_SPRING_DAMPING] = {"spring_damping", "N s/m, of a spring."},
    [NOLI_PARAMETER_VOLUME_PRESSURE] = {"volume_pressure",
                                        "Pa, of the closed volume of a body, at rest."},
    [NOLI_PARAMETER_VOLUME_COMPRESSION] = {"volume_compression",
                                           "1/Pa, of the closed volume of a body."},
    [NOLI_PARAMETER_CONTACT_DISTANCE] = {"contact_distance",
                                         "m, below which the barrier of contact acts."},
    [NOLI_PARAMETER_CONTACT_STIFFNESS] = {"contact_stiffness", "Pa/m, of the barrier."},
    [NOLI_PARAMETER_CONTACT_OFFSET] = {"contact_offset", "m, of a body or half-space."},
    [NOLI_PARAMETER_STICK_LENGTH] = {"stick_length",
                                     "m, elastic slip at which contacts that stick slide."},
    [NOLI_PARAMETER_YIELD] = {"yield", "Pa, yield stress of a body."},
    [NOLI_PARAMETER_HARDENING] = {"hardening", "Pa, its linear growth with the plastic strain."},
    [NOLI_PARAMETER_SATURATION] = {"saturation", "Pa, its growth that ends."},
    [NOLI_PARAMETER_SATURATION_RATE] = {"saturation_rate", "By which it ends."},
    [NOLI_PARAMETER_C10] = {"c10", "Pa, of a body of the law mooney_rivlin."},
    [NOLI_PARAMETER_C01] = {"c01", "Pa, of a body of the law mooney_rivlin."},
    [NOLI_PARAMETER_OGDEN_MU] = {"ogden_mu", "Pa, of the terms of the law ogden of a body."},
    [NOLI_PARAMETER_OGDEN_ALPHA] = {"ogden_alpha", "Exponents of these terms."},
    [NOLI_PARAMETER_FIBRE_K1] = {"fibre_k1", "Pa, of the fibres of a body or of its elements."},
    [NOLI_PARAMETER_FIBRE_K2] = {"fibre_k2",
                                 "Growth of the stiffness of fibres of a body or its elements."},
    [NOLI_PARAMETER_PRONY_G] = {"prony_g", "Shares of the terms of the Prony series of a body."},
    [NOLI_PARAMETER_PRONY_TAU] = {"prony_tau", "s, times of these terms."},
};
const NoliNames noli_parameter_names = {"parameter", NULL, noli_parameter_kinds,
                                        NOLI_PARAMETER_KINDS};

static const NoliParameterType* const types[NOLI_PARAMETER_KINDS] = {
    [NOLI_PARAMETER_YOUNG] = &noli_parameter_material,
    [NOLI_PARAMETER_POISSON] = &noli_parameter_material,
    [NOLI_PARAMETER_DENSITY] = &noli_parameter_material,
    [NOLI_PARAMETER_FRICTION] = &noli_parameter_friction,
    [NOLI_PARAMETER_GRAVITY] = &noli_parameter_gravity,
    [NOLI_PARAMETER_INITIAL_POSITION] = &noli_parameter_shape,
    [NOLI_PARAMETER_INITIAL_VELOCITY] = &noli_parameter_velocity,
    [NOLI_PARAMETER_REST_POSITION] = &noli_parameter_shape,
    [NOLI_PARAMETER_THICKNESS] = &noli_parameter_section,
    [NOLI_PARAMETER_RADIUS] = &noli_parameter_section,
    [NOLI_PARAMETER_MOTION] = &noli_parameter_motion,
    [NOLI_PARAMETER_MOTION_VELOCITY] = &noli_parameter_motion_rate,
    [NOLI_PARAMETER_MOTION_SPIN] = &noli_parameter_motion_rate,
    [NOLI_PARAMETER_FORCE] = &noli_parameter_force,
    [NOLI_PARAMETER_SPRING_STIFFNESS] = &noli_parameter_spring,
    [NOLI_PARAMETER_SPRING_LENGTH] = &noli_parameter_spring,
    [NOLI_PARAMETER_SPRING_DAMPING] = &noli_parameter_spring,
    [NOLI_PARAMETER_VOLUME_PRESSURE] = &noli_parameter_volume,
    [NOLI_PARAMETER_VOLUME_COMPRESSION] = &noli_parameter_volume,
    [NOLI_PARAMETER_CONTACT_DISTANCE] = &noli_parameter_contact,
    [NOLI_PARAMETER_CONTACT_STIFFNESS] = &noli_parameter_contact,
    [NOLI_PARAMETER_CONTACT_OFFSET] = &noli_parameter_offset,
    [NOLI_PARAMETER_STICK_LENGTH] = &noli_parameter_stick_length,
    [NOLI_PARAMETER_YIELD] = &noli_parameter_law,
    [NOLI_PARAMETER_HARDENING] = &noli_parameter_law,
    [NOLI_PARAMETER_SATURATION] = &noli_parameter_law,
    [NOLI_PARAMETER_SATURATION_RATE] = &noli_parameter_law,
    [NOLI_PARAMETER_C10] = &noli_parameter_law,
    [NOLI_PARAMETER_C01] = &noli_parameter_law,
    [NOLI_PARAMETER_OGDEN_MU] = &noli_parameter_series,
    [NOLI_PARAMETER_OGDEN_ALPHA] = &noli_parameter_series,
    [NOLI_PARAMETER_FIBRE_K1] = &noli_parameter_fibre,
    [NOLI_PARAMETER_FIBRE_K2] = &noli_parameter_fibre,
    [NOLI_PARAMETER_PRONY_G] = &noli_parameter_series,
    [NOLI_PARAMETER_PRONY_TAU] = &noli_parameter_series,
};

const NoliNamed noli_parameter_scopes[NOLI_SCOPES] = {
    [NOLI_SCOPE_BODY] = {"body", "One value for all of the body."},
    [NOLI_SCOPE_ELEMENTS] = {"elements", "A value for each element."},
    [NOLI_SCOPE_VERTICES] = {"vertices", "Values for each vertex."},
    [NOLI_SCOPE_TERMS] = {"terms", "A value for each term of a series, of which these are."},
};
const NoliNames noli_parameter_scope_names = {"scope of parameters", NULL, noli_parameter_scopes,
                                              NOLI_SCOPES};

NoliParameterDef noli_default_parameter_def(void) {
  return (NoliParameterDef){0};
}

int32_t noli_parameter_components(NoliParameterKind kind) {
  return types[kind]->n_component;
}

int32_t noli_parameter_points(const NoliParameter* def) {
  return def->scope == NOLI_SCOPE_BODY ? 1 : def->n_point;
}

// ---- what a definition says ---------------------------------------------------------------------

// Which words a definition has for its kind.
static NoliStatus take_words(NoliContext* context, const NoliParameterDef* def, const char* where,
                             NoliParameter* made) {
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(context, def->kind != NULL, NOLI_ERROR_ARGUMENT, "%sno kind is given", where);
  NOLI_TRY(noli_names_require(context, where, &noli_parameter_names, def->kind));
  NOLI_TRY(noli_names_require(context, where, &noli_parameter_scope_names, def->scope));
  made->kind = (NoliParameterKind)noli_names_find(&noli_parameter_names, def->kind);
  made->type = types[made->kind];
  bool of_terms = made->type->scope == NOLI_SCOPE_TERMS;
  made->scope = def->scope != NULL
                    ? (NoliParameterScope)noli_names_find(&noli_parameter_scope_names, def->scope)
                : of_terms ? NOLI_SCOPE_TERMS
                           : NOLI_SCOPE_BODY;
  bool whole = made->scope == NOLI_SCOPE_BODY && !of_terms;
  NOLI_CHECK(context, whole || made->scope == made->type->scope, NOLI_ERROR_ARGUMENT,
             "%s\"%s\" has no scope \"%s\"", where, def->kind, def->scope);
done:
  return status;
}

static NoliStatus parameters_find_entity(const NoliSim* sim, const char* what, const char* name,
                                         const char* where, int32_t limit, int32_t* found) {
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(sim->context, name != NULL, NOLI_ERROR_ARGUMENT, "%sno %s is given", where, what);
  *found = noli_sim_find_entity(sim, name);
  bool known = *found != NOLI_NULL_INDEX && *found < limit;
  const char* nearest =
      known ? NULL : noli_nearest(name, (const char* const*)sim->model->name, limit);
  NOLI_CHECK(sim->context, known || nearest == NULL, NOLI_ERROR_ARGUMENT,
             "%sthere is no %s \"%s\"; did you mean \"%s\"?", where, what, name, nearest);
  NOLI_CHECK(sim->context, known, NOLI_ERROR_ARGUMENT, "%sthere is no %s \"%s\"", where, what,
             name);
done:
  return status;
}

// A force, motion or spring by its name.
static NoliStatus find_named(const NoliSim* sim, const NoliParameterDef* def, const char* where,
                             const char* what, int32_t (*find)(const NoliSim*, const char*),
                             int32_t* found) {
  NoliStatus status = NOLI_OK;
  *found = def->of != NULL ? find(sim, def->of) : NOLI_NULL_INDEX;
  NOLI_CHECK(sim->context, *found != NOLI_NULL_INDEX, NOLI_ERROR_ARGUMENT,
             "%sthere is no %s \"%s\"", where, what, def->of != NULL ? def->of : "");
done:
  return status;
}

static NoliStatus take_part(const NoliSim* sim, const char* where, NoliParameter* made) {
  NoliStatus status = NOLI_OK;
  const NoliBodyDef* body = &sim->definition.def->bodies[made->of];
  NOLI_CHECK(sim->context, made->part >= 0 && made->part <= body->n_parts, NOLI_ERROR_ARGUMENT,
             "%sbody \"%s\" has no part %d, it has %d", where, sim->model->name[made->of],
             (int)made->part - 1, (int)body->n_parts);
  NOLI_CHECK(sim->context, made->part == 0 || made->scope != NOLI_SCOPE_ELEMENTS,
             NOLI_ERROR_ARGUMENT, "%sthe scope \"elements\" is of all parts: leave the part out",
             where);
  if (!body->obstacle) {
    NOLI_TRY(noli_material_regions_find(sim->context, body, &made->regions));
  }
done:
  return status;
}

static NoliStatus take_place(const NoliSim* sim, const NoliParameterDef* def, const char* where,
                             NoliParameter* made) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = sim->model;
  made->with = NOLI_NULL_INDEX;
  made->part = def->part;
  NOLI_CHECK(sim->context, made->type->material || def->part == 0, NOLI_ERROR_ARGUMENT,
             "%s\"%s\" is of no material, and of no part", where, def->kind);

  switch (made->type->of) {
  case NOLI_OF_BODY:
    NOLI_TRY(parameters_find_entity(sim, "body", def->of, where, model->n_body, &made->of));
    return made->type->material ? take_part(sim, where, made) : NOLI_OK;
  case NOLI_OF_ENTITY:
    return parameters_find_entity(sim, "entity", def->of, where, model->n_entity, &made->of);
  case NOLI_OF_PAIR:
    if (def->of != NULL || def->with != NULL) {
      NOLI_TRY(parameters_find_entity(sim, "entity", def->of, where, model->n_entity, &made->of));
      NOLI_TRY(parameters_find_entity(sim, "other entity", def->with, where, model->n_entity,
                                      &made->with));
    }
    break;
  case NOLI_OF_FORCE:
    return find_named(sim, def, where, "force", noli_sim_find_force, &made->of);
  case NOLI_OF_MOTION:
    return find_named(sim, def, where, "motion", noli_sim_find_motion, &made->of);
  case NOLI_OF_SPRING:
    return find_named(sim, def, where, "spring", noli_sim_find_spring, &made->of);
  default:
    break;
  }
done:
  return status;
}

static NoliStatus parameters_take_points(const NoliSim* sim, const NoliParameterDef* def,
                                         const char* where, NoliParameter* made) {
  NoliStatus status = NOLI_OK;
  if (made->scope == NOLI_SCOPE_BODY) {
    return NOLI_OK;
  }
  bool elements = made->scope == NOLI_SCOPE_ELEMENTS;
  int32_t n_all = elements ? made->regions.n_element : made->type->count(sim, made);
  made->n_point = def->index != NULL ? def->n_index : n_all;
  NOLI_NEW(sim->context, made->point, made->n_point);
  for (int32_t i = 0; i < made->n_point; i++) {
    made->point[i] = def->index != NULL ? def->index[i] : i;
    NOLI_CHECK(sim->context, made->point[i] >= 0 && made->point[i] < n_all, NOLI_ERROR_ARGUMENT,
               "%sbody \"%s\" has no %s %d", where, sim->model->name[made->of],
               elements                          ? "element"
               : made->scope == NOLI_SCOPE_TERMS ? "term"
                                                 : "vertex",
               (int)made->point[i]);
  }
done:
  return status;
}

static NoliStatus parameters_take(NoliParameters* self, const NoliSim* sim,
                                  const NoliParameterDef* def, const char* where,
                                  NoliParameter* made) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(take_words(sim->context, def, where, made));
  NOLI_TRY(take_place(sim, def, where, made));
  NOLI_TRY(parameters_take_points(sim, def, where, made));
  const char* defect = made->type->defect != NULL ? made->type->defect(sim, made) : NULL;
  const char* what = made->type->of == NOLI_OF_BODY     ? "body"
                     : made->type->of == NOLI_OF_SPRING ? "spring"
                     : made->type->of == NOLI_OF_MOTION ? "motion"
                                                        : NULL;
  NOLI_CHECK(sim->context, defect == NULL || what == NULL, NOLI_ERROR_ARGUMENT,
             "%s\"%s\": %s \"%s\" %s", where, def->kind, what, def->of, defect);
  NOLI_CHECK(sim->context, defect == NULL, NOLI_ERROR_ARGUMENT, "%s\"%s\": %s", where, def->kind,
             defect);
  if (made->type->prepare != NULL) {
    NOLI_TRY(made->type->prepare(sim, made));
  }
  made->class_of_pairs = made->kind == NOLI_PARAMETER_FRICTION ? self->n_class++ : NOLI_NULL_INDEX;
  made->first = self->n;
  self->n += (int64_t)made->type->n_component * noli_parameter_points(made);
done:
  return status;
}

// ---- what types share ---------------------------------------------------------------------------

NoliStatus noli_parameter_add(NoliParameters* self, NoliInput input, int64_t index, double factor) {
  NoliStatus status = NOLI_OK;
  NoliParameterEntry entry = {input, index, factor};
  NOLI_PUSH(self->context, &self->entry, entry);
  self->wanted |= 1u << input;
done:
  return status;
}

// The shares of total forces: as masses grow by dm, that of each node by F dm_i / M, which its mass
// does, and all of them by -F m_i / M^2 times the sum of dm, which is a factor of the force.
static NoliStatus add_shares(NoliParameters* self, const NoliModel* model, int64_t vertex,
                             double factor) {
  NoliStatus status = NOLI_OK;
  for (int32_t f = 0; f < model->n_force; f++) {
    int32_t count = self->shares[f].count != NULL ? self->shares[f].count[vertex] : 0;
    if (count > 0) {
      NOLI_TRY(noli_parameter_add(self, NOLI_INPUT_FORCE, f,
                                  -factor * count / model->force[f].total_mass));
    }
  }
done:
  return status;
}

// A mass and its weight.
NoliStatus noli_parameter_add_mass(NoliParameters* self, const NoliModel* model, int64_t vertex,
                                   double factor) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_parameter_add(self, NOLI_INPUT_MASS, vertex, factor));
  for (int32_t k = 0; k < 3 && model->problem.inertia.weight[vertex] != 0.0;
       k++) { // angles have none
    NOLI_TRY(noli_parameter_add(self, NOLI_INPUT_LOAD, 3 * vertex + k, factor * model->gravity[k]));
  }
  NOLI_TRY(add_shares(self, model, vertex, factor));
done:
  return status;
}

// The shares of forces follow the masses of vertices, the diagonal of a consistent mass.
NoliStatus noli_parameter_add_density(NoliParameters* self, const NoliModel* model, int32_t body,
                                      int32_t element, double factor) {
  NoliStatus status = NOLI_OK;
  int64_t first = noli_input_elements(&model->problem, model->problem.range[body].block);
  NOLI_TRY(noli_parameter_add(self, NOLI_INPUT_DENSITY, first + element, factor));
  for (int32_t f = 0; f < model->n_force; f++) {
    const double* by = self->shares[f].by_density;
    if (model->force[f].def.body == body && by != NULL && by[element] != 0.0) {
      NOLI_TRY(noli_parameter_add(self, NOLI_INPUT_FORCE, f, -factor * by[element]));
    }
  }
done:
  return status;
}

NoliStatus noli_parameter_add_share_shape(NoliParameters* self, int32_t vertex, int32_t component,
                                          double factor) {
  NoliStatus status = NOLI_OK;
  for (int32_t f = 0; f < self->n_force; f++) {
    const double* by = self->shares[f].by_rest;
    int64_t at = 3 * (int64_t)vertex + component;
    if (by != NULL && by[at] != 0.0) {
      NOLI_TRY(noli_parameter_add(self, NOLI_INPUT_FORCE, f, -factor * by[at]));
    }
  }
done:
  return status;
}

int32_t noli_parameter_element_nodes(const NoliBlock* block, int32_t element) {
  int32_t n = 0;
  while (n < block->n_local && block->node[(int64_t)block->n_local * element + n] >= 0) {
    n++;
  }
  return n;
}

const char* noli_parameter_share_defect(const NoliModel* model, int32_t body) {
  const NoliProblem* problem = &model->problem;
  bool has = false;
  for (int32_t f = 0; f < model->n_force; f++) {
    const NoliForce* force = &model->force[f];
    bool shared = force->kind == NOLI_FORCE_TOTAL && force->def.body == body;
    int32_t n = shared ? force->n_node : 0;
    for (int32_t i = 0; i < n && !has; i++) {
      // nodes with a mass are in ascending order
      has = noli_find_sorted(&force->node[i], problem->inertia.vert, problem->inertia.n_vert,
                             sizeof *problem->inertia.vert, noli_compare_int32) == NULL;
    }
  }
  return has ? "has a total force on vertices that no element has, whose share is that of a mean "
               "mass: select others"
             : NULL;
}

// Whether the geometric contact potential acts, whose range has the name eps_target.
bool noli_parameter_has_potential(const NoliModel* model) {
  return model->problem.contact.model == &noli_contact_gcp;
}

bool noli_parameter_has_smooth_surfaces(const NoliModel* model) {
  return model->problem.contact.model == &noli_contact_implicit_surface;
}

NoliBodyDef* noli_parameter_body(const NoliParameter* def, NoliOwnedDefinition* definition) {
  return &definition->bodies[def->of];
}

// ---- how inputs follow --------------------------------------------------------------------------

static NoliStatus map_all(NoliParameters* self, const NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  for (int32_t d = 0; d < self->n_def; d++) {
    const NoliParameter* def = &self->def[d];
    for (int32_t i = 0; i < noli_parameter_points(def); i++) {
      for (int32_t k = 0; k < def->type->n_component; k++) {
        self->first_entry[def->first + (int64_t)def->type->n_component * i + k] = self->entry.count;
        NOLI_TRY(def->type->map(self, sim, def, i, k));
      }
    }
  }
  self->first_entry[self->n] = self->entry.count;
done:
  return status;
}

void noli_parameters_tangent(const NoliParameters* self, int64_t index, NoliInputs* change) {
  for (int64_t e = self->first_entry[index]; e < self->first_entry[index + 1]; e++) {
    const NoliParameterEntry* entry = &self->entry.data[e];
    change->value[entry->input][entry->index] += entry->factor;
  }
}

void noli_parameters_adjoint(const NoliParameters* self, const NoliInputs* from, double* d_p) {
  for (int64_t j = 0; j < self->n; j++) {
    for (int64_t e = self->first_entry[j]; e < self->first_entry[j + 1]; e++) {
      const NoliParameterEntry* entry = &self->entry.data[e];
      const double* value = from->value[entry->input];
      d_p[j] += value != NULL ? entry->factor * value[entry->index] : 0.0;
    }
  }
}

NoliParameterLengths noli_parameters_lengths(const NoliParameters* self) {
  return (NoliParameterLengths){self->size, self->source.def->contact_distance.value};
}

unsigned noli_parameters_wanted(const NoliParameters* self) {
  return self->wanted;
}

bool noli_parameters_vary_rest(const NoliParameters* parameters, int32_t body) {
  bool vary = false;
  for (int32_t i = 0; i < parameters->n_def; i++) {
    const NoliParameter* def = &parameters->def[i];
    vary = vary || (def->kind == NOLI_PARAMETER_REST_POSITION && def->of == body);
  }
  return vary;
}

// ---- pairs --------------------------------------------------------------------------------------

static int32_t find_class(const void* user, int32_t a, int32_t b) {
  const NoliParameters* self = user;
  int32_t general = NOLI_NULL_INDEX;
  for (int32_t d = 0; d < self->n_def; d++) {
    const NoliParameter* def = &self->def[d];
    if (def->kind != NOLI_PARAMETER_FRICTION) {
      continue;
    }
    if (def->with == NOLI_NULL_INDEX) {
      general = def->class_of_pairs;
    } else if ((def->of == a && def->with == b) || (def->of == b && def->with == a)) {
      return def->class_of_pairs;
    }
  }
  return noli_definition_find_pair(self->source.def, a, b) == NULL ? general : NOLI_NULL_INDEX;
}

NoliPairClasses noli_parameters_classes(const NoliParameters* self) {
  return (NoliPairClasses){find_class, self};
}

int32_t noli_parameters_class_count(const NoliParameters* self) {
  return self->n_class;
}

// ---- making -------------------------------------------------------------------------------------

// Sums what the elements of a consistent mass add to the measures of the vertices of a force.
static NoliStatus sum_measures(NoliContext* context, const NoliModel* model, const NoliForce* force,
                               NoliForceShares* shares) {
  NoliStatus status = NOLI_OK;
  const NoliBlock* block = noli_problem_block(&model->problem, force->def.body);
  int64_t n = (int64_t)block->n_element * block->n_local;
  double *share = NULL, *derivative = NULL;
  NOLI_NEW(context, share, n);
  NOLI_NEW(context, derivative, 12 * n);
  NOLI_TRY(noli_derivatives_of(block)->measure_shares(block, share, derivative));
  NOLI_NEW_ZERO(context, shares->by_density, block->n_element);
  NOLI_NEW_ZERO(context, shares->by_rest, 3 * (int64_t)model->problem.n_vert);
  for (int64_t k = 0; k < n; k++) {
    int64_t e = k / block->n_local;
    const int32_t* corner = block->node + e * block->n_local;
    double part = shares->count[block->node[k]] / force->total_mass;
    shares->by_density[e] += part * share[k] / block->density[e];
    for (int i = 0; i < 12; i++) {
      shares->by_rest[3 * (int64_t)corner[i / 3] + i % 3] += part * derivative[12 * k + i];
    }
  }
done:
  noli_free(context, share);
  noli_free(context, derivative);
  return status;
}

static bool varies(const NoliParameters* self, NoliParameterKind kind) {
  bool has = false;
  for (int32_t d = 0; d < self->n_def; d++) {
    has = has || self->def[d].kind == kind;
  }
  return has;
}

// The vertices that share total forces, and how.
static NoliStatus find_shares(NoliParameters* self, const NoliModel* model) {
  NoliStatus status = NOLI_OK;
  bool masses = varies(self, NOLI_PARAMETER_DENSITY) || varies(self, NOLI_PARAMETER_REST_POSITION);
  self->n_force = model->n_force;
  NOLI_NEW_ZERO(self->context, self->shares, model->n_force);
  for (int32_t f = 0; f < model->n_force; f++) {
    const NoliForce* force = &model->force[f];
    const NoliBlock* block = noli_problem_block(&model->problem, force->def.body);
    NoliForceShares* shares = &self->shares[f];
    if (force->kind != NOLI_FORCE_TOTAL) {
      continue;
    }
    NOLI_NEW_ZERO(self->context, shares->count, model->problem.n_vert);
    for (int32_t i = 0; i < force->n_node; i++) {
      shares->count[force->node[i]]++;
    }
    if (masses && block != NULL && block->n_consistent > 0) {
      NOLI_TRY(sum_measures(self->context, model, force, shares));
    }
  }
done:
  return status;
}

// Proxies of bodies whose shapes vary keep their weights.
static NoliStatus settle_proxies(NoliParameters* self) {
  NoliStatus status = NOLI_OK;
  for (int32_t i = 0; i < self->n_def; i++) {
    if (self->def[i].kind == NOLI_PARAMETER_REST_POSITION) {
      NOLI_TRY(noli_owned_definition_settle_proxy(self->context, &self->source, self->def[i].of));
    }
  }
done:
  return status;
}

// The vertices of deformable bodies with a weight.
static int64_t count_weighted(const NoliModel* model) {
  const NoliGcpModel* gcp = &model->problem.contact.gcp.model;
  int64_t n = 0;
  for (int32_t v = 0; v < gcp->surface->n_vert; v++) {
    n += !model->obstacle[gcp->surface->body[v]] && gcp->vert_weight[v] > 0.0;
  }
  return n;
}

NoliStatus noli_parameters_create(NoliSim* sim, const NoliParameterDef* defs, int32_t n_defs,
                                  NoliParameters** out) {
  return noli_parameters_create_in(sim, "parameters", defs, n_defs, out);
}

NoliStatus noli_parameters_create_in(NoliSim* sim, const char* list, const NoliParameterDef* defs,
                                     int32_t n_defs, NoliParameters** out) {
  NOLI_REQUIRE_READABLE(sim, sim != NULL && out != NULL && n_defs > 0 && defs != NULL);
  NoliStatus status = NOLI_OK;
  NoliParameters* self = NULL;
  *out = NULL;
  NOLI_NEW_ZERO(sim->context, self, 1);
  self->context = sim->context;
  self->n_def = n_defs;
  NOLI_NEW_ZERO(sim->context, self->def, n_defs);
  for (int32_t i = 0; i < n_defs; i++) {
    char where[64];
    snprintf(where, sizeof where, "%s[%d]: ", list, (int)i);
    NOLI_TRY(noli_numbers_check(sim->context, where, NOLI_NUMBERS_PARAMETER, &defs[i]));
    NOLI_TRY(parameters_take(self, sim, &defs[i], where, &self->def[i]));
  }

  NOLI_TRY(noli_owned_definition_copy(sim->context, sim->definition.def, &self->source));
  noli_sim_fix_lengths(sim, &self->source);
  NOLI_TRY(settle_proxies(self));
  self->size = sim->model->problem.size;
  NOLI_NEW_ZERO(sim->context, self->value, self->n);
  NOLI_NEW_ZERO(sim->context, self->first_entry, self->n + 1);
  const NoliProblem* problem = &sim->model->problem;
  int64_t n_x = 3 * (int64_t)problem->n_vert;
  NOLI_NEW_ZERO(sim->context, self->volume_derivative, problem->volumes.n_region * n_x);
  for (int32_t r = 0; r < problem->volumes.n_region; r++) {
    noli_volume_add_gradient(&problem->volumes, r, problem->X, self->volume_derivative + n_x * r);
  }
  NOLI_NEW(sim->context, self->velocity, n_x);
  memcpy(self->velocity, sim->model->v0, noli_sim_vector_bytes(sim));
  for (int32_t i = 0; i < n_defs; i++) {
    if (self->def[i].type->read != NULL) {
      self->def[i].type->read(sim, &self->def[i], self->value + self->def[i].first);
    }
  }

  NOLI_TRY(find_shares(self, sim->model));
  NOLI_TRY(noli_tie_derivatives_create(sim->model, &self->ties));
  if (noli_parameter_has_potential(sim->model)) {
    NOLI_TRY(noli_gcp_shape_create(sim->context, &sim->model->problem.contact.gcp.model,
                                   sim->model->problem.X, &self->shape));
    self->n_weighted = count_weighted(sim->model);
  }

  NOLI_TRY(map_all(self, sim));
done:
  if (status != NOLI_OK) {
    noli_parameters_destroy(&self);
  }
  *out = self;
  return status;
}

void noli_parameters_destroy(NoliParameters** owner) {
  NoliParameters* self = owner != NULL ? *owner : NULL;
  if (self == NULL) {
    return;
  }
  for (int32_t i = 0; self->def != NULL && i < self->n_def; i++) {
    noli_free(self->context, self->def[i].point);
    noli_material_regions_free(self->context, &self->def[i].regions);
    noli_rest_map_free(self->context, &self->def[i].map);
  }

  for (int32_t f = 0; self->shares != NULL && f < self->n_force; f++) {
    noli_free(self->context, self->shares[f].count);
    noli_free(self->context, self->shares[f].by_density);
    noli_free(self->context, self->shares[f].by_rest);
  }

  noli_free(self->context, self->shares);
  noli_owned_definition_free(self->context, &self->source);
  noli_array_free(self->context, &self->entry);
  noli_gcp_shape_free(self->context, &self->shape);
  noli_tie_derivatives_free(self->context, &self->ties);
  noli_free(self->context, self->def);
  noli_free(self->context, self->value);
  noli_free(self->context, self->velocity);
  noli_free(self->context, self->volume_derivative);
  noli_free(self->context, self->first_entry);
  noli_free(self->context, self);
  *owner = NULL;
}

int64_t noli_parameters_count(const NoliParameters* self) {
  return self != NULL ? self->n : 0;
}

int64_t noli_parameters_first(const NoliParameters* self, int32_t index) {
  bool within = self != NULL && index >= 0 && index < self->n_def;
  return within ? self->def[index].first : noli_parameters_count(self);
}

void noli_parameters_values(const NoliParameters* self, double* values) {
  if (self != NULL && values != NULL) {
    memcpy(values, self->value, (size_t)self->n * sizeof *values);
  }
}

// ---- other values -------------------------------------------------------------------------------

NoliStatus noli_parameters_check(const NoliParameters* self, int32_t index, const double* values) {
  NoliStatus status = NOLI_OK;
  NoliOwnedDefinition definition = {0};
  const NoliParameter* def = &self->def[index];
  if (def->type->free) {
    return NOLI_OK;
  }
  NOLI_TRY(noli_owned_definition_copy(self->context, self->source.def, &definition));
  NOLI_TRY(def->type->apply(self->context, def, values, &definition));
  NOLI_TRY(noli_definition_check(self->context, definition.def));
done:
  noli_owned_definition_free(self->context, &definition);
  return status;
}

NoliStatus noli_parameters_define(const NoliParameters* self, const double* values,
                                  NoliContext* context, NoliOwnedDefinition* definition) {
  NoliStatus status = NOLI_OK;
  for (int64_t i = 0; i < self->n; i++) {
    NOLI_CHECK(context, isfinite(values[i]), NOLI_ERROR_ARGUMENT, "parameter value %lld is %g",
               (long long)i, values[i]);
  }
  NOLI_TRY(noli_owned_definition_copy(context, self->source.def, definition));
  for (int32_t d = 0; d < self->n_def; d++) {
    const NoliParameter* def = &self->def[d];
    if (def->type->apply != NULL) {
      NOLI_TRY(def->type->apply(context, def, values + def->first, definition));
    }
  }
done:
  return status;
}

NoliStatus noli_parameters_apply(const NoliParameters* self, const double* values,
                                 NoliContext* context, NoliSim** out) {
  NOLI_REQUIRE(context, self != NULL && values != NULL && context != NULL && out != NULL);
  NoliStatus status = NOLI_OK;
  NoliOwnedDefinition definition = {0};
  NoliSim* sim = NULL;
  *out = NULL;
  NOLI_TRY(noli_parameters_define(self, values, context, &definition));
  NOLI_TRY(noli_sim_create(context, definition.def, &sim));

  // velocities stay, whatever the shape
  memcpy(sim->own_model->v0, self->velocity, noli_sim_vector_bytes(sim));
  for (int32_t d = 0; d < self->n_def; d++) {
    const NoliParameter* def = &self->def[d];
    if (def->type == &noli_parameter_velocity) {
      noli_parameter_add_velocity(def, values + def->first, sim);
    }
  }
  memcpy(sim->state.v, sim->model->v0, noli_sim_vector_bytes(sim));
  noli_sim_follow(sim);
done:
  noli_owned_definition_free(context, &definition);
  *out = sim;
  return status;
}
