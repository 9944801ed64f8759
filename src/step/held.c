// Detects free rigid motions of problems without inertia: for each connected part of a body, the
// Hessian of the potential along its six rigid motions, everything else at rest, must be positive
// definite. Prescribed components do not take part in the motions, so elasticity resists if enough
// of them are prescribed; otherwise only contact and friction do. Elasticity is tested alone first:
// contact may be so much stiffer that its rounding exceeds the elastic resistance. Three prescribed
// vertices that are not on a line hold a part without a test, which may be lost in rounding where
// elements are nearly flat or at their limit of stretch.
#include "step/simulation.h"

#include "base/groups.h"
#include "base/ranks.h"
#include "math/eigen.h"
#include "math/vec3.h"

#include <float.h>
#include <string.h>

// Below this multiple of the rounding of its entries, a sum is rounding.
#define ROUNDING (256.0 * DBL_EPSILON)

// Prescribed vertices whose triangle has a smaller height than this share of the part are on a
// line.
#define ON_A_LINE 1e-3

enum { N_MOTIONS = 6, N_ENTRIES = N_MOTIONS * N_MOTIONS };

// Rigid motions of one part, about its centre and with rotations scaled by its size.
typedef struct Part {
  NoliVec3 centre;
  double size;
  int32_t n_vert;
  int32_t n_fixed; // up to 2 vertices with three prescribed components, and their places
  NoliVec3 fixed[2];
  double extent[N_MOTIONS]; // sum of squared displacements; 0: no motion, everything is prescribed
  double resistance[N_ENTRIES];
  double stiffness; // sum of all diagonal entries
  double noise;     // J/m^2: rounding of the resistance, over ROUNDING
  bool held;
} Part;

typedef struct Parts {
  int32_t n;
  int32_t* of;     // (n_vert) part of each vertex with inertia, else NOLI_NULL_INDEX
  int32_t* vertex; // (n_dof) vertex of each block row
  uint8_t* axes;   // (n_vert) prescribed components
  double* turn;    // (n_vert x 3) m: change of angles of segments in a rotation; 0: no angle
  Part* part;      // (n)
} Parts;

// Merges the nodes of an element into one part (triangles have no fourth); of two roots the smaller
// one remains, so that parents precede children.
static void unite(int32_t* parent, int32_t n_tet, int32_t size, const int32_t* node) {
  for (int64_t t = 0; t < n_tet; t++) {
    for (int32_t k = 1; k < size && node[size * t + k] >= 0; k++) {
      noli_group_join(parent, node[size * t], node[size * t + k]);
    }
  }
}

// Bodies that are tied together move as one; a body tied to an obstacle is held by it.
static void gather_tied(const NoliModel* model, int32_t* parent) {
  const NoliFollowers* followers = &model->problem.followers;
  for (int32_t f = 0; f < followers->n_tied; f++) {
    for (int64_t k = followers->row[f]; k < followers->row[f + 1]; k++) {
      const int32_t pair[2] = {followers->tied[f], followers->node[k]};
      if (!model->obstacle[model->problem.surface->body[pair[1]]]) {
        unite(parent, 1, 2, pair);
      }
    }
  }
}

// Unites the vertices of each element of a block, of all ranks on those that have all.
static void gather_elements(const NoliModel* model, int32_t index, int32_t* parent) {
  const NoliBlock* block = &model->problem.block[index];
  if (!block->divided) {
    unite(parent, block->n_element, block->n_local, block->node);
    return;
  }
  for (int32_t b = 0; b < model->n_body; b++) {
    if (model->problem.range[b].block == index && model->cell != NULL) {
      int32_t first = model->cell_first[b];
      unite(parent, model->cell_first[b + 1] - first, 4, model->cell + 4 * (int64_t)first);
    }
  }
}

