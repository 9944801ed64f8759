// Every type in the table of blocks: its orientation against brute force, its masses and energies
// against each other.
#include "support.h"

#include "fem/block.h"
#include "fem/mass.h"
#include "material/reference.h"

enum { OFFSET = 2 }; // vertices of the scene that belong to no body

static const double density = 3.0, damping_time = 0.2;

// Supported types: linear tetrahedra, then others.
static const struct { int32_t order, geometry_order; } cases[] = {{1, 1}, {2, 1}, {1, 2}, {3, 2}};
enum { N_CASES = sizeof cases / sizeof cases[0] };

// A block with one ball, or two if bodies share it, and positions x and a direction p.
typedef struct Scene {
  NoliContext* context;
  NoliMesh* mesh;
  NoliBlock block;
  int32_t n_body;
  int32_t n_vert;
  double *X, *x, *p, *mass;
} Scene;

static NoliLame lame_of(void) {
  NoliMaterialDef material = {.young = 1.0, .poisson = 0.3};
  return noli_material_lame(&material);
}

static void add_ball(Scene* s, int32_t b, int32_t order) {
  int32_t n = s->mesh->n_tet, *corner = malloc(4 * (size_t)n * sizeof *corner);
  NoliBlockBody body = {
      .mesh = s->mesh, .order = order, .first_node = s->n_vert, .n_element = n, .corner = corner};
  for (int32_t i = 0; i < 4 * n; i++) {
    corner[i] = s->n_vert + s->mesh->tet[i];
  }
  assert_ptr_equal(noli_block_type_for(&body), s->block.type);
  ASSERT_OK(s->block.type->add(&s->block, b * n, &body));
  free(corner);
  const NoliSpace* space = s->block.space;
  int32_t n_node = space != NULL ? space->n_node : s->mesh->n_vert;
  memcpy(s->X + 3 * s->n_vert, space != NULL ? space->X : s->mesh->x,
         3 * (size_t)n_node * sizeof *s->X);
  s->n_vert += n_node;
}

// `prony`: of two thirds of the elements; NULL: none.
static void scene_begin_with(Scene* s, int32_t order, int32_t geometry_order, double beta,
                             const NoliProny* prony) {
  *s = (Scene){.context = test_context(2), .n_vert = OFFSET};
  ASSERT_OK(noli_mesh_make_curved_sphere(s->context, 0.8, 2, geometry_order, &s->mesh));
  NoliBlockBody body = {.mesh = s->mesh, .order = order};
  const NoliBlockType* type = noli_block_type_for(&body);
  s->n_body = type->shared ? 2 : 1;
  s->block = (NoliBlock){.type = type, .n_element = s->n_body * s->mesh->n_tet};
  ASSERT_OK(noli_block_create(s->context, &s->block));
  size_t room = 3 * 4000;
  s->X = calloc(4 * room, sizeof *s->X);
  s->x = s->X + room;
  s->p = s->x + room;
  s->mass = s->p + room;
  for (int32_t b = 0; b < s->n_body; b++) {
    add_ball(s, b, order);
  }
  NoliLame lame = lame_of();
  if (prony != NULL) {
    ASSERT_OK(noli_block_reserve_prony(&s->block, 1));
  }
  for (int32_t t = 0; t < s->block.n_element; t++) {
    if (prony != NULL) {
      noli_block_set_prony(&s->block, t, t % 3 > 0 ? prony : NULL);
    }
    s->block.law[t] = noli_material_find("neo_hookean");
    s->block.lame_mu[t] = lame.mu;
    s->block.lame_lambda[t] = lame.lambda;
    s->block.density[t] = density;
    s->block.damping_time[t] = t % 3 > 0 ? beta : 0.0;
  }
  for (int32_t b = 0; b < s->n_body && type->set_rest != NULL; b++) {
    int32_t begin = b * s->mesh->n_tet;
    ASSERT_OK(type->set_rest(&s->block, begin, begin + s->mesh->n_tet, 0, s->X, 0.0));
  }
  ASSERT_OK(type->finish(&s->block));
  type->add_mass(&s->block, s->mass);
  TestRandom random = {17};
  for (int32_t j = 3 * OFFSET; j < 3 * s->n_vert; j++) {
    s->x[j] = s->X[j] + test_random(&random, -0.01, 0.01);
    s->p[j] = test_random(&random, -1.0, 1.0);
  }
}

