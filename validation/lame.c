// Lame's thick walls under pressure: a hollow cylinder in plane strain and a hollow sphere, of
// which a quarter and an eighth are simulated. The strain is small, about 1e-6: pressure acts on
// the current area, which the closed forms take to be that at rest.
#include "cases.h"
#include "run.h"

#include <math.h>
#include <stdlib.h>

#define INNER 1.0 // radius, m
#define OUTER 2.0
#define YOUNG 1e9
#define PRESSURE 1e3
#define CORE (1.0 / 3.0) // edge of the empty part of the cube that becomes the sphere

enum { CYLINDER, SPHERE, N_SHAPES, MOTIONS_MAX = 4 };

// The displacement outward, m, and the stress around, Pa, at radius r.
static void closed_form(int shape, double poisson, double r, double* u, double* hoop) {
  double n = shape == CYLINDER ? 2.0 : 3.0, outer = pow(OUTER / r, n) / (n - 1.0);
  double A = PRESSURE / (pow(OUTER / INNER, n) - 1.0);
  // plane strain has the uniform part (1 + nu) (1 - 2 nu), a sphere (1 - 2 nu)
  double uniform = (1.0 - 2.0 * poisson) * (shape == CYLINDER ? 1.0 + poisson : 1.0);
  *u = A * r / YOUNG * (uniform + (1.0 + poisson) * outer);
  *hoop = A * (1.0 + outer);
}

// Radii grow in proportion, so that elements keep their shape.
static double radius_at(double s) {
  return INNER * pow(OUTER / INNER, s);
}

// From [0, 1]^3. The cylinder: around, outward, along. The sphere: cubes around the origin become
// spheres.
static void map_point(int32_t shape, double p[3]) {
  if (shape == CYLINDER) {
    double r = radius_at(p[1]), angle = 0.5 * PI * (1.0 - p[0]);
    p[0] = r * cos(angle);
    p[1] = r * sin(angle);
    return;
  }
  double s = fmax(fmax(p[0], p[1]), p[2]), r = radius_at((s - CORE) / (1.0 - CORE)), sum = 0.0;
  for (int k = 0; k < 3; k++) {
    p[k] = tan(0.25 * PI * p[k] / s);
    sum += p[k] * p[k];
  }
  for (int k = 0; k < 3; k++) {
    p[k] *= r / sqrt(sum);
  }
}

static bool outside_core(const double p[3]) {
  return fmax(fmax(p[0], p[1]), p[2]) > CORE - 1e-9;
}

// `cells` through the wall.
static bool make_mesh(NoliContext* context, int shape, int order, int cells, NoliMesh** mesh) {
  const double size[3] = {1, 1, shape == CYLINDER ? 0.1 : 1}, unit[3] = {1, 1, 1}, none[3] = {0};
  int32_t cylinder[3] = {2 * cells, cells, 1}, sphere[3];
  sphere[0] = sphere[1] = sphere[2] = 3 * cells / 2;
  bool good = noli_mesh_make_box(context, size, shape == CYLINDER ? cylinder : sphere, false,
                                 mesh) == NOLI_OK;
  if (good) {
    noli_mesh_transform(*mesh, unit, none, (double[]){0.5, 0.5, 0.5 * size[2]});
  }
  good = good && (shape == CYLINDER || run_keep(context, *mesh, outside_core)) &&
         noli_mesh_set_order(context, *mesh, order) == NOLI_OK;
  if (good) {
    run_map(*mesh, map_point, shape);
  }
  return good;
}

typedef struct Model {
  NoliMesh* mesh;
  NoliBodyDef body;
  NoliMotionDef motion[MOTIONS_MAX];
  NoliForceDef force;
  NoliSimDef def;
} Model;

static double distance_of(int shape, const double p[3]) {
  return shape == CYLINDER ? hypot(p[0], p[1]) : hypot(hypot(p[0], p[1]), p[2]);
}

static void press(void* user, double t, const double X[3], double value[3]) {
  (void)user, (void)t, (void)X;
  value[0] = PRESSURE;
}

