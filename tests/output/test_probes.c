// probes.csv: values of vertices for each step, against closed forms and the library's own arrays.
#include "output_support.h"

#include "noli/run.h"
#include "noli/scene.h"
#include "output/history.h"

typedef struct SceneRun {
  NoliScene* scene;
  NoliSim* sim;
  NoliRun* run;
} SceneRun;

static NoliStatus parse(NoliContext* context, const char* text, NoliScene** scene) {
  char* copy = strdup(text);
  for (char* c = copy; *c != '\0'; c++) {
    *c = *c == '\'' ? '"' : *c;
  }
  NoliStatus status = noli_scene_parse(context, copy, "probes.json", NULL, NULL, 0, scene);
  free(copy);
  return status;
}

static SceneRun open_run(NoliContext* context, const char* text, const char* directory,
                         bool resume) {
  SceneRun made = {0};
  ASSERT_OK(parse(context, text, &made.scene));
  ASSERT_OK(noli_sim_create(context, noli_scene_sim_def(made.scene), &made.sim));
  NoliSceneOutput output = noli_scene_output(made.scene);
  NoliRunDef def = noli_default_run_def();
  def.directory = directory;
  def.scene_name = "probes";
  def.scene_json = "{}";
  def.frame_interval = 1000;
  def.checkpoint_seconds = -1.0;
  def.probes = output.probes;
  def.n_probes = output.n_probes;
  ASSERT_OK(resume ? noli_run_reopen(context, &def, made.sim, &made.run)
                   : noli_run_open(context, &def, made.sim, &made.run));
  return made;
}

static void do_steps(SceneRun* run, int n) {
  for (int i = 0; i < n; i++) {
    ASSERT_OK(noli_sim_step(run->sim, NULL));
    ASSERT_OK(noli_run_step(run->run, run->sim));
  }
}

static void close_run(SceneRun* run) {
  noli_run_close(&run->run);
  noli_sim_destroy(&run->sim);
  noli_scene_destroy(&run->scene);
}

static double value_at(const NoliHistory* history, int64_t row, const char* name) {
  double value = NAN;
  int32_t column = noli_history_column(history, name);
  assert_true(column != NOLI_NULL_INDEX);
  assert_true(noli_history_number(history, row, column, &value));
  return value;
}

static const char bar[] =
    "{'time': {'step': 1, 'steps': 3, 'integrator': 'quasi_static'},"
    " 'solver': {'tolerance': '1e-8 l'}, 'gravity': [0, 0, 0],"
    " 'bodies': [{'name': 'bar', 'mesh': {'box': {'size': [1, 0.2, 0.1], 'cells': [5, 2, 1]}},"
    "             'material': {'young': 1e9, 'poisson': 0, 'density': 1000}}],"
    " 'prescribed': ["
    "   {'body': 'bar', 'select': {'side': '-x'}, 'motion': {'hold': true}},"
    "   {'body': 'bar', 'select': {'side': '+x'}, 'motion': {'displacement': ['1e-4*(5-2*t)', "
    "'free', "
    "'free']}}],"
    " 'output': {'probes': ["
    "   {'name': 'tip', 'body': 'bar', 'select': {'side': '+x'}, 'quantity': 'displacement'},"
    "   {'name': 'lowest', 'body': 'bar', 'quantity': 'position', 'of': 'min'},"
    "   {'name': 'highest', 'body': 'bar', 'quantity': 'displacement', 'of': 'max'},"
    "   {'name': 'pull', 'body': 'bar', 'select': {'side': '+x'}, 'quantity': 'reaction'},"
    "   {'name': 'mean pull', 'body': 'bar', 'select': {'side': '+x'}, 'quantity': 'reaction', "
    "'of': 'mean'},"
    "   {'name': 's', 'body': 'bar', 'quantity': 'stress'},"
    "   {'name': 'p', 'body': 'bar', 'quantity': 'principal_stress', 'of': 'max'},"
    "   {'name': 'mises', 'body': 'bar', 'quantity': 'von_mises', 'of': 'min'}]}}";

