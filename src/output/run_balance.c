// The bookkeeping of a run: what its histories, its frames and its scene say about mass, momentum,
// energy and forces must agree as far as rounding, and in free flight the tolerance of the solver,
// allow.
#include "output/run_audit.h"

#include "math/vec3.h"
#include "output/file.h"

#include <float.h>
#include <string.h>

// Relative rounding of sums of products in doubles, with room for long sums.
#define SUM_ROUNDING 1e-11
// Numbers below this are zero in frames.
#define SMALLEST ((double)FLT_MIN)
// Times are products of numbers of steps and their length.
#define TIME_ROUNDING 1e-9

static const char* const column_names[] = {
#define NOLI_AUDIT_COLUMN(name) #name,
    NOLI_AUDIT_COLUMNS(NOLI_AUDIT_COLUMN)
#undef NOLI_AUDIT_COLUMN
};

double noli_auditor_value(const NoliAuditor* auditor, int64_t step, NoliAuditColumn column) {
  return auditor->row[(step - 1) * NOLI_AUDIT_N_COLUMNS + column];
}

// ---- histories ----

static NoliStatus read_history(NoliAuditor* auditor, const char* name, NoliHistory* history) {
  NoliStatus status = NOLI_OK;
  char* path = NULL;
  NOLI_TRY(noli_file_join(auditor->context, auditor->directory, name, &path));
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
  double h = auditor->sim->model->h, want = (double)(i + 1) * h;
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

// Index of a body or half-space; NOLI_NULL_INDEX if there is none of this name.
static int32_t find_entity(const NoliModel* model, const char* name) {
  for (int32_t i = 0; i < model->n_entity; i++) {
    if (strcmp(model->name[i], name) == 0) {
      return i;
    }
  }
  return NOLI_NULL_INDEX;
}

// Reads one row of forces.csv; false when it is damaged.
static bool read_force_row(const NoliModel* model, const NoliHistory* forces, int64_t i,
                           NoliForceRow* row) {
  enum { STEP, A = 2, B = 3, NORMAL = 5, FRICTION = 8 };
  double step;
  row->a = find_entity(model, noli_history_text(forces, i, A));
  row->b = find_entity(model, noli_history_text(forces, i, B));
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
  if (forces->n_columns < 11 || strcmp(forces->name[5], "normal_x") != 0 ||
      strcmp(forces->name[8], "friction_x") != 0) {
    return noli_auditor_find(auditor, NOLI_FINDING_FILE, "forces.csv", -1,
                             "forces.csv:1: the header is not that of a run of Noli");
  }
  int64_t before = 0;
  for (int64_t i = 0; i < forces->n_rows; i++) {
    NoliForceRow row;
    bool good = read_force_row(auditor->sim->model, forces, i, &row) && row.step >= before;
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
  return status;
}

// The first row of forces that belongs to a step at or after this one.
static int64_t first_force(const NoliAuditor* auditor, int64_t step) {
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
  NOLI_TRY(read_history(auditor, "steps.csv", &steps));
  if (steps.n_columns > 0) {
    NOLI_TRY(take_steps(auditor, &steps));
  }
  NOLI_TRY(read_history(auditor, "forces.csv", &forces));
  if (forces.n_columns > 0) {
    NOLI_TRY(take_forces(auditor, &forces));
  }
done:
  noli_history_free(auditor->context, &steps);
  noli_history_free(auditor->context, &forces);
  return status;
}

// ---- mass ----

static double rest_volume(const double* X, const int32_t* tet) {
  NoliVec3 p = noli_load3(&X[3 * (int64_t)tet[0]]);
  NoliVec3 a = noli_sub3(noli_load3(&X[3 * (int64_t)tet[1]]), p);
  NoliVec3 b = noli_sub3(noli_load3(&X[3 * (int64_t)tet[2]]), p);
  NoliVec3 c = noli_sub3(noli_load3(&X[3 * (int64_t)tet[3]]), p);
  return noli_dot3(a, noli_cross3(b, c)) / 6.0;
}

NoliStatus noli_auditor_check_masses(NoliAuditor* auditor) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = auditor->sim->model;
  const NoliSimDef* def = noli_scene_sim_def(auditor->scene);
  for (int32_t b = 0; b < model->n_body; b++) {
    double of_nodes = 0.0, of_volume = 0.0;
    for (int32_t i = model->vert_first[b]; i < model->vert_first[b + 1]; i++) {
      of_nodes += model->problem.weight[i];
    }
    // others have curved elements, a density that is corrected for a proxy, or a thickness
    bool plain = !model->obstacle[b] && model->element_of[b] == NOLI_NULL_INDEX &&
                 model->follower_first[b] == model->follower_first[b + 1] &&
                 !(def->bodies[b].plane_strain > 0.0);
    for (int32_t t = model->tet_first[b]; plain && t < model->tet_first[b + 1]; t++) {
      of_volume += def->bodies[b].material.density *
                   rest_volume(model->problem.X, &model->tet[4 * (int64_t)t]);
    }
    if (plain && !(fabs(of_nodes - of_volume) <= SUM_ROUNDING * of_volume)) {
      NOLI_TRY(noli_auditor_find(auditor, NOLI_FINDING_BALANCE, "scene.json", -1,
                                 "\"%s\": its nodes have %.9g kg, density times volume %.9g kg",
                                 model->name[b], of_nodes, of_volume));
    }
  }
done:
  return status;
}

// ---- momentum ----

// Whether something was touched in a step that does not deform.
static bool touches_outside(const NoliAuditor* auditor, int64_t step) {
  const NoliModel* model = auditor->sim->model;
  int64_t end = first_force(auditor, step + 1);
  for (int64_t i = first_force(auditor, step); i < end; i++) {
    const NoliForceRow* row = &auditor->forces.data[i];
    if (row->a >= model->n_body || row->b >= model->n_body || model->obstacle[row->a] ||
        model->obstacle[row->b]) {
      return true;
    }
  }
  return false;
}

// Whether the momentum of a step whose bodies touch nothing outside comes from gravity alone. Other
// integrators and solvers know forces from within the step, which no file tells.
static bool is_simple(const NoliModel* model) {
  const NoliProblem* problem = &model->problem;
  return strcmp(model->integrator->name, "backward_euler") == 0 && model->n_motion == 0 &&
         model->n_force == 0 && problem->n_drag == 0 && problem->n_element_body == 0 &&
         !problem->contact->has_targets;
}

NoliStatus noli_auditor_check_free_steps(NoliAuditor* auditor) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = auditor->sim->model;
  const NoliProblem* problem = &model->problem;
  double mass = 0.0;
  for (int32_t i = 0; i < problem->n_inertial; i++) {
    mass += problem->weight[problem->inertial[i]];
  }
  for (int64_t step = 2; is_simple(model) && step <= auditor->n_rows; step++) {
    if (touches_outside(auditor, step) || auditor->substeps[step - 1] != 1) {
      continue;
    }
    for (int32_t k = 0; k < 3; k++) {
      NoliAuditColumn column = (NoliAuditColumn)(NOLI_AUDIT_momentum_x + k);
      double from = noli_auditor_value(auditor, step - 1, column);
      double to = noli_auditor_value(auditor, step, column);
      double impulse = model->h * mass * model->gravity[k];
      double allowed = mass * problem->tolerance + SUM_ROUNDING * (fabs(from) + fabs(to));
      if (!(fabs(to - from - impulse) <= allowed)) {
        NOLI_TRY(noli_auditor_find(
            auditor, NOLI_FINDING_BALANCE, "steps.csv", step,
            "steps.csv:%lld: %s changes by %.9g kg m/s in step %lld, in which nothing is touched "
            "that could take it up; gravity gives %.9g, the tolerance of the solver %.3g",
            (long long)step + 1, column_names[column], to - from, (long long)step, impulse,
            allowed));
      }
    }
  }
done:
  return status;
}

