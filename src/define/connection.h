// Connections: vertices of a body that are joined to another body, or to the ground.
//
// A type is a line in NOLI_CONNECTION_LISTS (base/definition_lists.h) and a file in
// model/connections: its defaults, checks, and what it adds to a model: nodes that follow others,
// or forces with an energy (fem/loads/connection_forces.h). Definitions, copies, scenes, histories,
// terms of the solver and changes of bodies ask this table.
#pragma once

#include "base/numbers.h"
#include "noli/sim.h"

struct NoliModel;
struct NoliBindings;

// The members that definitions of connections may have, by name.
#define NOLI_CONNECTION_ENDS(X)                                                                    \
  X(name) X(where) X(body) X(node) X(n_node) X(to) X(to_node) X(n_to_node) X(at_point) X(point)

// A common view of a definition; what it does not have is 0, and `to` NOLI_NULL_INDEX.
typedef struct NoliConnectionEnds {
  const char* name;
  const char* where;
  int32_t body;
  const int32_t* node; // NULL: all vertices
  int32_t n_node;
  int32_t to; // NOLI_NULL_INDEX: the ground
  const int32_t* to_node;
  int32_t n_to_node;
  bool at_point;
  double point[3];
} NoliConnectionEnds;

typedef struct NoliConnectionType {
  // Where these members are in a definition; 0: it has none.
  struct {
#define NOLI_CONNECTION_END(end) size_t end;
    NOLI_CONNECTION_ENDS(NOLI_CONNECTION_END)
#undef NOLI_CONNECTION_END
  } at;
  const char* keys[2];  // of `body` and `to` in scenes; NULL: these
  const char* obstacle; // why `body` cannot be an obstacle, in messages about scenes

  // ---- definition, beyond ends and numbers; NULL: nothing

  const char* (*defect)(const void* item); // "has ..."; NULL: none
  NoliStatus (*check)(NoliContext* context, const NoliSimDef* def, int32_t index);

  // ---- model; NULL: nothing

  // Lists the nodes that follow others (model/connections/bindings.h), before there are motions.
  NoliStatus (*bind)(struct NoliModel* model, const NoliSimDef* def, struct NoliBindings* bindings);
  // Adds forces to the problem, after motions and loads.
  NoliStatus (*add_forces)(struct NoliModel* model, const NoliSimDef* def);

  // ---- history; NULL: none

  const char* columns; // after the entities that it joins
  int32_t n_value;
  // The values of an item at positions x and velocities v; `lagged` as of its dampers at x. NULL:
  // those of joints (measure/joints.h).
  void (*report)(const struct NoliModel* model, int32_t index, const double* lagged,
                 const double* x, const double* v, double* value);
} NoliConnectionType;

// All definitions of a type: a list of NoliSimDef.
typedef struct NoliConnectionList {
  const char* name;      // of the list, also in scenes
  const char* noun;      // of an item in messages
  size_t size;           // of an item
  size_t items, n_items; // where NoliSimDef has them
  NoliNumbersOf numbers;
  void (*init)(void* item); // to defaults
  const NoliConnectionType* type;
} NoliConnectionList;

const NoliConnectionList* noli_connection_list(int32_t kind);

int32_t noli_connection_count(int32_t kind, const NoliSimDef* def);
const void* noli_connection_item(int32_t kind, const NoliSimDef* def, int32_t index);

NoliConnectionEnds noli_connection_ends(int32_t kind, const void* item);
// Sets those of the members that a definition has.
void noli_connection_set_ends(int32_t kind, const NoliConnectionEnds* ends, void* item);

// Start of messages about an item: its place, and the noun with its number.
typedef struct NoliConnectionPrefix {
  char text[400];
} NoliConnectionPrefix;
NoliConnectionPrefix noli_connection_prefix(int32_t kind, const NoliSimDef* def, int32_t index);

#define NOLI_CONNECTION_TYPE(list, type, item, ITEM)                                               \
  extern const NoliConnectionType noli_connection_##item;
NOLI_CONNECTION_LISTS(NOLI_CONNECTION_TYPE)
#undef NOLI_CONNECTION_TYPE
