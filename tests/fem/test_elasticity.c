#include "fem/elasticity.h"

#include "material/reference.h"
#include "math/eigen.h"
#include "math/svd3.h"
#include "support.h"

enum { N_BLOCKS = 10 };

static const NoliLame lame = {1.3, 2.1, NULL, NULL, NULL};
static const double scale = 0.7;

static double rest_shapes[][12] = {
    {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1},                           // corner of a cube
    {1, 1, 1, 1, -1, -1, -1, -1, 1, -1, 1, -1},                     // regular
    {0.2, -0.1, 0.3, 1.4, 0.2, 0.1, 0.3, 0.9, -0.2, 0.6, 0.1, 0.4}, // any
    {0, 0, 0, 1, 0, 0, 0.5, 0.05, 0, 0.5, 0.02, 0.08},              // sliver
};
enum { N_SHAPES = 4, REGULAR = 1 };

// One tetrahedron of one material.
typedef struct Single {
  NoliContext* context;
  int32_t tet[4];
  NoliTets tets;
  const NoliMaterial* law;
  double mu, lambda;
  NoliElasticity data;
} Single;

static void single_begin(Single* s, const double* X, const NoliMaterial* law) {
  *s = (Single){.context = test_context(1), .tet = {0, 1, 2, 3}, .law = law};
  s->mu = lame.mu;
  s->lambda = lame.lambda;
  ASSERT_OK(noli_tets_create(s->context, 1, s->tet, X, &s->tets));
  s->data = (NoliElasticity){&s->tets, &s->law, &s->mu, &s->lambda, scale, NULL, NULL, NULL};
}

static void single_end(Single* s) {
  noli_tets_destroy(s->context, &s->tets);
  test_context_done(&s->context);
}

// The blocks of a stencil as a full 12 x 12 matrix.
static void expand(const double* blocks, double* full) {
  for (int32_t a = 0; a < 4; a++) {
    for (int32_t b = a; b < 4; b++) {
      const double* block = blocks + 9 * noli_stencil_block(4, a, b);
      for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
          full[(3 * a + i) * 12 + 3 * b + j] = block[3 * i + j];
          full[(3 * b + j) * 12 + 3 * a + i] = block[3 * i + j];
        }
      }
    }
  }
}

static double evaluate(const NoliElasticity* data, const double* x, unsigned curvature,
                       double* gradient, double* hessian) {
  double energy, blocks[9 * N_BLOCKS];
  NoliLocal local = {&energy, gradient, blocks};
  unsigned what = NOLI_EVAL_ENERGY | NOLI_EVAL_GRADIENT | (hessian != NULL ? curvature : 0u);
  noli_elasticity_term(data).evaluate(data, x, 0, 1, what, &local);
  if (hessian != NULL) {
    expand(blocks, hessian);
  }
  return energy;
}

static double tet_function(void* user, const double* x, double* gradient, double* hessian) {
  // a linear term keeps the gradient away from zero at rest
  double energy = evaluate(user, x, NOLI_EVAL_HESSIAN, gradient, hessian) + 0.01 * x[5];
  gradient[5] += 0.01;
  return energy;
}

static NoliMat3 random_matrix(TestRandom* random, double size) {
  NoliMat3 a;
  for (int i = 0; i < 9; i++) {
    a.m[i / 3][i % 3] = test_random(random, -size, size);
  }
  return a;
}

// x = F X + c
static void deform(const NoliMat3* F, const double* X, double* x) {
  for (int a = 0; a < 4; a++) {
    noli_store3(x + 3 * a,
                noli_add3(noli_mul33_vec(F, noli_load3(X + 3 * a)), noli_vec3(0.3, -2.0, 1.0)));
  }
}

static double largest(int n, const double* a) {
  double result = 0.0;
  for (int i = 0; i < n; i++) {
    double entry = fabs(a[i]);
    result = entry <= result ? result : entry;
  }
  return result;
}

