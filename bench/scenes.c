#include "scenes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TETS "ipc/input/tetMeshes/"
#define TRIANGLES "ipc/input/triMeshes/"

static const double NO_TURN[3] = {0, 0, 0};
static const double ORIGIN[3] = {0, 0, 0};
static const double PI = 3.14159265358979323846;

static void material(World* world, const char* law, double density, double young, double poisson) {
  world->material =
      (NoliMaterialDef){.law = law, .young = young, .poisson = poisson, .density = density};
}

static void no_gravity(World* world) {
  memset(world->def.gravity, 0, sizeof world->def.gravity);
}

// ---- scenes -------------------------------------------------------------------------------------

static void dolphin_funnel(World* world) {
  material(world, "neo_hookean", 1000, 1e4, 0.4);
  no_gravity(world);
  world_shape(world, TETS "dolphin5K.msh", ORIGIN, NO_TURN, 1.0);
  world_turn(world, 2, 40.0);
  world_fit(world, 1.0);
  world_lift(world);
  world_still_mesh(world, TRIANGLES "funnel.obj", (double[3]){1.76, 0.86, 0.42}, 1.5,
                   (double[3]){0, 0, 90});
  world_drag_right(world, 0.04, 0.5, 1);
}

static void four_rods(World* world, const char* mesh) {
  no_gravity(world);
  for (int i = 0; i < 4; i++) {
    const double at[3] = {0, i < 2 ? -0.1 : 0.1, i % 2 == 0 ? -0.1 : 0.1};
    world_shape(world, mesh, at, NO_TURN, 1.0);
  }
  world_fit(world, 1.0);
  world_twist(world);
}

static void rods_twist(World* world) {
  material(world, "neo_hookean", 1000, 1e4, 0.4);
  four_rods(world, TETS "rod300x33.msh");
}

static void coarse_rods_twist(World* world) {
  material(world, "fixed_corotated", 1000, 1e4, 0.4);
  four_rods(world, TETS "rod.msh");
}

static void twist_one(World* world, const char* mesh, const double rotation_deg[3], double young) {
  material(world, "neo_hookean", 1000, young, 0.4);
  no_gravity(world);
  world_shape(world, mesh, ORIGIN, rotation_deg, 1.0);
  world_fit(world, 1.0);
  world_twist(world);
}

static void mat40_twist(World* world) {
  twist_one(world, TETS "mat40x40.msh", (double[3]){90, 0, 0}, 2e4);
}

static void mat100_twist(World* world) {
  twist_one(world, TETS "mat100x100t40.msh", (double[3]){90, 0, 0}, 2e4);
}

static void armadillo_twist(World* world) {
  twist_one(world, TETS "Armadillo13K.msh", (double[3]){0, 180, 90}, 5e3);
}

static void chain10(World* world) {
  material(world, "neo_hookean", 500, 1e7, 0.4);
  for (int i = 0; i < 10; i++) {
    world_shape(world, TETS "torus.msh", (double[3]){0, -0.51 * i, 0},
                (double[3]){0, i % 2 == 0 ? 90 : 0, 0}, 1.0);
  }
  world_still_mesh(world, TRIANGLES "torus.obj", (double[3]){0, 0.51, 0}, 1.0, NO_TURN);
}

static void roller_ball_of(World* world, const char* ball) {
  static const double at[4][3] = {{0.5, -0.5, 0}, {0.5, -0.5, 0.5}, {0, -1, 0.5}, {0.5, -1, 0.5}};
  static const double rate[4] = {0.5, -0.5, -0.5, 0.5};
  material(world, "neo_hookean", 1000, 1e4, 0.4);
  world->def.friction = 0.5;
  for (int i = 0; i < 4; i++) {
    world_shape(world, TRIANGLES "cylinder.obj", at[i], (double[3]){0, i < 2 ? 0 : 90, 0}, 2.0);
  }
  world_shape(world, ball, (double[3]){0.25, 0.25, 0.25}, NO_TURN, 1.0);
  world_fit(world, 2.0);
  world_half_space(world, (double[3]){0, -1.5, 0}, 0.0);
  for (int i = 0; i < 4; i++) {
    world_spin(world, i, i < 2 ? 0 : 2, rate[i] * PI);
  }
}

