#include "sim/definition.h"

#include "material/membrane.h"
#include "integrate/integrator.h"
#include "linalg/solver.h"
#include "material/material.h"
#include "math/lagrange.h"
#include "math/vec3.h"
#include "mesh/curve.h"
#include "sim/plane.h"
#include "solve/method.h"

#include <stdio.h>
#include <string.h>

#define SIM_COOKIE 0x53696d31u

NoliSimDef noli_default_sim_def(void) {
  return (NoliSimDef){
      .gravity = {0.0, -9.80665, 0.0},
      .time_step = 0.01,
      .integrator = "backward_euler",
      .contact = true,
      .contact_model = "ipc",
      .gcp = {.alpha = 0.5, .beta = 0.1},
      .friction_speed = {1e-3, true},
      .friction_method = "lagged",
      .friction_basis_derivatives = true,
      .friction_iterations = NOLI_FRICTION_AUTOMATIC,
      .tolerance = {1e-2, true},
      .max_iterations = 1000,
      .max_substeps = 16,
      .linear_solver = "cholmod",
      .linear_tolerance = 1e-4,
      .toi_tolerance = 1e-3,
      .augmented_lagrangian = {.stiffness_ratio = 10.0,
                               .decay = 0.9,
                               .filter = true,
                               .multipliers = true},
      .implicit_newton = {.linear = "automatic"},
      .cookie = SIM_COOKIE,
  };
}

NoliBodyDef noli_default_body_def(void) {
  return (NoliBodyDef){
      .name = "body",
      .material = {.law = "neo_hookean", .young = 1e5, .poisson = 0.4, .density = 1000.0},
      .shell = {.bending = 1.0, .weft = 1.0},
      .self_contact = true,
      .order = 1,
  };
}

NoliVolumeDef noli_default_volume_def(void) {
  return (NoliVolumeDef){.region = NOLI_REGION_CAVITY, .model = NOLI_VOLUME_IDEAL_GAS};
}

NoliMotionDef noli_default_motion_def(void) {
  return (NoliMotionDef){.t_begin = 0.0, .t_end = INFINITY};
}

static NoliStatus check_material(NoliContext* context, const char* body,
                                 const NoliMaterialDef* material) {
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(context, material->law != NULL && noli_material_find(material->law) != NULL,
             NOLI_ERROR_ARGUMENT, "body \"%s\": material law \"%s\" is not known", body,
             material->law != NULL ? material->law : "(none)");
  NOLI_CHECK(context, material->young > 0.0 && material->young <= NOLI_MATERIAL_MAX,
             NOLI_ERROR_ARGUMENT, "body \"%s\": Young's modulus must be in (0, %g], got %g", body,
             NOLI_MATERIAL_MAX, material->young);
  NOLI_CHECK(context, material->poisson > -1.0 && material->poisson < 0.5, NOLI_ERROR_ARGUMENT,
             "body \"%s\": Poisson's ratio must be in (-1, 0.5), got %g", body, material->poisson);
  NOLI_CHECK(context, material->density > 0.0 && material->density <= NOLI_MATERIAL_MAX,
             NOLI_ERROR_ARGUMENT, "body \"%s\": density must be in (0, %g], got %g", body,
             NOLI_MATERIAL_MAX, material->density);
  NOLI_CHECK(context, material->damping >= 0.0 && isfinite(material->damping), NOLI_ERROR_ARGUMENT,
             "body \"%s\": damping must be >= 0, got %g", body, material->damping);
  NOLI_CHECK(context, material->mass_damping >= 0.0 && isfinite(material->mass_damping),
             NOLI_ERROR_ARGUMENT, "body \"%s\": mass damping must be >= 0, got %g", body,
             material->mass_damping);
done:
  return status;
}

