// Weights of convergent contact: flat parts do not depend on triangles, energies are those of the
// definition by inclusion and exclusion, smooth, and infinite where surfaces touch.
#include "contact/random_patch.h"

#include "contact/contact_set.h"
#include "contact/convergent.h"
#include "contact/crossing.h"
#include "contact/ipc.h"

// A tetrahedron, body 0, and a random patch of a grid, body 1; both deform.
#define DHAT 0.8
#define AREA0 0.3
#define SHARE 0.375 // of vertices between bodies

typedef struct Patch {
  NoliContext* context;
  double x[3 * N_VERT];
  int32_t tri[6 * GRID * GRID];
  int32_t n_tri;
  PatchFrame frame;
  NoliSurface* surface;
  NoliCandidates candidates;
  NoliSampling sampling;
  double area[N_VERT];
  double* edge_size;
  double softness[2];
  bool still[2];
  NoliConvergent convergent;
  NoliContactSet set;
} Patch;

static NoliVec3 place(const Patch* patch, double a, double b, double height) {
  return patch_place(&patch->frame, a, b, height);
}

static void set_weights(Patch* patch) {
  NoliSurface* s = patch->surface;
  patch->sampling.facet = calloc((size_t)(s->n_tri + s->n_edge), sizeof(double));
  for (int32_t t = 0; t < s->n_tri; t++) {
    patch->sampling.facet[t] = 0.01;
  }
  ASSERT_OK(noli_sampling_list_facets(patch->context, s, &patch->sampling));
  for (int32_t v = 0; v < N_VERT; v++) {
    patch->area[v] = AREA0 + 0.01 * v;
  }
  patch->edge_size = calloc((size_t)s->n_edge, sizeof(double));
  for (int32_t e = 0; e < s->n_edge; e++) {
    patch->edge_size[e] = 0.8;
  }
  patch->softness[0] = patch->softness[1] = (double)INFINITY;
  patch->convergent = (NoliConvergent){.sampling = &patch->sampling,
                                       .still = patch->still,
                                       .area = patch->area,
                                       .edge_size = patch->edge_size,
                                       .softness = patch->softness,
                                       .guard = 0.5};
}

static void make_patch(Patch* patch, const PatchDef* def, TestRandom* random) {
  *patch = (Patch){.context = test_context(1)};
  noli_contact_set_init(&patch->set);
  patch->n_tri = patch_make(def, random, &patch->frame, patch->x, patch->tri);
  for (int32_t v = 0; v < BODY; v++) {
    noli_store3(patch->x + 3 * v, place(patch, 2.0 + (v == 1), 2.0 + (v == 2), 3.0 + (v == 3)));
  }
  const int32_t first[3] = {0, BODY, N_VERT};
  NoliSurfaceParts parts[2] = {{.n_tri = 4, .tri = patch_tetrahedron},
                               {.n_tri = patch->n_tri, .tri = patch->tri}};
  ASSERT_OK(noli_surface_create(patch->context, 2, first, parts, &patch->surface));
  set_weights(patch);
}

static void free_patch(Patch* patch) {
  free(patch->edge_size);
  free(patch->sampling.facet);
  patch->sampling.facet = NULL;
  noli_sampling_free(patch->context, &patch->sampling);
  noli_contact_set_free(patch->context, &patch->set);
  noli_array_free(patch->context, &patch->candidates.point_triangle);
  noli_array_free(patch->context, &patch->candidates.edge_edge);
  noli_surface_destroy(patch->context, &patch->surface);
  test_context_done(&patch->context);
}

