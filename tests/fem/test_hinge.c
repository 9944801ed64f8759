// Hinges: the angle and its derivatives flat, folded, as slivers; the projected Hessian; the
// triangles with hinges; and the stiffness of a plate.
#include "slivers.h"

#include "fem/thin/hinge.h"
#include "math/vec3.h"

#define PI 3.14159265358979323846

// The edge from 0 to x = 1, one triangle in the plane, the other folded by `angle`.
static void fold(double angle, double width, double x[12]) {
  const double at[12] = {
      0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.3, width, 0.0, 0.6, -width * cos(angle), width * sin(angle)};
  memcpy(x, at, sizeof at);
}

static void angles_are_those_of_the_fold(void** state) {
  (void)state;
  const double angle[] = {0.0, 1e-9, -1e-9, 0.5, -0.5, 1.6, -3.0, 3.1415, -3.1415};
  double x[12], sign = 0.0;
  for (size_t k = 0; k < sizeof angle / sizeof *angle; k++) {
    fold(angle[k], 0.7, x);
    double got = noli_hinge_angle(x);
    sign = sign == 0.0 && angle[k] != 0.0 ? got / angle[k] : sign;
    ASSERT_NEAR(got, angle[k] * (sign < 0.0 ? -1.0 : 1.0), 1e-15 + 1e-12 * fabs(angle[k]));
    // the triangles in the other order turn it the other way
    double y[12];
    memcpy(y, x, 6 * sizeof *x);
    memcpy(y + 6, x + 9, 3 * sizeof *x);
    memcpy(y + 9, x + 6, 3 * sizeof *x);
    ASSERT_NEAR(noli_hinge_angle(y), -got, 1e-15);
  }
}

static double angle_of(void* user, const double* x, double* gradient, double* hessian) {
  (void)user;
  noli_hinge_derivatives(x, gradient, hessian);
  return noli_hinge_angle(x);
}

static void derivatives_of_the_angle(void** state) {
  (void)state;
  TestRandom random = {4};
  const double degrees[] = {0.0, 1e-6, 30.0, 90.0, 150.0, 179.0, -120.0};
  for (int trial = 0; trial < 70; trial++) {
    double x[12], noise = trial < 7 ? 0.0 : 0.2;
    double width = trial % 5 == 4 ? 0.02 : 0.8; // slivers
    fold(degrees[trial % 7] * PI / 180.0, width, x);
    for (int i = 0; i < 12; i++) {
      x[i] += noise * width * test_random(&random, -1.0, 1.0) *
              (degrees[trial % 7] == 179.0 ? 0.01 : 1.0);
    }
    test_derivatives(angle_of, NULL, 12, x, 0.02 * width, 1e-6, 1e-5);
  }
}

// Both triangles, or one of them, up to 1e5 times as long as high: flat, folded to 179 degrees, and
// sheared along by ten times their height; anywhere in space.
static void derivatives_of_slivers(void** state) {
  (void)state;
  TestRandom random = {14};
  const double degrees[] = {0.0, 1e-6, 30.0, 90.0, 150.0, 179.0, -120.0};
  const double width[] = {1e-1, 1e-3, 1e-5};
  for (int trial = 0; trial < 84; trial++) {
    double w = width[trial % 3], other = trial % 2 == 0 ? w : 1.0, y[12];
    double angle = degrees[trial % 7] * PI / 180.0, shear = trial % 4 == 3 ? 10.0 : 0.0;
    Sliver sliver = {.f = angle_of,
                     .n_node = 4,
                     .node = {{{0}, {1, 1, 1}},
                              {{0}, {1, 1, 1}},
                              {{0.7, 0.3}, {w, w, w}},
                              {{0.4, 0.6}, {other, other, other}}}};
    NoliVec3 a = noli_vec3(test_random(&random, -1, 1), test_random(&random, -1, 1), 0.3);
    NoliVec3 along = noli_normalize3(noli_vec3(1.0, test_random(&random, -1, 1), 0.7));
    NoliVec3 across = noli_normalize3(noli_cross3(along, noli_vec3(0.2, 0.3, -0.8)));
    NoliVec3 up = noli_cross3(along, across);
    noli_store3(y, a);
    noli_store3(y + 3, noli_add3(a, along));
    noli_store3(y + 6, noli_mul_add3(across, shear, along));
    noli_store3(y + 9, noli_mul_add3(noli_scale3(-cos(angle), across), sin(angle), up));
    double scale = degrees[trial % 7] == 179.0 ? 0.01 : 0.1;
    for (int i = 0; i < 12; i++) {
      y[i] += trial < 21 ? 0.0 : 0.1 * scale * test_random(&random, -1.0, 1.0);
    }
    sliver_derivatives(&sliver, y, w, scale);
  }
}

typedef struct Mesh {
  int32_t n_vert, n_tri;
  double* X;
  int32_t* tri;
} Mesh;

