// Derivatives of runs by numbers of contact: both modes against each other and against central
// differences of runs, of several steps.
#include "gradient_runs.h"

typedef struct Case {
  const char* name;
  const char* integrator; // NULL: backward_euler
  const char* model;      // NULL: ipc
  int64_t n_steps;
  double friction;
  double speed[3];
  double offset;  // of the bodies, and of the floor
  double gap;     // m, at the start; 0: 1.5e-3, less than the range
  bool second;    // a second body, above the first one, which it hits
  double aside;   // m, of the second one
  bool plane;     // plane strain
  bool implicit;  // friction
  bool open;      // the floor is an obstacle of two triangles
  double pressed; // m/s, the second body moves down
  bool still;     // the first body is an obstacle
  bool driven;    // which moves
  bool rests;     // the potential acts at rest, too
  double own;     // m, distance of the pairs of the first body; 0: that of the scene
  bool force;     // the objective is the contact force of body0 over time
  bool convergent;
  NoliParameterDef parameter;
  double step;  // the largest of the differences; then a third and a tenth of it
  double error; // allowed, relative, with the best of them
} Case;

static NoliMesh* make_shape(World* world, bool plane) {
  NoliMesh* mesh = NULL;
  if (plane) {
    ASSERT_OK(noli_mesh_make_rectangle(world->context, 0.2, 0.1, 3, 2, &mesh));
  } else {
    ASSERT_OK(noli_mesh_make_box(world->context, (double[]){0.2, 0.1, 0.12}, (int32_t[]){2, 1, 1},
                                 false, &mesh));
  }
  return mesh;
}

static bool is_smooth(const Case* c) {
  return c->model != NULL && strcmp(c->model, "implicit_surface") == 0;
}

// Smooth surfaces: a box in the middle of a cell of a slab, so that no vertex passes an edge.
static NoliMesh* make_block(World* world, bool slab) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(slab ? noli_mesh_make_box(world->context, (double[]){0.9, 0.1, 0.9},
                                      (int32_t[]){3, 1, 3}, false, &mesh)
                 : noli_mesh_make_box(world->context, (double[]){0.1, 0.1, 0.06},
                                      (int32_t[]){1, 1, 1}, false, &mesh));
  return mesh;
}

static NoliMesh* make_floor(World* world) {
  NoliMesh* mesh = NULL;
  const double x[12] = {-3, 0, -3, -3, 0, 3, 3, 0, 3, 3, 0, -3};
  const int32_t tri[6] = {0, 1, 2, 0, 2, 3};
  ASSERT_OK(noli_mesh_create(world->context, 4, 0, 2, 0, 0, false, &mesh));
  memcpy(mesh->x, x, sizeof x);
  memcpy(mesh->tri, tri, sizeof tri);
  return mesh;
}

static void press(void* user, double t0, double t1, int32_t n_node, const int32_t* node,
                  const double* X, const double* x, double* target) {
  const double* speed = user;
  (void)node;
  (void)X;
  for (int32_t i = 0; i < 3 * n_node; i++) {
    target[i] = x[i] - (i % 3 == 1 ? *speed * (t1 - t0) : 0.0);
  }
}

static double stiffness_of(const Case* c) {
  return c->convergent ? 2e3 : is_smooth(c) ? 1e6 : c->model == NULL ? 2e6 : c->plane ? 1.0 : 0.02;
}

