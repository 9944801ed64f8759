#include "output/histories.h"

#include "measure/connections.h"
#include "step/simulation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char steps_header[] =
    "step,time,wall_s,newton,linear_iterations,contacts,min_distance,kappa,kinetic,elastic,gravity,"
    "contact_energy,friction_energy,momentum_x,momentum_y,momentum_z,max_speed,max_penetration,"
    "damping_loss,substeps,retries,friction_loss,friction_ratio,friction_error,linear_fallbacks,"
    "solver_fallbacks,increment,imbalance,friction_stored,contacts_held,contacts_sliding,slid,"
    "adhesion_energy,rigid_stretch,joint_gap\n";

static const char forces_header[] =
    "step,time,a,b,contacts,normal_x,normal_y,normal_z,friction_x,friction_y,friction_z,"
    "min_distance\n";

static const char volumes_header[] = "step,time,region,body,volume,rest_volume,pressure,energy\n";

static const char reactions_header[] =
    "step,time,motion,body,force_x,force_y,force_z,moment_x,moment_y,moment_z,at_x,at_y,at_z\n";

static const char diagnosis_header[] =
    "step,time,kind,iterations,alpha,distance,a,b,vertices_a,vertices_b,x,y,z\n";

static NoliStatus copy_header(NoliContext* context, const char* text, char** header) {
  *header = noli_strdup(context, text);
  return *header != NULL ? NOLI_OK : noli_fail(context, NOLI_ERROR_MEMORY, "out of memory");
}

// ---- steps ----

static NoliStatus head_steps(NoliContext* context, const NoliHistorySource* source, char** header) {
  (void)source;
  return copy_header(context, steps_header, header);
}

static NoliStatus append_step(NoliCsv* csv, const NoliHistorySource* source,
                              const NoliStepReport* report) {
  (void)source;
  char row[1024];
  const NoliStepReport* r = report;
  // a distance below zero cannot be for barriers; penalty contact will show its depth here
  double penetration = fmax(0.0, -r->min_distance);
  int length = snprintf(
      row, sizeof row,
      "%lld,%.17g,%.6g,%d,%lld,%lld,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,"
      "%.17g,%.17g,%.17g,%d,%d,%.17g,%.6g,%.6g,%d,%d,%.17g,%.6g,%.17g,"
      "%lld,%lld,%.17g,%.17g,%.6g,%.6g\n",
      (long long)r->step, r->time, r->wall, (int)r->newton_iterations,
      (long long)r->linear_iterations, (long long)r->contacts, r->min_distance, r->kappa,
      r->kinetic, r->elastic, r->gravity, r->contact_energy, r->friction_energy, r->momentum[0],
      r->momentum[1], r->momentum[2], r->max_speed, penetration, r->damping_loss, (int)r->substeps,
      (int)r->retries, r->friction_loss, r->friction_ratio, r->friction_error,
      (int)r->linear_fallbacks, (int)r->solver_fallbacks, r->increment, r->imbalance,
      r->friction_stored, (long long)r->contacts_held, (long long)r->contacts_sliding, r->slid,
      r->adhesion_energy, r->rigid_stretch, r->joint_gap);
  return noli_csv_append(csv, row, (size_t)length);
}

// ---- forces ----

static NoliStatus head_forces(NoliContext* context, const NoliHistorySource* source,
                              char** header) {
  (void)source;
  return copy_header(context, forces_header, header);
}

// Copies a name, in quotation marks where it holds what separates fields. Returns its end.
static char* put_name(char* to, const char* name) {
  bool plain = strpbrk(name, ",\"\r\n") == NULL;
  if (!plain) {
    *to++ = '"';
  }
  for (; *name != '\0'; name++) {
    if (*name == '"') {
      *to++ = '"';
    }
    *to++ = *name;
  }
  if (!plain) {
    *to++ = '"';
  }
  *to++ = ',';
  return to;
}

