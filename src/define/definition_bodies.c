#include "define/definition_check.h"

#include "base/numbers.h"
#include "define/body_kind.h"
#include "define/choices.h"
#include "define/properties.h"
#include "material/material.h"
#include "material/membrane.h"
#include "math/vec3.h"
#include "mesh/topology.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Largest exponent of the Ogden law: larger ones overflow at moderate stretches.
#define MAX_EXPONENT 100.0

static NoliStatus check_body_numbers(NoliContext* context, const char* body, NoliNumbersOf of,
                                     const void* definition) {
  char where[160];
  snprintf(where, sizeof where, "body \"%.100s\": ", body);
  return noli_numbers_check(context, where, of, definition);
}

static NoliStatus check_all_numbers(NoliContext* context, const char* name,
                                    const NoliBodyDef* body) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(check_body_numbers(context, name, NOLI_NUMBERS_BODY, body));
  NOLI_TRY(check_body_numbers(context, name, NOLI_NUMBERS_PROXY, &body->proxy));
  NOLI_TRY(check_body_numbers(context, name, NOLI_NUMBERS_SHELL, &body->shell));
  NOLI_TRY(check_body_numbers(context, name, NOLI_NUMBERS_ROD, &body->rod));
  NOLI_TRY(check_body_numbers(context, name, NOLI_NUMBERS_POINT, &body->point));
  NOLI_TRY(check_body_numbers(context, name, NOLI_NUMBERS_RIGID, &body->rigid));
done:
  return status;
}

// Parameters of the law, which determine a positive shear modulus.
static NoliStatus check_parameters(NoliContext* context, const char* body,
                                   const NoliMaterialDef* material) {
  NoliStatus status = NOLI_OK;
  const NoliMaterial* law = noli_material_find(material->law);
  const double* parameter = material->parameter;
  bool powers = law == &noli_ogden;
  for (int32_t i = 0; i < NOLI_LAW_PARAMETERS; i++) {
    NOLI_CHECK(context, parameter[i] == 0.0 || i < law->n_parameter, NOLI_ERROR_ARGUMENT,
               "body \"%s\": the law \"%s\" has %d parameters, but a further one is %g", body,
               law->name, (int)law->n_parameter, parameter[i]);
    NOLI_CHECK(context, !powers || i % 2 == 1 || parameter[i] == 0.0 || parameter[i + 1] != 0.0,
               NOLI_ERROR_ARGUMENT, "body \"%s\": exponent %d of the law \"ogden\" is 0", body,
               (int)(i / 2 + 1));
    NOLI_CHECK(context, !powers || i % 2 == 0 || fabs(parameter[i]) <= MAX_EXPONENT,
               NOLI_ERROR_ARGUMENT,
               "body \"%s\": exponent %d of the law \"ogden\" is %g, its magnitude exceeds %g",
               body, (int)(i / 2 + 1), parameter[i], MAX_EXPONENT);
  }

  if (noli_material_has_shear(material)) {
    double shear = noli_material_lame(material).mu;
    NOLI_CHECK(context, shear > 0.0, NOLI_ERROR_ARGUMENT,
               "body \"%s\": the shear modulus by the parameters of \"%s\" is %g Pa, not positive",
               body, law->name, shear);
  }
done:
  return status;
}

// A yield stress and its hardening.
static NoliStatus check_yield(NoliContext* context, const char* body,
                              const NoliMaterialDef* material) {
  NoliStatus status = NOLI_OK;
  const double* parameter = material->parameter;
  if (noli_material_find(material->law) != &noli_hencky) {
    return NOLI_OK;
  }
  for (int32_t i = 0; i < noli_hencky.n_parameter; i++) {
    NOLI_CHECK(context, parameter[i] >= 0.0, NOLI_ERROR_ARGUMENT,
               "body \"%s\": yield stress, hardening, saturation and its rate must be >= 0, got %g",
               body, parameter[i]);
    NOLI_CHECK(context, parameter[i] == 0.0 || parameter[0] > 0.0, NOLI_ERROR_ARGUMENT,
               "body \"%s\" hardens without a yield stress", body);
  }
  NOLI_CHECK(context, (parameter[2] > 0.0) == (parameter[3] > 0.0), NOLI_ERROR_ARGUMENT,
             "body \"%s\": saturation of the yield stress needs a rate, and a rate a saturation",
             body);
  NOLI_CHECK(context, parameter[0] == 0.0 || material->damping == 0.0, NOLI_ERROR_ARGUMENT,
             "body \"%s\" has both a yield stress and stiffness damping; leave out \"damping\"",
             body);
done:
  return status;
}