// Numbers the connected parts in the order of their first vertices; in `of`, parents come first.
static NoliStatus held_find_parts(const NoliModel* model, Parts* parts) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = &model->problem;
  for (int32_t i = 0; i < problem->n_vert; i++) {
    parts->of[i] = i;
  }
  for (int32_t i = 0; i < problem->n_block; i++) {
    const NoliBlock* block = &problem->block[i];
    gather_elements(model, i, parts->of);
    for (int32_t s = 0; s < block->n_angle; s++) {
      const int32_t pair[2] = {block->node[2 * (int64_t)s], block->first_angle + s};
      unite(parts->of, 1, 2, pair);
    }
  }

  if (model->cells_on_first) {
    NOLI_TRY(
        noli_ranks_broadcast(model->context, 0, sizeof *parts->of, parts->of, problem->n_vert));
  }
  gather_tied(model, parts->of);
  int32_t next = 0; // of the inertial vertices
  for (int32_t i = 0; i < problem->n_vert; i++) {
    bool inertial = next < problem->inertia.n_vert && problem->inertia.vert[next] == i;
    next += inertial ? 1 : 0;
    int32_t parent = parts->of[i];
    if (!inertial) {
      parts->of[i] = NOLI_NULL_INDEX;
    } else {
      parts->of[i] = parent == i ? parts->n++ : parts->of[parent];
    }
  }
done:
  return status;
}

// An angle, in m, changes by the component of a rotation along its segment.
static void set_turns(const NoliSim* sim, Parts* parts) {
  const NoliProblem* problem = &sim->model->problem;
  const double* x = sim->stage->here->x;
  for (int32_t i = 0; i < problem->n_block; i++) {
    const NoliBlock* block = &problem->block[i];
    for (int32_t s = 0; s < block->n_angle; s++) {
      const int32_t* node = block->node + 2 * (int64_t)s;
      NoliVec3 edge =
          noli_sub3(noli_load3(x + 3 * (int64_t)node[1]), noli_load3(x + 3 * (int64_t)node[0]));
      noli_store3(parts->turn + 3 * (int64_t)(block->first_angle + s),
                  noli_scale3(block->angle_radius, noli_normalize3(edge)));
    }
  }
}

static bool is_angle(const Parts* parts, int32_t vertex) {
  return noli_norm_sqr3(noli_load3(parts->turn + 3 * (int64_t)vertex)) > 0.0;
}

static void measure_parts(const NoliSim* sim, Parts* parts) {
  const double* x = sim->stage->here->x;
  int32_t n_vert = sim->model->problem.n_vert;
  for (int32_t i = 0; i < n_vert; i++) {
    if (parts->of[i] != NOLI_NULL_INDEX && !is_angle(parts, i)) {
      Part* part = &parts->part[parts->of[i]];
      part->centre = noli_add3(part->centre, noli_load3(&x[3 * (int64_t)i]));
      part->n_vert++;
    }
  }

  for (int32_t p = 0; p < parts->n; p++) {
    Part* part = &parts->part[p];
    part->centre = noli_scale3(1.0 / part->n_vert, part->centre);
  }
  for (int32_t i = 0; i < n_vert; i++) {
    if (parts->of[i] != NOLI_NULL_INDEX && !is_angle(parts, i)) {
      Part* part = &parts->part[parts->of[i]];
      NoliVec3 arm = noli_sub3(noli_load3(&x[3 * (int64_t)i]), part->centre);
      part->size = fmax(part->size, noli_norm3(arm));
    }
  }

  // a point does not turn
  for (int32_t p = 0; p < parts->n; p++) {
    parts->part[p].size = parts->part[p].size > 0.0 ? parts->part[p].size : 1.0;
  }
}

// Displacements of a vertex in the six motions; prescribed components stay.
static void motions_of(const NoliSim* sim, const Parts* parts, int32_t vertex,
                       NoliVec3 motion[N_MOTIONS]) {
  const Part* part = &parts->part[parts->of[vertex]];
  NoliVec3 arm = noli_sub3(noli_load3(&sim->stage->here->x[3 * (int64_t)vertex]), part->centre);
  for (int32_t k = 0; k < 3; k++) {
    double axis[3] = {0.0, 0.0, 0.0};
    axis[k] = 1.0;
    motion[k] = noli_load3(axis);
    motion[3 + k] = noli_scale3(1.0 / part->size, noli_cross3(noli_load3(axis), arm));
    if (is_angle(parts, vertex)) {
      motion[k] = (NoliVec3){0};
      motion[3 + k] = (NoliVec3){parts->turn[3 * (int64_t)vertex + k] / part->size, 0.0, 0.0};
    }
  }
  for (int32_t k = 0; k < N_MOTIONS; k++) {
    double d[3];
    noli_store3(d, motion[k]);
    for (int32_t c = 0; c < 3; c++) {
      d[c] = (parts->axes[vertex] >> c & 1) != 0 ? 0.0 : d[c];
    }
    motion[k] = noli_load3(d);
  }
}

