#include "sim/goal_quantities.h"

#include "fem/element_slopes.h"
#include "fem/elements.h"
#include "fem/history_slopes.h"
#include "material/history_slopes.h"
#include "sim/goal_contact.h"

#include <math.h>
#include <string.h>

#define READS(input) (1u << (input))

// Doubles of the history of a point.
enum { HISTORY_MAX = NOLI_BRANCH_VALUES * (1 + NOLI_PRONY_TERMS) + 1 };

static NoliBlockRange elements_of(const NoliGoalPlace* place) {
  return place->sim->model->problem.range[place->body];
}

static const NoliBlock* block_of(const NoliGoalPlace* place) {
  return noli_problem_block(&place->sim->model->problem, place->body);
}

// First element of the body in the inputs over elements.
static int64_t first_input(const NoliGoalPlace* place) {
  const NoliProblem* problem = &place->sim->model->problem;
  NoliBlockRange range = elements_of(place);
  int64_t first = range.begin;
  for (int32_t b = 0; b < range.block; b++) {
    first += problem->block[b].n_element;
  }
  return first;
}

// ---- vertices -----------------------------------------------------------------------------------

static void take(const NoliGoalPlace* place, const double* from, double* value) {
  for (int32_t i = 0; i < place->n_vertex; i++) {
    memcpy(value + 3 * (int64_t)i, from + 3 * (int64_t)place->vertex[i], 3 * sizeof *value);
  }
}

static void give(const NoliGoalPlace* place, double factor, const double* weight, double* to) {
  for (int64_t k = 0; to != NULL && k < 3 * (int64_t)place->n_vertex; k++) {
    to[3 * (int64_t)place->vertex[k / 3] + k % 3] += factor * weight[k];
  }
}

static NoliStatus positions(const NoliGoalPlace* place, double* value) {
  take(place, place->x, value);
  return NOLI_OK;
}

static NoliStatus derive_positions(const NoliGoalPlace* place, const double* weight,
                                   NoliGoalSlopes* slopes) {
  give(place, 1.0, weight, slopes->x);
  return NOLI_OK;
}

static NoliStatus displacements(const NoliGoalPlace* place, double* value) {
  const double* X = place->sim->model->problem.X;
  take(place, place->x, value);
  for (int64_t k = 0; k < 3 * (int64_t)place->n_vertex; k++) {
    value[k] -= X[3 * (int64_t)place->vertex[k / 3] + k % 3];
  }
  return NOLI_OK;
}

static NoliStatus derive_displacements(const NoliGoalPlace* place, const double* weight,
                                       NoliGoalSlopes* slopes) {
  give(place, 1.0, weight, slopes->x);
  give(place, -1.0, weight, slopes->inputs.value[NOLI_INPUT_REST]);
  return NOLI_OK;
}

static NoliStatus velocities(const NoliGoalPlace* place, double* value) {
  take(place, place->v, value);
  return NOLI_OK;
}

static NoliStatus derive_velocities(const NoliGoalPlace* place, const double* weight,
                                    NoliGoalSlopes* slopes) {
  give(place, 1.0, weight, slopes->v);
  return NOLI_OK;
}

// ---- centre and volume --------------------------------------------------------------------------

static NoliVec3 centre_of(const NoliGoalPlace* place, double* mass) {
  const double* m = place->sim->model->problem.weight;
  NoliVec3 sum = {0};
  *mass = 0.0;
  for (int32_t i = 0; i < place->n_vertex; i++) {
    int64_t node = place->vertex[i];
    sum = noli_mul_add3(sum, m[node], noli_load3(&place->x[3 * node]));
    *mass += m[node];
  }
  return noli_scale3(1.0 / *mass, sum);
}

static NoliStatus centre(const NoliGoalPlace* place, double* value) {
  double mass;
  noli_store3(value, centre_of(place, &mass));
  return NOLI_OK;
}