// A bar without lateral contraction, in tension, then in compression: displacement u, stress
// E u / l, force E A u / l.
static void a_bar_is_pulled_and_pushed(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliHistory history = {0};
  test_empty_directory("probes_bar");
  SceneRun run = open_run(context, bar, "probes_bar", false);
  do_steps(&run, 3);
  close_run(&run);

  // the header is the contract
  char* text = test_read_file("probes_bar/probes.csv", NULL);
  static const char header[] =
      "step,time,tip_x,tip_y,tip_z,lowest_x,lowest_y,lowest_z,highest_x,highest_y,highest_z,"
      "pull_x,pull_y,pull_z,mean pull_x,mean pull_y,mean pull_z,s_xx,s_yy,s_zz,s_xy,s_yz,s_xz,"
      "p_1,p_2,p_3,mises\n";
  assert_memory_equal(text, header, sizeof header - 1);
  free(text);

  // rows; a compressible neo-Hookean bar is linear to 1e-3
  ASSERT_OK(noli_history_read(context, "probes_bar/probes.csv", &history));
  assert_int_equal(history.n_rows, 3);
  for (int64_t row = 0; row < 3; row++) {
    double u = 1e-4 * (double)(3 - 2 * row), stress = 1e9 * u, force = stress * 0.02;
    double small = 1e-7, low = 1e-3 * fabs(stress);
    assert_true(value_at(&history, row, "step") == (double)(row + 1));
    assert_true(value_at(&history, row, "time") == (double)(row + 1));
    ASSERT_NEAR(value_at(&history, row, "tip_x"), u, 1e-12);
    ASSERT_NEAR(value_at(&history, row, "tip_y"), 0.0, small);
    ASSERT_NEAR(value_at(&history, row, "lowest_x"), -0.5, 1e-12);
    ASSERT_NEAR(value_at(&history, row, "lowest_y"), -0.1, 1e-6);
    ASSERT_NEAR(value_at(&history, row, "highest_x"), fmax(u, 0.0), 1e-12);
    ASSERT_NEAR(value_at(&history, row, "pull_x"), force, 1e-3 * fabs(force));
    ASSERT_NEAR(value_at(&history, row, "mean pull_x"), force / 6.0, 1e-3 * fabs(force));
    ASSERT_NEAR(value_at(&history, row, "s_xx"), stress, low);
    ASSERT_NEAR(value_at(&history, row, "s_yy"), 0.0, low);
    ASSERT_NEAR(value_at(&history, row, "s_xy"), 0.0, low);
    ASSERT_NEAR(value_at(&history, row, "p_1"), fmax(stress, 0.0), low);
    ASSERT_NEAR(value_at(&history, row, "p_3"), fmin(stress, 0.0), low);
    ASSERT_NEAR(value_at(&history, row, "mises"), fabs(stress), low);
  }
  noli_history_free(context, &history);
  test_context_done(&context);
}

// A linear cantilever of order 3: the sag of its tip by its own weight, w l^4 / (8 E I) and the
// part of shear, w l^2 / (2 k G A) with k = 5/6. Its clamp, whose nodes are not all vertices,
// carries the weight. The last nodes of a rod with twist are angles, and no probe has them.
static void a_cantilever_sags(void** state) {
  (void)state;
  static const char text[] =
      "{'time': {'step': 1, 'steps': 1, 'integrator': 'quasi_static'},"
      " 'solver': {'tolerance': '1e-8 l'}, 'gravity': [0, -10, 0],"
      " 'bodies': [{'name': 'beam', 'order': 3,"
      "             'mesh': {'box': {'size': [1, 0.1, 0.1], 'cells': [8, 1, 1]}},"
      "             'material': {'law': 'corotated_linear', 'young': 1e9, 'poisson': 0, 'density': "
      "1000}},"
      "   {'name': 'wire', 'mesh': {'line': {'segments': 10}}, 'translate': [0, 0, 2],"
      "    'rod': {'radius': 0.01, 'twist': 1}, 'material': {'young': 1e11, 'density': 1000}}],"
      " 'prescribed': [{'body': 'beam', 'select': {'side': '-x'}, 'motion': {'hold': true}},"
      "   {'body': 'wire', 'select': {'side': '-x', 'depth': 0.15}, 'motion': {'hold': true}}],"
      " 'output': {'probes': ["
      "   {'name': 'tip', 'body': 'beam', 'select': {'side': '+x'}, 'quantity': 'displacement'},"
      "   {'name': 'clamp', 'body': 'beam', 'select': {'side': '-x'}, 'quantity': 'reaction'},"
      "   {'name': 'wire', 'body': 'wire', 'quantity': 'position', 'of': 'min'},"
      "   {'name': 'hold', 'body': 'wire', 'quantity': 'reaction'}]}}";
  NoliContext* context = test_context(1);
  NoliHistory history = {0};
  test_empty_directory("probes_beam");
  SceneRun run = open_run(context, text, "probes_beam", false);
  do_steps(&run, 1);
  close_run(&run);
  ASSERT_OK(noli_history_read(context, "probes_beam/probes.csv", &history));
  double load = 1000.0 * 0.01 * 10.0, inertia = 1e-4 / 12.0;
  double sag = load / (8.0 * 1e9 * inertia) + load / (2.0 * 5.0 / 6.0 * 5e8 * 0.01);
  ASSERT_NEAR(value_at(&history, 0, "tip_y"), -sag, 0.005 * sag);
  ASSERT_NEAR(value_at(&history, 0, "clamp_y"), load, 1e-4 * load);
  ASSERT_NEAR(value_at(&history, 0, "clamp_x"), 0.0, 1e-4 * load);
  double wire = 1000.0 * acos(-1.0) * 1e-4 * 10.0;
  ASSERT_NEAR(value_at(&history, 0, "wire_z"), 2.0, 1e-12);
  ASSERT_NEAR(value_at(&history, 0, "hold_y"), wire, 1e-4 * wire);
  ASSERT_NEAR(value_at(&history, 0, "hold_x"), 0.0, 1e-4 * wire);
  noli_history_free(context, &history);
  test_context_done(&context);
}

