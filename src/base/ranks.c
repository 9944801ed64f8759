#include "base/ranks.h"

#include "base/timer.h"

#include <string.h>

int32_t noli_ranks_rank(const NoliRanks* ranks) {
  return ranks != NULL ? ranks->rank : 0;
}

int32_t noli_ranks_size(const NoliRanks* ranks) {
  return ranks != NULL ? ranks->size : 1;
}

void noli_ranks_end(NoliRanks** ranks) {
  if (ranks != NULL && *ranks != NULL) {
    (*ranks)->type->end(*ranks);
    *ranks = NULL;
  }
}

void noli_ranks_on_loss(NoliRanks* ranks, double patience, NoliRanksLost lost, void* user) {
  if (ranks != NULL) {
    ranks->patience = patience;
    ranks->tell_loss = lost;
    ranks->tell_user = user;
  }
}

void noli_ranks_abort(NoliRanks* ranks, int exit_status) {
  if (ranks != NULL) {
    ranks->type->abort(ranks, exit_status);
  }
}

NoliStatus noli_ranks_require_one(NoliContext* context, const char* what) {
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(context, noli_rank_count(context) == 1, NOLI_ERROR_ARGUMENT,
             "%s: on one rank only, this context has %d", what, (int)noli_rank_count(context));
done:
  return status;
}

void noli_ranks_share_of(int32_t rank, int32_t size, int64_t n, int64_t block, int64_t* begin,
                         int64_t* end) {
  int64_t n_block = (n + block - 1) / block;
  *begin = block * (n_block * rank / size);
  *end = block * (n_block * (rank + 1) / size);
  *begin = *begin < n ? *begin : n;
  *end = *end < n ? *end : n;
}

void noli_ranks_share(const NoliContext* context, int64_t n, int64_t* begin, int64_t* end) {
  noli_ranks_share_of(noli_rank(context), noli_rank_count(context), n, NOLI_RANKS_BLOCK, begin,
                      end);
}

// ---- failures -----------------------------------------------------------------------------------

// Places of the code that exchange: ranks at different ones would wait for each other.
typedef enum Place {
  PLACE_AGREE,
  PLACE_JOIN,
  PLACE_SUM,
  PLACE_SMALLEST,
  PLACE_GATHER,
  PLACE_EXCHANGE,
  PLACE_BROADCAST
} Place;

static NoliStatus broken(NoliContext* context) {
  return noli_fail(context, NOLI_ERROR_BACKEND, "MPI: communication between ranks failed");
}

// Errors are worse than what may be repeated, and of those of a kind the first in the list.
static int64_t rank_status(NoliStatus status) {
  return status < NOLI_OK ? (int64_t)status - 1000 : -(int64_t)status;
}

void noli_ranks_lose(NoliContext* context, NoliStatus failure) {
  if (noli_rank_count(context) > 1) {
    context->def.ranks->lost = failure;
  }
}

static void tell_loss(NoliContext* context) {
  const NoliRanks* ranks = context->def.ranks;
  ranks->tell_loss(ranks->tell_user, ranks->lost, noli_context_message(context));
}

// The smallest of each of the words of all ranks.
static bool compare_words(NoliContext* context, int64_t word[4]) {
  NoliRanks* ranks = context->def.ranks;
  bool waits = ranks->lost != NOLI_OK && ranks->tell_loss != NULL;
  double start = noli_processor_seconds();
  bool good = ranks->type->smallest(ranks, word, 4, waits ? tell_loss : NULL, context);
  ranks->waited += noli_processor_seconds() - start;
  ranks->lost = NOLI_OK;
  return good;
}

// All ranks leave their functions up to the end of a call at this depth.
static NoliStatus leave(NoliContext* context, NoliStatus status, int32_t depth) {
  context->def.ranks->failure = status;
  context->def.ranks->until = depth;
  return status;
}

