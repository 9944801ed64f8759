#include "math/lagrange.h"

#include <stddef.h>
#include <string.h>

const int32_t noli_lagrange_edge[6][2] = {{0, 1}, {1, 2}, {2, 0}, {3, 0}, {3, 2}, {3, 1}};
const int32_t noli_lagrange_face[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {3, 1, 2}};

void noli_tri_lattice(int32_t order, int32_t lattice[][3]) {
  int32_t n = 0;
  if (order == 0) {
    memset(lattice[0], 0, sizeof lattice[0]);
    return;
  }
  for (int corner = 0; corner < 3; corner++, n++) {
    memset(lattice[n], 0, sizeof lattice[n]);
    lattice[n][corner] = order;
  }
  for (int edge = 0; edge < 3; edge++) {
    for (int32_t j = 1; j < order; j++, n++) {
      memset(lattice[n], 0, sizeof lattice[n]);
      lattice[n][edge] = order - j;
      lattice[n][(edge + 1) % 3] = j;
    }
  }

  // inner nodes have coordinates of at least 1: those of order p - 3, plus 1
  if (order >= 3) {
    noli_tri_lattice(order - 3, lattice + n);
    for (; n < noli_tri_nodes(order); n++) {
      for (int k = 0; k < 3; k++) {
        lattice[n][k]++;
      }
    }
  }
}

void noli_tet_lattice(int32_t order, int32_t lattice[][4]) {
  int32_t n = 0;
  memset(lattice, 0, (size_t)noli_tet_nodes(order) * sizeof lattice[0]);
  if (order == 0) {
    return;
  }

  // corners and edges
  for (int corner = 0; corner < 4; corner++) {
    lattice[n++][corner] = order;
  }
  for (int edge = 0; edge < 6; edge++) {
    for (int32_t j = 1; j < order; j++, n++) {
      lattice[n][noli_lagrange_edge[edge][0]] = order - j;
      lattice[n][noli_lagrange_edge[edge][1]] = j;
    }
  }
  if (order < 3) {
    return;
  }

  // faces
  int32_t inner[NOLI_TRI_NODES_MAX][3];
  noli_tri_lattice(order - 3, inner);
  for (int face = 0; face < 4; face++) {
    for (int32_t j = 0; j < noli_tri_nodes(order - 3); j++, n++) {
      for (int k = 0; k < 3; k++) {
        lattice[n][noli_lagrange_face[face][k]] = inner[j][k] + 1;
      }
    }
  }

  // the volume
  if (order >= 4) {
    noli_tet_lattice(order - 4, lattice + n);
    for (; n < noli_tet_nodes(order); n++) {
      for (int k = 0; k < 4; k++) {
        lattice[n][k]++;
      }
    }
  }
}

// R_m(s) for m = 0 .. order, and its derivatives.
static inline void factors(int32_t order, double s, double R[NOLI_ORDER_MAX + 1],
                           double dR[NOLI_ORDER_MAX + 1]) {
  R[0] = 1.0;
  dR[0] = 0.0;
  for (int32_t m = 1; m <= order; m++) {
    // R_m = R_{m-1} (p s - (m - 1)) / m
    double factor = (order * s - (m - 1)) / m;
    R[m] = R[m - 1] * factor;
    dR[m] = dR[m - 1] * factor + R[m - 1] * order / m;
  }
}

void noli_tet_shape(int32_t order, const double xi[3], double* value, double* gradient) {
  int32_t lattice[NOLI_TET_NODES_MAX][4];
  double R[4][NOLI_ORDER_MAX + 1], dR[4][NOLI_ORDER_MAX + 1];
  noli_tet_lattice(order, lattice);
  factors(order, 1.0 - xi[0] - xi[1] - xi[2], R[0], dR[0]);
  for (int k = 0; k < 3; k++) {
    factors(order, xi[k], R[k + 1], dR[k + 1]);
  }
  for (int32_t a = 0; a < noli_tet_nodes(order); a++) {
    const int32_t* i = lattice[a];
    double r[4] = {R[0][i[0]], R[1][i[1]], R[2][i[2]], R[3][i[3]]};
    value[a] = r[0] * r[1] * r[2] * r[3];
    if (gradient != NULL) {
      // lambda_0 decreases with every xi
      double from_0 = dR[0][i[0]] * r[1] * r[2] * r[3];
      gradient[3 * a] = r[0] * dR[1][i[1]] * r[2] * r[3] - from_0;
      gradient[3 * a + 1] = r[0] * r[1] * dR[2][i[2]] * r[3] - from_0;
      gradient[3 * a + 2] = r[0] * r[1] * r[2] * dR[3][i[3]] - from_0;
    }
  }
}

void noli_tri_shape(int32_t order, const double xi[2], double* value, double* gradient) {
  int32_t lattice[NOLI_TRI_NODES_MAX][3];
  double R[3][NOLI_ORDER_MAX + 1], dR[3][NOLI_ORDER_MAX + 1];
  noli_tri_lattice(order, lattice);
  factors(order, 1.0 - xi[0] - xi[1], R[0], dR[0]);
  factors(order, xi[0], R[1], dR[1]);
  factors(order, xi[1], R[2], dR[2]);
  for (int32_t a = 0; a < noli_tri_nodes(order); a++) {
    const int32_t* i = lattice[a];
    double r[3] = {R[0][i[0]], R[1][i[1]], R[2][i[2]]};
    value[a] = r[0] * r[1] * r[2];
    if (gradient != NULL) {
      double from_0 = dR[0][i[0]] * r[1] * r[2];
      gradient[2 * a] = r[0] * dR[1][i[1]] * r[2] - from_0;
      gradient[2 * a + 1] = r[0] * r[1] * dR[2][i[2]] - from_0;
    }
  }
}
