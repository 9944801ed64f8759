// The force on a vertex is minus the gradient of the contact potential over h_e^2, so that the
// derivative of a sum of forces, in a direction W at the chosen vertices, is a product with the
// Hessian. Both are sums over the stencils of the contact terms of the stage.
#include "derive/goals/goal_contact.h"

#include "math/vec3.h"

#include <string.h>

typedef struct Stencils {
  const NoliGoalPlace* place;
  uint8_t* chosen; // (n_vert) bit 0: a vertex of the force, bit 1: of the other body
  double* weight;  // (n_vert x 3) of the forces on chosen vertices; for derivatives
  double* local;   // gradient or Hessian of one stencil
  int64_t room;    // doubles
} Stencils;

enum { CHOSEN = 1, OTHER = 2 };

const char* noli_goal_contact_defect(const NoliGoalPlace* place) {
  const NoliProblem* problem = &place->sim->model->problem;
  if (noli_stage_constraints(place->sim->stage) != NULL) {
    return "not with the solver \"augmented_lagrangian\", whose forces are multipliers";
  }
  return problem->contact.model->begin_stiffness != NULL && problem->contact.fixed_stiffness <= 0.0
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

static NoliStatus goal_contact_create(const NoliGoalPlace* place, Stencils* stencils) {
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

static void goal_contact_release(Stencils* stencils) {
  noli_free(stencils->place->sim->context, stencils->chosen);
  noli_free(stencils->place->sim->context, stencils->weight);
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

  for (int32_t t = stage->terms.first_contact; t < stage->terms.n; t++) {
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
      NoliLocal local = {.gradient = hessian ? NULL : stencils->local,
                         .hessian = hessian ? stencils->local : NULL};
      term->evaluate(term->data, x, s, s + 1, what, &local);
      add(user, stencils, node, n, stencils->local);
    }
  }
done:
  return status;
}

// ---- the force ----------------------------------------------------------------------------------

static void goal_contact_add_force(void* user, const Stencils* stencils, const int32_t* node,
                                   int32_t n, const double* gradient) {
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
    NOLI_TRY(goal_contact_create(place, &stencils));
    NOLI_TRY(for_stencils(&stencils, NOLI_EVAL_GRADIENT, goal_contact_add_force, sum));
  }
  for (int k = 0; k < 3; k++) {
    value[k] = factor * sum[k];
  }
done:
  goal_contact_release(&stencils);
  return status;
}

// ---- its derivatives ----------------------------------------------------------------------------

// Sets the weight of a force, over h_e^2, at every chosen vertex.
static NoliStatus goal_contact_set_weight(Stencils* stencils, const double weight[3]) {
  NoliStatus status = NOLI_OK;
  int64_t n = stencils->place->sim->model->problem.n_vert;
  NOLI_NEW_ZERO(stencils->place->sim->context, stencils->weight, 3 * n);
  for (int64_t j = 0; j < 3 * n; j++) {
    stencils->weight[j] = (stencils->chosen[j / 3] & CHOSEN) != 0 ? weight[j % 3] : 0.0;
  }
done:
  return status;
}

// x_b gets minus block (b, a) times the weight, for all chosen a.
static void add_derivative(void* user, const Stencils* stencils, const int32_t* node, int32_t n,
                           const double* hessian) {
  double* x = user;
  for (int32_t a = 0; a < n; a++) {
    if (node[a] == NOLI_NULL_INDEX || (stencils->chosen[node[a]] & CHOSEN) == 0) {
      continue;
    }
    const double* weight = stencils->weight + 3 * (int64_t)node[a];
    for (int32_t b = 0; b < n; b++) {
      bool upper = b <= a;
      const double* H = hessian + 9 * (int64_t)(upper ? noli_stencil_block(n, b, a)
                                                      : noli_stencil_block(n, a, b));
      for (int i = 0; i < 3 && node[b] != NOLI_NULL_INDEX; i++) {
        for (int j = 0; j < 3; j++) {
          x[3 * (int64_t)node[b] + i] -= H[upper ? 3 * i + j : 3 * j + i] * weight[j];
        }
      }
    }
  }
}

