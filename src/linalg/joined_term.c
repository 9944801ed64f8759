#include "linalg/joined_term.h"

#include <string.h>

// Copies nodes and sizes of a part behind those of the parts before it.
static void append(const NoliEnergyTerm* part, int64_t stencil, NoliJoinedTerm* joined) {
  int64_t first = joined->first[stencil];
  for (int64_t s = 0; s < part->n_stencil; s++) {
    joined->first[stencil + s + 1] = first + noli_term_first(part, s + 1);
  }
  size_t n = (size_t)noli_term_first(part, part->n_stencil);
  if (n > 0) {
    memcpy(joined->node + first, part->node, n * sizeof *part->node);
  }
}

NoliStatus noli_joined_create(NoliContext* context, int32_t n_part, const NoliEnergyTerm* part,
                              NoliJoinedTerm* joined) {
  NoliStatus status = NOLI_OK;
  int64_t n_node = 0;
  *joined = (NoliJoinedTerm){.n_part = n_part};
  NOLI_NEW(context, joined->part, n_part);
  NOLI_NEW_ZERO(context, joined->part_first, (int64_t)n_part + 1);
  for (int32_t k = 0; k < n_part; k++) {
    joined->part[k] = part[k];
    joined->part_first[k + 1] = joined->part_first[k] + part[k].n_stencil;
    n_node += noli_term_first(&part[k], part[k].n_stencil);
  }
  int64_t n_stencil = joined->part_first[n_part];
  NOLI_NEW_ZERO(context, joined->first, n_stencil + 1);
  NOLI_NEW_ZERO(context, joined->first_block, n_stencil + 1);
  NOLI_NEW(context, joined->node, n_node);
  for (int32_t k = 0; k < n_part; k++) {
    append(&part[k], joined->part_first[k], joined);
  }
  noli_stencil_offsets(n_stencil, joined->first, joined->first_block);
done:
  if (status != NOLI_OK) {
    noli_joined_destroy(context, joined);
  }
  return status;
}

void noli_joined_destroy(NoliContext* context, NoliJoinedTerm* joined) {
  noli_free(context, joined->part);
  noli_free(context, joined->part_first);
  noli_free(context, joined->first);
  noli_free(context, joined->first_block);
  noli_free(context, joined->node);
  *joined = (NoliJoinedTerm){0};
}

// Where a part finds entry 0 of its own results; NULL stays NULL.
static double* behind(double* values, int64_t doubles_before) {
  uintptr_t bytes = (uintptr_t)doubles_before * sizeof(double);
  return values != NULL ? (double*)((uintptr_t)values + bytes) : NULL;
}

static void evaluate(const void* data, const double* x, int64_t begin, int64_t end, unsigned what,
                     const NoliLocal* out) {
  const NoliJoinedTerm* joined = data;
  for (int32_t k = 0; k < joined->n_part; k++) {
    const NoliEnergyTerm* part = &joined->part[k];
    int64_t first = joined->part_first[k], last = joined->part_first[k + 1];
    int64_t from = begin > first ? begin : first, to = end < last ? end : last;
    if (from < to) {
      NoliLocal local = {.energy = behind(out->energy, first),
                         .gradient = behind(out->gradient, 3 * joined->first[first]),
                         .hessian = behind(out->hessian, 9 * joined->first_block[first])};
      part->evaluate(part->data, x, from - first, to - first, what, &local);
    }
  }
}

NoliEnergyTerm noli_joined_term(const NoliJoinedTerm* joined, const char* name) {
  return (NoliEnergyTerm){.name = name,
                          .data = joined,
                          .evaluate = evaluate,
                          .n_stencil = joined->part_first[joined->n_part],
                          .node = joined->node,
                          .fixed = true,
                          .first = joined->first,
                          .first_block = joined->first_block};
}
