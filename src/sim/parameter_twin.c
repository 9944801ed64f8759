// Parameters and gradients the slow way: a simulation is built again from a definition with other
// values, and derivatives are central differences of whole runs. Serves the functions of
// noli/derivative.h until, and beside, derivatives by an adjoint.
#include "noli/derivative.h"

#include "sim/parameters_inputs.h"
#include "sim/simulation.h"

#include <math.h>
#include <string.h>

// Step of differences relative to the magnitude of a value.
#define STEP 1e-5

typedef struct Kind Kind;

typedef struct Parameter {
  const Kind* kind;
  int32_t body;    // or entity
  int32_t other;   // of pairs; NOLI_NULL_INDEX: none
  int32_t* vertex; // (n_vertex) within the body; NULL: the body as a whole
  int32_t n_vertex;
} Parameter;

struct NoliParameters {
  NoliContext* context;
  const NoliSim* sim;
  Parameter* parameter;
  int64_t* first; // (n + 1)
  int32_t n;
};

// Reads or writes the values of a parameter in a definition. `base` is the definition of the
// simulation, to whose positions and velocities changes are added.
typedef void AccessFn(const Parameter* parameter, NoliSimDef* def, const NoliSimDef* base,
                      double* value, bool write);

struct Kind {
  const char* name;
  int32_t n_components;
  bool of_body; // `of` must name a body
  bool moves;   // has vertices
  AccessFn* access;
  double scale; // a magnitude of values that are 0
};

// ---- kinds --------------------------------------------------------------------------------------

static void exchange(double* member, double* value, bool write) {
  *(write ? member : value) = *(write ? value : member);
}

static NoliBodyDef* body_of(const NoliSimDef* def, int32_t body) {
  return (NoliBodyDef*)&def->bodies[body];
}

static void access_young(const Parameter* parameter, NoliSimDef* def, const NoliSimDef* base,
                         double* value, bool write) {
  (void)base;
  exchange(&body_of(def, parameter->body)->material.young, value, write);
}

static void access_poisson(const Parameter* parameter, NoliSimDef* def, const NoliSimDef* base,
                           double* value, bool write) {
  (void)base;
  exchange(&body_of(def, parameter->body)->material.poisson, value, write);
}

static void access_density(const Parameter* parameter, NoliSimDef* def, const NoliSimDef* base,
                           double* value, bool write) {
  (void)base;
  exchange(&body_of(def, parameter->body)->material.density, value, write);
}

static void access_gravity(const Parameter* parameter, NoliSimDef* def, const NoliSimDef* base,
                           double* value, bool write) {
  (void)parameter;
  (void)base;
  for (int k = 0; k < 3; k++) {
    exchange(&def->gravity[k], &value[k], write);
  }
}

// The last entry of a pair counts. A static coefficient that is no larger follows.
static void access_friction(const Parameter* parameter, NoliSimDef* def, const NoliSimDef* base,
                            double* value, bool write) {
  (void)base;
  double *member = &def->friction, *upper = &def->static_friction;
  for (int32_t i = 0; i < def->n_pairs && parameter->other != NOLI_NULL_INDEX; i++) {
    NoliPairDef* pair = (NoliPairDef*)&def->pairs[i];
    bool same = (pair->a == parameter->body && pair->b == parameter->other) ||
                (pair->b == parameter->body && pair->a == parameter->other);
    member = same ? &pair->friction : member;
    upper = same ? &pair->static_friction : upper;
  }
  *upper = write && *upper <= *member ? 0.0 : *upper;
  exchange(member, value, write);
}

static void access_velocity(const Parameter* parameter, NoliSimDef* def, const NoliSimDef* base,
                            double* value, bool write) {
  for (int k = 0; k < 3; k++) {
    if (write) {
      body_of(def, parameter->body)->velocity[k] =
          base->bodies[parameter->body].velocity[k] + value[k];
    } else {
      value[k] = 0.0;
    }
  }
}

static void move(const Parameter* parameter, const double* from, double* x, int32_t n,
                 double* value, bool write) {
  int32_t n_moved = parameter->vertex != NULL ? parameter->n_vertex : n;
  for (int64_t i = 0; write && i < 3 * (int64_t)n_moved; i++) {
    int64_t vertex = parameter->vertex != NULL ? parameter->vertex[i / 3] : i / 3;
    double change = value[parameter->vertex != NULL ? i : i % 3];
    x[3 * vertex + i % 3] = from[3 * vertex + i % 3] + change;
  }
  if (!write) {
    int32_t n_value = parameter->vertex != NULL ? parameter->n_vertex : 1;
    memset(value, 0, 3 * sizeof *value * (size_t)n_value);
  }
}

