// Blocks of elements: the only interface to elements outside fem/.
//
// A block has a type (a table of functions), the nodes of its elements, their materials, and data
// of the type (rest data, masses). The problem (solve/problem.h) says which elements of which block
// belong to a body. A type consists of a file, block_NAME.c, and a line in the table of blocks.c.
// All vectors are those of the scene, (n_vert x 3).
//
// On several ranks each evaluates the energies of its own elements, of which it lists the stencils
// (fem/own_stencils.h). Of some types it also holds the data of these only, in their order, and
// numbers them from 0: the block is divided, and what is summed over elements is summed over ranks
// as well. Other data, and histories, are on every rank.
//
// Mass is lumped or consistent. Lumped masses of all blocks are summed at the nodes and share one
// inertia term. A consistent mass is a matrix over nodes that belong to no other block.
#pragma once

#include "base/derivatives.h"
#include "fem/space.h"
#include "linalg/energy_term.h"
#include "material/history.h"

typedef struct NoliBlockType NoliBlockType;
typedef struct NoliBlockDerivatives NoliBlockDerivatives;

// The data of a body for a block.
typedef struct NoliBlockBody {
  const NoliMesh* mesh;
  int32_t order;         // of the displacement, 1 to 4
  int32_t first_node;    // its first vertex in the scene
  int32_t n_element;     // cells of the kind of the body (define/body_kind.h)
  const int32_t* corner; // (n_element x 4) vertices in the scene; NOLI_NULL_INDEX pads cells that
                         // have fewer
  double mass_damping;   // 1/s
  NoliShellDef shell;    // a thickness of 0: none
  NoliRodDef rod;        // a radius of 0: none
  NoliPointDef point;    // a radius of 0: none
  NoliRigidDef rigid;    // with all of its mass
} NoliBlockBody;

// Some stencils of a list, in its order.
typedef struct NoliOwnStencils {
  int64_t n;
  int64_t* number; // (n) in the list, ascending
  int32_t* node;   // (n x size of a stencil)
} NoliOwnStencils;

// Elastic energies of a block: of its elements, and of bending, which may have different stencils.
typedef enum NoliBlockPart {
  NOLI_PART_ELEMENTS,
  NOLI_PART_BENDING,
  NOLI_BLOCK_PARTS
} NoliBlockPart;

// Constant once finished, but for the history.
typedef struct NoliBlock {
  const NoliBlockType* type;
  NoliContext* context;
  int32_t n_element;        // that this rank holds
  bool divided;             // other ranks hold others
  int32_t* number;          // (n_element) among those of all ranks, ascending; NULL: not divided
  bool damped_elsewhere;    // an element of another rank is damped
  int32_t n_local;          // nodes of an element
  int32_t* node;            // (n_element x n_local) padded with NOLI_NULL_INDEX
  const NoliMaterial** law; // (n_element), like all that follow
  double* lame_mu;          // Pa
  double* lame_lambda;      // Pa
  double* parameter;        // (n_element x NOLI_LAW_PARAMETERS); NULL: no law has any
  double* fibre;            // (n_element x NOLI_FIBRE_VALUES) unit directions; NULL: there are none
  double* density;          // kg/m^3
  double* damping_time;     // s, of stiffness damping
  int32_t first_node;       // of the n_consistent contiguous nodes with a consistent mass
  int32_t n_consistent;     // 0: the mass is lumped
  double mass_damping;      // 1/s, of the consistent mass
  const NoliSpace* space;   // if there are nodes that are not vertices of the mesh; else NULL
  int32_t first_angle;      // of the n_angle nodes that are angles of elements about themselves:
  int32_t n_angle;          // their x is the angle times angle_radius, y and z are 0
  double angle_radius;      // m
  bool elliptic;            // sections of rods with angles are
  int64_t n_history;        // doubles of the history of the elements: frames, or histories of laws
  double* history;        // (n_history) the current one, in the state; else that of the rest shape
  NoliHistories laws;     // of materials with history, in `history` or `begun`
  double* begun;          // (n_history) as the current stage sees them
  int64_t* history_first; // (n_element + 1) that of `laws`
  const NoliProny** of_element; // (n_element) that of `laws`
  NoliProny* prony;             // (n_prony) those in `laws`
  int32_t n_prony;
  int64_t prony_room;
  bool* mine; // (n_element) those that this rank evaluates; NULL: it is alone, the block is
              // divided, or ranks evaluate consecutive stencils
  NoliOwnStencils own[NOLI_BLOCK_PARTS]; // of this rank, with `mine`
  NoliOwnStencils own_damped;            // of this rank, where damping has a list of its own
  void* self;                            // of the type
} NoliBlock;

