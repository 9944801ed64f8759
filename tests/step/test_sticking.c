// Friction that sticks: contacts keep an elastic slip, and hold.
#include "grip.h"

#include "noli/batch.h"
#include "noli/live.h"
#include "noli/output.h"

#define G_ALONG 3.354072 // m/s^2: g = 9.80665 on a slope of 20 degrees
#define G_ACROSS 9.215239
#define TANGENT (G_ALONG / G_ACROSS)
#define STICK_LENGTH 1e-6
#define STILL 1e-9 // m/s

// How a run is solved.
typedef struct Way {
  const char* solver;
  const char* method;
  const char* model;
  const char* integrator;
  int32_t iterations;
} Way;

#define PLAIN                                                                                      \
  { NULL, "lagged", "ipc", "backward_euler", NOLI_FRICTION_AUTOMATIC }

static void use_way(World* world, Way way) {
  world->def.friction_law = "stick";
  world->def.stick_length = (NoliScaled){STICK_LENGTH, NOLI_ABSOLUTE};
  world->def.solver = way.solver;
  world->def.contact_model = way.model;
  world->def.integrator = way.integrator;
  world->def.friction_iterations = way.iterations;
  world->def.audit = strcmp(way.model, "implicit_surface") == 0 ? "off" : "every_step";
  world_use_friction(world, way.method);
}

// A block on a floor with the gravity of a slope; the floor is a half-space or a board.
static World block_on_slope(Way way, double mu, bool board) {
  World world = world_new(1);
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_box(world.context, (double[]){0.1, 0.05, 0.1}, (int32_t[]){4, 2, 4},
                               false, &mesh));
  world_add(&world, mesh, (double[]){0.0, 0.02507, 0.0});
  if (board) {
    ASSERT_OK(noli_mesh_make_box(world.context, (double[]){0.4, 0.02, 0.4}, (int32_t[]){5, 1, 5},
                                 false, &mesh));
    world_add_obstacle(&world, mesh, (double[]){0.01, -0.01, 0.013});
  } else {
    world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  }
  world.body[0].material.young = 1e7;
  world.body[0].material.poisson = 0.3;
  world.def.gravity[0] = G_ALONG;
  world.def.gravity[1] = -G_ACROSS;
  world.def.friction = mu;
  use_way(&world, way);
  return world;
}

static void steps(World* world, int n) {
  for (int i = 0; i < n; i++) {
    world_step(world);
  }
}

static double speed_along(const World* world) {
  return world->report.momentum[0] / (0.1 * 0.05 * 0.1 * world->body[0].material.density);
}

// Below its limit a block stands, with every solver, method, model and integrator.
static void a_block_on_a_slope_stands(void** state) {
  (void)state;
  static const Way ways[] = {
      PLAIN,
      {NULL, "lagged", "ipc", "backward_euler", 1},
      {NULL, "lagged", "ipc", "backward_euler", NOLI_FRICTION_UNTIL_CONVERGENCE},
      {NULL, "implicit", "ipc", "backward_euler", NOLI_FRICTION_AUTOMATIC},
      {"implicit_newton", "lagged", "ipc", "backward_euler", NOLI_FRICTION_AUTOMATIC},
      {"augmented_lagrangian", "lagged", "ipc", "backward_euler", NOLI_FRICTION_AUTOMATIC},
      {NULL, "lagged", "gcp", "backward_euler", NOLI_FRICTION_AUTOMATIC},
      {NULL, "implicit", "gcp", "backward_euler", NOLI_FRICTION_AUTOMATIC},
      {NULL, "lagged", "implicit_surface", "backward_euler", NOLI_FRICTION_AUTOMATIC},
      {NULL, "lagged", "ipc", "bdf2", NOLI_FRICTION_AUTOMATIC},
      {NULL, "lagged", "ipc", "sdirk2", NOLI_FRICTION_AUTOMATIC},
  };
  for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
    for (int board = 0; board < 2; board++) {
      World world = block_on_slope(ways[w], 1.25 * TANGENT, board == 1);
      double then[3], now[3];
      world_start(&world);
      steps(&world, 60);
      world_centre(&world, 0, then);
      steps(&world, 60);
      world_centre(&world, 0, now);
      if (!(fabs(now[0] - then[0]) < 0.6 * STILL) || !(fabs(speed_along(&world)) < STILL)) {
        print_error("way %zu, board %d: moved by %.3g m, %.3g m/s\n", w, board, now[0] - then[0],
                    speed_along(&world));
      }
      ASSERT_NEAR(now[0], then[0], 0.6 * STILL);
      ASSERT_NEAR(speed_along(&world), 0.0, STILL);
      assert_true(world.report.contacts_held > 0);
      assert_true(world.report.contacts_sliding == 0);
      assert_true(world.report.friction_stored > 0.0);
      world_done(&world);
    }
  }
}