static void roller_ball(World* world) {
  roller_ball_of(world, TETS "sphere5K.msh");
}

static void small_roller_ball(World* world) {
  roller_ball_of(world, TETS "sphere1K.msh");
}

static void mat_knives(World* world) {
  material(world, "neo_hookean", 1000, 2e4, 0.4);
  world_shape(world, TETS "mat40x40.msh", (double[3]){0.5, 1, 0.1}, (double[3]){0, 0, 0.05}, 1.2);
  for (int i = 0; i < 9; i++) {
    bool front = i < 4;
    const double at[3] = {front ? 0.2 * (i + 1) : 0.1 + 0.2 * (i - 4), -0.1, front ? -0.7 : 0.3};
    world_shape(world, TRIANGLES "triangle.obj", at, (double[3]){0, front ? 0 : 180, 90}, 1.0);
  }
  world_fit(world, 1.0);
  world_half_space(world, (double[3]){0, -0.01, 0}, 0.0);
}

static void sphere_points(World* world) {
  double x[20 * 21][3];
  material(world, "neo_hookean", 1000, 1e4, 0.4);
  world_shape(world, TETS "sphere5K.msh", (double[3]){9.5, 3, 10}, NO_TURN, 5.0);
  for (int i = 0; i < 20 * 21; i++) {
    x[i][0] = i / 21;
    x[i][1] = 0.0;
    x[i][2] = i % 21;
  }
  world_points(world, x[0], 20 * 21);
  world_fit(world, 4.0);
}

// Friction iterates to convergence here; contact is a hundred times closer than elsewhere.
static void masonry_arch(World* world) {
  material(world, "fixed_corotated", 2300, 2e10, 0.2);
  world->def.friction = 0.5;
  world->def.friction_iterations = 0;
  world->def.contact_distance.value = 5e-8;
  world->def.friction_speed.value = 1e-5;
  world->def.tolerance.value = 1e-4;
  for (int i = 0; i < 2; i++) {
    world_shape(world, TRIANGLES "cube.obj", (double[3]){i == 0 ? -41 : 31, -11.4, -5}, NO_TURN,
                10.0);
  }
  for (int i = 1; i <= 25; i++) {
    char path[64];
    snprintf(path, sizeof path, TETS "arch/largeArch.%02d.msh", i);
    double x = (i - 13) / 10.0;
    world_shape(world, path, (double[3]){x, -fabs(x), 0}, NO_TURN, 1.0);
  }
  world_fit(world, 20.0);
  world_half_space(world, (double[3]){0, -0.001, 0}, 0.5);
}

static void cube_stack(World* world) {
  material(world, "fixed_corotated", 1000, 1e5, 0.4);
  for (int i = 0; i < 5; i++) {
    world_shape(world, TETS "cube.msh", (double[3]){0, 1.01 * i, 0}, NO_TURN, 1.0);
  }
  world_fit(world, 1.0);
  world_lift(world);
  world_half_space(world, (double[3]){0, 0.5, 0}, 0.0);
}

static void two_mats_fall(World* world) {
  material(world, "neo_hookean", 1000, 1e4, 0.4);
  for (int i = 0; i < 2; i++) {
    world_shape(world, TETS "mat40x40.msh", (double[3]){0, 1.01 * i, 0},
                (double[3]){90, 0, i == 0 ? 45 : -45}, 1.0);
  }
  world_fit(world, 1.0);
  world_lift(world);
  world_half_space(world, (double[3]){0, 0.5, 0}, 0.0);
}

// ---- table --------------------------------------------------------------------------------------

