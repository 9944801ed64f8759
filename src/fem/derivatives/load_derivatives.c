#include "fem/derivatives/load_derivatives.h"

#include "math/mat3.h"

#include <string.h>

static bool has(unsigned wanted, NoliInput input) {
  return (wanted >> input & 1u) != 0;
}

static void load_derivatives_add_column(const NoliMixedBlocks* blocks, int64_t stencil,
                                        int32_t node, int32_t column, double factor,
                                        NoliVec3 vector) {
  double* block = noli_mixed_block(blocks, stencil);
  double value[3];
  noli_store3(value, vector);
  for (int r = 0; r < 3; r++) {
    block[(int64_t)blocks->n_input * (3 * node + r) + column] += factor * value[r];
  }
}

// Three inputs from a vertex or row on.
static void set_inputs(NoliMixedBlocks* blocks, int64_t stencil, int32_t column, int64_t row) {
  for (int c = 0; c < 3; c++) {
    blocks->input[stencil * blocks->n_input + column + c] = 3 * row + c;
  }
}

// ---- springs ------------------------------------------------------------------------------------

static NoliVec3 apart(const NoliSprings* springs, int64_t s, const double* x) {
  const int32_t* node = springs->node + 2 * s;
  NoliVec3 end = node[1] != NOLI_NULL_INDEX ? noli_load3(x + 3 * (int64_t)node[1])
                                            : noli_load3(springs->anchor + 3 * s);
  return noli_sub3(end, noli_load3(x + 3 * (int64_t)node[0]));
}

// How d of the damper has moved since x_hat; the anchor does not move.
static NoliVec3 moved(const NoliSprings* springs, int64_t s, const NoliConnectionPoint* at) {
  return noli_sub3(apart(springs, s, at->x), apart(springs, s, at->x_hat));
}

static NoliVec3 unit(NoliVec3 d) {
  double size = noli_norm3(d);
  return size > 0.0 ? noli_scale3(1.0 / size, d) : (NoliVec3){0.0, 0.0, 0.0};
}

// The gradient on the ends is -f and f, of a force f on the first: a change of f by a number.
static void add_number(const NoliSprings* springs, int64_t s, NoliMixedBlocks* blocks,
                       int32_t column, double factor, NoliVec3 by) {
  load_derivatives_add_column(blocks, s, 0, column, -factor, by);
  load_derivatives_add_column(blocks, s, 1, column,
                              springs->node[2 * s + 1] != NOLI_NULL_INDEX ? factor : 0.0, by);
}

// The same by the positions of both ends, where f changes by `by_first` and `by_second`.
static void add_ends(const NoliSprings* springs, int64_t s, NoliMixedBlocks* blocks, double factor,
                     NoliMat3 by_first, NoliMat3 by_second) {
  bool fixed = springs->node[2 * s + 1] == NOLI_NULL_INDEX;
  for (int32_t end = 0; end < (fixed ? 1 : 2); end++) {
    double sign = end == 0 ? -factor : factor;
    noli_mixed_add33(blocks, s, end, 0, sign, by_first);
    noli_mixed_add33(blocks, s, end, 3, fixed ? 0.0 : sign, by_second);
    set_inputs(blocks, s, 3 * end, springs->node[2 * s + end]);
  }
}

// f = k (|d| - L) n, or k d; of a damper c n n^T w, or c w.
static void set_numbers(const NoliSprings* springs, int64_t s, const NoliConnectionPoint* at,
                        NoliMixedBlocks* blocks) {
  NoliVec3 d = apart(springs, s, at->x), n = unit(d), w = moved(springs, s, at);
  NoliVec3 axis = unit(apart(springs, s, at->lagged));
  double length = springs->length[s];
  bool directed = length > 0.0;
  NoliVec3 pull = directed ? noli_scale3(noli_norm3(d) - length, n) : d;
  NoliVec3 drag = directed ? noli_scale3(noli_dot3(axis, w), axis) : w;
  set_inputs(blocks, s, 0, s);
  add_number(springs, s, blocks, NOLI_SPRING_STIFFNESS, at->scale, pull);
  add_number(springs, s, blocks, NOLI_SPRING_LENGTH,
             directed ? -at->scale * springs->stiffness[s] : 0.0, n);
  add_number(springs, s, blocks, NOLI_SPRING_DAMPING, at->damping_scale, drag);
}

// Lengths that are the distance at rest change by its direction, and anchors that are places at
// rest move.
static void load_derivatives_set_rest(const NoliSprings* springs, int64_t s,
                                      const NoliConnectionPoint* at, NoliMixedBlocks* blocks) {
  NoliVec3 n = unit(apart(springs, s, at->x)), rest = unit(apart(springs, s, at->X));
  double k = springs->stiffness[s];
  NoliMat3 by_first = {0}, by_second = {0};
  if (springs->fitted[s] && springs->length[s] > 0.0) {
    by_first = noli_scale33(k, noli_outer33(n, rest));
    by_second = noli_scale33(-k, noli_outer33(n, rest));
  } else if (springs->at_rest[s]) {
    by_first = noli_scale33(k, noli_identity3());
  }
  add_ends(springs, s, blocks, at->scale, by_first, by_second);
}

