// The keys of PolyFEM scenes as data: keys that are read, ignored, or refused.
#include "import/polyfem/polyfem.h"
#include "text/json.h"

#include <stdio.h>
#include <string.h>

enum { PATH_SIZE = 200, MAX_WORDS = 64 };

typedef enum Action {
  READ,  // by another part; the keys within are checked too
  LEAF,  // by another part, as a whole
  TUNE,  // steers the other program only: named in the log
  SKIP,  // of no meaning for a simulation
  REFUSE // unless it has the neutral value
} Action;

typedef struct Key {
  const char* path; // * stands for the items of a list
  Action action;
  const char* text;    // READ: where the keys within are listed, if not here; REFUSE: why
  const char* neutral; // REFUSE: JSON that is harmless
} Key;

#define OTHER_CONTACT "another contact model; Noli has those of [Li2020] and [Huang2025]"
#define NO_FIELD "is not supported"

static const Key keys[] = {
    {"/root_path", REFUSE, "relative paths start at the folder of the scene", "\"\""},
    {"/units", READ, NULL, NULL},
    {"/units/length", REFUSE, "scenes are in SI units: write \"m\"", "\"m\""},
    {"/units/mass", REFUSE, "scenes are in SI units: write \"kg\"", "\"kg\""},
    {"/units/time", REFUSE, "scenes are in SI units: write \"s\"", "\"s\""},
    {"/units/characteristic_length", TUNE, NULL, NULL},
    {"/preset_problem", REFUSE, "problems with known solutions are not supported", NULL},
    {"/tests", SKIP, NULL, NULL},
    {"/authors", SKIP, NULL, NULL},
    {"/author", SKIP, NULL, NULL},
    {"/description", SKIP, NULL, NULL},
    {"/doc", SKIP, NULL, NULL},
    {"/comment", SKIP, NULL, NULL},
    {"/defaults", SKIP, NULL, NULL},
    // geometry
    {"/geometry", READ, NULL, NULL},
    {"/geometry/*", READ, NULL, NULL},
    {"/geometry/*/mesh", LEAF, NULL, NULL},
    {"/geometry/*/type", LEAF, NULL, NULL},
    {"/geometry/*/extract", LEAF, NULL, NULL},
    {"/geometry/*/unit", LEAF, NULL, NULL},
    {"/geometry/*/enabled", LEAF, NULL, NULL},
    {"/geometry/*/is_obstacle", LEAF, NULL, NULL},
    {"/geometry/*/transformation", READ, NULL, NULL},
    {"/geometry/*/transformation/translation", LEAF, NULL, NULL},
    {"/geometry/*/transformation/rotation", LEAF, NULL, NULL},
    {"/geometry/*/transformation/rotation_mode", LEAF, NULL, NULL},
    {"/geometry/*/transformation/scale", LEAF, NULL, NULL},
    {"/geometry/*/transformation/dimensions", LEAF, NULL, NULL},
    {"/geometry/*/volume_selection", READ, "/selection", NULL},
    {"/geometry/*/surface_selection", READ, "/selection", NULL},
    {"/geometry/*/point_selection", READ, "/selection", NULL},
    {"/geometry/*/curve_selection", REFUSE, "selections of curves are not supported", NULL},
    {"/geometry/*/n_refs", LEAF, NULL, NULL},
    {"/geometry/*/advanced", READ, NULL, NULL},
    {"/geometry/*/advanced/normalize_mesh", REFUSE, "normalization is not supported: use \"scale\"",
     "false"},
    {"/geometry/*/advanced/force_linear_geometry", LEAF, NULL, NULL},
    {"/geometry/*/advanced/refinement_location", REFUSE, "Noli cuts edges in the middle", "0.5"},
    {"/geometry/*/advanced/min_component", REFUSE, NO_FIELD, "-1"},
    {"/geometry/*/point", LEAF, NULL, NULL},
    {"/geometry/*/normal", LEAF, NULL, NULL},
    {"/geometry/*/height", LEAF, NULL, NULL},
    {"/geometry/*/mesh_sequence", LEAF, NULL, NULL},
    {"/geometry/*/fps", LEAF, NULL, NULL},
    {"/geometry/*/array", READ, NULL, NULL},
    {"/geometry/*/array/offset", LEAF, NULL, NULL},
    {"/geometry/*/array/size", LEAF, NULL, NULL},
    {"/geometry/*/array/relative", LEAF, NULL, NULL},
    {"/selection/*", READ, NULL, NULL},
    {"/selection/*/id", LEAF, NULL, NULL},
    {"/selection/*/box", LEAF, NULL, NULL},
    {"/selection/*/center", LEAF, NULL, NULL},
    {"/selection/*/radius", LEAF, NULL, NULL},
    {"/selection/*/p1", LEAF, NULL, NULL},
    {"/selection/*/p2", LEAF, NULL, NULL},
    {"/selection/*/point", LEAF, NULL, NULL},
    {"/selection/*/normal", LEAF, NULL, NULL},
    {"/selection/*/offset", LEAF, NULL, NULL},
    {"/selection/*/axis", LEAF, NULL, NULL},
    {"/selection/*/position", LEAF, NULL, NULL},
    {"/selection/*/threshold", LEAF, NULL, NULL},
    {"/selection/*/id_offset", LEAF, NULL, NULL},
    {"/selection/*/relative", LEAF, NULL, NULL},
    {"/selection/*/boundary_only", LEAF, NULL, NULL},
    {"/selection/*/file", REFUSE, "selections from files are not supported", NULL},
    // materials: other laws have other keys
    {"/materials", LEAF, NULL, NULL},
    // space
    {"/space", READ, NULL, NULL},
    {"/space/discr_order", LEAF, NULL, NULL},
    {"/space/discr_orderq", TUNE, NULL, NULL},
    {"/space/pressure_discr_order", TUNE, NULL, NULL},
    {"/space/basis_type", REFUSE, "only Lagrange elements are there", "\"Lagrange\""},
    {"/space/poly_basis_type", TUNE, NULL, NULL},
    {"/space/use_p_ref", REFUSE, "elements of different order are not supported", "false"},
    {"/space/remesh", READ, NULL, NULL},
    {"/space/remesh/enabled", REFUSE, "remeshing is not supported", "false"},
    {"/space/remesh/split", SKIP, NULL, NULL},
    {"/space/remesh/collapse", SKIP, NULL, NULL},
    {"/space/remesh/swap", SKIP, NULL, NULL},
    {"/space/remesh/smooth", SKIP, NULL, NULL},
    {"/space/remesh/local_relaxation", SKIP, NULL, NULL},
    {"/space/remesh/type", SKIP, NULL, NULL},
    {"/space/advanced", TUNE, NULL, NULL},
    // time
    {"/time", READ, NULL, NULL},
    {"/time/t0", LEAF, NULL, NULL},
    {"/time/tend", LEAF, NULL, NULL},
    {"/time/dt", LEAF, NULL, NULL},
    {"/time/time_steps", LEAF, NULL, NULL},
    {"/time/integrator", LEAF, NULL, NULL},
    {"/time/quasistatic", REFUSE,
     "quasistatic problems are not imported: use a native scene with the integrator quasi_static",
     "false"},
    // contact
    {"/contact", READ, NULL, NULL},
    {"/contact/enabled", LEAF, NULL, NULL},
    {"/contact/dhat", LEAF, NULL, NULL},
    {"/contact/dhat_percentage", LEAF, NULL, NULL},
    {"/contact/epsv", LEAF, NULL, NULL},
    {"/contact/friction_coefficient", LEAF, NULL, NULL},
    {"/contact/use_gcp_formulation", LEAF, NULL, NULL},
    {"/contact/alpha_t", LEAF, NULL, NULL},
    {"/contact/alpha_n", LEAF, NULL, NULL},
    {"/contact/beta_t", REFUSE, "Noli has no offset of the smooth step: must be 0", "0"},
    {"/contact/beta_n", REFUSE, "Noli has no offset of the smooth step: must be 0", "0"},
    {"/contact/use_adaptive_dhat", LEAF, NULL, NULL},
    {"/contact/min_distance_ratio", LEAF, NULL, NULL},
    {"/contact/use_convergent_formulation", REFUSE, OTHER_CONTACT, "false"},
    {"/contact/use_area_weighting", SKIP, NULL, NULL},
    {"/contact/use_improved_max_operator", SKIP, NULL, NULL},
    {"/contact/use_physical_barrier", SKIP, NULL, NULL},
    {"/contact/collision_mesh", READ, NULL, NULL},
    {"/contact/collision_mesh/enabled", LEAF, NULL, NULL},
    {"/contact/collision_mesh/mesh", LEAF, NULL, NULL},
    {"/contact/collision_mesh/linear_map", SKIP, NULL, NULL},
    {"/contact/collision_mesh/max_edge_length", LEAF, NULL, NULL},
    {"/contact/collision_mesh/tessellation_type", SKIP, NULL, NULL},
    {"/contact/periodic", REFUSE, "periodic contact is not supported", "false"},
    {"/contact/adhesion", READ, NULL, NULL},
    {"/contact/adhesion/adhesion_enabled", REFUSE, "adhesion is not supported", "false"},
    {"/contact/adhesion/dhat_p", SKIP, NULL, NULL},
    {"/contact/adhesion/dhat_a", SKIP, NULL, NULL},
    {"/contact/adhesion/adhesion_strength", SKIP, NULL, NULL},
    {"/contact/adhesion/tangential_adhesion_coefficient", SKIP, NULL, NULL},
    {"/contact/adhesion/epsa", SKIP, NULL, NULL},
    // solver
    {"/solver", READ, NULL, NULL},
    {"/solver/max_threads", TUNE, NULL, NULL},
    {"/solver/linear", TUNE, NULL, NULL},
    {"/solver/adjoint_linear", TUNE, NULL, NULL},
    {"/solver/nonlinear", LEAF, NULL, NULL},
    {"/solver/augmented_lagrangian", TUNE, NULL, NULL},
    {"/solver/contact", READ, NULL, NULL},
    {"/solver/contact/CCD", TUNE, NULL, NULL},
    {"/solver/contact/friction_iterations", LEAF, NULL, NULL},
    {"/solver/contact/tangential_adhesion_iterations", SKIP, NULL, NULL},
    {"/solver/contact/friction_convergence_tol", TUNE, NULL, NULL},
    {"/solver/contact/barrier_stiffness", LEAF, NULL, NULL},
    {"/solver/contact/initial_barrier_stiffness", TUNE, NULL, NULL},
    {"/solver/rayleigh_damping", READ, NULL, NULL},
    {"/solver/rayleigh_damping/*", READ, NULL, NULL},
    {"/solver/rayleigh_damping/*/form", LEAF, NULL, NULL},
    {"/solver/rayleigh_damping/*/stiffness_ratio", LEAF, NULL, NULL},
    {"/solver/rayleigh_damping/*/stiffness", LEAF, NULL, NULL},
    {"/solver/rayleigh_damping/*/lagging_iterations", REFUSE,
     "Noli takes the stiffness at the start of the step", "1"},
    {"/solver/advanced", READ, NULL, NULL},
    {"/solver/advanced/lump_mass_matrix", LEAF, NULL, NULL},
    {"/solver/advanced/check_inversion", TUNE, NULL, NULL},
    {"/solver/advanced/jacobian_threshold", TUNE, NULL, NULL},
    {"/solver/advanced/characteristic_length", TUNE, NULL, NULL},
    {"/solver/advanced/characteristic_force_density", TUNE, NULL, NULL},
    {"/solver/advanced/cache_size", TUNE, NULL, NULL},
    {"/solver/advanced/lagged_regularization_weight", TUNE, NULL, NULL},
    {"/solver/advanced/lagged_regularization_iterations", TUNE, NULL, NULL},
    // conditions
    {"/boundary_conditions", READ, NULL, NULL},
    {"/boundary_conditions/rhs", LEAF, NULL, NULL},
    {"/boundary_conditions/dirichlet_boundary", READ, "/condition", NULL},
    {"/boundary_conditions/obstacle_displacements", READ, "/condition", NULL},
    {"/boundary_conditions/neumann_boundary", REFUSE, "tractions are not supported", "[]"},
    {"/boundary_conditions/normal_aligned_neumann_boundary", REFUSE, "pressures are not supported",
     "[]"},
    {"/boundary_conditions/pressure_boundary", REFUSE, "pressures are not supported", "[]"},
    {"/boundary_conditions/pressure_cavity", REFUSE, "pressures are not supported", "[]"},
    {"/boundary_conditions/periodic_boundary", READ, NULL, NULL},
    {"/boundary_conditions/periodic_boundary/enabled", REFUSE,
     "periodic boundaries are not supported", "false"},
    {"/boundary_conditions/periodic_boundary/force_zero_mean", SKIP, NULL, NULL},
    {"/boundary_conditions/periodic_boundary/tolerance", SKIP, NULL, NULL},
    {"/boundary_conditions/periodic_boundary/correspondence", SKIP, NULL, NULL},
    {"/boundary_conditions/periodic_boundary/fixed_macro_strain", SKIP, NULL, NULL},
    {"/boundary_conditions/periodic_boundary/linear_displacement_offset", SKIP, NULL, NULL},
    {"/condition/*", READ, NULL, NULL},
    {"/condition/*/id", LEAF, NULL, NULL},
    {"/condition/*/value", LEAF, NULL, NULL},
    {"/condition/*/dimension", LEAF, NULL, NULL},
    {"/condition/*/interpolation", LEAF, NULL, NULL},
    {"/condition/*/time_reference", REFUSE,
     "tables of values in time are not supported: use an "
     "expression or an interpolation",
     "[]"},
    {"/initial_conditions", READ, NULL, NULL},
    {"/initial_conditions/velocity", READ, NULL, NULL},
    {"/initial_conditions/velocity/*", READ, NULL, NULL},
    {"/initial_conditions/velocity/*/id", LEAF, NULL, NULL},
    {"/initial_conditions/velocity/*/value", LEAF, NULL, NULL},
    {"/initial_conditions/solution", LEAF, NULL, NULL},
    {"/initial_conditions/acceleration", LEAF, NULL, NULL},
    {"/constraints", READ, NULL, NULL},
    {"/constraints/hard", REFUSE, "constraints are not supported", "[]"},
    {"/constraints/soft", REFUSE, "constraints are not supported", "[]"},
    {"/input", READ, NULL, NULL},
    {"/input/data", READ, NULL, NULL},
    {"/input/data/state", REFUSE, "states of other programs cannot be read", "\"\""},
    {"/input/data/reorder", SKIP, NULL, NULL},
    // output
    {"/output", READ, NULL, NULL},
    {"/output/directory", TUNE, NULL, NULL},
    {"/output/stats", TUNE, NULL, NULL},
    {"/output/log", TUNE, NULL, NULL},
    {"/output/json", TUNE, NULL, NULL},
    {"/output/restart_json", TUNE, NULL, NULL},
    {"/output/data", TUNE, NULL, NULL},
    {"/output/reference", TUNE, NULL, NULL},
    {"/output/advanced", TUNE, NULL, NULL},
    {"/output/paraview", READ, NULL, NULL},
    {"/output/paraview/file_name", TUNE, NULL, NULL},
    {"/output/paraview/vismesh_rel_area", TUNE, NULL, NULL},
    {"/output/paraview/skip_frame", LEAF, NULL, NULL},
    {"/output/paraview/high_order_mesh", TUNE, NULL, NULL},
    {"/output/paraview/volume", TUNE, NULL, NULL},
    {"/output/paraview/surface", TUNE, NULL, NULL},
    {"/output/paraview/wireframe", TUNE, NULL, NULL},
    {"/output/paraview/points", TUNE, NULL, NULL},
    {"/output/paraview/fields", TUNE, NULL, NULL},
    {"/output/paraview/options", TUNE, NULL, NULL},
};

