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
// Torque of its weight, N m, where it is horizontal.
#define WEIGHT (0.5 * L * GRAVITY)

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

static const char* const all_solvers[] = {"projected_newton", "augmented_lagrangian",
                                          "implicit_newton"};

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

// Without inertia a spring bears the weight at once, however far the arm turns.
static void springs_bear_weight(void** state) {
  (void)state;
  for (int s = 0; s < 3; s++) {
    for (int soft = 0; soft < 2; soft++) {
      double k = soft ? 1.0 : 30.0;
      NoliCoordinateDef* c;
      Rig* rig = arm_new(0.01, "quasi_static", &c);
      fall(rig);
      c->stiffness = k;
      rig->world.def.solver = all_solvers[s];
      world_start(&rig->world);
      run(rig, 2);
      double q = place(rig);
      print_message("%s: turns by %.6g rad\n", all_solvers[s], q);
      ASSERT_NEAR(-k * q, WEIGHT * cos(q), 1e-6 * WEIGHT);
      assert_true(soft ? q < -0.9 : q < -0.05);
      world_done(&rig->world);
    }
  }
}

// Without inertia motors and dry friction hold, too, and a speed turns by as much in each step.
static void joints_hold_without_inertia(void** state) {
  (void)state;
  for (int s = 0; s < 3; s++) {
    for (int kind = 0; kind < 3; kind++) {
      NoliCoordinateDef* c;
      Rig* rig = arm_new(0.01, "quasi_static", &c);
      fall(rig);
      c->friction = kind == 0 ? 5.0 : 0.0;
      c->motor = kind == 0 ? "none" : kind == 1 ? "position" : "speed";
      c->target = kind == 1 ? 0.5 : 6.0;
      c->motor_stiffness = 30.0;
      c->motor_damping = 30.0;
      rig->world.def.solver = all_solvers[s];
      world_start(&rig->world);
      run(rig, 5);
      const NoliJointState* joint = joint_of(rig, 0);
      double q = joint->coordinate[0], held = WEIGHT * cos(q);
      ASSERT_NEAR(kind == 0 ? joint->friction[0] : joint->motor[0], held, 1e-6 * WEIGHT);
      if (kind == 0) {
        ASSERT_AT_MOST(fabs(q), 1e-5);
      } else if (kind == 1) {
        ASSERT_NEAR(30.0 * (0.5 - q), held, 1e-6 * WEIGHT);
      } else {
        ASSERT_NEAR(q, 0.05 * (6.0 - WEIGHT / 30.0), 1e-3);
      }
      world_done(&rig->world);
    }
  }
}

static void turn_base(void* user, double t0, double t1, int32_t n_node, const int32_t* node,
                      const double* X, const double* x_t0, double* x_t1) {
  (void)user, (void)t0, (void)node, (void)x_t0;
  double c = cos(3.0 * t1), s = sin(3.0 * t1);
  for (int32_t i = 0; i < n_node; i++) {
    const double* p = X + 3 * (int64_t)i;
    x_t1[3 * i] = c * p[0] - s * p[1];
    x_t1[3 * i + 1] = s * p[0] + c * p[1];
    x_t1[3 * i + 2] = p[2];
  }
}

// A base that is turned as prescribed carries an arm, which a motor holds and a limit stops.
static void prescribed_bodies_carry(void** state) {
  (void)state;
  for (int i = 0; i < N_INTEGRATORS; i++) {
    Rig* rig = rig_new(0.01, integrators[i].name);
    int32_t base = add_bar(rig, -L, 0.0), arm = add_bar(rig, 0.0, L);
    (void)world_add_motion(&rig->world, base, turn_base, NULL);
    NoliCoordinateDef* c = &add_hinge(rig, arm, base, 0.0)->coordinate;
    c->damping = 0.5;
    c->lower = -0.4;
    world_start(&rig->world);
    run(rig, 20);
    assert_true(place(rig) < -0.1);
    for (int n = 0; n < 180; n++) {
      run(rig, 1);
      assert_true(place(rig) > -0.4);
    }
    // it turns with the base
    ASSERT_AT_MOST(fabs(joint_of(rig, 0)->speed[0]), i == 4 ? 0.5 : 0.02);
    world_done(&rig->world);
  }
}

// ---- limits -------------------------------------------------------------------------------------

// An arm falls on a limit with 10 m/s at its end, and in steps ten times as long; it never passes
// it, and rests on it with the torque of its weight.
static void limits_hold(void** state) {
  (void)state;
  for (int s = 0; s < 3; s++) {
    for (int coarse = 0; coarse < 2; coarse++) {
      double limit = -0.7, least = 0.0;
      NoliCoordinateDef* c;
      Rig* rig = arm_new(coarse ? 0.1 : 0.01, "backward_euler", &c);
      fall(rig);
      spin(rig, 0, -20.0);
      c->lower = limit;
      rig->world.def.solver = all_solvers[s];
      world_start(&rig->world);
      int64_t iterations = 0;
      int n_steps = coarse ? 60 : 400;
      for (int n = 0; n < n_steps; n++) {
        run(rig, 1);
        iterations += rig->world.report.newton_iterations;
        least = noli_smaller(least, place(rig));
      }
      const NoliJointState* joint = joint_of(rig, 0);
      print_message("%s: least %.9g, rests at %.9g, %.2f iterations\n", all_solvers[s], least,
                    joint->coordinate[0], (double)iterations / n_steps);
      assert_true(least > limit);
      ASSERT_NEAR(joint->coordinate[0], limit, 1e-3);
      ASSERT_NEAR(joint->limit[0], WEIGHT * cos(joint->coordinate[0]), 1e-6 * WEIGHT);
      ASSERT_AT_MOST((double)iterations, (s == 1 && coarse ? 12.0 : 6.0) * n_steps);
      world_done(&rig->world);
    }
  }
}

