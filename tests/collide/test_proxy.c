// Collision proxies: watertight boundaries, given meshes, followers.
#include "support.h"

#include "collide/proxy.h"
#include "define/body_proxy.h"

#define PI 3.14159265358979323846

typedef struct Body {
  NoliContext* context;
  NoliMesh* mesh;
  NoliSpace space;
} Body;

static void body_begin(Body* body, int32_t order, int32_t geometry_order, int32_t cells) {
  *body = (Body){.context = test_context(2)};
  ASSERT_OK(noli_mesh_make_curved_sphere(body->context, 1.0, cells, geometry_order, &body->mesh));
  ASSERT_OK(noli_space_create(body->context, body->mesh, order, &body->space));
}

static void body_end(Body* body) {
  noli_space_destroy(body->context, &body->space);
  noli_mesh_destroy(body->context, &body->mesh);
  test_context_done(&body->context);
}

// A field of polynomials of the order of the space on straight shapes.
static NoliVec3 moved(int32_t degree, const double* X) {
  double x = X[0], y = X[1], z = X[2];
  return noli_vec3(x + 0.1 * pow(y + 0.2 * z, degree), y - 0.05 * x * pow(z, degree - 1) + 0.3,
                   z + 0.07 * pow(x - 0.5 * y, degree));
}

static double volume_inside(const double* x, const int32_t* tri, int32_t n_tri) {
  double sum = 0.0;
  for (int64_t t = 0; t < n_tri; t++) {
    NoliVec3 a = noli_load3(x + 3 * (int64_t)tri[3 * t]);
    NoliVec3 b = noli_load3(x + 3 * (int64_t)tri[3 * t + 1]);
    NoliVec3 c = noli_load3(x + 3 * (int64_t)tri[3 * t + 2]);
    sum += noli_dot3(a, noli_cross3(b, c)) / 6.0;
  }
  return sum;
}

// Every edge has exactly two triangles, which run along it in opposite directions.
static void assert_watertight(NoliContext* context, const NoliProxy* proxy) {
  int32_t *edge = NULL, n_edge = 0;
  ASSERT_OK(noli_mesh_edges(context, proxy->tri, proxy->n_tri, &edge, &n_edge));
  assert_int_equal(2 * n_edge, 3 * proxy->n_tri);
  // Euler: a sphere
  assert_int_equal(proxy->n_vert - n_edge + proxy->n_tri, 2);
  noli_mesh_free_array(context, &edge);
}

// x_c = X_c + W (x - X), or W x if X_node is NULL; rows of one weight 1 copy the node.
static void move_vertices(const NoliProxy* proxy, const double* X_node, const double* x,
                          double* x_c) {
  for (int64_t v = 0; v < proxy->n_vert; v++) {
    int64_t first = proxy->row[v];
    bool copies = proxy->row[v + 1] - first == 1 && proxy->weight[first] >= 1.0 &&
                  proxy->weight[first] <= 1.0;
    NoliVec3 sum = X_node != NULL ? noli_load3(proxy->X + 3 * v) : noli_vec3(0.0, 0.0, 0.0);
    for (int64_t k = first; k < proxy->row[v + 1]; k++) {
      int64_t node = 3 * (int64_t)proxy->node[k];
      NoliVec3 u = noli_load3(x + node);
      u = X_node != NULL ? noli_sub3(u, noli_load3(X_node + node)) : u;
      sum = copies ? noli_load3(x + node) : noli_mul_add3(sum, proxy->weight[k], u);
    }
    noli_store3(x_c + 3 * v, sum);
  }
}

// f = W^T f_c (n_node x 3)
static void gather_forces(const NoliProxy* proxy, const double* f_c, double* f) {
  memset(f, 0, 3 * (size_t)proxy->n_node * sizeof *f);
  for (int64_t v = 0; v < proxy->n_vert; v++) {
    for (int64_t k = proxy->row[v]; k < proxy->row[v + 1]; k++) {
      double* at = f + 3 * (int64_t)proxy->node[k];
      noli_store3(at, noli_mul_add3(noli_load3(at), proxy->weight[k], noli_load3(f_c + 3 * v)));
    }
  }
}

