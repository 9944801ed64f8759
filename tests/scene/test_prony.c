// Prony series in scenes: stress against closed forms with all elements and integrators, states
// that are saved, copied and restored, energy, and what is refused.
#include "scene_support.h"

#include "noli/batch.h"
#include "noli/extend.h"
#include "noli/live.h"
#include "noli/noli.h"
#include "noli/output.h"

#define SERIES "'prony': [[0.3, 0.1], [0.2, 1.0]]"
#define MATERIAL "'material': {'young': 1e5, 'poisson': 0.3, " SERIES "}"
// a block that leans on its side and swings
#define SWING(time)                                                                                \
  "{'time': {" time "}, 'gravity': [0, 0, 0], 'solver': {'tolerance': 1e-9},"                      \
  "'contact': {'enabled': false}, 'bodies': [{'name': 'bar', " MATERIAL ", 'mesh':"                \
  "{'box': {'size': [1, 0.3, 0.3], 'cells': [4, 2, 2]}}, 'angular_velocity': [0, 0, 3]},"          \
  "{'name': 'plain', 'mesh': {'box': {'size': [1, 0.3, 0.3], 'cells': [2, 1, 1]}},"                \
  "'translate': [0, 0, 2], 'parts': [{'select': {'side': '-x', 'depth': 0.5}, 'material':"         \
  "{'prony': [[0.5, 0.01]]}}], 'angular_velocity': [0, 0, 2]}],"                                   \
  "'prescribed': [{'body': '*', 'select': {'side': '-x'}, 'motion': {'name': 'hold',"              \
  "'hold': true}}]}"

static void start(NoliContext* context, const char* text, NoliScene** scene, NoliSim** sim) {
  *scene = NULL;
  *sim = NULL;
  ASSERT_OK(parse_quoted(context, text, scene));
  ASSERT_OK(noli_sim_create(context, noli_scene_sim_def(*scene), sim));
}

static void steps(NoliSim* sim, int n) {
  for (int i = 0; i < n; i++) {
    ASSERT_OK(noli_sim_step(sim, NULL));
  }
}

// ---- closed forms -------------------------------------------------------------------------------

