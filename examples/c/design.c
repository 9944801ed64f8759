// Which shape of a beam sags least, of no more material? A design made in C: control points that
// move, a goal, a goal of the program's own, a constraint, and a search by MMA.
#include <noli/noli.h>
#include <stdio.h>

// The square of the depth of the free end's lower edge below that of the first beam, at the end of
// the run: a function of the program beside the goal.
static NoliStatus sag(void* user, NoliSim* sim, NoliObjectivePoint* at) {
  const int32_t node = *(const int32_t*)user;
  (void)sim;
  if (at->step == at->n_steps) {
    double y = at->x[3 * node + 1] + 0.02;
    at->value += y * y;
    if (at->d_x != NULL) {
      at->d_x[3 * node + 1] += 2.0 * y;
    }
  }
  return NOLI_OK;
}

static bool watch(void* user, const NoliDesignRun* run) {
  (void)user;
  if (run->value != NULL && run->best) {
    printf("run %2d: %.4g mm^2, %.3f l\n", (int)run->evaluation, 1e6 * run->value[0],
           1e3 * run->value[1]);
  }
  return true;
}

int main(void) {
  NoliContext* context = NULL;
  NoliMesh* mesh = NULL;
  NoliSim* sim = NULL;
  NoliDesign* design = NULL;
  NoliStatus status = noli_context_create(NULL, &context);
  if (status == NOLI_OK) {
    status = noli_mesh_make_box(context, (double[]){0.4, 0.04, 0.04}, (int32_t[]){10, 2, 1}, false,
                                &mesh);
  }

  // a beam that is clamped at x = -0.2 and carries its weight
  int32_t clamped[64], n_clamped = 0, corner = 0;
  for (int32_t i = 0; mesh != NULL && i < mesh->n_vert; i++) {
    const double* X = mesh->x + 3 * i;
    if (X[0] < -0.199) {
      clamped[n_clamped++] = i;
    }
    corner = X[0] > 0.199 && X[1] < -0.019 && X[2] < 0.0 ? i : corner;
  }
  NoliBodyDef beam = noli_default_body_def();
  beam.name = "beam";
  beam.mesh = mesh;
  beam.material.young = 5e6;
  NoliMotionDef clamp = noli_default_motion_def();
  clamp.node = clamped;
  clamp.n_node = n_clamped;
  NoliSimDef def = noli_default_sim_def();
  def.bodies = &beam;
  def.n_bodies = 1;
  def.motions = &clamp;
  def.n_motions = 1;
  def.integrator = "quasi_static";
  if (status == NOLI_OK) {
    status = noli_sim_create(context, &def, &sim);
  }

  // its outline: 4 x 2 control points that move up and down
  NoliVariableDef outline = noli_default_variable_def();
  outline.parameter.kind = "rest_position";
  outline.parameter.of = "beam";
  outline.parameter.scope = "vertices";
  outline.control = "cage";
  outline.cage[0] = 4;
  outline.cage[2] = 1;
  outline.lower[1] = -0.015;
  outline.upper[1] = 0.015;

  // the end sags little, and the beam has the volume of the first one at most
  NoliGoalDef end = noli_default_goal_def(), volume = noli_default_goal_def();
  int32_t free_end[] = {corner};
  end.quantity = "displacement";
  end.of = "beam";
  end.node = free_end;
  end.n_node = 1;
  volume.quantity = "volume";
  volume.of = "beam";
  volume.when = "start";
  NoliDesignFunctionDef material = noli_default_design_function_def();
  material.goals = &volume;
  material.n_goals = 1;
  material.at_most = 0.4 * 0.04 * 0.04;
  NoliDesignDef problem = noli_default_design_def();
  problem.variables = &outline;
  problem.n_variables = 1;
  problem.objective.goals = &end;
  problem.objective.n_goals = 1;
  problem.objective.custom = (NoliObjective){sag, &corner};
  problem.constraints = &material;
  problem.n_constraints = 1;
  problem.smoothness = 1e-7;
  problem.gradient.n_steps = 1;
  problem.max_evaluations = 12;
  if (status == NOLI_OK) {
    status = noli_design_create(sim, &problem, &design);
  }

  // the search
  double variable[16];
  NoliDesignResult result = {0};
  if (status == NOLI_OK && noli_design_count(design) <= 16) {
    status = noli_design_search(design, watch, NULL, variable, &result);
  }
  if (status == NOLI_OK) {
    printf("%s: %.4g mm^2, violation %.1e\n", result.reason, 1e6 * result.objective,
           result.violation);
    for (int32_t i = 0; i < noli_design_count(design); i++) {
      char name[80];
      noli_design_variable_name(design, i, name, sizeof name);
      printf("  %-32s %6.2f mm\n", name, 1e3 * variable[i]);
    }
  } else {
    fprintf(stderr, "%s: %s\n", noli_status_text(status), noli_context_message(context));
  }
  noli_design_destroy(&design);
  noli_sim_destroy(&sim);
  noli_mesh_destroy(context, &mesh);
  noli_context_destroy(&context);
  return status == NOLI_OK ? 0 : 1;
}