static World world_of(const Case* c) {
  World world = world_new(1);
  // slips of contacts with smooth surfaces are not differentiated
  world.def.friction_law = is_smooth(c) ? "velocity" : "stick";
  double gap = (c->gap > 0.0 ? c->gap : 1.5e-3) + 2.0 * c->offset;
  world.def.integrator = c->integrator != NULL ? c->integrator : "backward_euler";
  world.def.contact_model = c->model != NULL ? c->model : "ipc";
  world.def.time_step = 0.005;
  world.def.contact_distance = (NoliScaled){2e-3, false};
  world.def.barrier_stiffness = stiffness_of(c);
  world.def.contact_convergent = c->convergent;
  world.def.friction = c->friction;
  world.def.audit = "off";
  world_use_friction(&world, c->implicit ? "implicit" : "lagged");
  world.def.gcp.act_at_rest = c->rests;
  world.def.surface_radius = (NoliScaled){0.13, false};
  if (!c->open) {
    world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
    world.plane[0].contact_offset = c->offset;
  }
  for (int32_t b = 0; b < (c->second ? 2 : 1); b++) {
    double at[3] = {(0.03 + c->aside) * b, 0.05 + gap + (0.1 + gap + 1e-3) * b,
                    0.01 * b * !c->plane};
    bool smooth = is_smooth(c) && c->second;
    at[0] *= smooth ? 0.0 : 1.0;
    int32_t body =
        world_add(&world, smooth ? make_block(&world, b == 0) : make_shape(&world, c->plane), at);
    world.body[body].obstacle = c->still && b == 0;
    world.body[body].material.young = b == 0 ? 2e4 : 5e4;
    world.body[body].material.poisson = 0.3;
    world.body[body].material.density = 900;
    world.body[body].plane_strain = c->plane ? 0.1 : 0.0;
    world.body[body].contact_offset = c->offset;
    if (world.body[body].obstacle) {
      continue;
    }
    memcpy(world.body[body].velocity, c->speed, sizeof c->speed);
    world.body[body].velocity[0] *= smooth && b == 0 ? 0.0 : 1.0;
    world.body[body].velocity[1] *= b == 0 ? 1.0 : 2.0;
    world.body[body].angular_velocity[2] = 0.3;
    world.body[body].angular_velocity[1] = c->aside > 0.0 ? 2.0 * b : 0.0;
  }
  if (c->pressed > 0.0) {
    world_add_motion(&world, 1, press, (void*)(uintptr_t)&c->pressed);
  }
  if (c->driven) {
    NoliMotionDef* motion = world_add_motion(&world, 0, NULL, NULL);
    motion->name = "drive";
    memcpy(motion->velocity, (double[]){0.4, 0.05, 0.1}, sizeof motion->velocity);
  }
  if (c->open) {
    world_add_obstacle(&world, make_floor(&world), (double[]){0, 0, 0});
  }
  if (c->own > 0.0) {
    static NoliPairDef pairs[2];
    for (int32_t i = 0; i < 2; i++) {
      pairs[i] = noli_default_pair_def();
      pairs[i].a = 0;
      pairs[i].b = i + 1; // the ground is behind the bodies
      pairs[i].friction = c->friction;
      pairs[i].distance = (NoliScaled){c->own, false};
    }
    world.def.pairs = pairs;
    world.def.n_pairs = c->second ? 2 : 1;
  }
  return world;
}

static void compare(const Case* c) {
  World world = world_of(c);
  NoliGoalDef force = noli_default_goal_def();
  force.quantity = "contact_force";
  force.of = "body0";
  force.with = c->second ? "body1" : NULL;
  force.when = "over";
  force.weight = 1e-2;
  const GradientRun run = {.name = c->name,
                           .n_steps = c->n_steps,
                           .parameter = c->parameter,
                           .step = c->step,
                           .error = c->error,
                           .goal = c->force ? &force : NULL};
  compare_run(&world, &run);
}

#define DISTANCE                                                                                   \
  { .kind = "contact_distance" }
#define STIFFNESS                                                                                  \
  { .kind = "contact_stiffness" }
#define OFFSET(of_)                                                                                \
  { .kind = "contact_offset", .of = (of_) }

