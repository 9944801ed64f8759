// The properties of a material that may differ from element to element, and the values of each
// element.
//
// Checks of definitions, scenes and blocks of elements all use this table.
#pragma once

#include "base/context.h"
#include "base/numbers.h"
#include "noli/sim.h"

typedef struct NoliProperty {
  const char* key; // in scenes
  size_t number;   // offset of the number in NoliMaterialDef, bytes
  size_t values;   // offset of the values in NoliMaterialFields, bytes
} NoliProperty;

enum { NOLI_YOUNG, NOLI_POISSON, NOLI_DENSITY, NOLI_PROPERTY_COUNT };

const NoliProperty* noli_property_at(int32_t index);

// Its noun and range.
const NoliNumber* noli_property_limits(const NoliProperty* property);

double* noli_property_number(const NoliProperty* property, NoliMaterialDef* material);
// NULL: the number counts.
const double** noli_property_values(const NoliProperty* property, NoliMaterialFields* fields);

// The material of the `index`-th element of a body or part.
NoliMaterialDef noli_material_of_element(const NoliMaterialDef* material,
                                         const NoliMaterialFields* fields, int32_t index);

// Shortest direction of fibres, which may have any length beyond.
#define NOLI_FIBRE_LEAST 1e-100

// Whether the first three values of fibres are a direction.
bool noli_fibre_has_direction(const double* fibre);

// Checks the values for the elements `element` (n_element) of a body; NULL: for all of them. `name`
// is that of the body. Fails with NOLI_ERROR_ARGUMENT.
NOLI_WARN_UNUSED NoliStatus noli_fields_check(NoliContext* context, const char* name,
                                              const NoliBodyDef* body, const int32_t* element,
                                              int32_t n_element, const NoliMaterialDef* material,
                                              const NoliMaterialFields* fields);
