// Derivatives of the forces of shells and rods by rest positions and moduli, of those of their
// damping, and of their energies: against central differences of blocks that are made again, at
// rest, at random places and far from rest.
#include "fem/derivatives/element_derivatives.h"
#include "fem/derivatives/energy_derivatives.h"
#include "math/larger.h"
#include "support.h"

#include <math.h>
#include <string.h>

enum { N_VERT = 8, N_ELEMENT = 7, N_NODE = N_VERT + N_ELEMENT, SIZE = 3 * N_NODE };

typedef struct Case {
  const char* name;
  NoliShellDef shell;
  NoliRodDef rod;
  const char* law;
  bool by_rest;
  double damping; // s: of the force of damping
  bool forked;    // of the sheet with an edge of three triangles
} Case;

// A hexagon around a vertex, and one more triangle; or a chain with a branch.
static const int32_t triangles[N_ELEMENT][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 4}, {0, 4, 5},
                                                {0, 5, 6}, {6, 1, 0}, {1, 7, 2}};
// Three triangles around a vertex, and three at an edge.
static const int32_t forked[N_ELEMENT][3] = {{0, 5, 1}, {0, 1, 3}, {0, 3, 5}, {1, 5, 6},
                                             {3, 1, 2}, {1, 7, 2}, {3, 1, 7}};
static const int32_t segments[N_ELEMENT][2] = {{0, 1}, {1, 2}, {3, 2}, {3, 4},
                                               {4, 5}, {5, 6}, {7, 3}};

static void place(TestRandom* random, bool flat, double X[SIZE]) {
  static const double at[N_VERT][2] = {{0, 0},      {1, 0},     {0.5, 0.9},  {-0.5, 0.9},
                                       {-1.1, 0.1}, {-0.4, -1}, {0.5, -0.8}, {1.4, 0.8}};
  memset(X, 0, SIZE * sizeof *X);
  for (int i = 0; i < 2 * N_VERT; i++) {
    X[3 * (i / 2) + i % 2] = at[i / 2][i % 2] + test_random(random, -0.1, 0.1);
  }
  for (int i = 0; i < N_VERT && !flat; i++) {
    X[3 * i + 2] = test_random(random, -0.25, 0.25);
  }
}

static void make(NoliContext* context, const Case* c, const double* X, const double* moduli,
                 NoliBlock* block) {
  int32_t corner[4 * N_ELEMENT];
  bool rod = c->rod.radius > 0.0;
  const int32_t(*sheet)[3] = c->forked ? forked : triangles;
  NoliMesh mesh = {.n_vert = N_VERT};
  for (int e = 0; e < N_ELEMENT; e++) {
    for (int k = 0; k < 4; k++) {
      corner[4 * e + k] = rod && k < 2    ? segments[e][k]
                          : !rod && k < 3 ? sheet[e][k]
                                          : NOLI_NULL_INDEX;
    }
  }
  NoliBlockBody body = {.mesh = &mesh,
                        .order = 1,
                        .n_element = N_ELEMENT,
                        .corner = corner,
                        .shell = c->shell,
                        .rod = c->rod};
  const NoliBlockType* type = noli_block_type_for(&body);
  *block = (NoliBlock){.type = type, .n_element = N_ELEMENT};
  ASSERT_OK(noli_block_create(context, block));
  ASSERT_OK(type->add(block, 0, &body));
  for (int e = 0; e < N_ELEMENT; e++) {
    block->law[e] = noli_material_find(c->law != NULL ? c->law : "neo_hookean");
    block->lame_mu[e] = moduli[2 * e];
    block->lame_lambda[e] = moduli[2 * e + 1];
    block->density[e] = 1.0;
    block->damping_time[e] = e != 2 ? c->damping : 0.5 * c->damping;
  }
  ASSERT_OK(type->set_rest(block, 0, N_ELEMENT, 0, X, 0.0));
  ASSERT_OK(type->finish(block));
}