static void rows_add_up_to_one(const NoliProxy* proxy) {
  for (int64_t v = 0; v < proxy->n_vert; v++) {
    double sum = 0.0;
    for (int64_t k = proxy->row[v]; k < proxy->row[v + 1]; k++) {
      sum += proxy->weight[k];
      assert_true(k == proxy->row[v] || proxy->node[k - 1] < proxy->node[k]);
    }
    ASSERT_NEAR(sum, 1.0, 1e-12);
  }
}

static void boundaries(void** state) {
  (void)state;
  for (int32_t order = 1; order <= NOLI_ORDER_MAX; order++) {
    for (int32_t cut = 1; cut <= 5; cut++) {
      Body body;
      NoliProxy proxy;
      body_begin(&body, order, order, 2);
      ASSERT_OK(noli_proxy_from_boundary(body.context, &body.space, cut, &proxy));
      assert_int_equal(proxy.n_tri, 48 * cut * cut);
      assert_watertight(body.context, &proxy);
      rows_add_up_to_one(&proxy);
      // inside the sphere, and closer to it with higher order and finer cuts
      double volume = volume_inside(proxy.X, proxy.tri, proxy.n_tri);
      ASSERT_AT_LEAST(volume, order == 1 ? 2.0 : 2.3);
      if (order >= 3 && cut >= 4) {
        ASSERT_NEAR(volume, 4.0 / 3.0 * PI, 0.25);
      }
      for (int64_t v = 0; v < proxy.n_vert && order == 4; v++) {
        ASSERT_NEAR(noli_norm3(noli_load3(proxy.X + 3 * v)), 1.0, 0.01);
      }
      // only nodes of the boundary contribute: one face, an edge, or a node
      for (int64_t v = 0; v < proxy.n_vert; v++) {
        assert_true(proxy.row[v + 1] - proxy.row[v] <= noli_tri_nodes(order));
      }
      noli_proxy_destroy(body.context, &proxy);
      body_end(&body);
    }
  }
}

// A proxy cut at the nodes copies them, to the bit.
static void nodes_are_copied(void** state) {
  (void)state;
  TestRandom random = {3};
  for (int32_t order = 1; order <= NOLI_ORDER_MAX; order++) {
    Body body;
    NoliProxy proxy;
    body_begin(&body, order, order, 2);
    ASSERT_OK(noli_proxy_from_boundary(body.context, &body.space, order, &proxy));
    size_t size = 3 * sizeof(double) * (size_t)body.space.n_node;
    double *x = malloc(size), *x_c = malloc(3 * sizeof(double) * (size_t)proxy.n_vert);
    for (int32_t i = 0; i < 3 * body.space.n_node; i++) {
      x[i] = test_random(&random, -3.0, 3.0);
    }
    move_vertices(&proxy, body.space.X, x, x_c);
    for (int64_t v = 0; v < proxy.n_vert; v++) {
      assert_int_equal(proxy.row[v + 1] - proxy.row[v], 1);
      int64_t node = proxy.node[proxy.row[v]];
      assert_memory_equal(x_c + 3 * v, x + 3 * node, 3 * sizeof *x);
      assert_memory_equal(proxy.X + 3 * v, body.space.X + 3 * node, 3 * sizeof *x);
    }
    free(x);
    free(x_c);
    noli_proxy_destroy(body.context, &proxy);
    body_end(&body);
  }
}

