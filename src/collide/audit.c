#include "collide/audit.h"

#include "base/array.h"
#include "base/sort.h"
#include "mesh/topology.h"
#include "collide/plain_distance.h"
#include "noli/intersection.h"

#include <math.h>

// --- an edge against a triangle ---

// Closed segments on one line: their intervals overlap on each of the first `n` axes.
static bool collinear_segments_meet(const double* a, const double* b, const double* c,
                                    const double* d, int n) {
  for (int k = 0; k < n; k++) {
    if (fmax(a[k], b[k]) < fmin(c[k], d[k]) || fmax(c[k], d[k]) < fmin(a[k], b[k])) {
      return false;
    }
  }
  return true;
}

typedef enum Meeting { APART, MEET, COLLINEAR } Meeting;

// Closed segments in a plane, seen along an axis.
static Meeting segments_along(const double* a, const double* b, const double* c, const double* d,
                              int axis) {
  int abc = noli_exact_orient2d(a, b, c, axis), abd = noli_exact_orient2d(a, b, d, axis);
  int cda = noli_exact_orient2d(c, d, a, axis), cdb = noli_exact_orient2d(c, d, b, axis);
  if (abc == 0 && abd == 0 && cda == 0 && cdb == 0) {
    return COLLINEAR;
  }
  return abc * abd <= 0 && cda * cdb <= 0 ? MEET : APART;
}

// Closed segments in the plane of x and y.
static bool plane_segments_meet(const double* a, const double* b, const double* c,
                                const double* d) {
  Meeting meeting = segments_along(a, b, c, d, 2);
  return meeting == COLLINEAR ? collinear_segments_meet(a, b, c, d, 2) : meeting == MEET;
}

// Closed segments in space, points included.
static bool segments_meet(const double* a, const double* b, const double* c, const double* d) {
  if (noli_exact_orient3d(a, b, c, d) != 0) {
    return false;
  }
  // a projection in which any three of the points are not collinear is one to one on their plane
  for (int axis = 0; axis < 3; axis++) {
    Meeting meeting = segments_along(a, b, c, d, axis);
    if (meeting != COLLINEAR) {
      return meeting == MEET;
    }
  }
  return collinear_segments_meet(a, b, c, d, 3);
}

// A point in the plane of a triangle. A triangle without area contains nothing beyond its edges,
// which are tested elsewhere.
static bool contains_coplanar(const double* p, const double* t0, const double* t1,
                              const double* t2) {
  for (int axis = 0; axis < 3; axis++) {
    if (noli_exact_orient2d(t0, t1, t2, axis) != 0) {
      int s0 = noli_exact_orient2d(t0, t1, p, axis), s1 = noli_exact_orient2d(t1, t2, p, axis);
      int s2 = noli_exact_orient2d(t2, t0, p, axis);
      return (s0 >= 0 && s1 >= 0 && s2 >= 0) || (s0 <= 0 && s1 <= 0 && s2 <= 0);
    }
  }
  return false;
}

bool noli_exact_edge_triangle(const double e0[3], const double e1[3], const double t0[3],
                              const double t1[3], const double t2[3]) {
  int side0 = noli_exact_orient3d(t0, t1, t2, e0), side1 = noli_exact_orient3d(t0, t1, t2, e1);
  if (side0 * side1 > 0) {
    return false;
  }
  if (side0 == 0 && side1 == 0) {
    // in the plane of the triangle, or the triangle has no plane
    return segments_meet(e0, e1, t0, t1) || segments_meet(e0, e1, t1, t2) ||
           segments_meet(e0, e1, t2, t0) || contains_coplanar(e0, t0, t1, t2);
  }
  // the segment passes through the plane at one point: on which side of each edge?
  int s0 = noli_exact_orient3d(e0, e1, t0, t1), s1 = noli_exact_orient3d(e0, e1, t1, t2);
  if (s0 * s1 < 0) {
    return false;
  }
  int s2 = noli_exact_orient3d(e0, e1, t2, t0);
  return s0 * s2 >= 0 && s1 * s2 >= 0;
}

