// Joints: shared points of rigid bodies, against closed forms and independent integrations.
#include "linkage.h"

#include "noli/output.h"
#include "noli/repair.h"

// ---- pendulums ----------------------------------------------------------------------------------

// The angle below the horizontal after a second of a bar of length L that is let go there, by the
// classical Runge-Kutta method: I a'' = m g L/2 cos(a).
static double exact_angle(double L) {
  double rate = 0.5 * GRAVITY * L / ((L * L + 0.04 * 0.04) / 12.0 + 0.25 * L * L);
  double a = 0.0, w = 0.0;
  int n = 4000;
  for (int i = 0; i < n; i++) {
    double h = 1.0 / n, k[4], l[4];
    for (int s = 0; s < 4; s++) {
      double part = s == 0 ? 0.0 : s == 3 ? h : 0.5 * h;
      double before = s == 0 ? 0.0 : l[s - 1], turn = s == 0 ? 0.0 : k[s - 1];
      k[s] = w + part * before;
      l[s] = rate * cos(a + part * turn);
    }
    a += h / 6.0 * (k[0] + 2.0 * k[1] + 2.0 * k[2] + k[3]);
    w += h / 6.0 * (l[0] + 2.0 * l[1] + 2.0 * l[2] + l[3]);
  }
  return a;
}

static double swing(const char* type, const char* integrator, int n_steps) {
  double L = 0.5;
  Linkage* linkage = linkage_new();
  World* world = &linkage->world;
  int32_t bar = add_bar(linkage, 0.0, L, 0.0);
  add_joint(linkage, type, bar, NOLI_NULL_INDEX, 0.0, 0.0);
  world->def.integrator = integrator;
  world->def.time_step = 1.0 / n_steps;
  world->def.tolerance = (NoliScaled){1e-8, NOLI_ABSOLUTE};
  start(world);
  for (int n = 0; n < n_steps; n++) {
    rigid_step(world);
    ASSERT_AT_MOST(noli_norm3(point_of(world, bar, noli_vec3(0, 0, 0))), 1e-13);
  }
  NoliBodyState state = state_of(world, bar);
  ASSERT_NEAR(hypot(state.centre[0], state.centre[1]), 0.5 * L, 1e-8);
  ASSERT_AT_MOST(fabs(state.centre[2]), 1e-8);
  double angle = atan2(-state.centre[1], state.centre[0]);
  world_done(world);
  return fabs(angle - exact_angle(L));
}

static void pendulums_swing(void** state) {
  (void)state;
  static const struct {
    const char* integrator;
    double order;
  } of[] = {{"backward_euler", 1}, {"bdf2", 2}, {"tr_bdf2", 2}, {"trapezoidal", 2}};
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    double error[2] = {swing("hinge", of[i].integrator, 200),
                       swing("hinge", of[i].integrator, 400)};
    double order = log2(error[0] / error[1]);
    print_message("%s: angle off by %.2e and %.2e, order %.2f\n", of[i].integrator, error[0],
                  error[1], order);
    ASSERT_NEAR(order, of[i].order, 0.3);
  }
  ASSERT_AT_MOST(swing("ball", "bdf2", 200), 0.01);
}

// ---- chains and loops ---------------------------------------------------------------------------

// A chain of bars in free flight: its points stay shared, momentum is that of its weight, and
// angular momentum is kept as well as by a single body.
static void chains_fly(void** state) {
  (void)state;
  enum { BARS = 5, STEPS = 40 };
  for (int t = 0; t < 3; t++) {
    const char* type = (const char*[]){"ball", "hinge", "weld"}[t];
    Linkage* linkage = linkage_new();
    World* world = &linkage->world;
    for (int b = 0; b < BARS; b++) {
      int32_t bar = add_bar(linkage, 0.2 * b, 0.2 * (b + 1), 0.0);
      // those that give nodes follow
      world->body[bar].angular_velocity[2] = t < 2 ? b - 2.0 : 1.0;
      if (b > 0) {
        add_joint(linkage, type, bar, bar - 1, 0.2 * b, 0.0);
      }
    }
    world->def.integrator = "bdf2";
    world->def.time_step = 0.005;
    start(world);
    double before[3], mass = 0.0;
    for (int b = 0; b < BARS; b++) {
      mass += state_of(world, b).mass;
    }
    for (int n = 0; n < STEPS; n++) {
      rigid_step(world);
      if (n == 0) {
        memcpy(before, world->report.momentum, sizeof before);
      }
      for (int b = 1; b < BARS; b++) {
        NoliVec3 p = noli_vec3(0.2 * b, 0.0, 0.0);
        double apart = noli_norm3(noli_sub3(point_of(world, b, p), point_of(world, b - 1, p)));
        ASSERT_AT_MOST(apart, 1e-13);
      }
    }
    double fall = -mass * GRAVITY * 0.005 * (STEPS - 1);
    for (int k = 0; k < 3; k++) {
      ASSERT_NEAR(world->report.momentum[k] - before[k], k == 1 ? fall : 0.0, 1e-8 * mass);
    }
    if (t == 2) {
      // what is welded is as long as before
      NoliVec3 ends[2] = {point_of(world, 0, noli_vec3(0, 0, 0)),
                          point_of(world, BARS - 1, noli_vec3(1, 0, 0))};
      ASSERT_NEAR(noli_norm3(noli_sub3(ends[0], ends[1])), 1.0, 1e-7);
      assert_true(fabs(ends[0].y - ends[1].y) > 0.02);
    }
    world_done(world);
  }
}