// All pairs that share no vertex, of vertex `only` with triangles unless it is NOLI_NULL_INDEX.
static NoliStatus list_pairs(Patch* patch, int32_t only) {
  NoliStatus status = NOLI_OK;
  const NoliSurface* s = patch->surface;
  NoliContext* context = patch->context;
  patch->candidates.point_triangle.count = patch->candidates.edge_edge.count = 0;
  for (int32_t i = 0; i < s->n_point; i++) {
    for (int32_t t = 0; t < s->n_tri; t++) {
      int32_t p = s->point[i];
      const int32_t* tri = s->tri + 3 * t;
      bool shares = tri[0] == p || tri[1] == p || tri[2] == p;
      if (!shares && (only == NOLI_NULL_INDEX || p == only)) {
        NOLI_PUSH(context, &patch->candidates.point_triangle, ((NoliPrimitivePair){p, t}));
      }
    }
  }
  for (int32_t a = 0; a < s->n_edge && only == NOLI_NULL_INDEX; a++) {
    for (int32_t b = a + 1; b < s->n_edge; b++) {
      const int32_t *e = s->edge + 2 * a, *f = s->edge + 2 * b;
      if (e[0] != f[0] && e[0] != f[1] && e[1] != f[0] && e[1] != f[1]) {
        NOLI_PUSH(context, &patch->candidates.edge_edge, ((NoliPrimitivePair){a, b}));
      }
    }
  }
done:
  return status;
}

static double energy(Patch* patch, const double* x, bool convergent) {
  const NoliColliders colliders = {.surface = patch->surface,
                                   .convergent = convergent ? &patch->convergent : NULL};
  ASSERT_OK(noli_contact_set_build(&patch->set, patch->context, &colliders, patch->x,
                                   &patch->candidates, x, DHAT, 1));
  assert_null(noli_contact_set_defect(&patch->set, N_VERT));
  const NoliBarrier barrier = {.set = &patch->set, .dhat_sqr = DHAT * DHAT, .kappa = 1.0};
  return noli_barrier_energy(&barrier, x, 1);
}

static double energy_here(Patch* patch) {
  return energy(patch, patch->x, true);
}

// The physical barrier at a squared distance, m.
static double barrier(double d_sqr) {
  return noli_barrier(d_sqr, DHAT * DHAT) / (DHAT * DHAT * DHAT);
}

static double feature_sqr(const Patch* patch, int32_t p, int32_t n, const int32_t* vertex) {
  NoliVec3 y[4] = {noli_load3(patch->x + 3 * p)};
  for (int32_t k = 0; k < n; k++) {
    y[1 + k] = noli_load3(patch->x + 3 * vertex[k]);
  }
  return noli_norm_sqr3(n == 1   ? noli_sub3(y[0], y[1])
                        : n == 2 ? noli_closest_vector_point_edge(y)
                                 : noli_closest_vector_point_triangle(y));
}

static double distance_sqr(const Patch* patch, int32_t p) {
  double least = (double)INFINITY;
  for (int32_t t = 0; t < patch->surface->n_tri; t++) {
    const int32_t* tri = patch->surface->tri + 3 * t;
    if (tri[0] != p && tri[1] != p && tri[2] != p) {
      least = noli_smaller(least, feature_sqr(patch, p, 3, tri));
    }
  }
  return least;
}

// ---- planes -------------------------------------------------------------------------------------

// Puts vertex 0 near the patch: anywhere, above a vertex, or above an edge.
static void put_vertex(Patch* patch, TestRandom* random, double height) {
  double kind = test_random(random, 0, 3);
  NoliVec3 p =
      place(patch, test_random(random, 1.0, GRID - 1.0), test_random(random, 1.0, GRID - 1.0), 0.0);
  const int32_t* t = patch->tri + 3 * (int32_t)test_random(random, 0, patch->n_tri);
  NoliVec3 q = noli_load3(patch->x + 3 * (BODY + t[0]));
  NoliVec3 r = noli_load3(patch->x + 3 * (BODY + t[1]));
  if (kind < 2.0) {
    p = noli_mul_add3(q, kind < 1.0 ? 0.0 : test_random(random, 0, 1), noli_sub3(r, q));
  }
  noli_store3(patch->x, noli_mul_add3(p, height, patch->frame.normal));
}