static NoliStatus compare(NoliAuditor* auditor, const char* file, int64_t step,
                          NoliAuditColumn column, double value, double allowed) {
  double listed = noli_auditor_value(auditor, step, column);
  if (fabs(value - listed) <= allowed) {
    return NOLI_OK;
  }
  return noli_auditor_find(auditor, NOLI_FINDING_BALANCE, file, step,
                           "%s: %s is %.9g, in steps.csv:%lld %.9g", file, column_names[column],
                           value, (long long)step + 1, listed);
}

NoliStatus noli_auditor_check_motion(NoliAuditor* auditor, const char* file, int64_t step,
                                     const double* x, const double* v, double precision) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = auditor->sim->model;
  double kinetic = 0.0, gravity = 0.0, absolute_gravity = 0.0, speed = 0.0;
  double momentum[3] = {0.0, 0.0, 0.0}, absolute[3] = {0.0, 0.0, 0.0};
  if (step < 1 || step > auditor->n_rows) {
    return NOLI_OK;
  }
  int32_t next = 0; // of the lumped masses; others have an energy for all of a body
  for (int32_t i = 0; i < model->problem.n_element_body; i++) {
    kinetic += 0.5 * noli_element_body_mass_product(&model->problem.element_body[i], v, v, 1);
  }
  for (int32_t i = 0; i < model->problem.n_inertial; i++) {
    int64_t node = model->problem.inertial[i];
    double mass = model->problem.weight[node], speed_sqr = 0.0;
    bool lumped = next < model->problem.n_lumped && model->problem.lumped[next] == node;
    next += lumped ? 1 : 0;
    for (int k = 0; k < 3; k++) {
      double of_axis = v[3 * node + k], potential = mass * model->gravity[k] * x[3 * node + k];
      momentum[k] += mass * of_axis;
      absolute[k] += fabs(mass * of_axis);
      gravity -= potential;
      absolute_gravity += fabs(potential);
      speed_sqr += of_axis * of_axis;
    }
    kinetic += lumped ? 0.5 * mass * speed_sqr : 0.0;
    speed = fmax(speed, sqrt(speed_sqr));
  }
  double relative = precision + SUM_ROUNDING;
  // consistent masses have parts of both signs
  double spread = model->problem.n_element_body > 0 ? 20.0 : 2.1;
  NOLI_TRY(compare(auditor, file, step, NOLI_AUDIT_kinetic, kinetic,
                   spread * relative * kinetic + SMALLEST));
  NOLI_TRY(
      compare(auditor, file, step, NOLI_AUDIT_gravity, gravity, SUM_ROUNDING * absolute_gravity));
  NOLI_TRY(compare(auditor, file, step, NOLI_AUDIT_max_speed, speed, relative * speed + SMALLEST));
  for (int k = 0; k < 3; k++) {
    NOLI_TRY(compare(auditor, file, step, (NoliAuditColumn)(NOLI_AUDIT_momentum_x + k), momentum[k],
                     relative * absolute[k] + SMALLEST));
  }
