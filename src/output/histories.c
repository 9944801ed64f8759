#include "output/histories.h"

#include "sim/simulation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char steps_header[] =
    "step,time,wall_s,newton,linear_iterations,contacts,min_distance,kappa,kinetic,elastic,gravity,"
    "contact_energy,friction_energy,momentum_x,momentum_y,momentum_z,max_speed,max_penetration,"
    "damping_loss,substeps,retries,friction_loss,friction_ratio,friction_error,linear_fallbacks,"
    "solver_fallbacks\n";

static const char forces_header[] =
    "step,time,a,b,contacts,normal_x,normal_y,normal_z,friction_x,friction_y,friction_z,"
    "min_distance\n";

static const char volumes_header[] = "step,time,region,body,volume,rest_volume,pressure,energy\n";

static const char reactions_header[] =
    "step,time,motion,body,force_x,force_y,force_z,moment_x,moment_y,moment_z,at_x,at_y,at_z\n";

static NoliStatus always(NoliSim* sim, bool* wanted) {
  (void)sim;
  *wanted = true;
  return NOLI_OK;
}

// ---- steps ----

static NoliStatus append_step(NoliCsv* csv, NoliSim* sim, const NoliStepReport* report) {
  (void)sim;
  char row[1024];
  const NoliStepReport* r = report;
  // a distance below zero cannot be for barriers; penalty contact will show its depth here
  double penetration = fmax(0.0, -r->min_distance);
  int length = snprintf(
      row, sizeof row,
      "%lld,%.17g,%.6g,%d,%lld,%lld,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,"
      "%.17g,%.17g,%.17g,%d,%d,%.17g,%.6g,%.6g,%d,%d\n",
      (long long)r->step, r->time, r->wall, (int)r->newton_iterations,
      (long long)r->linear_iterations, (long long)r->contacts, r->min_distance, r->kappa,
      r->kinetic, r->elastic, r->gravity, r->contact_energy, r->friction_energy, r->momentum[0],
      r->momentum[1], r->momentum[2], r->max_speed, penetration, r->damping_loss, (int)r->substeps,
      (int)r->retries, r->friction_loss, r->friction_ratio, r->friction_error,
      (int)r->linear_fallbacks, (int)r->solver_fallbacks);
  return noli_csv_append(csv, row, (size_t)length);
}

// ---- forces ----

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

static NoliStatus append_pair(NoliCsv* csv, NoliSim* sim, const NoliPairForce* pair) {
  NoliStatus status = NOLI_OK;
  enum { NUMBERS = 512 };
  char* row = NULL;
  const char* a = noli_sim_entity_name(sim, pair->a);
  const char* b = noli_sim_entity_name(sim, pair->b);
  int64_t size = 2 * (int64_t)(strlen(a) + strlen(b)) + 2 * NUMBERS;
  NOLI_NEW(csv->context, row, size);
  char* end = row + snprintf(row, NUMBERS, "%lld,%.17g,", (long long)noli_sim_step_count(sim),
                             noli_sim_time(sim));
  end = put_name(end, a);
  end = put_name(end, b);
  end += snprintf(end, NUMBERS, "%lld,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g\n",
                  (long long)pair->contacts, pair->normal[0], pair->normal[1], pair->normal[2],
                  pair->friction[0], pair->friction[1], pair->friction[2], pair->min_distance);
  NOLI_TRY(noli_csv_append(csv, row, (size_t)(end - row)));
done:
  noli_free(csv->context, row);
  return status;
}

static NoliStatus append_forces(NoliCsv* csv, NoliSim* sim, const NoliStepReport* report) {
  (void)report;
  NoliStatus status = NOLI_OK;
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

static NoliStatus has_volumes(NoliSim* sim, bool* wanted) {
  NoliStatus status = NOLI_OK;
  const NoliRegionVolume* volumes = NULL;
  int32_t n_volumes = 0;
  NOLI_TRY(noli_sim_volumes(sim, &volumes, &n_volumes));
  *wanted = n_volumes > 0;
done:
  return status;
}

static NoliStatus append_volume(NoliCsv* csv, NoliSim* sim, int32_t index,
                                const NoliRegionVolume* volume) {
  NoliStatus status = NOLI_OK;
  enum { NUMBERS = 256 };
  char* row = NULL;
  const char* body = noli_sim_entity_name(sim, volume->body);
  NOLI_NEW(csv->context, row, 2 * (int64_t)strlen(body) + 2 * NUMBERS);
  char* end = row + snprintf(row, NUMBERS, "%lld,%.17g,%d,", (long long)noli_sim_step_count(sim),
                             noli_sim_time(sim), (int)index);
  end = put_name(end, body);
  end += snprintf(end, NUMBERS, "%.17g,%.17g,%.17g,%.17g\n", volume->volume, volume->rest_volume,
                  volume->pressure, volume->energy);
  NOLI_TRY(noli_csv_append(csv, row, (size_t)(end - row)));
done:
  noli_free(csv->context, row);
  return status;
}

static NoliStatus append_volumes(NoliCsv* csv, NoliSim* sim, const NoliStepReport* report) {
  (void)report;
  NoliStatus status = NOLI_OK;
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

static NoliStatus has_motions(NoliSim* sim, bool* wanted) {
  *wanted = noli_sim_motion_count(sim) > 0;
  return NOLI_OK;
}

static NoliStatus append_reaction(NoliCsv* csv, NoliSim* sim, int32_t motion,
                                  const NoliReaction* reaction, const double at[3]) {
  NoliStatus status = NOLI_OK;
  enum { NUMBERS = 512 };
  char* row = NULL;
  const char* name = noli_sim_motion_name(sim, motion);
  const char* body = noli_sim_entity_name(sim, sim->model->motion[motion].def.body);
  NOLI_NEW(csv->context, row, 2 * (int64_t)(strlen(name) + strlen(body)) + 2 * NUMBERS);
  char* end = row + snprintf(row, NUMBERS, "%lld,%.17g,", (long long)noli_sim_step_count(sim),
                             noli_sim_time(sim));
  end = put_name(end, name);
  end = put_name(end, body);
  const double *f = reaction->force, *m = reaction->moment;
  end += snprintf(end, NUMBERS, "%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g\n", f[0],
                  f[1], f[2], m[0], m[1], m[2], at[0], at[1], at[2]);
  NOLI_TRY(noli_csv_append(csv, row, (size_t)(end - row)));
done:
  noli_free(csv->context, row);
  return status;
}

static NoliStatus append_reactions(NoliCsv* csv, NoliSim* sim, const NoliStepReport* report) {
  (void)report;
  NoliStatus status = NOLI_OK;
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

const NoliHistoryType noli_histories[NOLI_N_HISTORIES] = {
    [NOLI_HISTORY_STEPS] = {"steps.csv", steps_header, always, append_step},
    [NOLI_HISTORY_FORCES] = {"forces.csv", forces_header, always, append_forces},
    [NOLI_HISTORY_REACTIONS] = {"reactions.csv", reactions_header, has_motions, append_reactions},
    [NOLI_HISTORY_VOLUMES] = {"volumes.csv", volumes_header, has_volumes, append_volumes},
};
