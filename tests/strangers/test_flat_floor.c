// A flat floor of triangles is a floor: what lands on a diagonal, a vertex or beside an edge gets
// no push along the floor, tilted or moving, in space and in a plane; and surfaces stay apart,
// whatever holes the floor has.
#include "step/world.h"

#include "collide/flat.h"

enum { CELLS = 7 };
#define SIZE 1.0
#define CELL (SIZE / CELLS)
#define PI 3.14159265358979323846

typedef struct Drop {
  double at[2]; // where above the floor, m
  double tilt;  // degrees about z, of the floor and of gravity
  double slide; // m/s, of the floor along itself
  double turn;  // rad/s, of the floor about its normal
  bool half_space;
  const char* solver;
} Drop;

typedef struct Bounce {
  double impact; // m/s, the largest speed towards the floor
  double up;     // m/s, the largest one away from it
  double side;   // m/s, the largest one along it
} Bounce;

// Slides the floor along its plane and turns it about the normal.
typedef struct Way {
  double normal[3], along[3];
  double speed, turn;
} Way;

static void glide(void* user, double t0, double t1, int32_t n, const int32_t* node, const double* X,
                  const double* x_t0, double* x_t1) {
  (void)t0, (void)node, (void)x_t0;
  const Way* way = user;
  NoliVec3 normal = noli_load3(way->normal), along = noli_load3(way->along);
  double c = cos(way->turn * t1), s = sin(way->turn * t1);
  for (int32_t i = 0; i < n; i++) {
    NoliVec3 p = noli_load3(X + 3 * i);
    double height = noli_dot3(normal, p);
    NoliVec3 flat = noli_mul_add3(p, -height, normal);
    NoliVec3 turned = noli_add3(noli_scale3(c, flat), noli_scale3(s, noli_cross3(normal, flat)));
    turned = noli_mul_add3(turned, height, normal);
    noli_store3(x_t1 + 3 * i, noli_mul_add3(turned, way->speed * t1, along));
  }
}

static NoliVec3 mean_velocity(const World* world, int32_t body) {
  int32_t first, count;
  noli_sim_body_range(world->sim, body, &first, &count);
  const double *v = noli_sim_velocities(world->sim), *mass = noli_sim_masses(world->sim);
  NoliVec3 momentum = {0, 0, 0};
  double total = 0.0;
  for (int32_t i = first; i < first + count; i++) {
    momentum = noli_mul_add3(momentum, mass[i], noli_load3(v + 3 * i));
    total += mass[i];
  }
  return noli_scale3(1.0 / total, momentum);
}

static Bounce bounce(World* world, NoliVec3 normal, int n_steps) {
  Bounce found = {0};
  for (int i = 0; i < n_steps; i++) {
    world_step(world);
    NoliVec3 v = mean_velocity(world, 0);
    double up = noli_dot3(v, normal);
    found.impact = noli_larger(found.impact, -up);
    found.up = noli_larger(found.up, up);
    found.side = noli_larger(found.side, noli_norm3(noli_mul_add3(v, -up, normal)));
  }
  return found;
}

// A ball of 0.1 m falls on a floor from 5 cm.
static Bounce drop(const Drop* def) {
  World world = world_new(1);
  double angle = def->tilt * PI / 180.0;
  NoliVec3 normal = {-sin(angle), cos(angle), 0.0}, along = {cos(angle), sin(angle), 0.0};
  NoliVec3 at = noli_mul_add3(noli_scale3(def->at[0], along), 0.1, normal);
  at.z += def->at[1];
  int32_t ball = world_add(&world, make_sphere(&world, 0.05, 4), (double[]){at.x, at.y, at.z});
  world.body[ball].material.young = 1e6;
  world.body[ball].material.poisson = 0.3;
  NoliVec3 gravity = noli_scale3(-9.81, normal);
  noli_store3(world.def.gravity, gravity);
  world.def.time_step = 0.002;
  world.def.solver = def->solver != NULL ? def->solver : world.def.solver;
  world.def.tolerance = (NoliScaled){1e-6, true};
  world.def.contact_distance = (NoliScaled){1.4e-3, false};
  Way way = {.speed = def->slide, .turn = def->turn};
  if (def->half_space) {
    world_add_plane(&world, (double[]){0, 0, 0}, (double[]){normal.x, normal.y, normal.z});
  } else {
    NoliMesh* mesh = NULL;
    ASSERT_OK(noli_mesh_make_plane(world.context, SIZE, SIZE, CELLS, CELLS, &mesh));
    noli_mesh_transform(mesh, (double[]){1, 1, 1}, (double[]){0, 0, def->tilt},
                        (double[]){0, 0, 0});
    int32_t floor = world_add_obstacle(&world, mesh, (double[]){0, 0, 0});
    noli_store3(way.normal, normal);
    noli_store3(way.along, along);
    if (def->slide != 0.0 || def->turn != 0.0) {
      world_add_motion(&world, floor, glide, &way);
    }
  }
  world_start(&world);
  Bounce found = bounce(&world, normal, 80);
  world_done(&world);
  return found;
}

