// Elastic slips of contacts that stick: the term and its offset, return mapping, memory by
// stencils.
#include "contact_cases.h"

#include "contact/friction/stick.h"
#include "math/rotation.h"

#define DHAT 0.1
#define KAPPA 2e3
#define MU 0.4
#define LENGTH 1e-3

// body 0 has friction with body 1
static int64_t rubbing_first[3] = {0, 1, 2};
static int32_t rubbing_other[2] = {1, 0}, rubbing_number[2] = {1, 1};
static NoliFrictionLaw laws[2] = {{0.0, 0.0, 1.0, 0.0}, {MU, MU, 1.0, 0.0}};
static NoliFrictionLaw stribeck[2] = {{0.0, 0.0, 1.0, 0.0}, {0.3, 0.7, 4e-3, 2.0}};
#define PAIRS(law_)                                                                                \
  {                                                                                                \
    .n_body = 2, .law = (law_), .number = { 2, 0, rubbing_first, rubbing_other, rubbing_number }   \
  }
static const NoliContactPairs coulomb_pairs = PAIRS(laws), stribeck_pairs = PAIRS(stribeck);

// A table over four vertices without triangles.
enum { MOST_POINTS = 11 };

typedef struct Scene {
  NoliContext* context;
  Case made;
  NoliFrictionSet set;
  NoliStickTable table;
  NoliFriction friction;
} Scene;

// Vertices that do not turn.
static const NoliVertexTurns* lone_points(int32_t n_vert) {
  static int32_t none[2 * MOST_POINTS];
  static NoliVertexTurns turns = {.other = none};
  for (int i = 0; i < 2 * MOST_POINTS; i++) {
    none[i] = NOLI_NULL_INDEX;
  }
  turns.n_vert = n_vert;
  return &turns;
}

static void begin(Scene* scene, const NoliContactPairs* pairs, int which, TestRandom* random,
                  NoliVec3 slip) {
  scene->context = test_context(1);
  case_make(which, random, 0.4 * DHAT, which == CASE_EDGE_EDGE ? 0.5 : 0.012, &scene->made);
  case_set(&scene->made);
  noli_friction_set_init(&scene->set);
  ASSERT_OK(noli_friction_set_build(&scene->set, scene->context, &scene->made.set, NULL, pairs,
                                    scene->made.x, KAPPA, DHAT));
  scene->table = (NoliStickTable){.length = LENGTH, .duration = 0.1, .rate = 1.0};
  ASSERT_OK(noli_stick_create(scene->context, lone_points(4), &scene->table));

  // the slip of the contact before the step
  const NoliFrictionContact* contact = &scene->set.contact.data[0];
  int64_t key[NOLI_STICK_WORDS];
  double value[NOLI_STICK_NUMBERS] = {0.0, 0.0, 0.0, 1.0, 0.25};
  noli_store3(value, slip);
  noli_stick_key(scene->set.node.data, contact->entity, contact->n_first, key);
  ASSERT_OK(noli_stick_begin(&scene->table, scene->context, scene->made.x, 1, key, value, NULL));
  noli_stick_attach(&scene->table, scene->made.x, &scene->set);
  scene->friction = (NoliFriction){&scene->set, scene->made.x, 1e-2, 0.1, &scene->table};
}

static void end(Scene* scene) {
  noli_friction_set_free(scene->context, &scene->set);
  noli_stick_free(scene->context, &scene->table);
  test_context_done(&scene->context);
}

// The first side displaced by `slide` in the basis of the contact.
static void displace(const Scene* scene, const double slide[2], double x[12]) {
  const NoliFrictionContact* contact = &scene->set.contact.data[0];
  NoliVec3 move =
      noli_add3(noli_scale3(slide[0], contact->t[0]), noli_scale3(slide[1], contact->t[1]));
  memcpy(x, scene->made.x, sizeof scene->made.x);
  for (int i = 0; i < contact->n_first; i++) {
    noli_store3(x + 3 * i, noli_add3(noli_load3(x + 3 * i), move));
  }
}

