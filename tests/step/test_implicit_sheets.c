// Open sheets that touch themselves and each other with smooth implicit surfaces: audited after
// every step, or in every iteration.
#include "world.h"

#include "noli/repair.h"

static const double origin[3] = {0, 0, 0}, up[3] = {0, 1, 0};

static World sheet_world(bool implicit) {
  World world = world_new(1);
  world.def.contact_model = "implicit_surface";
  world.def.solver = "projected_newton";
  world_use_friction(&world, implicit ? "implicit" : "lagged");
  world.def.contact_distance = (NoliScaled){4e-3, false};
  return world;
}

// A sheet in the plane y = 0, turned about x.
static int32_t add_sheet(World* world, const double size[2], const int32_t cells[2], double angle,
                         const double at[3]) {
  NoliMesh* mesh = NULL;
  ASSERT_OK(noli_mesh_make_plane(world->context, size[0], size[1], cells[0], cells[1], &mesh));
  noli_mesh_transform(mesh, (double[]){1, 1, 1}, (double[]){angle, 0, 0}, origin);
  int32_t sheet = world_add(world, mesh, at);
  NoliBodyDef* body = &world->body[sheet];
  body->shell.thickness = 1e-3;
  body->material = (NoliMaterialDef){
      .law = "stvk", .young = 1e5, .poisson = 0.3, .density = 300.0, .damping = 0.005};
  return sheet;
}

// A strip that stands on its short side falls and folds onto itself, also in few large steps.
static void a_strip_folds_onto_itself(void** state) {
  (void)state;
  static const struct {
    bool implicit;
    double h;
    int n_step;
  } cases[] = {{false, 0.02, 30}, {true, 0.02, 30}, {false, 0.2, 4}, {true, 0.2, 4}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    World world = sheet_world(cases[k].implicit);
    add_sheet(&world, (double[]){0.2, 0.8}, (int32_t[]){4, 16}, 80.0, (double[]){0, 0.42, 0});
    world_add_plane(&world, origin, up);
    world.def.friction = 0.3;
    world.def.audit = "every_iteration";
    world.def.time_step = cases[k].h;
    world_start(&world);
    double closest = (double)INFINITY;
    int32_t iterations = 0;
    for (int i = 0; i < cases[k].n_step; i++) {
      world_step(&world);
      closest = noli_smaller(closest, world.report.min_distance);
      iterations += world.report.newton_iterations;
    }
    const NoliPairForce* within = world_pair(&world, 0, 0);
    print_message("%s, h %g s: %lld contacts within, closest %.3g m, %d iterations\n",
                  cases[k].implicit ? "implicit" : "lagged", cases[k].h,
                  within != NULL ? (long long)within->contacts : 0, closest, iterations);
    assert_true(within != NULL && within->contacts > 10);
    ASSERT_AT_LEAST(closest, 0.0);
    world_done(&world);
  }
}

