#include "contact/constraints/active_set.h"

#include "base/sort.h"
#include "base/validate.h"
#include "base/parallel.h"

#include <string.h>

enum { BLOCK = 256, BLOCKS_4 = 90 };

// A constraint whose factor has decayed below this is removed.
#define MIN_GAMMA 0.01
// Fraction of a gap deficit that is recovered in a time step.
#define GAP_RECOVERY 0.1
enum { BALANCE_SWEEPS = 10 };

void noli_active_set_free(NoliContext* context, NoliActiveSet* set) {
  noli_array_free(context, &set->constraint);
  noli_array_free(context, &set->node);
  noli_array_free(context, &set->diagonal);
  noli_triangle_stars_free(context, &set->stars);
  noli_array_free(context, &set->merged);
  noli_array_free(context, &set->earliest);
}

// ---- keys as numbers ----------------------------------------------------------------------------

enum { INDEX_BITS = 31 };

static int64_t active_set_pack(NoliConstraintKey key) {
  uint64_t bits =
      ((uint64_t)key.kind << (2 * INDEX_BITS)) | ((uint64_t)key.a << INDEX_BITS) | (uint64_t)key.b;
  return (int64_t)bits;
}

static NoliConstraintKey unpack(int64_t number) {
  const uint64_t bits = (uint64_t)number, mask = (UINT64_C(1) << INDEX_BITS) - 1;
  return (NoliConstraintKey){.kind = (NoliPrimitives)(bits >> (2 * INDEX_BITS)),
                             .a = (int32_t)((bits >> INDEX_BITS) & mask),
                             .b = (int32_t)(bits & mask)};
}

static bool exists(const NoliConstraintKey* key, const NoliSurface* surface,
                   int32_t n_half_spaces) {
  switch (key->kind) {
  case NOLI_PRIMITIVES_POINT_TRIANGLE:
    return key->a < surface->n_vert && key->b < surface->n_tri;
  case NOLI_PRIMITIVES_EDGE_EDGE:
    return key->a < key->b && key->b < surface->n_edge;
  case NOLI_PRIMITIVES_HALF_SPACE:
    return key->a < surface->n_vert && key->b < n_half_spaces;
  case NOLI_PRIMITIVES_POINT_EDGE:
    return key->a < surface->n_vert && key->b < surface->n_edge;
  }
  return false;
}

void noli_active_set_save(const NoliActiveSet* set, int64_t* key, double* multiplier) {
  for (int64_t i = 0; i < set->constraint.count; i++) {
    const NoliConstraint* constraint = &set->constraint.data[i];
    key[i] = active_set_pack(constraint->key);
    multiplier[2 * i] = constraint->lambda;
    multiplier[2 * i + 1] = constraint->gamma;
  }
}

NoliStatus noli_active_set_load(NoliActiveSet* set, NoliContext* context,
                                const NoliSurface* surface, int32_t n_half_spaces, int64_t n,
                                const int64_t* key, const double* multiplier) {
  NoliStatus status = NOLI_OK;
  set->constraint.count = 0;
  set->start = NULL;
  NOLI_TRY(noli_array_reserve(context, &set->constraint, n));
  for (int64_t i = 0; i < n; i++) {
    NoliConstraintKey unpacked = unpack(key[i]);
    bool ascends = i == 0 || (uint64_t)key[i] > (uint64_t)key[i - 1];
    double lambda = multiplier[2 * i], gamma = multiplier[2 * i + 1];
    NOLI_CHECK(context, ascends && exists(&unpacked, surface, n_half_spaces), NOLI_ERROR_ARGUMENT,
               "the state's constraint %lld does not belong to this scene", (long long)i);
    NOLI_CHECK(context, isfinite(lambda) && lambda >= 0.0 && gamma > 0.0 && gamma <= 1.0,
               NOLI_ERROR_ARGUMENT, "the state's constraint %lld has no valid multiplier (%g, %g)",
               (long long)i, lambda, gamma);
    set->constraint.data[i] = (NoliConstraint){.key = unpacked, .lambda = lambda, .gamma = gamma};
    set->constraint.count++;
  }
done:
  return status;
}

// ---- closest features ---------------------------------------------------------------------------

typedef struct FollowJob {
  NoliActiveSet* set;
  const NoliSurface* surface;
  const double* x;
} FollowJob;

static void follow_block(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const FollowJob* job = user;
  for (int64_t i = begin; i < end; i++) {
    NoliConstraint* constraint = &job->set->constraint.data[i];
    constraint->key =
        noli_constraint_key_follow(constraint->key, job->surface, &job->set->stars, job->x);
  }
}

