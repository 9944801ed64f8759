// Pressures and tractions on faces of elements of order 1 to 4, straight and curved.
#include "support.h"

#include "fem/loads/curved_faces.h"
#include "fem/loads/pressure.h"
#include "math/vec3.h"

#include <string.h>

#define PI 3.14159265358979323846
#define RADIUS 0.7

enum { NODES = NOLI_TRI_NODES_MAX, DOFS = 3 * NODES };

static bool has_corners(const NoliMesh* mesh, int32_t t, const int32_t corner[3]) {
  int found = 0;
  for (int k = 0; k < 12; k++) {
    found += mesh->tet[4 * (int64_t)t + k / 3] == corner[k % 3] ? 1 : 0;
  }
  return found == 3;
}

// The faces of a mesh that belong to one tetrahedron, and whose corners `wanted` accepts.
static int32_t boundary(const NoliMesh* mesh, bool (*wanted)(const double* x), NoliTetFace* face) {
  int32_t n = 0;
  for (int32_t t = 0; t < mesh->n_tet; t++) {
    for (int32_t side = 0; side < 4; side++) {
      int32_t local[NODES], corner[3], twins = 0;
      bool good = true;
      (void)noli_tet_face_nodes(1, side, local);
      for (int k = 0; k < 3; k++) {
        corner[k] = mesh->tet[4 * (int64_t)t + local[k]];
        good = good && wanted(mesh->x + 3 * (int64_t)corner[k]);
      }
      for (int32_t u = 0; good && u < mesh->n_tet; u++) {
        twins += has_corners(mesh, u, corner) ? 1 : 0;
      }
      if (twins == 1) {
        face[n++] = (NoliTetFace){t, side};
      }
    }
  }
  return n;
}

static bool anywhere(const double* x) {
  (void)x;
  return true;
}

static bool on_top(const double* x) {
  return x[1] > 0.5 - 1e-9;
}

// A ball, or a box of 1 m, with its boundary faces.
typedef struct Solid {
  NoliContext* context;
  NoliMesh* mesh;
  NoliSpace space;
  NoliCurvedFaces faces;
} Solid;

static void make_solid(Solid* s, bool ball, int32_t shape, int32_t order,
                       bool (*wanted)(const double* x)) {
  s->context = test_context(1);
  const double size[3] = {1.0, 1.0, 1.0};
  const int32_t cells[3] = {1, 1, 1};
  if (ball) {
    ASSERT_OK(noli_mesh_make_curved_sphere(s->context, RADIUS, 2, shape, &s->mesh));
  } else {
    ASSERT_OK(noli_mesh_make_box(s->context, size, cells, false, &s->mesh));
  }
  ASSERT_OK(noli_space_create(s->context, s->mesh, order, &s->space));
  NoliTetFace* face = malloc(4 * sizeof *face * (size_t)s->mesh->n_tet);
  int32_t n = boundary(s->mesh, wanted, face);
  ASSERT_OK(noli_curved_faces_create(s->context, &s->space, 0, n, face, &s->faces));
  free(face);
}

static void free_solid(Solid* s) {
  noli_curved_faces_free(s->context, &s->faces);
  noli_space_destroy(s->context, &s->space);
  noli_mesh_destroy(s->context, &s->mesh);
  test_context_done(&s->context);
}

// A pressure of the same value everywhere; the caller frees it.
static double* uniform(const NoliCurvedFaces* faces, double value) {
  int64_t n = (int64_t)faces->n * faces->n_node;
  double* all = malloc(sizeof *all * (size_t)n);
  for (int64_t i = 0; i < n; i++) {
    all[i] = value;
  }
  return all;
}

// The forces with those of the mantle, N; the caller frees them.
static double* follower_forces(const Solid* s, const NoliCurvedPressure* data, const double* x) {
  const NoliCurvedFaces* faces = data->faces;
  double* force = calloc(3 * (size_t)s->space.n_node, sizeof *force);
  double* g = malloc(3 * sizeof *g * (size_t)faces->n * (size_t)faces->n_node);
  NoliEnergyTerm term = noli_curved_pressure_term(data);
  NoliLocal out = {.gradient = g};
  term.evaluate(term.data, x, 0, faces->n, NOLI_EVAL_GRADIENT, &out);
  noli_curved_pressure_add_mantle(data, x, force);
  for (int64_t i = 0; i < 3 * (int64_t)faces->n * faces->n_node; i++) {
    force[3 * (int64_t)faces->node[i / 3] + i % 3] -= g[i];
  }
  free(g);
  return force;
}

