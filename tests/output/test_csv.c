#include "output_support.h"

#include "output/histories.h"

static const char steps_header[] =
    "step,time,wall_s,newton,linear_iterations,contacts,min_distance,kappa,kinetic,elastic,gravity,"
    "contact_energy,friction_energy,momentum_x,momentum_y,momentum_z,max_speed,max_penetration,"
    "damping_loss,substeps,retries,friction_loss,friction_ratio,friction_error,"
    "linear_fallbacks,solver_fallbacks,increment,imbalance,friction_stored,contacts_held,"
    "contacts_sliding,slid,adhesion_energy,rigid_stretch,joint_gap\n";

static void assert_content(const char* path, const char* want) {
  char* text = test_read_file(path, NULL);
  assert_string_equal(text, want);
  free(text);
}

static void create_history(NoliContext* context, NoliHistoryKind kind,
                           const NoliHistorySource* source, const char* path, NoliCsv* csv) {
  char* header = NULL;
  ASSERT_OK(noli_histories[kind].make_header(context, source, &header));
  ASSERT_OK(noli_csv_create(context, path, header, csv));
  noli_free(context, header);
}

// Other programs rely on the names and their order.
static void header_and_row_are_the_contract(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliCsv csv;
  const NoliHistorySource source = {0};
  create_history(context, NOLI_HISTORY_STEPS, &source, "csv_steps.csv", &csv);
  assert_content("csv_steps.csv", steps_header);

  // a report with a different number in every column
  const NoliStepReport report = {.step = 3,
                                 .time = 0.1,
                                 .wall = 0.25,
                                 .newton_iterations = 4,
                                 .linear_iterations = 5,
                                 .contacts = 6,
                                 .min_distance = 0.5,
                                 .kappa = 8,
                                 .kinetic = 9,
                                 .elastic = 10,
                                 .gravity = 11,
                                 .contact_energy = 12,
                                 .friction_energy = 13,
                                 .momentum = {14, 15, 16},
                                 .max_speed = 17,
                                 .damping_loss = 18,
                                 .substeps = 19,
                                 .retries = 20,
                                 .friction_loss = 21,
                                 .friction_ratio = 22,
                                 .friction_error = 23,
                                 .linear_fallbacks = 24,
                                 .solver_fallbacks = 25,
                                 .increment = 26,
                                 .imbalance = 27,
                                 .friction_stored = 28,
                                 .contacts_held = 29,
                                 .contacts_sliding = 30,
                                 .slid = 31,
                                 .adhesion_energy = 32,
                                 .rigid_stretch = 33,
                                 .joint_gap = 34};
  ASSERT_OK(noli_histories[NOLI_HISTORY_STEPS].append(&csv, &source, &report));

  // the row
  char want[1024];
  snprintf(
      want, sizeof want,
      "%s3,0.10000000000000001,0.25,4,5,6,0.5,8,9,10,11,12,13,14,15,16,17,0,18,19,20,21,22,23,24,"
      "25,26,27,28,29,30,31,32,33,34\n",
      steps_header);
  // the row is there before the file is closed
  assert_content("csv_steps.csv", want);
  noli_csv_close(&csv);
  test_context_done(&context);
}

static void reopening_cuts_back(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliCsv csv;
  static const char before[] = "step,a\n1,x\n2,x\n2,y\n3,x\n10,x\n11,torn";
  test_write_file("csv_cut.csv", before, sizeof before - 1);
  ASSERT_OK(noli_csv_reopen(context, "csv_cut.csv", "step,a\n", 2, &csv));
  assert_content("csv_cut.csv", "step,a\n1,x\n2,x\n2,y\n");
  ASSERT_OK(noli_csv_append(&csv, "3,z\n", 4));
  noli_csv_close(&csv);
  ASSERT_OK(noli_csv_reopen(context, "csv_cut.csv", "step,a\n", 100, &csv));
  assert_content("csv_cut.csv", "step,a\n1,x\n2,x\n2,y\n3,z\n");
  noli_csv_close(&csv);
  ASSERT_STATUS(noli_csv_reopen(context, "csv_cut.csv", "step,b\n", 100, &csv), NOLI_ERROR_FORMAT);
  ASSERT_STATUS(noli_csv_reopen(context, "csv_none.csv", "step,b\n", 100, &csv), NOLI_ERROR_IO);
  test_context_done(&context);
}

static void full_disk_tears_no_row(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliCsv csv;
  ASSERT_OK(noli_csv_create(context, "csv_full.csv", "step\n", &csv));
  ASSERT_OK(noli_csv_append(&csv, "1,abcdef\n", 9));
  test_limit_files(18);
  ASSERT_STATUS(noli_csv_append(&csv, "2,abcdef\n", 9), NOLI_ERROR_IO);
  test_unlimit_files();
  assert_non_null(strstr(noli_context_message(context), "csv_full.csv: cannot write: "));
  assert_content("csv_full.csv", "step\n1,abcdef\n");
  // there is room again
  ASSERT_OK(noli_csv_append(&csv, "2,abcdef\n", 9));
  assert_content("csv_full.csv", "step\n1,abcdef\n2,abcdef\n");
  noli_csv_close(&csv);
  test_context_done(&context);
}

// Names that contain separators are quoted.
static void forces_name_both_bodies(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  TestSim test;
  NoliCsv csv;
  const NoliPairForce* pairs = NULL;
  int32_t n_pairs = 0;
  test_sim_create(context, 2, &test);
  const NoliHistorySource source = {.sim = test.sim};
  create_history(context, NOLI_HISTORY_FORCES, &source, "csv_forces.csv", &csv);
  // at 1 m/s the box is on the floor after a few steps
  for (int i = 0; i < 10 && n_pairs == 0; i++) {
    ASSERT_OK(noli_sim_step(test.sim, NULL));
    ASSERT_OK(noli_sim_pair_forces(test.sim, &pairs, &n_pairs));
  }
  assert_int_equal(n_pairs, 1);
  ASSERT_OK(noli_histories[NOLI_HISTORY_FORCES].append(&csv, &source, NULL));
  noli_csv_close(&csv);
  char* text = test_read_file("csv_forces.csv", NULL);
  const char* row = strchr(text, '\n') + 1;
  assert_int_equal(strncmp(text,
                           "step,time,a,b,contacts,normal_x,normal_y,normal_z,friction_x,"
                           "friction_y,friction_z,min_distance\n",
                           (size_t)(row - text)),
                   0);
  assert_true(strstr(row, ",\"box, \"\"soft\"\"\",floor,") != NULL ||
              strstr(row, ",floor,\"box, \"\"soft\"\"\",") != NULL);
  free(text);
  test_sim_destroy(context, &test);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(header_and_row_are_the_contract),
      cmocka_unit_test(reopening_cuts_back),
      cmocka_unit_test(full_disk_tears_no_row),
      cmocka_unit_test(forces_name_both_bodies),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