static int compare_constraints(const void* a, const void* b) {
  const NoliConstraint *first = a, *second = b;
  return noli_constraint_key_compare(first->key, second->key);
}

// Adds the multiplier of a constraint to one that has come to be between the same primitives.
static void active_set_join(NoliConstraint* constraint, const NoliConstraint* other) {
  bool new = constraint->gap == 0.0, other_new = other->gap == 0.0;
  constraint->gap = new         ? other->gap
                    : other_new ? constraint->gap
                                : fmin(constraint->gap, other->gap);
  constraint->lambda += other->lambda;
  constraint->gamma = fmax(constraint->gamma, other->gamma);
  constraint->released = constraint->released && other->released;
}

NoliStatus noli_active_set_follow(NoliActiveSet* set, NoliContext* context,
                                  const NoliSurface* surface, const double* x, int32_t n_threads) {
  NoliStatus status = NOLI_OK;
  if (set->constraint.count == 0) {
    return NOLI_OK;
  }
  if (set->stars.first == NULL) {
    NOLI_TRY(noli_triangle_stars_create(context, surface, &set->stars));
  }
  FollowJob job = {set, surface, x};
  noli_parallel_for(n_threads, set->constraint.count, BLOCK, follow_block, &job);

  // those that meet become one
  noli_sort(set->constraint.data, set->constraint.count, sizeof *set->constraint.data,
            compare_constraints);
  NoliConstraint* last = set->constraint.data;
  for (int64_t i = 1; i < set->constraint.count; i++) {
    const NoliConstraint* constraint = &set->constraint.data[i];
    if (compare_constraints(constraint, last) == 0) {
      active_set_join(last, constraint);
    } else {
      *++last = *constraint;
    }
  }
  set->constraint.count = last - set->constraint.data + 1;
  NOLI_VALIDATE(context, noli_active_set_defect(set));
done:
  return status;
}

// ---- linearization ------------------------------------------------------------------------------

typedef struct LinearizeJob {
  NoliActiveSet* set;
  const NoliSurface* surface;
  const NoliHalfSpace* half_spaces;
  const double* x;
} LinearizeJob;

static void linearize_half_space(const LinearizeJob* job, NoliConstraint* constraint) {
  const NoliHalfSpace* plane = &job->half_spaces[constraint->key.b];
  constraint->weight[0] = 1.0;
  constraint->normal = plane->normal;
  int32_t body = job->surface->body[constraint->key.a];
  double offset = noli_surface_offset_of(job->surface, body);
  constraint->range =
      noli_contact_pairs_range(job->set->pairs, body, job->surface->n_body + constraint->key.b);
  constraint->distance =
      noli_half_space_distance(plane, job->x + 3 * (int64_t)constraint->key.a) - offset;
  constraint->constant = -noli_dot3(plane->normal, plane->origin) - offset;
}

static NoliFeature feature_of(NoliPrimitives kind, const NoliVec3 x[4]) {
  return kind == NOLI_PRIMITIVES_POINT_TRIANGLE ? noli_feature_point_triangle(x)
         : kind == NOLI_PRIMITIVES_EDGE_EDGE    ? noli_feature_edge_edge(x)
                                                : noli_feature_point_edge(x);
}

static void linearize_pair(const LinearizeJob* job, NoliConstraint* constraint,
                           const int32_t vertex[4]) {
  NoliVec3 x[4], feature_x[4];
  int32_t last = vertex[0];
  for (int32_t k = 0; k < 4 && vertex[k] != NOLI_NULL_INDEX; k++) {
    x[k] = noli_load3(job->x + 3 * (int64_t)vertex[k]);
    last = vertex[k];
  }
  NoliFeature feature = feature_of(constraint->key.kind, x);
  int32_t size = noli_pair_size[feature.kind];
  for (int32_t k = 0; k < size; k++) {
    feature_x[k] = x[feature.vertex[k]];
  }
  NoliClosest closest = noli_closest(feature.kind, feature_x);
  for (int32_t k = 0; k < size; k++) {
    constraint->weight[feature.vertex[k]] = closest.weight[k];
  }
  const int32_t* body = job->surface->body;
  double d = sqrt(closest.d_sqr),
         offset = noli_surface_offset(job->surface, body[vertex[0]], body[last]);
  constraint->distance = d - offset;
  constraint->range = noli_contact_pairs_range(job->set->pairs, body[vertex[0]], body[last]);
  constraint->normal = noli_scale3(1.0 / d, closest.r);
  constraint->constant = -offset;
}