static void scene_begin(Scene* s, int32_t order, int32_t geometry_order, double beta) {
  scene_begin_with(s, order, geometry_order, beta, NULL);
}

static void scene_end(Scene* s) {
  free(s->X);
  noli_block_destroy(&s->block);
  assert_null(s->block.node);
  noli_mesh_destroy(s->context, &s->mesh);
  test_context_done(&s->context);
}

// The first element that is inverted at x + alpha p.
static int32_t first_at(const Scene* s, double alpha, double* moved) {
  for (int32_t j = 0; j < 3 * s->n_vert; j++) {
    moved[j] = s->x[j] + alpha * s->p[j];
  }
  int32_t first = NOLI_NULL_INDEX;
  for (int32_t t = s->block.n_element - 1; t >= 0; t--) {
    first = s->block.type->is_inverted(&s->block, moved, t) ? t : first;
  }
  return first;
}

static void bounds_of_inversion_match_sampling(void** state) {
  (void)state;
  for (int i = 0; i < N_CASES; i++) {
    Scene s;
    scene_begin(&s, cases[i].order, cases[i].geometry_order, 0.0);
    const NoliBlockType* type = s.block.type;
    double* moved = malloc(3 * (size_t)s.n_vert * sizeof *moved);
    int32_t blocking;
    double bound = type->inversion_bound(&s.block, s.x, s.p, 0.0, false, 2, &blocking);
    assert_true(bound > 0.0 && bound < 1.0 && blocking != NOLI_NULL_INDEX);
    // valid before the bound, and the named element inverts just behind it
    for (int k = 0; k <= 50; k++) {
      assert_int_equal(first_at(&s, bound * k / 50.0, moved), NOLI_NULL_INDEX);
    }
    assert_int_not_equal(first_at(&s, 1.0001 * bound, moved), NOLI_NULL_INDEX);
    assert_true(type->is_inverted(&s.block, moved, blocking));
    // any number of threads; and a smaller bound where elements must keep some of their volume
    int32_t same;
    assert_true(type->inversion_bound(&s.block, s.x, s.p, 0.0, false, 1, &same) == bound);
    assert_int_equal(same, blocking);
    assert_true(type->inversion_bound(&s.block, s.x, s.p, 0.3, false, 2, &same) < bound);
    free(moved);
    scene_end(&s);
  }
}

static double dot(const Scene* s, const double* a, const double* b) {
  double sum = 0.0;
  for (int32_t j = 0; j < 3 * s->n_vert; j++) {
    sum += a[j] * b[j];
  }
  return sum;
}

// Sum of a term at x; its gradient (n_vert x 3).
static double evaluate(const Scene* s, const NoliEnergyTerm* term, const double* x,
                       double* gradient) {
  int64_t n = term->n_stencil * term->size;
  double* energy = malloc((size_t)term->n_stencil * sizeof *energy);
  double* local = malloc(3 * (size_t)n * sizeof *local);
  NoliLocal out = {.energy = energy, .gradient = local};
  term->evaluate(term->data, x, 0, term->n_stencil, NOLI_EVAL_ENERGY | NOLI_EVAL_GRADIENT, &out);
  double sum = 0.0;
  memset(gradient, 0, 3 * (size_t)s->n_vert * sizeof *gradient);
  for (int64_t t = 0; t < term->n_stencil; t++) {
    sum += energy[t];
  }
  for (int64_t i = 0; i < 3 * n; i++) {
    gradient[3 * term->node[i / 3] + i % 3] += local[i];
  }
  free(energy);
  free(local);
  return sum;
}

// The volume of all bodies, with the exact rule.
static double exact_volume(const Scene* s) {
  NoliSpace space;
  int32_t n = s->mesh->n_tet;
  double volume = 0.0, *part = malloc(4 * (size_t)n * sizeof *part);
  ASSERT_OK(noli_space_create(s->context, s->mesh, 1, &space));
  ASSERT_OK(noli_space_moments(s->context, &space, part, part + n));
  for (int32_t t = 0; t < n; t++) {
    volume += s->n_body * part[t];
  }
  noli_space_destroy(s->context, &space);
  free(part);
  return volume;
}

