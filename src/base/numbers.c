#include "base/numbers.h"

#include "noli/ccd.h"
#include "noli/design.h"
#include "noli/gcp.h"
#include "noli/repair.h"
#include "noli/run.h"

#include <math.h>
#include <stdio.h>

#define BEYOND ((double)INFINITY)

// ---- ranges -------------------------------------------------------------------------------------

#define FINITE .range = {-BEYOND, BEYOND, true, true}
#define POSITIVE .range = {0.0, BEYOND, true, true}
#define NOT_NEGATIVE .range = {0.0, BEYOND, false, true}
// from low on, a number of things or an index
#define FROM(low_) .range = {(low_), BEYOND, false, true}
#define ABOVE(low_) .range = {(low_), BEYOND, true, true}
// with both ends, without the first, the last, both
#define IN(low_, high_) .range = {(low_), (high_), false, false}
#define LEFT_OPEN(low_, high_) .range = {(low_), (high_), true, false}
#define RIGHT_OPEN(low_, high_) .range = {(low_), (high_), false, true}
#define OPEN(low_, high_) .range = {(low_), (high_), true, true}
// times that may be infinite
#define BEGIN .range = {-BEYOND, BEYOND, false, true}
#define END .range = {-BEYOND, BEYOND, true, false}
#define OR(value) .has_other = true, .other = (value)

// ---- members ------------------------------------------------------------------------------------

// also of arrays, which become pointers
#define TYPE_OF(of, member_)                                                                       \
  _Generic(((of*)0)->member_,                                                                      \
      double: NOLI_NUMBER_DOUBLE,                                                                  \
      double*: NOLI_NUMBER_DOUBLE,                                                                 \
      int32_t: NOLI_NUMBER_INT32,                                                                  \
      int32_t*: NOLI_NUMBER_INT32,                                                                 \
      int64_t: NOLI_NUMBER_INT64,                                                                  \
      NoliScaled: NOLI_NUMBER_SCALED)
#define SIZE_OF(of, member_)                                                                       \
  (_Generic(((of*)0)->member_,                                                                     \
      double: sizeof(double),                                                                      \
      double*: sizeof(double),                                                                     \
      int32_t: sizeof(int32_t),                                                                    \
      int32_t*: sizeof(int32_t),                                                                   \
      int64_t: sizeof(int64_t),                                                                    \
      NoliScaled: sizeof(NoliScaled)))
#define N(of, member_, noun_, ...)                                                                 \
  {                                                                                                \
    .member = #member_, .noun = (noun_), .type = TYPE_OF(of, member_),                             \
    .offset = offsetof(of, member_),                                                               \
    .n = (int32_t)(sizeof(((of*)0)->member_) / SIZE_OF(of, member_)), __VA_ARGS__                  \
  }

// ---- the table ----------------------------------------------------------------------------------

