// Friction that sticks: the elastic slip of each contact, kept from step to step.
//
// [Li2020]'s friction is a potential of the sliding of one step, mu lambda f0(|u|) with the length
// h eps_v. A load T below mu lambda is then balanced at the constant sliding speed
// eps_v (1 - sqrt(1 - T / (mu lambda))): creep. A contact that holds must know where it began to.
//
// The law. A contact has an elastic slip s, the tangential displacement of its first side against
// the second one since they stuck. Its force is mu lambda f1(|s|) s / |s| with the stick length
// delta in place of h eps_v, so T is balanced at a constant s: there is no creep, whatever h, and
// load steps without a velocity have friction, too. At |s| = delta the contact yields: it slides
// with mu lambda and keeps |s| = delta. This is elasto-plasticity of the interface, and a step
// solves it in the usual way: with the trial slip
//   u = s_n + r T^T sum_i w_i (x_i - x_hat,i)                                                (1)
// the potential of the step is mu lambda f0(|u|; delta) / r, the term of lagged friction with one
// offset and another length. r = t / h_v, so that (1) adds t v with the velocity v = (x - x_hat) /
// h_v of a stage that ends t after the start of the step; with backward Euler this is the
// displacement. At the end of an accepted step the part of u beyond delta is plastic:
//   p = u (1 - delta / |u|) if |u| > delta, otherwise 0                                      (2)
// and the rest is the new elastic slip. f0 is convex and C1, so that nothing else changes in the
// solvers; with delta = h eps_v the matrices are as stiff as those of [Li2020].
//
// Why t v and not the displacement: what sticks must come to rest at the end of a stage. BDF2 and
// the second stages of other rules compute v from earlier displacements, too: a body without a
// displacement in the step in which it lands would be sent back, a sheet with 0.8 of its momentum.
// The trapezoidal rule would vibrate, and gain energy where normal forces change.
//
// Objectivity. A body and its grip that turn together by R move the closest points against each
// other by (R - 1) g, where g is their difference, as long as the gap: not slip, but (1) counts it.
// A contact in a steadily turning grip would yield, step after step, if the gap times the angle of
// a step exceeded delta. The new slip leaves it out:
//   s_{n+1} = P (R s_n + g_{n+1} - R g_n + b - p),   g = sum_i w_i x_i, (3)
// where P projects on the plane, R is the mean of the rotations of both sides, each that of a
// triangle at the nearest vertex, and b is what t v is beyond the displacement, in the plane: zero
// with backward Euler, small in steady motion.
// If both turn alike, g_{n+1} = R g_n and s turns with them, to rounding. As (2) acts on u and (3)
// corrects s, a steady rotation holds s + (R - 1) g instead of s, and never yields.
//
// Why a vector and not anchors. Two material points p, q (barycentric coordinates on both sides)
// whose difference T^T (p - q) is s would be the same to first order while a stencil stays: the sum
// of (1) over steps telescopes. But a pair of vertices, or a vertex and an edge, cannot hold an
// anchor off its line; with T of the present normal, p - q of two vertices has no tangential part
// at all; and stencils of smooth surfaces have no such coordinates. A vector exists for every
// stencil and passes from one to another by assignment. What it loses is of second order: the
// change of the weights times the strain of the surface while the contact sticks.
//
// Memory that follows the contact. The slip belongs to a stencil, by its vertices. A stencil that
// was not there in the last step inherits that of the one with which it shares the most, if these
// were parts of the same place: vertices on both sides, or its vertex (a vertex that passes from a
// triangle to an edge and to the next triangle). Stencils that share equally are weighted by their
// normal forces. Others begin with zero: material that arrives in a rolling contact is not
// strained. A contact without a normal force forgets. Pairs that share a load side by side have a
// slip each, and each yields at its own mu lambda, as they did before.
//
// Energy. sum mu lambda (f0(|s|) - f0(0)) is stored, at most 2/3 mu lambda delta a contact, and
// given back.
#pragma once

#include "base/array.h"
#include "contact/friction/friction.h"
#include "contact/friction/vertex_turns.h"
#include "math/mat3.h"

// The numbers of a contact in the state: the words of its key, and slip, force and path.
enum { NOLI_STICK_WORDS = 3, NOLI_STICK_NUMBERS = 5 };

// The slip of a contact at the end of a step.
typedef struct NoliStick {
  int64_t key[NOLI_STICK_WORDS]; // of its stencil: noli_stick_key
  NoliVec3 slip;                 // m, elastic, of the first side against the second one
  double force;                  // N, normal
  double path;                   // m, how far it has slid in all
  double slid;                   // m, in this step, in all its parts
  double energy;                 // J, stored in the slip
} NoliStick;

typedef NOLI_ARRAY(NoliStick) NoliStickList;

// Where the slips of a step begin.
typedef struct NoliStickTable {
  double length;   // m, delta
  double duration; // s, from the start of the step to the end of the stage
  double rate;     // r of (1): duration / h_v
  double* x;       // (n_vert x 3) at the start of the step

  // the contacts of the state at the start of the step, sorted by key
  int64_t n;
  NOLI_ARRAY(int64_t) key;  // (n x NOLI_STICK_WORDS)
  NOLI_ARRAY(double) value; // (n x NOLI_STICK_NUMBERS)
  NOLI_ARRAY(double) slid;  // (n) m, in the parts of a divided step before this one

  // contacts by vertex, for those that inherit
  int32_t n_vert;
  NOLI_ARRAY(int64_t) first;   // (n_vert + 1)
  NOLI_ARRAY(int64_t) contact; // rows
  const NoliVertexTurns* turns;
} NoliStickTable;