static void masses_and_volumes_add_up(void** state) {
  (void)state;
  for (int i = 0; i < N_CASES; i++) {
    Scene s;
    scene_begin(&s, cases[i].order, cases[i].geometry_order, 0.0);
    const NoliBlock* block = &s.block;
    double volume = noli_block_rest_volume(block, 0, block->n_element), parts = 0.0;
    int32_t step = s.mesh->n_tet / 3;
    for (int32_t t = 0; t < block->n_element; t += step) {
      int32_t end = t + step < block->n_element ? t + step : block->n_element;
      parts += noli_block_rest_volume(block, t, end);
    }
    ASSERT_NEAR(parts, volume, 1e-14 * volume);
    double exact = exact_volume(&s);
    ASSERT_NEAR(volume, exact, 1e-13 * exact);
    double total = 0.0;
    for (int32_t v = 0; v < s.n_vert; v++) {
      assert_true(v < OFFSET ? s.mass[v] == 0.0 : s.mass[v] > 0.0);
      total += s.mass[v];
    }
    ASSERT_NEAR(total, density * exact, 1e-13 * total);
    // four times the stiffness: waves take half the time
    assert_true(noli_block_wave_time_sqr(block) > 0.0);
    double wave = noli_block_wave_time_sqr(block);
    double frequency = noli_block_frequency_sqr(block, 0, block->n_element, s.mass);
    for (int32_t t = 0; t < block->n_element; t++) {
      block->lame_mu[t] *= 4.0;
      block->lame_lambda[t] *= 4.0;
    }
    ASSERT_NEAR(noli_block_wave_time_sqr(block), wave / 4.0, 1e-14 * wave);
    ASSERT_NEAR(noli_block_frequency_sqr(block, 0, block->n_element, s.mass), 4.0 * frequency,
                1e-14 * frequency);
    scene_end(&s);
  }
}

// Inverse, product, norm, row sums and the term of inertia all use the same matrix.
static void consistent_masses_agree(void** state) {
  (void)state;
  int n_consistent = 0;
  for (int i = 0; i < N_CASES; i++) {
    Scene s;
    scene_begin(&s, cases[i].order, cases[i].geometry_order, 0.0);
    const NoliBlock* block = &s.block;
    const NoliBlockType* type = block->type;
    double* y = calloc(3 * (size_t)s.n_vert, 3 * sizeof *y);
    double *z = y + 3 * s.n_vert, *gradient = z + 3 * s.n_vert;
    NoliBlockEnergy data = {.block = block, .scale = 0.7, .reference = s.X};
    NoliEnergyTerm term = noli_block_inertia_term(&data);
    if (block->n_consistent == 0) {
      // all mass is at the nodes
      assert_int_equal(term.n_stencil, 0);
      assert_true(type->multiply_mass == NULL && type->inertia == NULL);
    } else {
      n_consistent++;
      type->multiply_mass(block, s.p, 2, y);
      double norm_sqr = type->mass_norm_sqr(block, s.p, NULL, 2);
      ASSERT_NEAR(norm_sqr, dot(&s, s.p, y), 1e-13 * norm_sqr);
      type->divide_by_mass(block, y, 2, z);
      for (int32_t j = 0; j < 3 * s.n_vert; j++) {
        ASSERT_NEAR(z[j], s.p[j], 1e-11);
        z[j] = j % 3 == 1 ? 2.0 : 0.0;
      }
      // a uniform velocity: the total mass, as row sums add up
      double total = density * exact_volume(&s), rows = 0.0;
      double uniform = type->mass_norm_sqr(block, z, NULL, 2);
      ASSERT_NEAR(0.5 * uniform, 0.5 * total * 4.0, 1e-12 * total);
      memset(z, 0, (size_t)s.n_vert * sizeof *z);
      type->set_weight(block, z);
      for (int32_t v = 0; v < s.n_vert; v++) {
        rows += z[v];
      }
      ASSERT_NEAR(rows, total, 1e-12 * total);
      // the term, and the norm of a difference
      double energy = evaluate(&s, &term, s.x, gradient);
      double want = 0.5 * 0.7 * type->mass_norm_sqr(block, s.x, s.X, 2);
      ASSERT_NEAR(energy, want, 1e-12 * want);
      for (int32_t j = 0; j < 3 * s.n_vert; j++) {
        z[j] = 0.7 * (s.x[j] - s.X[j]);
      }
      type->multiply_mass(block, z, 1, y);
      for (int32_t j = 0; j < 3 * s.n_vert; j++) {
        ASSERT_NEAR(gradient[j], y[j], 1e-15);
      }
    }
    free(y);
    scene_end(&s);
  }
  assert_int_equal(n_consistent, 3);
}

