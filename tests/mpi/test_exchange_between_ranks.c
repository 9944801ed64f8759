// Messages between ranks, on as many ranks as mpirun starts (tests/scripted.cmake: three): sums
// in the order of ranks, lists, the rows of a matrix that is shared out, and failures of one rank,
// which end all without a rank that waits.
#define _POSIX_C_SOURCE 200809L // nanosleep
#include "mpi/on_ranks.h"

#include "base/ranks.h"
#include "linalg/rows.h"

#include <time.h>

static NoliRanks* ranks;

static NoliContext* context_of_rank(void) {
  NoliContextDef def = noli_default_context_def();
  def.ranks = ranks;
  NoliContext* context = NULL;
  ASSERT_OK(noli_context_create(&def, &context));
  return context;
}

static void shares_cover_all_items(void** state) {
  (void)state;
  for (int32_t size = 1; size <= 7; size++) {
    for (int64_t n = 0; n < 5000; n += 123) {
      int64_t last = 0;
      for (int32_t r = 0; r < size; r++) {
        int64_t begin, end;
        noli_ranks_share_of(r, size, n, NOLI_RANKS_BLOCK, &begin, &end);
        assert_true(begin == last && end >= begin && (begin % NOLI_RANKS_BLOCK == 0 || begin == n));
        last = end;
      }
      assert_int_equal(last, n);
    }
  }
}

static double value_of(int32_t rank, int64_t k) {
  return sin(1.0 + rank + 3.7 * (double)k) * pow(10.0, (double)((k + rank) % 17 - 8));
}

// The sum in the order of ranks, to the last bit.
static void sums_have_the_order_of_ranks(void** state) {
  (void)state;
  NoliContext* context = context_of_rank();
  enum { N = 1000 };
  double value[N];
  for (int64_t n = 0; n <= N; n += 250) {
    for (int64_t k = 0; k < n; k++) {
      value[k] = value_of(noli_rank(context), k);
    }
    ASSERT_OK(noli_ranks_sum(context, value, n));
    for (int64_t k = 0; k < n; k++) {
      double want = value_of(0, k);
      for (int32_t r = 1; r < noli_rank_count(context); r++) {
        want += value_of(r, k);
      }
      assert_memory_equal(&value[k], &want, sizeof want);
    }
  }
  test_context_done(&context);
}

static void lists_are_gathered_and_exchanged(void** state) {
  (void)state;
  NoliContext* context = context_of_rank();
  int32_t rank = noli_rank(context), size = noli_rank_count(context);
  int64_t own[64], *all = NULL, capacity = 0, n_all = 0, n_out[16], n_in[16], n = 0;
  assert_true(size <= 8);

  // rank r has r items
  for (int32_t k = 0; k < rank; k++) {
    own[k] = 10 * rank + k;
  }
  ASSERT_OK(noli_ranks_gather(context, sizeof *own, own, rank, (void**)&all, &capacity, &n_all));
  assert_int_equal(n_all, size * (size - 1) / 2);
  for (int32_t r = 0; r < size; r++) {
    for (int32_t k = 0; k < r; k++, n++) {
      assert_int_equal(all[n], 10 * r + k);
    }
  }

  // and sends q + 1 to rank q
  n = 0;
  for (int32_t q = 0; q < size; q++) {
    n_out[q] = q + 1;
    for (int32_t k = 0; k <= q; k++) {
      own[n++] = 100 * rank + 10 * q + k;
    }
  }
  ASSERT_OK(noli_ranks_exchange(context, sizeof *own, own, n_out, (void**)&all, &capacity, n_in));
  n = 0;
  for (int32_t r = 0; r < size; r++) {
    assert_int_equal(n_in[r], rank + 1);
    for (int32_t k = 0; k <= rank; k++) {
      assert_int_equal(all[n++], 100 * r + 10 * rank + k);
    }
  }
  int64_t largest = rank;
  ASSERT_OK(noli_ranks_largest(context, &largest));
  assert_int_equal(largest, size - 1);
  noli_free(context, all);
  test_context_done(&context);
}

