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
static inline double inertia(double L) {
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
    ASSERT_AT_MOST(rig->world.report.rigid_stretch, 1e-5);
  }
}


static void try(void** state) {
  (void)state;
  // falls onto a limit
  static const char* const solvers[] = {"projected_newton", "augmented_lagrangian", "implicit_newton"};
  static const char* const integrators[] = {"backward_euler", "bdf2", "tr_bdf2", "trapezoidal", "sdirk2", "quasi_static"};
  for (int s = 1; s < 3; s++)
  for (int i = 0; i < 6; i++) {
    for (int fast = 0; fast < 3; fast++) {
      double L = 0.5, h = fast == 2 ? 0.1 : 0.01;
      Rig* rig = rig_new(h, integrators[i]);
      rig->world.def.solver = solvers[s];
      int32_t bar = add_bar(rig, 0.0, L);
      NoliJointDef* hinge = add_hinge(rig, bar, NOLI_NULL_INDEX, 0.0);
      hinge->coordinate.lower = -0.7;
      hinge->coordinate.upper = 10; if (i==5) hinge->coordinate.stiffness = 0.5;
      rig->world.def.gravity[1] = -9.80665;
      if (fast && i < 5) { rig->world.body[bar].angular_velocity[2] = -20; rig->world.body[bar].velocity[1] = -20*0.25; }
      world_start(&rig->world);
      int64_t it = 0;
      double least = 0.0;
      int retries = 0;
      for (int n = 0; n < (i < 5 ? 1000 : 5); n++) {
        run(rig, 1);
        it += rig->world.report.newton_iterations;
        retries += rig->world.report.retries;
        least = fmin(least, joint_of(rig, 0)->coordinate[0]);
      }
      const NoliJointState* j = joint_of(rig, 0);
      double want = 9.80665 * 0.25 * cos(j->coordinate[0]);
      print_message("%s %s %d: q %.8f, least %.8f limit effort %.8f, weight %.8f rel %.1e; speed %.1e %.1f it retries %d; force %g %g torque %g\n", solvers[s], integrators[i], fast, j->coordinate[0], least, j->limit[0], want, j->limit[0]/want-1,
                    j->speed[0], (double)it / 1000, retries, j->force[0], j->force[1], j->torque[2]);
      world_done(&rig->world);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(try)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
