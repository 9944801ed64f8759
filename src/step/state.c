#include "step/state.h"

#include "base/digest.h"
#include "base/validate.h"
#include "contact/friction/stick.h"

#include <math.h>
#include <string.h>

// Sizes for the list of fields, by the names used there.
#define SIZES(state)                                                                               \
  int64_t n = (state)->sizes.n, n_force = (state)->sizes.n_force;                                  \
  int64_t n_before = (state)->sizes.n_before, n_past = (state)->sizes.n_past;                      \
  int64_t n_history = (state)->sizes.n_history, n_increment = (state)->sizes.n_increment;          \
  int64_t n_ends = (state)->sizes.n_ends, n_constraints = (state)->sizes.n_constraints;            \
  int64_t n_coordinates = (state)->sizes.n_coordinates;                                            \
  int64_t n_slips = (state)->sizes.n_slips

NoliStatus noli_state_create(NoliContext* context, const NoliStateSizes* sizes, NoliState* state) {
  NoliStatus status = NOLI_OK;
  *state = (NoliState){
      .sizes = *sizes, .constraint_room = sizes->n_constraints, .slip_room = sizes->n_slips};
  SIZES(state);
#define NOLI_STATE_NEW(name, type, count)                                                          \
  NOLI_NEW_ZERO(context, state->name, (count) + sizes->n_behind);
  NOLI_STATE_FIELDS(NOLI_STATE_NEW)
#undef NOLI_STATE_NEW
  *state->parts = 1;
done:
  if (status != NOLI_OK) {
    noli_state_free(context, state);
  }
  return status;
}

void noli_state_free(NoliContext* context, NoliState* state) {
#define NOLI_STATE_FREE(name, type, count) noli_free(context, state->name);
  NOLI_STATE_FIELDS(NOLI_STATE_FREE)
#undef NOLI_STATE_FREE
  *state = (NoliState){0};
}

NoliStatus noli_state_resize(NoliContext* context, NoliState* state, int64_t n_constraints) {
  NoliStatus status = NOLI_OK;
  int64_t room = state->constraint_room, room_2 = 2 * state->constraint_room;
  NOLI_TRY(noli_grow(context, (void**)&state->constraint, &room, n_constraints, sizeof(int64_t)));
  NOLI_TRY(
      noli_grow(context, (void**)&state->multiplier, &room_2, 2 * n_constraints, sizeof(double)));
  state->constraint_room = room < room_2 / 2 ? room : room_2 / 2;
  state->sizes.n_constraints = n_constraints;
done:
  return status;
}

NoliStatus noli_state_reserve_slips(NoliContext* context, NoliState* state, int64_t n_slips) {
  NoliStatus status = NOLI_OK;
  if (n_slips <= state->slip_room) {
    return NOLI_OK;
  }
  int64_t room_3 = NOLI_STICK_WORDS * state->slip_room;
  int64_t room_5 = NOLI_STICK_NUMBERS * state->slip_room;
  NOLI_TRY(noli_grow(context, (void**)&state->slip_key, &room_3, NOLI_STICK_WORDS * n_slips,
                     sizeof *state->slip_key));
  NOLI_TRY(noli_grow(context, (void**)&state->slip, &room_5, NOLI_STICK_NUMBERS * n_slips,
                     sizeof *state->slip));
  int64_t keys = room_3 / NOLI_STICK_WORDS, slips = room_5 / NOLI_STICK_NUMBERS;
  state->slip_room = keys < slips ? keys : slips;
done:
  return status;
}

NoliStatus noli_state_resize_slips(NoliContext* context, NoliState* state, int64_t n_slips) {
  NoliStatus status = noli_state_reserve_slips(context, state, n_slips);
  state->sizes.n_slips = status == NOLI_OK ? n_slips : state->sizes.n_slips;
  return status;
}

NoliStatus noli_state_copy(NoliContext* context, const NoliState* from, NoliState* to) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_state_reserve_slips(context, to, from->sizes.n_slips));
  NOLI_TRY(noli_state_resize(context, to, from->sizes.n_constraints));
  to->sizes.n_slips = from->sizes.n_slips;
  SIZES(from);
#define NOLI_STATE_COPY(name, type, count)                                                         \
  memcpy(to->name, from->name, sizeof(type) * (size_t)(count));
  NOLI_STATE_FIELDS(NOLI_STATE_COPY)
