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

// A bar along x, 4 cm wide, of 1 kg.
static int32_t add_bar(Rig* rig, double from, double to) {
  World* world = &rig->world;
  int32_t body = world_add(world, make_box(world, to - from, 0.04, 0.04, 1),
                           (double[]){0.5 * (from + to), 0.0, 0.0});
  world->body[body].rigid.rigid = true;
  world->body[body].rigid.mass = 1.0;
  return body;
}

static NoliJointDef* add_joint(Rig* rig, const char* type, int32_t body, int32_t to, double x) {
  NoliJointDef* joint = &rig->joint[rig->world.def.n_joints++];
  *joint = noli_default_joint_def();
  joint->type = type;
  joint->body = body;
  joint->to = to;
  joint->at[0] = x;
  return joint;
}

static NoliJointDef* add_hinge(Rig* rig, int32_t body, int32_t to, double x) {
  return add_joint(rig, "hinge", body, to, x);
}

#define L 0.5
#define GRAVITY 9.80665
// Inertia of a bar of 1 kg about its centre and about its end.
#define CENTRAL ((L * L + 0.04 * 0.04) / 12.0)
#define INERTIA (CENTRAL + 0.25 * L * L)

// An arm on a hinge with the world.
static Rig* arm_new(double time_step, const char* integrator, NoliCoordinateDef** coordinate) {
  Rig* rig = rig_new(time_step, integrator);
  int32_t bar = add_bar(rig, 0.0, L);
  *coordinate = &add_hinge(rig, bar, NOLI_NULL_INDEX, 0.0)->coordinate;
  return rig;
}

static void fall(Rig* rig) {
  rig->world.def.gravity[1] = -GRAVITY;
}

static void spin(Rig* rig, int32_t body, double speed) {
  rig->world.body[body].angular_velocity[2] = speed;
  rig->world.body[body].velocity[1] = speed * 0.5 * L;
}

static const NoliJointState* joint_of(const Rig* rig, int32_t index) {
  const NoliJointState* joints;
  int32_t n;
  ASSERT_OK(noli_sim_joints(rig->world.sim, &joints, &n));
  assert_in_range(index, 0, n - 1);
  return &joints[index];
}

static double place(const Rig* rig) {
  return joint_of(rig, 0)->coordinate[0];
}

static void run(Rig* rig, int n) {
  for (int i = 0; i < n; i++) {
    world_step(&rig->world);
    ASSERT_AT_MOST(rig->world.report.rigid_stretch, 2e-6);
  }
}

// ---- springs, dampers, armatures ----------------------------------------------------------------

static const struct {
  const char* name;
  double order;
} integrators[] = {
    {"backward_euler", 1}, {"sdirk2", 1}, {"bdf2", 2}, {"tr_bdf2", 2}, {"trapezoidal", 2}};
enum { N_INTEGRATORS = sizeof integrators / sizeof *integrators };

// The angle after a quarter of a second of a torsional oscillator, with an armature and a damper:
// J q'' + c q' + k (q - rest) = 0.
static double oscillate(const char* integrator, int n, double armature, double damping,
                        double* iterations) {
  double k = 20.0, rest = 0.4, t = 0.25, J = INERTIA + armature;
  NoliCoordinateDef* c;
  Rig* rig = arm_new(t / n, integrator, &c);
  c->stiffness = k;
  c->rest = rest;
  c->armature = armature;
  c->damping = damping;
  rig->world.def.tolerance = (NoliScaled){1e-8, NOLI_ABSOLUTE};
  world_start(&rig->world);
  for (int i = 0; i < n; i++) {
    run(rig, 1);
    *iterations += rig->world.report.newton_iterations / (double)n;
  }
  double decay = 0.5 * damping / J, w = sqrt(k / J - decay * decay);
  double want = rest * (1.0 - exp(-decay * t) * (cos(w * t) + decay / w * sin(w * t)));
  const NoliJointState* joint = joint_of(rig, 0);
  double error = fabs(joint->coordinate[0] - want);
  ASSERT_NEAR(joint->spring[0], -k * (joint->coordinate[0] - rest), 1e-9);
  ASSERT_NEAR(joint->damper[0], -damping * joint->speed[0], 1e-9);
  world_done(&rig->world);
  return error;
}

static void oscillators_swing(void** state) {
  (void)state;
  for (int i = 0; i < N_INTEGRATORS; i++) {
    for (int kind = 0; kind < 3; kind++) {
      double armature = kind == 1 ? 0.5 : 0.0, damping = kind == 2 ? 0.5 : 0.0, its = 0.0;
      double error[2];
      for (int fine = 0; fine < 2; fine++) {
        its = 0.0;
        error[fine] = oscillate(integrators[i].name, 50 << fine, armature, damping, &its);
      }
      double order = log2(error[0] / error[1]);
      print_message(
          "%s, armature %g, damping %g: off by %.2e and %.2e, order %.2f, %.1f iterations\n",
          integrators[i].name, armature, damping, error[0], error[1], order, its);
      ASSERT_NEAR(order, integrators[i].order, 0.4);
    }
  }
}

// ---- limits -------------------------------------------------------------------------------------