static NoliStatus derive_centre(const NoliGoalPlace* place, const double* weight,
                                NoliGoalSlopes* slopes) {
  const double* m = place->sim->model->problem.weight;
  double mass;
  NoliVec3 at = centre_of(place, &mass), w = noli_load3(weight);
  for (int32_t i = 0; i < place->n_vertex; i++) {
    int64_t node = place->vertex[i];
    NoliVec3 arm = noli_sub3(noli_load3(&place->x[3 * node]), at);
    for (int k = 0; k < 3 && slopes->x != NULL; k++) {
      slopes->x[3 * node + k] += m[node] / mass * weight[k];
    }
    if (slopes->inputs.value[NOLI_INPUT_MASS] != NULL) {
      slopes->inputs.value[NOLI_INPUT_MASS][node] += noli_dot3(arm, w) / mass;
    }
  }
  return NOLI_OK;
}

static const char* needs_straight_solids(const NoliGoalPlace* place) {
  const NoliBlock* block = block_of(place);
  return block == NULL || !block->type->solid || !block->type->affine
             ? "only of solids with linear elements"
             : NULL;
}

// Thickness of a triangle in plane strain.
static double thickness_of(const NoliGoalPlace* place, int32_t element, const int32_t* node) {
  const NoliBlock* block = block_of(place);
  const double* X = place->sim->model->problem.X;
  const double *a = X + 3 * (int64_t)node[0], *b = X + 3 * (int64_t)node[1],
               *c = X + 3 * (int64_t)node[2];
  double area = 0.5 * ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]));
  return block->type->rest_volume(block, element, element + 1) / area;
}

// Volume of an element at x and its derivatives by its nodes.
static double element_volume(const NoliGoalPlace* place, int32_t element, NoliVec3 by[4]) {
  const int32_t* node = block_of(place)->node + 4 * (int64_t)element;
  NoliVec3 p[4];
  for (int k = 0; k < 4 && node[k] != NOLI_NULL_INDEX; k++) {
    p[k] = noli_load3(&place->x[3 * (int64_t)node[k]]);
  }
  NoliVec3 e1 = noli_sub3(p[1], p[0]), e2 = noli_sub3(p[2], p[0]);
  NoliVec3 e3 = node[3] != NOLI_NULL_INDEX
                    ? noli_sub3(p[3], p[0])
                    : (NoliVec3){0.0, 0.0, 3.0 * thickness_of(place, element, node)};
  by[1] = noli_scale3(1.0 / 6.0, noli_cross3(e2, e3));
  by[2] = noli_scale3(1.0 / 6.0, noli_cross3(e3, e1));
  by[3] = noli_scale3(1.0 / 6.0, noli_cross3(e1, e2));
  by[0] = noli_add3(by[1], by[2]);
  by[0] = noli_scale3(-1.0, node[3] != NOLI_NULL_INDEX ? noli_add3(by[0], by[3]) : by[0]);
  return noli_dot3(e3, by[3]);
}

static NoliStatus volume(const NoliGoalPlace* place, double* value) {
  NoliBlockRange range = elements_of(place);
  NoliVec3 by[4];
  *value = 0.0;
  for (int32_t e = range.begin; e < range.end; e++) {
    *value += element_volume(place, e, by);
  }
  return NOLI_OK;
}

static NoliStatus derive_volume(const NoliGoalPlace* place, const double* weight,
                                NoliGoalSlopes* slopes) {
  NoliBlockRange range = elements_of(place);
  NoliVec3 by[4];
  for (int32_t e = range.begin; slopes->x != NULL && e < range.end; e++) {
    const int32_t* node = block_of(place)->node + 4 * (int64_t)e;
    (void)element_volume(place, e, by);
    for (int k = 0; k < 4 && node[k] != NOLI_NULL_INDEX; k++) {
      double* to = slopes->x + 3 * (int64_t)node[k];
      noli_store3(to, noli_mul_add3(noli_load3(to), *weight, by[k]));
    }
  }
  return NOLI_OK;
}

// ---- energies -----------------------------------------------------------------------------------

