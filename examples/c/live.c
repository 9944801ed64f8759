// Every call between two steps, a function for each group of noli/live.h and noli/batch.h: a hand
// carries a cube over a floor and sets it down.
#include <noli/noli.h>
#include <stdio.h>
#include <stdlib.h>

#define TRY(call)                                                                                  \
  do {                                                                                             \
    NoliStatus tried = (call);                                                                     \
    if (tried != NOLI_OK) {                                                                        \
      return tried;                                                                                \
    }                                                                                              \
  } while (0)

enum { CUBE, N_COPIES = 3 };

static NoliStatus make_sim(NoliContext* context, const NoliMesh* mesh, NoliSim** sim) {
  NoliBodyDef cube = noli_default_body_def();
  NoliHalfSpaceDef floor = noli_default_half_space_def();
  NoliMotionDef hand = noli_default_motion_def();
  NoliForceDef wind = noli_default_force_def();
  NoliSimDef def = noli_default_sim_def();
  int32_t top[8], n_top = 0;
  for (int32_t i = 0; i < mesh->n_vert; i++) {
    if (mesh->x[3 * i + 1] > 0.1) {
      top[n_top++] = i;
    }
  }
  cube.name = "cube";
  cube.mesh = mesh;
  cube.material.young = 1e6;
  floor.name = "floor";
  hand.name = "hand";
  hand.node = top;
  hand.n_node = n_top;
  hand.controlled = true; // the program writes targets
  wind.name = "wind";
  wind.kind = "total";
  wind.controlled = true; // and forces
  def.bodies = &cube;
  def.n_bodies = 1;
  def.half_spaces = &floor;
  def.n_half_spaces = 1;
  def.motions = &hand;
  def.n_motions = 1;
  def.forces = &wind;
  def.n_forces = 1;
  def.friction = 0.5;
  return noli_sim_create(context, &def, sim);
}

// All that has a name.
static void list_names(const NoliSim* sim) {
  for (int32_t i = 0; i < noli_sim_entity_count(sim); i++) {
    printf("entity %s\n", noli_sim_entity_name(sim, i));
  }
  for (int32_t i = 0; i < noli_sim_motion_count(sim); i++) {
    printf("motion %s\n", noli_sim_motion_name(sim, i));
  }
  for (int32_t i = 0; i < noli_sim_force_count(sim); i++) {
    printf("force %s\n", noli_sim_force_name(sim, i));
  }
}

// Targets: of a rigid motion, or of each vertex. Forces, N: shared among the vertices by mass.
static NoliStatus carry(NoliSim* sim) {
  int32_t motion = noli_sim_find_motion(sim, "hand"), force = noli_sim_find_force(sim, "wind"), n;
  double* value = noli_sim_force_values(sim, force, NULL, &n);
  for (int32_t i = 0; i < n; i++) {
    value[3 * i + 2] = 0.5; // along z
  }
  for (int step = 1; step <= 10; step++) {
    NoliPose pose = {.position = {0.01 * step, 0.0, 0.0}, .quaternion = {1, 0, 0, 0}};
    TRY(noli_sim_set_pose(sim, motion, &pose));
    TRY(noli_sim_step(sim, NULL));
  }
  double* target = noli_sim_motion_targets(sim, motion, &n);
  for (int32_t i = 0; i < n; i++) {
    target[3 * i + 1] -= 0.0099; // 0.1 mm above the floor, within the contact distance
  }
  TRY(noli_sim_step(sim, NULL));
  for (int32_t i = 0; i < noli_sim_node_count(sim); i++) {
    value[3 * i + 2] = 0.0;
  }
  return noli_sim_step(sim, NULL);
}

static NoliStatus change_parameters(NoliSim* sim) {
  const double gravity[3] = {0, -1.62, 0}; // on the moon
  NoliMaterialDef material = noli_default_material_def();
  NoliPairDef pair = noli_default_pair_def();
  double read[3];
  TRY(noli_sim_set_gravity(sim, gravity));
  TRY(noli_sim_set_time_step(sim, 0.02));
  TRY(noli_sim_set_time(sim, 10.0));
  TRY(noli_sim_material(sim, CUBE, NOLI_NULL_INDEX, &material));
  material.young = 2e6;
  TRY(noli_sim_set_material(sim, CUBE, NOLI_NULL_INDEX, &material));
  pair.name_a = "cube";
  pair.name_b = "floor";
  pair.friction = 0.2;
  TRY(noli_sim_set_pair(sim, &pair));
  TRY(noli_sim_step(sim, NULL));
  TRY(noli_sim_pair(sim, CUBE, noli_sim_find_entity(sim, "floor"), &pair));
  noli_sim_gravity(sim, read);
  printf("gravity %g m/s^2  friction %g  distance %.3g m  step %g s  time %g s\n", read[1],
         pair.friction, pair.distance.value, noli_sim_time_step(sim), noli_sim_time(sim));
  return NOLI_OK;
}

