// The data of the blocks of rods (block_rods.c), and what their derivatives share.
#pragma once

#include "fem/block.h"
#include "fem/thin/rod.h"
#include "fem/thin/twist.h"
#include "math/vec3.h"

#include <math.h>

typedef struct NoliRods {
  NoliSegments segments; // all of them, scale 1; borrows the arrays
  double* length;        // (n_element) m, at rest
  double* area;          // (n_element) m^2, of the cross section
  double* stretching;    // (n_element) E A, N
  double* bending;       // (n_element) E I, N m^2
  NoliRodDef* def;       // (n_element)
  NoliTurns turns;
  double* turn_damping; // (turns) s
  int8_t* joined;       // (n_element) ends at which other segments follow
  NoliTwists twists;
  double* rest_frame; // (n_frame) of rods with twist
} NoliRods;

static inline const NoliRods* noli_rods_of(const NoliBlock* block) {
  return block->self;
}

// Half of the width along the second axis.
static inline double noli_second_radius(const NoliRodDef* def) {
  return def->second_radius > 0.0 ? def->second_radius : def->radius;
}

static inline double noli_rod_young(const NoliBlock* block, int32_t s) {
  double mu = block->lame_mu[s], lambda = block->lame_lambda[s];
  return mu * (3.0 * lambda + 2.0 * mu) / (lambda + mu);
}

// The vector that a director at rest is the projection of: those of round rods lie anywhere across.
static inline NoliVec3 noli_rod_normal(const NoliRodDef* def, NoliVec3 t) {
  NoliVec3 any = fabs(t.x) < 0.6 ? (NoliVec3){1.0, 0.0, 0.0} : (NoliVec3){0.0, 1.0, 0.0};
  return def->second_radius == 0.0 ? any : noli_load3(def->normal);
}
