#include "repair/repair.h"

#include "base/sort.h"
#include "collide/impacts.h"
#include "mesh/topology.h"

static int compare_pairs(const void* one, const void* other) {
  const NoliRepairPair *p = one, *q = other;
  return noli_compare_tuples((const int32_t[]){p->a, p->b}, (const int32_t[]){q->a, q->b}, 2);
}

void noli_repair_sort_pairs(NoliRepairPairs* pairs) {
  int64_t n = 0;
  noli_sort(pairs->data, pairs->count, sizeof(NoliRepairPair), compare_pairs);
  for (int64_t i = 0; i < pairs->count; i++) {
    if (n == 0 || compare_pairs(&pairs->data[n - 1], &pairs->data[i]) != 0) {
      pairs->data[n++] = pairs->data[i];
    }
  }
  pairs->count = n;
}

bool noli_repair_has_pair(const NoliRepairPairs* pairs, int32_t a, int32_t b) {
  NoliRepairPair pair = {a < b ? a : b, a < b ? b : a};
  return pairs->count > 0 &&
         noli_find_sorted(&pair, pairs->data, pairs->count, sizeof pair, compare_pairs) != NULL;
}

// A solid may be brought to the other side of a solid, as there is a way round it, and the audit
// would find one within the other.
static bool may_go_round(const NoliRepairWork* work, int32_t body, int32_t other) {
  return body != other && noli_audit_excludes(work->model, body) &&
         noli_audit_excludes(work->model, other);
}

// Where two primitives meet on their way, if they do.
static bool passes(const NoliRepairWork* work, const int32_t vertex[4], bool is_edge,
                   const double* x, const double* to, NoliRepairGap* passage) {
  NoliVec3 x_t0[4], x_t1[4], at[4];
  double toi = 1.0;
  for (int32_t k = 0; k < 4; k++) {
    x_t0[k] = noli_load3(&x[3 * (int64_t)vertex[k]]);
    x_t1[k] = noli_load3(&to[3 * (int64_t)vertex[k]]);
  }
  bool hit = is_edge ? noli_ccd_edge_edge(x_t0, x_t1, NULL, 1.0, &toi)
                     : noli_ccd_point_triangle(x_t0, x_t1, NULL, 1.0, &toi);
  if (!hit) {
    return false;
  }
  for (int32_t k = 0; k < 4; k++) {
    at[k] = noli_mul_add3(x_t0[k], toi, noli_sub3(x_t1[k], x_t0[k]));
  }
  *passage = noli_repair_gap_at(work->surface, &work->pairs, vertex, at, is_edge);

  // the same points at the end
  NoliVec3 apart = {0};
  for (int32_t k = 0; k < 4; k++) {
    apart = noli_mul_add3(apart, passage->weight[k], x_t1[k]);
  }
  const int32_t* body = work->surface->body;
  passage->gap = noli_dot3(passage->direction, apart) -
                 noli_surface_offset(work->surface, body[vertex[0]], body[vertex[3]]);
  return true;
}

NoliStatus noli_repair_passages(const NoliRepairWork* work, const int32_t* of,
                                const NoliRepairPairs* met, bool self, const double* x,
                                const double* to, NoliRepairGaps* passages) {
  NoliStatus status = NOLI_OK;
  NoliCandidates found = {0};
  const NoliSurface* surface = work->surface;
  passages->count = 0;
  NOLI_TRY(noli_broad_phase_find(work->broad_phase, x, to, 0.0, &work->pairs, &found));
  for (int64_t i = 0; i < noli_candidates_count(&found); i++) {
    int32_t vertex[4];
    NoliRepairGap passage;
    bool is_edge = noli_candidates_vertices(&found, surface, i, vertex);
    int32_t a = of[vertex[0]], b = of[vertex[3]];
    if ((self || a != b) &&
        !may_go_round(work, surface->body[vertex[0]], surface->body[vertex[3]]) &&
        !noli_repair_has_pair(met, a, b) && passes(work, vertex, is_edge, x, to, &passage)) {
      NOLI_PUSH(work->context, passages, passage);
    }
  }
done:
  noli_candidates_free(work->context, &found);
  return status;
}
