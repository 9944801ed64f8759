// [Zheng2025] fig. 7: an elastic bar hits rigid ground, with a velocity (problem 1) or from rest
// under gravity (problem 2), after [Doyen2011] section 4. First order in the time step.
//
// The bar stands upright: L = 1 m, wave speed c = 100 m/s, impact at 0.01 m/s, strains of 1e-4, no
// lateral motion, Poisson's ratio 0. The exact solution at fixed space is that of the linear
// system M u'' + K u = f with u >= 0 at the foot, by a symplectic method with tiny steps and its
// own assembly of K. The wave solution is closed: with s the time since the impact at speed v, b(s)
// = v s + g s^2 / 2 and tau = L / c, relative to free fall
//   w(x, s) = b(s - x/c) + b(s - 2 tau + x/c)                                       for s <= 2 tau,
//   w(x, s) = 2 v tau + g tau^2 + (2 v + 2 g tau) r + (F(x - c r) + F(x + c r)) / 2   later,
// r = s - 2 tau, F even and 2L-periodic with F(x) = g (tau - x/c)^2 on [0, L].
#include "world.h"

#include "math/vec3.h"

#define LENGTH 1.0
#define WIDTH 0.25
#define YOUNG 1e7
#define DENSITY 1e3
#define WAVE 100.0
#define SPEED 0.01
// Far below the way of a step: a constraint that becomes active moves the foot up to here at once.
#define DELTA 1e-10

enum { CELLS = 4, N_VERT = 4 * (CELLS + 1), N_STEP_SIZES = 3, MAX_STEPS = 4000 };

typedef struct Problem {
  const char* name;
  double gravity;  // m/s^2
  double velocity; // at the start, m/s
  double height;   // at the start, m
  double end;      // s
} Problem;

// 5 ms of flight, 20 ms of contact; from rest 30 ms of fall.
static const Problem problems[2] = {
    {"problem 1, velocity", 0.0, -SPEED, 0.005 * SPEED, 0.035},
    {"problem 2, gravity", SPEED / 0.03, 0.0, 0.5 * SPEED * 0.03, 0.06},
};

// Heights and velocities of the foot and the head, relative to rest on the ground.
typedef struct Track {
  double position[2];
  double velocity[2];
} Track;

// ---- wave solution ------------------------------------------------------------------------------

static double pushed(double v, double g, double s) {
  return s > 0.0 ? v * s + 0.5 * g * s * s : 0.0;
}

static double vibration(double g, double x) {
  double folded = fabs(remainder(x, 2.0 * LENGTH));
  double y = (LENGTH - folded) / WAVE;
  return g * y * y;
}

// Displacement of the section x at time t from rest on the ground.
static double wave_displacement(const Problem* problem, double x, double t) {
  double g = problem->gravity, fall = problem->height + problem->velocity * t - 0.5 * g * t * t;
  double hit = g > 0.0 ? sqrt(2.0 * problem->height / g) : problem->height / SPEED;
  double s = t - hit, tau = LENGTH / WAVE, r = s - 2.0 * tau;
  if (r <= 0.0) {
    return fall + pushed(SPEED, g, s - x / WAVE) + pushed(SPEED, g, s - 2.0 * tau + x / WAVE);
  }
  return fall + 2.0 * SPEED * tau + g * tau * tau + (2.0 * SPEED + 2.0 * g * tau) * r +
         0.5 * (vibration(g, x - WAVE * r) + vibration(g, x + WAVE * r));
}

// ---- solution at fixed space --------------------------------------------------------------------

typedef struct Chain {
  int32_t n;
  double mass[N_VERT];
  double stiffness[N_VERT][N_VERT];
  int32_t end[2][4]; // vertices of foot and head
} Chain;

// Small vertical displacements alone, Poisson's ratio 0: E/2 V (e_yy^2 + e_xy'^2 / 2 + ..).
static void add_tet(Chain* chain, const double* X, const int32_t tet[4]) {
  NoliVec3 e[3], grad[4];
  for (int k = 0; k < 3; k++) {
    e[k] = noli_sub3(noli_load3(X + 3 * tet[k + 1]), noli_load3(X + 3 * tet[0]));
  }
  double six = noli_dot3(e[0], noli_cross3(e[1], e[2]));
  grad[1] = noli_scale3(1.0 / six, noli_cross3(e[1], e[2]));
  grad[2] = noli_scale3(1.0 / six, noli_cross3(e[2], e[0]));
  grad[3] = noli_scale3(1.0 / six, noli_cross3(e[0], e[1]));
  grad[0] = noli_scale3(-1.0, noli_add3(grad[1], noli_add3(grad[2], grad[3])));
  for (int a = 0; a < 4; a++) {
    for (int b = 0; b < 4; b++) {
      chain->stiffness[tet[a]][tet[b]] +=
          YOUNG * six / 6.0 *
          (grad[a].y * grad[b].y + 0.5 * (grad[a].x * grad[b].x + grad[a].z * grad[b].z));
    }
    chain->mass[tet[a]] += DENSITY * six / 24.0;
  }
}