// Adds minus the blocks of stencil s times the weight at the chosen vertices.
static void add_input_derivatives(const Stencils* stencils, const NoliMixedBlocks* blocks,
                                  int64_t s, double* to) {
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
        to[input] -= stencils->weight[3 * (int64_t)node[i / 3] + i % 3] *
                     block[(int64_t)blocks->n_input * i + k];
      }
    }
  }
}

// By the inputs that contact itself depends on.
static NoliStatus derive_by_inputs(const Stencils* stencils, const NoliInputs* inputs) {
  NoliStatus status = NOLI_OK;
  const NoliStage* stage = stencils->place->sim->stage;
  const NoliContactModel* contact = stage->problem->contact.model;
  NoliMixedList list = {.context = stencils->place->sim->context};
  for (int k = 0; k < NOLI_INPUTS; k++) {
    list.wanted |= inputs->value[k] != NULL ? 1u << k : 0u;
  }
  if ((list.wanted & contact->derivatives->inputs) != 0) {
    NOLI_TRY(contact->derivatives->gradient(stage, &list));
  }
  for (int64_t b = 0; b < list.blocks.count; b++) {
    const NoliMixedBlocks* blocks = &list.blocks.data[b];
    for (int64_t s = 0; s < blocks->n_stencil; s++) {
      add_input_derivatives(stencils, blocks, s, inputs->value[blocks->kind]);
    }
  }
done:
  noli_mixed_list_clear(&list);
  noli_array_free(list.context, &list.blocks);
  return status;
}

NoliStatus noli_goal_derive_contact_force(const NoliGoalPlace* place, const double* weight,
                                          NoliGoalDerivatives* derivatives) {
  NoliStatus status = NOLI_OK;
  Stencils stencils = {.place = place};
  double factor = force_factor(place->sim);
  if (factor > 0.0 && derivatives->x != NULL) {
    NOLI_TRY(goal_contact_create(place, &stencils));
    NOLI_TRY(goal_contact_set_weight(
        &stencils, (double[]){factor * weight[0], factor * weight[1], factor * weight[2]}));
    NOLI_TRY(for_stencils(&stencils, NOLI_EVAL_HESSIAN, add_derivative, derivatives->x));
    NOLI_TRY(derive_by_inputs(&stencils, &derivatives->inputs));
  }
done:
  goal_contact_release(&stencils);
  return status;
}

// ---- pressure -----------------------------------------------------------------------------------

const char* noli_goal_pressure_defect(const NoliGoalPlace* place) {
  const NoliModel* model = place->sim->model;
  const NoliSurface* surface = model->problem.surface;
  if (model->follower_first[place->body] < model->follower_first[place->body + 1]) {
    return "not of bodies with a proxy, whose vertices are others";
  }
  bool has_area = surface->planar[place->body];
  for (int32_t t = 0; t < surface->n_tri && !has_area; t++) {
    has_area = surface->body[surface->tri[3 * (int64_t)t]] == place->body;
  }
  return has_area ? noli_goal_contact_defect(place) : "only where there are triangles";
}

// The forces on the vertices, and the areas that face them: p = |f|^3 / s, with s the sum of
// (f . a)^2 / |a| over the area vectors a of a vertex with f . a < 0; of surfaces that are touched
// from both sides, over all. On a flat surface s is f^2 times its area. Squares, because the sides
// of a box that stands on a floor are just where f . a changes its sign.
typedef struct Pressed {
  double* force;  // (n_vert x 3) times h_e^2
  double* facing; // (n_vert) s
  double* toward; // (n_vert x 3) ds/df
  double* factor; // (n_vert) of ds in derivatives
} Pressed;

// The share of a vertex in a triangle, or in a segment times a thickness.
static NoliVec3 area_vector(const double* x, const int32_t* v, double thickness) {
  NoliVec3 a = noli_load3(&x[3 * (int64_t)v[0]]), b = noli_load3(&x[3 * (int64_t)v[1]]);
  NoliVec3 first = noli_sub3(b, a);
  if (thickness > 0.0) {
    return noli_scale3(0.5 * thickness, noli_cross3(first, (NoliVec3){0.0, 0.0, 1.0}));
  }
  NoliVec3 second = noli_sub3(noli_load3(&x[3 * (int64_t)v[2]]), a);
  return noli_scale3(1.0 / 6.0, noli_cross3(first, second));
}

