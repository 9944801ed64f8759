#include "collide/inclusion_ccd.h"

#include <float.h>
#include <math.h>

// Most waiting boxes, and most cuts of one dimension: lows of boxes stay exact.
enum { WAITING = 512, MOST_CUTS = 50 };

// Rows of the rotation are of unit length and at right angles up to this share.
#define ROTATION_ERROR 1e-14

// Let u = DBL_EPSILON / 2. Differences, the path (w0 + span p) and the rotation: 9 u W at either
// end; c, e, f from them: 9, 20, 20 u W. At a time in between: 14, 30, 30 u W; products with u and
// v and the sums: 86 u W. The product of t / span with the span moves the pair by 2 u W. Longer
// times than 1 lengthen W.
#define ERROR_UNITS 50.0

// [lo, lo + 2^-cuts] in t / span, u, v.
typedef struct Box {
  double lo[3];
  int16_t cuts[3];
  int16_t depth; // sum of the cuts
} Box;

// F = c + u e + v f, each affine in time: ends of the path in rotated coordinates.
typedef struct Function {
  double c[2][3];
  double e[2][3];
  double f[2][3];
  int32_t n_dim;    // 1 + number of parameters
  bool is_triangle; // u + v <= 1
} Function;

// The box around F, and how far F changes over each dimension.
typedef struct Image {
  double gap_sqr;   // squared distance of the box from the origin
  double extent[3]; // the largest side, or of separated pairs how far the distance may change
  double size;      // of the box, largest side; of separated pairs the sum of `extent`
} Image;

static NoliVec3 rotate(const NoliVec3 axes[3], NoliVec3 w) {
  return noli_vec3(noli_dot3(axes[0], w), noli_dot3(axes[1], w), noli_dot3(axes[2], w));
}

// A right-handed frame whose first axis has the direction of `axis`.
static void make_frame(NoliVec3 axis, NoliVec3 frame[3]) {
  double x = fabs(axis.x), y = fabs(axis.y), z = fabs(axis.z);
  NoliVec3 other = x <= y && x <= z ? noli_vec3(1.0, 0.0, 0.0)
                   : y <= z         ? noli_vec3(0.0, 1.0, 0.0)
                                    : noli_vec3(0.0, 0.0, 1.0);
  frame[0] = noli_normalize3(axis);
  frame[1] = noli_normalize3(noli_cross3(frame[0], other));
  frame[2] = noli_normalize3(noli_cross3(frame[0], frame[1]));
}

// Time of the first box. It does not depend on t_max up to 1, so that a pair has the same boxes and
// the same answer whatever limit others have set before.
static double span_of(const NoliInclusionQuery* query) {
  return query->t_max > 1.0 ? query->t_max : 1.0;
}

static Function make_function(const NoliInclusionQuery* query) {
  // which differences span the parameters, from the first one
  static const int32_t along_u[4] = {0, 1, 1, 2}, along_v[4] = {0, 0, 2, 1};
  static const int32_t n_dim[4] = {1, 2, 3, 3};
  Function function = {.n_dim = n_dim[query->kind],
                       .is_triangle = query->kind == NOLI_PAIR_POINT_TRIANGLE};
  NoliVec3 frame[3];
  make_frame(query->axis, frame);
  for (int32_t end = 0; end < 2; end++) {
    NoliVec3 w[3];
    const int32_t index[3] = {0, along_u[query->kind], along_v[query->kind]};
    for (int32_t i = 0; i < 3; i++) {
      NoliVec3 start = query->w0[index[i]];
      w[i] = rotate(frame,
                    end == 0 ? start : noli_mul_add3(start, span_of(query), query->p[index[i]]));
    }
    noli_store3(function.c[end], w[0]);
    noli_store3(function.e[end], noli_sub3(w[1], w[0]));
    noli_store3(function.f[end], noli_sub3(w[2], w[0]));
  }
  return function;
}

// Replaces the changes of F over each dimension, `change`, by those of its distance from the
// origin; `gap` is the vector to the box. To second order |r + e| changes by r.e / |r| + e^2 / (2
// |r|).
static void measure_distance(const double gap[3], double change[3][3], Image* image) {
  double norm = sqrt(image->gap_sqr);
  image->size = 0.0;
  for (int32_t d = 0; d < 3; d++) {
    double along = 0.0, square = 0.0;
    for (int32_t k = 0; k < 3; k++) {
      along += fabs(gap[k]) * change[d][k];
      square += change[d][k] * change[d][k];
    }
    image->extent[d] = norm > 0.0 ? (along + 0.5 * square) / norm : sqrt(square);
    image->size += image->extent[d];
  }
}

