/// @file sim.h
/// The simulator: definitions (plain data, defaults first), a simulation, its step and its results.
///
/// Symbols: X rest, x current, h time step, l the diagonal of the bounding box of all simulated
/// bodies at rest. SI units throughout.
#pragma once

#include "noli/ccd.h"
#include "noli/mesh.h"
#include "noli/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A number that is either absolute (in the unit of its field) or a multiple of l.
typedef struct NoliScaled {
  double value;
  bool relative; ///< true: multiplied by l
} NoliScaled;

/// Where the triangles of a body come from that contact sees.
typedef enum NoliProxyKind {
  NOLI_PROXY_AUTOMATIC,   ///< the boundary; of curved or high-order bodies as below, with n the
                          ///< larger of the two orders
  NOLI_PROXY_SUBDIVISION, ///< the boundary, every face cut into n^2 triangles on its curved shape
  NOLI_PROXY_EDGE_LENGTH, ///< likewise, n so that no edge is longer than a length
  NOLI_PROXY_MESH,        ///< the triangles of a mesh that the elements carry with them
} NoliProxyKind;

/// The surface with which a body collides, [Ferguson2023]: flat triangles whose vertices move with
/// the nodes of the elements, docs/high-order.md.
typedef struct NoliProxyDef {
  NoliProxyKind kind;
  int32_t subdivision;  ///< n >= 1
  double edge_length;   ///< m, > 0
  const NoliMesh* mesh; ///< borrowed until noli_sim_create returns; in world coordinates
  /// How far vertices of a mesh may lie from the body, m, and how far its elements are extrapolated
  /// for them (what a barycentric coordinate may lie below 0); beyond, an error names the vertex.
  /// 0 (default): a twentieth of the diagonal of the body, and 0.5
  double max_distance;
  double max_extrapolation;
  /// One density for each tetrahedron instead of that of the material, such that the body has the
  /// mass and the centre of mass of the region that the triangles enclose, section 5.3
  bool balance;
} NoliProxyDef;

/// How often lagged friction is solved for in a step, in place of a number.
typedef enum NoliFrictionIterations {
  /// Again while the friction of some body is off by more than 5 % because its normal forces have
  /// changed, at most ten times: in steps in which contacts appear, end or bounce
  NOLI_FRICTION_AUTOMATIC = 0,
  /// Again until new normal forces move nothing by more than the tolerance and change the friction
  /// of no body by more than 0.1 %, at most a hundred times, or until ten in a row have not brought
  /// that change down
  NOLI_FRICTION_UNTIL_CONVERGENCE = -1
} NoliFrictionIterations;

/// Elements of a body that are of another material.
typedef struct NoliPartDef {
  const int32_t* element; ///< (n_element) tetrahedra of the mesh, in plane strain triangles;
                          ///< borrowed until noli_sim_create returns
  int32_t n_element;
  NoliMaterialDef material; ///< `mass_damping` is that of the body and ignored here
} NoliPartDef;

/// One body: a tetrahedral mesh that deforms, a mesh of triangles that deforms in plane strain, or
/// an obstacle of triangles, segments and points (any mixture; no inside needed) whose vertices are
/// all prescribed.
typedef struct NoliBodyDef {
  const char* name;           ///< borrowed until noli_sim_create returns
  const NoliMesh* mesh;       ///< rest shape in world coordinates, borrowed likewise
  const double* x0;           ///< (n_vert x 3) initial positions; NULL: the rest shape. Further
                              ///< nodes of elements move as the straight tetrahedra do
  int32_t order;              ///< of the elements, 1 (default) to 4
  NoliProxyDef proxy;         ///< default: NOLI_PROXY_AUTOMATIC; not for obstacles
  NoliMaterialDef material;   ///< ignored for obstacles
  double velocity[3];         ///< initial, m/s
  double angular_velocity[3]; ///< initial, rad/s, about the centre of mass
  bool obstacle;              ///< true: never deforms by itself
  bool self_contact;          ///< default true
  /// m; 0 (default): a body in space. Thickness of a body in plane strain, that is of a section of
  /// a long body: a mesh of triangles in a plane z = const, the same one for all such bodies, in
  /// which everything about them happens. Contact is between their boundaries, half-spaces with
  /// normals in the plane, and obstacles of segments in it; an obstacle may be a mesh of triangles
  /// with a thickness, too, of which the boundary counts. docs/plane_strain.md
  double plane_strain;
  NoliShellDef shell; ///< default: none. The mesh has triangles then
  const NoliPartDef* parts; ///< (n_parts) borrowed likewise; NULL (default): all of `material`.
                            ///< Where several have an element, the last one counts. Not for
                            ///< obstacles, and not where a proxy is balanced
  int32_t n_parts;
} NoliBodyDef;