// With and without a dashpot, below and beyond the limit, Coulomb's law and Stribeck's with drag.
static void derivatives_agree_with_differences(void** state) {
  (void)state;
  TestRandom random = {5};
  for (int i = 0; i < 120; i++) {
    Scene scene;
    bool falls = i % 2 == 1;
    int which = (int)(test_random_bits(&random) % CASES);
    NoliVec3 slip = case_random3(&random, 0.5 * LENGTH);
    double x[12], reach = i % 3 == 0 ? 0.2 * LENGTH : 4.0 * LENGTH;
    double slide[2] = {test_random(&random, -reach, reach), test_random(&random, -reach, reach)};
    begin(&scene, falls ? &stribeck_pairs : &coulomb_pairs, which, &random, slip);
    scene.table.rate = i % 5 == 0 ? 2.0 : 1.0;
    displace(&scene, slide, x);
    NoliEnergyTerm term = noli_friction_term(&scene.friction);
    test_derivatives(case_evaluate, &term, 12, x, 1e-2 * LENGTH, 1e-4, 4e-3);
    end(&scene);
  }
}

// The slip at the end is the one at the start and the displacement, up to the length; the rest has
// slid, in the same direction.
static void what_exceeds_the_length_slides(void** state) {
  (void)state;
  TestRandom random = {6};
  static const double shares[] = {0.0, 0.3, 3.0, 100.0};
  for (int i = 0; i < 60; i++) {
    Scene scene;
    double x[12], angle = test_random(&random, 0.0, 6.0);
    NoliVec3 zero = {0.0, 0.0, 0.0};
    begin(&scene, &coulomb_pairs, i % CASES, &random, zero);
    NoliFrictionContact* contact = &scene.set.contact.data[0];
    double sign = noli_stick_sign(contact->weight, contact->n_first);
    contact->slip = noli_scale3(sign * 0.5 * LENGTH, contact->t[0]);
    contact->offset[0] = sign * 0.5 * LENGTH;
    double along = shares[i % 4] * LENGTH, slide[2] = {along * cos(angle), along * sin(angle)};
    displace(&scene, slide, x);
    NoliStickList list = {0};
    ASSERT_OK(
        noli_stick_collect(&scene.table, scene.context, &scene.friction, x, 2.0, false, &list));
    assert_int_equal(list.count, 1);
    const NoliStick* after = &list.data[0];
    double u[2] = {0.5 * LENGTH + slide[0], slide[1]}, y = sqrt(u[0] * u[0] + u[1] * u[1]);
    double keep = fmin(1.0, LENGTH / y);
    ASSERT_NEAR(noli_dot3(after->slip, contact->t[0]), keep * u[0], 1e-12 * DHAT);
    ASSERT_NEAR(noli_dot3(after->slip, contact->t[1]), keep * u[1], 1e-12 * DHAT);
    ASSERT_NEAR(after->slid, fmax(y - LENGTH, 0.0), 1e-12 * DHAT);
    ASSERT_NEAR(after->path, 0.25 + fmax(y - LENGTH, 0.0), 1e-12);
    ASSERT_NEAR(after->force, 0.5 * contact->lambda, 1e-12 * contact->lambda);

    // the energy that is given back, at most 2/3 mu lambda delta
    double share = fmin(y, LENGTH) / LENGTH;
    ASSERT_NEAR(after->energy, MU * after->force * LENGTH * share * share * (1.0 - share / 3.0),
                1e-12);
    noli_array_free(scene.context, &list);
    end(&scene);
  }
}

// ---- memory -------------------------------------------------------------------------------------

