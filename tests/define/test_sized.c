// Definitions and results of programs that were compiled with other headers: with shorter structs,
// as of an older version, and with longer ones.
#include "support.h"

#include "noli/noli.h"

// The structs of an imagined older version: the beginnings of ours. The memory after them belongs
// to other data.
#define GUARD 0x5a
enum {
  OLD_PAIR = offsetof(NoliPairDef, static_friction),
  OLD_BODY = offsetof(NoliBodyDef, plane_strain),
  OLD_HALF_SPACE = sizeof(NoliHalfSpaceDef),
  OLD_FORCE = sizeof(NoliForceDef),
  OLD_MOTION = offsetof(NoliMotionDef, ends_beyond),
  OLD_SIM = offsetof(NoliSimDef, audit),
  OLD_REPORT = offsetof(NoliStepReport, fallbacks),
  NEW_BYTES = 32
};

static NoliMesh* make_box(NoliContext* context, double height) {
  NoliMesh* mesh = NULL;
  const double unit[3] = {1, 1, 1}, none[3] = {0};
  ASSERT_OK(
      noli_mesh_make_box(context, (double[]){0.2, 0.2, 0.2}, (int32_t[]){1, 1, 1}, false, &mesh));
  noli_mesh_transform(mesh, unit, none, (double[]){0, height, 0});
  return mesh;
}

// A list of `n` items of `size` bytes, with guards after the last one.
static char* make_list(size_t n, size_t size) {
  // and room for a full item behind them, which compilers check where it is written member by
  // member
  char* list = malloc(n * size + NEW_BYTES + sizeof(NoliSimDef));
  memset(list, GUARD, n * size + NEW_BYTES);
  return list;
}

static void assert_guarded(const char* list, size_t n, size_t size) {
  for (size_t i = 0; i < NEW_BYTES; i++) {
    assert_int_equal(list[n * size + i], GUARD);
  }
}

// Two boxes above a floor by structs of given sizes; the state after some steps.
static uint64_t simulate(NoliContext* context, size_t body_size, size_t pair_size, size_t sim_size,
                         size_t report_size) {
  NoliMesh* mesh[2] = {make_box(context, 0.12), make_box(context, 0.35)};
  char *bodies = make_list(2, body_size), *pairs = make_list(2, pair_size),
       *sim_def = make_list(1, sim_size), *report = make_list(1, report_size);
  NoliHalfSpaceDef floor = noli_default_half_space_def();
  NoliSim* sim = NULL;
  for (int i = 0; i < 2; i++) {
    NoliBodyDef* body = (NoliBodyDef*)(void*)(bodies + (size_t)i * body_size);
    NoliPairDef* pair = (NoliPairDef*)(void*)(pairs + (size_t)i * pair_size);
    noli_body_def_init(body, body_size);
    body->mesh = mesh[i];
    body->velocity[0] = 0.5 * i;
    noli_pair_def_init(pair, pair_size);
    pair->a = i;
    pair->b = i + 1;
    pair->friction = 0.1 + 0.2 * i;
  }
  NoliSimDef* def = (NoliSimDef*)(void*)sim_def;
  noli_sim_def_init(def, sim_size);
  def->bodies = (const NoliBodyDef*)(void*)bodies;
  def->n_bodies = 2;
  def->half_spaces = &floor;
  def->n_half_spaces = 1;
  def->pairs = (const NoliPairDef*)(void*)pairs;
  def->n_pairs = 2;
  ASSERT_OK(noli_sim_create(context, def, &sim));
  for (int step = 0; step < 12; step++) {
    ASSERT_OK(noli_sim_step_sized(sim, (NoliStepReport*)(void*)report, report_size));
  }
  assert_int_equal(((NoliStepReport*)(void*)report)->step, 12);
  assert_guarded(bodies, 2, body_size);
  assert_guarded(pairs, 2, pair_size);
  assert_guarded(sim_def, 1, sim_size);
  assert_guarded(report, 1, report_size);
  uint64_t hash = noli_sim_state_hash(sim);
  noli_sim_destroy(&sim);
  noli_mesh_destroy(context, &mesh[0]);
  noli_mesh_destroy(context, &mesh[1]);
  free(bodies), free(pairs), free(sim_def), free(report);
  return hash;
}

