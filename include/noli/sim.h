/// @file sim.h
/// The simulator: a simulation made from a definition (noli/definition.h), its step and its
/// results.
///
/// Symbols: X rest, x current, h time step. SI units throughout.
#pragma once

#include "noli/definition.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A simulation: a constant model and its state. It belongs to the context that made it.
typedef struct NoliSim NoliSim;

/// One Newton iteration. Never changes its size.
typedef struct NoliNewtonStat {
  double energy_change;   ///< of the scaled incremental potential, J s^2
  double residual;        ///< max |gradient|
  double step_speed;      ///< max |Newton step| / h, m/s, before any cut
  double alpha_inversion; ///< bound that keeps elements positive, in [0, 1]
  double alpha_ccd;       ///< bound that keeps surfaces apart, in [0, 1]
  double alpha;       ///< the step taken, in [0, 4]; longer than 1 where the model was too stiff
  double beta;        ///< weight of the early iterations ([Zheng2025] eq. 9); 1 while unused
  double mu;          ///< penalty stiffness of the augmented Lagrangian; 0 without
  double min_gap;     ///< m, smallest distance of a constraint; 0 without the active set
  int64_t contacts;   ///< active contacts; constraints of the active set
  int64_t active;     ///< constraints that push; 0 without the active set
  int64_t added;      ///< constraints added after the iteration
  int64_t removed;    ///< constraints that had decayed and were removed
  double penetration; ///< m, deepest linearized penetration of a constraint in the target that
                      ///< the iteration found; 0 without the active set
  double condition;   ///< estimate, from below, of the condition number of the linear system,
                      ///< preconditioned by its diagonal blocks; 0 where "pcg" did not solve it
  int32_t linear_iterations;
  int32_t friction_iteration; ///< solve of the step, with lagged friction, that the iteration
                              ///< belongs to
  int32_t stage;              ///< stage of the integrator, from 0
  double merit;     ///< implicit_newton: |residual| over all unknowns before the iteration, kg m
  int32_t fallback; ///< implicit_newton: origin of the direction: 0 the exact Jacobian, 1 the one
                    ///< with projected Hessians, 2 a shifted one, 3 an iteration of projected
                    ///< Newton with lagged friction, for a better start
  double reserved[4];
} NoliNewtonStat;

/// Wall time of the parts of a step, s. Never changes its size.
typedef struct NoliStepTiming {
  double assemble;
  double linear;
  double ccd;
  double contacts;
  double line_search;
  double other;
  double reserved[2];
} NoliStepTiming;

