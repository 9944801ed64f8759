#include "scene/build.h"

#include "define/definition.h"
#include "scene/store.h"
#include "solve/method.h"

#define MAX_PAIRS 10000000

// The curve of friction falls, from sticking on.
static NoliStatus check_friction(const NoliSceneSource* source, const NoliSceneNode* root,
                                 const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode friction = noli_scene_member(root, "friction");
  NoliSceneNode static_coefficient = noli_scene_member(&friction, "static_coefficient");
  NoliSceneNode stribeck_speed = noli_scene_member(&friction, "stribeck_speed");
  NOLI_SCENE_CHECK(source, &static_coefficient,
                   static_coefficient.value == NULL || def->static_friction >= def->friction,
                   "must be at least the coefficient of sliding, %g, got %g", def->friction,
                   def->static_friction);
  NOLI_SCENE_CHECK(source, &stribeck_speed,
                   stribeck_speed.value == NULL ||
                       def->stribeck_speed.relative != def->friction_speed.relative ||
                       def->stribeck_speed.value > def->friction_speed.value,
                   "must be above the speed that counts as sticking");
done:
  return status;
}

// The geometric potential is for solvers that have a potential for contact.
static NoliStatus check_contact_model(const NoliSceneSource* source, const NoliSceneNode* root,
                                      const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode contact = noli_scene_member(root, "contact");
  NoliSceneNode model = noli_scene_member(&contact, "model");
  const NoliSolverMethod* method = noli_solver_method_find(def->solver);
  NOLI_SCENE_CHECK(source, &model,
                   noli_contact_model_find(def->contact_model) != &noli_contact_gcp ||
                       method == NULL || method->contact == NULL,
                   "\"gcp\" is a potential, and solver.method \"%s\" has none for contact: it "
                   "brings constraints; must be \"ipc\" there, or the solver another one",
                   def->solver);
done:
  return status;
}

// Convergent contact is a form of the barrier.
static NoliStatus check_convergent(const NoliSceneSource* source, const NoliSceneNode* root,
                                   const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode contact = noli_scene_member(root, "contact");
  NoliSceneNode convergent = noli_scene_member(&contact, "convergent");
  const NoliSolverMethod* method = noli_solver_method_find(def->solver);
  NOLI_SCENE_CHECK(source, &convergent,
                   !def->contact_convergent ||
                       noli_contact_model_find(def->contact_model) == &noli_contact_barrier,
                   "is a form of the contact model \"ipc\"; contact.model is \"%s\"",
                   def->contact_model);
  NOLI_SCENE_CHECK(source, &convergent,
                   !def->contact_convergent || method == NULL || method->contact == NULL,
                   "is a potential, and solver.method \"%s\" has none for contact: it brings "
                   "constraints; must be false there, or the solver another one",
                   def->solver);
done:
  return status;
}

// Implicit friction has no energy that the other solvers could minimize.
static NoliStatus check_friction_method(const NoliSceneSource* source, const NoliSceneNode* root,
                                        const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode solver = noli_scene_member(root, "solver");
  NoliSceneNode solver_method = noli_scene_member(&solver, "method");
  const NoliSolverMethod* method = noli_solver_method_find(def->solver);
  bool implicit = noli_definition_has_implicit_friction(def);
  NOLI_SCENE_CHECK(
      source, &solver_method, !implicit || method == NULL || method->forces,
      "must be \"implicit_newton\" where friction.method is \"implicit\", which has no "
      "energy to minimize; got \"%s\"",
      def->solver);
done:
  return status;
}

// Keys that a law would ignore, or that it lacks.
static NoliStatus check_friction_law(const NoliSceneSource* source, const NoliSceneNode* root,
                                     const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode friction = noli_scene_member(root, "friction");
  NoliSceneNode length = noli_scene_member(&friction, "stick_length");
  bool sticks = noli_definition_sticks(def);
  NOLI_SCENE_CHECK(source, &length, length.value == NULL || sticks,
                   "has no effect unless friction.law is \"stick\"");
done:
  return status;
}

NoliStatus noli_scene_check_contact(const NoliSceneSource* source, const NoliSceneNode* root,
                                    const NoliSimDef* def) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(check_friction(source, root, def));
  NOLI_TRY(check_contact_model(source, root, def));
  NOLI_TRY(check_convergent(source, root, def));
  NOLI_TRY(check_friction_method(source, root, def));
  NOLI_TRY(check_friction_law(source, root, def));
