/// @file audit.h
/// Verifies the result directory of a run: that every state in it is free of intersections and
/// inversions, and that its files agree with each other. Uses exact predicates, and shares no
/// code with contact, collision detection or the solvers. docs/howto/audit.md says what is proven.
#pragma once

#include "noli/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Kinds of findings.
typedef enum NoliFindingKind {
  NOLI_FINDING_INTERSECTION, ///< an edge meets a triangle or another edge
  NOLI_FINDING_HALF_SPACE,   ///< a vertex is on or below a half-space
  NOLI_FINDING_INVERTED,     ///< an element has no positive volume
  NOLI_FINDING_NOT_FINITE,   ///< a number is not finite
  NOLI_FINDING_FILE,         ///< a file or a row is missing, damaged, or of another scene
  NOLI_FINDING_TIME,         ///< numbers of steps or times disagree
  NOLI_FINDING_BALANCE,      ///< mass, momentum, energy or forces disagree
  NOLI_FINDING_NESTED,       ///< a connected part of a surface lies inside a solid
} NoliFindingKind;

/// The word for a kind: "intersection", "half_space", "inverted", "not_finite", "file", "time",
/// "balance", "nested".
NOLI_API const char* noli_finding_kind_name(NoliFindingKind kind);

/// A defect. Never changes its size.
typedef struct NoliFinding {
  NoliFindingKind kind;
  char file[64];      ///< name within the directory
  int64_t step;       ///< of the state or row; -1: none
  char entity[2][64]; ///< bodies or half-spaces of the defect, else ""
  NoliDefect defect;  ///< of intersection, half_space, inverted and nested: primitives, position
  char message[640];  ///< complete description
  double reserved[4];
} NoliFinding;

/// Result of an audit.
typedef struct NoliRunAudit {
  int64_t n_frames;      ///< frames that were verified
  int64_t n_checkpoints; ///< checkpoints that were verified
  int64_t n_rows;        ///< of steps.csv
  bool ended;      ///< false: the run continues, or was killed; its last step may lack a frame
  int64_t n_found; ///< number of defects
  NoliFinding* findings; ///< (n_findings) at most 100 of each state
  int64_t n_findings;
} NoliRunAudit;

/// noli_run_audit for a struct of `size` bytes.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_run_audit_sized(NoliContext* context,
                                                          const char* directory,
                                                          NoliRunAudit* audit, size_t size);

/// Verifies a result directory. Returns NOLI_OK when all of it was examined, with or without
/// findings. `audit` is released with noli_run_audit_free. Fails with NOLI_ERROR_FORMAT or
/// NOLI_ERROR_ARGUMENT when the directory is not a result of Noli or its scene cannot be rebuilt,
/// NOLI_ERROR_IO when an existing file cannot be read, NOLI_ERROR_MEMORY.
static inline NOLI_WARN_UNUSED NoliStatus noli_run_audit(NoliContext* context,
                                                         const char* directory,
                                                         NoliRunAudit* audit) {
  return noli_run_audit_sized(context, directory, audit, sizeof *audit);
}
/// Releases what the audit owns.
NOLI_API void noli_run_audit_free(NoliContext* context, NoliRunAudit* audit);

#ifdef __cplusplus
}
#endif
