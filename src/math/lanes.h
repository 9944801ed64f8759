// Batches of numbers that vector registers process together: entry by entry, an array of
// NOLI_LANES values each. A loop NOLI_FOR_LANES over scalar code without branches, in a function
// with NOLI_WIDE (base/wide.h), becomes one vector operation for each operation of the code, in the
// same order: the bits of a lane are those of the scalar code.
//
// Such a loop calls one function (NOLI_INLINE), whose variables then need no memory. What it
// decides, it decides by `condition ? a : b` of two values that are computed already; it reads and
// writes arrays of doubles only, and loops inside it are NOLI_UNROLL.
#pragma once

#include "math/mat3.h"

// Two registers of four doubles: the latency of one hides behind the other.
enum { NOLI_LANES = 8 };

#define NOLI_FOR_LANES(l) NOLI_INDEPENDENT for (int l = 0; l < NOLI_LANES; l++)

typedef struct NoliLanes3 {
  double v[3][NOLI_LANES];
} NoliLanes3;

typedef struct NoliLanes33 {
  double m[3][3][NOLI_LANES];
} NoliLanes33;

static inline NoliMat3 noli_lane33(const NoliLanes33* a, int l) {
  return (NoliMat3){{{a->m[0][0][l], a->m[0][1][l], a->m[0][2][l]},
                     {a->m[1][0][l], a->m[1][1][l], a->m[1][2][l]},
                     {a->m[2][0][l], a->m[2][1][l], a->m[2][2][l]}}};
}
static inline NoliVec3 noli_lane3(const NoliLanes3* a, int l) {
  return (NoliVec3){a->v[0][l], a->v[1][l], a->v[2][l]};
}
static inline void noli_set_lane33(NoliLanes33* a, int l, NoliMat3 value) {
  a->m[0][0][l] = value.m[0][0];
  a->m[0][1][l] = value.m[0][1];
  a->m[0][2][l] = value.m[0][2];
  a->m[1][0][l] = value.m[1][0];
  a->m[1][1][l] = value.m[1][1];
  a->m[1][2][l] = value.m[1][2];
  a->m[2][0][l] = value.m[2][0];
  a->m[2][1][l] = value.m[2][1];
  a->m[2][2][l] = value.m[2][2];
}
static inline void noli_set_lane3(NoliLanes3* a, int l, NoliVec3 value) {
  a->v[0][l] = value.x;
  a->v[1][l] = value.y;
  a->v[2][l] = value.z;
}

// Whether any of them is not 0.
static inline bool noli_any_lane(const double a[NOLI_LANES]) {
  double half[4];
  for (int l = 0; l < 4; l++) {
    half[l] = fabs(a[l]) + fabs(a[l + 4]);
  }
  return (half[0] + half[1]) + (half[2] + half[3]) != 0.0;
}
