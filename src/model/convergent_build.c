#include "model/convergent_build.h"

#include "define/properties.h"
#include "fem/blocks/block_rigid.h"
#include "material/material.h"
#include "model/sampling.h"

// The stiffness of contact over Young's modulus of the softer body, as [Li2023] recommends.
#define STIFFNESS_SHARE 0.1

// ---- areas --------------------------------------------------------------------------------------

static double area_of_vertex(const NoliModel* model, int32_t v) {
  const NoliSampling* sampling = &model->problem.contact.sampling;
  double area = 0.0;
  for (int64_t i = sampling->first[v]; i < sampling->first[v + 1]; i++) {
    area += sampling->facet[sampling->of_vertex[i]];
  }
  return area > 0.0 ? area : sampling->point[model->problem.surface->body[v]];
}

// The areas of vertices, and the mean of those of bodies for guards. What has no area, such as
// obstacles of segments and points, has the mean.
static void set_areas(NoliModel* model, NoliConvergent* convergent) {
  const NoliSurface* surface = model->problem.surface;
  double sum = 0.0, n = 0.0;
  for (int32_t i = 0; i < surface->n_point; i++) {
    int32_t v = surface->point[i];
    convergent->area[v] = area_of_vertex(model, v);
    if (!model->obstacle[surface->body[v]] && convergent->area[v] > 0.0) {
      sum += convergent->area[v];
      n += 1.0;
    }
  }
  double dhat = model->problem.contact.dhat;
  convergent->guard = n > 0.0 ? sum / n : dhat * dhat;
  for (int32_t i = 0; i < surface->n_point; i++) {
    double* area = &convergent->area[surface->point[i]];
    *area = *area > 0.0 ? *area : convergent->guard;
  }
}

// A third of the triangles of an edge.
static double area_of_edge(const NoliModel* model, const int32_t edge[2]) {
  const NoliSampling* sampling = &model->problem.contact.sampling;
  const NoliSurface* surface = model->problem.surface;
  double area = 0.0;
  for (int64_t i = sampling->first[edge[0]]; i < sampling->first[edge[0] + 1]; i++) {
    int32_t t = sampling->of_vertex[i];
    const int32_t* tri = surface->tri + 3 * (int64_t)t;
    bool has = t < surface->n_tri && edge[0] != edge[1] &&
               (tri[0] == edge[1] || tri[1] == edge[1] || tri[2] == edge[1]);
    area += has ? sampling->facet[t] : 0.0;
  }
  return area;
}

static void set_edges(const NoliModel* model, NoliConvergent* convergent) {
  const NoliSurface* surface = model->problem.surface;
  for (int32_t e = 0; e < surface->n_edge; e++) {
    convergent->edge_size[e] = sqrt(area_of_edge(model, surface->edge + 2 * (int64_t)e));
  }
}

// ---- moduli -------------------------------------------------------------------------------------

static double young_of(const NoliMaterialDef* material, const NoliMaterialFields* fields,
                       int64_t element) {
  NoliMaterialDef own = noli_material_of_element(material, fields, (int32_t)element);
  NoliLame lame = noli_material_lame(&own);
  return lame.mu * (3.0 * lame.lambda + 2.0 * lame.mu) / (lame.lambda + lame.mu);
}

static double softest_of(const NoliMaterialDef* material, const NoliMaterialFields* fields,
                         int64_t n_element) {
  double softest = (double)INFINITY;
  for (int64_t t = 0; t < n_element && (t == 0 || fields->young != NULL || fields->poisson != NULL);
       t++) {
    softest = fmin(softest, young_of(material, fields, t));
  }
  return softest;
}

// Young's modulus of the softest elements of a body at small strains; INFINITY: it has none.
static double young_of_body(const NoliModel* model, const NoliSimDef* def, int32_t body) {
  const NoliBodyDef* of = &def->bodies[body];
  const NoliBlock* block = noli_problem_block(&model->problem, body);
  if (block == NULL || block->type->elasticity == NULL || block->type == &noli_block_rigid) {
    return (double)INFINITY;
  }
  int32_t n_element = model->cell_first[body + 1] - model->cell_first[body];
  double young = softest_of(&of->material, &of->fields, n_element);
  for (int32_t i = 0; i < of->n_parts; i++) {
    const NoliPartDef* part = &of->parts[i];
    young = fmin(young, softest_of(&part->material, &part->fields, part->n_element));
  }
  return young;
}

// A given stiffness is that of all pairs.
static void set_softness(const NoliModel* model, const NoliSimDef* def,
                         NoliConvergent* convergent) {
  double largest = 0.0;
  for (int32_t b = 0; b < model->n_body; b++) {
    double young = def->barrier_stiffness > 0.0 ? (double)INFINITY : young_of_body(model, def, b);
    convergent->softness[b] = young;
    largest = isinf(young) ? largest : fmax(largest, young);
  }
  for (int32_t b = 0; b < model->n_body; b++) {
    convergent->softness[b] /= largest > 0.0 ? largest : 1.0;
  }
  convergent->stiffness = STIFFNESS_SHARE * largest;
}

NoliStatus noli_convergent_build(NoliModel* model, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  NoliConvergent* convergent = &model->problem.contact.convergent;
  if (!def->contact_convergent) {
    return NOLI_OK;
  }
  NOLI_TRY(noli_sampling_build(model, def));
  convergent->sampling = &model->problem.contact.sampling;
  convergent->still = model->obstacle;
  NOLI_NEW_ZERO(model->context, convergent->area, model->problem.n_vert);
  NOLI_NEW(model->context, convergent->softness, model->n_body);
  NOLI_NEW(model->context, convergent->edge_size, model->problem.surface->n_edge);
  set_areas(model, convergent);
  set_edges(model, convergent);
  set_softness(model, def, convergent);
done:
  return status;
}