// A coordinate that is called 1.2 rad at the start: limits, rest and the target of a motor are
// meant in these radians, and all else is as before.
static void coordinates_have_a_start(void** state) {
  (void)state;
  double found[2][3];
  for (int r = 0; r < 2; r++) {
    double start = r == 0 ? 0.0 : 1.2;
    NoliCoordinateDef* c;
    Rig* rig = arm_new(0.01, "backward_euler", &c);
    fall(rig);
    c->start = start;
    c->lower = start - 0.7;
    c->upper = start + 0.5;
    c->stiffness = 0.3;
    c->rest = start + 0.2;
    c->motor = "position";
    c->target = start - 0.3;
    c->motor_stiffness = 20.0;
    c->motor_damping = 2.0;
    world_start(&rig->world);
    ASSERT_NEAR(place(rig), start, 1e-15);
    run(rig, 60);
    found[r][0] = place(rig) - start;
    ASSERT_OK(noli_sim_set_joint_target(rig->world.sim, 0, 0, start - 2.0));
    run(rig, 100);
    found[r][1] = place(rig) - start;
    found[r][2] = joint_of(rig, 0)->limit[0];
    ASSERT_NEAR(found[r][1], -0.7, 1e-3);
    assert_true(place(rig) > start - 0.7);
    world_done(&rig->world);
  }
  ASSERT_NEAR(found[0][0], -0.4, 0.2);
  for (int i = 0; i < 3; i++) {
    ASSERT_NEAR(found[1][i], found[0][i], 1e-9);
  }
}

// Two bars whose springs sink under their weight, without inertia, until the second one meets a
// limit, which bears what its spring does not.
static void limits_bear_weights_at_rest(void** state) {
  (void)state;
  static const double limits[] = {0.01, 0.02, 0.05};
  for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
    NoliCoordinateDef* c;
    Rig* rig = arm_new(0.01, "quasi_static", &c);
    fall(rig);
    c->stiffness = 100.0;
    int32_t other = add_bar(rig, L, 2.0 * L);
    c = &add_hinge(rig, other, 0, L)->coordinate;
    c->stiffness = 30.0;
    c->lower = -limits[k];
    c->upper = limits[k];
    world_start(&rig->world);
    world_step(&rig->world);
    ASSERT_AT_MOST((double)rig->world.report.newton_iterations, 25.0);
    double q[2] = {joint_of(rig, 0)->coordinate[0], joint_of(rig, 1)->coordinate[0]};
    double torque = WEIGHT * cos(q[0] + q[1]);
    ASSERT_NEAR(joint_of(rig, 1)->limit[0] - 30.0 * q[1], torque, 1e-4 * torque);
    ASSERT_NEAR(-100.0 * q[0], torque + 3.0 * WEIGHT * cos(q[0]), 1e-4 * torque);
    assert_true(q[1] > -limits[k] && q[1] < 1e-3 - limits[k]);
    world_done(&rig->world);
  }
}

// Limits beyond half a turn and a turn stop an arm that a torque drives.
static void limits_count_turns(void** state) {
  (void)state;
  static const double limits[] = {3.5, 7.0, -20.0};
  for (int s = 0; s < 3; s++) {
    for (int k = 0; k < 6; k++) {
      bool coarse = k >= 3;
      double limit = limits[k % 3], sign = limit > 0.0 ? 1.0 : -1.0;
      NoliCoordinateDef* c;
      Rig* rig = arm_new(coarse ? 0.05 : 0.005, "backward_euler", &c);
      spin(rig, 0, sign * 20.0);
      *(limit > 0.0 ? &c->upper : &c->lower) = limit;
      c->motor = "effort";
      c->target = sign * 1.5;
      rig->world.def.solver = all_solvers[s];
      world_start(&rig->world);
      for (int n = 0; n < (coarse ? 100 : 600); n++) {
        run(rig, 1);
        assert_true(sign * place(rig) < sign * limit);
      }
      const NoliJointState* joint = joint_of(rig, 0);
      ASSERT_NEAR(joint->coordinate[0], limit, 1e-3);
      ASSERT_NEAR(joint->limit[0], -sign * 1.5, 1e-6);
      ASSERT_NEAR(joint->torque[2], 0.0, 1e-6);
      world_done(&rig->world);
    }
  }
}

// ---- friction -----------------------------------------------------------------------------------

