// The contact distance relative to the gaps at the start. Contact acts on all surfaces closer than
// the contact distance, also on both sides of a thin body and on neighbours in a fine mesh: such a
// body swells and remains under stress. The default distance stays below the gaps within rest
// shapes; the user is warned if a given distance does not, or if bodies start closer to each other.
#pragma once

#include "collide/broad_phase.h"
#include "model/model.h"

// Whether the contact model acts on all primitives closer than the contact distance, whatever they
// belong to.
bool noli_clearance_acts_at_rest(const NoliModel* model);

// Sets problem->contact.dhat and model->rest_gap: the given distance or the default, which is half
// the smallest gap between parts of the surface of one body at rest that share no vertex if that
// gap is below 1e-3 d, and otherwise 1e-3 d. Needs surface, pairs, sizes and the contact model;
// with models without forces at rest ("gcp") or without self-contact the default is 1e-3 d. Fails
// with NOLI_ERROR_ARGUMENT for a distance whose square is out of range.
NOLI_WARN_UNUSED NoliStatus noli_clearance_set_distance(NoliModel* model, const NoliSimDef* def);

// The smallest gap between parts of one body at rest that share no vertex, of the bodies that meet
// themselves, if it is below `reach`; otherwise *smallest stays as it is.
NOLI_WARN_UNUSED NoliStatus noli_clearance_rest_gap(const NoliModel* model,
                                                    const NoliBodyPairs* pairs, double reach,
                                                    NoliGap* smallest);

// Logs the distance if the rest shapes determine it, and bodies inside a closed obstacle. Warns if
// contact acts at the start: names the bodies, the gap and a distance that avoids it.
NOLI_WARN_UNUSED NoliStatus noli_clearance_report(const NoliModel* model);

// The closest pair of primitives at x (n_vert x 3), half-spaces included, that is nearer than
// gap->distance; else gap->entity[0] is NOLI_NULL_INDEX.
NOLI_WARN_UNUSED NoliStatus noli_clearance_closest(const NoliModel* model,
                                                   NoliBroadPhase* broad_phase, const double* x,
                                                   NoliGap* gap);
