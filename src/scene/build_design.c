// The design block: variables, objective and constraints become a NoliDesignDef.
#include "scene/build.h"

#include "scene/store.h"

#include <string.h>

// Memory of the scene for `n` items.
static NoliStatus own_array(NoliScene* scene, int64_t n, size_t size, void** array) {
  NoliStatus status = NOLI_OK;
  void* block = noli_calloc(scene->context, n, size);
  NOLI_CHECK(scene->context, block != NULL, NOLI_ERROR_MEMORY, "out of memory");
  NOLI_TRY(noli_scene_own(scene, block));
  *array = block;
done:
  return status;
}

// A number, which counts for all three, or three numbers.
static void read_three(const NoliSceneNode* node, double value[3]) {
  if (json_is_array(node->value)) {
    noli_scene_vector(node, value);
  } else if (node->value != NULL) {
    value[0] = value[1] = value[2] = noli_scene_number(node);
  }
}

// A list of positions, (n x 3).
static NoliStatus read_places(NoliScene* scene, const NoliSceneNode* list, double** place,
                              int32_t* n) {
  NoliStatus status = NOLI_OK;
  void* block = NULL;
  *n = (int32_t)noli_scene_size(list);
  NOLI_TRY(own_array(scene, 3 * (int64_t)*n, sizeof(double), &block));
  *place = block;
  for (int32_t i = 0; i < *n; i++) {
    NoliSceneNode item = noli_scene_item(list, (size_t)i);
    noli_scene_vector(&item, *place + 3 * (int64_t)i);
  }
done:
  return status;
}

// The single body of an entry, and its selected vertices.
static NoliStatus read_selection(const NoliSceneSource* source, NoliScene* scene,
                                 const NoliSceneNode* body, const NoliSceneNode* select,
                                 NoliSceneTarget* target, int32_t* entity) {
  NoliStatus status = NOLI_OK;
  NoliSceneTargets targets = {0};
  NoliSceneIndices entities = {0};
  NOLI_TRY(noli_scene_find_selected(source, scene, body, select, &targets, &entities));
  NOLI_SCENE_CHECK(source, body, targets.count == 1,
                   "means %lld bodies; name one of them, such as \"%.60s\"",
                   (long long)targets.count, scene->entities.data[entities.data[0]].name);
  *target = targets.data[0];
  *entity = entities.data[0];
done:
  noli_array_free(scene->context, &targets);
  noli_array_free(scene->context, &entities);
  return status;
}

// Elements of the single body `of`, as parts of bodies have them.
static NoliStatus build_design_read_elements(const NoliSceneSource* source, NoliScene* scene,
                                             const NoliSceneNode* of, const NoliSceneNode* select,
                                             const int32_t** element, int32_t* n_element) {
  NoliStatus status = NOLI_OK;
  NoliSceneIndices entities = {0};
  int32_t* found = NULL;
  NOLI_TRY(noli_scene_find_entities(source, scene, of, false, &entities));
  const NoliSceneEntity* entity = &scene->entities.data[entities.data[0]];
  NOLI_SCENE_CHECK(source, of, entities.count == 1,
                   "means %lld bodies; name one of them, such as \"%.60s\"",
                   (long long)entities.count, entity->name);
  status =
      noli_scene_select_elements(source, select, entity->name, &scene->shapes.data[entity->shape],
                                 scene->meshes.data[entities.data[0]], &found, n_element);
  if (found != NULL && noli_scene_own(scene, found) != NOLI_OK) {
    status = NOLI_ERROR_MEMORY;
  }
  *element = found;
done:
  noli_array_free(scene->context, &entities);
  return status;
}

// ---- goals --------------------------------------------------------------------------------------

static NoliStatus build_design_read_time(const NoliSceneSource* source, const NoliScene* scene,
                                         const NoliSceneNode* entry, NoliGoalDef* def) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode at = noli_scene_member(entry, "at"), over = noli_scene_member(entry, "over");
  double end = (double)scene->n_steps * scene->def.time_step;
  const char* word = noli_scene_string(&at);
  def->when = "end";
  if (word != NULL) {
    def->when = word;
  } else if (at.value != NULL) {
    def->when = "at";
  } else if (over.value != NULL) {
    def->when = "over";
  }

  if (at.value != NULL && word == NULL) {
    def->t_begin = noli_scene_number(&at);
    NOLI_SCENE_CHECK(source, &at, def->t_begin > 0.0 && def->t_begin <= end * (1.0 + 1e-9),
                     "is not in the run, which ends at %g s", end);
  }

  if (over.value != NULL) {
    NoliSceneNode first = noli_scene_item(&over, 0), last = noli_scene_item(&over, 1);
    def->t_begin = noli_scene_number(&first);
    def->t_end = noli_scene_number(&last);
    NOLI_SCENE_CHECK(source, &over, def->t_begin < def->t_end && def->t_begin < end,
                     "is no interval of the run, which ends at %g s", end);
  }
