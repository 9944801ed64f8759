#include "output/audit/audit_histories.h"

#include "base/sort.h"
#include "output/file.h"
#include "output/histories.h"
#include "output/history.h"

#include <stdlib.h>
#include <string.h>

// Times are products of numbers of steps and their length.
#define TIME_ROUNDING 1e-9

static const char* const column_names[] = {
#define NOLI_AUDIT_COLUMN(name) #name,
    NOLI_AUDIT_COLUMNS(NOLI_AUDIT_COLUMN)
#undef NOLI_AUDIT_COLUMN
};

const char* noli_audit_column_name(NoliAuditColumn column) {
  return column_names[column];
}

double noli_auditor_value(const NoliAuditor* auditor, int64_t step, NoliAuditColumn column) {
  return auditor->row[(step - 1) * NOLI_AUDIT_N_COLUMNS + column];
}

static NoliStatus read_history(NoliAuditor* auditor, const char* name, NoliHistory* history) {
  NoliStatus status = NOLI_OK;
  char* path = NULL;
  NOLI_TRY(noli_file_join(auditor->context, auditor->run.directory, name, &path));
  if (!noli_file_exists(path)) {
    NOLI_TRY(noli_auditor_find(auditor, NOLI_FINDING_FILE, name, -1, "%s: missing", name));
    goto done;
  }
  status = noli_history_read(auditor->context, path, history);
  status = noli_auditor_excuse(auditor, status, name, -1);
done:
  noli_free(auditor->context, path);
  return status;
}

// Copies one row; `*good` is false, and something was found, when it is not what should follow.
static NoliStatus take_row(NoliAuditor* auditor, const NoliHistory* steps, int64_t i,
                           const int32_t column[NOLI_AUDIT_N_COLUMNS], bool* good) {
  NoliStatus status = NOLI_OK;
  double* row = &auditor->row[i * NOLI_AUDIT_N_COLUMNS];
  double h = auditor->run.sim->model->h, want = (double)(i + 1) * h;
  *good = true;
  for (int32_t k = 0; *good && k < NOLI_AUDIT_N_COLUMNS; k++) {
    *good = noli_history_number(steps, i, column[k], &row[k]) && isfinite(row[k]);
    if (!*good) {
      NOLI_TRY(noli_auditor_find(auditor, NOLI_FINDING_NOT_FINITE, "steps.csv", i + 1,
                                 "steps.csv:%lld: %s is \"%s\"", (long long)i + 2, column_names[k],
                                 noli_history_text(steps, i, column[k])));
      goto done;
    }
  }

  *good = row[NOLI_AUDIT_step] == (double)(i + 1);
  if (!*good) {
    NOLI_TRY(noli_auditor_find(auditor, NOLI_FINDING_TIME, "steps.csv", i + 1,
                               "steps.csv:%lld: step %g where %lld should follow", (long long)i + 2,
                               row[NOLI_AUDIT_step], (long long)i + 1));
  } else if (!(fabs(row[NOLI_AUDIT_time] - want) <= TIME_ROUNDING * want)) {
    NOLI_TRY(noli_auditor_find(
        auditor, NOLI_FINDING_TIME, "steps.csv", i + 1,
        "steps.csv:%lld: the time of step %lld is %.17g s, not %lld steps of "
        "%g s",
        (long long)i + 2, (long long)i + 1, row[NOLI_AUDIT_time], (long long)i + 1, h));
  }
done:
  return status;
}

static NoliStatus take_steps(NoliAuditor* auditor, const NoliHistory* steps) {
  NoliStatus status = NOLI_OK;
  int32_t column[NOLI_AUDIT_N_COLUMNS];
  bool good = true;
  for (int32_t k = 0; k < NOLI_AUDIT_N_COLUMNS; k++) {
    column[k] = noli_history_column(steps, column_names[k]);
    if (column[k] == NOLI_NULL_INDEX) {
      NOLI_TRY(noli_auditor_find(auditor, NOLI_FINDING_FILE, "steps.csv", -1,
                                 "steps.csv:1: no column \"%s\"", column_names[k]));
      goto done;
    }
  }

  int32_t parts = noli_history_column(steps, "substeps");
  NOLI_NEW_ZERO(auditor->context, auditor->row, steps->n_rows * NOLI_AUDIT_N_COLUMNS + 1);
  NOLI_NEW_ZERO(auditor->context, auditor->substeps, steps->n_rows + 1);
  auditor->audit->n_rows = steps->n_rows;

  // what follows a row that is wrong cannot be told apart from it
  for (int64_t i = 0; good && i < steps->n_rows; i++) {
    double n_parts = 1.0;
    NOLI_TRY(take_row(auditor, steps, i, column, &good));
    if (parts != NOLI_NULL_INDEX && !noli_history_number(steps, i, parts, &n_parts)) {
      n_parts = 0.0;
    }
    auditor->substeps[i] = n_parts >= 1.0 && n_parts <= 1e9 ? (int32_t)n_parts : 0;
    auditor->n_rows += good;
  }
done:
  return status;
}

