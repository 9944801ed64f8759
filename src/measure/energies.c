// Energies of the present state: of the scene, by body, and the shares of vertices. noli/live.h
#include "fem/loads/joint_coordinates.h"
#include "step/joints.h"
#include "step/simulation.h"

#include "base/sized.h"

#include <string.h>

NoliStatus noli_sim_energies_sized(NoliSim* sim, NoliEnergies* energies, size_t size) {
  NOLI_REQUIRE_READABLE(sim, sim != NULL && energies != NULL);
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = &sim->model->problem;
  int32_t n_threads = sim->stage->n_threads;
  NoliEnergies own = {.kinetic = noli_problem_kinetic_energy(problem, sim->state.v, n_threads) +
                                 noli_coordinates_kinetic_energy(&problem->coordinates,
                                                                 sim->state.x, sim->state.v)};

  // of elements, connections and regions
  for (int32_t i = 0; i < problem->n_block; i++) {
    const NoliBlock* block = &problem->block[i];
    if (noli_model_counts(sim->model, block)) {
      own.elastic += noli_block_elastic_energy(block, sim->state.x, n_threads);
    }
  }
  NOLI_TRY(noli_model_gather(sim->model, sizeof own.elastic, &own.elastic, 1));
  for (int32_t kind = 0; kind < NOLI_CONNECTION_FORCES; kind++) {
    const NoliConnections* connections = &problem->connection[kind];
    for (int64_t s = 0; s < connections->n; s++) {
      own.elastic += connections->forces->energy(connections->data, s, sim->state.x);
    }
  }
  for (int32_t k = 0; k < problem->coordinates.n; k++) {
    const NoliCoordinate* item = &problem->coordinates.item[k];
    double q = noli_sim_joint_numbers(sim, k)[NOLI_JOINT_PLACE];
    own.elastic += noli_coordinate_spring(item, q).energy + noli_coordinate_limit(item, q).energy;
  }
  noli_volume_states(&problem->volumes, sim->state.x, n_threads, sim->results.volume_state);
  for (int32_t r = 0; r < problem->volumes.n_region; r++) {
    own.volume += sim->results.volume_state[r].energy;
  }

  // in the field of gravity
  NoliVec3 gravity = noli_load3(sim->model->gravity);
  for (int32_t i = 0; i < problem->inertia.n_vert; i++) {
    int64_t node = problem->inertia.vert[i];
    own.gravity -=
        problem->inertia.weight[node] * noli_dot3(gravity, noli_load3(&sim->state.x[3 * node]));
  }
  const NoliStepReport* report = noli_sim_last_report(sim);
  own.contact = report != NULL ? report->contact_energy : 0.0;
  noli_sized_give(energies, size, &own, sizeof own);
done:
  return noli_ranks_agree(sim->context, status);
}

// ---- shares of vertices -------------------------------------------------------------------------

// Angles of rods are no vertices: both ends of a segment share what its angle has.
static void move_angles(const NoliProblem* problem, double* share) {
  for (int32_t i = 0; i < problem->n_block; i++) {
    const NoliBlock* block = &problem->block[i];
    for (int32_t s = 0; s < block->n_angle; s++) {
      double* angle = &share[block->first_angle + s];
      for (int end = 0; end < 2; end++) {
        share[block->node[(int64_t)s * block->n_local + end]] += 0.5 * *angle;
      }
      *angle = 0.0;
    }
  }
}

// Half the product of the velocity and the momentum of each node; both are masses times vectors
// where the mass is lumped.
static NoliStatus share_kinetic(NoliSim* sim, double* share) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = &sim->model->problem;
  double* momentum = NULL;
  NOLI_NEW_ZERO(sim->context, momentum, 3 * (int64_t)problem->n_vert);
  noli_problem_multiply_mass(problem, sim->state.v, sim->stage->n_threads, momentum);
  for (int32_t i = 0; i < problem->inertia.n_lumped; i++) {
    int64_t node = problem->inertia.lumped[i];
    NoliVec3 v = noli_load3(&sim->state.v[3 * node]);
    noli_store3(momentum + 3 * node, noli_scale3(problem->inertia.mass[node], v));
  }
  for (int64_t i = 0; i < problem->n_vert; i++) {
    share[i] = 0.5 * noli_dot3(noli_load3(&sim->state.v[3 * i]), noli_load3(momentum + 3 * i));
  }
  move_angles(problem, share);
