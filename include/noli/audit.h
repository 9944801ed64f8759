/// @file audit.h
/// Verifies the directory that a run has left: is every state in it free of intersections and
/// inversions, and do its files agree with each other? Decides by exact predicates, and shares no
/// code with contact, collision detection or the solvers. docs/audit.md says what is proven.
#pragma once

#include "noli/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

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

/// Something that is wrong.
typedef struct NoliFinding {
  NoliFindingKind kind;
  char file[64];         ///< name within the directory
  int64_t step;          ///< that it belongs to; -1: none
  char entity[2][64];    ///< bodies or half-spaces where there is an offender, else ""
  NoliOffender offender; ///< of intersection, half_space, inverted and nested: primitives, position
  char message[640];     ///< all of it in words
} NoliFinding;

typedef struct NoliRunAudit {
  int64_t n_frames;      ///< that were read and verified
  int64_t n_checkpoints; ///< likewise
  int64_t n_rows;        ///< of steps.csv
  bool ended;      ///< false: the run continues, or was killed; its last step may lack a frame
  int64_t n_found; ///< everything that is wrong
  NoliFinding* findings; ///< (n_findings) at most 100 of each state
  int64_t n_findings;
} NoliRunAudit;

/// Verifies a result directory. Returns NOLI_OK if that was possible, whatever was found.
/// `audit` is released with noli_run_audit_free. Fails with NOLI_ERROR_FORMAT or
/// NOLI_ERROR_ARGUMENT when the directory is no result of Noli or its scene cannot be built again,
/// NOLI_ERROR_IO when a file that is there cannot be read, NOLI_ERROR_MEMORY.
NOLI_API NOLI_WARN_UNUSED NoliStatus noli_run_audit(NoliContext* context, const char* directory,
                                                    NoliRunAudit* audit);
/// Releases what the audit owns.
NOLI_API void noli_run_audit_free(NoliContext* context, NoliRunAudit* audit);

#ifdef __cplusplus
}
#endif