// clang-format off
static const NoliNumber of_context[] = {
  N(NoliContextDef, n_threads, "the number of threads", IN(0, 1 << 16)),
};
static const NoliNumber of_ccd[] = {
  N(NoliCcdOptions, safety, "safety", OPEN(0.0, 1.0)),
  N(NoliCcdOptions, min_separation, "the minimum separation", NOT_NEGATIVE),
  N(NoliCcdOptions, gap_cap, "the cap of gaps", LEFT_OPEN(0.0, BEYOND)),
  N(NoliCcdOptions, small_gap, "the small gap", NOT_NEGATIVE),
  N(NoliCcdOptions, max_iterations, "max_iterations", FROM(1)),
  N(NoliCcdOptions, max_boxes, "max_boxes", FROM(1)),
};
static const NoliNumber of_gcp_potential[] = {
  N(NoliGcpDef, eps_target, "eps_target", POSITIVE),
  N(NoliGcpDef, alpha, "alpha", LEFT_OPEN(0.0, 1.0)),
  N(NoliGcpDef, beta, "beta", LEFT_OPEN(0.0, 1.0)),
  N(NoliGcpDef, length, "length", NOT_NEGATIVE),
  N(NoliGcpDef, n_half_spaces, "the number of half-spaces", FROM(0)),
};
static const NoliNumber of_sim[] = {
  N(NoliSimDef, n_bodies, "the number of bodies", FROM(0)),
  N(NoliSimDef, n_half_spaces, "the number of half-spaces", FROM(0)),
  N(NoliSimDef, n_motions, "the number of motions", FROM(0)),
  N(NoliSimDef, n_forces, "the number of forces", FROM(0)),
  N(NoliSimDef, n_pairs, "the number of pairs", FROM(0)),
  N(NoliSimDef, n_volumes, "the number of volumes", FROM(0)),
#define COUNT_OF(list, type, item, ITEM) N(NoliSimDef, n_##list, "the number of " #list, FROM(0)),
  NOLI_CONNECTION_LISTS(COUNT_OF)
#undef COUNT_OF
  N(NoliSimDef, gravity, "gravity", FINITE),
  N(NoliSimDef, time_step, "the time step", POSITIVE),
  N(NoliSimDef, surface_radius, "the radius of surfaces", NOT_NEGATIVE),
  N(NoliSimDef, contact_distance, "the contact distance", NOT_NEGATIVE),
  N(NoliSimDef, barrier_stiffness, "the barrier stiffness", NOT_NEGATIVE),
  N(NoliSimDef, friction, "friction", NOT_NEGATIVE),
  N(NoliSimDef, static_friction, "static friction", NOT_NEGATIVE),
  N(NoliSimDef, stribeck_speed, "the Stribeck speed", NOT_NEGATIVE),
  N(NoliSimDef, viscosity, "viscosity", NOT_NEGATIVE),
  N(NoliSimDef, friction_speed, "the friction speed", POSITIVE),
  N(NoliSimDef, stick_length, "the stick length", NOT_NEGATIVE),
  N(NoliSimDef, adhesion, "adhesion", NOT_NEGATIVE),
  N(NoliSimDef, adhesion_range, "the range of adhesion", NOT_NEGATIVE),
  N(NoliSimDef, friction_iterations, "friction_iterations", FROM(NOLI_FRICTION_UNTIL_CONVERGENCE)),
  N(NoliSimDef, tolerance, "the tolerance", POSITIVE),
  N(NoliSimDef, imbalance, "the allowed imbalance", RIGHT_OPEN(0.0, 1.0)),
  N(NoliSimDef, toi_tolerance, "the tolerance of the time of impact", OPEN(0.0, 1.0)),
  N(NoliSimDef, min_iterations, "min_iterations", FROM(0)),
  N(NoliSimDef, max_iterations, "max_iterations", FROM(1)),
  N(NoliSimDef, max_substeps, "max_substeps", IN(1, 1 << 20)),
  N(NoliSimDef, linear_tolerance, "linear_tolerance", OPEN(0.0, 1.0)),
};
static const NoliNumber of_augmented_lagrangian[] = {
  N(NoliAugmentedLagrangianDef, stiffness_ratio, "the stiffness ratio", POSITIVE),
  N(NoliAugmentedLagrangianDef, decay, "the decay", IN(0.0, 1.0)),
};
static const NoliNumber of_gcp[] = {
  N(NoliGcpContactDef, eps_target, "eps_target of the contact model \"gcp\"", NOT_NEGATIVE),
  N(NoliGcpContactDef, alpha, "alpha of the contact model \"gcp\"", LEFT_OPEN(0.0, 1.0)),
  N(NoliGcpContactDef, beta, "beta of the contact model \"gcp\"", LEFT_OPEN(0.0, 1.0)),
  N(NoliGcpContactDef, length, "length of the contact model \"gcp\"", NOT_NEGATIVE),
};
static const NoliNumber of_increment[] = {
  N(NoliIncrementDef, initial, "the first increment", NOT_NEGATIVE),
  N(NoliIncrementDef, smallest, "the smallest increment", NOT_NEGATIVE),
  N(NoliIncrementDef, easy_iterations, "easy_iterations", FROM(0)),
  N(NoliIncrementDef, hard_iterations, "hard_iterations", FROM(0)),
};
static const NoliNumber of_body[] = {
  N(NoliBodyDef, order, "the order of elements", IN(1, 4)),
  N(NoliBodyDef, velocity, "the initial velocity", FINITE),
  N(NoliBodyDef, angular_velocity, "the initial angular velocity", FINITE),
  N(NoliBodyDef, plane_strain, "the thickness in plane strain", NOT_NEGATIVE),
  N(NoliBodyDef, n_parts, "the number of parts", FROM(0)),
  N(NoliBodyDef, contact_offset, "the contact offset", RIGHT_OPEN(0.0, 1e15),
    OR(NOLI_OFFSET_THICKNESS)),
};
static const NoliNumber of_proxy[] = {
  N(NoliProxyDef, subdivision, "the subdivision of a proxy", FROM(0)),
  N(NoliProxyDef, edge_length, "the edge length of a proxy", NOT_NEGATIVE),
  N(NoliProxyDef, max_distance, "the largest distance from a proxy", IN(0.0, BEYOND)),
  N(NoliProxyDef, max_extrapolation, "the largest extrapolation to a proxy", IN(0.0, BEYOND)),
};
static const NoliNumber of_part[] = {
  N(NoliPartDef, n_element, "the number of elements of a part", FROM(0)),
};
static const NoliNumber of_material[] = {
  N(NoliMaterialDef, young, "Young's modulus", LEFT_OPEN(0.0, NOLI_MATERIAL_MAX)),
  N(NoliMaterialDef, poisson, "Poisson's ratio", OPEN(-1.0, 0.5)),
  N(NoliMaterialDef, density, "density", LEFT_OPEN(0.0, NOLI_MATERIAL_MAX)),
  N(NoliMaterialDef, damping, "damping", NOT_NEGATIVE),
  N(NoliMaterialDef, mass_damping, "mass damping", NOT_NEGATIVE),
  N(NoliMaterialDef, parameter, "law parameter", IN(-NOLI_MATERIAL_MAX, NOLI_MATERIAL_MAX)),
};
static const NoliNumber of_prony[] = {
  N(NoliProny, n, "the number of terms of a Prony series", IN(0, NOLI_PRONY_TERMS)),
  N(NoliProny, share, "Prony share", RIGHT_OPEN(0.0, 1.0)),
  N(NoliProny, time, "Prony time", NOT_NEGATIVE),
};
static const NoliNumber of_shell[] = {
  N(NoliShellDef, thickness, "the thickness of a shell", POSITIVE, OR(0.0)),
  N(NoliShellDef, bending, "the bending of a shell", NOT_NEGATIVE),
  N(NoliShellDef, limit, "the limit of stretch of a shell", ABOVE(1.0), OR(0.0)),
  N(NoliShellDef, warp, "the direction of warp", FINITE),
  N(NoliShellDef, weft, "the stiffness along weft over that along warp", POSITIVE),
  N(NoliShellDef, shear, "the stiffness of a shell in shear", NOT_NEGATIVE),
};
static const NoliNumber of_rod[] = {
  N(NoliRodDef, radius, "the radius of rods and points", POSITIVE, OR(0.0)),
  N(NoliRodDef, bending, "the bending of a rod", NOT_NEGATIVE),
  N(NoliRodDef, twist, "the twist of a rod", NOT_NEGATIVE),
  N(NoliRodDef, second_radius, "the second radius of a rod", NOT_NEGATIVE),
  N(NoliRodDef, normal, "the normal of a rod", FINITE),
};
static const NoliNumber of_point[] = {
  N(NoliPointDef, radius, "the radius of rods and points", POSITIVE, OR(0.0)),
};
static const NoliNumber of_rigid[] = {
  N(NoliRigidDef, mass, "the mass of a rigid body", NOT_NEGATIVE),
  N(NoliRigidDef, centre, "the centre of mass", FINITE),
  N(NoliRigidDef, inertia, "the inertia of a rigid body", FINITE),
  N(NoliRigidDef, volume, "the volume inside a rigid body", NOT_NEGATIVE),
};
static const NoliNumber of_half_space[] = {
  N(NoliHalfSpaceDef, origin, "the origin", FINITE),
  N(NoliHalfSpaceDef, normal, "the normal", FINITE),
  N(NoliHalfSpaceDef, contact_offset, "the contact offset", RIGHT_OPEN(0.0, 1e15)),
};
static const NoliNumber of_motion[] = {
  N(NoliMotionDef, body, "the body", FROM(0)),
  N(NoliMotionDef, n_node, "the number of vertices", FROM(0)),
  N(NoliMotionDef, t_begin, "t_begin", BEGIN),
  N(NoliMotionDef, t_end, "t_end", END),
  N(NoliMotionDef, end_origin, "the origin of its end", FINITE),
  N(NoliMotionDef, end_normal, "the normal of its end", FINITE),
  N(NoliMotionDef, change, "change", ABOVE(-1.0)),
  N(NoliMotionDef, velocity, "velocity", FINITE),
  N(NoliMotionDef, spin, "spin", FINITE),
  N(NoliMotionDef, pivot, "the pivot", FINITE),
};
static const NoliNumber of_force[] = {
  N(NoliForceDef, body, "the body", FROM(0)),
  N(NoliForceDef, n_node, "the number of vertices", FROM(0)),
  N(NoliForceDef, n_face, "the number of faces", FROM(0)),
  N(NoliForceDef, t_begin, "t_begin", BEGIN),
  N(NoliForceDef, t_end, "t_end", END),
  N(NoliForceDef, change, "change", FINITE),
};
static const NoliNumber of_pair[] = {
  N(NoliPairDef, a, "the first entity", FROM(0)),
  N(NoliPairDef, b, "the second entity", FROM(0)),
  N(NoliPairDef, friction, "friction", NOT_NEGATIVE),
  N(NoliPairDef, static_friction, "static friction", NOT_NEGATIVE),
  N(NoliPairDef, stribeck_speed, "the Stribeck speed", NOT_NEGATIVE),
  N(NoliPairDef, viscosity, "viscosity", NOT_NEGATIVE),
  N(NoliPairDef, distance, "the contact distance", NOT_NEGATIVE),
  N(NoliPairDef, direction, "the direction of friction", FINITE),
  N(NoliPairDef, adhesion, "adhesion", NOT_NEGATIVE),
  N(NoliPairDef, adhesion_range, "the range of adhesion", NOT_NEGATIVE),
  N(NoliPairDef, friction_across, "friction across its direction", NOT_NEGATIVE),
};
static const NoliNumber of_volume[] = {
  N(NoliVolumeDef, body, "the body", FROM(0)),
  N(NoliVolumeDef, index, "the index", FROM(INT32_MIN)), // a tag may be any
  N(NoliVolumeDef, n_tri, "the number of triangles", FROM(0)),
  N(NoliVolumeDef, compression, "compression", NOT_NEGATIVE),
  N(NoliVolumeDef, pressure, "pressure", FINITE),
};
static const NoliNumber of_tie[] = {
  N(NoliTieDef, body, "the body", FROM(0)),
  N(NoliTieDef, n_node, "the number of vertices", FROM(0)),
  N(NoliTieDef, to, "the other body", FROM(0)),
  N(NoliTieDef, distance, "the distance", NOT_NEGATIVE),
};
static const NoliNumber of_spring[] = {
  N(NoliSpringDef, body, "the body", FROM(0)),
  N(NoliSpringDef, n_node, "the number of vertices", FROM(0)),
  N(NoliSpringDef, to, "the other body", FROM(NOLI_NULL_INDEX)),
  N(NoliSpringDef, n_to_node, "the number of vertices at the other end", FROM(0)),
  N(NoliSpringDef, point, "its point", FINITE),
  N(NoliSpringDef, stiffness, "the stiffness", IN(0.0, NOLI_MATERIAL_MAX)),
  N(NoliSpringDef, length, "the length", IN(0.0, NOLI_MATERIAL_MAX), OR(NOLI_REST_DISTANCE)),
  N(NoliSpringDef, damping, "the damping", IN(0.0, NOLI_MATERIAL_MAX)),
};
static const NoliNumber of_joint[] = {
  N(NoliJointDef, body, "the body", FROM(0)),
  N(NoliJointDef, to, "the other body", FROM(NOLI_NULL_INDEX)),
  N(NoliJointDef, at, "its point", FINITE),
  N(NoliJointDef, axis, "its axis", FINITE),
  N(NoliJointDef, to_at, "its point on the other body", FINITE),
  N(NoliJointDef, to_axis, "its axis on the other body", FINITE),
  N(NoliJointDef, lead, "its lead", FINITE),
};
static const NoliNumber of_coordinate[] = {
  N(NoliCoordinateDef, lower, "the lower limit", IN(-BEYOND, BEYOND)),
  N(NoliCoordinateDef, upper, "the upper limit", IN(-BEYOND, BEYOND)),
  N(NoliCoordinateDef, stiffness, "the stiffness", IN(0.0, NOLI_MATERIAL_MAX)),
  N(NoliCoordinateDef, rest, "the rest", FINITE),
  N(NoliCoordinateDef, damping, "the damping", IN(0.0, NOLI_MATERIAL_MAX)),
  N(NoliCoordinateDef, friction, "the friction", IN(0.0, NOLI_MATERIAL_MAX)),
  N(NoliCoordinateDef, armature, "the armature", IN(0.0, NOLI_MATERIAL_MAX)),
  N(NoliCoordinateDef, target, "the target of the motor", FINITE),
  N(NoliCoordinateDef, motor_stiffness, "the stiffness of the motor", IN(0.0, NOLI_MATERIAL_MAX)),
  N(NoliCoordinateDef, motor_damping, "the damping of the motor", IN(0.0, NOLI_MATERIAL_MAX)),
  N(NoliCoordinateDef, max_effort, "the largest effort of the motor", IN(0.0, BEYOND)),
  N(NoliCoordinateDef, ratio, "the ratio", FINITE),
  N(NoliCoordinateDef, start, "the start", FINITE),
};
static const NoliNumber of_probe[] = {
  N(NoliProbeDef, n_node, "the number of vertices", FROM(0)),
  N(NoliProbeDef, body, "the body", FROM(0)),
};
static const NoliNumber of_run[] = {
  N(NoliRunDef, frame_interval, "the frame interval", FROM(1)),
  N(NoliRunDef, n_fields, "the number of fields", FROM(0)),
  N(NoliRunDef, checkpoint_seconds, "checkpoint_seconds", IN(-BEYOND, BEYOND)),
  N(NoliRunDef, checkpoint_steps, "checkpoint_steps", FROM(0)),
  N(NoliRunDef, n_files, "the number of files", FROM(0)),
  N(NoliRunDef, n_probes, "the number of probes", FROM(0)),
};
static const NoliNumber of_parameter[] = {
  N(NoliParameterDef, n_index, "the number of indices", FROM(0)),
  N(NoliParameterDef, part, "the part", FROM(0)),
};
static const NoliNumber of_gradient[] = {
  N(NoliGradientDef, n_steps, "the number of steps", FROM(0)),
  N(NoliGradientDef, checkpoints, "the number of checkpoints", FROM(0)),
  N(NoliGradientDef, tolerance, "the tolerance", NOT_NEGATIVE),
};
static const NoliNumber of_goal[] = {
  N(NoliGoalDef, n_node, "the number of vertices", FROM(0)),
  N(NoliGoalDef, exponent, "the exponent", FROM(1.0)),
  N(NoliGoalDef, n_target, "the number of targets", FROM(0)),
  N(NoliGoalDef, weight, "the weight", FINITE),
  N(NoliGoalDef, t_begin, "t_begin", BEGIN),
  N(NoliGoalDef, t_end, "t_end", END),
  N(NoliGoalDef, n_element, "the number of elements", FROM(0)),
};
static const NoliNumber of_variable[] = {
  N(NoliVariableDef, cage, "the number of control points of a cage along an axis", IN(1, 64)),
  N(NoliVariableDef, n_point, "the number of points", FROM(0)),
  N(NoliVariableDef, lower, "the lower bound", FINITE),
  N(NoliVariableDef, upper, "the upper bound", FINITE),
  N(NoliVariableDef, start, "the start", FINITE, OR((double)NAN)),
};
static const NoliNumber of_design_function[] = {
  N(NoliDesignFunctionDef, n_goals, "the number of goals", FROM(0)),
  N(NoliDesignFunctionDef, at_most, "at_most", END),
  N(NoliDesignFunctionDef, at_least, "at_least", BEGIN),
};
static const NoliNumber of_design[] = {
  N(NoliDesignDef, n_variables, "the number of variables", FROM(0)),
  N(NoliDesignDef, n_constraints, "the number of constraints", FROM(0)),
  N(NoliDesignDef, smoothness, "smoothness", NOT_NEGATIVE),
  N(NoliDesignDef, max_evaluations, "max_evaluations", FROM(1)),
  N(NoliDesignDef, tolerance, "the tolerance", POSITIVE),
  N(NoliDesignDef, enough, "enough", BEGIN),
  N(NoliDesignDef, move, "move", LEFT_OPEN(0.0, 1.0)),
};
static const NoliNumber of_repair[] = {
  N(NoliRepairDef, rounds, "rounds", FROM(1)),
};

