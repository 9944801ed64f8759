#include "fem/thin/hinge.h"

#include "base/sort.h"
#include "mesh/topology.h"
#include "math/vec3.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

static NoliVec3 hinge_vertex(const double* x, int32_t node) {
  return noli_load3(x + 3 * (int64_t)node);
}

// ---- the angle ----------------------------------------------------------------------------------

// The five edges of a hinge, from node 0 or to the ends of its own edge.
typedef struct Edges {
  NoliVec3 e0; // 0 to 1
  NoliVec3 e1; // 0 to 2
  NoliVec3 e2; // 0 to 3
  NoliVec3 e3; // 1 to 2
  NoliVec3 e4; // 1 to 3
} Edges;

static Edges edges_of(const double x[12]) {
  NoliVec3 x0 = hinge_vertex(x, 0), x1 = hinge_vertex(x, 1), x2 = hinge_vertex(x, 2),
           x3 = hinge_vertex(x, 3);
  return (Edges){noli_sub3(x1, x0), noli_sub3(x2, x0), noli_sub3(x3, x0), noli_sub3(x2, x1),
                 noli_sub3(x3, x1)};
}

double noli_hinge_angle(const double x[12]) {
  Edges e = edges_of(x);
  NoliVec3 n1 = noli_cross3(e.e0, e.e1), n2 = noli_cross3(e.e2, e.e0);
  return atan2(noli_dot3(noli_cross3(n1, n2), e.e0) / noli_norm3(e.e0), noli_dot3(n1, n2));
}

// A normal over the square of its length, and its derivatives by its edges.
typedef struct Lever {
  NoliVec3 a;    // N / |N|^2
  NoliVec3 unit; // N / |N|
  double norm_sqr;
} Lever;

static Lever lever_of(NoliVec3 normal) {
  double norm_sqr = noli_norm_sqr3(normal);
  return (Lever){noli_scale3(1.0 / norm_sqr, normal), noli_scale3(1.0 / sqrt(norm_sqr), normal),
                 norm_sqr};
}

static NoliVec3 lever_change(const Lever* lever, NoliVec3 change) {
  NoliVec3 across = noli_mul_add3(change, -2.0 * noli_dot3(lever->unit, change), lever->unit);
  return noli_scale3(1.0 / lever->norm_sqr, across);
}

// Weights of the two levers in the gradient, by node: (e . e') / |e0| and |e0|.
typedef struct Weights {
  double one[4];
  double two[4];
} Weights;

static Weights weights_of(const Edges* e) {
  double length = noli_norm3(e->e0);
  return (Weights){
      {-noli_dot3(e->e0, e->e3) / length, noli_dot3(e->e0, e->e1) / length, -length, 0.0},
      {-noli_dot3(e->e0, e->e4) / length, noli_dot3(e->e0, e->e2) / length, 0.0, -length}};
}

// Derivatives of the weights in the direction `d` of the edges.
static Weights weights_change(const Edges* e, const Edges* d, const Weights* at) {
  double length = noli_norm3(e->e0), dl = noli_dot3(e->e0, d->e0) / length;
  const NoliVec3* other[4] = {&e->e3, &e->e1, &e->e4, &e->e2};
  const NoliVec3* d_other[4] = {&d->e3, &d->e1, &d->e4, &d->e2};
  double change[4];
  for (int k = 0; k < 4; k++) {
    change[k] = (noli_dot3(d->e0, *other[k]) + noli_dot3(e->e0, *d_other[k])) / length;
  }
  double ratio = dl / length;
  return (Weights){{-change[0] - at->one[0] * ratio, change[1] - at->one[1] * ratio, -dl, 0.0},
                   {-change[2] - at->two[0] * ratio, change[3] - at->two[1] * ratio, 0.0, -dl}};
}

