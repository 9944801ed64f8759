// The collision surface of a scene: primitives by body, with global vertex indices.
#pragma once

#include "base/context.h"

// Volumes contribute their boundary triangles, their edges and vertices; obstacles theirs, with
// segments and points that stand alone; bodies in a plane bring their boundary segments.
// Point-triangle and edge-edge pairs see every contact before primitives cross; owned by the model.
// Where both sides are segments that stand alone, contact also needs their ends (point_edge.h).
typedef struct NoliSurface {
  int32_t n_body;
  int32_t n_vert; // all vertices of the scene, including inner ones and followers
  int32_t n_tri;
  int32_t n_edge;
  int32_t n_point;
  int32_t* tri;         // (n_tri x 3)
  int32_t* edge;        // (n_edge x 2) edges of triangles and lone segments, each once
  int32_t* point;       // (n_point) every vertex on the surface
  int32_t* tri_first;   // (n_body + 1) triangles of body b: [tri_first[b], tri_first[b+1])
  int32_t* edge_first;  // (n_body + 1)
  int32_t* point_first; // (n_body + 1)
  int32_t* body;        // (n_vert) body of each vertex
  bool* planar;         // (n_body) whether the body lies in a plane z = const, and stays there
  bool* reversed;       // (n_edge) of bodies in planes: the body is on the left of the way
                        // from the second vertex to the first; false elsewhere
  bool* covered;        // (n_edge) whether an edge belongs to a triangle; NULL: there are no edges
                        // of zero length, see NoliSurfaceParts
  int64_t* lone_first;  // (n_vert + 1) edges of no triangle, by vertex, in rows; NULL: there
  int32_t* lone;        // are none
  double* offset;       // (n_body) m, >= 0: contact acts on the surfaces this far outside of the
                        // primitives, on either side; NULL: 0 for all

  // bodies that are tied together: vertices that touch, in rows, ascending; NULL: there are none
  int64_t* attached_first; // (n_vert + 1)
  int32_t* attached;

  struct NoliFlat* flat; // flat parts of obstacles, collide/flat.h; NULL: there are none, or
                         // they do not count
} NoliSurface;

// How far apart primitives of two bodies are where their offset surfaces touch, m.
static inline double noli_surface_offset(const NoliSurface* surface, int32_t a, int32_t b) {
  return surface->offset != NULL ? surface->offset[a] + surface->offset[b] : 0.0;
}

// The same for a body and a half-space.
static inline double noli_surface_offset_of(const NoliSurface* surface, int32_t body) {
  return surface->offset != NULL ? surface->offset[body] : 0.0;
}

// The largest coordinate of vertices of the surface at x (n_vert x 3), NaN if one is not finite.
double noli_surface_largest_coordinate(const NoliSurface* surface, const double* x);

// Vertices of an edge: 1 of lone points, which are edges of zero length where NoliSurfaceParts asks
// for it, otherwise 2.
static inline int32_t noli_surface_edge_size(const int32_t edge[2]) {
  return edge[0] == edge[1] ? 1 : 2;
}

// Whether a tie holds two vertices together: primitives that contain one each touch at all times,
// like primitives with a common vertex, and are no pair.
static inline bool noli_surface_is_attached(const NoliSurface* surface, int32_t a, int32_t b) {
  for (int64_t k = surface->attached_first[a]; k < surface->attached_first[a + 1]; k++) {
    if (surface->attached[k] == b) {
      return true;
    }
  }
  return false;
}

// The same for the vertices of two primitives.
static inline bool noli_surface_are_attached(const NoliSurface* surface, int32_t n_a,
                                             const int32_t* a, int32_t n_b, const int32_t* b) {
  for (int32_t i = 0; surface->attached_first != NULL && i < n_a * n_b; i++) {
    if (noli_surface_is_attached(surface, a[i / n_b], b[i % n_b])) {
      return true;
    }
  }
  return false;
}