// It breaks away at its limit, and then has the acceleration of Coulomb.
static void a_block_slides_beyond_its_limit(void** state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    double ratio = k == 0 ? 0.999 : 1.001; // of the tangent to the coefficient
    Way way = PLAIN;
    World world = block_on_slope(way, TANGENT / ratio, false);
    world.def.tolerance = (NoliScaled){1e-7, NOLI_ABSOLUTE};
    world_start(&world);
    steps(&world, 100);
    double then = speed_along(&world), time = noli_sim_time(world.sim);
    steps(&world, 100);
    double acceleration = (speed_along(&world) - then) / (noli_sim_time(world.sim) - time);
    double want = k == 0 ? 0.0 : G_ALONG - TANGENT / ratio * G_ACROSS;
    ASSERT_NEAR(acceleration, want, k == 0 ? STILL : 0.01 * want);
    world_done(&world);
  }
}

// The grip: two pads press on a bar, which hangs in its gravity.
typedef struct Turn {
  double rate; // rad/s, about z, from the time `begin` to `end`
  double begin;
  double end;
  double in;      // m/s, until `begin`: how fast the pad moves to the middle
  double pressed; // s, when that ends
} Turn;

static void turn_pad(void* user, double t0, double t1, int32_t n, const int32_t* node,
                     const double* X, const double* x_t0, double* x_t1) {
  const Turn* turn = user;
  double at = fmin(fmax(t1, turn->begin), turn->end) - turn->begin;
  double c = cos(turn->rate * at), s = sin(turn->rate * at),
         in = turn->in * fmin(t1, turn->pressed);
  (void)t0, (void)node, (void)x_t0;
  for (int32_t i = 0; i < n; i++) {
    double x = X[3 * i] + in, y = X[3 * i + 1];
    x_t1[3 * i] = c * x - s * y;
    x_t1[3 * i + 1] = s * x + c * y;
    x_t1[3 * i + 2] = X[3 * i + 2];
  }
}

static World grip(Way way, Turn pads[2]) {
  World world = world_new(1);
  world_add_grip(&world, turn_pad, &pads[0], &pads[1]);
  use_way(&world, way);
  return world;
}

static void turn_pads(Turn pads[2], double rate, double begin, double end) {
  for (int k = 0; k < 2; k++) {
    // about 13 N on each side
    pads[k] = (Turn){rate, begin, end, k == 0 ? 1.8e-3 : -1.8e-3, 0.1};
  }
}

static void a_grip_holds(void** state) {
  (void)state;
  static const Way ways[] = {
      PLAIN,
      {NULL, "implicit", "ipc", "backward_euler", NOLI_FRICTION_AUTOMATIC},
      {"augmented_lagrangian", "lagged", "ipc", "backward_euler", NOLI_FRICTION_AUTOMATIC},
      {NULL, "lagged", "gcp", "backward_euler", NOLI_FRICTION_AUTOMATIC},
      {NULL, "lagged", "ipc", "bdf2", NOLI_FRICTION_AUTOMATIC},
  };
  for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
    Turn pads[2];
    double then[3], now[3];
    turn_pads(pads, 0.0, 1.0, 1.0);
    World world = grip(ways[w], pads);
    world_start(&world);
    steps(&world, 100);
    world_centre(&world, 0, then);
    steps(&world, 200);
    world_centre(&world, 0, now);
    const NoliPairForce* pair = world_pair(&world, 0, 1);
    assert_non_null(pair);
    print_message("way %zu: creep %.3g m in 2 s, normal force %.4g N\n", w, now[1] - then[1],
                  fabs(pair->normal[0]));
    ASSERT_NEAR(now[1], then[1], 1e-9);
    assert_true(world.report.contacts_held > 0);
    world_done(&world);
  }
}

