// What acts in the coordinates of joints, against closed forms.
#include "world.h"

#include "math/mat3.h"
#include "math/vec3.h"
#include "noli/output.h"

#define PI 3.14159265358979323846
enum { JOINTS = 8 };

typedef struct Rig {
  World world;
  NoliJointDef joint[JOINTS];
  double weight; // m/s^2, gravity
} Rig;

// Bodies of a scene without gravity.
static Rig* rig_new(double time_step, const char* integrator) {
  static Rig rig;
  rig.world = world_new(1);
  rig.world.def.joints = rig.joint;
  rig.world.def.time_step = time_step;
  rig.world.def.integrator = integrator;
  memset(rig.world.def.gravity, 0, sizeof rig.world.def.gravity);
  return &rig;
}

// A bar from 0 to L along x, 4 cm wide, of 1 kg.
static int32_t add_bar(Rig* rig, double from, double to) {
  World* world = &rig->world;
  int32_t body = world_add(world, make_box(world, to - from, 0.04, 0.04, 1),
                           (double[]){0.5 * (from + to), 0.0, 0.0});
  world->body[body].rigid.rigid = true;
  world->body[body].rigid.mass = 1.0;
  return body;
}

static NoliJointDef* add_hinge(Rig* rig, int32_t body, int32_t to, double x) {
  NoliJointDef* joint = &rig->joint[rig->world.def.n_joints++];
  *joint = noli_default_joint_def();
  joint->type = "hinge";
  joint->body = body;
  joint->to = to;
  joint->at[0] = x;
  return joint;
}

// Inertia of a bar of 1 kg about its end.
static double inertia(double L) {
  return (L * L + 0.04 * 0.04) / 12.0 + 0.25 * L * L;
}

static const NoliJointState* joint_of(const Rig* rig, int32_t index) {
  const NoliJointState* joints;
  int32_t n;
  ASSERT_OK(noli_sim_joints(rig->world.sim, &joints, &n));
  assert_in_range(index, 0, n - 1);
  return &joints[index];
}

static void run(Rig* rig, int n) {
  for (int i = 0; i < n; i++) {
    world_step(&rig->world);
    ASSERT_AT_MOST(rig->world.report.rigid_stretch, 1e-6);
  }
}

static void try(void** state) {
  (void)state;
  // torsional spring: q = q0 (cos - 1)
  static const char* const integrators[] = {"backward_euler", "bdf2", "tr_bdf2", "trapezoidal",
                                            "sdirk2"};
  for (int i = 0; i < 5; i++) {
    for (int n = 100; n <= 200; n *= 2) {
      double k = 20.0, rest = 0.5, L = 0.5;
      Rig* rig = rig_new(1.0 / n, integrators[i]);
      int32_t bar = add_bar(rig, 0.0, L);
      NoliJointDef* hinge = add_hinge(rig, bar, NOLI_NULL_INDEX, 0.0);
      hinge->coordinate.stiffness = k;
      hinge->coordinate.rest = rest;
      world_start(&rig->world);
      int64_t it = 0;
      for (int s = 0; s < n; s++) {
        run(rig, 1);
        it += rig->world.report.newton_iterations;
      }
      const NoliJointState* j = joint_of(rig, 0);
      double w = sqrt(k / inertia(L));
      print_message("%s %d: q %.8f, exact %.8f, error %.2e, speed %.6f exact %.6f, %.1f it; spring "
                    "%.4f force %g %g torque %g\n",
                    integrators[i], n, j->coordinate[0], rest * (1 - cos(w)),
                    j->coordinate[0] - rest * (1 - cos(w)), j->speed[0], rest * w * sin(w),
                    (double)it / n, j->spring[0], j->force[0], j->force[1], j->torque[2]);
      world_done(&rig->world);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(try)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