// ---- derivatives --------------------------------------------------------------------------------

static void evaluate(const NoliCurvedPressure* data, const double* x, double* energy, double* g,
                     double* H) {
  double block[9 * NODES * (NODES + 1) / 2];
  int32_t n = data->faces->n_node;
  NoliEnergyTerm term = noli_curved_pressure_term(data);
  NoliLocal out = {.energy = energy, .gradient = g, .hessian = block};
  noli_term_prepare(&term, x, 1);
  term.evaluate(term.data, x, 0, 1, NOLI_EVAL_ENERGY | NOLI_EVAL_GRADIENT | NOLI_EVAL_HESSIAN,
                &out);
  for (int32_t a = 0; H != NULL && a < n; a++) {
    for (int32_t b = a; b < n; b++) {
      const double* from = block + 9 * noli_stencil_block(n, a, b);
      for (int32_t i = 0; i < 9; i++) {
        H[(3 * a + i / 3) * 3 * n + 3 * b + i % 3] = from[i];
        H[(3 * b + i % 3) * 3 * n + 3 * a + i / 3] = from[i];
      }
    }
  }
}

// A face far from its rest shape, with a pressure that varies; also collapsed to a segment.
static void derivatives_match_differences(void** state) {
  (void)state;
  TestRandom random = {11};
  for (int round = 0; round < 32; round++) {
    int32_t order = 1 + round % 4, shape = 1 + round / 4 % 3;
    Solid s = {0};
    make_solid(&s, true, shape, order, anywhere);
    NoliCurvedFaces one = s.faces;
    one.n = 1;
    int32_t list[NODES], n = 3 * one.n_node;
    double x[DOFS], value[NODES], origin[3], magnitude, energy[2], e;
    double g[DOFS], up[DOFS], down[DOFS];
    double* H = malloc(sizeof *H * DOFS * DOFS);
    for (int32_t a = 0; a < one.n_node; a++) {
      list[a] = a;
      value[a] = test_random(&random, 1.0, 2.0);
      for (int k = 0; k < 3; k++) {
        x[3 * a + k] = round >= 28 && k > 0 ? 0.5 : test_random(&random, -1.0, 1.0);
      }
    }
    one.node = list;
    for (int k = 0; k < 3; k++) {
      origin[k] = test_random(&random, -2.0, 2.0);
    }
    NoliCurvedPressure data = {&one, value, origin, 0.3, &magnitude};
    evaluate(&data, x, &e, g, H);
    ASSERT_NEAR(magnitude, fabs(e), 1e-14 * magnitude);
    ASSERT_NEAR(e, 0.3 * noli_curved_pressure_energy(&data, x), 1e-12);
    double largest = 0.0, h = 1e-4; // the energy is cubic: errors of h^2 / 6 and of rounding
    for (int j = 0; j < n; j++) {
      double middle = x[j];
      x[j] = middle + h;
      evaluate(&data, x, &energy[0], up, NULL);
      x[j] = middle - h;
      evaluate(&data, x, &energy[1], down, NULL);
      x[j] = middle;
      ASSERT_NEAR((energy[0] - energy[1]) / (2.0 * h), g[j], 1e-8);
      for (int i = 0; i < n; i++) {
        ASSERT_NEAR((up[i] - down[i]) / (2.0 * h), H[i * n + j], 1e-8);
        largest = noli_larger(largest, fabs(H[i * n + j]));
      }
    }
    assert_true(largest > 0.01);
    free(H);
    free_solid(&s);
  }
}

