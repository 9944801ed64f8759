// J2 plasticity: a metal in tension and compression, and the limit load of a thick tube.
// - With free sides, Kirchhoff's stress along x is that of a scalar model in the logarithmic strain
//   e: tau = E (e - p), |tau| <= y(a), where a is the length of the path of p.
// - A tube in plane strain, perfectly plastic, whose inner surface is moved outwards. Once all of
//   it flows, with its present radii a and b, the pressure is 2 / sqrt(3) y ln(b / a).
#include "cases.h"
#include "run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- tension and compression --------------------------------------------------------------------

// Pa.
static const double young = 2e11, yield = 2.5e8, linear = 1e9, saturation = 2e8, rate = 15.0;

static double yield_at(double a) {
  return yield + linear * a + saturation * -expm1(-rate * a);
}

// tau after one more strain, by bisection for the flow.
static double scalar_stress(double e, double* p, double* a) {
  double trial = young * (e - *p), low = 0.0, high = fabs(trial) / young;
  if (fabs(trial) > yield_at(*a)) {
    for (int i = 0; i < 200; i++) {
      double w = 0.5 * (low + high);
      bool more = fabs(trial) - young * w > yield_at(*a + w);
      low = more ? w : low;
      high = more ? high : w;
    }
  }
  *p += trial > 0.0 ? low : -low;
  *a += low;
  return young * (e - *p);
}

static bool stretch(Report* report, double* worst) {
  Run run;
  Settings settings = {0};
  bool good = run_start(&run, "plastic", &settings);
  double p = 0.0, a = 0.0;
  for (int i = 1; i <= 20 && good; i++) {
    double t = 0.05 * i, got, e = 0.8 * (i <= 5 ? t : i <= 15 ? 0.5 - t : t - 1.0);
    double want = scalar_stress(e, &p, &a) / exp(e);
    good = run_step(&run) && run_mean_stress(&run, &got);
    if (good) {
      *worst = report_worse(*worst, fabs(got - want) / yield);
      if (!report->quick && (i == 1 || i % 5 == 0)) {
        report_row(report, "%g | %.3f | %.5g | %.5g | %.1e", e, a, got, want,
                   fabs(got - want) / yield);
      }
    }
  }
  run_end(&run);
  return good;
}

// ---- the tube -----------------------------------------------------------------------------------

// m; the yield strain is small, so that the tube flows before its radii have changed much.
static const double inner = 1.0, outer = 2.0, perfect = 1e5, stiff = 1e9, poisson = 0.3;

enum { N_MOTIONS = 4, N_STEPS = 10 };

// A quarter of the tube from a box of 1 x 1 around the origin: x is the radius, y the angle.
static void map_point(double p[3]) {
  double r = inner + (outer - inner) * (p[0] + 0.5), angle = 0.5 * PI * (p[1] + 0.5);
  p[0] = r * cos(angle);
  p[1] = r * sin(angle);
}

static bool make_tube(NoliContext* context, int cells, NoliMesh** mesh) {
  bool good = noli_mesh_make_box(context, (double[]){1, 1, 1.0 / cells},
                                 (int32_t[]){cells, cells, 1}, false, mesh) == NOLI_OK &&
              noli_mesh_set_order(context, *mesh, 2) == NOLI_OK;
  for (int32_t i = 0; good && i < (*mesh)->n_vert; i++) {
    map_point((*mesh)->x + 3 * (int64_t)i);
  }
  for (int32_t i = 0; good && i < (*mesh)->n_curve; i++) {
    map_point((*mesh)->curve_x + 3 * (int64_t)i);
  }
  return good;
}

// Displacement of the inner surface at the end of a load step, m: elastic at first.
static double expansion(double t) {
  return t <= 1.0 ? 5e-5 * t : 5e-5 + (2.5e-3 - 5e-5) * (t - 1.0) / (N_STEPS - 1);
}

static void expand(void* user, double t0, double t1, int32_t n, const int32_t* node,
                   const double* X, const double* x_t0, double* x_t1) {
  (void)user, (void)node, (void)t0, (void)x_t0;
  for (int32_t i = 0; i < n; i++) {
    double factor = 1.0 + expansion(t1) / inner;
    x_t1[3 * i] = factor * X[3 * i];
    x_t1[3 * i + 1] = factor * X[3 * i + 1];
    x_t1[3 * i + 2] = X[3 * i + 2];
  }
}

typedef struct Tube {
  NoliMesh* mesh;
  NoliBodyDef body;
  NoliMotionDef motion[N_MOTIONS];
  NoliSimDef def;
} Tube;

// Lists the nodes of a motion: all (axial), both planes of symmetry, the inner surface.
static bool find_nodes(const NoliSim* sim, int motion, int32_t** node, int32_t* count) {
  int32_t n = noli_sim_node_count(sim);
  const double* X = noli_sim_rest_positions(sim);
  *node = malloc(sizeof **node * (size_t)n);
  *count = 0;
  for (int32_t i = 0; *node != NULL && i < n; i++) {
    const double* p = X + 3 * (int64_t)i;
    bool inside = fabs(hypot(p[0], p[1]) - inner) < 1e-9;
    bool mine = motion == 0 ? true : motion == 3 ? inside : fabs(p[motion - 1]) < 1e-9 && !inside;
    if (mine) {
      (*node)[(*count)++] = i;
    }
  }
  return *node != NULL;
}

