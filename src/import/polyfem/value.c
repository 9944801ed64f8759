#include "import/polyfem/polyfem.h"
#include "import/polyfem/expression.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- units --------------------------------------------------------------------------------------

static const struct {
  const char* name;
  NoliPolyfemUnit kind;
  double factor;
} units[] = {
    {"m", NOLI_POLYFEM_LENGTH, 1.0},
    {"mm", NOLI_POLYFEM_LENGTH, 1e-3},
    {"cm", NOLI_POLYFEM_LENGTH, 1e-2},
    {"dm", NOLI_POLYFEM_LENGTH, 1e-1},
    {"km", NOLI_POLYFEM_LENGTH, 1e3},
    {"um", NOLI_POLYFEM_LENGTH, 1e-6},
    {"in", NOLI_POLYFEM_LENGTH, 0.0254},
    {"ft", NOLI_POLYFEM_LENGTH, 0.3048},
    {"s", NOLI_POLYFEM_TIME, 1.0},
    {"ms", NOLI_POLYFEM_TIME, 1e-3},
    {"us", NOLI_POLYFEM_TIME, 1e-6},
    {"min", NOLI_POLYFEM_TIME, 60.0},
    {"m/s", NOLI_POLYFEM_VELOCITY, 1.0},
    {"mm/s", NOLI_POLYFEM_VELOCITY, 1e-3},
    {"cm/s", NOLI_POLYFEM_VELOCITY, 1e-2},
    {"m/s^2", NOLI_POLYFEM_ACCELERATION, 1.0},
    {"cm/s^2", NOLI_POLYFEM_ACCELERATION, 1e-2},
    {"mm/s^2", NOLI_POLYFEM_ACCELERATION, 1e-3},
    {"Pa", NOLI_POLYFEM_STRESS, 1.0},
    {"N/m^2", NOLI_POLYFEM_STRESS, 1.0},
    {"kPa", NOLI_POLYFEM_STRESS, 1e3},
    {"MPa", NOLI_POLYFEM_STRESS, 1e6},
    {"GPa", NOLI_POLYFEM_STRESS, 1e9},
    {"kg/m^3", NOLI_POLYFEM_DENSITY, 1.0},
    {"g/cm^3", NOLI_POLYFEM_DENSITY, 1e3},
};

NoliStatus noli_polyfem_unit(const NoliPolyfem* import, const NoliSceneNode* node, const char* name,
                             NoliPolyfemUnit kind, double* factor) {
  NoliStatus status = NOLI_OK;
  *factor = 1.0;
  if (name[0] == '\0') {
    goto done;
  }
  char known[400] = "";
  for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
    if (units[i].kind == kind) {
      if (strcmp(units[i].name, name) == 0) {
        *factor = units[i].factor;
        goto done;
      }
      size_t used = strlen(known);
      snprintf(known + used, sizeof known - used, "%s%s", used > 0 ? ", " : "", units[i].name);
    }
  }
  NOLI_POLYFEM_CHECK(import, node, false, "unit \"%.40s\" does not fit; known: %s", name,
                     known[0] != '\0' ? known : "none");
done:
  return status;
}

// Splits {"value": ..., "unit": ...} into the node of the value and the factor of the unit.
static NoliStatus take_unit(const NoliPolyfem* import, const NoliSceneNode* node,
                            NoliPolyfemUnit kind, NoliSceneNode* value, double* factor) {
  NoliStatus status = NOLI_OK;
  *value = *node;
  *factor = 1.0;
  if (!json_is_object(node->value)) {
    goto done;
  }
  NoliSceneNode unit = noli_scene_member(node, "unit");
  *value = noli_scene_member(node, "value");
  NOLI_POLYFEM_CHECK(import, node, json_object_get(node->value, "file_name") == NULL,
                     "values from Python are not supported; write an expression in x, y, z, t");
  NOLI_POLYFEM_CHECK(import, node, value->value != NULL, "\"value\" is missing");
  if (json_is_string(unit.value)) {
    NOLI_TRY(noli_polyfem_unit(import, &unit, noli_scene_string(&unit), kind, factor));
  }
done:
  return status;
}