typedef struct NoliBlockStencils {
  int64_t n;
  int32_t size;
  const int32_t* node;        // (n x size) NOLI_NULL_INDEX pads those that have fewer
  int32_t n_angle;            // the last of its nodes that are angles: no translation moves them
  const int32_t* element;     // (n x 2) of bending: the elements that it is between, or one twice;
                              // NULL: the stencils are those of the elements
  const double* damping_time; // (n) s
  NoliTermFn* evaluate;       // data is a NoliBlockEnergy
} NoliBlockStencils;

typedef struct NoliElementSize {
  double volume;     // m^3, at rest
  double length_sqr; // m^2, of what a wave crosses
  double modulus;    // Pa, of waves
} NoliElementSize;

// An energy of a block at one stage: the data of its terms.
typedef struct NoliBlockEnergy {
  const NoliBlock* block;
  NoliBlockPart part;
  double scale;            // energy, gradient and Hessian are multiplied by it
  const double* reference; // inertia: x_tilde; damping: x_hat
  const double* stiffness; // damping: of the step
  const double* last;      // elasticity of thin elements: x before the last Newton step, or NULL.
                           // Their projected Hessian is that of the stretch which a linearization
                           // there predicts, in the frame of x: without the stretch of second
                           // order that a straight step causes as it turns elements, and the next
                           // one removes [Magisano2017]
  const double* share;     // elasticity of rigid elements in joints: of their stiffness; NULL: all
  NoliTermFn* of_any;      // evaluates stencils of the list of which this rank has some
} NoliBlockEnergy;

// Stiffness damping (fem/damping.h): storage of and products with beta K of a step.
typedef struct NoliBlockDamping {
  // Number of doubles of beta K of a part; 0 without damping.
  int64_t (*size)(const NoliBlock* block, NoliBlockPart part);
  // Computes beta K at x.
  void (*set)(const NoliBlock* block, NoliBlockPart part, const double* x, int32_t n_threads,
              double* stiffness);
  // Adds -beta K v to force.
  void (*add_force)(const NoliBlock* block, NoliBlockPart part, const double* stiffness,
                    const double* v, double* force);
  // dx^T beta K dx with dx = x1 - x0, J s.
  double (*loss)(const NoliBlock* block, NoliBlockPart part, const double* stiffness,
                 const double* x0, const double* x1, int32_t n_threads);
  // scale / 2 (x - reference)^T beta K (x - reference). Borrows `energy`.
  NoliEnergyTerm (*term)(const NoliBlockEnergy* energy);
  bool of_damped; // its stencils are those of elements that are damped, else those of the part
} NoliBlockDamping;

struct NoliBlockType {
  const char* name;
  bool shared;    // one block has the elements of all bodies of the type; otherwise one per body
  bool solid;     // elements fill a volume that excludes other bodies
  bool divisible; // elements can be divided among ranks: each stands for itself
  bool eases;     // solves may begin with softer elements: solve/easing.h
  bool affine; // F is constant in an element: its vertices determine its orientation, and its faces
               // are flat
  bool (*serves)(const NoliBlockBody* body);
  // Blocks of the Hessians of the stencils of an element, undamped, with inertia and its share of
  // bending; at least 1. `others`: elements that share a vertex with it, once for each vertex.
  int32_t (*work)(const NoliBlockBody* body, int32_t others);

  // ---- creation, in this order

  // Adds the body's elements as [begin, begin + n_element), and their nodes.
  NoliStatus (*add)(NoliBlock* block, int32_t begin, const NoliBlockBody* body);
  // Sets the rest data of [begin, end) from X; `thickness` of triangles, m. Messages number
  // elements from `first`, the number of the body's first one among those of all ranks. NULL: `add`
  // has set them. Fails with NOLI_INVERTED_ELEMENT.
  NoliStatus (*set_rest)(NoliBlock* block, int32_t begin, int32_t end, int32_t first,
                         const double* X, double thickness);
  // Computes data that depend on all elements and their materials.
  NoliStatus (*finish)(NoliBlock* block);
  // Frees the data of the type, even if incomplete.
  void (*destroy)(NoliBlock* block);

  // ---- orientation, tested everywhere or at points of quadrature, depending on the type; NULL:
  // elements cannot invert

