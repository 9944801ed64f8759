// Areas at rest with which surfaces are sampled: for adhesion, and for convergent contact.
#pragma once

#include "collide/surface.h"

// How the surfaces of bodies are sampled: areas at rest. Facets are triangles, then segments.
typedef struct NoliSampling {
  double* facet; // (n_tri + n_edge) m^2, for each vertex: a third of a triangle; half of a segment
                 // that belongs to none: its length times the depth of the plane, or the width of
                 // the rod; 0 of others
  double* point; // (n_body) m^2, of each vertex that stands alone
  double* all;   // (n_body) m^2, of the whole surface
  bool* one_sided;    // (n_body) its surface has an inside, and the normals point outwards
  int64_t* first;     // (n_vert + 1) facets of vertices, in rows
  int32_t* of_vertex; // the rows
} NoliSampling;

void noli_sampling_free(NoliContext* context, NoliSampling* sampling);

// Fills `first` and `of_vertex` from `facet`: triangles, then segments that have an area, ascending
// in each row. Fails with NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_sampling_list_facets(NoliContext* context,
                                                      const NoliSurface* surface,
                                                      NoliSampling* sampling);
