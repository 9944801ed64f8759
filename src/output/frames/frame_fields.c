#include "output/frames/frame_fields.h"

#include "base/context.h"
#include "noli/run.h"
#include "step/simulation.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

// ---- results ------------------------------------------------------------------------------------

static NoliStatus require_element(NoliSim* sim, NoliFieldResults* results) {
  NoliStatus status = NOLI_OK;
  if (results->element == NULL) {
    NOLI_NEW_ZERO(sim->context, results->element, noli_sim_tet_count(sim));
    NOLI_TRY(noli_sim_stresses(sim, results->element));
  }
done:
  return status;
}

static NoliStatus require_vertex(NoliSim* sim, NoliFieldResults* results) {
  NoliStatus status = NOLI_OK;
  if (results->vertex == NULL) {
    NOLI_NEW(sim->context, results->vertex, noli_sim_vertex_count(sim));
    NOLI_TRY(noli_sim_nodal_stresses(sim, results->vertex));
  }
done:
  return status;
}

static NoliStatus require_contact(NoliSim* sim, NoliFieldResults* results) {
  NoliStatus status = NOLI_OK;
  int32_t n = noli_sim_vertex_count(sim);
  if (results->pressure == NULL) {
    NOLI_NEW(sim->context, results->pressure, n);
    NOLI_NEW(sim->context, results->gap, n);
    NOLI_TRY(noli_sim_contact_pressures(sim, results->pressure, results->gap));
  }
done:
  return status;
}

static NoliStatus require_slips(NoliSim* sim, NoliFieldResults* results) {
  NoliStatus status = NOLI_OK;
  int32_t n = noli_sim_vertex_count(sim);
  if (results->slid == NULL) {
    NOLI_NEW(sim->context, results->slid, n);
    NOLI_NEW(sim->context, results->sticking, n);
    NOLI_TRY(noli_sim_contact_slips(sim, results->slid, results->sticking));
  }
done:
  return status;
}

void noli_field_results_free(NoliContext* context, NoliFieldResults* results) {
  noli_free(context, results->element);
  noli_free(context, results->vertex);
  noli_free(context, results->pressure);
  noli_free(context, results->gap);
  noli_free(context, results->slid);
  noli_free(context, results->sticking);
  noli_free(context, results->vector);
  *results = (NoliFieldResults){0};
}

// ---- fields -------------------------------------------------------------------------------------

// Copies a member of n structs that begins at `offset` and has `size` numbers.
static void frame_fields_take(const NoliStress* stress, int32_t n, size_t offset, int32_t size,
                              float* values) {
  for (int32_t i = 0; i < n; i++) {
    const double* member = (const double*)((const char*)&stress[i] + offset);
    for (int32_t k = 0; k < size; k++) {
      *values++ = (float)member[k];
    }
  }
}

// Functions for a member of the stress of elements, and of vertices.
#define OF_ELEMENTS(function, member, size)                                                        \
  static NoliStatus element_##function(NoliSim* sim, NoliFieldResults* results, float* values) {   \
    NoliStatus status = require_element(sim, results);                                             \
    if (status == NOLI_OK) {                                                                       \
      frame_fields_take(results->element, noli_sim_tet_count(sim), offsetof(NoliStress, member),   \
                        size, values);                                                             \
    }                                                                                              \
    return status;                                                                                 \
  }
#define OF_VERTICES(function, member, size)                                                        \
  static NoliStatus vertex_##function(NoliSim* sim, NoliFieldResults* results, float* values) {    \
    NoliStatus status = require_vertex(sim, results);                                              \
    if (status == NOLI_OK) {                                                                       \
      frame_fields_take(results->vertex, noli_sim_vertex_count(sim), offsetof(NoliStress, member), \
                        size, values);                                                             \
    }                                                                                              \
    return status;                                                                                 \
  }

OF_ELEMENTS(cauchy, cauchy, 6)
OF_VERTICES(cauchy, cauchy, 6)
OF_ELEMENTS(principal, principal, 3)
OF_VERTICES(principal, principal, 3)
OF_ELEMENTS(piola, first_piola, 9)
OF_VERTICES(piola, first_piola, 9)
OF_ELEMENTS(strain, green_strain, 6)
OF_VERTICES(strain, green_strain, 6)
OF_VERTICES(mises, von_mises, 1)

static NoliStatus pressure(NoliSim* sim, NoliFieldResults* results, float* values) {
  NoliStatus status = require_contact(sim, results);
  for (int32_t i = 0; status == NOLI_OK && i < noli_sim_vertex_count(sim); i++) {
    values[i] = (float)results->pressure[i];
  }
  return status;
}

