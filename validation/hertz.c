// Hertz's contact: the cap of a large ball is pressed on a rigid plane. A quarter of it, with a
// mesh that is finer towards the first point of contact.
//
//   F = 4/3 E* sqrt(R) d^(3/2),  a = sqrt(R d),  E* = E / (1 - nu^2)
//
// hold for an infinite body. Far from the contact, at the sides and the top of the cap,
// displacements are those of a force F on a half-space ([Johnson1985] eq. 3.19) plus the approach
// d.
#include "cases.h"
#include "run.h"

#include <math.h>
#include <stdlib.h>

#define RADIUS 1.0
#define WIDTH 0.3  // of the cap, from the axis; as high
#define DEPTH 9e-4 // the largest approach: a = 0.03 m
#define YOUNG 1e6
#define POISSON 0.3
#define GAP 2e-6 // at the start, and the contact distance

enum { LOADS = 6 };

static double force_of(double d) {
  return d > 0.0 ? 4.0 / 3.0 * YOUNG / (1.0 - POISSON * POISSON) * sqrt(RADIUS) * pow(d, 1.5) : 0.0;
}

// Cells grow from the axis outward by a factor of e^GROWTH.
static double graded(double s) {
  const double growth = 4.0;
  return sinh(growth * s) / sinh(growth);
}

// A box on [0, WIDTH]^3 of n^3 cells with a round bottom.
static bool make_cap(NoliContext* context, int order, int n, NoliMesh** mesh) {
  if (noli_mesh_make_box(context, (double[]){1, 1, 1}, (int32_t[]){n, n, n}, false, mesh) !=
      NOLI_OK) {
    return false;
  }
  for (int32_t i = 0; i < (*mesh)->n_vert; i++) {
    double* p = (*mesh)->x + 3 * i;
    for (int k = 0; k < 3; k++) {
      p[k] = WIDTH * graded(p[k] + 0.5);
    }
    double r2 = p[0] * p[0] + p[2] * p[2], bottom = RADIUS - sqrt(RADIUS * RADIUS - r2);
    p[1] = bottom + p[1] * (1.0 - bottom / WIDTH);
  }
  // the bottom is part of the ball, also between the vertices
  return order == 1 || (noli_mesh_set_order(context, *mesh, order) == NOLI_OK &&
                        noli_mesh_curve_onto(context, *mesh, (double[]){0, RADIUS, 0}, NULL, RADIUS,
                                             1e-9, NULL) == NOLI_OK);
}

// Far from the contact: down by the approach at time t = d / DEPTH, up by the
// displacement of a half-space under the force, which lies above the contact here.
static void far_away(void* user, double t0, double t1, int32_t n, const int32_t* node,
                     const double* X, const double* x_t0, double* x_t1) {
  (void)user, (void)t0, (void)node, (void)x_t0;
  double d = t1 * DEPTH, shear = YOUNG / (2.0 * (1.0 + POISSON));
  double scale = force_of(d) / (4.0 * PI * shear);
  for (int32_t i = 0; i < n; i++) {
    const double* p = X + 3 * i;
    double r2 = p[0] * p[0] + p[2] * p[2], rho = sqrt(r2 + p[1] * p[1]);
    double side = p[1] / pow(rho, 3) - (1.0 - 2.0 * POISSON) / (rho * (rho + p[1]));
    double up = p[1] * p[1] / pow(rho, 3) + 2.0 * (1.0 - POISSON) / rho;
    x_t1[3 * i] = p[0] + scale * side * p[0];
    x_t1[3 * i + 1] = p[1] - d - 0.5 * GAP + scale * up;
    x_t1[3 * i + 2] = p[2] + scale * side * p[2];
  }
}

// Four motions: sides x = 0 and z = 0 slide in their planes, the three others move.
static bool set_motions(const NoliSim* sim, NoliMotionDef motion[5]) {
  static const struct {
    int axis;
    double value;
  } side[5] = {{0, 0.0}, {2, 0.0}, {0, WIDTH}, {1, WIDTH}, {2, WIDTH}};
  bool good = true;
  for (int m = 0; m < 5; m++) {
    motion[m] = noli_default_motion_def();
    // the edge of a curved bottom is not exactly in the plane of the side
    motion[m].node =
        run_nodes(sim, 0, side[m].axis, side[m].value, m < 2 ? 1e-9 : 1e-3, &motion[m].n_node);
    good = good && motion[m].node != NULL;
    if (m < 2) {
      motion[m].free_axis[1] = true;
      motion[m].free_axis[2 - side[m].axis] = true;
    } else {
      motion[m].target = far_away;
    }
  }
  return good;
}

// Pressing force of the whole ball, and the radius of the contact: Hertz's pressure has the second
// moment 2/5 a^2.
static bool measure(Run* run, double* force, double* radius) {
  int32_t n = noli_sim_vertex_count(run->sim);
  double* f = malloc(sizeof *f * 3 * (size_t)n);
  bool good = f != NULL && noli_sim_contact_forces(run->sim, f) == NOLI_OK;
  double sum = 0.0, moment = 0.0;
  const double* x = noli_sim_positions(run->sim);
  for (int32_t i = 0; i < n && good; i++) {
    sum += f[3 * i + 1];
    moment += f[3 * i + 1] * (x[3 * i] * x[3 * i] + x[3 * i + 2] * x[3 * i + 2]);
  }
  free(f);
  *force = 4.0 * sum;
  *radius = sqrt(2.5 * moment / sum);
  return good;
}

// A simulation without motions lists the nodes.
static bool find_nodes(Run* run, NoliSimDef* def, NoliMotionDef motion[5]) {
  bool good = run_start_def(run, def) && set_motions(run->sim, motion);
  noli_sim_destroy(&run->sim);
  def->motions = motion;
  def->n_motions = 5;
  return good;
}

