// NAFEMS R0094, benchmark 2: a steel punch with a rounded edge is pressed on a cylinder of
// aluminium, without friction. A quarter of both. Lengths in mm below, SI in the simulation.
#include "cases.h"
#include "run.h"

#include <math.h>
#include <stdlib.h>

#define MM 1e-3
#define HEIGHT 100.0 // of the punch, mm; its radius is 50 mm
#define DEPTH 200.0  // of the foundation, mm; its radius is 100 mm
#define FLAT 40.0    // radius of the flat part of the punch, mm
#define FILLET 10.0
#define WEIGHTED 20.0 // the pressure is measured up to there, mm
#define PRESSURE 1e8  // on the top of the punch, Pa
#define GAP 2e-6      // m, at the start, and the contact distance

enum { PUNCH, FOUNDATION, N_PARTS, N_STEPS = 4, N_MOTIONS = 5, BOTTOM = 4 };

// Radii at equal distances in the parameter of the mesh.
static double radius_of(int part, double s) {
  static const double knots[N_PARTS][5] = {{0, 30, 40, 45, 50}, {0, 30, 45, 60, 100}};
  double t = fmin(4.0 * s, 4.0 - 1e-12);
  int k = (int)t;
  return knots[part][k] + (t - k) * (knots[part][k + 1] - knots[part][k]);
}

// The bottom of the punch; beyond 45 degrees, out of contact, the fillet is a cone.
static double bottom_of(double r) {
  double way = fmax(r - FLAT, 0.0), steep = FILLET * sqrt(0.5), round = fmin(way, steep);
  return FILLET - sqrt(FILLET * FILLET - round * round) + fmax(way - steep, 0.0);
}

// From a cube around the origin with edges of 2, whose squares around the axis become circles.
static void map_point(int32_t part, double p[3]) {
  double s = fmax(fabs(p[0]), fabs(p[2])), r = MM * radius_of(part, s);
  double away = part == PUNCH ? 0.5 * (1.0 + p[1]) : 0.5 * (1.0 - p[1]); // from the contact
  double depth = expm1(2.0 * away) / expm1(2.0), bottom = bottom_of(r / MM);
  run_disk(&p[0], &p[2]);
  p[0] *= r / fmax(s, 1e-300);
  p[2] *= r / fmax(s, 1e-300);
  p[1] =
      part == PUNCH ? 0.5 * GAP + MM * (bottom + depth * (HEIGHT - bottom)) : -MM * DEPTH * depth;
}

static bool in_quarter(const double p[3]) {
  return p[0] > -1e-9 && p[2] > -1e-9;
}

// A quarter of that cube.
static bool make_quarter(NoliContext* context, int order, int rings, NoliMesh** mesh) {
  if (noli_mesh_make_box(context, (double[]){2, 2, 2}, (int32_t[]){2 * rings, rings, 2 * rings},
                         false, mesh) != NOLI_OK) {
    return false;
  }
  return run_keep(context, *mesh, in_quarter) &&
         noli_mesh_set_order(context, *mesh, order) == NOLI_OK;
}

static bool make_part(NoliContext* context, int part, int order, int rings, NoliMesh** mesh) {
  bool good = make_quarter(context, order, rings, mesh);
  if (good) {
    run_map(*mesh, map_point, part);
  }
  return good;
}

typedef struct Model {
  NoliMesh* mesh[N_PARTS];
  NoliBodyDef body[N_PARTS];
  NoliMotionDef motion[N_MOTIONS];
  NoliForceDef force;
  NoliSimDef def;
} Model;

static void press(void* user, double t, const double X[3], double value[3]) {
  (void)user, (void)X;
  value[0] = value[2] = 0.0;
  value[1] = -PRESSURE * t / N_STEPS;
}

static bool make_bodies(NoliContext* context, int order, int rings, Model* model) {
  static const char* names[] = {"punch", "foundation"};
  static const double young[] = {2.1e11, 7e10};
  bool good = true;
  for (int part = 0; part < N_PARTS; part++) {
    NoliBodyDef* body = &model->body[part];
    *body = noli_default_body_def();
    // meshes that do not match
    good = good && make_part(context, part, order, rings + 3 * part, &model->mesh[part]);
    body->name = names[part];
    body->mesh = model->mesh[part];
    body->order = order;
    body->self_contact = false;
    body->material.young = young[part];
    body->material.poisson = 0.3;
    if (order > 1) {
      body->proxy.kind = "subdivision";
      body->proxy.subdivision = 4;
    }
  }
  return good;
}

// Planes of symmetry, the fixed bottom and the loaded top, found with a simulation without them.
static bool find_nodes(Run* run, Model* model) {
  static const struct {
    int part, axis;
    double value;
  } planes[] = {{PUNCH, 0, 0.0},
                {PUNCH, 2, 0.0},
                {FOUNDATION, 0, 0.0},
                {FOUNDATION, 2, 0.0},
                {FOUNDATION, 1, -MM * DEPTH}};
  bool good = run_start_def(run, &model->def);
  for (int m = 0; m < N_MOTIONS && good; m++) {
    good = run_hold(run->sim, planes[m].part, planes[m].axis, planes[m].value, m == BOTTOM,
                    &model->motion[m]);
  }
  if (good) {
    NoliForceDef* force = &model->force;
    *force = noli_default_force_def();
    force->node = run_nodes(run->sim, PUNCH, 1, 0.5 * GAP + MM * HEIGHT, 1e-9, &force->n_node);
    force->kind = "traction";
    force->value = press;
    good = force->node != NULL;
  }
  noli_sim_destroy(&run->sim);
  model->def.motions = model->motion;
  model->def.n_motions = N_MOTIONS;
  model->def.forces = &model->force;
  model->def.n_forces = 1;
  return good;
}