// An arm falls on a limit, with the speed of 10 m/s of its end and in steps ten times as long, too;
// it never passes it, and rests on it with the torque of its weight.
static void limits_hold(void** state) {
  (void)state;
  static const char* const solvers[] = {"projected_newton", "augmented_lagrangian",
                                        "implicit_newton"};
  for (int s = 0; s < 3; s++) {
    for (int way = 0; way < 8; way++) {
      double limit = way % 4 == 0 ? -0.7 : way % 4 == 1 ? -3.5 : way % 4 == 2 ? -7.0 : -1.2;
      double h = way < 4 ? 0.01 : 0.1, least = 0.0;
      NoliCoordinateDef* c;
      Rig* rig = arm_new(h, way % 2 == 0 ? "backward_euler" : "bdf2", &c);
      fall(rig);
      spin(rig, 0, -20.0);
      c->lower = limit;
      c->upper = 3.0;
      c->damping = 0.3;
      rig->world.def.solver = solvers[s];
      world_start(&rig->world);
      double its = 0;
      for (int n = 0; n < (way < 4 ? 1500 : 200); n++) {
        run(rig, 1);
        its += rig->world.report.newton_iterations;
        least = noli_smaller(least, place(rig));
      }
      const NoliJointState* joint = joint_of(rig, 0);
      print_message("%s, limit %g: least %.9g, rests at %.9g; effort off by %.1e; %g it\n",
                    solvers[s], limit, least, joint->coordinate[0],
                    joint->limit[0] - 0.5 * L * GRAVITY * cos(joint->coordinate[0]), its);
      assert_true(least > limit);
      if (joint->coordinate[0] < limit + 1e-3) {
        ASSERT_NEAR(joint->limit[0], 0.5 * L * GRAVITY * cos(joint->coordinate[0]), 1e-6);
      }
      world_done(&rig->world);
    }
  }
}

// ---- friction -----------------------------------------------------------------------------------

static void friction_holds(void** state) {
  (void)state;
  for (int i = 0; i < N_INTEGRATORS; i++) {
    for (int slides = 0; slides < 2; slides++) {
      double F = 2.0, torque = slides ? 1.01 * F : 0.99 * F;
      NoliCoordinateDef* c;
      Rig* rig = arm_new(0.01, integrators[i].name, &c);
      c->friction = F;
      c->motor = "effort";
      c->target = torque;
      world_start(&rig->world);
      run(rig, 100);
      double before = place(rig);
      run(rig, slides ? 100 : 1000);
      const NoliJointState* joint = joint_of(rig, 0);
      double want = 0.5 * (torque - F) / INERTIA * 4.0;
      print_message("%s: %.6g rad after 1 s, then %.3g; speed %.3g; sliding %.6g\n",
                    integrators[i].name, before, joint->coordinate[0] - before, joint->speed[0],
                    want);
      world_done(&rig->world);
    }
  }
}

static void friction_slows(void** state) {
  (void)state;
  for (int i = 0; i < N_INTEGRATORS; i++) {
    double F = 2.0, w = 3.0;
    NoliCoordinateDef* c;
    Rig* rig = arm_new(0.001, integrators[i].name, &c);
    c->friction = F;
    spin(rig, 0, w);
    world_start(&rig->world);
    for (int n = 0; n < 4; n++) {
      run(rig, 25);
      double t = 0.025 * (n + 1), a = F / INERTIA;
      double stop = w / a, tt = fmin(t, stop);
      print_message("%s: t %g place %.6g want %.6g speed %.6g want %.6g\n", integrators[i].name, t,
                    place(rig), w * tt - 0.5 * a * tt * tt, joint_of(rig, 0)->speed[0],
                    fmax(0, w - a * t));
    }
    run(rig, 100);
    print_message("stops at %.8g, want %.8g, %g it\n", place(rig), 0.5 * w * w * INERTIA / F, 0.0);
    world_done(&rig->world);
  }
}

// ---- motors -------------------------------------------------------------------------------------

static void motors_act(void** state) {
  (void)state;
  for (int i = 0; i < N_INTEGRATORS; i++) {
    NoliCoordinateDef* c;
    Rig* rig = arm_new(0.01, integrators[i].name, &c);
    fall(rig);
    c->motor = "position";
    c->target = 0.5;
    c->motor_stiffness = 100.0;
    c->motor_damping = 10.0;
    world_start(&rig->world);
    run(rig, 300);
    const NoliJointState* joint = joint_of(rig, 0);
    print_message("%s: rests at %.8g; motor %.8g, weight %.8g, k e %.8g force %g %g torque %g\n",
                  integrators[i].name, joint->coordinate[0], joint->motor[0],
                  0.5 * L * GRAVITY * cos(joint->coordinate[0]), 100 * (0.5 - joint->coordinate[0]),
                  joint->force[0], joint->force[1], joint->torque[2]);
    world_done(&rig->world);

    rig = arm_new(0.01, integrators[i].name, &c);
    c->motor = "speed";
    c->target = 5.0;
    c->motor_damping = 100.0;
    c->max_effort = 0.5;
    world_start(&rig->world);
    for (int n = 0; n < 6; n++) {
      run(rig, 20);
      joint = joint_of(rig, 0);
      print_message("t %g speed %.8g want %.8g motor %g\n", 0.2 * (n + 1), joint->speed[0],
                    fmin(5.0, 0.5 * 0.2 * (n + 1) / INERTIA), joint->motor[0]);
    }
    world_done(&rig->world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(oscillators_swing), cmocka_unit_test(limits_hold),
      cmocka_unit_test(friction_holds), cmocka_unit_test(friction_slows),
      cmocka_unit_test(motors_act)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
