// Derivatives of runs with shells and rods: both modes against each other and against central
// differences of runs.
#include "thin_bodies.h"

#include "math/rotation.h"

// ---- shells and rods ----------------------------------------------------------------------------

static void landing_sheet(World* world) {
  held_sheet(world);
  world->def.n_motions = 0;
  world_add_plane(world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  world->def.friction = 0.3;
  noli_mesh_transform(world->mesh[0], (double[]){1, 1, 1}, (double[]){0, 0, 0},
                      (double[]){0, -0.4485, 0});
  world->body[0].velocity[1] = -0.2;
}

// Its contact offset is half of its thickness.
static void thick_landing_sheet(World* world) {
  landing_sheet(world);
  world->body[0].contact_offset = NOLI_OFFSET_THICKNESS;
  noli_mesh_transform(world->mesh[0], (double[]){1, 1, 1}, (double[]){0, 0, 0},
                      (double[]){0, 1e-3, 0});
}

static void landing_plate(World* world) {
  landing_sheet(world);
  world->body[0].shell.bending_law = "plate";
}

static void shells_and_rods(void** state) {
  (void)state;
  static const GradientCase cases[] = {
      {"sheet, young", held_sheet, NULL, 0.005, 8, OF("young", "body0"), 100, 1e-6},
      {"sheet, young of elements", held_sheet, "bdf2", 0.005, 6, ELEMENTS("young", "body0"), 1000,
       1e-6},
      {"sheet, poisson", held_sheet, NULL, 0.005, 8, OF("poisson", "body0"), 1e-4, 1e-6},
      {"limited sheet, poisson of elements", limited_sheet, NULL, 0.005, 6,
       ELEMENTS("poisson", "body0"), 1e-4, 1e-6},
      {"woven sheet, young", woven_sheet, NULL, 0.005, 8, OF("young", "body0"), 100, 1e-6},
      {"woven sheet, poisson of elements", woven_sheet, NULL, 0.005, 6,
       ELEMENTS("poisson", "body0"), 1e-3, 1e-6},
      {"woven sheet, shape", woven_sheet, NULL, 0.005, 6, SHAPE("body0"), 1e-7, 1e-6},
      {"plate, young", plate, NULL, 0.005, 8, OF("young", "body0"), 100, 1e-6},
      {"plate, young of elements", plate, "sdirk2", 0.005, 6, ELEMENTS("young", "body0"), 1000,
       1e-6},
      {"plate, poisson", plate, NULL, 0.005, 8, OF("poisson", "body0"), 1e-4, 1e-6},
      {"plate, poisson of elements", plate, "bdf2", 0.005, 6, ELEMENTS("poisson", "body0"), 1e-3,
       1e-6},
      {"plate, thickness", plate, "tr_bdf2", 0.005, 6, OF("thickness", "body0"), 1e-7, 1e-6},
      {"plate, shape", plate, NULL, 0.005, 6, SHAPE("body0"), 1e-7, 1e-6},
      {"flat plate, shape", flat_plate, "bdf2", 0.005, 6, SHAPE("body0"), 1e-7, 1e-6},
      {"woven plate, young", woven_plate, "bdf2", 0.005, 8, OF("young", "body0"), 100, 1e-6},
      {"woven plate, young of elements", woven_plate, NULL, 0.005, 6, ELEMENTS("young", "body0"),
       1000, 1e-6},
      {"woven plate, poisson of elements", woven_plate, NULL, 0.005, 6,
       ELEMENTS("poisson", "body0"), 1e-3, 1e-6},
      {"woven plate, shape", woven_plate, "sdirk2", 0.005, 6, SHAPE("body0"), 1e-7, 1e-6},
      {"landing plate, shape", landing_plate, NULL, 0.004, 8, SHAPE("body0"), 1e-8, 1e-5},
      {"rod, young of elements", held_rod, NULL, 0.005, 8, ELEMENTS("young", "body0"), 1000, 1e-6},
      {"sheet, thickness", held_sheet, "bdf2", 0.005, 8, OF("thickness", "body0"), 1e-7, 1e-6},
      {"sheet, density of elements", held_sheet, NULL, 0.005, 6, ELEMENTS("density", "body0"), 0.3,
       1e-6},
      {"sheet, density", held_sheet, "sdirk2", 0.005, 6, OF("density", "body0"), 0.1, 1e-6},
      {"sheet, shape", held_sheet, NULL, 0.005, 6, SHAPE("body0"), 1e-7, 1e-6},
      {"sheet bdf2, shape", held_sheet, "bdf2", 0.005, 6, SHAPE("body0"), 1e-7, 1e-6},
      {"limited sheet, shape", limited_sheet, NULL, 0.005, 6, SHAPE("body0"), 1e-7, 1e-6},
      {"limited sheet, thickness", limited_sheet, NULL, 0.005, 6, OF("thickness", "body0"), 1e-7,
       1e-6},
      {"landing sheet, shape", landing_sheet, NULL, 0.004, 8, SHAPE("body0"), 1e-8, 1e-5},
      {"landing sheet, thickness", landing_sheet, NULL, 0.004, 8, OF("thickness", "body0"), 1e-8,
       1e-5},
      {"landing thick sheet, thickness", thick_landing_sheet, NULL, 0.004, 8,
       OF("thickness", "body0"), 1e-8, 1e-5},
      {"rod, young", held_rod, NULL, 0.005, 8, OF("young", "body0"), 100, 1e-6},
      {"rod, radius", held_rod, "bdf2", 0.005, 8, OF("radius", "body0"), 1e-7, 1e-6},
      {"rod, density", held_rod, NULL, 0.005, 8, OF("density", "body0"), 0.1, 1e-6},
      {"rod, shape", held_rod, NULL, 0.005, 6, SHAPE("body0"), 1e-7, 1e-6},
      {"rod sdirk2, shape", held_rod, "sdirk2", 0.005, 6, SHAPE("body0"), 1e-7, 1e-6},
      {"rod tr_bdf2, shape", held_rod, "tr_bdf2", 0.005, 6, SHAPE("body0"), 1e-7, 1e-6},
  };
  COMPARE(cases);
}

// ---- damping in proportion to stiffness ---------------------------------------------------------

static void damp(World* world, double time) {
  world->body[0].material.mass_damping = 0.0;
  world->body[0].material.damping = time;
}

static void damped_sheet(World* world) {
  held_sheet(world);
  damp(world, 0.01);
}

static void damped_stvk(World* world) {
  damped_sheet(world);
  world->body[0].material.law = "stvk";
}

static void damped_landing_sheet(World* world) {
  landing_sheet(world);
  damp(world, 0.003);
}

// Crumpled at the start, so that tangents are clamped.
static void damped_crumpled_sheet(World* world) {
  static double x0[3 * 15];
  damped_sheet(world);
  world->def.n_motions = 0;
  assert_int_equal(world->mesh[0]->n_vert, 15);
  for (int i = 0; i < 45; i++) {
    x0[i] = 0.9 * world->mesh[0]->x[i] + 0.004 * sin(7.0 * i);
  }
  world->body[0].x0 = x0;
}

static void damped_rod(World* world) {
  held_rod(world);
  damp(world, 0.01);
  world->body[0].velocity[1] = 0.4;
}

// Pressed together, so that tangents are clamped.
static void damped_pressed_rod(World* world) {
  static double x0[3 * 8];
  damped_rod(world);
  world->def.n_motions = 0;
  for (int i = 0; i < 24; i++) {
    x0[i] = 0.9 * world->mesh[0]->x[i] + 0.002 * sin(5.0 * i);
  }
  world->body[0].x0 = x0;
}

static void damped_straight_rod(World* world) {
  damped_rod(world);
  for (int i = 0; i < 8; i++) {
    world->mesh[0]->x[3 * i] = 0.02 * i;
    world->mesh[0]->x[3 * i + 1] = 0.5;
    world->mesh[0]->x[3 * i + 2] = 0.0;
  }
}

static void damped_plate(World* world) {
  plate(world);
  damp(world, 0.01);
}

static void damped_woven_plate(World* world) {
  woven_plate(world);
  damp(world, 0.01);
}

// Its hinges are among the folds of another body.
static void damped_sheet_beside_a_plate(World* world) {
  damped_sheet(world);
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_rectangle(world->context, 0.1, 0.1, 2, 2, &mesh));
  int32_t body = world_add(world, mesh, (double[]){0, 0.9, 0});
  world->body[body].shell.thickness = 2e-3;
  world->body[body].shell.bending_law = "plate";
}

