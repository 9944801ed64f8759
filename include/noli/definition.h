/// @file definition.h
/// Definitions of simulations: plain data, defaults first.
///
/// Symbols: X rest, x current, h time step, l the diagonal of the bounding box of all simulated
/// bodies at rest, d the diameter of the smallest ball around them, which does not depend on the
/// axes. SI units throughout.
///
/// Whatever selects among alternatives (a solver, a contact model, a kind of load) is a name; NULL
/// selects the default. noli/choice.h lists the names, which are those of scene files. Definitions
/// are made by their noli_default_ functions, which also record their size: docs/reference/api.md.
#pragma once

#include "noli/ccd.h"
#include "noli/mesh.h"
#include "noli/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The size that a number is relative to.
typedef enum NoliSizeOf {
  NOLI_ABSOLUTE = 0, ///< nothing: it is in the unit of its field
  NOLI_OF_BOX = 1,   ///< l, "1e-3 l" in scenes
  NOLI_OF_BALL = 2,  ///< d, "1e-3 d" in scenes
} NoliSizeOf;

/// A number that is either absolute or a multiple of a size of the scene.
typedef struct NoliScaled {
  double value;
  uint8_t relative; ///< a NoliSizeOf
} NoliScaled;

/// The surface with which a body collides, [Ferguson2023]: flat triangles whose vertices move with
/// the nodes of the elements, docs/background/high-order.md. Never changes its size.
typedef struct NoliProxyDef {
  /// Where the triangles come from. "automatic" (default): the boundary of the elements, of curved
  /// or high-order bodies as "subdivision" with n the larger of the two orders; "subdivision": the
  /// boundary, every face cut into n^2 triangles on its curved shape; "edge_length": the same, with
  /// n such that no edge is longer than a length; "mesh": triangles that the elements carry. Where
  /// parameters change the rest shape, weights stay: n, and the places of vertices
  const char* kind;
  int32_t subdivision;  ///< n >= 1
  double edge_length;   ///< m, > 0
  const NoliMesh* mesh; ///< borrowed until noli_sim_create returns; in world coordinates
  /// How far vertices of `mesh` may lie from the body, m, and how far its elements are extrapolated
  /// to them (how far below 0 a barycentric coordinate may be); vertices beyond are an error.
  /// 0 (default): a twentieth of the diagonal of the body, and 0.5
  double max_distance;
  double max_extrapolation;
  /// Assigns a density to each tetrahedron, in place of that of the material, such that the body
  /// has the mass and centre of mass of the region that the triangles enclose, section 5.3
  bool balance;
  /// Where the vertices of `mesh` lie, (its n_vert) tetrahedra of the body and (its n_vert x 3)
  /// coordinates in them, as in docs/background/high-order.md; borrowed like it. NULL (default),
  /// both: in the closest tetrahedra. Given places have no limits
  const int32_t* carrier;
  const double* place;
  void* reserved[2]; ///< NULL
} NoliProxyDef;

/// The defaults named above.
NOLI_API NoliProxyDef noli_default_proxy_def(void);

/// Rules for the number of solves per step with lagged friction, in place of a number.
typedef enum NoliFrictionIterations {
  /// Repeats a solve, at most ten times, while changed normal forces make the friction of some body
  /// wrong by more than 5 %: in steps in which contacts appear, end or bounce
  NOLI_FRICTION_AUTOMATIC = 0,
  /// Repeats a solve, at most a hundred times, until new normal forces move nothing by more than
  /// the tolerance and change the friction of no body by more than 0.1 %
  /// or until ten in a row have not reduced that change
  NOLI_FRICTION_UNTIL_CONVERGENCE = -1
} NoliFrictionIterations;

/// Properties of a material that differ from element to element: each array has a value for every
/// element of a body or part, instead of the number in its material; NULL (default): the number.
/// Borrowed until noli_sim_create returns. Not for obstacles. Never changes its size.
/// docs/reference/materials.md
typedef struct NoliMaterialFields {
  const double* young;   ///< Pa, in (0, NOLI_MATERIAL_MAX]; not with parameters of the law
  const double* poisson; ///< in (-1, 0.5)
  const double* density; ///< kg/m^3, in (0, NOLI_MATERIAL_MAX]; not where a proxy is balanced
  /// (n_element x NOLI_FIBRE_VALUES) one family of fibres in solids and bodies in plane strain, in
  /// addition to the law [Holzapfel2000]: the direction at rest in world coordinates, of any length
  /// > 0, then k1, Pa, in [0, NOLI_MATERIAL_MAX], and k2 in [0, NOLI_FIBRE_GROWTH_MAX]; k1 = 0:
  /// none in that element. Their modulus is 4 k1 at small tension and 0 under compression.
  const double* fibre;
  const double* reserved[1]; ///< NULL
} NoliMaterialFields;

/// Elements of a body that are of another material.
typedef struct NoliPartDef {
  const int32_t* element; ///< (n_element) tetrahedra of the mesh, in plane strain triangles;
                          ///< borrowed until noli_sim_create returns
  int32_t n_element;
  NoliMaterialDef material;  ///< `mass_damping` is that of the body and ignored here
  NoliMaterialFields fields; ///< of its elements, (n_element) in the order of `element`; default:
                             ///< none. Fields of the body do not count in its parts
  double reserved[3];        ///< 0
} NoliPartDef;

