#include "sim/repair.h"

#include "collide/nested.h"

#include <stdlib.h>
#include <string.h>

// Directions of a search; of these the most promising ones are tried with the oracle.
enum { N_SPHERE = 64, N_NORMALS = 16, N_DIRECTIONS = N_SPHERE + N_NORMALS + 8, N_TRIED = 24 };
// Distances of the search relative to the way to a separating plane: 1, 1/2, 1/4, ...
enum { N_LEVELS = 8, N_BISECTIONS = 10 };
// Rounds after which directions of pairs stay as they are, so that the search comes to an end.
enum { N_FREE_ROUNDS = 8 };
// Triangles times points up to which convexity is tested.
#define CONVEX_WORK 2e7

// Units that meet, or a unit and a half-space.
typedef struct Meeting {
  int32_t a, b;    // a < b
  bool crossing;   // or one inside the other: the gap does not tell the way out
  bool passing;    // they are apart, but on the way there one went through the other
  double missing;  // m, to the target gap
  NoliVec3 normal; // unit, of a crossing the sum of normals away from b; else from b to a
} Meeting;
typedef NOLI_ARRAY(Meeting) Meetings;

// normal . (T_a - T_b) >= reach for the translations T of two units; b NULL: of one unit.
typedef struct Constraint {
  int32_t a, b;
  NoliVec3 normal;
  double reach;
  double multiplier;
  bool search; // a way out of a crossing
} Constraint;

typedef struct Rigid {
  NoliRepairWork* work;
  const NoliRepairUnits* units;
  double* from; // (n_vert x 3) positions at the beginning of the stage
  double* best; // those with the fewest meetings so far
  int64_t n_best;
  NoliVec3* shift;     // (n units)
  int8_t* convex;      // (n units) -1: not tested yet
  int32_t* local;      // (n_vert) scratch
  NoliRepairPairs met; // what meets at the beginning of the stage; others stay on their sides
  NoliRepairGaps gaps; // scratch
  NOLI_ARRAY(Constraint) constraint;
  Meetings meeting;
} Rigid;

// ---- which units meet ----

// Whether one unit can move relative to the other.
static bool can_part(const Rigid* rigid, int32_t a, int32_t b) {
  return a != b && !(rigid->units->fixed[a] && rigid->units->fixed[b]);
}

static NoliStatus add_meeting(Rigid* rigid, Meeting meeting) {
  NoliStatus status = NOLI_OK;
  if (!can_part(rigid, meeting.a, meeting.b)) {
    return NOLI_OK;
  }
  if (meeting.a > meeting.b) {
    int32_t c = meeting.a;
    meeting.a = meeting.b;
    meeting.b = c;
    meeting.normal = noli_scale3(-1.0, meeting.normal);
  }
  NOLI_PUSH(rigid->work->context, &rigid->meeting, meeting);
done:
  return status;
}

static NoliVec3 triangle_normal(const double* x, const int32_t tri[3]) {
  return noli_normalize3(noli_twice_area3(x, tri));
}

static NoliStatus add_crossings(Rigid* rigid) {
  NoliStatus status = NOLI_OK;
  const NoliRepairWork* work = rigid->work;
  NoliCrossing* crossing = NULL;
  int64_t n = 0;
  NOLI_TRY(
      noli_audit_intersections(work->context, work->surface, work->x, &work->pairs, &crossing, &n));
  for (int64_t i = 0; i < n; i++) {
    bool has_normal = crossing[i].triangle != NOLI_NULL_INDEX;
    Meeting meeting = {.a = rigid->units->of[crossing[i].edge[0]],
                       .b = rigid->units->of[crossing[i].tri[0]],
                       .crossing = true,
                       .normal =
                           has_normal ? triangle_normal(work->x, crossing[i].tri) : (NoliVec3){0}};
    NOLI_TRY(add_meeting(rigid, meeting));
  }
done:
  noli_free(work->context, crossing);
  return status;
}

