// A random patch of an n x n grid of triangles above a tetrahedron's four vertices, for tests of
// surfaces that count as one.
#pragma once

#include "support.h"

#include "math/vec3.h"

enum { GRID = 5, BODY = 4, PATCH = (GRID + 1) * (GRID + 1), N_VERT = BODY + PATCH };

static const int32_t patch_tetrahedron[12] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3};

typedef struct PatchDef {
  double holes;  // share of cells that are left out
  double jitter; // of inner vertices, in cells
  double fold;   // height over the plane, m, of vertices at random
  bool turned;
} PatchDef;

typedef struct PatchFrame {
  NoliVec3 u, v, normal; // of its plane
} PatchFrame;

static inline NoliVec3 patch_place(const PatchFrame* frame, double a, double b, double height) {
  NoliVec3 p = noli_scale3(a, frame->u);
  p = noli_mul_add3(p, b, frame->v);
  return noli_mul_add3(p, height, frame->normal);
}

// Fills the vertices behind the first BODY ones, at a, b = 0, 1, ... GRID, those inside off by the
// jitter, and the triangles, which count from them, with random diagonals. Returns their number.
static inline int32_t patch_make(const PatchDef* def, TestRandom* random, PatchFrame* frame,
                                 double x[3 * N_VERT], int32_t tri[6 * GRID * GRID]) {
  *frame = (PatchFrame){.u = {1, 0, 0}, .v = {0, 0, 1}, .normal = {0, 1, 0}};
  if (def->turned) {
    NoliVec3 n = noli_vec3(test_random(random, -1, 1), 1.5, test_random(random, -1, 1));
    frame->normal = noli_normalize3(n);
    frame->u = noli_orthogonal3(frame->normal);
    frame->v = noli_cross3(frame->u, frame->normal);
  }
  for (int32_t i = 0; i < PATCH; i++) {
    int32_t a = i / (GRID + 1), b = i % (GRID + 1);
    bool rim = a == 0 || b == 0 || a == GRID || b == GRID;
    double jitter = rim ? 0.0 : def->jitter;
    NoliVec3 p = patch_place(frame, a + test_random(random, -jitter, jitter),
                             b + test_random(random, -jitter, jitter),
                             test_random(random, -def->fold, def->fold));
    noli_store3(x + 3 * (BODY + i), p);
  }
  int32_t n_tri = 0;
  for (int32_t a = 0; a < GRID; a++) {
    for (int32_t b = 0; b < GRID; b++) {
      int32_t p = a * (GRID + 1) + b, q = p + 1, r = p + GRID + 1, s = r + 1;
      bool other = test_random(random, 0, 1) < 0.5;
      const int32_t cell[6] = {p, q, other ? s : r, other ? p : q, s, r};
      if (test_random(random, 0, 1) >= def->holes) {
        memcpy(tri + 3 * n_tri, cell, sizeof cell);
        n_tri += 2;
      }
    }
  }
  return n_tri;
}