// Equilateral triangles of side `a` in rows.
static Mesh equilateral(int32_t nx, int32_t ny, double a) {
  Mesh mesh = {.n_vert = (nx + 1) * (ny + 1), .n_tri = 2 * nx * ny};
  mesh.X = malloc(sizeof(double) * 3 * (size_t)mesh.n_vert);
  mesh.tri = malloc(sizeof(int32_t) * 3 * (size_t)mesh.n_tri);
  for (int32_t j = 0; j <= ny; j++) {
    for (int32_t i = 0; i <= nx; i++) {
      double* X = mesh.X + 3 * (j * (nx + 1) + i);
      X[0] = a * (i + 0.5 * j);
      X[1] = a * sqrt(0.75) * j;
      X[2] = 0.0;
    }
  }
  int32_t* tri = mesh.tri;
  for (int32_t j = 0; j < ny; j++) {
    for (int32_t i = 0; i < nx; i++, tri += 6) {
      int32_t v = j * (nx + 1) + i;
      const int32_t two[6] = {v, v + 1, v + nx + 1, v + 1, v + nx + 2, v + nx + 1};
      memcpy(tri, two, sizeof two);
    }
  }
  return mesh;
}

static void mesh_free(Mesh* mesh) {
  free(mesh->X);
  free(mesh->tri);
}

static double energy_at(const NoliHinges* hinges, const double* x) {
  NoliBending data = {hinges, 1.0};
  double* energy = malloc(sizeof(double) * (size_t)hinges->n_hinge);
  NoliLocal out = {.energy = energy};
  noli_bending_evaluate(&data, x, 0, hinges->n_hinge, NOLI_EVAL_ENERGY, &out);
  double sum = 0.0;
  for (int32_t h = 0; h < hinges->n_hinge; h++) {
    sum += energy[h];
  }
  free(energy);
  return sum;
}

// Bent to a cylinder about any axis, a plate of stiffness D has the energy 1/2 D kappa^2 per area.
// Hinges lack only the part of missing edges at the boundary.
static void equilateral_plates_bend_like_plates(void** state) {
  (void)state;
  enum { N = 80 };
  double a = 0.01, kappa = 0.2, D = 3.0;
  NoliContext* context = test_context(1);
  Mesh mesh = equilateral(N, N, a);
  NoliHinges hinges = {0};
  ASSERT_OK(noli_hinges_add(context, 0, mesh.n_tri, mesh.tri, mesh.X, &hinges));
  assert_int_equal(hinges.n_hinge, 3 * N * N - 2 * N);
  double* plate = malloc(sizeof(double) * 2 * (size_t)mesh.n_tri);
  double* axis = malloc(sizeof(double) * 3 * (size_t)mesh.n_tri);
  double* x = malloc(sizeof(double) * 3 * (size_t)mesh.n_vert);
  for (int32_t t = 0; t < mesh.n_tri; t++) {
    plate[2 * t] = plate[2 * t + 1] = D;
    memcpy(axis + 3 * t, (const double[3]){1.0, 0.0, 0.0}, 3 * sizeof *axis);
  }
  noli_hinges_set_stiffness(&hinges, 0, mesh.X, axis, plate);
  double area = mesh.n_tri * sqrt(0.75) * 0.5 * a * a;
  for (int k = 0; k < 4; k++) {
    double phi = 0.3 + 0.7 * k, c = cos(phi), s = sin(phi);
    for (int32_t v = 0; v < mesh.n_vert; v++) {
      const double* X = mesh.X + 3 * v;
      double u = c * X[0] + s * X[1], w = c * X[1] - s * X[0];
      double bent = sin(kappa * u) / kappa, height = (1.0 - cos(kappa * u)) / kappa;
      x[3 * v] = c * bent - s * w;
      x[3 * v + 1] = s * bent + c * w;
      x[3 * v + 2] = height;
    }
    ASSERT_NEAR(energy_at(&hinges, x) / (0.5 * D * kappa * kappa * area), 1.0, 0.02);
  }

  // twice as stiff along x: hinges across directions between the axes mix the two, so that a
  // sheet bent along x has 5/3 of D and one bent along y 1
  for (int32_t t = 0; t < mesh.n_tri; t++) {
    plate[2 * t] = 2.0 * D;
  }
  noli_hinges_set_stiffness(&hinges, 0, mesh.X, axis, plate);
  double energy[2];
  for (int k = 0; k < 2; k++) {
    for (int32_t v = 0; v < mesh.n_vert; v++) {
      const double* X = mesh.X + 3 * v;
      memcpy(x + 3 * v, X, 3 * sizeof *x);
      x[3 * v + k] = sin(kappa * X[k]) / kappa;
      x[3 * v + 2] = (1.0 - cos(kappa * X[k])) / kappa;
    }
    energy[k] = energy_at(&hinges, x) / (0.5 * D * kappa * kappa * area);
  }
  ASSERT_NEAR(energy[0], 5.0 / 3.0, 0.02);
  ASSERT_NEAR(energy[1], 1.0, 0.02);
  free(plate);
  free(axis);
  free(x);
  mesh_free(&mesh);
  noli_hinges_destroy(context, &hinges);
  test_context_done(&context);
}

