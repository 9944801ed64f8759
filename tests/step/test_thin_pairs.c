// Every kind of thin body with every solver, integrator, friction and contact model (smooth
// surfaces, which take ten times as long, with every other integrator): it strikes a free solid
// without gravity. What is supported keeps momentum to rounding, gains no energy, has no
// intersection in any state and resumes from a file to the same bits, and friction takes the solid
// along; what is not supported is refused with a reason.
#include "world.h"

#include "math/vec3.h"
#include "noli/output.h"

#define COUNT(table) (int)(sizeof(table) / sizeof *(table))

enum { N_STEPS = 6, N_BEFORE = 3 };

// ---- bodies -------------------------------------------------------------------------------------

// A horizontal sheet.
static NoliMesh* make_sheet(const World* world, const char* pattern) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_sheet(world->context, 0.12, 0.1, 3, 3, pattern, &mesh));
  for (int32_t i = 0; i < mesh->n_vert; i++) {
    mesh->x[3 * i + 2] = mesh->x[3 * i + 1];
    mesh->x[3 * i + 1] = 0.0;
  }
  return mesh;
}

static NoliMesh* make_line(const World* world) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_line(world->context, 0.12, 6, &mesh));
  return mesh;
}

static NoliMesh* make_points(const World* world) {
  enum { N = 4 };
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_create(world->context, N, 0, 0, 0, N, false, &mesh));
  for (int32_t i = 0; i < N; i++) {
    noli_store3(mesh->x + 3 * i, noli_vec3(0.03 * i - 0.05, 0.001 * i, 0.02 * (i % 2)));
    mesh->point[i] = i;
  }
  return mesh;
}

static void add_cloth(World* world, double y) {
  int32_t body = world_add(world, make_sheet(world, "unstructured"), (double[]){0.0, y, 0.0});
  world->body[body].shell.thickness = 0.002;
  world->body[body].material.law = "neo_hookean";
}

static void add_plate(World* world, double y) {
  int32_t body = world_add(world, make_sheet(world, "alternating"), (double[]){0.0, y, 0.0});
  world->body[body].shell.thickness = 0.002;
  world->body[body].shell.bending_law = "plate";
  world->body[body].shell.limit = 1.2;
  world->body[body].material.law = "stvk";
  world->body[body].material.damping = 0.001;
}

static void add_woven(World* world, double y) {
  int32_t body = world_add(world, make_sheet(world, "diagonal"), (double[]){0.0, y, 0.0});
  world->body[body].shell.thickness = 0.002;
  world->body[body].shell.woven = true;
  world->body[body].shell.weft = 0.5;
}

static void add_balloon(World* world, double y) {
  static const NoliVolumeDef air = {
      .size = sizeof(NoliVolumeDef), .body = 1, .region = "cavity", .model = "ideal_gas"};
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_icosphere(world->context, 0.05, 2, &mesh));
  int32_t body = world_add(world, mesh, (double[]){0.0, y + 0.05, 0.0});
  world->body[body].shell.thickness = 0.002;
  world->body[body].material.law = "stvk";
  world->def.volumes = &air;
  world->def.n_volumes = 1;
}

static void add_rod(World* world, double y) {
  int32_t body = world_add(world, make_line(world), (double[]){0.0, y, 0.0});
  world->body[body].rod.radius = 0.002;
}

static void add_ribbon(World* world, double y) {
  int32_t body = world_add(world, make_line(world), (double[]){0.0, y, 0.0});
  world->body[body].rod.radius = 0.002;
  world->body[body].rod.second_radius = 0.001;
  world->body[body].rod.normal[2] = 1.0;
  world->body[body].rod.twist = 1.0;
}

static void add_points(World* world, double y) {
  int32_t body = world_add(world, make_points(world), (double[]){0.0, y, 0.0});
  world->body[body].point.radius = 0.002;
}

static const struct Kind {
  const char* name;
  void (*add)(World* world, double y);
  double half; // m, half its thickness
  bool closed;
} kinds[] = {{"cloth", add_cloth, 0.001, false},       {"plate", add_plate, 0.001, false},
             {"woven cloth", add_woven, 0.001, false}, {"balloon", add_balloon, 0.001, true},
             {"rod", add_rod, 0.002, false},           {"ribbon", add_ribbon, 0.002, false},
             {"points", add_points, 0.002, false}};