/// A contact_offset: half the thickness of a shell, the radius of rods and points.
#define NOLI_OFFSET_THICKNESS (-1.0)

/// One body: a tetrahedral mesh that deforms, a mesh of triangles that deforms in plane strain or
/// as a shell, rods of segments, free points, or an obstacle of triangles, segments and points (any
/// mixture, open or closed) whose vertices are all prescribed.
typedef struct NoliBodyDef {
  uint32_t size;        ///< set by noli_default_body_def
  const char* name;     ///< borrowed until noli_sim_create returns
  const NoliMesh* mesh; ///< rest shape in world coordinates, borrowed until noli_sim_create returns
  const double* x0;     ///< (n_vert x 3) initial positions; NULL: the rest shape. Further
                        ///< nodes of elements move with the straight tetrahedra
  int32_t order;        ///< of the elements, 1 (default) to 4
  NoliProxyDef proxy;   ///< not for obstacles
  NoliMaterialDef material;   ///< ignored for obstacles
  double velocity[3];         ///< initial, m/s
  double angular_velocity[3]; ///< initial, rad/s, about the centre of mass
  bool obstacle;              ///< true: a surface that does not deform
  bool self_contact;          ///< default true
  /// m; 0 (default): a body in space. Thickness of a body in plane strain, that is of a section of
  /// a long body: a mesh of triangles in a plane z = const, the same for all such bodies. Contact
  /// in the plane is between boundaries of bodies, half-spaces with normals in the plane, and
  /// obstacles of segments in it, or of triangles with a thickness, whose boundary counts.
  /// docs/howto/plane_strain.md
  double plane_strain;
  NoliShellDef shell;       ///< default: none. The mesh has triangles then
  const NoliPartDef* parts; ///< (n_parts) borrowed until noli_sim_create returns; NULL (default):
                            ///< all of `material`. Where several have an element, the last one
                            ///< counts. Not for obstacles, and not where a proxy is balanced
  int32_t n_parts;
  /// m, >= 0; default 0: contact acts on the surface this far outside of the primitives that
  /// collide, on both sides of triangles, and round segments and points. Two bodies keep the sum of
  /// their offsets apart, parts of one body twice its offset. NOLI_OFFSET_THICKNESS: half the
  /// thickness of a shell, the radius of rods and points. Only with the contact model "ipc".
  /// docs/background/contact.md
  double contact_offset;
  NoliRodDef rod;            ///< default: none. The mesh has segments then, nothing else
  NoliPointDef point;        ///< default: none. The mesh has points then, nothing else
  NoliMaterialFields fields; ///< of the elements of the body, in the order of its mesh: tetrahedra;
                             ///< in plane strain and of shells triangles; segments of rods; points.
                             ///< Default: none
  const char* where;  ///< prefix of messages about it, such as a place in a file; borrowed; NULL
                      ///< (default): none
  NoliRigidDef rigid; ///< default: it deforms. Vertices are those of the mesh, but `node` NULL
                      ///< means the four nodes
} NoliBodyDef;

/// Writes the defaults of a definition of `size` bytes; called by noli_default_body_def.
NOLI_API void noli_body_def_init(NoliBodyDef* def, size_t size);

/// The defaults named above, called "body"; the mesh must be set.
static inline NoliBodyDef noli_default_body_def(void) {
  NoliBodyDef def;
  noli_body_def_init(&def, sizeof def);
  return def;
}

/// The region {x : normal . (x - origin) < 0} is forbidden to all bodies.
typedef struct NoliHalfSpaceDef {
  uint32_t size;         ///< set by noli_default_half_space_def
  const char* name;      ///< borrowed; NULL (default): "half_space" and its number
  double origin[3];      ///< m; default (0, 0, 0)
  double normal[3];      ///< any length > 0; default (0, 1, 0)
  double contact_offset; ///< m, >= 0; default 0: the region begins this far above the plane
} NoliHalfSpaceDef;

/// Writes the defaults of a definition of `size` bytes; called by noli_default_half_space_def.
NOLI_API void noli_half_space_def_init(NoliHalfSpaceDef* def, size_t size);

/// The defaults named above: a floor through the origin.
static inline NoliHalfSpaceDef noli_default_half_space_def(void) {
  NoliHalfSpaceDef def;
  noli_half_space_def_init(&def, sizeof def);
  return def;
}

/// Computes the positions of prescribed nodes at the end of a step.
/// `node` (n_node) are vertex indices of the body, `X` (n_node x 3) their rest positions, `x_t0`
/// (n_node x 3) their positions at `t0`; writes `x_t1` (n_node x 3), the positions at `t1`.
/// Must be a pure function of its arguments, so that a step can be repeated. Derivatives of runs
/// (noli/derivative.h) also evaluate it where all vertices are elsewhere: by some percent of the
/// scene's diagonal, and by all of it, where values that are not finite do no harm.
typedef void NoliMotionFn(void* user, double t0, double t1, int32_t n_node, const int32_t* node,
                          const double* X, const double* x_t0, double* x_t1);

