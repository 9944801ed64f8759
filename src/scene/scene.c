#define _XOPEN_SOURCE 700
#include "noli/scene.h"

#include "base/sized.h"
#include "define/definition.h"
#include "scene/build.h"
#include "scene/check.h"
#include "scene/file_names.h"
#include "scene/files.h"
#include "scene/format.h"
#include "scene/movable.h"
#include "scene/origins.h"
#include "scene/override.h"
#include "text/cursor.h"
#include "text/json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- text ---------------------------------------------------------------------------------------

// A comment is what people try first in a file of settings; the parser sees an invalid token.
static NoliStatus fail_json(const NoliSceneSource* source, const json_error_t* error) {
  const char* comment = noli_scene_find_comment(source->text, source->size);
  int line = 1, column = 1;
  for (const char* at = source->text; comment != NULL && at < comment; at++) {
    column = *at == '\n' ? 1 : column + 1;
    line += *at == '\n';
  }
  // what the parser could not read is the comment itself
  if (comment != NULL && line == error->line && error->column >= column &&
      error->column <= column + 2) {
    return noli_fail(source->context, NOLI_ERROR_FORMAT,
                     "%.300s:%d:%d: a comment; JSON has none: take it away", source->name, line,
                     column);
  }
  return noli_fail(source->context, NOLI_ERROR_FORMAT, "%.300s:%d:%d: %s", source->name,
                   error->line, error->column, error->text);
}

static NoliStatus parse_json(const NoliSceneSource* source, json_t** root) {
  NoliStatus status = NOLI_OK;
  json_error_t error;
  NOLI_TRY(noli_scene_read_json(source->context, source->text, source->size,
                                JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, root, &error));
  if (*root == NULL) {
    status = fail_json(source, &error);
  }
done:
  return status;
}

// ---- names and paths ----------------------------------------------------------------------------

// The last part of a path without its suffix, "stdin" of "<stdin>"; "scene" if nothing is left.
static char* default_name(NoliContext* context, const char* path) {
  const char* slash = strrchr(path, '/');
  size_t length = strlen(path);
  bool bracketed = path[0] == '<' && path[length - 1] == '>';
  char* name = noli_strdup(context, slash != NULL ? slash + 1 : path + (bracketed ? 1 : 0));
  if (bracketed && name != NULL && slash == NULL) {
    name[length - 2] = '\0';
  }
  char* dot = name != NULL ? strrchr(name, '.') : NULL;
  if (dot != NULL && dot != name) {
    *dot = '\0';
  }
  if (name != NULL && name[0] == '\0') {
    noli_free(context, name);
    name = noli_strdup(context, "scene");
  }
  return name;
}

// The name becomes part of the scene, so that it survives when the scene is written elsewhere.
static NoliStatus set_name(const NoliSceneSource* source, NoliScene* scene) {
  NoliStatus status = NOLI_OK;
  json_t* given = json_object_get(scene->root, "name");
  scene->name = given != NULL ? noli_strdup(source->context, json_string_value(given))
                              : default_name(source->context, source->name);
  NOLI_CHECK(source->context, scene->name != NULL, NOLI_ERROR_MEMORY, "out of memory");
  if (given == NULL) {
    // a file name need not be UTF-8
    json_t* name = json_string(scene->name);
    NOLI_CHECK(
        source->context,
        json_object_set_new(scene->root, "name", name != NULL ? name : json_string("scene")) == 0,
        NOLI_ERROR_MEMORY, "out of memory");
  }
done:
  return status;
}

typedef struct Absolute {
  const NoliSceneInput* input;
  const char* directory;
  bool failed;
} Absolute;

// The name of a file as seen from any folder.
static json_t* make_absolute(void* user, const char* name) {
  Absolute* absolute = user;
  const char* now = noli_scene_name_now(absolute->input, name);
  char* path = noli_scene_absolute_path(absolute->directory, now);
  json_t* made = path != NULL ? json_string(path) : NULL;
  absolute->failed = absolute->failed || made == NULL;
  free(path);
  return made;
}

