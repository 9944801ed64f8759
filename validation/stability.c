// Loads at which rods and strips leave their plane: Greenhill's twist, lateral buckling, and a
// curved rod that hangs, compared with closed forms and with the second variation of the energy.
#include "cases.h"
#include "thin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define YOUNG 1e7
#define DENSITY 1000.0
#define POISSON 0.3
#define RADIUS 0.01 // m

// ---- leaving a plane ----------------------------------------------------------------------------

enum { HALVINGS = 9, UNSTABLE_STEPS = 200 };
#define DISTURBANCE 1e-5 // of the length
#define BRACKET 0.1      // about the load of theory

// A body in equilibrium, under a load over that of theory, that may leave its plane.
typedef struct Unstable {
  bool (*build)(const struct Unstable* unstable, double load, Thin* thin);
  bool (*turn)(const struct Unstable* unstable, double load, double* x); // or NULL
  int component;                                                         // across the plane
  int32_t cells;
  double length;  // m
  bool both_ends; // clamped
  double omega;   // rad/s, of the slowest vibration without the load, about
  double natural; // curvature, 1/m, and the weight of theory
  double weight;
} Unstable;

// Starts from the equilibrium and a displacement across it that clamped ends lack.
static bool disturb(const Unstable* unstable, double load, Thin* thin) {
  size_t n = 3 * (size_t)noli_sim_vertex_count(thin->run.sim);
  double *x = malloc(sizeof *x * n), *v = calloc(n, sizeof *v);
  bool good = x != NULL && v != NULL;
  if (good) {
    memcpy(x, noli_sim_positions(thin->run.sim), sizeof *x * n);
    good = unstable->turn == NULL || unstable->turn(unstable, load, x);
  }
  for (int32_t i = 2; good && i < thin->mesh->n_vert - (unstable->both_ends ? 2 : 0); i++) {
    double s = hypot(thin->mesh->x[3 * i], thin->mesh->x[3 * i + 1]) / unstable->length;
    x[3 * i + unstable->component] += DISTURBANCE * unstable->length * s * s;
  }
  good = good && noli_sim_set_state(thin->run.sim, x, v) == NOLI_OK;
  free(x);
  free(v);
  return good;
}

static double distance_across(const Unstable* unstable, const Thin* thin) {
  double far = 0.0;
  for (int32_t i = 0; i < thin->mesh->n_vert; i++) {
    far = report_worse(far, fabs(noli_sim_positions(thin->run.sim)[3 * i + unstable->component]));
  }
  return far;
}

// Whether a small displacement across the plane grows.
static bool leaves(const Unstable* unstable, double load, bool* leaving) {
  Thin thin;
  const double least = DISTURBANCE * unstable->length;
  double far = 0.0;
  bool good = thin_begin(&thin) && unstable->build(unstable, load, &thin);
  thin.def.integrator = "backward_euler";
  thin.def.tolerance = (NoliScaled){1e-2 * least * unstable->omega, false};
  good = good && thin_start(&thin, 2.0 / unstable->omega) && disturb(unstable, load, &thin);
  for (int step = 0; step < UNSTABLE_STEPS && good && far < 1e2 * least; step++) {
    good = run_step(&thin.run);
    far = distance_across(unstable, &thin);
  }
  *leaving = far > least;
  thin_end(&thin);
  return good;
}

// The load at which it begins to leave, over that of theory.
static bool find_load(const Unstable* unstable, double* load) {
  double low = 1.0 - BRACKET, high = 1.0 + BRACKET;
  for (int k = 0; k < HALVINGS; k++) {
    double middle = 0.5 * (low + high);
    bool leaving;
    if (!leaves(unstable, middle, &leaving)) {
      return false;
    }
    *(leaving ? &high : &low) = middle;
  }
  *load = 0.5 * (low + high);
  return true;
}

// The mean order of the errors over three meshes, the last four times as fine as the first.
static void check_order(Report* report, double coarse, double fine, const char* of) {
  if (!report->quick) {
    report_check(report, fabs(order_of(4.0, coarse, 1.0, fine) - 2.0), 0.3, "order, %s, off 2", of);
  }
}

// ---- twist --------------------------------------------------------------------------------------

// Clamps are the middles of the first and last segment.
static void between_clamps(const void* user, double s, double X[3]) {
  X[0] = (s - 0.5) / (*(const int32_t*)user - 1.0);
  X[1] = X[2] = 0.0;
}

