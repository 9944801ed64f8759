#include "collide/surface.h"

#include "base/validate.h"
#include "base/sort.h"
#include "collide/flat.h"

#include <math.h>
#include <string.h>

// The largest number of items one surface may have of a kind.
static const int64_t most_items = INT32_MAX / 3;

// The vertices of a body: its own, then those that follow them.
typedef struct Range {
  int32_t first;
  int32_t n_own;
  int32_t first_follower;
  int32_t n_vert;
} Range;

typedef struct Ranges {
  const int32_t* vert_first;
  const int32_t* follower_first; // NULL: there are none
} Ranges;

static Range surface_range_of(const Ranges* ranges, int32_t body) {
  Range range = {.first = ranges->vert_first[body],
                 .n_own = ranges->vert_first[body + 1] - ranges->vert_first[body]};
  range.n_vert = range.n_own;
  if (ranges->follower_first != NULL) {
    range.first_follower = ranges->follower_first[body];
    range.n_vert += ranges->follower_first[body + 1] - range.first_follower;
  }
  return range;
}

// The number in the scene; local numbers ascend as these do.
static inline int32_t surface_number_of(const Range* range, int32_t local) {
  return local < range->n_own ? range->first + local
                              : range->first_follower + (local - range->n_own);
}

static NoliStatus check_part(NoliContext* context, int32_t body, const char* kind, int32_t n_item,
                             int32_t size, const int32_t* item, int32_t n_vert) {
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(context, n_item >= 0 && (n_item == 0 || item != NULL), NOLI_ERROR_ARGUMENT,
             "surface of body %d: the %ss are missing", body, kind);
  for (int32_t i = 0; i < n_item; i++) {
    const int32_t* v = &item[(int64_t)size * i];
    for (int32_t k = 0; k < size; k++) {
      NOLI_CHECK(context, v[k] >= 0 && v[k] < n_vert, NOLI_ERROR_ARGUMENT,
                 "surface of body %d: %s %d names vertex %d, the body has %d", body, kind, i, v[k],
                 n_vert);
      NOLI_CHECK(context, k == 0 || (v[k] != v[0] && v[k] != v[k - 1]), NOLI_ERROR_ARGUMENT,
                 "surface of body %d: %s %d names vertex %d twice", body, kind, i, v[k]);
    }
  }
done:
  return status;
}

static NoliStatus surface_check_parts(NoliContext* context, int32_t n_body, const Ranges* ranges,
                                      const NoliSurfaceParts* parts) {
  NoliStatus status = NOLI_OK;
  int64_t n_tri = 0, n_edge = 0;
  for (int32_t b = 0; b < n_body; b++) {
    const NoliSurfaceParts* p = &parts[b];
    int32_t n_vert = surface_range_of(ranges, b).n_vert;
    NOLI_TRY(check_part(context, b, "triangle", p->n_tri, 3, p->tri, n_vert));
    NOLI_TRY(check_part(context, b, "segment", p->n_edge, 2, p->edge, n_vert));
    NOLI_TRY(check_part(context, b, "point", p->n_point, 1, p->point, n_vert));
    n_tri += p->n_tri;
    n_edge += p->n_edge;
  }
  NOLI_CHECK(context, 3 * n_tri + n_edge <= most_items, NOLI_ERROR_TOO_LARGE,
             "the surface has %lld triangles: too many", (long long)n_tri);
done:
  return status;
}

// The arrays behind the const pointers of a surface, while it is being filled.
typedef struct Building {
  int32_t* tri;
  int32_t* edge;
  int32_t* point;
  int32_t* tri_first;
  int32_t* edge_first;
  int32_t* point_first;
  int32_t* body;
  bool* planar;
  bool* reversed;
  uint64_t* key;     // (2 x all edges before duplicates are removed)
  uint8_t* is_point; // (n_vert)
} Building;