// Drops the vertices of weight 0, so that the matrix holds no more blocks than it needs.
static void keep_nodes(NoliConstraint* constraint, const int32_t vertex[4], int32_t node[4]) {
  int32_t n = 0, first = constraint->key.kind == NOLI_PRIMITIVES_EDGE_EDGE ? 2 : 1;
  constraint->n_first = 0;
  for (int32_t k = 0; k < 4; k++) {
    if (constraint->weight[k] != 0.0) {
      constraint->n_first += k < first;
      constraint->weight[n] = constraint->weight[k];
      node[n++] = vertex[k];
    }
  }
  for (; n < 4; n++) {
    constraint->weight[n] = 0.0;
    node[n] = NOLI_NULL_INDEX;
  }
}

// n . H n with the diagonal block of a node; 0 if the node is prescribed or the Hessian is unknown.
static double stiffness_along(const NoliActiveSet* set, int32_t node, NoliVec3 n) {
  if (set->diagonal.count == 0) {
    return 0.0;
  }
  const double* h = set->diagonal.data + 9 * (int64_t)node;
  NoliVec3 rows = {noli_dot3(noli_load3(h), n), noli_dot3(noli_load3(h + 3), n),
                   noli_dot3(noli_load3(h + 6), n)};
  return noli_dot3(n, rows);
}

// The nodes that the vertices of a constraint depend on, with their weights.
typedef struct ConstraintNodes {
  int32_t n;
  int32_t node[NOLI_FOLLOWED_NODES_MAX];
  double weight[NOLI_FOLLOWED_NODES_MAX];
} ConstraintNodes;

static void find_nodes(const NoliActiveSet* set, const NoliConstraint* constraint,
                       const int32_t vertex[4], ConstraintNodes* nodes) {
  bool follows = false;
  nodes->n = 0;
  for (int32_t k = 0; k < 4 && vertex[k] != NOLI_NULL_INDEX; k++) {
    nodes->node[nodes->n] = vertex[k];
    nodes->weight[nodes->n++] = constraint->weight[k];
    follows = follows || (set->followers != NULL &&
                          noli_followers_find(set->followers, vertex[k]) != NOLI_NULL_INDEX);
  }
  if (follows) {
    double coefficient[NOLI_FOLLOWED_SIZE_MAX * NOLI_FOLLOWED_NODES_MAX];
    nodes->n = noli_followers_stencil(set->followers, 4, vertex, nodes->node, coefficient);
    for (int32_t a = 0; a < nodes->n; a++) {
      nodes->weight[a] = 0.0;
      for (int32_t k = 0; k < 4; k++) {
        nodes->weight[a] += constraint->weight[k] * coefficient[k * nodes->n + a];
      }
    }
  }
}

// The opening of the constraint under a unit force if each node moves independently.
static double compliance_of(const NoliActiveSet* set, const NoliConstraint* constraint,
                            const ConstraintNodes* nodes) {
  double compliance = 0.0;
  for (int32_t k = 0; k < nodes->n; k++) {
    double stiffness = stiffness_along(set, nodes->node[k], constraint->normal);
    if (stiffness > 0.0) {
      compliance += nodes->weight[k] * nodes->weight[k] / stiffness;
    }
  }
  return compliance;
}

// Weights, direction and distance.
static void active_set_locate(const LinearizeJob* job, NoliConstraint* constraint,
                              int32_t vertex[4]) {
  NoliConstraintKey key = constraint->key;
  noli_primitives_vertices(job->surface, key.kind, key.a, key.b, vertex);
  memset(constraint->weight, 0, sizeof constraint->weight);
  if (key.kind == NOLI_PRIMITIVES_HALF_SPACE) {
    linearize_half_space(job, constraint);
  } else {
    linearize_pair(job, constraint, vertex);
  }
}

// Distance at the closest feature when the time step began.
static double first_distance(const LinearizeJob* job, NoliConstraintKey key) {
  LinearizeJob start = *job;
  NoliConstraint there = {0};
  int32_t vertex[4];
  start.x = job->set->start;
  there.key = noli_constraint_key_follow(key, job->surface, &job->set->stars, start.x);
  active_set_locate(&start, &there, vertex);
  return there.distance;
}

// Chooses the gap to keep, once in a time step. It is not wider than at the start of the step,
// which therefore keeps all gaps: the minimum cannot have a higher energy. Nor is it wider than
// now, or the constraint would lift what others carry. Where motions press surfaces together, gaps
// that never open would close step by step: there a constraint opens from the start.
static void choose_gap(const LinearizeJob* job, NoliConstraint* constraint) {
  const NoliActiveSet* set = job->set;
  double whole = set->delta * constraint->range;
  if (constraint->gap > 0.0) {
    return;
  }
  constraint->gap = fmin(whole, constraint->distance);
  if (set->driven) {
    constraint->gap += GAP_RECOVERY * (whole - constraint->gap);
  } else if (set->start != NULL) {
    constraint->gap = fmin(constraint->gap, first_distance(job, constraint->key));
  }
}