static const char hung[] =
    "{'time': {'step': 1, 'steps': 1, 'integrator': 'quasi_static'},"
    " 'solver': {'tolerance': '1e-9 l'},"
    " 'bodies': [{'name': 'block', 'copies': {'count': 2, 'translate': [3, 0, 0]},"
    "             'mesh': {'box': {'size': [1, 0.5, 0.8], 'cells': [3, 3, 3]}},"
    "             'material': {'young': 1e6, 'density': 1000}}],"
    " 'springs': [{'name': 'legs', 'body': 'block', 'select': {'side': '-y'}, 'stiffness': 4e5}],"
    " 'output': {'probes': ["
    "   {'name': 'legs', 'body': 'block', 'quantity': 'spring_force'},"
    "   {'name': 'foot', 'body': 'block[1]', 'select': {'side': '-y'}, 'quantity': 'displacement'"
    "}]}}";

// The springs of each copy carry its weight, in probes.csv as in springs.csv.
static void blocks_hang_on_springs(void** state) {
  (void)state;
  const double weight = 1000.0 * 0.4 * 9.80665;
  NoliContext* context = test_context(1);
  NoliHistory probes = {0}, springs = {0};
  test_empty_directory("probes_hung");
  SceneRun run = open_run(context, hung, "probes_hung", false);
  do_steps(&run, 1);
  ASSERT_OK(noli_history_read(context, "probes_hung/probes.csv", &probes));
  ASSERT_OK(noli_history_read(context, "probes_hung/springs.csv", &springs));
  ASSERT_NEAR(value_at(&probes, 0, "legs_block[0]_y"), weight, 1e-6 * weight);
  ASSERT_NEAR(value_at(&probes, 0, "foot_y"), -weight / 4e5, 1e-9);
  assert_int_equal(springs.n_rows, 2);
  assert_string_equal(noli_history_text(&springs, 1, 2), "legs_block[1]");
  assert_string_equal(noli_history_text(&springs, 1, 3), "block[1]");
  assert_string_equal(noli_history_text(&springs, 1, 4), "");
  ASSERT_NEAR(value_at(&springs, 1, "force_y"), weight, 1e-6 * weight);
  close_run(&run);
  noli_history_free(context, &probes);
  noli_history_free(context, &springs);
  test_context_done(&context);
}

static const char blocks[] =
    "{'time': {'step': 0.02, 'steps': 40}, 'solver': {'tolerance': 1e-6},"
    " 'friction': {'coefficient': 0.5},"
    " 'bodies': [{'name': 'block', 'translate': [0, 0.2505, 0],"
    "             'copies': {'count': 2, 'translate': [3, 0, 0]},"
    "             'mesh': {'box': {'size': [1, 0.5, 0.8], 'cells': [3, 3, 3]}},"
    "             'material': {'young': 1e6, 'density': 1000}}],"
    " 'obstacles': [{'name': 'table', 'mesh': {'plane': {'size': [9, 4]}}}],"
    " 'output': {'probes': ["
    "   {'name': 'bottom', 'body': 'block', 'select': {'side': '-y'}, 'quantity': "
    "'contact_force'},"
    "   {'name': 'rub', 'body': 'block[1]', 'quantity': 'friction_force'},"
    "   {'name': 'pressure', 'body': 'block[0]', 'quantity': 'contact_pressure', 'of': 'max'},"
    "   {'name': 'speed', 'body': 'block[0]', 'quantity': 'velocity', 'of': 'max'},"
    "   {'name': 'table', 'body': 'table', 'quantity': 'contact_force'}]}}";

