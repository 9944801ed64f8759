/// @file live.h
/// Live stepping: data that a host reads and changes between two steps, instead of a scene that is
/// fixed beforehand. docs/howto/live.md is an introduction.
///
/// A simulation owns a copy of its definition. The functions below change both, so that
/// noli_sim_clone and noli_sim_reset include the changes. Checkpoints and saved states do not: they
/// contain positions, velocities and other data of one time. Call all functions from the thread
/// that uses the context of the simulation, between steps, or in the progress function where its
/// comment allows it. SI units throughout.
#pragma once

#include "noli/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- control ------------------------------------------------------------------------------------

/// Number of motions of the definition.
NOLI_API int32_t noli_sim_motion_count(const NoliSim* sim);
/// Number of forces of the definition.
NOLI_API int32_t noli_sim_force_count(const NoliSim* sim);
/// Number of entities: bodies, then half-spaces.
NOLI_API int32_t noli_sim_entity_count(const NoliSim* sim);
/// Index of the motion with that name, or NOLI_NULL_INDEX if none has it.
NOLI_API int32_t noli_sim_find_motion(const NoliSim* sim, const char* name);
/// Index of the force with that name, or NOLI_NULL_INDEX if none has it.
NOLI_API int32_t noli_sim_find_force(const NoliSim* sim, const char* name);
/// Index of the entity with that name, or NOLI_NULL_INDEX if none has it.
NOLI_API int32_t noli_sim_find_entity(const NoliSim* sim, const char* name);
/// Name of a motion ("motion 0" and so on where the definition has none), owned by the simulation.
NOLI_API const char* noli_sim_motion_name(const NoliSim* sim, int32_t motion);
/// Name of a force ("force 0" and so on where the definition has none), owned by the simulation.
NOLI_API const char* noli_sim_force_name(const NoliSim* sim, int32_t force);

/// Number of springs of the definition.
NOLI_API int32_t noli_sim_spring_count(const NoliSim* sim);
/// Name of a spring -> index, or NOLI_NULL_INDEX if none has that name.
NOLI_API int32_t noli_sim_find_spring(const NoliSim* sim, const char* name);
/// Name of a spring ("spring 0" and so on where the definition has none), owned by the simulation.
NOLI_API const char* noli_sim_spring_name(const NoliSim* sim, int32_t spring);

/// Number of joints of the definition.
NOLI_API int32_t noli_sim_joint_count(const NoliSim* sim);
/// Name of a joint -> index, or NOLI_NULL_INDEX if none has that name.
NOLI_API int32_t noli_sim_find_joint(const NoliSim* sim, const char* name);
/// Name of a joint ("joint 0" and so on where the definition has none), owned by the simulation.
NOLI_API const char* noli_sim_joint_name(const NoliSim* sim, int32_t joint);

/// Sets the target of the motor in a coordinate of a joint for the next steps, in place of that of
/// the definition: an effort, a place or a speed (NoliCoordinateDef.motor); NaN: that of the
/// definition again. Saved with the state; noli_sim_reset forgets it. Fails with
/// NOLI_ERROR_ARGUMENT where there is no such joint, coordinate or motor, or the target is
/// infinite.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_set_joint_target(NoliSim* sim, int32_t joint,
                                                               int32_t coordinate, double target);
/// The target of a motor at the present time; NaN where there is none.
NOLI_API double noli_sim_joint_target(const NoliSim* sim, int32_t joint, int32_t coordinate);

/// Vertices of a motion within its body, (n_node), owned by the simulation.
NOLI_API const int32_t* noli_sim_motion_nodes(const NoliSim* sim, int32_t motion, int32_t* n_node);

/// Targets of a motion with `controlled`: (n_node x 3), m, in the order of noli_sim_motion_nodes,
/// owned by the simulation, which begins with the initial positions. The caller overwrites them
/// between steps; the vertices move along straight lines from where they are and arrive at the end
/// of the next step, or as far as contact allows: then they go on towards their targets in the
/// next one. NULL for other motions.
NOLI_API double* noli_sim_motion_targets(NoliSim* sim, int32_t motion, int32_t* n_node);