// Stiffness of the nodes that a constraint pushes; between prescribed nodes it has no effect.
static double stiffness_of(const NoliConstraint* constraint) {
  return constraint->stiffness > 0.0 ? constraint->stiffness : 1.0;
}

// Largest penalty stiffness for small gaps, by that of the nodes: where prescribed motion leaves no
// room, multipliers grow without end.
#define STIFFEST 1e4

// Chooses the penalty stiffness. An error of the multiplier moves the gap by that error over mu:
// with lambda / gap, the stiffness of a barrier, the gap changes by the same fraction as the
// multiplier. A step keeps what the one before has left of a gap. Where soft nodes carry the weight
// of many others, the stiffness of the nodes alone would let gaps shrink from step to step.
static void choose_mu(const NoliActiveSet* set, NoliConstraint* constraint) {
  double held = fmin(constraint->lambda / constraint->gap, STIFFEST * constraint->stiffness);
  constraint->mu = fmax(set->ratio * stiffness_of(constraint), held);
}

static void linearize_block(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const LinearizeJob* job = user;
  for (int64_t i = begin; i < end; i++) {
    NoliConstraint* constraint = &job->set->constraint.data[i];
    int32_t vertex[4];
    active_set_locate(job, constraint, vertex);
    keep_nodes(constraint, vertex, job->set->node.data + 4 * i);

    ConstraintNodes nodes;
    find_nodes(job->set, constraint, job->set->node.data + 4 * i, &nodes);
    double compliance = compliance_of(job->set, constraint, &nodes);
    constraint->stiffness = compliance > 0.0 ? 1.0 / compliance : 0.0;
    choose_gap(job, constraint);
    choose_mu(job->set, constraint);
    constraint->constant -= constraint->gap;
  }
}

NoliStatus noli_active_set_linearize(NoliActiveSet* set, NoliContext* context,
                                     const NoliSurface* surface, const NoliHalfSpace* half_spaces,
                                     const double* x, int32_t n_threads) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_array_reserve(context, &set->node, 4 * set->constraint.count));
  set->node.count = 4 * set->constraint.count;
  LinearizeJob job = {set, surface, half_spaces, x};
  noli_parallel_for(n_threads, set->constraint.count, BLOCK, linearize_block, &job);
  for (int64_t i = 0; i < set->constraint.count; i++) {
    const NoliConstraint* constraint = &set->constraint.data[i];
    NOLI_CHECK(context, constraint->distance > 0.0, NOLI_NOT_FINITE,
               "active set: the distance of primitives %d and %d is not positive (%g m)",
               constraint->key.a, constraint->key.b, constraint->distance);
  }
done:
  return status;
}

// c(y)
static double active_set_value_of(const NoliActiveSet* set, int64_t i, const double* y) {
  const NoliConstraint* constraint = &set->constraint.data[i];
  const int32_t* node = set->node.data + 4 * i;
  NoliVec3 sum = {0.0, 0.0, 0.0};
  for (int32_t k = 0; k < 4 && node[k] != NOLI_NULL_INDEX; k++) {
    sum = noli_mul_add3(sum, constraint->weight[k], noli_load3(y + 3 * (int64_t)node[k]));
  }
  return noli_dot3(constraint->normal, sum) + constraint->constant;
}

typedef struct SlackJob {
  NoliActiveSet* set;
  double held;
  const double* y;
} SlackJob;

static void slack_block(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const SlackJob* job = user;
  for (int64_t i = begin; i < end; i++) {
    NoliConstraint* constraint = &job->set->constraint.data[i];
    double value = active_set_value_of(job->set, i, job->y);
    double slack = value - constraint->lambda / constraint->mu;
    bool held = constraint->lambda > 0.0 && value < job->held * constraint->range;
    constraint->slack = slack > 0.0 && !held ? slack : 0.0;
  }
}

void noli_active_set_update_slacks(NoliActiveSet* set, const double* y, bool holds,
                                   int32_t n_threads) {
  SlackJob job = {set, holds ? GAP_RECOVERY * set->delta : 0.0, y};
  noli_parallel_for(n_threads, set->constraint.count, BLOCK, slack_block, &job);
}

