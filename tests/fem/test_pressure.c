// Pressure and traction on faces: derivatives, and forces of faces that are closed or open.
#include "support.h"

#include "fem/loads/pressure.h"
#include "math/vec3.h"
#include "noli/mesh.h"

#include <string.h>

typedef struct OneFace {
  int32_t tri[3];
  double value, origin[3], magnitude;
} OneFace;

static void face_energy(void* user, const double* x, double* energy, double* gradient,
                        double* hessian, int32_t n) {
  OneFace* one = user;
  NoliFaces faces = {1, one->tri};
  NoliPressure data = {&faces, &one->value, one->origin, 0.3, &one->magnitude};
  NoliEnergyTerm term = noli_pressure_term(&data);
  double g[9], block[54];
  NoliLocal out = {.energy = energy, .gradient = g, .hessian = block};
  noli_term_prepare(&term, x, 1);
  term.evaluate(term.data, x, 0, 1, NOLI_EVAL_ENERGY | NOLI_EVAL_GRADIENT | NOLI_EVAL_HESSIAN,
                &out);
  ASSERT_NEAR(one->magnitude, fabs(*energy), 1e-14 * fabs(*energy));
  ASSERT_NEAR(*energy, 0.3 * noli_pressure_energy(&data, x), 1e-12);
  memcpy(gradient, g, sizeof(double) * 3 * (size_t)n);
  for (int32_t a = 0; a < n; a++) {
    for (int32_t b = a; b < n; b++) {
      const double* from = block + 9 * noli_stencil_block(3, a, b);
      for (int32_t i = 0; i < 9; i++) {
        hessian[(3 * a + i / 3) * 3 * n + 3 * b + i % 3] = from[i];
        hessian[(3 * b + i % 3) * 3 * n + 3 * a + i / 3] = from[i];
      }
    }
  }
}

// At random places, triangles and segments.
static void derivatives_match_differences(void** state) {
  (void)state;
  TestRandom random = {7};
  for (int round = 0; round < 40; round++) {
    int32_t n = round % 2 == 0 ? 3 : 2;
    OneFace one = {.tri = {0, 1, n == 3 ? 2 : NOLI_NULL_INDEX}};
    double x[9], g[9], H[81], unused[81], up[9], down[9], energy[2], e;
    for (int i = 0; i < 9; i++) {
      x[i] = test_random(&random, -1.0, 1.0);
    }
    for (int i = 0; i < 3; i++) {
      one.origin[i] = test_random(&random, -2.0, 2.0);
    }
    one.value = test_random(&random, 1.0, 2.0);
    face_energy(&one, x, &e, g, H, n);
    double largest = 0.0, h = 1e-4; // the energy is cubic: errors of h^2 / 6 and of rounding
    for (int j = 0; j < 3 * n; j++) {
      double middle = x[j];
      x[j] = middle + h;
      face_energy(&one, x, &energy[0], up, unused, n);
      x[j] = middle - h;
      face_energy(&one, x, &energy[1], down, unused, n);
      x[j] = middle;
      ASSERT_NEAR((energy[0] - energy[1]) / (2.0 * h), g[j], 1e-8);
      for (int i = 0; i < 3 * n; i++) {
        ASSERT_NEAR((up[i] - down[i]) / (2.0 * h), H[i * 3 * n + j], 1e-8);
        largest = noli_larger(largest, fabs(H[i * 3 * n + j]));
      }
    }
    assert_true(largest > 0.01);
  }
}

// On a closed surface with a uniform pressure the mantle of the cones vanishes for any origin, and
// the sum of all forces is zero; on an open one the forces with those of the mantle are the
// pressure times area, again for any origin.
static void forces_are_pressure_times_area(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_sphere(context, 0.5, 3, true, &mesh));
  for (int open = 0; open < 2; open++) {
    NoliFaces faces = {open ? mesh->n_tri / 2 : mesh->n_tri, mesh->tri};
    double *value = malloc(sizeof *value * (size_t)faces.n), magnitude;
    double *from = malloc(3 * sizeof *from * (size_t)faces.n),
           *g = malloc(9 * sizeof *g * (size_t)faces.n),
           *force = calloc(3 * (size_t)mesh->n_vert, sizeof *force);
    NoliVec3 area = {0}, sum = {0}, mantle = {0};
    for (int32_t i = 0; i < faces.n; i++) {
      value[i] = 2e3;
      memcpy(from + 3 * i, (double[3]){0.3, -1.7, 0.8}, 3 * sizeof *from);
      NoliVec3 c[3];
      for (int k = 0; k < 3; k++) {
        c[k] = noli_load3(mesh->x + 3 * mesh->tri[3 * i + k]);
      }
      NoliVec3 normal = noli_cross3(noli_sub3(c[1], c[0]), noli_sub3(c[2], c[0]));
      area = noli_mul_add3(area, 0.5, normal);
    }
    NoliPressure data = {&faces, value, from, 1.0, &magnitude};
    noli_pressure_add_mantle(&data, 0, faces.n, mesh->x, force);
    double largest = 0.0;
    for (int32_t i = 0; i < mesh->n_vert; i++) {
      mantle = noli_add3(mantle, noli_load3(force + 3 * i));
      largest = noli_larger(largest, noli_norm3(noli_load3(force + 3 * i)));
    }
    NoliLocal out = {.gradient = g};
    NoliEnergyTerm term = noli_pressure_term(&data);
    term.evaluate(term.data, mesh->x, 0, faces.n, NOLI_EVAL_GRADIENT, &out);
    for (int32_t i = 0; i < 3 * faces.n; i++) {
      sum = noli_sub3(sum, noli_load3(g + 3 * i));
    }
    sum = noli_add3(sum, mantle);
    assert_true(open ? largest > 1.0 && noli_norm3(area) > 0.1 : largest < 1e-9);
    ASSERT_NEAR(noli_norm3(noli_mul_add3(sum, 2e3, area)), 0.0, 1e-9);
    free(value), free(from), free(g), free(force);
  }
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

// The moments of a linear traction on a triangle and on a segment.
static void tractions_are_integrated_exactly(void** state) {
  (void)state;
  const double X[9] = {0, 0, 0, 2, 0, 0, 0, 3, 0};
  double t[9] = {0}, f[9] = {0}, total = 0.0, moment = 0.0;
  int32_t tri[3] = {0, 1, 2}, segment[3] = {0, 1, NOLI_NULL_INDEX};
  for (int i = 0; i < 3; i++) {
    t[3 * i + 2] = 5.0 + 7.0 * X[3 * i];
  }
  noli_faces_add_traction(&(NoliFaces){1, tri}, X, t, f);
  for (int i = 0; i < 3; i++) {
    total += f[3 * i + 2];
    moment += X[3 * i] * f[3 * i + 2];
  }
  // over the triangle of area 3: the means of x and x^2 are 2/3 and 2/3
  ASSERT_NEAR(total, 3.0 * (5.0 + 7.0 * 2.0 / 3.0), 1e-12);
  ASSERT_NEAR(moment, 3.0 * (5.0 * 2.0 / 3.0 + 7.0 * 2.0 / 3.0), 1e-12);
  memset(f, 0, sizeof f);
  noli_faces_add_traction(&(NoliFaces){1, segment}, X, t, f);
  ASSERT_NEAR(f[2] + f[5], 2.0 * 12.0, 1e-12);
  ASSERT_NEAR(2.0 * f[5], 5.0 * 2.0 + 7.0 * 8.0 / 3.0, 1e-12);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_match_differences),
      cmocka_unit_test(forces_are_pressure_times_area),
      cmocka_unit_test(tractions_are_integrated_exactly),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
