// The geometric contact potential of a triangle mesh, for users of the library: the mesh is the
// only body of a scene that otherwise contains only half-spaces.
#include "noli/gcp.h"

#include "base/numbers.h"
#include "base/parallel.h"
#include "base/sized.h"
#include "contact/gcp/gcp_support.h"

#include <string.h>

enum { EVALUATE_BLOCK = 16 };

// c of the mollifier, as in [Huang2025] appendix A.
static const double ramp = 0.01;

struct NoliGcpPotential {
  NoliContext* context;
  int32_t n_vert;
  double* x;
  NoliHalfSpace* half_spaces;
  NoliSurface* surface;
  NoliRings* rings;
  NoliBroadPhase* broad_phase;
  NoliGcpModel model;
  NoliGcpSetup setup;
  NoliCandidates candidates;
  NoliGcpSet set;
  NOLI_ARRAY(NoliGcpContact) contact;
  NOLI_ARRAY(double) local;
  NOLI_ARRAY(NoliTriplet) triplet;
};

void noli_gcp_def_init(NoliGcpDef* def, size_t size) {
  NoliGcpDef own = {.alpha = 0.5, .beta = 0.1};
  noli_sized_default(def, size, &own, sizeof own);
}

static NoliStatus check_def(NoliContext* context, const NoliGcpDef* def) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_numbers_check(context, "contact potential: ", NOLI_NUMBERS_GCP_POTENTIAL, def));
  NOLI_CHECK(context, def->n_half_spaces == 0 || def->half_spaces != NULL, NOLI_ERROR_ARGUMENT,
             "contact potential: the half-spaces are missing");
done:
  return status;
}

static NoliStatus gcp_potential_check_finite(NoliContext* context, const double* x,
                                             int32_t n_vert) {
  NoliStatus status = NOLI_OK;
  for (int32_t i = 0; i < n_vert; i++) {
    const double* p = x + 3 * (int64_t)i;
    NOLI_CHECK(context, noli_is_finite3(noli_load3(p)), NOLI_ERROR_ARGUMENT,
               "contact potential: vertex %d is not finite: (%g, %g, %g)", i, p[0], p[1], p[2]);
  }
done:
  return status;
}

static NoliStatus copy_planes(NoliGcpPotential* made, const NoliGcpDef* def) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = made->context;
  NOLI_NEW(context, made->half_spaces, def->n_half_spaces);
  for (int32_t i = 0; i < def->n_half_spaces; i++) {
    const double* p = def->half_spaces + 6 * (int64_t)i;
    made->half_spaces[i] = (NoliHalfSpace){noli_load3(p), noli_load3(p + 3)};
    NOLI_CHECK(context,
               noli_is_finite3(made->half_spaces[i].origin) &&
                   fabs(noli_norm3(made->half_spaces[i].normal) - 1.0) < 1e-9,
               NOLI_ERROR_ARGUMENT,
               "contact potential: half-space %d needs a finite origin and a unit normal, got "
               "(%g, %g, %g)",
               i, p[3], p[4], p[5]);
  }
done:
  return status;
}

static NoliStatus make_model(NoliGcpPotential* made, const NoliGcpDef* def, const double* X,
                             const NoliSurfaceParts* parts) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = made->context;
  const int32_t vert_first[2] = {0, made->n_vert};
  const NoliGcpParameters parameters = {.sharpness = {def->alpha, def->beta},
                                        .eps_target = def->eps_target,
                                        .length = def->length,
                                        .ramp = ramp};
  NOLI_TRY(noli_surface_create(context, 1, vert_first, parts, &made->surface));
  NOLI_TRY(noli_rings_create(context, made->surface, &made->rings));
  NOLI_TRY(noli_rings_require_closed(context, made->rings, 0, X));
  NOLI_TRY(noli_broad_phase_create(context, made->surface, &made->broad_phase));
  NOLI_TRY(noli_gcp_model_init(context, &made->model, &parameters, made->surface, made->rings,
                               made->half_spaces, def->n_half_spaces, X));
  NOLI_TRY(noli_gcp_adapt_support(context, &made->model, made->broad_phase, NULL, X, &made->setup));
  int32_t touching = made->setup.touching;
  const double* x = X + 3 * (int64_t)(touching != NOLI_NULL_INDEX ? touching : 0);
  NOLI_CHECK(context, touching == NOLI_NULL_INDEX, NOLI_ERROR_INTERSECTION,
             "contact potential: surfaces touch in the rest configuration: at vertex %d, (%g, %g, "
             "%g)",
             touching, x[0], x[1], x[2]);
