// Quantities of goals: functions of positions and velocities, with their exact derivatives.
//
// A quantity is of some vertices or elements of a body and has a value of some components for each
// of them, or one for all: its items. Its table entry computes values and, from weights of them,
// the weighted sum of their derivatives by positions, by velocities, and by the inputs of the model
// at fixed positions (linalg/input.h): masses, moduli, rest positions.
#pragma once

#include "base/named.h"
#include "derive/inputs.h"

typedef enum NoliGoalSet {
  NOLI_GOAL_VERTICES,
  NOLI_GOAL_ELEMENTS, // with their rest volumes as weights
} NoliGoalSet;

// Where a quantity is taken.
typedef struct NoliGoalPlace {
  const NoliSim* sim;
  int32_t body;
  int32_t other;         // body of contact forces; NOLI_NULL_INDEX: all
  const int32_t* vertex; // (n_vertex) of the simulation
  int32_t n_vertex;
  const int32_t* element; // (n_element) of the body; NULL: all
  int32_t n_element;
  const double* x; // (n_vert x 3)
  const double* v; // (n_vert x 3)
} NoliGoalPlace;

// The block of the body; NULL: there is none.
static inline const NoliBlock* noli_goal_block(const NoliGoalPlace* place) {
  return noli_problem_block(&place->sim->model->problem, place->body);
}

// Where derivatives are added; NULL: not wanted.
typedef struct NoliGoalDerivatives {
  double* x;         // (n_vert x 3)
  double* v;         // (n_vert x 3)
  double* history;   // (noli_model_history_size)
  NoliInputs inputs; // those that `reads` names
} NoliGoalDerivatives;

typedef struct NoliGoalQuantity {
  const char* name;
  const char* description;
  NoliGoalSet set;
  bool each; // a value for each of the set; else one for all
  int32_t n_components;
  unsigned reads; // bit k: the value depends on input k at fixed x and v
  // NULL: always; else the reason for which there is no derivative, or NULL
  const char* (*defect)(const NoliGoalPlace* place);
  NoliStatus (*values)(const NoliGoalPlace* place, double* value);
  NoliStatus (*derive)(const NoliGoalPlace* place, const double* weight,
                       NoliGoalDerivatives* derivatives);
} NoliGoalQuantity;

// The `index`-th quantity, NULL past the last. The quantity of this name, or NULL.
const NoliGoalQuantity* noli_goal_quantity_at(int32_t index);
extern const NoliNames noli_goal_quantity_names;
const NoliGoalQuantity* noli_goal_quantity_find(const char* name);

// Number of items of a quantity at a place; their weights in means, (n).
int32_t noli_goal_item_count(const NoliGoalQuantity* quantity, const NoliGoalPlace* place);
void noli_goal_item_weights(const NoliGoalQuantity* quantity, const NoliGoalPlace* place,
                            double* weight);
// Adds what follows from derivatives by these weights (n).
void noli_goal_derive_weights(const NoliGoalQuantity* quantity, const NoliGoalPlace* place,
                              const double* by_weight, NoliGoalDerivatives* derivatives);
