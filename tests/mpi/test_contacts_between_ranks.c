// Contacts that are divided among ranks, on as many as mpirun starts (tests/scripted.cmake: three):
// each rank simulates a pile with the others and, beside it, alone. Put together, the contacts of
// all ranks are those of one, each on one rank, and so is what follows from them.
#include "mpi/world_on_ranks.h"

#include "base/ranks.h"
#include "contact/contact_approach.h"
#include "contact/contact_share.h"
#include "contact/friction/stick.h"
#include "contact/ipc.h"
#include "math/larger.h"
#include "solve/stage.h"
#include "step/rank_contacts.h"

enum { ROW = 3, N_BODY = 2 * ROW, PLATE = N_BODY };

static NoliRanks* ranks;

static void press(void* user, double t0, double t1, int32_t n_node, const int32_t* node,
                  const double* X, const double* x_t0, double* x_t1) {
  (void)user;
  (void)t0;
  (void)node;
  (void)x_t0;
  for (int32_t i = 0; i < n_node; i++) {
    memcpy(x_t1 + 3 * i, X + 3 * i, 3 * sizeof *X);
    x_t1[3 * i + 1] -= 0.05 * t1;
  }
}

// CONVERGENT: TRIANGLES, and contact by areas.
typedef enum Floor { HALF_SPACE, TRIANGLES, CONVERGENT } Floor;

// A flat floor of triangles: boxes lie across its edges and vertices.
static void add_floor(World* world, Floor floor) {
  if (floor == HALF_SPACE) {
    world_add_plane(world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
    return;
  }
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_plane(world->context, 0.7, 0.6, 13, 12, &mesh));
  noli_mesh_transform(mesh, (double[]){1, 1, 1}, (double[]){0, 17, 0}, (double[]){0, 0, 0});
  world_add_obstacle(world, mesh, (double[]){0.12, 0, 0});
}

// Two layers of boxes that already touch, under a plate of large triangles that moves down.
// "stick": contacts keep elastic slips.
static World pile_of_law(bool together, Floor floor, const char* friction, const char* law,
                         int32_t n_steps) {
  World world = world_on_ranks(ranks, together);
  for (int32_t b = 0; b < N_BODY; b++) {
    NoliMesh* mesh = NULL;
    ASSERT_OK(noli_mesh_make_box(world.context, (double[]){0.1, 0.1, 0.1}, (int32_t[]){3, 3, 3},
                                 false, &mesh));
    int32_t layer = b / ROW;
    world_add(
        &world, mesh,
        (double[]){0.1007 * (b % ROW) + 0.041 * layer, 0.0505 + 0.1005 * layer, 0.013 * layer});
    world.body[b].material.young = 1e5;
  }
  NoliMesh* plate = NULL;
  ASSERT_OK(noli_mesh_make_sheet(world.context, 1.0, 1.0, 2, 2, NULL, &plate));
  noli_mesh_transform(plate, (double[]){1, 1, 1}, (double[]){90, 0, 0}, (double[]){0, 0, 0});
  int32_t obstacle = world_add_obstacle(&world, plate, (double[]){0.1, 0.2015, 0.0});
  (void)world_add_motion(&world, obstacle, press, NULL);
  add_floor(&world, floor);
  world.def.contact_distance = (NoliScaled){1e-3, false};
  world.def.time_step = 0.005;
  world.def.friction = 0.3;
  // sums differ by rounding, and so may the number of iterations: the last one must be negligible
  world.def.tolerance = (NoliScaled){1e-7, true};
  world_use_friction(&world, friction);
  world.def.friction_law = law;
  world.def.contact_convergent = floor == CONVERGENT;
  world_start(&world);
  for (int32_t i = 0; i < n_steps; i++) {
    world_step(&world);
  }
  return world;
}

static World pile_start(bool together, Floor floor, const char* friction, int32_t n_steps) {
  return pile_of_law(together, floor, friction, "velocity", n_steps);
}