// Dry friction holds 0.99 of its torque without creep over 100 s, and lets go at 1.01.
static void friction_holds(void** state) {
  (void)state;
  for (int i = 0; i < N_INTEGRATORS; i++) {
    for (int slides = 0; slides < 2; slides++) {
      double F = 2.0, torque = slides ? 1.01 * F : 0.99 * F, a = (torque - F) / INERTIA;
      NoliCoordinateDef* c;
      Rig* rig = arm_new(slides ? 0.01 : 0.05, integrators[i].name, &c);
      c->friction = F;
      c->motor = "effort";
      c->target = torque;
      world_start(&rig->world);
      run(rig, slides ? 20 : 200);
      double before = place(rig), speed = joint_of(rig, 0)->speed[0];
      run(rig, slides ? 20 : 2000);
      const NoliJointState* joint = joint_of(rig, 0);
      if (slides) {
        ASSERT_NEAR(joint->speed[0] - speed, 0.2 * a, 0.01 * a);
        ASSERT_NEAR(joint->friction[0], -F, 1e-12);
      } else {
        print_message("%s: creeps by %.2e rad\n", integrators[i].name,
                      fabs(joint->coordinate[0] - before));
        ASSERT_AT_MOST(fabs(joint->coordinate[0] - before), 1e-9);
        ASSERT_NEAR(joint->friction[0], -torque, i == 4 ? 5e-3 : 1e-6);
      }
      world_done(&rig->world);
    }
  }
}

// It slows a wheel linearly, which stops where its energy is spent, for good.
static void friction_slows(void** state) {
  (void)state;
  for (int i = 0; i < N_INTEGRATORS; i++) {
    double F = 2.0, w = 3.0, a = F / INERTIA, stop = 0.5 * w * w / a, lost = 0.0;
    NoliCoordinateDef* c;
    Rig* rig = arm_new(0.001, integrators[i].name, &c);
    c->friction = F;
    spin(rig, 0, w);
    world_start(&rig->world);
    for (int n = 1; n <= 200; n++) {
      run(rig, 1);
      lost += rig->world.report.friction_loss;
      double t = 0.001 * n;
      if (n % 25 == 0 && n <= 100) {
        ASSERT_NEAR(joint_of(rig, 0)->speed[0], w - a * t, 1e-3);
        ASSERT_NEAR(place(rig), w * t - 0.5 * a * t * t, i == 0 ? 1.3e-3 : 4e-5);
      }
    }
    print_message("%s: stops at %.6g rad, %.6g expected; lost %.4g J of %.4g J\n",
                  integrators[i].name, place(rig), stop, lost, 0.5 * INERTIA * w * w);
    ASSERT_NEAR(place(rig), stop, i == 0 ? 2e-3 : 1e-4);
    ASSERT_AT_MOST(fabs(joint_of(rig, 0)->speed[0]), i == 4 ? 2e-3 : 1e-6);
    ASSERT_NEAR(lost, 0.5 * INERTIA * w * w, i == 0 ? 0.015 : 2e-3);
    world_done(&rig->world);
  }
}

// ---- motors -------------------------------------------------------------------------------------

// A torque turns an arm against its own inertia and that of a rotor.
static void efforts_accelerate(void** state) {
  (void)state;
  for (int i = 0; i < N_INTEGRATORS; i++) {
    for (int geared = 0; geared < 2; geared++) {
      double J = INERTIA + (geared ? 0.25 : 0.0), torque = 0.6, t = 0.5, want = torque / J * t;
      NoliCoordinateDef* c;
      Rig* rig = arm_new(0.005, integrators[i].name, &c);
      c->motor = "effort";
      c->target = torque;
      c->armature = geared ? 0.25 : 0.0;
      world_start(&rig->world);
      run(rig, 100);
      const NoliJointState* joint = joint_of(rig, 0);
      print_message("%s: speed %.6g, %.6g expected\n", integrators[i].name, joint->speed[0], want);
      ASSERT_NEAR(joint->speed[0], want, (i < 2 ? 0.02 : 1e-3) * want);
      ASSERT_NEAR(joint->motor[0], torque, 1e-15);
      world_done(&rig->world);
    }
  }
}

// Two bars in free flight that turn each other: no momentum, no angular momentum.
static void efforts_act_on_both(void** state) {
  (void)state;
  Rig* rig = rig_new(0.005, "bdf2");
  int32_t a = add_bar(rig, 0.0, L), b = add_bar(rig, -L, 0.0);
  NoliJointDef* hinge = add_hinge(rig, a, b, 0.0);
  hinge->coordinate.motor = "effort";
  hinge->coordinate.target = 0.3;
  hinge->coordinate.armature = 0.02;
  hinge->coordinate.friction = 0.1;
  world_start(&rig->world);
  run(rig, 60);
  NoliVec3 momentum = {0}, turn = {0};
  for (int32_t body = a; body <= b; body++) {
    NoliBodyState own;
    ASSERT_OK(noli_sim_body_state(rig->world.sim, body, &own));
    NoliVec3 p = noli_scale3(own.mass, noli_load3(own.velocity));
    momentum = noli_add3(momentum, p);
    turn = noli_add3(turn, noli_cross3(noli_load3(own.centre), p));
    turn.z += CENTRAL * own.angular_velocity[2];
  }
  double speed = joint_of(rig, 0)->speed[0];
  print_message("turns by %.4g rad/s, angular momentum %.2e of %.2e\n", speed, turn.z,
                CENTRAL * speed);
  assert_true(speed > 1.0);
  ASSERT_AT_MOST(noli_norm3(momentum), 1e-9);
  ASSERT_AT_MOST(fabs(turn.z), 1e-3 * CENTRAL * speed);
  world_done(&rig->world);
}