// A rollback from memory, a checkpoint in memory, a second simulation, and back to the start.
static NoliStatus keep_states(NoliContext* context, NoliSim* sim) {
  size_t size = noli_sim_state_bytes(sim), checkpoint_size = 0;
  void *state = malloc(size), *checkpoint = NULL;
  NoliSim* twin = NULL;
  uint64_t hash = noli_sim_state_hash(sim);
  NoliStatus status = state != NULL ? noli_sim_save_state(sim, state, size) : NOLI_ERROR_MEMORY;
  if (status == NOLI_OK) {
    status = noli_checkpoint_to_memory(context, sim, NULL, &checkpoint, &checkpoint_size);
  }
  if (status == NOLI_OK) {
    status = noli_sim_clone(sim, context, &twin);
  }
  if (status == NOLI_OK) {
    status = noli_sim_step(sim, NULL);
  }
  if (status == NOLI_OK) {
    status = noli_sim_load_state(sim, state, size);
  }
  bool same = noli_sim_state_hash(sim) == hash && noli_sim_state_hash(twin) == hash;
  if (status == NOLI_OK) {
    status = noli_sim_reset(twin);
  }
  if (status == NOLI_OK) {
    printf("back at the start: %s\n", noli_sim_state_hash(twin) != hash ? "yes" : "no");
    status = noli_checkpoint_from_memory(context, twin, checkpoint, checkpoint_size);
  }
  printf("same state: %s\n", same && noli_sim_state_hash(twin) == hash ? "yes" : "no");
  free(state);
  noli_free(context, checkpoint);
  noli_sim_destroy(&twin);
  return status;
}

// A body that would intersect another one is refused, with the names of both.
static NoliStatus change_bodies(NoliContext* context, NoliSim* sim) {
  NoliMesh* mesh = NULL;
  NoliBodyDef ball = noli_default_body_def();
  const double unit[3] = {1, 1, 1}, none[3] = {0}, beside[3] = {0.5, 0.0, 0.0};
  int32_t index;
  TRY(noli_mesh_make_sphere(context, 0.05, 2, false, &mesh));
  noli_mesh_transform(mesh, unit, none, (double[]){0.1, 0.06, 0.0});
  ball.name = "ball";
  ball.mesh = mesh;
  NoliStatus status = noli_sim_add_body(sim, &ball, &index);
  printf("refused: %s\n", status != NOLI_OK ? noli_context_message(context) : "no");
  noli_mesh_transform(mesh, unit, none, beside);
  status = noli_sim_add_body(sim, &ball, &index);
  noli_mesh_destroy(context, &mesh);
  TRY(status);
  TRY(noli_sim_step(sim, NULL));
  printf("entities with the ball: %d\n", (int)noli_sim_entity_count(sim));
  return noli_sim_remove_body(sim, index);
}

static bool stop_at_once(void* user, const NoliSim* sim, const NoliNewtonStat* iteration) {
  (void)sim, (void)iteration;
  ++*(int*)user;
  return false;
}

// A step that is cancelled leaves the state as it was.
static NoliStatus cancel(NoliSim* sim) {
  int calls = 0;
  uint64_t hash = noli_sim_state_hash(sim);
  noli_sim_set_progress(sim, stop_at_once, &calls);
  NoliStatus status = noli_sim_step(sim, NULL);
  noli_sim_set_progress(sim, NULL, NULL);
  printf("cancelled after %d iteration: %s\n", calls,
         status == NOLI_CANCELLED && noli_sim_state_hash(sim) == hash ? "state untouched" : "no");
  return NOLI_OK;
}