// The contact forces of a block at rest carry its weight, those on the table of two of them twice.
static void blocks_rest_on_a_table(void** state) {
  (void)state;
  const double weight = 1000.0 * 0.4 * 9.80665;
  NoliContext* context = test_context(1);
  NoliHistory history = {0};
  test_empty_directory("probes_blocks");
  SceneRun run = open_run(context, blocks, "probes_blocks", false);
  do_steps(&run, 40);
  ASSERT_OK(noli_history_read(context, "probes_blocks/probes.csv", &history));
  assert_int_equal(history.n_rows, 40);
  ASSERT_NEAR(value_at(&history, 39, "bottom_block[0]_y"), weight, 1e-3 * weight);
  ASSERT_NEAR(value_at(&history, 39, "bottom_block[1]_y"), weight, 1e-3 * weight);
  ASSERT_NEAR(value_at(&history, 39, "table_y"), -2.0 * weight, 1e-3 * weight);
  ASSERT_NEAR(value_at(&history, 39, "rub_x"), 0.0, 1e-3 * weight);

  // the same numbers as in the arrays of the library
  int32_t first, count, n = noli_sim_vertex_count(run.sim);
  double *pressure = calloc((size_t)n, sizeof *pressure), *gap = calloc((size_t)n, sizeof *gap);
  double most = 0.0, speed = -INFINITY;
  ASSERT_OK(noli_sim_contact_pressures(run.sim, pressure, gap));
  noli_sim_body_range(run.sim, 0, &first, &count);
  for (int32_t i = first; i < first + count; i++) {
    most = noli_larger(most, pressure[i]);
    speed = noli_larger(speed, noli_sim_velocities(run.sim)[3 * i + 1]);
  }
  assert_true(most > weight / 0.8);
  assert_true(value_at(&history, 39, "pressure") == most);
  assert_true(value_at(&history, 39, "speed_y") == speed);
  free(pressure);
  free(gap);
  noli_history_free(context, &history);
  close_run(&run);
  test_context_done(&context);
}

static const char five_bodies[] =
    "{'time': {'step': 0.01, 'steps': 3}, 'gravity': [0, -10, 0],"
    " 'solver': {'tolerance': '1e-9 l'},"
    " 'bodies': ["
    "   {'name': 'slow', 'mesh': {'box': {}}, 'velocity': [1, 0, 0]},"
    "   {'name': 'fast', 'mesh': {'box': {}}, 'translate': [0, 5, 0], 'velocity': [3, 0, 0],"
    "    'order': 2},"
    "   {'name': 'bar', 'mesh': {'box': {'size': [1, 0.2, 0.1], 'cells': [5, 2, 1]}}, 'order': 2,"
    "    'translate': [0, 0, 9], 'material': {'young': 1e9, 'poisson': 0, 'density': 1}},"
    "   {'name': 'wire', 'mesh': {'line': {'segments': 10}}, 'translate': [0, 0, 12],"
    "    'rod': {'radius': 0.01, 'twist': 1}, 'material': {'young': 1e7, 'density': 1000}},"
    "   {'name': 'cloth', 'mesh': {'plane': {'cells': [4, 4]}}, 'translate': [0, 0, 15],"
    "    'shell': {'thickness': 0.001}, 'material': {'young': 1e5, 'density': 1000}}],"
    " 'prescribed': ["
    "   {'body': 'bar', 'select': {'side': '-x'}, 'motion': {'hold': true}},"
    "   {'body': 'bar', 'select': {'side': '+x'}, 'motion': {'displacement': ['0.1*t', 0, 0]}},"
    "   {'body': 'wire', 'select': {'side': '-x', 'depth': 0.15}, 'motion': {'hold': true}},"
    "   {'body': 'wire', 'select': {'side': '+x', 'depth': 0.15},"
    "    'motion': {'rotation': {'axis': [1, 0, 0], 'angle': '50*t'}}},"
    "   {'body': 'cloth', 'select': {'side': '-x'}, 'motion': {'hold': true}}],"
    " 'output': {'probes': ["
    "   {'name': 'k', 'body': '*', 'quantity': 'kinetic_energy'},"
    "   {'name': 'e', 'body': '*', 'quantity': 'elastic_energy'},"
    "   {'name': 'g', 'body': '*', 'quantity': 'gravity_energy'},"
    "   {'name': 'tip', 'body': 'cloth', 'select': {'side': '+x'}, 'quantity': "
    "'kinetic_energy'}]}}";

