// The rigid stage: which units meet, and the translations that part all of them.
#include "repair/repair_way.h"

#include "base/sort.h"
#include "collide/nested.h"
#include "mesh/topology.h"

#include <string.h>

// Rounds after which directions of pairs stay as they are, so that the search comes to an end.
enum { N_FREE_ROUNDS = 8 };

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
  NoliVec3* shift; // (n units)
  NoliRepairSearch search;
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
                       .normal = has_normal
                                     ? noli_normalize3(noli_twice_area3(work->x, crossing[i].tri))
                                     : (NoliVec3){0}};
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
  int order = noli_compare_tuples((const int32_t[]){p->a, p->b}, (const int32_t[]){q->a, q->b}, 2);
  if (order != 0) {
    return order;
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
  noli_sort(rigid->meeting.data, rigid->meeting.count, sizeof(Meeting), compare_meetings);
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

// ---- translations ----

// All units above all half-spaces that they must not cross: exact from the beginning.
static NoliStatus constrain_to_planes(Rigid* rigid) {
  NoliStatus status = NOLI_OK;
  const NoliRepairWork* work = rigid->work;
  const NoliProblem* problem = &work->model->problem;
  double *lowest = NULL, *target = NULL;
  NOLI_NEW(work->context, lowest, rigid->units->n);
  NOLI_NEW(work->context, target, rigid->units->n);

  for (int32_t p = 0; p < problem->contact.n_half_spaces; p++) {
    for (int32_t u = 0; u < rigid->units->n; u++) {
      lowest[u] = INFINITY;
      target[u] = 0.0;
    }
    for (int32_t i = 0; i < work->surface->n_point; i++) {
      int32_t v = work->surface->point[i], body = work->surface->body[v];
      if (noli_body_pairs_get(&problem->contact.body_pairs, body, work->model->n_body + p)) {
        double height = noli_half_space_distance(&problem->contact.half_spaces[p],
                                                 &rigid->from[3 * (int64_t)v]) -
                        noli_surface_offset_of(work->surface, body);
        double range =
            noli_body_pairs_range(&problem->contact.body_pairs, body, work->model->n_body + p);
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
                                .normal = problem->contact.half_spaces[p].normal,
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
  NoliRepairWay way = {meeting->normal, meeting->missing};
  if (meeting->crossing) {
    const NoliVec3* known = round >= N_FREE_ROUNDS ? known_direction(rigid, meeting) : NULL;
    NoliVec3 direction = known != NULL ? *known : (NoliVec3){0};
    NOLI_TRY(noli_repair_find_way(&rigid->search, meeting->a, meeting->b,
                                  known != NULL ? &direction : NULL, &way));
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
    low = noli_min3(low, x);
    high = noli_max3(high, x);
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
  Rigid rigid = {.work = work, .units = units, .search = {.work = work}};
  int64_t n = work->model->problem.n_vert;
  NOLI_NEW(context, rigid.from, 3 * n);
  NOLI_NEW(context, rigid.best, 3 * n);
  NOLI_NEW_ZERO(context, rigid.shift, units->n);
  NOLI_TRY(noli_repair_search_create(work, units, &rigid.search));
  memcpy(rigid.from, work->x, 3 * sizeof(double) * (size_t)n);
  NOLI_TRY(separate(&rigid));
done:
  noli_free(context, rigid.from);
  noli_free(context, rigid.best);
  noli_free(context, rigid.shift);
  noli_repair_search_free(&rigid.search);
  noli_array_free(context, &rigid.constraint);
  noli_array_free(context, &rigid.meeting);
  noli_array_free(context, &rigid.met);
  noli_array_free(context, &rigid.gaps);
  return status;
}