/// Prescribed motion of some vertices of a body. Outside [t_begin, t_end), and after it has ended
/// by position, the vertices are free (an obstacle's vertices stand still). Where several motions
/// prescribe a component of a vertex, the last active one wins.
typedef struct NoliMotionDef {
  uint32_t size; ///< set by noli_default_motion_def
  int32_t body;
  const int32_t* node; ///< (n_node) vertex indices within the body; borrowed; NULL: all vertices
  int32_t n_node;
  double t_begin;       ///< s; compared with the time at the START of a step
  double t_end;         ///< s; default INFINITY
  NoliMotionFn* target; ///< NULL: the vertices are held in place
  void* user;           ///< must outlive the simulation
  /// true: this component of the vertices is not prescribed, and that of `target` is ignored;
  /// default false. Not all three, and not for obstacles
  bool free_axis[3];
  /// true: the motion also ends, for good, with the first step in [t_begin, t_end) at whose start
  /// all vertices of the body satisfy end_normal . (x - end_origin) >= 0; default false
  bool ends_beyond;
  double end_origin[3]; ///< m
  double end_normal[3]; ///< any length > 0
  const char* name;     ///< borrowed; NULL (default): "motion" and its number
  bool controlled;      ///< true: the caller writes targets between steps, noli_sim_motion_targets
                        ///< (noli/live.h), and `target` is NULL; default false
  double change;        ///< displacements from the rest shape are multiplied by 1 + change, > 0: a
                        ///< motion by velocities is as many times as fast; default 0, and not for
                        ///< motions without a target
  double velocity[3];   ///< m/s, added to the motion from its begin on; default 0
  double spin[3];    ///< rad/s, turns what the motion does, from its begin on, about a pivot that
                     ///< `velocity` moves; default 0. All three not for controlled motions
  double pivot[3];   ///< m; default 0
  const char* where; ///< prefix of messages about it, such as a place in a file; borrowed; NULL
                     ///< (default): none
} NoliMotionDef;

/// Writes the defaults of a definition of `size` bytes; called by noli_default_motion_def.
NOLI_API void noli_motion_def_init(NoliMotionDef* def, size_t size);

/// Holds all vertices of body 0 permanently.
static inline NoliMotionDef noli_default_motion_def(void) {
  NoliMotionDef def;
  noli_motion_def_init(&def, sizeof def);
  return def;
}

/// A force field at time t and rest position X. A pressure reads value[0]. Derivatives of runs by
/// rest shapes (noli/derivative.h) also evaluate it within 1 % of the scene's diagonal around X.
typedef void NoliForceFn(void* user, double t, const double X[3], double value[3]);

/// A load on some vertices of a body, or on the faces that they bound: triangles of its surface
/// (plane strain: edges, times the thickness) all of whose vertices are given; elements of order 2
/// to 4 and curved ones: faces all of whose nodes are given.
typedef struct NoliForceDef {
  uint32_t size; ///< set by noli_default_force_def
  int32_t body;
  const int32_t* node; ///< (n_node); borrowed; NULL: all vertices of the body
  int32_t n_node;
  /// The quantity in `value`. "acceleration" (default): m/s^2, times the mass of each vertex;
  /// "nodal": N on each vertex; "total": N, shared among the vertices in proportion to mass;
  /// "traction": Pa on the rest area of faces, in a fixed direction; "pressure": Pa on the current
  /// area of faces, against their outward normals (shells: against the normals of the triangles),
  /// component 0 only. Values are those at vertices; faces interpolate them
  const char* kind;
  double t_begin;      ///< s; acts in steps that END in (t_begin, t_end]; default 0
  double t_end;        ///< s; default INFINITY
  NoliForceFn* value;  ///< must be set, unless the force is controlled
  void* user;          ///< must outlive the simulation
  const char* name;    ///< borrowed; NULL (default): "force" and its number
  bool controlled;     ///< true: the caller writes values between steps, noli_sim_force_values
                       ///< (noli/live.h), and `value` is NULL; default false
  const char* where;   ///< borrowed; prefixes messages; NULL (default): no prefix
  double change;       ///< all values are multiplied by 1 + change; default 0
  const int32_t* face; ///< (n_face x 3) vertices of the faces on which tractions and pressures act,
                       ///< in any order; borrowed; NULL (default): all faces of vertices in `node`
  int32_t n_face;
} NoliForceDef;

/// Writes the defaults of a definition of `size` bytes; called by noli_default_force_def.
NOLI_API void noli_force_def_init(NoliForceDef* def, size_t size);

/// The defaults named above, on all vertices of body 0; the value must be set.
static inline NoliForceDef noli_default_force_def(void) {
  NoliForceDef def;
  noli_force_def_init(&def, sizeof def);
  return def;
}

