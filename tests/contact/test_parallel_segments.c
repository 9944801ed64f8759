// Contact of segments that belong to no triangle, parallel or nearly so: pairs of edges fade there,
// and the ends of the segments hold them apart.
#include "support.h"

#include "collide/broad_phase.h"
#include "collide/point_edge.h"
#include "contact/ipc.h"

#define DHAT 0.1

typedef struct Bars {
  NoliContext* context;
  NoliSurface* surface;
  NoliBroadPhase* broad_phase;
  NoliCandidates candidates;
  NoliContactSet set;
} Bars;

static Bars bars_new(int32_t n_body, const int32_t* vert_first, const NoliSurfaceParts* parts) {
  Bars bars = {.context = test_context(1)};
  ASSERT_OK(noli_surface_create(bars.context, n_body, vert_first, parts, &bars.surface));
  ASSERT_OK(noli_broad_phase_create(bars.context, bars.surface, &bars.broad_phase));
  noli_contact_set_init(&bars.set);
  return bars;
}

static void bars_build(Bars* bars, const double* x, double reach) {
  ASSERT_OK(noli_broad_phase_find(bars->broad_phase, x, x, reach, NULL, &bars->candidates));
  ASSERT_OK(noli_contact_set_build(&bars->set, bars->context,
                                   &(NoliColliders){.surface = bars->surface}, x, &bars->candidates,
                                   x, DHAT, 1));
}

static void bars_done(Bars* bars) {
  noli_contact_set_free(bars->context, &bars->set);
  noli_candidates_free(bars->context, &bars->candidates);
  noli_broad_phase_destroy(&bars->broad_phase);
  noli_surface_destroy(bars->context, &bars->surface);
  test_context_done(&bars->context);
}

// The force by which the first body is pushed up, for kappa = 1.
static double push(const Bars* bars, const double* x, int32_t n_first, int32_t n_vert) {
  double force[3 * 16] = {0.0}, up = 0.0;
  const NoliBarrier barrier = {.set = &bars->set, .dhat_sqr = DHAT * DHAT, .kappa = 1.0};
  assert_true(n_vert <= 16);
  noli_contact_forces(&barrier, x, 1.0, force);
  for (int32_t i = 0; i < n_first; i++) {
    up += force[3 * i + 1];
  }
  return up;
}

// Two bars of two segments each, the upper one moved along itself, at angles from 1 to none: the
// push never fades, and grows as the gap falls.
static void parallel_bars_push_each_other(void** state) {
  (void)state;
  static const int32_t vert_first[3] = {0, 3, 6}, edge[4] = {0, 1, 1, 2};
  const NoliSurfaceParts parts[2] = {{.n_edge = 2, .edge = edge}, {.n_edge = 2, .edge = edge}};
  const double offsets[] = {0.0, 3.0 * DHAT}, angles[] = {0.0, 1e-12, 1e-6, 1e-3, 0.03, 1.0};
  for (int o = 0; o < 2; o++) {
    Bars bars = bars_new(2, vert_first, parts);
    ASSERT_OK(noli_surface_set_offsets(bars.context, bars.surface,
                                       (const double[]){offsets[o], offsets[o]}));
    for (size_t a = 0; a < sizeof angles / sizeof *angles; a++) {
      double before = 0.0;
      for (double gap = 0.5 * DHAT; gap > 1e-6 * DHAT; gap *= 0.5) {
        double c = cos(angles[a]), s = sin(angles[a]), y = 2.0 * offsets[o] + gap;
        const double x[18] = {-0.7 * c, y, -0.7 * s, 0.3 * c, y, 0.3 * s, 1.3 * c, y, 1.3 * s,
                              -1.0,     0, 0,        0.0,     0, 0,       1.0,     0, 0};
        bars_build(&bars, x, DHAT);
        double now = push(&bars, x, 3, 6);
        // a vertex at the gap is pushed by at least kappa (-b'(g^2)) 2 g
        ASSERT_AT_LEAST(now, -noli_barrier_first(gap * gap, DHAT * DHAT) * 2.0 * gap *
                                 (angles[a] < 0.5 ? 1.0 : 0.9));
        ASSERT_AT_LEAST(now, 1.2 * before);
        before = now;
      }
    }
    bars_done(&bars);
  }
}

