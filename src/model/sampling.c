#include "model/sampling.h"

#include "define/body_kind.h"

#define PI 3.14159265358979323846

static NoliVec3 place(const NoliModel* model, int32_t vertex) {
  return noli_load3(model->problem.X + 3 * (int64_t)vertex);
}

static void sample_triangles(const NoliModel* model, double* area) {
  const NoliSurface* surface = model->problem.surface;
  for (int64_t t = 0; t < surface->n_tri; t++) {
    const int32_t* tri = surface->tri + 3 * t;
    NoliVec3 a = place(model, tri[0]);
    NoliVec3 n =
        noli_cross3(noli_sub3(place(model, tri[1]), a), noli_sub3(place(model, tri[2]), a));
    area[t] = noli_norm3(n) / 6.0;
  }
}

// The depth of bodies in a plane, which all have the same; 0: there are none.
static double depth_of(const NoliSimDef* def) {
  double depth = 0.0;
  for (int32_t b = 0; b < def->n_bodies; b++) {
    depth = fmax(depth, def->bodies[b].plane_strain);
  }
  return depth;
}

// Half the width of rods and points; of obstacles that of their offset.
static double radius_of(const NoliSurface* surface, const NoliSimDef* def, int32_t body) {
  const NoliBodyDef* of = &def->bodies[body];
  return fmax(of->rod.radius + of->point.radius, noli_surface_offset_of(surface, body));
}

// Whether an edge belongs to a triangle.
static bool is_covered(const NoliSurface* surface, int32_t edge) {
  int32_t v = surface->edge[2 * (int64_t)edge];
  return surface->lone_first == NULL || !noli_surface_is_lone(surface, v, edge);
}

static void sample_segments(const NoliModel* model, const NoliSimDef* def, double* area) {
  const NoliSurface* surface = model->problem.surface;
  double depth = depth_of(def);
  for (int32_t e = 0; e < surface->n_edge; e++) {
    const int32_t* edge = surface->edge + 2 * (int64_t)e;
    int32_t body = surface->body[edge[0]];
    double width = surface->planar[body] ? depth : 2.0 * radius_of(surface, def, body);
    double length = noli_norm3(noli_sub3(place(model, edge[1]), place(model, edge[0])));
    area[e] = is_covered(surface, e) ? 0.0 : 0.5 * width * length;
  }
}

// The area of the surface of a body.
static double area_of(const NoliSurface* surface, const NoliSampling* sampling, int32_t body) {
  double sum = 0.0;
  for (int32_t t = surface->tri_first[body]; t < surface->tri_first[body + 1]; t++) {
    sum += 3.0 * sampling->facet[t];
  }
  for (int32_t e = surface->edge_first[body]; e < surface->edge_first[body + 1]; e++) {
    sum += 2.0 * sampling->facet[surface->n_tri + e];
  }
  int32_t n_point = surface->point_first[body + 1] - surface->point_first[body];
  return sum > 0.0 ? sum : n_point * sampling->point[body];
}

NoliStatus noli_sampling_build(NoliModel* model, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = model->context;
  const NoliSurface* surface = model->problem.surface;
  NoliSampling* sampling = &model->problem.contact.sampling;
  if (sampling->all != NULL) {
    return NOLI_OK;
  }
  NOLI_NEW(context, sampling->facet, (int64_t)surface->n_tri + surface->n_edge);
  NOLI_NEW(context, sampling->point, model->n_body);
  NOLI_NEW(context, sampling->one_sided, model->n_body);
  sample_triangles(model, sampling->facet);
  sample_segments(model, def, sampling->facet + surface->n_tri);
  NOLI_TRY(noli_sampling_list_facets(context, surface, sampling));
  for (int32_t b = 0; b < model->n_body; b++) {
    const NoliBodyDef* body = &def->bodies[b];
    double radius = radius_of(surface, def, b);
    sampling->point[b] = PI * radius * radius;
    sampling->one_sided[b] =
        !body->obstacle && (body->plane_strain > 0.0 || noli_body_given_mesh(body)->n_tet > 0);
  }
  NOLI_NEW(context, sampling->all, model->n_body);
  for (int32_t b = 0; b < model->n_body; b++) {
    sampling->all[b] = area_of(surface, sampling, b);
  }
done:
  return status;
}
