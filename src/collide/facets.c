#include "collide/facets.h"

// Scratch data for building facets.
typedef struct Making {
  int32_t* point_of;    // (n_vert) index in the point list
  int32_t* tri_edge;    // (n_tri x 3) edges of each triangle
  int32_t* edge_owner;  // (n_edge) facet; NOLI_NULL_INDEX until found
  int32_t* point_owner; // (n_point)
} Making;

// The edge (a, b) among the sorted edges [begin, end), or NOLI_NULL_INDEX.
static int32_t find_edge(const int32_t* edge, int32_t begin, int32_t end, int32_t a, int32_t b) {
  int32_t lower = a < b ? a : b, higher = a < b ? b : a;
  while (begin < end) {
    int32_t middle = begin + (end - begin) / 2;
    const int32_t* e = &edge[2 * (int64_t)middle];
    if (e[0] == lower && e[1] == higher) {
      return middle;
    }
    if (e[0] < lower || (e[0] == lower && e[1] < higher)) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return NOLI_NULL_INDEX;
}

static NoliStatus find_triangle_edges(NoliContext* context, const NoliSurface* surface,
                                      int32_t* tri_edge) {
  NoliStatus status = NOLI_OK;
  for (int32_t b = 0; b < surface->n_body; b++) {
    for (int32_t t = surface->tri_first[b]; t < surface->tri_first[b + 1]; t++) {
      const int32_t* v = &surface->tri[3 * (int64_t)t];
      for (int k = 0; k < 3; k++) {
        int32_t e = find_edge(surface->edge, surface->edge_first[b], surface->edge_first[b + 1],
                              v[k], v[(k + 1) % 3]);
        NOLI_CHECK(context, e != NOLI_NULL_INDEX, NOLI_ERROR_INTERNAL,
                   "triangle %d of the surface has no edge (%d, %d)", t, v[k], v[(k + 1) % 3]);
        tri_edge[3 * (int64_t)t + k] = e;
      }
    }
  }
done:
  return status;
}

// Gives an item its owner unless it has one. Returns whether it was given.
static bool claim(int32_t* owner, int32_t item, int32_t facet) {
  bool free = owner[item] == NOLI_NULL_INDEX;
  owner[item] = free ? facet : owner[item];
  return free;
}

// Writes facet f; does nothing while facets are only counted, before their arrays exist.
static void write_facet(NoliFacets* facets, int32_t f, int32_t tri, int32_t n_corner,
                        const int32_t* corner) {
  if (facets->tri == NULL) {
    return;
  }
  facets->tri[f] = tri;
  for (int32_t k = 0; k < 3; k++) {
    facets->corner[3 * (int64_t)f + k] = k < n_corner ? corner[k] : NOLI_NULL_INDEX;
  }
}

static int32_t number_triangles(const NoliSurface* surface, int32_t body, const Making* making,
                                NoliFacets* facets, int32_t n) {
  for (int32_t t = surface->tri_first[body]; t < surface->tri_first[body + 1]; t++) {
    int32_t corner[3];
    for (int k = 0; k < 3; k++) {
      corner[k] = making->point_of[surface->tri[3 * (int64_t)t + k]];
      claim(making->point_owner, corner[k], n);
      claim(making->edge_owner, making->tri_edge[3 * (int64_t)t + k], n);
    }
    write_facet(facets, n++, t, 3, corner);
  }
  return n;
}

static int32_t number_segments(const NoliSurface* surface, int32_t body, const Making* making,
                               NoliFacets* facets, int32_t n) {
  for (int32_t e = surface->edge_first[body]; e < surface->edge_first[body + 1]; e++) {
    if (claim(making->edge_owner, e, n)) {
      const int32_t* corner = &facets->edge_point[2 * (int64_t)e];
      claim(making->point_owner, corner[0], n);
      claim(making->point_owner, corner[1], n);
      write_facet(facets, n++, NOLI_NULL_INDEX, 2, corner);
    }
  }
  return n;
}

static int32_t number_points(const NoliSurface* surface, int32_t body, const Making* making,
                             NoliFacets* facets, int32_t n) {
  for (int32_t p = surface->point_first[body]; p < surface->point_first[body + 1]; p++) {
    if (claim(making->point_owner, p, n)) {
      write_facet(facets, n++, NOLI_NULL_INDEX, 1, &p);
    }
  }
  return n;
}

// Numbers the facets body by body and gives every edge and point its owner.
static void number_facets(const NoliSurface* surface, const Making* making, NoliFacets* facets) {
  for (int32_t i = 0; i < surface->n_edge; i++) {
    making->edge_owner[i] = NOLI_NULL_INDEX;
  }
  for (int32_t i = 0; i < surface->n_point; i++) {
    making->point_owner[i] = NOLI_NULL_INDEX;
  }
  int32_t n = 0;
  for (int32_t b = 0; b < surface->n_body; b++) {
    facets->facet_first[b] = n;
    n = number_triangles(surface, b, making, facets, n);
    n = number_segments(surface, b, making, facets, n);
    n = number_points(surface, b, making, facets, n);
  }
  facets->facet_first[surface->n_body] = facets->n_facet = n;
}

// Lists the items of each owner, ascending.
static void list_owned(int32_t n_facet, int32_t n_item, const int32_t* owner, int32_t* first,
                       int32_t* item) {
  // first[f + 1] counts, then becomes the place of the next item of f
  for (int32_t f = 0; f <= n_facet; f++) {
    first[f] = 0;
  }
  for (int32_t i = 0; i < n_item; i++) {
    first[owner[i] + 1]++;
  }
  for (int32_t f = 0; f < n_facet; f++) {
    first[f + 1] += first[f];
  }
  for (int32_t i = n_item - 1; i >= 0; i--) {
    item[--first[owner[i] + 1]] = i;
  }
  // filling backwards has moved every end to its begin
  for (int32_t f = 0; f < n_facet; f++) {
    first[f] = first[f + 1];
  }
  first[n_facet] = n_item;
}

NoliStatus noli_facets_create(NoliContext* context, const NoliSurface* surface,
                              NoliFacets* facets) {
  NoliStatus status = NOLI_OK;
  Making making = {0};
  *facets = (NoliFacets){0};

  // points and edges by their indices in the lists of the surface
  NOLI_NEW(context, making.point_of, surface->n_vert);
  NOLI_NEW(context, making.tri_edge, 3 * (int64_t)surface->n_tri);
  NOLI_NEW(context, making.edge_owner, surface->n_edge);
  NOLI_NEW(context, making.point_owner, surface->n_point);
  NOLI_NEW(context, facets->facet_first, (int64_t)surface->n_body + 1);
  NOLI_NEW(context, facets->edge_point, 2 * (int64_t)surface->n_edge);
  for (int32_t i = 0; i < surface->n_point; i++) {
    making.point_of[surface->point[i]] = i;
  }
  for (int64_t i = 0; i < 2 * (int64_t)surface->n_edge; i++) {
    facets->edge_point[i] = making.point_of[surface->edge[i]];
  }
  NOLI_TRY(find_triangle_edges(context, surface, making.tri_edge));

  // count, allocate, fill
  number_facets(surface, &making, facets);
  NOLI_NEW(context, facets->corner, 3 * (int64_t)facets->n_facet);
  NOLI_NEW(context, facets->point_first, (int64_t)facets->n_facet + 1);
  NOLI_NEW(context, facets->edge_first, (int64_t)facets->n_facet + 1);
  NOLI_NEW(context, facets->own_point, surface->n_point);
  NOLI_NEW(context, facets->own_edge, surface->n_edge);
  NOLI_NEW(context, facets->tri, facets->n_facet);
  number_facets(surface, &making, facets);

  // what each facet owns
  list_owned(facets->n_facet, surface->n_point, making.point_owner, facets->point_first,
             facets->own_point);
  list_owned(facets->n_facet, surface->n_edge, making.edge_owner, facets->edge_first,
             facets->own_edge);
done:
  noli_free(context, making.point_of);
  noli_free(context, making.tri_edge);
  noli_free(context, making.edge_owner);
  noli_free(context, making.point_owner);
  return status;
}

void noli_facets_release(NoliContext* context, NoliFacets* facets) {
  noli_free(context, facets->facet_first);
  noli_free(context, facets->tri);
  noli_free(context, facets->corner);
  noli_free(context, facets->point_first);
  noli_free(context, facets->own_point);
  noli_free(context, facets->edge_first);
  noli_free(context, facets->own_edge);
  noli_free(context, facets->edge_point);
  *facets = (NoliFacets){0};
}
