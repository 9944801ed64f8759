// The terms of a stage at its points: energies, gradients, matrices.
#include "base/parallel.h"
#include "base/profile.h"
#include "base/ranks.h"
#include "base/timer.h"
#include "solve/stage.h"

#include <math.h>
#include <string.h>

enum { TERM_BLOCK = NOLI_RANKS_BLOCK };

typedef struct EnergyJob {
  const NoliEnergyTerm* term;
  const double* x;
  double* energy;
  const double* base; // NULL: plain sum
} EnergyJob;

static double sum_energies(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const EnergyJob* job = user;
  NoliLocal local = {.energy = job->energy + begin};
  job->term->evaluate(job->term->data, job->x, begin, end, NOLI_EVAL_ENERGY, &local);
  double sum = 0.0;
  for (int64_t i = begin; i < end; i++) {
    sum += job->base != NULL ? job->energy[i] - job->base[i] : job->energy[i];
  }
  return sum;
}

static double sum_values(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const double* value = user;
  double sum = 0.0;
  for (int64_t i = begin; i < end; i++) {
    sum += value[i];
  }
  return sum;
}

// The sums of the blocks of stencils that are the share of this rank.
typedef struct BlockSums {
  NoliRangeSumFn* sum;
  void* user;
  int64_t first; // stencils
  int64_t end;
  double* value;
} BlockSums;

static void sum_blocks(void* user, int64_t begin, int64_t end, int32_t worker) {
  const BlockSums* job = user;
  for (int64_t k = begin; k < end; k++) {
    int64_t from = job->first + k * TERM_BLOCK;
    int64_t to = from + TERM_BLOCK < job->end ? from + TERM_BLOCK : job->end;
    job->value[k] = job->sum(job->user, from, to, worker);
  }
}

// Sums over all stencils of terms: begin_sums, add_sum for some terms, end_sums, which writes the
// sums of energies of the point. On several ranks each adds up the blocks that are its share; the
// sums of the blocks of all terms are gathered in one exchange and added in the order of ranks and
// blocks: the same bits on all ranks, and those of one rank for terms that are not divided.
static NoliStatus begin_sums(NoliStage* stage) {
  NoliStatus status = NOLI_OK;
  if (noli_rank_count(stage->context) == 1) {
    return NOLI_OK;
  }
  NOLI_TRY(noli_array_reserve(stage->context, &stage->terms.own_sums, stage->terms.n));
  for (int32_t i = 0; i < stage->terms.n; i++) {
    stage->terms.own_sums.data[i] = -1.0;
  }
  stage->terms.own_sums.count = stage->terms.n;
done:
  return status;
}

// The sum over the stencils of term `index` at the point.
static NoliStatus add_sum(NoliStage* stage, NoliPoint* at, int32_t index, NoliRangeSumFn* sum,
                          void* user) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = stage->context;
  const NoliEnergyTerm* term = &at->term[index];
  if (noli_rank_count(context) == 1) {
    at->energy[index].sum =
        noli_parallel_sum(stage->n_threads, term->n_stencil, TERM_BLOCK, sum, user);
    return NOLI_OK;
  }
  int64_t begin, end;
  noli_term_share(context, term, index, TERM_BLOCK, &begin, &end);
  int64_t n_block = (end - begin + TERM_BLOCK - 1) / TERM_BLOCK;
  NOLI_TRY(
      noli_array_reserve(context, &stage->terms.own_sums, stage->terms.own_sums.count + n_block));
  BlockSums job = {sum, user, begin, end, stage->terms.own_sums.data + stage->terms.own_sums.count};
  noli_parallel_for(stage->n_threads, n_block, 1, sum_blocks, &job);
  stage->terms.own_sums.data[index] = (double)n_block;
  stage->terms.own_sums.count += n_block;
done:
  return status;
}

