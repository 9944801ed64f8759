// Expressions of PolyFEM (TinyExpr and functions of its own) as expressions of native scenes.
//
// The languages differ in more than names: a sign binds tighter than ^ there and looser here, ^ and
// its chains group from the left there, and functions of one argument need no parentheses. So the
// text is parsed by their grammar and written by ours, with parentheses only where ours needs them.
#pragma once

#include "text/node.h"
#include "text/json.h"

// How tightly the outermost operator of a text binds.
typedef enum NoliPolyfemLevel {
  NOLI_POLYFEM_SUM,
  NOLI_POLYFEM_PRODUCT,
  NOLI_POLYFEM_SIGN,
  NOLI_POLYFEM_POWER,
  NOLI_POLYFEM_ATOM,
} NoliPolyfemLevel;

// Appends the translation of the text of the node. x, y, z become X, Y, Z; t counts from `t0`
// there and from 0 here.
NOLI_WARN_UNUSED NoliStatus noli_polyfem_translate(const NoliSceneSource* source,
                                                   const NoliSceneNode* node, double t0,
                                                   NoliSceneText* out, NoliPolyfemLevel* level);

// Puts parentheses around what was appended since `start` unless it binds tighter than `need`, or
// as tightly, and does not begin with a sign.
NOLI_WARN_UNUSED NoliStatus noli_polyfem_wrap(NoliContext* context, NoliSceneText* out,
                                              int64_t start, NoliPolyfemLevel* level,
                                              NoliPolyfemLevel need);

// Appends a number with as few digits as give the same number when read.
NOLI_WARN_UNUSED NoliStatus noli_polyfem_append_number(NoliContext* context, NoliSceneText* out,
                                                       double value, NoliPolyfemLevel* level);
