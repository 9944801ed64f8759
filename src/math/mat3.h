// 3x3 matrices by value, row-major.
#pragma once

#include "base/wide.h"
#include "math/vec3.h"

typedef struct NoliMat3 {
  double m[3][3];
} NoliMat3;

static inline NoliMat3 noli_identity3(void) {
  return (NoliMat3){{{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}};
}

// From and to nine doubles, row-major.
static inline NoliMat3 noli_load33(const double* p) {
  return (NoliMat3){{{p[0], p[1], p[2]}, {p[3], p[4], p[5]}, {p[6], p[7], p[8]}}};
}
static inline void noli_store33(double* p, const NoliMat3* a) {
  NOLI_UNROLL
  for (int i = 0; i < 3; i++) {
    NOLI_UNROLL
    for (int j = 0; j < 3; j++) {
      p[3 * i + j] = a->m[i][j];
    }
  }
}

static inline NoliMat3 noli_columns33(NoliVec3 a, NoliVec3 b, NoliVec3 c) {
  return (NoliMat3){{{a.x, b.x, c.x}, {a.y, b.y, c.y}, {a.z, b.z, c.z}}};
}
static inline NoliMat3 noli_rows33(NoliVec3 a, NoliVec3 b, NoliVec3 c) {
  return (NoliMat3){{{a.x, a.y, a.z}, {b.x, b.y, b.z}, {c.x, c.y, c.z}}};
}
static inline NoliVec3 noli_column33(const NoliMat3* a, int j) {
  return (NoliVec3){a->m[0][j], a->m[1][j], a->m[2][j]};
}
static inline NoliVec3 noli_row33(const NoliMat3* a, int i) {
  return (NoliVec3){a->m[i][0], a->m[i][1], a->m[i][2]};
}
static inline NoliMat3 noli_outer33(NoliVec3 a, NoliVec3 b) {
  return (NoliMat3){{{a.x * b.x, a.x * b.y, a.x * b.z},
                     {a.y * b.x, a.y * b.y, a.y * b.z},
                     {a.z * b.x, a.z * b.y, a.z * b.z}}};
}
// The matrix of the cross product: b -> a x b.
static inline NoliMat3 noli_cross33(NoliVec3 a) {
  return (NoliMat3){{{0.0, -a.z, a.y}, {a.z, 0.0, -a.x}, {-a.y, a.x, 0.0}}};
}
static inline NoliMat3 noli_diagonal33(const double d[3]) {
  return (NoliMat3){{{d[0], 0.0, 0.0}, {0.0, d[1], 0.0}, {0.0, 0.0, d[2]}}};
}

static inline NoliMat3 noli_add33(NoliMat3 a, NoliMat3 b) {
  NoliMat3 c;
  NOLI_UNROLL
  for (int i = 0; i < 3; i++) {
    NOLI_UNROLL
    for (int j = 0; j < 3; j++) {
      c.m[i][j] = a.m[i][j] + b.m[i][j];
    }
  }
  return c;
}
static inline NoliMat3 noli_sub33(NoliMat3 a, NoliMat3 b) {
  NoliMat3 c;
  NOLI_UNROLL
  for (int i = 0; i < 3; i++) {
    NOLI_UNROLL
    for (int j = 0; j < 3; j++) {
      c.m[i][j] = a.m[i][j] - b.m[i][j];
    }
  }
  return c;
}
static inline NoliMat3 noli_scale33(double s, NoliMat3 a) {
  NoliMat3 c;
  NOLI_UNROLL
  for (int i = 0; i < 3; i++) {
    NOLI_UNROLL
    for (int j = 0; j < 3; j++) {
      c.m[i][j] = s * a.m[i][j];
    }
  }
  return c;
}
static inline NoliMat3 noli_transpose33(NoliMat3 a) {
  NoliMat3 c;
  NOLI_UNROLL
  for (int i = 0; i < 3; i++) {
    NOLI_UNROLL
    for (int j = 0; j < 3; j++) {
      c.m[i][j] = a.m[j][i];
    }
  }
  return c;
}
static inline NoliMat3 noli_mul33(NoliMat3 a, NoliMat3 b) {
  NoliMat3 c;
  NOLI_UNROLL
  for (int i = 0; i < 3; i++) {
    NOLI_UNROLL
    for (int j = 0; j < 3; j++) {
      c.m[i][j] = a.m[i][0] * b.m[0][j] + a.m[i][1] * b.m[1][j] + a.m[i][2] * b.m[2][j];
    }
  }
  return c;
}
// a b^T
static inline NoliMat3 noli_mul_transpose33(NoliMat3 a, NoliMat3 b) {
  NoliMat3 c;
  NOLI_UNROLL
  for (int i = 0; i < 3; i++) {
    NOLI_UNROLL
    for (int j = 0; j < 3; j++) {
      c.m[i][j] = a.m[i][0] * b.m[j][0] + a.m[i][1] * b.m[j][1] + a.m[i][2] * b.m[j][2];
    }
  }
  return c;
}
// a^T b
static inline NoliMat3 noli_transpose_mul33(NoliMat3 a, NoliMat3 b) {
  NoliMat3 c;
  NOLI_UNROLL
  for (int i = 0; i < 3; i++) {
    NOLI_UNROLL
    for (int j = 0; j < 3; j++) {
      c.m[i][j] = a.m[0][i] * b.m[0][j] + a.m[1][i] * b.m[1][j] + a.m[2][i] * b.m[2][j];
    }
  }
  return c;
}
static inline NoliVec3 noli_mul33_vec(const NoliMat3* a, NoliVec3 v) {
  return (NoliVec3){a->m[0][0] * v.x + a->m[0][1] * v.y + a->m[0][2] * v.z,
                    a->m[1][0] * v.x + a->m[1][1] * v.y + a->m[1][2] * v.z,
                    a->m[2][0] * v.x + a->m[2][1] * v.y + a->m[2][2] * v.z};
}
// a^T v
static inline NoliVec3 noli_transpose_mul33_vec(const NoliMat3* a, NoliVec3 v) {
  return (NoliVec3){a->m[0][0] * v.x + a->m[1][0] * v.y + a->m[2][0] * v.z,
                    a->m[0][1] * v.x + a->m[1][1] * v.y + a->m[2][1] * v.z,
                    a->m[0][2] * v.x + a->m[1][2] * v.y + a->m[2][2] * v.z};
}

static inline double noli_trace33(const NoliMat3* a) {
  return a->m[0][0] + a->m[1][1] + a->m[2][2];
}
// Sum of the products of entries.
static inline double noli_inner33(const NoliMat3* a, const NoliMat3* b) {
  double sum = 0.0;
  NOLI_UNROLL
  for (int i = 0; i < 9; i++) {
    sum += a->m[i / 3][i % 3] * b->m[i / 3][i % 3];
  }
  return sum;
}

// Square of the Frobenius norm.
static inline double noli_norm_sqr33(const NoliMat3* a) {
  double sum = 0.0;
  NOLI_UNROLL
  for (int i = 0; i < 3; i++) {
    NOLI_UNROLL
    for (int j = 0; j < 3; j++) {
      sum += a->m[i][j] * a->m[i][j];
    }
  }
  return sum;
}

// The cofactor matrix: d det(a) / d a = det(a) a^-T.
static inline NoliMat3 noli_cofactor33(const NoliMat3* a) {
  NoliVec3 r0 = noli_row33(a, 0), r1 = noli_row33(a, 1), r2 = noli_row33(a, 2);
  return noli_rows33(noli_cross3(r1, r2), noli_cross3(r2, r0), noli_cross3(r0, r1));
}
static inline double noli_det33(const NoliMat3* a) {
  return noli_dot3(noli_row33(a, 0), noli_cross3(noli_row33(a, 1), noli_row33(a, 2)));
}
// Infinite or NaN entries if the determinant is 0: check it first.
static inline NoliMat3 noli_inverse33(const NoliMat3* a) {
  NoliMat3 cofactor = noli_cofactor33(a);
  double det = noli_dot3(noli_row33(a, 0), noli_row33(&cofactor, 0));
  return noli_scale33(1.0 / det, noli_transpose33(cofactor));
}
