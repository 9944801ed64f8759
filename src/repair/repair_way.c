#include "repair/repair_way.h"

#include "base/sort.h"
#include "collide/nested.h"

#include <string.h>

// Directions of a search; of these the most promising ones are tried with the oracle.
enum { N_SPHERE = 64, N_NORMALS = 16, N_DIRECTIONS = N_SPHERE + N_NORMALS + 8, N_TRIED = 24 };
// Distances of the search relative to the way to a separating plane: 1, 1/2, 1/4, ...
enum { N_LEVELS = 8, N_BISECTIONS = 10 };
// Triangles times points up to which convexity is tested.
#define CONVEX_WORK 2e7

// ---- two units alone ----

// The surfaces of two units, moved apart to see whether they meet.
typedef struct Oracle {
  NoliContext* context;
  const NoliRepairSearch* search;
  int32_t unit[2];
  NoliSurface* surface;
  NoliBroadPhase* broad_phase;
  NoliRepairGaps gaps;
  NoliPairTable table; // 1 for the pair
  NoliBodyPairs pairs;
  double range[2]; // by that number
  double* x;       // (n x 3)
  double* y;       // (n x 3) with the first unit moved
  int32_t n[2];
  double low[2][3], high[2][3];
  bool excludes[2];
} Oracle;

static void oracle_free(Oracle* oracle) {
  noli_broad_phase_destroy(&oracle->broad_phase);
  noli_surface_destroy(oracle->context, &oracle->surface);
  noli_pair_table_free(oracle->context, &oracle->table);
  noli_array_free(oracle->context, &oracle->gaps);
  noli_free(oracle->context, oracle->x);
  noli_free(oracle->context, oracle->y);
}

// Copies the positions of the points of both units and numbers them.
static NoliStatus repair_way_take_points(Oracle* oracle, int32_t* local) {
  NoliStatus status = NOLI_OK;
  const NoliRepairWork* work = oracle->search->work;
  const NoliSurface* surface = work->surface;
  const int32_t* of = oracle->search->units->of;

  for (int pass = 0; pass < 2; pass++) {
    int32_t n[2] = {0, 0};
    for (int32_t i = 0; i < surface->n_point; i++) {
      int32_t v = surface->point[i];
      int side = of[v] == oracle->unit[0] ? 0 : of[v] == oracle->unit[1] ? 1 : -1;
      if (side < 0) {
        continue;
      }
      local[v] = n[side]++;
      if (pass == 1) {
        int64_t at = local[v] + (side == 1 ? oracle->n[0] : 0);
        memcpy(&oracle->x[3 * at], &work->x[3 * (int64_t)v], 3 * sizeof(double));
      }
    }
    if (pass == 0) {
      oracle->n[0] = n[0];
      oracle->n[1] = n[1];
      NOLI_NEW(oracle->context, oracle->x, 3 * ((int64_t)n[0] + n[1]));
      NOLI_NEW(oracle->context, oracle->y, 3 * ((int64_t)n[0] + n[1]));
    }
  }
done:
  return status;
}

// The primitives of one unit with local numbers, in the arrays given.
static void take_parts(const Oracle* oracle, int side, const int32_t* local, int32_t* tri,
                       int32_t* edge, int32_t* point, NoliSurfaceParts* parts) {
  const NoliRepairWork* work = oracle->search->work;
  const NoliSurface* surface = work->surface;
  const int32_t *of = oracle->search->units->of, unit = oracle->unit[side];
  *parts = (NoliSurfaceParts){
      .tri = tri, .edge = edge, .point = point, .points_are_edges = surface->covered != NULL};
  for (int32_t t = 0; t < surface->n_tri; t++) {
    const int32_t* corner = &surface->tri[3 * (int64_t)t];
    for (int k = 0; k < 3 && of[corner[0]] == unit; k++) {
      tri[3 * (int64_t)parts->n_tri + k] = local[corner[k]];
    }
    parts->n_tri += of[corner[0]] == unit ? 1 : 0;
  }

  for (int32_t e = 0; e < surface->n_edge; e++) {
    const int32_t* ends = &surface->edge[2 * (int64_t)e];
    if (of[ends[0]] != unit || ends[0] == ends[1] ||
        work->face_first[e] < work->face_first[e + 1]) {
      continue;
    }
    bool reversed = surface->reversed[e];
    edge[2 * (int64_t)parts->n_edge] = local[ends[reversed ? 1 : 0]];
    edge[2 * (int64_t)parts->n_edge++ + 1] = local[ends[reversed ? 0 : 1]];
    parts->planar = surface->planar[surface->body[ends[0]]];
  }

  for (int32_t i = 0; i < surface->n_point; i++) {
    int32_t v = surface->point[i];
    if (of[v] == unit && work->lone[v]) {
      point[parts->n_point++] = local[v];
    }
  }
}