// A contact at its limit is majorized until it settles or slides on, also where it has slid on by
// less than the stick length; one that has slid farther, or is held again, is not.
static void contacts_at_their_limit_begin_majorized(void** state) {
  (void)state;
  const double slides[][2] = {{-0.5, -0.2}, {0.0, 0.3}, {-0.9, -0.5}, {-0.5, -0.55}};
  const bool majorized[] = {true, false, true, false};
  TestRandom random = {77};
  for (int which = 0; which < CASES; which++) {
    Scene scene;
    double x[12], x_end[12];
    begin(&scene, &coulomb_pairs, which, &random, (NoliVec3){0.0, 0.0, 0.0});
    NoliFrictionContact* contact = &scene.set.contact.data[0];
    double side = LENGTH * noli_stick_sign(contact->weight, contact->n_first);
    for (int part = 0; part < 4; part++) {
      contact->offset[0] = LENGTH;
      contact->offset[1] = 0.0;
      ASSERT_OK(noli_friction_begin(&scene.set, scene.context, &scene.friction, scene.made.x));
      assert_true(contact->majorized && scene.set.n_majorized == 1);
      displace(&scene, (double[]){side * slides[part][0], 0.0}, x);
      displace(&scene, (double[]){side * slides[part][1], 0.0}, x_end);
      ASSERT_OK(
          noli_friction_majorize(&scene.set, scene.context, &scene.friction, x, x_end, false));
      assert_int_equal(contact->majorized, majorized[part]);
    }

    // far from the limit, or moved
    contact->offset[0] = 0.3 * LENGTH;
    ASSERT_OK(noli_friction_begin(&scene.set, scene.context, &scene.friction, scene.made.x));
    assert_int_equal(scene.set.n_majorized, 0);
    contact->offset[0] = LENGTH;
    const double moved[] = {-0.5, 0.0, 0.9, 1.1};
    for (int k = 0; k < 4; k++) {
      displace(&scene, (double[]){side * moved[k], 0.0}, x);
      ASSERT_OK(noli_friction_begin(&scene.set, scene.context, &scene.friction, x));
      assert_int_equal(scene.set.n_majorized, k == 1 || k == 2 ? 1 : 0);
    }
    end(&scene);
  }
}

typedef struct Former {
  int32_t node[4];
  int32_t entity[2];
  int32_t n_first;
  double slip[3];
  double force;
} Former;

static void remember(NoliContext* context, int32_t n_vert, int32_t n, const Former* former,
                     NoliStickTable* table) {
  NoliStickList list = {0};
  int64_t key[3 * 8];
  double value[5 * 8];
  double* x = calloc(3 * (size_t)n_vert, sizeof *x);
  for (int32_t i = 0; i < n; i++) {
    NoliStick stick = {.slip = noli_load3(former[i].slip), .force = former[i].force};
    noli_stick_key(former[i].node, former[i].entity, former[i].n_first, stick.key);
    assert_int_equal(noli_array_reserve(context, &list, n), NOLI_OK);
    list.data[list.count++] = stick;
  }
  noli_stick_sort(&list);
  for (int32_t i = 0; i < n; i++) {
    memcpy(key + 3 * i, list.data[i].key, sizeof list.data[i].key);
    noli_store3(value + 5 * i, list.data[i].slip);
    value[5 * i + 3] = list.data[i].force;
    value[5 * i + 4] = 0.0;
  }
  assert_null(noli_stick_defect(n, key, value));
  *table = (NoliStickTable){.length = LENGTH, .duration = 0.1, .rate = 1.0};
  ASSERT_OK(noli_stick_create(context, lone_points(n_vert), table));
  ASSERT_OK(noli_stick_begin(table, context, x, n, key, value, NULL));
  noli_array_free(context, &list);
  free(x);
}

static void expect(const NoliStickTable* table, const int32_t node[4], const int32_t entity[2],
                   int32_t n_first, const double want[3]) {
  NoliStickWay way;
  NoliVec3 slip = noli_stick_find(table, node, entity, n_first, &way);
  ASSERT_NEAR(slip.x, want[0], 1e-15);
  ASSERT_NEAR(slip.y, want[1], 1e-15);
  ASSERT_NEAR(slip.z, want[2], 1e-15);
}