// A parallelogram of three bars on the world falls sideways; its loop closes, one of its equations
// being met already.
static void loops_close(void** state) {
  (void)state;
  Linkage* linkage = linkage_new();
  World* world = &linkage->world;
  double size[3] = {0.03, 0.3, 0.03};
  for (int b = 0; b < 2; b++) {
    int32_t leg = world_add(world, make_box(world, size[0], size[1], size[2], 1),
                            (double[]){0.4 * b, 0.15, 0.0});
    world->body[leg].rigid.rigid = true;
    world->body[leg].velocity[0] = 0.3;
    world->body[leg].angular_velocity[2] = -2.0;
  }
  int32_t top = add_bar(linkage, 0.0, 0.4, 0.3);
  add_joint(linkage, "hinge", 0, NOLI_NULL_INDEX, 0.0, 0.0);
  add_joint(linkage, "hinge", 1, NOLI_NULL_INDEX, 0.4, 0.0);
  add_joint(linkage, "hinge", top, 0, 0.0, 0.3);
  add_joint(linkage, "hinge", top, 1, 0.4, 0.3);
  world->def.integrator = "bdf2";
  world->def.time_step = 0.005;
  start(world);
  for (int n = 0; n < 60; n++) {
    rigid_step(world);
    for (int b = 0; b < 2; b++) {
      NoliVec3 p = noli_vec3(0.4 * b, 0.3, 0.0);
      double apart = noli_norm3(noli_sub3(point_of(world, b, p), point_of(world, top, p)));
      ASSERT_AT_MOST(apart, 1e-8);
      ASSERT_AT_MOST(noli_norm3(noli_sub3(point_of(world, b, noli_vec3(0.4 * b, 0, 0)),
                                          noli_vec3(0.4 * b, 0, 0))),
                     1e-13);
    }
  }
  // the legs stay parallel, and the top level
  NoliVec3 left = point_of(world, top, noli_vec3(0.0, 0.3, 0.0));
  NoliVec3 right = point_of(world, top, noli_vec3(0.4, 0.3, 0.0));
  ASSERT_NEAR(left.y, right.y, 1e-6);
  ASSERT_NEAR(right.x - left.x, 0.4, 1e-6);
  assert_true(left.x > 0.1);
  world_done(world);
}

// ---- soft bodies, the world, restarts -----------------------------------------------------------

