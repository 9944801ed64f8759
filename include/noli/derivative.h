/// @file derivative.h
/// Derivatives of runs by their parameters: how a result (an objective) changes with moduli,
/// friction, loads, rest shapes and initial states, exactly up to the accuracy of the solver.
/// docs/background/derivatives.md is an introduction.
#pragma once

#include "noli/live.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- parameters ---------------------------------------------------------------------------------

/// Numbers of a definition that may vary. Begin with noli_default_parameter_def.
///
/// Kinds, NOLI_CHOICE_PARAMETER, with the values that they count:
/// - "young", "poisson", "density": of a body, in their units; with the scope "elements" of each
/// - "thickness", "radius": m, of a shell, or a rod, whose second radius stays; a contact
///   offset that is the thickness follows, with "ipc"
/// - "friction": coefficient of a pair of entities, or of all pairs without one of their own
/// - "gravity": 3, m/s^2
/// - "initial_position", "initial_velocity", "rest_position": of a body, added to those of the
///   definition, 0 at first; 3 with the scope "body", 3 for each vertex with "vertices". Velocities
///   stay where positions change, and nodes of curved meshes follow the vertices
/// - "force": factor of a force, 1 + NoliForceDef.change, which may not be 0
/// - "motion": factor of the displacements of a motion, 1 + NoliMotionDef.change;
///   "motion_velocity": 3, m/s, NoliMotionDef.velocity; "motion_spin": 3, rad/s,
///   NoliMotionDef.spin
/// - "spring_stiffness", "spring_length", "spring_damping": of a spring, in their units; a
///   length and a damping that are given and not 0
/// - "volume_pressure", "volume_compression": of the closed volume of a body that has one
/// - "contact_distance": m, NoliSimDef.contact_distance, of "gcp" its eps_target;
///   "contact_stiffness": Pa/m, NoliSimDef.barrier_stiffness, which must be given;
///   "contact_offset": m, of a body or half-space; "stick_length": m, NoliSimDef.stick_length of
///   the friction law "stick"
/// - "yield", "hardening", "saturation", "saturation_rate": of a body that yields, in their units
/// - "c10", "c01": Pa, of a body of the law "mooney_rivlin"; "ogden_mu", Pa, and "ogden_alpha": of
///   the law "ogden"; "prony_g", and "prony_tau", s: of a Prony series; the last four have one for
///   each term, which the scope "terms" says, their default
/// - "fibre_k1", Pa, "fibre_k2": of fibres that are alike, or with the scope "elements" of each
typedef struct NoliParameterDef {
  const char* kind;
  const char* of;    ///< name of a body, force, spring, motion, or entity of a pair; else NULL
  const char* with;  ///< name of the other entity of a pair; NULL: pairs without one of their own
  const char* scope; ///< "body" (the default), "elements", "vertices", "terms"
  const int32_t* index; ///< (n_index) elements, vertices or terms of the body; NULL: all
  int32_t n_index;
  int32_t part; ///< of parameters of a material: 0 the body's own, else 1 + the index of the part
                ///< that has it; with the scope "elements" 0, which is then of all parts
  const void* reserved[4];
} NoliParameterDef;

/// All zero.
NOLI_API NoliParameterDef noli_default_parameter_def(void);

/// Parameters of one simulation: a vector of values, those of the first definition first.
typedef struct NoliParameters NoliParameters;

/// Checks and copies definitions. Fails with NOLI_ERROR_ARGUMENT: a located message names what does
/// not exist or cannot be differentiated, and why.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_parameters_create(NoliSim* sim,
                                                            const NoliParameterDef* defs,
                                                            int32_t n_defs,
                                                            NoliParameters** parameters);
