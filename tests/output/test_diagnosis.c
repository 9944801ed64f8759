// Causes of slow steps in diagnosis.csv and noli_sim_diagnosis: the pair or element, where,
// and the smallest gap; of a step that failed, too.
#include "output_support.h"

#include "noli/audit.h"
#include "noli/run.h"
#include "noli/scene.h"
#include "output/history.h"

#define RUN "diagnosis_run"

typedef struct Case {
  NoliContext* context;
  NoliScene* scene;
  NoliSim* sim;
  NoliRun* run;
  char* json;
} Case;

static NoliRunDef run_def(const Case* test) {
  NoliRunDef def = noli_default_run_def();
  def.directory = RUN;
  def.scene_name = "diagnosis";
  def.scene_json = test->json;
  def.sim_def = noli_scene_sim_def(test->scene);
  return def;
}

static void begin(Case* test, const char* quoted) {
  char* text = strdup(quoted);
  for (char* c = text; *c != '\0'; c++) {
    *c = *c == '\'' ? '"' : *c;
  }
  *test = (Case){.context = test_context(1)};
  test_empty_directory(RUN);
  ASSERT_OK(noli_scene_parse(test->context, text, "scene.json", NULL, NULL, 0, &test->scene));
  ASSERT_OK(noli_scene_json(test->scene, &test->json));
  ASSERT_OK(noli_sim_create(test->context, noli_scene_sim_def(test->scene), &test->sim));
  NoliRunDef def = run_def(test);
  ASSERT_OK(noli_run_open(test->context, &def, test->sim, &test->run));
  free(text);
}

static void end(Case* test) {
  noli_run_close(&test->run);
  noli_sim_destroy(&test->sim);
  noli_scene_free_text(test->context, &test->json);
  noli_scene_destroy(&test->scene);
  test_context_done(&test->context);
}

static const NoliDiagnosis* find(NoliSim* sim, NoliDiagnosisKind kind) {
  const NoliDiagnosis* diagnosis = NULL;
  int32_t n = 0;
  ASSERT_OK(noli_sim_diagnosis(sim, &diagnosis, &n));
  for (int32_t i = 0; i < n; i++) {
    if (diagnosis[i].kind == kind) {
      return &diagnosis[i];
    }
  }
  return NULL;
}

static int64_t rows_of(const char* kind, int64_t from_step) {
  NoliContext* context = test_context(1);
  NoliHistory history = {0};
  int64_t n = 0;
  ASSERT_OK(noli_history_read(context, RUN "/diagnosis.csv", &history));
  for (int64_t i = 0; i < history.n_rows; i++) {
    double step = 0.0;
    assert_true(noli_history_number(&history, i, 0, &step));
    n += step >= (double)from_step &&
         (kind == NULL || strcmp(noli_history_text(&history, i, 2), kind) == 0);
  }
  noli_history_free(context, &history);
  test_context_done(&context);
  return n;
}

static void require_clean_audit(void) {
  NoliContext* context = test_context(1);
  NoliRunAudit audit = {0};
  ASSERT_OK(noli_run_audit(context, RUN, &audit));
  if (audit.n_found > 0) {
    print_error("%s\n", audit.findings[0].message);
  }
  assert_int_equal(audit.n_found, 0);
  noli_run_audit_free(context, &audit);
  test_context_done(&context);
}

static const char falling[] =
    "{'time': {'step': 0.02, 'steps': 100}, 'bodies': ["
    " {'name': 'box', 'mesh': {'box': {'size': [1, 1, 1], 'cells': [1, 1, 1]}},"
    "  'rotate': [0, 0, 20], 'translate': [0, 1, 0], 'velocity': [0, -4, 0],"
    "  'material': {'young': 1e7}}],"
    " 'half_spaces': [{'name': 'floor'}]}";

