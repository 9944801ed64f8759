#include "fem/elements.h"

#include "base/wide.h"
#include "fem/step_search.h"

#include <string.h>

enum { TETS_PER_BLOCK = 64 };

// Derivatives of all shape functions at all points, in both orders.
static void tabulate(const NoliSpace* space, const NoliQuadrature* rule, NoliElements* elements) {
  int32_t n = space->n_local, n_point = rule->n;
  double value[NOLI_TET_NODES_MAX], gradient[3 * NOLI_TET_NODES_MAX];
  for (int32_t q = 0; q < n_point; q++) {
    elements->weight[q] = rule->weight[q];
    noli_tet_shape(space->order, rule->xi + 3 * (int64_t)q, value, gradient);
    for (int32_t a = 0; a < n; a++) {
      for (int k = 0; k < 3; k++) {
        elements->by_node[(a * 3 + k) * n_point + q] = gradient[3 * a + k];
        elements->by_point[(q * 3 + k) * elements->stride + a] = gradient[3 * a + k];
      }
    }
  }
}

static void fill_shapes(const NoliSpace* space, const NoliQuadrature* rule,
                        NoliElements* elements) {
  int32_t n_shape_point = elements->curved ? rule->n : 1;
  for (int64_t t = 0; t < space->n_tet; t++) {
    for (int32_t q = 0; q < n_shape_point; q++) {
      NoliMat3 dxdxi = noli_space_dxdxi(space, t, rule->xi + 3 * (int64_t)q);
      NoliMat3 inverse = noli_inverse33(&dxdxi);
      int64_t at = noli_elements_at(elements, t, q);
      elements->det[at] = noli_det33(&dxdxi);
      noli_store33(elements->inverse + 9 * at, &inverse);
    }
  }
}

// Deviation from F = 1 of the gradient interpolated from the nodes at rest.
static void fill_excess(const NoliSpace* space, NoliElements* elements) {
  double* excess = elements->excess;
  elements->excess = NULL;
  for (int64_t t = 0; t < space->n_tet; t++) {
    NoliMat3 F[NOLI_ELEMENT_POINTS_MAX];
    noli_elements_deformation(elements, t, space->X, false, F);
    for (int32_t q = 0; q < elements->n_point; q++) {
      NoliMat3 rest = noli_sub33(noli_identity3(), F[q]);
      noli_store33(excess + 9 * (t * elements->n_point + q), &rest);
    }
  }
  elements->excess = excess;
}

NoliStatus noli_elements_create(NoliContext* context, const NoliSpace* space, int32_t degree,
                                NoliElements* elements) {
  NoliStatus status = NOLI_OK;
  NoliQuadrature rule = {0};
  *elements = (NoliElements){.space = space, .curved = space->geometry_order > 1};
  NOLI_TRY(
      noli_quadrature_tet(context, degree < 0 ? noli_space_elastic_degree(space) : degree, &rule));
  NOLI_CHECK(context, rule.n <= NOLI_ELEMENT_POINTS_MAX, NOLI_ERROR_ARGUMENT,
             "quadrature of degree %d has %d points, more than the %d of an element", rule.degree,
             rule.n, NOLI_ELEMENT_POINTS_MAX);
  NOLI_TRY(noli_space_check(context, space));
  int64_t n_table = 3 * (int64_t)space->n_local * rule.n;
  int64_t n_shape_point = (int64_t)space->n_tet * (elements->curved ? rule.n : 1);
  elements->n_point = rule.n;
  elements->stride =
      (space->n_local + NOLI_ELEMENT_TILE - 1) / NOLI_ELEMENT_TILE * NOLI_ELEMENT_TILE;
  NOLI_NEW(context, elements->weight, rule.n);
  NOLI_NEW(context, elements->by_node, n_table);
  NOLI_NEW_ZERO(context, elements->by_point, 3 * (int64_t)elements->stride * rule.n);
  NOLI_NEW(context, elements->det, n_shape_point);
  NOLI_NEW(context, elements->inverse, 9 * n_shape_point);
  tabulate(space, &rule, elements);
  fill_shapes(space, &rule, elements);
  if (space->geometry_order > space->order) {
    NOLI_NEW(context, elements->excess, 9 * (int64_t)space->n_tet * rule.n);
    fill_excess(space, elements);
  }
done:
  noli_quadrature_free(context, &rule);
  if (status != NOLI_OK) {
    noli_elements_destroy(context, elements);
  }
  return status;
}

void noli_elements_destroy(NoliContext* context, NoliElements* elements) {
  noli_free(context, elements->weight);
  noli_free(context, elements->by_node);
  noli_free(context, elements->by_point);
  noli_free(context, elements->det);
  noli_free(context, elements->inverse);
  noli_free(context, elements->excess);
  *elements = (NoliElements){0};
}

// ---- deformation

// dx/dxi at all points from nodes relative to the first, side (n_local x 3):
// H[(i * 3 + k) * n_point + q]. The inner loop runs over points and axes at once.
NOLI_WIDE static void reference_derivatives(const NoliElements* elements, const double* side,
                                            double* H) {
  int32_t n = elements->space->n_local, width = 3 * elements->n_point;
  memset(H, 0, 3 * (size_t)width * sizeof *H);
  for (int32_t a = 1; a < n; a++) {
    const double* table = elements->by_node + (int64_t)a * width;
    for (int i = 0; i < 3; i++) {
      double s = side[3 * a + i];
      double* row = H + i * width;
      for (int32_t kq = 0; kq < width; kq++) {
        row[kq] += s * table[kq];
      }
    }
  }
}

