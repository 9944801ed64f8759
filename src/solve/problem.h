// The constant data of time-step problems: solvers read it, the model owns and fills it
// (src/model/model.h).
#pragma once

#include "collide/half_space.h"
#include "collide/surface.h"
#include "contact/adhesion/adhesion.h"
#include "contact/contact_set.h"
#include "contact/convergent.h"
#include "contact/gcp/gcp_support.h"
#include "fem/block.h"
#include "fem/loads/curved_faces.h"
#include "fem/loads/pressure.h"
#include "fem/loads/connection_forces.h"
#include "fem/loads/joint_couplings.h"
#include "fem/loads/volume.h"
#include "linalg/followers.h"
#include "noli/sim.h"
#include "solve/contact_model.h"

#include <math.h>

typedef struct NoliSolverMethod NoliSolverMethod; // solve/method.h

// Data of the geometric contact potential; empty with other contact models.
typedef struct NoliGcpProblem {
  NoliRings* rings;
  NoliGcpModel model;
  NoliGcpSetup setup;
  double weight; // m^2, mean of the vertices of deformable bodies
  bool has_open; // some obstacle is open: it uses the barrier
  uint8_t*
      inside;   // (n_body) whether its surface can meet itself from inside: an inner barrier acts
  double inner; // m, range of that barrier
} NoliGcpProblem;

// The elements [begin, end) of a block that belong to a body, as many as this rank holds.
// Forces of connections by kind, and those that keep joints together.
enum { NOLI_CONNECTION_CONSTRAINTS = NOLI_CONNECTION_KINDS, NOLI_CONNECTION_FORCES };

typedef struct NoliBlockRange {
  int32_t block; // NOLI_NULL_INDEX: obstacles have none
  int32_t begin;
  int32_t end;
  int32_t first; // number of the body's first element among those of all ranks: `begin` unless the
                 // block is divided
} NoliBlockRange;

// Sizes at rest, m, of all simulated bodies, or of the obstacles where there are none.
typedef struct NoliSceneSize {
  double l; // the diagonal of the box around them, which depends on the axes
  double d; // the diameter of the smallest ball around them, which does not; equal to l for a box
} NoliSceneSize;

// Masses of vertices, and the vertices that have them: those of deformable bodies.
typedef struct NoliMasses {
  double* mass;     // (n_vert of the problem) kg, > 0: lumped, or a measure of nodes of consistent
                    // masses; vertices of obstacles carry the mean mass
  double* weight;   // (n_vert of the problem) kg: contribution to mass, centre and momentum
  double mean_mass; // kg
  int32_t* vert;    // (n_vert) vertices of deformable bodies
  int32_t n_vert;
  int32_t* lumped; // (n_lumped) those with lumped mass
  int32_t n_lumped;
  int32_t* own_lumped; // (n_own_lumped) those of them that this rank owns where ranks have parts;
                       // elsewhere all
  int32_t n_own_lumped;
  double* drag;       // (n_vert of the problem) kg/s, mass times mass damping
  int32_t* drag_vert; // (n_drag) own vertices with nonzero drag
  int32_t n_drag;
  double static_time; // s, h_e without inertia: time of a wave to cross an element
} NoliMasses;

// The division of rows, vertices, contacts and elements among ranks.
typedef struct NoliRankShare {
  int32_t* owner; // (n_node) rank that has the row of a node; NULL: there is one rank
  int32_t* home;  // (n_vert) the rank that owns a vertex, or nodes that it follows; of obstacles
                  // NOLI_NULL_INDEX. NULL: there is one rank
  bool divides_contacts; // if the contact model can: each rank has some of them
  bool in_parts; // each of several ranks evaluates the elements of its part, and the inertia of the
                 // nodes that it owns; else consecutive stencils of all
} NoliRankShare;

// Faces with a pressure of the loads.
typedef struct NoliPressedFaces {
  NoliFaces flat;
  const NoliCurvedFaces** curved; // (n_curved) borrowed from the forces
  int32_t n_curved;
} NoliPressedFaces;

// Which bodies and half-spaces are in contact, and how.
typedef struct NoliContactSettings {
  const NoliContactModel* model;
  NoliHalfSpace* half_spaces; // (n_half_spaces)
  int32_t n_half_spaces;
  NoliBodyPairs body_pairs;  // which entities collide
  NoliContactPairs pairs;    // the same, with friction
  NoliSampling sampling;     // of surfaces; empty: none adheres, and contact is not convergent
  NoliConvergent convergent; // weights of "ipc"; empty: each pair counts once
  double dhat;               // m
  const char* ccd;
  double fixed_stiffness; // Pa/m, of the barrier; of convergent contact Pa; 0: adaptive
  NoliGcpProblem gcp;
  double surface_radius; // m, of "implicit_surface"; 0: separate for each body
  const bool* still;     // (n_body) obstacles; borrowed from the model
} NoliContactSettings;

// Without inertia the Newton step, m, divided by this time, s, is compared with the tolerance, m/s:
// the length of a load step is no measure of accuracy.
#define NOLI_STATIC_TOLERANCE_TIME 0.01

typedef struct NoliFrictionSettings {
  bool acts;              // some pair has friction
  double speed;           // eps_v, m/s
  int32_t iterations;     // 0: until convergence
  bool implicit;          // evaluated at the end of the step, without energy
  bool basis_derivatives; // in its Jacobian
  bool sticks;            // contacts keep an elastic slip (contact/friction/stick.h)
  double stick_length;    // m, at which they yield
  double speed_scale;     // m/s, over which friction changes: eps_v, or the stick length over the
                          // time step
} NoliFrictionSettings;

