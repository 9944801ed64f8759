#include "contact/contact_set.h"

#include "base/validate.h"
#include "base/parallel.h"
#include "base/ranks.h"
#include "collide/flat.h"
#include "collide/separation.h"
#include "contact/contact_share.h"
#include "contact/convergent.h"
#include "contact/crossing.h"
#include "contact/mollifier.h"

#include <string.h>

// The build is a count, a prefix sum and a fill over fixed blocks of items. Items are all
// point-triangle candidates, then all edge-edge candidates, point-edge pairs, then every surface
// point against every half-space. The first pass records the close items of each block and
// keeps the first contacts, the second writes them at the offsets given by the prefix sum, class by
// class, so that the result does not depend on which worker processed which block.

// An item is one contact, or several at a flat part of an obstacle (collide/flat.h).

enum {
  POSITION_BITS = 11, // and above them the number of contacts of a close item
  BLOCK = 1 << POSITION_BITS,
  MOST = NOLI_CROSSING_FEATURES,
  KEPT = 128,
  PLANE_CLASS = NOLI_CONTACT_CLASSES,
  N_CLASS = NOLI_CONTACT_CLASSES + 1
};

_Static_assert(MOST >= NOLI_FLAT_FEATURES - 1, "an item has that many contacts");
_Static_assert(MOST <= UINT16_MAX >> POSITION_BITS, "close items are 16 bits wide");

typedef struct Build {
  NoliContactSet* set;
  const NoliSurface* surface;
  const NoliCandidates* candidates;
  const int32_t* home; // of the candidates
  int32_t rank;
  const NoliHalfSpace* half_spaces;
  const NoliBodyPairs* pairs;
  const NoliConvergent* convergent;
  const double* X;
  const double* x;
  double dhat;
  double dhat_sqr;
  double largest;          // coordinate
  int64_t edge_edge_first; // items: point-triangle, edge-edge, point-edge, point-plane
  int64_t point_edge_first;
  int64_t plane_first;
  int64_t n_items;
  int64_t n_blocks;
} Build;

void noli_contact_set_init(NoliContactSet* set) {
  *set = (NoliContactSet){.min_gap_sqr = (double)INFINITY, .min_ranged_sqr = (double)INFINITY};
}

void noli_contact_set_free(NoliContext* context, NoliContactSet* set) {
  noli_array_free(context, &set->contact);
  noli_array_free(context, &set->node);
  noli_array_free(context, &set->key);
  noli_array_free(context, &set->plane);
  noli_array_free(context, &set->plane_node);
  noli_array_free(context, &set->close);
  noli_array_free(context, &set->block_close);
  noli_array_free(context, &set->block_count);
  noli_array_free(context, &set->first);
  noli_array_free(context, &set->raw);
  noli_array_free(context, &set->sort);
  noli_point_edges_free(context, &set->point_edges);
  noli_candidates_free(context, &set->kept);
  noli_contact_set_init(set);
}

static void contact_set_swap(int32_t* a, int32_t* b) {
  int32_t t = *a;
  *a = *b;
  *b = t;
}

// Selects the nodes of a feature from the four of the primitive pair, in an order that does not
// depend on the pair: equal features then have equal nodes and bitwise equal distances.
static void take_feature(const int32_t node[4], NoliFeature feature, NoliContact* contact) {
  contact->kind = feature.kind;
  for (int i = 0; i < 4; i++) {
    contact->node[i] = i < noli_pair_size[feature.kind] ? node[feature.vertex[i]] : NOLI_NULL_INDEX;
  }
  if (feature.kind == NOLI_PAIR_POINT_POINT && contact->node[0] > contact->node[1]) {
    contact_set_swap(&contact->node[0], &contact->node[1]);
  }
  if (feature.kind == NOLI_PAIR_POINT_EDGE && contact->node[1] > contact->node[2]) {
    contact_set_swap(&contact->node[1], &contact->node[2]);
  }
}

static void contact_set_load_nodes(const int32_t node[4], int32_t size, const double* x,
                                   NoliVec3 out[4]) {
  for (int32_t i = 0; i < size; i++) {
    out[i] = noli_load3(x + 3 * (int64_t)node[i]);
  }
}

// Whether a feature is certainly not closer than reach, without a division: |w x e| = d |e| for a
// point and a line, |w . n| = d |n| for a plane or two lines with normal n = u x v. The rounding
// errors of the products are a few ulps of |u| |v| |w|; SLACK and ROUNDING more than cover them,
// because (a + b)^2 <= (1 + SLACK) a^2 + (1 + 1 / SLACK) b^2.
static bool certainly_far(NoliPairKind kind, const NoliVec3 y[4], double reach_sqr) {
  const double SLACK = 1e-6, ROUNDING = 1e-24;
  double bound = (1.0 + SLACK) * reach_sqr;
  NoliVec3 w = noli_sub3(y[0], y[kind == NOLI_PAIR_EDGE_EDGE ? 2 : 1]);
  double w_sqr = noli_norm_sqr3(w);
  if (kind == NOLI_PAIR_POINT_POINT) {
    return w_sqr > bound;
  }
  if (kind == NOLI_PAIR_POINT_EDGE) {
    NoliVec3 e = noli_sub3(y[2], y[1]);
    return noli_norm_sqr3(noli_cross3(w, e)) > noli_norm_sqr3(e) * (bound + ROUNDING * w_sqr);
  }
  bool edges = kind == NOLI_PAIR_EDGE_EDGE;
  NoliVec3 u = edges ? noli_sub3(y[1], y[0]) : noli_sub3(y[2], y[1]);
  NoliVec3 v = edges ? noli_sub3(y[3], y[2]) : noli_sub3(y[3], y[1]);
  NoliVec3 n = noli_cross3(u, v);
  double height = noli_dot3(w, n);
  return height * height >
         bound * noli_norm_sqr3(n) + ROUNDING * noli_norm_sqr3(u) * noli_norm_sqr3(v) * w_sqr;
}

