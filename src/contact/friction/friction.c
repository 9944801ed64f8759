#include "contact/friction/friction.h"

#include "base/ranks.h"

#include "contact/friction/stick.h"
#include "contact/ipc.h"

#include <string.h>

// Relative to the sliding: a step that changes the sliding by less does not reverse it. With limits
// of 0.03 to 1 the number of iterations varies by a tenth; without a limit, blocks that land and
// slide need twice as many.
#define SETTLED 0.3

// Relative to the increase by majorization: less is rounding.
#define SEEN 1e-3

// Relative to the stick length; with 0.05 to 0.95 the number of iterations varies by a hundredth.
#define NEAR_LIMIT 0.5

void noli_friction_set_init(NoliFrictionSet* set) {
  *set = (NoliFrictionSet){0};
}

void noli_friction_set_free(NoliContext* context, NoliFrictionSet* set) {
  noli_array_free(context, &set->contact);
  noli_array_free(context, &set->node);
  noli_array_free(context, &set->weight);
  noli_array_free(context, &set->first);
  noli_array_free(context, &set->first_block);
}

void noli_friction_set_clear(NoliFrictionSet* set) {
  set->contact.count = 0;
  set->node.count = 0;
  set->weight.count = 0;
  set->first.count = 0;
  set->first_block.count = 0;
  set->divided = false;
  set->n_all = set->n_majorized = 0;
}

NoliFrictionStencil noli_friction_stencil(const NoliFrictionSet* set, int64_t i) {
  if (set->first.count == 0) {
    return (NoliFrictionStencil){4, set->node.data + 4 * i, set->contact.data[i].weight};
  }
  int64_t first = set->first.data[i];
  return (NoliFrictionStencil){(int32_t)(set->first.data[i + 1] - first), set->node.data + first,
                               set->weight.data + first};
}

static bool has_friction(const NoliContactPairs* pairs, const int32_t entity[2]) {
  return noli_contact_pairs_law(pairs, entity[0], entity[1]) != NULL;
}

static NoliFrictionContact friction_contact(const NoliFrictionLaw* law,
                                            const NoliNormalContact* contact) {
  NoliFrictionContact made = {.law = *law,
                              .lambda = contact->lambda,
                              .entity = {contact->entity[0], contact->entity[1]},
                              .n_first = contact->n_first,
                              .by_vertex = contact->by_vertex,
                              .factor = {1.0, 1.0}};
  memcpy(made.weight, contact->weight, sizeof made.weight);
  made.t[0] = noli_orthogonal3(contact->normal);
  made.t[1] = noli_cross3(contact->normal, made.t[0]);
  return made;
}

// The law of a contact at vertex `node` and others; NULL if it has no friction.
static NoliStatus find_law(NoliContext* context, const NoliContactPairs* pairs,
                           const NoliNormalContact* contact, int32_t node,
                           const NoliFrictionLaw** law) {
  NoliStatus status = NOLI_OK;
  *law = noli_contact_pairs_law(pairs, contact->entity[0], contact->entity[1]);
  NOLI_CHECK(context, *law == NULL || isfinite(contact->lambda), NOLI_NOT_FINITE,
             "friction: the contact force at vertex %d is not finite", node);
  if (!(contact->lambda > 0.0)) {
    *law = NULL;
  }
done:
  return status;
}

NoliStatus noli_friction_set_add(NoliFrictionSet* set, NoliContext* context,
                                 const NoliContactPairs* pairs, const NoliNormalContact* contact) {
  NoliStatus status = NOLI_OK;
  const NoliFrictionLaw* law;
  NOLI_TRY(find_law(context, pairs, contact, contact->node[0], &law));
  if (law == NULL) {
    goto done;
  }
  // reserve both first, so that the lists never differ in length
  NOLI_TRY(noli_array_reserve(context, &set->contact, set->contact.count + 1));
  NOLI_TRY(noli_array_reserve(context, &set->node, set->node.count + 4));
  set->contact.data[set->contact.count++] = friction_contact(law, contact);
  set->n_all++;
  memcpy(set->node.data + set->node.count, contact->node, sizeof contact->node);
  set->node.count += 4;
done:
  return status;
}

