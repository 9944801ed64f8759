// Scenes for tests of the geometric contact potential: bodies, their surface, model and set.
#pragma once

#include "support.h"

#include "contact/gcp/gcp_support.h"
#include "noli/mesh.h"

typedef struct GcpScene {
  NoliContext* context;
  NoliMesh* mesh; // all bodies
  NoliSurface* surface;
  NoliRings* rings;
  NoliBroadPhase* broad_phase;
  NoliGcpModel model;
  NoliCandidates candidates;
  NoliGcpSet set;
} GcpScene;

// Appends a copy of `part`, moved; `mesh` may be NULL at first. Releases `part`.
static inline NoliMesh* gcp_append(NoliContext* context, NoliMesh* mesh, NoliMesh* part,
                                   double shift_x, double shift_y, double shift_z) {
  int32_t n_vert = mesh == NULL ? 0 : mesh->n_vert, n_tri = mesh == NULL ? 0 : mesh->n_tri;
  NoliMesh* sum = NULL;
  ASSERT_OK(
      noli_mesh_create(context, n_vert + part->n_vert, 0, n_tri + part->n_tri, 0, 0, false, &sum));
  if (mesh != NULL) {
    memcpy(sum->x, mesh->x, sizeof(double) * 3 * (size_t)n_vert);
    memcpy(sum->tri, mesh->tri, sizeof(int32_t) * 3 * (size_t)n_tri);
  }
  for (int32_t v = 0; v < part->n_vert; v++) {
    sum->x[3 * (n_vert + v)] = part->x[3 * v] + shift_x;
    sum->x[3 * (n_vert + v) + 1] = part->x[3 * v + 1] + shift_y;
    sum->x[3 * (n_vert + v) + 2] = part->x[3 * v + 2] + shift_z;
  }
  for (int32_t i = 0; i < 3 * part->n_tri; i++) {
    sum->tri[3 * n_tri + i] = part->tri[i] + n_vert;
  }
  noli_mesh_destroy(context, &mesh);
  noli_mesh_destroy(context, &part);
  return sum;
}

static inline NoliGcpParameters gcp_parameters(double eps, double alpha) {
  return (NoliGcpParameters){
      .sharpness = {.alpha = alpha, .beta = 0.1}, .eps_target = eps, .ramp = 0.01};
}

// The surface of a mesh whose vertices [0, n_first) are one body and whose other vertices are
// another one; n_first = n_vert: one body.
static inline NoliSurface* gcp_surface(NoliContext* context, const NoliMesh* mesh,
                                       int32_t n_first) {
  const int32_t vert_first[3] = {0, n_first, mesh->n_vert};
  int32_t n_tri = 0, *tri = malloc(sizeof *tri * 3 * (size_t)mesh->n_tri);
  while (n_tri < mesh->n_tri && mesh->tri[3 * n_tri] < n_first) {
    n_tri++;
  }
  for (int32_t i = 0; i < 3 * mesh->n_tri; i++) {
    tri[i] = mesh->tri[i] - (i < 3 * n_tri ? 0 : n_first);
  }
  const NoliSurfaceParts parts[2] = {{.n_tri = n_tri, .tri = tri},
                                     {.n_tri = mesh->n_tri - n_tri, .tri = tri + 3 * n_tri}};
  NoliSurface* surface = NULL;
  ASSERT_OK(
      noli_surface_create(context, n_first < mesh->n_vert ? 2 : 1, vert_first, parts, &surface));
  free(tri);
  return surface;
}

// A scene of the bodies of a surface, whose vertices are those of the mesh; takes over both.
// Supports are eps_target everywhere.
static inline GcpScene* gcp_scene_on(NoliContext* context, NoliMesh* mesh, NoliSurface* surface,
                                     const NoliGcpParameters* parameters,
                                     const NoliHalfSpace* half_spaces, int32_t n_half_spaces) {
  GcpScene* scene = calloc(1, sizeof *scene);
  scene->context = context;
  scene->mesh = mesh;
  scene->surface = surface;
  ASSERT_OK(noli_rings_create(context, scene->surface, &scene->rings));
  ASSERT_OK(noli_broad_phase_create(context, scene->surface, &scene->broad_phase));
  ASSERT_OK(noli_gcp_model_init(context, &scene->model, parameters, scene->surface, scene->rings,
                                half_spaces, n_half_spaces, mesh->x));
  noli_gcp_set_init(&scene->set);
  return scene;
}

// A scene of one body, the mesh, which it takes over; or of two, as gcp_surface.
static inline GcpScene* gcp_scene(NoliContext* context, NoliMesh* mesh, int32_t n_first,
                                  const NoliGcpParameters* parameters,
                                  const NoliHalfSpace* half_spaces, int32_t n_half_spaces) {
  return gcp_scene_on(context, mesh, gcp_surface(context, mesh, n_first), parameters, half_spaces,
                      n_half_spaces);
}

// Two bodies that meet each other, not themselves.
static const NoliBodyPairs gcp_two_bodies = {.n_body = 2, .others = {.n = 2, .most = 1}};

// The pairs that act at x, of the bodies that meet (NULL: all).
static inline void gcp_build(GcpScene* scene, const double* x, const NoliBodyPairs* pairs) {
  ASSERT_OK(noli_broad_phase_find(scene->broad_phase, x, x, scene->model.max_eps, pairs,
                                  &scene->candidates));
  ASSERT_OK(noli_gcp_set_build(&scene->set, scene->context, &scene->model, &scene->candidates, x,
                               noli_context_threads(scene->context)));
}

static inline void gcp_scene_done(GcpScene** scene) {
  GcpScene* old = *scene;
  noli_gcp_set_free(old->context, &old->set);
  noli_candidates_free(old->context, &old->candidates);
  noli_gcp_model_free(old->context, &old->model);
  noli_broad_phase_destroy(&old->broad_phase);
  noli_rings_destroy(old->context, &old->rings);
  noli_surface_destroy(old->context, &old->surface);
  noli_mesh_destroy(old->context, &old->mesh);
  free(old);
  *scene = NULL;
}

// A ball with perturbed vertices, to avoid special positions.
static inline NoliMesh* gcp_rough_ball(NoliContext* context, TestRandom* random, double radius,
                                       int32_t cells, double shake) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_sphere(context, radius, cells, true, &mesh));
  for (int32_t i = 0; i < 3 * mesh->n_vert; i++) {
    mesh->x[i] += test_random(random, -shake, shake);
  }
  return mesh;
}

// Turns all vertices about the origin by a random rotation.
static inline void gcp_rotate(TestRandom* random, int32_t n_vert, double* x) {
  double q[4], n = 0.0;
  for (int i = 0; i < 4; i++) {
    q[i] = test_random(random, -1.0, 1.0);
    n += q[i] * q[i];
  }
  for (int i = 0; i < 4; i++) {
    q[i] /= sqrt(n);
  }
  NoliVec3 axis = {q[1], q[2], q[3]};
  for (int32_t v = 0; v < n_vert; v++) {
    NoliVec3 p = noli_load3(x + 3 * v);
    NoliVec3 t = noli_scale3(2.0, noli_cross3(axis, p));
    p = noli_add3(noli_mul_add3(p, q[0], t), noli_cross3(axis, t));
    noli_store3(x + 3 * v, p);
  }
}
