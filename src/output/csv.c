#define _POSIX_C_SOURCE 200809L

#include "output/csv.h"

#include "output/file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char noli_csv_steps_header[] =
    "step,time,wall_s,newton,linear_iterations,contacts,min_distance,kappa,kinetic,elastic,gravity,"
    "contact_energy,friction_energy,momentum_x,momentum_y,momentum_z,max_speed,max_penetration,"
    "damping_loss,substeps,retries,friction_loss,friction_ratio,friction_error,linear_fallbacks\n";

const char noli_csv_forces_header[] =
    "step,time,a,b,contacts,normal_x,normal_y,normal_z,friction_x,friction_y,friction_z,"
    "min_distance\n";

const char noli_csv_volumes_header[] = "step,time,region,body,volume,rest_volume,pressure,energy\n";

static NoliStatus open_to_append(NoliContext* context, const char* path, int64_t size,
                                 NoliCsv* csv) {
  NoliStatus status = NOLI_OK;
  *csv = (NoliCsv){.context = context, .descriptor = -1, .size = size};
  csv->path = noli_strdup(context, path);
  if (csv->path == NULL) {
    return NOLI_ERROR_MEMORY;
  }
  if (noli_disk_allows(context, "open", path)) {
    csv->descriptor = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
  }
  if (csv->descriptor < 0) {
    status = noli_file_fail(context, path, "cannot open", errno);
    noli_csv_close(csv);
  }
  return status;
}

NoliStatus noli_csv_create(NoliContext* context, const char* path, const char* header,
                           NoliCsv* csv) {
  NoliStatus status = NOLI_OK;
  *csv = (NoliCsv){.context = context, .descriptor = -1};
  NOLI_TRY(noli_file_replace(context, path, header, strlen(header), false));
  NOLI_TRY(open_to_append(context, path, (int64_t)strlen(header), csv));
done:
  return status;
}

// Bytes up to the first row of a later step; a last line without its end does not count.
static size_t rows_to_keep(const char* text, size_t begin, int64_t last_step) {
  size_t kept = begin;
  for (;;) {
    const char* row = text + kept;
    const char* end = strchr(row, '\n');
    char* after = NULL;
    long long step = strtoll(row, &after, 10);
    if (end == NULL || after == row || *after != ',' || step > last_step) {
      return kept;
    }
    kept = (size_t)(end - text) + 1;
  }
}

NoliStatus noli_csv_reopen(NoliContext* context, const char* path, const char* header,
                           int64_t last_step, NoliCsv* csv) {
  NoliStatus status = NOLI_OK;
  char* text = NULL;
  size_t size = 0, n_header = strlen(header);
  *csv = (NoliCsv){.context = context, .descriptor = -1};
  NOLI_TRY(noli_file_read(context, path, &text, &size));
  NOLI_CHECK(context, size >= n_header && memcmp(text, header, n_header) == 0, NOLI_ERROR_FORMAT,
             "%s:1: this is not the header of a history of this version of Noli", path);
  size_t kept = rows_to_keep(text, n_header, last_step);
  if (kept < size) {
    NOLI_TRY(noli_file_replace(context, path, text, kept, true));
  }
  NOLI_TRY(open_to_append(context, path, (int64_t)kept, csv));
done:
  noli_free(context, text);
  return status;
}

NoliStatus noli_csv_append(NoliCsv* csv, const char* row, size_t length) {
  if (!noli_file_write_all(csv->context, csv->path, csv->descriptor, row, length)) {
    int error = errno;
    // half a row would spoil the file for its readers
    if (!noli_disk_allows(csv->context, "truncate", csv->path) ||
        ftruncate(csv->descriptor, (off_t)csv->size) != 0) {
      return noli_file_fail(csv->context, csv->path, "cannot write, and the last row is torn",
                            error);
    }
    return noli_file_fail(csv->context, csv->path, "cannot write", error);
  }
  csv->size += (int64_t)length;
  return NOLI_OK;
}

NoliStatus noli_csv_sync(NoliCsv* csv) {
  return csv->path != NULL ? noli_file_sync(csv->context, csv->path, csv->descriptor) : NOLI_OK;
}

NoliStatus noli_csv_append_step(NoliCsv* csv, const NoliStepReport* report) {
  char row[1024];
  const NoliStepReport* r = report;
  // a distance below zero cannot be for barriers; penalty contact will show its depth here
  double penetration = fmax(0.0, -r->min_distance);
  int length = snprintf(
      row, sizeof row,
      "%lld,%.17g,%.6g,%d,%lld,%lld,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,"
      "%.17g,%.17g,%.17g,%d,%d,%.17g,%.6g,%.6g,%d\n",
      (long long)r->step, r->time, r->wall, (int)r->newton_iterations,
      (long long)r->linear_iterations, (long long)r->contacts, r->min_distance, r->kappa,
      r->kinetic, r->elastic, r->gravity, r->contact_energy, r->friction_energy, r->momentum[0],
      r->momentum[1], r->momentum[2], r->max_speed, penetration, r->damping_loss, (int)r->substeps,
      (int)r->retries, r->friction_loss, r->friction_ratio, r->friction_error,
      (int)r->linear_fallbacks);
  return noli_csv_append(csv, row, (size_t)length);
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

NoliStatus noli_csv_append_forces(NoliCsv* csv, NoliSim* sim) {
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

NoliStatus noli_csv_append_volumes(NoliCsv* csv, NoliSim* sim) {
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

void noli_csv_close(NoliCsv* csv) {
  if (csv->path == NULL) {
    return;
  }
  if (csv->descriptor >= 0) {
    close(csv->descriptor);
  }
  noli_free(csv->context, csv->path);
  *csv = (NoliCsv){.context = csv->context, .descriptor = -1};
}
