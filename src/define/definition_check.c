#include "define/definition_check.h"

#include "base/numbers.h"
#include "define/body_kind.h"
#include "define/choices.h"
#include "define/plane_strain.h"
#include "integrate/integrator.h"
#include "math/vec3.h"
#include "solve/method.h"

static NoliStatus check_numbers(NoliContext* context, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(noli_numbers_check(context, "", NOLI_NUMBERS_SIM, def));
  NOLI_TRY(noli_numbers_check(context, "the solver \"augmented_lagrangian\": ",
                              NOLI_NUMBERS_AUGMENTED_LAGRANGIAN, &def->augmented_lagrangian));
  NOLI_TRY(noli_numbers_check(context, "", NOLI_NUMBERS_GCP, &def->gcp));
  NOLI_TRY(noli_numbers_check(context, "", NOLI_NUMBERS_INCREMENT, &def->increments));
  NOLI_TRY(noli_definition_check_friction(context, "", def->friction, def->static_friction));
  NOLI_TRY(noli_definition_check_adhesion(context, def, "", def->adhesion, def->friction));
done:
  return status;
}

static NoliStatus check_increments(NoliContext* context, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  const NoliIncrementDef* rule = &def->increments;
  NOLI_CHECK(context, rule->initial <= def->time_step, NOLI_ERROR_ARGUMENT,
             "the first increment must be at most a time step, %g s, got %g s", def->time_step,
             rule->initial);
  if (rule->initial == 0.0) {
    return NOLI_OK;
  }
  NOLI_CHECK(context, noli_integrator_find(def->integrator)->quasi_static, NOLI_ERROR_ARGUMENT,
             "increments of load steps need the integrator \"quasi_static\"; \"%s\" divides time "
             "steps where they fail",
             def->integrator);
  NOLI_CHECK(context, rule->smallest <= rule->initial, NOLI_ERROR_ARGUMENT,
             "the smallest increment must be at most the first one, %g s, got %g s", rule->initial,
             rule->smallest);
  NOLI_CHECK(context, rule->easy_iterations >= 1 && rule->hard_iterations > rule->easy_iterations,
             NOLI_ERROR_ARGUMENT,
             "an easy increment takes at least one iteration and fewer than a hard one, got %d and "
             "%d",
             (int)rule->easy_iterations, (int)rule->hard_iterations);
done:
  return status;
}

// Choices by name.
static NoliStatus check_choices(NoliContext* context, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  const struct {
    const NoliNames* names;
    const char* name;
  } choices[] = {
      {&noli_integrator_names, def->integrator},
      {&noli_contact_model_names, def->contact_model},
      {&noli_ccd_names, def->ccd},
      {&noli_friction_method_names, def->friction_method},
      {&noli_friction_law_names, def->friction_law},
      {&noli_solver_names, def->solver},
      {&noli_termination_names, def->termination},
      {&noli_linear_solver_names, def->linear_solver},
      {&noli_general_solver_names, def->implicit_newton.linear},
      {&noli_audit_names, def->audit},
  };
  for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
    NOLI_TRY(noli_names_require(context, "", choices[i].names, choices[i].name));
  }
done:
  return status;
}

static NoliStatus check_implicit(NoliContext* context, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  bool implicit = noli_definition_has_implicit_friction(def);
  const NoliSolverMethod* method = noli_solver_method_find(def->solver);
  // friction at the end of the step has no energy to minimize
  NOLI_CHECK(context, !implicit || method == NULL || method->forces, NOLI_ERROR_ARGUMENT,
             "implicit friction needs the solver \"implicit_newton\": it has no energy, and \"%s\" "
             "minimizes one%s; or use \"lagged\" friction",
             def->solver,
             method->contact != NULL ? " whose contact forces are multipliers, without derivatives"
                                     : "");
  bool solves_forces = implicit || (method != NULL && method->forces);
  NOLI_CHECK(context,
             !solves_forces ||
                 noli_names_find(&noli_termination_names, def->termination) != NOLI_TERMINATION_TOI,
             NOLI_ERROR_ARGUMENT,
             "the solver \"implicit_newton\" ends by its residual; termination \"toi\" belongs to "
             "\"augmented_lagrangian\" and \"projected_newton\"");
done:
  return status;
}

// A setting that the integrator would ignore is an error.
static NoliStatus check_integrator(NoliContext* context, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  const NoliIntegrator* integrator = noli_integrator_find(def->integrator);
  for (int32_t b = 0; b < def->n_bodies; b++) {
    const NoliBodyDef* body = &def->bodies[b];
    bool moves = noli_norm3(noli_load3(body->velocity)) > 0.0 ||
                 noli_norm3(noli_load3(body->angular_velocity)) > 0.0;
    NOLI_CHECK(context, !integrator->quasi_static || !moves || body->obstacle, NOLI_ERROR_ARGUMENT,
               "body \"%s\": an initial velocity has no effect with the integrator \"%s\"",
               body->name != NULL ? body->name : "(no name)", integrator->name);
  }
  NOLI_CHECK(context,
             !integrator->decoupled || def->solver == NULL ||
                 noli_solver_method_find(def->solver)->contact == NULL,
             NOLI_ERROR_ARGUMENT,
             "the integrator \"%s\" exists to compare contact by the barrier; it does not support "
             "the solver \"%s\"",
             integrator->name, def->solver);
done:
  return status;
}

