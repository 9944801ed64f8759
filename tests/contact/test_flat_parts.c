// Triangles of an obstacle that lie in one plane count as one plane (collide/flat.h), whatever the
// mesh; and every way to distance zero still meets a barrier.
#include "collide/pair_tables.h"
#include "contact/random_patch.h"
#include "contact/contact_set.h"
#include "contact/ipc.h"

#include "collide/flat.h"

// A tetrahedron, body 0, and a random patch of an n x n grid, body 1.
#define DHAT 0.8

typedef struct Patch {
  NoliContext* context;
  double x[3 * N_VERT];
  int32_t tri[6 * GRID * GRID];
  int32_t n_tri;
  PatchFrame frame;
  NoliSurface* surface;
  NoliCandidates candidates;
  NoliContactSet set;
} Patch;

static NoliVec3 place(const Patch* patch, double a, double b, double height) {
  return patch_place(&patch->frame, a, b, height);
}

static void make_patch(Patch* patch, const PatchDef* def, TestRandom* random) {
  *patch = (Patch){.context = test_context(1)};
  noli_contact_set_init(&patch->set);
  patch->n_tri = patch_make(def, random, &patch->frame, patch->x, patch->tri);
  const int32_t first[3] = {0, BODY, N_VERT};
  NoliSurfaceParts parts[2] = {{.n_tri = 4, .tri = patch_tetrahedron},
                               {.n_tri = patch->n_tri, .tri = patch->tri}};
  ASSERT_OK(noli_surface_create(patch->context, 2, first, parts, &patch->surface));
  ASSERT_OK(
      noli_surface_find_flat(patch->context, patch->surface, (bool[]){false, true}, patch->x));
}

static void free_patch(Patch* patch) {
  noli_contact_set_free(patch->context, &patch->set);
  noli_array_free(patch->context, &patch->candidates.point_triangle);
  noli_array_free(patch->context, &patch->candidates.edge_edge);
  noli_surface_destroy(patch->context, &patch->surface);
  test_context_done(&patch->context);
}

static NoliStatus list_pairs(Patch* patch, int32_t only) {
  NoliStatus status = NOLI_OK;
  const NoliSurface* s = patch->surface;
  NoliContext* context = patch->context;
  patch->candidates.point_triangle.count = patch->candidates.edge_edge.count = 0;
  for (int32_t i = 0; i < s->n_point; i++) {
    for (int32_t t = 0; t < s->n_tri; t++) {
      int32_t p = s->point[i];
      if (s->body[p] != s->body[s->tri[3 * t]] && (only == NOLI_NULL_INDEX || p == only)) {
        NOLI_PUSH(context, &patch->candidates.point_triangle, ((NoliPrimitivePair){p, t}));
      }
    }
  }
  for (int32_t a = s->edge_first[0]; a < s->edge_first[1] && only == NOLI_NULL_INDEX; a++) {
    for (int32_t b = s->edge_first[1]; b < s->edge_first[2]; b++) {
      NOLI_PUSH(context, &patch->candidates.edge_edge, ((NoliPrimitivePair){a, b}));
    }
  }
done:
  return status;
}

static void build(Patch* patch) {
  ASSERT_OK(noli_contact_set_build(&patch->set, patch->context,
                                   &(NoliColliders){.surface = patch->surface}, patch->x,
                                   &patch->candidates, patch->x, DHAT, 1));
}

static NoliBarrier barrier_of(const Patch* patch) {
  return (NoliBarrier){.set = &patch->set, .dhat_sqr = DHAT * DHAT, .kappa = 1.0};
}

// The energy where the set is built there, too.
static double energy_at(Patch* patch) {
  build(patch);
  NoliBarrier barrier = barrier_of(patch);
  return noli_barrier_energy(&barrier, patch->x, 1);
}

