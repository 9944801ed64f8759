// Derivatives of runs by parameters of bodies and loads: both modes against each other and against
// central differences of runs.
#include "fem/space.h"
#include "gradient_runs.h"

static void set_material(World* world, int32_t body) {
  world->body[body].material.young = 2e4;
  world->body[body].material.poisson = 0.3;
  world->body[body].material.density = 900;
}

// A box, held on its left.
static int32_t add_box(World* world, double height, bool held) {
  int32_t body = add_plain_box(world, height);
  set_material(world, body);
  if (held) {
    hold_left(world, body, 4);
  }
  return body;
}

// ---- elements of higher order -------------------------------------------------------------------

static void held_beam_of(World* world, int32_t order) {
  int32_t body = add_box(world, 1.0, true);
  world->body[body].order = order;
  world->body[body].material.mass_damping = 2.0;
}

static void quadratic_beam(World* world) {
  held_beam_of(world, 2);
}

static void cubic_beam(World* world) {
  held_beam_of(world, 3);
}

static void quartic_beam(World* world) {
  held_beam_of(world, 4);
}

// It lands, and slides.
static void landing_of(World* world, int32_t order) {
  world_add_plane(world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  world->def.friction = 0.3;
  int32_t body = add_box(world, 1.5e-3, false);
  world->body[body].order = order;
  world->body[body].velocity[0] = 0.5;
  world->body[body].velocity[1] = -0.2;
}

static void quadratic_landing(World* world) {
  landing_of(world, 2);
}

static void cubic_landing(World* world) {
  landing_of(world, 3);
}

// A ball of curved tetrahedra.
static int32_t add_curved_ball(World* world, int32_t geometry_order, int32_t order, double height) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_curved_sphere(world->context, 0.06, 1, geometry_order, &mesh));
  int32_t body = world_add(world, mesh, (double[]){0.01, height, 0.02});
  set_material(world, body);
  world->body[body].order = order;
  return body;
}

// Held at some vertices.
static void held_curved_ball(World* world, int32_t geometry_order, int32_t order) {
  int32_t body = add_curved_ball(world, geometry_order, order, 1.0);
  hold_left(world, body, 4);
  world->body[body].material.mass_damping = 2.0;
}

static void held_ball_of(World* world, int32_t order) {
  held_curved_ball(world, 2, order);
}

static void curved_ball(World* world) {
  held_ball_of(world, 2);
}

static void cubic_ball(World* world) {
  held_ball_of(world, 3);
}

static void damped_ball(World* world) {
  held_ball_of(world, 2);
  world->body[0].material.damping = 0.01;
}

