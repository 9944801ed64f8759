// The claim of [Huang2025] section 6.1, on bodies that deform until parts of their own mesh come
// close: the barrier of [Li2020] pushes them apart, the geometric contact potential does not.
// Prints the numbers of both.
#include "step/world.h"

// Sum of the magnitudes of contact forces on all vertices, N, of those within `radius` of a point.
static double contact_force(const World* world, const double centre[3], double radius) {
  int32_t n = noli_sim_vertex_count(world->sim);
  const double* x = noli_sim_positions(world->sim);
  double sum = 0.0, *force = calloc(3 * (size_t)n, sizeof *force);
  ASSERT_OK(noli_sim_contact_forces(world->sim, force));
  for (int32_t i = 0; i < n; i++) {
    bool near = noli_norm3(noli_sub3(noli_load3(x + 3 * i), noli_load3(centre))) <= radius;
    sum += near ? noli_norm3(noli_load3(force + 3 * i)) : 0.0;
  }
  free(force);
  return sum;
}

// J/m^2.
#define BOUNCE 1e6

static const double origin[3] = {0.0, 0.0, 0.0};

// Vertices of a body whose coordinate along an axis is extreme.
static int32_t pick(const NoliMesh* mesh, int axis, double at, int32_t* node) {
  int32_t n = 0;
  for (int32_t v = 0; v < mesh->n_vert; v++) {
    if (fabs(mesh->x[3 * v + axis] - at) < 1e-9) {
      node[n++] = v;
    }
  }
  return n;
}

// Figure 21: without transverse contraction the sides of a cube stay flat, and its edges shrink to
// a third. F = diag(1, 1/3, 1), so that the energy is mu V (1/2 (1/9 - 1) - ln(1/3)).
static void flat_sides_feel_no_pressure(void** state) {
  (void)state;

  // a box that is compressed to a third
  static const WorldContact uses[] = {
      {"ipc", 0.0, 0.03}, {"gcp", 0.5, 0.03}, {"gcp", 1.0, 0.03}, {"no contact", 0.0, 0.03}};
  double force[4], energy[4];
  for (int i = 0; i < 4; i++) {
    World world = world_new(1);
    world_use(&world, uses[i]);
    if (i == 3) {
      world.def.contact_model = "ipc";
      world.def.contact = false;
      world.def.audit = "off";
    }
    int32_t box = world_add(&world, make_box(&world, 0.3, 0.3, 0.3, 6), origin);
    world.body[box].material =
        (NoliMaterialDef){.law = "neo_hookean", .young = 1e5, .poisson = 0.0, .density = 1000.0};
    int32_t node[2][64];
    static double speed = 0.2;
    for (int end = 0; end < 2; end++) {
      NoliMotionDef* motion =
          world_add_motion(&world, box, end == 0 ? NULL : move_down, end == 0 ? NULL : &speed);
      motion->node = node[end];
      motion->n_node = pick(world.mesh[box], 1, end == 0 ? -0.15 : 0.15, node[end]);
      assert_int_equal(motion->n_node, 49);
    }
    world.def.integrator = "quasi_static";
    world.def.gravity[1] = 0.0;
    world.def.time_step = 0.025;
    world.def.tolerance = (NoliScaled){1e-6, false};
    world_start(&world);
    for (int s = 0; s < 40; s++) {
      world_step(&world);
    }
    double want = 0.5 * 1e5 * 0.027 * (0.5 * (1.0 / 9.0 - 1.0) + log(3.0));
    force[i] = contact_force(&world, origin, 10.0);
    energy[i] = world.report.elastic;
    print_message("cube at 33 %%, %s %g: contact forces %.3g N, %lld contacts, energy %.8f of the "
                  "exact one, motion done %.6f\n",
                  uses[i].model, uses[i].alpha, force[i], (long long)world.report.contacts,
                  energy[i] / want, world.report.motion_done);
    ASSERT_NEAR(energy[i], want, 1e-3 * want);
    world_done(&world);
  }

  // only the barrier pushes
  ASSERT_AT_LEAST(force[0], 100.0);
  ASSERT_AT_LEAST(fabs(energy[0] - energy[3]), 1e-6 * energy[3]);
  for (int i = 1; i < 3; i++) {
    assert_true(force[i] == 0.0);
    ASSERT_NEAR(energy[i], energy[3], 1e-7 * energy[3]);
  }
}

// Outward on every vertex, growing with time; `user` points to N/m of distance from the centre.
static void blow(void* user, double t, const double X[3], double value[3]) {
  for (int k = 0; k < 3; k++) {
    value[k] = *(const double*)user * fmin(t / 0.2, 1.0) * X[k];
  }
}