// A Prony series, whose branches are the damping of the material.
static NoliStatus check_prony(NoliContext* context, const char* body,
                              const NoliMaterialDef* material) {
  NoliStatus status = NOLI_OK;
  const NoliProny* prony = material->prony;
  double sum = 0.0;
  if (prony == NULL) {
    return NOLI_OK;
  }
  NOLI_TRY(check_body_numbers(context, body, NOLI_NUMBERS_PRONY, prony));
  for (int32_t k = 0; k < prony->n; k++) {
    double share = prony->share[k], time = prony->time[k];
    sum += share;
    NOLI_CHECK(context, share > 0.0, NOLI_ERROR_ARGUMENT,
               "body \"%s\": share %d of its Prony series must be in (0, 1), got %g", body, (int)k,
               share);
    NOLI_CHECK(context, time > 0.0, NOLI_ERROR_ARGUMENT,
               "body \"%s\": time %d of its Prony series must be > 0, got %g", body, (int)k, time);
  }

  NOLI_CHECK(context, sum <= NOLI_PRONY_SUM_MAX, NOLI_ERROR_ARGUMENT,
             "body \"%s\": the shares of its Prony series add up to %g; a solid keeps some of its "
             "stiffness, at most %g may relax",
             body, sum, NOLI_PRONY_SUM_MAX);
  NOLI_CHECK(
      context, prony->n == 0 || material->damping == 0.0, NOLI_ERROR_ARGUMENT,
      "body \"%s\" has both a Prony series and stiffness damping; leave out \"damping\", the "
      "series damps",
      body);
done:
  return status;
}

static NoliStatus check_material(NoliContext* context, const char* body,
                                 const NoliMaterialDef* material) {
  NoliStatus status = NOLI_OK;
  char where[160];
  snprintf(where, sizeof where, "body \"%.100s\": ", body);
  NOLI_TRY(noli_names_require(context, where, &noli_material_names, material->law));
  NOLI_TRY(check_body_numbers(context, body, NOLI_NUMBERS_MATERIAL, material));
  NOLI_TRY(check_parameters(context, body, material));
  NOLI_TRY(check_yield(context, body, material));
  NOLI_TRY(check_prony(context, body, material));
done:
  return status;
}

static NoliStatus check_order(NoliContext* context, const char* name, const NoliBodyDef* body) {
  NoliStatus status = NOLI_OK;
  const NoliProxyDef* proxy = &body->proxy;
  char where[160];

  snprintf(where, sizeof where, "body \"%.100s\": ", name);
  NOLI_TRY(noli_names_require(context, where, &noli_proxy_names, proxy->kind));
  NoliProxyKind kind = noli_proxy_kind(proxy);
  NOLI_CHECK(context, !body->obstacle || kind == NOLI_PROXY_AUTOMATIC, NOLI_ERROR_ARGUMENT,
             "obstacle \"%s\" has a collision proxy; give it the mesh of the proxy instead", name);
  NOLI_CHECK(context, kind != NOLI_PROXY_SUBDIVISION || proxy->subdivision >= 1,
             NOLI_ERROR_ARGUMENT, "body \"%s\": the subdivision of a proxy is 1 or more, got %d",
             name, proxy->subdivision);
  NOLI_CHECK(context, kind != NOLI_PROXY_EDGE_LENGTH || proxy->edge_length > 0.0,
             NOLI_ERROR_ARGUMENT, "body \"%s\": the edge length of a proxy must be > 0, got %g",
             name, proxy->edge_length);
  NOLI_CHECK(context, kind != NOLI_PROXY_MESH || (proxy->mesh != NULL && proxy->mesh->n_tri > 0),
             NOLI_ERROR_ARGUMENT, "body \"%s\": its proxy has no triangles", name);
  NOLI_CHECK(context, (proxy->carrier != NULL) == (proxy->place != NULL), NOLI_ERROR_ARGUMENT,
             "body \"%s\": its proxy has carriers without places, or places without carriers",
             name);
  NOLI_CHECK(context, proxy->carrier == NULL || kind == NOLI_PROXY_MESH, NOLI_ERROR_ARGUMENT,
             "body \"%s\": its proxy has carriers, but no mesh", name);
  NOLI_CHECK(context, !proxy->balance || kind != NOLI_PROXY_AUTOMATIC, NOLI_ERROR_ARGUMENT,
             "body \"%s\": there is no proxy to balance it with", name);
done:
  return status;
}