// ---- choices ------------------------------------------------------------------------------------

static const char* const solvers[] = {"projected_newton", "augmented_lagrangian",
                                      "implicit_newton"};
static const char* const integrators[] = {"backward_euler", "bdf2",    "trapezoidal",
                                          "sdirk2",         "tr_bdf2", "trapezoidal_decoupled"};
static const struct {
  const char* method;
  double coefficient;
} frictions[] = {{"lagged", 0.0}, {"lagged", 0.5}, {"implicit", 0.5}};
static const char* const models[] = {"ipc", "gcp", "implicit_surface"};

typedef struct Choice {
  int kind, solver, integrator, friction, model;
} Choice;

// A box whose top is at height 0, and a thin body just above that falls and slides.
static World strike(const Choice* choice) {
  const struct Kind* kind = &kinds[choice->kind];
  World world = world_new(1);
  bool thick = strcmp(models[choice->model], "ipc") == 0;
  bool smooth = strcmp(models[choice->model], "implicit_surface") == 0;
  world_add(&world, make_box(&world, 0.2, 0.2, 0.2, smooth ? 3 : 1), (double[]){0.0, -0.1, 0.0});
  world.body[0].material.young = 1e5;
  world.body[0].material.density = 300.0;
  kind->add(&world, 0.003 + (thick ? kind->half : 0.0));
  NoliBodyDef* thin = &world.body[1];
  thin->material.young = 1e6;
  thin->self_contact = false;
  thin->contact_offset = thick ? NOLI_OFFSET_THICKNESS : 0.0;
  noli_store3(thin->velocity, noli_vec3(0.4, -1.0, 0.1));
  world.def.audit = smooth ? "off" : "every_step"; // smooth surfaces may penetrate
  world.def.surface_radius = (NoliScaled){smooth ? 0.05 : 0.0, false};
  world.def.gravity[1] = 0.0;
  world.def.time_step = 0.002;
  world.def.contact_distance = (NoliScaled){2e-3, false};
  world.def.solver = solvers[choice->solver];
  world.def.integrator = integrators[choice->integrator];
  world.def.contact_model = models[choice->model];
  world.def.friction = frictions[choice->friction].coefficient;
  world.def.friction_method = frictions[choice->friction].method;
  world.def.max_iterations = 300;
  return world;
}

// Words of the reason why a choice is refused; NULL: it must run.
static const char* refusal_of(const Choice* choice) {
  const struct Kind* kind = &kinds[choice->kind];
  bool gcp = choice->model == 1, smooth = choice->model == 2;
  bool constraints = choice->solver == 1;
  bool flat = strcmp(kind->name, "rod") != 0 && strcmp(kind->name, "ribbon") != 0 &&
              strcmp(kind->name, "points") != 0;
  if (choice->friction == 2 && choice->solver != 2) {
    return "implicit friction needs the solver \"implicit_newton\"";
  }
  if ((gcp || smooth) && !flat) {
    return "has no inside";
  }
  if ((gcp || smooth) && constraints) {
    return "augmented_lagrangian";
  }
  if (constraints && choice->integrator == 5) {
    return "trapezoidal_decoupled";
  }
  return gcp && !kind->closed ? "needs closed oriented surfaces" : NULL;
}

static void blame(const Choice* choice, const char* what) {
  print_error("%s, %s, %s, %s friction %g, %s: %s\n", kinds[choice->kind].name,
              solvers[choice->solver], integrators[choice->integrator],
              frictions[choice->friction].method, frictions[choice->friction].coefficient,
              models[choice->model], what);
  fail();
}

// ---- one choice ---------------------------------------------------------------------------------

typedef struct Body {
  double mass;       // kg
  NoliVec3 momentum; // kg m/s
  double kinetic;    // J
} Body;

static Body measure(const World* world, int32_t body) {
  Body sum = {0};
  int32_t first, n;
  noli_sim_body_range(world->sim, body, &first, &n);
  for (int32_t i = first; i < first + n; i++) {
    double mass = noli_sim_masses(world->sim)[i];
    NoliVec3 v = noli_load3(noli_sim_velocities(world->sim) + 3 * (int64_t)i);
    sum.mass += mass;
    sum.momentum = noli_mul_add3(sum.momentum, mass, v);
    sum.kinetic += 0.5 * mass * noli_norm_sqr3(v);
  }
  return sum;
}