// If the motion is in the space, every vertex follows it: between nodes, inside and outside.
static void vertices_follow_the_body(void** state) {
  (void)state;
  TestRandom random = {4};
  for (int32_t order = 1; order <= NOLI_ORDER_MAX; order++) {
    Body body;
    NoliProxy proxy[2];
    NoliProxyReport report;
    enum { N = 300 };
    double X[3 * N];

    // random vertices, and those of the boundary
    body_begin(&body, order, 1, 3);
    for (int i = 0; i < 3 * N; i++) {
      X[i] = test_random(&random, -0.7, 0.7);
    }
    ASSERT_OK(noli_proxy_from_boundary(body.context, &body.space, 3, &proxy[0]));
    int32_t tri[3] = {0, 1, 2};
    ASSERT_OK(noli_proxy_from_mesh(body.context, &body.space,
                                   &(NoliMesh){.n_vert = N, .x = X, .n_tri = 1, .tri = tri},
                                   (NoliProxyLimits){0.5, 1.0}, &proxy[1], &report));
    assert_true(report.n_outside > 0 && report.n_outside < N);

    // move the nodes
    double* x = malloc(3 * sizeof(double) * (size_t)body.space.n_node);
    for (int64_t v = 0; v < body.space.n_node; v++) {
      noli_store3(x + 3 * v, moved(order, body.space.X + 3 * v));
    }

    // every vertex follows
    for (int k = 0; k < 2; k++) {
      double* x_c = malloc(3 * sizeof(double) * (size_t)proxy[k].n_vert);
      move_vertices(&proxy[k], body.space.X, x, x_c);
      rows_add_up_to_one(&proxy[k]);
      for (int64_t v = 0; v < proxy[k].n_vert; v++) {
        NoliVec3 want = moved(order, proxy[k].X + 3 * v);
        ASSERT_AT_MOST(noli_norm3(noli_sub3(noli_load3(x_c + 3 * v), want)), 1e-12);
      }
      free(x_c);
      noli_proxy_destroy(body.context, &proxy[k]);
    }
    free(x);
    body_end(&body);
  }
}

// Proxies follow affine motions on curved shapes, for any order of the elements: straight elements
// carry them on any shape of their own order or lower.
static void curved_places(void** state) {
  (void)state;
  TestRandom random = {5};
  for (int32_t g = 2; g <= NOLI_ORDER_MAX; g++) {
    Body body;
    NoliProxy proxy;
    NoliProxyReport report;
    enum { N = 300 };
    double X[3 * N], x_c[3 * N];

    // random vertices
    body_begin(&body, g, g, 3);
    for (int v = 0; v < N; v++) {
      NoliVec3 p = noli_vec3(test_random(&random, -1.0, 1.0), test_random(&random, -1.0, 1.0),
                             test_random(&random, -1.0, 1.0));
      // a tenth on the sphere, some outside
      p = v % 10 == 0 ? noli_normalize3(p) : noli_scale3(1.05 / sqrt(3.0), p);
      noli_store3(X + 3 * v, p);
    }

    // the report is within bounds
    ASSERT_OK(noli_proxy_from_mesh(body.context, &body.space, &(NoliMesh){.n_vert = N, .x = X},
                                   (NoliProxyLimits){0.1, 0.5}, &proxy, &report));
    print_message("order %d: %d of %d vertices outside, farthest %.2e m, extrapolation %.2e, "
                  "gap %.1e, weight %.3g\n",
                  g, report.n_outside, N, report.largest_distance, report.largest_extrapolation,
                  report.largest_gap, report.largest_weight);
    ASSERT_AT_MOST(report.largest_gap, 1e-11);
    ASSERT_AT_MOST(report.largest_distance, 0.06);

    // an affine motion carries all vertices
    const NoliMat3 F = {{{1.2, 0.1, 0.0}, {0.2, 0.9, -0.1}, {0.0, 0.1, 1.1}}};
    double* x = malloc(3 * sizeof(double) * (size_t)body.space.n_node);
    for (int64_t v = 0; v < body.space.n_node; v++) {
      noli_store3(x + 3 * v, noli_mul33_vec(&F, noli_load3(body.space.X + 3 * v)));
    }
    move_vertices(&proxy, body.space.X, x, x_c);
    for (int v = 0; v < N; v++) {
      NoliVec3 want = noli_mul33_vec(&F, noli_load3(X + 3 * v));
      ASSERT_AT_MOST(noli_norm3(noli_sub3(noli_load3(x_c + 3 * v), want)), 1e-10);
    }
    free(x);
    noli_proxy_destroy(body.context, &proxy);
    body_end(&body);
  }
}

