// A given triangle mesh moved by the closest tetrahedra of a body [Ferguson2023] algorithm 1.
//
// The distance to a curved tetrahedron is measured from the vertex to the place found by Newton's
// method, moved into the element. With a tree over the boxes of the elements only a few of them are
// examined; boxes of curved ones are widened by how far their nodes are from the straight
// tetrahedron. Where several elements are equally far, as around a vertex of the body, the one that
// has to be extended least is taken: small extrapolation keeps weights small.
#include "base/parallel.h"
#include "collide/bvh.h"
#include "collide/closest.h"
#include "collide/proxy_build.h"
#include "mesh/topology.h"

#include <string.h>

enum { VERTICES_PER_BLOCK = 64, NEWTON_MAX = 40, STARTS = 6 };

// Where a vertex lies in a tetrahedron.
typedef struct Place {
  int32_t tet;
  double xi[3];
  double distance;      // outside the tetrahedron
  double gap;           // |X(xi) - vertex|
  double extrapolation; // how far below 0 a barycentric coordinate is
} Place;

typedef struct Search {
  const NoliSpace* space;
  const double* X; // of the vertices
  NoliForest forest;
  double* bulge;    // (n_tet) how far curved nodes lie from the straight tetrahedron, with room
  double tolerance; // differences of distances that do not count
  Place* place;     // (n vertices)
} Search;

static double extrapolation(const double xi[3]) {
  double least = fmin(fmin(xi[0], xi[1]), fmin(xi[2], 1.0 - xi[0] - xi[1] - xi[2]));
  return least < 0.0 ? -least : 0.0;
}

// Barycentric coordinates below 0 are cut off, the others shrunk to the sum 1.
static void move_inside(const double xi[3], double inside[3]) {
  double rest = fmax(0.0, 1.0 - xi[0] - xi[1] - xi[2]), sum = rest;
  for (int k = 0; k < 3; k++) {
    inside[k] = fmax(0.0, xi[k]);
    sum += inside[k];
  }
  for (int k = 0; k < 3; k++) {
    inside[k] /= sum;
  }
}

// ---- straight tetrahedra

static void corners(const NoliSpace* space, int32_t tet, NoliVec3 x[4]) {
  for (int k = 0; k < 4; k++) {
    x[k] = noli_load3(space->shape_X + 3 * ((int64_t)tet * space->n_shape + k));
  }
}

// Affine coordinates of p and its distance from the straight tetrahedron.
static double locate_straight(const NoliVec3 x[4], NoliVec3 p, double xi[3]) {
  NoliMat3 sides =
      noli_columns33(noli_sub3(x[1], x[0]), noli_sub3(x[2], x[0]), noli_sub3(x[3], x[0]));
  NoliMat3 inverse = noli_inverse33(&sides);
  noli_store3(xi, noli_mul33_vec(&inverse, noli_sub3(p, x[0])));
  if (!(extrapolation(xi) > 0.0)) {
    return 0.0;
  }
  double least = (double)INFINITY;
  for (int f = 0; f < 4; f++) {
    const int32_t* face = noli_tet_face[f];
    const NoliVec3 pair[4] = {p, x[face[0]], x[face[1]], x[face[2]]};
    least = fmin(least, noli_distance_sqr_point_triangle(pair));
  }
  return sqrt(least);
}

// ---- curved tetrahedra

// Newton's method for X(xi) = p, steps halved until the distance falls. Returns the distance left.
static double newton(const NoliSpace* space, int32_t tet, NoliVec3 p, double goal, double xi[3]) {
  NoliVec3 way = noli_sub3(noli_space_position(space, tet, xi), p);
  for (int iteration = 0; iteration < NEWTON_MAX && noli_norm3(way) > goal; iteration++) {
    NoliMat3 dxdxi = noli_space_dxdxi(space, tet, xi);
    NoliMat3 inverse = noli_inverse33(&dxdxi);
    NoliVec3 step = noli_scale3(-1.0, noli_mul33_vec(&inverse, way));
    if (!noli_is_finite3(step)) {
      break;
    }
    double length = noli_norm3(step), alpha = length > 0.5 ? 0.5 / length : 1.0;
    bool better = false;
    for (int halving = 0; halving < 12 && !better; halving++, alpha *= 0.5) {
      const double next[3] = {xi[0] + alpha * step.x, xi[1] + alpha * step.y,
                              xi[2] + alpha * step.z};
      NoliVec3 left = noli_sub3(noli_space_position(space, tet, next), p);
      if (noli_norm3(left) < noli_norm3(way)) {
        memcpy(xi, next, 3 * sizeof *xi);
        way = left;
        better = true;
      }
    }
    if (!better) {
      break;
    }
  }
  return noli_norm3(way);
}

