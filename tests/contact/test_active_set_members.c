// The active set: its pairs, saving and loading, and the sum of its forces.
#include "support.h"

#include "contact/constraints/active_set.h"

#define DELTA 1e-2

// ---- membership ---------------------------------------------------------------------------------

// Two sheets of triangles, which have vertices in common.
enum { SIDE = 5, N_VERT = 2 * SIDE * SIDE };

static NoliSurface* create_sheets(NoliContext* context) {
  static int32_t tri[6 * SIDE * SIDE];
  static const int32_t vert_first[3] = {0, SIDE * SIDE, N_VERT};
  int32_t n = 0;
  for (int32_t i = 0; i + 1 < SIDE; i++) {
    for (int32_t j = 0; j + 1 < SIDE; j++) {
      int32_t a = SIDE * i + j, b = a + 1, c = a + SIDE, d = c + 1;
      int32_t two[6] = {a, b, c, b, d, c};
      memcpy(&tri[n], two, sizeof two);
      n += 6;
    }
  }
  const NoliSurfaceParts parts[2] = {{.n_tri = n / 3, .tri = tri}, {.n_tri = n / 3, .tri = tri}};
  NoliSurface* surface = NULL;
  ASSERT_OK(noli_surface_create(context, 2, vert_first, parts, &surface));
  return surface;
}

static int key_order(const void* p, const void* q) {
  const NoliImpact *a = p, *b = q;
  if (a->kind != b->kind) {
    return a->kind < b->kind ? -1 : 1;
  }
  if (a->a != b->a) {
    return a->a < b->a ? -1 : 1;
  }
  return a->b < b->b ? -1 : a->b > b->b;
}

// Random pairs, sorted, each once; many share their time.
static int64_t random_impacts(TestRandom* random, const NoliSurface* surface, int64_t n,
                              NoliImpact* impact) {
  for (int64_t i = 0; i < n; i++) {
    NoliPrimitives kind = (NoliPrimitives)(test_random_bits(random) % 3);
    int32_t a = (int32_t)(test_random_bits(random) % 20);
    int32_t b = (int32_t)(test_random_bits(random) % 20);
    if (kind == NOLI_PRIMITIVES_POINT_TRIANGLE) {
      b += surface->tri_first[1];
    } else if (kind == NOLI_PRIMITIVES_EDGE_EDGE) {
      b += surface->edge_first[1];
    } else {
      b %= 2;
    }
    impact[i] = (NoliImpact){kind, a, b, floor(test_random(random, 0.0, 8.0)) / 8.0};
  }
  qsort(impact, (size_t)n, sizeof *impact, key_order);
  int64_t kept = 0;
  for (int64_t i = 0; i < n; i++) {
    if (kept == 0 || key_order(&impact[kept - 1], &impact[i]) != 0) {
      impact[kept++] = impact[i];
    }
  }
  return kept;
}

// Whether an impact is new.
static bool naive_new(const NoliActiveSet* set, const NoliImpact* impact) {
  for (int64_t i = 0; i < set->constraint.count; i++) {
    const NoliConstraintKey* key = &set->constraint.data[i].key;
    if (key->kind == impact->kind && key->a == impact->a && key->b == impact->b) {
      return false;
    }
  }
  return true;
}

// [Zheng2025] algorithm 3 as it is written: T_v over all new impacts, then T_i = T_v for some v.
static bool naive_passes(const NoliActiveSet* set, const NoliSurface* surface,
                         const NoliImpact* impact, int64_t n, int64_t i) {
  int32_t vertex[4], other[4];
  int32_t n_vertex =
      noli_primitives_vertices(surface, impact[i].kind, impact[i].a, impact[i].b, vertex);
  for (int32_t k = 0; k < n_vertex; k++) {
    bool first = true;
    for (int64_t j = 0; j < n; j++) {
      int32_t n_other =
          noli_primitives_vertices(surface, impact[j].kind, impact[j].a, impact[j].b, other);
      bool shares = false;
      for (int32_t m = 0; m < n_other; m++) {
        shares = shares || other[m] == vertex[k];
      }
      first = first && !(shares && naive_new(set, &impact[j]) && impact[j].toi < impact[i].toi);
    }
    if (first) {
      return true;
    }
  }
  return false;
}