// Sheets that meet with "implicit_surface" are kept apart.
typedef struct NoliSheets {
  const bool*
      is_sheet;     // (n_body) shells that enclose no volume; else NULL; borrowed from the model
  bool gap_at_rest; // the gap is that at rest, not in proportion to dhat
  double gap;       // m: a barrier acts below it; 0: none meet
} NoliSheets;

// How a stage is solved, and when its solve ends.
typedef struct NoliSolverSettings {
  const NoliSolverMethod* method;
  double tolerance;         // eps_d, m/s
  double speed_share;       // eps_d is at least this fraction of the largest speed of a step; or 0
  double imbalance_allowed; // of the forces on a body at the end of a solve: solve/balance.h
  int32_t max_iterations;
  int32_t min_iterations; // K_min; 0: depends on whether a step has friction
  int32_t max_substeps;
  bool toi_termination; // end by eq. 9 of [Zheng2025] instead of by the Newton step
  double toi_tolerance;
  NoliAugmentedLagrangianDef augmented_lagrangian;
} NoliSolverSettings;

// Names of linalg/solver.h.
typedef struct NoliLinearSettings {
  const char* solver;         // of symmetric systems
  const char* general_solver; // of others
  const char* petsc_options;  // NULL: none
  double tolerance;
} NoliLinearSettings;

typedef struct NoliProblem {
  int32_t n_vert; // nodes, then vertices that follow them
  int32_t n_node; // candidates for unknowns
  double* X;      // (n_vert x 3) rest positions
  NoliSceneSize size;
  NoliMasses inertia;

  NoliBlock* block; // (n_block)
  int32_t n_block;
  NoliBlockRange* range; // (n_body)
  NoliRankShare ranks;
  NoliFollowers followers;

  NoliVolumes volumes; // closed regions that resist a change of their volume
  NoliPressedFaces pressed;
  NoliConnections connection[NOLI_CONNECTION_FORCES];
  NoliCoordinates coordinates; // of joints
  NoliCouplings couplings;     // of coordinates

  NoliSurface* surface;
  NoliContactSettings contact;
  NoliFrictionSettings friction;
  NoliSheets sheets;

  NoliSolverSettings solver;
  NoliLinearSettings linear;
} NoliProblem;

// An element that limits a step.
typedef struct NoliBlockingElement {
  int32_t block;   // NOLI_NULL_INDEX: none
  int32_t element; // among those of all ranks
} NoliBlockingElement;

// Whether collision detection bounds steps, and the pairs whose surfaces it keeps from
// intersecting.
static inline bool noli_problem_keeps_apart(const NoliProblem* problem) {
  return problem->contact.model->keeps_apart || problem->sheets.gap > 0.0;
}

static inline NoliBodyPairs noli_problem_kept_apart(const NoliProblem* problem) {
  NoliBodyPairs pairs = problem->contact.body_pairs;
  pairs.among = problem->contact.model->keeps_apart ? NULL : problem->sheets.is_sheet;
  return pairs;
}

// Whether pairs have the weights of convergent contact.
static inline bool noli_problem_is_convergent(const NoliProblem* problem) {
  return problem->contact.convergent.area != NULL;
}

// All that can collide.
static inline NoliColliders noli_problem_colliders(const NoliProblem* problem) {
  return (NoliColliders){
      .surface = problem->surface,
      .half_spaces = problem->contact.half_spaces,
      .n_half_spaces = problem->contact.n_half_spaces,
      .pairs = problem->contact.pairs.touch,
      .convergent = noli_problem_is_convergent(problem) ? &problem->contact.convergent : NULL};
}

// eps_d, m/s, of a step that begins with this largest speed of a node.
static inline double noli_problem_tolerance(const NoliProblem* problem, double speed) {
  return fmax(problem->solver.tolerance, problem->solver.speed_share * speed);
}

// The block of a body; NULL for obstacles.
static inline const NoliBlock* noli_problem_block(const NoliProblem* problem, int32_t body) {
  int32_t block = problem->range[body].block;
  return block != NOLI_NULL_INDEX ? &problem->block[block] : NULL;
}

// Whether the mass of some block is consistent; whether connections have forces; whether some
// element or connection is damped; whether some element is of a material with history.
bool noli_problem_has_consistent_mass(const NoliProblem* problem);
bool noli_problem_has_connections(const NoliProblem* problem);
bool noli_problem_is_damped(const NoliProblem* problem);
bool noli_problem_has_histories(const NoliProblem* problem);

// The largest turn of a thin element by a step p (n_vert x 3), rad; 0: there are none.
double noli_problem_turn(const NoliProblem* problem, const double* p);
bool noli_problem_has_thin(const NoliProblem* problem);

// Whether ranks hold elements of their own.
bool noli_problem_is_divided(const NoliProblem* problem);

// As noli_tets_inversion_bound, into `alpha`, for all elements of the problem. `blocking` may be
// NULL.
NOLI_WARN_UNUSED NoliStatus noli_problem_inversion_bound(const NoliProblem* problem,
                                                         NoliContext* context, const double* x,
                                                         const double* p, double keep,
                                                         bool valid_end, double* alpha,
                                                         NoliBlockingElement* blocking);

// Sets `x` of nodes with consistent mass to M^-1 y or M y; leaves that of others unchanged.
void noli_problem_divide_by_mass(const NoliProblem* problem, const double* y, int32_t n_threads,
                                 double* x);
void noli_problem_multiply_mass(const NoliProblem* problem, const double* y, int32_t n_threads,
                                double* x);

// Kinetic energy at velocities v (n_vert x 3), J.
double noli_problem_kinetic_energy(const NoliProblem* problem, const double* v, int32_t n_threads);
