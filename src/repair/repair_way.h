// The shortest way that parts two units which cross or lie inside each other: directions are
// sampled, and the exact audit tells of each how far one must move until both are apart.
#pragma once

#include "repair/repair.h"

// Which units are known to be convex, and scratch.
typedef struct NoliRepairSearch {
  const NoliRepairWork* work;
  const NoliRepairUnits* units;
  int8_t* convex; // (n units) -1: not tested yet
  int32_t* local; // (n_vert) scratch
} NoliRepairSearch;

// A translation.
typedef struct NoliRepairWay {
  NoliVec3 normal; // unit
  double length;   // m
} NoliRepairWay;

// The search among the units where they are in work->x. Fails with NOLI_ERROR_MEMORY; must be
// released then, too.
NOLI_WARN_UNUSED NoliStatus noli_repair_search_create(const NoliRepairWork* work,
                                                      const NoliRepairUnits* units,
                                                      NoliRepairSearch* search);
void noli_repair_search_free(NoliRepairSearch* search);

// The way of unit a away from unit b; a length of 0: they do not meet. With `fixed` the direction
// is given; else that of `way` is one of those tried.
NOLI_WARN_UNUSED NoliStatus noli_repair_find_way(const NoliRepairSearch* search, int32_t a,
                                                 int32_t b, const NoliVec3* fixed,
                                                 NoliRepairWay* way);
