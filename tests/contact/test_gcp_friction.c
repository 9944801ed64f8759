// Forces and friction of the geometric contact potential: normal forces against gradients, Jacobian
// of implicit friction against differences, for pairs of every kind.
#include "gcp_cases.h"

#include "contact/gcp/gcp_implicit_friction.h"
#include "contact/gcp/gcp_mollifier.h"

#define EPS_V 2e-3
#define H_V 0.5
#define KAPPA 3.0

typedef struct FrictionContact {
  NoliContext* context;
  GcpScene* scene;
  double* x_hat;
  NoliFrictionLaw law;
  NoliContactPairs pairs;
  NoliGcp gcp;
  NoliGcpFriction friction;
} FrictionContact;

static const NoliHalfSpace floor_below = {{0.0, -0.36, 0.0}, {0.0, 1.0, 0.0}};

// Two rough balls and a half-space so close to each other that pairs of every kind act; all
// vertices have moved at random by `wander`, the first ball by 3 mm more.
static FrictionContact make(TestRandom* random, double wander) {
  FrictionContact rub = {.context = test_context(1)};
  NoliMesh* a = gcp_rough_ball(rub.context, random, 0.3, 2, 0.02);
  NoliMesh* b = gcp_rough_ball(rub.context, random, 0.3, 2, 0.02);
  gcp_rotate(random, b->n_vert, b->x);
  int32_t n_first = a->n_vert;
  NoliMesh* mesh = gcp_append(rub.context, gcp_append(rub.context, NULL, a, 0, 0, 0), b,
                              test_random(random, 0.61, 0.66), 0.02, 0.03);
  NoliGcpParameters parameters = gcp_parameters(0.3, 0.8);
  rub.scene = gcp_scene(rub.context, mesh, n_first, &parameters, &floor_below, 1);
  gcp_build(rub.scene, mesh->x, &gcp_two_bodies);
  rub.x_hat = malloc(sizeof *rub.x_hat * 3 * (size_t)mesh->n_vert);
  for (int32_t i = 0; i < 3 * mesh->n_vert; i++) {
    rub.x_hat[i] = mesh->x[i] - test_random(random, -wander, wander) -
                   (i < 3 * n_first && i % 3 != 0 ? 3e-3 : 0.0);
  }
  rub.law = (NoliFrictionLaw){0.3, 0.8, 0.02, 0.7};
  return rub;
}

// The same in a plane: two rough rings, counterclockwise.
static FrictionContact make_in_plane(TestRandom* random, double wander) {
  enum { N = 14 };
  FrictionContact rub = {.context = test_context(1)};
  NoliMesh* mesh = NULL;
  NoliSurface* surface = NULL;
  int32_t edge[2 * N];
  ASSERT_OK(noli_mesh_create(rub.context, 2 * N, 0, 0, 0, 0, false, &mesh));
  rub.x_hat = malloc(sizeof *rub.x_hat * 6 * N);

  // positions now and at the start
  double gap = test_random(random, 0.02, 0.1);
  for (int32_t i = 0; i < 2 * N; i++) {
    double angle = 6.283185307179586 * i / N, r = 0.3 + test_random(random, -0.03, 0.03);
    noli_store3(mesh->x + 3 * i,
                noli_vec3(r * cos(angle) + (i < N ? 0.0 : 0.6 + gap), r * sin(angle), 0.0));
    for (int k = 0; k < 3; k++) {
      double way = test_random(random, -wander, wander) + (i < N && k == 1 ? 3e-3 : 0.0);
      rub.x_hat[3 * i + k] = mesh->x[3 * i + k] - (k < 2 ? way : 0.0);
    }
  }

  // two closed curves
  for (int32_t i = 0; i < N; i++) {
    edge[2 * i] = i;
    edge[2 * i + 1] = (i + 1) % N;
  }
  NoliSurfaceParts part = {.n_edge = N, .edge = edge, .planar = true};
  const NoliSurfaceParts parts[2] = {part, part};
  ASSERT_OK(noli_surface_create(rub.context, 2, (int32_t[]){0, N, 2 * N}, parts, &surface));
  NoliGcpParameters parameters = gcp_parameters(0.3, 0.8);
  rub.scene = gcp_scene_on(rub.context, mesh, surface, &parameters, &floor_below, 1);
  gcp_build(rub.scene, mesh->x, &gcp_two_bodies);
  rub.law = (NoliFrictionLaw){0.3, 0.8, 0.02, 0.7};
  return rub;
}

static void point(FrictionContact* rub) {
  rub->pairs = (NoliContactPairs){.n_body = 2, .law = &rub->law};
  rub->gcp = (NoliGcp){&rub->scene->model, &rub->scene->set, KAPPA};
  rub->friction = (NoliGcpFriction){&rub->gcp, &rub->pairs, rub->x_hat, EPS_V, H_V, true, NULL};
}

static void done(FrictionContact* rub) {
  free(rub->x_hat);
  gcp_scene_done(&rub->scene);
  test_context_done(&rub->context);
}