static NoliStatus check_shell(NoliContext* context, const char* name, const NoliBodyDef* body) {
  NoliStatus status = NOLI_OK;
  const NoliShellDef* shell = &body->shell;
  if (shell->thickness == 0.0) {
    return NOLI_OK;
  }

  // kind and mesh
  NOLI_CHECK(context, !body->obstacle && body->plane_strain == 0.0, NOLI_ERROR_ARGUMENT,
             "body \"%s\" is a shell; it cannot be %s as well", name,
             body->obstacle ? "an obstacle" : "in plane strain");
  NOLI_CHECK(context, body->mesh->n_tri > 0 && body->mesh->n_tet == 0, NOLI_ERROR_ARGUMENT,
             "body \"%s\" is a shell: it needs a mesh of triangles, without tetrahedra", name);
  NOLI_CHECK(context, body->order <= 1 && noli_proxy_kind(&body->proxy) == NOLI_PROXY_AUTOMATIC,
             NOLI_ERROR_ARGUMENT,
             "body \"%s\" is a shell: its elements are linear and it collides with its own "
             "triangles; leave out \"order\" and \"proxy\"",
             name);

  // parameters
  NOLI_CHECK(context,
             shell->woven ||
                 (body->material.law != NULL && noli_membrane_find(body->material.law) != NULL),
             NOLI_ERROR_ARGUMENT,
             "body \"%s\" is a shell: its material law is \"neo_hookean\" or \"stvk\", not "
             "\"%s\", unless it is woven",
             name, body->material.law != NULL ? body->material.law : "(none)");
  const char* law = shell->bending_law;
  NOLI_CHECK(context, law == NULL || strcmp(law, "plate") == 0 || strcmp(law, "hinges") == 0,
             NOLI_ERROR_ARGUMENT,
             "body \"%s\": the bending law of a shell is \"plate\" or \"hinges\", not \"%s\"", name,
             law);
done:
  return status;
}

static NoliStatus check_offset(NoliContext* context, const char* name, const NoliBodyDef* body) {
  NoliStatus status = NOLI_OK;
  double offset = body->contact_offset;
  NOLI_CHECK(
      context,
      offset != NOLI_OFFSET_THICKNESS || body->shell.thickness > 0.0 || body->rod.radius > 0.0 ||
          body->point.radius > 0.0,
      NOLI_ERROR_ARGUMENT,
      "body \"%s\": only shells, rods and points have a thickness or radius as contact offset; "
      "give it in m",
      name);
done:
  return status;
}

// Twist and the section of a rod.
static NoliStatus check_section(NoliContext* context, const char* name, const NoliRodDef* def) {
  NoliStatus status = NOLI_OK;
  bool elliptic = def->second_radius != 0.0;
  double normal = noli_norm3(noli_load3(def->normal));
  NOLI_CHECK(
      context, isfinite(normal) && (!elliptic || (normal > 0.0 && def->twist > 0.0)),
      NOLI_ERROR_ARGUMENT,
      "body \"%s\": the second radius of a rod must be > 0, with a normal and with twist > 0",
      name);
done:
  return status;
}

