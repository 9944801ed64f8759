#include "import/polyfem/polyfem.h"
#include "text/json.h"

#include <string.h>

// ---- conditions ---------------------------------------------------------------------------------

// Component `axis` of the displacement that a condition gives.
static NoliStatus read_component(NoliPolyfem* import, const NoliSceneNode* condition, size_t axis,
                                 json_t** out) {
  NoliStatus status = NOLI_OK;
  NoliSceneText shape = {0};
  NoliSceneNode value = noli_scene_member(condition, "value");
  NoliSceneNode component = noli_scene_item(&value, axis);
  NoliSceneNode interpolation = noli_scene_member(condition, "interpolation");
  size_t n = noli_polyfem_count(&interpolation), space = import->flat ? 2 : 3;
  NOLI_POLYFEM_CHECK(import, &value, noli_scene_size(&value) == space,
                     "must be a list of %d values", (int)space);
  if (axis == space) {
    // what is said about z does not matter
    *out = json_integer(0);
    goto done;
  }

  if (n > 0) {
    NOLI_POLYFEM_CHECK(import, &interpolation, n == 1 || n == space, "must be one or %d",
                       (int)space);
    NoliSceneNode item = noli_polyfem_entry(&interpolation, n == 1 ? 0 : axis);
    NOLI_TRY(noli_polyfem_append_interpolation(import, &item, &shape));
  }

  NOLI_TRY(noli_polyfem_expression(import, &component, NOLI_POLYFEM_LENGTH, 1.0,
                                   shape.count > 0 ? shape.data : NULL, out));
done:
  noli_array_free(import->source.context, &shape);
  return status;
}

static bool boundary_is_zero(const json_t* value) {
  return json_is_number(value) && json_number_value(value) == 0.0;
}

// A motion from three components; where all are 0 it is to stay.
static NoliStatus make_motion(NoliPolyfem* import, json_t* component[3], json_t** motion) {
  NoliStatus status = NOLI_OK;
  *motion = json_object();
  if (boundary_is_zero(component[0]) && boundary_is_zero(component[1]) &&
      boundary_is_zero(component[2])) {
    NOLI_TRY(noli_polyfem_set(import, *motion, "hold", json_true()));
    goto done;
  }
  json_t* list = json_array();
  NOLI_TRY(noli_polyfem_set(import, *motion, "displacement", list));
  for (int i = 0; i < 3; i++) {
    NOLI_TRY(noli_polyfem_push(import, list, json_incref(component[i])));
  }
done:
  return status;
}

static NoliSceneNode conditions(const NoliPolyfem* import, NoliSceneNode* parent, const char* key) {
  *parent = noli_scene_member(&import->root, "boundary_conditions");
  return noli_scene_member(parent, key);
}

static bool is_all(const NoliSceneNode* id) {
  return json_is_string(id->value) && strcmp(noli_scene_string(id), "all") == 0;
}

// The entry that counts for an obstacle: the first with its number or "all"; lists of numbers do
// not end the search.
static bool find_for_obstacle(const NoliSceneNode* list, int32_t id, size_t* found) {
  bool any = false;
  for (size_t i = 0; i < noli_polyfem_count(list); i++) {
    NoliSceneNode item = noli_polyfem_entry(list, i);
    NoliSceneNode item_id = noli_scene_member(&item, "id");
    if (is_all(&item_id) || noli_polyfem_has_id(&item_id, id)) {
      *found = i;
      any = true;
      if (!json_is_array(item_id.value)) {
        break;
      }
    }
  }
  return any;
}

NoliStatus noli_polyfem_obstacle_motion(NoliPolyfem* import, int32_t id, json_t** motion) {
  NoliStatus status = NOLI_OK;
  static const char* const keys[] = {"obstacle_displacements", "dirichlet_boundary"};
  json_t* component[3] = {NULL};
  NoliSceneNode parent, list = {0};
  size_t found = 0;
  bool any = false;
  for (size_t k = 0; k < 2 && !any; k++) {
    list = conditions(import, &parent, keys[k]);
    any = find_for_obstacle(&list, id, &found);
  }
  *motion = NULL;
  if (!any) {
    goto done;
  }
  NoliSceneNode item = noli_polyfem_entry(&list, found);
  bool moves = false;
  for (size_t i = 0; i < 3; i++) {
    NOLI_TRY(read_component(import, &item, i, &component[i]));
    moves = moves || !boundary_is_zero(component[i]);
  }

  // obstacles stand still without a motion
  if (moves) {
    NOLI_TRY(make_motion(import, component, motion));
  }
done:
  for (int i = 0; i < 3; i++) {
    json_decref(component[i]);
  }
  return status;
}

