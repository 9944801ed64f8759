#include "measure/probes.h"

#include "base/numbers.h"
#include "step/simulation.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

// ---- quantities ---------------------------------------------------------------------------------

const NoliNamed noli_probe_reductions[NOLI_PROBE_REDUCTIONS] = {
    [NOLI_PROBE_MEAN] = {"mean", "Mean of the vertices, each with the same weight."},
    [NOLI_PROBE_SUM] = {"sum", "Sum of the vertices."},
    [NOLI_PROBE_MIN] = {"min", "Smallest value of each component."},
    [NOLI_PROBE_MAX] = {"max", "Largest value of each component."},
};
const NoliNames noli_probe_reduction_names = {"reduction of probes", NULL, noli_probe_reductions,
                                              NOLI_PROBE_REDUCTIONS};

static const char* const scalar[] = {""};
static const char* const vector[] = {"_x", "_y", "_z"};
static const char* const tensor[] = {"_xx", "_yy", "_zz", "_xy", "_yz", "_xz"};
static const char* const principal[] = {"_1", "_2", "_3"};

#define STRESS_MEMBER(member) NOLI_PROBE_STRESS, offsetof(NoliStress, member) / sizeof(double)

static const NoliProbeQuantity quantities[] = {
    {"position", "m, axes of the world.", NOLI_PROBE_POSITION, 0, 3, vector, false},
    {"displacement", "m, from the rest position.", NOLI_PROBE_DISPLACEMENT, 0, 3, vector, false},
    {"velocity", "m/s, axes of the world.", NOLI_PROBE_VELOCITY, 0, 3, vector, false},
    {"contact_force", "N, normal force of contacts.", NOLI_PROBE_CONTACT_FORCE, 0, 3, vector, true},
    {"friction_force", "N, tangential force of contacts.", NOLI_PROBE_FRICTION_FORCE, 0, 3, vector,
     true},
    {"reaction", "N, force that prescribed vertices need.", NOLI_PROBE_REACTION, 0, 3, vector,
     true},
    {"spring_force", "N, force of springs and dampers.", NOLI_PROBE_SPRING_FORCE, 0, 3, vector,
     true},
    {"contact_pressure", "Pa, normal force over area.", NOLI_PROBE_CONTACT_PRESSURE, 0, 1, scalar,
     false},
    {"kinetic_energy", "J, by default of all vertices.", NOLI_PROBE_KINETIC_ENERGY, 0, 1, scalar,
     true},
    {"elastic_energy", "J, by default of all vertices.", NOLI_PROBE_ELASTIC_ENERGY, 0, 1, scalar,
     true},
    {"gravity_energy", "J, by default of all vertices; 0 at the origin.", NOLI_PROBE_GRAVITY_ENERGY,
     0, 1, scalar, true},
    {"stress", "Pa, Cauchy stress.", STRESS_MEMBER(cauchy), 6, tensor, false},
    {"principal_stress", "Pa, the largest first.", STRESS_MEMBER(principal), 3, principal, false},
    {"von_mises", "Pa, equivalent stress.", STRESS_MEMBER(von_mises), 1, scalar, false},
};

const NoliProbeQuantity* noli_probe_quantity_at(int32_t index) {
  return index >= 0 && index < (int32_t)(sizeof quantities / sizeof *quantities)
             ? &quantities[index]
             : NULL;
}

static NoliNamed named_quantity(int32_t index) {
  const NoliProbeQuantity* found = noli_probe_quantity_at(index);
  return found != NULL ? (NoliNamed){found->name, found->description} : (NoliNamed){0};
}

const NoliNames noli_probe_quantity_names = {"quantity of probes", named_quantity, NULL, 0};

const NoliProbeQuantity* noli_probe_quantity_find(const char* name) {
  const NoliProbeQuantity* quantity = NULL;
  for (int32_t i = 0; (quantity = noli_probe_quantity_at(i)) != NULL; i++) {
    if (name != NULL && strcmp(quantity->name, name) == 0) {
      break;
    }
  }
  return quantity;
}

// ---- names --------------------------------------------------------------------------------------

const char* noli_probe_name_defect(const char* name) {
  if (name == NULL || name[0] == '\0') {
    return "a probe needs a name";
  }
  for (const char* c = name; *c != '\0'; c++) {
    if (*c == ',' || *c == '"' || (unsigned char)*c < ' ' || *c == '\x7f') {
      return "the name of a probe is that of columns: it has no comma, quotation mark or line "
             "break";
    }
  }
  return strcmp(name, "step") == 0 || strcmp(name, "time") == 0
             ? "\"step\" and \"time\" are columns of every history"
             : NULL;
}

