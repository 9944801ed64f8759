// NULL pointers: see include/noli/base.h. Every public function that takes an owner is called
// without one.
#include "support.h"

#include "noli/noli.h"
#include "noli/audit.h"
#include "noli/barrier.h"
#include "noli/broad_phase.h"
#include "noli/gcp.h"
#include "noli/import.h"
#include "noli/intersection.h"
#include "noli/live.h"
#include "noli/output.h"
#include "noli/scene.h"

#define ASSERT_REFUSED(call) assert_int_equal((call), NOLI_ERROR_ARGUMENT)

static void functions_with_a_status_refuse_null(void** state) {
  (void)state;

  // contexts and meshes
  ASSERT_REFUSED(noli_context_create(NULL, NULL));
  ASSERT_REFUSED(noli_mesh_create(NULL, 2, 2, 2, 2, 2, false, NULL));
  ASSERT_REFUSED(noli_mesh_read(NULL, NULL, NULL));
  ASSERT_REFUSED(noli_mesh_write(NULL, NULL, NULL));
  ASSERT_REFUSED(noli_mesh_boundary(NULL, NULL, NULL, NULL));
  ASSERT_REFUSED(noli_mesh_outline(NULL, NULL, NULL, NULL));
  ASSERT_REFUSED(noli_mesh_edges(NULL, NULL, 2, NULL, NULL));
  ASSERT_REFUSED(noli_mesh_remove_unused(NULL, NULL));
  ASSERT_REFUSED(noli_mesh_set_order(NULL, NULL, 2));
  ASSERT_REFUSED(noli_mesh_curve_onto(NULL, NULL, NULL, NULL, 1.0, 1.0, NULL));
  ASSERT_REFUSED(noli_mesh_extract(NULL, NULL, "surface", NULL));
  ASSERT_REFUSED(noli_mesh_check(NULL, NULL, NULL));
  ASSERT_REFUSED(noli_mesh_make_box(NULL, NULL, NULL, false, NULL));
  ASSERT_REFUSED(noli_mesh_make_sphere(NULL, 1.0, 2, false, NULL));
  ASSERT_REFUSED(noli_mesh_make_hollow_sphere(NULL, 1.0, 1.0, 2, 2, false, NULL));
  ASSERT_REFUSED(noli_mesh_make_cylinder(NULL, 1.0, 1.0, 2, 2, false, NULL));
  ASSERT_REFUSED(noli_mesh_make_curved_sphere(NULL, 1.0, 2, 2, NULL));
  ASSERT_REFUSED(noli_mesh_make_curved_cylinder(NULL, 1.0, 1.0, 2, 2, 2, NULL));
  ASSERT_REFUSED(noli_mesh_make_rod(NULL, 1.0, 1.0, 2, 2, false, NULL));
  ASSERT_REFUSED(noli_mesh_make_mat(NULL, 1.0, 1.0, 1.0, 2, 2, false, NULL));
  ASSERT_REFUSED(noli_mesh_make_torus(NULL, 1.0, 1.0, 2, 2, false, NULL));
  ASSERT_REFUSED(noli_mesh_make_bowl(NULL, 1.0, 1.0, 1.0, 2, 2, false, NULL));
  ASSERT_REFUSED(noli_mesh_make_bolt(NULL, 1.0, 1.0, 1.0, 1.0, 2, 2, false, NULL));
  ASSERT_REFUSED(noli_mesh_make_nut(NULL, 1.0, 1.0, 1.0, 1.0, 1.0, 2, 2, 2, false, NULL));
  ASSERT_REFUSED(noli_mesh_make_truss(NULL, NULL, 1.0, 1.0, 1.0, 2, 2, 2, false, NULL));
  ASSERT_REFUSED(noli_mesh_make_plane(NULL, 1.0, 1.0, 2, 2, NULL));
  ASSERT_REFUSED(noli_mesh_make_rectangle(NULL, 1.0, 1.0, 2, 2, NULL));
  ASSERT_REFUSED(noli_mesh_make_disk(NULL, 1.0, 2, NULL));
  ASSERT_REFUSED(noli_mesh_make_polygon(NULL, NULL, 2, 2, NULL));
  ASSERT_REFUSED(noli_mesh_make_voxels(NULL, NULL, NULL, NULL, false, NULL));
  ASSERT_REFUSED(noli_mesh_make_revolution(NULL, NULL, 2, 2, NULL));

  // collisions and contact potentials
  ASSERT_REFUSED(noli_mesh_intersections(NULL, 2, NULL, 2, NULL, NULL, NULL));
  ASSERT_REFUSED(noli_candidates_find(NULL, 2, NULL, NULL, 2, NULL, 2, NULL, 1.0, NULL));
  ASSERT_REFUSED(noli_barrier_potential_create(NULL, NULL, 2, NULL, 2, 1.0, NULL));
  ASSERT_REFUSED(noli_barrier_potential_update(NULL, NULL));
  ASSERT_REFUSED(noli_barrier_potential_hessian(NULL, false, NULL, NULL));
  ASSERT_REFUSED(noli_gcp_potential_create(NULL, NULL, NULL, 2, NULL, 2, NULL));
  ASSERT_REFUSED(noli_gcp_potential_create_plane(NULL, NULL, NULL, 2, NULL, 2, NULL));
  ASSERT_REFUSED(noli_gcp_potential_update(NULL, NULL));
  ASSERT_REFUSED(noli_gcp_potential_gradient(NULL, NULL));
  ASSERT_REFUSED(noli_gcp_potential_hessian(NULL, false, NULL, NULL));

  // scenes and memory
  ASSERT_REFUSED(noli_scene_load(NULL, NULL, NULL, 2, NULL));
  ASSERT_REFUSED(noli_scene_parse(NULL, NULL, NULL, NULL, NULL, 2, NULL));
  ASSERT_REFUSED(noli_scene_parse_converted(NULL, NULL, NULL, NULL, NULL, 2, NULL));
  ASSERT_REFUSED(noli_import_load(NULL, NULL, NULL, 2, NULL));
  ASSERT_REFUSED(noli_import_parse(NULL, NULL, 2, NULL, NULL, NULL, 2, NULL));
  ASSERT_REFUSED(noli_grow(NULL, NULL, NULL, 2, 2));
  ASSERT_REFUSED(noli_require_memory(NULL, 2));
  ASSERT_REFUSED(noli_fail(NULL, NOLI_ERROR_ARGUMENT, "%d", 2));
  ASSERT_REFUSED(noli_refuse_null(NULL, __func__, "context != NULL"));
  ASSERT_REFUSED(noli_scene_json(NULL, NULL));
  ASSERT_REFUSED(noli_scene_schema(NULL, NULL));

  // simulations
  ASSERT_REFUSED(noli_sim_create(NULL, NULL, NULL));
  ASSERT_REFUSED(noli_sim_check(NULL, NULL, NULL, NULL));
  ASSERT_REFUSED(noli_sim_step(NULL, NULL));
  ASSERT_REFUSED(noli_sim_contact_forces(NULL, NULL));
  ASSERT_REFUSED(noli_sim_friction_forces(NULL, NULL));
  ASSERT_REFUSED(noli_sim_von_mises(NULL, NULL));
  ASSERT_REFUSED(noli_sim_stresses(NULL, NULL));
  ASSERT_REFUSED(noli_sim_nodal_stresses(NULL, NULL));
  ASSERT_REFUSED(noli_sim_contact_pressures(NULL, NULL, NULL));
  ASSERT_REFUSED(noli_sim_sheet_forces(NULL, NULL));
  ASSERT_REFUSED(noli_sim_rod_forces(NULL, NULL));
  ASSERT_REFUSED(noli_sim_pair_forces(NULL, NULL, NULL));
  ASSERT_REFUSED(noli_sim_volumes(NULL, NULL, NULL));
  ASSERT_REFUSED(noli_sim_set_state(NULL, NULL, NULL));
  ASSERT_REFUSED(noli_sim_set_constraint_count(NULL, 2));
  ASSERT_REFUSED(noli_sim_copy_state(NULL, NULL));
  ASSERT_REFUSED(noli_sim_measure(NULL, NULL, NULL));

  // results
  ASSERT_REFUSED(noli_output_write_vtu(NULL, NULL, NULL, NULL));
  ASSERT_REFUSED(noli_output_write_defects(NULL, NULL, NULL, 2, NULL));
  ASSERT_REFUSED(noli_output_write_text(NULL, NULL, NULL));
  ASSERT_REFUSED(noli_run_open(NULL, NULL, NULL, NULL));
  ASSERT_REFUSED(noli_run_reopen(NULL, NULL, NULL, NULL));
  ASSERT_REFUSED(noli_run_step(NULL, NULL));
  ASSERT_REFUSED(noli_run_save(NULL, NULL, true, NULL));
  ASSERT_REFUSED(noli_run_read_frames(NULL, NULL, NULL, NULL));
  ASSERT_REFUSED(noli_run_export(NULL, NULL, NULL, NULL));
  ASSERT_REFUSED(noli_checkpoint_save(NULL, NULL, NULL, NULL));
  ASSERT_REFUSED(noli_checkpoint_load(NULL, NULL, NULL));
  ASSERT_REFUSED(noli_checkpoint_info(NULL, NULL, NULL));
  ASSERT_REFUSED(noli_run_audit(NULL, NULL, NULL));
}