#define NONE NOLI_NULL_INDEX
#define NODES(a, b, c, d) ((const int32_t[4]){(a), (b), (c), (d)})
#define BETWEEN(a, b) ((const int32_t[2]){(a), (b)})
#define SLIP(a, b, c) ((const double[3]){(a), (b), (c)})

// Vertices 0 to 3 and 10 are those of body 0, 4 to 9 those of body 1.
static void slips_follow_contacts(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  static const Former former[] = {
      {{0, 4, 5, 6}, {0, 1}, 1, {1.0, 2.0, 3.0}, 2.0},
      {{1, 4, 5, 6}, {0, 1}, 1, {4.0, 0.0, 0.0}, 1.0},
      {{7, 2, 3, NONE}, {1, 0}, 1, {0.0, 8.0, 0.0}, 1.0},
      {{2, 8, 9, NONE}, {0, 1}, 1, {0.0, 2.0, 0.0}, 3.0},
      {{3, NONE, NONE, NONE}, {0, 2}, 1, {0.0, 0.0, 5.0}, 1.0},
  };
  NoliStickTable table;
  remember(context, 11, 5, former, &table);

  // the same stencil
  expect(&table, NODES(0, 4, 5, 6), BETWEEN(0, 1), 1, SLIP(1.0, 2.0, 3.0));
  expect(&table, NODES(3, NONE, NONE, NONE), BETWEEN(0, 2), 1, SLIP(0.0, 0.0, 5.0));
  // a vertex passes to an edge, to the next triangle, and to one that shares nothing
  expect(&table, NODES(0, 5, 6, NONE), BETWEEN(0, 1), 1, SLIP(1.0, 2.0, 3.0));
  expect(&table, NODES(0, 5, 6, 7), BETWEEN(0, 1), 1, SLIP(1.0, 2.0, 3.0));
  expect(&table, NODES(0, 7, 8, 9), BETWEEN(0, 1), 1, SLIP(1.0, 2.0, 3.0));
  // edges that share a vertex on both sides with two former contacts, weighted by forces
  expect(&table, NODES(0, 1, 4, 7), BETWEEN(0, 1), 2, SLIP(2.0, 4.0 / 3.0, 2.0));
  // the sides of a former contact in the other order
  expect(&table, NODES(3, 7, NONE, NONE), BETWEEN(0, 1), 1, SLIP(0.0, -8.0, 0.0));
  // another vertex of the same triangle, another half-space, and another body begin with zero
  expect(&table, NODES(10, 4, 5, 6), BETWEEN(0, 1), 1, SLIP(0.0, 0.0, 0.0));
  expect(&table, NODES(3, NONE, NONE, NONE), BETWEEN(0, 3), 1, SLIP(0.0, 0.0, 0.0));
  expect(&table, NODES(0, 4, 5, 6), BETWEEN(0, 2), 1, SLIP(0.0, 0.0, 0.0));
  noli_stick_free(context, &table);
  test_context_done(&context);
}

// A state that names what does not exist is refused.
static void foreign_vertices_are_refused(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliStickTable table = {.length = LENGTH, .duration = 0.1, .rate = 1.0};
  double x[12] = {0.0}, value[5] = {0.0, 0.0, 0.0, 1.0, 0.0};
  int64_t key[3];
  ASSERT_OK(noli_stick_create(context, lone_points(4), &table));
  noli_stick_key(NODES(0, 17, NONE, NONE), BETWEEN(0, 1), 1, key);
  ASSERT_STATUS(noli_stick_begin(&table, context, x, 1, key, value, NULL), NOLI_ERROR_ARGUMENT);
  assert_non_null(strstr(noli_context_message(context), "vertex 17"));
  value[3] = 0.0;
  assert_non_null(noli_stick_defect(1, key, value));
  noli_stick_free(context, &table);
  test_context_done(&context);
}

