// Derivatives of elements that are slivers, in coordinates in which a sliver is as regular as any
// element.
//
// Nodes beside the long edge 0-1 of a sliver of width w move by w y from a point of that edge, with
// y of size 1: x = M y. Energies are smooth functions of y, whatever w, so that M' g and M' H M are
// compared with differences entry by entry at their own size, where the largest entries of g and H,
// of size 1/w and 1/w^2, would hide all others.
//
// Two errors remain. Rounding of x by eps moves y by eps/w, which differences of step h divide by
// h, beside their own error of h^2: (eps/w)^(2/3) at the best h. And the entries of H cancel, which
// leaves eps/w^2.
#pragma once

#include "support.h"

#include <float.h>

enum { SLIVER_NODES = 12 };

// How a node follows the nodes 0 and 1, and by how much y moves it.
typedef struct SliverNode {
  double share[2];
  double width[3];
} SliverNode;

typedef struct Sliver {
  TestFunction* f;
  void* user;
  int n_node;
  SliverNode node[SLIVER_NODES];
} Sliver;

static void sliver_positions(const Sliver* sliver, const double* y, double* x) {
  for (int i = 0; i < 3 * sliver->n_node; i++) {
    const SliverNode* node = &sliver->node[i / 3];
    x[i] = node->share[0] * y[i % 3] + node->share[1] * y[3 + i % 3] + node->width[i % 3] * y[i];
  }
}

// v := M' v, of vectors whose entries lie `stride` apart.
static void sliver_pull(const Sliver* sliver, double* v, int stride) {
  for (int i = 3 * sliver->n_node - 1; i >= 0; i--) {
    const SliverNode* node = &sliver->node[i / 3];
    double own = v[stride * i];
    v[stride * i] = node->width[i % 3] * own;
    v[stride * (i % 3)] += node->share[0] * own;
    v[stride * (3 + i % 3)] += node->share[1] * own;
  }
}

static double sliver_energy(void* user, const double* y, double* gradient, double* hessian) {
  const Sliver* sliver = user;
  double x[3 * SLIVER_NODES] = {0};
  int n = 3 * sliver->n_node;
  sliver_positions(sliver, y, x);
  double energy = sliver->f(sliver->user, x, gradient, hessian);
  if (gradient != NULL) {
    sliver_pull(sliver, gradient, 1);
  }
  for (int i = 0; i < n && hessian != NULL; i++) {
    sliver_pull(sliver, hessian + n * i, 1);
  }
  for (int i = 0; i < n && hessian != NULL; i++) {
    sliver_pull(sliver, hessian + i, n);
  }
  return energy;
}

// `scale` is how far the state is from where derivatives grow without bound.
static void sliver_derivatives(Sliver* sliver, const double* y, double width, double scale) {
  double rounding = DBL_EPSILON / width;
  double tolerance = 10.0 * (pow(rounding / scale, 2.0 / 3.0) + rounding / width);
  test_derivatives(sliver_energy, sliver, 3 * sliver->n_node, y, scale, tolerance, tolerance);
}