// The axis n of a damper turns by (1 - n n^T) / |d| times the change of d.
static void set_axis(const NoliSprings* springs, int64_t s, const NoliConnectionPoint* at,
                     NoliMixedBlocks* blocks) {
  NoliVec3 d = apart(springs, s, at->lagged), n = unit(d), w = moved(springs, s, at);
  double size = noli_norm3(d);
  if (!(springs->damping[s] > 0.0 && springs->length[s] > 0.0 && size > 0.0)) {
    return;
  }
  NoliMat3 turn = noli_scale33(1.0 / size, noli_sub33(noli_identity3(), noli_outer33(n, n)));
  NoliMat3 by = noli_outer33(n, noli_mul33_vec(&turn, w));
  by = noli_add33(by, noli_scale33(noli_dot3(n, w), turn));
  by = noli_scale33(springs->damping[s], by);
  add_ends(springs, s, blocks, at->damping_scale, noli_scale33(-1.0, by), by);
}

// By stiffness, length and damping (NOLI_INPUT_SPRING) and by rest positions, as `wanted` says, and
// by the point `lagged` (NOLI_INPUT_DAMPED) where a spring has a damper.
static NoliStatus spring_mixed(NoliMixedList* list, const void* data, unsigned wanted,
                               const NoliConnectionPoint* at) {
  const NoliSprings* springs = data;
  NoliStatus status = NOLI_OK;
  static const struct {
    NoliInput input;
    int32_t n_input;
    void (*set)(const NoliSprings* springs, int64_t s, const NoliConnectionPoint* at,
                NoliMixedBlocks* blocks);
  } kinds[] = {{NOLI_INPUT_SPRING, NOLI_SPRING_NUMBERS, set_numbers},
               {NOLI_INPUT_REST, 6, load_derivatives_set_rest},
               {NOLI_INPUT_DAMPED, 6, set_axis}};

  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    NoliMixedBlocks* blocks;
    bool acts = kinds[k].input != NOLI_INPUT_DAMPED
                    ? has(wanted, kinds[k].input)
                    : at->damping_scale > 0.0 && noli_spring_forces.dampers->any(springs);
    if (!acts || springs->n == 0) {
      continue;
    }
    NOLI_TRY(noli_mixed_list_add(list, kinds[k].input, springs->n, 2, kinds[k].n_input, &blocks));
    memcpy(blocks->node, springs->node, 2 * sizeof *springs->node * (size_t)springs->n);
    for (int64_t s = 0; s < springs->n; s++) {
      kinds[k].set(springs, s, at, blocks);
    }
  }
done:
  return status;
}

const NoliConnectionDerivatives noli_spring_derivatives = {.mixed = spring_mixed};

// ---- faces --------------------------------------------------------------------------------------

// A turn clockwise in the plane, times a factor.
static NoliMat3 turn_of(double factor) {
  return (NoliMat3){{{0.0, factor, 0.0}, {-factor, 0.0, 0.0}, {0.0, 0.0, 0.0}}};
}

// The derivative of noli_face_cone_gradient of corner k by corner m.
static NoliMat3 cone_hessian(const NoliFaceCorners* face, int32_t k, int32_t m) {
  if (k == m) {
    return (NoliMat3){0};
  }
  if (face->n == 2) {
    return turn_of(k == 0 ? 0.5 : -0.5);
  }
  bool next = m == (k + 1) % 3;
  return noli_scale33(next ? -1.0 / 6.0 : 1.0 / 6.0,
                      noli_cross33(face->corner[next ? (k + 2) % 3 : (k + 1) % 3]));
}

// How the share of a corner in the area vector changes with corner m.
static NoliMat3 share_derivative(const NoliFaceCorners* face, int32_t m) {
  const NoliVec3* c = face->corner;
  if (face->n == 2) {
    return turn_of(m == 0 ? -0.5 : 0.5);
  }
  NoliMat3 ab = noli_scale33(1.0 / 6.0, noli_cross33(noli_sub3(c[1], c[0])));
  NoliMat3 ac = noli_scale33(1.0 / 6.0, noli_cross33(noli_sub3(c[2], c[0])));
  return m == 0 ? noli_sub33(ac, ab) : m == 1 ? noli_scale33(-1.0, ac) : ab;
}

// ---- volumes ------------------------------------------------------------------------------------

