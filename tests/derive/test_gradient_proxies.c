// Derivatives of runs by shapes of bodies whose contact has a mesh of its own: both modes against
// each other and against central differences of runs.
#include "fem/space.h"
#include "gradient_bodies.h"

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

// Gives the box a proxy of finer cells, which do not match those of the box, and a fiftieth larger.
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

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(shapes_with_proxies),
                                     cmocka_unit_test(proxies_keep_their_weights),
                                     cmocka_unit_test(refused_proxies)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
