// Which shells have an inside: with the contact model "implicit_surface" the surface of a closed
// shell is tested like that of a solid; that of an open sheet is tested, from both sides, by sheets
// alone, which collision detection keeps apart.
#pragma once

#include "model/model.h"

// Fills model->sheet, and sets problem->sheets.gap if open sheets meet. Needs surface, pairs, the
// contact distance, names and x0. Fails with NOLI_ERROR_ARGUMENT and a message that names bodies
// and a place if a closed shell faces inward, or if a body starts inside it; if an audit is asked
// for although no sheets meet; NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_sheets_find(NoliModel* model, const NoliSimDef* def);

// Fails with NOLI_ERROR_ARGUMENT if a closed shell, other than those of `sheet` (n_body; NULL:
// none), faces inward.
NOLI_WARN_UNUSED NoliStatus noli_sheets_require_outward(const NoliModel* model,
                                                        const NoliSimDef* def, const bool* sheet);