done:
  return status;
}

static NoliStatus read_target(const NoliSceneSource* source, NoliScene* scene,
                              const NoliSceneNode* entry, NoliGoalDef* def) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode target = noli_scene_member(entry, "target");
  NoliSceneNode targets = noli_scene_member(entry, "targets");
  double* place = NULL;
  void* block = NULL;
  int32_t n = 0;
  NOLI_SCENE_CHECK(source, &targets, target.value == NULL || targets.value == NULL,
                   "replaces \"target\"; give one of them");
  if (targets.value != NULL) {
    NOLI_TRY(read_places(scene, &targets, &place, &n));
    def->target = place;
    def->n_target = 3 * n;
  } else if (target.value != NULL) {
    NOLI_TRY(own_array(scene, 3, sizeof(double), &block));
    read_three(&target, block);
    def->target = block;
    def->n_target = json_is_array(target.value) ? 3 : 1;
  }
done:
  return status;
}

static NoliStatus read_goal(const NoliSceneSource* source, NoliScene* scene,
                            const NoliSceneNode* entry, NoliGoalDef* def) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode body = noli_scene_member(entry, "body"),
                select = noli_scene_member(entry, "select"),
                elements = noli_scene_member(entry, "elements");
  NoliSceneTarget target = {0};
  int32_t entity = NOLI_NULL_INDEX;
  *def = noli_default_goal_def();
  noli_scene_store(entry, &noli_scene_goal_format, def, sizeof *def);
  NOLI_TRY(read_selection(source, scene, &body, &select, &target, &entity));
  def->of = scene->entities.data[entity].name;
  bool all = strcmp(json_is_string(select.value) ? noli_scene_string(&select) : "", "all") == 0;
  def->node = all ? NULL : target.node;
  def->n_node = all ? 0 : target.n_node;
  NOLI_SCENE_CHECK(source, &select, all || target.n_node > 0, "selects no vertex of \"%.80s\"",
                   def->of);
  if (elements.value != NULL) {
    NOLI_TRY(build_design_read_elements(source, scene, &body, &elements, &def->element,
                                        &def->n_element));
  }
  NOLI_TRY(build_design_read_time(source, scene, entry, def));
  NOLI_TRY(read_target(source, scene, entry, def));
done:
  return status;
}

static NoliStatus read_goals(const NoliSceneSource* source, NoliScene* scene,
                             const NoliSceneNode* list, NoliDesignFunctionDef* def) {
  NoliStatus status = NOLI_OK;
  void* block = NULL;
  def->n_goals = (int32_t)noli_scene_size(list);
  NOLI_TRY(own_array(scene, def->n_goals, sizeof(NoliGoalDef), &block));
  NoliGoalDef* goals = block;
  def->goals = goals;
  for (int32_t i = 0; i < def->n_goals; i++) {
    NoliSceneNode item = noli_scene_item(list, (size_t)i);
    NOLI_TRY(read_goal(source, scene, &item, &goals[i]));
  }
done:
  return status;
}

// ---- variables ----------------------------------------------------------------------------------

static NoliStatus read_hold(const NoliSceneSource* source, NoliScene* scene,
                            const NoliSceneNode* entry, NoliVariableDef* def) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode hold = noli_scene_member(entry, "hold"), cage = noli_scene_member(entry, "cage");
  bool caged = strcmp(def->control, "cage") == 0;
  void* block = NULL;

  NOLI_SCENE_CHECK(source, &cage, caged || cage.value == NULL,
                   "needs the control \"cage\", this one is \"%s\"", def->control);
  NOLI_SCENE_CHECK(source, &hold, caged || hold.value == NULL,
                   "needs the control \"cage\", this one is \"%s\"", def->control);

  for (size_t k = 0; k < 3 && cage.value != NULL; k++) {
    NoliSceneNode item = noli_scene_item(&cage, k);
    def->cage[k] = (int32_t)noli_scene_number(&item);
  }

  if (hold.value != NULL) {
    NoliSceneNode low = noli_scene_member(&hold, "min"), high = noli_scene_member(&hold, "max");
    NOLI_TRY(own_array(scene, 6, sizeof(double), &block));
    double* corners = block;
    noli_scene_vector(&low, corners);
    noli_scene_vector(&high, corners + 3);
    def->hold_min = corners;
    def->hold_max = corners + 3;
  }
done:
  return status;
}