static void geometric_potential(void** state) {
  (void)state;
  static const Case cases[] = {
      {"gcp landing, range", .model = "gcp", .n_steps = 8, .speed = {0, -0.5, 0}, .gap = 2.5e-3,
       .parameter = DISTANCE, .step = 1e-7, .error = 1e-6},
      {"gcp landing, stiffness", .model = "gcp", .n_steps = 8, .speed = {0, -0.5, 0},
       .parameter = STIFFNESS, .step = 1e-5, .error = 1e-6},
      {"gcp landing, shape", .model = "gcp", .n_steps = 8, .speed = {0.2, -0.5, 0},
       .parameter = VERTICES("rest_position", "body0"), .step = 1e-7, .error = 1e-6},
      {"gcp sliding, friction", .model = "gcp", .n_steps = 8, .friction = 0.3,
       .speed = {0.5, -0.5, 0}, .parameter = {.kind = "friction"}, .step = 1e-5, .error = 1e-6},
      {"gcp sliding, young", .model = "gcp", .n_steps = 8, .friction = 0.3, .speed = {0.5, -0.5, 0},
       .parameter = {.kind = "young", .of = "body0"}, .step = 2, .error = 1e-6},
      {"gcp stack, shape", .model = "gcp", .n_steps = 8, .friction = 0.3, .second = true,
       .speed = {0.5, -0.5, 0}, .parameter = VERTICES("rest_position", "body0"), .step = 1e-7,
       .error = 1e-6},
      {"gcp stack, positions", .model = "gcp", .n_steps = 8, .friction = 0.3, .second = true,
       .speed = {0.5, -0.5, 0}, .parameter = VERTICES("initial_position", "body1"), .step = 1e-7,
       .error = 1e-6},
      {"gcp stack sdirk2, range", .integrator = "sdirk2", .model = "gcp", .n_steps = 8,
       .friction = 0.3, .second = true, .speed = {0.5, -0.5, 0}, .gap = 2.5e-3,
       .parameter = DISTANCE, .step = 1e-7, .error = 1e-6},
      {"gcp stack, shape, of a force", .model = "gcp", .n_steps = 8, .second = true,
       .speed = {0.5, -0.5, 0}, .force = true, .parameter = VERTICES("rest_position", "body1"),
       .step = 1e-7, .error = 1e-6},
      {"gcp plane, shape", .model = "gcp", .n_steps = 8, .friction = 0.3, .second = true,
       .plane = true, .speed = {0.5, -0.5, 0}, .parameter = VERTICES("rest_position", "body0"),
       .step = 1e-7, .error = 1e-6},
      {"gcp plane, shape, of a force", .model = "gcp", .n_steps = 8, .second = true, .plane = true,
       .speed = {0.5, -0.5, 0}, .force = true, .parameter = VERTICES("rest_position", "body1"),
       .step = 1e-7, .error = 1e-6},
      {"gcp open floor, friction", .model = "gcp", .n_steps = 8, .friction = 0.3, .open = true,
       .speed = {0.5, -0.5, 0}, .parameter = {.kind = "friction"}, .step = 1e-5, .error = 1e-6},
      {"gcp open floor, stiffness", .model = "gcp", .n_steps = 8, .friction = 0.3, .open = true,
       .speed = {0.5, -0.5, 0}, .parameter = STIFFNESS, .step = 1e-5, .error = 1e-6},
      {"gcp open floor, range", .model = "gcp", .n_steps = 8, .friction = 0.3, .open = true,
       .second = true, .gap = 2.5e-3, .speed = {0.5, -0.5, 0}, .parameter = DISTANCE, .step = 1e-7,
       .error = 1e-6},
      {"gcp open floor, shape", .model = "gcp", .n_steps = 8, .friction = 0.3, .open = true,
       .speed = {0.5, -0.5, 0}, .parameter = VERTICES("rest_position", "body0"), .step = 1e-7,
       .error = 1e-6},
      {"gcp acting at rest, shape", .model = "gcp", .n_steps = 8, .friction = 0.3, .rests = true,
       .second = true, .speed = {0.5, -0.5, 0}, .parameter = VERTICES("rest_position", "body1"),
       .step = 1e-7, .error = 1e-6},
      {"gcp implicit, friction", .model = "gcp", .n_steps = 8, .friction = 0.3, .second = true,
       .implicit = true, .speed = {0.5, -0.5, 0}, .parameter = {.kind = "friction"}, .step = 1e-5,
       .error = 1e-6},
      {"gcp implicit, shape", .model = "gcp", .n_steps = 8, .friction = 0.3, .second = true,
       .implicit = true, .speed = {0.5, -0.5, 0}, .parameter = VERTICES("rest_position", "body0"),
       .step = 1e-7, .error = 1e-6},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    compare(&cases[i]);
  }
}

