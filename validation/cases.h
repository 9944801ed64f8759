// The validation cases. Each simulates its scenes, compares them with a closed form or a limit,
// and reports tables, plots and checks with the bounds that docs/evidence/validation.md publishes.
// In a quick report only a part. They return false if a simulation fails.
#pragma once

#include "report.h"

typedef bool Case(Report* report);

Case validate_cantilever;
Case validate_elastica;
Case validate_hertz;
Case validate_convergent_hertz;
Case validate_landing;
Case validate_slope;
Case validate_cone;
Case validate_sliding;
Case validate_sheet_slope;
Case validate_capstan;
Case validate_holding;
Case validate_break_away;
Case validate_slip_limit;
Case validate_rod_slips;
Case validate_adhesion;
Case validate_mindlin;
Case validate_stopping;
Case validate_wedge;
Case validate_punch;
Case validate_pin;
Case validate_patch;
Case validate_lame;
Case validate_press;
Case validate_bar;
Case validate_restitution;
Case validate_energy;
Case validate_momentum;
Case validate_rotation;
Case validate_stack;
Case validate_rubber;
Case validate_fibres;
Case validate_viscous;
Case validate_plasticity;
Case validate_shell_shear;
Case validate_shell_weight;
Case validate_shell_plate;
Case validate_shell_hemisphere;
Case validate_shell_locking;
Case validate_shell_annulus;
Case validate_shell_pullout;
Case validate_shell_pinched;
Case validate_shell_crushed;
Case validate_thin_vibration;
Case validate_modes;
Case validate_derivatives;
Case validate_rod_weight;
Case validate_rod_bend;
Case validate_rod_twist;
Case validate_rod_lateral;
Case validate_shell_lateral;
Case validate_rod_curl;
