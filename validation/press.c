// Load steps with default settings, whose forces must balance: cubes under a plate, a press fit,
// an O-ring between plates, and the arm of a snap-fit.
#include "cases.h"
#include "run.h"

#include <math.h>
#include <stdlib.h>

// ---- cubes --------------------------------------------------------------------------------------

typedef struct Cube {
  double young; // Pa
  double unit;  // of length, m; masses in kg
  double depth; // m, that the plate presses
  const char* law;
  int order;
  const char* solver;
} Cube;

// The force that the plate pushes with and the force that the support holds, N in the unit of the
// scene.
static bool press_cube(const Cube* cube, double* pushes, double* holds, Run* run) {
  Settings settings = {0};
  NoliReaction plate = {0}, support = {0};
  double size = 0.1 / cube->unit, gap = 1e-6 / cube->unit;
  set(&settings, "bodies.cube.mesh.box.size", "[%.17g, %.17g, %.17g]", size, size, size);
  set(&settings, "bodies.cube.order", "%d", cube->order);
  set(&settings, "bodies.cube.material.young", "%.17g", cube->young * cube->unit);
  set(&settings, "bodies.cube.material.density", "%.17g", 7800.0 * pow(cube->unit, 3));
  set(&settings, "bodies.cube.material.law", "%s", cube->law);
  set(&settings, "obstacles.plate.mesh.plane.size", "[%.17g, %.17g]", 3 * size, 3 * size);
  set(&settings, "obstacles.plate.translate", "[0, %.17g, 0]", 0.5 * size + 0.9 * gap);
  set(&settings, "obstacles.plate.motion.displacement", "[0, \"-%.17g*t\", 0]",
      cube->depth / cube->unit + 0.9 * gap);
  set(&settings, "contact.distance", "%.17g", gap);
  set(&settings, "solver.method", "%s", cube->solver);
  bool good = run_start(run, "press_cube", &settings) && run_step(run) &&
              noli_sim_reaction(run->sim, 0, NULL, &plate) == NOLI_OK &&
              noli_sim_reaction(run->sim, 1, NULL, &support) == NOLI_OK;
  *pushes = -plate.force[1];
  *holds = support.force[1];
  return good;
}

static bool press_cubes(Report* report) {
  static const char* const solvers[] = {"projected_newton", "augmented_lagrangian",
                                        "implicit_newton"};
  static const char* const laws[] = {"neo_hookean", "corotated_linear"};
  static const double young[] = {1e5, 1e8, 2.1e11}, depth[] = {1e-5, 1e-3};
  double worst = 0.0;
  report_table(report, "A plate presses a cube of 100 mm onto its support",
               "E, Pa | unit, m | pushed by, um | law | order | solver | pushes, N | holds, N | "
               "apart | iterations");
  for (int k = 0; k < (report->quick ? 6 : 72); k++) {
    Run run;
    Cube cube = {.solver = solvers[k % 3],
                 .depth = depth[k / 3 % 2],
                 .young = young[2 - k / 6 % 3],
                 .law = laws[k / 18 % 2],
                 .unit = k / 36 % 2 == 0 ? 1.0 : 1e-3,
                 .order = k % 6 == 5 ? 2 : 1};
    double pushes, holds;
    bool good = press_cube(&cube, &pushes, &holds, &run);
    double apart = fabs(pushes / holds - 1.0), newton = cube.unit;
    report_row(report, "%g | %g | %g | %s | %d | %s | %.5g | %.5g | %.2g %% | %d", cube.young,
               cube.unit, 1e6 * cube.depth, cube.law, cube.order, cube.solver, pushes * newton,
               holds * newton, 100.0 * apart, (int)run.newton);
    run_end(&run);
    if (!good) {
      return false;
    }
    worst = report_worse(worst, apart);
  }
  report_check(report, worst, 2e-3, "plate against support, all cubes, relative");
  return true;
}

// ---- press fit ----------------------------------------------------------------------------------