// The pressure of contact around the axis: forces on the punch with the weight
// (1 - r^2 / R^2)^2, which has the integral pi R^2 / 12 over a quarter.
static bool measure_pressure(Run* run, double* pressure) {
  int32_t first, n;
  noli_sim_body_range(run->sim, PUNCH, &first, &n);
  double* f = malloc(sizeof *f * 3 * (size_t)noli_sim_vertex_count(run->sim));
  bool good = f != NULL && noli_sim_contact_forces(run->sim, f) == NOLI_OK;
  const double *X = noli_sim_rest_positions(run->sim), R = MM * WEIGHTED;
  *pressure = 0.0;
  for (int32_t i = first; i < first + n && good; i++) {
    const double* p = X + 3 * (int64_t)i;
    double u = (p[0] * p[0] + p[2] * p[2]) / (R * R);
    // those at the corners of elements of order 2 may be downward
    *pressure += u < 1.0 ? f[3 * (int64_t)i + 1] * (1.0 - u) * (1.0 - u) : 0.0;
  }
  *pressure /= PI * R * R / 12.0;
  free(f);
  return good;
}

// The node of the foundation in the middle of the contact.
static int32_t centre_of(const NoliSim* sim) {
  int32_t first, n, best;
  noli_sim_body_range(sim, FOUNDATION, &first, &n);
  const double* X = noli_sim_rest_positions(sim);
  best = first;
  for (int32_t i = first; i < first + n; i++) {
    const double *p = X + 3 * (int64_t)i, *q = X + 3 * (int64_t)best;
    best = hypot(hypot(p[0], p[2]), p[1]) < hypot(hypot(q[0], q[2]), q[1]) ? i : best;
  }
  return best;
}

typedef struct Result {
  double depth;    // m, of the foundation on the axis
  double pressure; // Pa, around it
  double force;    // N, of the bottom
  int32_t nodes;
} Result;

static bool simulate(Run* run, Model* model, Result* result) {
  bool good = find_nodes(run, model) && run_start_def(run, &model->def);
  for (int n = 0; n < N_STEPS && good; n++) {
    good = run_step(run);
  }
  if (good) {
    int64_t centre = 3 * (int64_t)centre_of(run->sim) + 1;
    result->depth =
        noli_sim_rest_positions(run->sim)[centre] - noli_sim_positions(run->sim)[centre];
    result->nodes = model->mesh[PUNCH]->n_vert + model->mesh[PUNCH]->n_curve +
                    model->mesh[FOUNDATION]->n_vert + model->mesh[FOUNDATION]->n_curve;
    NoliReaction reaction;
    good = measure_pressure(run, &result->pressure) &&
           noli_sim_reaction(run->sim, BOTTOM, NULL, &reaction) == NOLI_OK;
    result->force = reaction.force[1];
  }
  return good;
}

static bool punch(int order, int rings, Result* result) {
  Run run;
  Model model = {.def = noli_default_sim_def()};
  bool good = run_context(&run) && make_bodies(run.context, order, rings, &model);
  NoliSimDef* def = &model.def;
  def->bodies = model.body;
  def->n_bodies = N_PARTS;
  def->gravity[1] = 0.0;
  def->integrator = "quasi_static";
  def->contact_distance = (NoliScaled){GAP, false};
  def->tolerance = (NoliScaled){1e-6, false};
  def->time_step = 1.0;
  def->friction = 1e-6; // contact with friction supports the punch
  good = good && simulate(&run, &model, result);
  noli_sim_destroy(&run.sim);
  for (int m = 0; m < N_MOTIONS; m++) {
    free((void*)model.motion[m].node);
  }
  free((void*)model.force.node);
  for (int part = 0; part < N_PARTS; part++) {
    noli_mesh_destroy(run.context, &model.mesh[part]);
  }
  run_end(&run);
  return good;
}

static const struct {
  int order, rings;
  double bound; // of the displacement, relative
  bool quick;
} cases[] = {
    {1, 4, 0.1, true},   {1, 8, 0.07, false},  {1, 16, 0.02, false},
    {2, 4, 0.015, true}, {2, 8, 0.012, false},
};

bool validate_punch(Report* report) {
  const double depth = 0.132897 * MM, pressure = 93.626e6;
  const double load = PRESSURE * 0.25 * PI * 2500.0 * MM * MM;
  report_table(report, "Displacement of the middle of the contact, and mean pressure around it",
               "order | cells along the radius | nodes | force / load | displacement, mm | target "
               "| difference | "
               "pressure, MPa | target | difference");
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    Result got = {0};
    if (report->quick && !cases[k].quick) {
      continue;
    }
    if (!punch(cases[k].order, cases[k].rings, &got)) {
      return false;
    }
    double error = got.depth / depth - 1.0;
    report_row(report, "%d | %d | %d | %.5f | %.6f | %.6f | %+.2f %% | %.2f | %.2f | %+.1f %%",
               cases[k].order, cases[k].rings, got.nodes, got.force / load, got.depth / MM,
               depth / MM, 100.0 * error, 1e-6 * got.pressure, 1e-6 * pressure,
               100.0 * (got.pressure / pressure - 1.0));
    report_check(report, fabs(error), cases[k].bound, "displacement, order %d, %d cells, relative",
                 cases[k].order, cases[k].rings);
  }
  return true;
}