// ---- reading ------------------------------------------------------------------------------------

static bool is_absent(const NoliSceneNode* node) {
  return node->value == NULL || json_is_null(node->value);
}

NoliStatus noli_polyfem_number(const NoliPolyfem* import, const NoliSceneNode* node,
                               NoliPolyfemUnit kind, double* value) {
  NoliStatus status = NOLI_OK;
  if (is_absent(node)) {
    goto done;
  }
  NoliSceneNode inner;
  double factor;
  NOLI_TRY(take_unit(import, node, kind, &inner, &factor));
  NOLI_POLYFEM_CHECK(import, node, json_is_number(inner.value), "must be a number");
  *value = noli_scene_number(&inner) * factor;
done:
  return status;
}

NoliStatus noli_polyfem_integer(const NoliPolyfem* import, const NoliSceneNode* node,
                                int32_t* value) {
  NoliStatus status = NOLI_OK;
  if (is_absent(node)) {
    goto done;
  }
  double number = noli_scene_number(node);
  NOLI_POLYFEM_CHECK(import, node,
                     json_is_number(node->value) && number == floor(number) && fabs(number) < 2e9,
                     "must be an integer");
  *value = (int32_t)number;
done:
  return status;
}

NoliStatus noli_polyfem_bool(const NoliPolyfem* import, const NoliSceneNode* node, bool* value) {
  NoliStatus status = NOLI_OK;
  if (is_absent(node)) {
    goto done;
  }
  NOLI_POLYFEM_CHECK(import, node, json_is_boolean(node->value), "must be true or false");
  *value = json_is_true(node->value);
done:
  return status;
}

NoliStatus noli_polyfem_text(const NoliPolyfem* import, const NoliSceneNode* node,
                             const char** text) {
  NoliStatus status = NOLI_OK;
  if (is_absent(node)) {
    goto done;
  }
  NOLI_POLYFEM_CHECK(import, node, json_is_string(node->value), "must be text");
  *text = noli_scene_string(node);
done:
  return status;
}

NoliStatus noli_polyfem_vector(const NoliPolyfem* import, const NoliSceneNode* node,
                               NoliPolyfemUnit kind, double value[3], int32_t* n) {
  NoliStatus status = NOLI_OK;
  *n = 0;
  if (is_absent(node)) {
    goto done;
  }
  size_t size = noli_scene_size(node);
  NOLI_POLYFEM_CHECK(import, node, json_is_array(node->value) && size <= 3,
                     "must be a list of up to 3 numbers");
  for (size_t i = 0; i < 3; i++) {
    value[i] = 0.0;
    NoliSceneNode item = noli_scene_item(node, i);
    NOLI_TRY(noli_polyfem_number(import, &item, kind, &value[i]));
  }
  *n = import->flat && size == 2 ? 3 : (int32_t)size;
done:
  return status;
}

// An expression as text: "factor*(...)*shape".
static NoliStatus build_expression(const NoliPolyfem* import, const NoliSceneNode* node,
                                   double factor, const char* shape, NoliSceneText* text) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = import->source.context;
  NoliPolyfemLevel level = NOLI_POLYFEM_ATOM;
  if (factor != 1.0 && factor != -1.0) {
    NOLI_TRY(noli_polyfem_append_number(context, text, factor, &level));
    NOLI_TRY(noli_scene_append(context, text, "*"));
  }
  int64_t start = text->count;
  if (json_is_number(node->value)) {
    NOLI_TRY(noli_polyfem_append_number(context, text, noli_scene_number(node), &level));
  } else {
    NOLI_TRY(noli_polyfem_translate(&import->source, node, import->t0, text, &level));
  }

  if (factor != 1.0 || (shape != NULL && level < NOLI_POLYFEM_PRODUCT)) {
    NOLI_TRY(noli_polyfem_wrap(context, text, start, &level,
                               factor == -1.0 ? NOLI_POLYFEM_POWER : NOLI_POLYFEM_ATOM));
  }
  if (factor == -1.0) {
    NOLI_TRY(noli_scene_append(context, text, " "));
    memmove(text->data + start + 1, text->data + start, (size_t)(text->count - 1 - start));
    text->data[start] = '-';
  }

  if (shape != NULL) {
    NOLI_TRY(noli_scene_append(context, text, "*%s", shape));
  }
