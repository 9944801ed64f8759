// Exact signs of determinants of coordinates: doubles with an error bound first, then integers of
// any length.
#pragma once

// Sign of the area of the triangle a, b, c projected along `axis`: the axes that follow it
// cyclically are the first and the second coordinate.
int noli_exact_orient2d(const double a[3], const double b[3], const double c[3], int axis);

// Sign of (b-a) . ((c-a) x (d-a)).
int noli_exact_orient3d(const double a[3], const double b[3], const double c[3], const double d[3]);

// Sign of normal . (x - origin): on which side of a plane, of which the doubles are what they say.
int noli_exact_plane_side(const double x[3], const double origin[3], const double normal[3]);