// A position servo holds an arm below its target by the weight over the gain; a speed servo
// saturates, then holds its speed.
static void servos_hold(void** state) {
  (void)state;
  for (int i = 0; i < N_INTEGRATORS - 1; i++) {
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
    ASSERT_NEAR(100.0 * (0.5 - joint->coordinate[0]), WEIGHT * cos(joint->coordinate[0]),
                1e-6 * WEIGHT);
    ASSERT_NEAR(joint->motor[0], WEIGHT * cos(joint->coordinate[0]), 1e-6 * WEIGHT);
    ASSERT_NEAR(joint->force[1], GRAVITY, 1e-6 * GRAVITY);
    ASSERT_NEAR(joint->torque[2], joint->motor[0], 1e-6 * WEIGHT);
    world_done(&rig->world);

    rig = arm_new(0.01, integrators[i].name, &c);
    c->motor = "speed";
    c->target = 5.0;
    c->motor_damping = 100.0;
    c->max_effort = 0.5;
    world_start(&rig->world);
    run(rig, 20);
    joint = joint_of(rig, 0);
    ASSERT_NEAR(joint->motor[0], 0.5, 1e-12);
    ASSERT_NEAR(joint->speed[0], 0.2 * 0.5 / INERTIA, 1e-3);
    run(rig, 100);
    ASSERT_NEAR(joint_of(rig, 0)->speed[0], 5.0, 4e-3);
    world_done(&rig->world);
  }
}

static double swing_target(void* user, double t) {
  return *(const double*)user * sin(t);
}

// Targets that vary with time, and those that the host sets between steps.
static void targets_move(void** state) {
  (void)state;
  static double amplitude = 0.5;
  NoliCoordinateDef* c;
  Rig* rig = arm_new(0.01, "bdf2", &c);
  c->motor = "position";
  c->target_at = swing_target;
  c->user = &amplitude;
  c->motor_stiffness = 1e3;
  c->motor_damping = 10.0;
  world_start(&rig->world);
  NoliSim* sim = rig->world.sim;
  run(rig, 100);
  ASSERT_NEAR(place(rig), 0.5 * sin(1.0), 5e-3);
  ASSERT_NEAR(noli_sim_joint_target(sim, 0, 0), 0.5 * sin(1.0), 1e-12);
  assert_int_equal(noli_sim_find_joint(sim, "joint 0"), 0);
  ASSERT_OK(noli_sim_set_joint_target(sim, 0, 0, 2.0));
  ASSERT_NEAR(noli_sim_joint_target(sim, 0, 0), 2.0, 0.0);

  // clones have it
  NoliSim* clone;
  ASSERT_OK(noli_sim_clone(sim, rig->world.context, &clone));
  run(rig, 100);
  for (int n = 0; n < 100; n++) {
    ASSERT_OK(noli_sim_step(clone, NULL));
  }
  assert_null(noli_sim_state_difference(sim, clone));
  noli_sim_destroy(&clone);
  ASSERT_NEAR(place(rig), 2.0, 1e-4);

  // that of the definition again; a reset forgets it, too
  ASSERT_OK(noli_sim_set_joint_target(sim, 0, 0, (double)NAN));
  ASSERT_NEAR(noli_sim_joint_target(sim, 0, 0), 0.5 * sin(2.0), 1e-12);
  ASSERT_OK(noli_sim_set_joint_target(sim, 0, 0, 1.0));
  ASSERT_OK(noli_sim_reset(sim));
  ASSERT_NEAR(noli_sim_joint_target(sim, 0, 0), 0.0, 0.0);
  ASSERT_NEAR(place(rig), 0.0, 1e-15);
  run(rig, 100);
  ASSERT_NEAR(place(rig), 0.5 * sin(1.0), 5e-3);

  ASSERT_STATUS(noli_sim_set_joint_target(sim, 1, 0, 0.0), NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_sim_set_joint_target(sim, 0, 1, 0.0), NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_sim_set_joint_target(sim, 0, 0, (double)INFINITY), NOLI_ERROR_ARGUMENT);
  assert_true(isnan(noli_sim_joint_target(sim, 0, 1)));
  world_done(&rig->world);
}

// ---- forces -------------------------------------------------------------------------------------

// A bar that is let go from the horizontal: with r = m L^2/4 / I the bearing bears
// m g (1 + 2 r) sin a along the bar and m g (1 - r) cos a across it.
static void bearings_bear(void** state) {
  (void)state;
  NoliCoordinateDef* c;
  Rig* rig = arm_new(0.0005, "bdf2", &c);
  fall(rig);
  world_start(&rig->world);
  double worst = 0.0, r = 0.25 * L * L / INERTIA;
  for (int n = 0; n < 900; n++) {
    run(rig, 1);
    const NoliJointState* joint = joint_of(rig, 0);
    double a = -joint->coordinate[0];
    double along = GRAVITY * sin(a) * (1.0 + 2.0 * r), across = GRAVITY * cos(a) * (1.0 - r);
    double x = -along * cos(a) + across * sin(a), y = along * sin(a) + across * cos(a);
    worst = n > 20 ? noli_larger(worst, hypot(joint->force[0] - x, joint->force[1] - y)) : 0.0;
    ASSERT_AT_MOST(fabs(joint->torque[2]), 1e-5 * WEIGHT);
  }
  print_message("forces off by %.2e of the weight, at %.4g rad\n", worst / GRAVITY, place(rig));
  ASSERT_AT_MOST(worst, 5e-3 * GRAVITY);
  assert_true(place(rig) < -2.0);
  world_done(&rig->world);
}

