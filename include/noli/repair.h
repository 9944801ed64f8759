/// @file repair.h
/// Repair of starts: bodies that intersect, touch or lie inside each other are moved apart until a
/// simulation can begin. docs/howto/repair.md
#pragma once

#include "noli/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

/// How to repair. Never changes its size.
typedef struct NoliRepairDef {
  bool settle;    ///< true: also move bodies apart that are closer than the contact distance;
                  ///< default false
  bool rigid;     ///< true: only translate, never deform; default false
  int32_t rounds; ///< of searches for translations, and ten times as many of deforming, > 0;
                  ///< default 60
  void* reserved[4];
} NoliRepairDef;

/// The defaults named above.
NOLI_API NoliRepairDef noli_default_repair_def(void);

/// The displacement of a body by the repair. Never changes its size.
typedef struct NoliRepairMove {
  double distance;       ///< m, largest displacement of a vertex; 0: the body stays where it is
  double translation[3]; ///< m, of the body as a whole: the mean displacement of its vertices
  double deformation;    ///< m, largest displacement of a vertex besides the translation; 0: none
  const double* x0;      ///< (n_vert x 3) where the vertices of its mesh start; owned by the repair
  void* reserved[2];
} NoliRepairMove;

/// The result of a repair. Never changes its size.
typedef struct NoliRepair {
  NoliRepairMove* move; ///< (n_bodies) owned
  int32_t n_bodies;     ///< as in the definition
  int32_t n_moved;      ///< bodies that were moved
  int64_t n_defects;    ///< of the start before the repair, as noli_sim_check counts them
  double length;        ///< l, m
  double gap;           ///< m, that was aimed at between moved surfaces: the contact distance
  double* x;            ///< storage of all positions
  int64_t n_refused;    ///< ways that were refused because they led through a thin body
  void* reserved[3];
} NoliRepair;

/// Moves bodies apart whose start has defects, by the smallest motion that it finds. First whole
/// bodies are translated; then connected parts of bodies; then surfaces deform. Rest shapes stay as
/// they are. What neither meets nor touches a thin body at the start stays on its side of it.
/// Obstacles, bodies with prescribed vertices and half-spaces stay in place; unprescribed
/// vertices of the former may move when surfaces deform. The result passes noli_sim_check.
/// It does not depend on the number of threads.
///
/// A start without defects gives a repair that moves nothing. Fails with NOLI_ERROR_INTERSECTION
/// where it finds no way: the message names the bodies and the reason; NOLI_INVERTED_ELEMENT where
/// elements are inverted, which it does not repair; otherwise as noli_sim_check.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_sim_repair(NoliContext* context, const NoliSimDef* def,
                                                     const NoliRepairDef* repair_def,
                                                     NoliRepair* repair);

/// Releases what a repair owns. NULL is harmless.
NOLI_API void noli_repair_free(NoliContext* context, NoliRepair* repair);

#ifdef __cplusplus
}
#endif