static NoliStatus oracle_surface(Oracle* oracle, int32_t* local) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = oracle->context;
  const NoliSurface* surface = oracle->search->work->surface;
  NoliSurfaceParts parts[2];
  int32_t *tri[2] = {NULL, NULL}, *edge[2] = {NULL, NULL}, *point[2] = {NULL, NULL};
  double offset[2] = {0.0, 0.0};
  const int32_t first[3] = {0, oracle->n[0], oracle->n[0] + oracle->n[1]};
  for (int side = 0; side < 2; side++) {
    NOLI_NEW(context, tri[side], 3 * (int64_t)surface->n_tri);
    NOLI_NEW(context, edge[side], 2 * (int64_t)surface->n_edge);
    NOLI_NEW(context, point[side], surface->n_point);
    take_parts(oracle, side, local, tri[side], edge[side], point[side], &parts[side]);
  }

  NOLI_TRY(noli_surface_create(context, 2, first, parts, &oracle->surface));
  for (int32_t i = 0; i < surface->n_point; i++) {
    int32_t v = surface->point[i], body = surface->body[v];
    int side = oracle->search->units->of[v] == oracle->unit[0]   ? 0
               : oracle->search->units->of[v] == oracle->unit[1] ? 1
                                                                 : -1;
    if (side >= 0) {
      offset[side] = noli_surface_offset_of(surface, body);
      oracle->excludes[side] = noli_audit_excludes(oracle->search->work->model, body);
    }
  }

  NOLI_TRY(noli_surface_set_offsets(context, oracle->surface, offset));
done:
  for (int side = 0; side < 2; side++) {
    noli_free(context, tri[side]);
    noli_free(context, edge[side]);
    noli_free(context, point[side]);
  }
  return status;
}

// The largest contact distance of bodies of two units, over that of the scene.
static double range_of_units(const NoliRepairSearch* search, int32_t a, int32_t b) {
  const NoliSurface* surface = search->work->surface;
  const NoliBodyPairs* pairs = &search->work->pairs;
  const int32_t* of = search->units->of;
  double range = 0.0;
  for (int32_t i = 0, last = NOLI_NULL_INDEX; i < surface->n_point && pairs->range != NULL; i++) {
    int32_t body = surface->body[surface->point[i]];
    if (of[surface->point[i]] != a || body == last) {
      continue;
    }
    last = body;
    for (int32_t j = 0; j < surface->n_point; j++) {
      if (of[surface->point[j]] == b) {
        range = fmax(range, noli_body_pairs_range(pairs, body, surface->body[surface->point[j]]));
      }
    }
  }
  return range > 0.0 ? range : 1.0;
}

static NoliStatus oracle_create(const NoliRepairSearch* search, int32_t a, int32_t b,
                                Oracle* oracle) {
  NoliStatus status = NOLI_OK;
  *oracle = (Oracle){.context = search->work->context, .search = search, .unit = {a, b}};
  NOLI_TRY(repair_way_take_points(oracle, search->local));
  NOLI_TRY(oracle_surface(oracle, search->local));
  NOLI_TRY(noli_broad_phase_create(oracle->context, oracle->surface, &oracle->broad_phase));
  NOLI_TRY(noli_pair_table_build(oracle->context, 2, 1, 0, NULL, &oracle->table));
  oracle->range[1] = range_of_units(search, a, b);
  oracle->pairs = (NoliBodyPairs){.n_body = 2,
                                  .others = oracle->table,
                                  .range = oracle->range,
                                  .range_number = &oracle->table,
                                  .largest_range = fmax(1.0, oracle->range[1])};
  for (int side = 0; side < 2; side++) {
    const double* x = &oracle->x[side == 1 ? 3 * (int64_t)oracle->n[0] : 0];
    for (int k = 0; k < 3; k++) {
      oracle->low[side][k] = INFINITY;
      oracle->high[side][k] = -INFINITY;
    }
    for (int64_t i = 0; i < 3 * (int64_t)oracle->n[side]; i++) {
      oracle->low[side][i % 3] = fmin(oracle->low[side][i % 3], x[i]);
      oracle->high[side][i % 3] = fmax(oracle->high[side][i % 3], x[i]);
    }
  }

  memcpy(oracle->y, oracle->x, 3 * sizeof(double) * (size_t)(oracle->n[0] + oracle->n[1]));
done:
  return status;
}

