// Wavefront OBJ: text, with the materials in a file beside it.
#pragma once

#include "exchange/exchange.h"

// Writes the shape at positions x (n_vert x 3) as an object with normals; `n_before` vertices are
// in the file already.
NOLI_WARN_UNUSED NoliStatus noli_obj_put_shape(const NoliExchange* exchange, NoliFile* file,
                                               int32_t shape, const float* x, int64_t n_before);

// Writes the beginning of a file, which names the file of the materials.
NOLI_WARN_UNUSED NoliStatus noli_obj_put_head(const NoliExchange* exchange, NoliFile* file);

// Writes the file of the materials, one for each shape, beside exchange->path.
NOLI_WARN_UNUSED NoliStatus noli_obj_write_materials(const NoliExchange* exchange);