// All residuals, as one vector over all vertices.
static void sum_residuals(const NoliEnergyTerm* term, int64_t i, const double* x, int32_t n_vert,
                          double* local, double* sum) {
  NoliLocal out = {.gradient = local};
  term->evaluate(term->data, x, i, i + 1, NOLI_EVAL_GRADIENT, &out);
  memset(sum, 0, sizeof *sum * 3 * (size_t)n_vert);
  for (int64_t k = term->first[i]; k < term->first[i + 1]; k++) {
    for (int d = 0; d < 3; d++) {
      sum[3 * term->node[k] + d] += local[3 * (k - term->first[i]) + d];
    }
  }
}

// Largest error of the Jacobian of pair i against differences in the first `space` components,
// relative to its largest entry.
static double jacobian_error(const NoliEnergyTerm* term, int64_t i, const double* x, int32_t n_vert,
                             int32_t space) {
  int64_t first = term->first[i];
  int32_t n = (int32_t)(term->first[i + 1] - first);
  size_t n_local = 3 * (size_t)term->first[term->n_stencil];
  double* symmetric = calloc(9 * (size_t)term->first_block[term->n_stencil], sizeof(double));
  double* skew = calloc(9 * (size_t)term->first_block[term->n_stencil], sizeof(double));
  double* local = calloc(n_local, sizeof(double));
  double* y = malloc(sizeof *y * 3 * (size_t)n_vert);
  double* plus = malloc(sizeof *y * 3 * (size_t)n_vert);
  double* minus = malloc(sizeof *y * 3 * (size_t)n_vert);
  term->evaluate(term->data, x, i, i + 1, NOLI_EVAL_HESSIAN, &(NoliLocal){.hessian = symmetric});
  term->evaluate(term->data, x, i, i + 1, NOLI_EVAL_SKEW, &(NoliLocal){.hessian = skew});
  memcpy(y, x, sizeof *y * 3 * (size_t)n_vert);
  double largest = 0.0, best = (double)INFINITY;
  for (double h = 1e-5; h > 1e-8; h *= 0.1) {
    double worst = 0.0;
    for (int32_t c = 0; c < 3 * n; c++) {
      if (c % 3 >= space) {
        continue; // held
      }
      int32_t column = 3 * term->node[first + c / 3] + c % 3;
      y[column] = x[column] + h;
      sum_residuals(term, i, y, n_vert, local, plus);
      y[column] = x[column] - h;
      sum_residuals(term, i, y, n_vert, local, minus);
      y[column] = x[column];
      for (int32_t r = 0; r < 3 * n; r++) {
        int32_t a = r / 3, b = c / 3, row = 3 * term->node[first + a] + r % 3;
        bool upper = a <= b;
        int64_t at = 9 * (int64_t)noli_stencil_block(n, upper ? a : b, upper ? b : a) +
                     (upper ? 3 * (r % 3) + c % 3 : 3 * (c % 3) + r % 3);
        double got = symmetric[at] + (upper ? 1.0 : -1.0) * skew[at];
        worst = noli_larger(worst, fabs((plus[row] - minus[row]) / (2.0 * h) - got));
        largest = noli_larger(largest, fabs(got));
      }
    }
    best = fmin(best, worst);
  }
  free(symmetric);
  free(skew);
  free(local);
  free(y);
  free(plus);
  free(minus);
  ASSERT_AT_LEAST(largest, 1e-300);
  return best / largest;
}

// Over pairs of every kind that a scene has.
static void compare_jacobians(FrictionContact (*make_scene)(TestRandom*, double), int32_t space,
                              const int32_t* least) {
  TestRandom random = {311};
  int64_t seen[NOLI_GCP_KINDS] = {0};
  double worst = 0.0;
  for (int trial = 0; trial < 40; trial++) {
    FrictionContact rub = make_scene(&random, trial % 2 == 0 ? 0.0 : 2e-3);
    point(&rub);
    const double* x = rub.scene->mesh->x;
    NoliEnergyTerm term = noli_gcp_friction_term(&rub.friction);
    for (int64_t i = 0; i < rub.scene->set.pair.count; i++) {
      NoliGcpKind kind = rub.scene->set.pair.data[i].kind;
      // pairs close to the end of their support are not smooth, and negligible
      NoliGcpNormal normal = noli_gcp_normal(&rub.gcp, i, 2, x);
      if (seen[kind] >= 25 || !(normal.lambda > 1e-7)) {
        continue;
      }
      seen[kind]++;
      double error = jacobian_error(&term, i, x, rub.scene->mesh->n_vert, space);
      ASSERT_AT_MOST(error, 2e-4);
      worst = noli_larger(worst, error);
    }
    done(&rub);
  }
  for (int kind = 0; kind < NOLI_GCP_KINDS; kind++) {
    assert_in_range(seen[kind], least[kind], 25);
  }
  print_message("Jacobians against differences: largest relative error %.2g\n", worst);
}

static void jacobian_agrees_with_differences(void** state) {
  (void)state;
  compare_jacobians(make, 3, (const int32_t[NOLI_GCP_KINDS]){5, 5, 5, 5, 5});
}