// Data larger than a message goes in several: the same lists, sums and words with messages of
// any size.
static void large_data_go_in_pieces(void** state) {
  (void)state;
  if (ranks == NULL) {
    skip();
  }
  NoliContext* context = context_of_rank();
  int64_t usual = ranks->message;
  const int64_t sizes[] = {1, 7, 8, 24, 1000};
  for (int32_t i = 0; i < 5; i++) {
    ranks->message = sizes[i];
    sums_have_the_order_of_ranks(state);
    lists_are_gathered_and_exchanged(state);
    double word[100];
    for (int64_t k = 0; k < 100; k++) {
      word[k] = value_of(noli_rank(context), k);
    }
    ASSERT_OK(noli_ranks_broadcast(context, 1, sizeof *word, word, 100));
    for (int64_t k = 0; k < 100; k++) {
      ASSERT_NEAR(word[k], value_of(1, k), 0.0);
    }
  }
  ranks->message = usual;
  test_context_done(&context);
}

// Functions that several ranks cannot call say so, with the number of ranks.
static void whole_work_is_refused(void** state) {
  (void)state;
  NoliContext* context = context_of_rank();
  char want[64];
  snprintf(want, sizeof want, "derivatives: on one rank only, this context has %d",
           (int)noli_rank_count(context));
  if (noli_rank_count(context) > 1) {
    ASSERT_STATUS(noli_ranks_require_one(context, "derivatives"), NOLI_ERROR_ARGUMENT);
    assert_string_equal(noli_context_message(context), want);
  } else {
    ASSERT_OK(noli_ranks_require_one(context, "derivatives"));
  }
  test_context_done(&context);
}

// Each rank has a chain of springs between every rank-th node and the next.
typedef struct Chain {
  int64_t* row;
  int32_t* col;
  double* value;
  NoliShare share;
} Chain;

static Chain make_chain(NoliContext* context, int32_t n) {
  int32_t rank = noli_rank(context), size = noli_rank_count(context);
  int64_t nnz = 0;
  Chain chain = {noli_alloc(context, (int64_t)n + 1, sizeof(int64_t)),
                 noli_alloc(context, 2 * (int64_t)n, sizeof(int32_t)),
                 noli_alloc(context, 18 * (int64_t)n, sizeof(double)),
                 {0}};
  assert_true(chain.row != NULL && chain.col != NULL && chain.value != NULL);
  memset(chain.value, 0, 18 * (size_t)n * sizeof *chain.value);
  chain.row[0] = 0;
  for (int32_t i = 0; i < n; i++) {
    chain.col[nnz] = i;
    chain.value[9 * nnz++ + 4] = value_of(rank, i);
    if (i % size == rank && i + 1 < n) {
      chain.col[nnz] = i + 1;
      chain.value[9 * nnz++ + 1] = -1.0 - i; // entry (0, 1)
    }
    chain.row[i + 1] = nnz;
  }
  NoliBlockMatrix matrix = {n, nnz, chain.row, chain.col, chain.value, 5};
  chain.share = noli_share_of_symmetric(&matrix);
  return chain;
}

static void free_chain(NoliContext* context, Chain* chain) {
  noli_free(context, chain->row);
  noli_free(context, chain->col);
  noli_free(context, chain->value);
}

// Own rows [begin, end) as of the whole, with sums in the order of ranks; `value` has their blocks.
static void check_values(NoliContext* context, const NoliRows* rows, int64_t begin, int64_t end,
                         const double* value) {
  int32_t n = rows->n, first = rows->begin + (int32_t)begin;
  int64_t base = rows->row[begin];
  for (int32_t i = first; i < rows->begin + end; i++) {
    int64_t k = rows->row[i - rows->begin];
    assert_int_equal(rows->row[i - rows->begin + 1] - k, i == 0 || i == n - 1 ? 2 : 3);
    double sum = value_of(0, i);
    for (int32_t r = 1; r < noli_rank_count(context); r++) {
      sum += value_of(r, i);
    }
    for (; k < rows->row[i - rows->begin + 1]; k++) {
      int32_t j = rows->col[k];
      double above = j == i + 1 ? -1.0 - i : 0.0, below = j == i - 1 ? -1.0 - j : 0.0;
      ASSERT_NEAR(value[9 * (k - base) + 1], above, 0.0);
      ASSERT_NEAR(value[9 * (k - base) + 3], below, 0.0); // transposed
      ASSERT_NEAR(value[9 * (k - base) + 4], j == i ? sum : 0.0, 0.0);
      assert_true((k == rows->diagonal[i - rows->begin]) == (i == j));
    }
  }
}

