// Scenes that stand by friction alone: a house of cards, an arch, a dry-stone wall. For a minute
// they do not move; with the law "velocity" they creep, and with too little friction they fall.
#include "scene_run.h"

// Largest distance of a vertex from x.
static double way_from(const Run* run, const double* x) {
  double way = 0.0;
  for (int64_t v = 0; v < noli_sim_vertex_count(run->sim); v++) {
    NoliVec3 now = noli_load3(noli_sim_positions(run->sim) + 3 * v);
    way = noli_larger(way, noli_norm3(noli_sub3(now, noli_load3(x + 3 * v))));
  }
  return way;
}

static double* positions_of(const Run* run) {
  size_t size = 3 * sizeof(double) * (size_t)noli_sim_vertex_count(run->sim);
  double* x = malloc(size);
  assert_non_null(x);
  memcpy(x, noli_sim_positions(run->sim), size);
  return x;
}

// How far a scene moves from one time to another, m.
static double moves(Run* run, double from, double to) {
  run_until(run, from);
  double* x = positions_of(run);
  run_until(run, to);
  double way = way_from(run, x);
  free(x);
  return way;
}

// At most this, m, in 50 s: a scene that stands moves by 0.3 to 1.6 pm there, the rounding errors
// of 2500 steps. The bound leaves room for those of other compilers.
#define STANDS 1e-9

static void assert_stands(const char* path, double creep, const char* slippery) {
  Run run = start(path, 0, NULL);
  double still = moves(&run, 10.0, 60.0);
  assert_true(run.report.contacts_held > 0);
  assert_int_equal(run.report.contacts_sliding, 0);
  finish(&run);

  run = start(path, 1, (const char* const[][2]){{"friction.law", "velocity"}});
  double creeps = moves(&run, 10.0, 20.0);
  finish(&run);

  run = start(path, 1, (const char* const[][2]){{"friction.coefficient", slippery}});
  double falls = moves(&run, 0.0, 2.8);
  finish(&run);
  print_message("%s moves by %.2g m from 10 to 60 s; with \"velocity\" by %.2g m from 10 to 20 s; "
                "with a coefficient of %s it falls by %.2g m\n",
                path, still, creeps, slippery, falls);
  ASSERT_AT_MOST(still, STANDS);
  ASSERT_AT_LEAST(creeps, creep);
  ASSERT_AT_LEAST(falls, 0.1);
}

static void houses_of_cards_stand(void** state) {
  (void)state;
  assert_stands("examples/house_of_cards.json", 5e-4, "0.1");
}

static void arches_stand(void** state) {
  (void)state;
  assert_stands("examples/arch.json", 3e-3, "0.2");
}

static void dry_stone_walls_stand(void** state) {
  (void)state;
  assert_stands("examples/dry_stone_wall.json", 4e-4, "0.02");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(houses_of_cards_stand),
      cmocka_unit_test(arches_stand),
      cmocka_unit_test(dry_stone_walls_stand),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
