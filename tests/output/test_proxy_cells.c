// Frames give colliding triangles the values of the elements in which they lie.
#include "step/world.h"

#include "math/mat3.h"
#include "output/frames/frame.h"

// The smallest barycentric coordinate of a vertex in an element, at rest.
static double inside(const World* world, int32_t element, int32_t vertex) {
  const double* X = noli_sim_rest_positions(world->sim);
  const int32_t* tet = world->sim->model->cell + 4 * (int64_t)element;
  NoliVec3 corner = noli_load3(X + 3 * (int64_t)tet[0]), edge[3];
  for (int k = 0; k < 3; k++) {
    edge[k] = noli_sub3(noli_load3(X + 3 * (int64_t)tet[k + 1]), corner);
  }
  NoliVec3 p = noli_sub3(noli_load3(X + 3 * (int64_t)vertex), corner);
  double volume = noli_dot3(edge[0], noli_cross3(edge[1], edge[2])), sum = 0.0, least = 1.0;
  for (int k = 0; k < 3; k++) {
    double share = noli_dot3(p, noli_cross3(edge[(k + 1) % 3], edge[(k + 2) % 3])) / volume;
    sum += share;
    least = noli_smaller(least, share);
  }
  return noli_smaller(least, 1.0 - sum);
}

// Every corner lies in its element; the stress is the mean of the three.
static void check_frame(World* world, int64_t n_proxy, bool one_element) {
  NoliFrameLayout layout;
  NoliFrameValues values;
  ASSERT_OK(noli_frame_layout_create(world->context, world->sim, &world->def, &layout));
  assert_int_equal(layout.n_proxy, n_proxy);
  ASSERT_OK(noli_frame_values_take(world->context, world->sim, &layout, &values));
  double* stress = malloc(sizeof *stress * (size_t)layout.n_tet);
  ASSERT_OK(noli_sim_von_mises(world->sim, stress));
  const float* von_mises = values.fields + 12 * (int64_t)layout.n_vert;
  double largest = 0.0;
  for (int64_t i = 0; i < n_proxy; i++) {
    int64_t cell = layout.n_cells - n_proxy + i;
    assert_int_equal(layout.cell_proxy[cell], 1);
    const int32_t* element = layout.proxy_tet + 3 * i;
    double mean = 0.0;
    for (int k = 0; k < 3; k++) {
      int32_t vertex = layout.connectivity[layout.offsets[cell] - 3 + k];
      ASSERT_AT_LEAST(inside(world, element[k], vertex), -1e-9);
      mean += stress[element[k]] / 3.0;
    }
    assert_true(!one_element || (element[0] == element[1] && element[1] == element[2]));
    ASSERT_NEAR((double)von_mises[cell], mean, 1e-6 * mean);
    largest = noli_larger(largest, mean);
  }
  ASSERT_AT_LEAST(largest, 100.0);
  free(stress);
  noli_frame_values_free(world->context, &layout, &values);
  noli_frame_layout_free(world->context, &layout);
}

static void land(World* world) {
  const double origin[3] = {0.0, 0.0, 0.0}, up[3] = {0.0, 1.0, 0.0};
  world_add_plane(world, origin, up);
  world_start(world);
  for (int32_t n = 0; n < 6; n++) {
    world_step(world);
  }
  assert_true(world->report.contacts > 0);
}

// The boundary, cut more finely than the elements are: each triangle lies in one face.
static void boundaries(void** state) {
  (void)state;
  World world = world_new(2);
  for (int32_t order = 1; order <= 3; order++) {
    int32_t body =
        world_add(&world, make_box(&world, 0.4, 0.4, 0.4, 2), (double[3]){0.5 * order, 0.205, 0.0});
    world.body[body].order = order;
    world.body[body].velocity[1] = -1.0;
    world.body[body].proxy = (NoliProxyDef){.kind = "subdivision", .subdivision = 3};
  }
  // and one that collides with its own faces
  world_add(&world, make_box(&world, 0.4, 0.4, 0.4, 2), (double[3]){2.0, 0.205, 0.0});
  land(&world);
  check_frame(&world, 3 * 48 * 9, true);
  world_done(&world);
}

// A fine ball in a coarse box: corners of a triangle may lie in different elements.
static void given_meshes(void** state) {
  (void)state;
  for (int32_t order = 1; order <= 2; order++) {
    World world = world_new(2);
    NoliMesh *ball = make_sphere(&world, 0.5, 4), *surface = NULL;
    ASSERT_OK(noli_mesh_extract(world.context, ball, "surface", &surface));
    ASSERT_OK(noli_mesh_remove_unused(world.context, surface));
    noli_mesh_destroy(world.context, &ball);
    const double place[3] = {0.0, 0.51, 0.0}, unit[3] = {1, 1, 1}, none[3] = {0, 0, 0};
    noli_mesh_transform(surface, unit, none, place);
    int32_t body = world_add(&world, make_box(&world, 1.2, 1.2, 1.2, 3), place);
    world.body[body].order = order;
    world.body[body].velocity[1] = -1.0;
    world.body[body].proxy = (NoliProxyDef){.kind = "mesh", .mesh = surface};
    land(&world);
    check_frame(&world, surface->n_tri, false);
    noli_mesh_destroy(world.context, &surface);
    world_done(&world);
  }
}

// The values of a frame are in memory only while it is written; a rank that writes none takes the
// same ones without the lists of cells.
static void frames_leave_no_values(void** state) {
  (void)state;
  World world = world_new(2);
  world_add(&world, make_box(&world, 0.4, 0.4, 0.4, 3), (double[3]){0.0, 0.205, 0.0});
  world.body[0].velocity[1] = -1.0;
  land(&world);
  NoliFrameLayout layout;
  NoliFrameValues whole, bare;
  ASSERT_OK(noli_frame_layout_create(world.context, world.sim, &world.def, &layout));
  int64_t bytes[3];
  for (int i = 0; i < 3; i++) {
    ASSERT_OK(noli_frame_write(world.context, world.sim, &layout, &noli_frame_format_vtu,
                               "no_values.vtu"));
    bytes[i] = noli_context_bytes(world.context);
  }
  assert_int_equal(bytes[1], bytes[0]);
  assert_int_equal(bytes[2], bytes[0]);

  ASSERT_OK(noli_frame_values_take(world.context, world.sim, &layout, &whole));
  noli_frame_layout_free_lists(world.context, &layout);
  assert_null(layout.connectivity);
  ASSERT_OK(noli_frame_values_take(world.context, world.sim, &layout, &bare));
  size_t n_value = 12 * (size_t)layout.n_vert + (size_t)layout.n_cells;
  assert_memory_equal(whole.fields, bare.fields, n_value * sizeof(float));
  assert_memory_equal(whole.x, bare.x, 3 * (size_t)layout.n_vert * sizeof(double));
  noli_frame_values_free(world.context, &layout, &whole);
  noli_frame_values_free(world.context, &layout, &bare);
  noli_frame_layout_free(world.context, &layout);
  world_done(&world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(frames_leave_no_values),
      cmocka_unit_test(boundaries),
      cmocka_unit_test(given_meshes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
