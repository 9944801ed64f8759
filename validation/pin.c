// NAFEMS R0094, loaded pin: a steel pin with friction pulls a sheet of aluminium by its hole, in
// plane strain. A half of both, y >= 0, and of the thickness. Lengths in mm below, SI in the
// simulation. pin_reference.py solves the same in the plane, without Noli.
#include "cases.h"
#include "run.h"

#include <math.h>
#include <stdlib.h>

#define MM 1e-3
#define HOLE 50.0    // radius
#define OUTER 100.0  // radius of the round end, half of the width
#define LENGTH 200.0 // from the fixed end to the centre
#define HALF 5.0     // of the thickness
#define FORCE 1e5    // on y >= 0, N
#define FRICTION 0.1
#define RANGE 20.0 // degrees, of the pressure

enum { PIN, SHEET, N_PARTS, N_STEPS = 4 };

// Symmetry of both parts, plane strain, and the fixed end.
static const struct {
  int part, axis;
  double value; // mm
} planes[] = {{PIN, 1, 0.0},   {PIN, 2, 0.0},    {PIN, 2, HALF},     {SHEET, 1, 0.0},
              {SHEET, 2, 0.0}, {SHEET, 2, HALF}, {SHEET, 0, -LENGTH}};
enum { N_PLANES = sizeof planes / sizeof *planes, CLAMP = N_PLANES - 1 };

// From [-1, 1]^2 x [0, 1].
static void map_pin(int32_t clearance, double p[3]) {
  run_disk(&p[0], &p[1]);
  p[0] *= HOLE * MM - 1e-6 * clearance;
  p[1] *= HOLE * MM - 1e-6 * clearance;
  p[2] *= HALF * MM;
}