static double volume(NoliVec3 a, NoliVec3 b, NoliVec3 c, NoliVec3 d) {
  return noli_dot3(noli_sub3(b, a), noli_cross3(noli_sub3(c, a), noli_sub3(d, a)));
}

// Where an edge passes through the plane of a triangle; if it lies in the plane, the point of the
// edge next to the middle of the triangle.
static NoliVec3 crossing_position(const double* e0, const double* e1, const double* t0,
                                  const double* t1, const double* t2) {
  NoliVec3 p = noli_load3(e0), q = noli_load3(e1);
  NoliVec3 a = noli_load3(t0), b = noli_load3(t1), c = noli_load3(t2);
  double from = fabs(volume(a, b, c, p)), to = fabs(volume(a, b, c, q));
  double s = from / (from + to);
  NoliVec3 along = noli_sub3(q, p);
  if (!(from + to > 0.0)) {
    NoliVec3 middle = noli_scale3(1.0 / 3.0, noli_add3(a, noli_add3(b, c)));
    double length_sqr = noli_norm_sqr3(along);
    s = length_sqr > 0.0 ? noli_dot3(along, noli_sub3(middle, p)) / length_sqr : 0.0;
    s = fmin(fmax(s, 0.0), 1.0);
  }
  return noli_mul_add3(p, s, along);
}

// The point where two segments meet; on one line, the middle of their common part. Points are
// segments without length.
static NoliVec3 meeting_position(const double* e0, const double* e1, const double* f0,
                                 const double* f1) {
  NoliVec3 p = noli_load3(e0), along = noli_sub3(noli_load3(e1), p);
  NoliVec3 to = noli_sub3(noli_load3(f0), p), other = noli_sub3(noli_load3(f1), noli_load3(f0));
  NoliVec3 normal = noli_cross3(along, other);
  double area_sqr = noli_norm_sqr3(normal), length_sqr = noli_norm_sqr3(along), s = 0.0;
  if (area_sqr > 0.0) {
    s = noli_dot3(noli_cross3(to, other), normal) / area_sqr;
  } else if (length_sqr > 0.0) {
    double s0 = noli_dot3(to, along) / length_sqr;
    double s1 = s0 + noli_dot3(other, along) / length_sqr;
    s = 0.5 * (fmin(fmax(s0, 0.0), 1.0) + fmin(fmax(s1, 0.0), 1.0));
  }
  return noli_mul_add3(p, fmin(fmax(s, 0.0), 1.0), along);
}

// --- all edges against all triangles: sort and sweep, in strips ---

// An edge, a lone point (two equal vertices) or a triangle, with its closed box. An item that
// belongs to no triangle is thin. Thin items are on both sides of the sweep; on the side of the
// triangles their last vertex is repeated.
typedef struct Item {
  double lo[3];
  double hi[3];
  int32_t vert[3];
  int32_t body;
  int32_t triangle; // of the surface, or NOLI_NULL_INDEX
  bool thin;
} Item;

// An item in one of the strips its box touches.
typedef struct Entry {
  double lo;
  int32_t strip;
  int32_t item;
} Entry;

typedef struct Sweep Sweep;
typedef NoliStatus PairTest(Sweep* sweep, const Item* edge, const Item* tri);

struct Sweep {
  NoliContext* context;
  const NoliSurface* surface;
  const double* x;
  const NoliBodyPairs* pairs;
  PairTest* test;
  Item* item[2]; // edges and lone points; triangles and thin items
  int32_t n_item[2];
  int along;  // sorted on this axis
  int across; // cut into strips on this axis
  double origin;
  double width;
  NOLI_ARRAY(Entry) entry[2];
  NOLI_ARRAY(NoliCrossing) crossing;
  NOLI_ARRAY(NoliOverlap) overlap;
};

