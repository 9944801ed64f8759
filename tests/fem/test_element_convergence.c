// Convergence under refinement against a manufactured solution of nonlinear elasticity: for
// elements of order p the error falls like h^(p + 1) in L2 and like h^p in H1, on straight meshes
// and on curved ones of the same order.
//
// A displacement u is chosen, the body force in equilibrium with it follows from the law,
//   f = -Div P(F),  f_i = -sum_J (dP/dF : dF/dX_J)_iJ,  F = 1 + grad u,
// by hand for the neo-Hookean solid, P = mu F + (lambda ln J - mu) F^-T:
//   dP = mu dF + (mu - lambda ln J) F^-T dF^T F^-T + lambda (F^-T : dF) F^-T,
// and differences of the P of the library check it. The boundary is prescribed by u.
#include "support.h"

#include "fem/element_elasticity.h"
#include "fem/point_terms.h"
#include "linalg/assembly/assembly.h"
#include "linalg/solver.h"
#include "material/reference.h"
#include "mesh/topology.h"

enum { NEWTON_STEPS_MAX = 8 };

// Degree of the quadrature of loads and errors, well above that of the elements.
static int32_t fine_degree(const NoliSpace* space) {
  return 2 * space->order + 4;
}

static const NoliLame lame = {1.0, 1.5, NULL, NULL, NULL};
static const double amplitude = 0.2;

// ---- the solution

// u = amplitude (a b, a c, b c) of a = sin(1.3 X + 0.4), b = cos(1.1 Y - 0.2), c = exp(0.6 Z), and
// its derivatives: first[i][J], second[i][J][K].
typedef struct Field {
  double u[3];
  double first[3][3];
  double second[3][3][3];
} Field;

static Field field_at(const double* X) {
  const double a = 1.3 * X[0] + 0.4, b = 1.1 * X[1] - 0.2, c = exp(0.6 * X[2]);
  const double h[3][3] = {{sin(a), 1.3 * cos(a), -1.69 * sin(a)},
                          {cos(b), -1.1 * sin(b), -1.21 * cos(b)},
                          {c, 0.6 * c, 0.36 * c}};
  static const int factors[3][2] = {{0, 1}, {0, 2}, {1, 2}};
  Field field = {{0.0}, {{0.0}}, {{{0.0}}}};
  for (int i = 0; i < 3; i++) {
    int m = factors[i][0], n = factors[i][1];
    field.u[i] = amplitude * h[m][0] * h[n][0];
    field.first[i][m] = amplitude * h[m][1] * h[n][0];
    field.first[i][n] = amplitude * h[m][0] * h[n][1];
    field.second[i][m][m] = amplitude * h[m][2] * h[n][0];
    field.second[i][n][n] = amplitude * h[m][0] * h[n][2];
    field.second[i][m][n] = field.second[i][n][m] = amplitude * h[m][1] * h[n][1];
  }
  return field;
}

static NoliMat3 deformation_of(const Field* field) {
  NoliMat3 F = noli_load33(field->first[0]);
  return noli_add33(noli_identity3(), F);
}

static NoliVec3 body_force(const double* X) {
  Field field = field_at(X);
  NoliMat3 F = deformation_of(&field), inverse = noli_inverse33(&F);
  NoliMat3 G = noli_transpose33(inverse);
  double log_J = log(noli_det33(&F)), f[3] = {0.0, 0.0, 0.0};
  for (int J = 0; J < 3; J++) {
    NoliMat3 dF, dP;
    double trace = 0.0;
    for (int i = 0; i < 3; i++) {
      for (int K = 0; K < 3; K++) {
        dF.m[i][K] = field.second[i][K][J];
        trace += G.m[i][K] * dF.m[i][K];
      }
    }
    NoliMat3 turned = noli_mul33(noli_mul_transpose33(G, dF), G);
    dP = noli_add33(noli_scale33(lame.mu, dF), noli_scale33(lame.mu - lame.lambda * log_J, turned));
    dP = noli_add33(dP, noli_scale33(lame.lambda * trace, G));
    for (int i = 0; i < 3; i++) {
      f[i] -= dP.m[i][J];
    }
  }
  return noli_load3(f);
}