// A tall box that touches a floor of triangles: all contacts are at home on the rank that has its
// lower end, and most of them go to others.
static World column_start(bool together, int32_t n_steps) {
  World world = world_on_ranks(ranks, together);
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_box(world.context, (double[]){0.1, 0.6, 0.1}, (int32_t[]){8, 24, 8},
                               false, &mesh));
  world_add(&world, mesh, (double[]){0.1, 0.3005, 0.02});
  world.body[0].material.young = 1e6;
  add_floor(&world, TRIANGLES);
  world.def.contact_distance = (NoliScaled){1e-3, false};
  world.def.time_step = 0.005;
  world.def.tolerance = (NoliScaled){1e-7, true};
  world_start(&world);
  for (int32_t i = 0; i < n_steps; i++) {
    world_step(&world);
  }
  return world;
}

// Rods with an offset that lie along each other on two bars, and touch: their ends are held apart
// by contacts of vertices and segments.
static World rods_start(bool together, int32_t n_steps) {
  enum { RODS = 5 };
  const double radius = 5e-4;
  World world = world_on_ranks(ranks, together);
  for (int32_t i = 0; i < RODS; i++) {
    NoliMesh* mesh = NULL;
    ASSERT_OK(noli_mesh_make_line(world.context, 0.2, 10 + i, &mesh));
    int32_t rod = world_add(&world, mesh, (double[]){0, 9e-4 + 1.3e-3 * i, 0});
    world.body[rod].rod.radius = radius;
    world.body[rod].contact_offset = NOLI_OFFSET_THICKNESS;
    world.body[rod].material.young = 1e6;
  }
  for (int32_t i = 0; i < 2; i++) {
    NoliMesh* mesh = NULL;
    ASSERT_OK(noli_mesh_make_line(world.context, 0.3, 7, &mesh));
    int32_t bar = world_add_obstacle(&world, mesh, (double[]){0, 0, i == 0 ? 7e-4 : -7e-4});
    world.body[bar].contact_offset = radius;
  }
  world.def.contact_distance = (NoliScaled){5e-4, false};
  world.def.friction = 0.2;
  world.def.time_step = 0.005;
  world.def.tolerance = (NoliScaled){1e-7, true};
  world_start(&world);
  for (int32_t i = 0; i < n_steps; i++) {
    world_step(&world);
  }
  return world;
}

// ---- what is on which rank ----------------------------------------------------------------------

// The contacts at the current point of a stage; both terms of the barrier have them.
static const NoliContactSet* contacts_of(const World* world) {
  const NoliStage* stage = world->sim->stage;
  const NoliBarrier* barrier = stage->here->term[stage->terms.first_contact].data;
  return barrier->set;
}

// Both at the same point, with contacts found there.
static void meet_at(const World* alone, const World* together, const double* x) {
  const World* worlds[2] = {alone, together};
  for (int32_t k = 0; k < 2; k++) {
    NoliStage* stage = worlds[k]->sim->stage;
    memcpy(stage->here->x, x, 3 * sizeof *x * (size_t)stage->problem->n_vert);
    ASSERT_OK(noli_stage_find_contacts(stage));
  }
}

static int by_key(const void* one, const void* other) {
  const NoliContactKey *a = one, *b = other;
  return a->high != b->high ? (a->high < b->high ? -1 : 1) : a->low < b->low ? -1 : a->low > b->low;
}

