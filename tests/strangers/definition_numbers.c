// Every number of every definition: the table of src/base/numbers.c has all of include/noli, which
// scripts/definition_numbers.py lists, and the functions that take definitions refuse what it does
// not allow.
#include "output/output_support.h"

#include "base/numbers.h"

#include <limits.h>

// A member of a definition in include/noli.
typedef struct Member {
  const char* definition;
  const char* member;
  bool not_negative; // says its comment
} Member;

#include "definition_numbers.h"

enum { N_MEMBERS = sizeof members / sizeof *members };

static const NoliNumber* find(const char* definition, const char* member, NoliNumbersOf* of) {
  for (*of = 0; *of < NOLI_NUMBERS_COUNT; (*of)++) {
    const NoliNumberTable* table = noli_numbers(*of);
    for (int32_t k = 0; k < table->n && strcmp(table->definition, definition) == 0; k++) {
      if (strcmp(table->number[k].member, member) == 0) {
        return &table->number[k];
      }
    }
  }
  return NULL;
}

static void the_table_has_every_number(void** state) {
  (void)state;
  NoliNumbersOf of;
  int32_t n_rows = 0;
  assert_true(N_MEMBERS > 140);
  for (size_t i = 0; i < N_MEMBERS; i++) {
    const NoliNumber* number = find(members[i].definition, members[i].member, &of);
    if (number == NULL) {
      print_error("src/base/numbers.c lacks %s.%s\n", members[i].definition, members[i].member);
    }
    assert_non_null(number);
    bool takes_nan = strcmp(members[i].definition, "NoliVariableDef") == 0 &&
                     strcmp(members[i].member, "start") == 0;
    assert_true(noli_number_allows(number, (double)NAN) == takes_nan);
    if (members[i].not_negative && noli_number_allows(number, -2.0)) {
      print_error("%s.%s may be -2\n", members[i].definition, members[i].member);
      fail();
    }
  }
  for (of = 0; of < NOLI_NUMBERS_COUNT; of++) {
    n_rows += noli_numbers(of)->n;
  }
  assert_in_range(n_rows, N_MEMBERS, N_MEMBERS + 1); // one member is on two lines
}

// ---- values -------------------------------------------------------------------------------------

// Definitions that are valid together.
typedef struct Defs {
  NoliContext* context;
  NoliMesh *box, *other, *plane, *line, *brick;
  NoliContextDef own_context;
  NoliCcdOptions ccd;
  NoliGcpDef gcp;
  NoliProny prony;
  NoliPartDef part;
  NoliBodyDef body[5];
  NoliHalfSpaceDef half_space;
  NoliMotionDef motion;
  NoliForceDef force;
  NoliPairDef pair;
  NoliVolumeDef volume;
  NoliTieDef tie;
  NoliSpringDef spring;
  NoliJointDef joint;
  NoliSimDef sim_def;
  NoliSim* sim;
  NoliProbeDef probe;
  NoliRunDef run;
  NoliParameterDef parameter;
  NoliParameters* parameters;
  NoliGradientDef gradient;
  NoliGoalDef goal, own_goal;
  NoliVariableDef variable;
  NoliDesignFunctionDef function;
  NoliDesignDef design;
  NoliRepairDef repair;
} Defs;

static void load_nothing(void* user, double t, const double X[3], double value[3]) {
  (void)user, (void)t, (void)X, (void)value;
}

static void hold(void* user, double t0, double t1, int32_t n_node, const int32_t* node,
                 const double* X, const double* x_t0, double* x_t1) {
  (void)user, (void)t0, (void)t1, (void)node, (void)X;
  memcpy(x_t1, x_t0, 3 * sizeof *x_t1 * (size_t)n_node);
}

