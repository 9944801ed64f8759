// Constant data of a simulation: bodies, physics, prescribed motion, loads. Built once from a
// definition; owns copies of all its data.
#pragma once

#include "define/choices.h"
#include "integrate/integrator.h"
#include "math/vec3.h"
#include "noli/sim.h"
#include "solve/method.h"
#include "solve/problem.h"

// Functions of the host that run now, which the simulation counts.
typedef struct NoliHostCalls {
  int32_t n;            // targets, values, progress
  int32_t n_objectives; // they may read results
} NoliHostCalls;

typedef struct NoliMotion {
  int32_t n_node;
  int32_t* node; // local to the body
  double* X;     // (n_node x 3)
  int32_t end;   // index among the motions that end by position, or NOLI_NULL_INDEX
  NoliMotionDef def;
  NoliHostCalls* calls; // of the model
} NoliMotion;

typedef struct NoliForce {
  int32_t n_node;
  int32_t* node; // global
  double total_mass;
  NoliFaces faces;        // of tractions and pressures
  NoliCurvedFaces curved; // of those on elements of high order or curved ones
  double thickness;       // m, of a body in plane strain; else 1
  int32_t pressed_first;  // of them among the faces with a pressure; number of the curved ones
  NoliForceKind kind;
  NoliForceDef def;
} NoliForce;

// A node that a connection makes a follower.
typedef struct NoliBound {
  int32_t node;
  int32_t kind; // of the connection, and its number
  int32_t item;
} NoliBound;

// Where a tied node is bound before the run: in the corners of a tetrahedron, triangle or segment,
// or at a single point. Those without a weight come last.
typedef struct NoliTiePlace {
  int32_t node;
  int32_t n;
  int32_t vertex[4]; // which may be tied, or follow, too
  double weight[4];
  NoliVec3 x[4]; // m, of the vertices
  NoliVec3 p;    // m, of the node
} NoliTiePlace;

// Two primitives of the surface, or a vertex and a half-space, that share no vertex.
typedef struct NoliGap {
  double distance;      // m
  int32_t entity[2];    // bodies or half-spaces; NOLI_NULL_INDEX: there is no such pair
  int32_t n_vert[2];    // of each primitive; 0 of half-spaces
  int32_t vertex[2][3]; // global; of an edge that is a point, twice the same
  bool edges;           // both are edges
  double range;         // of contact of its pair; 0: 1, as of all pairs
} NoliGap;

typedef struct NoliModel {
  NoliContext* context;
  NoliProblem problem;
  const NoliIntegrator* integrator;
  double h;
  NoliHostCalls* calls;        // of the simulation; NULL: nobody counts
  NoliIncrementDef increments; // `smallest` > 0 where `initial` is
  double gravity[3];
  NoliAudit audit;

  int32_t n_body;
  int32_t n_entity;         // bodies, then half-spaces
  char** name;              // (n_entity)
  char* petsc_options;      // NULL: none
  bool* obstacle;           // (n_body)
  bool* carried;            // (n_body) vertices of the host are those that the nodes carry
  bool* sheet;              // (n_body) of model/sheets.h; NULL with other contact models
  int32_t* vert_first;      // (n_body + 1) nodes
  int32_t* follower_first;  // (n_body + 1) vertices of the proxy other than nodes
  int32_t* cell_first;      // (n_body + 1)
  int32_t* cell;            // (cells x 4) corners, also for elements with more nodes; NULL on ranks
                            // that have left them to the first one
  bool cells_on_first;      // all but the first rank have (model/rank_cells.h)
  uint64_t* element_digest; // (n_body) of model/fingerprint.h, where they have; else NULL
  int32_t* segment;         // (n_segment x 2) lone segments of obstacles
  int32_t n_segment;
  int32_t* lone_point; // (n_lone_point)
  int32_t n_lone_point;
  NoliGap rest_gap;      // the smallest within rest shapes if it is below the contact distance
  bool follows_rest_gap; // the contact distance was reduced because of it
  double* x0;            // (n_vert x 3) initial positions
  double* joint_x;       // (n_vert x 3) where joints are made; NULL: there are none
  double* v0;            // (n_vert x 3) initial velocities
  NoliBound* bound;      // (n_bound) as problem.followers.tied
  int32_t n_bound;
  NoliTiePlace* tie; // (n_tie) of the nodes that ties bind, ascending
  int32_t n_tie;

  NoliMotion* motion;
  int32_t n_motion;
  int32_t n_ends; // motions that end by position
  NoliForce* force;
  int32_t n_force;
} NoliModel;

// A function of the host begins (1) or ends (-1).
static inline void noli_host_called(NoliHostCalls* calls, int32_t change) {
  if (calls != NULL) {
    calls->n += change;
  }
}