// Appends a row about the last step: names, then numbers.
static NoliStatus append_row(NoliCsv* csv, const NoliSim* sim, int32_t n_name,
                             const char* const* name, int32_t n_number, const double* number) {
  NoliStatus status = NOLI_OK;
  enum { NUMBER = 32 };
  char* row = NULL;
  int64_t size = NUMBER * (int64_t)(n_number + 2);
  for (int32_t k = 0; k < n_name; k++) {
    size += 2 * (int64_t)strlen(name[k]) + 3;
  }
  NOLI_NEW(csv->context, row, size);
  char* end = row + snprintf(row, 2 * NUMBER, "%lld,%.17g,", (long long)noli_sim_step_count(sim),
                             noli_sim_time(sim));
  for (int32_t k = 0; k < n_name; k++) {
    end = put_name(end, name[k]);
  }
  for (int32_t k = 0; k < n_number; k++) {
    end += snprintf(end, NUMBER, "%.17g%c", number[k], k + 1 < n_number ? ',' : '\n');
  }
  NOLI_TRY(noli_csv_append(csv, row, (size_t)(end - row)));
done:
  noli_free(csv->context, row);
  return status;
}

#define APPEND_ROW(csv, sim, name, number)                                                         \
  append_row((csv), (sim), (int32_t)(sizeof(name) / sizeof *(name)), (name),                       \
             (int32_t)(sizeof(number) / sizeof *(number)), (number))

static NoliStatus append_pair(NoliCsv* csv, NoliSim* sim, const NoliPairForce* pair) {
  const char* name[] = {noli_sim_entity_name(sim, pair->a), noli_sim_entity_name(sim, pair->b)};
  const double *n = pair->normal, *f = pair->friction;
  const double number[] = {(double)pair->contacts, n[0], n[1], n[2], f[0], f[1], f[2],
                           pair->min_distance};
  return APPEND_ROW(csv, sim, name, number);
}

static NoliStatus append_forces(NoliCsv* csv, const NoliHistorySource* source,
                                const NoliStepReport* report) {
  (void)report;
  NoliStatus status = NOLI_OK;
  NoliSim* sim = source->sim;
  const NoliPairForce* pairs = NULL;
  int32_t n_pairs = 0;
  NOLI_TRY(noli_sim_pair_forces(sim, &pairs, &n_pairs));
  for (int32_t i = 0; i < n_pairs; i++) {
    NOLI_TRY(append_pair(csv, sim, &pairs[i]));
  }
done:
  return status;
}

// ---- volumes ----

static NoliStatus head_volumes(NoliContext* context, const NoliHistorySource* source,
                               char** header) {
  return source->sim->model->problem.volumes.n_region > 0
             ? copy_header(context, volumes_header, header)
             : NOLI_OK;
}

static NoliStatus append_volume(NoliCsv* csv, NoliSim* sim, int32_t index,
                                const NoliRegionVolume* volume) {
  char region[16];
  snprintf(region, sizeof region, "%d", (int)index);
  const char* name[] = {region, noli_sim_entity_name(sim, volume->body)};
  const double number[] = {volume->volume, volume->rest_volume, volume->pressure, volume->energy};
  return APPEND_ROW(csv, sim, name, number);
}

static NoliStatus append_volumes(NoliCsv* csv, const NoliHistorySource* source,
                                 const NoliStepReport* report) {
  (void)report;
  NoliStatus status = NOLI_OK;
  NoliSim* sim = source->sim;
  const NoliRegionVolume* volumes = NULL;
  int32_t n_volumes = 0;
  NOLI_TRY(noli_sim_volumes(sim, &volumes, &n_volumes));
  for (int32_t i = 0; i < n_volumes; i++) {
    NOLI_TRY(append_volume(csv, sim, i, &volumes[i]));
  }
done:
  return status;
}

// ---- reactions ----

static NoliStatus head_reactions(NoliContext* context, const NoliHistorySource* source,
                                 char** header) {
  return noli_sim_motion_count(source->sim) > 0 ? copy_header(context, reactions_header, header)
                                                : NOLI_OK;
}

static NoliStatus append_reaction(NoliCsv* csv, NoliSim* sim, int32_t motion,
                                  const NoliReaction* reaction, const double at[3]) {
  const char* name[] = {noli_sim_motion_name(sim, motion),
                        noli_sim_entity_name(sim, sim->model->motion[motion].def.body)};
  const double *f = reaction->force, *m = reaction->moment;
  const double number[] = {f[0], f[1], f[2], m[0], m[1], m[2], at[0], at[1], at[2]};
  return APPEND_ROW(csv, sim, name, number);
}

