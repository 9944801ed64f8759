// Vertices that follow nodes: positions that are no unknowns but fixed combinations of them.
//
// Vertices are numbered through, nodes first: vertices v < n_node are nodes. Followers are nodes of
// one body that are tied to elements of another, in the order of their numbers, then all vertices
// from n_node on: a proxy follows its nodes as x = X + sum_a w_a (x_a - X_a), a tied node as
// x = offset + sum_a w_a x_a, with row k of the sparse matrix W for the k-th follower. A proxy
// whose nodes are tied follows the nodes behind them, and has an offset where these do not fit at
// rest. Vectors hold all vertices, so that code that looks at positions (contact, collision
// detection, audits) need not know which are which. Only forces and matrices do: a force on a
// follower acts on its nodes, f_a += w_a f, and a stencil that names followers is expanded into the
// nodes behind it. Without followers nothing changes. W is also kept by columns, so that both
// directions run in parallel with the same bits for any number of threads.
#pragma once

#include "base/context.h"

// Nodes behind a vertex, at most: those of an element of order 4.
enum { NOLI_FOLLOWED_ROW_MAX = 35 };

typedef struct NoliFollowers {
  int32_t n_node;
  int32_t n;         // followers
  int32_t n_tied;    // of them that are nodes; they come first
  int32_t* tied;     // (n_tied) these nodes, ascending
  int32_t* of_node;  // (n_node) the follower that a node is, or NOLI_NULL_INDEX; NULL: none is one
  double* offset;    // (n x 3) m, what is constant in addition; NULL: nothing, and none is tied
  bool grounded;     // tied nodes may follow points of the world, too: weights do not sum to one
  int64_t* row;      // (n + 1)
  int32_t* node;     // (row[n]) ascending in each row
  double* weight;    // (row[n])
  int64_t* column;   // (n_node + 1) the same by columns
  int32_t* follower; // ascending in each column
  double* share;
} NoliFollowers;

// Room for n followers with n_entry weights; the caller fills row, node and weight, and finishes.
// On failure `*followers` must still be destroyed.
NOLI_WARN_UNUSED NoliStatus noli_followers_begin(NoliContext* context, int32_t n_node, int32_t n,
                                                 int64_t n_entry, NoliFollowers* followers);
NOLI_WARN_UNUSED NoliStatus noli_followers_finish(NoliContext* context, NoliFollowers* followers);
void noli_followers_destroy(NoliContext* context, NoliFollowers* followers);

// Nodes that are tied: rows over vertices of all kinds, which may be tied themselves.
typedef struct NoliTiedNodes {
  int32_t n;
  const int32_t* node;   // (n) ascending
  const int64_t* row;    // (n + 1)
  const int32_t* vertex; // (row[n])
  const double* weight;  // (row[n]) their sums in each row are one, unless `offset` is given
  const double* offset;  // (n x 3) m; NULL: 0
} NoliTiedNodes;

// Adds tied nodes to followers that are finished and have none. Rows of vertices that follow are
// replaced by those of the nodes behind them, of tied nodes and of others; `*failed` names the tied
// node that would follow itself in the end (NOLI_ERROR_ARGUMENT) or that more nodes are behind than
// a vertex may have (NOLI_ERROR_TOO_LARGE), both without a message. X (n_vert x 3) at rest.
NOLI_WARN_UNUSED NoliStatus noli_followers_tie(NoliContext* context, const NoliTiedNodes* tied,
                                               const double* X, NoliFollowers* followers,
                                               int32_t* failed);

// The vertex that a follower is.
static inline int32_t noli_followers_vertex(const NoliFollowers* followers, int32_t follower) {
  return follower < followers->n_tied ? followers->tied[follower]
                                      : followers->n_node + (follower - followers->n_tied);
}

// The follower that a vertex is, or NOLI_NULL_INDEX.
static inline int32_t noli_followers_find(const NoliFollowers* followers, int32_t vertex) {
  if (vertex >= followers->n_node) {
    return followers->n_tied + (vertex - followers->n_node);
  }
  return followers->of_node != NULL ? followers->of_node[vertex] : NOLI_NULL_INDEX;
}

// Whether a tied node follows the world, too: its weights do not sum to one.
bool noli_followers_is_grounded(const NoliFollowers* followers, int32_t follower);

// Validator of what is finished (base/validate.h): every follower is a combination of nodes alone,
// whose weights sum to one, and columns say the same as rows.
const char* noli_followers_defect(const NoliFollowers* followers);

// Sets the followers' part of x from the nodes' part. x and X: (n_node + n) x 3.
void noli_followers_move(const NoliFollowers* followers, const double* X, int32_t n_threads,
                         double* x);

// The same for displacements, steps, velocities: u = W u.
void noli_followers_move_vectors(const NoliFollowers* followers, int32_t n_threads, double* u);

// Adds W^T of the followers' part of a force to the nodes that they follow; the former stays.
void noli_followers_add_forces(const NoliFollowers* followers, int32_t n_threads, double* force);

// Vertices of a stencil that can be expanded, at most, and nodes that it can become.
enum { NOLI_FOLLOWED_SIZE_MAX = 4, NOLI_FOLLOWED_NODES_MAX = 4 * NOLI_FOLLOWED_ROW_MAX };

// The nodes behind the vertices of a stencil, ascending, and coefficient (size x n) of each vertex
// in each node. Vertices may be NOLI_NULL_INDEX at the end. Returns n.
int32_t
noli_followers_stencil(const NoliFollowers* followers, int32_t size, const int32_t* vertex,
                       int32_t node[NOLI_FOLLOWED_NODES_MAX],
                       double coefficient[NOLI_FOLLOWED_SIZE_MAX * NOLI_FOLLOWED_NODES_MAX]);