// Leaves out nodes between vertices, whose positions follow those of vertices.
static void keep_vertices(NoliSceneTarget* target) {
  int32_t n = 0;
  for (int32_t i = 0; target->node != NULL && i < target->n_node; i++) {
    if (target->node[i] < target->mesh->n_vert) {
      target->node[n++] = target->node[i];
    }
  }
  target->n_node = target->node != NULL ? n : target->n_node;
}

// Vertices or elements that a variable is about.
static NoliStatus read_scope(const NoliSceneSource* source, NoliScene* scene,
                             const NoliSceneNode* entry, NoliVariableDef* def) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode of = noli_scene_member(entry, "of"), select = noli_scene_member(entry, "select");
  NoliSceneNode scope = noli_scene_member(entry, "scope");
  bool moves = strcmp(def->control, "cage") == 0 || strcmp(def->control, "points") == 0;
  const char* given = noli_scene_string(&scope);
  NoliSceneTarget target = {0};
  int32_t entity = NOLI_NULL_INDEX;
  def->parameter.scope = given;
  if (given == NULL && (moves || select.value != NULL)) {
    def->parameter.scope = "vertices";
  }
  bool vertices = def->parameter.scope != NULL && strcmp(def->parameter.scope, "vertices") == 0;
  bool elements = def->parameter.scope != NULL && strcmp(def->parameter.scope, "elements") == 0;
  NOLI_SCENE_CHECK(source, &select, vertices || elements || select.value == NULL,
                   "needs the scope \"vertices\" or \"elements\", this one is \"%s\"",
                   def->parameter.scope);
  NOLI_SCENE_CHECK(source, entry, !elements || of.value != NULL,
                   "the scope \"elements\" needs a body, \"of\"");
  if (elements && select.value != NULL) {
    return build_design_read_elements(source, scene, &of, &select, &def->parameter.index,
                                      &def->parameter.n_index);
  }
  NOLI_SCENE_CHECK(source, entry, !vertices || of.value != NULL,
                   "the scope \"vertices\" needs a body, \"of\"");

  if (vertices && select.value != NULL) {
    NOLI_TRY(read_selection(source, scene, &of, &select, &target, &entity));
    if (strcmp(def->parameter.kind, "initial_velocity") != 0) {
      keep_vertices(&target);
    }
    NOLI_SCENE_CHECK(source, &select, target.node == NULL || target.n_node > 0,
                     "selects no vertex");
    def->parameter.index = target.node;
    def->parameter.n_index = target.node != NULL ? target.n_node : 0;
  }
done:
  return status;
}

static NoliStatus read_variable(const NoliSceneSource* source, NoliScene* scene,
                                const NoliSceneNode* entry, NoliVariableDef* def) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode kind = noli_scene_member(entry, "parameter"), of = noli_scene_member(entry, "of"),
                with = noli_scene_member(entry, "with"), part = noli_scene_member(entry, "part"),
                points = noli_scene_member(entry, "points");
  static const char* const keys[] = {"lower", "upper", "start"};
  double* place = NULL;

  *def = noli_default_variable_def();
  double* values[] = {def->lower, def->upper, def->start};
  noli_scene_store(entry, &noli_scene_variable_format, def, sizeof *def);
  def->parameter.kind = noli_scene_string(&kind);
  def->parameter.of = noli_scene_string(&of);
  def->parameter.with = noli_scene_string(&with);
  def->parameter.part = part.value != NULL ? 1 + (int32_t)noli_scene_number(&part) : 0;

  for (int k = 0; k < 3; k++) {
    NoliSceneNode node = noli_scene_member(entry, keys[k]);
    read_three(&node, values[k]);
  }

  NOLI_TRY(read_hold(source, scene, entry, def));
  NOLI_TRY(read_scope(source, scene, entry, def));
  NOLI_SCENE_CHECK(source, &points, points.value == NULL || strcmp(def->control, "points") == 0,
                   "needs the control \"points\", this one is \"%s\"", def->control);

  if (points.value != NULL) {
    NOLI_TRY(read_places(scene, &points, &place, &def->n_point));
    def->point = place;
  }
done:
  return status;
}

// ---- formulas -----------------------------------------------------------------------------------

// The names of goals that a formula takes, all different; the caller frees the array.
static NoliStatus read_names(const NoliSceneSource* source, NoliScene* scene,
                             const NoliSceneNode* list, const char*** names) {
  NoliStatus status = NOLI_OK;
  int32_t n = (int32_t)noli_scene_size(list);
  NOLI_NEW(scene->context, *names, n);
  for (int32_t i = 0; i < n; i++) {
    NoliSceneNode item = noli_scene_item(list, (size_t)i), name = noli_scene_member(&item, "name");
    NOLI_SCENE_CHECK(source, &item, name.value != NULL,
                     "needs a \"name\", by which the expression can know it");
    (*names)[i] = noli_scene_string(&name);
    for (int32_t k = 0; k < i; k++) {
      NOLI_SCENE_CHECK(source, &name, strcmp((*names)[i], (*names)[k]) != 0,
                       "\"%.80s\" is the name of another goal", (*names)[i]);
    }
  }
done:
  return status;
}

