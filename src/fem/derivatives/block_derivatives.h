// The derivatives of a type of block by what a run depends on besides positions: rest shapes,
// numbers of materials, histories, frames and masses.
//
// Only src/derive asks for them. A type without a table (NoliBlockType.derivatives is NULL) is
// complete in all else, and derivatives of runs with such elements are refused by name. The table
// of a type lies in block_NAME_derivatives.c; an entry that is NULL adds nothing, or its comment
// says what stands for it.
#pragma once

#include "fem/block.h"
#include "material/tangent.h"

enum { NOLI_BENDING_SIZE = 36 }; // components of the nodes of a stencil of bending, at most

// The damping force K+ w of a stencil of bending, with its projected stiffness K+ at positions y
// and w (3 size) at its nodes, and its derivatives, row-major.
typedef struct NoliBendingDamping {
  double force[NOLI_BENDING_SIZE];
  double by_y[NOLI_BENDING_SIZE * NOLI_BENDING_SIZE];    // (3 size x 3 size)
  double by_rest[NOLI_BENDING_SIZE * NOLI_BENDING_SIZE]; // of its nodes that are no angles
  int32_t element[2];                                    // NOLI_NULL_INDEX: none
  double by_mu[2 * NOLI_BENDING_SIZE]; // (3 size x 2) by Lame's parameters of its elements
  double by_lambda[2 * NOLI_BENDING_SIZE];
  double by_radius[NOLI_BENDING_SIZE];     // by its logarithm, where the gradient has one, too
  int64_t place[12];                       // of the frame, where the type has any
  double by_frame[12 * NOLI_BENDING_SIZE]; // (3 size x 12)
} NoliBendingDamping;

// The elastic energy of a stencil of a thin body and its derivatives
// (fem/derivatives/energy_derivatives.h).
typedef struct NoliEnergyDerivatives {
  double value;                      // J
  double by_x[NOLI_BENDING_SIZE];    // (3 size)
  double by_rest[NOLI_BENDING_SIZE]; // (3 size) by rest positions; of angles 0
  double by_mu[2];                   // by Lame's parameters of its elements
  double by_lambda[2];
  double by_radius;    // of bending, by the logarithm of the radius, where the gradient has it, too
  int64_t place[12];   // of the frame; meaningless where it has no derivative
  double by_frame[12]; // of bending, where the type has any
} NoliEnergyDerivatives;

// Derivatives of a gradient by Lame's parameters of up to two elements: (3 size x 2) each, zero
// before.
typedef struct NoliModuliDerivatives {
  int32_t element[2]; // NOLI_NULL_INDEX: there is none
  double* by_mu;
  double* by_lambda;
} NoliModuliDerivatives;

struct NoliBlockDerivatives {
  // ---- shapes

  // Gradients in X of the linear functions of the vertices at point q; NULL: elements are straight.
  void (*vertex_gradients)(const NoliBlock* block, int32_t element, int32_t q,
                           NoliVec3 gradient[4]);
  // Gradients in X of the shape functions of all nodes at point q, (n_local); 0 of missing nodes.
  // Where the type has points of quadrature.
  void (*shape_gradients)(const NoliBlock* block, int32_t element, int32_t q, NoliVec3* gradient);
  // How the volume of an element changes with rest positions of its vertices, m^2; NULL: as that of
  // a straight one.
  void (*volume)(const NoliBlock* block, int32_t element, NoliVec3 by_rest[4]);

  // ---- consistent masses; NULL where the mass is lumped

  // The contribution of each element to the measure of its nodes (NoliBlockType.add_mass),
  // (n_element x n_local) kg, and its derivatives by rest positions of its vertices, (n_element x
  // n_local x 12) or NULL, but for a factor that all nodes share. Fails with NOLI_ERROR_MEMORY.
  NoliStatus (*measure_shares)(const NoliBlock* block, double* share, double* by_rest);
  // How the gradient of the inertia of each element, `z` in place of x - reference and scale 1,
  // changes with rest positions of its vertices: (n_element x 3 n_local x 12). NULL: in proportion
  // to its volume. Fails with NOLI_ERROR_MEMORY.
  NoliStatus (*inertia_by_rest)(const NoliBlock* block, const double* z, double* by_rest);

