#include "output_support.h"

#include "output/checkpoint.h"

static const char scene_json[] = "{\"name\": \"box\"}";

static void state_comes_back_bit_by_bit(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  TestSim first, second;
  NoliCheckpointInfo info;
  char* text = NULL;
  test_sim_create(context, 2, &first);
  test_sim_create(context, 2, &second);

  // save one simulation and load it into another
  for (int i = 0; i < 4; i++) {
    ASSERT_OK(noli_sim_step(first.sim, NULL));
  }
  ASSERT_OK(noli_checkpoint_write(context, first.sim, scene_json, "{}", NULL, "checkpoint_a.h5"));
  assert_true(noli_sim_state_hash(first.sim) != noli_sim_state_hash(second.sim));
  ASSERT_OK(noli_checkpoint_load(context, second.sim, "checkpoint_a.h5"));
  assert_true(noli_sim_state_hash(first.sim) == noli_sim_state_hash(second.sim));
  assert_int_equal(noli_sim_step_count(second.sim), 4);

  // and both continue in the same way
  for (int i = 0; i < 4; i++) {
    ASSERT_OK(noli_sim_step(first.sim, NULL));
    ASSERT_OK(noli_sim_step(second.sim, NULL));
    assert_true(noli_sim_state_hash(first.sim) == noli_sim_state_hash(second.sim));
  }

  // information and texts
  ASSERT_OK(noli_checkpoint_info(context, "checkpoint_a.h5", &info));
  assert_int_equal(info.step, 4);
  ASSERT_NEAR(info.time, 0.04, 1e-15);
  assert_string_equal(info.version, noli_version());
  assert_string_equal(info.scene_json, scene_json);
  noli_checkpoint_info_free(context, &info);
  ASSERT_OK(noli_checkpoint_read_text(context, "checkpoint_a.h5", "summary", &text));
  assert_string_equal(text, "{}");
  noli_free(context, text);
  ASSERT_OK(noli_checkpoint_read_text(context, "checkpoint_a.h5", "nothing", &text));
  assert_null(text);
  test_sim_destroy(context, &first);
  test_sim_destroy(context, &second);
  test_context_done(&context);
}

// The same bytes in memory as in a file, and damage is found there as well.
static void memory_holds_the_bytes_of_a_file(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  TestSim first, second;
  void* bytes = NULL;
  size_t size = 0;
  test_sim_create(context, 2, &first);
  test_sim_create(context, 2, &second);
  for (int i = 0; i < 3; i++) {
    ASSERT_OK(noli_sim_step(first.sim, NULL));
  }
  ASSERT_OK(noli_checkpoint_to_memory(context, first.sim, scene_json, &bytes, &size));
  ASSERT_OK(noli_checkpoint_save(context, first.sim, scene_json, "checkpoint_memory.h5"));
  FILE* file = fopen("checkpoint_memory.h5", "rb");
  char* content = malloc(size + 1);
  assert_true(file != NULL && content != NULL);
  assert_int_equal(fread(content, 1, size + 1, file), size);
  assert_memory_equal(content, bytes, size);
  fclose(file);
  free(content);

  // damaged, cut short, complete
  uint64_t hash = noli_sim_state_hash(second.sim);
  ((char*)bytes)[size - 100] ^= 1;
  ASSERT_STATUS(noli_checkpoint_from_memory(context, second.sim, bytes, size), NOLI_ERROR_FORMAT);
  ((char*)bytes)[size - 100] ^= 1;
  ASSERT_STATUS(noli_checkpoint_from_memory(context, second.sim, bytes, size / 2),
                NOLI_ERROR_FORMAT);
  ASSERT_STATUS(noli_checkpoint_from_memory(context, second.sim, bytes, 0), NOLI_ERROR_FORMAT);
  assert_true(noli_sim_state_hash(second.sim) == hash);
  ASSERT_OK(noli_checkpoint_from_memory(context, second.sim, bytes, size));
  assert_true(noli_sim_state_hash(second.sim) == noli_sim_state_hash(first.sim));
  noli_free(context, bytes);
  test_sim_destroy(context, &first);
  test_sim_destroy(context, &second);
  test_context_done(&context);
}