#define T(of, numbers) {#of, (numbers), (int32_t)(sizeof(numbers) / sizeof *(numbers))}
static const NoliNumberTable tables[NOLI_NUMBERS_COUNT] = {
  [NOLI_NUMBERS_CONTEXT] = T(NoliContextDef, of_context),
  [NOLI_NUMBERS_CCD] = T(NoliCcdOptions, of_ccd),
  [NOLI_NUMBERS_GCP_POTENTIAL] = T(NoliGcpDef, of_gcp_potential),
  [NOLI_NUMBERS_SIM] = T(NoliSimDef, of_sim),
  [NOLI_NUMBERS_AUGMENTED_LAGRANGIAN] = T(NoliAugmentedLagrangianDef, of_augmented_lagrangian),
  [NOLI_NUMBERS_GCP] = T(NoliGcpContactDef, of_gcp),
  [NOLI_NUMBERS_INCREMENT] = T(NoliIncrementDef, of_increment),
  [NOLI_NUMBERS_BODY] = T(NoliBodyDef, of_body),
  [NOLI_NUMBERS_PROXY] = T(NoliProxyDef, of_proxy),
  [NOLI_NUMBERS_PART] = T(NoliPartDef, of_part),
  [NOLI_NUMBERS_MATERIAL] = T(NoliMaterialDef, of_material),
  [NOLI_NUMBERS_PRONY] = T(NoliProny, of_prony),
  [NOLI_NUMBERS_SHELL] = T(NoliShellDef, of_shell),
  [NOLI_NUMBERS_ROD] = T(NoliRodDef, of_rod),
  [NOLI_NUMBERS_POINT] = T(NoliPointDef, of_point),
  [NOLI_NUMBERS_RIGID] = T(NoliRigidDef, of_rigid),
  [NOLI_NUMBERS_HALF_SPACE] = T(NoliHalfSpaceDef, of_half_space),
  [NOLI_NUMBERS_MOTION] = T(NoliMotionDef, of_motion),
  [NOLI_NUMBERS_FORCE] = T(NoliForceDef, of_force),
  [NOLI_NUMBERS_PAIR] = T(NoliPairDef, of_pair),
  [NOLI_NUMBERS_VOLUME] = T(NoliVolumeDef, of_volume),
  [NOLI_NUMBERS_COORDINATE] = T(NoliCoordinateDef, of_coordinate),
#define TABLE_OF(list, type, item, ITEM) [NOLI_NUMBERS_##ITEM] = T(type, of_##item),
  NOLI_CONNECTION_LISTS(TABLE_OF)
#undef TABLE_OF
  [NOLI_NUMBERS_PROBE] = T(NoliProbeDef, of_probe),
  [NOLI_NUMBERS_RUN] = T(NoliRunDef, of_run),
  [NOLI_NUMBERS_PARAMETER] = T(NoliParameterDef, of_parameter),
  [NOLI_NUMBERS_GRADIENT] = T(NoliGradientDef, of_gradient),
  [NOLI_NUMBERS_GOAL] = T(NoliGoalDef, of_goal),
  [NOLI_NUMBERS_VARIABLE] = T(NoliVariableDef, of_variable),
  [NOLI_NUMBERS_DESIGN_FUNCTION] = T(NoliDesignFunctionDef, of_design_function),
  [NOLI_NUMBERS_DESIGN] = T(NoliDesignDef, of_design),
  [NOLI_NUMBERS_REPAIR] = T(NoliRepairDef, of_repair),
};
// clang-format on