// f . a of one primitive, 0 where it does not face the force.
static double facing(NoliVec3 force, NoliVec3 area, bool solid) {
  double along = noli_dot3(force, area);
  return solid && along > 0.0 ? 0.0 : along;
}

// Calls `add` for all triangles or segments of the body.
typedef void FaceFn(const NoliGoalPlace* place, Pressed* pressed, const int32_t* v, int n,
                    double thickness, bool solid, double* to);

static void for_faces(const NoliGoalPlace* place, Pressed* pressed, FaceFn* add, double* to) {
  const NoliProblem* problem = &place->sim->model->problem;
  const NoliSurface* surface = problem->surface;
  const NoliBlock* block = noli_goal_block(place);
  bool planar = surface->planar[place->body];
  bool solid = !planar && block != NULL && block->type->solid;
  double thickness = planar ? place->sim->definition.def->bodies[place->body].plane_strain : 0.0;
  int32_t n = planar ? surface->n_edge : surface->n_tri;
  int size = planar ? 2 : 3;
  for (int32_t i = 0; i < n; i++) {
    const int32_t* v = (planar ? surface->edge : surface->tri) + size * (int64_t)i;
    if (surface->body[v[0]] == place->body) {
      add(place, pressed, v, size, thickness, solid, to);
    }
  }
}

static void add_facing(const NoliGoalPlace* place, Pressed* pressed, const int32_t* v, int n,
                       double thickness, bool solid, double* to) {
  (void)to;
  NoliVec3 area = area_vector(place->x, v, thickness);
  double size = noli_norm3(area);
  for (int i = 0; i < n && size > 0.0; i++) {
    double along = facing(noli_load3(&pressed->force[3 * (int64_t)v[i]]), area, solid);
    double* toward = &pressed->toward[3 * (int64_t)v[i]];
    pressed->facing[v[i]] += along * along / size;
    noli_store3(toward, noli_mul_add3(noli_load3(toward), 2.0 * along / size, area));
  }
}

// factor ds by the positions of the face.
static void add_facing_derivative(const NoliGoalPlace* place, Pressed* pressed, const int32_t* v,
                                  int n, double thickness, bool solid, double* to) {
  NoliVec3 area = area_vector(place->x, v, thickness);
  NoliVec3 corner[3], by_area = {0}, by[3] = {{0}};
  double size = noli_norm3(area);
  for (int i = 0; i < n && size > 0.0; i++) {
    NoliVec3 force = noli_load3(&pressed->force[3 * (int64_t)v[i]]);
    double along = facing(force, area, solid) / size, factor = pressed->factor[v[i]];
    by_area = noli_mul_add3(by_area, 2.0 * factor * along, force);
    by_area = noli_mul_add3(by_area, -factor * along * along / size, area);
    corner[i] = noli_load3(&place->x[3 * (int64_t)v[i]]);
  }

  if (size == 0.0) {
    return;
  }
  if (n == 2) {
    by[1] = noli_scale3(0.5 * thickness, noli_cross3((NoliVec3){0.0, 0.0, 1.0}, by_area));
  } else {
    NoliVec3 first = noli_sub3(corner[1], corner[0]), second = noli_sub3(corner[2], corner[0]);
    by[1] = noli_scale3(1.0 / 6.0, noli_cross3(second, by_area));
    by[2] = noli_scale3(1.0 / 6.0, noli_cross3(by_area, first));
  }

  by[0] = noli_scale3(-1.0, noli_add3(by[1], by[2]));
  for (int i = 0; i < n; i++) {
    double* derivative = to + 3 * (int64_t)v[i];
    noli_store3(derivative, noli_add3(noli_load3(derivative), by[i]));
  }
}

static void add_vertex_forces(void* user, const Stencils* stencils, const int32_t* node, int32_t n,
                              const double* gradient) {
  double* force = user;
  for (int32_t a = 0; a < n; a++) {
    if (node[a] != NOLI_NULL_INDEX && (stencils->chosen[node[a]] & CHOSEN) != 0) {
      for (int k = 0; k < 3; k++) {
        force[3 * (int64_t)node[a] + k] -= gradient[3 * (int64_t)a + k];
      }
    }
  }
}

