// The reader of Gmsh files, whose parts are msh.c, sections, nodes and elements, and
// msh_entities.c, entities and physical groups.
#pragma once

#include "mesh/cell_table.h"
#include "mesh/formats/io.h"

// An entity of 4.1 and the first of its physical groups.
typedef struct NoliMshEntity {
  int64_t dimension;
  int64_t tag;
  int32_t physical;
  bool is_cut; // made by a partition between its parts
} NoliMshEntity;

typedef struct NoliMshNodeTag {
  int64_t tag;
  int32_t vertex;
} NoliMshNodeTag;

typedef struct NoliMshReader {
  NoliCursor* cursor;
  NoliMeshParts* parts;
  bool binary;
  bool new_version; // 4.1
  bool has_nodes;
  NOLI_ARRAY(NoliMshEntity) entity; // sorted when complete
  NOLI_ARRAY(NoliMshEntity) part;   // entities of a partition, sorted when complete
  NOLI_ARRAY(NoliMshNodeTag) node;  // in file order, then sorted if there is no table
  NOLI_ARRAY(int32_t) vertex;       // of each tag from first_tag on, where tags are dense
  int64_t first_tag;
  NOLI_ARRAY(NoliMshEntity) group; // named ones; in `physical` the number of the set
  NOLI_ARRAY(NoliMshEntity) more;  // entities of 4.1 with physical groups after the first
  int64_t n_more;                  // of them before those of parts
  NOLI_ARRAY(int32_t) extra;       // those groups of a block of elements
  NoliCellTable cells[4]; // by dimension, of 2.2, which lists an element once for each group
} NoliMshReader;

// The next integer of a section, as text or in the binary type.
static inline NoliStatus noli_msh_integer(NoliMshReader* reader, int type, const char* what,
                                          int64_t low, int64_t high, int64_t* value) {
  return noli_next_integer(reader->cursor, reader->binary, (NoliScalar)type, what, low, high,
                           value);
}

// Sections: $Entities and $PartitionedEntities of 4.1, and $PhysicalNames, the names of groups,
// text in every file: dimension, tag, "name".
NOLI_WARN_UNUSED NoliStatus noli_msh_read_entities(NoliMshReader* reader);
NOLI_WARN_UNUSED NoliStatus noli_msh_read_parts(NoliMshReader* reader);
NOLI_WARN_UNUSED NoliStatus noli_msh_read_names(NoliMshReader* reader);

// Finds the entity that a block of elements names, in `*entity`, and in reader->extra its groups
// after the first.
NOLI_WARN_UNUSED NoliStatus noli_msh_find_groups(NoliMshReader* reader, int64_t dimension,
                                                 int64_t tag, NoliMshEntity* entity);