// Figure 22: the wall of an inflated hollow ball becomes thinner than the support.
static void a_balloon_does_not_push_itself_apart(void** state) {
  (void)state;

  // inflate a hollow ball
  static const WorldContact uses[] = {{"ipc", 0.0, 0.012}, {"gcp", 0.5, 0.012}};
  double force[2] = {0.0, 0.0};
  int64_t contacts[2] = {0, 0};
  for (int i = 0; i < 2; i++) {
    World world = world_new(1);
    world_use(&world, uses[i]);
    NoliMesh* mesh = NULL;
    ASSERT_OK(noli_mesh_make_hollow_sphere(world.context, 0.1, 0.08, 3, 1, false, &mesh));
    int32_t ball = world_add(&world, mesh, origin);
    world.body[ball].material = (NoliMaterialDef){.law = "neo_hookean",
                                                  .young = 1e5,
                                                  .poisson = 0.4,
                                                  .density = 1000.0,
                                                  .mass_damping = 20.0};
    static double strength = 400.0;
    const NoliForceDef outward = {.size = sizeof(NoliForceDef),
                                  .kind = "nodal",
                                  .body = ball,
                                  .t_end = (double)INFINITY,
                                  .value = blow,
                                  .user = &strength};
    world.def.forces = &outward;
    world.def.n_forces = 1;
    world.def.gravity[1] = 0.0;
    world_start(&world);
    double thinnest = 1.0;
    for (int s = 0; s < 40; s++) {
      world_step(&world);
      force[i] = noli_larger(force[i], contact_force(&world, origin, 10.0));
      contacts[i] += world.report.contacts_max;
    }
    // inner vertices against outer ones
    const double *x = noli_sim_positions(world.sim), *X = noli_sim_rest_positions(world.sim);
    double outer = 0.0;
    for (int32_t v = 0; v < noli_sim_vertex_count(world.sim); v++) {
      NoliVec3 a = noli_load3(x + 3 * v);
      outer = noli_larger(outer, noli_norm3(a));
      for (int32_t w = 0; w < noli_sim_vertex_count(world.sim); w++) {
        bool through = noli_norm3(noli_load3(X + 3 * v)) < 0.09 - 1e-6 &&
                       noli_norm3(noli_load3(X + 3 * w)) > 0.09 + 1e-6;
        double d = noli_norm3(noli_sub3(a, noli_load3(x + 3 * w)));
        thinnest = through ? noli_smaller(thinnest, d) : thinnest;
      }
    }
    print_message("balloon, %s: radius %.3f m, wall %.4f m, contact forces up to %.3g N\n",
                  uses[i].model, outer, thinnest, force[i]);
    world_done(&world);
  }

  // only the barrier pushes
  ASSERT_AT_LEAST(force[0], 1.0);
  assert_true(force[1] == 0.0 && contacts[1] == 0);
}

// A hollow ring around z: a lattice of around x across x 1 boxes, each split into six tetrahedra.
static NoliMesh* hollow_ring(NoliContext* context, double ring, double outer, double inner) {
  enum { AROUND = 16, ACROSS = 8, BOXES = AROUND * ACROSS };
  static const int order[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

  // vertices of the lattice
  const double pi = 3.14159265358979323846;
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_create(context, 2 * BOXES, 6 * BOXES, 0, 0, 0, false, &mesh));
  for (int32_t v = 0; v < 2 * BOXES; v++) {
    double a = 2.0 * pi * (v % AROUND) / AROUND, b = 2.0 * pi * (v / AROUND % ACROSS) / ACROSS;
    double tube = v < BOXES ? inner : outer, r = ring + tube * cos(b);
    noli_store3(mesh->x + 3 * v, noli_vec3(r * cos(a), r * sin(a), tube * sin(b)));
  }

  // tetrahedra of each box
  for (int32_t box = 0; box < BOXES; box++) {
    for (int k = 0; k < 6; k++) {
      int32_t step[3] = {0, 0, 0}, *tet = mesh->tet + 4 * (6 * box + k);
      for (int c = 0; c < 4; c++) {
        int32_t i = (box % AROUND + step[0]) % AROUND, j = (box / AROUND + step[1]) % ACROSS;
        tet[c] = i + AROUND * (j + ACROSS * step[2]);
        step[c < 3 ? order[k][c] : 0]++;
      }
      NoliVec3 x[4];
      for (int c = 0; c < 4; c++) {
        x[c] = noli_load3(mesh->x + 3 * tet[c]);
      }
      NoliVec3 normal = noli_cross3(noli_sub3(x[1], x[0]), noli_sub3(x[2], x[0]));
      if (noli_dot3(normal, noli_sub3(x[3], x[0])) < 0.0) {
        int32_t swap = tet[2];
        tet[2] = tet[3];
        tet[3] = swap;
      }
    }
  }
  return mesh;
}

