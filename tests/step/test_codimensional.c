// Obstacles without an inside: a ball on a bed of points, a mat on knives, a mat on wires.
#include "world.h"

static const double origin[3] = {0, 0, 0};

static void ball_rests_on_points(void** state) {
  (void)state;
  World world = world_new(1);
  enum { SIDE = 13 };
  NoliMesh* bed = NULL;
  ASSERT_OK(noli_mesh_create(world.context, SIDE * SIDE, 0, 0, 0, SIDE * SIDE, false, &bed));
  for (int i = 0; i < SIDE * SIDE; i++) {
    bed->x[3 * i] = 0.1 * (i % SIDE - SIDE / 2);
    bed->x[3 * i + 1] = 0.0;
    bed->x[3 * i + 2] = 0.1 * (i / SIDE - SIDE / 2);
    bed->point[i] = i;
  }
  world_add_obstacle(&world, bed, origin);
  int32_t ball = world_add(&world, make_sphere(&world, 0.4, 6), (double[]){0.013, 0.45, 0.021});
  world.body[ball].material.young = 2e4;
  world.def.time_step = 0.04;
  world_start(&world);
  double lowest = INFINITY, centre[3];
  for (int i = 0; i < 60; i++) {
    world_step(&world);
    world_centre(&world, ball, centre);
    lowest = noli_smaller(lowest, centre[1]);
  }
  print_message("ball on points: centre %.4f m above the bed, lowest %.4f m\n", centre[1], lowest);
  assert_true(world.report.contacts >= 3);
  // carried by the points although they pierce its outline
  ASSERT_AT_LEAST(lowest, 0.1);
  ASSERT_AT_MOST(world.report.max_speed, 0.3);
  world_done(&world);
}

// The sag of a long plate that is `thick` and of density 1000 kg/m^3: factor q L^4 / D, with the
// load q of its weight and D = E t^3 / (12 (1 - nu^2)).
static double plate_sag(double factor, double span, double thick, const NoliMaterialDef* of) {
  double load = 1000.0 * 9.80665 * thick;
  double rigidity = of->young * thick * thick * thick / (12.0 * (1.0 - of->poisson * of->poisson));
  return factor * load * pow(span, 4) / rigidity;
}

// A mat that lies still on lines along x, at z = -0.4, -0.2, .. 0.4: they carry all of its weight,
// and it sags between them, and hangs over beyond the last, by no more than a plate does (its flat
// linear elements are stiffer), and is no higher than the range of contact.
static void assert_lies(World* world, int32_t mat, double thick) {
  const NoliPairForce* pair = NULL;
  int32_t n_pairs = 0, first, count;
  ASSERT_OK(noli_sim_pair_forces(world->sim, &pair, &n_pairs));
  assert_int_equal(n_pairs, 1);
  double weight = 1000.0 * thick * 9.80665;
  ASSERT_NEAR(fabs(pair[0].normal[1]), weight, 1e-3 * weight);
  ASSERT_AT_MOST(world->report.max_speed, 1e-3);
  // fixed on both sides by the adjacent spans; the part beyond z = 0.4 is a cantilever
  const NoliMaterialDef* of = &world->body[mat].material;
  double sag = plate_sag(1.0 / 384.0, 0.2, thick, of),
         beyond = plate_sag(1.0 / 8.0, 0.13, thick, of);
  double reach = 1e-3 * 2.0;
  noli_sim_body_range(world->sim, mat, &first, &count);
  for (int32_t v = first; v < first + count; v++) {
    const double* X = noli_sim_rest_positions(world->sim) + 3 * v;
    double y = noli_sim_positions(world->sim)[3 * v + 1];
    bool is_inside = fabs(X[2]) < 0.4;
    y -= X[1] > 0.1 ? thick : 0.0;
    ASSERT_AT_LEAST(y, -(is_inside ? sag : beyond));
    ASSERT_AT_MOST(y, reach);
  }
  print_message("carried: %.2f of %.2f N; lowest vertex %.2f mm below the lines\n",
                fabs(pair[0].normal[1]), weight, -1e3 * world_lowest(world, mat));
}

static void lay_mat_on(bool wires) {
  World world = world_new(1);
  enum { BLADES = 5 };
  NoliMesh* blades = NULL;
  // triangles with the edge up, or only the edges
  ASSERT_OK(noli_mesh_create(world.context, 3 * BLADES, 0, wires ? 0 : BLADES, wires ? BLADES : 0,
                             0, false, &blades));
  for (int i = 0; i < BLADES; i++) {
    double z = 0.2 * (i - BLADES / 2);
    double x[9] = {-0.7, 0, z, 0.7, 0, z, 0, -0.5, z};
    memcpy(&blades->x[9 * i], x, sizeof x);
    int32_t cell[3] = {3 * i, 3 * i + 1, 3 * i + 2};
    memcpy(wires ? &blades->edge[2 * i] : &blades->tri[3 * i], cell,
           (wires ? 2 : 3) * sizeof(int32_t));
  }
  world_add_obstacle(&world, blades, origin);
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_mat(world.context, 1.0, 1.0, 0.02, 14, 14, false, &mesh));
  int32_t mat = world_add(&world, mesh, (double[]){0.02, 0.1, 0.03});
  // stiff enough not to sag through between two blades
  world.body[mat].material.young = 5e5;
  world_add_plane(&world, (double[]){0, -0.6, 0}, (double[]){0, 1, 0});
  world.def.time_step = 0.04;
  world_start(&world);
  for (int i = 0; i < 50; i++) {
    world_step(&world);
  }
  assert_lies(&world, mat, 0.02);
  world_done(&world);
}

static void mat_lies_on_knives(void** state) {
  (void)state;
  lay_mat_on(false);
}

static void mat_lies_on_wires(void** state) {
  (void)state;
  lay_mat_on(true);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ball_rests_on_points),
      cmocka_unit_test(mat_lies_on_knives),
      cmocka_unit_test(mat_lies_on_wires),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