void noli_hinge_derivatives(const double x[12], double gradient[12], double* hessian) {
  Edges e = edges_of(x);
  Lever one = lever_of(noli_cross3(e.e0, e.e1)), two = lever_of(noli_cross3(e.e2, e.e0));
  Weights w = weights_of(&e);
  for (int a = 0; a < 4; a++) {
    noli_store3(gradient + 3 * a, noli_mul_add3(noli_scale3(w.one[a], one.a), w.two[a], two.a));
  }
  if (hessian == NULL) {
    return;
  }

  // column by column: the change of the gradient with every component of every node
  for (int column = 0; column < 12; column++) {
    double unit[12] = {0};
    unit[column] = 1.0;
    Edges d = edges_of(unit);
    NoliVec3 d_one =
        lever_change(&one, noli_add3(noli_cross3(d.e0, e.e1), noli_cross3(e.e0, d.e1)));
    NoliVec3 d_two =
        lever_change(&two, noli_add3(noli_cross3(d.e2, e.e0), noli_cross3(e.e2, d.e0)));
    Weights d_w = weights_change(&e, &d, &w);
    for (int a = 0; a < 4; a++) {
      NoliVec3 change = noli_mul_add3(noli_scale3(w.one[a], d_one), d_w.one[a], one.a);
      change = noli_mul_add3(noli_mul_add3(change, w.two[a], d_two), d_w.two[a], two.a);
      hessian[12 * (3 * a) + column] = change.x;
      hessian[12 * (3 * a + 1) + column] = change.y;
      hessian[12 * (3 * a + 2) + column] = change.z;
    }
  }
  for (int i = 0; i < 12; i++) {
    for (int j = 0; j < i; j++) {
      double mean = 0.5 * (hessian[12 * i + j] + hessian[12 * j + i]);
      hessian[12 * i + j] = hessian[12 * j + i] = mean;
    }
  }
}

// ---- energy -------------------------------------------------------------------------------------

static void write_blocks(const double hessian[144], double* blocks) {
  for (int a = 0; a < 4; a++) {
    for (int b = a; b < 4; b++) {
      double* block = blocks + 9 * noli_stencil_block(4, a, b);
      for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
          // the two halves differ by rounding
          block[3 * i + j] =
              0.5 * (hessian[12 * (3 * a + i) + 3 * b + j] + hessian[12 * (3 * b + j) + 3 * a + i]);
        }
      }
    }
  }
}

void noli_bending_evaluate(const void* data, const double* x, int64_t begin, int64_t end,
                           unsigned what, const NoliLocal* out) {
  const NoliBending* bending = data;
  const NoliHinges* hinges = bending->hinges;
  bool curved = (what & NOLI_EVAL_HESSIAN) != 0;

  for (int64_t h = begin; h < end; h++) {
    double at[12], gradient[12], hessian[144], k = bending->scale * hinges->stiffness[h];
    for (int a = 0; a < 4; a++) {
      memcpy(at + 3 * a, x + 3 * (int64_t)hinges->node[4 * h + a], 3 * sizeof *at);
    }
    double turn = remainder(noli_hinge_angle(at) - hinges->rest[h], 2.0 * PI);
    if (what & NOLI_EVAL_ENERGY) {
      out->energy[h - begin] = 0.5 * k * turn * turn;
    }
    if (!(what & ~(unsigned)NOLI_EVAL_ENERGY)) {
      continue;
    }
    noli_hinge_derivatives(at, gradient, curved ? hessian : NULL);
    for (int i = 0; i < 12 && (what & NOLI_EVAL_GRADIENT); i++) {
      out->gradient[12 * (h - begin) + i] = k * turn * gradient[i];
    }
    if (what & (NOLI_EVAL_HESSIAN | NOLI_EVAL_PROJECTED)) {
      for (int i = 0; i < 144; i++) {
        double bent = curved ? turn * hessian[i] : 0.0;
        hessian[i] = k * (bent + gradient[i / 12] * gradient[i % 12]);
      }
      write_blocks(hessian, out->hessian + 90 * (h - begin));
    }
  }
}

// ---- from triangles -----------------------------------------------------------------------------

// A side of a triangle.
typedef struct Side {
  int32_t low, high; // nodes
  int32_t tri;
  int32_t third;
} Side;

static int hinge_compare_sides(const void* one, const void* two) {
  const Side *a = one, *b = two;
  const int32_t key_a[3] = {a->low, a->high, a->tri}, key_b[3] = {b->low, b->high, b->tri};
  return noli_compare_tuples(key_a, key_b, 3);
}

static void list_sides(int32_t begin, int32_t end, const int32_t* tri, Side* side) {
  for (int64_t t = begin; t < end; t++) {
    for (int k = 0; k < 3; k++) {
      int32_t a = tri[3 * t + k], b = tri[3 * t + (k + 1) % 3];
      side[3 * (t - begin) + k] = (Side){.low = a < b ? a : b,
                                         .high = a < b ? b : a,
                                         .tri = (int32_t)t,
                                         .third = tri[3 * t + (k + 2) % 3]};
    }
  }
  noli_sort(side, 3 * ((int64_t)end - begin), sizeof *side, hinge_compare_sides);
}