// Adds the edges of one body, each once and in order. Returns their number.
static int32_t fill_edges(const NoliSurfaceParts* part, const Range* range, uint64_t* key,
                          int32_t* edge) {
  // collect (lower, higher) as one key
  int64_t n = 0;
  for (int32_t i = 0; i < part->n_tri; i++) {
    for (int32_t k = 0; k < 3; k++) {
      int32_t a = part->tri[3 * (int64_t)i + k], b = part->tri[3 * (int64_t)i + (k + 1) % 3];
      key[n++] = a < b ? (uint64_t)a << 32 | (uint64_t)b : (uint64_t)b << 32 | (uint64_t)a;
    }
  }

  for (int32_t i = 0; i < part->n_edge; i++) {
    int32_t a = part->edge[2 * (int64_t)i], b = part->edge[2 * (int64_t)i + 1];
    key[n++] = a < b ? (uint64_t)a << 32 | (uint64_t)b : (uint64_t)b << 32 | (uint64_t)a;
  }
  for (int32_t i = 0; part->points_are_edges && i < part->n_point; i++) {
    key[n++] = (uint64_t)part->point[i] << 32 | (uint64_t)part->point[i];
  }
  noli_sort_keys(key, key + n, n, 32 + noli_bits_of(range->n_vert));

  // keep the first of equal ones
  int32_t n_edge = 0;
  for (int64_t i = 0; i < n; i++) {
    if (i == 0 || key[i] != key[i - 1]) {
      edge[2 * (int64_t)n_edge] = surface_number_of(range, (int32_t)(key[i] >> 32));
      edge[2 * (int64_t)n_edge + 1] = surface_number_of(range, (int32_t)(key[i] & UINT32_MAX));
      n_edge++;
    }
  }
  return n_edge;
}

// Copies the triangles of one body with global indices and marks every vertex it uses.
static void fill_triangles(const NoliSurfaceParts* part, const Range* range, int32_t* tri,
                           uint8_t* is_point) {
  for (int64_t i = 0; i < 3 * (int64_t)part->n_tri; i++) {
    tri[i] = surface_number_of(range, part->tri[i]);
    is_point[tri[i]] = 1;
  }
  for (int64_t i = 0; i < 2 * (int64_t)part->n_edge; i++) {
    is_point[surface_number_of(range, part->edge[i])] = 1;
  }
  for (int32_t i = 0; i < part->n_point; i++) {
    is_point[surface_number_of(range, part->point[i])] = 1;
  }
}

// Which edges of a body in a plane were given from their higher vertex to their lower one.
static void fill_reversed(const NoliSurfaceParts* part, const Range* range, int32_t n_edge,
                          const int32_t* edge, bool* reversed) {
  memset(reversed, 0, (size_t)n_edge * sizeof *reversed);
  for (int32_t i = 0; part->planar && i < part->n_edge; i++) {
    int32_t a = surface_number_of(range, part->edge[2 * (int64_t)i]);
    int32_t b = surface_number_of(range, part->edge[2 * (int64_t)i + 1]);
    int32_t v0 = a < b ? a : b, v1 = a < b ? b : a, low = 0, high = n_edge;
    while (high - low > 1) {
      int32_t middle = low + (high - low) / 2;
      const int32_t* at = edge + 2 * (int64_t)middle;
      *(at[0] > v0 || (at[0] == v0 && at[1] > v1) ? &high : &low) = middle;
    }
    reversed[low] = a > b;
  }
}

static void surface_fill(NoliSurface* surface, const Building* to, const Ranges* ranges,
                         const NoliSurfaceParts* parts) {
  int32_t n_tri = 0, n_edge = 0, n_point = 0;
  for (int32_t b = 0; b < surface->n_body; b++) {
    Range range = surface_range_of(ranges, b);
    to->tri_first[b] = n_tri;
    to->edge_first[b] = n_edge;
    to->point_first[b] = n_point;
    to->planar[b] = parts[b].planar;
    fill_triangles(&parts[b], &range, to->tri + 3 * (int64_t)n_tri, to->is_point);
    n_tri += parts[b].n_tri;
    int32_t* edge = to->edge + 2 * (int64_t)n_edge;
    int32_t n_here = fill_edges(&parts[b], &range, to->key, edge);
    fill_reversed(&parts[b], &range, n_here, edge, to->reversed + n_edge);
    n_edge += n_here;
    for (int32_t i = 0; i < range.n_vert; i++) {
      int32_t v = surface_number_of(&range, i);
      to->body[v] = b;
      if (to->is_point[v]) {
        to->point[n_point++] = v;
      }
    }
  }

  to->tri_first[surface->n_body] = surface->n_tri = n_tri;
  to->edge_first[surface->n_body] = surface->n_edge = n_edge;
  to->point_first[surface->n_body] = surface->n_point = n_point;
}