// The squared distance of vertex 0 from the patch.
static double distance_sqr(const Patch* patch) {
  double least = (double)INFINITY;
  for (int32_t t = 4; t < patch->surface->n_tri; t++) {
    NoliVec3 y[4] = {noli_load3(patch->x)};
    for (int k = 0; k < 3; k++) {
      y[1 + k] = noli_load3(patch->x + 3 * patch->surface->tri[3 * t + k]);
    }
    least = noli_smaller(least, noli_distance_sqr_point_triangle(y));
  }
  return least;
}

// Puts vertex 0 near the patch: anywhere, above a vertex, or above an edge.
static void put_vertex(Patch* patch, TestRandom* random) {
  double kind = test_random(random, 0, 3), height = test_random(random, 0.001, DHAT);
  NoliVec3 p = place(patch, test_random(random, -0.4, GRID + 0.4),
                     test_random(random, -0.4, GRID + 0.4), 0.0);
  const int32_t* t = patch->tri + 3 * (int32_t)test_random(random, 0, patch->n_tri);
  NoliVec3 q = noli_load3(patch->x + 3 * (BODY + t[0]));
  NoliVec3 r = noli_load3(patch->x + 3 * (BODY + t[1]));
  if (kind < 2.0) {
    double s = kind < 1.0 ? 0.0 : test_random(random, 0, 1);
    p = noli_mul_add3(q, s, noli_sub3(r, q));
  }
  noli_store3(patch->x, noli_mul_add3(p, height, patch->frame.normal));
}

static void a_convex_patch_is_one_plane(void** state) {
  (void)state;
  TestRandom random = {5};
  double worst = 0.0;
  int64_t n = 0;
  for (int k = 0; k < 40; k++) {
    Patch patch;
    make_patch(&patch, &(PatchDef){.jitter = k % 2 == 0 ? 0.0 : 0.3, .turned = k % 4 >= 2},
               &random);
    ASSERT_OK(list_pairs(&patch, 0));
    for (int i = 0; i < 100; i++) {
      put_vertex(&patch, &random);
      double want = noli_barrier(distance_sqr(&patch), DHAT * DHAT), got = energy_at(&patch);
      worst = noli_larger(worst, fabs(got - want) / (want + 1e-6));
      n += want > 0.0 ? 1 : 0;
    }
    free_patch(&patch);
  }
  print_message("a plane of triangles: relative error of the energy %.2g\n", worst);
  ASSERT_AT_LEAST((double)n, 2500.0);
  ASSERT_AT_MOST(worst, 1e-9);
}

// Holes and notches are narrower than the contact distance is wide: the rim may count more often,
// but never less than the distance asks for.
static void rims_never_pull(void** state) {
  (void)state;
  TestRandom random = {6};
  int64_t n = 0, n_more = 0;
  for (int k = 0; k < 60; k++) {
    Patch patch;
    make_patch(&patch, &(PatchDef){.holes = 0.4, .jitter = 0.35, .turned = k % 2 == 0}, &random);
    ASSERT_OK(list_pairs(&patch, 0));
    for (int i = 0; i < 100; i++) {
      put_vertex(&patch, &random);
      double least = noli_barrier(distance_sqr(&patch), DHAT * DHAT), got = energy_at(&patch);
      ASSERT_AT_LEAST(got, least * (1.0 - 1e-9));
      n += least > 0.0 ? 1 : 0;
      n_more += got > 1.001 * least ? 1 : 0;
    }
    free_patch(&patch);
  }
  print_message("rims: %lld of %lld vertices count more than once\n", (long long)n_more,
                (long long)n);
  assert_true(n > 3000 && n_more > 0 && n_more < n / 2);
}