// A grip that turns a full circle loses nothing.
static void a_grip_turns_a_full_circle(void** state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    Turn pads[2];
    double then[3], now[3], turned = k == 0 ? 2.0 : 0.25;
    turn_pads(pads, 6.283185307179586 / turned, 0.5, 0.5 + turned);
    Way way = PLAIN;
    World world = grip(way, pads);
    world_start(&world);
    steps(&world, 50);
    world_centre(&world, 0, then);
    steps(&world, (int)(100 * turned) + 50);
    world_centre(&world, 0, now);
    print_message("in %g s: off by %.3g %.3g m, slid %.3g m\n", turned, now[0] - then[0],
                  now[1] - then[1], world.report.slid);
    ASSERT_NEAR(now[1], then[1], 2.0 * STICK_LENGTH);
    ASSERT_NEAR(now[0], then[0], 2.0 * STICK_LENGTH);
    world_done(&world);
  }
}

// Load steps have friction without a velocity: a block that is pressed on the floor and pushed
// along it keeps what holds it, and slides at its limit.
typedef struct Push {
  double down; // m, in the first second
  double x[3]; // m, at 1, 2 and 3 s
  double back; // m, in the second half of the third second
  int32_t top[32];
} Push;

static void push_top(void* user, double t0, double t1, int32_t n, const int32_t* node,
                     const double* X, const double* x_t0, double* x_t1) {
  const Push* push = user;
  int k = t1 <= 1.0 ? 0 : t1 <= 2.0 ? 1 : 2;
  double from = k > 0 ? push->x[k - 1] : 0.0;
  double along = from + (push->x[k] - from) * fmin(t1 - k, 1.0), over = t1 - 2.5;
  if (push->back > 0.0 && k == 2) {
    along = push->x[2] * fmin(2.0 * (t1 - k), 1.0) - push->back * fmax(2.0 * over, 0.0);
  }
  double down = push->down * fmin(t1, 1.0);
  (void)t0, (void)node, (void)x_t0;
  for (int32_t i = 0; i < n; i++) {
    x_t1[3 * i] = X[3 * i] + along;
    x_t1[3 * i + 1] = X[3 * i + 1] - down;
    x_t1[3 * i + 2] = X[3 * i + 2];
  }
}

// A block that load steps press on the floor and push.
static World pushed_block(Push* push) {
  World world = world_new(1);
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_box(world.context, (double[]){0.1, 0.05, 0.1}, (int32_t[]){3, 2, 3},
                               false, &mesh));
  world_add(&world, mesh, (double[]){0.0, 0.02505, 0.0});
  world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  NoliMotionDef* motion = world_add_motion(&world, 0, push_top, push);
  motion->node = push->top;
  motion->n_node = 0;
  for (int32_t i = 0; i < mesh->n_vert; i++) {
    if (mesh->x[3 * i + 1] > 0.05) {
      push->top[motion->n_node++] = i;
    }
  }
  world.body[0].material.young = 1e6;
  world.body[0].material.poisson = 0.3;
  world.def.friction = 0.4;
  world.def.time_step = 0.1;
  world.def.tolerance = (NoliScaled){1e-8, NOLI_ABSOLUTE};
  use_way(&world, (Way){NULL, "lagged", "ipc", "backward_euler", NOLI_FRICTION_UNTIL_CONVERGENCE});
  world.def.integrator = "quasi_static";
  return world;
}

static void load_steps_have_friction_without_a_speed(void** state) {
  (void)state;
  Push push = {.down = 5e-4, .x = {0.0, 2e-5, 2e-5}};
  World world = pushed_block(&push);
  world_start(&world);
  steps(&world, 21);
  double held = world_pair(&world, 0, 1)->friction[0];
  double normal = world_pair(&world, 0, 1)->normal[1];
  print_message("pushed by 20 um: %.6g N of %.6g N\n", held, 0.4 * normal);
  assert_true(-held > 0.01 * 0.4 * normal && -held < 0.9 * 0.4 * normal);

  // it stands: nothing relaxes
  steps(&world, 9);
  ASSERT_NEAR(world_pair(&world, 0, 1)->friction[0], held, 1e-6 * fabs(held));

  // it slides
  push.x[2] = 5e-3;
  steps(&world, 10);
  double slides = -world_pair(&world, 0, 1)->friction[0],
         most = 0.4 * world_pair(&world, 0, 1)->normal[1];
  print_message("pushed by 5 mm: %.6g N of %.6g N\n", slides, most);
  ASSERT_NEAR(slides, most, 1e-3 * most);
  ASSERT_NEAR(world.report.slid, 5e-3, 1e-3);
  world_done(&world);
}

