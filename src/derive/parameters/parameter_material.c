// Parameters of materials and sections: moduli, densities, thickness and radius.
#include "derive/parameters/parameter_type.h"

#include "define/properties.h"
#include "fem/derivatives/element_derivatives.h"

// ---- what has derivatives -----------------------------------------------------------------------

static const char* section_defect(const NoliSim* sim, const NoliParameter* def) {
  const NoliBodyDef* body = &sim->definition.def->bodies[def->of];
  bool barrier = sim->model->problem.contact.model == &noli_contact_barrier;
  bool follows = body->contact_offset == NOLI_OFFSET_THICKNESS && !barrier;
  if (def->kind == NOLI_PARAMETER_THICKNESS && !(body->shell.thickness > 0.0)) {
    return "is no shell";
  }
  if (def->kind == NOLI_PARAMETER_RADIUS && !(body->rod.radius > 0.0)) {
    return "is no rod";
  }
  if (def->kind == NOLI_PARAMETER_RADIUS && noli_problem_is_convergent(&sim->model->problem)) {
    return "has areas that weight contact.convergent: its derivatives by radii are not "
           "implemented, "
           "without \"convergent\" they are";
  }
  return follows ? "has a contact offset that follows its thickness: use the contact model "
                   "\"ipc\", or give contact_offset a number"
                 : NULL;
}

// Whether the shear modulus of some element follows parameters of rubber.
static bool has_shear(const NoliBodyDef* body, const NoliParameter* def) {
  bool has = def->scope == NOLI_SCOPE_BODY &&
             noli_material_has_shear(noli_region_material(body, def->part));
  for (int32_t i = 0; def->scope == NOLI_SCOPE_ELEMENTS && i < def->n_point; i++) {
    int32_t region = def->regions.region[def->point[i]];
    has = has || noli_material_has_shear(noli_region_material(body, region));
  }
  return has;
}

// Whether all elements have one value.
static bool is_uniform(const NoliBodyDef* body, const NoliParameter* def) {
  return def->scope == NOLI_SCOPE_BODY && body->n_parts == 0;
}

static const char* material_defect(const NoliSim* sim, const NoliParameter* def) {
  const NoliModel* model = sim->model;
  const NoliBodyDef* body = &sim->definition.def->bodies[def->of];
  const NoliBlock* block = noli_problem_block(&model->problem, def->of);
  if (block == NULL) {
    return "is an obstacle, which has no material";
  }
  if (def->kind != NOLI_PARAMETER_DENSITY && block->type->elasticity == NULL) {
    return "has no elasticity";
  }
  if (def->kind == NOLI_PARAMETER_YOUNG && has_shear(body, def)) {
    return "has parameters of rubber, which replace Young's modulus";
  }
  const NoliMaterialFields* fields = noli_region_fields(body, def->part);
  if (def->scope == NOLI_SCOPE_BODY &&
      (fields->young != NULL || fields->poisson != NULL || fields->density != NULL)) {
    return "has several materials: choose the scope \"elements\"";
  }
  return def->kind == NOLI_PARAMETER_DENSITY ? noli_parameter_share_defect(model, def->of) : NULL;
}

// ---- values -------------------------------------------------------------------------------------

// The number of a material that a kind varies; these kinds are in the order of the properties.
static double* material_number(NoliParameterKind kind, NoliMaterialDef* material) {
  return noli_property_number(noli_property_at((int32_t)kind), material);
}

static double material_value(NoliParameterKind kind, double mu, double lambda, double density) {
  return kind == NOLI_PARAMETER_YOUNG     ? mu * (3.0 * lambda + 2.0 * mu) / (lambda + mu)
         : kind == NOLI_PARAMETER_POISSON ? 0.5 * lambda / (lambda + mu)
                                          : density;
}

static void read_material(const NoliSim* sim, const NoliParameter* def, double* value) {
  const NoliModel* model = sim->model;
  const NoliBlock* block = noli_problem_block(&model->problem, def->of);
  for (int32_t i = 0; i < noli_parameter_points(def); i++) {
    int32_t e = model->problem.range[def->of].begin + (def->point != NULL ? def->point[i] : 0);
    value[i] =
        material_value(def->kind, block->lame_mu[e], block->lame_lambda[e], block->density[e]);
  }
  if (def->scope == NOLI_SCOPE_BODY) {
    const NoliBodyDef* body = &sim->definition.def->bodies[def->of];
    NoliMaterialDef material = *noli_region_material(body, def->part);
    value[0] = *material_number(def->kind, &material);
  }
}

static void parameter_material_read_section(const NoliSim* sim, const NoliParameter* def,
                                            double* value) {
  const NoliBodyDef* body = &sim->definition.def->bodies[def->of];
  *value = def->kind == NOLI_PARAMETER_THICKNESS ? body->shell.thickness : body->rod.radius;
}

// ---- how inputs follow --------------------------------------------------------------------------