// The sum of the offsets of the bodies of two vertices, and the range of this pair.
static void set_pair(const Build* build, int32_t p, int32_t q, NoliContact* contact) {
  const NoliSurface* surface = build->surface;
  int32_t a = surface->body[p], b = surface->body[q];
  contact->offset = surface->offset == NULL ? 0.0 : noli_surface_offset(surface, a, b);
  contact->range = noli_body_pairs_range(build->pairs, a, b);
  contact->limited = false;
}

// Computes the gap of the active feature of a primitive pair with the vertices `pair_y`, where
// contact->offset and range are known. Reports NaN as close, so that a later check detects it.
static bool feature_close(const Build* build, const int32_t node[4], const NoliVec3 pair_y[4],
                          NoliFeature feature, NoliContact* contact) {
  NoliVec3 y[4];
  int32_t size = noli_pair_size[feature.kind];
  for (int32_t i = 0; i < size; i++) {
    y[i] = pair_y[feature.vertex[i]];
  }
  double reach = build->dhat * contact->range + contact->offset;
  if (certainly_far(feature.kind, y, reach * reach)) {
    return false;
  }
  take_feature(node, feature, contact);
  contact_set_load_nodes(contact->node, size, build->x, y);
  contact->gap_sqr = noli_gap_sqr(noli_closest(contact->kind, y).d_sqr, contact->offset);
  contact->mollified = contact->crossing = false;
  contact->eps_x = 0.0;
  contact->weight = contact->scale = 1.0;
  contact->joined = false;
  contact->n_minus = 0;
  contact->entity[0] = build->surface->body[contact->node[0]];
  contact->entity[1] = build->surface->body[contact->node[size - 1]];
  return !(contact->gap_sqr >= build->dhat_sqr * (contact->range * contact->range)) &&
         noli_body_pairs_get(build->pairs, contact->entity[0], contact->entity[1]);
}

// Whether two primitives are clearly out of reach.
static bool centers_are_far(const Build* build, int32_t n_a, const NoliVec3 y[4],
                            const NoliContact* contact) {
  double reach = build->dhat * contact->range + contact->offset;
  return noli_centers_are_far(n_a, y, reach, build->largest);
}

// The contacts of a vertex and the features of one primitive of a flat part that count: their
// number. found[0] has the offset and the range of the pair.
static int32_t flat_contacts(const Build* build, const int32_t node[4], const NoliVec3 y[4],
                             const int32_t count[NOLI_FLAT_FEATURES], NoliContact found[MOST]) {
  static const NoliPairKind kind[3] = {NOLI_PAIR_POINT_POINT, NOLI_PAIR_POINT_EDGE,
                                       NOLI_PAIR_POINT_TRIANGLE};
  const NoliContact pair = found[0];
  int32_t n = 0;
  for (int32_t subset = 1; subset < NOLI_FLAT_FEATURES; subset++) {
    if (count[subset] == 0) {
      continue;
    }
    NoliFeature feature = {.vertex = {0}};
    int32_t size = 1;
    for (int32_t k = 0; k < 3; k++) {
      if ((subset >> k & 1) != 0) {
        feature.vertex[size++] = 1 + k;
      }
    }
    feature.kind = kind[size - 2];
    found[n] = pair;
    if (feature_close(build, node, y, feature, &found[n])) {
      found[n++].weight = count[subset];
    }
  }
  return n;
}

// Limits the range of a pair to how far a flat part of an obstacle reaches.
static void limit_range(const Build* build, double reach, NoliContact* contact) {
  contact->range = fmin(contact->range, reach / build->dhat);
  contact->limited = true;
}

// The contacts of a vertex, node[0], and a triangle or segment, as contact/convergent.h counts
// them.
static int32_t convergent_contacts(const Build* build, NoliPrimitivePair pair, bool triangle,
                                   const int32_t node[4], const NoliVec3 y[4],
                                   NoliContact found[MOST]) {
  int32_t count[NOLI_FLAT_FEATURES];
  NoliConvergentScale scale =
      noli_convergent_vertex(build->convergent, build->surface, node[0], node[1], build->dhat);
  double flat;
  if (scale.range != 1.0) {
    limit_range(build, scale.range * build->dhat * found[0].range, &found[0]);
  }
  if (build->surface->flat != NULL && noli_flat_vertex(build->surface, build->x, node[0], &flat)) {
    limit_range(build, flat, &found[0]);
  }
  double reach = build->dhat * found[0].range + found[0].offset;
  if (triangle) {
    noli_convergent_triangle(build->convergent, build->surface, node[0], pair.b, y, reach, count);
  } else {
    noli_convergent_segment(build->surface, node[0], pair.b, y, reach, count);
  }
  int32_t n = flat_contacts(build, node, y, count, found);
  for (int32_t k = 0; k < n; k++) {
    found[k].scale = scale.weight;
  }
  return n;
}