/// The defaults named above, called "body"; a mesh is to be set.
NOLI_API NoliBodyDef noli_default_body_def(void);

/// The region {x : normal . (x - origin) < 0} is forbidden to all bodies.
typedef struct NoliHalfSpaceDef {
  const char* name;
  double origin[3];
  double normal[3]; ///< any length > 0
} NoliHalfSpaceDef;

/// Where prescribed nodes shall be at the end of a step.
/// `node` (n_node) are vertex indices of the body, `X` (n_node x 3) their rest positions, `x_t0`
/// (n_node x 3) where they are at `t0`; writes `x_t1` (n_node x 3) for `t1`.
/// Must be a pure function of its arguments, so that a step can be repeated.
typedef void NoliMotionFn(void* user, double t0, double t1, int32_t n_node, const int32_t* node,
                          const double* X, const double* x_t0, double* x_t1);

/// Prescribed motion of some vertices of a body. Outside [t_begin, t_end), and once it has ended by
/// position, the vertices are free (an obstacle's vertices stand still). Where several name a
/// vertex, the last one that acts wins for each component that it prescribes.
typedef struct NoliMotionDef {
  int32_t body;
  const int32_t* node; ///< (n_node) vertex indices within the body; borrowed; NULL: all vertices
  int32_t n_node;
  double t_begin;       ///< s; compared with the time at the START of a step
  double t_end;         ///< s; INFINITY: for ever
  NoliMotionFn* target; ///< NULL: the vertices are held where they are
  void* user;           ///< must outlive the simulation
  /// true: this component of the vertices is not prescribed, and what `target` says about it is
  /// ignored; default false. Not all three, and not for obstacles
  bool free_axis[3];
  /// true: the motion also ends, for good, with the first step in [t_begin, t_end) whose start
  /// finds all vertices of the body where end_normal . (x - end_origin) >= 0; default false
  bool ends_beyond;
  double end_origin[3]; ///< m
  double end_normal[3]; ///< any length > 0
} NoliMotionDef;

/// Holds all vertices of body 0 for ever.
NOLI_API NoliMotionDef noli_default_motion_def(void);

/// A force field at time t and rest position X.
typedef void NoliForceFn(void* user, double t, const double X[3], double value[3]);

typedef enum NoliForceKind {
  NOLI_FORCE_ACCELERATION, ///< m/s^2, times the mass of each vertex
  NOLI_FORCE_NODAL,        ///< N on each vertex
  NOLI_FORCE_TOTAL,        ///< N, shared among the vertices in proportion to mass
} NoliForceKind;

/// A load on some vertices of a body.
typedef struct NoliForceDef {
  int32_t body;
  const int32_t* node; ///< (n_node); borrowed; NULL: all vertices of the body
  int32_t n_node;
  NoliForceKind kind;
  double t_begin; ///< s; acts in steps that END in (t_begin, t_end]
  double t_end;
  NoliForceFn* value;
  void* user; ///< must outlive the simulation
} NoliForceDef;

/// Contact between two entities. Entities are numbered: bodies first, then half-spaces.
/// `a == b` is self-contact of a body.
typedef struct NoliPairDef {
  int32_t a;
  int32_t b;
  bool contact;    ///< false: the pair passes through each other
  double friction; ///< coefficient of (dynamic) friction, >= 0
  /// Coefficient that has to be overcome before sliding, >= friction; 0 (default): as `friction`.
  /// From there the coefficient falls to `friction` at the Stribeck speed
  /// ([Larionov2024] eq. 8, see docs/friction_laws.md).
  double static_friction;
  NoliScaled stribeck_speed; ///< v_s, m/s, above eps_v; {0} (default): as NoliSimDef has it
  double viscosity; ///< s/m, >= 0: adds viscosity times speed to the coefficient; default 0
} NoliPairDef;

