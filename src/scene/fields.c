#include "scene/fields.h"

#include "define/body_kind.h"
#include "define/properties.h"
#include "material/material.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// The value of a property at the centre of an element, which the variables hold.
static NoliStatus fields_evaluate(const NoliSceneSource* source, const NoliSceneNode* node,
                                  const NoliProperty* property,
                                  const NoliSceneExpression* expression, int32_t element,
                                  double* value) {
  NoliStatus status = NOLI_OK;
  const double* at = expression->variables->position;
  char range[80], place[120] = "";
  *value = noli_scene_evaluate(expression, 0.0);
  if (noli_number_allows(noli_property_limits(property), *value)) {
    return NOLI_OK;
  }

  // what is wrong with it, and where
  noli_number_range(noli_property_limits(property), range);
  if (expression->uses_position) {
    snprintf(place, sizeof place, " at (%g, %g, %g), the centre of element %d", at[0], at[1], at[2],
             (int)element);
  }
  NOLI_SCENE_CHECK(source, node, isfinite(*value), "has no finite value%s", place);
  NOLI_SCENE_CHECK(source, node, false, "must be %s, got %.10g%s", range, *value, place);
done:
  return status;
}

// A list of numbers, which are in their range.
static NoliStatus fields_read_list(const NoliSceneSource* source, NoliScene* scene,
                                   const NoliSceneNode* node, int32_t n_element,
                                   const double** values) {
  NoliStatus status = NOLI_OK;
  double* found = NULL;
  NOLI_SCENE_CHECK(source, node, noli_scene_size(node) == (size_t)n_element,
                   "must have a number for each of %d elements, has %lld", (int)n_element,
                   (long long)noli_scene_size(node));
  NOLI_NEW(scene->context, found, n_element);
  NOLI_TRY(noli_scene_own(scene, found));
  for (int32_t i = 0; i < n_element; i++) {
    NoliSceneNode item = noli_scene_item(node, (size_t)i);
    found[i] = noli_scene_number(&item);
  }
  *values = found;
done:
  return status;
}

// Elements of a body.
typedef struct Elements {
  const NoliBodyDef* body;
  const int32_t* element; // (n); NULL: all
  int32_t n;
} Elements;

static NoliStatus read_field(const NoliSceneSource* source, NoliScene* scene,
                             const NoliSceneNode* node, const Elements* of,
                             const NoliProperty* property, double* number, const double** values) {
  NoliStatus status = NOLI_OK;
  NoliSceneVariables variables = {0};
  NoliSceneExpression expression = {0};
  double* found = NULL;
  NOLI_TRY(noli_scene_compile(source, node, false, &variables, &expression));
  NOLI_TRY(noli_scene_refuse_time(source, node, &expression));

  // the same everywhere
  if (!expression.uses_position) {
    NOLI_TRY(fields_evaluate(source, node, property, &expression, NOLI_NULL_INDEX, number));
    goto done;
  }

  // at each element
  NoliBodyCells cells = noli_body_elements(of->body);
  NOLI_NEW(scene->context, found, of->n);
  NOLI_TRY(noli_scene_own(scene, found));
  for (int32_t i = 0; i < of->n; i++) {
    int32_t t = of->element != NULL ? of->element[i] : i;
    noli_body_cell_centre(&cells, of->body->mesh, t, variables.position);
    NOLI_TRY(fields_evaluate(source, node, property, &expression, t, &found[i]));
  }
  *values = found;
done:
  noli_scene_release_expression(&expression);
  return status;
}

// ---- fibres -------------------------------------------------------------------------------------

// The numbers of a fibre in the order of NoliMaterialFields.fibre.
typedef struct Fibre {
  NoliSceneNode direction, k1, k2;
  NoliSceneVariables variables;
  NoliSceneExpression value[NOLI_FIBRE_VALUES];
} Fibre;

static NoliStatus compile_fibre(const NoliSceneSource* source, const NoliSceneNode* node,
                                Fibre* fibre) {
  NoliStatus status = NOLI_OK;
  fibre->direction = noli_scene_member(node, "direction");
  fibre->k1 = noli_scene_member(node, "k1");
  fibre->k2 = noli_scene_member(node, "k2");
  NoliSceneVariables* variables = &fibre->variables;
  NOLI_TRY(noli_scene_compile_vector(source, &fibre->direction, false, variables, fibre->value));
  NOLI_TRY(noli_scene_compile(source, &fibre->k1, false, variables, &fibre->value[3]));
  NOLI_TRY(noli_scene_compile(source, &fibre->k2, false, variables, &fibre->value[4]));

  const NoliSceneNode node_of[NOLI_FIBRE_VALUES] = {
      noli_scene_item(&fibre->direction, 0), noli_scene_item(&fibre->direction, 1),
      noli_scene_item(&fibre->direction, 2), fibre->k1, fibre->k2};
  for (size_t i = 0; i < NOLI_FIBRE_VALUES; i++) {
    NOLI_TRY(noli_scene_refuse_time(source, &node_of[i], &fibre->value[i]));
  }
done:
  return status;
}

