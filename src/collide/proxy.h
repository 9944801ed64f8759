// Linear collision proxies of high-order bodies [Ferguson2023] section 4.
//
// Contact sees a mesh of flat triangles whose vertices move with the finite-element nodes,
//   x_c = X_c + W (x - X),   forces f = W^T f_c,   Hessian W^T H_c W,
// so that straight steps of the nodes move the proxy on straight lines: collision detection and its
// guarantees stay valid. A vertex of the proxy belongs to a place xi in a tetrahedron, and its row
// of W holds the shape functions there; it need not be a node. Rows of one weight 1 copy the node.
// The followers made of W (linalg/followers.h) multiply by it and by its transpose.
#pragma once

#include "fem/space.h"
#include "linalg/followers.h"

typedef struct NoliProxy {
  int32_t n_vert;
  int32_t n_node;
  int32_t n_tri;
  double* X;      // (n_vert x 3) at rest
  int32_t* tri;   // (n_tri x 3) outward
  int64_t* row;   // (n_vert + 1)
  int32_t* node;  // (row[n_vert]) ascending in each row
  double* weight; // (row[n_vert])
} NoliProxy;

// A report on the placement of the vertices of a proxy in tetrahedra.
typedef struct NoliProxyReport {
  double largest_extrapolation; // most that a barycentric coordinate lies below 0
  int32_t extrapolated_vertex;  // where; NOLI_NULL_INDEX: nowhere
  double largest_distance;      // most that a vertex lies outside its tetrahedron, m
  int32_t distant_vertex;
  double largest_gap; // most that a place found in a curved tetrahedron misses the vertex by, m
  double largest_weight;
  int32_t n_outside; // vertices that lie in no tetrahedron
} NoliProxyReport;

// The boundary of the body, every face cut into `subdivision`^2 triangles, 1 or more, on its curved
// shape: section 4.1.1. Vertices on edges and faces are shared, so the proxy is watertight.
// Fails with NOLI_ERROR_ARGUMENT, NOLI_ERROR_TOO_LARGE, NOLI_ERROR_MEMORY; `*proxy` is empty then.
NOLI_WARN_UNUSED NoliStatus noli_proxy_from_boundary(NoliContext* context, const NoliSpace* space,
                                                     int32_t subdivision, NoliProxy* proxy);

// The subdivision that leaves no edge of the boundary longer than `length`, m, measured between the
// corners of its faces; the same for all faces of the body.
NOLI_WARN_UNUSED NoliStatus noli_proxy_subdivision(NoliContext* context, const NoliSpace* space,
                                                   double length, int32_t* subdivision);

// How far a given mesh may be from the body.
typedef struct NoliProxyLimits {
  double distance;      // m
  double extrapolation; // of barycentric coordinates; weights grow with its power of the order
} NoliProxyLimits;

// The triangles of any mesh, moved by the closest tetrahedra: section 4.1.2, algorithm 1. In
// straight tetrahedra barycentric coordinates, inside or outside; in curved ones the place xi that
// minimizes |X(xi) - X_c|, by Newton's method from several starts. Fails with NOLI_ERROR_ARGUMENT
// for a vertex beyond the limits (the message names the farthest) or bad indices,
// NOLI_ERROR_MEMORY; `*proxy` is empty then. `report` may be NULL; it is set also where a limit is
// exceeded.
NOLI_WARN_UNUSED NoliStatus noli_proxy_from_mesh(NoliContext* context, const NoliSpace* space,
                                                 const NoliMesh* mesh, NoliProxyLimits limits,
                                                 NoliProxy* proxy, NoliProxyReport* report);

// Where noli_proxy_from_mesh places vertices: tet (n_vert) and xi (n_vert x 3). Fails with
// NOLI_ERROR_ARGUMENT for a vertex beyond the limits, NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_proxy_locate(NoliContext* context, const NoliSpace* space,
                                              int32_t n_vert, const double* X,
                                              NoliProxyLimits limits, int32_t* tet, double* xi);

// The triangles of a mesh whose vertices have known places, `tet` (n_vert) and `xi` (n_vert x 3).
// Fails with NOLI_ERROR_ARGUMENT for values that are not finite or bad indices, NOLI_ERROR_MEMORY;
// `*proxy` is empty then.
NOLI_WARN_UNUSED NoliStatus noli_proxy_from_places(NoliContext* context, const NoliSpace* space,
                                                   const NoliMesh* mesh, const int32_t* tet,
                                                   const double* xi, NoliProxy* proxy);

// The proxy whose vertices are the nodes themselves, for linear bodies.
NOLI_WARN_UNUSED NoliStatus noli_proxy_identity(NoliContext* context, int32_t n_node,
                                                const double* X, int32_t n_tri, const int32_t* tri,
                                                NoliProxy* proxy);

// All bodies of a scene, one behind the other, nodes and vertices.
NOLI_WARN_UNUSED NoliStatus noli_proxy_join(NoliContext* context, int32_t n_part,
                                            const NoliProxy* const* part, NoliProxy* proxy);

void noli_proxy_destroy(NoliContext* context, NoliProxy* proxy);

// ---- followers

// The proxy as followers of its nodes (linalg/followers.h): vertices that copy a node become that
// node, the others follow. place (n_vert): the number of each vertex of the proxy among nodes and
// followers. Fails with NOLI_ERROR_TOO_LARGE, NOLI_ERROR_MEMORY; `*followers` is empty then.
NOLI_WARN_UNUSED NoliStatus noli_proxy_followers(NoliContext* context, const NoliProxy* proxy,
                                                 NoliFollowers* followers, int32_t* place);