static void check_rows(NoliContext* context, const NoliRows* rows) {
  check_values(context, rows, 0, rows->end - rows->begin, rows->value);
}

static void gather(NoliRows* rows, NoliContext* context, const NoliShare* share,
                   NoliRowsKind kind) {
  ASSERT_OK(noli_rows_gather_pattern(rows, context, share, kind));
  ASSERT_OK(noli_rows_gather_values(rows, context, share));
}

// Rows that are passed on: how many, and at which one a rank fails (-1: none does).
typedef struct Taken {
  NoliContext* context;
  int64_t n;
  int64_t fails_at;
} Taken;

static NoliStatus take_rows(void* user, const NoliRows* rows, int64_t begin, int64_t end,
                            const double* value) {
  Taken* taken = user;
  assert_int_equal(begin, taken->n);
  check_values(taken->context, rows, begin, end, value);
  taken->n = end;
  return taken->fails_at >= begin && taken->fails_at < end
             ? noli_fail(taken->context, NOLI_NOT_POSITIVE_DEFINITE, "row %d", (int)taken->fails_at)
             : NOLI_OK;
}

// All own rows come once, in their order; a failure of one rank is one of all.
static void rows_are_passed_on(void** state) {
  (void)state;
  NoliContext* context = context_of_rank();
  int32_t rank = noli_rank(context), last = noli_rank_count(context) - 1;
  const int32_t sizes[] = {2, 50, 4096, 60001};
  for (int32_t s = 0; s < 4; s++) {
    Chain chain = make_chain(context, sizes[s]);
    NoliRows rows = {0};
    ASSERT_OK(noli_rows_gather_pattern(&rows, context, &chain.share, NOLI_ROWS_SHARED_MIRRORED));
    int64_t n_own = rows.end - rows.begin;
    for (int32_t round = 0; round < 3; round++) {
      Taken taken = {context, 0, round == 1 && rank == last ? n_own / 2 : -1};
      NoliStatus status = noli_rows_pass_values(&rows, context, &chain.share, take_rows, &taken);
      ASSERT_STATUS(status, round == 1 ? NOLI_NOT_POSITIVE_DEFINITE : NOLI_OK);
      assert_true(round == 1 || taken.n == n_own);
      assert_null(rows.value);
      ASSERT_STATUS(noli_ranks_agree(context, status), status);
    }
    noli_rows_free(context, &rows);
    free_chain(context, &chain);
  }
  test_context_done(&context);
}

// Few rows, and so many that they come in pieces.
static void rows_are_those_of_the_sum(void** state) {
  (void)state;
  NoliContext* context = context_of_rank();
  const int32_t sizes[] = {2, 50, 4096, 60001};
  for (int32_t s = 0; s < 4; s++) {
    int32_t n = sizes[s], rank = noli_rank(context);
    Chain chain = make_chain(context, n);
    NoliRows rows = {0};
    for (int32_t round = 0; round < 2; round++) {
      gather(&rows, context, &chain.share, NOLI_ROWS_SHARED_MIRRORED);
      check_rows(context, &rows);
    }
    assert_int_equal(rows.pattern_id, 1);
    noli_rows_free(context, &rows);

    // with rows as they are given: none for the first rank, most for the last
    int32_t n_rank = noli_rank_count(context);
    int64_t* first = noli_calloc(context, n_rank + 1, sizeof *first);
    assert_non_null(first);
    for (int32_t k = 2; k <= n_rank; k++) {
      first[k] = k == n_rank ? n : (int64_t)n * (k - 1) / (4 * n_rank);
    }
    first[1] = n_rank == 1 ? n : 0;
    chain.share.rank_row = first;
    gather(&rows, context, &chain.share, NOLI_ROWS_SHARED_MIRRORED);
    assert_true(rows.begin == first[rank] && rows.end == first[rank + 1]);
    check_rows(context, &rows);
    noli_rows_free(context, &rows);
    chain.share.rank_row = NULL;
    noli_free(context, first);

    // the first rank alone
    gather(&rows, context, &chain.share, NOLI_ROWS_FIRST);
    assert_int_equal(rows.end - rows.begin, rank == 0 ? n : 0);
    assert_int_equal(rows.nnz, rank == 0 ? 2 * n - 1 : 0);
    noli_rows_free(context, &rows);
    free_chain(context, &chain);
  }
  test_context_done(&context);
}

