// Names of choices: one table for each kind, from which scenes, messages and definitions take them.
#include "support.h"

#include "noli/noli.h"
#include "scene/format.h"

static void every_kind_lists_names_and_descriptions(void** state) {
  (void)state;
  assert_int_equal(noli_choice_kinds(), NOLI_CHOICE_MOTOR + 1);
  for (int32_t k = 0; k < noli_choice_kinds(); k++) {
    NoliChoice kind = (NoliChoice)k;
    int32_t n = noli_choice_count(kind);
    assert_non_null(noli_choice_kind(kind));
    assert_true(n >= 2);
    for (int32_t i = 0; i < n; i++) {
      const char* name = noli_choice_name(kind, i);
      const char* description = noli_choice_description(kind, i);
      assert_true(name[0] != '\0' && strlen(description) > 5);
      assert_int_equal(noli_choice_find(kind, name), i);
      print_message("%-34s %-22s %s\n", noli_choice_kind(kind), name, description);
    }
    assert_null(noli_choice_name(kind, -1));
    assert_null(noli_choice_name(kind, n));
    assert_null(noli_choice_description(kind, n));
    assert_int_equal(noli_choice_find(kind, "no such name"), NOLI_NULL_INDEX);
    assert_int_equal(noli_choice_find(kind, NULL), NOLI_NULL_INDEX);
  }
  assert_null(noli_choice_kind((NoliChoice)noli_choice_kinds()));
  assert_int_equal(noli_choice_count((NoliChoice)999), 0);
}

// The member of a definition that holds a choice; NULL if the choice needs more.
static const char** member_of(NoliChoice kind, NoliSimDef* def, NoliBodyDef* body,
                              NoliForceDef* force, NoliVolumeDef* volume) {
  switch (kind) {
  case NOLI_CHOICE_INTEGRATOR:
    return &def->integrator;
  case NOLI_CHOICE_SOLVER:
    return &def->solver;
  case NOLI_CHOICE_TERMINATION:
    return &def->termination;
  case NOLI_CHOICE_CONTACT_MODEL:
    return &def->contact_model;
  case NOLI_CHOICE_FRICTION_METHOD:
    return &def->friction_method;
  case NOLI_CHOICE_FRICTION_LAW:
    return &def->friction_law;
  case NOLI_CHOICE_LINEAR_SOLVER:
    return &def->linear_solver;
  case NOLI_CHOICE_GENERAL_SOLVER:
    return &def->implicit_newton.linear;
  case NOLI_CHOICE_CCD:
    return &def->ccd;
  case NOLI_CHOICE_AUDIT:
    return &def->audit;
  case NOLI_CHOICE_MATERIAL:
    return &body->material.law;
  case NOLI_CHOICE_PROXY:
    return &body->proxy.kind;
  case NOLI_CHOICE_FORCE:
    return &force->kind;
  case NOLI_CHOICE_VOLUME_REGION:
    return &volume->region;
  case NOLI_CHOICE_VOLUME_MODEL:
    return &volume->model;
  case NOLI_CHOICE_JOINT:
  case NOLI_CHOICE_MOTOR:
  case NOLI_CHOICE_MESH_PART:
  case NOLI_CHOICE_SHEET_PATTERN:
  case NOLI_CHOICE_PROBE_QUANTITY:
  case NOLI_CHOICE_PROBE_REDUCTION:
  case NOLI_CHOICE_GOAL_QUANTITY:
  case NOLI_CHOICE_GOAL_REDUCTION:
  case NOLI_CHOICE_GOAL_FORM:
  case NOLI_CHOICE_GOAL_TIME:
  case NOLI_CHOICE_DESIGN_CONTROL:
  case NOLI_CHOICE_DESIGN_METHOD:
  case NOLI_CHOICE_PARAMETER:
  case NOLI_CHOICE_PARAMETER_SCOPE:
  case NOLI_CHOICE_GRADIENT_MODE:
    break;
  }
  return NULL;
}

static void push(void* user, double t, const double X[3], double value[3]) {
  (void)user, (void)t, (void)X;
  memset(value, 0, 3 * sizeof *value);
}

typedef struct Box {
  NoliMesh* mesh;
  NoliBodyDef body;
  NoliForceDef force;
  NoliVolumeDef volume;
  NoliSimDef def;
} Box;

static void make_box(NoliContext* context, Box* box) {
  *box = (Box){.body = noli_default_body_def(),
               .force = noli_default_force_def(),
               .volume = noli_default_volume_def(),
               .def = noli_default_sim_def()};
  ASSERT_OK(
      noli_mesh_make_box(context, (double[]){1, 1, 1}, (int32_t[]){1, 1, 1}, false, &box->mesh));
  box->body.mesh = box->mesh;
  box->force.value = push;
  box->volume.region = "body";
  box->def.bodies = &box->body;
  box->def.n_bodies = 1;
  box->def.forces = &box->force;
  box->def.n_forces = 1;
  box->def.volumes = &box->volume;
  box->def.n_volumes = 1;
}

