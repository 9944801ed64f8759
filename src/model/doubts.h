// Warnings about discretizations whose error is known to be a factor, not a few per cent: linear
// elements that lock, a single layer of them through a thickness that bends, and a contact distance
// or a stick length beyond the features of a body.
#pragma once

#include "model/model.h"

// Warns once for each reason, of the first body and how many others share it. Logs what is off by a
// few per cent, too: bounces with an integrator that is not meant for them. Needs the elements of
// all bodies. Fails with NOLI_ERROR_MEMORY.
NOLI_WARN_UNUSED NoliStatus noli_doubts_report(const NoliModel* model, const NoliSimDef* def);
