#include "define/joint_coordinate.h"

#include "base/context.h"
#include "base/numbers.h"
#include "define/choices.h"
#include "fem/loads/joint_coordinates.h"

#include <math.h>
#include <string.h>

// Rounding of an angle is 1e-16: barriers of limits that are closer than this are noise.
#define LEAST_ROOM 1e-8 // rad

static const NoliJointFreedom freedoms[] = {
    {"ball", false, false, NOLI_RELEASE_NONE, NOLI_RELEASE_ALL},
    {"hinge", true, false, NOLI_RELEASE_NONE, NOLI_RELEASE_AXIS},
    {"slider", false, true, NOLI_RELEASE_AXIS, NOLI_RELEASE_NONE},
    {"cylinder", true, true, NOLI_RELEASE_AXIS, NOLI_RELEASE_AXIS},
    {"screw", true, true, NOLI_RELEASE_NONE, NOLI_RELEASE_NONE},
    {"distance", false, false, NOLI_RELEASE_NONE, NOLI_RELEASE_ALL},
    {"planar", true, false, NOLI_RELEASE_ACROSS, NOLI_RELEASE_AXIS},
};

NoliJointFreedom noli_joint_freedom(const char* type) {
  for (size_t i = 0; i < sizeof freedoms / sizeof *freedoms; i++) {
    if (strcmp(freedoms[i].type, type) == 0) {
      return freedoms[i];
    }
  }
  return (NoliJointFreedom){.type = type};
}

int32_t noli_joint_coordinate_count(const NoliJointDef* joint) {
  NoliJointFreedom freedom = noli_joint_freedom(joint->type);
  return (freedom.turns ? 1 : 0) + (freedom.travels ? 1 : 0);
}

bool noli_joint_coordinate_turns(const NoliJointDef* joint, int32_t index) {
  return index == 0 && noli_joint_freedom(joint->type).turns;
}

const NoliCoordinateDef* noli_joint_coordinate_def(const NoliJointDef* joint, int32_t index) {
  return index == 0 ? &joint->coordinate : &joint->travel;
}

NoliCoordinateDef noli_default_coordinate_def(void) {
  return (NoliCoordinateDef){.lower = -(double)INFINITY,
                             .upper = (double)INFINITY,
                             .motor = "none",
                             .max_effort = (double)INFINITY,
                             .ratio = 1.0};
}

// The first of the members that acts; NULL: none.
static const char* first_active(const NoliCoordinateDef* def) {
  return isfinite(def->lower) || isfinite(def->upper) ? "limits"
         : def->stiffness > 0.0                       ? "stiffness"
         : def->damping > 0.0                         ? "damping"
         : def->friction > 0.0                        ? "friction"
         : def->armature > 0.0                        ? "armature"
         : strcmp(def->motor, "none") != 0            ? "a motor"
         : def->follows != NULL                       ? "follows"
                                                      : NULL;
}

static NoliStatus check_coordinate(NoliContext* context, const char* prefix,
                                   const NoliCoordinateDef* def, bool turns) {
  NoliStatus status = NOLI_OK;
  const char* unit = turns ? "rad" : "m";
  NOLI_CHECK(context, !(def->lower >= def->start) && !(def->upper <= def->start),
             NOLI_ERROR_ARGUMENT,
             "%sits coordinate is %g %s at the start, which is not inside its limits [%g, %g] %s: "
             "place the bodies inside, or change the limits or what it is at the \"start\"",
             prefix, def->start, unit, def->lower, def->upper, unit);
  double room = fmin(def->start - def->lower, def->upper - def->start);
  NOLI_CHECK(
      context, !turns || room >= LEAST_ROOM, NOLI_ERROR_ARGUMENT,
      "%sits coordinate is %.3g rad from a limit at the start, and needs %g: widen the limits",
      prefix, room, LEAST_ROOM);
  NOLI_TRY(noli_numbers_check(context, prefix, NOLI_NUMBERS_COORDINATE, def));
  NOLI_CHECK(context, def->follows == NULL || def->ratio != 0.0, NOLI_ERROR_ARGUMENT,
             "%sit follows \"%.80s\" with a ratio of 0", prefix, def->follows);
  NOLI_TRY(noli_names_require(context, prefix, &noli_motor_names, def->motor));
  int32_t motor = noli_names_index(&noli_motor_names, def->motor);
  NOLI_CHECK(context, motor != NOLI_MOTOR_SPEED || def->motor_damping > 0.0, NOLI_ERROR_ARGUMENT,
             "%sa motor that holds a speed needs a damping", prefix);
  NOLI_CHECK(context,
             motor != NOLI_MOTOR_POSITION || def->motor_stiffness > 0.0 || def->motor_damping > 0.0,
             NOLI_ERROR_ARGUMENT, "%sa motor that holds a position needs a stiffness", prefix);
done:
  return status;
}

NoliStatus noli_joint_check_coordinates(NoliContext* context, const char* prefix,
                                        const NoliJointDef* joint) {
  NoliStatus status = NOLI_OK;
  int32_t n = noli_joint_coordinate_count(joint);
  for (int32_t i = 0; i < NOLI_JOINT_COORDINATES; i++) {
    const NoliCoordinateDef* def = noli_joint_coordinate_def(joint, i);
    const char* active = first_active(def);
    NOLI_CHECK(context, i < n || active == NULL, NOLI_ERROR_ARGUMENT,
               "%sa joint of type \"%s\" has no %s, so it cannot have %s%s", prefix, joint->type,
               i == 0 ? "coordinate" : "travel beside its coordinate", active,
               i == 0 ? "" : " in \"travel\"");
    NOLI_TRY(check_coordinate(context, prefix, def, noli_joint_coordinate_turns(joint, i)));
  }
done:
  return status;
}
