#include "model/rank_cells.h"

#include "base/ranks.h"
#include "model/fingerprint.h"

static bool may_leave(const NoliModel* model) {
  const NoliProblem* problem = &model->problem;
  bool may = noli_rank_count(model->context) > 1 && problem->n_block > 0;
  for (int32_t i = 0; i < problem->n_block; i++) {
    may = may && problem->block[i].divided && problem->block[i].type == &noli_block_tets;
  }
  return may;
}

NoliStatus noli_rank_cells_leave_to_first(NoliModel* model) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = model->context;
  uint64_t* digest = NULL;
  if (!may_leave(model)) {
    return NOLI_OK;
  }
  // checkpoints say to which elements they belong
  NOLI_NEW(context, digest, model->n_body);
  for (int32_t b = 0; b < model->n_body; b++) {
    digest[b] = noli_fingerprint_of_elements(model, b);
  }
  model->element_digest = digest;
  model->cells_on_first = true;
  if (noli_rank(context) > 0) {
    noli_free(context, model->cell);
    model->cell = NULL;
  }
done:
  return status;
}
