// Curved tetrahedra: numbering, change of order, files, truly round shapes.
#include "mesh_support.h"

#include "math/lagrange.h"
#include "math/quadrature.h"
#include "mesh/curve.h"

#define PI 3.14159265358979323846

// Position and determinant of the shape of a tetrahedron at xi.
static void shape_at(const NoliMesh* mesh, int64_t t, const double xi[3], double x[3],
                     double* det) {
  double X[3 * NOLI_TET_NODES_MAX], value[NOLI_TET_NODES_MAX], gradient[3 * NOLI_TET_NODES_MAX];
  double column[3][3] = {{0.0}}, normal[3];
  noli_mesh_shape_nodes(mesh, t, X);
  noli_tet_shape(noli_mesh_order(mesh), xi, value, gradient);
  memset(x, 0, 3 * sizeof *x);
  for (int32_t a = 0; a < noli_tet_nodes(noli_mesh_order(mesh)); a++) {
    for (int i = 0; i < 3; i++) {
      x[i] += value[a] * X[3 * a + i];
      for (int k = 0; k < 3; k++) {
        column[k][i] += gradient[3 * a + k] * X[3 * a + i];
      }
    }
  }
  cross(column[0], column[1], normal);
  *det = dot(normal, column[2]);
}

// The volume, exact for every order; the smallest determinant at its points.
static double volume(NoliContext* context, const NoliMesh* mesh, double* least) {
  NoliQuadrature rule;
  double sum = 0.0, det = 0.0, x[3];
  *least = (double)INFINITY;
  ASSERT_OK(noli_quadrature_tet(context, 3 * (noli_mesh_order(mesh) - 1), &rule));
  for (int64_t t = 0; t < mesh->n_tet; t++) {
    for (int32_t q = 0; q < rule.n; q++) {
      shape_at(mesh, t, rule.xi + 3 * q, x, &det);
      sum += rule.weight[q] * det;
      *least = noli_smaller(*least, det);
    }
  }
  noli_quadrature_free(context, &rule);
  return sum;
}

// Largest distance between the shapes of two meshes of the same tetrahedra.
static double difference(const NoliMesh* a, const NoliMesh* b) {
  TestRandom random = {5};
  double worst = 0.0, xa[3], xb[3], det = 0.0;
  for (int64_t t = 0; t < a->n_tet; t++) {
    const double xi[3] = {test_random(&random, 0.0, 0.33), test_random(&random, 0.0, 0.33),
                          test_random(&random, 0.0, 0.33)};
    shape_at(a, t, xi, xa, &det);
    shape_at(b, t, xi, xb, &det);
    for (int i = 0; i < 3; i++) {
      worst = noli_larger(worst, fabs(xa[i] - xb[i]));
    }
  }
  return worst;
}

// A box whose tetrahedra begin at any of their vertices.
static NoliMesh* mixed_box(NoliContext* context) {
  NoliMesh* mesh = NULL;
  TestRandom random = {9};
  ASSERT_OK(
      noli_mesh_make_box(context, (double[3]){1.0, 1.2, 0.9}, (int32_t[3]){2, 2, 2}, false, &mesh));
  for (int64_t t = 0; t < mesh->n_tet; t++) {
    int32_t* tet = mesh->tet + 4 * t;
    // exchanging two pairs keeps the orientation
    for (int turn = 0; turn < 3; turn++) {
      int other = 1 + (int)(test_random_bits(&random) % 3);
      int a = other % 3 + 1, b = a % 3 + 1;
      int32_t kept = tet[0];
      tet[0] = tet[other];
      tet[other] = kept;
      kept = tet[a];
      tet[a] = tet[b];
      tet[b] = kept;
    }
  }
  return mesh;
}

