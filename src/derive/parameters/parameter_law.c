// Parameters of laws beyond the moduli: those of metals (material/plasticity.c) and rubbers
// (material/ogden.c), of fibres and of Prony series.
#include "derive/parameters/parameter_type.h"

#include <string.h>

// The inputs that a kind varies: one of each element of the body, and the one of the next term
// after `step`.
typedef struct Place {
  NoliInput input;
  int32_t first, step, stride;
  double shear; // how the shear modulus follows
} Place;

static Place parameter_law_place_of(const NoliParameter* def) {
  int32_t k = (int32_t)def->kind;
  Place of_law = {NOLI_INPUT_LAW, 0, 0, NOLI_LAW_PARAMETERS, 0.0};
  switch (def->kind) {
  case NOLI_PARAMETER_C10:
  case NOLI_PARAMETER_C01:
    of_law.first = k - NOLI_PARAMETER_C10;
    of_law.shear = 2.0;
    return of_law;
  case NOLI_PARAMETER_OGDEN_MU:
  case NOLI_PARAMETER_OGDEN_ALPHA:
    of_law.first = k - NOLI_PARAMETER_OGDEN_MU;
    of_law.step = 2;
    of_law.shear = def->kind == NOLI_PARAMETER_OGDEN_MU ? 1.0 : 0.0;
    return of_law;
  case NOLI_PARAMETER_FIBRE_K1:
  case NOLI_PARAMETER_FIBRE_K2:
    return (Place){NOLI_INPUT_FIBRE, k - NOLI_PARAMETER_FIBRE_K1, 0, 2, 0.0};
  case NOLI_PARAMETER_PRONY_G:
  case NOLI_PARAMETER_PRONY_TAU:
    return (Place){NOLI_INPUT_SERIES, NOLI_PRONY_TERMS * (k - NOLI_PARAMETER_PRONY_G), 1,
                   2 * NOLI_PRONY_TERMS, 0.0};
  default:
    of_law.first = k - NOLI_PARAMETER_YIELD;
    return of_law;
  }
}

// ---- what has derivatives -----------------------------------------------------------------------

// The law that has the parameter, of rubbers.
static const char* law_of(NoliParameterKind kind) {
  return kind == NOLI_PARAMETER_C10 || kind == NOLI_PARAMETER_C01 ? "mooney_rivlin" : "ogden";
}

static const char* metal_defect(const NoliMaterialDef* material, const NoliParameter* def) {
  if (!noli_material_flows(material)) {
    return "does not yield: give it a material.yield";
  }
  return def->kind >= NOLI_PARAMETER_SATURATION &&
                 !(material->parameter[parameter_law_place_of(def).first] > 0.0)
             ? "has no hardening that ends: give it material.saturation and saturation_rate"
             : NULL;
}

static const char* law_defect(const NoliSim* sim, const NoliParameter* def) {
  const NoliBodyDef* body = &sim->definition.def->bodies[def->of];
  const NoliMaterialDef* material = noli_region_material(body, def->part);
  if (noli_problem_block(&sim->model->problem, def->of) == NULL) {
    return "is an obstacle, which has no material";
  }
  if (def->kind >= NOLI_PARAMETER_YIELD && def->kind <= NOLI_PARAMETER_SATURATION_RATE) {
    return metal_defect(material, def);
  }
  if (def->kind == NOLI_PARAMETER_PRONY_G || def->kind == NOLI_PARAMETER_PRONY_TAU) {
    return material->prony == NULL || material->prony->n == 0 ? "has no material.prony" : NULL;
  }
  bool has = noli_material_has_shear(material) && strcmp(material->law, law_of(def->kind)) == 0;
  return has ? NULL
         : strcmp(law_of(def->kind), "ogden") == 0
             ? "does not have the law \"ogden\" with its parameters: give it a material.ogden"
             : "does not have the law \"mooney_rivlin\" with its parameters: give it material.c10 "
               "and material.c01";
}

static const char* fibre_defect(const NoliSim* sim, const NoliParameter* def) {
  const NoliBodyDef* body = &sim->definition.def->bodies[def->of];
  const NoliBlock* block = noli_problem_block(&sim->model->problem, def->of);
  NoliBlockRange range = sim->model->problem.range[def->of];
  bool own = noli_region_fields(body, def->part)->fibre != NULL;
  if (block == NULL || block->fibre == NULL || (def->scope == NOLI_SCOPE_BODY && !own)) {
    return "has no material.fibre";
  }
  const double *all = block->fibre + NOLI_FIBRE_VALUES * (int64_t)range.begin, *first = NULL;
  bool each = def->scope == NOLI_SCOPE_ELEMENTS;
  int32_t n = each ? def->n_point : range.end - range.begin,
          value = 3 + parameter_law_place_of(def).first;

  for (int32_t i = 0; i < n; i++) {
    int32_t e = each ? def->point[i] : i;
    const double* fibre = all + NOLI_FIBRE_VALUES * (int64_t)e;
    if (!each && !noli_parameter_covers(def, e)) {
      continue;
    }
    if (!(fibre[3] > 0.0)) {
      return "has elements without fibres: choose the scope \"elements\", and others";
    }
    first = first != NULL ? first : fibre;
    if (!each && fibre[value] != first[value]) {
      return "has fibres that differ: choose the scope \"elements\"";
    }
  }
  return NULL;
}

// ---- values -------------------------------------------------------------------------------------