static void damped_woven_sheet(World* world) {
  woven_sheet(world);
  damp(world, 0.01);
}

static void damped_limited_sheet(World* world) {
  limited_sheet(world);
  damp(world, 0.01);
}

static void damping_in_proportion_to_stiffness(void** state) {
  (void)state;
  static const GradientCase cases[] = {
      {"damped sheet, young", damped_sheet, NULL, 0.005, 8, OF("young", "body0"), 100, 1e-6},
      {"damped sheet, young of elements", damped_sheet, "bdf2", 0.005, 6,
       ELEMENTS("young", "body0"), 1000, 1e-6},
      {"damped sheet, poisson", damped_stvk, "sdirk2", 0.005, 6, OF("poisson", "body0"), 1e-4,
       1e-6},
      {"damped sheet, thickness", damped_sheet, "bdf2", 0.005, 8, OF("thickness", "body0"), 1e-7,
       1e-6},
      {"damped sheet, density", damped_stvk, "sdirk2", 0.005, 6, OF("density", "body0"), 0.1, 1e-6},
      {"damped sheet, shape", damped_sheet, NULL, 0.005, 6, SHAPE("body0"), 1e-7, 1e-6},
      {"damped stvk sheet, shape", damped_stvk, "bdf2", 0.005, 6, SHAPE("body0"), 1e-7, 1e-6},
      {"damped woven sheet, young", damped_woven_sheet, NULL, 0.005, 6, OF("young", "body0"), 100,
       1e-6},
      {"damped woven sheet, shape", damped_woven_sheet, "bdf2", 0.005, 5, SHAPE("body0"), 1e-7,
       1e-6},
      {"damped woven sheet, density", damped_woven_sheet, "sdirk2", 0.005, 6,
       OF("density", "body0"), 0.1, 1e-6},
      {"damped sheet with a limit, young", damped_limited_sheet, NULL, 0.005, 6,
       OF("young", "body0"), 100, 1e-6},
      {"damped sheet with a limit, shape", damped_limited_sheet, "bdf2", 0.005, 5, SHAPE("body0"),
       1e-7, 1e-6},
      {"damped plate, young", damped_plate, NULL, 0.005, 6, OF("young", "body0"), 100, 1e-6},
      {"damped plate, thickness", damped_plate, "bdf2", 0.005, 6, OF("thickness", "body0"), 1e-7,
       1e-6},
      {"damped plate, poisson", damped_plate, "sdirk2", 0.005, 6, OF("poisson", "body0"), 1e-4,
       1e-6},
      {"damped plate, shape", damped_plate, "bdf2", 0.005, 5, SHAPE("body0"), 1e-7, 1e-6},
      {"damped woven plate, young of elements", damped_woven_plate, NULL, 0.005, 6,
       ELEMENTS("young", "body0"), 1000, 1e-6},
      {"damped woven plate, shape", damped_woven_plate, NULL, 0.005, 5, SHAPE("body0"), 1e-7, 1e-6},
      {"damped sheet beside a plate, poisson", damped_sheet_beside_a_plate, "bdf2", 0.005, 5,
       OF("poisson", "body0"), 1e-4, 1e-6},
      {"damped sheet beside a plate, shape", damped_sheet_beside_a_plate, NULL, 0.005, 5,
       SHAPE("body0"), 1e-7, 1e-6},
      {"damped plate, positions", damped_plate, NULL, 0.005, 5,
       VERTICES("initial_position", "body0"), 1e-7, 1e-6},
      {"damped sheet, velocity", damped_sheet, "bdf2", 0.005, 6,
       VERTICES("initial_velocity", "body0"), 1e-5, 1e-6},
      {"crumpled sheet, young of elements", damped_crumpled_sheet, NULL, 0.005, 6,
       ELEMENTS("young", "body0"), 1000, 1e-6},
      {"crumpled sheet, positions", damped_crumpled_sheet, NULL, 0.005, 6,
       VERTICES("initial_position", "body0"), 1e-7, 1e-6},
      {"crumpled sheet, shape", damped_crumpled_sheet, NULL, 0.005, 6, SHAPE("body0"), 1e-7, 1e-6},
      {"landing damped sheet, young", damped_landing_sheet, NULL, 0.004, 8, OF("young", "body0"),
       100, 1e-5},
      {"damped rod, young", damped_rod, NULL, 0.005, 8, OF("young", "body0"), 100, 1e-6},
      {"damped rod, young of elements", damped_rod, "sdirk2", 0.005, 6, ELEMENTS("young", "body0"),
       1000, 1e-6},
      {"damped rod, radius", damped_rod, "bdf2", 0.005, 8, OF("radius", "body0"), 1e-7, 1e-6},
      {"damped rod, shape", damped_rod, NULL, 0.005, 6, SHAPE("body0"), 1e-7, 1e-6},
      {"damped rod, velocity", damped_rod, "bdf2", 0.005, 8, VERTICES("initial_velocity", "body0"),
       1e-5, 1e-6},
      {"pressed rod, young of elements", damped_pressed_rod, NULL, 0.005, 6,
       ELEMENTS("young", "body0"), 1000, 1e-6},
      {"pressed rod, positions", damped_pressed_rod, NULL, 0.005, 6,
       VERTICES("initial_position", "body0"), 1e-7, 1e-6},
      {"pressed rod, shape", damped_pressed_rod, NULL, 0.005, 6, SHAPE("body0"), 1e-7, 1e-6},
      {"straight rod, young", damped_straight_rod, NULL, 0.005, 8, OF("young", "body0"), 100, 1e-6},
  };
  COMPARE(cases);
}

