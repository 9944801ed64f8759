// Density fits reach the mass and the centre of mass with the smallest possible change, and reject
// targets that cannot be reached.
#include "support.h"

#include "fem/density_fit.h"

enum { N_MAX = 200 };

typedef struct Body {
  NoliContext* context;
  NoliMesh* mesh;
  NoliSpace space;
  int32_t n;
  double volume[N_MAX], moment[3 * N_MAX], density[N_MAX];
} Body;

static void body_begin(Body* body) {
  *body = (Body){.context = test_context(1)};
  ASSERT_OK(noli_mesh_make_box(body->context, (double[3]){1.0, 2.0, 0.5}, (int32_t[3]){3, 2, 2},
                               false, &body->mesh));
  noli_mesh_transform(body->mesh, (double[3]){1, 1, 1}, (double[3]){0, 0, 0},
                      (double[3]){5.0, 1.0, -3.0});
  ASSERT_OK(noli_space_create(body->context, body->mesh, 1, &body->space));
  body->n = body->space.n_tet;
  assert_true(body->n <= N_MAX);
  ASSERT_OK(noli_space_moments(body->context, &body->space, body->volume, body->moment));
  for (int32_t t = 0; t < body->n; t++) {
    body->density[t] = 1000.0;
  }
}

static void body_end(Body* body) {
  noli_space_destroy(body->context, &body->space);
  noli_mesh_destroy(body->context, &body->mesh);
  test_context_done(&body->context);
}

static double mass_of(const Body* body, const double* density, double centre[3]) {
  double mass = 0.0;
  memset(centre, 0, 3 * sizeof *centre);
  for (int32_t t = 0; t < body->n; t++) {
    mass += density[t] * body->volume[t];
    for (int k = 0; k < 3; k++) {
      centre[k] += density[t] * body->moment[3 * t + k];
    }
  }
  for (int k = 0; k < 3; k++) {
    centre[k] /= mass;
  }
  return mass;
}

static double change_of(const Body* body, const double* density) {
  double sum = 0.0;
  for (int32_t t = 0; t < body->n; t++) {
    double change = density[t] - 1000.0;
    sum += body->volume[t] * change * change;
  }
  return sum;
}

static void meets_mass_and_centre(void** state) {
  (void)state;
  Body body;
  NoliDensityFit report;
  body_begin(&body);
  const double centre[3] = {5.03, 0.9, -3.02};
  ASSERT_OK(noli_density_fit(body.context, body.n, body.volume, body.moment, 900.0, centre,
                             body.density, &report));
  double got[3];
  ASSERT_NEAR(mass_of(&body, body.density, got), 900.0, 1e-9);
  for (int k = 0; k < 3; k++) {
    ASSERT_NEAR(got[k], centre[k], 1e-12);
  }
  ASSERT_NEAR(report.mass_before, 1000.0, 1e-9);
  ASSERT_NEAR(report.centre_before[0], 5.0, 1e-12);
  assert_true(report.least_density > 0.0 && report.least_density < 900.0);
  assert_true(report.largest_density > 900.0 && report.largest_change < 1.0);

  // smallest: every other density field that meets the conditions differs by something orthogonal
  TestRandom random = {21};
  double least = change_of(&body, body.density);
  for (int trial = 0; trial < 20; trial++) {
    double other[N_MAX];
    for (int32_t t = 0; t < body.n; t++) {
      other[t] = body.density[t] * test_random(&random, 0.95, 1.05);
    }
    // the same conditions again, from there
    ASSERT_OK(noli_density_fit(body.context, body.n, body.volume, body.moment, 900.0, centre, other,
                               NULL));
    ASSERT_NEAR(mass_of(&body, other, got), 900.0, 1e-9);
    assert_true(change_of(&body, other) > least);
  }
  // the target is met already: no change
  double again[N_MAX];
  memcpy(again, body.density, sizeof again);
  ASSERT_OK(noli_density_fit(body.context, body.n, body.volume, body.moment, 900.0, centre, again,
                             &report));
  ASSERT_AT_MOST(report.largest_change, 1e-12);
  body_end(&body);
}

static void refuses(void** state) {
  (void)state;
  Body body;
  NoliDensityFit report;
  double before[N_MAX];
  body_begin(&body);
  memcpy(before, body.density, sizeof before);
  const double far[3] = {5.45, 1.0, -3.0}, middle[3] = {5.0, 1.0, -3.0};
  ASSERT_STATUS(noli_density_fit(body.context, body.n, body.volume, body.moment, 900.0, far,
                                 body.density, &report),
                NOLI_ERROR_ARGUMENT);
  assert_true(report.least_density < 0.0);
  assert_non_null(strstr(noli_context_message(body.context), "tetrahedron"));
  ASSERT_STATUS(noli_density_fit(body.context, body.n, body.volume, body.moment, 0.0, middle,
                                 body.density, NULL),
                NOLI_ERROR_ARGUMENT);
  // three tetrahedra: not enough
  ASSERT_STATUS(noli_density_fit(body.context, 3, body.volume, body.moment, 100.0, middle,
                                 body.density, NULL),
                NOLI_ERROR_ARGUMENT);
  assert_memory_equal(before, body.density, sizeof before);
  body_end(&body);
}

// The target from a fine boundary: a ball far from the origin.
static void enclosed(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh* mesh = NULL;
  int32_t *tri = NULL, n_tri = 0;
  double volume = 0.0, moment[3], sum = 0.0;
  ASSERT_OK(noli_mesh_make_sphere(context, 0.5, 6, false, &mesh));
  noli_mesh_transform(mesh, (double[3]){1, 1, 1}, (double[3]){0, 0, 0},
                      (double[3]){100.0, -50.0, 7.0});
  ASSERT_OK(noli_mesh_boundary(context, mesh, &tri, &n_tri));
  noli_density_fit_enclosed(mesh->x, n_tri, tri, &volume, moment);
  for (int64_t t = 0; t < mesh->n_tet; t++) {
    NoliVec3 x[4];
    for (int k = 0; k < 4; k++) {
      x[k] = noli_load3(mesh->x + 3 * (int64_t)mesh->tet[4 * t + k]);
    }
    sum += noli_dot3(noli_cross3(noli_sub3(x[1], x[0]), noli_sub3(x[2], x[0])),
                     noli_sub3(x[3], x[0])) /
           6.0;
  }
  ASSERT_NEAR(volume, sum, 1e-12);
  const double want[3] = {100.0, -50.0, 7.0};
  for (int k = 0; k < 3; k++) {
    ASSERT_NEAR(moment[k] / volume, want[k], 1e-11);
  }
  noli_mesh_free_array(context, &tri);
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(meets_mass_and_centre),
      cmocka_unit_test(refuses),
      cmocka_unit_test(enclosed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