// Weights of areas are constant, but for what changes areas or the contact distance.
static void convergent_contact(void** state) {
  (void)state;
#define CONVERGENT .convergent = true, .n_steps = 8, .friction = 0.3, .speed = { 0.5, -0.5, 0 }
  static const Case cases[] = {
      {"convergent sliding, stiffness", CONVERGENT, .parameter = STIFFNESS, .step = 1.0,
       .error = 1e-6},
      {"convergent stack, young", CONVERGENT, .second = true,
       .parameter = {.kind = "young", .of = "body0"}, .step = 2, .error = 1e-6},
      {"convergent stack, stiffness", CONVERGENT, .second = true, .parameter = STIFFNESS,
       .step = 1.0, .error = 1e-6},
      {"convergent implicit, friction", CONVERGENT, .second = true, .implicit = true,
       .parameter = {.kind = "friction"}, .step = 1e-5, .error = 1e-6},
      {"convergent plane, stiffness", CONVERGENT, .second = true, .plane = true,
       .parameter = STIFFNESS, .step = 1.0, .error = 1e-6},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    compare(&cases[i]);
  }
  static const struct {
    NoliParameterDef parameter;
    const char* words;
  } refused[] = {
      {DISTANCE, "contact.convergent also weights pairs by it"},
      {VERTICES("rest_position", "body0"), "has areas at rest that weight contact.convergent"},
      {OFFSET("body0"), "contact.convergent has no derivatives by offsets"},
  };
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    World world = world_of(&cases[0]);
    expect_refusal(&world, 2, &refused[i].parameter, refused[i].words);
  }
}

static void smooth_surfaces(void** state) {
  (void)state;
#define SMOOTH .model = "implicit_surface", .n_steps = 8, .friction = 0.3, .speed = { 0.5, -0.3, 0 }
  static const Case cases[] = {
      {"surface sliding, friction", SMOOTH, .parameter = {.kind = "friction"}, .step = 1e-5,
       .error = 1e-6},
      {"surface sliding, distance", SMOOTH, .parameter = DISTANCE, .step = 1e-7, .error = 1e-6},
      {"surface stack, stiffness", SMOOTH, .second = true, .parameter = STIFFNESS, .step = 1e2,
       .error = 1e-6},
      {"surface stack, shape", SMOOTH, .second = true,
       .parameter = VERTICES("rest_position", "body0"), .step = 1e-7, .error = 1e-6},
      {"surface stack, velocity", SMOOTH, .second = true,
       .parameter = {.kind = "initial_velocity", .of = "body1"}, .step = 1e-5, .error = 1e-6},
      {"surface stack, distance, of a force", SMOOTH, .second = true, .force = true,
       .parameter = DISTANCE, .step = 1e-7, .error = 1e-6},
      {"surface implicit, friction", SMOOTH, .second = true, .implicit = true,
       .parameter = {.kind = "friction"}, .step = 1e-5, .error = 1e-6},
      {"surface implicit, distance", SMOOTH, .second = true, .implicit = true,
       .parameter = DISTANCE, .step = 1e-7, .error = 1e-6},
      {"surface on an obstacle, velocity", SMOOTH, .second = true, .still = true,
       .parameter = {.kind = "initial_velocity", .of = "body1"}, .step = 1e-5, .error = 1e-6},
      {"surface on a driven obstacle, velocity", SMOOTH, .second = true, .still = true,
       .driven = true, .parameter = {.kind = "motion_velocity", .of = "drive"}, .step = 1e-5,
       .error = 1e-6},
      {"surface implicit on a driven obstacle, velocity", SMOOTH, .second = true, .still = true,
       .driven = true, .implicit = true, .parameter = {.kind = "motion_velocity", .of = "drive"},
       .step = 1e-5, .error = 1e-6},
      {"surface on an obstacle, its positions", SMOOTH, .second = true, .still = true,
       .parameter = VERTICES("initial_position", "body0"), .step = 1e-7, .error = 1e-6},
      {"surface implicit on an obstacle, its shape", SMOOTH, .second = true, .still = true,
       .implicit = true, .parameter = VERTICES("rest_position", "body0"), .step = 1e-7,
       .error = 1e-6},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    compare(&cases[i]);
  }
}

