// Clamped strips of shell: an end shear compared with [Sze2004], own weight with the elastica.
#include "cases.h"
#include "run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH 10.0
#define WIDTH 1.0
#define THICKNESS 0.1
#define YOUNG 1.2e6
#define DENSITY 1.0
#define PLATE (YOUNG * THICKNESS * THICKNESS * THICKNESS / 12.0) // stiffness per width, N m
#define SHEAR 4.0                                                // N, of [Sze2004]
#define GAP 0.005 // m, between the held lines of nodes: the clamp lies between the first two
enum { STEPS = 4, HELD_LINES = 3 };

// ---- the strip ----------------------------------------------------------------------------------

// A strip from the clamp at x = 0 to x = LENGTH; its last nodes are held lines behind the clamp.
typedef struct Strip {
  NoliMesh* mesh;
  int32_t *held, *end;
  int32_t n_held, n_end;
} Strip;

static void strip_end(const Run* run, Strip* strip) {
  free(strip->held);
  free(strip->end);
  if (run->context != NULL) {
    noli_mesh_destroy(run->context, &strip->mesh);
  }
}

// Lists the vertices at x, in the order of y.
static int32_t vertices_at(const NoliMesh* mesh, double x, int32_t* node) {
  int32_t n = 0;
  for (int32_t i = 0; i < mesh->n_vert; i++) {
    if (fabs(mesh->x[3 * i] - x) < 1e-9) {
      int32_t k = n++;
      for (; k > 0 && mesh->x[3 * node[k - 1] + 1] > mesh->x[3 * i + 1]; k--) {
        node[k] = node[k - 1];
      }
      node[k] = i;
    }
  }
  return n;
}

// The sheet with two more lines of nodes behind the `n` nodes strip->held of its clamped side.
static bool add_held_lines(const Run* run, const NoliMesh* sheet, int32_t n, Strip* strip) {
  const int32_t first = sheet->n_vert, lines = HELD_LINES - 1;
  if (noli_mesh_create(run->context, first + lines * n, 0, sheet->n_tri + 2 * lines * (n - 1), 0, 0,
                       false, &strip->mesh) != NOLI_OK) {
    return false;
  }
  NoliMesh* mesh = strip->mesh;
  memcpy(mesh->x, sheet->x, sizeof *mesh->x * 3 * (size_t)first);
  memcpy(mesh->tri, sheet->tri, sizeof *mesh->tri * 3 * (size_t)sheet->n_tri);
  int32_t* tri = mesh->tri + 3 * sheet->n_tri;
  for (int32_t line = 1; line <= lines; line++) {
    for (int32_t k = 0; k < n; k++) {
      int32_t i = first + (line - 1) * n + k;
      mesh->x[3 * i] = -line * GAP;
      mesh->x[3 * i + 1] = mesh->x[3 * strip->held[k] + 1];
      mesh->x[3 * i + 2] = 0.0;
      strip->held[line * n + k] = i;
    }
    for (int32_t k = 0; k + 1 < n; k++, tri += 6) {
      const int32_t *near = strip->held + (line - 1) * n + k, *far = near + n;
      const int32_t two[6] = {far[0], near[0], near[1], far[0], near[1], far[1]};
      memcpy(tri, two, sizeof two);
    }
  }
  strip->n_held = HELD_LINES * n;
  return true;
}

static bool make_strip(const Run* run, const char* pattern, int32_t cells, Strip* strip) {
  NoliMesh* sheet = NULL;
  bool good = noli_mesh_make_sheet(run->context, LENGTH, WIDTH, cells, cells / 8, pattern,
                                   &sheet) == NOLI_OK;
  if (good) {
    size_t most = HELD_LINES * (size_t)sheet->n_vert;
    strip->held = malloc(sizeof *strip->held * most);
    strip->end = malloc(sizeof *strip->end * most);
    good = strip->held != NULL && strip->end != NULL;
  }
  if (good) {
    for (int32_t i = 0; i < sheet->n_vert; i++) {
      sheet->x[3 * i] += 0.5 * LENGTH;
    }
    strip->n_end = vertices_at(sheet, LENGTH, strip->end);
    good = add_held_lines(run, sheet, vertices_at(sheet, 0.0, strip->held), strip);
  }
  noli_mesh_destroy(run->context, &sheet);
  return good;
}