// The search finds out which of several parts of the container encloses the vertex.
static NoliStatus add_nested(Rigid* rigid) {
  NoliStatus status = NOLI_OK;
  const NoliRepairWork* work = rigid->work;
  const NoliModel* model = work->model;
  NoliNested* nested = NULL;
  int64_t n = 0;
  NOLI_TRY(noli_audit_nested(work->context, work->surface, work->x, &work->pairs, &nested, &n));
  for (int64_t i = 0; i < n; i++) {
    int32_t c = nested[i].container, last = NOLI_NULL_INDEX;
    for (int32_t p = work->surface->point_first[c];
         p < work->surface->point_first[c + 1] && noli_audit_excludes(model, c); p++) {
      int32_t unit = rigid->units->of[work->surface->point[p]];
      if (unit != last) {
        Meeting meeting = {.a = rigid->units->of[nested[i].vertex], .b = unit, .crossing = true};
        NOLI_TRY(add_meeting(rigid, meeting));
      }
      last = unit;
    }
  }
done:
  noli_free(work->context, nested);
  return status;
}

static bool has_moved(const Rigid* rigid, int32_t unit) {
  return noli_norm_sqr3(rigid->shift[unit]) > 0.0;
}

// Units that were moved keep the target gap, others only must not touch, unless all shall settle.
static bool too_close(const Rigid* rigid, int32_t a, int32_t b, const NoliRepairGap* gap) {
  const NoliRepairWork* work = rigid->work;
  bool wide = work->settle || has_moved(rigid, a) || has_moved(rigid, b);
  return gap->gap <
         (wide ? noli_repair_wanted(work, work->enough, gap->range) : 2.0 * work->touching);
}

static NoliStatus add_close(Rigid* rigid) {
  NoliStatus status = NOLI_OK;
  const NoliRepairWork* work = rigid->work;
  NOLI_TRY(noli_repair_gaps(work, work->surface, work->broad_phase, &work->pairs, work->x,
                            work->target, &rigid->gaps));
  for (int64_t i = 0; i < rigid->gaps.count; i++) {
    const NoliRepairGap* gap = &rigid->gaps.data[i];
    int32_t a = rigid->units->of[gap->vertex[0]], b = rigid->units->of[gap->vertex[3]];
    if (too_close(rigid, a, b, gap)) {
      Meeting meeting = {.a = a,
                         .b = b,
                         .crossing = noli_norm_sqr3(gap->direction) == 0.0,
                         .missing = noli_repair_wanted(work, work->target, gap->range) - gap->gap,
                         .normal = gap->direction};
      NOLI_TRY(add_meeting(rigid, meeting));
    }
  }
done:
  return status;
}

// Units that are so close that rounding hides on which side of each other they are.
static NoliStatus add_touching(Rigid* rigid) {
  NoliStatus status = NOLI_OK;
  const NoliRepairWork* work = rigid->work;
  NOLI_TRY(noli_repair_gaps(work, work->surface, work->broad_phase, &work->pairs, work->x,
                            2.0 * work->touching, &rigid->gaps));
  for (int64_t i = 0; i < rigid->gaps.count; i++) {
    const int32_t* vertex = rigid->gaps.data[i].vertex;
    if (noli_repair_touches(work, &rigid->gaps.data[i])) {
      Meeting meeting = {
          .a = rigid->units->of[vertex[0]], .b = rigid->units->of[vertex[3]], .crossing = true};
      NOLI_TRY(add_meeting(rigid, meeting));
    }
  }
done:
  return status;
}

// Fills rigid->met at the beginning of the stage.
static NoliStatus find_met(Rigid* rigid) {
  NoliStatus status = NOLI_OK;
  rigid->meeting.count = 0;
  NOLI_TRY(add_crossings(rigid));
  NOLI_TRY(add_nested(rigid));
  NOLI_TRY(add_touching(rigid));
  for (int64_t i = 0; i < rigid->meeting.count; i++) {
    NOLI_PUSH(rigid->work->context, &rigid->met,
              ((NoliRepairPair){rigid->meeting.data[i].a, rigid->meeting.data[i].b}));
  }
  noli_repair_sort_pairs(&rigid->met);
done:
  return status;
}