static void derivatives_match_differences(void** state) {
  (void)state;
  TestRandom random = {61};
  for (int32_t i = 0; i < noli_material_count(); i++) {
    for (int shape = 0; shape < N_SHAPES; shape++) {
      Single s;
      single_begin(&s, rest_shapes[shape], noli_material_at(i));
      double x[12];
      double size = cbrt(s.tets.volume[0]);
      for (int k = 0; k < 20; k++) {
        NoliMat3 F = noli_add33(noli_identity3(), random_matrix(&random, k == 0 ? 0.0 : 0.4));
        if (k >= 15) {
          // crushed, where the barrier of the laws acts
          F = noli_mul33(F, noli_diagonal33((double[3]){1.0, 1.0, 0.02 * (k - 14)}));
        }
        if (noli_det33(&F) > (k >= 15 ? 0.01 : 0.2)) {
          deform(&F, rest_shapes[shape], x);
          test_derivatives(tet_function, (void*)&s.data, 12, x, (k >= 15 ? 0.005 : 0.1) * size,
                           1e-6, 2e-6);
        }
      }
      single_end(&s);
    }
  }
}

// The blocks must equal B^T C B with the 9x9 tangent C, plain or projected.
static void blocks_match_the_tangent(void** state) {
  (void)state;
  TestRandom random = {62};
  for (int32_t i = 0; i < noli_material_count(); i++) {
    for (int k = 0; k < 200; k++) {
      const double* X = rest_shapes[k % N_SHAPES];
      Single s;
      single_begin(&s, X, noli_material_at(i));

      // a random deformation
      NoliMat3 F = noli_add33(noli_identity3(), random_matrix(&random, 0.8));
      if (noli_det33(&F) > 0.05) {
        double x[12], gradient[12], got[144], C[81];
        deform(&F, X, x);
        NoliMat3 G = noli_load33(s.tets.rest_inverse);

        // compare with B^T C B
        for (int projected = 0; projected < 2; projected++) {
          evaluate(&s.data, x, projected ? NOLI_EVAL_PROJECTED : NOLI_EVAL_HESSIAN, gradient, got);
          material_tangent(s.law, lame, &F, projected, C);
          for (int r = 0; r < 144; r++) {
            // entry (node a, direction i; node b, direction j), nodes 1 .. 3
            int a = r / 36, di = r / 12 % 3, b = r % 12 / 3, dj = r % 3;
            double want = 0.0;
            for (int jl = 0; jl < 9; jl++) {
              double ga =
                  a > 0 ? G.m[a - 1][jl / 3] : -G.m[0][jl / 3] - G.m[1][jl / 3] - G.m[2][jl / 3];
              double gb =
                  b > 0 ? G.m[b - 1][jl % 3] : -G.m[0][jl % 3] - G.m[1][jl % 3] - G.m[2][jl % 3];
              want += ga * C[9 * (3 * di + jl / 3) + 3 * dj + jl % 3] * gb;
            }
            ASSERT_NEAR(got[r], scale * s.tets.volume[0] * want, 1e-11 * largest(144, got));
          }
        }
      }
      single_end(&s);
    }
  }
}

// On a regular tetrahedron the shape gradients are a multiple of an orthonormal frame, so that
// clamping the tangent is clamping the 12 x 12 matrix.
static void projection_clamps_eigenvalues(void** state) {
  (void)state;
  TestRandom random = {63};
  for (int32_t i = 0; i < noli_material_count(); i++) {
    Single s;
    single_begin(&s, rest_shapes[REGULAR], noli_material_at(i));
    int n_indefinite = 0;

    // random deformations
    for (int k = 0; k < 300; k++) {
      NoliMat3 F = noli_add33(noli_identity3(), random_matrix(&random, 0.8));
      if (!(noli_det33(&F) > 0.02)) {
        continue;
      }
      double x[12], gradient[12], plain[144], projected[144], values[12], vectors[144], copy[144];
      deform(&F, rest_shapes[REGULAR], x);
      evaluate(&s.data, x, NOLI_EVAL_HESSIAN, gradient, plain);
      evaluate(&s.data, x, NOLI_EVAL_PROJECTED, gradient, projected);

      // clamp the eigenvalues
      memcpy(copy, plain, sizeof copy);
      noli_eigen_symmetric(12, copy, values, vectors);
      n_indefinite += values[0] < -1e-9;
      for (int r = 0; r < 144; r++) {
        double want = 0.0;
        for (int m = 0; m < 12; m++) {
          want += vectors[12 * (r / 12) + m] * fmax(values[m], 0.0) * vectors[12 * (r % 12) + m];
        }
        ASSERT_NEAR(projected[r], want, 1e-9 * largest(144, projected));
      }
    }
    assert_true(n_indefinite > 20);
    single_end(&s);
  }
}

