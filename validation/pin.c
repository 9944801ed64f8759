// NAFEMS R0094, benchmarks 3 and 4: a steel pin with friction pulls a sheet of aluminium by its
// hole. A quarter of both: y >= 0, and the half of the thickness.
#include "cases.h"
#include "run.h"

#include <math.h>
#include <stdlib.h>

#define PI 3.14159265358979323846
#define MM 1e-3
#define HOLE 50.0     // radius, mm
#define OUTER 100.0   // radius of the round end, half of the width, mm
#define LENGTH 200.0  // from the fixed end to the centre, mm
#define HALF 5.0      // of the thickness, mm
#define CLEARANCE 10.0 // of the radius, micrometres
#define FORCE 1e5     // N
#define FRICTION 0.1

enum { PIN, SHEET, N_PARTS, N_STEPS = 4 };

// Symmetry of both parts, and the fixed end.
static const struct {
  int part, axis;
  double value; // mm
} planes[] = {{PIN, 1, 0.0}, {PIN, 2, 0.0}, {SHEET, 1, 0.0}, {SHEET, 2, 0.0}, {SHEET, 0, -LENGTH}};
enum { N_PLANES = sizeof planes / sizeof *planes, CLAMP = N_PLANES - 1 };

// From [-1, 1]^2 x [0, 1]: squares around the axis become circles.
static void map_pin(double p[3]) {
  double s = fmax(fabs(p[0]), fabs(p[1])), quarter = 0.25 * PI / fmax(s, 1e-300);
  double side[2] = {tan(quarter * p[0]), tan(quarter * p[1])};
  double scale = s > 0.0 ? s * (HOLE * MM - 1e-6 * CLEARANCE) / hypot(side[0], side[1]) : 0.0;
  p[0] = scale * side[0];
  p[1] = scale * side[1];
  p[2] *= HALF * MM;
}

// From the unit cube: 1 - x is the angle, of the corner 3/4, and y leads from the hole outward.
static void map_sheet(double p[3]) {
  const double corner = PI - atan(OUTER / LENGTH);
  double a = 1.0 - p[0];
  double angle = a < 0.75 ? corner * a / 0.75 : corner + (PI - corner) * (4.0 * a - 3.0);
  double c = cos(angle), s = sin(angle), out = OUTER;
  if (a >= 0.75) {
    out = LENGTH / -c;
  } else if (c < 0.0) {
    out = OUTER / s;
  }
  double r = MM * (HOLE + (out - HOLE) * expm1(p[1]) / expm1(1.0));
  p[0] = r * c;
  p[1] = r * s;
  p[2] *= HALF * MM;
}

static bool make_part(NoliContext* context, int part, int cells, NoliMesh** mesh) {
  int32_t pin[3] = {cells, cells, 2}, sheet[3] = {2 * cells, cells / 2, 1};
  const double size[3] = {2, 2, 2};
  bool good = noli_mesh_make_box(context, size, part == PIN ? pin : sheet, false, mesh) == NOLI_OK;
  for (int32_t i = 0; good && part == SHEET && i < (*mesh)->n_vert; i++) {
    for (int k = 0; k < 3; k++) {
      (*mesh)->x[3 * i + k] = 0.5 + 0.5 * (*mesh)->x[3 * i + k];
    }
  }
  good = good && (part == SHEET || (run_cut(context, *mesh, 1) && run_cut(context, *mesh, 2))) &&
         noli_mesh_set_order(context, *mesh, 2) == NOLI_OK;
  for (int32_t i = 0; good && i < (*mesh)->n_vert; i++) {
    (part == PIN ? map_pin : map_sheet)((*mesh)->x + 3 * i);
  }
  for (int32_t i = 0; good && i < (*mesh)->n_curve; i++) {
    (part == PIN ? map_pin : map_sheet)((*mesh)->curve_x + 3 * i);
  }
  return good;
}

typedef struct Model {
  NoliMesh* mesh[N_PARTS];
  NoliBodyDef body[N_PARTS];
  NoliMotionDef motion[N_PLANES];
  NoliForceDef force;
  NoliSimDef def;
} Model;

static void pull(void* user, double t, const double X[3], double value[3]) {
  (void)user, (void)X;
  value[0] = 0.25 * FORCE * t / N_STEPS;
  value[1] = value[2] = 0.0;
}

static bool make_model(Run* run, int cells, Model* model) {
  static const double young[] = {2.1e11, 7e10};
  bool good = true;
  for (int part = 0; part < N_PARTS; part++) {
    NoliBodyDef* body = &model->body[part];
    good = good && make_part(run->context, part, cells, &model->mesh[part]);
    *body = noli_default_body_def();
    body->name = part == PIN ? "pin" : "sheet";
    body->mesh = model->mesh[part];
    body->order = 2;
    body->self_contact = false;
    body->material.young = young[part];
    body->material.poisson = 0.3;
    body->proxy.kind = "subdivision";
    body->proxy.subdivision = 8;
  }
  NoliSimDef* def = &model->def;
  *def = noli_default_sim_def();
  def->bodies = model->body;
  def->n_bodies = N_PARTS;
  def->gravity[1] = 0.0;
  def->integrator = "quasi_static";
  def->contact_distance = (NoliScaled){2e-6 * CLEARANCE, false};
  def->tolerance = (NoliScaled){1e-6, false};
  def->time_step = 1.0;
  def->friction = FRICTION;
  def->friction_speed = (NoliScaled){1e-7, false};
  return good;
}