/// Which closed surface encloses a region.
typedef enum NoliRegion {
  NOLI_REGION_BODY,      ///< all of the boundary: the volume of the material
  NOLI_REGION_OUTSIDE,   ///< the outer part of the boundary: material and what it encloses
  NOLI_REGION_CAVITY,    ///< the inner part of the boundary: what is enclosed
  NOLI_REGION_COMPONENT, ///< part `index` of the boundary, from 0 in the order of first triangles
  NOLI_REGION_TAG,       ///< the tetrahedra with tag `index`
  NOLI_REGION_TRIANGLES, ///< the triangles `tri`, which look outward
} NoliRegion;

/// A region of a body that resists a change of its volume.
typedef struct NoliVolumeDef {
  int32_t body; ///< no obstacle
  NoliRegion region;
  int32_t index;      ///< of a part of the boundary, or a tag
  const int32_t* tri; ///< (n_tri x 3) vertices of the body; borrowed
  int32_t n_tri;
  NoliVolumeModel model; ///< default NOLI_VOLUME_IDEAL_GAS
  double compression;    ///< kappa_v, 1/Pa: relative loss of volume per pressure at rest, > 0;
                         ///< 0 (default), only for the gas: 1 / (NOLI_ATMOSPHERE + pressure)
  double pressure;       ///< Pa, above the pressure outside, at the volume of the rest shape;
                         ///< default 0
  const char* where;     ///< how messages begin that are about it, such as with a place in a file;
                         ///< NULL (default): with its number and body
} NoliVolumeDef;

/// The defaults named above: the air in the cavity of body 0.
NOLI_API NoliVolumeDef noli_default_volume_def(void);

/// What only the augmented Lagrangian solver has; the defaults suit every scene that is known.
typedef struct NoliAugmentedLagrangianDef {
  double stiffness_ratio; ///< penalty stiffness of a constraint over the stiffness of what it
                          ///< pushes, from the diagonal of the Hessian, > 0; default 10. (That of
                          ///< [Zheng2025] eq. 20 is 0.1 and for systems without factorization.)
  double decay;           ///< Gamma in [0, 1]: factor of inactive constraints in each iteration;
                          ///< default 0.9
  bool filter;      ///< add only pairs that are the earliest new impact of a vertex; default true
  bool multipliers; ///< default true; false: a pure penalty, for comparison only
} NoliAugmentedLagrangianDef;

/// What only the solver "implicit_newton" has.
typedef struct NoliImplicitNewtonDef {
  const char* linear; ///< how its nonsymmetric systems are solved: "umfpack" (LU factorization),
                      ///< "bicgstab" (inexact Newton, with incomplete LU factorization),
                      ///< "matrix_free" (as bicgstab, with products from the stencils alone and
                      ///< diagonal blocks), "automatic" (default): umfpack for small systems,
                      ///< bicgstab for large ones, umfpack where that fails
} NoliImplicitNewtonDef;

/// Parameters of the contact model "gcp", as in NoliGcpDef of noli/gcp.h.
typedef struct NoliGeometricDef {
  NoliScaled eps_target; ///< m: nothing acts beyond, and nothing at rest within; may be many edges;
                         ///< value 0 (default): the contact distance
  double alpha;          ///< cosine within which a direction counts as a local minimum of distance,
                         ///< in (0, 1]; default 0.5
  double beta;           ///< the same for outside and inside, in (0, 1]; default 0.1
  NoliScaled length; ///< m, the width that sharp edges and corners count for; value 0 (default):
                     ///< that of the mesh
  bool act_at_rest;  ///< default false; true: eps_target everywhere, whatever pushes at the start,
                     ///< as in programs that do not adapt the support
} NoliGeometricDef;

/// What is tested while a simulation runs, by exact predicates and independently of contact and
/// collision detection: no edge may meet a triangle, no body be inside another one, no vertex be on
/// or below a half-space, no element be inverted. A step in which that happens fails with
/// NOLI_ERROR_AUDIT.
typedef enum NoliAudit {
  NOLI_AUDIT_OFF,
  NOLI_AUDIT_EVERY_STEP,      ///< the state at the end of every step
  NOLI_AUDIT_EVERY_ITERATION, ///< and every point that a solver moves to on the way
} NoliAudit;