static Image inclusion_ccd_evaluate(const Function* function, const Box* box, bool separated) {
  Image image = {0};
  double to_box[3], change[3][3] = {{0.0}};
  double width[3];
  for (int32_t d = 0; d < 3; d++) {
    width[d] = ldexp(1.0, -box->cuts[d]);
  }
  double u = box->lo[1], v = box->lo[2];
  for (int32_t k = 0; k < 3; k++) {
    // bounds of component k from the corners of the box, at both times
    double lo = (double)INFINITY, hi = -(double)INFINITY, corner[2];
    for (int32_t end = 0; end < 2; end++) {
      double t = box->lo[0] + (end == 0 ? 0.0 : width[0]);
      double c = function->c[0][k] + t * (function->c[1][k] - function->c[0][k]);
      double e = function->e[0][k] + t * (function->e[1][k] - function->e[0][k]);
      double f = function->f[0][k] + t * (function->f[1][k] - function->f[0][k]);
      double u0 = u * e, u1 = (u + width[1]) * e, v0 = v * f, v1 = (v + width[2]) * f;
      double low = c + (u0 < u1 ? u0 : u1) + (v0 < v1 ? v0 : v1);
      double high = c + (u0 < u1 ? u1 : u0) + (v0 < v1 ? v1 : v0);
      lo = low < lo ? low : lo;
      hi = high > hi ? high : hi;
      corner[end] = c + u0 + v0;
      change[1][k] = fmax(change[1][k], fabs(u1 - u0));
      change[2][k] = fmax(change[2][k], fabs(v1 - v0));
    }
    change[0][k] = fabs(corner[1] - corner[0]);

    // the distance of its range from 0, and its extent in each parameter
    double gap = lo > 0.0 ? lo : hi < 0.0 ? -hi : 0.0;
    image.gap_sqr += gap * gap;
    image.size = fmax(image.size, hi - lo);
    to_box[k] = gap;
    for (int32_t d = 0; d < 3; d++) {
      image.extent[d] = fmax(image.extent[d], change[d][k]);
    }
  }
  if (separated) {
    measure_distance(to_box, change, &image);
  }
  return image;
}

// ---- waiting boxes, as a heap ----

typedef struct Queue {
  Box box[WAITING];
  int32_t n;
} Queue;

// Earlier ones first; of equal times the smaller boxes, which keeps the queue short.
static bool comes_first(const Box* a, const Box* b) {
  return a->lo[0] != b->lo[0] ? a->lo[0] < b->lo[0] : a->depth > b->depth;
}

static void inclusion_ccd_push(Queue* queue, Box box) {
  int32_t i = queue->n++;
  for (; i > 0 && comes_first(&box, &queue->box[(i - 1) / 2]); i = (i - 1) / 2) {
    queue->box[i] = queue->box[(i - 1) / 2];
  }
  queue->box[i] = box;
}

static Box pop(Queue* queue) {
  Box first = queue->box[0], last = queue->box[--queue->n];
  int32_t i = 0;
  for (;;) {
    int32_t child = 2 * i + 1;
    if (child >= queue->n) {
      break;
    }
    child += child + 1 < queue->n && comes_first(&queue->box[child + 1], &queue->box[child]);
    if (!comes_first(&queue->box[child], &last)) {
      break;
    }
    queue->box[i] = queue->box[child];
    i = child;
  }
  queue->box[i] = last;
  return first;
}

// The dimension with the largest extent among those that can still be cut, or -1.
static int32_t widest(const Function* function, const Box* box, const Image* image) {
  int32_t best = -1;
  for (int32_t d = 0; d < function->n_dim; d++) {
    if (box->cuts[d] < MOST_CUTS && (best < 0 || image->extent[d] > image->extent[best])) {
      best = d;
    }
  }
  return best;
}

// Queues both halves of a box; a half outside the triangle is dropped.
static void cut(const Function* function, Box box, int32_t d, Queue* queue) {
  box.cuts[d]++;
  box.depth++;
  inclusion_ccd_push(queue, box);
  box.lo[d] += ldexp(1.0, -box.cuts[d]);
  if (!function->is_triangle || box.lo[1] + box.lo[2] <= 1.0) {
    inclusion_ccd_push(queue, box);
  }
}

bool noli_inclusion_ccd(const NoliInclusionQuery* query, double* toi, bool* ran_out) {
  double factor = query->t_max > 1.0 ? 3.0 * query->t_max : 1.0;
  double limit = query->low * (1.0 + ROTATION_ERROR) +
                 2.0 * ERROR_UNITS * DBL_EPSILON * factor * query->largest_w;

  // the square is rounded too
  double limit_sqr = limit * limit * (1.0 + 8.0 * DBL_EPSILON);
  Function function = make_function(query);
  double span = span_of(query);
  Queue queue;
  queue.n = 1;
  queue.box[0] = (Box){{0.0, 0.0, 0.0}, {0, 0, 0}, 0};
  for (int32_t i = 0; queue.n > 0; i++) {
    Box box = pop(&queue);
    if (box.lo[0] * span >= query->t_max) {
      break; // and so are all others
    }
    Image image = inclusion_ccd_evaluate(&function, &box, query->separated);
    // false for NaN
    if (image.gap_sqr > limit_sqr) {
      continue;
    }
    int32_t d = widest(&function, &box, &image);
    if (!(image.size > query->margin) || d < 0 || i >= query->max_boxes || queue.n + 2 > WAITING) {
      *toi = box.lo[0] * span;
      *ran_out = image.size > query->margin;
      return true;
    }
    cut(&function, box, d, &queue);
  }

  *toi = query->t_max;
  *ran_out = false;
  return false;
}