static bool make(Run* run, int cells, Tube* tube) {
  if (!make_tube(run->context, cells, &tube->mesh)) {
    return false;
  }
  tube->body = noli_default_body_def();
  tube->body.name = "tube";
  tube->body.mesh = tube->mesh;
  tube->body.order = 2;
  tube->body.material.law = "hencky";
  tube->body.material.young = stiff;
  tube->body.material.poisson = poisson;
  tube->body.material.parameter[0] = perfect;
  tube->def = noli_default_sim_def();
  tube->def.bodies = &tube->body;
  tube->def.n_bodies = 1;
  tube->def.integrator = "quasi_static";
  tube->def.time_step = 1.0;
  tube->def.contact = false;
  tube->def.gravity[1] = 0.0;
  tube->def.tolerance = (NoliScaled){1e-9, true};
  Run bare = {0};
  bool good = run_context(&bare) && run_start_def(&bare, &tube->def);
  for (int m = 0; m < N_MOTIONS && good; m++) {
    NoliMotionDef* motion = &tube->motion[m];
    int32_t* node = NULL;
    *motion = noli_default_motion_def();
    motion->target = m == 3 ? expand : NULL;
    motion->free_axis[0] = m == 0 || m == 2;
    motion->free_axis[1] = m == 0 || m == 1;
    motion->free_axis[2] = m != 0;
    good = find_nodes(bare.sim, m, &node, &motion->n_node);
    motion->node = node;
  }
  run_end(&bare);
  tube->def.motions = tube->motion;
  tube->def.n_motions = N_MOTIONS;
  good = good && run_start_def(run, &tube->def);
  noli_mesh_destroy(run->context, &tube->mesh);
  return good;
}

// The mean pressure on the inner surface: its radial reactions over its area.
static bool pressure_of(Run* run, const Tube* tube, int cells, double u, double* pressure) {
  int64_t n = 3 * (int64_t)noli_sim_vertex_count(run->sim);
  double* force = malloc(sizeof *force * (size_t)n);
  const NoliMotionDef* motion = &tube->motion[3];
  bool good = force != NULL && noli_sim_reaction_forces(run->sim, force) == NOLI_OK;
  *pressure = 0.0;
  for (int32_t i = 0; good && i < motion->n_node; i++) {
    const double* X = noli_sim_rest_positions(run->sim) + 3 * (int64_t)motion->node[i];
    const double* f = force + 3 * (int64_t)motion->node[i];
    *pressure += (f[0] * X[0] + f[1] * X[1]) / inner;
  }
  *pressure /= 0.5 * PI * (inner + u) / cells;
  free(force);
  return good;
}

static bool expand_tube(Report* report, int cells, double* limit_error, double* elastic_error) {
  Run run = {0};
  Tube tube = {0};
  bool good = run_context(&run) && make(&run, cells, &tube);
  for (int i = 1; i <= N_STEPS && good; i++) {
    double u = expansion(i), a = inner + u, got = 0.0, elastic, limit;
    double b = sqrt(outer * outer - inner * inner + a * a), b_sqr = outer * outer;
    limit = 2.0 / sqrt(3.0) * perfect * log(b / a);
    elastic = u * stiff * (b_sqr - inner * inner) /
              (inner * (1.0 + poisson) * ((1.0 - 2.0 * poisson) * inner * inner + b_sqr));
    good = run_step(&run) && pressure_of(&run, &tube, cells, u, &got);
    if (i == 1) {
      *elastic_error = fabs(got / elastic - 1.0);
    }
    *limit_error = fabs(got / limit - 1.0);
    if (good && !report->quick && (i == 1 || i == 2 || i == 4 || i == N_STEPS)) {
      report_row(report, "%d | %g | %.5g | %.5g", cells, u, got, i == 1 ? elastic : limit);
    }
  }
  run_end(&run);
  for (int m = 0; m < N_MOTIONS; m++) {
    free((void*)(uintptr_t)tube.motion[m].node);
  }
  return good;
}

bool validate_plasticity(Report* report) {
  static const int cells[] = {2, 4, 8};
  double path = 0.0, limit[3] = {0.0}, elastic[3] = {0.0};
  int n = report->quick ? 2 : 3;
  if (!report->quick) {
    report_table(
        report, "Stress along x over the area at rest",
        "log. strain | equivalent plastic strain | P, Pa | closed form, Pa | error over y");
  }
  if (!stretch(report, &path)) {
    return false;
  }
  if (!report->quick) {
    report_table(report, "Pressure in a tube (closed form: elastic, then of the limit)",
                 "cells across | expansion, m | pressure, Pa | closed form, Pa");
  }
  for (int k = 0; k < n; k++) {
    if (!expand_tube(report, cells[k], &limit[k], &elastic[k])) {
      return false;
    }
  }
  report_check(report, path, 1e-4, "tension and compression");
  report_check(report, elastic[1], 1e-2, "tube, 4 cells, elastic");
  report_check(report, limit[1], 1e-2, "tube, 4 cells, limit");
  if (!report->quick) {
    report_check(report, limit[2], 3e-3, "tube, 8 cells, limit");
  }
  return true;
}