static const char* needs_lumped_mass(const NoliGoalPlace* place) {
  const NoliBlock* block = block_of(place);
  return block == NULL             ? "obstacles have none"
         : block->n_consistent > 0 ? "only of bodies with linear elements"
                                   : NULL;
}

static NoliStatus kinetic_energy(const NoliGoalPlace* place, double* value) {
  const double* m = place->sim->model->problem.mass;
  *value = 0.0;
  for (int32_t i = 0; i < place->n_vertex; i++) {
    int64_t node = place->vertex[i];
    NoliVec3 v = noli_load3(&place->v[3 * node]);
    *value += 0.5 * m[node] * noli_dot3(v, v);
  }
  return NOLI_OK;
}

static NoliStatus derive_kinetic_energy(const NoliGoalPlace* place, const double* weight,
                                        NoliGoalSlopes* slopes) {
  const double* m = place->sim->model->problem.mass;
  for (int32_t i = 0; i < place->n_vertex; i++) {
    int64_t node = place->vertex[i];
    NoliVec3 v = noli_load3(&place->v[3 * node]);
    for (int k = 0; k < 3 && slopes->v != NULL; k++) {
      slopes->v[3 * node + k] += *weight * m[node] * place->v[3 * node + k];
    }
    if (slopes->inputs.value[NOLI_INPUT_MASS] != NULL) {
      slopes->inputs.value[NOLI_INPUT_MASS][node] += *weight * 0.5 * noli_dot3(v, v);
    }
  }
  return NOLI_OK;
}

static NoliStatus gravity_energy(const NoliGoalPlace* place, double* value) {
  const NoliModel* model = place->sim->model;
  NoliVec3 gravity = noli_load3(model->gravity);
  *value = 0.0;
  for (int32_t i = 0; i < place->n_vertex; i++) {
    int64_t node = place->vertex[i];
    *value -= model->problem.weight[node] * noli_dot3(gravity, noli_load3(&place->x[3 * node]));
  }
  return NOLI_OK;
}

static NoliStatus derive_gravity_energy(const NoliGoalPlace* place, const double* weight,
                                        NoliGoalSlopes* slopes) {
  const NoliModel* model = place->sim->model;
  NoliVec3 gravity = noli_load3(model->gravity);
  for (int32_t i = 0; i < place->n_vertex; i++) {
    int64_t node = place->vertex[i];
    for (int k = 0; k < 3 && slopes->x != NULL; k++) {
      slopes->x[3 * node + k] -= *weight * model->problem.weight[node] * model->gravity[k];
    }
    if (slopes->inputs.value[NOLI_INPUT_MASS] != NULL) {
      slopes->inputs.value[NOLI_INPUT_MASS][node] -=
          *weight * noli_dot3(gravity, noli_load3(&place->x[3 * node]));
    }
  }
  return NOLI_OK;
}

static const char* needs_solids(const NoliGoalPlace* place) {
  const NoliBlock* block = block_of(place);
  return block == NULL ? "obstacles have none" : !block->type->solid ? "only of solids" : NULL;
}

// Adds what follows from the derivative by the rest volume of a point: it grows by V b_b . dX_b.
static void add_by_volume(const NoliGoalPlace* place, int32_t e, int32_t q, double by,
                          NoliGoalSlopes* slopes) {
  double* rest = slopes->inputs.value[NOLI_INPUT_REST];
  const NoliBlock* block = block_of(place);
  const int32_t* node = block->node + (int64_t)block->n_local * e;
  NoliVec3 gradient[4];
  double volume = block->type->point_volume(block, e, q);
  if (rest == NULL) {
    return;
  }
  noli_element_vertex_gradients(block, e, q, place->sim->model->problem.X, gradient);
  for (int b = 0; b < 4 && node[b] != NOLI_NULL_INDEX; b++) {
    double* to = rest + 3 * (int64_t)node[b];
    noli_store3(to, noli_mul_add3(noli_load3(to), by * volume, gradient[b]));
  }
}