// A step that is divided tells of all its parts: a block that slides in the first half of it and
// is relieved in the second one has slid; ten steps in its place end with one that holds.
static void a_divided_step_tells_of_all_its_parts(void** state) {
  (void)state;
  for (int divided = 0; divided < 2; divided++) {
    Push push = {.down = 5e-4, .x = {0.0, 0.0, 5e-3}, .back = 2e-5};
    World world = pushed_block(&push);
    if (divided) {
      world.def.time_step = 1.0;
      world.def.increments.initial = 0.1;
      world.def.increments.easy_iterations = 1;
      world.def.increments.hard_iterations = 1000;
    }
    world_start(&world);
    steps(&world, divided ? 3 : 30);
    assert_int_equal(world.report.substeps, divided ? 10 : 1);
    ASSERT_NEAR(world.report.slid, 5e-3, 1e-3);
    assert_int_equal(world.report.contacts_sliding + world.report.contacts_held, 16);
    assert_int_equal(world.report.contacts_sliding, divided ? 16 : 0);
    world_done(&world);
  }
}

static void assert_same(const NoliSim* one, const NoliSim* other) {
  const char* difference = noli_sim_state_difference(one, other);
  if (difference != NULL) {
    print_error("the states differ in %s\n", difference);
    fail();
  }
}

// A state is also what its fields are.
static void fields_hold_slips(void** state) {
  (void)state;
  World world = block_on_slope((Way)PLAIN, 1.05 * TANGENT, true);
  NoliSim* copy = NULL;
  world_start(&world);
  steps(&world, 7);
  ASSERT_OK(noli_sim_create(world.context, &world.def, &copy));
  assert_true(noli_sim_slip_count(world.sim) > 0);
  assert_true(noli_sim_slip_count(copy) == 0);
  ASSERT_OK(noli_sim_set_slip_count(copy, noli_sim_slip_count(world.sim)));
  assert_int_equal(noli_sim_step(copy, NULL), NOLI_ERROR_ARGUMENT); // not written yet
  NoliStateField from, to;
  for (int32_t i = 0; noli_sim_state_field(world.sim, i, &from); i++) {
    assert_true(noli_sim_state_field(copy, i, &to));
    assert_string_equal(from.name, to.name);
    assert_true(from.count == to.count);
    memcpy(to.data, from.data, sizeof(double) * (size_t)from.count); // or int64_t
  }
  assert_same(world.sim, copy);
  world_step(&world);
  ASSERT_OK(noli_sim_step(copy, NULL));
  assert_same(world.sim, copy);
  assert_int_equal(noli_sim_set_slip_count(copy, -1), NOLI_ERROR_ARGUMENT);
  noli_sim_destroy(&copy);
  world_done(&world);
}

// A held block is resumed to the bit, from bytes, from a checkpoint and as a clone.
static void a_hold_is_resumed(void** state) {
  (void)state;
  World world = block_on_slope((Way)PLAIN, 1.05 * TANGENT, true);
  world_start(&world);
  steps(&world, 7);
  assert_true(world.sim->state.sizes.n_slips > 0);
  size_t size = noli_sim_state_bytes(world.sim);
  void* bytes = malloc(size);
  NoliSim *clone = NULL, *resumed = NULL, *loaded = NULL;
  ASSERT_OK(noli_sim_save_state(world.sim, bytes, size));
  ASSERT_OK(noli_checkpoint_save(world.context, world.sim, NULL, "sticking.h5"));
  ASSERT_OK(noli_sim_clone(world.sim, world.context, &clone));
  ASSERT_OK(noli_sim_create(world.context, &world.def, &resumed));
  ASSERT_OK(noli_sim_create(world.context, &world.def, &loaded));
  ASSERT_OK(noli_sim_load_state(resumed, bytes, size));
  ASSERT_OK(noli_checkpoint_load(world.context, loaded, "sticking.h5"));
  assert_same(world.sim, clone);
  assert_same(world.sim, resumed);
  assert_same(world.sim, loaded);
  for (int i = 0; i < 10; i++) {
    world_step(&world);
    ASSERT_OK(noli_sim_step(clone, NULL));
    ASSERT_OK(noli_sim_step(resumed, NULL));
    ASSERT_OK(noli_sim_step(loaded, NULL));
  }
  assert_same(world.sim, clone);
  assert_same(world.sim, resumed);
  assert_same(world.sim, loaded);

  // the start has no slips
  ASSERT_OK(noli_sim_reset(world.sim));
  assert_true(world.sim->state.sizes.n_slips == 0);
  noli_sim_destroy(&clone);
  noli_sim_destroy(&resumed);
  noli_sim_destroy(&loaded);
  free(bytes);
  world_done(&world);
}