static NoliStatus append_reactions(NoliCsv* csv, const NoliHistorySource* source,
                                   const NoliStepReport* report) {
  (void)report;
  NoliStatus status = NOLI_OK;
  NoliSim* sim = source->sim;
  NoliReaction* reaction = NULL;
  double* at = NULL;
  int32_t n = noli_sim_motion_count(sim);
  if (n == 0) {
    return NOLI_OK;
  }
  NOLI_NEW(csv->context, reaction, n);
  NOLI_NEW(csv->context, at, 3 * (int64_t)n);
  NOLI_TRY(noli_sim_reactions(sim, reaction, at));
  for (int32_t i = 0; i < n; i++) {
    NOLI_TRY(append_reaction(csv, sim, i, &reaction[i], at + 3 * (int64_t)i));
  }
done:
  noli_free(csv->context, reaction);
  noli_free(csv->context, at);
  return status;
}

// ---- connections ----

static NoliStatus head_connections(NoliContext* context, const NoliHistorySource* source,
                                   int32_t kind, char** header) {
  const NoliConnectionList* list = noli_connection_list(kind);
  char text[512];
  snprintf(text, sizeof text, "step,time,%s,body,to,%s\n", list->noun, list->type->columns);
  return noli_connection_count(kind, source->sim->definition.def) > 0
             ? copy_header(context, text, header)
             : NOLI_OK;
}

static NoliStatus append_connections(NoliCsv* csv, const NoliHistorySource* source, int32_t kind) {
  NoliStatus status = NOLI_OK;
  NoliSim* sim = source->sim;
  const NoliSimDef* def = sim->definition.def;
  const NoliConnectionType* type = noli_connection_list(kind)->type;
  double* value = NULL;
  int32_t n = noli_connection_count(kind, def);
  if (n == 0) {
    return NOLI_OK;
  }
  NOLI_TRY(noli_sim_connection_values(sim, kind, &value));
  for (int32_t i = 0; i < n; i++) {
    NoliConnectionEnds ends = noli_connection_ends(kind, noli_connection_item(kind, def, i));
    const char* name[] = {ends.name, noli_sim_entity_name(sim, ends.body),
                          noli_sim_entity_name(sim, ends.to)}; // "" of the ground
    NOLI_TRY(append_row(csv, sim, 3, name, type->n_value, value + i * (int64_t)type->n_value));
  }
done:
  noli_free(sim->context, value);
  return status;
}