// The tree finds the same as a search through all tetrahedra.
static void closest_tetrahedra(void** state) {
  (void)state;
  TestRandom random = {6};
  Body body;
  NoliProxy proxy;
  enum { N = 500 };
  double X[3 * N];

  // random vertices
  body_begin(&body, 1, 1, 4);
  for (int i = 0; i < 3 * N; i++) {
    X[i] = test_random(&random, -1.0, 1.0);
  }
  ASSERT_OK(noli_proxy_from_mesh(body.context, &body.space, &(NoliMesh){.n_vert = N, .x = X},
                                 (NoliProxyLimits){2.0, 20.0}, &proxy, NULL));

  // the least weight against that of all tetrahedra
  for (int64_t v = 0; v < N; v++) {
    // inside a tetrahedron there is one with all weights positive, and it is taken
    double least_here = (double)INFINITY, best = -(double)INFINITY;
    for (int64_t k = proxy.row[v]; k < proxy.row[v + 1]; k++) {
      least_here = noli_smaller(least_here, proxy.weight[k]);
    }
    for (int64_t t = 0; t < body.space.n_tet; t++) {
      const int32_t* node = body.space.node + 4 * t;
      NoliVec3 x[4];
      for (int k = 0; k < 4; k++) {
        x[k] = noli_load3(body.space.X + 3 * (int64_t)node[k]);
      }
      NoliMat3 sides =
          noli_columns33(noli_sub3(x[1], x[0]), noli_sub3(x[2], x[0]), noli_sub3(x[3], x[0]));
      NoliMat3 inverse = noli_inverse33(&sides);
      NoliVec3 xi = noli_mul33_vec(&inverse, noli_sub3(noli_load3(X + 3 * v), x[0]));
      best = noli_larger(best, fmin(fmin(xi.x, xi.y), fmin(xi.z, 1.0 - xi.x - xi.y - xi.z)));
    }
    if (best > 1e-9) {
      ASSERT_AT_LEAST(least_here, -1e-9);
    } else {
      assert_true(least_here < 1e-9);
    }
  }
  noli_proxy_destroy(body.context, &proxy);
  body_end(&body);
}

static void limits(void** state) {
  (void)state;
  Body body;
  NoliProxy proxy;
  NoliProxyReport report;
  body_begin(&body, 2, 2, 2);

  // too far away, or extrapolated too far
  double X[6] = {0.0, 0.0, 0.0, 0.0, 3.0, 0.0};
  ASSERT_STATUS(noli_proxy_from_mesh(body.context, &body.space, &(NoliMesh){.n_vert = 2, .x = X},
                                     (NoliProxyLimits){0.5, 10.0}, &proxy, &report),
                NOLI_ERROR_ARGUMENT);
  assert_non_null(strstr(noli_context_message(body.context), "vertex 1"));
  assert_int_equal(report.distant_vertex, 1);
  ASSERT_NEAR(report.largest_distance, 2.0, 0.1);
  assert_null(proxy.row);
  ASSERT_STATUS(noli_proxy_from_mesh(body.context, &body.space, &(NoliMesh){.n_vert = 2, .x = X},
                                     (NoliProxyLimits){5.0, 0.1}, &proxy, &report),
                NOLI_ERROR_ARGUMENT);
  assert_non_null(strstr(noli_context_message(body.context), "elements outside"));

  // arguments
  int32_t tri[3] = {0, 1, 2};
  ASSERT_STATUS(noli_proxy_from_mesh(body.context, &body.space,
                                     &(NoliMesh){.n_vert = 2, .x = X, .n_tri = 1, .tri = tri},
                                     (NoliProxyLimits){5.0, 9.0}, &proxy, NULL),
                NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_proxy_from_boundary(body.context, &body.space, 0, &proxy),
                NOLI_ERROR_ARGUMENT);

  // subdivision
  int32_t cut = 0;
  ASSERT_OK(noli_proxy_subdivision(body.context, &body.space, 0.25, &cut));
  // the longest edge between corners of a face goes from (1, 0, 0) to (1, 1, 1) / sqrt(3)
  assert_int_equal(cut, (int32_t)ceil(sqrt(2.0 - 2.0 / sqrt(3.0)) / 0.25));
  ASSERT_STATUS(noli_proxy_subdivision(body.context, &body.space, 0.0, &cut), NOLI_ERROR_ARGUMENT);
  ASSERT_STATUS(noli_proxy_subdivision(body.context, &body.space, 1e-9, &cut), NOLI_ERROR_ARGUMENT);
  body_end(&body);
}