static void jacobian_in_a_plane_agrees_with_differences(void** state) {
  (void)state;
  // vertices and vertices, edges, half-spaces
  compare_jacobians(make_in_plane, 2, (const int32_t[NOLI_GCP_KINDS]){5, 5, 0, 0, 5});
}

// Friction uses the force that the gradient exerts along the normal.
static void normal_forces_are_those_of_the_gradient(void** state) {
  (void)state;
  TestRandom random = {312};

  // gradients and contacts of the same positions
  FrictionContact rub = make(&random, 0.0);
  point(&rub);
  const GcpScene* scene = rub.scene;
  const double* x = scene->mesh->x;
  size_t n_vert = (size_t)scene->mesh->n_vert;
  NoliEnergyTerm term = noli_gcp_term(&rub.gcp);
  double* local = calloc(3 * (size_t)term.first[term.n_stencil], sizeof *local);
  double* sum = calloc(3 * n_vert, sizeof *sum);
  int64_t n_compared = 0;
  assert_true(term.n_stencil > 10);

  // compare each pair
  for (int64_t i = 0; i < term.n_stencil; i++) {
    NoliGcpNormal normal = noli_gcp_normal(&rub.gcp, i, 2, x);
    sum_residuals(&term, i, x, scene->mesh->n_vert, local, sum);
    NoliVec3 side = {0.0, 0.0, 0.0};
    for (int32_t v = 0; v < scene->mesh->n_vert; v++) {
      if (scene->surface->body[v] == normal.entity[0]) {
        side = noli_add3(side, noli_load3(sum + 3 * v));
      }
    }
    NoliVec3 y[4];
    for (int32_t k = 0; k < normal.n_vertex; k++) {
      y[k] = noli_load3(x + 3 * normal.vertex[k]);
    }
    ASSERT_AT_LEAST(normal.lambda, 0.0);
    // all factors except the mollifier are functions of directions and distance alone
    if (noli_gcp_mollifier(normal.kind, y, normal.d * normal.d, 0.01) == 1.0) {
      ASSERT_NEAR(-noli_dot3(side, normal.normal), normal.lambda, 1e-9 * normal.lambda);
      n_compared++;
    }
  }
  assert_true(2 * n_compared > term.n_stencil);
  free(local);
  free(sum);
  done(&rub);
}

// Action and reaction, and the same sums by vertices and by pairs.
static void forces_are_in_balance(void** state) {
  (void)state;
  TestRandom random = {313};
  FrictionContact rub = make(&random, 1e-3);
  point(&rub);
  const GcpScene* scene = rub.scene;
  int32_t n_vert = scene->mesh->n_vert;
  const double* x = scene->mesh->x;
  double* force = calloc(3 * (size_t)n_vert, sizeof *force);
  NoliPairForces pairs = {0};

  // contact forces, then friction
  for (int friction = 0; friction < 2; friction++) {
    memset(force, 0, sizeof *force * 3 * (size_t)n_vert);
    if (friction == 0) {
      ASSERT_OK(noli_gcp_forces(&rub.gcp, rub.context, x, 2.0, 1, force));
      ASSERT_OK(noli_gcp_pair_forces(&rub.gcp, rub.context, 2, x, 2.0, 1, &pairs));
    } else {
      noli_gcp_friction_forces(&rub.friction, x, 2.0, force);
      ASSERT_OK(noli_gcp_friction_pair_forces(&rub.friction, rub.context, x, 2.0, &pairs));
    }

    // pairs of the two balls, and of each with the half-space
    assert_int_equal(pairs.pair.count, 3);
    double by_pair[3][3] = {{0.0}}, size = 0.0;
    int64_t contacts = 0;
    for (int64_t p = 0; p < 3; p++) {
      const NoliPairForce* pair = &pairs.pair.data[p];
      const double* f = friction == 0 ? pair->normal : pair->friction;
      contacts += pair->contacts;
      for (int k = 0; k < 3; k++) {
        by_pair[pair->a][k] += f[k];
        by_pair[pair->b][k] -= f[k];
        size += fabs(f[k]);
      }
    }
    assert_int_equal(contacts, scene->set.pair.count);
    ASSERT_AT_LEAST(size, 1e-6);

    // sums over vertices
    for (int body = 0; body < 2; body++) {
      for (int k = 0; k < 3; k++) {
        double sum = 0.0;
        for (int32_t v = 0; v < n_vert; v++) {
          sum += scene->surface->body[v] == body ? force[3 * v + k] : 0.0;
        }
        ASSERT_NEAR(sum, by_pair[body][k], 1e-10 * size);
      }
    }
  }
  noli_pair_forces_free(rub.context, &pairs);
  free(force);
  done(&rub);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(jacobian_agrees_with_differences),
      cmocka_unit_test(jacobian_in_a_plane_agrees_with_differences),
      cmocka_unit_test(normal_forces_are_those_of_the_gradient),
      cmocka_unit_test(forces_are_in_balance),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