// With a context, the message names the function and the argument that is missing.
static void the_message_names_the_function(void** state) {
  (void)state;

  // meshes
  NoliContext* context = test_context(1);
  ASSERT_REFUSED(noli_mesh_create(context, 2, 2, 2, 2, 2, false, NULL));
  assert_non_null(strstr(noli_context_message(context), "noli_mesh_create: needs "));
  ASSERT_REFUSED(noli_mesh_read(context, NULL, NULL));
  assert_non_null(strstr(noli_context_message(context), "noli_mesh_read: needs "));
  ASSERT_REFUSED(noli_mesh_write(context, NULL, NULL));
  assert_non_null(strstr(noli_context_message(context), "noli_mesh_write: needs "));
  ASSERT_REFUSED(noli_mesh_boundary(context, NULL, NULL, NULL));
  assert_non_null(strstr(noli_context_message(context), "noli_mesh_boundary: needs "));
  ASSERT_REFUSED(noli_mesh_edges(context, NULL, 2, NULL, NULL));
  assert_non_null(strstr(noli_context_message(context), "noli_mesh_edges: needs "));
  ASSERT_REFUSED(noli_mesh_remove_unused(context, NULL));
  assert_non_null(strstr(noli_context_message(context), "noli_mesh_remove_unused: needs "));
  ASSERT_REFUSED(noli_mesh_set_order(context, NULL, 2));
  assert_non_null(strstr(noli_context_message(context), "noli_mesh_set_order: needs "));
  ASSERT_REFUSED(noli_mesh_curve_onto(context, NULL, NULL, NULL, 1.0, 1.0, NULL));
  assert_non_null(strstr(noli_context_message(context), "noli_mesh_curve_onto: needs "));
  ASSERT_REFUSED(noli_mesh_extract(context, NULL, "surface", NULL));
  assert_non_null(strstr(noli_context_message(context), "noli_mesh_extract: needs "));
  ASSERT_REFUSED(noli_mesh_check(context, NULL, NULL));
  assert_non_null(strstr(noli_context_message(context), "noli_mesh_check: needs "));
  ASSERT_REFUSED(noli_mesh_make_box(context, NULL, NULL, false, NULL));
  assert_non_null(strstr(noli_context_message(context), "noli_mesh_make_box: needs "));
  ASSERT_REFUSED(noli_mesh_make_sphere(context, 1.0, 2, false, NULL));
  assert_non_null(strstr(noli_context_message(context), "noli_mesh_make_sphere: needs "));
  ASSERT_REFUSED(noli_mesh_make_hollow_sphere(context, 1.0, 1.0, 2, 2, false, NULL));
  assert_non_null(strstr(noli_context_message(context), "noli_mesh_make_hollow_sphere: needs "));
  ASSERT_REFUSED(noli_mesh_make_cylinder(context, 1.0, 1.0, 2, 2, false, NULL));
  assert_non_null(strstr(noli_context_message(context), "noli_mesh_make_cylinder: needs "));
  ASSERT_REFUSED(noli_mesh_make_curved_sphere(context, 1.0, 2, 2, NULL));
  assert_non_null(strstr(noli_context_message(context), "noli_mesh_make_curved_sphere: needs "));
  ASSERT_REFUSED(noli_mesh_make_curved_cylinder(context, 1.0, 1.0, 2, 2, 2, NULL));
  assert_non_null(strstr(noli_context_message(context), "noli_mesh_make_curved_cylinder: needs "));
  ASSERT_REFUSED(noli_mesh_make_rod(context, 1.0, 1.0, 2, 2, false, NULL));
  assert_non_null(strstr(noli_context_message(context), "noli_mesh_make_rod: needs "));
  ASSERT_REFUSED(noli_mesh_make_mat(context, 1.0, 1.0, 1.0, 2, 2, false, NULL));
  assert_non_null(strstr(noli_context_message(context), "noli_mesh_make_mat: needs "));
  ASSERT_REFUSED(noli_mesh_make_torus(context, 1.0, 1.0, 2, 2, false, NULL));
  assert_non_null(strstr(noli_context_message(context), "noli_mesh_make_torus: needs "));
  ASSERT_REFUSED(noli_mesh_make_bowl(context, 1.0, 1.0, 1.0, 2, 2, false, NULL));
  assert_non_null(strstr(noli_context_message(context), "noli_mesh_make_bowl: needs "));
  ASSERT_REFUSED(noli_mesh_make_bolt(context, 1.0, 1.0, 1.0, 1.0, 2, 2, false, NULL));
  assert_non_null(strstr(noli_context_message(context), "noli_mesh_make_bolt: needs "));
  ASSERT_REFUSED(noli_mesh_make_nut(context, 1.0, 1.0, 1.0, 1.0, 1.0, 2, 2, 2, false, NULL));
  assert_non_null(strstr(noli_context_message(context), "noli_mesh_make_nut: needs "));
  ASSERT_REFUSED(noli_mesh_make_truss(context, NULL, 1.0, 1.0, 1.0, 2, 2, 2, false, NULL));
  assert_non_null(strstr(noli_context_message(context), "noli_mesh_make_truss: needs "));
  ASSERT_REFUSED(noli_mesh_make_plane(context, 1.0, 1.0, 2, 2, NULL));
  assert_non_null(strstr(noli_context_message(context), "noli_mesh_make_plane: needs "));
  ASSERT_REFUSED(noli_mesh_make_rectangle(context, 1.0, 1.0, 2, 2, NULL));
  assert_non_null(strstr(noli_context_message(context), "noli_mesh_make_rectangle: needs "));
  ASSERT_REFUSED(noli_mesh_make_disk(context, 1.0, 2, NULL));
  assert_non_null(strstr(noli_context_message(context), "noli_mesh_make_disk: needs "));
  ASSERT_REFUSED(noli_mesh_make_polygon(context, NULL, 2, 2, NULL));
  assert_non_null(strstr(noli_context_message(context), "noli_mesh_make_polygon: needs "));
  ASSERT_REFUSED(noli_mesh_make_voxels(context, NULL, NULL, NULL, false, NULL));
  assert_non_null(strstr(noli_context_message(context), "noli_mesh_make_voxels: needs "));
  ASSERT_REFUSED(noli_mesh_make_revolution(context, NULL, 2, 2, NULL));
  assert_non_null(strstr(noli_context_message(context), "noli_mesh_make_revolution: needs "));

  // collisions and contact potentials
  ASSERT_REFUSED(noli_mesh_intersections(context, 2, NULL, 2, NULL, NULL, NULL));
  assert_non_null(strstr(noli_context_message(context), "noli_mesh_intersections: needs "));
  ASSERT_REFUSED(noli_candidates_find(context, 2, NULL, NULL, 2, NULL, 2, NULL, 1.0, NULL));
  assert_non_null(strstr(noli_context_message(context), "noli_candidates_find: needs "));
  ASSERT_REFUSED(noli_barrier_potential_create(context, NULL, 2, NULL, 2, 1.0, NULL));
  assert_non_null(strstr(noli_context_message(context), "noli_barrier_potential_create: needs "));
  ASSERT_REFUSED(noli_gcp_potential_create(context, NULL, NULL, 2, NULL, 2, NULL));
  assert_non_null(strstr(noli_context_message(context), "noli_gcp_potential_create: needs "));
  ASSERT_REFUSED(noli_gcp_potential_create_plane(context, NULL, NULL, 2, NULL, 2, NULL));
  assert_non_null(strstr(noli_context_message(context), "noli_gcp_potential_create_plane: needs "));

  // scenes, simulations and results
  ASSERT_REFUSED(noli_scene_load(context, NULL, NULL, 2, NULL));
  assert_non_null(strstr(noli_context_message(context), "noli_scene_load: needs "));
  ASSERT_REFUSED(noli_scene_parse(context, NULL, NULL, NULL, NULL, 2, NULL));
  assert_non_null(strstr(noli_context_message(context), "noli_scene_parse: needs "));
  ASSERT_REFUSED(noli_scene_schema(context, NULL));
  assert_non_null(strstr(noli_context_message(context), "noli_scene_schema: needs "));
  ASSERT_REFUSED(noli_sim_create(context, NULL, NULL));
  assert_non_null(strstr(noli_context_message(context), "noli_sim_create: needs "));
  ASSERT_REFUSED(noli_sim_check(context, NULL, NULL, NULL));
  assert_non_null(strstr(noli_context_message(context), "noli_sim_check: needs "));
  ASSERT_REFUSED(noli_output_write_vtu(context, NULL, NULL, NULL));
  assert_non_null(strstr(noli_context_message(context), "noli_output_write_vtu: needs "));
  ASSERT_REFUSED(noli_checkpoint_save(context, NULL, NULL, NULL));
  assert_non_null(strstr(noli_context_message(context), "noli_checkpoint_save: needs "));
  ASSERT_REFUSED(noli_checkpoint_load(context, NULL, NULL));
  assert_non_null(strstr(noli_context_message(context), "noli_checkpoint_load: needs "));
  ASSERT_REFUSED(noli_checkpoint_info(context, NULL, NULL));
  assert_non_null(strstr(noli_context_message(context), "noli_checkpoint_info: needs "));
  ASSERT_REFUSED(noli_run_audit(context, NULL, NULL));
  assert_non_null(strstr(noli_context_message(context), "noli_run_audit: needs "));
  test_context_done(&context);
}

