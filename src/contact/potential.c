// The barrier potential of a triangle mesh, for users of the library: the mesh is the only body of
// a scene.
#include "noli/barrier.h"

#include "base/parallel.h"
#include "collide/broad_phase.h"
#include "contact/ipc.h"

#include <string.h>

enum { EVALUATE_BLOCK = 256 };

struct NoliBarrierPotential {
  NoliContext* context;
  int32_t n_vert;
  double dhat;
  double* X;
  double* x;
  NoliSurface* surface;
  NoliBroadPhase* broad_phase;
  NoliCandidates candidates;
  NoliContactSet set;
  NOLI_ARRAY(double) local;
  NOLI_ARRAY(NoliTriplet) triplet;
};

static NoliBarrier barrier_of(const NoliBarrierPotential* potential) {
  return (NoliBarrier){
      .set = &potential->set, .dhat_sqr = potential->dhat * potential->dhat, .kappa = 1.0};
}

static NoliStatus potential_check_finite(NoliContext* context, const double* x, int32_t n_vert) {
  NoliStatus status = NOLI_OK;
  for (int32_t i = 0; i < n_vert; i++) {
    const double* p = x + 3 * (int64_t)i;
    NOLI_CHECK(context, noli_is_finite3(noli_load3(p)), NOLI_ERROR_ARGUMENT,
               "barrier potential: vertex %d is not finite: (%g, %g, %g)", i, p[0], p[1], p[2]);
  }
done:
  return status;
}

static NoliStatus make_surface(NoliBarrierPotential* made, const int32_t* tri, int32_t n_tri) {
  NoliStatus status = NOLI_OK;
  const int32_t vert_first[2] = {0, made->n_vert};
  const NoliSurfaceParts parts = {.n_tri = n_tri, .tri = tri};
  NOLI_TRY(noli_surface_create(made->context, 1, vert_first, &parts, &made->surface));
  NOLI_TRY(noli_broad_phase_create(made->context, made->surface, &made->broad_phase));
done:
  return status;
}

NoliStatus noli_barrier_potential_create(NoliContext* context, const double* X, int32_t n_vert,
                                         const int32_t* tri, int32_t n_tri, double dhat,
                                         NoliBarrierPotential** potential) {
  NOLI_REQUIRE(context, context != NULL && X != NULL && potential != NULL);
  NoliStatus status = NOLI_OK;
  NoliBarrierPotential* made = NULL;
  *potential = NULL;
  NOLI_CHECK(context, n_vert > 0 && n_tri >= 0, NOLI_ERROR_ARGUMENT,
             "barrier potential: %d vertices and %d triangles", n_vert, n_tri);
  NOLI_CHECK(context, dhat > 0.0 && isfinite(dhat), NOLI_ERROR_ARGUMENT,
             "barrier potential: dhat must be positive and finite, got %g", dhat);
  NOLI_NEW_ZERO(context, made, 1);
  made->context = context;
  made->n_vert = n_vert;
  made->dhat = dhat;
  noli_contact_set_init(&made->set);
  NOLI_TRY(potential_check_finite(context, X, n_vert));
  NOLI_NEW(context, made->X, 3 * (int64_t)n_vert);
  NOLI_NEW(context, made->x, 3 * (int64_t)n_vert);
  memcpy(made->X, X, 3 * (size_t)n_vert * sizeof *X);
  NOLI_TRY(make_surface(made, tri, n_tri));
  *potential = made;
  made = NULL;
done:
  noli_barrier_potential_destroy(&made);
  return status;
}

void noli_barrier_potential_destroy(NoliBarrierPotential** potential) {
  if (potential == NULL || *potential == NULL) {
    return;
  }
  NoliBarrierPotential* old = *potential;
  NoliContext* context = old->context;
  noli_array_free(context, &old->triplet);
  noli_array_free(context, &old->local);
  noli_contact_set_free(context, &old->set);
  noli_array_free(context, &old->candidates.point_triangle);
  noli_array_free(context, &old->candidates.edge_edge);
  noli_broad_phase_destroy(&old->broad_phase);
  noli_surface_destroy(context, &old->surface);
  noli_free(context, old->x);
  noli_free(context, old->X);
  noli_free(context, old);
  *potential = NULL;
}

