#include "contact/gcp/gcp_stiffness.h"

#include "contact/barrier.h"
#include "contact/gcp/gcp_curves.h"

// As in contact/stiffness.c.
#define CRUSHED 1e-2
#define OPENING 0.2
// Pairs whose factors M g_G g_H are below this are ignored.
#define BORDER 0.1
// kappa grows at most by this factor in an iteration.
#define MOST_GROWTH 1000.0

NoliStiffness noli_gcp_stiffness(double mean_mass, double length, double eps, double weight,
                                 int32_t space) {
  NoliStiffness stiffness = noli_stiffness(mean_mass, length, eps);
  double d = 0.5 * eps;
  double of_barrier = -noli_barrier_first(d * d, eps * eps) * 2.0 * d;
  double ratio = of_barrier / -(weight * weight * noli_gcp_barrier(d, eps, space).first);
  stiffness.min *= ratio;
  stiffness.max *= ratio;
  stiffness.limit *= ratio;
  return stiffness;
}

// The sort key of a pair in every set, given by the candidate that finds it (gcp_set.h).
typedef struct Place {
  int32_t rank[4];
} Place;

static int32_t index_in(const int32_t of[3], int32_t value) {
  return of[0] == value ? 0 : of[1] == value ? 1 : 2;
}

static Place gcp_stiffness_place_of(const NoliGcpModel* model, NoliGcpPair pair) {
  const NoliRings* rings = model->rings;
  int32_t a = pair.element[0], b = pair.element[1], t;
  if (model->space == 2 && pair.kind == NOLI_GCP_VERTEX_EDGE) {
    return (Place){{0, a, b, 0}};
  }
  if (model->space == 2 && pair.kind == NOLI_GCP_VERTEX_VERTEX) {
    int32_t e = rings->curve_edge[b];
    return (Place){{0, a, e, model->surface->edge[2 * (int64_t)e] == b ? 1 : 2}};
  }
  switch (pair.kind) {
  case NOLI_GCP_VERTEX_FACE:
    return (Place){{0, a, b, 0}};
  case NOLI_GCP_VERTEX_EDGE:
    t = rings->edge_tri[b];
    return (Place){{0, a, t, 1 + index_in(rings->tri_edge + 3 * (int64_t)t, b)}};
  case NOLI_GCP_VERTEX_VERTEX:
    t = rings->vert_tri[b];
    return (Place){{0, a, t, 4 + index_in(model->surface->tri + 3 * (int64_t)t, b)}};
  case NOLI_GCP_EDGE_EDGE:
    return (Place){{1, a, b, 0}};
  default:
    return (Place){{2, b, a, 0}};
  }
}

static int gcp_stiffness_compare(Place p, Place q) {
  for (int k = 0; k < 4; k++) {
    if (p.rank[k] != q.rank[k]) {
      return p.rank[k] < q.rank[k] ? -1 : 1;
    }
  }
  return 0;
}

// The distance of a pair in a set, INFINITY if the set does not contain it.
static double distance_in(const NoliGcpModel* model, const NoliGcpSet* set, NoliGcpPair pair) {
  Place place = gcp_stiffness_place_of(model, pair);
  int64_t low = 0, high = set->pair.count;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    int order = gcp_stiffness_compare(gcp_stiffness_place_of(model, set->pair.data[middle]), place);
    if (order == 0) {
      return set->d.data[middle];
    }
    low = order < 0 ? middle + 1 : low;
    high = order < 0 ? high : middle;
  }
  return (double)INFINITY;
}

double noli_gcp_stiffness_update(const NoliStiffness* stiffness, double kappa,
                                 const NoliGcpModel* model, const NoliGcpSet* before,
                                 const NoliGcpSet* after, const double* x, double alpha) {
  double close = sqrt(stiffness->close_d_sqr), factor = 1.0, opened = 1.0 + OPENING * alpha;
  bool approaches = false, blocked = alpha < 1.0;
  for (int64_t i = 0; i < after->pair.count; i++) {
    NoliGcpPair pair = after->pair.data[i];
    double d = after->d.data[i], crushed = CRUSHED * noli_gcp_pair_support(model, pair);
    if (d >= close && (d >= crushed || !blocked)) {
      continue;
    }
    // more stiffness cannot open pairs whose factors vanish, and slows down the rest of the solve
    if (noli_gcp_pair_factor(model, pair, x) < BORDER) {
      continue;
    }
    double d_before = distance_in(model, before, pair);
    approaches = approaches || (d_before < close && d < d_before);
    if (blocked && d_before < crushed && d * d < opened * d_before * d_before) {
      // the force at d would act at the larger distance
      double ratio = crushed / d;
      factor = fmax(factor, fmin(fmax(ratio * ratio * ratio, 2.0), MOST_GROWTH));
    }
  }

  if (approaches && kappa < stiffness->max) {
    return fmin(2.0 * kappa, stiffness->max);
  }
  return factor > 1.0 && kappa < stiffness->limit ? fmin(factor * kappa, stiffness->limit) : kappa;
}
