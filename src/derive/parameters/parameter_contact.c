// Parameters of contact: coefficients of friction, its distance and stiffness, the stick length,
// and offsets.
#include "derive/parameters/parameter_type.h"

#include "define/definition.h"

// ---- friction -----------------------------------------------------------------------------------

static void read_friction(const NoliSim* sim, const NoliParameter* def, double* value) {
  const NoliSimDef* source = sim->definition.def;
  *value = def->with != NOLI_NULL_INDEX ? noli_definition_pair(source, def->of, def->with).friction
                                        : source->friction;
}

static NoliStatus map_friction(NoliParameters* self, const NoliSim* sim, const NoliParameter* def,
                               int32_t point, int32_t component) {
  (void)sim, (void)point, (void)component;
  return noli_parameter_add(self, NOLI_INPUT_FRICTION, def->class_of_pairs, 1.0);
}

static NoliStatus apply_friction(NoliContext* context, const NoliParameter* def,
                                 const double* value, NoliOwnedDefinition* definition) {
  NoliSimDef* source = definition->def;
  if (def->with == NOLI_NULL_INDEX) {
    noli_definition_set_friction(*value, &source->friction, &source->static_friction);
    return NOLI_OK;
  }
  NoliPairDef pair = noli_definition_pair(source, def->of, def->with);
  noli_definition_set_friction(*value, &pair.friction, &pair.static_friction);
  return noli_owned_definition_set_pair(context, definition, &pair);
}

const NoliParameterType noli_parameter_friction = {.of = NOLI_OF_PAIR,
                                                   .n_component = 1,
                                                   .read = read_friction,
                                                   .map = map_friction,
                                                   .apply = apply_friction};

// ---- distance and stiffness ---------------------------------------------------------------------

static const char* contact_defect(const NoliSim* sim, const NoliParameter* def) {
  const NoliProblem* problem = &sim->model->problem;
  if (def->kind == NOLI_PARAMETER_CONTACT_STIFFNESS) {
    return problem->contact.fixed_stiffness > 0.0
               ? NULL
               : "the stiffness adapts: set contact.stiffness to a number";
  }
  if (noli_problem_is_convergent(problem)) {
    return "contact.convergent also weights pairs by it: its derivatives by the distance are not "
           "implemented, without \"convergent\" they are";
  }
  return noli_parameter_has_smooth_surfaces(sim->model) && !(problem->contact.surface_radius > 0.0)
             ? "the radius of smooth surfaces follows it: set contact.radius"
             : NULL;
}

static void read_contact(const NoliSim* sim, const NoliParameter* def, double* value) {
  const NoliProblem* problem = &sim->model->problem;
  *value = def->kind == NOLI_PARAMETER_CONTACT_STIFFNESS ? problem->contact.fixed_stiffness
           : noli_parameter_has_potential(sim->model)
               ? problem->contact.gcp.model.parameters.eps_target
               : problem->contact.dhat;
}

// The range of the barrier between open sheets is a share of dhat, and it is as stiff as the
// penalty over the square of its range.
static NoliStatus map_sheets(NoliParameters* self, const NoliProblem* problem) {
  NoliStatus status = NOLI_OK;
  if (problem->sheets.gap > 0.0 && !problem->sheets.gap_at_rest) {
    NOLI_TRY(noli_parameter_add(self, NOLI_INPUT_CONTACT, NOLI_CONTACT_GAP,
                                problem->sheets.gap / problem->contact.dhat));
    NOLI_TRY(noli_parameter_add(self, NOLI_INPUT_CONTACT, NOLI_CONTACT_OPEN,
                                -2.0 / problem->contact.dhat));
  }
done:
  return status;
}

// dhat, or the supports that are eps_target.
static NoliStatus map_distance(NoliParameters* self, const NoliModel* model) {
  NoliStatus status = NOLI_OK;
  const NoliGcpModel* gcp = &model->problem.contact.gcp.model;
  if (!noli_parameter_has_potential(model)) {
    NOLI_TRY(noli_parameter_add(self, NOLI_INPUT_CONTACT, NOLI_CONTACT_DISTANCE, 1.0));
    return map_sheets(self, &model->problem);
  }
  for (int32_t v = 0; v < gcp->surface->n_vert; v++) {
    if (gcp->vert_limit[v] == NOLI_NULL_INDEX) {
      NOLI_TRY(noli_parameter_add(self, NOLI_INPUT_SUPPORT, v, 1.0));
    }
  }
  if (model->problem.contact.gcp.has_open) {
    NOLI_TRY(noli_parameter_add(self, NOLI_INPUT_CONTACT, NOLI_CONTACT_OPEN,
                                (1 - gcp->space) / gcp->parameters.eps_target));
  }
done:
  return status;
}