NoliStatus noli_friction_set_add_stencil(NoliFrictionSet* set, NoliContext* context,
                                         const NoliContactPairs* pairs,
                                         const NoliNormalContact* contact, int32_t size,
                                         const int32_t* node, const double* weight) {
  NoliStatus status = NOLI_OK;
  const NoliFrictionLaw* law;
  NOLI_TRY(find_law(context, pairs, contact, node[0], &law));
  if (law == NULL) {
    goto done;
  }

  // reserve all first, so that the lists never differ in length
  int64_t n = set->contact.count, begin = set->node.count;
  NOLI_TRY(noli_array_reserve(context, &set->contact, n + 1));
  NOLI_TRY(noli_array_reserve(context, &set->first, n + 2));
  NOLI_TRY(noli_array_reserve(context, &set->first_block, n + 2));
  NOLI_TRY(noli_array_reserve(context, &set->node, begin + size));
  NOLI_TRY(noli_array_reserve(context, &set->weight, begin + size));

  // the contact, its offsets and its stencil
  set->contact.data[set->contact.count++] = friction_contact(law, contact);
  set->n_all++;
  if (n == 0) {
    set->first.data[0] = set->first_block.data[0] = 0;
  }
  set->first.data[n + 1] = begin + size;
  set->first_block.data[n + 1] = set->first_block.data[n] + noli_stencil_blocks(size);
  set->first.count = set->first_block.count = n + 2;
  memcpy(set->node.data + begin, node, sizeof *node * (size_t)size);
  memcpy(set->weight.data + begin, weight, sizeof *weight * (size_t)size);
  set->node.count = set->weight.count = begin + size;
done:
  return status;
}

static NoliNormalContact from_contact(const NoliContact* contact, const NoliBarrier* barrier,
                                      const double* x) {
  double mollifier;
  NoliClosest closest = noli_contact_closest(contact, x, &mollifier);
  NoliNormalContact made = {
      .normal = noli_normalize3(closest.r),
      .lambda = noli_contact_normal_force(barrier, contact->weight * mollifier, contact->range,
                                          noli_gap_sqr(closest.d_sqr, contact->offset)),
      .entity = {contact->entity[0], contact->entity[1]},
      .n_first = noli_contact_first_side(contact)};
  memcpy(made.node, contact->node, sizeof made.node);
  memcpy(made.weight, closest.weight, sizeof made.weight);
  return made;
}

static NoliNormalContact from_plane(const NoliHalfSpaceContact* contact, const NoliBarrier* barrier,
                                    const double* x) {
  const NoliHalfSpace* plane = &barrier->half_spaces[contact->plane];
  double gap = noli_plane_gap(barrier, contact, x);
  return (NoliNormalContact){
      .node = {contact->node, NOLI_NULL_INDEX, NOLI_NULL_INDEX, NOLI_NULL_INDEX},
      .weight = {1.0},
      .normal = plane->normal,
      .lambda = noli_contact_normal_force(barrier, noli_half_space_weight(contact), contact->range,
                                          gap <= 0.0 ? 0.0 : gap * gap),
      .entity = {contact->entity[0], contact->entity[1]},
      .n_first = 1};
}

// The sum of the numbers of all ranks, if what they count is divided.
static NoliStatus friction_add_up(NoliContext* context, bool divided, int64_t* n) {
  double sum = (double)*n;
  NoliStatus status = divided ? noli_ranks_sum(context, &sum, 1) : NOLI_OK;
  *n = (int64_t)sum;
  return status;
}

// Adds the contacts on this rank.
static NoliStatus add_contacts(NoliFrictionSet* set, NoliContext* context,
                               const NoliBarrier* barrier, const NoliContactPairs* pairs,
                               const double* x) {
  NoliStatus status = NOLI_OK;
  const NoliContactSet* contacts = barrier->set;
  for (int64_t i = 0; i < contacts->contact.count; i++) {
    if (has_friction(pairs, contacts->contact.data[i].entity)) {
      NoliNormalContact contact = from_contact(&contacts->contact.data[i], barrier, x);
      NOLI_TRY(noli_friction_set_add(set, context, pairs, &contact));
    }
  }
  for (int64_t i = 0; i < contacts->plane.count; i++) {
    if (has_friction(pairs, contacts->plane.data[i].entity)) {
      NoliNormalContact contact = from_plane(&contacts->plane.data[i], barrier, x);
      NOLI_TRY(noli_friction_set_add(set, context, pairs, &contact));
    }
  }
done:
  return status;
}

