// Tractions and pressures on the faces of bodies, against closed forms.
#include "step/world.h"

#include <string.h>

static const double origin[3] = {0.0, 0.0, 0.0};

static void constant(void* user, double t, const double X[3], double value[3]) {
  (void)t, (void)X;
  memcpy(value, user, 3 * sizeof *value);
}

// Vertices whose coordinate is `at`; returns their number.
static int32_t select_plane(const NoliMesh* mesh, int axis, double at, int32_t* node) {
  int32_t n = 0;
  for (int32_t i = 0; i < mesh->n_vert; i++) {
    if (fabs(mesh->x[3 * i + axis] - at) < 1e-9) {
      node[n++] = i;
    }
  }
  return n;
}

typedef struct Loaded {
  World world;
  NoliForceDef force;
  double value[3];
  int32_t pulled[2000], held[3][2000];
  int32_t n_pulled;
} Loaded;

static void set_quasi_static(World* world) {
  world->def.integrator = "quasi_static";
  world->def.time_step = 1.0;
  world->def.gravity[1] = 0.0;
  world->def.contact = false;
  world->def.tolerance = (NoliScaled){1e-10, false};
}

// A box of length 2 in x with symmetry planes at its lower sides.
static void make_supported_box(Loaded* l, const char* kind, int32_t order, const char* solver) {
  NoliMesh* mesh = NULL;
  const double size[3] = {2.0, 1.0, 1.0};
  const int32_t cells[3] = {4, 2, 2};
  l->world = world_new(1);
  ASSERT_OK(noli_mesh_make_box(l->world.context, size, cells, false, &mesh));
  int32_t body = world_add(&l->world, mesh, (double[3]){1.0, 0.5, 0.5});
  l->world.body[body].order = order;
  l->world.body[body].material.law = "stvk";
  l->world.body[body].material.young = 1e6;
  l->world.body[body].material.poisson = 0.3;
  for (int axis = 0; axis < 3; axis++) {
    NoliMotionDef* motion = world_add_motion(&l->world, body, NULL, NULL);
    motion->node = l->held[axis];
    motion->n_node = select_plane(mesh, axis, 0.0, l->held[axis]);
    for (int k = 0; k < 3; k++) {
      motion->free_axis[k] = k != axis;
    }
  }
  l->force = noli_default_force_def();
  l->force.kind = kind;
  l->force.value = constant;
  l->force.user = l->value;
  l->world.def.forces = &l->force;
  l->world.def.n_forces = 1;
  l->world.def.solver = solver;
  set_quasi_static(&l->world);
}

// Lets motions and force act on all nodes of elements of high order, not only on vertices.
static void select_nodes(Loaded* l, int axis, double at) {
  NoliSim* sim = NULL;
  NoliSimDef def = l->world.def;
  def.n_forces = 0;
  def.n_motions = 0;
  def.bodies = l->world.body;
  ASSERT_OK(noli_sim_create(l->world.context, &def, &sim));
  NoliMesh nodes = {.n_vert = noli_sim_node_count(sim),
                    .x = (double*)(uintptr_t)noli_sim_rest_positions(sim)};
  assert_in_range(nodes.n_vert, 1, 2000);
  for (int k = 0; k < l->world.def.n_motions; k++) {
    l->world.motion[k].n_node = select_plane(&nodes, k, 0.0, l->held[k]);
  }
  l->force.node = axis >= 0 ? l->pulled : NULL;
  l->force.n_node = axis >= 0 ? select_plane(&nodes, axis, at, l->pulled) : 0;
  noli_sim_destroy(&sim);
}

// A bar under a traction, and under the negative pressure that is the same to first order.
static void bars_extend_by_traction_over_modulus(void** state) {
  (void)state;
  const char* const kinds[] = {"traction", "pressure"};
  for (int k = 0; k < 16; k++) {
    Loaded l = {0};
    make_supported_box(&l, kinds[k % 2], 1 + k / 4,
                       k % 4 < 2 ? "projected_newton" : "implicit_newton");
    l.value[0] = k % 2 == 0 ? 10.0 : -10.0;
    l.value[1] = 77.0 * (k % 2); // a pressure is component 0 alone
    select_nodes(&l, 0, 2.0);
    world_start(&l.world);
    world_step(&l.world);
    const double *x = noli_sim_positions(l.world.sim), *X = noli_sim_rest_positions(l.world.sim);
    int32_t n = noli_sim_node_count(l.world.sim);
    for (int32_t i = 0; i < n; i++) {
      ASSERT_NEAR((x[3 * i] - X[3 * i]) / 1e-5, X[3 * i], 1e-3);
      ASSERT_NEAR((x[3 * i + 1] - X[3 * i + 1]) / 1e-5, -0.3 * X[3 * i + 1], 1e-3);
    }
    double* force = malloc(3 * sizeof *force * (size_t)noli_sim_vertex_count(l.world.sim));
    double sum = 0.0;
    ASSERT_OK(noli_sim_reaction_forces(l.world.sim, force));
    for (int32_t i = 0; i < n; i++) {
      sum += force[3 * i];
    }
    free(force);
    ASSERT_NEAR(sum, -10.0, 1e-3);
    world_done(&l.world);
  }
}