static void programs_of_other_versions_get_the_same(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  uint64_t same = simulate(context, sizeof(NoliBodyDef), sizeof(NoliPairDef), sizeof(NoliSimDef),
                           sizeof(NoliStepReport));
  assert_true(simulate(context, OLD_BODY, OLD_PAIR, OLD_SIM, OLD_REPORT) == same);
  assert_true(simulate(context, sizeof(NoliBodyDef) + NEW_BYTES, sizeof(NoliPairDef) + NEW_BYTES,
                       sizeof(NoliSimDef) + NEW_BYTES, sizeof(NoliStepReport) + NEW_BYTES) == same);
  test_context_done(&context);
}

static void unmade_items_are_named(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh* mesh = make_box(context, 0.5);
  NoliSim* sim = NULL;
  NoliBodyDef bodies[3] = {noli_default_body_def(), {0}, noli_default_body_def()};
  NoliSimDef def = noli_default_sim_def();
  bodies[0].mesh = mesh;
  def.bodies = bodies;
  def.n_bodies = 3;
  ASSERT_STATUS(noli_sim_create(context, &def, &sim), NOLI_ERROR_ARGUMENT);
  assert_string_equal(noli_context_message(context),
                      "bodies[1] was not made by noli_default_body_def");
  NoliForceDef force = {.body = 0};
  def.n_bodies = 1;
  def.forces = &force;
  def.n_forces = 1;
  ASSERT_STATUS(noli_sim_create(context, &def, &sim), NOLI_ERROR_ARGUMENT);
  assert_string_equal(noli_context_message(context),
                      "forces[0] was not made by noli_default_force_def");
  def.size = 0;
  ASSERT_STATUS(noli_sim_create(context, &def, &sim), NOLI_ERROR_ARGUMENT);
  assert_string_equal(noli_context_message(context),
                      "the simulation definition was not made by noli_default_sim_def");
  def = noli_default_sim_def();
  def.n_bodies = 2; // but no array
  ASSERT_STATUS(noli_sim_create(context, &def, &sim), NOLI_ERROR_ARGUMENT);
  assert_string_equal(noli_context_message(context), "there are 2 bodies, but no array of them");
  assert_null(sim);
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

// A newer program may not request features that this library lacks.
static void unknown_members_are_refused(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh* mesh = make_box(context, 0.5);
  NoliSim* sim = NULL;
  char* newer = make_list(1, sizeof(NoliBodyDef) + NEW_BYTES);
  NoliBodyDef* body = (NoliBodyDef*)(void*)newer;
  NoliSimDef def = noli_default_sim_def();
  noli_body_def_init(body, sizeof *body + NEW_BYTES);
  body->mesh = mesh;
  newer[sizeof *body + 8] = 1;
  def.bodies = body;
  def.n_bodies = 1;
  ASSERT_STATUS(noli_sim_create(context, &def, &sim), NOLI_ERROR_ARGUMENT);
  assert_non_null(strstr(noli_context_message(context), "bodies[0] sets what Noli " NOLI_VERSION));
  newer[sizeof *body + 8] = 0;
  ASSERT_OK(noli_sim_create(context, &def, &sim));
  noli_sim_destroy(&sim);
  body->material.reserved[0] = mesh;
  ASSERT_STATUS(noli_sim_create(context, &def, &sim), NOLI_ERROR_ARGUMENT);
  assert_non_null(strstr(noli_context_message(context), "noli_default_material_def"));
  free(newer);
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

// The definition of a scene, read and copied by an older program.
static void scenes_give_definitions_of_any_size(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliScene* scene = NULL;
  NoliSim *sim = NULL, *own = NULL;
  ASSERT_OK(noli_scene_parse(
      context,
      "{\"time\": {\"duration\": 1}, \"bodies\": [{\"name\": \"one\", \"mesh\": {\"box\": {}}},"
      "{\"name\": \"two\", \"mesh\": {\"box\": {}}, \"translate\": [0, 3, 0]}],"
      "\"half_spaces\": [{\"origin\": [0, -1, 0]}], \"friction\": {\"coefficient\": 0.3},"
      "\"forces\": [{\"body\": \"two\", \"nodal\": [1, 0, 0]}]}",
      "scene", NULL, NULL, 0, &scene));
  NoliDefSizes sizes = noli_def_sizes();
  sizes.body = OLD_BODY;
  sizes.pair = OLD_PAIR;
  sizes.motion = OLD_MOTION;
  sizes.sim = OLD_SIM;
  const NoliSimDef* old = noli_scene_sim_def_sized(scene, &sizes);
  assert_non_null(old);
  assert_ptr_equal(old, noli_scene_sim_def_sized(scene, &sizes));
  assert_int_equal(old->size, OLD_SIM);
  const NoliBodyDef* second =
      (const NoliBodyDef*)(const void*)((const char*)old->bodies + OLD_BODY);
  assert_int_equal(second->size, OLD_BODY);
  assert_string_equal(second->name, "two");
  char* copy = make_list(1, OLD_SIM);
  memcpy(copy, old, OLD_SIM);
  ASSERT_OK(noli_sim_create(context, (const NoliSimDef*)(void*)copy, &sim));
  ASSERT_OK(noli_sim_create(context, noli_scene_sim_def(scene), &own));
  for (int step = 0; step < 3; step++) {
    ASSERT_OK(noli_sim_step(sim, NULL));
    ASSERT_OK(noli_sim_step(own, NULL));
  }
  assert_null(noli_sim_state_difference(sim, own));
  noli_sim_destroy(&sim);
  noli_sim_destroy(&own);
  noli_scene_destroy(&scene);
  free(copy);
  test_context_done(&context);
}

// Results in memory of the caller.
static void results_are_never_overrun(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh* mesh = make_box(context, 0.5);
  NoliMeshCheck whole;
  char* check = make_list(1, offsetof(NoliMeshCheck, n_flat));
  char* field = make_list(1, offsetof(NoliStateField, type));
  char* measures = make_list(1, sizeof(NoliSimMeasures));
  NoliBodyDef body = noli_default_body_def();
  NoliSimDef def = noli_default_sim_def();
  NoliSim* sim = NULL;
  body.mesh = mesh;
  def.bodies = &body;
  def.n_bodies = 1;
  mesh->x[4] = (double)NAN;
  ASSERT_OK(noli_mesh_check(context, mesh, &whole));
  assert_int_equal(whole.n_bad_coordinates, 1);
  ASSERT_OK(noli_mesh_check_sized(context, mesh, (NoliMeshCheck*)(void*)check,
                                  offsetof(NoliMeshCheck, n_flat)));
  assert_memory_equal(check, &whole, offsetof(NoliMeshCheck, n_flat));
  assert_guarded(check, 1, offsetof(NoliMeshCheck, n_flat));
  mesh->x[4] = mesh->x[1];
  noli_mesh_destroy(context, &mesh);
  body.mesh = mesh = make_box(context, 0.5);
  ASSERT_OK(noli_sim_measure(context, &def, (NoliSimMeasures*)(void*)measures));
  assert_guarded(measures, 1, sizeof(NoliSimMeasures));
  ASSERT_NEAR(((NoliSimMeasures*)(void*)measures)->mass[0], 8.0, 1e-9);
  noli_sim_measures_free(context, (NoliSimMeasures*)(void*)measures);
  ASSERT_OK(noli_sim_create(context, &def, &sim));
  assert_true(noli_sim_state_field_sized(sim, 0, (NoliStateField*)(void*)field,
                                         offsetof(NoliStateField, type)));
  assert_guarded(field, 1, offsetof(NoliStateField, type));
  noli_sim_destroy(&sim);
  noli_mesh_destroy(context, &mesh);
  free(check), free(field), free(measures);
  test_context_done(&context);
}

static void other_definitions_have_sizes_too(void** state) {
  (void)state;
  NoliContext* context = NULL;
  NoliContextDef def = noli_default_context_def();
  NoliGcpPotential* potential = NULL;
  const double x[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  const int32_t tri[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
  def.n_threads = 99;
  def.size = offsetof(NoliContextDef, n_threads); // the older one did not have that member
  def.size -= def.size % (uint32_t)sizeof(void*);
  ASSERT_OK(noli_context_create(&def, &context));
  assert_int_not_equal(noli_context_threads(context), 99);
  NoliGcpDef gcp = noli_default_gcp_def();
  gcp.eps_target = 0.1;
  gcp.n_half_spaces = 5; // without an array
  gcp.size = offsetof(NoliGcpDef, half_spaces);
  ASSERT_OK(noli_gcp_potential_create(context, &gcp, x, 4, tri, 4, &potential));
  noli_gcp_potential_destroy(&potential);
  NoliCcdOptions options = noli_default_ccd_options();
  const double low[3] = {0, 0, 0}, high[3] = {0, 1, 0}, below[3] = {0, -1, 0};
  double toi = 0.0, whole = 0.0;
  assert_true(noli_point_point_ccd(high, low, below, low, &options, 1.0, &whole));
  ASSERT_NEAR(whole, 0.45, 0.01);
  options.size = offsetof(NoliCcdOptions, method);
  options.method = "none"; // an older program has other data there
  assert_true(noli_point_point_ccd(high, low, below, low, &options, 1.0, &toi));
  ASSERT_NEAR(toi, whole, 0.0);
  options.size = sizeof options;
  assert_true(noli_point_point_ccd(high, low, below, low, &options, 1.0, &toi));
  ASSERT_NEAR(toi, 0.0, 0.0);
  options = (NoliCcdOptions){.safety = 0.9};
  assert_true(noli_point_point_ccd(high, low, high, low, &options, 1.0, &toi));
  ASSERT_NEAR(toi, 0.0, 0.0);
  assert_int_equal(noli_context_destroy(&context), 0);
}

// Structs in arrays or within others keep their size permanently.
static void closed_structs_keep_their_sizes(void** state) {
  (void)state;
  assert_int_equal(sizeof(void*), 8);
  assert_int_equal(sizeof(NoliScaled), 16);
  assert_int_equal(sizeof(NoliMaterialDef), 112);
  assert_int_equal(sizeof(NoliMaterialFields), 40);
  assert_int_equal(sizeof(NoliPartDef), 192);
  assert_int_equal(sizeof(NoliProxyDef), 88);
  assert_int_equal(sizeof(NoliGcpContactDef), 88);
  assert_int_equal(sizeof(NoliAugmentedLagrangianDef), 56);
  assert_int_equal(sizeof(NoliImplicitNewtonDef), 40);
  assert_int_equal(sizeof(NoliPairForce), 96);
  assert_int_equal(sizeof(NoliRegionVolume), 56);
  assert_int_equal(sizeof(NoliNewtonStat), 184);
  assert_int_equal(sizeof(NoliStepTiming), 64);
  assert_int_equal(sizeof(NoliDefect), 104);
  assert_int_equal(sizeof(NoliFinding), 984);
  assert_int_equal(sizeof(NoliGcpContact), 48);
  assert_int_equal(sizeof(NoliSceneFile), 40);
  assert_int_equal(sizeof(NoliProbeDef), 56);
  assert_int_equal(sizeof(NoliSceneOverride), 16);
  assert_int_equal(sizeof(NoliRunFrame), 32);
  assert_int_equal(sizeof(NoliMeshIntersection), 56);
  assert_int_equal(sizeof(NoliMeshCleaned), 80);
  assert_int_equal(sizeof(NoliTriplet), 16);
  assert_int_equal(sizeof(NoliPose), 56);
  assert_int_equal(sizeof(NoliSurfacePoint), 136);
  assert_int_equal(sizeof(NoliContactInfo), 208);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(programs_of_other_versions_get_the_same),
      cmocka_unit_test(unmade_items_are_named),
      cmocka_unit_test(unknown_members_are_refused),
      cmocka_unit_test(scenes_give_definitions_of_any_size),
      cmocka_unit_test(results_are_never_overrun),
      cmocka_unit_test(other_definitions_have_sizes_too),
      cmocka_unit_test(closed_structs_keep_their_sizes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
