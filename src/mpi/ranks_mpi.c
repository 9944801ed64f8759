// Ranks over MPI.
#include "base/ranks.h"
#include "mpi/petsc.h"

#include <limits.h>
#include <mpi.h>
#include <stdlib.h>

// Items of one kind, and the counts of them per rank in MPI's integers.
typedef struct Items {
  MPI_Datatype type;
  int* count; // (2 or 4 x ranks): counts and displacements
} Items;

static bool begin_items(const NoliRanks* ranks, size_t size, Items* items) {
  *items = (Items){.type = MPI_DATATYPE_NULL};
  items->count = malloc(4 * sizeof *items->count * (size_t)ranks->size);
  return items->count != NULL && MPI_Type_contiguous((int)size, MPI_BYTE, &items->type) == 0 &&
         MPI_Type_commit(&items->type) == 0;
}

static void end_items(Items* items) {
  if (items->type != MPI_DATATYPE_NULL) {
    MPI_Type_free(&items->type);
  }
  free(items->count);
}

// Whether numbers of items fit into MPI's integers, which `narrow` receives.
static bool narrow(const NoliRanks* ranks, const int64_t* n, int* narrow) {
  bool fits = true;
  for (int32_t r = 0; r < ranks->size; r++) {
    fits = fits && n[r] <= INT_MAX;
    narrow[r] = (int)n[r];
  }
  return fits;
}

static bool mpi_smallest(NoliRanks* ranks, int64_t* value, int32_t n) {
  MPI_Comm comm = *(MPI_Comm*)ranks->communicator;
  return MPI_Allreduce(MPI_IN_PLACE, value, n, MPI_INT64_T, MPI_MIN, comm) == 0;
}

static bool mpi_broadcast(NoliRanks* ranks, int32_t root, size_t size, void* data, int64_t n) {
  Items items;
  bool good = begin_items(ranks, size, &items) && n <= INT_MAX &&
              MPI_Bcast(data, (int)n, items.type, root, *(MPI_Comm*)ranks->communicator) == 0;
  end_items(&items);
  return good;
}

static bool mpi_gather(NoliRanks* ranks, size_t size, const void* own, const int64_t* n,
                       const int64_t* first, void* all) {
  Items items;
  bool good =
      begin_items(ranks, size, &items) && narrow(ranks, n, items.count) &&
      narrow(ranks, first, items.count + ranks->size) &&
      MPI_Allgatherv(own, (int)n[ranks->rank], items.type, all, items.count,
                     items.count + ranks->size, items.type, *(MPI_Comm*)ranks->communicator) == 0;
  end_items(&items);
  return good;
}

static bool mpi_exchange(NoliRanks* ranks, size_t size, const void* out, const int64_t* n_out,
                         const int64_t* first_out, void* in, const int64_t* n_in,
                         const int64_t* first_in) {
  Items items;
  int32_t k = ranks->size;
  bool good = begin_items(ranks, size, &items) && narrow(ranks, n_out, items.count) &&
              narrow(ranks, first_out, items.count + k) &&
              narrow(ranks, n_in, items.count + 2 * k) &&
              narrow(ranks, first_in, items.count + 3 * k) &&
              MPI_Alltoallv(out, items.count, items.count + k, items.type, in, items.count + 2 * k,
                            items.count + 3 * k, items.type, *(MPI_Comm*)ranks->communicator) == 0;
  end_items(&items);
  return good;
}

static void mpi_end(NoliRanks* ranks) {
  noli_petsc_finish();
  MPI_Comm_free(ranks->communicator);
  free(ranks->communicator);
  free(ranks);
  MPI_Finalize();
}

static const NoliRanksType mpi_type = {
    .smallest = mpi_smallest,
    .broadcast = mpi_broadcast,
    .gather = mpi_gather,
    .exchange = mpi_exchange,
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
  MPI_Comm* comm = malloc(sizeof *comm);
  ranks->communicator = comm;
  if (comm == NULL || MPI_Comm_dup(MPI_COMM_WORLD, comm) != 0 || MPI_Comm_rank(*comm, &rank) != 0 ||
      MPI_Comm_size(*comm, &size) != 0) {
    return false;
  }
  ranks->type = &mpi_type;
  ranks->rank = rank;
  ranks->size = size;
  return true;
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
    free(made);
    return NOLI_ERROR_BACKEND;
  }
  *ranks = made;
  return NOLI_OK;
}