done:
  return status;
}

static NoliStatus gcp_potential_create(NoliContext* context, const NoliGcpDef* given,
                                       const double* X, int32_t n_vert,
                                       const NoliSurfaceParts* parts,
                                       NoliGcpPotential** potential) {
  NoliStatus status = NOLI_OK;
  NoliGcpPotential* made = NULL;
  NoliGcpDef own = noli_default_gcp_def();
  const NoliGcpDef* def = &own;
  *potential = NULL;
  NOLI_TRY(noli_sized_take(context, "the definition of a contact potential", "noli_default_gcp_def",
                           given, &own, sizeof own));
  NOLI_TRY(check_def(context, def));
  NOLI_CHECK(context, n_vert > 0 && parts->n_tri >= 0 && parts->n_edge >= 0, NOLI_ERROR_ARGUMENT,
             "contact potential: %d vertices, %d triangles, %d segments", n_vert, parts->n_tri,
             parts->n_edge);
  NOLI_TRY(gcp_potential_check_finite(context, X, n_vert));
  NOLI_NEW_ZERO(context, made, 1);
  made->context = context;
  made->n_vert = n_vert;
  noli_gcp_set_init(&made->set);
  NOLI_NEW(context, made->x, 3 * (int64_t)n_vert);
  NOLI_TRY(copy_planes(made, def));
  NOLI_TRY(make_model(made, def, X, parts));
  NOLI_TRY(noli_gcp_potential_update(made, X));
  *potential = made;
  made = NULL;
done:
  noli_gcp_potential_destroy(&made);
  return status;
}

NoliStatus noli_gcp_potential_create(NoliContext* context, const NoliGcpDef* def, const double* X,
                                     int32_t n_vert, const int32_t* tri, int32_t n_tri,
                                     NoliGcpPotential** potential) {
  NOLI_REQUIRE(context, context != NULL && def != NULL && X != NULL && potential != NULL);
  const NoliSurfaceParts parts = {.n_tri = n_tri, .tri = tri};
  return gcp_potential_create(context, def, X, n_vert, &parts, potential);
}

NoliStatus noli_gcp_potential_create_plane(NoliContext* context, const NoliGcpDef* def,
                                           const double* X, int32_t n_vert, const int32_t* edge,
                                           int32_t n_edge, NoliGcpPotential** potential) {
  NOLI_REQUIRE(context, context != NULL && def != NULL && X != NULL && potential != NULL);
  NoliStatus status = NOLI_OK;
  const NoliSurfaceParts parts = {.n_edge = n_edge, .edge = edge, .planar = true};
  *potential = NULL;
  for (int64_t v = 1; v < n_vert; v++) {
    NOLI_CHECK(context, X[3 * v + 2] == X[2], NOLI_ERROR_ARGUMENT,
               "contact potential: vertex %lld at z = %g lies beside the plane z = %g",
               (long long)v, X[3 * v + 2], X[2]);
  }
  for (int32_t i = 0; i < def->n_half_spaces; i++) {
    NOLI_CHECK(context, def->half_spaces == NULL || def->half_spaces[6 * (int64_t)i + 5] == 0.0,
               NOLI_ERROR_ARGUMENT,
               "contact potential: the normal of half-space %d points out of the plane", i);
  }
  status = gcp_potential_create(context, def, X, n_vert, &parts, potential);
done:
  return status;
}

void noli_gcp_potential_destroy(NoliGcpPotential** potential) {
  if (potential == NULL || *potential == NULL) {
    return;
  }
  NoliGcpPotential* old = *potential;
  NoliContext* context = old->context;
  noli_array_free(context, &old->triplet);
  noli_array_free(context, &old->local);
  noli_array_free(context, &old->contact);
  noli_gcp_set_free(context, &old->set);
  noli_candidates_free(context, &old->candidates);
  noli_gcp_model_free(context, &old->model);
  noli_broad_phase_destroy(&old->broad_phase);
  noli_rings_destroy(context, &old->rings);
  noli_surface_destroy(context, &old->surface);
  noli_free(context, old->half_spaces);
  noli_free(context, old->x);
  noli_free(context, old);
  *potential = NULL;
}