// Two sheets collide in free fall, face on face, rim on face and rim on rim: momentum is that of
// gravity alone.
static void sheets_collide(void** state) {
  (void)state;
  static const double angle[3] = {0.0, 90.0, 0.0};
  static const double at[3][3] = {{0.03, 0.02, 0.01}, {0.02, 0.12, 0.01}, {0.03, 5e-4, 0.22}};
  static const double speed[3][3] = {{0, -2, 0}, {0, -2, 0}, {0, 0, -2}};
  for (int k = 0; k < 6; k++) {
    World world = sheet_world(false);
    const double size[2] = {0.2, 0.2};
    const int32_t cells[2][2] = {{8, 8}, {7, 7}};
    add_sheet(&world, size, cells[0], 0.0, origin);
    add_sheet(&world, size, cells[1], angle[k % 3], at[k % 3]);
    memcpy(world.body[1].velocity, speed[k % 3], sizeof speed[0]);
    const double fall = 0.5;
    memcpy(world.def.gravity, (double[]){0, -fall, 0}, sizeof world.def.gravity);
    world.def.time_step = 2e-3;
    world.def.friction = k / 3 == 0 ? 0.0 : 0.5;
    world.def.tolerance = (NoliScaled){1e-6, true};
    world_start(&world);
    double start[3], end[3];
    int64_t most = 0;
    for (int i = 0; i < 30; i++) {
      world_step(&world);
      memcpy(i == 0 ? start : end, world.report.momentum, sizeof end);
      most = world.report.contacts > most ? world.report.contacts : most;
      ASSERT_AT_LEAST(world.report.min_distance, 0.0);
    }
    double mass = 2.0 * 0.2 * 0.2 * 1e-3 * 300.0, scale = 2.0 * mass;
    end[1] += mass * fall * 29.0 * 2e-3;
    print_message("momentum changed by %.2g %.2g %.2g of %.2g kg m/s, %lld contacts\n",
                  end[0] - start[0], end[1] - start[1], end[2] - start[2], scale, (long long)most);
    assert_true(most > 0);
    for (int i = 0; i < 3; i++) {
      ASSERT_NEAR(end[i], start[i], 1e-7 * scale);
    }
    world_done(&world);
  }
}

// Without sheets that meet, there is nothing to audit.
static void audits_need_sheets_that_meet(void** state) {
  (void)state;
  World world = sheet_world(false);
  add_sheet(&world, (double[]){0.2, 0.2}, (int32_t[]){2, 2}, 0.0, origin);
  world.body[0].self_contact = false;
  world_expect_refusal(&world, "except between open sheets");
}

// Sheets that start crossed are refused, as with "ipc", and repaired.
static void crossed_sheets_are_refused(void** state) {
  (void)state;
  World world = sheet_world(false);
  world.def.audit = "off";
  const int32_t cells[2] = {3, 3};
  add_sheet(&world, (double[]){0.2, 0.2}, cells, 0.0, origin);
  add_sheet(&world, (double[]){0.2, 0.2}, cells, 90.0, (double[]){0.013, 0.007, 0.011});
  ASSERT_STATUS(world_create(&world), NOLI_ERROR_INTERSECTION);
  NoliDefect* defects = NULL;
  int64_t n = 0;
  ASSERT_OK(noli_sim_check(world.context, &world.def, &defects, &n));
  assert_true(n > 0);
  for (int64_t i = 0; i < n; i++) {
    assert_int_equal(defects[i].kind, NOLI_DEFECT_INTERSECTION);
  }
  noli_sim_check_free(world.context, &defects);

  // the repair moves sheets apart, and leaves alone what may overlap
  const double inside[3] = {0.0, 0.5, 0.0};
  world_add(&world, make_box(&world, 0.1, 0.1, 0.1, 1), inside);
  world_add(&world, make_box(&world, 0.1, 0.1, 0.1, 1), (double[]){0.05, 0.52, 0.01});
  for (int b = 0; b < 4; b++) {
    world.body[b].name = world.name[b];
  }
  NoliRepair repair;
  ASSERT_OK(noli_sim_repair(world.context, &world.def, NULL, &repair));
  assert_int_equal(repair.n_defects, n);
  for (int b = 0; b < 4; b++) {
    world.body[b].x0 = repair.move[b].x0;
    assert_true((repair.move[b].distance > 0.0) == (b < 2));
  }
  world_start(&world);
  world_step(&world);
  noli_repair_free(world.context, &repair);
  world_done(&world);
}

// ---- derivatives --------------------------------------------------------------------------------

// All terms of contact and friction at a point, along two directions (n_vert x 3).
typedef struct Along {
  double energy;    // of those that have one
  double slope;     // of the energy, along u
  double force;     // of all, along w
  double curvature; // w^T J u with the whole Jacobian
  // sums of magnitudes of their parts
  double slopes;
  double curvatures;
} Along;

