/// @file gcp.h
/// The geometric contact potential [Huang2025] of closed triangle surfaces: no forces at rest
/// however far it reaches, no contact between neighbours, the same strength on any mesh.
///
/// The potential is the sum over pairs of vertices, edges and faces that do not belong to one face
///     Psi = sum w_G w_H M g_G g_H h_eps(z) / z^2
/// of their distance z ([Huang2025] eq. 13 and 14): w are weights (areas at rest), h_eps a spline
/// that ends at the support eps, g direction terms that vanish where the pair is no local minimum
/// of distance or would meet from inside, and M takes a pair out smoothly where its closest points
/// reach the boundary of their elements and another pair takes over. It is continuously
/// differentiable, grows to infinity before surfaces touch, and never acts in the rest
/// configuration. Details: docs/background/contact_potential.md.
#pragma once

#include "noli/barrier.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Parameters of the potential. All have defaults but `eps_target`.
typedef struct NoliGcpDef {
  uint32_t size;     ///< set by noli_default_gcp_def
  double eps_target; ///< distance in metres beyond which nothing acts; any positive number, also
                     ///< more than the edges of the mesh; must be given
  double alpha;      ///< cosine within which a direction counts as a local minimum, in (0, 1];
                     ///< default 0.5. Larger: smoother, more pairs; smaller: fewer forces near
                     ///< cusps, more Newton iterations ([Huang2025] uses 0.05 to 1)
  double beta;       ///< the same for outside and inside, in (0, 1]; default 0.1
  double length;     ///< L in metres, the width that sharp edges (more than 30 degrees at rest) and
                     ///< corners count for, whatever the mesh; 0 (default): as elsewhere, the rest
                     ///< length of each edge, and the mean of its edges for a vertex
  const double* half_spaces; ///< (n_half_spaces x 6) origin and unit normal, whose side is free
  int32_t n_half_spaces;     ///< default 0
} NoliGcpDef;

/// Writes the defaults of a definition of `size` bytes; called by noli_default_gcp_def.
NOLI_API void noli_gcp_def_init(NoliGcpDef* def, size_t size);

/// The defaults named above. No other way makes a valid definition.
static inline NoliGcpDef noli_default_gcp_def(void) {
  NoliGcpDef def;
  noli_gcp_def_init(&def, sizeof def);
  return def;
}

/// Kinds of pairs.
typedef enum NoliGcpPairKind {
  NOLI_GCP_PAIR_VERTEX_VERTEX, ///< vertices p, q
  NOLI_GCP_PAIR_VERTEX_EDGE,   ///< vertices p, e0, e1
  NOLI_GCP_PAIR_VERTEX_FACE,   ///< vertices p, t0, t1, t2
  NOLI_GCP_PAIR_EDGE_EDGE,     ///< vertices ea0, ea1, eb0, eb1
  NOLI_GCP_PAIR_HALF_SPACE,    ///< vertex p
} NoliGcpPairKind;

/// An active pair. Never changes its size.
typedef struct NoliGcpContact {
  NoliGcpPairKind kind;
  int32_t vertex[4];  ///< in the order of the kind; unused: NOLI_NULL_INDEX
  int32_t half_space; ///< NOLI_NULL_INDEX for other kinds
  double distance;    ///< m
  double reserved[2];
} NoliGcpContact;

/// Result and cost of determining the supports from the rest configuration.
typedef struct NoliGcpSupport {
  int64_t n_candidates; ///< pairs that were examined
  int64_t n_active;     ///< pairs that would act at rest if every support were eps_target
  int64_t n_reduced;    ///< vertices with a support below eps_target
  double min_eps;       ///< smallest support of a vertex in metres
  double seconds;       ///< wall time
} NoliGcpSupport;

/// The potential of a set of surfaces or curves.
typedef struct NoliGcpPotential NoliGcpPotential;