// Makes the block as `make` does; the frame of rods with twist is that of X0, but for full turns.
static void make_framed(NoliContext* context, const Case* c, const double* X0, const double* X,
                        const double* moduli, double frame[14 * N_ELEMENT], NoliBlock* block) {
  make(context, c, X, moduli, block);
  if (block->n_history > 0) {
    NoliBlock first;
    make(context, c, X0, moduli, &first);
    memcpy(frame, block->history, sizeof *frame * (size_t)block->n_history);
    memcpy(frame, first.history, 6 * N_ELEMENT * sizeof *frame);
    noli_block_destroy(&first);
    block->history = frame;
  }
}

// The gradient of the parts of the energy from `first` on.
static void gradient_of(NoliContext* context, const Case* c, const double* X0, const double* X,
                        const double* moduli, const double* x, int first, double* sum) {
  NoliBlock block;
  double frame[14 * N_ELEMENT];
  make_framed(context, c, X0, X, moduli, frame, &block);
  memset(sum, 0, SIZE * sizeof *sum);
  for (int part = first; part < NOLI_BLOCK_PARTS; part++) {
    NoliBlockEnergy energy = {.block = &block, .part = (NoliBlockPart)part, .scale = 0.7};
    NoliBlockStencils stencils = noli_block_stencils(&block, energy.part);
    for (int64_t s = 0; s < stencils.n; s++) {
      double local[3 * 12];
      NoliLocal out = {.gradient = local};
      stencils.evaluate(&energy, x, s, s + 1, NOLI_EVAL_GRADIENT, &out);
      for (int k = 0; k < 3 * stencils.size; k++) {
        int32_t node = stencils.node[stencils.size * s + k / 3];
        if (node != NOLI_NULL_INDEX) {
          sum[3 * node + k % 3] += local[k];
        }
      }
    }
  }
  noli_block_destroy(&block);
}

// Whether a component is one of a vertex, or the angle of a segment.
static bool moves(const Case* c, int i) {
  return i < 3 * N_VERT || (c->rod.twist > 0.0 && i % 3 == 0);
}

// The same rod with another logarithm of the radius.
static Case with_radius(const Case* c, double change) {
  Case moved = *c;
  moved.rod.radius *= exp(change);
  return moved;
}

// Products of all blocks with changes of rest positions or moduli.
static void derivative_at(NoliContext* context, const Case* c, const double* X,
                          const double* moduli, const double* x, const double* change,
                          double* sum) {
  NoliBlock block;
  NoliMixedList list = {.context = context, .wanted = ~0u};
  double split[2][N_ELEMENT];
  make(context, c, X, moduli, &block);
  memset(sum, 0, SIZE * sizeof *sum);
  for (int part = 0; part < NOLI_BLOCK_PARTS; part++) {
    NoliBlockEnergy energy = {.block = &block, .part = (NoliBlockPart)part, .scale = 0.7};
    ASSERT_OK(c->by_rest
                  ? noli_element_derivatives_by_rest(&list, &block, &energy, X, x)
                  : noli_element_derivatives_by_thin_moduli(&list, &block, &energy, 0, X, x));
  }
  for (int e = 0; e < N_ELEMENT; e++) {
    split[0][e] = change[2 * e];
    split[1][e] = change[2 * e + 1];
  }
  for (int64_t i = 0; i < list.blocks.count; i++) {
    const NoliMixedBlocks* blocks = &list.blocks.data[i];
    noli_mixed_multiply(blocks, c->by_rest ? change : split[blocks->kind == NOLI_INPUT_LAMBDA],
                        sum);
  }
  noli_mixed_list_clear(&list);
  noli_array_free(context, &list.blocks);
  noli_block_destroy(&block);
}

