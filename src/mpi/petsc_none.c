// In place of solver_petsc.c in builds without MPI: the names, which are refused.
#include "mpi/solver_petsc.h"

#define ROW(id, text, is_direct, is_general, instead, words)                                       \
  const NoliLinBackend noli_lin_backend_##id = {.info = {.name = (text),                           \
                                                         .description = (words),                   \
                                                         .direct = (is_direct),                    \
                                                         .general = (is_general)}};
NOLI_PETSC_ROWS(ROW)