/// A position and an orientation. Never changes its size.
typedef struct NoliPose {
  double position[3];   ///< m
  double quaternion[4]; ///< w, x, y, z; of any length > 0
} NoliPose;

/// Sets the targets of a controlled motion to the rest positions X of its vertices, moved as a
/// rigid body: R X + position. Clamped sections of rods with twist turn with R, by less than half a
/// turn in a step, until the caller writes other targets, which do not turn them. Fails with
/// NOLI_ERROR_ARGUMENT where the motion is not controlled or the pose is not finite or has a
/// quaternion of length 0.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_set_pose(NoliSim* sim, int32_t motion,
                                                       const NoliPose* pose);

/// Values of a force with `controlled`: (n_node x 3), in the unit of its kind, owned by the
/// simulation, which begins with zeros. The caller overwrites them between steps. NULL for others.
/// `node` (may be NULL) receives the vertices within the body, (n_node).
NOLI_API double* noli_sim_force_values(NoliSim* sim, int32_t force, const int32_t** node,
                                       int32_t* n_node);

// ---- parameters ---------------------------------------------------------------------------------

/// Gravity, m/s^2.
NOLI_API void noli_sim_gravity(const NoliSim* sim, double gravity[3]);
/// Gravity of the following steps, m/s^2. Fails with NOLI_ERROR_ARGUMENT.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_set_gravity(NoliSim* sim, const double gravity[3]);

/// Length of the following steps, s, > 0. Time goes on from where it is. Fails with
/// NOLI_ERROR_ARGUMENT.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_set_time_step(NoliSim* sim, double time_step);
/// Length of a step, s.
NOLI_API double noli_sim_time_step(const NoliSim* sim);

/// Sets the simulated time, s; positions, velocities and the number of steps stay. Fails with
/// NOLI_ERROR_ARGUMENT.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_set_time(NoliSim* sim, double time);

/// Contact, friction and contact distance (in m) of a pair of entities, with the values of
/// NoliSimDef where no pair overrides them. `pair` was made by noli_default_pair_def. Fails with
/// NOLI_ERROR_ARGUMENT.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_pair(const NoliSim* sim, int32_t a, int32_t b,
                                                   NoliPairDef* pair);
/// Contact, friction and distance of a pair of entities, by number or name, from now on, as in
/// NoliSimDef.pairs. Fails with NOLI_ERROR_ARGUMENT, with NOLI_ERROR_INTERSECTION where contact is
/// switched on between surfaces that intersect or touch, NOLI_ERROR_MEMORY; then nothing has
/// changed.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_set_pair(NoliSim* sim, const NoliPairDef* pair);

/// Material of a body, of part `part` of it, or of all but its parts (NOLI_NULL_INDEX). Its Prony
/// series is valid until a material, a pair or the bodies change. Where a field gives a property of
/// each element (NoliMaterialFields), this is the number in its place. Fails with
/// NOLI_ERROR_ARGUMENT.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_material(const NoliSim* sim, int32_t body,
                                                       int32_t part, NoliMaterialDef* material);
/// Material of a body from now on; of part `part` of it, or of all but its parts (NOLI_NULL_INDEX).
/// Momentum is not conserved where the density changes, because velocities stay. Fields stay too,
/// and a number in whose place a field counts cannot be changed. Histories stay, so the number of
/// terms of a Prony series and whether there is a yield stress cannot be changed either. Costs as
/// much as making the simulation. Fails with NOLI_ERROR_ARGUMENT, NOLI_ERROR_MEMORY; then nothing
/// has changed.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_set_material(NoliSim* sim, int32_t body, int32_t part,
                                                           const NoliMaterialDef* material);

// ---- states -------------------------------------------------------------------------------------

/// Returns to the state in which the simulation was made: time, steps, positions, velocities, and
/// targets and values of controlled motions and forces. Parameters keep their values. Fails with
/// NOLI_ERROR_INTERSECTION where a body that was added later is in the way; then nothing has
/// changed.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_reset(NoliSim* sim);

