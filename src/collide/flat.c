#include "collide/flat.h"

#include "base/validate.h"
#include "collide/closest.h"

#include <float.h>
#include <math.h>
#include <string.h>

// The largest fold of a flat edge, rad: what files in single precision, or with a few digits, leave
// of a plane; and of one that was found flat, where it is now.
#define FLAT_FOLD 1e-4
#define STILL_FLAT_FOLD 2e-4
// Triangles flatter than this, height over longest edge, have no reliable plane.
#define LEAST_HEIGHT 1e-6
// How far pairs with a flat edge reach: in heights of the fold, and in rounding errors of
// coordinates.
#define FOLD_REACH 8.0
#define ROUNDING (64.0 * DBL_EPSILON)
// Angles of fans, rad, that are taken for half a turn or a full one.
#define ANGLE_SLACK 1e-3
#define PI 3.14159265358979323846

// ---- whether parts are flat ---------------------------------------------------------------------

static double flat_largest_of(int32_t n, const NoliVec3* y) {
  double largest = 0.0;
  for (int32_t i = 0; i < n; i++) {
    largest = fmax(largest, fmax(fabs(y[i].x), fmax(fabs(y[i].y), fabs(y[i].z))));
  }
  return largest;
}

static double fold_reach(double height, int32_t n, const NoliVec3* y) {
  return FOLD_REACH * height + ROUNDING * flat_largest_of(n, y);
}

// Whether two triangles y[0] y[1] y[2] and y[0] y[1] y[3] continue each other with a fold of at
// most `most`.
static bool flat_is_flat(const NoliVec3 y[4], double most, double* reach) {
  NoliVec3 e = noli_sub3(y[1], y[0]), a = noli_sub3(y[2], y[0]), b = noli_sub3(y[3], y[0]);
  NoliVec3 n_a = noli_cross3(e, a), n_b = noli_cross3(e, b);
  double length_sqr = noli_norm_sqr3(e), a_sqr = noli_norm_sqr3(n_a), b_sqr = noli_norm_sqr3(n_b);
  double size_sqr = fmax(length_sqr, fmax(noli_norm_sqr3(a), noli_norm_sqr3(b)));
  double least = LEAST_HEIGHT * size_sqr;
  if (!(a_sqr > least * least && b_sqr > least * least) || !(noli_dot3(n_a, n_b) < 0.0)) {
    return false;
  }
  // heights above the edge, and of each third vertex above the plane of the other triangle
  double height_a = sqrt(a_sqr / length_sqr), height_b = sqrt(b_sqr / length_sqr);
  double volume = fabs(noli_dot3(n_a, b));
  double above_a = volume / sqrt(a_sqr), above_b = volume / sqrt(b_sqr);
  *reach = fold_reach(fmax(above_a, above_b), 4, y);
  return above_a <= most * height_b && above_b <= most * height_a;
}

// The same for two segments y[0] y[1] and y[0] y[2].
static bool is_straight(const NoliVec3 y[3], double most, double* reach) {
  NoliVec3 a = noli_sub3(y[1], y[0]), b = noli_sub3(y[2], y[0]);
  double twice_area = noli_norm3(noli_cross3(a, b)), a_length = noli_norm3(a),
         b_length = noli_norm3(b);
  *reach = fold_reach(twice_area / fmin(a_length, b_length), 3, y);
  return twice_area <= most * a_length * b_length && noli_dot3(a, b) < 0.0;
}

static void load_edge(const NoliSurface* surface, const double* x, int32_t edge,
                      const int32_t opposite[2], NoliVec3 y[4]) {
  const int32_t* v = &surface->edge[2 * (int64_t)edge];
  const int32_t node[4] = {v[0], v[1], opposite[0], opposite[1]};
  for (int k = 0; k < 4; k++) {
    y[k] = noli_load3(x + 3 * (int64_t)node[k]);
  }
}

bool noli_flat_edge(const NoliSurface* surface, const double* x, int32_t edge, double* reach) {
  const int32_t* opposite = &surface->flat->opposite[2 * (int64_t)edge];
  if (opposite[0] == NOLI_NULL_INDEX) {
    return false;
  }
  NoliVec3 y[4];
  load_edge(surface, x, edge, opposite, y);
  return flat_is_flat(y, STILL_FLAT_FOLD, reach);
}

