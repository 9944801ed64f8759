#include "fem/tets.h"

#include "fem/step_search.h"

enum { TETS_PER_BLOCK = 512 };

// Edges from node 0 as columns; the third one of triangles is `up` along z.
static inline NoliMat3 edges(const int32_t* node, const double* x, double up) {
  NoliVec3 x0 = noli_load3(x + 3 * (int64_t)node[0]);
  NoliVec3 e1 = noli_sub3(noli_load3(x + 3 * (int64_t)node[1]), x0);
  NoliVec3 e2 = noli_sub3(noli_load3(x + 3 * (int64_t)node[2]), x0);
  if (node[3] < 0) {
    return noli_columns33(noli_vec3(e1.x, e1.y, 0.0), noli_vec3(e2.x, e2.y, 0.0),
                          noli_vec3(0.0, 0.0, up));
  }
  NoliVec3 e3 = noli_sub3(noli_load3(x + 3 * (int64_t)node[3]), x0);
  return noli_columns33(e1, e2, e3);
}

// Rest data of a triangle of thickness 1, called `number` in messages.
static NoliStatus set_triangle(NoliContext* context, NoliTets* tets, int32_t t, int32_t number,
                               const NoliMat3* rest) {
  NoliStatus status = NOLI_OK;
  const int32_t* node = tets->tet + 4 * (int64_t)t;
  double det = noli_det33(rest);
  NoliMat3 inverse = noli_inverse33(rest);
  NOLI_CHECK(context, det > 0.0 && isfinite(det) && isfinite(noli_norm_sqr33(&inverse)),
             NOLI_INVERTED_ELEMENT,
             "triangle %d (nodes %d %d %d) has rest area %g in the plane of x and y, which is not "
             "positive",
             (int)number, (int)node[0], (int)node[1], (int)node[2], 0.5 * det);
  // the missing node has no shape function
  inverse.m[2][2] = 0.0;
  noli_store33(tets->rest_inverse + 9 * (int64_t)t, &inverse);
  tets->volume[t] = 0.5 * det;
done:
  return status;
}

NoliStatus noli_tets_allocate(NoliContext* context, int32_t n_tet, const int32_t* tet,
                              NoliTets* tets) {
  NoliStatus status = NOLI_OK;
  *tets = (NoliTets){.n_tet = n_tet, .tet = tet};
  NOLI_NEW(context, tets->rest_inverse, (int64_t)n_tet * 9);
  NOLI_NEW(context, tets->volume, n_tet);
done:
  return status;
}

NoliStatus noli_tets_set_rest(NoliContext* context, NoliTets* tets, int32_t begin, int32_t end,
                              const int32_t* number, int32_t first, const double* X) {
  NoliStatus status = NOLI_OK;
  for (int32_t t = begin; t < end; t++) {
    const int32_t* node = tets->tet + 4 * (int64_t)t;
    int32_t name = (number != NULL ? number[t] : t) - first;
    NoliMat3 rest = edges(node, X, 1.0);
    double det = noli_det33(&rest), volume = det / 6.0;
    if (node[3] < 0) {
      NOLI_TRY(set_triangle(context, tets, t, name, &rest));
      continue;
    }
    NOLI_CHECK(context, det > 0.0 && isfinite(det), NOLI_INVERTED_ELEMENT,
               "tetrahedron %d (nodes %d %d %d %d) has rest volume %g, which is not positive",
               (int)name, (int)node[0], (int)node[1], (int)node[2], (int)node[3], volume);
    NoliMat3 inverse = noli_inverse33(&rest);
    NOLI_CHECK(context, isfinite(noli_norm_sqr33(&inverse)), NOLI_INVERTED_ELEMENT,
               "tetrahedron %d (nodes %d %d %d %d) is too flat: rest volume %g", (int)name,
               (int)node[0], (int)node[1], (int)node[2], (int)node[3], volume);
    noli_store33(tets->rest_inverse + 9 * (int64_t)t, &inverse);
    tets->volume[t] = volume;
  }
done:
  return status;
}

NoliStatus noli_tets_create(NoliContext* context, int32_t n_tet, const int32_t* tet,
                            const double* X, NoliTets* tets) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_tets_allocate(context, n_tet, tet, tets));
  NOLI_TRY(noli_tets_set_rest(context, tets, 0, n_tet, NULL, 0, X));
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

