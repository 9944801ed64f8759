// Stress and strain of elements and vertices under uniform deformation, against closed forms: two
// laws, elements of order 1 to 3, curved meshes of a higher order, plane strain, rods; rotated
// deformation rotates Cauchy stress.
#include "step/world.h"

#include "derive/goals/goal_elements.h"
#include "math/mat3.h"

#define YOUNG 1e5
#define POISSON 0.3

typedef enum Kind { TETS, ORDER_2, ORDER_3, PLANE } Kind;

static NoliMat3 rotation(double degrees) {
  double a = degrees * acos(-1.0) / 180.0;
  return (NoliMat3){{{cos(a), -sin(a), 0}, {sin(a), cos(a), 0}, {0, 0, 1}}};
}

// Starts with all nodes at F X.
static void start_at(World* world, const NoliMat3* F) {
  world_start(world);
  int32_t n = noli_sim_vertex_count(world->sim);
  double* x = calloc((size_t)n, 3 * sizeof *x);
  double* v = calloc((size_t)n, 3 * sizeof *v);
  for (int32_t i = 0; i < n; i++) {
    noli_store3(x + 3 * i,
                noli_mul33_vec(F, noli_load3(noli_sim_rest_positions(world->sim) + 3 * i)));
  }
  ASSERT_OK(noli_sim_set_state(world->sim, x, v));
  free(x);
  free(v);
}

// A body with F everywhere.
static World deformed(Kind kind, const char* law, const NoliMat3* F) {
  World world = world_new(1);
  NoliMesh* mesh = NULL;
  if (kind == PLANE) {
    ASSERT_OK(noli_mesh_make_rectangle(world.context, 1.0, 0.5, 3, 2, &mesh));
  } else {
    mesh = make_box(&world, 1.0, 0.5, 0.7, 2);
  }
  int32_t body = world_add(&world, mesh, (double[]){0, 0, 0});
  world.body[body].plane_strain = kind == PLANE ? 0.1 : 0.0;
  world.body[body].order = kind == ORDER_2 ? 2 : kind == ORDER_3 ? 3 : 1;
  world.body[body].material.law = law;
  world.body[body].material.young = YOUNG;
  world.body[body].material.poisson = POISSON;
  start_at(&world, F);
  return world;
}

// P(F) for diagonal F, by the formulas of the laws.
static void stress_of(const char* law, const double stretch[3], double P[3]) {
  double mu = YOUNG / (2.0 * (1.0 + POISSON));
  double lambda = YOUNG * POISSON / ((1.0 + POISSON) * (1.0 - 2.0 * POISSON));
  double J = stretch[0] * stretch[1] * stretch[2], trace = 0.0;
  for (int i = 0; i < 3; i++) {
    trace += 0.5 * (stretch[i] * stretch[i] - 1.0);
  }
  for (int i = 0; i < 3; i++) {
    double s = stretch[i], E = 0.5 * (s * s - 1.0);
    P[i] = strcmp(law, "stvk") == 0 ? (2.0 * mu * E + lambda * trace) * s
                                    : mu * (s - 1.0 / s) + lambda * log(J) / s;
  }
}

static void assert_tensor(const double* tensor, NoliMat3 want, double scale) {
  static const int axes[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {1, 2}, {0, 2}};
  for (int k = 0; k < 6; k++) {
    ASSERT_NEAR(tensor[k], want.m[axes[k][0]][axes[k][1]], 1e-11 * scale);
  }
}

static void assert_stress(const NoliStress* stress, const char* law, const double stretch[3],
                          NoliMat3 R) {
  double P[3], cauchy[3], strain[3], J = stretch[0] * stretch[1] * stretch[2];
  stress_of(law, stretch, P);
  for (int i = 0; i < 3; i++) {
    cauchy[i] = P[i] * stretch[i] / J;
    strain[i] = 0.5 * (stretch[i] * stretch[i] - 1.0);
  }
  NoliMat3 turned = noli_mul33(noli_mul33(R, noli_diagonal33(cauchy)), noli_transpose33(R));
  NoliMat3 piola = noli_mul33(R, noli_diagonal33(P));
  assert_tensor(stress->cauchy, turned, YOUNG);
  assert_tensor(stress->green_strain, noli_diagonal33(strain), 1.0);
  for (int k = 0; k < 9; k++) {
    ASSERT_NEAR(stress->first_piola[k], piola.m[k / 3][k % 3], 1e-11 * YOUNG);
  }

  // stretches descend, and so do these principal stresses
  for (int i = 0; i < 3; i++) {
    ASSERT_NEAR(stress->principal[i], cauchy[i], 1e-11 * YOUNG);
  }
  double a = cauchy[0] - cauchy[1], b = cauchy[1] - cauchy[2], c = cauchy[2] - cauchy[0];
  ASSERT_NEAR(stress->von_mises, sqrt(0.5 * (a * a + b * b + c * c)), 1e-11 * YOUNG);
}