// Likewise by the rest volume of an element, of which its points may not have all where it is
// curved (fem/block_order_n.c).
static void add_by_rest_volume(const NoliGoalPlace* place, int32_t e, double by,
                               NoliGoalSlopes* slopes) {
  double* rest = slopes->inputs.value[NOLI_INPUT_REST];
  const NoliBlock* block = block_of(place);
  const int32_t* node = block->node + (int64_t)block->n_local * e;
  NoliVec3 slope[4];
  if (rest == NULL) {
    return;
  }
  noli_element_volume_slope(block, e, place->sim->model->problem.X, slope);
  for (int b = 0; b < 4 && b < block->n_local && node[b] != NOLI_NULL_INDEX; b++) {
    double* to = rest + 3 * (int64_t)node[b];
    noli_store3(to, noli_mul_add3(noli_load3(to), by, slope[b]));
  }
}

// ---- points -------------------------------------------------------------------------------------

// One point of quadrature.
typedef struct Point {
  NoliMaterialPoint material;
  int64_t history; // its place among those of all blocks
  NoliMat3 F;
  double volume; // at rest
} Point;

// The points of an element; returns their number.
static int32_t points_of(const NoliGoalPlace* place, int32_t e, Point* point) {
  const NoliProblem* problem = &place->sim->model->problem;
  const NoliBlock* block = block_of(place);
  NoliMat3 F[NOLI_ELEMENT_POINTS_MAX];
  int32_t n = block->type->point_count(block);
  int64_t first = 0;
  for (int32_t b = 0; b < elements_of(place).block; b++) {
    first += problem->block[b].n_history;
  }
  block->type->deformation(block, e, place->x, F);
  for (int32_t q = 0; q < n; q++) {
    point[q].F = F[q];
    point[q].volume = block->type->point_volume(block, e, q);
    point[q].material = noli_block_material(block, e, q, &point[q].history);
    point[q].history += first;
  }
  return n;
}

static void add_by_deformation(const NoliGoalPlace* place, int32_t e, int32_t q, const Point* point,
                               const NoliMat3* by_F, NoliGoalSlopes* slopes) {
  noli_block_pull_deformation(block_of(place), e, q, place->sim->model->problem.X, &point->F, by_F,
                              slopes->x, slopes->inputs.value[NOLI_INPUT_REST]);
}

// ---- elastic energy -----------------------------------------------------------------------------

static NoliStatus elastic_energy(const NoliGoalPlace* place, double* value) {
  NoliBlockRange range = elements_of(place);
  *value = 0.0;
  for (int32_t e = range.begin; e < range.end; e++) {
    Point point[NOLI_ELEMENT_POINTS_MAX];
    int32_t n = points_of(place, e, point);
    for (int32_t q = 0; q < n; q++) {
      *value += point[q].volume * noli_history_energy(&point[q].material, &point[q].F);
    }
  }
  return NOLI_OK;
}

// Adds derivatives by the numbers of a material to those by its element.
static void add_by_numbers(const double by[NOLI_MATERIAL_NUMBERS], int64_t input,
                           NoliGoalSlopes* slopes) {
  for (int i = 0; i < NOLI_NUMBER_INPUTS; i++) {
    const NoliNumberInput* of = &noli_number_inputs[i];
    double* to = slopes->inputs.value[of->input];
    for (int32_t k = 0; to != NULL && k < of->n; k++) {
      to[of->n * input + k] += by[of->first + k];
    }
  }
}

static void derive_one_energy(const NoliGoalPlace* place, int32_t e, int32_t q, const Point* point,
                              double weight, int64_t input, NoliGoalSlopes* slopes) {
  double by_history[HISTORY_MAX], by_numbers[NOLI_MATERIAL_NUMBERS], A[81];
  double scale = weight * point->volume;
  NoliMat3 P;
  noli_history_tangent(&point->material, &point->F, &P, A);
  P = noli_scale33(scale, P);
  add_by_deformation(place, e, q, point, &P, slopes);
  add_by_volume(place, e, q, weight * noli_history_energy(&point->material, &point->F), slopes);
  noli_history_energy_slopes(&point->material, &point->F, by_history, by_numbers);
  for (int32_t i = 0; slopes->history != NULL && i < noli_history_size(&point->material); i++) {
    slopes->history[point->history + i] += scale * by_history[i];
  }
  for (int k = 0; k < NOLI_MATERIAL_NUMBERS; k++) {
    by_numbers[k] *= scale;
  }
  add_by_numbers(by_numbers, input, slopes);
}

