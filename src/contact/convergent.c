#include "contact/convergent.h"

#include "collide/closest.h"

#include <math.h>
#include <string.h>

// Of guards, relative to the contact distance.
#define GUARD_RANGE 0.1
// Share of the pressure between bodies that vertices of one side carry, and edges.
#define VERTEX_SHARE 0.375
#define EDGE_SHARE 0.25
// The area of a crossing of two edges over the product of their sizes.
#define CROSSING 0.43

void noli_convergent_free(NoliContext* context, NoliConvergent* convergent) {
  noli_free(context, convergent->area);
  noli_free(context, convergent->edge_size);
  noli_free(context, convergent->softness);
  *convergent = (NoliConvergent){0};
}

// ---- weights ------------------------------------------------------------------------------------

static double scaled(const NoliConvergent* convergent, double area, int32_t body, int32_t other,
                     double dhat) {
  double softness = convergent->softness[body];
  if (other != NOLI_NULL_INDEX) {
    softness = fmin(softness, convergent->softness[other]);
  }
  return area * (isinf(softness) ? 1.0 : softness) / (dhat * dhat * dhat);
}

// Whether a vertex belongs to no triangle.
static bool stands_alone(const NoliConvergent* convergent, const NoliSurface* surface, int32_t v) {
  const NoliSampling* sampling = convergent->sampling;
  int64_t begin = sampling->first[v];
  return begin == sampling->first[v + 1] || sampling->of_vertex[begin] >= surface->n_tri;
}

NoliConvergentScale noli_convergent_vertex(const NoliConvergent* convergent,
                                           const NoliSurface* surface, int32_t p, int32_t q,
                                           double dhat) {
  int32_t body = surface->body[p], other = surface->body[q];
  bool alone = stands_alone(convergent, surface, p);
  if (convergent->still[body]) {
    return (NoliConvergentScale){scaled(convergent, convergent->guard, body, other, dhat),
                                 GUARD_RANGE, false};
  }
  bool both = !convergent->still[other] && alone == stands_alone(convergent, surface, q);
  double area = convergent->area[p] * (!both ? 1.0 : alone ? 0.5 : VERTEX_SHARE);
  return (NoliConvergentScale){scaled(convergent, area, body, other, dhat), 1.0, false};
}

NoliConvergentScale noli_convergent_edges(const NoliConvergent* convergent,
                                          const NoliSurface* surface, NoliPrimitivePair pair,
                                          double dhat) {
  int32_t a = surface->body[surface->edge[2 * (int64_t)pair.a]];
  int32_t b = surface->body[surface->edge[2 * (int64_t)pair.b]];
  double size_a = convergent->edge_size[pair.a], size_b = convergent->edge_size[pair.b];
  bool alone = size_a == 0.0 && size_b == 0.0;
  bool both = size_a > 0.0 && size_b > 0.0 && !convergent->still[a] && !convergent->still[b];
  double area = both ? EDGE_SHARE * CROSSING * size_a * size_b : convergent->guard;
  return (NoliConvergentScale){scaled(convergent, area, a, b, dhat),
                               alone || both ? 1.0 : GUARD_RANGE, both};
}

double noli_convergent_half_space(const NoliConvergent* convergent, const NoliSurface* surface,
                                  int32_t p, double dhat) {
  return scaled(convergent, convergent->area[p], surface->body[p], NOLI_NULL_INDEX, dhat);
}

// ---- how often features count -------------------------------------------------------------------

// Whether x meets a primitive with n vertices: none is x or tied to it.
static bool meets(const NoliSurface* surface, int32_t x, int32_t n, const int32_t* vertex) {
  for (int32_t k = 0; k < n; k++) {
    if (vertex[k] == x) {
      return false;
    }
  }
  return !noli_surface_are_attached(surface, 1, &x, n, vertex);
}

static bool contains(const int32_t tri[3], int32_t v) {
  return tri[0] == v || tri[1] == v || tri[2] == v;
}