/// Contact between two entities. Entities are numbered: bodies first, then half-spaces.
/// `a == b` is self-contact of a body.
typedef struct NoliPairDef {
  uint32_t size; ///< set by noli_default_pair_def
  int32_t a;
  int32_t b;
  bool contact;    ///< false: the entities pass through each other; default true
  double friction; ///< coefficient of (dynamic) friction, >= 0; default 0
  /// Coefficient that must be overcome before sliding, >= friction; 0 (default): `friction`.
  /// The coefficient falls from it to `friction` at the Stribeck speed
  /// ([Larionov2024] eq. 8, see docs/reference/friction_laws.md).
  double static_friction;
  NoliScaled stribeck_speed; ///< v_s, m/s, above eps_v; {0} (default): that of NoliSimDef
  double viscosity;   ///< s/m, >= 0: adds viscosity times speed to the coefficient; default 0
  const char* name_a; ///< name of the entity, in place of `a`; borrowed; NULL (default): `a`
                      ///< counts. Of several with this name the first
  const char* name_b; ///< name of the other entity, in place of `b`; borrowed; NULL (default):
                      ///< `b` counts. Of several with this name the first
  /// Contact distance of the pair, m, > 0; {0} (default): that of NoliSimDef. "ipc" and the
  /// augmented Lagrangian only; other models refuse it unless it is that of NoliSimDef.
  NoliScaled distance;
  const char* where; ///< prefix of messages about it, such as a place in a file; borrowed; NULL
                     ///< (default): none
  /// Direction of entity `a` on which friction depends, at rest; it turns with the surface of `a`,
  /// and its part in the contact plane counts. (0, 0, 0) (default): none. Not with implicit
  /// friction or viscosity; see docs/reference/friction_laws.md
  double direction[3];
  double friction_across; ///< coefficient across `direction`, >= 0, where `friction` is that along
                          ///< it; default 0; without a direction it must be 0
  double adhesion; ///< J/m^2, >= 0: the work that separates an area; default 0: none. Not with the
                   ///< contact model "implicit_surface"; see docs/background/adhesion.md
  NoliScaled adhesion_range; ///< m, > 0: gap beyond the contact distance up to which surfaces pull
                             ///< each other; {0} (default): the contact distance of the pair
} NoliPairDef;

/// Writes the defaults of a definition of `size` bytes; called by noli_default_pair_def.
NOLI_API void noli_pair_def_init(NoliPairDef* def, size_t size);

/// The defaults named above: frictionless self-contact of body 0.
static inline NoliPairDef noli_default_pair_def(void) {
  NoliPairDef def;
  noli_pair_def_init(&def, sizeof def);
  return def;
}

/// A region of a body that resists a change of its volume.
typedef struct NoliVolumeDef {
  uint32_t size; ///< set by noli_default_volume_def
  int32_t body;  ///< no obstacle
  /// The closed surface that encloses the region. "cavity" (default): the inner part of the
  /// boundary, for an enclosed gas; "outside": the outer part of the boundary, for the material and
  /// all that it encloses; "body": all of the boundary, for the volume of the material;
  /// "component": part `index` of the boundary, from 0 in the order of first triangles; "tag": the
  /// tetrahedra with tag `index`; "triangles": the triangles `tri`, which face outward
  const char* region;
  int32_t index;      ///< of a part of the boundary, or a tag
  const int32_t* tri; ///< (n_tri x 3) vertices of the body; borrowed
  int32_t n_tri;
  /// How pressure depends on volume, [Larionov2024] eq. 11 to 13; docs/howto/volume.md has the
  /// formulas. "ideal_gas" (default): pressure times volume stays constant;
  /// "nearly_incompressible": constant compression coefficient, as of a liquid; "quadratic":
  /// pressure linear in the volume, defined for V <= 0 too
  const char* model;
  double compression; ///< kappa_v, 1/Pa: relative loss of volume per pressure at rest, > 0;
                      ///< 0 (default), only for the gas: 1 / (NOLI_ATMOSPHERE + pressure)
  double pressure;   ///< Pa, above the pressure outside, at the volume of the rest shape; default 0
  const char* where; ///< prefix of messages about it, such as a place in a file; NULL (default):
                     ///< its number and body
} NoliVolumeDef;

/// Writes the defaults of a definition of `size` bytes; called by noli_default_volume_def.
NOLI_API void noli_volume_def_init(NoliVolumeDef* def, size_t size);

/// The defaults named above: the air in the cavity of body 0.
static inline NoliVolumeDef noli_default_volume_def(void) {
  NoliVolumeDef def;
  noli_volume_def_init(&def, sizeof def);
  return def;
}

/// Vertices of a body that are bound to points of another one, exactly and for good: each is at
/// all times the same combination of the vertices of the element that it is on at the start. A
/// vertex on a vertex is shared by both bodies. docs/howto/ties.md
typedef struct NoliTieDef {
  uint32_t size;       ///< set by noli_default_tie_def
  int32_t body;        ///< whose vertices are bound; no obstacle, elements of order 1
  const int32_t* node; ///< (n_node) vertex indices within the body; borrowed; NULL: all vertices
  int32_t n_node;
  /// The body, or obstacle, whose closest points they are bound to: points of its surface, and of
  /// linear tetrahedra also inside and next to them; the body itself: a seam, whose vertices are
  /// bound to triangles without such vertices
  int32_t to;
  /// How far apart they may be at the start, m; farther ones are an error. Vertices next to
  /// tetrahedra keep their place; others move onto the surface at the start. Default 1e-4 d
  NoliScaled distance;
  const char* where; ///< prefix of messages about it, such as a place in a file; NULL (default):
                     ///< its number
} NoliTieDef;