// The best of several starts: the straight coordinates, the middle, near the corners. Once a place
// is found that is barely outside, no further start is tried.
static Place locate_curved(const Search* search, int32_t tet, NoliVec3 p,
                           const double straight[3]) {
  static const double starts[STARTS][3] = {{0.0, 0.0, 0.0}, {0.25, 0.25, 0.25}, {0.1, 0.1, 0.1},
                                           {0.7, 0.1, 0.1}, {0.1, 0.7, 0.1},    {0.1, 0.1, 0.7}};
  Place best = {.tet = tet, .gap = (double)INFINITY, .extrapolation = (double)INFINITY};

  for (int s = 0; s < STARTS; s++) {
    Place place = {.tet = tet};
    memcpy(place.xi, s == 0 ? straight : starts[s], sizeof place.xi);
    place.gap = newton(search->space, tet, p, search->tolerance, place.xi);
    place.extrapolation = extrapolation(place.xi);
    bool found = place.gap <= search->tolerance, before = best.gap <= search->tolerance;
    if (found ? !before || place.extrapolation < best.extrapolation
              : !before && place.gap < best.gap) {
      best = place;
    }
    if (found && place.extrapolation < 0.1) {
      break;
    }
  }

  double inside[3];
  move_inside(best.xi, inside);
  NoliVec3 reached = noli_space_position(search->space, tet, inside);
  best.distance = best.extrapolation > 1e-9 ? noli_norm3(noli_sub3(reached, p)) : 0.0;
  best.distance = fmax(best.distance, best.gap > search->tolerance ? best.gap : 0.0);
  return best;
}

// ---- search

static void offer(const Search* search, const Place* place, Place* best) {
  bool nearer = place->distance < best->distance - search->tolerance;
  bool as_near = place->distance <= best->distance + search->tolerance;
  double gain = best->extrapolation - place->extrapolation;
  if (best->tet < 0 || nearer ||
      (as_near && (gain > 1e-12 || (gain > -1e-12 && place->tet < best->tet)))) {
    *best = *place;
  }
}

static void look_at(const Search* search, int32_t tet, NoliVec3 p, Place* best) {
  NoliVec3 x[4];
  Place place = {.tet = tet};
  corners(search->space, tet, x);
  place.distance = locate_straight(x, p, place.xi);
  place.extrapolation = extrapolation(place.xi);
  if (place.distance - search->bulge[tet] > best->distance + search->tolerance) {
    return;
  }
  if (search->space->geometry_order > 1) {
    const double straight[3] = {place.xi[0], place.xi[1], place.xi[2]};
    place = locate_curved(search, tet, p, straight);
  }
  offer(search, &place, best);
}

static void proxy_mesh_locate(const Search* search, NoliVec3 p, Place* best) {
  const NoliForest* forest = &search->forest;
  int32_t stack[64], n_stack = 0;
  *best = (Place){
      .tet = NOLI_NULL_INDEX, .distance = (double)INFINITY, .extrapolation = (double)INFINITY};
  stack[n_stack++] = forest->root[0];

  while (n_stack > 0) {
    int32_t n = stack[--n_stack];
    const NoliNode* node = &forest->node[n];
    if (noli_box_distance(&forest->box[n], p) > best->distance + search->tolerance) {
      continue;
    }
    if (node->child == NOLI_NULL_INDEX) {
      for (int32_t k = node->begin; k < node->end; k++) {
        look_at(search, forest->item[k], p, best);
      }
      continue;
    }
    // the nearer child comes first
    int32_t child = node->child;
    bool swap =
        noli_box_distance(&forest->box[child], p) > noli_box_distance(&forest->box[child + 1], p);
    stack[n_stack++] = swap ? child : child + 1;
    stack[n_stack++] = swap ? child + 1 : child;
  }
}