// A chain that hangs: each joint bears what is below. A beam of two bars on two hinges, whose loop
// leaves the forces along it undetermined: half of its weight on each.
static void chains_and_loops_bear(void** state) {
  (void)state;
  Rig* rig = rig_new(0.01, "backward_euler");
  rig->world.def.gravity[0] = GRAVITY;
  for (int b = 0; b < 4; b++) {
    int32_t bar = add_bar(rig, b * L, (b + 1) * L);
    (void)add_joint(rig, b % 2 == 0 ? "hinge" : "ball", bar, b == 0 ? NOLI_NULL_INDEX : bar - 1,
                    b * L);
  }
  world_start(&rig->world);
  run(rig, 20);
  for (int b = 0; b < 4; b++) {
    ASSERT_NEAR(joint_of(rig, b)->force[0], -(4 - b) * GRAVITY, 1e-6 * GRAVITY);
  }
  world_done(&rig->world);

  rig = rig_new(0.01, "backward_euler");
  fall(rig);
  int32_t left = add_bar(rig, 0.0, L), right = add_bar(rig, L, 2.0 * L);
  (void)add_hinge(rig, left, NOLI_NULL_INDEX, 0.0);
  (void)add_hinge(rig, right, NOLI_NULL_INDEX, 2.0 * L);
  NoliJointDef* middle = add_joint(rig, "weld", right, left, L);
  (void)middle;
  world_start(&rig->world);
  run(rig, 20);
  for (int k = 0; k < 2; k++) {
    const NoliJointState* joint = joint_of(rig, k);
    ASSERT_NEAR(joint->force[1], GRAVITY, 1e-6 * GRAVITY);
    ASSERT_NEAR(joint->torque[2], 0.0, 1e-9);
  }
  // the middle bears the moment of a beam under its own weight
  ASSERT_NEAR(fabs(joint_of(rig, 2)->torque[2]), WEIGHT, 1e-6 * WEIGHT);
  world_done(&rig->world);
}

// A soft block is tied to an arm, whose nodes follow those of the world: the joint bears both.
static void bear_tied(const char* type) {
  Rig* rig = rig_new(0.01, "backward_euler");
  World* world = &rig->world;
  fall(rig);
  int32_t bar = add_bar(rig, 0.0, L);
  int32_t soft =
      world_add(world, make_box(world, 0.1, 0.04, 0.04, 2), (double[]){L + 0.05, 0.0, 0.0});
  world->body[soft].material.young = 1e6;
  world->body[soft].material.density = 3125.0;
  world->body[soft].material.mass_damping = 20.0;
  int32_t end[27], n_end = 0;
  for (int32_t v = 0; v < 27; v++) {
    if (world->mesh[soft]->x[3 * v] < L + 1e-6) {
      end[n_end++] = v;
    }
  }
  NoliTieDef tie = noli_default_tie_def();
  tie.body = soft;
  tie.to = bar;
  tie.node = end;
  tie.n_node = n_end;
  world->def.ties = &tie;
  world->def.n_ties = 1;
  NoliJointDef* joint = add_joint(rig, type, bar, NOLI_NULL_INDEX, 0.0);
  if (strcmp(type, "hinge") == 0) {
    joint->coordinate.motor = "position";
    joint->coordinate.motor_stiffness = 1e3;
    joint->coordinate.motor_damping = 50.0;
  }
  world_start(world);
  int64_t iterations = 0;
  for (int n = 0; n < 300; n++) {
    run(rig, 1);
    iterations += world->report.newton_iterations;
  }
  const NoliJointState* now = joint_of(rig, 0);
  double centre[3], q = now->coordinate[0];
  world_centre(world, soft, centre);
  double torque = WEIGHT * cos(q) + 0.5 * GRAVITY * centre[0];
  print_message("%s: %.6g N, %.6g N m, %.6g expected, %.1f iterations\n", type, now->force[1],
                now->torque[2], torque, (double)iterations / 300);
  ASSERT_NEAR(now->force[1], 1.5 * GRAVITY, 1e-4 * GRAVITY);
  ASSERT_NEAR(now->torque[2], torque, 1e-4 * torque);
  ASSERT_AT_MOST((double)iterations, 900.0);
  world_done(world);
}

static void ties_pull_on_joints(void** state) {
  (void)state;
  bear_tied("weld");
  bear_tied("hinge");
}

// ---- travels ------------------------------------------------------------------------------------

// A block that slides along an axis 30 degrees below the horizontal.
static Rig* slide_new(double time_step, const char* integrator, NoliJointDef** joint) {
  Rig* rig = rig_new(time_step, integrator);
  int32_t bar = add_bar(rig, 0.0, L);
  *joint = add_joint(rig, "slider", bar, NOLI_NULL_INDEX, 0.0);
  (*joint)->axis[0] = 2.0 * cos(PI / 6.0);
  (*joint)->axis[1] = -1.0;
  (*joint)->axis[2] = 0.0;
  fall(rig);
  return rig;
}