// The vertex and the other ends of its two segments.
static void load_line(const NoliSurface* surface, const double* x, int32_t vertex,
                      const int32_t spoke[2], NoliVec3 y[3]) {
  y[0] = noli_load3(x + 3 * (int64_t)vertex);
  for (int k = 0; k < 2; k++) {
    const int32_t* v = &surface->edge[2 * (int64_t)spoke[k]];
    y[1 + k] = noli_load3(x + 3 * (int64_t)(v[0] == vertex ? v[1] : v[0]));
  }
}

bool noli_flat_vertex(const NoliSurface* surface, const double* x, int32_t vertex, double* reach) {
  const NoliFlat* flat = surface->flat;
  int64_t begin = flat->spoke_first[vertex], end = flat->spoke_first[vertex + 1];
  *reach = 0.0;
  if (begin < end && flat->opposite[2 * (int64_t)flat->spoke[begin]] == NOLI_NULL_INDEX) {
    NoliVec3 y[3];
    load_line(surface, x, vertex, flat->spoke + begin, y);
    return is_straight(y, STILL_FLAT_FOLD, reach);
  }
  for (int64_t k = begin; k < end; k++) {
    double one;
    if (!noli_flat_edge(surface, x, flat->spoke[k], &one)) {
      return false;
    }
    *reach = fmax(*reach, one);
  }
  return begin < end;
}

// ---- how often features count -------------------------------------------------------------------

void noli_flat_triangle(const NoliSurface* surface, const double* x, int32_t tri,
                        const NoliVec3 y[4], int32_t count[NOLI_FLAT_FEATURES]) {
  const int32_t* v = &surface->tri[3 * (int64_t)tri];
  int32_t part = surface->flat->tri[tri];
  memset(count, 0, NOLI_FLAT_FEATURES * sizeof *count);
  count[noli_closest_subset(y, 7)]++;
  for (int32_t k = 0; k < 3; k++) {
    double reach;
    int32_t next = (k + 1) % 3;
    if ((part & NOLI_FLAT_MINUS << k) != 0 &&
        noli_flat_edge(surface, x, noli_surface_edge(surface, surface->body[v[k]], v[k], v[next]),
                       &reach)) {
      count[noli_closest_subset(y, 1 << k | 1 << next)]--;
    }
    if ((part & NOLI_FLAT_PLUS << k) != 0) {
      count[1 << k]++;
    }
  }
}

void noli_flat_segment(const NoliSurface* surface, const double* x, int32_t edge,
                       const NoliVec3 y[3], int32_t count[NOLI_FLAT_FEATURES]) {
  const int32_t* v = &surface->edge[2 * (int64_t)edge];
  memset(count, 0, NOLI_FLAT_FEATURES * sizeof *count);
  count[noli_closest_subset(y, 3)]++;
  for (int32_t k = 0; k < 2; k++) {
    double reach;
    if ((surface->flat->segment[edge] & NOLI_FLAT_MINUS << k) != 0 &&
        noli_flat_vertex(surface, x, v[k], &reach)) {
      count[1 << k]--;
    }
  }
}

// ---- finding them -------------------------------------------------------------------------------

typedef struct Finding {
  const NoliSurface* surface;
  const double* x;
  NoliFlat* flat;
  int32_t* n_tri;    // (n_edge) triangles of an edge
  int32_t* side;     // (n_edge x 2) the first two of them
  int32_t* tri_edge; // (n_tri x 3) edges, from vertex k to the next
  int64_t* first;    // (n_vert + 1) corners of triangles at each vertex
  int32_t* corner;   // 3 triangle + k
  bool* seen;        // (3 n_tri) corners whose fan is known
  bool* complete;    // (n_vert) whether all that is at a vertex is one complete fan, or a line
} Finding;

static NoliVec3 flat_load(const Finding* finding, int32_t v) {
  return noli_load3(finding->x + 3 * (int64_t)v);
}

