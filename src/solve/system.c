#include "solve/system.h"

#include "base/ranks.h"

#include <math.h>
#include <string.h>

NoliStatus noli_system_create(NoliContext* context, const NoliFollowers* followers, int32_t n_vert,
                              int32_t n_most, NoliSystem* system) {
  NoliStatus status = NOLI_OK;
  *system =
      (NoliSystem){.context = context, .followers = followers, .n_vert = n_vert, .n_most = n_most};
  NOLI_NEW_ZERO(context, system->dof, n_vert);
  NOLI_NEW_ZERO(context, system->dof_next, n_vert);
  NOLI_NEW_ZERO(context, system->rank_row, (int64_t)noli_rank_count(context) + 1);
  NOLI_NEW_ZERO(context, system->rhs, 3 * (int64_t)n_vert);
  NOLI_NEW_ZERO(context, system->solution, 3 * (int64_t)n_vert);
  NOLI_NEW_ZERO(context, system->term, n_most);
  NOLI_NEW_ZERO(context, system->expansion, n_most);
  NOLI_NEW_ZERO(context, system->expands, n_most);
  NOLI_TRY(noli_assembler_create(context, &system->assembler));
done:
  return status;
}

void noli_system_destroy(NoliSystem* system) {
  NoliContext* context = system->context;
  for (int32_t i = 0; system->expansion != NULL && i < system->n_most; i++) {
    noli_expansion_free(context, &system->expansion[i]);
  }
  noli_free(context, system->expansion);
  noli_free(context, system->expands);
  noli_free(context, system->term);
  noli_free(context, system->dof);
  noli_free(context, system->dof_next);
  noli_free(context, system->rank_row);
  noli_free(context, system->rhs);
  noli_free(context, system->solution);
  noli_array_free(context, &system->diagonal);
  noli_low_rank_free(context, &system->low_rank);
  noli_assembler_destroy(&system->assembler);
}

NoliStatus noli_system_reset(NoliSystem* system) {
  return noli_assembler_reset(system->assembler);
}

// Finds where the rows of ranks begin; returns how many there are.
static int32_t place_ranks(NoliSystem* system, const bool* unknown, const int32_t* owner) {
  int64_t *begin = system->rank_row, n_rank = noli_rank_count(system->context), n = 0;
  memset(begin, 0, (size_t)(n_rank + 1) * sizeof *begin);
  for (int32_t i = 0; i < system->n_vert; i++) {
    n += unknown[i] ? 1 : 0;
    if (unknown[i] && owner != NULL) {
      begin[owner[i] + 1]++;
    }
  }
  for (int64_t r = 1; r <= n_rank; r++) {
    begin[r] = owner != NULL ? begin[r - 1] + begin[r] : n * r / n_rank;
  }
  return (int32_t)n;
}

// Numbers the nodes of each rank in their order.
static void number_by_rank(NoliSystem* system, const bool* unknown, const int32_t* owner) {
  int64_t* next = system->rank_row;
  for (int32_t i = 0; i < system->n_vert; i++) {
    system->dof_next[i] = unknown[i] ? (int32_t)next[owner[i]]++ : NOLI_NULL_INDEX;
  }
  // each stands where the one after it began
  memmove(next + 1, next, (size_t)noli_rank_count(system->context) * sizeof *next);
  next[0] = 0;
}

static int32_t system_number_nodes(NoliSystem* system, const bool* unknown, const int32_t* owner) {
  int32_t n_dof = place_ranks(system, unknown, owner), next = 0;
  if (owner != NULL) {
    number_by_rank(system, unknown, owner);
    return n_dof;
  }
  for (int32_t i = 0; i < system->n_vert; i++) {
    system->dof_next[i] = unknown[i] ? next++ : NOLI_NULL_INDEX;
  }
  return n_dof;
}

NoliStatus noli_system_number(NoliSystem* system, const bool* unknown, const int32_t* owner,
                              int64_t stencils) {
  NoliStatus status = NOLI_OK;
  int32_t n_dof = system_number_nodes(system, unknown, owner);
  size_t bytes = (size_t)system->n_vert * sizeof *system->dof;
  if (system->numbered && system->stencils == stencils &&
      memcmp(system->dof, system->dof_next, bytes) == 0) {
    goto done;
  }

  // `numbered` stays false if the assembler fails, so that the next call retries
  memcpy(system->dof, system->dof_next, bytes);
  system->n_dof = n_dof;
  system->stencils = stencils;
  system->numbered = false;
  system->fixed_known = false;
  NOLI_TRY(noli_assembler_set_unknowns(system->assembler, system->n_vert, system->dof, n_dof));
  const int64_t* own = system->rank_row + noli_rank(system->context);
  noli_assembler_own_rows(system->assembler, own[0], own[1]);
  system->numbered = true;
done:
  return status;
}

// Whether a stencil of a term contains a follower.
static bool names_followers(const NoliFollowers* followers, const NoliEnergyTerm* term) {
  for (int64_t i = 0; i < noli_term_first(term, term->n_stencil); i++) {
    if (term->node[i] != NOLI_NULL_INDEX &&
        noli_followers_find(followers, term->node[i]) != NOLI_NULL_INDEX) {
      return true;
    }
  }
  return false;
}

