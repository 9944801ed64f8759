// Forces, stresses and other results at the current state.
#include "base/parallel.h"
#include "base/ranks.h"
#include "material/stress.h"
#include "solve/bonds.h"
#include "step/simulation.h"

#include <string.h>

static double force_scale(const NoliSim* sim) {
  return sim->stage->time.h_e * sim->stage->time.h_e;
}

// Forces on vertices that the stage of the last step knows; 0 before the first step.
static NoliStatus last_forces(NoliSim* sim,
                              NoliStatus (*find)(const NoliStage* stage, double* force),
                              double* force) {
  memset(force, 0, (size_t)sim->model->problem.n_vert * 3 * sizeof(double));
  bool known = *sim->state.step > 0 && force_scale(sim) > 0.0;
  return known ? noli_ranks_agree(sim->context, find(sim->stage, force)) : NOLI_OK;
}

NoliStatus noli_sim_contact_forces(NoliSim* sim, double* force) {
  NOLI_REQUIRE_READABLE(sim, sim != NULL && force != NULL);
  return last_forces(sim, noli_stage_normal_forces, force);
}

NoliStatus noli_sim_friction_forces(NoliSim* sim, double* force) {
  NOLI_REQUIRE_READABLE(sim, sim != NULL && force != NULL);
  return last_forces(sim, noli_stage_friction_forces, force);
}

typedef struct StressLoop {
  const NoliModel* model;
  int32_t body;
  const double* x;
  double* mises;    // (n_tet) or NULL
  NoliStress* full; // (n_tet) or NULL
} StressLoop;

static void find_stresses(void* user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  const StressLoop* loop = user;
  const NoliBlock* block = noli_problem_block(&loop->model->problem, loop->body);
  for (int64_t i = begin; i < end; i++) {
    NoliStress stress = {0};
    int32_t element = loop->model->problem.range[loop->body].begin + (int32_t)i;
    int64_t cell = noli_model_cell(loop->model, loop->body, element);
    double volume = noli_block_mean_volume(block, element);
    block->type->add_stress(block, element, loop->x, &stress);
    if (loop->mises != NULL) {
      loop->mises[cell] = volume > 0.0 ? stress.von_mises / volume : 0.0;
    } else {
      noli_stress_finish(&stress, volume);
      loop->full[cell] = stress;
    }
  }
}

// Stresses of the elements of this rank, of one kind; those of others are 0.
static void stresses_of_elements(const NoliSim* sim, double* mises, NoliStress* full) {
  enum { ELEMENTS_PER_BLOCK = 256 };
  const NoliModel* model = sim->model;
  size_t n = (size_t)model->cell_first[model->n_body];
  if (mises != NULL) {
    memset(mises, 0, n * sizeof *mises);
  }
  if (full != NULL) {
    memset(full, 0, n * sizeof *full);
  }
  for (int32_t b = 0; b < model->n_body; b++) {
    const NoliBlock* block = noli_problem_block(&model->problem, b);
    NoliBlockRange range = model->problem.range[b];
    StressLoop loop = {.model = model, .body = b, .x = sim->state.x, .mises = mises, .full = full};
    if (block != NULL && noli_model_counts(model, block)) {
      noli_parallel_for(sim->stage->n_threads, range.end - range.begin, ELEMENTS_PER_BLOCK,
                        find_stresses, &loop);
    }
  }
}

NoliStatus noli_sim_von_mises(NoliSim* sim, double* stress) {
  NOLI_REQUIRE_READABLE(sim, sim != NULL && stress != NULL);
  stresses_of_elements(sim, stress, NULL);
  NoliStatus status =
      noli_model_gather(sim->model, sizeof *stress, stress, noli_sim_tet_count(sim));
  return noli_ranks_agree(sim->context, status);
}