static void make_bodies(Defs* d) {
  static const int32_t element[] = {0};
  static const char* const names[] = {"box", "other", "sheet", "rod", "points"};
  NoliContext* context = d->context;
  const double size[3] = {0.1, 0.1, 0.1}, one[3] = {1, 1, 1}, zero[3] = {0, 0, 0};
  const int32_t cells[3] = {1, 1, 1};
  ASSERT_OK(noli_mesh_make_box(context, size, cells, false, &d->box));
  ASSERT_OK(noli_mesh_make_box(context, size, cells, false, &d->other));
  ASSERT_OK(noli_mesh_make_plane(context, 0.1, 0.1, 1, 1, &d->plane));
  ASSERT_OK(noli_mesh_create(context, 2, 0, 0, 1, 2, false, &d->line));
  memcpy(d->line->x, (double[]){0, 0, 0, 0.1, 0, 0}, 6 * sizeof(double));
  memcpy(d->line->edge, (int32_t[]){0, 1}, 2 * sizeof(int32_t));
  memcpy(d->line->point, (int32_t[]){0, 1}, 2 * sizeof(int32_t));
  noli_mesh_transform(d->other, one, zero, (double[]){0, 0.11, 0});
  noli_mesh_transform(d->plane, one, zero, (double[]){0, 2, 0});
  ASSERT_OK(noli_mesh_make_box(context, size, cells, false, &d->brick));
  noli_mesh_transform(d->brick, one, zero, (double[]){0, 3, 0});
  for (int b = 0; b < 5; b++) {
    d->body[b] = noli_default_body_def();
    d->body[b].name = names[b];
    d->body[b].mesh = b == 0 ? d->box : b == 1 ? d->other : b == 2 ? d->plane : d->line;
  }
  d->part =
      (NoliPartDef){.element = element, .n_element = 1, .material = noli_default_material_def()};
  d->prony = (NoliProny){.n = 1, .share = {0.5}, .time = {0.1}};
  d->body[0].parts = &d->part;
  d->body[0].n_parts = 1;
  d->body[1].material.prony = &d->prony;
  d->body[2].shell.thickness = 1e-3;
  d->body[3].mesh = d->brick;
  d->body[3].name = "brick";
  d->body[3].rigid.rigid = true;
}

static void make_lists(Defs* d) {
  // the highest one
  static int32_t vertex[1];
  for (int32_t i = 0; i < d->box->n_vert; i++) {
    vertex[0] = d->box->x[3 * i + 1] > 0.0 ? i : vertex[0];
  }
  d->half_space = noli_default_half_space_def();
  d->half_space.origin[1] = -5.0;
  d->motion = noli_default_motion_def();
  d->motion.body = 2;
  d->motion.target = hold;
  d->force = noli_default_force_def();
  d->force.value = load_nothing;
  d->pair = noli_default_pair_def();
  d->volume = noli_default_volume_def();
  d->volume.region = "body";
  d->volume.body = 1;
  d->volume.compression = 1e-5;
  d->tie = noli_default_tie_def();
  d->tie.body = 0;
  d->tie.node = vertex;
  d->tie.n_node = 1;
  d->tie.to = 1;
  d->tie.distance = (NoliScaled){10.0, false};
  d->joint = noli_default_joint_def();
  d->joint.body = 3;
  d->joint.type = "hinge";
  d->joint.at[1] = 3.0;
  d->spring = noli_default_spring_def();
  d->spring.stiffness = 1.0;
  d->sim_def = noli_default_sim_def();
  d->sim_def.bodies = d->body;
  d->sim_def.n_bodies = 3;
  d->sim_def.half_spaces = &d->half_space;
  d->sim_def.motions = &d->motion;
  d->sim_def.forces = &d->force;
  d->sim_def.pairs = &d->pair;
  d->sim_def.volumes = &d->volume;
  d->sim_def.ties = &d->tie;
  d->sim_def.springs = &d->spring;
  d->sim_def.joints = &d->joint;
  d->sim_def.n_half_spaces = d->sim_def.n_motions = d->sim_def.n_forces = d->sim_def.n_pairs = 1;
  d->sim_def.n_volumes = d->sim_def.n_ties = d->sim_def.n_springs = 1;
}

