// Choices by name in definitions of simulations. noli/choice.h has those of goals, designs and
// results, too.
#pragma once

#include "base/named.h"
#include "noli/sim.h"

// Each in the order of its names.
typedef enum NoliAudit {
  NOLI_AUDIT_OFF,
  NOLI_AUDIT_EVERY_STEP,
  NOLI_AUDIT_EVERY_ITERATION,
} NoliAudit;

typedef enum NoliProxyKind {
  NOLI_PROXY_AUTOMATIC,
  NOLI_PROXY_SUBDIVISION,
  NOLI_PROXY_EDGE_LENGTH,
  NOLI_PROXY_MESH,
} NoliProxyKind;

typedef enum NoliForceKind {
  NOLI_FORCE_ACCELERATION,
  NOLI_FORCE_NODAL,
  NOLI_FORCE_TOTAL,
  NOLI_FORCE_TRACTION,
  NOLI_FORCE_PRESSURE,
} NoliForceKind;

typedef enum NoliRegion {
  NOLI_REGION_CAVITY,
  NOLI_REGION_OUTSIDE,
  NOLI_REGION_BODY,
  NOLI_REGION_COMPONENT,
  NOLI_REGION_TAG,
  NOLI_REGION_TRIANGLES,
} NoliRegion;

typedef enum NoliJointType {
  NOLI_JOINT_BALL,
  NOLI_JOINT_HINGE,
  NOLI_JOINT_WELD,
  NOLI_JOINT_UNIVERSAL,
  NOLI_JOINT_SLIDER,
  NOLI_JOINT_CYLINDER,
  NOLI_JOINT_SCREW,
  NOLI_JOINT_PLANAR,
  NOLI_JOINT_DISTANCE,
} NoliJointType;

// Kinds of motors are those of fem/loads/joint_coordinates.h.
extern const NoliNames noli_motor_names;

extern const NoliNames noli_integrator_names;
extern const NoliNames noli_solver_names;
extern const NoliNames noli_termination_names;
extern const NoliNames noli_contact_model_names;
extern const NoliNames noli_friction_method_names;
extern const NoliNames noli_friction_law_names;
extern const NoliNames noli_linear_solver_names;  // of symmetric matrices
extern const NoliNames noli_general_solver_names; // of others
extern const NoliNames noli_ccd_names;
extern const NoliNames noli_audit_names;
extern const NoliNames noli_material_names;
extern const NoliNames noli_proxy_names;
extern const NoliNames noli_force_names;
extern const NoliNames noli_joint_names;
extern const NoliNames noli_region_names;
extern const NoliNames noli_volume_model_names;

static inline NoliProxyKind noli_proxy_kind(const NoliProxyDef* proxy) {
  return (NoliProxyKind)noli_names_index(&noli_proxy_names, proxy->kind);
}
