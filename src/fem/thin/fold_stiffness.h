// The stiffness of folds: what they have at rest, as fem/thin/fold.h says, and how it changes. Of
// folds that are no lone hinges.
#pragma once

#include "fem/thin/fold.h"
#include "math/vec3.h"

// At which a fold is made.
typedef struct NoliFoldRest {
  const double* X;    // (n_vert x 3)
  const double* axis; // (3) of the triangle
  const NoliPlate* plate;
} NoliFoldRest;

// Adds to the root of a fold, 0 before.
void noli_folds_set_root(NoliFolds* folds, int64_t f, const NoliFoldRest* rest);

// How the moments root^T root `turn` of its hinges change with rest positions of its nodes, with
// which the axis turns in the plane of the triangle by `axis`, rad/m, for its corners, and `turn`
// changes by `by_rest`.
void noli_folds_moments_by_rest(const NoliFolds* folds, int64_t f, const NoliFoldRest* rest,
                                const double axis[9], const double turn[NOLI_FOLD_HINGES],
                                double by_rest[NOLI_FOLD_HINGES][3 * NOLI_FOLD_NODES],
                                double derivative[NOLI_FOLD_HINGES][3 * NOLI_FOLD_NODES]);

// How they change where the plate does, in three ways.
void noli_folds_moments_by_plate(const NoliFolds* folds, int64_t f, const NoliFoldRest* rest,
                                 const NoliPlate by[3], const double turn[NOLI_FOLD_HINGES],
                                 NoliVec3 derivative[NOLI_FOLD_HINGES]);
