// A soft box falls on a floor. Prints its height and the force from the floor.
#include <noli/noli.h>
#include <stdio.h>

int main(void) {
  NoliContext* context = NULL;
  NoliMesh* mesh = NULL;
  NoliSim* sim = NULL;
  NoliStatus status = noli_context_create(NULL, &context);

  NoliBodyDef box = noli_default_body_def();
  NoliHalfSpaceDef floor = noli_default_half_space_def();
  floor.name = "floor";
  floor.origin[1] = -0.6;
  if (status == NOLI_OK) {
    status = noli_mesh_make_box(context, (double[]){1, 1, 1}, (int32_t[]){3, 3, 3}, false, &mesh);
  }
  if (status == NOLI_OK) {
    box.name = "box";
    box.mesh = mesh;
    NoliSimDef def = noli_default_sim_def();
    def.bodies = &box;
    def.n_bodies = 1;
    def.half_spaces = &floor;
    def.n_half_spaces = 1;
    status = noli_sim_create(context, &def, &sim);
  }
  for (int step = 1; step <= 30 && status == NOLI_OK; step++) {
    const NoliPairForce* pairs = NULL;
    int32_t n_pairs = 0;
    status = noli_sim_step(sim, NULL);
    if (status == NOLI_OK) {
      status = noli_sim_pair_forces(sim, &pairs, &n_pairs);
    }
    if (status == NOLI_OK) {
      printf("t %.2f s  height %.4f m  force %.1f N\n", noli_sim_time(sim),
             noli_sim_positions(sim)[1], n_pairs > 0 ? pairs[0].normal[1] : 0.0);
    }
  }
  if (status != NOLI_OK) {
    fprintf(stderr, "%s: %s\n", noli_status_text(status), noli_context_message(context));
  }
  noli_sim_destroy(&sim);
  noli_mesh_destroy(context, &mesh);
  noli_context_destroy(&context);
  return status == NOLI_OK ? 0 : 1;
}