static NoliStatus read_results(NoliSim* sim) {
  NoliBodyState body;
  NoliWrench wrench;
  NoliEnergies energies;
  NoliReaction reaction;
  NoliSurfacePoint hit, closest;
  const NoliContactInfo* contact = NULL;
  int64_t n_contact = 0;
  const double above[3] = {0.1, 1.0, 0.0}, down[3] = {0.0, -1.0, 0.0};
  TRY(noli_sim_step(sim, NULL));
  TRY(noli_sim_body_state(sim, CUBE, &body));
  TRY(noli_sim_wrench(sim, CUBE, NULL, &wrench));
  TRY(noli_sim_reaction(sim, 0, NULL, &reaction));
  TRY(noli_sim_energies(sim, &energies));
  TRY(noli_sim_contacts(sim, &contact, &n_contact));
  TRY(noli_sim_cast_ray(sim, above, down, 2.0, &hit));
  TRY(noli_sim_closest_point(sim, above, 2.0, &closest));
  printf("mass %.3g kg  volume %.3g m^3  inertia %.3g kg m^2  centre %.3f m\n", body.mass,
         body.rest_volume, body.inertia[0], body.centre[0]);
  printf("weight %.4f N  hand %.4f N  floor %.4f N\n", body.mass * 1.62, reaction.force[1],
         wrench.normal[1]);
  printf("elastic %.3g J  contacts %lld", energies.elastic, (long long)n_contact);
  if (n_contact > 0) {
    printf("  first gap %.3g m  force %.3g N", contact[0].gap, contact[0].normal_force[1]);
  }
  printf("\nray meets %s after %.4f m, nearest point at %.4f m\n",
         noli_sim_entity_name(sim, hit.entity), hit.distance, closest.distance);
  return NOLI_OK;
}

// Copies with targets of their own; all results in one array.
static NoliStatus step_batch(NoliContext* context, NoliSim* sim) {
  NoliBatch* batch = NULL;
  NoliPose pose[N_COPIES];
  NoliBodyState body[N_COPIES];
  TRY(noli_batch_create(context, sim, N_COPIES, 0, &batch));
  NoliStatus status = NOLI_OK;
  for (int step = 1; step <= 5 && status == NOLI_OK; step++) {
    for (int c = 0; c < N_COPIES; c++) {
      pose[c] =
          (NoliPose){.position = {0.1, 0.002 * c * step - 0.0099, 0}, .quaternion = {1, 0, 0, 0}};
    }
    status = noli_batch_set_poses(batch, 0, pose);
    if (status == NOLI_OK) {
      status = noli_batch_step(batch, NULL, NULL, NULL);
    }
  }
  if (status == NOLI_OK) {
    status = noli_batch_body_states(batch, CUBE, body);
  }
  for (int c = 0; c < N_COPIES && status == NOLI_OK; c++) {
    printf("copy %d: height %.4f m\n", c, body[c].centre[1]);
  }
  noli_batch_destroy(&batch);
  return status;
}

static NoliStatus run(NoliContext* context, const NoliMesh* mesh, NoliSim** sim) {
  TRY(make_sim(context, mesh, sim));
  list_names(*sim);
  TRY(carry(*sim));
  TRY(change_parameters(*sim));
  TRY(keep_states(context, *sim));
  TRY(change_bodies(context, *sim));
  TRY(cancel(*sim));
  TRY(read_results(*sim));
  return step_batch(context, *sim);
}

int main(void) {
  NoliContext* context = NULL;
  NoliMesh* mesh = NULL;
  NoliSim* sim = NULL;
  NoliStatus status = noli_context_create(NULL, &context);
  if (status == NOLI_OK) {
    status =
        noli_mesh_make_box(context, (double[]){0.1, 0.1, 0.1}, (int32_t[]){1, 1, 1}, false, &mesh);
  }
  if (status == NOLI_OK) {
    noli_mesh_transform(mesh, (double[]){1, 1, 1}, (double[]){0, 0, 0}, (double[]){0, 0.06, 0});
    status = run(context, mesh, &sim);
  }
  if (status != NOLI_OK && context != NULL) {
    fprintf(stderr, "%s: %s\n", noli_status_text(status), noli_context_message(context));
  }
  noli_sim_destroy(&sim);
  noli_mesh_destroy(context, &mesh);
  noli_context_destroy(&context);
  return status == NOLI_OK ? 0 : 1;
}