static void access_rest(const Parameter* parameter, NoliSimDef* def, const NoliSimDef* base,
                        double* value, bool write) {
  NoliMesh* mesh = (NoliMesh*)body_of(def, parameter->body)->mesh;
  move(parameter, base->bodies[parameter->body].mesh->x, mesh->x, mesh->n_vert, value, write);
}

static const Kind kinds[] = {
    {"young", 1, true, false, access_young, 1.0},
    {"poisson", 1, true, false, access_poisson, 0.1},
    {"density", 1, true, false, access_density, 1.0},
    {"friction", 1, false, false, access_friction, 0.1},
    {"gravity", 3, false, false, access_gravity, 1.0},
    {"initial_velocity", 3, true, false, access_velocity, 1.0},
    {"rest_position", 3, true, true, access_rest, 0.1},
};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

// ---- definitions --------------------------------------------------------------------------------

NoliParameterDef noli_default_parameter_def(void) {
  return (NoliParameterDef){0};
}

NoliGradientDef noli_default_gradient_def(void) {
  return (NoliGradientDef){.n_steps = 100};
}

static NoliStatus copy_vertices(const NoliSim* sim, const NoliParameterDef* def, Parameter* made) {
  NoliStatus status = NOLI_OK;
  const NoliMesh* mesh = sim->definition.def->bodies[made->body].mesh;
  bool vertices = def->scope != NULL && strcmp(def->scope, "vertices") == 0;
  NOLI_CHECK(sim->context, !vertices || made->kind->moves, NOLI_ERROR_ARGUMENT,
             "parameter \"%s\" of \"%s\": has one value for the body", def->kind, def->of);
  if (!vertices) {
    return NOLI_OK;
  }
  made->n_vertex = def->index != NULL ? def->n_index : mesh->n_vert;
  NOLI_NEW(sim->context, made->vertex, made->n_vertex);
  for (int32_t i = 0; i < made->n_vertex; i++) {
    made->vertex[i] = def->index != NULL ? def->index[i] : i;
    NOLI_CHECK(sim->context, made->vertex[i] >= 0 && made->vertex[i] < mesh->n_vert,
               NOLI_ERROR_ARGUMENT, "parameter \"%s\": body \"%s\" has no vertex %d", def->kind,
               def->of, (int)made->vertex[i]);
  }
done:
  return status;
}

static NoliStatus copy_parameter(const NoliSim* sim, const NoliParameterDef* def, Parameter* made) {
  NoliStatus status = NOLI_OK;
  for (int32_t k = 0; k < N_KINDS && def->kind != NULL; k++) {
    made->kind = strcmp(kinds[k].name, def->kind) == 0 ? &kinds[k] : made->kind;
  }
  NOLI_CHECK(sim->context, made->kind != NULL, NOLI_ERROR_ARGUMENT,
             "there is no parameter \"%.80s\"; known: young, poisson, density, friction, gravity, "
             "initial_velocity, rest_position",
             def->kind != NULL ? def->kind : "");
  made->body = def->of != NULL ? noli_sim_find_entity(sim, def->of) : NOLI_NULL_INDEX;
  made->other = def->with != NULL ? noli_sim_find_entity(sim, def->with) : NOLI_NULL_INDEX;
  int32_t n_entity = made->kind->of_body ? sim->model->n_body : sim->model->n_entity;
  bool needs = made->kind->of_body || def->of != NULL;
  NOLI_CHECK(sim->context, !needs || (made->body != NOLI_NULL_INDEX && made->body < n_entity),
             NOLI_ERROR_ARGUMENT, "parameter \"%s\": there is no \"%.80s\"", def->kind,
             def->of != NULL ? def->of : "");
  NOLI_CHECK(sim->context, def->with == NULL || made->other != NOLI_NULL_INDEX, NOLI_ERROR_ARGUMENT,
             "parameter \"%s\": there is no \"%.80s\"", def->kind, def->with);
  if (made->kind->of_body) {
    NOLI_TRY(copy_vertices(sim, def, made));
  }
done:
  return status;
}

NoliStatus noli_parameters_create(NoliSim* sim, const NoliParameterDef* defs, int32_t n_defs,
                                  NoliParameters** parameters) {
  NOLI_REQUIRE(sim != NULL ? sim->context : NULL, sim != NULL && parameters != NULL);
  NoliStatus status = NOLI_OK;
  NoliParameters* made = NULL;
  *parameters = NULL;
  NOLI_NEW_ZERO(sim->context, made, 1);
  made->context = sim->context;
  made->sim = sim;
  NOLI_NEW_ZERO(sim->context, made->parameter, n_defs);
  NOLI_NEW_ZERO(sim->context, made->first, n_defs + 1);
  for (int32_t i = 0; i < n_defs; i++) {
    Parameter* parameter = &made->parameter[i];
    made->n = i + 1;
    NOLI_TRY(copy_parameter(sim, &defs[i], parameter));
    int32_t items = parameter->vertex != NULL ? parameter->n_vertex : 1;
    made->first[i + 1] = made->first[i] + (int64_t)parameter->kind->n_components * items;
  }
  *parameters = made;
  made = NULL;
done:
  noli_parameters_destroy(&made);
  return status;
}

