#include "sim/goal_quantities.h"

#include "material/material.h"
#include "math/svd3.h"
#include "sim/goal_contact.h"

#include <math.h>
#include <string.h>

#define READS(input) (1u << (input))

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

static const char* needs_lame(const NoliGoalPlace* place) {
  const NoliBlock* block = block_of(place);
  NoliBlockRange range = elements_of(place);
  if (block == NULL) {
    return "obstacles have none";
  }
  if (!block->type->solid || !block->type->affine) {
    return "only of solids with linear elements";
  }
  if (noli_block_histories(block) != NULL || block->fibre != NULL) {
    return "not of materials with fibres or a history";
  }
  for (int32_t e = range.begin; e < range.end; e++) {
    if (block->law[e]->n_parameter > 0) {
      return "not of laws with parameters of their own";
    }
  }
  return NULL;
}

// The law of an element in principal stretches, with the factors `lame` of its moduli.
typedef struct Stretched {
  NoliMat3 U, V;
  double sigma[3];
  NoliStretchDerivatives derivatives;
} Stretched;

static Stretched stretch(const NoliGoalPlace* place, int32_t e, NoliLame lame) {
  const NoliBlock* block = block_of(place);
  Stretched s;
  NoliMat3 F;
  block->type->deformation(block, e, place->x, &F);
  noli_svd3(&F, &s.U, s.sigma, &s.V);
  block->law[e]->stretch_derivatives(lame, s.sigma, &s.derivatives);
  return s;
}

static NoliLame lame_of(const NoliBlock* block, int32_t e) {
  return noli_lame_at(block->lame_mu, block->lame_lambda, NULL, NULL, e);
}

static double energy_density(const NoliGoalPlace* place, int32_t e, NoliLame lame) {
  const NoliBlock* block = block_of(place);
  const NoliMaterial* law = block->law[e];
  NoliMat3 F, U, V;
  double sigma[3];
  block->type->deformation(block, e, place->x, &F);
  if (law->energy != NULL) {
    return law->energy(lame, &F);
  }
  noli_svd3(&F, &U, sigma, &V);
  return law->stretch_energy(lame, sigma);
}

// Adds a stress `P` times the gradients of the shape functions, those of the rest positions.
static void add_stress_to_nodes(const NoliGoalPlace* place, int32_t e, const NoliMat3* P,
                                double* to) {
  const int32_t* node = block_of(place)->node + 4 * (int64_t)e;
  const double* X = place->sim->model->problem.X;
  NoliVec3 edge[3] = {[2] = {0.0, 0.0, 1.0}};
  for (int k = 1; k < 4 && node[k] != NOLI_NULL_INDEX; k++) {
    edge[k - 1] =
        noli_sub3(noli_load3(&X[3 * (int64_t)node[k]]), noli_load3(&X[3 * (int64_t)node[0]]));
  }
  NoliMat3 shape = noli_columns33(edge[0], edge[1], edge[2]);
  NoliMat3 inverse = noli_inverse33(&shape);
  bool plane = node[3] == NOLI_NULL_INDEX;
  for (int k = 1; k < 4 && node[k] != NOLI_NULL_INDEX; k++) {
    NoliVec3 force = noli_mul33_vec(P, noli_row33(&inverse, k - 1));
    for (int i = 0; i < (plane ? 2 : 3); i++) {
      double value = i == 0 ? force.x : i == 1 ? force.y : force.z;
      to[3 * (int64_t)node[k] + i] += value;
      to[3 * (int64_t)node[0] + i] -= value;
    }
  }
}

// Adds what follows from the derivatives of a function of F by the stretches of an element: F is
// x X^-1, of the edges of the element, so that dF = dx X^-1 - F dX X^-1.
static void add_by_stretches(const NoliGoalPlace* place, int32_t e, const Stretched* s,
                             const double by[3], NoliGoalSlopes* slopes) {
  if (slopes->x != NULL) {
    NoliMat3 P = noli_mul_transpose33(noli_mul33(s->U, noli_diagonal33(by)), s->V);
    add_stress_to_nodes(place, e, &P, slopes->x);
  }
  if (slopes->inputs.value[NOLI_INPUT_REST] != NULL) {
    double back[3];
    for (int k = 0; k < 3; k++) {
      back[k] = -s->sigma[k] * by[k];
    }
    NoliMat3 P = noli_mul_transpose33(noli_mul33(s->V, noli_diagonal33(back)), s->V);
    add_stress_to_nodes(place, e, &P, slopes->inputs.value[NOLI_INPUT_REST]);
  }
}

// Adds what follows from the derivative by the rest volume of an element.
static void add_by_volume(const NoliGoalPlace* place, int32_t e, double by,
                          NoliGoalSlopes* slopes) {
  const NoliBlock* block = block_of(place);
  if (slopes->inputs.value[NOLI_INPUT_REST] != NULL) {
    NoliMat3 P = noli_scale33(by * block->type->rest_volume(block, e, e + 1), noli_identity3());
    add_stress_to_nodes(place, e, &P, slopes->inputs.value[NOLI_INPUT_REST]);
  }
}

static NoliStatus elastic_energy(const NoliGoalPlace* place, double* value) {
  const NoliBlock* block = block_of(place);
  NoliBlockRange range = elements_of(place);
  *value = 0.0;
  for (int32_t e = range.begin; e < range.end; e++) {
    *value +=
        block->type->rest_volume(block, e, e + 1) * energy_density(place, e, lame_of(block, e));
  }
  return NOLI_OK;
}

