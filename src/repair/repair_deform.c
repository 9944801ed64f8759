#include "repair/repair.h"

#include "base/sort.h"
#include "mesh/topology.h"

#include <string.h>

// Smoothing of displacements: stiffness of the connections of vertices relative to the pushes, from
// nearly rigid to local.
static const double smoothness[] = {100.0, 10.0, 1.0, 0.1};
enum { N_SMOOTHNESS = 4, N_SWEEPS = 60, N_HALVINGS = 8 };
// Share by which the contour must get shorter in a step.
#define DECREASE 1e-3
// Share of its volume that an element keeps in an iteration.
#define KEEP 0.5

typedef struct Deform {
  NoliRepairWork* work;
  int64_t* link_first; // (n_vert + 1) vertices that share an element
  int32_t* link;
  bool* free_vertex; // (n_vert) may move
  double* push;      // (n_vert x 3) sum of pushes
  double* weight;    // (n_vert) of pushes
  double* step;      // (n_vert x 3)
  double* trial;     // (n_vert x 3)
  NoliRepairGaps gaps;
  NoliRepairPairs met; // bodies that cross or touch now; others stay on their sides
} Deform;

// How bad a configuration is: first the length of contours with depths below planes, then gaps.
typedef struct Merit {
  int64_t crossings;
  double length;  // m
  double missing; // m, sum of what gaps lack
} Merit;

// ---- what may move, and with what ----

static int compare_links(const void* one, const void* other) {
  return noli_compare_tuples(one, other, 2);
}

static NoliStatus link_vertices(Deform* deform) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = deform->work->model;
  int32_t n = model->problem.n_vert, *pair = NULL;
  int64_t n_pairs = 0;
  NOLI_NEW(model->context, pair, 24 * (int64_t)model->cell_first[model->n_body]);
  NOLI_NEW_ZERO(model->context, deform->link_first, (int64_t)n + 1);
  for (int32_t t = 0; t < model->cell_first[model->n_body]; t++) {
    const int32_t* cell = &model->cell[4 * (int64_t)t];
    int32_t size = noli_model_cell_size(cell);
    for (int32_t k = 0; k < size * size; k++) {
      if (k / size != k % size) {
        pair[2 * n_pairs] = cell[k / size];
        pair[2 * n_pairs++ + 1] = cell[k % size];
      }
    }
  }

  noli_sort(pair, n_pairs, 2 * sizeof *pair, compare_links);
  NOLI_NEW(model->context, deform->link, n_pairs);
  int64_t count = 0;
  for (int64_t i = 0; i < n_pairs; i++) {
    if (i == 0 || compare_links(&pair[2 * i], &pair[2 * i - 2]) != 0) {
      deform->link[count++] = pair[2 * i + 1];
      deform->link_first[pair[2 * i] + 1]++;
    }
  }

  for (int32_t v = 0; v < n; v++) {
    deform->link_first[v + 1] += deform->link_first[v];
  }
done:
  noli_free(model->context, pair);
  return status;
}

// Vertices of bodies whose surface is that of their linear elements, and which no tie binds.
static void mark_free(Deform* deform) {
  const NoliModel* model = deform->work->model;
  for (int32_t v = 0; v < model->problem.n_vert; v++) {
    int32_t body = deform->work->surface->body[v];
    const NoliBlock* block = noli_problem_block(&model->problem, body);
    bool linear = block != NULL && model->follower_first[body] == model->follower_first[body + 1] &&
                  (block->type->affine || !block->type->solid);
    bool tied = deform->work->surface->attached_first != NULL;
    deform->free_vertex[v] = linear && !tied && !deform->work->held[v];
  }
}

// ---- pushes ----

// Moves a point of a primitive: the vertices get their shares.
static void push_vertices(Deform* deform, const int32_t* vertex, const double* share, int32_t n,
                          NoliVec3 by) {
  for (int32_t k = 0; k < n; k++) {
    double* push = &deform->push[3 * (int64_t)vertex[k]];
    noli_store3(push, noli_mul_add3(noli_load3(push), share[k], by));
    deform->weight[vertex[k]] += fabs(share[k]);
  }
}

