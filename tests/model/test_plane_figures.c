// Plane figures of [Huang2025]: shapes on which the geometric potential exerts no force and that
// the barrier deforms.
#include "step/world.h"

static void add_block(World* world, const double* corner, int32_t n, int32_t cells) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_polygon(world->context, corner, n, cells, &mesh));
  int32_t body = world_add(world, mesh, (double[]){0, 0, 0});
  world->body[body].plane_strain = 1.0;
  world->def.gravity[1] = 0.0;
  world->def.integrator = "quasi_static";
  world->def.time_step = 0.5;
}

static void set_reach(World* world, bool geometric, double reach) {
  world->def.contact_model = geometric ? "gcp" : "ipc";
  world->def.contact_distance = (NoliScaled){reach, false};
  world->def.gcp.eps_target = (NoliScaled){reach, false};
}

static double largest_displacement(const World* world) {
  double most = 0.0;
  for (int32_t i = 0; i < 3 * noli_sim_vertex_count(world->sim); i++) {
    most = noli_larger(
        most, fabs(noli_sim_positions(world->sim)[i] - noli_sim_rest_positions(world->sim)[i]));
  }
  return most;
}

// Figure 20 and the slit block of table 3: a slit of 0.01 m and a support of 0.05 m. Nothing moves.
static void slit_blocks_stay_at_rest(void** state) {
  (void)state;
  static const double slit[16] = {0,     0,   1,     0,   1,     1, 0.505, 1,
                                  0.505, 0.3, 0.495, 0.3, 0.495, 1, 0,     1};
  double moved[2];
  for (int k = 0; k < 2; k++) {
    World world = world_new(1);
    add_block(&world, slit, 8, 5);
    set_reach(&world, k == 0, 0.05);
    int32_t foot[64], n = 0;
    for (int32_t v = 0; v < world.mesh[0]->n_vert; v++) {
      if (world.mesh[0]->x[3 * v + 1] == 0.0) {
        foot[n++] = v;
      }
    }
    NoliMotionDef* hold = world_add_motion(&world, 0, NULL, NULL);
    hold->node = foot;
    hold->n_node = n;
    world_start(&world);
    world_step(&world);
    moved[k] = largest_displacement(&world);
    print_message("%s: %lld contacts, moved by %.2e m\n", world.def.contact_model,
                  (long long)world.report.contacts, moved[k]);
    assert_true((world.report.contacts == 0) == (k == 0));
    world_done(&world);
  }
  ASSERT_AT_MOST(moved[0], 1e-15);
  ASSERT_AT_LEAST(moved[1], 1e-3);
}

// The upper side goes down to a fraction of the height.
static void press(void* user, double t0, double t1, int32_t n, const int32_t* node, const double* X,
                  const double* x_t0, double* x_t1) {
  (void)t0;
  (void)node;
  (void)x_t0;
  for (int32_t i = 0; i < n; i++) {
    x_t1[3 * i] = X[3 * i];
    x_t1[3 * i + 1] = X[3 * i + 1] * (1.0 - *(double*)user * fmin(t1, 1.0));
  }
}

// Figure 21: a block at nu = 0, compressed by a third while its sides are free. Its edges become
// shorter than the support; the geometric potential does not act, the barrier pushes.
static void compressed_blocks_have_no_spurious_pressure(void** state) {
  (void)state;

  // compress with both models
  static const double square[8] = {0, 0, 1, 0, 1, 1, 0, 1};
  double energy[2];
  for (int k = 0; k < 2; k++) {
    World world = world_new(1);
    double share = 0.33;
    int32_t ends[64], n = 0;
    add_block(&world, square, 4, 10);
    world.body[0].material.poisson = 0.0;
    set_reach(&world, k == 0, 0.095);
    for (int32_t v = 0; v < world.mesh[0]->n_vert; v++) {
      double y = world.mesh[0]->x[3 * v + 1];
      if (y == 0.0 || y == 1.0) {
        ends[n++] = v;
      }
    }
    NoliMotionDef* motion = world_add_motion(&world, 0, press, &share);
    motion->node = ends;
    motion->n_node = n;
    world_start(&world);
    world_step(&world);
    world_step(&world);
    energy[k] = world.report.contact_energy;
    print_message("%s: %lld contacts, contact energy %.3e J\n", world.def.contact_model,
                  (long long)world.report.contacts, energy[k]);
    world_done(&world);
  }

  // only the barrier pushes
  assert_true(energy[0] == 0.0);
  ASSERT_AT_LEAST(energy[1], 1.0);
}

// ---- figure 38: a corner hits a plane -----------------------------------------------------------

enum { ACROSS = 4, MOST_LAYERS = 200, CORNER_STEPS = 60, CORNER_LEVELS = 4 };