// Ways that led through a surface: the units stay on the sides where they came from.
static NoliStatus add_passages(Rigid* rigid) {
  NoliStatus status = NOLI_OK;
  NoliRepairWork* work = rigid->work;
  NOLI_TRY(noli_repair_passages(work, rigid->units->of, &rigid->met, false, rigid->from, work->x,
                                &rigid->gaps));
  for (int64_t i = 0; i < rigid->gaps.count; i++) {
    const NoliRepairGap* gap = &rigid->gaps.data[i];
    Meeting meeting = {.a = rigid->units->of[gap->vertex[0]],
                       .b = rigid->units->of[gap->vertex[3]],
                       .passing = true,
                       .missing = noli_repair_wanted(work, work->target, gap->range) - gap->gap,
                       .normal = gap->direction};
    work->n_refused += can_part(rigid, meeting.a, meeting.b) ? 1 : 0;
    NOLI_TRY(add_meeting(rigid, meeting));
  }
done:
  return status;
}

static int compare_meetings(const void* one, const void* other) {
  const Meeting *p = one, *q = other;
  if (p->a != q->a || p->b != q->b) {
    return p->a != q->a ? (p->a < q->a ? -1 : 1) : p->b < q->b ? -1 : 1;
  }
  if (p->passing != q->passing) {
    return p->passing ? -1 : 1;
  }
  if (p->crossing != q->crossing) {
    return p->crossing ? -1 : 1;
  }
  return p->missing > q->missing ? -1 : p->missing < q->missing;
}

// Fills rigid->meeting with one entry for each pair: a passage, which tells the way back, a
// crossing, or the gap that lacks most.
static NoliStatus find_meetings(Rigid* rigid) {
  NoliStatus status = NOLI_OK;
  int64_t n = 0;
  rigid->meeting.count = 0;
  NOLI_TRY(add_crossings(rigid));
  NOLI_TRY(add_nested(rigid));
  NOLI_TRY(add_close(rigid));
  NOLI_TRY(add_passages(rigid));
  if (rigid->meeting.count > 1) {
    qsort(rigid->meeting.data, (size_t)rigid->meeting.count, sizeof(Meeting), compare_meetings);
  }
  for (int64_t i = 0; i < rigid->meeting.count; i++) {
    const Meeting* meeting = &rigid->meeting.data[i];
    Meeting* kept = n > 0 ? &rigid->meeting.data[n - 1] : NULL;
    if (kept == NULL || kept->a != meeting->a || kept->b != meeting->b) {
      rigid->meeting.data[n++] = *meeting;
    } else if (kept->crossing && meeting->crossing) {
      kept->normal = noli_add3(kept->normal, meeting->normal);
    }
  }
  rigid->meeting.count = n;
done:
  return status;
}

// ---- two units alone ----

