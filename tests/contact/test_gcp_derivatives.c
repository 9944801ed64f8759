// How the geometric contact potential and its friction change with stiffness, weights and supports,
// and these with shapes, against differences: rough bodies close to each other, where pairs of
// every kind act, and in a plane.
#include "gcp_cases.h"

#include "contact/gcp/gcp_shape.h"
#include "contact/derivatives/gcp_derivatives.h"

#include <math.h>

#define KAPPA 3.0

static const NoliHalfSpace floor_below = {{0.0, -0.36, 0.0}, {0.0, 1.0, 0.0}};

// Two rough balls, of one body or two, and a half-space.
static GcpScene* make(NoliContext* context, TestRandom* random, bool one, double length,
                      double eps) {
  NoliMesh* a = gcp_rough_ball(context, random, 0.3, 2, 0.02);
  NoliMesh* b = gcp_rough_ball(context, random, 0.3, 2, 0.02);
  gcp_rotate(random, b->n_vert, b->x);
  int32_t n_first = a->n_vert;
  NoliMesh* mesh = gcp_append(context, gcp_append(context, NULL, a, 0, 0, 0), b,
                              test_random(random, 0.61, 0.66), 0.02, 0.03);
  NoliGcpParameters parameters = gcp_parameters(eps, 0.8);
  parameters.length = length;
  return gcp_scene(context, mesh, one ? mesh->n_vert : n_first, &parameters, &floor_below, 1);
}

// Two rough curves.
static GcpScene* make_in_plane(NoliContext* context, TestRandom* random, double length,
                               double eps) {
  enum { N = 14 };
  NoliMesh* mesh = NULL;
  NoliSurface* surface = NULL;
  int32_t edge[2 * N];
  ASSERT_OK(noli_mesh_create(context, 2 * N, 0, 0, 0, 0, false, &mesh));
  double gap = test_random(random, 0.02, 0.1);
  for (int32_t i = 0; i < 2 * N; i++) {
    double angle = 6.283185307179586 * i / N, r = 0.3 + test_random(random, -0.03, 0.03);
    noli_store3(mesh->x + 3 * i,
                noli_vec3(r * cos(angle) + (i < N ? 0.0 : 0.6 + gap), r * sin(angle), 0.0));
  }
  for (int32_t i = 0; i < N; i++) {
    edge[2 * i] = i;
    edge[2 * i + 1] = (i + 1) % N;
  }
  NoliSurfaceParts part = {.n_edge = N, .edge = edge, .planar = true};
  const NoliSurfaceParts parts[2] = {part, part};
  ASSERT_OK(noli_surface_create(context, 2, (int32_t[]){0, N, 2 * N}, parts, &surface));
  NoliGcpParameters parameters = gcp_parameters(eps, 0.8);
  parameters.length = length;
  return gcp_scene_on(context, mesh, surface, &parameters, &floor_below, 1);
}

static GcpScene* scene_of(NoliContext* context, TestRandom* random, int n, double length,
                          double eps) {
  return n % 3 == 2 ? make_in_plane(context, random, length, eps)
                    : make(context, random, n % 3 == 1, length, eps);
}

// ---- forces -------------------------------------------------------------------------------------

typedef struct Forces {
  GcpScene* scene;
  NoliFrictionLaw law;
  NoliContactPairs pairs;
  double* x_hat;
  bool friction;
} Forces;

static NoliGcpFriction friction_of(const Forces* of, const NoliGcp* gcp) {
  return (NoliGcpFriction){gcp, &of->pairs, of->x_hat, 2e-3, 0.5, true, NULL};
}

// The gradient, or the residuals of friction, over all vertices.
static void find_forces(const Forces* of, double scale, double* force) {
  GcpScene* scene = of->scene;
  const NoliGcp gcp = {&scene->model, &scene->set, scale};
  NoliGcpFriction friction = friction_of(of, &gcp);
  memset(force, 0, sizeof *force * 3 * (size_t)scene->mesh->n_vert);
  if (of->friction) {
    noli_gcp_friction_forces(&friction, scene->mesh->x, -1.0, force);
  } else {
    ASSERT_OK(noli_gcp_forces(&gcp, scene->context, scene->mesh->x, -1.0, 1, force));
  }
}

static int32_t no_class(const void* user, int32_t a, int32_t b) {
  (void)user;
  (void)a;
  (void)b;
  return NOLI_NULL_INDEX;
}

static const NoliInput kinds[3] = {NOLI_INPUT_CONTACT, NOLI_INPUT_WEIGHT, NOLI_INPUT_SUPPORT};