// Distances from the corner where edges end: they grow with the distance, and every level halves
// all of them. Returns their number; the last is `end`.
static int32_t grade(double finest, double growth, int32_t level, double end,
                     double at[MOST_LAYERS]) {
  int32_t n = 0;
  double t = 0.0;
  at[n++] = 0.0;
  while (t < end) {
    double edge = finest + growth * t, rest = end - t;
    // the last two share the rest
    edge = rest < 1.5 * edge ? rest : noli_smaller(edge, 0.5 * rest);
    int32_t pieces = 1 << level;
    for (int32_t k = 1; k <= pieces; k++) {
      assert_in_range(n, 0, MOST_LAYERS - 1);
      at[n++] = t + edge * k / pieces;
    }
    t = rest - edge > 1e-12 ? t + edge : end;
  }
  return n;
}

// A square of side 1 m that stands on its corner at (0, 0): layers around the corner.
static NoliMesh* make_square(World* world, const double* at, int32_t n) {
  NoliMesh* mesh = NULL;
  int32_t rays = 2 * ACROSS + 1, n_tri = 2 * ACROSS * (2 * (n - 1) - 1);
  ASSERT_OK(noli_mesh_create(world->context, 1 + (n - 1) * rays, 0, n_tri, 0, 0, false, &mesh));
  memset(mesh->x, 0, sizeof(double) * 3 * (size_t)mesh->n_vert);
  for (int32_t k = 1; k < n; k++) {
    for (int32_t j = 0; j < rays; j++) {
      double a = fmin(1.0, (2.0 * ACROSS - j) / ACROSS), b = fmin(1.0, (double)j / ACROSS);
      double* x = mesh->x + 3 * (1 + (k - 1) * rays + j);
      x[0] = at[k] * (a - b) * 0.70710678118654752;
      x[1] = at[k] * (a + b) * 0.70710678118654752;
    }
  }
  int32_t* tri = mesh->tri;
  for (int32_t j = 0; j < 2 * ACROSS; j++) {
    for (int32_t k = 0; k < n - 1; k++) {
      int32_t low = 1 + (k - 1) * rays + j, high = low + rays;
      // diagonals mirror each other
      const int32_t cut[2][6] = {{low, high, high + 1, low, high + 1, low + 1},
                                 {low, high, low + 1, low + 1, high, high + 1}};
      const int32_t tip[3] = {0, high, high + 1};
      memcpy(tri, k == 0 ? tip : cut[j < ACROSS], (k == 0 ? 3 : 6) * sizeof *tri);
      tri += k == 0 ? 3 : 6;
    }
  }
  return mesh;
}

// A slab 0.2 m thick below y = 0, with edges as short as those of the square.
static NoliMesh* make_slab(World* world, const double* at, int32_t n) {
  NoliMesh* mesh = NULL;
  int32_t row = 2 * n - 1;
  ASSERT_OK(noli_mesh_create(world->context, 2 * row, 0, 2 * (row - 1), 0, 0, false, &mesh));
  for (int32_t i = 0; i < row; i++) {
    double x = i < n ? -at[n - 1 - i] : at[i - n + 1];
    memcpy(mesh->x + 3 * i, (double[]){x, 0.0, 0.0}, 3 * sizeof(double));
    memcpy(mesh->x + 3 * (row + i), (double[]){x, -0.2, 0.0}, 3 * sizeof(double));
  }
  for (int32_t i = 0; i < row - 1; i++) {
    int32_t below = row + i;
    const int32_t cut[6] = {below, below + 1, i + 1, below, i + 1, i};
    memcpy(mesh->tri + 6 * i, cut, sizeof cut);
  }
  return mesh;
}

typedef struct Impact {
  const char* name;
  const char* model;
  double reach;    // m; 0: nine tenths of the shortest edge, so that nothing acts at rest
  double length;   // L of corners, m
  double kappa;    // 0: adaptive
  double young;    // Pa
  bool half_space; // instead of the slab
  bool alone;      // the square does not touch itself
  bool convergent;
} Impact;

// The motion of the tip in a run: its height above the plane in every step, and the minimum.
typedef struct Path {
  double height[CORNER_STEPS];
  double least;
  int64_t iterations;
} Path;

static void run_impact(const Impact* impact, int32_t level, Path* path) {

  // a square above a plane
  World world = world_new(1);
  double at[MOST_LAYERS];
  int32_t n = grade(0.016, 0.5, level, 1.0, at);
  int32_t square = world_add(&world, make_square(&world, at, n), (double[]){0, 0.11, 0});
  world.body[square].plane_strain = 1.0;
  world.body[square].material.young = impact->young;
  world.body[square].material.density = 20.0;
  world.body[square].velocity[1] = -234.0;

  // the plane
  if (impact->half_space) {
    world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  } else {
    int32_t slab = world_add_obstacle(&world, make_slab(&world, at, n), (double[]){0, 0, 0});
    world.body[slab].plane_strain = 1.0;
  }

  // parameters
  world.def.gravity[1] = 0.0;
  world.def.integrator = "trapezoidal";
  world.def.time_step = 2e-5;
  world.def.tolerance = (NoliScaled){1e-4, false};
  set_reach(&world, strcmp(impact->model, "gcp") == 0,
            impact->reach > 0.0 ? impact->reach : 0.9 * at[1]);
  world.def.gcp.alpha = 0.8;
  world.def.gcp.length = (NoliScaled){impact->length, false};
  world.def.barrier_stiffness = impact->kappa;
  world.def.contact_convergent = impact->convergent;
  const NoliPairDef itself = {.size = sizeof(NoliPairDef), .a = square, .b = square};
  world.def.pairs = &itself;
  world.def.n_pairs = impact->alone ? 1 : 0;
  world_start(&world);

  // the path of the tip
  *path = (Path){.least = (double)INFINITY};
  for (int s = 0; s < CORNER_STEPS; s++) {
    world_step(&world);
    path->height[s] = noli_sim_positions(world.sim)[1];
    path->least = noli_smaller(path->least, path->height[s]);
    path->iterations += world.report.newton_iterations;
  }
  world_done(&world);
}

