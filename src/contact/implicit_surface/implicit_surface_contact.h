// Contacts of vertices with smooth implicit surfaces, [Larionov2024] III-B: all d(p) < delta, for
// every vertex p of a deformable body and every body or half-space that it may touch, its own body
// included. contact/implicit_surface/implicit_surface_penalty.h has their potential.
//
// This contact model gives no guarantees: there is no barrier, and only vertices are tested. A
// vertex that penetrates a surface by less than the radius of the surface is pushed out again; one
// that penetrates deeper is lost; one that passes through a thin part may be pushed out on the
// other side. Edges may cross between vertices.
//
// The surface seen from p consists of the triangles whose centroid is closer than the radius and
// whose normal is within 120 degrees of that of the triangle closest to p: the sheet at p. Thus the
// back of a plate does not cancel its front; at ridges sharper than that, d jumps.
//
// A vertex touches only those parts of its own body that face it: the outward normals of the vertex
// and of the closest triangle enclose more than 90 degrees. Triangles that are closer than twice
// the radius at rest are its neighbourhood, which elasticity keeps apart, unless they already face
// it across a gap there.
//
// Open sheets have no inside: their vertices are tested, but their surface is not.
#pragma once

#include "base/array.h"
#include "contact/contact_set.h"
#include "contact/implicit_surface/implicit_surface.h"

// The constant data: the surfaces, their radii, and the trees to search them.
typedef struct NoliImplicitSurfaceSearch NoliImplicitSurfaceSearch;

// `still` (n_body): obstacles, whose vertices are not tested. `sheet` (n_body): open sheets, whose
// surface is not; NULL: there are none. `radius` in m; 0: chosen for each
// body, twice the mean edge, at least 1.5 times the largest distance of a vertex from the centroid
// of its triangle, and at least twice delta. X (n_vert x 3) are the rest positions. What is passed
// is borrowed, but for `colliders` itself, and must outlive the search.
NOLI_WARN_UNUSED NoliStatus noli_implicit_surface_search_create(
    NoliContext* context, const NoliColliders* colliders, const double* X, const bool* still,
    const bool* sheet, double radius, double delta, NoliImplicitSurfaceSearch** search);
void noli_implicit_surface_search_destroy(NoliImplicitSurfaceSearch** owner);

// Radius of the surface of a body, m; 0 if nothing touches it.
double noli_implicit_surface_search_radius(const NoliImplicitSurfaceSearch* search, int32_t body);

// The half-space that an entity number denotes.
const NoliHalfSpace*
noli_implicit_surface_search_half_space(const NoliImplicitSurfaceSearch* search, int32_t entity);

typedef struct NoliImplicitSurfaceContact {
  int32_t point;      // vertex
  int32_t entity[2];  // its body; the body or half-space that it touches
  int32_t n_triangle; // 0: a half-space
  int64_t first;      // of its triangles in the list
  bool ended;         // was kept until no triangle was in range, and no longer acts
  double d;           // m, at the positions the set was built for
} NoliImplicitSurfaceContact;

typedef struct NoliImplicitSurfaceContactSet {
  NOLI_ARRAY(NoliImplicitSurfaceContact) contact; // sorted by vertex, then entity
  NOLI_ARRAY(int32_t) triangle;                   // of all patches, ascending in each
  NOLI_ARRAY(int32_t) corner;                     // (triangle.count x 3) nodes of the patch
  NOLI_ARRAY(int32_t) node;  // of all patches: the vertex, then those of the triangles
  NOLI_ARRAY(int64_t) first; // (contact.count + 1) nodes of patch c: [c], [c + 1)
  // stencils of the energy term: complete patches, or the vertex alone if the surface is an
  // obstacle
  NOLI_ARRAY(int32_t) stencil_node;
  NOLI_ARRAY(int64_t) stencil_first;
  NOLI_ARRAY(int64_t) stencil_block;
  double min_d; // INFINITY when empty
  // scratch
  NOLI_ARRAY(int32_t) n_contact;     // (surface->n_point)
  NOLI_ARRAY(int64_t) first_contact; // (surface->n_point)
  NOLI_ARRAY(int32_t) n_triangle;    // (surface->n_point)
  NOLI_ARRAY(int64_t) first_triangle;
  NOLI_ARRAY(int32_t) vertex; // (triangle.count x 3) vertices of each patch, each once
  NOLI_ARRAY(int32_t) n_vertex;
  NOLI_ARRAY(NoliPatchNode) part; // (node.count) for Jacobians of friction
} NoliImplicitSurfaceContactSet;

void noli_implicit_surface_contacts_free(NoliContext* context, NoliImplicitSurfaceContactSet* set);

// Replaces the set by all contacts at x (n_vert x 3) with d < delta. `whole`: the stencils of the
// term include obstacles. Depends on x alone, not on the number of threads.
NOLI_WARN_UNUSED NoliStatus noli_implicit_surface_contacts_build(NoliImplicitSurfaceContactSet* set,
                                                                 NoliImplicitSurfaceSearch* search,
                                                                 const double* x, double delta,
                                                                 bool whole, int32_t n_threads);

// Replaces the set by the contacts of another set with their triangles, regardless of their
// distance at x: while triangles stay the same, d does not jump. A contact ends for good once none
// of its triangles is in range. `others`: adds contacts of other vertices, or of the same ones with
// other surfaces, if d < delta.
NOLI_WARN_UNUSED NoliStatus noli_implicit_surface_contacts_keep(
    NoliImplicitSurfaceContactSet* set, NoliImplicitSurfaceSearch* search, const double* x,
    double delta, const NoliImplicitSurfaceContactSet* kept, bool others, bool whole,
    int32_t n_threads);

// The patch of contact c at x.
NoliPatch noli_implicit_surface_contact_patch(const NoliImplicitSurfaceContactSet* set,
                                              const NoliImplicitSurfaceSearch* search,
                                              const double* x, int64_t c);

// Smallest distance of the contacts that a stiffer penalty can open, those with a free node in
// their stencil; INFINITY without any. `dof` (n_vert).
double noli_surface_deepest(const NoliImplicitSurfaceContactSet* set, const int32_t* dof);
