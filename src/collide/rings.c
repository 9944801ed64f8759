#include "collide/rings.h"

#include <stdio.h>

// The arrays behind the const pointers, while they are being filled.
typedef struct Building {
  int32_t* edge_opposite;
  int32_t* edge_tri;
  int32_t* tri_edge;
  int32_t* edge_count; // (n_edge x 2) triangles along the edge, and against it
  int32_t* ring_first;
  int32_t* ring;
  int32_t* ring_next;
  int32_t* vert_tri;
  int32_t* curve;
  int32_t* curve_edge;
  NoliFlaw* flaw;
} Building;

// The edge of a body with these vertices: edges are (lower, higher), sorted.
static int32_t find_edge(const NoliSurface* surface, int32_t body, int32_t a, int32_t b) {
  int32_t low = surface->edge_first[body], high = surface->edge_first[body + 1];
  int32_t v0 = a < b ? a : b, v1 = a < b ? b : a;
  while (high - low > 1) {
    int32_t middle = low + (high - low) / 2;
    const int32_t* edge = surface->edge + 2 * (int64_t)middle;
    bool after = edge[0] > v0 || (edge[0] == v0 && edge[1] > v1);
    *(after ? &high : &low) = middle;
  }
  return low;
}

// Notes for each edge which triangles run along it and against it.
static void fill_edges(const NoliSurface* surface, const Building* to) {
  for (int64_t i = 0; i < 2 * (int64_t)surface->n_edge; i++) {
    to->edge_opposite[i] = NOLI_NULL_INDEX;
    to->edge_count[i] = 0;
    to->edge_tri[i / 2] = NOLI_NULL_INDEX;
  }
  for (int32_t b = 0; b < surface->n_body; b++) {
    for (int32_t t = surface->tri_first[b]; t < surface->tri_first[b + 1]; t++) {
      const int32_t* v = surface->tri + 3 * (int64_t)t;
      for (int32_t k = 0; k < 3; k++) {
        int32_t from = v[k], onto = v[(k + 1) % 3];
        int32_t e = find_edge(surface, b, from, onto);
        int32_t side = from < onto ? 0 : 1;
        to->tri_edge[3 * (int64_t)t + k] = e;
        to->edge_opposite[2 * (int64_t)e + side] = v[(k + 2) % 3];
        to->edge_count[2 * (int64_t)e + side]++;
        if (side == 0) {
          to->edge_tri[e] = t;
        }
      }
    }
  }
}

// Every corner of a triangle gives its vertex one neighbour, the start of that triangle.
static void fill_rings(const NoliSurface* surface, const Building* to) {
  for (int32_t v = 0; v < surface->n_vert; v++) {
    to->ring_first[v] = 0;
    to->vert_tri[v] = NOLI_NULL_INDEX;
  }
  int64_t n_corner = 3 * (int64_t)surface->n_tri;
  for (int64_t c = 0; c < n_corner; c++) {
    to->ring_first[surface->tri[c]]++;
  }
  int32_t sum = 0;
  for (int32_t v = 0; v < surface->n_vert; v++) {
    sum += to->ring_first[v];
    to->ring_first[v] = sum;
  }
  to->ring_first[surface->n_vert] = sum;
  // filling backwards moves all firsts to their places and leaves triangles ascending
  for (int64_t c = n_corner - 1; c >= 0; c--) {
    const int32_t* v = surface->tri + 3 * (c / 3);
    int32_t at = --to->ring_first[v[c % 3]];
    to->ring[at] = v[(c + 1) % 3];
    to->ring_next[at] = v[(c + 2) % 3];
    to->vert_tri[v[c % 3]] = (int32_t)(c / 3);
  }
}

// Replaces the vertex that ends each triangle by its place in the ring, NOLI_NULL_INDEX where the
// ring is open.
static void link_rings(const NoliSurface* surface, const Building* to) {
  for (int32_t v = 0; v < surface->n_vert; v++) {
    int32_t first = to->ring_first[v], n = to->ring_first[v + 1] - first;
    for (int32_t j = 0; j < n; j++) {
      int32_t next = 0;
      while (next < n && to->ring[first + next] != to->ring_next[first + j]) {
        next++;
      }
      to->ring_next[first + j] = next < n ? next : NOLI_NULL_INDEX;
    }
  }
}

static NoliFlawKind edge_flaw(int32_t along, int32_t against) {
  if (along + against == 0) {
    return NOLI_FLAW_SEGMENT;
  }
  if (along + against == 1) {
    return NOLI_FLAW_OPEN;
  }
  if (along + against > 2) {
    return NOLI_FLAW_BRANCH;
  }
  return along == 1 ? NOLI_FLAW_NONE : NOLI_FLAW_ORIENTATION;
}