// The gradient is W' dV with W' = w(V / V_0) / compression - pressure.
NoliStatus noli_volume_derivatives(NoliMixedList* list, const NoliVolume* data, const double* x) {
  NoliStatus status = NOLI_OK;
  const NoliVolumes* regions = data->regions;
  NoliMixedBlocks* blocks;
  NOLI_TRY(noli_mixed_list_add(list, NOLI_INPUT_REGION, regions->n_tri, 3, NOLI_REGION_NUMBERS,
                               &blocks));
  memcpy(blocks->node, regions->tri, 3 * sizeof *regions->tri * (size_t)regions->n_tri);

  for (int32_t r = 0; r < regions->n_region; r++) {
    const NoliVolumeRegion* region = &regions->region[r];
    const NoliVolumeState* state = &data->state[r];
    const NoliVolumeLaw* law = &region->law;
    double by[NOLI_REGION_NUMBERS];
    by[NOLI_REGION_PRESSURE] = -1.0;
    by[NOLI_REGION_COMPRESSION] = (state->pressure - law->pressure) / law->compression;
    by[NOLI_REGION_REST] = -state->stiffness * state->volume / law->rest;
    NoliVec3 origin = noli_load3(x + 3 * (int64_t)regions->tri[3 * region->tri_first]);
    for (int64_t t = region->tri_first; t < region->tri_end; t++) {
      NoliFaceCorners face = noli_face_corners(regions->tri + 3 * t, x, origin);
      for (int c = 0; c < NOLI_REGION_NUMBERS; c++) {
        blocks->input[NOLI_REGION_NUMBERS * t + c] = NOLI_REGION_NUMBERS * (int64_t)r + c;
        for (int32_t k = 0; k < 3; k++) {
          load_derivatives_add_column(blocks, t, k, c, data->scale * by[c],
                                      noli_face_cone_gradient(&face, k));
        }
      }
    }
  }
done:
  return status;
}

// ---- pressures ----------------------------------------------------------------------------------

// The gradient p (g(x) - g(begin) + share(begin)) of a face: the potential of the cone, and its
// mantle at the start of the step.
static void set_begin(const NoliPressure* data, int64_t i, int64_t origin_row, const double* begin,
                      const double* x, NoliMixedBlocks* blocks) {
  const int32_t* tri = data->faces->tri + 3 * i;
  NoliVec3 origin = noli_load3(data->origin + 3 * i);
  NoliFaceCorners now = noli_face_corners(tri, x, origin),
                  then = noli_face_corners(tri, begin, origin);
  double factor = data->scale * data->value[i];
  for (int32_t m = 0; m < now.n; m++) {
    for (int32_t k = 0; k < now.n; k++) {
      NoliMat3 was = cone_hessian(&then, k, m);
      noli_mixed_add33(blocks, i, k, 3 * m, factor, noli_sub33(share_derivative(&then, m), was));
      noli_mixed_add33(blocks, i, k, 9, factor, noli_sub33(was, cone_hessian(&now, k, m)));
    }
    set_inputs(blocks, i, 3 * m, tri[m]);
  }
  set_inputs(blocks, i, 9, origin_row);
}

// Blocks of faces first .. end by `n_input` inputs each, with the nodes of their corners.
static NoliStatus add_faces(NoliMixedList* list, NoliInput input, const NoliFaces* faces,
                            int64_t first, int64_t end, int32_t n_input, NoliMixedBlocks** blocks) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_mixed_list_add(list, input, end - first, 3, n_input, blocks));
  memcpy((*blocks)->node, faces->tri + 3 * first, 3 * sizeof *faces->tri * (size_t)(end - first));
done:
  return status;
}

NoliStatus noli_pressure_derivatives(NoliMixedList* list, const NoliPressure* data, unsigned wanted,
                                     const int32_t* force, int32_t n_vert, const double* begin,
                                     const double* x) {
  NoliStatus status = NOLI_OK;
  const NoliFaces* faces = data->faces;
  NoliMixedBlocks* blocks;
  NOLI_TRY(add_faces(list, NOLI_INPUT_BEGIN, faces, 0, faces->n, 12, &blocks));
  for (int64_t i = 0; i < faces->n; i++) {
    set_begin(data, i, (int64_t)n_vert + force[i], begin, x, blocks);
  }
  if (has(wanted, NOLI_INPUT_FORCE)) {
    NOLI_TRY(add_faces(list, NOLI_INPUT_FORCE, faces, 0, faces->n, 1, &blocks));
    for (int64_t i = 0; i < faces->n; i++) {
      NoliFaceCorners face =
          noli_face_corners(faces->tri + 3 * i, x, noli_load3(data->origin + 3 * i));
      blocks->input[i] = force[i];
      for (int32_t k = 0; k < face.n; k++) {
        load_derivatives_add_column(blocks, i, k, 0, data->scale * data->value[i],
                                    noli_face_cone_gradient(&face, k));
      }
    }
  }
done:
  return status;
}

