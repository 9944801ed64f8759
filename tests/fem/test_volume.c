// Volumes of closed regions: laws, derivatives, invalid input.
#include "support.h"

#include "fem/loads/volume.h"
#include "linalg/assembly/assembly.h"
#include "math/vec3.h"
#include "noli/mesh.h"
#include "noli/types.h"

static const NoliVolumeModel models[3] = {NOLI_VOLUME_IDEAL_GAS, NOLI_VOLUME_NEARLY_INCOMPRESSIBLE,
                                          NOLI_VOLUME_QUADRATIC};

// ---- W(V) ---------------------------------------------------------------------------------------

static void laws_have_their_derivatives(void** state) {
  (void)state;
  for (int m = 0; m < 3; m++) {
    for (double r = 0.02; r < 5.0; r *= 1.13) {
      NoliVolumeLaw law = {models[m], 0.3, 2e-5, 4e3};
      double V = r * law.rest, h = 1e-5 * V;
      double derivative =
          (noli_volume_law_energy(&law, V + h) - noli_volume_law_energy(&law, V - h)) / (2.0 * h);
      double pressure = noli_volume_law_pressure(&law, V);
      ASSERT_NEAR(derivative, -pressure, 1e-6 * (1.0 + 1.0 / r) / law.compression);
      double bend =
          (noli_volume_law_pressure(&law, V + h) - noli_volume_law_pressure(&law, V - h)) /
          (2.0 * h);
      double stiffness = noli_volume_law_stiffness(&law, V);
      ASSERT_NEAR(-bend, stiffness, 1e-7 * stiffness);
      assert_true(stiffness > 0.0);
    }
    // at rest: the given pressure, and stiffness 1 / (kappa V0) for any model
    NoliVolumeLaw law = {models[m], 0.3, 2e-5, 4e3};
    ASSERT_NEAR(noli_volume_law_energy(&law, 0.3), 0.0, 0.0);
    ASSERT_NEAR(noli_volume_law_pressure(&law, 0.3), 4e3, 0.0);
    ASSERT_NEAR(noli_volume_law_stiffness(&law, 0.3), 1.0 / (2e-5 * 0.3), 1e-9);
  }
}

// [Larionov2024] eq. 11 to 13, written out, without pressure above the atmosphere; and the gas law
// with it.
static void laws_are_those_of_the_paper(void** state) {
  (void)state;
  double P0 = NOLI_ATMOSPHERE, V0 = 0.7, kappa = 1.0 / P0;
  for (double V = 0.1; V < 2.0; V += 0.17) {
    double r = V / V0;
    double want[3] = {P0 * (V - V0 * (1.0 + log(r))), (V0 - V * (1.0 - log(r))) / kappa,
                      (V - V0) * (V - V0) / (2.0 * V0 * kappa)};
    for (int m = 0; m < 3; m++) {
      NoliVolumeLaw law = {models[m], V0, kappa, 0.0};
      ASSERT_NEAR(noli_volume_law_energy(&law, V), want[m], 1e-11 * P0);
    }
    // a tennis ball, one atmosphere above the one outside: P V is constant
    NoliVolumeLaw gas = {NOLI_VOLUME_IDEAL_GAS, V0, 1.0 / (2.0 * P0), P0};
    double absolute = P0 + noli_volume_law_pressure(&gas, V);
    ASSERT_NEAR(absolute * V, 2.0 * P0 * V0, 1e-10 * P0);
  }
}

// Near the rest volume all digits matter: water changes its volume by parts per million.
static void small_changes_keep_their_digits(void** state) {
  (void)state;
  for (int m = 0; m < 3; m++) {
    NoliVolumeLaw law = {models[m], 1.0, 1.0, 0.0};
    for (double x = 1e-9; x < 0.2; x *= 3.0) {
      for (int sign = -1; sign <= 1; sign += 2) {
        double V = 1.0 + sign * x, y = V - 1.0;
        // Taylor up to the fifth power
        double gas = y * y * (1.0 / 2 - y * (1.0 / 3 - y * (1.0 / 4 - y / 5)));
        double liquid = y * y * (1.0 / 2 - y * (1.0 / 6 - y * (1.0 / 12 - y / 20)));
        double want = m == 0 ? gas : m == 1 ? liquid : 0.5 * y * y;
        ASSERT_NEAR(noli_volume_law_energy(&law, V), want, want * (4e-16 + pow(x, 4.0)));
      }
    }
    bool everywhere = models[m] == NOLI_VOLUME_QUADRATIC;
    assert_int_equal(isinf(noli_volume_law_energy(&law, 0.0)), !everywhere);
    assert_int_equal(isnan(noli_volume_law_pressure(&law, -0.1)), !everywhere);
    assert_int_equal(isnan(noli_volume_law_stiffness(&law, 0.0)), !everywhere);
  }
}

