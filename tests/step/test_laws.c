// Every material law in a scene: a box falls on the floor, comes to rest and recovers its shape.
#include "world.h"

#include "fem/tets.h"
#include "math/vec3.h"

static void box_falls_and_rests(void** state) {
  (void)state;

  // each law
  for (int32_t i = 0; i < noli_choice_count(NOLI_CHOICE_MATERIAL); i++) {
    World world = world_new(1);
    int32_t box = world_add(&world, make_box(&world, 0.2, 0.2, 0.2, 3), (double[]){0, 0.15, 0});
    world.body[box].material.law = noli_choice_name(NOLI_CHOICE_MATERIAL, i);
    world.body[box].material.young = 1e5;
    world.body[box].material.damping = 2e-3;
    world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
    world.def.friction = 0.3;
    world_start(&world);
    int64_t newton = 0, touched = 0;
    double lowest = INFINITY, centre[3];
    for (int k = 0; k < 100; k++) {
      world_step(&world);
      newton += world.report.newton_iterations;
      touched += world.report.contacts > 0 ? 1 : 0;
      world_centre(&world, box, centre);
      lowest = noli_smaller(lowest, centre[1]);
    }
    print_message("%s: centre rests at %.5f m (lowest %.5f), %.2f Newton iterations/step\n",
                  noli_choice_name(NOLI_CHOICE_MATERIAL, i), centre[1], lowest,
                  (double)newton / 100.0);
    assert_true(touched > 50);
    ASSERT_AT_MOST(world.report.max_speed, 0.01);
    // its own weight compresses it: u = rho g h^2 / (3 E) at the centre of mass, at most, and its
    // gap is below dhat
    double sag = 1000.0 * 9.80665 * 0.2 * 0.2 / (3.0 * 1e5), dhat = 1e-3 * 0.2 * sqrt(3.0);
    ASSERT_NEAR(centre[1], 0.1 - 0.5 * sag + 0.5 * dhat, 0.5 * sag + 0.5 * dhat);
    world_done(&world);
  }
}

// A plate presses a box to a tenth of its height: every law is compressed far beyond its range of
// validity, and no element inverts (each step is audited). When released, the body recovers its
// size.
static void plate_goes_down(void* user, double t0, double t1, int32_t n, const int32_t* node,
                            const double* X, const double* x_t0, double* x_t1) {
  (void)user;
  (void)t0;
  (void)node;
  (void)x_t0;
  for (int32_t i = 0; i < n; i++) {
    x_t1[3 * i] = X[3 * i];
    x_t1[3 * i + 1] = X[3 * i + 1] - 0.18 * fmax(0.0, fmin(1.0, fmin(10.0 * t1, 8.0 - 20.0 * t1)));
    x_t1[3 * i + 2] = X[3 * i + 2];
  }
}

static double least_volume(const World* world) {
  const NoliProblem* problem = &world->sim->model->problem;
  NoliTets tets;
  double least = INFINITY;
  ASSERT_OK(noli_tets_create(world->context, problem->block[0].n_element, problem->block[0].node,
                             problem->X, &tets));
  for (int32_t t = 0; t < tets.n_tet; t++) {
    NoliMat3 F = noli_tets_deformation(&tets, t, noli_sim_positions(world->sim));
    least = noli_smaller(least, noli_det33(&F));
  }
  noli_tets_destroy(world->context, &tets);
  return least;
}

