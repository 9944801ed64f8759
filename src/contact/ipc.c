#include "contact/ipc.h"

#include "base/parallel.h"
#include "contact/crossing.h"
#include "contact/mollifier.h"
#include "contact/stencil_hessian.h"

#include <string.h>

enum { ENERGY_BLOCK = 512, BLOCKS_4 = 90 };

static void ipc_load_nodes(const NoliContact* contact, const double* x, NoliVec3 y[4]) {
  for (int i = 0; i < noli_pair_size[contact->kind]; i++) {
    y[i] = noli_load3(x + 3 * (int64_t)contact->node[i]);
  }
}

// A closest feature of two edges with weights and directions for all four nodes.
static NoliClosest on_four_nodes(const NoliFeature* feature, const NoliVec3 y[4]) {
  NoliVec3 z[4] = {{0.0, 0.0, 0.0}};
  int32_t size = noli_pair_size[feature->kind];
  for (int32_t i = 0; i < size; i++) {
    z[i] = y[feature->vertex[i]];
  }
  NoliClosest small = noli_closest(feature->kind, z);
  NoliClosest closest = {.d_sqr = small.d_sqr, .r = small.r, .n_dir = small.n_dir};
  for (int32_t i = 0; i < size; i++) {
    closest.weight[feature->vertex[i]] = small.weight[i];
    closest.dir[0][feature->vertex[i]] = small.dir[0][i];
    closest.dir[1][feature->vertex[i]] = small.dir[1][i];
  }
  return closest;
}

// The active feature of two edges.
static NoliClosest edge_edge_closest(const NoliVec3 y[4]) {
  NoliFeature feature = noli_feature_edge_edge(y);
  return on_four_nodes(&feature, y);
}

NoliBarrierValue noli_barrier_in_range(double gap_sqr, double dhat_sqr, double range) {
  NoliBarrierValue b = noli_barrier_all(gap_sqr / (range * range), dhat_sqr);
  return (NoliBarrierValue){range * b.value, b.first / range, b.second / (range * range * range)};
}

static NoliClosest contact_closest(const NoliContact* contact, const NoliVec3 y[4]) {
  return contact->mollified ? edge_edge_closest(y) : noli_closest(contact->kind, y);
}

NoliClosest noli_contact_closest(const NoliContact* contact, const double* x, double* mollifier) {
  NoliVec3 y[4];
  ipc_load_nodes(contact, x, y);
  *mollifier = contact->mollified ? noli_mollifier_value(y, contact->eps_x) : 1.0;
  return contact_closest(contact, y);
}

// e b, infinite if the primitives touch, even if e vanishes there.
static double mollified_barrier(double mollifier, double barrier) {
  return isinf(barrier) ? barrier : mollifier * barrier;
}

// The barrier of edges that cross, infinite if they touch.
static double crossing_barrier(const NoliBarrier* data, const NoliContact* contact,
                               const NoliVec3 y[4]) {
  NoliCrossingPart part[NOLI_CROSSING_FEATURES];
  int32_t n = noli_crossing_parts(y, part);
  double sum = 0.0, range = contact->range;
  for (int32_t k = 0; k < n; k++) {
    NoliVec3 z[4] = {{0.0, 0.0, 0.0}};
    for (int32_t i = 0; i < noli_pair_size[part[k].feature.kind]; i++) {
      z[i] = y[part[k].feature.vertex[i]];
    }
    double gap_sqr = noli_gap_sqr(noli_closest(part[k].feature.kind, z).d_sqr, contact->offset);
    double barrier = range * noli_barrier(gap_sqr / (range * range), data->dhat_sqr);
    if (isinf(barrier)) {
      return barrier;
    }
    sum += part[k].count * barrier;
  }
  return sum;
}

static double ipc_contact_energy(const NoliBarrier* data, const NoliContact* contact,
                                 const double* x) {
  double mollifier;
  if (contact->crossing) {
    NoliVec3 y[4];
    ipc_load_nodes(contact, x, y);
    mollifier = noli_mollifier_value(y, contact->eps_x);
    return data->kappa * contact->weight *
           mollified_barrier(mollifier, crossing_barrier(data, contact, y));
  }
  NoliClosest closest = noli_contact_closest(contact, x, &mollifier);
  double range = contact->range, gap_sqr = noli_gap_sqr(closest.d_sqr, contact->offset);
  double barrier = range * noli_barrier(gap_sqr / (range * range), data->dhat_sqr);
  return data->kappa * contact->weight * mollified_barrier(mollifier, barrier);
}

