// Distances of primitives for the audit: the smallest one over all pairs of features, each by the
// formula of textbooks, in numbers with more digits than a double where the machine has them. It
// shares nothing with closest.h, and is several times slower.
#pragma once

// Vertices as rows: a point and a triangle (p, t0, t1, t2), or two segments (a0, a1, b0, b1).
long double noli_plain_distance_point_triangle(const double* const x[4]);
long double noli_plain_distance_edge_edge(const double* const x[4]);
