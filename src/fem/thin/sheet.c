#include "fem/thin/sheet.h"

#include "fem/step_search.h"
#include "math/vec3.h"

#include <math.h>

// The largest share of the smaller principal stretch squared that a prediction of the stretch may
// remove.
#define LARGEST_SHARE 0.5

enum { TRIANGLES_PER_BLOCK = 512 };

static NoliVec3 sheet_vertex(const double* x, int32_t node) {
  return noli_load3(x + 3 * (int64_t)node);
}

// Unit vector perpendicular to `normal`.
static NoliVec3 choose_axis(NoliVec3 normal, NoliVec3 edge, const double* warp) {
  NoliVec3 direction = noli_load3(warp);
  NoliVec3 along = noli_mul_add3(direction, -noli_dot3(direction, normal), normal);
  return noli_normalize3(noli_norm3(along) > NOLI_WARP_VANISHES * noli_norm3(direction) ? along
                                                                                        : edge);
}

NoliStatus noli_triangles_allocate(NoliContext* context, int32_t n_tri, const int32_t* tri,
                                   NoliTriangles* triangles) {
  NoliStatus status = NOLI_OK;
  *triangles = (NoliTriangles){.n_tri = n_tri, .tri = tri};
  NOLI_NEW(context, triangles->rest_inverse, 4 * (int64_t)n_tri);
  NOLI_NEW(context, triangles->axis, 3 * (int64_t)n_tri);
  NOLI_NEW(context, triangles->area, n_tri);
done:
  return status;
}

NoliStatus noli_triangles_set_rest(NoliContext* context, NoliTriangles* triangles, int32_t begin,
                                   int32_t end, const double* X, const double warp[3]) {
  NoliStatus status = NOLI_OK;
  for (int32_t t = begin; t < end; t++) {
    // the rest frame
    const int32_t* node = triangles->tri + 3 * (int64_t)t;
    NoliVec3 e1 = noli_sub3(sheet_vertex(X, node[1]), sheet_vertex(X, node[0]));
    NoliVec3 e2 = noli_sub3(sheet_vertex(X, node[2]), sheet_vertex(X, node[0]));
    NoliVec3 cross = noli_cross3(e1, e2), normal = noli_normalize3(cross);
    NoliVec3 first = choose_axis(normal, e1, warp), second = noli_cross3(normal, first);

    // and the edges in it
    double a = noli_dot3(e1, first), b = noli_dot3(e2, first), c = noli_dot3(e1, second),
           d = noli_dot3(e2, second), det = a * d - b * c;
    double inverse[4] = {d / det, -b / det, -c / det, a / det};
    bool good = det > 0.0 && isfinite(det);
    for (int k = 0; k < 4; k++) {
      good = good && isfinite(inverse[k]);
      triangles->rest_inverse[4 * (int64_t)t + k] = inverse[k];
    }
    NOLI_CHECK(context, good, NOLI_INVERTED_ELEMENT,
               "triangle %d (nodes %d %d %d) has no area at rest (%g m^2)", (int)(t - begin),
               (int)node[0], (int)node[1], (int)node[2], 0.5 * noli_norm3(cross));
    noli_store3(triangles->axis + 3 * (int64_t)t, first);
    triangles->area[t] = 0.5 * det;
  }
done:
  return status;
}

void noli_triangles_destroy(NoliContext* context, NoliTriangles* triangles) {
  noli_free(context, triangles->rest_inverse);
  noli_free(context, triangles->axis);
  noli_free(context, triangles->area);
  *triangles = (NoliTriangles){0};
}

NoliSheet noli_triangles_deformation(const NoliTriangles* triangles, int64_t t, const double* x) {
  const int32_t* node = triangles->tri + 3 * t;
  const double* g = triangles->rest_inverse + 4 * t;
  NoliVec3 e1 = noli_sub3(sheet_vertex(x, node[1]), sheet_vertex(x, node[0]));
  NoliVec3 e2 = noli_sub3(sheet_vertex(x, node[2]), sheet_vertex(x, node[0]));
  return (NoliSheet){{noli_mul_add3(noli_scale3(g[0], e1), g[2], e2),
                      noli_mul_add3(noli_scale3(g[1], e1), g[3], e2)}};
}

// Gradients of the three shape functions in the rest frame.
static void shape_gradients(const NoliTriangles* triangles, int64_t t, double g[3][2]) {
  const double* inverse = triangles->rest_inverse + 4 * t;
  for (int k = 0; k < 2; k++) {
    g[1][k] = inverse[k];
    g[2][k] = inverse[2 + k];
    g[0][k] = -(g[1][k] + g[2][k]);
  }
}