static void force_of_solution(void** state) {
  (void)state;
  TestRandom random = {7};
  for (int trial = 0; trial < 20; trial++) {
    double X[3], h = 1e-3, want[3] = {0.0, 0.0, 0.0}, got[3];
    for (int i = 0; i < 3; i++) {
      X[i] = test_random(&random, -1.0, 1.0);
    }
    noli_store3(got, body_force(X));
    for (int J = 0; J < 3; J++) {
      // differences of fourth order
      static const double coefficient[4] = {1.0, -8.0, 8.0, -1.0}, place[4] = {-2, -1, 1, 2};
      for (int k = 0; k < 4; k++) {
        double at[3] = {X[0], X[1], X[2]};
        at[J] += place[k] * h;
        Field field = field_at(at);
        NoliMat3 F = deformation_of(&field);
        NoliMat3 P = material_stress(&noli_neo_hookean, lame, &F);
        for (int i = 0; i < 3; i++) {
          want[i] -= coefficient[k] * P.m[i][J] / (12.0 * h);
        }
      }
    }
    for (int i = 0; i < 3; i++) {
      ASSERT_NEAR(got[i], want[i], 1e-9);
    }
  }
}

// ---- the discrete problem

typedef struct Problem {
  NoliContext* context;
  NoliSpace space;
  NoliElements elements;
  const NoliMaterial** law;
  double *mu, *lambda;
  double* load; // (n_node x 3) integrals of f N_a
  int32_t* dof; // (n_node)
  int32_t n_dof;
  int32_t* node; // (n_node) 0, 1, ..
  double* x;
} Problem;

// Integrals of the body force, with a fine rule.
static void fill_load(Problem* problem) {
  const NoliSpace* space = &problem->space;
  NoliQuadrature rule;
  double value[NOLI_TET_NODES_MAX], X[3];
  ASSERT_OK(noli_quadrature_tet(problem->context, fine_degree(space), &rule));
  for (int64_t t = 0; t < space->n_tet; t++) {
    for (int32_t q = 0; q < rule.n; q++) {
      const double* xi = rule.xi + 3 * (int64_t)q;
      NoliMat3 dxdxi = noli_space_dxdxi(space, t, xi);
      noli_store3(X, noli_space_position(space, t, xi));
      noli_tet_shape(space->order, xi, value, NULL);
      NoliVec3 f = noli_scale3(rule.weight[q] * noli_det33(&dxdxi), body_force(X));
      for (int32_t a = 0; a < space->n_local; a++) {
        double* to = problem->load + 3 * (int64_t)space->node[t * space->n_local + a];
        noli_store3(to, noli_mul_add3(noli_load3(to), value[a], f));
      }
    }
  }
  noli_quadrature_free(problem->context, &rule);
}

// Numbers the nodes inside: a node is held if it lies on a face of only one tetrahedron.
static void number_unknowns(Problem* problem, const NoliMesh* mesh) {
  const NoliSpace* space = &problem->space;
  int32_t lattice[NOLI_TET_NODES_MAX][4];
  uint8_t* boundary = malloc(4 * (size_t)space->n_tet);
  ASSERT_OK(noli_tet_boundary(problem->context, mesh->n_tet, mesh->tet, 4, boundary));
  noli_tet_lattice(space->order, lattice);
  memset(problem->dof, 0, (size_t)space->n_node * sizeof *problem->dof);
  for (int64_t t = 0; t < space->n_tet; t++) {
    for (int k = 0; k < 4; k++) {
      for (int32_t a = 0; a < space->n_local && boundary[4 * t + k]; a++) {
        if (lattice[a][k] == 0) {
          problem->dof[space->node[t * space->n_local + a]] = NOLI_NULL_INDEX;
        }
      }
    }
  }
  free(boundary);
  for (int32_t v = 0; v < space->n_node; v++) {
    problem->dof[v] = problem->dof[v] == 0 ? problem->n_dof++ : NOLI_NULL_INDEX;
  }
}

static void problem_begin(Problem* problem, NoliContext* context, const NoliMesh* mesh,
                          int32_t order) {
  *problem = (Problem){.context = context};
  ASSERT_OK(noli_space_create(context, mesh, order, &problem->space));
  const NoliSpace* space = &problem->space;
  ASSERT_OK(noli_elements_create(context, space, -1, &problem->elements));
  size_t n_tet = (size_t)space->n_tet, n_node = (size_t)space->n_node;
  problem->law = malloc(n_tet * sizeof *problem->law);
  problem->mu = malloc(n_tet * sizeof(double));
  problem->lambda = malloc(n_tet * sizeof(double));
  for (size_t t = 0; t < n_tet; t++) {
    problem->law[t] = &noli_neo_hookean;
    problem->mu[t] = lame.mu;
    problem->lambda[t] = lame.lambda;
  }
  problem->load = calloc(3 * n_node, sizeof(double));
  problem->dof = malloc(n_node * sizeof *problem->dof);
  problem->node = malloc(n_node * sizeof *problem->node);
  problem->x = malloc(3 * n_node * sizeof(double));
  fill_load(problem);
  number_unknowns(problem, mesh);
  for (int32_t v = 0; v < space->n_node; v++) {
    // inside, a start that is not the solution
    Field field = field_at(space->X + 3 * (int64_t)v);
    problem->node[v] = v;
    for (int i = 0; i < 3; i++) {
      double share = problem->dof[v] == NOLI_NULL_INDEX ? 1.0 : 0.98;
      problem->x[3 * v + i] = space->X[3 * v + i] + share * field.u[i];
    }
  }
}