/// Report of a step. Energies in J, momentum in kg m/s.
typedef struct NoliStepReport {
  int64_t step; ///< number of steps done, this one included
  double time;  ///< s, at the end of the step
  double wall;  ///< s
  int32_t newton_iterations;
  int32_t friction_iterations; ///< solves with friction forces of their own; over all stages of the
                               ///< step
  int64_t linear_iterations;
  int64_t contacts;     ///< active pairs at the end of the step
  int64_t contacts_max; ///< largest number over the iterations of the step
  double min_distance;  ///< m, less the contact offsets; INFINITY without contact; below 0: the
                        ///< depth of the deepest vertex, only with contact_model
                        ///< "implicit_surface"
  double kappa;         ///< stiffness of barrier or penalty, of the scaled potential
  int32_t stiffness_increases; ///< of the penalty of "implicit_surface", each solved again
  double kinetic;
  double elastic;
  double gravity;
  double contact_energy;
  double friction_energy; ///< of lagged friction; implicit friction has none: see friction_loss
  double volume_energy;   ///< of regions that resist a change of volume
  double damping_loss;    ///< energy dissipated by damping and mass_damping in this step, >= 0
  double friction_loss;   ///< energy dissipated by friction in this step, for every method: its
                          ///< forces at the end of the step times the motion in the step
  double friction_ratio;  ///< lagged friction: largest ratio, over bodies, of friction to the limit
                         ///< of the law with the normal forces at the end of the step; more than 1:
                         ///< too much, infinite: friction without a normal force
  double friction_error; ///< lagged friction, in [0, 1]: largest share of the friction of a body
                         ///< that is in excess or missing because the normal forces have changed
  double momentum[3];
  double max_speed;
  double motion_done;     ///< share of the prescribed motion that was reached, in [0, 1]
  double motion_error;    ///< m, largest distance of a prescribed vertex from its target
  const char* blocked_by; ///< cause that stopped the prescribed motion or the step, or ""; valid
                          ///< until the next step
  NoliStepTiming timing;
  int32_t fallbacks;            ///< iterations whose direction was not that of the exact Jacobian
  int32_t substeps;             ///< parts of the step, 1 where it was not divided; increments
  int32_t retries;              ///< repetitions: in more parts, or with prescribed nodes held
  const NoliNewtonStat* newton; ///< (newton_iterations), valid until the next step
  /// systems that the selected iterative linear solver failed to solve, which were factored
  /// instead, and systems that rounding had made indefinite, whose diagonal was regularized
  int32_t linear_fallbacks;
  /// 1: solver "augmented_lagrangian" failed and "projected_newton" solved the step, or the rest of
  /// it where it was divided; 0 otherwise
  int32_t solver_fallbacks;
  double increment; ///< s, length of the shortest part of the step
  double imbalance; ///< largest residual force on a body, relative to the force that acts on it;
                    ///< at most NoliSimDef.imbalance, unless rounding is larger
  /// Friction law "stick": energy in the slips of contacts, which friction_loss does not contain;
  /// contacts that hold and that slide; the longest way that one of them has slid
  double friction_stored;
  int64_t contacts_held;
  int64_t contacts_sliding;
  double slid;            ///< m
  double adhesion_energy; ///< J, of surfaces that adhere, 0 where they are apart, else negative
  double rigid_stretch;   ///< largest |A^T A - I| of a rigid body, in the norm of Frobenius
  double joint_gap;       ///< m, largest error of a joint that is not one of shared points
} NoliStepReport;

/// Builds a simulation. Fails with NOLI_ERROR_ARGUMENT (a definition is invalid; the message names
/// it), NOLI_ERROR_INTERSECTION (surfaces intersect or touch, or a body lies inside another one:
/// use noli_sim_check for the list), NOLI_INVERTED_ELEMENT, NOLI_ERROR_MEMORY. Logs a warning where
/// contact acts before anything moves: within a rest shape, or between bodies that start closer
/// than the contact distance.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_create(NoliContext* context, const NoliSimDef* def,
                                                     NoliSim** sim);
/// Releases a simulation and sets the pointer to NULL. NULL is harmless. Does nothing, keeps the
/// pointer and logs an error for a copy of a batch, and where a function that the simulation calls
/// (noli/live.h, progress) destroys it: the step then fails with NOLI_ERROR_ARGUMENT.
NOLI_API void noli_sim_destroy(NoliSim** sim);

/// Kinds of initial defects.
typedef enum NoliDefectKind {
  NOLI_DEFECT_INTERSECTION, ///< an edge and a triangle cross
  NOLI_DEFECT_ZERO_GAP,     ///< two primitives touch, or are closer than the contact offsets
  NOLI_DEFECT_HALF_SPACE,   ///< a vertex is on or below a half-space
  NOLI_DEFECT_INVERTED,     ///< a tetrahedron has no positive volume
  /// contact_model "implicit_surface": a vertex is behind a surface. Not a defect: contact pushes
  /// it out, and apart from it only inverted elements and crossing sheets are searched for
  NOLI_DEFECT_PENETRATION,
  /// A part of a surface lies inside a solid body, or inside another part of its own body: its
  /// first vertex, and the solid without vertices. Cavities are outside, and so is the inside of
  /// an obstacle, which is a surface
  NOLI_DEFECT_NESTED,
} NoliDefectKind;

/// One initial defect: two primitives that intersect or touch, a surface inside a solid, or an
/// inverted element. Never changes its size.
typedef struct NoliDefect {
  NoliDefectKind kind;
  int32_t entity[2];    ///< bodies or half-spaces; second NOLI_NULL_INDEX for inversions
  int32_t n_vert[2];    ///< vertices of each primitive (1 point, 2 edge, 3 triangle, 4 tet)
  int32_t vertex[2][4]; ///< vertex indices within each body
  double position[3];   ///< where
  double distance;      ///< m; negative depth below a half-space or a surface; less the contact
                        ///< offsets
  double reserved[2];
} NoliDefect;