// ---- vertices of bodies -------------------------------------------------------------------------

// Which condition holds each component of a vertex; NOLI_NULL_INDEX: none.
typedef struct Held {
  int32_t condition[3];
} Held;

// The condition for a number of a face: the first that names it; of a point: the last.
static int32_t find_condition(const NoliSceneNode* list, int32_t id, bool last) {
  int32_t found = NOLI_NULL_INDEX;
  for (size_t i = 0; i < noli_polyfem_count(list); i++) {
    NoliSceneNode item = noli_polyfem_entry(list, i);
    NoliSceneNode item_id = noli_scene_member(&item, "id");
    if (noli_polyfem_has_id(&item_id, id)) {
      found = (int32_t)i;
      if (!last) {
        break;
      }
    }
  }
  return found;
}

static NoliStatus read_dimension(NoliPolyfem* import, const NoliSceneNode* condition,
                                 bool dimension[3]) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode list = noli_scene_member(condition, "dimension");
  NOLI_POLYFEM_CHECK(import, &list, noli_scene_size(&list) <= 3, "must be a list of 3");
  for (size_t i = 0; i < 3; i++) {
    dimension[i] = true;
    NoliSceneNode item = noli_scene_item(&list, i);
    NOLI_TRY(noli_polyfem_bool(import, &item, &dimension[i]));
  }
done:
  return status;
}

static void hold(Held* held, int32_t condition, const bool (*dimension)[3]) {
  for (int i = 0; condition != NOLI_NULL_INDEX && i < 3; i++) {
    if (dimension[condition][i]) {
      held->condition[i] = condition;
    }
  }
}

// Faces first, in their order, then points: later ones win, component by component.
static void hold_vertices(const NoliPolyfemBody* body, const NoliSceneNode* list,
                          const bool (*dimension)[3], int32_t all, Held* held) {
  int32_t last_id = INT32_MIN, condition = NOLI_NULL_INDEX;
  for (int64_t f = 0; f < body->n_face; f++) {
    int32_t id = body->face_id != NULL ? body->face_id[f] : INT32_MAX;
    if (id != last_id) {
      condition = all != NOLI_NULL_INDEX ? all : find_condition(list, id, false);
      last_id = id;
    }
    for (int32_t k = 0; k < body->face_size; k++) {
      hold(&held[body->face[body->face_size * f + k]], condition, dimension);
    }
  }
  last_id = INT32_MIN;
  for (int32_t v = 0; body->node_id != NULL && v < body->mesh->n_vert; v++) {
    if (body->node_id[v] != last_id) {
      last_id = body->node_id[v];
      condition = find_condition(list, last_id, true);
    }
    if (body->used[v]) {
      hold(&held[v], condition, dimension);
    }
  }
}

// {"vertices": [...]} of all vertices that are held as `pattern`, or "all".
static NoliStatus select_vertices(NoliPolyfem* import, const NoliPolyfemBody* body,
                                  const Held* held, const Held* pattern, json_t** select) {
  NoliStatus status = NOLI_OK;
  json_t* list = json_array();
  bool all = true;
  for (int32_t v = 0; v < body->mesh->n_vert; v++) {
    bool same = memcmp(&held[v], pattern, sizeof *pattern) == 0;
    all = all && (same || !body->used[v]);
    if (same && body->used[v]) {
      NOLI_TRY(noli_polyfem_push(import, list, json_integer(v)));
    }
  }
  if (all) {
    *select = json_string("all");
  } else {
    *select = json_object();
    NOLI_TRY(noli_polyfem_set(import, *select, "vertices", json_incref(list)));
  }
done:
  json_decref(list);
  return status;
}