// Block (a, b) of a triangle from the three blocks of the response.
static NoliMat3 block(const NoliSheetResponse* response, const double* ga, const double* gb,
                      double weight) {
  NoliMat3 sum = noli_scale33(weight * ga[0] * gb[0], response->H[0]);
  NoliMat3 mixed = response->H[1], back = noli_transpose33(mixed);
  sum = noli_add33(sum, noli_scale33(weight * ga[0] * gb[1], mixed));
  sum = noli_add33(sum, noli_scale33(weight * ga[1] * gb[0], back));
  return noli_add33(sum, noli_scale33(weight * ga[1] * gb[1], response->H[2]));
}

// The root of a symmetric 2 x 2 matrix (11, 12, 22).
static void root(const double C[3], double U[3]) {
  double det = sqrt(fmax(C[0] * C[2] - C[1] * C[1], 0.0));
  double scale = 1.0 / sqrt(C[0] + C[2] + 2.0 * det);
  U[0] = scale * (C[0] + det);
  U[1] = scale * C[1];
  U[2] = scale * (C[2] + det);
}

static void metric(const NoliSheet* F, double C[3]) {
  C[0] = noli_norm_sqr3(F->f[0]);
  C[1] = noli_dot3(F->f[0], F->f[1]);
  C[2] = noli_norm_sqr3(F->f[1]);
}

// F with the metric that a linearization at `last` predicts, C - G^T G with G = F - last, and its
// own rotation. At most LARGEST_SHARE of the metric is removed.
static NoliSheet predict_from(const NoliSheet* F, const NoliSheet* last) {
  NoliSheet G = {{noli_sub3(F->f[0], last->f[0]), noli_sub3(F->f[1], last->f[1])}};
  double C[3], Q[3], L[3], U[3], W[3];
  metric(F, C);
  metric(&G, Q);
  double least = 0.5 * (C[0] + C[2]) - hypot(0.5 * (C[0] - C[2]), C[1]), size = Q[0] + Q[2];
  double share = size > LARGEST_SHARE * least ? LARGEST_SHARE * least / size : 1.0;
  for (int k = 0; k < 3; k++) {
    L[k] = C[k] - share * Q[k];
  }

  // F U^-1 W
  root(C, U);
  root(L, W);
  double det = U[0] * U[2] - U[1] * U[1];
  double M[2][2] = {{(U[2] * W[0] - U[1] * W[1]) / det, (U[2] * W[1] - U[1] * W[2]) / det},
                    {(U[0] * W[1] - U[1] * W[0]) / det, (U[0] * W[2] - U[1] * W[1]) / det}};
  return det > 0.0 ? (NoliSheet){{noli_mul_add3(noli_scale3(M[0][0], F->f[0]), M[1][0], F->f[1]),
                                  noli_mul_add3(noli_scale3(M[0][1], F->f[0]), M[1][1], F->f[1])}}
                   : *F;
}

// The response of a triangle, with the Hessian of the predicted stretch.
static void respond(const NoliMembrane* membrane, int64_t t, const double* x, unsigned what,
                    NoliSheetResponse* response) {
  const NoliMembraneLaw* law = membrane->law[t];
  const NoliMembraneParameters* parameters = &membrane->parameters[t];
  NoliSheet F = noli_triangles_deformation(membrane->triangles, t, x);
  bool predicted = membrane->last != NULL && (what & NOLI_EVAL_PROJECTED);
  if (!predicted) {
    noli_membrane_respond(law, parameters, &F, what, response);
    return;
  }
  NoliSheetResponse at_x;
  NoliSheet last = noli_triangles_deformation(membrane->triangles, t, membrane->last);
  NoliSheet stretched = predict_from(&F, &last);
  noli_membrane_respond(law, parameters, &F, what & ~(unsigned)NOLI_EVAL_PROJECTED, &at_x);
  noli_membrane_respond(law, parameters, &stretched, NOLI_EVAL_PROJECTED, response);
  response->energy = at_x.energy;
  response->P[0] = at_x.P[0];
  response->P[1] = at_x.P[1];
}

