#include "contact/adhesion/adhesion.h"

#include "base/ranks.h"

#include "contact/contact_share.h"
#include "contact/stencil_hessian.h"
#include "math/mat3.h"

#include <math.h>
#include <string.h>

enum { BLOCKS_4 = 90 };

// Cosines of the angles between the normal of a facet and a bond: the facet counts from the first
// on, and in full from the second on.
#define ASIDE 0.25
#define FACING 0.5

// ---- the law ------------------------------------------------------------------------------------

NoliTraction noli_adhesion_traction(double s, double work, double range) {
  double t = s / range;
  if (t <= 0.0 || t >= 1.0) {
    return (NoliTraction){.energy = t <= 0.0 ? -work : 0.0};
  }
  double left = 1.0 - t, most = 12.0 * work / range;
  return (NoliTraction){.energy = -work * left * left * left * (1.0 + 3.0 * t),
                        .value = most * t * left * left,
                        .derivative = most / range * left * (1.0 - 3.0 * t)};
}

// The largest traction.
static double strength_of(const NoliBond* bond) {
  return 16.0 / 9.0 * bond->work / bond->range;
}

double noli_adhesion_reach(const NoliContactPairs* pairs, double dhat) {
  double reach = 0.0;
  if (pairs->adhesion == NULL) {
    return reach;
  }
  // the first law is that of pairs that are not listed
  int64_t n = noli_pair_table_listed(&pairs->number);
  for (int64_t i = -1; i < n; i++) {
    int32_t number = i < 0 ? pairs->number.most : pairs->number.number[i];
    const NoliAdhesionLaw* law = &pairs->adhesion[number];
    double range = pairs->touch->range != NULL ? pairs->touch->range[number] : 1.0;
    reach = law->work > 0.0 ? fmax(reach, dhat * range + law->range) : reach;
  }
  return reach;
}

// ---- bonds --------------------------------------------------------------------------------------

void noli_bond_set_free(NoliContext* context, NoliBondSet* set) {
  noli_array_free(context, &set->bond);
  noli_array_free(context, &set->node);
  noli_point_edges_free(context, &set->point_edges);
}

// What bonds are made from.
typedef struct Search {
  const NoliColliders* colliders;
  const NoliContactPairs* pairs;
  const NoliSampling* sampling;
  const double* x;
  double dhat;
} Search;

static NoliVec3 from_to(const double* x, int32_t a, int32_t b) {
  return noli_sub3(noli_load3(x + 3 * (int64_t)b), noli_load3(x + 3 * (int64_t)a));
}

// The normal of a triangle or of a segment in a plane; 0 of rods, which look in all directions.
static NoliVec3 normal_of(const NoliSurface* surface, int32_t facet, const double* x) {
  if (facet < surface->n_tri) {
    const int32_t* tri = surface->tri + 3 * (int64_t)facet;
    return noli_normalize3(noli_cross3(from_to(x, tri[0], tri[1]), from_to(x, tri[0], tri[2])));
  }
  int32_t e = facet - surface->n_tri;
  const int32_t* edge = surface->edge + 2 * (int64_t)e;
  if (!surface->planar[surface->body[edge[0]]]) {
    return noli_vec3(0.0, 0.0, 0.0);
  }
  // the body is on the left
  NoliVec3 way = surface->reversed[e] ? from_to(x, edge[1], edge[0]) : from_to(x, edge[0], edge[1]);
  return noli_normalize3(noli_vec3(way.y, -way.x, 0.0));
}

// The area of a vertex that faces along -r, where r is the unit vector to it from the other side.
static double area_facing(const Search* search, int32_t vertex, NoliVec3 r) {
  const NoliSampling* sampling = search->sampling;
  const NoliSurface* surface = search->colliders->surface;
  int32_t body = surface->body[vertex];
  double sum = 0.0;
  for (int64_t k = sampling->first[vertex]; k < sampling->first[vertex + 1]; k++) {
    int32_t facet = sampling->of_vertex[k];
    NoliVec3 normal = normal_of(surface, facet, search->x);
    double cosine = -noli_dot3(normal, r);
    cosine = sampling->one_sided[body] ? cosine : fabs(cosine);
    cosine = noli_norm_sqr3(normal) == 0.0 ? 1.0 : cosine;
    sum += sampling->facet[facet] * fmin(fmax((cosine - ASIDE) / (FACING - ASIDE), 0.0), 1.0);
  }
  bool alone = sampling->first[vertex] == sampling->first[vertex + 1];
  return alone ? sampling->point[body] : sum;
}