// The triangles of each edge of a body, and its flat edges.
static void find_edges(const Finding* finding, int32_t body) {
  const NoliSurface* surface = finding->surface;
  for (int32_t t = surface->tri_first[body]; t < surface->tri_first[body + 1]; t++) {
    const int32_t* v = &surface->tri[3 * (int64_t)t];
    for (int32_t k = 0; k < 3; k++) {
      int32_t e = noli_surface_edge(surface, body, v[k], v[(k + 1) % 3]);
      finding->tri_edge[3 * (int64_t)t + k] = e;
      if (finding->n_tri[e] < 2) {
        finding->side[2 * (int64_t)e + finding->n_tri[e]] = t;
        finding->flat->opposite[2 * (int64_t)e + finding->n_tri[e]] = v[(k + 2) % 3];
      }
      finding->n_tri[e]++;
    }
  }

  for (int32_t e = surface->edge_first[body]; e < surface->edge_first[body + 1]; e++) {
    int32_t* opposite = &finding->flat->opposite[2 * (int64_t)e];
    NoliVec3 y[4];
    double reach;
    if (finding->n_tri[e] == 2) {
      load_edge(surface, finding->x, e, opposite, y);
    }
    if (finding->n_tri[e] != 2 || !flat_is_flat(y, FLAT_FOLD, &reach)) {
      opposite[0] = opposite[1] = NOLI_NULL_INDEX;
    }
  }
}

// The first triangle of a flat edge subtracts it.
static void mark_edges(const Finding* finding, int32_t body) {
  const NoliSurface* surface = finding->surface;
  for (int32_t t = surface->tri_first[body]; t < surface->tri_first[body + 1]; t++) {
    for (int32_t k = 0; k < 3; k++) {
      int64_t e = finding->tri_edge[3 * (int64_t)t + k];
      if (finding->flat->opposite[2 * e] != NOLI_NULL_INDEX) {
        finding->flat->body[body] = true;
        finding->flat->tri[t] |= NOLI_FLAT_MEMBER;
        finding->flat->tri[t] |= finding->side[2 * e] == t ? (uint8_t)(NOLI_FLAT_MINUS << k) : 0;
      }
    }
  }
}

// Triangles around a vertex, one after the other across flat edges.
typedef struct Fan {
  int32_t n_tri;
  int32_t n_flat; // edges between them
  double angle;
} Fan;

static int64_t lone_count(const NoliSurface* surface, int32_t v) {
  return surface->lone_first != NULL ? surface->lone_first[v + 1] - surface->lone_first[v] : 0;
}

static int32_t corner_at(const NoliSurface* surface, int32_t t, int32_t v) {
  const int32_t* tri = &surface->tri[3 * (int64_t)t];
  return tri[0] == v ? 0 : tri[1] == v ? 1 : 2;
}

// Adds the triangles from t on to the fan, first across the edge k or the edge before vertex k,
// until the fan ends or closes.
static void walk(const Finding* finding, int32_t v, int32_t t, bool forward, Fan* fan) {
  int32_t k = corner_at(finding->surface, t, v), across = forward ? k : (k + 2) % 3;
  int64_t e = finding->tri_edge[3 * (int64_t)t + across];
  while (finding->flat->opposite[2 * e] != NOLI_NULL_INDEX) {
    t = finding->side[2 * e] == t ? finding->side[2 * e + 1] : finding->side[2 * e];
    k = corner_at(finding->surface, t, v);
    fan->n_flat++;
    if (finding->seen[3 * (int64_t)t + k]) {
      return; // closed
    }
    const int32_t* tri = &finding->surface->tri[3 * (int64_t)t];
    NoliVec3 y = flat_load(finding, v), a = noli_sub3(flat_load(finding, tri[(k + 1) % 3]), y);
    NoliVec3 b = noli_sub3(flat_load(finding, tri[(k + 2) % 3]), y);
    finding->seen[3 * (int64_t)t + k] = true;
    fan->n_tri++;
    fan->angle += atan2(noli_norm3(noli_cross3(a, b)), noli_dot3(a, b));
    int64_t one = finding->tri_edge[3 * (int64_t)t + k];
    int64_t other = finding->tri_edge[3 * (int64_t)t + (k + 2) % 3];
    e = one == e ? other : one;
  }
}

// The fan of corner k of triangle t.
static Fan fan_of(const Finding* finding, int32_t v, int32_t t, int32_t k) {
  const int32_t* tri = &finding->surface->tri[3 * (int64_t)t];
  NoliVec3 y = flat_load(finding, v), a = noli_sub3(flat_load(finding, tri[(k + 1) % 3]), y);
  NoliVec3 b = noli_sub3(flat_load(finding, tri[(k + 2) % 3]), y);
  Fan fan = {.n_tri = 1, .angle = atan2(noli_norm3(noli_cross3(a, b)), noli_dot3(a, b))};
  finding->seen[3 * (int64_t)t + k] = true;
  walk(finding, v, t, true, &fan);
  if (fan.n_flat < fan.n_tri) {
    walk(finding, v, t, false, &fan);
  }
  return fan;
}

