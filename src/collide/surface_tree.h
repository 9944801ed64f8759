// A tree over all items of a surface, for searches at positions that change from time to time.
#pragma once

#include "collide/surface_items.h"

typedef struct NoliSurfaceTree {
  int32_t n_item;
  int32_t* vertex; // (n_item x 3) padded with NOLI_NULL_INDEX for segments and points
  NoliForest forest;
  NoliBox* box; // (n_item) position in the tree
  bool current; // boxes are those of the positions
} NoliSurfaceTree;

// Makes the tree unless it is there, and arranges it at x (n_vert x 3) unless it is current. Fails
// with NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_surface_tree_update(NoliContext* context,
                                                     const NoliSurface* surface, const double* x,
                                                     NoliSurfaceTree** tree);
void noli_surface_tree_destroy(NoliContext* context, NoliSurfaceTree** tree);