static Item make_item(const Sweep* sweep, const int32_t* vert, int n_vert) {
  Item item = {.body = sweep->surface->body[vert[0]], .triangle = NOLI_NULL_INDEX};
  for (int i = 0; i < 3; i++) {
    item.vert[i] = vert[i < n_vert ? i : n_vert - 1];
  }
  for (int k = 0; k < 3; k++) {
    item.lo[k] = INFINITY;
    item.hi[k] = -INFINITY;
    for (int i = 0; i < n_vert; i++) {
      double x = sweep->x[3 * (int64_t)vert[i] + k];
      item.lo[k] = fmin(item.lo[k], x);
      item.hi[k] = fmax(item.hi[k], x);
    }
  }
  return item;
}

// Marks the edges (n_edge) of triangles.
static void mark_triangle_edges(const NoliSurface* surface, uint8_t* has_triangle) {
  for (int64_t i = 0; i < 3 * (int64_t)surface->n_tri; i++) {
    const int32_t* tri = &surface->tri[i - i % 3];
    int32_t p = tri[i % 3], q = tri[(i + 1) % 3];
    has_triangle[noli_surface_edge(surface, surface->body[p], p, q)] = 1;
  }
}

static void add_thin(Sweep* sweep, Item item) {
  item.thin = true;
  sweep->item[0][sweep->n_item[0]++] = item;
  sweep->item[1][sweep->n_item[1]++] = item;
}

NoliStatus noli_audit_require_finite(NoliContext* context, const NoliSurface* surface,
                                     const double* x) {
  for (int32_t p = 0; p < surface->n_point; p++) {
    int32_t vertex = surface->point[p];
    if (!noli_is_finite3(noli_load3(&x[3 * (int64_t)vertex]))) {
      return noli_fail(context, NOLI_NOT_FINITE, "audit: vertex %d of body %d is not finite",
                       vertex, surface->body[vertex]);
    }
  }
  return NOLI_OK;
}

static NoliStatus make_items(Sweep* sweep) {
  NoliStatus status = NOLI_OK;
  const NoliSurface* surface = sweep->surface;
  uint8_t *has_edge = NULL, *has_triangle = NULL;
  int64_t n_thin_most = (int64_t)surface->n_edge + surface->n_point;
  NOLI_NEW_ZERO(sweep->context, has_edge, surface->n_vert);
  NOLI_NEW_ZERO(sweep->context, has_triangle, surface->n_edge);
  NOLI_NEW(sweep->context, sweep->item[0], n_thin_most);
  NOLI_NEW(sweep->context, sweep->item[1], surface->n_tri + n_thin_most);
  NOLI_TRY(noli_audit_require_finite(sweep->context, surface, sweep->x));
  mark_triangle_edges(surface, has_triangle);

  // triangles
  for (int32_t t = 0; t < surface->n_tri; t++) {
    Item item = make_item(sweep, &surface->tri[3 * (int64_t)t], 3);
    item.triangle = t;
    sweep->item[1][sweep->n_item[1]++] = item;
  }

  // edges of triangles, and segments
  for (int32_t e = 0; e < surface->n_edge; e++) {
    const int32_t* vert = &surface->edge[2 * (int64_t)e];
    has_edge[vert[0]] = has_edge[vert[1]] = 1;
    if (has_triangle[e]) {
      sweep->item[0][sweep->n_item[0]++] = make_item(sweep, vert, 2);
    } else {
      add_thin(sweep, make_item(sweep, vert, 2));
    }
  }

  // points without an edge
  for (int32_t p = 0; p < surface->n_point; p++) {
    if (!has_edge[surface->point[p]]) {
      add_thin(sweep, make_item(sweep, &surface->point[p], 1));
    }
  }
done:
  noli_free(sweep->context, has_edge);
  noli_free(sweep->context, has_triangle);
  return status;
}