/// Finds every initial defect of a definition. `*defects` is released with noli_sim_check_free.
/// Returns NOLI_OK when the search was done, whatever it found.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_check(NoliContext* context, const NoliSimDef* def,
                                                    NoliDefect** defects, int64_t* n_defects);
/// Releases the list of noli_sim_check and sets the pointer to NULL.
NOLI_API void noli_sim_check_free(NoliContext* context, NoliDefect** defects);

/// Evaluates the targets of motions and the values of forces in a run of `n_steps` from time 0, in
/// all steps or, of very many vertices or steps, in evenly spaced ones, and simulates nothing:
/// vertices are where the motion takes them. Fails with NOLI_NOT_FINITE where one is not finite
/// (the message names the motion or force, the body, a vertex and the time), otherwise as
/// noli_sim_check.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_check_conditions(NoliContext* context,
                                                               const NoliSimDef* def,
                                                               int64_t n_steps);

/// Bodies and contact of a simulation before its first step.
typedef struct NoliSimMeasures {
  double contact_distance; ///< dhat, m: given, or the default, which stays below gaps within bodies
  double* volume;          ///< (n_bodies) at rest, m^3, of curved elements with their shape; owned
  double* mass;            ///< (n_bodies) kg; of obstacles, as their volume, 0; owned
  double box;              ///< l, m
  double ball;             ///< d, m
  double stick_length;     ///< m, elastic slip at which contacts slide; 0: friction is a function
                           ///< of the velocity
} NoliSimMeasures;

/// noli_sim_measure for a struct of `size` bytes.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_measure_sized(NoliContext* context,
                                                            const NoliSimDef* def,
                                                            NoliSimMeasures* measures, size_t size);

/// Measures a definition, also one whose surfaces intersect or whose elements are inverted, so that
/// no simulation can be made from it. `measures` is released with noli_sim_measures_free.
/// Fails with NOLI_ERROR_ARGUMENT (a definition is invalid; the message names it),
/// NOLI_ERROR_MEMORY.
static inline NOLI_WARN_UNUSED NoliStatus noli_sim_measure(NoliContext* context,
                                                           const NoliSimDef* def,
                                                           NoliSimMeasures* measures) {
  return noli_sim_measure_sized(context, def, measures, sizeof *measures);
}
/// Releases what the measures own and sets the pointers to NULL.
NOLI_API void noli_sim_measures_free(NoliContext* context, NoliSimMeasures* measures);

/// noli_sim_step for a report of `size` bytes.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_step_sized(NoliSim* sim, NoliStepReport* report,
                                                         size_t size);

/// Advances by h. On a positive status the simulation is as it was before the call, on success it
/// is at the new time. `report` may be NULL; after a step that failed it says how far the step
/// came, with energies, momentum and speed of the state before it.
static inline NOLI_WARN_UNUSED NoliStatus noli_sim_step(NoliSim* sim, NoliStepReport* report) {
  return noli_sim_step_sized(sim, report, sizeof *report);
}

/// Simulated time in seconds.
NOLI_API double noli_sim_time(const NoliSim* sim);
/// Number of steps done since time 0, also before a checkpoint that was loaded.
NOLI_API int64_t noli_sim_step_count(const NoliSim* sim);
/// Number of bodies, obstacles included.
NOLI_API int32_t noli_sim_body_count(const NoliSim* sim);
/// Number of nodes of all bodies: vertices, and the further nodes of high-order elements.
NOLI_API int32_t noli_sim_node_count(const NoliSim* sim);
/// Number of all vertices: first the nodes, then vertices of collision proxies that are no nodes.
NOLI_API int32_t noli_sim_vertex_count(const NoliSim* sim);
/// Number of elements of all bodies: tetrahedra, triangles in plane strain and of shells, segments
/// of rods, points.
NOLI_API int32_t noli_sim_tet_count(const NoliSim* sim);
/// Triangles that take part in contact: boundaries of bodies, and obstacles.
NOLI_API int32_t noli_sim_surface_triangle_count(const NoliSim* sim);

