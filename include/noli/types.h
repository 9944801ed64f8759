/// @file types.h
/// Plain types of definitions and results that the simulator shares with the parts below it:
/// materials and forces between bodies. noli/sim.h includes them. SI units throughout.
#pragma once

#include "noli/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Largest Young's modulus (Pa) and density (kg/m^3): far beyond any material, and small enough
/// that no product in a simulation overflows.
#define NOLI_MATERIAL_MAX 1e40

/// Material of a body. Never changes its size.
typedef struct NoliMaterialDef {
  const char* law; ///< hyperelastic law: "neo_hookean" (default), "fixed_corotated",
                   ///< "stable_neo_hookean", "corotated_linear", "stvk"; elements never invert,
                   ///< whatever the law
  double young;    ///< Pa, in (0, NOLI_MATERIAL_MAX]; default 1e5
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
  void* reserved[8]; ///< NULL
} NoliMaterialDef;

/// The defaults named above.
NOLI_API NoliMaterialDef noli_default_material_def(void);

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
  double min_distance; ///< m
  double reserved[3];
} NoliPairForce;

#ifdef __cplusplus
}
#endif