// A motion that has ended by position stays ended after a restart, regardless of the position of
// the body.
static void ended_motions_stay_ended(void** state) {
  (void)state;
  NoliContext* context = test_context(1);

  // save after each number of steps
  for (int32_t k = 0; k < 6; k++) {
    TestSim test[2];
    for (int i = 0; i < 2; i++) {
      test_sim_create(context, 1, &test[i]);
      noli_sim_destroy(&test[i].sim);

      // held until it is beyond a plane, which it already is at the start
      NoliMotionDef motion = noli_default_motion_def();
      motion.t_begin = 0.015;
      motion.ends_beyond = true;
      motion.end_origin[1] = -0.505 - 0.01;
      motion.end_normal[1] = k < 5 ? 1.0 : -1.0; // the last one never ends
      test[i].def.motions = &motion;
      test[i].def.n_motions = 1;
      ASSERT_OK(noli_sim_create(context, &test[i].def, &test[i].sim));
    }

    // steps of both
    for (int32_t step = 0; step < k; step++) {
      ASSERT_OK(noli_sim_step(test[0].sim, NULL));
    }
    ASSERT_OK(noli_checkpoint_save(context, test[0].sim, scene_json, "checkpoint_end.h5"));
    ASSERT_OK(noli_checkpoint_load(context, test[1].sim, "checkpoint_end.h5"));
    for (int32_t step = 0; step < 5; step++) {
      ASSERT_OK(noli_sim_step(test[0].sim, NULL));
      ASSERT_OK(noli_sim_step(test[1].sim, NULL));
      assert_true(noli_sim_state_hash(test[0].sim) == noli_sim_state_hash(test[1].sim));
    }
    assert_int_equal(noli_sim_velocities(test[0].sim)[1] == 0.0, k == 5);
    test_sim_destroy(context, &test[0]);
    test_sim_destroy(context, &test[1]);
  }
  test_context_done(&context);
}

// Equal states make equal files: nothing in them depends on the time of writing.
static void files_are_reproducible(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  TestSim test;
  size_t n_first = 0, n_second = 0;
  test_sim_create(context, 2, &test);
  ASSERT_OK(noli_checkpoint_save(context, test.sim, NULL, "checkpoint_b.h5"));
  ASSERT_OK(noli_checkpoint_save(context, test.sim, NULL, "checkpoint_c.h5"));
  char* first = test_read_file("checkpoint_b.h5", &n_first);
  char* second = test_read_file("checkpoint_c.h5", &n_second);
  assert_int_equal(n_first, n_second);
  assert_memory_equal(first, second, n_first);
  free(first);
  free(second);
  test_sim_destroy(context, &test);
  test_context_done(&context);
}