static NoliStatus check_order(NoliContext* context, const char* name, const NoliBodyDef* body) {
  NoliStatus status = NOLI_OK;
  const NoliProxyDef* proxy = &body->proxy;
  NOLI_CHECK(context, body->obstacle || (body->order >= 0 && body->order <= NOLI_ORDER_MAX),
             NOLI_ERROR_ARGUMENT, "body \"%s\": the order of elements is 1 to %d, got %d", name,
             NOLI_ORDER_MAX, body->order);
  NOLI_CHECK(context, !body->obstacle || proxy->kind == NOLI_PROXY_AUTOMATIC, NOLI_ERROR_ARGUMENT,
             "obstacle \"%s\" has a collision proxy; give it the mesh of the proxy instead", name);
  NOLI_CHECK(context, proxy->kind != NOLI_PROXY_SUBDIVISION || proxy->subdivision >= 1,
             NOLI_ERROR_ARGUMENT, "body \"%s\": the subdivision of a proxy is 1 or more, got %d",
             name, proxy->subdivision);
  NOLI_CHECK(context, proxy->kind != NOLI_PROXY_EDGE_LENGTH || proxy->edge_length > 0.0,
             NOLI_ERROR_ARGUMENT, "body \"%s\": the edge length of a proxy must be > 0, got %g",
             name, proxy->edge_length);
  NOLI_CHECK(context,
             proxy->kind != NOLI_PROXY_MESH || (proxy->mesh != NULL && proxy->mesh->n_tri > 0),
             NOLI_ERROR_ARGUMENT, "body \"%s\": its proxy has no triangles", name);
  NOLI_CHECK(context, proxy->max_distance >= 0.0 && proxy->max_extrapolation >= 0.0,
             NOLI_ERROR_ARGUMENT,
             "body \"%s\": the limits of a proxy must be >= 0, got %g m and %g", name,
             proxy->max_distance, proxy->max_extrapolation);
  NOLI_CHECK(context, !proxy->balance || proxy->kind != NOLI_PROXY_AUTOMATIC, NOLI_ERROR_ARGUMENT,
             "body \"%s\": there is no proxy to balance it with", name);
done:
  return status;
}

static NoliStatus check_shell(NoliContext* context, const char* name, const NoliBodyDef* body) {
  NoliStatus status = NOLI_OK;
  const NoliShellDef* shell = &body->shell;
  NOLI_CHECK(context, shell->thickness >= 0.0 && isfinite(shell->thickness), NOLI_ERROR_ARGUMENT,
             "body \"%s\": the thickness of a shell must be > 0, got %g", name, shell->thickness);
  if (shell->thickness == 0.0) {
    return NOLI_OK;
  }

  // what else the body is
  NOLI_CHECK(context, !body->obstacle && body->plane_strain == 0.0, NOLI_ERROR_ARGUMENT,
             "body \"%s\" is a shell; it cannot be %s as well", name,
             body->obstacle ? "an obstacle" : "in plane strain");
  NOLI_CHECK(context, body->mesh->n_tri > 0 && body->mesh->n_tet == 0, NOLI_ERROR_ARGUMENT,
             "body \"%s\" is a shell: it needs a mesh of triangles, without tetrahedra", name);
  NOLI_CHECK(context, body->order <= 1 && body->proxy.kind == NOLI_PROXY_AUTOMATIC,
             NOLI_ERROR_ARGUMENT,
             "body \"%s\" is a shell: its elements are linear and it collides with its own "
             "triangles; leave out \"order\" and \"proxy\"",
             name);

  // its numbers
  NOLI_CHECK(context,
             shell->woven ||
                 (body->material.law != NULL && noli_membrane_find(body->material.law) != NULL),
             NOLI_ERROR_ARGUMENT,
             "body \"%s\" is a shell: its material law is \"neo_hookean\" or \"stvk\", not "
             "\"%s\", unless it is woven",
             name, body->material.law != NULL ? body->material.law : "(none)");
  NOLI_CHECK(context, shell->bending >= 0.0 && isfinite(shell->bending), NOLI_ERROR_ARGUMENT,
             "body \"%s\": the bending of a shell must be >= 0, got %g", name, shell->bending);
  NOLI_CHECK(context, shell->limit == 0.0 || (shell->limit > 1.0 && isfinite(shell->limit)),
             NOLI_ERROR_ARGUMENT,
             "body \"%s\": the limit of stretch of a shell must be > 1, got %g", name,
             shell->limit);
  NOLI_CHECK(context, shell->weft > 0.0 && isfinite(shell->weft), NOLI_ERROR_ARGUMENT,
             "body \"%s\": the stiffness along weft over that along warp must be > 0, got %g", name,
             shell->weft);
  NOLI_CHECK(context, shell->shear >= 0.0 && isfinite(shell->shear), NOLI_ERROR_ARGUMENT,
             "body \"%s\": the stiffness of a shell in shear must be >= 0, got %g", name,
             shell->shear);
  NOLI_CHECK(context, noli_is_finite3(noli_load3(shell->warp)), NOLI_ERROR_ARGUMENT,
             "body \"%s\": the direction of warp is not finite", name);
done:
  return status;
}