static NoliStatus find_pressed(Stencils* stencils, Pressed* pressed) {
  NoliStatus status = NOLI_OK;
  const NoliGoalPlace* place = stencils->place;
  NoliContext* context = place->sim->context;
  int64_t n = place->sim->model->problem.n_vert;
  NOLI_NEW_ZERO(context, pressed->force, 3 * n);
  NOLI_NEW_ZERO(context, pressed->facing, n);
  NOLI_NEW_ZERO(context, pressed->toward, 3 * n);
  NOLI_NEW_ZERO(context, pressed->factor, n);
  NOLI_TRY(for_stencils(stencils, NOLI_EVAL_GRADIENT, add_vertex_forces, pressed->force));
  for_faces(place, pressed, add_facing, NULL);
done:
  return status;
}

static void release_pressed(const NoliGoalPlace* place, Pressed* pressed) {
  noli_free(place->sim->context, pressed->force);
  noli_free(place->sim->context, pressed->facing);
  noli_free(place->sim->context, pressed->toward);
  noli_free(place->sim->context, pressed->factor);
}

NoliStatus noli_goal_contact_pressure(const NoliGoalPlace* place, double* value) {
  NoliStatus status = NOLI_OK;
  Stencils stencils = {.place = place};
  Pressed pressed = {0};
  double factor = force_factor(place->sim);
  memset(value, 0, sizeof *value * (size_t)place->n_vertex);
  if (factor > 0.0) {
    NOLI_TRY(goal_contact_create(place, &stencils));
    NOLI_TRY(find_pressed(&stencils, &pressed));
  }
  for (int32_t i = 0; i < place->n_vertex && factor > 0.0; i++) {
    int64_t vertex = place->vertex[i];
    double size = noli_norm3(noli_load3(&pressed.force[3 * vertex]));
    double facing_it = pressed.facing[vertex];
    value[i] = facing_it > 0.0 ? factor * size * size * size / facing_it : 0.0;
  }
done:
  release_pressed(place, &pressed);
  goal_contact_release(&stencils);
  return status;
}

// dp = 3 |f| f . df / s - |f|^3 / s^2 ds: the weights of forces, and the factors of ds by
// positions.
static NoliStatus weigh_pressures(Stencils* stencils, const double* weight, double factor,
                                  Pressed* pressed) {
  NoliStatus status = NOLI_OK;
  const NoliGoalPlace* place = stencils->place;
  NOLI_NEW_ZERO(place->sim->context, stencils->weight,
                3 * (int64_t)place->sim->model->problem.n_vert);
  for (int32_t i = 0; i < place->n_vertex; i++) {
    int64_t vertex = place->vertex[i];
    NoliVec3 force = noli_load3(&pressed->force[3 * vertex]);
    double size = noli_norm3(force), s = pressed->facing[vertex];
    if (s > 0.0) {
      double ratio = weight[i] * factor * size * size * size / (s * s);
      NoliVec3 by_force = noli_scale3(3.0 * weight[i] * factor * size / s, force);
      by_force = noli_mul_add3(by_force, -ratio, noli_load3(&pressed->toward[3 * vertex]));
      noli_store3(&stencils->weight[3 * vertex], by_force);
      pressed->factor[vertex] = -ratio;
    }
  }
done:
  return status;
}

NoliStatus noli_goal_derive_contact_pressure(const NoliGoalPlace* place, const double* weight,
                                             NoliGoalDerivatives* derivatives) {
  NoliStatus status = NOLI_OK;
  Stencils stencils = {.place = place};
  Pressed pressed = {0};
  double factor = force_factor(place->sim);
  if (factor > 0.0 && derivatives->x != NULL) {
    NOLI_TRY(goal_contact_create(place, &stencils));
    NOLI_TRY(find_pressed(&stencils, &pressed));
    NOLI_TRY(weigh_pressures(&stencils, weight, factor, &pressed));
    NOLI_TRY(for_stencils(&stencils, NOLI_EVAL_HESSIAN, add_derivative, derivatives->x));
    NOLI_TRY(derive_by_inputs(&stencils, &derivatives->inputs));
    for_faces(place, &pressed, add_facing_derivative, derivatives->x);
  }
done:
  release_pressed(place, &pressed);
  goal_contact_release(&stencils);
  return status;
}