// The contacts of a class of all ranks, in the order of their keys.
static int64_t gather_class(NoliContext* context, const NoliContactSet* set, int32_t class,
                            NoliContactKey** keys, NoliContact** contacts) {
  int64_t capacity = 0, n = 0, first = set->class_first[class];
  int64_t n_own = set->class_first[class + 1] - first;
  NoliContact* all = NULL;
  ASSERT_OK(noli_ranks_gather(context, sizeof **keys, set->key.data + first, n_own, (void**)keys,
                              &capacity, &n));
  capacity = 0;
  ASSERT_OK(noli_ranks_gather(context, sizeof *all, set->contact.data + first, n_own, (void**)&all,
                              &capacity, &n));
  for (int64_t i = 0; i < n; i++) {
    (*keys)[i].index = (int32_t)i;
  }
  qsort(*keys, (size_t)n, sizeof **keys, by_key);
  *contacts = calloc((size_t)n + 1, sizeof **contacts);
  for (int64_t i = 0; i < n; i++) {
    (*contacts)[i] = all[(*keys)[i].index];
  }
  noli_free(context, all);
  return n;
}

static void assert_same_contacts(const World* alone, const World* together) {
  NoliContext* context = together->context;
  const NoliContactSet *whole = contacts_of(alone), *own = contacts_of(together);
  for (int32_t k = 0; k < NOLI_CONTACT_CLASSES; k++) {
    NoliContactKey* keys = NULL;
    NoliContact* contacts;
    int64_t first = whole->class_first[k];
    int64_t n = gather_class(context, own, k, &keys, &contacts);
    assert_int_equal(n, whole->class_first[k + 1] - first);
    for (int64_t i = 0; i < n; i++) {
      const NoliContact* want = &whole->contact.data[first + i];
      assert_int_equal(keys[i].high, whole->key.data[first + i].high);
      assert_int_equal(keys[i].low, whole->key.data[first + i].low);
      assert_memory_equal(contacts[i].node, want->node, sizeof want->node);
      assert_true(contacts[i].weight == want->weight && contacts[i].gap_sqr == want->gap_sqr);
    }
    noli_free(context, keys);
    free(contacts);
  }
  int64_t n_plane = own->plane.count;
  double sum = (double)n_plane;
  ASSERT_OK(noli_ranks_sum(context, &sum, 1));
  assert_int_equal((int64_t)sum, whole->plane.count);
}

// Ends both worlds.
static void expect_each_on_one_rank(World* alone, World* together) {
  int32_t n_rank = noli_rank_count(together->context);
  assert_true(noli_stage_divides_contacts(together->sim->stage) == (n_rank > 1));
  assert_false(noli_stage_divides_contacts(alone->sim->stage));
  meet_at(alone, together, noli_sim_positions(alone->sim));
  const NoliContactSet *whole = contacts_of(alone), *own = contacts_of(together);
  assert_true(own->divided == (n_rank > 1));
  assert_same_contacts(alone, together);

  // all ranks know how many there are and how near
  assert_int_equal(own->n_all, whole->contact.count + whole->plane.count);
  assert_int_equal(own->n_primitive_pairs, whole->n_primitive_pairs);
  assert_true(own->min_gap_sqr == whole->min_gap_sqr);
  assert_true(own->min_ranged_sqr == whole->min_ranged_sqr);
  assert_true(noli_stage_min_distance(together->sim->stage) ==
              noli_stage_min_distance(alone->sim->stage));

  // about as many on each: shares are drawn
  double mean = (double)whole->contact.count / n_rank;
  assert_true((double)own->contact.count < 1.1 * mean + 6.0 * sqrt(mean));
  world_done(alone);
  world_done(together);
}

static void every_contact_is_on_one_rank(void** state) {
  (void)state;
  World alone = pile_start(false, HALF_SPACE, "lagged", 1);
  World together = pile_start(true, HALF_SPACE, "lagged", 1);
  assert_true(contacts_of(&alone)->contact.count > 300 && contacts_of(&alone)->plane.count > 40);
  expect_each_on_one_rank(&alone, &together);
}