/// Writes the defaults of a definition of `size` bytes; called by noli_default_tie_def.
NOLI_API void noli_tie_def_init(NoliTieDef* def, size_t size);

/// The defaults named above; the bodies must be set.
static inline NoliTieDef noli_default_tie_def(void) {
  NoliTieDef def;
  noli_tie_def_init(&def, sizeof def);
  return def;
}

/// A `length` of springs: the distance of their ends in the rest shape.
#define NOLI_REST_DISTANCE (-1.0)

/// Springs, with dampers, from vertices of a body to vertices of another one, or to the ground: one
/// for each vertex of `node`. docs/howto/loads.md
typedef struct NoliSpringDef {
  uint32_t size;       ///< set by noli_default_spring_def
  const char* name;    ///< borrowed; NULL (default): "spring" and its number
  int32_t body;        ///< no obstacle
  const int32_t* node; ///< (n_node) vertex indices within the body; borrowed; NULL: all vertices
  int32_t n_node;
  /// The body or obstacle at the other ends, which may be the same body; NOLI_NULL_INDEX (default):
  /// the ground, where each vertex is at rest, or at `point`
  int32_t to;
  const int32_t* to_node; ///< (n_to_node) vertices of `to`, of which each spring goes to the
                          ///< closest one in the rest shape; borrowed; NULL: all vertices
  int32_t n_to_node;
  bool pairwise;    ///< true: node[i] goes to to_node[i], as many; default false
  bool at_point;    ///< true: all go to `point`, and `to` is the ground; default false
  double point[3];  ///< m
  double stiffness; ///< N/m, >= 0, of all these springs together: each has an equal share
  /// m, >= 0, at which a spring has no force: > 0: a force along the line between its ends; 0: one
  /// towards the other end, stiffness times distance; NOLI_REST_DISTANCE (default): the distance of
  /// the ends in the rest shape, of each spring
  double length;
  double damping;    ///< N s/m, >= 0, of all together: times the speed at which the ends part, if
                     ///< the length is 0 in any direction; default 0
  const char* where; ///< prefix of messages about it, such as a place in a file; NULL (default):
                     ///< none
} NoliSpringDef;

/// Writes the defaults of a definition of `size` bytes; called by noli_default_spring_def.
NOLI_API void noli_spring_def_init(NoliSpringDef* def, size_t size);

/// The defaults named above, on all vertices of body 0; stiffness or damping must be set.
static inline NoliSpringDef noli_default_spring_def(void) {
  NoliSpringDef def;
  noli_spring_def_init(&def, sizeof def);
  return def;
}

/// A value at time t, s. Must be a pure function of its arguments, so that a step can be repeated.
typedef double NoliTimeFn(void* user, double t);

/// What acts in a coordinate of a joint: a turn about its axis, rad, or a travel along it, m, of
/// `body` against `to`. Units below are those of turns; those of travels are N/m
/// for N m, and so on. Never changes its size.
typedef struct NoliCoordinateDef {
  double lower;      ///< rad, never passed, below `start`; default -INFINITY
  double upper;      ///< rad, never passed, above `start`; default INFINITY
  double stiffness;  ///< N m/rad, >= 0, of a spring; default 0
  double rest;       ///< rad, where the spring has no torque; default 0
  double damping;    ///< N m s/rad, >= 0; default 0
  double friction;   ///< N m, >= 0: largest torque of dry friction, which holds below it; default 0
  double armature;   ///< kg m^2, >= 0: inertia of a rotor in the coordinate; default 0
  const char* motor; ///< what `target` is: "none" (default), "effort": N m; "position": rad, that
                     ///< of a spring of `motor_stiffness` with a damper of `motor_damping`;
                     ///< "speed": rad/s, of a damper of `motor_damping`
  double target;     ///< default 0; noli_sim_set_joint_target (noli/live.h) replaces it
  NoliTimeFn* target_at;  ///< NULL (default): `target` at all times; else the target at a time
  void* user;             ///< of `target_at`; must outlive the simulation
  double motor_stiffness; ///< N m/rad, >= 0; default 0
  double motor_damping;   ///< N m s/rad, >= 0; default 0
  double max_effort;      ///< N m, >= 0: the largest torque of the motor; default INFINITY
  const char* follows;    ///< borrowed; name of a joint whose first coordinate, times `ratio`, this
                          ///< one follows, as gears and racks do; NULL (default): none
  double ratio;      ///< not 0, in the unit of this coordinate by that of the other; default 1.
                     ///< It is the changes since the start that follow
  double start;      ///< rad, the coordinate at the start; default 0
  void* reserved[4]; ///< NULL
} NoliCoordinateDef;