// The gradient is that of the energy with contacts found at each x: the energy has no jumps where
// closest features change. Folds of files are no exception.
static void the_energy_is_smooth(void** state) {
  (void)state;
  TestRandom random = {7};
  double worst = 0.0;
  for (int k = 0; k < 40; k++) {
    Patch patch;
    make_patch(&patch,
               &(PatchDef){.holes = k % 4 == 0 ? 0.3 : 0.0,
                           .jitter = 0.3,
                           .fold = k % 2 == 0 ? 0.0 : 1e-5,
                           .turned = true},
               &random);
    assert_non_null(patch.surface->flat);
    ASSERT_OK(list_pairs(&patch, 0));
    for (int i = 0; i < 50; i++) {
      put_vertex(&patch, &random);
      double force[3 * N_VERT] = {0.0}, step = 1e-6;
      for (int c = 0; c < 3; c++) {
        double x = patch.x[c];
        patch.x[c] = x + step;
        double after = energy_at(&patch);
        patch.x[c] = x - step;
        double before = energy_at(&patch);
        patch.x[c] = x;
        force[c] = (after - before) / (2.0 * step);
      }
      build(&patch);
      NoliBarrier barrier = barrier_of(&patch);
      double size = fabs(force[0]) + fabs(force[1]) + fabs(force[2]) + 1e-4;
      noli_contact_forces(&barrier, patch.x, 1.0, force);
      double error = fabs(force[0]) + fabs(force[1]) + fabs(force[2]);
      // the second derivatives jump: differences across them err by the step times the jump
      worst = noli_larger(worst, error / size * sqrt(distance_sqr(&patch)));
    }
    free_patch(&patch);
  }
  print_message("gradient against differences: %.2g\n", worst);
  ASSERT_AT_MOST(worst, 1e-5);
}

// Whether the segment of two vertices passes through a triangle.
static bool crosses(const Patch* patch, const int32_t edge[2], const int32_t tri[3]) {
  NoliVec3 a = noli_load3(patch->x + 3 * edge[0]), b = noli_load3(patch->x + 3 * edge[1]), t[3];
  for (int k = 0; k < 3; k++) {
    t[k] = noli_load3(patch->x + 3 * tri[k]);
  }
  NoliVec3 n = noli_cross3(noli_sub3(t[1], t[0]), noli_sub3(t[2], t[0]));
  double at_a = noli_dot3(n, noli_sub3(a, t[0])), at_b = noli_dot3(n, noli_sub3(b, t[0]));
  if (at_a * at_b > 0.0) {
    return false;
  }
  NoliVec3 p = noli_mul_add3(a, at_a / (at_a - at_b), noli_sub3(b, a));
  for (int k = 0; k < 3; k++) {
    NoliVec3 e = noli_sub3(t[(k + 1) % 3], t[k]);
    if (noli_dot3(n, noli_cross3(e, noli_sub3(p, t[k]))) < 0.0) {
      return false;
    }
  }
  return true;
}

static bool intersects(const Patch* patch) {
  const NoliSurface* s = patch->surface;
  for (int32_t e = 0; e < s->n_edge; e++) {
    for (int32_t t = 0; t < s->n_tri; t++) {
      if (s->body[s->edge[2 * e]] != s->body[s->tri[3 * t]] &&
          crosses(patch, s->edge + 2 * e, s->tri + 3 * t)) {
        return true;
      }
    }
  }
  return false;
}

// The least distance of all pairs, as in a set that knows of no flat parts.
static double least_gap_sqr(Patch* patch) {
  NoliSurface plain = *patch->surface;
  plain.flat = NULL;
  ASSERT_OK(noli_contact_set_build(&patch->set, patch->context, &(NoliColliders){.surface = &plain},
                                   patch->x, &patch->candidates, patch->x, DHAT, 1));
  return patch->set.min_gap_sqr;
}

