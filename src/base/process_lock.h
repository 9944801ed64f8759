// Locks that belong to the process, for libraries that only one thread at a time may use. A fork
// waits for them: its child would otherwise find a lock whose holder has stayed in the parent, and
// a library in the middle of a call. (PETSc has a lock of its own: MPI may fork when it starts.)
#pragma once

typedef enum NoliProcessLock {
  NOLI_LOCK_METIS,
  NOLI_LOCK_HDF5,
  NOLI_LOCK_EXPRESSIONS, // of scenes: replacement of their locks
  NOLI_PROCESS_LOCKS
} NoliProcessLock;

// A thread locks in the order of the list, and unlocks what it has locked.
void noli_lock(NoliProcessLock which);
void noli_unlock(NoliProcessLock which);