static NoliStatus add_hinge(NoliContext* context, const Side* one, const Side* two, const double* X,
                            NoliHinges* hinges) {
  NoliStatus status = NOLI_OK;
  int64_t h = hinges->n_hinge, *capacity = hinges->capacity;
  NOLI_TRY(noli_grow(context, (void**)&hinges->node, &capacity[0], 4 * (h + 1), sizeof(int32_t)));
  NOLI_TRY(noli_grow(context, (void**)&hinges->tri, &capacity[1], 2 * (h + 1), sizeof(int32_t)));
  NOLI_TRY(noli_grow(context, (void**)&hinges->rest, &capacity[2], h + 1, sizeof(double)));
  NOLI_TRY(noli_grow(context, (void**)&hinges->stiffness, &capacity[3], h + 1, sizeof(double)));
  int32_t* node = hinges->node + 4 * h;
  node[0] = one->low;
  node[1] = one->high;
  node[2] = one->third;
  node[3] = two->third;
  hinges->tri[2 * h] = one->tri;
  hinges->tri[2 * h + 1] = two->tri;
  double at[12];
  for (int a = 0; a < 4; a++) {
    memcpy(at + 3 * a, X + 3 * (int64_t)node[a], 3 * sizeof *at);
  }
  hinges->rest[h] = noli_hinge_angle(at);
  hinges->stiffness[h] = 0.0;
  hinges->n_hinge++;
done:
  return status;
}

NoliStatus noli_hinges_add(NoliContext* context, int32_t begin, int32_t end, const int32_t* tri,
                           const double* X, NoliHinges* hinges) {
  NoliStatus status = NOLI_OK;
  Side* side = NULL;
  int64_t n = 3 * (int64_t)(end - begin);
  NOLI_NEW(context, side, n);
  list_sides(begin, end, tri, side);
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = i + 1; j < n && side[j].low == side[i].low && side[j].high == side[i].high;
         j++) {
      NOLI_TRY(add_hinge(context, &side[i], &side[j], X, hinges));
    }
  }
done:
  noli_free(context, side);
  return status;
}

void noli_hinges_destroy(NoliContext* context, NoliHinges* hinges) {
  noli_free(context, hinges->node);
  noli_free(context, hinges->tri);
  noli_free(context, hinges->rest);
  noli_free(context, hinges->stiffness);
  *hinges = (NoliHinges){0};
}

double noli_hinge_stiffness(const int32_t node[4], const double* X, const double* const axis[2],
                            const double* const plate[2]) {
  NoliVec3 edge = noli_sub3(hinge_vertex(X, node[1]), hinge_vertex(X, node[0]));
  double area = 0.0, sum = 0.0;
  for (int k = 0; k < 2; k++) {
    // the direction that bends is across the edge
    NoliVec3 side = noli_sub3(hinge_vertex(X, node[2 + k]), hinge_vertex(X, node[0]));
    double along = noli_dot3(edge, noli_load3(axis[k])), share_sqr = along * along;
    share_sqr = 1.0 - share_sqr / noli_norm_sqr3(edge);
    area += 0.5 * noli_norm3(noli_cross3(edge, side));
    sum += share_sqr * plate[k][0] + (1.0 - share_sqr) * plate[k][1];
  }
  return 0.5 * sum * noli_norm_sqr3(edge) / area;
}

void noli_hinges_set_stiffness(NoliHinges* hinges, int32_t first, const double* X,
                               const double* axis, const double* plate) {
  for (int64_t h = first; h < hinges->n_hinge; h++) {
    const int32_t* tri = hinges->tri + 2 * h;
    const double* const axes[2] = {axis + 3 * (int64_t)tri[0], axis + 3 * (int64_t)tri[1]};
    const double* const plates[2] = {plate + 2 * (int64_t)tri[0], plate + 2 * (int64_t)tri[1]};
    hinges->stiffness[h] = noli_hinge_stiffness(hinges->node + 4 * h, X, axes, plates);
  }
}

// ---- rest positions -----------------------------------------------------------------------------

