#include "contact/contact_share.h"

#include "base/ranks.h"

// The largest number of contacts at home on a rank that it keeps, relative to the average.
#define LARGEST_SHARE 1.1

// The finalizer of SplitMix64, which spreads every bit over all others.
static uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

double noli_contact_draw(uint64_t high, uint32_t low, int32_t class) {
  uint64_t mixed = mix(mix(high) + ((uint64_t)low << 3 | (uint64_t) class) + 0x9e3779b97f4a7c15U);
  return (double)(mixed >> 11) / 9007199254740992.0; // 2^53
}

void noli_contact_shares(int32_t n_rank, const double* n_home, double* keep, double* until) {
  double mean = 0.0, room = 0.0;
  for (int32_t r = 0; r < n_rank; r++) {
    mean += n_home[r] / n_rank;
  }
  for (int32_t r = 0; r < n_rank; r++) {
    double n = n_home[r];
    keep[r] = n > LARGEST_SHARE * mean ? LARGEST_SHARE * mean / n : 1.0;
    room += n < mean ? mean - n : 0.0;
    until[r] = room;
  }
  for (int32_t r = 0; r < n_rank; r++) {
    until[r] = room > 0.0 ? until[r] / room : 1.0;
  }
}

int32_t noli_contact_keeper(int32_t n_rank, const double* keep, const double* until, int32_t home,
                            double draw) {
  if (draw < keep[home]) {
    return home;
  }
  double rest = (draw - keep[home]) / (1.0 - keep[home]);
  int32_t r = 0;
  while (r + 1 < n_rank && rest >= until[r]) {
    r++;
  }
  return r;
}

// The data sent about a pair.
typedef struct Sent {
  NoliPrimitivePair pair;
  int32_t kind;
} Sent;

// Fills n_out (ranks) and `out` (n): the pairs in the order of the ranks that keep them.
static NoliStatus address(NoliContext* context, const NoliFoundPair* found, int64_t n,
                          int64_t* n_out, Sent* out) {
  NoliStatus status = NOLI_OK;
  int32_t n_rank = noli_rank_count(context), *keeper = NULL;
  int64_t* next = NULL;
  double *n_home = NULL, *keep = NULL, *until = NULL;
  NOLI_NEW_ZERO(context, n_home, n_rank);
  NOLI_NEW(context, next, n_rank);
  NOLI_NEW(context, keep, n_rank);
  NOLI_NEW(context, until, n_rank);
  NOLI_NEW(context, keeper, n);

  // how many are at home on each rank, found by all
  for (int64_t i = 0; i < n; i++) {
    n_home[found[i].home] += 1.0;
  }
  NOLI_TRY(noli_ranks_sum(context, n_home, n_rank));
  noli_contact_shares(n_rank, n_home, keep, until);

  // sorted by rank
  for (int32_t r = 0; r < n_rank; r++) {
    n_out[r] = 0;
  }
  for (int64_t i = 0; i < n; i++) {
    keeper[i] = noli_contact_keeper(n_rank, keep, until, found[i].home, found[i].draw);
    n_out[keeper[i]]++;
  }
  for (int32_t r = 0; r < n_rank; r++) {
    next[r] = r == 0 ? 0 : next[r - 1] + n_out[r - 1];
  }
  for (int64_t i = 0; i < n; i++) {
    out[next[keeper[i]]++] = (Sent){found[i].pair, (int32_t)found[i].kind};
  }
done:
  noli_free(context, n_home);
  noli_free(context, next);
  noli_free(context, keep);
  noli_free(context, until);
  noli_free(context, keeper);
  return status;
}

NoliStatus noli_contact_share_pairs(NoliContext* context, const NoliFoundPair* found, int64_t n,
                                    NoliCandidates* kept, NoliPointEdges* point_edges) {
  NoliStatus status = NOLI_OK;
  int32_t n_rank = noli_rank_count(context);
  int64_t *n_out = NULL, *n_in = NULL, capacity = 0, n_kept = 0;
  Sent *out = NULL, *in = NULL;
  kept->point_triangle.count = kept->edge_edge.count = point_edges->pair.count = 0;
  NOLI_NEW(context, n_out, n_rank);
  NOLI_NEW(context, n_in, n_rank);
  NOLI_NEW(context, out, n);
  NOLI_TRY(address(context, found, n, n_out, out));
  NOLI_TRY(noli_ranks_exchange(context, sizeof *out, out, n_out, (void**)&in, &capacity, n_in));
  for (int32_t r = 0; r < n_rank; r++) {
    n_kept += n_in[r];
  }
  NOLI_TRY(noli_array_reserve(context, &kept->point_triangle, n_kept));
  NOLI_TRY(noli_array_reserve(context, &kept->edge_edge, n_kept));
  NOLI_TRY(noli_array_reserve(context, &point_edges->pair, n_kept));

  for (int64_t i = 0; i < n_kept; i++) {
    if (in[i].kind == NOLI_PRIMITIVES_POINT_EDGE) {
      point_edges->pair.data[point_edges->pair.count++] = in[i].pair;
    } else if (in[i].kind == NOLI_PRIMITIVES_EDGE_EDGE) {
      kept->edge_edge.data[kept->edge_edge.count++] = in[i].pair;
    } else {
      kept->point_triangle.data[kept->point_triangle.count++] = in[i].pair;
    }
  }
done:
  noli_free(context, n_out);
  noli_free(context, n_in);
  noli_free(context, out);
  noli_free(context, in);
  return status;
}