// With the nodes of a simulation without supports and load.
static bool find_nodes(Run* run, Model* model) {
  bool good = run_start_def(run, &model->def);
  for (int m = 0; m < N_PLANES && good; m++) {
    NoliMotionDef* motion = &model->motion[m];
    *motion = noli_default_motion_def();
    motion->body = planes[m].part;
    motion->node = run_nodes(run->sim, planes[m].part, planes[m].axis, MM * planes[m].value, 1e-9,
                             &motion->n_node);
    for (int k = 0; k < 3; k++) {
      motion->free_axis[k] = m != CLAMP && k != planes[m].axis;
    }
    good = motion->node != NULL;
  }
  noli_sim_destroy(&run->sim);
  model->force = noli_default_force_def();
  model->force.kind = "total";
  model->force.value = pull;
  model->def.motions = model->motion;
  model->def.n_motions = N_PLANES;
  model->def.forces = &model->force;
  model->def.n_forces = 1;
  return good;
}

typedef struct Result {
  double displacement; // m, of the edge of the hole in the direction of the force
  double pressure;     // Pa, there
  int32_t nodes;
} Result;

static bool measure(Run* run, Result* result) {
  int32_t n = noli_sim_vertex_count(run->sim), first, count, at;
  const double* X = noli_sim_rest_positions(run->sim);
  const double range = PI / 9.0;
  double* f = malloc(sizeof *f * 3 * (size_t)n);
  bool good = f != NULL && noli_sim_contact_forces(run->sim, f) == NOLI_OK;

  // the pressure: forces with the weight (1 - angle^2 / range^2)^2, with the integral 8/15 range
  noli_sim_body_range(run->sim, SHEET, &first, &count);
  for (int32_t i = 0; i < n && good; i++) {
    const double *p = X + 3 * (int64_t)i, *force = f + 3 * (int64_t)i;
    double u = pow(atan2(p[1], p[0]) / range, 2);
    result->pressure += u < 1.0 ? fmax(force[0], 0.0) * (1.0 - u) * (1.0 - u) : 0.0;
  }
  result->pressure /= 8.0 / 15.0 * range * HOLE * HALF * MM * MM;
  free(f);

  // the displacement: that of the nodes of the hole with y = 0
  int32_t* node = run_nodes(run->sim, SHEET, 0, HOLE * MM, 1e-9, &at);
  for (int32_t k = 0; node != NULL && k < at; k++) {
    int64_t i = 3 * ((int64_t)first + node[k]);
    result->displacement += (noli_sim_positions(run->sim)[i] - X[i]) / at;
  }
  free(node);
  return good && node != NULL;
}

static bool simulate(int cells, Result* result) {
  Run run;
  Model model = {0};
  bool good = run_context(&run) && make_model(&run, cells, &model) && find_nodes(&run, &model) &&
              run_start_def(&run, &model.def);
  for (int n = 0; n < N_STEPS && good; n++) {
    good = run_step(&run);
    printf("newton %d\n", run.report.newton_iterations);
  }
  good = good && measure(&run, result);
  for (int part = 0; part < N_PARTS; part++) {
    result->nodes +=
        model.mesh[part] != NULL ? model.mesh[part]->n_vert + model.mesh[part]->n_curve : 0;
  }
  noli_sim_destroy(&run.sim);
  for (int m = 0; m < N_PLANES; m++) {
    free((void*)model.motion[m].node);
  }
  for (int part = 0; part < N_PARTS; part++) {
    noli_mesh_destroy(run.context, &model.mesh[part]);
  }
  run_end(&run);
  return good;
}

bool validate_pin(Report* report) {
  const double displacement = 0.736165 * MM, pressure = 160.4005e6;
  report_table(
      report, "The edge of the hole in the direction of the force",
      "cells across the pin | nodes | displacement, mm | target | difference | pressure, MPa | "
      "target | difference");
  for (int cells = 8; cells <= (report->quick ? 8 : 16); cells *= 2) {
    Result got = {0};
    if (!simulate(cells, &got)) {
      return false;
    }
    double error[] = {got.displacement / displacement - 1.0, got.pressure / pressure - 1.0};
    report_row(report, "%d | %d | %.5f | %.5f | %+.2f %% | %.2f | %.2f | %+.1f %%", cells,
               got.nodes, got.displacement / MM, displacement / MM, 100.0 * error[0],
               1e-6 * got.pressure, 1e-6 * pressure, 100.0 * error[1]);
    report_check(report, fabs(error[0]), 1.0, "displacement, %d cells, relative", cells);
  }
  return true;
}