static double edge_length(const double* x, const int32_t edge[2]) {
  return noli_norm3(
      noli_sub3(noli_load3(&x[3 * (int64_t)edge[1]]), noli_load3(&x[3 * (int64_t)edge[0]])));
}

// Unit normal of a triangle.
static NoliVec3 normal_of(const double* x, const int32_t tri[3]) {
  return noli_normalize3(noli_twice_area3(x, tri));
}

// Barycentric coordinates of a point of a triangle, or of an edge given as one, within it.
static void shares_of(const double* x, const int32_t tri[3], NoliVec3 p, double share[3]) {
  NoliVec3 a = noli_load3(&x[3 * (int64_t)tri[0]]);
  NoliVec3 u = noli_sub3(noli_load3(&x[3 * (int64_t)tri[1]]), a);
  NoliVec3 w = noli_sub3(noli_load3(&x[3 * (int64_t)tri[2]]), a), r = noli_sub3(p, a);
  double uu = noli_dot3(u, u), uw = noli_dot3(u, w), ww = noli_dot3(w, w);
  double det = uu * ww - uw * uw, ru = noli_dot3(r, u), rw = noli_dot3(r, w);
  bool flat = !(det > 1e-12 * uu * ww);
  share[1] = flat ? (uu > 0.0 ? ru / uu : 0.0) : (ru * ww - rw * uw) / det;
  share[2] = flat ? 0.0 : (rw * uu - ru * uw) / det;
  share[1] = fmin(fmax(share[1], 0.0), 1.0);
  share[2] = fmin(fmax(share[2], 0.0), 1.0 - share[1]);
  share[0] = 1.0 - share[1] - share[2];
}

// The direction in which the edge moves relative to the triangle so that the contour that passes
// the point where they cross becomes shorter. In a face at the edge the contour runs along r, away
// from the edge with direction e. Moving the edge by D moves that end of it by
// D - (n.D)/(n.e) e, so that its length changes by -g.D with g = r - (e.r)/(e.n) n summed over the
// faces. ([Volino2006] eq. 3 has twice the second part, for edges that turn.)
static NoliVec3 shortening(const NoliRepairWork* work, const NoliCrossing* crossing) {
  const NoliSurface* surface = work->surface;
  const double* x = work->x;
  const int32_t* ends = crossing->edge;
  int32_t edge = noli_surface_edge(surface, surface->body[ends[0]], ends[0], ends[1]);
  NoliVec3 from = noli_load3(&x[3 * (int64_t)ends[0]]);
  NoliVec3 along = noli_normalize3(noli_sub3(noli_load3(&x[3 * (int64_t)ends[1]]), from));
  NoliVec3 normal = normal_of(x, crossing->tri), sum = {0};
  double slope = noli_dot3(along, normal);
  if (fabs(slope) < 0.1) {
    slope = slope < 0.0 ? -0.1 : 0.1;
  }
  for (int32_t f = work->face_first[edge]; f < work->face_first[edge + 1]; f++) {
    const int32_t* tri = &surface->tri[3 * (int64_t)work->face[f]];
    NoliVec3 contour = noli_normalize3(noli_cross3(normal, normal_of(x, tri)));
    // into the face: to the side of its third vertex
    for (int k = 0; k < 3; k++) {
      if (tri[k] != ends[0] && tri[k] != ends[1]) {
        NoliVec3 inward = noli_sub3(noli_load3(&x[3 * (int64_t)tri[k]]), from);
        inward = noli_mul_add3(inward, -noli_dot3(inward, along), along);
        contour = noli_dot3(contour, inward) < 0.0 ? noli_scale3(-1.0, contour) : contour;
      }
    }
    sum = noli_add3(sum, noli_mul_add3(contour, -noli_dot3(along, contour) / slope, normal));
  }

  // a segment of no face leaves by its nearer end, as does an edge without a direction
  if (noli_norm3(sum) < 1e-6) {
    NoliVec3 p = crossing->position;
    double first = noli_dot3(noli_sub3(from, p), normal);
    double second = noli_dot3(noli_sub3(noli_load3(&x[3 * (int64_t)ends[1]]), p), normal);
    double depth = fabs(first) < fabs(second) ? first : second;
    sum = depth > 0.0 ? noli_scale3(-1.0, normal) : normal;
  }
  return noli_normalize3(sum);
}