static int32_t point_triangle_contacts(const Build* build, NoliPrimitivePair pair,
                                       NoliContact found[MOST]) {
  const NoliSurface* surface = build->surface;
  const int32_t* t = surface->tri + 3 * (int64_t)pair.b;
  const int32_t node[4] = {pair.a, t[0], t[1], t[2]};
  NoliVec3 y[4];
  contact_set_load_nodes(node, 4, build->x, y);
  set_pair(build, node[0], node[1], &found[0]);
  if (centers_are_far(build, 1, y, &found[0])) {
    return 0;
  }
  if (node[0] == node[1] || node[0] == node[2] || node[0] == node[3]) {
    return 0;
  }
  double reach;
  if (build->convergent != NULL) {
    return convergent_contacts(build, pair, true, node, y, found);
  }
  if (surface->flat != NULL && (surface->flat->tri[pair.b] & NOLI_FLAT_MEMBER) != 0) {
    int32_t count[NOLI_FLAT_FEATURES];
    noli_flat_triangle(surface, build->x, pair.b, y, count);
    return flat_contacts(build, node, y, count, found);
  }
  if (surface->flat != NULL && noli_flat_vertex(surface, build->x, pair.a, &reach)) {
    limit_range(build, reach, &found[0]);
  }
  return feature_close(build, node, y, noli_feature_point_triangle(y), &found[0]) ? 1 : 0;
}

// Limits the range of a pair of edges one of which is flat.
static void limit_flat_edges(const Build* build, NoliPrimitivePair pair, NoliContact* contact) {
  double reach;
  if (noli_flat_edge(build->surface, build->x, pair.a, &reach)) {
    limit_range(build, reach, contact);
  }
  if (noli_flat_edge(build->surface, build->x, pair.b, &reach)) {
    limit_range(build, reach, contact);
  }
}

// Nearly parallel edges keep all four nodes because the mollifier depends on them.
static bool mollify(const Build* build, const int32_t node[4], const NoliVec3 y[4],
                    NoliContact* contact) {
  NoliVec3 Y[4];
  contact_set_load_nodes(node, 4, build->X, Y);
  double eps_x = noli_mollifier_eps_x(Y);
  if (!(noli_mollifier_cross_sqr(y) < eps_x)) {
    return false;
  }
  contact->kind = NOLI_PAIR_EDGE_EDGE;
  contact->mollified = true;
  contact->eps_x = eps_x;
  memcpy(contact->node, node, 4 * sizeof *node);
  contact->entity[0] = build->surface->body[node[0]];
  contact->entity[1] = build->surface->body[node[3]];
  return true;
}

// The contacts of edges that cross.
static int32_t crossing_contacts(const Build* build, const int32_t node[4], const NoliVec3 y[4],
                                 double weight, NoliContact found[MOST]) {
  const NoliContact pair = found[0];
  NoliCrossingPart part[NOLI_CROSSING_FEATURES];
  if (!feature_close(build, node, y, noli_feature_edge_edge(y), &found[0])) {
    return 0; // the other parts are farther apart
  }
  if (mollify(build, node, y, &found[0])) {
    found[0].crossing = true;
    found[0].scale = weight;
    return 1;
  }
  int32_t n_part = noli_crossing_parts(y, part), n = 0;
  for (int32_t k = 0; k < n_part; k++) {
    found[n] = pair;
    if (feature_close(build, node, y, part[k].feature, &found[n])) {
      found[n].weight = part[k].count;
      found[n++].scale = weight;
    }
  }
  return n;
}

// Edges that are apart, share a vertex, or lie in a plane, where point-edge pairs represent them.
static bool is_no_pair(const Build* build, const int32_t node[4], const NoliVec3 y[4],
                       const NoliContact* contact) {
  const int32_t* body = build->surface->body;
  return centers_are_far(build, 2, y, contact) || node[0] == node[2] || node[0] == node[3] ||
         node[1] == node[2] || node[1] == node[3] ||
         noli_surface_is_planar(build->surface, body[node[0]], body[node[2]]);
}

static int32_t edge_edge_contacts(const Build* build, NoliPrimitivePair pair,
                                  NoliContact found[MOST]) {
  const int32_t* a = build->surface->edge + 2 * (int64_t)pair.a;
  const int32_t* b = build->surface->edge + 2 * (int64_t)pair.b;
  const int32_t node[4] = {a[0], a[1], b[0], b[1]};
  NoliVec3 y[4];
  contact_set_load_nodes(node, 4, build->x, y);
  set_pair(build, node[0], node[2], &found[0]);
  if (is_no_pair(build, node, y, &found[0])) {
    return 0;
  }

  // the closest feature
  NoliConvergentScale scale = {1.0, 1.0, false};
  if (build->convergent != NULL) {
    scale = noli_convergent_edges(build->convergent, build->surface, pair, build->dhat);
  }
  if (scale.crossing) {
    return crossing_contacts(build, node, y, scale.weight, found);
  }
  if (scale.range != 1.0) {
    limit_range(build, scale.range * build->dhat * found[0].range, &found[0]);
  }
  if (build->surface->flat != NULL) {
    limit_flat_edges(build, pair, &found[0]);
  }
  if (!feature_close(build, node, y, noli_feature_edge_edge(y), &found[0])) {
    return 0;
  }
  (void)mollify(build, node, y, &found[0]);
  found[0].scale = scale.weight;
  return 1;
}