// At a plane of any triangles the energy is that of the height, and the force points along the
// normal; with the sum over all pairs it is up to six times that.
static void planes_have_no_edges(void** state) {
  (void)state;
  TestRandom random = {5};
  double worst = 0.0, aside = 0.0, most = 0.0;
  for (int k = 0; k < 40; k++) {
    Patch patch;
    make_patch(&patch, &(PatchDef){.turned = true, .jitter = 0.3}, &random);
    ASSERT_OK(list_pairs(&patch, 0));
    for (int i = 0; i < 100; i++) {
      double height = test_random(&random, 1e-3, DHAT), force[3 * N_VERT] = {0.0};
      put_vertex(&patch, &random, height);
      double want = SHARE * patch.area[0] * barrier(height * height), got = energy_here(&patch);
      worst = noli_larger(worst, fabs(got - want) / (want + 1e-9));
      const NoliBarrier data = {.set = &patch.set, .dhat_sqr = DHAT * DHAT, .kappa = 1.0};
      noli_contact_forces(&data, patch.x, 1.0, force);
      NoliVec3 f = noli_load3(force);
      double size = noli_norm3(f);
      if (size > 1e-6) {
        aside = noli_larger(aside, noli_norm3(noli_cross3(f, patch.frame.normal)) / size);
      }
      most = noli_larger(most, energy(&patch, patch.x, false) /
                                   noli_barrier(height * height, DHAT * DHAT));
    }
    free_patch(&patch);
  }
  print_message("planes: energy off by %.2g, force aside by %.2g; with all pairs %.3g times\n",
                worst, aside, most);
  ASSERT_AT_MOST(worst, 1e-8);
  ASSERT_AT_MOST(aside, 1e-8);
  ASSERT_AT_LEAST(most, 3.0);
}

// ---- the definition -----------------------------------------------------------------------------

// Inclusion and exclusion by its definition: c = 1 of triangles, 1 - the sum of c of what contains
// it for edges, then for vertices.
static double energy_of_vertex(const Patch* patch, int32_t p) {
  const NoliSurface* s = patch->surface;
  double sum = 0.0;
  int32_t of_edge[3 * 6 * GRID * GRID] = {0}, n_of[N_VERT] = {0}, c_of[N_VERT] = {0};
  for (int32_t t = 0; t < s->n_tri; t++) {
    const int32_t* tri = s->tri + 3 * t;
    if (tri[0] == p || tri[1] == p || tri[2] == p) {
      continue;
    }
    sum += barrier(feature_sqr(patch, p, 3, tri));
    for (int k = 0; k < 3; k++) {
      of_edge[noli_surface_edge(s, s->body[tri[0]], tri[k], tri[(k + 1) % 3])]++;
      n_of[tri[k]]++;
      c_of[tri[k]]++;
    }
  }
  for (int32_t e = 0; e < s->n_edge; e++) {
    if (of_edge[e] > 0) {
      sum += (1 - of_edge[e]) * barrier(feature_sqr(patch, p, 2, s->edge + 2 * e));
      c_of[s->edge[2 * e]] += 1 - of_edge[e];
      c_of[s->edge[2 * e + 1]] += 1 - of_edge[e];
    }
  }
  for (int32_t v = 0; v < N_VERT; v++) {
    if (n_of[v] > 0) {
      sum += (1 - c_of[v]) * barrier(feature_sqr(patch, p, 1, &v));
    }
  }
  return SHARE * patch->area[p] * sum;
}