typedef struct Expected {
  NoliImpact key; // time unused
  double lambda, gamma;
} Expected;

static int64_t naive_update(const NoliActiveSet* set, const NoliSurface* surface,
                            const NoliImpact* impact, int64_t n, bool filter, Expected* out) {
  int64_t count = 0;
  for (int64_t i = 0; i < set->constraint.count; i++) {
    const NoliConstraint* old = &set->constraint.data[i];
    if (old->gamma >= 0.01) {
      out[count++] =
          (Expected){{old->key.kind, old->key.a, old->key.b, 0.0}, old->lambda, old->gamma};
    }
  }
  for (int64_t i = 0; i < n; i++) {
    if (naive_new(set, &impact[i]) && (!filter || naive_passes(set, surface, impact, n, i))) {
      out[count++] = (Expected){impact[i], 0.0, 1.0};
    }
  }
  qsort(out, (size_t)count, sizeof *out, key_order);
  return count;
}

static void filter_keeps_the_earliest_of_each_vertex(void** state) {
  (void)state;
  enum { MOST = 400 };
  static NoliImpact impact[MOST];
  static Expected want[2 * MOST];
  NoliContext* context = test_context(1);
  NoliSurface* surface = create_sheets(context);
  TestRandom random = {831};
  int64_t all_added = 0, all_removed = 0, all_impacts = 0;
  for (int scene = 0; scene < 30; scene++) {
    NoliActiveSet set = {.ratio = 1.0, .delta = DELTA};
    for (int round = 0; round < 5; round++) {
      bool filter = scene % 3 != 0;
      int64_t n = random_impacts(&random, surface, 1 + (int64_t)(10 * scene), impact);

      // some members have decayed
      for (int64_t i = 0; i < set.constraint.count; i++) {
        set.constraint.data[i].lambda = test_random(&random, 0.0, 1.0);
        set.constraint.data[i].gamma = test_random(&random, 0.0, 1.0) < 0.4 ? 0.0099 : 0.01;
      }

      // compare with the naive update
      int64_t n_want = naive_update(&set, surface, impact, n, filter, want);
      int64_t before = set.constraint.count, n_added, n_removed;
      NoliImpacts impacts = {0};
      impacts.impact.data = impact;
      impacts.impact.count = n;
      ASSERT_OK(
          noli_active_set_update(&set, context, surface, &impacts, filter, &n_added, &n_removed));
      assert_int_equal(set.constraint.count, n_want);
      assert_int_equal(before + n_added - n_removed, n_want);
      for (int64_t i = 0; i < n_want; i++) {
        const NoliConstraint* got = &set.constraint.data[i];
        assert_int_equal(got->key.kind, want[i].key.kind);
        assert_int_equal(got->key.a, want[i].key.a);
        assert_int_equal(got->key.b, want[i].key.b);
        ASSERT_NEAR(got->lambda, want[i].lambda, 0.0);
        ASSERT_NEAR(got->gamma, want[i].gamma, 0.0);
      }

      // count
      all_added += n_added;
      all_removed += n_removed;
      all_impacts += n;
    }
    noli_active_set_free(context, &set);
  }
  print_message("%lld impacts: %lld added, %lld removed\n", (long long)all_impacts,
                (long long)all_added, (long long)all_removed);
  assert_true(all_added > 0 && all_removed > 0 && all_added < all_impacts);
  noli_surface_destroy(context, &surface);
  test_context_done(&context);
}

// ---- the set as numbers -------------------------------------------------------------------------