// A closed surface under a uniform pressure p shrinks by p (1 - 2 nu) / E.
static void pressed_boxes_shrink_evenly(void** state) {
  (void)state;
  const char* const solvers[] = {"projected_newton", "implicit_newton", "augmented_lagrangian"};
  for (int k = 0; k < 12; k++) {
    Loaded l = {0};
    make_supported_box(&l, "pressure", 1 + k / 3, solvers[k % 3]);
    select_nodes(&l, -1, 0.0);
    l.value[0] = 100.0;
    world_start(&l.world);
    world_step(&l.world);
    const double *x = noli_sim_positions(l.world.sim), *X = noli_sim_rest_positions(l.world.sim);
    for (int32_t i = 0; i < 3 * noli_sim_node_count(l.world.sim); i++) {
      ASSERT_NEAR((x[i] - X[i]) / 4e-5, -X[i], 1e-3);
    }
    world_done(&l.world);
  }
}

// Bodies in plane strain shrink by p (1 + nu) (1 - 2 nu) / E, for any thickness, also if they lie
// at an angle.
static void pressed_plates_shrink_evenly(void** state) {
  (void)state;
  for (int turned = 0; turned < 2; turned++) {
    Loaded l = {.world = world_new(1), .force = noli_default_force_def(), .value = {100.0}};
    NoliMesh* mesh = NULL;
    ASSERT_OK(noli_mesh_make_rectangle(l.world.context, 2.0, 1.0, 4, 2, &mesh));
    int32_t body = world_add(&l.world, mesh, (double[3]){1.0, 0.5, 0.0}), corner[2] = {-1, -1};
    for (int32_t i = 0; i < mesh->n_vert; i++) {
      double x = mesh->x[3 * i], y = mesh->x[3 * i + 1];
      corner[0] = hypot(x, y) < 1e-9 ? i : corner[0];
      corner[1] = hypot(x - 2.0, y) < 1e-9 ? i : corner[1];
      mesh->x[3 * i] = turned ? 0.6 * x - 0.8 * y : x;
      mesh->x[3 * i + 1] = turned ? 0.8 * x + 0.6 * y : y;
    }
    l.world.body[body].plane_strain = 0.4;
    l.world.body[body].material.young = 1e6;
    l.world.body[body].material.poisson = 0.3;
    for (int k = 0; k < 2; k++) {
      NoliMotionDef* motion = world_add_motion(&l.world, body, NULL, NULL);
      motion->node = &corner[k];
      motion->n_node = 1;
      motion->free_axis[turned ? 1 : 0] = k == 1; // the second one slides
    }
    l.force.kind = "pressure";
    l.force.value = constant;
    l.force.user = l.value;
    l.world.def.forces = &l.force;
    l.world.def.n_forces = 1;
    set_quasi_static(&l.world);
    world_start(&l.world);
    world_step(&l.world);
    const double *x = noli_sim_positions(l.world.sim), *X = mesh->x;
    for (int32_t i = 0; i < mesh->n_vert; i++) {
      const double *a = x + 3 * i, *A = X + 3 * i;
      ASSERT_NEAR((hypot(a[0], a[1]) - hypot(A[0], A[1])) / 5.2e-5, -hypot(A[0], A[1]), 1e-3);
    }
    world_done(&l.world);
  }
}