static void energies_have_their_gradients(void** state) {
  (void)state;
  for (int i = 0; i < N_CASES; i++) {
    Scene s;
    scene_begin(&s, cases[i].order, cases[i].geometry_order, 0.0);
    const NoliBlock* block = &s.block;
    double* gradient = calloc(3 * (size_t)s.n_vert, 3 * sizeof *gradient);
    double *moved = gradient + 3 * s.n_vert, *unused = moved + 3 * s.n_vert;
    NoliBlockEnergy data = {.block = block, .scale = 0.7};
    NoliEnergyTerm term = noli_block_elasticity_term(&data);
    ASSERT_NEAR(evaluate(&s, &term, s.X, gradient), 0.0, 1e-14);
    ASSERT_NEAR(sqrt(dot(&s, gradient, gradient)), 0.0, 1e-13);
    double energy = evaluate(&s, &term, s.x, gradient), along = dot(&s, gradient, s.p);
    double difference = 0.0, h = 1e-6;
    for (int side = -1; side <= 1; side += 2) {
      for (int32_t j = 0; j < 3 * s.n_vert; j++) {
        moved[j] = s.x[j] + side * h * s.p[j];
      }
      difference += side * evaluate(&s, &term, moved, unused) / (2.0 * h);
    }
    assert_true(energy > 0.0);
    ASSERT_NEAR(difference, along, 1e-6 * fabs(along));
    data.scale = 1.4;
    ASSERT_NEAR(evaluate(&s, &term, s.x, unused), 2.0 * energy, 1e-14 * energy);
    free(gradient);
    scene_end(&s);
  }
}

// A uniform stretch has one stress; each body alone has that of all.
static void stresses_are_those_of_the_law(void** state) {
  (void)state;
  for (int i = 0; i < N_CASES; i++) {
    if (cases[i].geometry_order > cases[i].order) {
      continue; // cannot be stretched uniformly
    }
    Scene s;
    scene_begin(&s, cases[i].order, cases[i].geometry_order, 0.0);
    const NoliBlock* block = &s.block;
    NoliMat3 F = noli_diagonal33((double[3]){1.1, 0.95, 1.0});
    for (int32_t v = 0; v < s.n_vert; v++) {
      noli_store3(s.x + 3 * v, noli_mul33_vec(&F, noli_load3(s.X + 3 * v)));
    }
    NoliLame lame = lame_of();
    double want = material_von_mises(block->law[0], lame, &F);
    assert_true(want > 0.05);
    for (int32_t t = 0; t < block->n_element; t++) {
      NoliStress sum = {0};
      block->type->add_stress(block, t, s.x, &sum);
      ASSERT_NEAR(sum.von_mises, want * noli_block_rest_volume(block, t, t + 1), 1e-12);
    }
    scene_end(&s);
  }
}

