// The data of the block of shells (block_shells.c).
#pragma once

#include "fem/block.h"
#include "fem/thin/fold.h"
#include "fem/thin/sheet.h"

typedef struct NoliShells {
  NoliTriangles triangles;            // borrows the nodes of the block
  NoliMembrane membrane;              // of them, scale 1
  const NoliMembraneLaw** law;        // (n_element)
  NoliMembraneParameters* parameters; // (n_element)
  double* thickness;                  // (n_element) m
  double* along;                      // (n_element x 2) N m, as in noli_hinges_set_stiffness
  NoliPlate* plate;                   // (n_element)
  NoliShellDef* def;                  // (n_element)
  NoliHinges hinges;
  NoliFolds folds;         // none if no body bends as a plate; otherwise hinges are among them
  double* bending_damping; // (folds, or hinges) s
  bool limited;            // some element has a limit
} NoliShells;

static inline const NoliShells* noli_shells_of(const NoliBlock* block) {
  return block->self;
}
