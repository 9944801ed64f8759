#include "derive/goals/goal_elements.h"

#include "derive/goals/goal_thin.h"
#include "fem/derivatives/element_derivatives.h"
#include "fem/elements.h"
#include "fem/derivatives/history_derivatives.h"
#include "material/law_history_derivatives.h"

#include <math.h>

// Doubles of the history of a point.
enum { HISTORY_MAX = NOLI_BRANCH_VALUES * (1 + NOLI_PRONY_TERMS) + 1 };

static NoliBlockRange goal_elements_range_of(const NoliGoalPlace* place) {
  return place->sim->model->problem.range[place->body];
}

int32_t noli_goal_element_count(const NoliGoalPlace* place) {
  NoliBlockRange range = goal_elements_range_of(place);
  return place->element != NULL ? place->n_element : range.end - range.begin;
}

int32_t noli_goal_element(const NoliGoalPlace* place, int32_t index) {
  return goal_elements_range_of(place).begin +
         (place->element != NULL ? place->element[index] : index);
}

// Elements of the blocks before that of the body: inputs over elements number those of all blocks.
static int64_t first_input(const NoliGoalPlace* place) {
  return noli_input_elements(&place->sim->model->problem, goal_elements_range_of(place).block);
}

const char* noli_goal_solid_defect(const NoliGoalPlace* place) {
  const NoliBlock* block = noli_goal_block(place);
  return block == NULL ? "obstacles have none" : !block->type->solid ? "only of solids" : NULL;
}

const char* noli_goal_energy_defect(const NoliGoalPlace* place) {
  const NoliBlock* block = noli_goal_block(place);
  return block == NULL                     ? "obstacles have none"
         : block->type->elasticity == NULL ? "particles have none"
                                           : NULL;
}

// Adds a factor times derivatives by the nodes of an element.
static void add_by_nodes(const NoliBlock* block, int32_t element, int32_t n, double factor,
                         const NoliVec3* by, double* to) {
  const int32_t* node = block->node + (int64_t)block->n_local * element;
  for (int32_t k = 0; k < n && k < block->n_local && node[k] != NOLI_NULL_INDEX; k++) {
    double* at = to + 3 * (int64_t)node[k];
    noli_store3(at, noli_mul_add3(noli_load3(at), factor, by[k]));
  }
}

// ---- volume -------------------------------------------------------------------------------------

// Thickness of a triangle in plane strain.
static double thickness_of(const NoliGoalPlace* place, int32_t element, const int32_t* node) {
  const NoliBlock* block = noli_goal_block(place);
  const double* X = place->sim->model->problem.X;
  const double *a = X + 3 * (int64_t)node[0], *b = X + 3 * (int64_t)node[1],
               *c = X + 3 * (int64_t)node[2];
  double area = 0.5 * ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]));
  return noli_block_rest_volume(block, element, element + 1) / area;
}