// The messages of a large matrix are never in memory all at once, and only indices are kept besides
// the rows.
static void rows_take_little_more_memory_than_they_have(void** state) {
  (void)state;
  NoliContext* context = context_of_rank();
  int32_t n = 240001;
  Chain chain = make_chain(context, n);
  NoliRows rows = {0};
  int64_t before = context->bytes;
  ASSERT_OK(noli_rows_gather_pattern(&rows, context, &chain.share, NOLI_ROWS_SHARED_MIRRORED));
  assert_null(rows.value);
  gather(&rows, context, &chain.share, NOLI_ROWS_SHARED_MIRRORED);
  int64_t own = rows.end - rows.begin, kept = context->bytes - before;
  int64_t needed = 72 * rows.nnz + 20 * own + 8 * n + 4 * (rows.n_sent + 2 * rows.n_received);
  assert_true(kept <= needed + 4096);
  context->peak_bytes = context->bytes;
  gather(&rows, context, &chain.share, NOLI_ROWS_SHARED_MIRRORED);
  assert_true(context->peak_bytes - context->bytes < 72 * (rows.n_sent + rows.n_received) / 4);
  context->peak_bytes = context->bytes;
  Taken taken = {context, 0, -1};
  NoliRows passed = rows;
  passed.value = NULL;
  ASSERT_OK(noli_rows_pass_values(&passed, context, &chain.share, take_rows, &taken));
  assert_int_equal(taken.n, own);
  assert_true(context->peak_bytes - context->bytes < 72 * (rows.n_sent + rows.n_received) / 4);

  check_rows(context, &rows);
  noli_rows_free(context, &rows);
  free_chain(context, &chain);
  test_context_done(&context);
}

static NoliStatus work(NoliContext* context, int32_t failing) {
  NoliStatus status = NOLI_OK;
  double value[3] = {1.0, 2.0, 3.0};
  NOLI_TRY(noli_ranks_sum(context, value, 3));
  NOLI_CHECK(context, noli_rank(context) != failing, NOLI_ERROR_IO, "the disk of rank %d is full",
             (int)failing);
  NOLI_TRY(noli_ranks_sum(context, value, 3));
  NOLI_TRY(noli_ranks_sum(context, value, 3));
done:
  return status;
}

// All ranks fail as one does, also those that were far ahead, and go on afterwards.
static void failures_of_one_rank_are_those_of_all(void** state) {
  (void)state;
  NoliContext* context = context_of_rank();
  int32_t size = noli_rank_count(context);
  for (int32_t failing = -1; failing < size; failing++) {
    char want[64];
    NoliStatus status = noli_ranks_agree(context, work(context, failing));
    if (failing < 0) {
      ASSERT_OK(status);
      continue;
    }
    ASSERT_STATUS(status, NOLI_ERROR_IO);
    snprintf(want, sizeof want, "the disk of rank %d is full", (int)failing);
    assert_string_equal(noli_context_message(context), want);
  }

  // what may be repeated: the same on all
  NoliStatus own = noli_rank(context) == size - 1 ? NOLI_NOT_CONVERGED : NOLI_OK;
  ASSERT_STATUS(noli_ranks_join(context, own), NOLI_NOT_CONVERGED);
  ASSERT_OK(noli_ranks_agree(context, NOLI_OK));
  test_context_done(&context);
}

typedef struct Loss {
  int32_t n_calls;
  NoliStatus status;
  char message[64];
} Loss;

static void note_loss(void* user, NoliStatus status, const char* message) {
  Loss* loss = user;
  loss->n_calls++;
  loss->status = status;
  snprintf(loss->message, sizeof loss->message, "%s", message);
}

// One rank fails in another library, and the others come late or in time.
static NoliStatus lose(NoliContext* context, int32_t failing, long nanoseconds) {
  const struct timespec delay = {.tv_nsec = nanoseconds};
  if (noli_rank(context) == failing) {
    noli_ranks_lose(context, NOLI_ERROR_MEMORY);
    return noli_fail(context, NOLI_ERROR_MEMORY, "rank %d has no memory", (int)failing);
  }
  nanosleep(&delay, NULL);
  return NOLI_OK;
}