// Other bodies come and go, which renumbers vertices and half-spaces.
static void a_hold_survives_other_bodies(void** state) {
  (void)state;
  for (int board = 0; board < 2; board++) {
    World world = world_new(1);
    world_add(&world, make_box(&world, 0.03, 0.03, 0.03, 1), (double[]){1.0, 9.0, 0.0});
    World held = block_on_slope((Way)PLAIN, 1.05 * TANGENT, board == 1);
    for (int32_t b = 0; b < held.def.n_bodies; b++) {
      int32_t index = world.def.n_bodies++;
      world.body[index] = held.body[b];
      snprintf(world.name[index], sizeof world.name[index], "held%d", b);
    }
    world.plane[0] = held.plane[0];
    NoliBodyDef body = world.body[0];
    int32_t n_bodies = world.def.n_bodies;
    held.def.n_bodies = n_bodies;
    world.def = held.def;
    world.def.contact_distance = (NoliScaled){1.5e-4, NOLI_ABSOLUTE};
    world.def.barrier_stiffness = 4e12; // else that of other bodies
    world_start(&world);
    steps(&world, 40);
    int64_t n = world.sim->state.sizes.n_slips;
    ASSERT_OK(noli_sim_remove_body(world.sim, 0));
    assert_true(world.sim->state.sizes.n_slips == n);
    double then[3], now[3];
    world_centre(&world, 0, then);
    steps(&world, 10);
    world_centre(&world, 0, now);
    ASSERT_NEAR(now[0], then[0], 1e-10);
    body.name = "new";
    ASSERT_OK(noli_sim_add_body(world.sim, &body, NULL));
    steps(&world, 10);
    world_centre(&world, 0, now);
    world_centre(&world, 0, now);
    ASSERT_NEAR(now[0], then[0], 1e-10);
    assert_true(world.sim->state.sizes.n_slips == n);
    noli_sim_destroy(&world.sim);
    noli_mesh_destroy(world.context, &world.mesh[0]);
    test_context_done(&world.context);
    held.def.n_bodies = board + 1;
    world_done(&held);
  }
}