// Rods and points, whose meshes have only their own cells.
static NoliStatus check_thin(NoliContext* context, const char* name, const NoliBodyDef* body) {
  NoliStatus status = NOLI_OK;
  const NoliMesh* mesh = body->mesh;
  double radius = body->rod.radius != 0.0 ? body->rod.radius : body->point.radius;
  if (radius == 0.0) {
    return NOLI_OK;
  }
  const NoliBodyKind* kind = body->rod.radius != 0.0 ? &noli_body_rod : &noli_body_points;
  bool rod = kind == &noli_body_rod;
  NOLI_TRY(check_section(context, name, &body->rod));

  // kind and mesh
  NOLI_CHECK(context,
             !body->obstacle && body->plane_strain == 0.0 && body->shell.thickness == 0.0 &&
                 (body->rod.radius == 0.0 || body->point.radius == 0.0),
             NOLI_ERROR_ARGUMENT,
             "body \"%s\" is %s; it cannot be an obstacle, in plane strain, a shell, %s as well",
             name, kind->what, rod ? "or points" : "or a rod");
  NOLI_CHECK(context,
             mesh->n_tet == 0 && mesh->n_tri == 0 && (rod ? mesh->n_edge > 0 : mesh->n_edge == 0) &&
                 (rod ? mesh->n_point == 0 : mesh->n_point > 0),
             NOLI_ERROR_ARGUMENT, "body \"%s\" is %s: it needs a mesh of %s, without other cells",
             name, kind->what, kind->cells_name);
  NOLI_CHECK(context, body->order <= 1 && noli_proxy_kind(&body->proxy) == NOLI_PROXY_AUTOMATIC,
             NOLI_ERROR_ARGUMENT,
             "body \"%s\" is %s: its elements are linear and it collides with its own cells; leave "
             "out \"order\" and \"proxy\"",
             name, kind->what);
done:
  return status;
}

// What is rigid is nothing else.
static NoliStatus check_rigid(NoliContext* context, const char* name, const NoliBodyDef* body) {
  NoliStatus status = NOLI_OK;
  const NoliBodyKind* kind = noli_body_kind(body);
  NOLI_CHECK(context, !body->rigid.rigid || kind == &noli_body_rigid, NOLI_ERROR_ARGUMENT,
             "body \"%s\" is %s; it cannot be rigid as well", name, kind->what);
done:
  return status;
}

static NoliStatus definition_bodies_check_parts(NoliContext* context, const char* name,
                                                const NoliBodyDef* body) {
  NoliStatus status = NOLI_OK;
  bool shell = noli_body_kind(body) == &noli_body_shell;
  int32_t n_element = noli_body_elements(body).n;
  NOLI_CHECK(context, body->n_parts == 0 || body->parts != NULL, NOLI_ERROR_ARGUMENT,
             "body \"%s\": its parts are missing", name);
  NOLI_CHECK(context, body->n_parts == 0 || !body->obstacle, NOLI_ERROR_ARGUMENT,
             "obstacle \"%s\" has parts, but no material", name);
  NOLI_CHECK(context, body->n_parts == 0 || !body->proxy.balance, NOLI_ERROR_ARGUMENT,
             "body \"%s\": a body with parts cannot be balanced: its densities are given", name);

  for (int32_t k = 0; k < body->n_parts; k++) {
    const NoliPartDef* part = &body->parts[k];
    NOLI_TRY(check_material(context, name, &part->material));
    NOLI_CHECK(
        context, !shell || noli_membrane_find(part->material.law) != NULL, NOLI_ERROR_ARGUMENT,
        "body \"%s\" is a shell, part %d: its material law is \"neo_hookean\" or \"stvk\", not "
        "\"%s\"",
        name, (int)k, part->material.law);
    NOLI_TRY(check_body_numbers(context, name, NOLI_NUMBERS_PART, part));
    NOLI_CHECK(context, part->n_element == 0 || part->element != NULL, NOLI_ERROR_ARGUMENT,
               "body \"%s\", part %d: its elements are missing", name, (int)k);
    for (int32_t i = 0; i < part->n_element; i++) {
      NOLI_CHECK(context, part->element[i] >= 0 && part->element[i] < n_element,
                 NOLI_ERROR_ARGUMENT, "body \"%s\", part %d: there is no element %d; it has %d",
                 name, (int)k, (int)part->element[i], (int)n_element);
    }
    NOLI_TRY(noli_fields_check(context, name, body, part->element, part->n_element, &part->material,
                               &part->fields));
  }
done:
  return status;
}