// Lists the edges that are not covered by their vertices.
static NoliStatus list_lone(NoliContext* context, NoliSurface* surface, const bool* covered) {
  NoliStatus status = NOLI_OK;
  int64_t *first = NULL, n = 0;
  int32_t* lone = NULL;
  NOLI_NEW_ZERO(context, first, (int64_t)surface->n_vert + 2);
  for (int32_t e = 0; e < surface->n_edge; e++) {
    const int32_t* edge = &surface->edge[2 * (int64_t)e];
    for (int32_t k = 0; !covered[e] && k < noli_surface_edge_size(edge); k++) {
      first[edge[k] + 2]++;
      n++;
    }
  }

  for (int32_t v = 0; v < surface->n_vert; v++) {
    first[v + 2] += first[v + 1];
  }

  // first[v + 1] is where the next edge of v goes, and ends up where those of v + 1 begin
  NOLI_NEW(context, lone, n);
  for (int32_t e = 0; e < surface->n_edge; e++) {
    const int32_t* edge = &surface->edge[2 * (int64_t)e];
    for (int32_t k = 0; !covered[e] && k < noli_surface_edge_size(edge); k++) {
      lone[first[edge[k] + 1]++] = e;
    }
  }

  surface->lone_first = first;
  surface->lone = lone;
  first = NULL;
done:
  noli_free(context, first);
  return status;
}

// Which edges belong to triangles, kept if there are points among the edges; and the others.
static NoliStatus sort_edges(NoliContext* context, NoliSurface* surface,
                             const NoliSurfaceParts* parts) {
  NoliStatus status = NOLI_OK;
  bool *covered = NULL, any_point = false, any = false;
  for (int32_t b = 0; b < surface->n_body; b++) {
    any_point = any_point || (parts[b].points_are_edges && parts[b].n_point > 0);
    any = any || parts[b].n_edge > 0;
  }
  if (!any && !any_point) {
    return NOLI_OK;
  }
  NOLI_NEW_ZERO(context, covered, surface->n_edge);

  for (int64_t i = 0; i < 3 * (int64_t)surface->n_tri; i++) {
    const int32_t* tri = &surface->tri[i / 3 * 3];
    int32_t p = tri[i % 3], q = tri[(i + 1) % 3];
    covered[noli_surface_edge(surface, surface->body[p], p, q)] = true;
  }

  NOLI_TRY(list_lone(context, surface, covered));
  if (any_point) {
    surface->covered = covered;
    covered = NULL;
  }
done:
  noli_free(context, covered);
  return status;
}

static void surface_release(NoliContext* context, const Building* building) {
  noli_free(context, building->tri);
  noli_free(context, building->edge);
  noli_free(context, building->point);
  noli_free(context, building->tri_first);
  noli_free(context, building->edge_first);
  noli_free(context, building->point_first);
  noli_free(context, building->body);
  noli_free(context, building->planar);
  noli_free(context, building->reversed);
}

double noli_surface_largest_coordinate(const NoliSurface* surface, const double* x) {
  double largest = 0.0, poison = 0.0;
  for (int32_t p = 0; p < surface->n_point; p++) {
    const double* at = &x[3 * (int64_t)surface->point[p]];
    for (int k = 0; k < 3; k++) {
      double size = fabs(at[k]);
      largest = size > largest ? size : largest;
      poison += 0.0 * size;
    }
  }
  return largest + poison;
}

NoliStatus noli_surface_create(NoliContext* context, int32_t n_body, const int32_t* vert_first,
                               const NoliSurfaceParts* parts, NoliSurface** surface) {
  return noli_surface_create_with_followers(context, n_body, vert_first, NULL, parts, surface);
}

