// Cattaneo and Mindlin: two equal spheres are pressed together by P and sheared by Q < mu P. An
// annulus around the stick radius c slips ([Johnson1985] section 7.2, 7.4):
//
//   c / a = (1 - Q / mu P)^(1/3),
//   shift = 3 mu P (2 - nu) / (8 G a) (1 - (1 - Q / mu P)^(2/3))
//
// and a cycle of +-Q loses energy. As the spheres are equal, pressing them together shifts both
// surfaces alike, and shear does not part them: normal and tangential problem are independent.
// Half of each cap is simulated, with z = 0 as plane of symmetry, in load steps.
//
// Four choices are necessary. Cells lie in rings around the axis, narrow ones where contacts slip,
// between 24 and 30 mm. The meshes mirror each other: points of contact on both sides of meshes
// that do not match hold more than these can follow, and push each other aside in the annulus.
// Cells in depth are as fine as those along the surface. The spheres are pressed together without
// friction, which then begins: what features that change leave in pressing shifts the cycle.
#include "cases.h"
#include "run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RADIUS 1.0
#define CORE 0.018  // within which contacts stick: rings of cells of one width
#define INNER 0.033 // between both they slip: narrow rings
#define ROUND 0.8   // of the rings, 1: circles, whose cells have corners of nearly 180 degrees
#define WIDTH 0.09  // of a cap, from the axis; as high
#define YOUNG 1e6
#define POISSON 0.3
#define SHEAR (YOUNG / (2.0 * (1.0 + POISSON)))
#define PRESS 40.0 // N
#define MU 0.5
#define TANGENTIAL 10.0 // N
#define GAP 1e-5        // at the start, and the contact distance
#define STICK 1e-7      // m, the stick length

enum {
  PRESSING = 2,
  SETTLING = 2,
  PRESSED = PRESSING + SETTLING,
  QUARTER = 4,
  OUTER = 2,
  STEPS = PRESSED + 5 * QUARTER
};

// ---- closed forms -------------------------------------------------------------------------------

static double approach_of(double force) {
  double stiffness = 4.0 / 3.0 * YOUNG / (2.0 * (1.0 - POISSON * POISSON)) * sqrt(RADIUS / 2.0);
  return pow(force / stiffness, 2.0 / 3.0);
}

static double radius_of(double force) {
  return sqrt(RADIUS / 2.0 * approach_of(force));
}

// The shift under a load that grows from 0.
static double shift_of(double force, double mu_press) {
  double scale = 3.0 * mu_press * (2.0 - POISSON) / (8.0 * SHEAR * radius_of(PRESS));
  return scale * (1.0 - pow(1.0 - force / mu_press, 2.0 / 3.0));
}

// Loss of a cycle between -force and force.
static double loss_of(double force, double mu_press) {
  double q = force / mu_press, a = radius_of(PRESS);
  return 9.0 * mu_press * mu_press / (10.0 * a) * 2.0 * (2.0 - POISSON) / SHEAR *
         (1.0 - pow(1.0 - q, 5.0 / 3.0) - 5.0 * q / 6.0 * (1.0 + pow(1.0 - q, 2.0 / 3.0)));
}

// ---- the spheres --------------------------------------------------------------------------------

typedef struct Spheres {
  Run run;
  NoliMesh* mesh[2];
  NoliBodyDef body[2];
  NoliMotionDef motion[2 * 5];
  NoliSimDef def;
  int core, rim; // rings of cells
  int deep;      // cells in depth
  double press;  // N, what the far ends are moved for
  double force;  // N, tangential
  double shift;  // m
  double turned; // sign of the largest load since when it has been turned; 0: it grows
} Spheres;

// Radius of ring k around the axis: `core` rings of equal width, `rim` narrow ones where contacts
// slip, and OUTER that grow to a side.
static double ring_radius(const Spheres* all, double k) {
  double in = k - all->core, out = in - all->rim;
  if (in <= 0.0) {
    return CORE * k / all->core;
  }
  if (out <= 0.0) {
    return CORE + (INNER - CORE) * in / all->rim;
  }
  double u = out / OUTER;
  return INNER + (WIDTH - INNER) * u * (0.5 + 0.5 * u);
}