// clang-format off
static const Scene scenes[] = {
    {"10_cubeStack", "five cubes fall on a plane", cube_stack, 0.025, 200, false,
     {200, 3.5, 1.13, 3.06, 19, 25, 13}},
    {"videoExamples/chain10", "a chain of ten stiff rings", chain10, 0.04, 250, false,
     {250, 168.6, 116.79, 1.44, 9, 189, 47}},
    {"7_masonryArch", "25 stiff blocks held by friction", masonry_arch, 0.01, 2000, false,
     {24, 1163.6, 31.96, 36.42, 130, 38, 14}},
    {"tb1_diffDt/rodsTwist_E1e4_dt0.025", "four coarse rods twisted", coarse_rods_twist, 0.025, 240, false,
     {185, 362.7, 139.79, 2.59, 5, 321, 67}},
    {"tb1_diffDt/rodsTwist_E1e4_dt0.1", "the same in large steps", coarse_rods_twist, 0.1, 60, false,
     {60, 689.6, 148.32, 4.65, 10, 654, 61}},
    {"21_scalability/mat40x40_twist", "a mat twisted", mat40_twist, 0.04, 250, false,
     {48, 1322.5, 251.90, 5.25, 15, 53, 86}},
    {"21_scalability/mat100x100_twist", "a fine mat twisted", mat100_twist, 0.04, 250, false,
     {8, 6788.7, 1234.32, 5.50, 6, 0, 446}},
    {"21_scalability/armadillo13K_twist", "an armadillo twisted", armadillo_twist, 0.025, 400, false,
     {15, 3112.4, 778.17, 4.00, 4, 4, 335}},
    {"typical/sphere1K_DCORotCylinders", "a coarse ball pulled through rollers", small_roller_ball, 0.04, 250, false,
     {8, 4452.0, 174.61, 25.50, 67, 475, 71}},
    {"8_rollerBall", "a ball pulled through rollers by friction", roller_ball, 0.01, 1000, false,
     {15, 3472.0, 765.88, 4.53, 34, 66, 221}},
    {"2_matKnives", "a mat falls on blades", mat_knives, 0.04, 150, false,
     {7, 7313.4, 334.58, 21.86, 52, 135, 90}},
    {"2_spherePoints", "a ball falls on points", sphere_points, 0.04, 200, false,
     {6, 9802.4, 448.93, 21.83, 48, 35, 195}},
    {"typical/2matsFall", "two mats fall on edge", two_mats_fall, 0.025, 100, false,
     {6, 9734.3, 1424.63, 6.83, 17, 93, 137}},
    {"13_dolphinFunnel", "a dolphin dragged through a funnel", dolphin_funnel, 0.04, 800, true,
     {19, 2988.6, 562.18, 5.32, 19, 157, 239}},
    {"4_rodsTwist", "four fine rods twisted", rods_twist, 0.025, 4000, false,
     {9, 11378.3, 3792.96, 3.00, 3, 0, 1096}},
};
// clang-format on

int32_t scene_count(void) {
  return (int32_t)(sizeof scenes / sizeof scenes[0]);
}

const Scene* scene_at(int32_t index) {
  return &scenes[index];
}

const Scene* scene_find(const char* name) {
  for (int32_t i = 0; i < scene_count(); i++) {
    if (strcmp(scenes[i].name, name) == 0) {
      return &scenes[i];
    }
  }
  return NULL;
}

// The diagonal of the box around all bodies that deform, at rest: what the original's relative
// settings are multiples of.
static double deformable_diagonal(const World* world) {
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
  for (int32_t b = 0; b < world->def.n_bodies; b++) {
    for (int32_t i = 0; i < 3 * world->mesh[b]->n_vert && !world->body[b].obstacle; i++) {
      low[i % 3] = fmin(low[i % 3], world->mesh[b]->x[i]);
      high[i % 3] = fmax(high[i % 3], world->mesh[b]->x[i]);
    }
  }
  return sqrt((high[0] - low[0]) * (high[0] - low[0]) + (high[1] - low[1]) * (high[1] - low[1]) +
              (high[2] - low[2]) * (high[2] - low[2]));
}

static void make_absolute(NoliScaled* scaled, double length) {
  *scaled = (NoliScaled){scaled->value * length, false};
}

void scene_build(const Scene* scene, World* world) {
  world->def.time_step = scene->time_step;
  scene->build(world);
  if (world->problem[0] == '\0') {
    double length = deformable_diagonal(world);
    make_absolute(&world->def.contact_distance, length);
    make_absolute(&world->def.friction_speed, length);
    make_absolute(&world->def.tolerance, length);
  }
}
