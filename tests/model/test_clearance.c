// The contact distance compared with gaps at rest and at the start: the default leaves rest shapes
// without forces, and if contact acts before anything moves, the user gets a warning with the right
// advice.
#include "step/world.h"

#include "collide/brute_force.h"
#include "collide/closest.h"

static const double origin[3] = {0, 0, 0};

typedef struct Said {
  int n_warnings;
  char warning[1024]; // the last one
  char info[1024];    // that names the contact distance
} Said;

static void keep(void* user, NoliLogLevel level, const char* message) {
  Said* said = user;
  // the card is a single layer of elements, which has its own warning
  if (level == NOLI_LOG_WARNING && strstr(message, "contact distance") != NULL) {
    said->n_warnings++;
    snprintf(said->warning, sizeof said->warning, "%s", message);
  } else if (strstr(message, "contact distance") != NULL) {
    snprintf(said->info, sizeof said->info, "%s", message);
  }
}

static World listening_world(Said* said) {
  World world = world_new(1);
  NoliContextDef def = noli_default_context_def();
  def.log = keep;
  def.log_user = said;
  def.n_threads = 1;
  *said = (Said){0};
  test_context_done(&world.context);
  ASSERT_OK(noli_context_create(&def, &world.context));
  return world;
}

static void expect_in(const char* text, const char* part) {
  if (strstr(text, part) == NULL) {
    print_error("\"%s\" is not in: %s\n", part, text);
    fail();
  }
}

// A stiff card of this thickness and a box two metres above, all lengths times `unit`.
static World make_room(Said* said, double thickness, double unit) {
  World world = listening_world(said);
  NoliMesh* mat = NULL;
  ASSERT_OK(noli_mesh_make_mat(world.context, 0.2 * unit, 0.2 * unit, thickness * unit, 8, 8, false,
                               &mat));
  int32_t card = world_add(&world, mat, origin);
  world.body[card].material.young = 1e7 / unit;
  world.body[card].material.poisson = 0.3;
  world.body[card].material.density = 1e3 / (unit * unit * unit);
  int32_t box = world_add(&world, make_box(&world, 0.1 * unit, 0.1 * unit, 0.1 * unit, 1),
                          (double[]){0, 2.0 * unit, 0});
  world.body[box].material.young = 1e5 / unit;
  world.body[box].material.density = 1e3 / (unit * unit * unit);
  world.def.gravity[1] = 0.0;
  return world;
}

// Largest displacement from rest and largest stress after some steps without gravity.
static void measure_rest(World* world, double* displacement, double* stress) {
  *displacement = *stress = 0.0;
  for (int i = 0; i < 5; i++) {
    world_step(world);
  }
  const double *x = noli_sim_positions(world->sim), *X = noli_sim_rest_positions(world->sim);
  for (int64_t i = 0; i < 3 * (int64_t)noli_sim_vertex_count(world->sim); i++) {
    *displacement = noli_larger(*displacement, fabs(x[i] - X[i]));
  }
  int32_t n_tet = noli_sim_tet_count(world->sim);
  double* mises = malloc((size_t)n_tet * sizeof *mises);
  ASSERT_OK(noli_sim_von_mises(world->sim, mises));
  for (int32_t t = 0; t < n_tet; t++) {
    *stress = noli_larger(*stress, mises[t]);
  }
  free(mises);
}

// 1e-3 d is twice the thickness here: with that the card swells by 0.9 % under a stress of 1e5 Pa.
static void a_card_stands_without_stress(void** state) {
  (void)state;
  const char* solvers[] = {"projected_newton", "augmented_lagrangian", "implicit_newton"};
  for (int s = 0; s < 3; s++) {
    Said said;
    World world = make_room(&said, 1e-3, 1.0);
    double displacement, stress;
    world.def.solver = solvers[s];
    world_start(&world);
    measure_rest(&world, &displacement, &stress);
    print_message("%s: distance %.4g m, moved by %.3g m, stress %.3g Pa\n", solvers[s],
                  noli_sim_contact_distance(world.sim), displacement, stress);
    // half of the thickness, less the amount by which the diagonals of the two sides are closer
    ASSERT_NEAR(noli_sim_contact_distance(world.sim), 0.5e-3, 1e-5);
    ASSERT_AT_MOST(displacement, 1e-15);
    ASSERT_AT_MOST(stress, 1e-4);
    assert_int_equal(world.report.contacts, 0);
    assert_int_equal(said.n_warnings, 0);
    expect_in(said.info, "\"body0\"");
    expect_in(said.info, "half the smallest gap");
    world_done(&world);
  }
}