// ---- open sheets with smooth surfaces -----------------------------------------------------------

static int32_t add_sheet(World* world, double size, int32_t cells, const double at[3]) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_plane(world->context, size, size, cells, cells, &mesh));
  int32_t sheet = world_add(world, mesh, at);
  NoliBodyDef* body = &world->body[sheet];
  body->shell.thickness = 1e-3;
  body->material = (NoliMaterialDef){.law = "stvk", .young = 1e5, .poisson = 0.3, .density = 300.0};
  return sheet;
}

// A sheet falls onto a larger one that is held at its corners, and slides: a barrier acts between
// them.
static void meeting_sheets(World* world) {
  static const int32_t corners[4] = {0, 4, 20, 24};
  world->def.contact_model = "implicit_surface";
  world->def.contact_distance = (NoliScaled){4e-3, false};
  world->def.surface_radius = (NoliScaled){0.13, false};
  world->def.friction_law = "velocity";
  world->def.barrier_stiffness = 2e5;
  world->def.friction = 0.3;
  int32_t lower = add_sheet(world, 0.4, 4, (double[]){0, 0, 0});
  int32_t upper = add_sheet(world, 0.15, 2, (double[]){0.013, 1.5e-3, 0.007});
  NoliMotionDef* hold = world_add_motion(world, lower, NULL, NULL);
  hold->node = corners;
  hold->n_node = 4;
  memcpy(world->body[upper].velocity, (double[]){0.3, -0.6, 0.1}, 3 * sizeof(double));
  world->body[upper].angular_velocity[2] = 0.5;
}

static void meeting_sheets_implicit(World* world) {
  meeting_sheets(world);
  world_use_friction(world, "implicit");
}

// Another sheet has two layers that are close at rest.
static void meeting_near_layers(World* world) {
  const double x[18] = {0, 0, 0, 0, 0, 0.1, 0.1, 0, 0, 0, 5e-4, 0, 0, 5e-4, 0.1, 0.1, 5e-4, 0};
  const int32_t tri[6] = {0, 1, 2, 3, 4, 5};
  NoliMesh* mesh = NULL;
  meeting_sheets(world);
  ASSERT_OK(noli_mesh_create(world->context, 6, 0, 2, 0, 0, false, &mesh));
  memcpy(mesh->x, x, sizeof x);
  memcpy(mesh->tri, tri, sizeof tri);
  world->body[world_add(world, mesh, (double[]){5, 0, 0})].shell = world->body[1].shell;
}