// Nodes of the inner surface; the caller frees them.
static int32_t* inner_nodes(const NoliSim* sim, int shape, int32_t* count) {
  int32_t n = noli_sim_node_count(sim);
  int32_t* node = malloc(sizeof *node * (size_t)n);
  *count = 0;
  for (int32_t i = 0; node != NULL && i < n; i++) {
    double r = distance_of(shape, noli_sim_rest_positions(sim) + 3 * (int64_t)i);
    if (fabs(r - INNER) < 1e-9) {
      node[(*count)++] = i;
    }
  }
  return node;
}

static void make_model(int order, double poisson, Model* model) {
  model->body = noli_default_body_def();
  model->body.name = "wall";
  model->body.mesh = model->mesh;
  model->body.order = order;
  model->body.material.law = "corotated_linear";
  model->body.material.young = YOUNG;
  model->body.material.poisson = poisson;
  model->def = noli_default_sim_def();
  model->def.bodies = &model->body;
  model->def.n_bodies = 1;
  model->def.contact = false;
  model->def.gravity[1] = 0.0;
  model->def.integrator = "quasi_static";
  model->def.time_step = 1.0;
  model->def.tolerance = (NoliScaled){1e-12, false};
}

// Planes of symmetry, the other end of the cylinder, and the pressure.
static bool find_nodes(Run* run, int* shape, Model* model) {
  static const double planes[MOTIONS_MAX][2] = {{0, 0.0}, {1, 0.0}, {2, 0.0}, {2, 0.1}};
  bool good = run_start_def(run, &model->def);
  int32_t n = *shape == CYLINDER ? 4 : 3;
  for (int m = 0; m < n && good; m++) {
    good = run_hold(run->sim, 0, (int)planes[m][0], planes[m][1], false, &model->motion[m]);
  }
  model->force = noli_default_force_def();
  model->force.node = good ? inner_nodes(run->sim, *shape, &model->force.n_node) : NULL;
  model->force.kind = "pressure";
  model->force.value = press;
  model->def.motions = model->motion;
  model->def.n_motions = n;
  model->def.forces = &model->force;
  model->def.n_forces = 1;
  noli_sim_destroy(&run->sim);
  return good && model->force.node != NULL;
}

typedef struct Result {
  double displacement; // m, of the inner surface, outward: the mean
  double stress;       // around: rms of the error over all elements, over the largest stress
  int32_t nodes;
} Result;

// The stress around: the trace less that along the radius and, of the cylinder, along the axis.
static double stress_around(int shape, const double s[6], const double p[3]) {
  double z = shape == CYLINDER ? 0.0 : p[2], r = distance_of(shape, p);
  double radial = s[0] * p[0] * p[0] + s[1] * p[1] * p[1] + s[2] * z * z +
                  2.0 * (s[3] * p[0] * p[1] + s[4] * p[1] * z + s[5] * p[0] * z);
  double rest = s[0] + s[1] + s[2] - radial / (r * r);
  return shape == CYLINDER ? rest - s[2] : 0.5 * rest;
}

static bool measure(Run* run, int shape, const Model* model, Result* result) {
  const double* X = noli_sim_rest_positions(run->sim);
  int32_t n = noli_sim_tet_count(run->sim), n_inner = model->force.n_node;
  NoliStress* stress = malloc(sizeof *stress * (size_t)n);
  bool good = stress != NULL && noli_sim_stresses(run->sim, stress) == NOLI_OK;
  double u, want, most;
  closed_form(shape, model->body.material.poisson, INNER, &u, &most);
  for (int32_t t = 0; good && t < n; t++) {
    double p[3] = {0};
    for (int i = 0; i < 12; i++) {
      p[i % 3] += 0.25 * X[3 * (int64_t)noli_sim_tets(run->sim)[4 * (int64_t)t + i / 3] + i % 3];
    }
    closed_form(shape, model->body.material.poisson, distance_of(shape, p), &u, &want);
    double error = stress_around(shape, stress[t].cauchy, p) - want;
    result->stress += error * error / (most * most) / n;
  }
  result->stress = sqrt(result->stress);
  for (int32_t k = 0; k < n_inner; k++) {
    const double* x = noli_sim_positions(run->sim) + 3 * (int64_t)model->force.node[k];
    result->displacement += (distance_of(shape, x) - INNER) / n_inner;
  }
  result->nodes = noli_sim_node_count(run->sim);
  free(stress);
  return good;
}

