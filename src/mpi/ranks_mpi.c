// Ranks over MPI.
#define _POSIX_C_SOURCE 200809L // nanosleep
#include "base/ranks.h"
#include "base/timer.h"
#include "mpi/petsc.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Bytes of one message; MPI counts in 32 bits.
enum { MESSAGE = 1 << 30 };

// The data that the communicator of ranks points to; nothing is allocated where other ranks wait
// already.
typedef struct Mpi {
  MPI_Comm comm;
  int* count;           // (ranks)
  int* first;           // (ranks)
  MPI_Request* request; // (2 x ranks)
} Mpi;

static Mpi* mpi_of(const NoliRanks* ranks) {
  return ranks->communicator;
}

// Looks after the others every millisecond; sets `done` if they come in time.
static bool wait_for(MPI_Request* request, double seconds, int* done) {
  const struct timespec pause = {.tv_nsec = 1000000};
  double end = noli_seconds() + seconds;
  bool good = MPI_Test(request, done, MPI_STATUS_IGNORE) == 0;
  while (good && !*done && noli_seconds() < end) {
    nanosleep(&pause, NULL);
    good = MPI_Test(request, done, MPI_STATUS_IGNORE) == 0;
  }
  return good;
}

static bool mpi_smallest(NoliRanks* ranks, int64_t* value, int32_t n,
                         void (*late)(NoliContext* context), NoliContext* context) {
  MPI_Request request;
  int done = 0;
  // not MPI_Allreduce, which could not be left, and which no other call of the same kind matches
  if (MPI_Iallreduce(MPI_IN_PLACE, value, n, MPI_INT64_T, MPI_MIN, mpi_of(ranks)->comm, &request) !=
      0) {
    return false;
  }
  if (late != NULL) {
    if (!wait_for(&request, ranks->patience, &done)) {
      return false;
    }
    if (!done) {
      late(context);
    }
  }
  return done || MPI_Wait(&request, MPI_STATUS_IGNORE) == 0;
}

// The number of bytes, of `size` bytes from `begin` on, that go into one message.
static int piece_of(const NoliRanks* ranks, int64_t size, int64_t begin) {
  int64_t left = size - begin;
  return (int)(left < ranks->message ? left : ranks->message);
}

static bool mpi_broadcast(NoliRanks* ranks, int32_t root, size_t size, void* data, int64_t n) {
  int64_t bytes = n * (int64_t)size;
  bool good = true;
  for (int64_t begin = 0; good && begin < bytes; begin += ranks->message) {
    good = MPI_Bcast((char*)data + begin, piece_of(ranks, bytes, begin), MPI_BYTE, root,
                     mpi_of(ranks)->comm) == 0;
  }
  return good;
}

// All that a rank sends to the others and receives from them: of each, how many items of `size`
// bytes, and which one comes first.
typedef struct Exchange {
  size_t size;
  const char* out;
  const int64_t *n_out, *first_out;
  char* in;
  const int64_t *n_in, *first_in;
} Exchange;

// Exchanges the bytes from `begin` on of what each pair of ranks exchanges, a message each; `any`:
// whether there were some.
static bool exchange_messages(NoliRanks* ranks, const Exchange* all, int64_t begin, bool* any) {
  enum { TAG = 1 };
  Mpi* mpi = mpi_of(ranks);
  int64_t bytes = (int64_t)all->size;
  int n = 0;
  bool good = true;
  for (int32_t r = 0; r < ranks->size; r++) {
    if (all->n_in[r] * bytes > begin) {
      good = good && MPI_Irecv(all->in + all->first_in[r] * bytes + begin,
                               piece_of(ranks, all->n_in[r] * bytes, begin), MPI_BYTE, r, TAG,
                               mpi->comm, &mpi->request[n++]) == 0;
    }
  }
  for (int32_t k = 0; k < ranks->size; k++) {
    int32_t r = (ranks->rank + k) % ranks->size;
    if (all->n_out[r] * bytes > begin) {
      good = good && MPI_Isend(all->out + all->first_out[r] * bytes + begin,
                               piece_of(ranks, all->n_out[r] * bytes, begin), MPI_BYTE, r, TAG,
                               mpi->comm, &mpi->request[n++]) == 0;
    }
  }
  *any = n > 0;
  return good && MPI_Waitall(n, mpi->request, MPI_STATUSES_IGNORE) == 0;
}

// MPI_Alltoallv counts in 32 bits, and ranks do not know whether the counts of others fit.
static bool mpi_exchange(NoliRanks* ranks, size_t size, const void* out, const int64_t* n_out,
                         const int64_t* first_out, void* in, const int64_t* n_in,
                         const int64_t* first_in) {
  const Exchange all = {size, out, n_out, first_out, in, n_in, first_in};
  bool good = true, any = true;
  for (int64_t begin = 0; good && any; begin += ranks->message) {
    good = exchange_messages(ranks, &all, begin, &any);
  }
  return good;
}