// Sweeps along the widest axis; strips on the second are about as wide as the items.
static void choose_strips(Sweep* sweep) {
  double lo[3], hi[3], size[3] = {0.0, 0.0, 0.0};
  for (int k = 0; k < 3; k++) {
    lo[k] = INFINITY;
    hi[k] = -INFINITY;
    for (int kind = 0; kind < 2; kind++) {
      for (int32_t i = 0; i < sweep->n_item[kind]; i++) {
        const Item* item = &sweep->item[kind][i];
        lo[k] = fmin(lo[k], item->lo[k]);
        hi[k] = fmax(hi[k], item->hi[k]);
        size[k] += 0.5 * item->hi[k] - 0.5 * item->lo[k];
      }
    }
  }

  int n_smaller[3] = {0, 0, 0};
  for (int k = 0; k < 3; k++) {
    for (int j = 0; j < 3; j++) {
      double width_k = 0.5 * hi[k] - 0.5 * lo[k], width_j = 0.5 * hi[j] - 0.5 * lo[j];
      n_smaller[k] += width_j < width_k || (width_j == width_k && j > k);
    }
    sweep->along = n_smaller[k] == 2 ? k : sweep->along;
    sweep->across = n_smaller[k] == 1 ? k : sweep->across;
  }

  int k = sweep->across;
  double n = (double)sweep->n_item[0] + (double)sweep->n_item[1];
  sweep->origin = lo[k];
  sweep->width = fmax(2.0 * size[k] / n, (0.5 * hi[k] - 0.5 * lo[k]) / 1024.0);
}

// Ascends with the coordinate, so a box touches all strips between those of its ends.
static int32_t strip_of(const Sweep* sweep, double coordinate) {
  double strip = sweep->width > 0.0 ? (coordinate - sweep->origin) / sweep->width : 0.0;
  return strip < 4096.0 ? (int32_t)strip : 4096;
}

static int compare_entries(const void* a, const void* b) {
  const Entry *p = a, *q = b;
  int strips = noli_order(p->strip, q->strip), ends = noli_order_of_doubles(p->lo, q->lo);
  return strips != 0 ? strips : ends != 0 ? ends : noli_order(p->item, q->item);
}

static NoliStatus make_entries(Sweep* sweep, int kind) {
  NoliStatus status = NOLI_OK;
  for (int32_t i = 0; i < sweep->n_item[kind]; i++) {
    const Item* item = &sweep->item[kind][i];
    int32_t last = strip_of(sweep, item->hi[sweep->across]);
    for (int32_t s = strip_of(sweep, item->lo[sweep->across]); s <= last; s++) {
      Entry entry = {item->lo[sweep->along], s, i};
      NOLI_PUSH(sweep->context, &sweep->entry[kind], entry);
    }
  }
  noli_sort(sweep->entry[kind].data, sweep->entry[kind].count, sizeof(Entry), compare_entries);
done:
  return status;
}

// Whether a tie holds an edge and a triangle together at a vertex: they touch there.
static bool are_tied(const Sweep* sweep, const Item* edge, const Item* tri) {
  return noli_surface_are_attached(sweep->surface, 2, edge->vert, 3, tri->vert);
}

static bool share_vertex(const Item* edge, const Item* tri) {
  bool shared = false;
  for (int i = 0; i < 3; i++) {
    shared = shared || edge->vert[0] == tri->vert[i] || edge->vert[1] == tri->vert[i];
  }
  return shared;
}

// Whether a pair must be tested. Two thin items are on both sides: only one of them finds the
// other.
static bool is_wanted(const Sweep* sweep, const Item* edge, const Item* tri) {
  bool once = !tri->thin || (edge->thin && edge->vert[0] < tri->vert[0]);
  return once && noli_body_pairs_get(sweep->pairs, edge->body, tri->body) &&
         !share_vertex(edge, tri) && !are_tied(sweep, edge, tri);
}