  bool (*is_inverted)(const NoliBlock* block, const double* x, int32_t element);
  // As noli_tets_inversion_bound.
  double (*inversion_bound)(const NoliBlock* block, const double* x, const double* p, double keep,
                            bool valid_end, int32_t n_threads, int32_t* blocking);

  // The largest turn of an element by a step p, as the norm of its gradient; NULL: elements are not
  // thin.
  double (*turn)(const NoliBlock* block, const double* p);

  // ---- frames; NULL: there are none

  // First axis of the section of an element at rest.
  NoliVec3 (*axis_at_rest)(const NoliBlock* block, int32_t element);
  // A frame at rest, taken to x at once: the history of the block.
  void (*start_history)(const NoliBlock* block, const double* x, double* frame);
  // Takes a frame to x, at the end of a step.
  void (*move_history)(const NoliBlock* block, const double* x, double* frame);

  // ---- points of quadrature, for materials with history; NULL: elements cannot have any

  int32_t (*point_count)(const NoliBlock* block); // of an element
  // Volume of point q at rest, m^3.
  double (*point_volume)(const NoliBlock* block, int32_t element, int32_t q);
  // Deformation gradients at the points of an element.
  void (*deformation)(const NoliBlock* block, int32_t element, const double* x, NoliMat3* F);
  // ---- mass

  // Adds the lumped mass to mass (n_vert), kg; for a consistent mass, a positive measure of nodes:
  // the mass distributed in proportion to the diagonal of the matrix.
  void (*add_mass)(const NoliBlock* block, double* mass);

  // Functions of a consistent mass M, which access only its nodes; NULL if the mass is lumped.
  void (*set_weight)(const NoliBlock* block, double* weight); // row sums, (n_vert) kg
  void (*multiply_mass)(const NoliBlock* block, const double* x, int32_t n_threads, double* y);
  void (*divide_by_mass)(const NoliBlock* block, const double* y, int32_t n_threads, double* x);
  // (a - b)^T M (a - b); b NULL: b = 0.
  double (*mass_norm_sqr)(const NoliBlock* block, const double* a, const double* b,
                          int32_t n_threads);

  // ---- measures

  NoliElementSize (*size)(const NoliBlock* block, int32_t element);
  // In place of sums over `size`: the functions noli_block_ of the same names.
  double (*rest_volume)(const NoliBlock* block, int32_t begin, int32_t end);
  double (*wave_time_sqr)(const NoliBlock* block);
  double (*frequency_sqr)(const NoliBlock* block, int32_t begin, int32_t end, const double* mass);
  // Sums of stress and strain over the rest volume of an element (material/stress.h), of which its
  // points have noli_block_mean_volume.
  void (*add_stress)(const NoliBlock* block, int32_t element, const double* x, NoliStress* sum);
  // Forces and moments inside all elements of the block, (n_element), of shells or rods; NULL: they
  // are neither.
  void (*sheet_forces)(const NoliBlock* block, const double* x, NoliSheetForces* forces);
  void (*rod_forces)(const NoliBlock* block, const double* x, NoliRodForces* forces);

  // ---- energies; data is a NoliBlockEnergy

  NoliTermFn* elasticity;                               // NULL: nothing resists
  NoliBlockStencils (*bending)(const NoliBlock* block); // NULL: no separate bending
  NoliTermFn* inertia; // scale / 2 (x - reference)^T M (x - reference); NULL: lumped
  const NoliBlockDamping* damping;

  const NoliBlockDerivatives* derivatives; // fem/derivatives/block_derivatives.h; NULL: none
};

extern const NoliBlockType noli_block_rigid;   // rigid bodies
extern const NoliBlockType noli_block_tets;    // linear tetrahedra, triangles in plane strain
extern const NoliBlockType noli_block_order_n; // tetrahedra of any order and shape
extern const NoliBlockType noli_block_shells;  // triangles in space, and the hinges between them
extern const NoliBlockType noli_block_rods;    // segments, and the turns between them
extern const NoliBlockType noli_block_twisted; // rods that resist twist, too
extern const NoliBlockType noli_block_points;  // free particles

// Stiffness damping of types with an elasticity.
extern const NoliBlockDamping noli_block_damping;

// The table of types. `_for`: the first type that serves a body.
int32_t noli_block_type_count(void);
const NoliBlockType* noli_block_type_at(int32_t index);
const NoliBlockType* noli_block_type_for(const NoliBlockBody* body);