static void a_set_survives_as_numbers(void** state) {
  (void)state;
  enum { MOST = 300 };
  static NoliImpact impact[MOST];
  NoliContext* context = test_context(1);
  NoliSurface* surface = create_sheets(context);
  TestRandom random = {841};

  // a random set
  NoliActiveSet set = {.ratio = 1.0, .delta = DELTA}, copy = {0};
  NoliImpacts impacts = {0};
  impacts.impact.data = impact;
  impacts.impact.count = random_impacts(&random, surface, MOST, impact);
  int64_t n_added, n_removed;
  ASSERT_OK(noli_active_set_update(&set, context, surface, &impacts, false, &n_added, &n_removed));
  static int64_t key[MOST];
  static double multiplier[2 * MOST];
  int64_t n = set.constraint.count;
  for (int64_t i = 0; i < n; i++) {
    set.constraint.data[i].lambda = test_random(&random, 0.0, 5.0);
    set.constraint.data[i].gamma = test_random(&random, 0.01, 1.0);
  }

  // save and load
  noli_active_set_save(&set, key, multiplier);
  ASSERT_OK(noli_active_set_load(&copy, context, surface, 2, n, key, multiplier));
  assert_int_equal(copy.constraint.count, n);
  for (int64_t i = 0; i < n; i++) {
    const NoliConstraint *a = &set.constraint.data[i], *b = &copy.constraint.data[i];
    assert_true(a->key.kind == b->key.kind && a->key.a == b->key.a && a->key.b == b->key.b);
    assert_true(a->lambda == b->lambda && a->gamma == b->gamma);
  }

  // none at all
  ASSERT_OK(noli_active_set_load(&copy, context, surface, 2, 0, NULL, NULL));
  assert_int_equal(copy.constraint.count, 0);
  noli_active_set_free(context, &set);
  noli_active_set_free(context, &copy);
  noli_surface_destroy(context, &surface);
  test_context_done(&context);
}

static int64_t key_of(NoliPrimitives kind, int32_t a, int32_t b) {
  NoliConstraint constraint = {.key = {kind, a, b}};
  NoliActiveSet set = {0};
  set.constraint.data = &constraint;
  set.constraint.count = 1;
  int64_t key;
  double multiplier[2];
  noli_active_set_save(&set, &key, multiplier);
  return key;
}

static void keys_of_another_scene_are_refused(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliSurface* surface = create_sheets(context);
  NoliActiveSet set = {0};
  const double multiplier[4] = {0.0, 1.0, 0.0, 1.0};

  // one valid key with one that is not
  int64_t good = key_of(NOLI_PRIMITIVES_POINT_TRIANGLE, N_VERT - 1, surface->n_tri - 1);
  const int64_t bad[][2] = {
      {good, key_of(NOLI_PRIMITIVES_POINT_TRIANGLE, N_VERT, 0)},
      {good, key_of(NOLI_PRIMITIVES_POINT_TRIANGLE, N_VERT, surface->n_tri)},
      {key_of(NOLI_PRIMITIVES_POINT_TRIANGLE, 1, surface->n_tri), good},
      {good, key_of(NOLI_PRIMITIVES_EDGE_EDGE, surface->n_edge, 0)},
      {good, key_of(NOLI_PRIMITIVES_EDGE_EDGE, 0, surface->n_edge)},
      {good, key_of(NOLI_PRIMITIVES_HALF_SPACE, N_VERT, 0)},
      {good, key_of(NOLI_PRIMITIVES_HALF_SPACE, 0, 2)},
      {good, good},                                     // twice
      {key_of(NOLI_PRIMITIVES_HALF_SPACE, 0, 0), good}, // not in order
      {good, -1},                                       // no such kind
      {INT64_MAX, good},                                // too large
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    ASSERT_STATUS(noli_active_set_load(&set, context, surface, 2, 2, bad[i], multiplier),
                  NOLI_ERROR_ARGUMENT);
    assert_non_null(strstr(noli_context_message(context), "does not belong"));
  }

  // without half-spaces a key must not refer to one
  int64_t plane = key_of(NOLI_PRIMITIVES_HALF_SPACE, 0, 0);
  ASSERT_STATUS(noli_active_set_load(&set, context, surface, 0, 1, &plane, multiplier),
                NOLI_ERROR_ARGUMENT);
  ASSERT_OK(noli_active_set_load(&set, context, surface, 1, 1, &plane, multiplier));
  ASSERT_OK(noli_active_set_load(&set, context, surface, 2, 1, &good, multiplier));
  noli_active_set_free(context, &set);
  noli_surface_destroy(context, &surface);
  test_context_done(&context);
}

// ---- forces -------------------------------------------------------------------------------------

