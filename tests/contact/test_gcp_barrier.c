// The potential is a barrier: on every path into contact it grows to infinity, for all elements and
// rings ([Huang2025] requirement 2).
#include "contact/gcp_cases.h"

enum { MOST_RING = 12 };

// A closed body whose highest vertex, vertex 0, is at the origin, with `n` neighbours below it at
// random angles and depths: rings of any valence, convex or not.
static NoliMesh* spike(NoliContext* context, TestRandom* random, int32_t n) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_create(context, n + 2, 0, 2 * n, 0, 0, false, &mesh));
  memset(mesh->x, 0, 3 * sizeof(double));
  const double foot[3] = {0.0, 0.0, -2.0};
  memcpy(mesh->x + 3 * (n + 1), foot, sizeof foot);
  double turn = test_random(random, 0.0, 6.28);
  for (int32_t j = 0; j < n; j++) {
    double angle = turn + 6.283185307 * (j + test_random(random, -0.2, 0.2)) / n;
    double radius = test_random(random, 0.4, 1.0);
    double* x = mesh->x + 3 * (j + 1);
    x[0] = radius * cos(angle);
    x[1] = radius * sin(angle);
    x[2] = test_random(random, -0.9, -0.03);
    int32_t next = 1 + (j + 1) % n;
    const int32_t tri[6] = {0, j + 1, next, n + 1, next, j + 1};
    memcpy(mesh->tri + 6 * j, tri, sizeof tri);
  }
  return mesh;
}

// A roof whose highest edge goes through the origin along a random horizontal direction.
static NoliMesh* ridge(NoliContext* context, TestRandom* random) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_create(context, 6, 0, 8, 0, 0, false, &mesh));
  static const int32_t tri[24] = {0, 1, 2, 1, 3, 2, 0, 4, 1, 1, 4, 5,
                                  0, 2, 4, 1, 5, 3, 2, 3, 4, 3, 5, 4};
  double a = test_random(random, 0.1, 1.5), b = test_random(random, 0.1, 1.5);
  double start = test_random(random, -0.9, -0.05), end = test_random(random, 0.05, 0.9);
  const double x[18] = {start, 0,   0,  end,   0,    0,  start, 0.8,  -a,
                        end,   0.8, -a, start, -0.8, -b, end,   -0.8, -b};
  memcpy(mesh->x, x, sizeof x);
  memcpy(mesh->tri, tri, sizeof tri);
  noli_mesh_transform(mesh, (double[]){1, 1, 1}, (double[]){0, 0, test_random(random, 0, 360)},
                      (double[]){0, 0, 0});
  return mesh;
}

// A block whose top is in the plane z = 0, with the origin somewhere inside that face.
static NoliMesh* block(NoliContext* context, TestRandom* random) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_box(context, (double[]){2, 2, 1}, (int32_t[]){3, 3, 1}, true, &mesh));
  const double shift[3] = {test_random(random, -0.6, 0.6), test_random(random, -0.6, 0.6), -0.5};
  noli_mesh_transform(mesh, (double[]){1, 1, 1}, (double[]){0, 0, test_random(random, 0, 360)},
                      shift);
  return mesh;
}

typedef enum Part { SPIKE, RIDGE, BLOCK } Part;

static NoliMesh* make_part(NoliContext* context, TestRandom* random, Part part, int32_t n) {
  return part == SPIKE   ? spike(context, random, n)
         : part == RIDGE ? ridge(context, random)
                         : block(context, random);
}

