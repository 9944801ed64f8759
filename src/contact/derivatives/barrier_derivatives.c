#include "contact/derivatives/barrier_derivatives.h"

#include "contact/barrier.h"
#include "contact/friction/implicit_friction.h"
#include "contact/mollifier.h"

// The energy of a contact is s e B(D) with s = kappa weight, its gradient s (B grad e + e B' grad
// D). Derivatives by a number have the same form, with those of B and B', or of e and grad e.
typedef struct Parts {
  int32_t size;
  double scale;  // kappa weight
  double d;      // distance
  double gap;    // less the offset
  NoliVec3 y[4]; // positions
  double e;      // mollifier
  double e_by_x[12];
  double d_by_x[12]; // of D
} Parts;

static Parts parts_of(const NoliBarrier* data, const NoliContact* contact, const double* x) {
  Parts parts = {.size = noli_pair_size[contact->kind], .scale = data->kappa * contact->weight};
  NoliClosest closest = noli_contact_closest(contact, x, &parts.e);
  for (int32_t i = 0; i < parts.size; i++) {
    parts.y[i] = noli_load3(x + 3 * (int64_t)contact->node[i]);
    noli_store3(parts.d_by_x + 3 * i, noli_scale3(2.0 * closest.weight[i], closest.r));
  }
  if (contact->mollified) {
    (void)noli_mollifier_derivatives(parts.y, contact->eps_x, parts.e_by_x, NULL);
  }
  parts.d = sqrt(closest.d_sqr);
  parts.gap = sqrt(noli_gap_sqr(closest.d_sqr, contact->offset));
  return parts;
}

// s (value grad e + e first grad D) in column k of the block.
static void write_column(const Parts* parts, double value, double first, int32_t n_column,
                         int32_t k, double* block) {
  for (int32_t i = 0; i < 3 * parts->size; i++) {
    block[(int64_t)n_column * i + k] =
        parts->scale * (value * parts->e_by_x[i] + parts->e * first * parts->d_by_x[i]);
  }
}

static void barrier_derivatives_write_nodes(const NoliContact* contact, int64_t i,
                                            NoliMixedBlocks* blocks) {
  for (int k = 0; k < noli_pair_size[contact->kind]; k++) {
    blocks->node[4 * i + k] = contact->node[k];
  }
}

void noli_barrier_number_inputs(const NoliBarrierInputs* inputs,
                                int64_t number[NOLI_BARRIER_NUMBERS]) {
  number[0] = inputs->distance;
  number[1] = inputs->stiffness[0];
  number[2] = inputs->stiffness[1];
}

// ---- range and stiffness ------------------------------------------------------------------------

// The derivatives of B and B' by dhat. A pair with a distance of its own has the range r = distance
// / dhat and B = r b(u; Dh) with u = G / r^2: as dhat grows, r shrinks.
static NoliBarrierValue by_distance(double gap_sqr, double dhat_sqr, double range) {
  double u = gap_sqr / (range * range), dhat = sqrt(dhat_sqr);
  NoliBarrierValue by_range = noli_barrier_by_range(u, dhat_sqr);
  NoliBarrierValue value = {.value = 2.0 * dhat * range * by_range.value,
                            .first = 2.0 * dhat * by_range.first / range};
  if (range != 1.0) {
    NoliBarrierValue b = noli_barrier_all(u, dhat_sqr);
    value.value -= range * (b.value - 2.0 * u * b.first) / dhat;
    value.first += (b.first + 2.0 * u * b.second) / (range * dhat);
  }
  return value;
}

// With B(D) = b(G; Dh), G = (d - xi)^2 and dG/dD = (d - xi) / d.
static void write_numbers(const NoliBarrier* data, const NoliContact* contact, const double* x,
                          double* block) {
  Parts parts = parts_of(data, contact, x);
  double gap_sqr = parts.gap * parts.gap, derivative = parts.gap / parts.d;
  NoliBarrierValue r = by_distance(gap_sqr, data->dhat_sqr, contact->range);
  write_column(&parts, r.value, derivative * r.first, NOLI_BARRIER_NUMBERS, 0, block);
  // the gradient is in proportion to kappa
  double gradient[12];
  noli_contact_gradient(data, contact, x, gradient);
  for (int32_t k = 1; k < NOLI_BARRIER_NUMBERS; k++) {
    for (int32_t i = 0; i < 3 * parts.size; i++) {
      block[NOLI_BARRIER_NUMBERS * i + k] = gradient[i];
    }
  }
}

