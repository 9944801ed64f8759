// Vertices that follow nodes: positions that are no unknowns but fixed combinations of them.
//
// Vertices are numbered through, nodes first: vertex v < n_node is a node, vertex n_node + k the
// k-th follower, x = X + sum_a w_a (x_a - X_a) with row k of the sparse matrix W. Vectors hold all
// vertices, so that code that looks at positions (contact, collision detection, audits) need not
// know which are which. Only forces and matrices do: what acts on a follower acts on its nodes,
// f_a += w_a f, and a stencil that names followers is expanded into the nodes behind it. Without
// followers nothing changes. W is also kept by columns, so that both directions run in parallel
// with the same bits for any number of threads.
#pragma once

#include "base/context.h"

typedef struct NoliFollowers {
  int32_t n_node;
  int32_t n;         // followers
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

// Validator of what is finished (base/validate.h): every follower is a combination of nodes alone,
// whose weights sum to one, and columns say the same as rows.
const char* noli_followers_defect(const NoliFollowers* followers);

// Sets the followers' part of x from the nodes' part. x and X: (n_node + n) x 3.
void noli_followers_move(const NoliFollowers* followers, const double* X, int32_t n_threads,
                         double* x);

// The same for displacements, steps, velocities: u = W u.
void noli_followers_move_vectors(const NoliFollowers* followers, int32_t n_threads, double* u);

// Adds W^T of the followers' part of a force to the nodes' part; the former stays.
void noli_followers_add_forces(const NoliFollowers* followers, int32_t n_threads, double* force);

// Vertices of a stencil that can be expanded, at most, and nodes that it can become: each vertex
// stands for 35 nodes at most (an element of order 4).
enum { NOLI_FOLLOWED_SIZE_MAX = 4, NOLI_FOLLOWED_NODES_MAX = 4 * 35 };

// The nodes behind the vertices of a stencil, ascending, and coefficient (size x n) of each vertex
// in each node. Vertices may be NOLI_NULL_INDEX at the end. Returns n.
int32_t
noli_followers_stencil(const NoliFollowers* followers, int32_t size, const int32_t* vertex,
                       int32_t node[NOLI_FOLLOWED_NODES_MAX],
                       double coefficient[NOLI_FOLLOWED_SIZE_MAX * NOLI_FOLLOWED_NODES_MAX]);