double noli_active_set_update_multipliers(NoliActiveSet* set, const double* y, double decay,
                                          bool multipliers) {
  double error = 0.0;
  for (int64_t i = 0; i < set->constraint.count; i++) {
    NoliConstraint* constraint = &set->constraint.data[i];
    double value = active_set_value_of(set, i, y);
    double pushing = constraint->lambda - constraint->mu * value;
    bool active = pushing >= 0.0;

    // energy of an open gap, or of a resistance to opening that is not a multiplier's
    double stiffness = constraint->stiffness;
    if (active && multipliers) {
      error += 0.5 * stiffness * value * value;
    } else if (!active && !constraint->released && stiffness > 0.0) {
      double force = constraint->gamma * constraint->mu * (value - constraint->slack);
      error += 0.5 * force * force / stiffness;
    }

    // algorithm 2
    constraint->lambda = active && multipliers ? pushing : 0.0;
    constraint->gamma = active ? 1.0 : decay * constraint->gamma;
    constraint->released = constraint->released && !active;
  }
  return error;
}

void noli_active_set_release_inactive(NoliActiveSet* set) {
  for (int64_t i = 0; i < set->constraint.count; i++) {
    NoliConstraint* constraint = &set->constraint.data[i];
    constraint->released = !(constraint->lambda > 0.0);
  }
}

double noli_active_set_work(const NoliActiveSet* set, const double* a, const double* b) {
  double work = 0.0;
  for (int64_t i = 0; i < set->constraint.count; i++) {
    const NoliConstraint* constraint = &set->constraint.data[i];
    if (constraint->lambda > 0.0) {
      work += constraint->gamma * constraint->lambda *
              (active_set_value_of(set, i, b) - active_set_value_of(set, i, a));
    }
  }
  return work;
}

void noli_active_set_begin_step(NoliActiveSet* set, const double* start, bool driven) {
  set->start = start;
  set->driven = driven;
  noli_active_set_release_inactive(set);
  for (int64_t i = 0; i < set->constraint.count; i++) {
    set->constraint.data[i].gap = 0.0;
  }
}

double noli_active_set_recover_gaps(NoliActiveSet* set, double most) {
  // recovering the fraction s of every deficit takes the work s (pushing + s yielding)
  double pushing = 0.0, yielding = 0.0, share = 1.0;
  for (int64_t i = 0; i < set->constraint.count; i++) {
    const NoliConstraint* constraint = &set->constraint.data[i];
    double step = GAP_RECOVERY * fmax(set->delta * constraint->range - constraint->distance, 0.0);
    pushing += constraint->lambda * step;
    yielding += 0.5 * stiffness_of(constraint) * step * step;
  }
  if (!(most > 0.0)) {
    share = 0.0;
  } else if (pushing + yielding > most) {
    share = 2.0 * most / (pushing + sqrt(pushing * pushing + 4.0 * yielding * most));
  }

  // widen the gaps by the affordable fraction
  for (int64_t i = 0; i < set->constraint.count; i++) {
    NoliConstraint* constraint = &set->constraint.data[i];
    double step =
        share * GAP_RECOVERY * fmax(set->delta * constraint->range - constraint->distance, 0.0);
    constraint->gap += step;
    constraint->constant -= step;
  }
  return share * pushing;
}

void noli_active_set_harden(NoliActiveSet* set) {
  set->ratio *= 2.0;
  set->delta *= 0.5;
  for (int64_t i = 0; i < set->constraint.count; i++) {
    set->constraint.data[i].gap *= 0.5;
  }
}

// Adds force times the gradient of a constraint to a vector field (n_vert x 3).
static void active_set_add_force(NoliVec3 normal, int32_t n, const int32_t* node,
                                 const double* weight, double force, double* field) {
  for (int32_t k = 0; k < n && node[k] != NOLI_NULL_INDEX; k++) {
    double* f = field + 3 * (int64_t)node[k];
    noli_store3(f, noli_mul_add3(noli_load3(f), force * weight[k], normal));
  }
}

// The multiplier that keeps the constraint from closing if each of its nodes moves independently,
// by the remaining gradient over its stiffness.
static double balanced(const NoliActiveSet* set, const NoliConstraint* constraint,
                       const ConstraintNodes* nodes, double compliance, const double* gradient) {
  double closing = 0.0;
  for (int32_t k = 0; k < nodes->n; k++) {
    double stiffness = stiffness_along(set, nodes->node[k], constraint->normal);
    if (stiffness > 0.0) {
      double force =
          noli_dot3(constraint->normal, noli_load3(gradient + 3 * (int64_t)nodes->node[k]));
      closing += nodes->weight[k] * force / stiffness;
    }
  }
  double lambda = constraint->lambda + closing / compliance;
  return lambda > 0.0 ? lambda : 0.0;
}

