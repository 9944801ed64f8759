// Descriptions of definitions and meshes in words: what `check` and `info` print.
#pragma once

#include "console.h"

// One line per body and half-space (cells, mass, volume, extent, shortest edge), then settings of
// the simulation with absolute values.
void describe_definition(const NoliSimDef* def);

// Warns about implausible units and unfavourable settings.
void describe_doubts(Console* console, const NoliSimDef* def);

// Prints the number of vertices and of each type of cell in a mesh, omitting types it lacks.
void describe_cells(const NoliMesh* mesh);

// Prints what mending a mesh did: the vertices that were merged and the cells that were dropped.
void describe_cleaned(const char* path, const NoliMeshCleaned* cleaned);

// Counts, bounds, tags, quality and defects of a mesh; returns the number of kinds of defects that
// a simulation rejects.
int32_t describe_mesh(const NoliMesh* mesh, const NoliMeshCheck* check);

// Prints the initial defects, at most `limit`, counts the others by bodies, and writes all, if
// there are any, to the VTU file `path` unless that is NULL, after creating its directory. Returns
// their number; -1 (after a message) when the search or the file failed, with `*status` set.
int64_t describe_defects(Console* console, NoliContext* context, const NoliSimDef* def,
                         int64_t limit, const char* path, NoliStatus* status);