static NoliStatus map_contact(NoliParameters* self, const NoliSim* sim, const NoliParameter* def,
                              int32_t point, int32_t component) {
  (void)point, (void)component;
  return def->kind == NOLI_PARAMETER_CONTACT_DISTANCE
             ? map_distance(self, sim->model)
             : noli_parameter_add(self, NOLI_INPUT_CONTACT, NOLI_CONTACT_STIFFNESS,
                                  1.0 / self->value[def->first]);
}

static NoliStatus apply_contact(NoliContext* context, const NoliParameter* def, const double* value,
                                NoliOwnedDefinition* definition) {
  (void)context;
  NoliSimDef* source = definition->def;
  bool potential = noli_contact_model_find(source->contact_model) == &noli_contact_gcp;
  if (def->kind == NOLI_PARAMETER_CONTACT_STIFFNESS) {
    source->barrier_stiffness = *value;
  } else {
    *(potential ? &source->gcp.eps_target : &source->contact_distance) =
        (NoliScaled){*value, NOLI_ABSOLUTE};
  }
  return NOLI_OK;
}

const NoliParameterType noli_parameter_contact = {.of = NOLI_OF_SCENE,
                                                  .n_component = 1,
                                                  .defect = contact_defect,
                                                  .read = read_contact,
                                                  .map = map_contact,
                                                  .apply = apply_contact};

// ---- the stick length ---------------------------------------------------------------------------

static const char* stick_length_defect(const NoliSim* sim, const NoliParameter* def) {
  (void)def;
  return sim->model->problem.friction.sticks ? NULL
                                             : "only contacts of friction.law \"stick\" have one";
}

static void read_stick_length(const NoliSim* sim, const NoliParameter* def, double* value) {
  (void)def;
  *value = sim->model->problem.friction.stick_length;
}

static NoliStatus map_stick_length(NoliParameters* self, const NoliSim* sim,
                                   const NoliParameter* def, int32_t point, int32_t component) {
  (void)sim, (void)def, (void)point, (void)component;
  return noli_parameter_add(self, NOLI_INPUT_CONTACT, NOLI_CONTACT_STICK, 1.0);
}

static NoliStatus apply_stick_length(NoliContext* context, const NoliParameter* def,
                                     const double* value, NoliOwnedDefinition* definition) {
  (void)context, (void)def;
  definition->def->stick_length = (NoliScaled){*value, NOLI_ABSOLUTE};
  return NOLI_OK;
}

const NoliParameterType noli_parameter_stick_length = {.of = NOLI_OF_SCENE,
                                                       .n_component = 1,
                                                       .defect = stick_length_defect,
                                                       .read = read_stick_length,
                                                       .map = map_stick_length,
                                                       .apply = apply_stick_length};

// ---- offsets ------------------------------------------------------------------------------------

static const char* offset_defect(const NoliSim* sim, const NoliParameter* def) {
  (void)def;
  if (noli_problem_is_convergent(&sim->model->problem)) {
    return "contact.convergent has no derivatives by offsets: without \"convergent\" they are "
           "there";
  }
  return sim->model->problem.contact.model == &noli_contact_barrier
             ? NULL
             : "offsets are differentiated with the contact model \"ipc\" only";
}

static void read_offset(const NoliSim* sim, const NoliParameter* def, double* value) {
  const NoliModel* model = sim->model;
  *value = def->of < model->n_body
               ? noli_surface_offset_of(model->problem.surface, def->of)
               : sim->definition.def->half_spaces[def->of - model->n_body].contact_offset;
}

static NoliStatus map_offset(NoliParameters* self, const NoliSim* sim, const NoliParameter* def,
                             int32_t point, int32_t component) {
  (void)sim, (void)point, (void)component;
  return noli_parameter_add(self, NOLI_INPUT_OFFSET, def->of, 1.0);
}

static NoliStatus apply_offset(NoliContext* context, const NoliParameter* def, const double* value,
                               NoliOwnedDefinition* definition) {
  (void)context;
  NoliSimDef* source = definition->def;
  if (def->of < source->n_bodies) {
    definition->bodies[def->of].contact_offset = *value;
  } else {
    int32_t plane = def->of - source->n_bodies;
    definition->half_spaces[plane].contact_offset = *value;
  }
  return NOLI_OK;
}

const NoliParameterType noli_parameter_offset = {.of = NOLI_OF_ENTITY,
                                                 .n_component = 1,
                                                 .defect = offset_defect,
                                                 .read = read_offset,
                                                 .map = map_offset,
                                                 .apply = apply_offset};