static const NoliFlaw no_flaw = {NOLI_FLAW_NONE, {NOLI_NULL_INDEX, NOLI_NULL_INDEX}, 0};

static void add_flaw(NoliFlaw* flaw, NoliFlawKind kind, int32_t a, int32_t b) {
  if (kind == NOLI_FLAW_NONE) {
    return;
  }
  if (flaw->n++ == 0) {
    flaw->kind = kind;
    flaw->vertex[0] = a;
    flaw->vertex[1] = b;
  }
}

// Follows the edges of bodies in planes; those that do not fit are their flaws.
static NoliFlaw follow_curves(const NoliSurface* surface, int32_t body, const Building* to) {
  NoliFlaw flaw = no_flaw;
  for (int64_t e = surface->edge_first[body]; e < surface->edge_first[body + 1]; e++) {
    int32_t from = surface->edge[2 * e + (surface->reversed[e] ? 1 : 0)];
    int32_t onto = surface->edge[2 * e + (surface->reversed[e] ? 0 : 1)];
    bool fits = to->curve[2 * (int64_t)from + 1] == NOLI_NULL_INDEX &&
                to->curve[2 * (int64_t)onto] == NOLI_NULL_INDEX;
    add_flaw(&flaw, fits ? NOLI_FLAW_NONE : NOLI_FLAW_CURVE, from, onto);
    to->curve[2 * (int64_t)from + 1] = onto;
    to->curve[2 * (int64_t)onto] = from;
    to->curve_edge[from] = (int32_t)e;
  }
  for (int64_t e = surface->edge_first[body]; e < surface->edge_first[body + 1]; e++) {
    const int32_t* v = surface->edge + 2 * e;
    bool ends = false;
    for (int k = 0; k < 4; k++) {
      ends = ends || to->curve[2 * (int64_t)v[k / 2] + k % 2] == NOLI_NULL_INDEX;
    }
    add_flaw(&flaw, ends ? NOLI_FLAW_CURVE : NOLI_FLAW_NONE, v[0], v[1]);
  }
  return flaw;
}

static NoliFlaw find_flaw(const NoliSurface* surface, int32_t body, const Building* to) {
  NoliFlaw flaw = no_flaw;
  for (int64_t e = surface->edge_first[body]; e < surface->edge_first[body + 1]; e++) {
    add_flaw(&flaw, edge_flaw(to->edge_count[2 * e], to->edge_count[2 * e + 1]),
             surface->edge[2 * e], surface->edge[2 * e + 1]);
  }
  for (int32_t p = surface->point_first[body]; p < surface->point_first[body + 1]; p++) {
    int32_t v = surface->point[p];
    // the ends of segments are reported with their segments
    bool alone = to->vert_tri[v] == NOLI_NULL_INDEX && flaw.n == 0;
    add_flaw(&flaw, alone ? NOLI_FLAW_POINT : NOLI_FLAW_NONE, v, NOLI_NULL_INDEX);
  }
  return flaw;
}

static void rings_release(NoliContext* context, const Building* building) {
  noli_free(context, building->edge_opposite);
  noli_free(context, building->edge_tri);
  noli_free(context, building->tri_edge);
  noli_free(context, building->ring_first);
  noli_free(context, building->ring);
  noli_free(context, building->ring_next);
  noli_free(context, building->vert_tri);
  noli_free(context, building->curve);
  noli_free(context, building->curve_edge);
  noli_free(context, building->flaw);
}