static NoliStatus derive_elastic_energy(const NoliGoalPlace* place, const double* weight,
                                        NoliGoalSlopes* slopes) {
  NoliBlockRange range = elements_of(place);
  int64_t first = first_input(place);
  for (int32_t e = range.begin; e < range.end; e++) {
    Point point[NOLI_ELEMENT_POINTS_MAX];
    int32_t n = points_of(place, e, point);
    for (int32_t q = 0; q < n; q++) {
      derive_one_energy(place, e, q, &point[q], *weight, first + e - range.begin, slopes);
    }
  }
  return NOLI_OK;
}

// ---- stress -------------------------------------------------------------------------------------

// Mises' equivalent of sigma = P F^T / J and its derivatives by sigma; 0 where it is 0.
static double equivalent(const NoliMat3* sigma, NoliMat3* by) {
  double mean = noli_trace33(sigma) / 3.0;
  NoliMat3 deviator = *sigma;
  for (int i = 0; i < 3; i++) {
    deviator.m[i][i] -= mean;
  }
  double mises = sqrt(1.5 * noli_norm_sqr33(&deviator));
  *by = noli_scale33(mises > 0.0 ? 1.5 / mises : 0.0, deviator);
  return mises;
}

// With dsigma = (dP F^T + P dF^T) / J - sigma tr(F^-1 dF): derivatives by P at constant F, and by F
// at constant P.
static double mises_of(const NoliMat3* F, const NoliMat3* P, NoliMat3* by_P, NoliMat3* by_F) {
  double J = noli_det33(F);
  NoliMat3 sigma = noli_scale33(1.0 / J, noli_mul_transpose33(*P, *F)), by;
  double mises = equivalent(&sigma, &by);
  NoliMat3 inverse = noli_inverse33(F);
  *by_P = noli_scale33(1.0 / J, noli_mul33(by, *F));
  *by_F = noli_scale33(1.0 / J, noli_mul33(by, *P));
  *by_F = noli_sub33(*by_F, noli_scale33(noli_inner33(&by, &sigma), noli_transpose33(inverse)));
  return mises;
}

// The mean over the points of an element, by their volumes at rest.
static double share_of(const NoliGoalPlace* place, int32_t e, const Point* point) {
  const NoliBlock* block = block_of(place);
  return point->volume / block->type->rest_volume(block, e, e + 1);
}

static double mises_at(const Point* point) {
  NoliMat3 P, by_P, by_F;
  double A[81];
  noli_history_tangent(&point->material, &point->F, &P, A);
  return mises_of(&point->F, &P, &by_P, &by_F);
}

static NoliStatus von_mises(const NoliGoalPlace* place, double* value) {
  NoliBlockRange range = elements_of(place);
  for (int32_t e = range.begin; e < range.end; e++) {
    Point point[NOLI_ELEMENT_POINTS_MAX];
    int32_t n = points_of(place, e, point);
    value[e - range.begin] = 0.0;
    for (int32_t q = 0; q < n; q++) {
      value[e - range.begin] += share_of(place, e, &point[q]) * mises_at(&point[q]);
    }
  }
  return NOLI_OK;
}

// By the histories of a point, from derivatives by its stress.
static void add_by_history(const Point* point, const NoliMat3* by_P, double* to) {
  const NoliMaterialPoint* material = &point->material;
  bool flows = noli_flow_size(material) > 0;
  for (int32_t k = flows ? 0 : 1; k < noli_branch_count(material); k++) {
    double slope[81], *G = to + point->history + (k > 0 ? noli_history_place(material, k - 1) : 0);
    noli_history_stress_slope(material, k, &point->F, slope);
    for (int i = 0; i < 81; i++) {
      G[i % 9] += slope[i] * by_P->m[i / 27][i / 9 % 3];
    }
  }
  if (flows) {
    NoliMat3 by = noli_history_stress_by_internal(material, &point->F);
    to[point->history + NOLI_BRANCH_VALUES] += noli_inner33(&by, by_P);
  }
}

