/// @file types.h
/// Plain types of definitions and results that the simulator shares with the parts below it:
/// materials and forces between bodies. noli/definition.h includes them. SI units throughout.
#pragma once

#include "noli/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Largest Young's modulus (Pa) and density (kg/m^3): far beyond any material, and small enough
/// that no product in a simulation overflows.
#define NOLI_MATERIAL_MAX 1e40

/// Largest number of parameters of a law beyond the elastic constants.
#define NOLI_LAW_PARAMETERS 6

/// Numbers that describe the fibres in an element (NoliMaterialFields).
#define NOLI_FIBRE_VALUES 5
/// Largest growth k2 of the stiffness of fibres.
#define NOLI_FIBRE_GROWTH_MAX 1e4

/// Largest number of terms of a Prony series.
#define NOLI_PRONY_TERMS 16
/// Largest sum of its shares: the stiffness grows 10000 times under fast strain.
#define NOLI_PRONY_SUM_MAX 0.9999

/// Viscoelasticity of a solid: parts of its shear stiffness relax, each with a time of its own.
/// With the long-term shear modulus G of the law, the relaxation modulus at small strain is G(t) =
/// G (1 + sum_i g_i exp(-t / tau_i) / (1 - sum_j g_j)); volume changes do not relax.
/// docs/reference/materials.md. Never changes its size.
typedef struct NoliProny {
  int32_t n;                      ///< number of terms, 0 to NOLI_PRONY_TERMS
  int32_t reserved;               ///< 0
  double share[NOLI_PRONY_TERMS]; ///< g_i > 0, of the instantaneous shear modulus; their sum is
                                  ///< at most NOLI_PRONY_SUM_MAX
  double time[NOLI_PRONY_TERMS];  ///< s, tau_i > 0
} NoliProny;

/// Material of a body. Never changes its size.
typedef struct NoliMaterialDef {
  const char* law; ///< hyperelastic law: "neo_hookean" (default), "fixed_corotated",
                   ///< "stable_neo_hookean", "corotated_linear", "stvk", "ogden",
                   ///< "mooney_rivlin", "hencky"; elements never invert, whatever the law
  double young;    ///< Pa, in (0, NOLI_MATERIAL_MAX]; default 1e5; not used if there are parameters
  double poisson;  ///< in (-1, 0.5); default 0.4
  double density;  ///< kg/m^3, in (0, NOLI_MATERIAL_MAX]; default 1000
  double damping;  ///< s, >= 0; default 0: stiffness-proportional damping, force -damping K v with
                   ///< K the elastic stiffness at the start of each step (order 1) or at a
                   ///< predicted point within the step (order 2); a small vibration of
                   ///< angular frequency omega gets the damping ratio damping omega / 2
  /// 1/s, >= 0; default 0: mass-proportional damping, force -mass_damping M v, also of rigid
  /// motion; Rayleigh damping together with `damping`; the damping ratio is
  /// mass_damping / (2 omega)
  double mass_damping;
  /// "ogden": mu_1 (Pa), a_1, mu_2, a_2, mu_3, a_3, of which only those with mu_k != 0 count;
  /// "mooney_rivlin": c10, c01, Pa. They determine the shear modulus, `poisson` the bulk modulus.
  /// All 0 (default): as an isochoric neo-Hookean solid with `young`. "hencky": yield stress (Pa,
  /// 0: none), hardening (Pa), saturation (Pa) and its rate; excludes `damping`.
  /// docs/reference/materials.md
  double parameter[NOLI_LAW_PARAMETERS];
  /// Viscoelasticity of a solid or a body in plane strain; NULL (default): none. `young`, `poisson`
  /// and `parameter` are then the long-term ones. Excludes `damping`.
  const NoliProny* prony;
  void* reserved[1]; ///< NULL
} NoliMaterialDef;

/// A thin body: a mesh of triangles that deforms in space, with a resistance to stretching and
/// shearing in its surface and one to bending. Its triangles need not be oriented alike, edges may
/// have any number of them, and its rest shape may be curved. docs/background/shells.md
///
/// Young's modulus, Poisson's ratio, density and damping are those of the material of the body. Its
/// law is "neo_hookean" or "stvk", in plane stress, unless the shell is woven.
typedef struct NoliShellDef {
  double thickness; ///< m, > 0; 0 (default): the body is none
  double bending;   ///< >= 0; default 1: times the bending stiffness of a plate,
                    ///< E t^3 / (12 (1 - nu^2))
  double limit;     ///< > 1: no principal stretch reaches it; 0 (default): no limit
  bool woven;       ///< cloth with warp and weft, [Baraff1998]: tension along both, and shear
  double warp[3];   ///< direction of warp in the rest shape, projected onto every triangle; 0
                    ///< (default): the first edge of each triangle
  double weft;      ///< > 0; default 1: stiffness along weft over that along warp, Young's modulus;
                    ///< of bending, too
  double shear;     ///< Pa, of woven shells, >= 0; 0 (default): E / (2 (1 + nu))
  const char* bending_law; ///< "hinges" or "plate"; NULL (default): "hinges"
  double reserved[7];      ///< 0
} NoliShellDef;