// Faces of order 1 are those of fem/loads/pressure.h.
static void order_1_is_that_of_triangles(void** state) {
  (void)state;
  Solid s = {0};
  make_solid(&s, true, 1, 1, anywhere);
  double origin[3] = {0.3, -0.2, 0.9}, magnitude, other_magnitude;
  double *value = uniform(&s.faces, 3.0), *from = malloc(3 * sizeof *from * (size_t)s.faces.n);
  for (int64_t i = 0; i < 3 * (int64_t)s.faces.n; i++) {
    from[i] = origin[i % 3];
  }
  NoliFaces triangles = {s.faces.n, s.faces.node};
  NoliCurvedPressure data = {&s.faces, value, origin, 1.0, &magnitude};
  NoliPressure plain = {&triangles, value, from, 1.0, &other_magnitude};
  double* force = follower_forces(&s, &data, s.space.X);
  double want = noli_pressure_energy(&plain, s.space.X);
  ASSERT_NEAR(noli_curved_pressure_energy(&data, s.space.X), want, 1e-13 * want);
  double g[9];
  NoliEnergyTerm term = noli_pressure_term(&plain);
  noli_pressure_add_mantle(&plain, 0, s.faces.n, s.space.X, force);
  for (int32_t i = 0; i < s.faces.n; i++) {
    NoliLocal out = {.gradient = g};
    term.evaluate(term.data, s.space.X, i, i + 1, NOLI_EVAL_GRADIENT, &out);
    for (int k = 0; k < 9; k++) {
      force[3 * s.faces.node[3 * i + k / 3] + k % 3] += g[k];
    }
  }
  for (int32_t i = 0; i < 3 * s.space.n_node; i++) {
    ASSERT_NEAR(force[i], 0.0, 1e-13); // the mantle of the closed surface vanishes
  }
  free(value), free(from), free(force);
  free_solid(&s);
}

// ---- forces -------------------------------------------------------------------------------------

// A ball under a uniform pressure, at rest or distorted: the potential is pressure times volume,
// the mantle vanishes for any origin, and so do the sums of forces and moments.
static void closed_surfaces_balance(void** state) {
  (void)state;
  for (int32_t shape = 1; shape <= 4; shape++) {
    for (int32_t order = 1; order <= 4; order++) {
      Solid s = {0};
      make_solid(&s, true, shape, order, anywhere);
      double origin[3] = {0.4, -1.3, 0.8}, magnitude, volume = 0.0;
      double* value = uniform(&s.faces, 2e3);
      NoliCurvedPressure data = {&s.faces, value, origin, 1.0, &magnitude};
      NoliQuadrature rule;
      ASSERT_OK(noli_quadrature_tet(s.context, 3 * shape, &rule));
      for (int32_t t = 0; t < s.mesh->n_tet; t++) {
        for (int32_t q = 0; q < rule.n; q++) {
          NoliMat3 derivative = noli_space_dxdxi(&s.space, t, rule.xi + 3 * q);
          volume += rule.weight[q] * noli_det33(&derivative);
        }
      }
      noli_quadrature_free(s.context, &rule);
      ASSERT_NEAR(noli_curved_pressure_energy(&data, s.space.X), 2e3 * volume, 1e-9 * volume);
      double ball = 4.0 / 3.0 * PI * RADIUS * RADIUS * RADIUS;
      const double off[4] = {0.6, 0.02, 0.01, 0.001};
      ASSERT_NEAR(volume / ball, 1.0, off[shape - 1]);

      // distort it
      double* x = malloc(3 * sizeof *x * (size_t)s.space.n_node);
      for (int32_t i = 0; i < s.space.n_node; i++) {
        const double* X = s.space.X + 3 * i;
        x[3 * i] = X[0] + 0.3 * X[1] * X[1];
        x[3 * i + 1] = 1.2 * X[1] + 0.2 * X[0] * X[2];
        x[3 * i + 2] = X[2] - 0.4 * X[0];
      }
      double *force = follower_forces(&s, &data, x), largest = 0.0, mantle_largest = 0.0;
      double* mantle = calloc(3 * (size_t)s.space.n_node, sizeof *mantle);
      NoliVec3 sum = {0}, moment = {0};
      noli_curved_pressure_add_mantle(&data, x, mantle);
      for (int32_t i = 0; i < s.space.n_node; i++) {
        NoliVec3 f = noli_load3(force + 3 * i);
        sum = noli_add3(sum, f);
        moment = noli_add3(moment, noli_cross3(noli_load3(x + 3 * i), f));
        largest = noli_larger(largest, noli_norm3(f));
        mantle_largest = noli_larger(mantle_largest, noli_norm3(noli_load3(mantle + 3 * i)));
      }
      assert_true(largest > 10.0);
      ASSERT_NEAR(mantle_largest, 0.0, 1e-9);
      ASSERT_NEAR(noli_norm3(sum), 0.0, 1e-9);
      if (shape <= order) { // otherwise the moment of the rigid part is missing
        ASSERT_NEAR(noli_norm3(moment), 0.0, 1e-9);
      }
      free(x), free(value), free(force), free(mantle);
      free_solid(&s);
    }
  }
}

