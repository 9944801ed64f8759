// Joints that are more than shared points: sliders, cylinders, planes, universal joints, distances,
// against closed forms.
#include "linkage.h"

#define GAP 1e-8 // m

static int32_t add_rigid_box(Linkage* linkage, const double size[3], const double at[3]) {
  World* world = &linkage->world;
  int32_t body = world_add(world, make_box(world, size[0], size[1], size[2], 1), at);
  world->body[body].rigid.rigid = true;
  return body;
}

static void set_axis(NoliJointDef* joint, double x, double y, double z) {
  memcpy(joint->axis, (double[]){x, y, z}, sizeof joint->axis);
}

static void joint_step(World* world) {
  rigid_step(world);
  ASSERT_AT_MOST(world->report.joint_gap, GAP);
}

// A motion that turns a body about an axis through the origin.
static void turn_body(World* world, int32_t body, const double spin[3]) {
  NoliMotionDef* motion = world_add_motion(world, body, NULL, NULL);
  memcpy(motion->spin, spin, sizeof motion->spin);
}

// The sum of g h^2 k over n steps, k = 1 ... n: how far backward Euler falls.
static double fall(double acceleration, double h, int n) {
  return 0.5 * acceleration * h * h * n * (n + 1);
}

// ---- one body on the world ----------------------------------------------------------------------

// A body on an inclined rail: Galilei's acceleration along it, nothing across, and no turn. One
// that may turn about the rail keeps its spin.
static void bodies_slide_on_rails(void** state) {
  (void)state;
  double size[3] = {0.1, 0.05, 0.08}, axis[3] = {1.0, -2.0, 0.5}, h = 0.01;
  NoliVec3 e = noli_normalize3(noli_load3(axis));
  for (int t = 0; t < 2; t++) {
    Linkage* linkage = linkage_new();
    World* world = &linkage->world;
    int32_t body = add_rigid_box(linkage, size, (double[]){0.3, 0.2, 0.1});
    const char* type = t == 0 ? "slider" : "cylinder";
    NoliJointDef* joint = add_joint(linkage, type, body, NOLI_NULL_INDEX, 0.3, 0.2);
    joint->at[2] = 0.1;
    set_axis(joint, axis[0], axis[1], axis[2]);
    noli_store3(world->body[body].angular_velocity, noli_scale3(t == 0 ? 0.0 : 3.0, e));
    world->def.integrator = t == 0 ? "backward_euler" : "bdf2";
    world->def.time_step = h;
    start(world);
    NoliVec3 corner = point_of(world, body, noli_vec3(0.35, 0.225, 0.14));
    for (int n = 1; n <= 50; n++) {
      joint_step(world);
      NoliBodyState now = state_of(world, body);
      NoliVec3 moved = noli_sub3(noli_load3(now.centre), noli_vec3(0.3, 0.2, 0.1));
      double along = noli_dot3(moved, e);
      ASSERT_AT_MOST(noli_norm3(noli_sub3(moved, noli_scale3(along, e))), GAP);
      if (t == 0) {
        ASSERT_NEAR(along, fall(-GRAVITY * e.y, h, n), 1e-8);
        NoliVec3 end = point_of(world, body, noli_vec3(0.35, 0.225, 0.14));
        ASSERT_AT_MOST(noli_norm3(noli_sub3(noli_sub3(end, corner), moved)), 1e-7);
      } else {
        // the moments about the rail differ as the body turns, the momentum does not
        NoliVec3 spin = noli_load3(now.angular_velocity);
        ASSERT_AT_MOST(noli_norm3(noli_sub3(spin, noli_scale3(noli_dot3(spin, e), e))), 0.02);
        assert_true(noli_dot3(spin, e) > 2.9);
      }
    }
    world_done(world);
  }
}

