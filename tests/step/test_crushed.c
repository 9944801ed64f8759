// Elements that are nearly flat are up to 1e20 times as stiff as others, and rounding of their rows
// makes the matrix indefinite. Steps recover from them.
#include "world.h"

// A column of four cells, of which the lowest has `share` of its height; its height after a step,
// and the longest step of Newton's method, relative to its model.
static NoliStatus step_from(double share, const char* law, double* height, double* longest) {
  World world = world_new(1);
  NoliMesh* mesh = NULL;
  ASSERT_OK(
      noli_mesh_make_box(world.context, (double[]){1, 4, 1}, (int32_t[]){1, 4, 1}, false, &mesh));
  world_add(&world, mesh, (double[]){0, 2, 0});
  world.body[0].material.law = law;
  double x0[3 * 20];
  assert_int_equal(mesh->n_vert, 20);
  memcpy(x0, mesh->x, sizeof x0);
  int32_t middle = NOLI_NULL_INDEX;
  for (int32_t i = 0; i < mesh->n_vert; i++) {
    if (fabs(mesh->x[3 * i + 1] - 1.0) < 1e-9) {
      x0[3 * i + 1] = share;
      middle = i;
    }
  }
  world.body[0].x0 = x0;
  world.def.contact = false;
  world_start(&world);
  NoliStepReport report = {0};
  NoliStatus status = noli_sim_step(world.sim, &report);
  if (status != NOLI_OK) {
    print_error("%s: %s\n", law, noli_context_message(world.context));
  }
  *height = noli_sim_positions(world.sim)[3 * middle + 1];
  *longest = 0.0;
  for (int32_t i = 0; i < report.newton_iterations; i++) {
    *longest = noli_larger(*longest, report.newton[i].alpha);
    ASSERT_AT_MOST(report.newton[i].energy_change, 0.0);
  }
  world_done(&world);
  return status;
}

static void flat_elements_spring_back(void** state) {
  (void)state;
  double limit = 0.0;
  for (int k = 6; k <= 11; k++) {
    double height = 0.0, longest = 0.0;
    assert_int_equal(step_from(pow(10.0, -k), "neo_hookean", &height, &longest), NOLI_OK);
    // the model of a flat element is far too stiff: steps go beyond its minimum
    ASSERT_AT_LEAST(longest, 1.2);
    ASSERT_AT_MOST(longest, 4.0);
    limit = k == 6 ? height : limit;
    ASSERT_AT_LEAST(height, 0.1);
    // all are as good as flat
    ASSERT_NEAR(height, limit, 1e-4);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(flat_elements_spring_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