// The upper side of a box, at (2 x, 3 y, z): linear pressures act on the current area, linear
// tractions on that at rest; forces and moments have closed forms, for any origin.
static void open_surfaces_have_closed_forms(void** state) {
  (void)state;
  for (int32_t order = 1; order <= 4; order++) {
    Solid s = {0};
    make_solid(&s, false, 1, order, on_top);
    assert_int_equal(s.faces.n, 2);
    double origin[3] = {0.4, -1.3, 0.8}, magnitude;
    double* x = malloc(3 * sizeof *x * (size_t)s.space.n_node);
    double* t = calloc(3 * (size_t)s.space.n_node, sizeof *t);
    double* traction = calloc(3 * (size_t)s.space.n_node, sizeof *traction);
    double* value = uniform(&s.faces, 0.0);
    for (int32_t i = 0; i < s.space.n_node; i++) {
      const double* X = s.space.X + 3 * i;
      x[3 * i] = 2.0 * X[0];
      x[3 * i + 1] = 3.0 * X[1];
      x[3 * i + 2] = X[2];
      t[3 * i] = 5.0 + 7.0 * X[0];
    }
    for (int32_t i = 0; i < s.faces.n * s.faces.n_node; i++) {
      value[i] = t[3 * s.faces.node[i]];
    }
    NoliCurvedPressure data = {&s.faces, value, origin, 1.0, &magnitude};
    double* force = follower_forces(&s, &data, x);
    noli_curved_faces_add_traction(&s.faces, t, traction);
    double sum[6] = {0}, moment[2] = {0};
    for (int32_t i = 0; i < s.space.n_node; i++) {
      for (int k = 0; k < 3; k++) {
        sum[k] += force[3 * i + k];
        sum[3 + k] += traction[3 * i + k];
      }
      moment[0] += s.space.X[3 * i] * force[3 * i + 1];
      moment[1] += s.space.X[3 * i] * traction[3 * i];
    }
    // the mean of X^2 is 1/12
    const double want[6] = {0.0, -2.0 * 5.0, 0.0, 5.0, 0.0, 0.0};
    for (int k = 0; k < 6; k++) {
      ASSERT_NEAR(sum[k], want[k], 1e-12);
    }
    ASSERT_NEAR(moment[0], -2.0 * 7.0 / 12.0, 1e-12);
    ASSERT_NEAR(moment[1], 7.0 / 12.0, 1e-12);
    free(x), free(t), free(traction), free(value), free(force);
    free_solid(&s);
  }
}

static void refused_memory(void** state) {
  (void)state;
  Solid s = {0};
  make_solid(&s, true, 3, 2, anywhere);
  TestMemory memory;
  NoliContext* context = test_context_on(&memory, 1);
  NoliStatus status = NOLI_ERROR_MEMORY;
  for (int64_t k = 1; status == NOLI_ERROR_MEMORY; k++) {
    NoliCurvedFaces faces;
    const NoliTetFace one = {0, 1};
    test_refuse(&memory, k);
    status = noli_curved_faces_create(context, &s.space, 0, 1, &one, &faces);
    test_refuse(&memory, 0);
    assert_true((faces.node == NULL) == (status != NOLI_OK));
    noli_curved_faces_free(context, &faces);
    assert_true(k < 20);
  }
  assert_int_equal(status, NOLI_OK);
  test_context_done(&context);
  free_solid(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_match_differences),
      cmocka_unit_test(order_1_is_that_of_triangles),
      cmocka_unit_test(closed_surfaces_balance),
      cmocka_unit_test(open_surfaces_have_closed_forms),
      cmocka_unit_test(refused_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