// ---- regions ------------------------------------------------------------------------------------

typedef struct Ball {
  NoliContext* context;
  NoliMesh* mesh; // surface
  NoliVolumes volumes;
  NoliVolumeState state[2];
  NoliVolume data;
  double* x;
} Ball;

// A ball of 26 vertices somewhere, out of shape, with the given model; half of it is a second
// region with its own law if `regions` is 2 (the ball twice).
static Ball make_ball(TestRandom* random, NoliVolumeModel model, int regions, double away) {
  Ball ball = {.context = test_context(1)};
  ASSERT_OK(noli_mesh_make_sphere(ball.context, 0.5, 2, true, &ball.mesh));
  int32_t n = ball.mesh->n_vert;
  ball.x = malloc(3 * sizeof *ball.x * (size_t)n);
  for (int r = 0; r < regions; r++) {
    NoliVolumeLaw law = {.model = model, .compression = 3e-5 * (r + 1), .pressure = -5e3 * r};
    ASSERT_OK(noli_volumes_add(&ball.volumes, ball.context, "ball", 0, law, ball.mesh->tri,
                               ball.mesh->n_tri, n, ball.mesh->x));
  }
  for (int32_t i = 0; i < 3 * n; i++) {
    ball.x[i] = 1.2 * ball.mesh->x[i] + 0.1 * test_random(random, -1.0, 1.0) + away;
  }
  return ball;
}

// The data of the term holds pointers into the ball.
static NoliEnergyTerm ball_term(Ball* ball) {
  ball->data = (NoliVolume){&ball->volumes, 0.25, ball->state};
  return noli_volume_term(&ball->data);
}

static void free_ball(Ball* ball) {
  noli_volumes_free(ball->context, &ball->volumes);
  noli_mesh_destroy(ball->context, &ball->mesh);
  free(ball->x);
  test_context_done(&ball->context);
}

static double energy_at(const Ball* ball, const NoliEnergyTerm* term, const double* x) {
  double energy[256], sum = 0.0;
  assert_true(term->n_stencil <= 256);
  NoliLocal out = {.energy = energy};
  noli_term_prepare(term, x, 1);
  term->evaluate(term->data, x, 0, term->n_stencil, NOLI_EVAL_ENERGY, &out);
  for (int64_t i = 0; i < term->n_stencil; i++) {
    sum += energy[i];
  }
  (void)ball;
  return sum;
}

// Gradient and the product of the full Hessian, rank-one parts included, with p.
static void derivatives_at(const Ball* ball, const NoliEnergyTerm* term, const double* x,
                           unsigned what, const double* p, double* gradient, double* product) {
  int32_t n = ball->mesh->n_vert;
  double *local = malloc(sizeof *local * 6 * (size_t)term->n_stencil),
         *blocks = malloc(sizeof *blocks * 27 * (size_t)term->n_stencil),
         *dV = malloc(sizeof *dV * 3 * (size_t)n);
  NoliLocal out = {.gradient = local, .hessian = blocks};
  noli_term_prepare(term, x, 1);
  term->evaluate(term->data, x, 0, term->n_stencil, NOLI_EVAL_GRADIENT | what, &out);
  memset(gradient, 0, 3 * sizeof *gradient * (size_t)n);
  memset(product, 0, 3 * sizeof *product * (size_t)n);
  for (int64_t i = 0; i < term->n_stencil; i++) {
    const int32_t* node = term->node + 2 * i;
    for (int k = 0; k < 6; k++) {
      gradient[3 * node[k / 3] + k % 3] += local[6 * i + k];
    }
    for (int r = 0; r < 3; r++) {
      for (int c = 0; c < 3; c++) {
        const double* block = blocks + 27 * i + 3 * r + c;
        product[3 * node[0] + r] += block[0] * p[3 * node[0] + c] + block[9] * p[3 * node[1] + c];
        product[3 * node[1] + c] += block[9] * p[3 * node[0] + r];
        product[3 * node[1] + r] += block[18] * p[3 * node[1] + c];
      }
    }
  }
  for (int32_t region = 0; region < ball->volumes.n_region; region++) {
    memset(dV, 0, 3 * sizeof *dV * (size_t)n);
    noli_volume_add_gradient(&ball->volumes, region, x, dV);
    double along = 0.0;
    for (int32_t i = 0; i < 3 * n; i++) {
      along += dV[i] * p[i];
    }
    for (int32_t i = 0; i < 3 * n; i++) {
      product[i] += ball->data.scale * ball->state[region].stiffness * along * dV[i];
    }
  }
  free(local);
  free(blocks);
  free(dV);
}