// Does the edge meet the triangle, or the thin item?
static NoliStatus test_crossing(Sweep* sweep, const Item* edge, const Item* tri) {
  NoliStatus status = NOLI_OK;
  if (!is_wanted(sweep, edge, tri)) {
    return NOLI_OK;
  }
  const double* p[5];
  for (int i = 0; i < 5; i++) {
    p[i] = &sweep->x[3 * (int64_t)(i < 2 ? edge->vert[i] : tri->vert[i - 2])];
  }
  // a triangle without area is its edges
  bool planar = tri->thin && noli_surface_is_planar(sweep->surface, edge->body, tri->body);
  if (planar ? plane_segments_meet(p[0], p[1], p[2], p[3])
             : noli_exact_edge_triangle(p[0], p[1], p[2], p[3], p[4])) {
    NoliCrossing crossing = {.edge = {edge->vert[0], edge->vert[1]},
                             .tri = {tri->vert[0], tri->vert[1], tri->vert[2]},
                             .triangle = tri->triangle};
    crossing.position = tri->thin ? meeting_position(p[0], p[1], p[2], p[3])
                                  : crossing_position(p[0], p[1], p[2], p[3], p[4]);
    NOLI_PUSH(sweep->context, &sweep->crossing, crossing);
  }
done:
  return status;
}

// Tests one edge against one triangle that overlap on the axis of the sweep in this strip.
static NoliStatus test_pair(Sweep* sweep, int32_t strip, int32_t edge_item, int32_t tri_item) {
  const Item *edge = &sweep->item[0][edge_item], *tri = &sweep->item[1][tri_item];
  for (int k = 0; k < 3; k++) {
    if (edge->lo[k] > tri->hi[k] || tri->lo[k] > edge->hi[k]) {
      return NOLI_OK;
    }
  }
  // of all strips they share, only the first tests them
  bool first = strip_of(sweep, fmax(edge->lo[sweep->across], tri->lo[sweep->across])) == strip;
  return first ? sweep->test(sweep, edge, tri) : NOLI_OK;
}

// Does the entry lie in another strip, or before `other` in the sweep?
static bool comes_before(const Entry* entry, const Entry* other) {
  return entry->strip < other->strip || (entry->strip == other->strip && entry->lo < other->lo);
}

// Walks both sorted lists together; each entry meets those of the other kind that begin within it.
static NoliStatus sweep_pairs(Sweep* sweep) {
  NoliStatus status = NOLI_OK;
  int64_t next[2] = {0, 0};
  while (next[0] < sweep->entry[0].count && next[1] < sweep->entry[1].count) {
    const Entry *edge = &sweep->entry[0].data[next[0]], *tri = &sweep->entry[1].data[next[1]];
    int kind = comes_before(tri, edge) ? 1 : 0;
    const Entry* entry = kind == 0 ? edge : tri;
    double end = sweep->item[kind][entry->item].hi[sweep->along];
    for (int64_t i = next[1 - kind]; i < sweep->entry[1 - kind].count; i++) {
      const Entry* other = &sweep->entry[1 - kind].data[i];
      if (other->strip != entry->strip || other->lo > end) {
        break;
      }
      int32_t pair[2] = {entry->item, other->item};
      NOLI_TRY(test_pair(sweep, entry->strip, pair[kind], pair[1 - kind]));
    }
    next[kind]++;
  }
done:
  return status;
}

static NoliStatus run_sweep(Sweep* sweep) {
  NoliStatus status = NOLI_OK;
  if (sweep->n_item[0] == 0 || sweep->n_item[1] == 0) {
    return NOLI_OK;
  }
  choose_strips(sweep);
  NOLI_TRY(make_entries(sweep, 0));
  NOLI_TRY(make_entries(sweep, 1));
  NOLI_TRY(sweep_pairs(sweep));
done:
  return status;
}