// Fills the Hessian if the derivative b' of the barrier is 0, beyond dhat, or NaN, and returns
// true.
static bool fill_hessian(double first, double hessian[BLOCKS_4]) {
  bool fills = first == 0.0 || isnan(first);
  for (int i = 0; i < BLOCKS_4 && fills; i++) {
    hessian[i] = isnan(first) ? (double)NAN : 0.0;
  }
  return fills;
}

// grad b(D) = 2 b' w (x) r
static void barrier_gradient(const NoliClosest* closest, int32_t size, double first,
                             double gradient[12]) {
  for (int32_t i = 0; i < 4; i++) {
    NoliVec3 g = i < size ? noli_scale3(2.0 * first * closest->weight[i], closest->r)
                          : (NoliVec3){0.0, 0.0, 0.0};
    noli_store3(gradient + 3 * i, g);
  }
}

// The barrier of a contact as a function of D = d^2, through its squared gap G = (d - xi)^2:
//   dG/dD = (d - xi) / d,   d2G/dD2 = xi / (2 d^3).
static NoliBarrierValue contact_barrier(const NoliBarrier* data, const NoliContact* contact,
                                        double d_sqr) {
  double offset = contact->offset;
  NoliBarrierValue b =
      noli_barrier_in_range(noli_gap_sqr(d_sqr, offset), data->dhat_sqr, contact->range);
  if (offset > 0.0) {
    double d = sqrt(d_sqr), derivative = (d - offset) / d;
    b.second = b.second * derivative * derivative + b.first * (0.5 * offset / (d * d_sqr));
    b.first *= derivative;
  }
  return b;
}

// Adds the Hessian of a contact with an edge of the triangle of another contact, plain.
static void add_edge_hessian(const NoliBarrier* data, const NoliContact* triangle,
                             const NoliContact* edge, const NoliVec3 y[4], double* hessian) {
  int32_t place[3] = {0};
  NoliVec3 z[4];
  double own[BLOCKS_4];
  for (int32_t i = 0; i < 3; i++) {
    while (triangle->node[place[i]] != edge->node[i]) {
      place[i]++;
    }
    z[i] = y[place[i]];
  }
  NoliClosest closest = noli_closest(NOLI_PAIR_POINT_EDGE, z);
  NoliBarrierValue b = contact_barrier(data, edge, closest.d_sqr);
  double scale = data->kappa * edge->weight;
  if (fill_hessian(b.first, own)) {
    return;
  }
  noli_stencil_hessian(&closest, 3, z, scale * b.first, scale * b.second, false, own);
  for (int i = 0; i < 3; i++) {
    for (int j = i; j < 3; j++) {
      bool swapped = place[i] > place[j];
      const double* from = own + 9 * noli_stencil_block(4, i, j);
      double* to = hessian + 9 * noli_stencil_block(4, swapped ? place[j] : place[i],
                                                    swapped ? place[i] : place[j]);
      for (int e = 0; e < 9; e++) {
        to[e] += from[swapped ? 3 * (e % 3) + e / 3 : e];
      }
    }
  }
}

// A triangle with the negative contacts of its edges, projected together. Where a vertex is near a
// fold of less than a straight angle, the contacts of both triangles and that of the edge between
// them are nearly the same: alone, each triangle would keep its curvature and the edge lose its
// own, and Newton's method would take half of each step.
static void evaluate_joined(const NoliBarrier* data, const NoliContact* contact,
                            const NoliVec3 y[4], double* hessian) {
  for (int k = 0; k < contact->n_minus; k++) {
    add_edge_hessian(data, contact, &data->set->contact.data[contact->minus[k]], y, hessian);
  }
  noli_stencil_project(hessian);
}

// Contacts without a mollifier.
static void evaluate_plain(const NoliBarrier* data, const NoliContact* contact, const NoliVec3 y[4],
                           unsigned what, double* gradient, double* hessian) {
  NoliClosest closest = noli_closest(contact->kind, y);
  NoliBarrierValue b = contact_barrier(data, contact, closest.d_sqr);
  double scale = data->kappa * contact->weight;
  int32_t size = noli_pair_size[contact->kind];
  if (gradient != NULL) {
    barrier_gradient(&closest, size, scale * b.first, gradient);
  }
  if (hessian == NULL || fill_hessian(b.first, hessian)) {
    return;
  }
  bool projected = (what & NOLI_EVAL_PROJECTED) != 0;
  bool joined = projected && contact->n_minus > 0;
  if (projected && contact->joined) {
    memset(hessian, 0, BLOCKS_4 * sizeof *hessian);
    return;
  }
  noli_stencil_hessian(&closest, size, y, scale * b.first, scale * b.second, projected && !joined,
                       hessian);
  if (joined) {
    evaluate_joined(data, contact, y, hessian);
  }
}

