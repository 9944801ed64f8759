// Two fingers pick up a soft ball: live stepping with feedback. Fingers close until each feels the
// force that it shall grip with, lift the ball and hold it; a batch of four tries other frictions.
#include <inttypes.h>
#include <noli/noli.h>
#include <stdio.h>

enum { BALL, LEFT, RIGHT, FLOOR, N_BODIES = 3, STEPS = 100, N_COPIES = 4 };

static const double grip_force = 3.0; // N, of each finger
static const double friction = 0.6;
static const double speed = 0.1; // m/s, of fingers and of lifting

// What the controller remembers: how far the fingers have closed and lifted, m.
typedef struct Hand {
  double closed;
  double lifted;
} Hand;

static NoliStatus make_meshes(NoliContext* context, NoliMesh* mesh[N_BODIES]) {
  const double unit[3] = {1, 1, 1}, none[3] = {0};
  NoliStatus status = noli_mesh_make_sphere(context, 0.03, 2, false, &mesh[BALL]);
  if (status == NOLI_OK) {
    noli_mesh_transform(mesh[BALL], unit, none, (double[]){0, 0.0302, 0});
  }
  for (int side = LEFT; side <= RIGHT && status == NOLI_OK; side++) {
    status = noli_mesh_make_box(context, (double[]){0.01, 0.03, 0.03}, (int32_t[]){1, 1, 1}, false,
                                &mesh[side]);
    if (status == NOLI_OK) {
      noli_mesh_transform(mesh[side], unit, none,
                          (double[]){side == LEFT ? -0.036 : 0.036, 0.03, 0});
    }
  }
  return status;
}

static NoliStatus make_sim(NoliContext* context, NoliMesh* mesh[N_BODIES], NoliSim** sim) {
  static const char* const names[N_BODIES] = {"ball", "left", "right"};
  NoliBodyDef body[N_BODIES];
  NoliMotionDef motion[2];
  NoliHalfSpaceDef floor = noli_default_half_space_def();
  NoliSimDef def = noli_default_sim_def();
  for (int b = 0; b < N_BODIES; b++) {
    body[b] = noli_default_body_def();
    body[b].name = names[b];
    body[b].mesh = mesh[b];
    body[b].obstacle = b != BALL;
  }
  for (int side = 0; side < 2; side++) {
    motion[side] = noli_default_motion_def();
    motion[side].name = names[LEFT + side];
    motion[side].body = LEFT + side;
    motion[side].controlled = true; // targets are written between steps
  }
  body[BALL].material.young = 5e4;
  floor.name = "floor";
  def.bodies = body;
  def.n_bodies = N_BODIES;
  def.half_spaces = &floor;
  def.n_half_spaces = 1;
  def.motions = motion;
  def.n_motions = 2;
  def.friction = friction;
  return noli_sim_create(context, &def, sim);
}

// Fingers close while they feel less than the grip force, and lift while they feel more.
static NoliStatus control(NoliSim* sim, Hand* hand) {
  NoliWrench left;
  NoliStatus status = noli_sim_wrench(sim, LEFT, NULL, &left);
  double way = speed * noli_sim_time_step(sim);
  if (-left.normal[0] < grip_force) {
    hand->closed += 0.25 * way;
  } else if (hand->lifted < 0.05) {
    hand->lifted += way;
  }
  for (int side = 0; side < 2 && status == NOLI_OK; side++) {
    double x = side == 0 ? hand->closed : -hand->closed;
    NoliPose pose = {.position = {x, hand->lifted, 0.0}, .quaternion = {1, 0, 0, 0}};
    status = noli_sim_set_pose(sim, side, &pose);
  }
  return status;
}