NoliStatus noli_rings_create(NoliContext* context, const NoliSurface* surface, NoliRings** rings) {
  NoliStatus status = NOLI_OK;
  Building to = {0};
  *rings = NULL;
  NOLI_NEW(context, to.edge_opposite, 2 * (int64_t)surface->n_edge);
  NOLI_NEW(context, to.edge_tri, surface->n_edge);
  NOLI_NEW(context, to.tri_edge, 3 * (int64_t)surface->n_tri);
  NOLI_NEW(context, to.edge_count, 2 * (int64_t)surface->n_edge);
  NOLI_NEW(context, to.ring_first, (int64_t)surface->n_vert + 1);
  NOLI_NEW(context, to.ring, 3 * (int64_t)surface->n_tri);
  NOLI_NEW(context, to.ring_next, 3 * (int64_t)surface->n_tri);
  NOLI_NEW(context, to.vert_tri, surface->n_vert);
  NOLI_NEW(context, to.curve, 2 * (int64_t)surface->n_vert);
  NOLI_NEW(context, to.curve_edge, surface->n_vert);
  NOLI_NEW(context, to.flaw, surface->n_body);
  NOLI_NEW(context, *rings, 1);

  // triangles of edges, then the rings of vertices
  fill_edges(surface, &to);
  fill_rings(surface, &to);
  link_rings(surface, &to);

  // curves in planes, and what is wrong with each body
  for (int32_t v = 0; v < surface->n_vert; v++) {
    to.curve[2 * (int64_t)v] = to.curve[2 * (int64_t)v + 1] = NOLI_NULL_INDEX;
    to.curve_edge[v] = NOLI_NULL_INDEX;
  }
  for (int32_t b = 0; b < surface->n_body; b++) {
    to.flaw[b] = surface->planar[b] ? follow_curves(surface, b, &to) : find_flaw(surface, b, &to);
  }

  // readers get const pointers to the arrays
  **rings = (NoliRings){.n_body = surface->n_body,
                        .edge_opposite = to.edge_opposite,
                        .edge_tri = to.edge_tri,
                        .tri_edge = to.tri_edge,
                        .ring_first = to.ring_first,
                        .ring = to.ring,
                        .ring_next = to.ring_next,
                        .vert_tri = to.vert_tri,
                        .curve = to.curve,
                        .curve_edge = to.curve_edge,
                        .flaw = to.flaw};
done:
  noli_free(context, to.edge_count);
  if (status != NOLI_OK) {
    rings_release(context, &to);
  }
  return status;
}

void noli_rings_destroy(NoliContext* context, NoliRings** rings) {
  if (rings == NULL || *rings == NULL) {
    return;
  }
  // the arrays are ours: only users of the rings must not write
  noli_free(context, (*rings)->edge_opposite);
  noli_free(context, (*rings)->edge_tri);
  noli_free(context, (*rings)->tri_edge);
  noli_free(context, (*rings)->ring_first);
  noli_free(context, (*rings)->ring);
  noli_free(context, (*rings)->ring_next);
  noli_free(context, (*rings)->vert_tri);
  noli_free(context, (*rings)->curve);
  noli_free(context, (*rings)->curve_edge);
  noli_free(context, (*rings)->flaw);
  noli_free(context, *rings);
  *rings = NULL;
}

void noli_flaw_describe(const NoliFlaw* flaw, const int32_t called[2], const double* x,
                        char text[NOLI_FLAW_TEXT]) {
  static const char* const what[] = {
      [NOLI_FLAW_NONE] = "is sound",
      [NOLI_FLAW_OPEN] = "belongs to one triangle only: the surface is open there",
      [NOLI_FLAW_ORIENTATION] = "has two triangles that look to opposite sides",
      [NOLI_FLAW_BRANCH] = "belongs to more than two triangles",
      [NOLI_FLAW_SEGMENT] = "belongs to no triangle",
      [NOLI_FLAW_POINT] = "stands alone",
      [NOLI_FLAW_CURVE] = "is no part of one closed curve with the body on its left",
  };
  char more[40] = "";

  if (flaw->n > 1) {
    snprintf(more, sizeof more, " (and %lld more)", (long long)flaw->n - 1);
  }
  const double* a = x + 3 * (int64_t)flaw->vertex[0];
  if (flaw->kind == NOLI_FLAW_POINT) {
    snprintf(text, NOLI_FLAW_TEXT, "point %d at (%g, %g, %g) %s%s", called[0], a[0], a[1], a[2],
             what[flaw->kind], more);
    return;
  }

  const double* b = x + 3 * (int64_t)flaw->vertex[1];
  snprintf(text, NOLI_FLAW_TEXT,
           "the edge of vertices %d and %d, (%g, %g, %g) to (%g, %g, %g), %s%s", called[0],
           called[1], a[0], a[1], a[2], b[0], b[1], b[2], what[flaw->kind], more);
}

NoliStatus noli_rings_require_closed(NoliContext* context, const NoliRings* rings, int32_t body,
                                     const double* x) {
  char text[NOLI_FLAW_TEXT];
  const NoliFlaw* flaw = &rings->flaw[body];
  if (flaw->kind == NOLI_FLAW_NONE) {
    return NOLI_OK;
  }
  noli_flaw_describe(flaw, flaw->vertex, x, text);
  return noli_fail(context, NOLI_ERROR_ARGUMENT, "body %d is no closed oriented surface: %s", body,
                   text);
}