static void push_crossing(Deform* deform, const NoliCrossing* crossing) {
  const double* x = deform->work->x;
  const int32_t* ends = crossing->edge;
  double share[3], along[2] = {1.0, 0.0}, length = edge_length(x, ends);
  shares_of(x, crossing->tri, crossing->position, share);
  if (length > 0.0) {
    NoliVec3 from = noli_load3(&x[3 * (int64_t)ends[0]]);
    along[1] = fmin(1.0, noli_norm3(noli_sub3(crossing->position, from)) / length);
    along[0] = 1.0 - along[1];
  }
  // points and segments that meet have no triangle and no contour: the gaps push them
  if (crossing->triangle == NOLI_NULL_INDEX || length == 0.0) {
    return;
  }
  double size = 0.25 * fmin(length, edge_length(x, crossing->tri));
  NoliVec3 by = noli_scale3(size, shortening(deform->work, crossing));
  push_vertices(deform, ends, along, 2, by);
  push_vertices(deform, crossing->tri, share, 3, noli_scale3(-1.0, by));
}

// Both sides of a close pair share what is missing to the target gap.
static void push_gap(Deform* deform, const NoliRepairGap* gap) {
  double sum = 0.0;
  for (int k = 0; k < 4; k++) {
    sum += deform->free_vertex[gap->vertex[k]] ? gap->weight[k] * gap->weight[k] : 0.0;
  }
  if (sum <= 0.0) {
    return;
  }
  NoliVec3 direction = gap->direction;
  if (noli_norm_sqr3(direction) == 0.0) {
    const double* x = deform->work->x;
    const int32_t* v = gap->vertex;
    NoliVec3 u = noli_sub3(noli_load3(&x[3 * (int64_t)v[1]]), noli_load3(&x[3 * (int64_t)v[0]]));
    NoliVec3 w = noli_sub3(noli_load3(&x[3 * (int64_t)v[3]]), noli_load3(&x[3 * (int64_t)v[2]]));
    direction = noli_normalize3(noli_cross3(u, w));
    direction = noli_norm_sqr3(direction) > 0.0 ? direction : noli_orthogonal3(u);
  }
  double missing = noli_repair_wanted(deform->work, deform->work->target, gap->range) - gap->gap;
  for (int k = 0; k < 4; k++) {
    double share = gap->weight[k] / sum;
    push_vertices(deform, &gap->vertex[k], (double[]){fabs(gap->weight[k])}, 1,
                  noli_scale3((share < 0.0 ? -1.0 : 1.0) * missing / sum, direction));
  }
}

// A pair of one body that is closer at rest stays so.
static bool is_close_at_rest(const NoliRepairWork* work, const NoliRepairGap* gap) {
  const double* X = work->model->problem.X;
  const int32_t* v = gap->vertex;
  if (work->surface->body[v[0]] != work->surface->body[v[3]]) {
    return false;
  }
  NoliVec3 r = {0};
  for (int k = 0; k < 4; k++) {
    r = noli_mul_add3(r, gap->weight[k], noli_load3(&X[3 * (int64_t)v[k]]));
  }
  double offset =
      noli_surface_offset(work->surface, work->surface->body[v[0]], work->surface->body[v[3]]);
  return noli_norm3(r) - offset < 1.5 * noli_repair_wanted(work, work->target, gap->range);
}