// Folded patches with holes and branches, and vertices of the patch itself.
static void energies_are_those_of_the_definition(void** state) {
  (void)state;
  TestRandom random = {6};
  double worst = 0.0;
  int64_t n = 0, n_negative = 0;
  for (int k = 0; k < 60; k++) {
    Patch patch;
    make_patch(
        &patch,
        &(PatchDef){.turned = true, .holes = 0.1 * (k % 5), .jitter = 0.3, .fold = 0.3 * (k % 4)},
        &random);
    for (int i = 0; i < 20; i++) {
      const int32_t* t = patch.tri + 3 * (int32_t)test_random(&random, 0, patch.n_tri);
      int32_t p = i % 2 == 0 ? 0 : BODY + t[0];
      put_vertex(&patch, &random, test_random(&random, -DHAT, DHAT));
      ASSERT_OK(list_pairs(&patch, p));
      double want = energy_of_vertex(&patch, p), got = energy_here(&patch);
      worst = noli_larger(worst, fabs(got - want) / (fabs(want) + 1e-6));
      n += want != 0.0 ? 1 : 0;
      for (int64_t c = 0; c < patch.set.contact.count; c++) {
        n_negative += patch.set.contact.data[c].weight < 0.0 ? 1 : 0;
      }
    }
    free_patch(&patch);
  }
  print_message("definition: off by %.2g in %lld energies, %lld negative contacts\n", worst,
                (long long)n, (long long)n_negative);
  ASSERT_AT_LEAST((double)n, 600.0);
  ASSERT_AT_LEAST((double)n_negative, 100.0);
  ASSERT_AT_MOST(worst, 1e-9);
}

// ---- derivatives --------------------------------------------------------------------------------