// A vertex of a grid of squares goes to its ring: round ones, but the last ones, which are squares.
static void to_ring(const Spheres* all, double* x, double* z) {
  double k = fmax(fabs(*x), fabs(*z));
  if (k < 0.5) {
    *x = *z = 0.0;
    return;
  }
  double radius = ring_radius(all, k), n = all->core + all->rim;
  double round = ROUND * fmin(fmin(1.0, k / 3.0), fmax(0.0, (n + OUTER - k) / OUTER));
  double flat[2] = {*x / k, *z / k};
  double across = fmin(fabs(*x), fabs(*z)) / k, angle = 0.25 * PI * across;
  double arc[2] = {fabs(*x) >= fabs(*z) ? cos(angle) : sin(angle),
                   fabs(*x) >= fabs(*z) ? sin(angle) : cos(angle)};
  *x = radius * ((1.0 - round) * flat[0] + round * copysign(arc[0], *x));
  *z = radius * ((1.0 - round) * flat[1] + round * copysign(arc[1], *z));
}

// Cells in depth grow.
static double down(double s) {
  const double growth = 3.0;
  return WIDTH * sinh(growth * s) / sinh(growth);
}

// Half of a cap above its lowest point, which is the origin; or its mirror image below it.
static bool make_cap(Spheres* all, int which, int order) {
  NoliContext* context = all->run.context;
  int32_t n = all->core + all->rim + OUTER;
  if (noli_mesh_make_box(context, (double[]){2 * n, 1, n}, (int32_t[]){2 * n, all->deep, n}, false,
                         &all->mesh[which]) != NOLI_OK) {
    return false;
  }
  NoliMesh* mesh = all->mesh[which];
  for (int32_t i = 0; i < mesh->n_vert; i++) {
    double* p = mesh->x + 3 * (int64_t)i;
    p[2] += 0.5 * n;
    to_ring(all, &p[0], &p[2]);
    p[1] = down(p[1] + 0.5);
    double r2 = p[0] * p[0] + p[2] * p[2];
    double bottom = 0.5 * GAP + RADIUS - sqrt(RADIUS * RADIUS - r2);
    p[1] = bottom + p[1] * (1.0 - bottom / WIDTH);
  }
  double sign = which == 0 ? 1.0 : -1.0;
  const double mirror[3] = {1.0, sign, 1.0}, none[3] = {0.0, 0.0, 0.0};
  noli_mesh_transform(mesh, mirror, none, none);
  double centre[3] = {0.0, sign * (RADIUS + 0.5 * GAP), 0.0};
  return order == 1 ||
         (noli_mesh_set_order(context, mesh, order) == NOLI_OK &&
          noli_mesh_curve_onto(context, mesh, centre, NULL, RADIUS, 1e-9, NULL) == NOLI_OK);
}

// A part of the traction on the contact circle.
typedef struct Traction {
  double normal; // N
  double along;  // N
  double radius; // m, of a ring with the same second moment
} Traction;

// That of a Hertzian pressure on a circle.
static Traction normal_traction(double press) {
  return (Traction){press, 0.0, sqrt(0.4) * radius_of(press)};
}

// Of a tangential load that grew from 0, sliding on the annulus less sliding on the circle that
// sticks.
static Traction grown_traction(double force, double scale) {
  double c = cbrt(1.0 - force / (MU * PRESS));
  double moment = force > 0.0 ? (1.0 - pow(c, 5.0)) / (1.0 - pow(c, 3.0)) : 5.0 / 3.0;
  return (Traction){0.0, scale * force, sqrt(0.4 * moment) * radius_of(PRESS)};
}

enum { N_TRACTIONS = 3, N_AROUND = 16 };

// Of the normal load, and of a tangential load that grows or, after its largest value, turns: then
// twice that of half the change since acts against it.
static void tractions(const Spheres* all, Traction part[N_TRACTIONS]) {
  bool grows = all->turned == 0.0;
  double change = grows ? 0.0 : fabs(all->turned * TANGENTIAL - all->force);
  part[0] = normal_traction(all->press);
  part[1] = grown_traction(grows ? all->force : TANGENTIAL, grows ? 1.0 : all->turned);
  part[2] = grown_traction(0.5 * change, -2.0 * all->turned);
}

