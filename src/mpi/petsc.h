// PETSc as this library uses it: one context at a time, without its signal handlers, files of
// options and printed errors.
#pragma once

#include "base/context.h"

#include <petscksp.h>

// A use of PETSc, between noli_petsc_begin and noli_petsc_end.
typedef struct NoliPetsc {
  NoliContext* context;
  bool begun;
  bool no_memory;
  bool leaves;       // objects are not destroyed any more
  char message[512]; // of the first error
} NoliPetsc;

// Locks PETSc, which serves one thread at a time, and starts it (and MPI) where nobody has. To be
// ended even if it fails.
NOLI_WARN_UNUSED NoliStatus noli_petsc_begin(NoliPetsc* petsc, NoliContext* context);
void noli_petsc_end(NoliPetsc* petsc);

// The status of a call of PETSc.
NOLI_WARN_UNUSED NoliStatus noli_petsc_translate(NoliPetsc* petsc, PetscErrorCode code);

// Leaves the function through `done` where a call of PETSc fails.
#define NOLI_PETSC_TRY(petsc, call) NOLI_TRY(noli_petsc_translate((petsc), (call)))

// Ends PETSc if it was started and never had no memory; before MPI ends.
void noli_petsc_finish(void);