// All pairs of both bodies, guards included: the gradient against differences of the energy, with
// contacts found at each x, and the Hessian against those of the gradient.
static void gradients_are_those_of_the_energy(void** state) {
  (void)state;
  TestRandom random = {7};
  double worst = 0.0, worst_hessian = 0.0;
  int64_t n_negative = 0, n_parallel = 0;
  for (int k = 0; k < 200; k++) {
    Patch patch;
    make_patch(&patch, &(PatchDef){.turned = true, .holes = 0.2, .jitter = 0.3, .fold = 0.4},
               &random);
    double height = test_random(&random, 0.1, 0.6), force[3 * N_VERT] = {0.0}, p[3 * N_VERT];
    for (int32_t v = 0; v < BODY; v++) {
      noli_store3(patch.x + 3 * v,
                  place(&patch, test_random(&random, 1, 4), test_random(&random, 1, 4),
                        height + test_random(&random, 0.0, 0.5)));
    }
    // every second one has an edge that is nearly parallel to one of the patch
    const int32_t* t = patch.tri + 3 * (int32_t)test_random(&random, 0, patch.n_tri);
    for (int32_t v = 0; v < 2 && k % 2 == 1; v++) {
      NoliVec3 above = noli_load3(patch.x + 3 * (BODY + t[v]));
      above = noli_mul_add3(above, 0.2 + test_random(&random, 0.0, 0.01), patch.frame.normal);
      above = noli_mul_add3(above, test_random(&random, -0.01, 0.01), patch.frame.u);
      noli_store3(patch.x + 3 * v, above);
    }
    ASSERT_OK(list_pairs(&patch, NOLI_NULL_INDEX));
    if (!isfinite(energy_here(&patch)) || patch.set.min_gap_sqr < 1e-4) {
      free_patch(&patch);
      continue;
    }
    double along = 0.0, plus[3 * N_VERT], minus[3 * N_VERT], step = 1e-6;
    const NoliBarrier data = {.set = &patch.set, .dhat_sqr = DHAT * DHAT, .kappa = 1.0};
    noli_contact_forces(&data, patch.x, -1.0, force);
    double size = 0.0;
    for (int i = 0; i < 3 * N_VERT; i++) {
      p[i] = test_random(&random, -1, 1);
      plus[i] = patch.x[i] + step * p[i];
      minus[i] = patch.x[i] - step * p[i];
      along += force[i] * p[i];
      size += fabs(force[i]);
    }
    // the Hessian of all contacts, p . H p
    const NoliEnergyTerm term = noli_barrier_term(&data);
    double curvature = 0.0, least = (double)INFINITY;
    for (int64_t i = 0; i < term.n_stencil; i++) {
      double blocks[90], projected[90], q[12] = {0.0}, by = 0.0, by_projected = 0.0;
      term.evaluate(&data, patch.x, i, i + 1, NOLI_EVAL_HESSIAN, &(NoliLocal){.hessian = blocks});
      term.evaluate(&data, patch.x, i, i + 1, NOLI_EVAL_PROJECTED,
                    &(NoliLocal){.hessian = projected});
      for (int c = 0; c < 12; c++) {
        int32_t node = term.node[4 * i + c / 3];
        q[c] = node != NOLI_NULL_INDEX ? p[3 * node + c % 3] : 0.0;
      }
      for (int a = 0; a < 4; a++) {
        for (int b = a; b < 4; b++) {
          for (int e = 0; e < 9; e++) {
            double product = (a == b ? 1.0 : 2.0) * q[3 * a + e / 3] * q[3 * b + e % 3];
            int at = 9 * noli_stencil_block(4, a, b) + e;
            by += product * blocks[at];
            by_projected += product * projected[at];
          }
        }
      }
      curvature += by;
      least = noli_smaller(least, by_projected / (fabs(by) + 1.0));
      n_negative += patch.set.contact.data[i].weight < 0.0 ? 1 : 0;
      n_parallel += patch.set.contact.data[i].crossing ? 1 : 0;
    }
    ASSERT_AT_LEAST(least, -1e-9);
    double after = energy(&patch, plus, true), before = energy(&patch, minus, true);
    worst = noli_larger(worst, fabs((after - before) / (2.0 * step) - along) / size);
    double change = 0.0, forces[2][3 * N_VERT] = {{0.0}};
    (void)energy(&patch, plus, true);
    noli_contact_forces(&data, plus, -1.0, forces[0]);
    (void)energy(&patch, minus, true);
    noli_contact_forces(&data, minus, -1.0, forces[1]);
    for (int i = 0; i < 3 * N_VERT; i++) {
      change += (forces[0][i] - forces[1][i]) * p[i] / (2.0 * step);
    }
    worst_hessian = noli_larger(worst_hessian, fabs(change - curvature) / (fabs(curvature) + size));
    free_patch(&patch);
  }
  print_message("gradient off by %.2g, Hessian by %.2g, %lld negative and %lld parallel contacts\n",
                worst, worst_hessian, (long long)n_negative, (long long)n_parallel);
  ASSERT_AT_LEAST((double)n_negative, 1000.0);
  ASSERT_AT_LEAST((double)n_parallel, 20.0);
  ASSERT_AT_MOST(worst, 1e-6);
  ASSERT_AT_MOST(worst_hessian, 1e-3);
}

// Two edges count where they cross, with the area of a crossing, and not where one ends.
static void edges_count_where_they_cross(void** state) {
  (void)state;
  TestRandom random = {9};
  const double dhat = 0.05;
  int64_t n_crossing = 0, n_end = 0;
  for (int k = 0; k < 300; k++) {
    double angle = test_random(&random, 0.3, 2.8), d = test_random(&random, 0.01, 0.04), sum = 0.0;
    double s = test_random(&random, -0.8, 0.8), t = test_random(&random, -0.8, 0.8);
    NoliVec3 along = {cos(angle), sin(angle), 0.0};
    // edges of length 1 whose lines are closest at s and t from their middles
    const NoliVec3 y[4] = {{-0.5 - s, 0, d},
                           {0.5 - s, 0, d},
                           noli_scale3(-0.5 - t, along),
                           noli_scale3(0.5 - t, along)};
    NoliCrossingPart part[NOLI_CROSSING_FEATURES];
    int32_t n = noli_crossing_parts(y, part);
    for (int32_t i = 0; i < n; i++) {
      NoliVec3 z[4] = {{0, 0, 0}};
      for (int32_t v = 0; v < noli_pair_size[part[i].feature.kind]; v++) {
        z[v] = y[part[i].feature.vertex[v]];
      }
      sum += part[i].count * noli_barrier(noli_closest(part[i].feature.kind, z).d_sqr, dhat * dhat);
    }
    double margin = 0.5 - fmax(fabs(s), fabs(t));
    if (margin > dhat / sin(0.3) && margin > 0.0) {
      ASSERT_NEAR(sum, noli_barrier(d * d, dhat * dhat), 1e-20);
      n_crossing++;
    } else if (margin < 0.0 && fmin(fabs(s), fabs(t)) < 0.5 - dhat / sin(0.3)) {
      ASSERT_NEAR(sum, 0.0, 1e-20);
      n_end++;
    } else if (margin < 0.0) {
      // across a corner
      ASSERT_AT_MOST(sum, 1e-20);
      ASSERT_AT_LEAST(sum, -noli_barrier(d * d, dhat * dhat));
    }
  }
  ASSERT_AT_LEAST((double)n_end, 30.0);
  ASSERT_AT_LEAST((double)n_crossing, 30.0);
}

