#include "scene/elsewhere.h"

#include "noli/extend.h"

#include <stdio.h>
#include <string.h>

enum {
  MAX_DEPTH = 6,
  MAX_WORDS = 1024,
  MAX_AROUND = 32,
  SURE = 5 // letters of a misspelt key: shorter ones resemble others by chance
};

// A search below one object, at one depth.
typedef struct Search {
  const char* key; // NULL: the keys are gathered
  NoliScenePlaces found;
  bool in_scene; // those found are in objects that the scene has
  const char* word[MAX_WORDS];
  int32_t n_words;
} Search;

static void add_place(Search* search, const char* prefix, const char* key, bool in_scene) {
  NoliScenePlaces* found = &search->found;
  if (in_scene && !search->in_scene) {
    found->n = 0;
    search->in_scene = true;
  }
  if (found->n == NOLI_SCENE_MAX_PLACES || in_scene != search->in_scene) {
    return;
  }
  char* path = found->path[found->n];
  snprintf(path, NOLI_SCENE_PLACE_SIZE, "%s%s%s", prefix, prefix[0] != '\0' ? "." : "", key);
  bool repeated = false; // alternatives may have the same keys
  for (int32_t i = 0; i < found->n; i++) {
    repeated = repeated || strcmp(found->path[i], path) == 0;
  }
  found->n += repeated ? 0 : 1;
}

// Whether an alternative is a list where a single object is another one: "select" or "motion".
static bool lists_another(const NoliSceneType* type, int32_t i) {
  bool object = false;
  for (int32_t j = 0; type->alternatives[j] != NULL; j++) {
    object = object || type->alternatives[j]->kind == NOLI_SCENE_OBJECT;
  }
  return object && type->alternatives[i]->kind == NOLI_SCENE_LIST;
}

// `depth` is the number of keys from here to those that are searched; `value` is what the scene has
// here, or NULL.
static void visit(Search* search, const NoliSceneType* type, const json_t* value,
                  const char* prefix, int32_t depth) {
  char path[NOLI_SCENE_PLACE_SIZE];
  switch (type->kind) {
  case NOLI_SCENE_EITHER:
    for (int32_t i = 0; type->alternatives[i] != NULL; i++) {
      if (!lists_another(type, i)) {
        visit(search, type->alternatives[i], value, prefix, depth);
      }
    }
    return;
  case NOLI_SCENE_LIST:
    snprintf(path, sizeof path, "%s[]", prefix);
    visit(search, type->item, json_array_get(value, 0), path, depth);
    return;
  case NOLI_SCENE_OBJECT:
    break;
  default:
    return;
  }

  for (int32_t i = 0; i < type->n_fields; i++) {
    const NoliSceneField* field = &type->fields[i];
    if (depth > 1) {
      snprintf(path, sizeof path, "%s%s%s", prefix, prefix[0] != '\0' ? "." : "", field->key);
      visit(search, field->type, json_object_get(value, field->key), path, depth - 1);
    } else if (search->key == NULL) {
      search->word[search->n_words] = field->key;
      search->n_words += search->n_words < MAX_WORDS - 1 ? 1 : 0;
    } else if (strcmp(field->key, search->key) == 0) {
      add_place(search, prefix, field->key, json_is_object(value));
    }
  }
}

// An object of the scene around the unknown key, and its type.
typedef struct Around {
  const NoliSceneNode* node;
  const NoliSceneType* type;
} Around;

// The type of the value at one step below a type; NULL: the format does not have it.
static const NoliSceneType* enter(const NoliSceneType* type, const NoliSceneStep* step) {
  if (type->kind == NOLI_SCENE_EITHER) {
    const NoliSceneType* found = NULL;
    for (int32_t i = 0; type->alternatives[i] != NULL && found == NULL; i++) {
      found = enter(type->alternatives[i], step);
    }
    return found;
  }
  if (type->kind == NOLI_SCENE_LIST) {
    return step->key == NULL ? type->item : NULL;
  }
  for (int32_t i = 0; i < type->n_fields && step->key != NULL; i++) {
    if (strcmp(type->fields[i].key, step->key) == 0) {
      return type->fields[i].type;
    }
  }
  return NULL;
}

// The objects and lists around a key, the innermost first; returns their number.
static int32_t list_around(const NoliSceneNode* holder, const NoliSceneType* root,
                           Around around[MAX_AROUND]) {
  int32_t n = 0;
  for (const NoliSceneNode* at = holder; at != NULL && n < MAX_AROUND; at = at->parent) {
    around[n++].node = at;
  }
  const NoliSceneType* type = root;
  for (int32_t i = n - 1; i >= 0; i--) {
    type = i < n - 1 && type != NULL ? enter(type, &around[i].node->step) : type;
    around[i].type = type;
  }
  return n;
}

// Below one object, the least deep places; `around` 0 is the object of the key itself.
static NoliScenePlaces search_below(const Around* at, bool own, const char* key) {
  char prefix[NOLI_SCENE_PLACE_SIZE] = "";
  if (!own && at->node->parent != NULL) {
    noli_scene_path(at->node, prefix, sizeof prefix);
  }
  Search search = {.key = key};
  for (int32_t depth = own ? 2 : 1; depth <= MAX_DEPTH && search.found.n == 0; depth++) {
    visit(&search, at->type, at->node->value, prefix, depth);
  }
  return search.found;
}

NoliScenePlaces noli_scene_find_elsewhere(const NoliSceneNode* holder, const NoliSceneType* root,
                                          const char* key, bool misspelt) {
  Around around[MAX_AROUND];
  NoliScenePlaces found = {.n = 0};
  int32_t n = list_around(holder, root, around);
  for (int32_t i = 0; i < n && found.n == 0; i++) {
    if (around[i].type != NULL && around[i].type->kind != NOLI_SCENE_LIST) {
      found = search_below(&around[i], i == 0, key);
    }
  }
  if (found.n == 0 && misspelt && around[0].type != NULL && strlen(key) >= SURE) {
    Search words = {.key = NULL};
    for (int32_t depth = 2; depth <= MAX_DEPTH; depth++) {
      visit(&words, around[0].type, NULL, "", depth);
    }
    const char* nearest = noli_nearest(key, words.word, words.n_words);
    found = nearest != NULL ? search_below(&around[0], true, nearest) : found;
  }
  return found;
}