static bool build_twisted(const Unstable* unstable, double load, Thin* thin) {
  (void)load;
  thin->body.rod.radius = RADIUS;
  thin->body.rod.twist = 1.0;
  thin->body.material.young = YOUNG;
  thin->body.material.poisson = POISSON;
  thin->body.material.density = DENSITY;
  return thin_rod(thin, unstable->cells, between_clamps, &unstable->cells) &&
         thin_hold_range(thin, 0, 2) && thin_hold_range(thin, unstable->cells - 1, 2);
}

// Turns the sections evenly by the angle whose torque G J angle / L is the load times Greenhill's.
static bool twist_evenly(const Unstable* unstable, double load, double* x) {
  const double angle = load * 8.9868 * (1.0 + POISSON);
  for (int32_t k = 0; k < unstable->cells; k++) {
    x[3 * (unstable->cells + 1 + k)] = RADIUS * angle * k / (unstable->cells - 1);
  }
  return true;
}

bool validate_rod_twist(Report* report) {
  report_table(report, "Torque at which a clamped rod buckles, over Greenhill's",
               "segments | torque | error");
  double coarse = NAN, error = NAN;
  for (int32_t cells = 21; cells <= (report->quick ? 21 : 81); cells += cells - 1) {
    const Unstable twisted = {.build = build_twisted,
                              .turn = twist_evenly,
                              .component = 2,
                              .cells = cells,
                              .both_ends = true,
                              .length = 1.0,
                              .omega = 22.37 * sqrt(YOUNG / DENSITY) * 0.5 * RADIUS};
    double load;
    if (!find_load(&twisted, &load)) {
      return false;
    }
    error = fabs(load - 1.0);
    coarse = cells == 21 ? error : coarse;
    report_row(report, "%d | %.4f | %+.2f %%", (int)cells, load, 100.0 * (load - 1.0));
    report_check(report, error,
                 cells > 80   ? 0.002
                 : cells > 40 ? 0.01
                              : 0.03,
                 "critical torque, %d segments, relative", (int)cells);
  }
  check_order(report, coarse, error, "critical torque");
  return true;
}

// ---- lateral buckling ---------------------------------------------------------------------------

#define HEIGHT 0.05 // m, of a flat section that stands on its narrow side
// A narrow cantilever of length 1 buckles under the weight 12.85 (E I G J)^(1/2) per length: six
// times the first zero of the Bessel function of order -1/6.
#define LATERAL 12.8537

static void set_material(Thin* thin) {
  thin->body.material.young = YOUNG;
  thin->body.material.poisson = POISSON;
  thin->body.material.density = DENSITY;
}

// A straight rod of 1 m whose clamp is the middle of its first segment.
static void straight(const void* user, double s, double X[3]) {
  X[0] = (s - 0.5) / (*(const int32_t*)user - 0.5);
  X[1] = X[2] = 0.0;
}

// An ellipse that is 30 times as high as wide.
static bool build_ribbon(const Unstable* unstable, double load, Thin* thin) {
  const double a = 0.5 * HEIGHT, b = a / 30.0;
  const double bending = 0.25 * YOUNG * b * b, share = a * a / (a * a + b * b);
  const double twist = YOUNG * b * b * share / (2.0 + 2.0 * POISSON);
  set_material(thin);
  thin->body.rod.radius = a;
  thin->body.rod.second_radius = b;
  thin->body.rod.normal[1] = 1.0;
  thin->body.rod.twist = 1.0;
  thin->def.gravity[1] = -load * LATERAL * sqrt(bending * twist) / DENSITY;
  return thin_rod(thin, unstable->cells, straight, &unstable->cells) && thin_hold_range(thin, 0, 2);
}

bool validate_rod_lateral(Report* report) {
  report_table(report, "Weight at which an upright cantilever buckles sideways, over theory",
               "segments | weight | error");
  for (int32_t cells = 16; cells <= (report->quick ? 16 : 64); cells *= 2) {
    const Unstable upright = {.build = build_ribbon,
                              .component = 2,
                              .cells = cells,
                              .length = 1.0,
                              .omega = 3.516 * sqrt(YOUNG / DENSITY) * HEIGHT / 120.0};
    double load;
    if (!find_load(&upright, &load)) {
      return false;
    }
    report_row(report, "%d | %.4f | %+.2f %%", (int)cells, load, 100.0 * (load - 1.0));
    report_check(report, fabs(load - 1.0), 0.01, "critical weight, %d segments, relative",
                 (int)cells);
  }
  return true;
}

// The same of a shell. Its clamp also restrains the warping of the section, which Vlasov's theory
// of thin-walled beams adds to the energy of the twist phi', with a warping constant h^3 t^3 / 144:
//   phi'^2 + (reach phi'')^2,   reach^2 = (1 + nu) h^2 / 24.
// The load over (E I G J)^(1/2) is found by inverse iteration:
//   tau - reach^2 tau'' = integral from s to 1 of (1 - s)^4 / 4 phi,   phi' = tau
// with tau(0) = tau'(1) = 0.
enum { WARPED = 2000 }; // parts of the length