/// A second simulation in the same state, which continues with identical bits, in `context`, that
/// of `sim` or another one, which another thread may serve afterwards. Callbacks and their `user`
/// pointers are shared. Costs as much as making the simulation. Fails with NOLI_ERROR_MEMORY.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_clone(const NoliSim* sim, NoliContext* context,
                                                    NoliSim** clone);

/// Bytes of a saved state.
NOLI_API size_t noli_sim_state_bytes(const NoliSim* sim);
/// Saves the state to memory: `size` bytes at `buffer`, at least noli_sim_state_bytes. Fails with
/// NOLI_ERROR_ARGUMENT where there is too little room.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_save_state(const NoliSim* sim, void* buffer,
                                                         size_t size);
/// Restores a state that this simulation or one of the same bodies has saved, of the same version
/// of the library: it continues with identical bits. Fails with NOLI_ERROR_FORMAT where the bytes
/// are damaged or belong to another model, NOLI_ERROR_MEMORY; then nothing has changed.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_load_state(NoliSim* sim, const void* buffer,
                                                         size_t size);

// ---- bodies -------------------------------------------------------------------------------------

/// Adds a body behind the others, where `body->x0` or its rest shape is. Half-spaces are numbered
/// after bodies: their entities increase by one. Lengths and speeds that were relative to the
/// size of the scene keep their values. Arrays of the simulation that were read before are no
/// longer valid. Costs as much as making the simulation. Fails with NOLI_ERROR_INTERSECTION,
/// NOLI_INVERTED_ELEMENT, NOLI_ERROR_ARGUMENT, with messages that name the bodies, or with
/// NOLI_ERROR_MEMORY; then nothing has changed.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_add_body(NoliSim* sim, const NoliBodyDef* body,
                                                       int32_t* index);
/// Removes a body with its motions, forces, pairs, ties, springs and volumes; later ones of each
/// are renumbered. Otherwise as noli_sim_add_body. The last body that deforms cannot be removed.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_remove_body(NoliSim* sim, int32_t body);

// ---- progress -----------------------------------------------------------------------------------

/// Called after every Newton iteration of a step, in the thread that called noli_sim_step. May read
/// names and counts of the simulation, and nothing else of it. Returning false ends the step with
/// NOLI_CANCELLED, and the simulation is as it was before the step.
///
/// This holds for every function that a simulation calls, also targets and values of forces:
/// functions that change or step it, and those that read results, refuse with NOLI_ERROR_ARGUMENT.
/// Objectives (noli/derivative.h) may read results. A log function may not call these functions for
/// any simulation of its context.
typedef bool NoliProgressFn(void* user, const NoliSim* sim, const NoliNewtonStat* iteration);

/// Sets the progress function, NULL for none. `user` is passed to it.
NOLI_API void noli_sim_set_progress(NoliSim* sim, NoliProgressFn* progress, void* user);

// ---- results ------------------------------------------------------------------------------------

/// Energies of the present state, J.
typedef struct NoliEnergies {
  double kinetic;
  double elastic; ///< of elements and springs
  double gravity; ///< 0 at the origin
  double volume;  ///< of regions that resist a change of volume
  double contact; ///< of the barrier or penalty in the last step; 0 before the first
} NoliEnergies;

/// noli_sim_energies for a struct of `size` bytes.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_energies_sized(NoliSim* sim, NoliEnergies* energies,
                                                             size_t size);
/// The energies, without a step. Fails with NOLI_ERROR_MEMORY.
static inline NOLI_WARN_UNUSED NoliStatus noli_sim_energies(NoliSim* sim, NoliEnergies* energies) {
  return noli_sim_energies_sized(sim, energies, sizeof *energies);
}

/// Energies of each body at the present state, J, (n_bodies) each; NULL: not wanted. Those of
/// obstacles are 0. Sums over the bodies are those of NoliEnergies without springs, which belong to
/// no body and have theirs from noli_sim_springs. Fails with NOLI_ERROR_MEMORY.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_body_energies(NoliSim* sim, double* kinetic,
                                                            double* elastic, double* gravity);