static void locate_range(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const Search* search = user;
  for (int64_t v = begin; v < end; v++) {
    proxy_mesh_locate(search, noli_load3(search->X + 3 * v), &search->place[v]);
  }
}

// How far the curved nodes of a tetrahedron lie from where a straight one has them, and half as
// much again, because the shape may bulge between its nodes.
static double find_bulge(const NoliSpace* space, int64_t tet, int32_t lattice[][4]) {
  const double* X = space->shape_X + 3 * tet * space->n_shape;
  double most = 0.0;
  for (int32_t b = 4; b < space->n_shape; b++) {
    NoliVec3 straight = noli_vec3(0.0, 0.0, 0.0);
    for (int k = 0; k < 4; k++) {
      straight = noli_mul_add3(straight, (double)lattice[b][k] / space->geometry_order,
                               noli_load3(X + 3 * k));
    }
    most = fmax(most, noli_norm3(noli_sub3(straight, noli_load3(X + 3 * b))));
  }
  return 1.5 * most;
}

static NoliBox tet_box(const Search* search, int32_t tet) {
  NoliVec3 x[4];
  NoliBox box = {{0.0f}, {0.0f}};
  corners(search->space, tet, x);
  double room = search->bulge[tet] + search->tolerance;
  for (int k = 0; k < 3; k++) {
    double lo = (double)INFINITY, hi = -(double)INFINITY;
    for (int c = 0; c < 4; c++) {
      double at = k == 0 ? x[c].x : k == 1 ? x[c].y : x[c].z;
      lo = fmin(lo, at);
      hi = fmax(hi, at);
    }
    box.lo[k] = noli_box_below(lo - room);
    box.hi[k] = noli_box_above(hi + room);
  }
  return box;
}

static NoliStatus make_search(NoliContext* context, Search* search) {
  NoliStatus status = NOLI_OK;
  const NoliSpace* space = search->space;
  const int32_t item_first[2] = {0, space->n_tet};
  NoliBox* box = NULL;
  float* centre = NULL;
  int32_t lattice[NOLI_TET_NODES_MAX][4];
  double size = 0.0;
  noli_tet_lattice(space->geometry_order, lattice);
  NOLI_TRY(noli_forest_create(context, 1, item_first, &search->forest));
  NOLI_NEW(context, search->bulge, space->n_tet);
  NOLI_NEW(context, box, space->n_tet);
  NOLI_NEW(context, centre, 3 * (int64_t)space->n_tet);

  // what counts as the same distance
  for (int64_t i = 0; i < 3 * (int64_t)space->n_node; i++) {
    size = fmax(size, fabs(space->X[i] - space->X[i % 3]));
  }
  search->tolerance = 1e-12 * size;

  // a tree over the boxes of the tetrahedra
  for (int32_t t = 0; t < space->n_tet; t++) {
    search->bulge[t] = find_bulge(space, t, lattice);
    NoliBox b = tet_box(search, t);
    for (int k = 0; k < 3; k++) {
      centre[3 * (int64_t)t + k] = 0.5f * (b.lo[k] + b.hi[k]);
    }
  }
  noli_forest_arrange(&search->forest, centre);
  for (int32_t k = 0; k < space->n_tet; k++) {
    box[k] = tet_box(search, search->forest.item[k]);
  }
  noli_forest_refit(&search->forest, box);
done:
  noli_free(context, box);
  noli_free(context, centre);
  return status;
}

// ---- the proxy

static NoliProxyReport no_report(void) {
  return (NoliProxyReport){.extrapolated_vertex = NOLI_NULL_INDEX,
                           .distant_vertex = NOLI_NULL_INDEX};
}