// Entries of "prescribed" for the vertices of a body that are held as `pattern`.
static NoliStatus prescribe(NoliPolyfem* import, const NoliPolyfemBody* body,
                            const NoliSceneNode* list, const Held* held, const Held* pattern) {
  NoliStatus status = NOLI_OK;
  json_t *component[3] = {NULL}, *select = NULL, *motion = NULL;
  for (size_t i = 0; i < 3; i++) {
    if (pattern->condition[i] == NOLI_NULL_INDEX) {
      component[i] = json_string("free");
      continue;
    }
    NoliSceneNode item = noli_polyfem_entry(list, (size_t)pattern->condition[i]);
    NOLI_TRY(read_component(import, &item, i, &component[i]));
  }

  NOLI_TRY(make_motion(import, component, &motion));
  NOLI_TRY(select_vertices(import, body, held, pattern, &select));
  for (size_t k = 0; k < json_array_size(body->names); k++) {
    json_t* native = json_object();
    NOLI_TRY(noli_polyfem_push(import, noli_polyfem_list(import, "prescribed"), native));
    NOLI_TRY(noli_polyfem_set(import, native, "body", json_incref(json_array_get(body->names, k))));
    NOLI_TRY(noli_polyfem_set(import, native, "select", json_incref(select)));
    NOLI_TRY(noli_polyfem_set(import, native, "motion", json_incref(motion)));
  }
done:
  for (int i = 0; i < 3; i++) {
    json_decref(component[i]);
  }
  json_decref(select);
  json_decref(motion);
  return status;
}

// Marks in `acts` the conditions that hold something.
static NoliStatus prescribe_body(NoliPolyfem* import, const NoliPolyfemBody* body,
                                 const NoliSceneNode* list, const bool (*dimension)[3], int32_t all,
                                 bool* acts) {
  NoliStatus status = NOLI_OK;
  static const Held free_vertex = {{NOLI_NULL_INDEX, NOLI_NULL_INDEX, NOLI_NULL_INDEX}};
  Held* held = NULL;
  NOLI_ARRAY(Held) patterns = {0};
  NOLI_NEW(import->source.context, held, body->mesh->n_vert);
  for (int32_t v = 0; v < body->mesh->n_vert; v++) {
    held[v] = free_vertex;
  }
  hold_vertices(body, list, dimension, all, held);
  for (int32_t v = 0; v < body->mesh->n_vert; v++) {
    bool known = memcmp(&held[v], &free_vertex, sizeof free_vertex) == 0;
    for (int64_t k = 0; k < patterns.count && !known; k++) {
      known = memcmp(&held[v], &patterns.data[k], sizeof *held) == 0;
    }
    if (!known) {
      NOLI_PUSH(import->source.context, &patterns, held[v]);
    }
  }

  for (int64_t k = 0; k < patterns.count; k++) {
    for (int i = 0; i < 3; i++) {
      if (patterns.data[k].condition[i] != NOLI_NULL_INDEX) {
        acts[patterns.data[k].condition[i]] = true;
      }
    }
    NOLI_TRY(prescribe(import, body, list, held, &patterns.data[k]));
  }
done:
  noli_free(import->source.context, held);
  noli_array_free(import->source.context, &patterns);
  return status;
}

// A condition that neither a body nor an obstacle has is more likely a slip than meant.
static void tell_idle(const NoliPolyfem* import, const NoliSceneNode* list, const bool* acts) {
  for (size_t i = 0; i < noli_polyfem_count(list); i++) {
    NoliSceneNode item = noli_polyfem_entry(list, i);
    NoliSceneNode id = noli_scene_member(&item, "id");
    bool acts_here = acts[i] || is_all(&id);
    for (size_t k = 0; k < noli_polyfem_count(&import->geometry); k++) {
      NoliSceneNode entry = noli_polyfem_entry(&import->geometry, k);
      NoliSceneNode surface = noli_scene_member(&entry, "surface_selection");
      acts_here =
          acts_here || (json_is_true(json_object_get(entry.value, "is_obstacle")) &&
                        json_is_integer(surface.value) &&
                        noli_polyfem_has_id(&id, (int32_t)json_integer_value(surface.value)));
    }
    if (!acts_here) {
      noli_scene_log(&import->source, &item, NOLI_LOG_WARNING,
                     "holds nothing: no face, point or obstacle has its number");
    }
  }
}