// The change of forces along a change of inputs, by the blocks.
static void push(const Forces* of, NoliInput kind, const double* change, double* force) {
  GcpScene* scene = of->scene;
  const NoliGcp gcp = {&scene->model, &scene->set, KAPPA};
  NoliGcpFriction friction = friction_of(of, &gcp);
  NoliMixedList list = {.context = scene->context, .wanted = 1u << kind};
  NoliPairClasses classes = {no_class, NULL};
  ASSERT_OK(of->friction
                ? noli_gcp_implicit_friction_derivatives(&list, &friction, scene->mesh->x, classes)
                : noli_gcp_derivatives(&list, &gcp, scene->mesh->x));
  memset(force, 0, sizeof *force * 3 * (size_t)scene->mesh->n_vert);
  for (int64_t b = 0; b < list.blocks.count; b++) {
    if (list.blocks.data[b].kind == (int32_t)kind) {
      noli_mixed_multiply(&list.blocks.data[b], change, force);
    }
  }
  noli_mixed_list_clear(&list);
  noli_array_free(scene->context, &list.blocks);
}

// Adds a change of inputs.
static void change_model(NoliGcpModel* model, NoliInput kind, const double* change, double h) {
  const NoliSurface* s = model->surface;
  for (int32_t v = 0; v < s->n_vert && kind == NOLI_INPUT_SUPPORT; v++) {
    model->vert_eps[v] += h * change[v];
  }
  for (int64_t i = 0; i < (int64_t)s->n_vert + s->n_edge + s->n_tri && kind == NOLI_INPUT_WEIGHT;
       i++) {
    double* to = i < s->n_vert               ? &model->vert_weight[i]
                 : i < s->n_vert + s->n_edge ? &model->edge_weight[i - s->n_vert]
                                             : &model->tri_weight[i - s->n_vert - s->n_edge];
    *to += h * change[i];
  }
  noli_gcp_model_spread_eps(model);
}

// The smallest error of differences of several steps along a random change, relative to the largest
// derivative.
static double force_error(const Forces* of, NoliInput kind, TestRandom* random) {
  GcpScene* scene = of->scene;
  NoliGcpModel* model = &scene->model;
  const NoliSurface* s = model->surface;
  int64_t n = 3 * (int64_t)s->n_vert, m = (int64_t)s->n_vert + s->n_edge + s->n_tri;
  double *change = malloc(sizeof *change * (size_t)m),
         *derivative = malloc(sizeof *derivative * (size_t)n);
  double* end[2] = {malloc(sizeof **end * (size_t)n), malloc(sizeof **end * (size_t)n)};
  double size = kind == NOLI_INPUT_SUPPORT ? 1e-2 : kind == NOLI_INPUT_WEIGHT ? 1e-3 : 1.0;
  double best = INFINITY, largest = 0.0;
  for (int64_t i = 0; i < m; i++) {
    change[i] = size * test_random(random, -1.0, 1.0);
  }
  change[NOLI_CONTACT_STIFFNESS] =
      kind == NOLI_INPUT_CONTACT ? 1.0 : change[NOLI_CONTACT_STIFFNESS];
  push(of, kind, change, derivative);
  for (int64_t i = 0; i < n; i++) {
    largest = noli_larger(largest, fabs(derivative[i]));
  }
  for (double h = 1e-2; h > 1e-6; h *= 0.1) {
    double error = 0.0, by_stiffness = kind == NOLI_INPUT_CONTACT ? h : 0.0;
    for (int side = 0; side < 2; side++) {
      double step = side == 0 ? -h : h;
      change_model(model, kind, change, step);
      find_forces(of, KAPPA * (1.0 + (side == 0 ? -by_stiffness : by_stiffness)), end[side]);
      change_model(model, kind, change, -step);
    }
    for (int64_t i = 0; i < n; i++) {
      double off = fabs((end[1][i] - end[0][i]) / (2.0 * h) - derivative[i]);
      error = !(off <= error) ? off : error;
    }
    best = fmin(best, error);
  }
  assert_true(largest > 0.0);
  free(change);
  free(derivative);
  free(end[0]);
  free(end[1]);
  return best / largest;
}

static void forces_follow_the_model(void** state) {
  (void)state;
  TestRandom random = {181};
  double worst = 0.0;
  for (int n = 0; n < 12; n++) {
    NoliContext* context = test_context(1);
    GcpScene* scene = scene_of(context, &random, n, n % 2 == 0 ? 0.0 : 0.1, 0.3);
    int32_t n_vert = scene->mesh->n_vert;
    bool one = n % 3 == 1;
    for (int32_t v = 0; v < n_vert; v++) {
      scene->model.vert_eps[v] *= test_random(&random, 0.7, 1.0);
    }
    noli_gcp_model_spread_eps(&scene->model);
    gcp_build(scene, scene->mesh->x, one ? NULL : &gcp_two_bodies);
    assert_true(scene->set.pair.count > 0);
    Forces of = {.scene = scene, .law = {0.3, 0.8, 0.02, 0.7}};
    of.pairs = (NoliContactPairs){.n_body = one ? 1 : 2, .law = &of.law};
    of.x_hat = malloc(sizeof *of.x_hat * 3 * (size_t)n_vert);
    for (int32_t i = 0; i < 3 * n_vert; i++) {
      of.x_hat[i] = scene->mesh->x[i] - test_random(&random, -4e-3, 4e-3);
    }
    for (int k = 0; k < 6; k++) {
      of.friction = k >= 3;
      double error = force_error(&of, kinds[k % 3], &random);
      ASSERT_AT_MOST(error, 1e-6);
      worst = noli_larger(worst, error);
    }
    free(of.x_hat);
    gcp_scene_done(&scene);
    test_context_done(&context);
  }
  print_message("forces: largest relative error %.2g\n", worst);
}