static double wanted_distance(const Oracle* oracle) {
  const NoliRepairWork* work = oracle->search->work;
  return noli_repair_wanted(work, work->target, oracle->range[1]) +
         noli_surface_offset(oracle->surface, 0, 1);
}

// Whether the units keep the target gap, and neither encloses the other, with the first one moved.
static NoliStatus is_clear(Oracle* oracle, NoliVec3 move, bool* clear) {
  NoliStatus status = NOLI_OK;
  NoliCrossing* crossing = NULL;
  NoliNested* nested = NULL;
  int64_t n = 0;
  const double shift[3] = {move.x, move.y, move.z};
  double apart = wanted_distance(oracle);

  // boxes far enough apart
  *clear = false;
  for (int k = 0; k < 3 && !*clear; k++) {
    *clear = oracle->low[0][k] + shift[k] > oracle->high[1][k] + apart ||
             oracle->high[0][k] + shift[k] < oracle->low[1][k] - apart;
  }
  if (*clear) {
    return NOLI_OK;
  }
  for (int64_t i = 0; i < 3 * (int64_t)oracle->n[0]; i++) {
    oracle->y[i] = oracle->x[i] + shift[i % 3];
  }

  // gap, crossings, enclosure: the cheapest test first
  const NoliRepairWork* work = oracle->search->work;
  NOLI_TRY(noli_repair_gaps(work, oracle->surface, oracle->broad_phase, &oracle->pairs, oracle->y,
                            work->target, &oracle->gaps));
  if (oracle->gaps.count > 0) {
    goto done;
  }
  NOLI_TRY(noli_audit_intersections(oracle->context, oracle->surface, oracle->y, &oracle->pairs,
                                    &crossing, &n));
  if (n > 0) {
    goto done;
  }
  NOLI_TRY(
      noli_audit_nested(oracle->context, oracle->surface, oracle->y, &oracle->pairs, &nested, &n));
  *clear = true;
  for (int64_t i = 0; i < n; i++) {
    int32_t inside = oracle->surface->body[nested[i].vertex], container = nested[i].container;
    *clear = *clear && (inside == container || !oracle->excludes[container]);
  }
done:
  noli_free(oracle->context, crossing);
  noli_free(oracle->context, nested);
  return status;
}

// ---- the shortest way out ----

// How far the first unit must move along `normal` until a plane separates both with the gap.
static double separating_move(const Oracle* oracle, NoliVec3 normal) {
  double low = INFINITY, high = -INFINITY;
  for (int64_t v = 0; v < oracle->n[0]; v++) {
    low = fmin(low, noli_dot3(normal, noli_load3(&oracle->x[3 * v])));
  }
  for (int64_t v = oracle->n[0]; v < (int64_t)oracle->n[0] + oracle->n[1]; v++) {
    high = fmax(high, noli_dot3(normal, noli_load3(&oracle->x[3 * v])));
  }
  return high - low + wanted_distance(oracle);
}

static int compare_ways(const void* one, const void* other) {
  const NoliRepairWay *p = one, *q = other;
  return noli_order_of_doubles(p->length, q->length);
}

// In plane strain ways lie in the plane. False: nothing is left of the direction.
static bool add_way(const Oracle* oracle, NoliVec3 normal, int32_t* n, NoliRepairWay* way) {
  if (noli_surface_is_planar(oracle->surface, 0, 1) || oracle->surface->planar[0] ||
      oracle->surface->planar[1]) {
    normal.z = 0.0;
  }
  normal = noli_normalize3(normal);
  if (noli_norm_sqr3(normal) < 0.5 || *n >= N_DIRECTIONS) {
    return false;
  }
  way[*n] = (NoliRepairWay){.normal = normal, .length = separating_move(oracle, normal)};
  (*n)++;
  return true;
}

