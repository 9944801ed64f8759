// Stress and strain as results: means over the points of an element.
#pragma once

#include "material/history.h"

// Adds those of a point with deformation gradient F, times its volume.
void noli_stress_add(NoliStress* sum, double volume, const NoliMaterialPoint* point,
                     const NoliMat3* F);

// Adds another sum, times a factor.
void noli_stress_add_scaled(NoliStress* sum, double factor, const NoliStress* other);

// The six entries of the symmetric part: xx, yy, zz, xy, yz, xz.
void noli_stress_pack(const NoliMat3* m, double tensor[6]);

// Von Mises equivalent of a Cauchy stress.
double noli_stress_equivalent(const double cauchy[6]);

// Makes means of sums over this volume, and finds the principal stresses.
void noli_stress_finish(NoliStress* stress, double volume);