void noli_parameters_destroy(NoliParameters** parameters) {
  if (parameters == NULL || *parameters == NULL) {
    return;
  }
  NoliContext* context = (*parameters)->context;
  for (int32_t i = 0; i < (*parameters)->n; i++) {
    noli_free(context, (*parameters)->parameter[i].vertex);
  }
  noli_free(context, (*parameters)->parameter);
  noli_free(context, (*parameters)->first);
  noli_free(context, *parameters);
  *parameters = NULL;
}

int64_t noli_parameters_count(const NoliParameters* parameters) {
  return parameters != NULL ? parameters->first[parameters->n] : 0;
}

int64_t noli_parameters_first(const NoliParameters* parameters, int32_t index) {
  return parameters->first[index < parameters->n ? index : parameters->n];
}

static void read_values(const NoliParameters* parameters, const NoliSim* sim, double* values) {
  NoliSimDef* def = sim->definition.def;
  for (int32_t i = 0; i < parameters->n; i++) {
    const Parameter* parameter = &parameters->parameter[i];
    parameter->kind->access(parameter, def, def, values + parameters->first[i], false);
  }
}

void noli_parameters_values(const NoliParameters* parameters, double* values) {
  read_values(parameters, parameters->sim, values);
}

// Lengths and speeds relative to the size of the scene keep their values when it changes.
static void fix_lengths(const NoliSim* sim, NoliSimDef* def) {
  const NoliProblem* problem = &sim->model->problem;
  def->contact_distance = (NoliScaled){problem->dhat, false};
  def->friction_speed = (NoliScaled){problem->friction_speed, false};
  if (def->tolerance.relative) {
    def->tolerance = (NoliScaled){def->tolerance.value * problem->diagonal, false};
  }
}

// As noli_parameters_apply, with values relative to those of `sim`.
static NoliStatus build(const NoliParameters* parameters, const NoliSim* sim, const double* values,
                        NoliContext* context, NoliSim** made) {
  NoliStatus status = NOLI_OK;
  NoliOwnedDefinition copy = {0};
  *made = NULL;
  NOLI_TRY(noli_owned_definition_copy(context, sim->definition.def, &copy));
  fix_lengths(sim, copy.def);
  for (int32_t i = 0; i < parameters->n; i++) {
    const Parameter* parameter = &parameters->parameter[i];
    parameter->kind->access(parameter, copy.def, sim->definition.def,
                            (double*)values + parameters->first[i], true);
  }
  NOLI_TRY(noli_sim_create(context, copy.def, made));
done:
  noli_owned_definition_free(context, &copy);
  return status;
}

NoliStatus noli_parameters_apply(const NoliParameters* parameters, const double* values,
                                 NoliContext* context, NoliSim** sim) {
  NOLI_REQUIRE(context, parameters != NULL && values != NULL && context != NULL && sim != NULL);
  return build(parameters, parameters->sim, values, context, sim);
}

// ---- gradients ----------------------------------------------------------------------------------

static NoliStatus run(NoliSim* sim, const NoliObjective* objectives, int32_t n, int64_t n_steps,
                      double* value) {
  NoliStatus status = NOLI_OK;
  memset(value, 0, sizeof *value * (size_t)n);
  for (int64_t step = 0; step <= n_steps; step++) {
    if (step > 0) {
      NOLI_TRY(noli_sim_step(sim, NULL));
    }
    for (int32_t i = 0; i < n; i++) {
      NoliObjectivePoint at = {.step = step,
                               .n_steps = n_steps,
                               .time = noli_sim_time(sim),
                               .x = noli_sim_positions(sim),
                               .v = noli_sim_velocities(sim)};
      NOLI_TRY(objectives[i].evaluate(objectives[i].user, sim, &at));
      value[i] += at.value;
    }
  }
done:
  return status;
}

static double step_of(const NoliParameters* parameters, int64_t j, double value) {
  int32_t i = 0;
  while (j >= parameters->first[i + 1]) {
    i++;
  }
  double scale = parameters->parameter[i].kind->scale;
  return STEP * fmax(fabs(value), scale);
}