static void measure_motions(const NoliSim* sim, const Parts* parts) {
  for (int32_t i = 0; i < sim->model->problem.n_vert; i++) {
    NoliVec3 motion[N_MOTIONS];
    if (parts->of[i] == NOLI_NULL_INDEX) {
      continue;
    }
    motions_of(sim, parts, i, motion);
    for (int32_t k = 0; k < N_MOTIONS; k++) {
      parts->part[parts->of[i]].extent[k] += noli_norm_sqr3(motion[k]);
    }
  }
}

// Adds a fixed vertex at x; returns whether it is the third that is not on a line with the others.
static bool add_fixed(Part* part, NoliVec3 x) {
  NoliVec3 arm = noli_sub3(x, part->fixed[0]);
  double least = ON_A_LINE * part->size;
  if (part->n_fixed == 2) {
    NoliVec3 along = noli_normalize3(noli_sub3(part->fixed[1], part->fixed[0]));
    return noli_norm3(noli_cross3(along, arm)) > least;
  }
  if (part->n_fixed == 0 || noli_norm3(arm) > least) {
    part->fixed[part->n_fixed++] = x;
  }
  return false;
}

static void find_fixed(const NoliSim* sim, const Parts* parts) {
  for (int32_t i = 0; i < sim->model->problem.n_vert; i++) {
    if (parts->of[i] != NOLI_NULL_INDEX && parts->axes[i] == NOLI_ALL_AXES && !is_angle(parts, i)) {
      Part* part = &parts->part[parts->of[i]];
      part->held = part->held || add_fixed(part, noli_load3(&sim->stage->here->x[3 * (int64_t)i]));
    }
  }
}

static double held_largest_entry(const NoliMat3* block) {
  double largest = 0.0;
  for (int i = 0; i < 9; i++) {
    largest = fmax(largest, fabs(block->m[i / 3][i % 3]));
  }
  return largest;
}

static NoliMat3 symmetric_part(const NoliMat3* block) {
  return noli_scale33(0.5, noli_add33(*block, noli_transpose33(*block)));
}

// resistance += factor one^T block other, made symmetric; noise: of all motions, times `scale`.
static void add_work(Part* part, const NoliMat3* block, double factor,
                     const NoliVec3 one[N_MOTIONS], const NoliVec3 other[N_MOTIONS], double scale) {
  double extent[2] = {0.0, 0.0};
  for (int32_t l = 0; l < N_MOTIONS; l++) {
    NoliVec3 force = noli_mul33_vec(block, other[l]);
    for (int32_t k = 0; k < N_MOTIONS; k++) {
      double work = 0.5 * factor * noli_dot3(one[k], force);
      part->resistance[N_MOTIONS * k + l] += work;
      part->resistance[N_MOTIONS * l + k] += work;
    }
    extent[0] += noli_norm_sqr3(one[l]);
    extent[1] += noli_norm_sqr3(other[l]);
  }
  part->noise += scale * held_largest_entry(block) * sqrt(extent[0] * extent[1]);
}

// Two nodes of a part and their off-diagonal block. The symmetric part of the block of two
// positions resists their difference; the sum of all symmetric parts of a row resists the position
// of its node. Therefore stiff neighbours that move together cost no digits, regardless of the
// element size.
static void add_pair(const NoliSim* sim, const Parts* parts, int32_t a, int32_t b,
                     const NoliMat3* block) {
  Part* part = &parts->part[parts->of[a]];
  NoliVec3 at_a[N_MOTIONS], at_b[N_MOTIONS];
  motions_of(sim, parts, a, at_a);
  motions_of(sim, parts, b, at_b);
  if (is_angle(parts, a) || is_angle(parts, b)) {
    add_work(part, block, 2.0, at_a, at_b, 1.0);
    return;
  }
  for (int32_t k = 0; k < N_MOTIONS; k++) {
    at_a[k] = noli_sub3(at_a[k], at_b[k]);
  }
  // rounding of positions strains the elements between them
  NoliVec3 x_a = noli_load3(&sim->stage->here->x[3 * (int64_t)a]);
  NoliVec3 x_b = noli_load3(&sim->stage->here->x[3 * (int64_t)b]);
  double apart = noli_norm3(noli_sub3(x_a, x_b));
  double scale = 1.0 + (apart > 0.0 ? (noli_norm3(x_a) + noli_norm3(x_b)) / apart : 0.0);
  NoliMat3 symmetric = symmetric_part(block), skew = noli_sub33(*block, symmetric);
  add_work(part, &symmetric, -1.0, at_a, at_a, scale);
  add_work(part, &skew, 2.0, at_a, at_b, scale);
}

