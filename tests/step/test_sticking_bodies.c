// Friction that sticks, for every kind of body: it holds at 0.99 of the limit of Coulomb and slides
// beyond it with the acceleration that is left, on floors that are at rest and that move.
#include "world.h"

#define DISTANCE 1e-4
#define THICKNESS 0.004 // of shells, cloth, rods and particles
#define MU 0.5
#define ACROSS 10.0 // m/s^2

typedef enum Kind {
  SOLID,
  QUADRATIC,
  PROXY,
  RIGID,
  STRIP,
  SHELL,
  CLOTH,
  ROD,
  TWISTED,
  POINTS
} Kind;

// What a body lies on: a half-space, or an obstacle that is at rest, or that accelerates away with
// what else is the pull along it.
typedef enum Floor { PLANE, BOARD, MOVING } Floor;

static NoliMesh* mesh_of_points(NoliContext* context) {
  enum { SIDE = 3 };
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_create(context, SIDE * SIDE, 0, 0, 0, SIDE * SIDE, false, &mesh));
  for (int i = 0; i < SIDE * SIDE; i++) {
    mesh->x[3 * i] = 0.031 * (i % SIDE);
    mesh->x[3 * i + 1] = 0.0;
    mesh->x[3 * i + 2] = 0.029 * (i / SIDE);
    mesh->point[i] = i;
  }
  return mesh;
}

static NoliMesh* mesh_of(NoliContext* context, Kind kind) {
  NoliMesh* mesh = NULL;
  if (kind == STRIP) {
    ASSERT_OK(noli_mesh_make_rectangle(context, 0.1, 0.02, 5, 2, &mesh));
  } else if (kind == SHELL || kind == CLOTH) {
    ASSERT_OK(noli_mesh_make_plane(context, 0.1, 0.1, 4, 4, &mesh));
  } else if (kind == ROD || kind == TWISTED) {
    ASSERT_OK(noli_mesh_make_line(context, 0.1, 6, &mesh));
  } else if (kind == POINTS) {
    mesh = mesh_of_points(context);
  } else {
    ASSERT_OK(noli_mesh_make_box(context, (double[]){0.1, 0.02, 0.1}, (int32_t[]){3, 1, 3}, false,
                                 &mesh));
  }
  return mesh;
}

static bool is_thin(Kind kind) {
  return kind >= SHELL;
}

static void set_kind(NoliBodyDef* body, Kind kind) {
  body->material.young = 1e6;
  body->material.poisson = 0.3;
  body->order = kind == QUADRATIC || kind == PROXY ? 2 : 1;
  body->proxy.kind = kind == PROXY ? "subdivision" : body->proxy.kind;
  body->proxy.subdivision = kind == PROXY ? 2 : body->proxy.subdivision;
  body->rigid.rigid = kind == RIGID;
  body->plane_strain = kind == STRIP ? 0.03 : 0.0;
  body->shell.thickness = kind == SHELL || kind == CLOTH ? THICKNESS : 0.0;
  body->shell.bending = kind == CLOTH ? 1e-4 : body->shell.bending;
  body->rod.radius = kind == ROD || kind == TWISTED ? 0.5 * THICKNESS : 0.0;
  body->rod.twist = kind == TWISTED ? 1.0 : 0.0;
  body->point.radius = kind == POINTS ? 0.5 * THICKNESS : 0.0;
  body->contact_offset = is_thin(kind) ? NOLI_OFFSET_THICKNESS : 0.0;
}

static double way_of_board(double pull, double t) {
  return -0.5 * pull * t * t;
}

static void move_board(void* user, double t0, double t1, int32_t n, const int32_t* node,
                       const double* X, const double* x_t0, double* x_t1) {
  const double* pull = user;
  (void)t0, (void)node, (void)x_t0;
  for (int32_t i = 0; i < n; i++) {
    x_t1[3 * i] = X[3 * i] + way_of_board(*pull, t1);
    x_t1[3 * i + 1] = X[3 * i + 1];
    x_t1[3 * i + 2] = X[3 * i + 2];
  }
}

