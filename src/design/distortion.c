// With the edges of an element as columns of E (3 x d) and G = E^T E: tr(F^T F) = tr(G0^-1 G) and
// J^2 = det G / det G0, for solids, triangles and segments alike. d J = J/2 tr(G^-1 dG).
#include "design/distortion.h"

#include "math/mat3.h"

#include <math.h>

typedef struct Edges {
  int d;
  NoliMat3 E; // unused columns are 0
  NoliMat3 G; // unused rows and columns are those of the identity
} Edges;

static Edges edges_of(const int32_t node[4], const double* x) {
  Edges edges = {0};
  NoliVec3 column[3] = {0};
  for (int k = 1; k < 4 && node[k] != NOLI_NULL_INDEX; k++) {
    column[k - 1] =
        noli_sub3(noli_load3(&x[3 * (int64_t)node[k]]), noli_load3(&x[3 * (int64_t)node[0]]));
    edges.d = k;
  }
  edges.E = noli_columns33(column[0], column[1], column[2]);
  edges.G = noli_transpose_mul33(edges.E, edges.E);
  for (int k = edges.d; k < 3; k++) {
    edges.G.m[k][k] = 1.0;
  }
  return edges;
}

static double distortion_measure(const Edges* edges) {
  static const double parts[] = {1.0, 1.0, 0.5, 1.0 / 6.0};
  return parts[edges->d] * sqrt(noli_det33(&edges->G));
}

// The distortion of an element, and S: its derivative by E is 2 E S.
static double distort(const Edges* rest, const Edges* now, NoliMat3* S) {
  double d = now->d, J = sqrt(noli_det33(&now->G) / noli_det33(&rest->G));
  NoliMat3 inverse = noli_inverse33(&now->G), rest_inverse = noli_inverse33(&rest->G);
  NoliMat3 ratio = noli_mul33(rest_inverse, now->G);
  double trace = noli_trace33(&ratio) - (3.0 - d), scale = 1.0 / (d * pow(J, 2.0 / d));
  double by_J = -2.0 / d * trace * scale / J + 0.5 * (1.0 - 1.0 / (J * J));
  *S = noli_add33(noli_scale33(scale, rest_inverse), noli_scale33(0.5 * J * by_J, inverse));
  return trace * scale - 1.0 + 0.5 * (J + 1.0 / J) - 1.0;
}

static void add_derivative(const int32_t node[4], const Edges* now, const NoliMat3* S,
                           double factor, double* derivative) {
  NoliMat3 by_E = noli_scale33(2.0 * factor, noli_mul33(now->E, *S));
  for (int k = 1; k < 4 && node[k] != NOLI_NULL_INDEX; k++) {
    double *to = derivative + 3 * (int64_t)node[k], *from = derivative + 3 * (int64_t)node[0];
    NoliVec3 by = noli_column33(&by_E, k - 1);
    noli_store3(to, noli_add3(noli_load3(to), by));
    noli_store3(from, noli_sub3(noli_load3(from), by));
  }
}

double noli_distortion(int32_t n, const int32_t* element, const double* X0, const double* X,
                       double factor, double* derivative) {
  double sum = 0.0, total = 0.0;
  for (int32_t e = 0; e < n; e++) {
    Edges rest = edges_of(element + 4 * (int64_t)e, X0);
    total += distortion_measure(&rest);
  }
  for (int32_t e = 0; e < n; e++) {
    const int32_t* node = element + 4 * (int64_t)e;
    Edges rest = edges_of(node, X0), now = edges_of(node, X);
    NoliMat3 S;
    if (rest.d == 0) {
      continue;
    }
    double share = distortion_measure(&rest) / total;
    sum += share * distort(&rest, &now, &S);
    if (derivative != NULL) {
      add_derivative(node, &now, &S, factor * share, derivative);
    }
  }
  return sum;
}