void noli_membrane_evaluate(const void* data, const double* x, int64_t begin, int64_t end,
                            unsigned what, const NoliLocal* out) {
  const NoliMembrane* membrane = data;
  const NoliTriangles* triangles = membrane->triangles;
  for (int64_t t = begin; t < end; t++) {
    double weight = membrane->scale * triangles->area[t] * membrane->thickness[t], g[3][2];
    NoliSheetResponse response;
    respond(membrane, t, x, what, &response);
    shape_gradients(triangles, t, g);
    if (what & NOLI_EVAL_ENERGY) {
      out->energy[t - begin] = weight * response.energy;
    }
    for (int a = 0; a < 3 && (what & NOLI_EVAL_GRADIENT); a++) {
      NoliVec3 force = noli_mul_add3(noli_scale3(g[a][0], response.P[0]), g[a][1], response.P[1]);
      noli_store3(out->gradient + 9 * (t - begin) + 3 * a, noli_scale3(weight, force));
    }
    for (int a = 0; a < 3 && (what & (NOLI_EVAL_HESSIAN | NOLI_EVAL_PROJECTED)); a++) {
      for (int b = a; b < 3; b++) {
        NoliMat3 H = block(&response, g[a], g[b], weight);
        noli_store33(out->hessian + 9 * (6 * (t - begin) + noli_stencil_block(3, a, b)), &H);
      }
    }
  }
}

// Arguments of the loops below.
typedef struct Search {
  const NoliMembrane* membrane;
  const double *x, *p;
  double keep;
  NoliStepSearch found; // triangles beyond their limit are searched at x + found.alpha p
} Search;

static double stretch_along(const NoliSheet* F, const NoliSheet* G, double alpha) {
  NoliSheet moved = {
      {noli_mul_add3(F->f[0], alpha, G->f[0]), noli_mul_add3(F->f[1], alpha, G->f[1])}};
  return noli_sheet_stretch(&moved);
}

// The largest stretch is a norm of F + alpha G and so convex in alpha: a chord lies above it, so
// the alpha at which the chord meets the limit is safe. Bisection moves the other end.
static double bound_of(const NoliSheet* F, const NoliSheet* G, double limit, double keep) {
  double low = 0.0, high = 1.0, at_low = stretch_along(F, G, 0.0),
         at_high = stretch_along(F, G, 1.0);
  double most = limit - keep * (limit - at_low);
  if (!(at_low < limit)) {
    return 0.0;
  }
  if (at_high <= most) {
    return 1.0;
  }

  while (high - low > 1e-9 * high) {
    double chord = low + (high - low) * (most - at_low) / (at_high - at_low);
    double at_chord = stretch_along(F, G, chord);
    if (at_chord <= most && chord > low) {
      low = chord;
      at_low = at_chord;
    }
    double middle = 0.5 * (low + high), at_middle = stretch_along(F, G, middle);
    if (at_middle <= most) {
      low = middle;
      at_low = at_middle;
    } else {
      high = middle;
      at_high = at_middle;
    }
  }
  return low;
}

static void sheet_bound_range(void* user, int64_t begin, int64_t end, int32_t worker) {
  Search* search = user;
  const NoliMembrane* membrane = search->membrane;
  for (int64_t t = begin; t < end; t++) {
    double limit = membrane->parameters[t].limit;
    if (isfinite(limit)) {
      NoliSheet F = noli_triangles_deformation(membrane->triangles, t, search->x);
      NoliSheet G = noli_triangles_deformation(membrane->triangles, t, search->p);
      double alpha = bound_of(&F, &G, limit, search->keep);
      if (alpha < 1.0) {
        noli_search_offer(&search->found, worker, alpha, (int32_t)t);
      }
    }
  }
}

// Offers triangles beyond their limit at positions that are rounded as in the caller's update.
static void beyond_range(void* user, int64_t begin, int64_t end, int32_t worker) {
  Search* search = user;
  const NoliMembrane* membrane = search->membrane;
  static const int32_t own[3] = {0, 1, 2};
  for (int64_t t = begin; t < end; t++) {
    if (!isfinite(membrane->parameters[t].limit)) {
      continue;
    }
    const int32_t* node = membrane->triangles->tri + 3 * t;
    double moved[9];
    for (int a = 0; a < 3; a++) {
      noli_store3(moved + 3 * a,
                  noli_mul_add3(sheet_vertex(search->x, node[a]), search->found.alpha,
                                sheet_vertex(search->p, node[a])));
    }
    NoliTriangles one = {
        .n_tri = 1, .tri = own, .rest_inverse = membrane->triangles->rest_inverse + 4 * t};
    NoliSheet F = noli_triangles_deformation(&one, 0, moved);
    if (!(noli_sheet_stretch(&F) < membrane->parameters[t].limit)) {
      noli_search_offer(&search->found, worker, 0.0, (int32_t)t);
      return;
    }
  }
}

double noli_membrane_limit_bound(const NoliMembrane* data, const double* x, const double* p,
                                 double keep, int32_t n_threads, int32_t* blocking) {
  Search search = {
      .membrane = data, .x = x, .p = p, .keep = keep, .found = {.block = TRIANGLES_PER_BLOCK}};
  return noli_search_inversion_bound(&search.found, data->triangles->n_tri, n_threads,
                                     sheet_bound_range, beyond_range, &search, blocking);
}