static NoliStatus check_parts(NoliContext* context, const char* name, const NoliBodyDef* body) {
  NoliStatus status = NOLI_OK;
  bool shell = body->shell.thickness > 0.0;
  int32_t n_element = shell || body->plane_strain > 0.0 ? body->mesh->n_tri : body->mesh->n_tet;
  NOLI_CHECK(context, body->n_parts >= 0 && (body->n_parts == 0 || body->parts != NULL),
             NOLI_ERROR_ARGUMENT, "body \"%s\": its parts are missing", name);
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
    NOLI_CHECK(context, part->n_element >= 0 && (part->n_element == 0 || part->element != NULL),
               NOLI_ERROR_ARGUMENT, "body \"%s\", part %d: its elements are missing", name, (int)k);
    for (int32_t i = 0; i < part->n_element; i++) {
      NOLI_CHECK(context, part->element[i] >= 0 && part->element[i] < n_element,
                 NOLI_ERROR_ARGUMENT, "body \"%s\", part %d: there is no element %d; it has %d",
                 name, (int)k, (int)part->element[i], (int)n_element);
    }
  }
done:
  return status;
}

static NoliStatus check_bodies(NoliContext* context, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(context, def->n_bodies > 0 && def->bodies != NULL, NOLI_ERROR_ARGUMENT,
             "a simulation needs at least one body");
  int64_t n_vert = 0;
  for (int32_t b = 0; b < def->n_bodies; b++) {
    const NoliBodyDef* body = &def->bodies[b];
    const char* name = body->name != NULL ? body->name : "(no name)";
    NOLI_CHECK(context, body->mesh != NULL, NOLI_ERROR_ARGUMENT, "body \"%s\" has no mesh", name);
    NOLI_TRY(check_shell(context, name, body));
    NOLI_CHECK(context,
               body->obstacle || body->mesh->n_tet > 0 || body->plane_strain != 0.0 ||
                   body->shell.thickness > 0.0,
               NOLI_ERROR_ARGUMENT,
               "body \"%s\" has no tetrahedra: make it an obstacle, give it a volume mesh, make it "
               "a shell, or give it a thickness in plane strain if it lies in a plane",
               name);
    NOLI_CHECK(context,
               noli_is_finite3(noli_load3(body->velocity)) &&
                   noli_is_finite3(noli_load3(body->angular_velocity)),
               NOLI_ERROR_ARGUMENT, "body \"%s\": the initial velocity is not finite", name);
    NOLI_TRY(check_order(context, name, body));
    for (int64_t i = 0; i < 3 * (int64_t)body->mesh->n_vert; i++) {
      NOLI_CHECK(context, isfinite(body->mesh->x[i]) && (body->x0 == NULL || isfinite(body->x0[i])),
                 NOLI_ERROR_ARGUMENT, "body \"%s\": vertex %lld is not finite", name,
                 (long long)(i / 3));
    }
    if (!body->obstacle) {
      NOLI_TRY(check_material(context, name, &body->material));
    }
    NOLI_TRY(check_parts(context, name, body));
    n_vert += body->mesh->n_vert;
  }
  NOLI_CHECK(context, n_vert < INT32_MAX / 3, NOLI_ERROR_TOO_LARGE,
             "%lld vertices are more than an index can count", (long long)n_vert);
done:
  return status;
}