// Sums of the blocks in the rows of positions, without rounding.
typedef struct Rows {
  NoliMat3* sum; // (n)
  double* size;  // (n) sum of largest entries
} Rows;

static void add_to_row(const Rows* rows, int32_t row, const NoliMat3* block) {
  rows->sum[row] = noli_add33(rows->sum[row], *block);
  rows->size[row] += held_largest_entry(block);
}

static void add_row(const NoliSim* sim, const Parts* parts, int32_t row, const Rows* rows) {
  int32_t a = parts->vertex[row];
  Part* part = &parts->part[parts->of[a]];
  NoliVec3 at[N_MOTIONS];
  NoliMat3 sum = rows->sum[row];
  for (int i = 0; i < 9; i++) {
    double* entry = &sum.m[i / 3][i % 3];
    *entry = fabs(*entry) > ROUNDING * rows->size[row] ? *entry : 0.0;
  }
  motions_of(sim, parts, a, at);
  add_work(part, &sum, 1.0, at, at, 1.0);
}

// Sums what the share of each rank adds.
static NoliStatus sum_shares(const NoliSim* sim, int32_t n_row, const Parts* parts, Rows* rows) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = sim->context;
  NOLI_TRY(noli_ranks_sum(context, &rows->sum->m[0][0], 9 * (int64_t)n_row));
  NOLI_TRY(noli_ranks_sum(context, rows->size, n_row));
  for (int32_t p = 0; p < parts->n; p++) {
    Part* part = &parts->part[p];
    NOLI_TRY(noli_ranks_sum(context, part->resistance, N_ENTRIES));
    NOLI_TRY(noli_ranks_sum(context, &part->stiffness, 1));
    NOLI_TRY(noli_ranks_sum(context, &part->noise, 1));
  }
done:
  return status;
}

static NoliStatus add_matrix(const NoliSim* sim, const NoliBlockMatrix* matrix,
                             const Parts* parts) {
  NoliStatus status = NOLI_OK;
  Rows rows = {0};
  NOLI_NEW_ZERO(sim->context, rows.sum, matrix->n);
  NOLI_NEW_ZERO(sim->context, rows.size, matrix->n);
  for (int32_t row = 0; row < matrix->n; row++) {
    for (int64_t k = matrix->row[row]; k < matrix->row[row + 1]; k++) {
      int32_t col = matrix->col[k], a = parts->vertex[row], b = parts->vertex[col];
      NoliMat3 block = noli_load33(matrix->value + 9 * k), own = symmetric_part(&block);
      if (parts->of[a] != parts->of[b]) {
        continue;
      }
      if (row == col) {
        parts->part[parts->of[a]].stiffness += noli_trace33(&block);
        add_to_row(&rows, row, &block);
        continue;
      }
      add_pair(sim, parts, a, b, &block);
      if (!is_angle(parts, a) && !is_angle(parts, b)) {
        add_to_row(&rows, row, &own);
        add_to_row(&rows, col, &own);
      }
    }
  }

  NOLI_TRY(sum_shares(sim, matrix->n, parts, &rows));
  for (int32_t row = 0; row < matrix->n; row++) {
    add_row(sim, parts, row, &rows);
  }
done:
  noli_free(sim->context, rows.sum);
  noli_free(sim->context, rows.size);
  return status;
}

// Fails with a message that names the body and its free motion.
static NoliStatus fail_unheld(const NoliSim* sim, const Parts* parts, int32_t index,
                              const double motion[N_MOTIONS]) {
  const NoliModel* model = sim->model;
  int32_t vertex = 0;
  while (parts->of[vertex] != index) {
    vertex++;
  }
  int32_t body = model->problem.surface->body[vertex];

  NoliVec3 along = noli_load3(motion), about = noli_load3(motion + 3);
  bool turns = noli_norm3(about) > noli_norm3(along);
  NoliVec3 axis = noli_normalize3(turns ? about : along);
  double n[3];
  noli_store3(n, axis);
  for (int k = 0; k < 3; k++) {
    n[k] = fabs(n[k]) < 5e-4 ? 0.0 : n[k]; // no "-0"
  }

  int32_t n_all = model->vert_first[body + 1] - model->vert_first[body];
  bool whole = parts->part[index].n_vert == n_all - noli_model_angle_count(model, body);
  return noli_fail(
      sim->context, NOLI_NOT_POSITIVE_DEFINITE,
      "quasi_static: %s \"%s\" is free to %s (%.3g, %.3g, %.3g) and nothing holds it: prescribe "
      "some of its vertices (a motion without a target holds them), start it in contact with "
      "friction where contact must hold it, or use an integrator with inertia",
      whole ? "body" : "a part of body", model->name[body], turns ? "turn about" : "move along",
      n[0], n[1], n[2]);
}