static bool has_triangles(const NoliSurface* surface, int32_t body) {
  return surface->tri_first[body + 1] > surface->tri_first[body];
}

// The share of the area of body a that counts in its pair with b.
static double share_sampled(const Search* search, int32_t a, int32_t b) {
  const NoliSurface* surface = search->colliders->surface;
  const double* all = search->sampling->all;
  if (a == b) {
    return 0.5;
  }
  // rods and points see triangles, which see no rods and points
  bool triangles[2] = {has_triangles(surface, a), has_triangles(surface, b)};
  if (triangles[0] != triangles[1]) {
    return triangles[0] ? 0.0 : 1.0;
  }
  return all[a] < all[b] || (all[a] == all[b] && a < b) ? 1.0 : 0.0;
}

// A bond of the law of its entities; false: they do not adhere.
static bool begin_bond(const Search* search, int32_t a, int32_t b, NoliBond* bond) {
  const NoliAdhesionLaw* law = noli_contact_pairs_adhesion(search->pairs, a, b);
  const NoliSurface* surface = search->colliders->surface;
  if (law == NULL || !noli_body_pairs_get(search->colliders->pairs, a, b)) {
    return false;
  }
  double offset =
      b < surface->n_body ? noli_surface_offset(surface, a, b) : noli_surface_offset_of(surface, a);
  double range = noli_body_pairs_range(search->colliders->pairs, a, b);
  *bond = (NoliBond){.plane = NOLI_NULL_INDEX,
                     .entity = {a, b},
                     .offset = offset,
                     .start = offset + search->dhat * range,
                     .work = law->work,
                     .range = law->range};
  return true;
}

// The strongest bond of a vertex so far.
typedef struct Strongest {
  NoliBond bond;
  int32_t node[4];
  double energy; // J
  double d_sqr;
} Strongest;

// Tries a primitive of `size` - 1 vertices with the vertex node[0].
static void try_feature(const Search* search, const NoliBond* begun, double share, int32_t size,
                        const int32_t node[4], Strongest* best) {
  NoliVec3 y[4], z[4];
  NoliBond bond = *begun;
  for (int32_t k = 0; k < size; k++) {
    y[k] = noli_load3(search->x + 3 * (int64_t)node[k]);
  }
  NoliFeature feature = size == 4   ? noli_feature_point_triangle(y)
                        : size == 3 ? noli_feature_point_edge(y)
                                    : (NoliFeature){NOLI_PAIR_POINT_POINT, {0, 1}};
  for (int32_t k = 0; k < noli_pair_size[feature.kind]; k++) {
    z[k] = y[feature.vertex[k]];
  }
  NoliClosest closest = noli_closest(feature.kind, z);
  double d = sqrt(closest.d_sqr);
  if (!(d > 0.0) || d >= bond.start + bond.range) {
    return;
  }

  bond.kind = feature.kind;
  bond.area = share * area_facing(search, node[0], noli_scale3(1.0 / d, closest.r));
  double energy = bond.area * noli_adhesion_traction(d - bond.start, bond.work, bond.range).energy;
  if (energy < best->energy || (energy == best->energy && closest.d_sqr < best->d_sqr)) {
    best->bond = bond;
    best->energy = energy;
    best->d_sqr = closest.d_sqr;
    for (int32_t k = 0; k < 4; k++) {
      best->node[k] = k < noli_pair_size[feature.kind] ? node[feature.vertex[k]] : NOLI_NULL_INDEX;
    }
  }
}

static NoliStatus push_bond(NoliBondSet* set, NoliContext* context, const NoliBond* bond,
                            const int32_t node[4]) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_array_reserve(context, &set->bond, set->bond.count + 1));
  NOLI_TRY(noli_array_reserve(context, &set->node, set->node.count + 4));
  set->bond.data[set->bond.count++] = *bond;
  memcpy(set->node.data + set->node.count, node, 4 * sizeof *node);
  set->node.count += 4;