static void make_chain(const NoliMesh* mesh, Chain* chain) {
  *chain = (Chain){.n = mesh->n_vert};
  assert_int_equal(mesh->n_vert, N_VERT);
  for (int32_t t = 0; t < mesh->n_tet; t++) {
    add_tet(chain, mesh->x, mesh->tet + 4 * t);
  }
  int count[2] = {0};
  for (int32_t i = 0; i < mesh->n_vert; i++) {
    double y = mesh->x[3 * i + 1];
    if (y < 0.25 * LENGTH / CELLS) {
      chain->end[0][count[0]++] = i;
    } else if (y > LENGTH * (1.0 - 0.25 / CELLS)) {
      chain->end[1][count[1]++] = i;
    }
  }
  assert_true(count[0] == 4 && count[1] == 4);
}

static Track track_of(const Chain* chain, const double* u, const double* v) {
  Track track = {0};
  for (int end = 0; end < 2; end++) {
    for (int k = 0; k < 4; k++) {
      track.position[end] += 0.25 * u[chain->end[end][k]];
      track.velocity[end] += 0.25 * v[chain->end[end][k]];
    }
  }
  return track;
}

static bool is_foot(const Chain* chain, int32_t i) {
  return i == chain->end[0][0] || i == chain->end[0][1] || i == chain->end[0][2] ||
         i == chain->end[0][3];
}

// One small step: velocity, position, and the foot stops at the ground.
static void advance_chain(const Chain* chain, double gravity, double h, double* u, double* v) {
  for (int32_t i = 0; i < chain->n; i++) {
    double force = 0.0;
    for (int32_t j = 0; j < chain->n; j++) {
      force += chain->stiffness[i][j] * u[j];
    }
    v[i] -= h * (gravity + force / chain->mass[i]);
  }
  for (int32_t i = 0; i < chain->n; i++) {
    u[i] += h * v[i];
    if (u[i] < 0.0 && is_foot(chain, i)) {
      u[i] = v[i] = 0.0;
    }
  }
}

// The track at the end of every step of length h, by `sub` small steps each.
static void solve_chain(const Chain* chain, const Problem* problem, double h, int sub, int steps,
                        Track* track) {
  double u[N_VERT], v[N_VERT];
  for (int32_t i = 0; i < chain->n; i++) {
    u[i] = problem->height;
    v[i] = problem->velocity;
  }
  for (int n = 0; n < steps; n++) {
    for (int k = 0; k < sub; k++) {
      advance_chain(chain, problem->gravity, h / sub, u, v);
    }
    track[n] = track_of(chain, u, v);
  }
}

// ---- simulation ---------------------------------------------------------------------------------

static NoliMesh* make_bar(World* world) {
  NoliMesh* bar = NULL;
  ASSERT_OK(noli_mesh_make_box(world->context, (double[]){WIDTH, LENGTH, WIDTH},
                               (int32_t[]){1, CELLS, 1}, false, &bar));
  noli_mesh_transform(bar, (double[]){1, 1, 1}, (double[]){0, 0, 0},
                      (double[]){0, 0.5 * LENGTH, 0});
  return bar;
}

static void simulate(const Problem* problem, const char* law, int32_t min_iterations, double h,
                     int steps, Chain* chain, Track* track) {
  World world = world_new(1);
  NoliMesh* bar = make_bar(&world);
  make_chain(bar, chain);
  int32_t body = world_add(&world, bar, (double[]){0, problem->height, 0});
  world.body[body].material = (NoliMaterialDef){.law = law, .young = YOUNG, .density = DENSITY};
  world.body[body].velocity[1] = problem->velocity;
  world.body[body].self_contact = false;
  // no lateral motion; contact keeps the gap delta, so the ground is as much lower
  NoliMotionDef* guide = world_add_motion(&world, body, NULL, NULL);
  guide->free_axis[1] = true;
  world_add_plane(&world, (double[]){0, -DELTA, 0}, (double[]){0, 1, 0});
  world.def.gravity[1] = -problem->gravity;
  world.def.solver = "augmented_lagrangian";
  world.def.contact_distance = (NoliScaled){DELTA, false};
  world.def.tolerance = (NoliScaled){1e-5, false};
  world.def.min_iterations = min_iterations;
  world.def.time_step = h;
  world_start(&world);
  for (int n = 0; n < steps; n++) {
    world_step(&world);
    double u[N_VERT], v[N_VERT];
    for (int32_t i = 0; i < N_VERT; i++) {
      u[i] = noli_sim_positions(world.sim)[3 * i + 1] -
             (noli_sim_rest_positions(world.sim)[3 * i + 1] - problem->height);
      v[i] = noli_sim_velocities(world.sim)[3 * i + 1];
    }
    track[n] = track_of(chain, u, v);
  }
  world_done(&world);
}