#define CONNECTIONS(list, type, item, ITEM)                                                        \
  static NoliStatus head_##list(NoliContext* context, const NoliHistorySource* source,             \
                                char** header) {                                                   \
    return head_connections(context, source, NOLI_CONNECTION_##ITEM, header);                      \
  }                                                                                                \
  static NoliStatus append_##list(NoliCsv* csv, const NoliHistorySource* source,                   \
                                  const NoliStepReport* report) {                                  \
    (void)report;                                                                                  \
    return append_connections(csv, source, NOLI_CONNECTION_##ITEM);                                \
  }
NOLI_CONNECTION_HISTORIES(CONNECTIONS)
#undef CONNECTIONS

// ---- probes ----

static NoliStatus head_probes(NoliContext* context, const NoliHistorySource* source,
                              char** header) {
  NoliStatus status = NOLI_OK;
  const NoliProbes* probes = source->probes;
  const size_t n_suffix = 8;
  size_t size = sizeof "step,time\n";

  if (probes->n_probe == 0) {
    return NOLI_OK;
  }
  for (int32_t i = 0; i < probes->n_probe; i++) {
    const NoliProbe* probe = &probes->probe[i];
    size += (size_t)probe->quantity->n_components * (strlen(probe->name) + n_suffix);
  }

  NOLI_NEW(context, *header, (int64_t)size);
  char* end = *header + snprintf(*header, size, "step,time");
  for (int32_t i = 0; i < probes->n_probe; i++) {
    const NoliProbe* probe = &probes->probe[i];
    for (int32_t k = 0; k < probe->quantity->n_components; k++) {
      end += snprintf(end, size - (size_t)(end - *header), ",%s%s", probe->name,
                      probe->quantity->suffix[k]);
    }
  }
  snprintf(end, size - (size_t)(end - *header), "\n");
done:
  return status;
}

static NoliStatus append_probes(NoliCsv* csv, const NoliHistorySource* source,
                                const NoliStepReport* report) {
  (void)report;
  NoliStatus status = NOLI_OK;
  enum { NUMBER = 32 };
  const NoliProbes* probes = source->probes;
  double* value = NULL;
  char* row = NULL;

  if (probes->n_probe == 0) {
    return NOLI_OK;
  }
  NOLI_NEW(csv->context, value, probes->n_values);
  NOLI_TRY(noli_probes_evaluate(probes, source->sim, value));
  NOLI_NEW(csv->context, row, (probes->n_values + 3) * NUMBER);
  char* end =
      row + snprintf(row, 2 * NUMBER, "%lld,%.17g", (long long)noli_sim_step_count(source->sim),
                     noli_sim_time(source->sim));
  for (int64_t i = 0; i < probes->n_values; i++) {
    end += snprintf(end, NUMBER, ",%.17g", value[i]);
  }
  *end++ = '\n';
  NOLI_TRY(noli_csv_append(csv, row, (size_t)(end - row)));
done:
  noli_free(csv->context, value);
  noli_free(csv->context, row);
  return status;
}

// ---- diagnosis ----

static NoliStatus head_diagnosis(NoliContext* context, const NoliHistorySource* source,
                                 char** header) {
  (void)source;
  return copy_header(context, diagnosis_header, header);
}

// Numbers with spaces between them, then a comma. Returns the end.
static char* histories_put_vertices(char* to, const int32_t* vertex, int32_t n) {
  for (int32_t k = 0; k < n; k++) {
    to += sprintf(to, "%s%d", k > 0 ? " " : "", (int)vertex[k]);
  }
  *to++ = ',';
  return to;
}

// Appends a finding about the step that was done, or about the one that failed after it.
static NoliStatus append_finding(NoliCsv* csv, NoliSim* sim, const NoliDiagnosis* found) {
  NoliStatus status = NOLI_OK;
  enum { NUMBERS = 512 };
  char* row = NULL;
  const char* name[2];

  for (int32_t k = 0; k < 2; k++) {
    bool there = found->entity[k] != NOLI_NULL_INDEX;
    name[k] = there ? noli_sim_entity_name(sim, found->entity[k]) : "";
  }

  NOLI_NEW(csv->context, row, 2 * (int64_t)(strlen(name[0]) + strlen(name[1])) + 2 * NUMBERS);
  char* end =
      row + snprintf(row, NUMBERS, "%lld,%.17g,%s,%d,%.6g,%.17g,",
                     (long long)noli_sim_step_count(sim) + (sim->outcome.failed ? 1 : 0),
                     noli_sim_time(sim) + (sim->outcome.failed ? noli_sim_time_step(sim) : 0.0),
                     noli_diagnosis_name(found->kind), (int)found->iterations, found->alpha,
                     found->distance);
  end = put_name(end, name[0]);
  end = put_name(end, name[1]);
  end = histories_put_vertices(end, found->vertex[0], found->n_vert[0]);
  end = histories_put_vertices(end, found->vertex[1], found->n_vert[1]);
  end += snprintf(end, NUMBERS, "%.9g,%.9g,%.9g\n", found->position[0], found->position[1],
                  found->position[2]);
  NOLI_TRY(noli_csv_append(csv, row, (size_t)(end - row)));
done:
  noli_free(csv->context, row);
  return status;
}

static NoliStatus append_diagnosis(NoliCsv* csv, const NoliHistorySource* source,
                                   const NoliStepReport* report) {
  (void)report;
  NoliStatus status = NOLI_OK;
  const NoliDiagnosis* diagnosis = NULL;
  int32_t n = 0;
  NOLI_TRY(noli_sim_diagnosis(source->sim, &diagnosis, &n));
  for (int32_t i = 0; i < n; i++) {
    NOLI_TRY(append_finding(csv, source->sim, &diagnosis[i]));
  }
done:
  return status;
}

const NoliHistoryType noli_histories[NOLI_N_HISTORIES] = {
    [NOLI_HISTORY_STEPS] = {"steps.csv", false, head_steps, append_step},
    [NOLI_HISTORY_FORCES] = {"forces.csv", false, head_forces, append_forces},
    [NOLI_HISTORY_REACTIONS] = {"reactions.csv", false, head_reactions, append_reactions},
#define CONNECTIONS(list, type, item, ITEM)                                                        \
  [NOLI_HISTORY_##ITEM] = {#list ".csv", false, head_##list, append_##list},
    NOLI_CONNECTION_HISTORIES(CONNECTIONS)
#undef CONNECTIONS
        [NOLI_HISTORY_VOLUMES] = {"volumes.csv", false, head_volumes, append_volumes},
    [NOLI_HISTORY_PROBES] = {"probes.csv", true, head_probes, append_probes},
    [NOLI_HISTORY_DIAGNOSIS] = {"diagnosis.csv", true, head_diagnosis, append_diagnosis},
};