NoliStatus noli_sim_plastic_strains(NoliSim* sim, double* strain) {
  NOLI_REQUIRE_READABLE(sim, sim != NULL && strain != NULL);
  const NoliModel* model = sim->model;
  memset(strain, 0, sizeof *strain * (size_t)noli_sim_tet_count(sim));
  for (int32_t b = 0; b < model->n_body; b++) {
    const NoliBlock* block = noli_problem_block(&model->problem, b);
    NoliBlockRange range = model->problem.range[b];
    bool counts = block != NULL && noli_model_counts(model, block);
    for (int32_t t = range.begin; counts && t < range.end; t++) {
      strain[noli_model_cell(model, b, t)] = noli_block_plastic_strain(block, t);
    }
  }
  return noli_ranks_agree(
      sim->context, noli_model_gather(model, sizeof *strain, strain, noli_sim_tet_count(sim)));
}

NoliStatus noli_sim_stresses(NoliSim* sim, NoliStress* stress) {
  NOLI_REQUIRE_READABLE(sim, sim != NULL && stress != NULL);
  stresses_of_elements(sim, NULL, stress);
  return noli_ranks_agree(
      sim->context, noli_model_gather(sim->model, sizeof *stress, stress, noli_sim_tet_count(sim)));
}

// Adds the stress of an element to its nodes, but not to angles.
static void add_to_nodes(const NoliBlock* block, int32_t element, double volume,
                         const NoliStress* stress, double* around, NoliStress* nodal) {
  const int32_t* node = block->node + block->n_local * (int64_t)element;
  for (int32_t k = 0; k < block->n_local; k++) {
    bool angle = node[k] >= block->first_angle && node[k] < block->first_angle + block->n_angle;
    if (node[k] != NOLI_NULL_INDEX && !angle) {
      noli_stress_add_scaled(&nodal[node[k]], volume, stress);
      around[node[k]] += volume;
    }
  }
}

NoliStatus noli_sim_nodal_stresses(NoliSim* sim, NoliStress* stress) {
  NOLI_REQUIRE_READABLE(sim, sim != NULL && stress != NULL);
  NoliStatus status = NOLI_OK;
  const NoliModel* model = sim->model;
  NoliStress* element = NULL;
  double* around = NULL;
  memset(stress, 0, sizeof *stress * (size_t)model->problem.n_vert);
  NOLI_NEW_ZERO(sim->context, around, model->problem.n_vert);
  NOLI_NEW_ZERO(sim->context, element, noli_sim_tet_count(sim));
  stresses_of_elements(sim, NULL, element);
  for (int32_t b = 0; b < model->n_body; b++) {
    const NoliBlock* block = noli_problem_block(&model->problem, b);
    NoliBlockRange range = model->problem.range[b];
    bool counts = block != NULL && noli_model_counts(model, block);
    for (int32_t t = range.begin; counts && t < range.end; t++) {
      double volume = noli_block_rest_volume(block, t, t + 1);
      add_to_nodes(block, t, volume, &element[noli_model_cell(model, b, t)], around, stress);
    }
  }

  NOLI_TRY(noli_model_gather(model, sizeof *stress, stress, model->problem.n_vert));
  NOLI_TRY(noli_model_gather(model, sizeof *around, around, model->problem.n_vert));
  for (int32_t i = 0; i < model->problem.n_vert; i++) {
    noli_stress_finish(&stress[i], around[i]);
  }
done:
  noli_free(sim->context, element);
  noli_free(sim->context, around);
  return noli_ranks_agree(sim->context, status);
}

// Copies values of the elements of a block, `size` bytes each, to the order of cells in the scene.
static void give_elements(const NoliModel* model, const NoliBlock* block, const void* own,
                          size_t size, void* elements) {
  for (int32_t b = 0; b < model->n_body; b++) {
    NoliBlockRange range = model->problem.range[b];
    if (noli_problem_block(&model->problem, b) == block) {
      memcpy((char*)elements + size * (size_t)model->cell_first[b],
             (const char*)own + size * (size_t)range.begin,
             size * (size_t)(range.end - range.begin));
    }
  }
}