// For any shape: semi-definite, equal to the plain matrix if that is, symmetric to the last bit.
static void projection_is_semi_definite(void** state) {
  (void)state;
  TestRandom random = {64};
  for (int32_t i = 0; i < noli_material_count(); i++) {
    for (int k = 0; k < 400; k++) {
      const double* X = rest_shapes[k % N_SHAPES];
      Single s;
      single_begin(&s, X, noli_material_at(i));
      NoliMat3 F = noli_add33(noli_identity3(), random_matrix(&random, k % 3 ? 0.7 : 1e-3));
      if (noli_det33(&F) > 0.02) {
        double x[12], gradient[12], blocks[90], full[144], values[12], vectors[144];
        NoliLocal local = {.gradient = gradient, .hessian = blocks};
        deform(&F, X, x);
        noli_elasticity_evaluate(&s.data, x, 0, 1, NOLI_EVAL_PROJECTED, &local);
        for (int32_t a = 0; a < 4; a++) {
          const double* block = blocks + 9 * noli_stencil_block(4, a, a);
          assert_true(block[1] == block[3] && block[2] == block[6] && block[5] == block[7]);
        }
        expand(blocks, full);
        double size = largest(144, full);
        noli_eigen_symmetric(12, full, values, vectors);
        ASSERT_AT_LEAST(values[0], -1e-13 * size);
      }
      single_end(&s);
    }
  }
}

static void rigid_motions_cost_nothing(void** state) {
  (void)state;
  TestRandom random = {65};
  for (int32_t i = 0; i < noli_material_count(); i++) {
    for (int k = 0; k < 100; k++) {
      const double* X = rest_shapes[k % N_SHAPES];
      Single s;
      single_begin(&s, X, noli_material_at(i));

      // a random rotation
      NoliMat3 A = random_matrix(&random, 1.0), U, V;
      double sigma[3], x[12], gradient[12], hessian[144];
      noli_svd3(&A, &U, sigma, &V);
      A = noli_mul_transpose33(U, V);
      deform(&A, X, x);
      double stiffness = largest(9, s.tets.rest_inverse) * s.tets.volume[0];
      // rounding of x, seen by the shape gradients
      double strain = 1e-14 * largest(9, s.tets.rest_inverse);

      // no energy and no force
      double energy = evaluate(&s.data, x, NOLI_EVAL_HESSIAN, gradient, hessian);
      ASSERT_NEAR(energy, 0.0, 10.0 * strain * strain);
      ASSERT_AT_MOST(largest(12, gradient), 10.0 * stiffness * strain);

      // the directions of the six rigid motions are in the null space
      for (int m = 0; m < 6; m++) {
        double d[12];
        NoliVec3 axis = noli_vec3(m % 3 == 0, m % 3 == 1, m % 3 == 2);
        for (int a = 0; a < 4; a++) {
          noli_store3(d + 3 * a, m < 3 ? axis : noli_cross3(axis, noli_load3(x + 3 * a)));
        }
        for (int r = 0; r < 12; r++) {
          double sum = 0.0;
          for (int c = 0; c < 12; c++) {
            sum += hessian[12 * r + c] * d[c];
          }
          ASSERT_NEAR(sum, 0.0, 1e-12 * largest(144, hessian));
        }
      }
      single_end(&s);
    }
  }
}

// A cube of 12 tetrahedra around its centre, which is off the middle.
enum { CUBE_VERTS = 9, CUBE_TETS = 12 };
typedef struct Cube {
  double X[3 * CUBE_VERTS];
  int32_t tet[4 * CUBE_TETS];
} Cube;