static void problem_end(Problem* problem) {
  free(problem->law);
  free(problem->mu);
  free(problem->lambda);
  free(problem->load);
  free(problem->dof);
  free(problem->node);
  free(problem->x);
  noli_elements_destroy(problem->context, &problem->elements);
  noli_space_destroy(problem->context, &problem->space);
}

// Newton's method with full steps, until the steps are far below all errors.
static void solve(Problem* problem) {
  NoliAssembler* assembler = NULL;
  NoliLinSolver* solver = NULL;
  int32_t n_node = problem->space.n_node;

  // terms
  NoliElementElasticity elasticity = {.elements = &problem->elements,
                                      .law = problem->law,
                                      .lame_mu = problem->mu,
                                      .lame_lambda = problem->lambda,
                                      .scale = 1.0};
  NoliLoad load = {.n = n_node, .node = problem->node, .force = problem->load, .scale = 1.0};
  NoliEnergyTerm terms[2] = {noli_element_elasticity_term(&elasticity), noli_load_term(&load)};
  size_t size = 3 * (size_t)n_node * sizeof(double);
  double *gradient = malloc(size), *b = malloc(size), *p = malloc(size), step = 1.0;

  // assembler and solver
  ASSERT_OK(noli_assembler_create(problem->context, &assembler));
  ASSERT_OK(noli_assembler_set_unknowns(assembler, n_node, problem->dof, problem->n_dof));
  ASSERT_OK(noli_assembler_prepare(assembler, terms, 2));
  ASSERT_OK(noli_lin_solver_create(problem->context, "cholmod", &solver));

  // iterate
  for (int iteration = 0; step > 1e-10; iteration++) {
    assert_in_range(iteration, 0, NEWTON_STEPS_MAX - 1);
    ASSERT_OK(
        noli_assembler_linearize(assembler, terms, 2, problem->x, NOLI_EVAL_HESSIAN, gradient));
    for (int32_t v = 0; v < n_node; v++) {
      if (problem->dof[v] != NOLI_NULL_INDEX) {
        memcpy(b + 3 * problem->dof[v], gradient + 3 * v, 3 * sizeof *b);
      }
    }
    ASSERT_OK(noli_lin_solver_factor(solver, noli_assembler_matrix(assembler)));
    ASSERT_OK(noli_lin_solver_solve(solver, b, p));
    step = 0.0;
    for (int32_t v = 0; v < n_node; v++) {
      for (int i = 0; i < 3 && problem->dof[v] != NOLI_NULL_INDEX; i++) {
        problem->x[3 * v + i] -= p[3 * problem->dof[v] + i];
        step = noli_larger(step, fabs(p[3 * problem->dof[v] + i]));
      }
    }
  }
  free(gradient);
  free(b);
  free(p);
  noli_lin_solver_destroy(&solver);
  noli_assembler_destroy(&assembler);
}

typedef struct Errors {
  double l2;
  double h1; // of the gradient
  int32_t n_node;
} Errors;

// By the fine rule.
static Errors errors_of(const Problem* problem) {
  const NoliSpace* space = &problem->space;
  NoliQuadrature rule;
  double value[NOLI_TET_NODES_MAX], gradient[3 * NOLI_TET_NODES_MAX], X[3];
  Errors errors = {0.0, 0.0, space->n_node};
  ASSERT_OK(noli_quadrature_tet(problem->context, fine_degree(space), &rule));

  // every point
  for (int64_t t = 0; t < space->n_tet; t++) {
    const int32_t* node = space->node + t * space->n_local;
    for (int32_t q = 0; q < rule.n; q++) {
      const double* xi = rule.xi + 3 * (int64_t)q;
      NoliMat3 dxdxi = noli_space_dxdxi(space, t, xi), inverse = noli_inverse33(&dxdxi);
      noli_store3(X, noli_space_position(space, t, xi));
      noli_tet_shape(space->order, xi, value, gradient);
      Field field = field_at(X);
      NoliVec3 u = noli_scale3(-1.0, noli_load3(field.u));
      NoliMat3 H = noli_scale33(-1.0, noli_load33(field.first[0]));
      for (int32_t a = 0; a < space->n_local; a++) {
        NoliVec3 ua = noli_sub3(noli_load3(problem->x + 3 * (int64_t)node[a]),
                                noli_load3(space->X + 3 * (int64_t)node[a]));
        NoliVec3 slope = noli_transpose_mul33_vec(&inverse, noli_load3(gradient + 3 * a));
        u = noli_mul_add3(u, value[a], ua);
        H = noli_add33(H, noli_outer33(ua, slope));
      }
      double weight = rule.weight[q] * noli_det33(&dxdxi);
      errors.l2 += weight * noli_norm_sqr3(u);
      errors.h1 += weight * noli_norm_sqr33(&H);
    }
  }

  // norms
  noli_quadrature_free(problem->context, &rule);
  errors.l2 = sqrt(errors.l2);
  errors.h1 = sqrt(errors.h1);
  return errors;
}