// Directions: axes, a spiral over the sphere, between the centres, the crossing, and normals of
// triangles near the other unit. Sorted by the length that separates by a plane.
static NoliStatus sample_ways(Oracle* oracle, NoliVec3 likely, NoliRepairWay way[N_DIRECTIONS],
                              int32_t* n) {
  NoliStatus status = NOLI_OK;
  const NoliSurface* surface = oracle->surface;
  NoliCrossing* crossing = NULL;
  int64_t n_crossing = 0;
  *n = 0;
  for (int k = 0; k < 6; k++) {
    double axis[3] = {0.0, 0.0, 0.0};
    axis[k % 3] = k < 3 ? 1.0 : -1.0;
    add_way(oracle, noli_load3(axis), n, way);
  }
  for (int k = 0; k < N_SPHERE; k++) {
    double z = 1.0 - (2.0 * k + 1.0) / N_SPHERE, angle = 2.399963229728653 * k;
    double r = sqrt(fmax(0.0, 1.0 - z * z));
    add_way(oracle, noli_vec3(r * cos(angle), r * sin(angle), z), n, way);
  }
  NoliVec3 between = {
      0.5 * (oracle->low[0][0] + oracle->high[0][0] - oracle->low[1][0] - oracle->high[1][0]),
      0.5 * (oracle->low[0][1] + oracle->high[0][1] - oracle->low[1][1] - oracle->high[1][1]),
      0.5 * (oracle->low[0][2] + oracle->high[0][2] - oracle->low[1][2] - oracle->high[1][2])};
  add_way(oracle, between, n, way);
  add_way(oracle, likely, n, way);

  // normals of triangles that cross
  NOLI_TRY(noli_audit_intersections(oracle->context, surface, oracle->x, &oracle->pairs, &crossing,
                                    &n_crossing));
  int64_t stride = n_crossing / N_NORMALS + 1;
  for (int64_t i = 0; i < n_crossing; i += stride) {
    if (crossing[i].triangle == NOLI_NULL_INDEX) {
      continue;
    }
    NoliVec3 normal = noli_normalize3(noli_twice_area3(oracle->x, crossing[i].tri));
    add_way(oracle, surface->body[crossing[i].tri[0]] == 1 ? normal : noli_scale3(-1.0, normal), n,
            way);
  }
  noli_sort(way, *n, sizeof *way, compare_ways);
done:
  noli_free(oracle->context, crossing);
  return status;
}

// Turns the best direction a little, in ever smaller steps, while that shortens the way.
static void refine_way(const Oracle* oracle, NoliRepairWay* way) {
  bool planar = oracle->surface->planar[0] || oracle->surface->planar[1];
  for (double turn = 0.2; turn > 1e-3; turn *= 0.5) {
    NoliVec3 u = noli_orthogonal3(way->normal);
    NoliVec3 w = noli_cross3(way->normal, u);
    for (int k = 0; k < 4; k++) {
      NoliVec3 side = noli_scale3(k % 2 == 0 ? turn : -turn, k < 2 ? u : w);
      NoliVec3 normal = noli_add3(way->normal, side);
      normal.z = planar ? 0.0 : normal.z;
      normal = noli_normalize3(normal);
      double length = separating_move(oracle, normal);
      if (length < way->length) {
        *way = (NoliRepairWay){normal, length};
        break;
      }
    }
  }
}

// Is every triangle of a unit a face of its hull?
static bool is_convex(const Oracle* oracle, int side) {
  int8_t* known = &oracle->search->convex[oracle->unit[side]];
  const NoliSurface* surface = oracle->surface;
  int64_t first = side == 1 ? oracle->n[0] : 0,
          n_tri = surface->tri_first[side + 1] - surface->tri_first[side];
  if (*known >= 0) {
    return *known != 0;
  }
  *known = n_tri > 0 && (double)n_tri * oracle->n[side] < CONVEX_WORK && oracle->excludes[side];
  double eps = 1e-6 * (oracle->high[side][0] - oracle->low[side][0] + oracle->high[side][1] -
                       oracle->low[side][1] + oracle->high[side][2] - oracle->low[side][2]);
  for (int32_t t = surface->tri_first[side]; t < surface->tri_first[side + 1] && *known; t++) {
    const int32_t* tri = &surface->tri[3 * (int64_t)t];
    NoliVec3 normal = noli_normalize3(noli_twice_area3(oracle->x, tri));
    double height = noli_dot3(normal, noli_load3(&oracle->x[3 * (int64_t)tri[0]]));
    for (int64_t v = first; v < first + oracle->n[side] && *known; v++) {
      *known = noli_dot3(normal, noli_load3(&oracle->x[3 * v])) < height + eps;
    }
  }
  return *known != 0;
}