// Forces and moments inside elements, of sheets or of rods; the other is NULL.
static NoliStatus forces_inside(const NoliSim* sim, NoliSheetForces* sheets, NoliRodForces* rods) {
  NoliStatus status = NOLI_OK;
  size_t size = sheets != NULL ? sizeof *sheets : sizeof *rods;
  void *forces = sheets != NULL ? (void*)sheets : rods, *own = NULL;
  memset(forces, 0, size * (size_t)noli_sim_tet_count(sim));
  own = noli_alloc(sim->context, noli_sim_tet_count(sim), size);
  NOLI_TRY(own != NULL ? NOLI_OK : NOLI_ERROR_MEMORY);
  for (int32_t i = 0; i < sim->model->problem.n_block; i++) {
    const NoliBlock* block = &sim->model->problem.block[i];
    if (sheets != NULL && block->type->sheet_forces != NULL) {
      block->type->sheet_forces(block, sim->state.x, own);
      give_elements(sim->model, block, own, size, forces);
    } else if (rods != NULL && block->type->rod_forces != NULL) {
      block->type->rod_forces(block, sim->state.x, own);
      give_elements(sim->model, block, own, size, forces);
    }
  }
done:
  noli_free(sim->context, own);
  return status;
}

NoliStatus noli_sim_sheet_forces(NoliSim* sim, NoliSheetForces* forces) {
  NOLI_REQUIRE_READABLE(sim, sim != NULL && forces != NULL);
  return forces_inside(sim, forces, NULL);
}

NoliStatus noli_sim_rod_forces(NoliSim* sim, NoliRodForces* forces) {
  NOLI_REQUIRE_READABLE(sim, sim != NULL && forces != NULL);
  return forces_inside(sim, NULL, forces);
}

NoliStatus noli_sim_volumes(NoliSim* sim, const NoliRegionVolume** volumes, int32_t* n_volumes) {
  NOLI_REQUIRE_READABLE(sim, sim != NULL && volumes != NULL && n_volumes != NULL);
  const NoliVolumes* regions = &sim->model->problem.volumes;
  NoliVolumeState* state = sim->results.volume_state;
  noli_volume_states(regions, sim->state.x, sim->stage->n_threads, state);
  for (int32_t r = 0; r < regions->n_region; r++) {
    sim->results.volumes[r] = (NoliRegionVolume){.body = regions->region[r].body,
                                                 .rest_volume = regions->region[r].law.rest,
                                                 .volume = state[r].volume,
                                                 .pressure = state[r].pressure,
                                                 .energy = state[r].energy};
  }
  *volumes = sim->results.volumes;
  *n_volumes = regions->n_region;
  return NOLI_OK;
}

// Forces of contacts in the last step; none before the first one.
static NoliStatus find_contacts(NoliSim* sim, bool lists) {
  noli_pair_forces_clear(&sim->results.pair_forces);
  sim->results.pair_forces.lists = lists;
  if (*sim->state.step == 0 || !(force_scale(sim) > 0.0)) {
    return NOLI_OK;
  }
  return noli_ranks_agree(sim->context,
                          noli_stage_pair_forces(sim->stage, &sim->results.pair_forces));
}

NoliStatus noli_sim_pair_forces(NoliSim* sim, const NoliPairForce** pairs, int32_t* n_pairs) {
  NOLI_REQUIRE_READABLE(sim, sim != NULL && pairs != NULL && n_pairs != NULL);
  NoliStatus status = NOLI_OK;
  *pairs = NULL;
  *n_pairs = 0;
  NOLI_TRY(find_contacts(sim, false));
  *pairs = sim->results.pair_forces.pair.data;
  *n_pairs = (int32_t)sim->results.pair_forces.pair.count;
done:
  return status;
}

NoliStatus noli_sim_contacts(NoliSim* sim, const NoliContactInfo** contacts, int64_t* n_contacts) {
  NOLI_REQUIRE_READABLE(sim, sim != NULL && contacts != NULL && n_contacts != NULL);
  NoliStatus status = NOLI_OK;
  *contacts = NULL;
  *n_contacts = 0;
  NOLI_TRY(find_contacts(sim, true));
  noli_pair_forces_share(&sim->results.pair_forces);
  noli_stick_tell(&sim->stage->friction.slips, sim->results.pair_forces.contact.count,
                  sim->results.pair_forces.contact.data);
  *contacts = sim->results.pair_forces.contact.data;
  *n_contacts = sim->results.pair_forces.contact.count;
done:
  return status;
}