void noli_active_set_estimate_multipliers(NoliActiveSet* set, double* gradient) {
  // begin with the gradient unbalanced by the current multipliers
  for (int64_t i = 0; i < set->constraint.count; i++) {
    NoliConstraint* constraint = &set->constraint.data[i];
    constraint->was_active = constraint->lambda > 0.0;
    ConstraintNodes nodes;
    find_nodes(set, constraint, set->node.data + 4 * i, &nodes);
    active_set_add_force(constraint->normal, nodes.n, nodes.node, nodes.weight, -constraint->lambda,
                         gradient);
  }

  // Gauss-Seidel over the constraints that push
  for (int32_t sweep = 0; sweep < BALANCE_SWEEPS; sweep++) {
    for (int64_t i = 0; i < set->constraint.count; i++) {
      NoliConstraint* constraint = &set->constraint.data[i];
      if (!constraint->was_active) {
        continue;
      }
      ConstraintNodes nodes;
      find_nodes(set, constraint, set->node.data + 4 * i, &nodes);
      double compliance = compliance_of(set, constraint, &nodes);
      if (compliance > 0.0) {
        double lambda = balanced(set, constraint, &nodes, compliance, gradient);
        active_set_add_force(constraint->normal, nodes.n, nodes.node, nodes.weight,
                             constraint->lambda - lambda, gradient);
        constraint->lambda = lambda;
      }
    }
  }
}

// ---- membership ---------------------------------------------------------------------------------

static int active_set_compare(const NoliConstraintKey* key, const NoliImpact* impact) {
  return noli_constraint_key_compare(*key, (NoliConstraintKey){impact->kind, impact->a, impact->b});
}

// Whether the next impact is already a member; `at` advances along the sorted set.
static bool is_member(const NoliActiveSet* set, const NoliImpact* impact, int64_t* at) {
  while (*at < set->constraint.count &&
         active_set_compare(&set->constraint.data[*at].key, impact) < 0) {
    (*at)++;
  }
  return *at < set->constraint.count &&
         active_set_compare(&set->constraint.data[*at].key, impact) == 0;
}

// Finds the time of the first new impact of every vertex, INFINITY for vertices without one.
static NoliStatus find_earliest(NoliActiveSet* set, NoliContext* context,
                                const NoliSurface* surface, const NoliImpacts* impacts) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_array_reserve(context, &set->earliest, surface->n_vert));
  for (int32_t i = 0; i < surface->n_vert; i++) {
    set->earliest.data[i] = (double)INFINITY;
  }
  int64_t at = 0;
  for (int64_t i = 0; i < impacts->impact.count; i++) {
    const NoliImpact* impact = &impacts->impact.data[i];
    if (is_member(set, impact, &at)) {
      continue;
    }
    int32_t vertex[4];
    int32_t n = noli_primitives_vertices(surface, impact->kind, impact->a, impact->b, vertex);
    for (int32_t k = 0; k < n; k++) {
      double* earliest = &set->earliest.data[vertex[k]];
      *earliest = impact->toi < *earliest ? impact->toi : *earliest;
    }
  }
done:
  return status;
}

// Whether an impact is the first one of some vertex of its pair.
static bool is_earliest(const NoliActiveSet* set, const NoliSurface* surface,
                        const NoliImpact* impact) {
  int32_t vertex[4];
  int32_t n = noli_primitives_vertices(surface, impact->kind, impact->a, impact->b, vertex);
  for (int32_t k = 0; k < n; k++) {
    if (impact->toi <= set->earliest.data[vertex[k]]) {
      return true;
    }
  }
  return false;
}