static int32_t point_edge_contacts(const Build* build, NoliPrimitivePair pair,
                                   NoliContact found[MOST]) {
  const NoliSurface* surface = build->surface;
  const int32_t* e = surface->edge + 2 * (int64_t)pair.b;
  const int32_t node[4] = {pair.a, e[0], e[1], NOLI_NULL_INDEX};
  if (node[0] == node[1] || node[0] == node[2]) {
    return 0;
  }
  NoliVec3 y[4];
  contact_set_load_nodes(node, 3, build->x, y);
  set_pair(build, node[0], node[1], &found[0]);
  double reach;
  if (build->convergent != NULL) {
    return convergent_contacts(build, pair, false, node, y, found);
  }
  if (surface->flat != NULL && (surface->flat->segment[pair.b] & NOLI_FLAT_MEMBER) != 0) {
    int32_t count[NOLI_FLAT_FEATURES];
    noli_flat_segment(surface, build->x, pair.b, y, count);
    return flat_contacts(build, node, y, count, found);
  }
  if (surface->flat != NULL && noli_flat_vertex(surface, build->x, pair.a, &reach)) {
    limit_range(build, reach, &found[0]);
  }
  return feature_close(build, node, y, noli_feature_point_edge(y), &found[0]) ? 1 : 0;
}

static double half_space_weight(const Build* build, int32_t node) {
  return build->convergent == NULL
             ? 0.0
             : noli_convergent_half_space(build->convergent, build->surface, node, build->dhat);
}

static bool plane_close(const Build* build, int64_t item, NoliHalfSpaceContact* contact) {
  int32_t n_point = build->surface->n_point;
  int32_t plane = (int32_t)(item / n_point);
  int32_t node = build->surface->point[item % n_point];
  if (build->home != NULL && build->home[node] != build->rank) {
    return false; // kept on another rank
  }
  int32_t body = build->surface->body[node], entity = build->surface->n_body + plane;
  double d = noli_half_space_distance(&build->half_spaces[plane], build->x + 3 * (int64_t)node);
  double offset = noli_surface_offset_of(build->surface, body), gap = d - offset;
  double range = noli_body_pairs_range(build->pairs, body, entity);
  if (gap >= build->dhat * range) {
    return false;
  }
  *contact = (NoliHalfSpaceContact){.node = node,
                                    .plane = plane,
                                    .entity = {body, entity},
                                    .offset = offset,
                                    .range = range,
                                    .weight = half_space_weight(build, node),
                                    .gap = gap};
  return noli_body_pairs_get(build->pairs, body, entity);
}

// The primitives of an item, unless one of them is a half-space.
static NoliPrimitivePair pair_of_item(const Build* build, int64_t item) {
  return item < build->edge_edge_first ? build->candidates->point_triangle.data[item]
         : item < build->point_edge_first
             ? build->candidates->edge_edge.data[item - build->edge_edge_first]
             : build->set->point_edges.pair.data[item - build->point_edge_first];
}

static int contact_class(const NoliContact* contact) {
  return contact->mollified ? NOLI_CONTACT_CLASSES - 1 : (int)contact->kind;
}

// The contacts of an item between primitives: their number.
static int32_t item_contacts(const Build* build, int64_t item, NoliContact found[MOST]) {
  NoliPrimitivePair pair = pair_of_item(build, item);
  if (item < build->edge_edge_first) {
    return point_triangle_contacts(build, pair, found);
  }
  return item < build->point_edge_first ? edge_edge_contacts(build, pair, found)
                                        : point_edge_contacts(build, pair, found);
}

static NoliPrimitives kind_of_item(const Build* build, int64_t item) {
  return item < build->edge_edge_first    ? NOLI_PRIMITIVES_POINT_TRIANGLE
         : item < build->point_edge_first ? NOLI_PRIMITIVES_EDGE_EDGE
                                          : NOLI_PRIMITIVES_POINT_EDGE;
}

// The vertex of an item that counts as contact/convergent.h says.
static int32_t sampled_vertex(const Build* build, int64_t item) {
  return build->convergent != NULL && kind_of_item(build, item) != NOLI_PRIMITIVES_EDGE_EDGE
             ? pair_of_item(build, item).a
             : NOLI_NULL_INDEX;
}

// Whether an item is a pair of edges that counts where it crosses.
static bool is_crossing(const Build* build, int64_t item) {
  return build->convergent != NULL && kind_of_item(build, item) == NOLI_PRIMITIVES_EDGE_EDGE &&
         noli_convergent_edges(build->convergent, build->surface, pair_of_item(build, item),
                               build->dhat)
             .crossing;
}

// Vertices and edges leave it free.
#define TOP_BIT ((uint32_t)1 << 31)

// The key of a contact with an end of an edge that crosses another one: by the edges and the nodes.
static NoliContactKey crossing_key(const Build* build, int64_t item, const NoliContact* contact) {
  NoliPrimitivePair pair = pair_of_item(build, item);
  uint32_t subset = 0;
  for (int32_t k = 0; k < 4; k++) {
    const int32_t* edge = build->surface->edge + 2 * (int64_t)(k < 2 ? pair.a : pair.b);
    for (int32_t i = 0; i < noli_pair_size[contact->kind]; i++) {
      subset |= contact->node[i] == edge[k % 2] ? (uint32_t)1 << k : 0;
    }
  }
  uint64_t first = (uint32_t)pair.a | TOP_BIT, second = (uint32_t)pair.b | TOP_BIT;
  return (NoliContactKey){.high = first << 32 | second, .low = subset + 1};
}

