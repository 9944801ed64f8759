// Convergent contact beside the barrier of [Li2020]: Hertz's contact of a cylinder in plane strain
// under refinement, and a ball that lands on the diagonals of floors.
#include "cases.h"
#include "run.h"

#include <math.h>
#include <stdlib.h>

// ---- a cylinder on a block ----------------------------------------------------------------------
//
//   p(x) = E* / (2 R) sqrt(a^2 - x^2),  a^2 = 4 F R / (pi E*),  E* = E / (2 (1 - nu^2))
//
// holds for any far field: the pressure is compared with that of the measured force F.

#define RADIUS 1.0
#define WIDTH 0.3
#define APPROACH 1.8e-3
#define YOUNG 1e6
#define POISSON 0.3
#define DISTANCE 1e-4 // of contact, with the coarsest mesh
#define COARSEST 16

enum { CAP, BASE, N_BODIES, N_LOADS = 3, N_MOTIONS = 4 };

// Cells grow from the axis outward.
static double graded(double s) {
  return sinh(4.0 * s) / sinh(4.0);
}

// From the square [-1/2, 1/2]^2: the lower side of the cap is round, the base lies below.
static void map_point(int32_t body, double p[3]) {
  double x = WIDTH * graded(p[0] + 0.5), round = RADIUS - sqrt(RADIUS * RADIUS - x * x);
  double away = WIDTH * graded(body == CAP ? p[1] + 0.5 : 0.5 - p[1]);
  p[0] = x;
  p[1] = body == CAP ? round + away * (1.0 - round / WIDTH) : -away;
}

static void lower(void* user, double t0, double t1, int32_t n, const int32_t* node, const double* X,
                  const double* x_t0, double* x_t1) {
  (void)t0, (void)node, (void)x_t0;
  for (int32_t i = 0; i < n; i++) {
    x_t1[3 * i] = X[3 * i];
    x_t1[3 * i + 1] = X[3 * i + 1] - *(const double*)user * t1;
    x_t1[3 * i + 2] = X[3 * i + 2];
  }
}

typedef struct Hertz {
  double force; // N/m, of half of the cylinder
  double error; // of the pressure, in the mean square, relative
  double gap;   // smallest, over the contact distance
  double cells; // half width of the contact over the smallest cell
  int64_t iterations;
} Hertz;

// The integral of Hertz's pressure from the axis to x.
static double load_to(double x, double a, double modulus) {
  x = fmin(fmax(x, 0.0), a);
  return modulus / (4.0 * RADIUS) * (x * sqrt(a * a - x * x) + a * a * asin(x / a));
}

// Forces on the vertices of the round side, n + 1 of them in order.
static bool measure_hertz(Run* run, int32_t n, double distance, Hertz* found) {
  int32_t n_vert = noli_sim_vertex_count(run->sim);
  double* f = malloc(sizeof *f * 3 * (size_t)n_vert);
  bool good = f != NULL && noli_sim_contact_forces(run->sim, f) == NOLI_OK;
  const double *x = noli_sim_positions(run->sim), modulus = YOUNG / (2.0 - 2.0 * POISSON * POISSON);
  found->force = 0.0;
  for (int32_t i = 0; i <= n && good; i++) {
    found->force += f[3 * i + 1];
  }
  double a = sqrt(8.0 * found->force * RADIUS / (PI * modulus)), square = 0.0, all = 0.0;
  for (int32_t i = 0; i <= n && good; i++) {
    double left = i == 0 ? 0.0 : 0.5 * (x[3 * i] + x[3 * i - 3]);
    double right = i == n ? x[3 * i] : 0.5 * (x[3 * i] + x[3 * i + 3]);
    double want = load_to(right, a, modulus) - load_to(left, a, modulus);
    square += (f[3 * i + 1] - want) * (f[3 * i + 1] - want) / (right - left);
    all += want * want / (right - left);
  }
  found->error = sqrt(square / all);
  found->gap = run->report.min_distance / distance;
  found->cells = a / (WIDTH * graded(1.0 / n));
  found->iterations = run->newton;
  free(f);
  return good;
}

