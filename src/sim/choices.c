#include "sim/choices.h"

#include "collide/ccd.h"
#include "fem/volume_law.h"
#include "integrate/integrator.h"
#include "linalg/solver.h"
#include "material/material.h"
#include "mesh/sheet.h"
#include "mesh/topology.h"
#include "noli/extend.h"
#include "search/search.h"
#include "sim/controls.h"
#include "sim/goals.h"
#include "sim/parameters.h"
#include "sim/probes.h"
#include "solve/method.h"

#include <stdio.h>

#define COUNT(table) ((int32_t)(sizeof(table) / sizeof *(table)))

// ---- the tables of the simulator ----------------------------------------------------------------

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

static const NoliNamed regions[] = {
    [NOLI_REGION_CAVITY] = {"cavity", "Inside the inner part of the boundary."},
    [NOLI_REGION_OUTSIDE] = {"outside", "Inside the outer part of the boundary."},
    [NOLI_REGION_BODY] = {"body", "The material of the body."},
    [NOLI_REGION_COMPONENT] = {"component", "Inside a connected part of the boundary."},
    [NOLI_REGION_TAG] = {"tag", "The tetrahedra with a tag."},
    [NOLI_REGION_TRIANGLES] = {"triangles", "Inside given triangles."},
};

// ---- all tables ---------------------------------------------------------------------------------

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

static NoliNamed probe_quantity_at(int32_t index) {
  const NoliProbeQuantity* found = noli_probe_quantity_at(index);
  return found != NULL ? (NoliNamed){found->name, found->description} : (NoliNamed){0};
}

