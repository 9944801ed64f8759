// Every public function is called with NULL for each of its pointers in turn, with valid values for
// the others, and with NULL for all (include/noli/base.h). scripts/null_calls.py writes the calls.
// Each is made in a child process, with objects that it may destroy: it must return.
#define _DEFAULT_SOURCE

#include "output/output_support.h"

#include "noli/import.h"

#include <limits.h>
#include <sys/wait.h>

enum { ROOM = 1 << 16 };

// Valid values.
typedef struct Fixture {
  NoliContext* context;
  TestSim test;
  NoliSim* sim;
  const NoliSimDef* sim_def;
  NoliMesh* mesh;
  NoliScene* scene;
  NoliRun* run;
  NoliBatch* batch;
  NoliParameters* parameters;
  NoliGoals* goals;
  NoliDesign* design;
  NoliBarrierPotential* barrier;
  NoliGcpPotential* gcp;
  NoliContextDef contextdef;
  NoliBodyDef bodydef;
  NoliMaterialDef materialdef;
  NoliPairDef pairdef;
  NoliParameterDef parameterdef;
  NoliGoalDef goaldef;
  NoliGradientDef gradientdef;
  NoliVariableDef variabledef;
  NoliDesignDef designdef;
  NoliGcpDef gcpdef;
  NoliRepairDef repairdef;
  NoliRunDef rundef;
  const char* text; // a name or path
  const char* json; // a scene, longer than sizes that are given for it
  const char* words[2];
  void* slot[4]; // where results go
  _Alignas(64) char room[ROOM];
} Fixture;

// ---- what a call returns ------------------------------------------------------------------------

typedef struct Returned {
  NoliStatus status;
  bool neutral; // 0, NULL, "", false, an index to nothing, not a finite number
} Returned;

static Returned nothing(void) {
  return (Returned){.neutral = true};
}

static Returned of_status(NoliStatus status) {
  return (Returned){.status = status};
}

static Returned of_text(const char* text) {
  return (Returned){.neutral = text == NULL || text[0] == '\0'};
}

static Returned of_pointer(const void* pointer) {
  return (Returned){.neutral = pointer == NULL};
}

static Returned of_number(double number) {
  return (Returned){.neutral = number == 0.0 || number == NOLI_NULL_INDEX || number == 1.0};
}

static Returned of_double(double number) {
  return (Returned){.neutral = number == 0.0 || !isfinite(number)};
}

typedef struct Call {
  const char* function;
  const char* null; // the argument
  Returned (*make)(Fixture* fixture);
  bool refuses; // with NOLI_ERROR_ARGUMENT
  bool names;   // itself in the message
  bool neutral; // returns what stands for nothing
} Call;

typedef struct NameCall {
  const char* function;
  const char* (*make)(const int64_t n[2]);
} NameCall;

// formats are arguments like others here
#pragma GCC diagnostic ignored "-Wformat-security"
#include "null_calls.h"

enum { N_CALLS = sizeof calls / sizeof calls[0], N_NAMES = sizeof name_calls / sizeof *name_calls };

// ---- valid values -------------------------------------------------------------------------------

static const char scene_text[] =
    "{\"time\": {\"step\": 0.01, \"steps\": 2}, \"bodies\": [{\"name\": \"a\", \"mesh\": "
    "{\"box\": {\"size\": [0.1, 0.1, 0.1], \"cells\": [1, 1, 1]}}}]}";