// From the unit cube: 1 - x is the angle, of the corner 3/4, and y leads from the hole outward.
static void map_sheet(int32_t unused, double p[3]) {
  (void)unused;
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

static bool in_quarter(const double p[3]) {
  return p[1] > -1e-9 && p[2] > -1e-9;
}

// How fine a simulation is. Contact acts on plane pieces of the surfaces, which must not meet.
typedef struct Size {
  int32_t cells;       // across the pin
  int32_t subdivision; // pieces along the edge of an element
  int32_t clearance;   // between the radii, micrometres
} Size;

static bool make_part(NoliContext* context, int part, const Size* size, NoliMesh** mesh) {
  int32_t cells = size->cells;
  int32_t pin[3] = {cells, cells, 2}, sheet[3] = {2 * cells, cells / 2, 1};
  const double cube[3] = {2, 2, 2};
  bool good = noli_mesh_make_box(context, cube, part == PIN ? pin : sheet, false, mesh) == NOLI_OK;
  for (int32_t i = 0; good && part == SHEET && i < (*mesh)->n_vert; i++) {
    for (int k = 0; k < 3; k++) {
      (*mesh)->x[3 * i + k] = 0.5 + 0.5 * (*mesh)->x[3 * i + k];
    }
  }
  good = good && (part == SHEET || run_keep(context, *mesh, in_quarter)) &&
         noli_mesh_set_order(context, *mesh, 2) == NOLI_OK;
  if (good) {
    run_map(*mesh, part == PIN ? map_pin : map_sheet, size->clearance);
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
  value[0] = 0.5 * FORCE * t / N_STEPS;
  value[1] = value[2] = 0.0;
}

static bool make_model(Run* run, const Size* size, Model* model) {
  static const double young[] = {2.1e11, 7e10};
  bool good = true;
  for (int part = 0; part < N_PARTS; part++) {
    NoliBodyDef* body = &model->body[part];
    good = good && make_part(run->context, part, size, &model->mesh[part]);
    *body = noli_default_body_def();
    body->name = part == PIN ? "pin" : "sheet";
    body->mesh = model->mesh[part];
    body->order = 2;
    body->self_contact = false;
    body->material.young = young[part];
    body->material.poisson = 0.3;
    body->proxy.kind = "subdivision";
    body->proxy.subdivision = size->subdivision;
  }
  NoliSimDef* def = &model->def;
  *def = noli_default_sim_def();
  def->bodies = model->body;
  def->n_bodies = N_PARTS;
  def->gravity[1] = 0.0;
  def->integrator = "quasi_static";
  // contact supports the pin from the start
  def->contact_distance = (NoliScaled){1.2e-6 * size->clearance, false};
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
    good = run_hold(run->sim, planes[m].part, planes[m].axis, MM * planes[m].value, m == CLAMP,
                    &model->motion[m]);
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
  int32_t first, count, n_edge;
  noli_sim_body_range(run->sim, SHEET, &first, &count);
  const double *X = noli_sim_rest_positions(run->sim), range = RANGE * PI / 180.0;
  double* f = malloc(sizeof *f * 3 * (size_t)noli_sim_vertex_count(run->sim));
  int32_t* edge = run_nodes(run->sim, SHEET, 0, HOLE * MM, 1e-9, &n_edge);
  bool good = f != NULL && edge != NULL && noli_sim_contact_forces(run->sim, f) == NOLI_OK;

  // the pressure: forces with the weight (1 - angle^2 / range^2)^2, with the integral 8/15 range
  for (int32_t i = first; i < first + count && good; i++) {
    const double *p = X + 3 * (int64_t)i, *force = f + 3 * (int64_t)i;
    double u = pow(atan2(p[1], p[0]) / range, 2);
    double outward = (force[0] * p[0] + force[1] * p[1]) / hypot(p[0], p[1]);
    result->pressure += u < 1.0 ? outward * (1.0 - u) * (1.0 - u) : 0.0;
  }
  result->pressure /= 8.0 / 15.0 * range * HOLE * HALF * MM * MM;

  // the displacement: that of the edge of the hole with y = 0
  for (int32_t k = 0; k < n_edge && good; k++) {
    int64_t i = 3 * ((int64_t)first + edge[k]);
    result->displacement += (noli_sim_positions(run->sim)[i] - X[i]) / n_edge;
  }
  free(edge);
  free(f);
  return good;
}

static bool simulate(const Size* size, Result* result) {
  Run run;
  Model model = {0};
  bool good = run_context(&run) && make_model(&run, size, &model) && find_nodes(&run, &model) &&
              run_start_def(&run, &model.def);
  for (int n = 0; n < N_STEPS && good; n++) {
    good = run_step(&run);
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

static const struct {
  Size size;
  double bound[2]; // of displacement and pressure, relative
  bool quick;
} cases[] = {
    {{8, 4, 20}, {0.03, 0.05}, true},
    {{8, 16, 5}, {0.002, 0.025}, false},
    {{16, 8, 5}, {0.003, 0.01}, false},
};

bool validate_pin(Report* report) {
  static const char* const names[2] = {"displacement", "pressure"};
  const double displacement = 0.736165 * MM, pressure = 160.4005e6;
  report_table(
      report, "The edge of the hole, in the direction of the force",
      "cells across the pin | nodes | clearance, micrometres | displacement, mm | target | "
      "difference | pressure, MPa | target | difference");
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    Result got = {0};
    const Size* size = &cases[k].size;
    if (report->quick && !cases[k].quick) {
      continue;
    }
    if (!simulate(size, &got)) {
      return false;
    }
    double error[2] = {got.displacement / displacement - 1.0, got.pressure / pressure - 1.0};
    report_row(report, "%d | %d | %d | %.5f | %.5f | %+.2f %% | %.2f | %.2f | %+.1f %%",
               size->cells, got.nodes, size->clearance, got.displacement / MM, displacement / MM,
               100.0 * error[0], 1e-6 * got.pressure, 1e-6 * pressure, 100.0 * error[1]);
    for (int q = 0; q < 2; q++) {
      report_check(report, fabs(error[q]), cases[k].bound[q],
                   "%s, %d cells, clearance %d micrometres, relative", names[q], size->cells,
                   size->clearance);
    }
  }
  return true;
}