// ---- checks -------------------------------------------------------------------------------------

const NoliNumberTable* noli_numbers(NoliNumbersOf of) {
  return &tables[of];
}

const NoliNumber* noli_number_at(NoliNumbersOf of, size_t offset) {
  for (int32_t k = 0; k < tables[of].n; k++) {
    if (tables[of].number[k].offset == offset) {
      return &tables[of].number[k];
    }
  }
  return NULL;
}

// False for NaN.
static bool is_within(const NoliNumberRange* range, double value) {
  bool above = range->low_open ? value > range->low : value >= range->low;
  bool below = range->high_open ? value < range->high : value <= range->high;
  return above && below;
}

bool noli_number_allows(const NoliNumber* number, double value) {
  bool other =
      number->has_other && (value == number->other || (isnan(value) && isnan(number->other)));
  return other || is_within(&number->range, value);
}

static void describe_range(const NoliNumberRange* range, char text[48]) {
  bool from = !isinf(range->low), to = !isinf(range->high);
  if (from && to) {
    snprintf(text, 48, "in %c%g, %g%c", range->low_open ? '(' : '[', range->low, range->high,
             range->high_open ? ')' : ']');
  } else if (from) {
    snprintf(text, 48, "%s %g%s", range->low_open ? ">" : ">=", range->low,
             range->high_open ? "" : " or infinite");
  } else {
    snprintf(text, 48, "%s", range->low_open && range->high_open ? "finite" : "a number");
  }
}

