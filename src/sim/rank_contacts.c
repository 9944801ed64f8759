#include "sim/rank_contacts.h"

#include "sim/simulation.h"

// Marks the nodes of the elements that this rank evaluates.
static void mark_own(const NoliSim* sim, int64_t* rank) {
  const NoliStage* stage = sim->stage;
  for (int32_t i = 0; i < stage->first_contact; i++) {
    const NoliEnergyTerm* term = &stage->here->term[i];
    int64_t begin, end;
    if (!noli_stage_has(stage, i, NOLI_ROLE_ELASTIC)) {
      continue;
    }
    noli_term_share(sim->context, term, i, 1, &begin, &end);
    for (int64_t k = noli_term_first(term, begin); k < noli_term_first(term, end); k++) {
      if (term->node[k] != NOLI_NULL_INDEX) {
        rank[term->node[k]] = noli_rank(sim->context);
      }
    }
  }
}

// Vertices that follow nodes are of the first rank of these.
static void mark_followers(const NoliFollowers* followers, int64_t* rank) {
  for (int32_t i = followers->n_tied; i < followers->n; i++) {
    int64_t* own = &rank[noli_followers_vertex(followers, i)];
    for (int64_t k = followers->row[i]; k < followers->row[i + 1]; k++) {
      int64_t other = rank[followers->node[k]];
      *own = other < *own ? other : *own;
    }
  }
}

static bool is_between(const NoliContactInfo* contact, const int64_t* rank, int64_t none) {
  int64_t first = none;
  for (int k = 0; k < 4 && contact->vertex[k] != NOLI_NULL_INDEX; k++) {
    int64_t own = rank[contact->vertex[k]];
    if (own != none && first != none && own != first) {
      return true;
    }
    first = own != none ? own : first;
  }
  return false;
}

NoliStatus noli_sim_rank_contacts(NoliSim* sim, int64_t* n, int64_t* n_between) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = &sim->model->problem;
  const NoliContactInfo* contact;
  int64_t *rank = NULL, none = noli_rank_count(sim->context);
  *n = *n_between = 0;
  NOLI_NEW(sim->context, rank, problem->n_vert);
  for (int32_t i = 0; i < problem->n_vert; i++) {
    rank[i] = none;
  }
  mark_own(sim, rank);
  NOLI_TRY(noli_ranks_smallest(sim->context, rank, problem->n_node));
  mark_followers(&problem->followers, rank);
  NOLI_TRY(noli_sim_contacts(sim, &contact, n));
  for (int64_t i = 0; i < *n; i++) {
    *n_between += is_between(&contact[i], rank, none) ? 1 : 0;
  }
done:
  noli_free(sim->context, rank);
  return status;
}
