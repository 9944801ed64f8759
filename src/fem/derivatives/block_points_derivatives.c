// The derivatives of free particles: masses and positions are all that they have.
#include "fem/derivatives/block_derivatives.h"

const NoliBlockDerivatives noli_points_derivatives = {0};