static double largest_of(const double* values, int32_t n) {
  double most = 0.0;
  for (int32_t i = 0; i < n; i++) {
    most = noli_larger(most, fabs(values[i]));
  }
  return most;
}

// Value, gradient and products of the plain Hessian, rank one included, in random directions.
static void derivatives_agree_with_differences(void** state) {
  (void)state;
  TestRandom random = {95};
  for (int i = 0; i < 12; i++) {
    Ball ball = make_ball(&random, models[i % 3], 1 + i % 2, i < 6 ? 0.0 : 30.0);
    NoliEnergyTerm term = ball_term(&ball);
    int32_t n = 3 * ball.mesh->n_vert;

    // a random direction
    double p[128], y[128], gradient[128], product[128], plus[128], minus[128], unused[128];
    assert_in_range(n, 1, 128);
    for (int32_t k = 0; k < n; k++) {
      p[k] = test_random(&random, -1.0, 1.0);
    }

    // derivatives
    derivatives_at(&ball, &term, ball.x, NOLI_EVAL_HESSIAN, p, gradient, product);
    double along = 0.0, h = 1e-5;
    for (int32_t k = 0; k < n; k++) {
      along += gradient[k] * p[k];
      y[k] = ball.x[k] + h * p[k];
    }

    // differences
    double high = energy_at(&ball, &term, y);
    derivatives_at(&ball, &term, y, NOLI_EVAL_HESSIAN, p, plus, unused);
    for (int32_t k = 0; k < n; k++) {
      y[k] = ball.x[k] - h * p[k];
    }
    double low = energy_at(&ball, &term, y);
    derivatives_at(&ball, &term, y, NOLI_EVAL_HESSIAN, p, minus, unused);

    // compare
    ASSERT_NEAR((high - low) / (2.0 * h), along, 1e-6 * largest_of(gradient, n));
    assert_true(largest_of(product, n) > 1.0);
    for (int32_t k = 0; k < n; k++) {
      ASSERT_NEAR((plus[k] - minus[k]) / (2.0 * h), product[k], 1e-6 * largest_of(product, n));
    }
    free_ball(&ball);
  }
}

// The projected blocks omit d2V: only the rank-one parts remain, which are positive.
static void projection_leaves_the_parts_of_rank_one(void** state) {
  (void)state;
  TestRandom random = {96};
  Ball ball = make_ball(&random, NOLI_VOLUME_IDEAL_GAS, 1, 0.0);
  NoliEnergyTerm term = ball_term(&ball);
  noli_term_prepare(&term, ball.x, 1);
  for (int64_t i = 0; i < term.n_stencil; i++) {
    double plain[27], projected[27];
    NoliLocal out = {.hessian = plain};
    term.evaluate(term.data, ball.x, i, i + 1, NOLI_EVAL_HESSIAN, &out);
    out.hessian = projected;
    term.evaluate(term.data, ball.x, i, i + 1, NOLI_EVAL_PROJECTED, &out);
    assert_true(largest_of(plain, 27) > 0.0);
    ASSERT_NEAR(largest_of(projected, 27), 0.0, 0.0);
  }
  assert_true(ball.state[0].stiffness > 0.0);
  free_ball(&ball);
}

// Volume and its gradient do not depend on the position of the ball; pressure has no resultant.
static void place_does_not_matter(void** state) {
  (void)state;
  TestRandom random = {97};
  Ball ball = make_ball(&random, NOLI_VOLUME_QUADRATIC, 1, 0.0);
  NoliEnergyTerm term = ball_term(&ball);
  int32_t n = ball.mesh->n_vert;
  double volume = noli_volume_inside(ball.volumes.tri, ball.volumes.n_tri, ball.x, 1);

  // gradient and moments
  double dV[128] = {0.0}, moved[128] = {0.0}, y[128];
  noli_volume_add_gradient(&ball.volumes, 0, ball.x, dV);
  NoliVec3 sum = {0}, moment = {0};
  for (int32_t i = 0; i < n; i++) {
    sum = noli_add3(sum, noli_load3(dV + 3 * i));
    moment = noli_add3(moment, noli_cross3(noli_load3(ball.x + 3 * i), noli_load3(dV + 3 * i)));
    noli_store3(y + 3 * i, noli_add3(noli_load3(ball.x + 3 * i), noli_vec3(100.0, -50.0, 7.0)));
  }

  // neither depends on the place
  ASSERT_AT_MOST(noli_norm3(sum), 1e-14);
  ASSERT_AT_MOST(noli_norm3(moment), 1e-14);
  ASSERT_NEAR(noli_volume_inside(ball.volumes.tri, ball.volumes.n_tri, y, 1), volume, 1e-13);
  noli_volume_add_gradient(&ball.volumes, 0, y, moved);
  for (int32_t i = 0; i < 3 * n; i++) {
    ASSERT_NEAR(moved[i], dV[i], 1e-13);
  }

  // x . dV = 3 V
  double work = 0.0;
  for (int32_t i = 0; i < 3 * n; i++) {
    work += dV[i] * ball.x[i];
  }
  ASSERT_NEAR(work, 3.0 * volume, 1e-14);
  (void)term;
  free_ball(&ball);
}