// Forces f on nodes, at X, have the resultant and the moment of the forces f_c on the proxy.
static void assert_same_resultant(const NoliProxy* proxy, const double* X, const double* f_c,
                                  const double* f) {
  NoliVec3 excess = {0}, moment = {0};
  for (int64_t v = 0; v < proxy->n_node; v++) {
    NoliVec3 force = noli_load3(f + 3 * v);
    excess = noli_add3(excess, force);
    moment = noli_add3(moment, noli_cross3(noli_load3(X + 3 * v), force));
  }
  for (int64_t v = 0; v < proxy->n_vert; v++) {
    NoliVec3 force = noli_load3(f_c + 3 * v);
    excess = noli_sub3(excess, force);
    moment = noli_sub3(moment, noli_cross3(noli_load3(proxy->X + 3 * v), force));
  }
  ASSERT_AT_MOST(noli_norm3(excess), 1e-10);
  ASSERT_AT_MOST(noli_norm3(moment), 1e-10);
}

// Followers give the same positions and forces as the proxy they come from; the vertices that copy
// nodes are those nodes.
static void followers_of_a_proxy(void** state) {
  (void)state;
  TestRandom random = {10};
  for (int32_t order = 1; order <= NOLI_ORDER_MAX; order++) {
    Body body;
    NoliProxy proxy;
    NoliFollowers followers;
    body_begin(&body, order, 1, 2);
    ASSERT_OK(noli_proxy_from_boundary(body.context, &body.space, 2, &proxy));

    // followers of a proxy that halves every edge
    int32_t* place = malloc((size_t)proxy.n_vert * sizeof *place);
    ASSERT_OK(noli_proxy_followers(body.context, &proxy, &followers, place));
    // cut in two: corners are nodes, and edges' middles in elements of even order
    assert_int_equal(followers.n, order % 2 == 0 ? 0 : proxy.n_vert - 26);

    // nodes and followers in one array
    size_t n = 3 * (size_t)(followers.n_node + followers.n), n_c = 3 * (size_t)proxy.n_vert;
    double *x = malloc(n * 8), *X = malloc(n * 8), *f = calloc(n, 8), *want = malloc(n * 8);
    double *x_c = malloc(n_c * 8), *f_c = malloc(n_c * 8), *u = malloc(n * 8);
    memcpy(X, body.space.X, 3 * sizeof(double) * (size_t)followers.n_node);
    for (int64_t v = 0; v < proxy.n_vert; v++) {
      memcpy(X + 3 * place[v], proxy.X + 3 * v, 3 * sizeof(double));
    }
    for (int32_t i = 0; i < 3 * followers.n_node; i++) {
      x[i] = u[i] = test_random(&random, -2.0, 2.0);
    }

    // positions
    noli_followers_move(&followers, X, 2, x);
    move_vertices(&proxy, body.space.X, x, x_c);
    for (int64_t v = 0; v < proxy.n_vert; v++) {
      assert_memory_equal(x_c + 3 * v, x + 3 * place[v], 3 * sizeof(double));
    }

    // vectors
    noli_followers_move_vectors(&followers, 1, u);
    move_vertices(&proxy, NULL, u, x_c);
    for (int64_t v = 0; v < proxy.n_vert; v++) {
      assert_memory_equal(x_c + 3 * v, u + 3 * place[v], 3 * sizeof(double));
      for (int i = 0; i < 3; i++) {
        f[3 * place[v] + i] = f_c[3 * v + i] = test_random(&random, -1.0, 1.0);
      }
    }

    // forces
    noli_followers_add_forces(&followers, 2, f);
    gather_forces(&proxy, f_c, want);
    for (int32_t i = 0; i < 3 * followers.n_node; i++) {
      ASSERT_NEAR(f[i], want[i], 1e-13);
    }
    assert_same_resultant(&proxy, X, f_c, f);
    free(place);
    free(x);
    free(X);
    free(u);
    free(f);
    free(want);
    free(x_c);
    free(f_c);
    noli_followers_destroy(body.context, &followers);
    noli_proxy_destroy(body.context, &proxy);
    body_end(&body);
  }
}