static void travels_act(void** state) {
  (void)state;
  double pull = 0.5 * GRAVITY; // along the axis, of 1 kg
  for (int s = 0; s < 3; s++) {
    NoliJointDef* joint;
    Rig* rig = slide_new(0.01, "backward_euler", &joint);
    joint->coordinate.upper = 0.8;
    rig->world.def.solver = all_solvers[s];
    world_start(&rig->world);
    for (int n = 0; n < 150; n++) {
      run(rig, 1);
      assert_true(place(rig) < 0.8);
    }
    const NoliJointState* now = joint_of(rig, 0);
    print_message("%s: rests at %.6g m with %.6g N, forces %.6g, %.6g N\n", all_solvers[s],
                  now->coordinate[0], now->limit[0], now->force[0], now->force[1]);
    ASSERT_NEAR(now->limit[0], -pull, 1e-5 * pull);
    ASSERT_NEAR(now->force[1], GRAVITY, 1e-5 * GRAVITY);
    world_done(&rig->world);

    // friction, a rotor, a motor
    rig = slide_new(0.01, "bdf2", &joint);
    joint->coordinate.friction = 1.01 * pull;
    rig->world.def.solver = all_solvers[s];
    world_start(&rig->world);
    run(rig, 200);
    ASSERT_AT_MOST(fabs(place(rig)), 1e-3);
    ASSERT_AT_MOST(fabs(joint_of(rig, 0)->speed[0]), 1e-9);
    world_done(&rig->world);

    rig = slide_new(0.01, "bdf2", &joint);
    joint->coordinate.armature = 3.0;
    rig->world.def.solver = all_solvers[s];
    world_start(&rig->world);
    run(rig, 100);
    ASSERT_NEAR(joint_of(rig, 0)->speed[0], pull / 4.0, 1e-3);
    world_done(&rig->world);

    rig = slide_new(0.01, "bdf2", &joint);
    joint->coordinate.motor = "position";
    joint->coordinate.target = -0.3;
    joint->coordinate.motor_stiffness = 500.0;
    joint->coordinate.motor_damping = 50.0;
    rig->world.def.solver = all_solvers[s];
    world_start(&rig->world);
    run(rig, 300);
    ASSERT_NEAR(place(rig), -0.3 + pull / 500.0, 1e-6);
    world_done(&rig->world);
  }
}

// A cylinder has both: a torque and a force act in turn and travel, independent of each other.
static void cylinders_have_both(void** state) {
  (void)state;
  Rig* rig = rig_new(0.01, "bdf2");
  int32_t base = add_bar(rig, -L, 0.0), bar = add_bar(rig, 0.0, L);
  (void)add_joint(rig, "weld", base, NOLI_NULL_INDEX, 0.0);
  NoliJointDef* joint = add_joint(rig, "cylinder", bar, base, 0.5 * L);
  joint->coordinate.motor = "effort";
  joint->coordinate.target = 0.02;
  joint->travel.motor = "effort";
  joint->travel.target = 2.0;
  joint->travel.upper = 0.6;
  world_start(&rig->world);
  run(rig, 50);
  const NoliJointState* now = joint_of(rig, 1);
  assert_int_equal(now->n, 2);
  ASSERT_NEAR(now->coordinate[0], 0.5 * 0.02 / CENTRAL * 0.25, 2e-3);
  ASSERT_NEAR(now->coordinate[1], 0.5 * 2.0 * 0.25, 5e-3);
  run(rig, 150);
  now = joint_of(rig, 1);
  ASSERT_NEAR(now->coordinate[1], 0.6, 1e-3);
  world_done(&rig->world);
}

// ---- the same elsewhere -------------------------------------------------------------------------

// The rotation of noli_mesh_transform.
static NoliMat3 rotation(const double degrees[3]) {
  NoliMat3 R = noli_identity3();
  for (int k = 0; k < 3; k++) {
    double c = cos(degrees[k] * PI / 180.0), s = sin(degrees[k] * PI / 180.0);
    NoliMat3 turn = noli_identity3();
    int i = (k + 1) % 3, j = (k + 2) % 3;
    turn.m[i][i] = turn.m[j][j] = c;
    turn.m[i][j] = -s;
    turn.m[j][i] = s;
    R = noli_mul33(R, turn);
  }
  return R;
}

// An arm with everything, in another unit of length, turned; its place, and the torque of the limit
// at which it ends.
static double everything(double unit, const double degrees[3], double* torque) {
  Rig* rig = rig_new(0.01, "bdf2");
  World* world = &rig->world;
  NoliMat3 R = rotation(degrees);
  int32_t bar = add_bar(rig, 0.0, L);
  const double zero[3] = {0};
  noli_mesh_transform(world->mesh[bar], (double[]){unit, unit, unit}, degrees, zero);
  noli_store3(world->def.gravity,
              noli_scale3(-GRAVITY * unit, noli_mul33_vec(&R, noli_vec3(0, 1, 0))));
  NoliJointDef* hinge = add_hinge(rig, bar, NOLI_NULL_INDEX, 0.0);
  noli_store3(hinge->axis, noli_mul33_vec(&R, noli_vec3(0, 0, 1)));
  world->def.tolerance = (NoliScaled){1e-8 * unit, NOLI_ABSOLUTE};
  double u2 = unit * unit;
  hinge->coordinate.stiffness = 2.0 * u2;
  hinge->coordinate.rest = 0.3;
  hinge->coordinate.damping = 0.05 * u2;
  hinge->coordinate.friction = 0.2 * u2;
  hinge->coordinate.armature = 0.02 * u2;
  hinge->coordinate.lower = -0.5;
  hinge->coordinate.motor = "position";
  hinge->coordinate.target = -0.9;
  hinge->coordinate.motor_stiffness = 20.0 * u2;
  hinge->coordinate.motor_damping = 0.1 * u2;
  hinge->coordinate.max_effort = 1.5 * u2;
  world_start(world);
  run(rig, 60);
  const NoliJointState* joint = joint_of(rig, 0);
  double q = joint->coordinate[0];
  *torque = joint->limit[0] / u2;
  world_done(world);
  return q;
}