// A disc in an inclined plane slides and turns in it as if the plane were all of space.
static void bodies_move_in_planes(void** state) {
  (void)state;
  double size[3] = {0.1, 0.02, 0.1}, h = 0.01;
  NoliVec3 n = noli_normalize3(noli_vec3(0.5, 1.0, 0.2));
  Linkage* linkage = linkage_new();
  World* world = &linkage->world;
  int32_t body = add_rigid_box(linkage, size, (double[]){0, 0, 0});
  NoliJointDef* joint = add_joint(linkage, "planar", body, NOLI_NULL_INDEX, 0.0, 0.0);
  set_axis(joint, n.x, n.y, n.z);
  world->def.time_step = h;
  start(world);
  NoliVec3 gravity = noli_vec3(0.0, -GRAVITY, 0.0);
  NoliVec3 down = noli_mul_add3(gravity, -noli_dot3(gravity, n), n);
  for (int k = 1; k <= 50; k++) {
    joint_step(world);
    NoliVec3 want = noli_scale3(fall(1.0, h, k), down);
    NoliVec3 at = noli_load3(state_of(world, body).centre);
    ASSERT_AT_MOST(noli_norm3(noli_sub3(at, want)), 1e-7);
  }
  world_done(world);
}

// A body at a fixed distance of a point of the world, which is not its centre, is a pendulum, and
// its energy is kept to second order.
static void distances_are_kept(void** state) {
  (void)state;
  double size[3] = {0.1, 0.1, 0.1}, lost[2];
  for (int r = 0; r < 2; r++) {
    Linkage* linkage = linkage_new();
    World* world = &linkage->world;
    int32_t body = add_rigid_box(linkage, size, (double[]){0.5, 0, 0});
    NoliJointDef* joint = add_joint(linkage, "distance", body, NOLI_NULL_INDEX, 0.45, 0.05);
    joint->has_to_at = true;
    world->def.integrator = "bdf2";
    world->def.time_step = 0.0025 / (1 << r);
    start(world);
    double mass = state_of(world, body).mass;
    double length = hypot(0.45, 0.05);
    for (int n = 0; n < 160 << r; n++) {
      joint_step(world);
      NoliVec3 p = point_of(world, body, noli_vec3(0.45, 0.05, 0.0));
      ASSERT_NEAR(noli_norm3(p), length, GAP);
    }
    NoliEnergies energies;
    ASSERT_OK(noli_sim_energies(world->sim, &energies));
    double fallen = -mass * GRAVITY * state_of(world, body).centre[1];
    assert_true(fallen > 0.2 * mass * GRAVITY);
    lost[r] = fabs(fallen - energies.kinetic) / fallen;
    world_done(world);
  }
  print_message("a pendulum on a distance loses %.2e and %.2e of its energy\n", lost[0], lost[1]);
  ASSERT_AT_LEAST(log2(lost[0] / lost[1]), 1.8);
  ASSERT_AT_MOST(lost[1], 1e-3);
}

// ---- two bodies ---------------------------------------------------------------------------------

// A bead on a rod that turns at a given rate w, without gravity: r = r0 cosh(w t).
static void beads_leave_turning_rods(void** state) {
  (void)state;
  double bar[3] = {0.4, 0.02, 0.02}, bead[3] = {0.04, 0.04, 0.04}, w = 4.0, error[2];
  for (int r = 0; r < 2; r++) {
    int steps = 50 << r;
    Linkage* linkage = linkage_new();
    World* world = &linkage->world;
    int32_t rod = add_rigid_box(linkage, bar, (double[]){0.2, 0, 0});
    int32_t body = add_rigid_box(linkage, bead, (double[]){0.1, 0, 0});
    set_axis(add_joint(linkage, "slider", body, rod, 0.1, 0.0), 1.0, 0.0, 0.0);
    turn_body(world, rod, (double[]){0, 0, w});
    world->body[body].velocity[1] = 0.1 * w;
    world->body[body].angular_velocity[2] = w;
    world->def.gravity[1] = 0.0;
    world->def.integrator = "bdf2";
    world->def.time_step = 0.5 / steps;
    start(world);
    for (int n = 0; n < steps; n++) {
      joint_step(world);
    }
    NoliBodyState now = state_of(world, body);
    error[r] = fabs(hypot(now.centre[0], now.centre[1]) - 0.1 * cosh(0.5 * w));
    ASSERT_NEAR(atan2(now.centre[1], now.centre[0]), 0.5 * w, 1e-7);
    world_done(world);
  }
  print_message("a bead on a rod is off by %.2e and %.2e m\n", error[0], error[1]);
  ASSERT_NEAR(log2(error[0] / error[1]), 2.0, 0.3);
}

