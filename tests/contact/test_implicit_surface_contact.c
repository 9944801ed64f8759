#include "support.h"

#include "contact/implicit_surface/implicit_surface_penalty.h"
#include "linalg/assembly/assembly.h"
#include "noli/mesh.h"

#define DELTA 0.02

// Two bodies (and half-spaces) as triangle surfaces.
typedef struct Scene {
  NoliContext* context;
  double* x;
  int32_t n_vert;
  NoliSurface* surface;
  NoliImplicitSurfaceSearch* search;
  NoliImplicitSurfaceContactSet set;
  bool still[2];
} Scene;

static const NoliHalfSpace ground = {{0.0, -0.5, 0.0}, {0.0, 1.0, 0.0}};

// Takes the meshes.
static Scene make_scene(NoliContext* context, NoliMesh* mesh[2], const double shift[3],
                        bool still) {
  Scene scene = {.context = context, .still = {false, still}};
  static const double unit[3] = {1, 1, 1}, zero[3] = {0, 0, 0};
  noli_mesh_transform(mesh[1], unit, zero, shift);
  const int32_t first[3] = {0, mesh[0]->n_vert, mesh[0]->n_vert + mesh[1]->n_vert};
  NoliSurfaceParts parts[2];
  scene.n_vert = first[2];
  scene.x = malloc(sizeof(double) * 3 * (size_t)scene.n_vert);
  for (int b = 0; b < 2; b++) {
    parts[b] = (NoliSurfaceParts){.n_tri = mesh[b]->n_tri, .tri = mesh[b]->tri};
    memcpy(scene.x + 3 * first[b], mesh[b]->x, sizeof(double) * 3 * (size_t)mesh[b]->n_vert);
  }
  ASSERT_OK(noli_surface_create(context, 2, first, parts, &scene.surface));
  noli_mesh_destroy(context, &mesh[0]);
  noli_mesh_destroy(context, &mesh[1]);
  return scene;
}

static void start_search(Scene* scene, double radius, int32_t n_half_spaces) {
  const NoliColliders colliders = {
      .surface = scene->surface, .half_spaces = &ground, .n_half_spaces = n_half_spaces};
  ASSERT_OK(noli_implicit_surface_search_create(scene->context, &colliders, scene->x, scene->still,
                                                NULL, radius, DELTA, &scene->search));
}

static void free_scene(Scene* scene) {
  noli_implicit_surface_contacts_free(scene->context, &scene->set);
  noli_implicit_surface_search_destroy(&scene->search);
  noli_surface_destroy(scene->context, &scene->surface);
  free(scene->x);
}

static Scene two_balls(NoliContext* context, double gap, bool still) {
  NoliMesh* mesh[2];
  for (int b = 0; b < 2; b++) {
    ASSERT_OK(noli_mesh_make_sphere(context, 0.5, 6 + b, true, &mesh[b]));
  }
  return make_scene(context, mesh, (double[]){0.1, 0.99 + gap, 0.05}, still);
}

static NoliVec3 at(const Scene* scene, int32_t vertex) {
  return noli_load3(scene->x + 3 * (int64_t)vertex);
}

// Slow reference: all triangles of the other body, one by one.
static double slow_distance(const Scene* scene, int32_t point, int32_t body, int32_t* n_triangle) {
  const NoliSurface* surface = scene->surface;
  double radius = noli_implicit_surface_search_radius(scene->search, body),
         nearest = (double)INFINITY;
  NoliVec3 p = at(scene, point), normal = {0.0, 0.0, 0.0};
  double top = 0.0, sum = 0.0;
  *n_triangle = 0;

  // first the closest triangle, then its sheet
  for (int pass = 0; pass < 2; pass++) {
    for (int32_t t = surface->tri_first[body]; t < surface->tri_first[body + 1]; t++) {
      const int32_t* v = &surface->tri[3 * t];
      NoliVec3 a = at(scene, v[0]), b = at(scene, v[1]), c = at(scene, v[2]);
      NoliVec3 centre = noli_scale3(1.0 / 3.0, noli_add3(a, noli_add3(b, c)));
      NoliVec3 area = noli_scale3(0.5, noli_cross3(noli_sub3(b, a), noli_sub3(c, a)));
      double r = noli_norm3(noli_sub3(p, centre)), size = noli_norm3(area);
      if (r >= radius) {
        continue;
      }
      double d = noli_norm3(noli_closest_vector_point_triangle((NoliVec3[]){p, a, b, c}));
      if (pass == 0 && d < nearest) {
        nearest = d;
        normal = noli_scale3(1.0 / size, area);
      }
      if (pass == 1 && noli_dot3(area, normal) > -0.5 * size) {
        double w = pow(1.0 - r * r / (radius * radius), 3.0);
        top += w * noli_dot3(area, noli_sub3(p, centre));
        sum += w * size;
        (*n_triangle)++;
      }
    }
  }
  return sum > 0.0 ? top / sum : (double)INFINITY;
}