// Adds what a force at the origin of a half-space y > 0 moves p by ([Johnson1985] eq. 3.19, 3.75).
static void add_force(double P, double Q, const double p[3], double u[3]) {
  double scale = 1.0 / (4.0 * PI * SHEAR), c = 1.0 - 2.0 * POISSON;
  P *= scale;
  Q *= -scale;
  double rho = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]), s = rho + p[1];
  double side = p[1] / pow(rho, 3) - c / (rho * s);
  double across = 1.0 / pow(rho, 3) - c / (rho * s * s);
  u[0] += P * side * p[0] + Q * (1.0 / rho + c / s + across * p[0] * p[0]);
  u[1] += P * (p[1] * p[1] / pow(rho, 3) + 2.0 * (1.0 - POISSON) / rho) +
          Q * p[0] * (p[1] / pow(rho, 3) + c / (rho * s));
  u[2] += P * side * p[2] + Q * across * p[0] * p[2];
}

// Far from the contact: rigid motions by half the approach and half the shift, and what the
// tractions move there. The lower sphere is the upper one, turned about z.
static void far_away(const Spheres* all, double sign, int32_t n, const double* X, double* x) {
  Traction part[N_TRACTIONS];
  tractions(all, part);
  for (int32_t i = 0; i < n; i++) {
    double p[3] = {sign * X[3 * i], sign * X[3 * i + 1], X[3 * i + 2]};
    double u[3] = {0.5 * all->shift, -0.5 * (approach_of(all->press) + GAP), 0.0};
    for (int k = 0; k < N_TRACTIONS * N_AROUND; k++) {
      const Traction* of = &part[k / N_AROUND];
      double angle = 2.0 * PI * (k % N_AROUND + 0.5) / N_AROUND;
      double from[3] = {p[0] - of->radius * cos(angle), p[1], p[2] - of->radius * sin(angle)};
      add_force(of->normal / N_AROUND, of->along / N_AROUND, from, u);
    }
    x[3 * i] = sign * (p[0] + u[0]);
    x[3 * i + 1] = sign * (p[1] + u[1]);
    x[3 * i + 2] = p[2] + u[2];
  }
}

static void move_upper(void* user, double t0, double t1, int32_t n, const int32_t* node,
                       const double* X, const double* x_t0, double* x_t1) {
  (void)t0, (void)t1, (void)node, (void)x_t0;
  far_away(user, 1.0, n, X, x_t1);
}

static void move_lower(void* user, double t0, double t1, int32_t n, const int32_t* node,
                       const double* X, const double* x_t0, double* x_t1) {
  (void)t0, (void)t1, (void)node, (void)x_t0;
  far_away(user, -1.0, n, X, x_t1);
}

// The plane of symmetry slides in itself, and four sides of each cap move.
static bool set_motions(Spheres* all) {
  static const struct {
    int axis;
    double value;
  } side[5] = {{2, 0.0}, {0, WIDTH}, {0, -WIDTH}, {2, WIDTH}, {1, WIDTH}};
  bool good = true;
  for (int m = 0; m < 10; m++) {
    int body = m / 5, k = m % 5;
    double value = k == 4 && body == 1 ? -side[k].value : side[k].value;
    NoliMotionDef* motion = &all->motion[m];
    *motion = noli_default_motion_def();
    motion->body = body;
    motion->node =
        run_nodes(all->run.sim, body, side[k].axis, value, k == 0 ? 1e-9 : 1e-3, &motion->n_node);
    good = good && motion->node != NULL && motion->n_node > 0;
    if (k == 0) {
      motion->free_axis[0] = motion->free_axis[1] = true;
    } else {
      motion->target = body == 0 ? move_upper : move_lower;
      motion->user = all;
    }
  }
  return good;
}

typedef struct Mindlin {
  int order, core, rim, deep;
} Mindlin;