// Whether something resists every motion of a part; otherwise `motion` receives the one with the
// least resistance.
static bool is_held(Part* part, double motion[N_MOTIONS]) {
  double value[N_MOTIONS], vector[N_ENTRIES];
  // a motion that no vertex can follow needs no resistance, for example out of the plane
  double enough = part->stiffness > 0.0 ? part->stiffness : 1.0;
  for (int32_t k = 0; k < N_MOTIONS; k++) {
    bool moves = part->extent[k] > 1e-20 * part->n_vert;
    part->resistance[(N_MOTIONS + 1) * k] += moves ? 0.0 : enough;
  }
  noli_eigen_symmetric(N_MOTIONS, part->resistance, value, vector);
  for (int32_t k = 0; k < N_MOTIONS; k++) {
    motion[k] = vector[N_MOTIONS * k];
  }
  return value[0] > ROUNDING * part->noise;
}

// Checks the parts that are not known to be held with the matrix of all terms, or of all except
// friction and contact.
static NoliStatus held_check_parts(NoliSim* sim, Parts* parts, bool all) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = sim->stage;
  for (int32_t p = 0; p < parts->n; p++) {
    parts->part[p].stiffness = parts->part[p].noise = 0.0;
    memset(parts->part[p].resistance, 0, sizeof parts->part[p].resistance);
  }
  NOLI_TRY(all ? noli_stage_linearize(stage) : noli_stage_linearize_stiffness(stage));
  NOLI_TRY(add_matrix(sim, noli_system_matrix(&stage->system), parts));
  for (int32_t p = 0; p < parts->n; p++) {
    Part* part = &parts->part[p];
    double motion[N_MOTIONS];
    part->held = part->held || is_held(part, motion);
    if (!part->held && all) {
      return fail_unheld(sim, parts, p, motion);
    }
  }
done:
  return status;
}

// Parts that joints hold to the world: how they may still turn, the solver finds.
static void find_grounded(const NoliModel* model, Parts* parts) {
  const NoliFollowers* followers = &model->problem.followers;
  for (int32_t f = 0; f < followers->n_tied; f++) {
    int32_t part = parts->of[followers->tied[f]];
    if (part != NOLI_NULL_INDEX && noli_followers_is_grounded(followers, f)) {
      parts->part[part].held = true;
    }
  }
}

NoliStatus noli_sim_require_held(NoliSim* sim) {
  NoliStatus status = NOLI_OK;
  NoliStage* stage = sim->stage;
  NoliContext* context = sim->context;
  const NoliPrescribed* prescribed = &stage->prescribed;
  int32_t n_vert = sim->model->problem.n_vert;
  Parts parts = {0};

  // find the parts and the prescribed components
  NOLI_NEW(context, parts.of, n_vert);
  NOLI_NEW(context, parts.vertex, stage->system.n_dof);
  NOLI_NEW_ZERO(context, parts.axes, n_vert);
  NOLI_NEW_ZERO(context, parts.turn, 3 * (int64_t)n_vert);
  set_turns(sim, &parts);
  NOLI_TRY(held_find_parts(sim->model, &parts));
  NOLI_NEW_ZERO(context, parts.part, parts.n);
  for (int32_t i = 0; i < n_vert; i++) {
    if (noli_system_is_unknown(&stage->system, i)) {
      parts.vertex[stage->system.dof[i]] = i;
    }
  }
  for (int32_t i = 0; i < prescribed->n; i++) {
    parts.axes[prescribed->node[i]] = prescribed->axes[i];
  }

  // elasticity alone, then with contact
  measure_parts(sim, &parts);
  measure_motions(sim, &parts);
  find_fixed(sim, &parts);
  find_grounded(sim->model, &parts);
  NOLI_TRY(held_check_parts(sim, &parts, false));
  NOLI_TRY(held_check_parts(sim, &parts, true));
done:
  noli_free(context, parts.of);
  noli_free(context, parts.vertex);
  noli_free(context, parts.axes);
  noli_free(context, parts.turn);
  noli_free(context, parts.part);
  return status;
}