// Two fingers hold a weight if each presses with weight / (2 friction) or more.
static NoliStatus print_hold(NoliSim* sim) {
  NoliBodyState ball;
  NoliWrench left, right;
  double gravity[3];
  NoliStatus status = noli_sim_body_state(sim, BALL, &ball);
  if (status == NOLI_OK) {
    status = noli_sim_wrench(sim, LEFT, NULL, &left);
  }
  if (status == NOLI_OK) {
    status = noli_sim_wrench(sim, RIGHT, NULL, &right);
  }
  if (status == NOLI_OK) {
    noli_sim_gravity(sim, gravity);
    double weight = -gravity[1] * ball.mass;
    printf("weight %.3f N  held by friction %.3f N  grip %.3f N, at least %.3f N\n", weight,
           -left.friction[1] - right.friction[1], -left.normal[0], weight / (2 * friction));
    printf("state %016" PRIx64 "\n", noli_sim_state_hash(sim));
  }
  return status;
}

static NoliStatus pick(NoliSim* sim) {
  Hand hand = {0};
  NoliStatus status = NOLI_OK;
  for (int step = 1; step <= STEPS && status == NOLI_OK; step++) {
    status = control(sim, &hand);
    if (status == NOLI_OK) {
      status = noli_sim_step(sim, NULL);
    }
    NoliBodyState ball;
    NoliWrench left;
    if (status == NOLI_OK && step % 20 == 0) {
      status = noli_sim_body_state(sim, BALL, &ball);
    }
    if (status == NOLI_OK && step % 20 == 0) {
      status = noli_sim_wrench(sim, LEFT, NULL, &left);
      printf("t %.2f s  grip %.2f N  height %.1f mm\n", noli_sim_time(sim), -left.normal[0],
             1e3 * ball.centre[1]);
    }
  }
  return status == NOLI_OK ? print_hold(sim) : status;
}

static double friction_of_copy(int c) {
  return (5 + 15 * c) / 100.0;
}

// The same from the start with four frictions, at the same time.
static NoliStatus try_frictions(NoliContext* context, NoliSim* sim) {
  NoliBatch* batch = NULL;
  Hand hand[N_COPIES] = {{0}};
  NoliStatus status = noli_sim_reset(sim);
  if (status == NOLI_OK) {
    status = noli_batch_create(context, sim, N_COPIES, 0, &batch);
  }
  for (int c = 0; c < N_COPIES && status == NOLI_OK; c++) {
    for (int side = LEFT; side <= RIGHT && status == NOLI_OK; side++) {
      NoliPairDef pair = noli_default_pair_def();
      pair.a = BALL;
      pair.b = side;
      pair.friction = friction_of_copy(c);
      status = noli_sim_set_pair(noli_batch_sim(batch, c), &pair);
    }
  }
  for (int step = 0; step < STEPS && status == NOLI_OK; step++) {
    for (int c = 0; c < N_COPIES && status == NOLI_OK; c++) {
      status = control(noli_batch_sim(batch, c), &hand[c]);
    }
    if (status == NOLI_OK) {
      status = noli_batch_step(batch, NULL, NULL, NULL);
    }
  }
  NoliBodyState ball[N_COPIES];
  if (status == NOLI_OK) {
    status = noli_batch_body_states(batch, BALL, ball);
  }
  for (int c = 0; c < N_COPIES && status == NOLI_OK; c++) {
    printf("friction %.2f: the ball is at %.1f mm\n", friction_of_copy(c), 1e3 * ball[c].centre[1]);
  }
  noli_batch_destroy(&batch);
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
  if (status == NOLI_OK) {
    status = pick(sim);
  }
  if (status == NOLI_OK) {
    status = try_frictions(context, sim);
  }
  if (status != NOLI_OK && context != NULL) {
    fprintf(stderr, "%s: %s\n", noli_status_text(status), noli_context_message(context));
  }
  noli_sim_destroy(&sim);
  for (int b = 0; b < N_BODIES; b++) {
    noli_mesh_destroy(context, &mesh[b]);
  }
  noli_context_destroy(&context);
  return status == NOLI_OK ? 0 : 1;
}