static void gather(const NoliHinges* hinges, int64_t h, const double* x, double at[12]) {
  for (int a = 0; a < 4; a++) {
    memcpy(at + 3 * a, x + 3 * (int64_t)hinges->node[4 * h + a], 3 * sizeof *at);
  }
}

static void add_at(double* gradient, int node, NoliVec3 by) {
  noli_store3(gradient + 3 * node, noli_add3(noli_load3(gradient + 3 * node), by));
}

// The relative change of |e|^2 / (A1 + A2) with the nodes.
static void shape_gradient(const double X[12], double gradient[12]) {
  NoliVec3 edge = noli_sub3(hinge_vertex(X, 1), hinge_vertex(X, 0));
  double area = 0.0, by_area[12] = {0.0};
  for (int k = 0; k < 2; k++) {
    NoliVec3 side = noli_sub3(hinge_vertex(X, 2 + k), hinge_vertex(X, 0)),
             cross = noli_cross3(edge, side);
    double twice = noli_norm3(cross);
    NoliVec3 normal = noli_scale3(0.5 / twice, cross);
    NoliVec3 by_edge = noli_cross3(side, normal), by_side = noli_cross3(normal, edge);
    area += 0.5 * twice;
    add_at(by_area, 1, by_edge);
    add_at(by_area, 2 + k, by_side);
    add_at(by_area, 0, noli_scale3(-1.0, noli_add3(by_edge, by_side)));
  }
  for (int i = 0; i < 12; i++) {
    gradient[i] = -by_area[i] / area;
  }
  NoliVec3 by_length = noli_scale3(2.0 / noli_norm_sqr3(edge), edge);
  add_at(gradient, 1, by_length);
  add_at(gradient, 0, noli_scale3(-1.0, by_length));
}

void noli_bending_by_rest(const NoliBending* bending, int64_t h, const double* X, const double* x,
                          double derivative[144]) {
  const NoliHinges* hinges = bending->hinges;
  double at[12], rest[12], now[12], then[12], shape[12];
  gather(hinges, h, x, at);
  gather(hinges, h, X, rest);
  noli_hinge_derivatives(at, now, NULL);
  noli_hinge_derivatives(rest, then, NULL);
  shape_gradient(rest, shape);
  double k = bending->scale * hinges->stiffness[h];
  double turn = remainder(noli_hinge_angle(at) - hinges->rest[h], 2.0 * PI);
  for (int i = 0; i < 144; i++) {
    derivative[i] = k * now[i / 12] * (turn * shape[i % 12] - then[i % 12]);
  }
}

void noli_bending_energy_by_rest(const NoliBending* bending, int64_t h, const double* X,
                                 const double* x, double derivative[12]) {
  const NoliHinges* hinges = bending->hinges;
  double at[12], rest[12], then[12], shape[12], k = bending->scale * hinges->stiffness[h];
  gather(hinges, h, x, at);
  gather(hinges, h, X, rest);
  noli_hinge_derivatives(rest, then, NULL);
  shape_gradient(rest, shape);
  double turn = remainder(noli_hinge_angle(at) - hinges->rest[h], 2.0 * PI);
  for (int i = 0; i < 12; i++) {
    derivative[i] = k * turn * (0.5 * turn * shape[i] - then[i]);
  }
}

// k g (g . w), with the gradient g of the angle.
void noli_bending_damping(const NoliBending* bending, int64_t h, const double* X, const double* x,
                          const double w[12], double force[12], double by_x[144],
                          double by_rest[144]) {
  const NoliHinges* hinges = bending->hinges;
  double at[12], rest[12], g[12], hessian[144], shape[12], along = 0.0;
  double k = bending->scale * hinges->stiffness[h];
  gather(hinges, h, x, at);
  gather(hinges, h, X, rest);
  noli_hinge_derivatives(at, g, hessian);
  shape_gradient(rest, shape);
  for (int i = 0; i < 12; i++) {
    along += g[i] * w[i];
  }
  for (int j = 0; j < 12; j++) {
    double change = 0.0; // of along
    for (int i = 0; i < 12; i++) {
      change += hessian[12 * i + j] * w[i];
    }
    force[j] = k * along * g[j];
    for (int i = 0; i < 12; i++) {
      by_x[12 * i + j] = k * (hessian[12 * i + j] * along + g[i] * change);
      by_rest[12 * i + j] = k * along * g[i] * shape[j];
    }
  }
}
