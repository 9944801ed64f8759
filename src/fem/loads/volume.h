// Closed regions that resist a change of their volume: balls filled with air or water, soft tissue.
//
// The energy is scale W(V) for each region, V = (1/6) sum det(x_a, x_b, x_c) over the triangles of
// its surface, which face outward. It is not a sum over stencils, because V depends on the whole
// surface, but it fits the interface of energy terms: `prepare` computes V first, and with it
//   gradient  W' dV        a sum over the edges of the surface,
//   Hessian   W' d2V       a sum over the edges: the couplings of their two nodes,
//           + W'' dV dV^T  rank one and dense: src/linalg/low_rank.h.
// For an edge (a, b) with the triangles (a, b, c) and (b, a, d), d2V has the block [x_d - x_c]x / 6
// at (a, b) and zero diagonal blocks: half of its eigenvalues are negative. The projected Hessian
// omits it. With the positive half for each edge, a pinched ball of water took 19 Newton iterations
// per step instead of 11, and squeezed or inflated balls also took more.
#pragma once

#include "fem/loads/volume_law.h"
#include "linalg/energy_term.h"

typedef struct NoliVolumeRegion {
  int32_t body;
  NoliVolumeLaw law;
  int64_t tri_first, tri_end;
  int64_t edge_first, edge_end;
} NoliVolumeRegion;

// All regions; constant.
typedef struct NoliVolumes {
  int32_t n_region;
  NoliVolumeRegion* region;
  int64_t n_tri;
  int32_t* tri; // (n_tri x 3) vertices
  int64_t n_edge;
  int32_t* node;        // (n_edge x 2) a, b
  int32_t* across;      // (n_edge x 2) c, d
  int32_t* edge_region; // (n_edge)
  int64_t region_capacity, tri_capacity;
  int64_t node_capacity, across_capacity, edge_region_capacity;
} NoliVolumes;

// A region at one x.
typedef struct NoliVolumeState {
  double volume;    // m^3
  double energy;    // W, J
  double pressure;  // -W', Pa
  double stiffness; // W'', Pa/m^3
} NoliVolumeState;

typedef struct NoliVolume {
  const NoliVolumes* regions;
  double scale;           // h_e^2
  NoliVolumeState* state; // (n_region) at the x of the last `prepare`
} NoliVolume;

// Appends the region inside the n_tri triangles `tri`, vertices of X (n_vert x 3), which must be
// closed and face outward. law->rest receives its volume. `name` prefixes messages. Fails with
// NOLI_ERROR_ARGUMENT if the two sides of an edge have different numbers of triangles or the volume
// is not positive; NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_volumes_add(NoliVolumes* volumes, NoliContext* context,
                                             const char* name, int32_t body, NoliVolumeLaw law,
                                             const int32_t* tri, int32_t n_tri, int32_t n_vert,
                                             const double* X);
void noli_volumes_free(NoliContext* context, NoliVolumes* volumes);

// Volume inside n_tri triangles at x; accurate even far from the origin.
double noli_volume_inside(const int32_t* tri, int64_t n_tri, const double* x, int32_t n_threads);

// States of all regions at x.
void noli_volume_states(const NoliVolumes* volumes, const double* x, int32_t n_threads,
                        NoliVolumeState* state);

// Adds dV of one region to `gradient` (n_vert x 3).
void noli_volume_add_gradient(const NoliVolumes* volumes, int32_t region, const double* x,
                              double* gradient);

// Stencils of 2 nodes, the edges. `data` is borrowed. The matrix lacks the terms of rank one.
NoliEnergyTerm noli_volume_term(const NoliVolume* data);

// Reference for rounding errors of the energy: sum of scale |W'| V over the regions.
double noli_volume_magnitude(const NoliVolume* data);