static void units_and_axes_do_not_matter(void** state) {
  (void)state;
  const double straight[3] = {0}, turned[3] = {30.0, -50.0, 110.0};
  double torque[4];
  double q = everything(1.0, straight, &torque[0]);
  print_message("%.10g rad, %.10g N m\n", q, torque[0]);
  assert_true(torque[0] > 0.1);
  ASSERT_NEAR(everything(1.0, turned, &torque[1]), q, 1e-8);
  ASSERT_NEAR(everything(1e3, straight, &torque[2]), q, 1e-8);
  ASSERT_NEAR(everything(1e-3, turned, &torque[3]), q, 1e-8);
  for (int k = 1; k < 4; k++) {
    ASSERT_NEAR(torque[k], torque[0], 1e-4 * torque[0]);
  }
}

// ---- restarts -----------------------------------------------------------------------------------

// Two arms with everything, under gravity.
static void double_arm(Rig** made, const char* integrator) {
  NoliCoordinateDef* c;
  Rig* rig = arm_new(0.01, integrator, &c);
  fall(rig);
  int32_t other = add_bar(rig, L, 2.0 * L);
  c->lower = -0.6;
  c->damping = 0.01;
  c->armature = 0.01;
  c->motor = "effort";
  c->target = 0.1;
  c = &add_hinge(rig, other, 0, L)->coordinate;
  c->friction = 0.3;
  c->stiffness = 1.0;
  c->motor = "position";
  c->motor_stiffness = 5.0;
  *made = rig;
}

static void joints_resume(void** state) {
  (void)state;
  for (int i = 0; i < N_INTEGRATORS + 2; i++) {
    World world[2];
    static NoliJointDef joint[2][JOINTS];
    for (int w = 0; w < 2; w++) {
      Rig* rig;
      double_arm(&rig, i < N_INTEGRATORS ? integrators[i].name : "bdf2");
      world[w] = rig->world;
      memcpy(joint[w], rig->joint, sizeof joint[w]);
      world[w].def.joints = joint[w];
      world[w].def.solver = all_solvers[i < N_INTEGRATORS ? 0 : i - N_INTEGRATORS + 1];
      world_start(&world[w]);
    }
    for (int n = 0; n < 60; n++) {
      if (n == 20) {
        ASSERT_OK(noli_sim_set_joint_target(world[0].sim, 1, 0, 0.7));
      }
      world_step(&world[0]);
      if (n == 40) {
        const char* file = "checkpoint_coordinates.h5";
        ASSERT_OK(noli_checkpoint_save(world[0].context, world[0].sim, NULL, file));
        ASSERT_OK(noli_checkpoint_load(world[1].context, world[1].sim, file));
      } else if (n > 40) {
        world_step(&world[1]);
        assert_null(noli_sim_state_difference(world[0].sim, world[1].sim));
      }
    }
    world_done(&world[0]);
    world_done(&world[1]);
  }
}

// A chain of two arms that fall, whose second hinge has a spring, beside a double arm.
static void two_chains(Rig** made) {
  Rig* rig;
  double_arm(&rig, "backward_euler");
  int32_t third = add_bar(rig, 4.0, 4.0 + L), fourth = add_bar(rig, 4.0 + L, 4.0 + 2.0 * L);
  (void)add_hinge(rig, third, NOLI_NULL_INDEX, 4.0);
  NoliJointDef* joint = add_hinge(rig, fourth, third, 4.0 + L);
  memcpy(joint->axis, (double[]){0.0, 0.6, 0.8}, sizeof joint->axis);
  joint->coordinate.stiffness = 1.0;
  rig->world.def.tolerance.value = 1e-9;
  *made = rig;
}