static NoliStatus check_nodes(NoliContext* context, const NoliSimDef* def, const char* what,
                              int32_t index, int32_t body, const int32_t* node, int32_t n_node) {
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(context, body >= 0 && body < def->n_bodies, NOLI_ERROR_ARGUMENT,
             "%s %d: body %d does not exist", what, index, body);
  NOLI_CHECK(context, node == NULL || n_node > 0, NOLI_ERROR_ARGUMENT,
             "%s %d: no vertices of body \"%s\" are selected", what, index, def->bodies[body].name);
  for (int32_t i = 0; node != NULL && i < n_node; i++) {
    // how many nodes elements of high order have is known later
    bool exists = node[i] < def->bodies[body].mesh->n_vert || def->bodies[body].order > 1 ||
                  noli_mesh_order(def->bodies[body].mesh) > 1;
    NOLI_CHECK(context, node[i] >= 0 && exists, NOLI_ERROR_ARGUMENT,
               "%s %d: body \"%s\" has no vertex %d", what, index, def->bodies[body].name, node[i]);
  }
done:
  return status;
}

static NoliStatus check_axes(NoliContext* context, const NoliSimDef* def, int32_t index) {
  NoliStatus status = NOLI_OK;
  const NoliMotionDef* motion = &def->motions[index];
  int32_t n_free = motion->free_axis[0] + motion->free_axis[1] + motion->free_axis[2];
  NOLI_CHECK(context, n_free < 3, NOLI_ERROR_ARGUMENT, "motion %d prescribes no component", index);
  NOLI_CHECK(context, n_free == 0 || !def->bodies[motion->body].obstacle, NOLI_ERROR_ARGUMENT,
             "motion %d: obstacle \"%s\" cannot have free components", index,
             def->bodies[motion->body].name);
done:
  return status;
}

static NoliStatus check_end(NoliContext* context, int32_t index, const NoliMotionDef* motion) {
  NoliStatus status = NOLI_OK;
  NoliVec3 normal = noli_load3(motion->end_normal);
  NOLI_CHECK(context,
             !motion->ends_beyond || (noli_is_finite3(noli_load3(motion->end_origin)) &&
                                      noli_is_finite3(normal) && noli_norm3(normal) > 0.0),
             NOLI_ERROR_ARGUMENT,
             "motion %d: origin and normal of its end must be finite, the normal not zero", index);
done:
  return status;
}

// What of a friction law does not depend on the size of the scene. `where` leads the message.
static NoliStatus check_friction(NoliContext* context, const char* where, double friction,
                                 double static_friction, NoliScaled stribeck_speed,
                                 double viscosity) {
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(context, friction >= 0.0 && isfinite(friction), NOLI_ERROR_ARGUMENT,
             "%sfriction must be >= 0, got %g", where, friction);
  NOLI_CHECK(context,
             static_friction == 0.0 || (static_friction >= friction && isfinite(static_friction)),
             NOLI_ERROR_ARGUMENT,
             "%sstatic friction must be 0 (as friction) or at least friction, %g, got %g", where,
             friction, static_friction);
  NOLI_CHECK(context, stribeck_speed.value >= 0.0 && isfinite(stribeck_speed.value),
             NOLI_ERROR_ARGUMENT, "%sthe Stribeck speed must be >= 0, got %g", where,
             stribeck_speed.value);
  NOLI_CHECK(context, viscosity >= 0.0 && isfinite(viscosity), NOLI_ERROR_ARGUMENT,
             "%sviscosity must be >= 0, got %g", where, viscosity);
done:
  return status;
}