void noli_tets_thicken(NoliTets* tets, int32_t begin, int32_t end, double thickness) {
  for (int32_t t = begin; t < end; t++) {
    tets->volume[t] *= noli_tets_is_triangle(tets, t) ? thickness : 1.0;
  }
}

double noli_tets_size_sqr(const NoliTets* tets, int32_t t) {
  if (!noli_tets_is_triangle(tets, t)) {
    return pow(6.0 * tets->volume[t], 2.0 / 3.0);
  }
  const double* g = tets->rest_inverse + 9 * (int64_t)t;
  return 1.0 / (g[0] * g[4] - g[1] * g[3]);
}

void noli_tets_add_lumped_mass(const NoliTets* tets, const double* density, double* mass) {
  for (int64_t t = 0; t < tets->n_tet; t++) {
    int n_node = noli_tets_is_triangle(tets, t) ? 3 : 4;
    double share = (n_node == 4 ? 0.25 : 1.0 / 3.0) * density[t] * tets->volume[t];
    for (int a = 0; a < n_node; a++) {
      mass[tets->tet[4 * t + a]] += share;
    }
  }
}

// Arguments of the loops below; p NULL: the volumes at x.
typedef struct Search {
  const NoliTets* tets;
  bool valid_end;
  const double* x;
  const double* p;
  double keep;
  NoliStepSearch found; // inverted elements are searched at x + found.alpha p
} Search;

// det of the edges at x + alpha p, with coordinates rounded as in the caller's update.
static inline double moved_det(const int32_t* node, const double* x, const double* p,
                               double alpha) {
  NoliVec3 moved[4];
  int n_node = node[3] < 0 ? 3 : 4;
  for (int a = 0; a < n_node; a++) {
    moved[a] = noli_load3(x + 3 * (int64_t)node[a]);
    if (p != NULL) {
      moved[a] = noli_mul_add3(moved[a], alpha, noli_load3(p + 3 * (int64_t)node[a]));
    }
  }
  NoliVec3 e1 = noli_sub3(moved[1], moved[0]), e2 = noli_sub3(moved[2], moved[0]);
  if (n_node == 3) {
    return e1.x * e2.y - e1.y * e2.x;
  }
  NoliMat3 e = noli_columns33(e1, e2, noli_sub3(moved[3], moved[0]));
  return noli_det33(&e);
}

static void first_inverted_range(void* user, int64_t begin, int64_t end, int32_t worker) {
  Search* search = user;
  for (int64_t t = begin; t < end; t++) {
    double det = moved_det(search->tets->tet + 4 * t, search->x, search->p, search->found.alpha);
    if (!(det > 0.0)) {
      noli_search_offer(&search->found, worker, 0.0, (int32_t)t);
      return;
    }
  }
}

int32_t noli_tets_first_inverted(const NoliTets* tets, const double* x, int32_t n_threads) {
  Search search = {.tets = tets, .x = x, .found = {.block = TETS_PER_BLOCK}};
  return noli_search_run(&search.found, tets->n_tet, n_threads, first_inverted_range, &search);
}

static void tets_bound_range(void* user, int64_t begin, int64_t end, int32_t worker) {
  Search* search = user;
  for (int64_t t = begin; t < end; t++) {
    const int32_t* node = search->tets->tet + 4 * t;
    NoliMat3 a = edges(node, search->x, 1.0), b = edges(node, search->p, 0.0);
    double c[4];
    noli_det_along(&a, &b, c);
    double alpha = noli_det_bound(c, search->keep, search->valid_end);
    if (alpha < 1.0) {
      noli_search_offer(&search->found, worker, alpha, (int32_t)t);
    }
  }
}

double noli_tets_inversion_bound(const NoliTets* tets, const double* x, const double* p,
                                 double keep, bool valid_end, int32_t n_threads,
                                 int32_t* blocking_tet) {
  Search search = {.tets = tets,
                   .x = x,
                   .p = p,
                   .keep = keep,
                   .valid_end = valid_end,
                   .found = {.block = TETS_PER_BLOCK}};
  return noli_search_inversion_bound(&search.found, tets->n_tet, n_threads, tets_bound_range,
                                     first_inverted_range, &search, blocking_tet);
}