// Identifies a contact within its class by its nodes or, where those are unique, its primitives.
// Pairs of a shorter range are contacts of their own.
static NoliContactKey contact_key(const Build* build, int64_t item, const NoliContact* contact) {
  uint64_t first, second;
  uint32_t third = 0;
  bool by_nodes = contact->kind == NOLI_PAIR_POINT_POINT || contact->kind == NOLI_PAIR_POINT_EDGE;
  if (by_nodes && is_crossing(build, item)) {
    return crossing_key(build, item, contact);
  }
  if (by_nodes) {
    first = (uint32_t)contact->node[0];
    second = (uint32_t)contact->node[1];
    third = contact->kind == NOLI_PAIR_POINT_EDGE ? (uint32_t)contact->node[2] : 0;
    third |= contact->limited ? TOP_BIT : 0;
    // contacts of a sampled vertex are on its rank: they are none of those of other items
    int32_t vertex = sampled_vertex(build, item);
    second |= vertex != NOLI_NULL_INDEX ? TOP_BIT : 0;
    first |= vertex == contact->node[1] ? TOP_BIT : 0;
  } else {
    NoliPrimitivePair pair = pair_of_item(build, item);
    first = (uint32_t)pair.a;
    second = (uint32_t)pair.b;
  }
  return (NoliContactKey){.high = first << 32 | second, .low = third};
}

static void count_blocks(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const Build* build = user;
  NoliContactSet* set = build->set;
  int64_t block = begin / BLOCK, count[N_CLASS] = {0};
  int32_t n_close = 0, n_kept = 0;
  bool keeps = true;
  NoliContact found[MOST], *kept = set->first.data + block * KEPT;
  NoliHalfSpaceContact plane;
  for (int64_t i = begin; i < end; i++) {
    bool is_plane = i >= build->plane_first;
    int32_t n = is_plane ? plane_close(build, i - build->plane_first, &plane)
                         : item_contacts(build, i, found);
    if (n == 0) {
      continue;
    }
    set->close.data[begin + n_close++] = (uint16_t)((i - begin) | n << POSITION_BITS);
    count[PLANE_CLASS] += is_plane;
    for (int32_t k = 0; !is_plane && k < n; k++) {
      count[contact_class(&found[k])]++;
    }
    keeps = keeps && !is_plane && n_kept + n <= KEPT;
    if (keeps) {
      memcpy(kept + n_kept, found, (size_t)n * sizeof *found);
      n_kept += n;
    }
  }

  set->block_close.data[block] = n_close;
  for (int k = 0; k < N_CLASS; k++) {
    set->block_count.data[k * build->n_blocks + block] = count[k];
  }
}

// Where the contacts of a block go, by class.
typedef struct Filling {
  int64_t next[N_CLASS];
} Filling;

static void fill_contacts(const Build* build, int64_t item, int32_t n, const NoliContact* contact,
                          Filling* filling) {
  NoliContactSet* set = build->set;
  for (int32_t k = 0; k < n; k++) {
    int64_t at = filling->next[contact_class(&contact[k])]++;
    set->raw.data[at] = contact[k];
    set->sort.data[at] = contact_key(build, item, &contact[k]);
    set->sort.data[at].index = (int32_t)at;
  }
}

static void fill_plane(const Build* build, int64_t item, Filling* filling) {
  NoliContactSet* set = build->set;
  int64_t at = filling->next[PLANE_CLASS]++;
  plane_close(build, item - build->plane_first, &set->plane.data[at]);
  set->plane_node.data[at] = set->plane.data[at].node;
}

static void fill_blocks(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)end;
  (void)worker;
  const Build* build = user;
  const NoliContactSet* set = build->set;
  int64_t block = begin / BLOCK;
  Filling filling;
  for (int k = 0; k < N_CLASS; k++) {
    filling.next[k] = set->block_count.data[k * build->n_blocks + block];
  }
  NoliContact found[MOST];
  const NoliContact* kept = set->first.data + block * KEPT;
  int32_t n_kept = 0;
  bool keeps = true;

  for (int32_t c = 0; c < set->block_close.data[block]; c++) {
    int32_t close = set->close.data[begin + c], n = close >> POSITION_BITS;
    int64_t item = begin + (close & (BLOCK - 1));
    if (item >= build->plane_first) {
      fill_plane(build, item, &filling);
      continue;
    }
    keeps = keeps && n_kept + n <= KEPT;
    if (keeps) {
      fill_contacts(build, item, n, kept + n_kept, &filling);
      n_kept += n;
    } else {
      fill_contacts(build, item, item_contacts(build, item, found), found, &filling);
    }
  }
}

// Turns counts into positions, class by class; contacts and plane contacts count from 0.
static void prefix_sum(const Build* build, int64_t first[N_CLASS + 1]) {
  int64_t next = 0;
  for (int k = 0; k < N_CLASS; k++) {
    first[k] = next;
    if (k == PLANE_CLASS) {
      next = 0;
    }
    int64_t* count = build->set->block_count.data + k * build->n_blocks;
    for (int64_t b = 0; b < build->n_blocks; b++) {
      int64_t n = count[b];
      count[b] = next;
      next += n;
    }
  }
  first[N_CLASS] = next;
}

static void insertion_sort(NoliContactKey* key, int64_t n) {
  for (int64_t i = 1; i < n; i++) {
    NoliContactKey k = key[i];
    int64_t j = i;
    for (; j > 0 && noli_contact_key_less(k, key[j - 1]); j--) {
      key[j] = key[j - 1];
    }
    key[j] = k;
  }
}

static void merge_runs(const NoliContactKey* a, int64_t n_a, const NoliContactKey* b, int64_t n_b,
                       NoliContactKey* out) {
  int64_t i = 0, j = 0;
  while (i < n_a && j < n_b) {
    *out++ = noli_contact_key_less(b[j], a[i]) ? b[j++] : a[i++];
  }
  memcpy(out, a + i, (size_t)(n_a - i) * sizeof *out);
  memcpy(out + (n_a - i), b + j, (size_t)(n_b - j) * sizeof *out);
}

static bool is_sorted(const NoliContactKey* key, int64_t n) {
  for (int64_t i = 1; i < n; i++) {
    if (noli_contact_key_less(key[i], key[i - 1])) {
      return false;
    }
  }
  return true;
}

