#include "fem/tets.h"

#include "base/parallel.h"

#include <float.h>

enum { TETS_PER_BLOCK = 512 };

// Workers keep their own minima; more threads than this are not used here.
enum { WORKERS_MAX = 128 };

// Edges from node 0 as columns.
static inline NoliMat3 edges(const int32_t* node, const double* x) {
  NoliVec3 x0 = noli_load3(x + 3 * (int64_t)node[0]);
  NoliVec3 e1 = noli_sub3(noli_load3(x + 3 * (int64_t)node[1]), x0);
  NoliVec3 e2 = noli_sub3(noli_load3(x + 3 * (int64_t)node[2]), x0);
  NoliVec3 e3 = noli_sub3(noli_load3(x + 3 * (int64_t)node[3]), x0);
  return noli_columns33(e1, e2, e3);
}

NoliStatus noli_tets_create(NoliContext* context, int32_t n_tet, const int32_t* tet,
                            const double* X, NoliTets* tets) {
  NoliStatus status = NOLI_OK;
  *tets = (NoliTets){.n_tet = n_tet, .tet = tet};
  NOLI_NEW(context, tets->rest_inverse, (int64_t)n_tet * 9);
  NOLI_NEW(context, tets->volume, n_tet);
  for (int32_t t = 0; t < n_tet; t++) {
    const int32_t* node = tet + 4 * (int64_t)t;
    NoliMat3 rest = edges(node, X);
    double det = noli_det33(&rest);
    NOLI_CHECK(context, det > 0.0 && isfinite(det), NOLI_INVERTED_ELEMENT,
               "tetrahedron %d (nodes %d %d %d %d) has rest volume %g, which is not positive",
               (int)t, (int)node[0], (int)node[1], (int)node[2], (int)node[3], det / 6.0);
    NoliMat3 inverse = noli_inverse33(&rest);
    NOLI_CHECK(context, isfinite(noli_norm_sqr33(&inverse)), NOLI_INVERTED_ELEMENT,
               "tetrahedron %d (nodes %d %d %d %d) is too flat: rest volume %g", (int)t,
               (int)node[0], (int)node[1], (int)node[2], (int)node[3], det / 6.0);
    noli_store33(tets->rest_inverse + 9 * (int64_t)t, &inverse);
    tets->volume[t] = det / 6.0;
  }
done:
  if (status != NOLI_OK) {
    noli_tets_destroy(context, tets);
  }
  return status;
}

void noli_tets_destroy(NoliContext* context, NoliTets* tets) {
  noli_free(context, tets->rest_inverse);
  noli_free(context, tets->volume);
  *tets = (NoliTets){0};
}

void noli_tets_lumped_mass(const NoliTets* tets, const double* density, int32_t n_vert,
                           double* mass) {
  for (int32_t v = 0; v < n_vert; v++) {
    mass[v] = 0.0;
  }
  for (int64_t t = 0; t < tets->n_tet; t++) {
    double share = 0.25 * density[t] * tets->volume[t];
    for (int a = 0; a < 4; a++) {
      mass[tets->tet[4 * t + a]] += share;
    }
  }
}

// What the loops below share; p NULL: the volumes at x.
typedef struct Search {
  const NoliTets* tets;
  bool valid_end;
  const double* x;
  const double* p;
  double keep;
  double alpha; // where first_inverted looks: x + alpha p
  struct {
    double alpha;
    int32_t tet;
  } best[WORKERS_MAX];
} Search;

static int32_t allowed_workers(int32_t n_threads) {
  return n_threads < WORKERS_MAX ? n_threads : WORKERS_MAX;
}

static void search_begin(Search* search) {
  for (int32_t w = 0; w < WORKERS_MAX; w++) {
    search->best[w].alpha = 1.0;
    search->best[w].tet = NOLI_NULL_INDEX;
  }
}

// A smaller bound wins, and of equal ones the lower tet: the same for any share of the work.
static inline void search_offer(Search* search, int32_t worker, double alpha, int32_t tet) {
  double best = search->best[worker].alpha;
  int32_t best_tet = search->best[worker].tet;
  if (tet != NOLI_NULL_INDEX &&
      (alpha < best || (alpha == best && (best_tet == NOLI_NULL_INDEX || tet < best_tet)))) {
    search->best[worker].alpha = alpha;
    search->best[worker].tet = tet;
  }
}

static void search_end(Search* search) {
  for (int32_t w = 1; w < WORKERS_MAX; w++) {
    search_offer(search, 0, search->best[w].alpha, search->best[w].tet);
  }
}

// det of the edges at x + alpha p, each coordinate rounded as a caller that moves there does.
static inline double moved_det(const int32_t* node, const double* x, const double* p,
                               double alpha) {
  NoliVec3 moved[4];
  for (int a = 0; a < 4; a++) {
    moved[a] = noli_load3(x + 3 * (int64_t)node[a]);
    if (p != NULL) {
      moved[a] = noli_mul_add3(moved[a], alpha, noli_load3(p + 3 * (int64_t)node[a]));
    }
  }
  NoliMat3 e = noli_columns33(noli_sub3(moved[1], moved[0]), noli_sub3(moved[2], moved[0]),
                              noli_sub3(moved[3], moved[0]));
  return noli_det33(&e);
}

