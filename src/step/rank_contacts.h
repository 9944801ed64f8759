// Contacts and the ranks of their vertices.
#pragma once

#include "noli/sim.h"

// Contacts of the last step, of all ranks.
typedef struct NoliRankContacts {
  int64_t n;         // noli_stage_contact_count
  int64_t n_between; // of them those whose vertices have several homes (NoliProblem.home)
  int64_t n_away;    // that are divided, and not on the rank that is their home (contact_share.h)
} NoliRankContacts;

// All ranks call this and get the same.
NOLI_WARN_UNUSED NoliStatus noli_sim_rank_contacts(NoliSim* sim, NoliRankContacts* contacts);