static bool has(const int32_t* edge, int32_t v) {
  return edge[0] == v || edge[1] == v;
}

// Whether an edge is one of a triangle.
static bool is_covered(const NoliSurface* surface, int32_t e) {
  const int32_t* edge = surface->edge + 2 * e;
  for (int32_t t = 0; t < surface->n_tri; t++) {
    int n = 0;
    for (int k = 0; k < 3; k++) {
      n += has(edge, surface->tri[3 * t + k]);
    }
    if (n == 2) {
      return true;
    }
  }
  return false;
}

// A vertex and an edge are a pair if some edge with this vertex and the other one are a candidate,
// and neither belongs to a triangle.
static bool expect_pair(const Bars* bars, int32_t v, int32_t e) {
  const NoliSurface* surface = bars->surface;
  for (int64_t i = 0; i < bars->candidates.edge_edge.count; i++) {
    NoliPrimitivePair pair = bars->candidates.edge_edge.data[i];
    int32_t f = pair.a == e ? pair.b : pair.b == e ? pair.a : NOLI_NULL_INDEX;
    const int32_t* of_f = f >= 0 ? surface->edge + 2 * f : NULL;
    if (f >= 0 && has(of_f, v) && of_f[0] != of_f[1] &&
        surface->edge[2 * e] != surface->edge[2 * e + 1] && !is_covered(surface, e) &&
        !is_covered(surface, f)) {
      return true;
    }
  }
  return false;
}

// A net of rods, a body with a triangle and a tail, a lone point: every end of a segment with every
// other segment once, whichever segment brings it; and none in planes alone.
static void every_end_is_listed_once(void** state) {
  (void)state;
  enum { N_VERT = 9 + 5 + 1 };
  static const int32_t vert_first[4] = {0, 9, 14, 15}, tri[3] = {0, 1, 2}, point[1] = {0},
                       tail[6] = {0, 2, 2, 3, 3, 4}, net[24] = {0, 1, 1, 2, 3, 4, 4, 5, 6, 7, 7, 8,
                                                                0, 3, 3, 6, 1, 4, 4, 7, 2, 5, 5, 8};
  const NoliSurfaceParts parts[3] = {{.n_edge = 12, .edge = net},
                                     {.n_tri = 1, .tri = tri, .n_edge = 3, .edge = tail},
                                     {.n_point = 1, .point = point, .points_are_edges = true}};
  TestRandom random = {731};
  Bars bars = bars_new(3, vert_first, parts);
  NoliPointEdges pairs = {0};
  int n_found = 0;
  for (int k = 0; k < 40; k++) {
    double x[3 * N_VERT];
    for (int i = 0; i < 3 * N_VERT; i++) {
      x[i] = test_random(&random, -1.0, 1.0);
    }
    // all pairs are candidates: a pair must not depend on which segments come near
    bars_build(&bars, x, 4.0);
    ASSERT_OK(noli_point_edges_find(&pairs, bars.context, bars.surface, NOLI_POINT_EDGES_ALL,
                                    &bars.candidates));
    int64_t next = 0;
    for (int32_t v = 0; v < N_VERT; v++) {
      for (int32_t e = 0; e < bars.surface->n_edge; e++) {
        if (expect_pair(&bars, v, e)) {
          assert_true(next < pairs.pair.count && pairs.pair.data[next].a == v &&
                      pairs.pair.data[next].b == e);
          next++;
        }
      }
    }
    assert_true(next == pairs.pair.count);
    n_found += (int)next;
    ASSERT_OK(noli_point_edges_find(&pairs, bars.context, bars.surface, NOLI_POINT_EDGES_IN_PLANES,
                                    &bars.candidates));
    assert_true(pairs.pair.count == 0);
  }
  assert_true(n_found > 4000);
  noli_point_edges_free(bars.context, &pairs);
  bars_done(&bars);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parallel_bars_push_each_other),
      cmocka_unit_test(every_end_is_listed_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