// ---- the barrier --------------------------------------------------------------------------------

// A vertex comes to a point on a face, an edge or at a vertex of a folded patch, from any side: its
// energy is at least that of its distance, but for a finite share.
static void touching_takes_infinite_energy(void** state) {
  (void)state;
  TestRandom random = {8};
  int64_t n = 0;
  double least = (double)INFINITY, flattest = (double)INFINITY;
  for (int k = 0; k < 200; k++) {
    Patch patch;
    make_patch(
        &patch,
        &(PatchDef){.turned = true, .holes = 0.1 * (k % 5), .jitter = 0.3, .fold = 0.3 * (k % 6)},
        &random);
    ASSERT_OK(list_pairs(&patch, 0));
    for (int i = 0; i < 30; i++) {
      const int32_t* t = patch.tri + 3 * (int32_t)test_random(&random, 0, patch.n_tri);
      double a = i % 3 < 2 ? test_random(&random, 0, 1) : 0.0;
      double b = i % 3 < 1 ? test_random(&random, 0, 1.0 - a) : 0.0, before = 0.0;
      NoliVec3 y[3], d = noli_vec3(test_random(&random, -1, 1), test_random(&random, -1, 1),
                                   test_random(&random, -1, 1));
      for (int c = 0; c < 3; c++) {
        y[c] = noli_load3(patch.x + 3 * (BODY + t[c]));
      }
      NoliVec3 at =
          noli_mul_add3(noli_mul_add3(y[0], a, noli_sub3(y[1], y[0])), b, noli_sub3(y[2], y[0]));
      for (int step = 2; step < 10; step++) {
        noli_store3(patch.x, noli_mul_add3(at, pow(10.0, -step), d));
        double d_sqr = distance_sqr(&patch, 0), got = energy_here(&patch) / (SHARE * patch.area[0]);
        if (d_sqr < 1e-22) {
          break; // along the face
        }
        least = noli_smaller(least, (got - barrier(d_sqr)) / DHAT);
        flattest = step > 4 ? noli_smaller(flattest, got - before) : flattest;
        before = got;
        n++;
      }
    }
    free_patch(&patch);
  }
  print_message(
      "%lld approaches: energy less that of the distance at least %.3g dhat, growth of at "
      "least %.3g dhat in each\n",
      (long long)n, least, flattest / DHAT);
  ASSERT_AT_LEAST((double)n, 20000.0);
  ASSERT_AT_LEAST(least, -1.0);
  ASSERT_AT_LEAST(flattest, 1.0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(planes_have_no_edges),
      cmocka_unit_test(energies_are_those_of_the_definition),
      cmocka_unit_test(gradients_are_those_of_the_energy),
      cmocka_unit_test(edges_count_where_they_cross),
      cmocka_unit_test(touching_takes_infinite_energy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
