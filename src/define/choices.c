#include "define/choices.h"

#include "collide/ccd.h"
#include "fem/loads/joint_coordinates.h"
#include "fem/loads/volume_law.h"
#include "integrate/integrator.h"
#include "linalg/solver.h"
#include "material/material.h"
#include "solve/method.h"

#define COUNT(table) ((int32_t)(sizeof(table) / sizeof *(table)))

// ---- tables of definitions themselves -----------------------------------------------------------

static const NoliNamed audits[] = {
    [NOLI_AUDIT_OFF] = {"off", "No exact tests."},
    [NOLI_AUDIT_EVERY_STEP] = {"every_step", "Tests the state at the end of each step."},
    [NOLI_AUDIT_EVERY_ITERATION] = {"every_iteration", "Also every point that the solver visits."},
};

static const NoliNamed proxies[] = {
    [NOLI_PROXY_AUTOMATIC] = {"automatic", "The boundary, subdivided by the order of the body."},
    [NOLI_PROXY_SUBDIVISION] = {"subdivision", "The boundary, n^2 triangles on each face."},
    [NOLI_PROXY_EDGE_LENGTH] = {"edge_length", "The boundary, subdivided to a length of edges."},
    [NOLI_PROXY_MESH] = {"mesh", "Triangles that the elements carry."},
};

static const NoliNamed forces[] = {
    [NOLI_FORCE_ACCELERATION] = {"acceleration", "m/s^2, times the mass of each vertex."},
    [NOLI_FORCE_NODAL] = {"nodal", "N on each vertex."},
    [NOLI_FORCE_TOTAL] = {"total", "N, shared among the vertices in proportion to mass."},
    [NOLI_FORCE_TRACTION] = {"traction", "Pa on the rest area of faces, in a fixed direction."},
    [NOLI_FORCE_PRESSURE] = {"pressure", "Pa on the current area of faces, against the normals."},
};

static const NoliNamed motors[] = {
    [NOLI_MOTOR_NONE] = {"none", "There is no motor."},
    [NOLI_MOTOR_EFFORT] = {"effort", "It exerts a torque or force."},
    [NOLI_MOTOR_POSITION] = {"position", "It holds a coordinate, as a spring and a damper."},
    [NOLI_MOTOR_SPEED] = {"speed", "It holds a speed, as a damper."},
};
static const NoliNamed joints[] = {
    [NOLI_JOINT_BALL] = {"ball", "Both bodies share a point."},
    [NOLI_JOINT_HINGE] = {"hinge", "They share an axis."},
    [NOLI_JOINT_WELD] = {"weld", "They move as one."},
    [NOLI_JOINT_UNIVERSAL] = {"universal", "They share a point and keep the angle of two axes."},
    [NOLI_JOINT_SLIDER] = {"slider", "One moves along an axis of the other."},
    [NOLI_JOINT_CYLINDER] = {"cylinder",
                             "One moves along an axis of the other and turns about it."},
    [NOLI_JOINT_SCREW] = {"screw", "One turns about an axis of the other and moves along it, by a "
                                   "lead."},
    [NOLI_JOINT_PLANAR] = {"planar", "One moves in a plane of the other and turns in it."},
    [NOLI_JOINT_DISTANCE] = {"distance", "Two points keep their distance."},
};

static const NoliNamed regions[] = {
    [NOLI_REGION_CAVITY] = {"cavity", "Inside the inner part of the boundary."},
    [NOLI_REGION_OUTSIDE] = {"outside", "Inside the outer part of the boundary."},
    [NOLI_REGION_BODY] = {"body", "The material of the body."},
    [NOLI_REGION_COMPONENT] = {"component", "Inside a connected part of the boundary."},
    [NOLI_REGION_TAG] = {"tag", "The tetrahedra with a tag."},
    [NOLI_REGION_TRIANGLES] = {"triangles", "Inside given triangles."},
};

// ---- names --------------------------------------------------------------------------------------

static NoliNamed integrator_at(int32_t index) {
  const NoliIntegrator* found = noli_integrator_at(index);
  return found != NULL ? (NoliNamed){found->name, found->description} : (NoliNamed){0};
}

static NoliNamed solver_at(int32_t index) {
  const NoliSolverMethod* found = noli_solver_method_at(index);
  return found != NULL ? (NoliNamed){found->name, found->description} : (NoliNamed){0};
}

static NoliNamed contact_model_at(int32_t index) {
  const NoliContactModel* found = noli_contact_model_at(index);
  return found != NULL ? (NoliNamed){found->name, found->description} : (NoliNamed){0};
}

static NoliNamed material_at(int32_t index) {
  const NoliMaterial* found = noli_material_at(index);
  return found != NULL ? (NoliNamed){found->name, found->description} : (NoliNamed){0};
}

// The linear solvers for general matrices, or the others.
static NoliNamed linear_at(int32_t index, bool general) {
  int32_t left = index;
  for (int32_t k = 0; index >= 0 && k < noli_lin_solver_count(); k++) {
    NoliLinSolverInfo info = noli_lin_solver_info(k);
    if (info.general == general && left-- == 0) {
      return (NoliNamed){info.name, info.description};
    }
  }
  return (NoliNamed){0};
}

static NoliNamed linear_solver_at(int32_t index) {
  return linear_at(index, false);
}

static NoliNamed general_solver_at(int32_t index) {
  return linear_at(index, true);
}

const NoliNames noli_integrator_names = {"integrator", integrator_at, NULL, 0};
const NoliNames noli_solver_names = {"solver", solver_at, NULL, 0};
const NoliNames noli_termination_names = {"termination", NULL, noli_terminations,
                                          NOLI_TERMINATIONS};
const NoliNames noli_contact_model_names = {"contact model", contact_model_at, NULL, 0};
const NoliNames noli_friction_method_names = {"friction method", NULL, noli_friction_methods,
                                              NOLI_FRICTION_METHODS};
const NoliNames noli_friction_law_names = {"friction law", NULL, noli_friction_laws,
                                           NOLI_FRICTION_LAWS};
const NoliNames noli_linear_solver_names = {"linear solver", linear_solver_at, NULL, 0};
const NoliNames noli_general_solver_names = {"linear solver for implicit_newton", general_solver_at,
                                             NULL, 0};
const NoliNames noli_ccd_names = {"collision detection", NULL, noli_ccd_methods, NOLI_CCD_METHODS};
const NoliNames noli_audit_names = {"audit", NULL, audits, COUNT(audits)};
const NoliNames noli_material_names = {"material law", material_at, NULL, 0};
const NoliNames noli_proxy_names = {"collision proxy", NULL, proxies, COUNT(proxies)};
const NoliNames noli_force_names = {"kind of force", NULL, forces, COUNT(forces)};
const NoliNames noli_joint_names = {"type of joint", NULL, joints, COUNT(joints)};
const NoliNames noli_motor_names = {"kind of motor", NULL, motors, COUNT(motors)};
const NoliNames noli_region_names = {"region", NULL, regions, COUNT(regions)};
const NoliNames noli_volume_model_names = {"model of volumes", NULL, noli_volume_models,
                                           NOLI_VOLUME_MODELS};