static void open_sheets(void** state) {
  (void)state;
  static const GradientCase cases[] = {
      {"sheets, friction", meeting_sheets, NULL, 0.004, 8, {.kind = "friction"}, 1e-4, 1e-6},
      {"sheets, stiffness", meeting_sheets, NULL, 0.004, 8, STIFFNESS, 1e3, 1e-6},
      {"sheets, distance", meeting_sheets, NULL, 0.004, 8, DISTANCE, 1e-7, 1e-6},
      {"sheets, velocity", meeting_sheets, NULL, 0.004, 8, OF("initial_velocity", "body1"), 1e-5,
       1e-6},
      {"sheets, shape", meeting_sheets, NULL, 0.004, 8, VERTICES("rest_position", "body0"), 1e-7,
       1e-6},
      {"sheets, young", meeting_sheets, NULL, 0.004, 8, OF("young", "body0"), 10, 1e-6},
      {"sheets implicit, friction",
       meeting_sheets_implicit,
       NULL,
       0.004,
       8,
       {.kind = "friction"},
       1e-4,
       1e-6},
      {"sheets implicit, distance", meeting_sheets_implicit, NULL, 0.004, 8, DISTANCE, 1e-7, 1e-6},
      {"sheets implicit, shape", meeting_sheets_implicit, NULL, 0.004, 8,
       VERTICES("rest_position", "body1"), 1e-7, 1e-6},
  };
  COMPARE(cases);
}

// Where the boxes meet: of the upper and of the lower one.
static const int32_t lower_edge[2] = {0, 1}, upper_edge[2] = {10, 11};

static void numbers_of_the_barrier(void** state) {
  (void)state;
  static const Case cases[] = {
      {"landing, distance", .n_steps = 12, .speed = {0, -0.5, 0}, .parameter = DISTANCE,
       .step = 1e-7, .error = 1e-6},
      {"landing, stiffness", .n_steps = 12, .speed = {0, -0.5, 0}, .parameter = STIFFNESS,
       .step = 100, .error = 1e-6},
      {"landing, distance, of a force", .n_steps = 12, .speed = {0, -0.5, 0}, .force = true,
       .parameter = DISTANCE, .step = 1e-7, .error = 1e-6},
      {"stack, stiffness, of a force", .n_steps = 8, .speed = {0, -0.5, 0}, .second = true,
       .force = true, .parameter = STIFFNESS, .step = 100, .error = 1e-6},
      {"stack, offset, of a force", .n_steps = 8, .offset = 2e-3, .speed = {0, -0.5, 0},
       .second = true, .force = true, .parameter = OFFSET("body1"), .step = 1e-7, .error = 1e-6},
      {"sliding, distance", .n_steps = 12, .friction = 0.3, .speed = {1, -0.1, 0},
       .parameter = DISTANCE, .step = 1e-7, .error = 1e-6},
      {"sliding, stiffness", .n_steps = 12, .friction = 0.3, .speed = {1, -0.1, 0},
       .parameter = STIFFNESS, .step = 100, .error = 1e-6},
      {"stack sdirk2, distance", .integrator = "sdirk2", .n_steps = 8, .friction = 0.3,
       .speed = {0.5, -0.2, 0}, .second = true, .parameter = DISTANCE, .step = 1e-7, .error = 1e-6},
      {"stack tr_bdf2, stiffness", .integrator = "tr_bdf2", .n_steps = 8, .friction = 0.3,
       .speed = {0.5, -0.2, 0}, .second = true, .parameter = STIFFNESS, .step = 100, .error = 1e-6},
      {"stack, offset of the floor", .n_steps = 8, .friction = 0.3, .speed = {0.5, -0.2, 0},
       .offset = 2e-3, .second = true, .parameter = OFFSET("ground"), .step = 1e-7, .error = 1e-6},
      {"stack, offset of a body", .n_steps = 8, .friction = 0.3, .speed = {0.5, -0.2, 0},
       .offset = 2e-3, .second = true, .parameter = OFFSET("body1"), .step = 1e-7, .error = 1e-6},
      {"own distances, distance", .n_steps = 10, .friction = 0.3, .speed = {0.5, -0.4, 0},
       .second = true, .own = 1.3e-3, .parameter = DISTANCE, .step = 1e-7, .error = 1e-6},
      {"own distances, stiffness", .integrator = "bdf2", .n_steps = 10, .friction = 0.3,
       .speed = {0.5, -0.4, 0}, .second = true, .own = 3e-3, .parameter = STIFFNESS, .step = 100,
       .error = 1e-6},
      {"own distances, distance, of a force", .n_steps = 10, .speed = {0, -0.5, 0}, .second = true,
       .own = 1.3e-3, .force = true, .parameter = DISTANCE, .step = 1e-7, .error = 1e-6},
      {"own distances implicit, distance", .n_steps = 8, .friction = 0.3, .speed = {0.5, -0.4, 0},
       .second = true, .own = 3e-3, .implicit = true, .parameter = DISTANCE, .step = 1e-7,
       .error = 1e-6},
      {"parallel edges, distance", .n_steps = 9, .friction = 1.0, .speed = {0, -0.2, 0.1},
       .gap = 5e-4, .second = true, .aside = 0.1703, .parameter = DISTANCE, .step = 1e-7,
       .error = 1e-6},
      {"parallel edges, offset", .n_steps = 9, .friction = 1.0, .speed = {0, -0.2, 0.1},
       .offset = 1e-3, .gap = 5e-4, .second = true, .aside = 0.1703, .parameter = OFFSET("body0"),
       .step = 1e-7, .error = 1e-6},
      {"parallel edges, shape", .n_steps = 9, .friction = 1.0, .speed = {0, -0.2, 0.1}, .gap = 5e-4,
       .second = true, .aside = 0.1703,
       .parameter = {.kind = "rest_position",
                     .of = "body1",
                     .scope = "vertices",
                     .index = lower_edge,
                     .n_index = 2},
       .step = 1e-7, .error = 1e-6},
      {"plane, distance", .n_steps = 8, .friction = 0.3, .speed = {0.5, -0.2, 0}, .second = true,
       .plane = true, .parameter = DISTANCE, .step = 1e-7, .error = 1e-6},
      {"implicit stack, distance", .integrator = "bdf2", .n_steps = 8, .friction = 0.3,
       .speed = {0.5, -0.2, 0}, .second = true, .implicit = true, .parameter = DISTANCE,
       .step = 1e-7, .error = 1e-6},
      {"implicit stack, stiffness", .integrator = "tr_bdf2", .n_steps = 8, .friction = 0.3,
       .speed = {0.5, -0.2, 0}, .second = true, .implicit = true, .parameter = STIFFNESS,
       .step = 100, .error = 1e-6},
      {"implicit stack, offset", .n_steps = 8, .friction = 0.3, .speed = {0.5, -0.2, 0},
       .offset = 2e-3, .second = true, .implicit = true, .parameter = OFFSET("body0"), .step = 1e-7,
       .error = 1e-6},
      {"implicit parallel edges, shape", .n_steps = 9, .friction = 1.0, .speed = {0, -0.2, 0.1},
       .gap = 5e-4, .second = true, .aside = 0.1703, .implicit = true,
       .parameter = {.kind = "rest_position",
                     .of = "body0",
                     .scope = "vertices",
                     .index = upper_edge,
                     .n_index = 2},
       .step = 1e-7, .error = 1e-6},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    compare(&cases[i]);
  }
}