NoliStatus noli_friction_set_build(NoliFrictionSet* set, NoliContext* context,
                                   const NoliContactSet* contacts, const NoliHalfSpace* half_spaces,
                                   const NoliContactPairs* pairs, const double* x, double kappa,
                                   double dhat) {
  NoliStatus status = NOLI_OK;
  const NoliBarrier barrier = {contacts, half_spaces, dhat * dhat, kappa};
  noli_friction_set_clear(set);
  set->divided = contacts->divided;
  NoliStatus own = add_contacts(set, context, &barrier, pairs, x);
  NOLI_TRY(set->divided ? noli_ranks_join(context, own) : own);
  NOLI_TRY(friction_add_up(context, set->divided, &set->n_all));
done:
  return status;
}

NoliStatus noli_friction_set_add_stencils(NoliFrictionSet* set, NoliContext* context,
                                          const NoliContactSet* contacts,
                                          const NoliContactPairs* pairs, const double* x,
                                          double kappa, double dhat) {
  NoliStatus status = NOLI_OK;
  const NoliBarrier barrier = {contacts, NULL, dhat * dhat, kappa};
  for (int64_t i = 0; i < contacts->contact.count; i++) {
    const NoliContact* contact = &contacts->contact.data[i];
    if (has_friction(pairs, contact->entity)) {
      NoliNormalContact made = from_contact(contact, &barrier, x);
      int32_t size = 0;
      while (size < 4 && made.node[size] != NOLI_NULL_INDEX) {
        size++;
      }
      NOLI_TRY(
          noli_friction_set_add_stencil(set, context, pairs, &made, size, made.node, made.weight));
    }
  }
done:
  return status;
}

// r of stick.h.
static double rate_of(const NoliFriction* data) {
  return data->stick != NULL ? data->stick->rate : 1.0;
}

void noli_friction_sliding(const NoliFriction* data, int64_t i, const double* x, double u[2]) {
  const NoliFrictionContact* contact = &data->set->contact.data[i];
  NoliFrictionStencil stencil = noli_friction_stencil(data->set, i);
  NoliVec3 moved = {0.0, 0.0, 0.0};
  for (int32_t k = 0; k < stencil.size && stencil.node[k] != NOLI_NULL_INDEX; k++) {
    int64_t at = 3 * (int64_t)stencil.node[k];
    NoliVec3 from = data->x_hat != NULL ? noli_load3(data->x_hat + at) : noli_vec3(0.0, 0.0, 0.0);
    moved = noli_mul_add3(moved, stencil.weight[k], noli_sub3(noli_load3(x + at), from));
  }
  u[0] = noli_dot3(contact->t[0], moved);
  u[1] = noli_dot3(contact->t[1], moved);
  for (int k = 0; k < 2; k++) {
    u[k] *= contact->factor[k];
    u[k] = data->stick != NULL ? contact->offset[k] + data->stick->rate * u[k] : u[k];
  }
}

static double length2(const double u[2]) {
  return sqrt(u[0] * u[0] + u[1] * u[1]);
}

NoliSlidingLaw noli_friction_law_of(const NoliFriction* data, int64_t i) {
  const NoliFrictionLaw* law = &data->set->contact.data[i].law;
  return data->stick != NULL ? noli_stick_law(law, data->stick->length, data->stick->duration)
                             : noli_sliding_law(law, data->eps_v, data->h_v);
}

// The viscous force over the sliding of this step of a contact that sticks, N/m.
static double drag_of(const NoliFriction* data, int64_t i) {
  const NoliFrictionContact* contact = &data->set->contact.data[i];
  return data->stick != NULL
             ? contact->law.mu_v * contact->lambda * data->stick->rate / data->stick->duration
             : 0.0;
}

void noli_friction_drag(const NoliFriction* data, int64_t i, const double u[2], double force[2]) {
  const NoliFrictionContact* contact = &data->set->contact.data[i];
  double drag = drag_of(data, i);
  for (int k = 0; k < 2; k++) {
    force[k] = drag > 0.0 ? drag / rate_of(data) * (u[k] - contact->offset[k]) : 0.0;
  }
}