/// Everything that makes a simulation. All pointers are borrowed until noli_sim_create returns,
/// except `user` pointers of callbacks, which must outlive the simulation.
typedef struct NoliSimDef {
  const NoliBodyDef* bodies;
  int32_t n_bodies;
  const NoliHalfSpaceDef* half_spaces;
  int32_t n_half_spaces;
  const NoliMotionDef* motions;
  int32_t n_motions;
  const NoliForceDef* forces;
  int32_t n_forces;
  const NoliPairDef* pairs; ///< exceptions from `contact` and `friction` below; later ones win
  int32_t n_pairs;

  const NoliVolumeDef* volumes;
  int32_t n_volumes;

  double gravity[3]; ///< m/s^2; default (0, -9.80665, 0)
  double time_step;  ///< h in s; default 0.01
  /// "backward_euler" (default; damps, order 1); of order 2 "bdf2" (damps less), "sdirk2" and
  /// "tr_bdf2" (damp little; two solves a step) and "trapezoidal" (keeps energy while bodies move
  /// by less than dhat in a step); "quasi_static": equilibrium at each time, without inertia,
  /// damping and velocities; and "trapezoidal_decoupled", which gains energy in contact, only to
  /// show that.
  const char* integrator;

  bool contact;                ///< default true; false: no contact at all
  const char* contact_model;   ///< "ipc" (default): a barrier, or the constraints of the augmented
                               ///< Lagrangian; "implicit_surface": a cubic penalty on vertices
                               ///< against smooth surfaces, [Larionov2024], which guarantees
                               ///< nothing: docs/contact.md; "gcp": the geometric contact potential
                               ///< [Huang2025], a barrier without forces at rest however far it
                               ///< reaches, for closed surfaces: docs/contact_potential.md. Open
                               ///< and codimensional obstacles keep the barrier of "ipc"
  NoliGeometricDef gcp;        ///< of the contact model "gcp"
  NoliScaled surface_radius;   ///< "implicit_surface": m, how far a surface is felt and smoothed,
                               ///< > 0; value 0 (default): from the edges of each body
  NoliScaled contact_distance; ///< dhat, m; contact acts below it; value 0 (default): 1e-3 l, or,
                               ///< where parts of one body that share no vertex are closer at rest
                               ///< (a thin body, a fine mesh), half of the smallest such gap, so
                               ///< that rest shapes carry no contact forces; docs/contact.md
  double barrier_stiffness;    ///< 0 (default): adaptive; else kappa in Pa/m: energy kappa b(d^2);
                               ///< with "implicit_surface" the kappa in N/m that it begins with;
                               ///< with "gcp" the kappa in J/m^2 that multiplies the potential
  NoliCcdMethod ccd;         ///< how steps are bounded; default NOLI_CCD_ADDITIVE, see docs/ccd.md
  double friction;           ///< coefficient where no pair says otherwise; default 0
  double static_friction;    ///< likewise, as in NoliPairDef; 0 (default): as `friction`
  NoliScaled stribeck_speed; ///< likewise; {0} (default): ten times friction_speed
  double viscosity;          ///< likewise; default 0
  NoliScaled friction_speed; ///< eps_v, m/s: slower sliding counts as sticking; default 1e-3 l
  const char* friction_method; ///< "lagged" (default): forces and sliding bases of a former point,
                               ///< friction_iterations times; "implicit": all of friction at the
                               ///< end of the step, needs the solver "implicit_newton"
  bool friction_basis_derivatives; ///< "implicit": the Jacobian knows how sliding bases change;
                                   ///< default true; false is cheaper and converges slower
  int32_t friction_iterations; ///< "lagged": solves per step, each with the normal forces found by
                               ///< the last one; > 0, or a NoliFrictionIterations; default
                               ///< NOLI_FRICTION_AUTOMATIC

  const char* solver;      ///< "projected_newton": barrier contact, [Li2020];
                           ///< "augmented_lagrangian": contact by an active set, [Zheng2025];
                           ///< "implicit_newton": barrier contact, exact Newton on the equations of
                           ///< motion, for forces without energy too, [Larionov2024]; NULL
                           ///< (default): the last with implicit friction, else the first
  const char* termination; ///< "residual" or "toi"; NULL (default): the solver's own, residual for
                           ///< the first, toi for the second, of which residual asks for both
  NoliScaled tolerance; ///< eps_d, m/s: residual: stop when max |Newton step| / h is below; 1e-2 l
  double toi_tolerance; ///< epsilon in (0, 1): toi: stop when the targets of the first iterations
                        ///< weigh less ([Zheng2025] eq. 9); default 1e-3
  int32_t min_iterations; ///< K_min: toi: iterations of a step at least; 0 (default): 2, where
                          ///< contacts rub 6
  int32_t max_iterations; ///< Newton iterations per nonlinear solve; default 1000
  int32_t max_substeps;   ///< a step that cannot be solved is divided into 2, 4, .. up to so many,
                          ///< the next one into half as many, and so on; 1: never; default 16
  /// "cholmod" (default), "dense", "pcg"; "auto" takes the first or the last, whichever is foreseen
  /// or found to be faster; "pcg_diagonal" and "pcg_incomplete" keep to one preconditioner, for
  /// comparison
  const char* linear_solver;
  double linear_tolerance; ///< of "pcg" and its kin, relative residual in (0, 1); default 1e-4
  NoliAugmentedLagrangianDef augmented_lagrangian;
  NoliImplicitNewtonDef implicit_newton;
  NoliAudit audit; ///< what is tested exactly while the simulation runs; NOLI_AUDIT_OFF
  uint32_t cookie; ///< set by noli_default_sim_def
} NoliSimDef;