// ---- rods with twist ----------------------------------------------------------------------------

static void lift(void* user, double t0, double t1, int32_t n, const int32_t* node, const double* X,
                 const double* x_t0, double* x_t1) {
  (void)user, (void)node, (void)X;
  for (int64_t i = 0; i < 3 * (int64_t)n; i++) {
    x_t1[i] = x_t0[i] + (i % 3 == 1 ? 5.0 * (t1 * t1 - t0 * t0) : 0.0);
  }
}

static void lifted_tape(World* world) {
  twisted_tape(world);
  world->motion[0].target = lift;
}

static void landing_tape(World* world) {
  flying_tape(world);
  world_add_plane(world, (double[]){0, 0.479, 0}, (double[]){0, 1, 0});
  world->def.friction = 0.3;
  world->body[0].velocity[1] = -0.3;
}

static void damped_tape(World* world) {
  twisted_tape(world);
  damp(world, 0.01);
}

static void damped_twisted_rod(World* world) {
  twisted_rod(world);
  damp(world, 0.01);
}

static void damped_flying_tape(World* world) {
  flying_tape(world);
  damp(world, 0.003);
}

static void damped_bent_tape(World* world) {
  bent_tape(world);
  damp(world, 0.01);
}

static void damped_lifted_tape(World* world) {
  lifted_tape(world);
  damp(world, 0.01);
}