// Two shafts at an angle b with Cardan's joint between them: tan(second) = tan(first) cos(b) with
// the yoke of the first across the plane of the shafts at the start.
static void shafts_turn_by_cardans_rule(void** state) {
  (void)state;
  double size[3] = {0.3, 0.03, 0.04}, b = 0.6, w = 5.0;
  Linkage* linkage = linkage_new();
  World* world = &linkage->world;
  int32_t first = add_rigid_box(linkage, size, (double[]){-0.15, 0, 0});
  int32_t second = add_rigid_box(linkage, size, (double[]){0.15, 0, 0});
  world->body[second].angular_velocity[0] = w * cos(b) * cos(b);
  world->body[second].angular_velocity[1] = w * cos(b) * sin(b);
  set_axis(add_joint(linkage, "hinge", second, NOLI_NULL_INDEX, 0.0, 0.0), cos(b), sin(b), 0.0);
  NoliJointDef* cross = add_joint(linkage, "universal", second, first, 0.0, 0.0);
  set_axis(cross, -sin(b), cos(b), 0.0);
  memcpy(cross->to_axis, (double[]){0, 0, 1}, sizeof cross->to_axis);
  set_axis(add_joint(linkage, "hinge", first, NOLI_NULL_INDEX, 0.0, 0.0), 1.0, 0.0, 0.0);
  world->body[first].angular_velocity[0] = w;
  world->def.gravity[1] = 0.0;
  world->def.integrator = "bdf2";
  world->def.time_step = 0.005;
  start(world);
  NoliVec3 axis = noli_vec3(cos(b), sin(b), 0.0), up = noli_vec3(-sin(b), cos(b), 0.0);
  double largest = 0.0;
  for (int n = 1; n <= 100; n++) {
    joint_step(world);
    // the yoke of the first shaft points along z at the start, that of the second along `up`
    NoliVec3 yoke =
        noli_sub3(point_of(world, second, up), point_of(world, second, noli_vec3(0, 0, 0)));
    double angle = atan2(noli_dot3(yoke, noli_cross3(axis, up)), noli_dot3(yoke, up));
    NoliVec3 end = noli_sub3(point_of(world, first, noli_vec3(0, 0, 1)),
                             point_of(world, first, noli_vec3(0, 0, 0)));
    double turned = atan2(-end.y, end.z), want = atan2(sin(turned) * cos(b), cos(turned));
    double off = remainder(angle - want, 2.0 * 3.14159265358979323846);
    largest = fmax(largest, fabs(off));
  }
  print_message("a universal joint is off by %.2e rad\n", largest);
  ASSERT_AT_MOST(largest, 1e-6);
  world_done(world);
}