bool noli_probes_collide(const NoliProbeDef* a, const NoliProbeDef* b) {
  const NoliProbeQuantity* of_a = noli_probe_quantity_find(a->quantity);
  const NoliProbeQuantity* of_b = noli_probe_quantity_find(b->quantity);
  size_t n_a = strlen(a->name), n_b = strlen(b->name), n = n_a < n_b ? n_a : n_b;
  if (strncmp(a->name, b->name, n) != 0 || of_a == NULL || of_b == NULL) {
    return false;
  }

  // the rest of the longer name and its suffix would have to be the suffix of the shorter one
  bool same = n_a == n_b;
  const NoliProbeQuantity* shorter = n_a < n_b ? of_a : of_b;
  const NoliProbeQuantity* longer = n_a < n_b ? of_b : of_a;
  const char* rest = n_a < n_b ? b->name + n : a->name + n;
  size_t n_rest = strlen(rest);
  for (int32_t i = 0; !same && i < shorter->n_components; i++) {
    for (int32_t k = 0; !same && k < longer->n_components; k++) {
      const char* suffix = shorter->suffix[i];
      same = strncmp(suffix, rest, n_rest) == 0 && strcmp(suffix + n_rest, longer->suffix[k]) == 0;
    }
  }
  return same;
}

// ---- probes -------------------------------------------------------------------------------------

static NoliStatus copy_probe(NoliContext* context, const NoliModel* model, const NoliProbeDef* def,
                             NoliProbe* probe) {
  NoliStatus status = NOLI_OK;
  char where[160];
  const char* defect = noli_probe_name_defect(def->name);
  NOLI_CHECK(context, defect == NULL, NOLI_ERROR_ARGUMENT, "probe \"%.80s\": %s",
             def->name != NULL ? def->name : "", defect);
  NOLI_CHECK(context, def->reserved[0] == NULL && def->reserved[1] == NULL, NOLI_ERROR_ARGUMENT,
             "probe \"%s\" sets members that Noli %s does not have; begin with zeros", def->name,
             NOLI_VERSION);
  NOLI_CHECK(context, def->quantity != NULL, NOLI_ERROR_ARGUMENT, "probe \"%s\" has no quantity",
             def->name);
  snprintf(where, sizeof where, "probe \"%.100s\": ", def->name);
  NOLI_TRY(noli_names_require(context, where, &noli_probe_quantity_names, def->quantity));
  NOLI_TRY(noli_names_require(context, where, &noli_probe_reduction_names, def->reduction));
  NOLI_TRY(noli_numbers_check(context, where, NOLI_NUMBERS_PROBE, def));
  NOLI_CHECK(context, def->body < model->n_body, NOLI_ERROR_ARGUMENT,
             "probe \"%s\": body %d does not exist", def->name, (int)def->body);
  probe->quantity = noli_probe_quantity_find(def->quantity);
  NOLI_CHECK(context, probe->quantity->source != NOLI_PROBE_STRESS || !model->obstacle[def->body],
             NOLI_ERROR_ARGUMENT, "probe \"%s\": \"%s\" is an obstacle, which has no %s", def->name,
             model->name[def->body], def->quantity);

  probe->name = noli_strdup(context, def->name);
  NOLI_CHECK(context, probe->name != NULL, NOLI_ERROR_MEMORY, "out of memory");
  int32_t reduction = noli_names_find(&noli_probe_reduction_names, def->reduction);
  probe->reduction = def->reduction != NULL    ? (NoliProbeReduction)reduction
                     : probe->quantity->is_sum ? NOLI_PROBE_SUM
                                               : NOLI_PROBE_MEAN;
  NOLI_TRY(noli_model_list_vertices(model, where, def->body, def->node, def->n_node, &probe->vertex,
                                    &probe->n_vertex));
done:
  return status;
}

NoliStatus noli_probes_create(NoliContext* context, const NoliSim* sim, int32_t n,
                              const NoliProbeDef* def, NoliProbes* probes) {
  NoliStatus status = NOLI_OK;
  *probes = (NoliProbes){0};
  NOLI_NEW_ZERO(context, probes->probe, n);
  for (int32_t i = 0; i < n; i++) {
    probes->n_probe = i + 1;
    NOLI_TRY(copy_probe(context, sim->model, &def[i], &probes->probe[i]));
    probes->n_values += probes->probe[i].quantity->n_components;
    for (int32_t k = 0; k < i; k++) {
      NOLI_CHECK(context, !noli_probes_collide(&def[k], &def[i]), NOLI_ERROR_ARGUMENT,
                 "probes \"%s\" and \"%s\" have columns of the same name", def[k].name,
                 def[i].name);
    }
  }
done:
  return status;
}

void noli_probes_free(NoliContext* context, NoliProbes* probes) {
  for (int32_t i = 0; i < probes->n_probe; i++) {
    noli_free(context, probes->probe[i].name);
    noli_free(context, probes->probe[i].vertex);
  }
  noli_free(context, probes->probe);
  *probes = (NoliProbes){0};
}

// ---- values -------------------------------------------------------------------------------------

