// The format for others: as JSON Schema (noli_scene_schema) and as the reference of
// docs/reference/scene.md.
#pragma once

#include "base/context.h"

// Markdown: a table for each kind of object. `*reference` is owned by the caller.
NOLI_WARN_UNUSED NoliStatus noli_scene_reference(NoliContext* context, char** reference);
