// The stencils of a block that one of several ranks evaluates: those of its own elements, and those
// of bending whose first element is its own. A rank that holds all elements of the block lists its
// own stencils once, and its terms have these only, as if the block had no others.
#pragma once

#include "fem/block.h"

// Lists the stencils of the elements that are `mine`; nothing where that is NULL. The block is
// finished. Fails with NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_own_stencils_list(NoliBlock* block);

void noli_own_stencils_free(NoliBlock* block);

// The part of a term of the block that consists of the stencils of this rank; the whole term where
// ranks have no lists. Both borrow `energy`. `term`: the elasticity of the part, the inertia of
// elements, or a damping.
NoliEnergyTerm noli_own_stencils_of(NoliBlockEnergy* energy, NoliEnergyTerm term);
NoliEnergyTerm noli_own_stencils_of_damping(NoliBlockEnergy* energy, NoliEnergyTerm term);