// Laws without parameters of their own are linear in Lame's.
static NoliStatus derive_elastic_energy(const NoliGoalPlace* place, const double* weight,
                                        NoliGoalSlopes* slopes) {
  const NoliBlock* block = block_of(place);
  NoliBlockRange range = elements_of(place);
  double* by_mu = slopes->inputs.value[NOLI_INPUT_MU];
  double* by_lambda = slopes->inputs.value[NOLI_INPUT_LAMBDA];
  int64_t first = first_input(place);
  for (int32_t e = range.begin; e < range.end; e++) {
    double scale = *weight * block->type->rest_volume(block, e, e + 1);
    Stretched s = stretch(place, e, lame_of(block, e));
    double by_stretch[3];
    for (int k = 0; k < 3; k++) {
      by_stretch[k] = scale * s.derivatives.first[k];
    }
    add_by_stretches(place, e, &s, by_stretch, slopes);
    add_by_volume(place, e, *weight * energy_density(place, e, lame_of(block, e)), slopes);
    if (by_mu != NULL) {
      by_mu[first + e - range.begin] += scale * energy_density(place, e, (NoliLame){.mu = 1.0});
    }
    if (by_lambda != NULL) {
      by_lambda[first + e - range.begin] +=
          scale * energy_density(place, e, (NoliLame){.lambda = 1.0});
    }
  }
  return NOLI_OK;
}

// ---- stress -------------------------------------------------------------------------------------

// Principal Cauchy stresses s_i = sigma_i dPsi_i / J.
static void principal_stresses(const Stretched* s, double stress[3]) {
  double J = s->sigma[0] * s->sigma[1] * s->sigma[2];
  for (int i = 0; i < 3; i++) {
    stress[i] = s->derivatives.first[i] * s->sigma[i] / J;
  }
}

// Equivalent of principal stresses, and its derivatives by them; 0 where they are equal.
static double equivalent(const double s[3], double by[3]) {
  double mean = (s[0] + s[1] + s[2]) / 3.0, sum = 0.0;
  for (int i = 0; i < 3; i++) {
    sum += (s[i] - mean) * (s[i] - mean);
  }
  double mises = sqrt(1.5 * sum);
  for (int i = 0; i < 3; i++) {
    by[i] = mises > 0.0 ? 1.5 * (s[i] - mean) / mises : 0.0;
  }
  return mises;
}

static NoliStatus von_mises(const NoliGoalPlace* place, double* value) {
  const NoliBlock* block = block_of(place);
  NoliBlockRange range = elements_of(place);
  for (int32_t e = range.begin; e < range.end; e++) {
    Stretched s = stretch(place, e, lame_of(block, e));
    double stress[3], by[3];
    principal_stresses(&s, stress);
    value[e - range.begin] = equivalent(stress, by);
  }
  return NOLI_OK;
}

// d(s_i) / d(sigma_k) = (sigma_i d2Psi_ik + delta_ik dPsi_i) / J - s_i / sigma_k; the derivative by
// F is diagonal in the frames of F, because the equivalent stress is isotropic.
static void derive_one_mises(const NoliGoalPlace* place, int32_t e, double weight,
                             NoliGoalSlopes* slopes) {
  Stretched s = stretch(place, e, lame_of(block_of(place), e));
  double stress[3], by[3], by_sigma[3] = {0.0};
  double J = s.sigma[0] * s.sigma[1] * s.sigma[2];
  principal_stresses(&s, stress);
  (void)equivalent(stress, by);
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < 3; i++) {
      double change = s.sigma[i] * s.derivatives.second[i][k] / J - stress[i] / s.sigma[k] +
                      (i == k ? s.derivatives.first[i] / J : 0.0);
      by_sigma[k] += weight * by[i] * change;
    }
  }
  add_by_stretches(place, e, &s, by_sigma, slopes);
}

// By one of the moduli, in which the stresses are linear.
static double mises_by_modulus(const NoliGoalPlace* place, int32_t e, NoliLame unit) {
  Stretched s = stretch(place, e, lame_of(block_of(place), e)), of_unit = stretch(place, e, unit);
  double stress[3], by[3], change[3];
  principal_stresses(&s, stress);
  principal_stresses(&of_unit, change);
  (void)equivalent(stress, by);
  return by[0] * change[0] + by[1] * change[1] + by[2] * change[2];
}

static NoliStatus derive_von_mises(const NoliGoalPlace* place, const double* weight,
                                   NoliGoalSlopes* slopes) {
  NoliBlockRange range = elements_of(place);
  int64_t first = first_input(place);
  double* by_mu = slopes->inputs.value[NOLI_INPUT_MU];
  double* by_lambda = slopes->inputs.value[NOLI_INPUT_LAMBDA];
  for (int32_t e = range.begin; e < range.end; e++) {
    int64_t i = e - range.begin;
    derive_one_mises(place, e, weight[i], slopes);
    if (by_mu != NULL) {
      by_mu[first + i] += weight[i] * mises_by_modulus(place, e, (NoliLame){.mu = 1.0});
    }
    if (by_lambda != NULL) {
      by_lambda[first + i] += weight[i] * mises_by_modulus(place, e, (NoliLame){.lambda = 1.0});
    }
  }
  return NOLI_OK;
}

// ---- the table ----------------------------------------------------------------------------------

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
    {"elastic_energy", "J, of the body.", NOLI_GOAL_BODY, 1,
     READS(NOLI_INPUT_MU) | READS(NOLI_INPUT_LAMBDA) | READS(NOLI_INPUT_REST), needs_lame,
     elastic_energy, derive_elastic_energy},
    {"von_mises", "Pa, equivalent stress of the elements of the body.", NOLI_GOAL_ELEMENTS, 1,
     READS(NOLI_INPUT_MU) | READS(NOLI_INPUT_LAMBDA) | READS(NOLI_INPUT_REST), needs_lame,
     von_mises, derive_von_mises},
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
    add_by_volume(place, range.begin + i, by_weight[i], slopes);
  }
}
