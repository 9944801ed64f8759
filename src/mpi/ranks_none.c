// In place of ranks_mpi.c in builds without MPI.
#include "base/ranks.h"

NoliStatus noli_ranks_start(NoliRanks** ranks) {
  NOLI_REQUIRE(NULL, ranks != NULL);
  *ranks = NULL;
  return NOLI_OK;
}