  // ---- frames; NULL: there are none

  // The change of a frame that is taken from `before` to x, by changes of positions and of the
  // frame before; the adjoint adds derivatives by both.
  void (*frame_tangent)(const NoliBlock* block, const double* before, const double* x,
                        const double* dx, const double* d_before, double* d_after);
  void (*frame_adjoint)(const NoliBlock* block, const double* before, const double* x,
                        const double* by_after, double* by_x, double* by_before);
  // The same of the frame at rest, by rest positions X.
  void (*rest_frame_tangent)(const NoliBlock* block, const double* X, const double* dX,
                             double* d_frame);
  void (*rest_frame_adjoint)(const NoliBlock* block, const double* X, const double* by_frame,
                             double* by_X);

  // ---- elastic energies of thin elements; NULL: nothing resists, or the body is solid

  // How the gradient of a stencil of a part, times `scale`, changes with Lame's parameters.
  void (*by_moduli)(const NoliBlock* block, NoliBlockPart part, int64_t stencil, const double* X,
                    const double* x, double scale, NoliModuliDerivatives* to);
  // Adds derivatives of the energy of a stencil of a part to those that are set: the energy, by x
  // and, of elements, by their rest shape without the turn of directions in it.
  void (*energy)(const NoliBlock* block, NoliBlockPart part, int64_t stencil, const double* X,
                 const double* x, NoliEnergyDerivatives* derivatives);
  // Adds to `by_rest` (3 n_local x 3 n_local), how the gradient of an element changes with rest
  // positions of its nodes, what directions in it contribute, which do not turn with its rest
  // shape; `gradient` and `hessian` of the element, with its scale. NULL: there are none.
  void (*add_axis)(const NoliBlock* block, int64_t element, const double* X, const double* x,
                   const double* gradient, const double* hessian, double* by_rest);
  // The product of the projected tangent of an element at F with W, and its derivatives, where
  // `gradient` are those of its linear functions at rest.
  void (*tangent_product)(const NoliBlock* block, int32_t element, const NoliVec3 gradient[4],
                          const NoliMat3* F, const NoliMat3* W, NoliTangentProduct* product);
  // How that product changes where the directions of an element turn in its plane, and how they
  // turn with rest positions of its vertices. False: it has none. NULL: no element has any.
  bool (*product_by_turn)(const NoliBlock* block, int32_t element, const double* X,
                          const NoliVec3 gradient[4], const NoliMat3* F, const NoliMat3* W,
                          const NoliTangentProduct* product, NoliMat3* by_turn, double turn[9]);

  // ---- bending; how the gradient of a stencil, times `scale`, changes, row-major; NULL: there is
  // no bending

  // With rest positions X of its nodes that are no angles: as many columns. NULL: it has no such
  // derivative, too.
  void (*bending_by_rest)(const NoliBlock* block, int64_t stencil, const double* X, const double* x,
                          double scale, double* by_rest);
  // With the logarithm of the radius that measures angles: (3 size). NULL: there are no angles.
  void (*bending_by_radius)(const NoliBlock* block, int64_t stencil, const double* x, double scale,
                            double* by_radius);
  // With `place` (12) of the frame: (3 size x 12). NULL: there are no frames.
  void (*bending_by_frame)(const NoliBlock* block, int64_t stencil, const double* x, double scale,
                           int64_t place[12], double* by_frame);
  // Damping of a stencil; all zero before.
  void (*bending_damping)(const NoliBlock* block, int64_t stencil, const double* X, const double* y,
                          const double* w, NoliBendingDamping* damping);
};

extern const NoliBlockDerivatives noli_tets_derivatives;
extern const NoliBlockDerivatives noli_order_n_derivatives;
extern const NoliBlockDerivatives noli_shells_derivatives;
extern const NoliBlockDerivatives noli_rods_derivatives;
extern const NoliBlockDerivatives noli_twisted_derivatives;
extern const NoliBlockDerivatives noli_points_derivatives;

// The derivatives of the elements of a block, which are there (derive/solves/sensitivity_defect.c).
static inline const NoliBlockDerivatives* noli_derivatives_of(const NoliBlock* block) {
  return block->type->derivatives;
}
