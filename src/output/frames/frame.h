// A frame: the state of a simulation as arrays for pictures, in any of the formats of frames.
#pragma once

#include "noli/output.h"
#include "output/frames/frame_fields.h"
#include "output/frames/frame_arrays.h"
#include "output/frames/frame_format.h"
#include "output/frames/vtu.h"
#include "model/model.h"

// Cells of a simulation, tags and bodies: constant over all frames.
typedef struct NoliFrameLayout {
  int32_t n_node; // of the simulation
  int32_t n_vert; // of frames: all nodes but the angles of rods
  int32_t* node;  // (n_vert) ascending
  int32_t n_tet;
  int64_t n_cells;
  int32_t* connectivity;
  int64_t* offsets;
  uint8_t* types;
  int32_t* vertex_body; // (n_vert)
  int32_t* cell_body;   // (n_cells)
  int32_t* cell_tag;    // (n_cells)
  uint8_t* cell_proxy;  // (n_cells) 1: a triangle of a collision proxy
  int64_t n_proxy;      // how many there are, the last cells
  int32_t* proxy_tet;   // (n_proxy x 3) elements in which their corners lie
  int32_t n_triangles;  // that show all surfaces
  int32_t* triangles;   // (n_triangles x 3) surface triangles, then elements in plane strain
  int32_t n_segments;
  int32_t* segments; // (n_segments x 2) of obstacles, then of rods
  int32_t n_points;
  int32_t* points;  // (n_points) of obstacles, then free ones
  bool has_sheets;  // a body is a shell
  bool has_rods;    // a body is a rod,
  bool has_angles;  // with angles,
  bool has_normals; // and a section that is not round
  int32_t n_field;  // that were asked for
  const NoliFrameField** field;
  NoliVtuCache cache; // what stays the same, compressed, also of lists that are freed
} NoliFrameLayout;

// The values of a state in a frame. They exist only while a frame is written: they take as much
// memory as the state itself.
typedef struct NoliFrameValues {
  double* x;              // (n_vert x 3)
  double* vector;         // (n_node x 3) scratch
  double* stress;         // (n_tet) scratch
  float* fields;          // (n_vert x 12 + n_cells) what is written
  NoliSheetForces* sheet; // (n_tet) scratch; NULL: no body is a shell
  NoliRodForces* rod;     // (n_tet) scratch; NULL: no body is a rod
  float* sheet_fields;    // (n_cells x 12) membrane forces, bending moments
  float* rod_fields;      // (n_cells x 5) tension, bending moments, twist moments
  float* angle_fields;    // (n_cells x 2) angle and its rate; NULL: no rod has angles
  float* normal_fields;   // (n_cells x 3) first axis of the section; NULL: all sections are round
  float** of_field;       // (n_field) of each: (n_cells or n_node x n_components)
} NoliFrameValues;

// `def` may be NULL: no tags. The layout is zero where this fails. All ranks call it; those that
// have no elements (model/rank_cells.h) get the numbers without the lists.
NOLI_WARN_UNUSED NoliStatus noli_frame_layout_create(NoliContext* context, const NoliSim* sim,
                                                     const NoliSimDef* def,
                                                     NoliFrameLayout* layout);
// Adds fields by name to the frames. Fails with NOLI_ERROR_ARGUMENT where there is none of a name,
// or one is named twice.
NOLI_WARN_UNUSED NoliStatus noli_frame_layout_add(NoliContext* context, NoliFrameLayout* layout,
                                                  int32_t n, const char* const* name);
void noli_frame_layout_free(NoliContext* context, NoliFrameLayout* layout);

// Frees the lists of cells, of which ranks that write no part of a frame need only the numbers.
void noli_frame_layout_free_lists(NoliContext* context, NoliFrameLayout* layout);

// The values of a frame of the present state, which the caller frees even after a failure
// (noli_frame_values_free). All ranks call it.
NOLI_WARN_UNUSED NoliStatus noli_frame_values_take(NoliContext* context, NoliSim* sim,
                                                   const NoliFrameLayout* layout,
                                                   NoliFrameValues* values);
void noli_frame_values_free(NoliContext* context, const NoliFrameLayout* layout,
                            NoliFrameValues* values);

NOLI_WARN_UNUSED NoliStatus noli_frame_write(NoliContext* context, NoliSim* sim,
                                             NoliFrameLayout* layout, const NoliFrameFormat* format,
                                             const char* path);

// Positions and velocities of all nodes (n_node x 3) from a frame that fits the layout. Angles are
// 0;
// `*has_rates` is false where the frame lacks their rates, which are then 0 too.
void noli_frame_layout_expand(const NoliFrameLayout* layout, const NoliModel* model,
                              const NoliReadFrame* frame, double* x, double* v, bool* has_rates);

// Validator (base/validate.h).
const char* noli_frame_layout_defect(const NoliFrameLayout* layout);