void noli_number_range(const NoliNumber* number, char text[80]) {
  char range[48];
  describe_range(&number->range, range);
  if (number->has_other && !isnan(number->other)) {
    snprintf(text, 80, "%s, or %g", range, number->other);
  } else {
    snprintf(text, 80, "%s", range);
  }
}

double noli_number_get(const NoliNumber* number, const void* definition, int32_t i) {
  const char* at = (const char*)definition + number->offset;
  switch (number->type) {
  case NOLI_NUMBER_DOUBLE:
    return ((const double*)(const void*)at)[i];
  case NOLI_NUMBER_INT32:
    return ((const int32_t*)(const void*)at)[i];
  case NOLI_NUMBER_INT64:
    return (double)((const int64_t*)(const void*)at)[i];
  case NOLI_NUMBER_SCALED:
    return ((const NoliScaled*)(const void*)at)[i].value;
  }
  return (double)NAN;
}

// The size that a number is relative to.
static unsigned relative_to(const NoliNumber* number, const void* definition, int32_t i) {
  const char* at = (const char*)definition + number->offset;
  return number->type == NOLI_NUMBER_SCALED ? ((const NoliScaled*)(const void*)at)[i].relative
                                            : NOLI_ABSOLUTE;
}

NoliStatus noli_numbers_check(NoliContext* context, const char* where, NoliNumbersOf of,
                              const void* definition) {
  for (int32_t k = 0; k < tables[of].n; k++) {
    const NoliNumber* number = &tables[of].number[k];
    for (int32_t i = 0; i < number->n; i++) {
      double value = noli_number_get(number, definition, i);
      if (!noli_number_allows(number, value)) {
        char range[80], index[16] = "";
        noli_number_range(number, range);
        if (number->n > 3) { // no vector
          snprintf(index, sizeof index, " %d", (int)i);
        }
        return noli_fail(context, NOLI_ERROR_ARGUMENT, "%s%s%s must be %s, got %g", where,
                         number->noun, index, range, value);
      }
      unsigned relative = relative_to(number, definition, i);
      if (relative > NOLI_OF_BALL) {
        return noli_fail(context, NOLI_ERROR_ARGUMENT,
                         "%s%s must be absolute (0) or relative to l (1) or d (2), got %u", where,
                         number->noun, relative);
      }
    }
  }
  return NOLI_OK;
}
