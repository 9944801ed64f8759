// Kinds of parameters: what each is of, which values it has, which inputs of the model follow from
// them, and how a definition gets other ones. Types by what they vary are in parameter_material.c,
// parameter_law.c, parameter_shape.c, parameter_load.c and parameter_contact.c.
#pragma once

#include "contact/gcp/gcp_shape.h"
#include "derive/parameters/material_regions.h"
#include "derive/parameters/parameters.h"
#include "derive/parameters/rest_map.h"
#include "derive/tie_derivatives.h"

// The object that a definition names.
typedef enum NoliParameterOf {
  NOLI_OF_SCENE, // nothing
  NOLI_OF_BODY,
  NOLI_OF_ENTITY,
  NOLI_OF_PAIR, // two entities, or nothing
  NOLI_OF_FORCE,
  NOLI_OF_MOTION,
  NOLI_OF_SPRING
} NoliParameterOf;

// One definition.
typedef struct NoliParameter {
  NoliParameterKind kind;
  const struct NoliParameterType* type;
  NoliParameterScope scope;
  int32_t of;   // body, force, motion, spring or entity
  int32_t with; // the other entity of a pair; NOLI_NULL_INDEX: pairs without one of their own
  int32_t part; // of materials: 0 the body's own, else 1 + the index of the part that has it
  NoliMaterialRegions regions; // of materials: those of the body
  int32_t* point; // (n_point) elements, vertices or terms of the body; NULL: all of it at once
  int32_t n_point;
  NoliRestMap map; // of positions of vertices
  int32_t class_of_pairs;
  int64_t first; // of its values
} NoliParameter;

// An input that follows from a value.
typedef struct NoliParameterEntry {
  NoliInput input;
  int64_t index;
  double factor;
} NoliParameterEntry;

// How a total force is shared, which changes with masses.
typedef struct NoliForceShares {
  int32_t* count; // (n_vert) how often it names a vertex; NULL: not such a force
  // For a consistent mass, the relative change of the sum of the measures of these vertices:
  double* by_density; // (elements of the block) with densities; NULL: it is lumped or does not vary
  double* by_rest;    // (n_vert x 3) with rest positions of vertices; NULL: it does not vary
} NoliForceShares;

struct NoliParameters {
  NoliContext* context;
  NoliOwnedDefinition source;
  NoliParameter* def;
  int32_t n_def;
  int32_t n_class;
  int64_t n;
  double* value;    // (n)
  double* velocity; // (n_vert x 3) m/s, at the start
  double*
      volume_derivative;   // (regions with a volume law x n_vert x 3) m^2, of their volumes at rest
  int64_t* first_entry;    // (n + 1)
  NoliForceShares* shares; // (n_force)
  int32_t n_force;
  NOLI_ARRAY(NoliParameterEntry) entry;
  NoliTieDerivatives ties;
  NoliGcpShape shape; // of the contact model "gcp"; else empty
  int64_t n_weighted; // of "gcp": vertices that the mean weight is of; else 0
  unsigned wanted;
  NoliSceneSize size; // of the simulation, to which lengths and speeds may be relative
};

typedef struct NoliParameterType {
  NoliParameterOf of;
  int32_t n_component; // of each point
  // beside the whole; NOLI_SCOPE_BODY: none; NOLI_SCOPE_TERMS: without it
  NoliParameterScope scope;
  bool free;     // every value is valid
  bool material; // of a material, of the body or of a part
  // Points of the scope `vertices` or `terms` of a definition.
  int32_t (*count)(const NoliSim* sim, const NoliParameter* def);
  // Why it has no derivatives, or NULL; NULL: it always has.
  const char* (*defect)(const NoliSim* sim, const NoliParameter* def);
  // Sets what else the definition needs, or fails with a located message; NULL: nothing.
  NoliStatus (*prepare)(const NoliSim* sim, NoliParameter* def);
  // The values of the simulation; NULL: zeros.
  void (*read)(const NoliSim* sim, const NoliParameter* def, double* value);
  // Adds the inputs that follow from one component of one point.
  NoliStatus (*map)(NoliParameters* self, const NoliSim* sim, const NoliParameter* def,
                    int32_t point, int32_t component);
  // Gives a definition these values; NULL: they are no part of it.
  NoliStatus (*apply)(NoliContext* context, const NoliParameter* def, const double* value,
                      NoliOwnedDefinition* definition);
} NoliParameterType;

extern const NoliParameterType noli_parameter_material; // moduli and densities
extern const NoliParameterType noli_parameter_law;      // parameters of metals and rubbers
extern const NoliParameterType noli_parameter_series;   // of terms of rubbers and Prony series
extern const NoliParameterType noli_parameter_fibre;
extern const NoliParameterType noli_parameter_section;  // thickness and radius
extern const NoliParameterType noli_parameter_shape;    // positions at rest and at the start
extern const NoliParameterType noli_parameter_velocity; // at the start
extern const NoliParameterType noli_parameter_gravity;
extern const NoliParameterType noli_parameter_force;
extern const NoliParameterType noli_parameter_motion;      // factors
extern const NoliParameterType noli_parameter_motion_rate; // velocity and spin
extern const NoliParameterType noli_parameter_spring;
extern const NoliParameterType noli_parameter_volume;
extern const NoliParameterType noli_parameter_friction;
extern const NoliParameterType noli_parameter_contact; // distance and stiffness
extern const NoliParameterType noli_parameter_stick_length;
extern const NoliParameterType noli_parameter_offset;

// Points that have values of their own.
int32_t noli_parameter_points(const NoliParameter* def);

// An input that changes with the value that is being mapped; a mass and its weight. Fail with
// NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_parameter_add(NoliParameters* self, NoliInput input, int64_t index,
                                               double factor);
NOLI_WARN_UNUSED NoliStatus noli_parameter_add_mass(NoliParameters* self, const NoliModel* model,
                                                    int64_t vertex, double factor);

// The same for the density of element `element` of a block with a consistent mass, and for the rest
// position of a vertex, where shares of forces follow it so.
NOLI_WARN_UNUSED NoliStatus noli_parameter_add_density(NoliParameters* self, const NoliModel* model,
                                                       int32_t body, int32_t element,
                                                       double factor);
NOLI_WARN_UNUSED NoliStatus noli_parameter_add_share_shape(NoliParameters* self, int32_t vertex,
                                                           int32_t component, double factor);

// Whether an element of the body has the material that the parameter is of.
static inline bool noli_parameter_covers(const NoliParameter* def, int32_t element) {
  return def->regions.region[element] == def->part;
}

// A body of a definition that is being changed.
NoliBodyDef* noli_parameter_body(const NoliParameter* def, NoliOwnedDefinition* definition);

// Why parameters of masses of a body have no derivatives: a total force on it has vertices without
// any mass, whose shares are those of a mean; NULL: none has.
const char* noli_parameter_share_defect(const NoliModel* model, int32_t body);

// Adds the values of a definition to the velocities at the start of another simulation.
void noli_parameter_add_velocity(const NoliParameter* def, const double* value, NoliSim* sim);

// Nodes of an element.
int32_t noli_parameter_element_nodes(const NoliBlock* block, int32_t element);

// Whether the geometric contact potential or smooth surfaces act.
bool noli_parameter_has_potential(const NoliModel* model);
bool noli_parameter_has_smooth_surfaces(const NoliModel* model);