static NoliGcpContact gcp_potential_describe(const NoliGcpPotential* potential, int64_t i) {
  static const NoliGcpPairKind kinds[NOLI_GCP_KINDS] = {
      NOLI_GCP_PAIR_VERTEX_VERTEX, NOLI_GCP_PAIR_VERTEX_EDGE, NOLI_GCP_PAIR_VERTEX_FACE,
      NOLI_GCP_PAIR_EDGE_EDGE, NOLI_GCP_PAIR_HALF_SPACE};
  NoliGcpPair pair = potential->set.pair.data[i];
  NoliGcpContact contact = {
      .kind = kinds[pair.kind],
      .vertex = {NOLI_NULL_INDEX, NOLI_NULL_INDEX, NOLI_NULL_INDEX, NOLI_NULL_INDEX},
      .half_space = NOLI_NULL_INDEX,
      .distance = potential->set.d.data[i]};
  noli_gcp_pair_vertices(&potential->model, pair, contact.vertex);
  if (pair.kind == NOLI_GCP_VERTEX_PLANE) {
    contact.half_space = pair.element[1];
  }
  return contact;
}

NoliStatus noli_gcp_potential_update(NoliGcpPotential* potential, const double* x) {
  NOLI_REQUIRE(potential != NULL ? potential->context : NULL, potential != NULL && x != NULL);
  NoliStatus status = NOLI_OK;
  NoliContext* context = potential->context;
  NOLI_TRY(gcp_potential_check_finite(context, x, potential->n_vert));
  memcpy(potential->x, x, 3 * (size_t)potential->n_vert * sizeof *x);
  NOLI_TRY(noli_broad_phase_find(potential->broad_phase, potential->x, potential->x,
                                 potential->model.max_eps, NULL, &potential->candidates));
  NOLI_TRY(noli_gcp_set_build(&potential->set, context, &potential->model, &potential->candidates,
                              potential->x, noli_context_threads(context)));
  NOLI_TRY(noli_array_reserve(context, &potential->contact, potential->set.pair.count));
  potential->contact.count = potential->set.pair.count;
  for (int64_t i = 0; i < potential->contact.count; i++) {
    potential->contact.data[i] = gcp_potential_describe(potential, i);
  }
done:
  return status;
}

const NoliGcpContact* noli_gcp_potential_pairs(const NoliGcpPotential* potential,
                                               int64_t* n_pairs) {
  if (n_pairs != NULL) {
    *n_pairs = potential != NULL ? potential->contact.count : 0;
  }
  return potential != NULL ? potential->contact.data : NULL;
}

double noli_gcp_potential_min_distance(const NoliGcpPotential* potential) {
  if (potential == NULL) {
    return 0.0;
  }
  return potential->set.min_distance;
}

const double* noli_gcp_potential_eps(const NoliGcpPotential* potential) {
  if (potential == NULL) {
    return NULL;
  }
  return potential->model.vert_eps;
}

void noli_gcp_potential_support_sized(const NoliGcpPotential* potential, NoliGcpSupport* support,
                                      size_t size) {
  NoliGcpSetup setup = potential != NULL ? potential->setup : (NoliGcpSetup){0};
  NoliGcpSupport own = {.n_candidates = setup.n_candidates,
                        .n_active = setup.n_active,
                        .n_reduced = setup.n_reduced,
                        .min_eps = setup.min_eps,
                        .seconds = setup.seconds};
  noli_sized_give(support, size, &own, sizeof own);
}

static NoliGcp gcp_of(const NoliGcpPotential* potential) {
  return (NoliGcp){.model = &potential->model, .set = &potential->set, .scale = 1.0};
}

double noli_gcp_potential_value(const NoliGcpPotential* potential) {
  if (potential == NULL) {
    return 0.0;
  }
  const NoliGcp gcp = gcp_of(potential);
  return noli_gcp_energy(&gcp, potential->x, noli_context_threads(potential->context));
}

