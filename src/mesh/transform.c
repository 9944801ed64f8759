#include "mesh/curve.h"

#include <math.h>

// Sine and cosine of an angle in degrees; multiples of 90 give exactly -1, 0, 1.
static void sin_cos_deg(double degrees, double* s, double* c) {
  // reduce to a quarter turn, exactly
  int quarter = 0;
  double rest = remquo(degrees, 90.0, &quarter);
  double radians = rest * (3.14159265358979323846 / 180.0);
  double sin_rest = sin(radians);
  double cos_rest = cos(radians);
  switch (quarter & 3) {
  case 0:
    *s = sin_rest, *c = cos_rest;
    break;
  case 1:
    *s = cos_rest, *c = -sin_rest;
    break;
  case 2:
    *s = -sin_rest, *c = -cos_rest;
    break;
  default:
    *s = -cos_rest, *c = sin_rest;
    break;
  }
}

// R = Rx Ry Rz, row by row.
static void rotation_matrix(const double deg[3], double R[3][3]) {
  double sx, cx, sy, cy, sz, cz;
  sin_cos_deg(deg[0], &sx, &cx);
  sin_cos_deg(deg[1], &sy, &cy);
  sin_cos_deg(deg[2], &sz, &cz);
  R[0][0] = cy * cz;
  R[0][1] = -cy * sz;
  R[0][2] = sy;
  R[1][0] = cx * sz + sx * sy * cz;
  R[1][1] = cx * cz - sx * sy * sz;
  R[1][2] = -sx * cy;
  R[2][0] = sx * sz - cx * sy * cz;
  R[2][1] = sx * cz + cx * sy * sz;
  R[2][2] = cx * cy;
}

// Exchanges the last two vertices of each cell.
static void flip_cells(int32_t* cell, int64_t n, int64_t width) {
  for (int64_t i = 0; i < n; i++) {
    int32_t* last = cell + i * width + width - 1;
    int32_t kept = last[0];
    last[0] = last[-1];
    last[-1] = kept;
  }
}

void noli_mesh_transform(NoliMesh* mesh, const double scale[3], const double rotation_deg[3],
                         const double translation[3]) {
  if (mesh == NULL || scale == NULL || rotation_deg == NULL || translation == NULL) {
    return;
  }
  double R[3][3];
  rotation_matrix(rotation_deg, R);
  for (int64_t v = 0; v < (int64_t)mesh->n_vert + mesh->n_curve; v++) {
    double* x = v < mesh->n_vert ? mesh->x + 3 * v : mesh->curve_x + 3 * (v - mesh->n_vert);
    double s[3] = {scale[0] * x[0], scale[1] * x[1], scale[2] * x[2]};
    for (int i = 0; i < 3; i++) {
      x[i] = R[i][0] * s[0] + R[i][1] * s[1] + R[i][2] * s[2] + translation[i];
    }
  }
  // a reflection inverts every cell
  if (scale[0] * scale[1] * scale[2] < 0.0) {
    flip_cells(mesh->tet, mesh->n_tet, 4);
    flip_cells(mesh->tri, mesh->n_tri, 3);
    for (int64_t t = 0; t < mesh->n_tet; t++) {
      noli_curve_swap(mesh, t);
    }
  }
}