// Runs the levels, prints a row and measures the distance between the paths of consecutive levels.
static void refine_impact(const Impact* impact, double least[CORNER_LEVELS],
                          double apart[CORNER_LEVELS]) {
  static Path path[CORNER_LEVELS];
  print_message("| %s |", impact->name);
  for (int32_t l = 0; l < CORNER_LEVELS; l++) {
    run_impact(impact, l, &path[l]);
    least[l] = path[l].least;
    print_message(" %.3f |", 1e3 * least[l]);
  }
  for (int32_t l = 1; l < CORNER_LEVELS; l++) {
    apart[l] = 0.0;
    for (int s = 0; s < CORNER_STEPS; s++) {
      apart[l] = noli_larger(apart[l], fabs(path[l].height[s] - path[l - 1].height[s]));
    }
    print_message(" %.3f |", 1e3 * apart[l]);
  }
  print_message("\n");
}

// Figure 38: a square hits a half-space with its corner at 234 m/s; edges near the corner are
// halved from level to level. With the potential and a fixed L, and with the convergent barrier,
// the path of the tip stays the same; with an L that shrinks with the edges, or with the barrier,
// it does not.
static void corners_hit_a_plane_alike_on_every_mesh(void** state) {
  (void)state;

  // the square is stiff: a corner of finite L pushes at a point, under which a soft one sinks in by
  // the same depth whenever its edges are halved, as the logarithm in the theory of elasticity
  static const Impact impact[] = {
      {"potential, slab", "gcp", 0.1, 0.05, 6e7, 2e13, false, false, false},
      {"potential, half-space", "gcp", 0.1, 0.05, 6e7, 2e13, true, false, false},
      {"potential, half-space, hundred times softer", "gcp", 0.1, 0.05, 6e7, 2e11, true, false,
       false},
      {"potential, slab, L of the mesh", "gcp", 0.1, 0.0, 6e7, 2e13, false, false, false},
      {"barrier, slab, 0.9 shortest edges", "ipc", 0.0, 0.0, 0.0, 2e13, false, false, false},
      {"barrier, slab, 0.1 m, not with itself", "ipc", 0.1, 0.0, 1e10, 2e13, false, true, false},
      {"convergent barrier, slab, 0.1 m, not with itself", "ipc", 0.1, 0.0, 2e10, 2e13, false, true,
       true},
  };

  // paths on each level
  enum { N = sizeof impact / sizeof *impact };
  double least[N][CORNER_LEVELS], apart[N][CORNER_LEVELS];
  print_message("minimum height of the tip on each level, then distances between paths, mm:\n");
  for (int i = 0; i < N; i++) {
    refine_impact(&impact[i], least[i], apart[i]);
  }

  // compare levels
  for (int l = 2; l < CORNER_LEVELS; l++) {
    ASSERT_AT_MOST(apart[0][l], apart[0][l - 1] / 4.0);
    ASSERT_AT_MOST(apart[1][l], 0.8 * apart[1][l - 1]);
    ASSERT_NEAR(apart[2][l], apart[2][l - 1], 0.3 * apart[2][l - 1]);
    ASSERT_AT_MOST(apart[6][l], apart[6][l - 1] / 2.0);
  }
  ASSERT_AT_MOST(apart[0][CORNER_LEVELS - 1], 5e-5);
  ASSERT_AT_MOST(apart[1][CORNER_LEVELS - 1], 2e-5);
  for (int l = 1; l < CORNER_LEVELS; l++) {
    ASSERT_AT_MOST(least[3][l], 0.8 * least[3][l - 1]);
    ASSERT_AT_MOST(least[4][l], 0.6 * least[4][l - 1]);
    ASSERT_AT_LEAST(least[5][l], least[5][l - 1] + 2e-3);
    ASSERT_NEAR(least[6][l], least[6][l - 1], 2e-3 / (l * l));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(slit_blocks_stay_at_rest),
      cmocka_unit_test(compressed_blocks_have_no_spurious_pressure),
      cmocka_unit_test(corners_hit_a_plane_alike_on_every_mesh),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
