// Reading scenes and meshes and writing results while memory runs out: every refused allocation is
// reported as such, nothing leaks, and the files on the disk can be read.
#include "output_support.h"

#include "noli/import.h"
#include "output/checkpoint.h"
#include "noli/run.h"

// ---- meshes ----

static void meshes_in_every_format(void** state) {
  (void)state;
  static const char* const names[] = {"refused.msh", "refused.vtk", "refused.obj", "refused.ply",
                                      "refused.stl"};
  for (int f = 0; f < 5; f++) {
    bool done = false;
    for (int64_t k = 1; !done; k++) {
      TestMemory memory;
      NoliContext* context = test_context_on(&memory, 1);
      NoliMesh *mesh = NULL, *again = NULL;
      const double size[3] = {1.0, 1.0, 1.0};
      const int32_t cells[3] = {2, 2, 2};
      ASSERT_OK(noli_mesh_make_box(context, size, cells, f >= 2, &mesh));
      test_refuse(&memory, k);
      NoliStatus status = noli_mesh_write(context, names[f], mesh);
      if (status == NOLI_OK) {
        status = noli_mesh_read(context, names[f], &again);
      }
      if (status != NOLI_OK) {
        assert_int_equal(status, NOLI_ERROR_MEMORY);
        assert_null(again);
      }
      done = memory.asked < k;
      noli_mesh_destroy(context, &mesh);
      noli_mesh_destroy(context, &again);
      test_context_done(&context);
    }
    remove(names[f]);
  }
}

// ---- scenes and runs ----

static const char plain_scene[] =
    "{\"time\": {\"step\": 0.01, \"steps\": 4},"
    " \"bodies\": [{\"name\": \"box\", \"mesh\": \"refused_body.msh\", \"translate\": [0, 0.6, 0],"
    "   \"rotate\": [0, 20, 0], \"copies\": {\"count\": 2, \"translate\": [0, 1.5, 0]}},"
    "   {\"name\": \"rod\", \"mesh\": {\"rod\": {\"length\": 2, \"cells_along\": 2,"
    "   \"cells_across\": 1}}, \"translate\": [5, 1, 0]}],"
    " \"obstacles\": [{\"name\": \"plate\", \"mesh\": {\"plane\": {\"size\": [3, 3]}},"
    "   \"translate\": [0, -1, 0], \"motion\": {\"velocity\": [0, \"0.1*sin(t)\", 0]}}],"
    " \"half_spaces\": [{\"name\": \"floor\"}],"
    " \"prescribed\": [{\"body\": \"rod\", \"select\": [{\"side\": \"-x\"},"
    "   {\"box\": {\"min\": [0.9, 0, 0], \"max\": [1, 1, 1], \"relative\": true}}],"
    "   \"motion\": {\"rotation\": {\"axis\": [1, 0, 0], \"speed\": \"90*t\"}}}],"
    " \"forces\": [{\"body\": \"box\", \"acceleration\": [\"X+t\", 0, 0]}],"
    " \"pairs\": [{\"a\": \"box\", \"b\": \"floor\", \"friction\": 0.5}],"
    " \"output\": {\"every\": 2}}";

// Elements of order 2 that collide by a proxy, with the geometric potential.
static const char curved_scene[] =
    "{\"time\": {\"step\": 0.01, \"steps\": 4}, \"contact\": {\"model\": \"gcp\", \"distance\": "
    "0.01},"
    " \"bodies\": [{\"name\": \"ball\", \"order\": 2, \"mesh\": {\"sphere\": {\"radius\": 0.1,"
    "   \"cells\": 1, \"geometry_order\": 2}}, \"translate\": [0, 0.104, 0],"
    "   \"velocity\": [0.5, -0.5, 0], \"proxy\": {\"subdivision\": 2},"
    "   \"material\": {\"damping\": 0.001}, \"parts\": [{\"select\": [{\"side\": \"+x\","
    "   \"depth\": 0.5}, {\"elements\": [0]}], \"material\": {\"young\": 2e5}}]}],"
    " \"obstacles\": [{\"name\": \"slab\", \"mesh\": {\"box\": {\"size\": [1, 0.1, 1],"
    "   \"cells\": [1, 1, 1]}}, \"translate\": [0, -0.05, 0]}],"
    " \"friction\": {\"coefficient\": 0.4}, \"output\": {\"every\": 2}}";