// Largest error of the Hessian of a few elements along p against differences of the gradient, over
// the largest entry of the product.
static double hessian_error(const Scene* s, const NoliEnergyTerm* term) {
  enum { NODES = NOLI_TET_NODES_MAX };
  int32_t n = term->size;
  int64_t size = 9 * noli_stencil_blocks(n);
  double worst = 0.0, h = 1e-6;
  double* all_gradients = malloc((size_t)(3 * n * term->n_stencil) * sizeof *all_gradients);
  double* all_hessians = malloc((size_t)(size * term->n_stencil) * sizeof *all_hessians);
  for (int64_t t = 0; t < term->n_stencil; t += 7) {
    const int32_t* node = term->node + n * t;
    double gradient[2][3 * NODES], product[3 * NODES] = {0.0}, largest = 0.0;
    double* moved = malloc(3 * (size_t)s->n_vert * sizeof *moved);
    for (int side = 0; side < 2; side++) {
      for (int32_t j = 0; j < 3 * s->n_vert; j++) {
        moved[j] = s->x[j] + (side == 0 ? -h : h) * s->p[j];
      }
      NoliLocal local = {.gradient = all_gradients};
      term->evaluate(term->data, moved, t, t + 1, NOLI_EVAL_GRADIENT, &local);
      memcpy(gradient[side], all_gradients, 3 * (size_t)n * sizeof(double));
    }
    NoliLocal local = {.hessian = all_hessians};
    term->evaluate(term->data, s->x, t, t + 1, NOLI_EVAL_HESSIAN, &local);
    const double* hessian = all_hessians;
    for (int32_t a = 0; a < n; a++) {
      for (int32_t b = 0; b < n; b++) {
        const double* block = hessian + 9 * noli_stencil_block(n, a < b ? a : b, a < b ? b : a);
        for (int i = 0; i < 9; i++) {
          int row = i / 3, column = i % 3;
          product[3 * a + row] += block[a <= b ? i : 3 * column + row] * s->p[3 * node[b] + column];
        }
      }
    }
    for (int32_t i = 0; i < 3 * n; i++) {
      largest = noli_larger(largest, fabs(product[i]));
    }
    assert_true(largest > 0.0);
    for (int32_t i = 0; i < 3 * n; i++) {
      double difference = (gradient[1][i] - gradient[0][i]) / (2.0 * h);
      worst = noli_larger(worst, fabs(difference - product[i]) / largest);
    }
    free(moved);
  }
  free(all_gradients);
  free(all_hessians);
  return worst;
}

// The projected Hessian of sums of branches along random directions: not negative, and not below
// the plain one, to which it is equal in the number of elements returned.
static int32_t check_projection(const Scene* s, const NoliEnergyTerm* term) {
  enum { NODES = NOLI_TET_NODES_MAX };
  int32_t n = term->size, n_equal = 0;
  int64_t size = 9 * noli_stencil_blocks(n);
  double* all[2];
  for (int k = 0; k < 2; k++) {
    all[k] = malloc((size_t)(size * term->n_stencil) * sizeof *all[k]);
    NoliLocal local = {.hessian = all[k]};
    term->evaluate(term->data, s->x, 0, term->n_stencil,
                   k == 0 ? NOLI_EVAL_HESSIAN : NOLI_EVAL_PROJECTED, &local);
  }
  TestRandom random = {29};
  for (int64_t t = 0; t < term->n_stencil; t++) {
    const double* hessian[2] = {all[0] + size * t, all[1] + size * t};
    double largest = 0.0, difference = 0.0;
    for (int64_t i = 0; i < size; i++) {
      largest = noli_larger(largest, fabs(hessian[0][i]));
      difference = noli_larger(difference, fabs(hessian[0][i] - hessian[1][i]));
    }
    n_equal += difference < 1e-10 * largest ? 1 : 0;
    for (int trial = 0; trial < 20; trial++) {
      double p[3 * NODES], form[2] = {0.0, 0.0};
      for (int32_t i = 0; i < 3 * n; i++) {
        p[i] = test_random(&random, -1.0, 1.0);
      }
      for (int k = 0; k < 2; k++) {
        for (int32_t a = 0; a < n; a++) {
          for (int32_t b = a; b < n; b++) {
            const double* block = hessian[k] + 9 * noli_stencil_block(n, a, b);
            for (int i = 0; i < 9; i++) {
              form[k] += (a == b ? 1.0 : 2.0) * p[3 * a + i / 3] * block[i] * p[3 * b + i % 3];
            }
          }
        }
      }
      ASSERT_AT_LEAST(form[1], -1e-11 * largest);
      ASSERT_AT_LEAST(form[1], form[0] - 1e-11 * largest);
    }
  }
  free(all[0]);
  free(all[1]);
  return n_equal;
}

