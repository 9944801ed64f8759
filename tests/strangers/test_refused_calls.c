// Calls that would break what is there are refused: by functions of the host that a simulation
// calls while it steps, on copies of a batch, and of a run out of order.
#include "output/output_support.h"
#include "step/world.h"

#include "noli/batch.h"
#include "noli/derivative.h"
#include "noli/run.h"

// ---- functions that a simulation calls ----------------------------------------------------------

enum { N_TRIED = 25 };

// The calls that a function of the host tries.
typedef struct Host {
  NoliSim* sim;
  NoliContext* other; // of clones
  NoliMesh* mesh;     // of a body to be added
  bool destroys;      // else it tries the functions below
  bool reads;         // results may be read
  bool in_log;        // the log function tries
  int32_t calls;
  NoliStatus status[N_TRIED];
} Host;

static void try_all(Host* host) {
  NoliSim* sim = host->sim;
  double vector[3000] = {0}, frequency[1];
  int32_t sticking[1000];
  NoliSim* clone = NULL;
  NoliEnergies energies;
  NoliBodyState state;
  NoliBodyDef body = noli_default_body_def();
  NoliPairDef pair = noli_default_pair_def();
  NoliMaterialDef material = noli_default_material_def();
  int32_t n = 0;
  assert_true(3 * noli_sim_vertex_count(sim) <= 3000);
  body.mesh = host->mesh;
  body.name = "added";
  pair.b = 1;
  host->calls++;
  if (host->destroys) {
    noli_sim_destroy(&sim);
    assert_ptr_equal(sim, host->sim);
    return;
  }
  // what changes it
  host->status[n++] = noli_sim_step(sim, NULL);
  host->status[n++] = noli_sim_reset(sim);
  host->status[n++] = noli_sim_set_state(sim, vector, vector);
  host->status[n++] = noli_sim_set_gravity(sim, vector);
  host->status[n++] = noli_sim_set_time_step(sim, 0.5);
  host->status[n++] = noli_sim_set_time(sim, 3.0);
  host->status[n++] = noli_sim_set_pair(sim, &pair);
  host->status[n++] = noli_sim_set_material(sim, 0, NOLI_NULL_INDEX, &material);
  host->status[n++] = noli_sim_set_constraint_count(sim, 3);
  host->status[n++] = noli_sim_set_slip_count(sim, 3);
  host->status[n++] = noli_sim_add_body(sim, &body, NULL);
  host->status[n++] = noli_sim_remove_body(sim, 1);
  host->status[n++] = noli_sim_set_pose(sim, 0, &(NoliPose){.quaternion = {1}});
  host->status[n++] = noli_sim_copy_state(sim, sim);
  host->status[n++] = noli_sim_load_state(sim, vector, sizeof vector);
  // what reads more than names and counts
  if (!host->reads) {
    host->status[n++] = noli_sim_clone(sim, host->other, &clone);
    host->status[n++] = noli_sim_save_state(sim, vector, sizeof vector);
    host->status[n++] = noli_sim_contact_forces(sim, vector);
    host->status[n++] = noli_sim_reaction_forces(sim, vector);
    host->status[n++] = noli_sim_energies(sim, &energies);
    host->status[n++] = noli_sim_body_state(sim, 0, &state);
    host->status[n++] = noli_sim_modes(sim, 1, frequency, NULL);
    host->status[n++] = noli_sim_contact_pressures(sim, vector, vector);
    host->status[n++] = noli_sim_contact_slips(sim, vector, sticking);
    host->status[n++] = noli_sim_nodal_energies(sim, vector, NULL, NULL);
  }
  for (int32_t i = 0; i < n; i++) {
    ASSERT_STATUS(host->status[i], NOLI_ERROR_ARGUMENT);
  }
  assert_null(clone);
  assert_string_equal(noli_sim_entity_name(sim, 0), "body0");
  assert_int_equal(noli_sim_body_count(sim), 2);
}

static bool on_progress(void* user, const NoliSim* sim, const NoliNewtonStat* iteration) {
  (void)sim, (void)iteration;
  try_all(user);
  return true;
}

static void on_value(void* user, double t, const double X[3], double value[3]) {
  (void)t, (void)X;
  value[0] = 1.0;
  if (((Host*)user)->sim != NULL) {
    try_all(user);
  }
}

static void on_target(void* user, double t0, double t1, int32_t n_node, const int32_t* node,
                      const double* X, const double* x_t0, double* x_t1) {
  (void)t0, (void)t1, (void)node, (void)X;
  memcpy(x_t1, x_t0, 3 * sizeof *x_t1 * (size_t)n_node);
  if (((Host*)user)->sim != NULL) {
    try_all(user);
  }
}

static void on_log(void* user, NoliLogLevel level, const char* message) {
  (void)level, (void)message;
  Host* host = user;
  if (host->in_log && host->sim != NULL) {
    try_all(host);
  }
}