// mu = E / (2 (1 + nu)), lambda = E nu / ((1 + nu) (1 - 2 nu))
static NoliStatus map_moduli(NoliParameters* self, const NoliModel* model, const NoliParameter* def,
                             int32_t element) {
  NoliStatus status = NOLI_OK;
  NoliBlockRange range = model->problem.range[def->of];
  const NoliBlock* block = &model->problem.block[range.block];
  int64_t at = noli_input_elements(&model->problem, range.block) + element;
  double mu = block->lame_mu[element], lambda = block->lame_lambda[element];
  double young = material_value(NOLI_PARAMETER_YOUNG, mu, lambda, 0.0);
  double nu = material_value(NOLI_PARAMETER_POISSON, mu, lambda, 0.0);
  double by_mu = mu / young, by_lambda = lambda / young;
  if (def->kind == NOLI_PARAMETER_POISSON &&
      noli_material_has_shear(noli_region_material(&self->source.def->bodies[def->of],
                                                   def->regions.region[element - range.begin]))) {
    // the shear modulus is that of the parameters: lambda = 2 mu nu / (1 - 2 nu)
    by_mu = 0.0;
    by_lambda = 2.0 * mu / ((1.0 - 2.0 * nu) * (1.0 - 2.0 * nu));
  } else if (def->kind == NOLI_PARAMETER_POISSON) {
    double a = 1.0 + nu, b = 1.0 - 2.0 * nu;
    by_mu = -0.5 * young / (a * a);
    by_lambda = young * (1.0 + 2.0 * nu * nu) / (a * a * b * b);
  }
  NOLI_TRY(noli_parameter_add(self, NOLI_INPUT_MU, at, by_mu));
  NOLI_TRY(noli_parameter_add(self, NOLI_INPUT_LAMBDA, at, by_lambda));
done:
  return status;
}

// The lumped mass of an element.
static NoliStatus map_element_density(NoliParameters* self, const NoliModel* model,
                                      const NoliBlock* block, int32_t element) {
  NoliStatus status = NOLI_OK;
  int32_t n = noli_parameter_element_nodes(block, element);
  NoliVec3 gradient[4];
  double volume;
  noli_element_rest_gradients(block, element, model->problem.X, gradient, &volume);
  for (int32_t k = 0; k < n; k++) {
    NOLI_TRY(noli_parameter_add_mass(
        self, model, block->node[(int64_t)block->n_local * element + k], volume / n));
  }
  if (block->n_angle > 0) {
    int32_t angle = block->first_angle + element;
    NOLI_TRY(noli_parameter_add_mass(self, model, angle,
                                     model->problem.inertia.mass[angle] / block->density[element]));
  }
done:
  return status;
}

// The section of a thin body in powers of its thickness or first radius.
typedef struct SectionPowers {
  double part[NOLI_THIN_NUMBERS]; // energies, or 1: the logarithm of the radius
  double mass, inertia;           // of vertices, and of angles, which the radius measures
} SectionPowers;

static SectionPowers section_powers(const NoliSim* sim, const NoliParameter* def) {
  const NoliRodDef* rod = &sim->definition.def->bodies[def->of].rod;
  double a = rod->radius * rod->radius, b = rod->second_radius * rod->second_radius;
  bool ellipse = rod->second_radius > 0.0;
  if (def->kind == NOLI_PARAMETER_THICKNESS) {
    return (SectionPowers){.part = {1.0, 3.0}, .mass = 1.0};
  }
  return noli_model_angle_count(sim->model, def->of) == 0
             ? (SectionPowers){.part = {2.0, 4.0}, .mass = 2.0}
         : ellipse
             ? (SectionPowers){.part = {1.0, 0.0, 1.0}, .mass = 1.0, .inertia = (a - b) / (a + b)}
             : (SectionPowers){.part = {2.0, 0.0, 1.0}, .mass = 2.0, .inertia = 2.0};
}

// Numbers of the energies of a thin body, and its masses.
static NoliStatus map_section(NoliParameters* self, const NoliSim* sim, const NoliParameter* def,
                              int32_t point, int32_t component) {
  (void)point, (void)component;
  NoliStatus status = NOLI_OK;
  const NoliModel* model = sim->model;
  SectionPowers power = section_powers(sim, def);
  double value = self->value[def->first];
  int64_t end = model->vert_first[def->of + 1];
  for (int32_t k = 0; k < NOLI_THIN_NUMBERS; k++) {
    NOLI_TRY(noli_parameter_add(self, NOLI_INPUT_PART, NOLI_THIN_NUMBERS * (int64_t)def->of + k,
                                power.part[k] / value));
  }
  for (int64_t i = model->vert_first[def->of]; i < end; i++) {
    bool angle = i >= end - noli_model_angle_count(model, def->of);
    NOLI_TRY(noli_parameter_add_mass(self, model, i,
                                     (angle ? power.inertia : power.mass) *
                                         model->problem.inertia.mass[i] / value));
  }
  if (sim->definition.def->bodies[def->of].contact_offset == NOLI_OFFSET_THICKNESS) {
    double share = def->kind == NOLI_PARAMETER_THICKNESS ? 0.5 : 1.0;
    NOLI_TRY(noli_parameter_add(self, NOLI_INPUT_OFFSET, def->of, share));
  }
done:
  return status;
}