// At the centre of element t, which the variables hold.
static NoliStatus evaluate_fibre(const NoliSceneSource* source, const Fibre* fibre, int32_t t,
                                 double* values) {
  NoliStatus status = NOLI_OK;
  const double* at = fibre->variables.position;
  for (int i = 0; i < NOLI_FIBRE_VALUES; i++) {
    values[i] = noli_scene_evaluate(&fibre->value[i], 0.0);
  }
  NOLI_SCENE_CHECK(source, &fibre->k1, values[3] >= 0.0 && values[3] <= NOLI_MATERIAL_MAX,
                   "must be in [0, %g], got %.10g at (%g, %g, %g), the centre of element %d",
                   NOLI_MATERIAL_MAX, values[3], at[0], at[1], at[2], (int)t);
  NOLI_SCENE_CHECK(source, &fibre->k2, values[4] >= 0.0 && values[4] <= NOLI_FIBRE_GROWTH_MAX,
                   "must be in [0, %g], got %.10g at (%g, %g, %g), the centre of element %d",
                   NOLI_FIBRE_GROWTH_MAX, values[4], at[0], at[1], at[2], (int)t);
  NOLI_SCENE_CHECK(source, &fibre->direction, values[3] == 0.0 || noli_fibre_has_direction(values),
                   "must be finite and not 0, got (%g, %g, %g) at (%g, %g, %g), the centre of "
                   "element %d",
                   values[0], values[1], values[2], at[0], at[1], at[2], (int)t);
done:
  return status;
}

static NoliStatus read_fibre(const NoliSceneSource* source, NoliScene* scene,
                             const NoliSceneNode* node, const Elements* of, const double** values) {
  NoliStatus status = NOLI_OK;
  Fibre fibre = {0};
  double* found = NULL;
  const NoliBodyKind* kind = noli_body_kind(of->body);
  NOLI_SCENE_CHECK(source, node, kind->fills,
                   "is for solids and bodies in plane strain, not for shells, rods and points");
  NOLI_TRY(compile_fibre(source, node, &fibre));
  NoliBodyCells cells = kind->cells(of->body->mesh);
  NOLI_NEW(scene->context, found, NOLI_FIBRE_VALUES * (int64_t)of->n);
  NOLI_TRY(noli_scene_own(scene, found));
  for (int32_t i = 0; i < of->n; i++) {
    int32_t t = of->element != NULL ? of->element[i] : i;
    noli_body_cell_centre(&cells, of->body->mesh, t, fibre.variables.position);
    NOLI_TRY(evaluate_fibre(source, &fibre, t, found + NOLI_FIBRE_VALUES * (int64_t)i));
  }
  *values = found;
done:
  for (int i = 0; i < NOLI_FIBRE_VALUES; i++) {
    noli_scene_release_expression(&fibre.value[i]);
  }
  return status;
}

// ---- all fields ---------------------------------------------------------------------------------

NoliStatus noli_scene_read_fields(const NoliSceneSource* source, NoliScene* scene,
                                  const NoliSceneNode* entry, const NoliBodyDef* body,
                                  const int32_t* element, int32_t n_element,
                                  NoliMaterialDef* material, NoliMaterialFields* fields) {
  NoliStatus status = NOLI_OK;
  const Elements of = {body, element, n_element};
  NoliSceneNode node = noli_scene_member(entry, "material");
  for (int32_t k = 0; k < NOLI_PROPERTY_COUNT; k++) {
    const NoliProperty* property = noli_property_at(k);
    NoliSceneNode value = noli_scene_member(&node, property->key);
    if (json_is_array(value.value)) {
      NOLI_TRY(fields_read_list(source, scene, &value, n_element,
                                noli_property_values(property, fields)));
    } else if (json_is_string(value.value)) {
      NOLI_TRY(read_field(source, scene, &value, &of, property,
                          noli_property_number(property, material),
                          noli_property_values(property, fields)));
    }
  }
  NoliSceneNode fibre = noli_scene_member(&node, "fibre");
  if (fibre.value != NULL) {
    NOLI_TRY(read_fibre(source, scene, &fibre, &of, &fields->fibre));
  }
done:
  return status;
}

// The values of a body, `width` for each element, at the elements of a part.
static NoliStatus inherit(NoliScene* scene, const double* from, int32_t width,
                          const NoliPartDef* part, const double** to) {
  NoliStatus status = NOLI_OK;
  double* values = NULL;
  NOLI_NEW(scene->context, values, width * (int64_t)part->n_element);
  NOLI_TRY(noli_scene_own(scene, values));
  for (int64_t i = 0; i < part->n_element; i++) {
    memcpy(values + width * i, from + width * (int64_t)part->element[i],
           (size_t)width * sizeof *values);
  }
  *to = values;
done:
  return status;
}

NoliStatus noli_scene_inherit_fields(NoliScene* scene, const NoliSceneNode* entry,
                                     const NoliBodyDef* body, NoliPartDef* part) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode node = noli_scene_member(entry, "material");
  NoliMaterialFields of_body = body->fields;
  // parameters of a law replace Young's modulus, the bulk modulus Poisson's ratio
  of_body.young = noli_material_has_shear(&part->material) ? NULL : of_body.young;
  of_body.poisson = noli_scene_member(&node, "bulk").value != NULL ? NULL : of_body.poisson;
  for (int32_t k = 0; k < NOLI_PROPERTY_COUNT; k++) {
    const NoliProperty* property = noli_property_at(k);
    const double* from = *noli_property_values(property, &of_body);
    if (from != NULL && noli_scene_member(&node, property->key).value == NULL) {
      NOLI_TRY(inherit(scene, from, 1, part, noli_property_values(property, &part->fields)));
    }
  }
  if (of_body.fibre != NULL && part->fields.fibre == NULL) {
    NOLI_TRY(inherit(scene, of_body.fibre, NOLI_FIBRE_VALUES, part, &part->fields.fibre));
  }
done:
  return status;
}