// ---- merit ----

// The faces that a crossing connects: those at the edge with the triangle.
typedef struct Segment {
  int32_t a, b; // triangles, a < b
  NoliVec3 end;
} Segment;

static int compare_segments(const void* one, const void* other) {
  const Segment *p = one, *q = other;
  return noli_compare_tuples((const int32_t[]){p->a, p->b}, (const int32_t[]){q->a, q->b}, 2);
}

// Length of the curves in which triangles cross: each pair of triangles has a segment with two
// ends, where an edge of one meets the other.
static NoliStatus contour_length(const NoliRepairWork* work, const NoliCrossing* crossing,
                                 int64_t n, double* length) {
  NoliStatus status = NOLI_OK;
  NOLI_ARRAY(Segment) segment = {0};
  const NoliSurface* surface = work->surface;
  *length = 0.0;
  for (int64_t i = 0; i < n; i++) {
    const int32_t* ends = crossing[i].edge;
    int32_t t = crossing[i].triangle;
    if (t == NOLI_NULL_INDEX || ends[0] == ends[1]) {
      continue;
    }
    int32_t edge = noli_surface_edge(surface, surface->body[ends[0]], ends[0], ends[1]);
    for (int32_t f = work->face_first[edge]; f < work->face_first[edge + 1]; f++) {
      int32_t face = work->face[f];
      NOLI_PUSH(work->context, &segment,
                ((Segment){face < t ? face : t, face < t ? t : face, crossing[i].position}));
    }
  }

  noli_sort(segment.data, segment.count, sizeof(Segment), compare_segments);
  for (int64_t i = 1; i < segment.count; i++) {
    const Segment *p = &segment.data[i - 1], *q = &segment.data[i];
    *length += p->a == q->a && p->b == q->b ? noli_norm3(noli_sub3(p->end, q->end)) : 0.0;
  }
done:
  noli_array_free(work->context, &segment);
  return status;
}

// Depths below half-spaces, and the pushes out of them if `push`.
static double depth_below_planes(Deform* deform, const double* x, bool push) {
  const NoliRepairWork* work = deform->work;
  const NoliProblem* problem = &work->model->problem;
  double sum = 0.0, one = 1.0;

  for (int32_t i = 0; i < work->surface->n_point; i++) {
    int32_t v = work->surface->point[i], body = work->surface->body[v];
    for (int32_t p = 0; p < problem->contact.n_half_spaces; p++) {
      double height =
          noli_half_space_distance(&problem->contact.half_spaces[p], &x[3 * (int64_t)v]) -
          noli_surface_offset_of(work->surface, body);
      double range =
          noli_body_pairs_range(&problem->contact.body_pairs, body, work->model->n_body + p);
      double missing = noli_repair_wanted(work, work->target, range) - height;
      double wanted =
          work->settle ? noli_repair_wanted(work, work->enough, range) : 2.0 * work->touching;
      if (height < wanted &&
          noli_body_pairs_get(&problem->contact.body_pairs, body, work->model->n_body + p)) {
        sum += missing;
        if (push) {
          push_vertices(deform, &v, &one, 1,
                        noli_scale3(missing, problem->contact.half_spaces[p].normal));
        }
      }
    }
  }
  return sum;
}

static NoliStatus add_met(Deform* deform, int32_t v, int32_t w) {
  NoliStatus status = NOLI_OK;
  int32_t a = deform->work->surface->body[v], b = deform->work->surface->body[w];
  NOLI_PUSH(deform->work->context, &deform->met, ((NoliRepairPair){a < b ? a : b, a < b ? b : a}));
done:
  return status;
}