enum { N_KEYS = sizeof keys / sizeof *keys };

static const Key* find_key(const char* path) {
  for (int32_t i = 0; i < N_KEYS; i++) {
    if (strcmp(keys[i].path, path) == 0) {
      return &keys[i];
    }
  }
  return NULL;
}

static NoliStatus fail_unknown_key(NoliPolyfem* import, const NoliSceneNode* node,
                                   const char* path) {
  const char* words[MAX_WORDS];
  int32_t n_words = 0;
  size_t n = strlen(path);
  for (int32_t i = 0; i < N_KEYS && n_words < MAX_WORDS; i++) {
    const char* rest = keys[i].path + n + 1;
    if (strncmp(keys[i].path, path, n) == 0 && keys[i].path[n] == '/' && *rest != '*' &&
        strchr(rest, '/') == NULL) {
      words[n_words++] = rest;
    }
  }
  return noli_scene_fail_unknown(&import->source, node, "unknown key", node->step.key, words,
                                 n_words);
}

// Fails unless the value is null or the neutral one.
static NoliStatus refuse(NoliPolyfem* import, const NoliSceneNode* node, const Key* key) {
  NoliStatus status = NOLI_OK;
  json_error_t error;
  json_t* neutral = NULL;
  if (key->neutral != NULL) {
    NOLI_TRY(noli_scene_read_json(import->source.context, key->neutral, strlen(key->neutral),
                                  JSON_DECODE_ANY, &neutral, &error));
  }
  bool harmless = json_is_null(node->value) || json_equal(node->value, neutral) ||
                  (json_is_number(node->value) && json_is_number(neutral) &&
                   noli_scene_number(node) == json_number_value(neutral));
  NOLI_POLYFEM_CHECK(import, node, harmless, "%s", key->text);
done:
  json_decref(neutral);
  return status;
}