static void damped_landing_tape(World* world) {
  landing_tape(world);
  damp(world, 0.003);
}

// A closed loop of ten segments that is bent out of its plane, with a tape's section.
static void damped_ring(World* world) {
  enum { N = 10 };
  static double x0[3 * N];
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_create(world->context, N, 0, 0, N, 0, false, &mesh));
  for (int32_t i = 0; i < N; i++) {
    double t = 2.0 * 3.14159265358979323846 * i / N;
    noli_store3(mesh->x + 3 * i, (NoliVec3){0.05 * cos(t), 0.05 * sin(t), 0.0});
    mesh->edge[2 * i] = i;
    mesh->edge[2 * i + 1] = (i + 1) % N;
  }
  int32_t body = world_add(world, mesh, (double[]){0, 0.5, 0});
  for (int32_t i = 0; i < N; i++) {
    double t = 2.0 * 3.14159265358979323846 * i / N;
    noli_store3(x0 + 3 * i,
                (NoliVec3){0.05 * cos(t), 0.5 + 0.045 * sin(t), 0.01 * cos(2.0 * t) * sin(t)});
  }
  world->body[body].x0 = x0;
  world->body[body].rod.radius = 2e-3;
  world->body[body].rod.twist = 1.0;
  world->body[body].rod.second_radius = 5e-4;
  world->body[body].rod.normal[2] = 1.0;
  world->body[body].material.young = 1e6;
  world->body[body].material.density = 900;
  damp(world, 0.01);
}