static NoliStatus end_sums(NoliStage* stage, NoliPoint* at) {
  NoliStatus status = NOLI_OK;
  int32_t n_term = stage->terms.n;
  if (noli_rank_count(stage->context) == 1) {
    return NOLI_OK;
  }
  NOLI_TRY(noli_ranks_gather(stage->context, sizeof(double), stage->terms.own_sums.data,
                             stage->terms.own_sums.count, (void**)&stage->terms.all_sums.data,
                             &stage->terms.all_sums.capacity, &stage->terms.all_sums.count));
  for (int32_t i = 0; i < n_term; i++) {
    at->energy[i].sum = stage->terms.own_sums.data[i] >= 0.0 ? 0.0 : at->energy[i].sum;
  }
  const double* value = stage->terms.all_sums.data;
  for (int32_t r = 0; r < noli_rank_count(stage->context); r++) {
    const double* n_block = value;
    value += n_term;
    for (int32_t i = 0; i < n_term; i++) {
      for (int64_t k = 0; k < (int64_t)n_block[i]; k++) {
        at->energy[i].sum += *value++;
      }
    }
  }
done:
  return status;
}

// As add_sum, of energies less `base`, if not NULL.
static NoliStatus add_energy(NoliStage* stage, NoliPoint* at, int32_t index, const double* base) {
  NoliTermEnergy* energy = &at->energy[index];
  const NoliEnergyTerm* term = &at->term[index];
  NoliStatus status = noli_grow(stage->context, (void**)&energy->value, &energy->capacity,
                                term->n_stencil, sizeof *energy->value);
  if (status != NOLI_OK) {
    return status;
  }
  EnergyJob job = {term, at->x, energy->value, base};
  noli_term_prepare(term, at->x, stage->n_threads);
  return add_sum(stage, at, index, sum_energies, &job);
}

NoliStatus noli_stage_role_energy(NoliStage* stage, unsigned roles) {
  NoliStatus status = NOLI_OK;
  NoliWork before = noli_work(NOLI_WORK_ENERGY);
  NOLI_TRY(begin_sums(stage));
  for (int32_t i = 0; i < stage->terms.n; i++) {
    if (noli_stage_has(stage, i, roles)) {
      NOLI_TRY(add_energy(stage, stage->here, i, NULL));
    }
  }
  NOLI_TRY(end_sums(stage, stage->here));
done:
  noli_work(before);
  return status;
}

NoliStatus noli_stage_sum_energy(NoliStage* stage, unsigned roles) {
  NoliStatus status = NOLI_OK;
  NoliPoint* here = stage->here;
  NOLI_TRY(begin_sums(stage));
  for (int32_t i = 0; i < stage->terms.n; i++) {
    if (noli_stage_has(stage, i, roles)) {
      NOLI_TRY(add_sum(stage, here, i, sum_values, here->energy[i].value));
    }
  }
  NOLI_TRY(end_sums(stage, here));
done:
  return status;
}

NoliStatus noli_stage_energy(NoliStage* stage) {
  return noli_stage_role_energy(stage, NOLI_ROLE_ALL);
}

NoliEnergySum noli_stage_energy_sum(const NoliStage* stage, unsigned roles) {
  NoliEnergySum sum = {0};
  for (int32_t i = 0; i < stage->terms.n; i++) {
    double energy = noli_stage_has(stage, i, roles) ? stage->here->energy[i].sum : 0.0;
    sum.energy += energy;
    sum.magnitude += fabs(energy);
  }
  return sum;
}

double noli_stage_reference_energy(const NoliStage* stage) {
  const NoliProblem* problem = stage->problem;
  double energy = 0.0;
  for (int32_t i = 0; stage->time.inertia && i < problem->inertia.n_vert; i++) {
    int64_t node = problem->inertia.vert[i];
    NoliVec3 u =
        noli_sub3(noli_load3(stage->here->x + 3 * node), noli_load3(stage->time.x_hat + 3 * node));
    energy += 0.5 * problem->inertia.mass[node] * noli_norm_sqr3(u);
  }
  return energy + noli_stage_energy_sum(stage, NOLI_ROLE_ELASTIC | NOLI_ROLE_VOLUME |
                                                   NOLI_ROLE_ADHESION | NOLI_ROLE_FRICTION)
                      .magnitude;
}

double noli_stage_unresolved_energy(const NoliStage* stage) {
  const NoliProblem* problem = stage->problem;
  double mass = 0.0, length = stage->step.tolerance * stage->step.h;
  for (int32_t i = 0; stage->time.inertia && i < problem->inertia.n_vert; i++) {
    mass += problem->inertia.weight[problem->inertia.vert[i]];
  }
  return 0.5 * mass * length * length;
}

