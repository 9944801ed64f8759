#include "define/plane_strain.h"

#include "base/context.h"
#include "define/body_kind.h"
#include "define/choices.h"
#include "mesh/topology.h"
#include "solve/contact_model.h"

#include <math.h>

// Coordinates may differ by this fraction of the largest one: the rounding from rotating and moving
// a mesh.
#define ROUNDING 1e-12

// Whether all vertices lie at the height of the first one, up to rounding.
static bool is_level(int32_t n_vert, const double* x, double height) {
  double largest = fabs(height);
  for (int64_t i = 0; i < 3 * (int64_t)n_vert; i++) {
    largest = fmax(largest, fabs(x[i]));
  }
  for (int64_t v = 0; v < n_vert; v++) {
    if (!(fabs(x[3 * v + 2] - height) <= ROUNDING * largest)) {
      return false;
    }
  }
  return true;
}

static NoliStatus check_body(NoliContext* context, const NoliBodyDef* body, const char* name,
                             double height) {
  NoliStatus status = NOLI_OK;
  const NoliMesh* mesh = body->mesh;

  NOLI_CHECK(context, body->plane_strain > 0.0 && isfinite(body->plane_strain), NOLI_ERROR_ARGUMENT,
             "body \"%s\": the thickness of a body in plane strain must be > 0, got %g", name,
             body->plane_strain);
  NOLI_CHECK(context, mesh->n_tri > 0 && mesh->n_tet == 0, NOLI_ERROR_ARGUMENT,
             "body \"%s\" is in plane strain: it needs a mesh of triangles, without tetrahedra",
             name);
  NOLI_CHECK(context, body->order <= 1 && noli_proxy_kind(&body->proxy) == NOLI_PROXY_AUTOMATIC,
             NOLI_ERROR_ARGUMENT,
             "body \"%s\" is in plane strain: its elements are linear and it collides with its own "
             "outline; leave out \"order\" and \"proxy\"",
             name);
  NOLI_CHECK(context,
             is_level(mesh->n_vert, mesh->x, height) &&
                 (body->x0 == NULL || is_level(mesh->n_vert, body->x0, height)),
             NOLI_ERROR_ARGUMENT,
             "body \"%s\" is in plane strain: all its vertices must lie in the plane z = %g, that "
             "of the first such body",
             name, height);
  NOLI_CHECK(context,
             body->velocity[2] == 0.0 && body->angular_velocity[0] == 0.0 &&
                 body->angular_velocity[1] == 0.0,
             NOLI_ERROR_ARGUMENT,
             "body \"%s\" is in plane strain: it moves in x and y and turns about z only", name);
done:
  return status;
}

// Obstacles without triangles: segments that the bodies can collide with.
static NoliStatus check_segments(NoliContext* context, const NoliBodyDef* body, const char* name,
                                 double height) {
  NoliStatus status = NOLI_OK;
  const NoliMesh* mesh = body->mesh;
  NOLI_CHECK(context, mesh->n_point == 0, NOLI_ERROR_ARGUMENT,
             "obstacle \"%s\" has single points, with which bodies in plane strain do not collide: "
             "replace them by short segments",
             name);
  NOLI_CHECK(context, is_level(mesh->n_vert, mesh->x, height), NOLI_ERROR_ARGUMENT,
             "obstacle \"%s\" has segments outside the plane z = %g of bodies in plane strain",
             name, height);
done:
  return status;
}

static NoliStatus check_rest(NoliContext* context, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  const NoliContactModel* contact = noli_contact_model_find(def->contact_model);

  // the contact model
  NOLI_CHECK(context, contact != &noli_contact_implicit_surface, NOLI_ERROR_ARGUMENT,
             "the contact model \"implicit_surface\" needs surfaces; bodies in plane strain have "
             "curves: use \"ipc\"");
  for (int32_t b = 0; contact == &noli_contact_gcp && b < def->n_bodies; b++) {
    const NoliBodyDef* body = &def->bodies[b];
    NOLI_CHECK(context,
               body->plane_strain != 0.0 || (body->mesh->n_tri == 0 && body->mesh->n_tet == 0),
               NOLI_ERROR_ARGUMENT,
               "body \"%s\" is not in plane strain, but others are: with the contact model \"gcp\" "
               "bodies in plane strain do not collide with bodies in space",
               body->name != NULL ? body->name : "(no name)");
  }

  for (int32_t b = 0; b < def->n_bodies; b++) {
    const NoliBodyKind* kind = noli_body_kind(&def->bodies[b]);
    NOLI_CHECK(
        context, kind->encloses, NOLI_ERROR_ARGUMENT,
        "body \"%s\" is %s, which moves in space and does not collide with bodies in plane strain: "
        "make it a thin strip of triangles in plane strain, or an obstacle of segments",
        def->bodies[b].name != NULL ? def->bodies[b].name : "(no name)", kind->what);
  }

  // half-spaces and volumes
  for (int32_t i = 0; i < def->n_half_spaces; i++) {
    const double* n = def->half_spaces[i].normal;
    NOLI_CHECK(context, n[2] == 0.0, NOLI_ERROR_ARGUMENT,
               "half-space %d: its normal (%g, %g, %g) points out of the plane of bodies in plane "
               "strain",
               i, n[0], n[1], n[2]);
  }
  for (int32_t i = 0; i < def->n_volumes; i++) {
    int32_t body = def->volumes[i].body;
    NOLI_CHECK(context,
               body < 0 || body >= def->n_bodies || !(def->bodies[body].plane_strain > 0.0),
               NOLI_ERROR_ARGUMENT,
               "volume %d: body \"%s\" is in plane strain, which does not support volumes", i,
               def->bodies[body].name);
  }
done:
  return status;
}

NoliStatus noli_plane_strain_check(NoliContext* context, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  const NoliBodyDef* first = NULL;
  for (int32_t b = 0; b < def->n_bodies && first == NULL; b++) {
    first = def->bodies[b].plane_strain != 0.0 ? &def->bodies[b] : NULL;
  }
  if (first == NULL) {
    return NOLI_OK;
  }
  double height = first->mesh->n_vert > 0 ? first->mesh->x[2] : 0.0;
  const char* where = NULL;
  for (int32_t b = 0; b < def->n_bodies; b++) {
    const NoliBodyDef* body = &def->bodies[b];
    where = body->where;
    const char* name = body->name != NULL ? body->name : "(no name)";
    if (body->plane_strain != 0.0) {
      NOLI_TRY(check_body(context, body, name, height));
    } else if (body->obstacle && body->mesh->n_tri == 0 && body->mesh->n_tet == 0) {
      NOLI_TRY(check_segments(context, body, name, height));
    }
  }

  where = NULL;
  NOLI_TRY(check_rest(context, def));
done:
  return noli_fail_at(context, where, status);
}

void noli_plane_strain_elements(const NoliMesh* mesh, int32_t first, int32_t* tet) {
  for (int64_t t = 0; t < mesh->n_tri; t++) {
    const int32_t* v = mesh->tri + 3 * t;
    bool up = noli_is_upward(mesh, v);
    tet[4 * t] = first + v[0];
    tet[4 * t + 1] = first + v[up ? 1 : 2];
    tet[4 * t + 2] = first + v[up ? 2 : 1];
    tet[4 * t + 3] = NOLI_NULL_INDEX;
  }
}