static void units_do_not_matter(void** state) {
  (void)state;
  Said said;
  World metre = make_room(&said, 1e-3, 1.0);
  world_start(&metre);
  double want = noli_sim_contact_distance(metre.sim);
  const double units[] = {1e3, 1.0 / 0.0254, 1e-6};
  for (int i = 0; i < 3; i++) {
    World world = make_room(&said, 1e-3, units[i]);
    world_start(&world);
    ASSERT_NEAR(noli_sim_contact_distance(world.sim) / units[i], want, 1e-12 * want);
    world_done(&world);
  }
  world_done(&metre);
}

static double size_of(const World* world) {
  return world->sim->model->problem.size.d;
}

static void the_default_is_what_it_was_without_narrow_gaps(void** state) {
  (void)state;
  Said said;
  // the card is three times as thick as 1e-3 d
  World world = make_room(&said, 6e-3, 1.0);
  world_start(&world);
  ASSERT_NEAR(noli_sim_contact_distance(world.sim), 1e-3 * size_of(&world), 0.0);
  assert_int_equal(said.n_warnings, 0);
  assert_string_equal(said.info, "");
  world_done(&world);
  // thin, but without contact with itself, without any contact, or with models that do not push
  for (int i = 0; i < 4; i++) {
    world = make_room(&said, 1e-3, 1.0);
    world.body[0].self_contact = i != 0;
    world.def.contact = i != 1;
    world.def.contact_model = i == 2 ? "gcp" : i == 3 ? "implicit_surface" : "ipc";
    world.def.audit = i == 3 ? "off" : world.def.audit;
    world_start(&world);
    ASSERT_NEAR(noli_sim_contact_distance(world.sim), 1e-3 * size_of(&world), 0.0);
    // where contact acts on all that is near, it acts through the card
    assert_int_equal(said.n_warnings, i == 0 ? 1 : 0);
    world_done(&world);
  }
}

// All pairs of primitives of one body without a common vertex, one by one.
static double slow_gap(const World* world) {
  const NoliModel* model = world->sim->model;
  const NoliSurface* surface = model->problem.surface;
  const double* X = model->problem.X;
  NoliCandidates candidates = {0};
  double least = INFINITY;
  ASSERT_OK(brute_force_find(world->context, surface, X, X, size_of(world), NULL, &candidates));
  for (int64_t i = 0; i < candidates.point_triangle.count + candidates.edge_edge.count; i++) {
    bool edges = i >= candidates.point_triangle.count;
    NoliPrimitivePair pair = edges ? candidates.edge_edge.data[i - candidates.point_triangle.count]
                                   : candidates.point_triangle.data[i];
    int32_t n_first = edges ? 2 : 1;
    NoliVec3 at[4];
    bool same = true;
    for (int32_t k = 0; k < 4; k++) {
      int32_t v = k < n_first ? edges ? surface->edge[2 * pair.a + k] : pair.a
                  : edges     ? surface->edge[2 * pair.b + k - 2]
                              : surface->tri[3 * pair.b + k - 1];
      same = same && surface->body[v] == surface->body[edges ? surface->edge[2 * pair.a] : pair.a];
      at[k] = noli_load3(&X[3 * v]);
    }
    double d_sqr = edges ? noli_distance_sqr_edge_edge(at) : noli_distance_sqr_point_triangle(at);
    least = same ? noli_smaller(least, sqrt(d_sqr)) : least;
  }
  noli_candidates_free(world->context, &candidates);
  return least;
}