// The surfaces of two units, moved apart to see whether they meet.
typedef struct Oracle {
  NoliContext* context;
  const Rigid* rigid;
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
static NoliStatus take_points(Oracle* oracle, int32_t* local) {
  NoliStatus status = NOLI_OK;
  const NoliRepairWork* work = oracle->rigid->work;
  const NoliSurface* surface = work->surface;
  const int32_t* of = oracle->rigid->units->of;
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
  const NoliRepairWork* work = oracle->rigid->work;
  const NoliSurface* surface = work->surface;
  const int32_t *of = oracle->rigid->units->of, unit = oracle->unit[side];
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
  const NoliSurface* surface = oracle->rigid->work->surface;
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
    int side = oracle->rigid->units->of[v] == oracle->unit[0]   ? 0
               : oracle->rigid->units->of[v] == oracle->unit[1] ? 1
                                                                : -1;
    if (side >= 0) {
      offset[side] = noli_surface_offset_of(surface, body);
      oracle->excludes[side] = noli_audit_excludes(oracle->rigid->work->model, body);
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
static double range_of_units(const Rigid* rigid, int32_t a, int32_t b) {
  const NoliSurface* surface = rigid->work->surface;
  const NoliBodyPairs* pairs = &rigid->work->pairs;
  const int32_t* of = rigid->units->of;
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

static NoliStatus oracle_create(Rigid* rigid, int32_t a, int32_t b, Oracle* oracle) {
  NoliStatus status = NOLI_OK;
  *oracle = (Oracle){.context = rigid->work->context, .rigid = rigid, .unit = {a, b}};
  NOLI_TRY(take_points(oracle, rigid->local));
  NOLI_TRY(oracle_surface(oracle, rigid->local));
  NOLI_TRY(noli_broad_phase_create(oracle->context, oracle->surface, &oracle->broad_phase));
  NOLI_TRY(noli_pair_table_build(oracle->context, 2, 1, 0, NULL, &oracle->table));
  oracle->range[1] = range_of_units(rigid, a, b);
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
  const NoliRepairWork* work = oracle->rigid->work;
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
  const NoliRepairWork* work = oracle->rigid->work;
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

typedef struct Way {
  NoliVec3 normal;
  double length;
} Way;

static int compare_ways(const void* one, const void* other) {
  const Way *p = one, *q = other;
  return p->length < q->length ? -1 : p->length > q->length;
}

// In plane strain ways lie in the plane. False: nothing is left of the direction.
static bool add_way(const Oracle* oracle, NoliVec3 normal, int32_t* n, Way* way) {
  if (noli_surface_is_planar(oracle->surface, 0, 1) || oracle->surface->planar[0] ||
      oracle->surface->planar[1]) {
    normal.z = 0.0;
  }
  normal = noli_normalize3(normal);
  if (noli_norm_sqr3(normal) < 0.5 || *n >= N_DIRECTIONS) {
    return false;
  }
  way[*n] = (Way){.normal = normal, .length = separating_move(oracle, normal)};
  (*n)++;
  return true;
}

// Directions: axes, a spiral over the sphere, between the centres, the crossing, and normals of
// triangles near the other unit. Sorted by the length that separates by a plane.
static NoliStatus sample_ways(Oracle* oracle, const Meeting* meeting, Way way[N_DIRECTIONS],
                              int32_t* n) {
  NoliStatus status = NOLI_OK;
  const NoliSurface* surface = oracle->surface;
  NoliCrossing* crossing = NULL;
  int64_t n_crossing = 0;
  *n = 0;
  for (int k = 0; k < 6; k++) {
    double sign = k < 3 ? 1.0 : -1.0;
    add_way(oracle, noli_vec3(k % 3 == 0 ? sign : 0, k % 3 == 1 ? sign : 0, k % 3 == 2 ? sign : 0),
            n, way);
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
  add_way(oracle, meeting->normal, n, way);

  // normals of triangles that cross
  NOLI_TRY(noli_audit_intersections(oracle->context, surface, oracle->x, &oracle->pairs, &crossing,
                                    &n_crossing));
  int64_t stride = n_crossing / N_NORMALS + 1;
  for (int64_t i = 0; i < n_crossing; i += stride) {
    if (crossing[i].triangle == NOLI_NULL_INDEX) {
      continue;
    }
    NoliVec3 normal = triangle_normal(oracle->x, crossing[i].tri);
    add_way(oracle, surface->body[crossing[i].tri[0]] == 1 ? normal : noli_scale3(-1.0, normal), n,
            way);
  }
  qsort(way, (size_t)*n, sizeof *way, compare_ways);
done:
  noli_free(oracle->context, crossing);
  return status;
}

// Turns the best direction a little, in ever smaller steps, while that shortens the way.
static void refine_way(const Oracle* oracle, Way* way) {
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
        *way = (Way){normal, length};
        break;
      }
    }
  }
}

// Is every triangle of a unit a face of its hull?
static bool is_convex(Rigid* rigid, const Oracle* oracle, int side) {
  int8_t* known = &rigid->convex[oracle->unit[side]];
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
    NoliVec3 normal = triangle_normal(oracle->x, tri);
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
static NoliStatus probe(Oracle* oracle, const Way* way, int32_t n, Way* out) {
  NoliStatus status = NOLI_OK;
  const double longest = 0.99 * out->length;
  double before = 0.0;
  for (int level = N_LEVELS; level > 0; level--) {
    double distance = ldexp(longest, 1 - level);
    bool found = false;
    for (int32_t k = 0; k < (level > 2 ? n : n < N_TRIED ? n : N_TRIED); k++) {
      bool clear = false;
      NOLI_TRY(is_clear(oracle, noli_scale3(distance, way[k].normal), &clear));
      if (clear) {
        Way shorter = {way[k].normal, distance};
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

// The way out of a crossing; a length of 0: the units do not meet. With `fixed` the direction is
// given.
static NoliStatus find_way(Rigid* rigid, const Meeting* meeting, const NoliVec3* fixed, Way* out) {
  NoliStatus status = NOLI_OK;
  Oracle oracle = {.context = rigid->work->context};
  Way way[N_DIRECTIONS];
  int32_t n = 0;
  bool clear = false;
  NOLI_TRY(oracle_create(rigid, meeting->a, meeting->b, &oracle));
  *out = (Way){.normal = meeting->normal};
  NOLI_TRY(is_clear(&oracle, (NoliVec3){0}, &clear));
  if (clear) {
    goto done;
  }
  if (fixed != NULL) {
    way[0] = *out = (Way){.normal = *fixed, .length = separating_move(&oracle, *fixed)};
    NOLI_TRY(probe(&oracle, way, 1, out));
    goto done;
  }
  NOLI_TRY(sample_ways(&oracle, meeting, way, &n));
  *out = way[0];
  refine_way(&oracle, out);
  if (is_convex(rigid, &oracle, 0) && is_convex(rigid, &oracle, 1)) {
    goto done;
  }
  NOLI_TRY(probe(&oracle, way, n, out));
done:
  oracle_free(&oracle);
  return status;
}

// ---- translations ----

// All units above all half-spaces that they must not cross: exact from the beginning.
static NoliStatus constrain_to_planes(Rigid* rigid) {
  NoliStatus status = NOLI_OK;
  const NoliRepairWork* work = rigid->work;
  const NoliProblem* problem = &work->model->problem;
  double *lowest = NULL, *target = NULL;
  NOLI_NEW(work->context, lowest, rigid->units->n);
  NOLI_NEW(work->context, target, rigid->units->n);
  for (int32_t p = 0; p < problem->n_half_spaces; p++) {
    for (int32_t u = 0; u < rigid->units->n; u++) {
      lowest[u] = INFINITY;
      target[u] = 0.0;
    }
    for (int32_t i = 0; i < work->surface->n_point; i++) {
      int32_t v = work->surface->point[i], body = work->surface->body[v];
      if (noli_body_pairs_get(&problem->body_pairs, body, work->model->n_body + p)) {
        double height =
            noli_half_space_distance(&problem->half_spaces[p], &rigid->from[3 * (int64_t)v]) -
            noli_surface_offset_of(work->surface, body);
        double range = noli_body_pairs_range(&problem->body_pairs, body, work->model->n_body + p);
        int32_t u = rigid->units->of[v];
        lowest[u] = fmin(lowest[u], height);
        target[u] = fmax(target[u], noli_repair_wanted(work, work->target, range));
      }
    }
    for (int32_t u = 0; u < rigid->units->n; u++) {
      // a unit that starts closer than the gap, but not below, must only not come closer
      bool valid = lowest[u] > 2.0 * work->touching && !work->settle;
      double keep = valid ? fmin(lowest[u], target[u]) : target[u];
      if (!isinf(lowest[u]) && !rigid->units->fixed[u]) {
        NOLI_PUSH(work->context, &rigid->constraint,
                  ((Constraint){.a = u,
                                .b = NOLI_NULL_INDEX,
                                .normal = problem->half_spaces[p].normal,
                                .reach = keep - lowest[u]}));
      }
    }
  }
done:
  noli_free(work->context, lowest);
  noli_free(work->context, target);
  return status;
}

static double weight_of(const Rigid* rigid, int32_t unit) {
  return unit == NOLI_NULL_INDEX || rigid->units->fixed[unit] ? 0.0 : 1.0;
}

static NoliVec3 shift_of(const Rigid* rigid, int32_t unit) {
  return unit == NOLI_NULL_INDEX ? (NoliVec3){0} : rigid->shift[unit];
}

// The shifts with the least sum of squares that satisfy all constraints: Hildreth's method, which
// is projected Gauss-Seidel on the multipliers.
static void solve_shifts(Rigid* rigid) {
  memset(rigid->shift, 0, (size_t)rigid->units->n * sizeof *rigid->shift);
  for (int64_t i = 0; i < rigid->constraint.count; i++) {
    rigid->constraint.data[i].multiplier = 0.0;
  }
  double small = 1e-5 * rigid->work->target;
  for (int sweep = 0; sweep < 2000; sweep++) {
    double largest = 0.0;
    for (int64_t i = 0; i < rigid->constraint.count; i++) {
      Constraint* c = &rigid->constraint.data[i];
      double wa = weight_of(rigid, c->a), wb = weight_of(rigid, c->b);
      double missing =
          c->reach - noli_dot3(c->normal, noli_sub3(shift_of(rigid, c->a), shift_of(rigid, c->b)));
      double change = fmax(-c->multiplier, missing / (wa + wb));
      c->multiplier += change;
      largest = fmax(largest, fabs(change));
      rigid->shift[c->a] = noli_mul_add3(rigid->shift[c->a], wa * change, c->normal);
      if (wb > 0.0) {
        rigid->shift[c->b] = noli_mul_add3(rigid->shift[c->b], -wb * change, c->normal);
      }
    }
    if (largest < small) {
      break;
    }
  }
  // what rounding alone moves stays in place
  for (int32_t u = 0; u < rigid->units->n; u++) {
    if (noli_norm3(rigid->shift[u]) < 10.0 * small) {
      rigid->shift[u] = (NoliVec3){0};
    }
  }
}

static void apply_shifts(Rigid* rigid) {
  const NoliModel* model = rigid->work->model;
  for (int32_t v = 0; v < model->problem.n_vert; v++) {
    int32_t body = rigid->work->surface->body[v];
    bool angle = v < model->problem.n_node &&
                 v >= model->vert_first[body + 1] - noli_model_angle_count(model, body);
    NoliVec3 shift = angle ? (NoliVec3){0} : rigid->shift[rigid->units->of[v]];
    noli_store3(&rigid->work->x[3 * (int64_t)v],
                noli_add3(noli_load3(&rigid->from[3 * (int64_t)v]), shift));
  }
}

// The search direction that a pair has already, or NULL.
static const NoliVec3* known_direction(const Rigid* rigid, const Meeting* meeting) {
  for (int64_t i = rigid->constraint.count - 1; i >= 0; i--) {
    const Constraint* c = &rigid->constraint.data[i];
    if (c->search && c->a == meeting->a && c->b == meeting->b) {
      return &c->normal;
    }
  }
  return NULL;
}

// A new way out of a crossing replaces all that the pair has.
static void drop_pair(Rigid* rigid, const Meeting* meeting) {
  int64_t n = 0;
  for (int64_t i = 0; i < rigid->constraint.count; i++) {
    const Constraint* c = &rigid->constraint.data[i];
    if (c->a != meeting->a || c->b != meeting->b) {
      rigid->constraint.data[n++] = *c;
    }
  }
  rigid->constraint.count = n;
}

static NoliStatus constrain(Rigid* rigid, const Meeting* meeting, int32_t round) {
  NoliStatus status = NOLI_OK;
  Way way = {meeting->normal, meeting->missing};
  if (meeting->crossing) {
    const NoliVec3* known = round >= N_FREE_ROUNDS ? known_direction(rigid, meeting) : NULL;
    NoliVec3 direction = known != NULL ? *known : (NoliVec3){0};
    NOLI_TRY(find_way(rigid, meeting, known != NULL ? &direction : NULL, &way));
    if (way.length <= 0.0) {
      return NOLI_OK;
    }
    drop_pair(rigid, meeting);
  }
  double now = noli_dot3(way.normal, noli_sub3(rigid->shift[meeting->a], rigid->shift[meeting->b]));
  NOLI_PUSH(rigid->work->context, &rigid->constraint,
            ((Constraint){.a = meeting->a,
                          .b = meeting->b,
                          .normal = way.normal,
                          .reach = now + way.length,
                          .search = meeting->crossing}));
done:
  return status;
}

static double largest_shift(const Rigid* rigid) {
  double largest = 0.0;
  for (int32_t u = 0; u < rigid->units->n; u++) {
    largest = fmax(largest, noli_norm3(rigid->shift[u]));
  }
  return largest;
}

// Diagonal of the surface's bounding box.
static double extent_of(const NoliRepairWork* work) {
  NoliVec3 low = {INFINITY, INFINITY, INFINITY}, high = {-INFINITY, -INFINITY, -INFINITY};
  for (int32_t i = 0; i < work->surface->n_point; i++) {
    NoliVec3 x = noli_load3(&work->x[3 * (int64_t)work->surface->point[i]]);
    low = noli_vec3(fmin(low.x, x.x), fmin(low.y, x.y), fmin(low.z, x.z));
    high = noli_vec3(fmax(high.x, x.x), fmax(high.y, x.y), fmax(high.z, x.z));
  }
  return noli_norm3(noli_sub3(high, low));
}

static int64_t count_crossing(const Rigid* rigid) {
  int64_t n = 0;
  for (int64_t i = 0; i < rigid->meeting.count; i++) {
    bool heavy = rigid->meeting.data[i].crossing || rigid->meeting.data[i].passing;
    n += heavy ? 1000000 : 1;
  }
  return n;
}

// A move that leads through a surface all the same fails the repair.
static NoliStatus judge_passages(Rigid* rigid) {
  NoliStatus status = NOLI_OK;
  NoliRepairWork* work = rigid->work;
  NOLI_TRY(noli_repair_passages(work, rigid->units->of, &rigid->met, false, rigid->from, work->x,
                                &rigid->gaps));
  for (int64_t i = 0; i < rigid->gaps.count; i++) {
    const int32_t *vertex = rigid->gaps.data[i].vertex, *of = rigid->units->of;
    if (can_part(rigid, of[vertex[0]], of[vertex[3]])) {
      work->through[0] = work->surface->body[vertex[0]];
      work->through[1] = work->surface->body[vertex[3]];
    }
  }
done:
  return status;
}

static NoliStatus separate(Rigid* rigid) {
  NoliStatus status = NOLI_OK;
  NoliRepairWork* work = rigid->work;
  size_t bytes = 3 * sizeof(double) * (size_t)work->model->problem.n_vert;
  double far = 10.0 * (extent_of(work) + work->target);
  NOLI_TRY(find_met(rigid));
  NOLI_TRY(constrain_to_planes(rigid));
  solve_shifts(rigid);
  apply_shifts(rigid);
  for (int32_t round = 0; round < work->rounds; round++) {
    NOLI_TRY(find_meetings(rigid));
    if (round == 0 || count_crossing(rigid) < rigid->n_best) {
      rigid->n_best = count_crossing(rigid);
      memcpy(rigid->best, work->x, bytes);
    }
    if (rigid->meeting.count == 0) {
      break;
    }
    for (int64_t i = 0; i < rigid->meeting.count; i++) {
      NOLI_TRY(constrain(rigid, &rigid->meeting.data[i], round));
    }
    solve_shifts(rigid);
    if (!(largest_shift(rigid) < far)) {
      break;
    }
    apply_shifts(rigid);
  }
  memcpy(work->x, rigid->best, bytes);
  NOLI_TRY(judge_passages(rigid));
done:
  return status;
}

NoliStatus noli_repair_rigid(NoliRepairWork* work, const NoliRepairUnits* units) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = work->context;
  Rigid rigid = {.work = work, .units = units};
  int64_t n = work->model->problem.n_vert;
  NOLI_NEW(context, rigid.from, 3 * n);
  NOLI_NEW(context, rigid.best, 3 * n);
  NOLI_NEW(context, rigid.local, n);
  NOLI_NEW_ZERO(context, rigid.shift, units->n);
  NOLI_NEW(context, rigid.convex, units->n);
  memset(rigid.convex, -1, (size_t)units->n);
  memcpy(rigid.from, work->x, 3 * sizeof(double) * (size_t)n);
  NOLI_TRY(separate(&rigid));
done:
  noli_free(context, rigid.from);
  noli_free(context, rigid.best);
  noli_free(context, rigid.local);
  noli_free(context, rigid.shift);
  noli_free(context, rigid.convex);
  noli_array_free(context, &rigid.constraint);
  noli_array_free(context, &rigid.meeting);
  noli_array_free(context, &rigid.met);
  noli_array_free(context, &rigid.gaps);
  return status;
}