// ---- bending ------------------------------------------------------------------------------------

// A load of the strip: N at its end, or the weight per area times L^3 over the stiffness.
typedef struct Load {
  double shear, weight;
} Load;

static void end_shear(void* user, double t, const double X[3], double value[3]) {
  (void)X;
  value[0] = value[1] = 0.0;
  value[2] = *(const double*)user * t;
}

// Displacements of the end, shortening and deflection, m.
typedef struct Tip {
  double back, down;
  int64_t newton; // iterations of all load steps
} Tip;

static NoliBodyDef make_body(const Strip* strip, const char* law) {
  NoliBodyDef body = noli_default_body_def();
  body.mesh = strip->mesh;
  body.self_contact = false;
  body.shell.thickness = THICKNESS;
  body.shell.bending_law = law;
  body.material.law = "stvk";
  body.material.young = YOUNG;
  body.material.poisson = 0.0;
  body.material.density = DENSITY;
  return body;
}

// The mean of the nodes of the end.
static Tip tip_of(const Run* run, const Strip* strip) {
  Tip tip = {.newton = run->newton};
  for (int32_t k = 0; k < strip->n_end; k++) {
    const double* x = noli_sim_positions(run->sim) + 3 * strip->end[k];
    tip.back += (LENGTH - x[0]) / strip->n_end;
    tip.down += x[2] / strip->n_end;
  }
  return tip;
}

static bool bend(const char* pattern, const char* law, int32_t cells, Load load, Tip* tip) {
  Run run;
  Strip strip = {0};
  NoliSimDef def = noli_default_sim_def();
  NoliMotionDef motion = noli_default_motion_def();
  NoliForceDef force = noli_default_force_def();
  bool good = run_context(&run) && make_strip(&run, pattern, cells, &strip);

  // the body, held behind its clamp
  NoliBodyDef body = make_body(&strip, law);
  motion.node = strip.held;
  motion.n_node = strip.n_held;

  // the load
  force.node = strip.end;
  force.n_node = strip.n_end;
  force.kind = "total";
  force.value = end_shear;
  force.user = &load.shear;
  def.forces = &force;
  def.n_forces = load.shear > 0.0 ? 1 : 0;
  def.gravity[1] = 0.0;
  def.gravity[2] = load.weight * PLATE / (DENSITY * THICKNESS * pow(LENGTH, 3));

  def.bodies = &body;
  def.n_bodies = 1;
  def.motions = &motion;
  def.n_motions = 1;
  def.integrator = "quasi_static";
  def.time_step = 1.0 / STEPS;
  def.tolerance = (NoliScaled){1e-5, true};
  good = good && run_start_def(&run, &def);
  for (int n = 0; n < STEPS && good; n++) {
    good = run_step(&run);
  }

  if (good) {
    *tip = tip_of(&run, &strip);
  }
  strip_end(&run, &strip);
  run_end(&run);
  return good;
}

// ---- end shear ----------------------------------------------------------------------------------

static const struct {
  const char *pattern, *law;
  int32_t cells;
  double bound; // of the displacements, over those of [Sze2004]
  bool quick;
} sheared[] = {
    {"diagonal", "plate", 16, 0.005, true},          {"diagonal", "plate", 32, 0.005, false},
    {"diagonal", "plate", 64, 0.005, false},         {"alternating", "plate", 16, 0.005, false},
    {"alternating", "plate", 32, 0.005, false},      {"alternating", "plate", 64, 0.005, false},
    {"unstructured", "plate", 16, 0.005, true},      {"unstructured", "plate", 32, 0.005, false},
    {"unstructured", "plate", 64, 0.005, false},     {"diagonal", "hinges", 32, INFINITY, false},
    {"unstructured", "hinges", 32, INFINITY, false},
};
enum { N_SHEARED = sizeof sheared / sizeof *sheared };