static bool press_cylinder(bool convergent, double distance, int32_t n, Hertz* found) {
  Run run;
  NoliMesh* mesh[N_BODIES] = {NULL};
  NoliBodyDef body[N_BODIES];
  NoliMotionDef motion[N_MOTIONS] = {{0}};
  NoliSimDef def = noli_default_sim_def();
  double approach = APPROACH;
  bool good = run_context(&run);
  for (int b = 0; b < N_BODIES && good; b++) {
    int32_t cells = n + 2 * b; // meshes that do not match
    good = noli_mesh_make_rectangle(run.context, 1.0, 1.0, cells, cells, &mesh[b]) == NOLI_OK;
    if (good) {
      run_map(mesh[b], map_point, b);
      noli_mesh_transform(mesh[b], (double[]){1, 1, 1}, (double[]){0, 0, 0},
                          (double[]){0, b == CAP ? distance : 0.0, 0});
    }
    body[b] = noli_default_body_def();
    body[b].name = b == CAP ? "cap" : "base";
    body[b].mesh = mesh[b];
    body[b].plane_strain = 1.0;
    body[b].self_contact = false;
    body[b].material.young = YOUNG;
    body[b].material.poisson = POISSON;
  }
  def.bodies = body;
  def.n_bodies = N_BODIES;
  def.gravity[1] = 0.0;
  def.integrator = "quasi_static";
  def.time_step = 1.0 / N_LOADS;
  def.contact_convergent = convergent;
  def.contact_distance = (NoliScaled){distance, false};
  def.tolerance = (NoliScaled){1e-7, true};
  good = good && run_start_def(&run, &def);
  static const struct {
    int body, axis;
    double value;
  } side[N_MOTIONS] = {{CAP, 0, 0.0}, {BASE, 0, 0.0}, {CAP, 1, WIDTH}, {BASE, 1, -WIDTH}};
  for (int m = 0; m < N_MOTIONS && good; m++) {
    double at = side[m].value + (m == 2 ? distance : 0.0);
    good = run_hold(run.sim, side[m].body, side[m].axis, at, false, &motion[m]);
  }
  motion[2].target = lower;
  motion[2].user = &approach;
  noli_sim_destroy(&run.sim);
  def.motions = motion;
  def.n_motions = N_MOTIONS;
  good = good && run_start_def(&run, &def);
  for (int k = 0; k < N_LOADS && good; k++) {
    good = run_step(&run);
  }
  good = good && measure_hertz(&run, n, distance, found);
  noli_sim_destroy(&run.sim);
  for (int b = 0; b < N_BODIES; b++) {
    noli_mesh_destroy(run.context, &mesh[b]);
  }
  for (int m = 0; m < N_MOTIONS; m++) {
    free((void*)motion[m].node);
  }
  run_end(&run);
  return good;
}

static const int32_t hertz_cells[] = {16, 24, 32, 48, 64};
enum { N_CELLS = 5, N_SERIES = 4 };
// The error of a series with the finest mesh, and how far gaps of its meshes are apart, of dhat.
static const double hertz_bound[N_SERIES][2] = {
    {0.04, 0.03}, {0.03, 0.02}, {0.04, 0.03}, {0.03, 0.02}};