// Away from the circle in the middle of the tube.
static void blow_ring(void* user, double t, const double X[3], double value[3]) {
  double r = hypot(X[0], X[1]), away = 1.0 - 0.1 / r;
  double strength = *(const double*)user * fmin(t / 0.2, 1.0);
  value[0] = strength * away * X[0];
  value[1] = strength * away * X[1];
  value[2] = strength * X[2];
}

// Figure 23: a hollow ring is inflated around a stick. Only the stick may push.
static void a_ring_feels_the_stick_alone(void** state) {
  (void)state;

  // inflate a ring around a stick
  static const WorldContact uses[] = {{"ipc", 0.0, 0.013}, {"gcp", 0.5, 0.013}};
  double self[2] = {0.0, 0.0}, stick_force[2] = {0.0, 0.0};
  for (int i = 0; i < 2; i++) {
    World world = world_new(1);
    world_use(&world, uses[i]);
    int32_t ring = world_add(&world, hollow_ring(world.context, 0.1, 0.045, 0.03), origin);
    world.body[ring].material = (NoliMaterialDef){.law = "neo_hookean",
                                                  .young = 1e5,
                                                  .poisson = 0.4,
                                                  .density = 1000.0,
                                                  .mass_damping = 20.0};
    NoliMesh* stick = NULL;
    ASSERT_OK(noli_mesh_make_cylinder(world.context, 0.04, 0.4, 4, 6, true, &stick));
    noli_mesh_transform(stick, (double[]){1, 1, 1}, (double[]){90, 0, 0}, origin);
    world_add_obstacle(&world, stick, origin);
    static double strength = 400.0;
    const NoliForceDef outward = {.size = sizeof(NoliForceDef),
                                  .kind = "nodal",
                                  .body = ring,
                                  .t_end = (double)INFINITY,
                                  .value = blow_ring,
                                  .user = &strength};
    world.def.forces = &outward;
    world.def.n_forces = 1;
    world.def.gravity[1] = 0.0;
    world_start(&world);
    int64_t own = 0;
    for (int s = 0; s < 30; s++) {
      world_step(&world);
      const NoliPairForce* pairs;
      int32_t n_pairs;
      ASSERT_OK(noli_sim_pair_forces(world.sim, &pairs, &n_pairs));
      for (int32_t p = 0; p < n_pairs; p++) {
        own += pairs[p].a == pairs[p].b ? pairs[p].contacts : 0;
        stick_force[i] += pairs[p].a != pairs[p].b ? (double)pairs[p].contacts : 0.0;
      }
    }
    self[i] = (double)own;
    print_message("ring around a stick, %s: %lld contacts of the ring with itself, %g with the "
                  "stick, in all steps\n",
                  uses[i].model, (long long)own, stick_force[i]);
    world_done(&world);
  }

  // only the barrier pushes within the ring
  assert_true(self[0] > 0.0 && self[1] == 0.0);
  assert_true(stick_force[0] > 0.0 && stick_force[1] > 0.0);
}

// Two legs that meet at `angle`: a strip whose inner side has a cusp at x = 0, y = 0. Thickness is
// measured along y.
static NoliMesh* two_legs(NoliContext* context, double angle) {
  enum { CELLS = 16 };
  const double length = 0.4, thickness = 0.08;
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_box(context, (double[]){2.0 * length, thickness, 0.1},
                               (int32_t[]){CELLS, 2, 2}, false, &mesh));
  for (int32_t v = 0; v < mesh->n_vert; v++) {
    double s = mesh->x[3 * v], y = mesh->x[3 * v + 1] - 0.5 * thickness;
    mesh->x[3 * v] = s * sin(0.5 * angle);
    mesh->x[3 * v + 1] = fabs(s) * cos(0.5 * angle) + y;
  }
  return mesh;
}

// Moves everything right of the middle to the left, and vice versa.
static void close_legs(void* user, double t0, double t1, int32_t n, const int32_t* node,
                       const double* X, const double* x_t0, double* x_t1) {
  (void)node;
  memcpy(x_t1, x_t0, sizeof *x_t1 * 3 * (size_t)n);
  for (int32_t i = 0; i < n; i++) {
    x_t1[3 * i] += (X[3 * i] > 0.0 ? -1.0 : 1.0) * *(const double*)user * (t1 - t0);
  }
}