#undef NOLI_STATE_COPY
  size_t behind = (size_t)from->sizes.n_behind * sizeof(double);
  memcpy(to->x + n, from->x + n, behind);
  memcpy(to->v + n, from->v + n, behind);
  NOLI_VALIDATE(context, noli_state_defect(to));
done:
  return status;
}

static bool all_finite(const double* value, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    if (!isfinite(value[i])) {
      return false;
    }
  }
  return true;
}

const char* noli_state_defect(const NoliState* state) {
  const NoliStateSizes* sizes = &state->sizes;
  NOLI_RULE(sizes->n >= 0 && sizes->n % 3 == 0 && sizes->n_behind % 3 == 0,
            "state: a node does not have three coordinates");
  NOLI_RULE((sizes->n_force == 0 || sizes->n_force == sizes->n) &&
                (sizes->n_before == 0 || sizes->n_before == sizes->n),
            "state: a vector does not have all nodes");
  NOLI_RULE(sizes->n_constraints >= 0 && sizes->n_constraints <= state->constraint_room,
            "state: more constraints than room");
  NOLI_RULE(all_finite(state->x, sizes->n + sizes->n_behind) &&
                all_finite(state->v, sizes->n + sizes->n_behind),
            "state: a position or a velocity is not finite");
  NOLI_RULE(isfinite(*state->time) && isfinite(*state->origin), "state: the time is not finite");
  NOLI_RULE(state->linear[0] >= 0 && state->linear[1] >= 0,
            "state: a record of the linear solver is negative");
  NOLI_RULE(*state->step >= 0 && *state->parts >= 1, "state: a number of steps is negative");

  for (int64_t i = 0; i < sizes->n_increment; i++) {
    NOLI_RULE(state->increment[i] > 0.0, "state: an increment is not positive");
  }
  for (int64_t i = 0; i < sizes->n_past; i++) {
    NOLI_RULE(state->past[i] == 0 || state->past[i] == 1, "state: the past is not 0 or 1");
  }
  for (int64_t i = 0; i < sizes->n_ends; i++) {
    NOLI_RULE(state->ended[i] == 0 || state->ended[i] == 1, "state: an end is not 0 or 1");
  }
  NOLI_RULE(sizes->n_slips >= 0 && sizes->n_slips <= state->slip_room,
            "state: more slips than room");
  return noli_stick_defect(sizes->n_slips, state->slip_key, state->slip);
}

void noli_state_scale(NoliState* state, double factor) {
  *state->kappa *= factor;
  for (int64_t i = 0; i < state->sizes.n_constraints; i++) {
    state->multiplier[2 * i] *= factor;
  }
}

bool noli_state_field(const NoliState* state, int32_t index, NoliStateField* field) {
  SIZES(state);
  const NoliStateField fields[] = {
#define NOLI_STATE_ENTRY(name, type, count)                                                        \
  {#name, state->name, (count),                                                                    \
   _Generic((type)0, double                                                                        \
            : NOLI_FIELD_DOUBLE, int64_t                                                           \
            : NOLI_FIELD_INT64)},
      NOLI_STATE_FIELDS(NOLI_STATE_ENTRY)
#undef NOLI_STATE_ENTRY
  };
  for (size_t i = 0; index >= 0 && i < sizeof fields / sizeof fields[0]; i++) {
    if (fields[i].count > 0 && index-- == 0) {
      *field = fields[i];
      return true;
    }
  }
  return false;
}

const char* noli_state_difference(const NoliState* one, const NoliState* other) {
  NoliStateField a, b;
  for (int32_t i = 0;; i++) {
    bool in_one = noli_state_field(one, i, &a), in_other = noli_state_field(other, i, &b);
    if (!in_one && !in_other) {
      return NULL;
    }
    bool same = in_one && in_other && strcmp(a.name, b.name) == 0 && a.count == b.count &&
                memcmp(a.data, b.data, 8 * (size_t)a.count) == 0;
    if (!same) {
      return in_one ? a.name : b.name;
    }
  }
}

uint64_t noli_state_hash(const NoliState* state) {
  uint64_t hash = NOLI_DIGEST_BEGIN;
  NoliStateField field;
  for (int32_t i = 0; noli_state_field(state, i, &field); i++) {
    hash = noli_digest(hash, field.data, (size_t)field.count * 8);
  }
  return hash;
}
