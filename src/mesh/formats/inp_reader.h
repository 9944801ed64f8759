// The reader of Abaqus and CalculiX files, whose parts are inp.c, sets, nodes, elements and
// instances, and inp_surfaces.c, surfaces.
#pragma once

#include "mesh/formats/inp_sets.h"
#include "mesh/formats/inp_text.h"
#include "mesh/formats/io.h"

typedef struct NoliInpElementType {
  const char* name;
  int32_t n_node;
  int32_t n_vertex;
  int32_t order;
  int32_t dimension;
} NoliInpElementType;

typedef struct NoliInpElement {
  const NoliInpElementType* type;
  const char* place;
  int64_t first_node; // in NoliInpReader.node_of
  int64_t first_tri;  // of a triangle or quadrilateral, and
  int64_t n_tri;
} NoliInpElement;

// A surface: entries from `first_entry` to that of the next one.
typedef struct NoliInpSurface {
  NoliSpan name;
  int64_t first_entry;
  bool is_internal;
} NoliInpSurface;

// A side of an element, or of those of a set; or, in a surface of nodes, a node or a set of nodes.
typedef struct NoliInpSurfaceEntry {
  int64_t label; // or, if `set` >= 0, of no use
  int32_t set;
  int32_t side;
  bool of_nodes;
  const char* place;
} NoliInpSurfaceEntry;

typedef enum NoliInpLevel {
  NOLI_INP_IN_MODEL,
  NOLI_INP_IN_PART,
  NOLI_INP_IN_ASSEMBLY,
  NOLI_INP_IN_INSTANCE
} NoliInpLevel;

typedef struct NoliInpReader {
  NoliInpText text;
  NoliMeshParts* parts;
  NoliInpLevel level;
  bool has_part;
  bool has_instance;
  NoliSpan instance;     // its name
  double translation[3]; // of the instance, before
  double turn[7];        // its rotation: two points of the axis, and degrees
  const char* bent;      // the first quadratic type of triangles or segments
  NoliInpLabels node;
  NoliInpLabels element;
  NOLI_ARRAY(NoliInpElement) element_data;
  NOLI_ARRAY(int64_t) node_of; // labels of the nodes of the elements
  NoliInpSets sets;
  NOLI_ARRAY(NoliInpSurface) surface;
  NOLI_ARRAY(NoliInpSurfaceEntry) surface_entry;
} NoliInpReader;

// Passes over the lines of data of a keyword.
void noli_inp_skip_data(NoliInpReader* reader);

// "a node" or "an element".
const char* noli_inp_name_of(NoliInpScope kind);

// Removes the name of the instance and a point from the beginning of a name; false if there is
// none.
bool noli_inp_without_instance(const NoliInpReader* reader, NoliSpan* name);

// Reads the lines of *SURFACE. Adds all surfaces as sets of faces, after the other sets.
NOLI_WARN_UNUSED NoliStatus noli_inp_read_surface(NoliInpReader* reader);
NOLI_WARN_UNUSED NoliStatus noli_inp_add_surfaces(NoliInpReader* reader);