done:
  return status;
}

// Bonds with triangles (`size` 4) or segments (3) among sorted pairs of vertices and those: of each
// vertex and each body one.
static NoliStatus find_with_primitives(const Search* search, NoliBondSet* set, NoliContext* context,
                                       int64_t n, const NoliPrimitivePair* pair, int32_t size) {
  NoliStatus status = NOLI_OK;
  const NoliSurface* surface = search->colliders->surface;
  const int32_t* primitive = size == 4 ? surface->tri : surface->edge;
  for (int64_t i = 0, end; i < n; i = end) {
    int32_t vertex = pair[i].a, a = surface->body[vertex];
    int32_t b = surface->body[primitive[(size - 1) * (int64_t)pair[i].b]];
    Strongest best = {.energy = 0.0};
    NoliBond bond;
    double share = share_sampled(search, a, b);
    bool adheres = share > 0.0 && begin_bond(search, a, b, &bond);
    for (end = i; end < n && pair[end].a == vertex; end++) {
      int32_t node[4] = {vertex, 0, 0, NOLI_NULL_INDEX};
      memcpy(node + 1, primitive + (size - 1) * (int64_t)pair[end].b,
             ((size_t)size - 1) * sizeof *node);
      if (surface->body[node[1]] != b) {
        break;
      }
      bool point = size == 3 && node[1] == node[2];
      if (adheres && node[1] != vertex && node[2] != vertex && node[3] != vertex) {
        try_feature(search, &bond, share, point ? 2 : size, node, &best);
      }
    }
    if (best.energy < 0.0) {
      NOLI_TRY(push_bond(set, context, &best.bond, best.node));
    }
  }
done:
  return status;
}

static NoliStatus find_with_planes(const Search* search, NoliBondSet* set, NoliContext* context) {
  NoliStatus status = NOLI_OK;
  const NoliColliders* colliders = search->colliders;
  const NoliSurface* surface = colliders->surface;
  for (int32_t p = 0; p < colliders->n_half_spaces; p++) {
    const NoliHalfSpace* plane = &colliders->half_spaces[p];
    for (int32_t i = 0; i < surface->n_point; i++) {
      int32_t node[4] = {surface->point[i], NOLI_NULL_INDEX, NOLI_NULL_INDEX, NOLI_NULL_INDEX};
      NoliBond bond;
      double d = noli_half_space_distance(plane, search->x + 3 * (int64_t)node[0]);
      if (!begin_bond(search, surface->body[node[0]], surface->n_body + p, &bond) ||
          d >= bond.start + bond.range) {
        continue;
      }
      bond.plane = p;
      bond.area = area_facing(search, node[0], plane->normal);
      if (bond.area > 0.0) {
        NOLI_TRY(push_bond(set, context, &bond, node));
      }
    }
  }
done:
  return status;
}

NoliStatus noli_bonds_find(NoliBondSet* set, NoliContext* context, const NoliColliders* colliders,
                           const NoliContactPairs* pairs, const NoliSampling* sampling,
                           const NoliCandidates* candidates, const double* x, double dhat) {
  NoliStatus status = NOLI_OK;
  const NoliSurface* surface = colliders->surface;
  set->bond.count = set->node.count = 0;
  if (pairs->adhesion == NULL) {
    return NOLI_OK;
  }
  const Search search = {colliders, pairs, sampling, x, dhat};
  NOLI_TRY(find_with_primitives(&search, set, context, candidates->point_triangle.count,
                                candidates->point_triangle.data, 4));
  NOLI_TRY(
      noli_point_edges_find(&set->point_edges, context, surface, NOLI_POINT_EDGES_ALL, candidates));
  NOLI_TRY(find_with_primitives(&search, set, context, set->point_edges.pair.count,
                                set->point_edges.pair.data, 3));
  NOLI_TRY(find_with_planes(&search, set, context));
done:
  return status;
}

// ---- the term -----------------------------------------------------------------------------------