// The gradient on a half-space is kappa 2 g b' n.
static void write_plane_numbers(const NoliBarrier* data, const NoliHalfSpaceContact* contact,
                                const double* x, double* block) {
  double gap = fmax(noli_plane_gap(data, contact, x), 0.0);
  NoliNormalForce force =
      noli_barrier_normal_force(data, noli_half_space_weight(contact), 1.0, contact->range, gap);
  NoliVec3 n = data->half_spaces[contact->plane].normal;
  const double u[3] = {n.x, n.y, n.z};
  for (int i = 0; i < 3; i++) {
    block[NOLI_BARRIER_NUMBERS * i] = -force.by_range * u[i];
    block[NOLI_BARRIER_NUMBERS * i + 1] = -force.lambda * u[i];
    block[NOLI_BARRIER_NUMBERS * i + 2] = -force.lambda * u[i];
  }
}

static NoliStatus list_numbers(NoliMixedList* list, const NoliBarrier* data,
                               const NoliBarrierInputs* inputs, const double* x) {
  NoliStatus status = NOLI_OK;
  NoliMixedBlocks* blocks;
  const NoliContactSet* set = data->set;
  NOLI_TRY(noli_mixed_list_add(list, NOLI_INPUT_CONTACT, set->contact.count, 4,
                               NOLI_BARRIER_NUMBERS, &blocks));
  for (int64_t i = 0; i < set->contact.count; i++) {
    barrier_derivatives_write_nodes(&set->contact.data[i], i, blocks);
    noli_barrier_number_inputs(inputs, blocks->input + NOLI_BARRIER_NUMBERS * i);
    write_numbers(data, &set->contact.data[i], x, noli_mixed_block(blocks, i));
  }
  NOLI_TRY(noli_mixed_list_add(list, NOLI_INPUT_CONTACT, set->plane.count, 1, NOLI_BARRIER_NUMBERS,
                               &blocks));
  for (int64_t i = 0; i < set->plane.count; i++) {
    blocks->node[i] = set->plane.data[i].node;
    noli_barrier_number_inputs(inputs, blocks->input + NOLI_BARRIER_NUMBERS * i);
    write_plane_numbers(data, &set->plane.data[i], x, noli_mixed_block(blocks, i));
  }
done:
  return status;
}

// ---- offsets ------------------------------------------------------------------------------------

// By xi: dB = -2 g b', dB' = -(2 G b'' + b') / d. Both entities have the same column: in contact
// within a body it counts twice.
static void write_offsets(const NoliBarrier* data, const NoliContact* contact, const double* x,
                          double* block) {
  Parts parts = parts_of(data, contact, x);
  double gap_sqr = parts.gap * parts.gap;
  NoliBarrierValue b = noli_barrier_in_range(gap_sqr, data->dhat_sqr, contact->range);
  for (int32_t k = 0; k < 2; k++) {
    write_column(&parts, -2.0 * parts.gap * b.first,
                 -(2.0 * gap_sqr * b.second + b.first) / parts.d, 2, k, block);
  }
}