// Puts the statuses of all ranks together. What may be repeated is an outcome on which ranks agree
// and no reason to leave, unless some are at the end of the call alone.
static NoliStatus meet(NoliContext* context, NoliStatus own, Place place) {
  NoliRanks* ranks = context->def.ranks;
  int64_t word[4] = {rank_status(own) * 65536 + (own != NOLI_OK ? ranks->rank : 0), place,
                     -(int64_t)place, ranks->depth};
  ranks->exchanges++;
  if (!compare_words(context, word)) {
    return leave(context, broken(context), 0);
  }
  bool together = word[1] == -word[2];
  if (word[0] == 0) {
    return together ? NOLI_OK
                    : leave(context,
                            noli_fail(context, NOLI_ERROR_INTERNAL,
                                      "ranks are at different places of the program"),
                            0);
  }

  // the worst status, and its message from the first rank that has it
  int32_t from = (int32_t)(word[0] & 65535);
  int64_t worst = (word[0] - from) / 65536;
  NoliStatus status = (NoliStatus)(worst < -500 ? worst + 1000 : -worst);
  char message[sizeof context->message];
  memcpy(message, context->message, sizeof message);
  if (!ranks->type->broadcast(ranks, from, 1, message, sizeof message)) {
    return leave(context, broken(context), 0);
  }
  noli_fail(context, status, "%s", message);
  if (status < NOLI_OK) {
    return leave(context, status, 0);
  }
  return together ? status : leave(context, status, (int32_t)word[3]);
}

// Begins an exchange; after a failure all ranks leave without one.
static NoliStatus enter(NoliContext* context, NoliStatus own, Place place) {
  NoliRanks* ranks = context->def.ranks;
  if (ranks->failure != NOLI_OK) {
    return ranks->failure;
  }
  return meet(context, own, place);
}

NoliStatus noli_ranks_join(NoliContext* context, NoliStatus own) {
  return noli_rank_count(context) == 1 ? own : enter(context, own, PLACE_JOIN);
}

NoliStatus noli_ranks_agree(NoliContext* context, NoliStatus status) {
  NOLI_REQUIRE(context, context != NULL);
  NoliRanks* ranks = context->def.ranks;
  if (ranks == NULL || ranks->size == 1) {
    return status;
  }
  status = ranks->failure == NOLI_OK ? meet(context, status, PLACE_AGREE) : ranks->failure;
  ranks->failure = ranks->depth > ranks->until ? ranks->failure : NOLI_OK;
  return status;
}

void noli_ranks_begin_outer(const NoliContext* context) {
  if (context->def.ranks != NULL) {
    context->def.ranks->depth++;
  }
}

NoliStatus noli_ranks_end_outer(NoliContext* context, NoliStatus status) {
  if (context->def.ranks != NULL) {
    context->def.ranks->depth--;
  }
  return noli_ranks_agree(context, status);
}

// ---- data ---------------------------------------------------------------------------------------

void noli_ranks_begin_sum(const NoliContext* context, double* value, int64_t n) {
  if (noli_rank(context) != 0) {
    memset(value, 0, (size_t)n * sizeof *value);
  }
}

NoliStatus noli_ranks_smallest(NoliContext* context, int64_t* value, int32_t n) {
  NoliStatus status = NOLI_OK;
  NoliRanks* ranks = context->def.ranks;
  if (noli_rank_count(context) == 1) {
    return NOLI_OK;
  }
  NOLI_TRY(enter(context, NOLI_OK, PLACE_SMALLEST));
  status = ranks->type->smallest(ranks, value, n, NULL, context) ? NOLI_OK : broken(context);
done:
  return status;
}

NoliStatus noli_ranks_largest(NoliContext* context, int64_t* value) {
  NOLI_REQUIRE(context, context != NULL && value != NULL);
  int64_t negative = -*value;
  NoliStatus status = noli_ranks_smallest(context, &negative, 1);
  *value = -negative;
  return status;
}

NoliStatus noli_ranks_broadcast(NoliContext* context, int32_t root, size_t size, void* data,
                                int64_t n) {
  NoliStatus status = NOLI_OK;
  NoliRanks* ranks = context->def.ranks;
  if (noli_rank_count(context) == 1) {
    return NOLI_OK;
  }
  NOLI_TRY(enter(context, NOLI_OK, PLACE_BROADCAST));
  ranks->bytes_sent += ranks->rank == root ? (int64_t)size * n * (ranks->size - 1) : 0;
  status = ranks->type->broadcast(ranks, root, size, data, n) ? NOLI_OK : broken(context);
done:
  return status;
}