static void make_problem(Defs* d) {
  d->parameter = noli_default_parameter_def();
  d->parameter.kind = "young";
  d->parameter.of = "box";
  ASSERT_OK(noli_parameters_create(d->sim, &d->parameter, 1, &d->parameters));
  d->gradient = noli_default_gradient_def();
  d->gradient.n_steps = 1;
  d->goal = noli_default_goal_def();
  d->goal.quantity = "position";
  d->goal.of = "box";
  d->goal.component = "x";
  d->own_goal = d->goal;
  d->variable = noli_default_variable_def();
  d->variable.parameter = d->parameter;
  d->variable.lower[0] = 1e4;
  d->variable.upper[0] = 1e6;
  d->function = noli_default_design_function_def();
  d->function.at_most = 1.0;
  d->function.goals = &d->own_goal;
  d->function.n_goals = 1;
  d->design = noli_default_design_def();
  d->design.variables = &d->variable;
  d->design.n_variables = 1;
  d->design.objective.goals = &d->own_goal;
  d->design.objective.n_goals = 1;
  d->design.constraints = &d->function;
  d->design.n_constraints = 1;
  d->design.gradient = d->gradient;
}

static void make_defs(Defs* d) {
  *d = (Defs){.context = test_context(1)};
  d->own_context = noli_default_context_def();
  d->ccd = noli_default_ccd_options();
  d->gcp = noli_default_gcp_def();
  d->gcp.eps_target = 0.01;
  make_bodies(d);
  make_lists(d);
  NoliStatus status = noli_sim_create(d->context, &d->sim_def, &d->sim);
  assert_string_equal(noli_context_message(d->context), "");
  assert_int_equal(status, NOLI_OK);
  d->run = noli_default_run_def();
  d->run.directory = "definition_numbers";
  d->run.scene_name = "numbers";
  d->run.scene_json = "{}";
  d->run.replace_unfinished = true;
  d->probe = (NoliProbeDef){.name = "p", .quantity = "position"};
  make_problem(d);
  d->repair = noli_default_repair_def();
}

static void free_defs(Defs* d) {
  noli_parameters_destroy(&d->parameters);
  noli_sim_destroy(&d->sim);
  noli_mesh_destroy(d->context, &d->box);
  noli_mesh_destroy(d->context, &d->other);
  noli_mesh_destroy(d->context, &d->plane);
  noli_mesh_destroy(d->context, &d->brick);
  noli_mesh_destroy(d->context, &d->line);
  test_context_done(&d->context);
}

// The definition of a table, and the functions that take it.

static NoliStatus create_sim(Defs* d) {
  NoliSim* sim = NULL;
  NoliStatus status = noli_sim_create(d->context, &d->sim_def, &sim);
  noli_sim_destroy(&sim);
  return status;
}

// With a rigid body, which has no derivatives, and its joint.
static NoliStatus create_joined(Defs* d) {
  d->sim_def.n_bodies = 4;
  d->sim_def.n_joints = 1;
  NoliStatus status = create_sim(d);
  d->sim_def.n_bodies = 3;
  d->sim_def.n_joints = 0;
  return status;
}

static NoliStatus create_context(Defs* d) {
  NoliContext* context = NULL;
  NoliStatus status = noli_context_create(&d->own_context, &context);
  noli_context_destroy(&context);
  return status;
}

// Options that are not valid give a hit at the start, with which nothing passes.
static NoliStatus search_path(Defs* d) {
  double p[3] = {0, 0, 0}, q[3] = {1, 0, 0}, toi = -1.0;
  bool hit = noli_point_point_ccd(p, q, p, q, &d->ccd, 1.0, &toi);
  return hit && toi == 0.0 ? NOLI_ERROR_ARGUMENT : NOLI_OK;
}

static NoliStatus create_potential(Defs* d) {
  NoliGcpPotential* gcp = NULL;
  NoliMesh* surface = NULL;
  ASSERT_OK(
      noli_mesh_make_box(d->context, (double[]){1, 1, 1}, (int32_t[]){1, 1, 1}, true, &surface));
  NoliStatus status = noli_gcp_potential_create(d->context, &d->gcp, surface->x, surface->n_vert,
                                                surface->tri, surface->n_tri, &gcp);
  noli_gcp_potential_destroy(&gcp);
  noli_mesh_destroy(d->context, &surface);
  return status;
}

static NoliStatus open_run(Defs* d) {
  NoliRun* run = NULL;
  d->run.probes = &d->probe;
  d->run.n_probes = d->run.n_probes == 0 ? 1 : d->run.n_probes;
  NoliStatus status = noli_run_open(d->context, &d->run, d->sim, &run);
  noli_run_close(&run);
  return status;
}