// The first row of a matrix.
static NoliVec3 first_row(const NoliMat3* matrix) {
  return noli_load3(matrix->m[0]);
}

NoliStatus noli_pressure_place_derivatives(NoliMixedList* list, const NoliPressure* data,
                                           int32_t first, int32_t end, const NoliMat3* by_place,
                                           const double* begin, const double* x) {
  NoliStatus status = NOLI_OK;
  NoliMixedBlocks* blocks;
  NOLI_TRY(add_faces(list, NOLI_INPUT_REST, data->faces, first, end, 9, &blocks));
  for (int64_t i = first; i < end; i++) {
    const int32_t* tri = data->faces->tri + 3 * i;
    NoliVec3 origin = noli_load3(data->origin + 3 * i);
    NoliFaceCorners now = noli_face_corners(tri, x, origin),
                    then = noli_face_corners(tri, begin, origin);
    for (int32_t k = 0; k < now.n; k++) {
      // of the mean pressure of the corners, 1: the potential and its mantle, as in set_begin
      NoliVec3 by = noli_sub3(noli_face_cone_gradient(&now, k), noli_face_cone_gradient(&then, k));
      by = noli_add3(by, noli_face_area_share(&then));
      for (int32_t m = 0; m < now.n; m++) {
        noli_mixed_add33(blocks, i - first, k, 3 * m, data->scale / now.n,
                         noli_outer33(by, first_row(&by_place[tri[m]])));
      }
      set_inputs(blocks, i - first, 3 * k, tri[k]);
    }
  }
done:
  return status;
}

// ---- tractions ----------------------------------------------------------------------------------

// The derivative of the share of a corner in the area at rest, or in the length, by corner k.
static NoliVec3 area_derivative(const NoliFaceCorners* face, int32_t k) {
  const NoliVec3* c = face->corner;
  NoliVec3 side = noli_sub3(c[1], c[0]);
  if (face->n == 2) {
    return noli_scale3(k == 0 ? -0.5 : 0.5, noli_normalize3(side));
  }
  NoliVec3 normal = noli_normalize3(noli_cross3(side, noli_sub3(c[2], c[0])));
  return noli_scale3(1.0 / 6.0, noli_cross3(normal, noli_sub3(c[(k + 2) % 3], c[(k + 1) % 3])));
}

NoliStatus noli_traction_derivatives(NoliMixedList* list, const NoliFaces* faces, const double* X,
                                     const double* traction, double scale) {
  NoliStatus status = NOLI_OK;
  NoliMixedBlocks* blocks;
  NOLI_TRY(add_faces(list, NOLI_INPUT_REST, faces, 0, faces->n, 9, &blocks));
  for (int64_t i = 0; i < faces->n; i++) {
    const int32_t* tri = faces->tri + 3 * i;
    NoliFaceCorners face = noli_face_corners(tri, X, noli_load3(X + 3 * (int64_t)tri[0]));
    NoliVec3 sum = {0.0, 0.0, 0.0};
    for (int32_t k = 0; k < face.n; k++) {
      sum = noli_add3(sum, noli_load3(traction + 3 * (int64_t)tri[k]));
      set_inputs(blocks, i, 3 * k, tri[k]);
    }
    for (int32_t k = 0; k < face.n * face.n; k++) {
      int32_t a = k / face.n, b = k % face.n;
      NoliVec3 force = noli_add3(sum, noli_load3(traction + 3 * (int64_t)tri[a]));
      noli_mixed_add33(blocks, i, a, 3 * b, -scale / (face.n + 1),
                       noli_outer33(force, area_derivative(&face, b)));
    }
  }
done:
  return status;
}

// The force on a corner is (sum of t + t of the corner) / (n + 1) of the share of a corner.
NoliStatus noli_traction_place_derivatives(NoliMixedList* list, const NoliFaces* faces,
                                           const double* X, const NoliMat3* by_place,
                                           double scale) {
  NoliStatus status = NOLI_OK;
  NoliMixedBlocks* blocks;
  NOLI_TRY(add_faces(list, NOLI_INPUT_REST, faces, 0, faces->n, 9, &blocks));
  for (int64_t i = 0; i < faces->n; i++) {
    const int32_t* tri = faces->tri + 3 * i;
    NoliFaceCorners face = noli_face_corners(tri, X, noli_load3(X + 3 * (int64_t)tri[0]));
    double share = noli_norm3(noli_face_area_share(&face)) / (face.n + 1);
    for (int32_t k = 0; k < face.n * face.n; k++) {
      int32_t a = k / face.n, b = k % face.n;
      noli_mixed_add33(blocks, i, a, 3 * b, -scale * share * (a == b ? 2.0 : 1.0),
                       by_place[tri[b]]);
      set_inputs(blocks, i, 3 * b, tri[b]);
    }
  }
done:
  return status;
}