// Several triangles and edges of a flat floor make one contact, or cancel; so do those of all
// surfaces with convergent contact.
static void contacts_of_flat_floors_stay_together(void** state) {
  (void)state;
  for (Floor floor = TRIANGLES; floor <= CONVERGENT; floor++) {
    World alone = pile_start(false, floor, "lagged", 1);
    World together = pile_start(true, floor, "lagged", 1);
    assert_true(contacts_of(&alone)->contact.count > 300);
    expect_each_on_one_rank(&alone, &together);
  }
  World alone = column_start(false, 1), together = column_start(true, 1);
  assert_true(contacts_of(&alone)->contact.count > 70);
  expect_each_on_one_rank(&alone, &together);
  alone = column_start(false, 3);
  together = column_start(true, 3);
  assert_int_equal(together.report.newton_iterations, alone.report.newton_iterations);
  int64_t n = 3 * (int64_t)noli_sim_vertex_count(alone.sim);
  assert_alike(noli_sim_positions(together.sim), noli_sim_positions(alone.sim), n, 1e-9);
  world_done(&alone);
  world_done(&together);
}

// Few contacts are away from home here, and they are counted.
static void contacts_away_from_home_are_counted(void** state) {
  (void)state;
  World together = pile_start(true, HALF_SPACE, "lagged", 1);
  const NoliProblem* problem = &together.sim->model->problem;
  const NoliContactSet* own = contacts_of(&together);
  double away = 0.0;
  for (int64_t i = 0; problem->ranks.home != NULL && i < own->contact.count; i++) {
    const int32_t* node = own->contact.data[i].node;
    int32_t first = 0;
    while (problem->ranks.home[node[first]] == NOLI_NULL_INDEX) {
      first++;
    }
    away += problem->ranks.home[node[first]] != noli_rank(together.context) ? 1.0 : 0.0;
  }
  ASSERT_OK(noli_ranks_sum(together.context, &away, 1));
  NoliRankContacts counted;
  ASSERT_OK(noli_sim_rank_contacts(together.sim, &counted));
  assert_int_equal(counted.n_away, (int64_t)away);
  assert_int_equal(counted.n, own->n_all);
  assert_true(counted.n_away < counted.n / 2);
  world_done(&together);
}

// Numbers of contacts at home on each rank, most of them on one, are evened out.
static void shares_are_even(void** state) {
  (void)state;
  enum { N_RANK = 5, N = 100000 };
  const double cases[][N_RANK] = {
      {N, 0, 0, 0, 0},
      {N / 2, N / 4, N / 8, N / 16, N / 16},
      {N / 5, N / 5, N / 5, N / 5, N / 5},
      {0, 0, 3 * N / 10, 7 * N / 10, 0},
  };
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    double keep[N_RANK], until[N_RANK], mean = (double)N / N_RANK;
    int64_t n[N_RANK] = {0}, n_away = 0, n_more = 0;
    noli_contact_shares(N_RANK, cases[c], keep, until);
    for (int32_t home = 0; home < N_RANK; home++) {
      n_more += cases[c][home] > 1.1 * mean ? (int64_t)(cases[c][home] - 1.1 * mean) : 0;
      for (int64_t i = 0; i < (int64_t)cases[c][home]; i++) {
        double draw = noli_contact_draw((uint64_t)i << 32 | (uint64_t)home, (uint32_t)i % 3, 1);
        int32_t rank = noli_contact_keeper(N_RANK, keep, until, home, draw);
        assert_true(draw >= 0.0 && draw < 1.0);
        n[rank]++;
        n_away += rank != home ? 1 : 0;
      }
    }
    // those stay that can; a drawn number has a standard deviation of at most sqrt(N) / 2
    for (int32_t r = 0; r < N_RANK; r++) {
      assert_true((double)n[r] <= 1.1 * mean + 2.5 * sqrt(N));
    }
    assert_true(fabs((double)(n_away - n_more)) <= 2.5 * sqrt(N));
  }
  // no contacts
  const double none[2] = {0, 0};
  double keep[2], until[2];
  noli_contact_shares(2, none, keep, until);
  assert_int_equal(noli_contact_keeper(2, keep, until, 1, 0.99), 1);
}

