// Numbers of a factor in double precision.
typedef double Real;
#define REAL_MAX DBL_MAX
#define REAL_SQRT sqrt
#define REAL_GEMM dgemm_
#define REAL_NAME(name) name
#include "linalg/supernodal/supernodal_numbers.h"
