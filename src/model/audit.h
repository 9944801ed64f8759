// The exact audit of a configuration: all defects that no valid state may have, for any solver.
// Decides with src/collide/audit.h alone; a small gap is not a defect.
#pragma once

#include "base/array.h"
#include "math/vec3.h"
#include "model/model.h"

typedef NOLI_ARRAY(NoliDefect) NoliDefects;

// A primitive of a defect by its global vertices.
void noli_defect_set(const NoliModel* model, NoliDefect* defect, int32_t side,
                     const int32_t* vertex, int32_t n);

// The point of the first of two edges (two vertices each) that is closest to the second.
NoliVec3 noli_defect_place(const NoliVec3 edges[4]);

// Each adds its defects at x (n_vert x 3); the caller frees the array with noli_array_free.
NOLI_WARN_UNUSED NoliStatus noli_audit_add_inverted(const NoliModel* model, const double* x,
                                                    NoliDefects* defects);
NOLI_WARN_UNUSED NoliStatus noli_audit_add_crossings(const NoliModel* model, const double* x,
                                                     NoliDefects* defects);
// After the crossings: skips pairs of bodies that cross.
NOLI_WARN_UNUSED NoliStatus noli_audit_add_nested(const NoliModel* model, const double* x,
                                                  NoliDefects* defects);
NOLI_WARN_UNUSED NoliStatus noli_audit_add_below_half_spaces(const NoliModel* model,
                                                             const double* x, NoliDefects* defects);

// For bodies with contact offsets: primitives whose distance is at most the sum of the offsets.
NOLI_WARN_UNUSED NoliStatus noli_audit_add_overlaps(const NoliModel* model, const double* x,
                                                    NoliDefects* defects);

// All of them. With the contact model "implicit_surface", which lets bodies penetrate, inversions
// and intersections of open sheets only. Fails with NOLI_NOT_FINITE if a surface vertex is not
// finite.
NOLI_WARN_UNUSED NoliStatus noli_audit_model(const NoliModel* model, const double* x,
                                             NoliDefects* defects);

// All defects of a start: those above, and surfaces that touch up to rounding.
NOLI_WARN_UNUSED NoliStatus noli_sim_find_defects(const NoliModel* model, const double* x,
                                                  NoliDefects* defects);

// NOLI_ERROR_INTERSECTION or NOLI_INVERTED_ELEMENT, with the first defect as message, unless x is
// free of intersections, touching surfaces and inverted elements.
NOLI_WARN_UNUSED NoliStatus noli_sim_require_valid(const NoliModel* model, const double* x);

// The same; `*body` receives that of the first defect, or NOLI_NULL_INDEX.
NOLI_WARN_UNUSED NoliStatus noli_sim_require_valid_start(const NoliModel* model, const double* x,
                                                         int32_t* body);

// Primitives, and vertices above half-spaces, that are apart by at most `reach` times the contact
// distance of their pair over that of the scene, offsets deducted.
NOLI_WARN_UNUSED NoliStatus noli_sim_find_gaps(const NoliModel* model, const double* x,
                                               double reach, NoliDefects* gaps);

// Whether a body fills a region that excludes others: not obstacles and shells, which are surfaces
// and may enclose other bodies on purpose, unless contact is one-sided.
bool noli_audit_excludes(const NoliModel* model, int32_t body);

// Describes one defect: bodies, vertices by the numbers of their bodies, position.
enum { NOLI_DEFECT_TEXT = 512 };
void noli_defect_describe(const NoliModel* model, const NoliDefect* defect,
                          char text[NOLI_DEFECT_TEXT]);

// Fails with NOLI_ERROR_AUDIT if x has defects; the message gives their number and the first one. A
// NoliStageAudit (solve/stage.h); `model` is a const NoliModel*.
NOLI_WARN_UNUSED NoliStatus noli_audit_require(const void* model, const double* x);