static void define(Spheres* all, const Mindlin* of) {
  all->def = noli_default_sim_def();
  for (int b = 0; b < 2; b++) {
    all->body[b] = noli_default_body_def();
    all->body[b].name = b == 0 ? "upper" : "lower";
    all->body[b].mesh = all->mesh[b];
    all->body[b].order = of->order;
    all->body[b].self_contact = false;
    all->body[b].material.young = YOUNG;
    all->body[b].material.poisson = POISSON;
    if (of->order > 1) {
      all->body[b].proxy.kind = "subdivision";
      all->body[b].proxy.subdivision = 4;
    }
  }
  all->def.bodies = all->body;
  all->def.n_bodies = 2;
  all->def.gravity[1] = 0.0;
  all->def.integrator = "quasi_static";
  all->def.friction_law = "stick";
  all->def.stick_length = (NoliScaled){STICK, NOLI_ABSOLUTE};
  all->def.contact_distance = (NoliScaled){GAP, NOLI_ABSOLUTE};
  all->def.tolerance = (NoliScaled){1e-6, NOLI_ABSOLUTE};
  all->def.time_step = 1.0;
  all->def.audit = "off";
}

static bool build(Spheres* all, const Mindlin* of) {
  *all = (Spheres){.core = of->core, .rim = of->rim, .deep = of->deep};
  if (!run_context(&all->run) || !make_cap(all, 0, of->order) || !make_cap(all, 1, of->order)) {
    return false;
  }
  define(all, of);
  // a simulation without motions lists the nodes
  bool good = run_start_def(&all->run, &all->def) && set_motions(all);
  noli_sim_destroy(&all->run.sim);
  all->def.motions = all->motion;
  all->def.n_motions = 10;
  return good && run_start_def(&all->run, &all->def);
}

static void demolish(Spheres* all) {
  noli_sim_destroy(&all->run.sim);
  for (int b = 0; b < 2; b++) {
    noli_mesh_destroy(all->run.context, &all->mesh[b]);
  }
  for (int m = 0; m < 10; m++) {
    free((void*)all->motion[m].node);
  }
  run_end(&all->run);
}

// ---- the cycle ----------------------------------------------------------------------------------

// The spheres are moved by what theory has for PRESS and TANGENTIAL; forces, of both halves, are
// compared, and the loss with that of a cycle between these shifts. A cycle of theory between the
// forces loses less by several times the error of the shift: a tenth of the shift is slip, the rest
// is elastic.
typedef struct Cycle {
  double press;    // N, after pressing
  double force[3]; // N, tangential: under the largest shift, the opposite one, and the first again
  double stick;    // m, radius
  double loss;     // J
  double newton;   // iterations a step
} Cycle;

// The radius within which contacts stick, from the part of the normal force that these carry:
// 1 - (1 - r^2 / a^2)^(3/2) of it is within r.
static bool stick_radius(Run* run, double* radius) {
  const NoliContactInfo* contact = NULL;
  int64_t n = 0;
  bool good = noli_sim_contacts(run->sim, &contact, &n) == NOLI_OK;
  double held = 0.0, all = 0.0;
  for (int64_t i = 0; i < n && good; i++) {
    const double* f = contact[i].normal_force;
    double normal = sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2]);
    all += normal;
    held += contact[i].sticking == NOLI_STICKING_HELD ? normal : 0.0;
  }
  *radius = radius_of(PRESS) * sqrt(1.0 - pow(1.0 - held / all, 2.0 / 3.0));
  return good;
}

// The tangential load of a step after pressing: up, down and up again.
static double load_of(int step) {
  int k = step - PRESSED;
  double s = (double)k / QUARTER;
  return TANGENTIAL * (s <= 1.0 ? s : s <= 3.0 ? 2.0 - s : s - 4.0);
}

static void set_load(Spheres* all, int step) {
  double mu_press = MU * PRESS, largest = shift_of(TANGENTIAL, mu_press);
  all->force = load_of(step);
  double s = (step - PRESSED) / (double)QUARTER;
  if (s <= 1.0) {
    all->shift = shift_of(all->force, mu_press);
  } else if (s <= 3.0) {
    all->turned = 1.0;
    all->shift = largest - 2.0 * shift_of(0.5 * (TANGENTIAL - all->force), mu_press);
  } else {
    all->turned = -1.0;
    all->shift = -largest + 2.0 * shift_of(0.5 * (TANGENTIAL + all->force), mu_press);
  }
}