/// The defaults named above, without bodies. No other way makes a valid definition.
NOLI_API NoliSimDef noli_default_sim_def(void);

typedef struct NoliSim NoliSim;

/// One Newton iteration.
typedef struct NoliNewtonStat {
  double energy_change;   ///< of the scaled incremental potential, J s^2
  double residual;        ///< max |gradient|
  double step_speed;      ///< max |Newton step| / h, m/s, before any cut
  double alpha_inversion; ///< bound that keeps elements positive, in [0, 1]
  double alpha_ccd;       ///< bound that keeps surfaces apart, in [0, 1]
  double alpha;           ///< the step taken
  double beta;            ///< weight of the early iterations ([Zheng2025] eq. 9); 1 while unused
  double mu;              ///< penalty stiffness of the augmented Lagrangian; 0 without
  double min_gap;         ///< m, smallest distance of a constraint; 0 without the active set
  int64_t contacts;       ///< active contacts; constraints of the active set
  int64_t active;         ///< constraints that push; 0 without the active set, likewise
  int64_t added;          ///< constraints added after the iteration
  int64_t removed;        ///< constraints that had decayed and were removed
  double penetration;     ///< m, deepest linearised penetration of a constraint in the target that
                          ///< the iteration found; 0 without, likewise
  double condition;       ///< estimate, from below, of the condition number of the linear system,
                          ///< preconditioned by its diagonal blocks; 0 where "pcg" did not solve it
  int32_t linear_iterations;
  int32_t lagging;  ///< friction lagging pass this iteration belongs to
  int32_t stage;    ///< stage of the integrator, from 0
  double merit;     ///< implicit_newton: |residual| over all unknowns before the iteration, kg m
  int32_t fallback; ///< implicit_newton: what gave the direction: 0 the exact Jacobian, 1 the one
                    ///< with projected Hessians, 2 a shifted one, 3 an iteration of projected
                    ///< Newton with lagged friction, for a better start
} NoliNewtonStat;

/// Where the time of a step went, s.
typedef struct NoliStepTiming {
  double assemble;
  double linear;
  double ccd;
  double contacts;
  double line_search;
  double other;
} NoliStepTiming;