static void set_moduli(TestRandom* random, double* moduli, double* change) {
  for (int e = 0; e < N_ELEMENT; e++) {
    moduli[2 * e] = test_random(random, 0.5, 2.0);
    moduli[2 * e + 1] = test_random(random, 0.3, 3.0) * moduli[2 * e];
    change[2 * e] = test_random(random, -1.0, 1.0);
    change[2 * e + 1] = test_random(random, -1.0, 1.0);
  }
}

static void compare(const Case* c) {
  TestRandom random = {7};
  NoliContext* context = test_context(1);
  double worst = 0.0;
  for (int trial = 0; trial < 30; trial++) {
    double X[SIZE], x[SIZE], moduli[2 * N_ELEMENT], change[SIZE], derivative[SIZE], most = 0.1,
                                                                                    off = INFINITY;
    place(&random, trial % 3 == 1, X);
    memcpy(x, X, sizeof x);
    for (int i = 0; i < SIZE && trial > 1; i++) { // the first are at rest
      x[i] += i < 3 * N_VERT || i % 3 == 0 ? test_random(&random, -0.2, 0.2) : 0.0;
    }
    set_moduli(&random, moduli, change);
    for (int i = 0; i < SIZE && c->by_rest; i++) {
      change[i] = i < 3 * N_VERT ? test_random(&random, -1.0, 1.0) : 0.0;
    }
    derivative_at(context, c, X, moduli, x, change, derivative);
    for (double h = 1e-4; h > 2e-7; h *= 0.2) {
      double end[4][SIZE], apart = 0.0;
      for (int side = 0; side < 4; side++) {
        double moved_X[SIZE], moved[2 * N_ELEMENT], by = (side % 2 == 0 ? -h : h) * (1 + side / 2);
        for (int i = 0; i < SIZE; i++) {
          moved_X[i] = X[i] + (c->by_rest ? by * change[i] : 0.0);
        }
        for (int i = 0; i < 2 * N_ELEMENT; i++) {
          moved[i] = moduli[i] + (c->by_rest ? 0.0 : by * change[i]);
        }
        gradient_of(context, c, X, moved_X, moved, x, 0, end[side]);
      }
      for (int i = 0; i < SIZE; i++) {
        most = noli_larger(most, fabs(derivative[i]));
        double sum = 8.0 * (end[1][i] - end[0][i]) - (end[3][i] - end[2][i]);
        apart = noli_larger(apart, fabs(sum / (12.0 * h) - derivative[i]));
      }
      off = fmin(off, apart);
    }
    worst = noli_larger(worst, off / most);
  }
  print_message("%-28s differences by %.1e\n", c->name, worst);
  ASSERT_AT_MOST(worst, 1e-8);
  test_context_done(&context);
}

#define SHEET .thickness = 0.1, .bending = 3.0
#define WOVEN SHEET, .woven = true, .weft = 0.4, .warp = {0.8, 0.5, 0.6}
#define PLATE .bending_law = "plate"
#define ROD .radius = 0.3, .bending = 1.5

static void by_rest_positions(void** state) {
  (void)state;
  static const Case cases[] = {
      {.name = "neo-Hookean sheet", .shell = {SHEET}, .by_rest = true},
      {.name = "stvk sheet with a limit",
       .shell = {SHEET, .limit = 2.5},
       .law = "stvk",
       .by_rest = true},
      {.name = "woven sheet", .shell = {WOVEN}, .by_rest = true},
      {.name = "woven sheet with a limit",
       .shell = {WOVEN, .shear = 0.2, .limit = 2.5},
       .by_rest = true},
      {.name = "warp across the sheet",
       .shell = {SHEET, .woven = true, .weft = 0.4},
       .by_rest = true},
      {.name = "forked sheet", .shell = {WOVEN}, .forked = true, .by_rest = true},
      {.name = "plate", .shell = {SHEET, PLATE}, .by_rest = true},
      {.name = "woven plate", .shell = {WOVEN, PLATE, .shear = 0.2}, .by_rest = true},
      {.name = "plate, warp across it",
       .shell = {SHEET, PLATE, .woven = true, .weft = 0.4},
       .by_rest = true},
      {.name = "forked plate", .shell = {SHEET, PLATE}, .forked = true, .by_rest = true},
      {.name = "forked woven plate", .shell = {WOVEN, PLATE}, .forked = true, .by_rest = true},
      {.name = "rod", .rod = {ROD}, .by_rest = true},
      {.name = "rod with twist", .rod = {ROD, .twist = 1.2}, .by_rest = true},
      {.name = "tape with twist",
       .rod = {ROD, .twist = 1.2, .second_radius = 0.1, .normal = {0, 0, 1}},
       .by_rest = true},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    compare(&cases[i]);
  }
}