// Stable merge sort without allocation; sorted input costs one pass.
static void sort_keys(NoliContactKey* key, NoliContactKey* scratch, int64_t n) {
  enum { RUN = 12 };
  if (is_sorted(key, n)) {
    return;
  }
  for (int64_t i = 0; i < n; i += RUN) {
    insertion_sort(key + i, n - i < RUN ? n - i : RUN);
  }
  NoliContactKey *from = key, *to = scratch;
  for (int64_t width = RUN; width < n; width *= 2) {
    for (int64_t i = 0; i < n; i += 2 * width) {
      int64_t n_a = n - i < width ? n - i : width;
      int64_t n_b = n - i - n_a < width ? n - i - n_a : width;
      merge_runs(from + i, n_a, from + i + n_a, n_b, to + i);
    }
    NoliContactKey* other = from;
    from = to;
    to = other;
  }
  if (from != key) {
    memcpy(key, from, (size_t)n * sizeof *key);
  }
}

// The minimum; NaN if either is NaN.
static double smaller(double a, double b) {
  return isnan(a) || a <= b ? a : b;
}

static void contact_set_append(NoliContactSet* set, NoliContactKey key,
                               const NoliContact* contact) {
  int64_t at = set->contact.count++;
  set->contact.data[at] = *contact;
  memcpy(set->node.data + 4 * at, contact->node, sizeof contact->node);
  key.index = (int32_t)at;
  set->key.data[at] = key;
  set->min_gap_sqr = smaller(set->min_gap_sqr, contact->gap_sqr);
  double ranged_sqr = contact->gap_sqr / (contact->range * contact->range);
  set->min_ranged_sqr = smaller(set->min_ranged_sqr, ranged_sqr);
}

// Copies the raw contacts [begin, end) in the order of their keys and merges those with equal keys
// into one with the sum of their weights, unless that is 0.
static void append_merged(NoliContactSet* set, int64_t begin, int64_t end) {
  for (int64_t i = begin, next; i < end; i = next) {
    NoliContactKey key = set->sort.data[i];
    NoliContact contact = set->raw.data[key.index];
    for (next = i + 1; next < end && noli_contact_key_equal(key, set->sort.data[next]); next++) {
      contact.weight += set->raw.data[set->sort.data[next].index].weight;
    }
    if (contact.weight != 0.0) {
      contact.weight *= contact.scale;
      contact_set_append(set, key, &contact);
    }
  }
  set->node.count = 4 * set->contact.count;
  set->key.count = set->contact.count;
}

// Allocates before the parallel passes, which must not allocate.
static NoliStatus reserve_items(NoliContext* context, const Build* build) {
  NoliStatus status = NOLI_OK;
  NoliContactSet* set = build->set;
  NOLI_TRY(noli_array_reserve(context, &set->close, build->n_items));
  NOLI_TRY(noli_array_reserve(context, &set->first, build->n_blocks * KEPT));
  NOLI_TRY(noli_array_reserve(context, &set->block_close, build->n_blocks));
  NOLI_TRY(noli_array_reserve(context, &set->block_count, N_CLASS * build->n_blocks));
done:
  return status;
}

static NoliStatus reserve_contacts(NoliContext* context, NoliContactSet* set, int64_t n_raw,
                                   int64_t n_plane) {
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(context, n_raw <= INT32_MAX, NOLI_ERROR_TOO_LARGE,
             "%lld contacts exceed the index range", (long long)n_raw);
  NOLI_TRY(noli_array_reserve(context, &set->raw, n_raw));
  NOLI_TRY(noli_array_reserve(context, &set->sort, 2 * n_raw));
  NOLI_TRY(noli_array_reserve(context, &set->contact, n_raw));
  NOLI_TRY(noli_array_reserve(context, &set->node, 4 * n_raw));
  NOLI_TRY(noli_array_reserve(context, &set->key, n_raw));
  NOLI_TRY(noli_array_reserve(context, &set->plane, n_plane));
  NOLI_TRY(noli_array_reserve(context, &set->plane_node, n_plane));
done:
  return status;
}

// Numbers the items.
static void number_items(Build* build, int32_t n_half_spaces) {
  build->edge_edge_first = build->candidates->point_triangle.count;
  build->point_edge_first = build->edge_edge_first + build->candidates->edge_edge.count;
  build->plane_first = build->point_edge_first + build->set->point_edges.pair.count;
  build->n_items = build->plane_first + (int64_t)n_half_spaces * build->surface->n_point;
  build->n_blocks = (build->n_items + BLOCK - 1) / BLOCK;
}

static bool is_flat_body(const Build* build, int32_t vertex) {
  return build->surface->flat->body[build->surface->body[vertex]];
}

// The vertex of a contact with an obstacle that has flat parts, NOLI_NULL_INDEX of other contacts.
static int32_t vertex_at_flat(const Build* build, const NoliContact* contact) {
  if (build->surface->flat == NULL || contact->kind == NOLI_PAIR_EDGE_EDGE) {
    return NOLI_NULL_INDEX;
  }
  if (is_flat_body(build, contact->node[1])) {
    return contact->node[0];
  }
  return contact->kind == NOLI_PAIR_POINT_POINT && is_flat_body(build, contact->node[0])
             ? contact->node[1]
             : NOLI_NULL_INDEX;
}