typedef struct Errors {
  double position; // mean over time of both ends, m
  double velocity; // m/s
  double wave;     // position against the wave solution, m
} Errors;

static Errors measure(const Problem* problem, const char* law, int32_t min_iterations, double h) {
  static Track got[MAX_STEPS], want[MAX_STEPS];
  static Chain chain;
  int steps = (int)lround(problem->end / h);
  assert_in_range(steps, 1, MAX_STEPS);
  simulate(problem, law, min_iterations, h, steps, &chain, got);
  solve_chain(&chain, problem, h, (int)lround(h / 2.5e-7), steps, want);
  Errors errors = {0};
  for (int n = 0; n < steps; n++) {
    for (int end = 0; end < 2; end++) {
      errors.position += 0.5 * fabs(got[n].position[end] - want[n].position[end]) / steps;
      errors.velocity += 0.5 * fabs(got[n].velocity[end] - want[n].velocity[end]) / steps;
      double wave = wave_displacement(problem, end * LENGTH, (n + 1) * h);
      errors.wave += 0.5 * fabs(got[n].position[end] - wave) / steps;
    }
  }
  return errors;
}

// Least-squares slope of log error over log h.
static double slope_of(const double* h, const double* error, int n) {
  double x = 0.0, y = 0.0, xx = 0.0, xy = 0.0;
  for (int k = 0; k < n; k++) {
    double a = log(h[k]), b = log(error[k]);
    x += a / n;
    y += b / n;
    xx += a * a / n;
    xy += a * b / n;
  }
  return (xy - x * y) / (xx - x * x);
}

// Runs the series of time steps and returns the slopes.
static void run_series(const Problem* problem, const char* law, int32_t min_iterations,
                       double slope[2], Errors* finest) {
  static const double h[N_STEP_SIZES] = {1e-4, 5e-5, 2.5e-5};
  double position[N_STEP_SIZES], velocity[N_STEP_SIZES];
  for (int k = 0; k < N_STEP_SIZES; k++) {
    *finest = measure(problem, law, min_iterations, h[k]);
    position[k] = finest->position;
    velocity[k] = finest->velocity;
    print_message(
        "  h %.3g s: position off by %.3g m, velocity by %.3g m/s; wave solution %.3g m\n", h[k],
        finest->position, finest->velocity, finest->wave);
  }
  slope[0] = slope_of(h, position, N_STEP_SIZES);
  slope[1] = slope_of(h, velocity, N_STEP_SIZES);
  print_message("%s, %s, at least %d iterations: slopes %.3f (position), %.3f (velocity)\n",
                problem->name, law, (int)min_iterations, slope[0], slope[1]);
}

// The error falls with h even with the fewest iterations, and what remains against the wave is that
// of the four cells.
static void bar_converges(const Problem* problem, const char* law, int32_t min_iterations) {
  double slope[2];
  Errors finest;
  run_series(problem, law, min_iterations, slope, &finest);
  for (int k = 0; k < 2; k++) {
    ASSERT_NEAR(slope[k], 1.0, 0.15);
  }
  ASSERT_AT_MOST(finest.position, 2e-7);
  ASSERT_AT_MOST(finest.velocity, 0.01 * SPEED);
  ASSERT_AT_MOST(finest.wave, 5e-6);
}

static void impact_converges_with_first_order(void** state) {
  (void)state;
  bar_converges(&problems[0], "corotated_linear", 2);
  bar_converges(&problems[0], "neo_hookean", 2);
}

static void bounce_converges_with_first_order(void** state) {
  (void)state;
  bar_converges(&problems[1], "corotated_linear", 2);
  bar_converges(&problems[1], "stvk", 2);
}

// More iterations change nothing.
static void two_iterations_are_enough(void** state) {
  (void)state;
  bar_converges(&problems[0], "corotated_linear", 25);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(impact_converges_with_first_order),
      cmocka_unit_test(bounce_converges_with_first_order),
      cmocka_unit_test(two_iterations_are_enough),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
