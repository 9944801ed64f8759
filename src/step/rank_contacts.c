#include "step/rank_contacts.h"

#include "base/ranks.h"
#include "contact/contact_share.h"
#include "step/simulation.h"

// Whether a vertex of a stencil has another home than `first`.
static bool has_other(const int32_t* home, int32_t first, const int32_t* vertex, int32_t n) {
  bool other = false;
  for (int32_t k = 0; k < n; k++) {
    int32_t own = vertex[k] != NOLI_NULL_INDEX ? home[vertex[k]] : NOLI_NULL_INDEX;
    other = other || (own != NOLI_NULL_INDEX && own != first);
  }
  return other;
}

// Adds the stencils of a term that this rank evaluates.
static void count_stencils(const NoliSim* sim, int32_t index, double* between, double* away) {
  const NoliStage* stage = sim->stage;
  const NoliEnergyTerm* term = &stage->here->term[index];
  const int32_t* home = stage->problem->ranks.home;
  int64_t begin, end;
  noli_term_share(sim->context, term, index, 1, &begin, &end);
  for (int64_t s = begin; s < end; s++) {
    const int32_t* vertex = term->node + noli_term_first(term, s);
    int32_t size = noli_term_size(term, s), first = noli_contact_home(home, vertex, size);
    *between += has_other(home, first, vertex, size) ? 1.0 : 0.0;
    *away += term->divided && first != noli_rank(sim->context) ? 1.0 : 0.0;
  }
}

NoliStatus noli_sim_rank_contacts(NoliSim* sim, NoliRankContacts* contacts) {
  NoliStatus status = NOLI_OK;
  const NoliStage* stage = sim->stage;
  double sum[2] = {0.0, 0.0};
  *contacts = (NoliRankContacts){.n = noli_stage_contact_count(stage)};
  if (stage->problem->ranks.home == NULL || *sim->state.step == 0) {
    return NOLI_OK;
  }
  for (int32_t i = stage->terms.first_contact; i < stage->terms.n; i++) {
    if (noli_stage_has(stage, i, NOLI_ROLE_CONTACT)) {
      count_stencils(sim, i, &sum[0], &sum[1]);
    }
  }
  NOLI_TRY(noli_ranks_sum(sim->context, sum, 2));
  contacts->n_between = (int64_t)sum[0];
  contacts->n_away = (int64_t)sum[1];
done:
  return status;
}