static void derive_one_mises(const NoliGoalPlace* place, int32_t e, int32_t q, const Point* point,
                             double weight, int64_t input, NoliGoalSlopes* slopes) {
  NoliMat3 P, by_P, by_F, by[NOLI_MATERIAL_NUMBERS];
  double A[81];
  noli_history_tangent(&point->material, &point->F, &P, A);
  (void)mises_of(&point->F, &P, &by_P, &by_F);
  weight *= share_of(place, e, point);
  by_P = noli_scale33(weight, by_P);
  by_F = noli_scale33(weight, by_F);
  for (int i = 0; i < 81; i++) {
    by_F.m[i % 9 / 3][i % 3] += A[i] * by_P.m[i / 27][i / 9 % 3];
  }
  add_by_deformation(place, e, q, point, &by_F, slopes);
  if (slopes->history != NULL) {
    add_by_history(point, &by_P, slopes->history);
  }
  noli_history_stress_by_numbers(&point->material, &point->F, by);
  double by_numbers[NOLI_MATERIAL_NUMBERS];
  for (int k = 0; k < NOLI_MATERIAL_NUMBERS; k++) {
    by_numbers[k] = noli_inner33(&by[k], &by_P);
  }
  add_by_numbers(by_numbers, input, slopes);
}

// By the shares of points in the volume at rest, which change where an element is curved.
static void add_by_shares(const NoliGoalPlace* place, int32_t e, const Point* point, int32_t n,
                          double weight, NoliGoalSlopes* slopes) {
  const NoliBlock* block = block_of(place);
  double volume = block->type->rest_volume(block, e, e + 1), mean = 0.0;
  if (block->space == NULL) {
    return;
  }
  for (int32_t q = 0; q < n; q++) {
    double mises = mises_at(&point[q]);
    mean += share_of(place, e, &point[q]) * mises;
    add_by_volume(place, e, q, weight * mises / volume, slopes);
  }
  add_by_rest_volume(place, e, -weight * mean / volume, slopes);
}

static NoliStatus derive_von_mises(const NoliGoalPlace* place, const double* weight,
                                   NoliGoalSlopes* slopes) {
  NoliBlockRange range = elements_of(place);
  int64_t first = first_input(place);
  for (int32_t e = range.begin; e < range.end; e++) {
    Point point[NOLI_ELEMENT_POINTS_MAX];
    int32_t n = points_of(place, e, point), i = e - range.begin;
    for (int32_t q = 0; q < n; q++) {
      derive_one_mises(place, e, q, &point[q], weight[i], first + i, slopes);
    }
    if (slopes->inputs.value[NOLI_INPUT_REST] != NULL) {
      add_by_shares(place, e, point, n, weight[i], slopes);
    }
  }
  return NOLI_OK;
}

// ---- the table ----------------------------------------------------------------------------------

#define BY_MATERIAL                                                                                \
  (READS(NOLI_INPUT_MU) | READS(NOLI_INPUT_LAMBDA) | READS(NOLI_INPUT_LAW) |                       \
   READS(NOLI_INPUT_FIBRE) | READS(NOLI_INPUT_SERIES))
#define BY_CONTACT                                                                                 \
  (READS(NOLI_INPUT_REST) | READS(NOLI_INPUT_CONTACT) | READS(NOLI_INPUT_OFFSET) |                 \
   READS(NOLI_INPUT_WEIGHT) | READS(NOLI_INPUT_SUPPORT))

