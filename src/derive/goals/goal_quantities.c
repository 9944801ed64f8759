#include "derive/goals/goal_quantities.h"

#include "derive/goals/goal_contact.h"
#include "derive/goals/goal_elements.h"
#include "derive/goals/goal_masses.h"

#include <string.h>

#define READS(input) (1u << (input))

// ---- vertices -----------------------------------------------------------------------------------

static void goal_quantities_take(const NoliGoalPlace* place, const double* from, double* value) {
  for (int32_t i = 0; i < place->n_vertex; i++) {
    memcpy(value + 3 * (int64_t)i, from + 3 * (int64_t)place->vertex[i], 3 * sizeof *value);
  }
}

static void give(const NoliGoalPlace* place, double factor, const double* weight, double* to) {
  for (int64_t k = 0; to != NULL && k < 3 * (int64_t)place->n_vertex; k++) {
    to[3 * (int64_t)place->vertex[k / 3] + k % 3] += factor * weight[k];
  }
}

static NoliStatus positions(const NoliGoalPlace* place, double* value) {
  goal_quantities_take(place, place->x, value);
  return NOLI_OK;
}

static NoliStatus derive_positions(const NoliGoalPlace* place, const double* weight,
                                   NoliGoalDerivatives* derivatives) {
  give(place, 1.0, weight, derivatives->x);
  return NOLI_OK;
}

static NoliStatus displacements(const NoliGoalPlace* place, double* value) {
  const double* X = place->sim->model->problem.X;
  goal_quantities_take(place, place->x, value);
  for (int64_t k = 0; k < 3 * (int64_t)place->n_vertex; k++) {
    value[k] -= X[3 * (int64_t)place->vertex[k / 3] + k % 3];
  }
  return NOLI_OK;
}

static NoliStatus derive_displacements(const NoliGoalPlace* place, const double* weight,
                                       NoliGoalDerivatives* derivatives) {
  give(place, 1.0, weight, derivatives->x);
  give(place, -1.0, weight, derivatives->inputs.value[NOLI_INPUT_REST]);
  return NOLI_OK;
}

static NoliStatus velocities(const NoliGoalPlace* place, double* value) {
  goal_quantities_take(place, place->v, value);
  return NOLI_OK;
}

static NoliStatus derive_velocities(const NoliGoalPlace* place, const double* weight,
                                    NoliGoalDerivatives* derivatives) {
  give(place, 1.0, weight, derivatives->v);
  return NOLI_OK;
}

// ---- the table ----------------------------------------------------------------------------------

#define BY_MASS (READS(NOLI_INPUT_MASS) | READS(NOLI_INPUT_DENSITY) | READS(NOLI_INPUT_REST))
#define BY_MATERIAL                                                                                \
  (READS(NOLI_INPUT_MU) | READS(NOLI_INPUT_LAMBDA) | READS(NOLI_INPUT_LAW) |                       \
   READS(NOLI_INPUT_FIBRE) | READS(NOLI_INPUT_SERIES))
#define BY_CONTACT                                                                                 \
  (READS(NOLI_INPUT_REST) | READS(NOLI_INPUT_CONTACT) | READS(NOLI_INPUT_OFFSET) |                 \
   READS(NOLI_INPUT_WEIGHT) | READS(NOLI_INPUT_SUPPORT))