/// Prepares the potential: weights and supports from the rest positions `X` (n_vert x 3, metres) of
/// the triangles `tri` (n_tri x 3), which form any number of closed surfaces that look outward (to
/// the side from which contact comes). All arrays are copied.
/// Fails with NOLI_ERROR_ARGUMENT for a parameter out of its range, an index out of range, a
/// coordinate that is not finite, and a surface that is open, has an edge of more than two
/// triangles or neighbours that look to opposite sides: the message names the edge and where it is.
/// Fails with NOLI_ERROR_INTERSECTION where surfaces touch at rest, and with NOLI_ERROR_MEMORY.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_gcp_potential_create(NoliContext* context,
                                                               const NoliGcpDef* def,
                                                               const double* X, int32_t n_vert,
                                                               const int32_t* tri, int32_t n_tri,
                                                               NoliGcpPotential** potential);

/// The same in a plane z = const, for closed curves: `edge` (n_edge x 2) are their segments, with
/// the bodies on their left. Pairs are those of vertices and edges, vertices and vertices, and
/// vertices and half-spaces whose normals lie in the plane; the potential has h_eps(z) / z in place
/// of h_eps(z) / z^2, weights are lengths, the value is in m. Fails where
/// noli_gcp_potential_create does, also with NOLI_ERROR_ARGUMENT for vertices beside the plane of
/// the first one.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_gcp_potential_create_plane(
    NoliContext* context, const NoliGcpDef* def, const double* X, int32_t n_vert,
    const int32_t* edge, int32_t n_edge, NoliGcpPotential** potential);

/// Releases the potential and sets the pointer to NULL. NULL is allowed.
NOLI_API void noli_gcp_potential_destroy(NoliGcpPotential** potential);

/// Finds the active pairs at positions `x` (n_vert x 3), which are copied. Everything below
/// refers to these positions, which must be reached from the rest positions without contact: the
/// potential does not detect surfaces that have passed through each other. Fails with
/// NOLI_ERROR_ARGUMENT for positions that are not finite, and with NOLI_ERROR_MEMORY.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_gcp_potential_update(NoliGcpPotential* potential,
                                                               const double* x);

/// The active pairs, in a fixed order; valid until the next update.
NOLI_API const NoliGcpContact* noli_gcp_potential_pairs(const NoliGcpPotential* potential,
                                                        int64_t* n_pairs);

/// Smallest distance in metres of an active pair; INFINITY if there is none.
NOLI_API double noli_gcp_potential_min_distance(const NoliGcpPotential* potential);

/// The support of each vertex (n_vert) in metres; edges and faces have the smallest of their
/// vertices, and a pair acts below the smaller support of its two elements.
NOLI_API const double* noli_gcp_potential_eps(const NoliGcpPotential* potential);

/// noli_gcp_potential_support for a struct of `size` bytes.
NOLI_API void noli_gcp_potential_support_sized(const NoliGcpPotential* potential,
                                               NoliGcpSupport* support, size_t size);

/// The supports and the cost of finding them; zeros for NULL.
static inline NoliGcpSupport noli_gcp_potential_support(const NoliGcpPotential* potential) {
  NoliGcpSupport support;
  noli_gcp_potential_support_sized(potential, &support, sizeof support);
  return support;
}

/// Value in m^2, in a plane in m; +INFINITY where elements touch.
NOLI_API double noli_gcp_potential_value(const NoliGcpPotential* potential);

/// Writes the gradient (n_vert x 3); NaN where elements touch.
/// Fails with NOLI_ERROR_MEMORY.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_gcp_potential_gradient(NoliGcpPotential* potential,
                                                                 double* gradient);

/// The Hessian as triplets, rows and columns 3 * vertex + axis, both triangles; entries of
/// different pairs are not added up. It couples the rings of the elements of a pair. With
/// `projected`, the Hessian of each pair is replaced by the nearest positive semi-definite matrix.
/// `*triplets` belongs to the potential and is valid until the next call of this function. Fails
/// with NOLI_ERROR_MEMORY, NOLI_ERROR_TOO_LARGE.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_gcp_potential_hessian(NoliGcpPotential* potential,
                                                                bool projected,
                                                                const NoliTriplet** triplets,
                                                                int64_t* n_triplets);

#ifdef __cplusplus
}
#endif