// A free sphere of thin shell is stretched by p R (1 - nu) / (2 E t) and stays where it is; with
// the pressure written between steps.
static void inflated_spheres_grow_in_place(void** state) {
  (void)state;
  Loaded l = {.world = world_new(1), .force = noli_default_force_def()};
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_icosphere(l.world.context, 0.1, 12, &mesh));
  int32_t body = world_add(&l.world, mesh, origin), n;
  l.world.body[body].shell.thickness = 0.002;
  l.world.body[body].material.young = 1e6;
  l.world.body[body].material.poisson = 0.3;
  l.force.kind = "pressure";
  l.force.controlled = true;
  l.world.def.forces = &l.force;
  l.world.def.n_forces = 1;
  l.world.def.gravity[1] = 0.0;
  l.world.def.time_step = 0.005;
  l.world.def.tolerance = (NoliScaled){1e-9, false};
  world_start(&l.world);
  double* value = noli_sim_force_values(l.world.sim, 0, NULL, &n);
  assert_int_equal(n, mesh->n_vert);
  for (int32_t i = 0; i < n; i++) {
    value[3 * i] = -10.0; // against the normals, which point outward
  }
  for (int step = 0; step < 30; step++) {
    world_step(&l.world);
  }
  double centre[3], mean = 0.0;
  world_centre(&l.world, body, centre);
  for (int32_t i = 0; i < n; i++) {
    const double* x = noli_sim_positions(l.world.sim) + 3 * i;
    mean += sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]) / n;
  }
  print_message("stretch over that of a membrane: %.4f\n", (mean / 0.1 - 1.0) / 1.75e-4);
  ASSERT_NEAR((mean / 0.1 - 1.0) / 1.75e-4, 1.0, 0.02);
  ASSERT_NEAR(centre[0] * centre[0] + centre[1] * centre[1] + centre[2] * centre[2], 0.0, 1e-24);
  world_done(&l.world);
}

// A cantilever that bends far under a pressure on its upper side: the reaction balances the
// pressure on the current area, or a traction on the area at rest.
static void held_ends_balance_the_load(void** state) {
  (void)state;
  const char* const kinds[] = {"traction", "pressure"};
  double bent[2];
  for (int k = 0; k < 2; k++) {
    Loaded l = {.world = world_new(1), .force = noli_default_force_def()};
    NoliMesh* mesh = NULL;
    ASSERT_OK(noli_mesh_make_box(l.world.context, (double[3]){1.0, 0.1, 0.1},
                                 (int32_t[3]){10, 1, 1}, false, &mesh));
    int32_t body = world_add(&l.world, mesh, origin);
    l.world.body[body].material.young = 1e6;
    l.world.body[body].material.poisson = 0.0;
    NoliMotionDef* motion = world_add_motion(&l.world, body, NULL, NULL);
    motion->node = l.held[0];
    motion->n_node = select_plane(mesh, 0, -0.5, l.held[0]);
    l.force.kind = kinds[k];
    l.force.node = l.pulled;
    l.force.n_node = select_plane(mesh, 1, 0.05, l.pulled);
    l.force.value = constant;
    l.force.user = l.value;
    l.value[k == 0 ? 1 : 0] = k == 0 ? -600.0 : 600.0;
    l.world.def.forces = &l.force;
    l.world.def.n_forces = 1;
    set_quasi_static(&l.world);
    world_start(&l.world);
    for (int step = 0; step < 25; step++) {
      world_step(&l.world);
    }
    const double* x = noli_sim_positions(l.world.sim);
    double force[3 * 100], sum[3] = {0}, want[3] = {0};
    ASSERT_OK(noli_sim_reaction_forces(l.world.sim, force));
    for (int32_t i = 0; i < 3 * mesh->n_vert; i++) {
      sum[i % 3] += force[i];
    }
    const NoliSurface* surface = l.world.sim->model->problem.surface;
    for (int32_t t = 0; t < surface->n_tri; t++) {
      const int32_t* c = surface->tri + 3 * t;
      if (mesh->x[3 * c[0] + 1] < 0.049 || mesh->x[3 * c[1] + 1] < 0.049 ||
          mesh->x[3 * c[2] + 1] < 0.049) {
        continue;
      }
      const double *at = k == 0 ? mesh->x : x, *a = at + 3 * c[0], *b = at + 3 * c[1],
                   *d = at + 3 * c[2];
      for (int i = 0; i < 3; i++) {
        int p = (i + 1) % 3, q = (i + 2) % 3;
        want[i] += 300.0 * ((b[p] - a[p]) * (d[q] - a[q]) - (b[q] - a[q]) * (d[p] - a[p]));
      }
    }
    for (int i = 0; i < 3; i++) {
      ASSERT_NEAR(sum[i], want[i], 1e-5 * 60.0);
    }
    assert_true(fabs(k == 0 ? sum[1] : sum[0]) > 5.0);
    bent[k] = noli_sim_positions(l.world.sim)[3 * l.pulled[l.force.n_node - 1] + 1];
    assert_true(bent[k] < -0.1);
    world_done(&l.world);
  }
  assert_true(fabs(bent[0] - bent[1]) > 1e-3);
}