// Bodies above the patch, through its holes and over its rim, larger and smaller than its cells:
// the distance of the surfaces is that of a pair that counts.
static void every_way_to_touch_is_seen(void** state) {
  (void)state;
  TestRandom random = {8};
  int64_t n = 0, n_through = 0;
  double worst = 0.0;
  for (int k = 0; k < 300; k++) {
    Patch patch;
    make_patch(&patch, &(PatchDef){.holes = 0.1 * (k % 8), .jitter = 0.3, .turned = k % 3 > 0},
               &random);
    ASSERT_OK(list_pairs(&patch, NOLI_NULL_INDEX));
    for (int i = 0; i < 60 && patch.surface->flat != NULL; i++) {
      double size = 0.2 * pow(40.0, test_random(&random, 0, 1)), low = (double)INFINITY;
      double a = test_random(&random, 0, GRID), b = test_random(&random, 0, GRID), height[BODY];
      for (int v = 0; v < BODY; v++) {
        height[v] = test_random(&random, -size, size);
        low = noli_smaller(low, height[v]);
      }
      // half of them lie on the plane, some nearly parallel to it
      double lift = test_random(&random, 0, 0.2) - low, flatten = i % 4 == 0 ? 1e-3 : 1.0;
      for (int v = 0; v < BODY; v++) {
        double h = i % 2 == 0 ? lift * flatten + flatten * height[v] : height[v];
        noli_store3(patch.x + 3 * v, place(&patch, a + test_random(&random, -size, size),
                                           b + test_random(&random, -size, size), h));
      }
      double want = least_gap_sqr(&patch);
      if (!(want < DHAT * DHAT) || intersects(&patch)) {
        continue;
      }
      build(&patch);
      n++;
      n_through += i % 2 == 1 ? 1 : 0;
      worst = noli_larger(worst, fabs(sqrt(patch.set.min_gap_sqr) - sqrt(want)) / DHAT);
      for (int64_t c = 0; c < patch.set.contact.count; c++) {
        assert_true(patch.set.contact.data[c].weight > 0.0);
      }
    }
    free_patch(&patch);
  }
  print_message("%lld bodies near patches, %lld through holes or over rims: distance off by %.2g\n",
                (long long)n, (long long)n_through, worst);
  assert_true(n > 3000 && n_through > 500);
  ASSERT_AT_MOST(worst, 1e-12);
}

// A fold of half a degree is none of a file: nothing is flat, and the sum is that of all pairs.
static void folds_stay_folds(void** state) {
  (void)state;
  TestRandom random = {9};
  Patch patch;
  make_patch(&patch, &(PatchDef){.fold = 0.05}, &random);
  ASSERT_OK(list_pairs(&patch, NOLI_NULL_INDEX));
  for (int32_t t = 0; patch.surface->flat != NULL && t < patch.surface->n_tri; t++) {
    assert_int_equal(patch.surface->flat->tri[t] & NOLI_FLAT_MEMBER, 0);
  }
  free_patch(&patch);
}

// Where a flat part bends later, the sum is that of all pairs again.
static void what_bends_is_not_flat(void** state) {
  (void)state;
  TestRandom random = {10};
  Patch patch;
  make_patch(&patch, &(PatchDef){.jitter = 0.3}, &random);
  ASSERT_OK(list_pairs(&patch, 0));
  for (int32_t i = 0; i < PATCH; i++) {
    patch.x[3 * (BODY + i) + 1] += test_random(&random, -0.05, 0.05);
  }
  double more = 0.0;
  for (int i = 0; i < 200; i++) {
    put_vertex(&patch, &random);
    double now = energy_at(&patch);
    least_gap_sqr(&patch);
    NoliBarrier barrier = barrier_of(&patch);
    double plain = noli_barrier_energy(&barrier, patch.x, 1);
    // vertices that were added stay so
    ASSERT_AT_LEAST(now, plain * (1.0 - 1e-12));
    more = noli_larger(more, plain);
  }
  assert_true(more > 0.0);
  free_patch(&patch);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_convex_patch_is_one_plane),
      cmocka_unit_test(rims_never_pull),
      cmocka_unit_test(the_energy_is_smooth),
      cmocka_unit_test(every_way_to_touch_is_seen),
      cmocka_unit_test(folds_stay_folds),
      cmocka_unit_test(what_bends_is_not_flat),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