// tau of a torque; without warping the clamp does not hold it.
static void solve_twist(double reach, const double* torque, double* tau) {
  const double off = -reach * reach * WARPED * WARPED;
  double upper[WARPED + 1];
  tau[0] = reach > 0.0 ? 0.0 : torque[0];
  upper[0] = 0.0;
  for (int i = 1; i <= WARPED; i++) {
    double before = i < WARPED ? off : 2.0 * off, pivot = 1.0 - 2.0 * off - before * upper[i - 1];
    upper[i] = off / pivot;
    tau[i] = (torque[i] - before * tau[i - 1]) / pivot;
  }
  for (int i = WARPED - 1; i >= 0; i--) {
    tau[i] -= upper[i] * tau[i + 1];
  }
}

static double warped_load(double reach) {
  enum { ITERATIONS = 40 };
  const double h = 1.0 / WARPED;
  double phi[WARPED + 1], tau[WARPED + 1], torque[WARPED + 1], load = 0.0;
  for (int i = 0; i <= WARPED; i++) {
    phi[i] = i * h;
  }
  for (int k = 0; k < ITERATIONS; k++) {
    torque[WARPED] = 0.0;
    for (int i = WARPED - 1; i >= 0; i--) {
      double s = (i + 0.5) * h;
      torque[i] = torque[i + 1] + h * 0.25 * pow(1.0 - s, 4) * 0.5 * (phi[i] + phi[i + 1]);
    }
    solve_twist(reach, torque, tau);
    for (int i = 0; i < WARPED; i++) {
      phi[i + 1] = phi[i] + 0.5 * h * (tau[i] + tau[i + 1]);
    }
    load = sqrt(1.0 / phi[WARPED]);
    for (int i = 0; i <= WARPED; i++) {
      phi[i] *= load * load;
    }
  }
  return load;
}

typedef struct Strip {
  double height; // m, of 1 m
  int32_t cells; // along
  const char *pattern, *law;
  double bound; // of the load over Vlasov's
  bool quick;
} Strip;

static double strip_height;

static void strip_map(int patch, double u, double v, double X[3]) {
  (void)patch;
  X[0] = u;
  X[1] = strip_height * (v - 0.5);
  X[2] = 0.0;
}

static bool at_clamp(const double X[3]) {
  return fabs(X[0]) < 1e-9;
}

// The square of the lowest frequency of a strip under a weight, negative if it leaves its plane.
static bool lowest(const Strip* strip, double load, double* square) {
  const double height = strip_height = strip->height, thickness = height / 30.0;
  const double bending = YOUNG * thickness * thickness / 12.0; // over the area
  const double twist = 4.0 * bending / (2.0 + 2.0 * POISSON);
  int32_t across = (int32_t)fmax(4.0, strip->cells * height);
  const Patches patches = {.count = 1,
                           .map = strip_map,
                           .size = {1.0, height},
                           .cells = {strip->cells, across},
                           .pattern = strip->pattern};
  Thin thin;
  double frequency;
  bool good = thin_begin(&thin);
  set_material(&thin);
  thin.def.gravity[1] = -load * sqrt(bending * twist) / DENSITY;
  good = good && thin_shell(&thin, &patches, thickness, strip->law) &&
         thin_clamp(&thin, at_clamp, (double[]){-0.02 * height, 0.0, 0.0}) &&
         thin_solve(&thin, 1) && noli_sim_modes(thin.run.sim, 1, &frequency, NULL) == NOLI_OK;
  *square = good ? frequency * fabs(frequency) : 0.0;
  thin_end(&thin);
  return good;
}

// The load at which the frequency vanishes, by secants.
static bool strip_load(const Strip* strip, double expected, double* load) {
  double at[2] = {0.98 * expected, 1.02 * expected}, square[2];
  bool good = lowest(strip, at[0], &square[0]);
  for (int k = 0; k < 3 && good; k++) {
    good = lowest(strip, at[1], &square[1]);
    double next = at[1] - square[1] * (at[1] - at[0]) / (square[1] - square[0]);
    at[0] = at[1];
    square[0] = square[1];
    at[1] = next;
  }
  *load = at[1];
  return good;
}

