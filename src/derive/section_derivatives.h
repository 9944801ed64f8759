// How the angle by which a motion turns the section of a held segment of a rod with twist
// (step/conditions.c) changes with what it follows from.
#pragma once

#include "derive/motion_derivatives.h"
#include "fem/block.h"

// A segment in a step, between the vertices of the mesh.
typedef struct NoliSection {
  NoliVec3 tangent, director; // of its frame at the start of the step
  double angle;               // of its section there
  NoliVec3 edge;              // at the target
  NoliVec3 rest;              // director at rest
} NoliSection;

typedef struct NoliSectionDerivative {
  double turn;
  NoliVec3 by_tangent, by_director;
  double by_angle;
  NoliVec3 by_edge;
  NoliVec3 by_rest;
  double by_change; // by the factor of the motion
  NoliVec3 by_spin;
} NoliSectionDerivative;

// `derivative` is that of the motion.
NoliSectionDerivative noli_section_derivative(const NoliSection* section,
                                              const NoliMotionDerivative* derivative);