// Nodes coincide exactly if their positions do.
static void nodes_are_shared(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh* mesh = mixed_box(context);
  double least = 0.0;
  assert_true(volume(context, mesh, &least) > 0.0);

  // each order
  for (int32_t order = 1; order <= NOLI_MESH_ORDER_MAX; order++) {
    ASSERT_OK(noli_mesh_set_order(context, mesh, order));

    // a box of 2 x 2 x 2 cells holds (2 p + 1)^3 nodes
    int32_t n = (2 * order + 1) * (2 * order + 1) * (2 * order + 1);
    assert_int_equal(mesh->n_vert + mesh->n_curve, n);
    for (int32_t a = 0; a < mesh->n_curve; a++) {
      for (int32_t b = 0; b < a; b++) {
        double way[3];
        subtract(mesh->curve_x + 3 * (int64_t)a, mesh->curve_x + 3 * (int64_t)b, way);
        assert_true(dot(way, way) > 1e-6);
      }
    }

    // every tetrahedron finds its nodes where a straight one has them
    ASSERT_NEAR(volume(context, mesh, &least), 1.08, 1e-13);
    ASSERT_AT_LEAST(least, 0.13);
    int32_t width = noli_tet_nodes(order) - 4, local[NOLI_TET_NODES_MAX][4];
    noli_tet_lattice(order, local);
    for (int64_t t = 0; t < mesh->n_tet; t++) {
      for (int32_t a = 0; a < width; a++) {
        for (int i = 0; i < 3; i++) {
          double want = 0.0;
          for (int k = 0; k < 4; k++) {
            want += mesh->x[3 * (int64_t)mesh->tet[4 * t + k] + i] * local[a + 4][k] / order;
          }
          ASSERT_NEAR(mesh->curve_x[3 * (int64_t)mesh->curve[t * width + a] + i], want, 1e-15);
        }
      }
    }
  }
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

static void raising_the_order_keeps_the_shape(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  for (int32_t order = 1; order <= NOLI_MESH_ORDER_MAX; order++) {
    NoliMesh *mesh = NULL, *raised = NULL;
    ASSERT_OK(noli_mesh_make_curved_sphere(context, 1.0, 2, order, &mesh));
    ASSERT_OK(noli_mesh_make_curved_sphere(context, 1.0, 2, order, &raised));
    for (int32_t higher = order; higher <= NOLI_MESH_ORDER_MAX; higher++) {
      ASSERT_OK(noli_mesh_set_order(context, raised, higher));
      ASSERT_AT_MOST(difference(mesh, raised), 1e-14);
    }
    // and back: interpolation of a function of the lower order
    ASSERT_OK(noli_mesh_set_order(context, raised, order));
    ASSERT_AT_MOST(difference(mesh, raised), 1e-14);
    noli_mesh_destroy(context, &mesh);
    noli_mesh_destroy(context, &raised);
  }
  test_context_done(&context);
}

// The error of the volume falls like h^(g + 1) at least; all determinants stay positive.
static void curved_spheres_converge(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  double exact = 4.0 / 3.0 * PI;
  for (int32_t order = 1; order <= NOLI_MESH_ORDER_MAX; order++) {
    double error[2], least = 0.0;
    for (int level = 0; level < 2; level++) {
      NoliMesh* mesh = NULL;
      ASSERT_OK(noli_mesh_make_curved_sphere(context, 1.0, 4 << level, order, &mesh));
      error[level] = fabs(volume(context, mesh, &least) - exact) / exact;
      assert_true(least > 0.0);
      noli_mesh_destroy(context, &mesh);
    }
    double rate = log2(error[0] / error[1]);
    print_message("sphere of order %d: volume off by %.2e with 4, %.2e with 8 cells, order %.2f\n",
                  order, error[0], error[1], rate);
    ASSERT_AT_LEAST(rate, order % 2 == 0 ? order + 1.7 : order + 0.7);
  }
  test_context_done(&context);
}

static void curved_cylinders_are_round(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  double least = 0.0, before = 1.0;
  for (int32_t order = 1; order <= NOLI_MESH_ORDER_MAX; order++) {
    NoliMesh* mesh = NULL;
    ASSERT_OK(noli_mesh_make_curved_cylinder(context, 0.5, 2.0, 4, 3, order, &mesh));
    double error = fabs(volume(context, mesh, &least) / (0.5 * PI) - 1.0);
    assert_true(least > 0.0);
    assert_true(error < before);
    before = error;
    noli_mesh_destroy(context, &mesh);
  }
  ASSERT_AT_MOST(before, 1e-5);
  test_context_done(&context);
}

// Straight shapes raised, and their boundary moved onto the sphere and the cylinder.
static void boundaries_move_onto_surfaces(void** state) {
  (void)state;
  NoliContext* context = test_context(1);

  // a ball
  const double origin[3] = {0.0, 0.0, 0.0}, axis[3] = {0.0, 3.0, 0.0};
  for (int32_t order = 2; order <= NOLI_MESH_ORDER_MAX; order++) {
    NoliMesh* mesh = NULL;
    double least = 0.0;
    int32_t n_moved = 0;
    ASSERT_OK(noli_mesh_make_sphere(context, 1.0, 4, false, &mesh));
    double straight = volume(context, mesh, &least);
    ASSERT_OK(noli_mesh_set_order(context, mesh, order));
    ASSERT_OK(noli_mesh_curve_onto(context, mesh, origin, NULL, 1.0, 1e-9, &n_moved));

    // 192 triangles and 288 edges
    assert_int_equal(n_moved, 288 * (order - 1) + 192 * (order - 1) * (order - 2) / 2);
    double round = volume(context, mesh, &least), want = 4.0 / 3.0 * PI;
    assert_true(least > 0.0);
    // order 3 ends up with nodes that are not evenly spaced on the arcs
    static const double share[] = {[2] = 0.01, [3] = 0.004, [4] = 0.002};
    ASSERT_AT_MOST(fabs(round - want), share[order] * fabs(straight - want));
    noli_mesh_destroy(context, &mesh);

    // a cylinder
    ASSERT_OK(noli_mesh_make_cylinder(context, 0.5, 2.0, 4, 3, false, &mesh));
    straight = volume(context, mesh, &least);
    ASSERT_OK(noli_mesh_set_order(context, mesh, order));
    ASSERT_OK(noli_mesh_curve_onto(context, mesh, origin, axis, 0.5, 1e-9, &n_moved));
    assert_true(n_moved > 0);
    round = volume(context, mesh, &least);
    assert_true(least > 0.0);
    ASSERT_AT_MOST(fabs(round - 0.5 * PI), 0.05 * fabs(straight - 0.5 * PI));
    noli_mesh_destroy(context, &mesh);
  }
  test_context_done(&context);
}

static void written_and_read_back(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  for (int32_t order = 2; order <= NOLI_MESH_ORDER_MAX; order++) {
    NoliMesh *mesh = NULL, *back = NULL;
    ASSERT_OK(noli_mesh_make_curved_sphere(context, 1.0, 2, order, &mesh));
    ASSERT_OK(noli_mesh_write(context, "curved.msh", mesh));
    ASSERT_OK(noli_mesh_read(context, "curved.msh", &back));
    assert_same_mesh(mesh, back);
    assert_int_equal(back->order, order);
    assert_int_equal(back->n_curve, mesh->n_curve);
    // nodes of curves are numbered as they occur
    ASSERT_AT_MOST(difference(mesh, back), 0.0);
    ASSERT_STATUS(noli_mesh_write(context, "curved.vtk", mesh), NOLI_ERROR_ARGUMENT);
    assert_non_null(strstr(noli_context_message(context), "curved"));
    noli_mesh_destroy(context, &mesh);
    noli_mesh_destroy(context, &back);
  }
  remove("curved.msh");
  test_context_done(&context);
}

// Ten nodes in a file whose numbering has gaps, with one curved triangle of the boundary, in text
// and in binary of either byte order.
static void quadratic_tetrahedron_of_a_file(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  static const double x[10][3] = {{0, 0, 0},     {1, 0, 0},     {0, 1, 0},   {0, 0, 1},
                                  {0.5, -.1, 0}, {0.5, 0.5, 0}, {0, 0.5, 0}, {0, 0, 0.5},
                                  {0, 0.5, 0.5}, {0.5, 0, 0.5}};

  // text, and binary of both byte orders
  for (int form = 0; form < 3; form++) {
    TestBytes bytes = {.swap = form == 2};
    char line[128];
    put_string(&bytes, form == 0 ? "$MeshFormat\n2.2 0 8\n" : "$MeshFormat\n2.2 1 8\n");
    if (form > 0) {
      put_i32(&bytes, 1);
      put_string(&bytes, "\n");
    }

    // nodes in the order of Gmsh
    put_string(&bytes, "$EndMeshFormat\n$Nodes\n10\n");
    for (int v = 0; v < 10; v++) {
      if (form == 0) {
        snprintf(line, sizeof line, "%d %g %g %g\n", 10 * v + 5, x[v][0], x[v][1], x[v][2]);
        put_string(&bytes, line);
        continue;
      }
      put_i32(&bytes, 10 * v + 5);
      for (int i = 0; i < 3; i++) {
        put_f64(&bytes, x[v][i]);
      }
    }

    // a triangle and a tetrahedron
    put_string(&bytes, "$EndNodes\n$Elements\n2\n");
    if (form == 0) {
      put_string(&bytes, "1 9 1 7 5 25 15 65 55 45\n2 11 1 8 5 15 25 35 45 55 65 75 85 95\n");
    } else {
      const int32_t tri[] = {9, 1, 1, 1, 7, 5, 25, 15, 65, 55, 45};
      const int32_t tet[] = {11, 1, 1, 2, 8, 5, 15, 25, 35, 45, 55, 65, 75, 85, 95};
      for (size_t i = 0; i < sizeof tri / sizeof tri[0]; i++) {
        put_i32(&bytes, tri[i]);
      }
      for (size_t i = 0; i < sizeof tet / sizeof tet[0]; i++) {
        put_i32(&bytes, tet[i]);
      }
    }
    put_string(&bytes, "$EndElements\n");

    // the mesh
    NoliMesh* mesh = must_read(context, "ten.msh", bytes.data, bytes.n);
    assert_int_equal(mesh->n_vert, 4);
    assert_int_equal(mesh->n_tet, 1);
    assert_int_equal(mesh->n_tri, 1);
    assert_int_equal(mesh->order, 2);
    assert_int_equal(mesh->n_curve, 6);
    assert_int_equal(mesh->tri_tag[0], 7);
    assert_int_equal(mesh->tet_tag[0], 8);
    assert_memory_equal(mesh->tri, ((int32_t[3]){0, 2, 1}), 12);
    double nodes[30];
    noli_mesh_shape_nodes(mesh, 0, nodes);
    assert_memory_equal(nodes, x, sizeof x);
    noli_mesh_destroy(context, &mesh);
  }
  test_context_done(&context);
}

static void mirrors_and_turns(void** state) {
  (void)state;
  NoliContext* context = test_context(1);

  // a reflection keeps the orientation
  for (int32_t order = 2; order <= NOLI_MESH_ORDER_MAX; order++) {
    NoliMesh* mesh = NULL;
    double least = 0.0;
    ASSERT_OK(noli_mesh_make_curved_sphere(context, 1.0, 3, order, &mesh));
    double before = volume(context, mesh, &least);
    noli_mesh_transform(mesh, (double[3]){-1.0, 2.0, 1.0}, (double[3]){20.0, 30.0, 40.0},
                        (double[3]){1.0, 2.0, 3.0});
    ASSERT_NEAR(volume(context, mesh, &least), 2.0 * before, 1e-13);
    assert_true(least > 0.0);

    // inverted, and restored
    for (int64_t v = 0; v < mesh->n_vert; v++) {
      mesh->x[3 * v] *= -1.0;
    }
    for (int64_t v = 0; v < mesh->n_curve; v++) {
      mesh->curve_x[3 * v] *= -1.0;
    }
    ASSERT_NEAR(volume(context, mesh, &least), -2.0 * before, 1e-13);
    assert_int_equal(noli_mesh_orient(mesh), mesh->n_tet);
    ASSERT_NEAR(volume(context, mesh, &least), 2.0 * before, 1e-13);
    assert_true(least > 0.0);

    // the check finds bad nodes
    NoliMeshCheck check;
    mesh->curve_x[4] = (double)NAN;
    mesh->curve[7] = mesh->n_curve;
    ASSERT_OK(noli_mesh_check(context, mesh, &check));
    assert_int_equal(check.n_bad_coordinates, 1);
    assert_int_equal(check.first_bad_vertex, mesh->n_vert + 1);
    assert_int_equal(check.n_bad_indices, 1);
    ASSERT_STATUS(noli_mesh_set_order(context, mesh, 2), NOLI_ERROR_ARGUMENT);
    noli_mesh_destroy(context, &mesh);
  }
  test_context_done(&context);
}

static void refused(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh* mesh = mixed_box(context);
  const double origin[3] = {0.0, 0.0, 0.0};
  ASSERT_STATUS(noli_mesh_set_order(context, mesh, 5), NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_mesh_set_order(context, mesh, 0), NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_mesh_curve_onto(context, mesh, origin, NULL, 1.0, 1e-9, NULL),
                NOLI_ERROR_ARGUMENT);
  ASSERT_OK(noli_mesh_set_order(context, mesh, 2));
  ASSERT_STATUS(noli_mesh_curve_onto(context, mesh, origin, origin, 1.0, 1e-9, NULL),
                NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_mesh_curve_onto(context, mesh, origin, NULL, -1.0, 1e-9, NULL),
                NOLI_ERROR_ARGUMENT);
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

// Public spheres of orders 2, 3 and 4 made by Gmsh: the orders of nodes agree, or the determinants
// would not be positive.
static void public_spheres(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  for (int32_t order = 2; order <= NOLI_MESH_ORDER_MAX; order++) {
    char name[128], path[512];
    snprintf(name, sizeof name, "polyfem/contact/meshes/3D/simple/sphere/coarse/P%d.msh", order);
    if (test_data(name, path, sizeof path) == NULL) {
      continue;
    }
    NoliMesh* mesh = NULL;
    double least = 0.0;
    ASSERT_OK(noli_mesh_read(context, path, &mesh));
    assert_int_equal(mesh->order, order);
    assert_int_equal(mesh->n_tet, 30);
    assert_int_equal(mesh->n_tri, order == 4 ? 30 : 0);
    double got = volume(context, mesh, &least), radius = 0.0;
    for (int64_t v = 0; v < mesh->n_curve; v++) {
      radius = noli_larger(radius, sqrt(dot(mesh->curve_x + 3 * v, mesh->curve_x + 3 * v)));
    }
    double want = 4.0 / 3.0 * PI * radius * radius * radius;
    print_message("%s: %d vertices, %d nodes of curves, volume off by %.2e, minimum det %.3g\n",
                  name, mesh->n_vert, mesh->n_curve, got / want - 1.0, least);
    assert_true(least > 0.0);
    ASSERT_AT_MOST(fabs(got / want - 1.0), 0.03);
    noli_mesh_destroy(context, &mesh);
  }
  test_context_done(&context);
}

// Nodes between vertices follow an affine displacement of these exactly.
static void nodes_follow_vertices(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  for (int32_t order = 1; order <= 4; order++) {
    NoliMesh* mesh = NULL;
    ASSERT_OK(noli_mesh_make_curved_sphere(context, 0.8, 2, order, &mesh));
    double* by = calloc(3 * (size_t)mesh->n_vert, sizeof *by);
    double* before = calloc(3 * (size_t)mesh->n_curve + 1, sizeof *before);
    memcpy(before, mesh->curve_x != NULL ? mesh->curve_x : by,
           3 * sizeof *before * (size_t)mesh->n_curve);
    for (int32_t i = 0; i < mesh->n_vert; i++) {
      by[3 * i] = 0.25;
      by[3 * i + 2] = i == 3 ? 0.5 : 0.0;
    }
    ASSERT_OK(noli_curve_follow(context, mesh, by));
    double moved = 0.0;
    for (int32_t i = 0; i < mesh->n_curve; i++) {
      ASSERT_NEAR(mesh->curve_x[3 * i] - before[3 * i], 0.25, 1e-15);
      ASSERT_NEAR(mesh->curve_x[3 * i + 1] - before[3 * i + 1], 0.0, 0.0);
      moved = noli_larger(moved, mesh->curve_x[3 * i + 2] - before[3 * i + 2]);
    }
    ASSERT_NEAR(moved, order > 1 ? 0.5 * (order - 1) / order : 0.0, 1e-15);
    free(by);
    free(before);
    noli_mesh_destroy(context, &mesh);
  }
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nodes_follow_vertices),
      cmocka_unit_test(nodes_are_shared),
      cmocka_unit_test(raising_the_order_keeps_the_shape),
      cmocka_unit_test(curved_spheres_converge),
      cmocka_unit_test(curved_cylinders_are_round),
      cmocka_unit_test(boundaries_move_onto_surfaces),
      cmocka_unit_test(written_and_read_back),
      cmocka_unit_test(quadratic_tetrahedron_of_a_file),
      cmocka_unit_test(mirrors_and_turns),
      cmocka_unit_test(refused),
      cmocka_unit_test(public_spheres),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