NoliStatus noli_active_set_update(NoliActiveSet* set, NoliContext* context,
                                  const NoliSurface* surface, const NoliImpacts* impacts,
                                  bool filter, int64_t* n_added, int64_t* n_removed) {
  NoliStatus status = NOLI_OK;
  *n_added = *n_removed = 0;
  if (filter && impacts->impact.count > 0) {
    NOLI_TRY(find_earliest(set, context, surface, impacts));
  }

  // merge the sorted lists, leaving out decayed constraints
  NOLI_TRY(
      noli_array_reserve(context, &set->merged, set->constraint.count + impacts->impact.count));
  set->merged.count = 0;
  for (int64_t i = 0, k = 0; i < set->constraint.count || k < impacts->impact.count;) {
    int order = i == set->constraint.count ? 1
                : k == impacts->impact.count
                    ? -1
                    : active_set_compare(&set->constraint.data[i].key, &impacts->impact.data[k]);
    const NoliImpact* impact = order > 0 ? &impacts->impact.data[k] : NULL;
    if (impact != NULL && (!filter || is_earliest(set, surface, impact))) {
      set->merged.data[set->merged.count++] =
          (NoliConstraint){.key = {impact->kind, impact->a, impact->b}, .gamma = 1.0};
      (*n_added)++;
    } else if (order <= 0 && set->constraint.data[i].gamma >= MIN_GAMMA) {
      set->merged.data[set->merged.count++] = set->constraint.data[i];
    } else if (order <= 0) {
      (*n_removed)++;
    }
    i += order <= 0;
    k += order >= 0;
  }

  // the old list becomes scratch
  NoliConstraint* data = set->constraint.data;
  int64_t capacity = set->constraint.capacity;
  set->constraint.data = set->merged.data;
  set->constraint.count = set->merged.count;
  set->constraint.capacity = set->merged.capacity;
  set->merged.data = data;
  set->merged.capacity = capacity;
  NOLI_VALIDATE(context, noli_active_set_defect(set));
done:
  return status;
}

int64_t noli_active_set_count_active(const NoliActiveSet* set) {
  int64_t n = 0;
  for (int64_t i = 0; i < set->constraint.count; i++) {
    n += set->constraint.data[i].lambda > 0.0;
  }
  return n;
}

double noli_active_set_min_distance(const NoliActiveSet* set) {
  double least = (double)INFINITY;
  for (int64_t i = 0; i < set->constraint.count; i++) {
    const NoliConstraint* constraint = &set->constraint.data[i];
    bool known = constraint->gap > 0.0;
    least = known && constraint->distance < least ? constraint->distance : least;
  }
  return least;
}

double noli_active_set_penetration(const NoliActiveSet* set, const double* y) {
  double deepest = 0.0;
  for (int64_t i = 0; i < set->constraint.count; i++) {
    double distance = active_set_value_of(set, i, y) + set->constraint.data[i].gap;
    deepest = -distance > deepest ? -distance : deepest;
  }
  return deepest;
}

double noli_active_set_largest_mu(const NoliActiveSet* set) {
  double largest = 0.0;
  for (int64_t i = 0; i < set->constraint.count; i++) {
    double mu = set->constraint.data[i].mu;
    largest = mu > largest ? mu : largest;
  }
  return largest;
}

// ---- energy -------------------------------------------------------------------------------------

// gamma mu w_a w_b n n^T
static void active_set_write_hessian(const NoliConstraint* constraint, double hessian[BLOCKS_4]) {
  const double n[3] = {constraint->normal.x, constraint->normal.y, constraint->normal.z};
  for (int32_t a = 0; a < 4; a++) {
    for (int32_t b = a; b < 4; b++) {
      double factor =
          constraint->gamma * constraint->mu * constraint->weight[a] * constraint->weight[b];
      double* block = hessian + 9 * noli_stencil_block(4, a, b);
      for (int32_t e = 0; e < 9; e++) {
        block[e] = factor * n[e / 3] * n[e % 3];
      }
    }
  }
}

static void evaluate_constraints(const void* user, const double* y, int64_t begin, int64_t end,
                                 unsigned what, const NoliLocal* out) {
  const NoliActiveSet* set = user;
  for (int64_t i = begin; i < end; i++) {
    const NoliConstraint* constraint = &set->constraint.data[i];
    double value = active_set_value_of(set, i, y);
    bool opens = constraint->released && value > 0.0;
    double c = constraint->released ? value : value - constraint->slack;
    c = opens ? 0.0 : c;
    if ((what & NOLI_EVAL_ENERGY) != 0) {
      out->energy[i - begin] =
          constraint->gamma * c * (0.5 * constraint->mu * c - constraint->lambda);
    }
    if ((what & NOLI_EVAL_GRADIENT) != 0) {
      double slope = constraint->gamma * (constraint->mu * c - constraint->lambda);
      for (int32_t k = 0; k < 4; k++) {
        noli_store3(out->gradient + 12 * (i - begin) + 3 * k,
                    noli_scale3(slope * constraint->weight[k], constraint->normal));
      }
    }
    if ((what & (NOLI_EVAL_HESSIAN | NOLI_EVAL_PROJECTED)) != 0) {
      double* hessian = out->hessian + BLOCKS_4 * (i - begin);
      active_set_write_hessian(constraint, hessian);
      if (opens) {
        memset(hessian, 0, BLOCKS_4 * sizeof *hessian);
      }
    }
  }
}

