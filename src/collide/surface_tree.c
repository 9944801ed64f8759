#include "collide/surface_tree.h"

void noli_surface_tree_destroy(NoliContext* context, NoliSurfaceTree** tree) {
  NoliSurfaceTree* own = *tree;
  if (own != NULL) {
    noli_forest_release(context, &own->forest);
    noli_free(context, own->vertex);
    noli_free(context, own->box);
    noli_free(context, own);
    *tree = NULL;
  }
}

static NoliStatus create_tree(NoliContext* context, const NoliSurface* surface,
                              NoliSurfaceTree** out) {
  NoliStatus status = NOLI_OK;
  NoliSurfaceTree* tree = NULL;
  NOLI_NEW_ZERO(context, tree, 1);
  NOLI_TRY(noli_surface_items(context, surface, &tree->vertex, &tree->n_item));
  NOLI_TRY(noli_forest_create(context, 1, (int32_t[]){0, tree->n_item}, &tree->forest));
  NOLI_NEW(context, tree->box, tree->n_item);
done:
  if (status != NOLI_OK) {
    noli_surface_tree_destroy(context, &tree);
  }
  *out = tree;
  return status;
}

// Boxes at the positions.
static NoliStatus surface_tree_arrange(NoliContext* context, NoliSurfaceTree* tree,
                                       const double* x) {
  NoliStatus status = NOLI_OK;
  float* centre = NULL;
  NOLI_NEW(context, centre, 3 * (int64_t)tree->n_item);
  for (int64_t i = 0; i < tree->n_item; i++) {
    NoliBox box = noli_surface_item_box(x, &tree->vertex[3 * i]);
    for (int k = 0; k < 3; k++) {
      centre[3 * i + k] = 0.5f * box.lo[k] + 0.5f * box.hi[k];
    }
  }
  noli_forest_arrange(&tree->forest, centre);
  for (int32_t p = 0; p < tree->n_item; p++) {
    tree->box[p] = noli_surface_item_box(x, &tree->vertex[3 * (int64_t)tree->forest.item[p]]);
  }
  noli_forest_refit(&tree->forest, tree->box);
  tree->current = true;
done:
  noli_free(context, centre);
  return status;
}

NoliStatus noli_surface_tree_update(NoliContext* context, const NoliSurface* surface,
                                    const double* x, NoliSurfaceTree** tree) {
  NoliStatus status = NOLI_OK;
  if (*tree == NULL) {
    NOLI_TRY(create_tree(context, surface, tree));
  }
  if (!(*tree)->current) {
    NOLI_TRY(surface_tree_arrange(context, *tree, x));
  }
done:
  return status;
}