NoliStatus noli_barrier_potential_update(NoliBarrierPotential* potential, const double* x) {
  NOLI_REQUIRE(potential != NULL ? potential->context : NULL, potential != NULL && x != NULL);
  NoliStatus status = NOLI_OK;
  NoliContext* context = potential->context;
  const NoliColliders colliders = {.surface = potential->surface};
  NOLI_TRY(potential_check_finite(context, x, potential->n_vert));
  memcpy(potential->x, x, 3 * (size_t)potential->n_vert * sizeof *x);
  NOLI_TRY(noli_broad_phase_find(potential->broad_phase, potential->x, potential->x,
                                 potential->dhat, NULL, &potential->candidates));
  NOLI_TRY(noli_contact_set_build(&potential->set, context, &colliders, potential->X,
                                  &potential->candidates, potential->x, potential->dhat,
                                  noli_context_threads(context)));
done:
  return status;
}

int64_t noli_barrier_potential_pairs(const NoliBarrierPotential* potential) {
  if (potential == NULL) {
    return 0;
  }
  return potential->set.n_primitive_pairs;
}

double noli_barrier_potential_min_distance(const NoliBarrierPotential* potential) {
  if (potential == NULL) {
    return 0.0;
  }
  return noli_contact_set_min_distance(&potential->set);
}

double noli_barrier_potential_value(const NoliBarrierPotential* potential) {
  if (potential == NULL) {
    return 0.0;
  }
  const NoliBarrier barrier = barrier_of(potential);
  return noli_barrier_energy(&barrier, potential->x, noli_context_threads(potential->context));
}

void noli_barrier_potential_gradient(const NoliBarrierPotential* potential, double* gradient) {
  if (potential == NULL || gradient == NULL) {
    return;
  }
  const NoliBarrier barrier = barrier_of(potential);
  memset(gradient, 0, 3 * (size_t)potential->n_vert * sizeof *gradient);
  noli_contact_forces(&barrier, potential->x, -1.0, gradient);
}

typedef struct HessianJob {
  const NoliEnergyTerm* term;
  const double* x;
  unsigned what;
  NoliLocal out;
} HessianJob;

static void evaluate_range(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const HessianJob* job = user;
  const NoliLocal out = noli_local_at(&job->out, job->term->size, begin);
  job->term->evaluate(job->term->data, job->x, begin, end, job->what, &out);
}

// Both triangles of the symmetric matrix of one contact.
static void append_triplets(NoliBarrierPotential* potential, const int32_t* node,
                            const double* blocks) {
  for (int a = 0; a < 4 && node[a] != NOLI_NULL_INDEX; a++) {
    for (int b = a; b < 4 && node[b] != NOLI_NULL_INDEX; b++) {
      const double* block = blocks + 9 * noli_stencil_block(4, a, b);
      for (int e = 0; e < 9; e++) {
        int32_t row = 3 * node[a] + e / 3, column = 3 * node[b] + e % 3;
        NoliTriplet* out = potential->triplet.data + potential->triplet.count;
        out[0] = (NoliTriplet){row, column, block[e]};
        potential->triplet.count++;
        if (a != b) {
          out[1] = (NoliTriplet){column, row, block[e]};
          potential->triplet.count++;
        }
      }
    }
  }
}

NoliStatus noli_barrier_potential_hessian(NoliBarrierPotential* potential, bool projected,
                                          const NoliTriplet** triplets, int64_t* n_triplets) {
  NOLI_REQUIRE(potential != NULL ? potential->context : NULL,
               potential != NULL && triplets != NULL && n_triplets != NULL);
  NoliStatus status = NOLI_OK;
  NoliContext* context = potential->context;
  const NoliBarrier barrier = barrier_of(potential);
  const NoliEnergyTerm term = noli_barrier_term(&barrier);
  NOLI_CHECK(context, potential->n_vert <= INT32_MAX / 3, NOLI_ERROR_TOO_LARGE,
             "barrier potential: %d vertices have too many rows for a 32-bit index",
             potential->n_vert);
  NOLI_TRY(noli_array_reserve(context, &potential->local, 90 * term.n_stencil));
  NOLI_TRY(noli_array_reserve(context, &potential->triplet, 144 * term.n_stencil));
  HessianJob job = {.term = &term,
                    .x = potential->x,
                    .what = projected ? NOLI_EVAL_PROJECTED : NOLI_EVAL_HESSIAN,
                    .out = {.hessian = potential->local.data}};
  noli_parallel_for(noli_context_threads(context), term.n_stencil, EVALUATE_BLOCK, evaluate_range,
                    &job);
  potential->triplet.count = 0;
  for (int64_t i = 0; i < term.n_stencil; i++) {
    append_triplets(potential, term.node + 4 * i, potential->local.data + 90 * i);
  }
  *triplets = potential->triplet.data;
  *n_triplets = potential->triplet.count;
done:
  return status;
}