// Whether term i has the same stencils at both points: where contacts differ, only the sums can be
// compared.
static bool compares_stencils(const NoliStage* stage, int32_t i) {
  return i < stage->terms.first_contact || stage->problem->contact.model->same_at_trial;
}

NoliStatus noli_stage_energy_change(NoliStage* stage, double* change, double* magnitude) {
  NoliStatus status = NOLI_OK;
  NoliWork before = noli_work(NOLI_WORK_ENERGY);
  noli_stage_list_trial_terms(stage);
  *change = 0.0;
  *magnitude = 0.0;
  NOLI_TRY(begin_sums(stage));
  for (int32_t i = 0; i < stage->terms.n; i++) {
    const double* base = compares_stencils(stage, i) ? stage->here->energy[i].value : NULL;
    NOLI_TRY(add_energy(stage, stage->trial, i, base));
  }
  NOLI_TRY(end_sums(stage, stage->trial));
  for (int32_t i = 0; i < stage->terms.n; i++) {
    const NoliTermEnergy* here = &stage->here->energy[i];
    NoliTermEnergy* trial = &stage->trial->energy[i];
    double difference = compares_stencils(stage, i) ? trial->sum : trial->sum - here->sum;
    trial->sum = here->sum + difference;
    *change += difference;
    *magnitude += fabs(here->sum);
  }

  for (int32_t i = 0; i < stage->terms.n; i++) {
    const NoliTerm* term = &stage->terms.term[i];
    *magnitude += term->type->magnitude != NULL ? term->type->magnitude(term->self) : 0.0;
  }
done:
  noli_work(before);
  return status;
}

NoliStatus noli_stage_trial_gradient(NoliStage* stage) {
  NoliStatus status = NOLI_OK;
  noli_stage_list_trial_terms(stage);
  NOLI_TRY(noli_stage_prepare_terms(stage, stage->trial, stage->terms.n));
  NOLI_TRY(noli_system_linearize(&stage->system, stage->trial->x, 0, stage->search.trial_gradient));
done:
  return status;
}

// Finds the rank-one terms that stencils lack, over the unknowns.
static NoliStatus linearize_rank_one(NoliStage* stage) {
  NoliStatus status = NOLI_OK;
  NoliSystem* system = &stage->system;
  NoliLowRank* low_rank = &system->low_rank;
  double* vector = stage->search.trial_gradient;
  int32_t n_rank = 0;
  for (int32_t i = 0; i < stage->terms.n; i++) {
    const NoliTerm* term = &stage->terms.term[i];
    n_rank += term->type->rank != NULL ? term->type->rank(term->self) : 0;
  }
  NOLI_TRY(noli_low_rank_resize(low_rank, stage->context, n_rank, system->n_dof));

  // s_k and g_k of each
  n_rank = 0;
  for (int32_t i = 0; i < stage->terms.n; i++) {
    const NoliTerm* term = &stage->terms.term[i];
    int32_t n = term->type->rank != NULL ? term->type->rank(term->self) : 0;
    for (int32_t r = 0; r < n; r++, n_rank++) {
      memset(vector, 0, 3 * sizeof *vector * (size_t)stage->problem->n_vert);
      low_rank->scale[n_rank] = term->type->add_rank_one(term->self, r, stage->here->x, vector);
      noli_stage_act_on_nodes(stage, vector);
      noli_system_mask(system, vector);
      noli_system_to_rows(system, 1.0, vector,
                          low_rank->vector + 3 * (int64_t)n_rank * system->n_dof);
    }
  }
done:
  return status;
}

NoliStatus noli_stage_linearize(NoliStage* stage) {
  return noli_stage_linearize_as(stage, NOLI_EVAL_PROJECTED);
}

NoliStatus noli_stage_linearize_as(NoliStage* stage, unsigned what) {
  NoliStatus status = NOLI_OK;
  double start = noli_seconds();
  NOLI_TRY(noli_stage_prepare_terms(stage, stage->here, stage->terms.n));
  NOLI_TRY(noli_system_linearize(&stage->system, stage->here->x, what, stage->search.gradient));
  NOLI_TRY(linearize_rank_one(stage));
  stage->record.timing.assemble += noli_seconds() - start;
done:
  return status;
}