// ---- what follows from them ---------------------------------------------------------------------

// Whether pairs have approached does not depend on the ranks on which they are before and after.
static void pairs_that_approach_are_found_on_all_ranks(void** state) {
  (void)state;
  World alone = pile_start(false, HALF_SPACE, "lagged", 1),
        together = pile_start(true, HALF_SPACE, "lagged", 1);
  int64_t n = 3 * (int64_t)alone.sim->model->problem.n_vert;
  double* x = malloc(sizeof *x * (size_t)n);
  const double* at = noli_sim_positions(alone.sim);
  int32_t found[2] = {0, 0};
  for (int32_t k = 0; k < 40; k++) {
    // the upper layer, one box or the plate moves
    double up = (k % 2 == 0 ? 1.0 : -1.0) * 1e-5 * (k % 5), limit = 1e-6 * pow(0.5, k % 7);
    meet_at(&alone, &together, at);
    const NoliSurface* surface = alone.sim->model->problem.surface;
    for (int64_t i = 0; i < n; i++) {
      int32_t body = surface->body[i / 3];
      bool moves = k % 3 == 0 ? body >= ROW : k % 3 == 1 ? body == k % N_BODY : body == PLATE;
      x[i] = at[i] + (moves && i % 3 == 1 ? up : 0.0);
    }
    const World* worlds[2] = {&alone, &together};
    bool approached[2];
    for (int32_t w = 0; w < 2; w++) {
      NoliStage* stage = worlds[w]->sim->stage;
      const NoliContactSet* before = contacts_of(worlds[w]);
      memcpy(stage->trial->x, x, sizeof *x * (size_t)n);
      ASSERT_OK(noli_stage_find_pairs(stage, stage->trial->x, 2e-3, &stage->trial->candidates));
      ASSERT_OK(noli_stage_trial_contacts(stage));
      noli_stage_list_trial_terms(stage);
      const NoliBarrier* barrier = stage->trial->term[stage->terms.first_contact].data;
      ASSERT_OK(noli_contact_set_approached(before, barrier->set, worlds[w]->context, limit,
                                            1.0 + 0.01 * (k % 4), &approached[w]));
    }
    assert_true(approached[0] == approached[1]);
    found[approached[0] ? 1 : 0]++;
  }
  assert_true(found[0] > 3 && found[1] > 3);
  free(x);
  world_done(&alone);
  world_done(&together);
}

static void assert_same_results(World* alone, World* together) {
  NoliSim *one = alone->sim, *other = together->sim;
  int64_t n = 3 * (int64_t)noli_sim_vertex_count(one);
  double* force[2] = {malloc(sizeof(double) * (size_t)n), malloc(sizeof(double) * (size_t)n)};
  assert_alike(noli_sim_positions(other), noli_sim_positions(one), n, 1e-9);
  ASSERT_OK(noli_sim_contact_forces(one, force[0]));
  ASSERT_OK(noli_sim_contact_forces(other, force[1]));
  assert_alike(force[1], force[0], n, 1e-5);
  ASSERT_OK(noli_sim_friction_forces(one, force[0]));
  ASSERT_OK(noli_sim_friction_forces(other, force[1]));
  assert_alike(force[1], force[0], n, 1e-5);
  ASSERT_OK(noli_sim_reaction_forces(one, force[0]));
  ASSERT_OK(noli_sim_reaction_forces(other, force[1]));
  assert_alike(force[1], force[0], n, 1e-5);
  free(force[0]);
  free(force[1]);

  // resultants and the list of contacts
  const NoliPairForce* pair[2];
  int32_t n_pair[2];
  ASSERT_OK(noli_sim_pair_forces(one, &pair[0], &n_pair[0]));
  ASSERT_OK(noli_sim_pair_forces(other, &pair[1], &n_pair[1]));
  assert_int_equal(n_pair[0], n_pair[1]);
  assert_true(n_pair[0] >= 2 * ROW);
  double largest = 0.0;
  for (int32_t i = 0; i < n_pair[0]; i++) {
    largest = noli_larger(largest, fabs(pair[0][i].normal[1]));
  }
  for (int32_t i = 0; i < n_pair[0]; i++) {
    const NoliPairForce *want = &pair[0][i], *got = &pair[1][i];
    assert_true(got->a == want->a && got->b == want->b && got->contacts == want->contacts);
    ASSERT_NEAR(got->min_distance, want->min_distance, 1e-5 * want->min_distance);
    for (int k = 0; k < 3; k++) {
      ASSERT_NEAR(got->normal[k], want->normal[k], 1e-5 * largest);
      ASSERT_NEAR(got->friction[k], want->friction[k], 1e-5 * largest);
    }
  }
  const NoliContactInfo* info[2];
  int64_t n_info[2];
  ASSERT_OK(noli_sim_contacts(one, &info[0], &n_info[0]));
  ASSERT_OK(noli_sim_contacts(other, &info[1], &n_info[1]));
  assert_int_equal(n_info[0], n_info[1]);
  for (int64_t i = 0; i < n_info[0]; i++) {
    assert_memory_equal(info[1][i].vertex, info[0][i].vertex, sizeof info[0][i].vertex);
    ASSERT_NEAR(info[1][i].normal_force[1], info[0][i].normal_force[1], 1e-5 * largest);
  }
}