static NoliNamed goal_quantity_at(int32_t index) {
  const NoliGoalQuantity* found = noli_goal_quantity_at(index);
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

typedef struct Kind {
  const char* words;
  NoliNamed (*at)(int32_t index); // NULL: a plain table
  const NoliNamed* table;
  int32_t n;
} Kind;

static const Kind kinds[] = {
    [NOLI_CHOICE_INTEGRATOR] = {"integrator", integrator_at, NULL, 0},
    [NOLI_CHOICE_SOLVER] = {"solver", solver_at, NULL, 0},
    [NOLI_CHOICE_TERMINATION] = {"termination", NULL, noli_terminations, NOLI_TERMINATIONS},
    [NOLI_CHOICE_CONTACT_MODEL] = {"contact model", contact_model_at, NULL, 0},
    [NOLI_CHOICE_FRICTION_METHOD] = {"friction method", NULL, noli_friction_methods,
                                     NOLI_FRICTION_METHODS},
    [NOLI_CHOICE_LINEAR_SOLVER] = {"linear solver", linear_solver_at, NULL, 0},
    [NOLI_CHOICE_GENERAL_SOLVER] = {"linear solver for implicit_newton", general_solver_at, NULL,
                                    0},
    [NOLI_CHOICE_CCD] = {"collision detection", NULL, noli_ccd_methods, NOLI_CCD_METHODS},
    [NOLI_CHOICE_AUDIT] = {"audit", NULL, audits, COUNT(audits)},
    [NOLI_CHOICE_MATERIAL] = {"material law", material_at, NULL, 0},
    [NOLI_CHOICE_PROXY] = {"collision proxy", NULL, proxies, COUNT(proxies)},
    [NOLI_CHOICE_FORCE] = {"kind of force", NULL, forces, COUNT(forces)},
    [NOLI_CHOICE_VOLUME_REGION] = {"region", NULL, regions, COUNT(regions)},
    [NOLI_CHOICE_VOLUME_MODEL] = {"model of volumes", NULL, noli_volume_models, NOLI_VOLUME_MODELS},
    [NOLI_CHOICE_MESH_PART] = {"part of a mesh", NULL, noli_mesh_parts, NOLI_MESH_PARTS},
    [NOLI_CHOICE_SHEET_PATTERN] = {"pattern of sheets", NULL, noli_sheet_patterns,
                                   NOLI_SHEET_PATTERNS},
    [NOLI_CHOICE_PROBE_QUANTITY] = {"quantity of probes", probe_quantity_at, NULL, 0},
    [NOLI_CHOICE_PROBE_REDUCTION] = {"reduction of probes", NULL, noli_probe_reductions,
                                     NOLI_PROBE_REDUCTIONS},
    [NOLI_CHOICE_GOAL_QUANTITY] = {"quantity of goals", goal_quantity_at, NULL, 0},
    [NOLI_CHOICE_GOAL_REDUCTION] = {"reduction of goals", NULL, noli_goal_reductions,
                                    NOLI_GOAL_REDUCTIONS},
    [NOLI_CHOICE_GOAL_FORM] = {"form of goals", NULL, noli_goal_forms, NOLI_GOAL_FORMS},
    [NOLI_CHOICE_GOAL_TIME] = {"time of goals", NULL, noli_goal_times, NOLI_GOAL_TIMES},
    [NOLI_CHOICE_DESIGN_CONTROL] = {"control of variables", NULL, noli_control_kinds,
                                    NOLI_CONTROL_KINDS},
    [NOLI_CHOICE_PARAMETER] = {"parameter", NULL, noli_parameter_kinds, NOLI_PARAMETER_KINDS},
    [NOLI_CHOICE_GRADIENT_MODE] = {"mode of gradients", NULL, noli_gradient_modes,
                                   NOLI_GRADIENT_MODES},
    [NOLI_CHOICE_PARAMETER_SCOPE] = {"scope of parameters", NULL, noli_parameter_scopes,
                                     NOLI_SCOPES},
    [NOLI_CHOICE_DESIGN_METHOD] = {"method of designs", NULL, noli_search_methods,
                                   NOLI_SEARCH_METHODS},
};

static NoliNamed entry(NoliChoice kind, int32_t index) {
  if ((int)kind < 0 || (int)kind >= COUNT(kinds)) {
    return (NoliNamed){0};
  }
  const Kind* found = &kinds[kind];
  return found->at != NULL ? found->at(index) : noli_named_at(found->table, found->n, index);
}

int32_t noli_choice_kinds(void) {
  return COUNT(kinds);
}

const char* noli_choice_kind(NoliChoice kind) {
  return (int)kind >= 0 && (int)kind < COUNT(kinds) ? kinds[kind].words : NULL;
}

const char* noli_choice_name(NoliChoice kind, int32_t index) {
  return entry(kind, index).name;
}

const char* noli_choice_description(NoliChoice kind, int32_t index) {
  return entry(kind, index).description;
}

int32_t noli_choice_count(NoliChoice kind) {
  int32_t n = 0;
  while (noli_choice_name(kind, n) != NULL) {
    n++;
  }
  return n;
}

int32_t noli_choice_find(NoliChoice kind, const char* name) {
  for (int32_t i = 0; name != NULL && noli_choice_name(kind, i) != NULL; i++) {
    if (strcmp(noli_choice_name(kind, i), name) == 0) {
      return i;
    }
  }
  return NOLI_NULL_INDEX;
}

NoliStatus noli_choice_require(NoliContext* context, const char* where, NoliChoice kind,
                               const char* name) {
  enum { MOST = 32, SIZE = 1000 };
  const char* names[MOST];
  char known[SIZE] = "";
  size_t used = 0;
  int32_t n = noli_choice_count(kind);
  if (name == NULL || noli_choice_find(kind, name) != NOLI_NULL_INDEX) {
    return NOLI_OK;
  }
  for (int32_t i = 0; i < n && i < MOST; i++) {
    names[i] = noli_choice_name(kind, i);
    used += used < SIZE ? (size_t)snprintf(known + used, SIZE - used, "%s\"%s\"", i > 0 ? ", " : "",
                                           names[i])
                        : 0;
  }
  const char* nearest = noli_nearest(name, names, n < MOST ? n : MOST);
  return noli_fail(context, NOLI_ERROR_ARGUMENT, "%sthere is no %s \"%.80s\"%s%s%s; known: %s",
                   where, noli_choice_kind(kind), name, nearest != NULL ? "; did you mean \"" : "",
                   nearest != NULL ? nearest : "", nearest != NULL ? "\"?" : "", known);
}