/// Destroys the parameters and sets the pointer to NULL.
NOLI_API void noli_parameters_destroy(NoliParameters** parameters);
/// Number of values.
NOLI_API int64_t noli_parameters_count(const NoliParameters* parameters);
/// Where the values of definition `index` begin; the number of values past the last.
NOLI_API int64_t noli_parameters_first(const NoliParameters* parameters, int32_t index);
/// The values of the definition of the simulation, (n).
NOLI_API void noli_parameters_values(const NoliParameters* parameters, double* values);
/// A new simulation with other values (n), at its start. Fails with NOLI_ERROR_ARGUMENT where a
/// value is not possible, NOLI_INVERTED_ELEMENT and NOLI_ERROR_INTERSECTION where a shape is not,
/// NOLI_ERROR_MEMORY.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_parameters_apply(const NoliParameters* parameters,
                                                           const double* values,
                                                           NoliContext* context, NoliSim** sim);

// ---- objectives ---------------------------------------------------------------------------------

/// The contribution of an objective at one time, with its derivatives. Arrays are zero before the
/// call.
typedef struct NoliObjectivePoint {
  int64_t step;    ///< steps done since the start, 0 at the start
  int64_t n_steps; ///< of the whole run
  double time;     ///< s
  const double* x; ///< (n_vert x 3) m, with the followers of noli_sim_positions
  const double* v; ///< (n_vert x 3) m/s
  double value;    ///< what is added to the objective
  double* d_x;     ///< (n_vert x 3) derivative by positions; may be NULL: only the value is wanted
  double* d_v;     ///< (n_vert x 3) derivative by velocities; may be NULL
  double* d_p;     ///< (parameters) derivative by them alone, at fixed x and v; may be NULL
  double*
      d_history; ///< by the histories of materials, of goals of stress and energy (noli/design.h)
  void* reserved[3];
} NoliObjectivePoint;

/// An objective is a sum over the start and the end of every step. Called in this order in the
/// forward run, for the value alone, and once more for each time in any order, for derivatives.
/// `sim` is in that state and must not be changed. A failure ends the run.
typedef NoliStatus NoliObjectiveFn(void* user, NoliSim* sim, NoliObjectivePoint* at);

typedef struct NoliObjective {
  NoliObjectiveFn* evaluate;
  void* user;
} NoliObjective;

// ---- gradients ----------------------------------------------------------------------------------

/// How to compute a gradient. Begin with noli_default_gradient_def.
typedef struct NoliGradientDef {
  int64_t n_steps;
  const char* mode;    ///< "adjoint" (the default): one backward run; "tangent": as many forward
                       ///< ones as there are parameters
  int32_t checkpoints; ///< states that are kept, and at most as many steps with their solves, which
                       ///< bounds the memory; 0: what 512 MB take
  double tolerance;    ///< to which every stage is solved again, relative to the forces in it; 0:
                       ///< 1e-10
  const void* reserved[4];
} NoliGradientDef;

/// 100 steps by the adjoint.
NOLI_API NoliGradientDef noli_default_gradient_def(void);

/// The cost of a gradient and its estimated accuracy.
typedef struct NoliGradientReport {
  double residual_error; ///< largest error of an objective that the residuals of the solves imply,
                         ///< relative to its value: |lambda . r| summed over all of them
  double forward;        ///< s, of the run
  double backward;       ///< s, of the derivatives, recomputed steps included
  int64_t recomputed;    ///< steps
  int64_t bytes;         ///< of kept states, at most
  int64_t at_yield;      ///< points of quadrature, of all steps, whose stress is that at which they
                         ///< begin to flow, within 1e-8: derivatives are those of one side there
  double reserved[7];
} NoliGradientReport;

/// Steps `sim` n_steps times from its present state, which must be its start where a parameter
/// belongs to the start. `value` (n_objectives), `gradient` (n_objectives x parameters; NULL:
/// values alone) and `report` (may be NULL) receive the results. Fails as noli_sim_step does, and
/// with NOLI_ERROR_ARGUMENT where a choice of the scene cannot be differentiated: a located message
/// says which and what to choose instead.
NOLI_API NOLI_WARN_UNUSED NoliStatus
noli_sim_gradient(NoliSim* sim, const NoliParameters* parameters, const NoliObjective* objectives,
                  int32_t n_objectives, const NoliGradientDef* def, double* value, double* gradient,
                  NoliGradientReport* report);

#ifdef __cplusplus
}
#endif