// NaN instead of infinity, which programs leave out of the range of colours.
static NoliStatus gap(NoliSim* sim, NoliFieldResults* results, float* values) {
  NoliStatus status = require_contact(sim, results);
  for (int32_t i = 0; status == NOLI_OK && i < noli_sim_vertex_count(sim); i++) {
    values[i] = isfinite(results->gap[i]) ? (float)results->gap[i] : NAN;
  }
  return status;
}

// NaN where no contact sticks, in both.
static NoliStatus slid(NoliSim* sim, NoliFieldResults* results, float* values) {
  NoliStatus status = require_slips(sim, results);
  for (int32_t i = 0; status == NOLI_OK && i < noli_sim_vertex_count(sim); i++) {
    values[i] = results->sticking[i] != NOLI_STICKING_NONE ? (float)results->slid[i] : NAN;
  }
  return status;
}

static NoliStatus held(NoliSim* sim, NoliFieldResults* results, float* values) {
  NoliStatus status = require_slips(sim, results);
  for (int32_t i = 0; status == NOLI_OK && i < noli_sim_vertex_count(sim); i++) {
    int32_t sticking = results->sticking[i];
    values[i] =
        sticking == NOLI_STICKING_NONE ? NAN : (sticking == NOLI_STICKING_HELD ? 1.0F : 0.0F);
  }
  return status;
}

static NoliStatus reaction(NoliSim* sim, NoliFieldResults* results, float* values) {
  NoliStatus status = NOLI_OK;
  int64_t n = 3 * (int64_t)noli_sim_vertex_count(sim);
  if (results->vector == NULL) {
    NOLI_NEW(sim->context, results->vector, n);
  }
  NOLI_TRY(noli_sim_reaction_forces(sim, results->vector));
  for (int64_t i = 0; i < n; i++) {
    values[i] = (float)results->vector[i];
  }
done:
  return status;
}

static NoliStatus plastic_strain(NoliSim* sim, NoliFieldResults* results, float* values) {
  NoliStatus status = NOLI_OK;
  int32_t n = noli_sim_tet_count(sim);
  double* strain = NULL;
  (void)results;
  NOLI_NEW_ZERO(sim->context, strain, n);
  NOLI_TRY(noli_sim_plastic_strains(sim, strain));
  for (int32_t t = 0; t < n; t++) {
    values[t] = (float)strain[t];
  }
done:
  noli_free(sim->context, strain);
  return status;
}

static const NoliFrameField fields[] = {
    {"stress", "Pa, Cauchy stress of elements, xx yy zz xy yz xz", true, 6, element_cauchy},
    {"principal_stress", "Pa, its eigenvalues, the largest first", true, 3, element_principal},
    {"first_piola_stress", "Pa, row by row", true, 9, element_piola},
    {"strain", "Green strain of elements, xx yy zz xy yz xz", true, 6, element_strain},
    {"plastic_strain", "equivalent plastic strain of elements", true, 1, plastic_strain},
    {"nodal_stress", "Pa, Cauchy stress at vertices", false, 6, vertex_cauchy},
    {"nodal_principal_stress", "Pa, its eigenvalues", false, 3, vertex_principal},
    {"nodal_first_piola_stress", "Pa, row by row", false, 9, vertex_piola},
    {"nodal_strain", "Green strain at vertices", false, 6, vertex_strain},
    {"nodal_von_mises", "Pa, von Mises stress at vertices", false, 1, vertex_mises},
    {"reaction", "N, force that prescribed vertices need", false, 3, reaction},
    {"contact_pressure", "Pa, normal contact force over area", false, 1, pressure},
    {"gap", "m, of contacts; NaN: none", false, 1, gap},
    {"slid", "m, how far contacts that stick have slid in all; NaN: none", false, 1, slid},
    {"held", "1 where they hold, 0 where one slides; NaN: none", false, 1, held},
};

const NoliFrameField* noli_frame_field_at(int32_t index) {
  return index >= 0 && index < (int32_t)(sizeof fields / sizeof *fields) ? &fields[index] : NULL;
}

const NoliFrameField* noli_frame_field_find(const char* name) {
  const NoliFrameField* field = NULL;
  for (int32_t i = 0; (field = noli_frame_field_at(i)) != NULL; i++) {
    if (name != NULL && strcmp(field->name, name) == 0) {
      break;
    }
  }
  return field;
}

const char* noli_run_frame_field(int32_t index) {
  const NoliFrameField* field = noli_frame_field_at(index);
  return field != NULL ? field->name : NULL;
}