// The potential at a sliding u.
static double potential_at(const NoliFriction* data, int64_t i, const double u[2]) {
  const NoliFrictionContact* contact = &data->set->contact.data[i];
  NoliSlidingLaw law = noli_friction_law_of(data, i);
  double energy = noli_sliding_potential(&law, length2(u), contact->lambda) / rate_of(data);
  if (drag_of(data, i) > 0.0) {
    double drag[2];
    noli_friction_drag(data, i, u, drag);
    energy += 0.5 / rate_of(data) *
              (drag[0] * (u[0] - contact->offset[0]) + drag[1] * (u[1] - contact->offset[1]));
  }
  return energy;
}

static double friction_contact_energy(const NoliFriction* data, int64_t i, const double* x) {
  double u[2];
  noli_friction_sliding(data, i, x, u);
  return potential_at(data, i, u);
}

// Tangent k times its factor: the derivative of u_k by sum_i w_i x_i.
static NoliVec3 tangent(const NoliFrictionContact* contact, int k) {
  return noli_scale3(contact->factor[k], contact->t[k]);
}

// The derivative of the potential with respect to sum_i w_i x_i: (c / |u|) T u, a vector in the
// contact plane.
static NoliVec3 contact_gradient(const NoliFriction* data, int64_t i, const double* x) {
  const NoliFrictionContact* contact = &data->set->contact.data[i];
  NoliSlidingLaw law = noli_friction_law_of(data, i);
  double u[2];
  noli_friction_sliding(data, i, x, u);
  double scale = noli_sliding_over_y(&law, length2(u), contact->lambda), drag[2];
  NoliVec3 dry = noli_add3(noli_scale3(scale * u[0], tangent(contact, 0)),
                           noli_scale3(scale * u[1], tangent(contact, 1)));
  if (drag_of(data, i) == 0.0) {
    return dry;
  }
  noli_friction_drag(data, i, u, drag);
  return noli_mul_add3(noli_mul_add3(dry, drag[0], contact->t[0]), drag[1], contact->t[1]);
}

// The quadratic model of the potential of a contact at a sliding u: its second derivative is
// (c / |u|) (I - s s^T) + c' s s^T with s = u / |u|.
typedef struct Model {
  double u[2];
  double s[2];
  double across; // c / |u|
  double along;  // c', clamped to 0 if projected, or that of a majorizing quadratic
  double drag;   // of contacts that stick, in all directions
} Model;

// As the potential is concave in |u|^2, c / |u| decreases: with curvature c / |u| in all
// directions, the quadratic that touches the potential at u is above it everywhere.
static Model model_at(const NoliFriction* data, int64_t i, const double* x, bool projected) {
  const NoliFrictionContact* contact = &data->set->contact.data[i];
  NoliSlidingLaw law = noli_friction_law_of(data, i);
  Model model = {.s = {1.0, 0.0}};
  noli_friction_sliding(data, i, x, model.u);
  double y = length2(model.u);
  if (y > 0.0) {
    model.s[0] = model.u[0] / y;
    model.s[1] = model.u[1] / y;
  }
  model.across = noli_sliding_over_y(&law, y, contact->lambda);
  model.along =
      contact->majorized ? model.across : noli_sliding_derivative(&law, y, contact->lambda);
  model.along = projected && model.along < 0.0 ? 0.0 : model.along;
  model.drag = drag_of(data, i);
  return model;
}

// The second derivative in space of the potential, or of the quadratic above it (model_at).
static void contact_block(const NoliFriction* data, int64_t i, const double* x, bool projected,
                          double block[9]) {
  const NoliFrictionContact* contact = &data->set->contact.data[i];
  Model model = model_at(data, i, x, projected);
  double rate = rate_of(data);
  const double *s = model.s, along = rate * model.along + model.drag,
               across = rate * model.across + model.drag;
  NoliVec3 t[2] = {tangent(contact, 0), tangent(contact, 1)};
  NoliVec3 a = noli_add3(noli_scale3(s[0], t[0]), noli_scale3(s[1], t[1]));
  NoliVec3 b = noli_sub3(noli_scale3(s[0], t[1]), noli_scale3(s[1], t[0]));
  const double av[3] = {a.x, a.y, a.z}, bv[3] = {b.x, b.y, b.z};
  for (int r = 0; r < 3; r++) {
    for (int c = 0; c < 3; c++) {
      block[3 * r + c] = along * (av[r] * av[c]) + across * (bv[r] * bv[c]);
    }
  }
}

