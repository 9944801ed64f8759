// The commands of the program.
#pragma once

#include "options.h"

extern const Command command_run;
extern const Command command_check;
extern const Command command_resume;
extern const Command command_info;
extern const Command command_convert;
extern const Command command_audit;
extern const Command command_modes;
extern const Command command_design;
extern const Command command_view;
extern const Command command_report;
extern const Command command_picture;
extern const Command command_mesh;
