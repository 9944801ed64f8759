// Numbers of a factor in single precision: half of the memory, and of the time that it takes to
// read them.
typedef float Real;
#define REAL_MAX FLT_MAX
#define REAL_SQRT sqrtf
#define REAL_GEMM sgemm_
#define REAL_NAME(name) name##_single
#include "linalg/supernodal/supernodal_numbers.h"
