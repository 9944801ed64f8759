// The force on a vertex is minus the gradient of the contact potential over h_e^2, so that the
// derivative of a sum of forces, in a direction W at the chosen vertices, is a product with the
// Hessian. Both are sums over the stencils of the contact terms of the stage.
#include "sim/goal_contact.h"

#include <string.h>

typedef struct Stencils {
  const NoliGoalPlace* place;
  uint8_t* chosen; // (n_vert) bit 0: a vertex of the force, bit 1: of the other body
  double* local;   // gradient or Hessian of one stencil
  int64_t room;    // doubles
} Stencils;

enum { CHOSEN = 1, OTHER = 2 };

const char* noli_goal_contact_defect(const NoliGoalPlace* place) {
  const NoliProblem* problem = &place->sim->model->problem;
  if (noli_stage_constraints(place->sim->stage) != NULL) {
    return "not with the solver \"augmented_lagrangian\", whose forces are multipliers";
  }
  return problem->contact->begin_stiffness != NULL && problem->fixed_stiffness <= 0.0
             ? "needs a number as contact.stiffness: one that adapts is no function of positions"
             : NULL;
}

// Marks vertices of a body: its nodes, and those of its proxy.
static void mark_body(const NoliModel* model, int32_t body, uint8_t mark, uint8_t* chosen) {
  for (int32_t i = model->vert_first[body]; i < model->vert_first[body + 1]; i++) {
    chosen[i] |= mark;
  }
  for (int32_t i = model->follower_first[body]; i < model->follower_first[body + 1]; i++) {
    chosen[i] |= mark;
  }
}

static NoliStatus create(const NoliGoalPlace* place, Stencils* stencils) {
  NoliStatus status = NOLI_OK;
  const NoliModel* model = place->sim->model;
  *stencils = (Stencils){.place = place};
  NOLI_NEW_ZERO(place->sim->context, stencils->chosen, model->problem.n_vert);
  bool all = place->n_vertex == model->vert_first[place->body + 1] - model->vert_first[place->body];
  for (int32_t i = 0; i < place->n_vertex; i++) {
    stencils->chosen[place->vertex[i]] |= CHOSEN;
  }
  if (all) {
    mark_body(model, place->body, CHOSEN, stencils->chosen);
  }
  if (place->other != NOLI_NULL_INDEX) {
    mark_body(model, place->other, OTHER, stencils->chosen);
  }
done:
  return status;
}

static void release(Stencils* stencils) {
  noli_free(stencils->place->sim->context, stencils->chosen);
  noli_free(stencils->place->sim->context, stencils->local);
}

// Whether a stencil contributes.
static bool counts(const Stencils* stencils, const int32_t* node, int32_t n) {
  bool chosen = false, other = stencils->place->other == NOLI_NULL_INDEX;
  for (int32_t a = 0; a < n; a++) {
    uint8_t mark = node[a] != NOLI_NULL_INDEX ? stencils->chosen[node[a]] : 0;
    chosen = chosen || (mark & CHOSEN) != 0;
    other = other || (mark & OTHER) != 0;
  }
  return chosen && other;
}

// Calls `add` for every stencil of contact with its nodes and its gradient or Hessian.
typedef void AddFn(void* user, const Stencils* stencils, const int32_t* node, int32_t n,
                   const double* local);

static NoliStatus for_stencils(Stencils* stencils, unsigned what, AddFn* add, void* user) {
  NoliStatus status = NOLI_OK;
  const NoliSim* sim = stencils->place->sim;
  const NoliStage* stage = sim->stage;
  const double* x = stencils->place->x;
  bool hessian = what == NOLI_EVAL_HESSIAN;
  for (int32_t t = stage->first_contact; t < stage->n_term; t++) {
    const NoliEnergyTerm* term = &stage->here->term[t];
    if (!noli_stage_has(stage, t, NOLI_ROLE_CONTACT) || term->n_stencil == 0) {
      continue;
    }
    noli_term_prepare(term, x, stage->n_threads);
    for (int64_t s = 0; s < term->n_stencil; s++) {
      const int32_t* node = term->node + noli_term_first(term, s);
      int32_t n = noli_term_size(term, s);
      int64_t need = hessian ? 9 * (int64_t)noli_stencil_blocks(n) : 3 * (int64_t)n;
      if (!counts(stencils, node, n)) {
        continue;
      }
      if (need > stencils->room) {
        noli_free(sim->context, stencils->local);
        stencils->room = 0;
        NOLI_NEW(sim->context, stencils->local, 2 * need);
        stencils->room = 2 * need;
      }
      NoliLocal local = {0};
      if (hessian) {
        local.hessian =
            noli_local_from(stencils->local, 9 * (int64_t)noli_term_first_block(term, s));
      } else {
        local.gradient = noli_local_from(stencils->local, 3 * (int64_t)noli_term_first(term, s));
      }
      term->evaluate(term->data, x, s, s + 1, what, &local);
      add(user, stencils, node, n, stencils->local);
    }
  }
done:
  return status;
}

// ---- the force ----------------------------------------------------------------------------------

