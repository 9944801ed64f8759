// Coordinates of joints in a model (fem/loads/joint_coordinates.h): those in which something acts
// or can act, by the types of joints (define/joint_coordinate.h).
#pragma once

#include "noli/sim.h"

struct NoliModel;

// After connections and motions.
NOLI_WARN_UNUSED NoliStatus noli_model_add_coordinates(struct NoliModel* model,
                                                       const NoliSimDef* def);
