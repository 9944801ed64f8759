// The names of all kinds, from the tables of what implements them. noli/choice.h
#include "noli/choice.h"

#include "define/choices.h"
#include "derive/goals/goals.h"
#include "derive/parameters/parameters.h"
#include "design/controls.h"
#include "design/search/search.h"
#include "measure/probes.h"
#include "mesh/shapes/sheet.h"
#include "mesh/topology.h"

static const NoliNames mesh_part_names = {"part of a mesh", NULL, noli_mesh_parts, NOLI_MESH_PARTS};
static const NoliNames sheet_pattern_names = {"pattern of sheets", NULL, noli_sheet_patterns,
                                              NOLI_SHEET_PATTERNS};

enum { N_KINDS = NOLI_CHOICE_MOTOR + 1 };

static const NoliNames* const kinds[N_KINDS] = {
    [NOLI_CHOICE_INTEGRATOR] = &noli_integrator_names,
    [NOLI_CHOICE_SOLVER] = &noli_solver_names,
    [NOLI_CHOICE_TERMINATION] = &noli_termination_names,
    [NOLI_CHOICE_CONTACT_MODEL] = &noli_contact_model_names,
    [NOLI_CHOICE_FRICTION_METHOD] = &noli_friction_method_names,
    [NOLI_CHOICE_FRICTION_LAW] = &noli_friction_law_names,
    [NOLI_CHOICE_LINEAR_SOLVER] = &noli_linear_solver_names,
    [NOLI_CHOICE_GENERAL_SOLVER] = &noli_general_solver_names,
    [NOLI_CHOICE_CCD] = &noli_ccd_names,
    [NOLI_CHOICE_AUDIT] = &noli_audit_names,
    [NOLI_CHOICE_MATERIAL] = &noli_material_names,
    [NOLI_CHOICE_PROXY] = &noli_proxy_names,
    [NOLI_CHOICE_FORCE] = &noli_force_names,
    [NOLI_CHOICE_JOINT] = &noli_joint_names,
    [NOLI_CHOICE_MOTOR] = &noli_motor_names,
    [NOLI_CHOICE_VOLUME_REGION] = &noli_region_names,
    [NOLI_CHOICE_VOLUME_MODEL] = &noli_volume_model_names,
    [NOLI_CHOICE_MESH_PART] = &mesh_part_names,
    [NOLI_CHOICE_SHEET_PATTERN] = &sheet_pattern_names,
    [NOLI_CHOICE_PROBE_QUANTITY] = &noli_probe_quantity_names,
    [NOLI_CHOICE_PROBE_REDUCTION] = &noli_probe_reduction_names,
#ifndef NOLI_NO_DERIVATIVES
    [NOLI_CHOICE_GOAL_QUANTITY] = &noli_goal_quantity_names,
    [NOLI_CHOICE_GOAL_REDUCTION] = &noli_goal_reduction_names,
    [NOLI_CHOICE_GOAL_FORM] = &noli_goal_form_names,
    [NOLI_CHOICE_GOAL_TIME] = &noli_goal_time_names,
    [NOLI_CHOICE_DESIGN_CONTROL] = &noli_control_names,
    [NOLI_CHOICE_DESIGN_METHOD] = &noli_search_method_names,
    [NOLI_CHOICE_PARAMETER] = &noli_parameter_names,
    [NOLI_CHOICE_PARAMETER_SCOPE] = &noli_parameter_scope_names,
    [NOLI_CHOICE_GRADIENT_MODE] = &noli_gradient_mode_names,
#endif
};

// Unknown kinds have no names, nor have those of derivatives in a build without them.
static const NoliNames* names_of(NoliChoice kind) {
  static const NoliNames none = {0};
  const NoliNames* names = (int)kind >= 0 && (int)kind < N_KINDS ? kinds[kind] : NULL;
  return names != NULL ? names : &none;
}

int32_t noli_choice_kinds(void) {
  return N_KINDS;
}

const char* noli_choice_kind(NoliChoice kind) {
  return names_of(kind)->words;
}

const char* noli_choice_name(NoliChoice kind, int32_t index) {
  return noli_names_at(names_of(kind), index).name;
}

const char* noli_choice_description(NoliChoice kind, int32_t index) {
  return noli_names_at(names_of(kind), index).description;
}

int32_t noli_choice_count(NoliChoice kind) {
  return noli_names_count(names_of(kind));
}

int32_t noli_choice_find(NoliChoice kind, const char* name) {
  return noli_names_find(names_of(kind), name);
}