static void contacts_are_those_of_all_pairs(void** state) {
  (void)state;
  for (int k = 0; k < 6; k++) {

    // two balls above the ground
    NoliContext* context = test_context(k % 3 + 1);
    Scene scene = two_balls(context, -0.05 + 0.015 * k, false);
    start_search(&scene, k % 2 == 0 ? 0.0 : 0.3, 1);
    ASSERT_OK(noli_implicit_surface_contacts_build(&scene.set, scene.search, scene.x, DELTA, true,
                                                   k % 3 + 1));

    // compare with all vertices
    int64_t c = 0;
    double least = (double)INFINITY;
    for (int32_t i = 0; i < scene.surface->n_point; i++) {
      int32_t point = scene.surface->point[i], body = scene.surface->body[point], n_triangle;
      double d = slow_distance(&scene, point, 1 - body, &n_triangle);
      if (d < DELTA) {
        assert_true(c < scene.set.contact.count);
        const NoliImplicitSurfaceContact* contact = &scene.set.contact.data[c++];
        assert_int_equal(contact->point, point);
        assert_int_equal(contact->entity[1], 1 - body);
        assert_int_equal(contact->n_triangle, n_triangle);
        ASSERT_NEAR(contact->d, d, 1e-12);
        least = noli_smaller(least, d);
      }
      double height = noli_half_space_distance(&ground, scene.x + 3 * point);
      if (height < DELTA) {
        const NoliImplicitSurfaceContact* contact = &scene.set.contact.data[c++];
        assert_int_equal(contact->entity[1], 2);
        assert_int_equal(contact->n_triangle, 0);
        ASSERT_NEAR(contact->d, height, 1e-14);
        least = noli_smaller(least, height);
      }
    }

    // no others
    assert_int_equal(c, scene.set.contact.count);
    assert_true(c > 0);
    ASSERT_NEAR(scene.set.min_d, least, 1e-12);
    free_scene(&scene);
    test_context_done(&context);
  }
}

// Gradient and matrix of the assembled term against differences of its energy and gradient.
static double total_energy(const NoliEnergyTerm* term, const double* x) {
  double* energy = malloc(sizeof *energy * (size_t)(term->n_stencil + 1));
  NoliLocal local = {.energy = energy};
  term->evaluate(term->data, x, 0, term->n_stencil, NOLI_EVAL_ENERGY, &local);
  double sum = 0.0;
  for (int64_t s = 0; s < term->n_stencil; s++) {
    sum += energy[s];
  }
  free(energy);
  return sum;
}

// y^T A y of a symmetric block matrix.
static double quadratic_form(const NoliBlockMatrix* matrix, const double* y) {
  double sum = 0.0;
  for (int32_t i = 0; i < matrix->n; i++) {
    for (int64_t k = matrix->row[i]; k < matrix->row[i + 1]; k++) {
      int32_t j = matrix->col[k];
      for (int e = 0; e < 9; e++) {
        sum +=
            (i == j ? 1.0 : 2.0) * y[3 * i + e / 3] * matrix->value[9 * k + e] * y[3 * j + e % 3];
      }
    }
  }
  return sum;
}

// First and second differences of the energy along random directions.
static void compare_along_directions(const Scene* scene, const NoliEnergyTerm* term, bool still,
                                     const double* gradient, const NoliAssembler* assembler) {
  int32_t n = scene->n_vert;
  double* step = calloc(3 * (size_t)n, sizeof(double));
  double* moved = malloc(sizeof(double) * 3 * (size_t)n);
  TestRandom random = {41};
  for (int trial = 0; trial < 5; trial++) {
    double slope = 0.0, h = 1e-6, e[3];
    for (int32_t i = 0; i < 3 * n; i++) {
      bool fixed = still && scene->surface->body[i / 3] == 1;
      step[i] = fixed ? 0.0 : test_random(&random, -1.0, 1.0);
      slope += gradient[i] * step[i];
    }
    double curvature = quadratic_form(noli_assembler_matrix(assembler), step);
    for (int k = 0; k < 3; k++) {
      for (int32_t i = 0; i < 3 * n; i++) {
        moved[i] = scene->x[i] + (k - 1) * h * (k == 1 ? 0.0 : 1.0) * step[i];
      }
      e[k] = total_energy(term, moved);
    }

    // differences
    ASSERT_NEAR((e[2] - e[0]) / (2.0 * h), slope, 1e-6 * (fabs(slope) + e[1]));
    // second differences need a larger step
    h = 1e-4;
    for (int k = 0; k < 3; k += 2) {
      for (int32_t i = 0; i < 3 * n; i++) {
        moved[i] = scene->x[i] + (k - 1) * h * step[i];
      }
      e[k] = total_energy(term, moved);
    }
    ASSERT_NEAR((e[2] - 2.0 * e[1] + e[0]) / (h * h), curvature, 2e-3 * fabs(curvature));
  }
  free(step);
  free(moved);
}

