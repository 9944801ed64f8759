/// @file ranks.h
/// Ranks: processes that simulate together, started by `mpirun` (docs/howto/mpi.md).
///
/// All ranks make the same calls with the same arguments. Positions, meshes and results are on
/// every rank, with the same bits; elements, contact and linear systems are shared out. Builds
/// without MPI have one rank.
#pragma once

#include "noli/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Starts MPI where `mpirun` or its like started this process, and writes the ranks to be given to
/// contexts, NoliContextDef.ranks. Elsewhere, and in builds without MPI, `*ranks` is NULL: the
/// process works alone. To be called once, before contexts are made. Fails with NOLI_ERROR_BACKEND
/// where MPI cannot start.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_ranks_start(NoliRanks** ranks);

/// Ends MPI and sets the pointer to NULL, which is allowed. No context with these ranks may exist
/// any more, and MPI cannot be started again.
NOLI_API void noli_ranks_end(NoliRanks** ranks);

/// The number of this rank, from 0; 0 for NULL.
NOLI_API int32_t noli_ranks_rank(const NoliRanks* ranks);

/// How many there are; 1 for NULL.
NOLI_API int32_t noli_ranks_size(const NoliRanks* ranks);

/// Called on a rank where a linear solver of PETSc fails alone, for example for lack of memory, and
/// where the others have not answered for as long as they were given: they wait for this rank
/// inside of PETSc, and nothing can call them back. Ranks end if it says why and calls
/// noli_ranks_abort; they wait for ever if it returns.
typedef void (*NoliRanksLost)(void* user, NoliStatus status, const char* message);

/// Has `lost` called in that case after `patience`, s. Does nothing for NULL.
NOLI_API void noli_ranks_on_loss(NoliRanks* ranks, double patience, NoliRanksLost lost, void* user);

/// Ends the processes of all ranks at once, with this exit status. Does nothing for NULL. The
/// library never calls it.
NOLI_API void noli_ranks_abort(NoliRanks* ranks, int exit_status);

/// To be called by all ranks with the status of a call that may fail on some of them alone, such as
/// reading a file: returns the worst, and gives the context of every rank its message. Simulations
/// and results do so themselves.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_ranks_agree(NoliContext* context, NoliStatus status);

/// The largest value that a rank gives, such as the number of a signal. Fails as another rank does.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_ranks_largest(NoliContext* context, int64_t* value);

#ifdef __cplusplus
}
#endif