// Two bodies with each type of joint in free flight keep momentum and, to second order, angular
// momentum.
static void pairs_fly(void** state) {
  (void)state;
  static const char* const types[] = {"slider", "cylinder", "planar", "universal", "distance"};
  double size[2][3] = {{0.3, 0.04, 0.06}, {0.1, 0.05, 0.08}};
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    Linkage* linkage = linkage_new();
    World* world = &linkage->world;
    int32_t a = add_rigid_box(linkage, size[0], (double[]){0, 0, 0});
    int32_t b = add_rigid_box(linkage, size[1], (double[]){0.1, 0.2, 0.05});
    NoliJointDef* joint = add_joint(linkage, types[t], b, a, 0.1, 0.2);
    joint->at[2] = 0.05;
    set_axis(joint, 0.3, 1.0, 0.2);
    if (strcmp(types[t], "universal") == 0) {
      memcpy(joint->to_axis, (double[]){1.0, -0.3, 0.0}, sizeof joint->to_axis);
    }
    if (strcmp(types[t], "distance") == 0) {
      joint->has_to_at = true;
      memcpy(joint->to_at, (double[]){0.1, 0.02, 0.0}, sizeof joint->to_at);
    }
    for (int k = 0; k < 3; k++) {
      // as one body that turns about the origin
      NoliVec3 spin = noli_vec3(1.0, 2.0, -3.0);
      NoliVec3 v = noli_cross3(spin, noli_vec3(0.1, 0.2, 0.05));
      noli_store3(world->body[a].angular_velocity, spin);
      noli_store3(world->body[b].angular_velocity, spin);
      noli_store3(world->body[b].velocity, v);
    }
    world->def.gravity[1] = 0.0;
    world->def.integrator = "bdf2";
    world->def.time_step = 0.002;
    start(world);
    NoliVec3 momentum[2], turn[2];
    for (int n = 0; n <= 100; n++) {
      NoliBodyState of[2] = {state_of(world, a), state_of(world, b)};
      int last = n == 100 ? 1 : 0;
      if (n == 0 || last == 1) {
        momentum[last] = turn[last] = noli_vec3(0, 0, 0);
        for (int k = 0; k < 2; k++) {
          NoliVec3 own = noli_load3(of[k].momentum);
          momentum[last] = noli_add3(momentum[last], own);
          turn[last] = noli_add3(turn[last], noli_load3(of[k].angular_momentum));
          turn[last] = noli_add3(turn[last], noli_cross3(noli_load3(of[k].centre), own));
        }
      }
      if (n < 100) {
        joint_step(world);
      }
    }
    double lost = noli_norm3(noli_sub3(turn[1], turn[0])) / noli_norm3(turn[0]);
    print_message("%s: angular momentum changes by %.1e\n", types[t], lost);
    ASSERT_AT_MOST(noli_norm3(noli_sub3(momentum[1], momentum[0])), 1e-6 * noli_norm3(momentum[0]));
    ASSERT_AT_MOST(lost, 2e-3);
    world_done(world);
  }
}

// A soft block hangs on a rigid bar at a distance.
static void soft_bodies_keep_distances(void** state) {
  (void)state;
  double size[3] = {0.2, 0.02, 0.02};
  Linkage* linkage = linkage_new();
  World* world = &linkage->world;
  int32_t bar = add_rigid_box(linkage, size, (double[]){0.0, 0.0, 0.0});
  int32_t soft = world_add(world, make_box(world, 0.1, 0.1, 0.1, 2), (double[]){0, -0.3, 0});
  world->body[soft].material.young = 1e5;
  add_joint(linkage, "weld", bar, NOLI_NULL_INDEX, 0.0, 0.0);
  NoliJointDef* joint = add_joint(linkage, "distance", soft, bar, 0.0, -0.25);
  joint->has_to_at = true;
  joint->to_at[1] = -0.01;
  world->def.time_step = 0.01;
  start(world);
  for (int n = 0; n < 20; n++) {
    joint_step(world);
  }
  assert_true(state_of(world, soft).centre[1] > -0.31);
  world_done(world);
}

// ---- couplings ----------------------------------------------------------------------------------

static NoliJointDef* add_hinge(Linkage* linkage, const char* name, int32_t body, int32_t to,
                               double x) {
  NoliJointDef* joint = add_joint(linkage, "hinge", body, to, x, 0.0);
  joint->name = name;
  return joint;
}

static void follow(NoliCoordinateDef* coordinate, const char* joint, double ratio) {
  coordinate->follows = joint;
  coordinate->ratio = ratio;
}