static void create_derivatives(Fixture* f) {
  static NoliGoalDef goal;
  f->parameterdef = noli_default_parameter_def();
  f->parameterdef.kind = "young";
  f->parameterdef.of = f->test.body.name;
  ASSERT_OK(noli_parameters_create(f->sim, &f->parameterdef, 1, &f->parameters));
  goal = f->goaldef = noli_default_goal_def();
  goal.quantity = f->goaldef.quantity = "position";
  goal.of = f->goaldef.of = f->test.body.name;
  ASSERT_OK(noli_goals_create(f->sim, f->parameters, &f->goaldef, 1, &f->goals));
  f->gradientdef = noli_default_gradient_def();
  f->gradientdef.n_steps = 1;
  f->variabledef = noli_default_variable_def();
  f->variabledef.parameter = f->parameterdef;
  f->variabledef.lower[0] = 1e4;
  f->variabledef.upper[0] = 1e6;
  f->designdef = noli_default_design_def();
  f->designdef.variables = &f->variabledef;
  f->designdef.n_variables = 1;
  f->designdef.objective.goals = &goal;
  f->designdef.objective.n_goals = 1;
  f->designdef.gradient = f->gradientdef;
  f->designdef.max_evaluations = 1;
  ASSERT_OK(noli_design_create(f->sim, &f->designdef, &f->design));
}

static void create_potentials(Fixture* f) {
  NoliMesh* box = NULL;
  ASSERT_OK(noli_mesh_make_box(f->context, (double[]){1, 1, 1}, (int32_t[]){1, 1, 1}, true, &box));
  f->gcpdef = noli_default_gcp_def();
  f->gcpdef.eps_target = 0.01;
  ASSERT_OK(noli_gcp_potential_create(f->context, &f->gcpdef, box->x, box->n_vert, box->tri,
                                      box->n_tri, &f->gcp));
  ASSERT_OK(noli_barrier_potential_create(f->context, box->x, box->n_vert, box->tri, box->n_tri,
                                          0.01, &f->barrier));
  noli_mesh_destroy(f->context, &box);
}

static void create_fixture(Fixture* f) {
  *f = (Fixture){
      .context = test_context(1), .text = "no_such", .json = scene_text, .words = {"one", "two"}};
  test_sim_create(f->context, 1, &f->test);
  f->sim = f->test.sim;
  f->sim_def = &f->test.def;
  f->contextdef = noli_default_context_def();
  f->bodydef = f->test.body;
  f->materialdef = noli_default_material_def();
  f->pairdef = noli_default_pair_def();
  f->pairdef.b = 1;
  f->repairdef = noli_default_repair_def();
  f->rundef = noli_default_run_def();
  f->rundef.directory = "null_calls_run";
  f->rundef.scene_name = "null";
  f->rundef.scene_json = "{}";
  f->rundef.replace_unfinished = true;
  test_empty_directory(f->rundef.directory);
  ASSERT_OK(noli_run_open(f->context, &f->rundef, f->sim, &f->run));
  ASSERT_OK(noli_sim_step(f->sim, NULL));
  ASSERT_OK(
      noli_mesh_make_box(f->context, (double[]){1, 1, 1}, (int32_t[]){1, 1, 1}, false, &f->mesh));
  ASSERT_OK(noli_scene_parse(f->context, scene_text, "scene.json", NULL, NULL, 0, &f->scene));
  ASSERT_OK(noli_batch_create(f->context, f->sim, 2, 1, &f->batch));
  create_derivatives(f);
  create_potentials(f);
}

static void destroy_fixture(Fixture* f) {
  noli_gcp_potential_destroy(&f->gcp);
  noli_barrier_potential_destroy(&f->barrier);
  noli_design_destroy(&f->design);
  noli_goals_destroy(&f->goals);
  noli_parameters_destroy(&f->parameters);
  noli_batch_destroy(&f->batch);
  noli_scene_destroy(&f->scene);
  noli_mesh_destroy(f->context, &f->mesh);
  noli_run_close(&f->run);
  test_sim_destroy(f->context, &f->test);
  test_context_done(&f->context);
}

// ---- calls --------------------------------------------------------------------------------------

// How a child ends.
enum { GOOD = 40, NOT_REFUSED, NOT_NAMED, NOT_NEUTRAL };

static bool is_named(const Call* call, const NoliContext* context) {
  // callers know an inline function that adds the size of a struct
  const char *message = noli_context_message(context), *suffix = strstr(call->function, "_sized");
  size_t n = suffix != NULL ? (size_t)(suffix - call->function) : strlen(call->function);
  return strncmp(message, call->function, n) == 0 && strncmp(message + n, ": needs ", 8) == 0;
}