// Which rank an item goes to. The contacts of a vertex with a flat part, and of one that is
// sampled, belong to several items, each with several contacts: all of them go to one rank.
static double draw_of(const Build* build, int64_t item, const NoliContact* contact) {
  int32_t vertex = sampled_vertex(build, item);
  vertex = vertex != NOLI_NULL_INDEX ? vertex : vertex_at_flat(build, contact);
  if (vertex != NOLI_NULL_INDEX) {
    return noli_contact_draw((uint32_t)vertex, 0, N_CLASS);
  }
  NoliContactKey key = contact_key(build, item, contact);
  return noli_contact_draw(key.high, key.low, contact_class(contact));
}

// The close pairs among the items counted.
static void list_found(const Build* build, NoliFoundPair* found) {
  const NoliContactSet* set = build->set;
  for (int64_t b = 0; b < build->n_blocks; b++) {
    for (int32_t n = 0; n < set->block_close.data[b]; n++) {
      int64_t item = b * BLOCK + (set->close.data[b * BLOCK + n] & (BLOCK - 1));
      NoliContact contact[MOST];
      item_contacts(build, item, contact);
      int32_t vertex = sampled_vertex(build, item);
      bool sampled = vertex != NOLI_NULL_INDEX;
      *found++ =
          (NoliFoundPair){.pair = pair_of_item(build, item),
                          .kind = kind_of_item(build, item),
                          .home = noli_contact_home(build->home, sampled ? &vertex : contact->node,
                                                    sampled ? 1 : 4),
                          .draw = draw_of(build, item, contact)};
    }
  }
}

// Replaces candidates that this rank has found by close pairs whose contacts it keeps.
static NoliStatus share_pairs(Build* build, NoliContext* context, int32_t n_threads) {
  NoliStatus status = NOLI_OK;
  NoliContactSet* set = build->set;
  NoliFoundPair* found = NULL;
  int64_t n = 0;
  number_items(build, 0);
  NOLI_TRY(reserve_items(context, build));
  noli_parallel_for(n_threads, build->n_items, BLOCK, count_blocks, build);
  for (int64_t b = 0; b < build->n_blocks; b++) {
    n += set->block_close.data[b];
  }
  NOLI_NEW(context, found, n);
  list_found(build, found);
  NOLI_TRY(noli_contact_share_pairs(context, found, n, &set->kept, &set->point_edges));
  build->candidates = &set->kept;
done:
  noli_free(context, found);
  return status;
}

// Totals over all contacts.
typedef struct Totals {
  int64_t n_all, n_primitive_pairs;
  double min_gap_sqr, min_ranged_sqr;
} Totals;

// Adds what is on other ranks to the totals of a divided set.
static NoliStatus gather_totals(NoliContactSet* set, NoliContext* context) {
  NoliStatus status = NOLI_OK;
  Totals *all = NULL,
         own = {set->n_all, set->n_primitive_pairs, set->min_gap_sqr, set->min_ranged_sqr};
  int64_t capacity = 0, n = 0;
  NOLI_TRY(noli_ranks_gather(context, sizeof own, &own, 1, (void**)&all, &capacity, &n));
  set->n_all = set->n_primitive_pairs = 0;
  for (int64_t r = 0; r < n; r++) {
    set->n_all += all[r].n_all;
    set->n_primitive_pairs += all[r].n_primitive_pairs;
    set->min_gap_sqr = smaller(set->min_gap_sqr, all[r].min_gap_sqr);
    set->min_ranged_sqr = smaller(set->min_ranged_sqr, all[r].min_ranged_sqr);
  }
done:
  noli_free(context, all);
  return status;
}

static void empty(NoliContactSet* set) {
  set->contact.count = 0;
  set->node.count = 0;
  set->key.count = 0;
  set->plane.count = 0;
  set->plane_node.count = 0;
  memset(set->class_first, 0, sizeof set->class_first);
  set->n_all = set->n_primitive_pairs = 0;
  set->min_gap_sqr = set->min_ranged_sqr = (double)INFINITY;
}

// The contact of vertex p with a triangle, NOLI_NULL_INDEX if there is none.
static int64_t triangle_contact(const NoliContactSet* set, int32_t p, int32_t tri) {
  const NoliContactKey key = {.high = (uint64_t)(uint32_t)p << 32 | (uint32_t)tri};
  int64_t begin = set->class_first[NOLI_PAIR_POINT_TRIANGLE];
  int64_t end = set->class_first[NOLI_PAIR_POINT_TRIANGLE + 1], stop = end;
  while (begin < end) {
    int64_t middle = begin + (end - begin) / 2;
    bool less = noli_contact_key_less(set->key.data[middle], key);
    *(less ? &begin : &end) = less ? middle + 1 : middle;
  }
  return begin < stop && noli_contact_key_equal(set->key.data[begin], key) ? begin
                                                                           : NOLI_NULL_INDEX;
}

// Joins negative contacts with an edge to that of one of its triangles (contact/ipc.c).
static void join_negative(NoliContactSet* set, const Build* build) {
  for (int64_t i = set->class_first[NOLI_PAIR_POINT_EDGE];
       i < set->class_first[NOLI_PAIR_POINT_EDGE + 1]; i++) {
    NoliContact* edge = &set->contact.data[i];
    const NoliSampling* sampling = build->convergent->sampling;
    if (!(edge->weight < 0.0)) {
      continue;
    }
    int32_t p = edge->node[0], v = edge->node[1];
    for (int64_t k = sampling->first[v]; k < sampling->first[v + 1] && !edge->joined; k++) {
      int32_t t = sampling->of_vertex[k];
      int64_t to = t < build->surface->n_tri ? triangle_contact(set, p, t) : NOLI_NULL_INDEX;
      if (to == NOLI_NULL_INDEX) {
        continue;
      }
      NoliContact* triangle = &set->contact.data[to];
      const int32_t *node = triangle->node, other = edge->node[2];
      if (triangle->n_minus < 3 && (node[1] == other || node[2] == other || node[3] == other)) {
        triangle->minus[triangle->n_minus++] = (int32_t)i;
        edge->joined = true;
      }
    }
  }
}

