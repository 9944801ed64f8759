#include "scene/store.h"

#include "scene/check.h"

#include <string.h>

// A number, or a word in its place: the words of a type count as 0, -1, ... in their order.
static double number_or_word(const NoliSceneNode* node, const NoliSceneType* type) {
  const char* word = noli_scene_string(node);
  for (int32_t k = 0; word != NULL && type->alternatives != NULL && type->alternatives[k] != NULL;
       k++) {
    const NoliSceneType* words = type->alternatives[k];
    for (int32_t i = 0; words->choices != NULL && words->choices[i] != NULL; i++) {
      if (strcmp(words->choices[i], word) == 0) {
        return -i;
      }
    }
  }
  return noli_scene_number(node);
}

static void store_value(const NoliSceneNode* node, const NoliSceneField* field, void* member) {
  switch (field->holds) {
  case NOLI_SCENE_HOLDS_BOOL:
    *(bool*)member = noli_scene_true(node);
    break;
  case NOLI_SCENE_HOLDS_INTEGER:
    *(int32_t*)member = (int32_t)number_or_word(node, field->type);
    break;
  case NOLI_SCENE_HOLDS_NUMBER:
    *(double*)member = number_or_word(node, field->type);
    break;
  case NOLI_SCENE_HOLDS_VECTOR:
    noli_scene_vector(node, member);
    break;
  case NOLI_SCENE_HOLDS_TEXT:
    *(const char**)member = noli_scene_string(node);
    break;
  case NOLI_SCENE_HOLDS_SCALED:
    *(NoliScaled*)member = noli_scene_scaled(node);
    break;
  case NOLI_SCENE_HOLDS_NOTHING:
  case NOLI_SCENE_HOLDS_MEMBERS:
    break;
  }
}

// Whether a value is the text of an expression, which build_*.c evaluates, or a list in its place.
static bool is_field(const NoliSceneNode* node, const NoliSceneType* type) {
  bool takes = type->kind == NOLI_SCENE_EXPRESSION;
  for (int32_t k = 0; type->alternatives != NULL && type->alternatives[k] != NULL; k++) {
    takes = takes || type->alternatives[k]->kind == NOLI_SCENE_EXPRESSION;
  }
  return takes && (noli_scene_string(node) != NULL || json_is_array(node->value));
}

void noli_scene_store(const NoliSceneNode* node, const NoliSceneType* type, void* definition,
                      size_t size) {
  for (int32_t i = 0; i < type->n_fields; i++) {
    const NoliSceneField* field = &type->fields[i];
    NoliSceneNode value = noli_scene_member(node, field->key);
    if (value.value == NULL || field->holds == NOLI_SCENE_HOLDS_NOTHING ||
        is_field(&value, field->type)) {
      continue;
    }
    if (field->holds == NOLI_SCENE_HOLDS_MEMBERS) {
      noli_scene_store(&value, field->type, definition, size);
    } else if (field->size == size) {
      store_value(&value, field, (char*)definition + field->offset);
    }
  }
}