// With Prony series in some elements, after a step and in the next one: energy, gradient and
// Hessian agree; the virtual work of the stress is that of the gradient; and the histories do not
// depend on the number of threads.
static void histories_enter_all_derivatives(void** state) {
  (void)state;
  const NoliProny prony = {.n = 2, .share = {0.4, 0.3}, .time = {0.1, 0.02}};
  for (int i = 0; i < N_CASES; i++) {
    Scene s;
    scene_begin_with(&s, cases[i].order, cases[i].geometry_order, 0.0, &prony);
    NoliBlock* block = &s.block;
    assert_true(block->n_history > 0 && block->n_history % 18 == 0);
    size_t size = (size_t)block->n_history * sizeof(double);
    double *history = malloc(size), *rest = malloc(size);
    double* gradient = calloc(3 * (size_t)s.n_vert, 2 * sizeof *gradient);
    double* moved = gradient + 3 * s.n_vert;
    NoliBlockEnergy data = {.block = block, .scale = 1.0};
    NoliEnergyTerm term = noli_block_elasticity_term(&data);
    noli_block_start_history(block, s.X, history);
    memcpy(rest, history, size);
    block->history = history;
    noli_block_end_stage(block);
    double instantaneous = evaluate(&s, &term, s.x, gradient);

    // nothing changes outside of stages, and not with the number of threads
    noli_block_move_history(block, s.x, 2);
    assert_memory_equal(history, rest, size);
    noli_block_begin_stage(block, s.X, 0.1, 2);
    noli_block_move_history(block, s.x, 2);
    memcpy(block->begun, history, size);
    memcpy(history, rest, size);
    memcpy(rest, block->begun, size);
    noli_block_begin_stage(block, s.X, 0.1, 1);
    noli_block_move_history(block, s.x, 1);
    assert_memory_equal(history, rest, size);
    double relaxed = evaluate(&s, &term, s.x, gradient);
    assert_true(relaxed < 0.9 * instantaneous);

    // in the next step
    noli_block_begin_stage(block, s.x, 0.05, 2);
    for (int32_t j = 3 * OFFSET; j < 3 * s.n_vert; j++) {
      s.x[j] += 0.005 * s.p[j];
    }
    evaluate(&s, &term, s.x, gradient);
    double along = dot(&s, gradient, s.p), difference = 0.0, h = 1e-6;
    for (int side = -1; side <= 1; side += 2) {
      double* unused = malloc(3 * (size_t)s.n_vert * sizeof *unused);
      for (int32_t j = 0; j < 3 * s.n_vert; j++) {
        moved[j] = s.x[j] + side * h * s.p[j];
      }
      difference += side * evaluate(&s, &term, moved, unused) / (2.0 * h);
      free(unused);
    }
    ASSERT_NEAR(difference, along, 1e-6 * fabs(along));
    ASSERT_AT_MOST(hessian_error(&s, &term), 1e-6);
    assert_in_range(check_projection(&s, &term), 0, block->n_element - 1);

    // inflated: all is under tension, and nothing is projected
    memcpy(moved, s.x, 3 * (size_t)s.n_vert * sizeof *moved);
    for (int32_t j = 3 * OFFSET; j < 3 * s.n_vert; j++) {
      s.x[j] = 1.3 * s.X[j] + 0.1 * (s.x[j] - s.X[j]);
    }
    assert_int_equal(check_projection(&s, &term), block->n_element);
    memcpy(s.x, moved, 3 * (size_t)s.n_vert * sizeof *moved);

    // A : sum of P V, with dx = A X
    if (cases[i].geometry_order <= cases[i].order) {
      const NoliMat3 A = {{{0.3, -0.2, 0.5}, {0.1, 0.7, -0.4}, {-0.6, 0.2, 0.9}}};
      NoliStress sum = {0};
      double work = 0.0, want = 0.0;
      for (int32_t t = 0; t < block->n_element; t++) {
        block->type->add_stress(block, t, s.x, &sum);
      }
      for (int k = 0; k < 9; k++) {
        work += sum.first_piola[k] * A.m[k / 3][k % 3];
      }
      for (int32_t v = 0; v < s.n_vert; v++) {
        want +=
            noli_dot3(noli_load3(gradient + 3 * v), noli_mul33_vec(&A, noli_load3(s.X + 3 * v)));
      }
      assert_true(fabs(want) > 1e-4);
      ASSERT_NEAR(work, want, 1e-11);
    }
    free(history);
    free(rest);
    free(gradient);
    scene_end(&s);
  }
}