// Adds a vertex with one triangle of each fan that is complete or reentrant.
static void mark_fans(const Finding* finding, int32_t v) {
  int64_t begin = finding->first[v], end = finding->first[v + 1];
  for (int64_t c = begin; c < end; c++) {
    int32_t t = finding->corner[c] / 3, k = finding->corner[c] % 3;
    if (finding->seen[finding->corner[c]]) {
      continue;
    }
    Fan fan = fan_of(finding, v, t, k);
    bool complete = fan.n_flat == fan.n_tri;
    if (complete || fan.angle > PI + ANGLE_SLACK) {
      finding->flat->tri[t] |= (uint8_t)(NOLI_FLAT_PLUS << k);
    }
    finding->complete[v] = complete && fan.n_tri == end - begin &&
                           lone_count(finding->surface, v) == 0 &&
                           fabs(fan.angle - 2.0 * PI) < ANGLE_SLACK;
  }
}

// Lists the corners at each vertex of rigid bodies.
static void list_corners(const Finding* finding, const bool* rigid) {
  const NoliSurface* surface = finding->surface;
  for (int64_t c = 0; c < 3 * (int64_t)surface->n_tri; c++) {
    finding->first[surface->tri[c] + 2] += rigid[surface->body[surface->tri[c]]];
  }
  for (int32_t v = 0; v < surface->n_vert; v++) {
    finding->first[v + 2] += finding->first[v + 1];
  }
  // first[v + 1] is where the next corner of v goes, and ends up where those of v + 1 begin
  for (int64_t c = 0; c < 3 * (int64_t)surface->n_tri; c++) {
    if (rigid[surface->body[surface->tri[c]]]) {
      finding->corner[finding->first[surface->tri[c] + 1]++] = (int32_t)c;
    }
  }
}

// Marks a vertex between two segments in a line; the first subtracts it.
static void mark_line(const Finding* finding, int32_t v) {
  const NoliSurface* surface = finding->surface;
  const int32_t* spoke = &surface->lone[surface->lone_first[v]];
  const int32_t *a = &surface->edge[2 * (int64_t)spoke[0]],
                *b = &surface->edge[2 * (int64_t)spoke[1]];
  NoliVec3 y[3];
  double reach;
  if (noli_surface_edge_size(a) != 2 || noli_surface_edge_size(b) != 2) {
    return;
  }
  load_line(surface, finding->x, v, spoke, y);
  if (is_straight(y, FLAT_FOLD, &reach)) {
    finding->complete[v] = true;
    finding->flat->body[surface->body[v]] = true;
    finding->flat->segment[spoke[0]] |= a[0] == v ? NOLI_FLAT_MINUS : NOLI_FLAT_MINUS << 1;
    finding->flat->segment[spoke[0]] |= NOLI_FLAT_MEMBER;
    finding->flat->segment[spoke[1]] |= NOLI_FLAT_MEMBER;
  }
}

static void mark_vertex(const Finding* finding, int32_t v) {
  bool has_triangles = finding->first[v] < finding->first[v + 1];
  if (has_triangles) {
    mark_fans(finding, v);
  } else if (lone_count(finding->surface, v) == 2) {
    mark_line(finding, v);
  }
}

// Lists the edges of complete fans and lines.
static NoliStatus list_spokes(NoliContext* context, const Finding* finding) {
  NoliStatus status = NOLI_OK;
  const NoliSurface* surface = finding->surface;
  int64_t *first = NULL, n = 0;
  NOLI_NEW_ZERO(context, first, (int64_t)surface->n_vert + 2);
  for (int64_t i = 0; i < 2 * (int64_t)surface->n_edge; i++) {
    int32_t v = surface->edge[i];
    if (finding->complete[v]) {
      first[v + 2]++;
      n++;
    }
  }

  for (int32_t v = 0; v < surface->n_vert; v++) {
    first[v + 2] += first[v + 1];
  }
  NOLI_NEW(context, finding->flat->spoke, n);
  for (int64_t i = 0; i < 2 * (int64_t)surface->n_edge; i++) {
    int32_t v = surface->edge[i];
    if (finding->complete[v]) {
      finding->flat->spoke[first[v + 1]++] = (int32_t)(i / 2);
    }
  }

  finding->flat->spoke_first = first;
  first = NULL;
done:
  noli_free(context, first);
  return status;
}