// Every flipped byte and every cut is found, and the simulation stays as it was.
static void damage_is_found(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  TestSim test;
  size_t size = 0;
  test_sim_create(context, 1, &test);

  // damage of single bytes
  uint64_t hash = noli_sim_state_hash(test.sim);
  ASSERT_OK(noli_checkpoint_save(context, test.sim, scene_json, "checkpoint_d.h5"));
  char* bytes = test_read_file("checkpoint_d.h5", &size);
  TestRandom random = {11};
  for (int i = 0; i < 200; i++) {
    // after the padding of the first block every byte matters
    size_t at = 512 + test_random_bits(&random) % (size - 512);
    bytes[at] ^= 0x10;
    test_write_file("checkpoint_e.h5", bytes, size);
    bytes[at] ^= 0x10;
    ASSERT_STATUS(noli_checkpoint_load(context, test.sim, "checkpoint_e.h5"), NOLI_ERROR_FORMAT);
    assert_non_null(strstr(noli_context_message(context), "checkpoint_e.h5: damaged"));
  }

  // in the first block the numbers of its line matter: leading zeros and its end do not
  size_t n_line = strlen(bytes), n_accepted = 0;
  for (size_t at = 0; at < n_line; at++) {
    bytes[at] ^= 0x10;
    test_write_file("checkpoint_e.h5", bytes, size);
    bytes[at] ^= 0x10;
    NoliStatus status = noli_checkpoint_load(context, test.sim, "checkpoint_e.h5");
    assert_true(status == NOLI_ERROR_FORMAT || status == NOLI_OK);
    n_accepted += status == NOLI_OK ? 1 : 0;
  }
  assert_true(n_accepted <= 4 && noli_sim_state_hash(test.sim) == hash);

  // cut anywhere, also within the first block and at its end
  for (size_t length = 0; length < size; length += length < 600 ? 13 : 1 + size / 50) {
    test_write_file("checkpoint_e.h5", bytes, length);
    ASSERT_STATUS(noli_checkpoint_load(context, test.sim, "checkpoint_e.h5"), NOLI_ERROR_FORMAT);
    assert_non_null(strstr(noli_context_message(context), "checkpoint_e.h5: "));
  }
  const size_t cuts[] = {1, 511, 512, 513, size - 1};
  for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
    test_write_file("checkpoint_e.h5", bytes, cuts[i]);
    ASSERT_STATUS(noli_checkpoint_load(context, test.sim, "checkpoint_e.h5"), NOLI_ERROR_FORMAT);
  }

  // of an earlier version: the previous format
  char older[512];
  snprintf(older, sizeof older, "noli checkpoint 2%s", bytes + strlen("noli checkpoint 3"));
  memcpy(bytes, older, strlen(older));
  test_write_file("checkpoint_e.h5", bytes, size);
  ASSERT_STATUS(noli_checkpoint_load(context, test.sim, "checkpoint_e.h5"), NOLI_ERROR_FORMAT);
  assert_non_null(strstr(noli_context_message(context), "a checkpoint of format 2; this version"));
  free(bytes);

  // a file that does not exist
  ASSERT_STATUS(noli_checkpoint_load(context, test.sim, "checkpoint_none.h5"), NOLI_ERROR_IO);
  assert_true(noli_sim_state_hash(test.sim) == hash);
  test_sim_destroy(context, &test);
  test_context_done(&context);
}

static void other_scene_is_refused(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  TestSim small, large;
  test_sim_create(context, 2, &small);
  test_sim_create(context, 2, &large);

  // a second body makes it another scene
  noli_sim_destroy(&large.sim);
  NoliBodyDef bodies[2] = {large.body, large.body};
  NoliMesh* above = NULL;
  const double size[3] = {1.0, 1.0, 1.0}, one[3] = {1.0, 1.0, 1.0}, none[3] = {0.0, 0.0, 0.0};
  const double up[3] = {0.0, 3.0, 0.0};
  const int32_t cells[3] = {2, 2, 2};
  ASSERT_OK(noli_mesh_make_box(context, size, cells, false, &above));
  noli_mesh_transform(above, one, none, up);
  bodies[1].mesh = above;
  bodies[1].name = "above";
  large.def.bodies = bodies;
  large.def.n_bodies = 2;
  ASSERT_OK(noli_sim_create(context, &large.def, &large.sim));

  // save the small one, load it into the large one
  uint64_t hash = noli_sim_state_hash(large.sim);
  ASSERT_OK(noli_checkpoint_save(context, small.sim, scene_json, "checkpoint_f.h5"));
  ASSERT_STATUS(noli_checkpoint_load(context, large.sim, "checkpoint_f.h5"), NOLI_ERROR_FORMAT);
  assert_non_null(
      strstr(noli_context_message(context), "of 1 bodies and obstacles; the scene has 2"));
  assert_true(noli_sim_state_hash(large.sim) == hash);
  test_sim_destroy(context, &small);
  test_sim_destroy(context, &large);
  noli_mesh_destroy(context, &above);
  test_context_done(&context);
}