// Whether an edge with the end v belongs to no triangle.
static inline bool noli_surface_is_lone(const NoliSurface* surface, int32_t v, int32_t edge) {
  for (int64_t k = surface->lone_first[v]; k < surface->lone_first[v + 1]; k++) {
    if (surface->lone[k] == edge) {
      return true;
    }
  }
  return false;
}

// Whether contact of two bodies happens in a plane, between vertices and segments: one of them lies
// there, and the other one has no triangles.
static inline bool noli_surface_is_planar(const NoliSurface* surface, int32_t a, int32_t b) {
  return (surface->planar[a] || surface->planar[b]) &&
         surface->tri_first[a] == surface->tri_first[a + 1] &&
         surface->tri_first[b] == surface->tri_first[b + 1];
}

// The edge of body `body` between two of its vertices, which must be there.
static inline int32_t noli_surface_edge(const NoliSurface* surface, int32_t body, int32_t p,
                                        int32_t q) {
  int32_t low = p < q ? p : q, high = p < q ? q : p;
  int32_t begin = surface->edge_first[body], end = surface->edge_first[body + 1];
  while (end - begin > 1) {
    int32_t middle = begin + (end - begin) / 2;
    const int32_t* edge = &surface->edge[2 * (int64_t)middle];
    bool after = edge[0] > low || (edge[0] == low && edge[1] > high);
    *(after ? &end : &begin) = middle;
  }
  return begin;
}

// The surface of one body, with vertex indices local to the body. Absent parts are 0 and NULL.
typedef struct NoliSurfaceParts {
  int32_t n_tri;
  int32_t n_edge;
  int32_t n_point;
  const int32_t* tri;   // (n_tri x 3)
  const int32_t* edge;  // (n_edge x 2) segments that stand alone; the edges of triangles are found
  const int32_t* point; // (n_point) vertices that stand alone
  // Lone points become edges of zero length, too, so that pairs of edges are all pairs of points
  // and segments: in scenes of rods and free points. With edges of triangles they are no pairs,
  // because pairs of points and triangles represent them.
  bool points_are_edges;
  bool planar; // a body in a plane z = const; its segments are its boundary, with the
               // body on their left
} NoliSurfaceParts;

// Builds the surface of `n_body` bodies; body b has the vertices [vert_first[b], vert_first[b+1]).
// Edges are (lower, higher) vertex, each once, sorted within a body; points ascend within a body.
// Fails with NOLI_ERROR_ARGUMENT when a part names a vertex its body lacks, or one vertex twice.
NOLI_WARN_UNUSED NoliStatus noli_surface_create(NoliContext* context, int32_t n_body,
                                                const int32_t* vert_first,
                                                const NoliSurfaceParts* parts,
                                                NoliSurface** surface);

// The same for bodies some of whose vertices follow others (linalg/followers.h): those of body b,
// which parts number behind its own, are [follower_first[b], follower_first[b + 1]), and
// follower_first[0] is vert_first[n_body].
NOLI_WARN_UNUSED NoliStatus noli_surface_create_with_followers(NoliContext* context, int32_t n_body,
                                                               const int32_t* vert_first,
                                                               const int32_t* follower_first,
                                                               const NoliSurfaceParts* parts,
                                                               NoliSurface** surface);
// Attaches n pairs of vertices (2 x n), in any order and as often as they are named, to a surface
// without attached vertices.
NOLI_WARN_UNUSED NoliStatus noli_surface_attach(NoliContext* context, NoliSurface* surface,
                                                int64_t n, const int32_t* pair);
void noli_surface_destroy(NoliContext* context, NoliSurface** surface);

// Copies the offsets of the bodies (n_body), m, >= 0 and finite; it keeps none if all are 0.
NOLI_WARN_UNUSED NoliStatus noli_surface_set_offsets(NoliContext* context, NoliSurface* surface,
                                                     const double* offset);

// Validator (base/validate.h).
const char* noli_surface_defect(const NoliSurface* surface);