// Adds the first three parts of the Hessian of f = s e b, the energy of nearly parallel edges:
//   grad f = s (b grad e + e grad b),
//   Hess f = s (b Hess e + grad e grad b^T + grad b grad e^T + e Hess b).
static void add_mollifier_hessian(double s, double b, const double* e_hessian,
                                  const double* e_gradient, const double* b_gradient,
                                  double* hessian) {
  for (int i = 0; i < 4; i++) {
    for (int j = i; j < 4; j++) {
      double* block = hessian + 9 * noli_stencil_block(4, i, j);
      for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++) {
          int row = 3 * i + r, column = 3 * j + c;
          block[3 * r + c] +=
              s * (b * e_hessian[12 * row + column] + e_gradient[row] * b_gradient[column] +
                   b_gradient[row] * e_gradient[column]);
        }
      }
    }
  }
}

// The barrier of two edges, with or without their sides: value, gradient and, unless it is NULL,
// e s times the Hessian.
static double edges_barrier(const NoliBarrier* data, const NoliContact* contact,
                            const NoliVec3 y[4], double factor, double gradient[12],
                            double* hessian) {
  NoliCrossingPart part[NOLI_CROSSING_FEATURES] = {{noli_feature_edge_edge(y), 1}};
  int32_t n = contact->crossing ? noli_crossing_parts(y, part) : 1;
  double value = 0.0, own[BLOCKS_4], own_gradient[12];
  memset(gradient, 0, 12 * sizeof *gradient);
  for (int i = 0; i < BLOCKS_4 && hessian != NULL; i++) {
    hessian[i] = 0.0;
  }
  for (int32_t k = 0; k < n; k++) {
    NoliClosest closest = on_four_nodes(&part[k].feature, y);
    NoliBarrierValue b = contact_barrier(data, contact, closest.d_sqr);
    double count = part[k].count;
    value += count * b.value;
    barrier_gradient(&closest, 4, count * b.first, own_gradient);
    for (int i = 0; i < 12; i++) {
      gradient[i] += own_gradient[i];
    }
    if (hessian != NULL && !fill_hessian(b.first, own)) {
      noli_stencil_hessian(&closest, 4, y, factor * count * b.first, factor * count * b.second,
                           false, own);
    }
    for (int i = 0; i < BLOCKS_4 && hessian != NULL; i++) {
      hessian[i] += own[i];
    }
  }
  return value;
}

static void evaluate_mollified(const NoliBarrier* data, const NoliContact* contact,
                               const NoliVec3 y[4], unsigned what, double* gradient,
                               double* hessian) {
  double s = data->kappa * contact->weight;
  double e_gradient[12], e_hessian[144], b_gradient[12];
  double e =
      noli_mollifier_derivatives(y, contact->eps_x, e_gradient, hessian != NULL ? e_hessian : NULL);
  double value = edges_barrier(data, contact, y, s * e, b_gradient, hessian);
  if (gradient != NULL) {
    for (int i = 0; i < 12; i++) {
      gradient[i] = s * (value * e_gradient[i] + e * b_gradient[i]);
    }
  }
  if (hessian == NULL) {
    return;
  }
  add_mollifier_hessian(s, value, e_hessian, e_gradient, b_gradient, hessian);
  if ((what & NOLI_EVAL_PROJECTED) != 0) {
    noli_stencil_project(hessian);
  }
}

static void evaluate_contact(const NoliBarrier* data, const NoliContact* contact, const double* x,
                             unsigned what, double* gradient, double* hessian) {
  NoliVec3 y[4];
  ipc_load_nodes(contact, x, y);
  if (contact->mollified) {
    evaluate_mollified(data, contact, y, what, gradient, hessian);
  } else {
    evaluate_plain(data, contact, y, what, gradient, hessian);
  }
}