// Small bodies far apart: triangles are smaller than 1e-3 d, and neighbours must not push each
// other.
static void fine_meshes_are_measured(void** state) {
  (void)state;
  TestRandom random = {3};
  for (int trial = 0; trial < 12; trial++) {
    Said said;
    World world = listening_world(&said);
    double size = test_random(&random, 5e-3, 5e-2);
    NoliMesh* mesh = trial % 2 ? make_sphere(&world, size, 3 + trial % 4)
                               : make_box(&world, size, 2.0 * size, 1.5 * size, 3 + trial % 3);
    world.def.gravity[1] = 0.0;
    for (int32_t i = 0; i < 3 * mesh->n_vert; i++) {
      mesh->x[i] += 0.02 * size * test_random(&random, -1.0, 1.0);
    }
    int32_t fine = world_add(&world, mesh, origin);
    world.body[fine].material.young = 1e6;
    world_add(&world, make_box(&world, 0.5, 0.5, 0.5, 1), (double[]){20, 10, 0});
    world_start(&world);
    double gap = slow_gap(&world), most = 1e-3 * size_of(&world);
    double displacement, stress;
    ASSERT_NEAR(noli_sim_contact_distance(world.sim), gap < most ? 0.5 * gap : most, 1e-14);
    assert_true(gap < most);
    measure_rest(&world, &displacement, &stress);
    assert_int_equal(world.report.contacts, 0);
    ASSERT_AT_MOST(displacement, 1e-14);
    world_done(&world);
  }
}

static void outlines_and_proxies_are_measured(void** state) {
  (void)state;
  Said said;
  World world = listening_world(&said);
  NoliMesh* strip = NULL;
  ASSERT_OK(noli_mesh_make_rectangle(world.context, 1.0, 0.5e-3, 12, 1, &strip));
  int32_t body = world_add(&world, strip, origin);
  world.body[body].plane_strain = 1.0;
  world_start(&world);
  ASSERT_NEAR(noli_sim_contact_distance(world.sim), 0.25e-3, 1e-12);
  expect_in(said.info, "edge");
  world_done(&world);

  world = listening_world(&said);
  NoliMesh* mat = NULL;
  ASSERT_OK(noli_mesh_make_mat(world.context, 1.0, 1.0, 1e-3, 6, 6, false, &mat));
  body = world_add(&world, mat, origin);
  world.body[body].order = 2;
  world_start(&world);
  ASSERT_NEAR(noli_sim_contact_distance(world.sim), 0.5 * slow_gap(&world), 1e-15);
  // its rim is cut in half
  ASSERT_NEAR(noli_sim_contact_distance(world.sim), 0.25e-3, 1e-6);
  world_done(&world);
}

static void a_given_distance_is_kept_with_a_warning(void** state) {
  (void)state;
  Said said;
  const NoliScaled given[] = {
      {1e-3, NOLI_OF_BALL}, {1.5e-3, NOLI_ABSOLUTE}, {0.9e-3, NOLI_ABSOLUTE}};
  for (int i = 0; i < 3; i++) {
    World world = make_room(&said, 1e-3, 1.0);
    world.def.contact_distance = given[i];
    world_start(&world);
    double want = given[i].value * (given[i].relative ? size_of(&world) : 1.0);
    ASSERT_NEAR(noli_sim_contact_distance(world.sim), want, 0.0);
    assert_int_equal(said.n_warnings, i < 2 ? 1 : 0);
    if (i < 2) {
      expect_in(said.warning, "\"body0\"");
      expect_in(said.warning, "set contact.distance below 0.000998 m");
    }
    world_done(&world);
  }
}

// The advice for a step that does not converge: a larger distance would make it worse.
static void stalls_give_the_right_direction(void** state) {
  (void)state;
  for (int crowded = 0; crowded < 2; crowded++) {
    Said said;
    World world = make_room(&said, 1e-3, 1.0);
    world.def.contact_distance = (NoliScaled){crowded ? 2e-3 : 0.5e-3, false};
    world_start(&world);
    const NoliNewtonStat stat = {.alpha_inversion = 1.0, .alpha_ccd = 0.01, .alpha = 0.01};
    char text[512];
    world_step(&world);
    noli_sim_describe_stall(world.sim, &stat, text);
    expect_in(text, crowded ? "a smaller contact.distance" : "a larger contact.distance");
    assert_true((strstr(text, "set contact.distance below") != NULL) == (crowded == 1));
    world_done(&world);
  }
}

