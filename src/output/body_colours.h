// Colours of bodies, the same on pages, in reports and pictures, and in exchange formats.
#pragma once

enum { NOLI_BODY_COLOURS = 8 };

// (sRGB, 0 to 1) Of bodies in turn, and of obstacles. scripts/render.py has the same.
extern const float noli_body_colours[NOLI_BODY_COLOURS][3];
extern const float noli_obstacle_colour[3];