done:
  return status;
}

// ---- pairs --------------------------------------------------------------------------------------

static NoliStatus push_pairs(const NoliSceneSource* source, NoliScene* scene,
                             const NoliSceneNode* entry, const NoliSceneIndices* a,
                             const NoliSceneIndices* b, NoliPairDef pair) {
  NoliStatus status = NOLI_OK;
  NOLI_SCENE_CHECK(source, entry, a->count * b->count <= MAX_PAIRS - scene->pairs.count,
                   "more than %d pairs; use \"contact\" and \"friction\" for what holds for most",
                   MAX_PAIRS);
  int32_t n_bodies = (int32_t)scene->bodies.count;
  for (int64_t i = 0; i < a->count; i++) {
    for (int64_t j = 0; j < b->count; j++) {
      pair.a = a->data[i];
      pair.b = b->data[j];
      // half-spaces do not meet
      if (pair.a < n_bodies || pair.b < n_bodies) {
        NOLI_PUSH(scene->context, &scene->pairs, pair);
      }
    }
  }
done:
  return status;
}

// Value of a key of a pair; where it is absent, `fallback`, which is written into the scene.
static NoliStatus pair_number(const NoliSceneSource* source, const NoliSceneNode* entry,
                              const char* key, double fallback, double* value) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode node = noli_scene_member(entry, key);
  *value = node.value != NULL ? noli_scene_number(&node) : fallback;
  NOLI_CHECK(source->context,
             node.value != NULL || json_object_set_new(entry->value, key, json_real(fallback)) == 0,
             NOLI_ERROR_MEMORY, "out of memory");
done:
  return status;
}

// The friction of a pair. One with a coefficient of its own does not inherit a static one.
static NoliStatus read_pair_friction(const NoliSceneSource* source, const NoliSceneNode* entry,
                                     const NoliSimDef* def, NoliPairDef* pair) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode own = noli_scene_member(entry, "friction");
  NoliSceneNode static_friction = noli_scene_member(entry, "static_friction");
  bool inherits = own.value == NULL && def->static_friction > 0.0;
  NOLI_TRY(pair_number(source, entry, "friction", def->friction, &pair->friction));
  NOLI_TRY(pair_number(source, entry, "static_friction",
                       inherits ? def->static_friction : pair->friction, &pair->static_friction));
  NOLI_TRY(pair_number(source, entry, "viscosity", def->viscosity, &pair->viscosity));
  NOLI_TRY(pair_number(source, entry, "adhesion", def->adhesion, &pair->adhesion));
  NOLI_SCENE_CHECK(source, &static_friction, pair->static_friction >= pair->friction,
                   "must be at least the coefficient of sliding, %g, got %g", pair->friction,
                   pair->static_friction);
done:
  return status;
}

NoliStatus noli_scene_build_pairs(const NoliSceneSource* source, NoliScene* scene,
                                  const NoliSceneNode* root) {
  NoliStatus status = NOLI_OK;
  NoliSceneIndices a = {0}, b = {0};
  NoliSceneNode list = noli_scene_member(root, "pairs");
  for (size_t i = 0; i < noli_scene_size(&list); i++) {
    NoliSceneNode entry = noli_scene_item(&list, i);
    NoliSceneNode node_a = noli_scene_member(&entry, "a");
    NoliSceneNode node_b = noli_scene_member(&entry, "b");
    NoliPairDef pair = noli_default_pair_def();
    NOLI_TRY(noli_scene_keep_place(source, scene, &entry, &pair.where));
    noli_scene_store(&entry, &noli_scene_pair_format, &pair, sizeof pair);
    NOLI_TRY(read_pair_friction(source, &entry, &scene->def, &pair));
    NOLI_TRY(noli_scene_find_entities(source, scene, &node_a, true, &a));
    NOLI_TRY(noli_scene_find_entities(source, scene, &node_b, true, &b));
    NOLI_TRY(push_pairs(source, scene, &entry, &a, &b, pair));
  }
done:
  noli_array_free(scene->context, &a);
  noli_array_free(scene->context, &b);
  return status;
}
