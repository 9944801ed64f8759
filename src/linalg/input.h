// Inputs of the equations of a stage: what the gradient of its potential depends on besides the
// positions that are solved for. Derivatives of steps (derive/solves/sensitivity.h) follow from
// those of the terms by their inputs, which mixed terms hold (linalg/mixed_term.h).
#pragma once

#include "base/array.h"
#include "linalg/mixed_term.h"

typedef enum NoliInput {
  NOLI_INPUT_PREDICTED, // (n_vert x 3) m, x_tilde
  NOLI_INPUT_REFERENCE, // (n_vert x 3) m, x_hat
  NOLI_INPUT_LAGGED,    // (n_vert x 3) m, positions at which friction was lagged
  NOLI_INPUT_REST,      // (n_vert x 3) m, rest positions
  NOLI_INPUT_DAMPED,    // (n_vert x 3) m, positions at which the stiffness of damping was taken
  NOLI_INPUT_HISTORY,   // (histories of all blocks, block by block) of materials, as a stage sees
                        // them
  NOLI_INPUT_MASS,      // (n_vert) kg, lumped masses
  NOLI_INPUT_DENSITY,   // (elements, as below) kg/m^3, of consistent masses
  NOLI_INPUT_LOAD,      // (n_vert x 3) N
  NOLI_INPUT_MU,        // (elements of all blocks, block by block) Pa, Lame's second parameter
  NOLI_INPUT_LAMBDA,    // (elements) Pa, Lame's first parameter
  NOLI_INPUT_LAW,       // (elements x NOLI_LAW_PARAMETERS) parameters of laws
  NOLI_INPUT_FIBRE,     // (elements x 2) k1 and k2 of fibres
  NOLI_INPUT_SERIES,    // (elements x 2 NOLI_PRONY_TERMS) shares, then times of Prony series
  NOLI_INPUT_PART,      // (bodies x NOLI_THIN_NUMBERS) of the elastic energies of thin bodies
  NOLI_INPUT_FRICTION,  // (classes of pairs) coefficient of friction
  NOLI_INPUT_MOTION,    // (motions x NOLI_MOTION_NUMBERS)
  NOLI_INPUT_FORCE,     // (forces) factor
  NOLI_INPUT_SPRING,    // (springs x NOLI_SPRING_NUMBERS)
  NOLI_INPUT_REGION,    // (regions with a volume law x NOLI_REGION_NUMBERS)
  NOLI_INPUT_BEGIN,     // (n_vert + forces) x 3, m: positions at the start of a step, and the
                        // origins of the potentials of pressures, which follow from them
  NOLI_INPUT_END,       // (n_vert x 3) m, positions at the end of a step, of slips
  NOLI_INPUT_SLIP,      // (contacts that stick x NOLI_SLIP_NUMBERS) at the start of a step
  NOLI_INPUT_START,     // (n_vert x 3) m, positions at the start of the run
  NOLI_INPUT_VELOCITY,  // (n_vert x 3) m/s, velocities at the start of the run
  NOLI_INPUT_TIE,       // (ties x 3) m, displacements of tied nodes from their places
  NOLI_INPUT_CONTACT,   // (NOLI_CONTACT_NUMBERS)
  NOLI_INPUT_OFFSET,    // (entities) m, contact offsets of bodies and half-spaces
  NOLI_INPUT_WEIGHT,    // (vertices, edges and triangles of the surface) of the geometric potential
  NOLI_INPUT_SUPPORT,   // (vertices of the surface) m, of the geometric potential
  NOLI_INPUTS
} NoliInput;

// Numbers of a thin body: factors of its energies, by NoliBlockPart (fem/block.h); of a rod with
// twist, in place of that of bending, the logarithm of the radius.
enum { NOLI_THIN_RADIUS = 2, NOLI_THIN_NUMBERS };

// Numbers of a contact that sticks: m, its elastic slip; N, its normal force; two that are not
// used.
enum { NOLI_SLIP_NUMBERS = 6 };

// Numbers of contact as a whole.
typedef enum NoliContactNumber {
  NOLI_CONTACT_DISTANCE,  // m, dhat
  NOLI_CONTACT_STIFFNESS, // factor of kappa, 1
  NOLI_CONTACT_OPEN,      // factor of that of the barrier with open obstacles, of "gcp", or
                          // between open sheets, of "implicit_surface", 1
  NOLI_CONTACT_GAP,       // m, the range of the latter
  NOLI_CONTACT_STICK,     // m, the stick length
  NOLI_CONTACT_NUMBERS
} NoliContactNumber;

typedef enum NoliMotionNumber {
  NOLI_MOTION_CHANGE,                          // factor of displacements, 1 + change
  NOLI_MOTION_VELOCITY,                        // m/s, the first of three
  NOLI_MOTION_SPIN = NOLI_MOTION_VELOCITY + 3, // rad/s, the first of three
  NOLI_MOTION_NUMBERS = NOLI_MOTION_SPIN + 3
} NoliMotionNumber;

typedef enum NoliSpringNumber {
  NOLI_SPRING_STIFFNESS, // N/m
  NOLI_SPRING_LENGTH,    // m
  NOLI_SPRING_DAMPING,   // N s/m
  NOLI_SPRING_NUMBERS
} NoliSpringNumber;

typedef enum NoliRegionNumber {
  NOLI_REGION_PRESSURE,    // Pa
  NOLI_REGION_COMPRESSION, // 1/Pa
  NOLI_REGION_REST,        // m^3, volume at rest
  NOLI_REGION_NUMBERS
} NoliRegionNumber;

// Inputs of pairs: the class of the pair of two entities, whose coefficients vary together;
// NOLI_NULL_INDEX: none.
typedef struct NoliPairClasses {
  int32_t (*find)(const void* user, int32_t a, int32_t b);
  const void* user;
} NoliPairClasses;

// The blocks of several terms by their inputs.
typedef struct NoliMixedList {
  NoliContext* context;
  unsigned wanted;             // bits of the inputs, where terms know more of them
  struct NoliSlipLinks* slips; // of friction that sticks, if the end of its slips is wanted, too
  NOLI_ARRAY(NoliMixedBlocks) blocks;
} NoliMixedList;

static inline bool noli_mixed_list_wants(const NoliMixedList* list, NoliInput input) {
  return (list->wanted >> input & 1u) != 0;
}

// Appends empty blocks, which the list owns, to be filled in.
static inline NOLI_WARN_UNUSED NoliStatus noli_mixed_list_add(NoliMixedList* list, NoliInput input,
                                                              int64_t n_stencil, int32_t size,
                                                              int32_t n_input,
                                                              NoliMixedBlocks** added) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_array_reserve(list->context, &list->blocks, list->blocks.count + 1));
  *added = &list->blocks.data[list->blocks.count];
  NOLI_TRY(noli_mixed_create(list->context, (int32_t)input, n_stencil, size, n_input, *added));
  list->blocks.count++;
done:
  return status;
}

// Releases the blocks; the list can be filled again.
static inline void noli_mixed_list_clear(NoliMixedList* list) {
  for (int64_t i = 0; i < list->blocks.count; i++) {
    noli_mixed_free(list->context, &list->blocks.data[i]);
  }
  list->blocks.count = 0;
}