// The same number of vertices and cells does not make the same model: a changed mesh is detected,
// and so are different cells. Materials may differ.
static void changed_mesh_is_refused(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  TestSim first, other;
  test_sim_create(context, 2, &first);
  ASSERT_OK(noli_checkpoint_save(context, first.sim, NULL, "checkpoint_g.h5"));

  // other shapes, meshes and materials
  const struct {
    double move;    // m, of one vertex of 27
    bool swap;      // the order of two corners, twice
    double young;   // Pa
    const char* of; // text of the message; NULL: accepted
  } cases[] = {
      {0.0, false, 1e5, NULL},
      {0.0, false, 2e5, NULL},
      {1e-15, false, 1e5, NULL}, // rounding of another machine
      {1e-9, false, 1e5, "the state of another model: \"box, \"soft\"\" had another rest shape"},
      {0.01, false, 1e5, "the state of another model: \"box, \"soft\"\" had another rest shape"},
      {0.0, true, 1e5, "the state of another model: \"box, \"soft\"\" had another mesh"},
  };

  // load into each
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    test_sim_create(context, 2, &other);
    noli_sim_destroy(&other.sim);
    other.mesh->x[5] += cases[i].move;
    if (cases[i].swap) {
      // an even permutation: the same tetrahedron, written in another way
      int32_t* tet = other.mesh->tet;
      int32_t corner = tet[0];
      tet[0] = tet[1];
      tet[1] = tet[2];
      tet[2] = corner;
    }
    other.body.material.young = cases[i].young;
    ASSERT_OK(noli_sim_create(context, &other.def, &other.sim));
    uint64_t hash = noli_sim_state_hash(other.sim);
    NoliStatus status = noli_checkpoint_load(context, other.sim, "checkpoint_g.h5");
    assert_int_equal(status, cases[i].of == NULL ? NOLI_OK : NOLI_ERROR_FORMAT);
    if (cases[i].of != NULL) {
      assert_non_null(strstr(noli_context_message(context), cases[i].of));
      assert_true(noli_sim_state_hash(other.sim) == hash);
    }
    test_sim_destroy(context, &other);
  }
  test_sim_destroy(context, &first);
  test_context_done(&context);
}

static void full_disk_leaves_the_older_file(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  TestSim test;
  test_empty_directory("checkpoint_full");
  test_sim_create(context, 2, &test);
  ASSERT_OK(noli_checkpoint_save(context, test.sim, scene_json, "checkpoint_full/a.h5"));
  uint64_t hash = noli_sim_state_hash(test.sim);
  ASSERT_OK(noli_sim_step(test.sim, NULL));
  test_limit_files(1000);
  ASSERT_STATUS(noli_checkpoint_save(context, test.sim, scene_json, "checkpoint_full/a.h5"),
                NOLI_ERROR_IO);
  test_unlimit_files();
  ASSERT_OK(noli_checkpoint_load(context, test.sim, "checkpoint_full/a.h5"));
  assert_true(noli_sim_state_hash(test.sim) == hash);
  assert_int_equal(test_count_files("checkpoint_full"), 1);
  test_sim_destroy(context, &test);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(memory_holds_the_bytes_of_a_file),
      cmocka_unit_test(state_comes_back_bit_by_bit),
      cmocka_unit_test(ended_motions_stay_ended),
      cmocka_unit_test(files_are_reproducible),
      cmocka_unit_test(damage_is_found),
      cmocka_unit_test(other_scene_is_refused),
      cmocka_unit_test(changed_mesh_is_refused),
      cmocka_unit_test(full_disk_leaves_the_older_file),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