static NoliStatus take_positions(NoliSim* sim, double* values) {
  memcpy(values, noli_sim_positions(sim), noli_sim_vector_bytes(sim));
  return NOLI_OK;
}

static NoliStatus take_displacements(NoliSim* sim, double* values) {
  const double *x = noli_sim_positions(sim), *X = noli_sim_rest_positions(sim);
  for (int64_t i = 0; i < 3 * (int64_t)noli_sim_vertex_count(sim); i++) {
    values[i] = x[i] - X[i];
  }
  return NOLI_OK;
}

static NoliStatus take_velocities(NoliSim* sim, double* values) {
  memcpy(values, noli_sim_velocities(sim), noli_sim_vector_bytes(sim));
  return NOLI_OK;
}

static NoliStatus take_pressures(NoliSim* sim, double* values) {
  NoliStatus status = NOLI_OK;
  double* gap = NULL;
  NOLI_NEW(sim->context, gap, noli_sim_vertex_count(sim));
  NOLI_TRY(noli_sim_contact_pressures(sim, values, gap));
done:
  noli_free(sim->context, gap);
  return status;
}

static NoliStatus take_kinetic_energies(NoliSim* sim, double* values) {
  return noli_sim_nodal_energies(sim, values, NULL, NULL);
}

static NoliStatus take_elastic_energies(NoliSim* sim, double* values) {
  return noli_sim_nodal_energies(sim, NULL, values, NULL);
}

static NoliStatus take_gravity_energies(NoliSim* sim, double* values) {
  return noli_sim_nodal_energies(sim, NULL, NULL, values);
}

static NoliStatus take_stresses(NoliSim* sim, double* values) {
  return noli_sim_nodal_stresses(sim, (NoliStress*)(void*)values);
}

#define STRESS_SIZE ((int32_t)(sizeof(NoliStress) / sizeof(double)))

// Doubles at each vertex, and what writes them.
static const struct {
  int32_t size;
  NoliStatus (*take)(NoliSim* sim, double* values);
} sources[NOLI_PROBE_N_SOURCES] = {
    [NOLI_PROBE_POSITION] = {3, take_positions},
    [NOLI_PROBE_DISPLACEMENT] = {3, take_displacements},
    [NOLI_PROBE_VELOCITY] = {3, take_velocities},
    [NOLI_PROBE_CONTACT_FORCE] = {3, noli_sim_contact_forces},
    [NOLI_PROBE_FRICTION_FORCE] = {3, noli_sim_friction_forces},
    [NOLI_PROBE_REACTION] = {3, noli_sim_reaction_forces},
    [NOLI_PROBE_SPRING_FORCE] = {3, noli_sim_spring_forces},
    [NOLI_PROBE_CONTACT_PRESSURE] = {1, take_pressures},
    [NOLI_PROBE_KINETIC_ENERGY] = {1, take_kinetic_energies},
    [NOLI_PROBE_ELASTIC_ENERGY] = {1, take_elastic_energies},
    [NOLI_PROBE_GRAVITY_ENERGY] = {1, take_gravity_energies},
    [NOLI_PROBE_STRESS] = {STRESS_SIZE, take_stresses},
};

// One component, which the vertices have `size` doubles apart.
static double reduce(const NoliProbe* probe, const double* values, int32_t size) {
  double result = values[(int64_t)probe->vertex[0] * size];
  for (int32_t i = 1; i < probe->n_vertex; i++) {
    double value = values[(int64_t)probe->vertex[i] * size];
    switch (probe->reduction) {
    case NOLI_PROBE_MIN:
      result = fmin(result, value);
      break;
    case NOLI_PROBE_MAX:
      result = fmax(result, value);
      break;
    default:
      result += value;
    }
  }
  return probe->reduction == NOLI_PROBE_MEAN ? result / probe->n_vertex : result;
}

NoliStatus noli_probes_evaluate(const NoliProbes* probes, NoliSim* sim, double* values) {
  NoliStatus status = NOLI_OK;
  double* taken[NOLI_PROBE_N_SOURCES] = {0};
  for (int32_t i = 0; i < probes->n_probe; i++) {
    const NoliProbe* probe = &probes->probe[i];
    const NoliProbeQuantity* quantity = probe->quantity;
    int32_t size = sources[quantity->source].size;
    if (taken[quantity->source] == NULL) {
      NOLI_NEW(sim->context, taken[quantity->source], (int64_t)size * noli_sim_vertex_count(sim));
      NOLI_TRY(sources[quantity->source].take(sim, taken[quantity->source]));
    }
    for (int32_t k = 0; k < quantity->n_components; k++) {
      *values++ = reduce(probe, taken[quantity->source] + quantity->offset + k, size);
    }
  }
done:
  for (int32_t s = 0; s < NOLI_PROBE_N_SOURCES; s++) {
    noli_free(sim->context, taken[s]);
  }
  return status;
}