// A rigid shaft in a hub of steel, a quarter in plane strain.
#define INNER 0.01 // m, radius of the hub
#define OUTER 0.02
#define YOUNG 2.1e11
#define POISSON 0.3
#define INTERFERENCE 5e-6 // m
#define GAP 2e-8          // m, at the start, and the contact distance

typedef enum Part { HUB, SHAFT } Part;

// From a rectangle [-1/2, 1/2]^2 around the origin: x goes around, y outward.
static void map_fit(int32_t part, double p[3]) {
  double s = p[0] + 0.5, t = p[1] + 0.5;
  double angle = 0.5 * PI * (1.0 - s);
  double r = part == HUB ? INNER + (OUTER - INNER) * t : (INNER - GAP) * (0.5 + 0.5 * t);
  p[0] = r * cos(angle);
  p[1] = r * sin(angle);
}

// Both meshes have the same angles, so that polygons fit into each other; the shaft has `extra`
// more cells at both ends.
static bool make_part(NoliContext* context, Part part, int cells, int extra, NoliMesh** mesh) {
  double wide = 1.0 + 2.0 * extra / cells;
  bool good = noli_mesh_make_rectangle(context, wide, 1.0, cells + 2 * extra,
                                       part == HUB ? cells / 2 : 1, mesh) == NOLI_OK;
  if (good) {
    run_map(*mesh, map_fit, (int32_t)part);
  }
  return good;
}

// The shaft grows.
static void grow(void* user, double t0, double t1, int32_t n, const int32_t* node, const double* X,
                 const double* x_t0, double* x_t1) {
  (void)user, (void)t0, (void)node, (void)x_t0;
  double scale = 1.0 + t1 * (INTERFERENCE + GAP) / (INNER - GAP);
  for (int32_t i = 0; i < n; i++) {
    x_t1[3 * i] = scale * X[3 * i];
    x_t1[3 * i + 1] = scale * X[3 * i + 1];
    x_t1[3 * i + 2] = X[3 * i + 2];
  }
}

// Lame: u = A r + B / r with u(INNER) given and no stress at OUTER.
static double fit_pressure(void) {
  double b = INTERFERENCE / (INNER * (1.0 - 2.0 * POISSON) / (OUTER * OUTER) + 1.0 / INNER);
  return YOUNG / (1.0 + POISSON) * b * (1.0 / (INNER * INNER) - 1.0 / (OUTER * OUTER));
}

static bool fit(int cells, const char* solver, double* pressure, int64_t* newton) {
  Run run;
  NoliMesh* mesh[2] = {NULL, NULL};
  NoliBodyDef body[2] = {noli_default_body_def(), noli_default_body_def()};
  NoliMotionDef motion[3] = {noli_default_motion_def()};
  NoliSimDef def = noli_default_sim_def();
  bool good = run_context(&run) && make_part(run.context, HUB, cells, 0, &mesh[0]) &&
              make_part(run.context, SHAFT, cells, (cells + 9) / 10, &mesh[1]);
  for (int k = 0; k < 2; k++) {
    body[k].name = k == 0 ? "hub" : "shaft";
    body[k].mesh = mesh[k];
    body[k].plane_strain = 1.0;
    body[k].obstacle = k == 1;
    body[k].material.young = YOUNG;
    body[k].material.poisson = POISSON;
    body[k].material.density = 7800.0;
  }
  def.bodies = body;
  def.n_bodies = 2;
  def.integrator = "quasi_static";
  def.time_step = 1.0;
  def.solver = solver;
  def.gravity[1] = 0.0;
  def.contact_distance = (NoliScaled){GAP * 1.0001, false};

  // the planes of symmetry need the nodes of a simulation
  Run probe = {.context = run.context};
  good = good && run_start_def(&probe, &def);
  for (int k = 0; k < 2 && good; k++) {
    good = run_hold(probe.sim, 0, k, 0.0, false, &motion[1 + k]);
  }
  noli_sim_destroy(&probe.sim);
  motion[0].body = 1;
  motion[0].target = grow;
  def.motions = motion;
  def.n_motions = 3;
  good = good && run_start_def(&run, &def) && run_step(&run);
  if (good) {
    NoliPairForce pair = run_pair(&run, 0, 1);
    *pressure = (pair.normal[0] + pair.normal[1]) / (2.0 * INNER);
    *newton = run.newton;
  }
  free((void*)(uintptr_t)motion[1].node);
  free((void*)(uintptr_t)motion[2].node);
  noli_sim_destroy(&run.sim);
  for (int k = 0; k < 2; k++) {
    noli_mesh_destroy(run.context, &mesh[k]);
  }
  run_end(&run);
  return good;
}