static void curved_landing_of(World* world, int32_t geometry_order, int32_t order, double height) {
  int32_t body = add_curved_ball(world, geometry_order, order, height);
  world_add_plane(world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  world->def.friction = 0.3;
  world->body[body].velocity[0] = 0.5;
  world->body[body].velocity[1] = -0.2;
}

static void curved_landing(World* world) {
  curved_landing_of(world, 2, 2, 0.0615);
}

// Of elements whose shapes have a higher order than their displacements.
static void linear_ball(World* world) {
  held_curved_ball(world, 2, 1);
}

static void damped_linear_ball(World* world) {
  linear_ball(world);
  world->body[0].material.damping = 0.01;
}

// Its parts relax within a few steps, and hardly.
static void relaxing_linear_ball(World* world) {
  static const NoliProny series = {.n = 2, .share = {0.4, 0.2}, .time = {0.01, 0.2}};
  linear_ball(world);
  world->body[0].material.prony = &series;
}

static void flowing_linear_ball(World* world) {
  linear_ball(world);
  world->body[0].material.law = "hencky";
  world->body[0].material.parameter[0] = 50.0; // yield stress
  world->body[0].material.parameter[1] = 2e3;  // hardening
}

static void ball_of_shape_3(World* world) {
  held_curved_ball(world, 3, 2);
}

static void ball_of_shape_4(World* world) {
  held_curved_ball(world, 4, 2);
}

static void linear_landing(World* world) {
  curved_landing_of(world, 2, 1, 0.0615);
}

static void landing_of_shape_3(World* world) {
  curved_landing_of(world, 3, 2, 0.0615);
}

// A linear body with a finer proxy.
static void proxy_landing(World* world) {
  landing_of(world, 1);
  world->body[0].proxy.subdivision = 2;
}

static void elements_of_higher_order(void** state) {
  (void)state;
  static const GradientCase cases[] = {
      {"order 2, young", quadratic_beam, NULL, 0.01, 5, OF("young", "body0"), 5, 1e-6},
      {"order 3, poisson", cubic_beam, "bdf2", 0.01, 4, ELEMENTS("poisson", "body0"), 1e-4, 1e-6},
      {"order 2, density", quadratic_beam, NULL, 0.01, 5, OF("density", "body0"), 0.3, 1e-6},
      {"order 3, densities", cubic_beam, "sdirk2", 0.01, 4, ELEMENTS("density", "body0"), 0.3,
       1e-6},
      {"order 2, shape", quadratic_beam, NULL, 0.01, 5, SHAPE("body0"), 1e-6, 1e-6},
      {"order 3, shape", cubic_beam, "bdf2", 0.01, 4, SHAPE("body0"), 1e-6, 1e-6},
      {"order 4, shape", quartic_beam, NULL, 0.01, 2, SHAPE("body0"), 1e-6, 1e-6},
      {"order 2 at rest, shape", quadratic_beam, "quasi_static", 0.01, 2, SHAPE("body0"), 1e-6,
       1e-6},
      {"order 2, landing, shape", quadratic_landing, NULL, 0.005, 8, SHAPE("body0"), 1e-7, 1e-5},
      {"order 3, landing, shape", cubic_landing, NULL, 0.005, 6, SHAPE("body0"), 1e-7, 1e-5},
      {"order 2, landing, positions",
       quadratic_landing,
       NULL,
       0.005,
       8,
       {.kind = "initial_position", .of = "body0", .scope = "vertices"},
       1e-7,
       1e-5},
      {"order 2, landing, density", quadratic_landing, NULL, 0.005, 8, OF("density", "body0"), 0.1,
       1e-5},
      {"curved, shape", curved_ball, NULL, 0.01, 4, SHAPE("body0"), 1e-6, 1e-6},
      {"curved quasi-static, shape", curved_ball, "quasi_static", 0.01, 2, SHAPE("body0"), 1e-6,
       1e-6},
      {"order 3 on a curved mesh, shape", cubic_ball, "bdf2", 0.01, 3, SHAPE("body0"), 1e-6, 1e-6},
      {"curved, landing, shape", curved_landing, NULL, 0.005, 6, SHAPE("body0"), 1e-7, 1e-5},
      {"damped curved, shape", damped_ball, NULL, 0.01, 4, SHAPE("body0"), 1e-6, 1e-6},
      {"proxy, landing, shape", proxy_landing, NULL, 0.005, 8, SHAPE("body0"), 1e-7, 1e-5},
  };
  COMPARE(cases);
}

static void shapes_of_higher_order_than_elements(void** state) {
  (void)state;
  static const GradientCase cases[] = {
      {"shape 2, order 1, shape", linear_ball, NULL, 0.01, 5, SHAPE("body0"), 1e-6, 1e-6},
      {"shape 2, order 1 at rest, shape", linear_ball, "quasi_static", 0.01, 2, SHAPE("body0"),
       1e-6, 1e-6},
      {"shape 2, order 1 tr_bdf2, shape", linear_ball, "tr_bdf2", 0.01, 4, SHAPE("body0"), 1e-6,
       1e-6},
      {"shape 2, order 1, place", linear_ball, "bdf2", 0.01, 4, OF("rest_position", "body0"), 1e-6,
       1e-6},
      {"shape 2, order 1 damped, shape", damped_linear_ball, NULL, 0.01, 4, SHAPE("body0"), 1e-6,
       1e-6},
      {"shape 2, order 1 relaxes, shape", relaxing_linear_ball, "bdf2", 0.01, 4, SHAPE("body0"),
       1e-6, 1e-6},
      {"shape 2, order 1 flows, shape", flowing_linear_ball, NULL, 0.01, 4, SHAPE("body0"), 1e-6,
       1e-6},
      {"shape 3, order 2, shape", ball_of_shape_3, "sdirk2", 0.01, 3, SHAPE("body0"), 1e-6, 1e-6},
      {"shape 4, order 2, shape", ball_of_shape_4, NULL, 0.01, 3, SHAPE("body0"), 1e-6, 1e-6},
      {"shape 2, order 1, landing, shape", linear_landing, NULL, 0.005, 6, SHAPE("body0"), 1e-7,
       1e-5},
      {"shape 3, order 2, landing, shape", landing_of_shape_3, NULL, 0.005, 6, SHAPE("body0"), 1e-7,
       1e-5},
  };
  COMPARE(cases);
}

// Stresses and energies of them; those of other bodies: test_gradient_goals.c.
static void goals_of_such_shapes(void** state) {
  (void)state;
  static void (*const builds[])(World*) = {linear_ball, ball_of_shape_3};
  static const char* const quantities[2] = {"elastic_energy", "von_mises"};
  for (int k = 0; k < 4; k++) {
    const GradientCase c = {quantities[k % 2], builds[k / 2], NULL, 0.01, 3,
                            SHAPE("body0"),    1e-6,          1e-6};
    NoliGoalDef goal = noli_default_goal_def();
    goal.quantity = quantities[k % 2];
    goal.of = "body0";
    goal.reduction = k % 2 == 1 ? "norm" : NULL;
    compare_case(&c, &goal);
  }
}

// ---- proxies that are given, or depend on the shape ---------------------------------------------

// The simulation copies it.
static struct {
  NoliMesh mesh;
  double x[3 * 400];
  int32_t tri[3 * 800];
} given;

// The surface of `whole`, around a body at `centre`, is its proxy. Destroys `whole`.
static void give_proxy(World* world, int32_t body, NoliMesh** whole, const double centre[3],
                       double stretch) {
  NoliMesh* surface = NULL;
  const double scale[3] = {stretch, stretch, stretch}, rotate[3] = {0.0, 0.0, 0.0};
  noli_mesh_transform(*whole, scale, rotate, centre);
  ASSERT_OK(noli_mesh_extract(world->context, *whole, "surface", &surface));
  ASSERT_OK(noli_mesh_remove_unused(world->context, surface));
  assert_true(surface->n_vert <= 400 && surface->n_tri <= 800);
  given.mesh = (NoliMesh){
      .n_vert = surface->n_vert, .n_tri = surface->n_tri, .x = given.x, .tri = given.tri};
  memcpy(given.x, surface->x, 3 * sizeof(double) * (size_t)surface->n_vert);
  memcpy(given.tri, surface->tri, 3 * sizeof(int32_t) * (size_t)surface->n_tri);
  world->body[body].proxy.kind = "mesh";
  world->body[body].proxy.mesh = &given.mesh;
  noli_mesh_destroy(world->context, &surface);
  noli_mesh_destroy(world->context, whole);
}

// Of finer cells than those of the box, which do not match them, and a fiftieth larger.
static void carry_box(World* world) {
  NoliMesh* whole = NULL;
  ASSERT_OK(noli_mesh_make_box(world->context, (double[]){0.2, 0.1, 0.12}, (int32_t[]){3, 2, 2},
                               false, &whole));
  world->body[0].proxy = noli_default_proxy_def();
  give_proxy(world, 0, &whole, (double[]){0.01, 0.0515, 0.0}, 1.02);
}

static void carried_landing_of(World* world, int32_t order) {
  landing_of(world, order);
  carry_box(world);
  world->plane[0].origin[1] = -1e-3;
}

static void carried_landing(World* world) {
  carried_landing_of(world, 1);
}

static void quadratic_carried_landing(World* world) {
  carried_landing_of(world, 2);
}

static void cubic_carried_landing(World* world) {
  carried_landing_of(world, 3);
}

static void quartic_carried_landing(World* world) {
  carried_landing_of(world, 4);
}

static void use_potential(World* world) {
  world->def.contact_model = "gcp";
  world->def.barrier_stiffness = 0.02;
}

static void potential_carried_landing(World* world) {
  carried_landing(world);
  use_potential(world);
}

static void potential_quadratic_carried_landing(World* world) {
  quadratic_carried_landing(world);
  use_potential(world);
}

// A ball of curved elements with a finer sphere, which pass each other.
static void carried_ball_landing(World* world) {
  NoliMesh* whole = NULL;
  curved_landing(world);
  ASSERT_OK(noli_mesh_make_sphere(world->context, 0.0601, 2, false, &whole));
  give_proxy(world, 0, &whole, (double[]){0.01, 0.0615, 0.02}, 1.01);
  world->plane[0].origin[1] = -1e-3;
}

static void sized_landing_of(World* world, int32_t order) {
  landing_of(world, order);
  world->body[0].proxy.kind = "edge_length";
  world->body[0].proxy.edge_length = order == 1 ? 0.09 : 0.06;
}

static void sized_landing(World* world) {
  sized_landing_of(world, 1);
}

static void quadratic_sized_landing(World* world) {
  sized_landing_of(world, 2);
}

static void potential_sized_landing(World* world) {
  sized_landing(world);
  use_potential(world);
}

#define MOVED OF("rest_position", "body0")

static void shapes_with_proxies(void** state) {
  (void)state;
  static const GradientCase cases[] = {
      {"given proxy, shape", carried_landing, NULL, 0.005, 8, SHAPE("body0"), 1e-7, 1e-6},
      {"given proxy, place", carried_landing, NULL, 0.005, 8, MOVED, 1e-7, 1e-6},
      {"given proxy, order 2, shape", quadratic_carried_landing, NULL, 0.005, 8, SHAPE("body0"),
       1e-7, 1e-6},
      {"given proxy, order 2, place", quadratic_carried_landing, "bdf2", 0.005, 8, MOVED, 1e-7,
       1e-6},
      {"given proxy, gcp, shape", potential_carried_landing, NULL, 0.005, 8, SHAPE("body0"), 1e-7,
       1e-6},
      {"given proxy, gcp, order 2, shape", potential_quadratic_carried_landing, NULL, 0.005, 8,
       SHAPE("body0"), 1e-7, 1e-6},
      {"given proxy, curved, shape", carried_ball_landing, NULL, 0.005, 6, SHAPE("body0"), 1e-7,
       1e-6},
      {"edge length, shape", sized_landing, NULL, 0.005, 8, SHAPE("body0"), 1e-7, 1e-6},
      {"edge length, place", sized_landing, NULL, 0.005, 8, MOVED, 1e-7, 1e-6},
      {"edge length, order 2, shape", quadratic_sized_landing, NULL, 0.005, 8, SHAPE("body0"), 1e-7,
       1e-6},
      {"edge length, gcp, shape", potential_sized_landing, NULL, 0.005, 8, SHAPE("body0"), 1e-7,
       1e-6},
  };
  COMPARE(cases);
}

// The simulation whose vertices at rest are moved by `change` (n).
static NoliSim* reshaped(NoliSim* sim, int64_t n, const double* change) {
  const NoliParameterDef shape = SHAPE("body0");
  NoliParameters* parameters = NULL;
  NoliSim* made = NULL;
  ASSERT_OK(noli_parameters_create(sim, &shape, 1, &parameters));
  assert_int_equal(noli_parameters_count(parameters), n);
  ASSERT_OK(noli_parameters_apply(parameters, change, sim->context, &made));
  noli_parameters_destroy(&parameters);
  return made;
}

static void expect_same_weights(const NoliSim* sim, const NoliSim* other) {
  const NoliFollowers *a = &sim->model->problem.followers, *b = &other->model->problem.followers;
  assert_true(a->n > 0);
  assert_int_equal(a->n, b->n);
  int64_t n = a->row[a->n];
  assert_int_equal(n, b->row[b->n]);
  assert_memory_equal(a->node, b->node, (size_t)n * sizeof *a->node);
  assert_memory_equal(a->weight, b->weight, (size_t)n * sizeof *a->weight);
}

// How far the vertices of a given proxy lie from their places in the elements, (n_vert x 3).
static void find_gaps(const NoliSim* sim, double* gap) {
  const NoliBodyDef* body = &sim->definition.def->bodies[0];
  const NoliProxyDef* proxy = &body->proxy;
  NoliSpace space = {0};
  ASSERT_OK(noli_space_create(sim->context, body->mesh, body->order, &space));
  for (int64_t v = 0; v < proxy->mesh->n_vert; v++) {
    NoliVec3 x = noli_space_position(&space, proxy->carrier[v], proxy->place + 3 * v);
    noli_store3(gap + 3 * v, noli_sub3(noli_load3(proxy->mesh->x + 3 * v), x));
  }
  noli_space_destroy(sim->context, &space);
}

// How much more of them the second simulation has; only vertices far outside of curved elements
// have any.
static double gaps_differ(const NoliSim* first, const NoliSim* second) {
  double gap[2][3 * 400], most = 0.0;
  find_gaps(first, gap[0]);
  find_gaps(second, gap[1]);
  for (int64_t i = 0; i < 3 * (int64_t)given.mesh.n_vert; i++) {
    most = noli_larger(most, fabs(gap[1][i] - gap[0][i]));
  }
  return most;
}

// Weights stay those of the first shape, to the bit, however far vertices move; two changes are
// their sum.
static void proxies_keep_their_weights(void** state) {
  (void)state;
  static const GradientCase cases[] = {
      {"given, order 1", carried_landing, .h = 0.005},
      {"given, order 2", quadratic_carried_landing, .h = 0.005},
      {"given, order 3", cubic_carried_landing, .h = 0.005},
      {"given, order 4", quartic_carried_landing, .h = 0.005},
      {"given, curved", carried_ball_landing, .h = 0.005},
      {"edge length", sized_landing, .h = 0.005},
      {"edge length, order 2", quadratic_sized_landing, .h = 0.005},
  };
  TestRandom random = {3};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    World world = built_world(&cases[k]);
    enum { MOST = 3 * 200 };
    double change[3][MOST], none[MOST] = {0.0};
    world_start(&world);
    int64_t n = 3 * (int64_t)world.body[0].mesh->n_vert;
    assert_in_range(n, 1, MOST);
    for (int64_t i = 0; i < n; i++) {
      // upwards, away from the floor, and so much longer that a length would give other edges
      double x = world.body[0].mesh->x[i - i % 3];
      change[0][i] = test_random(&random, 0.0, 4e-3) + (i % 3 == 0 ? x : 0.0);
      change[1][i] = test_random(&random, 0.0, 4e-3) + (i % 3 == 1 ? 0.02 : 0.0);
      change[2][i] = change[0][i] + change[1][i];
    }
    NoliSim* still = reshaped(world.sim, n, none);
    NoliSim* once = reshaped(world.sim, n, change[0]);
    NoliSim* twice = reshaped(once, n, change[1]);
    NoliSim* sum = reshaped(world.sim, n, change[2]);
    expect_same_weights(world.sim, once);
    expect_same_weights(world.sim, twice);
    expect_same_weights(world.sim, sum);
    double apart = 0.0, moved = 0.0;
    for (int64_t i = 0; i < 3 * (int64_t)sum->model->problem.n_vert; i++) {
      const double *a = twice->model->problem.X, *b = sum->model->problem.X;
      apart = noli_larger(apart, fabs(a[i] - b[i]));
      moved = noli_larger(moved, fabs(b[i] - world.sim->model->problem.X[i]));
      ASSERT_NEAR(twice->model->x0[i], sum->model->x0[i], 1e-15);
    }
    assert_true(moved > 0.05);
    bool meshed = world.body[0].proxy.mesh != NULL;
    double miss = meshed ? noli_larger(gaps_differ(still, twice), gaps_differ(still, sum)) : 0.0;
    print_message("%-24s moved by %.2g m, ways differ by %.1e m, places by %.1e m\n", cases[k].name,
                  moved, apart, miss);
    ASSERT_AT_MOST(apart, 1e-15);
    ASSERT_AT_MOST(miss, 1e-15);
    noli_sim_destroy(&still);
    noli_sim_destroy(&once);
    noli_sim_destroy(&twice);
    noli_sim_destroy(&sum);
    world_done(&world);
  }
}