// Borrows `turns`.
NOLI_WARN_UNUSED NoliStatus noli_stick_create(NoliContext* context, const NoliVertexTurns* turns,
                                              NoliStickTable* table);
void noli_stick_free(NoliContext* context, NoliStickTable* table);

// Begins a step, or a part of one, at x (n_vert x 3) with the contacts of the state; all are
// copied, because results of the step are still computed after its end has become the state.
// `former`: the end of the part before, whose contacts are those of the state; NULL: the step
// begins. Fails with NOLI_ERROR_ARGUMENT if a contact names a vertex that does not exist.
NOLI_WARN_UNUSED NoliStatus noli_stick_begin(NoliStickTable* table, NoliContext* context,
                                             const double* x, int64_t n, const int64_t* key,
                                             const double* value, const NoliStickList* former);

// The key of a stencil: its vertices, unused ones NOLI_NULL_INDEX, both entities and the number of
// vertices of the first side.
void noli_stick_key(const int32_t node[4], const int32_t entity[2], int32_t n_first,
                    int64_t key[NOLI_STICK_WORDS]);
// The same, back.
void noli_stick_unpack(const int64_t key[NOLI_STICK_WORDS], int32_t node[4], int32_t entity[2],
                       int32_t* n_first);

// The slip of a stencil at the start of the step, and its way; zero for new contacts.
NoliVec3 noli_stick_find(const NoliStickTable* table, const int32_t node[4],
                         const int32_t entity[2], int32_t n_first, NoliStickWay* way);

// A contact of the state whose slip a stencil takes over: the slip of the stencil is the mean of
// those of its sources, weighted by their forces.
typedef struct NoliStickSource {
  int64_t row;  // of the state at the start of the step
  double sign;  // -1 if its sides are exchanged
  double force; // N
} NoliStickSource;

typedef NOLI_ARRAY(NoliStickSource) NoliStickSources;

// Replaces the list by the sources of a stencil.
NOLI_WARN_UNUSED NoliStatus noli_stick_sources(const NoliStickTable* table, NoliContext* context,
                                               const int32_t node[4], const int32_t entity[2],
                                               int32_t n_first, NoliStickSources* sources);

// Mean rotation of the two sides of a stencil from the start of the step to x: of vertex a and, if
// it is not NOLI_NULL_INDEX, of vertex b, else of a half-space.
NoliMat3 noli_stick_rotation(const NoliStickTable* table, int32_t a, int32_t b, const double* x);

// `slip` in the plane with this unit normal, of the same length unless it is nearly normal: whether
// a slip of this length is not, with this length of its part in the plane.
bool noli_stick_keeps_length(double length, double in_plane);
NoliVec3 noli_stick_in_plane(NoliVec3 slip, NoliVec3 normal);

// The law of implicit friction; its drag acts on the displacement of the step alone (sliding.h).
NoliSlidingLaw noli_stick_or_velocity_law(const NoliFrictionLaw* law, const NoliStickTable* stick,
                                          double eps_v, double h_v);

// 1, or -1 if sum_i w_i x_i is the second side less the first one, as it is for a closest feature
// of two nearly parallel edges: slips of the state are those of the first side.
double noli_stick_sign(const double* weight, int32_t n_first);

// The slip of a stencil turned to x, in the plane with this normal; a and b as above.
NoliVec3 noli_stick_slip(const NoliStickTable* table, const int32_t node[4],
                         const int32_t entity[2], int32_t n_first, int32_t a, int32_t b,
                         NoliVec3 normal, const double* x);

// The vertex of the nodes [begin, end) with the largest weight, by magnitude; NOLI_NULL_INDEX if
// there are none.
int32_t noli_stick_nearest(const int32_t* node, const double* weight, int64_t begin, int64_t end);

// Gives the contacts of a set, whose bases are those at x, their slips.
void noli_stick_attach(const NoliStickTable* table, const double* x, NoliFrictionSet* set);

// Appends the slips at the end of a step at x of the contacts of a set with bases at the start of
// the step or, if `late`, at its end. Forces are those of the set over `scale`.
NOLI_WARN_UNUSED NoliStatus noli_stick_collect(const NoliStickTable* table, NoliContext* context,
                                               const NoliFriction* data, const double* x,
                                               double scale, bool late, NoliStickList* list);

// Puts the lists of all ranks, whose contacts are divided, together: all get the same.
NOLI_WARN_UNUSED NoliStatus noli_stick_gather(NoliContext* context, NoliStickList* list);

// Sorts by key, and contacts with the same key by their numbers: the order does not depend on that
// before.
void noli_stick_sort(NoliStickList* list);

// Tells contacts of the end of a step (n) whether they hold, and how far they have slid, where a
// sorted list has slips of the same stencils.
void noli_stick_tell(const NoliStickList* list, int64_t n, NoliContactInfo* contact);

// The place of a key in a sorted list; NOLI_NULL_INDEX: it is not there.
int64_t noli_stick_row(const NoliStickList* list, const int64_t key[NOLI_STICK_WORDS]);

// The energy stored in the slips of the state, J.
double noli_stick_energy(const NoliStickTable* table, const NoliContactPairs* pairs);

// Validator (base/validate.h) of the contacts of a state.
const char* noli_stick_defect(int64_t n, const int64_t* key, const double* value);
