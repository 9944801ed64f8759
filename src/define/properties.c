#include "define/properties.h"

#include "define/body_kind.h"
#include "material/material.h"
#include "math/vec3.h"
#include "noli/version.h"

#include <stdio.h>

#define PLACES(member)                                                                             \
  .key = #member, .number = offsetof(NoliMaterialDef, member),                                     \
  .values = offsetof(NoliMaterialFields, member)

static const NoliProperty properties[NOLI_PROPERTY_COUNT] = {
    [NOLI_YOUNG] = {PLACES(young)},
    [NOLI_POISSON] = {PLACES(poisson)},
    [NOLI_DENSITY] = {PLACES(density)},
};

const NoliProperty* noli_property_at(int32_t index) {
  return &properties[index];
}

const NoliNumber* noli_property_limits(const NoliProperty* property) {
  return noli_number_at(NOLI_NUMBERS_MATERIAL, property->number);
}

double* noli_property_number(const NoliProperty* property, NoliMaterialDef* material) {
  return (double*)(void*)((char*)material + property->number);
}

const double** noli_property_values(const NoliProperty* property, NoliMaterialFields* fields) {
  return (const double**)(void*)((char*)fields + property->values);
}

NoliMaterialDef noli_material_of_element(const NoliMaterialDef* material,
                                         const NoliMaterialFields* fields, int32_t index) {
  NoliMaterialDef own = *material;
  own.young = fields->young != NULL ? fields->young[index] : own.young;
  own.poisson = fields->poisson != NULL ? fields->poisson[index] : own.poisson;
  own.density = fields->density != NULL ? fields->density[index] : own.density;
  return own;
}

static NoliStatus fail_value(NoliContext* context, const char* name, const NoliBodyDef* body,
                             int32_t element, const NoliProperty* property, double value) {
  NoliBodyCells cells = noli_body_elements(body);
  double at[3];
  char range[80];
  const NoliNumber* limits = noli_property_limits(property);
  noli_body_cell_centre(&cells, body->mesh, element, at);
  noli_number_range(limits, range);
  return noli_fail(context, NOLI_ERROR_ARGUMENT,
                   "body \"%s\", element %d at (%g, %g, %g): %s must be %s, got %g", name,
                   (int)element, at[0], at[1], at[2], limits->noun, range, value);
}

bool noli_fibre_has_direction(const double* fibre) {
  double length = noli_norm3(noli_load3(fibre));
  return isfinite(length) && length >= NOLI_FIBRE_LEAST;
}

// The fibres of element t of a body.
static NoliStatus check_fibre(NoliContext* context, const char* name, const NoliBodyDef* body,
                              int32_t t, const double* fibre) {
  NoliStatus status = NOLI_OK;
  double at[3];
  if (fibre[3] != 0.0) {
    NoliBodyCells cells = noli_body_elements(body);
    noli_body_cell_centre(&cells, body->mesh, t, at);
    NOLI_CHECK(context, fibre[3] >= 0.0 && fibre[3] <= NOLI_MATERIAL_MAX, NOLI_ERROR_ARGUMENT,
               "body \"%s\", element %d at (%g, %g, %g): k1 of fibres must be in [0, %g], got %g",
               name, (int)t, at[0], at[1], at[2], NOLI_MATERIAL_MAX, fibre[3]);
    NOLI_CHECK(
        context, noli_fibre_has_direction(fibre), NOLI_ERROR_ARGUMENT,
        "body \"%s\", element %d at (%g, %g, %g): the direction of fibres must be finite and "
        "not 0, got (%g, %g, %g)",
        name, (int)t, at[0], at[1], at[2], fibre[0], fibre[1], fibre[2]);
    NOLI_CHECK(context, fibre[4] >= 0.0 && fibre[4] <= NOLI_FIBRE_GROWTH_MAX, NOLI_ERROR_ARGUMENT,
               "body \"%s\", element %d at (%g, %g, %g): k2 of fibres must be in [0, %g], got %g",
               name, (int)t, at[0], at[1], at[2], NOLI_FIBRE_GROWTH_MAX, fibre[4]);
  }
done:
  return status;
}

static bool is_solid(const NoliBodyDef* body) {
  return noli_body_kind(body)->fills;
}

static NoliStatus check_fibres(NoliContext* context, const char* name, const NoliBodyDef* body,
                               const int32_t* element, int32_t n_element, const double* fibre) {
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(context, fibre == NULL || is_solid(body), NOLI_ERROR_ARGUMENT,
             "body \"%s\": solids and bodies in plane strain have fibres; shells, rods and points "
             "have none",
             name);
  for (int32_t i = 0; fibre != NULL && i < n_element; i++) {
    NOLI_TRY(check_fibre(context, name, body, element != NULL ? element[i] : i,
                         fibre + NOLI_FIBRE_VALUES * (int64_t)i));
  }
done:
  return status;
}

NoliStatus noli_fields_check(NoliContext* context, const char* name, const NoliBodyDef* body,
                             const int32_t* element, int32_t n_element,
                             const NoliMaterialDef* material, const NoliMaterialFields* fields) {
  NoliStatus status = NOLI_OK;
  NoliMaterialFields given = *fields;
  bool any =
      given.young != NULL || given.poisson != NULL || given.density != NULL || given.fibre != NULL;
  NOLI_CHECK(context, given.reserved[0] == NULL, NOLI_ERROR_ARGUMENT,
             "body \"%s\" sets fields that Noli %s does not have", name, NOLI_VERSION);
  NOLI_CHECK(context, !any || !body->obstacle, NOLI_ERROR_ARGUMENT,
             "obstacle \"%s\" has fields of a material, but no material", name);
  NOLI_CHECK(context, given.density == NULL || !body->proxy.balance, NOLI_ERROR_ARGUMENT,
             "body \"%s\": a body with a field of densities cannot be balanced: its densities are "
             "given",
             name);
  NOLI_CHECK(context, given.young == NULL || !noli_material_has_shear(material),
             NOLI_ERROR_ARGUMENT,
             "body \"%s\": a field of Young's modulus is not used with the parameters of the law "
             "\"%s\", which replace it",
             name, material->law);

  NOLI_TRY(check_fibres(context, name, body, element, n_element, given.fibre));
  NOLI_CHECK(context, !noli_material_flows(material) || body->obstacle || is_solid(body),
             NOLI_ERROR_ARGUMENT,
             "body \"%s\": solids and bodies in plane strain have a yield stress; shells, rods and "
             "points have none",
             name);
  NOLI_CHECK(context, given.fibre == NULL || !noli_material_flows(material), NOLI_ERROR_ARGUMENT,
             "body \"%s\": a material with a yield stress has no fibres", name);
  NOLI_CHECK(context,
             material->prony == NULL || material->prony->n == 0 || body->obstacle || is_solid(body),
             NOLI_ERROR_ARGUMENT,
             "body \"%s\": solids and bodies in plane strain have a Prony series; shells, rods and "
             "points have none",
             name);

  // the values
  for (int32_t k = 0; k < NOLI_PROPERTY_COUNT; k++) {
    const double* value = *noli_property_values(&properties[k], &given);
    for (int32_t i = 0; value != NULL && i < n_element; i++) {
      if (!noli_number_allows(noli_property_limits(&properties[k]), value[i])) {
        int32_t t = element != NULL ? element[i] : i;
        status = fail_value(context, name, body, t, &properties[k], value[i]);
        goto done;
      }
    }
  }
done:
  return status;
}