// Done last, so that messages show the paths that the user wrote.
static NoliStatus make_paths_absolute(const NoliSceneSource* source, json_t* root) {
  NoliStatus status = NOLI_OK;
  const char* given =
      source->directory != NULL && source->directory[0] != '\0' ? source->directory : ".";
  errno = 0;
  char* directory = realpath(given, NULL);
  json_t* valid = NULL;
  NOLI_CHECK(source->context, directory != NULL || errno != ENOMEM, NOLI_ERROR_MEMORY,
             "out of memory");
  // paths that are not UTF-8 cannot stand in JSON: they stay relative
  valid = json_string(directory != NULL ? directory : given);
  Absolute absolute = {source->user, directory != NULL ? directory : given, false};
  NOLI_CHECK(source->context,
             valid == NULL ||
                 (noli_scene_rename_files(root, make_absolute, &absolute) && !absolute.failed),
             NOLI_ERROR_MEMORY, "out of memory");
done:
  json_decref(valid);
  free(directory);
  return status;
}

// ---- scenes -------------------------------------------------------------------------------------

static void release_building(NoliScene* scene) {
  for (int64_t i = 0; i < scene->shapes.count; i++) {
    noli_scene_release_shape(scene->context, &scene->shapes.data[i]);
  }
  noli_array_free(scene->context, &scene->shapes);
  for (int64_t i = 0; i < scene->spaces.count; i++) {
    noli_space_destroy(scene->context, &scene->spaces.data[i]);
  }
  noli_array_free(scene->context, &scene->spaces);
  noli_array_free(scene->context, &scene->entities);
  json_decref(scene->names);
  scene->names = NULL;
}

// Names and other values that were filled in late move to their places. Texts that the definition
// refers to are shared by both trees.
static NoliStatus reorder(const NoliSceneSource* source, NoliScene* scene) {
  NoliStatus status = NOLI_OK;
  json_t* ordered = NULL;
  NoliSceneNode root = noli_scene_root(scene->root);
  NOLI_TRY(noli_scene_check(source, &root, &noli_scene_format, &ordered));
  json_decref(scene->root);
  scene->root = ordered;
done:
  return status;
}

// From text to definition.
static NoliStatus read_scene(NoliSceneSource* source, NoliScene* scene) {
  NoliStatus status = NOLI_OK;
  json_t *parsed = NULL, *written = NULL;
  size_t skipped = (size_t)noli_mark_size(source->text, (int64_t)source->size);
  source->text += skipped;
  source->size -= skipped;
  NOLI_TRY(noli_scene_require_text(source->context, source->name, source->text, source->size));
  NOLI_TRY(parse_json(source, &parsed));

  // overrides may replace what their own paths name
  NoliSceneInput* input = source->user;
  written = input->n_overrides > 0 ? json_deep_copy(parsed) : NULL;
  NOLI_CHECK(source->context, input->n_overrides <= 0 || written != NULL, NOLI_ERROR_MEMORY,
             "out of memory");
  input->tree = written;
  NOLI_TRY(noli_scene_apply_overrides(source, parsed));
  NoliSceneNode root = noli_scene_root(parsed);
  NOLI_TRY(noli_scene_admit_design(source, &root));
  NOLI_TRY(noli_scene_check(source, &root, &noli_scene_format, &scene->root));
  NOLI_TRY(noli_scene_take_origins(source, scene->root));
  NOLI_TRY(set_name(source, scene));
  NOLI_TRY(noli_scene_build(source, scene));
  NOLI_TRY(make_paths_absolute(source, scene->root));
  NOLI_TRY(reorder(source, scene));
done:
  json_decref(parsed);
  json_decref(written);
  release_building(scene);
  return status;
}

static NoliStatus make_scene(NoliSceneSource source, NoliSceneInput input, NoliScene** scene) {
  NoliStatus status = NOLI_OK;
  NoliScene* made = NULL;
  NOLI_NEW_ZERO(source.context, made, 1);
  made->context = source.context;
  NOLI_NEW_ZERO(source.context, made->views, 1);
  NOLI_TRY(noli_scene_create_lock(source.context, &made->variables.lock));
  input.files = &made->files;
  source.where = noli_scene_where_native;
  source.user = &input;
  NOLI_TRY(read_scene(&source, made));
  if (input.changed != NULL) {
    made->changed_file = noli_strdup(source.context, input.changed);
    NOLI_CHECK(source.context, made->changed_file != NULL, NOLI_ERROR_MEMORY, "out of memory");
  }
  *scene = made;
  made = NULL;
done:
  noli_scene_release_origins(source.context, &input);
  noli_scene_destroy(&made);
  return status;
}

