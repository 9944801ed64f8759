// Data of legacy VTK files: every attribute of cells and points and every array of FIELD is read
// past, text and binary, so that what follows it is found. Of them the array of cells that names
// materials is kept; the names of the others are noted as not used.
#pragma once

#include "mesh/parts.h"

// How the values of a type are written.
typedef enum NoliVtkForm {
  NOLI_VTK_UNKNOWN,
  NOLI_VTK_NUMBERS,
  NOLI_VTK_BITS,    // eight in a byte where binary
  NOLI_VTK_STRINGS, // a line each; where binary, a length and bytes
  NOLI_VTK_LINES,   // a line each, also in binary files
} NoliVtkForm;

typedef struct NoliVtkType {
  NoliVtkForm form;
  NoliScalar scalar; // of numbers
} NoliVtkType;

typedef enum NoliVtkPlace { NOLI_VTK_FILE, NOLI_VTK_CELLS, NOLI_VTK_POINTS } NoliVtkPlace;

typedef struct NoliVtkData {
  NoliCursor* cursor;
  NoliMeshParts* parts;
  bool binary;
  NoliVtkPlace place;      // whose attributes follow
  int64_t n_item;          // their number
  int64_t n_cell;          // cells of the file
  NOLI_ARRAY(int32_t) tag; // one for each cell of the file, or empty
  NOLI_ARRAY(int32_t) candidate;
  NoliSpan tag_name;
  int tag_rank; // of its name; the lowest counts
} NoliVtkData;

// The next word as a type of numbers.
NOLI_WARN_UNUSED NoliStatus noli_vtk_read_type(NoliCursor* cursor, NoliScalar* type);

// Values follow the header: at once in text, also on its line; on the next line where binary.
void noli_vtk_end_header(NoliCursor* cursor, bool binary);

// Skips metadata of an array, which end with an empty line.
void noli_vtk_skip_metadata(NoliCursor* cursor);

// FIELD name k, then k arrays, each with its own size. If a type is not `*understood`, reading
// cannot continue after it.
NOLI_WARN_UNUSED NoliStatus noli_vtk_read_field(NoliVtkData* data, bool* understood);

// The attribute whose keyword is `word`.
NOLI_WARN_UNUSED NoliStatus noli_vtk_read_attribute(NoliVtkData* data, NoliSpan word,
                                                    bool* understood);