/// First node and number of nodes of a body in the arrays below.
NOLI_API void noli_sim_body_range(const NoliSim* sim, int32_t body, int32_t* first, int32_t* count);
/// The contact distance dhat in metres, also where it was left to the default.
NOLI_API double noli_sim_contact_distance(const NoliSim* sim);
/// Name of the integrator, a constant.
NOLI_API const char* noli_sim_integrator(const NoliSim* sim);
/// Name of an entity (body or half-space), owned by the simulation.
NOLI_API const char* noli_sim_entity_name(const NoliSim* sim, int32_t entity);

// Arrays owned by the simulation, valid until it is destroyed, over the vertices of all bodies.

/// Rest positions in metres, (n_vert x 3).
NOLI_API const double* noli_sim_rest_positions(const NoliSim* sim);
/// Current positions in metres, (n_vert x 3).
NOLI_API const double* noli_sim_positions(const NoliSim* sim);
/// Current velocities in m/s, (n_vert x 3).
NOLI_API const double* noli_sim_velocities(const NoliSim* sim);
/// The contribution of every vertex to mass, centre of mass and momentum, kg, (n_vert): lumped
/// masses of linear bodies, row sums of the mass matrix of others, some of which are not positive.
NOLI_API const double* noli_sim_masses(const NoliSim* sim);
/// Tetrahedra with global vertex indices, body after body, (n_tet x 4). In triangles in plane
/// strain the fourth index is NOLI_NULL_INDEX. NULL on ranks other than the first where elements
/// are divided among ranks (see `whole_elements`).
NOLI_API const int32_t* noli_sim_tets(const NoliSim* sim);
/// Triangles that take part in contact, with global vertex indices, body after body, (n_tri x 3).
NOLI_API const int32_t* noli_sim_surface_triangles(const NoliSim* sim);
/// Segments of obstacles with global vertex indices, (n_segments x 2).
NOLI_API const int32_t* noli_sim_segments(const NoliSim* sim, int32_t* n_segments);
/// Points of obstacles as global vertex indices, (n_points).
NOLI_API const int32_t* noli_sim_points(const NoliSim* sim, int32_t* n_points);

/// Normal contact forces of the last accepted step in newtons, (n_vert x 3), written to the
/// caller's array.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_contact_forces(NoliSim* sim, double* force);
/// Friction forces of the last accepted step in newtons, (n_vert x 3), written to the caller's
/// array.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_friction_forces(NoliSim* sim, double* force);
/// Von Mises equivalent of the Cauchy stress, Pa, (n_tet), written to the caller's array.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_von_mises(NoliSim* sim, double* stress);
/// Equivalent plastic strain of every element, (n_tet), its mean over the volume at rest, written
/// to the caller's array; 0 without a yield stress. docs/reference/materials.md
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_plastic_strains(NoliSim* sim, double* strain);
/// The cause that held a step back, and where.
typedef enum NoliDiagnosisKind {
  NOLI_DIAGNOSIS_CONTACT,     ///< collision detection cut Newton steps to less than half
  NOLI_DIAGNOSIS_INVERSION,   ///< an element that would have inverted did
  NOLI_DIAGNOSIS_LINE_SEARCH, ///< the line search did, because the potential rose; it has no place
  NOLI_DIAGNOSIS_MOTION,      ///< contact, or an element, stopped a prescribed motion
  NOLI_DIAGNOSIS_CLOSEST,     ///< held nothing back: the smallest gap at the end of the step
} NoliDiagnosisKind;

/// A finding about the last step, at most one of each kind. Never changes its size.
typedef struct NoliDiagnosis {
  NoliDiagnosisKind kind;
  int32_t iterations;   ///< Newton iterations that it cut; 0 where it cuts none
  double alpha;         ///< of these, the shortest: fraction that was left of the Newton step; of
                        ///< NOLI_DIAGNOSIS_MOTION the share of the motion that was done
  int32_t entity[2];    ///< bodies or half-spaces of the shortest one; NOLI_NULL_INDEX: none
  int32_t n_vert[2];    ///< vertices of each primitive (1 point, 2 edge, 3 triangle, 4 tet)
  int32_t vertex[2][4]; ///< vertex indices within each body
  double distance;      ///< m, of the primitives in the present state, less the contact offsets;
                        ///< INFINITY without a second one
  double position[3];   ///< m, between their closest points; centre of an element; NaN: no place
  double reserved[2];
} NoliDiagnosis;