static double place_of(const World* world, int32_t joint, int32_t coordinate) {
  const NoliJointState* joints;
  int32_t n;
  ASSERT_OK(noli_sim_joints(world->sim, &joints, &n));
  assert_true(joint < n);
  return joints[joint].coordinate[coordinate];
}

// A nut that falls along a screw without friction: (m + I (2 pi / lead)^2) a = m g, to second order
// in the angle of a step.
static void nuts_fall_along_screws(void** state) {
  (void)state;
  double size[3] = {0.06, 0.02, 0.06}, lead = -0.05, error[2];
  double about = (size[0] * size[0] + size[2] * size[2]) / 12.0;
  double turn = 2.0 * 3.14159265358979323846 / lead, t = 0.6;
  double want = -0.5 * GRAVITY / (1.0 + about * turn * turn) * t * t;
  for (int r = 0; r < 2; r++) {
    int steps = 240 << r;
    Linkage* linkage = linkage_new();
    World* world = &linkage->world;
    int32_t nut = add_rigid_box(linkage, size, (double[]){0.1, 0, 0});
    NoliJointDef* joint = add_joint(linkage, "screw", nut, NOLI_NULL_INDEX, 0.1, 0.0);
    set_axis(joint, 0.0, 1.0, 0.0);
    joint->lead = lead;
    world->def.integrator = "bdf2";
    world->def.time_step = t / steps;
    start(world);
    for (int n = 0; n < steps; n++) {
      joint_step(world);
      ASSERT_NEAR(place_of(world, 0, 0), place_of(world, 0, 1) * turn, 1e-7);
    }
    ASSERT_NEAR(state_of(world, nut).centre[1], place_of(world, 0, 1), 1e-9);
    error[r] = fabs(place_of(world, 0, 1) / want - 1.0);
    assert_true(place_of(world, 0, 0) > 20.0);
    world_done(world);
  }
  print_message("a nut is off by %.2e and %.2e\n", error[0], error[1]);
  ASSERT_NEAR(log2(error[0] / error[1]), 2.0, 0.2);
  ASSERT_AT_MOST(error[1], 1e-2);
}

// Two wheels in gear, of which a motor turns the first, and a rack on the second:
// a = torque / (I1 + r^2 I2 + (r s)^2 m).
static void gears_share_a_torque(void** state) {
  (void)state;
  double one[3] = {0.1, 0.1, 0.02}, other[3] = {0.2, 0.2, 0.02}, rack[3] = {0.3, 0.02, 0.02};
  double h = 0.005, r = -0.5, s = 0.12, torque = 0.04;
  Linkage* linkage = linkage_new();
  World* world = &linkage->world;
  int32_t small = add_rigid_box(linkage, one, (double[]){0, 0, 0});
  int32_t large = add_rigid_box(linkage, other, (double[]){0.2, 0, 0});
  int32_t bar = add_rigid_box(linkage, rack, (double[]){0.2, 0.2, 0});
  NoliJointDef* motor = add_hinge(linkage, "pinion", small, NOLI_NULL_INDEX, 0.0);
  motor->coordinate.motor = "effort";
  motor->coordinate.target = torque;
  follow(&add_hinge(linkage, "wheel", large, NOLI_NULL_INDEX, 0.2)->coordinate, "pinion", r);
  NoliJointDef* slider = add_joint(linkage, "slider", bar, NOLI_NULL_INDEX, 0.2, 0.2);
  set_axis(slider, 1.0, 0.0, 0.0);
  follow(&slider->coordinate, "wheel", s);
  world->def.gravity[1] = 0.0;
  world->def.integrator = "bdf2";
  world->def.time_step = h;
  start(world);
  double inertia[3];
  for (int b = 0; b < 3; b++) {
    NoliBodyState body = state_of(world, b);
    inertia[b] = b < 2 ? body.inertia[8] : body.mass;
  }
  double acceleration = torque / (inertia[0] + r * r * inertia[1] + r * r * s * s * inertia[2]);
  for (int n = 0; n < 200; n++) {
    joint_step(world);
    double q = place_of(world, 0, 0);
    ASSERT_NEAR(place_of(world, 1, 0), r * q, 1e-7);
    ASSERT_NEAR(place_of(world, 2, 0), s * r * q, 1e-8);
  }
  double want = 0.5 * acceleration;
  print_message("gears turn by %.6f rad, want %.6f\n", place_of(world, 0, 0), want);
  ASSERT_NEAR(place_of(world, 0, 0), want, 5e-3 * want);
  assert_true(want > 6.3); // more than a turn
  world_done(world);
}

