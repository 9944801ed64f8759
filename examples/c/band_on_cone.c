// A rubber band is pushed down a cone and stays there, stretched, by friction. Prints height,
// radius and push, then the tension of the band: from the forces of the cone, and in theory.
#include <inttypes.h>
#include <math.h>
#include <noli/noli.h>
#include <stdio.h>
#include <stdlib.h>

enum { BAND, CONE, PUSHER, N_BODIES, STEPS = 100 };

static const double pi = 3.14159265358979323846, young = 2e5, poisson = 0.45, density = 1000;

static double clamp(double x, double low, double high) {
  return x < low ? low : x > high ? high : x;
}

// The pusher moves down by 5 cm within half a second, then up again.
static void push(void* user, double t0, double t, int32_t n, const int32_t* node, const double* X,
                 const double* x_t0, double* x_t1) {
  (void)user, (void)t0, (void)node, (void)x_t0;
  double up = -0.05 * clamp(t / 0.5, 0, 1) + 0.07 * clamp((t - 0.6) / 0.3, 0, 1);
  for (int32_t i = 0; i < n; i++) {
    x_t1[3 * i] = X[3 * i];
    x_t1[3 * i + 1] = X[3 * i + 1] + up;
    x_t1[3 * i + 2] = X[3 * i + 2];
  }
}

static NoliStatus make_meshes(NoliContext* context, NoliMesh* mesh[N_BODIES]) {
  const double unit[3] = {1, 1, 1}, none[3] = {0};
  NoliStatus status = noli_mesh_make_torus(context, 0.05, 0.006, 20, 2, false, &mesh[BAND]);
  if (status == NOLI_OK) {
    noli_mesh_transform(mesh[BAND], unit, none, (double[]){0, 0.0965, 0});
    status = noli_mesh_make_revolution(context, (double[]){0.12, -0.1, 0, 0.2}, 2, 40, &mesh[CONE]);
  }
  if (status == NOLI_OK) {
    status =
        noli_mesh_make_revolution(context, (double[]){0.044, 0, 0.075, 0}, 2, 32, &mesh[PUSHER]);
  }
  if (status == NOLI_OK) {
    noli_mesh_transform(mesh[PUSHER], unit, none, (double[]){0, 0.104, 0});
  }
  return status;
}

static NoliStatus make_sim(NoliContext* context, NoliMesh* mesh[N_BODIES], NoliSim** sim) {
  static const char* const names[N_BODIES] = {"band", "cone", "pusher"};
  NoliBodyDef body[N_BODIES];
  NoliMotionDef motion = noli_default_motion_def();
  NoliPairDef pair = noli_default_pair_def();
  NoliSimDef def = noli_default_sim_def();
  for (int b = 0; b < N_BODIES; b++) {
    body[b] = noli_default_body_def();
    body[b].name = names[b];
    body[b].mesh = mesh[b];
    body[b].obstacle = b != BAND;
  }
  body[BAND].material.law = "stable_neo_hookean";
  body[BAND].material.young = young;
  body[BAND].material.poisson = poisson;
  body[BAND].material.density = density;
  body[BAND].material.damping = 5e-3;
  motion.body = PUSHER;
  motion.target = push;
  pair.a = BAND;
  pair.b = PUSHER;
  pair.friction = 0;
  def.bodies = body;
  def.n_bodies = N_BODIES;
  def.motions = &motion;
  def.n_motions = 1;
  def.pairs = &pair;
  def.n_pairs = 1;
  def.friction = 0.6;
  def.friction_iterations = NOLI_FRICTION_UNTIL_CONVERGENCE;
  return noli_sim_create(context, &def, sim);
}

// The mean distance of the band from the axis, m, weighted by mass: at rest, or now.
static double mean_radius(const NoliSim* sim, const double* x, double* mass) {
  int32_t first, count;
  double sum = 0;
  *mass = 0;
  noli_sim_body_range(sim, BAND, &first, &count);
  for (int32_t i = first; i < first + count; i++) {
    sum += noli_sim_masses(sim)[i] * hypot(x[3 * i], x[3 * i + 2]);
    *mass += noli_sim_masses(sim)[i];
  }
  return sum / *mass;
}

static NoliStatus print_state(NoliSim* sim) {
  NoliBodyState band;
  NoliWrench wrench;
  double mass, radius = mean_radius(sim, noli_sim_positions(sim), &mass);
  NoliStatus status = noli_sim_body_state(sim, BAND, &band);
  if (status == NOLI_OK) {
    status = noli_sim_wrench(sim, PUSHER, NULL, &wrench);
  }
  if (status == NOLI_OK) {
    printf("t %.2f s  height %.1f mm  radius %.1f mm  push %.2f N\n", noli_sim_time(sim),
           1e3 * band.centre[1], 1e3 * radius, wrench.normal[1]);
  }
  return status;
}

// The forces on a ring in equilibrium, summed along its radii, are 2 pi times its tension. Rubber
// that is stretched by s has the stress (s - 1/s^2) young / (2 (1 + poisson)).
static NoliStatus print_tension(NoliSim* sim) {
  int32_t n = noli_sim_vertex_count(sim), first, count;
  double* force = malloc(6 * (size_t)n * sizeof *force);
  double *friction = force != NULL ? force + 3 * (int64_t)n : NULL, outward = 0, mass;
  NoliStatus status = force != NULL ? NOLI_OK : NOLI_ERROR_MEMORY;
  if (status == NOLI_OK) {
    status = noli_sim_contact_forces(sim, force);
  }
  if (status == NOLI_OK) {
    status = noli_sim_friction_forces(sim, friction);
  }
  noli_sim_body_range(sim, BAND, &first, &count);
  for (int32_t i = 3 * first; i < 3 * (first + count) && status == NOLI_OK; i += 3) {
    const double* x = noli_sim_positions(sim) + i;
    outward += ((force[i] + friction[i]) * x[0] + (force[i + 2] + friction[i + 2]) * x[2]) /
               hypot(x[0], x[2]);
  }
  free(force);
  if (status == NOLI_OK) {
    double rest = mean_radius(sim, noli_sim_rest_positions(sim), &mass);
    double stretch = mean_radius(sim, noli_sim_positions(sim), &mass) / rest;
    double stress = young / (2 * (1 + poisson)) * (stretch - 1 / (stretch * stretch));
    printf("stretched by %.3f, the band pulls with %.3f N, in theory %.3f N\n", stretch,
           outward / (2 * pi), stress * mass / density / (2 * pi * rest));
    printf("state %016" PRIx64 "\n", noli_sim_state_hash(sim));
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
    if (status == NOLI_OK && step % 20 == 0) {
      status = print_state(sim);
    }
  }
  if (status == NOLI_OK) {
    status = print_tension(sim);
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