// Linearizes the terms that are the same at every point at x.
static NoliStatus linearize_without_contact(NoliStage* stage, unsigned what, double* gradient) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_stage_prepare_terms(stage, stage->here, stage->terms.first_contact));
  NOLI_TRY(noli_system_linearize(&stage->system, stage->here->x, what, gradient));
done:
  return status;
}

NoliStatus noli_stage_gradient_without_contact(NoliStage* stage) {
  return linearize_without_contact(stage, 0, stage->search.gradient);
}

NoliStatus noli_stage_linearize_stiffness(NoliStage* stage) {
  NoliStatus status = NOLI_OK;
  NoliPoint* here = stage->here;
  for (int32_t i = 0; i < stage->terms.first_contact; i++) {
    here->term[i].n_stencil =
        noli_stage_has(stage, i, NOLI_ROLE_FRICTION) ? 0 : here->term[i].n_stencil;
  }
  NOLI_TRY(linearize_without_contact(stage, NOLI_EVAL_PROJECTED, NULL));
done:
  noli_stage_list_terms(stage);
  return status;
}

// Adds the gradients of stencils [begin, end). `local` is scratch for them.
static void add_gradients(const NoliEnergyTerm* term, const double* x, int64_t begin, int64_t end,
                          double* local, double* gradient) {
  int64_t first = noli_term_first(term, begin);
  NoliLocal out = {.gradient = local};
  term->evaluate(term->data, x, begin, end, NOLI_EVAL_GRADIENT, &out);
  for (int64_t i = 0; i < noli_term_first(term, end) - first; i++) {
    int32_t node = term->node[first + i];
    for (int32_t k = 0; node != NOLI_NULL_INDEX && k < 3; k++) {
      gradient[3 * (int64_t)node + k] += local[3 * i + k];
    }
  }
}

// Adds the sizes of the gradients of stencils [begin, end) at their nodes, by body.
static void add_sizes(const NoliStage* stage, const NoliEnergyTerm* term, int64_t begin,
                      int64_t end, double* local, double* by_body) {
  int64_t first = noli_term_first(term, begin);
  NoliLocal out = {.gradient = local};
  term->evaluate(term->data, stage->here->x, begin, end, NOLI_EVAL_GRADIENT, &out);
  for (int64_t i = 0; i < noli_term_first(term, end) - first; i++) {
    int32_t node = term->node[first + i];
    if (node != NOLI_NULL_INDEX) {
      by_body[stage->problem->surface->body[node]] += noli_norm3(noli_load3(local + 3 * i));
    }
  }
}

NoliStatus noli_stage_internal_forces(const NoliStage* stage, double* by_body) {
  NoliStatus status = NOLI_OK;
  int32_t n_body = stage->problem->surface->n_body;
  double *local = NULL, scale = stage->time.h_e * stage->time.h_e;
  bool divided = false;
  memset(by_body, 0, (size_t)n_body * sizeof *by_body);
  for (int32_t t = 0; t < stage->terms.n; t++) {
    const NoliEnergyTerm* term = &stage->here->term[t];
    if (!noli_stage_has(stage, t, NOLI_ROLE_ELASTIC)) {
      continue;
    }
    noli_free(stage->context, local);
    NOLI_NEW(stage->context, local, 3 * TERM_BLOCK * (int64_t)noli_term_largest(term));
    noli_term_prepare(term, stage->here->x, stage->n_threads);
    divided = divided || term->divided;
    for (int64_t begin = 0; begin < term->n_stencil; begin += TERM_BLOCK) {
      int64_t end = begin + TERM_BLOCK < term->n_stencil ? begin + TERM_BLOCK : term->n_stencil;
      add_sizes(stage, term, begin, end, local, by_body);
    }
  }

  if (divided) {
    NOLI_TRY(noli_ranks_sum(stage->context, by_body, n_body));
  }
  for (int32_t b = 0; b < n_body; b++) {
    by_body[b] /= scale;
  }
done:
  noli_free(stage->context, local);
  return status;
}