static void by_moduli(void** state) {
  (void)state;
  static const Case cases[] = {
      {.name = "neo-Hookean sheet", .shell = {SHEET}},
      {.name = "stvk sheet with a limit", .shell = {SHEET, .limit = 2.5}, .law = "stvk"},
      {.name = "woven sheet", .shell = {WOVEN}},
      {.name = "woven sheet, shear", .shell = {WOVEN, .shear = 0.2}},
      {.name = "plate", .shell = {SHEET, PLATE}},
      {.name = "woven plate", .shell = {WOVEN, PLATE}},
      {.name = "woven plate, shear", .shell = {WOVEN, PLATE, .shear = 0.2}},
      {.name = "forked plate", .shell = {SHEET, PLATE}, .forked = true},
      {.name = "rod", .rod = {ROD}},
      {.name = "rod with twist",
       .rod = {ROD, .twist = 1.2, .second_radius = 0.1, .normal = {0, 0, 1}}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    compare(&cases[i]);
  }
}

// ---- by the radius ------------------------------------------------------------------------------

// The bending of rods with twist, with angles that are the same lengths.
static void by_radius(void** state) {
  (void)state;
  static const Case cases[] = {
      {.name = "rod with twist", .rod = {ROD, .twist = 1.2}},
      {.name = "tape with twist",
       .rod = {ROD, .twist = 1.2, .second_radius = 0.1, .normal = {0, 0, 1}}},
  };
  NoliContext* context = test_context(1);
  TestRandom random = {5};
  const int32_t body[N_NODE] = {0};
  for (int trial = 0; trial < 60; trial++) {
    const Case* c = &cases[trial % 2];
    NoliBlock block;
    NoliMixedList list = {.context = context, .wanted = ~0u};
    double X[SIZE], x[SIZE], moduli[2 * N_ELEMENT], none[2 * N_ELEMENT], derivative[SIZE] = {0.0};
    const double change[NOLI_THIN_NUMBERS] = {[NOLI_THIN_RADIUS] = 1.0};
    place(&random, trial % 3 == 1, X);
    set_moduli(&random, moduli, none);
    for (int i = 0; i < SIZE; i++) {
      x[i] = X[i] + (moves(c, i) && trial > 1 ? test_random(&random, -0.3, 0.3) : 0.0);
    }
    make(context, c, X, moduli, &block);
    NoliBlockEnergy energy = {.block = &block, .part = NOLI_PART_BENDING, .scale = 0.7};
    ASSERT_OK(noli_element_derivatives_by_parts(&list, &block, &energy, body, x));
    noli_mixed_multiply(&list.blocks.data[0], change, derivative);
    noli_mixed_list_clear(&list);
    noli_array_free(context, &list.blocks);
    noli_block_destroy(&block);

    // differences, without the part of segments
    double most = 0.1, off = 0.0, h = 1e-4, end[4][SIZE];
    for (int side = 0; side < 4; side++) {
      Case moved = with_radius(c, (side % 2 == 0 ? -h : h) * (1 + side / 2));
      gradient_of(context, &moved, X, X, moduli, x, NOLI_PART_BENDING, end[side]);
    }
    for (int i = 0; i < SIZE; i++) {
      double sum = 8.0 * (end[1][i] - end[0][i]) - (end[3][i] - end[2][i]);
      most = noli_larger(most, fabs(derivative[i]));
      off = noli_larger(off, fabs(sum / (12.0 * h) - derivative[i]));
    }
    ASSERT_AT_MOST(off, 1e-9 * most);
  }
  test_context_done(&context);
}

// ---- damping ------------------------------------------------------------------------------------

// The inputs of the force of damping: rest positions, moduli, the point of the stiffness, and
// numbers of its section.
typedef struct Inputs {
  double X[SIZE], y[SIZE], moduli[2 * N_ELEMENT], part[NOLI_THIN_NUMBERS];
} Inputs;

enum { N_INPUT = sizeof(Inputs) / sizeof(double) };

static void damping_force(NoliContext* context, const Case* c, const double* X0, const Inputs* at,
                          const double* w, double* sum) {
  NoliBlock block;
  double v[SIZE], stiffness[9 * 78 * 2 * N_ELEMENT], frame[14 * N_ELEMENT];
  memset(sum, 0, SIZE * sizeof *sum);
  for (int part = 0; part < NOLI_BLOCK_PARTS; part++) {
    Case own = part == NOLI_PART_BENDING ? with_radius(c, at->part[NOLI_THIN_RADIUS]) : *c;
    make_framed(context, &own, X0, at->X, at->moduli, frame, &block);
    for (int i = 0; i < SIZE; i++) {
      v[i] = -0.7 * at->part[part] * w[i];
    }
    block.type->damping->set(&block, (NoliBlockPart)part, at->y, 1, stiffness);
    block.type->damping->add_force(&block, (NoliBlockPart)part, stiffness, v, sum);
    noli_block_destroy(&block);
  }
}

static void damping_derivative(NoliContext* context, const Case* c, const Inputs* at,
                               const double* w, const Inputs* change, double* sum) {
  NoliBlock block;
  NoliMixedList list = {.context = context, .wanted = ~0u};
  const double zero[SIZE] = {0.0}, no_history[14 * N_ELEMENT] = {0.0};
  const int32_t body[N_NODE] = {0};
  double split[2][N_ELEMENT];
  const NoliDampingDerivatives derivatives = {
      .X = at->X, .x = w, .x_hat = zero, .lagged = at->y, .scale = 0.7, .body = body};
  make(context, c, at->X, at->moduli, &block);
  memset(sum, 0, SIZE * sizeof *sum);
  ASSERT_OK(noli_element_derivatives_of_damping(&list, &block, ~0u, &derivatives));
  for (int k = 0; k < 2 * N_ELEMENT; k++) {
    split[k % 2][k / 2] = change->moduli[k];
  }
  for (int64_t i = 0; i < list.blocks.count; i++) {
    const NoliMixedBlocks* blocks = &list.blocks.data[i];
    const double* by = blocks->kind == NOLI_INPUT_REST     ? change->X
                       : blocks->kind == NOLI_INPUT_DAMPED ? change->y
                       : blocks->kind == NOLI_INPUT_PART   ? change->part
                       : blocks->kind == NOLI_INPUT_HISTORY
                           ? no_history
                           : split[blocks->kind == NOLI_INPUT_LAMBDA];
    noli_mixed_multiply(blocks, by, sum);
  }
  noli_mixed_list_clear(&list);
  noli_array_free(context, &list.blocks);
  noli_block_destroy(&block);
}

static bool is_straight(const Case* c, int trial) {
  return c->rod.radius > 0.0 && trial % 7 == 1;
}

// Inputs of a sheet or rod at random, stretched or crushed, or at rest, where the projection has
// kinks and derivatives are the mean of both sides; and of a rod that is straight but for its
// branch.
static void set_inputs(const Case* c, TestRandom* random, int trial, Inputs* at) {
  place(random, trial % 3 == 1, at->X);
  double size = trial % 4 == 3 ? 0.6 : 1.1;
  bool rest = trial % 7 == 0, straight = is_straight(c, trial);
  for (int i = 0; i < 3 * (N_VERT - 1) && straight; i++) {
    at->X[i] = i % 3 == 0 ? i / 3 + test_random(random, -0.2, 0.2) : 0.0;
  }
  for (int i = 0; i < SIZE; i++) {
    double scatter = rest || straight ? 0.0 : test_random(random, -0.3, 0.3);
    at->y[i] = (rest ? 1.0 : size) * at->X[i] + (moves(c, i) ? scatter : 0.0);
  }
  double none[2 * N_ELEMENT];
  set_moduli(random, at->moduli, none);
  at->part[0] = at->part[1] = 1.0;
  at->part[NOLI_THIN_RADIUS] = 0.0;
}

// Changes of one kind of input, or of all.
static void set_change(const Case* c, TestRandom* random, int kind, Inputs* change) {
  *change = (Inputs){0};
  double* const part[] = {change->X, change->y, change->moduli, change->part};
  const int n[] = {3 * N_VERT, 3 * N_VERT, 2 * N_ELEMENT, NOLI_THIN_NUMBERS};
  for (int k = 0; k < 4; k++) {
    for (int i = 0; i < n[k] && (kind == k || kind == 4); i++) {
      part[k][i] = test_random(random, -1.0, 1.0);
    }
  }
  change->part[c->rod.twist > 0.0 ? NOLI_PART_BENDING : NOLI_THIN_RADIUS] = 0.0;
  for (int i = 3 * N_VERT; i < SIZE && (kind == 1 || kind == 4); i++) {
    change->y[i] = moves(c, i) ? test_random(random, -1.0, 1.0) : 0.0;
  }
}

// Where it has a kink, central differences are off by a multiple of h: those of h, h / 2 and h / 4
// are extrapolated.
static double difference(NoliContext* context, const Case* c, const Inputs* at, const double* w,
                         const Inputs* change, double h, const double* derivative) {
  double end[6][SIZE], apart = 0.0;
  for (int side = 0; side < 6; side++) {
    double step = (side % 2 == 0 ? -h : h) / (1 << side / 2);
    Inputs moved = *at;
    for (int i = 0; i < N_INPUT; i++) {
      ((double*)&moved)[i] += step * ((const double*)change)[i];
    }
    damping_force(context, c, at->X, &moved, w, end[side]);
  }
  for (int i = 0; i < SIZE; i++) {
    double sum =
        (end[1][i] - end[0][i] - 12.0 * (end[3][i] - end[2][i]) + 32.0 * (end[5][i] - end[4][i])) /
        (6.0 * h);
    apart = noli_larger(apart, fabs(sum - derivative[i]));
  }
  return apart;
}

static void compare_damping(const Case* c) {
  TestRandom random = {11};
  NoliContext* context = test_context(1);
  double worst = 0.0;
  for (int trial = 0; trial < 60; trial++) {
    Inputs at, change;
    double w[SIZE], derivative[SIZE], most = 0.1, off = INFINITY;
    set_inputs(c, &random, trial, &at);
    // where it is straight, the stiffness jumps with the rest turn
    int kind = is_straight(c, trial) ? 1 : trial % 5;
    set_change(c, &random, kind, &change);
    for (int i = 0; i < SIZE; i++) {
      w[i] = moves(c, i) ? test_random(&random, -1.0, 1.0) : 0.0;
    }
    damping_derivative(context, c, &at, w, &change, derivative);
    for (int i = 0; i < SIZE; i++) {
      most = noli_larger(most, fabs(derivative[i]));
    }
    for (double h = 1e-4; h > 1e-9; h *= 0.2) {
      off = fmin(off, difference(context, c, &at, w, &change, h, derivative));
    }
    worst = noli_larger(worst, off / most);
  }
  print_message("%-28s differences by %.1e\n", c->name, worst);
  ASSERT_AT_MOST(worst, 1e-7);
  test_context_done(&context);
}

static void of_damping(void** state) {
  (void)state;
  static const Case cases[] = {
      {.name = "neo-Hookean sheet", .shell = {SHEET}, .damping = 0.3},
      {.name = "stvk sheet", .shell = {SHEET}, .law = "stvk", .damping = 0.3},
      {.name = "membrane", .shell = {.thickness = 0.1}, .law = "stvk", .damping = 0.3},
      {.name = "sheet with a limit", .shell = {SHEET, .limit = 2.5}, .damping = 0.3},
      {.name = "stvk sheet with a limit",
       .shell = {SHEET, .limit = 2.5},
       .law = "stvk",
       .damping = 0.3},
      {.name = "woven sheet", .shell = {WOVEN}, .damping = 0.3},
      {.name = "warp across the sheet",
       .shell = {SHEET, .woven = true, .weft = 0.4, .warp = {0, 0, 0}},
       .damping = 0.3},
      {.name = "woven sheet, shear, limit",
       .shell = {WOVEN, .shear = 0.2, .limit = 3.0},
       .damping = 0.3},
      {.name = "plate", .shell = {SHEET, PLATE}, .damping = 0.3},
      {.name = "woven plate", .shell = {WOVEN, PLATE}, .damping = 0.3},
      {.name = "woven plate, shear", .shell = {WOVEN, PLATE, .shear = 0.2}, .damping = 0.3},
      {.name = "forked plate", .shell = {SHEET, PLATE}, .forked = true, .damping = 0.3},
      {.name = "forked woven plate", .shell = {WOVEN, PLATE}, .forked = true, .damping = 0.3},
      {.name = "rod", .rod = {ROD}, .damping = 0.3},
      {.name = "rope", .rod = {.radius = 0.3}, .damping = 0.3},
      {.name = "rod with twist", .rod = {ROD, .twist = 1.2}, .damping = 0.3},
      {.name = "tape with twist",
       .rod = {ROD, .twist = 1.2, .second_radius = 0.1, .normal = {0, 0, 1}},
       .damping = 0.3},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    compare_damping(&cases[i]);
  }
}

// ---- energies -----------------------------------------------------------------------------------

// At the point of the inputs, in the frame of X0.
static double energy_at(NoliContext* context, const Case* c, const double* X0, const Inputs* at) {
  NoliBlock block;
  double frame[14 * N_ELEMENT], sum = 0.0;
  for (int part = 0; part < NOLI_BLOCK_PARTS; part++) {
    Case own = part == NOLI_PART_BENDING ? with_radius(c, at->part[NOLI_THIN_RADIUS]) : *c;
    make_framed(context, &own, X0, at->X, at->moduli, frame, &block);
    NoliBlockEnergy energy = {.block = &block, .part = (NoliBlockPart)part, .scale = 1.0};
    NoliBlockStencils stencils = noli_block_stencils(&block, energy.part);
    for (int64_t s = 0; s < stencils.n; s++) {
      double value;
      NoliLocal out = {.energy = &value};
      stencils.evaluate(&energy, at->y, s, s + 1, NOLI_EVAL_ENERGY, &out);
      sum += at->part[part] * value;
    }
    noli_block_destroy(&block);
  }
  return sum;
}

static double stencil_change(const NoliBlockStencils* stencils, int64_t s, NoliBlockPart part,
                             const NoliEnergyDerivatives* by, const Inputs* change) {
  double sum = change->part[part] * by->value + change->part[NOLI_THIN_RADIUS] * by->by_radius;
  for (int k = 0; k < 3 * stencils->size; k++) {
    int32_t node = stencils->node[stencils->size * s + k / 3];
    if (node != NOLI_NULL_INDEX) {
      sum += by->by_x[k] * change->y[3 * node + k % 3];
      sum += by->by_rest[k] * change->X[3 * node + k % 3];
    }
  }
  for (int e = 0; e < 2; e++) {
    int64_t element = stencils->element != NULL ? stencils->element[2 * s + e] : s;
    sum += by->by_mu[e] * change->moduli[2 * element];
    sum += by->by_lambda[e] * change->moduli[2 * element + 1];
  }
  return sum;
}

static double energy_change(NoliContext* context, const Case* c, const Inputs* at,
                            const Inputs* change) {
  NoliBlock block;
  double sum = 0.0;
  make(context, c, at->X, at->moduli, &block);
  for (int part = 0; part < NOLI_BLOCK_PARTS; part++) {
    NoliBlockStencils stencils = noli_block_stencils(&block, (NoliBlockPart)part);
    for (int64_t s = 0; s < stencils.n; s++) {
      NoliEnergyDerivatives by;
      noli_block_energy_derivatives(&block, (NoliBlockPart)part, s, at->X, at->y, &by);
      sum += stencil_change(&stencils, s, (NoliBlockPart)part, &by, change);
    }
  }
  noli_block_destroy(&block);
  return sum;
}

static void compare_energy(const Case* c) {
  TestRandom random = {17};
  NoliContext* context = test_context(1);
  double worst = 0.0;
  for (int trial = 0; trial < 60; trial++) {
    Inputs at, change;
    double off = INFINITY;
    set_inputs(c, &random, trial, &at);
    int kind = is_straight(c, trial) ? 1 : trial % 5;
    set_change(c, &random, kind, &change);
    double derivative = energy_change(context, c, &at, &change);
    for (double h = 1e-3; h > 1e-6; h *= 0.2) {
      double end[4];
      for (int side = 0; side < 4; side++) {
        Inputs moved = at;
        for (int i = 0; i < N_INPUT; i++) {
          ((double*)&moved)[i] +=
              (side % 2 == 0 ? -h : h) * (1 + side / 2) * ((const double*)&change)[i];
        }
        end[side] = energy_at(context, c, at.X, &moved);
      }
      double difference = (8.0 * (end[1] - end[0]) - (end[3] - end[2])) / (12.0 * h);
      off = fmin(off, fabs(difference - derivative));
    }
    worst = noli_larger(worst, off / fmax(fabs(derivative), 0.1));
  }
  print_message("%-28s differences by %.1e\n", c->name, worst);
  ASSERT_AT_MOST(worst, 1e-8);
  test_context_done(&context);
}

static void of_energies(void** state) {
  (void)state;
  static const Case cases[] = {
      {.name = "neo-Hookean sheet", .shell = {SHEET}},
      {.name = "stvk sheet with a limit", .shell = {SHEET, .limit = 3.0}, .law = "stvk"},
      {.name = "woven sheet", .shell = {WOVEN}},
      {.name = "woven sheet, shear, limit", .shell = {WOVEN, .shear = 0.2, .limit = 3.0}},
      {.name = "warp across the sheet", .shell = {SHEET, .woven = true, .weft = 0.4}},
      {.name = "forked sheet", .shell = {WOVEN}, .forked = true},
      {.name = "plate", .shell = {SHEET, PLATE}},
      {.name = "woven plate, shear", .shell = {WOVEN, PLATE, .shear = 0.2}},
      {.name = "forked plate", .shell = {SHEET, PLATE}, .forked = true},
      {.name = "forked woven plate", .shell = {WOVEN, PLATE}, .forked = true},
      {.name = "rod", .rod = {ROD}},
      {.name = "rope", .rod = {.radius = 0.3}},
      {.name = "rod with twist", .rod = {ROD, .twist = 1.2}},
      {.name = "tape with twist",
       .rod = {ROD, .twist = 1.2, .second_radius = 0.1, .normal = {0, 0, 1}}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    compare_energy(&cases[i]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(by_rest_positions),
                                     cmocka_unit_test(by_moduli), cmocka_unit_test(by_radius),
                                     cmocka_unit_test(of_damping), cmocka_unit_test(of_energies)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
