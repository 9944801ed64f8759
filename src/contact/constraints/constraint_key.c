#include "contact/constraints/constraint_key.h"

#include "collide/closest.h"
#include "math/vec3.h"

// Squared distances that differ by less than this fraction are equal: closest points that coincide
// on a common edge or vertex.
#define SAME 1e-9
// Triangles that a vertex may pass at once.
enum { MAX_WALK = 16 };

NoliStatus noli_triangle_stars_create(NoliContext* context, const NoliSurface* surface,
                                      NoliTriangleStars* stars) {
  NoliStatus status = NOLI_OK;
  int64_t n = 3 * (int64_t)surface->n_tri;
  *stars = (NoliTriangleStars){NULL, NULL};
  NOLI_NEW_ZERO(context, stars->first, (int64_t)surface->n_vert + 1);
  NOLI_NEW_ZERO(context, stars->tri, n);

  // ends of the rows, then triangles from the last to the first
  for (int64_t i = 0; i < n; i++) {
    stars->first[surface->tri[i]]++;
  }
  for (int32_t v = 0, sum = 0; v <= surface->n_vert; v++) {
    sum += stars->first[v];
    stars->first[v] = sum;
  }
  for (int64_t i = n; i-- > 0;) {
    stars->tri[--stars->first[surface->tri[i]]] = (int32_t)(i / 3);
  }
done:
  if (status != NOLI_OK) {
    noli_triangle_stars_free(context, stars);
  }
  return status;
}

void noli_triangle_stars_free(NoliContext* context, NoliTriangleStars* stars) {
  noli_free(context, stars->first);
  noli_free(context, stars->tri);
  *stars = (NoliTriangleStars){NULL, NULL};
}

int noli_constraint_key_compare(NoliConstraintKey a, NoliConstraintKey b) {
  if (a.kind != b.kind) {
    return a.kind < b.kind ? -1 : 1;
  }
  if (a.a != b.a) {
    return a.a < b.a ? -1 : 1;
  }
  return a.b != b.b ? (a.b < b.b ? -1 : 1) : 0;
}

// Square of the cosine between normals of triangles in nearly one plane: 6 degrees.
#define FLAT 0.99

typedef struct Place {
  const NoliSurface* surface;
  const NoliTriangleStars* stars;
  const double* x;
} Place;

static void constraint_key_load(const Place* place, NoliPrimitives kind, int32_t a, int32_t b,
                                int32_t vertex[4], NoliVec3 x[4]) {
  int32_t n = noli_primitives_vertices(place->surface, kind, a, b, vertex);
  for (int32_t k = 0; k < n; k++) {
    x[k] = noli_load3(place->x + 3 * (int64_t)vertex[k]);
  }
}

static bool has(const int32_t* tri, int32_t vertex) {
  return tri[0] == vertex || tri[1] == vertex || tri[2] == vertex;
}

// A triangle and its squared distance.
typedef struct Nearest {
  int32_t tri;
  double d_sqr;
} Nearest;

// Replaces `nearest` by a triangle around vertex b, or around its edge to c, that is closer to
// vertex `v`; of equal ones the first. Triangles that share or touch `v` are no pairs with it.
static void look_around(const Place* place, int32_t v, int32_t b, int32_t c, Nearest* nearest) {
  const NoliSurface* surface = place->surface;
  for (int32_t k = place->stars->first[b]; k < place->stars->first[b + 1]; k++) {
    int32_t t = place->stars->tri[k], vertex[4];
    const int32_t* tri = surface->tri + 3 * (int64_t)t;
    if (has(tri, v) || (c != NOLI_NULL_INDEX && !has(tri, c)) ||
        noli_surface_are_attached(surface, 1, &v, 3, tri)) {
      continue;
    }
    NoliVec3 x[4];
    constraint_key_load(place, NOLI_PRIMITIVES_POINT_TRIANGLE, v, t, vertex, x);
    double d_sqr = noli_distance_sqr_point_triangle(x);
    bool first = nearest->tri == NOLI_NULL_INDEX;
    if (first || d_sqr < nearest->d_sqr * (1.0 - SAME) ||
        (d_sqr <= nearest->d_sqr * (1.0 + SAME) && t < nearest->tri)) {
      *nearest = (Nearest){t, d_sqr};
    }
  }
}

// Whether two triangles lie nearly in one plane, whichever way they face.
static bool constraint_key_is_flat(const Place* place, int32_t t, int32_t u) {
  const int32_t* tri = place->surface->tri;
  NoliVec3 n = noli_twice_area3(place->x, tri + 3 * (int64_t)t);
  NoliVec3 m = noli_twice_area3(place->x, tri + 3 * (int64_t)u);
  double c = noli_dot3(n, m);
  return c * c >= FLAT * noli_norm_sqr3(n) * noli_norm_sqr3(m);
}

