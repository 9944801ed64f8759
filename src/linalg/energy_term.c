#include "linalg/energy_term.h"

// Blocks of the Hessian before unit k.
static int64_t blocks_before(const NoliEnergyTerm* term, int64_t unit, int64_t k) {
  int64_t s = k * unit;
  return noli_term_first_block(term, s < term->n_stencil ? s : term->n_stencil);
}

// The largest number of units that have at most `limit` blocks.
static int64_t units_within(const NoliEnergyTerm* term, int64_t unit, int64_t n_unit,
                            double limit) {
  int64_t low = 0, high = n_unit;
  while (low < high) {
    int64_t middle = high - (high - low) / 2;
    if ((double)blocks_before(term, unit, middle) <= limit) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

// Where the share of rank `rank` begins; with `rank` the number of ranks the end of the last one.
static int64_t share_begins(const NoliEnergyTerm* term, int32_t index, int64_t unit, int32_t rank,
                            int32_t size) {
  int64_t n_unit = (term->n_stencil + unit - 1) / unit;
  if (rank == 0 || rank == size || n_unit == 0) {
    return rank == 0 ? 0 : term->n_stencil;
  }
  // the fraction of a unit by which all limits move: multiples of the golden ratio fill [0, 1)
  // evenly, and so do every second or third of them
  double fraction = (double)((uint32_t)index * 2654435769U) / 4294967296.0;
  double share = ((double)rank * (double)n_unit / (double)size + fraction) / (double)n_unit;
  double limit = share * (double)noli_term_first_block(term, term->n_stencil);
  int64_t begin = unit * units_within(term, unit, n_unit, limit);
  return begin < term->n_stencil ? begin : term->n_stencil;
}

void noli_term_share(const NoliContext* context, const NoliEnergyTerm* term, int32_t index,
                     int64_t unit, int64_t* begin, int64_t* end) {
  int32_t rank = noli_rank(context), size = noli_rank_count(context);
  bool whole = term->divided || size == 1;
  *begin = whole ? 0 : share_begins(term, index, unit, rank, size);
  *end = whole ? term->n_stencil : share_begins(term, index, unit, rank + 1, size);
}