// Terms of a series, up to the last one that counts.
static int32_t count_terms(const NoliSim* sim, const NoliParameter* def) {
  const NoliBodyDef* body = &sim->definition.def->bodies[def->of];
  const NoliMaterialDef* material = noli_region_material(body, def->part);
  if (parameter_law_place_of(def).input == NOLI_INPUT_SERIES) {
    return material->prony != NULL ? material->prony->n : 0;
  }
  int32_t n = NOLI_LAW_PARAMETERS / 2;
  while (n > 0 && material->parameter[2 * n - 2] == 0.0) {
    n--;
  }
  return n;
}

// The number of a definition behind point i of a parameter.
static const double* parameter_law_number_of(const NoliBodyDef* body, const NoliParameter* def,
                                             int32_t i) {
  Place place = parameter_law_place_of(def);
  int32_t point = def->point != NULL ? def->point[i] : 0;
  int32_t at = place.first + place.step * point;
  if (place.input == NOLI_INPUT_FIBRE) {
    bool each = def->scope == NOLI_SCOPE_ELEMENTS;
    const double* fibre =
        noli_region_fields(body, each ? def->regions.region[point] : def->part)->fibre;
    return fibre + NOLI_FIBRE_VALUES * (int64_t)(each ? def->regions.local[point] : 0) + 3 +
           place.first;
  }
  const NoliMaterialDef* material = noli_region_material(body, def->part);
  if (place.input == NOLI_INPUT_SERIES) {
    const NoliProny* prony = material->prony;
    return def->kind == NOLI_PARAMETER_PRONY_G ? &prony->share[point] : &prony->time[point];
  }
  return &material->parameter[at];
}

static void read(const NoliSim* sim, const NoliParameter* def, double* value) {
  for (int32_t i = 0; i < noli_parameter_points(def); i++) {
    value[i] = *parameter_law_number_of(&sim->definition.def->bodies[def->of], def, i);
  }
}

static NoliStatus parameter_law_apply(NoliContext* context, const NoliParameter* def,
                                      const double* value, NoliOwnedDefinition* definition) {
  (void)context;
  NoliBodyDef* body = noli_parameter_body(def, definition);
  for (int32_t i = 0; i < noli_parameter_points(def); i++) {
    *(double*)noli_owned_data(parameter_law_number_of(body, def, i)) = value[i];
  }
  return NOLI_OK;
}

// Fibres of the whole body have one value.
static NoliStatus apply_fibre(NoliContext* context, const NoliParameter* def, const double* value,
                              NoliOwnedDefinition* definition) {
  const NoliBodyDef* body = noli_parameter_body(def, definition);
  if (def->scope == NOLI_SCOPE_ELEMENTS) {
    return parameter_law_apply(context, def, value, definition);
  }
  int32_t n = noli_region_size(body, def->part);
  double* number = noli_owned_data(parameter_law_number_of(body, def, 0));
  for (int32_t e = 0; e < n; e++) {
    number[NOLI_FIBRE_VALUES * (int64_t)e] = *value;
  }
  return NOLI_OK;
}

// ---- how inputs follow --------------------------------------------------------------------------

// The shear modulus follows parameters of rubbers, and lambda it at constant Poisson's ratio.
static NoliStatus map(NoliParameters* self, const NoliSim* sim, const NoliParameter* def,
                      int32_t point, int32_t component) {
  (void)component;
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = &sim->model->problem;
  NoliBlockRange range = problem->range[def->of];
  const NoliBlock* block = &problem->block[range.block];
  int64_t first = noli_input_elements(problem, range.block);
  Place place = parameter_law_place_of(def);
  bool of_element = def->scope == NOLI_SCOPE_ELEMENTS;
  int32_t term = def->scope == NOLI_SCOPE_TERMS ? def->point[point] : 0;
  int32_t begin = of_element ? range.begin + def->point[point] : range.begin;
  int32_t end = of_element ? begin + 1 : range.end;

  for (int32_t e = begin; e < end; e++) {
    if (!of_element && !noli_parameter_covers(def, e - range.begin)) {
      continue;
    }
    int64_t at = place.stride * (first + e) + place.first + place.step * term;
    NOLI_TRY(noli_parameter_add(self, place.input, at, 1.0));
    if (place.shear > 0.0) {
      double lambda = place.shear * block->lame_lambda[e] / block->lame_mu[e];
      NOLI_TRY(noli_parameter_add(self, NOLI_INPUT_MU, first + e, place.shear));
      NOLI_TRY(noli_parameter_add(self, NOLI_INPUT_LAMBDA, first + e, lambda));
    }
  }
done:
  return status;
}

const NoliParameterType noli_parameter_law = {.of = NOLI_OF_BODY,
                                              .n_component = 1,
                                              .material = true,
                                              .defect = law_defect,
                                              .read = read,
                                              .map = map,
                                              .apply = parameter_law_apply};
const NoliParameterType noli_parameter_series = {.of = NOLI_OF_BODY,
                                                 .n_component = 1,
                                                 .scope = NOLI_SCOPE_TERMS,
                                                 .material = true,
                                                 .count = count_terms,
                                                 .defect = law_defect,
                                                 .read = read,
                                                 .map = map,
                                                 .apply = parameter_law_apply};
const NoliParameterType noli_parameter_fibre = {.of = NOLI_OF_BODY,
                                                .n_component = 1,
                                                .scope = NOLI_SCOPE_ELEMENTS,
                                                .material = true,
                                                .defect = fibre_defect,
                                                .read = read,
                                                .map = map,
                                                .apply = apply_fibre};
