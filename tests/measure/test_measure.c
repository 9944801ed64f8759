// Volumes, masses and the contact distance of definitions, also of those that cannot start; the
// picture of the defects that prevent the start.
#include "step/world.h"

#include "noli/output.h"

static NoliMesh* box(NoliContext* context, double a, double b, double c) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_box(context, (double[]){a, b, c}, (int32_t[]){2, 2, 2}, false, &mesh));
  return mesh;
}

// Two boxes that intersect above an obstacle, and a ball of order 2, whose mesh is straight.
static World intersecting(void) {
  World world = world_new(1);
  NoliMesh* ball = NULL;
  world_add(&world, box(world.context, 1.0, 2.0, 3.0), (double[]){0, 0, 0});
  world_add(&world, box(world.context, 1.0, 1.0, 0.5), (double[]){0.3, 0.2, 0.1});
  world_add_obstacle(&world, box(world.context, 1.0, 1.0, 1.0), (double[]){0, -5, 0});
  ASSERT_OK(noli_mesh_make_curved_sphere(world.context, 1.0, 4, 4, &ball));
  world_add(&world, ball, (double[]){9, 0, 0});
  world.body[0].material.density = 500.0;
  world.body[1].material.density = 2000.0;
  world.body[3].material.density = 1000.0;
  world.body[3].order = 2;
  world.def.contact_distance = (NoliScaled){2.5e-3, false};
  return world;
}

static void definitions_that_cannot_start_are_measured(void** state) {
  (void)state;
  World world = intersecting();
  NoliSimMeasures measures;
  ASSERT_STATUS(world_create(&world), NOLI_ERROR_INTERSECTION);
  ASSERT_OK(noli_sim_measure(world.context, &world.def, &measures));
  ASSERT_NEAR(measures.volume[0], 6.0, 1e-12);
  ASSERT_NEAR(measures.mass[0], 3000.0, 1e-9);
  ASSERT_NEAR(measures.volume[1], 0.5, 1e-12);
  ASSERT_NEAR(measures.mass[1], 1000.0, 1e-9);
  assert_true(measures.volume[2] == 0.0 && measures.mass[2] == 0.0);
  // with its curved shape, not that of the straight tetrahedra
  ASSERT_NEAR(measures.volume[3], 4.0 / 3.0 * 3.14159265358979323846, 2e-3);
  // masses and volumes of curved elements are integrated by different rules
  ASSERT_NEAR(measures.mass[3], 1000.0 * measures.volume[3], 1e-6 * measures.mass[3]);
  assert_true(measures.contact_distance == 2.5e-3);
  noli_sim_measures_free(world.context, &measures);
  // invalid definitions fail
  world.body[0].material.density = -1.0;
  ASSERT_STATUS(noli_sim_measure(world.context, &world.def, &measures), NOLI_ERROR_ARGUMENT);
  assert_true(measures.volume == NULL && measures.mass == NULL);
  world_done(&world);
}

static char* read_text(const char* path, char text[4096]) {
  FILE* file = fopen(path, "rb");
  assert_non_null(file);
  text[fread(text, 1, 4095, file)] = '\0';
  fclose(file);
  return text;
}

static void defects_are_drawn(void** state) {
  (void)state;
  World world = intersecting();
  NoliDefect* defects = NULL;
  int64_t n = 0;
  char text[4096], counts[64];
  ASSERT_STATUS(world_create(&world), NOLI_ERROR_INTERSECTION);
  ASSERT_OK(noli_sim_check(world.context, &world.def, &defects, &n));
  assert_true(n > 0);
  ASSERT_OK(noli_output_write_defects(world.context, &world.def, defects, 1, "one.vtu"));
  // two primitives and the point where they meet
  int32_t n_vert = defects[0].n_vert[0] + defects[0].n_vert[1] + 1;
  snprintf(counts, sizeof counts, "NumberOfPoints=\"%d\" NumberOfCells=\"3\"", (int)n_vert);
  assert_non_null(strstr(read_text("one.vtu", text), counts));
  assert_non_null(strstr(text, "Name=\"defect\""));
  ASSERT_STATUS(noli_output_write_defects(world.context, &world.def, defects, n, "no/way.vtu"),
                NOLI_ERROR_IO);
  noli_sim_check_free(world.context, &defects);
  ASSERT_OK(noli_output_write_text(world.context, "one.txt", "a text\n"));
  ASSERT_OK(noli_output_write_text(world.context, "one.txt", "another\n"));
  assert_string_equal(read_text("one.txt", text), "another\n");
  ASSERT_STATUS(noli_output_write_text(world.context, "no/way.txt", "a"), NOLI_ERROR_IO);
  world_done(&world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(definitions_that_cannot_start_are_measured),
      cmocka_unit_test(defects_are_drawn),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