// The same beam of order 2: the reaction balances the follower forces on its curved upper side.
static void curved_ends_balance_the_load(void** state) {
  (void)state;
  Loaded l = {.world = world_new(1), .force = noli_default_force_def(), .value = {600.0}};
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_box(l.world.context, (double[3]){1.0, 0.1, 0.1}, (int32_t[3]){6, 1, 1},
                               false, &mesh));
  int32_t body = world_add(&l.world, mesh, (double[3]){0.5, 0.05, 0.05});
  l.world.body[body].order = 2;
  l.world.body[body].material.young = 1e6;
  l.world.body[body].material.poisson = 0.0;
  world_add_motion(&l.world, body, NULL, NULL)->node = l.held[0];
  l.force.kind = "pressure";
  l.force.value = constant;
  l.force.user = l.value;
  l.world.def.forces = &l.force;
  l.world.def.n_forces = 1;
  set_quasi_static(&l.world);
  select_nodes(&l, 1, 0.1);
  world_start(&l.world);
  for (int step = 0; step < 25; step++) {
    world_step(&l.world);
  }

  // the forces of the pressure: those of its potential at the end of the step, and of the mantle
  NoliSim* sim = l.world.sim;
  const NoliCurvedFaces* faces = &sim->model->force[0].curved;
  NoliCurvedPressure pressure = noli_stage_curved_pressure(sim->stage, 0);
  int32_t n = noli_sim_vertex_count(sim);
  double *force = calloc(3 * (size_t)n, sizeof *force), *lack = calloc(3 * (size_t)n, sizeof *lack);
  double* g = malloc(3 * sizeof *g * (size_t)faces->n * (size_t)faces->n_node);
  double sum[3] = {0}, want[3] = {0};
  NoliEnergyTerm term = noli_curved_pressure_term(&pressure);
  NoliLocal out = {.gradient = g};
  assert_int_equal(faces->n, 12);
  term.evaluate(term.data, noli_sim_positions(sim), 0, faces->n, NOLI_EVAL_GRADIENT, &out);
  noli_curved_pressure_add_mantle(&pressure, noli_sim_positions(sim), lack);
  ASSERT_OK(noli_sim_reaction_forces(sim, force));
  for (int32_t i = 0; i < 3 * faces->n * faces->n_node; i++) {
    want[i % 3] += g[i];
  }
  for (int32_t i = 0; i < 3 * n; i++) {
    sum[i % 3] += force[i];
    want[i % 3] -= lack[i];
  }
  for (int i = 0; i < 3; i++) {
    ASSERT_NEAR(sum[i], want[i], 1e-5 * 60.0);
  }
  print_message("reaction %.3f %.3f N, tip at %.4f m\n", sum[0], sum[1],
                noli_sim_positions(sim)[3 * l.pulled[l.force.n_node - 1] + 1]);
  assert_true(fabs(sum[0]) > 5.0);
  free(force), free(lack), free(g);
  world_done(&l.world);
}

static void loads_without_faces_are_refused(void** state) {
  (void)state;
  // the vertices of a side are not all of its nodes
  Loaded high = {0};
  make_supported_box(&high, "pressure", 2, "projected_newton");
  high.force.node = high.pulled;
  high.force.n_node = select_plane(high.world.mesh[0], 0, 2.0, high.pulled);
  world_expect_refusal(&high.world, "force 0, a pressure: body \"body0\" has no face with all its "
                                    "nodes among those given");
  Loaded l = {0};
  int32_t two[2] = {0, 1};
  make_supported_box(&l, "pressure", 1, "projected_newton");
  l.force.node = two;
  l.force.n_node = 2;
  l.force.where = "scene.json:7: forces[0]";
  world_expect_refusal(&l.world, "scene.json:7: forces[0]: force 0, a pressure: body \"body0\" has "
                                 "no face with all its vertices among those given");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bars_extend_by_traction_over_modulus),
      cmocka_unit_test(pressed_boxes_shrink_evenly),
      cmocka_unit_test(pressed_plates_shrink_evenly),
      cmocka_unit_test(inflated_spheres_grow_in_place),
      cmocka_unit_test(held_ends_balance_the_load),
      cmocka_unit_test(curved_ends_balance_the_load),
      cmocka_unit_test(loads_without_faces_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