// Counts and places in MPI's integers; false where they do not fit, on all ranks.
static bool narrow(const NoliRanks* ranks, size_t size, const int64_t* n, const int64_t* first) {
  const Mpi* mpi = mpi_of(ranks);
  bool fits = true;
  for (int32_t r = 0; r < ranks->size; r++) {
    fits = fits && (first[r] + n[r]) * (int64_t)size <= ranks->message;
    mpi->count[r] = fits ? (int)(n[r] * (int64_t)size) : 0;
    mpi->first[r] = fits ? (int)(first[r] * (int64_t)size) : 0;
  }
  return fits;
}

// The items of one rank after the other to all.
static bool gather_in_turn(NoliRanks* ranks, size_t size, const void* own, const int64_t* n,
                           const int64_t* first, void* all) {
  bool good = true;
  memmove((char*)all + (size_t)first[ranks->rank] * size, own, (size_t)n[ranks->rank] * size);
  for (int32_t r = 0; good && r < ranks->size; r++) {
    good = mpi_broadcast(ranks, r, size, (char*)all + (size_t)first[r] * size, n[r]);
  }
  return good;
}

static bool mpi_gather(NoliRanks* ranks, size_t size, const void* own, const int64_t* n,
                       const int64_t* first, void* all) {
  const Mpi* mpi = mpi_of(ranks);
  if (!narrow(ranks, size, n, first)) {
    return gather_in_turn(ranks, size, own, n, first, all);
  }
  return MPI_Allgatherv(own, mpi->count[ranks->rank], MPI_BYTE, all, mpi->count, mpi->first,
                        MPI_BYTE, mpi->comm) == 0;
}

static void mpi_abort(NoliRanks* ranks, int exit_status) {
  MPI_Abort(mpi_of(ranks)->comm, exit_status);
}

static void free_ranks(NoliRanks* ranks) {
  if (ranks->communicator != NULL) {
    free(mpi_of(ranks)->count);
    free(mpi_of(ranks)->first);
    free(mpi_of(ranks)->request);
    free(ranks->communicator);
  }
  free(ranks);
}

static void mpi_end(NoliRanks* ranks) {
  noli_petsc_finish();
  MPI_Comm_free(&mpi_of(ranks)->comm);
  free_ranks(ranks);
  MPI_Finalize();
}

static const NoliRanksType mpi_type = {
    .smallest = mpi_smallest,
    .broadcast = mpi_broadcast,
    .gather = mpi_gather,
    .exchange = mpi_exchange,
    .abort = mpi_abort,
    .end = mpi_end,
};

// Whether a launcher of MPI started this process: without one, starting MPI costs time for nothing.
static bool was_launched(void) {
  static const char* const signs[] = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK",
                                      "MPI_LOCALRANKID"};
  for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
    if (getenv(signs[i]) != NULL) {
      return true;
    }
  }
  return false;
}

static bool create(NoliRanks* ranks) {
  int rank = 0, size = 1;
  Mpi* mpi = calloc(1, sizeof *mpi);
  ranks->communicator = mpi;
  if (mpi == NULL || MPI_Comm_dup(MPI_COMM_WORLD, &mpi->comm) != 0 ||
      MPI_Comm_rank(mpi->comm, &rank) != 0 || MPI_Comm_size(mpi->comm, &size) != 0) {
    return false;
  }
  ranks->type = &mpi_type;
  ranks->rank = rank;
  ranks->size = size;
  ranks->message = MESSAGE;
  mpi->count = calloc((size_t)size, sizeof *mpi->count);
  mpi->first = calloc((size_t)size, sizeof *mpi->first);
  mpi->request = calloc(2 * (size_t)size, sizeof *mpi->request);
  return mpi->count != NULL && mpi->first != NULL && mpi->request != NULL;
}

NoliStatus noli_ranks_start(NoliRanks** ranks) {
  NOLI_REQUIRE(NULL, ranks != NULL);
  int provided = 0;
  *ranks = NULL;
  if (!was_launched()) {
    return NOLI_OK;
  }
  if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided) != 0 ||
      provided < MPI_THREAD_SERIALIZED) {
    return NOLI_ERROR_BACKEND;
  }
  NoliRanks* made = calloc(1, sizeof *made);
  if (made == NULL || !create(made)) {
    if (made != NULL) {
      free_ranks(made);
    }
    return NOLI_ERROR_BACKEND;
  }
  *ranks = made;
  return NOLI_OK;
}