// Force, loss and term of damping are consistent, and the generic code of all types agrees with the
// special code of one type.
static void damping_agrees_with_itself(void** state) {
  (void)state;
  for (int i = 0; i < N_CASES; i++) {
    Scene s;
    scene_begin(&s, cases[i].order, cases[i].geometry_order, damping_time);
    const NoliBlock* block = &s.block;
    const NoliBlockDamping* ways[] = {block->type->damping, &noli_block_damping};
    double loss[2], *force = calloc(3 * (size_t)s.n_vert, 2 * sizeof *force);
    double* gradient = force + 3 * s.n_vert;
    for (int way = 0; way < 2; way++) {
      double* stiffness =
          malloc((size_t)ways[way]->size(block, NOLI_PART_ELEMENTS) * sizeof *stiffness);
      ways[way]->set(block, NOLI_PART_ELEMENTS, s.X, 2, stiffness);
      loss[way] = ways[way]->loss(block, NOLI_PART_ELEMENTS, stiffness, s.X, s.x, 2);
      assert_true(loss[way] > 0.0);
      NoliBlockEnergy data = {
          .block = block, .scale = 0.7, .reference = s.X, .stiffness = stiffness};
      NoliEnergyTerm term = ways[way]->term(&data);
      double energy = evaluate(&s, &term, s.x, gradient);
      ASSERT_NEAR(energy, 0.35 * loss[way], 1e-13 * energy);
      for (int32_t j = 0; j < 3 * s.n_vert; j++) {
        s.p[j] = 0.7 * (s.x[j] - s.X[j]);
        force[j] = 0.0;
      }
      ways[way]->add_force(block, NOLI_PART_ELEMENTS, stiffness, s.p, force);
      double size = sqrt(dot(&s, force, force));
      for (int32_t j = 0; j < 3 * s.n_vert; j++) {
        ASSERT_NEAR(gradient[j], -force[j], 1e-13 * size);
      }
      free(stiffness);
    }
    ASSERT_NEAR(loss[0], loss[1], 1e-12 * loss[1]);
    free(force);
    scene_end(&s);
    // no damping, no values
    scene_begin(&s, cases[i].order, cases[i].geometry_order, 0.0);
    assert_int_equal(s.block.type->damping->size(&s.block, NOLI_PART_ELEMENTS), 0);
    assert_int_equal(noli_block_damping.size(&s.block, NOLI_PART_ELEMENTS), 0);
    scene_end(&s);
  }
}

// Each type in the table is the one of a case above.
static void all_types_of_solids_are_tested(void** state) {
  (void)state;
  bool seen[16] = {false};
  for (int i = 0; i < N_CASES; i++) {
    Scene s;
    scene_begin(&s, cases[i].order, cases[i].geometry_order, 0.0);
    for (int32_t k = 0; k < noli_block_type_count(); k++) {
      seen[k] = seen[k] || noli_block_type_at(k) == s.block.type;
    }
    scene_end(&s);
  }
  for (int32_t k = 0; k < noli_block_type_count(); k++) {
    // tests/step/test_shells.c has shells, test_rigid.c rigid bodies
    const NoliBlockType* type = noli_block_type_at(k);
    assert_true(seen[k] || !type->solid || type->eases);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_types_of_solids_are_tested),
      cmocka_unit_test(bounds_of_inversion_match_sampling),
      cmocka_unit_test(masses_and_volumes_add_up),
      cmocka_unit_test(consistent_masses_agree),
      cmocka_unit_test(energies_have_their_gradients),
      cmocka_unit_test(stresses_are_those_of_the_law),
      cmocka_unit_test(histories_enter_all_derivatives),
      cmocka_unit_test(damping_agrees_with_itself),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
