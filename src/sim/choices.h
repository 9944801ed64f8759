// Choices by name in definitions: the kinds that the simulator itself implements, and the checks of
// all kinds.
#pragma once

#include "base/named.h"
#include "noli/choice.h"
#include "noli/sim.h"

// Each in the order of its names.
typedef enum NoliAudit {
  NOLI_AUDIT_OFF,
  NOLI_AUDIT_EVERY_STEP,
  NOLI_AUDIT_EVERY_ITERATION,
} NoliAudit;

typedef enum NoliProxyKind {
  NOLI_PROXY_AUTOMATIC,
  NOLI_PROXY_SUBDIVISION,
  NOLI_PROXY_EDGE_LENGTH,
  NOLI_PROXY_MESH,
} NoliProxyKind;

typedef enum NoliForceKind {
  NOLI_FORCE_ACCELERATION,
  NOLI_FORCE_NODAL,
  NOLI_FORCE_TOTAL,
  NOLI_FORCE_TRACTION,
  NOLI_FORCE_PRESSURE,
} NoliForceKind;

typedef enum NoliRegion {
  NOLI_REGION_CAVITY,
  NOLI_REGION_OUTSIDE,
  NOLI_REGION_BODY,
  NOLI_REGION_COMPONENT,
  NOLI_REGION_TAG,
  NOLI_REGION_TRIANGLES,
} NoliRegion;

// The choice of a checked definition; NULL counts as the first name.
static inline int32_t noli_choice_index(NoliChoice kind, const char* name) {
  int32_t index = noli_choice_find(kind, name);
  return index != NOLI_NULL_INDEX ? index : 0;
}
static inline NoliProxyKind noli_proxy_kind(const NoliProxyDef* proxy) {
  return (NoliProxyKind)noli_choice_index(NOLI_CHOICE_PROXY, proxy->kind);
}

// Fails with NOLI_ERROR_ARGUMENT, with a message that starts with `where` and lists the known
// names, unless `name` is one of the kind, or NULL: the default.
NOLI_WARN_UNUSED NoliStatus noli_choice_require(NoliContext* context, const char* where,
                                                NoliChoice kind, const char* name);