// The energies of all are the sums over the bodies, and over the vertices.
static void compare_sums(NoliSim* sim, double of[3][5]) {
  NoliEnergies all;
  int32_t n = noli_sim_vertex_count(sim);
  double* share[3];
  ASSERT_OK(noli_sim_energies(sim, &all));
  for (int k = 0; k < 3; k++) {
    share[k] = malloc(sizeof(double) * (size_t)n);
  }
  ASSERT_OK(noli_sim_nodal_energies(sim, share[0], share[1], share[2]));
  const double total[3] = {all.kinetic, all.elastic, all.gravity};
  for (int k = 0; k < 3; k++) {
    double by_body = 0.0, by_vertex = 0.0;
    for (int b = 0; b < 5; b++) {
      by_body += of[k][b];
    }
    for (int32_t i = 0; i < n; i++) {
      by_vertex += share[k][i];
    }
    ASSERT_NEAR(by_body, total[k], 1e-11 * fabs(total[k]));
    ASSERT_NEAR(by_vertex, total[k], 1e-11 * fabs(total[k]));
    free(share[k]);
  }
}

// Two bodies fly at their own speeds, a bar of order 2 is stretched, a rod twists, a cloth hangs:
// the energies of each are its own, and their sums are those of all.
static void bodies_have_their_own_energies(void** state) {
  (void)state;
  static const char* const bodies[] = {"slow", "fast", "bar", "wire", "cloth"};
  static const char* const kinds[] = {"k", "e", "g"};
  NoliContext* context = test_context(1);
  NoliHistory history = {0};
  test_empty_directory("probes_energies");
  SceneRun run = open_run(context, five_bodies, "probes_energies", false);
  do_steps(&run, 3);

  // closed forms: free flight, 0.003 m of a bar, 90 degrees of a wire
  double of[3][5];
  ASSERT_OK(noli_sim_body_energies(run.sim, of[0], of[1], of[2]));
  ASSERT_NEAR(of[0][0], 0.5 * 1000.0 * (1.0 + 0.09), 1e-6);
  ASSERT_NEAR(of[0][1], 0.5 * 1000.0 * (9.0 + 0.09), 1e-6);
  ASSERT_NEAR(of[2][1] - of[2][0], 1000.0 * 10.0 * 5.0, 1e-6);
  ASSERT_NEAR(of[1][0], 0.0, 1e-9);
  ASSERT_NEAR(of[1][2] / (0.5 * 1e9 * 0.02 * 9e-6), 1.0, 0.01);
  assert_true(of[1][3] > 0.0 && of[1][4] > 0.0);

  compare_sums(run.sim, of);

  // probes of whole bodies are the same numbers; one of a part has a part
  ASSERT_OK(noli_history_read(context, "probes_energies/probes.csv", &history));
  for (int k = 0; k < 3; k++) {
    for (int b = 0; b < 5; b++) {
      char name[40];
      snprintf(name, sizeof name, "%s_%s", kinds[k], bodies[b]);
      ASSERT_NEAR(value_at(&history, 2, name), of[k][b], 1e-11 * fabs(of[k][b]) + 1e-15);
    }
  }
  double tip = value_at(&history, 2, "tip");
  assert_true(tip > 0.0 && tip < of[0][4]);
  noli_history_free(context, &history);
  close_run(&run);
  test_context_done(&context);
}

