// Probes: a quantity at some vertices of a body, reduced to one value for each of its components.
#pragma once

#include "base/context.h"
#include "base/named.h"
#include "noli/sim.h"

// The results at vertices that quantities are taken from; each is computed once for all probes.
typedef enum NoliProbeSource {
  NOLI_PROBE_POSITION,
  NOLI_PROBE_DISPLACEMENT,
  NOLI_PROBE_VELOCITY,
  NOLI_PROBE_CONTACT_FORCE,
  NOLI_PROBE_FRICTION_FORCE,
  NOLI_PROBE_REACTION,
  NOLI_PROBE_SPRING_FORCE,
  NOLI_PROBE_CONTACT_PRESSURE,
  NOLI_PROBE_KINETIC_ENERGY,
  NOLI_PROBE_ELASTIC_ENERGY,
  NOLI_PROBE_GRAVITY_ENERGY,
  NOLI_PROBE_STRESS, // a NoliStress
  NOLI_PROBE_N_SOURCES
} NoliProbeSource;

typedef struct NoliProbeQuantity {
  const char* name;
  const char* description;
  NoliProbeSource source;
  int32_t offset; // of its first component, in doubles
  int32_t n_components;
  const char* const* suffix; // (n_components) what the names of columns end with
  bool is_sum;               // reduced to the sum by default
} NoliProbeQuantity;

// In the order of their names, noli_probe_reductions.
typedef enum NoliProbeReduction {
  NOLI_PROBE_MEAN,
  NOLI_PROBE_SUM,
  NOLI_PROBE_MIN,
  NOLI_PROBE_MAX,
  NOLI_PROBE_REDUCTIONS
} NoliProbeReduction;
extern const NoliNamed noli_probe_reductions[NOLI_PROBE_REDUCTIONS];
extern const NoliNames noli_probe_reduction_names;

// The `index`-th quantity, NULL past the last. The quantity of this name, or NULL.
const NoliProbeQuantity* noli_probe_quantity_at(int32_t index);
extern const NoliNames noli_probe_quantity_names;
const NoliProbeQuantity* noli_probe_quantity_find(const char* name);

// The defect of the name of a probe; NULL: none.
const char* noli_probe_name_defect(const char* name);

// Whether two probes would have columns of the same name.
bool noli_probes_collide(const NoliProbeDef* a, const NoliProbeDef* b);

typedef struct NoliProbe {
  char* name;
  const NoliProbeQuantity* quantity;
  NoliProbeReduction reduction;
  int32_t* vertex; // (n_vertex) of the simulation
  int32_t n_vertex;
} NoliProbe;

typedef struct NoliProbes {
  NoliProbe* probe;
  int32_t n_probe;
  int64_t n_values; // components of all probes
} NoliProbes;

// Checks and copies definitions. Fails with NOLI_ERROR_ARGUMENT; `probes` must be released then,
// too.
NOLI_WARN_UNUSED NoliStatus noli_probes_create(NoliContext* context, const NoliSim* sim, int32_t n,
                                               const NoliProbeDef* def, NoliProbes* probes);
void noli_probes_free(NoliContext* context, NoliProbes* probes);

// Writes the values of all probes at the present state, (n_values).
NOLI_WARN_UNUSED NoliStatus noli_probes_evaluate(const NoliProbes* probes, NoliSim* sim,
                                                 double* values);