// Two triangles that turn together: no slip, and the old one turns with them.
static void a_common_rotation_is_no_slip(void** state) {
  (void)state;
  TestRandom random = {8};
  NoliContext* context = test_context(1);
  int32_t tri[6] = {0, 1, 2, 3, 4, 5}, tri_first[3] = {0, 1, 2};
  const NoliSurface surface = {
      .n_body = 2, .n_vert = 6, .n_tri = 2, .tri = tri, .tri_first = tri_first};
  for (int i = 0; i < 20; i++) {
    NoliVec3 f[3];
    double x[18], y[18];
    case_frame(&random, f);
    double gap = 0.02, angle = test_random(&random, -1.5, 1.5);
    // vertex 0 above the triangle 3 4 5
    const double at[6][3] = {{0.1, 0.1, gap},   {1.0, 0.2, 0.7},  {0.1, 1.1, 0.6},
                             {-1.0, -1.0, 0.0}, {1.2, -0.9, 0.0}, {0.1, 1.3, 0.0}};
    NoliVec3 axis = noli_normalize3(case_random3(&random, 1.0));
    NoliMat3 turn = noli_turn33(axis, cos(angle), sin(angle));
    for (int k = 0; k < 6; k++) {
      NoliVec3 p = case_at(f, at[k][0], at[k][1], at[k][2]);
      noli_store3(x + 3 * k, p);
      noli_store3(y + 3 * k, noli_mul33_vec(&turn, p));
    }
    NoliFrictionSet set;
    noli_friction_set_init(&set);
    NoliVec3 stencil[4] = {noli_load3(x), noli_load3(x + 9), noli_load3(x + 12),
                           noli_load3(x + 15)};
    NoliClosest closest = noli_closest(NOLI_PAIR_POINT_TRIANGLE, stencil);
    NoliNormalContact contact = {.node = {0, 3, 4, 5},
                                 .normal = noli_normalize3(closest.r),
                                 .lambda = 1.0,
                                 .entity = {0, 1},
                                 .n_first = 1};
    memcpy(contact.weight, closest.weight, sizeof contact.weight);
    ASSERT_OK(noli_friction_set_add(&set, context, &coulomb_pairs, &contact));
    NoliStickTable table = {.length = 1.0, .duration = 0.1, .rate = 1.0};
    NoliVertexTurns turns = {0};
    ASSERT_OK(noli_vertex_turns_create(context, &surface, &turns));
    ASSERT_OK(noli_stick_create(context, &turns, &table));
    NoliVec3 slip = noli_scale3(1e-3, set.contact.data[0].t[0]);
    int64_t key[3];
    double value[5] = {slip.x, slip.y, slip.z, 1.0, 0.0};
    noli_stick_key(contact.node, contact.entity, 1, key);
    ASSERT_OK(noli_stick_begin(&table, context, x, 1, key, value, NULL));
    noli_stick_attach(&table, x, &set);
    NoliFriction friction = {&set, x, 1e-2, 0.1, &table};
    NoliStickList list = {0};
    ASSERT_OK(noli_stick_collect(&table, context, &friction, y, 1.0, false, &list));
    NoliVec3 want = noli_mul33_vec(&turn, slip);
    ASSERT_NEAR(noli_norm3(noli_sub3(list.data[0].slip, want)), 0.0, 1e-14);
    noli_array_free(context, &list);
    noli_friction_set_free(context, &set);
    noli_stick_free(context, &table);
    noli_vertex_turns_free(context, &turns);
  }
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_agree_with_differences),
      cmocka_unit_test(what_exceeds_the_length_slides),
      cmocka_unit_test(contacts_at_their_limit_begin_majorized),
      cmocka_unit_test(slips_follow_contacts),
      cmocka_unit_test(foreign_vertices_are_refused),
      cmocka_unit_test(a_common_rotation_is_no_slip),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