static int child_end(const Call* call, Returned got, const NoliContext* context) {
  return call->refuses && got.status != NOLI_ERROR_ARGUMENT ? NOT_REFUSED
         : call->names && !is_named(call, context)          ? NOT_NAMED
         : call->neutral && !got.neutral                    ? NOT_NEUTRAL
                                                            : GOOD;
}

static bool makes(const Call* call, Fixture* fixture) {
  int end = 0;
  fflush(NULL);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    // not those of the test framework
    for (int number = SIGHUP; number <= SIGTERM; number++) {
      signal(number, SIG_DFL);
    }
    alarm(300);
    Returned got = call->make(fixture);
    _exit(child_end(call, got, fixture->context));
  }
  assert_int_equal(waitpid(child, &end, 0), child);
  bool good = WIFEXITED(end) && WEXITSTATUS(end) == GOOD;
  if (!good) {
    print_error("%s with NULL for %s: %s %d\n", call->function, call->null,
                !WIFEXITED(end)                   ? "ended by signal"
                : WEXITSTATUS(end) == NOT_REFUSED ? "does not refuse it,"
                : WEXITSTATUS(end) == NOT_NAMED   ? "is not named in the message,"
                : WEXITSTATUS(end) == NOT_NEUTRAL ? "returns something,"
                                                  : "ended the process,",
                WIFEXITED(end) ? WEXITSTATUS(end) : WTERMSIG(end));
  }
  return good;
}

static void every_function_takes_null(void** state) {
  (void)state;
  static Fixture fixture;
  int n_bad = 0;
  create_fixture(&fixture);
  assert_true(N_CALLS > 900);
  for (size_t i = 0; i < N_CALLS; i++) {
    n_bad += makes(&calls[i], &fixture) ? 0 : 1;
  }
  destroy_fixture(&fixture);
  assert_int_equal(n_bad, 0);
}

// Names of what does not exist: NULL, "" or a fixed text, whatever the number.
static void names_exist_for_every_number(void** state) {
  (void)state;
  const int64_t odd[] = {-1, 0, 1, 99, 1000, INT_MAX, INT_MIN, -2};
  enum { N_ODD = sizeof odd / sizeof *odd };
  assert_true(N_NAMES >= 12);
  for (size_t i = 0; i < N_NAMES; i++) {
    for (int k = 0; k < N_ODD * N_ODD; k++) {
      const int64_t n[2] = {odd[k / N_ODD], odd[k % N_ODD]};
      const char* name = name_calls[i].make(n);
      assert_true(name == NULL || strlen(name) < 1000);
      bool numbered = strcmp(name_calls[i].function, "noli_status_text") != 0;
      bool nowhere = n[0] < 0 || n[0] > 100;
      assert_true(!numbered || !nowhere || name == NULL || name[0] == '\0');
    }
  }
}

// Counts of nothing.
static void counts_become_zero(void** state) {
  (void)state;
  int32_t n[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  int64_t n_pairs = 1;
  assert_null(noli_sim_segments(NULL, &n[0]));
  assert_null(noli_sim_points(NULL, &n[1]));
  assert_null(noli_scene_files(NULL, &n[2]));
  assert_null(noli_sim_motion_nodes(NULL, 0, &n[3]));
  assert_null(noli_sim_motion_targets(NULL, 0, &n[4]));
  assert_null(noli_sim_force_values(NULL, 0, NULL, &n[5]));
  noli_sim_body_range(NULL, 0, &n[6], &n[7]);
  assert_null(noli_gcp_potential_pairs(NULL, &n_pairs));
  for (int k = 0; k < 8; k++) {
    assert_int_equal(n[k], 0);
  }
  assert_true(n_pairs == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_function_takes_null),
      cmocka_unit_test(names_exist_for_every_number),
      cmocka_unit_test(counts_become_zero),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