NoliStatus noli_surface_create_with_followers(NoliContext* context, int32_t n_body,
                                              const int32_t* vert_first,
                                              const int32_t* follower_first,
                                              const NoliSurfaceParts* parts,
                                              NoliSurface** surface) {
  NoliStatus status = NOLI_OK;
  Building to = {0};
  Ranges ranges = {vert_first, follower_first};
  *surface = NULL;
  NOLI_TRY(surface_check_parts(context, n_body, &ranges, parts));

  // how much room is needed
  int64_t n_tri = 0, n_edge = 0, most_edges = 0;
  for (int32_t b = 0; b < n_body; b++) {
    int64_t here = 3 * (int64_t)parts[b].n_tri + parts[b].n_edge +
                   (parts[b].points_are_edges ? parts[b].n_point : 0);
    n_tri += parts[b].n_tri;
    n_edge += here;
    most_edges = here > most_edges ? here : most_edges;
  }
  const int32_t* last_first = follower_first != NULL ? follower_first : vert_first;
  int32_t n_vert = n_body > 0 ? last_first[n_body] : 0;

  // arrays
  NOLI_NEW(context, to.tri, 3 * n_tri);
  NOLI_NEW(context, to.edge, 2 * n_edge);
  NOLI_NEW(context, to.point, n_vert);
  NOLI_NEW(context, to.tri_first, (int64_t)n_body + 1);
  NOLI_NEW(context, to.edge_first, (int64_t)n_body + 1);
  NOLI_NEW(context, to.point_first, (int64_t)n_body + 1);
  NOLI_NEW(context, to.body, n_vert);
  NOLI_NEW(context, to.planar, n_body);
  NOLI_NEW(context, to.reversed, n_edge);
  NOLI_NEW(context, to.key, 2 * most_edges);
  NOLI_NEW_ZERO(context, to.is_point, n_vert);
  NOLI_NEW(context, *surface, 1);

  // readers get const pointers to them
  **surface = (NoliSurface){.n_body = n_body,
                            .n_vert = n_vert,
                            .tri = to.tri,
                            .edge = to.edge,
                            .point = to.point,
                            .tri_first = to.tri_first,
                            .edge_first = to.edge_first,
                            .point_first = to.point_first,
                            .body = to.body,
                            .planar = to.planar,
                            .reversed = to.reversed};
  surface_fill(*surface, &to, &ranges, parts);
  NOLI_TRY(sort_edges(context, *surface, parts));
  NOLI_VALIDATE(context, noli_surface_defect(*surface));
done:
  noli_free(context, to.key);
  noli_free(context, to.is_point);
  if (status != NOLI_OK && *surface == NULL) {
    surface_release(context, &to);
  } else if (status != NOLI_OK) {
    noli_surface_destroy(context, surface);
  }
  return status;
}

NoliStatus noli_surface_attach(NoliContext* context, NoliSurface* surface, int64_t n,
                               const int32_t* pair) {
  NoliStatus status = NOLI_OK;
  uint64_t* key = NULL;
  int64_t* first = NULL;
  int32_t* attached = NULL;
  NOLI_NEW(context, key, 4 * n);
  NOLI_NEW_ZERO(context, first, (int64_t)surface->n_vert + 1);

  // both ways, each once
  int64_t n_key = 0, n_attached = 0;
  for (int64_t i = 0; i < n; i++) {
    uint64_t a = (uint64_t)pair[2 * i], b = (uint64_t)pair[2 * i + 1];
    key[n_key++] = a << 32 | b;
    key[n_key++] = b << 32 | a;
  }
  noli_sort_keys(key, key + n_key, n_key, 32 + noli_bits_of(surface->n_vert));
  NOLI_NEW(context, attached, n_key);
  for (int64_t i = 0; i < n_key; i++) {
    if (i == 0 || key[i] != key[i - 1]) {
      first[(key[i] >> 32) + 1]++;
      attached[n_attached++] = (int32_t)(key[i] & UINT32_MAX);
    }
  }
  for (int32_t v = 0; v < surface->n_vert; v++) {
    first[v + 1] += first[v];
  }
  surface->attached_first = first;
  surface->attached = attached;
  first = NULL;
  attached = NULL;
  NOLI_VALIDATE(context, noli_surface_defect(surface));
done:
  noli_free(context, key);
  noli_free(context, first);
  noli_free(context, attached);
  return status;
}

void noli_surface_destroy(NoliContext* context, NoliSurface** surface) {
  if (surface == NULL || *surface == NULL) {
    return;
  }
  // the arrays are ours: only users of the surface must not write
  NoliFlat* flat = (*surface)->flat;
  noli_flat_destroy(context, &flat);
  noli_free(context, (*surface)->tri);
  noli_free(context, (*surface)->edge);
  noli_free(context, (*surface)->point);
  noli_free(context, (*surface)->tri_first);
  noli_free(context, (*surface)->edge_first);
  noli_free(context, (*surface)->point_first);
  noli_free(context, (*surface)->body);
  noli_free(context, (*surface)->planar);
  noli_free(context, (*surface)->reversed);
  noli_free(context, (*surface)->offset);
  noli_free(context, (*surface)->covered);
  noli_free(context, (*surface)->lone_first);
  noli_free(context, (*surface)->lone);
  noli_free(context, (*surface)->attached_first);
  noli_free(context, (*surface)->attached);
  noli_free(context, *surface);
  *surface = NULL;
}