// Measures x; with `push` also collects the pushes and what meets, which needs x to be that of the
// work. Without crossings the gaps count.
static NoliStatus repair_deform_measure(Deform* deform, const double* x, bool push, Merit* merit) {
  NoliStatus status = NOLI_OK;
  NoliRepairWork* work = deform->work;
  NoliCrossing* crossing = NULL;
  const NoliBodyPairs* pairs = &work->pairs;
  *merit = (Merit){0};
  NOLI_TRY(noli_audit_intersections(work->context, work->surface, x, pairs, &crossing,
                                    &merit->crossings));
  NOLI_TRY(contour_length(work, crossing, merit->crossings, &merit->length));
  merit->length += depth_below_planes(deform, x, push);
  if (push) {
    deform->met.count = 0;
  }
  for (int64_t i = 0; i < merit->crossings && push; i++) {
    push_crossing(deform, &crossing[i]);
    NOLI_TRY(add_met(deform, crossing[i].edge[0], crossing[i].tri[0]));
  }

  // gaps of pairs that are not as close at rest
  bool apart = merit->crossings == 0;
  NOLI_TRY(noli_repair_gaps(work, work->surface, work->broad_phase, pairs, x,
                            apart ? work->enough : 2.0 * work->touching, &deform->gaps));
  for (int64_t i = 0; i < deform->gaps.count; i++) {
    const NoliRepairGap* gap = &deform->gaps.data[i];
    if (!is_close_at_rest(work, gap) || gap->gap < 2.0 * work->touching) {
      merit->missing += noli_repair_wanted(work, work->target, gap->range) - gap->gap;
      if (push) {
        push_gap(deform, gap);
      }
    }
    if (push && noli_repair_touches(work, gap)) {
      NOLI_TRY(add_met(deform, gap->vertex[0], gap->vertex[3]));
    }
  }
  if (push) {
    noli_repair_sort_pairs(&deform->met);
  }
done:
  noli_free(work->context, crossing);
  return status;
}

static bool is_better(const Merit* merit, const Merit* than) {
  if (than->length > 0.0 || than->crossings > 0) {
    return merit->length < (1.0 - DECREASE) * than->length ||
           (merit->length <= than->length && merit->crossings < than->crossings);
  }
  return merit->crossings == 0 && merit->length == 0.0 &&
         merit->missing < (1.0 - DECREASE) * than->missing;
}

// ---- steps ----

// The displacements that follow the mean pushes where there are some and vary little along
// elements: Gauss-Seidel sweeps on
//   sum over pushed vertices |u - push|^2 + smooth * sum over links |u - u_neighbour|^2.
static void smooth_pushes(Deform* deform, double smooth) {
  int32_t n = deform->work->model->problem.n_vert;
  double* u = deform->step;
  for (int32_t v = 0; v < n; v++) {
    double w = deform->weight[v];
    for (int k = 0; k < 3; k++) {
      bool pushed = w > 0.0 && deform->free_vertex[v];
      u[3 * (int64_t)v + k] = pushed ? deform->push[3 * (int64_t)v + k] / fmax(w, 1e-3) : 0.0;
    }
  }

  for (int sweep = 0; sweep < N_SWEEPS; sweep++) {
    for (int32_t i = 0; i < n; i++) {
      int32_t v = sweep % 2 == 0 ? i : n - 1 - i;
      double w = fmin(deform->weight[v], 1.0), sum = w;
      NoliVec3 mean = {0};
      if (!deform->free_vertex[v]) {
        continue;
      }
      if (w > 0.0) {
        mean = noli_scale3(w / fmax(deform->weight[v], 1e-3),
                           noli_load3(&deform->push[3 * (int64_t)v]));
      }
      for (int64_t k = deform->link_first[v]; k < deform->link_first[v + 1]; k++) {
        mean = noli_mul_add3(mean, smooth, noli_load3(&u[3 * (int64_t)deform->link[k]]));
        sum += smooth;
      }
      if (sum > 0.0) {
        noli_store3(&u[3 * (int64_t)v], noli_scale3(1.0 / sum, mean));
      }
    }
  }
}