static const NoliGoalQuantity quantities[] = {
    {"position", "m, axes of the world.", NOLI_GOAL_VERTICES, 3, 0, NULL, positions,
     derive_positions},
    {"displacement", "m, from the rest position.", NOLI_GOAL_VERTICES, 3, READS(NOLI_INPUT_REST),
     NULL, displacements, derive_displacements},
    {"velocity", "m/s, axes of the world.", NOLI_GOAL_VERTICES, 3, 0, NULL, velocities,
     derive_velocities},
    {"centre", "m, centre of mass of the vertices.", NOLI_GOAL_BODY, 3, READS(NOLI_INPUT_MASS),
     needs_lumped_mass, centre, derive_centre},
    {"volume", "m^3, of the body.", NOLI_GOAL_BODY, 1, 0, needs_straight_solids, volume,
     derive_volume},
    {"kinetic_energy", "J, of the vertices.", NOLI_GOAL_BODY, 1, READS(NOLI_INPUT_MASS),
     needs_lumped_mass, kinetic_energy, derive_kinetic_energy},
    {"gravity_energy", "J, of the vertices, 0 at the origin.", NOLI_GOAL_BODY, 1,
     READS(NOLI_INPUT_MASS) | READS(NOLI_INPUT_LOAD), needs_lumped_mass, gravity_energy,
     derive_gravity_energy},
    {"elastic_energy", "J, of the body.", NOLI_GOAL_BODY, 1, BY_MATERIAL | READS(NOLI_INPUT_REST),
     needs_solids, elastic_energy, derive_elastic_energy},
    {"von_mises", "Pa, equivalent stress of the elements of the body.", NOLI_GOAL_ELEMENTS, 1,
     BY_MATERIAL | READS(NOLI_INPUT_REST), needs_solids, von_mises, derive_von_mises},
    {"contact_force", "N, sum of the normal forces of contacts on the vertices.", NOLI_GOAL_BODY, 3,
     BY_CONTACT, noli_goal_contact_defect, noli_goal_contact_force, noli_goal_derive_contact_force},
    {"contact_pressure", "Pa, normal force on a vertex over the area that faces it.",
     NOLI_GOAL_VERTICES, 1, BY_CONTACT, noli_goal_pressure_defect, noli_goal_contact_pressure,
     noli_goal_derive_contact_pressure},
};

const NoliGoalQuantity* noli_goal_quantity_at(int32_t index) {
  return index >= 0 && index < (int32_t)(sizeof quantities / sizeof *quantities)
             ? &quantities[index]
             : NULL;
}

const NoliGoalQuantity* noli_goal_quantity_find(const char* name) {
  const NoliGoalQuantity* quantity = NULL;
  for (int32_t i = 0; (quantity = noli_goal_quantity_at(i)) != NULL; i++) {
    if (name != NULL && strcmp(quantity->name, name) == 0) {
      break;
    }
  }
  return quantity;
}

int32_t noli_goal_item_count(const NoliGoalQuantity* quantity, const NoliGoalPlace* place) {
  NoliBlockRange range = elements_of(place);
  return quantity->items == NOLI_GOAL_VERTICES   ? place->n_vertex
         : quantity->items == NOLI_GOAL_ELEMENTS ? range.end - range.begin
                                                 : 1;
}

void noli_goal_item_weights(const NoliGoalQuantity* quantity, const NoliGoalPlace* place,
                            double* weight) {
  NoliBlockRange range = elements_of(place);
  const NoliBlock* block = block_of(place);
  int32_t n = noli_goal_item_count(quantity, place);
  for (int32_t i = 0; i < n; i++) {
    weight[i] = quantity->items == NOLI_GOAL_ELEMENTS
                    ? block->type->rest_volume(block, range.begin + i, range.begin + i + 1)
                    : 1.0;
  }
}

void noli_goal_derive_weights(const NoliGoalQuantity* quantity, const NoliGoalPlace* place,
                              const double* by_weight, NoliGoalSlopes* slopes) {
  NoliBlockRange range = elements_of(place);
  int32_t n = quantity->items == NOLI_GOAL_ELEMENTS ? range.end - range.begin : 0;
  for (int32_t i = 0; i < n; i++) {
    add_by_rest_volume(place, range.begin + i, by_weight[i], slopes);
  }
}