/// Energies of each vertex at the present state, J, (n_vert) each; NULL: not wanted. All nodes of
/// an element have the same share of its energy, and both ends of a segment have half of the energy
/// of its angle. With elements of higher order, shares of kinetic energy may be negative. Fails
/// with NOLI_ERROR_MEMORY.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_nodal_energies(NoliSim* sim, double* kinetic,
                                                             double* elastic, double* gravity);

/// Inertia and motion of a body at the present state.
typedef struct NoliBodyState {
  double mass;                ///< kg; 0 of obstacles, as all that follows but the centre
  double rest_volume;         ///< m^3
  double centre[3];           ///< m, centre of mass; of the vertices of obstacles
  double velocity[3];         ///< m/s, of the centre of mass
  double momentum[3];         ///< kg m/s
  double inertia[9];          ///< kg m^2, about the centre, axes of the world, row by row
  double angular_momentum[3]; ///< kg m^2/s, about the centre
  double angular_velocity[3]; ///< rad/s, of the rigid motion with the same angular momentum
} NoliBodyState;

/// noli_sim_body_state for a struct of `size` bytes.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_body_state_sized(NoliSim* sim, int32_t body,
                                                               NoliBodyState* state, size_t size);
/// Reads a body. Sums over its nodes with their masses (noli_sim_masses). Fails with
/// NOLI_ERROR_ARGUMENT where there is no such body.
static inline NOLI_WARN_UNUSED NoliStatus noli_sim_body_state(NoliSim* sim, int32_t body,
                                                              NoliBodyState* state) {
  return noli_sim_body_state_sized(sim, body, state, sizeof *state);
}

/// Forces of contact on a body or half-space in the last step, and their moments.
typedef struct NoliWrench {
  double normal[3];          ///< N
  double friction[3];        ///< N
  double normal_moment[3];   ///< N m
  double friction_moment[3]; ///< N m
} NoliWrench;

/// noli_sim_wrench for a struct of `size` bytes.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_wrench_sized(NoliSim* sim, int32_t entity,
                                                           const double origin[3],
                                                           NoliWrench* wrench, size_t size);
/// Reads the wrench of a body, obstacle or half-space (noli_sim_find_entity) about `origin` (m;
/// NULL: its centre of mass; that of vertices of obstacles, the origin of half-spaces). Fails with
/// NOLI_ERROR_ARGUMENT, NOLI_ERROR_MEMORY.
static inline NOLI_WARN_UNUSED NoliStatus noli_sim_wrench(NoliSim* sim, int32_t entity,
                                                          const double origin[3],
                                                          NoliWrench* wrench) {
  return noli_sim_wrench_sized(sim, entity, origin, wrench, sizeof *wrench);
}

/// Forces that hold or move prescribed vertices in the last step, N, (n_vert x 3): they
/// complete the balance of inertia, elasticity, loads and contact there; 0 elsewhere, in components
/// that are not prescribed, and before the first step. Vertices of obstacles have no inertia:
/// theirs are opposite to contact. Nodes that are angles of rods have moments over the radius of
/// the rod in x. With integrators of order 2 the forces are those of the last stage. Fails with
/// NOLI_ERROR_MEMORY.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_reaction_forces(NoliSim* sim, double* force);

/// The total reaction to a motion.
typedef struct NoliReaction {
  double force[3];  ///< N
  double moment[3]; ///< N m
} NoliReaction;

/// noli_sim_reaction for a struct of `size` bytes.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_reaction_sized(NoliSim* sim, int32_t motion,
                                                             const double origin[3],
                                                             NoliReaction* reaction, size_t size);
/// The sum of the reaction forces on the vertices of a motion, and their moment about `origin` (m;
/// NULL: the centre of mass of the body), with the moments that hold sections of rods with twist.
/// Fails with NOLI_ERROR_ARGUMENT, NOLI_ERROR_MEMORY.
static inline NOLI_WARN_UNUSED NoliStatus noli_sim_reaction(NoliSim* sim, int32_t motion,
                                                            const double origin[3],
                                                            NoliReaction* reaction) {
  return noli_sim_reaction_sized(sim, motion, origin, reaction, sizeof *reaction);
}