static bool press_fit(Report* report) {
  double want = fit_pressure(), worst = 0.0;
  report_table(report, "A rigid shaft 5 um too thick in a hub of steel: pressure",
               "solver | cells around | pressure, MPa | Lame, MPa | error | iterations");
  for (int k = 0; k < (report->quick ? 2 : 6); k++) {
    double got = 0.0;
    int64_t newton = 0;
    int cells = 8 << (k / 2);
    const char* solver = k % 2 == 0 ? "projected_newton" : "augmented_lagrangian";
    if (!fit(cells, solver, &got, &newton)) {
      return false;
    }
    double error = got / want - 1.0;
    report_row(report, "%s | %d | %.3f | %.3f | %+.2f %% | %d", solver, cells, got / 1e6,
               want / 1e6, 100.0 * error, (int)newton);
    worst = report_worse(worst, fabs(error) * cells / 8.0);
  }
  report_check(report, worst, 0.06, "pressure of the press fit, relative, times 8 over the cells");
  return true;
}

// ---- O-ring -------------------------------------------------------------------------------------

#define RADIUS 5e-3    // of o_ring.json, m
#define MODULUS 1e7    // Pa
#define SQUEEZE 1.0e-4 // m, less the gaps at the end

// The squeeze of a cylinder between rigid plates by a force per length, [Johnson1985] eq. 5.57.
static double squeeze_by(double force) {
  double modulus = MODULUS / (1.0 - POISSON * POISSON);
  double half_width = sqrt(4.0 * force * RADIUS / (PI * modulus));
  return 2.0 * force / (PI * modulus) * (2.0 * log(4.0 * RADIUS / half_width) - 1.0);
}

static double ring_force(double squeeze) {
  double low = 0.0, high = 1e3;
  while (high - low > 1e-9 * high) {
    double middle = 0.5 * (low + high);
    *(squeeze_by(middle) < squeeze ? &low : &high) = middle;
  }
  return low;
}

static bool squeeze_ring(int rings, const char* solver, double* force, double* squeeze,
                         int64_t* newton) {
  Run run;
  Settings settings = {0};
  set(&settings, "bodies.ring.mesh.disk.rings", "%d", rings);
  set(&settings, "solver.method", "%s", solver);
  bool good = run_start(&run, "o_ring", &settings);
  for (int n = 0; n < 4 && good; n++) {
    good = run_step(&run);
  }
  if (good) {
    NoliPairForce top = run_pair(&run, 0, 1);
    *force = -top.normal[1];
    *squeeze = SQUEEZE + 2.0 * top.min_distance;
    *newton = run.newton;
  }
  run_end(&run);
  return good;
}

static bool squeeze_rings(Report* report) {
  double worst = 0.0;
  report_table(report, "An O-ring of 10 mm, squeezed by 1 % between two plates: force for 1 m",
               "solver | rings | force, N | Johnson, N | error | iterations");
  for (int k = 0; k < (report->quick ? 2 : 6); k++) {
    double got = 0.0, squeeze = 0.0;
    int64_t newton = 0;
    int rings = 20 << (k / 2);
    const char* solver = k % 2 == 0 ? "projected_newton" : "augmented_lagrangian";
    if (!squeeze_ring(rings, solver, &got, &squeeze, &newton)) {
      return false;
    }
    double want = ring_force(squeeze), error = got / want - 1.0;
    report_row(report, "%s | %d | %.2f | %.2f | %+.2f %% | %d", solver, rings, got, want,
               100.0 * error, (int)newton);
    worst = report_worse(worst, fabs(error));
  }
  report_check(report, worst, 0.03, "force of the O-ring, relative");
  return true;
}