// A planetary gear with a fixed ring: the sun turns 1 + ring / sun times as fast as the carrier
// (Willis).
static void planets_carry(void** state) {
  (void)state;
  double arm[3] = {0.3, 0.02, 0.02}, wheel[3] = {0.05, 0.05, 0.02};
  double z_sun = 20.0, z_planet = 16.0, z_ring = 52.0;
  Linkage* linkage = linkage_new();
  World* world = &linkage->world;
  int32_t carrier = add_rigid_box(linkage, arm, (double[]){0, 0, 0});
  int32_t planet = add_rigid_box(linkage, wheel, (double[]){0.1, 0, 0.05});
  int32_t sun = add_rigid_box(linkage, wheel, (double[]){0, 0, 0.05});
  NoliJointDef* driven = add_hinge(linkage, "carrier", carrier, NOLI_NULL_INDEX, 0.0);
  driven->coordinate.motor = "speed";
  driven->coordinate.target = 2.0;
  driven->coordinate.motor_damping = 10.0;
  follow(&add_hinge(linkage, "planet", planet, carrier, 0.1)->coordinate, "carrier",
         -z_ring / z_planet);
  follow(&add_hinge(linkage, "sun", sun, carrier, 0.0)->coordinate, "planet", -z_planet / z_sun);
  world->def.time_step = 0.005;
  start(world);
  for (int n = 0; n < 200; n++) {
    joint_step(world);
  }
  NoliVec3 spin[2] = {noli_load3(state_of(world, carrier).angular_velocity),
                      noli_load3(state_of(world, sun).angular_velocity)};
  ASSERT_NEAR(spin[0].z, 2.0, 0.02);
  double turned = place_of(world, 0, 0), of_sun = turned + place_of(world, 2, 0);
  ASSERT_NEAR(of_sun, turned * (1.0 + z_ring / z_sun), 1e-6);
  ASSERT_NEAR(spin[1].z / spin[0].z, 1.0 + z_ring / z_sun, 1e-3);
  world_done(world);
}

// ---- refusals -----------------------------------------------------------------------------------

static void refuse(const char* type, bool apart, bool soft, const char* part) {
  double size[3] = {0.1, 0.1, 0.1};
  Linkage* linkage = linkage_new();
  World* world = &linkage->world;
  int32_t a = add_rigid_box(linkage, size, (double[]){0, 0, 0});
  int32_t b = add_rigid_box(linkage, size, (double[]){0.3, 0, 0});
  world->body[b].rigid.rigid = !soft;
  NoliJointDef* joint = add_joint(linkage, type, a, b, 0.0, 0.0);
  joint->has_to_at = apart;
  joint->to_at[0] = 0.3;
  joint->to_axis[2] =
      strstr(part, "parallel") != NULL || strstr(part, "b_axis") != NULL ? 2.0 : 0.0;
  joint->axis[2] = strstr(part, "beyond numbers") != NULL ? 1e200 : 1.0;
  joint->lead = strstr(part, "only a screw") != NULL ? 0.1 : 0.0;
  world_expect_refusal(world, part);
}