static void collect_planes(NoliContactSet* set, int64_t n_plane) {
  set->plane.count = n_plane;
  set->plane_node.count = n_plane;
  for (int64_t i = 0; i < n_plane; i++) {
    double gap = set->plane.data[i].gap;
    double range = set->plane.data[i].range, gap_sqr = gap <= 0.0 ? 0.0 : gap * gap;
    set->min_gap_sqr = smaller(set->min_gap_sqr, gap_sqr);
    set->min_ranged_sqr = smaller(set->min_ranged_sqr, gap_sqr / (range * range));
  }
}

NoliStatus noli_contact_set_build(NoliContactSet* set, NoliContext* context,
                                  const NoliColliders* colliders, const double* X,
                                  const NoliCandidates* candidates, const double* x, double dhat,
                                  int32_t n_threads) {
  NoliStatus status = NOLI_OK;
  const NoliSurface* surface = colliders->surface;
  empty(set);
  NOLI_CHECK(context, dhat > 0.0 && isfinite(dhat), NOLI_ERROR_ARGUMENT,
             "contact distance: must be positive and finite, got %g", dhat);
  Build build = {.set = set,
                 .surface = surface,
                 .candidates = candidates,
                 .home = candidates->home,
                 .rank = noli_rank(context),
                 .half_spaces = colliders->half_spaces,
                 .pairs = colliders->pairs,
                 .convergent = colliders->convergent,
                 .X = X,
                 .x = x,
                 .dhat = dhat,
                 .dhat_sqr = dhat * dhat,
                 .largest = noli_surface_largest_coordinate(surface, x)};
  NOLI_TRY(
      noli_point_edges_find(&set->point_edges, context, surface, NOLI_POINT_EDGES_ALL, candidates));
  set->divided = candidates->home != NULL;
  if (set->divided) {
    NOLI_TRY(share_pairs(&build, context, n_threads));
  }

  // count, find places, fill
  int64_t first[N_CLASS + 1];
  number_items(&build, colliders->n_half_spaces);
  NOLI_TRY(reserve_items(context, &build));
  noli_parallel_for(n_threads, build.n_items, BLOCK, count_blocks, &build);
  prefix_sum(&build, first);
  NOLI_TRY(reserve_contacts(context, set, first[PLANE_CLASS], first[N_CLASS]));
  noli_parallel_for(n_threads, build.n_items, BLOCK, fill_blocks, &build);

  // sort each class and merge equal features
  int64_t n_raw = first[PLANE_CLASS];
  for (int k = 0; k < NOLI_CONTACT_CLASSES; k++) {
    set->class_first[k] = set->contact.count;
    sort_keys(set->sort.data + first[k], set->sort.data + n_raw, first[k + 1] - first[k]);
    append_merged(set, first[k], first[k + 1]);
  }
  set->class_first[NOLI_CONTACT_CLASSES] = set->contact.count;
  if (build.convergent != NULL) {
    join_negative(set, &build);
  }
  collect_planes(set, first[N_CLASS]);
  set->n_primitive_pairs = n_raw + set->plane.count;
  set->n_all = set->contact.count + set->plane.count;
  if (set->divided) {
    NOLI_TRY(gather_totals(set, context));
  }
  NOLI_VALIDATE(context, noli_contact_set_defect(set, surface->n_vert));
done:
  return status;
}

double noli_contact_set_min_distance(const NoliContactSet* set) {
  return sqrt(set->min_gap_sqr);
}

const char* noli_contact_set_defect(const NoliContactSet* set, int32_t n_vert) {
  NOLI_RULE(set->class_first[0] == 0 &&
                set->class_first[NOLI_CONTACT_CLASSES] == set->contact.count &&
                set->key.count == set->contact.count,
            "contacts: the classes do not hold all of them");
  for (int k = 0; k < NOLI_CONTACT_CLASSES; k++) {
    int64_t first = set->class_first[k];
    NOLI_RULE(first <= set->class_first[k + 1], "contacts: classes do not ascend");
    for (int64_t i = first; i < set->class_first[k + 1]; i++) {
      const NoliContact* contact = &set->contact.data[i];
      NOLI_RULE(i == first || noli_contact_key_less(set->key.data[i - 1], set->key.data[i]),
                "contacts: keys do not ascend, or one occurs twice");
      NOLI_RULE(set->key.data[i].index == (int32_t)i, "contacts: a key belongs to another contact");
      NOLI_RULE(contact->range > 0.0, "contacts: a range is not positive");
      NOLI_RULE(contact->weight != 0.0 && !(contact->gap_sqr < 0.0) && contact->offset >= 0.0,
                "contacts: a weight is 0, or a squared gap or an offset negative");
      for (int v = 0; v < 4; v++) {
        NOLI_RULE(contact->node[v] == set->node.data[4 * i + v] &&
                      contact->node[v] >= NOLI_NULL_INDEX && contact->node[v] < n_vert,
                  "contacts: a vertex is out of range, or differs from the list");
      }
    }
  }

  for (int64_t i = 0; i < set->plane.count; i++) {
    NOLI_RULE(set->plane.data[i].node >= 0 && set->plane.data[i].node < n_vert &&
                  set->plane.data[i].node == set->plane_node.data[i],
              "contacts: a vertex at a half-space is out of range, or differs from the list");
  }
  return NULL;
}