// Straight or nearly so at rest; bent at the start.
static void damped_straight_tape(World* world) {
  static double x0[3 * 8];
  damped_straight_rod(world);
  for (int i = 0; i < 8; i++) {
    double* x = world->mesh[0]->x + 3 * i;
    x[1] += 1e-9 * (i % 3);
    noli_store3(x0 + 3 * i,
                (NoliVec3){x[0], x[1] + (i > 1 ? 0.1 * x[0] * x[0] : 0.0), 0.002 * sin(3.0 * i)});
  }
  memcpy(x0, world->mesh[0]->x, 6 * sizeof *x0);
  world->body[0].x0 = x0;
  world->body[0].rod.twist = 1.0;
  world->body[0].rod.second_radius = 5e-4;
  world->body[0].rod.normal[2] = 1.0;
}

static void damped_rods_with_twist(void** state) {
  (void)state;
  static const GradientCase cases[] = {
      {"damped twisted rod, young", damped_twisted_rod, NULL, 0.005, 8, OF("young", "body0"), 100,
       1e-6},
      {"damped tape, young of elements", damped_tape, "bdf2", 0.005, 6, ELEMENTS("young", "body0"),
       1000, 1e-6},
      {"damped tape, poisson", damped_flying_tape, "sdirk2", 0.005, 6, OF("poisson", "body0"), 1e-3,
       1e-6},
      {"damped tape, density", damped_tape, "sdirk2", 0.005, 6, OF("density", "body0"), 0.1, 1e-6},
      {"damped twisted rod, shape", damped_twisted_rod, NULL, 0.005, 6, SHAPE("body0"), 1e-7, 1e-6},
      {"damped flying tape, shape", damped_flying_tape, "sdirk2", 0.005, 6, SHAPE("body0"), 1e-7,
       1e-6},
      {"damped bent tape, shape", damped_bent_tape, "bdf2", 0.005, 6, SHAPE("body0"), 1e-7, 1e-6},
      {"damped bent tape, positions", damped_bent_tape, NULL, 0.005, 6,
       VERTICES("initial_position", "body0"), 1e-7, 1e-6},
      {"damped flying tape, velocity", damped_flying_tape, "bdf2", 0.005, 8,
       VERTICES("initial_velocity", "body0"), 1e-5, 1e-6},
      {"damped lifted tape, gravity",
       damped_lifted_tape,
       NULL,
       0.005,
       8,
       {.kind = "gravity"},
       1e-3,
       1e-6},
      {"damped twisted rod, radius", damped_twisted_rod, "bdf2", 0.005, 8, OF("radius", "body0"),
       1e-7, 1e-6},
      {"damped flying tape, radius", damped_flying_tape, NULL, 0.005, 8, OF("radius", "body0"),
       1e-7, 1e-6},
      {"damped bent tape, radius", damped_bent_tape, "sdirk2", 0.005, 6, OF("radius", "body0"),
       1e-6, 1e-6},
      {"damped ring, young", damped_ring, NULL, 0.005, 8, OF("young", "body0"), 100, 1e-6},
      {"damped ring, shape", damped_ring, "bdf2", 0.005, 5, SHAPE("body0"), 1e-7, 1e-6},
      {"damped ring, radius", damped_ring, "sdirk2", 0.005, 5, OF("radius", "body0"), 1e-7, 1e-6},
      {"damped straight tape, young", damped_straight_tape, NULL, 0.005, 8, OF("young", "body0"),
       100, 1e-6},
      {"damped straight tape, shape", damped_straight_tape, NULL, 0.005, 5, SHAPE("body0"), 1e-7,
       1e-6},
      {"damped straight tape, radius", damped_straight_tape, "bdf2", 0.005, 6,
       OF("radius", "body0"), 1e-7, 1e-6},
      {"damped flying tape tr_bdf2, shape", damped_flying_tape, "tr_bdf2", 0.005, 6, SHAPE("body0"),
       1e-7, 1e-6},
      {"damped flying tape tr_bdf2, radius", damped_flying_tape, "tr_bdf2", 0.005, 6,
       OF("radius", "body0"), 1e-7, 1e-6},
      {"damped landing tape, friction",
       damped_landing_tape,
       NULL,
       0.004,
       10,
       {.kind = "friction"},
       1e-5,
       1e-5},
      {"damped landing tape, velocity", damped_landing_tape, NULL, 0.004, 10,
       OF("initial_velocity", "body0"), 1e-5, 1e-5},
  };
  COMPARE(cases);
}

