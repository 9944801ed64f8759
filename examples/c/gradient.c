// How far does a block slide, and how does that change with the floor's friction? The derivative of
// a run by a parameter, beside a difference of two runs.
#include <noli/noli.h>
#include <stdio.h>

// The mean position along x at the end of the run.
static NoliStatus slide(void* user, NoliSim* sim, NoliObjectivePoint* at) {
  (void)user;
  int32_t n = noli_sim_node_count(sim);
  for (int32_t i = 0; at->step == at->n_steps && i < n; i++) {
    at->value += at->x[3 * i] / n;
    if (at->d_x != NULL) {
      at->d_x[3 * i] += 1.0 / n;
    }
  }
  return NOLI_OK;
}

int main(void) {
  NoliContext* context = NULL;
  NoliMesh* mesh = NULL;
  NoliSim *sim = NULL, *other = NULL;
  NoliParameters *parameters = NULL, *same = NULL;
  NoliStatus status = noli_context_create(NULL, &context);

  // a block that slides on a floor
  NoliBodyDef block = noli_default_body_def();
  NoliHalfSpaceDef floor = noli_default_half_space_def();
  NoliSimDef def = noli_default_sim_def();
  if (status == NOLI_OK) {
    status =
        noli_mesh_make_box(context, (double[]){0.2, 0.1, 0.2}, (int32_t[]){2, 1, 2}, false, &mesh);
  }
  block.mesh = mesh;
  block.material.young = 1e6;
  block.velocity[0] = 1.0;
  floor.origin[1] = -0.0505;
  def.bodies = &block;
  def.n_bodies = 1;
  def.half_spaces = &floor;
  def.n_half_spaces = 1;
  def.friction = 0.2;
  def.contact_distance.value = 1e-3;
  def.contact_distance.relative = false;
  def.barrier_stiffness = 1e8; // an adaptive one has no derivative
  if (status == NOLI_OK) {
    status = noli_sim_create(context, &def, &sim);
  }

  // the derivative
  NoliParameterDef friction = noli_default_parameter_def();
  friction.kind = "friction";
  NoliObjective objective = {slide, NULL};
  NoliGradientDef run = noli_default_gradient_def();
  run.n_steps = 20;
  double value[2] = {0.0, 0.0}, slope = 0.0, coefficient = 0.0;
  if (status == NOLI_OK) {
    status = noli_parameters_create(sim, &friction, 1, &parameters);
  }
  if (status == NOLI_OK) {
    noli_parameters_values(parameters, &coefficient);
    status = noli_sim_gradient(sim, parameters, &objective, 1, &run, &value[0], &slope, NULL);
  }

  // another coefficient
  coefficient += 1e-4;
  if (status == NOLI_OK) {
    status = noli_parameters_apply(parameters, &coefficient, context, &other);
  }
  if (status == NOLI_OK) {
    status = noli_parameters_create(other, &friction, 1, &same);
  }
  if (status == NOLI_OK) {
    status = noli_sim_gradient(other, same, &objective, 1, &run, &value[1], NULL, NULL);
  }
  if (status == NOLI_OK) {
    printf("slid %.6f m, derivative %.4f m, difference %.4f m\n", value[0], slope,
           (value[1] - value[0]) / 1e-4);
  } else {
    fprintf(stderr, "%s: %s\n", noli_status_text(status), noli_context_message(context));
  }
  noli_parameters_destroy(&same);
  noli_parameters_destroy(&parameters);
  noli_sim_destroy(&other);
  noli_sim_destroy(&sim);
  noli_mesh_destroy(context, &mesh);
  noli_context_destroy(&context);
  return status == NOLI_OK ? 0 : 1;
}