static const NoliGoalQuantity quantities[] = {
    {"position", "m, axes of the world.", NOLI_GOAL_VERTICES, true, 3, 0, NULL, positions,
     derive_positions},
    {"displacement", "m, from the rest position.", NOLI_GOAL_VERTICES, true, 3,
     READS(NOLI_INPUT_REST), NULL, displacements, derive_displacements},
    {"velocity", "m/s, axes of the world.", NOLI_GOAL_VERTICES, true, 3, 0, NULL, velocities,
     derive_velocities},
    {"centre", "m, centre of mass of the vertices.", NOLI_GOAL_VERTICES, false, 3, BY_MASS,
     noli_goal_mass_defect, noli_goal_centre, noli_goal_derive_centre},
    {"volume", "m^3, of the elements.", NOLI_GOAL_ELEMENTS, false, 1, 0, noli_goal_solid_defect,
     noli_goal_volume, noli_goal_derive_volume},
    {"kinetic_energy", "J, of the vertices.", NOLI_GOAL_VERTICES, false, 1, BY_MASS,
     noli_goal_mass_defect, noli_goal_kinetic_energy, noli_goal_derive_kinetic_energy},
    {"gravity_energy", "J, of the vertices, 0 at the origin.", NOLI_GOAL_VERTICES, false, 1,
     READS(NOLI_INPUT_LOAD) | READS(NOLI_INPUT_DENSITY) | READS(NOLI_INPUT_REST),
     noli_goal_mass_defect, noli_goal_gravity_energy, noli_goal_derive_gravity_energy},
    {"elastic_energy", "J, of the elements.", NOLI_GOAL_ELEMENTS, false, 1,
     BY_MATERIAL | READS(NOLI_INPUT_REST) | READS(NOLI_INPUT_PART), noli_goal_energy_defect,
     noli_goal_elastic_energy, noli_goal_derive_elastic_energy},
    {"von_mises", "Pa, equivalent stress of the elements.", NOLI_GOAL_ELEMENTS, true, 1,
     BY_MATERIAL | READS(NOLI_INPUT_REST), noli_goal_solid_defect, noli_goal_von_mises,
     noli_goal_derive_von_mises},
    {"contact_force", "N, sum of the normal forces of contacts on the vertices.",
     NOLI_GOAL_VERTICES, false, 3, BY_CONTACT, noli_goal_contact_defect, noli_goal_contact_force,
     noli_goal_derive_contact_force},
    {"contact_pressure", "Pa, normal force on a vertex over the area that faces it.",
     NOLI_GOAL_VERTICES, true, 1, BY_CONTACT, noli_goal_pressure_defect, noli_goal_contact_pressure,
     noli_goal_derive_contact_pressure},
};

const NoliGoalQuantity* noli_goal_quantity_at(int32_t index) {
  return index >= 0 && index < (int32_t)(sizeof quantities / sizeof *quantities)
             ? &quantities[index]
             : NULL;
}

static NoliNamed named_quantity(int32_t index) {
  const NoliGoalQuantity* found = noli_goal_quantity_at(index);
  return found != NULL ? (NoliNamed){found->name, found->description} : (NoliNamed){0};
}

const NoliNames noli_goal_quantity_names = {"quantity of goals", named_quantity, NULL, 0};

const NoliGoalQuantity* noli_goal_quantity_find(const char* name) {
  const NoliGoalQuantity* quantity = NULL;
  for (int32_t i = 0; (quantity = noli_goal_quantity_at(i)) != NULL; i++) {
    if (name != NULL && strcmp(quantity->name, name) == 0) {
      break;
    }
  }
  return quantity;
}

int32_t noli_goal_item_count(const NoliGoalQuantity* quantity, const NoliGoalPlace* place) {
  return !quantity->each                       ? 1
         : quantity->set == NOLI_GOAL_VERTICES ? place->n_vertex
                                               : noli_goal_element_count(place);
}

static bool has_volumes(const NoliGoalQuantity* quantity) {
  return quantity->each && quantity->set == NOLI_GOAL_ELEMENTS;
}

void noli_goal_item_weights(const NoliGoalQuantity* quantity, const NoliGoalPlace* place,
                            double* weight) {
  for (int32_t i = 0; i < noli_goal_item_count(quantity, place); i++) {
    weight[i] = has_volumes(quantity) ? noli_goal_rest_volume(place, i) : 1.0;
  }
}

void noli_goal_derive_weights(const NoliGoalQuantity* quantity, const NoliGoalPlace* place,
                              const double* by_weight, NoliGoalDerivatives* derivatives) {
  for (int32_t i = 0; has_volumes(quantity) && i < noli_goal_element_count(place); i++) {
    noli_goal_derive_rest_volume(place, i, by_weight[i], derivatives);
  }
}