static void evaluate_contacts(const void* user, const double* x, int64_t begin, int64_t end,
                              unsigned what, const NoliLocal* out) {
  const NoliBarrier* data = user;
  bool wants_gradient = (what & NOLI_EVAL_GRADIENT) != 0;
  bool wants_hessian = (what & (NOLI_EVAL_HESSIAN | NOLI_EVAL_PROJECTED)) != 0;
  for (int64_t i = begin; i < end; i++) {
    const NoliContact* contact = &data->set->contact.data[i];
    if ((what & NOLI_EVAL_ENERGY) != 0) {
      out->energy[i - begin] = ipc_contact_energy(data, contact, x);
    }
    if (wants_gradient || wants_hessian) {
      evaluate_contact(data, contact, x, what,
                       wants_gradient ? out->gradient + 12 * (i - begin) : NULL,
                       wants_hessian ? out->hessian + BLOCKS_4 * (i - begin) : NULL);
    }
  }
}

NoliEnergyTerm noli_barrier_term(const NoliBarrier* data) {
  return (NoliEnergyTerm){.name = "barrier",
                          .data = data,
                          .evaluate = evaluate_contacts,
                          .size = 4,
                          .n_stencil = data->set->contact.count,
                          .node = data->set->node.data,
                          .divided = data->set->divided};
}

double noli_plane_gap(const NoliBarrier* data, const NoliHalfSpaceContact* contact,
                      const double* x) {
  const NoliHalfSpace* plane = &data->half_spaces[contact->plane];
  return noli_half_space_distance(plane, x + 3 * (int64_t)contact->node) - contact->offset;
}

// Gap of a contact with a half-space, and the barrier times its weight: infinite where the body
// meets the plane.
static NoliBarrierValue plane_barrier(const NoliBarrier* data, const NoliHalfSpaceContact* contact,
                                      const double* x, double* gap) {
  *gap = noli_plane_gap(data, contact, x);
  NoliBarrierValue b =
      noli_barrier_in_range(*gap <= 0.0 ? 0.0 : *gap * *gap, data->dhat_sqr, contact->range);
  double weight = noli_half_space_weight(contact);
  return (NoliBarrierValue){weight * b.value, weight * b.first, weight * b.second};
}

// With G = g^2: grad = 2 g b' n, Hess = (4 G b'' + 2 b') n n^T.
static void evaluate_planes(const void* user, const double* x, int64_t begin, int64_t end,
                            unsigned what, const NoliLocal* out) {
  const NoliBarrier* data = user;
  for (int64_t i = begin; i < end; i++) {
    const NoliHalfSpaceContact* contact = &data->set->plane.data[i];
    double gap;
    NoliBarrierValue b = plane_barrier(data, contact, x, &gap);
    NoliVec3 n = data->half_spaces[contact->plane].normal;
    if ((what & NOLI_EVAL_ENERGY) != 0) {
      out->energy[i - begin] = data->kappa * b.value;
    }
    if ((what & NOLI_EVAL_GRADIENT) != 0) {
      noli_store3(out->gradient + 3 * (i - begin),
                  noli_scale3(data->kappa * 2.0 * gap * b.first, n));
    }
    if ((what & (NOLI_EVAL_HESSIAN | NOLI_EVAL_PROJECTED)) != 0) {
      double h = data->kappa * (4.0 * gap * gap * b.second + 2.0 * b.first);
      if ((what & NOLI_EVAL_PROJECTED) != 0 && h < 0.0) {
        h = 0.0;
      }
      noli_store3(out->hessian + 9 * (i - begin), noli_scale3(h * n.x, n));
      noli_store3(out->hessian + 9 * (i - begin) + 3, noli_scale3(h * n.y, n));
      noli_store3(out->hessian + 9 * (i - begin) + 6, noli_scale3(h * n.z, n));
    }
  }
}

NoliEnergyTerm noli_half_space_barrier_term(const NoliBarrier* data) {
  return (NoliEnergyTerm){.name = "plane barrier",
                          .data = data,
                          .evaluate = evaluate_planes,
                          .size = 1,
                          .n_stencil = data->set->plane.count,
                          .node = data->set->plane_node.data,
                          .divided = data->set->divided};
}

typedef struct EnergyJob {
  const NoliBarrier* data;
  const double* x;
} EnergyJob;

static double sum_contacts(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const EnergyJob* job = user;
  double sum = 0.0;
  for (int64_t i = begin; i < end; i++) {
    sum += ipc_contact_energy(job->data, &job->data->set->contact.data[i], job->x);
  }
  return sum;
}

static double sum_planes(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const EnergyJob* job = user;
  double sum = 0.0;
  for (int64_t i = begin; i < end; i++) {
    double gap;
    sum += job->data->kappa *
           plane_barrier(job->data, &job->data->set->plane.data[i], job->x, &gap).value;
  }
  return sum;
}