bool validate_shell_lateral(Report* report) {
  static const Strip strips[] = {
      {0.1, 64, "diagonal", "plate", 0.01, true},
      {0.1, 64, "unstructured", "plate", 0.01, false},
      {0.1, 128, "diagonal", "plate", 0.01, false},
      {0.1, 128, "unstructured", "plate", 0.01, false},
      {0.05, 128, "diagonal", "plate", 0.01, false},
      {0.05, 128, "unstructured", "plate", 0.01, false},
      {0.05, 256, "unstructured", "plate", 0.01, false},
      {0.05, 128, "unstructured", "hinges", INFINITY, false},
  };
  report_table(report,
               "Weight at which an upright strip buckles sideways, over that of a narrow beam",
               "height / length | mesh | cells along | bending law | weight | Vlasov | error");
  report_check(report, fabs(warped_load(0.0) / LATERAL - 1.0), 1e-5,
               "theory without warping, relative");
  for (size_t k = 0; k < sizeof strips / sizeof *strips; k++) {
    const Strip* strip = &strips[k];
    double load, vlasov = warped_load(strip->height * sqrt((1.0 + POISSON) / 24.0));
    if (report->quick && !strip->quick) {
      continue;
    }
    if (!strip_load(strip, vlasov, &load)) {
      return false;
    }
    report_row(report, "%g | %s | %d | %s | %.4f | %.4f | %+.2f %%", strip->height, strip->pattern,
               (int)strip->cells, strip->law, load / LATERAL, vlasov / LATERAL,
               100.0 * (load / vlasov - 1.0));
    report_check(report, fabs(load / vlasov - 1.0), strip->bound,
                 "critical weight, %g, %s, %s, %d cells along, relative", strip->height,
                 strip->pattern, strip->law, (int)strip->cells);
  }
  return true;
}

// ---- a curved rod ----------------------------------------------------------------------------

// A rod of length 1 and bending stiffness 1 with a natural curvature in the plane of gravity,
// clamped horizontally at s = 0 and curved upward, in equilibrium under the weight beta per length:
// theta'' = beta (1 - s) cos(theta), theta'(1) = natural.
enum { PARTS = 200 };

typedef struct Curl {
  double natural, beta, torsion; // G J over E I
  double theta[2 * PARTS + 1], curvature[2 * PARTS + 1];
} Curl;

// Integrates from the curvature at the clamp; returns the excess of that at the end.
static double shoot(Curl* curl, double first) {
  const double h = 0.5 / PARTS;
  double theta = 0.0, kappa = first;
  for (int i = 0; i <= 2 * PARTS; i++) {
    double s = i * h;
    curl->theta[i] = theta;
    curl->curvature[i] = kappa;
    double middle = theta + 0.5 * h * kappa;
    double kappa_middle = kappa + 0.5 * h * curl->beta * (1.0 - s) * cos(theta);
    kappa += h * curl->beta * (1.0 - s - 0.5 * h) * cos(middle);
    theta += h * kappa_middle;
  }
  return curl->curvature[2 * PARTS] - curl->natural;
}

// Newton's method from the curvature of a slightly smaller weight.
static double balance(Curl* curl, double first) {
  for (int k = 0; k < 4; k++) {
    double excess = shoot(curl, first), step = 1e-6;
    first -= excess * step / (shoot(curl, first + step) - excess);
  }
  (void)shoot(curl, first);
  return first;
}

// The second variation of the energy for a rotation f t + g m about tangent and normal, by linear
// elements: twice its density is
//   G J (f' - kappa g)^2 + E I (g' + kappa f)^2 - M (f g' - g f' + kappa (f^2 + g^2))
//   + N g^2 - Q f g
// with the moment M = E I (kappa - natural) and the internal force N along t, Q along m.
static void add_part(const Curl* curl, int part, double matrix[4][4]) {
  const double h = 1.0 / PARTS, s = (part + 0.5) * h;
  const double kappa = curl->curvature[2 * part + 1], theta = curl->theta[2 * part + 1];
  const double moment = kappa - curl->natural;
  const double along = -curl->beta * (1.0 - s) * sin(theta);
  const double across = -curl->beta * (1.0 - s) * cos(theta);
  // rows: f, g, f', g' at the middle in terms of f and g at both ends
  const double row[4][4] = {{0.5, 0.0, 0.5, 0.0},
                            {0.0, 0.5, 0.0, 0.5},
                            {-1.0 / h, 0.0, 1.0 / h, 0.0},
                            {0.0, -1.0 / h, 0.0, 1.0 / h}};
  const double twist = curl->torsion;
  const double form[4][4] = {
      {kappa * kappa - moment * kappa, -0.5 * across, 0.0, kappa - 0.5 * moment},
      {-0.5 * across, twist * kappa * kappa - moment * kappa + along, 0.5 * moment - twist * kappa,
       0.0},
      {0.0, 0.5 * moment - twist * kappa, twist, 0.0},
      {kappa - 0.5 * moment, 0.0, 0.0, 1.0}};
  for (int a = 0; a < 16; a++) {
    for (int b = 0; b < 16; b++) {
      matrix[a / 4][a % 4] += h * row[b / 4][a / 4] * form[b / 4][b % 4] * row[b % 4][a % 4];
    }
  }
}

