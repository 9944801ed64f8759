// Rigid bodies as affine bodies [Lan2022]: four nodes carry a surface, whose points are constant
// combinations of them.
//
// The nodes are the corners of a tetrahedron at c + Q diag(s) (+-1, +-1, +-1) with equal masses
// m / 4, where c is the centre of mass, and m s^2 are the second moments of the mass along its
// principal axes Q: the four masses have the mass, the centre and the moments of the body exactly,
// so its kinetic energy is that of the lumped nodes for every affine motion.
#include "define/body_kind.h"

#include "base/numbers.h"
#include "define/choices.h"
#include "math/eigen.h"
#include "math/mat3.h"
#include "math/svd3.h"
#include "math/vec3.h"
#include "mesh/enclosed.h"
#include "noli/extend.h"

#include <math.h>
#include <string.h>

// The smallest of the s over the largest: with less, weights of points lose their digits.
#define THINNEST 1e-4

// How far positions at the start may be from those of a turned mesh, relative to its size.
#define START_TOLERANCE 1e-6

// The corners of a regular tetrahedron, which have the moments of a unit mass in any direction:
// (1, 1, 1), (-1, 1, -1), (1, -1, -1), (-1, -1, 1) turned by the quaternion (4, 1, 2, 3), so that
// no vertex of a symmetric body is one of them.
static const double corner[4][3] = {{1.0 / 5.0, 7.0 / 5.0, 1.0},
                                    {-23.0 / 15.0, -11.0 / 15.0, 1.0 / 3.0},
                                    {1.0 / 15.0, 7.0 / 15.0, -5.0 / 3.0},
                                    {19.0 / 15.0, -17.0 / 15.0, 1.0 / 3.0}};

// The distribution of the mass of a body.
typedef struct Masses {
  double mass; // kg
  NoliVec3 centre;
  NoliMat3 second; // kg m^2, sum of m d d^T, d from the centre
} Masses;

static bool is_rigid(const NoliBodyDef* body) {
  return body->rigid.rigid;
}

// Of the mesh that is given, then the tetrahedron of the nodes.
static NoliBodyCells cells(const NoliMesh* mesh) {
  return mesh->n_tet > 0 ? (NoliBodyCells){mesh->n_tet, 4, mesh->tet, mesh->tet_tag}
                         : (NoliBodyCells){mesh->n_tri, 3, mesh->tri, mesh->tri_tag};
}

// ---- checks -------------------------------------------------------------------------------------

static NoliStatus check_kind(NoliContext* context, const NoliBodyDef* body) {
  NoliStatus status = NOLI_OK;
  const NoliMesh* mesh = body->mesh;
  const NoliMaterialFields* fields = &body->fields;
  bool varies = fields->young != NULL || fields->poisson != NULL || fields->density != NULL ||
                fields->fibre != NULL || body->n_parts > 0;
  NOLI_TRY(noli_numbers_check(context, "", NOLI_NUMBERS_RIGID, &body->rigid));
  NOLI_CHECK(context, !body->obstacle, NOLI_ERROR_ARGUMENT,
             "it is rigid and an obstacle; an obstacle moves as told, a rigid body freely");
  NOLI_CHECK(context,
             body->order <= 1 && noli_proxy_kind(&body->proxy) == NOLI_PROXY_AUTOMATIC &&
                 mesh->order <= 1,
             NOLI_ERROR_ARGUMENT,
             "it is rigid: it collides with the flat triangles of its mesh; leave out \"order\", "
             "\"proxy\" and curved elements");
  NOLI_CHECK(
      context, !varies, NOLI_ERROR_ARGUMENT,
      "it is rigid: it has one density; for any other distribution give its mass, centre and "
      "inertia");
  NOLI_CHECK(context, mesh->n_tet > 0 || mesh->n_tri > 0, NOLI_ERROR_ARGUMENT,
             "it is rigid: its mesh needs triangles or tetrahedra");
  for (int64_t i = 0; i < 3 * (int64_t)mesh->n_vert; i++) {
    NOLI_CHECK(context, isfinite(mesh->x[i]) && (body->x0 == NULL || isfinite(body->x0[i])),
               NOLI_ERROR_ARGUMENT, "vertex %lld is not finite", (long long)(i / 3));
  }
done:
  return status;
}