static void free_sweep(Sweep* sweep) {
  for (int kind = 0; kind < 2; kind++) {
    noli_free(sweep->context, sweep->item[kind]);
    noli_array_free(sweep->context, &sweep->entry[kind]);
  }
  noli_array_free(sweep->context, &sweep->crossing);
  noli_array_free(sweep->context, &sweep->overlap);
}

static int compare_crossings(const void* a, const void* b) {
  const NoliCrossing *p = a, *q = b;
  // thin items come after all triangles
  int32_t last_p = p->triangle == NOLI_NULL_INDEX ? INT32_MAX : p->triangle;
  int32_t last_q = q->triangle == NOLI_NULL_INDEX ? INT32_MAX : q->triangle;
  const int32_t key_p[5] = {p->edge[0], p->edge[1], last_p, p->tri[0], p->tri[1]};
  const int32_t key_q[5] = {q->edge[0], q->edge[1], last_q, q->tri[0], q->tri[1]};
  return noli_compare_tuples(key_p, key_q, 5);
}

NoliStatus noli_audit_intersections(NoliContext* context, const NoliSurface* surface,
                                    const double* x, const NoliBodyPairs* pairs,
                                    NoliCrossing** crossings, int64_t* n_crossings) {
  NoliStatus status = NOLI_OK;
  Sweep sweep = {
      .context = context, .surface = surface, .x = x, .pairs = pairs, .test = test_crossing};
  *crossings = NULL;
  *n_crossings = 0;
  NOLI_TRY(make_items(&sweep));
  NOLI_TRY(run_sweep(&sweep));
  noli_sort(sweep.crossing.data, sweep.crossing.count, sizeof(NoliCrossing), compare_crossings);
  // the caller takes the list
  *crossings = sweep.crossing.data;
  *n_crossings = sweep.crossing.count;
  sweep.crossing.data = NULL;
done:
  free_sweep(&sweep);
  return status;
}

// --- surfaces with offsets: points against triangles, edges against edges ---

// The box of the primitive and everything within its offset, rounded outwards.
static Item make_thick_item(const Sweep* sweep, const int32_t* vert, int n_vert) {
  Item item = make_item(sweep, vert, n_vert);
  double offset = noli_surface_offset_of(sweep->surface, item.body);
  for (int k = 0; k < 3; k++) {
    item.lo[k] = nextafter(item.lo[k] - offset, -INFINITY);
    item.hi[k] = nextafter(item.hi[k] + offset, INFINITY);
  }
  return item;
}

static NoliStatus test_overlap(Sweep* sweep, const Item* one, const Item* other) {
  NoliStatus status = NOLI_OK;
  bool edges = other->triangle == NOLI_NULL_INDEX;
  bool once = !edges || one->vert[0] < other->vert[0] ||
              (one->vert[0] == other->vert[0] && one->vert[1] < other->vert[1]);
  if (!once || share_vertex(one, other) ||
      !noli_body_pairs_get(sweep->pairs, one->body, other->body)) {
    return NOLI_OK;
  }

  // a point and a triangle, or two edges
  const double* x[4];
  for (int i = 0; i < 4; i++) {
    int first = edges ? 2 : 1;
    x[i] = &sweep->x[3 * (int64_t)(i < first ? one->vert[i] : other->vert[i - first])];
  }
  long double d = edges ? noli_plain_distance_edge_edge(x) : noli_plain_distance_point_triangle(x);
  double offset = noli_surface_offset(sweep->surface, one->body, other->body);
  if (d <= offset) {
    NoliOverlap overlap = {.a = {one->vert[0], one->vert[1]},
                           .b = {other->vert[0], other->vert[1], other->vert[2]},
                           .gap = (double)(d - offset)};
    NOLI_PUSH(sweep->context, &sweep->overlap, overlap);
  }
done:
  return status;
}

