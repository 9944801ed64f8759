#include "output/audit/audit_totals.h"

#include "define/body_kind.h"
#include "math/vec3.h"
#include "output/audit/audit_histories.h"

#include <float.h>
#include <string.h>

// Relative rounding of sums of products in doubles, with room for long sums.
#define SUM_ROUNDING 1e-11
// Numbers below this are zero in frames.
#define SMALLEST ((double)FLT_MIN)

// ---- mass ----

static double audit_totals_rest_volume(const double* X, const int32_t* tet) {
  NoliVec3 p = noli_load3(&X[3 * (int64_t)tet[0]]);
  NoliVec3 a = noli_sub3(noli_load3(&X[3 * (int64_t)tet[1]]), p);
  NoliVec3 b = noli_sub3(noli_load3(&X[3 * (int64_t)tet[2]]), p);
  NoliVec3 c = noli_sub3(noli_load3(&X[3 * (int64_t)tet[3]]), p);
  return noli_dot3(a, noli_cross3(b, c)) / 6.0;
}

NoliStatus noli_auditor_check_masses(NoliAuditor* auditor) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = auditor->run.sim->model;
  const NoliSimDef* def = noli_scene_sim_def(auditor->run.scene);

  for (int32_t b = 0; b < model->n_body; b++) {
    double of_nodes = 0.0, of_volume = 0.0;
    for (int32_t i = model->vert_first[b]; i < model->vert_first[b + 1]; i++) {
      of_nodes += model->problem.inertia.weight[i];
    }
    // others have curved elements, a density that is corrected for a proxy, or a thickness
    const NoliBlock* block = noli_problem_block(&model->problem, b);
    bool plain = block != NULL && block->type->affine &&
                 model->follower_first[b] == model->follower_first[b + 1] &&
                 noli_body_kind(&def->bodies[b]) == &noli_body_solid;
    for (int32_t t = model->cell_first[b]; plain && t < model->cell_first[b + 1]; t++) {
      of_volume += block->density[model->problem.range[b].begin + t - model->cell_first[b]] *
                   audit_totals_rest_volume(model->problem.X, &model->cell[4 * (int64_t)t]);
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
  const NoliModel* model = auditor->run.sim->model;
  int64_t end = noli_auditor_first_force(auditor, step + 1);
  for (int64_t i = noli_auditor_first_force(auditor, step); i < end; i++) {
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
         model->n_force == 0 && problem->inertia.n_drag == 0 && !problem->followers.grounded &&
         !noli_problem_has_consistent_mass(problem) && !problem->contact.model->has_targets;
}

NoliStatus noli_auditor_check_free_steps(NoliAuditor* auditor) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = auditor->run.sim->model;
  const NoliProblem* problem = &model->problem;
  double mass = 0.0;
  for (int32_t i = 0; i < problem->inertia.n_vert; i++) {
    mass += problem->inertia.weight[problem->inertia.vert[i]];
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
      double speed = noli_auditor_value(auditor, step - 1, NOLI_AUDIT_max_speed);
      double allowed =
          mass * noli_problem_tolerance(problem, speed) + SUM_ROUNDING * (fabs(from) + fabs(to));
      if (!(fabs(to - from - impulse) <= allowed)) {
        NOLI_TRY(noli_auditor_find(
            auditor, NOLI_FINDING_BALANCE, "steps.csv", step,
            "steps.csv:%lld: %s changes by %.9g kg m/s in step %lld, in which nothing is touched "
            "that could take it up; gravity gives %.9g, the tolerance of the solver %.3g",
            (long long)step + 1, noli_audit_column_name(column), to - from, (long long)step,
            impulse, allowed));
      }
    }
  }
done:
  return status;
}

static NoliStatus audit_totals_compare(NoliAuditor* auditor, const char* file, int64_t step,
                                       NoliAuditColumn column, double value, double allowed) {
  double listed = noli_auditor_value(auditor, step, column);
  if (fabs(value - listed) <= allowed) {
    return NOLI_OK;
  }
  return noli_auditor_find(auditor, NOLI_FINDING_BALANCE, file, step,
                           "%s: %s is %.9g, in steps.csv:%lld %.9g", file,
                           noli_audit_column_name(column), value, (long long)step + 1, listed);
}