NoliStatus noli_definition_check_meshes(NoliContext* context, const NoliBodyDef* body) {
  NoliStatus status = NOLI_OK;
  const char* name = body->name != NULL ? body->name : "(no name)";
  const NoliMesh* mesh[] = {body->mesh, body->proxy.mesh};
  NOLI_CHECK(context, body->mesh != NULL, NOLI_ERROR_ARGUMENT, "body \"%s\" has no mesh", name);
  for (int i = 0; i < 2 && mesh[i] != NULL; i++) {
    status = noli_mesh_validate(context, mesh[i]);
    if (status != NOLI_OK) {
      char why[256];
      snprintf(why, sizeof why, "%s", noli_context_message(context));
      status = noli_fail(context, status, "body \"%s\"%s: %s", name, i > 0 ? ", proxy" : "", why);
      goto done;
    }
  }
done:
  return status;
}

NoliStatus noli_definition_check_bodies(NoliContext* context, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  const char* where = NULL;
  NOLI_CHECK(context, def->n_bodies > 0 && def->bodies != NULL, NOLI_ERROR_ARGUMENT,
             "a simulation needs at least one body");
  int64_t n_vert = 0;

  // each body
  for (int32_t b = 0; b < def->n_bodies; b++) {
    const NoliBodyDef* body = &def->bodies[b];
    where = body->where;
    const char* name = body->name != NULL ? body->name : "(no name)";
    NOLI_TRY(noli_definition_check_meshes(context, body));
    NOLI_TRY(check_all_numbers(context, name, body));
    NOLI_TRY(check_rigid(context, name, body));
    NOLI_TRY(check_shell(context, name, body));
    NOLI_TRY(check_offset(context, name, body));
    NOLI_TRY(check_thin(context, name, body));
    NOLI_CHECK(context,
               body->obstacle || body->mesh->n_tet > 0 || body->plane_strain != 0.0 ||
                   noli_body_kind(body) != &noli_body_solid,
               NOLI_ERROR_ARGUMENT,
               "body \"%s\" has no tetrahedra: make it an obstacle, give it a volume mesh, make it "
               "a shell or a rod, or give it a thickness in plane strain if it lies in a plane",
               name);
    NOLI_TRY(check_order(context, name, body));
    for (int64_t i = 0; i < 3 * (int64_t)body->mesh->n_vert; i++) {
      NOLI_CHECK(context, isfinite(body->mesh->x[i]) && (body->x0 == NULL || isfinite(body->x0[i])),
                 NOLI_ERROR_ARGUMENT, "body \"%s\": vertex %lld is not finite", name,
                 (long long)(i / 3));
    }
    if (!body->obstacle) {
      NOLI_TRY(check_material(context, name, &body->material));
    }
    NOLI_TRY(noli_fields_check(context, name, body, NULL, noli_body_elements(body).n,
                               &body->material, &body->fields));
    NOLI_TRY(definition_bodies_check_parts(context, name, body));
    n_vert += body->mesh->n_vert;
  }

  // all bodies together
  where = NULL;
  NOLI_CHECK(context, n_vert < INT32_MAX / 3, NOLI_ERROR_TOO_LARGE,
             "%lld vertices exceed the index range", (long long)n_vert);
done:
  return noli_fail_at(context, where, status);
}