// The lowest edge of a turned box meets the floor: the Newton step of the impact would have passed
// through it, so contact cuts it; the gap is that of the report, at that edge.
static void an_impact_is_cut_by_contact(void** state) {
  (void)state;
  Case test;
  NoliStepReport report;
  begin(&test, falling);
  const NoliDiagnosis* cut = NULL;
  for (int i = 0; i < 12 && cut == NULL; i++) {
    ASSERT_OK(noli_sim_step(test.sim, &report));
    ASSERT_OK(noli_run_step(test.run, test.sim));
    cut = find(test.sim, NOLI_DIAGNOSIS_CONTACT);
    assert_true((find(test.sim, NOLI_DIAGNOSIS_CLOSEST) != NULL) == isfinite(report.min_distance));
  }
  assert_non_null(cut);
  int32_t n_cut = 0;
  double shortest = 1.0;
  for (int32_t i = 0; i < report.newton_iterations; i++) {
    const NoliNewtonStat* stat = &report.newton[i];
    if (stat->alpha_ccd < 0.5 && stat->alpha >= 0.5 * stat->alpha_ccd) {
      n_cut++;
      shortest = noli_smaller(shortest, stat->alpha_ccd);
    }
  }
  assert_int_equal(cut->iterations, n_cut);
  ASSERT_NEAR(cut->alpha, shortest, 0.0);
  assert_string_equal(noli_sim_entity_name(test.sim, cut->entity[0]), "box");
  assert_string_equal(noli_sim_entity_name(test.sim, cut->entity[1]), "floor");

  const NoliDiagnosis* closest = find(test.sim, NOLI_DIAGNOSIS_CLOSEST);
  assert_non_null(closest);
  ASSERT_NEAR(closest->distance, report.min_distance, 1e-12 * report.min_distance);
  assert_int_equal(closest->n_vert[0], 1);
  assert_int_equal(closest->n_vert[1], 0);
  const double* x = noli_sim_positions(test.sim) + 3 * (ptrdiff_t)closest->vertex[0][0];
  for (int32_t k = 0; k < 3; k++) {
    ASSERT_NEAR(closest->position[k], k == 1 ? 0.5 * x[1] : x[k], 1e-12);
  }
  assert_true(rows_of("contact", 0) == 1 && rows_of("closest", 0) >= 1);
  ASSERT_OK(noli_run_save(test.run, test.sim, false, "interrupted"));
  require_clean_audit();
  end(&test);
}

// Two boxes whose parallel edges cross: between the middles of the edges.
static void crossing_edges_are_placed_between_them(void** state) {
  (void)state;
  Case test;
  NoliStepReport report;
  begin(&test,
        "{'time': {'step': 1e-6, 'steps': 9}, 'gravity': [0, 0, 0], 'contact': {'distance': 0.1},"
        " 'bodies': ["
        " {'name': 'low', 'mesh': {'box': {'size': [1, 1, 4], 'cells': [1, 1, 1]}},"
        "  'rotate': [0, 0, 45], 'translate': [0, -0.752106781186548, 0]},"
        " {'name': 'high', 'mesh': {'box': {'size': [4, 1, 1], 'cells': [1, 1, 1]}},"
        "  'rotate': [45, 0, 0], 'translate': [0, 0.752106781186548, 0]}]}");
  ASSERT_OK(noli_sim_step(test.sim, &report));
  const NoliDiagnosis* closest = find(test.sim, NOLI_DIAGNOSIS_CLOSEST);
  assert_non_null(closest);
  ASSERT_NEAR(closest->distance, 0.09, 1e-3); // contact has opened it
  ASSERT_NEAR(closest->distance, report.min_distance, 1e-12);
  assert_int_equal(closest->n_vert[0], 2);
  assert_int_equal(closest->n_vert[1], 2);
  for (int32_t k = 0; k < 3; k++) {
    ASSERT_NEAR(closest->position[k], 0.0, 1e-3);
  }
  end(&test);
}

// A soft block that hits the floor at high speed: an element that the Newton step would invert cuts
// it, and is placed at its centre.
static void an_element_that_would_invert_is_named(void** state) {
  (void)state;
  Case test;
  begin(&test,
        "{'time': {'step': 0.02, 'steps': 9}, 'half_spaces': [{'name': 'floor'}],"
        " 'bodies': [{'name': 'block', 'mesh': {'box': {'size': [1, 1, 1], 'cells': [2, 2, 2]}},"
        "  'translate': [0, 0.6, 0], 'velocity': [0, -40, 0], 'material': {'young': 1e4}}]}");
  const NoliDiagnosis* cut = NULL;
  for (int i = 0; i < 4 && cut == NULL; i++) {
    ASSERT_OK(noli_sim_step(test.sim, NULL));
    cut = find(test.sim, NOLI_DIAGNOSIS_INVERSION);
  }
  assert_non_null(cut);
  assert_true(cut->iterations > 0 && cut->alpha < 0.5);
  assert_int_equal(cut->entity[1], NOLI_NULL_INDEX);
  assert_int_equal(cut->n_vert[0], 4);
  for (int32_t k = 0; k < 3; k++) {
    double mean = 0.0;
    for (int32_t i = 0; i < 4; i++) {
      mean += 0.25 * noli_sim_positions(test.sim)[3 * (ptrdiff_t)cut->vertex[0][i] + k];
    }
    ASSERT_NEAR(cut->position[k], mean, 1e-12);
  }
  end(&test);
}