// Three triangles on one edge: three hinges, each at rest in its initial state.
static void three_sheets_meet_on_a_line(void** state) {
  (void)state;
  static const double X[15] = {0, 0, 0, 1, 0, 0, 0.5, 1, 0, 0.5, -0.5, 0.8, 0.5, -0.5, -0.8};
  static const int32_t tri[9] = {0, 1, 2, 1, 0, 3, 0, 1, 4};
  NoliContext* context = test_context(1);
  NoliHinges hinges = {0};
  ASSERT_OK(noli_hinges_add(context, 0, 3, tri, X, &hinges));
  assert_int_equal(hinges.n_hinge, 3);
  for (int h = 0; h < 3; h++) {
    hinges.stiffness[h] = 1.0;
    assert_true(fabs(hinges.rest[h]) > 0.5);
  }
  ASSERT_NEAR(energy_at(&hinges, X), 0.0, 1e-30);
  noli_hinges_destroy(context, &hinges);
  test_context_done(&context);
}

static double energy_of(void* user, const double* x, double* gradient, double* hessian) {
  const NoliBending* data = user;
  double energy, blocks[90];
  NoliLocal out = {&energy, gradient, blocks};
  unsigned kind = hessian != NULL ? NOLI_EVAL_HESSIAN : 0;
  noli_bending_evaluate(data, x, 0, 1, NOLI_EVAL_ENERGY | NOLI_EVAL_GRADIENT | kind, &out);
  for (int a = 0; a < 4 && hessian != NULL; a++) {
    for (int b = 0; b < 4; b++) {
      const double* block = blocks + 9 * noli_stencil_block(4, a < b ? a : b, a < b ? b : a);
      for (int i = 0; i < 9; i++) {
        int row = i / 3, column = i % 3;
        hessian[12 * (3 * a + row) + 3 * b + column] = block[a <= b ? i : 3 * column + row];
      }
    }
  }
  return energy;
}

// Energies with a rest angle, on both sides of the fold onto itself. The projected Hessian is that
// of Gauss and Newton.
static void derivatives_and_projection_of_the_energy(void** state) {
  (void)state;
  TestRandom random = {9};
  int32_t node[4] = {0, 1, 2, 3};
  double rest = 0.0, stiffness = 1.3;
  NoliHinges hinges = {.n_hinge = 1, .node = node, .rest = &rest, .stiffness = &stiffness};
  NoliBending data = {&hinges, 0.7};
  for (int trial = 0; trial < 60; trial++) {
    double x[12], gradient[12], got[90];
    fold(test_random(&random, -3.0, 3.0), test_random(&random, 0.3, 1.0), x);
    rest = trial % 3 == 0 ? 0.0 : test_random(&random, -3.0, 3.0);
    if (fabs(fabs(noli_hinge_angle(x) - rest) - PI) < 0.1) {
      continue; // the shorter way changes sides
    }
    test_derivatives(energy_of, &data, 12, x, 0.01, 1e-6, 1e-6);
    noli_hinge_derivatives(x, gradient, NULL);
    NoliLocal out = {.hessian = got};
    noli_bending_evaluate(&data, x, 0, 1, NOLI_EVAL_PROJECTED, &out);
    for (int a = 0; a < 4; a++) {
      for (int b = a; b < 4; b++) {
        for (int i = 0; i < 9; i++) {
          double entry = 0.7 * 1.3 * gradient[3 * a + i / 3] * gradient[3 * b + i % 3];
          ASSERT_NEAR(got[9 * noli_stencil_block(4, a, b) + i], entry, 1e-12 * (1.0 + fabs(entry)));
        }
      }
    }
  }
}

// A hinge whose rest angle is 170 degrees and that is folded to 190 is off by 20.
static void the_shorter_way_counts(void** state) {
  (void)state;
  int32_t node[4] = {0, 1, 2, 3};
  double rest, stiffness = 2.0, x[12];
  NoliHinges hinges = {.n_hinge = 1, .node = node, .rest = &rest, .stiffness = &stiffness};
  fold(170.0 * PI / 180.0, 0.5, x);
  rest = noli_hinge_angle(x);
  fold(190.0 * PI / 180.0, 0.5, x);
  double off = 20.0 * PI / 180.0;
  ASSERT_NEAR(energy_at(&hinges, x), off * off, 1e-12);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(angles_are_those_of_the_fold),
      cmocka_unit_test(derivatives_of_the_angle),
      cmocka_unit_test(derivatives_of_slivers),
      cmocka_unit_test(equilateral_plates_bend_like_plates),
      cmocka_unit_test(three_sheets_meet_on_a_line),
      cmocka_unit_test(derivatives_and_projection_of_the_energy),
      cmocka_unit_test(the_shorter_way_counts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
