// Exact signs of determinants of coordinates: doubles with an error bound first, then integers of
// any length.
#pragma once

#include <stdint.h>

// Sign of the area of the triangle a, b, c projected along `axis`: the axes that follow it
// cyclically are the first and the second coordinate.
int noli_exact_orient2d(const double a[3], const double b[3], const double c[3], int axis);

// Sign of (b-a) . ((c-a) x (d-a)).
int noli_exact_orient3d(const double a[3], const double b[3], const double c[3], const double d[3]);

// Sign of normal . (x - origin): the side of a plane. The doubles that define the plane are exact.
int noli_exact_plane_side(const double x[3], const double origin[3], const double normal[3]);

// Sign of the volume that closed triangles (n x 3, of vertices of x) enclose, positive where they
// look outward; with `size` 2 of the area in the plane of x and y that closed segments (n x 2)
// enclose, positive where it is on their left.
int noli_exact_enclosed_sign(const double* x, const int32_t* simplex, int64_t n, int size);