static NoliStatus differences(NoliSim* sim, const NoliParameters* parameters,
                              const NoliObjective* objectives, int32_t n, int64_t n_steps,
                              double* gradient) {
  NoliStatus status = NOLI_OK;
  NoliSim* other = NULL;
  double *values = NULL, *side[2] = {NULL, NULL};
  int64_t n_values = noli_parameters_count(parameters);
  NOLI_NEW(sim->context, values, n_values);
  NOLI_NEW(sim->context, side[0], n);
  NOLI_NEW(sim->context, side[1], n);
  read_values(parameters, sim, values);
  for (int64_t j = 0; j < n_values; j++) {
    double keep = values[j], h = step_of(parameters, j, keep);
    for (int s = 0; s < 2; s++) {
      values[j] = keep + (s == 0 ? h : -h);
      NOLI_TRY(build(parameters, sim, values, sim->context, &other));
      NOLI_TRY(run(other, objectives, n, n_steps, side[s]));
      noli_sim_destroy(&other);
    }
    values[j] = keep;
    for (int32_t i = 0; i < n; i++) {
      gradient[i * n_values + j] = (side[0][i] - side[1][i]) / (2.0 * h);
    }
  }
done:
  noli_sim_destroy(&other);
  noli_free(sim->context, values);
  noli_free(sim->context, side[0]);
  noli_free(sim->context, side[1]);
  return status;
}

NoliStatus noli_sim_gradient(NoliSim* sim, const NoliParameters* parameters,
                             const NoliObjective* objectives, int32_t n_objectives,
                             const NoliGradientDef* def, double* value, double* gradient,
                             NoliGradientReport* report) {
  NOLI_REQUIRE(sim != NULL ? sim->context : NULL,
               sim != NULL && parameters != NULL && def != NULL && value != NULL);
  NoliStatus status = NOLI_OK;
  if (report != NULL) {
    *report = (NoliGradientReport){.residual_error = NAN};
  }
  if (gradient != NULL) {
    NOLI_TRY(differences(sim, parameters, objectives, n_objectives, def->n_steps, gradient));
  }
  NOLI_TRY(run(sim, objectives, n_objectives, def->n_steps, value));
done:
  return status;
}

// ---- inputs -------------------------------------------------------------------------------------

static const double* input_of(const NoliSim* sim, NoliInput input) {
  const NoliProblem* problem = &sim->model->problem;
  return input == NOLI_INPUT_REST ? problem->X : input == NOLI_INPUT_MASS ? problem->mass : NULL;
}

// Values of an input, element by element of blocks for moduli.
static double input_at(const NoliSim* sim, NoliInput input, int64_t i) {
  const NoliProblem* problem = &sim->model->problem;
  const double* plain = input_of(sim, input);
  if (plain != NULL) {
    return plain[i];
  }
  if (input == NOLI_INPUT_DISTANCE) {
    return problem->dhat;
  }
  for (int32_t b = 0; b < problem->n_block; b++) {
    const NoliBlock* block = &problem->block[b];
    if (i < block->n_element) {
      return input == NOLI_INPUT_MU ? block->lame_mu[i] : block->lame_lambda[i];
    }
    i -= block->n_element;
  }
  return 0.0;
}

static int64_t input_count(const NoliSim* sim, NoliInput input) {
  const NoliProblem* problem = &sim->model->problem;
  int64_t n = 0;
  for (int32_t b = 0; b < problem->n_block; b++) {
    n += problem->block[b].n_element;
  }
  return input == NOLI_INPUT_REST                               ? 3 * (int64_t)problem->n_vert
         : input == NOLI_INPUT_MASS                             ? problem->n_vert
         : input == NOLI_INPUT_MU || input == NOLI_INPUT_LAMBDA ? n
         : input == NOLI_INPUT_DISTANCE                         ? 1
                                                                : 0;
}

NoliStatus noli_parameters_add_inputs(const NoliParameters* parameters, const NoliSim* sim,
                                      double* const* input, double* d_p) {
  NoliStatus status = NOLI_OK;
  NoliContext* context = parameters->context;
  NoliSim* side[2] = {NULL, NULL};
  double* values = NULL;
  int64_t n = noli_parameters_count(parameters);
  NOLI_NEW(context, values, n);
  read_values(parameters, sim, values);
  for (int64_t j = 0; j < n; j++) {
    double keep = values[j], h = step_of(parameters, j, keep);
    for (int s = 0; s < 2; s++) {
      values[j] = keep + (s == 0 ? h : -h);
      NOLI_TRY(build(parameters, sim, values, context, &side[s]));
    }
    values[j] = keep;
    for (int k = 0; k < NOLI_INPUTS; k++) {
      for (int64_t i = 0; input[k] != NULL && i < input_count(sim, (NoliInput)k); i++) {
        double change = input_at(side[0], (NoliInput)k, i) - input_at(side[1], (NoliInput)k, i);
        d_p[j] += input[k][i] * change / (2.0 * h);
      }
    }
    noli_sim_destroy(&side[0]);
    noli_sim_destroy(&side[1]);
  }
done:
  noli_sim_destroy(&side[0]);
  noli_sim_destroy(&side[1]);
  noli_free(context, values);
  return status;
}