// A plane, constraints, a region that resists a change of volume in another body.
static const char planar_scene[] =
    "{\"time\": {\"step\": 0.01, \"steps\": 4}, \"contact\": {\"distance\": 0.002},"
    " \"bodies\": [{\"name\": \"disk\", \"mesh\": {\"disk\": {\"radius\": 0.1, \"cells\": 4}},"
    "   \"plane_strain\": 0.2, \"translate\": [0, 0.1008, 0], \"velocity\": [0.5, -0.5, 0],"
    "   \"parts\": [{\"select\": {\"side\": \"+y\", \"depth\": 0.5},"
    "   \"material\": {\"density\": 2000, \"damping\": 0.001}}]},"
    "   {\"name\": \"box\", \"mesh\": {\"box\": {\"size\": [0.2, 0.2, 0.2], \"cells\": [1, 1, 1]}},"
    "   \"translate\": [2, 0.1009, 0], \"volume\": {\"region\": \"body\", \"model\": \"quadratic\","
    "   \"compression\": 1e-5}}],"
    " \"half_spaces\": [{\"name\": \"floor\"}], \"friction\": {\"coefficient\": 0.4},"
    " \"solver\": {\"method\": \"augmented_lagrangian\", \"linear\": \"pcg\"},"
    " \"output\": {\"every\": 2}}";

static NoliStatus record(NoliContext* context, const NoliRunDef* def, NoliSim* sim, bool reopen) {
  NoliStatus status = NOLI_OK;
  NoliRun* run = NULL;
  NOLI_TRY(reopen ? noli_run_reopen(context, def, sim, &run)
                  : noli_run_open(context, def, sim, &run));
  for (int step = 0; step < 2; step++) {
    NoliStepReport report;
    NOLI_TRY(noli_sim_step(sim, &report));
    NOLI_TRY(noli_run_step(run, sim));
  }
  NOLI_TRY(noli_run_save(run, sim, true, NULL));
done:
  noli_run_close(&run);
  return status;
}

// Loads, runs, and continues with another simulation of the same scene.
static NoliStatus live(NoliContext* context, const char* scene_text) {
  NoliStatus status = NOLI_OK;
  NoliScene* scene = NULL;
  NoliSim* sim = NULL;
  char* json = NULL;
  NoliCheckpointInfo info = {0};
  NOLI_TRY(noli_scene_parse(context, scene_text, "refused.json", NULL, NULL, 0, &scene));
  NOLI_TRY(noli_scene_json(scene, &json));
  NoliRunDef def = noli_default_run_def();
  def.directory = "refused_run";
  def.scene_name = noli_scene_name(scene);
  def.scene_json = json;
  def.sim_def = noli_scene_sim_def(scene);
  def.frame_interval = noli_scene_output(scene).frame_interval;
  def.checkpoint_seconds = 0.0;
  for (int part = 0; part < 2; part++) {
    NOLI_TRY(noli_sim_create(context, noli_scene_sim_def(scene), &sim));
    NOLI_TRY(record(context, &def, sim, part == 1));
    assert_int_equal(noli_sim_step_count(sim), 2 + 2 * part);
    noli_sim_destroy(&sim);
  }
  NOLI_TRY(noli_checkpoint_info(context, "refused_run/checkpoint.h5", &info));
  assert_int_equal(info.step, 4);
done:
  noli_checkpoint_info_free(context, &info);
  noli_scene_free_text(context, &json);
  noli_sim_destroy(&sim);
  noli_scene_destroy(&scene);
  return status;
}

// An existing checkpoint is complete, regardless of when writing ended.
static void require_whole_checkpoint(void) {
  if (access("refused_run/checkpoint.h5", F_OK) == 0) {
    NoliContext* context = test_context(1);
    NoliCheckpointInfo info = {0};
    ASSERT_OK(noli_checkpoint_info(context, "refused_run/checkpoint.h5", &info));
    noli_checkpoint_info_free(context, &info);
    test_context_done(&context);
  }
}

static void scenes_and_results(void** state) {
  const char* scene_text = *state;
  bool plain = scene_text == plain_scene;

  // a mesh for the scene
  NoliContext* context = test_context(1);
  NoliMesh* mesh = NULL;
  const double size[3] = {1.0, 1.0, 1.0};
  const int32_t cells[3] = {1, 1, 1};
  ASSERT_OK(noli_mesh_make_box(context, size, cells, false, &mesh));
  ASSERT_OK(noli_mesh_write(context, "refused_body.msh", mesh));
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);

  // refuse allocation k
  int n_refused = 0;
  bool done = false;
  for (int64_t k = 1; !done; k += 1 + k / (plain ? 60 : 25)) {
    TestMemory memory;
    test_empty_directory("refused_run");
    context = test_context_on(&memory, 1);
    test_refuse(&memory, k);
    NoliStatus status = live(context, scene_text);
    done = memory.asked < k;

    // each failure is reported
    if (done != (status == NOLI_OK)) {
      print_error("allocation %lld of %lld: status %d, %s\n", (long long)k, (long long)memory.asked,
                  (int)status, noli_context_message(context));
      fail();
    }
    assert_true(done || status == NOLI_ERROR_MEMORY);
    n_refused += done ? 0 : 1;
    test_context_done(&context);
    require_whole_checkpoint();
  }

  // enough allocations
  print_message("%d allocations refused, one at a time\n", n_refused);
  assert_true(n_refused > 50);
  remove("refused_body.msh");
}