// The factor of the edge v w if `tri` is the first of its triangles that x meets, otherwise 0.
static int32_t edge_factor(const NoliConvergent* convergent, const NoliSurface* surface, int32_t x,
                           int32_t tri, int32_t v, int32_t w) {
  const NoliSampling* sampling = convergent->sampling;
  int32_t n = 0;
  for (int64_t i = sampling->first[v]; i < sampling->first[v + 1]; i++) {
    int32_t t = sampling->of_vertex[i];
    const int32_t* of = surface->tri + 3 * (int64_t)t;
    if (t >= surface->n_tri) {
      break;
    }
    if (contains(of, w) && meets(surface, x, 3, of)) {
      if (n == 0 && t != tri) {
        return 0;
      }
      n++;
    }
  }
  return 1 - n;
}

// The same for a vertex. With T triangles and E edges that x meets, c = 1 - T - sum (1 - n_e), and
// the sum of n_e is 2 T: c = 1 + T - E. Each edge is counted with its first triangle.
static int32_t vertex_factor(const NoliConvergent* convergent, const NoliSurface* surface,
                             int32_t x, int32_t tri, int32_t v) {
  const NoliSampling* sampling = convergent->sampling;
  int32_t n_tri = 0, n_edge = 0;
  for (int64_t i = sampling->first[v]; i < sampling->first[v + 1]; i++) {
    int32_t t = sampling->of_vertex[i];
    const int32_t* of = surface->tri + 3 * (int64_t)t;
    if (t >= surface->n_tri) {
      break;
    }
    if (!meets(surface, x, 3, of)) {
      continue;
    }
    if (n_tri++ == 0 && t != tri) {
      return 0;
    }
    for (int32_t k = 0; k < 3; k++) {
      bool is_new = of[k] != v;
      for (int64_t j = sampling->first[v]; j < i && is_new; j++) {
        const int32_t* before = surface->tri + 3 * (int64_t)sampling->of_vertex[j];
        is_new = !contains(before, of[k]) || !meets(surface, x, 3, before);
      }
      n_edge += is_new;
    }
  }
  return 1 + n_tri - n_edge;
}

static bool vertex_is_far(const NoliVec3* y, int32_t k, double reach) {
  return noli_norm_sqr3(noli_sub3(y[0], y[1 + k])) > reach * reach;
}

// Whether an edge is certainly beyond the reach: by its plane-free bound, the line.
static bool edge_is_far(const NoliVec3* y, int32_t k, int32_t l, double reach) {
  const NoliVec3 z[3] = {y[0], y[1 + k], y[1 + l]};
  return noli_norm_sqr3(noli_closest_vector_point_edge(z)) > reach * reach;
}

void noli_convergent_triangle(const NoliConvergent* convergent, const NoliSurface* surface,
                              int32_t p, int32_t tri, const NoliVec3 y[4], double reach,
                              int32_t count[NOLI_FLAT_FEATURES]) {
  const int32_t* v = surface->tri + 3 * (int64_t)tri;
  memset(count, 0, NOLI_FLAT_FEATURES * sizeof *count);
  count[noli_closest_subset(y, 7)]++;
  for (int32_t k = 0; k < 3; k++) {
    int32_t next = (k + 1) % 3;
    if (!edge_is_far(y, k, next, reach)) {
      count[noli_closest_subset(y, 1 << k | 1 << next)] +=
          edge_factor(convergent, surface, p, tri, v[k], v[next]);
    }
    if (!vertex_is_far(y, k, reach)) {
      count[1 << k] += vertex_factor(convergent, surface, p, tri, v[k]);
    }
  }
}

void noli_convergent_segment(const NoliSurface* surface, int32_t p, int32_t edge,
                             const NoliVec3 y[3], double reach, int32_t count[NOLI_FLAT_FEATURES]) {
  const int32_t* v = surface->edge + 2 * (int64_t)edge;
  memset(count, 0, NOLI_FLAT_FEATURES * sizeof *count);
  count[noli_closest_subset(y, 3)]++;
  for (int32_t k = 0; k < 2; k++) {
    int32_t n = 0;
    bool first = false;
    if (vertex_is_far(y, k, reach)) {
      continue;
    }
    for (int64_t i = surface->lone_first[v[k]]; i < surface->lone_first[v[k] + 1]; i++) {
      const int32_t* of = surface->edge + 2 * (int64_t)surface->lone[i];
      if (meets(surface, p, 2, of)) {
        first = n == 0 ? surface->lone[i] == edge : first;
        n++;
      }
    }
    count[1 << k] += first ? 1 - n : 0;
  }
}
