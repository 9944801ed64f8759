// Contacts whose sides are elements of different ranks.
#pragma once

#include "noli/sim.h"

// Of the contacts of the last step (noli_sim_contacts): how many there are, and how many of them
// have vertices of several ranks. A vertex is one of the first rank that evaluates elements at it;
// vertices without elements, those of obstacles, are of none. All ranks call it and get the same.
NOLI_WARN_UNUSED NoliStatus noli_sim_rank_contacts(NoliSim* sim, int64_t* n, int64_t* n_between);