// The contacts of a block that holds balance its load with their elastic slips; those of one that
// slides have slid as far as the block, and their slip is the stick length.
static void contacts_tell_what_they_do(void** state) {
  (void)state;
  static const char* const models[] = {"ipc", "gcp", "implicit_surface", "ipc"};
  for (int k = 0; k < 8; k++) {
    bool slides = k % 2 == 1, board = k > 5;
    Way way = PLAIN;
    way.model = models[k / 2];
    way.method = k / 2 == 3 ? "implicit" : "lagged";
    double mu = (slides ? 0.5 : 1.25) * TANGENT, start[3], now[3], share = 0.0, held = 0.0;
    World world = block_on_slope(way, mu, board);
    int32_t n = 0, *sticking = NULL, n_told = 0, n_vertex = 0;
    const NoliContactInfo* contact = NULL;
    int64_t n_contact = 0;
    world_start(&world);
    world_centre(&world, 0, start);
    steps(&world, slides ? 11 : 60);
    world_centre(&world, 0, now);
    ASSERT_OK(noli_sim_contacts(world.sim, &contact, &n_contact));
    for (int64_t i = 0; i < n_contact; i++) {
      const NoliContactInfo* c = &contact[i];
      double slip = noli_norm3(noli_load3(c->slip)), y = fmin(slip / STICK_LENGTH, 1.0);
      double friction = noli_norm3(noli_load3(c->friction_force));
      if (c->sticking == NOLI_STICKING_NONE) {
        assert_true(slip == 0.0 && c->slid == 0.0);
        continue;
      }
      n_told++;
      assert_int_equal(c->sticking, slides ? NOLI_STICKING_SLIDING : NOLI_STICKING_HELD);
      held += mu * noli_norm3(noli_load3(c->normal_force)) * (2.0 * y - y * y);
      share += friction;
      if (slides) {
        // a slip leaves out what surfaces that turn move it by (stick.h), on triangles
        ASSERT_NEAR(slip, STICK_LENGTH, (board ? 0.1 : 1e-3) * STICK_LENGTH);
        // what lands on a board touches it and leaves it again, and a new contact has no path
        double moved = now[0] - start[0];
        ASSERT_NEAR(c->slid, moved, (board ? 0.3 : 2e-2) * moved);
      }
    }
    print_message("%d: %d of %d contacts, %.6g N, by slips %.6g N, moved by %.4g m\n", k, n_told,
                  (int)n_contact, share, held, now[0] - start[0]);
    assert_true(n_told >= 4);
    assert_true(!slides || now[0] - start[0] > 1e-2);
    ASSERT_NEAR(held, share, 2e-2 * share);
    assert_int_equal(world.report.contacts_held + world.report.contacts_sliding,
                     world.sim->state.sizes.n_slips);

    // at vertices, of the block below only
    n = noli_sim_vertex_count(world.sim);
    double* slid = calloc((size_t)n, sizeof *slid);
    sticking = calloc((size_t)n, sizeof *sticking);
    ASSERT_OK(noli_sim_contact_slips(world.sim, slid, sticking));
    for (int32_t i = 0; i < n; i++) {
      if (sticking[i] == NOLI_STICKING_NONE) {
        assert_true(slid[i] == 0.0);
      } else {
        n_vertex++;
        assert_int_equal(sticking[i], slides ? NOLI_STICKING_SLIDING : NOLI_STICKING_HELD);
        assert_true(!slides || slid[i] > 0.7 * (now[0] - start[0]));
      }
    }
    assert_true(n_vertex >= 4);
    free(slid);
    free(sticking);
    world_done(&world);
  }
}

// Another time step leaves the slips and the length at which contacts yield, by default that of the
// first one; so do a clone, and bodies that are added, whose models are built anew.
static void a_hold_survives_another_time_step(void** state) {
  (void)state;
  World world = block_on_slope((Way)PLAIN, 1.05 * TANGENT, true);
  world.def.stick_length = (NoliScaled){0.0, NOLI_ABSOLUTE};
  // else the stiffness of the barrier changes with the time step, and the block jumps
  world.def.contact_distance = (NoliScaled){1.5e-4, NOLI_ABSOLUTE};
  world.def.barrier_stiffness = 4e12;
  double then[3], now[3];
  world_start(&world);
  steps(&world, 60);
  const NoliFrictionSettings* friction = &world.sim->model->problem.friction;
  double length = friction->stick_length;
  ASSERT_NEAR(length, friction->speed * 0.01, 1e-12 * length);
  world_centre(&world, 0, then);
  ASSERT_OK(noli_sim_set_time_step(world.sim, 0.002));
  steps(&world, 20);
  world_centre(&world, 0, now);
  ASSERT_NEAR(now[0], then[0], 1e-3 * length);
  assert_true(friction->stick_length == length);
  ASSERT_NEAR(friction->speed_scale, length / 0.002, 1e-12 * length / 0.002);
  assert_true(world.report.contacts_held > 0 && world.report.contacts_sliding == 0);

  // the clone goes on with the same bits
  NoliSim* clone = NULL;
  ASSERT_OK(noli_sim_clone(world.sim, world.context, &clone));
  assert_true(clone->model->problem.friction.stick_length == length);
  for (int i = 0; i < 5; i++) {
    world_step(&world);
    ASSERT_OK(noli_sim_step(clone, NULL));
  }
  assert_same(world.sim, clone);
  noli_sim_destroy(&clone);

  // another body
  NoliBodyDef body = world.body[0];
  body.name = "new";
  NoliMesh* mesh = make_box(&world, 0.03, 0.03, 0.03, 1);
  noli_mesh_transform(mesh, (double[]){1, 1, 1}, (double[]){0, 0, 0}, (double[]){1.0, 9.0, 0});
  body.mesh = mesh;
  ASSERT_OK(noli_sim_add_body(world.sim, &body, NULL));
  noli_mesh_destroy(world.context, &mesh);
  assert_true(world.sim->model->problem.friction.stick_length == length);
  steps(&world, 10);
  world_centre(&world, 0, now);
  ASSERT_NEAR(now[0], then[0], 1e-3 * length);
  world_done(&world);
}

