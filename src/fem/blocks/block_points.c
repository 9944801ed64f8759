// The type of block of free particles: every element is a node with the mass of a ball. No
// forces connect them.
#include "fem/derivatives/block_derivatives.h"

#include <math.h>

#define PI 3.14159265358979323846

typedef struct Points {
  double* radius; // (n_element) m
} Points;

static bool points_serves(const NoliBlockBody* body) {
  return body->point.radius > 0.0;
}

static int32_t points_work(const NoliBlockBody* body, int32_t others) {
  (void)body, (void)others;
  return 1;
}

static NoliStatus points_add(NoliBlock* block, int32_t begin, const NoliBlockBody* body) {
  NoliStatus status = NOLI_OK;
  Points* self = block->self;
  if (self == NULL) {
    NOLI_NEW_ZERO(block->context, self, 1);
    block->self = self;
    block->n_local = 1;
    NOLI_NEW(block->context, block->node, block->n_element);
    NOLI_NEW(block->context, self->radius, block->n_element);
  }
  for (int64_t p = 0; p < body->n_element; p++) {
    block->node[begin + p] = body->corner[4 * p];
    self->radius[begin + p] = body->point.radius;
  }
done:
  return status;
}

static NoliStatus points_finish(NoliBlock* block) {
  (void)block;
  return NOLI_OK;
}

static void points_destroy(NoliBlock* block) {
  Points* self = block->self;
  noli_free(block->context, self->radius);
}

static double points_volume_of(const NoliBlock* block, int32_t p) {
  double radius = ((const Points*)block->self)->radius[p];
  return 4.0 / 3.0 * PI * radius * radius * radius;
}

static void points_add_mass(const NoliBlock* block, double* mass) {
  for (int32_t p = 0; p < block->n_element; p++) {
    mass[block->node[p]] += block->density[p] * points_volume_of(block, p);
  }
}

// The modulus is that of a ball of the material: the measure of stiffness for contact.
static NoliElementSize points_size(const NoliBlock* block, int32_t p) {
  double radius = ((const Points*)block->self)->radius[p];
  return (NoliElementSize){.volume = points_volume_of(block, p),
                           .length_sqr = 4.0 * radius * radius,
                           .modulus = 2.0 * block->lame_mu[p] + block->lame_lambda[p]};
}

static void points_add_stress(const NoliBlock* block, int32_t element, const double* x,
                              NoliStress* sum) {
  (void)block, (void)element, (void)x, (void)sum;
}

const NoliBlockType noli_block_points = {.name = "points",
                                         .shared = true,
                                         .serves = points_serves,
                                         .work = points_work,
                                         .add = points_add,
                                         .finish = points_finish,
                                         .destroy = points_destroy,
                                         .add_mass = points_add_mass,
                                         .size = points_size,
                                         .add_stress = points_add_stress,
                                         .damping = &noli_block_damping,
                                         .derivatives =
                                             NOLI_DERIVATIVES_OF(noli_points_derivatives)};