// Rows that a run wrote after its checkpoint are cut off and written again, to the bit.
static void a_resumed_run_keeps_one_file(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliRun* refused = NULL;
  test_empty_directory("probes_once");
  test_empty_directory("probes_twice");
  SceneRun once = open_run(context, blocks, "probes_once", false);
  do_steps(&once, 8);
  close_run(&once);
  SceneRun begun = open_run(context, blocks, "probes_twice", false);
  do_steps(&begun, 3);
  ASSERT_OK(noli_run_save(begun.run, begun.sim, false, "interrupted"));
  do_steps(&begun, 2);
  close_run(&begun);
  SceneRun resumed = open_run(context, blocks, "probes_twice", true);
  do_steps(&resumed, 5);
  close_run(&resumed);
  test_same_file("probes_once/probes.csv", "probes_twice/probes.csv");

  // other probes are other columns: a file has those of one header
  ASSERT_OK(parse(context, blocks, &resumed.scene));
  ASSERT_OK(noli_sim_create(context, noli_scene_sim_def(resumed.scene), &resumed.sim));
  NoliRunDef def = noli_default_run_def();
  def.directory = "probes_twice";
  def.scene_name = "probes";
  def.scene_json = "{}";
  def.probes = noli_scene_output(resumed.scene).probes;
  def.n_probes = 1;
  ASSERT_STATUS(noli_run_reopen(context, &def, resumed.sim, &refused), NOLI_ERROR_FORMAT);
  assert_non_null(strstr(noli_context_message(context), "probes.csv:1: "));

  // without probes the file ends where the run resumes
  def.n_probes = 0;
  NoliHistory left = {0};
  ASSERT_OK(noli_run_reopen(context, &def, resumed.sim, &resumed.run));
  noli_run_close(&resumed.run);
  ASSERT_OK(noli_history_read(context, "probes_twice/probes.csv", &left));
  assert_int_equal(left.n_rows, 3);
  noli_history_free(context, &left);
  def.n_probes = 1;

  // without the file they begin late
  assert_int_equal(rename("probes_twice/probes.csv", "probes_twice/before.csv"), 0);
  ASSERT_OK(noli_run_reopen(context, &def, resumed.sim, &resumed.run));
  do_steps(&resumed, 1);
  NoliHistory late = {0};
  ASSERT_OK(noli_history_read(context, "probes_twice/probes.csv", &late));
  assert_int_equal(late.n_rows, 1);
  assert_true(value_at(&late, 0, "step") == 4.0);
  noli_history_free(context, &late);
  close_run(&resumed);

  // a run without probes leaves none of an earlier one
  TestSim plain;
  test_sim_create(context, 1, &plain);
  def.n_probes = 0;
  def.replace_unfinished = true;
  ASSERT_OK(noli_run_open(context, &def, plain.sim, &resumed.run));
  assert_int_equal(access("probes_twice/probes.csv", F_OK), -1);
  noli_run_close(&resumed.run);
  test_sim_destroy(context, &plain);
  test_context_done(&context);
}

// ---- refusals -----------------------------------------------------------------------------------

static void scenes_refuse_what_is_wrong(void** state) {
  (void)state;
  static const struct {
    const char *probes, *message;
  } cases[] = {
      {"{'name': 'a', 'body': 'box', 'quantity': 'positoin'}", "probes[0].quantity: "},
      {"{'name': 'a', 'body': 'box', 'quantity': 'positoin'}", "did you mean \"position\"?"},
      {"{'name': 'a', 'body': 'box', 'quantity': 'position', 'of': 'median'}", "probes[0].of: "},
      {"{'name': 'a', 'body': 'bax', 'quantity': 'position'}", "probes[0].body: there is no \"bax"},
      {"{'name': 'a', 'body': 'floor', 'quantity': 'position'}", "probes[0].body: "},
      {"{'name': 'a', 'body': 'box'}", "quantity"},
      {"{'body': 'box', 'quantity': 'position'}", "name"},
      {"{'name': 'a,b', 'body': 'box', 'quantity': 'position'}", "probes[0].name: \"a,b\": "},
      {"{'name': 'a\\nb', 'body': 'box', 'quantity': 'position'}", "probes[0].name: "},
      {"{'name': 'time', 'body': 'box', 'quantity': 'von_mises'}", "columns of every history"},
      {"{'name': 'a', 'body': 'box', 'quantity': 'position'}, {'name': 'a', 'body': 'box', "
       "'quantity': 'von_mises'}",
       "probes[1].name: the name \"a\" is taken by another probe"},
      {"{'name': 'a', 'body': 'box', 'quantity': 'position'}, {'name': 'a_y', 'body': 'box', "
       "'quantity': 'von_mises'}",
       "probes[1].name: probes \"a\" and \"a_y\" have columns of the same name"},
      {"{'name': 'a', 'body': 'box', 'quantity': 'position', 'select': {'sphere': {'center': "
       "[9, 9, 9], 'radius': 1}}}",
       "probes[0].select: selects no vertex of \"box\""},
      {"{'name': 'a', 'body': 'plate', 'quantity': 'von_mises'}",
       "probes[0].quantity: \"plate\" is an obstacle, which has no von_mises"},
  };
  NoliContext* context = test_context(1);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[2000];
    NoliScene* scene = NULL;
    snprintf(text, sizeof text,
             "{'time': {'steps': 1}, 'bodies': [{'name': 'box', 'mesh': {'box': {}}}],"
             " 'obstacles': [{'name': 'plate', 'mesh': {'plane': {}}, 'translate': [0, -1, 0]}],"
             " 'half_spaces': [{'name': 'floor', 'origin': [0, -2, 0]}],"
             " 'output': {'probes': [%s]}}",
             cases[i].probes);
    ASSERT_STATUS(parse(context, text, &scene), NOLI_ERROR_FORMAT);
    const char* message = noli_context_message(context);
    if (strstr(message, cases[i].message) == NULL || strstr(message, "probes.json:1: ") == NULL) {
      fail_msg("\"%s\" instead of \"%s\"", message, cases[i].message);
    }
  }

  // names that only look alike
  NoliScene* scene = NULL;
  ASSERT_OK(parse(context,
                  "{'time': {'steps': 1}, 'bodies': [{'name': 'box', 'mesh': {'box': {}}}],"
                  " 'output': {'probes': [{'name': 'a', 'body': 'box', 'quantity': 'position'},"
                  " {'name': 'a_x', 'body': 'box', 'quantity': 'position'},"
                  " {'name': 'a_q', 'body': 'box', 'quantity': 'von_mises'},"
                  " {'name': 'a_xx', 'body': 'box', 'quantity': 'von_mises'}]}}",
                  &scene));
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