// The program learns of ranks that do not come, and all fail alike if they come after all.
static void ranks_that_do_not_come_are_told(void** state) {
  (void)state;
  if (ranks == NULL) {
    skip();
  }
  NoliContext* context = context_of_rank();
  int32_t failing = noli_rank_count(context) - 1;
  for (int32_t late = 0; late < 2; late++) {
    Loss loss = {0};
    noli_ranks_on_loss(ranks, late ? 0.02 : 60.0, note_loss, &loss);
    NoliStatus status = noli_ranks_agree(context, lose(context, failing, late ? 500000000 : 0));
    ASSERT_STATUS(status, NOLI_ERROR_MEMORY);
    bool told = late && noli_rank(context) == failing;
    assert_int_equal(loss.n_calls, told ? 1 : 0);
    assert_int_equal(loss.status, told ? NOLI_ERROR_MEMORY : NOLI_OK);
    assert_true(!told || strstr(loss.message, "has no memory") != NULL);
  }
  noli_ranks_on_loss(ranks, 0.0, NULL, NULL);
  ASSERT_OK(noli_ranks_agree(context, NOLI_OK));
  test_context_done(&context);
}

// A call that fails alone on a rank before (0) or after (1) its inner call, or in it (2), for good
// or so that it may be repeated.
static NoliStatus inner_call(NoliContext* context, NoliStatus failure) {
  NoliStatus status = failure != NOLI_OK ? noli_fail(context, failure, "no luck") : NOLI_OK;
  double sum = 1.0;
  status = status == NOLI_OK ? noli_ranks_sum(context, &sum, 1) : status;
  return noli_ranks_agree(context, status);
}

static NoliStatus outer_call(NoliContext* context, NoliStatus failure, int32_t where) {
  NoliStatus status = NOLI_OK;
  noli_ranks_begin_outer(context);
  if (failure != NOLI_OK && where == 0) {
    status = noli_fail(context, failure, "no luck");
  }
  status = status == NOLI_OK ? inner_call(context, where == 2 ? failure : NOLI_OK) : status;
  if (failure != NOLI_OK && where == 1) {
    status = noli_fail(context, failure, "no luck");
  }
  // others go on to another inner call
  status = status == NOLI_OK ? inner_call(context, NOLI_OK) : status;
  return noli_ranks_end_outer(context, status);
}

static void failures_leave_calls(void** state) {
  (void)state;
  if (ranks == NULL) {
    skip();
  }
  NoliContext* context = context_of_rank();
  const NoliStatus kind[] = {NOLI_ERROR_MEMORY, NOLI_INVERTED_ELEMENT};
  for (int32_t i = 0; i < 6 * noli_rank_count(context); i++) {
    NoliStatus failure = kind[i % 2], own = i / 6 == noli_rank(context) ? failure : NOLI_OK;
    ASSERT_STATUS(inner_call(context, own), failure);
    assert_string_equal(noli_context_message(context), "no luck");
    ASSERT_STATUS(outer_call(context, own, i / 2 % 3), failure);
    assert_string_equal(noli_context_message(context), "no luck");
    ASSERT_OK(outer_call(context, NOLI_OK, i / 2 % 3));
    double sum = 1.0;
    ASSERT_OK(noli_ranks_sum(context, &sum, 1));
    ASSERT_NEAR(sum, noli_rank_count(context), 0.0);
  }
  ASSERT_OK(noli_ranks_agree(context, NOLI_OK));
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shares_cover_all_items),
      cmocka_unit_test(sums_have_the_order_of_ranks),
      cmocka_unit_test(lists_are_gathered_and_exchanged),
      cmocka_unit_test(rows_are_those_of_the_sum),
      cmocka_unit_test(rows_are_passed_on),
      cmocka_unit_test(rows_take_little_more_memory_than_they_have),
      cmocka_unit_test(large_data_go_in_pieces),
      cmocka_unit_test(whole_work_is_refused),
      cmocka_unit_test(failures_of_one_rank_are_those_of_all),
      cmocka_unit_test(failures_leave_calls),
      cmocka_unit_test(ranks_that_do_not_come_are_told),
  };
  return run_on_ranks(&ranks, tests, sizeof tests / sizeof *tests);
}