// Allocates the data common to all types for the elements of the block, whose type and number are
// set, and nothing else but how it is divided. Fails with NOLI_ERROR_MEMORY; the caller must
// destroy the block even then.
NOLI_WARN_UNUSED NoliStatus noli_block_create(NoliContext* context, NoliBlock* block);
void noli_block_destroy(NoliBlock* block);

// Histories: of the directors of rods, or of materials with history. A block has one of them or
// none.

// Makes space for `n` more Prony series, before any of them is set. Sets that of an element to a
// copy; NULL: none. Elements of one series follow one another.
NOLI_WARN_UNUSED NoliStatus noli_block_reserve_prony(NoliBlock* block, int32_t n);
void noli_block_set_prony(NoliBlock* block, int32_t element, const NoliProny* prony);
// Lays out the histories of the materials; called by types that have points of quadrature.
NOLI_WARN_UNUSED NoliStatus noli_block_create_histories(NoliBlock* block);
// The materials with history; NULL: there are none.
static inline const NoliHistories* noli_block_histories(const NoliBlock* block) {
  return block->laws.first != NULL ? &block->laws : NULL;
}
// The history of elements [begin, end): all of it if it is not that of a material.
static inline int64_t noli_block_history_at(const NoliBlock* block, int32_t element) {
  bool all = block->laws.first == NULL;
  return all ? (element < block->n_element ? 0 : block->n_history) : block->laws.first[element];
}
// Sets `history` (n_history) to that of bodies at rest that are at x at once.
void noli_block_start_history(const NoliBlock* block, const double* x, double* history);
// A stage begins, which ends `elapsed` after the start of the step with positions x, s; materials
// see their histories accordingly. The end of the stage, also of one that failed.
void noli_block_begin_stage(NoliBlock* block, const double* x, double elapsed, int32_t n_threads);
void noli_block_end_stage(NoliBlock* block);
// Takes the history to x, in the last stage of a step; histories of materials stay outside of
// stages. Ends the stage.
void noli_block_move_history(NoliBlock* block, const double* x, int32_t n_threads);

// The number of an element among those of all ranks; the element with a number, or NOLI_NULL_INDEX
// where another rank has it.
static inline int32_t noli_block_number(const NoliBlock* block, int32_t element) {
  return block->divided ? block->number[element] : element;
}
int32_t noli_block_find(const NoliBlock* block, int32_t number);

// Whether an element of the block, on any rank, has a damping in proportion to its stiffness.
bool noli_block_is_damped(const NoliBlock* block);

// Whether a material of the block has a yield stress.
bool noli_block_yields(const NoliBlock* block);

// The volume of an element that means over its points divide by: that of the points, which is not
// the whole where the shape of the element is curved above its order; without points, the whole.
double noli_block_mean_volume(const NoliBlock* block, int32_t element);

// Equivalent plastic strain, the mean over the volume of an element; 0 without a yield stress.
double noli_block_plastic_strain(const NoliBlock* block, int32_t element);

// P-wave modulus of an element, Pa, along its fibres if there are any, instantaneous.
static inline double noli_block_modulus(const NoliBlock* block, int32_t element) {
  double modulus = 2.0 * block->lame_mu[element] + block->lame_lambda[element];
  if (block->laws.prony != NULL && block->laws.prony[element] != NULL) {
    double more = noli_prony_ratio(block->laws.prony[element]) - 1.0;
    modulus += 4.0 / 3.0 * more * block->lame_mu[element];
  }
  return block->fibre != NULL
             ? modulus + 4.0 * block->fibre[NOLI_FIBRE_VALUES * (int64_t)element + 3]
             : modulus;
}

double noli_block_rest_volume(const NoliBlock* block, int32_t begin, int32_t end); // m^3
// Volume times the mean square of the time in which a wave crosses an element, m^3 s^2.
double noli_block_wave_time_sqr(const NoliBlock* block);
// The largest ratio of stiffness to mass in [begin, end), 1/s^2. `mass` as set by add_mass.
double noli_block_frequency_sqr(const NoliBlock* block, int32_t begin, int32_t end,
                                const double* mass);

// The stencils of a part; none if the type has no such part.
NoliBlockStencils noli_block_stencils(const NoliBlock* block, NoliBlockPart part);

// Terms; `energy` is borrowed. They may have no stencils.
NoliEnergyTerm noli_block_elasticity_term(const NoliBlockEnergy* energy);
NoliEnergyTerm noli_block_inertia_term(const NoliBlockEnergy* energy);

// Elastic energy of all parts at x, J.
double noli_block_elastic_energy(const NoliBlock* block, const double* x, int32_t n_threads);
