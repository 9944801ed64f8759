// Mixed derivatives of springs, closed volumes, pressures and tractions: how their gradients change
// with their own numbers, with rest positions, and with where a step began.
#pragma once

#include "fem/loads/pressure.h"
#include "fem/loads/spring.h"
#include "fem/loads/volume.h"
#include "linalg/input.h"

// Where the forces of springs are differentiated; all (n_vert x 3).
typedef struct NoliSpringDerivatives {
  const double* X;
  const double* x;
  const double* x_hat;
  const double* lagged; // where the axes of dampers are taken
  double scale;         // h_e^2
  double damping_scale; // h_e^2 / h_v; 0: dampers do not act
} NoliSpringDerivatives;

// By stiffness, length and damping (NOLI_INPUT_SPRING) and by rest positions, as `wanted` says, and
// by the point `lagged` (NOLI_INPUT_DAMPED) where a spring has a damper.
NOLI_WARN_UNUSED NoliStatus noli_spring_derivatives(NoliMixedList* list, const NoliSprings* springs,
                                                    unsigned wanted,
                                                    const NoliSpringDerivatives* at);

// By the numbers of regions (NOLI_INPUT_REGION). `data` is prepared at x.
NOLI_WARN_UNUSED NoliStatus noli_volume_derivatives(NoliMixedList* list, const NoliVolume* data,
                                                    const double* x);

// By the factors of forces, if `wanted` says so, and by the positions at the start of the step,
// `begin`, and the origins (NOLI_INPUT_BEGIN), whose rows follow those of n_vert vertices. `force`
// (faces) has the index of the force of each face.
NOLI_WARN_UNUSED NoliStatus noli_pressure_derivatives(NoliMixedList* list, const NoliPressure* data,
                                                      unsigned wanted, const int32_t* force,
                                                      int32_t n_vert, const double* begin,
                                                      const double* x);

// Derivatives of a traction on faces with rest positions X, by these: `traction` (n_vert x 3) as of
// noli_faces_add_traction, times `scale`.
NOLI_WARN_UNUSED NoliStatus noli_traction_derivatives(NoliMixedList* list, const NoliFaces* faces,
                                                      const double* X, const double* traction,
                                                      double scale);

// Derivatives of loads by the rest positions of vertices, which the values at these vertices follow
// as `by_place` (n_vert) says: of a traction, and of the pressure of faces from `first` to `end`.
NOLI_WARN_UNUSED NoliStatus noli_traction_place_derivatives(NoliMixedList* list,
                                                            const NoliFaces* faces, const double* X,
                                                            const NoliMat3* by_place, double scale);
NOLI_WARN_UNUSED NoliStatus noli_pressure_place_derivatives(NoliMixedList* list,
                                                            const NoliPressure* data, int32_t first,
                                                            int32_t end, const NoliMat3* by_place,
                                                            const double* begin, const double* x);