// A step that fails is the last one in the file, once; the run that is resumed takes it out.
static void a_failed_step_is_told(void** state) {
  (void)state;
  Case test;
  NoliStatus status = NOLI_OK;
  char scene[1024];
  snprintf(scene, sizeof scene, "%.*s, 'solver': {'max_iterations': 5, 'max_substeps': 1}}",
           (int)strlen(falling) - 1, falling);
  begin(&test, scene);
  int64_t n = 0;
  for (; status == NOLI_OK && n < 40; n++) {
    status = noli_sim_step(test.sim, NULL);
    if (status == NOLI_OK) {
      ASSERT_OK(noli_run_step(test.run, test.sim));
    }
  }
  assert_int_equal(status, NOLI_NOT_CONVERGED);
  assert_non_null(find(test.sim, NOLI_DIAGNOSIS_CONTACT));
  assert_null(find(test.sim, NOLI_DIAGNOSIS_CLOSEST));
  assert_int_equal(rows_of(NULL, n), 0);
  ASSERT_OK(noli_run_save(test.run, test.sim, false, "failed"));
  assert_int_equal(rows_of("contact", n), 1);
  ASSERT_OK(noli_run_save(test.run, test.sim, false, "failed"));
  assert_int_equal(rows_of("contact", n), 1);
  require_clean_audit();

  noli_run_close(&test.run);
  NoliRunDef def = run_def(&test);
  ASSERT_OK(noli_run_reopen(test.context, &def, test.sim, &test.run));
  assert_int_equal(rows_of(NULL, n), 0);
  end(&test);
}

// A damaged row is found; a run of an earlier version, without the file, is clean.
static void the_audit_reads_it(void** state) {
  (void)state;
  Case test;
  begin(&test, falling);
  for (int i = 0; i < 12; i++) {
    ASSERT_OK(noli_sim_step(test.sim, NULL));
    ASSERT_OK(noli_run_step(test.run, test.sim));
  }
  ASSERT_OK(noli_run_save(test.run, test.sim, false, "interrupted"));
  require_clean_audit();
  static const struct {
    const char* from;
    const char* to;
  } damages[] = {
      {"closest", "nearest"}, {",box,", ",bix,"}, {",floor,", ",floor,9"}, {"\n12,", "\n14,"}};
  for (size_t k = 0; k < sizeof damages / sizeof *damages; k++) {
    size_t size = 0;
    char* text = test_read_file(RUN "/diagnosis.csv", &size);
    char* damaged = calloc(size + 16, 1);
    char* at = strstr(strchr(text, '\n') + 1, damages[k].from);
    assert_non_null(at);
    sprintf(damaged, "%.*s%s%s", (int)(at - text), text, damages[k].to,
            at + strlen(damages[k].from));
    test_write_file(RUN "/diagnosis.csv", damaged, strlen(damaged));
    NoliRunAudit audit = {0};
    ASSERT_OK(noli_run_audit(test.context, RUN, &audit));
    assert_true(audit.n_found >= 1);
    assert_string_equal(audit.findings[0].file, "diagnosis.csv");
    noli_run_audit_free(test.context, &audit);
    test_write_file(RUN "/diagnosis.csv", text, size);
    free(text);
    free(damaged);
  }
  unlink(RUN "/diagnosis.csv");
  require_clean_audit();
  end(&test);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_impact_is_cut_by_contact),
      cmocka_unit_test(crossing_edges_are_placed_between_them),
      cmocka_unit_test(an_element_that_would_invert_is_named),
      cmocka_unit_test(a_failed_step_is_told),
      cmocka_unit_test(the_audit_reads_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
