// Jets: a scalar with its gradient and Hessian with respect to a few vectors.
//
// Every direction term of [Huang2025] is a scalar function of at most four vectors: the vector
// between the closest points, and edges that leave a vertex. All of them are built from cosines of
// two vectors by the chain rule, so that only two functions need hand-written derivatives.
#pragma once

#include "math/mat3.h"

#include <stdbool.h>
#include <stdint.h>

enum { NOLI_JET_VECTORS = 4, NOLI_JET_MAX = 3 * NOLI_JET_VECTORS };

typedef struct NoliJet {
  int32_t n;   // 3 times the number of vectors
  bool second; // whether there is a Hessian
  double value;
  double gradient[NOLI_JET_MAX];
  double hessian[NOLI_JET_MAX][NOLI_JET_MAX]; // only the first n rows and columns are used
} NoliJet;

// The cosine of the angle between vectors a and b, a != b, of the `n_vector` in u. Without `second`
// this jet and all jets made from it have no Hessian.
NoliJet noli_jet_cosine(int32_t n_vector, const NoliVec3* u, int32_t a, int32_t b, bool second);

// The cosine of the angle between u[a] x u[b] and u[c]; a, b, c differ.
NoliJet noli_jet_normal_cosine(int32_t n_vector, const NoliVec3* u, int32_t a, int32_t b, int32_t c,
                               bool second);

// f(jet), given f, f', f'' at its value.
NoliJet noli_jet_chain(const NoliJet* jet, double value, double first, double second);

NoliJet noli_jet_product(const NoliJet* a, const NoliJet* b);

// jet += factor other
void noli_jet_add(NoliJet* jet, double factor, const NoliJet* other);