// Places without a mesh, or of other elements; densities that are fitted to a proxy.
static void refused_proxies(void** state) {
  (void)state;
  static const int32_t carrier[400] = {[7] = 99};
  static const double place[3 * 400];
  const GradientCase c = {"refused", carried_landing, .h = 0.005};
  const NoliParameterDef shape = SHAPE("body0");
  World world = built_world(&c);
  world.body[0].proxy.carrier = carrier;
  world_expect_refusal(&world, "body \"body0\": its proxy has carriers without places");
  world = built_world(&c);
  world.body[0].proxy.carrier = carrier;
  world.body[0].proxy.place = place;
  world_expect_refusal(&world, "body \"body0\": vertex 7 of the collision mesh is carried by "
                               "tetrahedron 99, but there are ");
  world = built_world(&c);
  world.body[0].proxy.carrier = carrier;
  world.body[0].proxy.place = place;
  world.body[0].proxy.kind = "subdivision";
  world.body[0].proxy.subdivision = 2;
  world_expect_refusal(&world, "body \"body0\": its proxy has carriers, but no mesh");
  world = built_world(&c);
  world.body[0].proxy.balance = true;
  expect_refusal(&world, 2, &shape, "has densities that are fitted to its shape");
}

// ---- damping in proportion to stiffness ---------------------------------------------------------

static void damped_beam_of(World* world, const char* law, int32_t order) {
  int32_t body = add_box(world, 1.0, true);
  world->body[body].material.law = law;
  world->body[body].material.damping = 0.01;
  world->body[body].order = order;
}

static void damped_beam(World* world) {
  damped_beam_of(world, "neo_hookean", 1);
}

static void damped_stable_beam(World* world) {
  damped_beam_of(world, "stable_neo_hookean", 1);
}

static void damped_corotated_beam(World* world) {
  damped_beam_of(world, "fixed_corotated", 1);
}

static void damped_linear_beam(World* world) {
  damped_beam_of(world, "corotated_linear", 1);
}

static void damped_quadratic_beam(World* world) {
  damped_beam_of(world, "stvk", 2);
}

static void damped_rubber_beam(World* world) {
  damped_beam_of(world, "ogden", 1);
  memcpy(world->body[0].material.parameter, (double[]){9e3, 1.7, -2e3, -2.4}, 4 * sizeof(double));
}

static void damped_mooney_beam(World* world) {
  damped_beam_of(world, "mooney_rivlin", 2);
  world->body[0].material.parameter[0] = 3e3;
  world->body[0].material.parameter[1] = 1e3;
}

static void damped_logarithmic_beam(World* world) {
  damped_beam_of(world, "hencky", 1);
}

static void damped_fibre_beam(World* world) {
  damped_beam_of(world, "neo_hookean", 1);
  static double fibre[64 * NOLI_FIBRE_VALUES];
  assert_true(world->body[0].mesh->n_tet <= 64);
  for (int32_t e = 0; e < 64; e++) {
    memcpy(fibre + NOLI_FIBRE_VALUES * e, (double[]){0.6, 0.0, 0.8, 4e4, 2.0},
           NOLI_FIBRE_VALUES * sizeof *fibre);
  }
  world->body[0].fields.fibre = fibre;
}

