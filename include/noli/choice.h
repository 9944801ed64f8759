/// @file choice.h
/// The names that definitions and scene files choose by, from the tables of what implements them:
/// for menus, help texts and checks of input.
#pragma once

#include "noli/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The setting that a name chooses. New kinds are added at the end.
typedef enum NoliChoice {
  NOLI_CHOICE_INTEGRATOR,      ///< NoliSimDef.integrator
  NOLI_CHOICE_SOLVER,          ///< NoliSimDef.solver
  NOLI_CHOICE_TERMINATION,     ///< NoliSimDef.termination
  NOLI_CHOICE_CONTACT_MODEL,   ///< NoliSimDef.contact_model
  NOLI_CHOICE_FRICTION_METHOD, ///< NoliSimDef.friction_method
  NOLI_CHOICE_LINEAR_SOLVER,   ///< NoliSimDef.linear_solver
  NOLI_CHOICE_GENERAL_SOLVER,  ///< NoliImplicitNewtonDef.linear
  NOLI_CHOICE_CCD,             ///< NoliSimDef.ccd, NoliCcdOptions.method
  NOLI_CHOICE_AUDIT,           ///< NoliSimDef.audit
  NOLI_CHOICE_MATERIAL,        ///< NoliMaterialDef.law
  NOLI_CHOICE_PROXY,           ///< NoliProxyDef.kind
  NOLI_CHOICE_FORCE,           ///< NoliForceDef.kind
  NOLI_CHOICE_VOLUME_REGION,   ///< NoliVolumeDef.region
  NOLI_CHOICE_VOLUME_MODEL,    ///< NoliVolumeDef.model
  NOLI_CHOICE_MESH_PART,       ///< part of noli_mesh_extract
  NOLI_CHOICE_SHEET_PATTERN,   ///< pattern of noli_mesh_make_sheet
  NOLI_CHOICE_PROBE_QUANTITY,  ///< NoliProbeDef.quantity
  NOLI_CHOICE_PROBE_REDUCTION, ///< NoliProbeDef.reduction
  NOLI_CHOICE_GOAL_QUANTITY,   ///< NoliGoalDef.quantity
  NOLI_CHOICE_GOAL_REDUCTION,  ///< NoliGoalDef.reduction
  NOLI_CHOICE_GOAL_FORM,       ///< NoliGoalDef.form
  NOLI_CHOICE_GOAL_TIME,       ///< NoliGoalDef.when
  NOLI_CHOICE_DESIGN_CONTROL,  ///< NoliVariableDef.control
  NOLI_CHOICE_DESIGN_METHOD,   ///< NoliDesignDef.method
  NOLI_CHOICE_PARAMETER,       ///< NoliParameterDef.kind
  NOLI_CHOICE_PARAMETER_SCOPE, ///< NoliParameterDef.scope
  NOLI_CHOICE_GRADIENT_MODE,   ///< NoliGradientDef.mode
  NOLI_CHOICE_FRICTION_LAW,    ///< NoliSimDef.friction_law
  NOLI_CHOICE_JOINT,           ///< NoliJointDef.type
  NOLI_CHOICE_MOTOR,           ///< NoliCoordinateDef.motor
} NoliChoice;

/// Number of kinds; they are numbered from 0.
NOLI_API int32_t noli_choice_kinds(void);
/// The words for a kind, such as "contact model"; NULL where there is no such kind.
NOLI_API const char* noli_choice_kind(NoliChoice kind);

/// Number of names of a kind; 0 where there is no such kind.
NOLI_API int32_t noli_choice_count(NoliChoice kind);
/// A name, a constant, `index` from 0; NULL where there is none.
NOLI_API const char* noli_choice_name(NoliChoice kind, int32_t index);
/// One sentence about it, a constant; NULL where there is none.
NOLI_API const char* noli_choice_description(NoliChoice kind, int32_t index);
/// The index of a name, NOLI_NULL_INDEX where the kind has no such name or it is NULL.
NOLI_API int32_t noli_choice_find(NoliChoice kind, const char* name);

#ifdef __cplusplus
}
#endif