// Its contact offset is its radius.
static void thick_landing_tape(World* world) {
  landing_tape(world);
  world->body[0].contact_offset = NOLI_OFFSET_THICKNESS;
  noli_mesh_transform(world->mesh[0], (double[]){1, 1, 1}, (double[]){0, 0, 0},
                      (double[]){0, 2e-3, 0});
}

static void rods_with_twist(void** state) {
  (void)state;
  static const GradientCase cases[] = {
      {"twisted rod, young", twisted_rod, NULL, 0.005, 8, OF("young", "body0"), 100, 1e-6},
      {"twisted tape, young", twisted_tape, "bdf2", 0.005, 8, OF("young", "body0"), 100, 1e-6},
      {"twisted tape, young of elements", twisted_tape, NULL, 0.005, 6, ELEMENTS("young", "body0"),
       1000, 1e-6},
      {"twisted tape, poisson", flying_tape, "sdirk2", 0.005, 6, OF("poisson", "body0"), 1e-3,
       1e-5},
      {"twisted rod, density of elements", twisted_rod, NULL, 0.005, 6,
       ELEMENTS("density", "body0"), 1.0, 1e-6},
      {"twisted tape, density", twisted_tape, "sdirk2", 0.005, 6, OF("density", "body0"), 0.1,
       1e-6},
      {"twisted rod, shape", twisted_rod, NULL, 0.005, 6, SHAPE("body0"), 1e-7, 1e-6},
      {"flying tape, shape", flying_tape, "sdirk2", 0.005, 6, SHAPE("body0"), 1e-7, 1e-6},
      {"tape that starts bent, shape", bent_tape, "bdf2", 0.005, 6, SHAPE("body0"), 1e-7, 1e-6},
      {"twisted tape, positions", twisted_tape, NULL, 0.005, 6,
       VERTICES("initial_position", "body0"), 1e-7, 1e-6},
      {"flying tape, positions", flying_tape, "bdf2", 0.005, 8,
       VERTICES("initial_position", "body0"), 1e-7, 1e-6},
      {"flying tape, velocity", flying_tape, NULL, 0.005, 8, VERTICES("initial_velocity", "body0"),
       1e-5, 1e-6},
      {"flying tape tr_bdf2, velocity", flying_tape, "tr_bdf2", 0.005, 6,
       VERTICES("initial_velocity", "body0"), 1e-5, 1e-6},
      {"lifted tape, gravity", lifted_tape, NULL, 0.005, 8, {.kind = "gravity"}, 1e-3, 1e-6},
      {"twisted rod, radius", twisted_rod, NULL, 0.005, 8, OF("radius", "body0"), 1e-7, 1e-6},
      {"bent tape, radius", bent_tape, "bdf2", 0.005, 6, OF("radius", "body0"), 1e-7, 1e-6},
      {"flying tape tr_bdf2, radius", flying_tape, "tr_bdf2", 0.005, 6, OF("radius", "body0"), 1e-7,
       1e-6},
      {"landing tape, radius", thick_landing_tape, NULL, 0.004, 10, OF("radius", "body0"), 1e-8,
       1e-5},
      {"landing tape, friction", landing_tape, NULL, 0.004, 10, {.kind = "friction"}, 1e-5, 1e-5},
      {"landing tape, velocity", landing_tape, NULL, 0.004, 10, OF("initial_velocity", "body0"),
       1e-5, 1e-5},
  };
  COMPARE(cases);
}