/// The defaults named above.
NOLI_API NoliCoordinateDef noli_default_coordinate_def(void);

/// A joint: points that a rigid body shares with another body, or with the world, exactly.
/// docs/background/rigid.md
typedef struct NoliJointDef {
  uint32_t size;    ///< set by noli_default_joint_def
  const char* name; ///< borrowed; NULL (default): "joint" and its number
  const char* type; ///< "ball" (default): they share a point; "hinge": an axis; "weld": all; or
                    ///< "universal", "slider", "cylinder", "screw", "planar", "distance"
  int32_t body;     ///< rigid; for a ball and a distance any body
  int32_t to;       ///< a rigid body; for a ball and a distance also one that deforms;
                    ///< NOLI_NULL_INDEX (default): the world
  double at[3];     ///< m, the point at the start, in world coordinates; a weld needs none
  double axis[3];   ///< at the start, of any length > 0: of the turn or travel, or the normal of a
                    ///< plane; it turns with both bodies; default (0, 0, 1)
  /// true: the point of `to` is at `to_at`, m, and an error says how far they are apart if they do
  /// not meet where the joint lets nothing move; default false. A distance needs it
  bool has_to_at;
  bool contact; ///< the two bodies collide with each other; default false
  double to_at[3];
  const char* where; ///< prefix of messages about it, such as a place in a file; NULL (default):
                     ///< none
  double to_axis[3]; ///< the axis of `to` of a universal joint, whose `axis` is that of `body`
  NoliCoordinateDef coordinate; ///< what acts in its turn, or in its travel where it has no turn
  NoliCoordinateDef travel;     ///< what acts in its travel where it has a turn too
  double lead;                  ///< m, travel of a screw by turn, not 0; negative: left-handed
} NoliJointDef;

/// Writes the defaults of a definition of `size` bytes; called by noli_default_joint_def.
NOLI_API void noli_joint_def_init(NoliJointDef* def, size_t size);

/// The defaults named above, of body 0 and the world.
static inline NoliJointDef noli_default_joint_def(void) {
  NoliJointDef def;
  noli_joint_def_init(&def, sizeof def);
  return def;
}

/// Parameters of the solver "augmented_lagrangian"; the defaults suit all known scenes. Never
/// changes its size.
typedef struct NoliAugmentedLagrangianDef {
  double stiffness_ratio; ///< least penalty stiffness of a constraint relative to that of the
                          ///< bodies it pushes, from the diagonal of the Hessian, > 0; default 10.
                          ///< ([Zheng2025] eq. 20 has 0.1, for solvers without factorization.)
  double decay;           ///< Gamma in [0, 1]: factor of inactive constraints in each iteration;
                          ///< default 0.9
  bool filter;       ///< add only pairs that are the earliest new impact of a vertex; default true
  bool multipliers;  ///< default true; false: a pure penalty, for comparison only
  void* reserved[4]; ///< NULL
} NoliAugmentedLagrangianDef;

/// The defaults named above.
NOLI_API NoliAugmentedLagrangianDef noli_default_augmented_lagrangian_def(void);

/// Parameters of the solver "implicit_newton". Never changes its size.
typedef struct NoliImplicitNewtonDef {
  /// Solver of its nonsymmetric systems: "umfpack" (LU factorization), "bicgstab" (inexact Newton
  /// with incomplete LU factorization), "matrix_free" (as bicgstab, with products computed from the
  /// stencils and diagonal blocks), "automatic" (default): umfpack for small systems, bicgstab for
  /// large ones, umfpack where that fails
  const char* linear;
  void* reserved[4]; ///< NULL
} NoliImplicitNewtonDef;

/// The defaults named above.
NOLI_API NoliImplicitNewtonDef noli_default_implicit_newton_def(void);

/// Parameters of the contact model "gcp", as in NoliGcpDef of noli/gcp.h. Never changes its size.
typedef struct NoliGcpContactDef {
  NoliScaled eps_target; ///< m: range of the potential, which never acts at rest; may span many
                         ///< edges; value 0 (default): the contact distance
  double alpha;          ///< cosine within which a direction counts as a local minimum of distance,
                         ///< in (0, 1]; default 0.5
  double beta;           ///< the same for outside and inside, in (0, 1]; default 0.1
  NoliScaled length; ///< m, the width that sharp edges and corners count for; value 0 (default):
                     ///< that of the mesh
  bool act_at_rest;  ///< default false; true: eps_target everywhere, whatever pushes at the start,
                     ///< as in programs that do not adapt the range
  void* reserved[4]; ///< NULL
} NoliGcpContactDef;

/// The defaults named above.
NOLI_API NoliGcpContactDef noli_default_geometric_def(void);