done:
  return status;
}

NoliStatus noli_polyfem_expression(const NoliPolyfem* import, const NoliSceneNode* node,
                                   NoliPolyfemUnit kind, double factor, const char* shape,
                                   json_t** out) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = import->source.context;
  NoliSceneText text = {0};
  NoliSceneNode inner;
  double unit;
  NOLI_TRY(take_unit(import, node, kind, &inner, &unit));
  double number = noli_scene_number(&inner) * unit * factor;
  if (json_is_number(inner.value) && (shape == NULL || number == 0.0)) {
    *out = noli_polyfem_json_number(number);
  } else {
    NOLI_POLYFEM_CHECK(import, node, json_is_string(inner.value) || json_is_number(inner.value),
                       "must be a number or an expression");
    NOLI_TRY(build_expression(import, &inner, unit * factor, shape, &text));
    *out = json_string(text.data);
  }
  NOLI_CHECK(context, *out != NULL, NOLI_ERROR_MEMORY, "out of memory");
done:
  noli_array_free(context, &text);
  return status;
}

size_t noli_polyfem_count(const NoliSceneNode* node) {
  return json_is_array(node->value) ? noli_scene_size(node) : is_absent(node) ? 0 : 1;
}

NoliSceneNode noli_polyfem_entry(const NoliSceneNode* node, size_t index) {
  return json_is_array(node->value) ? noli_scene_item(node, index) : *node;
}

bool noli_polyfem_has_id(const NoliSceneNode* node, int32_t id) {
  for (size_t i = 0; i < noli_polyfem_count(node); i++) {
    NoliSceneNode entry = noli_polyfem_entry(node, i);
    if (json_is_integer(entry.value) && json_integer_value(entry.value) == id) {
      return true;
    }
  }
  return false;
}

// ---- writing ------------------------------------------------------------------------------------

NoliStatus noli_polyfem_set(const NoliPolyfem* import, json_t* object, const char* key,
                            json_t* value) {
  if (value == NULL || json_object_set_new(object, key, value) != 0) {
    return noli_fail(import->source.context, NOLI_ERROR_MEMORY, "out of memory");
  }
  return NOLI_OK;
}

NoliStatus noli_polyfem_push(const NoliPolyfem* import, json_t* list, json_t* value) {
  if (value == NULL || json_array_append_new(list, value) != 0) {
    return noli_fail(import->source.context, NOLI_ERROR_MEMORY, "out of memory");
  }
  return NOLI_OK;
}

json_t* noli_polyfem_json_number(double value) {
  bool whole = value == floor(value) && fabs(value) < 1e15;
  return whole ? json_integer((json_int_t)value) : json_real(value);
}

json_t* noli_polyfem_json_vector(const double value[3]) {
  json_t* list = json_array();
  for (int i = 0; i < 3; i++) {
    if (json_array_append_new(list, noli_polyfem_json_number(value[i])) != 0) {
      json_decref(list);
      return NULL;
    }
  }
  return list;
}

json_t* noli_polyfem_list(const NoliPolyfem* import, const char* key) {
  json_t* list = json_object_get(import->scene, key);
  if (list == NULL && json_object_set_new(import->scene, key, json_array()) == 0) {
    list = json_object_get(import->scene, key);
  }
  return list;
}