// All but the weights.
static NoliProxyReport report_places(const Search* search, int32_t n_vert) {
  NoliProxyReport report = no_report();
  for (int32_t v = 0; v < n_vert; v++) {
    const Place* place = &search->place[v];
    if (place->extrapolation > report.largest_extrapolation) {
      report.largest_extrapolation = place->extrapolation;
      report.extrapolated_vertex = v;
    }
    if (place->distance > report.largest_distance) {
      report.largest_distance = place->distance;
      report.distant_vertex = v;
    }
    report.largest_gap = fmax(report.largest_gap, place->gap);
    report.n_outside += place->distance > search->tolerance;
  }
  return report;
}

static double largest_weight(const NoliProxy* proxy) {
  double largest = 0.0;
  for (int64_t k = 0; k < proxy->row[proxy->n_vert]; k++) {
    largest = fmax(largest, fabs(proxy->weight[k]));
  }
  return largest;
}

static NoliStatus check_limits(NoliContext* context, const double* X, NoliProxyLimits limits,
                               const NoliProxyReport* report) {
  NoliStatus status = NOLI_OK;
  int64_t far = report->distant_vertex, out = report->extrapolated_vertex;
  NOLI_CHECK(context, report->largest_distance <= limits.distance, NOLI_ERROR_ARGUMENT,
             "vertex %lld of the collision mesh at (%g, %g, %g) is %g m away from the body, more "
             "than %g m (%d vertices lie outside)",
             (long long)far, X[3 * far], X[3 * far + 1], X[3 * far + 2], report->largest_distance,
             limits.distance, report->n_outside);
  NOLI_CHECK(context, report->largest_extrapolation <= limits.extrapolation, NOLI_ERROR_ARGUMENT,
             "vertex %lld of the collision mesh at (%g, %g, %g) is %g elements outside of its "
             "tetrahedron, more than %g",
             (long long)out, X[3 * out], X[3 * out + 1], X[3 * out + 2],
             report->largest_extrapolation, limits.extrapolation);
done:
  return status;
}

static NoliStatus check_vertices(NoliContext* context, const NoliSpace* space, int32_t n_vert,
                                 const double* X) {
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(context, space->n_tet > 0, NOLI_ERROR_ARGUMENT,
             "a body without tetrahedra cannot move a collision mesh");
  for (int64_t i = 0; i < 3 * (int64_t)n_vert; i++) {
    NOLI_CHECK(context, isfinite(X[i]), NOLI_ERROR_ARGUMENT,
               "vertex %lld of the collision mesh is not finite", (long long)(i / 3));
  }
done:
  return status;
}

static NoliStatus check_triangles(NoliContext* context, int32_t n_vert, int32_t n_tri,
                                  const int32_t* tri) {
  NoliStatus status = NOLI_OK;
  for (int64_t i = 0; i < 3 * (int64_t)n_tri; i++) {
    NOLI_CHECK(context, tri[i] >= 0 && tri[i] < n_vert, NOLI_ERROR_ARGUMENT,
               "triangle %lld of the collision mesh names vertex %d, but there are %d",
               (long long)(i / 3), tri[i], n_vert);
  }
done:
  return status;
}

static NoliStatus check_places(NoliContext* context, const NoliSpace* space, int32_t n_vert,
                               const int32_t* tet, const double* xi) {
  NoliStatus status = NOLI_OK;
  for (int64_t v = 0; v < n_vert; v++) {
    NOLI_CHECK(context, tet[v] >= 0 && tet[v] < space->n_tet, NOLI_ERROR_ARGUMENT,
               "vertex %lld of the collision mesh is carried by tetrahedron %d, but there are %d",
               (long long)v, tet[v], space->n_tet);
    NOLI_CHECK(context, isfinite(xi[3 * v]) && isfinite(xi[3 * v + 1]) && isfinite(xi[3 * v + 2]),
               NOLI_ERROR_ARGUMENT, "the place of vertex %lld of the collision mesh is not finite",
               (long long)v);
  }
done:
  return status;
}