// ---- mass ---------------------------------------------------------------------------------------

static bool has_inertia(const NoliRigidDef* def) {
  bool any = false;
  for (int k = 0; k < 6; k++) {
    any = any || def->inertia[k] != 0.0;
  }
  return any;
}

// Second moments J and inertia I = tr(J) - J of the same mass.
static NoliMat3 other_moments(const NoliMat3* m, double share) {
  NoliMat3 other = noli_scale33(-1.0, *m);
  double trace = share * noli_trace33(m);
  for (int k = 0; k < 3; k++) {
    other.m[k][k] += trace;
  }
  return other;
}

static NoliMat3 second_of_inertia(const double inertia[6]) {
  NoliMat3 m = {{{inertia[0], inertia[3], inertia[5]},
                 {inertia[3], inertia[1], inertia[4]},
                 {inertia[5], inertia[4], inertia[2]}}};
  return other_moments(&m, 0.5);
}

// Triangles that look inward are turned. Without a volume all is given.
static NoliStatus find_masses(NoliContext* context, NoliBodyDef* body, NoliMesh* surface,
                              Masses* masses) {
  NoliStatus status = NOLI_OK;
  NoliRigidDef* def = &body->rigid;
  int32_t open[2];
  bool given = def->mass > 0.0 && def->at_centre && has_inertia(def);
  NOLI_TRY(noli_find_open_edge(context, surface->n_tri, surface->tri, open));
  NOLI_CHECK(
      context, given || open[0] == NOLI_NULL_INDEX, NOLI_ERROR_ARGUMENT,
      "it is rigid and its surface is open at the edge of vertices %d and %d, so it encloses "
      "no volume: give its mass, centre and inertia, or close it",
      (int)open[0], (int)open[1]);
  NoliEnclosed inside = {0};
  if (open[0] == NOLI_NULL_INDEX) {
    inside = noli_enclosed(surface->x, surface->n_tri, surface->tri);
  }
  if (inside.volume < 0.0) {
    for (int64_t t = 0; t < surface->n_tri; t++) {
      int32_t second = surface->tri[3 * t + 1];
      surface->tri[3 * t + 1] = surface->tri[3 * t + 2];
      surface->tri[3 * t + 2] = second;
    }
    inside = noli_enclosed(surface->x, surface->n_tri, surface->tri);
  }
  NOLI_CHECK(context, given || inside.volume > 0.0, NOLI_ERROR_ARGUMENT,
             "it is rigid and its surface encloses no volume: give its mass, centre and inertia");
  def->volume = inside.volume;

  masses->mass = def->mass > 0.0 ? def->mass : body->material.density * inside.volume;
  NOLI_CHECK(context, isfinite(masses->mass) && masses->mass > 0.0, NOLI_ERROR_ARGUMENT,
             "it is rigid: its mass must be > 0, got %g kg", masses->mass);
  masses->centre = def->at_centre ? noli_load3(def->centre) : inside.centre;
  masses->second = has_inertia(def)
                       ? second_of_inertia(def->inertia)
                       : noli_scale33(masses->mass / inside.volume, noli_load33(inside.second));
done:
  return status;
}

static void record_masses(const Masses* masses, NoliRigidDef* def) {
  NoliMat3 inertia = other_moments(&masses->second, 1.0);
  const double value[6] = {inertia.m[0][0], inertia.m[1][1], inertia.m[2][2],
                           inertia.m[0][1], inertia.m[1][2], inertia.m[0][2]};
  def->mass = masses->mass;
  def->at_centre = true;
  noli_store3(def->centre, masses->centre);
  memcpy(def->inertia, value, sizeof value);
}

// The principal axes, columns of one hand, and the radii s.
static NoliStatus find_axes(NoliContext* context, const Masses* masses, NoliMat3* axes,
                            double s[3]) {
  NoliStatus status = NOLI_OK;
  double second[9], value[3], vector[9];
  noli_store33(second, &masses->second);
  noli_eigen_symmetric(3, second, value, vector);
  NOLI_CHECK(
      context, value[0] > THINNEST * THINNEST * value[2], NOLI_ERROR_ARGUMENT,
      "it is rigid: moments of inertia of %.6g, %.6g, %.6g kg m^2 are those of no body with a "
      "thickness: each must be less than the sum of the others",
      value[1] + value[2], value[0] + value[2], value[0] + value[1]);
  *axes = noli_load33(vector);
  if (noli_det33(axes) < 0.0) {
    for (int i = 0; i < 3; i++) {
      axes->m[i][0] = -axes->m[i][0];
    }
  }
  for (int k = 0; k < 3; k++) {
    s[k] = sqrt(value[k] / masses->mass);
  }
done:
  return status;
}