static void accessors_answer_nothing(void** state) {
  (void)state;

  // results must become 0
  int32_t n = 1, first = 1;
  int64_t n_pairs = 1;
  NoliStateField field;

  // contexts
  assert_string_equal(noli_context_message(NULL), "");
  assert_true(noli_context_threads(NULL) == 0);
  assert_true(noli_context_bytes(NULL) == 0);
  assert_null(noli_alloc(NULL, 2, 2));
  assert_null(noli_calloc(NULL, 2, 2));
  assert_null(noli_strdup(NULL, "text"));
  noli_log(NULL, NOLI_LOG_ERROR, "%d", 2);
  assert_true(noli_context_peak_bytes(NULL) == 0);

  // meshes and contact potentials
  assert_true(noli_mesh_orient(NULL) == 0);
  noli_mesh_transform(NULL, NULL, NULL, NULL);
  assert_true(noli_barrier_potential_pairs(NULL) == 0);
  assert_true(noli_barrier_potential_min_distance(NULL) == 0.0);
  assert_true(noli_barrier_potential_value(NULL) == 0.0);
  noli_barrier_potential_gradient(NULL, NULL);
  assert_null(noli_gcp_potential_pairs(NULL, &n_pairs));
  assert_true(noli_gcp_potential_min_distance(NULL) == 0.0);
  assert_null(noli_gcp_potential_eps(NULL));
  assert_int_equal(noli_gcp_potential_support(NULL).n_active, 0);
  assert_true(noli_gcp_potential_value(NULL) == 0.0);

  // scenes
  assert_null(noli_scene_sim_def(NULL));
  assert_string_equal(noli_scene_name(NULL), "");
  assert_true(noli_scene_step_count(NULL) == 0);
  assert_true(noli_scene_duration(NULL) == 0.0);
  assert_int_equal(noli_scene_output(NULL).frame_interval, 0);
  assert_null(noli_scene_files(NULL, &n));

  // runs
  noli_run_log(NULL, NOLI_LOG_ERROR, NULL);
  assert_false(noli_run_can_be_resumed(NULL));
  assert_true(noli_run_finished_steps(NULL, NULL) == -1);
  assert_string_equal(noli_run_directory(NULL), "");
  assert_null(noli_run_summary(NULL));

  // simulations
  assert_true(noli_sim_time(NULL) == 0.0);
  assert_true(noli_sim_step_count(NULL) == 0);
  assert_true(noli_sim_body_count(NULL) == 0);
  assert_true(noli_sim_node_count(NULL) == 0);
  assert_true(noli_sim_vertex_count(NULL) == 0);
  assert_true(noli_sim_tet_count(NULL) == 0);
  assert_true(noli_sim_surface_triangle_count(NULL) == 0);
  noli_sim_body_range(NULL, 0, &first, &n);
  assert_int_equal(first + n, 0);
  assert_string_equal(noli_sim_integrator(NULL), "");
  assert_string_equal(noli_sim_entity_name(NULL, 0), "");
  assert_null(noli_sim_rest_positions(NULL));
  assert_null(noli_sim_positions(NULL));
  assert_null(noli_sim_velocities(NULL));
  assert_null(noli_sim_masses(NULL));
  assert_null(noli_sim_tets(NULL));
  assert_null(noli_sim_surface_triangles(NULL));
  assert_null(noli_sim_segments(NULL, &n));
  assert_null(noli_sim_points(NULL, &n));
  assert_false(noli_sim_state_field(NULL, 0, &field));
  assert_true(noli_sim_constraint_count(NULL) == 0);
  assert_true(noli_sim_state_hash(NULL) == 0);
  assert_string_equal(noli_sim_state_difference(NULL, NULL), "");
  assert_true(n == 0 && n_pairs == 0);
}

static void nothing_can_be_released(void** state) {
  (void)state;
  noli_free(NULL, NULL);
  (void)noli_context_destroy(NULL);
  noli_mesh_destroy(NULL, NULL);
  noli_mesh_free_array(NULL, NULL);
  noli_mesh_intersections_free(NULL, NULL);
  noli_candidates_destroy(NULL, NULL);
  noli_barrier_potential_destroy(NULL);
  noli_gcp_potential_destroy(NULL);
  noli_scene_destroy(NULL);
  noli_scene_free_text(NULL, NULL);
  ASSERT_REFUSED(noli_sim_modes(NULL, 1, NULL, NULL));
  noli_sim_destroy(NULL);
  noli_sim_check_free(NULL, NULL);
  noli_sim_measures_free(NULL, NULL);
  noli_run_close(NULL);
  noli_run_free_frames(NULL, NULL);
  noli_checkpoint_info_free(NULL, NULL);
  noli_run_audit_free(NULL, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(functions_with_a_status_refuse_null),
      cmocka_unit_test(the_message_names_the_function),
      cmocka_unit_test(accessors_answer_nothing),
      cmocka_unit_test(nothing_can_be_released),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