static NoliStatus check_volume(NoliContext* context, const NoliSimDef* def, int32_t index) {
  NoliStatus status = NOLI_OK;
  const NoliVolumeDef* volume = &def->volumes[index];
  NOLI_CHECK(context, volume->body >= 0 && volume->body < def->n_bodies, NOLI_ERROR_ARGUMENT,
             "volume %d: body %d does not exist", index, volume->body);
  const char* name = def->bodies[volume->body].name;
  NOLI_CHECK(context, !def->bodies[volume->body].obstacle, NOLI_ERROR_ARGUMENT,
             "volume %d: obstacle \"%s\" does not deform", index, name != NULL ? name : "");
  NOLI_CHECK(context,
             volume->model == NOLI_VOLUME_IDEAL_GAS ||
                 volume->model == NOLI_VOLUME_NEARLY_INCOMPRESSIBLE ||
                 volume->model == NOLI_VOLUME_QUADRATIC,
             NOLI_ERROR_ARGUMENT, "volume %d: model %d is not known", index, (int)volume->model);
  bool gas = volume->model == NOLI_VOLUME_IDEAL_GAS;
  NOLI_CHECK(context,
             isfinite(volume->compression) &&
                 (volume->compression > 0.0 || (gas && volume->compression == 0.0)),
             NOLI_ERROR_ARGUMENT, "volume %d: compression must be > 0, got %g", index,
             volume->compression);
  NOLI_CHECK(context,
             isfinite(volume->pressure) &&
                 (!gas || volume->compression > 0.0 || volume->pressure > -NOLI_ATMOSPHERE),
             NOLI_ERROR_ARGUMENT,
             "volume %d: there is no gas at %g Pa above the atmosphere, 101325 Pa", index,
             volume->pressure);
done:
  return status;
}

static NoliStatus check_pair(NoliContext* context, const NoliSimDef* def, int32_t index) {
  NoliStatus status = NOLI_OK;
  const NoliPairDef* pair = &def->pairs[index];
  int32_t n_entity = def->n_bodies + def->n_half_spaces;
  NOLI_CHECK(context, pair->a >= 0 && pair->a < n_entity && pair->b >= 0 && pair->b < n_entity,
             NOLI_ERROR_ARGUMENT, "pair %d: entities %d and %d must be below %d", index, pair->a,
             pair->b, n_entity);
  char where[32];
  snprintf(where, sizeof where, "pair %d: ", index);
  NOLI_TRY(check_friction(context, where, pair->friction, pair->static_friction,
                          pair->stribeck_speed, pair->viscosity));
done:
  return status;
}

static NoliStatus check_lists(NoliContext* context, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  for (int32_t i = 0; i < def->n_half_spaces; i++) {
    const NoliHalfSpaceDef* plane = &def->half_spaces[i];
    NOLI_CHECK(context,
               noli_is_finite3(noli_load3(plane->origin)) &&
                   noli_is_finite3(noli_load3(plane->normal)) &&
                   noli_norm3(noli_load3(plane->normal)) > 0.0,
               NOLI_ERROR_ARGUMENT,
               "half-space %d: origin and normal must be finite, the normal "
               "not zero",
               i);
  }
  for (int32_t i = 0; i < def->n_motions; i++) {
    const NoliMotionDef* motion = &def->motions[i];
    NOLI_TRY(check_nodes(context, def, "motion", i, motion->body, motion->node, motion->n_node));
    NOLI_CHECK(context, motion->t_begin < motion->t_end, NOLI_ERROR_ARGUMENT,
               "motion %d: t_begin %g is not before t_end %g", i, motion->t_begin, motion->t_end);
    NOLI_TRY(check_axes(context, def, i));
    NOLI_TRY(check_end(context, i, motion));
  }
  for (int32_t i = 0; i < def->n_forces; i++) {
    const NoliForceDef* force = &def->forces[i];
    NOLI_TRY(check_nodes(context, def, "force", i, force->body, force->node, force->n_node));
    NOLI_CHECK(context, force->value != NULL, NOLI_ERROR_ARGUMENT, "force %d has no value", i);
  }
  for (int32_t i = 0; i < def->n_volumes; i++) {
    NOLI_TRY(check_volume(context, def, i));
  }
  for (int32_t i = 0; i < def->n_pairs; i++) {
    NOLI_TRY(check_pair(context, def, i));
  }
done:
  return status;
}