// Evaluates all pairs into the array `local`.
typedef struct EvaluateJob {
  NoliGcp gcp;
  const double* x;
  unsigned what;
  NoliLocal out;
} EvaluateJob;

static void evaluate_range(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const EvaluateJob* job = user;
  const NoliGcpSet* set = job->gcp.set;
  double *gradient = job->out.gradient, *hessian = job->out.hessian;
  const NoliLocal out = {
      .gradient = gradient != NULL ? gradient + 3 * set->first.data[begin] : NULL,
      .hessian = hessian != NULL ? hessian + 9 * set->first_block.data[begin] : NULL};
  noli_gcp_evaluate(&job->gcp, job->x, begin, end, job->what, &out);
}

static void evaluate_all(NoliGcpPotential* potential, unsigned what, NoliLocal out) {
  EvaluateJob job = {gcp_of(potential), potential->x, what, out};
  noli_parallel_for(noli_context_threads(potential->context), potential->set.pair.count,
                    EVALUATE_BLOCK, evaluate_range, &job);
}

NoliStatus noli_gcp_potential_gradient(NoliGcpPotential* potential, double* gradient) {
  NOLI_REQUIRE(potential != NULL ? potential->context : NULL,
               potential != NULL && gradient != NULL);
  NoliStatus status = NOLI_OK;
  const NoliGcpSet* set = &potential->set;
  NOLI_TRY(noli_array_reserve(potential->context, &potential->local, 3 * set->node.count));
  evaluate_all(potential, NOLI_EVAL_GRADIENT, (NoliLocal){.gradient = potential->local.data});
  memset(gradient, 0, 3 * (size_t)potential->n_vert * sizeof *gradient);
  for (int64_t i = 0; i < 3 * set->node.count; i++) {
    gradient[3 * (int64_t)set->node.data[i / 3] + i % 3] += potential->local.data[i];
  }
done:
  return status;
}

// Both triangles of the symmetric matrix of pair i; zero blocks are left out.
static void append_triplets(NoliGcpPotential* potential, int64_t i) {
  const NoliGcpSet* set = &potential->set;
  const int32_t* node = set->node.data + set->first.data[i];
  int32_t n = (int32_t)(set->first.data[i + 1] - set->first.data[i]);
  const double* block = potential->local.data + 9 * set->first_block.data[i];
  for (int32_t a = 0; a < n; a++) {
    for (int32_t b = a; b < n; b++, block += 9) {
      for (int e = 0; e < 9; e++) {
        int32_t row = 3 * node[a] + e / 3, column = 3 * node[b] + e % 3;
        if (block[e] == 0.0) {
          continue;
        }
        potential->triplet.data[potential->triplet.count++] = (NoliTriplet){row, column, block[e]};
        if (a != b) {
          potential->triplet.data[potential->triplet.count++] =
              (NoliTriplet){column, row, block[e]};
        }
      }
    }
  }
}

NoliStatus noli_gcp_potential_hessian(NoliGcpPotential* potential, bool projected,
                                      const NoliTriplet** triplets, int64_t* n_triplets) {
  NOLI_REQUIRE(potential != NULL ? potential->context : NULL,
               potential != NULL && triplets != NULL && n_triplets != NULL);
  NoliStatus status = NOLI_OK;
  NoliContext* context = potential->context;
  const NoliGcpSet* set = &potential->set;
  NOLI_CHECK(context, potential->n_vert <= INT32_MAX / 3, NOLI_ERROR_TOO_LARGE,
             "contact potential: %d vertices have too many rows for a 32-bit index",
             potential->n_vert);
  int64_t n_block = set->first_block.data[set->pair.count];
  NOLI_TRY(noli_array_reserve(context, &potential->local, 9 * n_block));
  NOLI_TRY(noli_array_reserve(context, &potential->triplet, 18 * n_block));
  evaluate_all(potential, projected ? NOLI_EVAL_PROJECTED : NOLI_EVAL_HESSIAN,
               (NoliLocal){.hessian = potential->local.data});
  potential->triplet.count = 0;
  for (int64_t i = 0; i < set->pair.count; i++) {
    append_triplets(potential, i);
  }
  *triplets = potential->triplet.data;
  *n_triplets = potential->triplet.count;
done:
  return status;
}