// ---- meshes -------------------------------------------------------------------------------------

static NoliStatus allocate(NoliContext* context, NoliMadeMemory* made, int64_t n, size_t size,
                           void** memory) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_array_reserve(context, made, made->count + 1));
  *memory = noli_calloc(context, n > 0 ? n : 1, size);
  NOLI_CHECK(context, *memory != NULL, NOLI_ERROR_MEMORY, "out of memory");
  made->data[made->count++] = *memory;
done:
  return status;
}

// All vertices of a mesh, with its triangles or the boundary of its tetrahedra.
static NoliStatus take_surface(NoliContext* context, NoliMadeMemory* made, const NoliMesh* mesh,
                               NoliMesh** out) {
  NoliStatus status = NOLI_OK;
  int32_t *boundary = NULL, n_tri = mesh->n_tri;
  void *surface, *x, *tri;
  if (mesh->n_tet > 0) {
    NOLI_TRY(noli_mesh_boundary(context, mesh, &boundary, &n_tri));
  }
  NOLI_TRY(allocate(context, made, 1, sizeof **out, &surface));
  NOLI_TRY(allocate(context, made, 3 * (int64_t)mesh->n_vert, sizeof(double), &x));
  NOLI_TRY(allocate(context, made, 3 * (int64_t)n_tri, sizeof(int32_t), &tri));
  memcpy(x, mesh->x, 3 * (size_t)mesh->n_vert * sizeof(double));
  memcpy(tri, boundary != NULL ? boundary : mesh->tri, 3 * (size_t)n_tri * sizeof(int32_t));
  *out = surface;
  (*out)->n_vert = mesh->n_vert;
  (*out)->x = x;
  (*out)->n_tri = n_tri;
  (*out)->tri = tri;
done:
  noli_mesh_free_array(context, &boundary);
  return status;
}

// The tetrahedron of the nodes.
static NoliStatus make_element(NoliContext* context, NoliMadeMemory* made, NoliVec3 centre,
                               const NoliMat3* axes, const double s[3], NoliMesh** out) {
  NoliStatus status = NOLI_OK;
  void *element, *x, *tet;
  NOLI_TRY(allocate(context, made, 1, sizeof **out, &element));
  NOLI_TRY(allocate(context, made, 12, sizeof(double), &x));
  NOLI_TRY(allocate(context, made, 4, sizeof(int32_t), &tet));
  for (int c = 0; c < 4; c++) {
    NoliVec3 arm = {corner[c][0] * s[0], corner[c][1] * s[1], corner[c][2] * s[2]};
    noli_store3((double*)x + 3 * c, noli_add3(centre, noli_mul33_vec(axes, arm)));
    ((int32_t*)tet)[c] = c;
  }
  *out = element;
  (*out)->n_vert = 4;
  (*out)->x = x;
  (*out)->n_tet = 1;
  (*out)->tet = tet;
done:
  return status;
}

// Places of the vertices in it: (1 + sum_k corner_k z_k) / 4 with z = diag(1/s) Q^T (X - c) is the
// weight of a corner.
static NoliStatus place_vertices(NoliContext* context, NoliMadeMemory* made, const NoliMesh* mesh,
                                 NoliVec3 centre, const NoliMat3* axes, const double s[3],
                                 NoliProxyDef* proxy) {
  NoliStatus status = NOLI_OK;
  void *carrier, *place;
  NOLI_TRY(allocate(context, made, mesh->n_vert, sizeof(int32_t), &carrier));
  NOLI_TRY(allocate(context, made, 3 * (int64_t)mesh->n_vert, sizeof(double), &place));
  for (int64_t v = 0; v < mesh->n_vert; v++) {
    NoliVec3 arm = noli_sub3(noli_load3(mesh->x + 3 * v), centre);
    NoliVec3 z = noli_transpose_mul33_vec(axes, arm);
    for (int c = 1; c < 4; c++) {
      ((double*)place)[3 * v + c - 1] =
          0.25 *
          (1.0 + corner[c][0] * z.x / s[0] + corner[c][1] * z.y / s[1] + corner[c][2] * z.z / s[2]);
    }
  }
  proxy->kind = "mesh";
  proxy->mesh = mesh;
  proxy->carrier = carrier;
  proxy->place = place;
done:
  return status;
}

