#include "scene/fields.h"

#include "material/material.h"
#include "sim/body_kind.h"
#include "sim/properties.h"

#include <math.h>
#include <stdio.h>

// The value of a property at the centre of an element, which the variables hold.
static NoliStatus evaluate(const NoliSceneSource* source, const NoliSceneNode* node,
                           const NoliProperty* property, const NoliSceneExpression* expression,
                           int32_t element, double* value) {
  NoliStatus status = NOLI_OK;
  const double* at = expression->variables->position;
  char range[40], place[120] = "";
  *value = noli_scene_evaluate(expression, 0.0);
  if (noli_property_allows(property, *value)) {
    return NOLI_OK;
  }

  // what is wrong with it, and where
  noli_property_range(property, range, sizeof range);
  if (expression->uses_position) {
    snprintf(place, sizeof place, " at (%g, %g, %g), the centre of element %d", at[0], at[1], at[2],
             (int)element);
  }
  NOLI_SCENE_CHECK(source, node, isfinite(*value), "has no finite value%s", place);
  NOLI_SCENE_CHECK(source, node, false, "must be in %s, got %.10g%s", range, *value, place);
done:
  return status;
}

static NoliStatus read_field(const NoliSceneSource* source, NoliScene* scene,
                             const NoliSceneNode* node, const NoliBodyDef* body,
                             const int32_t* element, int32_t n_element,
                             const NoliProperty* property, double* number, const double** values) {
  NoliStatus status = NOLI_OK;
  NoliSceneVariables variables = {0};
  NoliSceneExpression expression = {0};
  double* found = NULL;
  NOLI_TRY(noli_scene_compile(source, node, false, &variables, &expression));
  NOLI_TRY(noli_scene_refuse_time(source, node, &expression));

  // the same everywhere
  if (!expression.uses_position) {
    NOLI_TRY(evaluate(source, node, property, &expression, NOLI_NULL_INDEX, number));
    goto done;
  }

  // at each element
  NoliBodyCells cells = noli_body_cells(noli_body_kind(body), body->mesh);
  NOLI_NEW(scene->context, found, n_element);
  NOLI_TRY(noli_scene_own(scene, found));
  for (int32_t i = 0; i < n_element; i++) {
    int32_t t = element != NULL ? element[i] : i;
    noli_body_cell_centre(&cells, body->mesh, t, variables.position);
    NOLI_TRY(evaluate(source, node, property, &expression, t, &found[i]));
  }
  *values = found;
done:
  noli_scene_release_expression(&expression);
  return status;
}

NoliStatus noli_scene_read_fields(const NoliSceneSource* source, NoliScene* scene,
                                  const NoliSceneNode* entry, const NoliBodyDef* body,
                                  const int32_t* element, int32_t n_element,
                                  NoliMaterialDef* material, NoliMaterialFields* fields) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode node = noli_scene_member(entry, "material");
  for (int32_t k = 0; k < NOLI_PROPERTY_COUNT; k++) {
    const NoliProperty* property = noli_property_at(k);
    NoliSceneNode value = noli_scene_member(&node, property->key);
    if (json_is_string(value.value)) {
      NOLI_TRY(read_field(source, scene, &value, body, element, n_element, property,
                          noli_property_number(property, material),
                          noli_property_values(property, fields)));
    }
  }
done:
  return status;
}

NoliStatus noli_scene_inherit_fields(NoliScene* scene, const NoliSceneNode* entry,
                                     const NoliBodyDef* body, NoliPartDef* part) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode node = noli_scene_member(entry, "material");
  NoliMaterialFields of_body = body->fields;
  // parameters of a law replace Young's modulus, the bulk modulus Poisson's ratio
  of_body.young = noli_material_has_parameters(&part->material) ? NULL : of_body.young;
  of_body.poisson = noli_scene_member(&node, "bulk").value != NULL ? NULL : of_body.poisson;
  for (int32_t k = 0; k < NOLI_PROPERTY_COUNT; k++) {
    const NoliProperty* property = noli_property_at(k);
    const double* from = *noli_property_values(property, &of_body);
    double* values = NULL;
    if (from == NULL || noli_scene_member(&node, property->key).value != NULL) {
      continue;
    }
    NOLI_NEW(scene->context, values, part->n_element);
    NOLI_TRY(noli_scene_own(scene, values));
    for (int32_t i = 0; i < part->n_element; i++) {
      values[i] = from[part->element[i]];
    }
    *noli_property_values(property, &part->fields) = values;
  }
done:
  return status;
}