/// Load steps of the integrator "quasi_static" in increments of adaptive length: at most the time
/// step, at whose end all results are given, whatever its increments.
/// docs/background/integrators.md. Never changes its size.
typedef struct NoliIncrementDef {
  double initial;  ///< s, of the first one, <= time_step; 0 (default): each step in one
  double smallest; ///< s, in (0, initial]: a step whose increments of this length fail, fails;
                   ///< 0 (default): a thousandth of `initial`
  int32_t
      easy_iterations; ///< Newton iterations, >= 1: an increment that takes no more is followed
                       ///< by one 1.5 times as long, unless a longer one just failed; default 10
  int32_t hard_iterations; ///< > easy_iterations: one that takes more is followed by one of half
                           ///< its length; one that fails is repeated with half of it; default 30
  void* reserved[4];       ///< NULL
} NoliIncrementDef;

/// The defaults named above.
NOLI_API NoliIncrementDef noli_default_increment_def(void);

/// Everything that makes a simulation. All pointers are borrowed until noli_sim_create returns,
/// except `user` pointers of callbacks, which must outlive the simulation.
typedef struct NoliSimDef {
  uint32_t size; ///< set by noli_default_sim_def
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
  /// "tr_bdf2" (damp little; two solves a step) and "trapezoidal" (conserves energy while bodies
  /// move by less than dhat in a step); "quasi_static": equilibrium at each time, without inertia,
  /// damping and velocities; and "trapezoidal_decoupled", which gains energy in contact, for
  /// comparison only.
  const char* integrator;

  bool contact; ///< default true; false: no contact at all
  /// "ipc" (default): a barrier, or the constraints of the augmented Lagrangian;
  /// "implicit_surface": a cubic penalty on vertices against smooth surfaces, [Larionov2024], which
  /// may penetrate, except between open sheets: docs/background/contact.md; "gcp": the geometric
  /// contact potential [Huang2025], a barrier without forces at rest whatever its range, for closed
  /// surfaces: docs/background/contact_potential.md. Open and codimensional obstacles keep the
  /// barrier of "ipc"
  const char* contact_model;
  NoliGcpContactDef gcp;     ///< of the contact model "gcp"
  NoliScaled surface_radius; ///< "implicit_surface": m, range and smoothing of a surface, > 0;
                             ///< value 0 (default): from the edges of each body
  /// dhat, m; contact acts below it; value 0 (default): 1e-3 d, or, where parts of one body that
  /// share no vertex are closer at rest (a thin body, a fine mesh), half of the smallest such gap,
  /// so that rest shapes carry no contact forces; docs/background/contact.md
  NoliScaled contact_distance;
  double barrier_stiffness;    ///< 0 (default): adaptive; else kappa in Pa/m: energy kappa b(d^2);
                               ///< with "implicit_surface" the initial kappa in N/m;
                               ///< with "gcp" the kappa in J/m^2 that multiplies the potential;
                               ///< with contact_convergent kappa in Pa
  const char* ccd;             ///< continuous collision detection: "additive" (default) or
                               ///< "inclusion", see docs/background/ccd.md
  double friction;             ///< coefficient where no pair overrides it; default 0
  double static_friction;      ///< as in NoliPairDef, where no pair overrides it; 0 (default):
                               ///< `friction`
  NoliScaled stribeck_speed;   ///< v_s, m/s, where no pair overrides it; {0} (default): ten times
                               ///< friction_speed
  double viscosity;            ///< s/m, where no pair overrides it; default 0
  NoliScaled friction_speed;   ///< eps_v, m/s: slower sliding counts as sticking; default 1e-3 d
  const char* friction_method; ///< "lagged" (default): forces and sliding bases of an earlier
                               ///< point, friction_iterations times; "implicit": all of friction at
                               ///< the end of the step, needs the solver "implicit_newton"
  bool friction_basis_derivatives; ///< "implicit": the Jacobian contains the change of sliding
                                   ///< bases; default true; false is cheaper and converges slower
  int32_t friction_iterations; ///< "lagged": solves per step, each with the normal forces of the
                               ///< previous one; > 0, or a NoliFrictionIterations; default
                               ///< NOLI_FRICTION_AUTOMATIC

  const char* solver;      ///< "projected_newton": minimizes the incremental potential, [Li2020];
                           ///< "augmented_lagrangian": contact by an active set, [Zheng2025];
                           ///< "implicit_newton": exact Newton on the equations of motion, also
                           ///< for forces without energy, [Larionov2024]; NULL (default): the last
                           ///< with implicit friction, else the first
  const char* termination; ///< "residual" or "toi"; NULL (default): the solver's own, toi of
                           ///< "augmented_lagrangian" (where "residual" asks for both), else
                           ///< residual
  NoliScaled tolerance;    ///< eps_d, m/s: residual: stop when max |Newton step| / h is below;
                           ///< default 1e-2 d; a relative one counts in l or d per s or,
                           ///< if more, 1e-4 of the largest speed at the start of
                           ///< the step
  double toi_tolerance;    ///< epsilon in (0, 1): toi: stop when the targets of the first
                           ///< iterations weigh less ([Zheng2025] eq. 9); default 1e-3
  int32_t min_iterations;  ///< K_min: toi: minimum number of iterations of a step; 0 (default): 2,
                           ///< or 6 where contacts rub, until a Newton step divided by the time
                           ///< step is shorter than a hundredth of eps_v
  int32_t max_iterations;  ///< Newton iterations per nonlinear solve; default 1000
  int32_t max_substeps;    ///< a step that cannot be solved is split into 2, 4, ... up to
                           ///< max_substeps substeps, the next one into half as many, and so on;
                           ///< 1: never; default 16
  /// "auto" (default) takes cholmod or pcg, whichever is predicted or found to be faster;
  /// "cholmod", "cholmod_single", "dense", "pcg"; "pcg_diagonal", "pcg_incomplete" and "multigrid"
  /// use one preconditioner only; "petsc:gamg", "petsc:hypre", "petsc:ilu", "petsc:mumps" in builds
  /// with PETSc (docs/howto/mpi.md)
  const char* linear_solver;
  double linear_tolerance; ///< of iterative linear solvers, relative residual in (0, 1); default
                           ///< 1e-4
  NoliAugmentedLagrangianDef augmented_lagrangian;
  NoliImplicitNewtonDef implicit_newton;
  /// Tests with exact predicates, independently of contact and collision detection, that no edge
  /// meets a triangle, no body is inside another one, no vertex is on or below a half-space and no
  /// element is inverted; a step where one fails returns NOLI_ERROR_AUDIT. "off" (default),
  /// "every_step": the state at the end of each step, "every_iteration": also every point that the
  /// solver visits
  const char* audit;
  const NoliTieDef* ties; ///< a vertex may be bound once, and no motion may prescribe it
  int32_t n_ties;
  const NoliSpringDef* springs;
  int32_t n_springs;
  NoliIncrementDef increments; ///< of load steps; default: none
  /// options of PETSc for the linear solvers "petsc:..", such as "-ksp_type gmres -pc_type asm";
  /// NULL (default): none
  const char* petsc_options;
  /// on several ranks: every rank holds the data of all elements, as derivatives need, instead of
  /// those of its share, and only the first one the list of all; default false
  bool whole_elements;
  bool unused[7]; ///< not read: padding of older definitions, which may hold anything
  /// the simulation reads the meshes of bodies and proxies, and `x0`, where they are, instead of
  /// copies of its own: they must stay as they are until it is destroyed; default false
  bool borrow_meshes;
  /// a solve ends only when the residual force on each body is at most this share, in [0, 1), of
  /// the force that acts on it; the residual is the sum over the free nodes of a body, with inertia
  /// the net force or the sum over nodes in contact; 0 (default): 1e-3 with "quasi_static", 1e-2
  /// with inertia
  double imbalance;
  const char* where; ///< prefix of messages about what has no `where`, such as the name of a file;
                     ///< borrowed; NULL (default): none
  /// friction below its limit: "stick" (default): contacts keep an elastic slip, and hold;
  /// "velocity": a smooth function of the sliding speed, as in [Li2020], contacts creep:
  /// docs/background/friction.md. Implicit friction with "implicit_surface" has "velocity" always
  const char* friction_law;
  NoliScaled stick_length;   ///< "stick": m, elastic slip at which a contact slides; value 0
                             ///< (default): friction_speed times the time step, as stiff as
                             ///< "velocity" ("quasi_static": times 0.01 s)
  double adhesion;           ///< as in NoliPairDef, where no pair overrides it; default 0
  NoliScaled adhesion_range; ///< the same
  /// "ipc" as an integral over surfaces [Li2023]: weights of areas, overlapping pairs counted once.
  /// Forces converge under refinement, flat surfaces have no edges, and barrier_stiffness is in Pa;
  /// 0: a tenth of Young's modulus of the softer body of each pair. Default false. Not with
  /// "augmented_lagrangian"; docs/background/convergent_contact.md
  bool contact_convergent;
  const NoliJointDef* joints;
  int32_t n_joints;
} NoliSimDef;

