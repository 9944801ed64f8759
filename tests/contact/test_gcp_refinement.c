// The potential converges under refinement at a fixed support ([Huang2025] fig. 36), and has no
// more pairs than the barrier of [Li2020] (table 2).
#include "contact/gcp_shapes.h"

// A surface with parameters, and the value and pairs of its potential.
typedef struct Level {
  double edge;
  double value;
  int64_t pairs;
} Level;

// Value and pairs between two bodies, the first of which has `n_first` vertices. Both were far
// apart at rest. Takes the mesh over.
static Level measure(NoliContext* context, const NoliGcpParameters* parameters, NoliMesh* mesh,
                     int32_t n_first) {
  GcpScene* scene = gcp_scene(context, mesh, n_first, parameters, NULL, 0);
  gcp_build(scene, mesh->x, &gcp_two_bodies);
  const NoliGcp gcp = {.model = &scene->model, .set = &scene->set, .scale = 1.0};
  Level level = {.edge = gcp_mean_edge(mesh),
                 .value = noli_gcp_energy(&gcp, mesh->x, 2),
                 .pairs = scene->set.pair.count};
  gcp_scene_done(&scene);
  return level;
}

static NoliMesh* ball(NoliContext* context, int32_t cells) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_sphere(context, 1.0, cells, true, &mesh));
  return mesh;
}

static NoliMesh* box(NoliContext* context, double x, double y, double z, int32_t cells) {
  NoliMesh* mesh = NULL;
  const double size[3] = {x, y, z};
  double unit = 2.0 / cells;
  const int32_t n[3] = {(int32_t)lrint(x / unit), (int32_t)lrint(y / unit),
                        (int32_t)lrint(z / unit)};
  ASSERT_OK(noli_mesh_make_box(context, size, n, true, &mesh));
  return mesh;
}

static Level two_balls(NoliContext* context, const NoliGcpParameters* parameters, int32_t cells) {
  NoliMesh* lower = ball(context, cells);
  int32_t n = lower->n_vert;
  NoliMesh* upper = ball(context, cells);
  TestRandom random = {3};
  gcp_rotate(&random, upper->n_vert, upper->x);
  return measure(context, parameters,
                 gcp_append(context, gcp_append(context, NULL, lower, 0, 0, 0), upper, 0, 2.7, 0),
                 n);
}

static Level ball_above_box(NoliContext* context, const NoliGcpParameters* parameters,
                            int32_t cells) {
  NoliMesh* lower = box(context, 2.0, 1.0, 2.0, cells);
  int32_t n = lower->n_vert;
  return measure(context, parameters,
                 gcp_append(context, gcp_append(context, NULL, lower, 0, -0.5, 0),
                            ball(context, cells), 0.03, 1.7, 0.05),
                 n);
}

// Two sharp edges that cross at a right angle: their width L is fixed.
static Level crossed_edges(NoliContext* context, const NoliGcpParameters* parameters,
                           int32_t cells) {
  NoliGcpParameters fixed = *parameters;
  fixed.length = 0.25;
  NoliMesh *lower = box(context, 2.0, 1.0, 1.0, cells), *upper = box(context, 1.0, 1.0, 2.0, cells);
  int32_t n = lower->n_vert;
  noli_mesh_transform(lower, (double[]){1, 1, 1}, (double[]){45, 0, 0}, (double[]){0, 0, 0});
  noli_mesh_transform(upper, (double[]){1, 1, 1}, (double[]){0, 0, 45}, (double[]){0, 0, 0});
  return measure(context, &fixed,
                 gcp_append(context, gcp_append(context, NULL, lower, 0.013, 0, 0), upper, 0,
                            sqrt(2.0) + 0.7, 0.017),
                 n);
}

typedef Level Scene(NoliContext* context, const NoliGcpParameters* parameters, int32_t cells);

static void converges(const char* name, Scene* scene) {
  NoliContext* context = test_context(2);
  const NoliGcpParameters parameters = gcp_parameters(1.0, 1.0);
  Level level[4];
  int32_t n = getenv("NOLI_GCP_LONG") != NULL ? 4 : 3;
  double change = (double)INFINITY;
  for (int32_t k = 0; k < n; k++) {
    level[k] = scene(context, &parameters, 8 << k);
    double before = change;
    change = k == 0 ? before : fabs(level[k].value - level[k - 1].value);
    print_message("%s: edge %.4f, %lld pairs, potential %.6e, change %.2e\n", name, level[k].edge,
                  (long long)level[k].pairs, level[k].value, change);
    assert_true(k < 2 || change < 0.5 * before);
  }
  test_context_done(&context);
}

static void two_balls_converge(void** state) {
  (void)state;
  converges("two balls", two_balls);
}
static void a_ball_above_a_box_converges(void** state) {
  (void)state;
  converges("ball above box", ball_above_box);
}
static void crossed_edges_converge(void** state) {
  (void)state;
  converges("crossed edges", crossed_edges);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(two_balls_converge),
      cmocka_unit_test(a_ball_above_a_box_converges),
      cmocka_unit_test(crossed_edges_converge),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