static void faults_of_programs_are_refused(void** state) {
  (void)state;
  static const int32_t vertices[] = {0, 7}, beyond[] = {0, 1000};
  const NoliProbeDef good = {.name = "a", .quantity = "position", .node = vertices, .n_node = 2};
  NoliProbeDef bad[9];
  TestSim test;
  for (int i = 0; i < 9; i++) {
    bad[i] = good;
  }
  bad[0].name = NULL;
  bad[1].name = "a\"";
  bad[2].quantity = NULL;
  bad[3].quantity = "positoin";
  bad[4].reduction = "median";
  bad[5].body = 1;
  bad[6].n_node = 0;
  bad[7].node = beyond;
  bad[8].reserved[1] = &test;
  static const char* const messages[] = {"needs a name",    "quotation",      "no quantity",
                                         "\"position\"",    "\"mean\"",       "body 1 does not",
                                         "no vertices of ", "no vertex 1000", "does not have"};
  NoliContext* context = test_context(1);
  NoliRun* run = NULL;
  test_sim_create(context, 2, &test);
  test_empty_directory("probes_refused");
  NoliRunDef def = noli_default_run_def();
  def.directory = "probes_refused";
  def.scene_name = "box";
  def.scene_json = "{}";
  def.n_probes = 1;
  for (int i = 0; i < 9; i++) {
    def.probes = &bad[i];
    ASSERT_STATUS(noli_run_open(context, &def, test.sim, &run), NOLI_ERROR_ARGUMENT);
    assert_non_null(strstr(noli_context_message(context), messages[i]));
    assert_int_equal(test_count_files("probes_refused"), 0);
  }
  def.probes = (const NoliProbeDef[]){good, good};
  def.n_probes = 2;
  ASSERT_STATUS(noli_run_open(context, &def, test.sim, &run), NOLI_ERROR_ARGUMENT);
  assert_non_null(strstr(noli_context_message(context), "columns of the same name"));
  def.probes = NULL;
  ASSERT_STATUS(noli_run_open(context, &def, test.sim, &run), NOLI_ERROR_ARGUMENT);
  test_sim_destroy(context, &test);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_bar_is_pulled_and_pushed),
      cmocka_unit_test(a_cantilever_sags),
      cmocka_unit_test(blocks_rest_on_a_table),
      cmocka_unit_test(bodies_have_their_own_energies),
      cmocka_unit_test(blocks_hang_on_springs),
      cmocka_unit_test(a_resumed_run_keeps_one_file),
      cmocka_unit_test(scenes_refuse_what_is_wrong),
      cmocka_unit_test(faults_of_programs_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
