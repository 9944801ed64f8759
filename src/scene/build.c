#include "scene/build.h"

#include "define/choices.h"
#include "noli/choice.h"
#include "scene/store.h"

#include <math.h>
#include <string.h>

NoliStatus noli_scene_own(NoliScene* scene, void* block) {
  NoliStatus status = NOLI_OK;
  NOLI_PUSH(scene->context, &scene->blocks, block);
done:
  if (status != NOLI_OK) {
    noli_free(scene->context, block);
  }
  return status;
}

// How many steps of def.time_step there are.
static NoliStatus build_read_time(const NoliSceneSource* source, const NoliSceneNode* root,
                                  NoliScene* scene) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode node = noli_scene_member(root, "time");
  NoliSceneNode duration = noli_scene_member(&node, "duration");
  NoliSceneNode steps = noli_scene_member(&node, "steps");
  double n = noli_scene_number(&steps);
  if (duration.value != NULL) {
    // rounding errors of the quotient do not make a step
    n = ceil(noli_scene_number(&duration) / scene->def.time_step * (1.0 - 1e-12));
    NOLI_SCENE_CHECK(source, &duration, n <= 1e9, "is %g steps, more than 1e9", n);
  }
  scene->n_steps = (int64_t)fmax(n, 1.0);

  // increments
  NoliSceneNode increments = noli_scene_member(&node, "increments");
  const NoliIncrementDef* rule = &scene->def.increments;
  NOLI_SCENE_CHECK(source, &increments,
                   increments.value == NULL || strcmp(scene->def.integrator, "quasi_static") == 0,
                   "needs the integrator \"quasi_static\"; others divide steps where they fail");
  NOLI_SCENE_CHECK(source, &increments, rule->initial <= scene->def.time_step,
                   "\"initial\", %g s, is longer than \"step\", %g s", rule->initial,
                   scene->def.time_step);
  NOLI_SCENE_CHECK(source, &increments, rule->smallest <= rule->initial,
                   "\"smallest\", %g s, is longer than \"initial\", %g s", rule->smallest,
                   rule->initial);
  NOLI_SCENE_CHECK(source, &increments, rule->easy_iterations < rule->hard_iterations,
                   "\"easy_iterations\", %d, must be fewer than \"hard_iterations\", %d",
                   (int)rule->easy_iterations, (int)rule->hard_iterations);
done:
  return status;
}

// `true`, `false` or a name.
static const char* read_audit(const NoliSceneNode* root) {
  NoliSceneNode debug = noli_scene_member(root, "debug");
  NoliSceneNode audit = noli_scene_member(&debug, "audit");
  const char* name = noli_scene_string(&audit);
  NoliAudit moment = noli_scene_true(&audit) ? NOLI_AUDIT_EVERY_STEP : NOLI_AUDIT_OFF;
  return name != NULL ? name : noli_choice_name(NOLI_CHOICE_AUDIT, (int32_t)moment);
}

// The names of fields; each may be named once.
static NoliStatus read_fields(const NoliSceneSource* source, const NoliSceneNode* output,
                              NoliScene* scene) {
  NoliStatus status = NOLI_OK;
  const char** name = NULL;
  NoliSceneNode list = noli_scene_member(output, "fields");
  size_t n = noli_scene_size(&list);
  if (n == 0) {
    return NOLI_OK;
  }
  NOLI_NEW(source->context, name, (int64_t)n);
  NOLI_TRY(noli_scene_own(scene, (void*)name));
  for (size_t i = 0; i < n; i++) {
    NoliSceneNode item = noli_scene_item(&list, i);
    name[i] = noli_scene_string(&item);
    for (size_t k = 0; k < i; k++) {
      NOLI_SCENE_CHECK(source, &item, strcmp(name[k], name[i]) != 0, "is named twice");
    }
  }
  scene->output.fields = name;
  scene->output.n_fields = (int32_t)n;
done:
  return status;
}