// Places all vertices; no limit is checked.
static NoliStatus locate_all(NoliContext* context, const NoliSpace* space, int32_t n_vert,
                             const double* X, int32_t* tet, double* xi, NoliProxyReport* report) {
  NoliStatus status = NOLI_OK;
  Search search = {.space = space, .X = X};
  *report = no_report();
  NOLI_TRY(check_vertices(context, space, n_vert, X));
  NOLI_TRY(make_search(context, &search));
  NOLI_NEW(context, search.place, n_vert);
  noli_parallel_for(noli_context_threads(context), n_vert, VERTICES_PER_BLOCK, locate_range,
                    &search);
  for (int64_t v = 0; v < n_vert; v++) {
    tet[v] = search.place[v].tet;
    memcpy(xi + 3 * v, search.place[v].xi, 3 * sizeof *xi);
  }
  *report = report_places(&search, n_vert);
done:
  noli_forest_release(context, &search.forest);
  noli_free(context, search.bulge);
  noli_free(context, search.place);
  return status;
}

NoliStatus noli_proxy_locate(NoliContext* context, const NoliSpace* space, int32_t n_vert,
                             const double* X, NoliProxyLimits limits, int32_t* tet, double* xi) {
  NoliStatus status = NOLI_OK;
  NoliProxyReport report;
  NOLI_TRY(locate_all(context, space, n_vert, X, tet, xi, &report));
  NOLI_TRY(check_limits(context, X, limits, &report));
done:
  return status;
}

NoliStatus noli_proxy_from_places(NoliContext* context, const NoliSpace* space,
                                  const NoliMesh* mesh, const int32_t* tet, const double* xi,
                                  NoliProxy* proxy) {
  NoliStatus status = NOLI_OK;
  int32_t n_vert = mesh->n_vert, n_tri = mesh->n_tri;
  *proxy = (NoliProxy){0};
  NOLI_TRY(check_vertices(context, space, n_vert, mesh->x));
  NOLI_TRY(check_triangles(context, n_vert, n_tri, mesh->tri));
  NOLI_TRY(check_places(context, space, n_vert, tet, xi));
  NOLI_TRY(noli_proxy_begin(context, space, n_vert, n_tri, proxy));
  memcpy(proxy->X, mesh->x, 3 * (size_t)n_vert * sizeof *mesh->x);
  if (n_tri > 0) {
    memcpy(proxy->tri, mesh->tri, 3 * (size_t)n_tri * sizeof *mesh->tri);
  }
  for (int32_t v = 0; v < n_vert; v++) {
    noli_proxy_set_row(space, tet[v], xi + 3 * (int64_t)v, v, proxy);
  }
done:
  if (status != NOLI_OK) {
    noli_proxy_destroy(context, proxy);
  }
  return status;
}

NoliStatus noli_proxy_from_mesh(NoliContext* context, const NoliSpace* space, const NoliMesh* mesh,
                                NoliProxyLimits limits, NoliProxy* proxy, NoliProxyReport* report) {
  NoliStatus status = NOLI_OK;
  NoliProxyReport own;
  int32_t* tet = NULL;
  double* xi = NULL;
  report = report != NULL ? report : &own;
  *report = no_report();
  *proxy = (NoliProxy){0};
  NOLI_TRY(check_triangles(context, mesh->n_vert, mesh->n_tri, mesh->tri));
  NOLI_NEW(context, tet, mesh->n_vert);
  NOLI_NEW(context, xi, 3 * (int64_t)mesh->n_vert);
  NOLI_TRY(locate_all(context, space, mesh->n_vert, mesh->x, tet, xi, report));
  NOLI_TRY(noli_proxy_from_places(context, space, mesh, tet, xi, proxy));

  // is it close enough to the body?
  report->largest_weight = largest_weight(proxy);
  NOLI_TRY(check_limits(context, mesh->x, limits, report));
done:
  noli_free(context, tet);
  noli_free(context, xi);
  if (status != NOLI_OK) {
    noli_proxy_destroy(context, proxy);
  }
  return status;
}