// The least share of its motion that a step of the plain run does.
static double least_done(const Case* c) {
  World world = world_of(c);
  double least = 1.0;
  world_start(&world);
  for (int64_t step = 0; step < c->n_steps; step++) {
    world_step(&world);
    least = noli_smaller(least, world.report.motion_done);
  }
  world_done(&world);
  return least;
}

// Prescribed nodes that contact stops on their way, and that springs pull nearly to their targets;
// and those that are held where they are, because what they squeeze does not come to rest.
static void pulled_motions(void** state) {
  (void)state;
  static const Case cases[] = {
      {"pressed, young", .n_steps = 4, .friction = 0.3, .second = true, .pressed = 1.2,
       .parameter = {.kind = "young", .of = "body0"}, .step = 2, .error = 1e-6},
      {"pressed sdirk2, shape", .integrator = "sdirk2", .n_steps = 3, .friction = 0.3,
       .second = true, .pressed = 1.2, .parameter = VERTICES("rest_position", "body0"),
       .step = 1e-7, .error = 1e-6},
      {"pressed, positions", .n_steps = 4, .friction = 0.3, .second = true, .pressed = 1.2,
       .parameter = {.kind = "initial_position", .of = "body1"}, .step = 1e-7, .error = 1e-6},
      {"held, young", .n_steps = 3, .friction = 0.3, .second = true, .pressed = 60.0,
       .parameter = {.kind = "young", .of = "body0"}, .step = 2, .error = 1e-6},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    compare(&cases[i]);
    double done = least_done(&cases[i]);
    assert_true(cases[i].pressed > 10.0 ? done == 0.0 : done >= 0.999 && done < 1.0);
  }
}