// The assembler adds the term and calls its `prepare` at the same x.
static void assembler_prepares_the_term(void** state) {
  (void)state;
  TestRandom random = {98};
  Ball ball = make_ball(&random, NOLI_VOLUME_IDEAL_GAS, 2, 0.0);
  NoliEnergyTerm term = ball_term(&ball);
  int32_t n = ball.mesh->n_vert, dof[64];
  double gradient[128], want[128], product[128], p[128] = {0.0};
  for (int32_t i = 0; i < n; i++) {
    dof[i] = i;
  }
  derivatives_at(&ball, &term, ball.x, NOLI_EVAL_PROJECTED, p, want, product);
  memset(ball.state, 0xff, sizeof ball.state);
  NoliAssembler* assembler = NULL;
  ASSERT_OK(noli_assembler_create(ball.context, &assembler));
  ASSERT_OK(noli_assembler_set_unknowns(assembler, n, dof, n));
  ASSERT_OK(noli_assembler_prepare(assembler, &term, 1));
  ASSERT_OK(noli_assembler_linearize(assembler, &term, 1, ball.x, 0, gradient));
  for (int32_t i = 0; i < 3 * n; i++) {
    ASSERT_NEAR(gradient[i], want[i], 1e-12 * largest_of(want, 3 * n));
  }
  noli_assembler_destroy(&assembler);
  free_ball(&ball);
}

static void open_and_inverted_surfaces_are_refused(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh* mesh = NULL;
  NoliVolumes volumes = {0};
  NoliVolumeLaw law = {NOLI_VOLUME_QUADRATIC, 0.0, 1.0, 0.0};

  // a hole
  ASSERT_OK(noli_mesh_make_sphere(context, 0.5, 3, true, &mesh));
  ASSERT_STATUS(noli_volumes_add(&volumes, context, "ball", 0, law, mesh->tri, mesh->n_tri - 1,
                                 mesh->n_vert, mesh->x),
                NOLI_ERROR_ARGUMENT);
  assert_non_null(strstr(noli_context_message(context), "ball: the surface is not closed at"));
  assert_int_equal(volumes.n_edge, 0);

  // one triangle reversed
  int32_t kept = mesh->tri[0];
  mesh->tri[0] = mesh->tri[1];
  mesh->tri[1] = kept;
  ASSERT_STATUS(noli_volumes_add(&volumes, context, "ball", 0, law, mesh->tri, mesh->n_tri,
                                 mesh->n_vert, mesh->x),
                NOLI_ERROR_ARGUMENT);
  mesh->tri[1] = mesh->tri[0];
  mesh->tri[0] = kept;

  // all of them
  for (int32_t t = 0; t < mesh->n_tri; t++) {
    kept = mesh->tri[3 * t];
    mesh->tri[3 * t] = mesh->tri[3 * t + 1];
    mesh->tri[3 * t + 1] = kept;
  }
  ASSERT_STATUS(noli_volumes_add(&volumes, context, "ball", 0, law, mesh->tri, mesh->n_tri,
                                 mesh->n_vert, mesh->x),
                NOLI_ERROR_ARGUMENT);
  assert_non_null(strstr(noli_context_message(context), "the volume at rest must be positive"));
  assert_int_equal(volumes.n_region, 0);
  noli_volumes_free(context, &volumes);
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(laws_have_their_derivatives),
      cmocka_unit_test(laws_are_those_of_the_paper),
      cmocka_unit_test(small_changes_keep_their_digits),
      cmocka_unit_test(derivatives_agree_with_differences),
      cmocka_unit_test(projection_leaves_the_parts_of_rank_one),
      cmocka_unit_test(place_does_not_matter),
      cmocka_unit_test(assembler_prepares_the_term),
      cmocka_unit_test(open_and_inverted_surfaces_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