static NoliStatus create_parameters(Defs* d) {
  NoliParameters* parameters = NULL;
  NoliStatus status = noli_parameters_create(d->sim, &d->parameter, 1, &parameters);
  noli_parameters_destroy(&parameters);
  return status;
}

static NoliStatus create_goals(Defs* d) {
  NoliGoals* goals = NULL;
  NoliStatus status = noli_goals_create(d->sim, d->parameters, &d->goal, 1, &goals);
  noli_goals_destroy(&goals);
  return status;
}

static NoliStatus value_of(void* user, NoliSim* sim, NoliObjectivePoint* at) {
  (void)user, (void)sim, (void)at;
  return NOLI_OK;
}

static NoliStatus find_gradient(Defs* d) {
  const NoliObjective objective = {value_of, NULL};
  double value;
  return noli_sim_gradient(d->sim, d->parameters, &objective, 1, &d->gradient, &value, NULL, NULL);
}

static NoliStatus create_design(Defs* d) {
  NoliDesign* design = NULL;
  NoliStatus status = noli_design_create(d->sim, &d->design, &design);
  noli_design_destroy(&design);
  return status;
}

static NoliStatus repair(Defs* d) {
  NoliRepair repaired;
  NoliStatus status = noli_sim_repair(d->context, &d->sim_def, &d->repair, &repaired);
  noli_repair_free(d->context, &repaired);
  return status;
}

typedef struct Taker {
  size_t offset; // of the definition in Defs
  NoliStatus (*take)(Defs* d);
} Taker;

static const Taker takers[NOLI_NUMBERS_COUNT] = {
    [NOLI_NUMBERS_CONTEXT] = {offsetof(Defs, own_context), create_context},
    [NOLI_NUMBERS_CCD] = {offsetof(Defs, ccd), search_path},
    [NOLI_NUMBERS_GCP_POTENTIAL] = {offsetof(Defs, gcp), create_potential},
    [NOLI_NUMBERS_SIM] = {offsetof(Defs, sim_def), create_sim},
    [NOLI_NUMBERS_AUGMENTED_LAGRANGIAN] = {offsetof(Defs, sim_def.augmented_lagrangian),
                                           create_sim},
    [NOLI_NUMBERS_GCP] = {offsetof(Defs, sim_def.gcp), create_sim},
    [NOLI_NUMBERS_INCREMENT] = {offsetof(Defs, sim_def.increments), create_sim},
    [NOLI_NUMBERS_BODY] = {offsetof(Defs, body[0]), create_sim},
    [NOLI_NUMBERS_PROXY] = {offsetof(Defs, body[0].proxy), create_sim},
    [NOLI_NUMBERS_PART] = {offsetof(Defs, part), create_sim},
    [NOLI_NUMBERS_MATERIAL] = {offsetof(Defs, body[0].material), create_sim},
    [NOLI_NUMBERS_PRONY] = {offsetof(Defs, prony), create_sim},
    [NOLI_NUMBERS_SHELL] = {offsetof(Defs, body[2].shell), create_sim},
    [NOLI_NUMBERS_ROD] = {offsetof(Defs, body[0].rod), create_sim},
    [NOLI_NUMBERS_POINT] = {offsetof(Defs, body[0].point), create_sim},
    [NOLI_NUMBERS_RIGID] = {offsetof(Defs, body[0].rigid), create_sim},
    [NOLI_NUMBERS_HALF_SPACE] = {offsetof(Defs, half_space), create_sim},
    [NOLI_NUMBERS_MOTION] = {offsetof(Defs, motion), create_sim},
    [NOLI_NUMBERS_FORCE] = {offsetof(Defs, force), create_sim},
    [NOLI_NUMBERS_PAIR] = {offsetof(Defs, pair), create_sim},
    [NOLI_NUMBERS_VOLUME] = {offsetof(Defs, volume), create_sim},
    [NOLI_NUMBERS_TIE] = {offsetof(Defs, tie), create_sim},
    [NOLI_NUMBERS_SPRING] = {offsetof(Defs, spring), create_sim},
    [NOLI_NUMBERS_COORDINATE] = {offsetof(Defs, joint.coordinate), create_joined},
    [NOLI_NUMBERS_JOINT] = {offsetof(Defs, joint), create_joined},
    [NOLI_NUMBERS_PROBE] = {offsetof(Defs, probe), open_run},
    [NOLI_NUMBERS_RUN] = {offsetof(Defs, run), open_run},
    [NOLI_NUMBERS_PARAMETER] = {offsetof(Defs, parameter), create_parameters},
    [NOLI_NUMBERS_GRADIENT] = {offsetof(Defs, gradient), find_gradient},
    [NOLI_NUMBERS_GOAL] = {offsetof(Defs, goal), create_goals},
    [NOLI_NUMBERS_VARIABLE] = {offsetof(Defs, variable), create_design},
    [NOLI_NUMBERS_DESIGN_FUNCTION] = {offsetof(Defs, function), create_design},
    [NOLI_NUMBERS_DESIGN] = {offsetof(Defs, design), create_design},
    [NOLI_NUMBERS_REPAIR] = {offsetof(Defs, repair), repair},
};