// Copies of a batch have slips of their own, those of a simulation that is stepped alone; a copied
// state brings its slips with it, and a state that is set, or the start, has none.
static void copies_keep_their_own_slips(void** state) {
  (void)state;
  enum { COPIES = 3 };
  World world = block_on_slope((Way)PLAIN, 1.05 * TANGENT, true);
  NoliSim* alone[COPIES] = {NULL};
  NoliBatch* batch = NULL;
  world_start(&world);
  steps(&world, 7);
  int64_t n = world.sim->state.sizes.n_slips;
  uint64_t hash = noli_sim_state_hash(world.sim);
  assert_true(n > 0);
  ASSERT_OK(noli_batch_create(world.context, world.sim, COPIES, 2, &batch));
  for (int k = 0; k < COPIES; k++) {
    double gravity[3] = {(0.2 + 0.4 * k) * G_ALONG, -G_ACROSS, 0.0};
    ASSERT_OK(noli_sim_clone(world.sim, world.context, &alone[k]));
    assert_true(noli_sim_state_hash(noli_batch_sim(batch, k)) == hash);
    ASSERT_OK(noli_sim_set_gravity(alone[k], gravity));
    ASSERT_OK(noli_sim_set_gravity(noli_batch_sim(batch, k), gravity));
  }
  for (int i = 0; i < 8; i++) {
    ASSERT_OK(noli_batch_step(batch, NULL, NULL, NULL));
  }
  for (int k = 0; k < COPIES; k++) {
    for (int i = 0; i < 8; i++) {
      ASSERT_OK(noli_sim_step(alone[k], NULL));
    }
    assert_true(alone[k]->state.sizes.n_slips > 0);
    assert_same(alone[k], noli_batch_sim(batch, k));
    for (int l = 0; l < k; l++) {
      assert_non_null(noli_sim_state_difference(alone[k], alone[l]));
    }
  }

  // one slip in the last bit makes another state
  hash = noli_sim_state_hash(alone[0]);
  double* slip = &alone[0]->state.slip[0];
  double kept = *slip;
  *slip = nextafter(kept, 1.0);
  assert_true(noli_sim_state_hash(alone[0]) != hash);
  *slip = kept;
  assert_true(noli_sim_state_hash(alone[0]) == hash);

  // copies, states that are set, the start
  NoliSim* fresh = NULL;
  ASSERT_OK(noli_sim_create(world.context, &world.def, &fresh));
  assert_true(fresh->state.sizes.n_slips == 0);
  ASSERT_OK(noli_sim_copy_state(fresh, alone[0]));
  assert_same(alone[0], fresh);
  noli_sim_destroy(&fresh);
  size_t size = 3 * sizeof(double) * (size_t)noli_sim_vertex_count(alone[0]);
  double *x = malloc(size), *v = malloc(size);
  memcpy(x, noli_sim_positions(alone[0]), size);
  memcpy(v, noli_sim_velocities(alone[0]), size);
  ASSERT_OK(noli_sim_set_state(alone[0], x, v));
  assert_true(alone[0]->state.sizes.n_slips == 0);
  ASSERT_OK(noli_batch_reset(batch, NULL));
  assert_true(noli_batch_sim(batch, 1)->state.sizes.n_slips == 0);
  free(x);
  free(v);
  for (int k = 0; k < COPIES; k++) {
    noli_sim_destroy(&alone[k]);
  }
  noli_batch_destroy(&batch);
  world_done(&world);
}