// A linear body that collides directly, next to a cubic one behind its proxy.
static void bodies_side_by_side(void** state) {
  (void)state;
  Body body;

  // join a linear and a cubic body
  NoliProxy parts[2], all;
  body_begin(&body, 3, 1, 2);
  int32_t *tri = NULL, n_tri = 0, n_vert = body.mesh->n_vert;
  ASSERT_OK(noli_mesh_boundary(body.context, body.mesh, &tri, &n_tri));
  ASSERT_OK(noli_proxy_identity(body.context, n_vert, body.mesh->x, n_tri, tri, &parts[0]));
  ASSERT_OK(noli_proxy_from_boundary(body.context, &body.space, 2, &parts[1]));
  const NoliProxy* list[2] = {&parts[0], &parts[1]};
  ASSERT_OK(noli_proxy_join(body.context, 2, list, &all));
  assert_int_equal(all.n_vert, n_vert + parts[1].n_vert);
  assert_int_equal(all.n_node, n_vert + body.space.n_node);
  assert_int_equal(all.n_tri, n_tri + parts[1].n_tri);

  // deform
  size_t n = 3 * (size_t)all.n_node, n_c = 3 * (size_t)all.n_vert;
  double *x = malloc(n * 8), *X = malloc(n * 8), *x_c = malloc(n_c * 8), *part = malloc(n_c * 8);
  memcpy(X, body.mesh->x, 3 * sizeof(double) * (size_t)n_vert);
  memcpy(X + 3 * n_vert, body.space.X, 3 * sizeof(double) * (size_t)body.space.n_node);
  for (size_t i = 0; i < n; i++) {
    x[i] = 1.1 * X[i] + 0.2 * sin(7.0 * (double)i);
  }

  // each part as if it were alone
  move_vertices(&all, X, x, x_c);
  assert_memory_equal(x_c, x, 3 * sizeof(double) * (size_t)n_vert);
  move_vertices(&parts[1], X + 3 * n_vert, x + 3 * n_vert, part);
  assert_memory_equal(x_c + 3 * n_vert, part, 3 * sizeof(double) * (size_t)parts[1].n_vert);
  assert_int_equal(all.tri[3 * n_tri], parts[1].tri[0] + n_vert);
  gather_forces(&all, x_c, x);
  assert_memory_equal(x, x_c, 3 * sizeof(double) * (size_t)n_vert);
  free(x);
  free(X);
  free(x_c);
  free(part);
  noli_mesh_free_array(body.context, &tri);
  noli_proxy_destroy(body.context, &all);
  noli_proxy_destroy(body.context, &parts[0]);
  noli_proxy_destroy(body.context, &parts[1]);
  body_end(&body);
}

