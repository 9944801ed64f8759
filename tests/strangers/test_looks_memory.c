// Results with texture coordinates, materials and groups where memory is refused: every request
// that fails is reported, and nothing is lost.
#define _POSIX_C_SOURCE 200809L // mkdir
#include "output/output_support.h"

#include "noli/run.h"
#include "noli/scene.h"

#define FOLDER "looks_run"
#define OUT "looks_out"

static const char mesh_text[] = "mtllib looks_flag.mtl\n"
                                "v 0 0 0\nv 1 0 0\nv 1 0 1\nv 0 0 1\nv 2 0 0\nv 2 0 1\n"
                                "vt 0 0\nvt 0.4 0\nvt 0.4 1\nvt 0 1\nvt 0.6 0\nvt 0.6 1\nvt 1 0\n"
                                "g left\nusemtl red cotton\nf 4/4 3/3 2/2 1/1\n"
                                "g right\nusemtl flag\nf 3/6 6 5/7 2/5\n";
static const char library_text[] = "newmtl red cotton\nKd 1 0 0\nmap_Kd red.png\nnewmtl flag\n";
static const char scene_text[] =
    "{\"time\": {\"step\": 0.01, \"steps\": 1}, \"gravity\": [0, 0, 0],"
    " \"bodies\": [{\"name\": \"flag\", \"mesh\": \"looks_flag.obj\", \"refine\": 1,"
    "               \"shell\": {\"thickness\": 1e-3}}]}";

static void record(void) {
  NoliContext* context = test_context(1);
  NoliScene* scene = NULL;
  NoliSim* sim = NULL;
  NoliRun* run = NULL;
  char* json = NULL;
  test_write_file("looks_flag.obj", mesh_text, sizeof mesh_text - 1);
  test_write_file("looks_flag.mtl", library_text, sizeof library_text - 1);
  test_empty_directory(FOLDER);
  ASSERT_OK(noli_scene_parse(context, scene_text, "looks.json", NULL, NULL, 0, &scene));
  ASSERT_OK(noli_scene_json(scene, &json));
  ASSERT_OK(noli_sim_create(context, noli_scene_sim_def(scene), &sim));
  NoliRunDef def = noli_default_run_def();
  def.directory = FOLDER;
  def.scene_name = "looks";
  def.scene_json = json;
  def.sim_def = noli_scene_sim_def(scene);
  def.files = noli_scene_files(scene, &def.n_files);
  ASSERT_OK(noli_run_open(context, &def, sim, &run));
  ASSERT_OK(noli_run_save(run, sim, true, NULL));
  noli_run_close(&run);
  noli_sim_destroy(&sim);
  noli_scene_free_text(context, &json);
  noli_scene_destroy(&scene);
  test_context_done(&context);
}

static void every_refused_allocation_is_reported(void** state) {
  (void)state;
  static const char* const paths[] = {OUT "/x_%d.obj", OUT "/x.glb", OUT "/x.usda", OUT "/x.pc2"};
  record();
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    bool done = false;
    for (int64_t k = 1; !done; k++) {
      TestMemory memory;
      NoliContext* context = test_context_on(&memory, 1);
      test_empty_directory(OUT);
      test_refuse(&memory, k);
      NoliStatus status = noli_run_export(context, FOLDER, paths[i], NULL);
      done = memory.asked < k;
      assert_int_equal(status, done ? NOLI_OK : NOLI_ERROR_MEMORY);
      test_context_done(&context); // nothing is left
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_refused_allocation_is_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