/// Diagnosis of the last step, also of one that failed: then in the state before it. The array is
/// owned by the simulation and valid until the next call. Fails with NOLI_ERROR_MEMORY.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_diagnosis(NoliSim* sim,
                                                        const NoliDiagnosis** diagnosis,
                                                        int32_t* n);
/// Name of a kind, a constant, as in diagnosis.csv; NULL past the last.
NOLI_API const char* noli_diagnosis_name(NoliDiagnosisKind kind);

/// Stress and strain of every element, (n_tet), written to the caller's array. They are elastic:
/// damping is not among them. docs/reference/results.md
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_stresses(NoliSim* sim, NoliStress* stress);
/// Stress and strain at the nodes, (n_vert), written to the caller's array: means of the elements
/// around each node, weighted by volume at rest; zeros where there is none. Different bodies never
/// share a node. Fails with NOLI_ERROR_MEMORY.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_nodal_stresses(NoliSim* sim, NoliStress* stress);
/// Elastic forces and moments inside shells, (n_tet), written to the caller's array; zeros in
/// elements of other bodies. Damping is not among them. Fails with NOLI_ERROR_MEMORY.
/// docs/background/shells.md
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_sheet_forces(NoliSim* sim, NoliSheetForces* forces);
/// Elastic forces and moments inside rods, (n_tet), written to the caller's array; zeros in
/// elements of other bodies. Damping is not among them. Fails with NOLI_ERROR_MEMORY.
/// docs/background/rods.md
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_rod_forces(NoliSim* sim, NoliRodForces* forces);

/// Entity pairs in contact after the last step; the array is owned by the simulation and valid
/// until the next step.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_pair_forces(NoliSim* sim, const NoliPairForce** pairs,
                                                          int32_t* n_pairs);

/// A region of NoliSimDef.volumes at the present state. Never changes its size.
typedef struct NoliRegionVolume {
  int32_t body;
  double rest_volume; ///< m^3
  double volume;      ///< m^3
  double pressure;    ///< Pa, above the pressure outside
  double energy;      ///< J, 0 at rest
  double reserved[2];
} NoliRegionVolume;

/// All regions, in the order of the definition; the array is owned by the simulation and valid
/// until the next call.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_volumes(NoliSim* sim,
                                                      const NoliRegionVolume** volumes,
                                                      int32_t* n_volumes);

/// Springs of a definition at the present state. Never changes its size.
typedef struct NoliSpringForce {
  int32_t body;
  int32_t to;      ///< NOLI_NULL_INDEX: the ground
  int32_t n;       ///< springs
  double force[3]; ///< N, of springs and dampers on `body`
  double length;   ///< m, mean distance of the ends
  double energy;   ///< J
  double reserved[2];
} NoliSpringForce;

/// All springs, in the order of the definition; the array is owned by the simulation and valid
/// until the next call. Names: noli_sim_spring_name (noli/live.h).
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_springs(NoliSim* sim, const NoliSpringForce** springs,
                                                      int32_t* n_springs);
/// Forces of springs and dampers on vertices, N, (n_vert x 3), written to the caller's array.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_spring_forces(NoliSim* sim, double* force);

/// Most coordinates of a joint: its turn, rad, or else its travel, m; and its travel where it
/// turns.
#define NOLI_JOINT_COORDINATES_MAX 2

/// A joint at the present state. Efforts are those in its coordinates, N m or N, on `body`, at the
/// end of the last step; force and torque are all that it exerts on `body`, efforts included, 0
/// before a step. Never changes its size. docs/background/rigid.md
typedef struct NoliJointState {
  int32_t body;
  int32_t to;           ///< NOLI_NULL_INDEX: the world
  int32_t n;            ///< coordinates
  double coordinate[2]; ///< rad or m, 0 at the start of the scene, over full turns
  double speed[2];      ///< rad/s or m/s
  double motor[2];      ///< effort of the motor
  double limit[2];      ///< of limits
  double spring[2];     ///< of the spring
  double damper[2];     ///< of the damper
  double friction[2];   ///< of dry friction
  double at[3];         ///< m, the point of `body`
  double force[3];      ///< N, at that point
  double torque[3];     ///< N m, about that point
  double reserved[4];
} NoliJointState;