static bool begin_friction(Spheres* all) {
  NoliPairDef pair = noli_default_pair_def();
  pair.a = 0;
  pair.b = 1;
  pair.friction = MU;
  return noli_sim_set_pair(all->run.sim, &pair) == NOLI_OK;
}

static bool cycle(const Mindlin* of, Cycle* result) {
  Spheres all;
  *result = (Cycle){0};
  bool good = build(&all, of);
  for (int n = 1; n <= STEPS && good; n++) {
    int k = n - PRESSED;
    if (n <= PRESSING) {
      all.press = PRESS * pow((double)n / PRESSING, 1.5);
    } else if (k <= 0) {
      all.press *= PRESS / result->press;
    } else {
      set_load(&all, n);
    }
    good = (k != 1 || begin_friction(&all)) && run_step(&all.run);
    NoliPairForce pair = run_pair(&all.run, 0, 1);
    result->press = k <= 0 ? 2.0 * pair.normal[1] : result->press;
    if (k > 0 && k % (2 * QUARTER) == QUARTER) {
      result->force[k / (2 * QUARTER)] = -2.0 * pair.friction[0];
    }
    good = good && (k != QUARTER || stick_radius(&all.run, &result->stick));
    result->loss += k > QUARTER ? 2.0 * all.run.report.friction_loss : 0.0;
  }
  result->newton = (double)all.run.newton / STEPS;
  demolish(&all);
  return good;
}

static bool cycle_row(Report* report, const Mindlin* of) {
  Cycle got;
  if (!cycle(of, &got)) {
    return false;
  }
  double mu_press = MU * got.press, amplitude = 0.5 * (got.force[2] - got.force[1]);
  double shift = shift_of(TANGENTIAL, MU * PRESS) / shift_of(amplitude, mu_press) - 1.0;
  double c = radius_of(PRESS) * cbrt(1.0 - TANGENTIAL / (MU * PRESS));
  double loss = got.loss / loss_of(TANGENTIAL, MU * PRESS) - 1.0;
  double loss_by_force = got.loss / loss_of(amplitude, mu_press) - 1.0;
  double open = (got.force[2] - got.force[0]) / amplitude;
  report_row(report,
             "%d | %.3f | %.3f, %.3f, %.3f | %+.2f %% | %.2f | %.2f | %.4g | %+.1f %% | %+.1f %% | "
             "%.1f",
             of->rim, got.press, got.force[0], got.force[1], got.force[2], 100.0 * shift,
             1e3 * got.stick, 1e3 * c, got.loss, 100.0 * loss, 100.0 * loss_by_force, got.newton);
  report_check(report, fabs(shift), 0.02, "shift, %d cells, relative", of->rim);
  report_check(report, fabs(got.stick - c), (INNER - CORE) / of->rim, "stick radius, %d cells, m",
               of->rim);
  report_check(report, fabs(loss), 0.05, "loss of a cycle, %d cells, relative", of->rim);
  report_check(report, fabs(loss_by_force), 0.12,
               "loss of a cycle between these forces, %d cells, relative", of->rim);
  report_check(report, fabs(open), 0.01, "opening of the loop, %d cells, relative", of->rim);
  return true;
}

bool validate_mindlin(Report* report) {
  static const Mindlin rows[] = {{2, 1, 2, 5}, {2, 2, 3, 6}, {2, 2, 4, 6}};
  report_table(report, "Two spheres, pressed by 40 N and sheared by 10, -10 and 10 N",
               "cells from 18 to 33 mm | P, N | Q at the shift of theory, N | error of the shift | "
               "stick radius, mm | theory | loss, J | error | between these forces | Newton "
               "iterations a step");
  for (size_t r = 0; r < (report->quick ? 1 : sizeof rows / sizeof *rows); r++) {
    if (!cycle_row(report, &rows[r])) {
      return false;
    }
  }
  return true;
}