done:
  return status;
}

// ---- forces ----

typedef struct BodyForce {
  double of_vertices[3];
  double listed[3];
  double magnitude; // sum of absolute values, for rounding
} BodyForce;

// Sums of one kind of force for each body.
static void sum_forces(const NoliAuditor* auditor, int kind, int64_t step, int64_t n_vert,
                       const float* force, BodyForce* sum) {
  const NoliModel* model = auditor->sim->model;
  const int32_t* body = model->problem.surface->body;
  for (int64_t i = 0; i < 3 * n_vert; i++) {
    sum[body[i / 3]].of_vertices[i % 3] += (double)force[i];
    sum[body[i / 3]].magnitude += fabs((double)force[i]);
  }
  int64_t end = first_force(auditor, step + 1);
  for (int64_t i = first_force(auditor, step); i < end; i++) {
    const NoliForceRow* row = &auditor->forces.data[i];
    const int32_t entity[2] = {row->a, row->b};
    for (int side = 0; side < 2; side++) {
      for (int k = 0; entity[side] < model->n_body && k < 3; k++) {
        double value = row->force[kind][k];
        sum[entity[side]].listed[k] += side == 0 ? value : -value;
        sum[entity[side]].magnitude += fabs(value);
      }
    }
  }
}

static NoliStatus compare_forces(NoliAuditor* auditor, const char* file, int64_t step,
                                 const char* name, const BodyForce* sum) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = auditor->sim->model;
  for (int32_t b = 0; b < model->n_body; b++) {
    double allowed =
        (double)FLT_EPSILON * sum[b].magnitude + SMALLEST * (double)model->problem.n_vert;
    for (int k = 0; k < 3; k++) {
      if (!(fabs(sum[b].of_vertices[k] - sum[b].listed[k]) <= allowed)) {
        NOLI_TRY(noli_auditor_find(auditor, NOLI_FINDING_BALANCE, file, step,
                                   "%s: %s on \"%s\" adds up to %.9g N along axis %d, in "
                                   "forces.csv to %.9g N",
                                   file, name, model->name[b], sum[b].of_vertices[k], k,
                                   sum[b].listed[k]));
      }
    }
  }
done:
  return status;
}

NoliStatus noli_auditor_check_forces(NoliAuditor* auditor, const char* file, int64_t step,
                                     const NoliVtuFrame* frame) {
  static const char* const names[2] = {"contact_force", "friction_force"};
  NoliStatus status = NOLI_OK;
  const NoliModel* model = auditor->sim->model;
  BodyForce* sum = NULL;
  if (step < 1 || step > auditor->n_rows) {
    return NOLI_OK;
  }
  NOLI_NEW(auditor->context, sum, model->n_body);
  for (int kind = 0; kind < 2; kind++) {
    const NoliVtuReadArray* array =
        noli_vtu_find(frame, "PointData", names[kind], NOLI_VTU_FLOAT32, 3, frame->n_vert);
    if (array != NULL) {
      memset(sum, 0, sizeof *sum * (size_t)model->n_body);
      sum_forces(auditor, kind, step, frame->n_vert, array->data, sum);
      NOLI_TRY(compare_forces(auditor, file, step, names[kind], sum));
    }
  }
done:
  noli_free(auditor->context, sum);
  return status;
}