// Whether the second variation is positive: Gauss elimination of one end after the other.
static bool stays_plane(const Curl* curl) {
  double left[2][2] = {{0}};
  for (int part = PARTS - 1; part >= 0; part--) {
    double matrix[4][4] = {{0}};
    add_part(curl, part, matrix);
    for (int k = 0; k < 4; k++) {
      matrix[2 + k / 2][2 + k % 2] += left[k / 2][k % 2];
    }
    for (int pivot = 3; pivot >= 2; pivot--) {
      if (!(matrix[pivot][pivot] > 0.0)) {
        return false;
      }
      for (int k = 0; k < pivot * pivot; k++) {
        int i = k / pivot, j = k % pivot;
        matrix[i][j] -= matrix[i][pivot] * matrix[pivot][j] / matrix[pivot][pivot];
      }
    }
    for (int k = 0; k < 4; k++) {
      left[k / 2][k % 2] = matrix[k / 2][k % 2];
    }
  }
  return true;
}

// The weight at which the rod leaves the plane.
static double curl_weight(double natural, double torsion) {
  const double step = 0.05;
  Curl curl = {.natural = natural, .torsion = torsion};
  double first = natural;
  do {
    curl.beta += step;
    first = balance(&curl, first);
  } while (stays_plane(&curl) && curl.beta < 200.0);
  return curl.beta - 0.5 * step;
}

// The arc from the middle of the first segment on, which is horizontal.
static void arc(const void* user, double s, double X[3]) {
  const Unstable* unstable = user;
  double angle = unstable->natural * (s - 0.5) / (unstable->cells - 0.5);
  X[0] = sin(angle) / unstable->natural;
  X[1] = (1.0 - cos(angle)) / unstable->natural;
  X[2] = 0.0;
}

static bool build_curl(const Unstable* unstable, double load, Thin* thin) {
  const double weight = load * unstable->weight;
  set_material(thin);
  thin->body.rod.radius = RADIUS;
  thin->body.rod.twist = 1.0;
  thin->def.gravity[1] = -weight * YOUNG * RADIUS * RADIUS / (4.0 * DENSITY);
  return thin_rod(thin, unstable->cells, arc, unstable) && thin_hold_range(thin, 0, 2);
}

// The equilibrium in the plane.
static bool hang_in_plane(const Unstable* unstable, double load, double* x) {
  Thin thin;
  bool good = thin_begin(&thin) && build_curl(unstable, load, &thin) && thin_solve(&thin, 1);
  if (good) {
    memcpy(x, noli_sim_positions(thin.run.sim),
           3 * sizeof *x * (size_t)noli_sim_vertex_count(thin.run.sim));
  }
  thin_end(&thin);
  return good;
}

bool validate_rod_curl(Report* report) {
  static const double naturals[] = {4.0, 5.0};
  report_table(report, "Weight at which a rod that is curved upward leaves its plane",
               "curvature | segments | theory | over theory | error");
  for (int k = 0; k < (report->quick ? 1 : 2); k++) {
    const double weight = curl_weight(naturals[k], 1.0 / (1.0 + POISSON));
    double coarse = NAN, error = NAN;
    for (int32_t cells = 20; cells <= (report->quick ? 20 : 80); cells *= 2) {
      const Unstable curl = {.build = build_curl,
                             .turn = hang_in_plane,
                             .component = 2,
                             .cells = cells,
                             .length = 1.0,
                             .natural = naturals[k],
                             .weight = weight,
                             .omega = 3.516 * sqrt(YOUNG / DENSITY) * 0.5 * RADIUS};
      double load;
      if (!find_load(&curl, &load)) {
        return false;
      }
      report_row(report, "%g | %d | %.2f | %.4f | %+.2f %%", naturals[k], (int)cells, weight, load,
                 100.0 * (load - 1.0));
      error = fabs(load - 1.0);
      coarse = cells == 20 ? error : coarse;
      report_check(report, error,
                   cells > 40   ? 0.006
                   : cells > 20 ? 0.02
                                : 0.065,
                   "critical weight, curvature %g, %d segments, relative", naturals[k], (int)cells);
    }
    check_order(report, coarse, error, k == 0 ? "curvature 4" : "curvature 5");
  }
  return true;
}