static NoliStatus on_objective(void* user, NoliSim* sim, NoliObjectivePoint* at) {
  Host* host = user;
  double force[3000];
  host->sim = sim;
  try_all(host);
  ASSERT_OK(noli_sim_contact_forces(sim, force));
  at->value = at->x[0];
  return NOLI_OK;
}

typedef enum Which { PROGRESS, VALUE, TARGET, LOG, N_WHICH } Which;

// Two bodies, of which a function of the host moves, loads or watches the first one.
static World hosted_world(Host* host, Which which) {
  World world = world_new(1);
  NoliContextDef def = noli_default_context_def();
  static NoliForceDef force;
  test_context_done(&world.context);
  def.n_threads = 1;
  def.log = on_log;
  def.log_user = host;
  def.log_level = NOLI_LOG_DEBUG;
  ASSERT_OK(noli_context_create(&def, &world.context));
  *host = (Host){.other = test_context(1), .in_log = which == LOG};
  host->mesh = make_box(&world, 0.1, 0.1, 0.1, 1);
  noli_mesh_transform(host->mesh, (double[]){1, 1, 1}, (double[]){0, 0, 0}, (double[]){0, 5, 0});
  world_add(&world, make_box(&world, 0.1, 0.1, 0.1, 1), (double[]){0.0, 0.0, 0.0});
  world_add(&world, make_box(&world, 0.1, 0.1, 0.1, 1), (double[]){0.0, 0.5, 0.0});
  force = noli_default_force_def();
  force.value = on_value;
  force.user = host;
  world.def.forces = &force;
  world.def.n_forces = which == VALUE ? 1 : 0;
  if (which == TARGET) {
    world_add_motion(&world, 0, on_target, host);
  }
  world_start(&world);
  host->sim = world.sim;
  if (which == PROGRESS) {
    noli_sim_set_progress(world.sim, on_progress, host);
  }
  return world;
}

static void end_hosted(World* world, Host* host) {
  host->in_log = false;
  noli_mesh_destroy(world->context, &host->mesh);
  test_context_done(&host->other);
  world_done(world);
}

// The step ends as it would without them.
static void functions_of_the_host_change_nothing(void** state) {
  (void)state;
  for (Which which = PROGRESS; which < LOG; which++) {
    uint64_t hash[2];
    for (int tries = 0; tries < 2; tries++) {
      Host host;
      World world = hosted_world(&host, which);
      host.sim = tries == 1 ? world.sim : NULL;
      if (which == PROGRESS && tries == 0) {
        noli_sim_set_progress(world.sim, NULL, NULL);
      }
      world_step(&world);
      assert_true((host.calls > 0) == (tries == 1));
      hash[tries] = noli_sim_state_hash(world.sim);
      end_hosted(&world, &host);
    }
    assert_true(hash[0] == hash[1]);
  }
}

// Also where no step is done: parameters of rest shapes need smooth values.
static void parameters_call_functions_too(void** state) {
  (void)state;
  Host host;
  World world = hosted_world(&host, VALUE);
  NoliParameterDef def = noli_default_parameter_def();
  NoliParameters* parameters = NULL;
  def.kind = "rest_position";
  def.of = "body0";
  def.scope = "vertices";
  ASSERT_OK(noli_parameters_create(world.sim, &def, 1, &parameters));
  double value, gradient[24];
  NoliGradientDef gradient_def = noli_default_gradient_def();
  gradient_def.n_steps = 1;
  host.reads = true;
  NoliObjective objective = {on_objective, &host};
  host.calls = 0;
  ASSERT_OK(noli_sim_gradient(world.sim, parameters, &objective, 1, &gradient_def, &value, gradient,
                              NULL));
  assert_true(host.calls > 100);
  noli_parameters_destroy(&parameters);
  end_hosted(&world, &host);
}

// A step in which the simulation was to be destroyed fails, and leaves it as it was.
static void no_function_destroys_its_simulation(void** state) {
  (void)state;
  for (Which which = PROGRESS; which < LOG; which++) {
    Host host;
    World world = hosted_world(&host, which);
    uint64_t hash = noli_sim_state_hash(world.sim);
    host.destroys = true;
    ASSERT_STATUS(noli_sim_step(world.sim, NULL), NOLI_ERROR_ARGUMENT);
    assert_true(host.calls > 0 && noli_sim_state_hash(world.sim) == hash);
    assert_non_null(strstr(noli_context_message(world.context), "noli_sim_destroy"));

    // and the next one is not held against it
    host.sim = NULL;
    noli_sim_set_progress(world.sim, NULL, NULL);
    world_step(&world);
    end_hosted(&world, &host);
  }
}

