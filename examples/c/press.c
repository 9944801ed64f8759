// A plate compresses a soft pad on a floor and drags it: obstacles, a prescribed motion, friction
// by pair, forces, a frame for ParaView and a checkpoint. The scene of examples/guide/press.json.
#include <noli/noli.h>
#include <stdio.h>

enum { PAD, PLATE, FLOOR, N_BODIES = 2, STEPS = 70 };

static double smoothstep(double low, double high, double t) {
  double s = (t - low) / (high - low);
  s = s < 0.0 ? 0.0 : s > 1.0 ? 1.0 : s;
  return s * s * (3.0 - 2.0 * s);
}

// Positions of the plate at the end of a step: a pure function of time and rest position.
static void move_plate(void* user, double t0, double t1, int32_t n, const int32_t* node,
                       const double* X, const double* x_t0, double* x_t1) {
  (void)user, (void)t0, (void)node, (void)x_t0;
  for (int32_t i = 0; i < n; i++) {
    x_t1[3 * i] = X[3 * i] + 0.03 * smoothstep(0.4, 0.9, t1);
    x_t1[3 * i + 1] = X[3 * i + 1] - 0.01 * smoothstep(0.0, 0.3, t1);
    x_t1[3 * i + 2] = X[3 * i + 2];
  }
}

// Creates and places both meshes. The simulation copies meshes and definitions.
static NoliStatus make_meshes(NoliContext* context, NoliMesh* mesh[N_BODIES]) {
  const double unit[3] = {1, 1, 1}, none[3] = {0}, over[3] = {180, 0, 0};
  NoliStatus status = noli_mesh_make_box(context, (double[]){0.1, 0.05, 0.1}, (int32_t[]){6, 3, 6},
                                         false, &mesh[PAD]);
  if (status == NOLI_OK) {
    noli_mesh_transform(mesh[PAD], unit, none, (double[]){0, 0.0252, 0});
    status = noli_mesh_make_plane(context, 0.3, 0.2, 3, 2, &mesh[PLATE]);
  }
  if (status == NOLI_OK) {
    noli_mesh_transform(mesh[PLATE], unit, over, (double[]){0, 0.051, 0});
  }
  return status;
}

static NoliStatus make_sim(NoliContext* context, NoliMesh* mesh[N_BODIES], NoliSim** sim) {
  NoliBodyDef body[N_BODIES] = {noli_default_body_def(), noli_default_body_def()};
  NoliHalfSpaceDef floor = noli_default_half_space_def();
  NoliMotionDef motion = noli_default_motion_def();
  NoliPairDef pair = noli_default_pair_def();
  NoliSimDef def = noli_default_sim_def();
  floor.name = "floor";
  pair.a = PAD;
  pair.b = PLATE;
  pair.friction = 0.2;
  body[PAD].name = "pad";
  body[PAD].mesh = mesh[PAD];
  body[PAD].material.law = "stable_neo_hookean";
  body[PAD].material.young = 2e5;
  body[PAD].material.poisson = 0.45;
  body[PAD].material.damping = 1e-3;
  body[PLATE].name = "plate";
  body[PLATE].mesh = mesh[PLATE];
  body[PLATE].obstacle = true;
  motion.body = PLATE;
  motion.target = move_plate;
  def.bodies = body;
  def.n_bodies = N_BODIES;
  def.half_spaces = &floor;
  def.n_half_spaces = 1;
  def.motions = &motion;
  def.n_motions = 1;
  def.pairs = &pair;
  def.n_pairs = 1;
  def.friction = 0.6;
  return noli_sim_create(context, &def, sim);
}

// Prints the forces of the plate on the pad.
static NoliStatus print_forces(NoliSim* sim) {
  const NoliPairForce* pair = NULL;
  int32_t n = 0;
  NoliStatus status = noli_sim_pair_forces(sim, &pair, &n);
  for (int32_t p = 0; p < n && status == NOLI_OK; p++) {
    if (pair[p].a == PAD && pair[p].b == PLATE) {
      printf("t %.2f s  normal %.1f N  friction %.1f N\n", noli_sim_time(sim), -pair[p].normal[1],
             pair[p].friction[0]);
    }
  }
  return status;
}

int main(void) {
  NoliContext* context = NULL;
  NoliMesh* mesh[N_BODIES] = {NULL};
  NoliSim* sim = NULL;
  NoliStatus status = noli_context_create(NULL, &context);
  if (status == NOLI_OK) {
    status = make_meshes(context, mesh);
  }
  if (status == NOLI_OK) {
    status = make_sim(context, mesh, &sim);
  }
  for (int step = 1; step <= STEPS && status == NOLI_OK; step++) {
    status = noli_sim_step(sim, NULL);
    if (status == NOLI_OK && step % 10 == 0) {
      status = print_forces(sim);
    }
  }
  if (status == NOLI_OK) {
    status = noli_output_write_vtu(context, sim, NULL, "press.vtu");
  }
  if (status == NOLI_OK) {
    status = noli_checkpoint_save(context, sim, NULL, "press.h5");
  }
  if (status != NOLI_OK && context != NULL) {
    fprintf(stderr, "%s: %s\n", noli_status_text(status), noli_context_message(context));
  }
  noli_sim_destroy(&sim);
  noli_mesh_destroy(context, &mesh[PAD]);
  noli_mesh_destroy(context, &mesh[PLATE]);
  noli_context_destroy(&context);
  return status == NOLI_OK ? 0 : 1;
}