// Where the items of ranks begin; returns their sum.
static int64_t ranks_place(int32_t size, const int64_t* n, int64_t* first) {
  int64_t sum = 0;
  for (int32_t r = 0; r < size; r++) {
    first[r] = sum;
    sum += n[r];
  }
  return sum;
}

NoliStatus noli_ranks_gather(NoliContext* context, size_t size, const void* own, int64_t n_own,
                             void** all, int64_t* capacity, int64_t* n_all) {
  NoliStatus status = NOLI_OK;
  NoliRanks* ranks = context->def.ranks;
  int64_t* n = NULL;
  if (noli_rank_count(context) == 1) {
    NOLI_TRY(noli_grow(context, all, capacity, n_own, size));
    memcpy(*all, own, (size_t)n_own * size);
    *n_all = n_own;
    goto done;
  }
  n = noli_alloc(context, 4 * (int64_t)ranks->size, sizeof *n);
  NOLI_TRY(enter(context, n != NULL ? NOLI_OK : NOLI_ERROR_MEMORY, PLACE_GATHER));

  // how many, then the items
  int64_t *first = n + ranks->size, *one = n + 2 * ranks->size, *index = n + 3 * ranks->size;
  for (int32_t r = 0; r < ranks->size; r++) {
    one[r] = 1;
    index[r] = r;
  }
  bool good = ranks->type->gather(ranks, sizeof *n, &n_own, one, index, n);
  NOLI_TRY(good ? NOLI_OK : broken(context));
  *n_all = ranks_place(ranks->size, n, first);
  status = noli_grow(context, all, capacity, *n_all, size);
  NOLI_TRY(enter(context, status, PLACE_GATHER));
  ranks->bytes_sent += (int64_t)size * n_own * (ranks->size - 1);
  good = ranks->type->gather(ranks, size, own, n, first, *all);
  NOLI_TRY(good ? NOLI_OK : broken(context));
done:
  noli_free(context, n);
  return status;
}

NoliStatus noli_ranks_exchange(NoliContext* context, size_t size, const void* out,
                               const int64_t* n_out, void** in, int64_t* capacity, int64_t* n_in) {
  NoliStatus status = NOLI_OK;
  NoliRanks* ranks = context->def.ranks;
  int64_t* scratch = NULL;
  if (noli_rank_count(context) == 1) {
    NOLI_TRY(noli_grow(context, in, capacity, n_out[0], size));
    memcpy(*in, out, (size_t)n_out[0] * size);
    n_in[0] = n_out[0];
    goto done;
  }
  scratch = noli_alloc(context, 4 * (int64_t)ranks->size, sizeof *scratch);
  NOLI_TRY(enter(context, scratch != NULL ? NOLI_OK : NOLI_ERROR_MEMORY, PLACE_EXCHANGE));

  // how many, then the items
  int64_t *first_out = scratch, *first_in = scratch + ranks->size;
  int64_t *one = scratch + 2 * ranks->size, *index = scratch + 3 * ranks->size;
  for (int32_t r = 0; r < ranks->size; r++) {
    one[r] = 1;
    index[r] = r;
  }
  bool good = ranks->type->exchange(ranks, sizeof *n_in, n_out, one, index, n_in, one, index);
  NOLI_TRY(good ? NOLI_OK : broken(context));
  int64_t sent = ranks_place(ranks->size, n_out, first_out) - n_out[ranks->rank];
  ranks->bytes_sent += (int64_t)size * sent;
  int64_t sum = ranks_place(ranks->size, n_in, first_in);
  status = noli_grow(context, in, capacity, sum, size);
  NOLI_TRY(enter(context, status, PLACE_EXCHANGE));
  good = ranks->type->exchange(ranks, size, out, n_out, first_out, *in, n_in, first_in);
  NOLI_TRY(good ? NOLI_OK : broken(context));
done:
  noli_free(context, scratch);
  return status;
}

// ---- sums ---------------------------------------------------------------------------------------

