// Which rank keeps a contact, where ranks have found the close pairs of primitives in shares.
//
// A contact is best kept on the rank that has the elements around its vertices, its home: few of
// its blocks of the matrix are sent then. Where most contacts are at home on one rank, that rank
// keeps LARGEST_SHARE times the average, and others go where there are fewer; which ones, their
// keys decide. Pairs with the same closest feature therefore meet on one rank, whichever ranks have
// found them, and nothing depends on who has found what.
#pragma once

#include "collide/impacts.h"

// A close pair that this rank has found.
typedef struct NoliFoundPair {
  NoliPrimitivePair pair;
  NoliPrimitives kind; // of the pair, not with a half-space
  int32_t home;        // of its contact: a rank
  double draw;         // in [0, 1), the same for all pairs with this contact
} NoliFoundPair;

// The home of a contact with n vertices, of which unused ones are NOLI_NULL_INDEX: that of the
// first that has one. home (n_vert) as in NoliCandidates. 0 where none has.
static inline int32_t noli_contact_home(const int32_t* home, const int32_t* vertex, int32_t n) {
  for (int32_t k = 0; k < n; k++) {
    if (vertex[k] != NOLI_NULL_INDEX && home[vertex[k]] != NOLI_NULL_INDEX) {
      return home[vertex[k]];
    }
  }
  return 0;
}

// A number in [0, 1) from the key of a contact: evenly distributed, and the same everywhere.
double noli_contact_draw(uint64_t high, uint32_t low, int32_t class);

// Sends the n pairs to the ranks that keep their contacts, all of which call this, and replaces
// `kept` and `point_edges` by those that come here.
NOLI_WARN_UNUSED NoliStatus noli_contact_share_pairs(NoliContext* context,
                                                     const NoliFoundPair* found, int64_t n,
                                                     NoliCandidates* kept,
                                                     NoliPointEdges* point_edges);

// How `n_home` (n_rank) contacts at home on each rank are shared out: the part `keep` that stays,
// and of all those that go, the part `until` that goes to this rank or one before it.
void noli_contact_shares(int32_t n_rank, const double* n_home, double* keep, double* until);

// The rank that keeps a contact.
int32_t noli_contact_keeper(int32_t n_rank, const double* keep, const double* until, int32_t home,
                            double draw);
