// The numbers of all definitions of the public headers, with what each may be: one table. Checks of
// definitions follow from it, and tests try all of its numbers.
#pragma once

#include "base/definition_lists.h"
#include "noli/extend.h"

// Definitions; a list of definitions within another one has a row of its own.
typedef enum NoliNumbersOf {
  NOLI_NUMBERS_CONTEXT,
  NOLI_NUMBERS_CCD,
  NOLI_NUMBERS_GCP_POTENTIAL,
  NOLI_NUMBERS_SIM,
  NOLI_NUMBERS_AUGMENTED_LAGRANGIAN,
  NOLI_NUMBERS_GCP,
  NOLI_NUMBERS_INCREMENT,
  NOLI_NUMBERS_BODY,
  NOLI_NUMBERS_PROXY,
  NOLI_NUMBERS_PART,
  NOLI_NUMBERS_MATERIAL,
  NOLI_NUMBERS_PRONY,
  NOLI_NUMBERS_SHELL,
  NOLI_NUMBERS_ROD,
  NOLI_NUMBERS_POINT,
  NOLI_NUMBERS_RIGID,
  NOLI_NUMBERS_HALF_SPACE,
  NOLI_NUMBERS_MOTION,
  NOLI_NUMBERS_FORCE,
  NOLI_NUMBERS_PAIR,
  NOLI_NUMBERS_VOLUME,
  NOLI_NUMBERS_COORDINATE,
#define NOLI_NUMBERS_OF_LIST(list, type, item, ITEM) NOLI_NUMBERS_##ITEM,
  NOLI_CONNECTION_LISTS(NOLI_NUMBERS_OF_LIST)
#undef NOLI_NUMBERS_OF_LIST
      NOLI_NUMBERS_PROBE,
  NOLI_NUMBERS_RUN,
  NOLI_NUMBERS_PARAMETER,
  NOLI_NUMBERS_GRADIENT,
  NOLI_NUMBERS_GOAL,
  NOLI_NUMBERS_VARIABLE,
  NOLI_NUMBERS_DESIGN_FUNCTION,
  NOLI_NUMBERS_DESIGN,
  NOLI_NUMBERS_REPAIR,
  NOLI_NUMBERS_COUNT
} NoliNumbersOf;

typedef enum NoliNumberType {
  NOLI_NUMBER_DOUBLE,
  NOLI_NUMBER_INT32,
  NOLI_NUMBER_INT64,
  NOLI_NUMBER_SCALED
} NoliNumberType;

// From `low` to `high`; open: without the end.
typedef struct NoliNumberRange {
  double low, high;
  bool low_open, high_open;
} NoliNumberRange;

// A number, or an array of `n` of them.
typedef struct NoliNumber {
  const char* member;
  const char* noun; // for messages
  NoliNumberType type;
  size_t offset; // bytes
  int32_t n;
  NoliNumberRange range;
  bool has_other; // `other`, outside of the range, has a meaning of its own
  double other;
} NoliNumber;

typedef struct NoliNumberTable {
  const char* definition; // its type
  const NoliNumber* number;
  int32_t n;
} NoliNumberTable;

const NoliNumberTable* noli_numbers(NoliNumbersOf of);
// NULL: there is none at this offset.
const NoliNumber* noli_number_at(NoliNumbersOf of, size_t offset);

bool noli_number_allows(const NoliNumber* number, double value);
// "> 0", ">= 0", "finite", "in (0, 1e+15]".
void noli_number_range(const NoliNumber* number, char text[80]);

// Number `i` of an array within a definition.
double noli_number_get(const NoliNumber* number, const void* definition, int32_t i);

// Fails with NOLI_ERROR_ARGUMENT and a message that begins with `where` and names the first number
// of the definition that is out of its range. `context` may be NULL.
NOLI_WARN_UNUSED NoliStatus noli_numbers_check(NoliContext* context, const char* where,
                                               NoliNumbersOf of, const void* definition);