double noli_barrier_energy(const NoliBarrier* data, const double* x, int32_t n_threads) {
  EnergyJob job = {data, x};
  const NoliContactSet* set = data->set;
  return noli_parallel_sum(n_threads, set->contact.count, ENERGY_BLOCK, sum_contacts, &job) +
         noli_parallel_sum(n_threads, set->plane.count, ENERGY_BLOCK, sum_planes, &job);
}

double noli_contact_normal_force(const NoliBarrier* data, double weight, double range,
                                 double gap_sqr) {
  double first = noli_barrier_in_range(gap_sqr, data->dhat_sqr, range).first;
  return -data->kappa * weight * first * 2.0 * sqrt(gap_sqr);
}

static void ipc_subtract(double* force, double scale, const double* gradient) {
  for (int k = 0; k < 3; k++) {
    force[k] -= gradient[k] / scale;
  }
}

// Gradient of one contact with a half-space.
static NoliVec3 plane_gradient(const NoliBarrier* data, const NoliHalfSpaceContact* contact,
                               const double* x) {
  double gap;
  NoliBarrierValue b = plane_barrier(data, contact, x, &gap);
  return noli_scale3(data->kappa * 2.0 * gap * b.first, data->half_spaces[contact->plane].normal);
}

void noli_contact_gradient(const NoliBarrier* data, const NoliContact* contact, const double* x,
                           double gradient[12]) {
  evaluate_contact(data, contact, x, NOLI_EVAL_GRADIENT, gradient, NULL);
}

void noli_contact_forces(const NoliBarrier* data, const double* x, double scale, double* force) {
  const NoliContactSet* set = data->set;
  for (int64_t i = 0; i < set->contact.count; i++) {
    const NoliContact* contact = &set->contact.data[i];
    double gradient[12];
    evaluate_contact(data, contact, x, NOLI_EVAL_GRADIENT, gradient, NULL);
    for (int k = 0; k < noli_pair_size[contact->kind]; k++) {
      ipc_subtract(force + 3 * (int64_t)contact->node[k], scale, gradient + 3 * k);
    }
  }
  for (int64_t i = 0; i < set->plane.count; i++) {
    const NoliHalfSpaceContact* contact = &set->plane.data[i];
    double gradient[3];
    noli_store3(gradient, plane_gradient(data, contact, x));
    ipc_subtract(force + 3 * (int64_t)contact->node, scale, gradient);
  }
}

NoliContactPlace noli_half_space_place(const NoliBarrier* data, const NoliHalfSpaceContact* contact,
                                       const double* x) {
  const NoliHalfSpace* half_space = &data->half_spaces[contact->plane];
  const double* at = x + 3 * (int64_t)contact->node;
  double d = noli_half_space_distance(half_space, at);
  NoliVec3 below = noli_mul_add3(noli_load3(at), -d, half_space->normal);
  return noli_contact_place_of_vertex(contact->entity, contact->node, x, below);
}

NoliStatus noli_contact_pair_forces(const NoliBarrier* data, NoliContext* context, const double* x,
                                    double scale, NoliPairForces* pairs) {
  NoliStatus status = NOLI_OK;
  const NoliContactSet* set = data->set;
  for (int64_t i = 0; i < set->contact.count; i++) {
    const NoliContact* contact = &set->contact.data[i];
    double gradient[12], mollifier, side[3] = {0.0, 0.0, 0.0};
    evaluate_contact(data, contact, x, NOLI_EVAL_GRADIENT, gradient, NULL);
    for (int k = 0; k < noli_contact_first_side(contact); k++) {
      ipc_subtract(side, scale, gradient + 3 * k);
    }
    NoliClosest closest = noli_contact_closest(contact, x, &mollifier);
    double gap = sqrt(closest.d_sqr) - contact->offset;
    NoliContactPlace place =
        noli_contact_place(contact->entity, noli_contact_first_side(contact),
                           noli_pair_size[contact->kind], contact->node, closest.weight, x);
    NOLI_TRY(noli_pair_forces_add_contact(pairs, context, &place, gap, noli_load3(side)));
  }

  for (int64_t i = 0; i < set->plane.count; i++) {
    const NoliHalfSpaceContact* contact = &set->plane.data[i];
    NoliVec3 force = noli_scale3(-1.0 / scale, plane_gradient(data, contact, x));
    double gap = noli_plane_gap(data, contact, x);
    NoliContactPlace place = noli_half_space_place(data, contact, x);
    NOLI_TRY(noli_pair_forces_add_contact(pairs, context, &place, gap, force));
  }
done:
  return status;
}
