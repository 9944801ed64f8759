// Frames of a run in few bytes: the vertices of the surface only, as whole numbers in the box of a
// group of frames, with eight more bits for vertices at gaps of a few such numbers, so that
// surfaces keep their order; positions as errors of a prediction from the two frames before and
// fields as differences to the frame before, compressed.
#pragma once

#include "model/proximity.h"
#include "output/run_reader.h"

// Frames that are compressed together: a page decodes a group to show one of them.
enum { NOLI_PAGE_GROUP = 16 };

typedef struct NoliPageField {
  const char* name;
  const char* label;
  const char* unit;
  int32_t n_components;
  bool of_cells; // averaged to vertices
  bool root;     // stored as square roots: small values have many steps
  bool optional; // stored only for runs whose frames have it
  bool hidden;   // says how bodies are drawn, not what they may be coloured by
} NoliPageField;

enum { NOLI_PAGE_FIELDS = 10 };
extern const NoliPageField noli_page_fields[NOLI_PAGE_FIELDS];

// The arrays of frames from which pages are made (noli_frame_wants).
extern const char* const noli_page_arrays[];

// The fields that a run has, in the order of the table.
typedef struct NoliPageFieldList {
  int32_t n;
  int32_t field[NOLI_PAGE_FIELDS];
} NoliPageFieldList;

// The vertices that are shown.
typedef struct NoliPageSurface {
  int32_t n_vert;
  NOLI_ARRAY(int32_t) vertex; // (n_vert) in the simulation
  NOLI_ARRAY(int32_t) number; // (vertices of the simulation) NOLI_NULL_INDEX: not shown
} NoliPageSurface;

// A group in the making.
typedef struct NoliPageGroup {
  int32_t n;                // frames
  NoliPageFieldList fields; // that they have
  double low[3], high[3];
  double scale[NOLI_PAGE_FIELDS];            // largest size of a component
  NOLI_ARRAY(double) x;                      // (n x n_vert x 3)
  NOLI_ARRAY(float) gap;                     // (n x n_vert) m, how near another surface
  NOLI_ARRAY(float) value[NOLI_PAGE_FIELDS]; // (n x n_vert x components)
  NOLI_ARRAY(uint8_t) bytes;                 // encoded
  NOLI_ARRAY(uint8_t) packed;                // and compressed
  NOLI_ARRAY(uint32_t) rounded;              // (3 frames x n_vert x 3) positions
  NOLI_ARRAY(float) weight;                  // (n_vert) scratch
} NoliPageGroup;

NOLI_WARN_UNUSED NoliStatus noli_page_surface_make(NoliContext* context,
                                                   const NoliFrameLayout* layout,
                                                   NoliPageSurface* surface);
void noli_page_surface_free(NoliContext* context, NoliPageSurface* surface);

// A direction (`away`) as pages store it: coarsely.
void noli_page_round_direction(float direction[3]);

// The fields that frames like this one have.
NoliPageFieldList noli_page_fields_of(const NoliFrameLayout* layout, const NoliReadFrame* frame);

// Adds a frame to the group, which must not be full, with these fields. Those that the frame does
// not have are zero.
NOLI_WARN_UNUSED NoliStatus noli_page_group_add(NoliContext* context, const NoliFrameLayout* layout,
                                                const NoliPageSurface* surface,
                                                NoliProximity* proximity,
                                                const NoliReadFrame* frame,
                                                const NoliPageFieldList* fields,
                                                NoliPageGroup* group);

// Adds a frame of positions only, (n_vert x 3), all with all bits, to a group of such frames.
NOLI_WARN_UNUSED NoliStatus noli_page_group_add_positions(NoliContext* context, int32_t n_vert,
                                                          const double* x, NoliPageGroup* group);

// Adds a field of this name in the table, values (n_vert x components), to a group of one frame.
NOLI_WARN_UNUSED NoliStatus noli_page_group_add_field(NoliContext* context, int32_t n_vert,
                                                      const char* name, const float* value,
                                                      NoliPageGroup* group);

// Encodes and compresses the frames, in `packed`. Fails with NOLI_ERROR_BACKEND where zlib does.
NOLI_WARN_UNUSED NoliStatus noli_page_group_pack(NoliContext* context, int32_t n_vert,
                                                 NoliPageGroup* group);

// Compresses bytes by zlib. Fails as above.
NOLI_WARN_UNUSED NoliStatus noli_page_compress(NoliContext* context, const void* data, int64_t size,
                                               uint8_t** packed, int64_t* n_packed);
void noli_page_group_free(NoliContext* context, NoliPageGroup* group);