NoliStatus noli_auditor_check_motion(NoliAuditor* auditor, const char* file, int64_t step,
                                     const double* x, const double* v, bool has_rates,
                                     double precision) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = auditor->run.sim->model;
  double gravity = 0.0, absolute_gravity = 0.0, speed = 0.0;
  double momentum[3] = {0.0, 0.0, 0.0}, absolute[3] = {0.0, 0.0, 0.0};
  if (step < 1 || step > auditor->n_rows) {
    return NOLI_OK;
  }

  // sum energies and momentum over bodies and nodes
  double kinetic = noli_problem_kinetic_energy(&model->problem, v, 1) +
                   noli_coordinates_kinetic_energy(&model->problem.coordinates, x, v);
  for (int32_t i = 0; i < model->problem.inertia.n_vert; i++) {
    int64_t node = model->problem.inertia.vert[i];
    double mass = model->problem.inertia.weight[node], speed_sqr = 0.0;
    for (int k = 0; k < 3; k++) {
      double of_axis = v[3 * node + k], potential = mass * model->gravity[k] * x[3 * node + k];
      momentum[k] += mass * of_axis;
      absolute[k] += fabs(mass * of_axis);
      gravity -= potential;
      absolute_gravity += fabs(potential);
      speed_sqr += of_axis * of_axis;
    }
    speed = fmax(speed, sqrt(speed_sqr));
  }

  // compare with the row of the step
  double relative = precision + SUM_ROUNDING;
  // consistent masses have parts of both signs
  double spread = noli_problem_has_consistent_mass(&model->problem) ? 20.0 : 2.1;
  if (has_rates) {
    NOLI_TRY(audit_totals_compare(auditor, file, step, NOLI_AUDIT_kinetic, kinetic,
                                  spread * relative * kinetic + SMALLEST));
    NOLI_TRY(audit_totals_compare(auditor, file, step, NOLI_AUDIT_max_speed, speed,
                                  relative * speed + SMALLEST));
  }
  NOLI_TRY(audit_totals_compare(auditor, file, step, NOLI_AUDIT_gravity, gravity,
                                SUM_ROUNDING * absolute_gravity));
  for (int k = 0; k < 3; k++) {
    NOLI_TRY(audit_totals_compare(auditor, file, step, (NoliAuditColumn)(NOLI_AUDIT_momentum_x + k),
                                  momentum[k], relative * absolute[k] + SMALLEST));
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

static int32_t group_of(int32_t* group, int32_t body) {
  while (group[body] != body) {
    body = group[body] = group[group[body]];
  }
  return body;
}

// Bodies that are tied together, by the first of them: a force on a tied vertex acts on the body to
// which it is tied.
static void group_tied(const NoliModel* model, int32_t* group) {
  const NoliFollowers* followers = &model->problem.followers;
  const int32_t* body = model->problem.surface->body;
  for (int32_t b = 0; b < model->n_body; b++) {
    group[b] = b;
  }
  for (int32_t f = 0; f < followers->n_tied; f++) {
    for (int64_t k = followers->row[f]; k < followers->row[f + 1]; k++) {
      int32_t one = group_of(group, body[followers->tied[f]]);
      int32_t other = group_of(group, body[followers->node[k]]);
      group[one > other ? one : other] = one < other ? one : other;
    }
  }
  for (int32_t b = 0; b < model->n_body; b++) {
    group[b] = group_of(group, b);
  }
}

// Sums of one kind of force for each group of bodies.
static void sum_forces(const NoliAuditor* auditor, int kind, int64_t step, int64_t n_vert,
                       const float* force, const int32_t* group, BodyForce* sum) {
  const NoliModel* model = auditor->run.sim->model;
  const int32_t* body = auditor->run.layout.vertex_body;
  for (int64_t i = 0; i < 3 * n_vert; i++) {
    BodyForce* own = &sum[group[body[i / 3]]];
    own->of_vertices[i % 3] += (double)force[i];
    own->magnitude += fabs((double)force[i]);
  }
  int64_t end = noli_auditor_first_force(auditor, step + 1);
  for (int64_t i = noli_auditor_first_force(auditor, step); i < end; i++) {
    const NoliForceRow* row = &auditor->forces.data[i];
    const int32_t entity[2] = {row->a, row->b};
    for (int side = 0; side < 2; side++) {
      for (int k = 0; entity[side] < model->n_body && k < 3; k++) {
        double value = row->force[kind][k];
        sum[group[entity[side]]].listed[k] += side == 0 ? value : -value;
        sum[group[entity[side]]].magnitude += fabs(value);
      }
    }
  }
}

static NoliStatus compare_forces(NoliAuditor* auditor, const char* file, int64_t step,
                                 const char* name, const BodyForce* sum) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = auditor->run.sim->model;
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
                                     const NoliReadFrame* frame) {
  static const char* const names[2] = {"contact_force", "friction_force"};
  NoliStatus status = NOLI_OK;
  const NoliModel* model = auditor->run.sim->model;
  BodyForce* sum = NULL;
  int32_t* group = NULL;
  if (step < 1 || step > auditor->n_rows) {
    return NOLI_OK;
  }
  NOLI_NEW(auditor->context, sum, model->n_body);
  NOLI_NEW(auditor->context, group, model->n_body);
  group_tied(model, group);

  for (int kind = 0; kind < 2; kind++) {
    const NoliReadArray* array =
        noli_read_frame_find(frame, "PointData", names[kind], NOLI_FRAME_FLOAT32, 3, frame->n_vert);
    if (array != NULL) {
      memset(sum, 0, sizeof *sum * (size_t)model->n_body);
      sum_forces(auditor, kind, step, frame->n_vert, array->data, group, sum);
      NOLI_TRY(compare_forces(auditor, file, step, names[kind], sum));
    }
  }
done:
  noli_free(auditor->context, group);
  noli_free(auditor->context, sum);
  return status;
}