static void close_starts_are_told(void** state) {
  (void)state;

  // two boxes, or a box and a half-space, at small gaps
  const double gaps[] = {0.3e-3, 0.999e-3, 1e-3, 2e-3};
  for (int i = 0; i < 12; i++) {
    Said said;
    World world = listening_world(&said);
    bool plane = i / 4 == 1, geometric = i / 4 == 2;
    double gap = gaps[i % 4];
    world.def.contact_distance = (NoliScaled){1e-3, false};
    world.def.contact_model = geometric ? "gcp" : "ipc";
    world_add(&world, make_box(&world, 0.2, 0.2, 0.2, 2), origin);
    if (plane) {
      world_add_plane(&world, (double[]){0, -0.1 - gap, 0}, (double[]){0, 1, 0});
    } else {
      world_add(&world, make_box(&world, 0.1, 0.1, 0.1, 1), (double[]){0, 0.15 + gap, 0});
    }
    world_start(&world);
    // the geometric potential does not act where bodies start
    int want = i % 4 < 2 && !geometric ? 1 : 0;
    assert_int_equal(said.n_warnings, want);
    if (want > 0) {
      char part[64];
      snprintf(part, sizeof part, "set contact.distance below %.3g m", gap);
      expect_in(said.warning, part);
      expect_in(said.warning, "\"body0\"");
      expect_in(said.warning, plane ? "\"ground\"" : "\"body1\"");
    }
    world_done(&world);
  }

  // pairs that may pass through each other are ignored
  Said said;
  World world = listening_world(&said);
  const NoliPairDef pair = {.size = sizeof(NoliPairDef), .a = 0, .b = 1, .contact = false};
  world.def.pairs = &pair;
  world.def.n_pairs = 1;
  world_add(&world, make_box(&world, 0.2, 0.2, 0.2, 2), origin);
  world_add(&world, make_box(&world, 0.1, 0.1, 0.1, 1), (double[]){0, 0.15001, 0});
  world_start(&world);
  assert_int_equal(said.n_warnings, 0);
  world_done(&world);
}

// Parts of one body that are close only in the start positions; a rest shape that touches itself
// sets no limit.
static void start_positions_of_one_body_count(void** state) {
  (void)state;
  Said said;
  World world = listening_world(&said);
  NoliMesh* pieces = NULL;
  ASSERT_OK(noli_mesh_make_box(world.context, (double[]){0.1, 0.1, 0.1}, (int32_t[]){1, 1, 1},
                               false, &pieces));
  NoliMesh* pair = NULL;
  int32_t n = pieces->n_vert, n_tet = pieces->n_tet;
  ASSERT_OK(noli_mesh_create(world.context, 2 * n, 2 * n_tet, 0, 0, 0, false, &pair));
  double* x0 = malloc(6 * (size_t)n * sizeof *x0);
  for (int i = 0; i < 6 * n; i++) {
    // at rest 0 apart, at the start 0.05 mm
    bool second = i >= 3 * n;
    pair->x[i] = pieces->x[i % (3 * n)] + (second && i % 3 == 1 ? 0.1 : 0.0);
    x0[i] = pair->x[i] + (second && i % 3 == 1 ? 5e-5 : 0.0);
  }
  for (int i = 0; i < 8 * n_tet; i++) {
    pair->tet[i] = pieces->tet[i % (4 * n_tet)] + (i >= 4 * n_tet ? n : 0);
  }
  int32_t body = world_add(&world, pair, origin);
  world.body[body].x0 = x0;
  world_start(&world);
  ASSERT_NEAR(noli_sim_contact_distance(world.sim), 1e-3 * size_of(&world), 0.0);
  assert_int_equal(said.n_warnings, 1);
  expect_in(said.warning, "\"body0\" and \"body0\" start 5e-05 m apart");
  noli_mesh_destroy(world.context, &pieces);
  free(x0);
  world_done(&world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_card_stands_without_stress),
      cmocka_unit_test(units_do_not_matter),
      cmocka_unit_test(the_default_is_what_it_was_without_narrow_gaps),
      cmocka_unit_test(fine_meshes_are_measured),
      cmocka_unit_test(outlines_and_proxies_are_measured),
      cmocka_unit_test(a_given_distance_is_kept_with_a_warning),
      cmocka_unit_test(stalls_give_the_right_direction),
      cmocka_unit_test(close_starts_are_told),
      cmocka_unit_test(start_positions_of_one_body_count),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