static NoliStatus read_output(const NoliSceneSource* source, const NoliSceneNode* root,
                              NoliScene* scene) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode output = noli_scene_member(root, "output");
  NoliSceneNode every = noli_scene_member(&output, "every");
  NoliSceneNode interval = noli_scene_member(&output, "interval");
  double n = noli_scene_number(&every);
  if (interval.value != NULL) {
    n = fmin(fmax(round(noli_scene_number(&interval) / scene->def.time_step), 1.0), 1e9);
  } else if (every.value == NULL) {
    n = 1.0;
    NOLI_CHECK(source->context, json_object_set_new(output.value, "every", json_integer(1)) == 0,
               NOLI_ERROR_MEMORY, "out of memory");
  }
  scene->output.frame_interval = (int32_t)n;
  noli_scene_store(&output, &noli_scene_output_format, &scene->output, sizeof scene->output);
  NOLI_TRY(read_fields(source, &output, scene));
done:
  return status;
}

// Lengths that are likely not metres.
static void warn_of_units(const NoliSceneSource* source, const NoliScene* scene,
                          const NoliSceneNode* root) {
  double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
  for (int64_t b = 0; b < scene->bodies.count; b++) {
    const NoliMesh* mesh = scene->bodies.data[b].mesh;
    double body_low[3], body_high[3];
    noli_mesh_bounds(mesh->n_vert, mesh->x, body_low, body_high);
    for (int i = 0; i < 3 && !scene->bodies.data[b].obstacle; i++) {
      low[i] = fmin(low[i], body_low[i]);
      high[i] = fmax(high[i], body_high[i]);
    }
  }
  double diagonal = hypot(hypot(high[0] - low[0], high[1] - low[1]), high[2] - low[2]);
  if (diagonal > 1e3 || diagonal < 1e-4) {
    NoliSceneNode bodies = noli_scene_member(root, "bodies");
    noli_scene_log(source, &bodies, NOLI_LOG_WARNING,
                   "the bodies measure %g m across; are their lengths in metres?", diagonal);
  }
}

// References into meshes, shapes and node lists are complete: hand them to the definition.
static void point_to_arrays(NoliScene* scene) {
  NoliSimDef* def = &scene->def;
#define POINT_TO(list, type, item, ITEM)                                                           \
  def->list = scene->list.data;                                                                    \
  def->n_##list = (int32_t)scene->list.count;
  NOLI_DEFINITION_LISTS(POINT_TO)
#undef POINT_TO
}

// The file, for messages about what has no other place in it; as places in it begin.
static NoliStatus name_file(const NoliSceneSource* source, NoliScene* scene) {
  NoliStatus status = NOLI_OK;
  enum { SIZE = 301 };
  char* text = NULL;
  NOLI_NEW(scene->context, text, SIZE);
  snprintf(text, SIZE, "%s", source->name);
  scene->def.where = text;
  NOLI_TRY(noli_scene_own(scene, text));
done:
  return status;
}

NoliStatus noli_scene_build(const NoliSceneSource* source, NoliScene* scene) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode root = noli_scene_root(scene->root);
  scene->def = noli_default_sim_def();
  noli_scene_store(&root, &noli_scene_format, &scene->def, sizeof scene->def);
  scene->def.audit = read_audit(&root);
  NOLI_TRY(name_file(source, scene));
  NOLI_TRY(build_read_time(source, &root, scene));
  NOLI_TRY(read_output(source, &root, scene));
  NOLI_TRY(noli_scene_check_contact(source, &root, &scene->def));
  NOLI_TRY(noli_scene_build_bodies(source, scene, &root));
  NOLI_TRY(noli_scene_build_motions(source, scene, &root));
  NOLI_TRY(noli_scene_build_forces(source, scene, &root));
  NOLI_TRY(noli_scene_build_pairs(source, scene, &root));
  NOLI_TRY(noli_scene_build_connections(source, scene, &root));
  NOLI_TRY(noli_scene_build_probes(source, scene, &root));
  NOLI_TRY(noli_scene_build_design(source, scene, &root));
  NOLI_TRY(noli_scene_move_to_rest(scene));
  warn_of_units(source, scene, &root);
  point_to_arrays(scene);
done:
  return status;
}