// A proxy made of the places of its vertices is that of its mesh, to the bit; bad places are named.
static void known_places(void** state) {
  (void)state;
  TestRandom random = {6};
  enum { N = 100 };
  for (int32_t g = 1; g <= 2; g++) {
    Body body;
    NoliProxy searched, known;
    double X[3 * N], xi[3 * N];
    int32_t tet[N];
    int32_t tri[3] = {0, 1, 2};
    const NoliProxyLimits limits = {1.0, 1.0};
    body_begin(&body, 2, g, 2);
    for (int i = 0; i < 3 * N; i++) {
      X[i] = test_random(&random, -0.6, 0.6);
    }
    ASSERT_OK(noli_proxy_from_mesh(body.context, &body.space,
                                   &(NoliMesh){.n_vert = N, .x = X, .n_tri = 1, .tri = tri}, limits,
                                   &searched, NULL));
    ASSERT_OK(noli_proxy_locate(body.context, &body.space, N, X, limits, tet, xi));
    ASSERT_OK(noli_proxy_from_places(body.context, &body.space,
                                     &(NoliMesh){.n_vert = N, .x = X, .n_tri = 1, .tri = tri}, tet,
                                     xi, &known));
    assert_memory_equal(searched.row, known.row, sizeof(int64_t) * (N + 1));
    size_t n = (size_t)known.row[N];
    assert_memory_equal(searched.node, known.node, n * sizeof(int32_t));
    assert_memory_equal(searched.weight, known.weight, n * sizeof(double));
    assert_memory_equal(searched.X, known.X, sizeof X);
    noli_proxy_destroy(body.context, &searched);
    noli_proxy_destroy(body.context, &known);

    // limits, and places that cannot be
    X[3 * 7] = 5.0;
    ASSERT_STATUS(noli_proxy_locate(body.context, &body.space, N, X, limits, tet, xi),
                  NOLI_ERROR_ARGUMENT);
    assert_non_null(strstr(noli_context_message(body.context), "vertex 7 of the collision mesh"));
    X[3 * 7] = 0.0;
    xi[3 * 4 + 1] = NAN;
    ASSERT_STATUS(noli_proxy_from_places(body.context, &body.space,
                                         &(NoliMesh){.n_vert = N, .x = X, .n_tri = 1, .tri = tri},
                                         tet, xi, &known),
                  NOLI_ERROR_ARGUMENT);
    assert_non_null(strstr(noli_context_message(body.context), "the place of vertex 4"));
    xi[3 * 4 + 1] = 0.0;
    tet[9] = -1;
    ASSERT_STATUS(noli_proxy_from_places(body.context, &body.space,
                                         &(NoliMesh){.n_vert = N, .x = X, .n_tri = 1, .tri = tri},
                                         tet, xi, &known),
                  NOLI_ERROR_ARGUMENT);
    assert_non_null(strstr(noli_context_message(body.context), "is carried by tetrahedron -1"));
    assert_null(known.X);
    body_end(&body);
  }
}

// Memory that runs out at any allocation leaks nothing.
static void refused_memory(void** state) {
  (void)state;
  TestMemory memory;
  NoliContext* context = test_context_on(&memory, 1);
  NoliMesh* mesh = NULL;
  NoliSpace space;
  ASSERT_OK(noli_mesh_make_curved_sphere(context, 1.0, 2, 2, &mesh));
  ASSERT_OK(noli_space_create(context, mesh, 2, &space));
  double X[6] = {0.1, 0.2, 0.3, -0.2, 0.1, 0.4};
  double x[6];
  memcpy(x, X, sizeof x);
  const NoliMesh points = {.n_vert = 2, .x = x};
  for (int way = 0; way < 4; way++) {
    NoliStatus status = NOLI_ERROR_MEMORY;
    for (int64_t k = 1; status == NOLI_ERROR_MEMORY; k++) {
      NoliProxy proxy = {0};
      test_refuse(&memory, k);
      NoliBodyDef body = {.mesh = mesh, .order = 2};
      NoliProxyPlaces made = {0};
      body.proxy = (NoliProxyDef){
          .kind = way == 2 ? "mesh" : "edge_length", .mesh = &points, .edge_length = 0.5};
      status = way == 0   ? noli_proxy_from_boundary(context, &space, 2, &proxy)
               : way == 1 ? noli_proxy_from_mesh(context, &space, &(NoliMesh){.n_vert = 2, .x = X},
                                                 (NoliProxyLimits){1.0, 1.0}, &proxy, NULL)
                          : noli_body_proxy_settle(context, &body, &made);
      test_refuse(&memory, 0);
      assert_true((made.carrier != NULL) == (way == 2 && status == NOLI_OK));
      assert_true(body.proxy.carrier == made.carrier);
      noli_free(context, made.carrier);
      noli_free(context, made.place);
      noli_proxy_destroy(context, &proxy);
      assert_true(k < 100);
    }
    assert_int_equal(status, NOLI_OK);
  }
  noli_space_destroy(context, &space);
  noli_mesh_destroy(context, &mesh);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(boundaries),
      cmocka_unit_test(nodes_are_copied),
      cmocka_unit_test(vertices_follow_the_body),
      cmocka_unit_test(curved_places),
      cmocka_unit_test(closest_tetrahedra),
      cmocka_unit_test(limits),
      cmocka_unit_test(followers_of_a_proxy),
      cmocka_unit_test(bodies_side_by_side),
      cmocka_unit_test(known_places),
      cmocka_unit_test(refused_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