done:
  noli_free(sim->context, momentum);
  return status;
}

// Every node of an element, or of a hinge, has the same share of its energy.
static void share_part(const NoliBlock* block, NoliBlockPart part, const double* x, double* share) {
  const NoliBlockEnergy energy = {.block = block, .part = part, .scale = 1.0};
  const NoliEnergyTerm term = noli_block_elasticity_term(&energy);
  for (int64_t s = 0; s < term.n_stencil; s++) {
    const int32_t* node = term.node + s * term.size;
    double of_stencil;
    int32_t n = 0;
    NoliLocal local = {.energy = &of_stencil};
    term.evaluate(term.data, x, s, s + 1, NOLI_EVAL_ENERGY, &local);
    for (int32_t k = 0; k < term.size; k++) {
      n += node[k] != NOLI_NULL_INDEX;
    }
    for (int32_t k = 0; k < term.size; k++) {
      if (node[k] != NOLI_NULL_INDEX) {
        share[node[k]] += of_stencil / n;
      }
    }
  }
}

static NoliStatus share_elastic(const NoliSim* sim, double* share) {
  NoliStatus status = NOLI_OK;
  const NoliProblem* problem = &sim->model->problem;
  memset(share, 0, sizeof *share * (size_t)problem->n_vert);
  for (int32_t i = 0; i < problem->n_block; i++) {
    bool counts = noli_model_counts(sim->model, &problem->block[i]);
    for (int part = 0; counts && part < NOLI_BLOCK_PARTS; part++) {
      share_part(&problem->block[i], (NoliBlockPart)part, sim->state.x, share);
    }
  }
  NOLI_TRY(noli_model_gather(sim->model, sizeof *share, share, problem->n_vert));
  move_angles(problem, share);
done:
  return status;
}

static void share_gravity(const NoliSim* sim, double* share) {
  const NoliProblem* problem = &sim->model->problem;
  NoliVec3 gravity = noli_load3(sim->model->gravity);
  memset(share, 0, sizeof *share * (size_t)problem->n_vert);
  for (int32_t i = 0; i < problem->inertia.n_vert; i++) {
    int64_t node = problem->inertia.vert[i];
    share[node] =
        -problem->inertia.weight[node] * noli_dot3(gravity, noli_load3(&sim->state.x[3 * node]));
  }
}

NoliStatus noli_sim_nodal_energies(NoliSim* sim, double* kinetic, double* elastic,
                                   double* gravity) {
  NOLI_REQUIRE_READABLE(sim, sim != NULL);
  NoliStatus status = NOLI_OK;
  if (kinetic != NULL) {
    NOLI_TRY(share_kinetic(sim, kinetic));
  }
  if (elastic != NULL) {
    NOLI_TRY(share_elastic(sim, elastic));
  }
  if (gravity != NULL) {
    share_gravity(sim, gravity);
  }
done:
  return status;
}

// ---- by body ------------------------------------------------------------------------------------

static void sum_bodies(const NoliModel* model, const double* share, double* sum) {
  for (int32_t b = 0; b < model->n_body; b++) {
    sum[b] = 0.0;
    for (int32_t i = model->vert_first[b]; i < model->vert_first[b + 1]; i++) {
      sum[b] += share[i];
    }
  }
}

NoliStatus noli_sim_body_energies(NoliSim* sim, double* kinetic, double* elastic, double* gravity) {
  NOLI_REQUIRE_READABLE(sim, sim != NULL);
  NoliStatus status = NOLI_OK;
  double* const sums[3] = {kinetic, elastic, gravity};
  double* share = NULL;
  NOLI_NEW(sim->context, share, sim->model->problem.n_vert);
  for (int k = 0; k < 3; k++) {
    if (sums[k] != NULL) {
      double* wanted[3] = {NULL, NULL, NULL};
      wanted[k] = share;
      NOLI_TRY(noli_sim_nodal_energies(sim, wanted[0], wanted[1], wanted[2]));
      sum_bodies(sim->model, share, sums[k]);
    }
  }
done:
  noli_free(sim->context, share);
  return status;
}