/// A rod: a mesh of segments that resists stretching and bending, with a round or elliptic cross
/// section. Where more than two segments meet, they are welded together. Without `twist`, a rest
/// shape that is bent has a rest turn but no plane. docs/background/rods.md
///
/// With `twist`, the body has a node for each segment behind its vertices: its x is the angle of
/// the segment about itself times `radius`, in m; y and z are 0. What names all vertices of the
/// body leaves these nodes alone.
///
/// Young's modulus, density and damping are those of the material of the body; its law is not used.
typedef struct NoliRodDef {
  double radius;        ///< m, > 0; 0 (default): the body is none
  double bending;       ///< >= 0; default 1: times the bending stiffness E pi r^4 / 4
  double twist;         ///< >= 0, times the torsional stiffness G pi r^4 / 2; 0 (default): none
  double second_radius; ///< m, of an ellipse that has `radius` along `normal`; 0 (default): a
                        ///< circle. Needs `twist`
  double normal[3];     ///< any length, across every segment at rest; of an ellipse
  double reserved[3];   ///< 0
} NoliRodDef;

/// Free particles: every point of the mesh has the mass of a ball of the density of the material.
/// docs/background/rods.md
typedef struct NoliPointDef {
  double radius;      ///< m, > 0; 0 (default): the body is none
  double reserved[7]; ///< 0
} NoliPointDef;

/// A body that moves as a whole: an affine body of four nodes [Lan2022] that carries its surface,
/// the triangles of the mesh or the boundary of its tetrahedra, and resists all but rotations. A
/// closed surface gives the mass, by the density of the material, its centre and its inertia. All
/// other values of the material are ignored. Never changes its size. docs/background/rigid.md
typedef struct NoliRigidDef {
  bool rigid;        ///< default false
  bool at_centre;    ///< the centre of mass is `centre`; default false: that of the volume inside
  double mass;       ///< kg, > 0; 0 (default): density times the volume inside
  double centre[3];  ///< m, in world coordinates
  double inertia[6]; ///< kg m^2, about the centre, in the axes of the world: xx, yy, zz, xy, yz,
                     ///< xz; 0 (default): that of the volume inside with this mass. An open surface
                     ///< needs mass, centre and inertia
  double volume;     ///< m^3 inside the surface, set by the library
  double reserved[5]; ///< 0
} NoliRigidDef;

/// The defaults named above.
NOLI_API NoliMaterialDef noli_default_material_def(void);

/// Forces and moments inside a triangle of a shell: symmetric tensors in the axes of the world, xx,
/// yy, zz, xy, yz, xz, per length as it is now. Never changes its size.
typedef struct NoliSheetForces {
  double membrane[6]; ///< N/m; positive eigenvalues are tension
  double bending[6];  ///< N m/m; a positive eigenvalue shortens the side of the triangle's normal
} NoliSheetForces;

/// Forces and moments inside a segment of a rod: what the side of its second vertex exerts on that
/// of the first one. Never changes its size.
typedef struct NoliRodForces {
  double tension;    ///< N, negative under pressure
  double bending[3]; ///< N m, a vector across the segment
  double twist;      ///< N m, about the segment from its first vertex to the second
} NoliRodForces;

/// Stress and strain of an element, means over its volume at rest, or of a vertex, means of the
/// elements around it. Symmetric tensors are xx, yy, zz, xy, yz, xz. Never changes its size.
typedef struct NoliStress {
  double cauchy[6];       ///< Pa, axes of the world; of shells without bending, of rods their
                          ///< tension over the area at rest
  double principal[3];    ///< Pa, the eigenvalues of `cauchy`, the largest first
  double first_piola[9];  ///< Pa, P = dPsi/dF row by row; 0 in shells, rods and points
  double green_strain[6]; ///< (F^T F - 1) / 2, axes of the rest shape; 0 in shells, rods, points
  double von_mises;       ///< Pa, mean of the equivalent of `cauchy`
} NoliStress;

/// One standard atmosphere, Pa.
#define NOLI_ATMOSPHERE 101325.0

/// Resultants over all contacts between two entities: forces on `a`; the opposite ones act on `b`.
/// Never changes its size.
typedef struct NoliPairForce {
  int32_t a;
  int32_t b;
  int64_t contacts;
  double normal[3];    ///< N
  double friction[3];  ///< N
  double min_distance; ///< m, less the contact offsets
  double reserved[3];
} NoliPairForce;

/// Whether a contact holds. Values never change.
typedef enum NoliSticking {
  NOLI_STICKING_NONE = 0, ///< without a slip: no friction, no normal force at the end of the step,
                          ///< or friction.law is not "stick"
  NOLI_STICKING_HELD = 1,
  NOLI_STICKING_SLIDING = 2, ///< slid in the last step
} NoliSticking;

/// A contact in the last step: two primitives that act on each other. Never changes its size.
typedef struct NoliContactInfo {
  int32_t entity[2]; ///< bodies, or a body and a half-space
  int32_t vertex[4]; ///< of both primitives, global, those that the distance depends on: first
                     ///< n_first of entity[0], then those of entity[1]; NOLI_NULL_INDEX fills up
  int32_t n_first;
  NoliSticking sticking;
  double position[2][3];    ///< m, closest points of both sides, less contact offsets
  double normal[3];         ///< unit, from entity[1] to entity[0]
  double gap;               ///< m; INFINITY where only friction acts, with the normal force of an
                            ///< earlier point (lagged friction)
  double normal_force[3];   ///< N, on entity[0]
  double friction_force[3]; ///< N, on entity[0]
  double slip[3];           ///< m, elastic, of entity[0] against entity[1]: it is given back
  double slid;              ///< m, how far the contact has slid in all its steps
  double reserved[2];
} NoliContactInfo;

#ifdef __cplusplus
}
#endif