NoliEnergyTerm noli_active_set_term(const NoliActiveSet* set) {
  return (NoliEnergyTerm){.name = "constraints",
                          .data = set,
                          .evaluate = evaluate_constraints,
                          .size = 4,
                          .n_stencil = set->constraint.count,
                          .node = set->node.data};
}

// ---- forces -------------------------------------------------------------------------------------

// Sum of the weights of the first primitive's nodes: its sign is that of their push along n.
static double first_side(const NoliConstraint* constraint) {
  double sum = 0.0;
  for (int32_t k = 0; k < constraint->n_first; k++) {
    sum += constraint->weight[k];
  }
  return sum;
}

void noli_active_set_forces(const NoliActiveSet* set, double scale, double* force) {
  for (int64_t i = 0; i < set->constraint.count; i++) {
    const NoliConstraint* constraint = &set->constraint.data[i];
    active_set_add_force(constraint->normal, 4, set->node.data + 4 * i, constraint->weight,
                         constraint->gamma * constraint->lambda / scale, force);
  }
}

// Entities of the two primitives: bodies, or a body and a half-space.
static void entities_of(const NoliConstraint* constraint, const NoliSurface* surface,
                        int32_t n_body, int32_t entity[2]) {
  NoliConstraintKey key = constraint->key;
  int32_t vertex[4];
  noli_primitives_vertices(surface, key.kind, key.a, key.b, vertex);
  entity[0] = surface->body[vertex[0]];
  entity[1] = n_body + key.b;
  if (key.kind != NOLI_PRIMITIVES_HALF_SPACE) {
    // the last vertex of a segment
    entity[1] = surface->body[vertex[key.kind == NOLI_PRIMITIVES_POINT_EDGE ? 2 : 3]];
  }
}

NoliStatus noli_active_set_pair_forces(const NoliActiveSet* set, NoliContext* context,
                                       const NoliSurface* surface, int32_t n_body, const double* x,
                                       double scale, NoliPairForces* pairs) {
  NoliStatus status = NOLI_OK;
  for (int64_t i = 0; i < set->constraint.count; i++) {
    const NoliConstraint* constraint = &set->constraint.data[i];
    if (!(constraint->lambda > 0.0)) {
      continue;
    }
    int32_t entity[2];
    entities_of(constraint, surface, n_body, entity);
    double magnitude = constraint->gamma * constraint->lambda / scale;
    NoliContactPlace place = noli_contact_place(entity, constraint->n_first, 4,
                                                set->node.data + 4 * i, constraint->weight, x);
    if (place.vertex[constraint->n_first] == NOLI_NULL_INDEX) {
      // a half-space
      place.point[1] = noli_mul_add3(place.point[0], -constraint->distance, constraint->normal);
    }
    NOLI_TRY(noli_pair_forces_add_contact(
        pairs, context, &place, constraint->distance,
        noli_scale3(magnitude * first_side(constraint), constraint->normal)));
  }
done:
  return status;
}

NoliStatus noli_active_set_friction(const NoliActiveSet* set, NoliContext* context,
                                    const NoliSurface* surface, const NoliContactPairs* pairs,
                                    NoliFrictionSet* friction) {
  NoliStatus status = NOLI_OK;
  noli_friction_set_clear(friction);
  for (int64_t i = 0; i < set->constraint.count; i++) {
    const NoliConstraint* constraint = &set->constraint.data[i];
    NoliNormalContact contact = {.normal = constraint->normal,
                                 .lambda = constraint->gamma * constraint->lambda,
                                 .n_first = constraint->n_first};
    memcpy(contact.weight, constraint->weight, sizeof contact.weight);
    memcpy(contact.node, set->node.data + 4 * i, sizeof contact.node);
    entities_of(constraint, surface, pairs->n_body, contact.entity);
    NOLI_TRY(noli_friction_set_add(friction, context, pairs, &contact));
  }
done:
  return status;
}

const char* noli_active_set_defect(const NoliActiveSet* set) {
  for (int64_t i = 0; i < set->constraint.count; i++) {
    const NoliConstraint* constraint = &set->constraint.data[i];
    const NoliImpact impact = {
        .kind = constraint->key.kind, .a = constraint->key.a, .b = constraint->key.b};
    NOLI_RULE(i == 0 || active_set_compare(&constraint[-1].key, &impact) < 0,
              "active set: keys do not ascend, or one occurs twice");
    NOLI_RULE(constraint->lambda >= 0.0, "active set: a multiplier is negative");
    NOLI_RULE(constraint->gamma > 0.0 && constraint->gamma <= 1.0,
              "active set: a decay factor is not in (0, 1]");
  }
  return NULL;
}
