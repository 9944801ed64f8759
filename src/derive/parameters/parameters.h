// Parameters: values of a definition that may vary, and how the inputs of the model follow from
// them. One table has all kinds.
#pragma once

#include "base/named.h"
#include "define/owned_definition.h"
#include "derive/inputs.h"
#include "noli/derivative.h"

typedef enum NoliParameterKind {
  NOLI_PARAMETER_YOUNG,
  NOLI_PARAMETER_POISSON,
  NOLI_PARAMETER_DENSITY,
  NOLI_PARAMETER_FRICTION,
  NOLI_PARAMETER_GRAVITY,
  NOLI_PARAMETER_INITIAL_POSITION,
  NOLI_PARAMETER_INITIAL_VELOCITY,
  NOLI_PARAMETER_REST_POSITION,
  NOLI_PARAMETER_THICKNESS,
  NOLI_PARAMETER_RADIUS,
  NOLI_PARAMETER_MOTION,
  NOLI_PARAMETER_MOTION_VELOCITY,
  NOLI_PARAMETER_MOTION_SPIN,
  NOLI_PARAMETER_FORCE,
  NOLI_PARAMETER_SPRING_STIFFNESS,
  NOLI_PARAMETER_SPRING_LENGTH,
  NOLI_PARAMETER_SPRING_DAMPING,
  NOLI_PARAMETER_VOLUME_PRESSURE,
  NOLI_PARAMETER_VOLUME_COMPRESSION,
  NOLI_PARAMETER_CONTACT_DISTANCE,
  NOLI_PARAMETER_CONTACT_STIFFNESS,
  NOLI_PARAMETER_CONTACT_OFFSET,
  NOLI_PARAMETER_STICK_LENGTH,
  NOLI_PARAMETER_YIELD,
  NOLI_PARAMETER_HARDENING,
  NOLI_PARAMETER_SATURATION,
  NOLI_PARAMETER_SATURATION_RATE,
  NOLI_PARAMETER_C10,
  NOLI_PARAMETER_C01,
  NOLI_PARAMETER_OGDEN_MU,
  NOLI_PARAMETER_OGDEN_ALPHA,
  NOLI_PARAMETER_FIBRE_K1,
  NOLI_PARAMETER_FIBRE_K2,
  NOLI_PARAMETER_PRONY_G,
  NOLI_PARAMETER_PRONY_TAU,
  NOLI_PARAMETER_KINDS
} NoliParameterKind;
extern const NoliNamed noli_parameter_kinds[NOLI_PARAMETER_KINDS];
extern const NoliNames noli_parameter_names;

// 3 of vectors, else 1.
int32_t noli_parameter_components(NoliParameterKind kind);

// Adds displacements to `n_point` vertices of x (n_vert x 3): those that `point` lists, or without
// it the first ones. `value`: three of each, or three for all.
void noli_parameter_displace(const int32_t* point, int64_t n_point, bool each, const double* value,
                             double* x);

// The scopes of definitions.
typedef enum NoliParameterScope {
  NOLI_SCOPE_BODY,
  NOLI_SCOPE_ELEMENTS,
  NOLI_SCOPE_VERTICES,
  NOLI_SCOPE_TERMS,
  NOLI_SCOPES
} NoliParameterScope;
extern const NoliNamed noli_parameter_scopes[NOLI_SCOPES];
extern const NoliNames noli_parameter_scope_names;

// How derivatives of runs are computed.
typedef enum NoliGradientMode {
  NOLI_GRADIENT_ADJOINT,
  NOLI_GRADIENT_TANGENT,
  NOLI_GRADIENT_MODES
} NoliGradientMode;
extern const NoliNamed noli_gradient_modes[NOLI_GRADIENT_MODES];
extern const NoliNames noli_gradient_mode_names;

// noli_parameters_create for the entries of a list, which messages name: "list[0]: ...".
NOLI_WARN_UNUSED NoliStatus noli_parameters_create_in(NoliSim* sim, const char* list,
                                                      const NoliParameterDef* defs, int32_t n_defs,
                                                      NoliParameters** parameters);

// Lengths of the simulation that other values keep.
typedef struct NoliParameterLengths {
  NoliSceneSize size;      // to which lengths and speeds may be relative
  double contact_distance; // m
} NoliParameterLengths;
NoliParameterLengths noli_parameters_lengths(const NoliParameters* self);

// Bits of the inputs that the parameters change.
unsigned noli_parameters_wanted(const NoliParameters* self);

// Whether they change the rest shape of a body.
bool noli_parameters_vary_rest(const NoliParameters* parameters, int32_t body);

// The definition of the simulation with other values, zeros before; to be freed also on failure.
NOLI_WARN_UNUSED NoliStatus noli_parameters_define(const NoliParameters* parameters,
                                                   const double* values, NoliContext* context,
                                                   NoliOwnedDefinition* definition);

// Whether the numbers of definition `index` may have these values, those of the others as they are:
// NOLI_ERROR_ARGUMENT with the message that a simulation with them would end with. Positions and
// velocities always may.
NOLI_WARN_UNUSED NoliStatus noli_parameters_check(const NoliParameters* parameters, int32_t index,
                                                  const double* values);

// Classes of pairs of entities, as friction parameters have them.
NoliPairClasses noli_parameters_classes(const NoliParameters* self);
int32_t noli_parameters_class_count(const NoliParameters* self);

// Adds the changes of inputs by that of value `index`; adds to d_p (n) derivatives by the
// parameters that follow from those by the inputs.
void noli_parameters_tangent(const NoliParameters* self, int64_t index, NoliInputs* change);
void noli_parameters_adjoint(const NoliParameters* self, const NoliInputs* from, double* d_p);