// A bond at x: its closest points, and its traction times area.
typedef struct State {
  int32_t size;
  NoliVec3 y[4];
  NoliClosest closest;
  double d;
  NoliVec3 normal; // unit, from the other side
  NoliTraction traction;
} State;

static State state_of(const NoliAdhesion* data, int64_t i, const double* x) {
  const NoliBond* bond = &data->set->bond.data[i];
  const int32_t* node = data->set->node.data + 4 * i;
  State state = {.size = bond->plane != NOLI_NULL_INDEX ? 1 : noli_pair_size[bond->kind]};
  for (int32_t k = 0; k < state.size; k++) {
    state.y[k] = noli_load3(x + 3 * (int64_t)node[k]);
  }
  if (bond->plane != NOLI_NULL_INDEX) {
    const NoliHalfSpace* plane = &data->half_spaces[bond->plane];
    state.normal = plane->normal;
    state.d = noli_half_space_distance(plane, x + 3 * (int64_t)node[0]);
    state.closest = (NoliClosest){.weight = {1.0}};
  } else {
    state.closest = noli_closest(bond->kind, state.y);
    state.d = sqrt(state.closest.d_sqr);
    state.normal = noli_normalize3(state.closest.r);
  }
  state.traction = noli_adhesion_traction(state.d - bond->start, bond->work, bond->range);
  return state;
}

// With D = d^2: dE/dD = sigma / (2 d), d2E/dD2 = (sigma' - sigma / d) / (4 D). The Hessian of a
// pull is indefinite across its direction, too.
static void bond_hessian(const NoliBond* bond, const State* state, double scale, bool projected,
                         double hessian[BLOCKS_4]) {
  double value = scale * state->traction.value, derivative = scale * state->traction.derivative;
  memset(hessian, 0, BLOCKS_4 * sizeof *hessian);
  if (value == 0.0 && derivative == 0.0) {
    return;
  }
  if (bond->plane != NOLI_NULL_INDEX) {
    derivative = projected ? fmax(derivative, 0.0) : derivative;
    NoliMat3 block = noli_scale33(derivative, noli_outer33(state->normal, state->normal));
    noli_store33(hessian, &block);
    return;
  }
  double first = 0.5 * value / state->d;
  double second = 0.25 * (derivative - value / state->d) / (state->d * state->d);
  noli_stencil_hessian(&state->closest, state->size, state->y, first, second, false, hessian);
  if (projected) {
    noli_stencil_project(hessian);
  }
}

static void evaluate_bonds(const void* user, const double* x, int64_t begin, int64_t end,
                           unsigned what, const NoliLocal* out) {
  const NoliAdhesion* data = user;
  for (int64_t i = begin; i < end; i++) {
    const NoliBond* bond = &data->set->bond.data[i];
    State state = state_of(data, i, x);
    double scale = data->scale * bond->area;
    if ((what & NOLI_EVAL_ENERGY) != 0) {
      out->energy[i - begin] = scale * state.traction.energy;
    }
    for (int32_t k = 0; k < 4 && (what & NOLI_EVAL_GRADIENT) != 0; k++) {
      double weight = scale * state.traction.value * state.closest.weight[k];
      noli_store3(out->gradient + 12 * (i - begin) + 3 * k, noli_scale3(weight, state.normal));
    }
    if ((what & (NOLI_EVAL_HESSIAN | NOLI_EVAL_PROJECTED)) != 0) {
      bond_hessian(bond, &state, scale, (what & NOLI_EVAL_PROJECTED) != 0,
                   out->hessian + BLOCKS_4 * (i - begin));
    }
  }
}

NoliEnergyTerm noli_adhesion_term(const NoliAdhesion* data) {
  return (NoliEnergyTerm){.name = "adhesion",
                          .data = data,
                          .evaluate = evaluate_bonds,
                          .size = 4,
                          .n_stencil = data->set->bond.count,
                          .node = data->set->node.data};
}

static bool holds(const NoliAdhesion* data, int64_t i, const double* x) {
  const NoliBond* bond = &data->set->bond.data[i];
  return state_of(data, i, x).d - bond->start < bond->range / 3.0;
}