static void results_are_those_of_one_rank(void** state) {
  (void)state;
  static const char* const method[] = {"lagged", "implicit", "lagged", "implicit"};
  for (size_t m = 0; m < sizeof method / sizeof *method; m++) {
    Floor floor = m < 2 ? HALF_SPACE : TRIANGLES;
    World alone = pile_start(false, floor, method[m], 2);
    World together = pile_start(true, floor, method[m], 2);
    assert_int_equal(together.report.contacts, alone.report.contacts);
    ASSERT_NEAR(together.report.friction_loss, alone.report.friction_loss,
                1e-5 * fabs(alone.report.friction_loss));
    assert_same_results(&alone, &together);
    world_done(&alone);
    world_done(&together);
  }
}

// Every rank has the slips of all contacts, those of one rank, with the same bits as other ranks.
static void assert_same_slips(const World* alone, const World* together) {
  const NoliState *one = &alone->sim->state, *other = &together->sim->state;
  int64_t n = one->sizes.n_slips, n_values = NOLI_STICK_NUMBERS * n;
  assert_int_equal(other->sizes.n_slips, n);
  assert_true(n > 300);
  assert_memory_equal(other->slip_key, one->slip_key,
                      (size_t)(NOLI_STICK_WORDS * n) * sizeof *one->slip_key);
  double largest[NOLI_STICK_NUMBERS] = {0.0};
  for (int64_t i = 0; i < n_values; i++) {
    int64_t k = i % NOLI_STICK_NUMBERS;
    largest[k] = noli_larger(largest[k], fabs(one->slip[i]));
  }
  double slip = noli_larger(largest[0], noli_larger(largest[1], largest[2]));
  assert_true(slip > 0.0);
  for (int64_t i = 0; i < n_values; i++) {
    int64_t k = i % NOLI_STICK_NUMBERS;
    ASSERT_NEAR(other->slip[i], one->slip[i], 1e-5 * (k < 3 ? slip : largest[k]));
  }

  uint64_t first = noli_sim_state_hash(together->sim), own = first;
  ASSERT_OK(noli_ranks_broadcast(together->context, 0, sizeof first, &first, 1));
  assert_true(own == first);
}

