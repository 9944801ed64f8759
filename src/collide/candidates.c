// The public search in one mesh, noli/broad_phase.h, and the validator of candidates.
#include "noli/broad_phase.h"

#include "base/validate.h"
#include "collide/broad_phase.h"

#include <string.h>

static NoliStatus search_mesh(NoliContext* context, const NoliSurface* surface, const double* x_t0,
                              const double* x_t1, double inflation, NoliCandidates* found) {
  NoliStatus status = NOLI_OK;
  NoliBroadPhase* broad_phase = NULL;
  NOLI_TRY(noli_broad_phase_create(context, surface, &broad_phase));
  NOLI_TRY(noli_broad_phase_find(broad_phase, x_t0, x_t1, inflation, NULL, found));
done:
  noli_broad_phase_destroy(&broad_phase);
  return status;
}

// A copy of pairs as plain numbers; NULL when memory is exhausted.
static int32_t* copy_pairs(NoliContext* context, const NoliPrimitivePair* pair, int64_t n) {
  int32_t* copy = noli_alloc(context, 2 * n, sizeof *copy);
  for (int64_t i = 0; copy != NULL && i < n; i++) {
    copy[2 * i] = pair[i].a;
    copy[2 * i + 1] = pair[i].b;
  }
  return copy;
}

NoliStatus noli_candidates_find(NoliContext* context, int32_t n_vert, const double* x_t0,
                                const double* x_t1, int32_t n_tri, const int32_t* tri,
                                int32_t n_segment, const int32_t* segment, double inflation,
                                NoliCandidatePairs** pairs) {
  NOLI_REQUIRE(context, context != NULL && x_t0 != NULL && pairs != NULL);
  NoliStatus status = NOLI_OK;
  NoliSurface* surface = NULL;
  NoliCandidates found = {0};
  NoliCandidatePairs* made = NULL;

  *pairs = NULL;
  NOLI_CHECK(context, n_vert >= 0 && n_tri >= 0 && n_segment >= 0, NOLI_ERROR_ARGUMENT,
             "candidates: %d vertices, %d triangles, %d segments", n_vert, n_tri, n_segment);

  const int32_t vert_first[2] = {0, n_vert};
  const NoliSurfaceParts parts = {.n_tri = n_tri, .n_edge = n_segment, .tri = tri, .edge = segment};
  NOLI_TRY(noli_surface_create(context, 1, vert_first, &parts, &surface));
  NOLI_TRY(search_mesh(context, surface, x_t0, x_t1 != NULL ? x_t1 : x_t0, inflation, &found));
  NOLI_NEW_ZERO(context, made, 1);
  made->n_edge = surface->n_edge;
  made->n_point_triangle = found.point_triangle.count;
  made->n_edge_edge = found.edge_edge.count;
  NOLI_NEW(context, made->edge, 2 * (int64_t)surface->n_edge);
  memcpy(made->edge, surface->edge, 2 * (size_t)surface->n_edge * sizeof *made->edge);
  made->point_triangle = copy_pairs(context, found.point_triangle.data, made->n_point_triangle);
  made->edge_edge = copy_pairs(context, found.edge_edge.data, made->n_edge_edge);
  status = made->point_triangle == NULL || made->edge_edge == NULL ? NOLI_ERROR_MEMORY : NOLI_OK;
done:
  noli_array_free(context, &found.point_triangle);
  noli_array_free(context, &found.edge_edge);
  noli_surface_destroy(context, &surface);
  if (status != NOLI_OK) {
    noli_candidates_destroy(context, &made);
  }
  *pairs = made;
  return status;
}

void noli_candidates_destroy(NoliContext* context, NoliCandidatePairs** pairs) {
  if (pairs == NULL || *pairs == NULL) {
    return;
  }
  noli_free(context, (*pairs)->point_triangle);
  noli_free(context, (*pairs)->edge_edge);
  noli_free(context, (*pairs)->edge);
  noli_free(context, *pairs);
  *pairs = NULL;
}

// ---- validation ----

// Whether (body, a, b) ascends; `body` is NULL where all are of one order.
static bool ascends(const NoliPrimitivePair* before, const NoliPrimitivePair* pair,
                    const int32_t* body) {
  int32_t one = body != NULL ? body[before->a] : 0, other = body != NULL ? body[pair->a] : 0;
  return one < other ||
         (one == other && (before->a < pair->a || (before->a == pair->a && before->b < pair->b)));
}

const char* noli_candidates_defect(const NoliCandidates* candidates, const NoliSurface* surface) {
  for (int64_t i = 0; i < candidates->point_triangle.count; i++) {
    const NoliPrimitivePair* pair = &candidates->point_triangle.data[i];
    NOLI_RULE(pair->a >= 0 && pair->a < surface->n_vert && pair->b >= 0 && pair->b < surface->n_tri,
              "candidates: a vertex or triangle is out of range");
    NOLI_RULE(i == 0 || ascends(pair - 1, pair, surface->body),
              "candidates: vertices and triangles do not ascend");
    const int32_t* tri = surface->tri + 3 * (int64_t)pair->b;
    NOLI_RULE(pair->a != tri[0] && pair->a != tri[1] && pair->a != tri[2],
              "candidates: a vertex belongs to its triangle");
  }
  for (int64_t i = 0; i < candidates->edge_edge.count; i++) {
    const NoliPrimitivePair* pair = &candidates->edge_edge.data[i];
    NOLI_RULE(pair->a >= 0 && pair->a < pair->b && pair->b < surface->n_edge,
              "candidates: an edge is out of range, or a pair is in the wrong order");
    NOLI_RULE(i == 0 || ascends(pair - 1, pair, NULL), "candidates: edges do not ascend");
    const int32_t* a = surface->edge + 2 * (int64_t)pair->a;
    const int32_t* b = surface->edge + 2 * (int64_t)pair->b;
    NOLI_RULE(a[0] != b[0] && a[0] != b[1] && a[1] != b[0] && a[1] != b[1],
              "candidates: two edges share a vertex");
  }
  return NULL;
}