// Adds the gradient of a term. Serial over stencils: used only a few times per step.
static NoliStatus add_gradient(const NoliStage* stage, const NoliEnergyTerm* term,
                               double* gradient) {
  NoliStatus status = NOLI_OK;
  double* local = NULL;
  NOLI_NEW(stage->context, local, 3 * TERM_BLOCK * (int64_t)noli_term_largest(term));
  noli_term_prepare(term, stage->here->x, stage->n_threads);
  for (int64_t begin = 0; begin < term->n_stencil; begin += TERM_BLOCK) {
    int64_t end = begin + TERM_BLOCK < term->n_stencil ? begin + TERM_BLOCK : term->n_stencil;
    add_gradients(term, stage->here->x, begin, end, local, gradient);
  }
done:
  noli_free(stage->context, local);
  return status;
}

// Adds the force of a gradient, which is that on nodes afterwards.
static void add_force_of(const NoliStage* stage, double* gradient, double* force) {
  double scale = stage->time.h_e * stage->time.h_e;
  noli_stage_act_on_nodes(stage, gradient);
  for (int64_t j = 0; j < 3 * (int64_t)stage->problem->n_vert; j++) {
    force[j] -= gradient[j] / scale;
  }
}

NoliStatus noli_stage_add_forces(NoliStage* stage, unsigned roles, double* force) {
  NoliStatus status = NOLI_OK;
  const NoliEnergyTerm* term = stage->here->term;
  int64_t n = 3 * (int64_t)stage->problem->n_vert;
  double* gradient = stage->search.gradient;

  // terms of which other ranks have other stencils, in one sum
  bool divided = false;
  memset(gradient, 0, (size_t)n * sizeof *gradient);
  for (int32_t i = 0; i < stage->terms.n; i++) {
    if (term[i].divided && noli_stage_has(stage, i, roles)) {
      NOLI_TRY(add_gradient(stage, &term[i], gradient));
      divided = true;
    }
  }
  if (divided) {
    NOLI_TRY(noli_ranks_sum(stage->context, gradient, n));
    add_force_of(stage, gradient, force);
  }

  // one after the other of the others
  for (int32_t i = 0; i < stage->terms.n; i++) {
    if (!term[i].divided && noli_stage_has(stage, i, roles)) {
      memset(gradient, 0, (size_t)n * sizeof *gradient);
      NOLI_TRY(add_gradient(stage, &term[i], gradient));
      add_force_of(stage, gradient, force);
    }
  }
done:
  return status;
}

NoliStatus noli_stage_add_all_forces(NoliStage* stage, double* force) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_stage_contact_forces(stage, force));
  NOLI_TRY(noli_stage_add_forces(
      stage, NOLI_ROLE_ALL & ~(unsigned)(NOLI_ROLE_CONTACT | NOLI_ROLE_TARGET_SPRINGS), force));
done:
  return status;
}

NoliStatus noli_stage_add_own_forces(NoliStage* stage, double* force) {
  NoliStatus status = NOLI_OK;
  const NoliEnergyTerm* term = stage->here->term;
  int64_t n = 3 * (int64_t)stage->problem->n_vert;
  double *gradient = stage->search.gradient, scale = stage->time.h_e * stage->time.h_e;
  memset(gradient, 0, (size_t)n * sizeof *gradient);

  // those of which other ranks have others, then the others
  for (int pass = 0; pass < 2; pass++) {
    for (int32_t i = 0; i < stage->terms.n; i++) {
      bool in_joint = noli_term_is_in_joints(&stage->terms.term[i]);
      bool left_out = noli_stage_has(stage, i, NOLI_ROLE_CONTACT) || in_joint;
      if (term[i].divided == (pass == 0) && !left_out) {
        NOLI_TRY(add_gradient(stage, &term[i], gradient));
      }
    }
    if (pass == 0 && noli_rank_count(stage->context) > 1) {
      NOLI_TRY(noli_ranks_sum(stage->context, gradient, n));
    }
  }
  for (int64_t j = 0; j < n; j++) {
    force[j] -= gradient[j] / scale;
  }
  NOLI_TRY(noli_stage_add_contact_forces(stage, force));
done:
  return status;
}