static void contacts_that_stick_are_those_of_one_rank(void** state) {
  (void)state;
  static const char* const method[] = {"lagged", "implicit"};
  for (int m = 0; m < 2; m++) {
    Floor floor = m == 0 ? HALF_SPACE : TRIANGLES;
    World alone = pile_of_law(false, floor, method[m], "stick", 2);
    World together = pile_of_law(true, floor, method[m], "stick", 2);
    print_message("%s: %d iterations, on ranks %d\n", method[m],
                  (int)alone.report.newton_iterations, (int)together.report.newton_iterations);
    assert_same_slips(&alone, &together);
    assert_same_results(&alone, &together);
    assert_int_equal(together.report.contacts_held, alone.report.contacts_held);
    assert_int_equal(together.report.contacts_sliding, alone.report.contacts_sliding);
    assert_true(alone.report.contacts_held > 0);
    ASSERT_NEAR(together.report.slid, alone.report.slid, 1e-5 * alone.report.slid);
    ASSERT_NEAR(together.report.friction_stored, alone.report.friction_stored,
                1e-5 * alone.report.friction_stored);
    ASSERT_NEAR(together.report.friction_loss, alone.report.friction_loss,
                1e-5 * fabs(alone.report.friction_loss));
    world_done(&alone);
    world_done(&together);
  }
}

static void rods_are_held_apart_as_on_one_rank(void** state) {
  (void)state;
  World alone = rods_start(false, 1), together = rods_start(true, 1);
  int32_t n_rank = noli_rank_count(together.context);
  assert_true(noli_stage_divides_contacts(together.sim->stage) == (n_rank > 1));
  meet_at(&alone, &together, noli_sim_positions(alone.sim));
  const NoliContactSet *whole = contacts_of(&alone), *own = contacts_of(&together);
  int64_t n =
      whole->class_first[NOLI_PAIR_POINT_EDGE + 1] - whole->class_first[NOLI_PAIR_POINT_EDGE];
  double n_own =
      (double)(own->class_first[NOLI_PAIR_POINT_EDGE + 1] - own->class_first[NOLI_PAIR_POINT_EDGE]);
  assert_true(n > 50 && whole->point_edges.pair.count > 50);
  assert_true(n_own > 0.0);
  ASSERT_OK(noli_ranks_sum(together.context, &n_own, 1));
  assert_int_equal((int64_t)n_own, n);
  assert_same_contacts(&alone, &together);
  assert_int_equal(own->n_primitive_pairs, whole->n_primitive_pairs);
  world_done(&alone);
  world_done(&together);

  // and so do their steps
  alone = rods_start(false, 3), together = rods_start(true, 3);
  print_message("rods: %d iterations, on ranks %d\n", (int)alone.report.newton_iterations,
                (int)together.report.newton_iterations);
  assert_int_equal(together.report.contacts, alone.report.contacts);
  int64_t n_x = 3 * (int64_t)noli_sim_vertex_count(alone.sim);
  assert_alike(noli_sim_positions(together.sim), noli_sim_positions(alone.sim), n_x, 1e-9);
  double* force[2] = {calloc((size_t)n_x, sizeof(double)), calloc((size_t)n_x, sizeof(double))};
  ASSERT_OK(noli_sim_contact_forces(alone.sim, force[0]));
  ASSERT_OK(noli_sim_contact_forces(together.sim, force[1]));
  assert_alike(force[1], force[0], n_x, 1e-5);
  free(force[0]);
  free(force[1]);
  world_done(&alone);
  world_done(&together);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_contact_is_on_one_rank),
      cmocka_unit_test(contacts_of_flat_floors_stay_together),
      cmocka_unit_test(contacts_away_from_home_are_counted),
      cmocka_unit_test(shares_are_even),
      cmocka_unit_test(pairs_that_approach_are_found_on_all_ranks),
      cmocka_unit_test(results_are_those_of_one_rank),
      cmocka_unit_test(contacts_that_stick_are_those_of_one_rank),
      cmocka_unit_test(rods_are_held_apart_as_on_one_rank),
  };
  return run_on_ranks(&ranks, tests, sizeof tests / sizeof *tests);
}
