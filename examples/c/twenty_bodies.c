// Twenty blocks on a slope of 20 degrees, each with its own friction: those above tan 20 = 0.364
// stay, the others slide. Prints the acceleration of each, and g (sin 20 - friction cos 20).
#include <inttypes.h>
#include <noli/noli.h>
#include <stdio.h>

enum { N_BODIES = 20, STEPS = 40, HALF = STEPS / 2 };

// turned by 20 degrees instead of the slope, m/s^2
static const double gravity[3] = {3.3540718, -9.2152366, 0};

static double friction_of(int b) {
  return (5 + 3 * b) / 100.0;
}

static NoliStatus make_meshes(NoliContext* context, NoliMesh* mesh[N_BODIES]) {
  const double unit[3] = {1, 1, 1}, none[3] = {0};
  NoliStatus status = NOLI_OK;
  for (int b = 0; b < N_BODIES && status == NOLI_OK; b++) {
    status = noli_mesh_make_box(context, (double[]){0.1, 0.05, 0.1}, (int32_t[]){2, 1, 2}, false,
                                &mesh[b]);
    if (status == NOLI_OK) {
      noli_mesh_transform(mesh[b], unit, none, (double[]){0, 0.0252, 15 * b / 100.0});
    }
  }
  return status;
}

static NoliStatus make_sim(NoliContext* context, NoliMesh* mesh[N_BODIES], NoliSim** sim) {
  char names[N_BODIES][16];
  NoliBodyDef body[N_BODIES];
  NoliPairDef pair[N_BODIES];
  NoliHalfSpaceDef slope = noli_default_half_space_def();
  NoliSimDef def = noli_default_sim_def();
  for (int b = 0; b < N_BODIES; b++) {
    snprintf(names[b], sizeof names[b], "block %d", b);
    body[b] = noli_default_body_def();
    body[b].name = names[b];
    body[b].mesh = mesh[b];
    body[b].material.young = 1e6;
    pair[b] = noli_default_pair_def();
    pair[b].a = b;
    pair[b].b = N_BODIES; // half-spaces are numbered after the bodies
    pair[b].friction = friction_of(b);
  }
  slope.name = "slope";
  def.bodies = body;
  def.n_bodies = N_BODIES;
  def.half_spaces = &slope;
  def.n_half_spaces = 1;
  def.pairs = pair;
  def.n_pairs = N_BODIES;
  for (int k = 0; k < 3; k++) {
    def.gravity[k] = gravity[k];
  }
  def.contact_distance = (NoliScaled){1e-4, false};
  return noli_sim_create(context, &def, sim);
}

static NoliStatus read_speeds(NoliSim* sim, double speed[N_BODIES]) {
  NoliBodyState state;
  NoliStatus status = NOLI_OK;
  for (int b = 0; b < N_BODIES && status == NOLI_OK; b++) {
    status = noli_sim_body_state(sim, b, &state);
    speed[b] = status == NOLI_OK ? state.velocity[0] : 0;
  }
  return status;
}

static void print_accelerations(const NoliSim* sim, const double half[N_BODIES],
                                const double end[N_BODIES]) {
  double time = (STEPS - HALF) * noli_sim_time_step(sim);
  for (int b = 0; b < N_BODIES; b++) {
    double rigid = gravity[0] + friction_of(b) * gravity[1];
    printf("friction %.2f: %.4f m/s^2, rigid %.4f m/s^2\n", friction_of(b),
           (end[b] - half[b]) / time, rigid > 0 ? rigid : 0);
  }
  printf("state %016" PRIx64 "\n", noli_sim_state_hash(sim));
}

int main(void) {
  NoliContext* context = NULL;
  NoliMesh* mesh[N_BODIES] = {NULL};
  NoliSim* sim = NULL;
  double half[N_BODIES], end[N_BODIES];
  NoliStatus status = noli_context_create(NULL, &context);
  if (status == NOLI_OK) {
    status = make_meshes(context, mesh);
  }
  if (status == NOLI_OK) {
    status = make_sim(context, mesh, &sim);
  }
  for (int step = 1; step <= STEPS && status == NOLI_OK; step++) {
    status = noli_sim_step(sim, NULL);
    if (status == NOLI_OK && (step == HALF || step == STEPS)) {
      status = read_speeds(sim, step == HALF ? half : end);
    }
  }
  if (status == NOLI_OK) {
    print_accelerations(sim, half, end);
  } else if (context != NULL) {
    fprintf(stderr, "%s: %s\n", noli_status_text(status), noli_context_message(context));
  }
  noli_sim_destroy(&sim);
  for (int b = 0; b < N_BODIES; b++) {
    noli_mesh_destroy(context, &mesh[b]);
  }
  noli_context_destroy(&context);
  return status == NOLI_OK ? 0 : 1;
}
