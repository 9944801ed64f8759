// The stiffness of rigid bodies, which depends on the time step and is set after the block is made.
#pragma once

#include "fem/block.h"

// Stiffness k, J, of element e, whose energy is k |A^T A - I|^2.
void noli_rigid_set_stiffness(NoliBlock* block, int32_t element, double stiffness);

// Elements in joints, or that motions prescribe, are softer where iterations turn them
// (solve/easing.h); the others are free (solve/arcs.h).
void noli_rigid_join(NoliBlock* block, int32_t element);
bool noli_rigid_has_joined(const NoliBlock* block);

double noli_rigid_mass(const NoliBlock* block, int32_t element); // kg
// The mass, kg, that an element must move as if it were its own: its own, or more in joints.
void noli_rigid_bear(NoliBlock* block, int32_t element, double mass);
double noli_rigid_borne(const NoliBlock* block, int32_t element);
// The largest squared radius of the mass of an element, m^2: its second moment over its mass.
double noli_rigid_radius_sqr(const NoliBlock* block, int32_t element);

// |A^T A - I| of an element at x (n_vert x 3), in the norm of Frobenius.
double noli_rigid_stretch(const NoliBlock* block, int32_t element, const double* x);

// How much a step p (n_vert x 3) that turns elements along straight lines stretches them: the
// largest product, over elements that are joined, or free, of |dA^T dA|, the square of the angle,
// and k / (m s^2), 1/s^2.
double noli_rigid_excess(const NoliBlock* block, const double* p, bool joined);

// Changes a step p from x (n_vert x 3) such that all elements are at x + p what they are at rest,
// but for a turn: the closest such places of their masses.
void noli_rigid_turn_step(const NoliBlock* block, const double* x, double* p);

// Changes a step p from x (n_vert x 3) of free elements such that its end is, to first order, the
// same and has, to all orders, the stretch of the first: with dA = R (W + E) of the rotation R at
// x, W skew and E symmetric, A = R S becomes R exp(W) (S + E).
void noli_rigid_bend_step(const NoliBlock* block, const double* x, double* p);
