// The lists of a definition (noli/definition.h). What all lists have, such as copies, sizes,
// checked numbers and arrays of scenes, follows from these lines. X(list, type of an item, item,
// ITEM).
#pragma once

// Connections: vertices of a body, and what they are joined to (define/connection.h).
#define NOLI_CONNECTION_LISTS(X)                                                                   \
  X(ties, NoliTieDef, tie, TIE)                                                                    \
  X(springs, NoliSpringDef, spring, SPRING)                                                        \
  X(joints, NoliJointDef, joint, JOINT)

// Those of them that have a history, LIST.csv.
#define NOLI_CONNECTION_HISTORIES(X)                                                               \
  X(springs, NoliSpringDef, spring, SPRING) X(joints, NoliJointDef, joint, JOINT)

// All but the bodies.
#define NOLI_ITEM_LISTS(X)                                                                         \
  X(half_spaces, NoliHalfSpaceDef, half_space, HALF_SPACE)                                         \
  X(motions, NoliMotionDef, motion, MOTION)                                                        \
  X(forces, NoliForceDef, force, FORCE)                                                            \
  X(pairs, NoliPairDef, pair, PAIR)                                                                \
  X(volumes, NoliVolumeDef, volume, VOLUME)                                                        \
  NOLI_CONNECTION_LISTS(X)

#define NOLI_DEFINITION_LISTS(X) X(bodies, NoliBodyDef, body, BODY) NOLI_ITEM_LISTS(X)

typedef enum NoliConnectionKind {
#define NOLI_CONNECTION_KIND(list, type, item, ITEM) NOLI_CONNECTION_##ITEM,
  NOLI_CONNECTION_LISTS(NOLI_CONNECTION_KIND)
#undef NOLI_CONNECTION_KIND
      NOLI_CONNECTION_KINDS
} NoliConnectionKind;