static NoliStatus sweep_points(Sweep* sweep) {
  NoliStatus status = NOLI_OK;
  const NoliSurface* surface = sweep->surface;
  NOLI_NEW(sweep->context, sweep->item[0], surface->n_point);
  NOLI_NEW(sweep->context, sweep->item[1], surface->n_tri);
  for (int32_t p = 0; p < surface->n_point; p++) {
    sweep->item[0][sweep->n_item[0]++] = make_thick_item(sweep, &surface->point[p], 1);
  }
  for (int32_t t = 0; t < surface->n_tri; t++) {
    sweep->item[1][t] = make_thick_item(sweep, &surface->tri[3 * (int64_t)t], 3);
    sweep->item[1][sweep->n_item[1]++].triangle = t;
  }
  NOLI_TRY(run_sweep(sweep));
done:
  return status;
}

// Edges, and lone points as edges without length.
static NoliStatus sweep_edges(Sweep* sweep) {
  NoliStatus status = NOLI_OK;
  const NoliSurface* surface = sweep->surface;
  int64_t n = (int64_t)surface->n_edge + surface->n_point;
  uint8_t* has_edge = NULL;
  NOLI_NEW_ZERO(sweep->context, has_edge, surface->n_vert);
  for (int kind = 0; kind < 2; kind++) {
    NOLI_NEW(sweep->context, sweep->item[kind], n);
    for (int32_t e = 0; e < surface->n_edge; e++) {
      const int32_t* edge = &surface->edge[2 * (int64_t)e];
      has_edge[edge[0]] = has_edge[edge[1]] = 1;
      sweep->item[kind][sweep->n_item[kind]++] = make_thick_item(sweep, edge, 2);
    }
    for (int32_t p = 0; p < surface->n_point; p++) {
      if (!has_edge[surface->point[p]]) {
        sweep->item[kind][sweep->n_item[kind]++] = make_thick_item(sweep, &surface->point[p], 1);
      }
    }
  }
  NOLI_TRY(run_sweep(sweep));
done:
  noli_free(sweep->context, has_edge);
  return status;
}

static int compare_overlaps(const void* a, const void* b) {
  const NoliOverlap *p = a, *q = b;
  // points come before edges
  const int32_t key_p[6] = {p->a[0] != p->a[1], p->a[0], p->a[1], p->b[0], p->b[1], p->b[2]};
  const int32_t key_q[6] = {q->a[0] != q->a[1], q->a[0], q->a[1], q->b[0], q->b[1], q->b[2]};
  return noli_compare_tuples(key_p, key_q, 6);
}

NoliStatus noli_audit_overlaps(NoliContext* context, const NoliSurface* surface, const double* x,
                               const NoliBodyPairs* pairs, NoliOverlap** overlaps,
                               int64_t* n_overlaps) {
  NoliStatus status = NOLI_OK;
  const Sweep none = {
      .context = context, .surface = surface, .x = x, .pairs = pairs, .test = test_overlap};
  Sweep points = none, edges = none;
  *overlaps = NULL;
  *n_overlaps = 0;
  NOLI_TRY(noli_audit_require_finite(context, surface, x));
  NOLI_TRY(sweep_points(&points));
  NOLI_TRY(sweep_edges(&edges));
  for (int64_t i = 0; i < edges.overlap.count; i++) {
    NOLI_PUSH(context, &points.overlap, edges.overlap.data[i]);
  }
  noli_sort(points.overlap.data, points.overlap.count, sizeof(NoliOverlap), compare_overlaps);
  // the caller takes the list
  *overlaps = points.overlap.data;
  *n_overlaps = points.overlap.count;
  points.overlap.data = NULL;
done:
  free_sweep(&points);
  free_sweep(&edges);
  return status;
}

// --- half-spaces ---

// Is a vertex above a plane by more than the offset of its body?
static bool is_above(const double* at, const double* origin, const double* normal, double offset) {
  long double height = 0.0L;
  for (int k = 0; k < 3; k++) {
    height += normal[k] * ((long double)at[k] - origin[k]);
  }
  return offset > 0.0 ? height > offset : noli_exact_plane_side(at, origin, normal) > 0;
}