NoliStatus noli_scene_load(NoliContext* context, const char* path,
                           const NoliSceneOverride* overrides, int32_t n_overrides,
                           NoliScene** scene) {
  NOLI_REQUIRE(context, context != NULL && path != NULL && scene != NULL);
  NoliStatus status = NOLI_OK;
  NoliSceneText text = {0};
  char* directory = NULL;
  *scene = NULL;
  NOLI_TRY(noli_scene_read_file(context, path, &text));
  NOLI_TRY(noli_scene_directory(context, path, &directory));
  NOLI_TRY(make_scene((NoliSceneSource){.context = context,
                                        .name = path,
                                        .text = text.data,
                                        .size = (size_t)text.count,
                                        .directory = directory},
                      (NoliSceneInput){.overrides = overrides, .n_overrides = n_overrides}, scene));
done:
  noli_array_free(context, &text);
  noli_free(context, directory);
  return status;
}

static NoliStatus parse(NoliContext* context, const char* text, const char* name,
                        const char* directory, NoliSceneInput input, NoliScene** scene) {
  *scene = NULL;
  return make_scene((NoliSceneSource){.context = context,
                                      .name = name,
                                      .text = text,
                                      .size = strlen(text),
                                      .directory = directory},
                    input, scene);
}

NoliStatus noli_scene_parse(NoliContext* context, const char* text, const char* name,
                            const char* directory, const NoliSceneOverride* overrides,
                            int32_t n_overrides, NoliScene** scene) {
  NOLI_REQUIRE(context, context != NULL && text != NULL && scene != NULL);
  return parse(context, text, name != NULL ? name : "scene", directory,
               (NoliSceneInput){
                   .overrides = overrides, .n_overrides = n_overrides, .nameless = name == NULL},
               scene);
}

NoliStatus noli_scene_parse_converted(NoliContext* context, const char* text, const char* name,
                                      const char* directory, const NoliSceneOverride* overrides,
                                      int32_t n_overrides, NoliScene** scene) {
  NOLI_REQUIRE(context, context != NULL && text != NULL && name != NULL && scene != NULL);
  return parse(
      context, text, name, directory,
      (NoliSceneInput){.overrides = overrides, .n_overrides = n_overrides, .converted = true},
      scene);
}

// Objects that own something.
static void release_objects(NoliScene* s) {
  NoliContext* context = s->context;
  release_building(s);
  for (int64_t i = 0; i < s->motions_read.count; i++) {
    noli_scene_release_motion(s->motions_read.data[i]);
    noli_free(context, s->motions_read.data[i]);
  }
  for (int64_t i = 0; i < s->forces_read.count; i++) {
    for (int k = 0; k < 3; k++) {
      noli_scene_release_expression(&s->forces_read.data[i]->value[k]);
    }
    noli_free(context, s->forces_read.data[i]);
  }

  for (int64_t i = 0; i < s->formulas.count; i++) {
    noli_scene_release_formula(context, s->formulas.data[i]);
    noli_free(context, s->formulas.data[i]);
  }
  for (int64_t i = 0; i < s->meshes.count; i++) {
    noli_mesh_destroy(context, &s->meshes.data[i]);
  }
  for (int64_t i = 0; i < s->proxies.count; i++) {
    noli_mesh_destroy(context, &s->proxies.data[i]);
  }
  for (int64_t i = 0; i < s->blocks.count; i++) {
    noli_free(context, s->blocks.data[i]);
  }
  for (int64_t i = 0; s->views != NULL && i < s->views->count; i++) {
    noli_definition_free(context, &s->views->data[i].def);
  }
  if (s->views != NULL) {
    noli_array_free(context, s->views);
  }
  noli_free(context, s->views);
  noli_scene_release_lock(context, &s->variables.lock);
}

void noli_scene_destroy(NoliScene** scene) {
  if (scene == NULL || *scene == NULL) {
    return;
  }
  NoliScene* s = *scene;
  NoliContext* context = s->context;
  release_objects(s);

  // lists
#define FREE_LIST(list, type, item, ITEM) noli_array_free(context, &s->list);
  NOLI_DEFINITION_LISTS(FREE_LIST)
#undef FREE_LIST
  noli_array_free(context, &s->probes);
  noli_array_free(context, &s->meshes);
  noli_array_free(context, &s->proxies);
  noli_array_free(context, &s->motions_read);
  noli_array_free(context, &s->forces_read);
  noli_array_free(context, &s->formulas);
  noli_array_free(context, &s->blocks);

  // files, document, name
  noli_scene_release_files(context, &s->files);
  json_decref(s->root);
  noli_free(context, s->name);
  noli_free(context, s->changed_file);
  noli_free(context, s);
  *scene = NULL;
}