// A soft block hangs on a bar that is welded to the world, by a ball joint.
static void soft_bodies_hang(void** state) {
  (void)state;
  Linkage* linkage = linkage_new();
  World* world = &linkage->world;
  int32_t bar = add_bar(linkage, 0.0, 0.5, 0.0);
  int32_t soft = world_add(world, make_box(world, 0.1, 0.1, 0.1, 2), (double[]){0.5, -0.0725, 0});
  world->body[soft].material.young = 5e4;
  world->body[soft].material.mass_damping = 10.0;
  add_joint(linkage, "weld", bar, NOLI_NULL_INDEX, 0.0, 0.0);
  int32_t hook = world_add(world, make_box(world, 0.05, 0.05, 0.05, 1), (double[]){0.5, -0.2, 0});
  world->body[hook].rigid.rigid = true;
  add_joint(linkage, "ball", hook, soft, 0.5, -0.1225);
  add_joint(linkage, "ball", bar, soft, 0.5, -0.0225);
  // nothing of the bar is left that could follow the block, so this is a constraint
  start(world);
  for (int n = 0; n < 10; n++) {
    rigid_step(world);
    ASSERT_AT_MOST(world->report.joint_gap, 1e-8);
  }
  assert_true(world->report.joint_gap > 0.0);
  world_done(world);

  linkage = linkage_new();
  world = &linkage->world;
  bar = add_bar(linkage, 0.0, 0.5, 0.0);
  soft = world_add(world, make_box(world, 0.1, 0.1, 0.1, 2), (double[]){0.5, -0.0725, 0});
  world->body[soft].material.young = 5e4;
  hook = world_add(world, make_box(world, 0.05, 0.05, 0.05, 1), (double[]){0.5, -0.15, 0});
  world->body[hook].rigid.rigid = true;
  add_joint(linkage, "ball", bar, soft, 0.5, -0.0225);
  add_joint(linkage, "ball", hook, soft, 0.5, -0.1225);
  start(world);
  NoliVec3 p = noli_vec3(0.5, -0.1225, 0.0);
  for (int n = 0; n < 30; n++) {
    rigid_step(world);
  }
  double nearest = (double)INFINITY;
  int32_t first, count;
  noli_sim_body_range(world->sim, soft, &first, &count);
  NoliVec3 at = point_of(world, hook, p);
  for (int32_t v = first; v < first + count; v++) {
    const double *x = noli_sim_positions(world->sim), *X = noli_sim_rest_positions(world->sim);
    if (noli_norm3(noli_sub3(noli_load3(X + 3 * v), p)) < 1e-9) {
      nearest = noli_norm3(noli_sub3(noli_load3(x + 3 * v), at));
    }
  }
  ASSERT_AT_MOST(nearest, 1e-13);
  world_done(world);
}

// A bar that is welded to the world stays to the bit; one that hangs on it by a hinge, held by a
// spring, finds its balance without inertia, where the spring bears half of the weight.
static void the_world_holds(void** state) {
  (void)state;
  static const int32_t end[] = {4, 5, 6, 7};
  Linkage* linkage = linkage_new();
  World* world = &linkage->world;
  int32_t bar = add_bar(linkage, 0.0, 0.5, 0.0), arm = add_bar(linkage, 0.5, 1.0, 0.0);
  NoliSpringDef spring = noli_default_spring_def();
  spring.body = arm;
  spring.node = end;
  spring.n_node = 4;
  spring.stiffness = 1000.0;
  spring.length = 0.0;
  world->def.springs = &spring;
  world->def.n_springs = 1;
  world->def.integrator = "quasi_static";
  add_joint(linkage, "weld", bar, NOLI_NULL_INDEX, 0.0, 0.0);
  add_joint(linkage, "hinge", arm, bar, 0.5, 0.0);
  start(world);
  double before[12];
  memcpy(before, noli_sim_positions(world->sim), sizeof before);
  rigid_step(world);
  assert_memory_equal(noli_sim_positions(world->sim), before, sizeof before);
  const NoliSpringForce* springs;
  int32_t n;
  ASSERT_OK(noli_sim_springs(world->sim, &springs, &n));
  double weight = GRAVITY * state_of(world, arm).mass;
  print_message("the spring bears %.6g N of %.6g N\n", springs[0].force[1], weight);
  ASSERT_NEAR(springs[0].force[1], 0.5 * weight, 1e-3 * weight);
  world_done(world);
}

