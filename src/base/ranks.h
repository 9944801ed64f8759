// Communication among ranks. All ranks run the same code over the same numbers, so that they make
// the same decisions; what they compute in shares, these functions put together, with the same bits
// on every rank and in every run on the same number of ranks. With one rank they do nothing.
//
// Failures. Every function takes part in one exchange of a few words first. A rank on which
// something fails leaves its functions up to noli_ranks_agree, which takes part in the exchange
// that the others are about to begin: they fail, with the same status and message, leave their
// functions without any further exchange, and end in noli_ranks_agree, too. Every call of the
// library whose failure may concern one rank ends in noli_ranks_agree. One that calls others that
// do is put between noli_ranks_begin_outer and noli_ranks_end_outer: a failure of all ranks in an
// inner call is left by all, without another exchange, up to the end of the outer one. What may be
// repeated (a status > 0) is an outcome where all ranks learn of it in the same exchange; where one
// of them has left for the end of its call with it, all leave for the same end.
//
// A call of PETSc that fails on one rank leaves others inside of the same call, where nothing
// reaches them: the rank waits for them for a while, and then tells the program
// (noli_ranks_on_loss).
#pragma once

#include "base/context.h"
#include "noli/ranks.h"

// Communication; every function returns false if it fails.
typedef struct NoliRanksType {
  // Calls `late`, if not NULL, where others have not come after the patience of the ranks.
  bool (*smallest)(NoliRanks* ranks, int64_t* value, int32_t n, void (*late)(NoliContext* context),
                   NoliContext* context);
  bool (*broadcast)(NoliRanks* ranks, int32_t root, size_t size, void* data, int64_t n);
  // `n`, `first` (ranks): items and where they begin
  bool (*gather)(NoliRanks* ranks, size_t size, const void* own, const int64_t* n,
                 const int64_t* first, void* all);
  bool (*exchange)(NoliRanks* ranks, size_t size, const void* out, const int64_t* n_out,
                   const int64_t* first_out, void* in, const int64_t* n_in,
                   const int64_t* first_in);
  void (*abort)(NoliRanks* ranks, int exit_status);
  void (*end)(NoliRanks* ranks);
} NoliRanksType;

struct NoliRanks {
  const NoliRanksType* type;
  void* communicator;
  int32_t rank, size;
  NoliStatus failure; // that all ranks have learnt of and are leaving their functions for
  int32_t depth;      // of calls that make others which end in noli_ranks_agree
  int32_t until;      // depth of the call at whose end the failure ends
  NoliStatus lost;    // failure after which others may be where they cannot be reached
  double patience;    // s, for them
  NoliRanksLost tell_loss;
  void* tell_user;
  int64_t message; // bytes at most that go into one message
  double waited;   // s of processor time spent waiting for others, since the start
  int64_t work;    // 3x3 blocks of stencils evaluated
  int64_t exchanges;
  int64_t bytes_sent; // to other ranks
};

static inline int32_t noli_rank(const NoliContext* context) {
  return context->def.ranks != NULL ? context->def.ranks->rank : 0;
}
static inline int32_t noli_rank_count(const NoliContext* context) {
  return context->def.ranks != NULL ? context->def.ranks->size : 1;
}

// The beginning and the end of a call that makes others which end in noli_ranks_agree; in between
// the first failure ends the call. noli_ranks_end_outer is the noli_ranks_agree of this call.
void noli_ranks_begin_outer(const NoliContext* context);
NOLI_WARN_UNUSED NoliStatus noli_ranks_end_outer(NoliContext* context, NoliStatus status);

// Whether this rank writes files: the first one, for all. Others do the same without any effect.
static inline bool noli_rank_writes(const NoliContext* context) {
  return noli_rank(context) == 0;
}

// Fails on several ranks: `what` reads what is shared out as if it were whole.
NOLI_WARN_UNUSED NoliStatus noli_ranks_require_one(NoliContext* context, const char* what);

// Items are shared out in blocks of this size, that of sums of energies.
enum { NOLI_RANKS_BLOCK = 256 };

// The items [begin, end) of this rank, of n: consecutive ones, rank after rank.
void noli_ranks_share(const NoliContext* context, int64_t n, int64_t* begin, int64_t* end);

// The same for any rank of any number of them.
void noli_ranks_share_of(int32_t rank, int32_t size, int64_t n, int64_t block, int64_t* begin,
                         int64_t* end);

// Adds to what this rank has done of the work that is shared out, for noli_ranks_load.
void noli_ranks_count_work(const NoliContext* context, int64_t n_block);

// How evenly ranks have worked since the start; all ranks get the same.
typedef struct NoliRanksLoad {
  double seconds, most_seconds; // processor time without waiting for others: mean, largest
  double work, most_work;       // blocks of stencils evaluated
  int32_t busiest;              // the rank that has most of the processor time
} NoliRanksLoad;
NOLI_WARN_UNUSED NoliStatus noli_ranks_load(NoliContext* context, NoliRanksLoad* load);

// To be called where a call of another library fails that waits for other ranks.
void noli_ranks_lose(NoliContext* context, NoliStatus failure);

// Fails where `own`, the status of a rank, is a failure.
NOLI_WARN_UNUSED NoliStatus noli_ranks_join(NoliContext* context, NoliStatus own);

// Sums of `value` (n) over all ranks, in the order of ranks.
NOLI_WARN_UNUSED NoliStatus noli_ranks_sum(NoliContext* context, double* value, int64_t n);

// Before each rank adds its share to values (n) that all ranks have: leaves them on the first rank
// and zeros on others, so that noli_ranks_sum then gives all ranks the whole.
void noli_ranks_begin_sum(const NoliContext* context, double* value, int64_t n);

// The smallest of `value` (n) over all ranks.
NOLI_WARN_UNUSED NoliStatus noli_ranks_smallest(NoliContext* context, int64_t* value, int32_t n);

// The list of the items of all ranks, `size` bytes each, in the order of ranks. `*all` is grown as
// by noli_grow. `own` may not be in it.
NOLI_WARN_UNUSED NoliStatus noli_ranks_gather(NoliContext* context, size_t size, const void* own,
                                              int64_t n_own, void** all, int64_t* capacity,
                                              int64_t* n_all);

// Every rank sends the first n_out[0] items of `out` to rank 0, the next n_out[1] to rank 1, ..,
// and receives into `*in` n_in[0] items from rank 0, n_in[1] from rank 1, ..
NOLI_WARN_UNUSED NoliStatus noli_ranks_exchange(NoliContext* context, size_t size, const void* out,
                                                const int64_t* n_out, void** in, int64_t* capacity,
                                                int64_t* n_in);

// The n items of rank `root` on all ranks.
NOLI_WARN_UNUSED NoliStatus noli_ranks_broadcast(NoliContext* context, int32_t root, size_t size,
                                                 void* data, int64_t n);
