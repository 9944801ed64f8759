// In place of partition.c in builds without MPI, which have one rank.
#include "mpi/partition.h"

NoliStatus noli_partition_cells(NoliContext* context, const NoliCells* cells, int32_t n_part,
                                int32_t* part) {
  (void)cells, (void)part;
  return noli_fail(context, NOLI_ERROR_BACKEND, "this build cannot divide a mesh into %d parts",
                   (int)n_part);
}