static NoliStatus read_prescribed(NoliPolyfem* import) {
  NoliStatus status = NOLI_OK;
  bool* acts = NULL;
  NoliSceneNode parent;
  NoliSceneNode list = conditions(import, &parent, "dirichlet_boundary");
  bool(*dimension)[3] = NULL;
  size_t n = noli_polyfem_count(&list);
  int32_t all = NOLI_NULL_INDEX;
  NOLI_NEW_ZERO(import->source.context, dimension, (int64_t)n);
  NOLI_NEW_ZERO(import->source.context, acts, (int64_t)n);
  for (size_t i = 0; i < n; i++) {
    NoliSceneNode item = noli_polyfem_entry(&list, i);
    NoliSceneNode id = noli_scene_member(&item, "id");
    NOLI_POLYFEM_CHECK(import, &item, json_is_object(item.value),
                       "conditions from files are not supported");
    NOLI_TRY(read_dimension(import, &item, dimension[i]));
    NOLI_POLYFEM_CHECK(import, &item, id.value != NULL, "\"id\" is missing");
    NOLI_POLYFEM_CHECK(import, &id, !is_all(&id) || n == 1, "\"all\" must be the only condition");
    all = is_all(&id) ? (int32_t)i : all;
  }

  for (int64_t b = 0; b < import->bodies.count; b++) {
    // dimension is read only from here on
    NOLI_TRY(prescribe_body(import, &import->bodies.data[b], &list, (const bool(*)[3])dimension,
                            all, acts));
  }

  tell_idle(import, &list, acts);
done:
  noli_free(import->source.context, dimension);
  noli_free(import->source.context, acts);
  return status;
}

// ---- body forces --------------------------------------------------------------------------------

// The right-hand side is the negative acceleration: numbers become gravity, others a field.
static NoliStatus read_rhs(NoliPolyfem* import) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode parent;
  NoliSceneNode rhs = conditions(import, &parent, "rhs");
  json_t* list = json_array();
  size_t n = noli_scene_size(&rhs);
  bool constant = true;

  // three components; in a plane two
  NOLI_POLYFEM_CHECK(import, &rhs,
                     n == (import->flat ? 2 : 3) || rhs.value == NULL ||
                         (json_is_array(rhs.value) && n == 0),
                     "must be %d components", import->flat ? 2 : 3);

  // accelerations have the opposite sign in PolyFEM
  for (size_t i = 0; i < 3; i++) {
    json_t* component = NULL;
    NoliSceneNode item = noli_scene_item(&rhs, i);
    if (item.value != NULL) {
      NOLI_TRY(noli_polyfem_expression(import, &item, NOLI_POLYFEM_ACCELERATION, -1.0, NULL,
                                       &component));
    } else {
      component = json_integer(0);
    }
    constant = constant && json_is_number(component);
    NOLI_TRY(noli_polyfem_push(import, list, component));
  }

  // constants become gravity, expressions a force
  double none[3] = {0};
  NOLI_TRY(noli_polyfem_set(import, import->scene, "gravity",
                            constant ? json_incref(list) : noli_polyfem_json_vector(none)));
  if (!constant) {
    json_t* force = json_object();
    NOLI_TRY(noli_polyfem_push(import, noli_polyfem_list(import, "forces"), force));
    NOLI_TRY(noli_polyfem_set(import, force, "body", json_string("*")));
    NOLI_TRY(noli_polyfem_set(import, force, "acceleration", json_incref(list)));
  }
done:
  json_decref(list);
  return status;
}

NoliStatus noli_polyfem_read_boundary(NoliPolyfem* import) {
  NoliStatus status = NOLI_OK;
  NOLI_TRY(read_rhs(import));
  NOLI_TRY(read_prescribed(import));
done:
  return status;
}