static void first_inverted_range(void* user, int64_t begin, int64_t end, int32_t worker) {
  Search* search = user;
  for (int64_t t = begin; t < end; t++) {
    double det = moved_det(search->tets->tet + 4 * t, search->x, search->p, search->alpha);
    if (!(det > 0.0)) {
      search_offer(search, worker, 0.0, (int32_t)t);
      return;
    }
  }
}

static int32_t first_inverted(Search* search, int32_t n_threads) {
  search_begin(search);
  noli_parallel_for(allowed_workers(n_threads), search->tets->n_tet, TETS_PER_BLOCK,
                    first_inverted_range, search);
  search_end(search);
  return search->best[0].tet;
}

int32_t noli_tets_first_inverted(const NoliTets* tets, const double* x, int32_t n_threads) {
  Search search = {.tets = tets, .x = x};
  return first_inverted(&search, n_threads);
}

// The cubic c0 + c1 s + c2 s^2 + c3 s^3 = det(A + s B), A and B the edges of x and p.
static inline void det_along(const NoliMat3* a, const NoliMat3* b, double c[4]) {
  NoliMat3 cof_a = noli_cofactor33(a), cof_b = noli_cofactor33(b);
  c[0] = noli_dot3(noli_row33(a, 0), noli_row33(&cof_a, 0));
  c[1] = c[2] = 0.0;
  for (int i = 0; i < 3; i++) {
    c[1] += noli_dot3(noli_row33(b, i), noli_row33(&cof_a, i));
    c[2] += noli_dot3(noli_row33(a, i), noli_row33(&cof_b, i));
  }
  c[3] = noli_dot3(noli_row33(b, 0), noli_row33(&cof_b, 0));
}

// The cubic is above `floor` on [s, s + w]: its Bernstein coefficients there are. False for NaN.
static inline bool stays_above(const double c[4], double floor, double s, double w) {
  // Taylor coefficients in (t - s) / w
  double t0 = c[0] + s * (c[1] + s * (c[2] + s * c[3]));
  double t1 = w * (c[1] + s * (2.0 * c[2] + s * 3.0 * c[3]));
  double t2 = w * w * (c[2] + 3.0 * s * c[3]);
  double t3 = w * w * w * c[3];
  return t0 > floor && t0 + t1 / 3.0 > floor && t0 + (2.0 * t1 + t2) / 3.0 > floor &&
         t0 + t1 + t2 + t3 > floor;
}

// Marches from 0 over intervals that are proven good, halving them near the first root and doubling
// them behind a narrow place. Only what is proven counts, so the result is never beyond the root.
static double march(const double c[4], double floor) {
  double s = 0.0, w = 0.5;
  bool advanced = false;
  while (s < 1.0 && w > 1e-6 * s && w > DBL_MIN) {
    double width = w < 1.0 - s ? w : 1.0 - s;
    if (stays_above(c, floor, s, width)) {
      s = width < w ? 1.0 : s + width;
      w = advanced ? 2.0 * w : w;
      advanced = true;
    } else {
      w = 0.5 * width;
      advanced = false;
    }
  }
  return s < 1.0 ? s : 1.0;
}

static void bound_range(void* user, int64_t begin, int64_t end, int32_t worker) {
  Search* search = user;
  for (int64_t t = begin; t < end; t++) {
    const int32_t* node = search->tets->tet + 4 * t;
    NoliMat3 a = edges(node, search->x), b = edges(node, search->p);
    double c[4];
    det_along(&a, &b, c);
    double floor = search->keep * c[0], end_det = c[0] + c[1] + c[2] + c[3];
    if (search->valid_end && end_det > 0.0 && end_det < c[0]) {
      floor = search->keep * end_det;
    }
    if (!(c[0] > 0.0)) {
      search_offer(search, worker, 0.0, (int32_t)t);
    } else if (!stays_above(c, floor, 0.0, 1.0)) {
      double alpha = march(c, floor);
      if (alpha < 1.0) {
        search_offer(search, worker, alpha, (int32_t)t);
      }
    }
  }
}

double noli_tets_inversion_bound(const NoliTets* tets, const double* x, const double* p,
                                 double keep, bool valid_end, int32_t n_threads,
                                 int32_t* blocking_tet) {
  Search search = {.tets = tets, .x = x, .p = p, .keep = keep, .valid_end = valid_end};
  search_begin(&search);
  noli_parallel_for(allowed_workers(n_threads), tets->n_tet, TETS_PER_BLOCK, bound_range, &search);
  search_end(&search);
  double alpha = search.best[0].alpha;
  int32_t blocking = search.best[0].tet;
  // rounding of the positions may still flatten a tet that is nearly flat: look at the volumes
  double cut = 1e-6;
  while (alpha > 0.0) {
    search.alpha = alpha;
    int32_t inverted = first_inverted(&search, n_threads);
    if (inverted == NOLI_NULL_INDEX) {
      break;
    }
    blocking = inverted;
    alpha *= 1.0 - cut;
    cut = fmin(4.0 * cut, 0.9);
  }
  if (blocking_tet != NULL) {
    *blocking_tet = blocking;
  }
  return alpha;
}