bool validate_convergent_hertz(Report* report) {
  static Hertz found[N_SERIES][N_CELLS];
  int n_cells = report->quick ? 2 : N_CELLS;
  report_table(report, "A cylinder of R = 1 m on a block of the same material, approach 1.8 mm",
               "contact | distance | cells along an edge | a / smallest cell | gap / distance | "
               "force, N/m | error of the pressure | iterations");
  for (int s = 0; s < N_SERIES; s++) {
    bool convergent = s % 2 == 1, fixed = s < 2;
    double low = 1.0, high = 0.0;
    for (int k = 0; k < n_cells; k++) {
      double distance = fixed ? DISTANCE : DISTANCE * COARSEST / hertz_cells[k];
      Hertz* one = &found[s][k];
      if (!press_cylinder(convergent, distance, hertz_cells[k], one)) {
        return false;
      }
      report_row(report, "%s | %s | %d | %.1f | %.3f | %.3f | %.4f | %lld",
                 convergent ? "convergent" : "ipc", fixed ? "0.1 mm" : "as the cells",
                 (int)hertz_cells[k], one->cells, one->gap, one->force, one->error,
                 (long long)one->iterations);
      low = fmin(low, one->gap);
      high = fmax(high, one->gap);
    }
    const char* name = convergent ? "convergent" : "ipc";
    report_check(report, found[s][n_cells - 1].error, hertz_bound[s][0],
                 "pressure, %s, distance %s, relative", name, fixed ? "0.1 mm" : "as the cells");
    report_check(report, high - low, hertz_bound[s][1],
                 "gaps of all meshes, %s, distance %s, of the distance", name,
                 fixed ? "0.1 mm" : "as the cells");
  }
  report_plot(report, "convergent_hertz", "cells along an edge", "error of the pressure",
              AXES_LOG_LOG);
  for (int s = 0; s < N_SERIES; s++) {
    report_series(report, "both", "%s, distance %s", s % 2 == 1 ? "convergent" : "ipc",
                  s < 2 ? "0.1 mm" : "as the cells");
    for (int k = 0; k < n_cells; k++) {
      report_point(report, hertz_cells[k], found[s][k].error);
    }
  }
  return true;
}

// ---- a ball on the diagonal of a floor ----------------------------------------------------------

// The largest speed along the floor over that of the impact.
static bool land(bool convergent, bool obstacle, double x, double z, double* aside) {
  Run run;
  Settings settings = {0};
  set(&settings, "contact.convergent", "%s", convergent ? "true" : "false");
  set(&settings, "bodies[0].translate", "[%g, 0.1, %g]", x, z);
  bool good = run_start(&run, obstacle ? "diagonal_obstacle" : "diagonal_body", &settings);
  double impact = 0.0, side = 0.0;
  for (int i = 0; i < 80 && good; i++) {
    double v[3];
    good = run_step(&run);
    run_velocity(&run, 0, v);
    impact = fmax(impact, -v[1]);
    side = report_worse(side, hypot(v[0], v[2]));
  }
  *aside = side / impact;
  run_end(&run);
  return good;
}

static const struct {
  const char* floor;
  bool obstacle;
  double at[2], bound[2]; // of ipc and convergent
  bool quick;
} landings[] = {
    {"an obstacle, on a diagonal", true, {0, 0}, {1e-6, 1e-6}, true},
    {"an obstacle, beside it", true, {0.003, -0.004}, {1e-6, 1e-6}, false},
    {"an obstacle, at a vertex", true, {0.071, 0.068}, {1e-6, 1e-6}, false},
    {"a body, on a diagonal", false, {0, 0}, {0.05, 1e-3}, false},
    {"a body, beside it", false, {0.003, -0.004}, {0.01, 0.01}, false},
};

bool validate_landing(Report* report) {
  report_table(report,
               "A ball of 0.1 m falls by 5 cm on a floor without friction: speed aside over "
               "that of the impact",
               "floor | ipc | convergent");
  for (size_t k = 0; k < sizeof landings / sizeof *landings; k++) {
    double aside[2];
    if (report->quick && !landings[k].quick) {
      continue;
    }
    for (int c = 0; c < 2; c++) {
      if (!land(c == 1, landings[k].obstacle, landings[k].at[0], landings[k].at[1], &aside[c])) {
        return false;
      }
      report_check(report, aside[c], landings[k].bound[c], "speed aside, %s, %s", landings[k].floor,
                   c == 1 ? "convergent" : "ipc");
    }
    report_row(report, "%s | %.1e | %.1e", landings[k].floor, aside[0], aside[1]);
  }
  return true;
}