// The penalty pushes vertices out of surfaces: an obstacle needs triangles.
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
  NOLI_CHECK(context, def->solver == NULL || noli_solver_method_find(def->solver)->contact == NULL,
             NOLI_ERROR_ARGUMENT,
             "the contact model \"gcp\" is a potential, but the solver \"%s\" treats "
             "contact by constraints; use \"projected_newton\" or \"implicit_newton\"",
             def->solver);
done:
  return status;
}

// Convergent contact is a form of the barrier.
static NoliStatus check_convergent(NoliContext* context, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  const NoliSolverMethod* method = noli_solver_method_find(def->solver);
  NOLI_CHECK(context, noli_contact_model_find(def->contact_model) == &noli_contact_barrier,
             NOLI_ERROR_ARGUMENT,
             "convergent contact is a form of the contact model \"ipc\", got \"%s\"",
             def->contact_model);
  NOLI_CHECK(context, method == NULL || method->contact == NULL, NOLI_ERROR_ARGUMENT,
             "convergent contact is a potential, but the solver \"%s\" treats contact by "
             "constraints; use \"projected_newton\" or \"implicit_newton\"",
             def->solver);
done:
  return status;
}

static NoliStatus check_contact_model(NoliContext* context, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  const NoliContactModel* found = noli_contact_model_find(def->contact_model);
  bool smooth = found == &noli_contact_implicit_surface;
  const char* where = NULL;
  for (int32_t b = 0; found != &noli_contact_barrier && b < def->n_bodies; b++) {
    where = def->bodies[b].where;
    NOLI_CHECK(context, def->bodies[b].contact_offset == 0.0, NOLI_ERROR_ARGUMENT,
               "body \"%s\" has a contact offset: the contact model \"%s\" acts on the surfaces "
               "themselves, \"ipc\" supports offsets",
               def->bodies[b].name != NULL ? def->bodies[b].name : "(no name)", def->contact_model);
    const NoliBodyKind* kind = noli_body_kind(&def->bodies[b]);
    NOLI_CHECK(context, kind->encloses, NOLI_ERROR_ARGUMENT,
               "body \"%s\" is %s and has no inside: the contact model \"%s\" needs "
               "closed surfaces, \"ipc\" does not",
               def->bodies[b].name != NULL ? def->bodies[b].name : "(no name)", kind->what,
               def->contact_model);
    NOLI_CHECK(context, !smooth || !kind->carried, NOLI_ERROR_ARGUMENT,
               "body \"%s\" is %s: surfaces of the contact model \"%s\" may overlap, which no "
               "force can undo where nothing deforms; use \"ipc\"",
               def->bodies[b].name != NULL ? def->bodies[b].name : "(no name)", kind->what,
               def->contact_model);
  }

  // parameters
  where = NULL;
  if (def->contact_convergent) {
    NOLI_TRY(check_convergent(context, def));
  }
  if (found == &noli_contact_gcp) {
    NOLI_TRY(check_geometric(context, def));
  }
  if (!smooth) {
    return NOLI_OK;
  }

  // features that implicit surfaces do not support
  const NoliSolverMethod* method = noli_solver_method_find(def->solver);
  NOLI_CHECK(context, method == NULL || method->contact == NULL, NOLI_ERROR_ARGUMENT,
             "the contact model \"implicit_surface\" needs the solver \"projected_newton\" or "
             "\"implicit_newton\"; \"%s\" has its own contact, constraints that keep surfaces "
             "apart",
             def->solver);
  NOLI_TRY(check_obstacle_surfaces(context, def));
done:
  return noli_fail_at(context, where, status);
}

// Reserved members must be zero: a newer program may set members that this library does not know.
static NoliStatus check_reserved(NoliContext* context, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
#define REQUIRE_NULL(what, list)                                                                   \
  for (size_t i = 0; i < sizeof(list) / sizeof *(list); i++) {                                     \
    NOLI_CHECK(context, (list)[i] == NULL, NOLI_ERROR_ARGUMENT,                                    \
               "%s sets members that Noli %s does not have; start from noli_default_" what "_def", \
               what, NOLI_VERSION);                                                                \
  }
  REQUIRE_NULL("geometric", def->gcp.reserved)
  REQUIRE_NULL("augmented_lagrangian", def->augmented_lagrangian.reserved)
  REQUIRE_NULL("implicit_newton", def->implicit_newton.reserved)
  REQUIRE_NULL("increment", def->increments.reserved)
  for (int32_t b = 0; b < def->n_bodies; b++) {
    REQUIRE_NULL("material", def->bodies[b].material.reserved)
    REQUIRE_NULL("proxy", def->bodies[b].proxy.reserved)
  }
#undef REQUIRE_NULL
done:
  return status;
}

NoliStatus noli_definition_check(NoliContext* context, const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(check_choices(context, def));
  NOLI_TRY(check_numbers(context, def));
  NOLI_TRY(check_reserved(context, def));
  NOLI_TRY(check_implicit(context, def));
  NOLI_TRY(noli_definition_check_bodies(context, def));
  NOLI_TRY(check_contact_model(context, def));
  NOLI_TRY(noli_plane_strain_check(context, def));
  NOLI_TRY(noli_definition_check_lists(context, def));
  NOLI_TRY(check_integrator(context, def));
  NOLI_TRY(check_increments(context, def));
done:
  return status;
}
