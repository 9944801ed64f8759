// The contact set: every pair of primitives closer than dhat, reduced to its closest features.
//
// The closeness of a pair is its gap: the distance less the offsets of both bodies (surface.h).
//
// A point-triangle pair becomes point-point, point-edge or point-triangle, an edge-edge pair
// point-point, point-edge or edge-edge: the nodes that the distance depends on. In a plane the
// primitives are vertices and edges: point-edge pairs become point-point or point-edge. So they do
// between segments that belong to no triangle, beside pairs of edges (point_edge.h). Several
// primitive pairs can share a point-point or point-edge stencil; it is stored once, and its weight
// counts them, so that the energy stays the sum over primitive pairs of [Li2020] eq. 5. Flat parts
// of obstacles are the exception: their triangles count as one plane (collide/flat.h). Edge-edge
// pairs inside the mollifier's zone keep their four nodes: their energy e(c) b(D) depends on all of
// them, whichever feature is closest.
//
// Contacts are sorted by kind and key. The order depends on x alone, not on the number of threads
// or on surplus candidates of the broad phase.
//
// Where candidates are divided among ranks, so is the set: every contact is on one rank
// (contact_share.h), and what is said of all contacts is the same on all ranks.
#pragma once

#include "base/array.h"
#include "collide/candidates.h"
#include "collide/closest.h"
#include "collide/colliders.h"
#include "collide/point_edge.h"
#include "contact/contact_pairs.h"

typedef struct NoliContact {
  int32_t node[4];   // global vertices in the order of `kind`; unused: NOLI_NULL_INDEX
  int32_t entity[2]; // bodies of the first and of the last node
  NoliPairKind kind; // NOLI_PAIR_EDGE_EDGE for all mollified contacts
  bool mollified;
  bool crossing;  // a mollified one that is that of contact/crossing.h
  bool limited;   // its range is that of a flat part or a guard, not of its bodies
  double weight;  // number of primitive pairs that share this closest feature; at flat parts of
                  // obstacles as collide/flat.h says; with weights as contact/convergent.h says,
                  // 1/m, of either sign
  double scale;   // of the weight, during the build: weights are whole numbers until they are sums
  double eps_x;   // zone of the mollifier; 0 if not mollified
  double offset;  // m, sum of both bodies' offsets
  double range;   // contact distance of the pair over dhat
  double gap_sqr; // at the positions the set was built for; 0 if the offset surfaces meet
  // contacts with edges of this triangle whose weight is negative; one is `joined` to one contact
  int32_t minus[3];
  int32_t n_minus;
  bool joined;
} NoliContact;

// Number of nodes of the first of the two primitives; they come first in `node`.
static inline int32_t noli_contact_first_side(const NoliContact* contact) {
  return contact->kind == NOLI_PAIR_EDGE_EDGE ? 2 : 1;
}

// A vertex closer than dhat to a half-space.
typedef struct NoliHalfSpaceContact {
  int32_t node;
  int32_t plane;
  int32_t entity[2]; // body, half-space
  double offset;     // m, of the body
  double range;      // contact distance of the pair over dhat
  double weight;     // as contact/convergent.h says, 1/m; 0: each contact counts once
  double gap;        // m, signed: not positive if the body meets the plane
} NoliHalfSpaceContact;

static inline double noli_half_space_weight(const NoliHalfSpaceContact* contact) {
  return contact->weight > 0.0 ? contact->weight : 1.0;
}

// Identifies a contact of a given surface; keys have the order of contacts.
typedef struct NoliContactKey {
  uint64_t high;
  uint32_t low;
  int32_t index; // of the contact
} NoliContactKey;

static inline bool noli_contact_key_equal(NoliContactKey a, NoliContactKey b) {
  return a.high == b.high && a.low == b.low;
}
static inline bool noli_contact_key_less(NoliContactKey a, NoliContactKey b) {
  return a.high != b.high ? a.high < b.high : a.low < b.low;
}

// Contacts by class: the four kinds, then the mollified ones.
enum { NOLI_CONTACT_CLASSES = 5 };

typedef struct NoliContactSet {
  NOLI_ARRAY(NoliContact) contact;
  NOLI_ARRAY(int32_t) node;       // (contact.count x 4) copy of the nodes for energy terms
  NOLI_ARRAY(NoliContactKey) key; // (contact.count)
  NOLI_ARRAY(NoliHalfSpaceContact) plane;
  NOLI_ARRAY(int32_t) plane_node;                // (plane.count)
  int64_t class_first[NOLI_CONTACT_CLASSES + 1]; // contacts of class k: [k], [k + 1)
  bool divided; // the lists above are those of this rank, and other ranks have others
  // of all contacts, those of other ranks included
  int64_t n_all;             // contacts, half-spaces included
  int64_t n_primitive_pairs; // pairs closer than dhat before merging, half-spaces included
  double min_gap_sqr;        // INFINITY when empty, 0 at or below a plane
  double min_ranged_sqr;     // smallest square of a gap over its range; INFINITY when empty
  // scratch of the build, kept so that rebuilding allocates nothing
  NoliPointEdges point_edges;      // of the candidates; those kept, of divided ones
  NoliCandidates kept;             // close pairs whose contacts this rank keeps, of divided ones
  NOLI_ARRAY(uint16_t) close;      // close items of each block: position in it, number of contacts
  NOLI_ARRAY(int32_t) block_close; // their number
  NOLI_ARRAY(int64_t) block_count; // per class and block, then the block's position in the output
  NOLI_ARRAY(NoliContact) first;   // the first contacts of each block
  NOLI_ARRAY(NoliContact) raw;     // before merging
  NOLI_ARRAY(NoliContactKey) sort; // keys of `raw`, then as many as scratch for sorting
} NoliContactSet;

void noli_contact_set_init(NoliContactSet* set);
void noli_contact_set_free(NoliContext* context, NoliContactSet* set);

// Replaces the set by all pairs closer than dhat times their range at x (n_vert x 3) among the
// candidates, and by all surface vertices that are so close to a half-space. Ignores candidates
// that share a vertex and entities that do not meet. X (n_vert x 3) are the rest positions. Fails
// with NOLI_ERROR_MEMORY, and with NOLI_ERROR_ARGUMENT if dhat is not positive and finite.
NOLI_WARN_UNUSED NoliStatus noli_contact_set_build(NoliContactSet* set, NoliContext* context,
                                                   const NoliColliders* colliders, const double* X,
                                                   const NoliCandidates* candidates,
                                                   const double* x, double dhat, int32_t n_threads);

// Smallest gap in metres, INFINITY when the set is empty.
double noli_contact_set_min_distance(const NoliContactSet* set);

// Validator (base/validate.h).
const char* noli_contact_set_defect(const NoliContactSet* set, int32_t n_vert);
