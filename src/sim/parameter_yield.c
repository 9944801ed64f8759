// Parameters of metals: the yield stress and its growth (material/plasticity.c).
#include "sim/parameter_type.h"

// The place of a kind among the parameters of the law.
static int place_of(const NoliParameter* def) {
  return (int)def->kind - NOLI_PARAMETER_YIELD;
}

static const char* defect(const NoliSim* sim, const NoliParameter* def) {
  const NoliBodyDef* body = &sim->definition.def->bodies[def->of];
  const double* number = body->material.parameter;
  if (noli_problem_block(&sim->model->problem, def->of) == NULL ||
      !noli_material_flows(&body->material)) {
    return "does not yield: give it a material.yield";
  }
  if (body->n_parts > 0) {
    return "has parts, which may have other yield stresses";
  }
  return def->kind >= NOLI_PARAMETER_SATURATION && !(number[place_of(def)] > 0.0)
             ? "has no hardening that ends: give it material.saturation and saturation_rate"
             : NULL;
}

static void read(const NoliSim* sim, const NoliParameter* def, double* value) {
  *value = sim->definition.def->bodies[def->of].material.parameter[place_of(def)];
}

static NoliStatus map(NoliParameters* self, const NoliSim* sim, const NoliParameter* def,
                      int32_t point, int32_t component) {
  (void)point, (void)component;
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = &sim->model->problem;
  NoliBlockRange range = problem->range[def->of];
  int64_t first = noli_input_elements(problem, range.block);
  for (int32_t e = range.begin; e < range.end; e++) {
    NOLI_TRY(noli_parameter_add(self, NOLI_INPUT_LAW,
                                NOLI_LAW_PARAMETERS * (first + e) + place_of(def), 1.0));
  }
done:
  return status;
}

static NoliStatus apply(NoliContext* context, const NoliParameter* def, const double* value,
                        NoliOwnedDefinition* definition) {
  (void)context;
  noli_parameter_body(def, definition)->material.parameter[place_of(def)] = *value;
  return NOLI_OK;
}

const NoliParameterType noli_parameter_yield = {.of = NOLI_OF_BODY,
                                                .n_component = 1,
                                                .defect = defect,
                                                .read = read,
                                                .map = map,
                                                .apply = apply};