// Figure 24: the legs are pressed together until the angle between them is small. Near the cusp
// there is no room for contact forces: the smaller alpha, the fewer there are.
static void a_cusp_stays_free_of_forces(void** state) {
  (void)state;

  // two legs close to each other
  static const WorldContact uses[] = {
      {"ipc", 0.0, 0.03}, {"gcp", 1.0, 0.03}, {"gcp", 0.5, 0.03}, {"gcp", 0.05, 0.03}};
  double force[4];
  for (int i = 0; i < 4; i++) {
    World world = world_new(1);
    world_use(&world, uses[i]);
    int32_t legs = world_add(&world, two_legs(world.context, 1.0), origin);
    world.body[legs].material =
        (NoliMaterialDef){.law = "neo_hookean", .young = 1e5, .poisson = 0.3, .density = 1000.0};
    int32_t node[64], n = 0;
    for (int32_t v = 0; v < world.mesh[legs]->n_vert; v++) {
      if (fabs(world.mesh[legs]->x[3 * v]) > 0.4 * sin(0.5) - 1e-6) {
        node[n++] = v;
      }
    }
    static double speed = 0.16;
    NoliMotionDef* motion = world_add_motion(&world, legs, close_legs, &speed);
    motion->node = node;
    motion->n_node = n;
    world.def.integrator = "quasi_static";
    world.def.gravity[1] = 0.0;
    world.def.time_step = 0.1;
    world_start(&world);
    for (int s = 0; s < 10; s++) {
      world_step(&world);
    }
    force[i] = contact_force(&world, origin, 0.055);
    print_message("cusp, %s %g: contact forces %.4g N within 0.055 m of it, %.4g N in all, %lld "
                  "contacts, gap %.3g m\n",
                  uses[i].model, uses[i].alpha, force[i], contact_force(&world, origin, 10.0),
                  (long long)world.report.contacts, world.report.min_distance);
    world_done(&world);
  }

  // forces decrease with alpha
  ASSERT_AT_LEAST(force[0], 10.0 * force[2]);
  ASSERT_AT_MOST(force[2], force[1]);
  ASSERT_AT_MOST(force[3], force[2]);
}

// Figure 38: a cube falls on a slab corner first. With a fixed support and a fixed width of
// features its minimum gap and its path do not change as both are refined.
static void a_corner_bounces_alike_on_every_mesh(void** state) {
  (void)state;

  // each level of refinement
  enum { LEVELS = 3, STEPS = 40 };
  double height[LEVELS][STEPS], difference[LEVELS], lowest[LEVELS];
  for (int level = 0; level < LEVELS; level++) {
    World world = world_new(1);
    world_use(&world, (WorldContact){"gcp", 0.8, 0.06});
    world.def.gcp.length = (NoliScaled){0.03, false};
    NoliMesh* cube = make_box(&world, 0.1, 0.1, 0.1, 1 << level);
    noli_mesh_transform(cube, (double[]){1, 1, 1}, (double[]){45, 0, 35.264}, origin);
    int32_t body = world_add(&world, cube, (double[]){0, 0.15, 0});
    world.body[body].material.young = 1e8;
    world.body[body].velocity[1] = -1.0;
    NoliMesh* slab = NULL;
    ASSERT_OK(noli_mesh_make_box(world.context, (double[]){0.3, 0.1, 0.3},
                                 (int32_t[]){8 << level, 2, 8 << level}, true, &slab));
    world_add_obstacle(&world, slab, (double[]){0.013, -0.05, 0.007});
    world.def.time_step = 2e-3;
    world.def.barrier_stiffness = BOUNCE;
    world_start(&world);
    double least = 1.0;
    for (int s = 0; s < STEPS; s++) {
      double centre[3];
      world_step(&world);
      world_centre(&world, 0, centre);
      height[level][s] = centre[1];
      least = noli_smaller(least, world_lowest(&world, 0));
    }
    lowest[level] = least;
    difference[level] = 0.0;
    for (int s = 0; level > 0 && s < STEPS; s++) {
      difference[level] =
          noli_larger(difference[level], fabs(height[level][s] - height[level - 1][s]));
    }
    print_message("corner impact, %d cells: height after %.2f s %.5f m, lowest %.5f m, change of "
                  "the path %.2g m\n",
                  1 << level, STEPS * world.def.time_step, height[level][STEPS - 1], least,
                  difference[level]);
    world_done(&world);
  }

  // the gap neither closes nor opens under refinement, and the paths stay close to each other
  ASSERT_NEAR(lowest[1], lowest[0], 0.05 * lowest[0]);
  ASSERT_NEAR(lowest[2], lowest[0], 0.05 * lowest[0]);
  ASSERT_AT_MOST(difference[1], 6e-3);
  ASSERT_AT_MOST(difference[2], 6e-3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(flat_sides_feel_no_pressure),
      cmocka_unit_test(a_balloon_does_not_push_itself_apart),
      cmocka_unit_test(a_ring_feels_the_stick_alone),
      cmocka_unit_test(a_cusp_stays_free_of_forces),
      cmocka_unit_test(a_corner_bounces_alike_on_every_mesh),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
