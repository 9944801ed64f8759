// A world that several ranks simulate together, or each alone.
#pragma once

#include "mpi/on_ranks.h"
#include "step/world.h"

// An empty world, of all ranks together or of this one alone.
static inline World world_on_ranks(NoliRanks* ranks, bool together) {
  World world = world_new(1);
  if (together) {
    NoliContextDef def = noli_default_context_def();
    def.ranks = ranks;
    def.n_threads = 1;
    test_context_done(&world.context);
    ASSERT_OK(noli_context_create(&def, &world.context));
  }
  return world;
}