static Errors solve_mesh(NoliContext* context, NoliMesh* mesh, int32_t order) {
  Problem problem;
  problem_begin(&problem, context, mesh, order);
  solve(&problem);
  Errors errors = errors_of(&problem);
  problem_end(&problem);
  noli_mesh_destroy(context, &mesh);
  return errors;
}

// ---- families of meshes

typedef void MakeFn(NoliContext* context, int32_t cells, int32_t order, NoliMesh** mesh);

static void make_box(NoliContext* context, int32_t cells, int32_t order, NoliMesh** mesh) {
  (void)order;
  ASSERT_OK(noli_mesh_make_box(context, (double[3]){1.0, 1.0, 1.0},
                               (int32_t[3]){cells, cells, cells}, false, mesh));
}

// From the box to an eighth of a tube, around z from radius 0.5 to 1.2.
static void bend(double* x) {
  double radius = 0.85 + 0.7 * x[0], angle = 0.7853981633974483 * x[1];
  x[0] = radius * cos(angle);
  x[1] = radius * sin(angle);
}

// All nodes follow the map, which is smooth, so that the shape is one on which isoparametric
// elements reach their order [Ciarlet1978].
static void make_tube(NoliContext* context, int32_t cells, int32_t order, NoliMesh** mesh) {
  make_box(context, cells, order, mesh);
  ASSERT_OK(noli_mesh_set_order(context, *mesh, order));
  for (int64_t v = 0; v < (*mesh)->n_vert; v++) {
    bend((*mesh)->x + 3 * v);
  }
  for (int64_t v = 0; v < (*mesh)->n_curve; v++) {
    bend((*mesh)->curve_x + 3 * v);
  }
}

static void make_ball(NoliContext* context, int32_t cells, int32_t order, NoliMesh** mesh) {
  ASSERT_OK(noli_mesh_make_curved_sphere(context, 0.6, cells, order, mesh));
}

// Two meshes, the second twice as fine. Prints and checks the slopes.
static void check_slopes(const char* name, MakeFn* make, int32_t order, int32_t cells,
                         double least_l2, double least_h1) {
  NoliContext* context = test_context(2);
  Errors errors[2];
  for (int level = 0; level < 2; level++) {
    NoliMesh* mesh = NULL;
    make(context, cells << level, order, &mesh);
    errors[level] = solve_mesh(context, mesh, order);
  }
  double l2 = log2(errors[0].l2 / errors[1].l2), h1 = log2(errors[0].h1 / errors[1].h1);
  print_message("%s, order %d, %d and %d cells, %d and %d nodes: L2 %.2e %.2e slope %.2f, "
                "H1 %.2e %.2e slope %.2f\n",
                name, order, cells, 2 * cells, errors[0].n_node, errors[1].n_node, errors[0].l2,
                errors[1].l2, l2, errors[0].h1, errors[1].h1, h1);
  ASSERT_AT_LEAST(l2, least_l2);
  ASSERT_AT_LEAST(h1, least_h1);
  test_context_done(&context);
}

static const int32_t coarse[NOLI_ORDER_MAX + 1] = {0, 6, 3, 2, 2};

static void straight(void** state) {
  (void)state;
  for (int32_t order = 1; order <= NOLI_ORDER_MAX; order++) {
    check_slopes("box", make_box, order, coarse[order], order + 0.8, order - 0.15);
  }
}

static void curved(void** state) {
  (void)state;
  for (int32_t order = 1; order <= NOLI_ORDER_MAX; order++) {
    check_slopes("tube", make_tube, order, coarse[order], order + 0.8, order - 0.15);
  }
}

// The map of the ball is not smooth at its centre, where third derivatives grow like the inverse
// distance: full order can be expected of order 2 only.
static void ball(void** state) {
  (void)state;
  check_slopes("ball", make_ball, 2, 4, 2.8, 1.85);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(force_of_solution),
      cmocka_unit_test(straight),
      cmocka_unit_test(curved),
      cmocka_unit_test(ball),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
