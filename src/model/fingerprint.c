#include "model/fingerprint.h"

#include "base/digest.h"
#include "model/bodies.h"

#include <math.h>
#include <string.h>

// Vertex numbers count from the first of all bodies.
static uint64_t fingerprint_add_cells(uint64_t digest, const int32_t* cells, int32_t first,
                                      int32_t end, int32_t width) {
  const int32_t n = end - first;
  digest = noli_digest(digest, &n, sizeof n);
  return n == 0 ? digest
                : noli_digest(digest, cells + (int64_t)width * first,
                              (size_t)width * (size_t)n * sizeof *cells);
}

// In [-1, 1), pseudorandom (the finalizer of splitmix64).
static double weight(uint64_t index) {
  uint64_t bits = (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
  bits = (bits ^ (bits >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  bits = (bits ^ (bits >> 27)) * UINT64_C(0x94d049bb133111eb);
  bits ^= bits >> 31;
  return ldexp((double)(bits >> 11), -52) - 1.0;
}

static void add_rest(const double* X, int64_t first, int64_t end, NoliFingerprint* print) {
  for (int64_t i = 3 * first; i < 3 * end; i++) {
    print->rest += weight((uint64_t)i) * X[i];
    print->size += fabs(X[i]);
  }
}

static bool same_material(const NoliBlock* block, int32_t a, int32_t b) {
  const double* fibre = block->fibre;
  return block->law[a] == block->law[b] && block->lame_mu[a] == block->lame_mu[b] &&
         block->lame_lambda[a] == block->lame_lambda[b] &&
         (block->parameter == NULL || memcmp(block->parameter + NOLI_LAW_PARAMETERS * (int64_t)a,
                                             block->parameter + NOLI_LAW_PARAMETERS * (int64_t)b,
                                             NOLI_LAW_PARAMETERS * sizeof(double)) == 0) &&
         (fibre == NULL ||
          memcmp(fibre + NOLI_FIBRE_VALUES * (int64_t)a, fibre + NOLI_FIBRE_VALUES * (int64_t)b,
                 NOLI_FIBRE_VALUES * sizeof(double)) == 0) &&
         (block->laws.prony == NULL || block->laws.prony[a] == block->laws.prony[b]) &&
         block->damping_time[a] == block->damping_time[b];
}

// Adds the elements at which the material changes, not its parameters, which a resumed run may
// change. The digest of bodies of one material is unaffected.
static NoliStatus add_parts(const NoliModel* model, const NoliBodyDef* def, int32_t body,
                            uint64_t* digest) {
  NoliStatus status = NOLI_OK;
  const NoliBlock* block = noli_problem_block(&model->problem, body);
  int32_t begin = model->problem.range[body].begin;
  int32_t n_element = model->cell_first[body + 1] - model->cell_first[body];
  NoliBlock all = {0};
  if (block == NULL || def->n_parts == 0) {
    return NOLI_OK;
  }
  if (block->divided) {
    NOLI_TRY(noli_bodies_materials(model->context, def, n_element, &all));
    block = &all;
    begin = 0;
  }
  for (int32_t t = 1; t < n_element; t++) {
    if (!same_material(block, begin + t - 1, begin + t)) {
      *digest = noli_digest(*digest, &t, sizeof t);
    }
  }
done:
  noli_block_destroy(&all);
  return status;
}

static bool any_field(const NoliMaterialFields* fields) {
  return fields->young != NULL || fields->poisson != NULL || fields->density != NULL ||
         fields->fibre != NULL;
}

static bool has_fields(const NoliBodyDef* body) {
  bool any = any_field(&body->fields);
  for (int32_t k = 0; k < body->n_parts; k++) {
    any = any || any_field(&body->parts[k].fields);
  }
  return any;
}

// The elements of each part where materials change within parts too.
static uint64_t add_part_elements(uint64_t digest, const NoliBodyDef* body) {
  for (int32_t k = 0; k < body->n_parts; k++) {
    const NoliPartDef* part = &body->parts[k];
    digest = noli_digest(digest, &part->n_element, sizeof part->n_element);
    digest = noli_digest(digest, part->element, (size_t)part->n_element * sizeof *part->element);
  }
  return digest;
}

// The tied nodes of a body, and the nodes they follow; empty without ties.
static uint64_t add_ties(uint64_t digest, const NoliModel* model, int32_t body) {
  const NoliFollowers* followers = &model->problem.followers;
  for (int32_t f = 0; f < followers->n_tied; f++) {
    int32_t node = followers->tied[f];
    if (node >= model->vert_first[body] && node < model->vert_first[body + 1]) {
      int64_t first = followers->row[f], n = followers->row[f + 1] - first;
      digest = noli_digest(digest, &node, sizeof node);
      digest = noli_digest(digest, followers->node + first, (size_t)n * sizeof *followers->node);
    }
  }
  return digest;
}

uint64_t noli_fingerprint_of_elements(const NoliModel* model, int32_t body) {
  const int32_t *node = model->vert_first + body, *follower = model->follower_first + body;
  const int32_t kind[] = {model->obstacle[body], node[0], node[1], follower[0], follower[1]};
  return model->element_digest != NULL
             ? model->element_digest[body]
             : fingerprint_add_cells(noli_digest(NOLI_DIGEST_BEGIN, kind, sizeof kind), model->cell,
                                     model->cell_first[body], model->cell_first[body + 1], 4);
}

NoliStatus noli_model_fingerprint(const NoliModel* model, const NoliBodyDef* def, int32_t body,
                                  NoliFingerprint* fingerprint) {
  NoliStatus status = NOLI_OK;
  const NoliSurface* surface = model->problem.surface;
  const int32_t *node = model->vert_first + body, *follower = model->follower_first + body;
  NoliFingerprint print = {.cells = noli_fingerprint_of_elements(model, body)};

  // the colliding surface
  print.cells = fingerprint_add_cells(print.cells, surface->tri, surface->tri_first[body],
                                      surface->tri_first[body + 1], 3);
  print.cells = fingerprint_add_cells(print.cells, surface->edge, surface->edge_first[body],
                                      surface->edge_first[body + 1], 2);
  print.cells = fingerprint_add_cells(print.cells, surface->point, surface->point_first[body],
                                      surface->point_first[body + 1], 1);

  if (has_fields(def)) {
    print.cells = add_part_elements(print.cells, def);
  } else {
    NOLI_TRY(add_parts(model, def, body, &print.cells));
  }
  print.cells = add_ties(print.cells, model, body);

  // rest positions
  add_rest(model->problem.X, node[0], node[1], &print);
  add_rest(model->problem.X, follower[0], follower[1], &print);
  *fingerprint = print;
done:
  return status;
}

const char* noli_fingerprint_difference(const NoliFingerprint* one, const NoliFingerprint* other) {
  // rounding of each coordinate, and of the sums
  double tolerance = 1e-14 * (one->size + other->size);
  bool same_rest = fabs(one->rest - other->rest) <= tolerance;
  return one->cells != other->cells ? "mesh or other parts" : !same_rest ? "rest shape" : NULL;
}