/// What a step did. Energies in J, momentum in kg m/s.
typedef struct NoliStepReport {
  int64_t step; ///< number of steps done, this one included
  double time;  ///< s, at the end of the step
  double wall;  ///< s
  int32_t newton_iterations;
  int32_t laggings; ///< solves with friction forces of their own; over all stages of the step
  int64_t linear_iterations;
  int64_t contacts;     ///< active pairs at the end of the step
  int64_t contacts_max; ///< largest number over the iterations of the step
  double min_distance;  ///< m; INFINITY without contact; below 0: the depth of the deepest vertex,
                        ///< only with contact_model "implicit_surface"
  double kappa;         ///< stiffness of barrier or penalty, of the scaled potential
  int32_t stiffenings;  ///< how often "implicit_surface" contact was made stiffer and solved again
  double kinetic;
  double elastic;
  double gravity;
  double contact_energy;
  double friction_energy; ///< of lagged friction; implicit friction has none: see friction_loss
  double volume_energy; ///< of regions that resist a change of volume
  double damping_loss;  ///< energy that damping and mass_damping took away in this step, >= 0
  double friction_loss; ///< energy that friction took away in this step, of whatever method: its
                        ///< forces at the end of the step over the motion in the step
  double friction_ratio; ///< of lagged friction: largest friction of a body over what the law allows
                         ///< with the normal forces at the end of the step; more than 1: too much,
                         ///< infinite: it has friction, but no normal force any more
  double friction_error; ///< of lagged friction, in [0, 1]: largest share of the friction of a body
                         ///< that is too much or missing because the normal forces have changed
  double momentum[3];
  double max_speed;
  double motion_done;     ///< share of the prescribed motion that contact allowed, in [0, 1]
  double motion_error;    ///< m, largest distance of a prescribed vertex from its target
  const char* blocked_by; ///< what stopped the prescribed motion or the step; "" if nothing
  NoliStepTiming timing;
  int32_t fallbacks;            ///< iterations whose direction was not that of the exact Jacobian
  int32_t substeps;             ///< parts into which the step was divided, 1 as a rule
  int32_t retries;              ///< how often it was tried again: in more parts, or held
  const NoliNewtonStat* newton; ///< (newton_iterations), valid until the next step
  /// systems that the chosen iterative linear solver did not solve and a factorization did, and
  /// systems that rounding had made indefinite: the diagonal of what is in contact was enlarged
  int32_t linear_fallbacks;
} NoliStepReport;

/// Builds a simulation. Fails with NOLI_ERROR_ARGUMENT (a definition is invalid; the message names
/// it), NOLI_ERROR_INTERSECTION (surfaces intersect or touch, or a body lies inside another one:
/// use noli_sim_check for the list), NOLI_INVERTED_ELEMENT, NOLI_ERROR_MEMORY. Logs a warning where
/// contact acts before anything moves: within a rest shape, or between bodies that start closer than
/// the contact distance.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_create(NoliContext* context, const NoliSimDef* def,
                                                     NoliSim** sim);
/// Releases a simulation and sets the pointer to NULL. NULL is harmless.
NOLI_API void noli_sim_destroy(NoliSim** sim);

/// One initial defect: two primitives that intersect or touch, a surface inside a solid, or an
/// element that is inverted.
typedef struct NoliOffender {
  enum {
    NOLI_OFFENDER_INTERSECTION, ///< an edge and a triangle cross
    NOLI_OFFENDER_ZERO_GAP,     ///< two primitives touch
    NOLI_OFFENDER_HALF_SPACE,   ///< a vertex is on or below a half-space
    NOLI_OFFENDER_INVERTED,     ///< a tetrahedron has no positive volume
    /// contact_model "implicit_surface": a vertex is behind a surface. Not a defect: contact pushes
    /// it out, so none of the others but inversion is looked for
    NOLI_OFFENDER_PENETRATION,
    /// a part of a surface lies inside a solid body, or inside another part of its own body: its
    /// first vertex, and the solid without vertices. A cavity is outside, and so is the inside of
    /// an obstacle, which is a surface
    NOLI_OFFENDER_NESTED,
  } kind;
  int32_t entity[2];    ///< bodies or half-spaces; second NOLI_NULL_INDEX for inversions
  int32_t n_vert[2];    ///< vertices of each primitive (1 point, 2 edge, 3 triangle, 4 tet)
  int32_t vertex[2][4]; ///< vertex indices within each body
  double position[3];   ///< where
  double distance;      ///< m; negative depth below a half-space or a surface
} NoliOffender;

/// Finds every initial defect of a definition. `*offenders` is released with noli_sim_check_free.
/// Returns NOLI_OK when the search was done, whatever it found.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_check(NoliContext* context, const NoliSimDef* def,
                                                    NoliOffender** offenders, int64_t* n_offenders);
/// Releases the list of noli_sim_check and sets the pointer to NULL.
NOLI_API void noli_sim_check_free(NoliContext* context, NoliOffender** offenders);

/// What a simulation takes bodies and contact to be, before its first step.
typedef struct NoliSimMeasures {
  double contact_distance; ///< dhat, m: given, or the default, which stays below gaps within bodies
  double* volume;          ///< (n_bodies) at rest, m^3, of curved elements with their shape; owned
  double* mass;            ///< (n_bodies) kg; of obstacles, as their volume, 0; owned
} NoliSimMeasures;