// F = dx/dxi dxi/dX, and the excess unless x is a motion.
static void deformations(const NoliElements* elements, int64_t tet, const double* side, bool motion,
                         NoliMat3* F) {
  double H[9 * NOLI_ELEMENT_POINTS_MAX];
  int32_t n_point = elements->n_point;
  reference_derivatives(elements, side, H);
  for (int32_t q = 0; q < n_point; q++) {
    const double* inverse = elements->inverse + 9 * noli_elements_at(elements, tet, q);
    for (int i = 0; i < 3; i++) {
      double h0 = H[(3 * i) * n_point + q], h1 = H[(3 * i + 1) * n_point + q];
      double h2 = H[(3 * i + 2) * n_point + q];
      for (int j = 0; j < 3; j++) {
        F[q].m[i][j] = h0 * inverse[j] + h1 * inverse[3 + j] + h2 * inverse[6 + j];
      }
    }
    if (elements->excess != NULL && !motion) {
      NoliMat3 excess = noli_load33(elements->excess + 9 * (tet * n_point + q));
      F[q] = noli_add33(F[q], excess);
    }
  }
}

void noli_elements_deformation(const NoliElements* elements, int64_t tet, const double* x,
                               bool motion, NoliMat3* F) {
  double side[3 * NOLI_TET_NODES_MAX];
  const int32_t* node = elements->space->node + tet * elements->space->n_local;
  const double* x0 = x + 3 * (int64_t)node[0];
  for (int32_t a = 0; a < elements->space->n_local; a++) {
    for (int i = 0; i < 3; i++) {
      side[3 * a + i] = x[3 * (int64_t)node[a] + i] - x0[i];
    }
  }
  deformations(elements, tet, side, motion, F);
}

// ---- orientation

// Arguments of the loops; p NULL: the determinants at x.
typedef struct Search {
  const NoliElements* elements;
  bool valid_end;
  const double* x;
  const double* p;
  double keep;
  NoliStepSearch found; // inverted elements are searched at x + found.alpha p
} Search;

// F at x + alpha p, with coordinates rounded as in the caller's update.
static void moved_deformation(const Search* search, int64_t t, NoliMat3* F) {
  double side[3 * NOLI_TET_NODES_MAX];
  const NoliSpace* space = search->elements->space;
  const int32_t* node = space->node + t * space->n_local;
  for (int32_t a = 0; a < space->n_local; a++) {
    for (int i = 0; i < 3; i++) {
      int64_t at = 3 * (int64_t)node[a] + i;
      side[3 * a + i] =
          search->p != NULL ? search->x[at] + search->found.alpha * search->p[at] : search->x[at];
    }
  }
  // node 0 last: the others need it
  for (int32_t a = space->n_local - 1; a >= 0; a--) {
    for (int i = 0; i < 3; i++) {
      side[3 * a + i] -= side[i];
    }
  }
  deformations(search->elements, t, side, false, F);
}

static void first_inverted_range(void* user, int64_t begin, int64_t end, int32_t worker) {
  Search* search = user;
  NoliMat3 F[NOLI_ELEMENT_POINTS_MAX];
  for (int64_t t = begin; t < end; t++) {
    moved_deformation(search, t, F);
    bool good = true;
    for (int32_t q = 0; q < search->elements->n_point; q++) {
      good = good && noli_det33(&F[q]) > 0.0;
    }
    if (!good) {
      noli_search_offer(&search->found, worker, 0.0, (int32_t)t);
      return;
    }
  }
}

int32_t noli_elements_first_inverted(const NoliElements* elements, const double* x,
                                     int32_t n_threads) {
  Search search = {.elements = elements, .x = x, .found = {.block = TETS_PER_BLOCK}};
  return noli_search_run(&search.found, elements->space->n_tet, n_threads, first_inverted_range,
                         &search);
}

static void elements_bound_range(void* user, int64_t begin, int64_t end, int32_t worker) {
  Search* search = user;
  const NoliElements* elements = search->elements;
  NoliMat3 F[NOLI_ELEMENT_POINTS_MAX], dF[NOLI_ELEMENT_POINTS_MAX];
  for (int64_t t = begin; t < end; t++) {
    noli_elements_deformation(elements, t, search->x, false, F);
    noli_elements_deformation(elements, t, search->p, true, dF);
    for (int32_t q = 0; q < elements->n_point; q++) {
      double c[4];
      noli_det_along(&F[q], &dF[q], c);
      double alpha = noli_det_bound(c, search->keep, search->valid_end);
      if (alpha < 1.0) {
        noli_search_offer(&search->found, worker, alpha, (int32_t)t);
      }
    }
  }
}

double noli_elements_inversion_bound(const NoliElements* elements, const double* x, const double* p,
                                     double keep, bool valid_end, int32_t n_threads,
                                     int32_t* blocking_tet) {
  Search search = {.elements = elements,
                   .x = x,
                   .p = p,
                   .keep = keep,
                   .valid_end = valid_end,
                   .found = {.block = TETS_PER_BLOCK}};
  return noli_search_inversion_bound(&search.found, elements->space->n_tet, n_threads,
                                     elements_bound_range, first_inverted_range, &search,
                                     blocking_tet);
}