// From triangle to triangle as long as they get closer to the vertex and lie nearly in one plane.
// Where the surface bends, such as at a spike, in a dent or at a rim, a constraint would turn
// within a time step: the next triangle has one of its own there.
static NoliConstraintKey walk(const Place* place, int32_t v, Nearest nearest) {
  for (int32_t step = 0; step < MAX_WALK; step++) {
    int32_t vertex[4], from = nearest.tri;
    NoliVec3 x[4];
    constraint_key_load(place, NOLI_PRIMITIVES_POINT_TRIANGLE, v, from, vertex, x);
    NoliFeature feature = noli_feature_point_triangle(x);
    if (feature.kind == NOLI_PAIR_POINT_TRIANGLE) {
      break;
    }
    bool corner = feature.kind == NOLI_PAIR_POINT_POINT;
    look_around(place, v, vertex[feature.vertex[1]],
                corner ? NOLI_NULL_INDEX : vertex[feature.vertex[2]], &nearest);
    if (nearest.tri == from || !constraint_key_is_flat(place, from, nearest.tri)) {
      nearest.tri = from;
      break;
    }
  }
  return (NoliConstraintKey){NOLI_PRIMITIVES_POINT_TRIANGLE, v, nearest.tri};
}

static NoliConstraintKey follow_vertex(const Place* place, NoliConstraintKey key) {
  int32_t vertex[4];
  NoliVec3 x[4];
  constraint_key_load(place, key.kind, key.a, key.b, vertex, x);
  return walk(place, key.a, (Nearest){key.b, noli_distance_sqr_point_triangle(x)});
}

// The triangle closest to `v` around vertex b or its edge to c.
static bool find_triangle(const Place* place, int32_t v, int32_t b, int32_t c,
                          NoliConstraintKey* key) {
  Nearest nearest = {NOLI_NULL_INDEX, 0.0};
  look_around(place, v, b, c, &nearest);
  if (nearest.tri == NOLI_NULL_INDEX) {
    return false;
  }
  *key = walk(place, v, nearest);
  return true;
}

// Whether the surface bends at an edge.
static bool is_bent(const Place* place, int32_t e) {
  const int32_t* edge = place->surface->edge + 2 * (int64_t)e;
  int32_t first = NOLI_NULL_INDEX;
  for (int32_t k = place->stars->first[edge[0]]; k < place->stars->first[edge[0] + 1]; k++) {
    int32_t t = place->stars->tri[k];
    if (!has(place->surface->tri + 3 * (int64_t)t, edge[1])) {
      continue;
    }
    if (first != NOLI_NULL_INDEX && !constraint_key_is_flat(place, first, t)) {
      return true;
    }
    first = first == NOLI_NULL_INDEX ? t : first;
  }
  return false;
}

// Edges at which the surface bends stay: a vertex beside them would be closest to one side or to
// the other.
static NoliConstraintKey follow_edges(const Place* place, NoliConstraintKey key) {
  int32_t vertex[4];
  NoliVec3 x[4];
  constraint_key_load(place, key.kind, key.a, key.b, vertex, x);
  if (vertex[0] == vertex[1] || vertex[2] == vertex[3]) {
    return key;
  }
  NoliFeature feature = noli_feature_edge_edge(x);
  int32_t v = feature.vertex[0], e = v < 2 ? key.b : key.a;
  NoliConstraintKey next = key;
  if (feature.kind == NOLI_PAIR_POINT_EDGE && !is_bent(place, e)) {
    const int32_t* edge = place->surface->edge + 2 * (int64_t)e;
    if (!find_triangle(place, vertex[v], edge[0], edge[1], &next)) {
      next = (NoliConstraintKey){NOLI_PRIMITIVES_POINT_EDGE, vertex[v], e};
    }
  } else if (feature.kind == NOLI_PAIR_POINT_POINT && !is_bent(place, key.a) &&
             !is_bent(place, key.b)) {
    int32_t p = vertex[v], q = vertex[feature.vertex[1]];
    if (!find_triangle(place, p, q, NOLI_NULL_INDEX, &next) &&
        !find_triangle(place, q, p, NOLI_NULL_INDEX, &next)) {
      next = (NoliConstraintKey){NOLI_PRIMITIVES_POINT_EDGE, p, e};
    }
  }
  return next;
}

NoliConstraintKey noli_constraint_key_follow(NoliConstraintKey key, const NoliSurface* surface,
                                             const NoliTriangleStars* stars, const double* x) {
  const Place place = {surface, stars, x};
  switch (key.kind) {
  case NOLI_PRIMITIVES_POINT_TRIANGLE:
    return follow_vertex(&place, key);
  case NOLI_PRIMITIVES_EDGE_EDGE:
    return follow_edges(&place, key);
  case NOLI_PRIMITIVES_HALF_SPACE:
  case NOLI_PRIMITIVES_POINT_EDGE:
    break;
  }
  return key;
}
