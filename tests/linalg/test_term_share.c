// How ranks share out the stencils of terms: all of them once, in the order of ranks, with as much
// work for each rank, also where terms are many and small or stencils vary in size.
#include "support.h"

#include "base/ranks.h"
#include "linalg/energy_term.h"

enum { MOST_RANKS = 7 };

static void share_as(NoliContext* context, int32_t rank, int32_t size, const NoliEnergyTerm* term,
                     int32_t index, int64_t unit, int64_t* begin, int64_t* end) {
  NoliRanks ranks = {.rank = rank, .size = size};
  context->def.ranks = &ranks;
  noli_term_share(context, term, index, unit, begin, end);
  context->def.ranks = NULL;
}

static void shares_cover_all_stencils(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  for (int32_t size = 1; size <= MOST_RANKS; size++) {
    for (int32_t index = 0; index < 40; index++) {
      NoliEnergyTerm term = {.size = 4, .n_stencil = (index * index * 7) % 3001};
      for (int64_t unit = 1; unit <= NOLI_RANKS_BLOCK; unit *= NOLI_RANKS_BLOCK) {
        int64_t last = 0, begin, end;
        for (int32_t r = 0; r < size; r++) {
          share_as(context, r, size, &term, index, unit, &begin, &end);
          assert_true(begin == last && end >= begin);
          assert_true(begin % unit == 0 || begin == term.n_stencil);
          last = end;
        }
        assert_int_equal(last, term.n_stencil);
      }
    }
  }
  test_context_done(&context);
}

// Terms of one unit each, of which every second or third may be another kind of work.
static void many_small_terms_are_shared_out(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  enum { N_TERM = 600 };
  for (int32_t size = 2; size <= MOST_RANKS; size++) {
    for (int32_t every = 1; every <= 4; every++) {
      for (int64_t unit = 1; unit <= NOLI_RANKS_BLOCK; unit *= NOLI_RANKS_BLOCK) {
        NoliEnergyTerm term = {.size = 4, .n_stencil = unit};
        int64_t n_own[MOST_RANKS] = {0}, begin, end;
        for (int32_t index = 0; index < N_TERM; index += every) {
          for (int32_t r = 0; r < size; r++) {
            share_as(context, r, size, &term, index, unit, &begin, &end);
            n_own[r] += (end - begin) / unit;
          }
        }
        for (int32_t r = 0; r < size; r++) {
          ASSERT_NEAR((double)n_own[r], (double)N_TERM / every / size, 3.0);
        }
      }
    }
  }
  test_context_done(&context);
}

// A stencil of n nodes is worth n (n + 1) / 2 blocks.
static void large_stencils_count_more(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  enum { N = 1000 };
  int64_t first[N + 1] = {0}, first_block[N + 1];
  for (int32_t s = 0; s < N; s++) {
    first[s + 1] = first[s] + (s < N / 10 ? 40 : 4);
  }
  noli_stencil_offsets(N, first, first_block);
  NoliEnergyTerm term = {.n_stencil = N, .first = first, .first_block = first_block};
  double largest = noli_stencil_blocks(40);
  for (int32_t size = 2; size <= MOST_RANKS; size++) {
    int64_t begin, end;
    for (int32_t r = 0; r < size; r++) {
      share_as(context, r, size, &term, 3, 1, &begin, &end);
      ASSERT_NEAR((double)(first_block[end] - first_block[begin]), (double)first_block[N] / size,
                  2.0 * largest);
    }
  }
  test_context_done(&context);
}

// The stencils of a term that is divided are those of the rank.
static void divided_terms_are_whole(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliEnergyTerm term = {.size = 4, .n_stencil = 10, .divided = true};
  int64_t begin, end;
  share_as(context, 1, 3, &term, 0, 1, &begin, &end);
  assert_int_equal(begin, 0);
  assert_int_equal(end, 10);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shares_cover_all_stencils),
      cmocka_unit_test(many_small_terms_are_shared_out),
      cmocka_unit_test(large_stencils_count_more),
      cmocka_unit_test(divided_terms_are_whole),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