static void set(const NoliNumber* number, void* definition, int32_t i, double value) {
  char* at = (char*)definition + number->offset;
  switch (number->type) {
  case NOLI_NUMBER_DOUBLE:
    ((double*)(void*)at)[i] = value;
    break;
  case NOLI_NUMBER_INT32:
    ((int32_t*)(void*)at)[i] = (int32_t)value;
    break;
  case NOLI_NUMBER_INT64:
    ((int64_t*)(void*)at)[i] = (int64_t)value;
    break;
  case NOLI_NUMBER_SCALED:
    ((NoliScaled*)(void*)at)[i].value = value;
    break;
  }
}

// A value that the table does not allow is refused, with its name where there is a message; others
// may be refused for another reason.
static void try_value(Defs* d, NoliNumbersOf of, const NoliNumber* number, int32_t i,
                      double value) {
  char before[sizeof(NoliSimDef) + 64];
  char* definition = (char*)d + takers[of].offset;
  const char* name = noli_numbers(of)->definition;
  size_t size = number->offset + sizeof(NoliScaled) * (size_t)number->n;
  assert_true(size < sizeof before);
  memcpy(before, definition, size);
  set(number, definition, i, value);
  bool allowed = noli_number_allows(number, value);
  NoliStatus status = takers[of].take(d);
  if (!allowed && status != NOLI_ERROR_ARGUMENT) {
    print_error("%s.%s = %g is accepted: %d\n", name, number->member, value, (int)status);
    fail();
  }
  bool counts_things = strncmp(number->member, "n_", 2) == 0; // another message may come first
  bool has_message = of != NOLI_NUMBERS_CONTEXT && of != NOLI_NUMBERS_CCD;
  if (!allowed && has_message && !counts_things &&
      strstr(noli_context_message(d->context), number->noun) == NULL) {
    print_error("%s.%s = %g: %s\n", name, number->member, value, noli_context_message(d->context));
    fail();
  }
  memcpy(definition, before, size);
}

static void odd_values_are_refused(void** state) {
  (void)state;
  static Defs d;
  const double odd[] = {(double)NAN, (double)INFINITY, -(double)INFINITY, -1.0, -2.0, 0.0, -1e300};
  const double whole[] = {-1.0, -2.0, 0.0, (double)INT_MIN};
  test_empty_directory("definition_numbers");
  make_defs(&d);
  for (NoliNumbersOf of = 0; of < NOLI_NUMBERS_COUNT; of++) {
    const NoliNumberTable* table = noli_numbers(of);
    NoliStatus status = takers[of].take(&d);
    if (status != NOLI_OK) {
      print_error("%s: %s\n", table->definition, noli_context_message(d.context));
    }
    assert_int_equal(status, NOLI_OK);
    for (int32_t k = 0; k < table->n; k++) {
      const NoliNumber* number = &table->number[k];
      bool is_whole = number->type == NOLI_NUMBER_INT32 || number->type == NOLI_NUMBER_INT64;
      for (int v = 0; v < (is_whole ? 4 : 7); v++) {
        try_value(&d, of, number, number->n - 1, is_whole ? whole[v] : odd[v]);
      }
    }
  }
  free_defs(&d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_table_has_every_number),
      cmocka_unit_test(odd_values_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