// The forces equal the gradient, on obstacles as well.
static void compare_forces(NoliContext* context, const Scene* scene,
                           const NoliImplicitSurfacePenalty* penalty, bool still,
                           const double* gradient) {
  int32_t n = scene->n_vert;
  double* force = calloc(3 * (size_t)n, sizeof(double));
  ASSERT_OK(noli_implicit_surface_forces(penalty, context, scene->x, 2.0, force));
  NoliVec3 sum = {0.0, 0.0, 0.0}, on_planes = {0.0, 0.0, 0.0};
  for (int32_t i = 0; i < n; i++) {
    sum = noli_add3(sum, noli_load3(force + 3 * i));
    for (int k = 0; k < 3 && (!still || scene->surface->body[i] == 0); k++) {
      ASSERT_NEAR(force[3 * i + k], -0.5 * gradient[3 * i + k], 1e-9);
    }
  }

  // half-spaces exert the resultant
  for (int64_t c = 0; c < scene->set.contact.count; c++) {
    const NoliImplicitSurfaceContact* contact = &scene->set.contact.data[c];
    if (contact->n_triangle == 0) {
      on_planes.y -= 0.5 * noli_penalty(contact->d, DELTA, 7.0).first;
    }
  }
  ASSERT_AT_MOST(noli_norm3(noli_sub3(sum, on_planes)), 1e-10);
  free(force);
}

static void assembled_term_agrees_with_differences(void** state) {
  (void)state;
  for (int still = 0; still < 2; still++) {

    // contacts of two balls, one of which may be an obstacle
    NoliContext* context = test_context(2);
    Scene scene = two_balls(context, -0.03, still == 1);
    start_search(&scene, 0.0, 1);
    ASSERT_OK(
        noli_implicit_surface_contacts_build(&scene.set, scene.search, scene.x, DELTA, false, 2));
    assert_true(scene.set.contact.count > 5);
    NoliImplicitSurfacePenalty penalty = {&scene.set, scene.search, DELTA, 7.0};
    NoliEnergyTerm term = noli_implicit_surface_penalty_term(&penalty);

    // where the obstacle is known, only the vertices are in the stencils
    assert_true(still == 0 || scene.set.stencil_node.count == scene.set.contact.count);
    int32_t n = scene.n_vert;
    int32_t* dof = malloc(sizeof *dof * (size_t)n);
    for (int32_t i = 0; i < n; i++) {
      dof[i] = i;
    }

    // gradient and Hessian by the assembler
    double* gradient = malloc(sizeof(double) * 3 * (size_t)n);
    NoliAssembler* assembler = NULL;
    ASSERT_OK(noli_assembler_create(context, &assembler));
    ASSERT_OK(noli_assembler_set_unknowns(assembler, n, dof, n));
    ASSERT_OK(noli_assembler_prepare(assembler, &term, 1));
    ASSERT_OK(noli_assembler_linearize(assembler, &term, 1, scene.x, NOLI_EVAL_HESSIAN, gradient));
    compare_along_directions(&scene, &term, still == 1, gradient, assembler);
    compare_forces(context, &scene, &penalty, still == 1, gradient);
    noli_assembler_destroy(&assembler);
    free(dof);
    free(gradient);
    free_scene(&scene);
    test_context_done(&context);
  }
}