/// Writes the defaults of a definition of `size` bytes; called by noli_default_sim_def.
NOLI_API void noli_sim_def_init(NoliSimDef* def, size_t size);

/// The defaults named above, without bodies.
static inline NoliSimDef noli_default_sim_def(void) {
  NoliSimDef def;
  noli_sim_def_init(&def, sizeof def);
  return def;
}

/// The sizes of the definitions above in the headers that a program is compiled with.
typedef struct NoliDefSizes {
  uint32_t size; ///< of this struct
  uint32_t sim;
  uint32_t body;
  uint32_t half_space;
  uint32_t motion;
  uint32_t force;
  uint32_t pair;
  uint32_t volume;
  uint32_t tie;
  uint32_t spring;
  uint32_t joint;
} NoliDefSizes;

/// The sizes in these headers.
static inline NoliDefSizes noli_def_sizes(void) {
  NoliDefSizes sizes = {sizeof(NoliDefSizes),     sizeof(NoliSimDef),    sizeof(NoliBodyDef),
                        sizeof(NoliHalfSpaceDef), sizeof(NoliMotionDef), sizeof(NoliForceDef),
                        sizeof(NoliPairDef),      sizeof(NoliVolumeDef), sizeof(NoliTieDef),
                        sizeof(NoliSpringDef),    sizeof(NoliJointDef)};
  return sizes;
}

#ifdef __cplusplus
}
#endif
