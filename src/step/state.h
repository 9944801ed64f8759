// Everything that changes from step to step and must be saved, declared once: creating, copying,
// comparing, hashing, saving and loading a state all follow from one list.
#pragma once

#include "noli/sim.h"

#include "base/context.h"

// X(name, type, count) with n = 3 * n_node (followers come after the nodes in x and v; they are
// derived and copied but not saved); n_force, n_before (n or 0), n_past and n_increment (1 or 0) as
// the integrator needs; n_history as the blocks need; n_coordinates of joints; n_ends, the number
// of motions that end by position; n_constraints and n_slips, which change (noli_state_resize).
// Single numbers are arrays of one, so that copying, saving, comparing and hashing treat all alike.
#define NOLI_STATE_FIELDS(X)                                                                       \
  X(x, double, n)                   /* m, positions */                                             \
  X(v, double, n)                   /* m/s, velocities */                                          \
  X(force, double, n_force)         /* N, the total force at x, v, without stiffness damping */    \
  X(x_before, double, n_before)     /* m, one step ago */                                          \
  X(v_before, double, n_before)     /* m/s, one step ago */                                        \
  X(past, int64_t, n_past)          /* 1: the three above belong to x, v */                        \
  X(time, double, 1)                /* s */                                                        \
  X(origin, double, 1)              /* s, start of the first step of this length */                \
  X(origin_step, int64_t, 1)        /* number of that step */                                      \
  X(kappa, double, 1)               /* barrier stiffness at the end of the last step, by h_e^2 */  \
  X(step, int64_t, 1)               /* steps done */                                               \
  X(parts, int64_t, 1)              /* of the last step; 1 if it was not divided */                \
  X(increment, double, n_increment) /* s, length of the next one */                                \
  X(linear, int64_t, 2)             /* what the linear solver has learnt, NoliLinRecord */         \
  X(held, int64_t, 1) /* last consecutive steps that held prescribed nodes at their start */       \
  X(history, double, n_history)            /* of all blocks, at x: NoliBlock.history */            \
  X(ended, int64_t, n_ends)                /* 1: this motion has ended */                          \
  X(joint, double, 7 * n_coordinates)      /* NoliJointNumber of each coordinate */                \
  X(constraint, int64_t, n_constraints)    /* keys of the active set, see active_set.h */          \
  X(multiplier, double, 2 * n_constraints) /* lambda, J s^2 / m, and gamma of each */              \
  X(slip_key, int64_t, 3 * n_slips)        /* stencils of contacts that stick, see stick.h */      \
  X(slip, double, 5 * n_slips)             /* elastic slip, m, normal force, N, and path, m */

// What the state has of a coordinate of a joint, in rad or m.
typedef enum NoliJointNumber {
  NOLI_JOINT_PLACE, // 0 at the start of the scene, over full turns
  NOLI_JOINT_SPEED,
  NOLI_JOINT_ACCELERATION,
  NOLI_JOINT_SLIP,         // elastic, of dry friction
  NOLI_JOINT_PLACE_BEFORE, // one step ago
  NOLI_JOINT_SPEED_BEFORE,
  NOLI_JOINT_TARGET, // of the motor as the host has set it; NaN: that of the definition
  NOLI_JOINT_NUMBERS
} NoliJointNumber;

// The sizes used in the list above.
typedef struct NoliStateSizes {
  int64_t n;
  int64_t n_force;
  int64_t n_before;
  int64_t n_past;
  int64_t n_increment; // 1 with adaptive increments, else 0
  int64_t n_ends;
  int64_t n_history;
  int64_t n_coordinates; // of joints
  int64_t n_constraints;
  int64_t n_slips;  // contacts that stick
  int64_t n_behind; // values of followers
} NoliStateSizes;

typedef struct NoliState {
#define NOLI_STATE_MEMBER(name, type, count) type* name;
  NOLI_STATE_FIELDS(NOLI_STATE_MEMBER)
#undef NOLI_STATE_MEMBER
  NoliStateSizes sizes;
  int64_t constraint_room; // capacity of the arrays of constraints
  int64_t slip_room;       // capacity of the arrays of slips
} NoliState;

// All zero, except parts = 1. On failure the state is freed.
NOLI_WARN_UNUSED NoliStatus noli_state_create(NoliContext* context, const NoliStateSizes* sizes,
                                              NoliState* state);
// Harmless for a state of zeros.
void noli_state_free(NoliContext* context, NoliState* state);

// Reserves space for `n_constraints` constraints; never fails up to the largest former number. New
// ones are not initialized.
NOLI_WARN_UNUSED NoliStatus noli_state_resize(NoliContext* context, NoliState* state,
                                              int64_t n_constraints);

// The same for the slips of contacts; or room for them only, while the state keeps its own.
NOLI_WARN_UNUSED NoliStatus noli_state_resize_slips(NoliContext* context, NoliState* state,
                                                    int64_t n_slips);
NOLI_WARN_UNUSED NoliStatus noli_state_reserve_slips(NoliContext* context, NoliState* state,
                                                     int64_t n_slips);

// Copies every field between states of the same sizes; the numbers of constraints and slips
// follow.
NOLI_WARN_UNUSED NoliStatus noli_state_copy(NoliContext* context, const NoliState* from,
                                            NoliState* to);

// Validator (base/validate.h).
const char* noli_state_defect(const NoliState* state);

// Multiplies the fields that are scaled by h_e^2.
void noli_state_scale(NoliState* state, double factor);

// The `index`-th field with values; false past the last one.
bool noli_state_field(const NoliState* state, int32_t index, NoliStateField* field);

// Name of the first field that differs in a single bit or in its size, or NULL.
const char* noli_state_difference(const NoliState* one, const NoliState* other);

// FNV-1a over every bit of every field.
uint64_t noli_state_hash(const NoliState* state);