// ---- motions that turn the sections of held segments --------------------------------------------

// Turns points about an axis through the held end.
static void turn_all(double angle, int32_t n, const double* from, double* to) {
  NoliVec3 pivot = {0.05, 0.5, 0.0}, axis = {0.3, 0.8, 0.52};
  NoliMat3 R = noli_rotation33(noli_scale3(angle, axis));
  for (int64_t i = 0; i < n; i++) {
    NoliVec3 arm = noli_sub3(noli_load3(from + 3 * i), pivot);
    noli_store3(to + 3 * i, noli_add3(pivot, noli_mul33_vec(&R, arm)));
  }
}

// From where they are, or from the rest shape, faster and faster.
static void whirl(void* user, double t0, double t1, int32_t n, const int32_t* node, const double* X,
                  const double* x_t0, double* x_t1) {
  (void)user, (void)node, (void)X;
  turn_all(20.0 * (t1 - t0) + 200.0 * (t1 * t1 - t0 * t0), n, x_t0, x_t1);
}

static void whirl_rest_shape(void* user, double t0, double t1, int32_t n, const int32_t* node,
                             const double* X, const double* x_t0, double* x_t1) {
  (void)user, (void)node, (void)t0, (void)x_t0;
  turn_all(20.0 * t1 + 200.0 * t1 * t1, n, X, x_t1);
}

static void whirled_tape(World* world) {
  twisted_tape(world);
  world->motion[0].target = whirl;
}

static void whirled_rod(World* world) {
  twisted_rod(world);
  world->motion[0].target = whirl_rest_shape;
}

static void damped_whirled_tape(World* world) {
  whirled_tape(world);
  damp(world, 0.01);
}

// Each vertex has places of its own, which do not say how the section turns.
static void follow_a_list(void* user, double t0, double t1, int32_t n, const int32_t* node,
                          const double* X, const double* x_t0, double* x_t1) {
  (void)user, (void)t0, (void)X, (void)x_t0;
  for (int64_t i = 0; i < n; i++) {
    double along = node[i] == 0 ? 0.0 : 0.02;
    noli_store3(x_t1 + 3 * i,
                (NoliVec3){0.05 - along * sin(10.0 * t1), 0.5 + along * cos(10.0 * t1), 0.3 * t1});
  }
}

static void listed_tape(World* world) {
  twisted_tape(world);
  world->motion[0].target = follow_a_list;
}

// Free at first: what turns then is where the fall has brought it.
static void late_whirl(World* world) {
  bent_tape(world);
  world->def.n_motions = 1;
  world->motion[0].target = whirl;
  world->motion[0].t_begin = 0.0125;
}

// It holds one end, but in a frame that spins.
static void spun_tape(World* world) {
  twisted_tape(world);
  memcpy(world->motion[0].spin, (double[]){5.0, 12.0, -9.0}, 3 * sizeof(double));
  memcpy(world->motion[0].pivot, (double[]){0.04, 0.52, 0.01}, 3 * sizeof(double));
  world->motion[0].velocity[1] = 0.3;
}

static void spun_whirl(World* world) {
  spun_tape(world);
  world->motion[0].target = whirl;
  world->motion[0].change = 0.1;
}

// Two motions move one vertex of the held segment each; the one with its first vertex turns it.
static void whirled_and_lifted_tape(World* world) {
  static const int32_t own[2] = {0, 1};
  whirled_tape(world);
  world->motion[0].node = own;
  world->motion[0].n_node = 1;
  NoliMotionDef* motion = world_add_motion(world, 0, lift, NULL);
  motion->node = own + 1;
  motion->n_node = 1;
}