// ---- snap-fit -----------------------------------------------------------------------------------

#define ARM 9e-3      // of snap_fit.json, m, from the clamp to the catch
#define SIDE 1e-3     // m, of its section
#define ARM_YOUNG 2e9 // Pa
#define ARM_POISSON 0.35
#define LIFT 9.99068e-5 // m, from contact at zero distance to the end

// The force that lifts the end of Timoshenko's beam by `lift`.
static double arm_force(double lift) {
  double shear = ARM_YOUNG / (2.0 * (1.0 + ARM_POISSON));
  double bent = ARM * ARM * ARM / (0.25 * ARM_YOUNG * pow(SIDE, 4));
  return lift / (bent + ARM / (5.0 / 6.0 * shear * SIDE * SIDE));
}

// The force on the catch, and the lift; `tight`: converged far beyond the defaults.
static bool lift_arm(int along, int across, const char* solver, bool tight, double* force,
                     double* lift, int64_t* newton) {
  Run run;
  Settings settings = {0};
  set(&settings, "bodies.arm.mesh.box.cells", "[%d, %d, %d]", along, across, across);
  set(&settings, "solver.method", "%s", solver);
  if (tight) {
    set(&settings, "solver.imbalance", "1e-6");
    set(&settings, "solver.tolerance", "1e-9 l");
  }
  bool good = run_start(&run, "snap_fit", &settings);
  for (int n = 0; n < 4 && good; n++) {
    good = run_step(&run);
  }
  if (good) {
    NoliPairForce pair = run_pair(&run, 0, 1);
    *force = fabs(pair.normal[1]);
    *lift = LIFT + pair.min_distance;
    *newton = run.newton;
  }
  run_end(&run);
  return good;
}

static bool lift_arms(Report* report) {
  static const int along[] = {10, 20, 20}, across[] = {1, 2, 3};
  double worst = 0.0, wrong = 0.0;
  report_table(report, "A catch lifts the end of an arm of plastic by a ninetieth of its length",
               "solver | cells along, across | force, N | converged, N | apart | beam, N | error | "
               "iterations");
  for (int k = 0; k < (report->quick ? 2 : 6); k++) {
    double got = 0.0, lift = 0.0, exact = 0.0, exact_lift = 0.0;
    int64_t newton = 0, many = 0;
    const char* solver = k % 2 == 0 ? "projected_newton" : "augmented_lagrangian";
    if (!lift_arm(along[k / 2], across[k / 2], solver, false, &got, &lift, &newton) ||
        !lift_arm(along[k / 2], across[k / 2], solver, true, &exact, &exact_lift, &many)) {
      return false;
    }
    double beam = arm_force(lift), error = got / beam - 1.0, apart = got / exact - 1.0;
    report_row(report, "%s | %d, %d | %.5f | %.5f | %+.2g %% | %.5f | %+.2f %% | %d", solver,
               along[k / 2], across[k / 2], got, exact, 100.0 * apart, beam, 100.0 * error,
               (int)newton);
    worst = report_worse(worst, fabs(apart));
    wrong = report_worse(wrong, fabs(error));
  }
  report_check(report, worst, 2e-3, "force of the snap-fit against the converged run, relative");
  report_check(report, wrong, 0.05, "force of the snap-fit against the beam, relative");
  return true;
}

bool validate_press(Report* report) {
  return press_cubes(report) && press_fit(report) && squeeze_rings(report) && lift_arms(report);
}