bool validate_shell_shear(Report* report) {
  const double back = 3.286, down = 6.698; // [Sze2004], for 4 N
  report_table(report, "Displacement of the end under 4 N, m",
               "mesh | cells along | bending law | back | published | error | down | published | "
               "error | Newton iterations");
  for (int k = 0; k < N_SHEARED; k++) {
    Tip tip;
    if (report->quick && !sheared[k].quick) {
      continue;
    }
    if (!bend(sheared[k].pattern, sheared[k].law, sheared[k].cells, (Load){.shear = SHEAR}, &tip)) {
      return false;
    }
    report_row(report, "%s | %d | %s | %.3f | %.3f | %+.2f %% | %.3f | %.3f | %+.2f %% | %lld",
               sheared[k].pattern, (int)sheared[k].cells, sheared[k].law, tip.back, back,
               100.0 * (tip.back / back - 1.0), tip.down, down, 100.0 * (tip.down / down - 1.0),
               (long long)tip.newton);
    report_check(report, fmax(fabs(tip.back / back - 1.0), fabs(tip.down / down - 1.0)),
                 sheared[k].bound, "end, %s, %s, %d cells along, relative", sheared[k].pattern,
                 sheared[k].law, (int)sheared[k].cells);
  }
  return true;
}

// ---- own weight ---------------------------------------------------------------------------------

// theta'' = -beta (1 - s) cos(theta), theta(0) = 0, from a curvature at the clamp; returns
// theta'(1) and the place of the tip, over the length.
static double shoot(double beta, double curvature, double place[2]) {
  enum { PARTS = 4000 };
  double h = 1.0 / PARTS, theta = 0.0, kappa = curvature;
  place[0] = place[1] = 0.0;
  for (int i = 0; i < PARTS; i++) {
    double s = i * h, middle = theta + 0.5 * h * kappa;
    double kappa_middle = kappa - 0.5 * h * beta * (1.0 - s) * cos(theta);
    place[0] += h * cos(middle);
    place[1] += h * sin(middle);
    kappa -= h * beta * (1.0 - s - 0.5 * h) * cos(middle);
    theta += h * kappa_middle;
  }
  return kappa;
}

static void heavy_elastica(double beta, double place[2]) {
  double low = 0.0, high = beta;
  for (int k = 0; k < 60; k++) {
    double middle = 0.5 * (low + high);
    *(shoot(beta, middle, place) < 0.0 ? &low : &high) = middle;
  }
}

bool validate_shell_weight(Report* report) {
  static const double betas[] = {0.5, 1.0, 3.0, 10.0, 40.0, 100.0};
  static const char* const patterns[] = {"diagonal", "unstructured"};
  report_table(report, "Place of the end under its own weight, over L, 32 cells along",
               "weight | mesh | along | elastica | down | elastica | distance");
  for (int m = 0; m < 2; m++) {
    double worst = 0.0;
    for (int k = 0; k < (report->quick ? 2 : 6); k++) {
      Tip tip;
      double place[2];
      if (!bend(patterns[m], "plate", 32, (Load){.weight = betas[k]}, &tip)) {
        return false;
      }
      heavy_elastica(betas[k], place);
      double along = 1.0 - tip.back / LENGTH, down = tip.down / LENGTH;
      double distance = hypot(along - place[0], down - place[1]);
      report_row(report, "%g | %s | %.4f | %.4f | %.4f | %.4f | %.4f", betas[k], patterns[m], along,
                 place[0], down, place[1], distance);
      worst = fmax(worst, distance);
    }
    report_check(report, worst, 0.003, "end, %s, distance over L", patterns[m]);
  }
  return true;
}