// Where the nodes start, by the rotation and translation that takes the vertices X to x0: R = U V^T
// with U S V^T the sum of (x0 - their mean) (X - their mean)^T.
static NoliStatus place_start(NoliContext* context, NoliMadeMemory* made, const NoliMesh* surface,
                              const NoliMesh* element, NoliBodyDef* body) {
  NoliStatus status = NOLI_OK;
  const double *X = surface->x, *x0 = body->x0;
  NoliVec3 before = {0}, after = {0};
  NoliMat3 sum = {0}, U, V;
  double sigma[3], worst = 0.0, size = 0.0;
  void* start;
  for (int64_t v = 0; v < surface->n_vert; v++) {
    before = noli_mul_add3(before, 1.0 / surface->n_vert, noli_load3(X + 3 * v));
    after = noli_mul_add3(after, 1.0 / surface->n_vert, noli_load3(x0 + 3 * v));
  }
  for (int64_t v = 0; v < surface->n_vert; v++) {
    sum = noli_add33(sum, noli_outer33(noli_sub3(noli_load3(x0 + 3 * v), after),
                                       noli_sub3(noli_load3(X + 3 * v), before)));
  }
  noli_svd3(&sum, &U, sigma, &V);
  NoliMat3 R = noli_mul_transpose33(U, V);
  for (int64_t v = 0; v < surface->n_vert; v++) {
    NoliVec3 arm = noli_sub3(noli_load3(X + 3 * v), before);
    NoliVec3 to = noli_add3(after, noli_mul33_vec(&R, arm));
    worst = fmax(worst, noli_norm3(noli_sub3(to, noli_load3(x0 + 3 * v))));
    size = fmax(size, noli_norm3(arm));
  }
  NOLI_CHECK(context, worst <= START_TOLERANCE * size, NOLI_ERROR_ARGUMENT,
             "it is rigid, but its positions at the start deform it by %.3g m", worst);
  NOLI_TRY(allocate(context, made, 12, sizeof(double), &start));
  for (int c = 0; c < 4; c++) {
    NoliVec3 arm = noli_sub3(noli_load3(element->x + 3 * c), before);
    noli_store3((double*)start + 3 * c, noli_add3(after, noli_mul33_vec(&R, arm)));
  }
  body->x0 = start;
done:
  return status;
}

static NoliStatus expand(NoliContext* context, NoliBodyDef* body, NoliMadeMemory* made) {
  NoliStatus status = NOLI_OK;
  NoliMesh *surface = NULL, *element = NULL;
  Masses masses = {0};
  NoliMat3 axes = {0};
  double s[3] = {0};
  if (body->proxy.carrier != NULL && body->mesh->n_vert == 4) {
    return NOLI_OK; // done before
  }
  NOLI_TRY(check_kind(context, body));
  NOLI_TRY(take_surface(context, made, body->mesh, &surface));
  NOLI_TRY(find_masses(context, body, surface, &masses));
  NOLI_TRY(find_axes(context, &masses, &axes, s));
  record_masses(&masses, &body->rigid);
  NOLI_TRY(make_element(context, made, masses.centre, &axes, s, &element));
  NOLI_TRY(place_vertices(context, made, surface, masses.centre, &axes, s, &body->proxy));
  if (body->x0 != NULL) {
    NOLI_TRY(place_start(context, made, surface, element, body));
  }
  body->mesh = element;
done:
  return status;
}

const NoliBodyKind noli_body_rigid = {.key = "rigid",
                                      .what = "rigid",
                                      .cell = "tetrahedron",
                                      .cells_name = "triangles or tetrahedra",
                                      .part = "surface",
                                      .encloses = true,
                                      .carried = true,
                                      .is = is_rigid,
                                      .cells = cells,
                                      .expand = expand};