bool noli_adhesion_breaks(const NoliAdhesion* data, const double* x, const double* x_end) {
  bool breaks = false;
  for (int64_t i = 0; i < data->set->bond.count && !breaks; i++) {
    breaks = holds(data, i, x) && !holds(data, i, x_end);
  }
  return breaks;
}

// ---- forces -------------------------------------------------------------------------------------

void noli_adhesion_forces(const NoliAdhesion* data, const double* x, double* force) {
  for (int64_t i = 0; i < data->set->bond.count; i++) {
    const int32_t* node = data->set->node.data + 4 * i;
    State state = state_of(data, i, x);
    double pull = data->set->bond.data[i].area * state.traction.value;
    for (int32_t k = 0; k < state.size; k++) {
      double* f = force + 3 * (int64_t)node[k];
      noli_store3(f, noli_mul_add3(noli_load3(f), -pull * state.closest.weight[k], state.normal));
    }
  }
}

// Whether a bond is on this rank, where `home` divides them among ranks.
static bool is_own(const NoliContext* context, const int32_t* home, const int32_t node[4]) {
  return home == NULL || noli_contact_home(home, node, 4) == noli_rank(context);
}

NoliStatus noli_adhesion_pair_forces(const NoliAdhesion* data, NoliContext* context,
                                     const double* x, const int32_t* home, NoliPairForces* pairs) {
  NoliStatus status = NOLI_OK;
  for (int64_t i = 0; i < data->set->bond.count; i++) {
    const NoliBond* bond = &data->set->bond.data[i];
    const int32_t* node = data->set->node.data + 4 * i;
    State state = state_of(data, i, x);
    double pull = bond->area * state.traction.value;
    if (pull == 0.0 || !is_own(context, home, node)) {
      continue;
    }
    NoliContactPlace place =
        bond->plane != NOLI_NULL_INDEX
            ? noli_contact_place_of_vertex(bond->entity, node[0], x,
                                           noli_mul_add3(state.y[0], -state.d, state.normal))
            : noli_contact_place(bond->entity, 1, state.size, node, state.closest.weight, x);
    NOLI_TRY(noli_pair_forces_add_contact(pairs, context, &place, state.d - bond->offset,
                                          noli_scale3(-pull, state.normal)));
  }
done:
  return status;
}

// Up to the largest traction: beyond it an interface has no shear strength.
static double friction_force(const NoliBond* bond, const State* state) {
  bool holds = state->d - bond->start < bond->range / 3.0;
  return holds ? bond->area * (strength_of(bond) - state->traction.value) : 0.0;
}

static NoliStatus add_friction(const NoliAdhesion* data, NoliContext* context,
                               const NoliContactPairs* pairs, const double* x, const int32_t* home,
                               NoliFrictionSet* set) {
  NoliStatus status = NOLI_OK;
  for (int64_t i = 0; i < data->set->bond.count; i++) {
    const NoliBond* bond = &data->set->bond.data[i];
    const int32_t* node = data->set->node.data + 4 * i;
    if (set->divided && !is_own(context, home, node)) {
      continue;
    }
    State state = state_of(data, i, x);
    NoliNormalContact contact = {.normal = state.normal,
                                 .lambda = data->scale * friction_force(bond, &state),
                                 .entity = {bond->entity[0], bond->entity[1]},
                                 .n_first = 1};
    memcpy(contact.node, node, sizeof contact.node);
    memcpy(contact.weight, state.closest.weight, sizeof contact.weight);
    NOLI_TRY(noli_friction_set_add(set, context, pairs, &contact));
  }
done:
  return status;
}

NoliStatus noli_adhesion_friction(const NoliAdhesion* data, NoliContext* context,
                                  const NoliContactPairs* pairs, const double* x,
                                  const int32_t* home, NoliFrictionSet* set) {
  NoliStatus status = NOLI_OK;
  int64_t before = set->n_all;
  NoliStatus own = add_friction(data, context, pairs, x, home, set);
  if (!set->divided) {
    return own;
  }
  NOLI_TRY(noli_ranks_join(context, own));
  double added = (double)(set->n_all - before);
  NOLI_TRY(noli_ranks_sum(context, &added, 1));
  set->n_all = before + (int64_t)added;
done:
  return status;
}