// The push of the diagonal was 3.1 % of the speed of the impact, and beside an edge 1.5 %. What is
// left is what Newton's method leaves: 1e-6 l per second in 80 steps, and rounding.
static void landings_get_no_push(void** state) {
  (void)state;
  static const Drop drops[] = {
      {.at = {0.003, -0.004}},                   // on a face
      {.at = {0, 0}},                            // on a diagonal
      {.at = {0.0004, 0}},                       // beside it
      {.at = {0.5 * CELL, 0.01}},                // on an edge
      {.at = {0.5 * CELL + 0.0004, 0.01}},       // beside it
      {.at = {0.5 * CELL, 0.5 * CELL}},          // on a vertex
      {.at = {0.5 * CELL + 0.0003, 0.5 * CELL}}, // beside it
      {.at = {0, 0}, .tilt = 30},                //
      {.at = {0.5 * CELL, 0.5 * CELL}, .tilt = 30},
      {.at = {0.0004, 0}, .slide = 0.5},
      {.at = {0.05, 0.02}, .tilt = 30, .slide = 0.2, .turn = 3.0},
  };
  for (size_t i = 0; i < sizeof drops / sizeof *drops; i++) {
    Drop smooth = {.tilt = drops[i].tilt, .half_space = true};
    Bounce got = drop(&drops[i]), want = drop(&smooth);
    bool still = drops[i].slide == 0.0 && drops[i].turn == 0.0;
    print_message("at %.4f, %.4f tilted by %g: side %.2g of the impact, %.6f m/s up\n",
                  drops[i].at[0], drops[i].at[1], drops[i].tilt, got.side / got.impact, got.up);
    ASSERT_AT_LEAST(got.impact, 0.95);
    ASSERT_AT_MOST(got.side / got.impact, 1e-6);
    // and it is the bounce off a half-space; contact stops a moving floor on its way, springs move
    // it on, and the adaptive stiffness begins anew
    ASSERT_NEAR(got.up, want.up, still ? 1e-5 : 1e-2);
  }
}

// A disc in plane strain on a floor of segments in a line.
static void segments_in_a_line_are_one(void** state) {
  (void)state;
  static const double at[] = {0.0, 2e-4, 0.05};
  for (int i = 0; i < 3; i++) {
    World world = world_new(1);
    NoliMesh *disc = NULL, *floor = NULL;
    ASSERT_OK(noli_mesh_make_disk(world.context, 0.05, 4, &disc));
    int32_t body = world_add(&world, disc, (double[]){at[i], 0.1, 0});
    world.body[body].plane_strain = 1.0;
    world.body[body].material.young = 1e6;
    world.body[body].material.poisson = 0.3;
    enum { N = 8 };
    ASSERT_OK(noli_mesh_create(world.context, N + 1, 0, 0, N, 0, false, &floor));
    for (int32_t v = 0; v <= N; v++) {
      noli_store3(floor->x + 3 * v, noli_vec3(0.1 * (v - N / 2), 0.0, 0.0));
    }
    for (int32_t e = 0; e < N; e++) {
      floor->edge[2 * e] = e + 1;
      floor->edge[2 * e + 1] = e;
    }
    world_add_obstacle(&world, floor, (double[]){0, 0, 0});
    world.def.time_step = 0.002;
    world.def.tolerance = (NoliScaled){1e-6, true};
    world_start(&world);
    Bounce got = bounce(&world, noli_vec3(0, 1, 0), 80);
    print_message("disc at %g: side %.2g of the impact, %.4f m/s up\n", at[i],
                  got.side / got.impact, got.up);
    ASSERT_AT_LEAST(got.impact, 0.95);
    ASSERT_AT_LEAST(got.up, 0.1);
    ASSERT_AT_MOST(got.side / got.impact, 1e-6);
    world_done(&world);
  }
}