static NoliStatus check_numbers(NoliContext* context, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(context, def->time_step > 0.0 && isfinite(def->time_step), NOLI_ERROR_ARGUMENT,
             "the time step must be > 0, got %g", def->time_step);
  NOLI_CHECK(context, def->linear_tolerance > 0.0 && def->linear_tolerance < 1.0,
             NOLI_ERROR_ARGUMENT, "linear_tolerance is %g, not between 0 and 1",
             def->linear_tolerance);
  NOLI_CHECK(context, def->ccd == NOLI_CCD_ADDITIVE || def->ccd == NOLI_CCD_INCLUSION,
             NOLI_ERROR_ARGUMENT, "there is no collision detection %d", (int)def->ccd);
  NOLI_CHECK(context, noli_is_finite3(noli_load3(def->gravity)), NOLI_ERROR_ARGUMENT,
             "gravity is not finite");
  NOLI_CHECK(context, def->contact_distance.value >= 0.0 && isfinite(def->contact_distance.value),
             NOLI_ERROR_ARGUMENT, "the contact distance must be > 0, or 0 for the default, got %g",
             def->contact_distance.value);
  NOLI_CHECK(context, def->friction_speed.value > 0.0 && isfinite(def->friction_speed.value),
             NOLI_ERROR_ARGUMENT, "the friction speed must be > 0, got %g",
             def->friction_speed.value);
  NOLI_CHECK(context, def->tolerance.value > 0.0 && isfinite(def->tolerance.value),
             NOLI_ERROR_ARGUMENT, "the tolerance must be > 0, got %g", def->tolerance.value);
  NOLI_TRY(check_friction(context, "", def->friction, def->static_friction, def->stribeck_speed,
                          def->viscosity));
  NOLI_CHECK(context, def->barrier_stiffness >= 0.0 && isfinite(def->barrier_stiffness),
             NOLI_ERROR_ARGUMENT, "the barrier stiffness must be >= 0, got %g",
             def->barrier_stiffness);
  NOLI_CHECK(context, def->friction_iterations >= NOLI_FRICTION_UNTIL_CONVERGENCE,
             NOLI_ERROR_ARGUMENT,
             "friction_iterations is %d, neither positive nor a NoliFrictionIterations",
             (int)def->friction_iterations);
  NOLI_CHECK(context, def->max_iterations > 0, NOLI_ERROR_ARGUMENT,
             "max_iterations must be positive, got %d", (int)def->max_iterations);
done:
  return status;
}

static NoliStatus check_implicit(NoliContext* context, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  const char* name = def->friction_method != NULL ? def->friction_method : "(none)";
  bool implicit = strcmp(name, "implicit") == 0;
  NOLI_CHECK(context, implicit || strcmp(name, "lagged") == 0, NOLI_ERROR_ARGUMENT,
             "there is no friction method \"%s\"; known: \"lagged\", \"implicit\"", name);
  // friction that is known only at the end of the step has no energy to minimise
  NOLI_CHECK(context,
             !implicit || def->solver == NULL || strcmp(def->solver, "implicit_newton") == 0,
             NOLI_ERROR_ARGUMENT,
             "implicit friction needs the solver \"implicit_newton\": it has no energy, and \"%s\" "
             "minimises one%s; or use \"lagged\" friction",
             def->solver,
             strcmp(def->solver, "augmented_lagrangian") == 0
                 ? " whose contact forces are multipliers, without derivatives"
                 : "");
  bool implicit_newton =
      implicit || (def->solver != NULL && strcmp(def->solver, "implicit_newton") == 0);
  NOLI_CHECK(context,
             !implicit_newton || def->termination == NULL || strcmp(def->termination, "toi") != 0,
             NOLI_ERROR_ARGUMENT,
             "the solver \"implicit_newton\" ends by its residual; termination \"toi\" belongs to "
             "\"augmented_lagrangian\" and \"projected_newton\"");
  const char* known;
  NOLI_TRY(noli_lin_solver_find(context, def->linear_solver, false, &known));
  NOLI_TRY(noli_lin_solver_find(context, def->implicit_newton.linear, true, &known));
done:
  return status;
}