// The change of the potential of a contact along a step.
typedef struct Course {
  bool overshot; // it exceeds its model
  bool settled;  // the sliding has changed little: an exact Hessian will not overshoot either
  bool onward;   // a contact that sticks slides beyond its limit, where the potential is linear
} Course;

static Course course_of(const NoliFriction* data, int64_t i, const double* x, const double* x_end) {
  Model model = model_at(data, i, x, true);
  double end[2], drag[2];
  noli_friction_sliding(data, i, x_end, end);

  const double *u = model.u, *s = model.s;
  double du[2] = {end[0] - u[0], end[1] - u[1]};
  double along = s[0] * du[0] + s[1] * du[1], across = s[0] * du[1] - s[1] * du[0];
  double expected = model.across * (u[0] * du[0] + u[1] * du[1]) +
                    0.5 * (model.along * along * along + model.across * across * across);
  double change = potential_at(data, i, end) - potential_at(data, i, u);
  double excess = 0.5 * model.across * (along * along + across * across); // of a majorizing model
  double rate = rate_of(data);
  expected /= rate;
  excess /= rate;
  if (model.drag > 0.0) {
    noli_friction_drag(data, i, u, drag);
    expected += (drag[0] * du[0] + drag[1] * du[1]) / rate +
                0.5 * model.drag * (du[0] * du[0] + du[1] * du[1]) / (rate * rate);
  }
  return (Course){.overshot = change > expected + SEEN * excess,
                  .settled = length2(du) < SETTLED * length2(u),
                  .onward = data->stick != NULL && length2(end) >= data->stick->length &&
                            du[0] * end[0] + du[1] * end[1] >= 0.0};
}

NoliStatus noli_friction_majorize(NoliFrictionSet* set, NoliContext* context,
                                  const NoliFriction* data, const double* x, const double* x_end,
                                  bool too_long) {
  int64_t n = 0;
  if (!too_long && set->n_majorized == 0) {
    return NOLI_OK;
  }
  for (int64_t i = 0; i < set->contact.count; i++) {
    NoliFrictionContact* contact = &set->contact.data[i];
    Course course = course_of(data, i, x, x_end);
    bool over = course.settled || (contact->on_trial && course.onward);
    contact->majorized = contact->majorized ? !over : course.overshot;
    contact->on_trial = contact->on_trial && contact->majorized;
    n += contact->majorized ? 1 : 0;
  }
  set->n_majorized = n;
  return friction_add_up(context, set->divided, &set->n_majorized);
}

// Whether a contact that sticks was near its limit at the start of the step and has not moved yet,
// or is beyond it, where its exact Hessian does not resist, and has hardly slid on: a plate that
// presses moves what it touches by fractions of the stick length.
static bool may_unload(const NoliFriction* data, int64_t i, const double* x) {
  const double* offset = data->set->contact.data[i].offset;
  NoliFriction moved = *data;
  double u[2];
  if (length2(offset) < NEAR_LIMIT * data->stick->length) {
    return false;
  }
  moved.x_hat = data->stick->x;
  noli_friction_sliding(&moved, i, x, u);
  double y = length2(u), length = data->stick->length;
  bool rests = u[0] == offset[0] && u[1] == offset[1];
  return rests || (y > length && y <= length2(offset) + length);
}

NoliStatus noli_friction_begin(NoliFrictionSet* set, NoliContext* context, const NoliFriction* data,
                               const double* x) {
  int64_t n = 0;
  if (data->stick == NULL) {
    noli_friction_set_exact(set);
    return NOLI_OK;
  }
  for (int64_t i = 0; i < set->contact.count; i++) {
    NoliFrictionContact* contact = &set->contact.data[i];
    contact->majorized = contact->on_trial = may_unload(data, i, x);
    n += contact->majorized ? 1 : 0;
  }
  set->n_majorized = n;
  return friction_add_up(context, set->divided, &set->n_majorized);
}

void noli_friction_set_exact(NoliFrictionSet* set) {
  for (int64_t i = 0; set->n_majorized > 0 && i < set->contact.count; i++) {
    set->contact.data[i].majorized = set->contact.data[i].on_trial = false;
  }
  set->n_majorized = 0;
}