// Half of the ball is over the rim of the floor, or over a ridge of two large triangles: these have
// a direction, and the ball takes it.
static void rims_and_ridges_are_real(void** state) {
  (void)state;
  Drop def = {.at = {0.5 * SIZE - 0.001, 0.0}};
  Bounce rim = drop(&def);
  print_message("over the rim: side %.3g of the impact\n", rim.side / rim.impact);
  ASSERT_AT_LEAST(rim.side / rim.impact, 1e-3);

  World world = world_new(1);
  int32_t ball = world_add(&world, make_sphere(&world, 0.05, 4), (double[]){0.002, 0.11, 0});
  world.body[ball].material.young = 1e6;
  NoliMesh* roof = NULL;
  ASSERT_OK(noli_mesh_make_plane(world.context, SIZE, SIZE, 2, 1, &roof));
  for (int32_t v = 0; v < roof->n_vert; v++) {
    roof->x[3 * v + 1] = -0.2 * fabs(roof->x[3 * v]);
  }
  world_add_obstacle(&world, roof, (double[]){0, 0, 0});
  world.def.time_step = 0.002;
  world_start(&world);
  Bounce ridge = bounce(&world, noli_vec3(0, 1, 0), 80);
  print_message("on a ridge: side %.3g of the impact\n", ridge.side / ridge.impact);
  ASSERT_AT_LEAST(ridge.side / ridge.impact, 1e-2);
  world_done(&world);
}

// A floor whose cells are missing at random, with random diagonals.
static NoliMesh* floor_with_holes(NoliContext* context, TestRandom* random, double share) {
  enum { N = 6 };
  NoliMesh* mesh = NULL;
  int32_t n = 0, tri[6 * N * N];
  for (int32_t a = 0; a < N; a++) {
    for (int32_t b = 0; b < N; b++) {
      int32_t p = a * (N + 1) + b, q = p + 1, r = p + N + 1, s = r + 1;
      bool other = test_random(random, 0, 1) < 0.5;
      const int32_t cell[6] = {p, q, other ? s : r, other ? p : q, s, r};
      if (test_random(random, 0, 1) >= share || n == 0) {
        memcpy(tri + 3 * n, cell, sizeof cell);
        n += 2;
      }
    }
  }
  ASSERT_OK(noli_mesh_create(context, (N + 1) * (N + 1), 0, n, 0, 0, false, &mesh));
  memcpy(mesh->tri, tri, (size_t)n * 3 * sizeof *tri);
  for (int32_t v = 0; v < mesh->n_vert; v++) {
    noli_store3(mesh->x + 3 * v,
                noli_vec3(0.1 * (v / (N + 1)) - 0.3, 0.0, 0.1 * (v % (N + 1)) - 0.3));
  }
  return mesh;
}

// Boxes larger and smaller than the holes fall on them, turned at random, with friction or without,
// also while the floor tilts. Every step is audited exactly.
static void nothing_falls_through(void** state) {
  (void)state;
  TestRandom random = {11};
  for (int k = 0; k < 16; k++) {
    World world = world_new(1);
    for (int b = 0; b < 3; b++) {
      double s[3];
      for (int c = 0; c < 3; c++) {
        s[c] = 0.04 * pow(6.0, test_random(&random, 0, 1));
      }
      NoliMesh* mesh = make_box(&world, s[0], s[1], s[2], 1 + k % 2);
      noli_mesh_transform(mesh, (double[]){1, 1, 1},
                          (double[]){test_random(&random, 0, 360), test_random(&random, 0, 360),
                                     test_random(&random, 0, 360)},
                          (double[]){0, 0, 0});
      double height = 0.23 + 0.45 * b;
      int32_t body = world_add(
          &world, mesh,
          (double[]){test_random(&random, -0.2, 0.2), height, test_random(&random, -0.2, 0.2)});
      world.body[body].material.young = k % 3 == 0 ? 1e7 : 1e5;
      world.body[body].velocity[1] = -test_random(&random, 0, 3);
    }
    NoliMesh* mesh = floor_with_holes(world.context, &random, 0.1 * (k % 6));
    noli_mesh_transform(mesh, (double[]){1, 1, 1}, (double[]){k % 4 == 1 ? 20.0 : 0.0, 0, 0},
                        (double[]){0, 0, 0});
    int32_t floor = world_add_obstacle(&world, mesh, (double[]){0, 0, 0});
    Way way = {.normal = {1, 0, 0}, .along = {0, 1, 0}, .turn = 1.0, .speed = 0.3};
    if (k % 4 == 2) {
      world_add_motion(&world, floor, glide, &way);
    }
    world.def.friction = k % 2 == 0 ? 0.0 : 0.4;
    world.def.time_step = 0.01;
    world_start(&world);
    for (int i = 0; i < 40; i++) {
      world_step(&world);
    }
    world_done(&world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(landings_get_no_push),
      cmocka_unit_test(segments_in_a_line_are_one),
      cmocka_unit_test(rims_and_ridges_are_real),
      cmocka_unit_test(nothing_falls_through),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