// A body or half-space by its name.
typedef struct NamedEntity {
  const char* name;
  int32_t entity;
} NamedEntity;

static int compare_names(const void* a, const void* b) {
  const NamedEntity *p = a, *q = b;
  int order = strcmp(p->name, q->name);
  return order != 0 ? order : (p->entity > q->entity) - (p->entity < q->entity);
}

// All of them, sorted: every row of forces.csv names two.
static NoliStatus sort_names(const NoliModel* model, NamedEntity** names) {
  NoliStatus status = NOLI_OK;
  NOLI_NEW(model->context, *names, model->n_entity);
  for (int32_t i = 0; i < model->n_entity; i++) {
    (*names)[i] = (NamedEntity){model->name[i], i};
  }
  noli_sort(*names, model->n_entity, sizeof **names, compare_names);
done:
  return status;
}

// The first entity of this name; NOLI_NULL_INDEX if there is none.
static int32_t audit_histories_find_entity(const NamedEntity* names, int32_t n, const char* name) {
  int32_t low = 0, high = n;
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (strcmp(names[middle].name, name) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < n && strcmp(names[low].name, name) == 0 ? names[low].entity : NOLI_NULL_INDEX;
}

// Reads one row of forces.csv; false when it is damaged.
static bool read_force_row(const NamedEntity* names, int32_t n_names, const NoliHistory* forces,
                           int64_t i, NoliForceRow* row) {
  enum { STEP, A = 2, B = 3, NORMAL = 5, FRICTION = 8 };
  double step;
  row->a = audit_histories_find_entity(names, n_names, noli_history_text(forces, i, A));
  row->b = audit_histories_find_entity(names, n_names, noli_history_text(forces, i, B));
  bool good = row->a != NOLI_NULL_INDEX && row->b != NOLI_NULL_INDEX &&
              noli_history_number(forces, i, STEP, &step) && step >= 1.0 && step < 1e15;
  row->step = good ? (int64_t)step : 0;
  for (int32_t k = 0; good && k < 3; k++) {
    good = noli_history_number(forces, i, NORMAL + k, &row->force[0][k]) &&
           noli_history_number(forces, i, FRICTION + k, &row->force[1][k]);
  }
  return good;
}

static NoliStatus take_forces(NoliAuditor* auditor, const NoliHistory* forces) {
  NoliStatus status = NOLI_OK;
  NamedEntity* names = NULL;
  if (forces->n_columns < 11 || strcmp(forces->name[5], "normal_x") != 0 ||
      strcmp(forces->name[8], "friction_x") != 0) {
    return noli_auditor_find(auditor, NOLI_FINDING_FILE, "forces.csv", -1,
                             "forces.csv:1: the header is not that of a run of Noli");
  }
  const NoliModel* model = auditor->run.sim->model;
  int64_t before = 0;
  NOLI_TRY(sort_names(model, &names));

  for (int64_t i = 0; i < forces->n_rows; i++) {
    NoliForceRow row;
    bool good = read_force_row(names, model->n_entity, forces, i, &row) && row.step >= before;
    if (!good) {
      NOLI_TRY(noli_auditor_find(auditor, NOLI_FINDING_FILE, "forces.csv", -1,
                                 "forces.csv:%lld: the row is damaged, names what the scene does "
                                 "not have, or follows a later step",
                                 (long long)i + 2));
      continue;
    }
    before = row.step;
    // those of steps whose row is wrong, or was not written any more, are left out
    if (row.step <= auditor->n_rows) {
      NOLI_PUSH(auditor->context, &auditor->forces, row);
    }
  }
done:
  noli_free(auditor->context, names);
  return status;
}

// ---- diagnosis.csv ----

// Columns behind the kind, in the order of the file.
enum {
  D_STEP,
  D_KIND = 2,
  D_ITERATIONS,
  D_ALPHA,
  D_DISTANCE,
  D_A,
  D_VERTICES_A = 8,
  D_X = 10,
  D_N = 13
};

static bool is_diagnosis(const char* kind) {
  const char* known = NULL;
  for (int32_t k = 0; (known = noli_diagnosis_name((NoliDiagnosisKind)k)) != NULL; k++) {
    if (strcmp(kind, known) == 0) {
      return true;
    }
  }
  return false;
}

// Whether a text is numbers of vertices of this body, with spaces between them.
static bool are_vertices(const NoliModel* model, int32_t body, const char* text) {
  bool is_body = body != NOLI_NULL_INDEX && body < model->n_body;
  int64_t n = is_body ? model->vert_first[body + 1] - model->vert_first[body] +
                            model->follower_first[body + 1] - model->follower_first[body]
                      : 0;
  while (*text != '\0') {
    char* end = NULL;
    long vertex = strtol(text, &end, 10);
    if (end == text || vertex < 0 || vertex >= n) {
      return false;
    }
    text = end;
  }
  return true;
}

// Whether a row says what a run can say, of an entity by its name or of none.
static bool is_good_diagnosis(const NoliModel* model, const NamedEntity* names,
                              const NoliHistory* rows, int64_t i, int64_t* step) {
  double number = 0.0;
  bool good = noli_history_number(rows, i, D_STEP, &number) && number >= 1.0 && number < 1e15 &&
              is_diagnosis(noli_history_text(rows, i, D_KIND));
  *step = good ? (int64_t)number : 0;
  for (int32_t k = D_ITERATIONS; good && k <= D_DISTANCE; k++) {
    good = noli_history_number(rows, i, k, &number) && number >= 0.0;
  }
  bool placed = good && noli_history_text(rows, i, D_A)[0] != '\0';
  for (int32_t side = 0; good && side < 2; side++) {
    const char* name = noli_history_text(rows, i, D_A + side);
    int32_t entity = audit_histories_find_entity(names, model->n_entity, name);
    good = (name[0] == '\0' || entity != NOLI_NULL_INDEX) &&
           are_vertices(model, entity, noli_history_text(rows, i, D_VERTICES_A + side));
  }
  for (int32_t k = D_X; good && placed && k < D_N; k++) {
    good = noli_history_number(rows, i, k, &number) && isfinite(number);
  }
  return good;
}

// A step that failed has rows, too: it follows the last one of steps.csv.
static NoliStatus take_diagnosis(NoliAuditor* auditor, const NoliHistory* rows) {
  NoliStatus status = NOLI_OK;
  NamedEntity* names = NULL;
  const char* file = noli_histories[NOLI_HISTORY_DIAGNOSIS].file;
  int64_t before = 0, step = 0;
  if (rows->n_columns < D_N || strcmp(rows->name[D_X], "x") != 0) {
    return noli_auditor_find(auditor, NOLI_FINDING_FILE, file, -1,
                             "%s:1: the header is not that of a run of Noli", file);
  }
  NOLI_TRY(sort_names(auditor->run.sim->model, &names));
  for (int64_t i = 0; i < rows->n_rows; i++) {
    bool good = is_good_diagnosis(auditor->run.sim->model, names, rows, i, &step);
    if (!good || step < before || step > auditor->audit->n_rows + 1) {
      NOLI_TRY(noli_auditor_find(auditor, NOLI_FINDING_FILE, file, good ? step : -1,
                                 "%s:%lld: the row is damaged, names what the scene does not "
                                 "have, or is of a step that does not follow",
                                 file, (long long)i + 2));
      continue;
    }
    before = step;
  }
done:
  noli_free(auditor->context, names);
  return status;
}

// Runs of earlier versions have none.
static NoliStatus read_diagnosis(NoliAuditor* auditor) {
  NoliStatus status = NOLI_OK;
  const char* file = noli_histories[NOLI_HISTORY_DIAGNOSIS].file;
  NoliHistory rows = {0};
  char* path = NULL;
  NOLI_TRY(noli_file_join(auditor->context, auditor->run.directory, file, &path));
  if (noli_file_exists(path)) {
    NOLI_TRY(read_history(auditor, file, &rows));
  }
  if (rows.n_columns > 0) {
    NOLI_TRY(take_diagnosis(auditor, &rows));
  }
done:
  noli_free(auditor->context, path);
  noli_history_free(auditor->context, &rows);
  return status;
}

int64_t noli_auditor_first_force(const NoliAuditor* auditor, int64_t step) {
  int64_t begin = 0, end = auditor->forces.count;
  while (begin < end) {
    int64_t middle = begin + (end - begin) / 2;
    if (auditor->forces.data[middle].step < step) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

NoliStatus noli_auditor_read_histories(NoliAuditor* auditor) {
  NoliStatus status = NOLI_OK;
  NoliHistory steps = {0}, forces = {0};
  NOLI_TRY(read_history(auditor, noli_histories[NOLI_HISTORY_STEPS].file, &steps));
  if (steps.n_columns > 0) {
    NOLI_TRY(take_steps(auditor, &steps));
  }
  NOLI_TRY(read_history(auditor, noli_histories[NOLI_HISTORY_FORCES].file, &forces));
  if (forces.n_columns > 0) {
    NOLI_TRY(take_forces(auditor, &forces));
  }
  NOLI_TRY(read_diagnosis(auditor));
done:
  noli_history_free(auditor->context, &steps);
  noli_history_free(auditor->context, &forces);
  return status;
}