static bool simulate(int shape, int order, int cells, double poisson, Result* result) {
  Run run;
  Model model = {0};
  bool good = run_context(&run) && make_mesh(run.context, shape, order, cells, &model.mesh);
  if (good) {
    make_model(order, poisson, &model);
  }
  good = good && find_nodes(&run, &shape, &model) && run_start_def(&run, &model.def) &&
         run_step(&run) && measure(&run, shape, &model, result);
  noli_sim_destroy(&run.sim);
  for (int m = 0; m < MOTIONS_MAX; m++) {
    free((void*)model.motion[m].node);
  }
  free((void*)model.force.node);
  noli_mesh_destroy(run.context, &model.mesh);
  run_end(&run);
  return good;
}

static const struct {
  int shape, order, cells; // through the wall
  double poisson;
  double bound[2]; // of displacement and stress, relative
  bool quick;
} cases[] = {
    {CYLINDER, 1, 4, 0.3, {0.035, 0.12}, true},    {CYLINDER, 1, 8, 0.3, {0.01, 0.06}, true},
    {CYLINDER, 1, 16, 0.3, {0.0025, 0.03}, false}, {CYLINDER, 2, 2, 0.3, {1e-4, 0.02}, true},
    {CYLINDER, 2, 4, 0.3, {5e-5, 0.005}, true},    {CYLINDER, 2, 8, 0.3, {5e-5, 0.001}, false},
    {CYLINDER, 2, 4, 0.49, {5e-5, 0.005}, true},   {CYLINDER, 3, 2, 0.3, {5e-5, 0.02}, true},
    {SPHERE, 1, 4, 0.3, {0.1, 0.12}, true},        {SPHERE, 1, 8, 0.3, {0.03, 0.07}, false},
    {SPHERE, 1, 16, 0.3, {0.008, 0.035}, false},   {SPHERE, 2, 4, 0.3, {0.0025, 0.01}, true},
    {SPHERE, 2, 6, 0.3, {5e-4, 0.006}, false},     {SPHERE, 2, 8, 0.3, {2e-4, 0.003}, false},
    {SPHERE, 2, 8, 0.49, {6e-4, 0.012}, false},    {SPHERE, 3, 4, 0.3, {1.5e-4, 0.01}, false},
};

bool validate_lame(Report* report) {
  static const char* const names[N_SHAPES] = {"cylinder", "sphere"};
  report_table(report, "Displacement of the inner surface, and stress around",
               "shape | order | cells through the wall | nodes | Poisson's ratio | displacement, "
               "um | closed form | error | error of the stress, rms");
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    Result got = {0};
    double u, hoop;
    int shape = cases[k].shape, order = cases[k].order, cells = cases[k].cells;
    if (report->quick && !cases[k].quick) {
      continue;
    }
    if (!simulate(shape, order, cells, cases[k].poisson, &got)) {
      return false;
    }
    closed_form(shape, cases[k].poisson, INNER, &u, &hoop);
    double error = got.displacement / u - 1.0;
    report_row(report, "%s | %d | %d | %d | %g | %.6f | %.6f | %+.3f %% | %.4f", names[shape],
               order, cells, got.nodes, cases[k].poisson, 1e6 * got.displacement, 1e6 * u,
               100.0 * error, got.stress);
    report_check(report, fabs(error), cases[k].bound[0],
                 "displacement, %s, order %d, %d cells, "
                 "Poisson's ratio %g, relative",
                 names[shape], order, cells, cases[k].poisson);
    report_check(report, got.stress, cases[k].bound[1],
                 "stress, %s, order %d, %d cells, "
                 "Poisson's ratio %g, relative",
                 names[shape], order, cells, cases[k].poisson);
  }
  return true;
}