static NoliStatus flat_allocate(NoliContext* context, const NoliSurface* surface,
                                Finding* finding) {
  NoliStatus status = NOLI_OK;
  int64_t n_edge = surface->n_edge, n_tri = surface->n_tri, n_vert = surface->n_vert;
  NOLI_NEW_ZERO(context, finding->flat, 1);
  NOLI_NEW_ZERO(context, finding->flat->body, surface->n_body);
  NOLI_NEW(context, finding->flat->opposite, 2 * n_edge);
  NOLI_NEW_ZERO(context, finding->flat->tri, n_tri);
  NOLI_NEW_ZERO(context, finding->flat->segment, n_edge);
  NOLI_NEW_ZERO(context, finding->n_tri, n_edge);
  NOLI_NEW(context, finding->side, 2 * n_edge);
  NOLI_NEW(context, finding->tri_edge, 3 * n_tri);
  NOLI_NEW_ZERO(context, finding->first, n_vert + 2);
  NOLI_NEW(context, finding->corner, 3 * n_tri);
  NOLI_NEW_ZERO(context, finding->seen, 3 * n_tri);
  NOLI_NEW_ZERO(context, finding->complete, n_vert);
  for (int64_t i = 0; i < 2 * n_edge; i++) {
    finding->flat->opposite[i] = NOLI_NULL_INDEX;
  }
done:
  return status;
}

static void flat_release(NoliContext* context, Finding* finding) {
  noli_free(context, finding->n_tri);
  noli_free(context, finding->side);
  noli_free(context, finding->tri_edge);
  noli_free(context, finding->first);
  noli_free(context, finding->corner);
  noli_free(context, finding->seen);
  noli_free(context, finding->complete);
  noli_flat_destroy(context, &finding->flat);
}

NoliStatus noli_surface_find_flat(NoliContext* context, NoliSurface* surface, const bool* rigid,
                                  const double* x) {
  NoliStatus status = NOLI_OK;
  Finding finding = {.surface = surface, .x = x};
  bool any = false;
  for (int32_t b = 0; b < surface->n_body; b++) {
    any = any || rigid[b];
  }
  if (!any) {
    goto done;
  }
  NOLI_TRY(flat_allocate(context, surface, &finding));

  // edges, then the fans and lines at vertices
  for (int32_t b = 0; b < surface->n_body; b++) {
    if (rigid[b]) {
      find_edges(&finding, b);
      mark_edges(&finding, b);
    }
  }
  list_corners(&finding, rigid);
  any = false;
  for (int32_t v = 0; v < surface->n_vert; v++) {
    int32_t b = surface->body[v];
    if (rigid[b]) {
      mark_vertex(&finding, v);
      any = any || finding.flat->body[b];
    }
  }
  NOLI_TRY(list_spokes(context, &finding));
  if (any) {
    surface->flat = finding.flat;
    finding.flat = NULL;
  }
  NOLI_VALIDATE(context, noli_surface_defect(surface));
done:
  flat_release(context, &finding);
  return status;
}

void noli_flat_destroy(NoliContext* context, NoliFlat** flat) {
  if (*flat != NULL) {
    noli_free(context, (*flat)->body);
    noli_free(context, (*flat)->opposite);
    noli_free(context, (*flat)->tri);
    noli_free(context, (*flat)->segment);
    noli_free(context, (*flat)->spoke_first);
    noli_free(context, (*flat)->spoke);
    noli_free(context, *flat);
    *flat = NULL;
  }
}

const char* noli_flat_defect(const NoliSurface* surface) {
  const NoliFlat* flat = surface->flat;
  for (int64_t e = 0; e < surface->n_edge; e++) {
    const int32_t* opposite = flat->opposite + 2 * e;
    bool none = opposite[0] == NOLI_NULL_INDEX && opposite[1] == NOLI_NULL_INDEX;
    NOLI_RULE(none || (opposite[0] >= 0 && opposite[0] < surface->n_vert && opposite[1] >= 0 &&
                       opposite[1] < surface->n_vert && opposite[0] != opposite[1]),
              "surface: a flat edge is not between two triangles");
  }
  for (int32_t v = 0; v < surface->n_vert; v++) {
    for (int64_t k = flat->spoke_first[v]; k < flat->spoke_first[v + 1]; k++) {
      const int32_t* edge = surface->edge + 2 * (int64_t)flat->spoke[k];
      NOLI_RULE(edge[0] == v || edge[1] == v, "surface: a spoke is not at its vertex");
    }
  }
  return NULL;
}