static bool press(bool convergent, int order, int cells, double force[LOADS],
                  double radius[LOADS]) {
  Run run;
  NoliMesh* mesh = NULL;
  NoliMotionDef motion[5] = {{0}};
  NoliSimDef def = noli_default_sim_def();
  NoliBodyDef body = noli_default_body_def();
  NoliHalfSpaceDef plane = {.size = sizeof(NoliHalfSpaceDef),
                            .name = "plane",
                            .origin = {0, -GAP, 0},
                            .normal = {0, 1, 0}};
  bool good = run_context(&run) && make_cap(run.context, order, cells, &mesh);
  body.mesh = mesh;
  body.order = order;
  body.self_contact = false;
  if (order > 1) {
    // contact uses flat triangles: as small as those of linear elements
    body.proxy.kind = "subdivision";
    body.proxy.subdivision = 4;
  }
  body.material.young = YOUNG;
  body.material.poisson = POISSON;
  def.bodies = &body;
  def.half_spaces = &plane;
  def.n_bodies = def.n_half_spaces = 1;
  def.gravity[1] = 0.0;
  def.integrator = "quasi_static";
  def.contact_convergent = convergent;
  def.contact_distance = (NoliScaled){GAP, false};
  def.tolerance = (NoliScaled){1e-6, false};
  def.time_step = 1.0 / LOADS;
  good = good && find_nodes(&run, &def, motion) && run_start_def(&run, &def);
  for (int n = 0; n < LOADS && good; n++) {
    good = run_step(&run) && measure(&run, &force[n], &radius[n]);
  }
  noli_sim_destroy(&run.sim);
  noli_mesh_destroy(run.context, &mesh);
  for (int m = 0; m < 5; m++) {
    free((void*)motion[m].node);
  }
  run_end(&run);
  return good;
}

static const struct {
  bool convergent;
  int order, cells;
  double bound[2]; // of force and radius, relative
  bool quick;
} caps[] = {
    {false, 1, 8, {0.17, 0.02}, true},     {false, 1, 12, {0.07, 0.02}, false},
    {false, 1, 16, {0.035, 0.025}, false}, {false, 1, 20, {0.03, 0.02}, false},
    {false, 2, 4, {0.09, 0.02}, true},     {false, 2, 6, {0.035, 0.025}, false},
    {false, 2, 8, {0.006, 0.006}, false},  {true, 1, 8, {0.17, 0.02}, false},
    {true, 1, 12, {0.07, 0.02}, false},    {true, 1, 16, {0.035, 0.025}, false},
    {true, 1, 20, {0.03, 0.02}, false},    {true, 2, 8, {0.006, 0.006}, false},
};
enum { N_CAPS = sizeof caps / sizeof *caps };

static void plot_hertz(Report* report, double force[N_CAPS][LOADS], double radius[N_CAPS][LOADS]) {
  for (int what = 0; what < 2; what++) {
    report_plot(report, what == 0 ? "hertz_force" : "hertz_radius",
                "approach d / R, in thousandths", what == 0 ? "force, N" : "contact radius, mm",
                AXES_LINEAR);
    report_series(report, "theory", "Hertz");
    for (int k = 0; k <= 30; k++) {
      double d = DEPTH * k / 30;
      report_point(report, 1e3 * d, what == 0 ? force_of(d) : 1e3 * sqrt(RADIUS * d));
    }
    for (int c = 0; c < N_CAPS; c++) {
      if (report->quick && !caps[c].quick) {
        continue;
      }
      report_series(report, "points", "%s, order %d, %d cells",
                    caps[c].convergent ? "convergent" : "ipc", caps[c].order, caps[c].cells);
      for (int k = 0; k < LOADS; k++) {
        double d = DEPTH * (k + 1) / LOADS;
        report_point(report, 1e3 * d, what == 0 ? force[c][k] : 1e3 * radius[c][k]);
      }
    }
  }
}

bool validate_hertz(Report* report) {
  static double force[N_CAPS][LOADS], radius[N_CAPS][LOADS];
  double want = force_of(DEPTH), a = sqrt(RADIUS * DEPTH);
  report_table(
      report, "Force F and radius a of the contact at the approach d = R / 1111",
      "contact | order | cells along an edge | a / smallest cell | F, N | theory | error | a, mm | "
      "theory | error");
  for (int c = 0; c < N_CAPS; c++) {
    if (report->quick && !caps[c].quick) {
      continue;
    }
    if (!press(caps[c].convergent, caps[c].order, caps[c].cells, force[c], radius[c])) {
      return false;
    }
    double f = force[c][LOADS - 1], r = radius[c][LOADS - 1];
    double error[2] = {fabs(f / want - 1.0), fabs(r / a - 1.0)};
    const char* name = caps[c].convergent ? "convergent" : "ipc";
    report_row(report, "%s | %d | %d | %.1f | %.3f | %.3f | %+.2f %% | %.3f | %.3f | %+.2f %%",
               name, caps[c].order, caps[c].cells, a / (WIDTH * graded(1.0 / caps[c].cells)), f,
               want, 100.0 * (f / want - 1.0), 1e3 * r, 1e3 * a, 100.0 * (r / a - 1.0));
    report_check(report, error[0], caps[c].bound[0], "force, %s, order %d, %d cells, relative",
                 name, caps[c].order, caps[c].cells);
    report_check(report, error[1], caps[c].bound[1],
                 "contact radius, %s, order %d, %d cells, relative", name, caps[c].order,
                 caps[c].cells);
  }
  plot_hertz(report, force, radius);
  return true;
}