// Reads the "expression" of an entry in place of the sum of its goals.
static NoliStatus read_formula(const NoliSceneSource* source, NoliScene* scene,
                               const NoliSceneNode* entry, const NoliSceneNode* goals,
                               NoliDesignFunctionDef* def) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode text = noli_scene_member(entry, "expression");
  NoliSceneFormula* formula = NULL;
  const char** names = NULL;

  if (text.value == NULL) {
    return NOLI_OK;
  }
  NOLI_SCENE_CHECK(source, &text, def->n_goals > 0, "has no goals to combine");
  NOLI_TRY(read_names(source, scene, goals, &names));
  NOLI_NEW_ZERO(scene->context, formula, 1);
  NOLI_TRY(noli_scene_compile_formula(source, &text, def->n_goals, names, scene->variables.lock,
                                      formula));
  NOLI_PUSH(scene->context, &scene->formulas, formula);
  def->formula = noli_scene_evaluate_formula;
  def->formula_user = formula;
  formula = NULL;
done:
  if (formula != NULL) {
    noli_scene_release_formula(scene->context, formula);
  }
  noli_free(scene->context, formula);
  noli_free(scene->context, names);
  return status;
}

// ---- the problem --------------------------------------------------------------------------------

static NoliStatus read_variables(const NoliSceneSource* source, NoliScene* scene,
                                 const NoliSceneNode* node, NoliDesignDef* def) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode list = noli_scene_member(node, "variables");
  void* block = NULL;
  int32_t n = (int32_t)noli_scene_size(&list);
  NOLI_TRY(own_array(scene, n, sizeof(NoliVariableDef), &block));
  NoliVariableDef* variables = block;
  for (int32_t i = 0; i < n; i++) {
    NoliSceneNode item = noli_scene_item(&list, (size_t)i);
    NOLI_TRY(read_variable(source, scene, &item, &variables[i]));
  }
  def->variables = variables;
  def->n_variables = n;
done:
  return status;
}

static NoliStatus read_constraints(const NoliSceneSource* source, NoliScene* scene,
                                   const NoliSceneNode* node, NoliDesignDef* def) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode list = noli_scene_member(node, "constraints");
  void* block = NULL;
  def->n_constraints = (int32_t)noli_scene_size(&list);
  NOLI_TRY(own_array(scene, def->n_constraints, sizeof(NoliDesignFunctionDef), &block));
  NoliDesignFunctionDef* constraints = block;
  for (int32_t i = 0; i < def->n_constraints; i++) {
    NoliSceneNode item = noli_scene_item(&list, (size_t)i);
    NoliSceneNode goals = noli_scene_member(&item, "goals");
    NoliSceneNode most = noli_scene_member(&item, "at_most");
    NoliSceneNode least = noli_scene_member(&item, "at_least");
    constraints[i] = noli_default_design_function_def();
    noli_scene_store(&item, &noli_scene_constraint_format, &constraints[i], sizeof constraints[i]);
    NOLI_SCENE_CHECK(source, &item, most.value != NULL || least.value != NULL,
                     "needs a bound, \"at_most\" or \"at_least\"");
    NOLI_TRY(read_goals(source, scene, &goals, &constraints[i]));
    NOLI_TRY(read_formula(source, scene, &item, &goals, &constraints[i]));
  }
  def->constraints = constraints;
done:
  return status;
}

NoliStatus noli_scene_admit_design(const NoliSceneSource* source, const NoliSceneNode* root) {
  (void)source, (void)root;
  return NOLI_OK;
}

NoliStatus noli_scene_build_design(const NoliSceneSource* source, NoliScene* scene,
                                   const NoliSceneNode* root) {
  NoliStatus status = NOLI_OK;
  NoliSceneNode node = noli_scene_member(root, "design");
  NoliSceneNode objective = noli_scene_member(&node, "objective");
  NoliDesignDef def = noli_default_design_def();
  if (node.value == NULL) {
    return NOLI_OK;
  }
  noli_scene_store(&node, &noli_scene_design_format, &def, sizeof def);
  def.gradient.n_steps = scene->n_steps;
  NOLI_TRY(read_variables(source, scene, &node, &def));
  NOLI_TRY(read_goals(source, scene, &objective, &def.objective));
  NOLI_TRY(read_formula(source, scene, &node, &objective, &def.objective));
  NOLI_TRY(read_constraints(source, scene, &node, &def));
  scene->design = def;
done:
  return status;
}