static void motions_that_turn_sections(void** state) {
  (void)state;
  static const GradientCase cases[] = {
      {"whirled tape, young", whirled_tape, NULL, 0.005, 8, OF("young", "body0"), 1000, 1e-6},
      {"whirled tape, shape", whirled_tape, "bdf2", 0.005, 6, SHAPE("body0"), 1e-7, 1e-6},
      {"whirled tape, positions", whirled_tape, "sdirk2", 0.005, 6,
       VERTICES("initial_position", "body0"), 1e-7, 1e-6},
      {"listed tape, young", listed_tape, "bdf2", 0.005, 6, OF("young", "body0"), 1000, 1e-6},
      {"listed tape, radius", listed_tape, NULL, 0.005, 6, OF("radius", "body0"), 1e-7, 1e-6},
      {"listed tape, shape", listed_tape, NULL, 0.005, 6, SHAPE("body0"), 1e-7, 1e-6},
      {"late whirl, young", late_whirl, NULL, 0.005, 6, OF("young", "body0"), 1000, 1e-6},
      {"late whirl, density", late_whirl, NULL, 0.005, 6, OF("density", "body0"), 0.1, 1e-6},
      {"late whirl, gravity", late_whirl, "sdirk2", 0.005, 6, {.kind = "gravity"}, 1e-3, 1e-6},
      {"whirled tape, radius", whirled_tape, NULL, 0.005, 8, OF("radius", "body0"), 1e-7, 1e-6},
      {"whirled rod, shape", whirled_rod, NULL, 0.005, 6, SHAPE("body0"), 1e-7, 1e-6},
      {"whirled rod, radius", whirled_rod, "bdf2", 0.005, 6, OF("radius", "body0"), 1e-7, 1e-6},
      {"whirled rod, factor", whirled_rod, NULL, 0.005, 6, OF("motion", "motion 0"), 1e-5, 1e-6},
      {"damped whirled tape, shape", damped_whirled_tape, "bdf2", 0.005, 6, SHAPE("body0"), 1e-7,
       1e-6},
      {"damped whirled tape, spin", damped_whirled_tape, NULL, 0.005, 6,
       OF("motion_spin", "motion 0"), 1e-4, 1e-6},
      {"damped whirled tape tr_bdf2, shape", damped_whirled_tape, "tr_bdf2", 0.005, 6,
       SHAPE("body0"), 1e-7, 1e-6},
      {"damped whirled tape tr_bdf2, radius", damped_whirled_tape, "tr_bdf2", 0.005, 6,
       OF("radius", "body0"), 1e-7, 1e-6},
      {"damped whirled tape tr_bdf2, spin", damped_whirled_tape, "tr_bdf2", 0.005, 6,
       OF("motion_spin", "motion 0"), 1e-4, 1e-6},
      {"spun tape, spin", spun_tape, NULL, 0.005, 8, OF("motion_spin", "motion 0"), 1e-4, 1e-6},
      {"spun tape, spin, bdf2", spun_tape, "bdf2", 0.005, 6, OF("motion_spin", "motion 0"), 1e-4,
       1e-6},
      {"spun tape, velocity", spun_tape, "sdirk2", 0.005, 6, OF("motion_velocity", "motion 0"),
       1e-5, 1e-6},
      {"spun tape, shape", spun_tape, NULL, 0.005, 6, SHAPE("body0"), 1e-7, 1e-6},
      {"spun whirl, spin", spun_whirl, "bdf2", 0.005, 6, OF("motion_spin", "motion 0"), 1e-4, 1e-6},
      {"spun whirl, factor", spun_whirl, NULL, 0.005, 6, OF("motion", "motion 0"), 1e-5, 1e-6},
      {"spun whirl, shape", spun_whirl, "sdirk2", 0.005, 6, SHAPE("body0"), 1e-7, 1e-6},
      {"whirled and lifted, shape", whirled_and_lifted_tape, NULL, 0.005, 6, SHAPE("body0"), 1e-7,
       1e-6},
      {"whirled and lifted, radius", whirled_and_lifted_tape, "bdf2", 0.005, 6,
       OF("radius", "body0"), 1e-7, 1e-6},
      {"whirled and lifted, spin", whirled_and_lifted_tape, "tr_bdf2", 0.005, 6,
       OF("motion_spin", "motion 0"), 1e-4, 1e-6},
  };
  COMPARE(cases);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shells_and_rods), cmocka_unit_test(damping_in_proportion_to_stiffness),
      cmocka_unit_test(rods_with_twist), cmocka_unit_test(damped_rods_with_twist),
      cmocka_unit_test(motions_that_turn_sections)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
