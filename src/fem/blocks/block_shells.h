// The data of the block of shells (block_shells.c), and its derivatives (shell_slopes.c).
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

// Those of NoliBlockType.
void noli_shells_bending_by_rest(const NoliBlock* block, int64_t stencil, const double* X,
                                 const double* x, double scale, double* slope);
void noli_shells_add_axis_slope(const NoliBlock* block, int64_t element, const double* X,
                                const double* x, const double* gradient, const double* hessian,
                                double* slope);
void noli_shells_tangent_product(const NoliBlock* block, int32_t element,
                                 const NoliVec3 gradient[4], const NoliMat3* F, const NoliMat3* W,
                                 NoliTangentProduct* product);
bool noli_shells_product_by_turn(const NoliBlock* block, int32_t element, const double* X,
                                 const NoliVec3 gradient[4], const NoliMat3* F, const NoliMat3* W,
                                 const NoliTangentProduct* product, NoliMat3* by_turn,
                                 double turn[9]);
void noli_shells_bending_damping(const NoliBlock* block, int64_t stencil, const double* X,
                                 const double* y, const double* w, NoliBendingDamping* damping);
void noli_shells_by_moduli(const NoliBlock* block, NoliBlockPart part, int64_t stencil,
                           const double* X, const double* x, double scale, int32_t element[2],
                           double* by_mu, double* by_lambda);
void noli_shells_energy_slopes(const NoliBlock* block, NoliBlockPart part, int64_t stencil,
                               const double* X, const double* x, NoliEnergySlopes* slopes);