static void expand_block(const NoliFrictionStencil* stencil, const double block[9],
                         double* hessian) {
  for (int32_t a = 0; a < stencil->size; a++) {
    for (int32_t b = a; b < stencil->size; b++) {
      double* out = hessian + 9 * (int64_t)noli_stencil_block(stencil->size, a, b);
      double weight = stencil->weight[a] * stencil->weight[b];
      for (int e = 0; e < 9; e++) {
        out[e] = weight * block[e];
      }
    }
  }
}

static void evaluate_friction(const void* user, const double* x, int64_t begin, int64_t end,
                              unsigned what, const NoliLocal* out) {
  const NoliFriction* data = user;
  for (int64_t i = begin; i < end; i++) {
    const NoliFrictionSet* set = data->set;
    bool any_size = set->first.count > 0;
    NoliFrictionStencil stencil = noli_friction_stencil(set, i);
    int64_t node = any_size ? set->first.data[i] - set->first.data[begin] : 4 * (i - begin);
    int64_t first_block =
        any_size ? set->first_block.data[i] - set->first_block.data[begin] : 10 * (i - begin);
    if ((what & NOLI_EVAL_ENERGY) != 0) {
      out->energy[i - begin] = friction_contact_energy(data, i, x);
    }
    if ((what & NOLI_EVAL_GRADIENT) != 0) {
      NoliVec3 gradient = contact_gradient(data, i, x);
      double* to = out->gradient + 3 * node;
      for (int32_t k = 0; k < stencil.size; k++) {
        noli_store3(to + 3 * k, noli_scale3(stencil.weight[k], gradient));
      }
    }
    if ((what & (NOLI_EVAL_HESSIAN | NOLI_EVAL_PROJECTED)) != 0) {
      double block[9];
      contact_block(data, i, x, (what & NOLI_EVAL_PROJECTED) != 0, block);
      expand_block(&stencil, block, out->hessian + 9 * first_block);
    }
  }
}

NoliEnergyTerm noli_friction_term(const NoliFriction* data) {
  const NoliFrictionSet* set = data->set;
  bool any_size = set->first.count > 0;
  return (NoliEnergyTerm){.name = "friction",
                          .data = data,
                          .evaluate = evaluate_friction,
                          .size = 4,
                          .n_stencil = set->contact.count,
                          .node = set->node.data,
                          .divided = set->divided,
                          .first = any_size ? set->first.data : NULL,
                          .first_block = any_size ? set->first_block.data : NULL};
}

void noli_friction_forces(const NoliFriction* data, const double* x, double scale, double* force) {
  for (int64_t i = 0; i < data->set->contact.count; i++) {
    NoliFrictionStencil stencil = noli_friction_stencil(data->set, i);
    NoliVec3 gradient = contact_gradient(data, i, x);
    for (int32_t k = 0; k < stencil.size && stencil.node[k] != NOLI_NULL_INDEX; k++) {
      double* f = force + 3 * (int64_t)stencil.node[k];
      noli_store3(f, noli_mul_add3(noli_load3(f), -stencil.weight[k] / scale, gradient));
    }
  }
}

// Sum of the weights of the first entity's nodes: its sign gives the side on which the gradient
// acts.
static double first_side(const NoliFrictionSet* set, int64_t i) {
  NoliFrictionStencil stencil = noli_friction_stencil(set, i);
  double sum = 0.0;
  for (int32_t k = 0; k < set->contact.data[i].n_first; k++) {
    sum += stencil.weight[k];
  }
  return sum;
}

NoliStatus noli_friction_pair_forces(const NoliFriction* data, NoliContext* context,
                                     const double* x, double scale, NoliPairForces* pairs) {
  NoliStatus status = NOLI_OK;
  for (int64_t i = 0; i < data->set->contact.count; i++) {
    const NoliFrictionContact* contact = &data->set->contact.data[i];
    NoliVec3 force = noli_scale3(-first_side(data->set, i) / scale, contact_gradient(data, i, x));
    // of stencils of any size the vertex alone comes first
    NoliFrictionStencil stencil = noli_friction_stencil(data->set, i);
    bool any_size = data->set->first.count > 0;
    NoliContactPlace place =
        any_size ? noli_contact_place_of_vertex(contact->entity, stencil.node[0], x,
                                                noli_load3(x + 3 * (int64_t)stencil.node[0]))
                 : noli_contact_place(contact->entity, contact->n_first, 4, stencil.node,
                                      stencil.weight, x);
    NOLI_TRY(noli_pair_forces_add_friction(pairs, context, &place, force));
  }
done:
  return status;
}