static void crushed_bodies_keep_orientation(void** state) {
  (void)state;
  for (int32_t i = 0; i < noli_choice_count(NOLI_CHOICE_MATERIAL); i++) {
    World world = world_new(1);
    int32_t box = world_add(&world, make_box(&world, 0.2, 0.2, 0.2, 2), (double[]){0, 0.101, 0});
    NoliMesh* plate = NULL;
    ASSERT_OK(noli_mesh_make_plane(world.context, 0.6, 0.6, 1, 1, &plate));
    int32_t press = world_add_obstacle(&world, plate, (double[]){0, 0.203, 0});
    world_add_motion(&world, press, plate_goes_down, NULL);
    world_add_plane(&world, (double[]){0, 0, 0}, (double[]){0, 1, 0});
    world.body[box].material.law = noli_choice_name(NOLI_CHOICE_MATERIAL, i);
    world.body[box].material.young = 1e4;
    world_start(&world);
    int64_t newton = 0;
    double least = INFINITY;
    for (int k = 0; k < 80; k++) {
      world_step(&world);
      newton += world.report.newton_iterations;
      least = noli_smaller(least, least_volume(&world));
    }
    print_message("%s: minimum volume of an element %.4f of rest, at the end %.4f, %.1f Newton "
                  "iterations/step\n",
                  noli_choice_name(NOLI_CHOICE_MATERIAL, i), least, least_volume(&world),
                  (double)newton / 80.0);
    ASSERT_AT_LEAST(least, 1e-12);
    ASSERT_AT_MOST(least, 0.6);
    ASSERT_AT_LEAST(least_volume(&world), 0.8);
    world_done(&world);
  }
}

// A bar under tension: its extension is that of Hooke's law in the limit of small loads.
static void right_end(void* user, double t, const double X[3], double value[3]) {
  (void)t;
  (void)X;
  value[0] = *(const double*)user;
}

static void small_tension_is_hookes_law(void** state) {
  (void)state;

  // each law
  for (int32_t i = 0; i < noli_choice_count(NOLI_CHOICE_MATERIAL); i++) {
    World world = world_new(1);
    NoliMesh* mesh = NULL;
    ASSERT_OK(noli_mesh_make_box(world.context, (double[]){1, 0.1, 0.1}, (int32_t[]){8, 1, 1},
                                 false, &mesh));
    int32_t bar = world_add(&world, mesh, (double[]){0.5, 0, 0});
    int32_t left[4], right[4], n_left = 0, n_right = 0;
    for (int32_t v = 0; v < mesh->n_vert; v++) {
      if (mesh->x[3 * v] < 1e-9) {
        left[n_left++] = v;
      } else if (mesh->x[3 * v] > 1.0 - 1e-9) {
        right[n_right++] = v;
      }
    }
    assert_int_equal(n_left + n_right, 8);
    // without lateral contraction the closed form is that of a rod; 10 Pa on 1e5 Pa
    double force = 10.0 * 0.01;
    NoliForceDef load = {.size = sizeof(NoliForceDef),
                         .body = bar,
                         .node = right,
                         .n_node = 4,
                         .kind = "total",
                         .t_end = INFINITY,
                         .value = right_end,
                         .user = &force};
    NoliMotionDef* hold = world_add_motion(&world, bar, NULL, NULL);
    hold->node = left;
    hold->n_node = 4;
    world.def.forces = &load;
    world.def.n_forces = 1;
    world.def.gravity[1] = 0.0;
    world.def.time_step = 10.0;
    world.def.tolerance = (NoliScaled){1e-12, false};
    world.body[bar].material.law = noli_choice_name(NOLI_CHOICE_MATERIAL, i);
    world.body[bar].material.poisson = 0.0;
    world_start(&world);
    for (int k = 0; k < 20; k++) {
      world_step(&world);
    }
    double mean = 0.0;
    for (int k = 0; k < 4; k++) {
      mean += 0.25 * (noli_sim_positions(world.sim)[3 * right[k]] - 1.0);
    }
    print_message("%s: extension %.6g of %.6g m\n", noli_choice_name(NOLI_CHOICE_MATERIAL, i), mean,
                  1e-4);
    ASSERT_NEAR(mean, 1e-4, 2e-7);
    world_done(&world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(box_falls_and_rests),
      cmocka_unit_test(crushed_bodies_keep_orientation),
      cmocka_unit_test(small_tension_is_hookes_law),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
