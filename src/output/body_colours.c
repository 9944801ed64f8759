#include "output/body_colours.h"

const float noli_body_colours[NOLI_BODY_COLOURS][3] = {
    {0.36F, 0.61F, 0.84F}, {0.93F, 0.58F, 0.34F}, {0.44F, 0.72F, 0.48F}, {0.78F, 0.55F, 0.82F},
    {0.86F, 0.76F, 0.38F}, {0.84F, 0.47F, 0.50F}, {0.40F, 0.74F, 0.74F}, {0.63F, 0.60F, 0.87F},
};
const float noli_obstacle_colour[3] = {0.62F, 0.64F, 0.68F};
