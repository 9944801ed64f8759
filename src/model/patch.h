// How a patch of a surface moves from rest: as an affine map, up to an error. Maps of patches that
// are near each other bound distances between all of their points at once: where a body deforms
// smoothly, no part of it has come near another one.
#pragma once

#include "math/mat3.h"

// Vertices of a patch, with repetition, at most.
enum { NOLI_PATCH_SIZE = 24 };

// x = now + gradient (X - rest) up to `error`, m, for all points within `radius`, m, of `rest`.
typedef struct NoliPatch {
  NoliVec3 rest;
  NoliVec3 now;
  NoliMat3 gradient;
  double radius;
  double error;
} NoliPatch;

// The patch of triangles with the vertices `vertex` (n, three for each), from rest X to x
// (n_vert x 3); of single vertices, or of triangles without area, the map is a translation.
NoliPatch noli_patch_between(const double* X, const double* x, const int32_t* vertex, int32_t n);

// The patch of the points of both.
NoliPatch noli_patch_union(const NoliPatch* a, const NoliPatch* b);

// A lower bound of the stretch of all lines.
double noli_patch_least_stretch(const NoliPatch* patch);

// How far vertex i is, at most, from where the map of the patch has it.
double noli_patch_vertex_error(const NoliPatch* patch, const double* X, const double* x, int32_t i);

// How far points of `other` are, at most, from where the map of `patch` has them.
double noli_patch_error_of(const NoliPatch* patch, const NoliPatch* other);