/// Measures a definition, also one whose surfaces intersect or whose elements are inverted, so that
/// no simulation can be made from it. `measures` is released with noli_sim_measures_free.
/// Fails with NOLI_ERROR_ARGUMENT (a definition is invalid; the message names it),
/// NOLI_ERROR_MEMORY.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_measure(NoliContext* context, const NoliSimDef* def,
                                                      NoliSimMeasures* measures);
/// Releases what the measures own and sets the pointers to NULL.
NOLI_API void noli_sim_measures_free(NoliContext* context, NoliSimMeasures* measures);

/// Advances by h. On a positive status the simulation is as it was before the call, on success it
/// is at the new time. `report` may be NULL; of a step that fails it says how far the step came,
/// with energies, momentum and speed of the state before it.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_step(NoliSim* sim, NoliStepReport* report);

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
/// Number of tetrahedra of all bodies, and of triangles in plane strain.
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
/// What every vertex contributes to mass, centre of mass and momentum, kg, (n_vert): lumped masses
/// of linear bodies, row sums of the mass matrix of others, some of which are not positive.
NOLI_API const double* noli_sim_masses(const NoliSim* sim);
/// Tetrahedra with global vertex indices, body after body, (n_tet x 4). In triangles in plane
/// strain the fourth index is NOLI_NULL_INDEX.
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

/// Entity pairs in contact after the last step; the array is owned by the simulation and valid
/// until the next step.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_pair_forces(NoliSim* sim, const NoliPairForce** pairs,
                                                          int32_t* n_pairs);

/// A region of NoliSimDef.volumes at the present state.
typedef struct NoliRegionVolume {
  int32_t body;
  double rest_volume; ///< m^3
  double volume;      ///< m^3
  double pressure;    ///< Pa, above the pressure outside
  double energy;      ///< J, 0 at rest
} NoliRegionVolume;

/// All regions, in the order of the definition; the array is owned by the simulation and valid
/// until the next call.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_volumes(NoliSim* sim,
                                                      const NoliRegionVolume** volumes,
                                                      int32_t* n_volumes);

/// Overwrites positions and velocities, (n_node x 3), for example to start from another state; what
/// follows the nodes is put in its place, and the integrator forgets what came before. Motions that
/// have ended by position stay ended. Fails with NOLI_ERROR_INTERSECTION or NOLI_INVERTED_ELEMENT
/// and changes nothing.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_set_state(NoliSim* sim, const double* x,
                                                        const double* v);

/// One array of the state, for checkpoints: all that must be saved, in a fixed order.
typedef struct NoliStateField {
  const char* name;
  void* data; ///< owned by the simulation
  int64_t count;
  enum { NOLI_FIELD_DOUBLE, NOLI_FIELD_INT64 } type;
} NoliStateField;

/// The `index`-th field of the state; those without values are left out. Returns false past the
/// last one.
NOLI_API bool noli_sim_state_field(NoliSim* sim, int32_t index, NoliStateField* field);

/// Number of constraints that the state holds: those of the active set that the solver
/// "augmented_lagrangian" keeps from step to step, in the fields "constraint" and "multiplier".
NOLI_API int64_t noli_sim_constraint_count(const NoliSim* sim);

/// Makes the two fields hold `count` constraints; new ones must be written before the next step,
/// which fails with NOLI_ERROR_ARGUMENT where they name primitives that do not exist.
/// Fails with NOLI_ERROR_MEMORY and changes nothing.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_set_constraint_count(NoliSim* sim, int64_t count);

/// A hash of every bit of the state.
NOLI_API uint64_t noli_sim_state_hash(const NoliSim* sim);

/// Name of the first field of the state in which two simulations differ by a bit, or NULL where
/// they are in the same state.
NOLI_API const char* noli_sim_state_difference(const NoliSim* one, const NoliSim* other);

/// Copies the whole state of `from` to a simulation made from the same definition: both go on
/// alike, bit by bit. Fails with NOLI_ERROR_ARGUMENT where the states do not have the same sizes,
/// or with NOLI_ERROR_MEMORY; then `sim` is as it was.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_copy_state(NoliSim* sim, const NoliSim* from);

#ifdef __cplusplus
}
#endif