// A progress message that the log function answers with calls; it cannot end the context either.
static void log_functions_change_nothing(void** state) {
  (void)state;
  Host host;
  World world = hosted_world(&host, LOG);
  noli_log(world.context, NOLI_LOG_INFO, "a message");
  assert_int_equal(host.calls, 1);
  host.destroys = true;
  noli_log(world.context, NOLI_LOG_INFO, "a message");
  assert_int_equal(host.calls, 2);
  world_step(&world);
  end_hosted(&world, &host);
}

static void objectives_read_and_change_nothing(void** state) {
  (void)state;
  Host host;
  World world = hosted_world(&host, PROGRESS);
  noli_sim_set_progress(world.sim, NULL, NULL);
  host.reads = true;
  NoliParameterDef def = noli_default_parameter_def();
  def.kind = "young";
  def.of = "body0";
  NoliParameters* parameters = NULL;
  ASSERT_OK(noli_parameters_create(world.sim, &def, 1, &parameters));
  NoliObjective objective = {on_objective, &host};
  NoliGradientDef gradient_def = noli_default_gradient_def();
  gradient_def.n_steps = 2;
  double value, gradient;
  ASSERT_OK(noli_sim_gradient(world.sim, parameters, &objective, 1, &gradient_def, &value,
                              &gradient, NULL));
  assert_true(host.calls >= 3);
  host.destroys = true;
  ASSERT_STATUS(noli_sim_gradient(world.sim, parameters, &objective, 1, &gradient_def, &value,
                                  &gradient, NULL),
                NOLI_ERROR_ARGUMENT);
  noli_parameters_destroy(&parameters);
  end_hosted(&world, &host);
}

// ---- copies of a batch --------------------------------------------------------------------------

typedef struct BatchHost {
  NoliBatch* batch;
  int32_t n_vert;
} BatchHost;

static bool use_batch(void* user, const NoliSim* sim, const NoliNewtonStat* iteration) {
  (void)sim, (void)iteration;
  BatchHost* host = user;
  double x[2 * 3 * 8];
  NoliStatus status[2] = {NOLI_OK, NOLI_OK};
  assert_int_equal(host->n_vert, 8);
  ASSERT_STATUS(noli_batch_step(host->batch, NULL, status, NULL), NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_batch_reset(host->batch, NULL), NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_batch_positions(host->batch, x), NOLI_ERROR_ARGUMENT);
  NoliBatch* batch = host->batch;
  noli_batch_destroy(&batch);
  assert_ptr_equal(batch, host->batch);
  return true;
}

// Arrays of a batch have the same rows for every copy: its bodies stay, and the batch owns it.
static void copies_keep_their_bodies(void** state) {
  (void)state;
  World world = world_new(1);
  world_add(&world, make_box(&world, 0.1, 0.1, 0.1, 1), (double[]){0.0, 0.0, 0.0});
  world_start(&world);
  NoliMesh* mesh = make_box(&world, 0.1, 0.1, 0.1, 4);
  noli_mesh_transform(mesh, (double[]){1, 1, 1}, (double[]){0, 0, 0}, (double[]){0, 3, 0});
  NoliBodyDef body = noli_default_body_def();
  body.mesh = mesh;
  body.name = "another";
  NoliBatch* batch = NULL;
  ASSERT_OK(noli_batch_create(world.context, world.sim, 2, 1, &batch));
  NoliSim* copy = noli_batch_sim(batch, 1);
  NoliMaterialDef material = noli_default_material_def();
  int32_t index = -5;
  for (int changed = 0; changed < 2; changed++) {
    ASSERT_STATUS(noli_sim_add_body(copy, &body, &index), NOLI_ERROR_ARGUMENT);
    assert_non_null(strstr(noli_batch_message(batch, 1), "copy of a batch"));
    ASSERT_STATUS(noli_sim_remove_body(copy, 0), NOLI_ERROR_ARGUMENT);
    NoliSim* owned = copy;
    noli_sim_destroy(&owned);
    assert_ptr_equal(owned, copy);
    // a change that rebuilds the copy does not make it another one's
    ASSERT_OK(noli_sim_set_material(copy, 0, NOLI_NULL_INDEX, &material));
  }
  assert_int_equal(index, -5);
  double x[2 * 3 * 8];
  assert_int_equal(noli_sim_vertex_count(copy), 8);
  ASSERT_OK(noli_batch_positions(batch, x));
  assert_true(x[24] == noli_sim_positions(copy)[0]);
  ASSERT_OK(noli_batch_step(batch, NULL, NULL, NULL));

  // from a function that a copy calls
  BatchHost host = {batch, noli_sim_vertex_count(copy)};
  noli_sim_set_progress(copy, use_batch, &host);
  ASSERT_OK(noli_batch_step(batch, NULL, NULL, NULL));
  noli_batch_destroy(&batch);

  // a clone of a copy is a simulation like any other
  ASSERT_OK(noli_batch_create(world.context, world.sim, 1, 1, &batch));
  NoliSim* clone = NULL;
  ASSERT_OK(noli_sim_clone(noli_batch_sim(batch, 0), world.context, &clone));
  noli_batch_destroy(&batch);
  ASSERT_OK(noli_sim_add_body(clone, &body, &index));
  assert_int_equal(index, 1);
  noli_sim_destroy(&clone);
  noli_mesh_destroy(world.context, &mesh);
  world_done(&world);
}