static NoliStatus check_solver(NoliContext* context, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(context, def->solver == NULL || noli_solver_method_find(def->solver) != NULL,
             NOLI_ERROR_ARGUMENT,
             "there is no solver \"%s\"; known: \"projected_newton\", \"augmented_lagrangian\", "
             "\"implicit_newton\"",
             def->solver);
  NOLI_CHECK(context, def->max_substeps >= 1 && def->max_substeps <= 1 << 20, NOLI_ERROR_ARGUMENT,
             "max_substeps must be in 1 .. 2^20, got %d", def->max_substeps);
  NOLI_TRY(check_implicit(context, def));
  bool toi = def->termination != NULL && strcmp(def->termination, "toi") == 0;
  bool residual = def->termination != NULL && strcmp(def->termination, "residual") == 0;
  NOLI_CHECK(context, def->termination == NULL || toi || residual, NOLI_ERROR_ARGUMENT,
             "there is no termination \"%s\"; known: \"residual\", \"toi\"", def->termination);
  NOLI_CHECK(context, def->toi_tolerance > 0.0 && def->toi_tolerance < 1.0, NOLI_ERROR_ARGUMENT,
             "the tolerance of the time of impact must be in (0, 1), got %g", def->toi_tolerance);
  NOLI_CHECK(context, def->min_iterations >= 0, NOLI_ERROR_ARGUMENT,
             "min_iterations must not be negative, got %d", def->min_iterations);
  const NoliAugmentedLagrangianDef* knobs = &def->augmented_lagrangian;
  NOLI_CHECK(context, knobs->stiffness_ratio > 0.0 && isfinite(knobs->stiffness_ratio),
             NOLI_ERROR_ARGUMENT, "the stiffness ratio must be > 0, got %g",
             knobs->stiffness_ratio);
  NOLI_CHECK(context, knobs->decay >= 0.0 && knobs->decay <= 1.0, NOLI_ERROR_ARGUMENT,
             "the decay must be in [0, 1], got %g", knobs->decay);
done:
  return status;
}

// What an integrator has no use for is an error, not something to overlook.
static NoliStatus check_integrator(NoliContext* context, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  const NoliIntegrator* integrator =
      def->integrator != NULL ? noli_integrator_find(def->integrator) : NULL;
  // a name that is not known is reported where it is looked up
  for (int32_t b = 0; integrator != NULL && b < def->n_bodies; b++) {
    const NoliBodyDef* body = &def->bodies[b];
    bool moves = noli_norm3(noli_load3(body->velocity)) > 0.0 ||
                 noli_norm3(noli_load3(body->angular_velocity)) > 0.0;
    NOLI_CHECK(context, !integrator->quasi_static || !moves || body->obstacle, NOLI_ERROR_ARGUMENT,
               "body \"%s\": an initial velocity makes no sense with the integrator \"%s\"",
               body->name != NULL ? body->name : "(no name)", integrator->name);
  }
  NOLI_CHECK(context,
             integrator == NULL || !integrator->decoupled || def->solver == NULL ||
                 noli_solver_method_find(def->solver)->contact == NULL,
             NOLI_ERROR_ARGUMENT,
             "the integrator \"%s\" is there to compare contact by the barrier; it makes no sense "
             "with the solver \"%s\"",
             integrator->name, def->solver);
done:
  return status;
}

// What a vertex can be pushed away from: the inner side of triangles.
static NoliStatus check_obstacle_surfaces(NoliContext* context, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  for (int32_t b = 0; b < def->n_bodies; b++) {
    const NoliMesh* mesh = def->bodies[b].mesh;
    NOLI_CHECK(context,
               !def->bodies[b].obstacle ||
                   (mesh->n_edge == 0 && mesh->n_point == 0 && mesh->n_tri + mesh->n_tet > 0),
               NOLI_ERROR_ARGUMENT,
               "obstacle \"%s\" has segments or points, which have no inside: the contact model "
               "\"implicit_surface\" needs triangles, \"ipc\" does not",
               def->bodies[b].name);
  }
done:
  return status;
}

