// Runs the scenes of examples/stress and measures their results.
#pragma once

#include "scene_support.h"

#include "math/svd3.h"
#include "noli/noli.h"

// ---- running a scene ----------------------------------------------------------------------------

typedef struct Run {
  NoliContext* context;
  NoliScene* scene;
  NoliSim* sim;
  const NoliSimDef* def;
  NoliStepReport report;
  int64_t newton, contacts_max, steps;
  double start_energy;
} Run;

static inline double energy(const Run* run) {
  const NoliStepReport* report = &run->report;
  return report->kinetic + report->elastic + report->gravity;
}

// `change` (n_change) are pairs of path and value.
static inline Run start(const char* name, int32_t n_change, const char* const (*change)[2]) {
  Run run = {.context = test_context(1)};
  char path[128];
  snprintf(path, sizeof path, "examples/stress/%s.json", name);
  load_example(run.context, path, n_change, change, &run.scene, &run.sim);
  run.def = noli_scene_sim_def(run.scene);
  // the quantities that these tests check
  assert_true(run.def->audit);
  assert_string_equal(run.def->solver, "augmented_lagrangian");
  return run;
}

#define START(name, ...)                                                                           \
  start(name, (int32_t)(sizeof((const char* const[][2]){__VA_ARGS__}) / sizeof(const char* [2])),  \
        (const char* const[][2]){__VA_ARGS__})

static inline double smallest_volume(const Run* run) {
  const double* x = noli_sim_positions(run->sim);
  const int32_t* tet = noli_sim_tets(run->sim);
  double smallest = (double)INFINITY;
  for (int32_t t = 0; t < noli_sim_tet_count(run->sim); t++, tet += 4) {
    NoliVec3 a = noli_load3(x + 3 * tet[0]);
    NoliMat3 edges = noli_columns33(noli_sub3(noli_load3(x + 3 * tet[1]), a),
                                    noli_sub3(noli_load3(x + 3 * tet[2]), a),
                                    noli_sub3(noli_load3(x + 3 * tet[3]), a));
    smallest = noli_smaller(smallest, noli_det33(&edges) / 6.0);
  }
  return smallest;
}

// Steps until a time. A step in which surfaces intersect fails: the audit is on.
static inline void step_until(Run* run, double time) {
  while (noli_sim_time(run->sim) < time - 0.5 * run->def->time_step) {
    NoliStatus status = noli_sim_step(run->sim, &run->report);
    if (status != NOLI_OK) {
      print_error("step %lld: %s\n", (long long)noli_sim_step_count(run->sim) + 1,
                  noli_context_message(run->context));
    }
    assert_int_equal(status, NOLI_OK);
    assert_string_equal(run->report.blocked_by, "");
    ASSERT_AT_LEAST(smallest_volume(run), 1e-300);
    run->steps++;
    run->newton += run->report.newton_iterations;
    run->contacts_max =
        run->report.contacts_max > run->contacts_max ? run->report.contacts_max : run->contacts_max;
    if (run->steps == 1) {
      run->start_energy = energy(run);
    }
  }
}

static inline void finish(Run* run, const char* name) {
  print_message("%s: %d vertices, %lld steps, %.2f Newton iterations a step, at most %lld "
                "contacts\n",
                name, noli_sim_vertex_count(run->sim), (long long)run->steps,
                (double)run->newton / (double)run->steps, (long long)run->contacts_max);
  // contact did take place
  assert_true(run->contacts_max > 0);
  noli_sim_destroy(&run->sim);
  noli_scene_destroy(&run->scene);
  test_context_done(&run->context);
}

// ---- measuring ----------------------------------------------------------------------------------

static inline int32_t body_count(const Run* run) {
  int32_t n = 0;
  while (n < run->def->n_bodies && !run->def->bodies[n].obstacle) {
    n++;
  }
  return n;
}

static inline NoliVec3 mean_of(const double* x, int32_t n) {
  NoliVec3 sum = noli_vec3(0, 0, 0);
  for (int32_t i = 0; i < n; i++) {
    sum = noli_mul_add3(sum, 1.0 / n, noli_load3(x + 3 * i));
  }
  return sum;
}

static inline NoliVec3 centre(const Run* run, int32_t body) {
  int32_t first, count;
  noli_sim_body_range(run->sim, body, &first, &count);
  return mean_of(noli_sim_positions(run->sim) + 3 * first, count);
}

// Lowest or highest coordinate of a body along an axis.
static inline double extreme(const Run* run, int32_t body, int axis, bool highest) {
  int32_t first, count;
  noli_sim_body_range(run->sim, body, &first, &count);
  const double* x = noli_sim_positions(run->sim) + 3 * first;
  double found = x[axis];
  for (int32_t i = 0; i < count; i++) {
    found = highest ? noli_larger(found, x[3 * i + axis]) : noli_smaller(found, x[3 * i + axis]);
  }
  return found;
}

// The largest distance of a vertex from its position in the best rigid motion of the rest shape,
// over the largest distance of a vertex from the middle.
static inline double shape_error(const Run* run, int32_t body) {
  int32_t first, count;
  noli_sim_body_range(run->sim, body, &first, &count);
  const double* x = noli_sim_positions(run->sim) + 3 * first;
  const double* X = noli_sim_rest_positions(run->sim) + 3 * first;
  NoliVec3 now = mean_of(x, count), rest = mean_of(X, count);
  NoliMat3 covariance = noli_scale33(0.0, noli_identity3()), U, V;
  for (int32_t i = 0; i < count; i++) {
    covariance = noli_add33(covariance, noli_outer33(noli_sub3(noli_load3(x + 3 * i), now),
                                                     noli_sub3(noli_load3(X + 3 * i), rest)));
  }
  double sigma[3], worst = 0.0, radius = 0.0;
  noli_svd3(&covariance, &U, sigma, &V);
  NoliMat3 R = noli_mul_transpose33(U, V);
  for (int32_t i = 0; i < count; i++) {
    NoliVec3 arm = noli_sub3(noli_load3(X + 3 * i), rest);
    NoliVec3 wanted = noli_add3(now, noli_mul33_vec(&R, arm));
    worst = noli_larger(worst, noli_norm3(noli_sub3(noli_load3(x + 3 * i), wanted)));
    radius = noli_larger(radius, noli_norm3(arm));
  }
  return worst / radius;
}

static inline double worst_shape_error(const Run* run) {
  double worst = 0.0;
  for (int32_t b = 0; b < body_count(run); b++) {
    worst = noli_larger(worst, shape_error(run, b));
  }
  return worst;
}

// All bodies are between walls at +-half along x and z and above the ground.
static inline void assert_contained(const Run* run, double half) {
  for (int32_t b = 0; b < body_count(run); b++) {
    ASSERT_AT_LEAST(extreme(run, b, 1, false), 0.0);
    for (int axis = 0; axis < 3; axis += 2) {
      ASSERT_AT_LEAST(extreme(run, b, axis, false), -half);
      ASSERT_AT_MOST(extreme(run, b, axis, true), half);
    }
  }
}

static inline double highest(const Run* run) {
  double top = 0.0;
  for (int32_t b = 0; b < body_count(run); b++) {
    top = noli_larger(top, extreme(run, b, 1, true));
  }
  return top;
}
