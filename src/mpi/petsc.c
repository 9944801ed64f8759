#define _POSIX_C_SOURCE 200809L // pthread_mutex_t
#include "mpi/petsc.h"

#include <pthread.h>
#include <stdio.h>

// PETSc, its options and its error handlers belong to the process.
static pthread_mutex_t petsc_in_use = PTHREAD_MUTEX_INITIALIZER;

// Keeps the first message, where PETSc would print all.
static PetscErrorCode keep_message(MPI_Comm comm, int line, const char* function, const char* file,
                                   PetscErrorCode code, PetscErrorType type, const char* message,
                                   void* user) {
  (void)comm, (void)line, (void)file;
  NoliPetsc* petsc = user;
  if (type == PETSC_ERROR_INITIAL && petsc->message[0] == '\0') {
    snprintf(petsc->message, sizeof petsc->message, "%s: %s", function != NULL ? function : "",
             message != NULL ? message : "");
  }
  return code;
}

// Starts PETSc without signal handlers and without the files of options that it looks for.
static PetscErrorCode start(void) {
  PetscBool started = PETSC_FALSE;
  PetscErrorCode code = PetscInitialized(&started);
  if (code != 0 || started) {
    return code;
  }
  PETSC_MPI_THREAD_REQUIRED = MPI_THREAD_SERIALIZED;
  code = PetscOptionsSetValue(NULL, "-no_signal_handler", NULL);
  code = code != 0 ? code : PetscOptionsSetValue(NULL, "-skip_petscrc", NULL);
  return code != 0 ? code : PetscInitializeNoArguments();
}

NoliStatus noli_petsc_begin(NoliPetsc* petsc, NoliContext* context) {
  NoliStatus status = NOLI_OK;
  *petsc = (NoliPetsc){.context = context, .begun = true};
  pthread_mutex_lock(&petsc_in_use);
  PetscErrorCode code = start();
  petsc->begun = code == 0;
  if (code != 0) {
    pthread_mutex_unlock(&petsc_in_use);
  }
  NOLI_CHECK(context, code == 0, NOLI_ERROR_BACKEND, "PETSc: cannot start, error %d", (int)code);
  NOLI_PETSC_TRY(petsc, PetscPushErrorHandler(keep_message, petsc));
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
  NoliStatus status = code == PETSC_ERR_MEM ? NOLI_ERROR_MEMORY : NOLI_ERROR_BACKEND;
  noli_fail(petsc->context, status, "PETSc: error %d, %s", (int)code, petsc->message);
  petsc->message[0] = '\0';
  return status;
}

void noli_petsc_finish(void) {
  PetscBool started = PETSC_FALSE;
  if (PetscInitialized(&started) == 0 && started) {
    PetscFinalize();
  }
}