/// All contacts of the last step, by entities and vertices; the array is owned by the simulation
/// and valid until the next call or step. In bodies with a collision proxy vertices are those of
/// the proxy. Sums over the contacts of a pair are those of noli_sim_pair_forces. Fails with
/// NOLI_ERROR_MEMORY.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_contacts(NoliSim* sim,
                                                       const NoliContactInfo** contacts,
                                                       int64_t* n_contacts);

/// Contact pressure, Pa, and the smallest gap, m, of the contacts of each vertex in the last step,
/// (n_vert) each: the normal force on a vertex over the area around it that faces the force. The
/// pressure is 0 and the gap INFINITY where there is no contact; rods and points have no area, and
/// no pressure. Friction is not part of it. Fails with NOLI_ERROR_MEMORY.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_contact_pressures(NoliSim* sim, double* pressure,
                                                                double* gap);

/// How the contacts of each vertex stick in the last step, (n_vert) each: how far the one that has
/// slid most has slid in all, m, and NOLI_STICKING_SLIDING where one slid, NOLI_STICKING_HELD where
/// all hold. 0 and NOLI_STICKING_NONE where no contact sticks. Fails with NOLI_ERROR_MEMORY.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_contact_slips(NoliSim* sim, double* slid,
                                                            int32_t* sticking);

// ---- queries ------------------------------------------------------------------------------------

/// A point on a surface. Never changes its size.
typedef struct NoliSurfacePoint {
  int32_t entity;     ///< body or half-space; NOLI_NULL_INDEX: nothing was found
  int32_t n_vert;     ///< of the primitive: 3 triangle, 2 segment, 1 point, 0 half-space
  int32_t vertex[3];  ///< global
  double weight[3];   ///< the point is the sum of weight times vertex
  double position[3]; ///< m
  double normal[3];   ///< unit, of the triangle or half-space; 0 of segments and points
  double distance;    ///< m, from the origin of the ray or the given point
  double reserved[4];
} NoliSurfacePoint;

/// The first point of triangles and half-spaces that the ray meets within `length` (m; may be
/// INFINITY), from both sides. `direction` has any length > 0. Of equally near ones the first.
/// The first query after a step builds a tree. Fails with NOLI_ERROR_ARGUMENT, NOLI_ERROR_MEMORY.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_cast_ray(NoliSim* sim, const double origin[3],
                                                       const double direction[3], double length,
                                                       NoliSurfacePoint* hit);
/// The point of triangles, segments, points and half-spaces nearest to `position` within
/// `max_distance` (m; may be INFINITY). Of equally near ones the first. The first query after a
/// step builds a tree. Fails with NOLI_ERROR_ARGUMENT, NOLI_ERROR_MEMORY.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_closest_point(NoliSim* sim, const double position[3],
                                                            double max_distance,
                                                            NoliSurfacePoint* closest);

// ---- modes --------------------------------------------------------------------------------------

/// The `n` modes of vibration with the lowest frequencies about the present state: K phi = omega^2
/// M phi, with the stiffness K of elasticity, springs, closed volumes and pressures and the masses
/// M of the simulator. Prescribed components are held, ties hold; contact, friction and damping are
/// left out. `frequency` (n): omega / (2 pi), Hz, ascending; exactly 0 where the stiffness of the
/// mode is lost in rounding, such as in the six rigid motions of a free body at rest; -|omega| / (2
/// pi) where omega^2 < 0: without contact the state is unstable, or not in equilibrium. `shape` (n
/// x nodes x 3; may be NULL), 1/sqrt(kg): phi . M phi = 1, the largest component is positive, nodes
/// as in noli_sim_positions. The simulation does not change: its next step has the same bits. So
/// have the modes with any number of threads. Fails with NOLI_ERROR_ARGUMENT where nothing can move
/// or n exceeds the number of free components, NOLI_NOT_CONVERGED, NOLI_NOT_POSITIVE_DEFINITE,
/// NOLI_NOT_FINITE, NOLI_ERROR_TOO_LARGE, NOLI_ERROR_MEMORY.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_modes(NoliSim* sim, int32_t n, double* frequency,
                                                    double* shape);

#ifdef __cplusplus
}
#endif