static NoliStatus check_geometric(NoliContext* context, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  const NoliGeometricDef* gcp = &def->gcp;
  NOLI_CHECK(context, gcp->eps_target.value >= 0.0 && isfinite(gcp->eps_target.value),
             NOLI_ERROR_ARGUMENT, "eps_target of the contact model \"gcp\" must be >= 0, got %g",
             gcp->eps_target.value);
  NOLI_CHECK(context, gcp->alpha > 0.0 && gcp->alpha <= 1.0, NOLI_ERROR_ARGUMENT,
             "alpha of the contact model \"gcp\" must be in (0, 1], got %g", gcp->alpha);
  NOLI_CHECK(context, gcp->beta > 0.0 && gcp->beta <= 1.0, NOLI_ERROR_ARGUMENT,
             "beta of the contact model \"gcp\" must be in (0, 1], got %g", gcp->beta);
  NOLI_CHECK(context, gcp->length.value >= 0.0 && isfinite(gcp->length.value), NOLI_ERROR_ARGUMENT,
             "length of the contact model \"gcp\" must be >= 0, got %g", gcp->length.value);
  NOLI_CHECK(context, def->solver == NULL || noli_solver_method_find(def->solver)->contact == NULL,
             NOLI_ERROR_ARGUMENT,
             "the contact model \"gcp\" is a potential, and the solver \"%s\" has none for "
             "contact: it brings constraints; use \"projected_newton\" or \"implicit_newton\"",
             def->solver);
done:
  return status;
}

static NoliStatus check_contact_model(NoliContext* context, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  const char* model = def->contact_model;
  const NoliContactModel* found = model != NULL ? noli_contact_model_find(model) : NULL;
  bool smooth = found == &noli_contact_smooth;
  NOLI_CHECK(context, found != NULL, NOLI_ERROR_ARGUMENT,
             "there is no contact model \"%s\"; known: \"ipc\", \"gcp\", \"implicit_surface\"",
             model != NULL ? model : "(none)");
  for (int32_t b = 0; found != &noli_contact_barrier && b < def->n_bodies; b++) {
    NOLI_CHECK(context, def->bodies[b].shell.thickness == 0.0, NOLI_ERROR_ARGUMENT,
               "body \"%s\" is a shell, which has no inside: the contact model \"%s\" needs "
               "closed surfaces, \"ipc\" does not",
               def->bodies[b].name != NULL ? def->bodies[b].name : "(no name)", model);
  }
  if (found == &noli_contact_geometric) {
    NOLI_TRY(check_geometric(context, def));
  }
  double radius = def->surface_radius.value;
  NOLI_CHECK(context, radius >= 0.0 && isfinite(radius), NOLI_ERROR_ARGUMENT,
             "the radius of surfaces must be >= 0, got %g", radius);
  if (!smooth) {
    return NOLI_OK;
  }
  NOLI_CHECK(context, def->solver == NULL || strcmp(def->solver, "projected_newton") == 0,
             NOLI_ERROR_ARGUMENT,
             "the contact model \"implicit_surface\" goes with the solver \"projected_newton\"; "
             "\"%s\" %s",
             def->solver,
             noli_solver_method_find(def->solver)->contact != NULL
                 ? "brings its own contact, constraints that keep surfaces apart"
                 : "knows the contacts of \"ipc\" only");
  NOLI_CHECK(context, strcmp(def->friction_method, "lagged") == 0, NOLI_ERROR_ARGUMENT,
             "\"%s\" friction knows the contacts of \"ipc\" only: the contact model "
             "\"implicit_surface\" needs \"lagged\" friction",
             def->friction_method);
  NOLI_CHECK(context, def->audit == NOLI_AUDIT_OFF, NOLI_ERROR_ARGUMENT,
             "an audit looks for triangles that intersect, which the contact model "
             "\"implicit_surface\" allows; the report of each step says how deep vertices are, or "
             "use \"ipc\"");
  NOLI_TRY(check_obstacle_surfaces(context, def));
done:
  return status;
}

NoliStatus noli_definition_check(NoliContext* context, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(context, def != NULL && def->cookie == SIM_COOKIE, NOLI_ERROR_ARGUMENT,
             "the simulation definition was not made by noli_default_sim_def");
  NOLI_TRY(check_numbers(context, def));
  NOLI_TRY(check_solver(context, def));
  NOLI_TRY(check_bodies(context, def));
  NOLI_TRY(check_contact_model(context, def));
  NOLI_TRY(noli_plane_check(context, def));
  NOLI_TRY(check_lists(context, def));
  NOLI_TRY(check_integrator(context, def));
done:
  return status;
}