static void add_floor(World* world, Kind kind, Floor floor, double* pull) {
  NoliMesh* mesh = NULL;
  if (floor == PLANE) {
    world_add_plane(world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
    return;
  }
  if (kind == STRIP) {
    ASSERT_OK(noli_mesh_make_rectangle(world->context, 0.5, 0.02, 7, 1, &mesh));
  } else {
    ASSERT_OK(noli_mesh_make_box(world->context, (double[]){0.5, 0.02, 0.5}, (int32_t[]){7, 1, 7},
                                 false, &mesh));
  }
  int32_t board = world_add_obstacle(world, mesh, (double[]){0.011, -0.01, 0.0});
  world->body[board].plane_strain = kind == STRIP ? 0.03 : 0.0;
  if (floor == MOVING) {
    world_add_motion(world, board, move_board, pull);
  }
}

// The mean place of a body along the floor, seen from it.
static double place(const World* world, Floor floor, double pull) {
  double centre[3], way = floor == MOVING ? way_of_board(pull, noli_sim_time(world->sim)) : 0.0;
  world_centre(world, 0, centre);
  return centre[0] - way;
}

static void steps(World* world, int n) {
  for (int i = 0; i < n; i++) {
    world_step(world);
  }
}

typedef struct Case {
  Kind kind;
  Floor floor;
  const char* method;
  int32_t iterations;
  double share; // of the limit
} Case;

static World body_on_floor(const Case* of, double* pull) {
  World world = world_new(1);
  double height = is_thin(of->kind) ? 0.5 * THICKNESS : 0.01;
  world_add(&world, mesh_of(world.context, of->kind),
            (double[]){0.0, height + 0.8 * DISTANCE, 0.0});
  set_kind(&world.body[0], of->kind);
  *pull = of->share * MU * ACROSS;
  world.def.gravity[0] = of->floor == MOVING ? 0.0 : *pull;
  world.def.gravity[1] = -ACROSS;
  add_floor(&world, of->kind, of->floor, pull);
  world.def.time_step = 0.01;
  world.def.contact_distance = (NoliScaled){DISTANCE, NOLI_ABSOLUTE};
  world.def.tolerance = (NoliScaled){1e-7, NOLI_ABSOLUTE};
  world.def.friction = MU;
  world.def.friction_iterations = of->iterations;
  world_use_friction(&world, of->method);
  return world;
}

// On a floor that moves, each step ends within the tolerance of another state.
static void try_body(const Case* of) {
  enum { N = 10 };
  double pull, at[3];
  World world = body_on_floor(of, &pull);
  double h = world.def.time_step;
  world_start(&world);
  steps(&world, 40);
  for (int k = 0; k < 3; k++) {
    steps(&world, k == 0 ? 0 : N);
    at[k] = place(&world, of->floor, pull);
  }
  double speed = (at[2] - at[1]) / (N * h),
         gained = (at[2] - 2.0 * at[1] + at[0]) / (N * N * h * h);
  double want = noli_larger(of->share - 1.0, 0.0) * MU * ACROSS;
  bool good = of->share < 1.0 ? fabs(speed) <= (of->floor == MOVING ? 1e-6 : 1e-9)
                              : fabs(gained - want) <= 0.01 * want;
  if (!good) {
    print_error("body %d, floor %d, %s, %.2f of the limit: %.6g m/s, %.6g m/s^2 for %.6g\n",
                of->kind, of->floor, of->method, of->share, speed, gained, want);
  }
  assert_true(good);
  world_done(&world);
}

static void every_body_holds_and_slides(void** state) {
  (void)state;
  static const struct {
    Floor floor;
    const char* method;
    int32_t iterations;
  } ways[] = {{PLANE, "lagged", NOLI_FRICTION_AUTOMATIC},
              {BOARD, "lagged", NOLI_FRICTION_AUTOMATIC},
              {BOARD, "implicit", NOLI_FRICTION_AUTOMATIC},
              {MOVING, "lagged", NOLI_FRICTION_UNTIL_CONVERGENCE}};
  for (Kind kind = SOLID; kind <= POINTS; kind++) {
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
      Case of = {kind, ways[w].floor, ways[w].method, ways[w].iterations, 0.99};
      try_body(&of);
      of.share = 1.1;
      try_body(&of);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_body_holds_and_slides),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
