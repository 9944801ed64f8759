#define _POSIX_C_SOURCE 200809L // pthread_mutex_t
#include "mpi/petsc.h"

#include "base/ranks.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

// PETSc, its options and its error handlers belong to the process.
static pthread_mutex_t petsc_in_use = PTHREAD_MUTEX_INITIALIZER;
// PETSc crashes on some objects that it left half made for lack of memory: from then on none is
// destroyed, nor PETSc ended.
static bool had_no_memory;

// Keeps the first message, where PETSc would print all.
static PetscErrorCode keep_message(MPI_Comm comm, int line, const char* function, const char* file,
                                   PetscErrorCode code, PetscErrorType type, const char* message,
                                   void* user) {
  (void)comm, (void)line, (void)file;
  NoliPetsc* petsc = user;
  if (type == PETSC_ERROR_INITIAL && petsc->message[0] == '\0') {
    // its allocators give the line in place of the code
    bool allocates = function != NULL && strncmp(function, "PetscMalloc", 11) == 0;
    petsc->no_memory = code == PETSC_ERR_MEM || allocates;
    snprintf(petsc->message, sizeof petsc->message, "%s: %s", function != NULL ? function : "",
             message != NULL ? message : "");
  }
  return code;
}

static bool has_started(void) {
  PetscBool started = PETSC_FALSE;
  return PetscInitialized(&started) == 0 && started;
}

// Starts PETSc without signal handlers and without the files of options that it looks for, and
// keeps it from printing where keep_message is not there yet.
static PetscErrorCode start(void) {
  PetscErrorCode code = 0;
  if (has_started()) {
    return code;
  }
  PETSC_MPI_THREAD_REQUIRED = MPI_THREAD_SERIALIZED;
  code = PetscOptionsSetValue(NULL, "-no_signal_handler", NULL);
  code = code != 0 ? code : PetscOptionsSetValue(NULL, "-skip_petscrc", NULL);
  code = code != 0 ? code : PetscInitializeNoArguments();
  return code != 0 ? code : PetscPushErrorHandler(PetscIgnoreErrorHandler, NULL);
}

NoliStatus noli_petsc_begin(NoliPetsc* petsc, NoliContext* context) {
  NoliStatus status = NOLI_OK;
  *petsc = (NoliPetsc){.context = context};
  // all ranks start it together
  if (noli_rank_count(context) > 1 && !has_started()) {
    NOLI_TRY(noli_ranks_join(context, NOLI_OK));
  }
  pthread_mutex_lock(&petsc_in_use);
  PetscErrorCode code = start();
  petsc->begun = code == 0;
  petsc->leaves = had_no_memory;
  if (code != 0) {
    pthread_mutex_unlock(&petsc_in_use);
    noli_ranks_lose(context, NOLI_ERROR_BACKEND);
  }
  NOLI_CHECK(context, code == 0, NOLI_ERROR_BACKEND, "PETSc: cannot start, error %d", (int)code);
  // all that can fail is its request for memory, which keep_message cannot see
  petsc->no_memory = true;
  NOLI_PETSC_TRY(petsc, PetscPushErrorHandler(keep_message, petsc));
  petsc->no_memory = false;
done:
  return status;
}

void noli_petsc_end(NoliPetsc* petsc) {
  if (petsc->begun) {
    PetscPopErrorHandler();
    pthread_mutex_unlock(&petsc_in_use);
    petsc->begun = false;
  }
}

NoliStatus noli_petsc_translate(NoliPetsc* petsc, PetscErrorCode code) {
  if (code == 0) {
    return NOLI_OK;
  }
  NoliStatus status = petsc->no_memory ? NOLI_ERROR_MEMORY : NOLI_ERROR_BACKEND;
  had_no_memory = had_no_memory || petsc->no_memory;
  noli_ranks_lose(petsc->context, status);
  noli_fail(petsc->context, status, "PETSc: %s%d, %s",
            petsc->no_memory ? "out of memory, error " : "error ", (int)code, petsc->message);
  petsc->message[0] = '\0';
  petsc->no_memory = false;
  return status;
}

void noli_petsc_finish(void) {
  if (has_started() && !had_no_memory) {
    PetscFinalize();
  }
}