// Volume of a linear element at x and its derivatives by its nodes.
static double linear_volume(const NoliGoalPlace* place, int32_t element, NoliVec3 by[4]) {
  const int32_t* node = noli_goal_block(place)->node + 4 * (int64_t)element;
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

// Volume of an element of higher order, or with a curved shape: the integral of det(dx/dxi) over
// the reference element, where dx/dxi is that of the shape at rest and of displacements. A vertex
// at rest moves both alike, so it has no derivative by the shape.
static double curved_volume(const NoliGoalPlace* place, const NoliQuadrature* rule, int32_t element,
                            NoliVec3 by[NOLI_TET_NODES_MAX]) {
  const NoliBlock* block = noli_goal_block(place);
  const NoliSpace* space = block->space;
  const int32_t* node = block->node + (int64_t)block->n_local * element;
  const double* X = place->sim->model->problem.X;
  double volume = 0.0;
  for (int32_t a = 0; a < block->n_local; a++) {
    by[a] = (NoliVec3){0.0, 0.0, 0.0};
  }

  for (int32_t q = 0; q < rule->n; q++) {
    const double* xi = rule->xi + 3 * (int64_t)q;
    double shape[NOLI_TET_NODES_MAX], derivative[3 * NOLI_TET_NODES_MAX];
    NoliMat3 G = noli_space_dxdxi(space, element, xi);
    noli_tet_shape(space->order, xi, shape, derivative);
    for (int32_t a = 0; a < block->n_local; a++) {
      int64_t at = 3 * (int64_t)node[a];
      NoliVec3 u = noli_sub3(noli_load3(&place->x[at]), noli_load3(X + at));
      G = noli_add33(G, noli_outer33(u, noli_load3(derivative + 3 * (int64_t)a)));
    }
    double J = noli_det33(&G);
    NoliMat3 inverse = noli_inverse33(&G);
    for (int32_t a = 0; a < block->n_local; a++) {
      NoliVec3 along = noli_transpose_mul33_vec(&inverse, noli_load3(derivative + 3 * (int64_t)a));
      by[a] = noli_mul_add3(by[a], rule->weight[q] * J, along);
    }
    volume += rule->weight[q] * J;
  }
  return volume;
}

// A rule that is exact; none of linear elements.
static NoliStatus create_rule(const NoliGoalPlace* place, NoliQuadrature* rule) {
  const NoliSpace* space = noli_goal_block(place)->space;
  if (space == NULL) {
    return NOLI_OK;
  }
  int32_t order = space->order > space->geometry_order ? space->order : space->geometry_order;
  return noli_quadrature_tet(place->sim->context, 3 * (order - 1), rule);
}

static double element_volume(const NoliGoalPlace* place, const NoliQuadrature* rule,
                             int32_t element, NoliVec3 by[NOLI_TET_NODES_MAX]) {
  return rule->n > 0 ? curved_volume(place, rule, element, by) : linear_volume(place, element, by);
}

NoliStatus noli_goal_volume(const NoliGoalPlace* place, double* value) {
  NoliStatus status = NOLI_OK;
  NoliQuadrature rule = {0};
  NoliVec3 by[NOLI_TET_NODES_MAX];
  *value = 0.0;
  NOLI_TRY(create_rule(place, &rule));
  for (int32_t i = 0; i < noli_goal_element_count(place); i++) {
    *value += element_volume(place, &rule, noli_goal_element(place, i), by);
  }
done:
  noli_quadrature_free(place->sim->context, &rule);
  return status;
}

NoliStatus noli_goal_derive_volume(const NoliGoalPlace* place, const double* weight,
                                   NoliGoalDerivatives* derivatives) {
  NoliStatus status = NOLI_OK;
  const NoliBlock* block = noli_goal_block(place);
  NoliQuadrature rule = {0};
  NoliVec3 by[NOLI_TET_NODES_MAX];
  NOLI_TRY(create_rule(place, &rule));
  for (int32_t i = 0; derivatives->x != NULL && i < noli_goal_element_count(place); i++) {
    int32_t e = noli_goal_element(place, i);
    (void)element_volume(place, &rule, e, by);
    add_by_nodes(block, e, block->n_local, *weight, by, derivatives->x);
  }
done:
  noli_quadrature_free(place->sim->context, &rule);
  return status;
}

// ---- volume at rest -----------------------------------------------------------------------------

// Adds what follows from the derivative by the rest volume of a point: it grows by V b_b . dX_b.
static void add_by_volume(const NoliGoalPlace* place, int32_t e, int32_t q, double by,
                          NoliGoalDerivatives* derivatives) {
  double* rest = derivatives->inputs.value[NOLI_INPUT_REST];
  const NoliBlock* block = noli_goal_block(place);
  NoliVec3 gradient[4];
  if (rest == NULL) {
    return;
  }
  noli_element_vertex_gradients(block, e, q, place->sim->model->problem.X, gradient);
  add_by_nodes(block, e, 4, by * block->type->point_volume(block, e, q), gradient, rest);
}

// Adds the derivatives by the rest volume of an element, which may differ from that of its points
// where it is curved (fem/blocks/block_order_n.c).
static void add_by_rest_volume(const NoliGoalPlace* place, int32_t e, double by,
                               NoliGoalDerivatives* derivatives) {
  double* rest = derivatives->inputs.value[NOLI_INPUT_REST];
  const NoliBlock* block = noli_goal_block(place);
  NoliVec3 derivative[4];
  if (rest == NULL) {
    return;
  }
  noli_element_volume_derivative(block, e, place->sim->model->problem.X, derivative);
  add_by_nodes(block, e, 4, by, derivative, rest);
}

double noli_goal_rest_volume(const NoliGoalPlace* place, int32_t index) {
  const NoliBlock* block = noli_goal_block(place);
  int32_t e = noli_goal_element(place, index);
  return noli_block_rest_volume(block, e, e + 1);
}

void noli_goal_derive_rest_volume(const NoliGoalPlace* place, int32_t index, double by,
                                  NoliGoalDerivatives* derivatives) {
  add_by_rest_volume(place, noli_goal_element(place, index), by, derivatives);
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
  const NoliBlock* block = noli_goal_block(place);
  NoliMat3 F[NOLI_ELEMENT_POINTS_MAX];
  int32_t n = block->type->point_count(block);
  int64_t first =
      noli_input_histories(&place->sim->model->problem, goal_elements_range_of(place).block);
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
                               const NoliMat3* by_F, NoliGoalDerivatives* derivatives) {
  noli_block_deformation_adjoint(noli_goal_block(place), e, q, place->sim->model->problem.X,
                                 &point->F, by_F, derivatives->x,
                                 derivatives->inputs.value[NOLI_INPUT_REST]);
}

// ---- elastic energy -----------------------------------------------------------------------------

NoliStatus noli_goal_elastic_energy(const NoliGoalPlace* place, double* value) {
  if (!noli_goal_block(place)->type->solid) {
    return noli_goal_thin_energy(place, value);
  }
  *value = 0.0;
  for (int32_t i = 0; i < noli_goal_element_count(place); i++) {
    Point point[NOLI_ELEMENT_POINTS_MAX];
    int32_t n = points_of(place, noli_goal_element(place, i), point);
    for (int32_t q = 0; q < n; q++) {
      *value += point[q].volume * noli_history_energy(&point[q].material, &point[q].F);
    }
  }
  return NOLI_OK;
}

// Adds derivatives by the numbers of a material to those by its element.
static void add_by_numbers(const double by[NOLI_MATERIAL_NUMBERS], int64_t input,
                           NoliGoalDerivatives* derivatives) {
  for (int i = 0; i < NOLI_NUMBER_INPUTS; i++) {
    const NoliNumberInput* of = &noli_number_inputs[i];
    double* to = derivatives->inputs.value[of->input];
    for (int32_t k = 0; to != NULL && k < of->n; k++) {
      to[of->n * input + k] += by[of->first + k];
    }
  }
}

static void derive_one_energy(const NoliGoalPlace* place, int32_t e, int32_t q, const Point* point,
                              double weight, int64_t input, NoliGoalDerivatives* derivatives) {
  double by_history[HISTORY_MAX], by_numbers[NOLI_MATERIAL_NUMBERS], A[81];
  double scale = weight * point->volume;
  NoliMat3 P;
  noli_history_tangent(&point->material, &point->F, &P, A);
  P = noli_scale33(scale, P);
  add_by_deformation(place, e, q, point, &P, derivatives);
  add_by_volume(place, e, q, weight * noli_history_energy(&point->material, &point->F),
                derivatives);
  noli_history_energy_derivatives(&point->material, &point->F, by_history, by_numbers);
  for (int32_t i = 0; derivatives->history != NULL && i < noli_history_size(&point->material);
       i++) {
    derivatives->history[point->history + i] += scale * by_history[i];
  }
  for (int k = 0; k < NOLI_MATERIAL_NUMBERS; k++) {
    by_numbers[k] *= scale;
  }
  add_by_numbers(by_numbers, input, derivatives);
}

NoliStatus noli_goal_derive_elastic_energy(const NoliGoalPlace* place, const double* weight,
                                           NoliGoalDerivatives* derivatives) {
  if (!noli_goal_block(place)->type->solid) {
    return noli_goal_derive_thin_energy(place, *weight, derivatives);
  }
  int64_t first = first_input(place);
  for (int32_t i = 0; i < noli_goal_element_count(place); i++) {
    Point point[NOLI_ELEMENT_POINTS_MAX];
    int32_t e = noli_goal_element(place, i), n = points_of(place, e, point);
    for (int32_t q = 0; q < n; q++) {
      derive_one_energy(place, e, q, &point[q], *weight, first + e, derivatives);
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
static double goal_elements_share_of(const NoliGoalPlace* place, int32_t e, const Point* point) {
  return point->volume / noli_block_mean_volume(noli_goal_block(place), e);
}

static double mises_at(const Point* point) {
  NoliMat3 P, by_P, by_F;
  double A[81];
  noli_history_tangent(&point->material, &point->F, &P, A);
  return mises_of(&point->F, &P, &by_P, &by_F);
}

NoliStatus noli_goal_von_mises(const NoliGoalPlace* place, double* value) {
  for (int32_t i = 0; i < noli_goal_element_count(place); i++) {
    Point point[NOLI_ELEMENT_POINTS_MAX];
    int32_t e = noli_goal_element(place, i), n = points_of(place, e, point);
    value[i] = 0.0;
    for (int32_t q = 0; q < n; q++) {
      value[i] += goal_elements_share_of(place, e, &point[q]) * mises_at(&point[q]);
    }
  }
  return NOLI_OK;
}

// By the histories of a point, from derivatives by its stress.
static void add_by_history(const Point* point, const NoliMat3* by_P, double* to) {
  const NoliMaterialPoint* material = &point->material;
  bool flows = noli_flow_size(material) > 0;
  for (int32_t k = flows ? 0 : 1; k < noli_branch_count(material); k++) {
    double derivative[81],
        *G = to + point->history + (k > 0 ? noli_history_place(material, k - 1) : 0);
    noli_history_stress_derivative(material, k, &point->F, derivative);
    for (int i = 0; i < 81; i++) {
      G[i % 9] += derivative[i] * by_P->m[i / 27][i / 9 % 3];
    }
  }
  if (flows) {
    NoliMat3 by = noli_history_stress_by_internal(material, &point->F);
    to[point->history + NOLI_BRANCH_VALUES] += noli_inner33(&by, by_P);
  }
}

static void derive_one_mises(const NoliGoalPlace* place, int32_t e, int32_t q, const Point* point,
                             double weight, int64_t input, NoliGoalDerivatives* derivatives) {
  NoliMat3 P, by_P, by_F, by[NOLI_MATERIAL_NUMBERS];
  double A[81];
  noli_history_tangent(&point->material, &point->F, &P, A);
  (void)mises_of(&point->F, &P, &by_P, &by_F);
  weight *= goal_elements_share_of(place, e, point);
  by_P = noli_scale33(weight, by_P);
  by_F = noli_scale33(weight, by_F);
  for (int i = 0; i < 81; i++) {
    by_F.m[i % 9 / 3][i % 3] += A[i] * by_P.m[i / 27][i / 9 % 3];
  }
  add_by_deformation(place, e, q, point, &by_F, derivatives);
  if (derivatives->history != NULL) {
    add_by_history(point, &by_P, derivatives->history);
  }
  noli_history_stress_by_numbers(&point->material, &point->F, by);
  double by_numbers[NOLI_MATERIAL_NUMBERS];
  for (int k = 0; k < NOLI_MATERIAL_NUMBERS; k++) {
    by_numbers[k] = noli_inner33(&by[k], &by_P);
  }
  add_by_numbers(by_numbers, input, derivatives);
}

// By the shares of points in their volume at rest, which change where an element is curved.
static void add_by_shares(const NoliGoalPlace* place, int32_t e, const Point* point, int32_t n,
                          double weight, NoliGoalDerivatives* derivatives) {
  const NoliBlock* block = noli_goal_block(place);
  double volume = noli_block_mean_volume(block, e), mean = 0.0, mises[NOLI_ELEMENT_POINTS_MAX];
  if (block->space == NULL) {
    return;
  }
  for (int32_t q = 0; q < n; q++) {
    mises[q] = mises_at(&point[q]);
    mean += goal_elements_share_of(place, e, &point[q]) * mises[q];
  }
  for (int32_t q = 0; q < n; q++) {
    add_by_volume(place, e, q, weight * (mises[q] - mean) / volume, derivatives);
  }
}

NoliStatus noli_goal_derive_von_mises(const NoliGoalPlace* place, const double* weight,
                                      NoliGoalDerivatives* derivatives) {
  int64_t first = first_input(place);
  for (int32_t i = 0; i < noli_goal_element_count(place); i++) {
    Point point[NOLI_ELEMENT_POINTS_MAX];
    int32_t e = noli_goal_element(place, i), n = points_of(place, e, point);
    for (int32_t q = 0; q < n; q++) {
      derive_one_mises(place, e, q, &point[q], weight[i], first + e, derivatives);
    }
    if (derivatives->inputs.value[NOLI_INPUT_REST] != NULL) {
      add_by_shares(place, e, point, n, weight[i], derivatives);
    }
  }
  return NOLI_OK;
}