// The number of a vertex within its body: nodes, then the vertices of the proxy that follow them;
// of bodies that are carried, first the latter.
static inline int32_t noli_model_local(const NoliModel* model, int32_t vertex) {
  int32_t body = model->problem.surface->body[vertex], first = model->vert_first[body];
  bool node = vertex < model->problem.n_node;
  int32_t own = vertex - (node ? first : model->follower_first[body]);
  int32_t n_node = model->vert_first[body + 1] - first;
  int32_t n_follower = model->follower_first[body + 1] - model->follower_first[body];
  return model->carried[body] ? own + (node ? n_follower : 0) : own + (node ? 0 : n_node);
}

// The number of element t of a body's block among all cells.
static inline int32_t noli_model_cell(const NoliModel* model, int32_t body, int32_t t) {
  NoliBlockRange range = model->problem.range[body];
  int32_t number = noli_block_number(&model->problem.block[range.block], t);
  return model->cell_first[body] + number - range.first;
}

// The element of a block among all cells, and its body; NOLI_NULL_INDEX: none.
int64_t noli_model_element(const NoliModel* model, NoliBlockingElement element, int32_t* body);

// Nodes of a body that are angles, after those that are positions.
static inline int32_t noli_model_angle_count(const NoliModel* model, int32_t body) {
  const NoliBlock* block = noli_problem_block(&model->problem, body);
  return block != NULL ? block->n_angle : 0;
}

// Vertices of a body that hosts name, and the vertex of the scene that is number `local` of them.
static inline int32_t noli_model_vertex_count(const NoliModel* model, int32_t body) {
  return model->carried[body] ? model->follower_first[body + 1] - model->follower_first[body]
                              : model->vert_first[body + 1] - model->vert_first[body] -
                                    noli_model_angle_count(model, body);
}
static inline int32_t noli_model_vertex(const NoliModel* model, int32_t body, int32_t local) {
  return (model->carried[body] ? model->follower_first : model->vert_first)[body] + local;
}

// Lists the given vertices of a body, or all of them where `node` is NULL: the angles of rods, its
// last nodes, have no place. Messages begin with `where`. The caller frees the list.
NOLI_WARN_UNUSED NoliStatus noli_model_list_vertices(const NoliModel* model, const char* where,
                                                     int32_t body, const int32_t* node,
                                                     int32_t n_node, int32_t** vertex,
                                                     int32_t* n_vertex);

// Doubles of the histories of all blocks.
static inline int64_t noli_model_history_size(const NoliModel* model) {
  int64_t n = 0;
  for (int32_t i = 0; i < model->problem.n_block; i++) {
    n += model->problem.block[i].n_history;
  }
  return n;
}

// Vertices of a cell of model->cell.
static inline int32_t noli_model_cell_size(const int32_t cell[4]) {
  int32_t n = 4;
  while (n > 1 && cell[n - 1] == NOLI_NULL_INDEX) {
    n--;
  }
  return n;
}

// `starts`: (n_bodies) where the nodes of each body were when its joints were made, or NULL: where
// it starts; NULL: all. `divide`: elements are divided among the ranks, which all call this;
// otherwise each rank that calls it holds all. `calls` outlives the model; NULL: functions of the
// host are not counted. Fails with NOLI_ERROR_ARGUMENT (a located message), NOLI_INVERTED_ELEMENT,
// NOLI_ERROR_MEMORY. Does not check for intersections.
NOLI_WARN_UNUSED NoliStatus noli_model_create(NoliContext* context, const NoliSimDef* def,
                                              const double* const* starts, bool divide,
                                              NoliHostCalls* calls, NoliModel** model);

// Puts the results of all ranks together: `value`, `size` bytes made of doubles for each of n
// items, to which each rank has added those of its own elements, and only the first one those of
// blocks that are not divided (noli_model_counts).
NOLI_WARN_UNUSED NoliStatus noli_model_gather(const NoliModel* model, size_t size, void* value,
                                              int64_t n);
bool noli_model_counts(const NoliModel* model, const NoliBlock* block);

// The volume of a body at rest, m^3.
NOLI_WARN_UNUSED NoliStatus noli_model_rest_volume(const NoliModel* model, int32_t body,
                                                   double* volume);
void noli_model_destroy(NoliModel** owner);

// Makes rigid bodies and joints as stiff as the time step and gravity ask for, which may have
// changed.
void noli_model_stiffen_rigid(NoliModel* model);

void noli_model_set_tolerance(NoliModel* model, NoliScaled tolerance);
// Replaces friction and contact distance of all pairs by those of a definition. On failure
// (NOLI_ERROR_ARGUMENT, NOLI_ERROR_MEMORY) nothing changes.
NOLI_WARN_UNUSED NoliStatus noli_model_set_pairs(NoliModel* model, const NoliSimDef* def);

// Validator (base/validate.h).
const char* noli_model_defect(const NoliModel* model);

// The sizes of the simulated bodies with vertices at X (n_vert x 3).
NoliSceneSize noli_model_size(const NoliModel* model, const double* X);

// A value of a definition, which may be relative to a size of the scene.
double noli_resolve(NoliScaled scaled, const NoliSceneSize* size);

// The range of the adhesion of a pair with this contact distance, m each.
double noli_model_adhesion_range(const NoliModel* model, const NoliSimDef* def,
                                 const NoliPairDef* pair, double distance);