// A plate much thinner than the radius: its back does not act on vertices in front of it.
static void thin_plates_have_two_sides(void** state) {
  (void)state;
  NoliContext* context = test_context(1);
  NoliMesh* mesh[2];
  double size[3] = {0.02, 0.02, 0.02}, plate[3] = {1.0, 0.03, 1.0};
  int32_t one[3] = {1, 1, 1}, cells[3] = {10, 1, 10};
  ASSERT_OK(noli_mesh_make_box(context, size, one, true, &mesh[0]));
  ASSERT_OK(noli_mesh_make_box(context, plate, cells, true, &mesh[1]));
  // the small box is in front of the plate at first
  Scene scene = make_scene(context, mesh, (double[]){0.03, -0.03, 0.01}, true);
  start_search(&scene, 0.25, 0);
  for (int side = 0; side < 2; side++) {
    ASSERT_OK(
        noli_implicit_surface_contacts_build(&scene.set, scene.search, scene.x, DELTA, false, 1));
    assert_int_equal(scene.set.contact.count, 4);
    for (int64_t c = 0; c < 4; c++) {
      // 0.005 from the surface at y = -0.015, and behind the one at y = -0.045
      ASSERT_NEAR(scene.set.contact.data[c].d, 0.005, 1e-12);
    }
    for (int32_t i = 0; i < 8; i++) {
      scene.x[3 * i + 1] = -0.06 - scene.x[3 * i + 1];
    }
  }
  free_scene(&scene);
  test_context_done(&context);
}

static void degenerate_surfaces_do_no_harm(void** state) {
  (void)state;
  // all vertices of one body in one point; vertices of the other on centroids; nothing finite
  NoliContext* context = test_context(1);
  Scene scene = two_balls(context, -0.02, false);
  start_search(&scene, 0.0, 0);
  int32_t body_vertices = 0;
  for (int32_t i = 0; i < scene.n_vert; i++) {
    body_vertices += scene.surface->body[i] == 0 ? 1 : 0;
  }
  for (int32_t i = body_vertices; i < scene.n_vert; i++) {
    memcpy(scene.x + 3 * i, (double[]){0.0, 0.5, 0.0}, 3 * sizeof(double));
  }
  ASSERT_OK(
      noli_implicit_surface_contacts_build(&scene.set, scene.search, scene.x, DELTA, true, 1));
  for (int64_t c = 0; c < scene.set.contact.count; c++) {
    // points without a surface do not take part
    assert_int_equal(scene.set.contact.data[c].entity[1], 0);
    assert_true(isfinite(scene.set.contact.data[c].d));
  }
  scene.x[0] = (double)NAN;
  scene.x[3 * body_vertices + 1] = (double)INFINITY;
  ASSERT_OK(
      noli_implicit_surface_contacts_build(&scene.set, scene.search, scene.x, DELTA, true, 1));
  free_scene(&scene);
  test_context_done(&context);
}

static void stiffening_follows_the_deepest_vertex_that_can_move(void** state) {
  (void)state;
  ASSERT_NEAR(noli_surface_stiffness_factor(0.0, DELTA), 4.0, 1e-12);
  ASSERT_NEAR(noli_surface_stiffness_factor(-DELTA, DELTA), 16.0, 1e-12);
  NoliContext* context = test_context(1);
  Scene scene = two_balls(context, -0.03, true);
  start_search(&scene, 0.0, 0);
  ASSERT_OK(
      noli_implicit_surface_contacts_build(&scene.set, scene.search, scene.x, DELTA, false, 1));
  int32_t* dof = malloc(sizeof *dof * (size_t)scene.n_vert);
  for (int32_t i = 0; i < scene.n_vert; i++) {
    dof[i] = 0;
  }
  ASSERT_NEAR(noli_surface_deepest(&scene.set, dof), scene.set.min_d, 0.0);
  assert_true(scene.set.min_d < 0.0);
  for (int32_t i = 0; i < scene.n_vert; i++) {
    dof[i] = NOLI_NULL_INDEX;
  }
  assert_true(isinf(noli_surface_deepest(&scene.set, dof)));
  free(dof);
  free_scene(&scene);
  test_context_done(&context);
}

static void nothing_is_allocated_after_warm_up(void** state) {
  (void)state;
  NoliContext* context = test_context(2);
  Scene scene = two_balls(context, -0.03, false);
  start_search(&scene, 0.0, 1);
  int64_t before = 0;
  for (int round = 0; round < 6; round++) {
    ASSERT_OK(
        noli_implicit_surface_contacts_build(&scene.set, scene.search, scene.x, DELTA, true, 2));
    before = round == 0 ? context->n_allocations : before;
  }
  assert_int_equal(context->n_allocations, before);
  free_scene(&scene);
  test_context_done(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(contacts_are_those_of_all_pairs),
      cmocka_unit_test(assembled_term_agrees_with_differences),
      cmocka_unit_test(thin_plates_have_two_sides),
      cmocka_unit_test(degenerate_surfaces_do_no_harm),
      cmocka_unit_test(stiffening_follows_the_deepest_vertex_that_can_move),
      cmocka_unit_test(nothing_is_allocated_after_warm_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
