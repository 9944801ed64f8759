// Contact in a plane: the barrier's energy is the sum over vertices and edges, each pair once.
#include "support.h"

#include "collide/brute_force.h"
#include "contact/contact_set.h"
#include "contact/ipc.h"

enum { N = 12 };

// Two rough rings of N vertices around (0, 0) and (2 + gap, 0).
static NoliSurface* two_rings(NoliContext* context, TestRandom* random, double gap,
                              double x[6 * N]) {
  int32_t edge[2 * N];
  NoliSurfaceParts parts[2];
  NoliSurface* surface = NULL;
  for (int32_t i = 0; i < N; i++) {
    edge[2 * i] = i;
    edge[2 * i + 1] = (i + 1) % N;
    for (int b = 0; b < 2; b++) {
      double angle = 6.283185307179586 * i / N, r = 1.0 + test_random(random, -0.1, 0.1);
      double* at = x + 3 * (b * N + i);
      at[0] = b * (2.0 + gap) + r * cos(angle);
      at[1] = r * sin(angle);
      at[2] = 0.25;
    }
  }
  parts[0] = parts[1] = (NoliSurfaceParts){.n_edge = N, .edge = edge, .planar = true};
  ASSERT_OK(noli_surface_create(context, 2, (int32_t[]){0, N, 2 * N}, parts, &surface));
  return surface;
}

static double sum_over_pairs(const NoliSurface* surface, const double* x, double dhat,
                             int64_t* n_pairs) {
  double sum = 0.0;
  *n_pairs = 0;
  for (int32_t p = 0; p < surface->n_point; p++) {
    for (int32_t e = 0; e < surface->n_edge; e++) {
      int32_t v = surface->point[p];
      const int32_t* edge = surface->edge + 2 * e;
      if (v == edge[0] || v == edge[1]) {
        continue;
      }
      NoliVec3 a = noli_load3(x + 3 * edge[0]), r = noli_sub3(noli_load3(x + 3 * v), a);
      NoliVec3 along = noli_sub3(noli_load3(x + 3 * edge[1]), a);
      double t = fmin(fmax(noli_dot3(r, along) / noli_norm_sqr3(along), 0.0), 1.0);
      double d_sqr = noli_norm_sqr3(noli_mul_add3(r, -t, along));
      if (d_sqr < dhat * dhat) {
        double ratio = d_sqr / (dhat * dhat);
        sum -= (d_sqr - dhat * dhat) * (d_sqr - dhat * dhat) * log(ratio);
        (*n_pairs)++;
      }
    }
  }
  return sum;
}

static double energy_of_set(const NoliContactSet* set, const double* x, double dhat) {
  NoliBarrier barrier = {.set = set, .dhat_sqr = dhat * dhat, .kappa = 1.0};
  double *energy = calloc((size_t)set->contact.count + 1, sizeof *energy), sum = 0.0;
  NoliEnergyTerm term = noli_barrier_term(&barrier);
  term.evaluate(term.data, x, 0, set->contact.count, NOLI_EVAL_ENERGY,
                &(NoliLocal){.energy = energy});
  for (int64_t i = 0; i < set->contact.count; i++) {
    sum += energy[i];
  }
  free(energy);
  return sum;
}

static void energy_is_the_sum_over_vertices_and_edges(void** state) {
  (void)state;
  NoliContext* context = test_context(2);
  TestRandom random = {12};
  int64_t n_points = 0, n_edges = 0;
  for (int k = 0; k < 60; k++) {

    // two random rings
    double x[6 * N], dhat = 0.6;
    NoliSurface* surface = two_rings(context, &random, test_random(&random, 0.21, 0.5), x);
    NoliCandidates candidates = {0};
    NoliContactSet set;
    noli_contact_set_init(&set);
    ASSERT_OK(brute_force_find(context, surface, x, x, dhat, NULL, &candidates));
    ASSERT_OK(noli_contact_set_build(&set, context, &(NoliColliders){.surface = surface}, x,
                                     &candidates, x, dhat, 2));

    // compare with the sum over pairs
    int64_t n_pairs;
    double want = sum_over_pairs(surface, x, dhat, &n_pairs);
    assert_int_equal(set.n_primitive_pairs, n_pairs);
    ASSERT_NEAR(energy_of_set(&set, x, dhat), want, 1e-12 * want);
    for (int64_t i = 0; i < set.contact.count; i++) {
      n_points += set.contact.data[i].kind == NOLI_PAIR_POINT_POINT;
      n_edges += set.contact.data[i].kind == NOLI_PAIR_POINT_EDGE;
      assert_true(set.contact.data[i].kind <= NOLI_PAIR_POINT_EDGE);
    }
    noli_contact_set_free(context, &set);
    noli_candidates_free(context, &candidates);
    noli_surface_destroy(context, &surface);
  }

  // enough of both kinds
  print_message("%lld pairs of vertices, %lld of vertices and edges\n", (long long)n_points,
                (long long)n_edges);
  assert_true(n_points > 100 && n_edges > 100);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(energy_is_the_sum_over_vertices_and_edges),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