// Shortens a clear move by bisection between it and a shorter one that is not clear.
static NoliStatus bisect(Oracle* oracle, NoliVec3 normal, double low, double* length) {
  NoliStatus status = NOLI_OK;
  double high = *length;
  for (int k = 0; k < N_BISECTIONS; k++) {
    double middle = 0.5 * (low + high);
    bool clear = false;
    NOLI_TRY(is_clear(oracle, noli_scale3(middle, normal), &clear));
    *(clear ? &high : &low) = middle;
  }
  *length = high;
done:
  return status;
}

// Looks for moves that end clear although no plane separates the units: at ever longer distances,
// short ones in all directions and longer ones in the most promising ones. Shortens `out` if it
// finds any.
static NoliStatus probe(Oracle* oracle, const NoliRepairWay* way, int32_t n, NoliRepairWay* out) {
  NoliStatus status = NOLI_OK;
  const double longest = 0.99 * out->length;
  double before = 0.0;

  for (int level = N_LEVELS; level > 0; level--) {
    double distance = ldexp(longest, 1 - level);
    bool found = false;
    int32_t n_tried = level > 2 || n < N_TRIED ? n : N_TRIED;
    for (int32_t k = 0; k < n_tried; k++) {
      bool clear = false;
      NOLI_TRY(is_clear(oracle, noli_scale3(distance, way[k].normal), &clear));
      if (clear) {
        NoliRepairWay shorter = {way[k].normal, distance};
        NOLI_TRY(bisect(oracle, shorter.normal, before, &shorter.length));
        *out = !found || shorter.length < out->length ? shorter : *out;
        found = true;
      }
    }
    if (found) {
      break;
    }
    before = distance;
  }
done:
  return status;
}

NoliStatus noli_repair_find_way(const NoliRepairSearch* search, int32_t a, int32_t b,
                                const NoliVec3* fixed, NoliRepairWay* out) {
  NoliStatus status = NOLI_OK;
  Oracle oracle = {.context = search->work->context};
  NoliRepairWay way[N_DIRECTIONS];
  const NoliVec3 likely = out->normal;
  int32_t n = 0;
  bool clear = false;
  NOLI_TRY(oracle_create(search, a, b, &oracle));
  *out = (NoliRepairWay){.normal = likely};
  NOLI_TRY(is_clear(&oracle, (NoliVec3){0}, &clear));
  if (clear) {
    goto done;
  }
  if (fixed != NULL) {
    way[0] = *out = (NoliRepairWay){.normal = *fixed, .length = separating_move(&oracle, *fixed)};
    NOLI_TRY(probe(&oracle, way, 1, out));
    goto done;
  }

  NOLI_TRY(sample_ways(&oracle, likely, way, &n));
  *out = way[0];
  refine_way(&oracle, out);
  if (is_convex(&oracle, 0) && is_convex(&oracle, 1)) {
    goto done;
  }
  NOLI_TRY(probe(&oracle, way, n, out));
done:
  oracle_free(&oracle);
  return status;
}

NoliStatus noli_repair_search_create(const NoliRepairWork* work, const NoliRepairUnits* units,
                                     NoliRepairSearch* search) {
  NoliStatus status = NOLI_OK;
  *search = (NoliRepairSearch){.work = work, .units = units};
  NOLI_NEW(work->context, search->local, work->model->problem.n_vert);
  NOLI_NEW(work->context, search->convex, units->n);
  memset(search->convex, -1, (size_t)units->n);
done:
  return status;
}

void noli_repair_search_free(NoliRepairSearch* search) {
  noli_free(search->work->context, search->local);
  noli_free(search->work->context, search->convex);
}