static void uniform_stress_is_that_of_the_law(void** state) {
  (void)state;
  static const char* const laws[] = {"neo_hookean", "stvk"};
  for (int k = 0; k < 8; k++) {
    Kind kind = (Kind)(k / 2);
    const char* law = laws[k % 2];
    double stretch[3] = {1.2, 1.05, 0.9};
    stretch[2] = kind == PLANE ? 1.0 : stretch[2];
    NoliMat3 R = rotation(30.0), F = noli_mul33(R, noli_diagonal33(stretch));
    World world = deformed(kind, law, &F);
    int32_t n_vert = noli_sim_vertex_count(world.sim), n_tet = noli_sim_tet_count(world.sim);
    NoliStress* stress = malloc(sizeof *stress * (size_t)(n_tet + n_vert));
    double* mises = malloc(sizeof *mises * (size_t)n_tet);
    ASSERT_OK(noli_sim_stresses(world.sim, stress));
    ASSERT_OK(noli_sim_nodal_stresses(world.sim, stress + n_tet));
    ASSERT_OK(noli_sim_von_mises(world.sim, mises));
    for (int32_t i = 0; i < n_tet + n_vert; i++) {
      assert_stress(&stress[i], law, stretch, R);
      ASSERT_NEAR(i < n_tet ? mises[i] : stress[i].von_mises, stress[i].von_mises, 1e-9);
    }
    free(stress);
    free(mises);
    world_done(&world);
  }
}

// A cylinder that is curved across its axis, along which elements of a lower order represent the
// stretch: volumes of their points do not add up to those of their shapes.
static void curved_elements_of_a_lower_order_have_it(void** state) {
  (void)state;
  const double stretch[3] = {1.0, 1.2, 1.0};
  double P[3];
  stress_of("neo_hookean", stretch, P);
  double across = P[0] / stretch[1], along = P[1];
  for (int32_t order = 1; order <= 3; order++) {
    World world = world_new(1);
    NoliMesh* mesh = NULL;
    ASSERT_OK(noli_mesh_make_curved_cylinder(world.context, 0.5, 1.0, 2, 2, order + 1, &mesh));
    int32_t body = world_add(&world, mesh, (double[]){0, 0, 0});
    world.body[body].order = order;
    world.body[body].material.young = YOUNG;
    world.body[body].material.poisson = POISSON;
    NoliMat3 F = noli_diagonal33(stretch);
    start_at(&world, &F);
    int32_t n = noli_sim_tet_count(world.sim);
    NoliStress* stress = malloc(sizeof *stress * (size_t)n);
    double* mises = malloc(2 * sizeof *mises * (size_t)n);
    NoliGoalPlace place = {.sim = world.sim, .x = noli_sim_positions(world.sim)};
    ASSERT_OK(noli_sim_stresses(world.sim, stress));
    ASSERT_OK(noli_sim_von_mises(world.sim, mises));
    ASSERT_OK(noli_goal_von_mises(&place, mises + n));
    for (int32_t i = 0; i < n; i++) {
      assert_tensor(stress[i].cauchy, noli_diagonal33((double[]){across, along, across}), YOUNG);
      ASSERT_NEAR(stress[i].von_mises, along - across, 1e-11 * YOUNG);
      ASSERT_NEAR(mises[i], along - across, 1e-11 * YOUNG);
      ASSERT_NEAR(mises[n + i], along - across, 1e-11 * YOUNG);
    }
    free(stress);
    free(mises);
    world_done(&world);
  }
}

// A vertex between elements of different stress has their mean by volume; an obstacle has none.
static void vertices_have_means(void** state) {
  (void)state;
  World world = world_new(1);
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_line(world.context, 3.0, 2, &mesh));
  mesh->x[3] = 0.5;
  int32_t rod = world_add(&world, mesh, (double[]){0, 0, 0});
  world.body[rod].rod.radius = 0.01;
  world.body[rod].material.young = YOUNG;
  (void)world_add_obstacle(&world, make_box(&world, 1, 1, 1, 1), (double[]){0, -5, 0});
  world_start(&world);
  const double* X = noli_sim_rest_positions(world.sim);
  double x[33], v[33] = {0};
  assert_int_equal(noli_sim_vertex_count(world.sim), 11);
  memcpy(x, X, sizeof x);
  x[6] += 0.1;
  ASSERT_OK(noli_sim_set_state(world.sim, x, v));
  NoliStress element[2], vertex[11];
  ASSERT_OK(noli_sim_stresses(world.sim, element));
  ASSERT_OK(noli_sim_nodal_stresses(world.sim, vertex));
  double first = X[3] - X[0], second = X[6] - X[3];
  ASSERT_NEAR(element[0].cauchy[0], 0.0, 1e-9);
  assert_true(element[1].cauchy[0] > 1e3);
  ASSERT_NEAR(element[1].cauchy[0], element[1].principal[0], 1e-9);
  ASSERT_NEAR(element[1].cauchy[1], 0.0, 1e-9);
  ASSERT_NEAR(vertex[1].cauchy[0], element[1].cauchy[0] * second / (first + second), 1e-9);
  ASSERT_NEAR(vertex[2].cauchy[0], element[1].cauchy[0], 1e-9);
  assert_true(vertex[5].von_mises == 0.0 && vertex[5].principal[0] == 0.0);
  world_done(&world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(uniform_stress_is_that_of_the_law),
      cmocka_unit_test(curved_elements_of_a_lower_order_have_it),
      cmocka_unit_test(vertices_have_means),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