// What slides has the same friction with both laws.
static void a_sliding_block_is_that_of_coulomb(void** state) {
  (void)state;
  static const char* const methods[] = {"lagged", "implicit"};
  for (int m = 0; m < 2; m++) {
    double speed[2], way[2];
    for (int k = 0; k < 2; k++) {
      World world = block_on_slope((Way)PLAIN, 0.5 * TANGENT, false);
      double centre[3];
      world_use_friction(&world, methods[m]);
      world.def.friction_law = k == 0 ? "velocity" : "stick";
      world_start(&world);
      steps(&world, 50);
      world_centre(&world, 0, centre);
      speed[k] = speed_along(&world);
      way[k] = centre[0];
      if (k == 1) {
        assert_true(world.report.contacts_sliding > 0);
        ASSERT_NEAR(world.report.slid, centre[0], 2e-2 * centre[0]);
      }
      world_done(&world);
    }
    ASSERT_NEAR(speed[1], speed[0], 2e-3 * speed[0]);
    ASSERT_NEAR(way[1], way[0], 2e-3 * way[0]);
  }
}

// The static coefficient holds in full, and motion has the dynamic one.
static void a_static_coefficient_holds(void** state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    World world = block_on_slope((Way)PLAIN, 0.5 * TANGENT, false);
    world.def.static_friction = (k == 0 ? 1.02 : 0.9) * TANGENT;
    world.def.stribeck_speed = (NoliScaled){0.1, NOLI_ABSOLUTE};
    world.body[0].velocity[0] = -0.3; // it comes to rest before it may slide down
    world_start(&world);
    steps(&world, 100);
    if (k == 0) {
      ASSERT_NEAR(speed_along(&world), 0.0, STILL);
    } else {
      ASSERT_AT_LEAST(speed_along(&world), 0.3);
    }
    world_done(&world);
  }
}

// Viscosity resists the speed, v' = a - k v, and does not act on what is elastic: a block that
// slides approaches a / k, and one that sticks does so with the same slip.
static void viscosity_resists_the_speed(void** state) {
  (void)state;
  static const Way ways[] = {
      PLAIN,
      {NULL, "implicit", "ipc", "backward_euler", NOLI_FRICTION_AUTOMATIC},
      {NULL, "implicit", "gcp", "backward_euler", NOLI_FRICTION_AUTOMATIC},
  };
  double viscosity = 0.3, k = viscosity * G_ACROSS, a = G_ALONG - 0.5 * TANGENT * G_ACROSS;
  for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
    World world = block_on_slope(ways[w], 0.5 * TANGENT, false);
    world.def.viscosity = viscosity;
    world_start(&world);
    steps(&world, 100);
    double h = noli_sim_time(world.sim) / 100.0, want = a / k * (1.0 - pow(1.0 + k * h, -100.0));
    ASSERT_NEAR(speed_along(&world), want, 0.01 * want);
    world_done(&world);

    double stored[2];
    for (int viscous = 0; viscous < 2; viscous++) {
      world = block_on_slope(ways[w], 1.25 * TANGENT, false);
      world.def.viscosity = viscous == 1 ? viscosity : 0.0;
      world_start(&world);
      steps(&world, 100);
      ASSERT_NEAR(speed_along(&world), 0.0, STILL);
      stored[viscous] = world.report.friction_stored;
      world_done(&world);
    }
    ASSERT_NEAR(stored[1], stored[0], 1e-3 * stored[0]);
  }
}

// What the law lacks is refused.
static void what_does_not_stick_is_refused(void** state) {
  (void)state;
  World world = block_on_slope((Way)PLAIN, TANGENT, false);
  world.def.friction_law = "stuck";
  world_expect_refusal(&world, "\"stuck\"");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_block_on_a_slope_stands),
      cmocka_unit_test(a_block_slides_beyond_its_limit),
      cmocka_unit_test(a_grip_holds),
      cmocka_unit_test(a_grip_turns_a_full_circle),
      cmocka_unit_test(load_steps_have_friction_without_a_speed),
      cmocka_unit_test(a_divided_step_tells_of_all_its_parts),
      cmocka_unit_test(a_hold_is_resumed),
      cmocka_unit_test(fields_hold_slips),
      cmocka_unit_test(a_hold_survives_other_bodies),
      cmocka_unit_test(a_hold_survives_another_time_step),
      cmocka_unit_test(copies_keep_their_own_slips),
      cmocka_unit_test(contacts_tell_what_they_do),
      cmocka_unit_test(a_sliding_block_is_that_of_coulomb),
      cmocka_unit_test(a_static_coefficient_holds),
      cmocka_unit_test(viscosity_resists_the_speed),
      cmocka_unit_test(what_does_not_stick_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
