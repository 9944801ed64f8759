// The audit of the frames of a run.
#pragma once

#include "output/audit/auditor.h"

// The list of frames against the steps that were done; then every frame against the scene, its
// step and its row of forces. Counts the frames that are what they should be.
NOLI_WARN_UNUSED NoliStatus noli_auditor_check_frames(NoliAuditor* auditor);