// ---- files written by others ----

// Lines, points, and scenes of other programs: read or refused without leaks.
static NoliStatus read_foreign(NoliContext* context, const char* path) {
  NoliStatus status = NOLI_OK;
  NoliScene* scene = NULL;
  NoliMesh* mesh = NULL;
  if (strstr(path, ".seg") != NULL || strstr(path, ".pt") != NULL) {
    status = noli_mesh_read(context, path, &mesh);
    assert_true((status == NOLI_OK) == (mesh != NULL));
    noli_mesh_destroy(context, &mesh);
  } else {
    status = noli_import_load(context, path, NULL, 0, &scene);
    assert_true((status == NOLI_OK) == (scene != NULL));
    noli_scene_destroy(&scene);
  }
  return status;
}

static void files_of_others(void** state) {
  (void)state;
  static const struct {
    const char *path, *text;
  } files[] = {
      {"refused_lines.seg", "v 0 0 0\nv 1 0 0\nv 1 1 0\ns 1 2\ns 2 3\n"},
      {"refused_points.pt", "v 0 0 0\nv 1 0 0\n"},
      {"refused_ipc.txt",
       "time 1 0.05\nenergy NH\ndensity 1000\nstiffness 1e5 0.4\nshapes input 2\n"
       "refused_foreign.msh 0 0.7 0  0 0 0  1 1 1 material 500 1e4 0.3 initVel 1 0 0 0 0 0\n"
       "refused_foreign.msh 3 0.7 0  0 30 0  1 1 1 DBC 0 0 0 1 0.1 1 0 1 0 0 0 0\n"
       "ground 0.1 0\nselfFric 0.2\n"},
      {"refused_polyfem.json",
       "{\"geometry\": [{\"mesh\": \"refused_foreign.msh\", \"volume_selection\": 1,"
       " \"transformation\": {\"translation\": [0, 2, 0], \"rotation\": [0, 30, 0]},"
       " \"surface_selection\": [{\"id\": 2, \"axis\": \"-y\", \"position\": 1.6}]}],"
       " \"time\": {\"tend\": 1, \"dt\": 0.1},"
       " \"materials\": {\"type\": \"NeoHookean\", \"E\": 1e5, \"nu\": 0.3},"
       " \"contact\": {\"enabled\": true, \"dhat\": 0.01},"
       " \"boundary_conditions\": {\"rhs\": [0, 9.81, 0], \"dirichlet_boundary\":"
       " [{\"id\": 2, \"value\": [\"t*x\", 0, \"sin(t)\"]}]}}"}};

  // a mesh for the foreign scenes
  NoliContext* context = test_context(1);
  NoliMesh* mesh = NULL;
  const double size[3] = {1.0, 1.0, 1.0};
  const int32_t cells[3] = {1, 1, 1};
  ASSERT_OK(noli_mesh_make_box(context, size, cells, false, &mesh));
  ASSERT_OK(noli_mesh_write(context, "refused_foreign.msh", mesh));
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);

  // refuse one allocation after the other in each file
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    test_write_file(files[i].path, files[i].text, strlen(files[i].text));
    int64_t k = 1;
    for (bool done = false; !done; k++) {
      TestMemory memory;
      context = test_context_on(&memory, 1);
      test_refuse(&memory, k);
      NoliStatus status = read_foreign(context, files[i].path);
      done = memory.asked < k;
      if (status != (done ? NOLI_OK : NOLI_ERROR_MEMORY)) {
        print_error("%s, allocation %lld: status %d, %s\n", files[i].path, (long long)k,
                    (int)status, noli_context_message(context));
        fail();
      }
      test_context_done(&context);
    }
    print_message("%s: %lld allocations refused\n", files[i].path, (long long)(k - 2));
    remove(files[i].path);
  }
  remove("refused_foreign.msh");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(meshes_in_every_format),
      cmocka_unit_test_prestate(scenes_and_results, (void*)(uintptr_t)plain_scene),
      cmocka_unit_test_prestate(scenes_and_results, (void*)(uintptr_t)curved_scene),
      cmocka_unit_test_prestate(scenes_and_results, (void*)(uintptr_t)planar_scene),
      cmocka_unit_test(files_of_others),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