// So fast that elements lose half of their height, where the tangent is not positive.
static void damped_crash(World* world) {
  world_add_plane(world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  world->def.friction = 0.3;
  int32_t body = add_box(world, 1.5e-3, false);
  world->body[body].material.damping = 0.003;
  world->body[body].velocity[0] = 0.5;
  world->body[body].velocity[1] = -4.0;
}

static void damped_plane(World* world) {
  int32_t body = add_flat_landing(world);
  set_material(world, body);
  world->body[body].material.damping = 0.005;
}

static void damping_in_proportion_to_stiffness(void** state) {
  (void)state;
  static const GradientCase cases[] = {
      {"damped beam, young", damped_beam, NULL, 0.01, 10, OF("young", "body0"), 5, 1e-6},
      {"damped beam, poisson", damped_beam, "bdf2", 0.01, 8, OF("poisson", "body0"), 1e-4, 1e-6},
      {"damped beam, shape", damped_beam, NULL, 0.01, 6, SHAPE("body0"), 1e-6, 1e-6},
      {"damped beam bdf2, shape", damped_beam, "bdf2", 0.01, 6, SHAPE("body0"), 1e-6, 1e-6},
      {"damped beam sdirk2, velocity",
       damped_beam,
       "sdirk2",
       0.01,
       6,
       {.kind = "initial_velocity", .of = "body0", .scope = "vertices"},
       1e-4,
       1e-6},
      {"damped stable beam, positions",
       damped_stable_beam,
       NULL,
       0.01,
       6,
       {.kind = "initial_position", .of = "body0", .scope = "vertices"},
       1e-6,
       1e-6},
      {"damped corotated beam, young", damped_corotated_beam, "bdf2", 0.01, 6,
       ELEMENTS("young", "body0"), 5, 1e-6},
      {"damped linear beam, shape", damped_linear_beam, NULL, 0.01, 6, SHAPE("body0"), 1e-6, 1e-6},
      {"damped quadratic beam, shape", damped_quadratic_beam, NULL, 0.01, 4, SHAPE("body0"), 1e-6,
       1e-6},
      {"damped quadratic beam, young", damped_quadratic_beam, "bdf2", 0.01, 4, OF("young", "body0"),
       5, 1e-6},
      {"damped rubber beam, shape", damped_rubber_beam, NULL, 0.01, 6, SHAPE("body0"), 1e-6, 1e-6},
      {"damped rubber beam, velocity", damped_rubber_beam, "sdirk2", 0.01, 6,
       OF("initial_velocity", "body0"), 1e-4, 1e-6},
      {"damped mooney beam, shape", damped_mooney_beam, NULL, 0.01, 4, SHAPE("body0"), 1e-6, 1e-6},
      {"damped logarithmic beam, shape", damped_logarithmic_beam, "bdf2", 0.01, 6, SHAPE("body0"),
       1e-6, 1e-6},
      {"damped logarithmic beam, young", damped_logarithmic_beam, NULL, 0.01, 6,
       OF("young", "body0"), 5, 1e-6},
      {"damped logarithmic beam, poisson", damped_logarithmic_beam, NULL, 0.01, 6,
       OF("poisson", "body0"), 1e-4, 1e-6},
      {"damped mooney beam, poisson", damped_mooney_beam, NULL, 0.01, 4, OF("poisson", "body0"),
       1e-4, 1e-6},
      {"damped fibre beam, shape", damped_fibre_beam, NULL, 0.01, 6, SHAPE("body0"), 1e-6, 1e-6},
      {"damped fibre beam, young", damped_fibre_beam, "bdf2", 0.01, 6, OF("young", "body0"), 5,
       1e-6},
      {"damped crash, velocity", damped_crash, NULL, 0.002, 12, OF("initial_velocity", "body0"),
       1e-5, 1e-5},
      {"damped crash, young", damped_crash, "sdirk2", 0.002, 12, OF("young", "body0"), 1, 1e-5},
      {"damped crash, shape", damped_crash, NULL, 0.002, 8, SHAPE("body0"), 1e-7, 1e-5},
      {"damped plane, shape", damped_plane, NULL, 0.005, 8, SHAPE("body0"), 1e-7, 1e-5},
      {"damped plane, density", damped_plane, "bdf2", 0.005, 8, OF("density", "body0"), 0.1, 1e-5},
  };
  COMPARE(cases);
}

// ---- springs, closed volumes, pressures, tractions ----------------------------------------------

static void constant_load(void* user, double t, const double X[3], double value[3]) {
  (void)user, (void)X;
  value[0] = 40.0 + 500.0 * t;
  value[1] = 5.0;
  value[2] = 0.0;
}

static void strong_load(void* user, double t, const double X[3], double value[3]) {
  (void)user, (void)X;
  value[0] = 400.0 + 5000.0 * t;
  value[1] = 150.0;
  value[2] = -50.0;
}

static NoliSpringDef springs[2];
static NoliForceDef forces[1];
static NoliVolumeDef volumes[1];
static const int32_t right[4] = {4, 5, 6, 7};

// Two boxes that are joined by springs of both kinds, one of them also to the ground.
static void sprung(World* world) {
  int32_t a = add_box(world, 1.0, true), b = add_box(world, 1.3, false);
  springs[0] = noli_default_spring_def();
  springs[0].body = b;
  springs[0].node = right;
  springs[0].n_node = 4;
  springs[0].to = a;
  springs[0].stiffness = 400.0;
  springs[0].damping = 3.0;
  springs[1] = noli_default_spring_def();
  springs[1].body = b;
  springs[1].node = left;
  springs[1].n_node = 1;
  springs[1].stiffness = 100.0;
  springs[1].damping = 1.0;
  world->body[b].velocity[0] = 0.5;
  world->body[b].angular_velocity[2] = 2.0;
  world->def.springs = springs;
  world->def.n_springs = 2;
}

static void strung(World* world) {
  sprung(world);
  springs[0].length = 0.15;
  springs[1].length = 0.1;
  springs[1].at_point = true;
  springs[1].point[0] = 0.2;
  springs[1].point[1] = 1.7;
}

static void undamped_strung(World* world) {
  strung(world);
  springs[0].damping = springs[1].damping = 0.0;
}

// A held hollow box with a gas inside, under a pressure from outside.
static void pressed(World* world, const char* kind, const char* model) {
  int32_t body = add_box(world, 1.0, true);
  forces[0] = noli_default_force_def();
  forces[0].body = body;
  forces[0].kind = kind;
  forces[0].value = constant_load;
  world->def.forces = forces;
  world->def.n_forces = 1;
  if (model != NULL) {
    volumes[0] = noli_default_volume_def();
    volumes[0].body = body;
    volumes[0].region = "outside";
    volumes[0].model = model;
    volumes[0].compression = 1e-4;
    volumes[0].pressure = 30.0;
    world->def.volumes = volumes;
    world->def.n_volumes = 1;
  }
}

static void under_pressure(World* world) {
  pressed(world, "pressure", NULL);
}

// On one side only: the mantle of the cones matters.
static void side_pressure(World* world) {
  static const int32_t some[] = {4, 5, 6, 7, 8, 9, 10, 11};
  pressed(world, "pressure", NULL);
  forces[0].node = some;
  forces[0].n_node = 8;
}

static void under_traction(World* world) {
  pressed(world, "traction", NULL);
}

static void with_gas(World* world) {
  pressed(world, "traction", "ideal_gas");
}

static void with_air(World* world) {
  pressed(world, "traction", "ideal_gas");
  volumes[0].compression = 0.0;
}

static void with_water(World* world) {
  pressed(world, "pressure", "nearly_incompressible");
}

static void with_quadratic(World* world) {
  pressed(world, "pressure", "quadratic");
}

static void flat_pressure(World* world) {
  damped_plane(world);
  world->body[0].material.damping = 0.0;
  forces[0] = noli_default_force_def();
  forces[0].kind = "pressure";
  forces[0].value = constant_load;
  forces[0].node = left;
  forces[0].n_node = 3;
  world->def.forces = forces;
  world->def.n_forces = 1;
}

// Of the vertices on the left and some others.
static void accelerated_of(World* world, int32_t order) {
  static const int32_t some[6] = {1, 3, 5, 6, 8, 10};
  int32_t body = add_box(world, 1.0, true);
  world->body[body].order = order;
  world->body[body].material.mass_damping = 2.0;
  forces[0] = noli_default_force_def();
  forces[0].kind = "acceleration";
  forces[0].value = constant_load;
  forces[0].node = some;
  forces[0].n_node = 6;
  world->def.forces = forces;
  world->def.n_forces = 1;
}

static void accelerated(World* world) {
  accelerated_of(world, 1);
}

// Its shares do not change with the density of the whole body, but with those of elements.
static void accelerated_in_total(World* world) {
  accelerated_of(world, 1);
  forces[0].kind = "total";
}

// Some vertices and nodes between them of a body that falls, of which one is named twice.
static void add_total(World* world) {
  static const int32_t some[9] = {1, 3, 5, 6, 8, 5, 12, 15, 20};
  forces[0] = noli_default_force_def();
  forces[0].kind = "total";
  forces[0].value = constant_load;
  forces[0].node = some;
  forces[0].n_node = 9;
  world->def.forces = forces;
  world->def.n_forces = 1;
}

static void total_of(World* world, int32_t order, bool falls) {
  int32_t body = add_box(world, 1.0, true);
  world->body[body].order = order;
  world->body[body].material.mass_damping = 2.0;
  world->def.gravity[1] = falls ? -9.81 : 0.0;
  add_total(world);
}

static void quadratic_total(World* world) {
  total_of(world, 2, false);
}

static void falling_quadratic_total(World* world) {
  total_of(world, 2, true);
}

static void cubic_total(World* world) {
  total_of(world, 3, false);
}

static void quartic_total(World* world) {
  total_of(world, 4, true);
}

// Only for a while, beside an acceleration and another total force.
static void several_totals(World* world) {
  static NoliForceDef several[3];
  total_of(world, 2, true);
  several[0] = several[1] = several[2] = forces[0];
  several[0].t_end = 0.025;
  several[1].kind = "acceleration";
  several[2].node = right;
  several[2].n_node = 4;
  several[2].change = -0.4;
  world->def.forces = several;
  world->def.n_forces = 3;
}

static void parted_total(World* world) {
  static const int32_t heavy[4] = {0, 2, 3, 7};
  static NoliPartDef part;
  total_of(world, 3, true);
  part = (NoliPartDef){.element = heavy, .n_element = 4, .material = world->body[0].material};
  part.material.density = 2500.0;
  world->body[0].parts = &part;
  world->body[0].n_parts = 1;
}

static void pushed_landing(World* world, int32_t order) {
  landing_of(world, order);
  add_total(world);
}

static void quadratic_pushed_landing(World* world) {
  pushed_landing(world, 2);
}

static void cubic_pushed_landing(World* world) {
  pushed_landing(world, 3);
}

static void curved_total(World* world) {
  curved_ball(world);
  add_total(world);
}

static void linear_curved_total(World* world) {
  linear_ball(world);
  add_total(world);
  forces[0].n_node = 4; // it has no others
}

static void curved_pushed_landing(World* world) {
  curved_landing(world);
  add_total(world);
}

static void total_forces_of_higher_order(void** state) {
  (void)state;
  static const NoliParameterDef second = {.kind = "density", .of = "body0", .part = 1};
  const GradientCase cases[] = {
      {"order 2, total, densities", quadratic_total, NULL, 0.01, 4, ELEMENTS("density", "body0"),
       0.3, 1e-6},
      {"order 2, total, falling, densities", falling_quadratic_total, "bdf2", 0.01, 4,
       ELEMENTS("density", "body0"), 0.3, 1e-6},
      {"order 2, total, density", quadratic_total, NULL, 0.01, 4, OF("density", "body0"), 0.3,
       1e-6},
      {"order 2, total, shape", quadratic_total, NULL, 0.01, 4, SHAPE("body0"), 1e-6, 1e-6},
      {"order 2, total, falling, shape", falling_quadratic_total, "tr_bdf2", 0.01, 4,
       SHAPE("body0"), 1e-6, 1e-6},
      {"order 2, total, place", falling_quadratic_total, NULL, 0.01, 4,
       OF("rest_position", "body0"), 1e-6, 1e-6},
      {"order 2, total at rest, shape", quadratic_total, "quasi_static", 0.01, 2, SHAPE("body0"),
       1e-6, 1e-6},
      {"order 2, several totals, densities", several_totals, NULL, 0.01, 4,
       ELEMENTS("density", "body0"), 0.3, 1e-6},
      {"order 2, several totals, shape", several_totals, "trapezoidal", 0.01, 4, SHAPE("body0"),
       1e-6, 1e-6},
      {"order 3, total, densities", cubic_total, "sdirk2", 0.01, 3, ELEMENTS("density", "body0"),
       0.3, 1e-6},
      {"order 3, total, shape", cubic_total, NULL, 0.01, 3, SHAPE("body0"), 1e-6, 1e-6},
      {"order 3, total, density of a part", parted_total, NULL, 0.01, 3, second, 0.3, 1e-6},
      {"order 3, total, density of the rest", parted_total, "bdf2", 0.01, 3, OF("density", "body0"),
       0.3, 1e-6},
      {"order 3, total and parts, shape", parted_total, NULL, 0.01, 3, SHAPE("body0"), 1e-6, 1e-6},
      {"order 4, total, densities", quartic_total, NULL, 0.01, 2, ELEMENTS("density", "body0"), 0.3,
       1e-6},
      {"order 4, total, shape", quartic_total, NULL, 0.01, 2, SHAPE("body0"), 1e-6, 1e-6},
      {"curved, total, densities", curved_total, NULL, 0.01, 3, ELEMENTS("density", "body0"), 0.3,
       1e-6},
      {"curved, total, shape", curved_total, "bdf2", 0.01, 3, SHAPE("body0"), 1e-6, 1e-6},
      {"shape 2, order 1, total, densities", linear_curved_total, NULL, 0.01, 3,
       ELEMENTS("density", "body0"), 0.3, 1e-6},
      {"shape 2, order 1, total, shape", linear_curved_total, NULL, 0.01, 3, SHAPE("body0"), 1e-6,
       1e-6},
      {"order 2, total, landing, densities", quadratic_pushed_landing, NULL, 0.005, 6,
       ELEMENTS("density", "body0"), 0.1, 1e-5},
      {"order 2, total, landing, shape", quadratic_pushed_landing, "bdf2", 0.005, 6, SHAPE("body0"),
       1e-7, 1e-5},
      {"order 3, total, landing, shape", cubic_pushed_landing, NULL, 0.005, 4, SHAPE("body0"), 1e-7,
       1e-5},
      {"curved, total, landing, shape", curved_pushed_landing, NULL, 0.005, 4, SHAPE("body0"), 1e-7,
       1e-5},
  };
  COMPARE(cases);
}

// A vertex without elements has a mean mass, and so a share that follows all bodies.
static void shares_without_masses_are_refused(void** state) {
  (void)state;
  static const NoliParameterDef defs[3] = {OF("density", "body0"), ELEMENTS("density", "body0"),
                                           SHAPE("body0")};
  const double x[15] = {0.5, 0.5, 0.5, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  for (int k = 0; k < 6; k++) {
    World world = world_new(1);
    NoliMesh* mesh = NULL;
    ASSERT_OK(noli_mesh_create(world.context, 5, 1, 0, 0, 0, false, &mesh));
    memcpy(mesh->x, x, sizeof x);
    memcpy(mesh->tet, (int32_t[]){1, 2, 3, 4}, 4 * sizeof(int32_t));
    world_add(&world, mesh, (double[]){0, 0, 0});
    world.body[0].order = 1 + k % 2;
    world.def.barrier_stiffness = 2e6;
    add_total(&world);
    forces[0].node = NULL;
    forces[0].n_node = 0;
    expect_refusal(&world, 1, &defs[k / 2], "that no element has");
  }
}

static void accelerated_quadratic(World* world) {
  accelerated_of(world, 2);
}

// On a curved ball that is held on its left, or on the straight faces of a box, by nodes of
// `order`.
static void loaded_of(World* world, const char* kind, int32_t order, bool curved) {
  if (curved) {
    held_ball_of(world, order);
  } else {
    held_beam_of(world, order);
  }
  forces[0] = noli_default_force_def();
  forces[0].body = 0;
  forces[0].kind = kind;
  forces[0].value = strong_load;
  world->def.forces = forces;
  world->def.n_forces = 1;
}

static void quadratic_traction(World* world) {
  loaded_of(world, "traction", 2, false);
}

static void quartic_traction(World* world) {
  loaded_of(world, "traction", 4, false);
}

static void curved_traction(World* world) {
  loaded_of(world, "traction", 2, true);
}

static void cubic_curved_traction(World* world) {
  loaded_of(world, "traction", 3, true);
}

// The shapes of faces have a higher order than their nodes.
static void linear_curved_traction(World* world) {
  loaded_of(world, "traction", 1, true);
}

static void linear_curved_pressure(World* world) {
  loaded_of(world, "pressure", 1, true);
}

static void quadratic_pressure(World* world) {
  loaded_of(world, "pressure", 2, false);
}

// On one side only: the mantle of the cones matters.
static void cubic_side_pressure(World* world) {
  static int32_t some[112];
  NoliSpace space = {0};
  loaded_of(world, "pressure", 3, false);
  ASSERT_OK(noli_space_create(world->context, world->body[0].mesh, 3, &space));
  assert_true(space.n_node <= 112);
  forces[0].node = some;
  for (int32_t i = 0; i < space.n_node; i++) {
    if (space.X[3 * (int64_t)i + 1] > 1.0999) {
      some[forces[0].n_node++] = i;
    }
  }
  noli_space_destroy(world->context, &space);
}

static void curved_pressure(World* world) {
  loaded_of(world, "pressure", 2, true);
}

static void flat_traction(World* world) {
  flat_pressure(world);
  forces[0].kind = "traction";
}

static void springs_volumes_and_loads(void** state) {
  (void)state;
  static const GradientCase cases[] = {
      {"springs, stiffness", sprung, NULL, 0.01, 8, OF("spring_stiffness", "spring 0"), 0.1, 1e-6},
      {"springs, damping", sprung, "bdf2", 0.01, 8, OF("spring_damping", "spring 0"), 1e-3, 1e-6},
      {"springs, shape", sprung, NULL, 0.01, 6, SHAPE("body1"), 1e-6, 1e-6},
      {"springs, young", sprung, "sdirk2", 0.01, 6, OF("young", "body0"), 5, 1e-6},
      {"strung, length", strung, "bdf2", 0.01, 8, OF("spring_length", "spring 0"), 1e-5, 1e-6},
      {"strung, length to a point", strung, NULL, 0.01, 8, OF("spring_length", "spring 1"), 1e-5,
       1e-6},
      {"strung, damping", strung, "sdirk2", 0.01, 8, OF("spring_damping", "spring 1"), 1e-3, 1e-6},
      {"strung, positions", strung, NULL, 0.01, 6, OF("initial_position", "body1"), 1e-6, 1e-6},
      {"strung tr_bdf2, stiffness", undamped_strung, "tr_bdf2", 0.01, 6,
       OF("spring_stiffness", "spring 0"), 0.1, 1e-6},
      {"pressure, factor", under_pressure, NULL, 0.01, 6, OF("force", "force 0"), 2e-2, 1e-6},
      {"pressure, shape", under_pressure, "bdf2", 0.01, 6, SHAPE("body0"), 1e-6, 1e-6},
      {"side pressure, factor", side_pressure, "sdirk2", 0.01, 6, OF("force", "force 0"), 2e-2,
       1e-6},
      {"side pressure, shape", side_pressure, NULL, 0.01, 6, SHAPE("body0"), 1e-6, 1e-6},
      {"side pressure trapezoidal, shape", side_pressure, "trapezoidal", 0.01, 5, SHAPE("body0"),
       1e-6, 1e-6},
      {"pressure tr_bdf2, factor", under_pressure, "tr_bdf2", 0.01, 5, OF("force", "force 0"), 2e-2,
       1e-6},
      {"pressure tr_bdf2, positions",
       under_pressure,
       "tr_bdf2",
       0.01,
       5,
       {.kind = "initial_position", .of = "body0", .scope = "vertices"},
       1e-6,
       1e-6},
      {"flat pressure, factor", flat_pressure, NULL, 0.005, 6, OF("force", "force 0"), 2e-2, 1e-5},
      {"flat pressure, young", flat_pressure, NULL, 0.005, 6, OF("young", "body0"), 2, 1e-5},
      {"traction, factor", under_traction, NULL, 0.01, 6, OF("force", "force 0"), 2e-2, 1e-6},
      {"traction, shape", under_traction, NULL, 0.01, 6, SHAPE("body0"), 1e-6, 1e-6},
      {"traction tr_bdf2, shape", under_traction, "tr_bdf2", 0.01, 5, SHAPE("body0"), 1e-6, 1e-6},
      {"flat traction, shape", flat_traction, NULL, 0.005, 6, SHAPE("body0"), 1e-7, 1e-5},
      {"traction, density", under_traction, "bdf2", 0.01, 6, OF("density", "body0"), 0.1, 1e-6},
      {"acceleration, density", accelerated, NULL, 0.01, 6, OF("density", "body0"), 0.3, 1e-6},
      {"acceleration, shape", accelerated, "tr_bdf2", 0.01, 6, SHAPE("body0"), 1e-6, 1e-6},
      {"total force, density", accelerated_in_total, NULL, 0.01, 6, OF("density", "body0"), 0.3,
       1e-6},
      {"total force, density of elements", accelerated_in_total, NULL, 0.01, 6,
       ELEMENTS("density", "body0"), 0.3, 1e-6},
      {"total force, shape", accelerated_in_total, "bdf2", 0.01, 6, SHAPE("body0"), 1e-6, 1e-6},
      {"acceleration order 2, density", accelerated_quadratic, NULL, 0.01, 4,
       ELEMENTS("density", "body0"), 0.3, 1e-6},
      {"acceleration order 2, shape", accelerated_quadratic, "bdf2", 0.01, 4, SHAPE("body0"), 1e-6,
       1e-6},
      {"order 2, traction, shape", quadratic_traction, NULL, 0.01, 4, SHAPE("body0"), 1e-6, 1e-6},
      {"order 4, traction, shape", quartic_traction, NULL, 0.01, 2, SHAPE("body0"), 1e-6, 1e-6},
      {"curved traction, shape", curved_traction, "bdf2", 0.01, 4, SHAPE("body0"), 1e-6, 1e-6},
      {"order 3, curved traction, shape", cubic_curved_traction, NULL, 0.01, 2, SHAPE("body0"),
       1e-6, 1e-6},
      {"curved traction, factor", curved_traction, NULL, 0.01, 4, OF("force", "force 0"), 2e-2,
       1e-6},
      {"order 2, pressure, factor", quadratic_pressure, NULL, 0.01, 4, OF("force", "force 0"), 2e-2,
       1e-6},
      {"order 2, pressure, shape", quadratic_pressure, "bdf2", 0.01, 4, SHAPE("body0"), 1e-6, 1e-6},
      {"order 3, side pressure, shape", cubic_side_pressure, "sdirk2", 0.01, 3, SHAPE("body0"),
       1e-6, 1e-6},
      {"curved pressure, factor", curved_pressure, "bdf2", 0.01, 4, OF("force", "force 0"), 2e-2,
       1e-6},
      {"curved pressure, young", curved_pressure, NULL, 0.01, 4, OF("young", "body0"), 5, 1e-6},
      {"curved pressure, shape", curved_pressure, NULL, 0.01, 4, SHAPE("body0"), 1e-6, 1e-6},
      {"order 1, curved traction, shape", linear_curved_traction, NULL, 0.01, 4, SHAPE("body0"),
       1e-6, 1e-6},
      {"order 1, curved pressure, shape", linear_curved_pressure, "bdf2", 0.01, 4, SHAPE("body0"),
       1e-6, 1e-6},
      {"gas, pressure", with_gas, NULL, 0.01, 6, OF("volume_pressure", "body0"), 0.1, 1e-6},
      {"gas, compression", with_gas, "bdf2", 0.01, 6, OF("volume_compression", "body0"), 1e-7,
       1e-6},
      {"air, pressure", with_air, NULL, 0.01, 6, OF("volume_pressure", "body0"), 0.1, 1e-6},
      {"air, young", with_air, "trapezoidal", 0.01, 6, OF("young", "body0"), 5, 1e-6},
      {"water, shape", with_water, NULL, 0.01, 6, SHAPE("body0"), 1e-6, 1e-6},
      {"water, compression", with_water, "sdirk2", 0.01, 6, OF("volume_compression", "body0"), 1e-7,
       1e-5},
      {"quadratic, positions",
       with_quadratic,
       NULL,
       0.01,
       6,
       {.kind = "initial_position", .of = "body0", .scope = "vertices"},
       1e-6,
       1e-6},
  };
  COMPARE(cases);
}

// ---- prescribed motions -------------------------------------------------------------------------

// Turns about (0.1, 1.05, 0) at a speed that grows, and drifts, from where vertices are.
static void turn(void* user, double t0, double t1, int32_t n, const int32_t* node, const double* X,
                 const double* x_t0, double* x_t1) {
  (void)user, (void)node, (void)X;
  double angle = 4.0 * (t1 - t0) + 30.0 * (t1 * t1 - t0 * t0), c = cos(angle), s = sin(angle);
  for (int64_t i = 0; i < n; i++) {
    double dx = x_t0[3 * i] - 0.1, dy = x_t0[3 * i + 1] - 1.05;
    x_t1[3 * i] = 0.1 + c * dx - s * dy + 0.2 * (t1 - t0);
    x_t1[3 * i + 1] = 1.05 + s * dx + c * dy;
    x_t1[3 * i + 2] = x_t0[3 * i + 2];
  }
}

// Shakes from the rest shape, and turns it.
static void shake(void* user, double t0, double t1, int32_t n, const int32_t* node, const double* X,
                  const double* x_t0, double* x_t1) {
  (void)user, (void)node, (void)t0, (void)x_t0;
  double angle = 30.0 * t1 * t1, c = cos(angle), s = sin(angle);
  for (int64_t i = 0; i < n; i++) {
    double dx = X[3 * i] - 0.1, dy = X[3 * i + 1] - 1.05;
    x_t1[3 * i] = 0.1 + c * dx - s * dy + 0.02 * (1.0 - cos(40.0 * t1));
    x_t1[3 * i + 1] = 1.05 + s * dx + c * dy;
    x_t1[3 * i + 2] = X[3 * i + 2] + 3.0 * t1 * t1;
  }
}

static void moved_beam(World* world, NoliMotionFn* target, bool free) {
  add_box(world, 1.0, true);
  world->motion[0].target = target;
  world->motion[0].free_axis[2] = free;
  world->motion[0].name = "drive";
}

static void turned_beam(World* world) {
  moved_beam(world, turn, false);
}

static void changed_beam(World* world) {
  moved_beam(world, turn, false);
  world->motion[0].change = 0.3;
  world->motion[0].velocity[1] = 0.4;
}

static void shaken_beam(World* world) {
  moved_beam(world, shake, true);
}

static void changed_shaken_beam(World* world) {
  moved_beam(world, shake, false);
  world->motion[0].change = -0.2;
  world->motion[0].velocity[0] = 0.4;
}

// Spins while it turns, drifts and shakes; about a place aside, too, for a while only.
static void spun_beam(World* world) {
  changed_beam(world);
  memcpy(world->motion[0].spin, (double[]){3.0, -2.0, 5.0}, sizeof world->motion[0].spin);
  memcpy(world->motion[0].pivot, (double[]){0.1, 1.0, 0.3}, sizeof world->motion[0].pivot);
  world->motion[0].t_begin = 0.02;
}

static void spun_shaken_beam(World* world) {
  changed_shaken_beam(world);
  memcpy(world->motion[0].spin, (double[]){0.0, 1.0, -2.0}, sizeof world->motion[0].spin);
}

// Held by a clamp that may turn.
static void held_beam(World* world) {
  moved_beam(world, NULL, false);
  world->motion[0].pivot[1] = 1.0;
}

// It falls and sags before it is clamped and turns.
static void late_beam(World* world) {
  static double x0[3 * 64];
  moved_beam(world, turn, false);
  world->motion[0].t_begin = 0.025;
  for (int64_t i = 0; i < 3 * (int64_t)world->mesh[0]->n_vert; i++) {
    assert_true(i < 3 * 64);
    x0[i] = world->mesh[0]->x[i] + 0.004 * sin(5.0 * (double)i);
  }
  world->body[0].x0 = x0;
}

// A box is held in the air until a plate below, which moves, touches it.
static void lifted_box(World* world) {
  NoliMesh* mesh = NULL;
  add_box(world, 1.5e-3, false);
  ASSERT_OK(noli_mesh_make_box(world->context, (double[]){0.4, 0.1, 0.4}, (int32_t[]){2, 1, 2},
                               false, &mesh));
  int32_t plate = world_add_obstacle(world, mesh, (double[]){0, -0.05, 0});
  world_add_motion(world, plate, NULL, NULL)->name = "drive";
  world->motion[0].velocity[1] = 0.3;
  world->motion[0].velocity[0] = 0.5;
  world->def.friction = 0.3;
}

static void quadratic_turned_beam(World* world) {
  changed_beam(world);
  world->body[0].order = 2;
}

// ---- integrators that start from forces ---------------------------------------------------------

static void damped_turned_beam(World* world) {
  turned_beam(world);
  world->body[0].material.damping = 0.01;
}

// A box that rests on a plate which moves aside from the start.
static void dragged_box(World* world) {
  lifted_box(world);
  world->body[0].velocity[1] = 0.0;
  world->body[0].material.damping = 0.002;
  world->motion[0].velocity[1] = 0.05;
}

static void starts_from_forces(void** state) {
  (void)state;
  static const GradientCase cases[] = {
      {"damped trapezoidal, shape", damped_beam, "trapezoidal", 0.01, 6, SHAPE("body0"), 1e-6,
       1e-6},
      {"damped tr_bdf2, young", damped_beam, "tr_bdf2", 0.01, 6, OF("young", "body0"), 5, 1e-6},
      {"damped tr_bdf2, density", damped_beam, "tr_bdf2", 0.01, 6, ELEMENTS("density", "body0"),
       0.3, 1e-6},
      {"damped trapezoidal, velocity", damped_beam, "trapezoidal", 0.01, 6,
       OF("initial_velocity", "body0"), 1e-4, 1e-6},
      {"damped crash tr_bdf2, shape", damped_crash, "tr_bdf2", 0.002, 6, SHAPE("body0"), 1e-7,
       1e-5},
      {"strung tr_bdf2, damping", strung, "tr_bdf2", 0.01, 6, OF("spring_damping", "spring 1"),
       1e-3, 1e-6},
      {"strung trapezoidal, length", strung, "trapezoidal", 0.01, 6,
       OF("spring_length", "spring 0"), 1e-5, 1e-6},
      {"springs trapezoidal, shape", sprung, "trapezoidal", 0.01, 6, SHAPE("body1"), 1e-6, 1e-6},
      {"order 2 trapezoidal, shape", quadratic_beam, "trapezoidal", 0.01, 5, SHAPE("body0"), 1e-6,
       1e-6},
      {"order 3 tr_bdf2, densities", cubic_beam, "tr_bdf2", 0.01, 4, ELEMENTS("density", "body0"),
       0.3, 1e-6},
      {"order 2 tr_bdf2, landing, positions", quadratic_landing, "tr_bdf2", 0.005, 8,
       OF("initial_position", "body0"), 1e-7, 1e-5},
      {"order 2 tr_bdf2, acceleration, density", accelerated_quadratic, "tr_bdf2", 0.01, 4,
       OF("density", "body0"), 0.3, 1e-6},
      {"damped order 2 tr_bdf2, shape", damped_quadratic_beam, "tr_bdf2", 0.01, 4, SHAPE("body0"),
       1e-6, 1e-6},
      {"damped order 2 trapezoidal, density", damped_quadratic_beam, "trapezoidal", 0.01, 4,
       OF("density", "body0"), 0.3, 1e-6},
      {"damped and turned tr_bdf2, factor", damped_turned_beam, "tr_bdf2", 0.01, 6,
       OF("motion", "drive"), 1e-4, 1e-6},
      {"damped and turned trapezoidal, velocity", damped_turned_beam, "trapezoidal", 0.01, 6,
       OF("motion_velocity", "drive"), 1e-4, 1e-6},
      {"dragged tr_bdf2, velocity", dragged_box, "tr_bdf2", 0.004, 4,
       OF("motion_velocity", "drive"), 1e-6, 1e-5},
      {"dragged trapezoidal, density", dragged_box, "trapezoidal", 0.004, 4, OF("density", "body0"),
       0.1, 1e-5},
  };
  COMPARE(cases);
}

static void prescribed_motions(void** state) {
  (void)state;
  static const GradientCase cases[] = {
      {"turned, factor", turned_beam, NULL, 0.01, 6, OF("motion", "drive"), 1e-4, 1e-6},
      {"turned bdf2, factor", turned_beam, "bdf2", 0.01, 6, OF("motion", "drive"), 1e-4, 1e-6},
      {"turned, velocity", turned_beam, "sdirk2", 0.01, 6, OF("motion_velocity", "drive"), 1e-4,
       1e-6},
      {"turned, shape", turned_beam, NULL, 0.01, 6, SHAPE("body0"), 1e-6, 1e-6},
      {"turned bdf2, positions",
       turned_beam,
       "bdf2",
       0.01,
       6,
       {.kind = "initial_position", .of = "body0", .scope = "vertices"},
       1e-6,
       1e-6},
      {"turned tr_bdf2, velocity", turned_beam, "tr_bdf2", 0.01, 6, OF("motion_velocity", "drive"),
       1e-4, 1e-6},
      {"clamped late, young", late_beam, NULL, 0.01, 6, OF("young", "body0"), 100, 1e-6},
      {"clamped late, density", late_beam, "bdf2", 0.01, 6, OF("density", "body0"), 0.1, 1e-6},
      {"changed, factor", changed_beam, NULL, 0.01, 6, OF("motion", "drive"), 1e-4, 1e-6},
      {"changed, velocity", changed_beam, "sdirk2", 0.01, 6, OF("motion_velocity", "drive"), 1e-4,
       1e-6},
      {"changed, shape", changed_beam, "sdirk2", 0.01, 6, SHAPE("body0"), 1e-6, 1e-6},
      {"shaken, factor", shaken_beam, "bdf2", 0.01, 6, OF("motion", "drive"), 1e-4, 1e-6},
      {"shaken, shape", shaken_beam, NULL, 0.01, 6, SHAPE("body0"), 1e-6, 1e-6},
      {"shaken bdf2, positions",
       shaken_beam,
       "bdf2",
       0.01,
       6,
       {.kind = "initial_position", .of = "body0", .scope = "vertices"},
       1e-6,
       1e-6},
      {"changed shaken, factor", changed_shaken_beam, NULL, 0.01, 6, OF("motion", "drive"), 1e-4,
       1e-6},
      {"changed shaken bdf2, shape", changed_shaken_beam, "bdf2", 0.01, 6, SHAPE("body0"), 1e-6,
       1e-6},
      {"order 2 turned bdf2, factor", quadratic_turned_beam, "bdf2", 0.01, 4, OF("motion", "drive"),
       1e-4, 1e-6},
      {"order 2 turned sdirk2, velocity", quadratic_turned_beam, "sdirk2", 0.01, 4,
       OF("motion_velocity", "drive"), 1e-4, 1e-6},
      {"order 2 turned tr_bdf2, spin", quadratic_turned_beam, "tr_bdf2", 0.01, 4,
       OF("motion_spin", "drive"), 1e-4, 1e-6},
      {"order 2 turned bdf2, shape", quadratic_turned_beam, "bdf2", 0.01, 4, SHAPE("body0"), 1e-6,
       1e-6},
      {"order 2 turned bdf2, densities", quadratic_turned_beam, "bdf2", 0.01, 4,
       ELEMENTS("density", "body0"), 0.3, 1e-6},
      {"turned, spin", turned_beam, NULL, 0.01, 6, OF("motion_spin", "drive"), 1e-4, 1e-6},
      {"held tr_bdf2, spin", held_beam, "tr_bdf2", 0.01, 6, OF("motion_spin", "drive"), 1e-4, 1e-6},
      {"spun, spin", spun_beam, NULL, 0.01, 6, OF("motion_spin", "drive"), 1e-4, 1e-6},
      {"spun sdirk2, factor", spun_beam, "sdirk2", 0.01, 6, OF("motion", "drive"), 1e-4, 1e-6},
      {"spun bdf2, velocity", spun_beam, "bdf2", 0.01, 6, OF("motion_velocity", "drive"), 1e-4,
       1e-6},
      {"spun, shape", spun_beam, NULL, 0.01, 6, SHAPE("body0"), 1e-6, 1e-6},
      {"spun shaken, spin", spun_shaken_beam, "bdf2", 0.01, 6, OF("motion_spin", "drive"), 1e-4,
       1e-6},
      {"spun shaken, positions",
       spun_shaken_beam,
       NULL,
       0.01,
       6,
       {.kind = "initial_position", .of = "body0", .scope = "vertices"},
       1e-6,
       1e-6},
      {"lifted, spin", lifted_box, NULL, 0.004, 8, OF("motion_spin", "drive"), 1e-5, 1e-5},
      {"lifted, velocity", lifted_box, NULL, 0.004, 8, OF("motion_velocity", "drive"), 1e-6, 1e-5},
      {"lifted sdirk2, velocity", lifted_box, "sdirk2", 0.004, 8, OF("motion_velocity", "drive"),
       1e-6, 1e-5},
  };
  COMPARE(cases);
}

// ---- materials with history ---------------------------------------------------------------------

// Two terms: one relaxes within a few steps, the other one hardly.
static const NoliProny prony = {.n = 2, .share = {0.4, 0.2}, .time = {0.01, 0.2}};

static void viscous_landing_of(World* world, int32_t order) {
  landing_of(world, order);
  world->body[0].material.prony = &prony;
  world->body[0].velocity[1] = -0.5;
}

static void viscous_landing(World* world) {
  viscous_landing_of(world, 1);
}

static void viscous_quadratic_landing(World* world) {
  viscous_landing_of(world, 2);
}

// Beside an elastic body, whose elements have no history.
static void viscous_stack(World* world) {
  world_add_plane(world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
  world->def.friction = 0.3;
  (void)add_box(world, 1.5e-3, false);
  int32_t body = add_box(world, 0.104, false);
  world->body[body].material.prony = &prony;
  world->body[body].velocity[0] = 0.5;
  world->body[body].velocity[1] = -1.0;
}

static void viscous_beam(World* world) {
  int32_t body = add_box(world, 1.0, true);
  world->body[body].material.prony = &prony;
  world->body[body].angular_velocity[2] = 3.0;
}

static void viscous_loaded_beam(World* world) {
  pressed(world, "traction", NULL);
  world->body[0].material.prony = &prony;
}

static void viscous_shaken_beam(World* world) {
  shaken_beam(world);
  world->body[0].material.prony = &prony;
}

static void viscous_plane(World* world) {
  damped_plane(world);
  world->body[0].material.damping = 0.0;
  world->body[0].material.prony = &prony;
}

static void materials_with_history(void** state) {
  (void)state;
  static const GradientCase cases[] = {
      {"viscous landing, young", viscous_landing, NULL, 0.002, 10, OF("young", "body0"), 5, 1e-5},
      {"viscous landing bdf2, young", viscous_landing, "bdf2", 0.002, 10,
       ELEMENTS("young", "body0"), 5, 1e-5},
      {"viscous landing, density", viscous_landing, "bdf2", 0.002, 10, OF("density", "body0"), 0.1,
       1e-5},
      {"viscous landing, friction", viscous_landing, NULL, 0.002, 10, OF("friction", NULL), 1e-4,
       1e-5},
      {"viscous landing bdf2, gravity", viscous_landing, "bdf2", 0.002, 10, OF("gravity", NULL),
       1e-3, 1e-5},
      {"viscous landing, velocity",
       viscous_landing,
       NULL,
       0.002,
       10,
       {.kind = "initial_velocity", .of = "body0", .scope = "vertices"},
       1e-5,
       1e-5},
      {"viscous landing bdf2, positions",
       viscous_landing,
       "bdf2",
       0.002,
       10,
       {.kind = "initial_position", .of = "body0", .scope = "vertices"},
       1e-7,
       1e-5},
      {"viscous landing, poisson", viscous_landing, "sdirk2", 0.002, 8, OF("poisson", "body0"),
       1e-5, 1e-5},
      {"viscous landing, shape", viscous_landing, NULL, 0.002, 8, SHAPE("body0"), 1e-7, 1e-5},
      {"viscous order 2, shape", viscous_quadratic_landing, "bdf2", 0.002, 6, SHAPE("body0"), 1e-7,
       1e-5},
      {"viscous order 2, young", viscous_quadratic_landing, NULL, 0.002, 6, OF("young", "body0"), 5,
       1e-5},
      {"viscous stack, young", viscous_stack, NULL, 0.002, 8, OF("young", "body1"), 5, 1e-5},
      {"viscous stack bdf2, velocity", viscous_stack, "bdf2", 0.002, 8,
       OF("initial_velocity", "body1"), 1e-5, 1e-5},
      {"viscous beam trapezoidal, velocity",
       viscous_beam,
       "trapezoidal",
       0.005,
       6,
       {.kind = "initial_velocity", .of = "body0", .scope = "vertices"},
       1e-4,
       1e-6},
      {"viscous beam tr_bdf2, positions",
       viscous_beam,
       "tr_bdf2",
       0.005,
       6,
       {.kind = "initial_position", .of = "body0", .scope = "vertices"},
       1e-6,
       1e-6},
      {"viscous beam tr_bdf2, shape", viscous_beam, "tr_bdf2", 0.005, 6, SHAPE("body0"), 1e-6,
       1e-6},
      {"viscous beam at rest, young", viscous_loaded_beam, "quasi_static", 0.01, 4,
       OF("young", "body0"), 5, 1e-6},
      {"viscous beam, force", viscous_loaded_beam, "bdf2", 0.01, 6, OF("force", "force 0"), 1e-3,
       1e-6},
      {"viscous shaken, factor", viscous_shaken_beam, NULL, 0.01, 6, OF("motion", "drive"), 1e-4,
       1e-6},
      {"viscous shaken bdf2, velocity", viscous_shaken_beam, "bdf2", 0.01, 6,
       OF("motion_velocity", "drive"), 1e-4, 1e-6},
      {"viscous shaken, shape", viscous_shaken_beam, NULL, 0.01, 6, SHAPE("body0"), 1e-6, 1e-6},
      {"viscous plane, positions",
       viscous_plane,
       "sdirk2",
       0.002,
       8,
       {.kind = "initial_position", .of = "body0", .scope = "vertices"},
       1e-7,
       1e-5},
      {"viscous plane, shape", viscous_plane, NULL, 0.002, 8, SHAPE("body0"), 1e-7, 1e-5},
  };
  COMPARE(cases);
}

// States that are kept, and steps that are computed again, hold the histories, too.
static void histories_are_kept(void** state) {
  (void)state;
  const GradientCase c = {
      .name = "kept", .build = viscous_landing, .integrator = "bdf2", .h = 0.002};
  World world = built_world(&c);
  world_start(&world);
  NoliParameterDef velocity = OF("initial_velocity", "body0");
  NoliParameters* parameters = NULL;
  NoliObjective objective = {spread, NULL};
  NoliGradientDef def = noli_default_gradient_def();
  double value[2], gradient[2][3];
  def.n_steps = 10;
  ASSERT_OK(noli_parameters_create(world.sim, &velocity, 1, &parameters));
  for (int k = 0; k < 2; k++) {
    NoliSim* sim = NULL;
    ASSERT_OK(noli_sim_clone(world.sim, world.context, &sim));
    def.checkpoints = k == 0 ? 1 : 4;
    ASSERT_OK(
        noli_sim_gradient(sim, parameters, &objective, 1, &def, &value[k], gradient[k], NULL));
    noli_sim_destroy(&sim);
  }
  assert_memory_equal(&value[0], &value[1], sizeof *value);
  assert_memory_equal(gradient[0], gradient[1], sizeof *gradient);
  noli_parameters_destroy(&parameters);
  world_done(&world);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(elements_of_higher_order),
                                     cmocka_unit_test(shapes_of_higher_order_than_elements),
                                     cmocka_unit_test(goals_of_such_shapes),
                                     cmocka_unit_test(shapes_with_proxies),
                                     cmocka_unit_test(proxies_keep_their_weights),
                                     cmocka_unit_test(refused_proxies),
                                     cmocka_unit_test(damping_in_proportion_to_stiffness),
                                     cmocka_unit_test(springs_volumes_and_loads),
                                     cmocka_unit_test(total_forces_of_higher_order),
                                     cmocka_unit_test(shares_without_masses_are_refused),
                                     cmocka_unit_test(prescribed_motions),
                                     cmocka_unit_test(starts_from_forces),
                                     cmocka_unit_test(materials_with_history),
                                     cmocka_unit_test(histories_are_kept)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