// ---- runs ---------------------------------------------------------------------------------------

static NoliRun* open_run(NoliContext* context, const TestSim* test, const char* directory) {
  NoliRun* run = NULL;
  NoliRunDef def = noli_default_run_def();
  test_empty_directory(directory);
  def.directory = directory;
  def.scene_name = "order";
  def.scene_json = "{}";
  def.replace_unfinished = true;
  ASSERT_OK(noli_run_open(context, &def, test->sim, &run));
  return run;
}

static int rows_of(const char* path) {
  FILE* file = fopen(path, "rb");
  int n = 0;
  assert_non_null(file);
  for (int c = fgetc(file); c != EOF; c = fgetc(file)) {
    n += c == '\n';
  }
  fclose(file);
  return n - 1;
}

static void steps_are_recorded_once_and_in_order(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  TestSim test, other;
  test_sim_create(context, 1, &test);
  test_sim_create(context, 2, &other);
  NoliRun* run = open_run(context, &test, "refused_order");

  // twice
  ASSERT_STATUS(noli_run_step(run, test.sim), NOLI_ERROR_ARGUMENT);
  ASSERT_OK(noli_sim_step(test.sim, NULL));
  ASSERT_STATUS(noli_run_save(run, test.sim, false, NULL), NOLI_ERROR_ARGUMENT);
  ASSERT_OK(noli_run_step(run, test.sim));
  ASSERT_STATUS(noli_run_step(run, test.sim), NOLI_ERROR_ARGUMENT);
  assert_non_null(
      strstr(noli_context_message(context), "step 1 of the simulation does not follow"));
  ASSERT_OK(noli_run_save(run, test.sim, false, NULL));

  // another simulation
  ASSERT_OK(noli_sim_step(other.sim, NULL));
  ASSERT_OK(noli_sim_step(other.sim, NULL));
  ASSERT_STATUS(noli_run_step(run, other.sim), NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_run_save(run, other.sim, true, NULL), NOLI_ERROR_ARGUMENT);

  // from the start again
  ASSERT_OK(noli_sim_reset(test.sim));
  ASSERT_STATUS(noli_run_save(run, test.sim, true, NULL), NOLI_ERROR_ARGUMENT);
  ASSERT_OK(noli_sim_step(test.sim, NULL));
  ASSERT_STATUS(noli_run_step(run, test.sim), NOLI_ERROR_ARGUMENT);

  // the second step is next, and the third would leave a hole
  ASSERT_OK(noli_sim_step(test.sim, NULL));
  ASSERT_OK(noli_run_step(run, test.sim));
  ASSERT_OK(noli_sim_step(test.sim, NULL));
  ASSERT_OK(noli_sim_step(test.sim, NULL));
  ASSERT_STATUS(noli_run_step(run, test.sim), NOLI_ERROR_ARGUMENT);
  assert_non_null(strstr(noli_context_message(context), "step 4"));
  assert_int_equal(rows_of("refused_order/steps.csv"), 2);
  assert_int_equal(noli_run_summary(run)->steps, 2);
  assert_int_equal(noli_run_summary(run)->n_frames, 3);
  noli_run_close(&run);

  // other bodies than the arrays of its frames
  run = open_run(context, &test, "refused_bodies");
  NoliBodyDef body = test.body;
  body.name = "added";
  body.mesh = other.mesh;
  noli_mesh_transform(other.mesh, (double[]){1, 1, 1}, (double[]){0, 0, 0}, (double[]){0, 5, 0});
  ASSERT_OK(noli_sim_add_body(test.sim, &body, NULL));
  ASSERT_OK(noli_sim_step(test.sim, NULL));
  ASSERT_STATUS(noli_run_step(run, test.sim), NOLI_ERROR_ARGUMENT);
  assert_non_null(strstr(noli_context_message(context), "bodies were added or removed"));
  noli_run_close(&run);
  test_sim_destroy(context, &test);
  test_sim_destroy(context, &other);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(functions_of_the_host_change_nothing),
      cmocka_unit_test(parameters_call_functions_too),
      cmocka_unit_test(no_function_destroys_its_simulation),
      cmocka_unit_test(log_functions_change_nothing),
      cmocka_unit_test(objectives_read_and_change_nothing),
      cmocka_unit_test(copies_keep_their_bodies),
      cmocka_unit_test(steps_are_recorded_once_and_in_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