int32_t noli_audit_below_plane(const NoliSurface* surface, const double* x,
                               const NoliHalfSpace* half_spaces, const NoliBodyPairs* pairs,
                               int32_t p, int32_t first) {
  double origin[3], normal[3];
  noli_store3(origin, half_spaces[p].origin);
  noli_store3(normal, half_spaces[p].normal);
  for (int32_t i = first; i < surface->n_point; i++) {
    const double* at = &x[3 * (int64_t)surface->point[i]];
    int32_t body = surface->body[surface->point[i]];
    if (noli_body_pairs_get(pairs, body, surface->n_body + p) &&
        (!noli_is_finite3(noli_load3(at)) ||
         !is_above(at, origin, normal, noli_surface_offset_of(surface, body)))) {
      return i;
    }
  }
  return surface->n_point;
}

int64_t noli_audit_inverted(const double* x, const int32_t* tet, int32_t n_tet, int32_t* first) {
  int64_t n_inverted = 0;
  int32_t found = NOLI_NULL_INDEX;
  for (int32_t t = 0; t < n_tet; t++) {
    const double* p[4];
    bool finite = true, flat = tet[4 * (int64_t)t + 3] < 0;
    for (int i = 0; i < (flat ? 3 : 4); i++) {
      p[i] = &x[3 * (int64_t)tet[4 * (int64_t)t + i]];
      finite = finite && noli_is_finite3(noli_load3(p[i]));
    }
    if (!finite || (flat ? noli_exact_orient2d(p[0], p[1], p[2], 2)
                         : noli_exact_orient3d(p[0], p[1], p[2], p[3])) <= 0) {
      found = n_inverted == 0 ? t : found;
      n_inverted++;
    }
  }
  if (first != NULL) {
    *first = found;
  }
  return n_inverted;
}

// --- the public test of a mesh ---

NoliStatus noli_mesh_intersections(NoliContext* context, int32_t n_vert, const double* x,
                                   int32_t n_tri, const int32_t* tri,
                                   NoliMeshIntersection** intersections, int64_t* n_intersections) {
  NOLI_REQUIRE(context,
               context != NULL && x != NULL && intersections != NULL && n_intersections != NULL);
  NoliStatus status = NOLI_OK;
  NoliSurface* surface = NULL;
  NoliCrossing* crossing = NULL;
  int64_t n = 0;
  *intersections = NULL;
  *n_intersections = 0;
  NOLI_CHECK(context, n_vert >= 0 && n_tri >= 0, NOLI_ERROR_ARGUMENT,
             "mesh intersections: %d vertices, %d triangles", n_vert, n_tri);
  const int32_t vert_first[2] = {0, n_vert};
  const NoliSurfaceParts parts = {.n_tri = n_tri, .tri = tri};
  NOLI_TRY(noli_surface_create(context, 1, vert_first, &parts, &surface));
  NOLI_TRY(noli_audit_intersections(context, surface, x, NULL, &crossing, &n));

  if (n > 0) {
    NOLI_NEW(context, *intersections, n);
    for (int64_t i = 0; i < n; i++) {
      NoliMeshIntersection* to = &(*intersections)[i];
      *to = (NoliMeshIntersection){.edge = {crossing[i].edge[0], crossing[i].edge[1]},
                                   .tri = crossing[i].triangle};
      noli_store3(to->position, crossing[i].position);
    }
    *n_intersections = n;
  }
done:
  noli_free(context, crossing);
  noli_surface_destroy(context, &surface);
  return status;
}

void noli_mesh_intersections_free(NoliContext* context, NoliMeshIntersection** intersections) {
  if (intersections != NULL) {
    noli_free(context, *intersections);
    *intersections = NULL;
  }
}