// ---- shapes -------------------------------------------------------------------------------------

static double input_of(const NoliGcpModel* model, NoliInput input, int64_t i) {
  const NoliSurface* s = model->surface;
  if (input == NOLI_INPUT_SUPPORT) {
    return model->vert_eps[i];
  }
  return i < s->n_vert               ? model->vert_weight[i]
         : i < s->n_vert + s->n_edge ? model->edge_weight[i - s->n_vert]
                                     : model->tri_weight[i - s->n_vert - s->n_edge];
}

// The model at other positions, with supports in which no pair acts.
static void reshape(GcpScene* scene, const double* X, const NoliBodyPairs* pairs) {
  NoliGcpParameters parameters = scene->model.parameters;
  NoliGcpSetup setup;
  noli_gcp_model_free(scene->context, &scene->model);
  ASSERT_OK(noli_gcp_model_init(scene->context, &scene->model, &parameters, scene->surface,
                                scene->rings, &floor_below, 1, X));
  ASSERT_OK(
      noli_gcp_adapt_support(scene->context, &scene->model, scene->broad_phase, pairs, X, &setup));
  assert_true(setup.n_reduced > 0);
}

// How an input changes along a way.
static double slope_along(const GcpScene* scene, const NoliGcpShape* shape, NoliInput input,
                          int64_t index, const double* way, bool* at_start) {
  double sum = 0.0;
  for (int64_t i = 0; i < shape->first[scene->mesh->n_vert]; i++) {
    const NoliGcpShapeDerivative* derivative = &shape->derivative[i];
    if (derivative->input == input && derivative->index == index) {
      *at_start = *at_start || derivative->at_start;
      sum +=
          noli_dot3(noli_load3(derivative->derivative), noli_load3(way + 3 * derivative->vertex));
    }
  }
  return sum;
}

static void model_follows_shapes(void** state) {
  (void)state;
  TestRandom random = {191};
  double worst = 0.0;
  for (int n = 0; n < 12; n++) {
    NoliContext* context = test_context(1);
    GcpScene* scene = scene_of(context, &random, n, n % 2 == 0 ? 0.0 : 0.1, 0.3);
    const NoliBodyPairs* pairs = n % 3 == 1 ? NULL : &gcp_two_bodies;
    int32_t n_vert = scene->mesh->n_vert;
    int64_t m = (int64_t)n_vert + scene->surface->n_edge + scene->surface->n_tri;
    size_t bytes = sizeof(double) * 3 * (size_t)n_vert;
    double *X = malloc(bytes), *way = malloc(bytes), h = 1e-6;
    double* end[2] = {malloc(sizeof(double) * (size_t)(m + n_vert)),
                      malloc(sizeof(double) * (size_t)(m + n_vert))};
    for (int32_t i = 0; i < 3 * n_vert; i++) {
      way[i] = n % 3 == 2 && i % 3 == 2 ? 0.0 : test_random(&random, -1.0, 1.0);
    }
    for (int side = 0; side < 2; side++) {
      for (int32_t i = 0; i < 3 * n_vert; i++) {
        X[i] = scene->mesh->x[i] + (side == 0 ? -h : h) * way[i];
      }
      reshape(scene, X, pairs);
      for (int64_t i = 0; i < m + n_vert; i++) {
        end[side][i] = input_of(&scene->model, i < m ? NOLI_INPUT_WEIGHT : NOLI_INPUT_SUPPORT,
                                i < m ? i : i - m);
      }
    }
    reshape(scene, scene->mesh->x, pairs);
    NoliGcpShape shape;
    ASSERT_OK(noli_gcp_shape_create(context, &scene->model, scene->mesh->x, &shape));
    int32_t n_moving = 0;
    for (int64_t i = 0; i < m + n_vert; i++) {
      bool at_start = false;
      NoliInput input = i < m ? NOLI_INPUT_WEIGHT : NOLI_INPUT_SUPPORT;
      double got = slope_along(scene, &shape, input, i < m ? i : i - m, way, &at_start);
      double difference = (end[1][i] - end[0][i]) / (2.0 * h);
      ASSERT_NEAR(got, difference, 1e-7);
      // between bodies and with the half-space the start counts
      assert_true(got == 0.0 || at_start == (i >= m && n % 3 != 1) || n % 3 == 1);
      n_moving += i >= m && got != 0.0;
      worst = noli_larger(worst, fabs(got - difference));
    }
    assert_true(n_moving > 0);
    noli_gcp_shape_free(context, &shape);
    free(X);
    free(way);
    free(end[0]);
    free(end[1]);
    gcp_scene_done(&scene);
    test_context_done(&context);
  }
  print_message("shapes: largest error %.2g\n", worst);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(forces_follow_the_model),
                                     cmocka_unit_test(model_follows_shapes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