// Sheets at random, with multipliers at random.
static void forced_set(NoliContext* context, const NoliSurface* surface, NoliActiveSet* set,
                       const NoliHalfSpace half_spaces[2], double* x) {
  enum { MOST = 200 };
  static NoliImpact impact[MOST];
  TestRandom random = {851};
  for (int i = 0; i < 3 * N_VERT; i++) {
    x[i] = test_random(&random, -1.0, 1.0);
  }
  NoliImpacts impacts = {0};
  impacts.impact.data = impact;
  impacts.impact.count = random_impacts(&random, surface, MOST, impact);
  int64_t n_added, n_removed;
  ASSERT_OK(noli_active_set_update(set, context, surface, &impacts, false, &n_added, &n_removed));
  for (int64_t i = 0; i < set->constraint.count; i++) {
    set->constraint.data[i].lambda = i % 3 == 0 ? 0.0 : test_random(&random, 0.0, 5.0);
    set->constraint.data[i].gamma = i % 5 == 0 ? 0.5 : 1.0;
  }
  ASSERT_OK(noli_active_set_linearize(set, context, surface, half_spaces, x, 1));
}

static const NoliHalfSpace below[2] = {{{0.0, -1.5, 0.0}, {0.0, 1.0, 0.0}},
                                       {{0.0, -2.0, 0.0}, {0.6, 0.8, 0.0}}};

static void forces_cancel_between_bodies(void** state) {
  (void)state;
  static double x[3 * N_VERT], force[3 * N_VERT];
  NoliContext* context = test_context(1);
  NoliSurface* surface = create_sheets(context);
  NoliActiveSet set = {.ratio = 1.0, .delta = DELTA};
  const double scale = 1e-4;
  forced_set(context, surface, &set, below, x);
  memset(force, 0, sizeof force);
  noli_active_set_forces(&set, scale, force);
  NoliPairForces pairs = {0};
  ASSERT_OK(noli_active_set_pair_forces(&set, context, surface, 2, x, scale, &pairs));

  // the gradient of lambda c, in newtons
  double want[3 * N_VERT] = {0.0}, magnitude = 0.0;
  for (int64_t i = 0; i < set.constraint.count; i++) {
    const NoliConstraint* constraint = &set.constraint.data[i];
    for (int k = 0; k < 4; k++) {
      int32_t node = set.node.data[4 * i + k];
      double push = constraint->gamma * constraint->lambda * constraint->weight[k] / scale;
      if (node != NOLI_NULL_INDEX) {
        noli_store3(want + 3 * node,
                    noli_mul_add3(noli_load3(want + 3 * node), push, constraint->normal));
      }
    }
    magnitude += constraint->lambda / scale;
  }
  for (int i = 0; i < 3 * N_VERT; i++) {
    ASSERT_NEAR(force[i], want[i], 1e-12 * magnitude);
  }

  // bodies 0 and 1, planes 2 and 3: sums over a body are the pairs' resultants
  NoliVec3 on_body[2] = {{0}}, from_pairs[2] = {{0}};
  for (int32_t i = 0; i < N_VERT; i++) {
    int32_t body = surface->body[i];
    on_body[body] = noli_add3(on_body[body], noli_load3(force + 3 * i));
  }
  int64_t contacts = 0;
  for (int64_t i = 0; i < pairs.pair.count; i++) {
    const NoliPairForce* pair = &pairs.pair.data[i];
    assert_true(pair->a < 2 && pair->a < pair->b && pair->b < 4);
    assert_true(pair->min_distance > 0.0 && isfinite(pair->min_distance));
    contacts += pair->contacts;
    from_pairs[pair->a] = noli_add3(from_pairs[pair->a], noli_load3(pair->normal));
    if (pair->b < 2) {
      from_pairs[pair->b] = noli_sub3(from_pairs[pair->b], noli_load3(pair->normal));
    } else {
      // planes push away
      ASSERT_AT_LEAST(noli_dot3(noli_load3(pair->normal), below[pair->b - 2].normal), 0.0);
    }
  }
  assert_int_equal(contacts, noli_active_set_count_active(&set));
  for (int body = 0; body < 2; body++) {
    double off = noli_norm3(noli_sub3(on_body[body], from_pairs[body]));
    ASSERT_AT_MOST(off, 1e-12 * magnitude);
  }

  // without the planes, no force acts on either body
  int64_t n = 0;
  while (n < set.constraint.count &&
         set.constraint.data[n].key.kind != NOLI_PRIMITIVES_HALF_SPACE) {
    n++;
  }
  assert_true(n > 20 && n < set.constraint.count);
  set.constraint.count = n;
  memset(force, 0, sizeof force);
  noli_active_set_forces(&set, scale, force);
  NoliVec3 sum = {0.0, 0.0, 0.0};
  for (int32_t i = 0; i < N_VERT; i++) {
    sum = noli_add3(sum, noli_load3(force + 3 * i));
  }
  print_message("%lld forces of %.3g N in all, sum %.2g N\n", (long long)n, magnitude,
                noli_norm3(sum));
  ASSERT_AT_MOST(noli_norm3(sum), 1e-12 * magnitude);
  noli_pair_forces_free(context, &pairs);
  noli_active_set_free(context, &set);
  noli_surface_destroy(context, &surface);
  test_context_done(&context);
}