static Cube cube(void) {
  Cube c;
  for (int v = 0; v < 8; v++) {
    noli_store3(c.X + 3 * v, noli_vec3(v & 1, v >> 1 & 1, v >> 2 & 1));
  }
  noli_store3(c.X + 24, noli_vec3(0.4, 0.55, 0.45));
  int32_t quads[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                         {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
  for (int q = 0; q < 6; q++) {
    int32_t tets[2][4] = {{8, quads[q][0], quads[q][2], quads[q][1]},
                          {8, quads[q][0], quads[q][3], quads[q][2]}};
    memcpy(c.tet + 8 * q, tets, sizeof tets);
  }
  // faces above look outward; seen from the centre the triple must be right-handed
  for (int t = 0; t < CUBE_TETS; t++) {
    NoliVec3 x0 = noli_load3(c.X + 3 * c.tet[4 * t]);
    NoliVec3 e[3];
    for (int a = 0; a < 3; a++) {
      e[a] = noli_sub3(noli_load3(c.X + 3 * c.tet[4 * t + 1 + a]), x0);
    }
    if (noli_dot3(e[0], noli_cross3(e[1], e[2])) < 0.0) {
      int32_t swap = c.tet[4 * t + 2];
      c.tet[4 * t + 2] = c.tet[4 * t + 3];
      c.tet[4 * t + 3] = swap;
    }
  }
  return c;
}

static void patch_test(void** state) {
  (void)state;
  Cube c = cube();
  for (int32_t i = 0; i < noli_material_count(); i++) {
    NoliContext* context = test_context(2);
    NoliTets tets;
    ASSERT_OK(noli_tets_create(context, CUBE_TETS, c.tet, c.X, &tets));
    const NoliMaterial* law[CUBE_TETS];
    double mu[CUBE_TETS], lambda[CUBE_TETS];
    for (int t = 0; t < CUBE_TETS; t++) {
      law[t] = noli_material_at(i);
      mu[t] = lame.mu;
      lambda[t] = lame.lambda;
    }

    // an affine deformation
    NoliElasticity data = {&tets, law, mu, lambda, scale, NULL, NULL, NULL};
    NoliMat3 F = {{{1.2, 0.1, 0.0}, {-0.2, 0.9, 0.3}, {0.1, 0.0, 1.1}}};
    double x[3 * CUBE_VERTS], gradient[12 * CUBE_TETS], energy[CUBE_TETS];
    for (int v = 0; v < CUBE_VERTS; v++) {
      noli_store3(x + 3 * v, noli_mul33_vec(&F, noli_load3(c.X + 3 * v)));
    }

    // evaluate
    NoliEnergyTerm term = noli_elasticity_term(&data);
    NoliLocal local = {energy, gradient, NULL};
    // in two ranges, as parallel blocks do
    term.evaluate(term.data, x, 0, 5, NOLI_EVAL_ENERGY | NOLI_EVAL_GRADIENT, &local);
    local = noli_local_at(&local, 4, 5);
    term.evaluate(term.data, x, 5, term.n_stencil, NOLI_EVAL_ENERGY | NOLI_EVAL_GRADIENT, &local);

    // sum up
    double nodal[3 * CUBE_VERTS] = {0}, total = 0.0;
    for (int t = 0; t < CUBE_TETS; t++) {
      total += energy[t];
      for (int a = 0; a < 4; a++) {
        for (int d = 0; d < 3; d++) {
          nodal[3 * c.tet[4 * t + a] + d] += gradient[12 * t + 3 * a + d];
        }
      }
    }
    ASSERT_NEAR(total, scale * material_energy(law[0], lame, &F), 1e-14);

    // no force inside; on the face x = 1 the force is the column of P
    NoliMat3 P = material_stress(law[0], lame, &F);
    for (int d = 0; d < 3; d++) {
      ASSERT_NEAR(nodal[24 + d], 0.0, 1e-14);
      double resultant = 0.0;
      for (int v = 0; v < 8; v++) {
        resultant += c.X[3 * v] * nodal[3 * v + d];
      }
      ASSERT_NEAR(resultant, scale * P.m[d][0], 1e-14);
    }

    // stresses
    for (int t = 0; t < CUBE_TETS; t++) {
      NoliStress sum = {0};
      noli_elasticity_add_stress(&data, t, x, &sum);
      double want = tets.volume[t] * material_von_mises(law[0], lame, &F);
      ASSERT_NEAR(sum.von_mises, want, 1e-13 * want);
      ASSERT_NEAR(sum.first_piola[0], tets.volume[t] * P.m[0][0], 1e-13);
    }
    noli_tets_destroy(context, &tets);
    test_context_done(&context);
  }
}

// Each result is independent of which others are requested.
static void requests_are_consistent(void** state) {
  (void)state;
  TestRandom random = {66};
  for (int32_t i = 0; i < noli_material_count(); i++) {
    for (int k = 0; k < 100; k++) {
      const double* X = rest_shapes[k % N_SHAPES];
      Single s;
      single_begin(&s, X, noli_material_at(i));
      NoliMat3 F = noli_add33(noli_identity3(), random_matrix(&random, 0.3));
      double x[12], all[12], alone[12], hessian[144], energy;
      deform(&F, X, x);
      double with = evaluate(&s.data, x, NOLI_EVAL_PROJECTED, all, hessian);
      noli_elasticity_evaluate(&s.data, x, 0, 1, NOLI_EVAL_ENERGY,
                               &(NoliLocal){&energy, NULL, NULL});
      noli_elasticity_evaluate(&s.data, x, 0, 1, NOLI_EVAL_GRADIENT,
                               &(NoliLocal){NULL, alone, NULL});
      ASSERT_NEAR(energy, with, 0.0);
      for (int d = 0; d < 12; d++) {
        ASSERT_NEAR(alone[d], all[d], 1e-12 * largest(12, all));
      }
      single_end(&s);
    }
  }
}

// Many tets of one law, or of all laws in turn; some with fibres, and some triangles.
enum { MANY = 61 };
typedef struct Many {
  double X[12 * MANY], x[12 * MANY];
  int32_t tet[4 * MANY];
  const NoliMaterial* law[MANY];
  double mu[MANY], lambda[MANY], fibre[NOLI_FIBRE_VALUES * MANY];
} Many;

static void many_fill(Many* many, TestRandom* random, int32_t law, bool planar, bool fibred) {
  memset(many, 0, sizeof *many);
  for (int t = 0; t < MANY; t++) {
    NoliMat3 F = noli_identity3();
    do {
      F = noli_add33(noli_identity3(), random_matrix(random, t % 7 ? 0.6 : 0.0));
    } while (noli_det33(&F) < 0.02);
    memcpy(many->X + 12 * t, rest_shapes[t % N_SHAPES], 12 * sizeof(double));
    deform(&F, many->X + 12 * t, many->x + 12 * t);
    for (int a = 0; a < 4; a++) {
      many->tet[4 * t + a] = 4 * t + a;
    }
    if (planar && t % 5 == 2) {
      many->tet[4 * t + 3] = NOLI_NULL_INDEX;
      memcpy(many->X + 12 * t, rest_shapes[0], 12 * sizeof(double));
      memcpy(many->x + 12 * t, (double[]){0, 0, 0, 1.1, 0.1, 0, -0.2, 0.9, 0}, 9 * sizeof(double));
    }
    many->law[t] = noli_material_at(law >= 0 ? law : t % noli_material_count());
    many->mu[t] = test_random(random, 0.5, 2.0);
    many->lambda[t] = test_random(random, 0.5, 4.0);
    if (fibred && t % 13 == 5) {
      memcpy(many->fibre + NOLI_FIBRE_VALUES * t, (double[]){0.6, 0.8, 0.0, 2.0, 0.5},
             5 * sizeof(double));
    }
  }
}

// Elements have the same bits in one call, in which most of them are evaluated several at once, and
// one by one.
static void batches_have_the_bits_of_one(void** state) {
  (void)state;
  TestRandom random = {68};
  static Many many;
  static double all[2][91 * MANY + 12 * MANY];
  const unsigned requests[] = {NOLI_EVAL_ENERGY, NOLI_EVAL_GRADIENT, NOLI_EVAL_HESSIAN,
                               NOLI_EVAL_PROJECTED,
                               NOLI_EVAL_ENERGY | NOLI_EVAL_GRADIENT | NOLI_EVAL_PROJECTED};
  for (int32_t law = -1; law < noli_material_count(); law++) {
    for (int k = 0; k < 20; k++) {
      NoliContext* context = test_context(1);
      NoliTets tets;
      many_fill(&many, &random, law, k % 2 == 1, k % 3 == 1);
      bool inverted = k % 4 == 3;
      if (inverted) {
        // node 3 of tet 20 on the other side of node 0
        NoliVec3 x0 = noli_load3(many.x + 240), up = noli_sub3(noli_load3(many.x + 249), x0);
        noli_store3(many.x + 249, noli_mul_add3(x0, -1.0, up));
      }
      ASSERT_OK(noli_tets_create(context, MANY, many.tet, many.X, &tets));
      NoliElasticity data = {&tets, many.law, many.mu, many.lambda, scale, NULL, many.fibre, NULL};
      memset(all, 0, sizeof all);
      NoliLocal out[2];
      for (int i = 0; i < 2; i++) {
        out[i] = (NoliLocal){all[i], all[i] + MANY, all[i] + 13 * MANY};
      }
      unsigned what = requests[k % 5];
      noli_elasticity_evaluate(&data, many.x, 0, MANY, what, &out[0]);
      for (int t = 0; t < MANY; t++) {
        NoliLocal here = noli_local_at(&out[1], 4, t);
        noli_elasticity_evaluate(&data, many.x, t, t + 1, what, &here);
      }
      // NaN, of an inverted element, may differ in its bits
      int n_not_finite = 0;
      for (size_t i = 0; i < sizeof all[0] / sizeof(double); i++) {
        n_not_finite += !isfinite(all[0][i]);
        all[0][i] = isnan(all[0][i]) ? 0.0 : all[0][i];
        all[1][i] = isnan(all[1][i]) ? 0.0 : all[1][i];
      }
      assert_int_equal(n_not_finite > 0, inverted);
      assert_memory_equal(all[0], all[1], sizeof all[0]);
      noli_tets_destroy(context, &tets);
      test_context_done(&context);
    }
  }
}

static void inverted_elements_are_visible(void** state) {
  (void)state;
  double stretch[] = {0.0, -0.5};
  for (int k = 0; k < 2 * noli_material_count(); k++) {
    Single s;
    single_begin(&s, rest_shapes[0], noli_material_at(k / 2));
    NoliMat3 F = noli_diagonal33((double[3]){1.0, 1.0, stretch[k % 2]});
    double x[12], gradient[12], hessian[144];
    deform(&F, rest_shapes[0], x);
    assert_true(isinf(evaluate(&s.data, x, NOLI_EVAL_HESSIAN, gradient, NULL)));
    for (int d = 0; d < 12; d++) {
      assert_true(!isfinite(gradient[d]));
    }
    assert_true(isinf(evaluate(&s.data, x, NOLI_EVAL_PROJECTED, gradient, hessian)));
    for (int d = 0; d < 12; d++) {
      assert_true(!isfinite(gradient[d]) && !isfinite(hessian[13 * d]));
    }
    single_end(&s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_match_differences),
      cmocka_unit_test(blocks_match_the_tangent),
      cmocka_unit_test(projection_clamps_eigenvalues),
      cmocka_unit_test(projection_is_semi_definite),
      cmocka_unit_test(rigid_motions_cost_nothing),
      cmocka_unit_test(patch_test),
      cmocka_unit_test(requests_are_consistent),
      cmocka_unit_test(batches_have_the_bits_of_one),
      cmocka_unit_test(inverted_elements_are_visible),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