// Expands term i if it contains followers. Stencils of fixed terms are searched only once, because
// there may be many.
static NoliStatus expand(NoliSystem* system, const NoliEnergyTerm* term, int32_t i) {
  NoliStatus status = NOLI_OK;
  bool known = term->fixed && system->fixed_known;
  if (!known) {
    system->expands[i] = names_followers(system->followers, term);
  }
  if (system->expands[i] && known) {
    noli_expansion_renew(&system->expansion[i], term, &system->term[i]);
  } else if (system->expands[i]) {
    NOLI_TRY(noli_expansion_build(&system->expansion[i], system->context, system->followers, term,
                                  &system->term[i]));
  }
done:
  return status;
}

NoliStatus noli_system_prepare(NoliSystem* system, const NoliEnergyTerm* term,
                               const bool* on_vertices, int32_t n) {
  NoliStatus status = NOLI_OK;
  system->n_term = n;
  for (int32_t i = 0; i < n; i++) {
    system->term[i] = term[i];
    bool may_follow = on_vertices[i] || system->followers->n_tied > 0;
    if (system->followers->n > 0 && may_follow && term[i].n_stencil > 0) {
      NOLI_TRY(expand(system, &term[i], i));
    }
  }
  NOLI_TRY(noli_assembler_prepare(system->assembler, system->term, n));
  system->fixed_known = true;
done:
  return status;
}

NoliStatus noli_system_linearize(NoliSystem* system, const double* x, unsigned what,
                                 double* gradient) {
  return noli_assembler_linearize(system->assembler, system->term, system->n_term, x, what,
                                  gradient);
}

NoliStatus noli_system_multiply(NoliSystem* system, const double* x, const NoliProduct* product,
                                double* y) {
  return noli_assembler_multiply(system->assembler, system->term, system->n_term, x, product, y);
}

void noli_system_mask(const NoliSystem* system, double* nodes) {
  noli_assembler_mask_gradient(system->assembler, nodes);
}

const NoliBlockMatrix* noli_system_matrix(const NoliSystem* system) {
  return noli_assembler_matrix(system->assembler);
}

NoliStatus noli_system_find_diagonal(NoliSystem* system) {
  NoliStatus status = NOLI_OK;
  const NoliBlockMatrix* matrix = noli_system_matrix(system);
  if (noli_rank_count(system->context) == 1) {
    goto done;
  }
  NOLI_TRY(noli_array_reserve(system->context, &system->diagonal, 9 * (int64_t)matrix->n));
  for (int64_t i = 0; i < matrix->n; i++) {
    memcpy(system->diagonal.data + 9 * i, matrix->value + 9 * matrix->row[i],
           9 * sizeof *matrix->value);
  }
  NOLI_TRY(noli_ranks_sum(system->context, system->diagonal.data, 9 * (int64_t)matrix->n));
done:
  return status;
}

const double* noli_system_diagonal(const NoliSystem* system, int64_t row) {
  const NoliBlockMatrix* matrix = noli_system_matrix(system);
  return noli_rank_count(system->context) == 1 ? matrix->value + 9 * matrix->row[row]
                                               : system->diagonal.data + 9 * row;
}

double noli_system_largest_diagonal(const NoliSystem* system) {
  double largest = 0.0;
  for (int64_t i = 0; i < system->n_dof; i++) {
    const double* block = noli_system_diagonal(system, i);
    for (int32_t k = 0; k < 9; k += 4) {
      largest = block[k] > largest ? block[k] : largest;
    }
  }
  return largest;
}

void noli_system_to_rows(const NoliSystem* system, double sign, const double* nodes, double* rows) {
  for (int64_t i = 0; i < system->n_vert; i++) {
    for (int32_t k = 0; noli_system_is_unknown(system, i) && k < 3; k++) {
      rows[3 * (int64_t)system->dof[i] + k] = sign * nodes[3 * i + k];
    }
  }
}

void noli_system_to_nodes(const NoliSystem* system, const double* rows, double* nodes) {
  for (int64_t i = 0; i < system->n_vert; i++) {
    for (int32_t k = 0; k < 3; k++) {
      nodes[3 * i + k] =
          noli_system_is_unknown(system, i) ? rows[3 * (int64_t)system->dof[i] + k] : 0.0;
    }
  }
}

double noli_system_largest(const NoliSystem* system, const double* nodes) {
  double largest = 0.0;
  for (int64_t i = 0; i < system->n_vert; i++) {
    for (int64_t k = 3 * i; noli_system_is_unknown(system, i) && k < 3 * i + 3; k++) {
      double entry = fabs(nodes[k]);
      // a NaN is kept
      largest = isnan(largest) || entry <= largest ? largest : entry;
    }
  }
  return largest;
}

double noli_system_norm(const NoliSystem* system, const double* nodes) {
  double sum = 0.0;
  for (int64_t i = 0; i < system->n_vert; i++) {
    for (int64_t k = 3 * i; noli_system_is_unknown(system, i) && k < 3 * i + 3; k++) {
      sum += nodes[k] * nodes[k];
    }
  }
  return sqrt(sum);
}