static void multipliers_are_the_normal_forces_of_friction(void** state) {
  (void)state;
  static double x[3 * N_VERT];

  // bodies 0 and 1, planes 2 and 3; the second plane is slippery
  static const double mu[4] = {0.0, 0.4, 0.3, 0.2}, mu_planes[2][2] = {{0.3, 0.0}, {0.2, 0.0}};
  static const NoliPairNumber exceptions[3] = {{0, 1, 1}, {0, 2, 2}, {1, 2, 3}};
  NoliFrictionLaw law[4];
  for (int i = 0; i < 4; i++) {
    law[i] = (NoliFrictionLaw){.mu_d = mu[i], .mu_s = mu[i], .v_s = 1.0};
  }
  NoliContactPairs contact_pairs = {.n_body = 2, .law = law};
  NoliContext* context = test_context(1);
  ASSERT_OK(noli_pair_table_build(context, 4, 0, 3, exceptions, &contact_pairs.number));
  NoliSurface* surface = create_sheets(context);
  NoliActiveSet set = {.ratio = 1.0, .delta = DELTA};
  forced_set(context, surface, &set, below, x);

  // compare with the constraints that have friction
  NoliFrictionSet friction;
  noli_friction_set_init(&friction);
  ASSERT_OK(noli_active_set_friction(&set, context, surface, &contact_pairs, &friction));
  int64_t at = 0;
  for (int64_t i = 0; i < set.constraint.count; i++) {
    const NoliConstraint* constraint = &set.constraint.data[i];
    bool plane = constraint->key.kind == NOLI_PRIMITIVES_HALF_SPACE;
    int32_t body = surface->body[set.node.data[4 * i]];
    double coefficient = plane ? mu_planes[body][constraint->key.b] : 0.4;
    if (coefficient * constraint->lambda == 0.0) {
      continue;
    }
    const NoliFrictionContact* contact = &friction.contact.data[at];
    ASSERT_NEAR(contact->lambda, constraint->gamma * constraint->lambda, 0.0);
    ASSERT_NEAR(contact->law.mu_d, coefficient, 0.0);
    assert_int_equal(contact->entity[0], body);
    assert_int_equal(contact->entity[1], plane ? 2 + constraint->key.b : 1);
    assert_int_equal(contact->n_first, constraint->n_first);
    assert_memory_equal(contact->weight, constraint->weight, sizeof contact->weight);
    assert_memory_equal(friction.node.data + 4 * at, set.node.data + 4 * i, 4 * sizeof(int32_t));
    for (int k = 0; k < 2; k++) {
      ASSERT_NEAR(noli_dot3(contact->t[k], constraint->normal), 0.0, 1e-14);
      ASSERT_NEAR(noli_norm3(contact->t[k]), 1.0, 1e-14);
    }
    at++;
  }
  assert_true(at > 50);
  assert_int_equal(friction.contact.count, at);
  noli_pair_table_free(context, &contact_pairs.number);
  noli_friction_set_free(context, &friction);
  noli_active_set_free(context, &set);
  noli_surface_destroy(context, &surface);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(filter_keeps_the_earliest_of_each_vertex),
      cmocka_unit_test(a_set_survives_as_numbers),
      cmocka_unit_test(keys_of_another_scene_are_refused),
      cmocka_unit_test(forces_cancel_between_bodies),
      cmocka_unit_test(multipliers_are_the_normal_forces_of_friction),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