static NoliStatus check_value(NoliPolyfem* import, const NoliSceneNode* node, const char* path,
                              NoliSceneText* tuned);

static NoliStatus check_member(NoliPolyfem* import, const NoliSceneNode* node, const char* path,
                               NoliSceneText* tuned) {
  NoliStatus status = NOLI_OK;
  char inner[PATH_SIZE];
  snprintf(inner, sizeof inner, "%.80s/%.80s", path, node->step.key);
  const Key* key = find_key(inner);
  if (key == NULL) {
    return fail_unknown_key(import, node, path);
  }
  if (key->action == REFUSE) {
    return refuse(import, node, key);
  }
  if (key->action == TUNE) {
    NOLI_TRY(noli_scene_append(import->source.context, tuned, "%s%s", tuned->count > 0 ? ", " : "",
                               inner + 1));
  }
  if (key->action == READ) {
    NOLI_TRY(check_value(import, node, key->text != NULL ? key->text : key->path, tuned));
  }
done:
  return status;
}

// Checks the keys within a value; where a list of objects is expected, one object will do.
static NoliStatus check_value(NoliPolyfem* import, const NoliSceneNode* node, const char* path,
                              NoliSceneText* tuned) {
  NoliStatus status = NOLI_OK;
  char item_path[PATH_SIZE];
  snprintf(item_path, sizeof item_path, "%.80s/*", path);
  bool listed = find_key(item_path) != NULL;
  for (size_t i = 0; listed && i < noli_scene_size(node); i++) {
    NoliSceneNode item = noli_scene_item(node, i);
    NOLI_TRY(check_value(import, &item, item_path, tuned));
  }
  if (!json_is_object(node->value)) {
    goto done;
  }
  const char* key;
  json_t* value;
  json_object_foreach(node->value, key, value) {
    NoliSceneNode member = noli_scene_member(node, key);
    NOLI_TRY(check_member(import, &member, listed ? item_path : path, tuned));
  }
done:
  return status;
}

NoliStatus noli_polyfem_check_keys(NoliPolyfem* import) {
  NoliStatus status = NOLI_OK;
  NoliSceneText tuned = {0};
  NOLI_TRY(check_value(import, &import->root, "", &tuned));
  if (tuned.count > 0) {
    noli_log(import->source.context, NOLI_LOG_INFO,
             "%.300s: these have no meaning here and were left out: %s", import->source.name,
             tuned.data);
  }
done:
  noli_array_free(import->source.context, &tuned);
  return status;
}