static double dot(const double* a, const double* b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// a^T B b, or a^T B^T b.
static double form(const double* a, const double* block, const double* b, bool transposed) {
  double sum = 0.0;
  for (int r = 0; r < 3; r++) {
    for (int c = 0; c < 3; c++) {
      sum += a[r] * block[transposed ? 3 * c + r : 3 * r + c] * b[c];
    }
  }
  return sum;
}

// w^T A u of the symmetric or skew matrix of a stencil.
static double stencil_form(const NoliEnergyTerm* term, int64_t s, const double* blocks, double sign,
                           const double* u, const double* w) {
  const int32_t* node = term->node + noli_term_first(term, s);
  const int32_t size = noli_term_size(term, s);
  const double* block = blocks + 9 * noli_term_first_block(term, s);
  double sum = 0.0;
  for (int32_t a = 0; a < size; a++) {
    for (int32_t b = a; b < size; b++, block += 9) {
      if (node[a] == NOLI_NULL_INDEX || node[b] == NOLI_NULL_INDEX) {
        continue;
      }
      const int64_t i = 3 * (int64_t)node[a], j = 3 * (int64_t)node[b];
      sum += form(w + i, block, u + j, false);
      sum += a == b ? 0.0 : sign * form(w + j, block, u + i, true);
    }
  }
  return sum;
}

static void add_term(const NoliEnergyTerm* term, const double* x, const double* u, const double* w,
                     Along* sum) {
  const int64_t n = term->n_stencil;
  double* energy = calloc((size_t)n + 1, sizeof *energy);
  double* gradient = calloc(3 * (size_t)noli_term_first(term, n) + 1, sizeof *gradient);
  double* blocks = calloc(9 * (size_t)noli_term_first_block(term, n) + 1, sizeof *blocks);
  const NoliLocal first = {energy, gradient, blocks}, skew = {.hessian = blocks};
  noli_term_prepare(term, x, 1);
  term->evaluate(term->data, x, 0, n, NOLI_EVAL_ENERGY | NOLI_EVAL_GRADIENT | NOLI_EVAL_HESSIAN,
                 &first);
  for (int64_t s = 0; s < n; s++) {
    sum->energy += energy[s];
    double curvature = stencil_form(term, s, blocks, 1.0, u, w);
    sum->curvature += curvature;
    sum->curvatures += fabs(curvature);
    for (int32_t k = 0; k < noli_term_size(term, s); k++) {
      const int64_t at = noli_term_first(term, s) + k;
      if (term->node[at] != NOLI_NULL_INDEX) {
        double slope = dot(gradient + 3 * at, u + 3 * (int64_t)term->node[at]);
        sum->slope += term->skew ? 0.0 : slope;
        sum->slopes += fabs(slope);
        sum->force += dot(gradient + 3 * at, w + 3 * (int64_t)term->node[at]);
      }
    }
  }
  if (term->skew) {
    term->evaluate(term->data, x, 0, n, NOLI_EVAL_SKEW, &skew);
    for (int64_t s = 0; s < n; s++) {
      sum->curvature += stencil_form(term, s, blocks, -1.0, u, w);
    }
  }
  free(energy);
  free(gradient);
  free(blocks);
}

// Searches contacts anew at x + step u.
static Along evaluate_along(NoliStage* stage, const double* x, double step, const double* u,
                            const double* w) {
  Along sum = {0};
  for (int32_t i = 0; i < 3 * stage->problem->n_vert; i++) {
    stage->here->x[i] = x[i] + step * u[i];
  }
  ASSERT_OK(noli_stage_find_contacts(stage));
  for (int32_t k = stage->terms.first_contact; k < stage->terms.n; k++) {
    add_term(&stage->here->term[k], stage->here->x, u, w, &sum);
  }
  return sum;
}

// Random directions around x (n_vert x 3), with random sliding. `smooth`: no second derivative has
// a kink at x.
static void compare_with_differences(NoliStage* stage, const double* x, double gap, bool smooth) {
  const int32_t n = 3 * stage->problem->n_vert;
  double* u = malloc(sizeof *u * (size_t)n);
  double* w = malloc(sizeof *w * (size_t)n);
  TestRandom random = {7};
  for (int trial = 0; trial < 4; trial++) {
    for (int32_t i = 0; i < n; i++) {
      u[i] = test_random(&random, -1.0, 1.0);
      w[i] = test_random(&random, -1.0, 1.0);
      stage->time.x_hat[i] = x[i] + gap * test_random(&random, -1.0, 1.0);
    }
    const double step = 1e-5 * gap;
    Along low = evaluate_along(stage, x, -step, u, w);
    Along high = evaluate_along(stage, x, step, u, w);
    Along here = evaluate_along(stage, x, 0.0, u, w);
    double slope = (high.energy - low.energy) / (2.0 * step);
    double curvature = (high.force - low.force) / (2.0 * step);
    assert_true(here.energy > 0.0 && here.slopes > 0.0);
    ASSERT_NEAR(slope, here.slope, (smooth ? 1e-6 : 1e-4) * here.slopes);
    if (smooth) {
      ASSERT_NEAR(curvature, here.curvature, 1e-5 * here.curvatures);
    }
  }
  free(u);
  free(w);
}

static double* copy_positions(const World* world) {
  size_t size = 3 * sizeof(double) * (size_t)noli_sim_vertex_count(world->sim);
  double* x = malloc(size);
  memcpy(x, noli_sim_positions(world->sim), size);
  return x;
}

// Penalty, barrier and the friction of both, in folds and on the ground. Layers at rest have
// features right above each other, where closest features change: the vertices are moved.
static void derivatives_of_folds_agree_with_differences(void** state) {
  (void)state;
  World world = sheet_world(true);
  add_sheet(&world, (double[]){0.2, 0.8}, (int32_t[]){4, 16}, 80.0, (double[]){0, 0.42, 0});
  world_add_plane(&world, origin, up);
  world.def.friction = 0.3;
  world.def.time_step = 0.02;
  world_start(&world);
  int n_folded = 0;
  TestRandom random = {11};
  for (int i = 1; i <= 30; i++) {
    world_step(&world);
    if (i % 6 == 0 && world_pair(&world, 0, 0) != NULL) {
      double* x = copy_positions(&world);
      for (int32_t k = 0; k < 3 * noli_sim_vertex_count(world.sim); k++) {
        x[k] += 0.1 * world.report.min_distance * test_random(&random, -1.0, 1.0);
      }
      compare_with_differences(world.sim->stage, x, world.report.min_distance, true);
      free(x);
      n_folded++;
    }
  }
  assert_true(n_folded > 2);
  world_done(&world);
}

// Equal sheets one above the other: all edges are parallel and all vertices coincide.
static void derivatives_of_equal_sheets_agree_with_differences(void** state) {
  (void)state;
  World world = sheet_world(true);
  const double size[2] = {0.2, 0.2}, gravity[3] = {0, 0, 0};
  const int32_t cells[2] = {4, 4};
  add_sheet(&world, size, cells, 0.0, origin);
  add_sheet(&world, size, cells, 0.0, (double[]){0, 6e-4, 0});
  memcpy(world.def.gravity, gravity, sizeof gravity);
  world.def.friction = 0.3;
  world.def.time_step = 1e-4;
  world_start(&world);
  world_step(&world);
  double* x = copy_positions(&world);
  compare_with_differences(world.sim->stage, x, world.report.min_distance, false);
  free(x);
  world_done(&world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_strip_folds_onto_itself),
      cmocka_unit_test(sheets_collide),
      cmocka_unit_test(audits_need_sheets_that_meet),
      cmocka_unit_test(crossed_sheets_are_refused),
      cmocka_unit_test(derivatives_of_folds_agree_with_differences),
      cmocka_unit_test(derivatives_of_equal_sheets_agree_with_differences),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