// One approach: the upper part stands on its head above the lower one, and comes down until they
// touch. On the way it is `slide` gaps away from the place of contact, so that closest points lie
// near the ends of elements, where one pair takes over from another. `least` receives the smallest
// value times squared gap.
static void approach(NoliContext* context, TestRandom* random, Part lower, Part upper, double alpha,
                     int64_t count[NOLI_GCP_KINDS], double* least) {
  int32_t valence = 3 + (int32_t)test_random(random, 0.0, MOST_RING - 2.0);
  NoliMesh* mesh = gcp_append(context, NULL, make_part(context, random, lower, valence), 0, 0, 0);
  int32_t n_first = mesh->n_vert;
  NoliMesh* top = make_part(context, random, upper, valence);
  noli_mesh_transform(top, (double[]){1, 1, 1}, (double[]){180, 0, test_random(random, 0, 360)},
                      (double[]){0, 0, 0});
  mesh = gcp_append(context, mesh, top, 0, 0, 0);
  NoliGcpParameters parameters = gcp_parameters(0.2, alpha);
  GcpScene* scene = gcp_scene(context, mesh, n_first, &parameters, NULL, 0);
  // any rigid motion, so that no coordinate is special
  TestRandom turn = *random;
  double slide_x = test_random(random, -1.0, 1.0), slide_y = test_random(random, -1.0, 1.0);
  double* x = malloc(sizeof *x * 3 * (size_t)mesh->n_vert);
  for (double gap = 1e-2; gap > 1e-9; gap *= 0.1) {
    memcpy(x, mesh->x, sizeof *x * 3 * (size_t)mesh->n_vert);
    for (int32_t v = n_first; v < mesh->n_vert; v++) {
      x[3 * v] += slide_x * gap;
      x[3 * v + 1] += slide_y * gap;
      x[3 * v + 2] += gap;
    }
    TestRandom same = turn;
    gcp_rotate(&same, mesh->n_vert, x);
    gcp_build(scene, x, &gcp_two_bodies);
    const NoliGcp gcp = {.model = &scene->model, .set = &scene->set, .scale = 1.0};
    double value = noli_gcp_energy(&gcp, x, 1);
    // p ~ 1/z^2, and never infinite before contact
    assert_true(isfinite(value) && value > 0.0);
    *least = noli_smaller(*least, value * gap * gap);
  }
  for (int k = 0; k < NOLI_GCP_KINDS; k++) {
    count[k] += scene->set.count[k];
  }
  free(x);
  gcp_scene_done(&scene);
}

static void every_approach_is_stopped(void** state) {
  (void)state;
  static const Part parts[6][2] = {{SPIKE, SPIKE}, {SPIKE, RIDGE}, {SPIKE, BLOCK},
                                   {RIDGE, RIDGE}, {RIDGE, BLOCK}, {BLOCK, BLOCK}};
  static const double alphas[4] = {1.0, 0.8, 0.5, 0.1};
  const char* asked = getenv("NOLI_GCP_PATHS");
  int n = asked != NULL ? atoi(asked) : 150;
  NoliContext* context = test_context(1);
  for (int k = 0; k < 6; k++) {
    TestRandom random = {(uint64_t)(100 + k)};
    int64_t count[NOLI_GCP_KINDS] = {0};
    double least = (double)INFINITY;
    for (int i = 0; i < n; i++) {
      approach(context, &random, parts[k][0], parts[k][1], alphas[i % 4], count, &least);
    }
    print_message(
        "parts %d and %d: %d approaches, minimum value times squared gap %.1e; pairs at the "
        "last gap: vertex-vertex %lld, vertex-edge %lld, vertex-face %lld, edge-edge %lld\n",
        (int)parts[k][0], (int)parts[k][1], n, least, (long long)count[0], (long long)count[1],
        (long long)count[2], (long long)count[3]);
    // weights are between 0.1 and 1: at the last gap every value is above 1e13
    ASSERT_AT_LEAST(least, 1e-4);
  }
  test_context_done(&context);
}

// A vertex that comes down on a half-space.
static void half_spaces_are_barriers(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  TestRandom random = {77};
  for (int k = 0; k < 100; k++) {

    // a spike above a half-space
    NoliMesh* mesh = spike(context, &random, 3 + k % 8);
    const NoliHalfSpace plane = {{0.3, 0.2, 0.01}, {0.0, 0.0, -1.0}};
    NoliGcpParameters parameters = gcp_parameters(0.2, 0.1 + 0.1 * (k % 10));
    GcpScene* scene = gcp_scene(context, mesh, mesh->n_vert, &parameters, &plane, 1);

    // it approaches
    double before = 0.0;
    for (double gap = 1e-2; gap > 1e-9; gap *= 0.1) {
      for (int32_t v = 0; v < mesh->n_vert; v++) {
        mesh->x[3 * v + 2] += (v == 0 ? 0.01 - gap : 0.0) - (v == 0 ? mesh->x[2] : 0.0);
      }
      gcp_build(scene, mesh->x, NULL);
      const NoliGcp gcp = {.model = &scene->model, .set = &scene->set, .scale = 1.0};
      double value = noli_gcp_energy(&gcp, mesh->x, 1);
      assert_true(scene->set.count[NOLI_GCP_VERTEX_PLANE] >= 1);
      ASSERT_AT_LEAST(value, 50.0 * before);
      ASSERT_NEAR(scene->set.min_distance, gap, 1e-6 * gap + 1e-16);
      before = value;
    }

    // on the plane and below it the value is infinite, not absent
    mesh->x[2] = 0.0100001;
    gcp_build(scene, mesh->x, NULL);
    const NoliGcp gcp = {.model = &scene->model, .set = &scene->set, .scale = 1.0};
    assert_true(noli_gcp_energy(&gcp, mesh->x, 1) == (double)INFINITY);
    gcp_scene_done(&scene);
  }
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_approach_is_stopped),
      cmocka_unit_test(half_spaces_are_barriers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