static NoliStatus list_offsets(NoliMixedList* list, const NoliBarrier* data, const double* x) {
  NoliStatus status = NOLI_OK;
  NoliMixedBlocks* blocks;
  const NoliContactSet* set = data->set;
  NOLI_TRY(noli_mixed_list_add(list, NOLI_INPUT_OFFSET, set->contact.count, 4, 2, &blocks));
  for (int64_t i = 0; i < set->contact.count; i++) {
    const NoliContact* contact = &set->contact.data[i];
    barrier_derivatives_write_nodes(contact, i, blocks);
    blocks->input[2 * i] = contact->entity[0];
    blocks->input[2 * i + 1] = contact->entity[1];
    write_offsets(data, contact, x, noli_mixed_block(blocks, i));
  }

  NOLI_TRY(noli_mixed_list_add(list, NOLI_INPUT_OFFSET, set->plane.count, 1, 2, &blocks));
  for (int64_t i = 0; i < set->plane.count; i++) {
    const NoliHalfSpaceContact* contact = &set->plane.data[i];
    double gap = fmax(noli_plane_gap(data, contact, x), 0.0);
    NoliVec3 n = noli_scale3(
        noli_barrier_normal_force(data, noli_half_space_weight(contact), 1.0, contact->range, gap)
            .by_d,
        data->half_spaces[contact->plane].normal);
    const double column[3] = {n.x, n.y, n.z};
    blocks->node[i] = contact->node;
    for (int k = 0; k < 6; k++) {
      blocks->input[2 * i + k % 2] = contact->entity[k % 2];
      noli_mixed_block(blocks, i)[k] = column[k / 2];
    }
  }
done:
  return status;
}

// ---- rest positions -----------------------------------------------------------------------------

static NoliStatus list_rest(NoliMixedList* list, const NoliBarrier* data, const double* X,
                            const double* x) {
  NoliStatus status = NOLI_OK;
  NoliMixedBlocks* blocks;
  const NoliContactSet* set = data->set;
  NOLI_TRY(noli_mixed_list_add(list, NOLI_INPUT_REST, set->contact.count, 4, 12, &blocks));

  for (int64_t i = 0; i < set->contact.count; i++) {
    const NoliContact* contact = &set->contact.data[i];
    double by_eps[12], by_rest[12], of_gradient, *block = noli_mixed_block(blocks, i);
    NoliVec3 rest[4];
    if (!contact->mollified) {
      continue;
    }
    Parts parts = parts_of(data, contact, x);
    NoliBarrierValue b =
        noli_barrier_in_range(parts.gap * parts.gap, data->dhat_sqr, contact->range);
    parts.e = noli_mollifier_by_eps(parts.y, contact->eps_x, &of_gradient);
    write_column(&parts, of_gradient * b.value, parts.gap / parts.d * b.first, 1, 0, by_eps);
    for (int k = 0; k < 4; k++) {
      rest[k] = noli_load3(X + 3 * (int64_t)contact->node[k]);
    }
    noli_mollifier_eps_by_rest(rest, by_rest);
    barrier_derivatives_write_nodes(contact, i, blocks);
    for (int k = 0; k < 12; k++) {
      blocks->input[12 * i + k] = 3 * (int64_t)contact->node[k / 3] + k % 3;
      for (int j = 0; j < 12; j++) {
        block[12 * k + j] = by_eps[k] * by_rest[j];
      }
    }
  }
done:
  return status;
}

NoliStatus noli_barrier_derivatives(NoliMixedList* list, const NoliBarrier* data,
                                    const NoliBarrierInputs* inputs, const double* x) {
  NoliStatus status = NOLI_OK;
  if (noli_mixed_list_wants(list, NOLI_INPUT_REST)) {
    NOLI_TRY(list_rest(list, data, inputs->X, x));
  }
  if (noli_mixed_list_wants(list, NOLI_INPUT_CONTACT)) {
    NOLI_TRY(list_numbers(list, data, inputs, x));
  }
  if (noli_mixed_list_wants(list, NOLI_INPUT_OFFSET)) {
    NOLI_TRY(list_offsets(list, data, x));
  }
done:
  return status;
}

// ---- normal forces ------------------------------------------------------------------------------

NoliNormalForce noli_barrier_normal_force(const NoliBarrier* data, double weight, double mollifier,
                                          double range, double gap) {
  NoliGapForce force = noli_gap_force(data, weight * mollifier, range, gap);
  double by_range = by_distance(gap * gap, data->dhat_sqr, range).first;
  return (NoliNormalForce){.lambda = force.lambda,
                           .by_d = force.by_d,
                           .by_range = -data->kappa * (weight * mollifier) * by_range * 2.0 * gap,
                           .by_mollifier = noli_gap_force(data, weight, range, gap).lambda};
}
