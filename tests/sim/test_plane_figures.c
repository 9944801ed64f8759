// Flat figures of [Huang2025]: what the geometric potential leaves alone and the barrier does not.
#include "sim/world.h"

static void add_block(World* world, const double* corner, int32_t n, int32_t cells) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_polygon(world->context, corner, n, cells, &mesh));
  int32_t body = world_add(world, mesh, (double[]){0, 0, 0});
  world->body[body].plane_strain = 1.0;
  world->def.gravity[1] = 0.0;
  world->def.integrator = "quasi_static";
  world->def.time_step = 0.5;
}

static void set_reach(World* world, bool geometric, double reach) {
  world->def.contact_model = geometric ? "gcp" : "ipc";
  world->def.contact_distance = (NoliScaled){reach, false};
  world->def.gcp.eps_target = (NoliScaled){reach, false};
}

static double largest_displacement(const World* world) {
  double most = 0.0;
  for (int32_t i = 0; i < 3 * noli_sim_vertex_count(world->sim); i++) {
    most = fmax(most,
                fabs(noli_sim_positions(world->sim)[i] - noli_sim_rest_positions(world->sim)[i]));
  }
  return most;
}

// Figure 20 and the slit block of table 3: a slit of 0.01 m and a reach of 0.05 m. Nothing moves.
static void slit_blocks_stay_at_rest(void** state) {
  (void)state;
  static const double slit[16] = {0,     0,   1,     0,   1,     1, 0.505, 1,
                                  0.505, 0.3, 0.495, 0.3, 0.495, 1, 0,     1};
  double moved[2];
  for (int k = 0; k < 2; k++) {
    World world = world_new(1);
    add_block(&world, slit, 8, 5);
    set_reach(&world, k == 0, 0.05);
    int32_t foot[64], n = 0;
    for (int32_t v = 0; v < world.mesh[0]->n_vert; v++) {
      if (world.mesh[0]->x[3 * v + 1] == 0.0) {
        foot[n++] = v;
      }
    }
    NoliMotionDef* hold = world_add_motion(&world, 0, NULL, NULL);
    hold->node = foot;
    hold->n_node = n;
    world_start(&world);
    world_step(&world);
    moved[k] = largest_displacement(&world);
    print_message("%s: %lld contacts, moved by %.2e m\n", world.def.contact_model,
                  (long long)world.report.contacts, moved[k]);
    assert_true((world.report.contacts == 0) == (k == 0));
    world_done(&world);
  }
  ASSERT_AT_MOST(moved[0], 1e-15);
  ASSERT_AT_LEAST(moved[1], 1e-3);
}

// The upper side goes down to a share of the height.
static void press(void* user, double t0, double t1, int32_t n, const int32_t* node, const double* X,
                  const double* x_t0, double* x_t1) {
  (void)t0;
  (void)node;
  (void)x_t0;
  for (int32_t i = 0; i < n; i++) {
    x_t1[3 * i] = X[3 * i];
    x_t1[3 * i + 1] = X[3 * i + 1] * (1.0 - *(double*)user * fmin(t1, 1.0));
  }
}

// Figure 21: a block at nu = 0, compressed by a third while its sides are free. Its edges become
// shorter than the reach; the geometric potential does not care, the barrier pushes.
static void compressed_blocks_have_no_spurious_pressure(void** state) {
  (void)state;
  static const double square[8] = {0, 0, 1, 0, 1, 1, 0, 1};
  double energy[2];
  for (int k = 0; k < 2; k++) {
    World world = world_new(1);
    double share = 0.33;
    int32_t ends[64], n = 0;
    add_block(&world, square, 4, 10);
    world.body[0].material.poisson = 0.0;
    set_reach(&world, k == 0, 0.095);
    for (int32_t v = 0; v < world.mesh[0]->n_vert; v++) {
      double y = world.mesh[0]->x[3 * v + 1];
      if (y == 0.0 || y == 1.0) {
        ends[n++] = v;
      }
    }
    NoliMotionDef* motion = world_add_motion(&world, 0, press, &share);
    motion->node = ends;
    motion->n_node = n;
    world_start(&world);
    world_step(&world);
    world_step(&world);
    energy[k] = world.report.contact_energy;
    print_message("%s: %lld contacts, contact energy %.3e J\n", world.def.contact_model,
                  (long long)world.report.contacts, energy[k]);
    world_done(&world);
  }
  assert_true(energy[0] == 0.0);
  ASSERT_AT_LEAST(energy[1], 1.0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(slit_blocks_stay_at_rest),
      cmocka_unit_test(compressed_blocks_have_no_spurious_pressure),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