NoliStatus noli_surface_set_offsets(NoliContext* context, NoliSurface* surface,
                                    const double* offset) {
  NoliStatus status = NOLI_OK;
  double* copy = NULL;
  bool any = false;
  for (int32_t b = 0; b < surface->n_body; b++) {
    any = any || offset[b] > 0.0;
  }
  if (any) {
    NOLI_NEW(context, copy, surface->n_body);
    memcpy(copy, offset, (size_t)surface->n_body * sizeof *copy);
  }
  noli_free(context, surface->offset);
  surface->offset = copy;
done:
  return status;
}

// Whether n vertices lie in [0, n_vert), belong to the body, and are all different.
static bool are_of_body(const NoliSurface* surface, int32_t body, const int32_t* vertex,
                        int32_t n) {
  for (int32_t i = 0; i < n; i++) {
    bool good = vertex[i] >= 0 && vertex[i] < surface->n_vert && surface->body[vertex[i]] == body;
    for (int32_t k = 0; k < i; k++) {
      good = good && vertex[i] != vertex[k];
    }
    if (!good) {
      return false;
    }
  }
  return true;
}

const char* noli_surface_defect(const NoliSurface* surface) {
  NOLI_RULE(surface->tri_first[0] == 0 && surface->edge_first[0] == 0 &&
                surface->point_first[0] == 0,
            "surface: no first body");

  // primitives belong to their body and ascend
  for (int32_t b = 0; b < surface->n_body; b++) {
    for (int64_t t = surface->tri_first[b]; t < surface->tri_first[b + 1]; t++) {
      NOLI_RULE(are_of_body(surface, b, surface->tri + 3 * t, 3),
                "surface: a triangle is not one of its body");
    }
    for (int64_t e = surface->edge_first[b]; e < surface->edge_first[b + 1]; e++) {
      const int32_t* edge = surface->edge + 2 * e;
      bool is_point = surface->covered != NULL && edge[0] == edge[1] && !surface->covered[e];
      NOLI_RULE(are_of_body(surface, b, edge, is_point ? 1 : 2) && (is_point || edge[0] < edge[1]),
                "surface: an edge is not one of its body, or in the wrong order");
      NOLI_RULE(e == surface->edge_first[b] || edge[-2] < edge[0] ||
                    (edge[-2] == edge[0] && edge[-1] < edge[1]),
                "surface: edges do not ascend");
    }
    for (int64_t p = surface->point_first[b]; p < surface->point_first[b + 1]; p++) {
      NOLI_RULE(are_of_body(surface, b, surface->point + p, 1) &&
                    (p == surface->point_first[b] || surface->point[p - 1] < surface->point[p]),
                "surface: points do not ascend, or are not of their body");
    }
  }

  // attachments ascend and are mutual
  for (int32_t v = 0; surface->attached_first != NULL && v < surface->n_vert; v++) {
    for (int64_t k = surface->attached_first[v]; k < surface->attached_first[v + 1]; k++) {
      int32_t other = surface->attached[k];
      NOLI_RULE(other >= 0 && other < surface->n_vert &&
                    (k == surface->attached_first[v] || surface->attached[k - 1] < other),
                "surface: attached vertices do not ascend, or are out of range");
      NOLI_RULE(noli_surface_is_attached(surface, other, v),
                "surface: vertices are attached one way only");
    }
  }

  // totals and offsets
  NOLI_RULE(surface->tri_first[surface->n_body] == surface->n_tri &&
                surface->edge_first[surface->n_body] == surface->n_edge &&
                surface->point_first[surface->n_body] == surface->n_point,
            "surface: the bodies do not hold all primitives");
  for (int32_t b = 0; surface->offset != NULL && b < surface->n_body; b++) {
    NOLI_RULE(surface->offset[b] >= 0.0 && isfinite(surface->offset[b]),
              "surface: an offset is negative or not finite");
  }
  return surface->flat != NULL ? noli_flat_defect(surface) : NULL;
}