// ---- refusals -----------------------------------------------------------------------------------

static void what_has_no_derivative_is_refused(void** state) {
  (void)state;
  const Case landing = {"landing", .n_steps = 12, .speed = {0, -1, 0}};
  World world = world_of(&landing);
  world.def.barrier_stiffness = 0.0;
  expect_refusal(&world, 1, &(NoliParameterDef)STIFFNESS, "set contact.stiffness to a number");
  world = world_of(&landing);
  expect_refusal(&world, 1, &(NoliParameterDef)OFFSET("floor"), "there is no entity \"floor\"");

  const Case equal = {"equal", .n_steps = 2, .own = 2e-3};
  world = world_of(&equal);
  expect_refusal(&world, 1, &(NoliParameterDef)DISTANCE, "equals that of the scene");

  // friction with a direction
  NoliPairDef pair = noli_default_pair_def();
  pair.b = 1;
  pair.friction = 0.3;
  pair.direction[0] = 1.0;
  world = world_of(&landing);
  world.def.pairs = &pair;
  world.def.n_pairs = 1;
  expect_refusal(&world, 1, &(NoliParameterDef)OFFSET("body0"), "depends on a direction");

  // the geometric potential
  const Case open = {"open", .model = "gcp", .n_steps = 2, .open = true};
  world = world_of(&open);
  world.def.contact_distance.value = 1e-5;
  expect_refusal(&world, 1, &(NoliParameterDef)VERTICES("rest_position", "body0"),
                 "or closed obstacles");
  world = world_of(&open);
  expect_refusal(&world, 1, &(NoliParameterDef)OFFSET("body0"),
                 "with the contact model \"ipc\" only");

  // smooth surfaces
  const Case smooth = {"smooth", .model = "implicit_surface", .n_steps = 2, .second = true,
                       .still = true};
  world = world_of(&smooth);
  world.def.surface_radius.value = 0.0;
  expect_refusal(&world, 1, &(NoliParameterDef)VERTICES("rest_position", "body1"),
                 "set contact.radius");
  world = world_of(&smooth);
  world.def.barrier_stiffness = 1.0;
  world.body[1].velocity[1] = -1.0;
  expect_refusal(&world, 1, &(NoliParameterDef){.kind = "gravity"}, "has become stiffer");

  // open sheets
  const GradientCase light = {"light", meeting_sheets, NULL, 0.004, 8, DISTANCE, 1e-7, 1e-6};
  world = built_world(&light);
  world.def.barrier_stiffness = 1e-3;
  expect_refusal(&world, 8, &(NoliParameterDef)DISTANCE, "as stiff as their masses ask");
  const GradientCase near = {"near", meeting_near_layers, NULL, 0.004, 8, DISTANCE, 1e-7, 1e-6};
  world = built_world(&near);
  expect_refusal(&world, 8, &(NoliParameterDef)VERTICES("rest_position", "body0"),
                 "so close at rest");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_of_the_barrier),
                                     cmocka_unit_test(geometric_potential),
                                     cmocka_unit_test(convergent_contact),
                                     cmocka_unit_test(smooth_surfaces),
                                     cmocka_unit_test(open_sheets),
                                     cmocka_unit_test(pulled_motions),
                                     cmocka_unit_test(what_has_no_derivative_is_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
