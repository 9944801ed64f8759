// Flat rectangles of triangles in several patterns.
#pragma once

#include "base/named.h"

// Patterns of noli_mesh_make_sheet, in the order of their names.
typedef enum NoliSheetPattern {
  NOLI_SHEET_SYMMETRIC,
  NOLI_SHEET_DIAGONAL,
  NOLI_SHEET_ALTERNATING,
  NOLI_SHEET_EQUILATERAL,
  NOLI_SHEET_UNSTRUCTURED,
  NOLI_SHEET_PATTERNS
} NoliSheetPattern;

extern const NoliNamed noli_sheet_patterns[NOLI_SHEET_PATTERNS];