// Every rank adds up a part of the values, in the order of ranks, and all get all parts.
typedef struct SumJob {
  NoliRanks* ranks;
  double* value;
  int64_t n;
  double* piece;  // (ranks x own part)
  int64_t* count; // of every rank
  int64_t* first;
  int64_t* same; // (ranks) of the own part
  int64_t* into;
} SumJob;

static void ranks_lay_out(SumJob* job) {
  int32_t size = job->ranks->size;
  for (int32_t r = 0; r < size; r++) {
    int64_t begin = job->n * r / size, end = job->n * (r + 1) / size;
    job->first[r] = begin;
    job->count[r] = end - begin;
  }
  for (int32_t r = 0; r < size; r++) {
    job->same[r] = job->count[job->ranks->rank];
    job->into[r] = r * job->count[job->ranks->rank];
  }
}

static bool ranks_add_up(SumJob* job) {
  NoliRanks* ranks = job->ranks;
  const NoliRanksType* type = ranks->type;
  int64_t own = job->count[ranks->rank];
  if (!type->exchange(ranks, sizeof(double), job->value, job->count, job->first, job->piece,
                      job->same, job->into)) {
    return false;
  }
  for (int64_t k = 0; k < own; k++) {
    double sum = job->piece[k];
    for (int32_t r = 1; r < ranks->size; r++) {
      sum += job->piece[r * own + k];
    }
    job->piece[k] = sum;
  }
  return type->gather(ranks, sizeof(double), job->piece, job->count, job->first, job->value);
}

NoliStatus noli_ranks_sum(NoliContext* context, double* value, int64_t n) {
  NoliStatus status = NOLI_OK;
  NoliRanks* ranks = context->def.ranks;
  if (noli_rank_count(context) == 1) {
    return NOLI_OK;
  }
  int64_t* scratch = noli_alloc(context, 4 * (int64_t)ranks->size, sizeof *scratch);
  double* piece = noli_alloc(context, n + ranks->size, sizeof *piece);
  bool has_room = scratch != NULL && piece != NULL;
  NOLI_TRY(enter(context, has_room ? NOLI_OK : NOLI_ERROR_MEMORY, PLACE_SUM));
  SumJob job = {.ranks = ranks,
                .value = value,
                .n = n,
                .piece = piece,
                .count = scratch,
                .first = scratch + ranks->size,
                .same = scratch + 2 * (int64_t)ranks->size,
                .into = scratch + 3 * (int64_t)ranks->size};
  ranks_lay_out(&job);
  int64_t part = job.count[ranks->rank];
  ranks->bytes_sent += (int64_t)sizeof(double) * (n - part + part * (ranks->size - 1));
  NOLI_TRY(ranks_add_up(&job) ? NOLI_OK : broken(context));
done:
  noli_free(context, scratch);
  noli_free(context, piece);
  return status;
}

// ---- load ---------------------------------------------------------------------------------------

void noli_ranks_count_work(const NoliContext* context, int64_t n_block) {
  if (context->def.ranks != NULL) {
    context->def.ranks->work += n_block;
  }
}

NoliStatus noli_ranks_load(NoliContext* context, NoliRanksLoad* load) {
  NoliStatus status = NOLI_OK;
  const NoliRanks* ranks = context->def.ranks;
  int64_t capacity = 0, n = 0;
  double own[2] = {0.0, 0.0}, (*all)[2] = NULL;
  *load = (NoliRanksLoad){0};
  if (ranks != NULL) {
    own[0] = noli_processor_seconds() - ranks->waited;
    own[1] = (double)ranks->work;
  }
  NOLI_TRY(noli_ranks_gather(context, sizeof own, own, 1, (void**)&all, &capacity, &n));
  for (int64_t r = 0; r < n; r++) {
    load->seconds += all[r][0] / (double)n;
    load->work += all[r][1] / (double)n;
    load->busiest = all[r][0] > load->most_seconds ? (int32_t)r : load->busiest;
    load->most_seconds = all[r][0] > load->most_seconds ? all[r][0] : load->most_seconds;
    load->most_work = all[r][1] > load->most_work ? all[r][1] : load->most_work;
  }
done:
  noli_free(context, all);
  return status;
}