// The body is stretched along x and shortened along y at a constant rate for a time, then held:
// Cauchy's stress in excess of that of the law is 2 mu_i eps_i, with eps_i = T_i (1 - exp(-t /
// T_i)) at the rate 1 and exp(-t / T_i) afterwards. All nodes are prescribed.
static void check_stress(const char* body, const char* integrator, double h) {
  NoliContext* context = test_context(1);
  char text[2000];
  NoliScene* scene;
  NoliSim* sim;
  const double ramp = 0.3, share[] = {0.3, 0.2}, time[] = {0.1, 1.0}, mu = 1e5 / 2.6;
  snprintf(text, sizeof text,
           "{'time': {'step': %g, 'duration': 0.6, 'integrator': '%s'}, 'gravity': [0, 0, 0],"
           "'contact': {'enabled': false}, 'bodies': [{'name': 'bar', %s, " MATERIAL "}],"
           "'prescribed': [{'body': 'bar', 'motion': {'displacement': ["
           "'X*(exp(t < 0.3 ? t : 0.3) - 1)', 'Y*(exp(t < 0.3 ? -t : -0.3) - 1)', 0]}}]}",
           h, integrator, body);
  start(context, text, &scene, &sim);
  int32_t n = noli_sim_tet_count(sim);
  NoliStress* stress = malloc(sizeof *stress * (size_t)n);
  for (int i = 1; i <= 6; i++) {
    ASSERT_OK(noli_sim_step(sim, NULL));
    double t = i * h, strain = noli_smaller(t, ramp), want[2];
    want[0] = mu * (exp(2.0 * strain) - 1.0);
    want[1] = mu * (exp(-2.0 * strain) - 1.0);
    for (int k = 0; k < 2; k++) {
      double e = time[k] * (1.0 - exp(-strain / time[k])) * exp(-fmax(t - ramp, 0.0) / time[k]);
      want[0] += 2.0 * mu * share[k] / 0.5 * e;
      want[1] -= 2.0 * mu * share[k] / 0.5 * e;
    }
    ASSERT_OK(noli_sim_stresses(sim, stress));
    for (int32_t k = 0; k < n; k++) {
      ASSERT_NEAR(stress[k].cauchy[0], want[0], 1e-7 * mu);
      ASSERT_NEAR(stress[k].cauchy[1], want[1], 1e-7 * mu);
      ASSERT_NEAR(stress[k].cauchy[2], 0.0, 1e-7 * mu);
    }
  }
  free(stress);
  noli_sim_destroy(&sim);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

static void stress_is_that_of_the_series(void** state) {
  (void)state;
  const char* const boxes[] = {
      "'mesh': {'box': {'size': [1, 1, 1], 'cells': [2, 2, 2]}}",
      "'mesh': {'box': {'size': [1, 1, 1], 'cells': [1, 1, 1]}}, 'order': 2",
      "'mesh': {'box': {'size': [1, 1, 1], 'cells': [1, 1, 1]}}, 'order': 3",
      "'mesh': {'box': {'size': [1, 1, 1], 'cells': [1, 1, 1]}}, 'order': 4",
      "'mesh': {'rectangle': {'size': [1, 1], 'cells': [2, 2]}}, 'plane_strain': 0.5"};
  for (size_t k = 0; k < sizeof boxes / sizeof *boxes; k++) {
    check_stress(boxes[k], "quasi_static", 0.1);
    check_stress(boxes[k], "backward_euler", 0.1);
  }
  const char* const integrators[] = {"bdf2", "trapezoidal", "sdirk2", "tr_bdf2"};
  for (size_t k = 0; k < sizeof integrators / sizeof *integrators; k++) {
    check_stress(boxes[0], integrators[k], 0.1);
  }
}

// ---- energy -------------------------------------------------------------------------------------

// A free vibration, in J: its energy after the first and the last step. It never grows by more than
// `growth`, relative.
static void vibrate(const char* integrator, bool viscous, double growth, double energy[2]) {
  NoliContext* context = test_context(1);
  char text[4000];
  NoliScene* scene = NULL;
  NoliSim* sim = NULL;
  snprintf(text, sizeof text, SWING("'step': 1e-3, 'steps': 200, 'integrator': '%s'"), integrator);
  ASSERT_OK(parse_quoted(context, text, &scene));
  NoliSimDef def = *noli_scene_sim_def(scene);
  NoliBodyDef body = def.bodies[0];
  body.material.prony = viscous ? body.material.prony : NULL;
  def.bodies = &body;
  def.n_bodies = def.n_motions = 1;
  ASSERT_OK(noli_sim_create(context, &def, &sim));
  for (int i = 0; i < 200; i++) {
    NoliStepReport report;
    NoliEnergies energies;
    ASSERT_OK(noli_sim_step(sim, &report));
    assert_int_equal(report.substeps, 1);
    double now = report.kinetic + report.elastic;
    if (i == 0) {
      energy[0] = now;
    } else {
      ASSERT_AT_MOST(now, energy[1] * (1.0 + growth));
    }
    // the same without a step
    ASSERT_OK(noli_sim_energies(sim, &energies));
    ASSERT_NEAR(energies.elastic, report.elastic, 1e-9 * now);
    energy[1] = now;
  }
  noli_sim_destroy(&sim);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

// Backward Euler loses energy in every step; with the trapezoidal rule, which conserves that of the
// law, the series dissipates.
static void vibrations_dissipate(void** state) {
  (void)state;
  double euler[2], elastic[2], viscous[2];
  vibrate("backward_euler", true, 1e-9, euler);
  vibrate("trapezoidal", false, 1e-3, elastic);
  vibrate("trapezoidal", true, 1e-4, viscous);
  print_message("backward Euler keeps %.3f, the trapezoidal rule %.3f, without the series %.3f\n",
                euler[1] / euler[0], viscous[1] / viscous[0], elastic[1] / elastic[0]);
  ASSERT_NEAR(elastic[1] / elastic[0], 1.0, 0.01);
  ASSERT_AT_MOST(viscous[1] / viscous[0], 0.9);
  ASSERT_AT_MOST(euler[1] / euler[0], viscous[1] / viscous[0]);
}

// ---- states -------------------------------------------------------------------------------------

#define EULER "'step': 0.0005, 'steps': 40"

static bool cancel(void* user, const NoliSim* sim, const NoliNewtonStat* iteration) {
  (void)sim, (void)iteration;
  int* calls = user;
  return ++*calls < 2;
}

// Clone, state in memory, checkpoints, reset, batches, a cancelled step and the same material again
// all lead to the same bits.
static void states_are_complete(void** state) {
  (void)state;
  NoliContext* context = test_context(2);
  NoliScene* scene;
  NoliSim *sim, *clone = NULL, *loaded = NULL, *read = NULL;
  NoliBatch* batch = NULL;
  start(context, SWING(EULER), &scene, &sim);
  const NoliSimDef* def = noli_scene_sim_def(scene);
  ASSERT_OK(noli_sim_create(context, def, &loaded));
  ASSERT_OK(noli_sim_create(context, def, &read));
  ASSERT_OK(noli_batch_create(context, sim, 2, 2, &batch));
  steps(sim, 5);

  size_t size = noli_sim_state_bytes(sim);
  void *buffer = malloc(size), *image = NULL;
  size_t image_size = 0;
  ASSERT_OK(noli_sim_save_state(sim, buffer, size));
  ASSERT_OK(noli_sim_load_state(loaded, buffer, size));
  ASSERT_OK(noli_checkpoint_to_memory(context, sim, NULL, &image, &image_size));
  ASSERT_OK(noli_checkpoint_from_memory(context, read, image, image_size));
  ASSERT_OK(noli_sim_clone(sim, context, &clone));
  free(buffer);
  noli_free(context, image);

  // a step that is cancelled changes nothing
  uint64_t here = noli_sim_state_hash(sim);
  int calls = 0;
  noli_sim_set_progress(sim, cancel, &calls);
  ASSERT_STATUS(noli_sim_step(sim, NULL), NOLI_CANCELLED);
  noli_sim_set_progress(sim, NULL, NULL);
  assert_true(noli_sim_state_hash(sim) == here);
  NoliEnergies one, other;
  ASSERT_OK(noli_sim_energies(sim, &one));
  ASSERT_OK(noli_sim_energies(clone, &other));
  assert_true(one.elastic == other.elastic);

  for (int32_t part = NOLI_NULL_INDEX; part <= 0; part++) {
    NoliMaterialDef material;
    ASSERT_OK(noli_sim_material(loaded, 1, part, &material));
    ASSERT_OK(noli_sim_set_material(loaded, 1, part, &material));
  }
  steps(sim, 5);
  uint64_t want = noli_sim_state_hash(sim);
  assert_true(want != here);
  NoliSim* all[] = {clone, loaded, read};
  for (int k = 0; k < 3; k++) {
    steps(all[k], 5);
    assert_true(noli_sim_state_hash(all[k]) == want);
  }
  ASSERT_OK(noli_sim_reset(sim));
  steps(sim, 10);
  assert_true(noli_sim_state_hash(sim) == want);
  for (int i = 0; i < 10; i++) {
    ASSERT_OK(noli_batch_step(batch, NULL, NULL, NULL));
  }
  for (int32_t k = 0; k < 2; k++) {
    assert_true(noli_sim_state_hash(noli_batch_sim(batch, k)) == want);
  }
  noli_batch_destroy(&batch);
  noli_sim_destroy(&clone);
  noli_sim_destroy(&loaded);
  noli_sim_destroy(&read);
  noli_sim_destroy(&sim);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

// The state does not depend on the number of threads, nor the history of a body on what becomes of
// others.
static void bodies_keep_their_histories(void** state) {
  (void)state;
  uint64_t hash[2];
  for (int k = 0; k < 2; k++) {
    NoliContext* context = test_context(k == 0 ? 1 : 3);
    NoliScene* scene;
    NoliSim *sim, *alone = NULL;
    start(context, SWING(EULER), &scene, &sim);
    steps(sim, 5);
    hash[k] = noli_sim_state_hash(sim);

    // each body alone, the other one removed
    NoliEnergies both, first, second, after;
    NoliBodyDef body = noli_scene_sim_def(scene)->bodies[0];
    ASSERT_OK(noli_sim_energies(sim, &both));
    ASSERT_OK(noli_sim_clone(sim, context, &alone));
    ASSERT_OK(noli_sim_remove_body(alone, 1));
    ASSERT_OK(noli_sim_energies(alone, &first));
    ASSERT_OK(noli_sim_remove_body(sim, 0));
    ASSERT_OK(noli_sim_energies(sim, &second));
    assert_true(first.elastic > 0.0 && second.elastic > 0.0);
    ASSERT_NEAR(first.elastic + second.elastic, both.elastic, 1e-12 * both.elastic);

    // a new one begins without a past
    int32_t index;
    ASSERT_OK(noli_sim_add_body(sim, &body, &index));
    ASSERT_OK(noli_sim_energies(sim, &after));
    ASSERT_NEAR(after.elastic, second.elastic, 1e-12 * second.elastic);
    steps(sim, 2);
    noli_sim_destroy(&alone);
    noli_sim_destroy(&sim);
    noli_scene_destroy(&scene);
    test_context_done(&context);
  }
  assert_true(hash[0] == hash[1]);
}

// A step that fails, in one piece and in parts of which the first ones succeed, changes nothing,
// and one that succeeds in parts ends as steps of their length do.
static void divided_steps_are_rolled_back(void** state) {
  (void)state;
  double elastic[2] = {0.0, 0.0};
  int32_t n_parts = 1;
  for (int k = 0; k < 3; k++) {
    // one divided step, as many steps as it had parts, and a crush that fails in the second step
    const char* const settings[] = {"'max_iterations': 8}, 'time': {'step': %g, 'steps': 1,",
                                    "'max_iterations': 60}, 'time': {'step': %g, 'steps': 16,",
                                    ("'max_iterations': 12, 'max_substeps': 2}, 'time':"
                                     "{'step': %g, 'steps': 2,")};
    NoliContext* context = test_context(1);
    NoliScene* scene;
    NoliSim* sim;
    NoliStepReport report;
    NoliEnergies energies;
    char text[2000], setting[200];
    snprintf(setting, sizeof setting, settings[k], k == 1 ? 1.0 / n_parts : 1.0);
    snprintf(text, sizeof text,
             "{'gravity': [0, 0, 0], 'contact': {'enabled': false}, 'solver': {'tolerance': 1e-7,"
             "%s 'integrator': 'quasi_static'}, 'bodies': [{'name': 'bar', 'mesh': {'box': {"
             "'size': [1, 1, 1], 'cells': [2, 2, 2]}}, " MATERIAL "}], 'prescribed': ["
             "{'body': 'bar', 'select': {'side': '-x'}, 'motion': {'displacement': [0, 0, 0]}},"
             "{'body': 'bar', 'select': {'side': '+x'}, 'motion': {'displacement':"
             "['t <= 1 ? -0.3*t : t <= 1.5 ? -0.2 - 0.1*t : -0.99', 0, 0]}}]}",
             setting);
    start(context, text, &scene, &sim);
    for (int i = 0; i < (k == 1 ? n_parts : 1); i++) {
      ASSERT_OK(noli_sim_step(sim, &report));
    }
    if (k < 2) {
      n_parts = k == 0 ? report.substeps : n_parts;
      ASSERT_OK(noli_sim_energies(sim, &energies));
      elastic[k] = energies.elastic;
    } else {
      uint64_t before = noli_sim_state_hash(sim);
      assert_true(noli_sim_step(sim, &report) > NOLI_OK);
      assert_int_equal(report.substeps, 2);
      assert_true(noli_sim_state_hash(sim) == before);
    }
    noli_sim_destroy(&sim);
    noli_scene_destroy(&scene);
    test_context_done(&context);
  }
  print_message("%d parts: %.9g J, steps: %.9g J\n", (int)n_parts, elastic[0], elastic[1]);
  assert_true(n_parts > 1);
  ASSERT_NEAR(elastic[0], elastic[1], 1e-6 * elastic[1]);
}

// ---- refusals -----------------------------------------------------------------------------------

static void refuse(const char* body, const char* message) {
  NoliContext* context = test_context(1);
  NoliScene* scene = NULL;
  char text[1000];
  snprintf(text, sizeof text, "{'time': {'step': 1, 'steps': 1}, 'bodies': [{%s}]}", body);
  assert_true(parse_quoted(context, text, &scene) != NOLI_OK);
  if (strstr(noli_context_message(context), message) == NULL) {
    fail_msg("\"%s\" is not in: %s", message, noli_context_message(context));
  }
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

#define BOX "'mesh': {'box': {'size': [1, 1, 1], 'cells': [1, 1, 1]}}, 'material': "

static void bad_input_is_refused(void** state) {
  (void)state;
  refuse(BOX "{'prony': [[0.5, 0]]}", "bodies[0].material.prony[0][1]: must be > 0, got 0");
  refuse(BOX "{'prony': [[-0.5, 1]]}", "bodies[0].material.prony[0][0]: must be > 0, got -0.5");
  refuse(BOX "{'prony': [[0.5, 1], [0.6, 2]]}",
         "bodies[0].material.prony[1][0]: makes the shares add up to 1.1");
  refuse(BOX "{'prony': [[0.5]]}", "bodies[0].material.prony[0]");
  refuse(BOX "{'prony': [[0.5, 1]], 'damping': 0.1}",
         "bodies[0].material.prony: is not used with \"damping\"");
  refuse(BOX "{'pronny': [[0.5, 1]]}", "did you mean \"prony\"");
  refuse("'mesh': {'plane': {'size': [1, 1], 'cells': [2, 2]}}, 'shell': {'thickness': 0.01},"
         "'material': {'prony': [[0.5, 1]]}",
         "bodies[0].material.prony: is for solids and bodies in plane strain, not for shells");

  // definitions
  NoliContext* context = test_context(1);
  NoliScene* scene;
  NoliSim *sim, *made = NULL;
  start(context, SWING(EULER), &scene, &sim);
  NoliSimDef def = *noli_scene_sim_def(scene);
  NoliBodyDef body = def.bodies[0];
  const NoliProny bad[] = {{.n = -1},
                           {.n = NOLI_PRONY_TERMS + 1},
                           {.n = 1, .share = {(double)NAN}, .time = {1.0}},
                           {.n = 1, .share = {0.5}, .time = {(double)INFINITY}},
                           {.n = 2, .share = {0.5, 0.5}, .time = {1.0, 1.0}}};
  const char* const message[] = {"must be in [0, 16], got -1", "must be in [0, 16], got 17",
                                 "Prony share 0 must be in [0, 1)", "Prony time 0", "add up to 1"};
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    body.material.prony = &bad[k];
    def.bodies = &body;
    def.n_bodies = 1;
    ASSERT_STATUS(noli_sim_create(context, &def, &made), NOLI_ERROR_ARGUMENT);
    if (strstr(noli_context_message(context), message[k]) == NULL) {
      fail_msg("\"%s\" is not in: %s", message[k], noli_context_message(context));
    }
  }

  // between steps numbers may change, the number of terms may not
  NoliMaterialDef material;
  ASSERT_OK(noli_sim_material(sim, 0, NOLI_NULL_INDEX, &material));
  NoliProny prony = *material.prony;
  assert_int_equal(prony.n, 2);
  prony.time[1] = 3.0;
  material.prony = &prony;
  ASSERT_OK(noli_sim_set_material(sim, 0, NOLI_NULL_INDEX, &material));
  prony.n = 1;
  ASSERT_STATUS(noli_sim_set_material(sim, 0, NOLI_NULL_INDEX, &material), NOLI_ERROR_ARGUMENT);
  material.prony = NULL;
  ASSERT_STATUS(noli_sim_set_material(sim, 0, NOLI_NULL_INDEX, &material), NOLI_ERROR_ARGUMENT);
  ASSERT_OK(noli_sim_material(sim, 0, NOLI_NULL_INDEX, &material));
  assert_true(material.prony->n == 2 && material.prony->time[1] == 3.0);
  steps(sim, 1);
  noli_sim_destroy(&sim);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stress_is_that_of_the_series),
      cmocka_unit_test(vibrations_dissipate),
      cmocka_unit_test(states_are_complete),
      cmocka_unit_test(bodies_keep_their_histories),
      cmocka_unit_test(divided_steps_are_rolled_back),
      cmocka_unit_test(bad_input_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