static void wrong_joints_are_refused(void** state) {
  (void)state;
  refuse("slider", true, false, "its points are 0.3 m apart in a direction in which");
  refuse("planar", false, true, "deforms, so it has no axes");
  refuse("universal", false, false, "its axes are parallel");
  refuse("universal", false, false, "is universal");
  refuse("distance", false, false, "keeps a distance and has no \"b_at\"");
  refuse("screw", false, false, "is a screw and has no \"lead\"");
  refuse("hinge", false, false, "has a \"b_axis\", which only a universal joint has");
  refuse("hinge", false, false, "an axis whose length is beyond numbers");
  refuse("hinge", false, false, "has a \"lead\", which only a screw has");
  refuse("slide", false, false, "there is no type of joint \"slide\"; did you mean \"slider\"?");
}

// A body of 100 kg hangs on one of a gram: it falls as a pendulum, or along the rail of the light
// one, which stays rigid, in long steps, too.
static void light_bodies_bear_heavy_ones(void** state) {
  (void)state;
  static const char* const types[] = {"ball", "hinge", "universal", "slider", "cylinder"};
  double size[2][3] = {{0.18, 0.02, 0.02}, {0.2, 0.2, 0.2}};
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    for (int r = 0; r < 2; r++) {
      Linkage* linkage = linkage_new();
      World* world = &linkage->world;
      for (int b = 0; b < 2; b++) {
        int32_t body = add_rigid_box(linkage, size[b], (double[]){b == 0 ? 0.1 : 0.4, 0, 0});
        world->body[body].rigid.mass = b == 0 ? 1e-3 : 100.0;
        NoliJointDef* joint = add_joint(linkage, types[t], b, b - 1, 0.2 * b, 0.0);
        joint->to_axis[1] = t == 2 ? 1.0 : 0.0;
        if (t >= 3) {
          set_axis(joint, b == 0 ? 0.0 : 1.0, b == 0 ? 1.0 : 0.0, 0.0);
        }
      }
      world->def.integrator = "bdf2";
      world->def.time_step = r == 0 ? 0.01 : 0.1;
      start(world);
      for (int n = 0; n < 20; n++) {
        rigid_step(world);
        ASSERT_AT_MOST(world->report.joint_gap, 1e-7);
      }
      if (t >= 3) {
        double time = 20.0 * world->def.time_step;
        NoliBodyState now = state_of(world, 1);
        ASSERT_NEAR(now.centre[1], -0.5 * GRAVITY * time * time, 1e-4 * time * time);
      }
      world_done(world);
    }
  }
}

static void wrong_couplings_are_refused(void** state) {
  (void)state;
  static const struct {
    const char *follows, *message;
    double ratio;
  } cases[] = {{"wheel", "it follows joint \"wheel\", which there is not", 1.0},
               {"own", "has no coordinate that it could follow", 1.0},
               {"bolt", "joint \"bolt\", a \"weld\", has no coordinate", 1.0},
               {"bolt", "with a ratio of 0", 0.0}};
  double size[3] = {0.1, 0.1, 0.1};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    Linkage* linkage = linkage_new();
    World* world = &linkage->world;
    for (int b = 0; b < 2; b++) {
      add_rigid_box(linkage, size, (double[]){0.3 * b, 0, 0});
    }
    follow(&add_hinge(linkage, "own", 0, NOLI_NULL_INDEX, 0.0)->coordinate, cases[c].follows,
           cases[c].ratio);
    add_joint(linkage, "weld", 1, NOLI_NULL_INDEX, 0.3, 0.0)->name = "bolt";
    world_expect_refusal(world, cases[c].message);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bodies_slide_on_rails),
      cmocka_unit_test(bodies_move_in_planes),
      cmocka_unit_test(distances_are_kept),
      cmocka_unit_test(beads_leave_turning_rods),
      cmocka_unit_test(shafts_turn_by_cardans_rule),
      cmocka_unit_test(pairs_fly),
      cmocka_unit_test(soft_bodies_keep_distances),
      cmocka_unit_test(wrong_joints_are_refused),
      cmocka_unit_test(nuts_fall_along_screws),
      cmocka_unit_test(gears_share_a_torque),
      cmocka_unit_test(planets_carry),
      cmocka_unit_test(light_bodies_bear_heavy_ones),
      cmocka_unit_test(wrong_couplings_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