// Checks the momentum that friction has given to the box against that of the thin body at the
// start.
static void expect_friction(const Choice* choice, const Body* start, const Body* box) {
  double given = box->momentum.x / start->momentum.x, normal = -box->momentum.y;
  double along = hypot(box->momentum.x, box->momentum.z),
         mu = frictions[choice->friction].coefficient;
  double slack = 0.06 * noli_norm3(start->momentum);
  if (along > 1.1 * mu * normal + slack) {
    blame(choice, "friction is beyond the cone");
  }
  bool bounces = kinds[choice->kind].closed || strcmp(kinds[choice->kind].name, "points") == 0;
  if (mu > 0.0 && given < (bounces ? 0.15 : 0.85)) {
    blame(choice, "friction does not take the box along");
  }
  // what sticks to the top of the box, whose masses are at its corners, turns it as well
  double sticking = 1.0 / (1.0 + 1.5 * start->mass / box->mass);
  // where constraints stop a body within one step, BDF2, whose velocity is 3/2 of the last way less
  // 1/2 of the one before, may send it back with half of its velocity
  bool once = choice->solver == 1 && strcmp(integrators[choice->integrator], "bdf2") == 0;
  double most = once ? 1.5 * sticking : sticking;
  if (mu > 0.0 && !bounces && choice->model == 0 &&
      (given < sticking - 0.025 || given > most + 0.025)) {
    print_error("it has given %g of its momentum, sticking %g\n", given, sticking);
    blame(choice, "the thin body does not stick");
  }
}

static void run(const Choice* choice, World* world) {
  bool resume = choice->friction > 0;
  World resumed = strike(choice);
  world_start(&resumed);
  Body start = measure(world, 1);
  int64_t n_contacts = 0;
  for (int step = 0; step < N_STEPS; step++) {
    if (step == N_BEFORE && resume) {
      ASSERT_OK(noli_checkpoint_save(world->context, world->sim, NULL, "checkpoint_thin.h5"));
      ASSERT_OK(noli_checkpoint_load(resumed.context, resumed.sim, "checkpoint_thin.h5"));
    }
    world_step(world);
    n_contacts += world->report.contacts;
    if (step >= N_BEFORE && resume) {
      world_step(&resumed);
      if (noli_sim_state_difference(world->sim, resumed.sim) != NULL) {
        blame(choice, "a resumed run has other bits");
      }
    }
  }
  world_done(&resumed);

  // integrators of second order may gain in impacts that steps do not resolve
  double most = choice->integrator == 0 ? 1.0 : 1.2;
  NoliVec3 lost = noli_sub3(noli_load3(world->report.momentum), start.momentum);
  if (!(noli_norm3(lost) <= 1e-8 * noli_norm3(start.momentum))) {
    blame(choice, "momentum changes");
  }
  if (!(world_total_energy(world) <= most * start.kinetic)) {
    blame(choice, "energy grows");
  }
  if (n_contacts == 0) {
    blame(choice, "there is no contact");
  }
  Body box = measure(world, 0);
  expect_friction(choice, &start, &box);
}

static void try_choice(const Choice* choice, int* n_run, int* n_refused) {
  World world = strike(choice);
  const char* refusal = refusal_of(choice);
  if (refusal != NULL) {
    world_expect_refusal(&world, refusal);
    (*n_refused)++;
    return;
  }
  world_start(&world);
  run(choice, &world);
  world_done(&world);
  (*n_run)++;
}

static void every_kind_with_every_choice(void** state) {
  (void)state;
  int n_run = 0, n_refused = 0;
  Choice choice;
  for (choice.model = 0; choice.model < COUNT(models); choice.model++) {
    for (choice.kind = 0; choice.kind < COUNT(kinds); choice.kind++) {
      for (choice.solver = 0; choice.solver < COUNT(solvers); choice.solver++) {
        int stride = choice.model == 2 ? 2 : 1;
        for (choice.integrator = 0; choice.integrator < COUNT(integrators);
             choice.integrator += stride) {
          for (choice.friction = 0; choice.friction < COUNT(frictions); choice.friction++) {
            try_choice(&choice, &n_run, &n_refused);
          }
        }
      }
    }
  }
  print_message("%d combinations run, %d refused\n", n_run, n_refused);
  assert_int_equal(n_run, 370);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_kind_with_every_choice)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