// NULL where memory is exhausted.
static const NoliSimDef* view_for(const NoliScene* scene, const NoliDefSizes* sizes) {
  NoliStatus status = NOLI_OK;
  NoliSceneViews* views = scene->views;
  NoliSceneView view = {0};
  size_t known = sizes->size < sizeof view.sizes ? sizes->size : sizeof view.sizes;
  memcpy(&view.sizes, sizes, known);
  for (int64_t i = 0; i < views->count; i++) {
    if (memcmp(&views->data[i].sizes, &view.sizes, sizeof view.sizes) == 0) {
      return views->data[i].def;
    }
  }
  NOLI_TRY(noli_definition_give(scene->context, &scene->def, sizes, &view.def));
  NOLI_PUSH(scene->context, views, view);
  return view.def;
done:
  noli_definition_free(scene->context, &view.def);
  return NULL;
}

void noli_scene_free_elements(NoliScene* scene) {
  for (int64_t i = 0; scene != NULL && i < scene->meshes.count; i++) {
    NoliMesh* mesh = scene->meshes.data[i];
    if (mesh->curve == NULL) {
      noli_free(scene->context, mesh->tet);
      noli_free(scene->context, mesh->tet_tag);
      mesh->tet = NULL;
      mesh->tet_tag = NULL;
      mesh->n_tet = 0;
    }
  }
}

const NoliSimDef* noli_scene_sim_def_sized(const NoliScene* scene, const NoliDefSizes* sizes) {
  if (scene == NULL || sizes == NULL) {
    return NULL;
  }
  return noli_definition_fits(sizes) ? &scene->def : view_for(scene, sizes);
}

const char* noli_scene_name(const NoliScene* scene) {
  if (scene == NULL) {
    return "";
  }
  return scene->name;
}

int64_t noli_scene_step_count(const NoliScene* scene) {
  if (scene == NULL) {
    return 0;
  }
  return scene->n_steps;
}

double noli_scene_duration(const NoliScene* scene) {
  if (scene == NULL) {
    return 0.0;
  }
  return (double)scene->n_steps * scene->def.time_step;
}

void noli_scene_output_sized(const NoliScene* scene, NoliSceneOutput* output, size_t size) {
  const NoliSceneOutput none = {0};
  noli_sized_give(output, size, scene != NULL ? &scene->output : &none, sizeof none);
}

const NoliDesignDef* noli_scene_design(const NoliScene* scene) {
  return scene != NULL && scene->design.n_variables > 0 ? &scene->design : NULL;
}

NoliStatus noli_scene_require_files(const NoliScene* scene) {
  NoliStatus status = NOLI_OK;
  NOLI_CHECK(scene->context, scene->changed_file == NULL, NOLI_ERROR_FORMAT,
             "%s: \"%s\" has changed since the results were written: restore the file",
             scene->def.where, scene->changed_file);
done:
  return status;
}

const NoliSceneFile* noli_scene_files(const NoliScene* scene, int32_t* n_files) {
  noli_give_count(n_files, scene != NULL ? (int32_t)scene->files.file.count : 0);
  return scene != NULL ? scene->files.file.data : NULL;
}

NoliStatus noli_scene_json(const NoliScene* scene, char** json) {
  NOLI_REQUIRE(scene != NULL ? scene->context : NULL, scene != NULL && json != NULL);
  NoliStatus status = NOLI_OK;
  NoliContext* context = scene->context;
  NoliSceneText text = {0};
  NOLI_TRY(noli_scene_append_json(context, &text, scene->root, 0));
  NOLI_TRY(noli_scene_append(context, &text, "\n"));
  *json = text.data;
  text.data = NULL;
done:
  noli_array_free(context, &text);
  return status;
}

NoliStatus noli_scene_json_in(const NoliScene* scene, const char* directory, char** json) {
  NOLI_REQUIRE(scene != NULL ? scene->context : NULL,
               scene != NULL && directory != NULL && json != NULL);
  NoliStatus status = NOLI_OK;
  char* text = NULL;
  NOLI_TRY(noli_scene_json(scene, &text));
  NOLI_TRY(noli_scene_movable_text(scene->context, text, directory, scene->files.file.data,
                                   (int32_t)scene->files.file.count, json));
done:
  noli_free(scene->context, text);
  return status;
}

void noli_scene_free_text(NoliContext* context, char** text) {
  if (text != NULL) {
    noli_free(context, *text);
    *text = NULL;
  }
}
