// Validators: costly tests of data structures, where they have been built.
//
// A validator, noli_THING_defect, returns NULL for a structure that is as its header says, else the
// rule that is broken. It reads memory only, and it comes with the file that owns the structure.
// Debug builds call it by NOLI_VALIDATE; in other builds the calls are not there. A broken rule is
// an error of Noli: the function fails with NOLI_ERROR_INTERNAL, and the message names the place.
#pragma once

#include "noli/extend.h"

#ifdef NDEBUG
#define NOLI_VALIDATES false
// not evaluated, but seen by the compiler
#define NOLI_VALIDATE(context, defect)                                                             \
  do {                                                                                             \
    if (false) {                                                                                   \
      (void)(context);                                                                             \
      (void)(defect);                                                                              \
    }                                                                                              \
  } while (0)
#else
#define NOLI_VALIDATES true
// Leaves through `done` where the validator found a defect.
#define NOLI_VALIDATE(context, defect)                                                             \
  do {                                                                                             \
    const char* broken_rule = (defect);                                                            \
    if (broken_rule != NULL) {                                                                     \
      status =                                                                                     \
          noli_fail((context), NOLI_ERROR_INTERNAL, "%s:%d: %s", __FILE__, __LINE__, broken_rule); \
      goto done;                                                                                   \
    }                                                                                              \
  } while (0)
#endif

// Within a validator: returns `defect` where the condition does not hold.
#define NOLI_RULE(condition, defect)                                                               \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      return (defect);                                                                             \
    }                                                                                              \
  } while (0)