// An unknown name is refused with the list of all known ones, NULL is the default.
static void definitions_know_every_name(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  for (int32_t k = 0; k < noli_choice_kinds(); k++) {
    NoliChoice kind = (NoliChoice)k;
    Box box;
    NoliSim* sim = NULL;
    make_box(context, &box);
    const char** member = member_of(kind, &box.def, &box.body, &box.force, &box.volume);
    if (member != NULL) {
      *member = "no such name";
      ASSERT_STATUS(noli_sim_create(context, &box.def, &sim), NOLI_ERROR_ARGUMENT);
      const char* message = noli_context_message(context);
      assert_non_null(strstr(message, noli_choice_kind(kind)));
      for (int32_t i = 0; i < noli_choice_count(kind); i++) {
        assert_non_null(strstr(message, noli_choice_name(kind, i)));
      }
      *member = kind == NOLI_CHOICE_VOLUME_REGION ? "outside" : NULL;
      ASSERT_OK(noli_sim_create(context, &box.def, &sim));
      noli_sim_destroy(&sim);
    } else {
      NoliMesh* part = NULL;
      ASSERT_STATUS(noli_mesh_extract(context, box.mesh, "no such name", &part),
                    NOLI_ERROR_ARGUMENT);
      ASSERT_OK(noli_mesh_extract(context, box.mesh, NULL, &part));
      noli_mesh_destroy(context, &part);
    }
    noli_mesh_destroy(context, &box.mesh);
  }
  test_context_done(&context);
}

// Each linear solver and integrator of the tables simulates.
static void every_listed_solver_simulates(void** state) {
  (void)state;
  static const NoliChoice kinds[] = {
      NOLI_CHOICE_LINEAR_SOLVER, NOLI_CHOICE_GENERAL_SOLVER, NOLI_CHOICE_MATERIAL, NOLI_CHOICE_CCD,
      NOLI_CHOICE_AUDIT,         NOLI_CHOICE_VOLUME_MODEL,   NOLI_CHOICE_SOLVER};
  NoliContext* context = test_context(1);
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    for (int32_t i = 0; i < noli_choice_count(kinds[k]); i++) {
      Box box;
      NoliSim* sim = NULL;
      make_box(context, &box);
      box.volume.compression = 1e-5;
      box.def.tolerance = (NoliScaled){1e-5, false};
      box.def.solver = kinds[k] == NOLI_CHOICE_GENERAL_SOLVER ? "implicit_newton" : NULL;
      *member_of(kinds[k], &box.def, &box.body, &box.force, &box.volume) =
          noli_choice_name(kinds[k], i);
      NoliStatus status = noli_sim_create(context, &box.def, &sim);
      if (strncmp(noli_choice_name(kinds[k], i), "petsc:", 6) == 0 && status != NOLI_OK) {
        ASSERT_STATUS(status, NOLI_ERROR_ARGUMENT);
        assert_non_null(strstr(noli_context_message(context), "is not part of this build"));
      } else {
        ASSERT_OK(status);
        ASSERT_OK(noli_sim_step(sim, NULL));
        ASSERT_OK(noli_sim_step(sim, NULL));
        ASSERT_NEAR(noli_sim_velocities(sim)[1], -9.80665 * 0.02, 1e-3);
      }
      noli_sim_destroy(&sim);
      noli_mesh_destroy(context, &box.mesh);
    }
  }
  test_context_done(&context);
}

// Whether a scene key takes a name.
static bool takes(const NoliSceneType* type, const char* name, int depth) {
  bool found = false;
  if (depth > 12) {
    return false;
  }
  for (int32_t i = 0; type->kind == NOLI_SCENE_CHOICE && noli_scene_choice(type, i) != NULL; i++) {
    found = found || strcmp(noli_scene_choice(type, i), name) == 0;
  }
  for (int32_t i = 0; i < type->n_fields; i++) {
    found = found || strcmp(type->fields[i].key, name) == 0 ||
            takes(type->fields[i].type, name, depth + 1);
  }
  for (int32_t i = 0; type->kind == NOLI_SCENE_EITHER && type->alternatives[i] != NULL; i++) {
    found = found || takes(type->alternatives[i], name, depth + 1);
  }
  return found || (type->item != NULL && takes(type->item, name, depth + 1));
}

static void scenes_take_every_name(void** state) {
  (void)state;
  for (int32_t k = 0; k < noli_choice_kinds(); k++) {
    for (int32_t i = 0; i < noli_choice_count((NoliChoice)k); i++) {
      const char* name = noli_choice_name((NoliChoice)k, i);
      // the default proxy has no key, and triangles are given to the library only
      bool expected = strcmp(name, "triangles") != 0 &&
                      !(k == NOLI_CHOICE_PROXY && strcmp(name, "automatic") == 0);
      if (expected && !takes(&noli_scene_format, name, 0)) {
        fail_msg("%s \"%s\" is in no key of scenes", noli_choice_kind((NoliChoice)k), name);
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_kind_lists_names_and_descriptions),
      cmocka_unit_test(definitions_know_every_name),
      cmocka_unit_test(every_listed_solver_simulates),
      cmocka_unit_test(scenes_take_every_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