static void add_force(void* user, const Stencils* stencils, const int32_t* node, int32_t n,
                      const double* gradient) {
  double* sum = user;
  for (int32_t a = 0; a < n; a++) {
    if (node[a] != NOLI_NULL_INDEX && (stencils->chosen[node[a]] & CHOSEN) != 0) {
      for (int k = 0; k < 3; k++) {
        sum[k] -= gradient[3 * (int64_t)a + k];
      }
    }
  }
}

// 1 / h_e^2; 0 before the first step.
static double force_factor(const NoliSim* sim) {
  double h_e = sim->stage->time.h_e;
  return *sim->state.step > 0 && h_e > 0.0 ? 1.0 / (h_e * h_e) : 0.0;
}

NoliStatus noli_goal_contact_force(const NoliGoalPlace* place, double* value) {
  NoliStatus status = NOLI_OK;
  Stencils stencils = {.place = place};
  double factor = force_factor(place->sim), sum[3] = {0.0};
  if (factor > 0.0) {
    NOLI_TRY(create(place, &stencils));
    NOLI_TRY(for_stencils(&stencils, NOLI_EVAL_GRADIENT, add_force, sum));
  }
  for (int k = 0; k < 3; k++) {
    value[k] = factor * sum[k];
  }
done:
  release(&stencils);
  return status;
}

// ---- its derivatives ----------------------------------------------------------------------------

typedef struct Slope {
  double weight[3]; // of the force, over h_e^2
  double* x;
} Slope;

// x_b gets minus block (b, a) times the weight, for all chosen a.
static void add_slope(void* user, const Stencils* stencils, const int32_t* node, int32_t n,
                      const double* hessian) {
  Slope* slope = user;
  for (int32_t a = 0; a < n; a++) {
    if (node[a] == NOLI_NULL_INDEX || (stencils->chosen[node[a]] & CHOSEN) == 0) {
      continue;
    }
    for (int32_t b = 0; b < n; b++) {
      bool upper = b <= a;
      const double* H = hessian + 9 * (int64_t)(upper ? noli_stencil_block(n, b, a)
                                                      : noli_stencil_block(n, a, b));
      for (int i = 0; i < 3 && node[b] != NOLI_NULL_INDEX; i++) {
        for (int j = 0; j < 3; j++) {
          slope->x[3 * (int64_t)node[b] + i] -= H[upper ? 3 * i + j : 3 * j + i] * slope->weight[j];
        }
      }
    }
  }
}

// Adds minus the blocks of stencil s times the weight at the chosen vertices.
static void add_input_slopes(const Stencils* stencils, const double weight[3],
                             const NoliMixedBlocks* blocks, int64_t s, double* to) {
  const int32_t* node = blocks->node + blocks->size * s;
  const double* block = noli_mixed_block(blocks, s);
  if (!counts(stencils, node, blocks->size)) {
    return;
  }
  for (int32_t i = 0; i < 3 * blocks->size; i++) {
    if (node[i / 3] == NOLI_NULL_INDEX || (stencils->chosen[node[i / 3]] & CHOSEN) == 0) {
      continue;
    }
    for (int32_t k = 0; k < blocks->n_input; k++) {
      int64_t input = blocks->input[blocks->n_input * s + k];
      if (input != NOLI_NULL_INDEX) {
        to[input] -= weight[i % 3] * block[(int64_t)blocks->n_input * i + k];
      }
    }
  }
}

// By the inputs that contact itself depends on.
static NoliStatus derive_by_inputs(const Stencils* stencils, const double weight[3],
                                   const NoliInputs* inputs) {
  NoliStatus status = NOLI_OK;
  const NoliStage* stage = stencils->place->sim->stage;
  const NoliContactModel* contact = stage->problem->contact;
  NoliMixedList list = {.context = stencils->place->sim->context};
  for (int k = 0; k < NOLI_INPUTS; k++) {
    list.wanted |= inputs->value[k] != NULL ? 1u << k : 0u;
  }
  if ((list.wanted & contact->slopes_by) != 0) {
    NOLI_TRY(contact->slopes(stage, &list));
  }
  for (int64_t b = 0; b < list.blocks.count; b++) {
    const NoliMixedBlocks* blocks = &list.blocks.data[b];
    for (int64_t s = 0; s < blocks->n_stencil; s++) {
      add_input_slopes(stencils, weight, blocks, s, inputs->value[blocks->kind]);
    }
  }
done:
  noli_mixed_list_clear(&list);
  noli_array_free(list.context, &list.blocks);
  return status;
}

NoliStatus noli_goal_derive_contact_force(const NoliGoalPlace* place, const double* weight,
                                          NoliGoalSlopes* slopes) {
  NoliStatus status = NOLI_OK;
  Stencils stencils = {.place = place};
  double factor = force_factor(place->sim);
  Slope slope = {.weight = {factor * weight[0], factor * weight[1], factor * weight[2]},
                 .x = slopes->x};
  if (factor > 0.0 && slopes->x != NULL) {
    NOLI_TRY(create(place, &stencils));
    NOLI_TRY(for_stencils(&stencils, NOLI_EVAL_HESSIAN, add_slope, &slope));
    NOLI_TRY(derive_by_inputs(&stencils, slope.weight, &slopes->inputs));
  }
done:
  release(&stencils);
  return status;
}