/// All joints, in the order of the definition; the array is owned by the simulation and valid until
/// the next call. Where joints form loops that leave forces undetermined, those are the smallest
/// that balance. Names: noli_sim_joint_name (noli/live.h). Fails with NOLI_ERROR_MEMORY.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_joints(NoliSim* sim, const NoliJointState** joints,
                                                     int32_t* n_joints);

/// A probe of a run: a quantity at some vertices of a body, reduced to one value for each of its
/// components, a row for each step. Members that are 0 have their defaults. Never changes its size.
typedef struct NoliProbeDef {
  const char* name;      ///< of its columns; without comma, quotation mark and line break
  const char* quantity;  ///< such as "position": NOLI_CHOICE_PROBE_QUANTITY; must be set
  const char* reduction; ///< "mean", "sum", "min" or "max"; NULL: "sum" of forces, else "mean"
  const int32_t* node;   ///< (n_node) vertex indices within the body; borrowed; NULL: all vertices
  int32_t n_node;
  int32_t body;
  void* reserved[2]; ///< NULL
} NoliProbeDef;

/// Overwrites positions and velocities, (n_node x 3), for example to start from another state.
/// Vertices of proxies follow, and the integrator discards earlier states. Motions that have ended
/// by position stay ended, materials keep what they have relaxed and yielded
/// (docs/reference/materials.md), and contacts that stick begin without a slip. Fails with
/// NOLI_ERROR_INTERSECTION or NOLI_INVERTED_ELEMENT and changes nothing.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_set_state(NoliSim* sim, const double* x,
                                                        const double* v);

/// Types of the items of a state field.
typedef enum NoliFieldType { NOLI_FIELD_DOUBLE, NOLI_FIELD_INT64 } NoliFieldType;

/// One array of the state, for checkpoints: all that must be saved, in a fixed order.
typedef struct NoliStateField {
  const char* name;
  void* data; ///< owned by the simulation
  int64_t count;
  NoliFieldType type;
} NoliStateField;

/// noli_sim_state_field for a struct of `size` bytes.
NOLI_API bool noli_sim_state_field_sized(NoliSim* sim, int32_t index, NoliStateField* field,
                                         size_t size);

/// The `index`-th field of the state, not counting empty ones. Returns false past the last one.
static inline bool noli_sim_state_field(NoliSim* sim, int32_t index, NoliStateField* field) {
  return noli_sim_state_field_sized(sim, index, field, sizeof *field);
}

/// Number of constraints that the state holds: those of the active set that the solver
/// "augmented_lagrangian" keeps from step to step, in the fields "constraint" and "multiplier".
NOLI_API int64_t noli_sim_constraint_count(const NoliSim* sim);

/// Makes the two fields hold `count` constraints; new ones must be written before the next step,
/// which fails with NOLI_ERROR_ARGUMENT where they name primitives that do not exist.
/// Fails with NOLI_ERROR_MEMORY and changes nothing.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_set_constraint_count(NoliSim* sim, int64_t count);

/// Number of contacts whose elastic slips the state holds, in the fields "slip_key" and "slip";
/// 0 unless contacts stick.
NOLI_API int64_t noli_sim_slip_count(const NoliSim* sim);

/// Makes the two fields hold `count` contacts; all must be written before the next step, which
/// fails with NOLI_ERROR_ARGUMENT where they are not those of a state. Fails with NOLI_ERROR_MEMORY
/// and changes nothing.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_set_slip_count(NoliSim* sim, int64_t count);

/// A hash of every bit of the state.
NOLI_API uint64_t noli_sim_state_hash(const NoliSim* sim);

/// Name of the first field of the state in which two simulations differ by a bit, or NULL where
/// they are in the same state.
NOLI_API const char* noli_sim_state_difference(const NoliSim* one, const NoliSim* other);

/// Copies the state of `from` to a simulation made from the same definition: both continue with
/// identical bits. Fails with NOLI_ERROR_ARGUMENT where the states do not have the same sizes,
/// or with NOLI_ERROR_MEMORY; then `sim` is as it was.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_copy_state(NoliSim* sim, const NoliSim* from);

#ifdef __cplusplus
}
#endif