static NoliStatus map_material(NoliParameters* self, const NoliSim* sim, const NoliParameter* def,
                               int32_t point, int32_t component) {
  (void)component;
  NoliStatus status = NOLI_OK;
  const NoliModel* model = sim->model;
  NoliBlockRange range = model->problem.range[def->of];
  const NoliBlock* block = &model->problem.block[range.block];
  bool all = def->scope == NOLI_SCOPE_BODY, density = def->kind == NOLI_PARAMETER_DENSITY;
  bool consistent = block->n_consistent > 0;
  int32_t begin = all ? range.begin : range.begin + def->point[point];
  int32_t end = all ? range.end : begin + 1;
  if (density && !consistent && is_uniform(&self->source.def->bodies[def->of], def)) {
    for (int64_t i = model->vert_first[def->of]; i < model->vert_first[def->of + 1]; i++) {
      NOLI_TRY(noli_parameter_add_mass(self, model, i,
                                       model->problem.inertia.mass[i] / self->value[def->first]));
    }
    goto done;
  }

  for (int32_t e = begin; e < end; e++) {
    if (all && !noli_parameter_covers(def, e - range.begin)) {
      continue;
    }
    NOLI_TRY(density && consistent ? noli_parameter_add_density(
                                         self, model, def->of, e,
                                         all ? block->density[e] / self->value[def->first] : 1.0)
             : density ? map_element_density(self, model, block, e)
                       : map_moduli(self, model, def, e));
  }
done:
  return status;
}

// ---- other values -------------------------------------------------------------------------------

// The values of the elements of one material of the body, of which some have others; NULL: none
// has.
static NoliStatus make_values(NoliContext* context, const NoliParameter* def, int32_t region,
                              const double* value, const NoliBodyDef* body, double** values) {
  NoliStatus status = NOLI_OK;
  const NoliMaterialRegions* regions = &def->regions;
  NoliMaterialFields fields = *noli_region_fields(body, region);
  const double* field = *noli_property_values(noli_property_at((int32_t)def->kind), &fields);
  NoliMaterialDef material = *noli_region_material(body, region);
  double *made = NULL, number = *material_number(def->kind, &material);
  int32_t n = noli_region_size(body, region);
  for (int32_t i = 0; i < def->n_point; i++) {
    if (regions->region[def->point[i]] != region) {
      continue;
    }
    if (made == NULL) {
      NOLI_NEW(context, made, n);
      for (int32_t e = 0; e < n; e++) {
        made[e] = field != NULL ? field[e] : number;
      }
    }
    made[regions->local[def->point[i]]] = value[i];
  }
  *values = made;
done:
  return status;
}

// Gives the elements of each material of the body fields of their own, of which some have values.
static NoliStatus apply_elements(NoliContext* context, const NoliParameter* def,
                                 const double* value, NoliOwnedDefinition* definition) {
  NoliStatus status = NOLI_OK;
  const NoliBodyDef* body = noli_parameter_body(def, definition);
  for (int32_t region = 0; region <= body->n_parts; region++) {
    NoliMaterialFields* fields = noli_owned_data(noli_region_fields(body, region));
    double* made = NULL;
    NOLI_TRY(noli_array_reserve(context, &definition->memory, definition->memory.count + 1));
    NOLI_TRY(make_values(context, def, region, value, body, &made));
    if (made != NULL) {
      definition->memory.data[definition->memory.count++] = made;
      *noli_property_values(noli_property_at((int32_t)def->kind), fields) = made;
    }
  }
done:
  return status;
}

static NoliStatus apply_material(NoliContext* context, const NoliParameter* def,
                                 const double* value, NoliOwnedDefinition* definition) {
  if (def->scope == NOLI_SCOPE_ELEMENTS) {
    return apply_elements(context, def, value, definition);
  }
  const NoliBodyDef* body = noli_parameter_body(def, definition);
  *material_number(def->kind, noli_owned_data(noli_region_material(body, def->part))) = *value;
  return NOLI_OK;
}

static NoliStatus apply_section(NoliContext* context, const NoliParameter* def, const double* value,
                                NoliOwnedDefinition* definition) {
  (void)context;
  NoliBodyDef* body = noli_parameter_body(def, definition);
  *(def->kind == NOLI_PARAMETER_THICKNESS ? &body->shell.thickness : &body->rod.radius) = *value;
  return NOLI_OK;
}

const NoliParameterType noli_parameter_material = {.of = NOLI_OF_BODY,
                                                   .n_component = 1,
                                                   .scope = NOLI_SCOPE_ELEMENTS,
                                                   .material = true,
                                                   .defect = material_defect,
                                                   .read = read_material,
                                                   .map = map_material,
                                                   .apply = apply_material};
const NoliParameterType noli_parameter_section = {.of = NOLI_OF_BODY,
                                                  .n_component = 1,
                                                  .defect = section_defect,
                                                  .read = parameter_material_read_section,
                                                  .map = map_section,
                                                  .apply = apply_section};
