#include "contact/friction/vertex_turns.h"

#include <string.h>

// Rotations by more than about this cosine are no rotations of a step: shells that snap, edges that
// shrink to a point.
#define TURNED_OVER (-0.5)

NoliStatus noli_vertex_turns_create(NoliContext* context, const NoliSurface* surface,
                                    NoliVertexTurns* turns) {
  NoliStatus status = NOLI_OK;
  int32_t n_vert = surface->n_vert;
  turns->n_vert = n_vert;
  NOLI_NEW(context, turns->other, 2 * (int64_t)n_vert);
  for (int64_t i = 0; i < 2 * (int64_t)n_vert; i++) {
    turns->other[i] = NOLI_NULL_INDEX;
  }

  // edges first, which triangles replace
  for (int64_t e = 0; e < surface->n_edge; e++) {
    const int32_t* edge = surface->edge + 2 * e;
    for (int32_t k = 0; k < 2 && edge[0] != edge[1]; k++) {
      int32_t* other = turns->other + 2 * (int64_t)edge[k];
      other[0] = other[0] == NOLI_NULL_INDEX ? edge[1 - k] : other[0];
    }
  }
  for (int64_t t = 0; t < surface->n_tri; t++) {
    const int32_t* tri = surface->tri + 3 * t;
    for (int32_t k = 0; k < 3; k++) {
      int32_t* other = turns->other + 2 * (int64_t)tri[k];
      if (other[1] == NOLI_NULL_INDEX) {
        other[0] = tri[(k + 1) % 3];
        other[1] = tri[(k + 2) % 3];
      }
    }
  }
done:
  return status;
}

void noli_vertex_turns_free(NoliContext* context, NoliVertexTurns* turns) {
  noli_free(context, turns->other);
  turns->other = NULL;
}

static NoliVec3 from_to(const double* x, int32_t a, int32_t b) {
  return noli_sub3(noli_load3(x + 3 * (int64_t)b), noli_load3(x + 3 * (int64_t)a));
}

bool noli_vertex_edge_turns(double cosine) {
  return cosine > TURNED_OVER;
}

// The smallest rotation of a unit vector to another one.
static NoliMat3 turn_of_line(NoliVec3 from, NoliVec3 to) {
  double cosine = noli_dot3(from, to);
  if (!noli_vertex_edge_turns(cosine)) {
    return noli_identity3();
  }
  NoliMat3 W = noli_cross33(noli_cross3(from, to));
  return noli_add33(noli_add33(noli_identity3(), W),
                    noli_scale33(1.0 / (1.0 + cosine), noli_mul33(W, W)));
}

// Columns: along an edge of the triangle, across it, and normal.
static NoliMat3 frame_of(const double* x, int32_t a, const int32_t other[2]) {
  NoliVec3 edge = from_to(x, a, other[0]);
  NoliVec3 normal = noli_normalize3(noli_cross3(edge, from_to(x, a, other[1])));
  NoliVec3 along = noli_normalize3(edge);
  return noli_columns33(along, noli_cross3(normal, along), normal);
}

static bool stands(int32_t a, const double* from, const double* to) {
  return memcmp(from + 3 * (int64_t)a, to + 3 * (int64_t)a, 3 * sizeof *to) == 0;
}

NoliMat3 noli_vertex_turn(const NoliVertexTurns* turns, int32_t a, const double* from,
                          const double* to) {
  const int32_t* other = turns->other + 2 * (int64_t)a;
  bool line = other[1] == NOLI_NULL_INDEX;
  if (other[0] == NOLI_NULL_INDEX ||
      (stands(a, from, to) && stands(other[0], from, to) && (line || stands(other[1], from, to)))) {
    return noli_identity3();
  }
  if (line) {
    return turn_of_line(noli_normalize3(from_to(from, a, other[0])),
                        noli_normalize3(from_to(to, a, other[0])));
  }
  return noli_mul_transpose33(frame_of(to, a, other), frame_of(from, a, other));
}