// Tries ever smaller steps along the smoothed pushes and takes the first better one.
static NoliStatus repair_deform_take_step(Deform* deform, Merit* merit, bool* taken) {
  NoliStatus status = NOLI_OK;
  NoliRepairWork* work = deform->work;
  int64_t n = 3 * (int64_t)work->model->problem.n_vert;
  double alpha;
  *taken = false;
  NOLI_TRY(noli_problem_inversion_bound(&work->model->problem, work->context, work->x, deform->step,
                                        KEEP, false, &alpha, NULL));

  for (int k = 0; k < N_HALVINGS && !*taken; k++, alpha *= 0.5) {
    Merit found;
    for (int64_t i = 0; i < n; i++) {
      deform->trial[i] = work->x[i] + alpha * deform->step[i];
    }
    NOLI_TRY(repair_deform_measure(deform, deform->trial, false, &found));
    bool better = is_better(&found, merit);
    if (better) {
      NOLI_TRY(noli_repair_passages(work, work->surface->body, &deform->met, true, work->x,
                                    deform->trial, &deform->gaps));
      work->n_refused += deform->gaps.count > 0 ? 1 : 0;
    }
    if (better && deform->gaps.count == 0) {
      memcpy(work->x, deform->trial, (size_t)n * sizeof(double));
      *merit = found;
      *taken = true;
    }
  }
done:
  return status;
}

static NoliStatus descend(Deform* deform) {
  NoliStatus status = NOLI_OK;
  NoliRepairWork* work = deform->work;
  int64_t n = work->model->problem.n_vert;
  Merit merit;
  for (int32_t i = 0; i < 10 * work->rounds; i++) {
    bool taken = false;
    memset(deform->push, 0, 3 * (size_t)n * sizeof(double));
    memset(deform->weight, 0, (size_t)n * sizeof(double));
    NOLI_TRY(repair_deform_measure(deform, work->x, true, &merit));
    bool valid = merit.crossings == 0 && merit.length == 0.0 && merit.missing == 0.0;
    if (valid) {
      break;
    }
    for (int k = 0; k < N_SMOOTHNESS && !taken; k++) {
      smooth_pushes(deform, smoothness[k]);
      NOLI_TRY(repair_deform_take_step(deform, &merit, &taken));
    }
    if (!taken) {
      break;
    }
  }
done:
  return status;
}

// Whether there is anything to do for this stage; gaps alone count only if all shall settle.
static NoliStatus is_needed(const NoliRepairWork* work, bool* needed) {
  NoliStatus status = NOLI_OK;
  NoliDefects defects = {0};
  NOLI_TRY(noli_sim_find_defects(work->model, work->x, &defects));
  *needed = work->settle;
  for (int64_t i = 0; i < defects.count; i++) {
    *needed = *needed || defects.data[i].kind != NOLI_DEFECT_INVERTED;
  }
done:
  noli_array_free(work->context, &defects);
  return status;
}

NoliStatus noli_repair_deform(NoliRepairWork* work) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = work->context;
  Deform deform = {.work = work};
  int64_t n = work->model->problem.n_vert;
  bool needed = false;

  NOLI_TRY(is_needed(work, &needed));
  if (!needed) {
    goto done;
  }
  NOLI_NEW(context, deform.free_vertex, n);
  NOLI_NEW(context, deform.push, 3 * n);
  NOLI_NEW(context, deform.weight, n);
  NOLI_NEW(context, deform.step, 3 * n);
  NOLI_NEW(context, deform.trial, 3 * n);
  NOLI_TRY(link_vertices(&deform));
  mark_free(&deform);
  NOLI_TRY(descend(&deform));
done:
  noli_free(context, deform.link_first);
  noli_free(context, deform.link);
  noli_free(context, deform.free_vertex);
  noli_free(context, deform.push);
  noli_free(context, deform.weight);
  noli_free(context, deform.step);
  noli_free(context, deform.trial);
  noli_array_free(context, &deform.gaps);
  noli_array_free(context, &deform.met);
  return status;
}