// Where a body is added or removed, the others go on as they were: their joints are where they were
// made, and their coordinates begin there, although the bodies have moved.
static void joints_survive_changes(void** state) {
  (void)state;
  double after[3][2];
  for (int change = 0; change < 3; change++) {
    Rig* rig;
    two_chains(&rig);
    NoliBodyDef body = rig->world.body[0];
    world_start(&rig->world);
    run(rig, 30);
    assert_true(fabs(joint_of(rig, 2)->coordinate[0]) > 0.1);
    if (change == 1) {
      NoliJointState before[4];
      memcpy(before, joint_of(rig, 0), sizeof before);
      ASSERT_OK(noli_sim_remove_body(rig->world.sim, 0));
      // the joint of both arms is gone with the first one
      const NoliJointState* joints;
      int32_t n;
      ASSERT_OK(noli_sim_joints(rig->world.sim, &joints, &n));
      assert_int_equal(n, 2);
      for (int k = 0; k < 2; k++) {
        ASSERT_NEAR(joints[k].coordinate[0], before[2 + k].coordinate[0], 0.0);
        ASSERT_NEAR(joints[k].speed[0], before[2 + k].speed[0], 0.0);
      }
    } else if (change == 2) {
      double far[24];
      for (int i = 0; i < 24; i++) {
        far[i] = body.mesh->x[i] + (i % 3 == 0 ? 8.0 : 0.0);
      }
      body.x0 = far;
      body.name = "more";
      ASSERT_OK(noli_sim_add_body(rig->world.sim, &body, NULL));
    }
    run(rig, 10);
    for (int k = 0; k < 2; k++) {
      after[change][k] = joint_of(rig, (change == 1 ? 0 : 2) + k)->coordinate[0];
      ASSERT_NEAR(after[change][k], after[0][k], 1e-7);
    }
    ASSERT_OK(noli_sim_reset(rig->world.sim));
    ASSERT_NEAR(joint_of(rig, change == 1 ? 0 : 2)->coordinate[0], 0.0, 1e-12);
    world_done(&rig->world);
  }
}

// What follows a joint whose body is removed is free: it spins on.
static void followers_are_released(void** state) {
  (void)state;
  Rig* rig = rig_new(0.01, "backward_euler");
  int32_t bar[2] = {add_bar(rig, 0.0, L), add_bar(rig, 4.0, 4.0 + L)};
  NoliJointDef* lead = add_hinge(rig, bar[0], NOLI_NULL_INDEX, 0.0);
  lead->name = "lead";
  NoliCoordinateDef* c = &add_hinge(rig, bar[1], NOLI_NULL_INDEX, 4.0)->coordinate;
  c->follows = "lead";
  c->ratio = -2.0;
  lead->coordinate.damping = 1e3;
  spin(rig, bar[1], 1.0);
  world_start(&rig->world);
  run(rig, 5);
  double before = joint_of(rig, 1)->coordinate[0];
  ASSERT_AT_MOST(fabs(joint_of(rig, 1)->speed[0]), 1e-3); // the damper holds both
  ASSERT_OK(noli_sim_remove_body(rig->world.sim, bar[0]));
  ASSERT_OK(noli_sim_set_gravity(rig->world.sim, (double[]){0.0, -GRAVITY, 0.0}));
  run(rig, 1);
  ASSERT_NEAR(joint_of(rig, 0)->coordinate[0] - before, -1e-4 * WEIGHT / INERTIA, 1e-4);
  run(rig, 20);
  assert_true(joint_of(rig, 0)->coordinate[0] < before - 0.1);
  world_done(&rig->world);
}

// ---- refusals -----------------------------------------------------------------------------------

static void bad_coordinates_are_refused(void** state) {
  (void)state;
  static const char* const messages[] = {
      "0 rad at the start, which is not inside its limits [0.1, 2] rad",
      "type \"ball\" has no coordinate, so it cannot have friction",
      "has no travel beside its coordinate, so it cannot have stiffness in \"travel\"",
      "a motor that holds a speed needs a damping",
      "did you mean \"position\"",
      "a motor that holds a position needs a stiffness",
      "is 1e-09 rad from a limit at the start, and needs 1e-08: widen the limits",
      "the damping must be"};
  for (size_t k = 0; k < sizeof messages / sizeof *messages; k++) {
    NoliCoordinateDef* c;
    Rig* rig = arm_new(0.01, "bdf2", &c);
    switch (k) {
    case 0:
      c->lower = 0.1;
      c->upper = 2.0;
      break;
    case 1:
      rig->joint[0].type = "ball";
      c->friction = 1.0;
      break;
    case 2:
      rig->joint[0].travel.stiffness = 1.0;
      break;
    case 3:
      c->motor = "speed";
      break;
    case 4:
      c->motor = "positoin";
      break;
    case 5:
      c->motor = "position";
      break;
    case 6:
      c->upper = 1e-9;
      break;
    default:
      c->damping = -1.0;
      break;
    }
    world_expect_refusal(&rig->world, messages[k]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(oscillators_swing),
                                     cmocka_unit_test(springs_bear_weight),
                                     cmocka_unit_test(joints_hold_without_inertia),
                                     cmocka_unit_test(prescribed_bodies_carry),
                                     cmocka_unit_test(limits_hold),
                                     cmocka_unit_test(limits_bear_weights_at_rest),
                                     cmocka_unit_test(limits_count_turns),
                                     cmocka_unit_test(coordinates_have_a_start),
                                     cmocka_unit_test(friction_holds),
                                     cmocka_unit_test(friction_slows),
                                     cmocka_unit_test(efforts_accelerate),
                                     cmocka_unit_test(efforts_act_on_both),
                                     cmocka_unit_test(servos_hold),
                                     cmocka_unit_test(targets_move),
                                     cmocka_unit_test(bearings_bear),
                                     cmocka_unit_test(chains_and_loops_bear),
                                     cmocka_unit_test(ties_pull_on_joints),
                                     cmocka_unit_test(travels_act),
                                     cmocka_unit_test(cylinders_have_both),
                                     cmocka_unit_test(units_and_axes_do_not_matter),
                                     cmocka_unit_test(joints_resume),
                                     cmocka_unit_test(joints_survive_changes),
                                     cmocka_unit_test(followers_are_released),
                                     cmocka_unit_test(bad_coordinates_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