static Linkage* walker(void) {
  Linkage* linkage = linkage_new();
  World* world = &linkage->world;
  for (int b = 0; b < 3; b++) {
    int32_t bar = add_bar(linkage, 0.3 * b, 0.3 * (b + 1), 0.3);
    add_joint(linkage, b == 1 ? "hinge" : "ball", bar, b == 0 ? NOLI_NULL_INDEX : bar - 1, 0.3 * b,
              0.3);
  }
  world_add_plane(world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  world->def.friction = 0.3;
  return linkage;
}

static void linkages_resume(void** state) {
  (void)state;
  static const char* const solvers[] = {"projected_newton", "augmented_lagrangian",
                                        "implicit_newton"};
  for (int s = 0; s < 3; s++) {
    World world[2];
    static NoliJointDef joint[2][JOINTS];
    int64_t contacts = 0;
    for (int w = 0; w < 2; w++) {
      Linkage* linkage = walker();
      world[w] = linkage->world;
      memcpy(joint[w], linkage->joint, sizeof joint[w]);
      world[w].def.joints = joint[w];
      world[w].def.solver = solvers[s];
      start(&world[w]);
    }
    for (int n = 0; n < 50; n++) {
      rigid_step(&world[0]);
      contacts += world[0].report.contacts;
      if (n == 40) {
        ASSERT_OK(
            noli_checkpoint_save(world[0].context, world[0].sim, NULL, "checkpoint_joint.h5"));
        ASSERT_OK(noli_checkpoint_load(world[1].context, world[1].sim, "checkpoint_joint.h5"));
      } else if (n > 40) {
        rigid_step(&world[1]);
        assert_null(noli_sim_state_difference(world[0].sim, world[1].sim));
      }
    }
    assert_true(contacts > 0);
    world_done(&world[0]);
    world_done(&world[1]);
  }
}

// A start where a box overlaps a bar that is joined to the world: the box moves, the bar stays.
static void starts_are_repaired(void** state) {
  (void)state;
  Linkage* linkage = linkage_new();
  World* world = &linkage->world;
  int32_t bar = add_bar(linkage, 0.0, 0.5, 0.0);
  int32_t box = world_add(world, make_box(world, 0.1, 0.1, 0.1, 1), (double[]){0.4, 0.06, 0.0});
  world->body[box].rigid.rigid = true;
  add_joint(linkage, "hinge", bar, NOLI_NULL_INDEX, 0.0, 0.0);
  world->def.bodies = world->body;
  NoliRepair repair;
  ASSERT_OK(noli_sim_repair(world->context, &world->def, NULL, &repair));
  ASSERT_AT_MOST(repair.move[bar].distance, 0.0);
  ASSERT_NEAR(repair.move[box].distance, 0.0105, 0.002);
  ASSERT_AT_MOST(repair.move[box].deformation, 0.0);

  // it starts where the repair has put it
  double x0[24];
  memcpy(x0, repair.move[box].x0, sizeof x0);
  world->body[box].x0 = x0;
  noli_repair_free(world->context, &repair);
  start(world);
  rigid_step(world);
  world_done(world);
}

// ---- refusals -----------------------------------------------------------------------------------

// Lack of memory at any request leaves nothing behind.
static void memory_can_be_short(void** state) {
  (void)state;
  TestMemory memory;
  NoliContext* context = test_context_on(&memory, 1);
  NoliMesh* mesh[2];
  NoliBodyDef body[2];
  NoliJointDef joint[2];
  NoliSim* sim = NULL;
  for (int b = 0; b < 2; b++) {
    ASSERT_OK(noli_mesh_make_box(context, (double[]){0.5, 0.1, 0.1}, (int32_t[]){1, 1, 1}, false,
                                 &mesh[b]));
    noli_mesh_transform(mesh[b], (double[]){1, 1, 1}, (double[]){0, 0, 0},
                        (double[]){0.5 * b, 0, 0});
    body[b] = noli_default_body_def();
    body[b].mesh = mesh[b];
    body[b].rigid.rigid = true;
    joint[b] = noli_default_joint_def();
    joint[b].type = b == 0 ? "hinge" : "ball";
    joint[b].body = b;
    joint[b].to = b - 1;
    joint[b].at[0] = 0.5 * b - 0.25;
  }
  NoliSimDef def = noli_default_sim_def();
  def.bodies = body;
  def.n_bodies = 2;
  def.joints = joint;
  def.n_joints = 2;
  NoliStatus status = NOLI_ERROR_MEMORY;
  int64_t k = 1;
  for (; status != NOLI_OK; k++) {
    test_refuse(&memory, k);
    status = noli_sim_create(context, &def, &sim);
    assert_true(status == NOLI_OK || (status == NOLI_ERROR_MEMORY && sim == NULL));
  }
  print_message("%lld requests\n", (long long)k);
  assert_true(k > 200);
  test_refuse(&memory, 0);
  noli_sim_destroy(&sim);
  noli_mesh_destroy(context, &mesh[0]);
  noli_mesh_destroy(context, &mesh[1]);
  test_context_done(&context);
}

// Along -x at 0.5 m/s for a second.
static void come_closer(void* user, double t0, double t1, int32_t n, const int32_t* node,
                        const double* X, const double* x_t0, double* x_t1) {
  (void)user, (void)node, (void)X;
  for (int32_t i = 0; i < 3 * n; i++) {
    x_t1[i] = x_t0[i] - (i % 3 == 0 ? 0.5 * (fmin(t1, 1.0) - fmin(t0, 1.0)) : 0.0);
  }
}

// A chain between the world and a trolley that comes closer hangs as chains do: the slopes of its
// links grow by the weight of a link over the horizontal tension. Its first links follow each
// other, the rest are constraints.
static void long_chains_hang(void** state) {
  (void)state;
  enum { LINKS = 30 };
  for (int solver = 0; solver < 3; solver++) {
    Linkage* linkage = linkage_new();
    World* world = &linkage->world;
    for (int b = 0; b <= LINKS; b++) {
      add_bar(linkage, 0.1 * b, 0.1 * (b + 1), 0.0);
      add_joint(linkage, b % 2 == 0 ? "ball" : "hinge", b, b - 1, 0.1 * b, 0.0);
    }
    linkage->joint[0].to = NOLI_NULL_INDEX;
    world_add_motion(world, LINKS, come_closer, NULL);
    world->def.solver =
        (const char*[]){"projected_newton", "augmented_lagrangian", "implicit_newton"}[solver];
    world->body[0].material.mass_damping = 6.0;
    world->def.time_step = 0.01;
    for (int b = 0; b < LINKS; b++) {
      world->body[b].material.mass_damping = 6.0;
    }
    start(world);
    for (int n = 0; n < 500; n++) {
      rigid_step(world);
      ASSERT_AT_MOST(world->report.joint_gap, 1e-8);
    }
    double slope[LINKS];
    for (int b = 0; b < LINKS; b++) {
      NoliVec3 from = point_of(world, b, noli_vec3(0.1 * b, 0, 0));
      NoliVec3 to = point_of(world, b, noli_vec3(0.1 * (b + 1), 0, 0));
      slope[b] = (to.y - from.y) / (to.x - from.x);
    }
    double step = (slope[LINKS - 1] - slope[0]) / (LINKS - 1);
    for (int b = 1; b < LINKS; b++) {
      ASSERT_NEAR(slope[b] - slope[b - 1], step, 1e-3 * step);
    }
    print_message("%s: slopes from %.4f to %.4f\n", world->def.solver, slope[0], slope[LINKS - 1]);
    ASSERT_NEAR(slope[0], -slope[LINKS - 1], 1e-3);
    world_done(world);
  }
}

static void bad_joints_are_refused(void** state) {
  (void)state;
  static const struct {
    const char* message;
    int which;
  } cases[] = {{"its points are 0.1 m apart at the start", 0},
               {"\"body0\" is not rigid", 1},
               {"deforms, so it has no axes", 2},
               {"is 0.281 m away from \"body1\"", 3},
               {"is an obstacle: make it a rigid body", 4},
               {"did you mean \"hinge\"", 5},
               {"it joins body \"body0\" to itself", 6},
               {"motions prescribe both sides", 8},
               {"has an axis of 0", 9},
               {"the other body must be", 10}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    Linkage* linkage = linkage_new();
    World* world = &linkage->world;
    int32_t bar = add_bar(linkage, 0.0, 0.5, 0.0), other = add_bar(linkage, 0.5, 1.0, 0.0);
    NoliJointDef* joint = add_joint(linkage, "ball", bar, other, 0.5, 0.0);
    switch (cases[c].which) {
    case 0:
      joint->has_to_at = true;
      memcpy(joint->to_at, (double[]){0.5, 0.1, 0.0}, sizeof joint->to_at);
      break;
    case 1:
      joint->type = "hinge";
      world->body[bar].rigid.rigid = false;
      break;
    case 2:
      joint->type = "hinge";
      world->body[other].rigid.rigid = false;
      break;
    case 3:
      world->body[other].rigid.rigid = false;
      joint->at[1] = 0.3;
      break;
    case 4:
      world->body[other].rigid.rigid = false;
      world->body[other].obstacle = true;
      break;
    case 5:
      joint->type = "hing";
      break;
    case 6:
      joint->to = bar;
      break;
    case 8:
      world_add_motion(world, other, NULL, NULL);
      world_add_motion(world, bar, NULL, NULL);
      break;
    case 9:
      joint->axis[2] = 0.0;
      break;
    case 10:
      joint->to = -5;
      break;
    default:
      break;
    }
    world_expect_refusal(world, cases[c].message);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pendulums_swing),     cmocka_unit_test(chains_fly),
      cmocka_unit_test(loops_close),         cmocka_unit_test(soft_bodies_hang),
      cmocka_unit_test(the_world_holds),     cmocka_unit_test(linkages_resume),
      cmocka_unit_test(starts_are_repaired), cmocka_unit_test(long_chains_hang),
      cmocka_unit_test(memory_can_be_short), cmocka_unit_test(bad_joints_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
