// The materials of a body: its own, region 0, and those of its parts, regions 1, 2, ... Later parts
// replace earlier ones.
#pragma once

#include "noli/sim.h"

typedef struct NoliMaterialRegions {
  int32_t n_element; // of the body
  int32_t* region;   // (n_element) whose material each has
  int32_t* local;    // (n_element) and which of the elements of that part it is
} NoliMaterialRegions;

// Finds the regions of a deforming body; fails with NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_material_regions_find(NoliContext* context,
                                                       const NoliBodyDef* body,
                                                       NoliMaterialRegions* regions);
void noli_material_regions_free(NoliContext* context, NoliMaterialRegions* regions);

const NoliMaterialDef* noli_region_material(const NoliBodyDef* body, int32_t region);
const NoliMaterialFields* noli_region_fields(const NoliBodyDef* body, int32_t region);

// Elements in the list of a region: of the body, or of a part.
int32_t noli_region_size(const NoliBodyDef* body, int32_t region);
